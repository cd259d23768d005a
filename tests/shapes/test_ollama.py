"""The shape `ollama`: the conformance suite, and what only Ollama has."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import ollama
import pytest
from ollama import Message
from ollama._client import _copy_messages
from shapes.conformance import Call, ShapeConformance
from validator import validate

from chatfold import ChatContext
from chatfold.core.views import CallPart, MediaPart, ReasoningPart, ResultPart, TextPart
from chatfold.errors import ShapeError
from chatfold.shapes import shape_named

Item = dict[str, Any]
OLLAMA = shape_named("ollama")


class OllamaWriter:
    """Writes Ollama's messages, without ids, as its Python client does."""

    shape = "ollama"
    union = "ollama:Message"
    fails = False

    def system(self, text: str) -> Item:
        return {"role": "system", "content": text}

    def user(self, text: str) -> Item:
        return {"role": "user", "content": text}

    def picture(self, text: str, data: str) -> Item:
        return {"role": "user", "content": text, "images": [data]}

    def assistant(self, text: str, *, sdk: bool = False) -> Any:
        return self._message({"role": "assistant", "content": text}, sdk)

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        members = [{"function": {"name": c.name, "arguments": c.arguments}} for c in calls]
        return [self._message({"role": "assistant", "content": "", "tool_calls": members}, sdk)]

    def results(self, *calls: Call) -> list[Any]:
        return [{"role": "tool", "content": c.result, "tool_name": c.name} for c in calls]

    def joined(self, results: list[Any]) -> list[Any]:
        return results

    def unknown(self) -> list[Any]:
        return [{"role": "brand_new", "content": "x"}, {"role": "brand_new", "images": ["x"]}]

    def malformed(self) -> list[Any]:
        return [
            {"role": "assistant", "content": 5},
            {"role": "assistant", "content": "", "tool_calls": 5, "thinking": "hm"},
            {"role": "assistant", "tool_calls": [None], "thinking": "hm"},
            {"role": "assistant", "tool_calls": [{"function": {"arguments": {}}}]},
            {
                "role": "assistant",
                "tool_calls": [{"function": {"name": "f", "arguments": [1]}}],
                "thinking": "hm",
            },
            {"role": "tool", "content": ["x"], "tool_name": "f"},
            {"role": "tool", "content": {"x": 1}, "tool_name": "f"},
            {"role": "tool", "content": "x", "tool_call_id": "none", "tool_name": "f"},
        ]

    def _message(self, item: Item, sdk: bool) -> Any:
        return Message.model_construct(**_built(item)) if sdk else item


def _built(item: Item) -> Item:
    """Return the fields of an SDK's message: `model_validate` refuses lone surrogates."""
    calls = [
        Message.ToolCall(function=Message.ToolCall.Function(**call["function"]))
        for call in item.get("tool_calls", ())
    ]
    return {**item, "tool_calls": calls} if calls else item


class TestOllama(ShapeConformance):
    """Ollama passes the shared suite; its SDK's objects have no ids."""

    writer = OllamaWriter()
    ids = False


USER, ANSWER = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}


def _called(*names: str, **ids: str) -> Item:
    calls: list[Item] = [{"function": {"name": name, "arguments": {}}} for name in names]
    for call in calls:
        name = call["function"]["name"]
        if name in ids:
            call["id"] = ids[name]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def _result(name: str | None, text: str = "ok", **more: Any) -> Item:
    named = {} if name is None else {"tool_name": name}
    return {"role": "tool", "content": text, **named, **more}


def _bound(*items: Any) -> list[tuple[str | None, str]]:
    return [(c.name, c.result) for c in ChatContext([USER, *items], shape="ollama").tool_calls()]


# --- Reading --------------------------------------------------------------------------------------


def test_every_field_of_the_sdks_message_is_read() -> None:
    """A field that a newer SDK adds would show here, and would be looked at."""
    fields = {"role", "content", "thinking", "images", "tool_name", "tool_calls"}
    assert set(Message.model_fields) == fields
    assert set(Message.ToolCall.model_fields) <= {"id", "function"}
    assert set(Message.ToolCall.Function.model_fields) == {"name", "arguments"}


@pytest.mark.parametrize("sdk", [False, True])
def test_thinking_words_and_calls_of_one_message_are_all_read(sdk: bool) -> None:
    """They stand in fields of their own, and are read in that order."""
    item = {**_called("f"), "content": "one moment", "thinking": "I need f"}
    view = ChatContext([USER, Message(**item) if sdk else item], shape="ollama").views()[1]
    assert view.parts == (
        ReasoningPart("I need f"),
        TextPart("one moment"),
        CallPart(None, "f", "{}"),
    )


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([_called("a", "b"), _result("b", "2"), _result("a", "1")], [("a", "1"), ("b", "2")]),
        ([_called("a", "a"), _result("a", "1"), _result("a", "2")], [("a", "1"), ("a", "2")]),
        ([_called("a", "b"), _result(None, "1"), _result(None, "2")], [("a", "1"), ("b", "2")]),
        ([_called("a"), ANSWER, _called("a"), _result("a", "new")], [("a", ""), ("a", "new")]),
        (
            [_called("a", "b", a="1", b="2"), _result("b", "2"), _result("a", "1")],
            [("a", "1"), ("b", "2")],
        ),
        (
            [_called("a", a="1"), ANSWER, _called("a", a="2"), _result("a", "new")],
            [("a", ""), ("a", "new")],
        ),
        (
            [
                _called("a", "a", a="same"),
                _result("a", "1", tool_call_id="same"),
                _result(None, "2", tool_call_id="same"),
            ],
            [("a", "1"), ("a", "2")],
        ),
        ([_called("a"), _result("a", "1", tool_call_id="x")], [("a", "1")]),
        (
            [
                _called("a", "b"),
                {"role": "tool", "content": "2", "name": "b"},
                {"role": "tool", "content": "1", "name": "a"},
            ],
            [("a", "1"), ("b", "2")],
        ),
        (
            [
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": id_, "function": {"name": name, "arguments": {}}}
                        for id_, name in (("x", "a"), ("y", "b"), ("x", "c"))
                    ],
                },
                _result("a", "1", tool_call_id="x"),
                _result(None, "2"),
                _result("c", "3", tool_call_id="x"),
            ],
            [("a", "1"), ("b", "2"), ("c", "3")],
        ),
    ],
    ids=[
        "by name",
        "in order",
        "by place",
        "the latest step",
        "ids on calls only",
        "the latest step with ids on calls only",
        "ids on both",
        "an id on the result only",
        "the older key",
        "by place beside an id that is used twice",
    ],
)
def test_a_result_binds_by_id_then_by_name_then_by_place(
    items: list[Item], expected: list[tuple[str, str]]
) -> None:
    """Ids decide where both sides have them; names and the order do where one has not."""
    assert _bound(*items) == expected


PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 60


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (PNG, MediaPart("image", "image/png", len(PNG))),
        (base64.b64encode(PNG).decode(), MediaPart("image", "image/png", len(PNG))),
        (ollama.Image(value=PNG), MediaPart("image", "image/png", len(PNG))),
        (
            ollama.Image(value=base64.b64encode(PNG).decode()),
            MediaPart("image", "image/png", len(PNG)),
        ),
        (base64.b64encode(b"\x01" * 90).decode(), MediaPart("image", None, 90)),
        (base64.b64encode(b"\xff\xd8\xff\xe0").decode(), MediaPart("image", "image/jpeg", 4)),
        (b"\x01\x02", MediaPart("image", None, 2)),
        ("photos/cat.jpg", MediaPart("image", None, None, "photos/cat.jpg")),
        (Path("cat.jpg"), MediaPart("image", None, None, "cat.jpg")),
    ],
    ids=str,
)
def test_an_image_is_measured_or_named(image: Any, expected: MediaPart) -> None:
    """Bytes and base64 are counted and known by how they begin; a file is named, never opened."""
    item = {"role": "user", "content": "look", "images": [image]}
    assert ChatContext([item]).views()[0].parts == (TextPart("look"), expected)
    returned = {**_result("f", "seen"), "images": [image]}
    result = ChatContext([USER, _called("f"), returned], shape="ollama").views()[2].parts[0]
    assert type(result) is ResultPart
    assert result.media == (expected,)


# --- Whose message it is --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "item",
    [
        {"role": "tool", "content": "x", "tool_name": "f"},
        {"role": "user", "content": "look", "images": ["iVBORw0KGgo="]},
        {"role": "assistant", "content": "x", "thinking": "hm"},
        {"role": "assistant", "content": "", "tool_calls": _called("f")["tool_calls"]},
        _called("f", f="call_1"),
        {
            "role": "assistant",
            "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}],
        },
        Message(role="assistant", content="x"),
    ],
)
def test_what_only_ollama_writes_is_known_without_a_hint(item: Any) -> None:
    """Its own fields, and arguments that are an object in a call without an id or a type."""
    ctx = ChatContext([USER, item, ANSWER])
    assert ctx.shape is OLLAMA
    assert ctx.views()[1].shape == "ollama"


@pytest.mark.parametrize(
    "item",
    [
        {"role": "tool", "content": "x", "tool_call_id": "c1"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}],
        },
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": {}}}
            ],
        },
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.b"}}]},
        {"role": "assistant", "content": "x", "refusal": "no"},
    ],
)
def test_what_chat_completions_writes_stays_its_own(item: Item) -> None:
    """A call with an id and a type is no call of Ollama's, even with an object as arguments."""
    ctx = ChatContext([USER, item, ANSWER])
    assert ctx.shape is not None
    assert ctx.shape.name == "openai_chat"


def test_words_alone_may_be_ollamas_and_other_providers_calls_are_not() -> None:
    """A role and a text are written by several providers; a call as text is not Ollama's."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert OLLAMA.fit(USER) == OLLAMA.fit({"role": "tool", "content": "x"}) == "maybe"
    assert OLLAMA.fit({"role": "assistant", "content": "", "tool_calls": [call]}) == "no"
    assert OLLAMA.fit({"role": "tool", "tool_call_id": "c", "content": "x"}) == "no"


def test_arguments_as_text_and_content_as_a_list_are_foreign_to_ollama() -> None:
    """Its server refuses both, so a list that was written for another provider is reported."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    words = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    result = _result(None, tool_call_id="c")
    items = [words, {"role": "assistant", "content": None, "tool_calls": [call]}, result]
    found = ChatContext(items, shape="ollama").check()
    assert [(p.rule, p.index) for p in found] == [("foreign_item", 0), ("foreign_item", 1)]


# --- Rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "rule", "index", "severity"),
    [
        ([USER, _result("f"), ANSWER], "orphan_result", 1, "warning"),
        ([USER, _result("f", tool_call_id="x"), ANSWER], "orphan_result", 1, "error"),
        ([USER, _called("f"), _result("f"), _result("f")], "orphan_result", 3, "warning"),
        ([USER, _called("f"), USER, _result("f")], "late_result", 3, "warning"),
        ([USER, _called("f"), USER], "unanswered_call", 1, "warning"),
        ([USER, _called("f")], "unanswered_call", 1, "pending"),
        ([USER, _called("f", "g"), _result("g")], "unanswered_call", 1, "pending"),
        ([USER, {"role": "assistant", "tool_calls": []}], "empty_message", 1, "warning"),
        ([USER, {"role": "assistant", "content": 5}], "malformed_item", 1, "error"),
        (
            [USER, {**ANSWER, "tool_calls": [{"function": {"arguments": {}}}]}, _result(None)],
            "malformed_item",
            1,
            "error",
        ),
    ],
)
def test_what_the_server_would_mind_is_a_problem_at_its_index(
    items: list[Any], rule: str, index: int, severity: str
) -> None:
    """The server takes any order, so only types, and ids that nobody gave, are errors."""
    found = ChatContext(items, shape="ollama").check()
    assert {(p.rule, p.index, p.severity) for p in found} == {(rule, index, severity)}
    judged = validate(items, "ollama")
    assert any(not v.open for v in judged) is (severity == "error")
    assert any(v.open for v in judged) is (severity == "pending")


def test_an_id_that_no_call_has_is_an_error_in_the_words_of_the_cloud() -> None:
    """Ollama's cloud checks ids where the model's own server does."""
    (found,) = ChatContext([USER, _result("f", tool_call_id="x")], shape="ollama").check()
    assert found.provider_error == "Unexpected tool call id x in tool results"
    assert "https://" in found.source


# --- Writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["developer", "tool", "robot"])
def test_a_summary_in_a_role_that_no_template_has_is_refused(role: str) -> None:
    """What a template does not know it leaves out, and the summary would be lost."""
    with pytest.raises(ShapeError, match=role):
        OLLAMA.summary_item("short", role=role)


def test_what_the_sdk_returned_is_sent_back_as_a_dict_without_what_was_not_said() -> None:
    """Fields that are None are left out; what the model wrote stays as it is."""
    message = Message(
        role="assistant",
        content="",
        thinking="hm",
        tool_calls=_called("f")["tool_calls"],
    )
    item = OLLAMA.replayable(message)
    assert item == {**_called("f"), "thinking": "hm"}
    assert list(_copy_messages([item])) == list(_copy_messages([message]))
    bare = {"role": "assistant", "content": "x", "images": None, "new": 1}
    assert OLLAMA.replayable(bare) == {"role": "assistant", "content": "x", "new": 1}


@pytest.mark.parametrize("sdk", [False, True])
def test_ids_go_to_both_sides_of_what_was_captured(sdk: bool) -> None:
    """A call without an id gets one in a new item, and its result names it."""
    plain = _called("f", "g", **({} if sdk else {"g": "given"}))
    message = Message(**plain) if sdk else plain
    given: list[CallPart] = []

    def new_id(call: CallPart) -> str:
        given.append(call)
        return f"id_{call.name}"

    item = OLLAMA.with_call_ids(message, new_id)
    second = "id_g" if sdk else "given"
    assert [c["id"] for c in item["tool_calls"]] == ["id_f", second]
    assert [c["function"] for c in item["tool_calls"]] == [
        c["function"] for c in plain["tool_calls"]
    ]
    assert [c.name for c in given] == (["f", "g"] if sdk else ["f"])
    assert plain == _called("f", "g", **({} if sdk else {"g": "given"}))
    assert OLLAMA.with_call_ids(item, new_id) is item

    ctx: ChatContext[Any] = ChatContext([USER, item], shape="ollama")
    results = [OLLAMA.result_item(c, f"for {c.name}") for c in reversed(ctx.tool_calls())]
    assert [r["tool_call_id"] for r in results] == [second, "id_f"]
    ctx.extend(results)
    assert [(c.id, c.result) for c in ctx.tool_calls()] == [
        ("id_f", "for f"),
        (second, "for g"),
    ]
    assert ctx.check() == []
    sent = list(_copy_messages(ctx.items))
    assert [m.tool_name for m in sent[2:]] == ["g", "f"]


def test_a_message_without_calls_needs_no_ids() -> None:
    """It is returned as it is, whatever it is."""
    for item in (USER, ANSWER, Message(role="assistant", content="x")):
        assert OLLAMA.with_call_ids(item, lambda call: "never") is item


def test_of_a_message_some_parts_alone_are_left() -> None:
    """Words, pictures and calls; what cannot be split stays whole."""
    shape = shape_named("ollama")
    calls = [{"function": {"name": name, "arguments": {}}} for name in ("a", "b")]
    item = {"role": "assistant", "thinking": "hm", "content": "ok", "tool_calls": calls}
    assert shape.pick(item, {0, 1, 2, 3}) is item
    assert shape.pick(item, ()) is None
    assert shape.pick(item, {1, 3}) == {
        "role": "assistant",
        "content": "ok",
        "tool_calls": calls[1:],
    }
    seen = {"role": "user", "content": "look", "images": ["QUJD", "REVG"]}
    assert shape.pick(seen, {2}) == {"role": "user", "content": "", "images": ["REVG"]}
    assert shape.pick({**seen, "images": "QUJD"}, {0}) == {**seen, "images": "QUJD"}
