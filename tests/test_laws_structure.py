"""Laws 1, 2, 3 and 8: the list stays native, whole, and what its provider takes."""

from __future__ import annotations

import copy
from collections import Counter, UserList, deque
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import (
    LIMITS,
    Weightless,
    context,
    fold,
    limits,
    positions,
    said,
    same_objects,
    short,
    step,
    ways,
)
from strategies import SHAPES, ExpectedCall, History, broken, histories
from validator import lost_partners, normalise, validate

from chatfold import ChatContext, InvalidResultError, Prompt, ToolCallRecord
from chatfold.shapes import shape_named

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
    rest = [item for item in items if item is not outcome.item]
    assert len(items) - len(rest) == outcome.changed
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
    left = [item for item in ctx.items if not any(item is m for m in moved)]
    if outcome.changed:
        kept = [item for item in plan.kept if not any(item is m for m in moved)]
        assert same_objects(left, [*history.items[:start], outcome.item, *kept, *tail])
        assert same_objects(outcome.removed, plan.head)
        assert not moved or history.shape == "anthropic"
    else:
        assert same_objects(ctx.items, history.items)


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
    assert ctx.items == [] and ctx.items is ctx.items
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
    assert set(ctx.cut_points()) <= set(points) and points == sorted(set(points))
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
    bound = [
        range(c.call_index + 1, (c.result_index if c.completed else len(history.items)) + 1)
        for c in context(history).tool_calls()
        if c.call_index is not None and c.result_index != c.call_index and c.status != "abandoned"
    ]
    free = [i for i in range(len(history.items) + 1) if not any(i in span for span in bound)]
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
    before = {i: item for i, item in enumerate(history.items)}
    outcome = fold(ctx, way=way, **limit)
    gone = set(positions(outcome.removed, history.items)) if outcome.changed else set()
    for call in history.calls:
        if call.result_index is not None:
            assert (call.call_index in gone) == (call.result_index in gone)
    left = [(c.id, before[c.call_index], before.get(c.result_index or -1)) for c in history.calls
            if c.call_index not in gone]
    found = [
        (c.id, ctx.items[c.call_index], ctx.items[c.result_index] if c.completed else None)
        for c in ctx.tool_calls()
        if c.call_index is not None
    ]
    assert Counter((i, id(a), id(b)) for i, a, b in found) == Counter(
        (i, id(a), id(b)) for i, a, b in left
    )


@given(history=histories(broken=True, opaque=True), other=st.none() | histories(max_turns=1))
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


# --- Law 3: open calls stay -----------------------------------------------------------------------


def live(history: History) -> list[tuple[int, str]]:
    """Return the index and the label of each open call and pending approval."""
    asked = [(i, str(normalise(history.items[i])["id"])) for i in history.approvals]
    return asked + [(c.call_index, c.id or c.name) for c in history.calls if c.status == "open"]


@given(history=histories(broken=True), limit=limits, way=ways)
def test_law_3_live_calls_and_pending_approvals_stay_at_any_keep(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """What the host or the user may still answer is in the list after every fold."""
    ctx = context(history)
    fold(ctx, way=way, **limit)
    left = {id(item) for item in ctx.items}
    for index, _ in live(history):
        assert id(history.items[index]) in left


@given(history=histories(broken=True), way=ways)
def test_law_3_the_outcome_names_what_blocks(history: History, way: str) -> None:
    """With no turn to keep every live call is in the way, and each is named; no other is."""
    labels = {label for _, label in live(history)}
    outcome = fold(context(history), way=way, keep_last_turns=0)
    assert set(outcome.blocked_by) == labels
    assert len(outcome.blocked_by) == len(set(outcome.blocked_by))
    if outcome.reason == "blocked_by_open_calls":
        assert all(label in str(outcome) for label in labels)
    else:
        assert outcome.reason in ("summarized", "nothing_to_summarize", "no_gain")


@given(history=histories("openai_responses", broken=True), count=st.integers(1, 5))
def test_law_3_only_calls_before_the_kept_turns_block(history: History, count: int) -> None:
    """An open call among the turns that are kept anyhow is in nobody's way."""
    starts = [i for i in history.openers if i - 1 not in history.openers]
    stop = starts[-count] if count <= len(starts) else 0
    early = {label for index, label in live(history) if index < stop}
    assert set(context(history).plan(keep_last_turns=count).blocked_by) == early


@given(history=histories("openai_chat", broken=True, open_calls=False))
def test_law_3_abandoned_calls_block_nothing(history: History) -> None:
    """A call that a later user message passed by leaves with the rest, and says so."""
    assert all(c.status != "open" for c in history.calls)
    prompts: list[Prompt] = []

    def note(prompt: Prompt) -> str:
        prompts.append(prompt)
        return "gone"

    ctx = context(history)
    outcome = fold(ctx, note, keep_last_turns=0)
    assert outcome.blocked_by == ()
    lost = sum(c.status == "abandoned" for c in history.calls)
    gone = {id(item) for item in outcome.removed}
    passed = [c for c in history.calls if c.status == "abandoned"]
    if outcome.changed and all(id(history.items[c.call_index]) in gone for c in passed):
        assert prompts[0].user.count('result="no result recorded"') >= lost


@given(
    history=histories("openai_responses", open_calls=False),
    place=st.integers(0, 4),
    by_id=st.booleans(),
    way=ways,
)
def test_law_3_asynchronous_calls_wait_until_the_caller_gives_them_up(
    history: History, place: int, by_id: bool, way: str
) -> None:
    """`abandon` frees the way by id or by a function; without it the call stays."""
    call = {"type": "function_call", "call_id": "slow", "name": "slow", "arguments": "{}"}
    call["async"] = True  # type: ignore[assignment]
    places = [index + 1 for index in history.openers] or [len(history.items)]
    at = places[place % len(places)]
    bye = [{"role": "user", "content": "thanks"}, {"role": "assistant", "content": "bye"}]
    items = [*history.items[:at], call, *history.items[at:], *bye]
    ctx = context(history, items)
    assert fold(ctx, way=way, keep_last_turns=0).blocked_by == ("slow",)
    assert any(item is call for item in items)
    abandon: Any = ["slow"] if by_id else lambda record: record.name == "slow"
    outcome = fold(ctx, way=way, keep_last_turns=0, abandon=abandon)
    assert outcome.changed and outcome.blocked_by == ()
    assert not any(item is call for item in items)


def test_law_3_a_text_is_no_list_of_ids() -> None:
    """`abandon="call_1"` would give up calls named `c`, `a`, ...: it is refused."""
    ctx = ChatContext([{"role": "user", "content": "hello"}] * 3)
    with pytest.raises(TypeError, match="list of call ids"):
        ctx.summarize(short, abandon="call_1")


def test_law_3_an_approved_call_that_is_yet_to_be_made_stays() -> None:
    """The approval's request and answer are what the server finds the call by."""
    ask = {"type": "mcp_approval_request", "id": "a1", "server_label": "m", "name": "pay",
           "arguments": "{}"}
    grant = {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True}
    talk = [{"role": "user", "content": "pay"}, {"role": "assistant", "content": "I will. " * 99}]
    items: list[Any] = [*talk, talk[0], ask, grant]
    for limit in LIMITS:
        ctx = ChatContext(list(items))
        fold(ctx, **limit)
        assert ctx.items[-2] is ask and ctx.items[-1] is grant


# --- Law 8: the result is sendable ----------------------------------------------------------------


ONE_FAULT = {
    "system_first": "system",
    "system_placement": "system",
    "orphan_result": "result",
    "results_first": "result",
}


def faults(items: list[Any], shape: str) -> Counter[tuple[str, int]]:
    """Return what the second validator finds, an open end aside, by rule and item.

    An item that stands where Anthropic refuses it has one fault, however many neighbours mind.
    """
    found = [(v.rule, id(items[v.index])) for v in validate(items, shape) if not v.open]
    placed = {(ONE_FAULT[rule], item) for rule, item in found if rule in ONE_FAULT}
    return Counter([*placed, *(fault for fault in found if fault[0] not in ONE_FAULT)])


def own_errors(ctx: ChatContext[Any]) -> Counter[tuple[str, int]]:
    """Return what `check` calls an error, by rule and item."""
    errors = (p for p in ctx.check() if p.severity == "error")
    return Counter((p.rule, id(ctx.items[p.index])) for p in errors)


@given(history=histories(), hinted=st.booleans(), half=st.integers(0, 1))
def test_law_8_a_valid_list_stays_valid(history: History, hinted: bool, half: int) -> None:
    """After a fold neither `check` nor a second validator finds an error, at any limits."""
    assert history.valid
    known = own_errors(context(history))
    for limit in LIMITS[half::2]:
        ctx = context(history, shape=history.shape if hinted else None)
        fold(ctx, **limit)
        assert not faults(ctx.items, history.shape)
        assert not lost_partners(history.items, ctx.items, history.shape)
        assert own_errors(ctx) <= known


@given(history=histories(), limit=limits, pins=st.sets(st.integers(0, 30), max_size=4))
def test_law_8_whatever_is_pinned_the_list_stays_valid(
    history: History, limit: dict[str, Any], pins: set[int]
) -> None:
    """Pinned items stay, with all that cannot stay without them or they without it."""
    pinned = {id(item) for i, item in enumerate(history.items) if i in pins}
    ctx = context(history, pin=lambda item: id(item) in pinned)
    known = own_errors(ctx)
    fold(ctx, **limit)
    assert pinned <= {id(item) for item in ctx.items}
    assert not faults(ctx.items, history.shape)
    assert not lost_partners(history.items, ctx.items, history.shape)
    assert own_errors(ctx) <= known


@given(history=histories(broken=True, opaque=True), limit=limits)
def test_law_8_an_abandoned_call_makes_nothing_worse(
    history: History, limit: dict[str, Any]
) -> None:
    """Errors that the list had may stay or go; none comes."""
    ctx = context(history)
    known, own = faults(ctx.items, history.shape), own_errors(ctx)
    fold(ctx, **limit)
    assert faults(ctx.items, history.shape) <= known
    assert own_errors(ctx) <= own
    assert not lost_partners(history.items, ctx.items, history.shape)


@given(history=broken(histories(broken=True), junk=True), limit=limits, hinted=st.booleans())
def test_law_8_a_broken_list_is_never_made_worse(
    history: History, limit: dict[str, Any], hinted: bool
) -> None:
    """Deleted, doubled, swapped and malformed items: a fold adds no error, or is refused."""
    ctx = context(history, shape=history.shape if hinted else None)
    known, own = faults(ctx.items, history.shape), own_errors(ctx)
    try:
        fold(ctx, **limit)
    except InvalidResultError as error:
        assert error.problems and all(p.severity == "error" for p in error.problems)
        assert same_objects(ctx.items, history.items)
    assert own_errors(ctx) <= own
    assert faults(ctx.items, history.shape) <= known


@given(history=histories("anthropic"), limit=limits, role=st.sampled_from(["assistant", "system"]))
def test_law_8_a_role_that_the_provider_refuses_up_front_is_refused(
    history: History, limit: dict[str, Any], role: str
) -> None:
    """A Messages list cannot begin with anybody but the user, so such a summary changes nothing."""
    ctx = context(history)
    assume(ctx.plan(**limit))
    with pytest.raises(InvalidResultError) as caught:
        fold(ctx, summary_role=role, **limit)
    assert "first_role" in [p.rule for p in caught.value.problems]
    assert same_objects(ctx.items, history.items)


class Bad:
    """A shape whose summary items the provider would not take."""

    def __init__(self, name: str, item: dict[str, Any]) -> None:
        self._shape = shape_named(name)
        self._item = item

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shape, name)

    def summary_item(self, text: str, *, role: str) -> Any:
        item = copy.deepcopy(self._item)
        if isinstance(item["content"], str):
            return {**item, "content": text}
        return {**item, "content": [{"type": "text", "text": text}, *item["content"]]}


BAD = {
    "openai_chat": [
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "s", "type": "function", "function": {"arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "none", "content": ""},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": " "}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "none"}]},
        {"role": "assistant", "content": []},
    ],
    "openai_responses": [
        {"type": "message", "role": "assistant", "content": [
            {"type": "function_call", "call_id": "s", "name": "f", "arguments": "{}"}]},
    ],
}


@given(history=histories(), limit=limits, number=st.integers(0, 2), way=ways)
def test_law_8_a_summary_item_that_breaks_a_rule_is_refused(
    history: History, limit: dict[str, Any], number: int, way: str
) -> None:
    """The new list is judged before the swap, whoever wrote the shape."""
    examples = BAD[history.shape]
    ctx = context(history, shape=Bad(history.shape, examples[number % len(examples)]))
    assume(ctx.plan(**limit))
    with pytest.raises(InvalidResultError):
        fold(ctx, way=way, **limit)
    assert same_objects(ctx.items, history.items)


def test_law_8_the_list_is_judged_as_it_is_when_the_summary_arrives() -> None:
    """An instruction that was to go to the end would now stand before a user's message."""
    long = "much was said about it. " * 40
    items: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": long}]},
        {"role": "system", "content": "from now on, be brief"},
        {"role": "assistant", "content": long},
        {"role": "user", "content": "and then?"},
    ]
    before, late = list(items), {"role": "user", "content": "are you there?"}

    def slow(prompt: Prompt) -> str:
        items.append(late)
        return "short"

    ctx = ChatContext(items, shape="anthropic")
    plan = ctx.plan(keep_last_turns=1)
    assert plan.split.moved == {1: 4}
    with pytest.raises(InvalidResultError) as caught:
        ctx.summarize(slow, keep_last_turns=1)
    assert [p.rule for p in caught.value.problems] == ["system_place"]
    assert same_objects(items, [*before, late])
    assert fold(ctx, keep_last_turns=1).changed and not own_errors(ctx)
