"""What the servers of chat messages refuse in calls and results; part of the chat shapes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Severity
from chatfold.core.views import ItemView

__all__ = ["PairRules", "pair_problems"]


class PairRules(NamedTuple):
    """What one provider says of calls and results that do not stand together.

    Attributes:
        shape: Name of the shape.
        orphan: Its error for a result whose call does not stand right before it.
        unanswered: Its error for calls without results; `{ids}` stands for the calls.
        source: Where the rule is documented, with the day it was read.
        severity: What it does about it; calls that may still be answered are `pending`.
    """

    shape: str
    orphan: str
    unanswered: str
    source: str
    severity: Severity = "error"


def pair_problems(
    views: Sequence[ItemView], calls: Sequence[ToolCallRecord], rules: PairRules
) -> Iterator[Problem]:
    """Yield results that do not follow their call at once, and calls without results."""
    waiting: dict[int, list[str]] = {}
    others = [index for index, view in enumerate(views) if view.role != "tool"]
    for call in calls:
        asked, told = call.call_index, call.result_index
        if told is None:
            if asked is not None:
                waiting.setdefault(asked, []).append(call.label)
        elif asked is None or not asked <= told <= asked + 1:  # most stand right behind
            yield from _misplaced(others, call, told, rules)
    for index, labels in waiting.items():
        followed = bool(others) and others[-1] > index
        ids = ", ".join(labels)
        yield Problem(
            "unanswered_call",
            f"no result for {ids}; add the result, or one that says that there is none, right "
            "behind this message",
            (index,),
            rules.severity if followed else "pending",
            rules.unanswered.format(ids=ids),
            rules.shape,
            rules.source,
        )


def _misplaced(
    others: Sequence[int], call: ToolCallRecord, index: int, rules: PairRules
) -> Iterator[Problem]:
    """Yield what is wrong with the place of the result at `index`.

    Args:
        others: Indices of the items that are no tool's, ascending.
        call: The result's call.
        index: Index of its item.
        rules: What the provider says.
    """
    start = call.call_index
    if start is None:
        message = (
            f"this result answers {call.label!r}, and no unanswered call of that id stands before "
            "it; put the call back, or take out the result"
        )
        yield Problem(
            "orphan_result",
            message,
            (index,),
            rules.severity,
            rules.orphan,
            rules.shape,
            rules.source,
        )
        return
    before = bisect_left(others, index)
    between = others[before - 1] if before else -1
    if between > start:
        yield Problem(
            "late_result",
            f"item {between} stands between the call {call.label!r} and its result; move the "
            "result right behind the call",
            (index, start, between),
            rules.severity,
            rules.orphan,
            rules.shape,
            rules.source,
        )
