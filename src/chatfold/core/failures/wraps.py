"""What a result is wrapped in: by the host, or by the protocol that it came by.

Not here: what it says (`results`).
"""

from __future__ import annotations

from typing import Any, cast

from chatfold.core.call_json import json_or_text

__all__ = ["inner_of", "unwrapped", "wrapped_text"]

# A text alone under one of these is what the tool returned: hosts wrap what is no object, as
# Gemini's SDK does under `result`. Servers say no more than `detail` where there is nothing.
_WRAPS = ("result", "output", "response", "content", "text", "message", "detail", "msg")
# Under these it may have a name there, as what was made has.
_NAMED = frozenset(_WRAPS[3:])
# The same of an object or an array, as Gemini's API advises for what a function did
# (https://hexdocs.pm/geminix/Geminix.V1beta.FunctionResponse.html, read 2026-11-30).
_OBJECTS = frozenset(("result", "output", "response"))
# Beside the blocks of what an MCP server answers with, where a host dumps all of it
# (`CallToolResult` of 2026-07-28, https://docs.rs/rust-mcp-schema/2.0.0/rust_mcp_schema/struct.
# CallToolResult.html, read 2026-11-29). A server should set `isError`; not all do.
_AROUND = frozenset(
    (
        *("_meta", "isError", "resultType", "structuredContent"),
        *("meta", "is_error", "result_type", "structured_content"),
    )
)


def wrapped_text(result: Any) -> str | None:
    """Return the text that is all that a result holds, None where there is more or no text.

    It may stand alone in an object, or in the blocks of text that MCP answers with.
    """
    if isinstance(result, list):
        texts = [_text_in(block) for block in cast(list[Any], result)]
        told = [text for text in texts if text is not None]
        return "\n".join(told) if told and len(told) == len(texts) else None
    if isinstance(result, dict):
        fields = cast(dict[str, Any], result)
        blocks = fields.get("content")
        if isinstance(blocks, list) and _AROUND.issuperset(fields.keys() - {"content"}):
            return wrapped_text(cast(list[Any], blocks))
        if len(fields) == 1:
            key, text = next(iter(fields.items()))
            return text if key in _WRAPS and isinstance(text, str) else None
    return None


def inner_of(result: Any) -> Any | None:
    """Return the object or array that is all that a result holds, None where there is none.

    Nor where that is a text with a name: {"result": {"text": "Access denied"}} may be a note that
    was made, or what a message says.
    """
    inner: Any | None = None
    at = result
    while isinstance(at, dict) and len(fields := cast(dict[str, Any], at)) == 1:
        key, value = next(iter(fields.items()))
        if key in _NAMED and isinstance(value, str):
            return None
        if key not in _OBJECTS or not isinstance(value, (dict, list)):
            break
        inner = at = cast(Any, value)
    return inner


def unwrapped(result: Any) -> Any:
    """Return what the tool said: the JSON in a text that is all that a result holds, or its blocks.

    Else the result as it is.
    """
    text = wrapped_text(result)
    if text is None:
        return result
    inner = json_or_text(text)
    has_blocks = not isinstance(result, dict) or "content" in result
    return inner if has_blocks or not isinstance(inner, str) else cast(Any, result)


def _text_in(block: Any) -> str | None:
    """Return what a block of text says, None where it is none."""
    fields = cast(dict[str, Any], block) if isinstance(block, dict) else {}
    text = fields.get("text")
    return text if fields.get("type") == "text" and isinstance(text, str) else None
