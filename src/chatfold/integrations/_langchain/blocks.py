"""How the content blocks of LangChain's messages are read; part of the shape `langchain`.

Content holds the blocks of LangChain itself (`langchain_core.messages.content`), older ones with a
`source_type`, or those of the provider's own API, as its package leaves them. With OpenAI's
Responses these are items: calls and their answers, requests for approval and their answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from chatfold.core.native import field, json_text
from chatfold.core.views import (
    CallPart,
    MediaPart,
    Part,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    StatePart,
    TextPart,
)
from chatfold.shapes._anthropic_blocks import read_block as read_anthropic
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
from chatfold.shapes._chat import CHAT_BLOCKS
from chatfold.shapes._responses_blocks import read_block as read_responses
from chatfold.shapes._responses_items import READERS, tool_names

__all__ = [
    "CALLS",
    "ITEMS",
    "inner_of",
    "is_thinking",
    "read_block",
    "read_blocks",
    "read_reasoning",
]

CALLS: Final = frozenset(
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
ITEMS: Final = READERS.keys() - {
    "reasoning",
    "function_call",
    "custom_tool_call",
    "function_call_output",
    "compaction",
    "item_reference",
}
"""Items of the Responses API that are read as they are; LangChain has calls in `tool_calls`."""
_RESPONSES_BLOCKS: Final = frozenset(
    {"input_text", "output_text", "input_image", "input_file", "computer_screenshot"}
)
_MEDIA: Final = frozenset({"image", "audio", "video", "file", "text-plain"})


def is_thinking(block: Any) -> bool:
    """Return whether a block is thinking that its provider binds to what stood before it."""
    kind = block_type(block)
    if kind in ("thinking", "redacted_thinking", "reasoning_content"):
        return True
    return kind == "reasoning" and field(field(block, "extras"), "signature") is not None


# Content blocks


def read_blocks(blocks: Iterable[Any]) -> list[Part]:
    """Return the parts of a content list.

    A server's call and its result are two of LangChain's blocks. One that was asked for approval
    is read as one, as only the call says which request allowed it.
    """
    parts: list[Part] = []
    approved: dict[str | None, int] = {}
    for block in blocks:
        for part in read_block(block):
            if type(part) is ServerCallPart and part.approval and not part.result:
                approved[part.id] = len(parts)
            elif type(part) is ResultPart and part.pair == "server" and part.id in approved:
                place = approved.pop(part.id)
                call = cast(ServerCallPart, parts[place])
                ended = call._replace(result=part.text)
                parts[place] = ended._replace(status="failed") if part.failed else ended
                continue
            parts.append(part)
    return parts


def read_block(block: Any) -> tuple[Part, ...]:
    """Return the parts of a content block: one, but for some items of the Responses API."""
    kind = block_type(block) or ""
    if kind == "non_standard":
        return read_block(inner_of(block))
    return _read_item(block, kind) if kind in ITEMS else (_read_one(block, kind),)


def inner_of(block: Any) -> Any:
    """Return what LangChain wraps as it knows no block for it, other blocks as they are."""
    return field(block, "value") if block_type(block) == "non_standard" else block


def _read_item(block: Any, kind: str) -> tuple[Part, ...]:
    """Return the reading of an item of the Responses API.

    What the server called itself is over once the message is there, whatever the stream's last
    word of it was. A list of tools goes with its message, and the server fetches it again.
    """
    _, parts = READERS[kind](getter(block))
    made: list[Part] = []
    for part in parts:
        if type(part) is ServerCallPart and part.status == "open":
            made.append(part._replace(status="completed"))
        elif type(part) is ResultPart and part.pair == "custom":  # its call is in `tool_calls`
            made.append(part._replace(pair="function"))
        elif type(part) is StatePart and kind == "mcp_list_tools":
            made.append(part._replace(text=", ".join(tool_names(field(block, "tools")))))
        else:
            made.append(part)
    return tuple(made)


def _read_one(block: Any, kind: str) -> Part:
    if isinstance(block, str):
        return TextPart(block)
    if kind == "text":
        text = text_of(field(block, "text"))
        cited = field(block, "annotations") or field(block, "citations")
        return TextPart(text, sources=sources_of(cited, text))
    if kind == "reasoning":
        return read_reasoning(block)
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
    if kind in ("server_tool_call", "server_tool_result"):
        return _read_served(block, kind)
    if kind in _ANTHROPIC:
        return read_anthropic(block) or unknown_part(block)
    if kind in CALLS:
        return _read_call_block(block)
    if kind in _RESPONSES_BLOCKS:
        return read_responses(block)
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


def read_reasoning(block: Any) -> ReasoningPart:
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
    called = field(block, "filename") or field(block, "title") or field(extras, "filename")
    name, place = named_place(called, field(block, "file_id"))
    url = field(block, "url")
    if isinstance(url, str):
        made = media_from_url(kind, url, name=name)
        return made._replace(type=made.type or type_)
    source = field(block, "source_type")
    text = field(block, "text")
    if isinstance(text, str):
        return MediaPart(kind, type_, len(text.encode("utf-8", "replace")), name, text, place)
    data = field(block, "base64") or field(block, "data")
    if source == "text" and isinstance(data, str):
        return MediaPart(kind, type_, len(data.encode("utf-8", "replace")), name, data, place)
    if data is None and source == "id":
        name, place = named_place(called, field(block, "id"))
    words = text_of(field(block, "transcript") or field(extras, "transcript"))
    return MediaPart(kind, type_, base64_size(data), name, words, place)


def _read_served(block: Any, kind: str) -> Part:
    """Return the reading of what the server called, or answered, in LangChain's own block."""
    if kind == "server_tool_call":
        extras = field(block, "extras")
        name = named_id(field(extras, "tool_name") or field(block, "name"))
        id_, arguments = named_id(field(block, "id")), arguments_text(field(block, "args"))
        approval = named_id(field(extras, "approval_request_id"))
        home = named_id(field(extras, "server_label") or field(extras, "server_name"))
        if approval is not None:
            return ServerCallPart(id_, name, arguments, "", "completed", "mcp", approval, home)
        return CallPart(id_, name, arguments, "server", "server", namespace=home)
    output = field(block, "output")
    text = output if isinstance(output, str) else "" if output is None else json_text(output)
    failed = field(block, "status") == "error"
    return ResultPart(named_id(field(block, "tool_call_id")), None, text, failed, "server")
