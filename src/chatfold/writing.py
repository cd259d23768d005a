"""What is written to a list besides folds: items, results of tools, repairs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from operator import is_
from typing import Any, Literal, TypeAlias

from chatfold.core.binding import parted_thinking
from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.late import arrived, late_parts, note_place
from chatfold.core.mends.edits import Repair, RepairPolicies
from chatfold.core.render import TemplateRenderer
from chatfold.core.repair import first_change, mended, unbound
from chatfold.core.replacement import Replacement
from chatfold.core.snapshot import Snapshot
from chatfold.core.spans import open_calls
from chatfold.core.views import ItemView, Part, ReasoningPart, ResultPart, is_user_message
from chatfold.notes import Notes
from chatfold.state import ListState

__all__ = ["LateResults", "Writing"]

_log = logging.getLogger("chatfold")

LateResults: TypeAlias = Literal["note", "drop", "keep"]
"""What becomes of a result whose call was folded away."""


class Writing:
    """Writes to a list what is no fold.

    Args:
        state: The list.
        notes: Writes what stands for results.
        late_results: What becomes of a result whose call was folded away.
    """

    def __init__(self, state: ListState, notes: Notes, late_results: LateResults) -> None:
        self._state = state
        self._notes = notes
        self._late_results = late_results
        self._claimed: Counter[tuple[object, ...]] = Counter()  # calls whose tools run
        self._waiting: list[Any] = []  # items whose calls wait still: see `note_recorded`
        self._spoken: Any = None  # the user's latest message when they were taken down

    def add(self, item: Any) -> list[Any]:
        """Put an item at the end of the list; a result whose call was folded away as a note.

        Args:
            item: The native item.

        Returns:
            What was added.
        """
        return self._add(item, self._notes.late)

    def _add(self, item: Any, note: Callable[[ResultPart], str]) -> list[Any]:
        """Do what `add` does, with another way to write the note for a result."""
        view = self._state.reading.view_of(item)
        if self._late_results == "keep" or not any(type(p) is ResultPart for p in view.parts):
            self._state.items.append(item)
            return [item]
        with self._state.lock:
            if not self._state.reading.holds_summary():
                self._state.items.append(item)
                return [item]
            snapshot = self._state.reading.snapshot()
            folded = snapshot.previous is not None
            late = late_parts(view, snapshot.calls, snapshot.views) if folded else []
            if not late:
                self._state.items.append(item)
                return [item]
            rest = [i for i in range(len(view.parts)) if i not in late]
            other = snapshot.shape.pick(item, rest) if rest else None
            added = [] if other is None else [other]
            if self._late_results == "drop":
                self._state.items.extend(added)
                _log.info("dropped %d results of calls that were folded away", len(late))
                return added
            at = note_place(snapshot)
            # All before the first is added: a template of the caller's may fail.
            texts = [note(part) for i in late if isinstance(part := view.parts[i], ResultPart)]
            notes = [snapshot.shape.summary_item(t, role="user") for t in texts]
            self._state.items.extend(added)
            self._state.put_in({at: notes})
            return [*notes, *added]

    def note_recorded(self, items: Sequence[Any]) -> None:
        """Take down the calls of a stream that a user spoke behind before it had ended.

        In the list they count as abandoned, but nobody could have run them before that. They wait
        for their results until a user speaks again, or another stream has ended.
        """
        if not items:
            return
        self._waiting = []
        at_end = self._state.items[-len(items) :]
        if len(at_end) == len(items) and all(map(is_, items, at_end)):
            return  # nobody spoke; the list need not be read
        self._waiting = list(items)  # also what a fold has taken out: it may be undone
        self._spoken = _last_said(self._state.snapshot())

    def _to_run(self, now: Snapshot) -> list[ToolCallRecord]:
        """Return the calls that wait for their results."""
        waiting = {id(item) for item in self._waiting}
        if not waiting or _last_said(now) is not self._spoken:
            return open_calls(now.calls)
        return [
            call
            for call in now.calls
            if call.status == "open"
            or (call.status == "abandoned" and id(now.items[call.call_index or 0]) in waiting)
        ]

    def claim(self) -> tuple[Snapshot, list[ToolCallRecord]]:
        """Return the list and its open calls; those that a run of tools is at are left out."""
        with self._state.lock:
            asked = self._state.reading.snapshot()
            others = self._claimed.copy()
            calls: list[ToolCallRecord] = []
            for call in self._to_run(asked):
                if others[_made(asked, call)]:
                    others[_made(asked, call)] -= 1
                else:
                    calls.append(call)
            self._claimed.update(_made(asked, call) for call in calls)
        return asked, calls

    def release(self, asked: Snapshot, calls: Sequence[ToolCallRecord]) -> None:
        """Take down that the run of these calls has ended."""
        with self._state.lock:
            self._claimed -= Counter(_made(asked, call) for call in calls)

    def answer(self, answers: Sequence[Answer], asked: Snapshot) -> list[Any]:
        """Put the results of calls behind them in the list; return the items that were added.

        A call that was answered while its tool ran keeps the answer that it has. The result of
        one that was folded away meanwhile is a late one. Where the user has gone on meanwhile, and
        may not speak right behind results, a note in the assistant's role stands between.

        Args:
            answers: The answers, in call order.
            asked: The list as it was when the tools began to run.
        """
        with self._state.lock:
            now = self._state.reading.snapshot()
            places, gone = arrived(answers, asked, now)
            made = {at: asked.shape.answer_items(told) for at, told in places.items()}
            self._state.put_in(made)
            # The results are in first: a template of the caller's may fail.
            for at in [at for at in sorted(made) if _needs_answer(made[at], at, now)]:
                text = self._notes.unanswered()
                made[at] = [*made[at], now.shape.summary_item(text, role="assistant")]
                behind = sum(len(made[other]) for other in made if other <= at)
                self._state.items.insert(at + behind - 1, made[at][-1])
            added = [item for at in sorted(made) for item in made[at]]
            if now.previous is None:  # nothing was folded: the host itself has taken the calls out
                return added
            for answer in gone:
                for item in asked.shape.answer_items([answer]):
                    added += self._add(item, partial(_told, self._notes, answer))
        return added

    def repair(self, templates: TemplateRenderer, policies: RepairPolicies) -> list[Repair]:
        """Put mended items in place of what the provider would refuse; return what was done."""
        if self._state.held:  # the provider has the calls of results that seem to have none
            policies = {"orphan_results": "keep", **policies}
        with self._state.lock:
            snapshot = self._state.reading.snapshot()
            items, repairs = mended(
                snapshot.items, read=self._state.reading.of, render=templates, **policies
            )
            if any(repair.action != "left" for repair in repairs):
                self._state.swap(Replacement(0, len(snapshot.items), tuple(items)))
                now, at = self._state.snapshot(), first_change(snapshot.items, items)
                same = snapshot.views[at : at + 1] and _thoughts(snapshot.views[at])
                if same and at < len(items) and same == _thoughts(now.views[at]):
                    at += 1  # what was thought before that is signed over what still stands there
                parted = self._state.note_parted(at)
                needed = parted_thinking(now, parted, self._state.model)
                repairs += unbound(needed, snapshot.items, items)
        kept = self._state.held and policies.get("orphan_results") == "keep"
        return [r for r in repairs if not (kept and r.rule == "orphan_result")]


def _thoughts(view: ItemView) -> tuple[Part, ...]:
    """Return the thinking that a message begins with."""
    return tuple(takewhile(lambda part: type(part) is ReasoningPart, view.parts))


def _told(notes: Notes, answer: Answer, part: ResultPart) -> str:
    """Return the note of a result, with what some providers' results do not say of their call."""
    call = answer.call
    return notes.late(part._replace(name=call.name, namespace=call.namespace, failed=answer.failed))


def _needs_answer(results: Sequence[Any], at: int, now: Snapshot) -> bool:
    """Return whether the user speaks behind results that go before an item, and may not."""
    if at >= len(now.views) or now.views[at].role != "user":
        return False
    view = now.shape.read(results[-1])
    return view is not None and not now.shape.user_may_follow([view], 0)


def _last_said(now: Snapshot) -> Any:
    """Return the user's latest message."""
    views = now.views
    said = (n for n in range(len(views) - 1, -1, -1) if is_user_message(views[n]))
    at = next(said, None)
    return None if at is None else now.items[at]


def _made(asked: Snapshot, call: ToolCallRecord) -> tuple[object, ...]:
    """Return what tells a call from the others, wherever its item stands by now."""
    return (id(asked.items[call.call_index or 0]), call.pair, call.id, call.name)
