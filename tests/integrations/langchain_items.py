"""Neutral events as LangChain's messages, and what the battery reads of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from integrations.transcripts import Called, Event, Handed, Result, Said, Thought
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
)

__all__ = ["calls", "native", "payload", "text"]


def native(events: Sequence[Event]) -> list[AnyMessage]:
    """Return the messages, each with an id; handoffs have none."""
    made: list[AnyMessage] = []
    thoughts: list[str | dict[Any, Any]] = []
    for number, event in enumerate(events):
        id_ = f"m{number}"
        match event:
            case Said("system", text):
                made.append(SystemMessage(text, id=id_))
            case Said("user", text, None):
                made.append(HumanMessage(text, id=id_))
            case Said("user", text, image):
                words: list[Any] = [{"type": "text", "text": text}] if text else []
                picture = {"type": "image_url", "image_url": {"url": image}}
                made.append(HumanMessage([*words, picture], id=id_))
            case Said(_, text):
                made.append(AIMessage(_content(thoughts, text), id=id_))
                thoughts = []
            case Called(uses, text):
                calls = [{"id": u.id, "name": u.name, "args": u.arguments} for u in uses]
                made.append(AIMessage(_content(thoughts, text), tool_calls=calls, id=id_))
                thoughts = []
            case Result(call, name, output, failed):
                status = "error" if failed else "success"
                made.append(
                    ToolMessage(output, tool_call_id=call, name=name, status=status, id=id_)
                )
            case Thought(text, signature):
                thoughts.append({"type": "thinking", "thinking": text, "signature": signature})
            case Handed():
                pass
    return made


def _content(thoughts: list[str | dict[Any, Any]], text: str) -> str | list[str | dict[Any, Any]]:
    if not thoughts:
        return text
    return [*thoughts, *([{"type": "text", "text": text}] if text else [])]


def payload(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the Chat Completions messages that LangChain makes of its own."""
    return convert_to_openai_messages(list(items))  # type: ignore[return-value]  # one for each


def calls(items: Sequence[Any]) -> list[tuple[str, str]]:
    """Return each call and each result in the list, with its id."""
    found: list[tuple[str, str]] = []
    for item in items:
        found += [("call", call["id"] or "") for call in getattr(item, "tool_calls", ())]
        if isinstance(item, ToolMessage):
            found.append(("result", item.tool_call_id))
    return found


def text(item: Any) -> str:
    """Return all that a message holds, as JSON."""
    return item.model_dump_json()
