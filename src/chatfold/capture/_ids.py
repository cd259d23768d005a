"""Raw output items made items: without output-only fields, and with an id on each call.

An id that is made up depends on nothing but the item and its place, so that a response gives the
same items whether it came as a stream or whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
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
            before = chain(reversed(made), reversed(items))
            clean = shape.with_call_ids(clean, _NewIds(shape, before, len(items) + len(made)))
        made.append(clean)
    return tuple(made)


class _NewIds:
    """Makes ids for the calls of one item; none stands in the list already.

    Each depends on the last id before it: its place alone, which a fold gives to a later item, may
    get the same call again. That id is looked for from the end, so the list is not read through.
    """

    def __init__(self, shape: Shape, before: Iterable[Any], position: int) -> None:
        self._shape = shape
        self._before = before
        self._position = position
        self._ordinal = 0
        self._last_id: str | None = None

    def __call__(self, call: CallPart) -> str:
        if self._last_id is None:  # read only where an id is wanting, which is seldom
            self._last_id = next(_ids(self._shape, self._before), "")
        key = (self._last_id, self._position, self._ordinal, call.name, call.arguments)
        self._ordinal += 1
        return f"call_{blake2b(json.dumps(key).encode(), digest_size=12).hexdigest()}"


def _ids(shape: Shape, items: Iterable[Any]) -> Iterator[str]:
    """Yield the ids of the calls and results of items that come last first, the last one first."""
    for item in items:
        view = shape.read(item)
        for part in reversed(view.parts) if view is not None else ():
            if isinstance(part, (CallPart, ResultPart)) and part.id is not None:
                yield part.id
