"""Days of digits without a year, 14.11. and 11/14, which look like decimals and fractions.

Not here: dates that say by themselves what they are (`dates`).
"""

from __future__ import annotations

import re

from chatfold.core.values.dates import day_keys
from chatfold.core.values.decimals import plain_number
from chatfold.core.values.kinds import Keys, Value

__all__ = ["short_date"]

_DAY = re.compile(r"(\d{1,2})([./])(\d{1,2})(?![\w/%]|[.,:]\d|-\d(?!\d?[./]\d))")
_REACH = 24
_WEEKDAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|montag|dienstag|mittwoch|donnerstag|freitag"
    r"|samstag|sonnabend|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes"
    r"|miércoles|jueves|viernes|sábado|domingo"
    r"|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|mo|di|mi|do|fr|sa|so)[.,])"
)
_IS_DAY = re.compile(
    r"(?<!\w)(?:on|due|dated|am|vom|zum|le|du|el|del|il|op|dia|dnia"
    rf"|{_WEEKDAY}(?:,? (?:den|the|le|el))?),? \(?\Z",
    re.IGNORECASE,
)
_MAY_BE_DAY = re.compile(
    r"(?:(?:(?<!\w)(?:by|until|till|before|after|since|from|bis|ab|seit|den|au|al|dal)"
    r"|\d ?[ap]\.?m\.?|\d:\d\d|\bUhr|\dh(?:\d\d)?),? \(?"
    r"|\d[./]\d{1,2}\.?(?: ?- ?| (?:and|to|or|und|oder|et|ou|y) ))\Z",
    re.IGNORECASE,
)
_I_AM = re.compile(r"\bI am \Z")
_TIME = re.compile(
    r",? (?:(?:at|um|à|a las?|alle|om|às|kl\.?|klo|@|gegen|from|ab|von) )?"
    r"(?:noon\b|midnight\b|\d{1,2}(?::\d\d|(?:\.\d\d)? ?(?:[AaPp]\.?[Mm]\b|Uhr\b|h(?![^\W\d_]))))"
)
_END = re.compile(
    r" ?(?:\Z|[\n.,;:!?)\"'»”-]|(?:at|um|à|and|or|to|until|till|through|for|with|is|was|will"
    r"|und|oder|bis|et|ou|au|y|o|al)\b)"
)
_GOES_ON = re.compile(r"\.(?=[,;:)-]| [a-z\u00df-\u00ff\d])")
_ALWAYS = (24, 7)


def short_date(text: str, start: int) -> Value | None:
    """Return the day without a year that begins at a digit, where what stands beside says so.

    Fractions, ratios, decimals and versions are written in the same way. So a preposition or a
    weekday stands before it and a sentence does not go on with what is counted, or a time of day
    stands behind it. It vouches for what it was without that, and with a slash for both orders.
    """
    found = _DAY.match(text, start)
    if found is None:
        return None
    keys = _keys(found) if _is_date(text, found) else None
    if keys is None:
        return None
    stop = found.end()
    on = _GOES_ON.match(text, stop) if found[2] == "." else None
    stop = on.end() if on else stop
    return Value("date", text[start:stop], keys[0], start, stop, keys[1])


def _keys(found: re.Match[str]) -> Keys | None:
    first, second = int(found[1]), int(found[3])
    european = day_keys(0, second, first)
    if found[2] == ".":
        decimal = plain_number(found[0])
        return european and (european[0], (*european[1], decimal[0], *decimal[1]))
    american = day_keys(0, first, second)
    if (first, second) == _ALWAYS:
        return None
    if american is None or european is None or american == european:
        return american or european
    return american[0], (european[0], *american[1])


def _is_date(text: str, found: re.Match[str]) -> bool:
    start, stop = found.span()
    ends = _END.match(text, stop) is not None
    if found[2] == "." and not ends:  # as most do: it is a decimal before its unit
        return False
    before = text[max(0, start - _REACH) : start]
    is_day = _IS_DAY.search(before) is not None and not _I_AM.search(before)
    if found[2] == ".":
        if text[stop : stop + 1] != ".":
            return is_day
        return is_day or _TIME.match(text, stop + 1) is not None or bool(_MAY_BE_DAY.search(before))
    if _TIME.match(text, stop):
        return True
    if not ends:
        return False
    return is_day or (_is_no_fraction(found) and _MAY_BE_DAY.search(before) is not None)


def _is_no_fraction(found: re.Match[str]) -> bool:
    """Return whether two numbers with a slash are hardly met as a fraction: 14/11, 03/04."""
    return max(int(found[1]), int(found[3])) > 12 or "0" in (found[1][0], found[3][0])
