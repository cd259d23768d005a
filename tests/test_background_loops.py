"""Folds in the background whose event loop, task or head ends before they are in the list."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any

import pytest
from background import ended, slow, until
from each_turn import Told, failing, timed
from laws import same_objects

from chatfold import ChatContext, Middleware, Policy, Prompt, StaleHeadError, SummarizerError

CALLS = pytest.mark.parametrize("call", ["maybe_summarize", "amaybe_summarize"])


def never(prompt: Prompt) -> str:
    raise AssertionError("a model was asked")


async def maybe(call: str, ctx: ChatContext[Any], llm: Any, **options: Any) -> Any:
    """Ask at a turn, by the call that waits for nothing or by the one that is awaited."""
    if call == "maybe_summarize":
        return ctx.maybe_summarize(llm, background=True, **options)
    return await ctx.amaybe_summarize(llm, background=True, **options)


# --- loops that end ------------------------------------------------------------------------------


@pytest.mark.parametrize("stepped", [False, True])
def test_a_loop_that_ends_before_the_fold_is_a_failure_that_waits(stepped: bool) -> None:
    """Who runs a loop for each turn would pay for a fold at each, and never get one."""
    ctx, gate = slow()
    clock = timed(ctx)

    async def one(*, begins: bool = False) -> Any:
        outcome = await ctx.amaybe_summarize(gate.awaited, background=True)
        if begins and stepped:
            await until(lambda: gate.running == 1)
        return outcome

    assert asyncio.run(one(begins=True)).reason == "started"
    outcome = asyncio.run(one())
    assert outcome.reason == "failed"
    assert isinstance(outcome.error, SummarizerError)
    assert "one loop for the whole conversation" in str(outcome)
    assert asyncio.run(one()).reason == "unchanged_head"
    assert gate.calls == int(stepped)
    assert gate.running == 0
    assert len(ctx.items) == 20
    clock.now += 61
    assert ctx.maybe_summarize(lambda prompt: "short").changed


def test_a_middleware_with_a_loop_for_each_turn_is_told_what_helps() -> None:
    """Each of the three things does."""
    host = list(slow()[0].items)
    policy = Policy(max_items=6, keep_last_turns=1)

    def made(*, background: bool = True) -> Middleware[Any]:
        return Middleware(lambda prompt: "short", policy, background=background)

    def reason(middleware: Middleware[Any]) -> str:
        return asyncio.run(middleware.afold(host)).outcome.reason

    lost = made()
    lost_turns = [asyncio.run(lost.afold(host)).outcome for _ in range(2)]
    assert [outcome.reason for outcome in lost_turns] == ["started", "failed"]
    assert "maybe_summarize" not in str(lost_turns[1])
    for remedy in ("keep one loop", "without background=True", "outside of any loop"):
        assert remedy in str(lost_turns[1])

    with asyncio.Runner() as runner:
        kept = made()
        turns = [runner.run(_folded(kept, host)) for _ in range(100)]
        assert turns[-1] == "reused"
    assert reason(made(background=False)) == "summarized"
    threaded, until_ = made(), time.monotonic() + 60
    while threaded.fold(host).outcome.reason not in ("summarized", "reused"):
        assert time.monotonic() < until_
        time.sleep(0.01)
    assert reason(threaded) == "reused"


async def _folded(middleware: Middleware[Any], host: list[Any]) -> str:
    outcome = (await middleware.afold(host)).outcome
    await asyncio.sleep(0.01)
    return outcome.reason


def test_a_loop_that_is_closed_with_the_fold_in_it_is_noticed() -> None:
    """Its task never ends, so nobody would ever say that it did."""
    ctx, gate = slow()
    loop = asyncio.new_event_loop()

    async def one() -> Any:
        return ctx.maybe_summarize(gate.awaited, background=True)

    assert loop.run_until_complete(one()).reason == "started"
    fold = ctx.background
    assert fold is not None
    assert not fold.done
    loop.close()
    assert fold.done
    assert not fold.working
    assert fold.wait()
    assert ctx.maybe_summarize(never, background=True).reason == "failed"
    assert ctx.background is None
    fold._task._log_destroy_pending = False  # type: ignore[union-attr] # what asyncio logs of it


def test_a_fold_of_a_closed_loop_can_be_given_up() -> None:
    """There is nobody to tell, and nothing to wait for."""
    ctx, gate = slow()
    loop = asyncio.new_event_loop()

    async def one() -> Any:
        return ctx.maybe_summarize(gate.awaited, background=True)

    loop.run_until_complete(one())
    loop.close()
    fold = ctx.background
    assert fold is not None
    assert fold.cancel().reason == "cancelled"
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    fold._task._log_destroy_pending = False  # type: ignore[union-attr]


def test_a_loop_that_runs_now_and_then_finishes_the_fold() -> None:
    """One loop for the whole conversation, run for each turn, is enough."""
    ctx, gate = slow()
    gate.open.set()
    with asyncio.Runner() as runner:

        async def one() -> Any:
            outcome = await ctx.amaybe_summarize(gate.awaited, background=True)
            await asyncio.sleep(0.01)
            return outcome

        assert runner.run(one()).reason == "started"
        outcomes = [runner.run(one()).reason for _ in range(200) if len(ctx.items) == 20]
    assert outcomes[-1] == "summarized"


# --- failures ------------------------------------------------------------------------------------


@CALLS
def test_an_error_is_reported_once(call: str) -> None:
    """Nothing is left that asyncio would complain of."""

    async def run() -> None:
        complaints: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, c: complaints.append(c))
        told, (ctx, gate) = Told(), slow()
        gate.error = failing()
        gate.open.set()
        await maybe(call, ctx, gate.awaited, on_event=told)
        await ended(ctx)
        outcome = await maybe(call, ctx, never)
        assert (outcome.reason, outcome.error) == ("failed", gate.error)
        assert (await maybe(call, ctx, never)).error is None
        assert told.kinds == ["before", "failed"]
        gc.collect()
        assert complaints == []

    asyncio.run(run())


def test_a_stale_fold_is_discarded() -> None:
    """The head was edited while the task waited."""

    async def run() -> None:
        ctx, gate = slow()
        ctx.maybe_summarize(gate.awaited, background=True)
        await until(lambda: gate.calls > 0)
        ctx.items[0]["content"] += " and more"
        gate.open.set()
        await ended(ctx)
        outcome = await ctx.amaybe_summarize(never, background=True)
        assert outcome.reason == "stale"
        assert isinstance(outcome.error, StaleHeadError)
        assert len(ctx.items) == 20

    asyncio.run(run())


def test_cancelling_a_turn_leaves_the_list_alone_and_the_next_turn_free() -> None:
    """The call that waits for its model is broken off from outside."""

    async def run() -> None:
        told, (ctx, gate) = Told(), slow()
        before = list(ctx.items)
        task = asyncio.create_task(ctx.amaybe_summarize(gate.awaited, on_event=told))
        await until(lambda: gate.calls > 0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert same_objects(ctx.items, before)
        gate.open.set()
        assert (await ctx.amaybe_summarize(gate.awaited)).changed

    asyncio.run(run())
