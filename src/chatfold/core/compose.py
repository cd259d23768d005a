"""What goes into a list: the model's words, and behind them the record of what code knows.

Not here: what belongs in a record (`recorded`), the wrapper around both (`summary`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from chatfold.core.constraints import Standing, standing_by
from chatfold.core.entries import Field
from chatfold.core.facts import Facts
from chatfold.core.grounding import Sources
from chatfold.core.guard import FactReport, Guarded
from chatfold.core.plan import Plan
from chatfold.core.record import Record, cleaned, joined, parsed, rendered
from chatfold.core.recording.carry import fitted_values
from chatfold.core.recording.recorded import Recorded, make_record
from chatfold.core.snapshot import Snapshot
from chatfold.core.summary import earlier_summary
from chatfold.core.views import ItemView

__all__ = ["Composed", "composed", "sources"]

_SHARE, _SHARE_WITH_EARLIER = 0.05, 0.1
_LEAST, _MOST = 200, 2000
_SHARES = (2, 4)  # of the room of new values, where all of them are too many


@dataclass(frozen=True, slots=True)
class Composed:
    """A summary's text and what is reported of it.

    Attributes:
        text: The model's words with the record behind them.
        report: What was found and proven.
    """

    text: str = field(repr=False)
    report: FactReport


def sources(plan: Plan[Any], snapshot: Snapshot) -> Sources:
    """Return what the author of a summary was shown: the head, and what the application added."""
    views, terms = _head(plan, snapshot), plan.terms
    extra = () if terms.instructions is None else (terms.instructions,)
    return Sources(
        views,
        snapshot.calls,
        extra,
        terms.redact,
        offset=plan.split.start,
    )


def composed(
    plan: Plan[Any],
    snapshot: Snapshot,
    guarded: Guarded,
    count: Callable[[str], int],
) -> Iterator[Composed]:
    """Yield the summary with its record, then with less of the new values, for short heads.

    What is done must not be done again, and what an earlier record holds stands nowhere else: a
    fold that is smaller only for having forgotten that has gained nothing.

    Args:
        plan: What is replaced.
        snapshot: The list; its head is that of the plan.
        guarded: The model's words.
        count: Returns the size of a text in tokens.
    """
    earlier = _earlier(plan, snapshot)
    made = _recorded(plan, snapshot, guarded.text, count, earlier)
    whole = made.record
    told = {(entry.name, entry.arguments) for entry in (*earlier.done, *earlier.values)}
    for record in _with_less(whole, told, count):
        yield Composed(joined(guarded.text, record), _report(made, record, guarded))


def _with_less(
    whole: Record,
    told: Collection[tuple[str, tuple[Field, ...] | None]],
    count: Callable[[str], int],
) -> Iterator[Record]:
    """Yield a record, then with half of its new values, a quarter of them, and none.

    Args:
        whole: The record.
        told: The names and arguments of what an earlier record holds.
        count: Returns the size of a text in tokens.
    """
    yield whole
    new = [e for e in whole.values if (e.name, e.arguments) not in told]
    if not new:
        return
    carried = tuple(e for e in whole.values if (e.name, e.arguments) in told)
    room = count(rendered(Record(values=tuple(new))))
    last = tuple(new)
    for share in _SHARES:
        fitted = fitted_values(new, room // share, count)
        if fitted and fitted != last:
            yield whole._replace(values=(*carried, *fitted))
        last = fitted
    yield whole._replace(values=carried)


def _recorded(
    plan: Plan[Any],
    snapshot: Snapshot,
    text: str,
    count: Callable[[str], int],
    earlier: Record,
) -> Recorded:
    start, cut, kept = plan.split.start, plan.split.cut, frozenset(plan.split.kept)
    terms = plan.terms
    found = snapshot.facts.taken(terms.redact)
    found.update(snapshot.views, snapshot.calls)
    held, lifted = _standing(plan, snapshot, found, earlier.standing)
    folded = sum(snapshot.sizes[start:cut])
    folded -= sum(snapshot.sizes[i] for i in kept if start <= i < cut)
    room = _room(folded, earlier, count)
    made = make_record(
        snapshot.views,
        snapshot.calls,
        head=range(start, cut),
        kept=kept,
        previous=earlier,
        standing=held,
        lifted=lifted,
        text=text,
        effects=terms.effects,
        ledger_tokens=room if terms.ledger_tokens is None else terms.ledger_tokens,
        count=count,
        clean=terms.redact,
        found=found,
    )
    snapshot.facts.keep(found)
    return made


def _room(folded: int, earlier: Record, count: Callable[[str], int]) -> int:
    """Return the tokens that the values of a record may have.

    It has to hold what all folds took away: beside a share of what goes now there is room for what
    an earlier record holds of what went before, up to a tenth of what goes now.

    Args:
        folded: Tokens of what goes.
        earlier: The record of the earlier summary.
        count: Returns the size of a text in tokens.
    """
    room = folded * _SHARE
    if earlier.values:
        held = count(rendered(Record(values=earlier.values)))
        room = min(held + room, folded * _SHARE_WITH_EARLIER)
    return min(_MOST, max(_LEAST, int(room)))


def _earlier(plan: Plan[Any], snapshot: Snapshot) -> Record:
    """Return the record of the earlier summary that a head holds, an empty one without any."""
    previous = earlier_summary(_head(plan, snapshot))
    record = parsed(previous.record)[1] if previous else Record()
    if plan.terms.redact is not None:  # an earlier fold may have had no such rule
        record = cleaned(record, plan.terms.redact)
    return record


def _standing(
    plan: Plan[Any], snapshot: Snapshot, found: Facts, earlier: Sequence[str]
) -> Standing:
    """Return the instructions that hold behind a head, and those that were taken back in it."""
    start, cut, kept = plan.split.start, plan.split.cut, frozenset(plan.split.kept)
    clean, views, own = plan.terms.redact, snapshot.views, plan.terms.words
    head = range(start, cut)
    known = ((views[i], remarks) for i, remarks in found.remarks(head) if i not in kept)
    return standing_by(known, words=own, earlier=earlier, clean=clean)


def _report(made: Recorded, record: Record, guarded: Guarded) -> FactReport:
    """Return the report of a record that may lack what the whole one has."""
    return FactReport(
        partial(made.found_in, record),
        ungrounded=guarded.ungrounded,
        dropped=guarded.dropped,
        guessed=made.guessed,
        record=rendered(record),
    )


def _head(plan: Plan[Any], snapshot: Snapshot) -> Sequence[ItemView]:
    return snapshot.views[plan.split.start : plan.split.cut]
