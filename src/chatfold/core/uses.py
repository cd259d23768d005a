"""Where each fact of a list comes from, and what has come of it, kept up as the list grows.

Not here: where facts were seen (`facts`), which of them a later model needs (`needs`).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Final

from chatfold.core.reuse import Origin
from chatfold.core.sightings import Place, Sighting
from chatfold.core.values import Kind, Value

__all__ = ["HOMES", "Track", "Uses", "home_of", "last_key", "own_side"]

HOMES: Final = ("argument", "user", "outcome", "result", "assistant", "summary", "body")
"""The sides that may name a fact, the one that says best what it is first."""

_LETTERS = re.compile(r"[^\W\d_]{1,20}")
_NEXT: Final = 2  # items: to copy what has just been given is not to come back to it
_RANKS: Final = {side: rank for rank, side in enumerate(HOMES)}
_NAMES: Final = dict[tuple[str, ...], tuple[str, ...]]()  # each once: there are very many
_OWN_SIDES: Final = frozenset({"user", "summary"})


def own_side(author: str) -> str:
    """Return whose words an author's are: of the user, an earlier summary, else the assistant.

    A tool speaks where its result came too late for its call, and is a note.
    """
    if author == "tool":
        return "result"
    return author if author in _OWN_SIDES else "assistant"


def _letters(text: str) -> str:
    """Return the letters that a value begins with: ids of one kind often share them."""
    found = _LETTERS.match(text)
    return found[0] if found else ""


def last_key(path: tuple[str | int, ...]) -> str:
    """Return the last key on a way through JSON, "" where there is none."""
    for step in reversed(path):
        if isinstance(step, str):
            return step
    return ""


class Track:
    """What has come of a fact.

    Attributes:
        names: The sides that name it, each once.
        sides: The same, each with the place that says it best: the latest, but of a
            user's the first, which says what it is about.
        uses: How often the assistant has come back to it.
        last: Index of the last item that names it, -1 where none does.
        turns: In how many turns it is named.
        home: The place of the side that says it best, None where no side names it.
    """

    __slots__ = ("_rank", "_turn", "home", "last", "names", "sides", "turns", "uses")

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.sides: dict[str, Sighting] = {}
        self.uses = 0
        self.last = -1
        self.turns = 0
        self.home: Sighting | None = None
        self._turn = -1
        self._rank = len(HOMES)

    def name_in(self, turn: int) -> None:
        """Take in that a turn names it, by its number."""
        if turn != self._turn:
            self._turn = turn
            self.turns += 1

    def with_outcomes(self, outcome: Sighting, result: Sighting | None) -> Track:
        """Return it with some of the results that name the fact as outcomes, complete.

        Args:
            outcome: The latest of these.
            result: The latest of the other results, None where there is none.
        """
        track = Track()
        track.sides = {**self.sides, "outcome": outcome}
        if result is None:
            del track.sides["result"]
        else:
            track.sides["result"] = result
        names = tuple(track.sides)
        track.names = _NAMES.setdefault(names, names)
        track.uses, track.last, track.turns = self.uses, self.last, self.turns
        track.home = next(track.sides[side] for side in HOMES if side in track.sides)
        return track

    def add(self, seen: Sighting, side: str, turn: int) -> None:
        """Take in the next place where it stands, in the turn of that number."""
        if turn != self._turn:
            self._turn = turn
            self.turns += 1
        index, last = seen.index, self.last
        if index > last + _NEXT and last >= 0 and seen.author == "assistant":
            self.uses += 1
        self.last = index
        if side not in self.sides:
            names = (*self.names, side)
            self.names = _NAMES.setdefault(names, names)
        elif side == "user":
            return
        self.sides[side] = seen
        rank = _RANKS[side]
        if rank <= self._rank:
            self._rank, self.home = rank, seen


def home_of(sightings: Sequence[Sighting], track: Track | None) -> Sighting | None:
    """Return the place that says best what a fact is, None where none does.

    Args:
        sightings: Where it stands, in order.
        track: What has come of it, where it stands in several places.
    """
    return sightings[0] if track is None else track.home


class Uses:
    """What has come of the facts of a list that grows.

    Results count as what a tool gave, whatever the call has changed.

    Attributes:
        origins: Where each fact comes from, by its key, in the order in which they were first seen.
        firsts: Index of the item in which each was, in the same order.
        tracks: What has come of those that stand in several places.
        counts: How many facts are of an origin, and were used so often.
        told_before: Keys of those that an earlier summary names.
        paths: Keys of those that are paths.
        given: Keys of the paths that a result was the first to name.
        bodies: The places in calls and their results that are inside a body of text.
        openers: Indices of the items in which a user speaks.
        kinds: Index of the item in which a user, or an earlier summary, named the first fact of
            each kind.
    """

    def __init__(self) -> None:
        self.origins: dict[str, Origin] = {}
        self.firsts = array("q")
        self.tracks: dict[str, Track] = {}
        self.counts: Counter[tuple[Origin, int]] = Counter()
        self.told_before: set[str] = set()
        self.paths: list[str] = []
        self.given: set[str] = set()
        self.bodies: set[tuple[int, Place, tuple[str | int, ...]]] = set()
        self.openers: list[int] = []
        self.kinds: dict[Kind, int] = {}
        self._shared: dict[Origin, Origin] = {}

    def turn(self, index: int) -> int:
        """Return the number of the turn that an item is in."""
        return bisect_right(self.openers, index)

    def first(self, key: str, value: Value, seen: Sighting, side: str, tool: str) -> None:
        """Take in a fact.

        Args:
            key: The fact's key.
            value: The value as it was first seen.
            seen: Where.
            side: Who names it: the author, or what of a call it is.
            tool: Name of the call's tool, "" where it is of no call.
        """
        made: Origin = (side, tool, last_key(seen.path) or _letters(value.text), value.kind)
        origin = self._shared.setdefault(made, made)
        self.origins[key] = origin
        self.firsts.append(seen.index)
        self.counts[origin, 0] += 1
        if side in _OWN_SIDES and value.kind not in self.kinds:
            self.kinds[value.kind] = seen.index
        if side == "summary":
            self.told_before.add(key)
        if value.kind == "path":
            self.paths.append(key)
            if seen.place == "result":
                self.given.add(key)

    def again(self, key: str, first: Sighting, seen: Sighting, side: str, turn: int) -> None:
        """Take in another place where a fact stands.

        Args:
            key: The fact's key.
            first: Where it was seen first.
            seen: Where it is seen now.
            side: Who names it there.
            turn: In the turn of which number.
        """
        track = self.tracks.get(key)
        if track is None:
            track = self.tracks[key] = Track()
            track.add(first, self.origins[key][0], self.turn(first.index))
        before = track.uses
        track.add(seen, side, turn)
        if track.uses != before:
            origin = self.origins[key]
            self.counts[origin, before] -= 1
            self.counts[origin, track.uses] += 1
        if side == "summary":
            self.told_before.add(key)
