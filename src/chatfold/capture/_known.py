"""What a response brings along that stands in the list already.

google-genai gives the calls that it ran by itself as the end of the history that it sent last. In
front of them may stand what its caller had put in before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chatfold.core.views import Part, ResultPart, Shape

__all__ = ["unlisted"]


def unlisted(raw: Sequence[Any], items: Sequence[Any], shape: Shape) -> Sequence[Any]:
    """Return raw items without the leading ones that a list ends with.

    Only those that end with a result without an id are looked for: no other answer repeats what was
    there before, so what says the same is said again.
    """
    end = items[-len(raw) :]  # at once: other threads may append meanwhile
    for number in range(min(len(raw), len(end)), 0, -1):
        known = raw[:number]
        if _answers_by_name(known[-1], shape) and _say_the_same(known, end[-number:], shape):
            return raw[number:]
    return raw


def _answers_by_name(item: Any, shape: Shape) -> bool:
    """Return whether an item holds a result that names its tool alone, as SDKs write it."""
    return any(type(part) is ResultPart and part.id is None for part in _parts(item, shape))


def _say_the_same(some: Sequence[Any], others: Sequence[Any], shape: Shape) -> bool:
    pairs = zip(some, others, strict=True)
    return all(_parts(one, shape) == _parts(other, shape) for one, other in pairs)


def _parts(item: Any, shape: Shape) -> Sequence[Part]:
    view = shape.read(item)
    return () if view is None else view.parts
