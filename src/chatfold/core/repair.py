"""Repair: a new list in place of a broken one, and what was done to get there.

Values in, values out: the given list and its items are never changed. What is wrong is what
`check()` says; one kind of problem is mended at a time, all of that kind at once, and the list is
read again. Not here: the single mends (`mends`), one provider's rules (`chatfold.shapes`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chatfold.core.check import THINKING_BINDING, Problem, Requirement
from chatfold.core.commit import problems_of
from chatfold.core.mends import MENDS, is_same
from chatfold.core.mends.edits import Case, Policies, Repair, RepairPolicies, Slot

if TYPE_CHECKING:
    from typing import Unpack

    from chatfold.core.render import TemplateRenderer
    from chatfold.core.snapshot import Snapshot

__all__ = ["Repair", "RepairPolicies", "first_change", "mended", "unbound"]

_ROUNDS: Final = 6
"""How often all mends are tried: one mend may lay bare what another one is for."""

_REASONS: Final = {
    "foreign_item": "it is written for another provider; convert it or take it out",
    "malformed_item": "what it was meant to be is not known",
    "call_place": "what stood before it is not known",
    "unexpected_role": "what stood between them is not known",
    "caller_missing": "the program that it belongs to is not known",
    "approval_parted": "the request that it belongs to is not known",
    "nested_call": "the message around it may hold more than the call",
}


def mended(
    items: Sequence[Any],
    *,
    read: Callable[[Sequence[Any]], Snapshot],
    render: TemplateRenderer,
    **policies: Unpack[RepairPolicies],
) -> tuple[list[Any], list[Repair]]:
    """Return a list without the problems that can be mended, and what was done.

    A second run changes nothing more. A list without a problem comes back with the same items.

    Args:
        items: The list; neither it nor an item of it is changed.
        read: Returns the readings of a list, always by the same shape.
        render: Fills in `repair_note.jinja`: the words that stand in for a missing result, and
            the note that a result without a call becomes.
        **policies: What to do about each kind of problem; see `RepairPolicies`.

    Returns:
        The new list, and one `Repair` for each thing done and for each error and pending problem
        left; of a problem that is left, `rule` is the rule that `check()` names.

    Raises:
        TypeError: There is no such policy.
        ValueError: A policy has no such choice.
        TemplateError: The template does not load or render.
    """
    chosen = Policies.chosen(policies)
    slots = [Slot(item, index) for index, item in enumerate(items)]
    snapshot = read([slot.item for slot in slots])
    problems = problems_of(snapshot)
    repairs: list[Repair] = []
    reasons: dict[tuple[str, int], str] = {}
    stages: list[_Stage] = []
    for _ in range(_ROUNDS):
        stages.append(_Stage(slots, problems, len(repairs)))
        for mend in MENDS:
            edits = mend(Case(slots, snapshot, problems, chosen, render))
            reasons |= edits.reasons
            if not edits.repairs:
                continue
            slots, made = edits.done()
            repairs += made
            snapshot = read([slot.item for slot in slots])
            problems = problems_of(snapshot)
        back = next((stage for stage in stages if _says_the_same(stage.slots, slots)), None)
        if back is not None:  # the mends undo each other, or nothing was left to mend
            slots, problems = back.slots, back.problems
            del repairs[back.repairs :]
            break
    repairs += (_left(p, slots, reasons) for p in problems if p.severity in ("error", "pending"))
    return [slot.item for slot in slots], repairs


def unbound(
    needed: Iterable[Requirement], before: Sequence[Any], after: Sequence[Any]
) -> Iterator[Repair]:
    """Yield what a request has to carry from now on, for thinking behind what was mended.

    Args:
        needed: What that thinking makes necessary.
        before: The items as they were.
        after: The items as they are.
    """
    origins = {id(item): index for index, item in enumerate(before)}
    for requirement in needed:
        fields = json.dumps(dict(requirement.options))
        message = f"send {fields} with each request: {requirement.message}"
        places = (origins.get(id(after[index])) for index in requirement.indices)
        at = tuple(place for place in places if place is not None)
        yield Repair(THINKING_BINDING, "unbound", message, at)


def first_change(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return the first index at which two lists differ; from there on all may be unbound."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((i for i, (old, new) in pairs if old is not new), min(len(before), len(after)))


class _Stage(NamedTuple):
    """A list as a round of all mends finds it, with the number of repairs up to then."""

    slots: list[Slot]
    problems: list[Problem]
    repairs: int


def _says_the_same(one: Sequence[Slot], other: Sequence[Slot]) -> bool:
    return len(one) == len(other) and all(
        is_same(a.item, b.item) for a, b in zip(one, other, strict=True)
    )


def _left(problem: Problem, slots: Sequence[Slot], reasons: dict[tuple[str, int], str]) -> Repair:
    """Return the record of a problem that stays, with the reason why."""
    origins = tuple(slots[i].origin for i in problem.indices)
    reason = reasons.get((problem.rule, origins[0])) if origins else None
    why = reason or _REASONS.get(problem.rule) or "there is no sure way to mend it"
    return Repair(problem.rule, "left", f"left as it is: {problem.message} ({why})", origins)
