"""What messages hold beside their content: `additional_kwargs`; part of the shape `langchain`.

Read is what packages of providers put there of what the model said and did, and send back. All else
is the host's own, or tells how an answer came about: no model was shown it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from chatfold.core.native import field
from chatfold.core.views import MediaPart, Part, ReasoningPart, ServerCallPart, TextPart
from chatfold.integrations._langchain.blocks import is_thinking, read_blocks, read_reasoning
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    block_type,
    listed,
    named_id,
    text_of,
)
from chatfold.shapes._chat import read_audio
from chatfold.shapes._chat import read_reasoning as read_chat_reasoning

__all__ = ["read_ahead", "read_behind"]

_SIGNATURES = "__gemini_function_call_thought_signatures__"  # langchain-google-genai's, by call id


def read_ahead(extras: Mapping[str, Any], blocks: Sequence[Any]) -> list[Part]:
    """Return what came before the words of an answer: reasoning, and what the server called.

    Args:
        extras: The `additional_kwargs` of an AI message.
        blocks: Its content; reasoning in it is not read a second time.
    """
    made: list[Part] = []
    if not any(is_thinking(block) or block_type(block) == "reasoning" for block in blocks):
        made += (part for part in _reasoning(extras) if part.text or part.opaque)
    made += (_executed(tool) for tool in listed(extras.get("executed_tools")) if _is_fields(tool))
    made += read_blocks(listed(extras.get("tool_outputs")))  # as `output_version="v0"` has them
    return made


def read_behind(extras: Mapping[str, Any], parts: Sequence[Part]) -> list[Part]:
    """Return what an answer is besides its words: a refusal, or speech.

    Args:
        extras: The `additional_kwargs` of a message.
        parts: What was read of its content; a refusal in it is not read a second time.
    """
    made: list[Part] = []
    said, spoken = extras.get("refusal"), extras.get("audio")
    if isinstance(said, str) and said and TextPart(said, "refusal") not in parts:
        made.append(TextPart(said, "refusal"))
    if isinstance(spoken, bytes):  # langchain-google-genai's
        made.append(MediaPart("audio", None, len(spoken)))
    elif isinstance(spoken, str):  # the same from JSON
        made.append(MediaPart("audio", None, base64_size(spoken)))
    elif spoken:
        made.append(read_audio(spoken))
    return made


def _reasoning(extras: Mapping[str, Any]) -> Iterator[ReasoningPart]:
    item, thought = extras.get("reasoning"), extras.get("thinking")
    if _is_fields(item):  # an item of the Responses API
        yield read_reasoning(item)
    elif _is_fields(thought):  # langchain-aws's
        yield ReasoningPart(text_of(field(thought, "text")))
    else:
        yield from read_chat_reasoning(extras.get)
    signatures = extras.get(_SIGNATURES)
    if isinstance(signatures, Mapping):
        sealed = cast("Mapping[str, Any]", signatures).values()
        yield ReasoningPart("", sum(len(text_of(each)) for each in sealed))


def _executed(tool: Any) -> ServerCallPart:
    """Return the reading of what Groq's server called and answered itself."""
    return ServerCallPart(
        named_id(field(tool, "id")),
        named_id(field(tool, "name") or field(tool, "type")),
        arguments_text(field(tool, "arguments")),
        arguments_text(field(tool, "output") or field(tool, "search_results")),
    )


def _is_fields(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(cast("Mapping[str, Any]", value))
