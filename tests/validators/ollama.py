"""What Ollama would refuse in a list of messages, as `native-shapes.md` (E) and its server have it.

The server checks types alone, and its cloud the ids of results
(https://github.com/ollama/ollama/blob/main/api/types.go,
https://github.com/onyx-dot-app/onyx/pull/8522, both read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validators.base import Item, Violation, dicts

_ROLES = {"system", "user", "assistant", "tool"}


def judge(items: list[Item], strict: bool) -> Iterator[Violation]:
    """Yield every rule that the list breaks.

    Args:
        items: One dict per message.
        strict: Also report what the server takes but no model was taught: calls that were passed
            by, results without a call or behind another message.
    """
    waiting: list[tuple[int, Any, Any]] = []  # index, id and name of each call
    for index, item in enumerate(items):
        if item:
            yield from _own(index, item)
        if item.get("role") != "tool":
            calls = dicts(item.get("tool_calls"))
            waiting += [(index, call.get("id"), _function(call).get("name")) for call in calls]
            continue
        call_id, name = item.get("tool_call_id"), item.get("tool_name", item.get("name"))
        fitting = [c for c in waiting if call_id is not None and c[1] == call_id] or [
            c for c in waiting if None in (call_id, c[1]) and (name is None or c[2] == name)
        ]
        if fitting:
            latest = next(c for c in fitting if c[0] == fitting[-1][0])
            waiting.remove(latest)
            passed = any(i.get("role") != "tool" for i in items[latest[0] + 1 : index])
            if strict and passed:
                yield Violation(index, "late_result", f"{call_id!r} {name!r}")
        elif strict or call_id:
            yield Violation(index, "orphan_result", f"no call {call_id!r} {name!r} waits for it")
    for index, call_id, name in waiting:
        at_end = all(i.get("role") == "tool" for i in items[index + 1 :])
        if at_end or strict:
            yield Violation(index, "unanswered_call", f"{call_id!r} {name!r}", at_end)


def _function(call: Item) -> Item:
    function = call.get("function")
    return function if isinstance(function, dict) else {}


def _own(index: int, item: Item) -> Iterator[Violation]:
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES or "type" in item:
        yield Violation(index, "foreign_item", f"role {role!r}, type {item.get('type')!r}")
    elif content is not None and not isinstance(content, str):
        yield Violation(index, "content_type", type(content).__name__)
    for call in dicts(item.get("tool_calls")):
        arguments = _function(call).get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            yield Violation(index, "arguments_type", type(arguments).__name__)
        if not isinstance(_function(call).get("name"), str):
            yield Violation(index, "nameless", "a call without a name")
