"""The calls and results of a list at work: where they stand, taken out, and put behind a call.

Not here: why that is done (`calls`, `results`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from chatfold.core.calls import ToolCallRecord
from chatfold.core.mends.edits import Case, Edits
from chatfold.core.views import CallPart, ResultPart, ServerCallPart, StatePart

__all__ = [
    "Result",
    "answers_of",
    "behind_of",
    "calls_of",
    "comes_apart",
    "put_joined",
    "results_of",
    "take_out",
]


class Result(NamedTuple):
    """One result: its item, its place among the parts, and the record of its call."""

    at: int
    place: int
    part: ResultPart
    record: ToolCallRecord


def results_of(case: Case) -> list[Result]:
    """Return all results of the list with their records, in order."""
    waiting: dict[int, list[ToolCallRecord]] = {}
    for record in case.snapshot.calls:
        if record.result_index is not None:
            waiting.setdefault(record.result_index, []).append(record)
    found: list[Result] = []
    for index in sorted(waiting):
        rest = waiting[index]
        parts = enumerate(case.snapshot.views[index].parts)
        told = [(place, part) for place, part in parts if type(part) is ResultPart]
        # Two may say the same: those that name their calls have these.
        for place, part in sorted(told, key=lambda each: each[1].id is None):
            own = next((r for r in rest if _is_of(part, r)), None)
            if own is not None:
                rest.remove(own)
                found.append(Result(index, place, part, own))
    return sorted(found, key=lambda result: (result.at, result.place))


def _is_of(part: ResultPart, record: ToolCallRecord) -> bool:
    return (
        part.pair == record.pair
        and part.text == record.result
        and (part.id is None or record.id is None or part.id == record.id)
    )


def comes_apart(case: Case, index: int, places: Collection[object]) -> bool:
    """Return whether the results at these places can be taken out of the item at `index`.

    Of another provider's item the list's shape can take nothing but all of it: what else it says
    would go with the results, or these would stand in the list twice.
    """
    view, name = case.snapshot.views[index], case.snapshot.shape.name
    return not name or view.shape == name or len(places) == len(view.parts)


def take_out(case: Case, edits: Edits, index: int, places: Iterable[int], repair: int) -> None:
    """Take some results out of the item at `index`."""
    gone = set(places)
    parts = case.snapshot.views[index].parts
    kept = [n for n in range(len(parts)) if n not in gone]
    # What only says what the results bring along does not stand for itself.
    alone = case.snapshot.views[index].role != "tool" and any(
        type(parts[n]) is not StatePart for n in kept
    )
    rest = case.snapshot.shape.pick(case.slots[index].item, kept) if alone else None
    edits.replace(index, () if rest is None else (rest,), repair)


def put_joined(
    case: Case,
    edits: Edits,
    call_index: int,
    standing: Sequence[tuple[Any, int]],
    new: Sequence[tuple[Any, int]],
    repair: int,
) -> None:
    """Put `new` items behind those that stand behind a call, joined where the shape joins."""
    together = [item for item, _ in (*standing, *new)]
    joined = case.snapshot.shape.join(together)
    apart = len(joined) == len(together) and all(
        a is b for a, b in zip(joined, together, strict=True)
    )
    behind = standing[-1][1] if standing else call_index
    if apart:
        for item, origin in new:
            edits.insert(behind, item, origin, repair)
        return
    for _, index in standing:
        edits.replace(index, (), repair)
    origin = (standing[0] if standing else new[0])[1]
    for item in joined:
        edits.insert(call_index, item, origin, repair)


def answers_of(case: Case) -> Mapping[int, Set[int]]:
    """Return the indices of the items that hold results of an item's calls, by its index."""
    found: dict[int, set[int]] = {}
    for record in case.snapshot.calls:
        if record.call_index is not None and record.result_index is not None:
            found.setdefault(record.call_index, set()).add(record.result_index)
    return found


def behind_of(case: Case, call_index: int, answers: Mapping[int, Set[int]]) -> list[int]:
    """Return the items right behind a call that hold results of its step.

    Args:
        case: The list.
        call_index: Index of the item that holds the call.
        answers: What `answers_of` returned of the list.
    """
    views, own = case.snapshot.views, answers.get(call_index, frozenset[int]())
    found: list[int] = []
    for index in range(call_index + 1, len(views)):
        if index not in own or views[index].role not in ("tool", "user"):
            break
        found.append(index)
    return found


def calls_of(case: Case) -> list[tuple[int, int, ToolCallRecord]]:
    """Return the index and the place of each call, with its record, in order."""
    waiting: dict[int, list[ToolCallRecord]] = {}
    for record in case.snapshot.calls:
        if record.call_index is not None:
            waiting.setdefault(record.call_index, []).append(record)
    found: list[tuple[int, int, ToolCallRecord]] = []
    for index in sorted(waiting):
        records = iter(waiting[index])
        for place, part in enumerate(case.snapshot.views[index].parts):
            if isinstance(part, (CallPart, ServerCallPart)):
                found.append((index, place, next(records)))
    return found
