"""The state of one list between folds, and the steps that change it.

`ChatContext` is the public face of this; here are the readings that are kept, the folds that can
be taken back, and the one place where the caller's list is written.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import EllipsisType
from typing import Any, Final, Literal, TypeAlias

from chatfold.core.calls import Abandon, Answer, ToolCallRecord, frozen_abandon
from chatfold.core.check import Problem, Requirement
from chatfold.core.commit import Verdict, judge, problems_of
from chatfold.core.edits import Repair, RepairPolicies
from chatfold.core.flow import Flow, Written, write_summary
from chatfold.core.late import arrived, late_parts
from chatfold.core.plan import Outcome, Plan, Reason, Replacement, nothing, remedy_for
from chatfold.core.prepare import Wish, make_plan
from chatfold.core.reading import Reading, Snapshot
from chatfold.core.render import TemplateRenderer
from chatfold.core.repair import mended
from chatfold.core.spans import cut_points, open_calls
from chatfold.core.split import Split
from chatfold.core.summary import wrapped
from chatfold.core.undo import Fold, unfolded
from chatfold.core.views import ItemView, ResultPart
from chatfold.errors import BusyError, ChatfoldError
from chatfold.options import Settings

__all__ = ["Folding", "LateResults", "Limits"]

_log = logging.getLogger("chatfold")

LateResults: TypeAlias = Literal["note", "drop", "keep"]

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
    """One list with its readings, its folds, and the only code that writes to it.

    Args:
        items: The caller's list.
        reading: Keeps the readings of that list.
        measure: Returns the sizes of items in tokens, given their views.
        pin: Returns whether an item stays in every fold.
        model: The agent's model.
        server_managed: Whether the provider holds the history.
        late_results: What becomes of a result whose call was folded away.
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
        late_results: LateResults,
        summary_key: bytes | None,
        undo_depth: int,
    ) -> None:
        self.items = items
        self.reading = reading
        self.running = threading.Lock()  # held while a summary is being written
        self._measure = measure
        self._pin = pin
        self._model = model
        self._late_results = late_results
        # What the provider knows the history by, "" where this list is the history; after a fold
        # of a held history, the provider's own is out of date and must not be used again.
        self.held = "server_managed=True" if server_managed else ""
        self.replayed = False
        self._summary_key = summary_key
        self._undo_depth = undo_depth
        self._folds: list[Fold] = []
        self._tried: set[str] = set()
        self._claimed: Counter[tuple[object, ...]] = Counter()  # calls whose tools run
        self._lock = threading.RLock()  # guards the readings; never held during a model call

    def snapshot(self, abandon: Abandon | None = None) -> Snapshot:
        """Return the list as it is now, with its readings."""
        with self._lock:
            return self.reading.snapshot(abandon=abandon)

    def plan(self, limits: Limits, settings: Settings) -> Plan[Any]:
        """Return what a summarization would replace."""
        if self.held and not limits.replay:
            return Plan(None, (), (), 0, "server_managed", Split(0, 0), held=self.held)
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
            made = verdict.replacement
            item = made.items[0]
            self._swap(made)
            region = (*plan.region, *made.taken)
            self._remember(Fold(item, region, made.kept, plan.digest, len(made.items) - 1))
            if self.held:
                self.held, self.replayed = "", True
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
                *snapshot.shape.requirements(verdict.views, model=self._model),
                *self._replay(snapshot),
            ),
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

    @contextmanager
    def alone(self, call: str) -> Generator[None, None, None]:
        """Hold off other changes of the list; a summarization that runs is not disturbed.

        Raises:
            BusyError: One is running.
        """
        if not self.running.acquire(blocking=False):
            raise BusyError(
                f"{call} cannot change the list while a summary of it is being written; call it "
                "when summarize() has returned"
            )
        try:
            yield
        finally:
            self.running.release()

    def problems(self) -> list[Problem]:
        """Return what is wrong with the list.

        Where the provider holds the history, results may come without their calls.
        """
        found = problems_of(self.snapshot())
        return [p for p in found if p.rule != "orphan_result"] if self.held else found

    def requirements(self) -> list[Requirement]:
        """Return what a request with this list has to carry besides the list."""
        snapshot = self.snapshot()
        needed = snapshot.shape.requirements(snapshot.views, model=self._model)
        return [*needed, *self._replay(snapshot)]

    def _replay(self, snapshot: Snapshot) -> list[Requirement]:
        if not self.replayed:
            return []
        replay = snapshot.shape.full_replay()
        return [replay] if replay is not None else []

    def hold(self, held: str) -> None:
        """Note by what the provider knows the history, as a response says; "" if it does not."""
        if held:
            self.held, self.replayed = held, False

    def add(self, item: Any, note: Callable[[ResultPart], str]) -> list[Any]:
        """Put an item at the end of the list; a result whose call was folded away as a note.

        Args:
            item: The native item.
            note: Returns the text of the note for a result.

        Returns:
            What was added.
        """
        view = self.reading.view_of(item)
        if self._late_results == "keep" or not any(type(p) is ResultPart for p in view.parts):
            self.items.append(item)
            return [item]
        with self._lock:
            snapshot = self.reading.snapshot()
            late = late_parts(view, snapshot.calls) if snapshot.previous is not None else []
            if not late:
                self.items.append(item)
                return [item]
            rest = [i for i in range(len(view.parts)) if i not in late]
            other = snapshot.shape.pick(item, rest) if rest else None
            added = [] if other is None else [other]
            self.items.extend(added)
            if self._late_results == "drop":
                _log.info("dropped %d results of calls that were folded away", len(late))
                return added
            # Behind all that is complete: a step that waits for its results must not be parted.
            at = cut_points(snapshot.spans, snapshot.views, lossy=True)[-1]
            texts = [note(part) for i in late if isinstance(part := view.parts[i], ResultPart)]
            notes = [snapshot.shape.summary_item(t, role="user") for t in texts]
            self.items[at:at] = notes
            return [*notes, *added]

    def claim(self) -> tuple[Snapshot, list[ToolCallRecord]]:
        """Return the list and its open calls; those that a run of tools is at are left out."""
        with self._lock:
            asked = self.reading.snapshot()
            others = self._claimed.copy()
            calls: list[ToolCallRecord] = []
            for call in open_calls(asked.calls):
                if others[_made(asked, call)]:
                    others[_made(asked, call)] -= 1
                else:
                    calls.append(call)
            self._claimed.update(_made(asked, call) for call in calls)
        return asked, calls

    def release(self, asked: Snapshot, calls: Sequence[ToolCallRecord]) -> None:
        """Take down that the run of these calls has ended."""
        with self._lock:
            self._claimed -= Counter(_made(asked, call) for call in calls)

    def answer(
        self, answers: Sequence[Answer], asked: Snapshot, note: Callable[[ResultPart], str]
    ) -> list[Any]:
        """Put the results of calls behind them in the list; return the items that were added.

        A call that was answered while its tool ran keeps the answer that it has. The result of
        one that was folded away meanwhile is a late one.

        Args:
            answers: The answers, in call order.
            asked: The list as it was when the tools began to run.
            note: Returns the text of the note for a late result.
        """
        with self._lock:
            now = self.reading.snapshot()
            places, gone = arrived(answers, asked, now)
            made = {at: asked.shape.answer_items(told) for at, told in places.items()}
            for at in sorted(made, reverse=True):
                self.items[at:at] = made[at]
            added = [item for at in sorted(made) for item in made[at]]
            if now.previous is None:  # nothing was folded: the host itself has taken the calls out
                return added
            for answer in gone:
                item = asked.shape.result_item(answer.call, answer.text, failed=answer.failed)
                added += self.add(item, partial(_told, note, answer))
        return added

    def repair(self, templates: TemplateRenderer, policies: RepairPolicies) -> list[Repair]:
        """Put mended items in place of what the provider would refuse; return what was done."""
        if self.held:  # the provider has the calls of results that seem to have none
            policies = {"orphan_results": "keep", **policies}
        with self._lock:
            snapshot = self.reading.snapshot()
            items, repairs = mended(
                snapshot.items, read=self.reading.of, render=templates, **policies
            )
            if any(repair.action != "left" for repair in repairs):
                self._swap(Replacement(0, len(snapshot.items), tuple(items)))
        kept = self.held and policies.get("orphan_results") == "keep"
        return [r for r in repairs if not (kept and r.rule == "orphan_result")]

    def _judge(self, plan: Plan[Any], snapshot: Snapshot, item: Any) -> Verdict:
        return judge(plan, snapshot, item, measure=self._measure, summary_key=self._summary_key)

    def _swap(self, change: Replacement[Any]) -> None:
        """Write to the list: one slice, so that what others append meanwhile is not touched."""
        self.items[change.start : change.stop] = change.items

    def _remember(self, fold: Fold) -> None:
        self._folds.append(fold)
        del self._folds[: max(0, len(self._folds) - self._undo_depth)]


def _told(note: Callable[[ResultPart], str], answer: Answer, part: ResultPart) -> str:
    """Return the note of a result, with what some providers' results do not say of their call."""
    return note(part._replace(name=answer.call.name, failed=answer.failed))


def _made(asked: Snapshot, call: ToolCallRecord) -> tuple[object, ...]:
    """Return what tells a call from the others, wherever its item stands by now."""
    return (id(asked.items[call.call_index or 0]), call.pair, call.id, call.name)
