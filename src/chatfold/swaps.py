"""Puts folds into one list, and takes them back: when the list changes, and to what.

Not here: how a summary comes about (`folding`), the list itself (`state`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from itertools import pairwise
from typing import Any, Final, NamedTuple

from chatfold.core.append import omitted_from
from chatfold.core.binding import thinking_prints
from chatfold.core.commit import Verdict, check_standing, judge
from chatfold.core.cost import Cost
from chatfold.core.digest import head_digest, stable_digest
from chatfold.core.plan import Outcome, Plan
from chatfold.core.replacement import Replacement, settled
from chatfold.core.snapshot import Snapshot
from chatfold.core.split import Split, prefix_length
from chatfold.core.summary import summary_id
from chatfold.core.undo import Fold, unfolded
from chatfold.core.views import ItemView, OpaquePart, TextPart
from chatfold.errors import InvalidResultError, StaleHeadError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.state import ListState

__all__ = ["Known", "Swaps"]


_ROUNDS: Final = 3
"""How often a list is judged before what is appended meanwhile is no more waited for."""


class Known(NamedTuple):
    """What is known of items that were written for a head.

    Attributes:
        fields: What else the outcome says of them.
        id: Names the fold.
        tokens: Size of a single item.
        saved: A fold that is in the store already, where there is one.
        cost: What they have cost, timed by `time.perf_counter`; None where that is nothing.
    """

    fields: Mapping[str, Any]
    id: str
    tokens: int | None = None
    saved: Fold | None = None
    cost: Cost | None = None


class Swaps:
    """The folds that are in one list.

    Args:
        state: The list.
        originals: Where folds are written before they take place.
        undone: Takes the digests of heads whose fold was taken back.
        measure: Returns the sizes of items in tokens, given their views.
        undo_depth: Number of folds that can be taken back.
    """

    def __init__(
        self,
        state: ListState,
        originals: Originals,
        undone: set[str],
        *,
        measure: Callable[[Sequence[ItemView]], list[int]],
        undo_depth: int,
    ) -> None:
        self._state = state
        self._originals = originals
        self._undone = undone
        self._measure = measure
        self._undo_depth = undo_depth
        self._folds: list[Fold] = []
        self._placed: tuple[Split, Replacement[Any]] | None = None
        self._done_with: list[object] = []

    @property
    def placed(self) -> tuple[Split, Replacement[Any]]:
        """Where the list was cut for the latest fold in it, and what was put in."""
        assert self._placed is not None, "something was folded"
        return self._placed

    @property
    def holds_originals(self) -> bool:
        """Whether what folds took out is held, so that they can be taken back."""
        return self._undo_depth > 0

    def put(
        self,
        plan: Plan[Any],
        written: Sequence[Any],
        known: Known,
        snapshot: Snapshot | None = None,
    ) -> Outcome[Any] | None:
        """Put items in place of the plan's region; None where the list would not get smaller.

        The list is judged as it is when it is written to: others may append to it while it is
        judged, and while the store writes the originals. Where they never stop, what came during
        the last of a few rounds is left as it is, behind the fold, which takes nothing from there.
        `snapshot` is the list a moment ago.
        """
        with self._state.lock:
            rounds = _ROUNDS
            while True:
                if snapshot is None or self._state.has_grown(snapshot):
                    snapshot = self._state.reading.snapshot(abandon=plan.abandon)
                plan = settled(plan, snapshot)
                verdict = self._judged(plan, snapshot, written, known.tokens)
                if not verdict.gains(plan.min_gain, plan.tokens_before):
                    return None
                fold = _fold(plan, verdict.replacement, len(written), thinking_prints(snapshot))
                rounds -= 1
                stands = not (rounds and self._state.has_grown(snapshot))
                if stands and not fold.is_as(known.saved):
                    self._originals.keep(fold, known.id, plan.terms.redact)
                    stands = not (rounds and self._state.has_grown(snapshot))
                if stands:
                    break
            # First: an interrupt may come between both, and a fold that is not in is passed by.
            self._folds.append(fold)
            self._placed = plan.split, verdict.replacement
            self._state.swap(verdict.replacement)
            beyond = max(0, len(self._folds) - self._undo_depth)
            self.leave(*self._folds[:beyond])
            if not self._state.reading.lets_go:
                self.leave(snapshot)
            del self._folds[:beyond]
            if self._state.held:
                self._state.held, self._state.replayed = "", True
            return self._outcome(plan, known, snapshot, verdict, fold)

    def _outcome(
        self,
        plan: Plan[Any],
        known: Known,
        snapshot: Snapshot,
        verdict: Verdict,
        fold: Fold,
    ) -> Outcome[Any]:
        """Return the outcome of a fold that is in the list."""
        made, cost = verdict.replacement, known.cost
        self._state.unbound = plan.terms.thinking == "strip"
        fields: dict[str, Any] = {"reason": "summarized", **known.fields}
        if cost is not None:
            fields |= cost.fields(time.perf_counter())
        return Outcome(
            changed=True,
            **fields,
            item=fold.summary,
            removed=_gone(plan, made) if plan.native else plan.head,
            kept=made.kept if plan.native else plan.kept,
            merged=made.merged,
            stripped=made.stripped,
            tokens_before=verdict.tokens_before,
            tokens_after=verdict.tokens_after,
            blocked_by=plan.blocked_by,
            omitted=omitted_from(plan, known.fields.get("mode")),
            requirements=(
                *snapshot.shape.requirements(verdict.views, model=self._state.model),
                *self._state.replay(snapshot),
            ),
            problems=verdict.problems,
            fold_id=known.id,
            key=self._originals.key,
        )

    def put_again(
        self, cut: int, kept: Sequence[int], text: str, settings: Settings
    ) -> Outcome[Any]:
        """Fold the list with a summary that was written before, for an equal list.

        Who has written it may have had no store for what it takes out.

        Args:
            cut: Index of the first tail item.
            kept: Indices before it of the items that stay, ascending.
            text: The summary in its wrapper.
            settings: The options.

        Raises:
            StaleHeadError: The cut would part what belongs together, or fold what is unfinished;
                or the store has what another summary of these words took out.
            InvalidResultError: The new list would break the provider's rules, or the summary is
                not this application's.
            StoreError: The originals could not be written.
        """
        with self._state.lock:
            snapshot = self._state.snapshot()
            check_standing(snapshot, cut, kept, self._state.model)
            plan = _plan_again(snapshot, cut, kept, settings)
            if _part_no_more(snapshot, cut, kept):
                plan = settled(plan, snapshot)
            item = snapshot.shape.summary_item(text, role=plan.summary_role)
            try:
                verdict = self._judged(plan, snapshot, [item])
            except InvalidResultError:  # who wrote it may not have known what belongs together
                plan = settled(plan, snapshot)
                verdict = self._judged(plan, snapshot, [item])
            fold = _fold(plan, verdict.replacement, 1)
            known = Known({"reason": "reused"}, summary_id(text))
            if self._originals.are_kept:
                if not known.id or self._originals.holds_another(known.id, fold.region):
                    raise StaleHeadError("the store has another fold of that name")
                self._originals.keep(fold, known.id, plan.terms.redact)
            self._placed = plan.split, verdict.replacement
            self._state.swap(verdict.replacement)
            return self._outcome(plan, known, snapshot, verdict, fold)

    def saved(
        self,
        plan: Plan[Any],
        snapshot: Snapshot,
        written: Sequence[Any],
        known: Known,
        stopped: Callable[[], bool],
    ) -> Fold | None:
        """Write what a fold will take out, so that the turn that puts it in need not wait for it.

        Return that; None where there is no store, or the fold may come to nothing. A fold that
        never takes place does no harm in a store, unless it stands in place of one that did: of
        a summary with the very same words. But one that is given up meanwhile is taken out again:
        its conversation may have been erased since.

        Raises:
            CancelledError: It was given up (`stopped`).
            StoreError: It could not be written.
        """
        if not self._originals.are_kept or self._originals.has(known.id):
            return None
        try:
            plan = settled(plan, snapshot)
            verdict = self._judged(plan, snapshot, written, known.tokens)
        except (StaleHeadError, InvalidResultError):
            return None  # it is judged again, as the list is then
        if not verdict.gains(plan.min_gain, plan.tokens_before):
            return None
        fold = _fold(plan, verdict.replacement, len(written))
        if not stopped():
            is_ours = self._originals.keep(fold, known.id, plan.terms.redact)
            if not stopped():
                return fold
            if is_ours:  # else a fold of these very words may be in the list by now
                self._originals.discard(known.id)
        raise CancelledError

    def _judged(
        self,
        plan: Plan[Any],
        snapshot: Snapshot,
        written: Sequence[Any],
        tokens: int | None = None,
    ) -> Verdict:
        return judge(
            plan,
            snapshot,
            written,
            measure=self._measure,
            summaries=self._state.reading.summaries,
            model=self._state.model,
            tokens=tokens,
        )

    def undo(self) -> Outcome[Any] | None:
        """Put back the originals of the latest fold: of this process, else from the store.

        Return None where there is none.
        """
        with self._state.lock:
            snapshot = self._state.reading.snapshot()
            before = sum(snapshot.sizes)
            for fold in self._latest(snapshot):
                back = unfolded(fold, list(self._state.items), snapshot.shape.said)
                if back is not None:
                    break
            else:
                return None
            self._state.swap(back)
            self._state.unbound = False
            self._folds[:] = [other for other in self._folds if other is not fold]
            now = self._state.reading.snapshot()
            self._undone.update((fold.digest, *self._digests_of(fold, back.start, now)))
            start = back.start + len(fold.region) if fold.thoughts is None else 0
            self._state.note_parted(start, fold.thoughts or ())
            after = sum(now.sizes)
        # The fold stays in the store: the caller's own copy of the list may not be written yet.
        return Outcome(
            changed=True,
            reason="undone",
            removed=(fold.summary,),
            kept=fold.kept,
            tokens_before=before,
            tokens_after=after,
            requirements=tuple(self._state.requirements()),
            fold_id=self._name(fold.summary),
            key=self._originals.key,
        )

    def leave(self, *things: object) -> None:
        """Take what is no longer needed, until the next fold is written.

        To free it takes half a millisecond, which the turn that puts a fold in does not have.
        Where no fold is to be taken back, nothing is: no original is held then.
        """
        if self._undo_depth:
            self._done_with += things

    def free(self) -> None:
        """Free what was left."""
        self._done_with.clear()

    def _latest(self, snapshot: Snapshot) -> Iterator[Fold]:
        """Yield what may be the latest fold: those of this process, then that of the store.

        Its owner may have put an earlier state of the list back.
        """
        yield from reversed(self._folds)
        stored = self._stored(snapshot)
        if stored is not None:
            yield stored

    def _stored(self, snapshot: Snapshot) -> Fold | None:
        """Return the latest fold in the store that stands in the list, None where there is none.

        What a provider gives back may hold the summary of an earlier fold: of two folds, the later
        one is that which took in the other.
        """
        latest, name = None, ""
        for item in _standing(snapshot):
            own = self._name(item)
            fold = self._originals.fold(own, item) if own else None
            if fold is not None and (not name or name in map(self._name, fold.region)):
                latest, name = fold, own
        return latest

    def _digests_of(self, fold: Fold, start: int, snapshot: Snapshot) -> Iterator[str]:
        """Yield the digests of the head that a fold took out, by the list that has it again.

        A fold that comes from a store has none that tells anything in this process. Where the
        summary came in one item with words of the tail, the last one taken out was none of the
        head's.
        """
        view = self._state.reading.view_of(fold.summary)
        native, stop = not self._name_of_ours(fold.summary), start + len(fold.region)
        stays = set(map(id, fold.kept))
        kept = [n for n, item in enumerate(fold.region, start) if id(item) in stays]
        for cut in (stop, stop - 1) if len(view.parts) > 1 and not native else (stop,):
            yield head_digest(snapshot.prints[start:cut], kept, native=native)
        if native:  # of what stayed, a provider may have handed back all
            yield head_digest(snapshot.prints[start:stop], (), native=native)

    def _name(self, item: Any) -> str:
        """Return what names the fold that an item was put in for.

        A summary has a digest on its tag; what a provider wrote itself is named by its content.
        """
        return self._name_of_ours(item) or stable_digest(item)

    def _name_of_ours(self, item: Any) -> str:
        """Return the digest on the tag of a summary, "" for what a provider wrote itself."""
        parts = self._state.reading.view_of(item).parts
        return summary_id(parts[0].text) if parts and isinstance(parts[0], TextPart) else ""


def _plan_again(snapshot: Snapshot, cut: int, kept: Sequence[int], settings: Settings) -> Plan[Any]:
    """Return the plan of a fold that was made before, of an equal head.

    These items stay, and no others: what parts them may have been folded later than they were.
    """
    items, start, stays = snapshot.items, prefix_length(snapshot.views), frozenset(kept)
    moved: Mapping[int, int] = {}
    if kept:
        moved = snapshot.shape.place(kept, cut, snapshot.views).moved
    return Plan(
        prompt=None,
        head=tuple(items[i] for i in range(start, cut) if i not in stays),
        kept=tuple(items[i] for i in kept),
        index=cut,
        reason="summarized",
        split=Split(start, cut, tuple(kept), moved=moved),
        region=tuple(items[start:cut]),
        prints=tuple(snapshot.prints[start:cut]),
        summary_role=settings.summary_role,
        terms=settings.terms(),
    )


def _part_no_more(snapshot: Snapshot, cut: int, kept: Sequence[int]) -> bool:
    """Return whether items that stay lack what parts them, and cannot go out as one either."""
    items, shape, views = snapshot.items, snapshot.shape, snapshot.views
    return any(
        shape.place([before, index], cut, views).needs
        and shape.merged(items[before], items[index]) is None
        for before, index in pairwise([*kept, *range(cut, min(cut + 1, len(items)))])
        if index > before + 1
    )


def _standing(snapshot: Snapshot) -> Iterator[Any]:
    """Yield the items of a list that folds may have put in: the summary, and what is opaque."""
    if snapshot.previous is not None:
        yield snapshot.items[snapshot.previous]
    for item, view in zip(snapshot.items, snapshot.views, strict=True):
        if any(type(part) is OpaquePart for part in view.parts):
            yield item


def _fold(
    plan: Plan[Any],
    made: Replacement[Any],
    written: int,
    thoughts: frozenset[int] | None = None,
) -> Fold:
    """Return what a fold took out; it is found again by the last new item that was written."""
    new = [0]  # what a provider wrote may begin with items of the region
    if written > 1:
        new = [i for i, source in enumerate(made.sources[:written]) if source is None]
    at = new.pop()
    others = tuple(made.items[i] for i in new)
    extent = len(made.items) - 1 - at
    region = (*plan.region, *made.taken) if made.taken else plan.region
    return Fold(made.items[at], region, made.kept, plan.digest, extent, others, at, thoughts)


def _gone(plan: Plan[Any], made: Replacement[Any]) -> tuple[Any, ...]:
    """Return the items of the region that are no longer in the list."""
    here = {id(item) for item in (*made.items, *made.merged)}
    return tuple(item for item in plan.region if id(item) not in here)
