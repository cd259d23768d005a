"""Folds in the background where something else happens just then: hooks, threads, hands."""

from __future__ import annotations

import asyncio
import gc
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from background import LIMIT, Gate, finished, slow
from each_turn import Words, context, turn

from chatfold import ChatContext, Completion, Policy, Prompt, Usage
from chatfold.events import FoldEvent

POLICY = Policy(max_tokens=1000, keep_tokens=200)


def down(prompt: Prompt) -> str:
    """Fail, as a server does that is down."""
    raise RuntimeError("down")


def grow(ctx: ChatContext[Any], count: int) -> None:
    """Add turns of a hundred tokens."""
    for number in range(100, 100 + count):
        ctx.extend(turn(number))


def begun(ctx: ChatContext[Any], llm: Any) -> Any:
    """Return a fold that has begun in the background."""
    assert ctx.maybe_summarize(llm, background=True).reason == "started"
    assert ctx.background is not None
    return ctx.background


def written(ctx: ChatContext[Any], llm: Any) -> Any:
    """Return a fold in the background that is written, or has failed."""
    fold = begun(ctx, llm)
    assert fold.wait(LIMIT)
    return fold


def usage(tokens: int) -> dict[str, int]:
    """Return what a provider reports."""
    return {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}


def test_a_hook_that_begins_another_fold_is_not_forgotten() -> None:
    """Told of a failure, it asks another model; that fold is the context's own from then on."""
    second, others = Gate(), list[Any]()

    def hook(event: FoldEvent) -> None:
        if event.kind == "failed" and not others:
            others.append(ctx.summarize_in_background(second))

    ctx = context(12, on_event=hook)
    written(ctx, down)
    assert ctx.maybe_summarize(down, background=True).reason == "failed"
    assert ctx.background is others[0]
    second.open.set()
    assert others[0].wait(LIMIT)
    assert ctx.maybe_summarize(second, background=True).reason == "summarized"
    assert ctx.background is None
    grow(ctx, 10)
    assert ctx.summarize(second).changed


def test_another_thread_may_begin_the_next_fold_while_the_first_is_told_of() -> None:
    """It runs, is put in later, and the context is not busy for ever."""
    second, results = Gate(), list[str]()

    def turn_of_another() -> None:
        grow(ctx, 10)
        results.append(ctx.maybe_summarize(second, background=True).reason)

    def hook(event: FoldEvent) -> None:
        if event.kind == "after" and not results:
            other = threading.Thread(target=turn_of_another)
            other.start()
            other.join(LIMIT)

    ctx, first = context(12, on_event=hook), Gate()
    first.open.set()
    written(ctx, first)
    assert ctx.maybe_summarize(first, background=True).reason == "summarized"
    assert results == ["started"]
    assert ctx.background is not None
    second.open.set()
    assert ctx.background.wait(LIMIT)
    assert ctx.maybe_summarize(second, background=True).reason == "summarized"


def test_one_failure_is_one_failure_however_many_ask() -> None:
    """A turn that finds it settled by another one does not wait longer for it."""
    results: list[Any] = []

    def hook(event: FoldEvent) -> None:
        if event.kind == "failed" and not results:
            other = threading.Thread(
                target=lambda: results.append(ctx.maybe_summarize(down, background=True))
            )
            other.start()
            other.join(LIMIT)

    ctx = context(12, on_event=hook)
    written(ctx, down)
    assert ctx.maybe_summarize(down, background=True).error is not None
    assert results[0].reason == "unchanged_head"
    waits = re.search(r"in (\d+) s", ctx.maybe_summarize(down, background=True).remedy)
    assert waits is not None
    assert int(waits[1]) <= 60  # 120 after a second one


@pytest.mark.parametrize("way", ["turn", "hand", "wait"])
def test_what_is_reported_of_the_list_before_a_fold_says_nothing_of_the_list_behind_it(
    way: str,
) -> None:
    """The request was under way when the fold was put in, by whomever."""
    ctx, gate = context(15, policy=POLICY), Gate()
    fold, sent = begun(ctx, gate), ctx.load().tokens
    gate.open.set()
    assert fold.wait(LIMIT)
    if way == "turn":
        ctx.maybe_summarize(gate, background=True)
    elif way == "hand":
        fold.apply_if_ready()
    else:  # which puts it in, and folds what is left
        asyncio.run(ctx.asummarize(gate, wait=True))
    ctx.record_usage(usage(sent))
    assert ctx.load().tokens == ctx.count_tokens().value
    grow(ctx, 3)
    assert ctx.maybe_summarize(gate).reason == "below_trigger"


def test_a_second_report_of_that_size_is_of_the_list_as_it_is() -> None:
    """Only one request was under way when the fold was put in."""
    ctx, gate = context(15, policy=POLICY), Gate()
    gate.open.set()
    sent = ctx.load().tokens
    assert ctx.maybe_summarize(gate).changed
    ctx.record_usage(usage(sent))
    assert ctx.load().tokens == ctx.count_tokens().value
    ctx.record_usage(usage(sent))
    assert ctx.load().tokens >= sent


@pytest.mark.parametrize("text", ["short", ""])
def test_what_a_fold_has_cost_is_told_also_where_it_is_cancelled(text: str) -> None:
    """The model had answered by then, with a summary or without."""

    def llm(prompt: Prompt) -> Completion:
        return Completion(text, usage=Usage(11, 3))

    outcome = written(context(12), llm).cancel()
    assert (outcome.reason, outcome.changed) == ("cancelled", False)
    assert (outcome.usage, outcome.llm_calls) == (Usage(11, 3), 1)


class Shrinking(list[Any]):
    """A list whose owner takes an item from its end whenever one is looked at."""

    on = False

    def __getitem__(self, index: Any) -> Any:
        if self.on and isinstance(index, int):
            del self[-1:]
        return super().__getitem__(index)


def test_a_fold_can_be_cancelled_while_the_list_is_shortened() -> None:
    """Its owner removes what is being looked at; the hook hears of the end."""
    told: list[str] = []
    items = Shrinking(item for number in range(12) for item in turn(number))
    ctx = ChatContext(
        items,
        policy=POLICY,
        counter=Words(),
        shape="openai_chat",
        timeout=None,
        on_event=lambda event: told.append(event.kind),
    )
    gate = Gate()
    fold = begun(ctx, gate)
    items.on = True
    assert fold.cancel().reason == "cancelled"
    items.on = False
    gate.open.set()
    assert told == ["before", "skipped"]
    finished(ctx, gate)


class Growing(list[Any]):
    """A list to which somebody adds whenever it is looked through."""

    on = False

    def __iter__(self) -> Iterator[Any]:
        if self.on:
            self.extend(turn(len(self)))
        return super().__iter__()


def test_a_turn_ends_however_often_the_list_grows_meanwhile() -> None:
    """It is looked through once: what comes then is no edit of what was there."""
    items = Growing(item for number in range(12) for item in turn(number))
    ctx = ChatContext(
        items, policy=POLICY, counter=Words(), shape="openai_chat", grounding="report"
    )
    gate = Gate()
    gate.open.set()
    items.on = True
    fold = begun(ctx, gate)
    items.on = False
    assert fold.wait(LIMIT)
    assert fold.apply_if_ready().changed


def test_a_summarizer_that_fails_as_it_is_given_up_is_not_printed() -> None:
    """Asyncio shows what nobody took note of, and its words may be the conversation's."""

    async def run() -> list[str]:
        told: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, about: told.append(about["message"]))
        asked, failing = asyncio.Event(), loop.create_future()

        async def llm(prompt: Prompt) -> str:
            asked.set()
            return await failing

        call = asyncio.create_task(context(12).asummarize(llm))
        await asked.wait()
        await asyncio.sleep(0)
        failing.set_exception(RuntimeError("what a server said"))
        await asyncio.sleep(0)  # its task has failed; who waits for it hears in the next step
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        del call
        gc.collect()
        await asyncio.sleep(0)
        return told

    assert asyncio.run(run()) == []


class Handing:
    """A lock that another thread gets, for a turn, the first time that it is let go."""

    def __init__(self, lock: Any, turn_of: Callable[[], None]) -> None:
        self.lock, self.turns = lock, [turn_of]

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()
        while self.turns:
            owner = threading.Thread(target=self.turns.pop())
            owner.start()
            owner.join(LIMIT)


def test_a_turn_beside_one_who_gives_the_fold_up_says_what_became_of_the_list() -> None:
    """Whoever has the list is told when it has changed."""
    told: list[FoldEvent] = []
    ctx, gate = slow(on_event=told.append)
    fold = begun(ctx, gate)
    finished(ctx, gate)
    before, outcomes = len(ctx.items), list[Any]()
    fold._lock = Handing(
        fold._lock, lambda: outcomes.append(ctx.maybe_summarize(gate, background=True))
    )
    fold.cancel()
    (outcome,) = outcomes
    assert outcome.changed is (len(ctx.items) < before)
    assert ("after" if outcome.changed else "skipped") in [event.kind for event in told]
