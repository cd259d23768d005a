"""The folds of one list: written, put in, and taken back.

Not here: what a fold would replace, and what comes behind the model's words (`planning`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from chatfold.core.append import omitted_from
from chatfold.core.clip import cut_texts
from chatfold.core.commit import Verdict, judge
from chatfold.core.digest import stable_digest
from chatfold.core.flow import Completion, Flow, Written
from chatfold.core.live import Sender
from chatfold.core.plan import (
    Outcome,
    Plan,
    Reason,
    Replacement,
    head_is_current,
    nothing,
    remedy_for,
)
from chatfold.core.reading import Snapshot
from chatfold.core.room import Window
from chatfold.core.split import Split, prefix_length
from chatfold.core.summary import summary_id
from chatfold.core.undo import Fold, unfolded
from chatfold.core.views import ItemView, OpaquePart, TextPart
from chatfold.core.write import settled
from chatfold.errors import ChatfoldError, InvalidResultError, StaleHeadError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.planning import Limits, Notes, Planning, Wording
from chatfold.state import ListState
from chatfold.summarizers.native import Compacted

__all__ = ["Draft", "Folding"]

MadeT = TypeVar("MadeT")


class Draft(NamedTuple):
    """What can go into a list in place of a head.

    Attributes:
        plan: What it takes the place of.
        written: The model's words.
        wordings: The summary; the whole first, then with less behind the model's words, made when
            it is asked for.
        saved: What the first would take out, as it is in a store already; None where it is not.
    """

    plan: Plan[Any]
    written: Written
    wordings: Iterator[Wording]
    saved: Fold | None = None


class _Known(NamedTuple):
    """What is known of items that were written for a head.

    Attributes:
        fields: What they have cost, and what else the outcome says of them.
        id: Names the fold.
        tokens: Size of a single item.
        saved: A fold that is in the store already, where there is one.
        since: When the fold began, by `time.perf_counter`, where it is to be timed here.
    """

    fields: Mapping[str, Any]
    id: str
    tokens: int | None = None
    saved: Fold | None = None
    since: float | None = None


class Folding:
    """The folds of one list.

    Args:
        state: The list.
        originals: Where folds are written before they take place.
        measure: Returns the sizes of items in tokens, given their views.
        pin: Returns whether an item stays in every fold.
        summary_key: Secret that the digests of summaries are made with.
        undo_depth: Number of folds that can be taken back.

    Attributes:
        planning: What plans them.
    """

    def __init__(
        self,
        state: ListState,
        originals: Originals,
        *,
        measure: Callable[[Sequence[ItemView]], list[int]],
        pin: Callable[[Any], bool] | None,
        summary_key: bytes | None,
        undo_depth: int,
    ) -> None:
        self.planning = Planning(
            state, originals, measure=measure, pin=pin, summary_key=summary_key
        )
        self._state = state
        self._originals = originals
        self._measure = measure
        self._summary_key = summary_key
        self._undo_depth = undo_depth
        self._folds: list[Fold] = []
        self._done_with: list[object] = []

    def leave(self, *things: object) -> None:
        """Take what is no longer needed until the next fold is written, and is freed there.

        To free it takes half a millisecond, which the turn that puts a fold in does not have.
        """
        self._done_with += things

    @property
    def key(self) -> str | None:
        """The conversation's key in a store."""
        return self._originals.key

    def flow(
        self,
        limits: Limits,
        settings: Settings,
        backends: int,
        windows: Sequence[Window] = (),
        senders: Sequence[Sender] = (),
        *,
        then: Callable[[Outcome[Any]], Outcome[Any]] | None = None,
    ) -> Flow[Outcome[Any]]:
        """Return a summarization that changes the list when its last completion is sent.

        Args:
            limits: How much to keep.
            settings: The options.
            backends: Number of summarizers in the fallback chain.
            windows: What is known of their windows, in the same order.
            senders: What they can send in append mode, in the same order.
            then: Takes the outcome of a commit and returns the one of the flow.
        """
        self._done_with.clear()
        snapshot = self._state.snapshot(limits.abandon)
        plan, head = self.planning.prepared(limits, settings, snapshot=snapshot, senders=senders)
        # Rendered first, so that a template that fails costs no model call.
        notes = self.planning.notes(settings) if plan else Notes("", "")

        def finish(written: Written) -> Outcome[Any]:
            outcome = self.commit(plan, written, notes, snapshot)
            return then(outcome) if then is not None else outcome

        if head is None:
            return Flow(None, finish, nothing(plan))
        steps = self.planning.steps(plan, head, settings, backends, windows, snapshot)
        return Flow(steps, finish, None)

    def draft(
        self,
        snapshot: Snapshot,
        limits: Limits,
        settings: Settings,
        backends: int,
        windows: Sequence[Window] = (),
        senders: Sequence[Sender] = (),
    ) -> Flow[Draft | Outcome[Any]]:
        """Return a summarization that leaves the list alone; `put` puts in what comes of it.

        All its work is done on the snapshot, and so in any thread.

        Args:
            snapshot: The list as it is when this begins.
            limits: How much to keep.
            settings: The options.
            backends: Number of summarizers in the fallback chain.
            windows: What is known of their windows, in the same order.
            senders: What they can send in append mode, in the same order.
        """
        self._done_with.clear()
        plan, head = self.planning.prepared(limits, settings, snapshot=snapshot, senders=senders)
        notes = self.planning.notes(settings) if plan else Notes("", "")

        def finish(written: Written) -> Draft | Outcome[Any]:
            wordings = self.planning.wordings(plan, snapshot, written, notes)
            first = next(wordings)
            saved = self._charged(written, lambda: self._saved(plan, snapshot, first))
            return Draft(plan, written, chain([first], wordings), saved)

        if head is None:
            return Flow(None, finish, nothing(plan))
        steps = self.planning.steps(plan, head, settings, backends, windows, snapshot)
        return Flow(steps, finish, None)

    def put(self, draft: Draft, *, since: float) -> Outcome[Any]:
        """Put a draft in place of its head, or leave the list as it is.

        Args:
            draft: The draft.
            since: When its time began to count, by `time.perf_counter`.

        Raises:
            StaleHeadError: The head changed since the draft was begun.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """

        def commit() -> Outcome[Any]:
            plan, written, wordings, saved = draft
            now = self._state.snapshot(plan.abandon)
            return self._committed(plan, written, wordings, now, saved=saved, since=since)

        return self._charged(draft.written, commit)

    def put_again(
        self, cut: int, kept: Sequence[int], text: str, settings: Settings
    ) -> Outcome[Any]:
        """Fold the list with a summary that was written before, for an equal list.

        Args:
            cut: Index of the first tail item.
            kept: Indices before it of the items that stay, ascending.
            text: The summary in its wrapper.
            settings: The options.

        Raises:
            StaleHeadError: The cut would part what belongs together.
            InvalidResultError: The new list would break the provider's rules, or the summary is
                not this application's.
        """
        with self._state.lock:
            snapshot = self._state.snapshot()
            start, items = prefix_length(snapshot.views), snapshot.items
            moved = dict(snapshot.shape.place(kept, cut, snapshot.views).moved)
            stays = frozenset(kept)
            plan: Plan[Any] = Plan(
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
            item = snapshot.shape.summary_item(text, role=plan.summary_role)
            verdict = self._judged(plan, snapshot, [item])
            self._state.swap(verdict.replacement)
            fold = _fold(plan, verdict.replacement, 1)
            known = _Known({"reason": "reused"}, summary_id(text))
            return self._outcome(plan, known, snapshot, verdict, fold)

    def applied(self, plan: Plan[Any], completion: Completion) -> Outcome[Any]:
        """Put a completion that somebody else asked for in place of the plan's head.

        Raises:
            SummaryError: The completion cannot stand as a summary.
            ValueError: The plan's prompt shows a part of the head, and nobody asked for the rest.
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
        """
        assert plan.prompt is not None
        assert plan.shown is not None
        shown = plan.prompt.views
        if len(shown) < len(plan.region):
            raise ValueError(
                f"the plan's prompt shows {len(shown)} of {len(plan.region)} items: the head "
                "needs several prompts; use ctx.flow(...), or pass a larger max_prompt_tokens="
            )
        snapshot = self._state.snapshot(plan.abandon)
        head_is_current(plan, snapshot.items, snapshot.prints)
        written = settled(
            completion, plan.prompt, plan.shown, self.planning.guard(plan), plan.terms
        )
        cut = cut_texts(snapshot.views[plan.split.start : plan.split.cut], shown)
        written = replace(written, truncated=written.truncated + cut)
        return self.commit(plan, written, Notes(*plan.notes), snapshot)

    def commit(
        self, plan: Plan[Any], written: Written, notes: Notes, snapshot: Snapshot
    ) -> Outcome[Any]:
        """Put a summary in place of the plan's head, or leave the list as it is.

        Args:
            plan: What it takes the place of.
            written: The model's words.
            notes: What the wrapper says about them.
            snapshot: A list with that head; the list itself is looked at when it is written to.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """

        def commit() -> Outcome[Any]:
            now = self._state.snapshot(plan.abandon)
            head_is_current(plan, now.items, now.prints)  # before anything is found in it
            return self._committed(plan, written, wordings, now)

        wordings = self.planning.wordings(plan, snapshot, written, notes)
        return self._charged(written, commit)

    def _saved(self, plan: Plan[Any], snapshot: Snapshot, first: Wording) -> Fold | None:
        """Write what a fold will take out, so that the turn that puts it in need not wait for it.

        Return that; None where there is no store, or the fold may come to nothing. A fold that
        never takes place does no harm in a store.

        Raises:
            StoreError: It could not be written.
        """
        if not self._originals.are_kept:
            return None
        try:
            verdict = self._judged(plan, snapshot, [first.item], first.tokens)
        except (StaleHeadError, InvalidResultError):
            return None  # it is judged again, as the list is then
        if not verdict.gains(plan.min_gain):
            return None
        fold = _fold(plan, verdict.replacement, 1)
        self._originals.keep(fold, first.id, plan.terms.redact)
        return fold

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
            summary_key=self._summary_key,
            model=self._state.model,
            tokens=tokens,
        )

    def _charged(self, made: Written | Compacted, commit: Callable[[], MadeT]) -> MadeT:
        """Return what a commit returns; its errors say what has been spent."""
        try:
            return commit()
        except ChatfoldError as error:
            error.usage, error.llm_calls = made.usage, made.llm_calls
            raise

    def _committed(
        self,
        plan: Plan[Any],
        written: Written,
        wordings: Iterable[Wording],
        snapshot: Snapshot,
        *,
        saved: Fold | None = None,
        since: float | None = None,
    ) -> Outcome[Any]:
        for made in wordings:
            fields = {**_cost(written), "summary": written.text, "facts": made.report}
            known = _Known(fields, made.id, made.tokens, saved, since)
            outcome = self._put_in(plan, [made.item], known, snapshot)
            if outcome is not None:
                return outcome
        return self._no_gain(plan, written)

    def commit_native(self, plan: Plan[Any], made: Compacted) -> Outcome[Any]:
        """Put what a provider wrote in place of the plan's region, or leave the list as it is.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """

        def commit() -> Outcome[Any]:
            fields = {**_cost(made), "summary": made.readable}
            known = _Known(fields, stable_digest(made.items[-1]))
            outcome = self._put_in(plan, made.items, known)
            return outcome if outcome is not None else self._no_gain(plan, made)

        return self._charged(made, commit)

    def _no_gain(self, plan: Plan[Any], made: Written | Compacted) -> Outcome[Any]:
        """Return the outcome of a fold that would not have made the list smaller."""
        self.planning.tried.add(plan.digest)
        return replace(
            nothing(plan), reason="no_gain", remedy=remedy_for("no_gain"), **_spent(made)
        )

    def _put_in(
        self,
        plan: Plan[Any],
        written: Sequence[Any],
        known: _Known,
        snapshot: Snapshot | None = None,
    ) -> Outcome[Any] | None:
        """Put items in place of the plan's region; None where the list would not get smaller.

        The list is judged as it is when it is written to: others may append to it while it is
        judged, and while the store writes the originals. `snapshot` is the list a moment ago.
        """
        with self._state.lock:
            while True:
                if snapshot is None or self._state.has_grown(snapshot):
                    snapshot = self._state.reading.snapshot(abandon=plan.abandon)
                verdict = self._judged(plan, snapshot, written, known.tokens)
                if not verdict.gains(plan.min_gain):
                    return None
                fold = _fold(plan, verdict.replacement, len(written))
                if not self._state.has_grown(snapshot) and not fold.is_as(known.saved):
                    self._originals.keep(fold, known.id, plan.terms.redact)
                if not self._state.has_grown(snapshot):
                    break
            self._state.swap(verdict.replacement)
            self._folds.append(fold)
            beyond = max(0, len(self._folds) - self._undo_depth)
            self.leave(*self._folds[:beyond])
            del self._folds[:beyond]
            if self._state.held:
                self._state.held, self._state.replayed = "", True
            return self._outcome(plan, known, snapshot, verdict, fold)

    def _outcome(
        self,
        plan: Plan[Any],
        known: _Known,
        snapshot: Snapshot,
        verdict: Verdict,
        fold: Fold,
    ) -> Outcome[Any]:
        """Return the outcome of a fold that is in the list."""
        made, since = verdict.replacement, known.since
        fields: dict[str, Any] = {"reason": "summarized", **known.fields}
        return Outcome(
            changed=True,
            **fields,
            item=fold.summary,
            removed=_gone(plan, made) if plan.native else plan.head,
            kept=made.kept if plan.native else plan.kept,
            merged=verdict.replacement.merged,
            stripped=verdict.replacement.stripped,
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
            seconds=0.0 if since is None else time.perf_counter() - since,
        )

    def undo(self) -> Outcome[Any]:
        """Put back the originals of the latest fold: of this process, else from the store."""
        with self._state.lock:
            snapshot = self._state.reading.snapshot()
            before = sum(snapshot.sizes)
            fold_id, item = self._standing_fold(snapshot)
            for fold in self._latest(fold_id, item):
                back = unfolded(fold, list(self._state.items))
                if back is not None:
                    break
            else:
                return self.idle("nothing_to_undo")
            self._state.swap(back)
            if self._folds and fold is self._folds[-1]:
                self._folds.pop()
            self.planning.tried.add(fold.digest)
            after = sum(self._state.reading.snapshot().sizes)
        # The fold stays in the store: the caller's own copy of the list may not be written yet.
        return Outcome(
            changed=True,
            reason="undone",
            removed=(fold.summary,),
            kept=fold.kept,
            tokens_before=before,
            tokens_after=after,
            fold_id=fold_id or None,
            key=self._originals.key,
        )

    def idle(self, reason: Reason) -> Outcome[Any]:
        """Return the outcome of a call that did nothing."""
        size = self._state.extent().tokens
        return Outcome(
            changed=False,
            reason=reason,
            tokens_before=size,
            tokens_after=size,
            key=self._originals.key,
            remedy=remedy_for(reason),
        )

    def failed(self, error: BaseException) -> Outcome[Any]:
        """Return the outcome of a summarization that ended in an error."""
        idle = self.idle("stale" if isinstance(error, StaleHeadError) else "failed")
        if not isinstance(error, ChatfoldError):
            return replace(idle, error=error)
        return replace(idle, error=error, usage=error.usage, llm_calls=error.llm_calls)

    def _standing_fold(self, snapshot: Snapshot) -> tuple[str, Any]:
        """Return what names the list's latest fold, and the item that was put in for it.

        A summary has a digest on its tag; what a provider wrote itself is named by its content.
        """
        if snapshot.previous is not None:
            item = snapshot.items[snapshot.previous]
            said = self._state.reading.view_of(item).parts[0]
            return (summary_id(said.text) if isinstance(said, TextPart) else ""), item
        for item, view in zip(snapshot.items, snapshot.views, strict=True):
            if any(type(part) is OpaquePart for part in view.parts):
                return stable_digest(item), item
        return "", None

    def _latest(self, fold_id: str, item: Any) -> Iterator[Fold]:
        """Yield what may be the latest fold: that of this process, then that of the store."""
        yield from self._folds[-1:]
        stored = self._originals.fold(fold_id, item) if fold_id else None
        if stored is not None:
            yield stored


def _cost(made: Written | Compacted) -> dict[str, Any]:
    """Return what model calls have cost and how they went, as fields of an outcome."""
    if not isinstance(made, Written):
        return _spent(made)
    known = {"truncated": made.truncated, "mode": made.mode, "fell_back": made.fell_back}
    return _spent(made) | known


def _spent(made: Written | Compacted) -> dict[str, Any]:
    """Return what model calls have cost, as fields of an outcome."""
    return {"usage": made.usage, "llm_calls": made.llm_calls, "model": made.model}


def _fold(plan: Plan[Any], made: Replacement[Any], written: int) -> Fold:
    """Return what a fold took out; it is found again by the last new item that was written."""
    new = [0]  # what a provider wrote may begin with items of the region
    if written > 1:
        old = {id(item) for item in plan.region}
        new = [i for i, item in enumerate(made.items[:written]) if id(item) not in old]
    at = new.pop()
    others = tuple(made.items[i] for i in new)
    extent = len(made.items) - 1 - at
    region = (*plan.region, *made.taken)
    return Fold(made.items[at], region, made.kept, plan.digest, extent, others, at)


def _gone(plan: Plan[Any], made: Replacement[Any]) -> tuple[Any, ...]:
    """Return the items of the region that are no longer in the list."""
    here = {id(item) for item in made.items}
    return tuple(item for item in plan.region if id(item) not in here)
