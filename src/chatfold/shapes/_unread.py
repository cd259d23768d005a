"""What stands in a form that no provider takes: nothing of it may leave a list unseen (law 6).

Such items are malformed, and `check` says so; here is how what they hold is shown all the same.
Not here: blocks and items of types that are only new (`_blocks.unknown_part`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, cast

from chatfold.core.native import bytes_label, field, json_text, plain
from chatfold.core.views import CallPart, MediaPart, Part, TextPart, UnknownPart
from chatfold.shapes._blocks import block_type, unknown_part

__all__ = ["lone_part", "misplaced", "misplaced_part", "unlisted", "unread", "whole_call", "worded"]


def unlisted(value: Any) -> bool:
    """Return whether something stands where a list belongs that is none: one member, most often."""
    return bool(value) and not isinstance(value, list)


def lone_part(content: Any, read: Callable[[Any], Part]) -> Part:
    """Return the reading of what stands in the place of a list of parts, and is none.

    One part is read as in a list, as far as it is words or a medium: calls and results would be
    paired. All else is shown as it is written.

    Args:
        content: What stands there.
        read: Reads one part of a list.
    """
    with suppress(Exception):  # an object of any kind may be there
        part = read(content)
        if type(part) is MediaPart or (type(part) is TextPart and part.text):
            return part
        return unknown_part(content)
    return UnknownPart(type(content).__name__, "")


def worded(block: Any, part: Part) -> Part:
    """Return the reading of a block; of a text without a text, it is what it holds in its place.

    Args:
        block: A member of a list; SDKs check what their objects hold.
        part: Its reading as one of its type.
    """
    if type(part) is not TextPart or part.text or type(block) is not dict:
        return part
    given = cast("dict[str, Any]", block)
    said = given.get("refusal" if part.kind == "refusal" else "text")
    return part if said is not None or not unread(given, *_BESIDE) else unknown_part(given)


# Fields beside a text that hold no words of it.
_BESIDE: Final = ("type", "annotations", "cache_control", "prompt_cache_breakpoint", "index")


def misplaced(get: Callable[[str], Any]) -> str:
    """Return which field of an assistant's message holds what it cannot, "" where none does."""
    calls, refusal = get("tool_calls"), get("refusal")
    if calls is not None and not isinstance(calls, list):
        return f"tool_calls is {type(calls).__name__}, not a list"
    if refusal and not isinstance(refusal, str):
        return f"refusal is {type(refusal).__name__}, not text"
    return ""


def misplaced_part(key: str, value: Any) -> UnknownPart:
    """Return the generic reading of a field that holds what it cannot: see `misplaced`."""
    return UnknownPart(key, unread(value))


def unread(value: Any, *read: str) -> str:
    """Return as JSON what a dict or an SDK object holds besides what was read, "" where nothing is.

    Args:
        value: Anything else is returned whole.
        read: Fields that are left out.
    """
    try:
        held = plain(value, encode=bytes_label)
        if isinstance(held, dict):
            fields = cast("dict[str, Any]", held)
            held = {k: v for k, v in fields.items() if k not in read and v is not None} or None
        return "" if held is None else json_text(held)
    except Exception:
        return f"[{type(value).__name__} that cannot be read]"


_FRAME: Final = ("id", "call_id", "type", "index")  # of a call: what it is called is inside


def whole_call(call: Any, part: CallPart) -> CallPart:
    """Return the reading of a call without a name: all that it holds are its arguments.

    Args:
        call: The call, of whatever kind.
        part: What could be read of it.
    """
    key = "function" if field(call, "custom") is None else "custom"
    beside = unread(call, *_FRAME, key) or unread(field(call, key), "arguments", "input")
    held = unread(call, *(("id", "call_id") if part.id else ()))
    if not held or (part.arguments and not beside):  # a name is all that it lacks
        return part
    places = (call, *(field(call, key) for key in ("function", "custom", block_type(call) or "")))
    names = (field(place, "name") for place in places)
    seems = next((name for name in names if name and isinstance(name, str)), "")
    return part._replace(arguments=held, unknown=seems)
