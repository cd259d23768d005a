"""The tables of `SQLStore`, their version, and the wall between it and one kind of database.

All text is kept as UTF-8 bytes: histories hold characters (lone surrogates, NUL) that databases
refuse as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

import sqlalchemy as sa

from chatfold.errors import StoreError
from chatfold.stores._words import Phrase

__all__ = ["VERSION", "WRITING", "Dialect", "Search", "calls", "folds", "items", "prepare"]

VERSION: Final = 1

# Execution options of a transaction that writes; a dialect may take its locks by them.
WRITING: Final = {"chatfold_writing": True}

_tables = sa.MetaData()

_version = sa.Table(
    "chatfold_version",
    _tables,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("search", sa.String(16), nullable=False),
)

folds = sa.Table(
    "chatfold_folds",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.LargeBinary, nullable=False),
    sa.Column("fold_id", sa.LargeBinary, nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
    sa.Column("summary", sa.LargeBinary, nullable=False),
    sa.Column("kept", sa.LargeBinary, nullable=False),
    sa.Column("extent", sa.Integer, nullable=False),
    sa.Column("created", sa.Double, nullable=False, index=True),
    sa.UniqueConstraint("key", "fold_id"),
)

items = sa.Table(
    "chatfold_items",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column(
        "fold",
        sa.Integer,
        sa.ForeignKey("chatfold_folds.id", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("text", sa.LargeBinary, nullable=False),
    sa.Column("call_ids", sa.LargeBinary, nullable=False),
    sa.Column("item", sa.LargeBinary),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("fold", "position"),
)

calls = sa.Table(
    "chatfold_calls",
    _tables,
    sa.Column("key", sa.LargeBinary, nullable=False),
    sa.Column("call_id", sa.LargeBinary, nullable=False),
    sa.Column(
        "item",
        sa.Integer,
        sa.ForeignKey("chatfold_items.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    sa.Index("chatfold_calls_by_id", "key", "call_id"),
)


class Search(Protocol):
    """One way of searching texts, with a table of its own beside the others."""

    name: str

    def create(self, connection: sa.Connection) -> bool:
        """Make the table; return False where this database cannot."""
        ...

    def add(self, connection: sa.Connection, scope: str, rows: Sequence[tuple[int, str]]) -> None:
        """Take in texts: the id of an item, and its words as `searchable` makes them."""
        ...

    def remove(self, connection: sa.Connection, gone: sa.Select[Any]) -> None:
        """Take out texts, by the ids of their items."""
        ...

    def find(
        self,
        connection: sa.Connection,
        scope: str,
        wanted: Sequence[Phrase],
        among: sa.Select[Any] | None,
    ) -> Sequence[int]:
        """Return the ids of the items that match, best first, as `Store.find` says.

        Args:
            connection: Where to read.
            scope: The word that stands for the key.
            wanted: What the texts are to hold.
            among: Selects the only items in question; None are all of the key.
        """
        ...

    def compact(self, connection: sa.Connection) -> None:
        """Let go of all that was taken out."""
        ...


class Dialect(Protocol):
    """What `SQLStore` needs to know of one kind of database."""

    searches: tuple[Search, ...]  # best first; the last one works everywhere

    def engine(self) -> sa.Engine:
        """Return what makes connections."""
        ...

    def in_use(self) -> AbstractContextManager[None]:
        """Return what is entered while the database is read or written."""
        ...

    def scrub(self) -> None:
        """Make the database forget the bytes of what was deleted.

        Raises:
            sqlalchemy.exc.OperationalError: It cannot be done now.
        """
        ...


def prepare(engine: sa.Engine, searches: Sequence[Search]) -> Search:
    """Make the tables where there are none, and return the search that they are made for.

    Args:
        engine: Where the tables are.
        searches: What this process can search with, best first.

    Raises:
        StoreError: The tables were made by a newer chatfold, or for another search.
    """
    with engine.connect() as connection:
        found = _found(connection)
    if found is None:
        with engine.execution_options(**WRITING).begin() as connection:
            # Another process may have made them since.
            found = _found(connection) or _made(connection, searches)
    version, name = found
    if version > VERSION:
        raise StoreError(
            f"the store was written by a newer chatfold (its tables are version {version}, this "
            f"one knows {VERSION}); upgrade chatfold"
        )
    for search in searches:
        if search.name == name:
            return search
    raise StoreError(f"the store was made for a search that is not known here: {name!r}")


def _found(connection: sa.Connection) -> tuple[int, str] | None:
    if not sa.inspect(connection).has_table(_version.name):
        return None
    row = connection.execute(sa.select(_version.c.version, _version.c.search)).one()
    return row.version, row.search


def _made(connection: sa.Connection, searches: Sequence[Search]) -> tuple[int, str]:
    _tables.create_all(connection)
    name = next(search.name for search in searches if search.create(connection))
    connection.execute(_version.insert().values(version=VERSION, search=name))
    return VERSION, name
