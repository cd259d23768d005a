"""Weekdays beside a whole date, which can be computed: 2026-03-04 is no Tuesday.

Not here: days that follow from a weekday (`derived_days`), how dates are written (`values.dates`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from chatfold.core.grounding.days import as_date
from chatfold.core.values import Value, values
from chatfold.core.values.dates import either_order

__all__ = ["Weekday", "is_said", "wrong_weekdays"]

# From Monday on: English, German, French, Spanish, Italian, Portuguese and Dutch.
_NAMES: Final = {
    name: at
    for at, names in enumerate(
        (
            "monday montag lundi lunes lunedì segunda-feira maandag",
            "tuesday dienstag mardi martes martedì terça-feira dinsdag",
            "wednesday mittwoch mercredi miércoles mercoledì quarta-feira woensdag",
            "thursday donnerstag jeudi jueves giovedì quinta-feira donderdag",
            "friday freitag vendredi viernes venerdì sexta-feira vrijdag",
            "saturday samstag sonnabend samedi sábado sabato zaterdag",
            "sunday sonntag dimanche domingo domenica zondag",
        )
    )
    for name in names.split()
}
# With a capital; those of German are words of English, and count before 08.03.2026 alone.
_SHORT: Final = {
    "Mon": 0,
    "Tue": 1,
    "Tues": 1,
    "Wed": 2,
    "Thu": 3,
    "Thurs": 3,
    "Fri": 4,
    "Sat": 5,
    "Sun": 6,
}
_GERMAN: Final = {"Mo": 0, "Di": 1, "Mi": 2, "Do": 3, "Fr": 4, "Sa": 5, "So": 6}
_NAME = r"([^\W\d_]{2,10}(?:-feira)?)"
_BEFORE = re.compile(
    rf"(?<![\w-]){_NAME}(?:\.?(,)?[ \u00a0]\(?)(?:the |den |dem |le |el |il |o |de )?\Z",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    rf"(?: ?\((?:an? )?|, an? ){_NAME}\.?(?=\)|, ?\d| (?:at|um|à) |[.;!?](?:\s|\Z)|\Z)",
    re.IGNORECASE,
)
_REACH = 32  # characters before a date in which its weekday stands
# One of several days: "Tuesday and Wednesday, March 3 and 4, 2026".
_OF_SEVERAL = re.compile(
    rf"{_NAME}\.?(?: (?:and|or|to|through|till?|until|und|oder|bis|et|ou|au|y|o|u|al|e|en|tot) "
    r"| ?[-\u2013/&+,] ?)\Z",
    re.IGNORECASE,
)
# One of every week, or a name of its own.
_NAMED = re.compile(
    r"\b(?:(?:each|every|jede[nmrs]?|chaque|cada|ogni|elke)(?: other| second| zweiten)?"
    r"|weekly(?: on)?|black|cyber|not|no|never|days? (?:after|before)|instead of|cannot"
    r"|can['\u2019]t"
    r"|nicht|tage? (?:nach|vor)|statt)"
    r"(?: on)?(?: an?)? \Z",
    re.IGNORECASE,
)
# "On Tuesday, 2026-03-06 was chosen": what is told of a day need not be of the weekday before it.
_IS_SUBJECT = re.compile(
    r"\W{0,2}(?:is|was|are|were|has|had|will|would|wurde|wird|war|ist|est|a été|es|fue|è|foi)\b"
    r"| (?!(?:at|in|from|to|till?|until|and|or|with|for|by|on"
    r"|um|von|bis|und|oder|mit|im|à|a|y|o)\b)"
    r"[a-zäöüß]{2,}",
)
_IN_AN_OBJECT = re.compile(r"\{[^{}]{0,2000}\}")
_WORD = re.compile(_NAME)
_MOST = 20  # that are looked for in what was shown


class Weekday(NamedTuple):
    """A weekday beside a date that is none.

    Attributes:
        value: The date, with the weekday beside it.
        number: The weekday; Monday is 0.
    """

    value: Value
    number: int


def wrong_weekdays(text: str, found: Sequence[Value]) -> list[Weekday]:
    """Return the weekdays beside the dates in a text that those are not; `found` are its values."""
    read = _Text(text)
    return [wrong for wrong in map(read.wrong, found) if wrong is not None][:_MOST]


def is_said(wrong: Weekday, texts: Iterable[str]) -> bool:
    """Return whether one of some texts says the same: that may be wrong, but it is not invented."""
    return any(_says(text, wrong) for text in texts)


class _Text:
    """A text that names weekdays beside dates."""

    def __init__(self, text: str) -> None:
        self.text = text

    def wrong(self, value: Value) -> Weekday | None:
        """Return a date with the weekday beside it; None where it may be that."""
        named = self.named(value)
        if named is None:
            return None
        start, stop, weekday = named
        days = [day for key in either_order(value) if (day := as_date(key)) is not None]
        if not days or weekday in [day.weekday() for day in days]:
            return None
        whole = value._replace(text=self.text[start:stop], start=start, stop=stop)
        return Weekday(whole, weekday)

    def named(self, value: Value) -> tuple[int, int, int] | None:
        """Return where a date and the weekday beside it stand, and the weekday; Monday is 0."""
        if value.kind != "date":
            return None
        low = max(0, value.start - _REACH)
        before = _BEFORE.search(self.text[low : value.start])
        weekday = None if before is None else _weekday(before[1], value)
        if before is not None and weekday is not None:
            start = low + before.start(1)
            told = before[2] and _IS_SUBJECT.match(self.text, value.stop)
            return None if told or self._is_other(start, value) else (start, value.stop, weekday)
        behind = _BEHIND.match(self.text, value.stop)
        weekday = None if behind is None else _weekday(behind[1], value)
        return None if behind is None or weekday is None else (value.start, behind.end(1), weekday)

    def _is_other(self, at: int, value: Value) -> bool:
        """Return whether the weekday at an index need not be that of the date behind it."""
        before = self.text[max(0, at - _REACH) : at]
        several = _OF_SEVERAL.search(before)
        if several is not None and _weekday(several[1], value) is not None:
            return True
        return _NAMED.search(before) is not None


def _weekday(name: str, value: Value) -> int | None:
    """Return which weekday a word names beside a date, None where it is another word."""
    found = _NAMES.get(name.lower(), _SHORT.get(name))
    if found is None and re.fullmatch(r"[\d.]+", value.text):
        found = _GERMAN.get(name)
    return found


def _says(text: str, wrong: Weekday) -> bool:
    """Return whether a text says of the day of a date that it is that weekday."""
    if not _names(text, wrong.number):
        return False
    said = _Text(text)
    alike = [value for value in values(text) if value.key == wrong.value.key]
    named = (said.named(value) for value in alike)
    if any(each is not None and each[2] == wrong.number for each in named):
        return True
    objects = [match for match in _IN_AN_OBJECT.finditer(text) if _names(match[0], wrong.number)]
    return any(found.start() < v.start < found.end() for found in objects for v in alike)


def _names(text: str, weekday: int) -> bool:
    words: list[str] = _WORD.findall(text)
    return any(
        weekday in (_NAMES.get(word.lower()), _SHORT.get(word), _GERMAN.get(word)) for word in words
    )
