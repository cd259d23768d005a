"""Folds in the background, from event loops: written by a task, put in by a later turn."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import warnings
import weakref
from contextlib import suppress
from typing import Any

import pytest
from background import LIMIT, Gate, ended, slow, until, wait_until
from each_turn import Told, context, turn
from fake_native import NativeServer, native_server
from laws import same_objects
from summarizers.test_native import BACKENDS, clients
from test_native_folds import FAMILIES, history

from chatfold import ChatContext, Prompt
from chatfold.policy import Policy
from chatfold.summarizers import FunctionSummarizer

__all__ = ["native_server"]
CALLS = pytest.mark.parametrize("call", ["maybe_summarize", "amaybe_summarize"])


def never(prompt: Prompt) -> str:
    raise AssertionError("a model was asked")


async def maybe(call: str, ctx: ChatContext[Any], llm: Any, **options: Any) -> Any:
    """Ask at a turn, by the call that waits for nothing or by the one that is awaited."""
    if call == "maybe_summarize":
        return ctx.maybe_summarize(llm, background=True, **options)
    return await ctx.amaybe_summarize(llm, background=True, **options)


@CALLS
def test_an_edit_since_the_list_was_read_is_in_the_prompt(call: str) -> None:
    """No turn has looked for it before the one that begins the fold."""

    async def run() -> None:
        ctx, gate = slow()
        ctx.load()
        ctx.items[3]["content"] = "the colour is mauve " + ctx.items[3]["content"]
        assert (await maybe(call, ctx, gate.awaited)).reason == "started"
        gate.open.set()
        await ended(ctx)
        assert gate.prompts[0].user.count("mauve") == 1
        assert (await maybe(call, ctx, never)).changed

    asyncio.run(run())


@CALLS
def test_a_fold_is_begun_by_one_turn_and_put_in_by_a_later_one(call: str) -> None:
    """The loop is free meanwhile, and no thread waits for the model."""

    async def run() -> None:
        told, (ctx, gate) = Told(), slow()
        assert (await maybe(call, ctx, gate.awaited, on_event=told)).reason == "started"
        before = list(ctx.items)
        await until(lambda: gate.calls > 0)
        for n in range(10, 13):
            ctx.extend(turn(n))
            assert (await maybe(call, ctx, never)).reason == "running"
        assert same_objects(ctx.items[: len(before)], before)
        new = ctx.items[len(before) :]
        gate.open.set()
        await ended(ctx)
        assert len(ctx.items) == len(before) + 6
        outcome = await maybe(call, ctx, never)
        assert outcome.reason == "summarized"
        assert same_objects(ctx.items, [outcome.item, *before[-4:], *new])
        assert told.kinds == ["before", "after"]
        assert (gate.calls, ctx.background) == (1, None)

    asyncio.run(run())


@CALLS
def test_a_sync_model_is_asked_in_a_thread(call: str) -> None:
    """A client that blocks does not block the loop."""

    async def run() -> None:
        ctx, gate = slow()
        assert (await maybe(call, ctx, gate)).reason == "started"
        await until(lambda: gate.calls > 0)
        gate.open.set()
        assert ctx.background is not None
        assert await asyncio.to_thread(ctx.background.wait, LIMIT)  # another thread may wait for it
        assert (await maybe(call, ctx, never)).changed

    asyncio.run(run())


def test_cancelling_breaks_the_model_call_off() -> None:
    """The request is closed, and the next fold can begin at once."""

    async def run() -> None:
        ctx, gate = slow()
        before = list(ctx.items)
        for _ in range(4):
            ctx.maybe_summarize(gate.awaited, background=True)
            fold = ctx.background
            assert fold is not None
            await until(lambda: gate.running == 1)
            assert fold.cancel().reason == "cancelled"
            assert fold.done
            await until(lambda f=fold: not f.working)
            assert (gate.running, gate.most) == (0, 1)
        assert same_objects(ctx.items, before)
        assert ctx.maybe_summarize(gate.awaited, background=True).reason == "started"
        gate.open.set()
        await ended(ctx)
        assert ctx.maybe_summarize(never, background=True).changed

    asyncio.run(run())


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_fold_works_until_its_request_is_closed(seconds: float) -> None:
    """The next one begins no request beside it."""
    asked, closed = [], []

    async def closing(prompt: Prompt) -> str:
        asked.append(prompt)
        try:
            return await asyncio.sleep(LIMIT, "never")
        finally:
            await asyncio.sleep(seconds)
            closed.append(prompt)

    async def run() -> None:
        ctx, _ = slow()
        for n in range(1, 4):
            assert ctx.maybe_summarize(closing, background=True).reason == "started"
            fold = ctx.background
            assert fold is not None
            await until(lambda n=n: len(asked) == n)
            fold.cancel()
            while fold.working:  # noqa: ASYNC110 - looked at in each round of the loop
                await asyncio.sleep(0)
            assert len(closed) == n

    asyncio.run(run())


def test_a_request_that_cannot_be_closed_is_left_after_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes no notice, and would hold the fold for as long as it likes."""
    monkeypatch.setattr("chatfold.summarizers._limits._GRACE", 0.05)
    asked, gone = asyncio.Event(), asyncio.Event()

    async def deaf(prompt: Prompt) -> str:
        asked.set()
        while not gone.is_set():
            with suppress(asyncio.CancelledError):
                await gone.wait()
        return "late"

    async def run() -> None:
        ctx, gate = slow()
        ctx.maybe_summarize(deaf, background=True)
        fold = ctx.background
        assert fold is not None
        await asked.wait()
        fold.cancel()
        await until(lambda: not fold.working)
        gate.open.set()
        assert ctx.maybe_summarize(gate.awaited, background=True).reason == "started"
        await ended(ctx)
        gone.set()

    asyncio.run(run())


@pytest.mark.parametrize("before", [(), (lambda prompt: "",)], ids=["alone", "second of a chain"])
def test_a_sync_model_that_was_given_up_works_until_it_has_answered(before: tuple[Any]) -> None:
    """Its thread cannot be stopped; a caller who interrupts at each turn asks one at a time."""

    async def run() -> None:
        ctx, gate = slow()
        told: list[bool] = []
        assert ctx.maybe_summarize([*before, gate], background=True).reason == "started"
        fold = ctx.background
        assert fold is not None
        fold.when_ended(lambda *, waits: told.append(gate.running == 0))
        await until(lambda: gate.running == 1)
        fold.cancel()
        for _ in range(3):
            await asyncio.sleep(0.01)
            assert (fold.done, fold.working, told) == (True, True, [])
            assert ctx.maybe_summarize(gate, background=True).reason == "running"
        gate.open.set()
        await until(lambda: not fold.working and told == [True])
        assert ctx.maybe_summarize(gate, background=True).reason == "started"
        await ended(ctx)
        assert gate.most == 1

    asyncio.run(run())


def test_a_sync_model_that_took_too_long_holds_no_fold_up() -> None:
    """It may never end."""
    never_ends = threading.Event()

    async def run() -> None:
        ctx, late = slow()
        last = Gate()
        hangs = FunctionSummarizer(lambda prompt: never_ends.wait(), timeout=0.05)
        chain = [hangs, late.awaited]
        for _ in range(2):
            assert ctx.maybe_summarize(chain, background=True).reason == "started"
            await until(lambda: late.running == 1)
            fold = ctx.background
            assert fold is not None
            fold.cancel()
            await until(lambda f=fold: not f.working)
        last.open.set()
        assert ctx.maybe_summarize(last, background=True).reason == "started"
        await ended(ctx)

    try:
        asyncio.run(run())
    finally:
        never_ends.set()


def test_whoever_waits_for_a_fold_does_not_wait_for_the_thread_that_it_left() -> None:
    """Somebody else has cancelled the tasks of the loop: there will be no summary."""

    async def run() -> None:
        ctx, gate = slow()
        ctx.maybe_summarize(gate, background=True)
        fold = ctx.background
        assert fold is not None
        await until(lambda: gate.running == 1)
        waiting = asyncio.create_task(asyncio.to_thread(fold.wait, LIMIT))
        await asyncio.sleep(0.01)
        for task in asyncio.all_tasks():
            if task.get_name() == "chatfold":
                task.cancel()
        assert await waiting
        assert (gate.running, fold.done, fold.working) == (1, True, True)
        gate.open.set()
        await until(lambda: not fold.working)
        assert ctx.maybe_summarize(never, background=True).reason == "failed"

    asyncio.run(run())


def test_a_fold_can_be_given_up_from_another_thread() -> None:
    """A telephone line that hangs up has its own thread."""

    async def run() -> None:
        ctx, gate = slow()
        ctx.maybe_summarize(gate.awaited, background=True)
        fold = ctx.background
        assert fold is not None
        await until(lambda: gate.calls > 0)
        waiting = asyncio.create_task(asyncio.to_thread(fold.wait, LIMIT))
        outcome = await asyncio.to_thread(fold.cancel)
        assert outcome.reason == "cancelled"
        assert await waiting
        await until(lambda: not fold.working)
        assert gate.running == 0

    asyncio.run(run())


def test_cancelling_before_the_first_step_leaves_nothing_behind() -> None:
    """No coroutine that was never awaited, no fold that runs for ever."""

    async def run() -> None:
        ctx, gate = slow()
        ctx.maybe_summarize(gate.awaited, background=True)
        fold = ctx.background
        assert fold is not None
        assert fold.cancel().reason == "cancelled"
        await until(lambda: not fold.working)
        assert gate.calls == 0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(run())
        gc.collect()


# --- around it -----------------------------------------------------------------------------------


def test_the_task_sees_the_callers_context_variables() -> None:
    """In the model call, and in what is computed around it."""
    var = contextvars.ContextVar[str]("var")
    seen: list[str] = []

    async def looking(prompt: Prompt) -> str:
        seen.append(var.get("lost"))
        return "short"

    def redacting(text: str) -> str:
        seen.append(var.get("lost"))
        return text

    async def run() -> None:
        var.set("here")
        ctx, _ = slow()
        ctx.maybe_summarize(looking, background=True, redact=redacting)
        await ended(ctx)
        assert ctx.maybe_summarize(never, background=True).changed

    asyncio.run(run())
    assert len(seen) > 1
    assert set(seen) == {"here"}


def test_nothing_keeps_a_context_that_nobody_holds() -> None:
    """When its model has answered, it is gone with its fold."""

    async def run() -> weakref.ref[Any]:
        ctx, gate = slow()
        gate.open.set()
        ctx.summarize_in_background(gate.awaited, keep_last_turns=1)
        await ended(ctx)
        return weakref.ref(ctx)

    held = asyncio.run(run())

    def is_gone() -> bool:
        gc.collect()
        return held() is None

    wait_until(is_gone)  # a thread that has woken the loop lets go when it has the processor again


def test_a_hundred_tasks_at_once_make_one_fold() -> None:
    """Whoever comes second is told that one is running."""

    async def run() -> None:
        ctx = context(10)
        gate = Gate()
        tasks = [asyncio.create_task(ctx.amaybe_summarize(gate.awaited)) for _ in range(100)]
        await until(lambda: gate.calls > 0)
        gate.open.set()
        reasons = [(await task).reason for task in tasks]
        assert sorted(set(reasons)) == ["busy", "summarized"]
        assert reasons.count("summarized") == 1
        assert (gate.calls, gate.most) == (1, 1)

    asyncio.run(run())


@FAMILIES
def test_a_provider_folds_in_the_background_too(native_server: NativeServer, family: str) -> None:
    """By an async client, in the loop."""
    before = threading.active_count()

    async def run() -> None:
        policy = Policy(max_items=9)
        ctx: ChatContext[Any] = ChatContext(history(family), model="claude-opus-5-5", policy=policy)
        async with clients(native_server, family, "async") as client:
            backend = BACKENDS[family](client, "claude-opus-5-5", retries=0)
            outcome = await ctx.amaybe_summarize(backend, background=True, keep_last_turns=2)
            assert outcome.reason == "started"
            await asyncio.wait_for(ended(ctx), LIMIT)
            ctx.append({"role": "user", "content": "late"})
            assert (await ctx.amaybe_summarize(backend, background=True)).changed
            assert not ctx.check()
        assert threading.active_count() < before + 10

    asyncio.run(run())
