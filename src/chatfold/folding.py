"""The folds of one list: planned, written, put in, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, Final, NamedTuple

from chatfold.core.calls import Abandon, frozen_abandon
from chatfold.core.clip import cut_texts
from chatfold.core.commit import Verdict, judge
from chatfold.core.compose import composed, sources
from chatfold.core.digest import stable_digest
from chatfold.core.flow import Completion, Flow, Written, accept
from chatfold.core.guard import Guard, Guarded
from chatfold.core.parts import Head
from chatfold.core.plan import (
    Outcome,
    Plan,
    Reason,
    Replacement,
    head_is_current,
    nothing,
    remedy_for,
)
from chatfold.core.prepare import Wish, make_plan
from chatfold.core.reading import Snapshot
from chatfold.core.render import redacted
from chatfold.core.room import Window
from chatfold.core.split import Split
from chatfold.core.summary import summary_id, wrapped
from chatfold.core.undo import Fold, unfolded
from chatfold.core.views import ItemView, OpaquePart, TextPart
from chatfold.core.write import write_summary
from chatfold.errors import ChatfoldError, ShapeError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.state import ListState
from chatfold.summarizers.native import Compacted, NativeCompaction

__all__ = ["Folding", "Limits"]

DEFAULT_KEEP_LAST_TURNS: Final = 2


class Notes(NamedTuple):
    """What the wrapper of a summary says about it: without a record behind it, and with one."""

    plain: str
    with_record: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a caller wants to keep; an ellipsis stands for the default."""

    keep_last_turns: int | None | EllipsisType = ...
    keep_tokens: int | None | EllipsisType = ...
    abandon: Abandon | None = None
    force: bool = False
    replay: bool = False

    def __post_init__(self) -> None:
        """Read the ids to give up once: they may come from a generator, or change later."""
        object.__setattr__(self, "abandon", frozen_abandon(self.abandon))

    def turns(self) -> int | None:
        """Return the turns to keep: by default 2, or no limit where tokens are given."""
        if isinstance(self.keep_last_turns, EllipsisType):
            return DEFAULT_KEEP_LAST_TURNS if self.tokens() is None else None
        return self.keep_last_turns

    def tokens(self) -> int | None:
        """Return the tokens to keep, by default no limit."""
        return None if isinstance(self.keep_tokens, EllipsisType) else self.keep_tokens


class Folding:
    """The folds of one list.

    Args:
        state: The list.
        originals: Where folds are written before they take place.
        measure: Returns the sizes of items in tokens, given their views.
        pin: Returns whether an item stays in every fold.
        summary_key: Secret that the digests of summaries are made with.
        undo_depth: Number of folds that can be taken back.
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
        self._state = state
        self._originals = originals
        self._measure = measure
        self._pin = pin
        self._summary_key = summary_key
        self._undo_depth = undo_depth
        self._folds: list[Fold] = []
        self._tried: set[str] = set()

    def plan(self, limits: Limits, settings: Settings) -> Plan[Any]:
        """Return what a summarization would replace."""
        return self._prepared(limits, settings)[0]

    def _prepared(
        self, limits: Limits, settings: Settings, own: Callable[[Any], bool] | None = None
    ) -> tuple[Plan[Any], Head | None]:
        """Return what a summarization would replace, and what its prompts are made of."""
        if self._state.held and not limits.replay:
            held = Split(0, 0)
            return Plan(None, (), (), 0, "server_managed", held, held=self._state.held), None
        wish = Wish(
            keep_last_turns=limits.turns(),
            keep_tokens=limits.tokens(),
            abandon=limits.abandon,
            pinned=self._pin,
            language=settings.language,
            max_summary_tokens=settings.max_summary_tokens,
            summary_role=settings.summary_role,
            min_gain=settings.min_gain,
            tried=() if limits.force else self._tried,
            max_prompt_tokens=settings.max_prompt_tokens,
            terms=settings.terms(),
            own=own,
        )
        snapshot = self._state.snapshot(limits.abandon)
        return make_plan(snapshot, settings.renderer(), wish, self._count)

    def flow(
        self, limits: Limits, settings: Settings, backends: int, windows: Sequence[Window] = ()
    ) -> Flow[Outcome[Any]]:
        """Return a summarization that changes the list when its last completion is sent.

        Args:
            limits: How much to keep.
            settings: The options.
            backends: Number of summarizers in the fallback chain.
            windows: What is known of their windows, in the same order.
        """
        plan, head = self._prepared(limits, settings)
        # Rendered first, so that a template that fails costs no model call.
        notes = self.notes(settings) if plan else Notes("", "")

        def finish(written: Written) -> Outcome[Any]:
            return self.commit(plan, written, notes)

        if head is None:
            return Flow(None, finish, nothing(plan))
        steps = write_summary(
            head,
            backends=backends,
            windows=windows,
            most=settings.max_prompt_tokens,
            guard=self._guard(plan),
            redact=settings.redact,
            post_process=settings.post_process,
        )
        return Flow(steps, finish, None)

    def notes(self, settings: Settings) -> Notes:
        """Return what the wrapper of a summary says about it, with a record behind it and without.

        Raises:
            TemplateError: The template does not load or render.
        """
        render = settings.renderer().render
        return Notes(
            *(
                render("summary_note.jinja", recall=self._originals.tool, record=record)
                for record in (False, True)
            )
        )

    def applied(self, plan: Plan[Any], completion: Completion, notes: Notes) -> Outcome[Any]:
        """Put a completion that somebody else asked for in place of the plan's head.

        Raises:
            SummaryError: The completion cannot stand as a summary.
            ValueError: The plan's prompt shows a part of the head, and nobody asked for the rest.
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
        """
        shown = plan.prompt.views if plan.prompt is not None else ()
        if len(shown) < len(plan.region):
            raise ValueError(
                f"the plan's prompt shows {len(shown)} of {len(plan.region)} items: the head "
                "needs several prompts; use ctx.flow(...), or pass a larger max_prompt_tokens="
            )
        text = redacted(accept(completion), plan.terms.redact)
        snapshot = self._state.snapshot(plan.abandon)
        head_is_current(plan, snapshot.items, snapshot.prints)
        proven = self._guard(plan).settled(text)
        written = Written(
            proven.text,
            completion.usage,
            0,
            completion.model,
            cut_texts(snapshot.views[plan.split.start : plan.split.cut], shown),
            ungrounded=proven.ungrounded,
            dropped=proven.dropped,
        )
        return self.commit(plan, written, notes)

    def commit(self, plan: Plan[Any], written: Written, notes: Notes) -> Outcome[Any]:
        """Put a summary in place of the plan's head, or leave the list as it is.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """
        try:
            return self._committed(plan, written, notes)
        except ChatfoldError as error:
            error.usage, error.llm_calls = written.usage, written.llm_calls
            raise

    def _committed(self, plan: Plan[Any], written: Written, notes: Notes) -> Outcome[Any]:
        snapshot = self._state.snapshot(plan.abandon)
        head_is_current(plan, snapshot.items, snapshot.prints)
        proven = Guarded(written.text, written.ungrounded, written.dropped)
        texts = composed(plan, snapshot, proven, lambda text: self._count([text])[0])
        for made in texts:  # what is found in the head is found outside of the lock
            note = notes.with_record if made.report.record else notes.plain
            text = wrapped(made.text, note, self._summary_key)
            item = snapshot.shape.summary_item(text, role=plan.summary_role)
            cost = replace(self._cost(written), summary=written.text, facts=made.report)
            outcome = self._put_in(plan, [item], cost, summary_id(text))
            if outcome is not None:
                return outcome
        self._tried.add(plan.digest)
        return replace(
            nothing(plan), reason="no_gain", remedy=remedy_for("no_gain"), **_spent(written)
        )

    def commit_native(self, plan: Plan[Any], made: Compacted) -> Outcome[Any]:
        """Put what a provider wrote in place of the plan's region, or leave the list as it is.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """
        try:
            cost = replace(self._cost(made), summary=made.readable)
            outcome = self._put_in(plan, made.items, cost, stable_digest(made.items[-1]))
        except ChatfoldError as error:
            error.usage, error.llm_calls = made.usage, made.llm_calls
            raise
        if outcome is not None:
            return outcome
        self._tried.add(plan.digest)
        return replace(
            nothing(plan), reason="no_gain", remedy=remedy_for("no_gain"), **_spent(made)
        )

    def native_plan(
        self, native: NativeCompaction, limits: Limits, settings: Settings
    ) -> Plan[Any]:
        """Return what a provider would fold itself.

        Raises:
            ShapeError: The list is of another shape than the backend folds.
            ValueError: The backend takes no such instructions, or no such prefix.
        """
        shape = self._state.snapshot(limits.abandon).shape
        candidates = getattr(shape, "candidates", (shape,))
        if all(candidate.name != native.shape for candidate in candidates):
            raise ShapeError(
                f"{native!r} folds lists of {native.shape}, and this one is of {shape.name}",
                shape=shape.name,
            )
        plan = self._prepared(limits, settings, native.owns)[0]
        if plan:
            native.check(prefix=plan.prefix, instructions=settings.compaction_instructions())
        return plan

    def _put_in(
        self, plan: Plan[Any], written: Sequence[Any], cost: Outcome[Any], fold_id: str
    ) -> Outcome[Any] | None:
        """Put items in place of the plan's region; None where the list would not get smaller.

        The list is judged as it is when it is written to: others may append to it while it is
        judged, and while the store writes the originals.
        """
        with self._state.lock:
            while True:
                snapshot = self._state.reading.snapshot(abandon=plan.abandon)
                verdict = judge(
                    plan, snapshot, written, measure=self._measure, summary_key=self._summary_key
                )
                if not verdict.gains(plan.min_gain):
                    return None
                fold = _fold(plan, verdict.replacement, len(written))
                if not self._state.has_grown(snapshot):
                    self._originals.keep(fold, fold_id, plan.terms.redact)
                if not self._state.has_grown(snapshot):
                    break
            self._state.swap(verdict.replacement)
            self._folds.append(fold)
            del self._folds[: max(0, len(self._folds) - self._undo_depth)]
            if self._state.held:
                self._state.held, self._state.replayed = "", True
            return self._outcome(plan, cost, snapshot, verdict, fold, fold_id)

    def _cost(self, made: Written | Compacted) -> Outcome[Any]:
        """Return an outcome that says what the model calls have cost."""
        outcome: Outcome[Any] = Outcome(True, "summarized", **_spent(made))
        return replace(outcome, truncated=made.truncated) if isinstance(made, Written) else outcome

    def _outcome(
        self,
        plan: Plan[Any],
        cost: Outcome[Any],
        snapshot: Snapshot,
        verdict: Verdict,
        fold: Fold,
        fold_id: str,
    ) -> Outcome[Any]:
        made = verdict.replacement
        return replace(
            cost,
            item=fold.summary,
            removed=_gone(plan, made) if plan.native else plan.head,
            kept=made.kept if plan.native else plan.kept,
            merged=verdict.replacement.merged,
            stripped=verdict.replacement.stripped,
            tokens_before=verdict.tokens_before,
            tokens_after=verdict.tokens_after,
            blocked_by=plan.blocked_by,
            omitted=plan.omitted,
            requirements=(
                *snapshot.shape.requirements(verdict.views, model=self._state.model),
                *self._state.replay(snapshot),
            ),
            problems=verdict.problems,
            fold_id=fold_id,
            key=self._originals.key,
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
            self._tried.add(fold.digest)
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
        size = sum(self._state.snapshot().sizes)
        return Outcome(
            changed=False,
            reason=reason,
            tokens_before=size,
            tokens_after=size,
            remedy=remedy_for(reason),
        )

    def _count(self, texts: Sequence[str]) -> list[int]:
        """Return the sizes of texts in tokens, as those of items are measured."""
        views = [ItemView("user", (TextPart(text),)) for text in ("", *texts)]
        frame, *sizes = self._measure(views)
        return [size - frame for size in sizes]

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

    def _guard(self, plan: Plan[Any]) -> Guard:
        """Return what compares a summary with the plan's head."""
        return Guard(
            plan.terms.grounding, lambda: sources(plan, self._state.snapshot(plan.abandon))
        )


def _spent(made: Written | Compacted) -> dict[str, Any]:
    """Return what model calls have cost, as fields of an outcome."""
    return {"usage": made.usage, "llm_calls": made.llm_calls, "model": made.model}


def _fold(plan: Plan[Any], made: Replacement[Any], written: int) -> Fold:
    """Return what a fold took out; it is found again by the last new item that was written."""
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
