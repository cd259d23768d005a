"""What is told of folds that `Middleware` has had written in the background, and by whom."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from test_middleware import middleware, talk
from test_middleware_shared import asleep, asleep_too, in_turn, until

from chatfold import ChatContext, Completion, FoldEvent, Middleware, Policy, Usage
from chatfold.stores import HostFold, MemoryStore, SQLStore


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store of each kind that one machine has."""
    if request.param == "memory":
        return MemoryStore()
    pytest.importorskip("sqlalchemy")
    return SQLStore(tmp_path / "folds.db")


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == "chatfold"]


def failing(prompt: Any) -> str:
    raise ConnectionError("no model")


def test_a_fold_of_an_object_that_serves_no_further_turn_is_told(
    store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A web server makes the object anew at each request; the fold is told when it is put in."""
    caplog.set_level(logging.INFO, "chatfold")
    told: list[FoldEvent] = []

    def model(prompt: Any) -> Completion:
        return Completion("what happened before", usage=Usage(700, 30))

    first = middleware(model, store=store, background=True, on_event=told.append)
    assert first.fold(talk(40), key="a").outcome.reason == "started"
    until(lambda: len(told) == 2)
    before, after = told
    assert (before.kind, after.kind, after.id, after.key) == ("before", "after", before.id, "a")
    assert after.outcome is not None
    assert after.outcome.usage == Usage(700, 30)
    assert [line.split(":")[0] for line in said(caplog)] == [
        f"summarized {len(after.outcome.removed)} items"
    ]
    assert middleware(failing, store=store).fold(talk(40), key="a").outcome.reason == "reused"


def test_a_dead_model_is_seen_though_each_request_has_an_object_of_its_own(
    store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[FoldEvent] = []
    for number in range(1, 4):
        wrapper = middleware(failing, store=store, background=True, retries=0, on_event=told.append)
        until(lambda wrapper=wrapper: in_turn(wrapper, talk(40)).outcome.reason == "started")
        until(lambda number=number: len(told) == 2 * number)
    assert [event.kind for event in told] == ["before", "failed"] * 3
    assert all("no model" in str(e.outcome.error) for e in told[1::2] if e.outcome is not None)
    assert said(caplog) == ["not summarized (failed): SummarizerError"] * 3


def test_a_task_s_fold_is_told_when_its_loop_is_left() -> None:
    """`asyncio.run` cancels what it leaves behind; that is no fold, and is said."""
    told: list[FoldEvent] = []
    first = middleware(asleep_too, store=MemoryStore(), background=True, on_event=told.append)
    assert asyncio.run(first.afold(talk(40), key="a")).outcome.reason == "started"
    until(lambda: len(told) == 2)
    assert told[1].kind == "failed"


def test_what_was_told_is_not_told_again_at_the_next_turn(
    store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """That turn is given the outcome all the same, and an error if it is to be raised."""
    caplog.set_level(logging.INFO, "chatfold")
    told: list[FoldEvent] = []
    wrapper = middleware(asleep, store=store, background=True, on_event=told.append)
    assert wrapper.fold(talk(40), key="a").outcome.reason == "started"
    until(lambda: len(told) == 2)
    given = in_turn(wrapper, talk(40)).outcome
    assert (given.reason, given.llm_calls) == ("summarized", 1)
    assert given == told[1].outcome
    assert in_turn(wrapper, talk(40)).outcome.reason == "reused"
    assert (len(told), len(said(caplog))) == (2, 1)


def test_a_failure_that_was_told_is_raised_at_the_next_turn() -> None:
    told: list[FoldEvent] = []
    options: dict[str, Any] = {"background": True, "on_error": "raise", "on_event": told.append}
    wrapper = middleware(failing, store=MemoryStore(), retries=0, **options)
    assert wrapper.fold(talk(40), key="a").outcome.reason == "started"
    until(lambda: len(told) == 2)
    with pytest.raises(Exception, match="no model"):
        in_turn(wrapper, talk(40))
    assert [event.kind for event in told] == ["before", "failed"]


def test_each_fold_is_told_once_whoever_puts_it_in(store: Any) -> None:
    """The turns come as fast as they can, so that some put it in before the thread does."""
    told: list[FoldEvent] = []
    policy = Policy(max_tokens=600, keep_tokens=100, min_gain=0.0)
    wrapper: Middleware[Any] = Middleware(
        lambda prompt: "They talked.", policy, store, background=True, on_event=told.append
    )
    host = talk(20)

    def turn() -> bool:
        host.extend(talk(4, len(host)))
        wrapper.fold(host, key="a")
        return len(told) > 20

    until(turn)
    until(lambda: len(told) % 2 == 0)
    ids = [event.id for event in told]
    assert {ids.count(each) for each in ids} == {2}


def test_a_hook_may_use_the_middleware_when_it_is_told_beside_the_turns() -> None:
    """It asks for the very conversation, and then has it forgotten."""
    seen: list[str] = []
    done = threading.Event()

    def hook(event: FoldEvent) -> None:
        if event.kind == "after":
            seen.append(wrapper.fold(host, key="a").outcome.reason)
            wrapper.forget("a")
            done.set()

    host, store = talk(40), MemoryStore()
    wrapper = middleware(asleep, store=store, background=True, on_event=hook)
    assert wrapper.fold(host, key="a").outcome.reason == "started"
    assert done.wait(20)
    assert seen == ["summarized"]  # whoever is told holds nothing
    until(lambda: wrapper.fold(host, key="a").outcome.reason == "reused")


def test_a_hook_in_a_thread_may_wait_for_a_loop_that_uses_the_middleware() -> None:
    """As hooks do that write to a database of the loop's."""
    told: list[str] = []

    async def serve() -> None:
        loop, served = asyncio.get_running_loop(), threading.current_thread()
        inside, noted = asyncio.Event(), asyncio.Event()

        async def note(event: FoldEvent) -> None:
            told.append(event.kind)
            noted.set()

        def hook(event: FoldEvent) -> None:
            if threading.current_thread() is not served:
                loop.call_soon_threadsafe(inside.set)
                time.sleep(0.1)  # until the loop is at it
                asyncio.run_coroutine_threadsafe(note(event), loop).result(20)

        wrapper = middleware(asleep, store=MemoryStore(), background=True, on_event=hook)
        await wrapper.afold(talk(40), key="a")
        await inside.wait()
        wrapper.forget("a")
        await noted.wait()

    asyncio.run(asyncio.wait_for(serve(), 15))
    assert told == ["after"]


def test_a_fold_that_no_store_keeps_is_told() -> None:
    """It has been paid for; the store of somebody's own is at fault."""

    class Wrong(MemoryStore):
        def put(self, fold: HostFold) -> None:
            raise AttributeError("no such method")

    told: list[FoldEvent] = []
    wrapper = middleware(asleep, store=Wrong(), background=True, on_event=told.append)
    assert wrapper.fold(talk(40), key="a").outcome.reason == "started"
    until(lambda: len(told) == 2)
    assert told[1].kind == "after"


def test_whoever_tells_first_is_the_only_one(caplog: pytest.LogCaptureFixture) -> None:
    """The thread that has put it in, or the turn that came before it."""
    caplog.set_level(logging.INFO, "chatfold")
    for first in (True, False):
        told: list[str] = []
        ctx = ChatContext(talk(10), on_event=lambda event, told=told: told.append(event.kind))
        fold = ctx.summarize_in_background(lambda prompt: "They talked.", keep_last_turns=1)
        assert fold.wait(20)
        fold.tell()  # nothing has come of it so far
        if first:
            assert fold.put_in() is not None
            fold.tell()
        assert fold.settle()[1]
        fold.tell()
        assert not fold.settle()[1]
        assert fold.cancel().changed
        assert told == ["before", "after"]
    assert len(said(caplog)) == 2


@pytest.mark.parametrize("shared", [False, True])
def test_a_fold_that_a_dropped_session_would_begin_is_given_up_and_told(shared: bool) -> None:
    """Another conversation takes its place in the very turn."""
    told: list[FoldEvent] = []

    def hook(event: FoldEvent) -> None:
        told.append(event)
        if len(told) == 1:
            for length, key in ((40, "b"), (2, "c")):
                named = {"key": key}
                other = threading.Thread(target=folding.fold, args=(talk(length),), kwargs=named)
                other.start()
                other.join()

    may_end = threading.Event()

    def model(prompt: Any) -> str:
        assert may_end.wait(20)
        return "what happened before"

    store = MemoryStore() if shared else None
    folding = middleware(model, store=store, background=True, on_event=hook, sessions=1)
    assert folding.fold(talk(40), key="a").outcome.reason == "cancelled"
    assert [event.kind for event in told] == ["before", "before", "skipped"]
    assert folding.fold(talk(40), key="a").outcome.reason == "started"
    may_end.set()
    until(lambda: folding.fold(talk(40), key="a").outcome.changed)
