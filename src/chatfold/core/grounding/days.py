"""Days as keys and as words: which day a key stands for, how far off "tomorrow" is.

Not here: dates as people write them (`values`), what follows from them (`derived`).
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

__all__ = ["as_date", "days_from", "days_off", "is_next_day", "is_of_days"]

_MANY_DAYS = (
    r"[Dd]ays?|[Nn]ights?|[Ww]eeks?|Tage?n?|Nächten?|Nacht|Wochen?|jours?|nuits?|semaines?"
    r"|días?|noches?|semanas?"
)
_DAYS_OF_CJK = "泊|晚|夜|天|日間|박"
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
    rf"|(?<!\d)(?P<days>\d{{1,3}})(?:{_DAYS_OF_CJK})"
    r"|\b(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
    rf"|(?<![^\W_])(?:{'|'.join(word for word in _NEAR_DAYS if word.isascii())})\b"
    rf"|{'|'.join(word for word in _NEAR_DAYS if not word.isascii())}",
    re.IGNORECASE,
)
_KEYS = ("day", "days", "night", "nights")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def as_date(key: str) -> date | None:
    """Return the day that the key of a date stands for, None where it names no whole one."""
    try:
        return date.fromisoformat(key.partition(":")[2])
    except ValueError:
        return None


def days_from(day: date, days: int) -> tuple[date, ...]:
    """Return the day that comes so many days behind another, none where there is no such year."""
    try:
        return (day + timedelta(days=days),)
    except OverflowError:
        return ()


def is_next_day(one: str, other: str) -> bool:
    """Return whether the keys of two dates are those of days that follow each other."""
    days = [as_date(key.replace("date:--", "date:2000-")) for key in (one, other)]
    first, second = days
    if first is None or second is None:
        return False
    if one.startswith("date:--") != other.startswith("date:--"):
        first, second = (day.replace(year=2000) for day in (first, second))
    return abs((first - second).days) in (1, 365)


def is_of_days(key: str) -> bool:
    """Return whether a key of an object is that of a number of days: `nights`, `free_days`."""
    return key.rpartition("_")[2] in _KEYS


def days_off(text: str, offsets: set[int], weekdays: set[int]) -> None:
    """Add the distances in days, and the weekdays (Monday is 0), that a text names."""
    for match in _RELATIVE.finditer(text):
        if match["many"] or match["days"]:
            each = 7 if match["unit"] and match["unit"][0] in "wWs" else 1
            days = int(match["many"] or match["days"]) * each
            offsets.update((days, -days))
        elif match["weekday"]:
            weekdays.add(_WEEKDAYS.index(match["weekday"][:3].lower()))
        else:
            offsets.add(_NEAR_DAYS[match[0].lower()])
