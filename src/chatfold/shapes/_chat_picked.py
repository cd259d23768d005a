"""A chat message of which some parts alone are left.

Not here: how a message is read, in which order its parts come (`_chat`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from chatfold.core.views import ItemView, MediaPart, Part, TextPart, UnknownPart
from chatfold.shapes._blocks import listed
from chatfold.shapes._unread import unlisted

__all__ = ["picked", "stays_whole"]


def stays_whole(view: ItemView, parts: Collection[int]) -> bool:
    """Return whether a message need not be split, or is a result, which cannot be."""
    return view.role == "tool" or len(view.parts) <= len(set(parts))


def picked(message: dict[str, Any], read: Sequence[Part], parts: Collection[int]) -> dict[str, Any]:
    """Return a message without what gave the other parts, which come in a fixed order."""
    content, calls = message.get("content"), listed(message.get("tool_calls"))
    thought = message.get("reasoning_content") or message.get("reasoning")
    start = int(isinstance(thought, str) or bool(listed(message.get("reasoning_details"))))
    whole = content is not None and not isinstance(content, list)
    count = 1 if whole else len(listed(content))
    odd = unlisted(message.get("tool_calls"))  # one part for all that stands there
    last = len(read) - (1 if odd else len(calls))
    if start and 0 not in parts:
        for key in ("reasoning_content", "reasoning", "reasoning_details"):
            message.pop(key, None)
    if whole:
        message["content"] = content if start in parts else None
    elif isinstance(content, list):
        kept = [b for n, b in enumerate(listed(content), start) if n in parts]
        message["content"] = kept or None
    for place in range(start + count, last):
        if place not in parts:
            message.pop(_field_of(read[place]), None)
    if odd and last not in parts:
        del message["tool_calls"]
    if calls:
        message["tool_calls"] = [c for n, c in enumerate(calls, last) if n in parts]
        if not message["tool_calls"]:
            del message["tool_calls"]
    return message


def _field_of(part: Part) -> str:
    """Return the field that gave a part which stands neither in the content nor in the calls."""
    if type(part) is MediaPart:
        return "audio"
    refuses = type(part) is TextPart or (type(part) is UnknownPart and part.type == "refusal")
    return "refusal" if refuses else "function_call"
