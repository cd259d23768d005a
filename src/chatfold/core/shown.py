"""What the author of a summary was shown, indexed by value: where each stands, and beside what.

A unit is what belongs together by its form: a JSON object, a row, a sentence, a call. Not here:
what a summary makes of it (`grounding`), what follows from the values (`derived`).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.days import as_date, days_off
from chatfold.core.records import Records, snake
from chatfold.core.sentences import lines, sentences
from chatfold.core.units import Index, currencies_in, currency_of, forms, is_owner
from chatfold.core.values import Value, values
from chatfold.core.views import (
    CallPart,
    HandoffPart,
    ItemView,
    MediaPart,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    StatePart,
    SummaryPart,
    TextPart,
    UnknownPart,
)

__all__ = ["Sources"]

_CARRIED = 8  # kinds of ids that a text can go on about


class Sources(Index):
    """What a model was shown, indexed once.

    Args:
        views: The readings of the items.
        calls: The records of their calls, or of the calls of the whole list.
        previous_summary: The earlier summary, where no view holds it.
        extra: Other texts that it was shown, such as instructions.
        clean: Applied to every text before it is read (`redact`).
        offset: Index in the list of the first of `views`; calls elsewhere are not looked at.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        calls: Sequence[ToolCallRecord],
        previous_summary: str | None = None,
        extra: Iterable[str] = (),
        clean: Callable[[str], str] | None = None,
        *,
        offset: int = 0,
    ) -> None:
        super().__init__()
        self.sums: dict[tuple[str, str], list[str]] = {}
        self.counts: set[int] = {len(views), len(calls)}
        self.today: set[date] = set()
        self.offsets: set[int] = set()
        self.weekdays: set[int] = set()
        self.texts: list[str] = []
        self._clean = clean
        self._read_calls(views, calls, offset)
        for view in views:
            self._read_view(view)
        if previous_summary is not None:
            self._text(previous_summary)
        for text in extra:
            self._text(text, now=True)

    # Reading

    def _read_calls(
        self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord], offset: int
    ) -> None:
        stop = offset + len(views)
        for call in calls:
            made = call.call_index is not None and offset <= call.call_index < stop
            answered = call.result_index is not None and offset <= call.result_index < stop
            if not made and not answered:
                continue
            unit = self.unit(-1)
            if call.name:
                self.add(Value("name", call.name, f"name:{call.name}", 0, len(call.name)), unit)
                self.texts.append(call.name)
            if call.id:
                self._text(call.id)
            if made and call.raw_arguments:
                self._document(call.raw_arguments, unit, f"{call.name} arguments")
            if answered and call.result:
                self._document(call.result, unit, f"{call.name} result")

    def _read_view(self, view: ItemView) -> None:
        now = view.role in ("system", "developer")
        if view.name:
            self._text(view.name)
        for part in view.parts:
            match part:
                case TextPart() | StatePart() | SummaryPart() | ReasoningPart():
                    self._text(part.text, now=now)
                case UnknownPart():
                    self._document(part.text, self.unit(-1), part.type)
                case MediaPart():
                    self._media(part)
                case ResultPart():
                    for media in part.media:
                        self._media(media)
                    if part.pair == "approval":
                        self._text(part.text)
                case CallPart() if part.kind == "approval" or part.pair == "approval":
                    self._document(part.arguments, self.unit(-1), part.name or "")
                case HandoffPart():
                    self.texts.extend(name for name in (part.source, part.target) if name)
                case CallPart() | ServerCallPart():
                    pass  # read with its result
                case _:
                    pass

    def _media(self, part: MediaPart) -> None:
        for text in (part.name, part.type, part.text):
            if text:
                self._text(text)

    # Plain text

    def _text(self, text: str, unit: int = -1, source: str = "", *, now: bool = False) -> None:
        """Take in a plain text, a unit for each sentence, row or record in it."""
        if self._clean is not None:
            text = self._clean(text)
        if not text:
            return
        self.texts.append(text)
        found = values(text)
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
                for role in {*forms(value), field} - {""}:
                    carried.pop(role, None)
                    carried[role] = value.key
                    if len(carried) > _CARRIED:
                        del carried[next(iter(carried))]
            elif value.kind in ("amount", "number") and field:
                self.sums.setdefault((source, field), []).append(value.key)
            elif value.kind == "date" and (
                now or "today" in text[max(0, value.start - 40) : value.start].lower()
            ):
                day = as_date(value.key)
                if day is not None:
                    self.today.add(day)

    # JSON

    def _document(self, text: str, unit: int, source: str) -> None:
        """Take in a text that may be JSON, a unit for each object in its lists."""
        if self._clean is not None:
            text = self._clean(text)
        root = _parsed(text)
        if root is None:
            self._text_cleaned(text, unit, source)
            return
        self.texts.append(text)
        leaves: list[_Leaf] = []
        stack: list[tuple[Any, int, str, str]] = [(root, unit, "", source)]
        while stack:
            value, where, key, path = stack.pop()
            if isinstance(value, dict):
                stack.extend(self._object(cast(dict[str, Any], value), where, key, path))
            elif isinstance(value, list):
                rows = cast(list[Any], value)
                self.counts.add(len(rows))
                for row in reversed(rows):
                    inner = self.unit(where) if _is_nested(row) else where
                    stack.append((row, inner, key, path))
            elif isinstance(value, str):
                nested = _parsed(value) if value[:1] in ("{", "[") else None
                if nested is not None:
                    stack.append((nested, where, key, path))
                elif len(value) > _LONG_LEAF:
                    self._text_cleaned(value, self.unit(where), f"{path}.{key}")
                else:
                    leaves.append(_Leaf(value, where, key, path))
        self._leaves(leaves)

    def _text_cleaned(self, text: str, unit: int, source: str) -> None:
        clean, self._clean = self._clean, None
        self._text(text, unit, source)
        self._clean = clean

    def _object(
        self, fields: dict[str, Any], where: int, key: str, path: str
    ) -> list[tuple[Any, int, str, str]]:
        """Return the fields of an object to read on; a table of records by id is a list of them."""
        keyed = bool(fields) and all(_is_nested(v) for v in fields.values())
        found: list[tuple[Any, int, str, str]] = []
        for name, value in fields.items():
            own, step = where, name
            read = [v for v in values(name) if is_owner(v)] if _HAS_DIGIT.search(name) else []
            if read and keyed:
                own, step = self.unit(where), key
                for v in read:
                    self.add(v, own, f"key:{snake(key)}")
            elif _HAS_DIGIT.search(name):
                for v in values(name):
                    self.add(v, own)
            found.append((value, own, step, path))
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
        number = 0
        for value in values(text):
            while number + 1 < len(starts) and starts[number + 1] <= value.start:
                number += 1
            leaf = leaves[number]
            key = snake(leaf.key)
            whole = len(value.text) == len(leaf.text)
            if whole and value.kind == "number" and leaf.text.isdigit() and _ID_KEY.search(key):
                value = value._replace(
                    kind="id", key=f"id:{leaf.text}", also=(*value.also, value.key)
                )
            self.add(value, leaf.unit, f"key:{key}" if whole and key else "")
            if value.kind in ("amount", "number") and whole:
                self.sums.setdefault((leaf.path, key), []).append(value.key)


class _Leaf(NamedTuple):
    """A text or number of a document, its unit, its key and what it is a result of."""

    text: str
    unit: int
    key: str
    path: str


_LONG_LEAF = 400  # characters: a longer text in a document is read as a text
_HAS_DIGIT = re.compile(r"\d")
_ID_KEY = re.compile(r"(?:^|_)(?:id|ids|number|no|nr|ref|reference|order|ticket|account|code|sku)$")


def _is_nested(value: object) -> bool:
    return isinstance(value, (dict, list))


def _parsed(text: str) -> Any:
    """Return a JSON object or list with its numbers as they are written, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found: Any = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return found if _is_nested(found) else None
