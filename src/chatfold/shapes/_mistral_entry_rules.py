"""What Mistral's Conversations API requires of a list of entries; part of the shape `mistral`.

Sources: the types of mistralai 3.7.0 (`InputEntries`), and what its server answered where results
were missing, https://github.com/SnarfNL/HA_MistralAI/issues/21 (read 2026-11-30). Nothing else is
published of what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Severity
from chatfold.core.views import CallPart, ItemView, ResultPart
from chatfold.shapes._mistral_entries import ENTRY_PAIR, ENTRY_TYPES, SENT_ROLES

__all__ = ["check_entries"]

_TYPES_SOURCE: Final = "mistralai 3.7.0, `InputEntries` (read 2026-11-30)"
_SOURCE: Final = "https://github.com/SnarfNL/HA_MistralAI/issues/21 (read 2026-11-30)"
_MISSING: Final = (
    "Cannot append other inputs while function results are still missing. Provide function "
    "results first for: {ids}"
)


def check_entries(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield what the Conversations API would refuse: the results of calls come first."""
    spoken = [i for i, v in enumerate(views) if v.role == "user" or v.type == "message.input"]
    for call in calls:
        if call.pair == ENTRY_PAIR:
            yield from _check_call(call, spoken)
    for index, view in enumerate(views):
        if view.shape != "mistral":
            continue
        if view.type not in ENTRY_TYPES and view.type in _CHAT and not _is_plain(view):
            yield Problem(
                "foreign_item",
                "this is a message of chat completions, and the list is of a conversation's "
                "entries: no API takes both",
                (index,),
                shape="mistral",
                source=_TYPES_SOURCE,
            )
        for part in view.parts:
            if type(part) is CallPart or type(part) is ResultPart:
                yield from _lacking(part, index)


_CHAT: Final = ("system", "user", "assistant", "tool")


def _is_plain(view: ItemView) -> bool:
    """Return whether a message is one that the API reads as an entry: see `_mistral_entries`."""
    return view.role in SENT_ROLES and not any(type(part) is CallPart for part in view.parts)


def _lacking(part: CallPart | ResultPart, index: int) -> Iterator[Problem]:
    """Yield what the API demands of a call or a result, and is not there."""
    if part.pair != ENTRY_PAIR:
        return
    if part.id is None:
        yield _problem("missing_call_id", "a call or a result without its tool_call_id", index)
    if type(part) is CallPart and part.name is None:
        yield _problem("malformed_item", "a function.call without a name", index)


def _check_call(call: ToolCallRecord, spoken: Sequence[int]) -> Iterator[Problem]:
    """Yield what is wrong with a call and its result.

    Args:
        call: The record.
        spoken: Indices of the entries that the host puts in besides results, ascending.
    """
    asked, told = call.call_index, call.result_index
    if asked is None:
        yield _problem(
            "orphan_result",
            f"this result answers {call.label!r}, and no unanswered call of that id stands before "
            "it; put the call back, or take out the result",
            told or 0,
        )
        return
    between = next((i for i in spoken if asked < i and (told is None or i < told)), None)
    error = _MISSING.format(ids=[call.label])
    if told is not None:
        if between is not None:
            yield _problem(
                "late_result",
                f"item {between} stands between the call {call.label!r} and its result; move the "
                "result before it",
                *(told, asked, between),
                error=error,
            )
    elif call.kind == "approval":
        yield _problem(
            "unanswered_call",
            f"{call.label} waits to be confirmed: send `tool_confirmations`",
            asked,
            severity="pending",
        )
    else:
        yield _problem(
            "unanswered_call",
            f"no result for {call.label}; add the result, or one that says that there is none, "
            "behind the call",
            asked,
            error=error,
            severity="pending" if between is None else "error",
        )


def _problem(
    rule: str, message: str, *indices: int, error: str = "", severity: Severity = "error"
) -> Problem:
    source = _SOURCE if error else _TYPES_SOURCE
    return Problem(rule, message, indices, severity, error, "mistral", source)
