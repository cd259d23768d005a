"""The two ways of searching an SQLite file: its full-text index, or all texts of a key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from chatfold.stores._words import Phrase, ranked

__all__ = ["FTS5Search", "ScanSearch"]

_FEW: Final = 1_000_000  # characters of words, which are read in less time than an index takes


class FTS5Search:
    """SQLite's own full-text index, ranked by BM25.

    It is one for all keys: a word takes as long as it stands in the texts of others. So the few
    texts of one key, which the index names at once, are read instead.

    Args:
        few: Characters of their words up to which they are few.
    """

    name = "fts5"

    def __init__(self, few: int = _FEW) -> None:
        self._few = few

    def create(self, connection: sa.Connection) -> bool:
        """Make the index, which splits texts at the spaces that `searchable` has put."""
        try:
            connection.exec_driver_sql(
                "CREATE VIRTUAL TABLE chatfold_search USING fts5(scope, words, tokenize='ascii')"
            )
        except OperationalError as error:
            if "no such module" not in str(error.orig):
                raise
            return False
        return True

    def add(self, connection: sa.Connection, scope: str, rows: Sequence[tuple[int, str]]) -> None:
        """Take in texts."""
        connection.execute(
            _index.insert().prefix_with("OR REPLACE"),  # of an item that somebody removed by hand
            [{"rowid": item, "scope": scope, "words": words} for item, words in rows],
        )

    def remove(self, connection: sa.Connection, gone: sa.Select[Any]) -> None:
        """Take out texts."""
        connection.execute(_index.delete().where(_index.c.rowid.in_(gone)))

    def find(
        self,
        connection: sa.Connection,
        scope: str,
        wanted: Sequence[Phrase],
        among: sa.Select[Any] | None,
    ) -> Sequence[int]:
        """Return the ids of the items that match, best first."""
        whole: sa.ColumnClause[str] = sa.literal_column("chatfold_search")
        some = sa.true() if among is None else _index.c.rowid.in_(among)
        own = f'scope : "{scope}"'
        texts = sa.select(_index.c.rowid, _index.c.words).where(whole.op("MATCH")(own), some)
        with connection.execute(texts.order_by(_index.c.rowid)) as rows:
            few = _few(rows, self._few)
        if few is not None:
            return [few[index].rowid for index in ranked(wanted, [row.words for row in few])]
        for joint in (" AND ", " OR "):
            # Words hold letters and digits alone, so nothing in them is syntax.
            words = joint.join(f'"{p.text}"{" *" if p.prefix else ""}' for p in wanted)
            found = connection.scalars(
                sa.select(_index.c.rowid)
                .where(whole.op("MATCH")(f"{own} AND words : ({words})"), some)
                .order_by(sa.func.bm25(whole, 0.0, 1.0), _index.c.rowid)
            ).all()
            if found:
                return found
        return ()

    def compact(self, connection: sa.Connection) -> None:
        """Merge the index into one piece, which leaves out what was deleted."""
        connection.exec_driver_sql(
            "INSERT INTO chatfold_search(chatfold_search) VALUES('optimize')"
        )


def _few(rows: Iterable[Any], left: int) -> list[Any] | None:
    """Return the rows of texts, None where their words have more characters than are left."""
    few: list[Any] = []
    for row in rows:
        if isinstance(row.words, str):  # others are damaged
            few.append(row)
            left -= len(row.words)
        if left < 0:
            return None
    return few


class ScanSearch:
    """Reads all texts of a key; for an SQLite that was built without FTS5."""

    name = "scan"

    def create(self, connection: sa.Connection) -> bool:
        """Make the table."""
        _scanned.create(connection)
        return True

    def add(self, connection: sa.Connection, scope: str, rows: Sequence[tuple[int, str]]) -> None:
        """Take in texts."""
        connection.execute(
            _scanned.insert().prefix_with("OR REPLACE"),
            [{"item": item, "scope": scope, "words": words} for item, words in rows],
        )

    def remove(self, connection: sa.Connection, gone: sa.Select[Any]) -> None:
        """Take out texts."""
        connection.execute(_scanned.delete().where(_scanned.c.item.in_(gone)))

    def find(
        self,
        connection: sa.Connection,
        scope: str,
        wanted: Sequence[Phrase],
        among: sa.Select[Any] | None,
    ) -> Sequence[int]:
        """Return the ids of the items that match, best first."""
        rows = connection.execute(
            sa.select(_scanned.c.item, _scanned.c.words)
            .where(
                _scanned.c.scope == scope,
                sa.true() if among is None else _scanned.c.item.in_(among),
            )
            .order_by(_scanned.c.item)
        ).all()
        rows = [row for row in rows if isinstance(row.words, str)]  # others are damaged
        return [rows[index].item for index in ranked(wanted, [row.words for row in rows])]

    def compact(self, connection: sa.Connection) -> None:
        """Let go of nothing: a plain table has no more than its rows."""


_index = sa.table(
    "chatfold_search", sa.column("rowid", sa.Integer), sa.column("scope"), sa.column("words")
)

_scanned = sa.Table(
    "chatfold_words",
    sa.MetaData(),
    sa.Column("item", sa.Integer, primary_key=True),
    sa.Column("scope", sa.Text, nullable=False, index=True),
    sa.Column("words", sa.Text, nullable=False),
)
