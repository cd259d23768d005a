"""Reasoning that is bound to what stood before it, taken out of what stays behind a summary.

Not here: what of an item is reasoning (`Shape.without_thinking`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from chatfold.core.replacement import Replacement
from chatfold.core.views import Shape

__all__ = ["stripped"]

T = TypeVar("T")


def stripped(
    made: Replacement[Any], items: Sequence[Any], cut: int, shape: Shape
) -> Replacement[Any]:
    """Return a replacement that reaches to the last item with reasoning, and leaves none there.

    Args:
        made: What takes the head's place; its first item holds the summary.
        items: The list as it is.
        cut: Index of the first tail item.
        shape: The list's shape.
    """
    behind = items[made.stop :]
    new = [shape.without_thinking(item) for item in behind]
    changed = [i for i, item in enumerate(behind) if new[i] is not item]
    reach = changed[-1] + 1 if changed else 0
    old = (*made.items[1:], *behind[:reach])
    inner = (*(shape.without_thinking(item) for item in made.items[1:]), *new[:reach])
    gone = tuple(was for was, now in zip(old, inner, strict=True) if now is not was)
    if not gone:
        return made
    stop = made.stop + reach
    stands = tuple(item for item in inner if item is not None)
    places = (*made.sources[1:], *range(made.stop, stop))
    return replace(
        made,
        stop=stop,
        items=(made.items[0], *stands),
        kept=stands,
        taken=tuple(items[cut:stop]),
        stripped=gone,
        sources=(made.sources[0], *_of_those(places, inner)),
    )


def _of_those(values: Sequence[T], items: Sequence[Any]) -> list[T]:
    """Return the values of items that are still there."""
    return [value for value, item in zip(values, items, strict=True) if item is not None]
