"""Law 12, unknown is not fatal: what nobody knows passes through and breaks nothing."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import Weightless, limits, same_objects, short, talk
from logs import records
from strategies import SHAPES, History, broken, histories

from chatfold import ChatContext, Middleware, Policy

Item = dict[str, Any]
LONG = "many words that are worth folding away. " * 40


def user(text: str = "go on") -> Item:
    return {"role": "user", "content": text}


def said(text: str = LONG) -> Item:
    return {"role": "assistant", "content": text}


def holds(items: Sequence[Any], wanted: object) -> bool:
    return any(item is wanted for item in items)


class Foreign:
    """An object of no SDK that we know."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Unwilling:
    """An SDK object whose fields do not serialize."""

    role = "assistant"

    def to_dict(self) -> dict[str, Any]:
        raise ValueError("cannot be serialized")


class Closed:
    """An object of a database whose session is over: whatever it is asked for, it raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("the session is closed")


UNKNOWN: st.SearchStrategy[Any] = st.sampled_from(
    [
        lambda: {"type": "from_the_future", "data": {"a": [1, None, "x"]}},
        lambda: {"type": "from_the_future", "role": "user", "parts": ["a\x00b"]},
        lambda: {"kind": "no type at all"},
        lambda: {"role": "narrator", "content": "meanwhile"},
        lambda: Foreign(type="from_the_future", data=1),
        lambda: SimpleNamespace(role="narrator", content="meanwhile"),
    ]
).map(lambda make: make())
BLOCK = {"type": "block_from_the_future", "data": {"deep": ["x", 1]}}
READERS = (
    *("views", "tool_calls", "count_tool_calls", "turns", "cut_points", "count_tokens"),
    *("check", "requirements", "request_options", "plan", "__repr__", "__len__"),
)


@given(
    history=histories(max_turns=2, open_calls=False),
    unknown=st.lists(UNKNOWN, min_size=1, max_size=3),
    at=st.integers(0, 20),
)
def test_law_12_unknown_items_are_kept_in_the_tail_and_shown_in_the_prompt(
    history: History, unknown: list[Any], at: int
) -> None:
    """Same objects behind the cut, generic elements before it, one warning for each."""
    items = [*history.items[:at], *unknown, *history.items[at:]]
    items += [*talk(2), {"type": "from_the_future", "at": "the end"}, said("end")]
    ctx = ChatContext(items, shape=history.shape, counter=Weightless())
    with records() as logged:
        for name in READERS:
            getattr(ctx, name)()
    warned = [r for r in logged if r.levelno == logging.WARNING and "known shape" in r.getMessage()]
    assert len(warned) == len(unknown) + 1
    places = {i for i, item in enumerate(items) if any(item is u for u in unknown)}
    assert places <= {i for p in ctx.check() for i in p.indices}
    plan = ctx.plan(keep_last_turns=1)
    tail = items[plan.index :]
    if plan.prompt is not None:
        shown = plan.prompt.user.count("<item")
        assert shown >= sum(1 for u in unknown if holds(plan.head, u))
        ctx.apply(plan, "s")
    assert same_objects([item for item in items if holds(tail, item)], tail)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_law_12_an_unknown_block_passes_through(shape: str, kind: type) -> None:
    """It is in the prompt as its JSON, `check` names it, a warning is logged, nothing raises."""
    if shape == "ollama":
        pytest.skip("its messages hold no blocks")
    block = kind(**BLOCK)
    strange: Item = {"role": "user", "content": [{"type": "text", "text": "see"}, block]}
    if shape == "openai_responses":
        strange["type"] = "message"
    key = "parts" if shape == "gemini" else "content"
    if shape in ("gemini", "bedrock"):  # a block is named by its key there
        block = kind(block_from_the_future=BLOCK)
        strange = {"role": "user", key: [{"text": "see"}, block]}
    items: list[Any] = [user(), said(), strange, said(), user(), strange, said("end")]
    with records() as logged:
        ctx = ChatContext(items, shape=shape)
        found = [p for p in ctx.check() if p.rule == "unknown_part"]
    assert [(p.index, p.severity) for p in found] == [(2, "warning"), (5, "warning")]
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert '<item type="block_from_the_future">' in plan.prompt.user
    assert json.dumps(BLOCK) in plan.prompt.user
    assert ctx.apply(plan, "s").changed
    assert items[-2] is strange
    assert strange[key][1] is block
    assert [r for r in logged if r.levelno == logging.WARNING]


MCP = {"id": "c1", "type": "mcp", "mcp": {"server": "bank", "name": "wire", "arguments": "{}"}}


@pytest.mark.parametrize("shape", ["openai_chat", "mistral", "ollama"])
@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_law_12_a_call_of_an_unknown_kind_passes_through(shape: str, kind: type) -> None:
    """Paired by its id, and shown as its JSON; without a name of its own nobody runs it."""
    call = kind(**MCP)
    asked = {"role": "assistant", "content": "", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    items: list[Any] = [user(), said(), user(), asked, result, said(), user(), said("end")]
    with records() as logged:
        ctx = ChatContext(items, shape=shape)
        found = {(p.rule, p.index) for p in ctx.check() if p.severity == "error"}
    assert found == {("malformed_item", 3)}
    (warned,) = [r for r in logged if r.levelno == logging.WARNING]
    assert warned.getMessage() == "item 3 holds content of an unknown type; it is kept as it is"
    (record,) = ctx.tool_calls()
    assert (record.id, record.name, record.status) == ("c1", None, "completed")
    assert (record.call_index, record.result_index) == (3, 4)
    assert not {4} & set(ctx.cut_points())
    rest = json.dumps({key: value for key, value in MCP.items() if key != "id"})
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert f'<function_call name="wire" call_id="c1">{rest}</function_call>' in plan.prompt.user
    assert ctx.apply(plan, "s").changed


def test_law_12_of_a_call_that_lacks_its_name_alone_the_arguments_are_what_they_are() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": None, "arguments": "a > b"}}
    (record,) = ChatContext([user(), {**said(""), "tool_calls": [call]}]).tool_calls()
    assert (record.name, record.arguments) == (None, "a > b")


@pytest.mark.parametrize("shape", ["openai_chat", "mistral"])
@pytest.mark.parametrize("content", ["", "One moment.", None, []])
def test_law_12_calls_that_are_no_list_are_shown_and_not_paired(shape: str, content: Any) -> None:
    """No provider takes them; `check` says that, and not that the message is empty."""
    call = {"id": "c1", "type": "function", "function": {"name": "wire", "arguments": "{}"}}
    asked = {"role": "assistant", "content": content, "tool_calls": call}
    without = {"role": "assistant", "content": content}
    result = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    items, others = (
        [user(), said(), user(), each, result, said(), user(), said("end")]
        for each in (asked, without)
    )
    with records() as logged:
        ctx, other = (ChatContext(each, shape=shape) for each in (items, others))
        malformed, *found = ctx.check()
        rest = [p for p in other.check() if p.rule != "empty_message"]
    assert (malformed.rule, malformed.index, malformed.severity) == ("malformed_item", 3, "error")
    assert malformed.message == "assistant: tool_calls is dict, not a list"
    assert found == rest
    assert ctx.tool_calls() == other.tool_calls()
    assert ctx.cut_points() == other.cut_points()
    (warned,) = [r for r in logged if r.levelno == logging.WARNING]
    assert warned.getMessage().startswith("item 3 holds content of an unknown type")
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert f'<item type="tool_calls">{json.dumps(call)}</item>' in plan.prompt.user
    ctx.repair()
    assert any(item is asked for item in ctx.items)


@given(history=histories(max_turns=3, sdk_objects=False), name=st.sampled_from(["x_new", "meta"]))
def test_law_12_unknown_fields_change_no_reading(history: History, name: str) -> None:
    """Items with a field that nobody knows read, cut and count as without it."""
    more = [{**item, name: {"a": ["b"]}} for item in history.items]
    plain, other = (ChatContext(list(i), shape=history.shape) for i in (history.items, more))
    assert other.tool_calls() == plain.tool_calls()
    assert other.turns() == plain.turns()
    assert other.cut_points() == plain.cut_points()
    assert other.check() == plain.check()
    assert other.count_tokens() == plain.count_tokens()
    plan = other.plan(keep_last_turns=1)
    assert all(holds(more, item) for item in plan.head)


@given(history=broken(histories(broken=True, opaque=True), junk=True), keep=limits)
def test_law_12_nothing_raises_on_a_broken_history(history: History, keep: dict[str, Any]) -> None:
    """Every reading method answers, with the right shape, a wrong one and none."""
    for shape in (None, *SHAPES):
        ctx = ChatContext(list(history.items), shape=shape, counter=Weightless())
        for name in READERS:
            getattr(ctx, name)()
        ctx.plan(**keep)


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


MALFORMED: dict[str, Any] = {
    "none": None,
    "number": 7,
    "text": "text",
    "list": [],
    "bytes": b"bytes",
    "bytes content": {"role": "user", "content": b"x"},
    "object content": {"role": "user", "content": object()},
    "unwilling": Unwilling(),
    "closed": Closed(),
    "mock": Mock(role="assistant", content="hi"),
    "no content": {"role": "user"},
    "orphan": {"role": "tool", "content": "x"},
    "call without name": {"role": "assistant", "content": None, "tool_calls": [{}]},
}


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("shape", ["openai_chat", "anthropic"])
def test_law_12_a_malformed_item_is_reported_with_its_index(name: str, shape: str) -> None:
    """The others are read as if it were not there, and the list still folds."""
    items = [*talk(1), MALFORMED[name], *talk(2)]
    ctx = ChatContext(items, shape=shape)
    assert 2 in {i for p in ctx.check() for i in p.indices}
    assert [p for p in ctx.check() if 2 not in p.indices] == []
    assert ctx.summarize(short, keep_last_turns=1)


def test_law_6_an_item_that_cannot_be_read_is_counted() -> None:
    """As one of a database that was closed."""
    items = [*talk(1), Closed(), *talk(2)]
    outcome = ChatContext(items).summarize(short, keep_last_turns=1)
    assert any(type(item) is Closed for item in outcome.removed)
    assert outcome.omitted == {"unreadable": 1}


@pytest.mark.parametrize("name", MALFORMED)
def test_law_12_a_malformed_item_keeps_no_other_from_being_mended(name: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    ctx = ChatContext([*talk(1), asked, MALFORMED[name], *talk(1)], shape="openai_chat")
    ctx.repair()
    assert 2 not in {p.index for p in ctx.check() if p.rule == "unanswered_call"}


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": nested(900)},
        {"type": "from_the_future", "deep": nested(900)},
        {"type": "from_the_future", "odd": {1: {2}, None: math.nan}},
        {"type": ["list"], "role": {"a": 1}, "content": 3},
        {"type": "function_call", "call_id": ["x"], "name": {"a": 1}, "arguments": [object()]},
        {"role": "assistant", "content": [None, 3, {"type": []}], "tool_calls": "abc"},
    ],
    ids=["deep", "deep unknown", "odd values", "odd type", "odd call", "odd parts"],
)
def test_law_12_strange_values_inside_an_item_raise_nothing(item: Item) -> None:
    """Whatever JSON or Python can hold where text should be."""
    for shape in (None, *SHAPES):
        ctx = ChatContext([*talk(1), item, *talk(2)], shape=shape)
        for name in READERS:
            getattr(ctx, name)()


@pytest.mark.parametrize("prefix", [[], [{"role": "system", "content": "You sell tickets."}]])
def test_a_list_of_unknown_items_alone_is_not_folded(prefix: list[Item]) -> None:
    """Nobody could tell its last request, or which result goes with which call."""
    said = [{"role": "human", "content": LONG}, {"role": "ai", "content": LONG}] * 4
    items = [*prefix, *said, {"role": "human", "content": f"Cancel the third order. {LONG}"}]
    ctx = ChatContext(items, policy=Policy(max_tokens=1_000, keep_tokens=200))
    for outcome in (ctx.maybe_summarize(short), ctx.summarize(short, keep_tokens=200)):
        assert outcome.reason == "nothing_to_summarize"
        assert "no item is of a known shape" in str(outcome)
        assert "pass shape=" in str(outcome)
    assert Middleware(short, Policy(max_tokens=1_000, keep_tokens=200))(items) == items
