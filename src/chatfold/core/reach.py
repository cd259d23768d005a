"""How much of a list stands before the places where it may be cut, told from its end alone.

An estimate that says whether it is worth to plan again: what a provider binds together besides
calls and their results, and what stays for other reasons, is not looked at. Not here: where the
list is cut (`split`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from chatfold.core.calls import Span
from chatfold.core.turns import is_answer, unseen_result
from chatfold.core.views import ItemView

__all__ = ["Reach", "reach_of"]

_LAST = itemgetter(1)
_MOST = 64  # messages that open a turn, which are looked at each time


class Reach(NamedTuple):
    """How far into a list a fold may go, in tokens.

    Attributes:
        most: What stands before the latest cut, without the request of a turn that goes on.
        kept: What stands before the first cut that leaves no more than is to be kept.
    """

    most: int
    kept: int

    def grew(self, before: Reach, by: float) -> bool:
        """Return whether one of the two is larger than before by so many tokens at least."""
        return self.most - before.most >= by or self.kept - before.kept >= by


def reach_of(
    views: Sequence[ItemView],
    sizes: Sequence[int],
    total: int,
    spans: Sequence[Span],
    asks: Sequence[int],
    keep: int,
) -> Reach:
    """Return how far a fold may go, in time that depends on what is kept, not on the whole list.

    Args:
        views: One reading per native item.
        sizes: Their sizes in tokens.
        total: The sum of these.
        spans: From the calls to their results, as these came.
        asks: Indices of the items in which a user speaks.
        keep: Tokens that are to be kept.
    """
    end = first = len(views)
    left = keep
    while first and sizes[first - 1] <= left:
        first -= 1
        left -= sizes[first]
    latest = _last_group(views, spans)
    cut = min(_fitting(first, spans), latest)
    most = total - sum(sizes[latest:])
    if latest < end or not (end and is_answer(views[-1])):
        most -= sum(sizes[at] for at in _openers(asks) if at < latest)
    return Reach(most, total - sum(sizes[cut:]))


def _last_group(views: Sequence[ItemView], spans: Sequence[Span]) -> int:
    """Return the latest cut that leaves the results that the model has yet to see."""
    unseen = unseen_result(views)
    return len(views) if unseen is None else _before(unseen, spans)


def _before(cut: int, spans: Sequence[Span]) -> int:
    """Return the latest cut up to one that parts no call from its result."""
    for at in range(len(spans) - 1, -1, -1):
        span = spans[at]
        if span.last < cut:
            break
        cut = min(cut, span.first)
    return cut


def _fitting(cut: int, spans: Sequence[Span]) -> int:
    """Return the first cut from one on that parts no call from its result."""
    for at in range(bisect_left(spans, cut, key=_LAST), len(spans)):
        first, last, _ = spans[at]
        if first < cut <= last:
            cut = last + 1
    return cut


def _openers(asks: Sequence[int]) -> Sequence[int]:
    """Return the indices of the latest of the messages that open the last turn, in a row."""
    at, least = len(asks) - 1, len(asks) - _MOST
    while at > max(0, least) and asks[at - 1] == asks[at] - 1:
        at -= 1
    return asks[max(at, 0) :]
