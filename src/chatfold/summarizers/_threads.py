"""A blocking call beside the caller: in a daemon thread, with a time limit or awaited.

A daemon thread, because a call that has been given up must not keep the program from ending, as
the pool behind `asyncio.to_thread` would.
"""

from __future__ import annotations

import contextvars
import queue
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from chatfold.threads import Threads

if TYPE_CHECKING:
    import asyncio

__all__ = ["ExpiredError", "arun", "run"]

T = TypeVar("T")

_THREADS: Final = Threads("chatfold-summarizer", 60.0)


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
    """
    if timeout is None:
        return function()
    box: queue.SimpleQueue[tuple[list[T], BaseException | None]] = queue.SimpleQueue()
    _start(lambda: box.put(_result(function)))
    try:
        result = box.get(timeout=timeout)
    except queue.Empty:
        raise ExpiredError(f"no answer after {timeout:g} s") from None
    return _opened(result)


async def arun(function: Callable[[], T]) -> T:
    """Return what `function` returns in a thread of its own, or raise what it raises.

    Whoever cancels this stops waiting; the thread itself cannot be stopped.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[list[T], BaseException | None]] = loop.create_future()

    def work() -> None:
        result = _result(function)
        # The loop is closed where the program ended without waiting for this thread.
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, future, result)

    _start(work)
    return _opened(await future)


def _start(work: Callable[[], None]) -> None:
    _THREADS.run(partial(contextvars.copy_context().run, work))


def _result(function: Callable[[], T]) -> tuple[list[T], BaseException | None]:
    # A pair and not a raised error: a future refuses StopIteration, and a thread would print it.
    try:
        return [function()], None
    except BaseException as error:
        return [], error


def _opened(result: tuple[list[T], BaseException | None]) -> T:
    values, error = result
    if error is not None:
        raise error
    return values[0]


def _settle(future: asyncio.Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)
