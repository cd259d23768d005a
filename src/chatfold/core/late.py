"""Results that arrive when the list has gone on, or no longer holds their call.

Not here: the words of the note that one becomes (`prompts/`), and who puts it into the list
(`chatfold.writing`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.snapshot import Snapshot
from chatfold.core.spans import cut_points
from chatfold.core.views import CallPart, ItemView, ResultPart, is_user_message

__all__ = [
    "Arrived",
    "CallKey",
    "answered",
    "arrived",
    "late_index",
    "late_parts",
    "note_place",
    "unanswered",
]

CallKey: TypeAlias = tuple[str, str | None]
"""The family of a call and its id; where it has none, its name."""


def late_parts(
    view: ItemView, calls: Sequence[ToolCallRecord], views: Sequence[ItemView]
) -> list[int]:
    """Return the positions of the results that no call waits for, in a new item.

    The call may stand in that item itself, as do those that the provider has answered. Ids recur: a
    call that had its result when the user went on may share its id with one that was folded away. A
    second result before that is the caller's own fault, which `check` is to find.

    Args:
        view: The reading of the item that is to be added.
        calls: The records of the calls in the list.
        views: One reading per item of the list.
    """
    asked = next((i for i in range(len(views) - 1, -1, -1) if is_user_message(views[i])), -1)
    waiting = [c for c in calls if c.call_index is not None and _waits(c, c.call_index, views)]
    latest = [c for c in calls if c.call_index is not None and c.call_index > asked]
    ids = {(c.pair, c.id) for c in (*waiting, *latest) if c.id is not None}
    names = {(c.pair, c.name) for c in waiting}
    late: list[int] = []
    for position, part in enumerate(view.parts):
        if isinstance(part, CallPart):  # what answers it stands behind it
            names.add((part.pair, part.name))
            if part.id is not None:
                ids.add((part.pair, part.id))
        if not isinstance(part, ResultPart) or part.pair == "approval":
            continue
        known = (part.pair, part.id) in ids
        if part.id is None:
            known = part.name is None or not names.isdisjoint(_named(part))
        elif not known:  # a call without an id takes a result that names its tool
            known = any(c.id is None and c.pair == part.pair for c in waiting)
        if not known:
            late.append(position)
    return late


def late_index(calls: Iterable[ToolCallRecord], cut: int) -> int | None:
    """Return the index of the first result behind a cut whose call stands before it, if any.

    Args:
        calls: The records of the calls in the list.
        cut: Index of the first tail item.
    """
    made = (call for call in calls if call.call_index is not None and call.call_index < cut)
    results = (call.result_index for call in made)
    return min((index for index in results if index is not None and index >= cut), default=None)


def _waits(call: ToolCallRecord, index: int, views: Sequence[ItemView]) -> bool:
    """Return whether the result of a call may still come.

    What a server runs says that it is complete, and its result comes in an item of its own.
    """
    if not call.completed or call.result_index != index:
        return not call.completed
    return (call.pair, call.id or call.name) in unanswered([views[index]])


def _named(part: ResultPart) -> list[CallKey]:
    """Return what names the calls that a result without an id may answer: some have no name."""
    return [(part.pair, part.name), (part.pair, None)]


def note_place(snapshot: Snapshot) -> int:
    """Return the index before which the note of a late result goes, in a list with a summary.

    That is as far back as it may: behind all that is complete, since a step that waits for its
    results must not be parted, and where the provider lets a user speak. Where it wants an answer
    to results first, that is before the steps of the turn under way: the list may be sent at any
    time, so that no note can wait for that answer. If there is no such place, the provider's rule
    is what gives way, and `check` names it.
    """
    views, shape = snapshot.views, snapshot.shape
    free = cut_points(snapshot.spans, views, lossy=True)
    first = 1 + (snapshot.previous or 0)
    taken = (at for at in reversed(free) if at >= first and shape.user_may_follow(views, at - 1))
    return next(taken, free[-1])


def unanswered(views: Iterable[ItemView]) -> set[CallKey]:
    """Return what names the calls of which there are more than results."""
    calls: Counter[CallKey] = Counter()
    results: Counter[CallKey] = Counter()
    for view in views:
        for part in view.parts:
            if type(part) is CallPart and part.kind != "approval":
                calls[part.pair, part.id or part.name] += 1
        results.update(answered(view))
    return set(calls - results)


def answered(view: ItemView) -> list[CallKey]:
    """Return what names the calls that an item has results of."""
    return [(p.pair, p.id or p.name) for p in view.parts if isinstance(p, ResultPart)]


class Arrived(NamedTuple):
    """Where the answers of a run of tools go.

    Attributes:
        places: Index before which results go -> the answers that they hold, in call order.
        gone: Answers whose call is not in the list any more.
    """

    places: Mapping[int, Sequence[Answer]]
    gone: Sequence[Answer]


def arrived(answers: Sequence[Answer], asked: Snapshot, now: Snapshot) -> Arrived:
    """Return where answers go in a list that may have been folded, or gone on, since the calls.

    A call that has been answered meanwhile keeps the answer that it has.

    Args:
        answers: The answers, in call order.
        asked: The list as it was when its calls were open.
        now: The list as it is.
    """
    there = set(map(id, now.items))
    wanted = {_name(answer.call) for answer in answers}  # a few, of all that were ever made
    made: dict[object, list[ToolCallRecord]] = {}
    for known in now.calls:
        if known.call_index is not None and (name := _name(known)) in wanted:
            made.setdefault(_name(known, now.items[known.call_index]), []).append(known)
            made.setdefault(name, []).append(known)
    taken: set[int] = set()
    places: dict[int, list[Answer]] = {}
    gone: list[Answer] = []
    for answer in answers:
        item = asked.items[answer.call.call_index or 0]
        # A new item may stand in place of the one that made the call: then the id has to do.
        by_id = id(item) not in there and answer.call.id is not None
        calls = made.get(_name(answer.call, None if by_id else item), ())
        call = next((c for c in calls if c.result_index is None and id(c) not in taken), None)
        if call is not None:
            taken.add(id(call))
            places.setdefault(_place(call, now.views), []).append(answer)
        elif not calls:
            gone.append(answer)
    return Arrived(places, gone)


def _name(call: ToolCallRecord, item: object = None) -> object:
    """Return what tells a call from the others: with its item, wherever that stands, or without."""
    return (id(item), call.pair, call.id, call.name)


def _place(call: ToolCallRecord, views: Sequence[ItemView]) -> int:
    """Return the index before which the result of a call goes.

    What a user says while a tool runs comes behind the result: providers want it there.
    """
    index = call.call_index
    if index is None or call.asynchronous:
        return len(views)
    rest = range(index + 1, len(views))
    if not views[index].whole_step:
        return next((i for i in rest if is_user_message(views[i])), len(views))
    return next((i for i in rest if not _only_results(views[i])), len(views))


def _only_results(view: ItemView) -> bool:
    return bool(view.parts) and all(isinstance(part, ResultPart) for part in view.parts)
