"""Which facts of a head a later model needs, and what each is worth.

Not here: where a fact goes and which ones fit (`ledger`), what a fact is (`facts`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from typing import NamedTuple

from chatfold.core.facts import Fact, Facts, Sighting
from chatfold.core.kin import Worked
from chatfold.core.reuse import LEVELS, Origin, Rates
from chatfold.core.summary import earlier_summary
from chatfold.core.values import Kind, Value
from chatfold.core.views import ItemView, is_user_message

__all__ = ["Head", "Need", "needs_of"]

_RECENT_TURNS = 2
_RECENT_ITEMS = 8
_OPENING_ITEMS = 4

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
    "command": 0.2,
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
_MONEY = re.compile(r"(?i)(?:amount|balance|charge|cost|fee|paid|price|refund|total)s?$")
_LETTERS = re.compile(r"[^\W\d_]{1,20}")
_MERE = re.compile(r"\d{1,3}")  # such numbers recur by chance
_KIN = "kin"
_LIKELY_KIN, _LIKELY_NEAR = 0.15, 0.05  # how likely such paths are used, at the least
_NEXT = 2  # items: to copy what has just been given is not to come back to it
_MANY = 0.05  # share of the values of a body of text that were used, below which they stay out
_ENDLESS = 1 << 62
_HOMES = ("argument", "user", "outcome", "result", "assistant", "summary", "body")


@dataclass(frozen=True, slots=True)
class Head:
    """The items that a summary takes the place of.

    Attributes:
        span: Their indices, those of items that stay among them.
        kept: Indices in the span of items that stay.
        recent: Index from which on they are recent.
        openers: Indices of the user's messages in the span, ascending.
        opening: Index up to which they are the opening, which says what it all is about; 0 where
            the conversation began before them.
    """

    span: range
    kept: frozenset[int]
    recent: int
    openers: tuple[int, ...] = ()
    opening: int = 0

    @classmethod
    def of(cls, views: Sequence[ItemView], span: range, kept: frozenset[int]) -> Head:
        """Return the head of a list: its last two turns, or eight items, are recent.

        Where no summary stands in front, the first turn that goes is its opening, or the first
        four items of that.
        """
        openers = tuple(index for index in span if is_user_message(views[index]))
        recent = openers[-_RECENT_TURNS] if len(openers) >= _RECENT_TURNS else span.start
        recent = min(recent, max(span.start, span.stop - _RECENT_ITEMS))
        if not span or earlier_summary(views[span.start : span.stop]) is not None:
            return cls(span, kept, recent, openers)
        first = next((index for index in span if index not in kept), span.stop)
        second = next(
            (index for index in openers if index > first and index not in kept), span.stop
        )
        return cls(span, kept, recent, openers, min(second, first + _OPENING_ITEMS))

    def __contains__(self, index: int) -> bool:
        return index in self.span and index not in self.kept


class Need(NamedTuple):
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
    found: Facts,
    head: Head,
    *,
    written: Collection[int],
    earlier: Container[str],
    in_body: Callable[[Sighting], bool],
    long: Container[tuple[int | None, str]],
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
        long: The arguments and results, as position and place, for which that is to be asked.
        tool: Returns the name of a call's tool.
    """
    places = found.places
    paths = ((v.text, places[key]) for key, v in found.values.items() if v.kind == "path")
    reader = _Reader(head, written, earlier, in_body, long, tool, Worked(paths))
    read = [reader.read(value, places[key]) for key, value in found.values.items()]
    weigher = _Weigher(head, Rates((seen.origin, seen.uses) for seen in read))
    needs: list[Need] = []
    for (key, value), seen in zip(found.values.items(), read, strict=True):
        if seen.sides and not seen.stays:
            weighed = weigher.worth(value, places[key], seen)
            if weighed is not None:
                sides = seen.sides
                if len(sides) == 1:
                    homes = tuple(sides.values())
                else:
                    homes = tuple(sides[side] for side in _HOMES if side in sides)
                needs.append(Need(found.fact(key), homes, seen.last, *weighed))
    return needs


class _Seen(NamedTuple):
    """What has become of a fact.

    Attributes:
        origin: Where it comes from: the side, the tool, the key or how it is written, its kind.
        sides: The sides that name it in what goes, each with the place that says it best.
        uses: How often the assistant has come back to it.
        last: Index of the last item of the head that names it.
        stays: Whether it stands in an item that stays.
        kin: Index of the last item that worked with a path of the same name, else -1.
        near: Whether it is a path of a tree that was worked in.
    """

    origin: Origin
    sides: dict[str, Sighting]
    uses: int
    last: int
    stays: bool
    kin: int = -1
    near: bool = False


class _Reader:
    """Reads where facts were seen; the arguments are those of `needs_of`, and the known paths."""

    def __init__(
        self,
        head: Head,
        written: Collection[int],
        earlier: Container[str],
        in_body: Callable[[Sighting], bool],
        long: Container[tuple[int | None, str]],
        tool: Callable[[int], str],
        paths: Worked,
    ) -> None:
        self.paths = paths
        self.start, self.stop, self.kept = head.span.start, head.span.stop, head.kept
        self.written = written
        self.earlier = earlier
        self.in_body = in_body
        self.long = long
        self.tool = cache(tool)

    def read(self, value: Value, sightings: Sequence[Sighting]) -> _Seen:
        kin, near = -1, False
        if value.kind == "path" and sightings[0].place == "result":
            kin, near = self.paths.kin(value.text), self.paths.is_near(value.text)
        origin = self._origin(value, sightings[0], is_kin=kin >= 0)
        start, stop, kept = self.start, self.stop, self.kept
        index = sightings[-1].index
        sides: dict[str, Sighting] = {}
        last, uses, stays = -1, 0, not start <= index < stop or index in kept
        if len(sightings) == 1 and origin[0] != "summary":  # so it is with most
            if not stays:
                sides[origin[0]] = sightings[0]
            return _Seen(origin, sides, 0, index, stays, kin, near)
        for sighting in sightings:
            index, author, place, _, call = sighting
            if last >= 0 and index > last + _NEXT and author == "assistant":
                uses += 1
            if stays:  # then it only counts for others of its origin
                last = index
                if uses >= LEVELS:
                    break
                continue
            if place == "text":  # as `_side` has it: this is asked of every value of a list
                side = author if author in ("user", "summary") else "assistant"
            else:
                side = self._side_of_call(sighting, place, call)
            if side == "summary" and value.key not in self.earlier:
                continue
            last = index
            if not start <= index < stop or index in kept:
                stays = True
            elif side != "user" or side not in sides:  # a user's first words say what it is about
                sides[side] = sighting
        return _Seen(origin, sides, uses, last, stays, kin, near)

    def _origin(self, value: Value, first: Sighting, *, is_kin: bool) -> Origin:
        if is_kin:
            return self._side(first), "", _KIN, value.kind
        tool = "" if first.call is None else self.tool(first.call)
        key = _key(first) if first.path else ""
        return self._side(first), tool, key or _letters(value.text), value.kind

    def _side(self, sighting: Sighting) -> str:
        """Return who names a value: the user, the assistant, a call, its result, a summary."""
        _, author, place, _, call = sighting
        if place == "text":
            return author if author in ("user", "summary") else "assistant"
        return self._side_of_call(sighting, place, call)

    def _side_of_call(self, sighting: Sighting, place: str, call: int | None) -> str:
        if (call, place) in self.long and self.in_body(sighting):
            return "body"
        if place == "argument":
            return "argument"
        return "outcome" if call in self.written else "result"


def _letters(text: str) -> str:
    """Return the letters that a value begins with: ids of one kind often share them."""
    found = _LETTERS.match(text)
    return found[0] if found else ""


def _key(sighting: Sighting) -> str:
    """Return the last key on the way to a value, "" where there is none."""
    for step in reversed(sighting.path):
        if isinstance(step, str):
            return step
    return ""


class _Weigher:
    """Weighs facts of a head by how values were come back to."""

    def __init__(self, head: Head, rates: Rates) -> None:
        self.head = head
        self.recent = head.recent
        self.rates = rates
        self.ages: dict[int, float] = {}

    def worth(
        self, value: Value, sightings: Sequence[Sighting], seen: _Seen
    ) -> tuple[float, bool] | None:
        """Return what a fact is worth, and whether it is needed for certain; None: it is not."""
        origin, sides, uses, last, _, kin, near = seen
        kind = _kind(value, seen)
        given = ("body" in sides) + ("result" in sides)  # by tools alone
        sure = len(sides) > given or (last >= self.recent and "result" in sides)
        if not sure and kind not in _USED_LATER and not self.rates.used(origin):
            return None
        if len(sides) == 1 and "body" in sides:
            if kind == "name" or _MERE.fullmatch(value.text):
                return None
            if not near and self.rates.used(origin) < _MANY:
                return None
        worth = _BY_SIDES[min(len(sides), 5)] if len(sides) > 1 else _ALONE[next(iter(sides))]
        if "user" in sides:
            worth *= _BY_THE_USER
        worth *= self._standing(sightings, sides, last)
        likely = _LIKELY_KIN if kin >= 0 else _LIKELY_NEAR if near else 0.0
        worth = sqrt(worth) * max(self.rates.again(origin, uses), likely) * _KINDS[kind]
        span = self.head.span
        is_opening = sightings[0].index < self.head.opening
        last = span.stop - 1 if is_opening else min(max(last, kin), span.stop - 1)
        fresh = self.ages.get(last)
        if fresh is None:
            age = span.stop - 1 - last
            fresh = self.ages[last] = 0.45 + 0.33 * exp(-age / 20) + 0.22 * (1 - age / len(span))
        return worth * fresh, sure

    def _standing(self, sightings: Sequence[Sighting], seen: Collection[str], last: int) -> float:
        """Return how much more, or less, a fact is worth for what has become of it.

        What turn after turn comes back to will be needed again. What a user gave and a call has
        used in the same turn is a finished matter once the conversation has moved on.
        """
        turns = self._turns(sightings) if len(sightings) > 1 else 1
        if turns > 1:
            return min(_AGAIN ** (turns - 1), _OFTEN)
        if last >= self.recent:
            return 1.0
        if "user" in seen and sightings[0].index < self.head.opening:
            return _UNUSED
        if "user" in seen:
            return _FINISHED if len(seen) > 1 else _UNUSED
        return 1.0

    def _turns(self, sightings: Sequence[Sighting]) -> int:
        """Return in how many turns something was seen; no more than five are counted."""
        openers, found = self.head.openers, 0
        last, end = sightings[-1].index, -1  # the latter: of the item that opens the next turn
        for sighting in sightings:
            index = sighting.index
            if index >= end:
                turn = bisect_right(openers, index)
                end = openers[turn] if turn < len(openers) else _ENDLESS
                found += 1
                if found == _MOST_TURNS or last < end:
                    break
        return found


def _kind(value: Value, seen: _Seen) -> Kind:
    """Return what a fact is worth as: the key of a number or a name may say what it is."""
    if value.kind in ("number", "name"):
        argument = seen.sides.get("argument")
        if argument is not None and _ADDRESS.search(_key(argument)):
            return "mail"
        if _ID.search(seen.origin[2]):
            return "id"
        if value.kind == "number" and _MONEY.search(seen.origin[2]):
            return "amount"
    return value.kind
