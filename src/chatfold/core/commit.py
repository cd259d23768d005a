"""From a plan and a summary to a new list: judged before anything is changed.

Not here: the swap itself (`chatfold.swaps`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Final, NamedTuple

from chatfold.core.calls import ToolCallRecord, pair_calls
from chatfold.core.check import Problem, added_errors, common_problems
from chatfold.core.plan import Plan
from chatfold.core.replacement import Replacement, replacement
from chatfold.core.snapshot import Snapshot
from chatfold.core.split import allows
from chatfold.core.strip import stripped
from chatfold.core.summary import Summaries, mark_summary
from chatfold.core.views import CallPart, ItemView, ResultPart, ServerCallPart, Shape
from chatfold.errors import InvalidResultError, StaleHeadError

__all__ = ["Verdict", "calls_behind", "check_standing", "judge", "problems_of"]

_FIELDS: Final = attrgetter(*(f.name for f in fields(ToolCallRecord)))  # `replace` takes twice that
_OF_CALLS: Final = frozenset({CallPart, ResultPart, ServerCallPart})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a list would be after a fold.

    Attributes:
        replacement: What goes into the list.
        views: The readings of the new list.
        problems: What is wrong with the new list.
        tokens_before: Size of the list as it is, in tokens.
        tokens_after: Size of the new list, in tokens.
    """

    replacement: Replacement[Any]
    views: Sequence[ItemView]
    problems: tuple[Problem, ...]
    tokens_before: int
    tokens_after: int

    def gains(self, min_gain: float, planned: int) -> bool:
        """Return whether the new list is smaller by at least a share of the old one.

        Of what came since the fold was planned nothing could be saved: it does not count.

        Args:
            min_gain: The share, 0 for any gain.
            planned: Size of the list when the fold was planned, in tokens.
        """
        saved = self.tokens_before - self.tokens_after
        return saved > 0 and saved >= min_gain * min(planned, self.tokens_before)


def problems_of(snapshot: Snapshot) -> list[Problem]:
    """Return what is wrong with a list, in order of its items."""
    return _problems(snapshot.items, snapshot.views, snapshot.shape)


def judge(
    plan: Plan[Any],
    snapshot: Snapshot,
    written: Sequence[Any],
    *,
    measure: Callable[[Sequence[ItemView]], list[int]],
    summaries: Summaries,
    model: str | None = None,
    tokens: int | None = None,
) -> Verdict:
    """Return what the list as it is now would become.

    Args:
        plan: What is to be replaced.
        snapshot: The list as it is now.
        written: The native summary item, or all that a provider wrote in its place.
        measure: Returns the sizes of items in tokens, given their views.
        summaries: Opens those of the list.
        model: The agent's model.
        tokens: Size of a single `written` item as it is, where that is known.

    Raises:
        StaleHeadError: The head is not what it was, or a result arrived for a call in it.
        InvalidResultError: The new list would have an error that the old one has not.
    """
    made = replacement(plan, snapshot, written)
    _check_unchanged_behind(plan, snapshot, model)
    if plan.terms.thinking == "strip" and snapshot.shape.may_strip(snapshot.views, model=model):
        made = stripped(made, snapshot.items, plan.index, snapshot.shape)
    new = _new_list(snapshot, made)
    marked = mark_summary(new.views, summaries)
    if marked is not None and (plan.native or new.items[marked[0]] is made.items[0]):
        new.views[marked[0]] = marked[1]
    elif not plan.native:
        raise InvalidResultError(
            "the summary would not be recognized where it would stand", problems=()
        )
    calls = None if plan.abandon is not None else calls_behind(snapshot.calls, made, new.views)
    problems = _problems(new.items, new.views, snapshot.shape, calls)
    if any(p.severity == "error" for p in problems):
        _check_added(problems, snapshot, made, new)
    before = sum(snapshot.sizes)
    gone = sum(snapshot.sizes[made.start : made.stop])
    stays = sum(snapshot.sizes[index] for index in new.stays)
    known = tokens if tokens is not None and made.items[0] is written[0] else None
    read = new.read
    added = sum(measure(read)) if known is None else known + sum(measure(read[1:]))
    return Verdict(made, new.views, tuple(problems), before, before - gone + stays + added)


def _check_unchanged_behind(plan: Plan[Any], snapshot: Snapshot, model: str | None) -> None:
    """Check that what stands behind a head lets it be folded still.

    Raises:
        StaleHeadError: It does not.
    """
    behind = snapshot.prints[plan.index] if plan.index < len(snapshot.items) else None
    if behind is None or plan.behind not in (None, behind):  # the list may have been taken back
        check_standing(snapshot, plan.index, plan.split.kept, model)
    cut = plan.index
    for first, last, _ in snapshot.spans:
        if first < cut <= last:
            raise StaleHeadError(
                "a result arrived for a call that the summary was to stand for; make a new plan",
                index=cut,
            )


class _NewList(NamedTuple):
    """A list as it would be.

    Attributes:
        items: Its items.
        views: Their readings.
        stays: Indices, in the list as it is, of what is put in and was there before.
        read: The readings of what is put in besides.
    """

    items: list[Any]
    views: list[ItemView]
    stays: list[int]
    read: list[ItemView]


def _new_list(snapshot: Snapshot, made: Replacement[Any]) -> _NewList:
    at = [
        index if index is not None and snapshot.items[index] is item else None
        for index, item in zip(made.sources, made.items, strict=True)
    ]
    put_in = [
        _read(item, snapshot.shape) if index is None else snapshot.views[index]
        for item, index in zip(made.items, at, strict=True)
    ]
    return _NewList(
        items=[*snapshot.items[: made.start], *made.items, *snapshot.items[made.stop :]],
        views=[*snapshot.views[: made.start], *put_in, *snapshot.views[made.stop :]],
        stays=[index for index in at if index is not None],
        read=[view for view, index in zip(put_in, at, strict=True) if index is None],
    )


def _check_added(
    problems: Sequence[Problem], snapshot: Snapshot, made: Replacement[Any], new: _NewList
) -> None:
    """Check that a new list has no error that the old one has not.

    Raises:
        InvalidResultError: It has.
    """
    items, places = snapshot.items, made.places(len(snapshot.items))
    # An item that was made of another, or of several, has the errors that they had.
    as_one = {old: those[0] for those in places for old in those}
    old = [items[as_one.get(index, index)] for index in range(len(items))]
    known_as = [
        items[those[0]] if those else item for item, those in zip(new.items, places, strict=True)
    ]
    added = added_errors(problems_of(snapshot), problems, old, known_as)
    if added:
        told = [_placed(problem, places) for problem in added]
        raise InvalidResultError(
            f"the folded list would be refused: {told[0].message} (item {told[0].index})",
            problems=told,
        )


def _placed(problem: Problem, places: Sequence[Sequence[int]]) -> Problem:
    """Return a problem of a new list with the indices of its items in the list as it is.

    What is in the new list alone, as the summary is, has its index there.
    """
    indices = (places[new][0] if places[new] else new for new in problem.indices)
    return replace(problem, indices=tuple(indices))


def check_standing(snapshot: Snapshot, cut: int, kept: Collection[int], model: str | None) -> None:
    """Check that a list may be folded up to a cut that was chosen when it was longer.

    Args:
        snapshot: The list as it is now.
        cut: Index of the first tail item.
        kept: Indices of the items before it that stay.
        model: The agent's model, None where it is not known.

    Raises:
        StaleHeadError: What would be folded is unfinished.
    """
    views, calls, spans, shape = snapshot.views, snapshot.calls, snapshot.spans, snapshot.shape
    if not allows(views, calls, spans, shape, cut, kept, snapshot.sizes, snapshot.outline, model):
        raise StaleHeadError(
            "the turn that the summary was to stand for goes on; make a new plan", index=cut
        )


def _read(item: Any, shape: Shape) -> ItemView:
    """Return the reading of an item that is put in.

    Raises:
        InvalidResultError: It is of another shape: what stays of a request that came with an
            earlier summary, in a list that has changed its provider since.
    """
    view = shape.read(item)
    if view is None:
        raise InvalidResultError(
            f"what stays of an earlier summary's item is not of the list's shape ({shape.name}); "
            "convert the items in front, or keep them out of the list",
            problems=(),
        )
    return view


def calls_behind(
    calls: Sequence[ToolCallRecord], made: Replacement[Any], views: Sequence[ItemView]
) -> list[ToolCallRecord] | None:
    """Return the calls of a new list, as they are known of the old one; None where they are not.

    Those behind what is put in are still answered by the same results: all that has gone is some
    calls that these might have answered, and did not.

    Args:
        calls: The records of all calls of the old list; none of them is given up (`abandon`).
        made: What is put in.
        views: The readings of the new list.
    """
    start, stop = made.start, made.stop
    by = len(made.items) - (stop - start)
    put_in = views[start : stop + by]
    if not all(_OF_CALLS.isdisjoint(map(type, view.parts)) for view in put_in):
        return None
    found: list[ToolCallRecord] = []
    for call in calls:
        asked, told = call.call_index, call.result_index
        first, last = told if asked is None else asked, asked if told is None else told
        assert first is not None
        assert last is not None
        if first >= stop:
            id_, name, arguments, result, status, _, _, *others = _FIELDS(call)
            asked, told = None if asked is None else asked + by, None if told is None else told + by
            found.append(ToolCallRecord(id_, name, arguments, result, status, asked, told, *others))
        elif first < start or last >= stop:
            return None
    return found


def _problems(
    items: Sequence[Any],
    views: Sequence[ItemView],
    shape: Shape,
    calls: Sequence[ToolCallRecord] | None = None,
) -> list[Problem]:
    if calls is None:
        calls = pair_calls(views)
    found = [
        *common_problems(views, calls, shape.name, known=bool(shape.name)),
        *shape.check(items, views, calls),
    ]
    found.sort(key=lambda p: p.index)
    return found
