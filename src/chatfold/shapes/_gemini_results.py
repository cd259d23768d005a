"""What a function response of Gemini's holds; part of the shape `gemini`.

Words go into its `response`, media into its `parts`: google-genai 3.6.1, `FunctionResponse`;
https://ai.google.dev/gemini-api/docs/function-calling#multimodal-function-responses as told in
https://github.com/agentjido/req_llm/pull/701 (read 2026-11-29).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chatfold.core.forms import Form, base64_text, either, filled, mapping, record, text
from chatfold.core.native import field
from chatfold.core.views import MediaPart, Medium
from chatfold.shapes._gemini_parts import read_part, spelled
from chatfold.shapes._results import own_blocks, without_unset

__all__ = ["blocks_of_result", "media_of", "result_block", "words_of"]

_TYPES: Final = frozenset(
    {"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"}
)
_OLDER: Final = re.compile(r"gemini-[12]\b")


def _data(value: object) -> bool:
    """Return whether a value is bytes, or base64, which the SDK reads as such."""
    return bool(value) if isinstance(value, (bytes, bytearray)) else base64_text(value)


def _both(spellings: Mapping[str, Form]) -> dict[str, Form]:
    """Return forms of fields under the names of the SDK and those of the wire."""
    made = dict(spellings)
    for name, form in spellings.items():
        first, *rest = name.split("_")
        made[first + "".join(word.title() for word in rest)] = form
    return made


_BLOB = record({"data": _data}, _both({"mime_type": filled, "display_name": text}))
_FILE = record({}, _both({"file_uri": filled, "mime_type": filled, "display_name": text}))
_NOTES: Final = (
    *("media_processing", "media_resolution", "video_metadata"),
    *("document_metadata", "spreadsheet_metadata", "audio_metadata"),
)
_MEDIA = record(
    {}, _both({"inline_data": _BLOB, "file_data": _FILE, **dict.fromkeys(_NOTES, mapping)})
)
_TEXT = record({"text": text})


def _is_medium(value: object) -> bool:
    if not _MEDIA(value):
        return False
    blob, file = spelled(value, "inline_data"), spelled(value, "file_data")
    typed = blob is not None and spelled(blob, "mime_type") is not None
    return typed or (file is not None and spelled(file, "file_uri") is not None)


def blocks_of_result(returned: Sequence[Any], model: str | None) -> list[Any] | None:
    """Return what a tool returned as parts, None unless all are texts and media.

    One at least has to be a medium: rows of a table may well have one column, `text`.
    """
    parts = own_blocks(returned, either(_TEXT, _is_medium), "google.genai.types", without_unset)
    if parts is None or not any(map(_is_medium, parts)):
        return None
    older = _OLDER.search(model or "") is not None
    return [_reading(part) if older and _is_medium(part) else part for part in parts]


def words_of(parts: Sequence[Any]) -> str:
    """Return the words among parts of a result."""
    said = (field(part, "text") for part in parts)
    return "\n".join(words for words in said if isinstance(words, str))


def media_of(parts: Sequence[Any]) -> list[Any]:
    """Return the media among parts of a result."""
    return [part for part in parts if field(part, "text") is None]


def result_block(piece: str | Medium, model: str | None) -> dict[str, Any] | None:
    """Return a text, a picture or a document as a part; None for what no response holds.

    Models before Gemini 3 take no media there: "`function_response.parts` is not supported for
    this model", https://github.com/google-gemini/gemini-cli/issues/19436 (read 2026-11-29).
    """
    if isinstance(piece, str):
        return {"text": piece}
    if piece.type not in _TYPES or _OLDER.search(model or ""):
        return None
    return {"inline_data": {"mime_type": piece.type, "data": piece.data}}


def _reading(part: Any) -> MediaPart:
    return next(each for each in read_part(part) if isinstance(each, MediaPart))
