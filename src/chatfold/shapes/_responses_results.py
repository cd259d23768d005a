"""What the output of a function or a custom tool holds; part of the shape `openai_responses`.

Source: `ResponseFunctionCallOutputItemListParam` and `ResponseCustomToolCallOutputParam` of openai
3.57.0; https://community.openai.com/t/images-and-files-as-function-call-outputs/1360081 (read
2026-11-29).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from chatfold.core.forms import filled, one_of, record, text
from chatfold.core.native import field
from chatfold.core.views import Medium
from chatfold.shapes._results import data_url, own_blocks

__all__ = ["blocks_of_result", "result_block"]

_PICTURES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BREAKPOINT = record({"mode": one_of("explicit")}, {"ttl": text})
_FURTHER: Final = {"prompt_cache_breakpoint": _BREAKPOINT}
_TEXT = record({"type": one_of("input_text"), "text": text}, _FURTHER)
_IMAGE_FIELDS: Final = {"image_url": filled, "file_id": filled}
_IMAGE = record(
    {"type": one_of("input_image")},
    {**_FURTHER, **_IMAGE_FIELDS, "detail": one_of("low", "high", "auto", "original")},
)
_FILE_FIELDS: Final = {"file_data": filled, "file_id": filled, "file_url": filled}
_FILE = record(
    {"type": one_of("input_file")},
    {**_FURTHER, **_FILE_FIELDS, "filename": text, "detail": one_of("auto", "low", "high")},
)


def _is_block(value: object) -> bool:
    """Return whether a value is a text, or says where a picture or a file is."""
    if _IMAGE(value):
        return any(field(value, key) for key in _IMAGE_FIELDS)
    if _FILE(value):
        return any(field(value, key) for key in _FILE_FIELDS)
    return _TEXT(value)


def blocks_of_result(returned: Sequence[Any]) -> list[Any] | None:
    """Return what a tool returned as blocks of an output, None unless all are such blocks."""
    return own_blocks(returned, _is_block, "openai.types.responses")


def result_block(piece: str | Medium) -> dict[str, Any] | None:
    """Return a text, a picture or a PDF as a block, None for all else."""
    if isinstance(piece, str):
        return {"type": "input_text", "text": piece}
    if piece.type in _PICTURES:
        return {"type": "input_image", "detail": "auto", "image_url": data_url(piece)}
    if piece.type != "application/pdf":
        return None
    name = (piece.name or "").rpartition("/")[2] or "document.pdf"  # a file has to have one
    return {"type": "input_file", "filename": name, "file_data": data_url(piece)}
