"""One place where a value of a list stands.

Not here: what a value is (`values`), how such places are found (`facts`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Place", "Sighting"]

Place: TypeAlias = Literal["text", "argument", "result"]
"""Where in an item a value stands: in its words, in a call's arguments, in a call's result."""


class Sighting(NamedTuple):
    """One place where a value stands.

    Attributes:
        index: Index of the item in the list.
        author: The item's role (`user`, `assistant`, ...); `tool` for every result, whatever item
            it stands in, `summary` for what an earlier summary says.
        place: Where in the item.
        path: Keys and indices that lead to it where that is JSON; () for plain text.
        call: Position in `calls` of the tool call that it belongs to, or None.
        whole: Whether it is all that stands there, under a key or in a list.
    """

    index: int  # type: ignore[assignment]  # nobody asks a sighting where in it a value is
    author: str
    place: Place
    path: tuple[str | int, ...] = ()
    call: int | None = None
    whole: bool = False
