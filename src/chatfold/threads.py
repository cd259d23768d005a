"""Work beside the caller, in daemon threads that wait a while for more: with a limit, or awaited.

To wake a thread takes a tenth of starting one. Daemon threads, because work that nobody waits for
must not keep the program from ending, as the pools of `concurrent.futures` would; and threads of
our own, because those of an event loop (`asyncio.to_thread`) may all be held by who waits for us.
Not here: what is done in them.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar

from chatfold.core.scalars import check_number

if TYPE_CHECKING:
    import asyncio

__all__ = [
    "LEFT",
    "STEPS",
    "Crew",
    "ExpiredError",
    "NoThreadError",
    "Threads",
    "arun",
    "begin",
    "check_timeout",
    "run",
]

T = TypeVar("T")

_Job: TypeAlias = Callable[[], None]
_Box: TypeAlias = "SimpleQueue[_Job]"

_WAITING: Final = "-idle"


def check_timeout(timeout: float | None) -> None:
    """Check for how many seconds a caller wants to wait; None stands for no limit.

    Raises:
        TypeError: It is something else than a number.
        ValueError: It is not more than 0, not a number, or longer than a thread can wait.
    """
    if timeout is None:
        return
    check_number("timeout", timeout)
    if not 0 < timeout <= threading.TIMEOUT_MAX:
        raise ValueError(
            f"timeout must be more than 0 seconds, at most {threading.TIMEOUT_MAX:,.0f}, or None "
            f"for no limit, not {timeout!r}"
        )


class NoThreadError(RuntimeError):
    """The system gives no more threads, and what was to be done in one is not done."""


def begin(work: _Job, name: str) -> None:
    """Have work done in a new daemon thread.

    Raises:
        NoThreadError: None can be had: a container may limit its processes, as `ulimit -u` does.
    """
    try:
        threading.Thread(target=work, name=name, daemon=True).start()
    except RuntimeError as error:
        raise NoThreadError(f"no thread can be had: {error}") from error


class Threads:
    """As many threads as there is work at a time; no lock is needed, a list hands them out.

    Args:
        name: What a thread is called while it works; while it waits, `-idle` stands behind it.
        patience: Seconds for which a thread waits for more work before it ends.
    """

    def __init__(self, name: str, patience: float) -> None:
        self._name = name
        self._patience = patience
        self._idle: list[_Box] = []
        if hasattr(os, "register_at_fork"):  # a fork has none of the threads
            os.register_at_fork(after_in_child=self._idle.clear)

    def run(self, work: _Job) -> None:
        """Have work done in a thread; it must not raise.

        Raises:
            NoThreadError: None can be had.
        """
        try:
            box = self._idle.pop()
        except IndexError:
            box = SimpleQueue[_Job]()
            begin(partial(self._serve, box), self._name)
        box.put(work)

    def _serve(self, box: _Box) -> None:
        thread = threading.current_thread()
        while True:
            try:
                work = box.get(timeout=self._patience)
            except Empty:
                try:
                    self._idle.remove(box)
                except ValueError:  # somebody has taken it a moment ago, and is to put work in
                    continue
                return
            thread.name = self._name
            work()
            del work  # and all that it holds
            thread.name = self._name + _WAITING
            self._idle.append(box)


class Crew:
    """Threads of which only so many work at a time; what comes besides waits for its turn.

    No work may wait for other work of the same crew.

    Args:
        threads: The threads.
        most: How many work at a time.
    """

    def __init__(self, threads: Threads, most: int) -> None:
        self._threads = threads
        self._most = most
        self._begin()
        if hasattr(os, "register_at_fork"):  # a fork has none of the threads
            os.register_at_fork(after_in_child=self._begin)

    def run(self, work: _Job) -> None:
        """Have work done in a thread; it must not raise.

        Raises:
            NoThreadError: None can be had.
        """
        self._waiting.append(work)
        if not self._places.acquire(blocking=False):
            return
        try:
            self._threads.run(self._serve)
        except BaseException:  # the system gives no more threads
            self._places.release()
            try:
                self._waiting.remove(work)
            except ValueError:  # one that was at work has taken it
                return
            raise

    def _begin(self) -> None:
        self._waiting: deque[_Job] = deque()
        self._places = threading.Semaphore(self._most)

    def _serve(self) -> None:
        while True:
            try:
                work = self._waiting.popleft()
            except IndexError:
                self._places.release()
                # For what came since that look, and found no place.
                if not (self._waiting and self._places.acquire(blocking=False)):
                    return
                continue
            work()
            del work  # and all that it holds


_CALLS: Final = Threads("chatfold-summarizer", 60.0)
STEPS: Final = Crew(Threads("chatfold-step", 60.0), 32)
"""For what is computed, or asked of a store, in an event loop's stead: a thread for each of a
thousand conversations would only slow down the others."""

LEFT: Final[contextvars.ContextVar[list[Future[None]] | None]] = contextvars.ContextVar(
    "chatfold_left", default=None
)
"""Takes down, for who sets it, the end of each thread that a cancelled `arun` leaves at work."""


class ExpiredError(TimeoutError):
    """The call took longer than it may; its thread is left to itself."""


def run(function: Callable[[], T], timeout: float | None) -> T:
    """Return what `function` returns, or raise what it raises.

    Args:
        function: Called in a thread of its own that sees the caller's context variables; in the
            caller's thread where `timeout` is None.
        timeout: Seconds to wait; None waits for ever.

    Raises:
        ExpiredError: `function` took longer.
        NoThreadError: None can be had; it was not called.
    """
    if timeout is None:
        return function()
    box: SimpleQueue[_Result[T]] = SimpleQueue()
    _start(lambda: box.put(_Result(function)), _CALLS)
    try:
        result = box.get(timeout=timeout)
    except Empty:
        raise ExpiredError(f"no answer after {timeout:g} s") from None
    return result.opened()


async def arun(
    function: Callable[[], T], threads: Threads | Crew = _CALLS, *, or_here: bool = False
) -> T:
    """Return what `function` returns in another thread, or raise what it raises.

    Whoever cancels this stops waiting; the thread itself cannot be stopped, and is told to `LEFT`.

    Args:
        function: Called in a thread that sees the caller's context variables.
        threads: One of these; by default there is one for every call at a time.
        or_here: Whether it is called here, and the event loop waits, where no thread can be had.

    Raises:
        NoThreadError: None can be had; it was not called.
        RuntimeError: It is awaited by something else than asyncio.
    """
    import asyncio

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            "what chatfold awaits runs in an event loop of asyncio, and there is none here; under "
            "trio, call the method without the `a` in front by trio.to_thread.run_sync()"
        ) from None
    future: asyncio.Future[_Result[T]] = loop.create_future()
    ended: Future[None] = Future()

    def work() -> None:
        result = _Result(function)
        with suppress(RuntimeError):  # the loop was closed without waiting for this thread
            loop.call_soon_threadsafe(_settle, future, result)
        ended.set_result(None)

    try:
        _start(work, threads)
    except NoThreadError:
        if not or_here:
            raise
        return function()
    try:
        return (await future).opened()
    except asyncio.CancelledError:
        left = LEFT.get()
        if left is not None:
            left.append(ended)
        raise


def _start(work: _Job, threads: Threads | Crew) -> None:
    threads.run(partial(contextvars.copy_context().run, work))


class _Result(Generic[T]):
    """What a function returned, or raised.

    An error is handed on and not raised: a future refuses StopIteration, a thread would print it.
    """

    def __init__(self, function: Callable[[], T]) -> None:
        self._values: list[T] = []
        self._error: BaseException | None = None
        try:
            self._values.append(function())
        except BaseException as error:
            self._error = error

    def opened(self) -> T:
        """Return it, or raise it; once, as an error is not to be held by who opens it."""
        error, self._error = self._error, None
        if error is None:
            return self._values[0]
        try:
            raise error
        finally:
            del error


def _settle(future: asyncio.Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)
