"""How blocks, media and reasoning of the Responses API are read; part of `openai_responses`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from chatfold.core.native import field
from chatfold.core.views import CallPart, MediaPart, Part, ReasoningPart, Role, TextPart
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    block_type,
    call_kind,
    getter,
    listed,
    media_from_url,
    named_id,
    named_place,
    sources_of,
    text_of,
    unknown_part,
)
from chatfold.shapes._unread import misplaced_part, unlisted, unread, whole_call, worded

__all__ = [
    "Get",
    "Reading",
    "read_block",
    "read_blocks",
    "read_media",
    "read_output",
    "read_reasoning",
    "with_all_held",
]

Get = Callable[[str], Any]
Reading = tuple[Role, tuple[Part, ...]]


def read_blocks(blocks: list[Any], tool_calls: Any) -> tuple[Part, ...]:
    """Return the parts of a content list; calls listed a second time beside it count once."""
    parts = [worded(b, read_block(b)) for b in blocks]
    seen = {p.id for p in parts if isinstance(p, CallPart)}
    for call in listed(tool_calls):
        function = field(call, "function")
        source = function if function is not None else call
        name = named_id(field(source, "name"))
        given = field(source, "arguments") or field(source, "args")
        text = unread(source, *_NAMED, "arguments") if given is None else arguments_text(given)
        id_, home = named_id(field(call, "id")), named_id(field(source, "namespace"))
        part = CallPart(id_, name, text, call_kind(name), namespace=home)
        part = whole_call(call, part) if name is None else part
        if part.id is None or part.id not in seen:
            parts.append(part)
    if unlisted(tool_calls):
        parts.append(misplaced_part("tool_calls", tool_calls))
    return tuple(parts)


_NAMED: Final = (
    *("type", "id", "call_id", "name", "status", "caller", "async", "async_"),
    *("namespace", "created_by"),
)


def with_all_held(call: Any, part: CallPart) -> CallPart:
    """Return the reading of a flat call whose arguments are no text, with all that it holds."""
    if part.name is None:
        return whole_call(call, part)
    if field(call, "arguments") is not None:
        return part
    return part._replace(arguments=unread(call, *_NAMED))


def read_block(block: Any) -> Part:
    """Return the reading of a content block, the generic one where its type is not known."""
    match block_type(block):
        case "input_text" | "output_text" | "text" | "summary_text":
            text = text_of(field(block, "text"))
            return TextPart(text, sources=sources_of(field(block, "annotations"), text))
        case "refusal":
            return TextPart(text_of(field(block, "refusal")), "refusal")
        case "input_image" | "input_file" | "input_audio" | "computer_screenshot":
            return read_media(block)
        case "function_call" | "custom_tool_call":
            return _block_call(block)
        case "reasoning":
            return read_reasoning(getter(block))[1][0]
        case _:
            return TextPart(block) if isinstance(block, str) else unknown_part(block)


def _block_call(block: Any) -> CallPart:
    """Return a call that stands inside a message: flat, or under `function` as in chat."""
    function = field(block, "function")
    source = function if function is not None else block
    name = named_id(field(source, "name"))
    given = field(source, "arguments")
    given = field(source, "input") if given is None else given  # of a custom tool
    text = unread(source, *_NAMED) if given is None else arguments_text(given)
    id_ = named_id(field(block, "call_id") or field(block, "id"))
    home = named_id(field(source, "namespace"))
    part = CallPart(id_, name, text, call_kind(name), namespace=home)
    return whole_call(block, part) if name is None else part


def read_media(block: Any) -> MediaPart:
    """Return the reading of an image, a file or a sound: what it is called, and its size."""
    kind = block_type(block)
    if kind == "input_audio":
        audio = field(block, "input_audio")
        form = field(audio, "format")
        return MediaPart(
            "audio", f"audio/{form}" if form else None, base64_size(field(audio, "data"))
        )
    if kind in ("input_image", "computer_screenshot"):
        return media_from_url("image", field(block, "image_url"), name=field(block, "file_id"))
    name, place = named_place(field(block, "filename"), field(block, "file_id"))
    if field(block, "file_url") is not None:
        return media_from_url("file", field(block, "file_url"), name=name)
    data = field(block, "file_data")
    if isinstance(data, str):
        url = data if data.startswith("data:") else f"data:,{data}"
        return media_from_url("file", url, name=name)._replace(source=place)
    return MediaPart("file", None, None, name, source=place)


def read_output(value: Any) -> tuple[str, tuple[MediaPart, ...]]:
    """Return what can be read of a call's output as one text, and the media in it."""
    if isinstance(value, str):
        return value, ()
    if not isinstance(value, list):
        return arguments_text(value), ()
    parts = [worded(b, read_block(b)) for b in cast(list[Any], value)]
    media = tuple(p for p in parts if isinstance(p, MediaPart))
    return "\n".join(text_of(getattr(p, "text", "")) for p in parts if p not in media), media


def read_reasoning(get: Get) -> Reading:
    """Return the reading of reasoning: what is legible of it, and how much is encrypted."""
    lines = [text_of(field(s, "text")) for s in (*listed(get("summary")), *listed(get("content")))]
    opaque = len(text_of(get("encrypted_content")))
    return "assistant", (ReasoningPart("\n".join(t for t in lines if t), opaque),)
