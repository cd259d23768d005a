"""Neutral events as Chat Completions messages, and what the battery reads of these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from integrations.transcripts import Called, Event, Handed, Result, Said, Thought

__all__ = ["calls", "native", "payload", "text"]


def native(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return the messages; thoughts and handoffs have none."""
    made: list[dict[str, Any]] = []
    for event in events:
        match event:
            case Said(role, text, None):
                made.append({"role": role, "content": text})
            case Said(role, text, image):
                words = [{"type": "text", "text": text}] if text else []
                picture = {"type": "image_url", "image_url": {"url": image}}
                made.append({"role": role, "content": [*words, picture]})
            case Called(calls, text):
                uses = [
                    {
                        "id": use.id,
                        "type": "function",
                        "function": {"name": use.name, "arguments": use.raw},
                    }
                    for use in calls
                ]
                made.append({"role": "assistant", "content": text or None, "tool_calls": uses})
            case Result(id_, _, output):
                made.append({"role": "tool", "tool_call_id": id_, "content": output})
            case Thought() | Handed():
                pass
    return made


def payload(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Return what is sent: the messages themselves."""
    return list(items)


def calls(items: Sequence[Any]) -> list[tuple[str, str]]:
    """Return each call and each result in the list, with its id."""
    found: list[tuple[str, str]] = []
    for item in items:
        found += [("call", call["id"]) for call in item.get("tool_calls", ())]
        if item["role"] == "tool":
            found.append(("result", item["tool_call_id"]))
    return found


def text(item: Any) -> str:
    """Return all that a message holds, as JSON."""
    return json.dumps(item, ensure_ascii=False)
