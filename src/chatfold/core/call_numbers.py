"""Which call a part of an item is of, by its position in the records of all calls.

Not here: how results are bound to calls (`calls`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.once import once
from chatfold.core.views import CallPart, ItemView, ResultPart, ServerCallPart

__all__ = ["CallNumbers"]


class _Places(NamedTuple):
    """Positions of calls by the items that made and that answered them, the last one first."""

    made: dict[int, list[int]]
    answered: dict[int, list[int]]


class CallNumbers:
    """Tells which call a part is of: its position in the records of all calls.

    Args:
        calls: The records, or some that follow each other.
        start: Index in the list of the first item that is asked for.
        first: Position of the first of `calls` in the records of all calls.
    """

    def __init__(self, calls: Sequence[ToolCallRecord], start: int, *, first: int = 0) -> None:
        self.calls = calls
        self.first = first
        self._start = start

    @once
    def _places(self) -> _Places:
        """Where the calls are; most items are words, and never asked about them."""
        found = _Places({}, {})
        for number in range(len(self.calls) - 1, -1, -1):
            call = self.calls[number]
            if call.call_index is not None and call.call_index >= self._start:
                found.made.setdefault(call.call_index, []).append(number)
            if call.result_index is not None and call.result_index >= self._start:
                found.answered.setdefault(call.result_index, []).append(number)
        return found

    def of(self, index: int, view: ItemView) -> dict[int, int]:
        """Return the positions of the calls of an item, by the number of the part."""
        found: dict[int, int] = {}
        for number, part in enumerate(view.parts):
            if type(part) is ResultPart:
                waiting = self._places.answered.get(index, [])
            elif type(part) is CallPart or type(part) is ServerCallPart:
                waiting = self._places.made.get(index, [])
            else:
                continue
            for at in range(len(waiting) - 1, -1, -1):
                if _is_of(self.calls[waiting[at]], part):
                    found[number] = waiting.pop(at) + self.first
                    break
        return found

    def has_all(self, index: int, view: ItemView) -> bool:
        """Return whether the calls that an item answers are certainly among those given."""
        results = 0
        for part in view.parts:
            kind = type(part)
            if kind is ServerCallPart or (kind is CallPart and cast(CallPart, part).served):
                return False  # answered where it was made: not told from an answer to another
            results += kind is ResultPart
        return not results or len(self._places.answered.get(index, ())) == results


def _is_of(call: ToolCallRecord, part: CallPart | ServerCallPart | ResultPart) -> bool:
    """Return whether a part that made a call, or answered it, may be of that call."""
    if isinstance(part, ResultPart):
        return call.result == part.text and (part.id is None or call.id in (None, part.id))
    return call.raw_arguments == part.arguments and call.name == part.name
