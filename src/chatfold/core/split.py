"""The split of a list into prefix, kept items, head and tail, along its turns (`turns`).

The splitter only picks an index among the cut points. Not here: what makes a cut point (`spans`),
what the head is replaced with (`plan`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from chatfold.core.calls import ToolCallRecord
from chatfold.core.outline import Outline
from chatfold.core.places import Places, past, places_of
from chatfold.core.spans import Span, barrier, cut_points, open_calls, spanning
from chatfold.core.staying import lasting, others_in, stays_anyway, superseded_in, wanted_of
from chatfold.core.turns import (
    Turn,
    Turns,
    is_summary,
    prefix_length,
    thought_at,
    turns,
    unseen_result,
)
from chatfold.core.views import (
    ItemView,
    Shape,
    is_user_message,
)

__all__ = ["Split", "Turn", "allows", "check_limits", "prefix_length", "split", "turns"]


@dataclass(frozen=True, slots=True)
class Split:
    """Where a list is cut, and what stays of the part before the cut.

    Attributes:
        start: Index of the first item after the prefix.
        cut: Index of the first tail item; equal to `start` where nothing can be folded.
        kept: Indices before the cut that stay verbatim, ascending.
        superseded: Indices of state items that a later one replaces.
        moved: For kept items that cannot stand behind the summary: the index they go before.
        blocked_by: Labels of the open calls that kept the cut from going further.
        opaque: Whether an opaque item kept the cut from going further.
        reason: Why nothing can be folded; "" if something can.
        turns: Number of turns with a user's message in the list.
        unread: Whether no item is of a known shape: then nobody can tell calls from results, or
            the last request from what it is about.
        stuck: Whether kept items hold those around them, for want of a place behind the summary.
        spanning: Where nothing can be folded: the call that the cut stopped at, since its result
            came turns later.
    """

    start: int
    cut: int
    kept: tuple[int, ...] = ()
    superseded: tuple[int, ...] = ()
    moved: Mapping[int, int] = field(default_factory=dict[int, int])
    blocked_by: tuple[str, ...] = ()
    opaque: bool = False
    reason: str = ""
    turns: int = 0
    unread: bool = False
    stuck: bool = False
    spanning: ToolCallRecord | None = None


def split(
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
    spans: Sequence[Span],
    shape: Shape,
    *,
    keep_last_turns: int | None,
    keep_tokens: int | None,
    tokens: Callable[[int], int],
    pinned: Callable[[int], bool] | None = None,
    own: Callable[[int], bool] | None = None,
    outline: Outline | None = None,
    model: str | None = None,
) -> Split:
    """Return where to cut and what stays before the cut.

    Args:
        views: One reading per native item.
        calls: The records of all calls, requests for approval included.
        spans: What must stay together, open calls included.
        shape: What knows which items stay, and where.
        keep_last_turns: Turns to keep; 0 keeps none but an unfinished turn's user messages and
            open calls; None leaves it to `keep_tokens`.
        keep_tokens: Tokens that the tail may hold; None sets no limit.
        tokens: Returns the size in tokens of the item at an index.
        pinned: Returns whether the caller wants the item at an index kept.
        own: Returns whether the item at an index is opaque to all but what folds: it is then
            folded again. None where text is folded.
        outline: The outline of the list, where it is known.
        model: The agent's model, None where it is not known.

    Raises:
        ValueError: Both limits are None, or one is negative.
        TypeError: A limit is no whole number.
    """
    check_limits(keep_last_turns, keep_tokens)
    start = prefix_length(views)
    if start < len(views) and all(v.role == "unknown" for v in islice(views, start, None)):
        return Split(start, start, reason="nothing_to_summarize", unread=True)
    outline = Outline.of(views) if outline is None else outline
    found = Turns(views, start, outline.asks, outline.retold)
    chooser = _Chooser(views, calls, spans, start, found, own, outline)
    target = chooser.by_turns(keep_last_turns) if keep_last_turns is not None else start
    if keep_tokens is not None:
        anyway = stays_anyway(views, shape, range(start, len(views)), own, outline)
        target = max(target, chooser.by_tokens(keep_tokens, tokens, anyway))
    cut = chooser.settle(target)
    blocked = chooser.blocking(cut)

    def keep_at(point: int) -> _Kept:
        thought = thought_at(point, views, found, shape, model, tokens)
        openers = (*chooser.openers_at(point), *thought)
        return _keep(views, spans, shape, range(start, point), pinned, openers, own, outline)

    cut, keep, gone = _first_that_frees((cut,), keep_at, views, start, own)
    later = chooser.next_turns(cut, keep_tokens, tokens) if keep_tokens is not None else ()
    if later:
        other = _first_that_frees(later, keep_at, views, start, own)
        held = keep.places.kept - other[1].places.kept
        freed = (i for i in range(start, cut) if i not in keep.places.kept)
        freed = (i for i in freed if not is_summary(views[i]))  # another takes its place
        # Where less goes than stays, each fold would free what came since, if that were enough.
        if other[2] and (not gone or sum(map(tokens, freed)) < sum(map(tokens, held))):
            cut, keep, gone = other
    reason = ""
    if not gone:
        reason = chooser.reason(keep_last_turns, keep_tokens, blocked)
    return Split(
        start=start,
        cut=cut if gone else start,
        kept=tuple(sorted(keep.places.kept)) if gone else (),
        superseded=tuple(sorted(keep.superseded)) if gone else (),
        moved=keep.places.moved if gone else {},
        blocked_by=blocked,
        opaque=chooser.opaque,
        reason=reason,
        turns=found.opened,
        stuck=keep.places.stuck,
        spanning=None if gone else spanning(calls, chooser.starts, cut, chooser.target),
    )


def allows(
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
    spans: Sequence[Span],
    shape: Shape,
    cut: int,
    kept: Collection[int],
    sizes: Sequence[int],
    outline: Outline | None = None,
    model: str | None = None,
) -> bool:
    """Return whether a list may stay folded up to a cut that was chosen when it was longer.

    Hosts go back and ask again: then the latest turn may be unfinished once more, and a call in it
    open. What lies before that turn is settled. A result behind the cut of a call before it is
    not judged here.

    Args:
        views: One reading per native item.
        calls: The records of all calls, requests for approval included.
        spans: What must stay together, open calls included.
        shape: What knows which items stay.
        cut: Index of the first tail item.
        kept: Indices of the items before it that stay.
        sizes: The sizes of the items in tokens.
        outline: The outline of the list, where it is known.
        model: The agent's model, None where it is not known.
    """
    start = prefix_length(views)
    outline = Outline.of(views) if outline is None else outline
    found = Turns(views, start, outline.asks, outline.retold)
    if not found or cut <= found.starts[-1]:
        return True
    here = [span for span in spans if not span.first < cut <= span.last < len(views)]
    chooser = _Chooser(views, calls, here, start, found, lambda _: True, outline)
    thought = thought_at(cut, views, found, shape, model, sizes.__getitem__)
    stays = (*chooser.openers_at(cut), *thought)
    return cut in chooser.points and set(stays).issubset(kept)


class _Chooser:
    """Picks a cut point; knows why it could not go further."""

    def __init__(
        self,
        views: Sequence[ItemView],
        calls: Sequence[ToolCallRecord],
        spans: Sequence[Span],
        start: int,
        found: Turns,
        own: Callable[[int], bool] | None,
        outline: Outline,
    ) -> None:
        self.views = views
        self.calls = calls
        self.spans = spans
        self.turns = found
        self.start = start
        self.starts = found.starts
        free = cut_points(spans, views, lossy=True)
        readable = bisect_right(free, barrier(views, own, opaque=outline.opaque))
        last = min(readable, bisect_right(free, self._last_group(free)))
        self.points = free[bisect_left(free, start) : last]
        mixed = set(outline.fused)  # they cannot stay without the call before them
        fused = [turn for turn in found if mixed.intersection(turn.openers)] if mixed else ()
        if fused:
            self.points = [p for p in self.points if not self._parts_request(p, fused)]
        self.behind_barrier = free[readable if readable else bisect_right(free, 0) :]
        self.opaque = False
        self.target = start

    def _last_group(self, free: Sequence[int]) -> int:
        """Return the latest cut that leaves the results that the model has yet to see."""
        end = len(self.views)
        if not self.turns or self.turns[-1].finished:
            return end
        unseen = unseen_result(self.views, self.turns[-1].start)
        return end if unseen is None else free[bisect_right(free, unseen) - 1]

    def _parts_request(self, point: int, fused: Sequence[Turn]) -> bool:
        """Return whether a cut would part a request from its turn that cannot stay alone."""
        return any(turn.start < point <= turn.stop for turn in fused) and bool(
            self.openers_at(point)
        )

    def openers_at(self, cut: int) -> tuple[int, ...]:
        """Return the user messages that stay verbatim where the cut falls inside their turn."""
        if not self.turns:
            return ()
        at = bisect_right(self.starts, cut - 1) - 1
        if at < 0:
            return ()
        turn = self.turns[at]
        inside = turn.start < cut < turn.stop
        running = at == len(self.turns) - 1 and cut == turn.stop and not turn.finished
        return tuple(i for i in turn.openers if i < cut) if inside or running else ()

    def by_turns(self, count: int) -> int:
        """Return the latest cut point at or before the start of the `count`-th last turn."""
        if count == 0:
            wanted = len(self.views)
        elif count <= len(self.turns):
            wanted = self.starts[-count]
        else:
            wanted = self.start
        self.target = max(self.target, wanted)
        return self._at_or_before(wanted)

    def by_tokens(self, budget: int, tokens: Callable[[int], int], anyway: Collection[int]) -> int:
        """Return the cut point whose tail fits the budget, which an earlier summary is no part of.

        One before a user message is preferred if that tail still fills half of it.

        Args:
            budget: Tokens that the tail may hold.
            tokens: Returns the size in tokens of the item at an index.
            anyway: Indices of items that would stay wherever the cut is, and take none of them.
        """

        def taken(index: int) -> int:
            return 0 if index in anyway else tokens(index)

        sizes, start, first = 0, self.start, len(self.views)
        if start < first and is_summary(self.views[start]) and len(self.views[start].parts) == 1:
            start += 1
        while first > start and sizes + taken(first - 1) <= budget:
            first -= 1
            sizes += taken(first)
        if first == start:
            return self.start
        self.target = max(self.target, first)
        at = bisect_left(self.points, first)
        fitting = self.points[at:]
        if not fitting:
            return self._at_or_before(len(self.views))
        left = 0
        behind: dict[int, int] = {}
        for index in range(len(self.views) - 1, first - 1, -1):
            left += taken(index)
            behind[index] = left
        for point in fitting:
            if point == len(self.views) or behind[point] * 2 < budget:
                break
            if is_user_message(self.views[point]):
                return point
        return fitting[0]

    def next_turns(self, cut: int, budget: int, tokens: Callable[[int], int]) -> list[int]:
        """Return the next cuts before a user's message, where a request alone exceeds the budget.

        It stays while its turn is cut inside, and then the first cut may free nothing, or little.
        Sixteen turns of nothing but kept items are enough to give up.
        """
        if sum(map(tokens, self.openers_at(cut))) <= budget:
            return []
        at = bisect_right(self.starts, cut)
        points = set(self.points)
        return [s for s in self.starts[at : at + 16] if s in points]

    def settle(self, cut: int) -> int:
        """Return `cut`, and note whether an opaque item lies in the way of the target."""
        self.opaque = any(cut < p <= self.target for p in self.behind_barrier)
        return self.start if self.opaque else cut

    def blocking(self, cut: int) -> tuple[str, ...]:
        """Return the labels of the open calls that lie before the target."""
        end = len(self.views)
        waiting = {s.first for s in self.spans if s.last >= end and cut <= s.first < self.target}
        if not waiting:
            return ()
        labels = {c.call_index: c.label for c in reversed(open_calls(self.calls))}
        named = [(i, labels.get(i) or self.views[i].id or f"item {i}") for i in sorted(waiting)]
        several = [c for c in open_calls(self.calls) if c.call_index in waiting]
        return tuple(dict.fromkeys([*(c.label for c in several), *(n for _, n in named)]))

    def reason(
        self, keep_last_turns: int | None, keep_tokens: int | None, blocked: tuple[str, ...]
    ) -> str:
        """Return why nothing can be folded."""
        if self.opaque:
            return "blocked_by_opaque"
        if blocked:
            return "blocked_by_open_calls"
        first = self.start
        if first < len(self.views) and is_summary(self.views[first]):
            first += 1
        if self.target <= first < len(self.views) and keep_last_turns:
            return "too_few_turns"
        return "nothing_to_summarize"

    def _at_or_before(self, wanted: int) -> int:
        at = bisect_right(self.points, wanted) - 1
        return self.points[at] if at >= 0 else self.start


class _Kept(NamedTuple):
    places: Places
    superseded: set[int]


def _first_that_frees(
    cuts: Sequence[int],
    keep_at: Callable[[int], _Kept],
    views: Sequence[ItemView],
    start: int,
    own: Callable[[int], bool] | None,
) -> tuple[int, _Kept, bool]:
    """Return the first cut before which something would go, what stays there, and whether.

    Superseded state goes along, but alone it leaves nothing to write a summary of.
    """
    for cut in cuts:
        keep = keep_at(cut)
        mute = keep.places.kept | keep.superseded
        stays = (i in mute or is_summary(views[i]) for i in range(start, cut))
        if not all(s or (own is not None and own(i)) for i, s in enumerate(stays, start)):
            return cut, keep, True
    return cuts[0], keep_at(cuts[0]), False


def _keep(
    views: Sequence[ItemView],
    spans: Sequence[Span],
    shape: Shape,
    head: range,
    pinned: Callable[[int], bool] | None,
    openers: tuple[int, ...],
    own: Callable[[int], bool] | None,
    outline: Outline,
) -> _Kept:
    """Return which items of the head stay verbatim; an earlier summary never does.

    A request, or what is pinned, may have come in one item with an earlier summary; it alone stays.
    """
    may: Iterable[int] = others_in(outline, head) if pinned is None else head
    wanted, state = wanted_of(views, shape, may, pinned, own)
    wanted.update(openers)
    over = past(views, state)
    superseded = superseded_in(views, state, over)
    wanted.update(lasting(views, state, superseded, over))
    places = places_of(wanted, head, views, spans, shape, native=own is not None)
    superseded -= places.kept | over  # what has words is shown in the prompt
    return _Kept(places, superseded)


def check_limits(keep_last_turns: int | None, keep_tokens: int | None) -> None:
    """Check how much is to be kept.

    Raises:
        ValueError: Both limits are None, or one is negative.
        TypeError: A limit is no whole number.
    """
    if keep_last_turns is None and keep_tokens is None:
        raise ValueError("give keep_last_turns= or keep_tokens=; both are None")
    for name, value in (("keep_last_turns", keep_last_turns), ("keep_tokens", keep_tokens)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{name} must be a whole number or None, not {value!r}")
        if value is not None and value < 0:
            raise ValueError(f"{name} must be 0 or more, not {value}")
