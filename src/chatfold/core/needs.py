"""Which facts of a head a later model needs, and what each is worth.

Not here: where a fact goes and which ones fit (`ledger`), what a fact is (`facts`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from operator import attrgetter

from chatfold.core.facts import Fact, Sighting
from chatfold.core.reuse import LEVELS, Origin, Rates
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
    "body": 0.5,
}
_BY_THE_USER = 1.7  # nobody else can give it again
_AGAIN, _OFTEN, _MOST_TURNS = 1.5, 4.0, 5  # for each further turn that names it, and at most
_FINISHED, _UNUSED = 0.35, 1.5
# Kinds of values that agents come back to although only a tool has named them.
_USED_LATER = frozenset({"id", "hash", "mail", "phone", "url", "path", "amount", "date", "version"})
_ID = re.compile(r"(?:^|_|(?<=[a-z]))(?:[iI]d|ID|no|No|number|Number|ref|Ref|key|Key|code|Code)$")
_ADDRESS = re.compile(
    r"(?i)(?:address|street|destination|recipient|location|place|contact|mail|phone|^to|^from)$"
)
_LETTERS = re.compile(r"[^\W\d_]{1,20}")
_NEXT = 2  # items: to copy what has just been given is not to come back to it
_MANY = 0.05  # share of the values of a body of text that were used, below which they stay out
_HOMES = ("argument", "user", "outcome", "result", "assistant", "summary", "body")


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

    def turns(self, sightings: Sequence[Sighting], most: int) -> int:
        """Return in how many turns something was seen; no more than `most` are counted."""
        found = place = 0
        while place < len(sightings) and found < most:
            found += 1
            turn = bisect_right(self.openers, sightings[place].index)
            if turn == len(self.openers):
                break
            place = bisect_left(sightings, self.openers[turn], place, key=attrgetter("index"))
        return found

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
    tool: Callable[[int], str],
) -> list[Need]:
    """Return the needed facts, in the order in which they were first seen.

    Needed is what the user said, what was an argument, what came of a call that changed things,
    what was named again in an argument or by the assistant, what is recent, and what an earlier
    summary says. What stands in an item that stays is not lost, and so not needed. What only a
    tool has given is not sure to be needed; it is worth as much as the history shows that agents
    come back to what is given there.

    Args:
        found: The facts of the whole list.
        head: What goes.
        written: Positions in the calls of those that changed something.
        earlier: Keys of the facts that an earlier summary is there for.
        in_body: Returns whether a value of a call stands in a body of text, where it is one of
            many and not what the call was about.
        tool: Returns the name of a call's tool.
    """
    reader = _Reader(head, written, earlier, in_body, tool)
    read = [reader.read(fact) for fact in found]
    rates = Rates((seen.origin, seen.uses) for seen in read)
    needs = (_need(seen, head, rates) for seen in read)
    return [need for need in needs if need is not None]


@dataclass(slots=True)
class _Seen:
    """What has become of a fact.

    Attributes:
        fact: The fact.
        origin: Where it comes from: the side, the tool, the key or how it is written, its kind.
        sides: The sides that name it in what goes, each with the place that says it best.
        uses: How often the assistant has come back to it.
        last: Index of the last item of the head that names it.
        stays: Whether it stands in an item that stays.
    """

    fact: Fact
    origin: Origin
    sides: dict[str, Sighting]
    uses: int
    last: int
    stays: bool


class _Reader:
    """Reads where facts were seen; the arguments are those of `needs_of`."""

    def __init__(
        self,
        head: Head,
        written: Collection[int],
        earlier: Container[str],
        in_body: Callable[[Sighting], bool],
        tool: Callable[[int], str],
    ) -> None:
        self.head = head
        self.written = written
        self.earlier = earlier
        self.in_body = in_body
        self.tool = tool

    def read(self, fact: Fact) -> _Seen:
        sides: dict[str, Sighting] = {}
        last, uses, stays = -1, 0, fact.sightings[-1].index not in self.head
        for sighting in fact.sightings:
            index = sighting.index
            if last >= 0 and index > last + _NEXT and sighting.author == "assistant":
                uses += 1
            if stays:  # then it only counts for others of its origin
                last = index
                if uses >= LEVELS:
                    break
                continue
            side = self._side(sighting)
            if side == "summary" and fact.key not in self.earlier:
                continue
            last = index
            if index not in self.head:
                stays = True
            elif side != "user" or side not in sides:  # a user's first words say what it is about
                sides[side] = sighting
        return _Seen(fact, self._origin(fact), sides, uses, last, stays)

    def _origin(self, fact: Fact) -> Origin:
        first = fact.sightings[0]
        tool = "" if first.call is None else self.tool(first.call)
        key = _key(first) or _letters(fact.text)
        return self._side(first), tool, key, fact.kind

    def _side(self, sighting: Sighting) -> str:
        """Return who names a value: the user, the assistant, a call, its result, a summary."""
        if sighting.place == "text":
            return sighting.author if sighting.author in ("user", "summary") else "assistant"
        if self.in_body(sighting):
            return "body"
        if sighting.place == "argument":
            return "argument"
        return "outcome" if sighting.call in self.written else "result"


def _letters(text: str) -> str:
    """Return the letters that a value begins with: ids of one kind often share them."""
    found = _LETTERS.match(text)
    return found[0] if found else ""


def _key(sighting: Sighting) -> str:
    """Return the last key on the way to a value, "" where there is none."""
    return next((step for step in reversed(sighting.path) if isinstance(step, str)), "")


def _need(seen: _Seen, head: Head, rates: Rates) -> Need | None:
    if seen.stays or not seen.sides:
        return None
    fact, sides, last = seen.fact, seen.sides, seen.last
    kind = _kind(seen)
    sure = bool(sides.keys() - {"body", "result"}) or (last >= head.recent and "result" in sides)
    if not sure and kind not in _USED_LATER and not rates.used(seen.origin):
        return None
    if sides.keys() == {"body"} and rates.used(seen.origin) < _MANY:
        return None
    worth = _BY_SIDES[min(len(sides), 5)] if len(sides) > 1 else _ALONE[next(iter(sides))]
    if "user" in sides:
        worth *= _BY_THE_USER
    worth *= _standing(fact, head, sides, last)
    worth = sqrt(worth) * rates.again(seen.origin, seen.uses) * _KINDS[kind]
    age = head.span.stop - 1 - last
    worth *= 0.45 + 0.33 * exp(-age / 20) + 0.22 * (1 - age / len(head.span))
    homes = tuple(sides[side] for side in _HOMES if side in sides)
    return Need(fact, homes, last, worth, sure)


def _kind(seen: _Seen) -> Kind:
    """Return what a fact is worth as: a number or a name under such a key identifies something."""
    kind = seen.fact.kind
    if kind in ("number", "name"):
        argument = seen.sides.get("argument")
        if argument is not None and _ADDRESS.search(_key(argument)):
            return "mail"
        if _ID.search(seen.origin[2]):
            return "id"
    return kind


def _standing(fact: Fact, head: Head, seen: Collection[str], last: int) -> float:
    """Return how much more, or less, a fact is worth for what has become of it.

    What turn after turn comes back to will be needed again. What a user gave and a call has used
    in the same turn is a finished matter once the conversation has moved on.
    """
    turns = head.turns(fact.sightings, _MOST_TURNS)
    if turns > 1:
        return min(_AGAIN ** (turns - 1), _OFTEN)
    if last >= head.recent:
        return 1.0
    if "user" in seen:
        return _FINISHED if len(seen) > 1 else _UNUSED
    return 1.0
