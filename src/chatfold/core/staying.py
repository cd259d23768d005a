"""Which items of a list stay of themselves when it is folded: state, and instructions.

Not here: where they stand behind the summary (`places`), where the list is cut (`split`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from chatfold.core.outline import SPEAKERS, Outline
from chatfold.core.places import past
from chatfold.core.turns import is_summary
from chatfold.core.views import ItemView, Shape, StatePart, TextPart

__all__ = ["lasting", "others_in", "stays_anyway", "superseded_in", "wanted_of"]


def stays_anyway(
    views: Sequence[ItemView],
    shape: Shape,
    items: range,
    own: Callable[[int], bool] | None,
    outline: Outline,
) -> frozenset[int]:
    """Return the state and the instructions that would stay wherever the list is cut.

    A shape may move them from the head into the tail, which must not make the tail too large.
    """
    _, state = wanted_of(views, shape, others_in(outline, items), None, own)
    over = past(views, state)
    return frozenset(lasting(views, state, superseded_in(views, state, over), over))


def others_in(outline: Outline, items: range) -> list[int]:
    """Return which items of a range are of neither the user nor the assistant."""
    others = outline.others
    return others[bisect_left(others, items.start) : bisect_left(others, items.stop)]


def lasting(
    views: Sequence[ItemView],
    state: Iterable[int],
    superseded: Collection[int],
    over: Collection[int],
) -> Iterator[int]:
    """Yield what of state and instructions has not been replaced, and is not over."""
    for index in state:
        if index not in superseded and (index not in over or _has_state(views[index])):
            yield index


def wanted_of(
    views: Sequence[ItemView],
    shape: Shape,
    indices: Iterable[int],
    pinned: Callable[[int], bool] | None,
    own: Callable[[int], bool] | None,
) -> tuple[set[int], list[int]]:
    """Return which items the caller wants kept, and which are state or instructions."""
    pins: set[int] = set()
    state: list[int] = []
    for index in indices:
        view = views[index]
        if (is_summary(view) and len(view.parts) == 1) or (own is not None and own(index)):
            continue
        if pinned is not None and pinned(index):
            pins.add(index)
        if view.role not in SPEAKERS and shape.keeps(view) and not is_summary(view):
            state.append(index)
    return pins, state


def superseded_in(
    views: Sequence[ItemView], state: Sequence[int], over: Collection[int]
) -> set[int]:
    """Return the state items whose every setting a later one of the same kind replaces."""
    later: dict[str, set[str]] = {}
    gone: set[int] = set()
    for index in reversed(state):
        parts = [p for p in views[index].parts if type(p) is StatePart]
        says = any(type(p) is TextPart for p in views[index].parts)  # words are never superseded
        says = says and index not in over
        if parts and not says and all(p.keys and p.keys <= later.get(p.kind, set()) for p in parts):
            gone.add(index)
        for part in parts:
            later.setdefault(part.kind, set()).update(part.keys)
    return gone


def _has_state(view: ItemView) -> bool:
    return any(type(part) is StatePart for part in view.parts)
