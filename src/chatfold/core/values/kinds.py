"""What a typed value is.

Not here: how one is found in a text (`typed`), where it was seen (`facts`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Keys", "Kind", "Reading", "Value"]

Kind: TypeAlias = Literal[
    "id",
    "hash",
    "date",
    "time",
    "amount",
    "number",
    "mail",
    "phone",
    "url",
    "path",
    "command",
    "version",
    "name",
    "error",
]
"""What a value is; `name` is that of a thing called (a tool, a function), `error` of an error."""

Keys: TypeAlias = tuple[str, tuple[str, ...]]
"""A key and the weaker keys beside it."""


class Value(NamedTuple):
    """One typed value where it stands in a text.

    Attributes:
        kind: What it is.
        text: As it is written.
        key: What it says, normalized: equal for "October 7, 2025" and "2025-10-07"; begins with
            the kind's name and a colon, so that a date never equals an id.
        start: Index in the text of its first character.
        stop: Index behind its last.
        also: Keys that a text with this value vouches for too: the date without its year, the
            amount without its currency, the other reading of "10/07/2025".
    """

    kind: Kind
    text: str
    key: str
    start: int
    stop: int
    also: tuple[str, ...] = ()


class Reading(NamedTuple):
    """What a word says, wherever it stands: the same as a value, with places inside the word."""

    kind: Kind
    start: int
    stop: int
    key: str
    also: tuple[str, ...] = ()
