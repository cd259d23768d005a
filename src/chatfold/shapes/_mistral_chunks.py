"""The chunks that the content of Mistral's messages may be a list of; part of the shape `mistral`.

Source: the types of mistralai 3.7.0 (`ContentChunk`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from chatfold.core.native import field, json_text
from chatfold.core.views import MediaPart, Part, ReasoningPart, Role
from chatfold.shapes._blocks import (
    base64_size,
    block_type,
    listed,
    media_from_url,
    named_id,
    text_of,
)
from chatfold.shapes._chat import (
    CHAT_BLOCKS,
    Dialect,
    is_foreign_block,
    part_text,
    read_block,
)

__all__ = ["BLOCKS", "CHUNKS", "DIALECT", "ROLES"]

ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_NULL = "null"  # what the SDK's `ToolCall` has as its id where the server gave none


def _read_audio(block: Any) -> Part:
    audio = field(block, "input_audio")
    if not isinstance(audio, str):
        return CHAT_BLOCKS["input_audio"](block)
    if audio.startswith(("http:", "https:", "data:")):
        return media_from_url("audio", audio)
    return MediaPart("audio", None, base64_size(audio))


def _read_file(block: Any) -> Part:
    file_id = field(block, "file_id")
    if not isinstance(file_id, str):
        return CHAT_BLOCKS["file"](block)
    return MediaPart("file", None, None, named_id(file_id))


def _read_document(block: Any) -> Part:
    name = field(block, "document_name")
    url = field(block, "document_url")
    return media_from_url("document", url, name=name if isinstance(name, str) else None)


def _read_thinking(block: Any) -> Part:
    thoughts = listed(field(block, "thinking"))
    said = (
        text_of(field(t, "text")) if block_type(t) in ("text", None) else json_text(t)
        for t in thoughts
    )
    return ReasoningPart("\n".join(said))


def _references(block: Any) -> str | None:
    """Return what a chunk refers to: places in what a tool found."""
    return ", ".join(str(each) for each in listed(field(block, "reference_ids"))) or None


def _read_resource(block: Any) -> Part:
    inner = read_block(field(block, "content"), DIALECT)
    name = named_id(field(block, "uri"))
    if type(inner) is MediaPart:
        return inner._replace(name=inner.name or name)
    return MediaPart("resource", None, None, name, part_text(inner))


BLOCKS: Final[Mapping[str, Callable[[Any], Part]]] = {
    **CHAT_BLOCKS,
    "document_url": _read_document,
    "file": _read_file,
    "input_audio": _read_audio,
    "reference": lambda block: MediaPart("reference", None, None, _references(block)),
    "resource": _read_resource,
    "resource_link": lambda block: MediaPart("resource", None, None, named_id(field(block, "uri"))),
    "thinking": _read_thinking,
    # The SDK's object for a chunk that it does not know.
    "UNKNOWN": lambda block: read_block(field(block, "raw"), DIALECT),
}
"""What reads each chunk, by its type."""

CHUNKS: Final = frozenset(BLOCKS) - {"refusal", "video_url"}
"""The types of the chunks that Mistral's chat completions have."""

DIALECT: Final[Dialect] = Dialect("mistral", ROLES, BLOCKS, is_foreign_block, _NULL)
