"""Items of one response that something has come between, made so that they need each other no more.

A response that is recorded is stored item by item, and a user may speak meanwhile. Not here: which
items need each other (`chatfold.shapes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

from chatfold.core.views import Shape

__all__ = ["standing"]


def standing(
    made: tuple[Any, ...], stored: Sequence[Any], items: Sequence[Any], shape: Shape
) -> tuple[Any, ...]:
    """Return the next items of a response as they may stand at the end of a list.

    Where the provider wants an item together with an earlier one of its response, and in this list
    that could no longer be seen, the item is detached from it (`Shape.detached`). Else a fold that
    comes later would keep the one without the other, which the provider refuses.

    Args:
        made: The items that are to be added.
        stored: What was added of their response before.
        items: The list; it is only read.
        shape: The shape of the response.
    """
    own = list(stored)
    at_end = items[-len(own) :] if own else ()
    if len(own) == len(at_end) and all(map(is_, own, at_end)):
        return made  # nothing came between
    now = list(items)
    for item in made:
        own.append(item)
        needed = _bound(own, shape)
        if needed is not None and not _stands_with(own[needed], [*now, item], shape):
            own[-1] = shape.detached(item)
        now.append(own[-1])
    return tuple(own[len(stored) :])


def _bound(items: Sequence[Any], shape: Shape) -> int | None:
    """Return the index of the first item that the last one has to stay together with."""
    views = [shape.read(item) for item in items]
    places = [place for place, view in enumerate(views) if view is not None]
    last = len(places) - 1
    spans = shape.spans([view for view in views if view is not None], ())
    return min(
        (places[span.first] for span in spans if span.first < last <= span.last), default=None
    )


def _stands_with(item: Any, items: Sequence[Any], shape: Shape) -> bool:
    """Return whether the last item of a list is seen to belong to an earlier one."""
    at = next((n for n in range(len(items) - 1, -1, -1) if items[n] is item), None)
    return at is not None and _bound(items[at:], shape) == 0
