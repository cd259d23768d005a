"""Days that follow from what was shown: so many days off, a weekday ahead, the end of a stay.

Not here: numbers (`derived`), how days are written (`value_dates`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import combinations, islice

from chatfold.core.days import as_date, days_from
from chatfold.core.shown import Sources

__all__ = ["DerivedDays"]

_MANY = 40  # days of which those beside are looked at
_SMALL = 12
_LEAP = 2000  # a year that has all days


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
            return any(f"date:{d:--%m-%d}" == key for d in self._relative_days)
        return day in self._relative_days or self._completed(day)

    def _completed(self, day: date) -> bool:
        """Return whether a day was named without its year, and the year stands elsewhere."""
        sources = self.sources
        short = f"date:{day:--%m-%d}"
        if short not in sources.kinds:
            return False
        return any(d.year == day.year for d in sources.today) and not any(
            f"date:{y:04d}{day:-%m-%d}" in sources.kinds for y in range(day.year - 3, day.year + 4)
        )

    @cached_property
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

    @cached_property
    def _distances(self) -> frozenset[int]:
        """Days between any two dates of the summary and, if they are few, of what was shown."""
        shown = (as_date(key) for key, kind in self.sources.kinds.items() if kind == "date")
        days = [*islice(self.dates, _MANY), *islice((d for d in shown if d is not None), _MANY)]
        return frozenset(abs((one - other).days) for one, other in combinations(days, 2))


def _some_day(key: str) -> date | None:
    """Return the day of the key of a date, in some year where it names none."""
    return as_date(key.replace("date:--", f"date:{_LEAP}-"))
