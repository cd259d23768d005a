"""What the Gemini API would refuse in a list of contents, as `native-shapes.md` (E) has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validators.base import Item, Violation, dicts

_NOTES = re.compile(r"thought|thoughtSignature|.*(Metadata|Resolution|Transcription|Processing)")


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _wire(item: Item) -> Item:
    """Return a content with the names of the wire: the SDK's dicts have them in Python's way."""
    parts = [
        {_camel(key): value for key, value in part.items() if value is not None}
        for part in dicts(item.get("parts"))
    ]
    return {"role": item.get("role"), "parts": parts}


def judge(items: list[Item], strict: bool) -> Iterator[Violation]:
    """Yield every rule that the list breaks.

    Args:
        items: One dict per content.
        strict: Also report what only some of Google's servers refuse: a model's turn in front,
            a missing role, the roles `function` and `tool`, words beside responses.
    """
    turns = [_wire(item) for item in items]
    for index, turn in enumerate(turns):
        if items[index]:
            yield from _own(index, items[index], turn, strict and len(turns) > 1)
    if strict and turns and turns[0]["role"] == "model":
        yield Violation(0, "first_role", "the model speaks first")
    for index in range(len(turns)):
        yield from _pairs(index, turns)


def _own(index: int, item: Item, turn: Item, strict: bool) -> Iterator[Violation]:
    role = turn["role"]
    if "content" in item or role not in ("user", "model", "function", "tool", None):
        yield Violation(index, "foreign_item", f"role {role!r}, keys {sorted(item)}")
        return
    if strict and role not in ("user", "model"):
        yield Violation(index, "role_name", f"role {role!r}")
    if strict and _of(turn, "functionResponse") and any(p.get("text") for p in turn["parts"]):
        yield Violation(index, "mixed_turn", "words beside responses")
    if role != "model" and _of(turn, "functionCall"):
        yield Violation(index, "call_of_another", f"a call by {role!r}")
    if strict and role == "model" and _of(turn, "functionResponse"):
        yield Violation(index, "response_of_model", "a response goes into the user's turn")
    if not turn["parts"]:
        yield Violation(index, "empty_parts", "a content needs a part")
    for part in turn["parts"]:
        held = [key for key in part if not _NOTES.fullmatch(key) and part[key] != ""]
        if not held and not part.get("thoughtSignature"):
            yield Violation(index, "empty_part", f"nothing in {part!r}")
        for key in ("functionCall", "functionResponse"):
            if key in part and not (isinstance(part[key], dict) and part[key].get("name")):
                yield Violation(index, "nameless", key)
        call = part.get("functionCall")
        if isinstance(call, dict) and not isinstance(call.get("args") or {}, dict):
            yield Violation(index, "arguments_no_object", f"args is {call['args']!r}")


def _of(turn: Item, key: str) -> list[Item]:
    return [
        part[key] if isinstance(part[key], dict) else {} for part in turn["parts"] if key in part
    ]


def _pairs(index: int, turns: list[Item]) -> Iterator[Violation]:
    """Judge one turn's calls against what stands around it, and its responses before it."""
    turn = turns[index]
    calls, before = _of(turn, "functionCall"), turns[index - 1] if index else None
    if calls and (before is None or before["role"] == "model"):
        yield Violation(index, "call_place", "a call turn follows the user's or a response turn")
    wanted = _of(before, "functionCall") if before and before["role"] == "model" else []
    yield from _responses(index, _of(turn, "functionResponse"), wanted)
    if calls and index == len(turns) - 1:
        yield Violation(index, "unanswered_call", f"{len(calls)} calls", open=True)
    for kind in ("tool", "code"):
        yield from _served(index, turns, kind)


def _responses(index: int, given: list[Item], wanted: list[Item]) -> Iterator[Violation]:
    left = list(wanted)
    for response in given:
        match = _match(response, left)
        if match is None:
            yield Violation(
                index, "orphan_response", f"{response.get('id') or response.get('name')}"
            )
        else:
            left.remove(match)
    for call in left:
        yield Violation(index - 1, "unanswered_call", f"{call.get('id') or call.get('name')!r}")


def _match(response: Item, calls: list[Item]) -> Item | None:
    """Return the call that a response answers: of its id, or of its name where one has no id.

    One without an id answers a call without one, if there is one; else the call's own response,
    which has its id, would be left without a call.
    """
    key, name = response.get("id"), response.get("name")
    for call in calls:
        if key and call.get("id") == key:
            return call
    loose = [call for call in calls if not (key and call.get("id"))]
    named = [call for call in loose if call.get("name") == name or not name]
    return min(named, key=lambda call: bool(call.get("id")), default=None)


def _served(index: int, turns: list[Item], kind: str) -> Iterator[Violation]:
    """Judge what the server answered: its result stands somewhere behind its call."""
    call, result = {
        "tool": ("toolCall", "toolResponse"),
        "code": ("executableCode", "codeExecutionResult"),
    }[kind]
    waiting = [c for turn in turns[:index] for c in _of(turn, call)]
    spent = sum(len(_of(turn, result)) for turn in turns[:index])
    budget: Any = len(waiting) - spent
    for part in turns[index]["parts"]:
        if call in part:
            budget += 1
        elif result in part:
            budget -= 1
            if budget < 0:
                yield Violation(index, "orphan_server_result", result)
