"""Days as keys and as words: which day a key stands for, how far off "tomorrow" is.

Not here: dates as people write them (`values`), what follows from them (`derived`).
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

__all__ = ["as_date", "days_off", "is_next_day"]

_MANY_DAYS = r"[Dd]ays?|[Ww]eeks?|Tage?n?|Wochen?|jours?|semaines?|días?|semanas?"
_NEAR_DAYS: Final = {
    "day after tomorrow": 2,
    "übermorgen": 2,
    "tomorrow": 1,
    "morgen": 1,
    "demain": 1,
    "mañana": 1,
    "明日": 1,
    "明天": 1,
    "yesterday": -1,
    "gestern": -1,
    "hier": -1,
    "ayer": -1,
    "昨日": -1,
    "昨天": -1,
}
_RELATIVE = re.compile(
    rf"\b(?P<many>\d{{1,3}})[ -](?P<unit>{_MANY_DAYS})\b"
    r"|\b(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
    rf"|(?<![^\W_])(?:{'|'.join(word for word in _NEAR_DAYS if word.isascii())})\b"
    rf"|{'|'.join(word for word in _NEAR_DAYS if not word.isascii())}",
    re.IGNORECASE,
)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def as_date(key: str) -> date | None:
    """Return the day that the key of a date stands for, None where it names no whole one."""
    try:
        return date.fromisoformat(key.partition(":")[2])
    except ValueError:
        return None


def is_next_day(one: str, other: str) -> bool:
    """Return whether the keys of two dates are those of days that follow each other."""
    days = [as_date(key.replace("date:--", "date:2000-")) for key in (one, other)]
    first, second = days
    if first is None or second is None:
        return False
    if one.startswith("date:--") != other.startswith("date:--"):
        first, second = (day.replace(year=2000) for day in (first, second))
    return abs((first - second).days) in (1, 365)


def days_off(text: str, offsets: set[int], weekdays: set[int]) -> None:
    """Add the distances in days, and the weekdays (Monday is 0), that a text names."""
    for match in _RELATIVE.finditer(text):
        if match["many"]:
            days = int(match["many"]) * (7 if match["unit"][0] in "wWs" else 1)
            offsets.update((days, -days))
        elif match["weekday"]:
            weekdays.add(_WEEKDAYS.index(match["weekday"][:3].lower()))
        else:
            offsets.add(_NEAR_DAYS[match[0].lower()])
