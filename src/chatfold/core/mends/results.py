"""The mends of results: those that are there twice, in a wrong form, come late, or have no call.

Not here: the mends of calls and ids (`calls`), and in which order all come (`items`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from chatfold.core.calls import Answer
from chatfold.core.mends.edits import Case, Edits
from chatfold.core.mends.pieces import (
    Result,
    answers_of,
    behind_of,
    comes_apart,
    put_joined,
    results_of,
    take_out,
)
from chatfold.core.spans import Span, cuttable
from chatfold.core.summary import TAG
from chatfold.core.views import ItemView, ResultPart, SummaryPart, TextPart, legible, qualified
from chatfold.errors import ShapeError

__all__ = ["mend_duplicate_results", "mend_orphans", "move_results", "write_results_anew"]


# Results that are there twice


def mend_duplicate_results(case: Case) -> Edits:
    """Take out second results that say the same; a mend of orphans sees to the others."""
    edits = Edits(case)
    broken = {p.index: p.rule for p in case.broken("duplicate_result", "orphan_result")}
    first: dict[tuple[str, str | None], ResultPart] = {}
    twice: dict[int, list[Result]] = {}
    for result in results_of(case):
        key = (result.part.pair, result.part.id)
        if result.record.call_index is not None:
            first[key] = result.part
        elif result.at in broken and result.part.id is not None:
            known = first.get(key)
            if known is not None and (known.text, known.media) == (
                result.part.text,
                result.part.media,
            ):
                twice.setdefault(result.at, []).append(result)
    for index, found in twice.items():
        if not comes_apart(case, index, found):
            continue
        if case.policies.duplicates == "keep":
            edits.leave(broken[index], index, "duplicates='keep'")
            continue
        numbers = [
            edits.note(
                broken[index],
                "dropped",
                f"took out a second result of {result.part.id!r} that says the same",
                index,
            )
            for result in found
        ]
        take_out(case, edits, index, (r.place for r in found), numbers[0])
    return edits


# Results that are not in the provider's form


def write_results_anew(case: Case) -> Edits:
    """Write the results of a malformed item anew, with the text that they read as.

    Hosts put in what a tool returned as it is: nothing, a number, a list.
    """
    edits = Edits(case)
    views = case.snapshot.views
    broken = {p.index for p in case.broken("malformed_item") if views[p.index].fault}
    told: dict[int, list[Result]] = {}
    for result in results_of(case) if broken else ():
        if result.at in broken and result.record.call_index is not None:
            told.setdefault(result.at, []).append(result)
    for index, found in told.items():
        made = _anew(case, index, found)
        if made is None:
            edits.leave("malformed_item", index, "its results cannot be written anew as text")
        elif case.policies.arguments == "keep":
            edits.leave("malformed_item", index, "arguments='keep'")
        else:
            labels = ", ".join(repr(result.record.label) for result in found)
            message = f"wrote the result of {labels} anew, as text"
            number = edits.note("malformed_item", "wrapped", message, index)
            edits.replace(index, made, number)
    return edits


def _anew(case: Case, index: int, found: Sequence[Result]) -> Sequence[Any] | None:
    """Return an item with its results written anew; None where that is not all that it takes."""
    shape, view, item = case.snapshot.shape, case.snapshot.views[index], case.slots[index].item
    if any(result.part.media for result in found):
        return None
    try:
        made = shape.answer_items([Answer(r.record, r.part.text, r.part.failed) for r in found])
    except ShapeError:
        return None
    others = sorted(set(range(len(view.parts))).difference(result.place for result in found))
    rest = shape.pick(item, others) if others else None
    if rest is not None:
        made = shape.join([*made, rest])
    read = [shape.read(each) for each in made]
    if len(made) != 1 or any(view is None or view.fault for view in read):
        return None
    return made


# Late results


_LATE = ("late_result", "orphan_result", "result_not_first", "block_place")
_SPLIT = "split_results"


def move_results(case: Case) -> Edits:
    """Move late results behind their calls, and results in a message before what is said in it."""
    edits = Edits(case)
    late = _late(case)
    taken: dict[int, list[int]] = {}
    for results in late.values():
        for rule, result in results:
            if _kept(case, rule):
                edits.leave(rule, result.at, f"{_policy(rule)}='keep'")
            else:
                taken.setdefault(result.at, []).append(result.place)
    taken = {at: places for at, places in taken.items() if comes_apart(case, at, places)}
    if not taken:
        return edits
    owners: dict[int, int] = {}
    answers = answers_of(case)
    for call_index, results in late.items():
        moved = [(rule, r) for rule, r in results if not _kept(case, rule) and r.at in taken]
        number = 0
        for rule, result in moved:
            first_in_message = rule == "result_not_first"
            number = edits.note(
                rule,
                "reordered" if first_in_message else "moved",
                f"moved the result of {result.record.label!r} behind its call",
                result.at,
                call_index,
            )
            owners.setdefault(result.at, number)
        if moved:
            behind = behind_of(case, call_index, answers)
            _put_behind(case, edits, call_index, behind, [r for _, r in moved], taken, number)
    for index, places in taken.items():
        if edits.item(index) is case.slots[index].item:
            take_out(case, edits, index, places, owners[index])
    return edits


def _kept(case: Case, rule: str) -> bool:
    policies = case.policies
    return (policies.order if _policy(rule) == "order" else policies.late_results) == "keep"


def _policy(rule: str) -> str:
    return "order" if rule in ("result_not_first", "block_place") else "late_results"


def _late(case: Case) -> dict[int, list[tuple[str, Result]]]:
    """Return the results that do not stand where the provider wants them, by their call's index."""
    problems: dict[int, list[tuple[str, tuple[int, ...]]]] = {}
    views = case.snapshot.views
    split = [
        p
        for p in case.problems
        if p.rule == _SPLIT
        and any(v.role == "assistant" for v in views[p.indices[1] + 1 : p.index])
    ]
    for problem in (*case.broken(*_LATE), *split):
        problems.setdefault(problem.index, []).append((problem.rule, problem.indices[1:2]))
    late: dict[int, list[tuple[str, Result]]] = {}
    early = _early(case)
    for result in results_of(case):
        asked = result.record.call_index
        if asked is None and result.at in problems:
            asked = early.get((result.part.pair, result.part.id))
            if asked is not None and asked > result.at:
                late.setdefault(asked, []).append(("orphan_result", result))
            continue
        if asked is None or result.at not in problems or result.part.pair != "function":
            continue
        if result.at == asked + 1 and _in_place(case, asked, result):
            continue  # right behind a call that has no id to be found by
        for rule, others in problems[result.at]:
            if asked in others or (not others and not _in_place(case, asked, result)):
                late.setdefault(asked, []).append((rule, result))
                break
    return dict(sorted(late.items()))


def _early(case: Case) -> dict[tuple[str, str | None], int]:
    """Return the calls of functions whose one result stands before them, by family and id.

    Writers that do not wait for each other put them down in this order. Where an id recurs, nobody
    knows which call a result is of.
    """
    orphans: Counter[tuple[str, str | None]] = Counter()
    waiting: dict[tuple[str, str | None], list[int]] = {}
    for record in case.snapshot.calls:
        key = record.pair, record.id
        if record.id is None or record.pair != "function":
            continue
        if record.call_index is None:
            orphans[key] += 1
        else:
            waiting.setdefault(key, []).append(-1 if record.completed else record.call_index)
    return {key: calls[0] for key, calls in waiting.items() if len(calls) == orphans[key] == 1}


def _in_place(case: Case, asked: int, result: Result) -> bool:
    """Return whether nothing but results stands between a call and its result."""
    views = case.snapshot.views
    if views[result.at].role not in ("tool", "user"):
        return False
    before = views[result.at].parts[: result.place]
    between = range(asked + 1, result.at)
    return all(_only_results(views[i]) for i in between) and all(
        type(p) is ResultPart for p in before
    )


def _only_results(view: ItemView) -> bool:
    return bool(view.parts) and all(type(p) is ResultPart for p in view.parts)


def _put_behind(
    case: Case,
    edits: Edits,
    call_index: int,
    behind: Sequence[int],
    moved: Sequence[Result],
    taken: dict[int, list[int]],
    repair: int,
) -> None:
    """Put results behind their call, into one item with those that stand there if it must be."""
    shape, slots = case.snapshot.shape, case.slots
    by_item: dict[int, list[int]] = {}
    for result in moved:
        by_item.setdefault(result.at, []).append(result.place)
    items: list[tuple[Any, int]] = []
    for index, places in by_item.items():
        whole = len(places) == len(case.snapshot.views[index].parts)
        item = slots[index].item if whole else shape.pick(slots[index].item, places)
        items.append((item, index))
    standing: list[tuple[Any, int]] = []
    for index in behind:
        rest = [
            n for n in range(len(case.snapshot.views[index].parts)) if n not in taken.get(index, ())
        ]
        item = shape.pick(slots[index].item, rest) if index in taken else slots[index].item
        if item is not None:
            standing.append((item, index))
    put_joined(case, edits, call_index, standing, items, repair)


# Results without a call


def mend_orphans(case: Case) -> Edits:
    """Turn results without a call into notes, or take them out."""
    edits = Edits(case)
    broken: dict[int, str] = {}
    for problem in case.broken("orphan_result", "duplicate_result"):
        broken[problem.index] = problem.rule
    orphans: dict[int, list[Result]] = {}
    answered: set[tuple[str, str | None]] = set()
    again: set[int] = set()  # items with a second result of a call
    for result in results_of(case):
        key = (result.part.pair, result.part.id)
        if result.record.call_index is not None:
            answered.add(key)
        elif result.at in broken:
            orphans.setdefault(result.at, []).append(result)
            if key in answered and result.part.id is not None:
                again.add(result.at)
    orphans = {at: found for at, found in orphans.items() if comes_apart(case, at, found)}
    places = _places(case, orphans) if orphans else []
    for index, found in orphans.items():
        rule = broken[index]
        chosen = case.policies.orphan_results
        if index in again and case.policies.duplicates == "keep":
            edits.leave(rule, index, "duplicates='keep'")
        elif chosen == "keep":
            edits.leave(rule, index, "orphan_results='keep'")
        else:
            kind = "duplicate" if index in again else "orphan"
            numbers = [
                _drop(edits, rule, result)
                if chosen == "drop"
                else _write_note(case, edits, (rule, kind), result, places[index])
                for result in found
            ]
            take_out(case, edits, index, (r.place for r in found), numbers[0])
    return edits


def _drop(edits: Edits, rule: str, result: Result) -> int:
    message = f"took out the result of {result.record.label!r}, which has no call"
    return edits.note(rule, "dropped", message, result.at)


def _write_note(case: Case, edits: Edits, why: tuple[str, str], result: Result, behind: int) -> int:
    part, (rule, kind) = result.part, why
    text = case.words(
        kind,
        text=legible(part),
        media=sum(not medium.text for medium in part.media),
        call_id=part.id,
        name=part.name and qualified(part.name, part.namespace),
    )
    lacks = "its call has another one" if kind == "duplicate" else "its call is not in the list"
    message = f"made a note of the result of {result.record.label!r}: {lacks}"
    number = edits.note(rule, "noted", message, result.at)
    item = case.snapshot.shape.summary_item(text, role="user")
    edits.insert(behind, item, result.at, number)
    return number


def _places(case: Case, orphans: Iterable[int]) -> list[int]:
    """Return for each item the index behind which a note of it parts nothing.

    That is a cut point behind the item, or else before it; never among the leading instructions,
    before an earlier summary, between results and the answer to them, right behind an instruction
    in the middle, which some providers want to be followed by the assistant, or where the list's
    own provider takes no user's message.
    """
    snapshot = case.snapshot
    views, length = snapshot.views, len(snapshot.views)
    free = cuttable(_spans(case), length)
    leading = set(orphans)
    start = 0
    while start < length and (start in leading or views[start].role in ("system", "developer")):
        start += 1
    if start < length and _may_be_summary(views[start]):
        start += 1
    before = -1  # the last item that stays whole in front of the cut
    for cut in range(length + 1):
        if cut and not (cut - 1 in leading and _only_results(views[cut - 1])):
            before = cut - 1
        barred = before >= start and (
            views[before].role in ("system", "developer")
            or not snapshot.shape.user_may_follow(views, before)
        )
        answered = cut < length and before >= 0 and _answers(views[before], views[cut])
        if cut < min(start, length) or barred or answered:
            free[cut] = 0
    behind = [length - 1] * length
    last_free = next((cut for cut in range(length, -1, -1) if free[cut]), length)
    for index in range(length - 1, -1, -1):
        if free[index + 1]:
            last_free = index + 1
        behind[index] = last_free - 1
    return behind


def _answers(before: ItemView, view: ItemView) -> bool:
    """Return whether a view is what the model makes of results right before it."""
    return view.role == "assistant" and _only_results(before)


def _may_be_summary(view: ItemView) -> bool:
    """Return whether an item is an earlier summary, or is once nothing stands before it."""
    first = view.parts[0] if view.parts else None
    return type(first) is SummaryPart or (type(first) is TextPart and TAG in first.text[:80])


def _spans(case: Case) -> list[Span]:
    """Return what a note must not stand in: all spans, but of calls that anything may follow."""
    length = len(case.snapshot.views)
    waiting = [
        Span(c.call_index, length)
        for c in case.snapshot.calls
        if c.status == "open" and not c.asynchronous and c.call_index is not None
    ]
    return [*waiting, *(span for span in case.snapshot.spans if span.last < length)]
