"""What a fold stands for in a host's list, and what the model sees of that list: values.

Not here: where they come from (`session`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Region", "Seen", "View", "region_of"]


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


class Seen(NamedTuple):
    """What goes to the model.

    Attributes:
        items: The host's own items and the summary; some of them may stand in one item.
        joined: Indices, in the list with each item by itself, of those that stand in the one before
            them, ascending.
        parts: Each item that stands in one with others, by itself, and the one that it stands in.
        merged: The host's items that stand in another one, there or behind the summary.
        end: Index in the host's list behind the last item that is folded.
    """

    items: list[Any]
    joined: tuple[int, ...] = ()
    parts: tuple[tuple[Any, Any], ...] = ()
    merged: tuple[Any, ...] = ()
    end: int = 0

    def form(self, item: Any) -> Any:
        """Return what an item stands in, which is mostly the item itself."""
        return next((one for part, one in self.parts if part is item), item)

    def places(self, indices: Sequence[int]) -> tuple[int, ...]:
        """Return where items stand here, given where each stands by itself; each place once."""
        here = (index - bisect_right(self.joined, index) for index in indices)
        return tuple(dict.fromkeys(here))


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
        seams: Places in the head, and behind its last one, where items stand side by side that did
            not in the host's list.
    """

    head: tuple[int | tuple[Any], ...] = ()
    cut: int = 0
    saved: int = 0
    end: int = 0
    merged: tuple[int, ...] = ()
    seams: tuple[int, ...] = ()

    def of(
        self,
        items: Sequence[Any],
        join: Callable[[Any, Any], Any | None],
        known: Sequence[Any] = (),
    ) -> Seen:
        """Return the items that the model sees: the host's own, and the summary.

        A provider may take no two messages of one role in a row. What has come since a fold may
        stand behind its summary, and of what the host pins only the messages of one role may be
        left: those go out as one. They stay apart in what is folded next, so that each is still
        asked about by itself.

        Args:
            items: The host's list.
            join: Returns one item for two that may not stand side by side, None where they may.
            known: Items that went out for several before; one that says the same goes out again.
        """
        head = [items[each] if isinstance(each, int) else each[0] for each in self.head]
        shown = [*head, *items[self.cut :]]
        runs: list[list[int]] = []
        for at in self.seams:
            if at < len(shown) and join(shown[at - 1], shown[at]) is not None:
                if not runs or runs[-1][-1] != at - 1:
                    runs.append([at - 1])
                runs[-1].append(at)
        if not runs:
            return Seen(shown, merged=tuple(items[i] for i in sorted(self.merged)), end=self.end)
        apart = {place: shown[place] for run in runs for place in run}
        parts: list[tuple[Any, Any]] = []
        for run in reversed(runs):
            one = _joined([apart[place] for place in run], join)
            one = next((each for each in known if each == one), one)
            shown[run[0] : run[-1] + 1] = [one]
            parts[:0] = [(apart[place], one) for place in run]
        places = (self._index_of(place) for place in apart)
        own = sorted({*self.merged, *(index for index in places if index is not None)})
        joined = tuple(place for run in runs for place in run[1:])
        return Seen(shown, joined, tuple(parts), tuple(items[i] for i in own), self.end)

    def _index_of(self, place: int) -> int | None:
        """Return the index in the host's list of what stands at a place; None if not of it."""
        if place >= len(self.head):
            return self.cut + place - len(self.head)
        index = self.head[place]
        return index if isinstance(index, int) else None

    def stay(self) -> set[int]:
        """Return the indices in the host's list of the items in front that the model still sees."""
        return {each for each in (*self.head, *self.merged) if isinstance(each, int)}


def _joined(items: Sequence[Any], join: Callable[[Any, Any], Any | None]) -> Any:
    """Return one item for several; by halves, for hundreds may be pinned."""
    if len(items) == 1:
        return items[0]
    half = len(items) // 2
    return join(_joined(items[:half], join), _joined(items[half:], join))


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
