"""What Mistral would refuse in a list of messages, as `native-shapes.md` (E) and its validator say.

The validator is https://github.com/mistralai/mistral-common
(src/mistral_common/protocol/instruct/validator.py, read 2026-11-22).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validators.base import Item, Violation, dicts

_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_REFUSED = {("assistant", "system"), ("tool", "system"), ("tool", "user")}


def judge(items: list[Item], strict: bool) -> Iterator[Violation]:
    """Yield every rule that the list breaks.

    Args:
        items: One dict per message.
        strict: Also report ids that only the newest models take, and a last message that is the
            assistant's.
    """
    calls: list[Any] = []  # ids of the calls of the last assistant that wait
    answered: list[Any] = []
    asked = -1  # index of that assistant
    for index, item in enumerate(items):
        role, before = item.get("role"), items[index - 1].get("role") if index else None
        yield from _own(index, item, index == len(items) - 1, strict)
        if role == "tool":
            key = _id(item.get("tool_call_id"))
            if key in calls:
                calls.remove(key)
                answered.append(key)
            else:
                rule = "duplicate_result" if key in answered else "orphan_result"
                yield Violation(index, rule, f"no call {key!r} waits in the step right before")
            continue
        if calls:
            yield Violation(asked, "unanswered_call", f"{calls!r} at {role!r}")
        if (before, role) in _REFUSED:
            yield Violation(index, "role_order", f"{role!r} after {before!r}")
        calls, answered, asked = [], [], index
        if role == "assistant":
            calls = [_id(call.get("id")) for call in dicts(item.get("tool_calls"))]
            if calls and index == 0:
                yield Violation(0, "first_role", "a call comes first")
            if len(set(calls)) < len(calls) and None not in calls:
                yield Violation(index, "duplicate_call_id", f"{calls!r}")
    if calls:
        yield Violation(asked, "unanswered_call", f"{calls!r}", open=True)
    last = items[-1] if items else {}
    if strict and last.get("role") == "assistant" and not last.get("prefix") and not calls:
        yield Violation(len(items) - 1, "last_role", "a user or a tool has to be last", open=True)


def _id(value: Any) -> Any:
    return None if value in ("", "null") else value


def _own(index: int, item: Item, last: bool, strict: bool) -> Iterator[Violation]:
    """Judge a message by itself."""
    role, content = item.get("role"), item.get("content")
    calls = dicts(item.get("tool_calls"))
    if item and (role not in ("system", "user", "assistant", "tool") or "type" in item):
        yield Violation(index, "foreign_item", f"role {role!r}, type {item.get('type')!r}")
    if role == "assistant" and not content and not calls:
        yield Violation(index, "empty_message", "neither content nor calls")
    if role == "assistant" and item.get("prefix") is True and not last:
        yield Violation(index, "prefix_not_last", "a prefix in the middle")
    named = [(_id(call.get("id")), (call.get("function") or {}).get("name")) for call in calls]
    if role == "tool":
        named.append((_id(item.get("tool_call_id")), item.get("name") or "unnamed"))
    for key, name in named:
        if key is None:
            yield Violation(index, "missing_id", f"{name!r}")
        elif strict and not _NINE.fullmatch(str(key)):
            yield Violation(index, "id_form", f"{key!r}")
        if not _NAME.fullmatch(str(name)):
            yield Violation(index, "name_form", f"{name!r}")
