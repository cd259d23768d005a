"""The entries of Mistral's conversations, in the shape `mistral`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mistralai.client import models
from shapes.conformance import Call, ShapeConformance
from shapes.sdk_types import refusal, union_named
from strategies import SHAPES as NAMES
from strategies import histories
from validator import validate

from chatfold import ChatContext, Middleware, Policy
from chatfold.core.rolling import item_digest
from chatfold.core.views import (
    CallPart,
    HandoffPart,
    MediaPart,
    ReasoningPart,
    ServerCallPart,
    SummaryPart,
    TextPart,
)
from chatfold.errors import ShapeError
from chatfold.shapes import SHAPES, shape_named
from chatfold.stores import MemoryStore

Item = dict[str, Any]
MISTRAL = shape_named("mistral")
INPUT = "mistralai.client.models:InputEntriesTypedDict"
LONG = "The parcel left the warehouse and is on its way to the customer. " * 40


def _entry(kind: str, **fields: Any) -> Item:
    return {"object": "entry", "type": kind, **fields}


def _said(text: Any, **more: Any) -> Item:
    return {**_entry("message.input", role="user", content=text), **more}


def _answer(text: Any, **more: Any) -> Item:
    return _entry("message.output", role="assistant", content=text, **more)


def _call(id_: str = "c1", name: str = "get", arguments: Any = "{}", **more: Any) -> Item:
    return _entry("function.call", tool_call_id=id_, name=name, arguments=arguments, **more)


def _result(id_: str = "c1", text: Any = "ok") -> Item:
    return _entry("function.result", tool_call_id=id_, result=text)


def _ran(**more: Any) -> Item:
    return _entry("tool.execution", id="x1", name="web_search", arguments='{"query": "a"}', **more)


HANDOFF = _entry(
    "agent.handoff",
    previous_agent_id="ag_1",
    previous_agent_name="desk",
    next_agent_id="ag_2",
    next_agent_name="billing",
)
CLASSES: dict[str, Any] = {
    "message.input": models.MessageInputEntry,
    "message.output": models.MessageOutputEntry,
    "function.call": models.FunctionCallEntry,
    "function.result": models.FunctionResultEntry,
    "tool.execution": models.ToolExecutionEntry,
    "agent.handoff": models.AgentHandoffEntry,
}


def _object(entry: Item) -> Any:
    return CLASSES[entry["type"]].model_construct(**entry)


def _validated(entry: Item) -> Any:
    return CLASSES[entry["type"]].model_validate(entry)


class EntriesWriter:
    """Writes entries as a host sends them, and the server gives them."""

    shape = "mistral"
    union = INPUT
    fails = False

    def system(self, text: str) -> None:
        return None

    def user(self, text: str) -> Item:
        return _said(text)

    def picture(self, text: str, data: str) -> Item:
        image = {"type": "image_url", "image_url": f"data:image/png;base64,{data}"}
        return _said([{"type": "text", "text": text}, image])

    def assistant(self, text: str, *, sdk: bool = False) -> Any:
        return _object(_answer(text)) if sdk else _answer(text)

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        made = [_call(c.id, c.name, json.dumps(c.arguments)) for c in calls]
        return [*map(_object, made)] if sdk else made

    def results(self, *calls: Call) -> list[Any]:
        return [_result(c.id, c.result) for c in calls]

    def joined(self, results: list[Any]) -> list[Any]:
        return results

    def unknown(self) -> list[Any]:
        return [
            _entry("brand_new.entry", text="x"),
            _said([{"type": "brand_new", "data": 1}]),
            _said("x", role="brand_new"),
        ]

    def malformed(self) -> list[Any]:
        return [
            _said(None),
            _said(5),
            _said("x", role=None),
            _answer(None),
            _call(name=""),
            _call(arguments=None),
            _call(id_=""),
            _result(text=None),
            _result(text=5),
            _entry("tool.execution", arguments="{}"),
            _entry("agent.handoff"),
        ]


class TestMistralEntries(ShapeConformance):
    """A list of entries passes the shared suite, too."""

    writer = EntriesWriter()


# --- Reading --------------------------------------------------------------------------------------


def _parts(item: Any) -> tuple[Any, ...]:
    return ChatContext([item]).views()[0].parts


def test_every_type_of_entry_that_the_sdk_takes_is_known() -> None:
    """What a newer SDK adds shows here; until then it passes through as unknown."""
    found = {m.model_fields["type"].default: m for m in models.InputEntries.__value__.__args__}
    assert found == CLASSES


READINGS: list[tuple[Item, str, Any]] = [
    (_said("hi"), "user", TextPart("hi")),
    (_said("so", role="assistant"), "assistant", TextPart("so")),
    (_answer("hello"), "assistant", TextPart("hello")),
    (_call(arguments={"a": 1}), "assistant", CallPart("c1", "get", '{"a": 1}', pair="entry")),
    (_call(), "assistant", CallPart("c1", "get", "{}", pair="entry")),
    (
        _call(confirmation_status="pending"),
        "assistant",
        CallPart("c1", "get", "{}", "approval", "entry"),
    ),
    (
        _ran(info={"found": 2}),
        "assistant",
        ServerCallPart("x1", "web_search", '{"query": "a"}', '{"found": 2}'),
    ),
    (_ran(), "assistant", ServerCallPart("x1", "web_search", '{"query": "a"}', "")),
    (HANDOFF, "state", HandoffPart("desk", "billing")),
]


@pytest.mark.parametrize(("entry", "role", "part"), READINGS)
def test_an_entry_is_read_as_what_it_is(entry: Item, role: str, part: Any) -> None:
    """As a dict and as the SDK's object; both are valid for the SDK."""
    validated = CLASSES[entry["type"]].model_validate(entry)
    for item in (entry, _object(entry), validated):
        ctx = ChatContext([item])
        assert ctx.shape is MISTRAL
        (view,) = ctx.views()
        assert (view.role, view.parts, view.fault) == (role, (part,), "")
        assert not [p for p in ctx.check() if p.severity != "pending"]


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ({"type": "text", "text": "hi"}, TextPart("hi")),
        ({"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, ReasoningPart("hm")),
        (
            {"type": "document_url", "document_url": "https://a.b/c"},
            MediaPart("document", None, None, "https://a.b/c"),
        ),
        (
            {"type": "tool_file", "tool": "code_interpreter", "file_id": "f1"},
            MediaPart("file", None, None, "f1"),
        ),
        (
            {
                "type": "tool_file",
                "tool": "image_generation",
                "file_id": "f1",
                "file_name": "a.png",
                "file_type": "image/png",
            },
            MediaPart("file", "image/png", None, "a.png", source="f1"),
        ),
        (
            {"type": "tool_reference", "tool": "web_search", "title": "A", "url": "https://a.b"},
            MediaPart("reference", None, None, "A", "", "https://a.b"),
        ),
        (
            {"type": "tool_reference", "tool": "web_search", "title": "A", "description": "of b"},
            MediaPart("reference", None, None, "A", "of b"),
        ),
    ],
)
def test_what_a_message_holds_is_read(chunk: Item, expected: Any) -> None:
    """Each chunk of the SDK's, in dicts and in its objects."""
    for item in (_answer([chunk]), models.MessageOutputEntry.model_validate(_answer([chunk]))):
        assert _parts(item) == (expected,)


def test_calls_and_results_are_bound_and_are_not_parted() -> None:
    """The example of two lines: dicts without `object`, without a hint and with one."""
    items: list[Any] = [
        {"type": "message.input", "role": "user", "content": "ask"},
        {"type": "function.call", "tool_call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function.result", "tool_call_id": "c1", "result": "ok"},
        {"type": "message.output", "role": "assistant", "content": "done"},
    ]
    for shape in ("mistral", None):
        ctx: ChatContext[Any] = ChatContext(items, shape=shape)
        (call,) = ctx.tool_calls()
        assert (call.id, call.status, call.call_index, call.result_index) == (
            *("c1", "completed"),
            *(1, 2),
        )
        assert ctx.cut_points() == [0, 1, 3, 4]
        assert ctx.check() == []


# --- Whose entry it is ----------------------------------------------------------------------------


@given(st.sampled_from(NAMES).flatmap(lambda n: st.tuples(st.just(n), histories(n, broken=True))))
def test_no_item_of_another_kind_is_an_entry(drawn: tuple[str, Any]) -> None:
    """And no entry is another shape's, drawn or not: nothing else has a dot in its type."""
    name, history = drawn
    for item in history.items:
        view = MISTRAL.read(item)
        entry = view is not None and "." in view.type
        if entry:
            assert name == "mistral"
            assert [s.name for s in SHAPES if s.fit(item) != "no"] == ["mistral"]
            assert [s.name for s in SHAPES if s.read(item) is not None] == ["mistral"]
        elif name != "mistral" and "." in str(getattr(item, "type", "")):
            raise AssertionError(item)


@pytest.mark.parametrize(
    "item",
    [
        {"type": "x.y"},
        {"type": "x.y", "role": "user", "content": "x"},
        {"type": "message", "object": "entry", "role": "user", "content": "x"},
        {"object": "entry", "role": "user", "content": "x"},
        {"type": ["function.call"]},
    ],
)
def test_what_only_looks_like_an_entry_is_none(item: Item) -> None:
    """A dot in the type is not enough, and neither is the object."""
    view = MISTRAL.read(item)
    assert view is None or "." not in view.type


def test_the_objects_of_others_are_no_entries() -> None:
    """However they are written."""

    class Other:
        object, type, tool_call_id, result = "entry", "function.result", "c1", "ok"

    assert MISTRAL.fit(Other()) == "no"
    assert MISTRAL.read(Other()) is None


def test_a_list_of_both_kinds_is_refused_by_both_apis() -> None:
    """Plain messages are at home in either; what only chat completions take is named."""
    chat = {"id": "c9", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    items: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [chat]},
        {"role": "tool", "tool_call_id": "c9", "content": "ok"},
        _call("c9"),
        _result("c9"),
        {"role": "assistant", "content": "done"},
    ]
    ctx: ChatContext[Any] = ChatContext(items, shape="mistral")
    assert [(c.call_index, c.result_index) for c in ctx.tool_calls()] == [(2, 3), (4, 5)]
    assert [(p.rule, p.index) for p in ctx.check()] == [("foreign_item", n) for n in (0, 2, 3)]


# --- Rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([_said("a"), _call(), _call("c2"), _result("c2"), _result()], []),
        ([_said("a"), _call(), _answer("wait"), _ran(), _result(), _said("b")], []),
        ([_said("a"), HANDOFF, _said("b"), _answer("c"), _answer("d"), HANDOFF], []),
        ([_said("a"), _call(), _call("c2")], [("unanswered_call", 1, "pending")]),
        ([_said("a"), _call(), _said("b")], [("unanswered_call", 1, "error")]),
        ([_said("a"), _call(), _said("b"), _result()], [("late_result", 3, "error")]),
        ([_said("a"), _result()], [("orphan_result", 1, "error")]),
        ([_said("a"), _call(confirmation_status="pending")], [("unanswered_call", 1, "pending")]),
    ],
)
def test_results_come_before_anything_else_that_is_put_in(
    items: list[Any], expected: list[Any]
) -> None:
    """What the server's own answer says: "Provide function results first"."""
    for given_ in (items, [*map(_object, items)]):
        found = ChatContext(given_).check()
        assert [(p.rule, p.index, p.severity) for p in found][: len(expected) or None] == expected
        assert bool([v for v in validate(given_, "mistral") if not v.open]) == any(
            p.severity == "error" for p in found
        )


def test_repair_answers_what_was_left_and_puts_results_in_front() -> None:
    """A call that nobody answered, and a result behind what the user said next."""
    items = [_said("a"), _call(), _said("b"), _result(), _call("c2"), _said("c"), _answer("d")]
    ctx: ChatContext[Any] = ChatContext(items)
    assert ctx.repair()
    assert ctx.check() == []
    assert validate(ctx.items, "mistral") == []
    assert all(refusal(union_named(INPUT), item) == "" for item in ctx.items)


# --- Writing --------------------------------------------------------------------------------------


def test_tools_are_answered_in_entries() -> None:
    """One result for each call, a text whatever the tool returns."""
    picture = {"type": "image_url", "image_url": "data:image/png;base64," + "iVBORw0K" * 50}
    items = [_said("a"), _call("c1", "get"), _call("c2", "look"), _call("c3", "fail")]
    ctx: ChatContext[Any] = ChatContext(items)

    def fail() -> None:
        raise ValueError("broken")

    tools: dict[str, Callable[..., Any]] = {
        "get": lambda: {"a": 1},
        "look": lambda: [{"type": "text", "text": "see"}, picture],
        "fail": fail,
    }
    ran = ctx.run_tool_calls(tools)
    assert [(r["type"], r["tool_call_id"]) for r in ran] == [
        ("function.result", f"c{n}") for n in (1, 2, 3)
    ]
    assert all(refusal(union_named(INPUT), r) == "" for r in ran)
    assert "iVBORw0K" not in ran[1]["result"]
    assert ran[1]["result"].startswith("see")
    assert "broken" in ran[2]["result"]
    assert ctx.check() == []


def test_a_call_that_waits_to_be_confirmed_is_kept_and_not_run() -> None:
    """Its host confirms it, and the server runs it; no user's message passes it by."""
    items = [_said(LONG), _answer(LONG), _said("a"), _call(confirmation_status="pending")]
    ctx: ChatContext[Any] = ChatContext([*items, _said("well?"), _answer("?"), _said("b")])
    assert not ctx.run_tool_calls({"get": lambda: "never"})
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=0).changed
    assert items[3] in ctx.items
    (call,) = (c for c in ChatContext([items[3]]).views()[0].parts if isinstance(c, CallPart))
    assert call.kind == "approval"


@pytest.mark.parametrize("sdk", [False, True])
def test_an_entry_is_sent_back_as_the_server_wrote_it(sdk: bool) -> None:
    """All fields of a response may be sent; the SDK takes what is written."""
    for entry, _, _ in READINGS:
        full = {**entry, "id": "e1", "created_at": "2026-11-30T08:00:00Z"}
        item: Any = CLASSES[entry["type"]].model_validate(full) if sdk else full
        back = MISTRAL.replayable(item)
        assert json.loads(json.dumps(back)) == back
        taken = pydantic.TypeAdapter(models.InputEntries).validate_python(back)
        assert type(taken) is CLASSES[entry["type"]]
        assert {k: v for k, v in back.items() if k != "created_at"} == {
            k: v for k, v in full.items() if k != "created_at"
        }


@pytest.mark.parametrize("sdk", [False, True])
def test_the_id_of_a_call_or_result_may_be_another(sdk: bool) -> None:
    """Only theirs; what has no call is left as it is."""
    for entry, part in ((_call(), CallPart), (_result(), None)):
        item = _object(entry) if sdk else entry
        made = MISTRAL.with_other_id(item, 0, "c9")
        assert made == {**entry, "tool_call_id": "c9"}
        assert part is None or MISTRAL.with_call_ids(item, lambda call: "never") is item
    bare = _call(id_="")
    made = MISTRAL.with_call_ids(_object(bare) if sdk else bare, lambda call: "x")
    assert len(made["tool_call_id"]) == 9
    for entry in (_said("a"), HANDOFF, _ran()):
        assert MISTRAL.with_other_id(entry, 0, "c9") is entry
        assert MISTRAL.with_call_ids(entry, lambda call: "never") is entry


@pytest.mark.parametrize("entry", [entry for entry, _, _ in READINGS])
def test_an_entry_says_the_same_in_the_sdk_s_json(entry: Item) -> None:
    """With its times and the server's id, without them, and with each default named."""
    bare = CLASSES[entry["type"]].model_validate(
        {k: v for k, v in entry.items() if k not in ("object", "type")}
    )
    full = CLASSES[entry["type"]].model_validate(
        {"id": "e1", **entry, "created_at": "2026-11-30T08:00:00Z", "completed_at": None}
    )
    told = [json.loads(full.model_dump_json()), full, bare, entry]
    assert len({item_digest(MISTRAL.said(item)) for item in told}) == 1


# --- Folding --------------------------------------------------------------------------------------


def _conversation(sdk: bool) -> list[Any]:
    turn = [
        _said(f"Where is it? {LONG}"),
        _call("c1"),
        _ran(info={"found": "a page"}),
        _result("c1"),
        HANDOFF,
        _answer([{"type": "text", "text": f"On its way. {LONG}"}]),
    ]
    items = [dict(entry) for _ in range(4) for entry in turn]
    return [*map(_validated, items)] if sdk else items


@pytest.mark.parametrize("sdk", [False, True])
@pytest.mark.parametrize("shape", ["mistral", None])
def test_a_list_of_entries_is_folded_twice_and_taken_back(sdk: bool, shape: str | None) -> None:
    """The summary is an entry, handoffs stay where they are, and undo puts all back."""
    items = _conversation(sdk)
    before, more, handoffs = list(items), _conversation(sdk), items[4::6]
    ctx: ChatContext[Any] = ChatContext(items, shape=shape)
    for n in (1, 2):
        outcome = ctx.summarize(lambda prompt, n=n: f"short {n}", keep_last_turns=1)
        assert outcome.changed
        assert refusal(union_named(INPUT), items[0]) == ""
        assert (items[0]["type"], items[0]["object"]) == ("message.input", "entry")
        kept = [item for item in items if ctx.shape and ctx.shape.read(item).role == "state"]
        assert [*map(id, kept)] == [*map(id, handoffs)]
        assert ctx.check() == []
        assert validate(items, "mistral") == []
        assert [type(v.parts[0]) for v in ctx.views()].count(SummaryPart) == 1
        fresh: ChatContext[Any] = ChatContext(list(items))
        assert fresh.shape is MISTRAL
        assert isinstance(fresh.views()[0].parts[0], SummaryPart)
        if n == 1:
            items.extend(more)
            handoffs = [*handoffs, *more[4::6]]
    assert ctx.undo().changed
    assert ctx.undo().changed
    assert [*map(id, items)] == [*map(id, [*before, *more])]


def test_what_the_server_ran_and_cited_is_shown_to_the_summarizer() -> None:
    """The call with what it found, and the page."""
    page = {"type": "tool_reference", "tool": "web_search", "title": "T", "url": "https://a.b/c"}
    items = [_said("a"), _ran(info={"found": "forty-two"}), HANDOFF, _answer([page])]
    plan = ChatContext(items).plan(keep_last_turns=0)
    assert plan.prompt is not None
    for text in ("web_search", "forty-two", "https://a.b/c"):
        assert text in plan.prompt.user


@given(histories("mistral", broken=True))
def test_a_list_that_grows_is_read_as_the_whole(history: Any) -> None:
    """Item by item, and all at once."""
    grown: ChatContext[Any] = ChatContext([], shape="mistral")
    for item in history.items:
        grown.items.append(item)
        grown.check()
        grown.cut_points()
    whole: ChatContext[Any] = ChatContext(list(history.items), shape="mistral")
    assert list(grown.views()) == list(whole.views())
    assert grown.tool_calls() == whole.tool_calls()
    assert grown.cut_points() == whole.cut_points()
    assert grown.check() == whole.check()


def test_a_conversation_that_the_server_tells_again_is_found_again() -> None:
    """With ids and times on each entry, in another process, with the store."""
    host, store = _conversation(sdk=False), MemoryStore()
    policy = Policy(max_tokens=1_000, keep_tokens=300)

    def fold(items: list[Any]) -> str:
        wrapper = Middleware[Any](lambda _: "It was found.", policy, store, shape="mistral")
        return wrapper.fold(items, key="k").outcome.reason

    told = [
        {**entry, "id": entry.get("id", f"e{n}"), "created_at": "2026-11-30T08:00:00Z"}
        for n, entry in enumerate(host)
    ]
    assert fold(host) == "summarized"
    assert fold(told) == "reused"


def test_a_call_that_cannot_be_confirmed_in_words_is_an_error() -> None:
    """The error says what to do."""
    ctx: ChatContext[Any] = ChatContext([_said("a"), _call()])
    (call,) = ctx.tool_calls()
    with pytest.raises(ShapeError, match="tool_confirmations"):
        MISTRAL.result_item(replace(call, kind="approval"), "yes")
