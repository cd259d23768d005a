"""How long one model call may take: as long as was said, with retries and the waits before them.

The SDKs hand a time-out on to HTTP, where it is that of each read: a server that sends white space
now and then is never late. And they wait before a retry for as long as a server tells them to.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chatfold.core.callables import is_async
from chatfold.errors import SummarizerError
from chatfold.threads import LEFT, ExpiredError

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

__all__ = ["configured", "in_time"]

T = TypeVar("T")

_GRACE: Final = 1.0  # seconds that a cancelled request has to end; one that goes on is left alone


def configured(client: Any, timeout: float | None, retries: int) -> Any:
    """Return an SDK's client with our time-out and retries; it shares the connections.

    A call in a thread that has been given up goes on there. It sends nothing more: a retry would be
    paid for, and nobody waits for it.
    """
    made = client.with_options(timeout=timeout, max_retries=retries)
    # The hook of both SDKs for a request that is about to be sent; without it, all else holds.
    prepare = getattr(made, "_prepare_request", None)
    if timeout is None or made is client or not callable(prepare) or is_async(prepare):
        return made
    deadline = time.monotonic() + timeout

    def checked(request: Any) -> Any:
        if time.monotonic() > deadline:
            raise ExpiredError(f"no answer after {timeout:g} s")
        return prepare(request)

    made._prepare_request = checked
    return made


async def in_time(answered: Awaitable[T], seconds: float | None) -> T:
    """Return what is awaited; after that time it is cancelled, and not waited for.

    It may be at work on its own cancellation for as long as it likes, or take no notice. Where this
    call is cancelled it has a moment to end, so that the caller does not go on beside a request
    that is still open; `LEFT` is told of a thread, which cannot be cancelled. It is not told of one
    that took too long: that may never end.

    Args:
        answered: Is awaited in a task of its own.
        seconds: How long to wait; None waits for ever.

    Raises:
        ExpiredError: It took longer.
        SummarizerError: It was cancelled from inside.
    """
    import asyncio

    left: list[Future[None]] = []
    told = LEFT.set(left)
    task = asyncio.ensure_future(answered)  # takes the context with it
    LEFT.reset(told)
    try:
        await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE)
        around = LEFT.get()
        if around is not None:
            around += left
        raise
    finally:
        task.add_done_callback(_forget)  # of one that is done, too: this call may be cancelled
        task.cancel()
    if not task.done():
        raise ExpiredError(f"no answer after {seconds or 0:g} s")
    if task.cancelled():  # not this call: that would have been told at the wait
        raise SummarizerError("something that the summarizer awaited was cancelled")
    try:
        return task.result()
    finally:
        del task  # its error's traceback holds this frame


def _forget(task: asyncio.Future[Any]) -> None:
    """Take note of an error that comes too late, so that Python does not warn about it."""
    if not task.cancelled():
        task.exception()
