"""Folds that are written in the background, in a thread or a task; the list's owner puts them in.

The list is read when one begins and written when its owner asks for what came of it; between, all
is done on values. Not here: how one begins (`beginning`), and when (`each_turn`).
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Final, Generic, TypeAlias, TypeVar

from chatfold.core.cost import Cost
from chatfold.core.plan import Outcome
from chatfold.core.scalars import check_number
from chatfold.errors import SummarizerError
from chatfold.folding import Folding, charged
from chatfold.state import ListState
from chatfold.threads import LEFT, NoThreadError, Threads, arun
from chatfold.work import Made, put

__all__ = ["YET_TO_ANSWER", "BackgroundFold", "OverBy", "Then"]

ItemT = TypeVar("ItemT")


_FIRST = 0.001
"""Seconds for which a thread leaves the interpreter to the turn that began it; it would keep it
for five milliseconds (`sys.getswitchinterval`)."""

_THREADS: Final = Threads("chatfold", 60.0)

YET_TO_ANSWER: Final = "the model of the fold that was given up has yet to answer"
"""Why the next fold in the background does not begin: two would be paid for at once."""

Then: TypeAlias = Callable[[Outcome[Any]], Outcome[Any]]
"""Tells whoever is to know of an outcome; returns it, with what they add."""

Act: TypeAlias = Callable[..., None]
"""Called with `waits=`: whether it may wait for a lock; see `BackgroundFold.when_ended`."""

OverBy: TypeAlias = Callable[[], float | None]
"""Returns the share of the list by which it is over the window; None where it is not."""

_Made: TypeAlias = "Made | BaseException"


class BackgroundFold(Generic[ItemT]):
    """A fold that is being written while the conversation goes on.

    The list stays as it is until its owner calls `apply_if_ready`; what is added meanwhile stays
    behind the fold. Until then, or until `cancel`, no other summarization of the list begins;
    after `cancel` none in the background until the model has answered.
    """

    def __init__(
        self,
        state: ListState,
        folding: Folding,
        then: Then | None = None,
        cost: Cost | None = None,
        over_by: OverBy | None = None,
    ) -> None:
        self._state = state
        self._folding = folding
        self._then = then
        self._over_by = over_by
        self._started = self._written = time.perf_counter()
        self.cost = Cost() if cost is None else cost
        self.cost.since = self._started
        # Reentrant, so that a store that gives the fold up while it is put in does not hang.
        self._lock = threading.RLock()
        self._holds = False  # the right to summarize the list
        self._ended = False  # nobody writes any more
        self._done = threading.Event()  # there is nothing left to wait for
        self._stop = _Stop()
        self._made: _Made | None = None
        self._outcome: Outcome[ItemT] | None = None
        self._is_told = False  # whoever is to know of the outcome has been told, or is now
        self._is_new = True  # its owner has yet to be given the outcome
        self._then_do: list[Act] = []  # when nobody writes any more
        self._task: asyncio.Task[None] | None = None
        self._left: list[Future[None]] = []  # threads that go on after the task was cancelled
        self._process = os.getpid()

    @property
    def done(self) -> bool:
        """Whether there is nothing left to wait for: it is written, failed, or cancelled."""
        return self._done.is_set() or self._forsaken()

    @property
    def settled(self) -> bool:
        """Whether it is in the list, or never will be."""
        return self._outcome is not None

    @property
    def came_to_nothing(self) -> bool:
        """Whether it is known that nothing was written, or that it could not be put in."""
        if self._outcome is not None:
            return not self._outcome.changed
        return self.done and (self._made is None or isinstance(self._made, BaseException))

    @property
    def working(self) -> bool:
        """Whether somebody writes it; after `cancel` too, until the model has answered."""
        if self._ended or self._is_forked():
            return False
        return not (self._forsaken() and all(thread.done() for thread in self._left))

    def apply_if_ready(self) -> Outcome[ItemT]:
        """Put the fold into the list, if it is written; never waits for a model.

        Returns:
            `running` until it is written, then what became of it; the same one from then on. An
            error is in it, not raised.
        """
        return self.settle()[0]

    def settle(self) -> tuple[Outcome[ItemT], bool]:
        """Do what `apply_if_ready` does; return also whether its owner is given it only now.

        Whoever is to know of it may have been told before, by `tell`.
        """
        with self._lock:
            if self._outcome is None and not self.done:
                return self._folding.idle("running"), False
        return self._ended_by(self._put)

    def cancel(self) -> Outcome[ItemT]:
        """Give the fold up, from any thread; what the model still answers is discarded.

        Returns:
            `cancelled`, or what became of the fold if that was settled before.
        """

        def give_up() -> Outcome[ItemT]:
            if self._task is not None:
                with suppress(RuntimeError):  # its loop is closed
                    self._task.get_loop().call_soon_threadsafe(self._task.cancel)
            return self._folding.idle("cancelled")

        return self._ended_by(give_up)[0]

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is written, failed or cancelled; not for use in an event loop.

        Args:
            timeout: Seconds to wait at most; None waits for as long as it takes.

        Returns:
            Whether it is.

        Raises:
            TypeError: `timeout` is no number.
            ValueError: It is more than a thread can wait, or not a number.
        """
        if timeout is not None:
            check_number("timeout", timeout)
            if not timeout <= threading.TIMEOUT_MAX:
                raise ValueError(
                    f"timeout must be at most {threading.TIMEOUT_MAX:,.0f} seconds, or None for no "
                    f"limit, not {timeout!r}"
                )
        return self.done or self._done.wait(timeout)

    async def await_done(self) -> None:
        """Wait, without blocking the event loop, until it is written, failed or cancelled.

        One that was begun in an event loop is to be awaited in that. What came of it is in
        `apply_if_ready()`.
        """
        if self._task is not None:
            await asyncio.wait({self._task})
        elif not self.done:
            await arun(self._done.wait)

    # What the work below and `Middleware` use

    def when_ended(self, act: Act) -> None:
        """Have something done as soon as nobody writes any more, in a thread, if there is one.

        It is called with `waits`, must not raise, and must wait for no lock where that is false:
        it is called by whoever ends then, who may have the lock. A fold whose event loop is closed
        never ends.
        """
        act = partial(contextvars.copy_context().run, act)
        with self._lock:
            if not self._ended:
                self._then_do.append(act)
                return
        _beside(act)

    def put_in(self) -> Outcome[ItemT] | None:
        """Do what `apply_if_ready` does, but tell nobody: see `tell`; None where it is settled."""
        with self._lock:
            return self._settle(self._put) if self._outcome is None and self.done else None

    def tell(self) -> None:
        """Tell whoever is to know of what `put_in` has done, unless they have been told.

        Its owner is given that at the next turn all the same, if there is one.
        """
        with self._lock:
            told, outcome = self._is_told, self._outcome
            if told or outcome is None:
                return
            self._is_told = True
        self._told(outcome)

    def hold(self) -> bool:
        """Take the right to summarize the list; return whether nobody else has it."""
        self._holds = self._state.running.acquire(blocking=False)
        return self._holds

    def release(self) -> None:
        """Give that right back."""
        if self._holds:
            forked = self._is_forked()  # the list has a new lock then
            self._holds = False
            if not forked:
                self._state.running.release()

    def drop(self) -> None:
        """Give the fold up; that is told by whoever was to begin it."""
        with self._lock:
            self._is_told = True
            self.cancel()

    def refuse(self, outcome: Outcome[ItemT]) -> None:
        """Take down that it never began."""
        self._outcome, self._is_told, self._is_new = outcome, True, False
        self._end()

    def run_in_thread(self, make: Callable[[Callable[[], bool]], Made]) -> None:
        """Have it written in a thread, which does not keep the process alive.

        Raises:
            SummarizerError: No thread can be had.
        """
        stop, held = self._stop, [self]

        def run() -> None:
            fold = held.pop()
            time.sleep(_FIRST)
            try:
                fold._take(make(stop))
            except BaseException as error:  # reported to the owner
                fold._take(error)
            finally:
                fold._end()
                del fold  # an error has this frame, and the fold has the error

        try:
            _THREADS.run(partial(contextvars.copy_context().run, run))
        except NoThreadError as error:
            raise SummarizerError(f"the summary is not written: {error}") from error

    def run_in_task(self, make: Callable[[Callable[[], bool]], Coroutine[Any, Any, Made]]) -> None:
        """Have it written by a task of the running event loop."""
        stop, held = self._stop, [self]

        async def run() -> None:
            fold = held.pop()
            LEFT.set(fold._left)
            try:
                fold._take(await make(stop))
            except BaseException as error:
                fold._take(error)
                if not isinstance(error, Exception):
                    raise
            finally:
                del fold  # as above

        self._task = asyncio.get_running_loop().create_task(run(), name="chatfold")
        # Not in `run`: a task that is cancelled before its first step never gets there.
        self._task.add_done_callback(self._task_ended)

    def _task_ended(self, _task: object) -> None:
        """End when all threads have that the task has left."""

        def thread_ended(_thread: object = None) -> None:
            if all(thread.done() for thread in self._left):
                self._end()

        self._done.set()
        for thread in self._left:
            thread.add_done_callback(thread_ended)
        thread_ended()

    def _take(self, made: _Made) -> None:
        """Take in what was made, unless it is no longer wanted."""
        self._written = time.perf_counter()
        if not self._stop.asked:
            self._made = made

    def _end(self) -> None:
        with self._lock:
            self._ended = True
            self._done.set()
            acts, self._then_do = self._then_do, []
        for act in acts:
            _beside(act)

    def _forsaken(self) -> bool:
        """Return whether it never ends: its task has ended, its loop is closed, or it was left.

        The child of a fork has none of the threads of its parent.
        """
        if self._is_forked():
            return True
        return self._task is not None and (self._task.done() or self._task.get_loop().is_closed())

    def _is_forked(self) -> bool:
        """Return whether this is the child of a fork, and the parent had begun it."""
        return os.getpid() != self._process

    def _ended_by(self, settle: Callable[[], Outcome[ItemT]]) -> tuple[Outcome[ItemT], bool]:
        """Return what became of it, by this if by nothing before; whoever is to know is told.

        And whether its owner is given that only now.

        Also where Ctrl-C comes: what was paid is in no other event.
        """
        told = True
        try:
            with self._lock:
                new, self._is_new = self._is_new, False
                told, self._is_told = self._is_told, True
                outcome = self._outcome
                if outcome is None:
                    outcome = self._settle(settle)
        except BaseException:
            if self._outcome is not None and not told:
                self._told(self._outcome)
            raise
        return (outcome if told else self._told(outcome)), new

    def _settle(self, settle: Callable[[], Outcome[ItemT]]) -> Outcome[ItemT]:
        """Take down what becomes of it; others may summarize the list then, whatever happens."""
        outcome: Outcome[ItemT] | None = None
        self.cost.since = self._since(time.perf_counter())
        try:
            outcome = settle()
        finally:
            if outcome is None:
                outcome = Outcome(changed=False, reason="cancelled")
            self.release()  # first: an interrupt may come between any two of these
            self._outcome = outcome
            outcome = charged(outcome, self.cost)
            if not isinstance(self._made, BaseException):  # it has these swaps in its frames
                self._folding.swaps.leave(self._made)
            self._outcome, self._made, self._over_by = outcome, None, None
            self._stop.asked = True
            if not self._done.is_set():
                self._done.set()
        return outcome

    def _since(self, now: float) -> float:
        """Return when it would have begun, had it not lain ready before it is settled now."""
        written = self._written if self._ended else now
        return now - (written - self._started)

    def _put(self) -> Outcome[ItemT]:
        """Return what becomes of what was made."""
        made = self._made
        try:
            if made is not None and not isinstance(made, BaseException):
                # Much may have come while it was written.
                over = self._over_by() if self._over_by is not None else None
                return put(self._folding, made, self.cost, at_least=over)
        except Exception as error:
            return self._folding.failed(error, self.cost)
        if made is None and self._is_forked():  # the parent goes on with it
            return self._folding.idle("cancelled")
        if made is None or isinstance(made, asyncio.CancelledError):
            made = _unfinished(made)
        return self._folding.failed(made, self.cost)

    def _told(self, outcome: Outcome[ItemT]) -> Outcome[ItemT]:
        """Return an outcome that whoever is to know of it has been told of; outside of the lock."""
        then, self._then = self._then, None  # it has the context, which has this
        if then is not None:
            self._outcome = outcome = then(outcome)
        return outcome


class _Stop:
    """Says whether whatever comes is discarded; without the fold, as an error has what it is given.

    Attributes:
        asked: Whether it is.
    """

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        return self.asked


def _beside(act: Act) -> None:
    try:
        _THREADS.run(partial(act, waits=True))
    except NoThreadError:  # here, or else nobody gives up what is held for the fold
        act(waits=False)


def _unfinished(cause: BaseException | None) -> SummarizerError:
    """Return the error of a task that somebody else has ended."""
    error = SummarizerError(
        "the event loop was closed, or cancelled its tasks, before the summary was written, which "
        "a task of that loop does; keep one loop for the whole conversation, or call without "
        "background=True, or outside of any loop, where a thread writes it"
    )
    error.__cause__ = cause
    return error
