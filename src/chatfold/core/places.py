"""Where the kept items of a head stand behind its summary, and which others that takes.

Not here: which items are kept in the first place (`split`), what a provider demands (`shapes`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from chatfold.core.spans import Span, closure
from chatfold.core.turns import is_summary
from chatfold.core.views import ItemView, Role, Shape

__all__ = ["Places", "past", "places_of"]


class Places(NamedTuple):
    """What stays of a head, and where.

    Attributes:
        kept: Indices of all that stays, in the list.
        moved: For kept items that cannot stand behind the summary: the index they go before.
        stuck: Whether kept items hold those around them, for want of a place behind the summary.
    """

    kept: frozenset[int]
    moved: Mapping[int, int]
    stuck: bool


def places_of(
    wanted: Collection[int],
    head: range,
    views: Sequence[ItemView],
    spans: Sequence[Span],
    shape: Shape,
    *,
    native: bool = False,
) -> Places:
    """Return where items of a head stand behind what takes its place, in a list as it is now.

    What stands behind the head decides over that, so that a list that has grown is asked again.

    Args:
        wanted: Indices of the items that are to stay.
        head: Indices of the items before the cut, without the prefix.
        views: The readings of the whole list.
        spans: What must stay together.
        shape: What knows where items may stand.
        native: Whether a provider writes what takes the head's place: the assistant says it then.
    """
    behind: Role = "assistant" if native else "user"  # who the item in front speaks for
    kept = closure({*wanted, *_around_past(wanted, head, views)}, spans)
    placement = shape.place(sorted(kept), head.stop, views, behind=behind)
    stuck = bool(placement.needs)
    while needed := closure(placement.needs, spans).intersection(head) - kept:
        kept |= needed  # which may need others in their turn
        placement = shape.place(sorted(kept), head.stop, views, behind=behind)
    # What of them came with an earlier summary stays without it; no summary stays of itself.
    stays = (i for i in kept if i in head and (i in wanted or not is_summary(views[i])))
    return Places(frozenset(stays), dict(placement.moved), stuck)


def past(views: Sequence[ItemView], indices: Iterable[int]) -> set[int]:
    """Return the items whose words were for one turn, and behind which the user has gone on."""
    passing = [i for i in indices if views[i].passing]
    if not passing:
        return set()
    last = next((i for i in range(len(views) - 1, -1, -1) if views[i].role == "user"), 0)
    return {i for i in passing if i < last}


def _around_past(wanted: Iterable[int], head: range, views: Sequence[ItemView]) -> Iterator[int]:
    """Yield the messages around those that have passed: elsewhere these would hold again.

    Other instructions and settings beside them part nothing.
    """
    for index in past(views, wanted):
        for run in (range(index - 1, head.start - 1, -1), range(index + 1, head.stop)):
            yield from islice((j for j in run if views[j].role != "system"), 1)
