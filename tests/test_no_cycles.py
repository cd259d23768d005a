"""What a fold, a context or a turn leaves is freed at once: none of it waits for a collection.

A collection comes when it likes, in the middle of a turn too, and until the next full one a fold
would hold all that it took out of the list.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from background import LIMIT, until
from sqlalchemy import ClauseElement
from sqlalchemy.types import TypeEngine

from chatfold import ChatContext, Middleware
from chatfold.errors import SummarizerError
from chatfold.policy import Policy
from chatfold.stores import MemoryStore, SQLStore

Item = dict[str, Any]

SUMMARY = "# Orders\n\nThe user asked where order LK-4001 is.\n- It was delivered on 2026-03-02."


def conversation(turns: int = 12) -> list[Item]:
    made: list[Item] = [{"role": "system", "content": "You are a support agent."}]
    for number in range(turns):
        order = f"LK-{4_001 + number}"
        function = {"name": "lookup_order", "arguments": json.dumps({"order": order})}
        result = {"order": order, "status": "delivered", "on": f"2026-03-{number + 2:02}"}
        made += [
            {"role": "user", "content": f"Where is my order {order}? Mail a{number}@example.com."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"call_{number}", "content": json.dumps(result)},
            {"role": "assistant", "content": f"Order {order} was delivered. Anything else?"},
        ]
    return made


def answer(_: object) -> str:
    return SUMMARY


async def later(_: object) -> str:
    return SUMMARY


async def broken_later(_: object) -> str:
    raise RuntimeError("the provider is down")


async def never(_: object) -> str:
    await asyncio.sleep(LIMIT)
    return SUMMARY


def broken(_: object) -> str:
    raise RuntimeError("the provider is down")


def blows(**_: object) -> str:
    raise ValueError("no such order")


def folded() -> None:
    ctx = ChatContext(conversation())
    assert ctx.summarize(answer, keep_last_turns=4).changed
    ctx.extend(conversation()[1:])
    assert ctx.summarize(answer, keep_last_turns=2).changed
    assert ctx.undo().changed


def read() -> None:
    ctx = ChatContext(conversation())
    ctx.views(), ctx.tool_calls(), ctx.turns(), ctx.steps(), ctx.cut_points()
    ctx.check(), ctx.requirements(), ctx.count_tokens(), ctx.load(), ctx.repair()


def in_parts() -> None:
    outcome = ChatContext(conversation(40)).summarize(
        answer, keep_last_turns=2, max_prompt_tokens=2_000
    )
    assert outcome.llm_calls > 1


def with_an_invention() -> None:
    said = f"{SUMMARY}\n- The refund of 712.33 EUR for A-99812 went to bob@example.org."
    outcome = ChatContext(conversation()).summarize(lambda _: said, keep_last_turns=2)
    assert outcome.changed
    assert "712.33" not in outcome.summary


def extractive() -> None:
    assert ChatContext(conversation()).summarize("extractive", keep_last_turns=2).changed


def planned() -> None:
    ctx = ChatContext(conversation())
    assert ctx.apply(ctx.plan(keep_last_turns=2), SUMMARY).changed
    ctx = ChatContext(conversation())
    flow = ctx.flow(keep_last_turns=2)
    flow.send(SUMMARY)
    assert flow.outcome is not None
    ChatContext(conversation()).flow(keep_last_turns=2)  # and left


def failed() -> None:
    with pytest.raises(SummarizerError):
        ChatContext(conversation()).summarize(broken, keep_last_turns=2)


def answered_by_the_next() -> None:
    outcome = ChatContext(conversation()).summarize([broken, answer], keep_last_turns=2)
    assert outcome.changed


def asynchronous() -> None:
    async def run() -> None:
        assert (await ChatContext(conversation()).asummarize(later, keep_last_turns=2)).changed
        with suppress(SummarizerError):
            await ChatContext(conversation()).asummarize(broken, keep_last_turns=2)

    _LOOP.run_until_complete(run())


def in_background() -> None:
    ctx = ChatContext(conversation())
    fold = ctx.summarize_in_background(answer, keep_last_turns=2)
    assert fold.wait(LIMIT)
    assert fold.apply_if_ready().changed


def given_up() -> None:
    fold = ChatContext(conversation()).summarize_in_background(answer, keep_last_turns=2)
    fold.cancel()
    assert fold.wait(LIMIT)


def in_a_task() -> None:
    async def run() -> None:
        fold = ChatContext(conversation()).summarize_in_background(later, keep_last_turns=2)
        await until(lambda: fold.done)
        assert fold.apply_if_ready().changed

    _LOOP.run_until_complete(run())


def failed_in_background() -> None:
    fold = ChatContext(conversation()).summarize_in_background(broken, keep_last_turns=2)
    assert fold.wait(LIMIT)
    _shows_where(fold.apply_if_ready().error)


def failed_in_a_task() -> None:
    async def run() -> None:
        fold = ChatContext(conversation()).summarize_in_background(broken_later, keep_last_turns=2)
        await fold.await_done()
        _shows_where(fold.apply_if_ready().error)

    _LOOP.run_until_complete(run())


def given_up_in_a_task() -> None:
    async def run() -> None:
        fold = ChatContext(conversation()).summarize_in_background(never, keep_last_turns=2)
        await until(lambda: fold.cost.llm_calls > 0)
        fold.cancel()
        await fold.await_done()

    _LOOP.run_until_complete(run())


def failed_in_background_by_policy() -> None:
    ctx = ChatContext(conversation(), policy=Policy(max_tokens=600))
    assert ctx.maybe_summarize(broken, background=True).reason == "started"
    while (outcome := ctx.maybe_summarize(broken, background=True)).reason == "running":
        time.sleep(0.01)
    _shows_where(outcome.error)


def _shows_where(error: BaseException | None) -> None:
    """Check that an error still shows where it came from."""
    assert isinstance(error, SummarizerError)
    assert "in broken" in "".join(traceback.format_exception(error))


def by_policy() -> None:
    ctx = ChatContext(conversation(), policy=Policy(max_tokens=600))
    assert ctx.maybe_summarize(answer).changed


def by_middleware() -> None:
    middleware: Middleware[Item] = Middleware(
        answer, policy=Policy(max_tokens=600), store=MemoryStore()
    )
    host = conversation()
    assert len(middleware(host, key="one")) < len(host)
    host += conversation(4)[1:]
    assert len(middleware(host, key="one")) < len(host)


def by_tools() -> None:
    ctx = ChatContext(conversation()[:-2])
    assert len(ctx.run_tool_calls({"lookup_order": blows})) == 1


def _stored(store: SQLStore) -> None:
    ctx = ChatContext(conversation(), store=store, key="one")
    assert ctx.summarize(answer, keep_last_turns=2).changed
    assert ctx.recall(query="LK-4003")
    assert ctx.undo().changed


_LOOP = asyncio.new_event_loop()

WAYS = (
    folded,
    read,
    in_parts,
    with_an_invention,
    extractive,
    planned,
    failed,
    answered_by_the_next,
    asynchronous,
    in_background,
    given_up,
    in_a_task,
    failed_in_background,
    failed_in_a_task,
    given_up_in_a_task,
    failed_in_background_by_policy,
    by_policy,
    by_middleware,
    by_tools,
)


@contextmanager
def _uncollected() -> Iterator[list[object]]:
    """Keep what only a collection would free, in the list that is given."""
    found: list[object] = []
    flags = gc.get_debug()
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()
        gc.enable()


def _left_by(way: Callable[[], None]) -> Counter[str]:
    """Return what of ours only a collection would free, by its type.

    But for expressions and types of SQLAlchemy, which are cycles as it makes them.
    """
    way()  # what is made once, such as templates, is not meant
    with _uncollected() as found:
        way()
    kinds = (type(each) for each in found if not isinstance(each, ClauseElement | TypeEngine))
    return Counter(k.__qualname__ for k in kinds if k.__module__.partition(".")[0] == "chatfold")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nothing_waits_for_a_collection(way: Callable[[], None]) -> None:
    assert not _left_by(way)


def test_nothing_waits_for_a_collection_with_a_store(tmp_path: Path) -> None:
    store = SQLStore(tmp_path / "folds.db")
    assert not _left_by(lambda: _stored(store))
