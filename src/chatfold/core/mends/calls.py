"""The mends of calls: those without a result, their arguments, and the ids of both.

Not here: the mends of results (`results`), and in which order all come (`items`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.mends.edits import Case, Edits
from chatfold.core.mends.pieces import (
    Result,
    answers_of,
    behind_of,
    calls_of,
    put_joined,
    results_of,
)
from chatfold.core.views import CallPart, ItemView, ResultPart, ServerCallPart
from chatfold.errors import ShapeError

__all__ = ["answer_calls", "join_calls", "name_calls", "rename_calls", "wrap_arguments"]

_LONGEST_ID = 64
_UNFIT = re.compile("[^a-zA-Z0-9_-]")  # what some servers refuse in an id, and all take without
_NO_ID = "call00000"  # what an id is made from where there is none; of a form that all servers take


# Open calls


def answer_calls(case: Case) -> Edits:
    """Give open calls a failed result that says that they were interrupted."""
    edits = Edits(case)
    broken = {p.index: p.rule for p in case.broken("unanswered_call")}
    waiting: dict[int, list[ToolCallRecord]] = {}
    for record in case.snapshot.calls:
        index = record.call_index
        if index is None or record.result_index is not None or index not in broken:
            continue
        reason = _unanswerable(case, record)
        if reason:
            edits.leave(broken[index], index, reason)
        else:
            waiting.setdefault(index, []).append(record)
    text = case.words("interrupted") if waiting else ""
    answers, step = answers_of(case), range(0)
    for index, records in waiting.items():
        number = 0
        for record in records:
            message = f"answered the open call {record.label!r} as interrupted"
            number = edits.note(broken[index], "answered", message, index)
        made = [(item, index) for item in _answers(case, records, text)]
        if case.snapshot.views[index].whole_step:
            behind = behind_of(case, index, answers)
            standing = [(case.slots[i].item, i) for i in behind]
            put_joined(case, edits, index, standing, made, number)
        else:
            if index not in step:  # else it ends where that of the call before does
                step = range(index, _end_of_step(case, index) + 1)
            for item, origin in made:
                edits.insert(step[-1], item, origin, number)
    return edits


def _answers(case: Case, records: Sequence[ToolCallRecord], text: str) -> list[Any]:
    """Return the items that say that the calls of one item were interrupted."""
    shape = case.snapshot.shape
    special = {id(r): shape.interrupted_item(r) for r in records}
    told = [Answer(r, text, True) for r in records if special[id(r)] is None]
    return [*shape.answer_items(told), *(item for item in special.values() if item is not None)]


def _unanswerable(case: Case, record: ToolCallRecord) -> str:
    """Return why no text answers a call, "" if one does."""
    if case.policies.open_calls == "keep":
        return "open_calls='keep'"
    if record.asynchronous:
        return "the call is asynchronous: its result may come many turns later"
    if record.kind == "approval":
        return "only the user can allow or deny it"
    if record.shape != case.snapshot.shape.name:
        return "the call is written for another provider"
    if case.snapshot.shape.interrupted_item(record) is not None:
        return ""
    try:
        case.snapshot.shape.answer_items([Answer(record, "", True)])
    except ShapeError as error:
        return str(error)
    return ""


def _end_of_step(case: Case, index: int) -> int:
    """Return the last of the calls and results that follow the call at `index` without a break."""
    views = case.snapshot.views
    while index + 1 < len(views):
        view = views[index + 1]
        calls = any(type(p) is CallPart and p.kind != "approval" for p in view.parts)
        results = view.role == "tool" and any(type(p) is ResultPart for p in view.parts)
        if not (calls or results):
            break
        index += 1
    return index


# Calls that stand in the wrong place


def join_calls(case: Case) -> Edits:
    """Put a call into one item with what the model said right before it.

    SDKs that record a stream piece by piece write one step as several items.
    """
    edits = Edits(case)
    slots, views = case.slots, case.snapshot.views
    broken = {p.index: p.rule for p in case.broken("call_place")}
    for last, rule in broken.items():
        if last + 1 in broken:  # the run goes on
            continue
        first = last
        while first > 0 and _spoken(views[first - 1], views[last]):
            first -= 1
        if first in (0, last):  # nothing to join with, or nothing for it to follow
            continue
        if case.policies.order == "keep":
            edits.leave(rule, last, "order='keep'")
            continue
        joined = case.snapshot.shape.join([slot.item for slot in slots[first : last + 1]])
        message = "put a call into one item with what the model said before it"
        number = edits.note(rule, "reordered", message, last, *range(first, last))
        edits.replace(first, joined, number)
        for index in range(first + 1, last + 1):
            edits.replace(index, (), number)
    return edits


def _spoken(before: ItemView, view: ItemView) -> bool:
    """Return whether a view is the model's too, in the same provider's form."""
    return before.role == "assistant" and before.shape == view.shape and not before.fault


# Arguments


def wrap_arguments(case: Case) -> Edits:
    """Put arguments into an object, or into a text, where the provider takes nothing else."""
    edits = Edits(case)
    shape = case.snapshot.shape
    ways = {
        "arguments_no_object": (shape.with_object_arguments, "put arguments that are no object"),
        "arguments_no_text": (shape.with_text_arguments, "put arguments that are no text"),
    }
    for index, rule in {p.index: p.rule for p in case.broken(*ways)}.items():
        if case.policies.arguments == "keep":
            edits.leave(rule, index, "arguments='keep'")
            continue
        fit, what = ways[rule]
        made = fit(case.slots[index].item)
        number = edits.note(rule, "wrapped", f"{what} into one", index)
        edits.replace(index, (made,), number)
    return edits


# Ids


_OF_IDS = {
    "reused_call_id",
    "duplicate_call_id",
    "long_call_id",
    "call_id_form",
    "missing_call_id",
}


def rename_calls(case: Case) -> Edits:
    """Give an id of their own to calls that share one with an earlier call, or lack a fit one."""
    edits = Edits(case)
    wanted = {
        p.index: p.rule
        for p in case.problems
        if p.rule in _OF_IDS and p.severity in ("error", "loss")
    }
    if not wanted:
        return edits
    results = {id(r.record): r for r in results_of(case)}
    used = {record.id for record in case.snapshot.calls}
    seen: set[tuple[str, str | None]] = set()
    for index, place, record in calls_of(case):
        key = (record.pair, record.id)
        rule = wanted.get(index, "")
        again = key in seen
        seen.add(key)
        if not _needs_id(case, (index, place), record, rule, again=again):
            continue
        if case.policies.ids == "keep":
            for concerned in (index, record.result_index):
                if concerned is not None:
                    edits.leave(rule, concerned, "ids='keep'")
        else:
            _rename(case, edits, rule, (index, place), record, results.get(id(record)), used)
    return edits


def _needs_id(
    case: Case, where: tuple[int, int], record: ToolCallRecord, rule: str, *, again: bool
) -> bool:
    """Return whether a call needs another id; `again` where an earlier one has the same."""
    if rule == "missing_call_id":
        return _own_id(case, where) is None
    if record.id is None:
        return False
    if rule in ("long_call_id", "call_id_form"):
        return len(record.id) > _LONGEST_ID or bool(_UNFIT.search(record.id))
    return again and rule in ("reused_call_id", "duplicate_call_id")


def _own_id(case: Case, where: tuple[int, int]) -> str | None:
    """Return the id that a call itself bears; its record may have that of its result."""
    part = case.snapshot.views[where[0]].parts[where[1]]
    return part.id if isinstance(part, (CallPart, ServerCallPart)) else None


def name_calls(case: Case) -> Edits:
    """Give results that do not name their call, but stand where its result goes, its id."""
    edits = Edits(case)
    rules = ("result_without_id", "missing_call_id")
    broken = {p.index: p.rule for p in case.problems if p.rule in rules}
    for index, place, part, record in results_of(case) if broken else ():
        if index not in broken or record.id is None or part.id is not None:
            continue
        if case.policies.ids == "keep":
            edits.leave(broken[index], index, "ids='keep'")
            continue
        named = case.snapshot.shape.with_other_id(edits.item(index), place, record.id)
        if named is edits.item(index):
            edits.leave(broken[index], index, "the ids of such results cannot be changed")
            continue
        message = f"gave a result the id {record.id!r} of its call"
        edits.replace(index, (named,), edits.note(broken[index], "renamed", message, index))
    return edits


def _rename(
    case: Case,
    edits: Edits,
    rule: str,
    where: tuple[int, int],
    record: ToolCallRecord,
    result: Result | None,
    used: set[str | None],
) -> None:
    shape, (index, place) = case.snapshot.shape, where
    lacking = _own_id(case, where) is None and record.id is not None
    new_id = str(record.id) if lacking else _new_id(record.id or _NO_ID, used)
    changed = shape.with_other_id(edits.item(index), place, new_id)
    if changed is edits.item(index):
        edits.leave(rule, index, "the ids of such calls cannot be changed")
        return
    used.add(new_id)
    if lacking:  # the result has one
        result = None
    indices = (index,) if result is None else (index, result.at)
    both = "and its result " if result is not None else ""
    label = record.name if lacking and record.name else record.label
    message = f"gave the call {label!r} {both}the id {new_id!r}"
    number = edits.note(rule, "renamed", message, *indices)
    edits.replace(index, (changed,), number)
    if result is not None:
        answered = shape.with_other_id(edits.item(result.at), result.place, new_id)
        edits.replace(result.at, (answered,), number)


def _new_id(old: str, used: set[str | None]) -> str:
    """Return an id like `old` that nothing else has; the same for the same list."""
    # Where ids have nine letters and digits, the server may take no others.
    fixed = len(old) == len(_NO_ID) and old.isascii() and old.isalnum()
    fit, number = _UNFIT.sub("_", old), 1
    while True:
        ending = str(number) if fixed else f"_{number}"
        made = f"{fit[: (len(fit) if fixed else _LONGEST_ID) - len(ending)]}{ending}"
        if made not in used:
            return made
        number += 1
