"""Days that follow from what was shown: so many days off, a weekday ahead, the end of a stay.

Also "the 14th instead", of the month of the day that was named before.

Not here: numbers (`derived`), how days are written (`values.dates`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from itertools import combinations, islice
from typing import Final

from chatfold.core.grounding.days import as_date, days_from
from chatfold.core.grounding.shown import Sources
from chatfold.core.once import once
from chatfold.core.values import values

__all__ = ["DerivedDays"]

_MANY = 40  # days of which those beside are looked at
_SMALL = 12
_LEAP = 2000  # a year that has all days
_BEFORE: Final = 8  # texts in which the day may stand whose month "the 14th" is of
_LONGEST: Final = 4_000  # characters: in longer texts nobody names such a day
_OF_MONTH = re.compile(
    # Not "the 2nd choice", "den 2. Preis", "del 10 al 20 por ciento".
    r"(?<![\w.,:/-])(?:(?:the|on|by|until|till|from|to) (\d{1,2})(?:st|nd|rd|th)"
    r"(?=\s*(?:\Z|[.,;:!?)]|(?:instead|at|or|and|please|then|would|works)\b))"
    r"|am (\d{1,2})\.(?!\d)|(?:vom|zum|den|dem|ab|bis) (\d{1,2})\.(?!\d|\s+(?-i:[A-ZÄÖÜ]))"
    r"|(?:le|au|du|el|al|del|il|dal) (\d{1,2})(?:er|º)?"
    r"(?=\s*(?:\Z|[.,;:!?)](?!\d)|(?:à|a|y|et|ou|o|e|alle|plutôt|mejor)\b)))"
    r"|(?<![\d月])(\d{1,2})(?:日(?!間|间)|号|號|일)",
    re.IGNORECASE,
)


class DerivedDays:
    """What days follow from what was shown, beside those that a summary names itself.

    Args:
        dates: Keys of the dates in the summary that were shown.
        sources: What its author was shown.
    """

    def __init__(self, dates: Iterable[str], sources: Sources) -> None:
        self.sources = sources
        self.dates = {day for day in map(_some_day, dates) if day is not None}

    def follows(self, key: str) -> bool:
        """Return whether the day of a key follows from what was shown."""
        day = as_date(key)
        if day is None:
            if not key.startswith("date:--"):
                return False
            relative = any(f"date:{d:--%m-%d}" == key for d in self._relative_days)
            return relative or self._is_of_month(key)
        return day in self._relative_days or self._completed(day) or self._is_of_month(key)

    def _completed(self, day: date) -> bool:
        """Return whether a day was named without its year, and the year stands elsewhere."""
        sources = self.sources
        short = f"date:{day:--%m-%d}"
        if short not in sources.kinds:
            return False
        return any(d.year == day.year for d in sources.today) and not any(
            f"date:{y:04d}{day:-%m-%d}" in sources.kinds for y in range(day.year - 3, day.year + 4)
        )

    def _is_of_month(self, key: str) -> bool:
        """Return whether a day was named without its month, behind another day of that month.

        Args:
            key: Its key; the year is that of the other day, or of today where that has none.
        """
        months, month = self._months.get(int(key[-2:]), ()), key[-5:-3]
        if key.startswith("date:--"):
            return any(other.endswith(month) for other in months)
        current = any(day.year == int(key[5:9]) for day in self.sources.today)
        return key[:-3] in months or (current and f"date:--{month}" in months)

    @once
    def _months(self) -> dict[int, set[str]]:
        """Beginnings of the keys of days named before a day without its month, by that day."""
        found: dict[int, set[str]] = {}
        texts = self.sources.texts
        for at, text in enumerate(texts):
            days = [] if len(text) > _LONGEST else _OF_MONTH.findall(text)[:_MANY]
            if days:
                months = self._months_before(at)
                for day in days:
                    found.setdefault(int("".join(day)), set()).update(months)
        return found

    def _months_before(self, at: int) -> set[str]:
        """Return the beginnings of the keys of the days in a text, or in the last one before it."""
        texts = self.sources.texts
        for text in reversed(texts[max(0, at - _BEFORE) : at + 1]):
            dates = [v for v in values(text[:_LONGEST]) if v.kind == "date" and _some_day(v.key)]
            if dates:
                return {value.key[:-3] for value in dates}
        return set()

    @once
    def _relative_days(self) -> set[date]:
        found: set[date] = set()
        for base in [*self.sources.today, *self.dates][:_MANY]:
            for days in sorted(self.sources.offsets)[:_MANY]:
                found.update(days_from(base, days))
        for base in sorted(self.sources.today)[:_SMALL]:
            for days in range(1, 15):
                for day in days_from(base, days):
                    if day.weekday() in self.sources.weekdays:
                        found.add(day)
        return found | self.sources.ends

    def are_apart(self, number: Decimal) -> bool:
        """Return whether two days that were named are so many days apart."""
        return number in self._distances

    @once
    def _distances(self) -> frozenset[int]:
        """Days between any two dates of the summary and, if they are few, of what was shown."""
        shown = (as_date(key) for key, kind in self.sources.kinds.items() if kind == "date")
        days = [*islice(self.dates, _MANY), *islice((d for d in shown if d is not None), _MANY)]
        return frozenset(abs((one - other).days) for one, other in combinations(days, 2))


def _some_day(key: str) -> date | None:
    """Return the day of the key of a date, in some year where it names none."""
    return as_date(key.replace("date:--", f"date:{_LEAP}-"))
