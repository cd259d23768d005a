"""How the blocks of the Messages API are read; part of the shape `anthropic`.

Source: the types of anthropic 2.12.0 (`ContentBlockParam`, `BetaContentBlockParam`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from chatfold.core.native import field
from chatfold.core.views import (
    CallPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    StatePart,
    TextPart,
    UnknownPart,
)
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    block_type,
    call_kind,
    is_converse_block,
    json_text,
    listed,
    media_from_url,
    module_of,
    named_id,
    named_place,
    sources_of,
    text_of,
    textless_block,
    unknown_part,
)
from chatfold.shapes._unread import unread

__all__ = ["fault_of", "is_own", "read_block"]

_SERVER_RESULTS = frozenset(
    {
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "advisor_tool_result",
        "mcp_tool_result",
    }
)
_OWN_BLOCKS = _SERVER_RESULTS | {
    "image",
    "document",
    "search_result",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "server_tool_use",
    "container_upload",
    "mcp_tool_use",
    "mcp_tool_listing",
    "compaction",
    "tool_addition",
    "tool_removal",
    "fallback",
}


def is_own(block: object) -> bool:
    """Return whether a content block is sure to be one of Anthropic's."""
    if module_of(block).startswith("anthropic.types"):
        return True  # `response.content` as it is, inside of a dict
    kind = block_type(block)
    if kind == "text":
        # Gateways take `cache_control` on Chat Completions messages too, so it proves nothing.
        return bool(field(block, "citations"))
    if kind == "thinking":
        return isinstance(field(block, "thinking"), str)
    return kind in _OWN_BLOCKS


def read_block(block: Any) -> Part | None:
    """Return the reading of a content block, None where only another shape writes such blocks."""
    kind = block_type(block)
    match kind:
        case "text":
            text = text_of(field(block, "text"))
            return TextPart(text, sources=sources_of(field(block, "citations"), text))
        case "tool_use":
            return _tool_use(block)
        case "tool_result":
            return _tool_result(block)
        case "thinking":
            text = text_of(field(block, "thinking"))
            return ReasoningPart(text, 0 if text else len(text_of(field(block, "signature"))))
        case "redacted_thinking":
            return ReasoningPart("", len(text_of(field(block, "data"))))
        case "image" | "document":
            return _media(block, kind)
        case "search_result":
            text = "\n".join(text_of(field(b, "text")) for b in listed(field(block, "content")))
            title, source = named_id(field(block, "title")), text_of(field(block, "source"))
            return MediaPart("search_result", None, None, title, text, source)
        case "container_upload":
            return MediaPart("file", None, None, named_id(field(block, "file_id")))
        case "server_tool_use":
            return _call(block, named_id(field(block, "name")), "server", "server")
        case "mcp_tool_use":
            call = _call(block, named_id(field(block, "name")), "mcp", "server_mcp")
            return call._replace(namespace=named_id(field(block, "server_name")))
        case "compaction":
            return _compaction(block)
        case "tool_addition" | "tool_removal":
            return _tool_change(block)
        case "mcp_tool_listing" | "fallback":
            return unknown_part(block, known=True)
        case _:
            if kind in _SERVER_RESULTS:
                return _server_result(block, kind)
            return _other(block, kind)


def fault_of(blocks: list[Any]) -> str:
    """Return what is malformed about the texts and the results of a message, "" if nothing is."""
    for block in blocks:
        if type(block) is not dict:
            continue
        given = cast(dict[str, Any], block)
        content = given.get("content")
        if content is None or type(content) is str or given.get("type") != "tool_result":
            continue
        if not isinstance(content, (list, tuple)):
            return f"the content of a tool_result is {type(content).__name__}, not text or a list"
        if fault := textless_block("tool_result.content", cast(Sequence[Any], content)):
            return fault
    return textless_block("content", blocks, nothing=False)


def _other(block: Any, kind: str | None) -> Part | None:
    """Return the generic reading of a block, unless it is one of OpenAI's or Bedrock's."""
    if is_converse_block(block):
        return None
    if module_of(block).startswith("anthropic.types") or kind is None:
        return TextPart(block) if isinstance(block, str) else unknown_part(block)
    openai = kind.startswith(("input_", "output_")) or kind in _OPENAI_BLOCKS
    return None if openai else unknown_part(block)


_OPENAI_BLOCKS = frozenset(
    {
        "image_url",
        "file",
        "refusal",
        "function_call",
        "custom_tool_call",
        "summary_text",
        "reasoning",
    }
)


def _tool_use(block: Any) -> CallPart:
    """Return the reading of a call of the host's; members of toolsets are the host's own business.

    Their names "are not reserved", so they tell nothing without the toolset: anthropic 2.14.0,
    `lib/tools/_toolsets/_runnable.py`.
    """
    name, toolset = named_id(field(block, "name")), named_id(field(block, "toolset_name"))
    if toolset is None:
        return _call(block, name, call_kind(name), "function")
    return _call(block, name, "computer", "function")._replace(namespace=toolset)


def _call(block: Any, name: str | None, kind: Any, pair: str) -> CallPart:
    given = field(block, "input")
    arguments = unread(block, *_CALL_FIELDS) if given is None else arguments_text(given)
    caller = field(block, "caller")
    made_by = None if caller is None else named_id(field(caller, "tool_id"))
    return CallPart(named_id(field(block, "id")), name, arguments, kind, pair, caller=made_by)


_CALL_FIELDS: Final = (
    *("type", "id", "name", "caller", "cache_control", "index"),
    *("toolset_name", "server_name"),
)


def _tool_result(block: Any) -> ResultPart:
    content = field(block, "content")
    id_ = named_id(field(block, "tool_use_id"))
    failed = bool(field(block, "is_error"))
    if isinstance(content, str) or content is None:
        return ResultPart(id_, None, text_of(content), failed)
    if not isinstance(content, list):
        return ResultPart(id_, None, json_text(content), failed)
    lines: list[str] = []
    media: list[MediaPart] = []
    for inner in listed(content):
        part = read_block(inner)
        if isinstance(part, MediaPart):
            media.append(part)
        elif isinstance(part, (TextPart, UnknownPart)):
            lines.append(part.text)
        else:  # the API takes no such block; it is shown all the same
            lines.append(json_text(inner))
    return ResultPart(id_, None, "\n".join(lines), failed, media=tuple(media))


def _server_result(block: Any, kind: str) -> ResultPart:
    """Return the reading of what the server answered; code that it ran says how it ended."""
    content = field(block, "content")
    failed = bool(field(block, "is_error")) or (block_type(content) or "").endswith("_error")
    failed = failed or bool(field(content, "return_code"))
    texts = [b for b in listed(content) if block_type(b) == "text"]
    if isinstance(content, str):
        text = content
    elif texts and len(texts) == len(listed(content)):
        text = "\n".join(text_of(field(b, "text")) for b in texts)
    else:
        text = json_text(content) if content is not None else ""
    pair = "server_mcp" if kind == "mcp_tool_result" else "server"
    return ResultPart(named_id(field(block, "tool_use_id")), None, text, failed, pair)


def _media(block: Any, kind: str) -> MediaPart:
    source = field(block, "source")
    title = named_id(field(block, "title"))
    caption = text_of(field(block, "context"))
    form = named_id(field(source, "media_type"))
    match block_type(source):
        case "base64":
            return MediaPart(kind, form, base64_size(field(source, "data")), title, caption)
        case "text":
            data = text_of(field(source, "data"))
            size = len(data.encode("utf-8", "replace"))
            return MediaPart(kind, form, size, title, "\n".join(filter(None, (caption, data))))
        case "url":
            return media_from_url(kind, field(source, "url"), name=title, text=caption)
        case "content":
            inner = field(source, "content")
            texts = (
                [inner]
                if isinstance(inner, str)
                else [text_of(field(b, "text")) for b in listed(inner)]
            )
            return MediaPart(kind, form, None, title, "\n".join(filter(None, (caption, *texts))))
        case _:
            name, place = named_place(title, field(source, "file_id"))
            return MediaPart(kind, form, None, name, caption, place)


def _compaction(block: Any) -> Part:
    """Return the reading of the server's own summary; one without content is a failed attempt."""
    content = text_of(field(block, "content"))
    size = len(content) + len(text_of(field(block, "encrypted_content")))
    if not size:
        return UnknownPart("compaction", "", known=True)
    return OpaquePart("signed_compaction" if field(block, "signature") else "compaction", size)


def _tool_change(block: Any) -> StatePart:
    tool = field(block, "tool")
    label = text_of(
        field(tool, "name") or field(tool, "tool_name") or field(tool, "mcp_server_name")
    )
    return StatePart("tools", frozenset({label}) if label else frozenset(), json_text(block))
