"""What a summary says of what: the ids that each of its values is said of.

Not here: whether that is so (`placing`), where values and sentences are (`values`, `sentences`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from chatfold.core.grounding.scopes import Scopes
from chatfold.core.grounding.units import is_owner, stem_of
from chatfold.core.sentences import goes_on, governing, lines, sentences
from chatfold.core.values import Value, values

__all__ = ["Said"]

_NEAREST: Final = 6
_FAR: Final = 1_000  # characters
_COMPARED = re.compile(
    r"\b(?:than|instead|compared|versus|vs|other|another|original|originally|current|currently"
    r"|previous|previously|earlier|difference)\b",
    re.IGNORECASE,
)
_GAP = re.compile(r"…|\.\.\.|[ \t]#{1,6}[ \t]")
_LISTED = re.compile(r"[\s,&+/]*(?:(?:and|und|et|y|e|en|or|oder|ou|o|as well as)\s+)?")


class Said:
    """The values of a text, by sentence, and the ids that they are said of.

    Args:
        text: The text.

    Attributes:
        values: Its values, in order.
        spans: Its sentences, in order.
        by_sentence: The values of each.
        names: The ids in each.
        repeated: Those that it names more than once.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.structure = lines(text)
        self.scopes = Scopes(text)
        self._compares: dict[int, bool] = {}
        self.take(values(text))
        self.know({})

    def take(self, found: Sequence[Value]) -> None:
        """Take in the values of the text; `know` has to follow where they change."""
        self.values = list(found)
        self.spans = sentences(self.text, self.values, self.structure)
        self.by_sentence: list[list[Value]] = [[] for _ in self.spans]
        number = 0
        for value in self.values:
            while number + 1 < len(self.spans) and self.spans[number + 1].start <= value.start:
                number += 1
            if self.spans:
                self.by_sentence[number].append(value)

    def know(self, roles: Mapping[str, set[str]]) -> None:
        """Take in which ids there are, and what each of them is (see `Index.roles`)."""
        self.roles = roles
        self.names: list[set[str]] = []
        self.repeated: list[set[str]] = []
        self.by_scope: list[dict[int, list[Value]]] = []
        self.ids_of_line: dict[int, set[str]] = {}
        self.lines_of_role: dict[str, list[int]] = {}
        for at, span in enumerate(self.spans):
            by_scope: dict[int, list[Value]] = {}
            names: set[str] = set()
            repeated: set[str] = set()
            for value in self.by_sentence[at]:
                if value.key not in roles and (stem := stem_of(value)) in roles:
                    value = value._replace(key=stem)
                if is_owner(value) and value.key in roles:
                    by_scope.setdefault(self.scopes.at(value.start), []).append(value)
                    (repeated if value.key in names else names).add(value.key)
            self.names.append(names)
            self.repeated.append(repeated)
            self.by_scope.append(by_scope)
            self.ids_of_line.setdefault(span.line, set()).update(self._outside(at))
            for role in {role for name in names for role in roles[name]}:
                self.lines_of_role.setdefault(role, []).append(span.line)

    def named(self, value: Value, at: int) -> set[str]:
        """Return the ids that a value in a sentence is said of."""
        if len(self.names[at]) > (value.key in self.names[at]):
            return self._near(value, at)
        if at not in self._compares:  # a long sentence is looked through once, not for each value
            start, stop, _ = self.spans[at]
            self._compares[at] = _COMPARED.search(self.text, start, stop) is not None
        if self._compares[at]:
            return set()
        for before in range(at - 1, max(at - 4, -1), -1):
            if not goes_on(self.text, self.spans[before + 1]):
                break
            if self.names[before]:
                return self._above(value, self._outside(before))
        below = self.spans[at].line
        if self.ids_of_line.get(below, set()) - {value.key}:
            return set()  # what the paragraph has turned to since, its heading does not say
        for line in governing(self.structure, below):
            told = self.ids_of_line.get(line)
            if told:
                return set() if self._is_taken_over(told, line, below) else self._above(value, told)
        return set()

    def _is_taken_over(self, told: Collection[str], line: int, below: int) -> bool:
        """Return whether a line between two, such as one in bold, names another id of a kind."""
        for role in {role for name in told for role in self.roles[name]}:
            named = self.lines_of_role.get(role, [])
            at = bisect_right(named, line)
            if at < len(named) and named[at] < below:
                return True
        return False

    def listed(self, value: Value, at: int) -> set[str]:
        """Return the ids that stand in one row with a value: what is said of one is of both."""
        own, found = self.by_sentence[at], set[str]()
        place = bisect_left(own, value.start, key=lambda v: v.start)
        for step in (-1, 1):
            n = place
            while 0 <= n + step < len(own) and abs(n + step - place) <= _NEAREST:
                one, other = sorted((own[n], own[n + step]), key=lambda v: v.start)
                if not _LISTED.fullmatch(self.text, one.stop, other.start):
                    break
                n += step
                found.add(own[n].key)
        return found

    def _near(self, value: Value, at: int) -> set[str]:
        """Return the ids in a value's brackets, else in those around it, else in its clause.

        Without brackets and without ids in its clause, those in the nearest one before it or
        behind. Of many ids those nearest to the value; none from beyond a gap.
        """
        for scope in self.scopes.around(self.scopes.at(value.start)):
            own = self.by_scope[at].get(scope, ())
            place = bisect_left(own, value.start, key=lambda v: v.start)
            around = [*own[max(place - _NEAREST, 0) : place + _NEAREST + 1]]
            around = [v for v in around if v.key != value.key and not self._is_cut(v, value)]
            if around and scope:
                return self._above(value, {v.key for v in around})
            if around:
                return self._in_clause(value, around)
        return set()

    def _is_cut(self, one: Value, other: Value) -> bool:
        """Return whether something was left out between two values."""
        start, stop = min(one.stop, other.stop), max(one.start, other.start)
        return stop - start > _FAR or _GAP.search(self.text, start, stop) is not None

    def _in_clause(self, value: Value, around: Sequence[Value]) -> set[str]:
        low, high = max(value.start - _FAR, 0), value.stop + _FAR
        start = max(self.text.rfind(mark, low, value.start) for mark in ";；")
        stop = min(
            (n for mark in ";；" if (n := self.text.find(mark, value.stop, high)) >= 0), default=-1
        )
        clause = [v for v in around if v.start > start and (stop < 0 or v.start < stop)]
        if clause:
            return {v.key for v in clause}
        before = [v for v in around if v.start < value.start]
        if before:
            last = before[-1]
            return self._above(value, {v.key for v in before if not self._parted(v, last)})
        return self._above(value, {v.key for v in around[:1]})

    def _outside(self, at: int) -> set[str]:
        """Return the ids of a sentence that stand in no brackets."""
        return {v.key for v in self.by_scope[at].get(0, ())}

    def _parted(self, one: Value, other: Value) -> bool:
        """Return whether a semicolon stands between two values of a sentence."""
        start, stop = min(one.stop, other.stop), max(one.start, other.start)
        return stop - start > _FAR or any(mark in self.text[start:stop] for mark in ";；")

    def _above(self, value: Value, names: set[str]) -> set[str]:
        """Return the ids that what follows is said of; none for one more id of their kind."""
        own = self.roles.get(value.key, set())
        return set() if any(own & self.roles[name] for name in names) else names
