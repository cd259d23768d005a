"""The shape `openai_chat`: the conformance suite, and what only Chat Completions has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage
from shapes.conformance import Call, ShapeConformance
from validator import validate

from chatfold import ChatContext
from chatfold.core.views import CallPart, MediaPart, ReasoningPart, TextPart

Item = dict[str, Any]


class ChatWriter:
    """Writes Chat Completions messages."""

    shape = "openai_chat"
    union = "openai.types.chat:ChatCompletionMessageParam"
    fails = False

    def system(self, text: str) -> Item:
        return {"role": "system", "content": text}

    def user(self, text: str) -> Item:
        return {"role": "user", "content": text}

    def picture(self, text: str, data: str) -> Item:
        image = {"url": f"data:image/png;base64,{data}", "detail": "low"}
        parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": image}]
        return {"role": "user", "content": parts}

    def assistant(self, text: str, *, sdk: bool = False) -> Any:
        return self._message({"role": "assistant", "content": text}, sdk)

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        members = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in calls
        ]
        return [self._message({"role": "assistant", "content": None, "tool_calls": members}, sdk)]

    def results(self, *calls: Call) -> list[Any]:
        return [{"role": "tool", "tool_call_id": c.id, "content": c.result} for c in calls]

    def joined(self, results: list[Any]) -> list[Any]:
        return results

    def unknown(self) -> list[Any]:
        return [
            {"role": "brand_new", "content": "x"},
            {"role": "user", "content": [{"type": "brand_new", "data": 1}]},
        ]

    def malformed(self) -> list[Any]:
        return [
            {"role": "assistant", "content": 5},
            {"role": "assistant", "tool_calls": 5},
            {"role": "assistant", "tool_calls": [None]},
            {"role": "assistant", "tool_calls": [{"id": None, "function": None}]},
            {"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": 7}}]},
            {"role": "tool"},
            {"role": "tool", "tool_call_id": None, "content": None},
            {"role": "tool", "tool_call_id": ["x"], "content": [None]},
            {"role": "function", "content": "x"},
        ]

    def _message(self, item: Item, sdk: bool) -> Any:
        return ChatCompletionMessage.model_validate(item) if sdk else item


class TestOpenAIChat(ShapeConformance):
    """Chat Completions passes the shared suite."""

    writer = ChatWriter()


def _called(*calls: Item, content: Any = None) -> Item:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def _function(id_: str, name: str = "get", arguments: str = "{}") -> Item:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def _tool(id_: str, text: str = "ok") -> Item:
    return {"role": "tool", "tool_call_id": id_, "content": text}


USER, ANSWER = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}


def test_calls_without_any_content_are_read() -> None:
    """The content may be left out beside calls; then the message has two keys, and calls."""
    call = {"role": "assistant", "tool_calls": [_function("c1")]}
    legacy = {"role": "assistant", "function_call": {"name": "now", "arguments": "{}"}}
    result = {"role": "function", "name": "now", "content": "noon"}
    ctx = ChatContext([USER, call, _tool("c1"), legacy, result, ANSWER])
    assert [(c.name, c.status) for c in ctx.tool_calls()] == [
        ("get", "completed"),
        ("now", "completed"),
    ]
    assert ctx.check() == []


def test_a_legacy_function_call_is_answered_by_name() -> None:
    """`function_call` and the role `function` have no id: the name joins them."""
    call = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "now", "arguments": "{}"},
    }
    ctx = ChatContext([USER, call, {"role": "function", "name": "now", "content": "noon"}, ANSWER])
    (record,) = ctx.tool_calls()
    assert (record.id, record.name, record.result) == (None, "now", "noon")
    assert ctx.cut_points() == [0, 1, 3, 4]
    assert ctx.check() == []


def test_a_custom_tool_call_has_free_text_as_arguments() -> None:
    """What a custom tool is given is no JSON, even where it looks like it."""
    custom = {"id": "c1", "type": "custom", "custom": {"name": "py", "input": '{"a": 1}'}}
    (record,) = ChatContext([USER, _called(custom), _tool("c1")]).tool_calls()
    assert (record.kind, record.arguments) == ("custom", '{"a": 1}')


@pytest.mark.parametrize("raw", ["", "{", '{"a": 1} and more', "not json", '{"a": NaN'])
def test_arguments_that_are_no_json_are_the_raw_text(raw: str) -> None:
    """Models do not always write valid JSON; then the text itself is what they wrote."""
    (record,) = ChatContext(
        [USER, _called(_function("c1", arguments=raw)), _tool("c1")]
    ).tool_calls()
    assert record.arguments == record.raw_arguments == raw


def test_words_and_calls_of_one_message_are_both_read() -> None:
    """An assistant may speak and call in the same message."""
    view = ChatContext([USER, _called(_function("c1"), content="one moment")]).views()[1]
    assert [type(part) for part in view.parts] == [TextPart, CallPart]


@pytest.mark.parametrize(
    "extra",
    [
        {"reasoning_content": "because"},
        {"reasoning": "because"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "because"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "because"}]},
    ],
)
def test_reasoning_that_other_servers_put_on_the_message_is_read(extra: Item) -> None:
    """DeepSeek, OpenRouter and others add keys; they are read, and stay on the item."""
    item = {"role": "assistant", "content": "hello", **extra}
    ctx = ChatContext([USER, item])
    assert ctx.views()[1].parts == (ReasoningPart("because"), TextPart("hello"))
    assert ctx.shape is not None
    assert ctx.check() == []


def test_encrypted_reasoning_is_counted_and_not_read() -> None:
    """What cannot be read is measured."""
    details = [{"type": "reasoning.encrypted", "data": "x" * 40}]
    view = ChatContext(
        [{"role": "assistant", "content": "a", "reasoning_details": details}]
    ).views()[0]
    assert view.parts[0] == ReasoningPart("", 40)


def test_a_refusal_is_said_once_however_it_is_written() -> None:
    """A refusal stands in its own field, or as a part; both name it as one."""
    field = {"role": "assistant", "content": None, "refusal": "no"}
    part = {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "refusal": "no"}
    for item in (field, part):
        assert ChatContext([USER, item]).views()[1].parts == (TextPart("no", "refusal"),)


def test_spoken_audio_is_read_by_its_transcript() -> None:
    """Sound is an attachment; its transcript is text."""
    audio = {"id": "audio_1", "data": "aGk=", "expires_at": 1, "transcript": "good morning"}
    view = ChatContext([USER, {"role": "assistant", "content": None, "audio": audio}]).views()[1]
    assert view.parts == (MediaPart("audio", None, 2, "audio_1", "good morning"),)


def test_an_instruction_in_the_middle_stays_in_a_fold() -> None:
    """A system or developer message in the head goes on to apply."""
    rule = {"role": "developer", "content": "Answer in French from now on."}
    long = {"role": "assistant", "content": "word " * 400}
    items: list[Any] = [USER, long, rule, USER, long, dict(USER), ANSWER]
    ctx = ChatContext(items)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).kept == (rule,)
    assert ctx.items[1] is rule


@pytest.mark.parametrize(
    ("items", "rule", "index", "severity"),
    [
        ([USER, _tool("c1"), ANSWER], "orphan_result", 1, "error"),
        ([USER, _called(_function("c1")), _tool("c1"), _tool("c2")], "orphan_result", 3, "error"),
        ([USER, _called(_function("c1")), USER, _tool("c1")], "late_result", 3, "error"),
        ([USER, _called(_function("c1")), _tool("c1"), _tool("c1")], "orphan_result", 3, "error"),
        ([USER, _called(_function("c1")), USER], "unanswered_call", 1, "error"),
        ([USER, _called(_function("c1"))], "unanswered_call", 1, "pending"),
        (
            [USER, _called(_function("c1"), _function("c2")), _tool("c2")],
            "unanswered_call",
            1,
            "pending",
        ),
        ([USER, {"role": "assistant", "content": None}, USER], "empty_message", 1, "error"),
        ([USER, {"role": "assistant", "content": 5}], "malformed_item", 1, "error"),
        (
            [USER, _called({"id": "c1", "type": "function"}), _tool("c1")],
            "malformed_item",
            1,
            "error",
        ),
    ],
)
def test_what_the_api_refuses_is_a_problem_at_its_index(
    items: list[Any], rule: str, index: int, severity: str
) -> None:
    """Each broken rule has a problem with the index of the offending item."""
    problems = ChatContext(items, shape="openai_chat").check()
    assert {(p.rule, p.index, p.severity) for p in problems} == {(rule, index, severity)}
    if rule != "malformed_item":
        judged = validate(items, "openai_chat")
        assert {v.index for v in judged} <= set(problems[0].indices)
        assert any(v.open for v in judged) is (severity == "pending")
