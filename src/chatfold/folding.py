"""The folds of one list: planned, written, put in, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import EllipsisType
from typing import Any, Final, NamedTuple

from chatfold.core.append import omitted_from, shown_for
from chatfold.core.calls import Abandon, frozen_abandon
from chatfold.core.clip import cut_texts
from chatfold.core.commit import Verdict, judge
from chatfold.core.compose import composed
from chatfold.core.digest import stable_digest
from chatfold.core.flow import Completion, Flow, Steps, Written
from chatfold.core.guard import FactReport, Guard, Guarded
from chatfold.core.live import LIVE_SHAPES, Sender
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
from chatfold.core.room import Window
from chatfold.core.split import Split, check_limits, prefix_length
from chatfold.core.summary import summary_id, wrapped
from chatfold.core.undo import Fold, unfolded
from chatfold.core.views import ItemView, OpaquePart, TextPart
from chatfold.core.write import settled, write_summary
from chatfold.errors import ChatfoldError, ShapeError, StaleHeadError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.state import ListState
from chatfold.summarizers.native import Compacted, NativeCompaction

__all__ = ["HOST", "Draft", "Folding", "Limits"]

HOST: Final = (Sender(LIVE_SHAPES),)
"""Who makes the model calls itself can send any live request."""

DEFAULT_KEEP_LAST_TURNS: Final = 2


class Notes(NamedTuple):
    """What the wrapper of a summary says about it: without a record behind it, and with one."""

    plain: str
    with_record: str


class Draft(NamedTuple):
    """What can go into a list in place of a head.

    Attributes:
        plan: What it takes the place of.
        written: The model's words.
        texts: The summary in its wrapper, and what was found and proven; the whole first, then
            with less behind the model's words, made when it is asked for.
    """

    plan: Plan[Any]
    written: Written
    texts: Iterator[tuple[str, FactReport]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a caller wants to keep; an ellipsis stands for the default."""

    keep_last_turns: int | None | EllipsisType = ...
    keep_tokens: int | None | EllipsisType = ...
    abandon: Abandon | None = None
    force: bool = False
    replay: bool = False

    def __post_init__(self) -> None:
        """Check the numbers; read the ids once: they may come from a generator, or change later."""
        check_limits(self.turns(), self.tokens())
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

    @property
    def key(self) -> str | None:
        """The conversation's key in a store."""
        return self._originals.key

    def plan(self, limits: Limits, settings: Settings) -> Plan[Any]:
        """Return what a summarization would replace."""
        plan = self._prepared(limits, settings, senders=HOST)[0]
        return replace(plan, notes=self.notes(settings)) if plan else plan

    def _prepared(
        self,
        limits: Limits,
        settings: Settings,
        own: Callable[[Any], bool] | None = None,
        snapshot: Snapshot | None = None,
        senders: Sequence[Sender] = (),
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
            mode=settings.mode,
            senders=senders,
            request=settings.request,
        )
        snapshot = snapshot or self._state.snapshot(limits.abandon)
        plan, head = make_plan(snapshot, settings.renderer(), wish, self._count)
        if plan and _cannot_gain(plan, snapshot):
            return replace(plan, prompt=None, reason="no_gain"), None
        return plan, head

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
        plan, head = self._prepared(limits, settings, senders=senders)
        # Rendered first, so that a template that fails costs no model call.
        notes = self.notes(settings) if plan else Notes("", "")

        def finish(written: Written) -> Outcome[Any]:
            outcome = self.commit(plan, written, notes)
            return then(outcome) if then is not None else outcome

        if head is None:
            return Flow(None, finish, nothing(plan))
        return Flow(self._steps(plan, head, settings, backends, windows), finish, None)

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
        plan, head = self._prepared(limits, settings, snapshot=snapshot, senders=senders)
        notes = self.notes(settings) if plan else Notes("", "")

        def finish(written: Written) -> Draft | Outcome[Any]:
            texts = self._texts(plan, snapshot, written, notes)
            return Draft(plan, written, chain([next(texts)], texts))

        if head is None:
            return Flow(None, finish, nothing(plan))
        steps = self._steps(plan, head, settings, backends, windows, snapshot)
        return Flow(steps, finish, None)

    def put(self, draft: Draft) -> Outcome[Any]:
        """Put a draft in place of its head, or leave the list as it is.

        Raises:
            StaleHeadError: The head changed since the draft was begun.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """
        return self._charged(draft.written, lambda: self._committed(*draft))

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
            verdict = judge(
                plan, snapshot, [item], measure=self._measure, summary_key=self._summary_key
            )
            self._state.swap(verdict.replacement)
            fold = _fold(plan, verdict.replacement, 1)
            made: Outcome[Any] = Outcome(True, "reused")
            return self._outcome(plan, made, snapshot, verdict, fold, summary_id(text))

    def _steps(
        self,
        plan: Plan[Any],
        head: Head,
        settings: Settings,
        backends: int,
        windows: Sequence[Window],
        snapshot: Snapshot | None = None,
    ) -> Steps:
        return write_summary(
            head,
            backends=backends,
            windows=windows,
            most=settings.max_prompt_tokens,
            guard=self._guard(plan, snapshot),
            terms=plan.terms,
            append=plan.append,
        )

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
        written = settled(completion, plan.prompt, plan.shown, self._guard(plan), plan.terms)
        cut = cut_texts(snapshot.views[plan.split.start : plan.split.cut], shown)
        return self.commit(
            plan, replace(written, truncated=written.truncated + cut), Notes(*plan.notes)
        )

    def commit(self, plan: Plan[Any], written: Written, notes: Notes) -> Outcome[Any]:
        """Put a summary in place of the plan's head, or leave the list as it is.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
            StoreError: The originals could not be written.
        """
        snapshot = self._state.snapshot(plan.abandon)
        texts = self._texts(plan, snapshot, written, notes)
        return self._charged(written, lambda: self._committed(plan, written, texts))

    def _charged(
        self, made: Written | Compacted, commit: Callable[[], Outcome[Any]]
    ) -> Outcome[Any]:
        """Return what a commit returns; its errors say what has been spent."""
        try:
            return commit()
        except ChatfoldError as error:
            error.usage, error.llm_calls = made.usage, made.llm_calls
            raise

    def _texts(
        self, plan: Plan[Any], snapshot: Snapshot, written: Written, notes: Notes
    ) -> Iterator[tuple[str, FactReport]]:
        """Yield a summary in its wrapper, the whole first, then with less behind its words.

        What is found in the head for it is found outside of the lock.
        """
        proven = Guarded(written.text, written.ungrounded, written.dropped)
        for made in composed(plan, snapshot, proven, self._counted_once()):
            note = notes.with_record if made.report.record else notes.plain
            yield wrapped(made.text, note, self._summary_key), made.report

    def _committed(
        self, plan: Plan[Any], written: Written, texts: Iterable[tuple[str, FactReport]]
    ) -> Outcome[Any]:
        snapshot = self._state.snapshot(plan.abandon)
        head_is_current(plan, snapshot.items, snapshot.prints)
        for text, report in texts:
            item = snapshot.shape.summary_item(text, role=plan.summary_role)
            cost = replace(self._cost(written), summary=written.text, facts=report)
            outcome = self._put_in(plan, [item], cost, summary_id(text), snapshot)
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
            cost = replace(self._cost(made), summary=made.readable)
            outcome = self._put_in(plan, made.items, cost, stable_digest(made.items[-1]))
            return outcome if outcome is not None else self._no_gain(plan, made)

        return self._charged(made, commit)

    def _no_gain(self, plan: Plan[Any], made: Written | Compacted) -> Outcome[Any]:
        """Return the outcome of a fold that would not have made the list smaller."""
        self._tried.add(plan.digest)
        return replace(
            nothing(plan), reason="no_gain", remedy=remedy_for("no_gain"), **_spent(made)
        )

    def native_plan(
        self,
        native: NativeCompaction,
        limits: Limits,
        settings: Settings,
        snapshot: Snapshot | None = None,
    ) -> Plan[Any]:
        """Return what a provider would fold itself: of the list, or of a snapshot of it.

        Raises:
            ShapeError: The list is of another shape than the backend folds.
            ValueError: The backend takes no such instructions, or no such prefix.
        """
        snapshot = snapshot or self._state.snapshot(limits.abandon)
        shape = snapshot.shape
        candidates = getattr(shape, "candidates", (shape,))
        if all(candidate.name != native.shape for candidate in candidates):
            raise ShapeError(
                f"{native!r} folds lists of {native.shape}, and this one is of {shape.name}",
                shape=shape.name,
            )
        plan = self._prepared(limits, settings, native.owns, snapshot)[0]
        if plan:
            native.check(prefix=plan.prefix, instructions=settings.compaction_instructions())
        return plan

    def _put_in(
        self,
        plan: Plan[Any],
        written: Sequence[Any],
        cost: Outcome[Any],
        fold_id: str,
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
        if not isinstance(made, Written):
            return outcome
        truncated, fell_back = made.truncated, made.fell_back
        return replace(outcome, truncated=truncated, mode=made.mode, fell_back=fell_back)

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
            omitted=omitted_from(plan, cost.mode),
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

    def _counted_once(self) -> Callable[[str], int]:
        """Return what counts one text, and counts none of them twice."""

        def size(text: str) -> int:
            return self._measure([ItemView("user", (TextPart(text),))])[0]

        frame, known = size(""), dict[str, int]()

        def count(text: str) -> int:
            found = known.get(text)
            if found is None:
                found = known[text] = size(text) - frame
            return found

        return count

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

    def _guard(self, plan: Plan[Any], snapshot: Snapshot | None = None) -> Guard:
        """Return what compares a summary with the plan's head."""
        return Guard(
            plan.terms.grounding,
            lambda: shown_for(plan, snapshot or self._state.snapshot(plan.abandon)),
        )


def _cannot_gain(plan: Plan[Any], snapshot: Snapshot) -> bool:
    """Return whether even an empty summary would save less than is wanted: no call is due then."""
    if plan.terms.thinking == "strip":  # the tail gets smaller too
        return False
    kept = sum(snapshot.sizes[i] for i in plan.split.kept)
    gone = sum(snapshot.sizes[plan.split.start : plan.index]) - kept
    return gone < plan.min_gain * plan.tokens_before


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
