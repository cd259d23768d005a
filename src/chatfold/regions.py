"""What a fold stands for in a host's list, and what the model sees of that list: two values.

Not here: where they come from (`session`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Region", "View", "region_of"]


class Region(NamedTuple):
    """What a fold stands for in the host's list.

    Attributes:
        digest: Digest of the items after the prefix that the summary takes the place of.
        length: Their number.
        kept: Which of them stay in the list, counted from the first after the prefix.
        summary: The summary in its wrapper.
    """

    digest: str
    length: int
    kept: tuple[int, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class View:
    """What the model sees of a host's list.

    Attributes:
        head: The items up to the tail: indices in the host's list, or what is not of it, alone in
            a tuple.
        cut: Index in the host's list of the first item of the tail.
        saved: Tokens that this is less than the host's list.
        end: Index in the host's list behind the last item that is folded.
        merged: Indices there of what stands in an item of the head with other words: a request
            with the summary, or several instructions in one.
    """

    head: tuple[int | tuple[Any], ...] = ()
    cut: int = 0
    saved: int = 0
    end: int = 0
    merged: tuple[int, ...] = ()

    def of(self, items: Sequence[Any]) -> list[Any]:
        """Return the items that the model sees: the host's own, and the summary."""
        head = (items[each] if isinstance(each, int) else each[0] for each in self.head)
        return [*head, *items[self.cut :]]

    def stay(self) -> set[int]:
        """Return the indices in the host's list of the items in front that the model still sees."""
        return {each for each in (*self.head, *self.merged) if isinstance(each, int)}


def region_of(value: Any) -> Region | None:
    """Return the region that four values are, also as they come back from JSON; None for others.

    Hosts and databases keep them, and what they hand back may have been edited.
    """
    match value:
        case [str(digest), int(length), [*kept], str(summary)] if _are_places(kept, length):
            return Region(digest, length, tuple(kept), summary)
        case _:
            return None


def _are_places(kept: list[Any], length: int) -> bool:
    """Return whether these are places before a length, in order."""
    known = all(type(place) is int and 0 <= place < length for place in kept)
    return known and kept == sorted({*kept})
