"""Of what the values of lists are: the names of things, in the room that a record has left.

A place in a list says nothing to somebody who does not see the list, and next time another thing
stands there. Not here: what names a thing (`rows`), which values fit (`choice`, `carry`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from chatfold.core.call_json import Path
from chatfold.core.call_words import CallWords
from chatfold.core.entries import Entry, Field, is_in_a_list, row_of
from chatfold.core.phrases import Phrase
from chatfold.core.record import Record, rendered
from chatfold.core.recording.carry import names_a_thing
from chatfold.core.recording.choice import Line
from chatfold.core.recording.rows import Rows, keys_of
from chatfold.core.recording.sizes import TextSizes
from chatfold.core.sightings import Sighting

__all__ = ["Owned", "Owners", "without_owners"]

_LOOKED_AT: Final = 20  # results that may say otherwise
_LEAST: Final = 4  # tokens that a name takes
_SHARES: Final = (1.0, 0.9, 0.6)  # of the room that is left: texts may count for more than alone

Calls: TypeAlias = Callable[[], Mapping[tuple[str, object], Sequence[int]]]
"""Returns the positions of calls, in order, by what names them in an entry."""

Owned: TypeAlias = Mapping[tuple[str, tuple[Field, ...] | None, Field], str]
"""Of what values are, by the name and the arguments of their entry, and their words."""

Phrases: TypeAlias = Mapping[Field | None, Phrase]
"""The words for values of the list, by what they are in the entry of their call."""


def without_owners(record: Record) -> tuple[Record, Owned]:
    """Return a record as it is without what its values are of, and that."""
    owned = {
        (entry.name, entry.arguments, field._replace(of="")): field.of
        for entry in record.values
        for field in entry.values
        if field.of
    }
    if not owned:
        return record, owned
    bare = (
        entry._replace(values=tuple(field._replace(of="") for field in entry.values))
        for entry in record.values
    )
    return record._replace(values=tuple(bare)), owned


class Owners:
    """Tells of what values in a record are.

    Args:
        words: The words of all calls.
        calls: Those that go.
        before: Of what the values of an earlier record are.
        is_held: Whether the model's text holds a name.
    """

    def __init__(
        self, words: CallWords, calls: Calls, before: Owned, is_held: Callable[[str], bool]
    ) -> None:
        self._words = words
        self._calls = calls
        self._before = before
        self._is_held = is_held
        self._rows: dict[int, Rows] = {}
        self._ranks: dict[tuple[str, str], int] = {}

    def told(
        self, entries: Sequence[Entry], lines: Iterable[Line], room: int, count: TextSizes
    ) -> tuple[Entry, ...]:
        """Return entries with what their values are of, as far as that fits: the newest first.

        No value gives way to a name.

        Args:
            entries: The entries.
            lines: The words for values of the list among them.
            room: Tokens that all of it may have.
            count: Returns the sizes of texts in tokens.
        """
        entries = tuple(entries)
        if not any(map(_may_be_owned, entries)):
            return entries  # as mostly
        left = room - count(rendered(Record(values=entries)))
        phrases = {line[0].full: line[0] for line in lines}
        known: dict[int, Sequence[str]] = {}
        for share in _SHARES:
            named = self._fitted(entries, phrases, int(share * left), count, known)
            if named == entries or count(rendered(Record(values=named))) <= room:
                return named
        return entries

    def _fitted(
        self,
        entries: Sequence[Entry],
        phrases: Phrases,
        room: int,
        count: TextSizes,
        known: dict[int, Sequence[str]],
    ) -> tuple[Entry, ...]:
        """Return entries with what their values are of, where there is room.

        Args:
            entries: The entries.
            phrases: The words for values of the list among them.
            room: Tokens.
            count: Returns the sizes of texts in tokens.
            known: Of what the values of entries are, by their places; more is added to it.
        """
        out = list(entries)
        for place in reversed(range(len(entries))):
            entry = entries[place]
            if room < _LEAST or not _may_be_owned(entry):
                continue
            if place not in known:
                known[place] = self._owners(entry, phrases)
            fields, names = list(entry.values), known[place]
            costs = count.many(f" (of {name})" for name in names)
            before, heard, is_in = "", "", False
            for number, (field, name, cost) in enumerate(zip(fields, names, costs, strict=True)):
                row = row_of(field.label)
                if row != before or name != heard:  # else it is told once for both
                    cost = cost if name or is_in else 0
                    is_in = bool(name) and cost <= room
                    room -= cost if is_in or not name else 0
                if is_in:
                    fields[number] = field._replace(of=name)
                before, heard = row, name
            out[place] = entry._replace(values=tuple(fields))
        return tuple(out)

    def _owners(self, entry: Entry, phrases: Phrases) -> Sequence[str]:
        """Return of what each value of an entry is, "" where nothing says that, or it is plain.

        Plain it is where the entry has the name too, and nothing of another thing at that place.
        """
        owners: list[str] = []
        things: dict[str, set[object]] = {}
        named: set[object] = set()
        for field in entry.values:
            home = _home(entry, phrases.get(field))
            thing: object = field  # another one than any that is known
            owner = ""
            if not is_in_a_list(field.label):
                pass
            elif home is None:
                owner = self._before.get((entry.name, entry.arguments, field), "")
            else:
                assert home.call is not None  # it is of a result
                row, names = _row(home.path), self._rows_of(home.call).names(_row(home.path))
                thing = home.call, row
                is_name = bool(names) and home.path == (*row, names[0][0])
                if is_name:
                    named.add(thing)
                owner = self._rows_of(home.call).owner(row if is_name else home.path)
            since = None if home is None else home.call
            is_so = owner and self._is_still_so(entry, field, owner, since)
            owners.append(owner if is_so else "")
            things.setdefault(row_of(field.label), set()).add(thing)
        for number, field in enumerate(entry.values):
            here = things[row_of(field.label)]
            if len(here) == 1 and here <= named:
                owners[number] = ""
        return owners

    def _is_still_so(self, entry: Entry, field: Field, owner: str, since: int | None) -> bool:
        """Return whether the latest result that tells of a thing says a value of it, and no other.

        So does an earlier record of which no result that goes says anything.

        Args:
            entry: The value's entry.
            field: The value.
            owner: What names the thing.
            since: Position of the call that gave it; None where that went before.
        """
        calls = self._calls().get((entry.name, entry.arguments), ())
        later = [number for number in calls if since is None or number >= since]
        for number in reversed(later[-_LOOKED_AT:]):
            rows = self._rows_of(number)
            if number == since and rows.is_one_list:
                return True
            said = rows.said_of(owner, keys_of(field.label))
            if said is None:
                return False
            if said:
                return all(_says(text, field.text) for text in said)
        return len(later) <= _LOOKED_AT

    def _rows_of(self, number: int) -> Rows:
        known = self._rows.get(number)
        if known is None:
            words = self._words
            known = Rows(words.result(number), words.clean, self._is_held, self._ranks)
            self._rows[number] = known
        return known


def _may_be_owned(entry: Entry) -> bool:
    """Return whether an entry has values of a list: of one call, as else nothing says of which."""
    return entry.arguments is not None and any(is_in_a_list(f.label) for f in entry.values)


def _home(entry: Entry, phrase: Phrase | None) -> Sighting | None:
    """Return where a value stands, given the words for it, if they are of that entry."""
    if phrase is None:
        return None
    group = phrase.groups[1]
    is_of = group.name == entry.name and group.arguments == entry.arguments
    return phrase.home if is_of and phrase.home.call is not None else None


def _row(path: Path) -> Path:
    """Return as much of a path as leads to the last place in a list."""
    return path[: next((n for n in range(len(path), 0, -1) if type(path[n - 1]) is int), 0)]


def _says(text: str, value: str) -> bool:
    return text == value or (value in text and names_a_thing(value))
