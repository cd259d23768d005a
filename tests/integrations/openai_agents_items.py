"""Neutral events as the Responses items of the Agents SDK, and what the battery reads of these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from integrations.transcripts import Called, Event, Handed, Result, Said, Thought

__all__ = ["calls", "native", "payload", "text"]

Item = dict[str, Any]


def native(events: Sequence[Event]) -> list[Item]:
    """Return the items; a handoff is a call with its output, as the SDK has it."""
    made: list[Item] = []
    for number, event in enumerate(events):
        match event:
            case Said("assistant", text):
                made.append(_answer(text, number))
            case Said(role, text, None):
                made.append({"role": role, "content": text})
            case Said(role, text, image):
                parts: list[Item] = [{"type": "input_text", "text": text}] if text else []
                parts.append({"type": "input_image", "image_url": image, "detail": "auto"})
                made.append({"role": role, "content": parts})
            case Called(uses, text):
                made += [_answer(text, number)] if text else []
                made += [
                    _call(use.id, use.name, use.raw, f"{number}_{n}") for n, use in enumerate(uses)
                ]
            case Result(call, _, output):
                made.append({"type": "function_call_output", "call_id": call, "output": output})
            case Thought(text, signature):
                summary = [{"type": "summary_text", "text": text}]
                made.append(
                    {
                        "id": f"rs_{number}",
                        "type": "reasoning",
                        "summary": summary,
                        "encrypted_content": signature,
                    }
                )
            case Handed(_, new):
                id_ = f"call_handoff_{number}"
                made.append(_call(id_, f"transfer_to_{new}", "{}", str(number)))
                output = json.dumps({"assistant": new})
                made.append({"type": "function_call_output", "call_id": id_, "output": output})
    return made


def _answer(text: str, number: int) -> Item:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def _call(id_: str, name: str, arguments: str, number: str) -> Item:
    return {
        "id": f"fc_{number}",
        "type": "function_call",
        "status": "completed",
        "call_id": id_,
        "name": name,
        "arguments": arguments,
    }


def payload(items: Sequence[Any]) -> list[Item]:
    """Return the Responses items that are sent: the SDK's own."""
    return list(items)


def calls(items: Sequence[Any]) -> list[tuple[str, str]]:
    """Return each call and each result in the list, with its id."""
    kinds = {"function_call": "call", "function_call_output": "result"}
    return [(kinds[item["type"]], item["call_id"]) for item in items if item.get("type") in kinds]


def text(item: Any) -> str:
    """Return all that an item holds, as JSON."""
    return json.dumps(item, ensure_ascii=False)
