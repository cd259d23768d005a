"""What a user said last of a thing, where a record would else tell only what they said before.

"The 3rd. No, the 4th": a call was made for the 4th, which is told by that, and the words of the
user that are left are of the 3rd. Not here: which values a record tells (`recorded`, `ledger`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from chatfold.core.entries import Entry, Field
from chatfold.core.recording.carry import SAID_BY_USER
from chatfold.core.recording.needs import Needs
from chatfold.core.sightings import Sighting
from chatfold.core.values import Kind, values

__all__ = ["corrections", "hold_all"]

_ALIKE: Final[Mapping[Kind, str]] = {
    "amount": "number",
    "date": "date",
    "number": "number",
    "time": "time",
}


def corrections(
    needs: Needs, told: Iterable[int], left: Sequence[int], carried: Sequence[Entry]
) -> dict[int, Sighting]:
    """Return the places of values to be told in the user's words too, and where these are.

    Those are values that the user named behind another one of their kind, where a record tells of
    that one by the user's words, and of these only by calls, or as what was given to one: the first
    of them, and the last.

    Args:
        needs: The needed facts.
        told: Places of those that a record tells by its calls.
        left: Places of those that it has to tell otherwise.
        carried: Entries of an earlier record that it holds too.
    """
    kinds = {place: _kind(needs, place) for place in told}
    said = {p: home for p, kind in kinds.items() if kind and (home := _by_user(needs, p))}
    several = map(needs.tracks.get, map(needs.keys.__getitem__, left))  # None: it stands once
    for place, track in zip(left, several, strict=True):
        if track is None or "user" not in track.sides:
            continue
        home = track.sides["user"]
        if home is not track.home and _kind(needs, place):
            said[place] = home
    if not said:
        return {}
    before = [
        v for e in carried if e.name == SAID_BY_USER for f in e.values for v in values(f.text)
    ]
    known, old = {v.key for v in before}, {_ALIKE.get(v.kind) for v in before}
    others = ((place, _by_user(needs, place)) for place in left if _kind(needs, place))
    homes = {**{place: home for place, home in others if home is not None}, **said}
    alike: dict[str, list[int]] = {}
    for place in sorted(homes, key=lambda place: (homes[place].index, place)):
        kind = _kind(needs, place)
        assert kind is not None  # all of them have one
        alike.setdefault(kind, []).append(place)
    found: dict[int, Sighting] = {}
    for kind, places in alike.items():
        is_behind = kind in old
        for is_told, run in groupby(places, said.__contains__):
            new = [place for place in run if needs.keys[place] not in known]
            if is_told and is_behind:
                found.update((place, said[place]) for place in (*new[:1], *new[-1:]))
            is_behind = True
    return found


def hold_all(entries: Iterable[Entry], others: Iterable[Entry]) -> bool:
    """Return whether entries hold all that others do: what is told twice displaces nothing."""
    return _fields(others) <= _fields(entries)


def _fields(entries: Iterable[Entry]) -> set[tuple[str, object, Field]]:
    return {(entry.name, entry.arguments, field) for entry in entries for field in entry.values}


def _kind(needs: Needs, place: int) -> str | None:
    return _ALIKE.get(needs.values[needs.keys[place]].kind)


def _by_user(needs: Needs, place: int) -> Sighting | None:
    """Return where a user named a fact first, None where none did."""
    key = needs.keys[place]
    track = needs.tracks.get(key)
    if track is not None:
        return track.sides.get("user")
    first = needs.places[key][0]
    return first if first.author == SAID_BY_USER else None
