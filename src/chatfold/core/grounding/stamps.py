"""Days and times as programs write them: seconds since 1970, 20270305T091500Z, 05MAR27.

Not here: dates as people write them (`values.dates`). What these are, a number or an id, they stay
where they are told; they only vouch for the day that they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard

from chatfold.core.values import Kind
from chatfold.core.values.dates import day_keys, time_keys
from chatfold.core.values.tables import MONTHS

__all__ = ["SHORTEST", "day_of_fields", "day_of_list", "stamped"]

SHORTEST: Final = 5  # characters

Told = tuple[Kind, tuple[str, ...]]
"""What a stamp stands for, and all its keys."""

# From 2001 to 2039, in UTC; what else has ten digits vouches for one day that nobody names.
_SINCE_1970 = re.compile(r"(1\d{9}|2[01]\d{8})(?:\d{3}|\.\d{1,9})?")
# The basic format of ISO 8601, as in iCalendar (RFC 5545, 3.3.5).
_BASIC = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)?(Z?)")
_WITH_NAME = re.compile(r"(\d{1,2})([A-Za-z]{3})(\d{4}|\d\d)?")
_YEARS = range(1900, 2100)


def stamped(text: str) -> Iterator[Told]:
    """Yield the day, and the time, for which an id or a number stands that was shown."""
    if found := _SINCE_1970.fullmatch(text):
        at = datetime.fromtimestamp(int(found[1]), UTC)
        yield from _day(at.year, at.month, at.day)
        yield from _time(at.hour, at.minute, f"{at.second:02}", "+0")
    elif found := _BASIC.fullmatch(text):
        year, month, day, hour, minute = map(int, found.groups()[:5])
        yield from _day(year, month, day)
        yield from _time(hour, minute, found[6] or "", "+0" if found[7] else "")
    elif found := _WITH_NAME.fullmatch(text):
        month = MONTHS.get(found[2].lower(), 0)
        yield from _day(_year(found[3] or "0"), month, int(found[1]))


def day_of_fields(fields: Mapping[str, Any]) -> Iterator[tuple[str, Told]]:
    """Yield the days, or the months, that an object has in pieces, by the name of the year.

    As {"year": 2027, "month": 3, "day": 5}, or `exp_month` and `exp_year`.
    """
    for name, year in fields.items():
        if name[-4:].lower() != "year" or not _is_number(year, 4):
            continue
        lead, capital = name[:-4], name[-4] == "Y"
        month, day = (fields.get(lead + (n.title() if capital else n)) for n in ("month", "day"))
        if not _is_number(month, 2):
            continue
        if _is_number(day, 2):
            told = _day(_year(year), int(month), int(day))
        else:
            told = _month(_year(year), int(month))
        yield from ((name, each) for each in told)


def day_of_list(numbers: Sequence[Any]) -> Iterator[Told]:
    """Yield the day that a list begins with: [2027, 3, 5], as Java's are written."""
    if 3 <= len(numbers) <= 7 and all(_is_number(number, 9) for number in numbers):
        year, month, day = map(int, numbers[:3])
        if year in _YEARS:
            yield from _day(year, month, day)


def _day(year: int, month: int, day: int) -> Iterator[Told]:
    keys = day_keys(year, month, day)
    if keys is not None and (not year or year in _YEARS):
        yield "date", (keys[0], *keys[1])


def _month(year: int, month: int) -> Iterator[Told]:
    if 1 <= month <= 12:
        yield "date", (f"date:{year}-{month:02}",)


def _time(hour: int, minute: int, second: str, zone: str) -> Iterator[Told]:
    keys = time_keys(hour, minute, second, zone=zone)
    if keys is not None:
        yield "time", (keys[0], *keys[1])


def _year(written: str) -> int:
    year = int(written)
    return year + 2000 if len(written) == 2 else year


def _is_number(written: Any, most: int) -> TypeGuard[str]:
    """Return whether a leaf is a whole number of so many digits at most."""
    return isinstance(written, str) and len(written) <= most and written.isdecimal()
