"""What a tool result of Converse holds; part of the shape `bedrock`.

Source: the union `ToolResultContentBlock` of botocore 1.44.8, bedrock-runtime.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from chatfold.core.forms import Form, either, filled, list_of, mapping, one_of, record, text
from chatfold.core.views import Medium
from chatfold.shapes._results import own_blocks

__all__ = ["blocks_of_result", "named_apart", "result_block"]

_PICTURES: Final = ("png", "jpeg", "gif", "webp")
_DOCUMENTS: Final = ("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md")
_VIDEOS: Final = ("mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp")
_FORMATS: Final = {
    **{f"image/{form}": ("image", form) for form in _PICTURES},
    "application/pdf": ("document", "pdf"),
    "text/csv": ("document", "csv"),
    "application/msword": ("document", "doc"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("document", "docx"),
    "application/vnd.ms-excel": ("document", "xls"),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("document", "xlsx"),
    "text/html": ("document", "html"),
    "text/plain": ("document", "txt"),
    "text/markdown": ("document", "md"),
    "video/mp4": ("video", "mp4"),
    "video/webm": ("video", "webm"),
    "video/quicktime": ("video", "mov"),
}
# A document's name takes no other characters, and no two blanks in a row (`DocumentBlock`).
_UNFIT: Final = re.compile(r"[^a-zA-Z0-9 ()\[\]-]+")


def _bytes(value: object) -> bool:
    return isinstance(value, (bytes, bytearray)) and bool(value)


def _member(name: str, form: Form) -> Form:
    """Return the form of a union whose one member is `name`."""
    return record({name: form})


_IN_S3 = _member("s3Location", record({"uri": filled}, {"bucketOwner": filled}))
_STORED = either(_member("bytes", _bytes), _IN_S3)
_TEXTS = list_of(_member("text", text))
_CITED = record({"enabled": one_of(True, False)})
_BLOCK = either(
    _member("text", text),
    _member("json", mapping),
    _member("image", record({"format": one_of(*_PICTURES), "source": _STORED})),
    _member("video", record({"format": one_of(*_VIDEOS), "source": _STORED})),
    _member(
        "document",
        record(
            {
                "name": filled,
                "source": either(_STORED, _member("text", text), _member("content", _TEXTS)),
            },
            {"format": one_of(*_DOCUMENTS), "context": text, "citations": _CITED},
        ),
    ),
    _member(
        "searchResult",
        record({"source": text, "title": text, "content": _TEXTS}, {"citations": _CITED}),
    ),
)


def blocks_of_result(returned: Sequence[Any]) -> list[Any] | None:
    """Return what a tool returned as blocks of a result, None unless all are such blocks.

    Blank texts are left out: they say nothing, and sources disagree whether a result may hold one.
    """
    blocks = own_blocks(returned, _BLOCK, "botocore.")  # boto3 has no objects for them
    if blocks is None:
        return None
    return [block for block in blocks if "text" not in block or filled(block["text"])]


def result_block(piece: str | Medium) -> dict[str, Any] | None:
    """Return a text, a picture, a document or a video as a block, None for all else."""
    if isinstance(piece, str):
        return {"text": piece}
    kind, form = _FORMATS.get(piece.type, (None, ""))
    if kind is None:
        return None
    name = _UNFIT.sub(" ", (piece.name or "").rpartition("/")[2]).strip()
    named = {"name": name[:200].strip() or "document"} if kind == "document" else {}
    return {kind: {"format": form, **named, "source": {"bytes": b64decode(piece.data)}}}


def named_apart(blocks: Sequence[Any], call_id: str) -> list[Any]:
    """Return blocks whose documents have names that no other result has.

    "Messages can't contain duplicate document names", of the whole request, results too:
    https://github.com/anomalyco/opencode/pull/48756 (read 2026-11-29).
    """
    return [_named(block, f"{call_id} {at}") for at, block in enumerate(blocks)]


def _named(block: Any, of: str) -> Any:
    document = block.get("document")
    if document is None:
        return block
    mark = sha256(of.encode()).hexdigest()[:8]
    return {"document": {**document, "name": f"{document['name'][:191].rstrip()} {mark}"}}
