"""Which facts of a head a later model needs.

Not here: what each is worth (`worth`), which ones fit (`ledger`), what a fact is (`facts`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from chatfold.core.calls import ToolCallRecord
from chatfold.core.facts import Facts
from chatfold.core.recording.kin import Worked
from chatfold.core.recording.worth import Weigher, worth_as
from chatfold.core.reuse import Origin, Rates
from chatfold.core.sightings import Sighting
from chatfold.core.summary import earlier_summary
from chatfold.core.uses import HOMES, Track, home_of, own_side
from chatfold.core.values import Value
from chatfold.core.views import ItemView

__all__ = ["Head", "Need", "Needs", "needs_of"]

_RECENT_TURNS = 2
_RECENT_ITEMS = 8
_OPENING_ITEMS = 4
_KIN = "kin"
_FEW = 3  # ids that a result is the first to name, at the most, where they are of what was made


@dataclass(frozen=True, slots=True)
class Head:
    """The items that a summary takes the place of.

    Attributes:
        span: Their indices, those of items that stay among them.
        kept: Indices in the span of items that stay.
        recent: Index from which on they are recent.
        opening: Index up to which they are the opening, which says what it all is about; 0 where
            the conversation began before them.
    """

    span: range
    kept: frozenset[int]
    recent: int
    opening: int = 0

    @classmethod
    def of(
        cls,
        views: Sequence[ItemView],
        span: range,
        kept: frozenset[int],
        openers: Sequence[int],
    ) -> Head:
        """Return the head of a list: its last two turns, or eight items, are recent.

        Where no summary stands in front, the first turn that goes is its opening, or the first
        four items of that. `openers` are the indices of the user's messages in the list.
        """
        first, behind = bisect_left(openers, span.start), bisect_left(openers, span.stop)
        openers = openers[first:behind]
        recent = openers[-_RECENT_TURNS] if len(openers) >= _RECENT_TURNS else span.start
        recent = min(recent, max(span.start, span.stop - _RECENT_ITEMS))
        if not span or earlier_summary(views[span.start : span.stop]) is not None:
            return cls(span, kept, recent)
        first = next((index for index in span if index not in kept), span.stop)
        second = next(
            (index for index in openers if index > first and index not in kept), span.stop
        )
        return cls(span, kept, recent, min(second, first + _OPENING_ITEMS))

    def __contains__(self, index: int) -> bool:
        return index in self.span and index not in self.kept


class Need(NamedTuple):
    """A fact that a later model needs.

    Attributes:
        key: Its key in the facts of the list.
        value: It, as it was first seen.
        sightings: Where it stands.
        track: What has come of it, where it stands in several places.
        home: The place in the head that says best what it is, None where none does.
        worth: How much is lost without it, compared with others.
        sure: Whether it is needed; else it is a value that a tool once gave and nobody has used,
            which goes in where there is room.
    """

    key: str
    value: Value
    sightings: Sequence[Sighting]
    track: Track | None
    home: Sighting | None
    worth: float
    sure: bool = True

    def homes(self) -> Iterable[Sighting]:
        """Return the places in the head that say what it is, the one that says it best first."""
        if self.track is None:
            return self.sightings
        sides = self.track.sides
        return (sides[side] for side in HOMES if side in sides)


class Needs:
    """Needed facts, column by column, in the order in which they were first seen.

    There are thousands, and a record looks at hundreds: each is put together when it is asked for.

    Args:
        found: The facts of the whole list.
        seen: What has become of those of which more is known than `found` keeps up.

    Attributes:
        keys: The keys of the facts.
        worths: How much is lost without each.
        sure: Whether each is needed.
        values: All facts of the list as they were first seen, by their keys.
        places: Where each of them stands, likewise.
        tracks: What has come of those that stand in several places.
    """

    def __init__(self, found: Facts, seen: Mapping[str, _Seen]) -> None:
        self.keys: list[str] = []
        self.worths: list[float] = []
        self.sure: list[bool] = []
        self.values: Mapping[str, Value] = found.values
        self.places: Mapping[str, Sequence[Sighting]] = found.places
        self.tracks: Mapping[str, Track | None] = found.uses.tracks
        if seen:
            self.tracks = {**self.tracks, **{key: known[1] for key, known in seen.items()}}

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, place: int) -> Need:
        key = self.keys[place]
        track, sightings = self.tracks.get(key), self.places[key]
        home, worth, sure = home_of(sightings, track), self.worths[place], self.sure[place]
        return Need(key, self.values[key], sightings, track, home, worth, sure)


def needs_of(
    found: Facts,
    head: Head,
    calls: Sequence[ToolCallRecord],
    *,
    written: Collection[int],
    earlier: Container[str],
) -> Needs:
    """Return the needed facts, in the order in which they were first seen.

    Needed is what the user said, what was an argument, what came of a call that changed things,
    what was named again in an argument or by the assistant, what is recent, and what an earlier
    summary says. What stands in an item that stays is not lost, and so not needed. What only a
    tool has given is not sure to be needed; it is worth as much as the history shows that agents
    come back to what is given there.

    Args:
        found: The facts of the whole list.
        head: What goes.
        calls: The records of all calls of the list.
        written: Positions in the calls of those that changed something.
        earlier: Keys of the facts that an earlier summary is there for.
    """
    span = head.span
    stays = found.said.keys_in((*range(span.start), *head.kept, *range(span.stop, found.items)))
    again = _Again(found, calls, written, earlier, stays)
    weigher = Weigher(head, Rates(again.counts))
    values, places, tracks, known = found.values, found.places, found.uses.tracks, again.seen
    alone, fresh, start = weigher.alone, weigher.fresh, span.start
    opening, recent = head.opening, head.recent
    needs = Needs(found, known)
    keys, worths, sure = needs.keys, needs.worths, needs.sure
    for (key, origin), index in zip(found.uses.origins.items(), found.uses.firsts, strict=True):
        if key in stays:
            continue
        track, kin, near, made = tracks.get(key), -1, False, False
        if key in known:
            origin, track, kin, near, made = known[key]
            if track is not None and not track.sides:
                continue
        elif track is None and index >= opening:  # as most are: its origin tells
            weight = alone[origin][index < recent]
            if type(weight) is tuple:
                keys.append(key)
                worths.append(weight[0] * fresh[index - start])
                sure.append(weight[1])
                continue
            if weight is None:
                continue
        weighed = weigher.worth(values[key], places[key], origin, track, kin, near, made)
        if weighed is not None:
            keys.append(key)
            worths.append(weighed[0])
            sure.append(weighed[1])
    return needs


_Seen: TypeAlias = tuple[Origin, Track | None, int, bool, bool]
"""Where a fact comes from; what has come of it, if it stands in several places; the last item that
worked with a path of the same name, else -1; whether it is a path of a tree that was worked in, or
an id of what a call has made."""


class _Again:
    """The facts of which more is to be known than what is kept up as a list grows.

    That is what came of calls that changed something, what an earlier summary names, and paths
    that results were the first to name: they may be kin of what was worked with.

    Args:
        found: The facts of the whole list.
        calls: The records of all calls of the list.
        written: Positions in the calls of those that changed something.
        earlier: Keys of the facts that an earlier summary is there for.
        stays: Keys of the facts that stand in items that stay.

    Attributes:
        seen: What has become of them, by their keys; no need is made of what stays.
        counts: How many facts of the list are of an origin, and were used so often.
    """

    def __init__(
        self,
        found: Facts,
        calls: Sequence[ToolCallRecord],
        written: Collection[int],
        earlier: Container[str],
        stays: Container[str],
    ) -> None:
        self._written, self._uses = written, found.uses
        self._origins: dict[Origin, Origin] = {}
        uses = found.uses
        results = (calls[number].result_index for number in written)
        keys = found.said.keys_in(index for index in results if index is not None)
        keys |= uses.told_before
        paths = Worked((found.values[key].text, found.places[key]) for key in uses.paths)
        made = self._made(keys, found)
        self.seen: dict[str, _Seen] = {}
        self.counts: defaultdict[tuple[Origin, int], int] = defaultdict(int, uses.counts)
        for key in keys | uses.given:
            sightings, before = found.places[key], uses.origins[key]
            origin, track = before, uses.tracks.get(key)
            counted = before, 0 if track is None else track.uses
            if key in keys:
                origin = self._origin(before, sightings[0])
                if key in uses.told_before:
                    told = key in earlier or key in stays
                    track = self._track_told(sightings, told=told)
                elif track is not None and "result" in track.sides and key not in stays:
                    track = self._track(track, sightings)
            kin, near = -1, False
            if key in uses.given:
                text = found.values[key].text
                kin, near = paths.kin(text), paths.is_near(text)
                if kin >= 0:
                    origin = (origin[0], "", _KIN, origin[3])
            self.seen[key] = (origin, track, kin, near, key in made)
            self.counts[counted] -= 1
            self.counts[origin, 0 if track is None else track.uses] += 1

    def _made(self, keys: Iterable[str], found: Facts) -> set[str]:
        """Return the keys of the ids of what calls have made: their results name them first.

        One that names many, or has them in a list, says what it has to do with.
        """
        first: dict[str, int | None] = {}
        for key in keys:
            seen, (_, _, label, kind) = found.places[key][0], found.uses.origins[key]
            if self._side(seen) == "outcome" and worth_as(kind, label, None) == "id":
                first[key] = seen.call
        given = Counter(first.values())
        return {
            key
            for key, call in first.items()
            if given[call] <= _FEW and not any(type(s) is int for s in found.places[key][0].path)
        }

    def _origin(self, origin: Origin, first: Sighting) -> Origin:
        """Return where a fact comes from: the same object for all that come from there."""
        if self._side(first) != "outcome":
            return origin
        return self._origins.setdefault(origin, ("outcome", *origin[1:]))

    def _track(self, track: Track, sightings: Sequence[Sighting]) -> Track:
        """Return what has come of a fact, where some results that name it may be outcomes.

        Args:
            track: What has come of it, with all of them as results.
            sightings: Where it stands.
        """
        latest: dict[str, Sighting] = {}
        for seen in reversed(sightings):
            side = self._side(seen)
            if side == "outcome" or side == "result":
                latest.setdefault(side, seen)
                if len(latest) > 1:
                    break
        outcome = latest.get("outcome")
        return track if outcome is None else track.with_outcomes(outcome, latest.get("result"))

    def _track_told(self, sightings: Sequence[Sighting], *, told: bool) -> Track:
        """Return what has come of a fact that an earlier summary names.

        Args:
            sightings: Where it stands.
            told: Whether that summary counts.
        """
        track, uses = Track(), self._uses
        for seen in sightings:
            side, turn = self._side(seen), uses.turn(seen.index)
            if told or side != "summary":
                track.add(seen, side, turn)
            else:
                track.name_in(turn)
        return track

    def _side(self, seen: Sighting) -> str:
        """Return who names a value: the user, the assistant, a call, its result, a summary."""
        _, author, place, path, call, _ = seen
        if place == "text":
            return own_side(author)
        if (call, place, path) in self._uses.bodies:
            return "body"
        return "outcome" if place == "result" and call in self._written else place
