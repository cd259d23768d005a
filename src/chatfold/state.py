"""The state of one list: its readings, its locks, who holds the history; the one place of writing.

What is folded is `folding`'s; what else is written to the list is `writing`'s.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, NoReturn
from weakref import WeakSet

from chatfold.core.binding import Doubted, doubted_thinking, parted_thinking, thinking_prints
from chatfold.core.calls import Abandon
from chatfold.core.check import THINKING_BINDING, Problem, Requirement
from chatfold.core.commit import problems_of
from chatfold.core.reach import Reach
from chatfold.core.reading import Reading
from chatfold.core.replacement import Replacement
from chatfold.core.snapshot import Extent, Snapshot
from chatfold.core.views import ItemView, Shape
from chatfold.errors import BusyError

__all__ = ["End", "ListState"]

_PART: Final = 20  # items that are read before the time is looked at again: some have long texts
_BRIEF: Final = 0.02  # seconds for which a recorded stream is held up at most
_MOMENT: Final = 0.002  # seconds for which an event loop is held at a time


class End(NamedTuple):
    """Where a list ended at one moment.

    Attributes:
        length: The number of its items.
        last: The last of them, None where there was none.
        changes: How often it had been changed before its end; see `ListState.changes`.
    """

    length: int
    last: Any
    changes: int


class ListState:
    """One list with its readings, and the only code that puts new items in place of old ones.

    Args:
        items: The caller's list.
        reading: Keeps the readings of that list.
        model: The agent's model.
        server_managed: Whether the provider holds the history.
    """

    def __init__(
        self, items: list[Any], reading: Reading, *, model: str | None, server_managed: bool
    ) -> None:
        self.items = items
        self.reading = reading
        self.model = model
        # What the provider knows the history by, "" where this list is the history; after a fold
        # of a held history, the provider's own is out of date and must not be used again.
        self.held = "server_managed=True" if server_managed else ""
        self.replayed = False
        # Whether a fold took out all thinking behind its summary: what is there now came later,
        # and was signed over the list with that summary.
        self.unbound = False
        # Fingerprints of items whose thinking was signed over something else than what stands
        # before them now: whatever put something there, or took it out, has noted them here.
        self.parted: set[int] = set()
        self.changes = 0  # how often something was written elsewhere than at the list's end
        # Where the list ended when the fields of a request were asked for, until its answer comes.
        self.asked: End | None = None
        # Returns who says what asks whether thinking may be signed over a summary that is not in
        # the list; it is somebody who has this state, and would else live as long as a cycle does.
        self.doubts: Callable[[], Callable[[], Doubted | None] | None] = _has_none
        self.running = threading.Lock()  # held while a summary is being written
        self.lock = threading.RLock()  # guards the readings; never held during a model call
        _ALL.add(self)

    def after_fork(self) -> None:
        """Begin with free locks in the child of a fork: nobody is left there to release them."""
        self.running, self.lock = threading.Lock(), threading.RLock()
        self.reading.doubt()  # another thread may have been at it

    def snapshot(self, abandon: Abandon | None = None, *, looked_through: bool = False) -> Snapshot:
        """Return the list as it is now, with its readings; see `Reading.snapshot`."""
        with self.lock:
            return self.reading.snapshot(abandon=abandon, looked_through=looked_through)

    def __reduce__(self) -> NoReturn:
        """Say what to copy or to store instead, where Python would say that a lock cannot be."""
        raise TypeError(
            "a ChatContext cannot be pickled or copied deeply; what has to be kept is its list: "
            "store or copy ctx.items, and make another context of that, ChatContext(items, ...)"
        )

    def read_on(self) -> bool:
        """Read for a moment what has come; return whether it was much, and there may be more."""
        until = time.perf_counter() + _MOMENT
        with self.lock:
            while self.reading.read_on(_PART):
                if time.perf_counter() > until:
                    return True
        return False

    @contextmanager
    def held_briefly(self) -> Generator[bool, None, None]:
        """Hold the lock if it is free soon: a fold has it while a store takes what goes.

        What is added then, without it, is seen before that is put in. Yields whether it is held.
        """
        has = self.lock.acquire(timeout=_BRIEF)
        try:
            yield has
        finally:
            if has:
                self.lock.release()

    def extent(self) -> Extent:
        """Return how long the list is, in time that depends on what is new alone."""
        with self.lock:
            return self.reading.extent()

    def tokens(self) -> int:
        """Return the size of the list in tokens, in time that depends on what is new alone."""
        return self.extent().tokens

    def extent_looked_through(self) -> Extent:
        """Return how long the list is, edits in its middle included; looks at every item."""
        with self.lock:
            self.reading.sync()
            return self.reading.extent()

    def waiting_calls(self) -> tuple[int, ...]:
        """Return where the calls without a result are."""
        with self.lock:
            return self.reading.waiting_calls()

    def reach(self, keep: int) -> Reach:
        """Return how far a fold may go that keeps so many tokens; see `core.reach`."""
        with self.lock:
            return self.reading.reach(keep)

    def request_tokens(self, *, start: int = 0, answered: bool = False) -> tuple[int, ...]:
        """Return the sizes of the list in the requests that a report may be of."""
        with self.lock:
            return self.reading.request_tokens(start=start, answered=answered)

    def ran_tools_at_provider(self, start: int = 0) -> bool:
        """Return whether the server itself ran tools for the answer at the end of the list."""
        with self.lock:
            return self.reading.ran_tools_at_provider(start)

    def has_grown(self, snapshot: Snapshot) -> bool:
        """Return whether items came or went since a snapshot."""
        return len(self.items) != len(snapshot.items)

    @contextmanager
    def alone(self, call: str) -> Generator[None, None, None]:
        """Hold off other changes of the list; a summarization that runs is not disturbed.

        Raises:
            BusyError: One is running.
        """
        if not self.running.acquire(blocking=False):
            raise BusyError(
                f"{call} cannot change the list while a summary of it is being written; call it "
                "when summarize() has returned, or when the fold in the background was put in "
                "(apply_if_ready(), maybe_summarize()) or given up (cancel())"
            )
        try:
            yield
        finally:
            self.running.release()

    def problems(self) -> list[Problem]:
        """Return what is wrong with the list.

        Where the provider holds the history, results may come without their calls.
        """
        found = problems_of(self.snapshot())
        return [p for p in found if p.rule != "orphan_result"] if self.held else found

    def requirements(self) -> list[Requirement]:
        """Return what a request with this list has to carry besides the list."""
        snapshot = self.snapshot()
        return [*self._needed(snapshot, self.model), *self.replay(snapshot)]

    def requirements_at(self, snapshot: Snapshot, model: str | None) -> list[Requirement]:
        """Return what the next request has to carry with a list as it was, for a model.

        That is the request which a fold in append mode sends with a question behind it.
        """
        found = self._needed(snapshot, model)
        doubts = self.doubts()
        is_doubted = doubts() if doubts is not None else None
        return self._with_doubted(found, snapshot.shape, snapshot.views, is_doubted, model)

    def _needed(self, snapshot: Snapshot, model: str | None) -> list[Requirement]:
        found = self._still_needed(snapshot.shape.requirements(snapshot.views, model=model))
        if not self.parted or any(r.kind == THINKING_BINDING for r in found):
            return found
        return [*found, *parted_thinking(snapshot, self.parted, model)]

    def requirements_read(self, is_doubted: Doubted | None = None) -> list[Requirement]:
        """Return the same, in time that is short also for long lists.

        Args:
            is_doubted: Returns of an index, and what was read, whether thinking there may have
                been signed over a summary that is not in the list; None where that is not so.
        """
        with self.lock:
            shape, views = self.reading.read_now()
            if self.parted:
                found = self.requirements()
            else:
                found = self._still_needed(shape.requirements(views, model=self.model))
        return self._with_doubted(found, shape, views, is_doubted, self.model)

    def requirements_of(
        self, items: Sequence[Any], is_doubted: Doubted | None = None
    ) -> list[Requirement]:
        """Return the same for items that are not in the list; nothing is known of thinking there.

        Args:
            items: What is to go out.
            is_doubted: As for `requirements_read`.
        """
        with self.lock:
            shape, views = self.reading.read_of(items)
        found = self._still_needed(shape.requirements(views, model=self.model))
        return self._with_doubted(found, shape, views, is_doubted, self.model)

    def _with_doubted(
        self,
        found: list[Requirement],
        shape: Shape,
        views: Sequence[ItemView],
        is_doubted: Doubted | None,
        model: str | None,
    ) -> list[Requirement]:
        if is_doubted is None or any(r.kind == THINKING_BINDING for r in found):
            return found
        return [*found, *doubted_thinking(shape, views, is_doubted, model)]

    def _still_needed(self, found: Iterable[Requirement]) -> list[Requirement]:
        return [r for r in found if not (self.unbound and r.kind == THINKING_BINDING)]

    def replay(self, snapshot: Snapshot) -> list[Requirement]:
        """Return what makes the provider take the list, where its own history is out of date."""
        if not self.replayed:
            return []
        replay = snapshot.shape.full_replay()
        return [replay] if replay is not None else []

    def hold(self, held: str) -> None:
        """Note by what the provider knows the history, as a response says; "" if it does not."""
        if held:
            self.held, self.replayed = held, False

    def swap(self, change: Replacement[Any]) -> None:
        """Write to the list: one slice, so that what others append meanwhile is not touched."""
        self.items[change.start : change.stop] = change.items
        self.reading.doubt()
        self.changes += 1

    def put_in(self, made: Mapping[int, Sequence[Any]], but: Collection[int] = ()) -> None:
        """Write items into the list, by the index before which they go; see `note_parted`."""
        first = min(made, default=len(self.items))
        is_at_end = first >= len(self.items)
        for at in sorted(made, reverse=True):
            self.items[at:at] = made[at]
        if not is_at_end:
            self.changes += 1
            self.note_parted(first, but)

    def note_parted(self, start: int, but: Collection[int] = ()) -> frozenset[int]:
        """Take down that something has changed before the items from an index on.

        Args:
            start: The index.
            but: Fingerprints of items whose thinking is signed over what stands there now.

        Returns:
            The fingerprints of the items whose thinking is not.
        """
        found = thinking_prints(self.snapshot(), start).difference(but)
        self.parted |= found
        return found

    def end(self) -> End:
        """Return where the list ends now."""
        length = len(self.items)
        last = self.items[length - 1 : length]
        return End(length, last[0] if last else None, self.changes)

    def ended_at(self, end: End, index: int) -> bool:
        """Return whether a list that ended like that stands unchanged before an index."""
        if end.changes != self.changes or end.length != index:
            return False
        return not index or self.items[index - 1] is end.last


def _has_none() -> None:
    return None


def _after_fork() -> None:
    for state in list(_ALL):
        state.after_fork()


# Held weakly: what is registered for a fork stays so until the process ends.
_ALL: Final[WeakSet[ListState]] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
