"""The folds of one list: written, put in, and taken back.

Not here: what a fold would replace, and what comes behind the model's words (`planning`); the
list as it is written to (`swaps`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from chatfold.core.clip import cut_texts
from chatfold.core.cost import Cost
from chatfold.core.digest import stable_digest
from chatfold.core.flow import Completion, Flow, Written
from chatfold.core.live import Sender
from chatfold.core.plan import (
    Outcome,
    Plan,
    Reason,
    by_size,
    nothing,
    remedy_for,
)
from chatfold.core.replacement import head_is_current
from chatfold.core.room import Window
from chatfold.core.snapshot import Snapshot
from chatfold.core.undo import Fold
from chatfold.core.views import ItemView
from chatfold.core.write import settled
from chatfold.errors import StaleHeadError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.planning import Limits, Notes, Planning, Wording
from chatfold.state import ListState
from chatfold.summarizers.native import Compacted, NativeCompaction
from chatfold.swaps import Known, Swaps

__all__ = ["Draft", "Folding", "charged"]


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
        cost: Cost,
        then: Callable[[Outcome[Any]], Outcome[Any]] | None = None,
    ) -> Flow[Outcome[Any]]:
        """Return a summarization that changes the list when its last completion is sent.

        Args:
            limits: How much to keep.
            settings: The options.
            backends: Number of summarizers in the fallback chain.
            windows: What is known of their windows, in the same order.
            senders: What they can send in append mode, in the same order.
            cost: Takes down what it costs.
            then: Takes what came of it, also of a flow that fails, and returns the flow's outcome;
                for a flow that a host runs, beside whatever else summarizes the list.

        Raises:
            StoreError: The originals could not be written; not known of a flow that a host runs.
        """
        snapshot = self._state.snapshot(limits.abandon)
        plan, head = self.planning.prepared(limits, settings, snapshot=snapshot, senders=senders)
        # Rendered first, so that a template that fails costs no model call.
        notes = self.planning.notes(settings) if plan else Notes("", "")

        def ended(outcome: Outcome[Any]) -> Outcome[Any]:
            return then(outcome) if then is not None else outcome

        def finish(written: Written) -> Outcome[Any]:
            return self.commit(plan, written, notes, snapshot, cost)

        def finish_alone(written: Written) -> Outcome[Any]:
            return ended(charged(self._alone(written, finish), cost))

        def failed(error: Exception) -> None:
            ended(self.failed(error, cost))

        if head is None:
            return Flow(None, finish, ended(self.nothing(plan)))
        steps = self.planning.steps(plan, head, settings, backends, windows, snapshot)
        if then is None:
            self._originals.try_out(plan.region, plan.terms.redact)
            return Flow(steps, finish, None, cost=cost)
        return Flow(steps, finish_alone, None, cost=cost, failed=failed)

    def draft(
        self,
        snapshot: Snapshot,
        limits: Limits,
        settings: Settings,
        backends: int,
        windows: Sequence[Window] = (),
        senders: Sequence[Sender] = (),
        *,
        cost: Cost,
        stopped: Callable[[], bool],
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
            cost: Takes down what it costs.
            stopped: Returns whether it was given up, so that nothing of it goes into a store.

        Raises:
            StoreError: The originals could not be written.
        """
        self.swaps.free()
        plan, head = self.planning.prepared(limits, settings, snapshot=snapshot, senders=senders)
        notes = self.planning.notes(settings) if plan else Notes("", "")

        def finish(written: Written) -> Draft | Outcome[Any]:
            wordings = self.planning.wordings(plan, snapshot, written, notes)
            first = next(wordings)
            known = Known({}, first.id, first.tokens)
            saved = self.swaps.saved(plan, snapshot, [first.item], known, stopped)
            return Draft(plan, written, chain([first], wordings), saved)

        if head is None:
            return Flow(None, finish, self.nothing(plan))
        steps = self.planning.steps(plan, head, settings, backends, windows, snapshot)
        if not stopped():  # else its conversation may have been erased
            self._originals.try_out(plan.region, plan.terms.redact)
        return Flow(steps, finish, None, cost=cost)

    def native_plan(
        self, native: NativeCompaction, limits: Limits, settings: Settings, snapshot: Snapshot
    ) -> Plan[Any]:
        """Return what a provider is to fold itself, falsy where there is nothing to do.

        Raises:
            StoreError: The originals could not be written.
        """
        plan = self.planning.native_plan(native, limits, settings, snapshot)
        if plan:
            self._originals.try_out(plan.region, plan.terms.redact)
        return plan

    def put(self, draft: Draft, cost: Cost) -> Outcome[Any]:
        """Put a draft in place of its head, or leave the list as it is.

        Args:
            draft: The draft.
            cost: What it has cost.

        Raises:
            StaleHeadError: The head changed since the draft was begun.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """
        plan, written, wordings, saved = draft
        now = self._state.snapshot(plan.abandon)
        return self._committed(plan, written, wordings, now, cost, saved=saved)

    def applied(self, plan: Plan[Any], completion: Completion, cost: Cost) -> Outcome[Any]:
        """Put a completion that somebody else asked for in place of the plan's head.

        Args:
            plan: What it takes the place of.
            completion: The completion.
            cost: Takes down what it has cost.

        Raises:
            SummaryError: The completion cannot stand as a summary.
            ValueError: The plan's prompt shows a part of the head, and nobody asked for the rest.
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
        """
        assert plan.prompt is not None
        assert plan.shown is not None
        cost.add(completion.usage, completion.model)
        shown = plan.prompt.views
        if len(shown) < len(plan.region):
            raise ValueError(
                f"the plan's prompt shows {len(shown)} of {len(plan.region)} items: the head "
                "needs several prompts; use ctx.flow(...), or pass a larger max_prompt_tokens="
            )
        snapshot = self._state.snapshot(plan.abandon)
        head_is_current(plan, snapshot)
        guard = self.planning.guard(plan)
        written = settled(completion, plan.prompt, plan.shown, guard, plan.terms)
        cut = cut_texts(snapshot.views[plan.split.start : plan.split.cut], shown)
        written = replace(written, truncated=written.truncated + cut)
        return self.commit(plan, written, Notes(*plan.notes), snapshot, cost)

    def commit(
        self,
        plan: Plan[Any],
        written: Written,
        notes: Notes,
        snapshot: Snapshot,
        cost: Cost,
    ) -> Outcome[Any]:
        """Put a summary in place of the plan's head, or leave the list as it is.

        Args:
            plan: What it takes the place of.
            written: The model's words.
            notes: What the wrapper says about them.
            snapshot: A list with that head; the list itself is looked at when it is written to.
            cost: What they have cost.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """
        wordings = self.planning.wordings(plan, snapshot, written, notes)
        self.swaps.free()
        now = self._state.snapshot(plan.abandon)
        head_is_current(plan, now)  # before anything is found in it
        return self._committed(plan, written, wordings, now, cost)

    def _committed(
        self,
        plan: Plan[Any],
        written: Written,
        wordings: Iterable[Wording],
        snapshot: Snapshot,
        cost: Cost,
        *,
        saved: Fold | None = None,
    ) -> Outcome[Any]:
        if self._is_held(plan):
            return self._server_managed(cost)
        for made in wordings:
            fields = {**_how(written), "summary": written.text, "facts": made.report}
            known = Known(fields, made.id, made.tokens, saved, cost)
            outcome = self.swaps.put(plan, [made.item], known, snapshot)
            if outcome is not None:
                return outcome
        return self._no_gain(plan, cost)

    def commit_native(
        self, plan: Plan[Any], made: Compacted, saved: Fold | None, cost: Cost
    ) -> Outcome[Any]:
        """Put what a provider wrote in place of the plan's region, or leave the list as it is.

        Args:
            plan: What it takes the place of.
            made: What the provider wrote.
            saved: What `saved_native` returned of that.
            cost: What it has cost.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """
        self.swaps.free()
        if self._is_held(plan):
            return self._server_managed(cost)
        known = _known(made)._replace(saved=saved, cost=cost)
        outcome = self.swaps.put(plan, made.items, known)
        return outcome if outcome is not None else self._no_gain(plan, cost)

    def saved_native(
        self,
        plan: Plan[Any],
        made: Compacted,
        snapshot: Snapshot,
        stopped: Callable[[], bool],
    ) -> Fold | None:
        """Write what a provider's fold will take out; see `Swaps.saved`.

        Raises:
            CancelledError: It was given up.
            StoreError: It could not be written.
        """
        return self.swaps.saved(plan, snapshot, made.items, _known(made), stopped)

    def _alone(self, written: Written, finish: Callable[[Written], Outcome[Any]]) -> Outcome[Any]:
        """Return what a commit returns, `busy` where another summarization of the list runs."""
        if not self._state.running.acquire(blocking=False):
            return self.idle("busy")
        try:
            return finish(written)
        finally:
            self._state.running.release()

    def _is_held(self, plan: Plan[Any]) -> bool:
        """Return whether the provider holds the history now: a response may have told of it."""
        return bool(self._state.held) and not plan.replay

    def _server_managed(self, cost: Cost) -> Outcome[Any]:
        """Return the outcome of a fold of a history that the provider has come to hold."""
        return charged(self.by_now(self.nothing(self.planning.server_managed())), cost)

    def _no_gain(self, plan: Plan[Any], cost: Cost) -> Outcome[Any]:
        """Return the outcome of a fold that would not have made the list smaller."""
        self.planning.tried.add(plan.digest)
        remedy = remedy_for("no_gain", min_gain=plan.min_gain)
        idle = self.by_now(self.nothing(plan))
        return charged(replace(idle, reason="no_gain", remedy=remedy), cost)

    def undo(self) -> Outcome[Any]:
        """Put back the originals of the latest fold: of this process, else from the store."""
        outcome = self.swaps.undo()
        return outcome if outcome is not None else self.idle("nothing_to_undo")

    def nothing(self, plan: Plan[Any]) -> Outcome[Any]:
        """Return the outcome of a plan with nothing to do."""
        return replace(nothing(plan), key=self._originals.key)

    def by_now(self, outcome: Outcome[Any]) -> Outcome[Any]:
        """Return the outcome of a plan that came to nothing, by the list as it is now.

        To be called by the list's owner: items may have come since the plan was made.
        """
        return by_size(outcome, self._state.extent().tokens)

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

    def failed(self, error: BaseException, cost: Cost) -> Outcome[Any]:
        """Return the outcome of a summarization that ended in an error; both say what it cost."""
        cost.charge(error)
        idle = self.idle("stale" if isinstance(error, StaleHeadError) else "failed")
        return charged(replace(idle, error=error), cost)


def charged(outcome: Outcome[Any], cost: Cost) -> Outcome[Any]:
    """Return an outcome that says what it cost; one that was timed says so already.

    Args:
        outcome: What happened.
        cost: What it has cost, timed by `time.perf_counter`.
    """
    return outcome if outcome.seconds else replace(outcome, **cost.fields(time.perf_counter()))


def _known(made: Compacted) -> Known:
    return Known({"summary": made.readable}, stable_digest(made.items[-1]))


def _how(made: Written) -> dict[str, Any]:
    """Return how the model calls went, as fields of an outcome."""
    return {"truncated": made.truncated, "mode": made.mode, "fell_back": made.fell_back}
