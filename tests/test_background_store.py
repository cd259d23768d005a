"""Folds with a store: originals are written by whoever writes the fold, and no turn waits."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from background import LIMIT, Gate, Held, ended, finished, slow, until, wait_until
from each_turn import Words, turn
from laws import plainly, same_objects

from chatfold import ChatContext, Prompt
from chatfold.errors import StoreError
from chatfold.policy import Policy
from chatfold.stores import MemoryStore, SQLStore, StoredFold


class Watched(MemoryStore):
    """A store that keeps the names of threads that wrote to it; it fails while `error` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[str] = []
        self.error: BaseException | None = None

    def save(self, fold: StoredFold) -> None:
        self.threads.append(threading.current_thread().name)
        if self.error is not None:
            raise self.error
        super().save(fold)


def never(prompt: Prompt) -> str:
    raise AssertionError("a model was asked")


def test_the_turn_that_puts_a_fold_in_does_not_write_to_the_store() -> None:
    """The thread has done so; both this process and a later one take the fold back."""
    store = Watched()
    ctx, gate = slow(store=store, key="c")
    before = list(ctx.items)
    assert ctx.maybe_summarize(gate, background=True).reason == "started"
    finished(ctx, gate)
    assert store.threads == ["chatfold"]
    ctx.extend(turn(10))
    assert ctx.maybe_summarize(never, background=True).changed
    assert len(store.threads) == 1
    later = ChatContext[Any](json.loads(json.dumps(ctx.items)), store=store, key="c")
    assert later.undo().reason == "undone"
    assert later.items == [*before, *turn(10)]
    assert ctx.undo().reason == "undone"
    assert same_objects(ctx.items[:-2], before)


@pytest.mark.parametrize("call", ["maybe_summarize", "amaybe_summarize"])
def test_an_event_loop_does_not_write_to_the_store(call: str) -> None:
    store = Watched()

    async def run() -> None:
        ctx, gate = slow(store=store, key="c")

        async def maybe(llm: Any) -> Any:
            if call == "maybe_summarize":
                return ctx.maybe_summarize(llm, background=True)
            return await ctx.amaybe_summarize(llm, background=True)

        assert (await maybe(gate.awaited)).reason == "started"
        gate.open.set()
        await ended(ctx)
        assert (await maybe(never)).changed

    asyncio.run(run())
    assert len(store.threads) == 1
    assert store.threads[0] != "MainThread"


@pytest.mark.parametrize("call", ["asummarize", "amaybe_summarize"])
def test_an_awaited_fold_leaves_the_loop_free_while_the_store_is_slow(call: str) -> None:
    """Other conversations of the loop go on; the list changes in the loop's own thread."""
    free = threading.Event()

    class Slow(Watched):
        def save(self, fold: StoredFold) -> None:
            super().save(fold)
            assert free.wait(LIMIT)

    store = Slow()

    async def model(prompt: Prompt) -> str:
        return "short"

    async def run() -> None:
        ctx, _ = slow(store=store, key="c")
        folding = asyncio.create_task(getattr(ctx, call)(model))
        await until(lambda: bool(store.threads))
        before = list(ctx.items)
        free.set()
        assert (await folding).changed
        assert len(before) == 20 > len(ctx.items)

    asyncio.run(run())
    assert store.threads != ["MainThread"]


def test_what_comes_out_otherwise_is_written_again() -> None:
    """The request that came meanwhile stands in one item with the summary, and goes with it."""
    store, gate = Watched(), Gate()
    talk = [item for n in range(10) for item in turn(n)]
    ctx: ChatContext[Any] = ChatContext(
        plainly("bedrock", talk), shape="bedrock", store=store, key="c", counter=Words()
    )
    fold = ctx.summarize_in_background(gate, keep_last_turns=0)
    gate.open.set()
    assert fold.wait(LIMIT)
    ctx.extend(plainly("bedrock", turn(10)))
    before = list(ctx.items)
    outcome = fold.apply_if_ready()
    assert outcome.changed
    assert len(outcome.merged) == 1
    assert store.threads == ["chatfold", "MainThread"]
    later = ChatContext[Any](json.loads(json.dumps(ctx.items)), store=store, key="c")
    assert later.undo().reason == "undone"
    assert later.items == before


def test_a_store_that_fails_in_the_thread_is_reported_with_what_was_spent() -> None:
    """The list stays as it is, and the fold is tried again later."""
    store = Watched()
    store.error = StoreError("the disk is full")
    ctx, gate = slow(store=store, key="c")
    before = list(ctx.items)
    assert ctx.maybe_summarize(gate, background=True).reason == "started"
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    assert (outcome.reason, outcome.error, outcome.llm_calls) == ("failed", store.error, 1)
    assert outcome.usage is not None
    assert same_objects(ctx.items, before)
    assert not ctx._state.running.locked()


def test_a_fold_that_is_given_up_takes_the_place_of_none_that_stands() -> None:
    """Of a copy of the list, say, that another process has yet to fold, in the same words."""
    store = Watched()
    ctx, gate = slow(store=store, key="c", ledger_tokens=0)
    before = list(ctx.items)
    copy = ChatContext[Any]([*before, *turn(10)], store=store, key="c", ledger_tokens=0)
    gate.open.set()
    fold = ctx.summarize_in_background(gate, keep_last_turns=1)
    assert fold.wait(LIMIT)
    assert fold.apply_if_ready().changed
    fold = copy.summarize_in_background(gate, keep_last_turns=1)
    assert fold.wait(LIMIT)
    fold.cancel()
    later = ChatContext[Any](json.loads(json.dumps(ctx.items)), store=store, key="c")
    assert later.undo().reason == "undone"
    assert later.items == before


def test_nothing_is_written_for_a_fold_that_gains_nothing() -> None:
    store = Watched()
    ctx, gate = slow(store=store, key="c", policy=Policy(max_tokens=1_000, keep_tokens=200))
    gate.text = "word " * 3_000
    ctx._sizes._counter = None  # which counts what a summary weighs
    fold = ctx.summarize_in_background(gate, keep_last_turns=1)
    gate.open.set()
    assert fold.wait(LIMIT)
    assert store.threads == []
    assert fold.apply_if_ready().reason == "no_gain"
    assert store.threads == []


@pytest.mark.parametrize("where", ["memory", "sqlite"])
def test_what_is_given_up_and_erased_does_not_come_back(where: str, tmp_path: Path) -> None:
    """The model answers later: what was said is not written again for a fold that nobody wants."""
    store: Any = MemoryStore() if where == "memory" else SQLStore(tmp_path / "folds.db")
    ctx, gate = slow(store=store, key="c")
    fold = ctx.summarize_in_background(gate)
    assert gate.asked.wait(LIMIT)
    fold.cancel()
    assert store.erase("c") == 0
    gate.open.set()
    wait_until(lambda: not fold.working)
    assert store.folds("c") == []
    assert ctx.summarize(lambda _: "short").changed
    assert len(store.folds("c")) == 1


def test_what_was_being_written_is_taken_out_again_where_it_was_given_up() -> None:
    """Whoever erases when the fold was given up need not wait for its thread."""
    store = Held()
    ctx, gate = slow(store=store, key="c")
    fold = ctx.summarize_in_background(gate)
    gate.open.set()
    assert store.is_writing.wait(LIMIT)
    fold.cancel()
    assert store.erase("c") == 0
    store.may_write.set()
    wait_until(lambda: not fold.working)
    assert store.folds("c") == []


@pytest.mark.parametrize("call", ["asummarize", "summarize_in_background"])
def test_a_task_that_is_cancelled_leaves_nothing_in_a_store(call: str) -> None:
    """The thread that its event loop has write goes on, and takes out what it has written."""
    saved = threading.Event()

    class Told(Held):
        def discard(self, key: str, fold_id: str) -> None:
            super().discard(key, fold_id)
            if self.is_writing.is_set():  # before the model is asked, the store is tried out
                saved.set()

    store = Told()

    async def run() -> None:
        ctx, gate = slow(store=store, key="c")
        gate.open.set()
        if call == "asummarize":
            task = asyncio.create_task(ctx.asummarize(gate.awaited))
            await until(store.is_writing.is_set)
            task.cancel()
            await asyncio.wait({task})
        else:
            fold = ctx.summarize_in_background(gate.awaited)
            await until(store.is_writing.is_set)
            fold.cancel()
        assert store.erase("c") == 0
        store.may_write.set()
        # The loop has no step until then: whoever gave the fold up is heard all the same.
        assert saved.wait(LIMIT)
        assert store.folds("c") == []

    asyncio.run(run())
