"""Arguments that are no JSON object, and the object in which they may be sent back all the same.

Some providers take nothing but an object, and a limit may cut a call off in the middle of its
arguments. Not here: which providers these are (`chatfold.shapes`), and how a stream is put together
(`chatfold.capture`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from chatfold.core.native import plain

__all__ = ["parsed_object", "unwrapped", "wrapped", "written"]

_KEY: Final = "INVALID_JSON"
"""The key that Anthropic documents for this, which its models know.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
(read 2026-11-22)
"""


def parsed_object(text: str) -> dict[str, Any]:
    """Return the object that a text holds; a text that holds none is wrapped in one."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {_KEY: text}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {_KEY: text}


def wrapped(value: Any) -> dict[str, Any]:
    """Return an object for arguments that are none: what their text holds, or the text wrapped.

    An object is wrapped too, once: it stands for arguments that are not whole.
    """
    if value is None:
        return {_KEY: ""}
    if isinstance(value, str):
        return parsed_object(value)
    if isinstance(value, dict) and unwrapped(cast("dict[str, Any]", value)) is not None:
        return cast("dict[str, Any]", value)
    return {_KEY: json.dumps(plain(value), ensure_ascii=False)}


def written(value: Any) -> str:
    """Return a text for arguments that are none: their JSON, of no arguments an empty object."""
    return "{}" if value is None else json.dumps(plain(value), ensure_ascii=False)


def unwrapped(value: Mapping[str, Any]) -> str | None:
    """Return the text that was wrapped; None where these are arguments like any."""
    text = value.get(_KEY) if len(value) == 1 else None
    return text if isinstance(text, str) else None
