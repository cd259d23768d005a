"""`Middleware` where a host has more or fewer leading instructions than before: notes, documents.

Not here: instructions that change and stay as many (`test_middleware`).
"""

from __future__ import annotations

import asyncio
import copy
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from background import wait_until
from hypothesis import event, given
from hypothesis import strategies as st
from laws import fewer
from strategies import History, histories
from test_middleware import Teller, middleware, reloaded, summaries, talk
from validator import Violation, validate

from chatfold import Completion, FoldEvent, Middleware, Policy, Prompt, Usage
from chatfold.stores import MemoryStore

HANDED = st.sampled_from([list, reloaded])


def instructions(count: int) -> list[dict[str, Any]]:
    return [{"role": "system", "content": f"Rule {n}."} for n in range(count)]


def faults(found: Sequence[Violation]) -> set[tuple[str, str]]:
    """Return what is wrong with a list, wherever in it."""
    return {(one.rule, one.detail) for one in found}


def after(counts: Sequence[int], hand: Callable[[Sequence[Any]], list[Any]]) -> Teller:
    """Return who wrote the summaries of a host with so many instructions at each turn."""
    teller = Teller()
    wrapper = middleware(teller, Policy(max_tokens=2_000, keep_tokens=400))
    body: list[Any] = []
    for turn, count in enumerate(counts):
        body += talk(1, turn, words=60)
        folded = wrapper.fold(hand([*instructions(count), *body]))
        assert folded.items[:count] == instructions(count)
        assert [item["role"] for item in folded.items[count:]].count("system") == 0
        assert folded.items[-1] == body[-1]
    return teller


@fewer
@given(counts=st.lists(st.integers(0, 3), min_size=40, max_size=40), hand=HANDED)
def test_folds_are_found_again_behind_other_instructions(
    counts: list[int], hand: Callable[[Sequence[Any]], list[Any]]
) -> None:
    """The model is not asked more often, nor shown more, than where the instructions stay."""
    changing, steady = after(counts, hand), after([max(counts)] * len(counts), hand)
    event(f"{len(changing.prompts)} folds")
    assert 1 < len(changing.prompts) <= len(steady.prompts) + 1
    shown, usual = (sum(len(p.user) for p in t.prompts) for t in (changing, steady))
    assert shown < usual * 1.25


@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses", "mistral"])
@fewer
@given(data=st.data())
def test_each_list_is_sendable(shape: str, data: st.DataObject) -> None:
    """Laws 2 and 3 hold where a fold is used behind other instructions than it was made behind."""
    history: History = data.draw(histories(shape, max_turns=6))
    wrapper = middleware(Teller(), Policy(max_items=6, min_gain=0.0), shape=shape)
    for stop in range(1, len(history.items) + 1):
        count = data.draw(st.integers(0, 2))
        folded = wrapper.fold([*instructions(count), *history.items[:stop]])
        assert folded.items[:count] == instructions(count)
        before = validate(reloaded([*instructions(count), *history.items[:stop]]), shape)
        added = faults(validate(reloaded(folded.items), shape)) - faults(before)
        assert not added


def test_other_conversations_are_told_apart_by_what_follows_the_instructions() -> None:
    """Without a key, the first message decides which folds may be meant."""
    teller = Teller()
    wrapper = middleware(teller, Policy(max_tokens=2_000, keep_tokens=400))
    for count in (0, 1, 2, 0):
        for start in (0, 500):
            wrapper.fold([*instructions(count), *talk(40, start)])
    assert len(teller.prompts) == 2


# --- in the background, or by another call at the same time ------------------------------------

LONG = Policy(max_tokens=2_000, keep_tokens=400)


class Slow:
    """A model that answers when it may, and one more time each time that it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = None
        self.may_end = threading.Event()

    def __call__(self, prompt: Prompt) -> Completion:
        self.asked += 1
        assert self.may_end.wait(20)
        if self.error is not None:
            raise self.error
        return Completion(f"what happened before, {self.asked}", usage=Usage(50, 5))


def behind(slow: Any, store: Any, told: list[FoldEvent], **options: Any) -> Middleware[Any]:
    options = {"background": True, "on_event": told.append, **options}
    return middleware(slow, LONG, store, **options)


def at_last(turn: Callable[[], Any]) -> Any:
    """Return what a turn gives when no fold is under way any more."""
    until = time.monotonic() + 20
    while (folded := turn()).outcome.reason == "running":
        assert time.monotonic() < until
        time.sleep(0.01)
    return folded


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("hand", [list, copy.deepcopy])
def test_a_fold_under_way_is_for_the_list_behind_other_instructions_too(
    stored: bool, hand: Callable[[Any], Any]
) -> None:
    """Written, told of and paid for once; no turn waits, and each of them is given it."""
    slow, told, body = Slow(), list[FoldEvent](), talk(40)
    wrapper = behind(slow, MemoryStore() if stored else None, told)

    def turn(count: int) -> Any:
        folded = wrapper.fold(hand([*instructions(count), *body]), key="k")
        assert folded.items[:count] == instructions(count)
        return folded

    assert [turn(count).outcome.reason for count in (1, 2, 1, 0)] == [
        "started",
        "running",
        "running",
        "running",
    ]
    slow.may_end.set()
    seen = at_last(lambda: turn(2))
    assert seen.outcome.reason == "reused"
    if not stored:  # else it was told of when it was put there, maybe before
        assert (seen.outcome.usage, seen.outcome.llm_calls) == (Usage(50, 5), 1)
    body += talk(1, 60)
    more = [turn(count) for count in (1, 0, 3, 2)]
    assert [summaries(folded.items) for folded in (seen, *more)] == [1] * 5
    assert [folded.items[-1] for folded in more] == [body[-1]] * 4
    assert slow.asked == 1
    assert [event.kind for event in told] == ["before", "after"]
    given = [f.outcome.usage for f in (seen, *more) if f.outcome.usage is not None]
    assert given == [Usage(50, 5)]


def test_a_fold_of_a_task_is_for_the_list_behind_other_instructions_too() -> None:
    async def run() -> None:
        asked, may_end = [], asyncio.Event()

        async def slow(prompt: Prompt) -> str:
            asked.append(prompt)
            await may_end.wait()
            return "what happened before"

        wrapper, body = behind(slow, None, []), talk(40)
        first = await wrapper.afold([*instructions(1), *body])
        await asyncio.sleep(0.05)
        second = await wrapper.afold([*instructions(2), *body])
        assert (first.outcome.reason, second.outcome.reason) == ("started", "running")
        may_end.set()
        async with asyncio.timeout(20):
            while second.outcome.reason == "running":
                await asyncio.sleep(0.01)
                second = await wrapper.afold([*instructions(2), *body])
        assert (second.outcome.reason, summaries(second.items)) == ("reused", 1)
        assert len(asked) == 1

    asyncio.run(run())


def test_who_puts_a_fold_in_is_not_waited_for_behind_other_instructions() -> None:
    """A hook is told while it is put in: a list that comes then goes on as it is."""
    slow, body, came = Slow(), talk(40), list[Any]()

    def told(event: FoldEvent) -> None:
        if event.kind == "after":
            came.append(wrapper.fold([*instructions(2), *body]))

    slow.may_end.set()
    wrapper = behind(slow, None, [], on_event=told)
    wrapper.fold([*instructions(1), *body])
    at_last(lambda: wrapper.fold([*instructions(1), *body]))
    assert [folded.outcome.reason for folded in came] == ["running"]
    assert wrapper.fold([*instructions(2), *body]).outcome.reason == "reused"
    assert slow.asked == 1


def test_a_fold_that_failed_holds_up_no_list_behind_other_instructions() -> None:
    """Its own host is told of it at its next turn, and all others by the hook."""
    slow, told, body = Slow(), list[FoldEvent](), talk(40)
    wrapper = behind(slow, None, told)
    wrapper.fold([*instructions(1), *body])
    slow.error = RuntimeError("no answer")
    slow.may_end.set()
    again = at_last(lambda: wrapper.fold([*instructions(2), *body]))
    assert again.outcome.reason == "started"
    assert [event.kind for event in told][:2] == ["before", "failed"]
    assert wrapper.fold([*instructions(1), *body]).outcome.reason == "failed"


def test_another_conversation_that_opens_alike_is_not_held_up() -> None:
    slow = Slow()
    wrapper, start = behind(slow, None, []), talk(2)
    one = wrapper.fold([*instructions(1), *start, *talk(40, 100)])
    other = wrapper.fold([*instructions(2), *start, *talk(40, 200)])
    slow.may_end.set()
    assert (one.outcome.reason, other.outcome.reason) == ("started", "started")


def test_calls_at_the_same_time_with_other_instructions_pay_once() -> None:
    """As those with the same ones do: the second goes on with what is folded so far."""
    slow, body, results = Slow(), talk(40), list[Any]()
    wrapper = behind(slow, None, [], background=False)
    first = threading.Thread(target=lambda: results.append(wrapper.fold([*instructions(1), *body])))
    first.start()
    wait_until(lambda: slow.asked == 1)
    second = wrapper.fold([*instructions(2), *body])
    assert (second.outcome.reason, len(second.items)) == ("running", len(body) + 2)
    slow.may_end.set()
    first.join()
    assert results[0].outcome.reason == "summarized"
    assert wrapper.fold([*instructions(2), *body]).outcome.reason == "reused"
    assert slow.asked == 1


def test_over_the_window_a_call_with_other_instructions_waits_for_the_fold() -> None:
    slow, body, results = Slow(), talk(40), list[Any]()
    policy = Policy(max_tokens=2_000, keep_tokens=400, window=3_000)
    wrapper = middleware(slow, policy)
    first = threading.Thread(target=lambda: results.append(wrapper.fold([*instructions(1), *body])))
    first.start()
    wait_until(lambda: slow.asked == 1)
    threading.Timer(0.3, slow.may_end.set).start()
    second = wrapper.fold([*instructions(2), *body])
    first.join()
    assert (second.outcome.reason, summaries(second.items)) == ("reused", 1)
    assert slow.asked == 1
