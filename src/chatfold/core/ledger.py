"""The needed facts that a summary's text left out, as entries of a record within a budget.

Not here: which facts are needed (`needs`), what becomes of earlier entries (`carry`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from chatfold.core.call_words import LONGEST, CallWords, Path, label_of
from chatfold.core.carry import SAID_BY_USER
from chatfold.core.choice import Group, Line, chosen, priced, ranked
from chatfold.core.entries import Entry, Field
from chatfold.core.needs import Need
from chatfold.core.record import Record, rendered
from chatfold.core.sightings import Sighting
from chatfold.core.sizes import TextSizes
from chatfold.core.snippets import snippet
from chatfold.core.values import Value, values
from chatfold.core.views import ItemView, SummaryPart, TextPart

__all__ = ["EARLIER", "Ledger"]

EARLIER = "earlier"
"""Who says what only an earlier summary still tells."""

_LOOKED_AT = 1.6  # times the budget: needs of less worth than that are not looked at
_AROUND, _CHARACTERS = 2, 3  # what a value takes, about: tokens around it, characters of a token
_CHANGES_LOOKED_AT = 50  # calls
_SUPERSEDED = 0.3  # what remains of the worth of a value that a later call no longer gave
_REFILLS = (1.0, 0.95, 0.9)  # shares of what a first attempt left over
_PART = 2  # times its length: in a longer text a value is one of several
_SMALL = re.compile(r"\d{1,2}")  # such a number says nothing without the words around it
_SMALL_WORTH = 0.3
_GENERAL = frozenset({"id", "name", "key", "value", "values", "number", "code", "type", "data"})

# Kinds of values that say by themselves what they are, without the words around them.
_PLAIN = frozenset({"id", "hash", "path", "mail", "url", "phone", "version"})
_MOST_AROUND = 2  # times its length: in a longer text such a value stands alone

_AUTHORS = frozenset({SAID_BY_USER, "assistant", EARLIER})


class _Way(NamedTuple):
    """What is said of values at one path.

    Attributes:
        label: Its last keys and indices.
        key: Its last key, "" where it has none.
        group: Number of the entry of values under that key.
        in_a_list: Whether it leads through a list.
    """

    label: str
    key: str
    group: int
    in_a_list: bool


class Ledger:
    """Finds the words for needed facts, and takes those that are worth most for their room.

    Args:
        views: The readings of the whole list.
        words: The words of all calls.
        gone: Positions of the calls that go, in order.
        earlier: The words of an earlier summary, without its record.
        clean: Applied to every text before it is read.
        whole_text: Returns what stands at a place where a fact is all that stands there, given its
            key; None where that is not so.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        words: CallWords,
        gone: Iterable[int],
        *,
        earlier: str,
        clean: Callable[[str], str],
        whole_text: Callable[[str, Sighting], str | None],
    ) -> None:
        self.views = views
        self.words = words
        self.earlier = earlier
        self.clean = clean
        self.whole_text = whole_text
        self._gone = [number for number in gone if words.calls[number].completed]
        self._alike_of: dict[int, list[int] | None] | None = None
        self._groups: list[Group] = []
        self._numbers: dict[Group, int] = {}
        self._named: dict[int, int] = {}
        self._ways: dict[tuple[str | None, Path], _Way] = {}
        self._values: dict[int, list[tuple[str, list[Value]]]] = {}

    def entries(self, needs: Sequence[Need], room: int, count: TextSizes) -> list[Entry]:
        """Return entries for the facts that are worth most, newest last, of about `room` tokens."""
        lines = self._lines(needs, int(_LOOKED_AT * room))
        headers, groups = priced(lines, self._groups, count), self._groups
        moves = ranked(lines, headers)
        made = chosen(moves, room, headers, groups)
        told = {field.text for entry in made for field in entry.arguments or ()}
        left = [found for found in lines if found.full or found.bare.text not in told]
        if len(left) < len(lines):
            moves = ranked(left, headers)
            made = chosen(moves, room, headers, groups)
        # The parts of a text may count for more than the whole of it, which leaves room unused.
        used = max(1, count(rendered(Record(values=tuple(made)))))
        for share in _REFILLS if used < room else ():
            more = chosen(moves, int(share * room * room / used), headers, groups)
            if count(rendered(Record(values=tuple(more)))) <= room:
                return more
        return made

    def _lines(self, needs: Sequence[Need], room: int) -> list[Line]:
        """Return the words for the needs of most worth; several facts may share theirs."""
        made: dict[str, Line] = {}
        losses = [-need.worth for need in needs]
        for place in sorted(range(len(needs)), key=losses.__getitem__):
            if room <= 0:
                break
            need = needs[place]
            found = self._found(need, place)
            if found is None:
                continue
            if len(need.value.text) < 3 and _SMALL.fullmatch(need.value.text):
                found.worth *= _SMALL_WORTH
            label, text, _ = found.bare
            key = text.casefold()
            known = made.get(key)
            if known is None:
                made[key] = found
                room -= _AROUND + (len(label) + len(text)) // _CHARACTERS
            else:
                known.worth += found.worth
                known.order = max(known.order, found.order)
        return list(made.values())

    def _found(self, need: Need, place: int) -> Line | None:
        """Return the words for a fact, of the place that says it best."""
        for home in need.homes():
            last = home.index if need.track is None else need.track.last
            found = self._at(need, home, (last, home.index, place))
            if found is not None:
                return found
        return None

    def _at(self, need: Need, home: Sighting, order: tuple[int, int, int]) -> Line | None:
        """Return the words for a fact at one place, None where that is inside a body of text."""
        if home.place == "text":
            return self._said_line(need, home, order)
        if home.call is None:
            return None
        if home.place == "argument":
            return self._argument_line(need, home, home.call, order)
        return self._result_line(need, home, home.call, order)

    def _said_line(self, need: Need, home: Sighting, order: tuple[int, int, int]) -> Line | None:
        """Return the words for a fact that somebody said."""
        said = self._said(need, home)
        if said is None:
            return None
        author = self._number((EARLIER if home.author == "summary" else home.author, None))
        groups, full = (author, author), Field("", said)
        alone = self._alone(need)
        if alone is None or len(alone) >= len(said) or _SMALL.fullmatch(alone):
            return Line(full, None, groups, order, need.worth)
        return Line(Field("", alone), full, groups, order, need.worth)

    def _argument_line(
        self, need: Need, home: Sighting, call: int, order: tuple[int, int, int]
    ) -> Line | None:
        """Return the words for an argument."""
        leaf: object = self.whole_text(need.key, home)
        if leaf is None:
            leaf = self.words.leaf(self.words.arguments(call), home.path)
        text = self._leaf(leaf, home.path, need)
        if text is None:
            return None
        group = self._together(need, self._way(call, home.path), text, leaf)
        return Line(Field("", text), None, (group, group), order, need.worth)

    def _result_line(
        self, need: Need, home: Sighting, call: int, order: tuple[int, int, int]
    ) -> Line | None:
        """Return the words for a value of a result."""
        path = home.path
        leaf: object = self.whole_text(need.key, home)
        if leaf is None:
            leaf = self.words.leaf(self.words.result(call), path)
        text = self._leaf(leaf, path, need)
        if text is None:
            return None
        worth, was = need.worth, ""
        if not path or (isinstance(leaf, str) and len(leaf) > LONGEST):
            one = Field("", text)  # of many in a text
            kind, name = (need.value.kind, None), (self.words.name(call), None)
            return Line(one, one, (self._number(kind), self._number(name)), order, worth)
        way = self._way(call, path)
        if not way.in_a_list:
            now, was = self._change(call, path, leaf)
            worth, text = (worth, now) if now else (worth * _SUPERSEDED, text)
        label = way.label
        if text in path:
            label = self.clean(label_of(tuple(step for step in path[-2:] if step != text)))
        groups = self._together(need, way, text, text), self._group(call)
        return Line(Field("", text), Field(label, text, was), groups, order, worth)

    def _number(self, group: Group) -> int:
        """Return the number of an entry."""
        known = self._numbers.get(group)
        if known is None:
            known = self._numbers[group] = len(self._groups)
            self._groups.append(group)
        return known

    def _way(self, call: int, path: Path) -> _Way:
        """Return what is said of what stands at a path, in a call or its result."""
        name = self.words.calls[call].name
        known = self._ways.get((name, path))
        if known is None:
            key = next((step for step in reversed(path) if isinstance(step, str)), "")
            short = self.clean(key) if key else ""
            if short.lower() in _GENERAL or short in _AUTHORS:
                short = f"{self.words.name(call)}.{short}"
            known = self._ways[name, path] = _Way(
                label=self.clean(label_of(path[-2:])),
                key=key,
                group=self._number((short, None)),
                in_a_list=any(isinstance(step, int) for step in path),
            )
        return known

    def _group(self, call: int) -> int:
        """Return what a call and its result are named by; one value needs no label."""
        known = self._named.get(call)
        if known is None:
            identity = self.words.identity(call)
            one = (Field("", identity[0].text),) if len(identity) == 1 else identity
            known = self._named[call] = self._number((self.words.name(call), one))
        return known

    def _together(self, need: Need, way: _Way, text: str, leaf: object) -> int:
        """Return what a value stands with: others under its key, or a part of a text with its kind.

        Args:
            need: The value.
            way: What is said of where it stands.
            text: Its words.
            leaf: What stands there.
        """
        if not way.key or (leaf is not text and len(str(leaf)) > _PART * len(text)):
            return self._number((need.value.kind, None))
        return way.group

    def _leaf(self, leaf: object, path: Path, need: Need) -> str | None:
        """Return the words of a value in arguments or a result, given what stands at its path."""
        if leaf is None or isinstance(leaf, (dict, list)):
            return None
        text = str(leaf)
        plain = need.value.kind in _PLAIN and len(text) > _MOST_AROUND * len(need.value.text)
        if path and len(text) <= LONGEST and not plain:
            return self.clean(" ".join(text.split()))
        return self._alone(need)

    def _alone(self, need: Need) -> str | None:
        text = self.clean(need.value.text)
        return text if 0 < len(text) <= LONGEST else None

    def _change(self, number: int, path: Path, leaf: object) -> tuple[str, str]:
        """Return what the latest call like this one gave at a path, and what was there before.

        Args:
            number: Position of the call.
            path: Where in its result.
            leaf: What stands there.
        """
        alike = self._alike(number)
        if alike is None:  # as most are
            return self._said_at(leaf), ""
        now = was = ""
        for other in reversed(alike[-_CHANGES_LOOKED_AT:]):
            text = self._said_at(self.words.leaf(self.words.result(other), path))
            if not text:
                continue
            if now and text != now:
                was = text
                break
            now = text
        return now, was

    def _said_at(self, leaf: object) -> str:
        """Return a value as text on one line, "" where it says nothing or is too long."""
        text = "" if leaf is None else self.clean(" ".join(str(leaf).split()))
        return text if len(text) <= LONGEST else ""

    def _alike(self, number: int) -> Sequence[int] | None:
        """Return the calls of one tool that name the same as this one, in order.

        They are completed, and go; None where it is such a call, and there is no other.
        """
        if self._alike_of is None:
            calls, identity = self.words.calls, self.words.identity
            same: dict[tuple[str | None, tuple[Field, ...]], list[int]] = {}
            for other in self._gone:
                same.setdefault((calls[other].name, identity(other)), []).append(other)
            self._alike_of = {
                other: alike if len(alike) > 1 else None
                for alike in same.values()
                for other in alike
            }
        return self._alike_of.get(number, ())

    def _said(self, need: Need, home: Sighting) -> str | None:
        """Return a value with the words around it that say what it is."""
        for text, found in self._texts(home.index):
            for value in found:
                if value.key == need.key:
                    said = snippet(text, value, found)
                    return said if len(said) <= LONGEST else None
        return self._alone(need)

    def _texts(self, index: int) -> list[tuple[str, list[Value]]]:
        known = self._values.get(index)
        if known is None:
            known = self._values[index] = []
            for part in self.views[index].parts:
                text = ""
                if isinstance(part, TextPart):
                    text = self.clean(part.text)
                elif isinstance(part, SummaryPart):
                    text = self.earlier
                if text:
                    known.append((text, values(text)))
        return known
