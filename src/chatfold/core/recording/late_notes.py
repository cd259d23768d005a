"""The notes that stand for results which came when their calls had been folded away, read again.

Not here: their words (`prompts/repair_note.jinja`), and where they go in a list (`late`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chatfold.core.calls import ToolCallRecord
from chatfold.core.views import ItemView, TextPart, is_note, noted
from chatfold.core.xml import decode, unescape_copied

__all__ = ["noted_results"]

_ATTRIBUTE = re.compile(r" ([a-z_]+)=\"([^\"<>]*)\"")


def noted_results(views: Sequence[ItemView], indices: Iterable[int]) -> list[ToolCallRecord]:
    """Return the results that notes hold, as results without a call.

    Args:
        views: The readings of the whole list.
        indices: Where to look. Who forges a note can say no more than that a call was answered
            which the record calls open; a tool's words cannot, as a note is the user's item.
    """
    notes = [
        (part.text, index)
        for index in indices
        if views[index].role == "user"
        for part in views[index].parts
        if type(part) is TextPart and is_note(part.text)
    ]
    made = [_result(text, index, views[index].shape) for text, index in notes]
    # A result that came twice is one.
    return [*{(r.id, r.name): r for r in made if r.id or r.name}.values()]


def _result(note: str, index: int, shape: str) -> ToolCallRecord:
    told = {key: _plain(value) for key, value in _ATTRIBUTE.findall(note.partition(">")[0])}
    return ToolCallRecord(
        told.get("call_id"),
        told.get("name"),
        "",
        _plain(noted(note)),
        "failed" if told.get("status") == "failed" else "completed",
        None,
        index,
        shape,
    )


def _plain(text: str) -> str:
    return decode(unescape_copied(text, ()))
