"""Laws 1 and 2: items stay what they are, and nothing that belongs together is parted."""

from __future__ import annotations

from collections import Counter, UserList, deque
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laws import (
    LIMITS,
    context,
    fold,
    limits,
    parted,
    positions,
    said,
    same_objects,
    short,
    step,
    talk,
    ways,
)
from strategies import SHAPES, ExpectedCall, History, histories
from validator import lost_partners, normalise

from chatfold import ChatContext, ToolCallRecord

# --- Law 1: native stays native -------------------------------------------------------------------


@given(history=histories(), way=ways, limit=limits)
def test_law_1_a_fold_moves_items_and_copies_or_edits_none(
    history: History, way: str, limit: dict[str, Any]
) -> None:
    """The list is the caller's; each item is the same object, in it or removed, and unedited."""
    items, before = list(history.items), said(history.items)
    ctx = context(history, items)
    outcome = fold(ctx, way=way, **limit)
    assert ctx.items is items
    rest = [item for item in parted(items, outcome) if item is not outcome.item]
    assert len(parted(items, outcome)) - len(rest) == outcome.changed
    everything = [*outcome.removed, *rest]
    assert sorted(positions(everything, history.items)) == list(range(len(history.items)))
    assert said(history.items) == before


@given(history=histories(), way=ways, limit=limits)
def test_law_1_prefix_and_tail_are_the_same_objects_in_the_same_order(
    history: History, way: str, limit: dict[str, Any]
) -> None:
    """Behind the cut nothing changes, but for instructions that Anthropic wants elsewhere."""
    ctx = context(history)
    plan = ctx.plan(**limit)
    outcome = fold(ctx, way=way, **limit)
    assert same_objects(outcome.kept, plan.kept)
    start, tail = plan.split.start, history.items[plan.index :]
    moved = [history.items[i] for i in plan.split.moved]
    now = parted(ctx.items, outcome)
    left = [item for item in now if not any(item is m for m in moved)]
    if outcome.changed:
        kept = [item for item in plan.kept if not any(item is m for m in moved)]
        assert same_objects(left, [*history.items[:start], outcome.item, *kept, *tail])
        assert same_objects(outcome.removed, plan.head)
        assert not moved or history.shape == "anthropic"
    else:
        assert same_objects(ctx.items, history.items)


@given(history=histories("anthropic"), size=st.integers(1, 9))
def test_law_1_instructions_that_are_moved_do_not_pass_each_other(
    history: History, size: int
) -> None:
    """The later one holds: a list that is folded as it grows must not turn them round."""
    views = context(history).views()
    told = [item for item, view in zip(history.items, views, strict=True) if view.role == "system"]
    items: list[Any] = []
    ctx = context(history, items)
    known = {id(item) for item in told}
    for start in range(0, len(history.items), size):
        items += history.items[start : start + size]
        fold(ctx, keep_last_turns=1)
        left = [item for item in items if normalise(item).get("role") == "system"]
        assert known.issuperset(map(id, left))
        shown = [item for at, item in enumerate(items) if not _is_spent(items, at)]
        shown = [item for item in shown if id(item) in known]
        assert positions(shown, told) == sorted(positions(shown, told))
        given = {id(item) for item in history.items[: start + size]}
        lasting = [id(each) for each in told if id(each) in given and not each.get("clear_at")]
        assert set(lasting) <= {id(each) for each in left}


def _is_spent(items: Sequence[Any], at: int) -> bool:
    """Return whether an item is an instruction for a turn that has passed.

    The model is not shown it any more, so another may pass it.
    """
    last = normalise(items[at]).get("clear_at") == "next_user_message"
    return last and any(normalise(item).get("role") == "user" for item in items[at + 1 :])


def test_law_1_an_instruction_stands_before_a_spent_one_that_is_in_the_only_place() -> None:
    """They are judged together, and the older one comes first."""
    rule = {"role": "system", "content": "Be brief."}
    spent = {"role": "system", "content": "In German now.", "clear_at": "next_user_message"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {}}
    first, second = talk(2)[:2], talk(2)[2:]
    items: list[Any] = [first[0], rule, first[1], second[0], spent]
    items += [{"role": "assistant", "content": [call]}]  # behind it is no place, nor before it
    ctx = ChatContext(items, shape="anthropic")
    assert ctx.summarize(short, keep_last_turns=1).changed
    assert [item["role"] for item in items[1:]] == ["user", "system", "system", "assistant"]
    assert items[2] is rule
    assert items[3] is spent
    assert [problem.severity for problem in ctx.check()] == ["pending"]  # the call is open


def test_law_1_instructions_stand_side_by_side_in_one_place() -> None:
    """One behind the question, for three: each as it was, in their order."""
    rules = [{"role": "system", "content": f"Rule {n}."} for n in range(3)]
    items: list[Any] = talk(3)
    for at, rule in zip((5, 3, 1), reversed(rules), strict=True):
        items.insert(at, rule)
    items += [{"role": "user", "content": "And now?"}]
    before = list(items)
    ctx = ChatContext(items, shape="anthropic")
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert same_objects(outcome.kept, rules)
    assert outcome.merged == ()
    assert same_objects(items[1:], [before[-1], *rules])
    assert not ctx.check()
    assert ctx.undo()
    assert same_objects(items, before)


def test_law_1_a_later_instruction_stays_the_later_one() -> None:
    """The newer one may stand in the tail, in the first place that the provider allows."""
    english, german = (
        {"role": "system", "content": f"Answer in {language}."}
        for language in ("English", "German")
    )
    items: list[Any] = talk(4)
    items[1:1] = [english]
    ctx = ChatContext(items, shape="anthropic")
    assert ctx.summarize(short, keep_last_turns=1)
    items += [*talk(2), {"role": "user", "content": "And now?"}, german]
    items += [{"role": "assistant", "content": "Gut."}, *talk(3)]
    for turns in (4, 2):
        assert ctx.summarize(short, keep_last_turns=turns)
        assert [item for item in items if item["role"] == "system"] == [english, german]
        assert not ctx.check()


@given(history=histories(broken=True, opaque=True), limit=limits)
def test_law_1_reading_and_planning_change_nothing(history: History, limit: dict[str, Any]) -> None:
    """Whoever only looks finds the list, and each item, as it was."""
    ctx, before = context(history), said(history.items)
    for read in (ctx.views, ctx.tool_calls, ctx.turns, ctx.cut_points, ctx.check):
        read()
    ctx.count_tokens(), ctx.count_tool_calls(), ctx.requirements(), ctx.request_options()
    ctx.cut_points(lossy=True), ctx.plan(**limit), ctx.flow(**limit), repr(ctx), ctx.shape
    assert same_objects(ctx.items, history.items)
    assert said(history.items) == before


@given(history=histories("openai_responses") | histories("openai_chat"))
def test_law_1_what_model_dump_wrote_reads_as_the_object_did(history: History) -> None:
    """Hosts store items with every field that was not set, and with Python's names of fields."""
    stored = [
        item.model_dump(warnings=False) if hasattr(item, "model_dump") else item
        for item in history.items
    ]
    ctx, twin = context(history), context(history, stored)
    assert list(map(facts, ctx.tool_calls())) == list(map(facts, twin.tool_calls()))
    assert ctx.turns() == twin.turns()
    assert ctx.cut_points() == twin.cut_points()


@given(history=histories())
def test_law_1_sdk_objects_read_as_the_dicts_they_stand_for(history: History) -> None:
    """An item that the SDK returned and the same item out of a database are one thing."""
    plain = [normalise(item) for item in history.items]
    ctx, twin = context(history), context(history, plain)
    assert ctx.views() == twin.views()
    assert ctx.tool_calls() == twin.tool_calls()
    assert ctx.cut_points() == twin.cut_points()


@pytest.mark.parametrize(
    "items", [(), iter([]), {}, "[]", deque(), UserList(), range(0), {"messages": []}]
)
def test_law_1_only_a_list_is_wrapped(items: Any) -> None:
    """A copy would be folded in vain, so anything else is refused with what to do instead."""
    with pytest.raises(TypeError, match=r"pass list\(items\)"):
        ChatContext(items)


def test_law_1_the_list_cannot_be_exchanged() -> None:
    """A context is about one list for good."""
    ctx: ChatContext[Any] = ChatContext()
    assert ctx.items == []
    assert ctx.items is ctx.items
    with pytest.raises(AttributeError):
        ctx.items = []  # type: ignore[misc]


# --- Law 2: nothing that belongs together is parted -----------------------------------------------


def facts(call: ToolCallRecord | ExpectedCall) -> tuple[Any, ...]:
    """Return what has to be found out about a call."""
    places = (call.call_index, call.result_index)
    return (call.id, call.name, *places, call.status, call.asynchronous)


@given(history=histories(broken=True, opaque=True), hinted=st.booleans())
def test_law_2_each_call_gets_its_own_result(history: History, hinted: bool) -> None:
    """Parallel, crossed, late, reused and missing ids: a result binds by its position."""
    ctx = context(history, shape=history.shape if hinted else None)
    found, wanted = ctx.tool_calls(), history.calls
    assert Counter(map(facts, found)) == Counter(map(facts, wanted))
    texts = {(c.call_index, c.result_index): set[str]() for c in found}
    for record in found:
        texts[record.call_index, record.result_index].add(record.result)
    for call in wanted:
        if call.result_text is not None:
            assert call.result_text in texts[call.call_index, call.result_index]
    assert ctx.count_tool_calls() == len(wanted)
    done = sum(call.result_index is not None for call in wanted)
    assert ctx.count_tool_calls(completed_only=True) == done


@given(
    shape=st.sampled_from(SHAPES),
    steps=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=5),
    id_=st.sampled_from(["x", None]),
)
def test_law_2_a_result_goes_to_the_first_waiting_call_of_the_latest_step(
    shape: str, steps: list[tuple[int, int]], id_: str | None
) -> None:
    """One id, or none, for every call: earlier steps that wait in vain catch no result."""
    items: list[Any] = []
    expected: list[str] = []
    for number, (count, answered) in enumerate(steps):
        outputs = [f"{number}.{n}" for n in range(min(count, answered))]
        items += [{"role": "user", "content": "go"}, *step(shape, id_, count, outputs)]
        expected += outputs + [""] * (count - len(outputs))
    found = ChatContext(items, shape=shape).tool_calls()
    assert [call.result for call in found] == expected
    assert [call.completed for call in found] == [bool(text) for text in expected]
    assert {call.id for call in found} == {id_}


@given(history=histories(broken=True, opaque=True))
def test_law_2_a_cut_point_lies_in_no_call_and_needs_no_lost_item(history: History) -> None:
    """What a cut leaves has no result without its call, and no item without its reasoning."""
    ctx = context(history)
    points = ctx.cut_points(lossy=True)
    assert set(ctx.cut_points()) <= set(points)
    assert points == sorted(set(points))
    live = [c for c in history.calls if c.status == "open"]
    first_open = min([c.call_index for c in live] + history.approvals, default=len(history.items))
    for cut in points:
        assert cut <= first_open
        for call in history.calls:
            assert call.result_index is None or not call.call_index < cut <= call.result_index
        tail = history.items[cut:]
        assert not lost_partners(history.items, tail, history.shape)


@given(history=histories("openai_chat", broken=True))
def test_law_2_every_place_between_two_chat_groups_is_a_cut_point(history: History) -> None:
    """Nothing but calls binds Chat messages, so all other places are free."""
    end = len(history.items)
    bound = [
        range(c.call_index + 1, (end if c.result_index is None else c.result_index) + 1)
        for c in history.calls
        if not c.abandoned
    ]
    free = [i for i in range(end + 1) if not any(i in span for span in bound)]
    assert context(history).cut_points() == free


@given(history=histories(broken=True, opaque=True))
def test_law_2_every_cut_is_a_cut_point(history: History) -> None:
    """Whatever limits are asked for, the plan's cut parts nothing."""
    ctx = context(history)
    points = ctx.cut_points()
    for limit in LIMITS:
        plan = ctx.plan(**limit)
        assert plan.index in points if plan else plan.index == plan.split.start


@given(history=histories(broken=True), limit=limits, way=ways)
def test_law_2_after_a_fold_the_same_calls_have_the_same_results(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """Calls and results leave together or stay together, and no result changes its call."""
    ctx = context(history)
    before: dict[int | None, Any] = dict(enumerate(history.items))
    outcome = fold(ctx, way=way, **limit)
    after: dict[int | None, Any] = dict(enumerate(ctx.items))
    gone = set(positions(outcome.removed, history.items)) if outcome.changed else set()
    for call in history.calls:
        if call.result_index is not None:
            assert (call.call_index in gone) == (call.result_index in gone)
    left = [
        (c.id, before[c.call_index], before.get(c.result_index))
        for c in history.calls
        if c.call_index not in gone
    ]
    found = [
        (c.id, after[c.call_index], after.get(c.result_index))
        for c in ctx.tool_calls()
        if c.call_index is not None
    ]
    assert Counter((i, id(a), id(b)) for i, a, b in found) == Counter(
        (i, id(a), id(b)) for i, a, b in left
    )


@pytest.mark.parametrize("pinned", ["program", "nested", "answer", "end"])
def test_law_2_a_pinned_item_of_a_program_keeps_the_whole_program(pinned: str) -> None:
    """The API refuses a call whose program is missing, and a program without its output."""
    program = {"type": "program", "id": "p", "call_id": "p1", "code": "go()", "fingerprint": "f"}
    end = {"type": "program_output", "id": "o", "call_id": "p1", "result": "ok"}
    caller = {"type": "program", "caller_id": "p1"}
    nested, answer = [
        {**item, "caller": caller} for item in step("openai_responses", "n", 1, ["x"])
    ]
    named = {"program": program, "nested": nested, "answer": answer, "end": end}
    items = [*talk(1), program, nested, answer, end, *talk(2)]
    ctx = ChatContext(items, pin=lambda item: item is named[pinned])
    assert fold(ctx, keep_last_turns=1).kept == (program, nested, answer, end)


SPOKEN = {"role": "assistant", "content": "ok", "audio": {"id": "audio_1"}}
WRITTEN = {"role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}


@given(history=histories(broken=True, opaque=True), other=st.none() | histories(max_turns=1))
@example(  # the first item is read in another way once the second has settled the shape
    history=History("openai_chat", [SPOKEN], [], []),
    other=History("openai_responses", [WRITTEN], [], []),
)
def test_law_2_a_growing_list_is_read_as_if_it_had_always_been_whole(
    history: History, other: History | None
) -> None:
    """Reading after each item comes to what one reading of the whole list comes to."""
    items = [*history.items, *(other.items if other else ())]
    ctx = context(history, [], shape=None)
    for item in items:
        ctx.append(item)
        ctx.tool_calls()
    whole = context(history, items, shape=None)
    assert ctx.tool_calls() == whole.tool_calls()
    assert ctx.cut_points() == whole.cut_points()
    assert ctx.check() == whole.check()
    assert ctx.count_tokens() == whole.count_tokens()
