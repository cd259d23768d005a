"""The shape `mistral`: the conformance suite, and what only Mistral has."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from mistralai.client import models
from mistralai.client.models import AssistantMessage, ToolMessage, UserMessage
from openai.types.chat import ChatCompletionMessage
from shapes.conformance import Call, ShapeConformance
from shapes.sdk_types import instance, members, refusal, union_named
from validator import validate

from chatfold import ChatContext, Middleware, Policy, Prompt
from chatfold.core.rolling import item_digest
from chatfold.core.views import (
    CallPart,
    MediaPart,
    ReasoningPart,
    ResultPart,
    TextPart,
)
from chatfold.errors import ShapeError
from chatfold.shapes import shape_named
from chatfold.stores import MemoryStore

Item = dict[str, Any]
MISTRAL = shape_named("mistral")
INPUT = "mistralai.client.models:ChatCompletionRequestMessageTypedDict"


class MistralWriter:
    """Writes Mistral's messages, as its SDK dumps them."""

    shape = "mistral"
    union = INPUT
    fails = False

    def system(self, text: str) -> Item:
        return {"role": "system", "content": text}

    def user(self, text: str) -> Item:
        return {"role": "user", "content": text}

    def picture(self, text: str, data: str) -> Item:
        image = {"type": "image_url", "image_url": f"data:image/png;base64,{data}"}
        return {"role": "user", "content": [{"type": "text", "text": text}, image]}

    def assistant(self, text: str, *, sdk: bool = False) -> Any:
        item = {"role": "assistant", "content": text, "prefix": False}
        return AssistantMessage.model_construct(**item) if sdk else item

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        functions = [{"name": c.name, "arguments": json.dumps(c.arguments)} for c in calls]
        ids = [c.id for c in calls]
        if sdk:
            objects = [
                models.ToolCall(id=i, function=models.FunctionCall(**f))
                for i, f in zip(ids, functions, strict=True)
            ]
            return [AssistantMessage(role="assistant", content="", tool_calls=objects)]
        made = [
            {"id": i, "type": "function", "function": f}
            for i, f in zip(ids, functions, strict=True)
        ]
        return [{"role": "assistant", "content": "", "tool_calls": made, "prefix": False}]

    def results(self, *calls: Call) -> list[Any]:
        return [
            {"role": "tool", "name": c.name, "tool_call_id": c.id, "content": c.result}
            for c in calls
        ]

    def joined(self, results: list[Any]) -> list[Any]:
        return results

    def unknown(self) -> list[Any]:
        return [
            {"role": "brand_new", "content": "x"},
            {"role": "user", "content": [{"type": "brand_new", "data": 1}]},
            AssistantMessage.model_validate({"content": [{"type": "brand_new", "data": 1}]}),
        ]

    def malformed(self) -> list[Any]:
        return [
            {"role": "assistant", "content": 5},
            {"role": "assistant", "tool_calls": 5},
            {"role": "assistant", "content": ""},
            {"role": "assistant", "tool_calls": [None]},
            {"role": "assistant", "tool_calls": [{"id": "callAAAA1", "function": {"name": 7}}]},
            {"role": "tool", "content": None, "tool_call_id": "callAAAA1", "name": "f"},
            {"role": "tool", "content": "x", "tool_call_id": "null", "name": "f"},
        ]


class TestMistral(ShapeConformance):
    """Mistral passes the shared suite."""

    writer = MistralWriter()


USER, ANSWER = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}
SYSTEM = {"role": "system", "content": "Be brief."}
ONE, TWO = "callAAAA1", "callAAAA2"


def _call(id_: str | None = ONE, name: str = "get", arguments: Any = "{}") -> Item:
    key = {} if id_ is None else {"id": id_}
    return {**key, "type": "function", "function": {"name": name, "arguments": arguments}}


def _called(*calls: Item, content: Any = "") -> Item:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def _tool(id_: str | None = ONE, text: Any = "ok", **more: Any) -> Item:
    key = {} if id_ is None else {"tool_call_id": id_}
    return {"role": "tool", **key, "content": text, **more}


def _said(*chunks: Any, role: str = "user") -> Item:
    return {"role": role, "content": list(chunks)}


def _parts(item: Any) -> tuple[Any, ...]:
    return ChatContext([item], shape="mistral").views()[0].parts


# --- Reading --------------------------------------------------------------------------------------

CHUNKS: dict[str, type] = {
    "text": TextPart,
    "image_url": MediaPart,
    "document_url": MediaPart,
    "reference": MediaPart,
    "file": MediaPart,
    "thinking": ReasoningPart,
    "input_audio": MediaPart,
    "resource": MediaPart,
    "resource_link": MediaPart,
}


@pytest.mark.parametrize("label", CHUNKS)
def test_a_chunk_of_the_sdk_is_read_as_what_it_is(label: str) -> None:
    """Each type that the SDK lists has a reading, as a dict and as the SDK's own object."""
    (cls,) = [m.cls for m in members(models.ContentChunk) if m.label == label]
    for full in (False, True):
        chunk = instance(cls, full=full)
        chunk["type"] = label
        if label == "resource":  # its type is not required, and needed to tell what it holds
            chunk["content"] = {"type": "text", "text": "page"}
        for given in (chunk, cls.model_validate(chunk)):
            for item in (_said(given), _said(given, role="assistant")):
                (part,) = _parts(item)
                assert type(part) is CHUNKS[label]
                assert getattr(part, "known", True)
            if not isinstance(given, dict):
                assert type(_parts(UserMessage(content=[given]))[0]) is CHUNKS[label]
            text = _tool(text=[given])
            assert type(ChatContext([text], shape="mistral").views()[0].parts[0]) is ResultPart


def test_the_sdk_lists_no_chunk_that_is_not_known() -> None:
    """A chunk that a newer SDK adds shows here; until then it passes through as unknown."""
    listed = {m.label for m in members(models.ContentChunk)} - {"UNKNOWN"}
    assert listed == set(CHUNKS)
    inside = {m.label for m in members(models.Thinking)}
    assert inside == {"text", "reference", "tool_reference"}


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (
            {"type": "image_url", "image_url": "https://a.b/c.png"},
            MediaPart("image", None, None, "https://a.b/c.png"),
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            MediaPart("image", "image/png", 2),
        ),
        (
            {"type": "document_url", "document_url": "https://a.b/c", "document_name": "c.pdf"},
            MediaPart("document", None, None, "c.pdf", "", "https://a.b/c"),
        ),
        (
            models.DocumentURLChunk(document_url="https://a.b/c"),
            MediaPart("document", None, None, "https://a.b/c"),
        ),
        ({"type": "file", "file_id": "f1"}, MediaPart("file", None, None, "f1")),
        (
            {"type": "file", "file": {"file_id": "f1", "filename": "a.txt"}},
            MediaPart("file", None, None, "a.txt", source="f1"),
        ),
        ({"type": "input_audio", "input_audio": "aGk="}, MediaPart("audio", None, 2)),
        (
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
            MediaPart("audio", "audio/wav", 2),
        ),
        (
            {"type": "input_audio", "input_audio": "https://a.b/c.mp3"},
            MediaPart("audio", None, None, "https://a.b/c.mp3"),
        ),
        (
            {"type": "resource", "uri": "u:1", "content": {"type": "text", "text": "page"}},
            MediaPart("resource", None, None, "u:1", "page"),
        ),
        (
            {
                "type": "resource",
                "uri": "u:1",
                "content": {"type": "image_url", "image_url": "data:image/png;base64,aGk="},
            },
            MediaPart("image", "image/png", 2, "u:1"),
        ),
        ({"type": "resource_link", "uri": "u:2"}, MediaPart("resource", None, None, "u:2")),
    ],
)
def test_what_is_attached_is_named_and_measured(chunk: Any, expected: MediaPart) -> None:
    """A name or an address, the type where it is told, and the number of bytes."""
    assert _parts(_said(chunk)) == (expected,)


def test_thinking_is_read_with_what_it_refers_to() -> None:
    """Its words one after the other; what is no text, as its JSON."""
    thinking = [
        {"type": "text", "text": "first"},
        {"type": "reference", "reference_ids": [7]},
        {"type": "text", "text": "second"},
    ]
    (part,) = _parts(_said({"type": "thinking", "thinking": thinking}, role="assistant"))
    lines = part.text.split("\n")
    assert (lines[0], lines[2]) == ("first", "second")
    assert json.loads(lines[1]) == thinking[1]


def test_a_chunk_that_the_sdk_does_not_know_is_read_as_the_server_wrote_it() -> None:
    """The SDK wraps it in an object of its own; the wrapper is no part of the conversation."""
    item = AssistantMessage.model_validate({"content": [{"type": "brand_new", "x": 1}]})
    assert _parts(item) == _parts(_said({"type": "brand_new", "x": 1}, role="assistant"))


@pytest.mark.parametrize("arguments", ['{"a": 1}', {"a": 1}])
@pytest.mark.parametrize("sdk", [False, True])
def test_arguments_are_a_text_or_an_object(arguments: Any, sdk: bool) -> None:
    """Both are what the model wrote."""
    item: Any = _called(_call(arguments=arguments))
    if sdk:
        item = AssistantMessage.model_validate(item)
    (record,) = ChatContext([USER, item, _tool()], shape="mistral").tool_calls()
    assert (record.id, record.name, record.arguments) == (ONE, "get", {"a": 1})


def test_the_id_null_is_no_id() -> None:
    """It is what the SDK's type has by default; such calls are read by name and place."""
    item = AssistantMessage.model_validate(_called(_call(None, "a"), _call("null", "b")))
    results = [_tool("null", "2", name="b"), _tool(None, "1", name="a")]
    ctx = ChatContext([USER, item, *results], shape="mistral")
    assert [(c.id, c.result) for c in ctx.tool_calls()] == [(None, "1"), (None, "2")]
    assert {(p.rule, p.index) for p in ctx.check()} == {
        ("missing_call_id", 1),
        ("missing_call_id", 2),
        ("missing_call_id", 3),
    }


def test_fields_that_the_sdk_says_are_not_set_are_not_there() -> None:
    """`content` and `tool_calls` of the SDK's objects may be its `UNSET`."""
    calls = [models.ToolCall(id=ONE, function=models.FunctionCall(name="f", arguments="{}"))]
    bare = AssistantMessage(tool_calls=calls)
    assert _parts(bare) == (CallPart(ONE, "f", "{}"),)
    assert _parts({"role": "assistant", "content": "x", "tool_calls": UNSET}) == (TextPart("x"),)
    nameless = ToolMessage(content="ok", tool_call_id=ONE)
    assert _parts(nameless) == (ResultPart(ONE, None, "ok"),)


UNSET = AssistantMessage(content="x").tool_calls


# --- Whose message it is --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "item",
    [
        {"role": "assistant", "content": "Dear", "prefix": True},
        {**_called(_call()), "prefix": False},
        _said({"type": "document_url", "document_url": "https://a.b"}),
        _said({"type": "reference", "reference_ids": [1]}, role="assistant"),
        _said({"type": "thinking", "thinking": []}, role="assistant"),
        _called(_call(arguments={"a": 1})),
        UserMessage(content="hi"),
        ToolMessage(content="hi", tool_call_id=ONE),
    ],
)
def test_what_only_mistral_writes_is_known_without_a_hint(item: Any) -> None:
    """Its prefix, its chunks and its SDK's objects."""
    ctx = ChatContext([USER, item])
    assert ctx.shape is MISTRAL
    assert ctx.views()[1].shape == "mistral"


@pytest.mark.parametrize("item", [_called(_call("call_1")), _tool("call_1")])
def test_what_others_write_alike_stays_chat_completions(item: Item) -> None:
    """A call and a result of plain dicts are of both, so a hint is needed."""
    ctx = ChatContext([USER, item])
    assert ctx.shape is shape_named("openai_chat")
    assert {v.shape for v in ChatContext([USER, item], shape="mistral").views()} == {"mistral"}


def test_what_chat_completions_has_too_may_be_mistrals() -> None:
    """A role with a text, chunks that several providers take, and calls tell nothing."""
    chunk = {"type": "text", "text": "hi"}
    picture = {"type": "image_url", "image_url": "https://a.b"}
    shared = (USER, _said(chunk), _called(_call("call_1")), _tool("call_1"))
    assert [MISTRAL.fit(item) for item in shared] == ["maybe"] * len(shared)
    assert MISTRAL.fit(_said(picture)) == "also"
    own_ids = (_called(_call()), _called(_call(), _call("call_1")), _tool(), _tool(name="f"))
    assert [MISTRAL.fit(item) for item in own_ids] == ["also", "maybe", "also", "maybe"]
    assert MISTRAL.fit(_said({"type": "video_url", "video_url": "https://a.b"})) == "no"
    assert MISTRAL.fit({**USER, "name": "dana"}) == "no"


OBJECT = _called(_call(arguments={"a": 1}))
TEXT = _called(_call(TWO))
PICTURE = _said({"type": "image_url", "image_url": "https://example.com/a.png"})


@pytest.mark.parametrize(
    ("items", "name"),
    [
        ([USER, OBJECT, _tool(), ANSWER], "mistral"),
        ([USER, OBJECT, _tool(), ANSWER, USER, TEXT, _tool(TWO), ANSWER], "mistral"),
        ([USER, TEXT, _tool(TWO), ANSWER, USER, OBJECT, _tool(), ANSWER], "mistral"),
        ([USER, OBJECT, _tool(), ANSWER, PICTURE, ANSWER], "mistral"),
        ([USER, OBJECT, _tool(), ANSWER, USER, _called(_call("call_1")), ANSWER], "openai_chat"),
        ([PICTURE, ANSWER], "openai_chat"),
        ([USER, TEXT, _tool(TWO), ANSWER], "openai_chat"),
        ([USER, _called(_call("call_1", arguments={})), _tool("call_1")], "openai_chat"),
    ],
)
def test_arguments_as_objects_under_ids_of_mistrals_form_are_mistrals(
    items: list[Item], name: str
) -> None:
    """Whatever came before or comes behind them under such ids is read as they are."""
    for ctx in (ChatContext(items), ChatContext()):
        for item in items[len(ctx.items) :]:
            ctx.append(item)
            assert ctx.plan(keep_last_turns=1) is not None  # reads what is there so far
        assert ctx.shape is shape_named(name)
    if name == "mistral":
        assert ChatContext(items).check() == []


def test_what_stands_before_another_providers_messages_tells_nothing() -> None:
    """However the list came to be: ids of Mistral's form behind those are of either again."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "get", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    claude = [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    items = [USER, OBJECT, _tool(), ANSWER, *claude, ANSWER, USER, TEXT, _tool(TWO), ANSWER]
    for step in (1, 2, 3, 4, 6, len(items)):
        ctx = ChatContext()
        for start in range(0, len(items), step):
            ctx.items.extend(items[start : start + step])
            ctx.check()
        assert ctx.shape is shape_named("openai_chat"), step


def test_a_list_stays_mistrals_when_what_told_it_is_folded() -> None:
    """Ids of Mistral's form alone are as sure a sign of Chat Completions."""
    ctx = ChatContext(
        [USER, OBJECT, _tool(text="x" * 4000), ANSWER, USER, TEXT, _tool(TWO), ANSWER]
    )
    assert ctx.summarize(lambda prompt: "They said hello.", keep_last_turns=1).changed
    assert ctx.items[-3:] == [TEXT, _tool(TWO), ANSWER]
    assert ctx.check() == []
    assert ctx.shape is MISTRAL


def test_the_objects_of_other_sdks_are_foreign() -> None:
    """Mistral's client does not take them, however much they look like its own."""
    items = [USER, ChatCompletionMessage(role="assistant", content="hello"), USER]
    problems = ChatContext(items, shape="mistral").check()
    assert [(p.rule, p.index) for p in problems] == [("foreign_item", 1)]


def test_a_named_result_does_not_turn_a_list_of_mistrals_into_another() -> None:
    """It may be of either, so the message before it decides."""
    calls = [models.ToolCall(id=ONE, function=models.FunctionCall(name="f", arguments="{}"))]
    for message, name in (
        (AssistantMessage(tool_calls=calls), "mistral"),
        (_called(_call()), "openai_chat"),
    ):
        ctx = ChatContext([USER, message, _tool(name="f")])
        assert ctx.shape is shape_named(name)


@pytest.mark.parametrize(
    "item",
    [
        {"role": "developer", "content": "x"},
        {"role": "function", "name": "f", "content": "x"},
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}},
        _called({"id": ONE, "type": "custom", "custom": {"name": "f", "input": ""}}),
        {"role": "tool", "content": "x", "tool_name": "f"},
    ],
)
def test_what_mistral_does_not_take_is_foreign(item: Item) -> None:
    """Roles and fields of other providers are reported, not passed off as Mistral's."""
    problems = ChatContext([USER, item, USER], shape="mistral").check()
    assert ("foreign_item", 1) in [(p.rule, p.index) for p in problems]


# --- Rules ----------------------------------------------------------------------------------------

LATE = _called(_call(TWO))


@pytest.mark.parametrize(
    ("items", "rule", "index", "severity"),
    [
        ([USER, _called(_call())], "unanswered_call", 1, "pending"),
        ([USER, _called(_call(), _call(TWO)), _tool(TWO)], "unanswered_call", 1, "pending"),
        ([USER, _called(_call()), USER], "unanswered_call", 1, "error"),
        ([USER, _called(_call()), ANSWER], "unanswered_call", 1, "error"),
        ([USER, _tool(), ANSWER], "orphan_result", 1, "error"),
        ([USER, _called(_call()), _tool(), _tool()], "orphan_result", 3, "error"),
        ([USER, _called(_call()), USER, _tool()], "late_result", 3, "error"),
        ([USER, _called(_call()), _tool(), USER], "unexpected_role", 3, "error"),
        ([USER, _called(_call()), _tool(), SYSTEM], "unexpected_role", 3, "error"),
        ([USER, ANSWER, SYSTEM, USER], "unexpected_role", 2, "error"),
        ([_called(_call()), _tool(), ANSWER], "first_role", 0, "error"),
        ([USER, {"role": "assistant", "content": ""}, USER], "empty_message", 1, "error"),
        ([USER, {**ANSWER, "prefix": True}, USER], "prefix_not_last", 1, "error"),
        (
            [USER, _called(_call(), _call()), _tool(), _tool(), ANSWER],
            "duplicate_call_id",
            1,
            "error",
        ),
        ([USER, _called(_call("null")), _tool(name="get")], "missing_call_id", 1, "error"),
        ([USER, _called(_call("call_1")), _tool(ONE)], None, 0, ""),
        ([USER, _called(_call(name="a b")), _tool()], "tool_name", 1, "error"),
        ([USER, _called(_call(name="")), _tool()], "malformed_item", 1, "error"),
        ([USER, {"role": "user", "content": None}], "malformed_item", 1, "error"),
    ],
)
def test_what_the_api_refuses_is_a_problem_at_its_index(
    items: list[Any], rule: str | None, index: int, severity: str
) -> None:
    """Each broken rule has a problem with the index of the offending item."""
    problems = ChatContext(items, shape="mistral").check()
    if rule is None:  # two rules at once
        assert {p.rule for p in problems} == {"call_id_form", "orphan_result", "unanswered_call"}
        return
    found = {(p.rule, p.index, p.severity) for p in problems}
    assert found == {(rule, index, severity)}
    if rule not in ("malformed_item", "missing_call_id"):
        judged = validate(items, "mistral")
        assert {v.index for v in judged} <= set(problems[0].indices)
        assert any(v.open for v in judged) is (severity == "pending")
        assert all(p.provider_error for p in problems)


@pytest.mark.parametrize(
    "items",
    [
        [SYSTEM, SYSTEM, USER, USER, ANSWER, ANSWER, USER],
        [USER, SYSTEM, ANSWER, USER],
        [ANSWER, USER, ANSWER],
        [SYSTEM, _called(_call()), _tool(), ANSWER],
        [USER, _called(_call(), content="one moment"), _tool(), LATE, _tool(TWO), ANSWER],
        [USER, _called(_call()), _tool(), ANSWER, USER, _called(_call()), _tool()],
        [USER, {**ANSWER, "prefix": True}],
        [USER, _called(_call(), _call(TWO)), _tool(TWO), _tool(), ANSWER],
    ],
)
def test_what_the_api_takes_is_no_problem(items: list[Any]) -> None:
    """Roles in a row, instructions behind a user, ids that recur in a later step."""
    assert ChatContext(items, shape="mistral").check() == []
    assert validate(items, "mistral") == []


def test_an_id_that_only_the_newest_models_take_is_a_warning() -> None:
    """A history from another provider has longer ids; what is refused depends on the model."""
    items = [USER, _called(_call("call_AbC-1")), _tool("call_AbC-1"), ANSWER]
    found = ChatContext(items, shape="mistral").check()
    assert [(p.rule, p.index, p.severity) for p in found] == [
        ("call_id_form", 1, "warning"),
        ("call_id_form", 2, "warning"),
    ]
    assert [v.rule for v in validate(items, "mistral", strict=True)] == [
        "id_form",
        "id_form",
        "last_role",
    ]


# --- Folding --------------------------------------------------------------------------------------

LONG = "much was said about it. " * 40


def test_an_instruction_keeps_what_stood_before_it_when_an_answer_is_pinned() -> None:
    """Behind the pinned answer it would be refused, so the user's message stays with it."""
    pinned, asked, rule = {**ANSWER, "content": "pinned"}, dict(USER), dict(SYSTEM)
    items: list[Any] = [
        {"role": "user", "content": LONG},
        pinned,
        {"role": "user", "content": LONG},
        {**ANSWER, "content": LONG},
        asked,
        rule,
        {**ANSWER, "content": LONG},
        dict(USER),
        dict(ANSWER),
    ]
    ctx = ChatContext(items, shape="mistral", pin=lambda item: item is pinned)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert [item is kept for item, kept in zip(items[1:4], (pinned, asked, rule), strict=True)]
    assert items[2] is asked
    assert ctx.check() == []
    assert validate(items, "mistral") == []


def test_a_pinned_tool_round_keeps_the_answer_before_the_next_user() -> None:
    """A user may not follow a result, so the answer between them stays; other steps go."""
    pinned, answer = _called(_call()), {**ANSWER, "content": "done"}
    items: list[Any] = [
        {"role": "user", "content": LONG},
        pinned,
        _tool(),
        _called(_call(TWO)),
        _tool(TWO, LONG),
        answer,
        dict(USER),
        dict(ANSWER),
    ]
    ctx = ChatContext(items, shape="mistral", pin=lambda item: item is pinned)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert items[1] is pinned
    assert items[3] is answer
    assert len(items) == 6
    assert ctx.check() == []
    assert validate(items, "mistral") == []


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_pinned_tool_round_keeps_its_answer_where_the_user_speaks_next(meanwhile: bool) -> None:
    """At the end of the list, too: whoever says something there follows what was pinned."""
    pinned, answer, late = _called(_call()), {**ANSWER, "content": "done"}, dict(USER)
    items: list[Any] = [
        {"role": "user", "content": LONG},
        pinned,
        _tool(),
        answer,
        {"role": "user", "content": LONG},
        {**ANSWER, "content": LONG},
    ]
    ctx = ChatContext(items, shape="mistral", pin=lambda item: item is pinned)

    def asked(prompt: Prompt) -> str:
        ctx.extend([late] if meanwhile else [])
        return "short"

    outcome = ctx.summarize(asked, keep_last_turns=0)
    ctx.extend([] if meanwhile else [late])
    assert [outcome.item, *outcome.kept, late] == items
    assert [item["role"] for item in outcome.kept] == ["assistant", "tool", "assistant"]
    assert outcome.kept[2] is answer
    assert ctx.check() == []
    assert validate(items, "mistral") == []


def test_a_round_that_is_pinned_while_its_turn_goes_on_needs_no_answer() -> None:
    """The assistant speaks next, behind the request that stays."""
    pinned, asked = _called(_call()), dict(USER)
    items: list[Any] = [{"role": "user", "content": LONG}, pinned, _tool(), dict(ANSWER), asked]
    ctx = ChatContext(items, shape="mistral", pin=lambda item: item is pinned)
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=0)
    assert outcome.kept[:2] == (pinned, items[2])
    assert outcome.kept[-1] is asked


def test_a_pinned_tool_round_keeps_a_call_that_was_given_up_where_no_answer_followed() -> None:
    """Else the user would follow the pinned result, which is an error that the list had not."""
    pinned, given_up = _called(_call()), _called(_call(TWO))
    items: list[Any] = [
        {"role": "user", "content": LONG},
        pinned,
        _tool(),
        given_up,
        dict(USER),
        dict(ANSWER),
    ]
    ctx = ChatContext(items, shape="mistral", pin=lambda item: item is pinned)
    before = [problem.rule for problem in ctx.check()]
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert items[1] is pinned
    assert items[3] is given_up
    assert [problem.rule for problem in ctx.check()] == before
    later = {**ANSWER, "content": "done"}
    items = [*items[1:4], dict(USER), later, {**USER, "content": LONG}, dict(ANSWER), dict(USER)]
    ctx = ChatContext(items, shape="mistral", pin=lambda item: item is pinned)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert [items[3] is later, given_up in items] == [
        True,
        False,
    ]  # an answer is kept before a call


def test_what_must_stay_may_need_what_stood_before_it_in_its_turn() -> None:
    """An instruction needs the user before it, and that one the answer behind the pinned result."""
    pinned, answer, asked, rule = _called(_call()), {**ANSWER, "content": "done"}, USER, SYSTEM
    items: list[Any] = [
        {"role": "user", "content": LONG},
        *(pinned, _tool(), answer),
        *({"role": "user", "content": LONG}, {**ANSWER, "content": LONG}),
        *(asked, rule, {**ANSWER, "content": LONG}),
        *(dict(USER), dict(ANSWER)),
    ]
    ctx = ChatContext(items, shape="mistral", pin=lambda item: item is pinned)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert all(a is b for a, b in zip(items[3:6], (answer, asked, rule), strict=True))
    assert ctx.check() == []
    assert validate(items, "mistral") == []


def test_what_stood_in_a_wrong_place_before_stays_there() -> None:
    """A list that breaks the order already is folded, and gets no error that it did not have."""
    pinned, rule = {**ANSWER, "content": "pinned"}, dict(SYSTEM)
    items: list[Any] = [
        {"role": "user", "content": LONG},
        pinned,
        rule,
        {**ANSWER, "content": LONG},
        dict(USER),
        dict(ANSWER),
    ]
    ctx = ChatContext(items, shape="mistral", pin=lambda item: item is pinned)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert items[1] is pinned
    assert items[2] is rule
    assert [(p.rule, p.index) for p in ctx.check()] == [("unexpected_role", 2)]


def test_another_providers_call_in_front_is_only_foreign() -> None:
    """Mistral's rules are not applied to what is not its own."""
    custom = {"id": ONE, "type": "custom", "custom": {"name": "f", "input": ""}}
    rules = {p.rule for p in ChatContext([_called(custom), _tool(), USER], shape="mistral").check()}
    assert rules >= {"foreign_item"}
    assert "first_role" not in rules


# --- Writing --------------------------------------------------------------------------------------


def test_what_the_user_says_while_tools_run_comes_behind_a_note_that_they_were_not_answered() -> (
    None
):
    """The results go behind their calls, and no user may speak right behind these."""
    ctx: ChatContext[Any] = ChatContext([USER, _called(_call(), _call(TWO))], shape="mistral")
    more = [{"role": "user", "content": "hurry"}, {"role": "user", "content": "please"}]

    def tool(**arguments: Any) -> str:
        if more:
            ctx.extend(more)
            more.clear()
        return "done"

    name = str(ctx.tool_calls()[0].name)
    ran = ctx.run_tool_calls({name: tool})
    assert [i["role"] for i in ran] == ["tool", "tool", "assistant"]
    assert [i["role"] for i in ctx.items[2:]] == ["tool", "tool", "assistant", "user", "user"]
    assert ctx.items[2:5] == list(ran)
    assert "The assistant did not say this" in ran[2]["content"]
    assert ctx.check() == []
    assert validate(ctx.items, "mistral") == []


@pytest.mark.parametrize("more", [[], [ANSWER]])
def test_results_get_no_note_where_the_user_has_not_gone_on(more: list[Any]) -> None:
    """The model is to answer them now, or something was said in its name already."""
    ctx: ChatContext[Any] = ChatContext([USER, _called(_call())], shape="mistral")

    def tool(**arguments: Any) -> str:
        ctx.extend(more)
        return "done"

    ran = ctx.run_tool_calls({str(ctx.tool_calls()[0].name): tool})
    assert [i["role"] for i in ran] == ["tool"]
    assert ctx.items[2:] == [*ran, *more]


@pytest.mark.parametrize("role", ["developer", "tool", "robot"])
def test_a_summary_in_a_role_that_mistral_does_not_have_is_refused(role: str) -> None:
    """The error names the role."""
    with pytest.raises(ShapeError, match=role):
        MISTRAL.summary_item("short", role=role)


RESPONSES = [
    {"role": "assistant", "content": "hello"},
    {"role": "assistant", "content": "", "tool_calls": [{**_call(), "index": 0}]},
    {"role": "assistant", "content": "x", "tool_calls": None, "prefix": False},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": None},
            {"type": "text", "text": "so"},
            {"type": "reference", "reference_ids": [1, "b"]},
        ],
    },
]


@pytest.mark.parametrize("wire", RESPONSES)
def test_what_the_sdk_returned_is_sent_back_as_the_server_wrote_it(wire: Item) -> None:
    """The dict says what was said, no more and no less, and is valid input."""
    item = MISTRAL.replayable(AssistantMessage.model_validate(wire))
    assert item == wire
    assert MISTRAL.replayable(wire) is wire
    assert refusal(union_named(INPUT), item) == ""


def test_a_new_chunk_is_sent_back_as_the_server_wrote_it() -> None:
    """What the SDK does not know comes out of the object that it wraps it in."""
    wire = {"role": "assistant", "content": [{"type": "brand_new", "raw": {"a": 1}}]}
    assert MISTRAL.replayable(AssistantMessage.model_validate(wire)) == wire


def test_objects_that_were_made_without_their_roles_come_back_with_them() -> None:
    """As the SDK's own examples make them: the role and the type are what the class says."""
    said = models.TextChunk(text="Where is my order LK-20417? " * 30)
    asked = [UserMessage(content=[said]), AssistantMessage(content="It is in Berlin. " * 30)]
    store = MemoryStore()
    items: list[Any] = [*asked, UserMessage(content="Thanks.")]
    ctx = ChatContext(items, store=store, key="one")
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    fresh = ChatContext(list(items), store=store, key="one")
    assert fresh.undo().changed
    assert fresh.items[:2] == [
        {"role": "user", "content": [{"type": "text", "text": said.text}]},
        {"role": "assistant", "content": asked[1].content},
    ]
    assert fresh.check() == []
    call = models.ToolCall(id="call12345", function=models.FunctionCall(name="f", arguments="{}"))
    made = AssistantMessage(content=[said], tool_calls=[call])
    changed = shape_named("mistral").with_other_id(made, 1, "call54321")
    assert changed["content"] == [{"type": "text", "text": said.text}]


def test_an_object_that_was_made_without_a_role_is_sent_with_one() -> None:
    """Fields that were not set are left out; the role has to be there."""
    assert MISTRAL.replayable(AssistantMessage(content="x")) == {
        "role": "assistant",
        "content": "x",
    }


@pytest.mark.parametrize("sdk", [False, True])
def test_ids_of_nine_characters_go_to_both_sides_of_what_was_captured(sdk: bool) -> None:
    """Whatever the caller's ids look like, the provider takes what is written."""
    plain = _called(_call(None, "f"), _call("null", "g"), _call(TWO, "h"))
    before = json.dumps(plain)
    message: Any = AssistantMessage.model_validate(plain) if sdk else plain
    item = MISTRAL.with_call_ids(message, lambda call: f"call_{call.name}_0123456789abcdef")
    ids = [c["id"] for c in item["tool_calls"]]
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", i) for i in ids)
    assert len(set(ids)) == 3
    assert ids[2] == TWO
    assert json.dumps(plain) == before
    assert [c["function"] for c in item["tool_calls"]] == [
        c["function"] for c in plain["tool_calls"]
    ]
    again = MISTRAL.with_call_ids(message, lambda call: f"call_{call.name}_0123456789abcdef")
    assert again == item
    assert MISTRAL.with_call_ids(item, lambda call: "never") is item

    ctx: ChatContext[Any] = ChatContext([USER, item], shape="mistral")
    results = [MISTRAL.result_item(c, f"for {c.name}") for c in reversed(ctx.tool_calls())]
    assert [r["name"] for r in results] == ["h", "g", "f"]
    assert all(refusal(union_named(INPUT), r) == "" for r in results)
    ctx.extend(results)
    assert [c.result for c in ctx.tool_calls()] == ["for f", "for g", "for h"]
    assert ctx.check() == []
    assert validate(ctx.items, "mistral", strict=True) == []


def test_an_id_that_mistral_takes_is_written_as_it_is() -> None:
    """Nothing is changed without need, and near misses are."""
    for text, kept in (("D681PevKs", True), ("D681PevK", False), ("D681-evKs", False)):
        made = MISTRAL.with_call_ids(_called(_call(None)), lambda call, text=text: text)
        assert (made["tool_calls"][0]["id"] == text) is kept


def test_any_text_becomes_an_id_of_letters_and_digits() -> None:
    """Whatever the caller counts with, and never the same id for two texts of a list."""
    made = [
        MISTRAL.with_call_ids(_called(_call(None)), lambda call, n=n: f"call_{n}\ud800")
        for n in range(300)
    ]
    ids = [item["tool_calls"][0]["id"] for item in made]
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", i) for i in ids)
    assert len(set(ids)) == 300


def test_a_message_without_calls_needs_no_ids() -> None:
    """It is returned as it is, whatever it is."""
    for item in (USER, ANSWER, AssistantMessage(content="x")):
        assert MISTRAL.with_call_ids(item, lambda call: "never") is item


@pytest.mark.parametrize("sdk", [False, True])
def test_calls_of_one_message_under_one_id_get_ids_of_their_own(sdk: bool) -> None:
    """Of nine letters and digits again; each result goes with its call."""
    called: Any = _called(_call(ONE), _call(ONE, "put"), content="look")
    answers: list[Any] = [_tool(ONE, "1"), _tool(ONE, "2")]
    if sdk:
        called = AssistantMessage.model_validate(called)
        answers = [ToolMessage.model_validate(answer) for answer in answers]
    items = [_said("q"), called, *answers, _said("done", role="assistant")]
    ctx: ChatContext[Any] = ChatContext(items, shape="mistral")
    (repair,) = ctx.repair()
    assert (repair.action, repair.indices) == ("renamed", (1, 3))
    first, second = ctx.tool_calls()
    assert (first.id, first.result) == (ONE, "1")
    assert (second.name, second.result) == ("put", "2")
    assert second.id is not None
    assert re.fullmatch("[a-zA-Z0-9]{9}", second.id)
    assert [p for p in ctx.check() if p.rule != "unknown_part"] == []
    assert items[2] is answers[0]


def test_only_calls_and_results_have_another_id() -> None:
    """Words, a place where nothing is, and a call that is none are left as they are."""
    said, broken = _said("q"), _called(_call(ONE))
    broken["tool_calls"] = [None]
    assert MISTRAL.with_other_id(said, 0, TWO) is said
    assert MISTRAL.with_other_id(said, 9, TWO) is said
    assert MISTRAL.with_other_id({"role": "state"}, 0, TWO) == {"role": "state"}
    for part in range(len(_parts(broken))):
        assert MISTRAL.with_other_id(broken, part, TWO) is broken


@pytest.mark.parametrize(
    "item",
    [
        UserMessage(content="Where is it?"),
        AssistantMessage(content=""),
        AssistantMessage(content="", prefix=False),
        AssistantMessage(
            content="",
            tool_calls=[
                models.ToolCall(**named, function=models.FunctionCall(name="f", arguments="{}"))
                for named in ({}, {"id": "abcdefghi"})
            ],
        ),
        ToolMessage(content="Here.", tool_call_id="abcdefghi", name="f"),
    ],
)
def test_a_message_says_the_same_in_the_sdk_s_json(item: Any) -> None:
    """An object leaves fields out that its JSON has at their default."""
    told = json.loads(item.model_dump_json())
    assert item_digest(MISTRAL.said(told)) == item_digest(MISTRAL.said(item))
    assert item_digest(MISTRAL.said({**told, "prefix": True})) != item_digest(MISTRAL.said(item))


class Mute(UserMessage):
    """A message that cannot say what it holds."""

    def model_dump(self, **options: Any) -> Any:
        raise RuntimeError("not today")


@pytest.mark.parametrize(
    "item", [None, "text", {"tool_calls": "f"}, {"tool_calls": ["f", None]}, Mute(content="x")]
)
def test_what_is_no_message_says_what_it_is(item: Any) -> None:
    assert MISTRAL.said(item) == item


def test_a_history_from_the_sdk_s_json_is_found_again() -> None:
    """In another process, with the store."""
    turn = [UserMessage(content="Where is it? " * 40), AssistantMessage(content="Here. " * 40)]
    host, store = [*turn * 8, turn[0]], MemoryStore()
    policy = Policy(max_tokens=1_000, keep_tokens=300)

    def fold(items: list[Any]) -> str:
        wrapper = Middleware[Any](lambda _: "It was found.", policy, store, shape="mistral")
        return wrapper.fold(items, key="k").outcome.reason

    assert fold(host) == "summarized"
    assert fold([json.loads(item.model_dump_json()) for item in host]) == "reused"


def test_a_call_of_the_sdk_in_a_message_that_is_a_dict_says_what_its_json_says() -> None:
    """Its JSON names each default, as a host's copy of it does."""
    function = models.FunctionCall(name="find", arguments="{}")
    call = models.ToolCall(function=function, id="call00001", type="function", index=0)
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    again = {**message, "tool_calls": [call.model_dump(mode="json")]}
    assert item_digest(MISTRAL.said(message)) == item_digest(MISTRAL.said(again))
