"""The needed facts that a summary's text left out, as entries of a record within a budget.

Not here: which facts are needed (`needs`), what becomes of earlier entries (`carry`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from chatfold.core.call_words import LONGEST, CallWords, Path, label_of
from chatfold.core.carry import SAID_BY_USER
from chatfold.core.entries import Entry, Field, line
from chatfold.core.facts import Sighting
from chatfold.core.needs import Need
from chatfold.core.record import Record, rendered
from chatfold.core.snippets import snippet
from chatfold.core.values import Value, values
from chatfold.core.views import ItemView, SummaryPart, TextPart

__all__ = ["EARLIER", "Ledger"]

EARLIER = "earlier"
"""Who says what only an earlier summary still tells."""

_LOOKED_AT = 4  # times the budget: needs of less worth than that are not looked at
_CHANGES_LOOKED_AT = 50  # calls
_SUPERSEDED = 0.3  # what remains of the worth of a value that a later call no longer gave
_REFILLS = (1.0, 0.95, 0.9)  # shares of what a first attempt left over
_TRIES = 40  # values that do not fit before the rest is given up

# Kinds of values that say by themselves what they are, without the words around them.
_PLAIN = frozenset({"id", "hash", "path", "mail", "url", "phone", "version"})
_MOST_AROUND = 2  # times its length: in a longer text such a value stands alone

_Group = tuple[str, tuple[Field, ...] | None]


@dataclass(slots=True)
class _Line:
    """A value that may become a field of an entry; `cost` is what it takes of the room."""

    group: _Group
    field: Field
    order: tuple[int, int, int]
    worth: float
    cost: int = 0


class Ledger:
    """Finds the words for needed facts, and takes those that are worth most for their room.

    Args:
        views: The readings of the whole list.
        words: The words of all calls.
        gone: Positions of the calls that go, in order.
        earlier: The words of an earlier summary, without its record.
        clean: Applied to every text before it is read.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        words: CallWords,
        gone: Iterable[int],
        *,
        earlier: str,
        clean: Callable[[str], str],
    ) -> None:
        self.views = views
        self.words = words
        self.earlier = earlier
        self.clean = clean
        self._by_name: dict[str, list[int]] = {}
        for number in gone:
            name = words.calls[number].name
            if name is not None and words.calls[number].completed:
                self._by_name.setdefault(name, []).append(number)
        self._groups: dict[str, dict[tuple[Field, ...], list[int]]] = {}
        self._values: dict[int, list[tuple[str, list[Value]]]] = {}

    def entries(self, needs: Sequence[Need], room: int, count: Callable[[str], int]) -> list[Entry]:
        """Return entries for the facts that are worth most, newest last, of about `room` tokens."""
        lines = self._lines(needs, _LOOKED_AT * room)
        made = _entries(_chosen(lines, room, count))
        told = {field.text for entry in made for field in entry.arguments or ()}
        lines = [f for f in lines if f.group[1] is not None or f.field.text not in told]
        made = _entries(_chosen(lines, room, count))
        # The parts of a text may count for more than the whole of it, which leaves room unused.
        used = max(1, count(rendered(Record(values=tuple(made)))))
        for share in _REFILLS:
            more = _entries(_chosen(lines, int(share * room * room / used), count))
            if used < room >= count(rendered(Record(values=tuple(more)))):
                return more
        return made

    def _lines(self, needs: Sequence[Need], room: int) -> list[_Line]:
        """Return the words for the needs of most worth; several facts may share theirs."""
        made: dict[tuple[_Group, str, str], _Line] = {}
        for place, need in sorted(enumerate(needs), key=lambda placed: -placed[1].worth):
            if room <= 0:
                break
            room -= 2 + len(need.fact.text) // 4
            for home in need.homes:
                found = self._line(need, home, place)
                if found is not None:
                    break
            else:
                continue
            key = (found.group, found.field.label, found.field.text)
            known = made.get(key)
            if known is None:
                made[key] = found
            else:
                known.worth += found.worth
        return list(made.values())

    def _line(self, need: Need, home: Sighting, place: int) -> _Line | None:
        """Return the words for a fact at one place, None where that is inside a body of text."""
        worth = need.worth
        order = (need.last, home.index, place)
        if home.place == "text":
            author = EARLIER if home.author == "summary" else home.author
            said = self._said(need, home)
            return None if said is None else _Line((author, None), Field("", said), order, worth)
        if home.call is None:
            return None
        name = self.words.name(home.call)
        if home.place == "argument":
            text = self._leaf(self.words.arguments(home.call), home.path, need)
            if text is None:
                return None
            label = self.clean(label_of(home.path))
            group = f"{name}.{label}" if label else name
            return _Line((group, None), Field("", text), order, worth)
        return self._result_line(need, home, name, order)

    def _result_line(
        self, need: Need, home: Sighting, name: str, order: tuple[int, int, int]
    ) -> _Line | None:
        assert home.call is not None
        result = self.words.result(home.call)
        text = self._leaf(result, home.path, need)
        if text is None:
            return None
        worth, was = need.worth, ""
        leaf = self.words.leaf(result, home.path)
        if not home.path or (isinstance(leaf, str) and len(leaf) > LONGEST):
            return _Line((name, None), Field("", text), order, worth)  # one of many in a text
        if home.path and not any(isinstance(step, int) for step in home.path):
            now, was = self._change(home.call, home.path)
            worth, text = (worth, now) if now else (worth * _SUPERSEDED, text)
        identity = self.words.identity(home.call)
        group = (name, (identity[0]._replace(label=""),) if len(identity) == 1 else identity)
        return _Line(group, Field(self.clean(label_of(home.path[-2:])), text, was), order, worth)

    def _leaf(self, root: object, path: Path, need: Need) -> str | None:
        """Return the words of a value in arguments or a result."""
        leaf = self.words.leaf(root, path)
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
        name = self.words.calls[number].name or ""
        if name not in self._groups:
            groups = self._groups[name] = {}
            for other in self._by_name.get(name, ()):
                groups.setdefault(self.words.identity(other), []).append(other)
        return self._groups[name].get(self.words.identity(number), [])

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


def _entries(chosen: Sequence[_Line]) -> list[Entry]:
    """Return one entry for each call and author, in the order in which they were last named."""
    groups: dict[_Group, list[_Line]] = {}
    for found in sorted(chosen, key=lambda found: found.order[1:]):
        groups.setdefault(found.group, []).append(found)
    newest = sorted(groups.items(), key=lambda group: max(found.order for found in group[1]))
    return [
        Entry(name, arguments, tuple(dict.fromkeys(found.field for found in inside)))
        for (name, arguments), inside in newest
    ]


def _chosen(lines: Sequence[_Line], room: int, count: Callable[[str], int]) -> list[_Line]:
    """Return the lines that fit: first what the user said, then what is worth most for its room."""
    for found in lines:
        found.cost = found.cost or max(1, count(_shown(found.field)))
    members: dict[_Group, int] = {}
    for found in lines:
        members[found.group] = members.get(found.group, 0) + 1
    headers = {group: max(1, count(f"- {line(Entry(*group))}: \n")) for group in members}

    def gain(found: _Line) -> float:
        share = headers[found.group] / members[found.group]
        return found.worth / (found.cost + share)

    def in_order(some: Iterable[_Line]) -> list[_Line]:
        return sorted(some, key=lambda found: (-gain(found), found.order))

    of_user = [found for found in lines if found.group[0] == SAID_BY_USER]
    chosen = _fitting(in_order(of_user), room // 2, headers)
    taken = set(map(id, chosen))
    rest = (found for found in lines if id(found) not in taken)
    return _fitting([*chosen, *in_order(rest)], room, headers)


def _fitting(lines: Sequence[_Line], room: int, headers: Mapping[_Group, int]) -> list[_Line]:
    """Return the lines that fit, the first ones first."""
    chosen: list[_Line] = []
    opened: set[_Group] = set()
    tries = _TRIES
    for found in lines:
        cost = found.cost + (0 if found.group in opened else headers[found.group])
        if cost <= room:
            room -= cost
            opened.add(found.group)
            chosen.append(found)
        elif (tries := tries - 1) <= 0:
            break
    return chosen


def _shown(field: Field) -> str:
    return f", {line(Entry('', None, (field,)))}"
