"""Law 8: after every fold the provider takes the list, or takes it as little as before."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import LIMITS, context, fold, limits, parted, plainly, same_objects, step, talk, ways
from strategies import SHAPES, History, broken, histories
from validator import lost_partners, validate

from chatfold import ChatContext, ChatfoldError, InvalidResultError, Problem, Prompt
from chatfold.core.views import Placement, ResultPart, Shape
from chatfold.shapes import shape_named

ONE_FAULT = {
    "system_first": "system",
    "system_placement": "system",
    "orphan_result": "result",
    "duplicate_result": "result",  # an orphan, once the first result has gone with its call
    "orphan_output": "result",
    "duplicate_output": "result",
    "results_first": "result",
    "orphan_approval": "approval",
    "duplicate_approval": "approval",
}


def faults(items: list[Any], shape: str) -> Counter[tuple[str, int]]:
    """Return what the second validator finds, an open end aside, by rule and item.

    An item that stands where Anthropic refuses it has one fault, however many neighbours mind.
    """
    found = [(v.rule, id(items[v.index])) for v in validate(items, shape) if not v.open]
    placed = {(ONE_FAULT[rule], item) for rule, item in found if rule in ONE_FAULT}
    return Counter([*placed, *(fault for fault in found if fault[0] not in ONE_FAULT)])


def validated(items: list[Any], shape: str) -> Counter[str]:
    """Return the rules that the second validator finds broken, an open end aside."""
    return Counter(v.rule for v in validate(items, shape) if not v.open)


def own_errors(ctx: ChatContext[Any]) -> Counter[tuple[str, int]]:
    """Return what `check` calls an error, by rule and item."""
    errors = (p for p in ctx.check() if p.severity == "error")
    return Counter((ONE_FAULT.get(p.rule, p.rule), id(ctx.items[p.index])) for p in errors)


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


@given(history=histories("anthropic", open_calls=False) | histories(open_calls=False))
def test_law_8_a_list_whose_turn_is_finished_can_go_on(history: History) -> None:
    """What the user says next makes no error that it would not have made before the fold."""
    turns = context(history).turns()
    assume(turns and turns[-1].finished)
    more = plainly(history.shape, talk(1)[:1])
    unfolded = [*history.items, *more]
    known, faulty = own_errors(context(history, unfolded)), faults(unfolded, history.shape)
    assert bool(known) == bool(faulty)  # Mistral's `prefix` goes on with an answer, and so must end
    for limit in ({"keep_last_turns": 0}, {"keep_tokens": 10}):
        ctx = context(history)
        fold(ctx, **limit)
        ctx.extend(more)
        assert own_errors(ctx) <= known
        assert faults(ctx.items, history.shape) <= faulty


@given(history=histories(), limit=limits, pins=st.sets(st.integers(0, 30), max_size=4))
def test_law_8_whatever_is_pinned_the_list_stays_valid(
    history: History, limit: dict[str, Any], pins: set[int]
) -> None:
    """Pinned items stay, with all that cannot stay without them or they without it."""
    pinned = {id(item) for i, item in enumerate(history.items) if i in pins}
    ctx = context(history, pin=lambda item: id(item) in pinned)
    known = own_errors(ctx)
    outcome = fold(ctx, **limit)
    assert pinned <= {id(item) for item in parted(ctx.items, outcome)}
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


@pytest.mark.parametrize("shape", SHAPES)
def test_law_8_an_old_error_in_the_tail_stops_no_fold(shape: str) -> None:
    """A result without its call is reported before and after; the fold has not put it there."""
    orphan = step(shape, "none", 1, ["x"])[1]
    words = [*talk(), talk(1)[0], {"role": "assistant", "content": "done"}]
    *before, done = plainly(shape, words)
    items = [*before, orphan, done]
    ctx = ChatContext(items, shape=shape)
    known = own_errors(ctx)
    outcome = fold(ctx, keep_last_turns=1)
    assert outcome.changed
    assert known
    assert own_errors(ctx) == known
    errors = [p.rule for p in outcome.problems if p.severity == "error"]
    assert [ONE_FAULT.get(rule, rule) for rule in errors] == [rule for rule, _ in known]


def converse(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text} for text in texts]}


MERGED = [
    converse("user", "a" * 2000),
    converse("assistant", "ok"),
    converse("user", "b", " "),
    converse("assistant", "c"),
    converse("user", "d"),
]
"""A list of Bedrock's whose third message, behind the summary, has an error."""


def test_law_8_an_old_error_in_what_the_summary_is_merged_with_stops_no_fold() -> None:
    """The message is another object then, and has the error that it had."""
    ctx = ChatContext(list(MERGED), shape="bedrock")
    assert [(p.rule, p.index) for p in ctx.check()] == [("blank_text", 2)]
    outcome = fold(ctx, keep_last_turns=2)
    assert same_objects(outcome.merged, MERGED[2:3])
    assert [(p.rule, p.index) for p in outcome.problems] == [("blank_text", 0)]
    assert ctx.items[0]["content"][1:] == MERGED[2]["content"]


@pytest.mark.parametrize("shape", ["bedrock", "anthropic"])
def test_law_8_an_old_error_beside_an_earlier_summary_stops_no_later_fold(shape: str) -> None:
    """What a request holds besides that stays, in another object, while its turn goes on."""
    kind = {} if shape == "bedrock" else {"type": "text"}
    blocks = [{**kind, "text": text} for text in ("b", " ")]
    ctx = ChatContext([*plainly(shape, talk()), {"role": "user", "content": blocks}], shape=shape)
    for number in range(3):
        for called in range(3):
            ctx.extend(step(shape, f"c{number}{called}", 1, ["and " * 500]))
        if number == 1 and shape == "anthropic":  # a host has put the two messages into one
            summary, request = ctx.items[:2]
            joined = [*summary["content"], *request["content"]]
            ctx.items[:2] = [{"role": "user", "content": joined}]
        assert [p.rule for p in ctx.check()] == ["blank_text"]
        assert fold(ctx, lambda p, n=number: f"short {n}", keep_tokens=600)
        assert [p.rule for p in ctx.check()] == ["blank_text"]


@pytest.mark.parametrize("broken", [(0,), (1,), (0, 1)])
def test_law_8_an_old_error_in_instructions_that_go_to_one_place_stops_no_fold(
    broken: tuple[int, ...],
) -> None:
    """Whichever of them had it."""
    items = talk(6)
    for number in (1, 0):
        odd = [{"type": "text", "text": 5}] if number in broken else []
        told = [{"type": "text", "text": f"Rule {number}."}, *odd]
        items.insert(2 * number + 1, {"role": "system", "content": told})
    ctx = ChatContext(items, shape="anthropic")
    assert [p.rule for p in ctx.check()] == ["malformed_item"] * len(broken)
    assert fold(ctx, keep_last_turns=1)
    assert [p.rule for p in ctx.check()] == ["malformed_item"] * len(broken)
    assert [item["role"] for item in ctx.items[1:4]] == ["user", "system", "system"]


def test_law_8_an_old_error_in_what_loses_its_thinking_stops_no_fold() -> None:
    """The message is another object without it."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    said = [{"type": "text", "text": text} for text in ("b", " ")]
    items = [*talk(), talk(1)[0], {"role": "assistant", "content": [thought, *said]}]
    ctx = ChatContext(items, shape="anthropic", thinking="strip")
    assert [p.rule for p in ctx.check()] == ["blank_text"]
    assert fold(ctx, keep_last_turns=1).stripped
    assert [p.rule for p in ctx.check()] == ["blank_text"]
    assert ctx.items[-1]["content"] == said


def test_law_8_a_new_error_in_what_the_summary_is_merged_with_is_refused() -> None:
    """One more than the message had; it is told where the message stands in the list as it is."""
    shape = Bad("bedrock", {"role": "user", "content": [{"text": " "}]})
    ctx = ChatContext(list(MERGED), shape=cast(Shape, shape))
    with pytest.raises(InvalidResultError) as caught:
        fold(ctx, keep_last_turns=2)
    assert [(p.rule, p.indices) for p in caught.value.problems] == [("blank_text", (2,))]
    assert str(caught.value).endswith("(item 2)")
    assert same_objects(ctx.items, MERGED)


@pytest.mark.parametrize("shape", SHAPES)
def test_law_8_a_second_result_stops_no_fold(shape: str) -> None:
    """In the tail it is one too many; once the first has gone with its call, it has none."""
    call, *results = step(shape, "c1", 1, ["given", "given"])
    if len(results) == 1:  # one content holds both
        results = [*results, *step(shape, "c1", 1, ["given"])[1:]]
    items = [*plainly(shape, [*talk(), talk(1)[0]]), call, *results]
    ctx = ChatContext(items, shape=shape)
    known = own_errors(ctx)
    outcome = fold(ctx, keep_tokens=1)
    assert known
    assert outcome.changed
    assert own_errors(ctx) <= known


@given(history=histories(), place=st.integers(0, 30), more=st.integers(0, 9))
def test_law_8_a_second_result_is_refused_for_nothing_else_after_a_fold(
    history: History, place: int, more: int
) -> None:
    """It stays with its call, so that no error of another kind takes the place of the one."""
    views = context(history).views()
    results = [i for i, v in enumerate(views) if v.parts and {*map(type, v.parts)} == {ResultPart}]
    assume(results)
    at = results[place % len(results)] + 1
    items = [*history.items[:at], copy.deepcopy(history.items[at - 1]), *history.items[at:]]
    room = context(history, items[at:]).count_tokens().value  # the tail would begin with it
    ctx = context(history, items, grounding="report")

    def errors() -> Counter[tuple[str, int]]:
        found = (p for p in ctx.check() if p.severity == "error")
        return Counter((p.rule, id(ctx.items[p.index])) for p in found)

    known, faulty = errors(), validated(ctx.items, history.shape)
    fold(ctx, keep_tokens=room + more, force=True)
    assert errors() <= known
    assert validated(ctx.items, history.shape) <= faulty


def test_law_8_a_call_stays_with_both_of_what_may_be_its_result() -> None:
    """One names it, another answers it by its place; the server may take either."""
    words = {"name": "get_order", "arguments": '{"order": "LK-20417"}'}
    items: list[Any] = [
        {"role": "user", "content": "ok"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": words}],
        },
        {"role": "tool", "content": "x"},
        {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        {"role": "assistant", "content": "It is on its way."},
        {"role": "user", "content": "Thanks"},
        {"role": "assistant", "content": "You're welcome."},
    ]
    assert {1, 2, 3} & {*ChatContext(items).cut_points()} == {1}
    for keep in range(1, 60):
        ctx = ChatContext(list(items), grounding="report")
        known = faults(items, "openai_chat")
        fold(ctx, keep_tokens=keep, force=True)
        assert faults(ctx.items, "openai_chat") <= known


def test_a_result_that_comes_after_words_of_the_user_binds_nothing_between() -> None:
    """Else no cut would be left in a list in which users write and no model answers."""
    call = {"id": "a1", "type": "function", "function": {"name": "get", "arguments": "{}"}}
    items: list[Any] = [
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "x"},
        *({"role": "user", "content": f"and {n}?"} for n in range(3)),
        {"role": "tool", "tool_call_id": "a1", "content": "ok"},
    ]
    assert {3, 4, 5} <= {*ChatContext(items).cut_points()}


@pytest.mark.parametrize("at_any_time", [False, True])
def test_law_8_a_call_that_is_answered_when_it_may_be_stays_with_both_too(
    at_any_time: bool,
) -> None:
    """Others get their result in their own step; one that comes later is no answer."""
    call = {
        "type": "function_call",
        "call_id": "call_1",
        "name": "get_order",
        "arguments": "{}",
        **({"async": True} if at_any_time else {}),
    }
    said = {"type": "message", "role": "assistant", "content": "It takes a while."}
    items: list[Any] = [
        {"role": "user", "content": "ok"},
        call,
        {"type": "function_call_output", "output": "x"},
        said,
        {"role": "user", "content": "Thanks"},
        {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
        dict(said),
        {"role": "user", "content": "And now?"},
    ]
    ctx = ChatContext(items, shape="openai_responses")
    assert ({2, 3, 4, 5} & {*ctx.cut_points()} == set()) is at_any_time


@given(history=broken(histories(broken=True), junk=True), limit=limits, hinted=st.booleans())
def test_law_8_a_broken_list_is_never_made_worse(
    history: History, limit: dict[str, Any], hinted: bool
) -> None:
    """Deleted, doubled, swapped and malformed items: a fold adds no error, or is refused."""
    ctx = context(history, shape=history.shape if hinted else None)
    # Without a hint, one malformed item may make plain messages a list of another provider's.
    # Where nothing tells, the summary is a plain message, as chat servers take it.
    plain = "openai_chat" if history.shape in ("gemini", "bedrock") else history.shape
    told = ctx.shape
    shape = told.name if told is not None else plain
    known, own = faults(ctx.items, shape), own_errors(ctx)
    refused: tuple[Problem, ...] | None = None
    try:
        fold(ctx, **limit)
    except InvalidResultError as error:
        refused = error.problems
    if refused is not None:
        assert {p.severity for p in refused} == {"error"}
        assert same_objects(ctx.items, history.items)
    if ctx.shape is told:  # else what told it was folded, and what stays is read as another's
        assert own_errors(ctx) <= own
    assert faults(ctx.items, shape) <= known


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


def test_law_8_a_role_that_the_shape_does_not_know_is_refused() -> None:
    """Anthropic has no `developer`: an error of chatfold's says so, and nothing changes."""
    items = talk()
    before = list(items)
    with pytest.raises((ValueError, ChatfoldError)):
        fold(ChatContext(items, shape="anthropic"), keep_last_turns=1, summary_role="developer")
    assert same_objects(items, before)


class Bad:
    """A shape whose summary items the provider would not take."""

    def __init__(self, name: str, item: dict[str, Any]) -> None:
        self._shape = shape_named(name)
        self._item = item

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shape, name)

    def summary_item(self, text: str, *, role: str) -> Any:
        item = copy.deepcopy(self._item)
        if "parts" in item:
            return {**item, "parts": [{"text": text}, *item["parts"]]}
        if self.name == "bedrock":
            return {**item, "content": [{"text": text}, *item["content"]]}
        if isinstance(item["content"], str):
            return {**item, "content": text}
        return {**item, "content": [{"type": "text", "text": text}, *item["content"]]}


BAD: dict[str, list[dict[str, Any]]] = {
    "ollama": [
        {"role": "user", "content": "", "tool_calls": [{"function": {"arguments": {}}}]},
        {"role": "tool", "tool_call_id": "none", "content": ""},
    ],
    "mistral": [
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "none", "content": ""},
    ],
    "openai_chat": [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "s", "type": "function", "function": {"arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "none", "content": ""},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": " "}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "none"}]},
        {"role": "assistant", "content": []},
    ],
    "gemini": [
        {"role": "user", "parts": [{}]},
        {"role": "user", "parts": [{"text": ""}]},
        {"role": "user", "parts": [{"function_response": {"name": "none", "response": {}}}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": " "}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "none", "content": []}}]},
        {"role": "assistant", "content": []},
    ],
    "openai_responses": [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "function_call", "call_id": "s", "name": "f", "arguments": "{}"}],
        },
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


class Stubborn(Bad):
    """A shape that puts an instruction where there was a place for it, whatever is there by now."""

    def __init__(self) -> None:
        super().__init__("anthropic", {"role": "user", "content": []})

    def place(self, *given: Any, **more: Any) -> Placement:
        return Placement({1: 4})


class Scattering(Bad):
    """A shape that puts instructions into several places."""

    def __init__(self) -> None:
        super().__init__("openai_chat", {"role": "user", "content": "so far"})

    def place(self, *given: Any, **more: Any) -> Placement:
        return Placement({1: 8, 2: 8, 3: 9, 4: 7})


def test_law_1_what_a_shape_moves_stands_where_the_shape_says() -> None:
    """Before an item of the tail each, those of one place in their order."""
    rules = [{"role": "system", "content": f"Rule {n}."} for n in range(4)]
    first, *tail = talk(2)
    items: list[Any] = [first, *rules, {"role": "assistant", "content": "and"}, *tail]
    before = list(items)
    ctx = ChatContext(items, shape=cast(Shape, Scattering()))
    ctx.apply(ctx.plan(keep_last_turns=1), "short")
    one, two, three, four = rules
    assert same_objects(items[1:], [four, before[7], one, two, before[8], three])


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

    ctx = ChatContext(items, shape=cast(Shape, Stubborn()))
    plan = ctx.plan(keep_last_turns=1)
    assert plan.split.moved == {1: 4}
    with pytest.raises(InvalidResultError) as caught:
        ctx.summarize(slow, keep_last_turns=1)
    assert [p.rule for p in caught.value.problems] == ["system_place"]
    assert same_objects(items, [*before, late])
    ctx = ChatContext(items, shape="anthropic")  # which looks at what is there
    assert fold(ctx, keep_last_turns=1).changed
    assert not own_errors(ctx)


def test_law_8_who_keeps_a_call_need_not_keep_a_second_result_of_it() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    asks: Any = {"role": "assistant", "content": None, "tool_calls": [call]}
    result: Any = {"role": "tool", "tool_call_id": "c1", "content": "ran"}
    talk: list[Any] = [{"role": r, "content": "words " * 90} for r in ("assistant", "user")]
    items = [{"role": "user", "content": "go " * 90}, asks, result, {**result}, *talk, *talk]
    ctx = ChatContext(items, pin=lambda item: item is asks)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert [item["role"] for item in ctx.items] == ["user", "assistant", "tool", "user"]
    assert [p for p in ctx.check() if p.severity == "error"] == []
