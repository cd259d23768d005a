"""Raw output items made items: without output-only fields, and with an id on each call.

An id that is made up depends on nothing but the item and its place, so that a response gives the
same items whether it came as a stream or whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any

from chatfold.core.views import CallPart, ResultPart, Shape

__all__ = ["finished"]


def finished(
    raw: Iterable[Any], shape: Shape, items: Sequence[Any], *, takes_ids: bool
) -> tuple[Any, ...]:
    """Return raw output items as the items that are to be added to a list.

    Args:
        raw: What the provider sent.
        shape: The shape of what it sends.
        items: The list that they will be added to; it is only read.
        takes_ids: Whether a call without an id is given one; else it is paired by its name.
    """
    made: list[Any] = []
    for item in raw:
        clean = shape.replayable(item)
        if clean is None:
            continue
        if takes_ids:
            clean = shape.with_call_ids(clean, _NewIds(shape, items, len(items) + len(made)))
        made.append(clean)
    return tuple(made)


class _NewIds:
    """Makes ids for the calls of one item; no id is given twice in a list."""

    def __init__(self, shape: Shape, items: Sequence[Any], position: int) -> None:
        self._shape = shape
        self._items = items
        self._position = position
        self._ordinal = 0
        self._taken: set[str | None] | None = None

    def __call__(self, call: CallPart) -> str:
        if self._taken is None:  # read only where an id is wanting, which is seldom
            self._taken = set(_ids(self._shape, self._items))
        key = (self._position, self._ordinal, call.name, call.arguments)
        new = next(id_ for n in count() if (id_ := _digest(*key, n)) not in self._taken)
        self._ordinal += 1
        return new


def _digest(*key: object) -> str:
    return f"call_{blake2b(json.dumps(key).encode(), digest_size=12).hexdigest()}"


def _ids(shape: Shape, items: Sequence[Any]) -> Iterable[str | None]:
    for item in tuple(items):  # other threads may append meanwhile
        view = shape.read(item)
        for part in view.parts if view is not None else ():
            if isinstance(part, (CallPart, ResultPart)):
                yield part.id
