"""What the tests of folds in the background share: a model that answers when the test says so."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from each_turn import context

from chatfold import ChatContext, Completion, Prompt, Usage
from chatfold.stores import MemoryStore, StoredFold

__all__ = [
    "LIMIT",
    "Gate",
    "Held",
    "background_threads",
    "ended",
    "finished",
    "slow",
    "until",
    "wait_until",
]

LIMIT = 20.0  # seconds; nothing here takes so long unless it hangs


class Gate:
    """A summarizer that answers when it is opened; sync, and `awaited` for event loops."""

    def __init__(self, text: str = "short", *, error: BaseException | None = None) -> None:
        self.text = text
        self.error = error
        self.asked = threading.Event()
        self.open = threading.Event()
        self.calls = 0
        self.prompts: list[Prompt] = []
        self.running = 0
        self.most = 0  # at the same time

    def _begin(self, prompt: Prompt) -> None:
        self.calls += 1
        self.prompts.append(prompt)
        self.running += 1
        self.most = max(self.most, self.running)
        self.asked.set()

    def _answer(self) -> Completion:
        self.running -= 1
        if self.error is not None:
            raise self.error
        return Completion(self.text, usage=Usage(11, 3))

    def __call__(self, prompt: Prompt) -> Completion:
        self._begin(prompt)
        assert self.open.wait(LIMIT)
        return self._answer()

    async def awaited(self, prompt: Prompt) -> Completion:
        self._begin(prompt)
        try:
            await until(self.open.is_set)
        except asyncio.CancelledError:
            self.running -= 1
            raise
        return self._answer()


class Held(MemoryStore):
    """A store that writes when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.is_writing, self.may_write = threading.Event(), threading.Event()

    def save(self, fold: StoredFold) -> None:
        self.is_writing.set()
        assert self.may_write.wait(LIMIT)
        super().save(fold)


def slow(turns: int = 10, **options: Any) -> tuple[ChatContext[Any], Gate]:
    """Return a context that is due, and a model that has yet to be opened."""
    return context(turns, **options), Gate()


def finished(ctx: ChatContext[Any], gate: Gate) -> None:
    """Open the model, and wait until the fold that was begun is written."""
    assert ctx.background is not None
    gate.open.set()
    assert ctx.background.wait(LIMIT)


def wait_until(true: Callable[[], bool]) -> None:
    """Wait, outside of an event loop, until something is true."""
    last = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < last
        time.sleep(0.0005)


async def until(true: Callable[[], bool]) -> None:
    """Let an event loop go on until something is true."""
    async with asyncio.timeout(LIMIT):
        while not true():  # noqa: ASYNC110 - often it is a thread that makes it true
            await asyncio.sleep(0.001)


async def ended(ctx: ChatContext[Any]) -> None:
    """Wait in an event loop until the fold that was begun is written."""
    fold = ctx.background
    assert fold is not None
    await until(lambda: fold.done)


def background_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "chatfold"]
