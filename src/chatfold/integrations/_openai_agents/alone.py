"""A lock for whoever comes, from whatever event loop or thread: `asyncio.Lock` is of one loop.

Not here: what it guards (`session`).
"""

from __future__ import annotations

import asyncio
import threading
from typing import Final
from weakref import WeakValueDictionary

__all__ = ["Alone"]

_AGAIN: Final = 0.005  # seconds between two looks at whether those of another loop are done


class Alone:
    """Lets one task in at a time, of all loops that run in any thread.

    Those of one loop take turns as they came. The first of these looks every so often whether
    another loop is done, rather than be woken by it: a loop may stop and never run again, as each
    `asyncio.run` does, and so hands nothing over.
    """

    def __init__(self) -> None:
        self._taken = threading.Lock()
        self._looking: list[None] = []  # one for each loop that looks
        # As long as somebody is in or waits: a lock knows its loop, and none is to be held for it.
        self._queues: WeakValueDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakValueDictionary()
        )
        self._queue: asyncio.Lock | None = None  # of the loop whose task is in

    async def __aenter__(self) -> None:
        queue = self._queues.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        await queue.acquire()
        try:
            if self._looking:  # give way, or else a loop that never pauses keeps all others out
                await asyncio.sleep(2 * _AGAIN)
            if not self._taken.acquire(blocking=False):
                self._looking.append(None)
                try:
                    await self._look()
                finally:
                    self._looking.pop()
        except BaseException:
            queue.release()
            raise
        self._queue = queue

    async def _look(self) -> None:
        while not self._taken.acquire(blocking=False):  # noqa: ASYNC110 - an Event is of a loop
            await asyncio.sleep(_AGAIN)

    async def __aexit__(self, *_: object) -> None:
        queue, self._queue = self._queue, None
        self._taken.release()
        if queue is not None:
            queue.release()
