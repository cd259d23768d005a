"""Which values of a summary its author was not shown, and the summary without them.

Not here: what a value looks like (`values`), what was shown (`shown`), what is done about what is
found (`guard`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from chatfold.core.cut_out import cut_out
from chatfold.core.derived import Derived, number_of, unit_of
from chatfold.core.sentences import goes_on, governing, lines, sentences
from chatfold.core.shown import Sources
from chatfold.core.units import is_owner
from chatfold.core.values import Kind, Value, values

__all__ = ["DROPPED_KINDS", "Sources", "Ungrounded", "ungrounded", "without"]

DROPPED_KINDS: Final[frozenset[Kind]] = frozenset(
    {"id", "hash", "date", "amount", "mail", "phone", "url", "path"}
)
"""Kinds whose sentences `without` drops: a wrong one makes the next model act on a wrong thing."""

_MOVABLE: Final[frozenset[Kind]] = frozenset(
    {"id", "hash", "date", "time", "amount", "number", "mail", "phone", "url", "path", "version"}
)
_OFTEN_SHARED: Final[frozenset[Kind]] = frozenset({"date", "time", "number", "version"})
_LITERAL: Final[frozenset[Kind]] = frozenset(
    {"id", "hash", "name", "error", "path", "url", "mail", "version", "command"}
)
_MOST_SEARCHES = 200  # texts that are looked for as they are written, in all that was shown
_MOST_PLACES = 400  # units of one value that are looked at


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """A value in a text that its author was not shown, or was shown for something else.

    Attributes:
        value: The value.
        sentence: Start and stop in the text of the sentence, row or line that holds it.
        why: `unseen` where it was not shown, `misplaced` where it was shown for another id than
            the sentence names.
        belongs: That other id, as its key has it; "" where it was not shown.
    """

    value: Value
    sentence: tuple[int, int]
    why: Literal["unseen", "misplaced"]
    belongs: str = ""


def ungrounded(text: str, sources: Sources) -> list[Ungrounded]:
    """Return the values in a text that its author was not shown, in order.

    What follows from what was shown is not among them: sums, counts, rounded numbers, relative
    dates. A number up to 12 is taken for a count.
    """
    return _Reading(text, sources).ungrounded()


class _Reading:
    """A summary beside what its author was shown."""

    def __init__(self, text: str, sources: Sources) -> None:
        self.text = text
        self.sources = sources
        self.said = values(text)
        self.structure = lines(text)
        self.spans = sentences(text, self.said, self.structure)
        self.searches = 0
        self.folded: set[str] | None = None
        self.by_sentence: list[list[Value]] = [[] for _ in self.spans]
        number = 0
        for value in self.said:
            while number + 1 < len(self.spans) and self.spans[number + 1].start <= value.start:
                number += 1
            if self.spans:
                self.by_sentence[number].append(value)
        roles = sources.roles
        self.ids = [[v for v in own if is_owner(v) and v.key in roles] for own in self.by_sentence]
        self.names = [{v.key for v in own} for own in self.ids]
        self.ids_of_line: dict[int, set[str]] = {}
        for span, names in zip(self.spans, self.names, strict=True):
            self.ids_of_line.setdefault(span.line, set()).update(names)
        self.known: dict[str, str | None] = {}

    def ungrounded(self) -> list[Ungrounded]:
        keys = [self.shown(value) for value in self.said]
        derived = Derived(self.text, self.said, self.sources, [key is not None for key in keys])
        found: list[Ungrounded] = []
        for at, own in enumerate(self.by_sentence):
            span = self.spans[at]
            place = (span.start, span.stop)
            for value in own:
                if self.shown(value) is None:
                    if not derived.follows(value):
                        found.append(Ungrounded(value, place, "unseen"))
                    continue
                other = self.belongs(value, at)
                if other is not None:
                    found.append(Ungrounded(value, place, "misplaced", other))
        return found

    # Whether a value was shown

    def shown(self, value: Value) -> str | None:
        """Return the key by which a value was shown, None where it was not."""
        written = f"{value.key}\n{value.text}"
        if written not in self.known:
            self.known[written] = self._shown(value)
        return self.known[written]

    def _shown(self, value: Value) -> str | None:
        places, key = self.sources.places, value.key
        if key in places:
            return key
        name = key.partition(":")[2]
        match value.kind:
            case "amount":
                return self._amount(key)
            case "id" if name.isdigit() and f"number:{name.lstrip('0')}" in places:
                return f"number:{name.lstrip('0')}"
            case "date":  # the other reading of "05/07/2026"
                for other in value.also:
                    if len(other) == len(key) == len("date:2026-07-05") and other in places:
                        return other
            case "path":
                if self._joined(name):
                    return key
            case "error":
                for other in value.also:
                    if other in self.sources.bare:
                        return other
            case "command":
                if all(
                    self.shown(v) is not None for v in values(value.text) if v.kind != "command"
                ):
                    return key
            case _:
                pass
        return key if value.kind in _LITERAL and self._stands(value) else None

    def _amount(self, key: str) -> str | None:
        """Return the number that an amount was shown as, with its currency beside it or nowhere."""
        number, currency = number_of(key), unit_of(key)
        if number is None:
            return None
        for shown in (number, number * 100):
            written = f"number:{shown.normalize():f}"
            for unit in self.sources.bare.get(written, ())[:_MOST_PLACES]:
                near = self.sources.currencies_at(unit)
                if shown != number and currency not in near:
                    continue  # hundredths need a record that says so
                if currency in near or (
                    not near
                    and (currency in self.sources.currencies or not self.sources.currencies)
                ):
                    return written
        return None

    def _joined(self, path: str) -> bool:
        """Return whether a path is a folder and a path in it that were both shown."""
        places = self.sources.places
        return any(
            f"path:{path[:n]}" in places and f"path:{path[n + 1 :]}" in places
            for n in range(1, min(len(path), 300))
            if path[n] == "/"
        )

    def _stands(self, value: Value) -> bool:
        """Return whether a value stands as it is written in what was shown."""
        if value.kind == "id" and self._is_folded(value):
            return True
        if self.searches >= _MOST_SEARCHES or len(value.text) < 3:
            return False
        self.searches += 1
        ahead = "" if value.kind == "hash" else r"(?![\w@]|[./-]\w)"
        pattern = re.compile(rf"(?<![\w@])(?<!\w[./-]){re.escape(value.text)}{ahead}")
        return any(value.text in text and pattern.search(text) for text in self.sources.texts)

    def _is_folded(self, value: Value) -> bool:
        """Return whether an id was shown with other marks between its letters and digits."""
        if self.folded is None:
            kinds = self.sources.kinds
            self.folded = {_fold(key) for key, kind in kinds.items() if kind in ("id", "hash")}
        return _fold(value.key) in self.folded

    # Whether it was shown for what the sentence names

    def belongs(self, value: Value, at: int) -> str | None:
        """Return the id that a value was shown for, where the sentence names others of its kind."""
        if value.kind not in _MOVABLE or (value.kind == "number" and len(value.text) < 3):
            return None
        key = self.shown(value)
        places = self.sources.places.get(key or "", ())
        if not places or len(places) > _MOST_PLACES:
            return None
        if value.kind in _OFTEN_SHARED and any(self.sources.is_alone(u) for u in places):
            return None
        named = self._named(value, at)
        near = named - {value.key}
        if not near or any(self.sources.beside(u, name) for u in places for name in near):
            return None
        return self._rival(value, places, near)

    def _rival(self, value: Value, places: Sequence[int], near: Collection[str]) -> str | None:
        roles = self.sources.roles
        for unit in places:
            for role, owners in self.sources.owners(unit).items():
                if len(owners) != 1:
                    continue
                (owner,) = owners
                if owner in near or owner == value.key:
                    continue
                if any(role in roles.get(name, ()) for name in near):
                    return owner.partition(":")[2]
        return None

    def _named(self, value: Value, at: int) -> set[str]:
        """Return the ids that a value in a sentence is said of."""
        own = self.ids[at]
        if len(self.names[at]) > (value.key in self.names[at]):
            return self._near(value, own)
        for before in range(at - 1, max(at - 4, -1), -1):
            if not goes_on(self.text, self.spans[before + 1]):
                break
            if self.ids[before]:
                return self._above(value, self.names[before])
        for line in governing(self.structure, self.spans[at].line):
            told = self.ids_of_line.get(line)
            if told:
                return self._above(value, told)
        return set()

    def _near(self, value: Value, own: Sequence[Value]) -> set[str]:
        """Return the ids in a value's clause, else those in the nearest clause before it or behind.

        Of many ids those nearest to the value.
        """
        at = bisect_left(own, value.start, key=lambda v: v.start)
        around = [*own[max(at - _NEAREST, 0) : at + _NEAREST + 1]]
        around = [v for v in around if v.key != value.key]
        start = max(self.text.rfind(mark, 0, value.start) for mark in ";；")
        stop = min(
            (n for mark in ";；" if (n := self.text.find(mark, value.stop)) >= 0), default=-1
        )
        clause = [v for v in around if v.start > start and (stop < 0 or v.start < stop)]
        if clause:
            return {v.key for v in clause}
        before = [v for v in around if v.start < value.start]
        if before:
            last = before[-1]
            return self._above(value, {v.key for v in before if not self._parted(v, last)})
        return self._above(value, {v.key for v in around[:1]})

    def _parted(self, one: Value, other: Value) -> bool:
        """Return whether a semicolon stands between two values of a sentence."""
        start, stop = min(one.stop, other.stop), max(one.start, other.start)
        return stop - start > _FAR or any(mark in self.text[start:stop] for mark in ";；")

    def _above(self, value: Value, names: set[str]) -> set[str]:
        """Return the ids that what follows is said of; none for one more id of their kind."""
        roles = self.sources.roles
        own = roles.get(value.key, set())
        return set() if any(own & roles[name] for name in names) else names


_NEAREST = 6
_FAR = 1_000  # characters
_MARKS = re.compile(r"[^a-z0-9]")


def _fold(key: str) -> str:
    return _MARKS.sub("", key.partition(":")[2])


def without(
    text: str, found: Sequence[Ungrounded], kinds: Collection[Kind] = DROPPED_KINDS
) -> tuple[str, list[str]]:
    """Return a text without the sentences that hold such values, and those sentences.

    What stands under a dropped heading or list item goes with it, since it would else be read as
    part of the one before. A heading that nothing is left under goes too.

    Args:
        text: The text.
        found: What `ungrounded` returned for it.
        kinds: Kinds of values that a sentence is dropped for; others stay.
    """
    return cut_out(text, sorted({u.sentence for u in found if u.value.kind in kinds}))
