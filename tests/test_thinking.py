"""Thinking is stripped as Anthropic documents it: all of it, and nothing else.

What is left is judged by the readings, and by the second validator.
"""

from __future__ import annotations

import copy
from typing import Any

import anthropic
import pytest
from anthropic.types import Message
from fake_server import LLMServer, llm_server
from hypothesis import given
from strategies import SHAPES, History, histories
from validator import validate

from chatfold import ChatContext
from chatfold.core.views import ReasoningPart
from chatfold.shapes import shape_named

__all__ = ["llm_server"]

Item = dict[str, Any]
SHAPE = shape_named("anthropic")
BEDROCK = shape_named("bedrock")
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
HIDDEN = {"type": "redacted_thinking", "data": "EmwKAhgB"}
WORDS = {"type": "text", "text": "On its way."}
USE = {"type": "tool_use", "id": "t1", "name": "get", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}


def assistant(*blocks: Any) -> Item:
    return {"role": "assistant", "content": list(blocks)}


def stripped(shape: str, items: list[Any]) -> list[Any]:
    made = [shape_named(shape).without_thinking(item) for item in items]
    return [item for item in made if item is not None]


@pytest.mark.parametrize(
    ("blocks", "kept"),
    [
        ([THOUGHT, WORDS], [WORDS]),
        ([HIDDEN, WORDS], [WORDS]),
        ([THOUGHT, HIDDEN, THOUGHT, USE], [USE]),
        ([THOUGHT, WORDS, THOUGHT, USE, HIDDEN], [WORDS, USE]),
        ([{**THOUGHT, "thinking": ""}, WORDS], [WORDS]),
    ],
)
def test_all_thinking_leaves_a_message_and_the_rest_stays_in_order(
    blocks: list[Item], kept: list[Item]
) -> None:
    """The blocks that stay are the same objects; the item is as it was."""
    item = {**assistant(*blocks), "id": "msg_1"}
    said = copy.deepcopy(item)
    made = SHAPE.without_thinking(item)
    assert made == {**said, "content": kept}
    assert all(a is b for a, b in zip(made["content"], kept, strict=True))
    assert item == said


def test_a_message_of_nothing_but_thinking_is_dropped() -> None:
    """An assistant message without content would be refused."""
    assert SHAPE.without_thinking(assistant(THOUGHT, HIDDEN)) is None
    reasoning = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}}
    assert BEDROCK.without_thinking(assistant(reasoning)) is None
    assert (
        BEDROCK.without_thinking(assistant(reasoning, {"cachePoint": {"type": "default"}})) is None
    )


def test_a_message_that_was_empty_before_stays() -> None:
    """It is not thinking that it lacks."""
    for item in (
        assistant(),
        {"role": "system", "content": [], "output_config": {"effort": "low"}},
    ):
        assert SHAPE.without_thinking(item) is item
    assert BEDROCK.without_thinking(assistant()) is not None


def test_an_sdk_message_becomes_its_role_and_content() -> None:
    """The blocks stay the SDK's own objects, and the message is not changed."""
    message = Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [THOUGHT, HIDDEN, WORDS],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    made = SHAPE.without_thinking(message)
    assert made == {"role": "assistant", "content": [message.content[2]]}
    assert made["content"][0] is message.content[2]
    assert len(message.content) == 3


def test_reasoning_of_bedrock_leaves_with_what_it_redacts() -> None:
    """Its blocks have a key where Anthropic's have a type."""
    reasoning = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}}
    hidden = {"reasoningContent": {"redactedContent": b"\x01"}}
    item = assistant(reasoning, hidden, {"text": "On its way."})
    said = copy.deepcopy(item)
    made = BEDROCK.without_thinking(item)
    assert made == assistant({"text": "On its way."})
    assert made["content"][0] is item["content"][2]
    assert item == said


@given(histories("anthropic", open_calls=False))
def test_no_thinking_is_left_of_a_history_and_all_else_is(history: History) -> None:
    """The readings are those of before but for the reasoning, and no rule is newly broken."""
    assert_stripped(history, "anthropic")


@given(histories("bedrock", open_calls=False))
def test_no_reasoning_is_left_of_a_history_of_bedrock(history: History) -> None:
    """The same holds for Converse messages."""
    assert_stripped(history, "bedrock")


def assert_stripped(history: History, shape: str) -> None:
    items = history.items
    said = copy.deepcopy(items)
    made = stripped(shape, items)
    assert items == said
    views = ChatContext(items, shape=shape).views()
    without = [tuple(p for p in v.parts if type(p) is not ReasoningPart) for v in views]
    expected = [new for new, view in zip(without, views, strict=True) if new or not view.parts]
    assert [v.parts for v in ChatContext(made, shape=shape).views()] == expected
    untouched = [i for i, new, v in zip(items, without, views, strict=True) if new == v.parts]
    assert all(any(item is kept for kept in made) for item in untouched)
    known = {v.rule for v in validate(items, shape)}
    if len(made) == len(items):  # where one is dropped, two messages of a user may meet
        assert {v.rule for v in validate(made, shape)} <= known
    again = stripped(shape, made)
    assert all(a is b for a, b in zip(again, made, strict=True))


@pytest.mark.parametrize("shape", [s for s in SHAPES if s not in ("anthropic", "bedrock")])
def test_reasoning_of_other_providers_is_left_alone(shape: str) -> None:
    """It is not bound to the messages before it; OpenAI wants it back beside its calls."""

    @given(histories(shape))
    def check(history: History) -> None:
        made = stripped(shape, history.items)
        assert all(a is b for a, b in zip(made, history.items, strict=True))

    check()


def test_a_stripped_tool_loop_is_what_the_client_sends(llm_server: LLMServer) -> None:
    """The real client serializes what is left, SDK blocks among it, and no thinking goes out."""
    message = Message.model_construct(
        role="assistant", content=[anthropic.types.TextBlock(type="text", text="Let me see.")]
    )
    message.content.insert(
        0, anthropic.types.ThinkingBlock(type="thinking", thinking="hm", signature="c2ln")
    )
    items = [
        {"role": "user", "content": "Where is it?"},
        message,
        {"role": "user", "content": "Look again."},
        assistant(THOUGHT, USE),
        {"role": "user", "content": [RESULT]},
    ]
    with anthropic.Anthropic(base_url=llm_server.anthropic_url, api_key="sk-test") as client:
        client.messages.create(
            model="claude-opus-5-5", max_tokens=100, messages=stripped("anthropic", items)
        )
    sent = llm_server.requests[0].body["messages"]
    kinds = [[b["type"] for b in m["content"]] for m in sent if isinstance(m["content"], list)]
    assert kinds == [["text"], ["tool_use"], ["tool_result"]]
    assert validate(sent, "anthropic") == []
