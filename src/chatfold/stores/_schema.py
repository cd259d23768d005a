"""The tables of `SQLStore`, their versions, and the wall between it and one kind of database.

All text that comes from outside is kept as UTF-8 bytes: histories hold characters (lone
surrogates, NUL) that databases refuse as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from chatfold.errors import StoreError
from chatfold.stores._words import Phrase

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.sql.compiler import SQLCompiler

__all__ = [
    "VERSION",
    "Dialect",
    "Search",
    "calls",
    "claims",
    "folds",
    "host_folds",
    "items",
    "prepare",
    "same",
]

VERSION: Final = 2

T = TypeVar("T")


class _Bytes(sa.LargeBinary):
    """Bytes, read as they are in the database: both drivers give bytes.

    Older versions of SQLAlchemy make bytes of what they read, which fails where a damaged row
    holds text, and turns a number into as many zeros.
    """

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> None:
        return None


class _Hashed(FunctionElement[bytes]):
    """Bytes of any length as an index can hold them: PostgreSQL's holds 2,704 in a row."""

    name = "hashed"
    type = _Bytes()
    inherit_cache = True


@compiles(_Hashed, "sqlite")
def _hashed_sqlite(element: _Hashed, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(_Hashed, "postgresql")
def _hashed_postgresql(element: _Hashed, compiler: SQLCompiler, **options: Any) -> str:
    return f"sha256({compiler.process(element.clauses, **options)})"


def same(column: sa.Column[bytes], value: bytes) -> sa.ColumnElement[bool]:
    """Return whether a column holds a value, in a form for which there is an index."""
    wanted = sa.literal(value, _Bytes)
    return sa.and_(_Hashed(column) == _Hashed(wanted), column == wanted)


_tables = sa.MetaData()

# SQLite numbers rows by itself where the type is this one and no other.
_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")

_version = sa.Table(
    "chatfold_version",
    _tables,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("search", sa.String(16), nullable=False),
)

folds = sa.Table(
    "chatfold_folds",
    _tables,
    sa.Column("id", _Number, primary_key=True),
    sa.Column("key", _Bytes, nullable=False),
    sa.Column("fold_id", _Bytes, nullable=False),
    sa.Column("digest", _Bytes, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
    sa.Column("summary", _Bytes, nullable=False),
    sa.Column("kept", _Bytes, nullable=False),
    sa.Column("extent", sa.Integer, nullable=False),
    sa.Column("created", sa.Double, nullable=False, index=True),
    sa.UniqueConstraint("key", "fold_id").ddl_if(dialect="sqlite"),
)
sa.Index(
    "chatfold_folds_by_id", _Hashed(folds.c.key), _Hashed(folds.c.fold_id), unique=True
).ddl_if(dialect="postgresql")

items = sa.Table(
    "chatfold_items",
    _tables,
    sa.Column("id", _Number, primary_key=True),
    sa.Column(
        "fold",
        _Number,
        sa.ForeignKey("chatfold_folds.id", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("text", _Bytes, nullable=False),
    sa.Column("call_ids", _Bytes, nullable=False),
    sa.Column("item", _Bytes),
    sa.Column("content", _Bytes, nullable=False),
    sa.UniqueConstraint("fold", "position"),
)

calls = sa.Table(
    "chatfold_calls",
    _tables,
    sa.Column("key", _Bytes, nullable=False),
    sa.Column("call_id", _Bytes, nullable=False),
    sa.Column(
        "item",
        _Number,
        sa.ForeignKey("chatfold_items.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
)
sa.Index("chatfold_calls_by_id", calls.c.key, calls.c.call_id).ddl_if(dialect="sqlite")
sa.Index("chatfold_calls_by_id", _Hashed(calls.c.key), _Hashed(calls.c.call_id)).ddl_if(
    dialect="postgresql"
)

# Since version 2. `scope` is the key as a word of fixed length, see `_rows.scope`.

host_folds = sa.Table(
    "chatfold_host_folds",
    _tables,
    sa.Column("id", _Number, primary_key=True),
    sa.Column("scope", sa.String(40), nullable=False),
    sa.Column("digest", sa.String(200), nullable=False),
    sa.Column("key", _Bytes, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
    sa.Column("text", _Bytes, nullable=False),
    sa.Column("summary", _Bytes, nullable=False),
    sa.Column("kept", _Bytes, nullable=False),
    sa.Column("base", sa.String(200)),
    sa.Column("details", _Bytes, nullable=False),
    sa.Column("created", sa.Double, nullable=False, index=True),
    sa.UniqueConstraint("scope", "digest"),
)

claims = sa.Table(
    "chatfold_claims",
    _tables,
    sa.Column("scope", sa.String(40), primary_key=True),
    sa.Column("digest", sa.String(200), primary_key=True),
    sa.Column("token", sa.String(32), nullable=False),
    sa.Column("until", sa.Double, nullable=False, index=True),
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

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in a transaction that sees one state of the database."""
        ...

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in a transaction that writes; it may be done again from its beginning."""
        ...

    def lock_tables(self, connection: sa.Connection) -> None:
        """Let no other make or change the tables until the transaction ends."""
        ...

    def lock_key(self, connection: sa.Connection, scope: str) -> None:
        """Let no other write folds of a key until the transaction ends."""
        ...

    def now(self) -> sa.ColumnElement[float]:
        """Return the time in seconds since the epoch, by the clock that all processes share."""
        ...

    def among(self, column: sa.Column[str], values: Sequence[str]) -> sa.ColumnElement[bool]:
        """Return whether a column is one of any number of texts, which are ASCII."""
        ...

    def upsert(self, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
        """Return an insert that may say what to do where the row is there."""
        ...

    def scrub(self) -> None:
        """Make the database forget the bytes of what was deleted, where that can be asked for.

        Raises:
            sqlalchemy.exc.OperationalError: It cannot be done now.
            sqlite3.Error: The same.
        """
        ...

    def close(self) -> None:
        """Close all connections; nothing is read or written after that."""
        ...


def prepare(dialect: Dialect, searches: Sequence[Search]) -> Search:
    """Make the tables where there are none, bring old ones up to date, return their search.

    Args:
        dialect: Where the tables are.
        searches: What this process can search with, best first.

    Raises:
        StoreError: The tables were made by a newer chatfold, or for another search, or what they
            say of that is damaged.
    """
    found = dialect.read(_found)
    if found is None or found[0] < VERSION:

        def bring_up_to_date(connection: sa.Connection) -> tuple[int, str]:
            dialect.lock_tables(connection)
            # Another process may have done it since.
            return _migrated(connection, _found(connection) or _made(connection, searches))

        found = dialect.write(bring_up_to_date)
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
    found = connection.execute(sa.select(_version.c.version, _version.c.search)).all()
    version, search = found[0] if len(found) == 1 else (None, None)
    if type(version) is not int or version < 1:
        raise StoreError(
            f"the store's tables are of version {version!r}, which there never was: restore the "
            "database from a copy, or name an empty one"
        )
    return version, str(search)


def _made(connection: sa.Connection, searches: Sequence[Search]) -> tuple[int, str]:
    _tables.create_all(connection)
    name = next(search.name for search in searches if search.create(connection))
    connection.execute(_version.insert().values(version=VERSION, search=name))
    return VERSION, name


def _migrated(connection: sa.Connection, found: tuple[int, str]) -> tuple[int, str]:
    """Take tables from their version to this one, step by step."""
    version, search = found
    while version < VERSION:
        _STEPS[version](connection)
        version += 1
        connection.execute(_version.update().values(version=version))
    return version, search


def _add_hosts(connection: sa.Connection) -> None:
    """Version 2: folds of lists that belong to a host, and claims."""
    _tables.create_all(connection, tables=[host_folds, claims])


_STEPS: Final[Mapping[int, Callable[[sa.Connection], None]]] = {1: _add_hosts}
