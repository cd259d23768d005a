"""The folds of one list: written, put in, and taken back.

Not here: what a fold would replace, and what comes behind the model's words (`planning`); the
list as it is written to (`swaps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from chatfold.core.clip import cut_texts
from chatfold.core.digest import stable_digest
from chatfold.core.flow import Completion, Flow, Written
from chatfold.core.live import Sender
from chatfold.core.plan import (
    Outcome,
    Plan,
    Reason,
    nothing,
    remedy_for,
)
from chatfold.core.reading import Snapshot
from chatfold.core.replacement import head_is_current
from chatfold.core.room import Window
from chatfold.core.undo import Fold
from chatfold.core.views import ItemView
from chatfold.core.write import settled
from chatfold.errors import ChatfoldError, StaleHeadError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.planning import Limits, Notes, Planning, Wording
from chatfold.state import ListState
from chatfold.summarizers.native import Compacted
from chatfold.swaps import Known, Swaps

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


class Folding:
    """The folds of one list.

    Args:
        state: The list.
        originals: Where folds are written before they take place.
        measure: Returns the sizes of items in tokens, given their views.
        count: Returns the sizes of texts in tokens.
        pin: Returns whether an item stays in every fold.
        summary_key: Secret that the digests of summaries are made with.
        undo_depth: Number of folds that can be taken back.

    Attributes:
        planning: What plans them.
        swaps: What puts them in, and takes them back.
    """

    def __init__(
        self,
        state: ListState,
        originals: Originals,
        *,
        measure: Callable[[Sequence[ItemView]], list[int]],
        count: Callable[[Sequence[str]], list[int]],
        pin: Callable[[Any], bool] | None,
        summary_key: bytes | None,
        undo_depth: int,
    ) -> None:
        self.planning = Planning(
            state, originals, measure=measure, count=count, pin=pin, summary_key=summary_key
        )
        self.swaps = Swaps(
            state,
            originals,
            self.planning.undone,
            measure=measure,
            summary_key=summary_key,
            undo_depth=undo_depth,
        )
        self._state = state
        self._originals = originals

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
        since: float | None = None,
    ) -> Flow[Outcome[Any]]:
        """Return a summarization that changes the list when its last completion is sent.

        Args:
            limits: How much to keep.
            settings: The options.
            backends: Number of summarizers in the fallback chain.
            windows: What is known of their windows, in the same order.
            senders: What they can send in append mode, in the same order.
            then: Takes what came of it, also of a flow that fails, and returns the flow's outcome;
                for a flow that a host runs, beside whatever else summarizes the list.
            since: When its time began to count, by `time.perf_counter`, where that is counted.
        """
        snapshot = self._state.snapshot(limits.abandon)
        plan, head = self.planning.prepared(limits, settings, snapshot=snapshot, senders=senders)
        # Rendered first, so that a template that fails costs no model call.
        notes = self.planning.notes(settings) if plan else Notes("", "")

        def ended(outcome: Outcome[Any]) -> Outcome[Any]:
            return then(outcome) if then is not None else outcome

        def finish(written: Written) -> Outcome[Any]:
            return self.commit(plan, written, notes, snapshot, since)

        def finish_alone(written: Written) -> Outcome[Any]:
            return ended(self._alone(written, finish))

        def failed(error: Exception) -> None:
            ended(self.failed(error))

        if head is None:
            return Flow(None, finish, ended(self.nothing(plan)))
        steps = self.planning.steps(plan, head, settings, backends, windows, snapshot)
        if then is None:
            return Flow(steps, finish, None)
        return Flow(steps, finish_alone, None, failed=failed)

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
        self.swaps.free()
        plan, head = self.planning.prepared(limits, settings, snapshot=snapshot, senders=senders)
        notes = self.planning.notes(settings) if plan else Notes("", "")

        def finish(written: Written) -> Draft | Outcome[Any]:
            wordings = self.planning.wordings(plan, snapshot, written, notes)
            first = self._charged(written, lambda: next(wordings))
            known = Known({}, first.id, first.tokens)
            saved = self._charged(
                written, lambda: self.swaps.saved(plan, snapshot, [first.item], known)
            )
            return Draft(plan, written, chain([first], wordings), saved)

        if head is None:
            return Flow(None, finish, self.nothing(plan))
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
        try:
            head_is_current(plan, snapshot.items, snapshot.prints)
            written = settled(
                completion, plan.prompt, plan.shown, self.planning.guard(plan), plan.terms
            )
        except ChatfoldError as error:
            error.usage = completion.usage
            raise
        cut = cut_texts(snapshot.views[plan.split.start : plan.split.cut], shown)
        written = replace(written, truncated=written.truncated + cut)
        return self.commit(plan, written, Notes(*plan.notes), snapshot)

    def commit(
        self,
        plan: Plan[Any],
        written: Written,
        notes: Notes,
        snapshot: Snapshot,
        since: float | None = None,
    ) -> Outcome[Any]:
        """Put a summary in place of the plan's head, or leave the list as it is.

        Args:
            plan: What it takes the place of.
            written: The model's words.
            notes: What the wrapper says about them.
            snapshot: A list with that head; the list itself is looked at when it is written to.
            since: See `flow`.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """

        def commit() -> Outcome[Any]:
            self.swaps.free()
            now = self._state.snapshot(plan.abandon)
            head_is_current(plan, now.items, now.prints)  # before anything is found in it
            return self._committed(plan, written, wordings, now, since=since)

        wordings = self.planning.wordings(plan, snapshot, written, notes)
        return self._charged(written, commit)

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
        if self._is_held(plan):
            return self._server_managed(written)
        for made in wordings:
            fields = {**_cost(written), "summary": written.text, "facts": made.report}
            known = Known(fields, made.id, made.tokens, saved, since)
            outcome = self.swaps.put(plan, [made.item], known, snapshot)
            if outcome is not None:
                return outcome
        return self._no_gain(plan, written)

    def commit_native(
        self, plan: Plan[Any], made: Compacted, saved: Fold | None = None
    ) -> Outcome[Any]:
        """Put what a provider wrote in place of the plan's region, or leave the list as it is.

        Args:
            plan: What it takes the place of.
            made: What the provider wrote.
            saved: What `saved_native` returned of that.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """

        def commit() -> Outcome[Any]:
            self.swaps.free()
            if self._is_held(plan):
                return self._server_managed(made)
            outcome = self.swaps.put(plan, made.items, _known(made)._replace(saved=saved))
            return outcome if outcome is not None else self._no_gain(plan, made)

        return self._charged(made, commit)

    def saved_native(self, plan: Plan[Any], made: Compacted, snapshot: Snapshot) -> Fold | None:
        """Write what a provider's fold will take out; see `Swaps.saved`.

        Raises:
            StoreError: It could not be written.
        """
        return self._charged(
            made, lambda: self.swaps.saved(plan, snapshot, made.items, _known(made))
        )

    def _alone(self, written: Written, finish: Callable[[Written], Outcome[Any]]) -> Outcome[Any]:
        """Return what a commit returns, `busy` where another summarization of the list runs."""
        if not self._state.running.acquire(blocking=False):
            return replace(self.idle("busy"), **_spent(written))
        try:
            return finish(written)
        finally:
            self._state.running.release()

    def _is_held(self, plan: Plan[Any]) -> bool:
        """Return whether the provider holds the history now: a response may have told of it."""
        return bool(self._state.held) and not plan.replay

    def _server_managed(self, made: Written | Compacted) -> Outcome[Any]:
        """Return the outcome of a fold of a history that the provider has come to hold."""
        size = self._state.extent().tokens
        held = self.nothing(self.planning.server_managed())
        return replace(held, tokens_before=size, tokens_after=size, **_spent(made))

    def _no_gain(self, plan: Plan[Any], made: Written | Compacted) -> Outcome[Any]:
        """Return the outcome of a fold that would not have made the list smaller."""
        self.planning.tried.add(plan.digest)
        remedy = remedy_for("no_gain", min_gain=plan.min_gain)
        return replace(self.nothing(plan), reason="no_gain", remedy=remedy, **_spent(made))

    def undo(self) -> Outcome[Any]:
        """Put back the originals of the latest fold: of this process, else from the store."""
        outcome = self.swaps.undo()
        return outcome if outcome is not None else self.idle("nothing_to_undo")

    def nothing(self, plan: Plan[Any]) -> Outcome[Any]:
        """Return the outcome of a plan with nothing to do."""
        return replace(nothing(plan), key=self._originals.key)

    def idle(self, reason: Reason, size: int | None = None) -> Outcome[Any]:
        """Return the outcome of a call that did nothing.

        Args:
            reason: Why.
            size: Size of the list in tokens, where it was counted a moment ago.
        """
        if size is None:
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


def _known(made: Compacted) -> Known:
    fields = {**_cost(made), "summary": made.readable}
    return Known(fields, stable_digest(made.items[-1]))


def _cost(made: Written | Compacted) -> dict[str, Any]:
    """Return what model calls have cost and how they went, as fields of an outcome."""
    if not isinstance(made, Written):
        return _spent(made)
    known = {"truncated": made.truncated, "mode": made.mode, "fell_back": made.fell_back}
    return _spent(made) | known


def _spent(made: Written | Compacted) -> dict[str, Any]:
    """Return what model calls have cost, as fields of an outcome."""
    return {"usage": made.usage, "llm_calls": made.llm_calls, "model": made.model}
