"""What a `tool` message of Mistral's holds; part of the shape `mistral`.

Source: `ToolMessage` of mistralai 3.7.0, whose content may be a list of chunks, as a user's. Of a
picture in one: https://github.com/mistralai/mistral-vibe/pull/900 (read 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chatfold.core.forms import either, filled, list_of, one_of, record, text
from chatfold.core.views import Medium
from chatfold.shapes._results import data_url, own_blocks

__all__ = ["blocks_of_result", "result_block"]

_URL = either(filled, record({"url": filled}, {"detail": text}))
_NUMBER = either(filled, lambda value: isinstance(value, int))
_CHUNK = either(
    record({"type": one_of("text"), "text": text}),
    record({"type": one_of("image_url"), "image_url": _URL}),
    record({"type": one_of("document_url"), "document_url": filled}, {"document_name": text}),
    record({"type": one_of("input_audio"), "input_audio": filled}),
    record({"type": one_of("file"), "file_id": filled}),
    record({"type": one_of("reference"), "reference_ids": list_of(_NUMBER)}),
)


def blocks_of_result(returned: Sequence[Any]) -> list[Any] | None:
    """Return what a tool returned as chunks, None unless all are such chunks."""
    return own_blocks(returned, _CHUNK, "mistralai")


def result_block(piece: str | Medium) -> dict[str, Any] | None:
    """Return a text or a picture as a chunk, None for all else."""
    if isinstance(piece, str):
        return {"type": "text", "text": piece}
    if piece.type not in ("image/jpeg", "image/png", "image/gif", "image/webp"):
        return None
    return {"type": "image_url", "image_url": data_url(piece)}
