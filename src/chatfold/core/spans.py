"""What must stay together, and the cut points that follow from it.

A span is a run of items that the provider requires together. One rule is one small function that
returns spans; an index is a cut point where no rule's span is cut. Not here: a provider's own
rules (`chatfold.shapes`), which cut point is chosen (`split`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, compress, pairwise

from chatfold.core.calls import Span, ToolCallRecord
from chatfold.core.outline import Outline
from chatfold.core.views import ItemView, Placement, UnknownPart

__all__ = [
    "Span",
    "barrier",
    "bridged",
    "closure",
    "cut_points",
    "cuttable",
    "open_calls",
    "open_spans",
    "spanning",
]


def open_spans(calls: Iterable[ToolCallRecord], length: int) -> list[Span]:
    """Return the span of each open call: to the end, as its result is still to come.

    An abandoned call has none: a cut that swallows it mends the list. Those of answered calls are
    kept with their results (`CallPairing.spans`).
    """
    return [Span(c.call_index, length) for c in open_calls(calls) if c.call_index is not None]


def open_calls(calls: Iterable[ToolCallRecord]) -> list[ToolCallRecord]:
    """Return the calls, and the requests for approval, whose answer may still come."""
    return [call for call in calls if call.status == "open"]


def spanning(
    calls: Iterable[ToolCallRecord], starts: Sequence[int], cut: int, target: int
) -> ToolCallRecord | None:
    """Return the call between a cut and the target it missed that reaches over most items.

    Only one whose result came turns later: what is answered in its own turn is no surprise. None
    where there is no such call.

    Args:
        calls: The records of all calls.
        starts: Index of the first item of each turn, ascending.
        cut: The last index before the target where the list may be cut.
        target: Index that was to be the first tail item.
    """
    widest, most = None, 0
    for call in calls:
        first, last = call.call_index, call.result_index
        if first is None or last is None or not cut <= first < target or last - first <= most:
            continue
        if bisect_right(starts, first) < bisect_right(starts, last):
            widest, most = call, last - first
    return widest


def cuttable(spans: Iterable[Span], length: int) -> bytearray:
    """Return, for each index from 0 to `length`, 1 where a cut before it parts no span."""
    legal = bytearray(b"\1" * (length + 1))
    long: list[Span] = []
    for span in spans:
        first, last, _ = span
        if first + 1 == last <= length:  # as most are
            legal[last] = 0
        elif last > first:
            long.append(span)
    if long:
        depth = [0] * (length + 2)
        for first, last, _ in long:
            depth[first + 1] += 1
            depth[min(last, length) + 1] -= 1
        for index in compress(range(length + 1), accumulate(depth)):
            legal[index] = 0
    return legal


def cut_points(
    spans: Iterable[Span], views: Sequence[ItemView], *, lossy: bool = False
) -> list[int]:
    """Return every index at which the list may be cut, in ascending order.

    Args:
        spans: What the rules require together.
        views: One reading per native item.
        lossy: Whether cuts behind an opaque item count; the summarizer cannot read what that
            item stands for.
    """
    legal = cuttable(spans, len(views))
    if views and any(type(p) is UnknownPart and p.command for p in views[-1].parts):
        legal[len(views)] = 0  # a command to the server is the last item, or it is nothing
    if not lossy:
        del legal[barrier(views) + 1 :]
    return list(compress(range(len(legal)), legal))


def barrier(
    views: Sequence[ItemView],
    own: Callable[[int], bool] | None = None,
    *,
    opaque: Sequence[int] | None = None,
) -> int:
    """Return the index of the last opaque item; the number of items where there is none.

    Args:
        views: One reading per native item.
        own: Returns whether the item at an index is no barrier, as what folds can read it.
        opaque: Indices of the opaque items, where they are known.
    """
    if opaque is None:
        opaque = Outline.of(views).opaque
    return next((index for index in reversed(opaque) if not (own and own(index))), len(views))


def closure(indices: Iterable[int], spans: Iterable[Span]) -> set[int]:
    """Return `indices` and all that spans bind to them, over as many steps as it takes."""
    kept: set[int] = set()
    waiting = list(indices)
    if not waiting:
        return kept
    partners: dict[int, list[int]] = {}
    for span in spans:
        if span.binds == "ends":
            partners.setdefault(span.first, []).append(span.last)
            partners.setdefault(span.last, []).append(span.first)
        elif span.binds == "all":
            for index in range(span.first, span.last):
                partners.setdefault(index, []).append(index + 1)
                partners.setdefault(index + 1, []).append(index)
    while waiting:
        index = waiting.pop()
        if index not in kept:
            kept.add(index)
            waiting.extend(partners.get(index, ()))
    return kept


def bridged(
    kept: Sequence[int],
    tail: int,
    between: Callable[[int, int], int | None],
) -> Placement:
    """Return what must stay between kept items that may not stand behind each other.

    That may need others in its turn; whoever keeps it asks again.

    Args:
        kept: Indices of the head items that stay, ascending.
        tail: Index of the first tail item; the length of the list stands for what comes next.
        between: Returns the index of an item that stands between two and must stay, None where they
            may stand behind each other, or nothing between them helps.
    """
    order = sorted({*kept, tail})
    bridges = (between(before, index) for before, index in pairwise(order))
    return Placement({}, [bridge for bridge in bridges if bridge is not None])
