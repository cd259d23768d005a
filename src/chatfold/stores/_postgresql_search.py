"""Searching texts in PostgreSQL: an index of their words, and a look at the texts it names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY, TSVECTOR

from chatfold.stores._schema import items
from chatfold.stores._words import Phrase, ranked

__all__ = ["TSVectorSearch"]

_LEXEME: Final = 100  # characters of a word that are indexed; longer ones share their beginning
_VECTOR: Final = 500_000  # bytes of the words that are indexed; PostgreSQL takes a megabyte

_texts = sa.Table(
    "chatfold_search",
    sa.MetaData(),
    sa.Column(
        "item",
        sa.BigInteger,
        sa.ForeignKey(items.c.id, ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("scope", sa.Text, nullable=False, index=True),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("vector", TSVECTOR),
    sa.Index("chatfold_search_by_word", "vector", postgresql_using="gin"),
)
# Texts with too many different words for one vector are looked at each time.
sa.Index(
    "chatfold_search_without_vector", _texts.c.scope, postgresql_where=_texts.c.vector.is_(None)
)


class TSVectorSearch:
    """Which texts hold the words is the index's to say; that they stand together, the text's.

    The index is made of the words as they are: no language's parser takes any out or changes
    them, and neither the number nor the place of a word is bounded.
    """

    name = "tsvector"

    def create(self, connection: sa.Connection) -> bool:
        """Make the table."""
        _texts.create(connection)
        return True

    def add(self, connection: sa.Connection, scope: str, rows: Sequence[tuple[int, str]]) -> None:
        """Take in texts."""
        lexemes = sa.bindparam("lexemes", type_=ARRAY(sa.Text))
        connection.execute(
            _texts.insert().values(vector=sa.func.array_to_tsvector(lexemes)),
            [
                {"item": item, "scope": scope, "words": words, "lexemes": _lexemes(scope, words)}
                for item, words in rows
            ],
        )

    def remove(self, connection: sa.Connection, gone: sa.Select[Any]) -> None:
        """Leave it to the foreign key, which sees items that others have added meanwhile."""

    def find(
        self,
        connection: sa.Connection,
        scope: str,
        wanted: Sequence[Phrase],
        among: sa.Select[Any] | None,
    ) -> Sequence[int]:
        """Return the ids of the items that match, best first."""
        padded = sa.literal(" ") + _texts.c.words + " "
        there = [
            sa.func.strpos(padded, f" {phrase.text}" + ("" if phrase.prefix else " ")) > 0
            for phrase in wanted
        ]
        some = sa.true() if among is None else _texts.c.item.in_(among)
        holds = _texts.c.vector.bool_op("@@")
        for joint, condition in ((" & ", sa.and_(*there)), (" | ", sa.or_(*there))):
            query = f"'{scope}' & ({joint.join(map(_asked, wanted))})"
            rows = connection.execute(
                sa.select(_texts.c.item, _texts.c.words)
                .where(
                    _texts.c.scope == scope,
                    sa.or_(holds(sa.cast(query, TSQUERY)), _texts.c.vector.is_(None)),
                    condition,
                    some,
                )
                .order_by(_texts.c.item)
            ).all()
            if rows:
                total = None if among is not None else _total(connection, scope)
                order = ranked(wanted, [row.words for row in rows], total=total)
                return [rows[index].item for index in order]
        return ()

    def compact(self, connection: sa.Connection) -> None:
        """Leave it to the server, as with all its tables."""


def _total(connection: sa.Connection, scope: str) -> int | None:
    return connection.scalar(sa.select(sa.func.count()).where(_texts.c.scope == scope))


def _lexemes(scope: str, words: str) -> list[str] | None:
    """Return the words to index, the key's among them; None where they are too many."""
    found = {word[:_LEXEME] for word in words.split(" ")}
    if sum(len(word.encode()) for word in found) > _VECTOR:
        return None
    return [scope, *sorted(found)]


def _asked(phrase: Phrase) -> str:
    """Return a phrase as the index is asked for it; words hold nothing that is syntax."""
    *whole, last = phrase.text.split(" ")
    asked = [_lexeme(word, False) for word in whole]
    return f"({' & '.join([*asked, _lexeme(last, phrase.prefix)])})"


def _lexeme(word: str, prefix: bool) -> str:
    return f"'{word[:_LEXEME]}'" + (":*" if prefix and len(word) < _LEXEME else "")
