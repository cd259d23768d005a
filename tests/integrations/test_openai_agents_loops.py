"""A `FoldedSession` that is kept while event loops and threads come and go, as in servers."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")

from agents import SessionSettings
from integrations.agents_desk import SMALL, talk

from chatfold import Prompt
from chatfold.integrations.openai_agents import FoldedSession

_LONG = 20.0  # seconds after which a thread hangs


class Slow:
    """A session of the user's own that takes its time, and sees whether it is written to at once.

    Attributes:
        items: What it holds.
        at_once: Number of calls that came while another one was under way.
        gate: What a call waits for.
    """

    def __init__(self, items: list[Any]) -> None:
        self.session_id = "slow"
        self.session_settings: SessionSettings | None = None
        self.items = list(items)
        self.at_once = 0
        self.gate: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(0.001)
        self._inside = 0

    async def get_items(self, limit: int | None = None) -> list[Any]:
        await self._pass()
        return list(self.items if limit is None else self.items[-limit:])

    async def add_items(self, items: list[Any]) -> None:
        await self._pass()
        self.items += items

    async def pop_item(self) -> Any:
        return self.items.pop() if self.items else None

    async def clear_session(self) -> None:
        self.items.clear()

    async def _pass(self) -> None:
        self._inside += 1
        self.at_once += self._inside > 1
        try:
            await self.gate()
        finally:
            self._inside -= 1


def said(number: int) -> Any:
    return {"role": "user", "content": f"question {number}"}


def in_threads(*work: Callable[[], Any]) -> list[BaseException]:
    """Do work in a thread each, and return what was raised; a thread that hangs fails the test."""
    raised: list[BaseException] = []

    def noted(one: Callable[[], Any]) -> None:
        try:
            one()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=noted, args=(one,), daemon=True) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_LONG)
    assert not any(thread.is_alive() for thread in threads)
    return raised


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_requests_of_a_loop_each_use_one_session(persist: Any) -> None:
    """Several calls at once in one loop bind nothing to it: the next one has as many."""
    wrapped = Slow([])
    session = FoldedSession(wrapped, "extractive", SMALL, persist=persist)
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def request(number: int) -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        first = asyncio.create_task(session.add_items([said(3 * number)]))
        others = asyncio.gather(session.get_items(), session.add_items([said(3 * number + 1)]))
        await first
        await session.add_items([said(3 * number + 2)])
        await others

    for number in range(3):
        asyncio.run(request(number))
    assert wrapped.items == [said(number) for number in range(9)]  # those of a loop as they came
    gc.collect()
    assert not any(loop() for loop in loops)  # a server that goes on would hold them all


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_threads_with_a_loop_each_use_one_session(persist: Any) -> None:
    """Nothing is lost, no call comes while another one is under way, and none waits for ever."""
    wrapped = Slow([])
    session = FoldedSession(wrapped, "extractive", SMALL, persist=persist)

    def requests(first: int) -> None:
        async def request(number: int) -> None:
            await asyncio.gather(session.add_items([said(number)]), session.get_items())

        for number in range(first, first + 10):
            asyncio.run(request(number))

    assert in_threads(*(lambda n=n: requests(100 * n) for n in range(4))) == []
    numbers = sorted(int(item["content"].split()[1]) for item in wrapped.items)
    assert numbers == [100 * thread + number for thread in range(4) for number in range(10)]
    assert not wrapped.at_once


def test_a_history_that_threads_read_at_once_is_folded_once() -> None:
    prompts: list[Prompt] = []

    async def write(prompt: Prompt) -> str:
        prompts.append(prompt)
        await asyncio.sleep(0.2)
        return "The desk was asked."

    session = FoldedSession(Slow(talk(8)), write, SMALL, persist="replace")
    assert in_threads(*[lambda: asyncio.run(session.get_items())] * 4) == []
    assert len(prompts) == 1
    assert len(asyncio.run(session.wrapped.get_items())) < 16


def test_who_gives_up_waiting_for_another_loop_keeps_nobody_out() -> None:
    """Neither a call that is cancelled, nor one whose loop stops and never goes on."""
    wrapped = Slow([])
    session = FoldedSession(wrapped, "extractive", SMALL)
    may_go = threading.Event()
    inside = threading.Event()

    async def held() -> None:
        inside.set()
        while not may_go.is_set():  # noqa: ASYNC110 - an asyncio.Event is of one loop
            await asyncio.sleep(0.01)

    wrapped.gate = held
    holder = threading.Thread(target=lambda: asyncio.run(session.add_items([said(0)])), daemon=True)
    holder.start()
    assert inside.wait(_LONG)

    stopped = asyncio.new_event_loop()
    left = stopped.create_task(session.add_items([said(2)]))
    stopped.run_until_complete(asyncio.sleep(0.05))
    assert not left.done()

    async def given_up() -> None:
        first = asyncio.create_task(session.add_items([said(1)]))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(session.add_items([said(3)]))
        await asyncio.sleep(0.05)
        first.cancel()
        may_go.set()
        await asyncio.wait_for(second, _LONG)
        assert first.cancelled()

    asyncio.run(given_up())
    assert wrapped.items == [said(0), said(3)]
    stopped.run_until_complete(left)  # it goes on where it was
    stopped.close()
    assert wrapped.items == [said(0), said(3), said(2)]


def unheard(_loop: asyncio.AbstractEventLoop, _context: dict[str, Any]) -> None:
    pass


def test_a_loop_that_is_thrown_away_in_the_midst_of_a_call_keeps_nobody_out() -> None:
    wrapped = Slow([])
    session = FoldedSession(wrapped, "extractive", SMALL)
    wrapped.gate = lambda: asyncio.sleep(3600)
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(unheard)  # it would tell of the task
    task = loop.create_task(session.add_items([said(0)]))
    loop.run_until_complete(asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    del task, loop
    gc.collect()
    wrapped.gate = lambda: asyncio.sleep(0)
    assert in_threads(lambda: asyncio.run(session.add_items([said(1)]))) == []
    assert wrapped.items == [said(1)]


def test_a_loop_that_never_pauses_lets_others_in() -> None:
    wrapped = Slow([])
    wrapped.gate = lambda: asyncio.sleep(0.03)
    session = FoldedSession(wrapped, "extractive", SMALL)
    stop, waited = threading.Event(), list[float]()

    def other() -> None:
        for _ in range(5):
            began = time.monotonic()
            asyncio.run(session.add_items([{"role": "user", "content": "from another loop"}]))
            waited.append(time.monotonic() - began)
        stop.set()

    async def busy() -> None:
        while not stop.is_set():
            await session.add_items([{"role": "user", "content": "again"}])

    async def run() -> None:
        threading.Thread(target=other, daemon=True).start()
        async with asyncio.timeout(_LONG):
            await asyncio.gather(*(busy() for _ in range(5)))

    asyncio.run(run())
    assert len(waited) == 5
    assert wrapped.at_once == 0
