"""Which facts of a head a later model needs, and what each is worth.

Not here: where a fact goes and which ones fit (`ledger`), what a fact is (`facts`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass
from math import exp

from chatfold.core.facts import Fact, Sighting
from chatfold.core.values import Kind
from chatfold.core.views import ItemView, is_user_message

__all__ = ["Head", "Need", "needs_of"]

_RECENT_TURNS = 2
_RECENT_ITEMS = 8

# How much of a kind is lost when it is not copied: a number is often one of many like it.
_KINDS: dict[Kind, float] = {
    "id": 1.4,
    "hash": 0.9,
    "mail": 1.0,
    "phone": 1.0,
    "url": 0.9,
    "path": 1.0,
    "date": 0.8,
    "amount": 0.8,
    "version": 0.7,
    "command": 0.6,
    "error": 0.6,
    "time": 0.5,
    "number": 0.25,
    "name": 0.2,
}
_BY_SIDES = (0.0, 1.0, 1.6, 2.6, 3.2, 3.6)  # worth by the number of sides that name a fact
_ALONE = {
    "user": 1.6,
    "argument": 1.7,
    "outcome": 1.7,
    "summary": 1.4,
    "assistant": 0.7,
    "result": 0.7,
}
_NAMED_AGAIN = 1.3
_BY_THE_USER = 1.7  # nobody else can give it again
_AGAIN, _OFTEN = 1.5, 4.0  # for each further turn that names it, and at most
_FINISHED, _UNUSED = 0.35, 1.5
# Kinds of values that agents come back to although only a tool has named them.
_USED_LATER = frozenset({"id", "hash", "mail", "phone", "url", "path", "amount", "date"})
_OF_CALLS = ("argument", "outcome", "result")
_HOMES = ("argument", "user", "outcome", "result", "assistant", "summary")


@dataclass(frozen=True, slots=True)
class Head:
    """The items that a summary takes the place of.

    Attributes:
        span: Their indices, those of items that stay among them.
        kept: Indices in the span of items that stay.
        recent: Index from which on they are recent.
        openers: Indices of the user's messages in the span, ascending.
    """

    span: range
    kept: frozenset[int]
    recent: int
    openers: tuple[int, ...] = ()

    @classmethod
    def of(cls, views: Sequence[ItemView], span: range, kept: frozenset[int]) -> Head:
        """Return the head of a list: its last two turns, or eight items, are recent."""
        openers = tuple(index for index in span if is_user_message(views[index]))
        recent = openers[-_RECENT_TURNS] if len(openers) >= _RECENT_TURNS else span.start
        recent = min(recent, max(span.start, span.stop - _RECENT_ITEMS))
        return cls(span, kept, recent, openers)

    def turn(self, index: int) -> int:
        """Return the number of the turn that an item is in."""
        return bisect_right(self.openers, index)

    def __contains__(self, index: int) -> bool:
        return index in self.span and index not in self.kept


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that a later model needs.

    Attributes:
        fact: The fact.
        homes: Places in the head that say what it is, the one that says it best first.
        last: Index of the last item of the head that names it.
        worth: How much is lost without it, compared with others.
        sure: Whether it is needed; else it is a value that a tool once gave and nobody has used,
            which goes in where there is room.
    """

    fact: Fact
    homes: tuple[Sighting, ...]
    last: int
    worth: float
    sure: bool = True


def needs_of(
    found: Sequence[Fact],
    head: Head,
    *,
    written: Collection[int],
    earlier: Container[str],
    in_body: Callable[[Sighting], bool],
) -> list[Need]:
    """Return the needed facts, in the order in which they were first seen.

    Needed is what the user said, what was an argument, what came of a call that changed things,
    what was named again in an argument or by the assistant, what is recent, and what an earlier
    summary says. What stands in an item that stays is not lost, and so not needed.

    Args:
        found: The facts of the whole list.
        head: What goes.
        written: Positions in the calls of those that changed something.
        earlier: Keys of the facts that an earlier summary is there for.
        in_body: Returns whether a value of a call stands in a body of text, where it is one of
            many and not what the call was about.
    """
    needs = (_need(fact, head, written, earlier, in_body) for fact in found)
    return [need for need in needs if need is not None]


def _need(
    fact: Fact,
    head: Head,
    written: Collection[int],
    earlier: Container[str],
    in_body: Callable[[Sighting], bool],
) -> Need | None:
    if fact.sightings[-1].index not in head:  # most often the quick answer
        return None
    seen: dict[str, Sighting] = {}
    last, named_again = -1, False
    for sighting in fact.sightings:
        index = sighting.index
        if index not in head:
            return None
        side = _side(sighting, written)
        if side in _OF_CALLS and in_body(sighting):
            side = "body"
        if side == "summary" and fact.key not in earlier:
            continue
        if last >= 0 and index > last and side in ("argument", "assistant"):
            named_again = True
        last = index
        if side != "user" or side not in seen:  # the first words of a user say what it is about
            seen[side] = sighting
    if seen.keys() <= {"body"}:
        return None
    sure = bool(seen.keys() - {"body", "result"}) or last >= head.recent
    if not sure and fact.kind not in _USED_LATER:
        return None
    worth = _BY_SIDES[min(len(seen), 5)] if len(seen) > 1 else _ALONE[next(iter(seen))]
    if named_again:
        worth *= _NAMED_AGAIN
    if "user" in seen:
        worth *= _BY_THE_USER
    worth *= _standing(fact, head, seen, last)
    age = head.span.stop - 1 - last
    worth *= 0.45 + 0.33 * exp(-age / 20) + 0.22 * (1 - age / len(head.span))
    homes = tuple(seen[side] for side in _HOMES if side in seen)
    return Need(fact, homes, last, worth * _KINDS[fact.kind], sure)


def _standing(fact: Fact, head: Head, seen: Collection[str], last: int) -> float:
    """Return how much more, or less, a fact is worth for what has become of it.

    What turn after turn comes back to will be needed again. What a user gave and a call has used
    in the same turn is a finished matter once the conversation has moved on.
    """
    turns = {head.turn(sighting.index) for sighting in fact.sightings}
    if len(turns) > 1:
        return min(_AGAIN ** (len(turns) - 1), _OFTEN)
    if last >= head.recent:
        return 1.0
    if "user" in seen:
        return _FINISHED if len(seen) > 1 else _UNUSED
    return 1.0


def _side(sighting: Sighting, written: Collection[int]) -> str:
    """Return who names a value: the user, the assistant, a call, its result, a summary."""
    if sighting.place == "argument":
        return "argument"
    if sighting.place == "result":
        return "outcome" if sighting.call in written else "result"
    return sighting.author if sighting.author in ("user", "summary") else "assistant"
