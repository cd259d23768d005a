"""A list that is long when it is first looked at in an event loop: what goes on meanwhile."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import History, broken, histories, long_history

from chatfold import ChatContext, Policy, Prompt

LONG, SHORT = 240, 20
FAR, NEAR = Policy(max_tokens=1_000_000), Policy(max_tokens=1_000, keep_tokens=200)

Items = list[dict[str, Any]]
Turn = Callable[[Items], Coroutine[Any, Any, Any]]


class Slow:
    """Counts letters, takes its time, and takes down how many texts it has counted."""

    exact = False

    def __init__(self) -> None:
        self.counted = 0

    def count(self, text: str) -> int:
        self.counted += 1
        time.sleep(0.0002)
        return len(text)


def talk(length: int, start: int = 0) -> Items:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": f"word {n}"} for n in range(start, start + length)]


def short(prompt: Prompt) -> str:
    return "what was said"


def context(items: Items, policy: Policy = NEAR, counter: Any = None) -> ChatContext[Any]:
    return ChatContext(items, policy=policy, counter=counter or Slow())


def by_policy(counter: Any) -> Turn:
    return lambda items: context(items, FAR, counter).amaybe_summarize(short)


def in_background(counter: Any) -> Turn:
    return lambda items: context(items, FAR, counter).amaybe_summarize(short, background=True)


TURNS = pytest.mark.parametrize("kind", [by_policy, in_background])


async def among_others(
    turn: Awaitable[Any], happens: Callable[[int], object] = lambda when: None
) -> Any:
    """Return what a turn returns, while another task does something each time that it may."""

    async def other() -> None:
        when = 0
        while True:
            happens(when)
            when += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    try:
        return await turn
    finally:
        beside.cancel()


@TURNS
def test_others_go_on_while_a_long_list_is_first_read(kind: Callable[[Any], Turn]) -> None:
    counter, items = Slow(), talk(LONG)
    seen: list[int] = []

    asyncio.run(among_others(kind(counter)(items), lambda when: seen.append(counter.counted)))
    assert counter.counted == LONG
    between = [after - before for before, after in pairwise(seen)]
    assert LONG - seen[-1] < LONG / 5
    assert max(between) < LONG / 5


def test_others_go_on_before_a_long_list_is_summarized() -> None:
    """What is counted in threads then is no matter of the loop."""
    counter, seen = Slow(), list[int]()
    ctx = ChatContext(talk(LONG), counter=counter)

    asyncio.run(
        among_others(
            ctx.asummarize(short, keep_last_turns=2), lambda when: seen.append(counter.counted)
        )
    )
    assert sum(0 < counted < LONG for counted in seen) > 5
    assert len(ctx) < LONG


@TURNS
def test_a_short_list_is_read_at_once(kind: Callable[[Any], Turn]) -> None:
    """As at a usual turn, where two items are new: no other task comes between."""
    with pytest.raises(StopIteration) as done:
        _in_loop(lambda: kind(Slow())(talk(SHORT - 1)).send(None))
    assert done.value.value.reason == "below_trigger"


def _in_loop(step: Callable[[], object]) -> None:
    async def inside() -> BaseException | None:
        try:
            step()
        except StopIteration as stop:  # which a coroutine cannot raise
            return stop
        return None

    stopped = asyncio.run(inside())
    if stopped is not None:
        raise stopped


@TURNS
def test_without_an_event_loop_of_asyncio_all_is_read_at_once(kind: Callable[[Any], Turn]) -> None:
    """As under trio, where a turn at which nothing is due has nothing to wait for."""
    with pytest.raises(StopIteration):
        kind(Slow())(talk(LONG)).send(None)


def extended(items: Items, when: int) -> None:
    if when == 1:
        items.extend(talk(50, LONG))


def grown(items: Items, when: int) -> None:
    if when < 6:
        items.extend(talk(1, len(items)))


def edited(items: Items, when: int) -> None:
    if when == 2:
        items[0]["content"], items[-1]["content"] = "the first, corrected", "the last, corrected"


def replaced(items: Items, when: int) -> None:
    if when == 2:
        items[:] = talk(LONG, 5_000)


def shortened(items: Items, when: int) -> None:
    if when == 2:
        del items[10:-10]


def cleared(items: Items, when: int) -> None:
    if when == 2:
        items.clear()


def of_another_shape(items: Items, when: int) -> None:
    if when == 2:
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        items.insert(4, {"role": "assistant", "content": None, "tool_calls": [call]})


CHANGES = (extended, grown, edited, replaced, shortened, cleared, of_another_shape)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("background", [False, True])
def test_what_its_owner_does_meanwhile_is_seen(
    change: Callable[[Items, int], None], background: bool
) -> None:
    items = talk(LONG)
    ctx = context(items, FAR)
    turn = ctx.amaybe_summarize(short, background=background)
    outcome = asyncio.run(among_others(turn, lambda when: change(items, when)))
    fresh = context(copy.deepcopy(items), FAR)
    if change is not edited:  # which a list far below its trigger is not looked through for
        assert ctx.load() == fresh.load()
    assert ctx.views() == fresh.views()
    assert ctx.load() == fresh.load()
    assert ctx.count_tokens() == fresh.count_tokens()
    assert ctx.shape == fresh.shape
    assert ctx.check() == fresh.check()
    assert outcome.reason == "below_trigger"


@pytest.mark.parametrize("change", CHANGES)
def test_what_its_owner_does_meanwhile_is_kept(change: Callable[[Items, int], None]) -> None:
    """A fold that is due takes nothing from what has come, and sees what was corrected."""
    items, prompts = talk(LONG), list[str]()
    ctx = context(items)

    def summarizer(prompt: Prompt) -> str:
        prompts.append(prompt.user)
        return "what was said"

    def changed(when: int) -> None:
        if not prompts:
            change(items, when)

    asyncio.run(among_others(ctx.amaybe_summarize(summarizer), changed))
    if change in (cleared, shortened):  # nothing is due any more
        assert prompts == []
        assert len(items) == (0 if change is cleared else 20)
        return
    assert len(items) < LONG
    assert len(prompts) == 1
    said = [item["content"] for item in items]
    if change is edited:
        assert "the first, corrected" in prompts[0]
        assert said[-1] == "the last, corrected"
    elif change is replaced:
        assert said[-8:] == [item["content"] for item in talk(8, 5_000 + LONG - 8)]
    elif change is not of_another_shape:
        last = int(said[-1].removeprefix("word "))
        assert last >= LONG + 49 if change is extended else last > LONG
        assert said[-8:] == [item["content"] for item in talk(8, last - 7)]


class Breaks(Slow):
    """Cannot count one of the texts, once."""

    broken = False

    def count(self, text: str) -> int:
        if text == "word 150" and not self.broken:
            self.broken = True
            raise ZeroDivisionError(text)
        return super().count(text)


@TURNS
def test_a_counter_that_fails_in_the_middle_fails_the_call_and_no_other(
    kind: Callable[[Any], Turn],
) -> None:
    items = talk(LONG)
    counter = Breaks()
    turn = kind(counter)

    async def told() -> Any:
        with pytest.raises(ZeroDivisionError):
            await turn(items)
        return await turn(items)

    outcome = asyncio.run(told())
    assert outcome.reason == "below_trigger"
    assert outcome.tokens_after == context(items).load().tokens


def test_a_context_whose_counter_failed_counts_each_item_once() -> None:
    items = talk(LONG)
    ctx = context(items, FAR, Breaks())

    async def told() -> Any:
        with pytest.raises(ZeroDivisionError):
            await ctx.amaybe_summarize(short)
        return await ctx.amaybe_summarize(short)

    assert asyncio.run(told()).tokens_after == context(items).load().tokens == ctx.load().tokens


def test_a_cancelled_first_look_leaves_all_as_it_was() -> None:
    """The next call goes on at once: there is no thread that would still be at it."""
    items = talk(LONG)
    ctx = context(items)

    async def given_up(turn: Coroutine[Any, Any, Any]) -> None:
        asked = asyncio.create_task(turn)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    async def told() -> Any:
        await given_up(ctx.asummarize(short))
        await given_up(ctx.amaybe_summarize(short))
        assert items == talk(LONG)
        return await ctx.amaybe_summarize(short)

    assert asyncio.run(told()).reason == "summarized"


def test_two_tasks_with_one_list_fold_it_once() -> None:
    ctx, calls = context(talk(LONG)), list[int]()

    async def summarizer(prompt: Prompt) -> str:
        calls.append(1)
        await asyncio.sleep(0.01)
        return "what was said"

    async def both() -> list[Any]:
        return await asyncio.gather(
            ctx.amaybe_summarize(summarizer), ctx.amaybe_summarize(summarizer)
        )

    assert sorted(o.reason for o in asyncio.run(both())) == ["busy", "summarized"]
    assert len(calls) == 1


def test_a_list_of_several_shapes_is_not_read_anew_at_each_part() -> None:
    """As of a host that goes from one provider to another and back."""
    items: Items = []
    for seed in range(6):
        for shape in ("openai_chat", "anthropic"):
            items += long_history(shape, 40, seed)
    whole, counter = Slow(), Slow()
    context(items, FAR, whole).load()
    ctx = context(items, FAR, counter)
    asyncio.run(ctx.amaybe_summarize(short))
    assert counter.counted < 3 * whole.counted
    assert ctx.views() == context(items).views()


@given(history=histories() | broken(histories(broken=True), junk=True), part=st.integers(1, 9))
def test_a_list_that_is_read_by_parts_is_read_as_a_whole(history: History, part: int) -> None:
    by_parts, whole = (ChatContext[Any](list(history.items)) for _ in range(2))
    while by_parts._state.reading.read_on(part):
        pass
    assert by_parts.load() == whole.load()
    assert by_parts.shape == whole.shape
    one, other = by_parts._state.snapshot(), whole._state.snapshot()
    rest = {"shape": other.shape, "facts": other.facts, "elements": other.elements}
    assert one._replace(**rest) == other
