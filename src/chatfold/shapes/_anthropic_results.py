"""What a tool result of the Messages API holds; part of the shape `anthropic`.

Source: `ToolResultBlockParam` of anthropic 2.14.0. Its `browser_state` belongs to calls that the
host answers itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from chatfold.core.forms import Form, either, filled, list_of, mapping, one_of, record, text
from chatfold.core.native import field
from chatfold.core.views import Medium
from chatfold.shapes._results import own_blocks

__all__ = ["blocks_of_result", "result_block"]

_PICTURES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF: Final = "application/pdf"
_CACHE = record({"type": one_of("ephemeral")}, {"ttl": one_of("5m", "1h")})
_CITED = record({"enabled": one_of(True, False)})
_CACHED: Final = {"cache_control": _CACHE}


def _source(kind: str, **needed: Form) -> Form:
    return record({"type": one_of(kind), **needed})


_ELSEWHERE = (_source("url", url=filled), _source("file", file_id=filled))
_TEXT = record({"type": one_of("text"), "text": text}, {**_CACHED, "citations": list_of(mapping)})
_IMAGE = record(
    {
        "type": one_of("image"),
        "source": either(
            _source("base64", media_type=one_of(*_PICTURES), data=filled), *_ELSEWHERE
        ),
    },
    {**_CACHED, "transformations": mapping},
)
_DOCUMENT = record(
    {
        "type": one_of("document"),
        "source": either(
            _source("base64", media_type=one_of(_PDF), data=filled),
            _source("text", media_type=one_of("text/plain"), data=text),
            _source("content", content=either(text, list_of(either(_TEXT, _IMAGE)))),
            *_ELSEWHERE,
        ),
    },
    {**_CACHED, "citations": _CITED, "context": text, "title": text},
)
_SEARCH_RESULT = record(
    {
        "type": one_of("search_result"),
        "content": list_of(_TEXT),
        "source": text,
        "title": text,
    },
    {**_CACHED, "citations": _CITED},
)
_TOOL = record({"type": one_of("tool_reference"), "tool_name": filled}, _CACHED)
_BLOCK = either(_TEXT, _IMAGE, _DOCUMENT, _SEARCH_RESULT, _TOOL)


def blocks_of_result(returned: Sequence[Any]) -> list[Any] | None:
    """Return what a tool returned as blocks of a result, None unless all are such blocks.

    Blank texts are left out, which the API does not take there either: "messages: text content
    blocks must be non-empty", https://github.com/awsl-project/maxx/pull/257 (read 2026-11-29).
    """
    blocks = own_blocks(returned, _BLOCK, "anthropic.types")
    if blocks is None:
        return None
    return [b for b in blocks if field(b, "type") != "text" or filled(field(b, "text"))]


def result_block(piece: str | Medium) -> dict[str, Any] | None:
    """Return a text, a picture or a PDF as a block, None for all else."""
    if isinstance(piece, str):
        return {"type": "text", "text": piece}
    kind = "image" if piece.type in _PICTURES else "document" if piece.type == _PDF else None
    if kind is None:
        return None
    source = {"type": "base64", "media_type": piece.type, "data": piece.data}
    title = {"title": piece.name} if kind == "document" and piece.name else {}
    return {"type": kind, "source": source, **title}
