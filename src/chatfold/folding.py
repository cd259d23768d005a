"""The folds of one list: planned, written, put in, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, Final

from chatfold.core.calls import Abandon, frozen_abandon
from chatfold.core.commit import Verdict, judge
from chatfold.core.flow import Flow, Written, write_summary
from chatfold.core.plan import Outcome, Plan, Reason, nothing, remedy_for
from chatfold.core.prepare import Wish, make_plan
from chatfold.core.reading import Snapshot
from chatfold.core.split import Split
from chatfold.core.summary import wrapped
from chatfold.core.undo import Fold, unfolded
from chatfold.core.views import ItemView
from chatfold.errors import ChatfoldError
from chatfold.options import Settings
from chatfold.state import ListState

__all__ = ["Folding", "Limits"]

DEFAULT_KEEP_LAST_TURNS: Final = 2


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
        measure: Returns the sizes of items in tokens, given their views.
        pin: Returns whether an item stays in every fold.
        summary_key: Secret that the digests of summaries are made with.
        undo_depth: Number of folds that can be taken back.
    """

    def __init__(
        self,
        state: ListState,
        *,
        measure: Callable[[Sequence[ItemView]], list[int]],
        pin: Callable[[Any], bool] | None,
        summary_key: bytes | None,
        undo_depth: int,
    ) -> None:
        self._state = state
        self._measure = measure
        self._pin = pin
        self._summary_key = summary_key
        self._undo_depth = undo_depth
        self._folds: list[Fold] = []
        self._tried: set[str] = set()

    def plan(self, limits: Limits, settings: Settings) -> Plan[Any]:
        """Return what a summarization would replace."""
        if self._state.held and not limits.replay:
            return Plan(None, (), (), 0, "server_managed", Split(0, 0), held=self._state.held)
        wish = Wish(
            keep_last_turns=limits.turns(),
            keep_tokens=limits.tokens(),
            abandon=limits.abandon,
            pinned=self._pin,
            instructions=settings.instructions,
            language=settings.language,
            max_summary_tokens=settings.max_summary_tokens,
            redact=settings.redact,
            summary_role=settings.summary_role,
            min_gain=settings.min_gain,
            tried=() if limits.force else self._tried,
        )
        return make_plan(self._state.snapshot(limits.abandon), settings.renderer(), wish)

    def flow(self, limits: Limits, settings: Settings, backends: int) -> Flow[Outcome[Any]]:
        """Return a summarization that changes the list when its last completion is sent."""
        plan = self.plan(limits, settings)
        note = self.note(settings) if plan else ""  # a template that fails costs no model call

        def finish(written: Written) -> Outcome[Any]:
            return self.commit(plan, written, note)

        if plan.prompt is None:
            return Flow(None, finish, nothing(plan))
        steps = write_summary(
            plan.prompt,
            backends=backends,
            redact=settings.redact,
            post_process=settings.post_process,
        )
        return Flow(steps, finish, None)

    def note(self, settings: Settings) -> str:
        """Return what the wrapper of a summary says about it.

        Raises:
            TemplateError: The template does not load or render.
        """
        return settings.renderer().render("summary_note.jinja")

    def commit(self, plan: Plan[Any], written: Written, note: str) -> Outcome[Any]:
        """Put a summary in place of the plan's head, or leave the list as it is.

        Raises:
            StaleHeadError: The head changed since the plan was made.
            InvalidResultError: The new list would break the provider's rules.
        """
        text = wrapped(written.text, note, self._summary_key)
        with self._state.lock:
            try:
                snapshot = self._state.reading.snapshot(abandon=plan.abandon)
                item = snapshot.shape.summary_item(text, role=plan.summary_role)
                verdict = self._judge(plan, snapshot, item)
                while verdict.gains(plan.min_gain) and len(self._state.items) != len(
                    snapshot.items
                ):
                    snapshot = self._state.reading.snapshot(abandon=plan.abandon)
                    verdict = self._judge(plan, snapshot, item)
            except ChatfoldError as error:
                error.usage, error.llm_calls = written.usage, written.llm_calls
                raise
            if not verdict.gains(plan.min_gain):
                self._tried.add(plan.digest)
                return replace(
                    nothing(plan),
                    reason="no_gain",
                    usage=written.usage,
                    llm_calls=written.llm_calls,
                    model=written.model,
                    remedy=remedy_for("no_gain"),
                )
            made = verdict.replacement
            item = made.items[0]
            self._state.swap(made)
            region = (*plan.region, *made.taken)
            self._remember(Fold(item, region, made.kept, plan.digest, len(made.items) - 1))
            if self._state.held:
                self._state.held, self._state.replayed = "", True
        return Outcome(
            changed=True,
            reason="summarized",
            summary=written.text,
            item=item,
            removed=plan.head,
            kept=plan.kept,
            merged=verdict.replacement.merged,
            tokens_before=verdict.tokens_before,
            tokens_after=verdict.tokens_after,
            usage=written.usage,
            llm_calls=written.llm_calls,
            blocked_by=plan.blocked_by,
            omitted=plan.omitted,
            requirements=(
                *snapshot.shape.requirements(verdict.views, model=self._state.model),
                *self._state.replay(snapshot),
            ),
            problems=verdict.problems,
            fold_id=text.split('"', 2)[1],
            model=written.model,
        )

    def undo(self) -> Outcome[Any]:
        """Put back the originals of the latest fold."""
        with self._state.lock:
            before = sum(self._state.reading.snapshot().sizes)
            if not self._folds:
                return self.idle("nothing_to_undo")
            fold = self._folds[-1]
            back = unfolded(fold, list(self._state.items))
            if back is None:
                return self.idle("nothing_to_undo")
            self._state.swap(back)
            self._folds.pop()
            self._tried.add(fold.digest)
            after = sum(self._state.reading.snapshot().sizes)
        return Outcome(
            changed=True,
            reason="undone",
            removed=(fold.summary,),
            kept=fold.kept,
            tokens_before=before,
            tokens_after=after,
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

    def _judge(self, plan: Plan[Any], snapshot: Snapshot, item: Any) -> Verdict:
        return judge(plan, snapshot, item, measure=self._measure, summary_key=self._summary_key)

    def _remember(self, fold: Fold) -> None:
        self._folds.append(fold)
        del self._folds[: max(0, len(self._folds) - self._undo_depth)]
