"""The single mends: each takes a list with its problems, and changes what one kind of them needs.

A mend knows the rules' names, which all shapes share, and what the views and the records of calls
say; how an item is taken apart or put together is the shape's knowledge. Not here: in which order
the mends come, and what is left in the end (`repair`); calls (`calls`); results
(`results`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from chatfold.core.check import Problem
from chatfold.core.mends.calls import (
    answer_calls,
    join_calls,
    name_calls,
    rename_calls,
    wrap_arguments,
)
from chatfold.core.mends.edits import Case, Edits
from chatfold.core.mends.results import (
    mend_duplicate_results,
    mend_orphans,
    move_results,
    write_results_anew,
)
from chatfold.core.native import plain
from chatfold.core.views import ItemView, Part, ReasoningPart, TextPart, UnknownPart

__all__ = ["MENDS", "is_same"]


def drop_commands(case: Case) -> Edits:
    """Take out commands to the server that are not the last item: they were carried out."""
    edits = Edits(case)
    for problem in case.broken("command_not_last"):
        if case.policies.order == "keep":
            edits.leave(problem.rule, problem.index, "order='keep'")
            continue
        kind = case.snapshot.views[problem.index].type
        number = edits.note(
            problem.rule, "dropped", f"took out a {kind} that was not the last item", problem.index
        )
        edits.replace(problem.index, (), number)
    return edits


def drop_duplicates(case: Case) -> Edits:
    """Take out items that stand in the list twice; other items under one id lose the second id."""
    edits = Edits(case)
    items = [slot.item for slot in case.slots]
    problems = case.broken("duplicate_item", "duplicate_call_id", "unanswered_call")
    # An item with a hundred calls has as many problems, and is compared once.
    of_calls = {problem.index for problem in problems if problem.rule != "duplicate_item"}
    twins = {index: _twin(items, index) for index in of_calls}
    for problem in problems:
        index = problem.index
        if edits.item(index) is None:
            continue
        twin = problem.indices[1] if problem.rule == "duplicate_item" else twins[index]
        if twin is None or edits.item(twin) is None:
            continue
        if case.policies.duplicates == "keep":
            edits.leave(problem.rule, index, "duplicates='keep'")
        elif is_same(items[index], items[twin]):
            gone, stays = max(index, twin), min(index, twin)
            message = f"took out a copy of item {case.slots[stays].origin}"
            edits.replace(gone, (), edits.note(problem.rule, "dropped", message, gone, stays))
        else:
            _detach(case, edits, problem.rule, index)
    return edits


def _twin(items: Sequence[Any], index: int) -> int | None:
    """Return the index of a neighbour that says the same as the item at `index`."""
    for other in (index - 1, index + 1):
        if 0 <= other < len(items) and is_same(items[index], items[other]):
            return other
    return None


def is_same(one: Any, other: Any) -> bool:
    """Return whether two items say the same; not known where one cannot say what it holds."""
    try:
        return one is other or bool(plain(one) == plain(other))
    except Exception:  # it is nested too deeply, or whatever is wrong with one object
        return False


def _detach(case: Case, edits: Edits, rule: str, index: int) -> None:
    item = edits.item(index)
    detached = case.snapshot.shape.detached(item)
    if detached is item:
        edits.leave(rule, index, "the server finds the item by its id")
        return
    edits.replace(index, (detached,), edits.note(rule, "detached", "took off the item's id", index))


def mend_item_ids(case: Case) -> Edits:
    """Take off item ids that the server would refuse."""
    edits = Edits(case)
    for problem in case.broken("bad_item_id"):
        if case.policies.ids == "keep":
            edits.leave(problem.rule, problem.index, "ids='keep'")
        else:
            _detach(case, edits, problem.rule, problem.index)
    return edits


def drop_blanks(case: Case) -> Edits:
    """Take out empty messages and texts."""
    edits = Edits(case)
    for problem in case.broken("empty_message", "blank_text", "empty_part"):
        index = problem.index
        item = edits.item(index)
        if item is None or item is not case.slots[index].item:
            continue  # mended already
        if case.policies.blank == "keep":
            edits.leave(problem.rule, index, "blank='keep'")
            continue
        parts = case.snapshot.views[index].parts
        bare = problem.rule == "empty_part"
        solid = [place for place, part in enumerate(parts) if not _is_blank(part, bare=bare)]
        thought = all(type(parts[place]) is ReasoningPart for place in solid)
        rest = None if thought and not bare else case.snapshot.shape.pick(item, solid)
        if rest is item:
            edits.leave(problem.rule, index, "what is empty in it cannot be taken out alone")
            continue
        what = "an empty message" if rest is None else "an empty text"
        number = edits.note(problem.rule, "dropped", f"took out {what}", index)
        edits.replace(index, () if rest is None else (rest,), number)
    return edits


def _is_blank(part: Part, *, bare: bool) -> bool:
    """Return whether a part says nothing; `bare` where the provider also refuses one with no field.

    Elsewhere what has no type may hold something all the same.
    """
    match part:
        case TextPart():
            return not part.text.strip()
        case ReasoningPart():
            return bare and not (part.text or part.opaque)
        case UnknownPart():
            return bare and not part.type
        case _:
            return False


def drop_reasoning(case: Case) -> Edits:
    """Take out reasoning that the provider would refuse, and the ids of what came with it.

    An item of the model demands its reasoning by its own id; without the id it does not.
    """
    edits = Edits(case)
    views = case.snapshot.views
    spans = {s.first: s for s in case.snapshot.spans if _thinks(views[s.first])}
    starts = _starts(views)
    rules = (
        "reasoning_without_follower",
        "reasoning_without_summary",
        "half_a_reference",
        "reasoning_without_text",
        "thinking_last",
        "unsigned_thinking",
    )
    for problem in case.broken(*rules):
        index = problem.index
        span = spans.get(starts[index]) if _thinks(views[index]) else None
        scope = range(starts[index], span.last + 1) if span is not None else range(index, index + 1)
        if case.policies.reasoning == "keep":
            edits.leave(problem.rule, index, "reasoning='keep'")
            continue
        referred = [i for i in scope if views[i].type == "item_reference" and not _thinks(views[i])]
        if referred:
            why = "what came with it is only a reference, whose id cannot be taken off"
            edits.leave(problem.rule, index, why)
            continue
        if edits.item(index) is not None and edits.item(index) is case.slots[index].item:
            _drop_scope(case, edits, problem.rule, index, scope)
    return edits


def _drop_scope(case: Case, edits: Edits, rule: str, index: int, scope: Sequence[int]) -> None:
    number = edits.note(
        rule, "dropped", "took out reasoning, and the ids of what came with it", index
    )
    for place in scope:
        item = edits.item(place)
        parts = case.snapshot.views[place].parts
        spoken = [n for n, part in enumerate(parts) if type(part) is not ReasoningPart]
        if item is None:
            continue
        if len(spoken) < len(parts):
            rest = case.snapshot.shape.pick(item, spoken)
            edits.replace(place, () if rest is None else (rest,), number)
            continue
        detached = case.snapshot.shape.detached(item)
        if detached is not item:
            edits.replace(place, (detached,), number)


def _thinks(view: ItemView) -> bool:
    """Return whether the item is reasoning and nothing else."""
    return bool(view.parts) and all(type(part) is ReasoningPart for part in view.parts)


def _starts(views: Sequence[ItemView]) -> list[int]:
    """Return for each item where the run of reasoning begins that it is part of."""
    starts: list[int] = []
    for index, view in enumerate(views):
        goes_on = index > 0 and _thinks(view) and _thinks(views[index - 1])
        starts.append(starts[-1] if goes_on else index)
    return starts


def move_instructions(case: Case) -> Edits:
    """Move instructions from the middle to the next place where the provider takes one.

    Where there is none left, to that of the one before, which they are judged with there.
    """
    edits = Edits(case)
    views, slots = case.snapshot.views, case.slots
    last = 0
    for problem in case.broken("system_place", "first_role", "unexpected_role"):
        index = problem.index
        if views[index].role not in ("system", "developer"):
            continue
        if case.policies.order == "keep":
            edits.leave(problem.rule, index, "order='keep'")
            continue
        place = _place(case, problem, max(index, last) + 1)
        if place is None and last > index:
            place = last
        if place is None:
            edits.leave(problem.rule, index, "there is no place behind it for an instruction")
            continue
        last = place
        message = "moved an instruction behind a message of the user"
        number = edits.note(problem.rule, "reordered", message, index)
        edits.replace(index, (), number)
        edits.insert(place - 1, slots[index].item, index, number)
    return edits


def _place(case: Case, problem: Problem, start: int) -> int | None:
    """Return the first index from `start` on before which a misplaced instruction may stand."""
    views, index = case.snapshot.views, problem.index
    user = next((i for i in range(start, len(views)) if views[i].role == "user"), None)
    if user is None:
        return None
    if problem.rule == "unexpected_role":  # an instruction may follow any user's message there
        return user + 1
    return case.snapshot.shape.place([index], user + 1, views).moved.get(index)


def note_unanswered(case: Case) -> Edits:
    """Put a note between results and the user's message behind them, where that may not follow.

    Calls were interrupted, or the user went on before the model had answered what they gave.
    """
    edits = Edits(case)
    views = case.snapshot.views
    for problem in case.broken("unexpected_role"):
        index, before = problem.indices
        if views[index].role != "user":  # who may speak behind all but results
            continue
        if case.policies.order == "keep":
            edits.leave(problem.rule, index, "order='keep'")
            continue
        message = "put a note behind results that they were not answered"
        number = edits.note(problem.rule, "noted", message, index, before)
        note = case.snapshot.shape.summary_item(case.words("unanswered"), role="assistant")
        edits.insert(before, note, before, number)
    return edits


def begin_with_user(case: Case) -> Edits:
    """Put a note in front of a list whose beginning is missing: the user has to be first."""
    edits = Edits(case)
    views = case.snapshot.views
    for problem in case.broken("first_role", "call_place"):
        index = problem.index
        if any(view.role not in ("system", "developer") for view in views[:index]):
            continue
        if case.policies.order == "keep":
            edits.leave(problem.rule, index, "order='keep'")
            continue
        message = "put a note in front that the beginning is missing"
        number = edits.note(problem.rule, "noted", message, index)
        note = case.snapshot.shape.summary_item(case.words("beginning"), role="user")
        edits.insert(index - 1, note, index, number)
        break
    return edits


MENDS: Final[Sequence[Callable[[Case], Edits]]] = (
    drop_commands,
    drop_duplicates,
    mend_item_ids,
    drop_blanks,
    drop_reasoning,
    join_calls,
    name_calls,
    rename_calls,
    wrap_arguments,
    mend_duplicate_results,
    write_results_anew,
    move_results,
    answer_calls,
    mend_orphans,
    move_instructions,
    note_unanswered,
    begin_with_user,
)
"""All mends, in an order in which one seldom makes work for an earlier one."""
