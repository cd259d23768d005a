"""Law 5: what arrives while the model writes is kept, and nothing else changes the list then."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import (
    WAYS,
    context,
    fewer,
    fold,
    limits,
    parted,
    said,
    same_objects,
    short,
    talk,
    ways,
)
from strategies import History, histories
from validator import normalise

from chatfold import (
    BusyError,
    ChatContext,
    Completion,
    InvalidResultError,
    Outcome,
    Prompt,
    StaleHeadError,
    Usage,
)
from chatfold.stores import MemoryStore, StoredFold

USAGE = Usage(7, 3)


# --- appended meanwhile ---------------------------------------------------------------------------


@given(history=histories(), limit=limits, count=st.integers(1, 4), way=ways)
def test_law_5_what_the_callback_appends_stays_behind_the_tail(
    history: History, limit: dict[str, Any], count: int, way: str
) -> None:
    """Items that came during the call are the last, in order, and were not in the prompt."""
    new, ctx = [{"role": "user", "content": f"late {n}"} for n in range(count)], context(history)
    plan = ctx.plan(**limit)
    assume(plan and not plan.split.moved)

    def appending(prompt: Prompt) -> str:
        assert same_objects(ctx.items, history.items)
        ctx.extend(new[:1])
        ctx.items.extend(new[1:])
        return "summary"

    outcome = fold(ctx, appending, way=way, **limit)
    tail = history.items[plan.index :]
    start = history.items[: plan.split.start]
    now = parted(ctx.items, outcome)
    assert same_objects(now, [*start, outcome.item, *plan.kept, *tail, *new])


@fewer
@given(history=histories(), limit=limits, count=st.integers(1, 40))
def test_law_5_what_another_thread_appends_stays_behind_the_tail(
    history: History, limit: dict[str, Any], count: int
) -> None:
    """A voice transcript that grows all the while loses no line and changes no order."""
    ctx, new = context(history), [{"role": "user", "content": f"late {n}"} for n in range(count)]
    plan = ctx.plan(**limit)
    assume(plan and not plan.split.moved)
    begun = threading.Event()

    def speak() -> None:
        begun.wait(5)
        for item in new:
            ctx.append(item)

    thread = threading.Thread(target=speak)
    thread.start()

    def answering(prompt: Prompt) -> str:
        begun.set()
        return "summary"

    outcome = fold(ctx, answering, **limit)
    thread.join(5)
    assert outcome.changed
    tail = history.items[plan.index :]
    assert same_objects(parted(ctx.items, outcome)[-count - len(tail) :], [*tail, *new])


def test_who_appends_without_end_does_not_hold_a_fold_up() -> None:
    """Each time that the store writes, there is more: the fold ends, and all of that is kept."""
    items: list[Any] = talk(12)
    said: list[Any] = []

    class Growing(MemoryStore):
        def save(self, fold: StoredFold) -> None:
            assert len(said) < 50, "it never ends"
            said.append({"role": "user", "content": f"one more, {len(said)}"})
            items.append(said[-1])
            super().save(fold)

    store = Growing()
    ctx = ChatContext(items, store=store, key="k")
    tail = items[-2:]
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert outcome.changed
    assert same_objects(items, [outcome.item, *tail, *said])
    stored = store.load("k", outcome.fold_id or "")
    assert stored is not None
    assert len(stored.items) == len(outcome.removed)
    assert ctx.undo().changed
    assert same_objects(items, [*outcome.removed, *tail, *said])


@fewer
@given(history=histories(), limit=limits, count=st.integers(1, 5))
def test_law_5_what_another_task_appends_stays_behind_the_tail(
    history: History, limit: dict[str, Any], count: int
) -> None:
    """The agent goes on while `asummarize` waits for its model."""
    ctx, new = context(history), [{"role": "user", "content": f"late {n}"} for n in range(count)]
    plan = ctx.plan(**limit)
    assume(plan and not plan.split.moved)

    async def slow(prompt: Prompt) -> str:
        for _ in range(2 * count + 2):
            await asyncio.sleep(0)
        return "summary"

    async def run() -> Outcome[Any]:
        task = asyncio.create_task(ctx.asummarize(slow, timeout=None, **limit))
        for item in new:
            await asyncio.sleep(0)
            ctx.append(item)
        return await task

    outcome = asyncio.run(run())
    assert outcome.changed
    tail = history.items[plan.index :]
    assert same_objects(parted(ctx.items, outcome)[-count - len(tail) :], [*tail, *new])


def test_law_5_a_plan_can_wait_while_the_conversation_goes_on() -> None:
    """A host that makes its own model call applies the summary turns later."""
    items = talk()
    ctx = ChatContext(items)
    plan = ctx.plan(keep_last_turns=1)
    for n in range(20):
        ctx.extend([{"role": "user", "content": f"q{n}"}, {"role": "assistant", "content": "a"}])
    tail = items[plan.index :]
    outcome = ctx.apply(plan, "short")
    assert outcome.changed
    assert same_objects(items, [outcome.item, *tail])


def instructed(*more: Any) -> list[Any]:
    """Return Anthropic messages with an instruction in the middle, the last of them a question."""
    words = talk(1)[0]["content"]
    return [
        {"role": "user", "content": words},
        {"role": "system", "content": "Answer in French."},
        {"role": "assistant", "content": words},
        *more,
        {"role": "user", "content": "And then?"},
    ]


@given(history=histories("anthropic"), limit=limits, count=st.integers(1, 3), way=ways)
def test_law_5_what_arrives_meanwhile_stays_behind_an_instruction_that_goes_further_back(
    history: History, limit: dict[str, Any], count: int, way: str
) -> None:
    """Where an instruction may stand is asked of the list as it is when the summary is put in."""
    items = [*instructed()[:3], *history.items]
    new = [{"role": "user", "content": f"late {n}"} for n in range(count)]
    ctx = context(history, items)
    plan = ctx.plan(**limit)
    assume(plan and plan.split.moved)
    assume(ctx.views()[-1].role != "system")  # behind an instruction no user may speak

    def appending(prompt: Prompt) -> str:
        ctx.extend(new)
        return "summary"

    tail = [*items[plan.index :], *new]
    outcome = fold(ctx, appending, way=way, **limit)
    assert outcome.changed
    if not any(isinstance(i, dict) and "clear_at" in i for i in plan.kept):
        assert same_objects(outcome.kept, plan.kept)
    moved = {id(item) for item in plan.kept}
    assert moved <= {id(item) for item in outcome.kept}
    here = [item for item in parted(ctx.items, outcome) if id(item) not in moved]
    assert same_objects(here[len(here) - len(tail) :], tail)


@pytest.mark.parametrize("way", sorted(WAYS))
def test_law_5_a_user_who_writes_again_meanwhile_is_heard_before_an_instruction(way: str) -> None:
    """The same list, folded at once, becomes the same."""
    items, late = instructed(), {"role": "user", "content": "And quickly."}
    rule, question = items[1], items[3]
    ctx = ChatContext(items, shape="anthropic")

    def appending(prompt: Prompt) -> str:
        items.append(late)
        return "summary"

    outcome = fold(ctx, appending, way=way, keep_last_turns=1)
    assert same_objects(items, [outcome.item, question, late, rule])
    assert ctx.check() == []
    at_once = [*instructed(), late]
    ChatContext(at_once, shape="anthropic").summarize(lambda p: "summary", keep_last_turns=1)
    assert normalise(items) == normalise(at_once)
    assert ctx.undo().changed
    assert same_objects(items[1:], [rule, items[2], question, late])


@pytest.mark.parametrize("way", sorted(WAYS))
def test_law_5_an_instruction_goes_before_one_that_arrives_meanwhile(way: str) -> None:
    """Its owner tells the model something else: an earlier instruction does not go behind that."""
    more = talk(1)
    items, late = instructed(*more), {"role": "system", "content": "Be brief."}
    around, question = items[:3], items[-1]
    ctx = ChatContext(items, shape="anthropic")

    def appending(prompt: Prompt) -> str:
        items.append(late)
        return "summary"

    outcome = fold(ctx, appending, way=way, keep_last_turns=1)
    assert same_objects(items, [outcome.item, question, around[1], late])
    assert same_objects(outcome.kept, around[1:2])
    assert same_objects(outcome.removed, [around[0], around[2], *more])
    assert ctx.check() == []
    assert ctx.undo().changed
    assert same_objects(items, [*around, *more, question, late])


def test_law_5_an_instruction_for_the_turn_before_does_not_hold_for_what_arrives() -> None:
    """It was for one turn, and the user goes on meanwhile: it stays with the messages around it."""
    passing = {"role": "system", "content": "In verse.", "clear_at": "next_user_message"}
    words = talk(1)[0]["content"]
    items: list[Any] = [
        {"role": "user", "content": words},
        {"role": "assistant", "content": words},
        {"role": "user", "content": "b"},
        passing,
        {"role": "assistant", "content": words},
        {"role": "assistant", "content": "c"},
    ]
    ctx, answer, late = (
        ChatContext(items, shape="anthropic"),
        items[4],
        {"role": "user", "content": "d"},
    )
    plan = ctx.plan(keep_tokens=20)
    assert same_objects(plan.kept, [items[2], passing])
    asked, items[-1:] = items[2], [late]  # who takes the last words back, and asks something else
    outcome = ctx.apply(plan, "summary")
    assert same_objects(items, [outcome.item, asked, passing, answer, late])
    assert same_objects(outcome.kept, [asked, passing, answer])


def test_law_5_an_instruction_goes_before_one_that_has_to_stay_where_it_is() -> None:
    """The later of the two was for a turn that has ended, and holds nothing off from its answer."""
    passing = {"role": "system", "content": "In verse.", "clear_at": "next_user_message"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "get_order", "input": {}}
    asked, answer = {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}
    waits = {"role": "assistant", "content": [call]}
    items = [*instructed()[:3], asked, passing, answer, waits]
    ctx, rule, late = (
        ChatContext(items, shape="anthropic"),
        items[1],
        {"role": "user", "content": "d"},
    )
    before, plan = [*items], ctx.plan(keep_last_turns=0)
    items.append(late)  # who does not wait for the order
    outcome = ctx.apply(plan, "summary")
    assert same_objects(items, [outcome.item, asked, rule, passing, answer, waits, late])
    assert same_objects(outcome.kept, [rule, asked, passing, answer])
    assert ctx.undo().changed
    assert same_objects(items, [*before, late])


# --- changed meanwhile ----------------------------------------------------------------------------


def edit(items: list[Any], at: int) -> None:
    """Change an item in place, as hosts do that add cache markers or cut long outputs."""
    if isinstance(items[at], dict):
        items[at]["content" if "content" in items[at] else "note"] = "edited meanwhile"
    else:
        items[at].content = "edited meanwhile"


def remove(items: list[Any], at: int) -> None:
    """Take an item out."""
    del items[at]


def insert(items: list[Any], at: int) -> None:
    """Put an item in."""
    items.insert(at, {"role": "user", "content": "put in meanwhile"})


def exchange(items: list[Any], at: int) -> None:
    """Put another item in the place of one."""
    items[at] = {"role": "user", "content": "exchanged meanwhile"}


def rotate(items: list[Any], at: int) -> None:
    """Put an item last."""
    items.append(items.pop(at))


def clear(items: list[Any], at: int) -> None:
    """Begin anew."""
    items.clear()


CHANGES = [edit, remove, insert, exchange, rotate, clear]


def copied(history: History) -> list[Any]:
    """Return the history's items as new dicts, free to be edited."""
    return said(history.items)


@given(
    history=histories(),
    limit=limits,
    way=ways,
    change=st.sampled_from(CHANGES),
    place=st.integers(0, 50),
)
def test_law_5_a_head_that_changed_meanwhile_is_not_replaced(
    history: History,
    limit: dict[str, Any],
    way: str,
    change: Callable[[list[Any], int], None],
    place: int,
) -> None:
    """Edited in place, shortened, grown, exchanged or reordered: the fold is refused as stale."""
    items = copied(history)
    ctx = context(history, items)
    plan = ctx.plan(**limit)
    assume(plan)
    start, stop = plan.split.start, plan.index
    at = start + place % (stop - start)
    trial, left = copied(history), list[Any]()
    change(trial, at)
    assume(trial[start:stop] != items[start:stop])

    def meddling(prompt: Prompt) -> Completion:
        change(items, at)
        left.extend(items)
        return Completion("summary", usage=USAGE)

    with pytest.raises(StaleHeadError) as caught:
        fold(ctx, meddling, way=way, **limit)
    assert same_objects(items, left)
    if way != "apply":
        assert (caught.value.usage, caught.value.llm_calls) == (USAGE, 1)


@fewer
@given(history=histories(), limit=limits, way=ways, place=st.integers(0, 50))
def test_law_5_an_sdk_object_edited_in_the_head_is_noticed(
    history: History, limit: dict[str, Any], way: str, place: int
) -> None:
    """Content counts, not identity, for the SDKs' objects as for dicts."""
    objects = [item for item in history.items if not isinstance(item, dict)]
    assume(objects)
    ctx = context(history)
    plan = ctx.plan(**limit)
    inside = [o for o in objects if any(o is item for item in plan.region)]
    if not inside:
        return
    item = inside[place % len(inside)]

    def meddling(prompt: Prompt) -> str:
        setattr(item, "role" if hasattr(item, "role") else "status", "edited meanwhile")
        return "summary"

    with pytest.raises(StaleHeadError):
        fold(ctx, meddling, way=way, **limit)
    assert same_objects(ctx.items, history.items)


@fewer
@given(history=histories(), limit=limits, way=ways, ordered=st.booleans())
def test_law_5_equal_copies_are_not_refused(
    history: History, limit: dict[str, Any], way: str, ordered: bool
) -> None:
    """A host that reloads its list from a database meanwhile has the same head as before."""
    ctx = context(history)
    plan = ctx.plan(**limit)
    assume(plan and not plan.split.moved)
    again = json.loads(json.dumps(said(history.items), sort_keys=ordered))

    def reloading(prompt: Prompt) -> str:
        ctx.items[:] = again
        return "summary"

    outcome = fold(ctx, reloading, way=way, **limit)
    assert outcome.changed
    rest, now = again[plan.index :], parted(ctx.items, outcome)
    assert same_objects(now[len(now) - len(rest) :], rest)
    assert len(now) == plan.split.start + 1 + len(plan.kept) + len(rest)


@fewer
@given(history=histories(), limit=limits, way=ways, place=st.integers(0, 50))
def test_law_5_prefix_and_tail_may_change_meanwhile(
    history: History, limit: dict[str, Any], way: str, place: int
) -> None:
    """A clock in the system prompt and an edit in the tail are no business of the summary's."""
    items = copied(history)
    ctx = context(history, items)
    plan = ctx.plan(**limit)
    assume(plan and not plan.split.moved)
    outside = [*range(plan.split.start), *range(plan.index, len(items))]
    assume(outside)
    at = outside[place % len(outside)]

    def touching(prompt: Prompt) -> str:
        items[at]["metadata"] = {"clock": "12:00"}
        return "summary"

    item = items[at]
    outcome = fold(ctx, touching, way=way, **limit)
    assert outcome.changed
    assert any(left is item for left in parted(items, outcome))
    assert item["metadata"] == {"clock": "12:00"}


@fewer
@given(
    history=histories(),
    limit=limits,
    way=ways,
    change=st.sampled_from(CHANGES[:-1]),
    place=st.integers(0, 50),
)
def test_law_5_whatever_its_owner_does_to_the_tail_stays_done(
    history: History,
    limit: dict[str, Any],
    way: str,
    change: Callable[[list[Any], int], None],
    place: int,
) -> None:
    """An item taken out of the tail does not come back, and none that is there is lost."""
    items = copied(history)
    ctx = context(history, items)
    plan = ctx.plan(**limit)
    assume(plan)
    assume(plan.index < len(items))
    at = plan.index + place % (len(items) - plan.index)
    left: list[Any] = []

    def meddling(prompt: Prompt) -> str:
        change(items, at)
        left.extend(items)
        return "summary"

    try:
        outcome = fold(ctx, meddling, way=way, **limit)
    except (StaleHeadError, InvalidResultError):
        assert same_objects(items, left)
    else:
        moved = [left[i] for i in plan.split.moved]
        now = parted(items, outcome)
        stayed = [item for item in now if not any(item is m for m in moved)]
        tail = left[plan.index :]
        assert outcome.changed
        assert same_objects(stayed[len(stayed) - len(tail) :], tail)


def test_law_5_a_place_for_an_instruction_that_is_gone_makes_the_fold_stale() -> None:
    """It was to go behind the last message, and its owner took that message out meanwhile."""
    words = talk(1)[0]["content"]
    items: list[Any] = [
        {"role": "user", "content": words},
        {"role": "system", "content": "from now on, be brief"},
        {"role": "assistant", "content": words},
        {"role": "user", "content": "and then?"},
    ]
    ctx = ChatContext(items, shape="anthropic")
    assert ctx.plan(keep_last_turns=1).split.moved == {1: 4}
    left = items[:3]

    def meddling(prompt: Prompt) -> str:
        items.pop()
        return "summary"

    with pytest.raises((StaleHeadError, InvalidResultError)):
        fold(ctx, meddling, keep_last_turns=1)
    assert same_objects(items, left)


@given(history=histories("openai_responses", open_calls=False), way=ways, place=st.integers(0, 9))
def test_law_5_a_result_that_arrives_for_a_call_in_the_head_makes_the_fold_stale(
    history: History, way: str, place: int
) -> None:
    """The summary says that the call had no result, and now it has one."""
    call = {"type": "function_call", "call_id": "slow", "name": "slow", "arguments": "{}"}
    places = [index + 1 for index in history.openers] or [len(history.items)]
    at = places[place % len(places)]
    bye = [{"role": "user", "content": "thanks"}, {"role": "assistant", "content": "bye"}]
    items = [*history.items[:at], {**call, "async": True}, *history.items[at:], *bye]
    before, ctx = list(items), context(history, items)
    plan = ctx.plan(keep_last_turns=1, abandon=["slow"])
    assume(any(item is items[at] for item in plan.head))  # beside state and reasoning it stays
    result = {"type": "function_call_output", "call_id": "slow", "output": "late"}

    def arriving(prompt: Prompt) -> Completion:
        items.append(result)
        return Completion("summary", usage=USAGE)

    with pytest.raises(StaleHeadError, match="result arrived"):
        fold(ctx, arriving, way=way, keep_last_turns=1, abandon=["slow"])
    assert same_objects(items, [*before, result])


def asked_and_waiting() -> list[Any]:
    """Return a turn whose call may still be answered, as Responses items."""
    call = {"type": "function_call", "call_id": "slow", "name": "slow", "arguments": "{}"}
    return [
        {"role": "user", "content": "Where is it? " * 200},
        {**call, "async": True},
        {"role": "assistant", "content": "I am looking."},
    ]


def test_law_5_a_result_that_arrives_right_behind_the_head_makes_the_fold_stale() -> None:
    """Nothing was kept, so that it is the first item of the tail."""
    items = asked_and_waiting()
    before, ctx = [*items], ChatContext(items, shape="openai_responses")
    plan = ctx.plan(keep_last_turns=0, abandon=["slow"])
    assert plan.index == len(items)
    result = {"type": "function_call_output", "call_id": "slow", "output": "late"}
    items.append(result)
    with pytest.raises(StaleHeadError, match="result arrived"):
        ctx.apply(plan, "summary")
    assert same_objects(items, [*before, result])


def test_law_5_a_result_that_arrives_while_the_store_writes_makes_the_fold_stale() -> None:
    """The list is looked at once more behind the store: it may take its time."""
    items: list[Any] = [
        *asked_and_waiting(),
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "Bye."},
    ]
    result = {"type": "function_call_output", "call_id": "slow", "output": "late"}
    before, saved = [*items], list[str]()

    class Slow(MemoryStore):
        def save(self, fold: StoredFold) -> None:
            saved.append(fold.fold_id)
            if len(saved) == 1:
                items.append(result)
            super().save(fold)

    ctx = ChatContext(items, shape="openai_responses", store=Slow())
    with pytest.raises(StaleHeadError, match="result arrived"):
        ctx.summarize(lambda prompt: "summary", keep_last_turns=1, abandon=["slow"])
    assert len(saved) == 1
    assert same_objects(items, [*before, result])


# --- one at a time --------------------------------------------------------------------------------


@pytest.mark.parametrize("outer", ["summarize", "asummarize"])
@pytest.mark.parametrize("inner", ["summarize", "asummarize"])
def test_law_5_a_second_summarization_answers_busy(outer: str, inner: str) -> None:
    """It asks no model, waits for nobody and changes nothing."""
    ctx, seen = ChatContext(talk()), []

    def never(prompt: Prompt) -> str:
        raise AssertionError("asked twice")

    def asking(prompt: Prompt) -> str:
        def run() -> None:
            seen.append(fold(ctx, never, way=inner, keep_last_turns=1))

        thread = threading.Thread(target=run)  # a loop of its own for the inner asummarize
        thread.start()
        thread.join(5)
        assert len(ctx.items) == 6
        return "first"

    outcome = fold(ctx, asking, way=outer, keep_last_turns=1)
    assert [(o.changed, o.reason, o.llm_calls) for o in seen] == [(False, "busy", 0)]
    assert "wait=True" in str(seen[0])
    assert outcome.changed
    assert outcome.summary == "first"
    assert fold(ctx, short, way=inner, keep_last_turns=0).changed


def test_law_5_waiting_folds_one_after_the_other() -> None:
    """`wait=True` sees the list as the first summarization left it."""
    ctx, previous = ChatContext(talk()), []

    async def slow(prompt: Prompt) -> str:
        previous.append(prompt.previous_summary)
        await asyncio.sleep(0.02)
        return f"summary {len(previous)}"

    async def run() -> list[Any]:
        first = asyncio.create_task(ctx.asummarize(slow, keep_last_turns=2))
        await asyncio.sleep(0)
        others = [ctx.asummarize(slow, wait=True, keep_last_turns=k) for k in (1, 1)]
        return [await first, *await asyncio.gather(*others)]

    outcomes = asyncio.run(run())
    assert [o.reason for o in outcomes][:2] == ["summarized", "summarized"]
    assert outcomes[2].reason != "busy"
    assert not outcomes[2].changed
    assert previous == [None, "summary 1"]
    assert len(ctx.items) == 3


@pytest.mark.parametrize("way", ["summarize", "asummarize"])
def test_law_5_nothing_else_changes_the_list_during_a_summarization(way: str) -> None:
    """`apply` and `undo` refuse with BusyError, and the summarization goes on undisturbed."""
    ctx = ChatContext(talk())
    fold(ctx, keep_last_turns=2)
    before, plan = list(ctx.items), ctx.plan(keep_last_turns=1)

    def meddling(prompt: Prompt) -> str:
        with pytest.raises(BusyError, match=r"apply\(\)"):
            ctx.apply(plan, "other")
        with pytest.raises(BusyError, match=r"undo\(\)"):
            ctx.undo()
        assert same_objects(ctx.items, before)
        return "mine"

    outcome = fold(ctx, meddling, way=way, keep_last_turns=1)
    assert outcome.changed
    assert outcome.summary == "mine"
    assert ctx.undo().changed
    assert same_objects(ctx.items, before)


@fewer
@given(history=histories(), limit=limits, way=ways)
def test_law_5_two_contexts_over_one_list_do_not_both_fold_it(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """Whoever comes second finds that its head is gone."""
    items = list(history.items)
    ctx = context(history, items)
    assume(ctx.plan(**limit))
    left: list[Any] = []

    def racing(prompt: Prompt) -> str:
        assert fold(context(history, items), **limit).changed
        left.extend(items)
        return "second"

    with pytest.raises(StaleHeadError):
        fold(ctx, racing, way=way, **limit)
    assert same_objects(items, left)


@fewer
@given(history=histories(), limit=limits)
def test_law_5_a_plan_is_applied_once(history: History, limit: dict[str, Any]) -> None:
    """A retried request that applies the same plan again does not fold twice."""
    ctx = context(history)
    plan = ctx.plan(**limit)
    assume(plan)
    ctx.apply(plan, "first")
    left = list(ctx.items)
    with pytest.raises(StaleHeadError):
        ctx.apply(plan, "second")
    assert same_objects(ctx.items, left)


def test_law_5_a_given_up_answer_writes_nothing_later() -> None:
    """The thread of a cancelled `asummarize` answers into the void."""
    items, gate, done = talk(), threading.Event(), threading.Event()
    before = list(items)

    def late(prompt: Prompt) -> str:
        gate.wait(5)
        done.set()
        return "too late"

    async def run() -> None:
        task = asyncio.create_task(ChatContext(items).asummarize(late, keep_last_turns=1))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.set()
        await asyncio.to_thread(done.wait, 5)
        await asyncio.sleep(0.02)

    asyncio.run(run())
    assert same_objects(items, before)
    assert normalise(items) == normalise(before)
