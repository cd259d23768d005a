"""A store that cannot be written to is found out before a model is paid for a summary.

Not here: what a fold does with its store (`test_options_store`, `test_recall`).
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from background import LIMIT, wait_until
from each_turn import Clock, Model, context, timed, turn
from laws import same_objects

from chatfold import ChatContext, Outcome, Prompt
from chatfold.errors import StoreError
from chatfold.policy import Policy
from chatfold.stores import MemoryStore, StoredFold

BY_POLICY = ("maybe_summarize", "amaybe_summarize", "background", "background in a loop")
WAYS = pytest.mark.parametrize("way", BY_POLICY)


class Watched(MemoryStore):
    """A store that is `down`, or takes no more (`full`); it counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.down = self.full = False
        self.asked: list[str] = []

    def save(self, fold: StoredFold) -> None:
        self._answer("save")
        super().save(fold)

    def load(self, key: str, fold_id: str) -> StoredFold | None:
        self._answer("load")
        return super().load(key, fold_id)

    def discard(self, key: str, fold_id: str) -> None:
        self._answer("discard")
        super().discard(key, fold_id)

    def _answer(self, what: str) -> None:
        self.asked.append(what)
        if self.down or (self.full and what == "save"):
            raise StoreError("no space left" if self.full else "the server is down")


class Picky(MemoryStore):
    """A store that takes no fold with some words in it."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def save(self, fold: StoredFold) -> None:
        if any(self._words in str(item.item) for item in fold.items):
            raise StoreError("the row is too large")
        super().save(fold)


def never(prompt: Prompt) -> str:
    raise AssertionError("a model was asked")


def taken(way: str, ctx: ChatContext[Any], llm: Any) -> Outcome[Any]:
    """Return what comes of a turn by one of the ways; in the background, of the next turn."""
    if way == "maybe_summarize":
        return ctx.maybe_summarize(llm)
    if way == "amaybe_summarize":
        return asyncio.run(ctx.amaybe_summarize(llm))
    if way == "background":
        outcome = ctx.maybe_summarize(llm, background=True)
        if outcome.reason != "started":
            return outcome
        assert ctx.background is not None
        assert ctx.background.wait(LIMIT)
        return ctx.maybe_summarize(never, background=True)

    async def run() -> Outcome[Any]:
        async def awaited(prompt: Prompt) -> Any:
            return llm(prompt)

        outcome = await ctx.amaybe_summarize(awaited, background=True)
        if outcome.reason != "started":
            return outcome
        assert ctx.background is not None
        await ctx.background.await_done()
        return await ctx.amaybe_summarize(never, background=True)

    return asyncio.run(run())


def due(store: MemoryStore, window: int = 100_000) -> tuple[ChatContext[Any], Clock]:
    policy = Policy(max_tokens=1_000, keep_tokens=200, window=window)
    ctx = context(12, policy=policy, store=store, key="c", ledger_tokens=0)
    return ctx, timed(ctx)


@WAYS
@pytest.mark.parametrize("window", [100_000, 1_100])
def test_a_store_that_is_down_costs_a_warning_and_no_model_call(
    way: str, window: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Turns go on with the list as it is; also over the window, where no other fold may go in."""
    store = Watched()
    ctx, clock = due(store, window)
    before, store.down = list(ctx.items), True
    outcome = taken(way, ctx, never)
    assert (outcome.reason, outcome.llm_calls, outcome.usage) == ("failed", 0, None)
    assert str(outcome.error) == "the server is down"
    for _ in range(5):
        assert taken(way, ctx, never).reason == "unchanged_head"
    assert len(store.asked) == 1  # nor is it asked at each turn
    assert same_objects(ctx.items, before)
    assert len([r for r in caplog.records if r.levelno >= logging.WARNING]) == 1
    clock.now += 60
    assert taken(way, ctx, never).reason == "failed"
    clock.now += 120
    store.down = False
    assert taken(way, ctx, Model()).changed
    assert ChatContext[Any](json.loads(json.dumps(ctx.items)), store=store, key="c").undo().changed


@WAYS
def test_a_full_disk_is_paid_for_once(way: str) -> None:
    """It can be read, and would take what is small: what failed is tried, and taken out again."""
    store, model = Watched(), Model()
    ctx, clock = due(store)
    store.full = True
    assert taken(way, ctx, model).llm_calls == 1
    for minutes in (1, 2, 4):
        clock.now += 60 * minutes
        outcome = taken(way, ctx, never)
        assert (outcome.reason, outcome.llm_calls) == ("failed", 0)
        assert str(outcome.error) == "no space left"
    clock.now += 60 * 8
    store.full = False
    outcome = taken(way, ctx, model)
    assert outcome.changed
    assert [fold.fold_id for fold in store.folds("c")] == [outcome.fold_id]
    store.asked.clear()
    ctx.extend(item for n in range(20, 32) for item in turn(n))
    assert taken(way, ctx, model).changed
    assert store.asked.count("save") == 1  # it is written as ever


@WAYS
def test_what_a_store_cannot_take_is_not_tried_again_once_it_has_left_the_list(way: str) -> None:
    """It may have been too large, or its owner has erased it: what is to be folded is tried."""
    store = Picky("q3 ")
    ctx, clock = due(store)
    assert isinstance(taken(way, ctx, Model()).error, StoreError)
    clock.now += 60
    assert str(taken(way, ctx, never).error) == "the row is too large"
    ctx.items[6:8] = [{**item, "content": "erased"} for item in ctx.items[6:8]]
    clock.now += 120
    outcome = taken(way, ctx, Model())
    assert outcome.changed
    assert [fold.fold_id for fold in store.folds("c")] == [outcome.fold_id]


@WAYS
def test_a_store_that_fails_for_a_moment_leaves_no_list_over_the_window_for_a_minute(
    way: str,
) -> None:
    """A provider would refuse each request meanwhile; a fold without a model is cheap."""
    store = Watched()
    ctx, clock = due(store, 1_100)
    store.down = True
    assert taken(way, ctx, never).reason == "failed"
    store.down = False
    clock.now += 1
    outcome = taken(way, ctx, never)
    assert outcome.changed
    assert not outcome.over_limit


def test_a_small_list_is_no_reason_to_ask_a_store() -> None:
    """Nor is a turn at which there is nothing to fold."""
    store = Watched()
    store.down = True
    ctx = context(3, store=store, key="c")
    assert ctx.maybe_summarize(never).reason == "below_trigger"
    assert ctx.summarize(never, keep_last_turns=3).reason == "too_few_turns"
    assert store.asked == []


def test_nothing_is_written_for_a_fold_that_was_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its conversation may have been erased by the time that its thread begins."""
    store = Watched()
    ctx, _ = due(store)
    monkeypatch.setattr("chatfold.background._FIRST", 0.2)
    fold = ctx.summarize_in_background(never)
    fold.cancel()
    wait_until(lambda: not fold.working)
    assert store.asked == []
