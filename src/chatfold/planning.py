"""What a fold of a list would replace, what its model is asked, and what comes behind its words.

Nothing here changes the list. Not here: the swap, and the way back (`swaps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, Final, NamedTuple

from chatfold.core.append import shown_for
from chatfold.core.calls import Abandon, frozen_abandon
from chatfold.core.check import Requirement
from chatfold.core.compose import composed
from chatfold.core.flow import Steps, Written
from chatfold.core.guard import FactReport, Guard, Guarded
from chatfold.core.live import LIVE_SHAPES, Sender
from chatfold.core.parts import Head
from chatfold.core.plan import Plan
from chatfold.core.prepare import Wish, asked_tokens, make_plan
from chatfold.core.recording.sizes import TextSizes
from chatfold.core.render import filled
from chatfold.core.room import Window
from chatfold.core.scalars import check_flags
from chatfold.core.snapshot import Snapshot
from chatfold.core.split import Split, check_limits
from chatfold.core.summary import summary_id, summary_number, wrapped
from chatfold.core.views import ItemView, TextPart
from chatfold.core.within import Within
from chatfold.core.write import write_summary
from chatfold.errors import ShapeError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.state import ListState
from chatfold.summarizers.native import NativeCompaction

__all__ = ["HOST", "Limits", "Notes", "Planning", "Wording"]

HOST: Final = (Sender(LIVE_SHAPES),)
"""Who makes the model calls itself can send any live request."""

_KEEP_LAST_TURNS: Final = 2


class Notes(NamedTuple):
    """What the wrapper of a summary says about it: without a record behind it, and with one."""

    plain: str
    with_record: str


class Wording(NamedTuple):
    """A summary as it may go into the list.

    Attributes:
        item: The native item that holds it, in its wrapper.
        report: What was found and proven of it.
        id: The digest on its tag.
        tokens: Size of the item.
    """

    item: Any
    report: FactReport
    id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a caller wants to keep; an ellipsis stands for the default.

    Attributes:
        last_resort: Whether this is to be written without a model, because one came to nothing.
        within: What the list is to be below afterwards, whatever is to be kept.
    """

    keep_last_turns: int | None | EllipsisType = ...
    keep_tokens: int | None | EllipsisType = ...
    abandon: Abandon | None = None
    force: bool = False
    replay: bool = False
    last_resort: bool = False
    within: Within = Within()  # noqa: RUF009 - a frozen value

    def __post_init__(self) -> None:
        """Check the values; read the ids once: they may come from a generator, or change later."""
        check_limits(self.turns(), self.tokens())
        check_flags(force=self.force, replay=self.replay)
        object.__setattr__(self, "abandon", frozen_abandon(self.abandon))

    def turns(self) -> int | None:
        """Return the turns to keep: by default 2, or no limit where tokens are given."""
        if isinstance(self.keep_last_turns, EllipsisType):
            return _KEEP_LAST_TURNS if self.tokens() is None else None
        return self.keep_last_turns

    def tokens(self) -> int | None:
        """Return the tokens to keep, by default no limit."""
        return None if isinstance(self.keep_tokens, EllipsisType) else self.keep_tokens


class Planning:
    """Plans the folds of one list.

    Args:
        state: The list.
        originals: Where originals can be read again.
        measure: Returns the sizes of items in tokens, given their views.
        count: Returns the sizes of texts in tokens.
        pin: Returns whether an item stays in every fold.
        summary_key: Secret that the digests of summaries are made with.

    Attributes:
        tried: Digests of the heads that gave no gain.
        undone: Digests of the heads whose fold was undone.
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
    ) -> None:
        self.tried: set[str] = set()
        self.undone: set[str] = set()
        self._state = state
        self._originals = originals
        self._measure = measure
        self._count = count
        self._pin = pin
        self._summary_key = summary_key

    def plan(self, limits: Limits, settings: Settings) -> Plan[Any]:
        """Return what a summarization would replace."""
        plan = self.prepared(limits, settings, senders=HOST)[0]
        return replace(plan, notes=self.notes(settings)) if plan else plan

    def prepared(
        self,
        limits: Limits,
        settings: Settings,
        own: Callable[[Any], bool] | None = None,
        snapshot: Snapshot | None = None,
        senders: Sequence[Sender] = (),
    ) -> tuple[Plan[Any], Head | None]:
        """Return what a summarization would replace, and what its prompts are made of."""
        if self._state.held and not limits.replay:
            return self.server_managed(), None
        snapshot = snapshot or self._state.snapshot(limits.abandon)
        appends = settings.mode == "append"
        wish = Wish(
            keep_last_turns=limits.turns(),
            keep_tokens=limits.tokens(),
            abandon=limits.abandon,
            pinned=self._pin,
            language=settings.language,
            max_summary_tokens=settings.max_summary_tokens,
            summary_role=settings.summary_role,
            min_gain=settings.min_gain,
            tried=self._not_again(limits),
            max_prompt_tokens=settings.max_prompt_tokens,
            terms=settings.terms(),
            own=own,
            mode=settings.mode,
            senders=senders,
            request=settings.request,
            needed=self._needed(snapshot, settings.request) if appends else (),
            model=self._state.model,
            within=limits.within,
        )
        plan, head = make_plan(snapshot, settings.renderer(), wish, self._count)
        if limits.replay:
            plan = replace(plan, replay=True)
        likely = 0 if limits.force else _likely_size(plan, snapshot, settings.max_summary_tokens)
        if plan and _cannot_gain(plan, snapshot, likely):
            return replace(plan, prompt=None, reason="no_gain"), None
        return plan, head

    def _needed(self, snapshot: Snapshot, request: Mapping[str, Any]) -> list[Requirement]:
        """Return what the agent's next request has to carry with the list."""
        return self._state.requirements_at(snapshot, request.get("model") or self._state.model)

    def server_managed(self) -> Plan[Any]:
        """Return a plan of nothing, because the provider holds the history."""
        nowhere = Split(0, 0)
        return Plan(None, (), (), 0, "server_managed", nowhere, held=self._state.held)

    def _not_again(self, limits: Limits) -> frozenset[str]:
        """Return the digests of the heads that are not to be tried again.

        That a model's words were too long says nothing of what code makes of the same head.
        """
        if limits.force:
            return frozenset()
        return frozenset(self.undone if limits.last_resort else self.undone | self.tried)

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
        plan = self.prepared(limits, settings, native.owns, snapshot)[0]
        if plan:
            native.check(prefix=plan.prefix, instructions=settings.compaction_instructions())
        return plan

    def steps(
        self,
        plan: Plan[Any],
        head: Head,
        settings: Settings,
        backends: int,
        windows: Sequence[Window],
        snapshot: Snapshot | None = None,
    ) -> Steps:
        """Return the requests that a summary is written by, and what becomes of their answers.

        Args:
            plan: What it takes the place of.
            head: What the prompts are made of.
            settings: The options.
            backends: Number of summarizers in the fallback chain.
            windows: What is known of their windows, in the same order.
            snapshot: The list that the plan is of; by default as it is when it is asked for.
        """
        return write_summary(
            head,
            backends=backends,
            windows=windows,
            most=settings.max_prompt_tokens,
            guard=self.guard(plan, snapshot),
            terms=plan.terms,
            append=plan.append,
        )

    def notes(self, settings: Settings) -> Notes:
        """Return what the wrapper of a summary says about it, with a record behind it and without.

        Raises:
            TemplateError: The template does not load or render.
        """
        templates = settings.renderer()
        return Notes(
            *(
                filled(templates, "summary_note.jinja", recall=self._originals.tool, record=record)
                for record in (False, True)
            )
        )

    def guard(self, plan: Plan[Any], snapshot: Snapshot | None = None) -> Guard:
        """Return what compares a summary with the plan's head."""
        return Guard(
            plan.terms.grounding,
            lambda: shown_for(plan, snapshot or self._state.snapshot(plan.abandon)),
        )

    def wordings(
        self, plan: Plan[Any], snapshot: Snapshot, written: Written, notes: Notes
    ) -> Iterator[Wording]:
        """Yield a summary in its wrapper, the whole first, then with less behind its words.

        What is found in the head for it is found outside of the lock, and it is read and measured
        once here, in the thread that wrote it.
        """
        shape, number = snapshot.shape, 1 + _number_of_previous(snapshot)
        proven = Guarded(written.text, written.ungrounded, written.dropped)
        for made in composed(plan, snapshot, proven, TextSizes(self._count)):
            note = notes.with_record if made.report.record else notes.plain
            text = wrapped(made.text, note, self._summary_key, number=number)
            name = summary_id(text)
            while self._originals.holds_another(name, plan.region):
                number += 1  # another branch was told in the same words; both stay apart
                text = wrapped(made.text, note, self._summary_key, number=number)
                name = summary_id(text)
            # Known to the turn that puts it in.
            self._state.reading.summaries.part(text, made.report.record)
            item = shape.summary_item(text, role=plan.summary_role)
            view = shape.read(item)
            assert view is not None, "a shape reads its own items"
            yield Wording(item, made.report, name, self._measure([view])[0])


def _number_of_previous(snapshot: Snapshot) -> int:
    """Return which summary of its list the one in it is; 0 where there is none of chatfold's."""
    if snapshot.previous is None:
        return 0
    view = snapshot.shape.read(snapshot.items[snapshot.previous])
    first = view.parts[0] if view is not None else None
    return summary_number(first.text) if isinstance(first, TextPart) else 0


def _cannot_gain(plan: Plan[Any], snapshot: Snapshot, likely: int) -> bool:
    """Return whether a summary of the likely size would save too little: no call is due then."""
    if plan.terms.thinking == "strip":  # the tail gets smaller too
        return False
    kept = sum(snapshot.sizes[i] for i in plan.split.kept)
    gone = sum(snapshot.sizes[plan.split.start : plan.index]) - kept
    return gone - likely < plan.min_gain * plan.tokens_before


def _likely_size(plan: Plan[Any], snapshot: Snapshot, most: int | None) -> int:
    """Return about how long a summary will be at least: as long as the one that it updates.

    But no longer than what the model is asked for, with as much again for the record. Of the first
    one nothing is known, nor where the item of the earlier one holds other words too.

    Args:
        plan: What it takes the place of.
        snapshot: The list.
        most: Tokens that it may have, where the caller says so.
    """
    at = snapshot.previous
    if at is None or at >= plan.index or len(snapshot.views[at].parts) > 1:
        return 0
    head = sum(snapshot.sizes[plan.split.start : plan.index])
    return min(snapshot.sizes[at], 2 * asked_tokens(head, most))
