"""The needed facts that a summary's text left out, as entries of a record within a budget.

Not here: which facts are needed (`needs`), what becomes of earlier entries (`carry`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from chatfold.core.call_words import LONGEST, CallWords, Path, label_of
from chatfold.core.carry import SAID_BY_USER
from chatfold.core.choice import Form, Group, Line, chosen, priced, ranked
from chatfold.core.entries import Entry, Field
from chatfold.core.facts import Sighting
from chatfold.core.needs import Need
from chatfold.core.record import Record, rendered
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


class Ledger:
    """Finds the words for needed facts, and takes those that are worth most for their room.

    Args:
        views: The readings of the whole list.
        words: The words of all calls.
        gone: Positions of the calls that go, in order.
        earlier: The words of an earlier summary, without its record.
        clean: Applied to every text before it is read.
        places: Where each value of the list was seen, by its key.
        first: Each value as it was first seen, by its key.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        words: CallWords,
        gone: Iterable[int],
        *,
        earlier: str,
        clean: Callable[[str], str],
        places: Mapping[str, Sequence[Sighting]],
        first: Mapping[str, Value],
    ) -> None:
        self.views = views
        self.words = words
        self.earlier = earlier
        self.clean = clean
        self.places = places
        self._gone = [number for number in gone if words.calls[number].completed]
        self._in_reach = frozenset(self._gone)
        self._alike_of: dict[int, list[int]] = {}
        self._groups: dict[int, Group] = {}
        self._keys = {seen.text: key for key, seen in first.items()}
        self._values: dict[int, list[tuple[str, list[Value]]]] = {}

    def entries(self, needs: Sequence[Need], room: int, count: TextSizes) -> list[Entry]:
        """Return entries for the facts that are worth most, newest last, of about `room` tokens."""
        lines = self._lines(needs, int(_LOOKED_AT * room))
        headers = priced(lines, count)
        moves = ranked(lines, headers)
        made = chosen(moves, room, headers)
        told = {field.text for entry in made for field in entry.arguments or ()}
        left = [found for found in lines if found.full or found.bare.field.text not in told]
        if len(left) < len(lines):
            moves = ranked(left, headers)
            made = chosen(moves, room, headers)
        # The parts of a text may count for more than the whole of it, which leaves room unused.
        used = max(1, count(rendered(Record(values=tuple(made)))))
        for share in _REFILLS:
            more = chosen(moves, int(share * room * room / used), headers)
            if used < room >= count(rendered(Record(values=tuple(more)))):
                return more
        return made

    def _lines(self, needs: Sequence[Need], room: int) -> list[Line]:
        """Return the words for the needs of most worth; several facts may share theirs."""
        made: dict[str, Line] = {}
        for place, need in sorted(enumerate(needs), key=lambda placed: -placed[1].worth):
            if room <= 0:
                break
            for home in need.homes:
                found = self._line(need, home, place)
                if found is not None:
                    break
            else:
                continue
            if _SMALL.fullmatch(need.fact.text):
                found.worth *= _SMALL_WORTH
            label, text, _ = found.bare.field
            known = made.get(text.casefold())
            if known is None:
                made[text.casefold()] = found
                room -= _AROUND + (len(label) + len(text)) // _CHARACTERS
            else:
                known.worth += found.worth
                known.order = max(known.order, found.order)
        return list(made.values())

    def _line(self, need: Need, home: Sighting, place: int) -> Line | None:
        """Return the words for a fact at one place, None where that is inside a body of text."""
        order = (need.last, home.index, place)
        if home.place == "text":
            return self._said_line(need, home, order)
        if home.call is None:
            return None
        name = self.words.name(home.call)
        if home.place == "argument":
            leaf = self.words.leaf(self.words.arguments(home.call), home.path)
            text = self._leaf(leaf, home.path, need)
            if text is None:
                return None
            return Line(self._bare(need, home, text, leaf), None, order, need.worth)
        return self._result_line(need, home, name, order)

    def _said_line(self, need: Need, home: Sighting, order: tuple[int, int, int]) -> Line | None:
        """Return the words for a fact that somebody said."""
        author = EARLIER if home.author == "summary" else home.author
        said = self._said(need, home)
        if said is None:
            return None
        full = Form((author, None), Field("", said))
        alone = self._alone(need)
        if alone is None or len(alone) >= len(said) or _SMALL.fullmatch(alone):
            return Line(full, None, order, need.worth)
        return Line(Form((author, None), Field("", alone)), full, order, need.worth)

    def _result_line(
        self, need: Need, home: Sighting, name: str, order: tuple[int, int, int]
    ) -> Line | None:
        assert home.call is not None
        leaf = self.words.leaf(self.words.result(home.call), home.path)
        text = self._leaf(leaf, home.path, need)
        if text is None:
            return None
        worth, was = need.worth, ""
        if not home.path or (isinstance(leaf, str) and len(leaf) > LONGEST):
            full = Form((name, None), Field("", text))  # one of many in a text
            return Line(Form((need.fact.kind, None), full.field), full, order, worth)
        if home.path and not any(isinstance(step, int) for step in home.path):
            now, was = self._change(home.call, home.path)
            worth, text = (worth, now) if now else (worth * _SUPERSEDED, text)
        steps = tuple(step for step in home.path[-2:] if step != text)
        full = Form(self._group(home.call, name), Field(self.clean(label_of(steps)), text, was))
        return Line(self._bare(need, home, text, text), full, order, worth)

    def _group(self, number: int, name: str) -> Group:
        """Return what a call and its result are named by; one value needs no label."""
        known = self._groups.get(number)
        if known is None:
            identity = self.words.identity(number)
            one = (Field("", identity[0].text),) if len(identity) == 1 else identity
            known = self._groups[number] = (name, one)
        return known

    def _bare(self, need: Need, home: Sighting, text: str, leaf: object) -> Form:
        """Return a value with others under its key; a part of a text with others of its kind."""
        assert home.call is not None
        key = next((step for step in reversed(home.path) if isinstance(step, str)), "")
        if not key or len(str(leaf)) > _PART * len(text):
            return Form((need.fact.kind, None), Field("", text))
        label = self.clean(key)
        if label.lower() in _GENERAL or label in _AUTHORS:
            label = f"{self.words.name(home.call)}.{label}"
        return Form((label, None), Field("", text))

    def _leaf(self, leaf: object, path: Path, need: Need) -> str | None:
        """Return the words of a value in arguments or a result, given what stands at its path."""
        if leaf is None or isinstance(leaf, (dict, list)):
            return None
        text = str(leaf)
        plain = need.fact.kind in _PLAIN and len(text) > _MOST_AROUND * len(need.fact.text)
        if path and len(text) <= LONGEST and not plain:
            return self.clean(" ".join(text.split()))
        return self._alone(need)

    def _alone(self, need: Need) -> str | None:
        text = self.clean(need.fact.text)
        return text if 0 < len(text) <= LONGEST else None

    def _change(self, number: int, path: Path) -> tuple[str, str]:
        """Return what the latest call like this one gave at a path, and what was there before."""
        now = was = ""
        for other in reversed(self._alike(number)[-_CHANGES_LOOKED_AT:]):
            leaf = self.words.leaf(self.words.result(other), path)
            text = "" if leaf is None else self.clean(" ".join(str(leaf).split()))
            if not text or len(text) > LONGEST:
                continue
            if now and text != now:
                was = text
                break
            now = text
        return now, was

    def _alike(self, number: int) -> list[int]:
        """Return the calls of one tool that name the same as this one, in order."""
        known = self._alike_of.get(number)
        if known is None:
            name, identity = self.words.calls[number].name, self.words.identity(number)
            known = [
                other
                for other in self._that_may_be_alike(number, identity)
                if other == number
                or (self.words.calls[other].name == name and self.words.identity(other) == identity)
            ]
            self._alike_of.update(dict.fromkeys((number, *known), known))
        return known

    def _that_may_be_alike(self, number: int, identity: tuple[Field, ...]) -> Sequence[int]:
        """Return the calls with a value that names one; all of them where none is known as such."""
        fewest: set[int] | None = None
        for field in identity:
            calls = self._that_name(field.text)
            if number in calls and (fewest is None or len(calls) < len(fewest)):
                fewest = calls
        return self._gone if fewest is None else sorted(fewest & self._in_reach)

    def _that_name(self, text: str) -> set[int]:
        """Return the calls whose arguments name a value, if that is all that a text is."""
        key = self._keys.get(text)
        if key is None:
            found = values(text)
            key = found[0].key if len(found) == 1 else ""
        seen = self.places.get(key, ())
        return {s.call for s in seen if s.call is not None and s.place == "argument"}

    def _said(self, need: Need, home: Sighting) -> str | None:
        """Return a value with the words around it that say what it is."""
        for text, found in self._texts(home.index):
            for value in found:
                if value.key == need.fact.key:
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
