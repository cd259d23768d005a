"""Dates and times of day, in the ways in which they are written.

Not here: other things that begin with a digit (`numbers`), the search (`typed`).
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from chatfold.core.values.kinds import Keys, Value
from chatfold.core.values.tables import AMBIGUOUS_MONTHS, MONTHS

__all__ = [
    "date_word",
    "dated",
    "day_in_utc",
    "day_keys",
    "either_order",
    "glued_time",
    "time_at",
    "time_keys",
]

_DATE = re.compile(
    r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?![\d]|[-/]\d)"
    r"|(?P<a>\d{1,2})(?P<t>[-/.])(?P<b>\d{1,2})(?P=t)(?P<z>\d{4}|\d\d)(?!\d|[-/.]\d)"
    r"|(?P<v>(?:19|20)\d\d)-(?P<w>0[1-9]|1[0-2])(?![\w-])"
)
_TIME = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?!\d|:\d)"
    r"(?: ?([AaPp])\.?[Mm]\b\.?)?(?:(Z)\b| ?(UTC|GMT)\b|([+-]\d\d):?(\d\d)(?!\d))?"
)
_CLOCK = re.compile(
    r"(\d{1,2})(?:\.(\d\d))? ?([AaPp])\.?[Mm]\b"
    r"|(\d{1,2})(?:\.(\d\d))? ?Uhr\b|(\d{1,2}) ?h ?(\d\d)\b"
    r"|(\d{1,2})[时時点시] ?(?:(\d{1,2})[分분])?"
)
_AFTERNOON = ("午後", "下午", "晚上", "오후")
_DAY_MONTH = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
    r"(?:(?:-| (?:to|till|tot|through|until|a(?:nd|[ulo])?|bis|und|o(?:r|der|u)?|e[tn]?|y) "
    r"(?:(?:the|zum|den|le|el|il) )?)(\d{1,2})(?:st|nd|rd|th|er|\.|º)?)?+[ -]"
    r"(?:of |de |d')?([^\W\d_]{3,10})\b\.?(?:,?[ -](?:de |del |of )?(\d{4})\b)?"
)
_MONTH_DAY = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?(?!\d|[.,:/]\d)(?:-(\d{1,2})(?:st|nd|rd|th)?(?![\d/]))?"
    r"(?:,? (\d{4})\b)?"
)
_SHORT_YEAR = re.compile(r"(\d{1,2})-[^\W\d_]{3,10}-(\d\d)(?![\w-])")
_BORN = 40  # years of two digits from here on may be of the last century
_YEAR = re.compile(r"(?:19|20)\d\d(?![\d-])")
_CJK = re.compile(
    r"(?:(\d{4})[年년] ?)?(\d{1,2})[月월] ?(\d{1,2})[日号號일]|(\d{4})[年년] ?(\d{1,2})[月월]"
)


def day_keys(year: int, month: int, day: int) -> Keys | None:
    """Return the keys of a day, or None where the calendar has none; year 0 is none written.

    The key is `date:2025-10-07`, or `date:--10-07` without a year. A full date vouches for the one
    without year, for its month and its year alone, and for "10/7" in both orders.
    """
    if not (1 <= month <= 12 and 1 <= day <= 31) or (year and not 1000 <= year <= 2999):
        return None
    short = f"date:--{month:02}-{day:02}"
    numbers = (f"number:{day}", f"number:{month}")
    if not year:
        return short, numbers
    whole = f"date:{year}-{month:02}"
    return f"{whole}-{day:02}", (short, whole, f"number:{year}", *numbers)


def either_order(date: Value) -> tuple[str, ...]:
    """Return the keys of a date in each order of day and month in which it may be read."""
    length = len(date.key)
    same = (key for key in date.also if key.startswith("date:") and len(key) == length)
    return (date.key, *same)


def time_keys(
    hour: int,
    minute: int,
    second: str = "",
    fraction: str = "",
    half: str = "",
    zone: str = "",
) -> Keys | None:
    """Return the keys of a time of day, or None where a clock shows none.

    The key counts 24 hours and has no seconds where they are 0: `time:14:30`, `time:14:30:05.25`,
    with `Z` or minutes east of UTC behind it where a zone is written. It vouches for the time
    without zone, without fraction, without seconds, in UTC, and for the same on a clock of 12
    hours where "am" or "pm" is left out.

    Args:
        hour: As written.
        minute: As written.
        second: Two digits, or "".
        fraction: The digits behind the point.
        half: "a" or "p" of am and pm, or "".
        zone: Minutes east of UTC with a sign, or "".
    """
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 24 or minute > 59 or int(second or 0) > 60:
        return None
    return _clock_keys(hour, minute, second, fraction.rstrip("0"), bool(half), zone)


def _clock_keys(hour: int, minute: int, second: str, fraction: str, half: bool, zone: str) -> Keys:
    short = f"{hour:02}:{minute:02}"
    full = f"{short}:{second}" if fraction or int(second or 0) else short
    exact = f"{full}.{fraction}" if fraction else full
    east = int(zone or 0)
    mark = "" if not zone else "Z" if not east else f"{east:+}"
    forms = [f"{form}{end}" for form in (exact, full, short) for end in (mark, "")]
    if east:
        utc = (hour * 60 + minute - east) % 1440
        forms += [f"{utc // 60:02}:{utc % 60:02}{end}" for end in ("Z", "")]
    if not half:
        forms.append(f"{(hour + 12) % 24:02}:{minute:02}" if hour < 24 else "12:00")
    elif hour > 12:
        forms.append(f"{hour - 12:02}:{minute:02}")
    keys = tuple(dict.fromkeys(f"time:{form}" for form in forms))
    return keys[0], keys[1:]


def date_word(word: str) -> tuple[int, Keys] | None:
    """Return how much of a word is a date of digits, and its keys.

    2025-10-07, 2025/10/07, 10/07/2025, 07.10.2025, 10/07/25, 2025-10. With slashes and hyphens
    the month comes first where that can be, and the other order is vouched for; with points the
    day comes first.
    """
    found = _DATE.match(word)
    if found is None:
        return None
    keys: Keys | None
    if found["y"]:
        keys = day_keys(int(found["y"]), int(found["m"]), int(found["d"]))
    elif found["v"]:
        keys = f"date:{found['v']}-{found['w']}", (f"number:{found['v']}",)
    else:
        if len(found["z"]) == 2 and found["t"] != "/":
            return None
        keys = _either_order(int(found["a"]), int(found["b"]), found["z"], found["t"])
    return None if keys is None else (found.end(), keys)


def _either_order(a: int, b: int, written: str, mark: str) -> Keys | None:
    orders = ((b, a),) if mark == "." else ((a, b), (b, a))
    read = (day_keys(year, *order) for year in _years(written) for order in orders)
    found = dict(keys for keys in read if keys is not None)
    if not found:
        return None
    first, *others = found
    return first, (*found[first], *(key for other in others for key in (other, *found[other])))


def _years(written: str) -> tuple[int, ...]:
    """Return the years that are meant: 88 may be 1988, of a birth, and 27 is 2027."""
    year = int(written)
    if len(written) > 2:
        return (year,)
    return (year + 2000,) if year < _BORN else (year + 2000, year + 1900)


def dated(text: str, start: int, name: str, gap: int) -> list[Value]:
    """Return the dates with the name of a month around a digit; two for "October 7-9, 2025".

    Args:
        text: The whole text.
        start: Where the digit stands.
        name: The word before it.
        gap: Characters from the start of that word to the digit.
    """
    month = MONTHS.get(name.rstrip(".").lower()) if name[:1].isupper() else None
    if month:
        found = _MONTH_DAY.match(text, start)
        if found:
            new = _days(text, start - gap, found, (1, 2, 3), month)
            if new:
                return new
        year = _YEAR.match(text, start)
        if year:
            return [_month(text, start - gap, year.end(), year[0], month)]
    found = _DAY_MONTH.match(text, start)
    if found:
        month = MONTHS.get(found[3].lower())
        short = _SHORT_YEAR.match(text, start) if month else None
        if month and short:
            return _with_short_year(short, month)
        if month and (found[4] or found[3] not in AMBIGUOUS_MONTHS):
            return _days(text, start, found, (1, 2, 4), month)
    found = _CJK.match(text, start)
    if found is None:
        return []
    if found[4]:
        return [_month(text, start, found.end(), found[4], int(found[5]))]
    keys = day_keys(int(found[1] or 0), int(found[2]), int(found[3]))
    return [Value("date", found[0], keys[0], start, found.end(), keys[1])] if keys else []


def _with_short_year(found: re.Match[str], month: int) -> list[Value]:
    """Return the day of 05-Mar-27."""
    keys = _either_order(int(found[1]), month, found[2], ".")
    return [Value("date", found[0], keys[0], *found.span(), keys[1])] if keys else []


def _days(
    text: str, at: int, found: re.Match[str], groups: tuple[int, int, int], month: int
) -> list[Value]:
    """Return the day, or both ends of a run of days, that a match names."""
    first, last, year = groups
    keys = day_keys(int(found[year] or 0), month, int(found[first]))
    if keys is None:
        return []
    if found[last] is None:
        return [Value("date", text[at : found.end()], keys[0], at, found.end(), keys[1])]
    end = day_keys(int(found[year] or 0), month, int(found[last]))
    cut, other = found.end(first), found.start(last)
    is_run = " " not in text[cut:other] or int(found[first]) < int(found[last])
    if end is None or not is_run:  # "room 12 and 5 March"
        return []
    cut += text.startswith(".", cut)
    return [
        # As in "tables 4 and 20 June", it may be no day.
        Value("date", text[at:cut], keys[0], at, cut, (*keys[1], f"number:{int(found[first])}")),
        Value("date", text[other : found.end()], end[0], other, found.end(), end[1]),
    ]


def _month(text: str, at: int, stop: int, year: str, month: int) -> Value:
    return Value("date", text[at:stop], f"date:{year}-{month:02}", at, stop, (f"number:{year}",))


def glued_time(text: str, at: int) -> Value | None:
    """Return the time behind the T of an ISO timestamp that ends its date at `at`."""
    return time_at(text, at + 1) if text[at : at + 1] in ("T", "t") else None


_ZONE = re.compile(r"time:(\d\d):(\d\d).*?([+-]\d+)")


def day_in_utc(day: Value, time: Value) -> Value:
    """Return the day of a timestamp; it vouches for the day that this is in UTC, if another."""
    found = None if time.key[-1] == "Z" else _ZONE.fullmatch(time.key)
    days = (int(found[1]) * 60 + int(found[2]) - int(found[3])) // 1440 if found else 0
    if not days:
        return day
    try:
        there = date.fromisoformat(day.key.removeprefix("date:")) + timedelta(days=days)
    except (ValueError, OverflowError):
        return day
    keys = day_keys(there.year, there.month, there.day)
    if keys is None:
        return day
    also = dict.fromkeys((*day.also, keys[0], *keys[1]))
    return day._replace(also=tuple(key for key in also if key != day.key))


def time_at(text: str, at: int) -> Value | None:
    """Return the time of day that begins at a digit: 14:30, 2.30 pm, 2pm, 14 Uhr, 14h30."""
    keys: Keys | None
    found = _TIME.match(text, at)
    stop = 0
    if found:
        zone = "+0" if found[6] or found[7] else ""
        if found[8] and _is_span(text, at, found):
            stop = found.start(8)
        elif found[8]:
            zone = f"{int(found[8]) * 60 + int(found[8][0] + found[9]):+}"
        half = (found[5] or "").lower()
        keys = time_keys(int(found[1]), int(found[2]), found[3] or "", found[4] or "", half, zone)
    else:
        found = _CLOCK.match(text, at)
        if found is None:
            return None
        hour = next(int(found[n]) for n in (1, 4, 6, 8) if found[n])
        minute = next((int(found[n]) for n in (2, 5, 7, 9) if found[n]), 0)
        late = found[8] and text[max(0, at - 3) : at].rstrip(" ")[-2:] in _AFTERNOON
        keys = time_keys(hour, minute, half="p" if late else (found[3] or "").lower())
    if keys is None:
        return None
    stop = stop or found.end()
    return Value("time", text[at:stop], keys[0], at, stop, keys[1])


def _is_span(text: str, at: int, found: re.Match[str]) -> bool:
    """Return whether what looks like a zone is the end of a span: "10:30-11:30", no "T" before."""
    to = found[8][0] == "-" and found.start(9) > found.end(8)
    return to and not found[3] and text[at - 1 : at] not in ("T", "t")
