"""How the blocks and calls of LangChain's messages are read; part of the shape `langchain`.

Content holds the blocks of LangChain itself (`langchain_core.messages.content`), older ones with a
`source_type`, or those of the provider's own API, as its package leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, cast

from chatfold.core.views import (
    CallPart,
    MediaPart,
    Part,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    TextPart,
    field,
    json_text,
)
from chatfold.shapes._anthropic_blocks import read_block as read_anthropic
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    block_type,
    call_kind,
    media_from_url,
    named_id,
    unknown_part,
)
from chatfold.shapes._chat import CHAT_BLOCKS, listed, part_text, text_of

__all__ = ["is_call_block", "is_thinking", "read_block", "read_calls", "read_result"]

_CALLS: Final = frozenset(
    {
        "tool_call",
        "tool_call_chunk",
        "invalid_tool_call",
        "tool_use",
        "input_json_delta",
        "function_call",
        "custom_tool_call",
        "toolUse",
    }
)
_ANTHROPIC: Final = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "search_result",
        "document",
        "container_upload",
        "compaction",
        "tool_result",
        "tool_use",
    }
)
_SERVED: Final = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "computer_call",
        "tool_search_call",
    }
)
_MEDIA: Final = frozenset({"image", "audio", "video", "file", "text-plain"})


def is_call_block(block: Any, known: Collection[str | None]) -> bool:
    """Return whether a block says again what stands in `tool_calls`.

    Args:
        block: A content block.
        known: The ids of the calls that stand there.
    """
    kind = block_type(block) or ("toolUse" if field(block, "toolUse") is not None else "")
    if kind not in _CALLS:
        return False
    if kind == "input_json_delta":
        return True
    source = field(block, "toolUse") if kind == "toolUse" else block
    ids = (field(source, "call_id"), field(source, "id"), field(source, "toolUseId"))
    return any(each in known for each in ids if each is not None)


def is_thinking(block: Any) -> bool:
    """Return whether a block is thinking that its provider binds to what stood before it."""
    kind = block_type(block)
    if kind in ("thinking", "redacted_thinking", "reasoning_content"):
        return True
    return kind == "reasoning" and field(field(block, "extras"), "signature") is not None


# Calls and results


def read_calls(get: Callable[[str], Any]) -> list[CallPart]:
    """Return the calls of an AI message, those among them whose arguments are no JSON."""
    made: list[CallPart] = []
    for call in [*listed(get("tool_calls")), *listed(get("invalid_tool_calls"))]:
        name = named_id(field(call, "name"))
        arguments = arguments_text(field(call, "args"))
        made.append(CallPart(named_id(field(call, "id")), name, arguments, call_kind(name)))
    return made or _older_calls(get)


def _older_calls(get: Callable[[str], Any]) -> list[CallPart]:
    """Return the one call of models that call functions, not tools."""
    call = field(get("additional_kwargs"), "function_call")
    if call is None:
        return []
    name = named_id(field(call, "name"))
    return [CallPart(None, name, arguments_text(field(call, "arguments")), call_kind(name))]


def read_result(get: Callable[[str], Any]) -> ResultPart:
    """Return the result in a tool message."""
    content = get("content")
    media: tuple[MediaPart, ...] = ()
    if isinstance(content, list):
        parts = [read_block(block) for block in listed(cast(object, content))]
        media = tuple(part for part in parts if type(part) is MediaPart)
        text = "\n".join(part_text(part) for part in parts if type(part) is not MediaPart)
    else:
        text = arguments_text(content)
    return ResultPart(
        named_id(get("tool_call_id")),
        named_id(get("name")),
        text,
        get("status") == "error",
        media=media,
    )


# Content blocks


def read_block(block: Any) -> Part:
    """Return the reading of a content block."""
    if isinstance(block, str):
        return TextPart(block)
    kind = block_type(block) or ""
    if kind == "text":
        return TextPart(text_of(field(block, "text")))
    if kind == "reasoning":
        return _read_reasoning(block)
    if kind == "reasoning_content":  # Bedrock's
        inner = field(block, "reasoning_content")
        text = text_of(field(inner, "text"))
        return ReasoningPart(text, 0 if text else len(text_of(field(inner, "signature"))))
    if kind in _MEDIA:
        return _read_media(block, kind)
    if kind == "media":  # Google's
        type_ = named_id(field(block, "mime_type"))
        url = named_id(field(block, "file_uri"))
        return MediaPart("file", type_, base64_size(field(block, "data")), url)
    if kind == "non_standard":
        return read_block(field(block, "value"))
    if kind in _SERVED or kind in ("server_tool_call", "server_tool_result"):
        return _read_served(block, kind)
    if kind in _ANTHROPIC:
        return read_anthropic(block) or unknown_part(block)
    if kind in _CALLS:
        return _read_call_block(block)
    reader = CHAT_BLOCKS.get(kind)
    return reader(block) if reader is not None else unknown_part(block)


def _read_call_block(block: Any) -> Part:
    """Return the reading of a call that stands in the content alone."""
    name = named_id(field(block, "name"))
    given = field(block, "args")
    if given is None:
        given = field(block, "arguments") or field(block, "input")
    call_id = named_id(field(block, "call_id") or field(block, "id"))
    return CallPart(call_id, name, arguments_text(given), call_kind(name))


def _read_reasoning(block: Any) -> Part:
    """Return the reading of reasoning: LangChain's own block, or that of OpenAI's Responses."""
    said = field(block, "reasoning")
    texts = [said] if isinstance(said, str) else []
    pieces = (*listed(field(block, "summary")), *listed(field(block, "content")))
    texts += [text_of(field(piece, "text")) for piece in pieces]
    extras = field(block, "extras")
    hidden = text_of(field(block, "encrypted_content") or field(extras, "encrypted_content"))
    text = "\n".join(t for t in texts if t)
    signature = "" if text else text_of(field(extras, "signature"))
    return ReasoningPart(text, len(hidden) + len(signature))


def _read_media(block: Any, kind: str) -> Part:
    """Return the reading of a medium: LangChain's block, the older one, or Anthropic's."""
    if isinstance(field(block, "source"), Mapping):
        return read_anthropic(block) or unknown_part(block)
    if kind == "file" and isinstance(field(block, "file"), Mapping):
        return CHAT_BLOCKS["file"](block)
    kind = "document" if kind == "text-plain" else kind
    type_ = named_id(field(block, "mime_type"))
    extras = field(block, "extras") or field(block, "metadata")
    name = named_id(
        field(block, "filename")
        or field(block, "title")
        or field(block, "file_id")
        or field(extras, "filename")
    )
    url = field(block, "url")
    if isinstance(url, str):
        made = media_from_url(kind, url, name=name)
        return made._replace(type=made.type or type_)
    source = field(block, "source_type")
    text = field(block, "text")
    if isinstance(text, str):
        return MediaPart(kind, type_, len(text.encode("utf-8", "replace")), name, text)
    data = field(block, "base64") or field(block, "data")
    if source == "text" and isinstance(data, str):
        return MediaPart(kind, type_, len(data.encode("utf-8", "replace")), name, data)
    if data is None and source == "id":
        name = named_id(field(block, "id")) or name
    return MediaPart(kind, type_, base64_size(data), name)


def _read_served(block: Any, kind: str) -> Part:
    """Return the reading of what the server called and answered itself."""
    if kind == "server_tool_call":
        name = named_id(field(block, "name"))
        arguments = arguments_text(field(block, "args"))
        return CallPart(named_id(field(block, "id")), name, arguments, "server", "server")
    if kind == "server_tool_result":
        output = field(block, "output")
        text = output if isinstance(output, str) else "" if output is None else json_text(output)
        failed = field(block, "status") == "error"
        return ResultPart(named_id(field(block, "tool_call_id")), None, text, failed, "server")
    name = named_id(field(block, "name")) or kind.removesuffix("_call")
    asked = field(block, "arguments") or field(block, "action") or field(block, "queries")
    asked = asked or field(block, "code")
    found = field(block, "output") or field(block, "results") or field(block, "outputs")
    given = "" if asked is None else asked if isinstance(asked, str) else json_text(asked)
    result = "" if found is None else found if isinstance(found, str) else json_text(found)
    failed = field(block, "status") == "failed" or field(block, "error") is not None
    return ServerCallPart(
        named_id(field(block, "id")),
        name,
        given,
        result,
        "failed" if failed else "completed",
        "mcp" if kind == "mcp_call" else "server",
    )
