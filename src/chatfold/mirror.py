"""A context's list that follows a host's: the host's items are put in behind what is folded.

Not here: what the host handed over (`host_list`), whether a list is the conversation's (`session`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import is_
from typing import Any

from chatfold.core.late import CallKey, answered, unanswered
from chatfold.core.replacement import Replacement
from chatfold.core.split import Split
from chatfold.host_list import HostList
from chatfold.places import Places
from chatfold.regions import View
from chatfold.state import ListState
from chatfold.writing import Writing

__all__ = ["Mirror"]


class Mirror:
    """Has the context's list say what the host's does, but for what is folded of it.

    Args:
        state: The context's list; it has the items of the host's.
        writing: Writes to that list what is no item of the host's.
        host: The host's list.

    Attributes:
        places: Where in the context's list the host's items stand.
    """

    def __init__(self, state: ListState, writing: Writing, host: HostList) -> None:
        self.places = Places(len(host), host.start)
        self._state = state
        self._items = state.items
        self._writing = writing
        self._host = host
        self._stale_prefix = False
        self._passed_by: set[CallKey] = set()  # folded away, and their results may still come

    def take(self, items: Sequence[Any], first: int, at: int) -> None:
        """Put the host's items from `first` on in place of the context's from `at` on.

        A result whose call was folded away, when the user had gone on without it, is a note there:
        providers refuse a result without its call.
        """
        if not self._passed_by:
            with self._state.lock:  # another call may be asking how long it is
                self._items[at:] = items[first:]
            self.places.take(at, first, len(items))
            return
        with self._state.lock:
            self._take_noting(items, first, at)

    def _take_noting(self, items: Sequence[Any], first: int, at: int) -> None:
        """Do what `take` does, item by item: any of them may be such a result."""
        del self._items[at:]
        self.places.take(at, first, first)
        for index, item in enumerate(items[first:], first):
            added = [item]
            if self._answers(item):
                added = self._writing.add(item)
            else:
                self._items.append(item)
            if len(added) == 1 and added[0] is item:
                self.places.add(index)
            else:
                self.places.note(index, added, self._items)

    def take_forms(self) -> None:
        """Put the host's latest objects in place of those that came first and say the same."""
        places, items, latest = self.places, self._items, self._host.items
        with self._state.lock:
            for at, item in enumerate(items):
                index = places.index_of(at)
                if index is None or index in places.noted or latest[index] is item:
                    continue
                items[at] = latest[index]  # a fold looks through the list before it begins

    def note_prefix(self, items: Sequence[Any]) -> None:
        """Take down whether other leading instructions have come, before the list is taken in."""
        start = self._host.start
        now, then = items[:start], self._host.items[:start]
        self._stale_prefix = self._stale_prefix or not all(map(is_, now, then))

    def renew_prefix(self) -> None:
        """Put the latest leading instructions in place of those that came first."""
        if self._stale_prefix:
            start = self._host.start
            with self._state.lock:
                self._items[:start] = self._host.items[:start]
            self._stale_prefix = False

    def fold(
        self, where: Split, made: Replacement[Any], before: Sequence[Any]
    ) -> tuple[int, ...] | None:
        """Take down where everything stands behind a fold; see `Places.fold`."""
        return self.places.fold(where, made, before, self._items)

    def pass_by(self, removed: Iterable[Any]) -> None:
        """Take down which calls of items that a fold took out went without a result."""
        self._passed_by |= unanswered(map(self._state.reading.view_of, removed))

    def answers_from(self, items: Sequence[Any], start: int) -> bool:
        """Return whether an item from an index on has a result of a call that was folded away."""
        return bool(self._passed_by) and any(map(self._answers, items[start:]))

    def _answers(self, item: Any) -> bool:
        return not self._passed_by.isdisjoint(answered(self._state.reading.view_of(item)))

    def view(self, saved: int) -> View:
        """Return what the model sees of the host's list; see `Places.view`."""
        return self.places.view(self._items, len(self._host), saved)

    def ends_elsewhere(self, stop: int) -> bool:
        """Return whether a kept item stands behind all others; see `Places.end_elsewhere`."""
        return self.places.end_elsewhere(self._items, stop)
