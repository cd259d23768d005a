"""The state of one list between folds, and the steps that change it.

`ChatContext` is the public face of this; here are the readings that are kept, the folds that can
be taken back, and the one place where the caller's list is written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, Final

from chatfold.core.calls import Abandon, frozen_abandon
from chatfold.core.commit import Verdict, judge
from chatfold.core.flow import Flow, Written, write_summary
from chatfold.core.plan import Outcome, Plan, Reason, Replacement, nothing, remedy_for
from chatfold.core.prepare import Wish, make_plan
from chatfold.core.reading import Reading, Snapshot
from chatfold.core.split import Split
from chatfold.core.summary import wrapped
from chatfold.core.undo import Fold, unfolded
from chatfold.core.views import ItemView
from chatfold.errors import ChatfoldError
from chatfold.options import Settings

__all__ = ["Folding", "Limits"]

DEFAULT_KEEP_LAST_TURNS: Final = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a caller wants to keep; an ellipsis stands for the default."""

    keep_last_turns: int | None | EllipsisType = ...
    keep_tokens: int | None | EllipsisType = ...
    abandon: Abandon | None = None
    force: bool = False

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
    """One list with its readings, its folds, and the only code that writes to it.

    Args:
        items: The caller's list.
        reading: Keeps the readings of that list.
        measure: Returns the sizes of items in tokens, given their views.
        pin: Returns whether an item stays in every fold.
        model: The agent's model.
        server_managed: Whether the provider holds the history.
        summary_key: Secret that the digests of summaries are made with.
        undo_depth: Number of folds that can be taken back.
    """

    def __init__(
        self,
        items: list[Any],
        reading: Reading,
        *,
        measure: Callable[[Sequence[ItemView]], list[int]],
        pin: Callable[[Any], bool] | None,
        model: str | None,
        server_managed: bool,
        summary_key: bytes | None,
        undo_depth: int,
    ) -> None:
        self.items = items
        self.reading = reading
        self.running = threading.Lock()  # held while a summary is being written
        self._measure = measure
        self._pin = pin
        self._model = model
        self._server_managed = server_managed
        self._summary_key = summary_key
        self._undo_depth = undo_depth
        self._folds: list[Fold] = []
        self._tried: set[str] = set()
        self._lock = threading.RLock()  # guards the readings; never held during a model call

    def snapshot(self, abandon: Abandon | None = None) -> Snapshot:
        """Return the list as it is now, with its readings."""
        with self._lock:
            return self.reading.snapshot(abandon=abandon)

    def plan(self, limits: Limits, settings: Settings) -> Plan[Any]:
        """Return what a summarization would replace."""
        if self._server_managed:
            return Plan(None, (), (), 0, "server_managed", Split(0, 0))
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
        return make_plan(self.snapshot(limits.abandon), settings.renderer(), wish)

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
        with self._lock:
            try:
                snapshot = self.reading.snapshot(abandon=plan.abandon)
                item = snapshot.shape.summary_item(text, role=plan.summary_role)
                verdict = self._judge(plan, snapshot, item)
                while verdict.gains(plan.min_gain) and len(self.items) != len(snapshot.items):
                    snapshot = self.reading.snapshot(abandon=plan.abandon)
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
            self._swap(verdict.replacement)
            extent = len(verdict.replacement.items) - 1
            self._remember(Fold(item, plan.region, plan.kept, plan.digest, extent))
        return Outcome(
            changed=True,
            reason="summarized",
            summary=written.text,
            item=item,
            removed=plan.head,
            kept=plan.kept,
            tokens_before=verdict.tokens_before,
            tokens_after=verdict.tokens_after,
            usage=written.usage,
            llm_calls=written.llm_calls,
            blocked_by=plan.blocked_by,
            omitted=plan.omitted,
            requirements=tuple(snapshot.shape.requirements(verdict.views, model=self._model)),
            problems=verdict.problems,
            fold_id=text.split('"', 2)[1],
            model=written.model,
        )

    def undo(self) -> Outcome[Any]:
        """Put back the originals of the latest fold."""
        with self._lock:
            before = sum(self.reading.snapshot().sizes)
            if not self._folds:
                return self.idle("nothing_to_undo")
            fold = self._folds[-1]
            back = unfolded(fold, list(self.items))
            if back is None:
                return self.idle("nothing_to_undo")
            self._swap(back)
            self._folds.pop()
            self._tried.add(fold.digest)
            after = sum(self.reading.snapshot().sizes)
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
        size = sum(self.snapshot().sizes)
        return Outcome(
            changed=False,
            reason=reason,
            tokens_before=size,
            tokens_after=size,
            remedy=remedy_for(reason),
        )

    def _judge(self, plan: Plan[Any], snapshot: Snapshot, item: Any) -> Verdict:
        return judge(plan, snapshot, item, measure=self._measure, summary_key=self._summary_key)

    def _swap(self, change: Replacement[Any]) -> None:
        """Write to the list: one slice, so that what others append meanwhile is not touched."""
        self.items[change.start : change.stop] = change.items

    def _remember(self, fold: Fold) -> None:
        self._folds.append(fold)
        del self._folds[: max(0, len(self._folds) - self._undo_depth)]
