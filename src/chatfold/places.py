"""Where the items of a host's list stand in its context's list, which has summaries for some.

Not here: what the items say (`host_list`), what the model sees of them (`regions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chatfold.core.replacement import Replacement
from chatfold.core.split import Split
from chatfold.regions import View

__all__ = ["Places"]


class Places:
    """Which of the host's items each item of the context's list is, in a list that gets folded.

    Until a fold both lists have the same items.

    Args:
        count: Number of the host's items.
        start: Number of them that are leading instructions, which no fold takes.
    """

    def __init__(self, count: int, start: int) -> None:
        self.cut = start  # index in the host's list behind the last item that is folded
        self.noted: set[int] = set()  # results in the host's list that are notes in the context's
        self._start = start
        self._origin: list[int | None] = list(range(count))
        # Items of the context's list that say what several do: a request with the summary, or
        # instructions in one; with the index in the host's list of each of these.
        self._merged: list[tuple[Any, int]] = []

    def index_of(self, at: int) -> int | None:
        """Return where an item of the context's list stands in the host's; None if not there."""
        return self._origin[at]

    def fold(
        self, where: Split, made: Replacement[Any], before: Sequence[Any], items: Sequence[Any]
    ) -> tuple[int, ...] | None:
        """Take down where the host's items stand behind the latest fold of the context's list.

        By their places: a host may have one object in several.

        Args:
            where: The places of what the fold took out and kept.
            made: What it put there.
            before: The context's list before it.
            items: The context's list now.

        Returns:
            Indices in the host's list of the items before the cut that stay, ascending; None where
            one of them is not of that list, or not as the host has it.
        """
        origin = self._origin
        gone = [index for index in origin[where.start : where.cut] if index is not None]
        self.cut = max([self.cut, *(index + 1 for index in gone)])
        stay = {*where.kept, *(at for at in made.sources if at is not None and at < where.cut)}
        kept: set[int | None] = set()
        for at in stay:
            kept.update(self._indices_of(at, before[at]) or (None,))
        merged = [
            (item, index)
            for at, item in zip(made.merged_at, made.merged_in, strict=True)
            for index in self._indices_of(at, before[at])
        ]
        if self._merged:  # one that stands behind this fold stays
            here = {id(item) for item in items}
            merged += [pair for pair in self._merged if id(pair[0]) in here]
        self._merged = merged
        new = [
            origin[at] if at is not None and before[at] is item else None
            for at, item in zip(made.sources, made.items, strict=True)
        ]
        self._origin = [*origin[: made.start], *new, *origin[made.stop :]]
        # An earlier fold may have moved what it kept behind the summary, into this one's tail.
        standing = (*self._origin, *(index for _, index in merged))
        kept.update(i for i in standing if i is not None and self._start <= i < self.cut)
        known = sorted(index for index in kept if index is not None)
        return tuple(known) if len(known) == len(kept) and not kept & self.noted else None

    def take(self, at: int, first: int, stop: int) -> None:
        """Take down that the host's items from `first` to `stop` stand from `at` on, and no others.

        What stood there is gone.
        """
        self.noted = {index for index in self.noted if index < first}
        self._origin[at:] = range(first, stop)

    def add(self, index: int) -> None:
        """Take down that an item of the host's stands last in the context's list."""
        self._origin.append(index)

    def note(self, index: int, added: Sequence[Any], items: Sequence[Any]) -> None:
        """Take down that an item of the host's stands in others' stead, as notes say.

        Args:
            index: Where the host has it.
            added: What the context's list has got for it, at any places.
            items: The context's list now.
        """
        new, known = {id(item) for item in added}, iter(self._origin)
        self._origin = [index if id(item) in new else next(known) for item in items]
        self.noted.add(index)

    def view(self, items: Sequence[Any], stop: int, saved: int) -> View:
        """Return what the model sees of the host's list.

        Args:
            items: The context's list.
            stop: Number of the host's items.
            saved: Tokens that the one is less than the other.
        """
        tail = len(self._origin)
        while stop > self.cut and tail > 0 and self._origin[tail - 1] == stop - 1:
            if stop - 1 in self.noted:
                break
            tail, stop = tail - 1, stop - 1
        head = tuple(
            index if index is not None and index not in self.noted else (item,)
            for index, item in zip(self._origin[:tail], items[:tail], strict=True)
        )
        merged = tuple(index for _, index in self._merged)
        seams = tuple(self._seams(items, tail, stop))
        return View(head, stop, saved, self.cut, merged, seams)

    def end_elsewhere(self, items: Sequence[Any], stop: int) -> bool:
        """Return whether a kept item was put behind the host's last one, for want of a place.

        It may not stand before what has come since, so a place has to be found anew.

        Args:
            items: The context's list.
            stop: Number of the host's items.
        """
        at = len(self._origin) - 1
        here = self._indices_of(at, items[at]) if at > self._start else self._origin[at:]
        last = max((index for index in here if index is not None), default=None)
        return last is not None and not self.noted.issuperset(range(last + 1, stop))

    def _indices_of(self, at: int, item: Any) -> list[int]:
        """Return the indices in the host's list of what an item of the context's list says."""
        index = self._origin[at]
        return [i for one, i in self._merged if one is item] if index is None else [index]

    def _seams(self, items: Sequence[Any], tail: int, stop: int) -> Iterator[int]:
        """Yield where items stand side by side that did not in the host's list.

        Args:
            items: The context's list.
            tail: Number of items in front of the tail.
            stop: Index in the host's list of the first item of the tail.
        """
        before: list[int] = []
        for at in range(self._start, tail + 1):
            here = self._indices_of(at, items[at]) if at < tail else [stop]
            here = [index for index in here if index not in self.noted]
            if at > self._start and (not before or not here or max(before) + 1 != min(here)):
                yield at
            before = here
