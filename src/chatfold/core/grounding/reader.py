"""How texts and documents become units: an object of JSON, a row, a record, a sentence.

Not here: which texts were shown (`shown`), the index (`units`), what follows from it (`derived`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple, cast

from chatfold.core.grounding.days import as_date, days_from, days_off, is_of_days
from chatfold.core.grounding.rows import Records, snake
from chatfold.core.grounding.stamps import day_of_fields, day_of_list
from chatfold.core.grounding.units import (
    Index,
    currencies_in,
    currency_of,
    forms,
    is_owner,
    names_ids,
    number_key,
)
from chatfold.core.json_text import document
from chatfold.core.sentences import lines, sentences
from chatfold.core.values import Value, found_in
from chatfold.core.values.numbers import Cache

__all__ = ["Reader"]

_CARRIED = 8  # kinds of ids that a text can go on about


class Reader(Index):
    """An index that takes in texts.

    Args:
        clean: Applied to every text before it is read (`redact`).

    Attributes:
        sums: Numbers by what they are a result of and their key.
        counts: How many rows and lines there are of what was read.
        today: Days that are called today.
        offsets: Distances in days that are named.
        ends: Days that come so many days behind one of the same object as it says.
        weekdays: Weekdays that are named, Monday is 0.
        texts: All that was read.
    """

    def __init__(self, clean: Callable[[str], str] | None = None) -> None:
        super().__init__()
        self.sums: dict[tuple[str, str], list[str]] = {}
        self.counts: set[int] = set()
        self.today: set[date] = set()
        self.offsets: set[int] = set()
        self.weekdays: set[int] = set()
        self.ends: set[date] = set()
        self.texts: list[str] = []
        self._clean = clean
        self._words: Cache = {}

    # Plain text

    def text(self, text: str, unit: int = -1, source: str = "", *, now: bool = False) -> None:
        """Take in a plain text, a unit for each sentence, row or record in it."""
        if self._clean is not None:
            text = self._clean(text)
        if not text:
            return
        self.texts.append(text)
        found = found_in(text, self._words)
        codes = currencies_in(text)
        self.currencies.update(codes)
        days_off(text, self.offsets, self.weekdays)
        if not found:
            return
        structure = lines(text)
        spans = sentences(text, found, structure)
        if len(spans) > 2:
            self.counts.add(len(structure))
        starts = [span.start for span in spans]
        records = Records(text, structure)
        own: dict[int, int] = {}
        carried: dict[str, str] = {}
        for value in found:
            at = max(bisect_right(starts, value.start) - 1, 0)
            record, field = records.place(value)
            place = record if record is not None else -1 - at
            number = own.get(place)
            if number is None:
                number = own[place] = self.unit(unit)
                self.units[number].carried = tuple(carried.values())
                if codes:
                    span = spans[at]
                    self.units[number].currencies = currencies_in(text[span.start : span.stop])
            self.add(value, number, field)
            if is_owner(value):
                _carry(carried, value, field)
                counted = number_key(value, field)
                if counted:
                    self.sums.setdefault((source, field), []).append(counted)
            elif value.kind in ("amount", "number") and field:
                self.sums.setdefault((source, field), []).append(value.key)
            elif value.kind == "date" and (
                now or "today" in text[max(0, value.start - 40) : value.start].lower()
            ):
                day = as_date(value.key)
                if day is not None:
                    self.today.add(day)

    # JSON

    def document(self, text: str, unit: int, source: str) -> None:
        """Take in a text that may be JSON, a unit for each object in its lists."""
        if self._clean is not None:
            text = self._clean(text)
        root = document(text)
        if root is None:
            self._cleaned(text, unit, source)
            return
        self.texts.append(text)
        leaves: list[_Leaf] = []
        stack: list[_Node] = [_Node(root, unit, "", source, "")]
        while stack:
            node = stack.pop()
            value, where, key, path, trail = node
            if isinstance(value, dict):
                stack.extend(self._object(cast(dict[str, Any], value), node))
            elif isinstance(value, list):
                rows = cast(list[Any], value)
                self.counts.add(len(rows))
                for told in day_of_list(rows):
                    self.place(*told, where, f"key:{snake(key)}")
                for row in reversed(rows):
                    inner = self.unit(where) if _is_nested(row) else where
                    stack.append(_Node(row, inner, key, path, "" if inner != where else trail))
            elif isinstance(value, str):
                nested = document(value) if value[:1] in ("{", "[") else None
                if nested is not None:
                    stack.append(node._replace(value=nested))
                elif len(value) > _LONG_LEAF or "\n|" in value:
                    self._cleaned(value, self.unit(where), f"{path}.{key}")
                else:
                    leaves.append(_Leaf(value, where, key, path, trail))
        self._leaves(leaves)

    def _cleaned(self, text: str, unit: int, source: str) -> None:
        clean, self._clean = self._clean, None
        self.text(text, unit, source)
        self._clean = clean

    def _object(self, fields: dict[str, Any], node: _Node) -> list[_Node]:
        """Return the fields of an object to read on; a table of records by id is a list of them."""
        keyed = bool(fields) and all(_is_nested(v) for v in fields.values())
        _, where, key, path, trail = node
        found: list[_Node] = []
        for name, value in fields.items():
            own, step, below = where, name, f"{trail}.{name}"
            read = (
                [v for v in found_in(name, self._words) if is_owner(v)]
                if _HAS_DIGIT.search(name)
                else []
            )
            if read and keyed:
                own, step, below = self.unit(where), key, ""
                for v in read:
                    self.add(v, own, f"key:{snake(key)}")
            elif _HAS_DIGIT.search(name):
                for v in found_in(name, self._words):
                    self.add(v, own)
            found.append(_Node(value, own, step, path, below))
        for name, told in day_of_fields(fields):
            self.place(*told, where, f"key:{snake(name)}")
        if keyed:
            self.counts.add(len(fields))
        return found[::-1]

    def _leaves(self, leaves: Sequence[_Leaf]) -> None:
        """Take in the texts and numbers of a document, all read in one go."""
        text = "\n".join(leaf.text for leaf in leaves)
        starts: list[int] = []
        at = 0
        for leaf in leaves:
            starts.append(at)
            at += len(leaf.text) + 1
            codes = currency_of(leaf.text) if len(leaf.text) < 12 else None
            named = currency_of(leaf.key.rpartition("_")[2]) if leaf.key else None
            for code in (codes, named):
                if code and code not in self.units[leaf.unit].currencies:
                    self.currencies.add(code)
                    self.units[leaf.unit].currencies += (code,)
        days_off(text, self.offsets, self.weekdays)
        stays: list[tuple[int, int]] = []
        dates: list[tuple[int, str]] = []
        number = 0
        for value in found_in(text, self._words):
            while number + 1 < len(starts) and starts[number + 1] <= value.start:
                number += 1
            leaf = leaves[number]
            key = snake(leaf.key)
            whole = len(value.text) == len(leaf.text)
            if whole and value.kind == "number" and leaf.text.isdigit() and names_ids(key):
                value = value._replace(
                    kind="id", key=f"id:{leaf.text}", also=(*value.also, value.key)
                )
            role = f"key:{key}" if whole and key else ""
            self.add(value, leaf.unit, role, leaf.trail)
            if whole:
                numeric = value.kind in ("amount", "number")
                counted = value.key if numeric else number_key(value, role)
                if counted:
                    self.sums.setdefault((leaf.path, key), []).append(counted)
                    if is_of_days(key) and leaf.text.isdigit() and len(leaf.text) < 4:
                        self.offsets.update((int(leaf.text), -int(leaf.text)))
                        stays.append((leaf.unit, int(leaf.text)))
                elif value.kind == "date":
                    dates.append((leaf.unit, value.key))
        for unit, days in stays:
            bases = (as_date(key) for at, key in dates if at == unit)
            self.ends.update(*(days_from(base, days) for base in bases if base is not None))


class _Leaf(NamedTuple):
    """A text or number of a document.

    Attributes:
        text: As it is written.
        unit: Where it stands.
        key: Its key, or that of the list it stands in.
        path: What it is a result of.
        trail: The keys that lead to it in its unit.
    """

    text: str
    unit: int
    key: str
    path: str
    trail: str


class _Node(NamedTuple):
    """What is left to read of a document; the rest as `_Leaf`."""

    value: Any
    unit: int
    key: str
    path: str
    trail: str


def _carry(carried: dict[str, str], value: Value, field: str) -> None:
    """Take in what a text goes on about from here on, by role, the latest last."""
    for role in {*forms(value), field} - {""}:
        carried.pop(role, None)
        carried[role] = value.key
        if len(carried) > _CARRIED:
            del carried[next(iter(carried))]


_LONG_LEAF = 400  # characters: a longer text in a document is read as a text, and so is a table
_HAS_DIGIT = re.compile(r"\d")


def _is_nested(value: object) -> bool:
    return isinstance(value, (dict, list))
