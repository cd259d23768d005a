"""What a `tool` message of Chat Completions holds; part of the shape `openai_chat`.

Texts alone: `ChatCompletionToolMessageParam` of openai 3.57.0, while a user's message takes media
too. "image parts are accepted on user messages, not tool messages",
https://github.com/Gitlawb/openclaude/pull/237 (read 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chatfold.core.forms import either, filled, mapping, one_of, record, text
from chatfold.core.native import field
from chatfold.core.views import MediaPart
from chatfold.shapes._chat import CHAT_BLOCKS
from chatfold.shapes._results import own_blocks

__all__ = ["blocks_of_result"]

_FURTHER = {"prompt_cache_breakpoint": mapping}
_IMAGE = record({"url": filled}, {"detail": one_of("auto", "low", "high", "original")})
_AUDIO = record({"data": filled, "format": filled})
_FILE = either(
    record({"file_data": filled}, {"filename": text}),
    record({"file_id": filled}, {"filename": text}),
)
_FORMS = {
    "text": record({"type": one_of("text"), "text": text}, _FURTHER),
    "image_url": record({"type": one_of("image_url"), "image_url": _IMAGE}, _FURTHER),
    "input_audio": record({"type": one_of("input_audio"), "input_audio": _AUDIO}, _FURTHER),
    "file": record({"type": one_of("file"), "file": _FILE}, _FURTHER),
}


def _is_block(value: object) -> bool:
    """Return whether a value is a content part of a user's message."""
    kind: object = field(value, "type")
    form = _FORMS.get(kind) if isinstance(kind, str) else None
    return form is not None and form(value)


def blocks_of_result(returned: Sequence[Any]) -> list[Any] | None:
    """Return what a tool returned as content parts, None unless all are such parts.

    For media, which no result holds, their readings.
    """
    blocks = own_blocks(returned, _is_block, "openai.types.chat")
    return None if blocks is None else [_text_or_medium(block) for block in blocks]


def _text_or_medium(block: Any) -> Any:
    part = CHAT_BLOCKS[field(block, "type")](block)
    return part if isinstance(part, MediaPart) else block
