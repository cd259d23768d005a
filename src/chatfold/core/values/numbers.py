"""What begins with a digit and depends on the words beside it: amounts, units, ids.

Not here: words that say what they are by themselves (`words`), dates
(`dates`), phones (`phones`).
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from chatfold.core.values.dates import dated, time_at, time_keys
from chatfold.core.values.decimals import decimal, plain_number, scaled
from chatfold.core.values.kinds import Keys, Reading, Value
from chatfold.core.values.phones import phone_at, phone_word
from chatfold.core.values.short_dates import short_date
from chatfold.core.values.stuck import in_diff
from chatfold.core.values.tables import CURRENCIES, MAGNITUDES, MONTHS, SHARED_SIGNS, UNITS
from chatfold.core.values.terms import ID_WORDS
from chatfold.core.values.words import digit_keys, read_word

__all__ = ["Cache", "numbers_at", "quiet_number"]

Cache = dict[str, list[Reading]]

_SIGNS = "€£¥￥$₹₩₽₴₺₪₱₫฿₿"
_NUMBER = re.compile(
    r"\d{1,3}(?:,\d{3})++(?:\.\d+)?(?!\d|,\d)|\d{1,2}(?:,\d{2}(?!\d))++,\d{3}(?:\.\d+)?(?!\d)"
    r"|\d{1,3}(?:\.\d{3}){2,}+(?:,\d+)?(?!\d)|\d{1,3}(?:\.\d{3})++,\d+(?!\d)"
    r"|\d{1,3}(?:'\d{3})++(?:\.\d+)?(?!\d)"
    r"|\d{1,3}(?: \d{3})++(?:[.,]\d{1,2})?(?!\d)"
    r"|\d++,\d{1,2}(?!\d|,\d)|\d++(?:\.\d+)?"
)
_PLAIN = re.compile(r"\d++(?:\.\d+)?")
_POWER = re.compile(r"\d(?:\.\d{1,17})?[eE][+-]?\d{1,3}")
_RANGE = re.compile(r"(\d{1,4}\.\d+|[1-9]\d{0,3})[-~](\d{1,4}\.\d+|[1-9]\d{0,3})(?![\d.~-])")
_RIGHT = re.compile(rf"[ -]?([^\W\d_]{{1,12}}(?:²|(?<=km)/h)?|[A-Z]{{0,2}}[{_SIGNS}]|[%°℃×]+[CF]?)")
_QUIET = re.compile(
    # between the marks of JSON and of tables
    r"(?:\A|(?<=[\"'\[:=>|{\n,;\t])|(?<=[^A-Za-z][\":,\[=|] ))"
    r"\d++(?:[./-]\d++)*+(?=[\"'\]}<|);\n\t]|,(?![\d–-])|\Z)(?!'\d{3}(?!\d))"
    # in an array without spaces, where no unit makes one number of what follows
    r"|(?<=[\[,])\d++(?:\.\d++)?+(?=,\d|\])"
    rf"(?!(?:,\d{{1,3}}+){{1,5}}+(?:\.\d++)?+ ?(?:[^\W\d_]|[%°{_SIGNS}]))"
    # in columns with spaces between them, but not in groups of three or four digits
    r"|(?<=[\d|\n ] )\d++(?:\.\d++)?+"
    r"(?= (?: +[\d|+-]|\d{1,2}(?![\d:.,/-])|\d{4,}+(?![-/.:])"
    rf"|\d++\.\d++(?! ?(?:[^\W\d_]|[%°{_SIGNS}]))|\|))"
)
_BEFORE_QUIET = "\"'[:=>|{\n,;\t "  # one of these stands before any of them
# Of a sign that currencies share, these; of each of them, the sign.
_OTHER_CODES = {
    code: (
        *SHARED_SIGNS.get(code, ()),
        *(sign for sign, codes in SHARED_SIGNS.items() if code in codes),
    )
    for code in CURRENCIES.values()
}
# What begins a line or a leaf, and can be nothing else: most amounts of JSON, in half the time.
_PRICE = re.compile(r"([0-9]+(?:\.[0-9]{2})?) ([A-Z]{3})(?=[\s,;)]|\Z)")
_CODES = frozenset(
    name
    for name in CURRENCIES
    if len(name) == 3 and name not in MAGNITUDES and name.lower() not in MONTHS
)
_HOUR = re.compile(r"(\d{1,2})(?:[.:](\d\d))?")
_LINK = re.compile(r" (?:d[ei] |d['\u2019])")
_EVEN = re.compile(r"[.,][–-]{1,2}(?!\d)")  # stands for no cents
_CODE = re.compile(
    r"(?:\b(?P<http>HTTP(?:/[\d.]+)?|status(?: code)?)|\b(?P<exit>exit(?:ed)?(?: with)?"
    r"(?: code| status)?)|\b(?P<errno>errno))[ :=]{1,2}$",
    re.IGNORECASE,
)
_MYRIADS = {"千": 3, "万": 4, "萬": 4, "億": 8, "亿": 8, "천": 3, "만": 4, "억": 8}
_MYRIAD = re.compile(r" ?(\d[\d,]*(?:\.\d+)?)(千?[万萬億亿]|千(?![克米瓦卡])|천?[만억]|천)")
_BELOW = re.compile(r"(?: (?=\d+원))?(\d{1,4}+)(?![年月日号年월일])")
_MOST_DIGITS = 20
_MONTH_NAMES = frozenset(name for month in MONTHS for name in (month.title(), f"{month.title()}."))
_FAR_UNITS = frozenset("mglhsLx%")
_BEFORE = "\"'*([{=:,;<>`+-~/|_≈±≤≥«»“”„‹›•\t"  # may stand right before a currency or a month
_ABOUT = "+-~≈±<>≤≥"  # may stand between a currency and its number
_CODE_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz."
_LEADING = frozenset(_SIGNS + _ABOUT + _CODE_LETTERS)


class _Spot(NamedTuple):
    """A digit in a text, and what stands before it in its line."""

    text: str
    start: int
    left: str
    lead: str
    gap: int


def numbers_at(text: str, start: int, word: str, at: int, cache: Cache) -> list[Value]:
    """Return the values that begin at a digit; none where the word there is no number.

    Args:
        text: The whole text.
        start: Where the digit stands.
        word: The word that begins there, with what `read_word` takes.
        at: Where the last value stopped; what is before that belongs to it.
        cache: Readings of words, to read each word once.
    """
    left = text[start - 24 if start > at + 24 else at : start].rpartition("\n")[2]
    price = _PRICE.match(text, start) if not left else None
    if price is not None and price[2] in _CODES:
        return [_of_money(price[0], price[1], 0, price[2], start)]
    bare = word.rstrip("./@+~-_")
    lead, gap = _lead(left)
    spot = _Spot(text, start, left, lead, gap)
    end = start + len(bare) - len(bare.lstrip("0123456789"))
    wordy = text[end : end + 3].lstrip(" .-:º")[:1].isalnum()
    if (wordy or lead in _MONTH_NAMES) and end < start + 5:
        new = dated(text, start, lead, gap)
        if new:
            return new
        time = time_at(text, start) if wordy else None
        if time is not None:
            return [time]
    mark = text[end : end + 1]
    if mark in ("/", ".") and end < start + 3 and text[end + 1 : end + 2].isdigit():
        day = short_date(text, start)
        if day is not None:
            return [day]
    rings = mark in " -./" and (2 < end - start < 5 or text[start] == "0")
    phone = phone_at(text, start, left) if rings or left[-1:] in ("(", "+") else []
    return phone or _counted(spot, bare, cache) or _read(bare, start, cache)


def _lead(left: str) -> tuple[str, int]:
    """Return the word or the sign of a currency before a number, and how far back it begins."""
    last = left[-1:]
    if last == " ":
        word = left[left.rfind(" ", 0, -1) + 1 : -1].lstrip(_BEFORE)
        return word, len(word) + 1
    if last not in _LEADING:
        return "", 0
    if last in _SIGNS:
        word = left[left.rfind(" ") + 1 :].lstrip(_BEFORE)
        return (word, len(word)) if word in CURRENCIES else (last, 1)
    if last in _CODE_LETTERS:
        word = left[len(left.rstrip(_CODE_LETTERS)) :]
        return (word, len(word)) if word in CURRENCIES else ("", 0)
    bare = left.rstrip(_ABOUT + " ")
    word = bare[bare.rfind(" ") + 1 :].lstrip(_BEFORE)
    return (word, len(left) - len(bare) + len(word)) if word in CURRENCIES else ("", 0)


def quiet_number(text: str, start: int, cache: Cache) -> tuple[list[Value], int] | None:
    """Return the values of a number that nothing beside it can change, and where it stops.

    Most numbers of JSON and of tables are such; they take a third of the time of `numbers_at`.

    Args:
        text: The whole text.
        start: Where a digit stands.
        cache: Readings of words.
    """
    if start and text[start - 1] not in _BEFORE_QUIET:  # as in most ids
        return None
    found = _QUIET.match(text, start)
    return None if found is None else (_read(found[0], start, cache), found.end())


def _read(word: str, start: int, cache: Cache) -> list[Value]:
    readings = cache.get(word)
    if readings is None:
        readings = cache[word] = _number_word(word)
    return [
        Value(kind, word[a:b], key, start + a, start + b, also)
        for kind, a, b, key, also in readings
    ]


def _number_word(word: str) -> list[Reading]:
    """Return the readings of a word that begins with a digit."""
    if "." in word and _PLAIN.fullmatch(word):
        return [Reading("number", 0, len(word), *plain_number(word))]
    if _POWER.fullmatch(word):
        return [Reading("number", 0, len(word), f"number:{word.lower()}")]
    phone = phone_word(word) if len(word) > 9 else None
    return read_word(word) if phone is None else [phone]


def _counted(spot: _Spot, bare: str, cache: Cache) -> list[Value]:
    """Return a range, an amount, a number with its unit, an id of digits, or a bare number."""
    text, start = spot.text, spot.start
    second = _second(spot, bare) if "-" in bare or "~" in bare else 0
    if second:
        first = _counted(spot, bare[: second - 1], cache)
        return first + numbers_at(text, start + second, bare[second:], start + second - 1, cache)
    written, stop = _written(spot)
    myriads = _in_myriads(text, start) if text[stop : stop + 1] in _MYRIADS else None
    if myriads is not None:
        written, stop = myriads
    even = _EVEN.match(text, stop)
    if even and (after := _behind(text, even.end())) and after[1] in CURRENCIES:
        return [_amount(spot, written, 0, even.end(), after)]
    stop, exponent, after = _magnitude(text, stop, spot.lead in CURRENCIES)
    name = after[1] if after else ""
    if spot.lead in CURRENCIES or name in CURRENCIES:
        return [_amount(spot, written, exponent, stop, after)]
    unit = UNITS.get(name)
    if after and unit and _measures(after):
        key, others = decimal(written, money=False)
        key = scaled(key, exponent)
        also = tuple(f"number:{form}" for form in (key, *others))
        also += _hour_keys(written) if unit == "h" else ()
        end = after.end()
        return [Value("number", text[start:end], f"number:{key} {unit}", start, end, also)]
    if exponent or myriads is not None:
        key, others = decimal(written, money=False)
        key = scaled(key, exponent)
        also = (f"id:{key}", *(f"number:{scaled(form, exponent)}" for form in others))
        return [Value("number", text[start:stop], f"number:{key}", start, stop, also)]
    if stop < start + len(bare) and not bare[len(written) :].startswith("-"):
        return []
    if len(written) < len(bare) and bare[len(written)] == "-" and not after:
        return []
    if written.isdigit():
        return [_bare(spot, written)]
    return [Value("number", written, *_first(plain_number(written), start, stop))]


def _hour_keys(written: str) -> tuple[str, ...]:
    """Return the key of the time that "16 h" or "16.30 h" may be: in some languages it is one."""
    found = _HOUR.fullmatch(written)
    keys = time_keys(int(found[1]), int(found[2] or 0)) if found else None
    return keys[:1] if keys else ()


def _first(keys: Keys, start: int, stop: int) -> tuple[str, int, int, tuple[str, ...]]:
    return keys[0], start, stop, keys[1]


def _second(spot: _Spot, bare: str) -> int:
    """Return where in a word the second number of a range begins, 0 where it is none.

    "1.5-2.5" alone is a version; before a unit or behind a currency it is none.
    """
    span = _RANGE.match(bare)
    if span is None or float(span[1]) >= float(span[2]):
        return 0
    if "." in span[0] or span.end() < len(bare):
        after = _behind(spot.text, spot.start + span.end())
        if span.end() < len(bare) and after is None:
            return 0
        if spot.lead not in CURRENCIES and not _measures(after):
            return 0
    return span.start(2)


def _measures(after: re.Match[str] | None) -> bool:
    """Return whether what stands behind a number says what it counts."""
    if after is None or not (name := after[1]):
        return False
    if name in CURRENCIES or name in MAGNITUDES:
        return True
    return name in UNITS and (len(name) > 1 or after[0][0] != " " or name in _FAR_UNITS)


def _written(spot: _Spot) -> tuple[str, int]:
    """Return a number as it is written and where it stops."""
    text, start = spot.text, spot.start
    found = _NUMBER.match(text, start)
    assert found is not None
    if not found[0].isdigit() and _is_cut(spot, found):
        found = _PLAIN.match(text, start)
        assert found is not None
    return found[0], found.end()


def _is_cut(spot: _Spot, found: re.Match[str]) -> bool:
    """Return whether commas or spaces part numbers there, as in arrays and in heads of hunks."""
    number = found[0]
    if " " in number and spot.lead not in CURRENCIES:
        after = _RIGHT.match(spot.text, found.end())
        if after is None or after[1] not in CURRENCIES:
            return True
    if spot.lead or "'" in number:
        return False
    before = spot.left.rstrip("+-~")
    if before.endswith("["):  # no array holds units
        return not _measures(_behind(spot.text, found.end()))
    return before.endswith(",") or (before != spot.left and in_diff(spot.text, spot.start))


def _in_myriads(text: str, start: int) -> tuple[str, int] | None:
    """Return a number that is written in powers of ten thousand, and where it stops.

    So is 3万5千, which is 35000, or 2億3000万, in the languages that count so.
    """
    total, at, least = Decimal(), start, _MOST_DIGITS
    while (found := _MYRIAD.match(text, at)) is not None:
        exponent = sum(_MYRIADS[sign] for sign in found[2])
        if exponent >= least or len(found[1]) > _MOST_DIGITS:
            return None
        total += Decimal(found[1].replace(",", "")).scaleb(exponent)
        at, least = found.end(), exponent
    if at == start:
        return None
    rest = _BELOW.match(text, at)
    if rest is not None and len(rest[1]) <= least:
        total, at = total + int(rest[1]), rest.end()
    return f"{total:f}", at


def _magnitude(text: str, stop: int, money: bool) -> tuple[int, int, re.Match[str] | None]:
    """Return where a number stops with its "million", the power of ten, and what stands behind."""
    after = _behind(text, stop)
    if after is None:
        return stop, 0, None
    exponent = MAGNITUDES.get(after[1], 0) or (6 if money and after[0] == "m" else 0)  # €360m
    if not exponent or (after[1] == "B" and not money) or after[0] in (" k", " K", " M", " B"):
        return stop, 0, after
    stop = after.end()
    link = _LINK.match(text, stop)  # as in "360 millones de euros"
    linked = _behind(text, link.end()) if link else None
    if linked and linked[1] in CURRENCIES:
        return stop, exponent, linked
    return stop, exponent, _behind(text, stop + text.startswith(". ", stop))


def _behind(text: str, stop: int) -> re.Match[str] | None:
    """Return the word, or the sign, behind a number, None where it goes on as another word."""
    after = _RIGHT.match(text, stop)
    if after is None:
        return None
    following = text[after.end() : after.end() + 1]
    if following == "_":  # of emphasis, or of a name
        following = text[after.end() : after.end() + 3].lstrip("_")[:1]
    return None if following.isascii() and following.isalnum() else after


def _amount(
    spot: _Spot, written: str, exponent: int, stop: int, after: re.Match[str] | None
) -> Value:
    """Return the amount that a number is with the currency before it, or behind it."""
    at, sign = spot.start, spot.lead
    if sign in CURRENCIES:
        at -= spot.gap
    if after and after[1] in CURRENCIES:
        stop, sign = after.end(), after[1]
    return _of_money(spot.text[at:stop], written, exponent, sign, at)


def _of_money(text: str, written: str, exponent: int, sign: str, at: int) -> Value:
    """Return an amount: `amount:1299.5 USD`, with the code of ISO 4217.

    It vouches for the number alone; a sign that currencies share vouches for each of them and
    each of them for the sign; "$" is USD unless a letter before it says otherwise.
    """
    code = CURRENCIES[sign]
    shared = _OTHER_CODES[code]
    key, others = decimal(written, money=True)
    if exponent:
        key, others = scaled(key, exponent), tuple(scaled(form, exponent) for form in others)
    also = [f"amount:{key} {other}" for other in shared] if shared else []
    if others:
        also += [f"amount:{form} {code}" for form in others if "." in form or len(form) > 3]
        also += [f"number:{form}" for form in (key, *others)]
    else:  # as of most, whose cents stand behind a point
        also.append(f"number:{key}")
    return Value("amount", text, f"amount:{key} {code}", at, at + len(text), tuple(also))


def _bare(spot: _Spot, written: str) -> Value:
    """Return what a run of digits says by the words before it."""
    start, stop = spot.start, spot.start + len(written)
    code = _CODE.search(spot.left)
    if code and code.lastgroup and (code.lastgroup != "http" or len(written) == 3):
        at = start - len(code[0])
        key = f"error:{code.lastgroup} {written}"
        return Value("error", spot.text[at:stop], key, at, stop, (f"number:{written}",))
    kind, (key, also) = digit_keys(written)
    marked = spot.left.endswith("#") or (len(written) > 3 and spot.lead.lower() in ID_WORDS)
    if kind == "number" and marked:
        return Value("id", written, f"id:{written}", start, stop, (key,))
    return Value(kind, written, key, start, stop, also)
