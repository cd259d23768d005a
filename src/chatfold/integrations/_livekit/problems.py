"""What LiveKit leaves out of a request, or cannot make one of; part of the shape `livekit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.summary import FOREIGN
from chatfold.core.views import ItemView

__all__ = ["recurring_ids", "unpaired"]

_SHAPE: Final = "livekit"
_SOURCE: Final = (
    "https://github.com/livekit/agents/blob/main/livekit-agents/livekit/agents/llm/"
    "_provider_format/utils.py (read 2026-11-22)"
)


def unpaired(calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield calls without an output and outputs without a call: LiveKit leaves them out."""
    for call in calls:
        if call.call_index is None and call.result_index is not None:
            yield Problem(
                "orphan_result",
                f"this output answers {call.label!r}, and no unanswered call of that id stands "
                "before it; LiveKit leaves it out of the request",
                (call.result_index,),
                "loss",
                "function output missing the corresponding function call, ignoring",
                _SHAPE,
                _SOURCE,
            )
        elif call.result_index is None and call.call_index is not None:
            yield Problem(
                "unanswered_call",
                f"no output for {call.label}; LiveKit leaves the call out of the request until "
                "there is one",
                (call.call_index,),
                "pending" if call.status == "open" else "loss",
                "function call missing the corresponding function output, ignoring",
                _SHAPE,
                _SOURCE,
            )


def recurring_ids(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield what LiveKit's grouping by ids mixes up: ids that recur."""
    messages: dict[str, int] = {}
    for index, view in enumerate(views):
        if view.type not in ("message", FOREIGN) or view.id is None:
            continue
        first = messages.setdefault(view.id, index)
        if first < index:
            yield Problem(
                "duplicate_item_id",
                f"item {first} has the same id {view.id!r}; LiveKit takes one of them for the "
                "other, or fails",
                (index, first),
                "error",
                "only one message is allowed in a group",
                _SHAPE,
                _SOURCE,
            )
    known: dict[str, int] = {}
    for call in calls:
        if call.id is None or call.call_index is None:
            continue
        first = known.setdefault(call.id, call.call_index)
        if first < call.call_index:
            yield Problem(
                "duplicate_call_id",
                f"the call at item {first} has the same id {call.id!r}; LiveKit gives both outputs "
                "to the later one",
                (call.call_index, first),
                "error",
                "",
                _SHAPE,
                _SOURCE,
            )
