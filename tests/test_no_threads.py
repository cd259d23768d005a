"""A process to which the system gives no more threads, as a container may limit them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from test_middleware import middleware, talk

from chatfold import (
    ChatContext,
    Middleware,
    Policy,
    SummarizerError,
    background,
    held_claims,
    shared_folds,
)
from chatfold import threads as all_threads
from chatfold.stores import Claim, MemoryStore
from chatfold.threads import Crew, NoThreadError, Threads, arun

KINDS = (
    all_threads._CALLS,
    all_threads.STEPS._threads,
    background._THREADS,
    shared_folds._WRITERS,
    held_claims._KEEPER,
)


class Away(list[Any]):
    """A list that gives out no thread; one that ends its work meanwhile waits with the others."""

    def __init__(self, others: list[Any]) -> None:
        super().__init__()
        self._others = others

    def append(self, box: Any) -> None:
        self._others.append(box)


@pytest.fixture
def no_thread(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what takes all threads away: those that wait for work, and new ones."""

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def take() -> None:
        for threads in KINDS:
            monkeypatch.setattr(threads, "_idle", Away(threads._idle))
        monkeypatch.setattr(threading.Thread, "start", start)

    return take


async def write(prompt: Any) -> str:
    return "what happened before"


# --- the threads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("limited", [True, False])
def test_who_wants_a_thread_is_told_that_there_is_none(
    limited: bool, no_thread: Callable[[], None]
) -> None:
    no_thread()
    threads: Threads | Crew = Threads("none", 1.0)
    threads = Crew(threads, 1) if limited else threads
    did = list[str]()

    def run() -> None:
        did.append("done")

    with pytest.raises(NoThreadError, match=r"no thread can be had: can't start"):
        threads.run(run)
    with pytest.raises(NoThreadError):
        asyncio.run(arun(run, threads))
    assert did == []
    asyncio.run(arun(run, threads, or_here=True))
    assert did == ["done"]


# --- folds ----------------------------------------------------------------------------------------


def test_a_fold_that_ends_while_a_later_turn_is_in_a_thread_holds_up_no_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who ends it may not wait for that turn, which goes on in the loop."""
    told = list[str]()

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        loop, answer, in_turn = asyncio.get_running_loop(), asyncio.Event(), list[bool]()

        class Counter:
            exact = False

            def count(self, text: str) -> int:
                if in_turn and threading.current_thread().name.startswith("chatfold-step"):
                    in_turn.clear()
                    loop.call_soon_threadsafe(answer.set)  # the model answers in this very turn
                    time.sleep(0.3)
                return len(text) // 4 + 1

        async def model(prompt: Any) -> str:
            await answer.wait()
            return "what happened before"

        waiting = (arun(lambda: time.sleep(0.1), all_threads.STEPS) for _ in range(4))
        await asyncio.gather(*waiting)  # threads that are there already
        monkeypatch.setattr(threading.Thread, "start", start)
        policy = Policy(max_tokens=100, keep_tokens=50)
        turns: Middleware[Any] = Middleware(
            model, policy=policy, store=MemoryStore(), background=True, counter=Counter()
        )
        told.append((await turns.afold(talk(40), key="a")).outcome.reason)
        await asyncio.sleep(0.2)
        in_turn.append(True)
        told.append((await turns.afold(talk(44), key="a")).outcome.reason)
        assert answer.is_set()

    there = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
    there.start()
    there.join(20.0)
    assert not there.is_alive()
    assert told == ["started", "summarized"]


def test_a_fold_that_is_awaited_reports_it(no_thread: Callable[[], None]) -> None:
    """And raises it where it is asked for by name."""
    no_thread()
    policy = Policy(max_tokens=100, keep_tokens=50)
    context = ChatContext(talk(40), policy=policy)
    told = asyncio.run(context.amaybe_summarize(write))
    assert (told.reason, type(told.error)) == ("failed", SummarizerError)
    assert "no thread can be had" in str(told.error)
    with pytest.raises(SummarizerError, match="no thread can be had"):
        asyncio.run(context.asummarize(write))
    assert asyncio.run(middleware(write).afold(talk(40))).outcome.reason == "failed"


def test_what_was_paid_is_put_in_without_a_thread(no_thread: Callable[[], None]) -> None:
    async def last(prompt: Any) -> str:
        no_thread()
        return "what happened before"

    store = MemoryStore()
    folded = asyncio.run(middleware(last, store=store).afold(talk(40), key="a"))
    assert folded.outcome.reason == "summarized"


def test_an_awaited_turn_asks_its_store_without_a_thread(no_thread: Callable[[], None]) -> None:
    store, host = MemoryStore(), talk(40)
    assert asyncio.run(middleware(write, store=store).afold(host, key="a")).outcome.changed
    no_thread()
    told = asyncio.run(middleware(write, store=store).afold(host, key="a"))
    assert told.outcome.reason == "reused"


def test_a_task_in_the_background_gives_its_claim_up_without_a_thread(
    no_thread: Callable[[], None],
) -> None:
    store, host = MemoryStore(), talk(40)

    async def last(prompt: Any) -> str:
        no_thread()
        raise SummarizerError("it is down")

    async def run() -> None:
        first = middleware(last, store=store, background=True)
        assert (await first.afold(host, key="a")).outcome.reason == "started"
        await asyncio.wait({t for t in asyncio.all_tasks() if t.get_name() == "chatfold"})
        await asyncio.sleep(0)  # what is told of its end

    asyncio.run(asyncio.wait_for(run(), 20))
    assert store._claims == {}


def test_a_cancelled_turn_gives_its_claim_up_without_a_thread(
    no_thread: Callable[[], None],
) -> None:
    store, host = MemoryStore(), talk(40)

    async def run() -> None:
        asked = asyncio.Event()

        async def hang(prompt: Any) -> str:
            asked.set()
            await asyncio.sleep(60)
            return ""

        turn = asyncio.ensure_future(middleware(hang, store=store).afold(host, key="a"))
        await asked.wait()
        no_thread()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    asyncio.run(asyncio.wait_for(run(), 20))
    assert store._claims == {}


def test_a_turn_cancelled_as_it_got_its_claim_gives_it_up_without_a_thread(
    no_thread: Callable[[], None],
) -> None:
    """The thread has claimed it and gone, and the turn is cancelled before it learns of that."""

    class Store(MemoryStore):
        def claim(self, *args: Any) -> Claim | None:
            loop.call_soon_threadsafe(cancel, threading.current_thread())
            return super().claim(*args)

    def cancel(claiming: threading.Thread) -> None:
        end = time.monotonic() + 20
        while not claiming.name.endswith("-idle"):
            assert time.monotonic() < end
            time.sleep(0.001)
        claimed.append(len(store._claims))
        no_thread()
        turn.cancel()

    async def run() -> None:
        nonlocal loop, turn
        loop = asyncio.get_running_loop()
        turn = asyncio.ensure_future(middleware(write, store=store).afold(talk(40), key="a"))
        with pytest.raises(asyncio.CancelledError):
            await turn

    loop: Any = None
    turn: Any = None
    store, claimed = Store(), list[int]()
    asyncio.run(run())
    assert (claimed, store._claims) == ([1], {})


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("persist", ["replace", "view"])
def test_a_session_of_the_agents_sdk_is_read_and_undone_without_a_thread(
    persist: Any, background: bool, no_thread: Callable[[], None]
) -> None:
    pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")
    from integrations.agents_desk import summaries
    from integrations.test_openai_agents_requests import Model, Plain, Requests, said

    async def run() -> None:
        requests = Requests(Plain(), MemoryStore(), Model())
        options: Any = {"persist": persist, "background": background}
        seen = list[Any]()
        for number in range(20):
            await requests.wrapped.add_items(said(number))
            for _ in range(3):  # the last of these begins no fold
                seen = await requests.session(**options).get_items()
                await asyncio.sleep(0.01)  # for the one that it may have begun
        assert summaries(seen)
        no_thread()
        session = requests.session(**options)
        assert summaries(await session.get_items())
        assert (await session.fold()).error is None
        undone = (await session.undo()).reason
        assert undone == ("undone" if persist == "replace" else "nothing_to_undo")

    asyncio.run(run())


# --- tools ----------------------------------------------------------------------------------------


def asked(*names: str) -> ChatContext[Any]:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for n, name in enumerate(names)
    ]
    return ChatContext(
        [
            {"role": "user", "content": "Do it."},
            {"role": "assistant", "content": None, "tool_calls": calls},
        ]
    )


NONE = "The call was not started, because the system gives no more threads."


@pytest.mark.parametrize("way", ["sync", "async", "sync in a loop"])
def test_a_tool_that_has_no_thread_is_not_started(
    way: str, no_thread: Callable[[], None], recwarn: pytest.WarningsRecorder
) -> None:
    """Nothing of it took effect; each other call has its own result."""
    no_thread()
    did = list[str]()

    def plain() -> str:
        did.append("plain")
        return "said"

    async def awaited() -> str:
        did.append("awaited")
        return "said"

    def promised() -> Any:
        did.append("promised")
        return awaited()

    tools = {"plain": plain, "awaited": awaited, "promised": promised}
    context = asked(*tools)

    async def in_loop() -> None:
        context.run_tool_calls(tools)

    if way == "sync":
        context.run_tool_calls(tools, timeout=5)
        expected = [NONE, NONE, NONE]
    elif way == "async":
        asyncio.run(context.arun_tool_calls(tools))
        expected = [NONE, "said", NONE]
    else:
        asyncio.run(in_loop())
        lost = "The tool failed: NoThreadError: no thread can be had: can't start new thread"
        expected = ["said", NONE, lost]
    assert [item["content"] for item in context.items[2:]] == expected
    assert did == {"sync": [], "async": ["awaited"]}.get(way, ["plain", "promised"])
    assert [str(w.message) for w in recwarn] == []
