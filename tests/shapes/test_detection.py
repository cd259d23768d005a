"""Which shape a list is of, without a hint: what decides, and what stays open."""

from __future__ import annotations

import re
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai.types import Content
from mistralai.client.models import AssistantMessage, ToolMessage
from ollama import Message as OllamaMessage
from openai.types.chat import ChatCompletionMessage
from strategies import SHAPES as NAMES
from strategies import support_call
from validator import validate

from chatfold import ChatContext
from chatfold.errors import UnknownShapeError
from chatfold.shapes import SHAPES, shape_named

Item = dict[str, Any]

USER = {"role": "user", "content": "Where is my order?"}
ANSWER = {"role": "assistant", "content": "On its way. " * 40}
CHAT_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "get", "arguments": "{}"}}
    ],
}
CHAT_RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
RESPONSES_CALL = {"type": "function_call", "call_id": "c1", "name": "get", "arguments": "{}"}
RESPONSES_RESULT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
ANTHROPIC_CALL = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "c1", "name": "get", "input": {}}],
}
ANTHROPIC_RESULT = {
    "role": "user",
    "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}],
}
GEMINI_CALL = {
    "role": "model",
    "parts": [{"function_call": {"name": "get", "args": {}}, "thought_signature": "c2ln"}],
}
GEMINI_RESULT = {
    "role": "user",
    "parts": [{"function_response": {"name": "get", "response": {"result": "ok"}}}],
}
BEDROCK_CALL = {
    "role": "assistant",
    "content": [{"toolUse": {"toolUseId": "c1", "name": "get", "input": {}}}],
}
BEDROCK_RESULT = {
    "role": "user",
    "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "ok"}]}}],
}
OLLAMA_CALL = {
    "role": "assistant",
    "content": "",
    "thinking": "hm",
    "tool_calls": [{"function": {"name": "get", "arguments": {}}}],
}
OLLAMA_RESULT = {"role": "tool", "tool_name": "get", "content": "ok"}
# Of plain dicts, only the SDK's own objects are sure to be Mistral's.
MISTRAL_CALL = AssistantMessage.model_validate(
    {
        "role": "assistant",
        "tool_calls": [{"id": "callAAAA1", "function": {"name": "get", "arguments": "{}"}}],
    }
)
MISTRAL_RESULT = ToolMessage(role="tool", tool_call_id="callAAAA1", content="ok")
ROUNDS: dict[str, tuple[Any, Any]] = {
    "openai_chat": (CHAT_CALL, CHAT_RESULT),
    "openai_responses": (RESPONSES_CALL, RESPONSES_RESULT),
    "anthropic": (ANTHROPIC_CALL, ANTHROPIC_RESULT),
    "gemini": (GEMINI_CALL, GEMINI_RESULT),
    "bedrock": (BEDROCK_CALL, BEDROCK_RESULT),
    "ollama": (OLLAMA_CALL, OLLAMA_RESULT),
    "mistral": (MISTRAL_CALL, MISTRAL_RESULT),
}
ALSO_READ = {("openai_chat", "mistral"): (1, 2), ("openai_chat", "ollama"): (2,)}
"""Where an item of the first shape's round is one that the last shape takes, too."""
TEXT_ONLY: dict[str, list[Item]] = {
    "texts": [USER, ANSWER],
    "blocks": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}, ANSWER],
    "with a system prompt": [{"role": "system", "content": "Be brief."}, USER, ANSWER],
    "empty": [],
}


OWN_WORDS = ("gemini", "bedrock")
"""Shapes whose messages of plain words no other shape writes: they take no text as content."""
PLAIN = tuple(name for name in NAMES if name not in OWN_WORDS)


def _said(name: str, message: Item) -> Item:
    """Return a plain message as a shape writes it."""
    if name not in OWN_WORDS:
        return dict(message)
    role = "assistant" if message["role"] == "assistant" else "user"
    item: Item = shape_named(name).summary_item(message["content"], role=role)
    return item


def _shape(items: list[Any]) -> str | None:
    shape = ChatContext(items).shape
    return None if shape is None else shape.name


@pytest.mark.parametrize("name", NAMES)
def test_a_support_call_is_recognized_in_every_shape(name: str) -> None:
    """A history with tool calls tells its shape by itself."""
    assert _shape(support_call(name)) == name


@pytest.mark.parametrize("name", NAMES)
def test_one_tool_round_among_plain_messages_decides(name: str) -> None:
    """The only item that one shape alone writes decides for all the others."""
    user, answer = _said(name, USER), _said(name, ANSWER)
    items = [user, answer, user, *ROUNDS[name], dict(answer)]
    ctx = ChatContext(items)
    assert _shape(items) == name
    assert {v.shape for v in ctx.views()} == {name}
    assert ctx.check() == []


@pytest.mark.parametrize("items", TEXT_ONLY.values(), ids=TEXT_ONLY.keys())
def test_a_list_of_plain_words_is_of_no_shape_yet(items: list[Item]) -> None:
    """What several providers write alike is left open, and has no problems."""
    ctx = ChatContext(list(items))
    assert ctx.shape is None
    assert ctx.check() == []
    assert ctx.request_options() == {}
    assert ctx.cut_points() == list(range(len(items) + 1))


def test_a_list_without_a_shape_is_folded_into_a_message_of_plain_text() -> None:
    """The summary is then a user's message with a string, which every shape takes."""
    ctx: ChatContext[Any] = ChatContext([USER, ANSWER, dict(USER), {**ANSWER, "content": "Soon."}])
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert outcome.changed
    assert ctx.shape is None
    assert outcome.item is not None
    assert (outcome.item["role"], type(outcome.item["content"])) == ("user", str)
    for name in PLAIN:
        assert validate(ctx.items, name) == []


@pytest.mark.parametrize("name", PLAIN)
def test_a_list_gets_its_shape_when_the_first_telling_item_comes(name: str) -> None:
    """An earlier fold of the undecided list stays recognized, and the calls are read."""
    ctx: ChatContext[Any] = ChatContext([USER, ANSWER, dict(USER), dict(ANSWER)])
    ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    ctx.extend([dict(USER), *ROUNDS[name], {**ANSWER, "content": "Done."}])
    assert ctx.shape is not None
    assert ctx.shape.name == name
    assert [c.status for c in ctx.tool_calls()] == ["completed"]
    assert ctx.check() == []
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert plan.prompt.previous_summary == "short"
    ctx.summarize(lambda prompt: "shorter", keep_last_turns=0)
    assert sum("chat_history_summary" in str(item) for item in ctx.items) == 1
    assert validate(ctx.items, name) == []


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("last", NAMES)
def test_the_newest_telling_item_decides_a_mixed_list(first: str, last: str) -> None:
    """Each item is read by the shape that knows it; the newest that only one knows decides."""
    items = [
        item
        for name in (first, last)
        for item in (_said(name, USER), *ROUNDS[name], _said(name, ANSWER))
    ]
    ctx = ChatContext(items)
    if (first, last) == ("mistral", "openai_chat"):
        # Mistral's own objects, and dicts that Mistral may have written as well.
        assert _shape(items) == first
        assert not [p for p in ctx.check() if p.rule == "foreign_item"]
        return
    assert _shape(items) == last
    own = ALSO_READ.get((first, last), ())
    seen = [last if i in own else first for i in (1, 2)]
    assert [ctx.views()[i].shape for i in (1, 2, 5, 6)] == [*seen, last, last]
    words = {first, last} & set(OWN_WORDS)
    assert [(c.shape, c.status) for c in ctx.tool_calls()] == [
        (seen[0], "completed"),
        (last, "completed"),
    ]
    foreign = [p.index for p in ctx.check() if p.rule == "foreign_item"]
    others = [] if first == last else [0, 1, 2, 3] if words else [1, 2]
    assert foreign == [i for i in others if i not in own]


@pytest.mark.parametrize("url", ["https://example.com/a.png", {"url": "https://example.com/a.png"}])
def test_pictures_and_calls_as_dicts_are_mistral_s_beside_its_own_objects(url: Any) -> None:
    """Chat Completions has them too, but none of Mistral's objects."""
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": url}]}
    written = {**CHAT_CALL, "tool_calls": [{**CHAT_CALL["tool_calls"][0], "id": "callAAAA2"}]}
    result = {**CHAT_RESULT, "tool_call_id": "callAAAA2"}
    rest = [ANSWER, picture, ANSWER, dict(USER), written, result, {**ANSWER, "content": "Done."}]
    for stop in range(3, len(rest) + 1):
        ctx = ChatContext([USER, *ROUNDS["mistral"], *rest[:stop]])
        assert _shape(ctx.items) == "mistral"
        assert not [p for p in ctx.check() if p.rule == "foreign_item"]


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "mistral"])
def test_a_message_that_several_write_is_of_what_stands_before_it(name: str) -> None:
    """Audio alone, which these three take in one form."""
    audio = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}
    ctx = ChatContext([USER, *ROUNDS[name], _said(name, ANSWER)])
    ctx.append({"role": "user", "content": [audio]})
    assert ctx.shape is shape_named(name)
    assert _shape(list(ctx.items)) == name
    assert not ctx.check()
    assert _shape([USER, {"role": "user", "content": [audio]}]) == "openai_chat"


@pytest.mark.parametrize("name", NAMES)
def test_foreign_items_in_the_head_are_folded_away(name: str) -> None:
    """A list that was written for another provider becomes sendable once they are summarized."""
    others = [item for other in NAMES if other != name for item in ROUNDS[other]]
    done = _said(name, {**ANSWER, "content": "Done."})
    items = [USER, *others, ANSWER, _said(name, USER), *ROUNDS[name], done]
    ctx = ChatContext(items)
    assert {p.rule for p in ctx.check()} >= {"foreign_item"}
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert ctx.check() == []
    assert validate(items, name) == []


def test_a_hint_overrules_what_the_items_say() -> None:
    """With `shape=`, items that only another provider writes are foreign."""
    ctx = ChatContext([USER, *ROUNDS["anthropic"], ANSWER], shape="openai_chat")
    assert ctx.shape is not None
    assert ctx.shape.name == "openai_chat"
    assert [p.index for p in ctx.check() if p.rule == "foreign_item"] == [1, 2]


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("openai_agents", "openai_responses"),
        ("anthropic_beta", "anthropic"),
        *((name, name) for name in NAMES),
    ],
)
def test_a_hint_may_be_a_name_or_an_older_name(hint: str, name: str) -> None:
    """The Agents SDK writes Responses items, and beta blocks are Anthropic's."""
    shape = ChatContext([], shape=hint).shape
    assert shape is not None
    assert shape.name == name


def test_a_shape_that_does_not_exist_is_an_error_that_lists_those_that_do() -> None:
    """The message names every shape, so that nobody has to look it up."""
    with pytest.raises(UnknownShapeError) as caught:
        ChatContext([], shape="openai")
    assert all(shape.name in str(caught.value) for shape in SHAPES)


@pytest.mark.parametrize(
    ("name", "framework"), [("langchain", "langchain"), ("livekit", "livekit.agents")]
)
def test_a_shape_of_a_framework_is_where_the_error_says(name: str, framework: str) -> None:
    """It is imported with its framework alone, so that no name can mean it."""
    with pytest.raises(UnknownShapeError) as caught:
        ChatContext([], shape=name)
    said = re.fullmatch(rf"'{name}' is .* pass (\w+)(\(\))? of ([\w.]+)", str(caught.value))
    assert said is not None
    pytest.importorskip(framework)
    shape: Any = getattr(import_module(said[3]), said[1])
    assert ChatContext([], shape=shape() if said[2] else shape).shape is not None


def test_a_list_that_loses_its_telling_items_is_open_again() -> None:
    """Detection follows the list as it is, so clearing it forgets the shape."""
    ctx = ChatContext([USER, *ROUNDS["anthropic"]])
    assert ctx.shape is not None
    del ctx.items[1:]
    assert ctx.shape is None
    ctx.extend(ROUNDS["openai_chat"])
    assert ctx.shape is not None
    assert ctx.shape.name == "openai_chat"


@pytest.mark.parametrize("custom", [False, True])
@pytest.mark.parametrize("name", [None, "get"])
def test_calls_in_objects_of_any_make_are_those_of_chat_completions(
    name: str | None, custom: bool
) -> None:
    """Other SDKs that follow OpenAI have classes of their own; no result loses its call."""
    asked = {"name": "get", "input" if custom else "arguments": "{}"}
    member = {"id": "c1", "custom" if custom else "function": SimpleNamespace(**asked)}
    tool = SimpleNamespace(**member)
    call = SimpleNamespace(role="assistant", content=None, tool_calls=[tool])
    result = CHAT_RESULT if name is None else {**CHAT_RESULT, "name": name}
    ctx: ChatContext[Any] = ChatContext([USER, call, result, ANSWER])
    assert _shape(ctx.items) == "openai_chat"
    assert [(c.call_index, c.result_index) for c in ctx.tool_calls()] == [(1, 2)]
    assert ctx.cut_points() == [0, 1, 3, 4]


def test_a_message_of_a_framework_is_none_of_chat_completions() -> None:
    """It has a role and a content too, and its list takes no dict as a summary."""
    tool: Item = {"name": "get", "args": {}, "id": "c1"}
    message = SimpleNamespace(role="assistant", content="hi", tool_calls=[tool])
    assert _shape([message]) is None


def test_objects_of_classes_derived_from_an_sdk_are_the_sdks() -> None:
    """A subclass of one's own, with a method or a field more, is read as what it is."""

    class Derived(Content):
        """As a caller may write it."""

    call = Derived.model_validate(GEMINI_CALL)
    answer = Derived.model_validate({"role": "model", "parts": [{"text": "ok"}]})
    ctx: ChatContext[Any] = ChatContext([_said("gemini", USER), call, GEMINI_RESULT, answer])
    assert {view.shape for view in ctx.views()} == {"gemini"}
    assert ctx.cut_points() == [0, 1, 3, 4]
    assert ctx.check() == []


@pytest.mark.parametrize("base", [ChatCompletionMessage, AssistantMessage, OllamaMessage])
def test_a_message_of_a_derived_class_tells_the_shape_as_its_base_does(base: Any) -> None:
    """It need not hold a call for that."""
    derived: Any = type("Derived", (base,), {"__module__": __name__})
    fields = {"role": "assistant", "content": "hi"}
    assert _shape([derived(**fields)]) == _shape([base(**fields)]) is not None
