"""Where numbers and days in words stand in a text, and what is said of them.

Not here: the words of numbers (`number_words`), whether they vouch for a value (`spelled`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from typing import Final, NamedTuple

from chatfold.core.grounding.number_words import Language, in_kanji, languages
from chatfold.core.values.tables import CURRENCIES, MAGNITUDES, MONTHS, SHARED_WORDS, UNITS
from chatfold.core.word_sets import without_accents

__all__ = ["PLAIN", "days_in", "folded", "numbers_in"]

PLAIN: Final = ""
"""Stands for what a number is of, where no unit and no currency stands behind it."""
_CENTS: Final = "¢"
_ACCENTS: Final = {ord(sign): without_accents(sign) for sign in "àáâãäåçèéêëìíîïñòóôõöùúûüý"}
_MONEY: Final = {
    **dict.fromkeys(("bucks", "dolar", "dolares", "dollari", "dollaro"), ("USD",)),
    **dict.fromkeys(("libras", "livres", "pfund", "pond", "sterline"), ("GBP",)),
    **dict.fromkeys(("pound", "pounds"), ("GBP", "lb")),
    **dict.fromkeys(
        ("cent", "cents", "centavos", "centesimi", "centimes", "centimos", "pence", "rappen"),
        (_CENTS,),
    ),
}
_SHORT = frozenset(("cm", "kg", "km", "mg", "ml", "mm", "mb", "gb"))  # "in" and "us" are words
_PERCENT = "percent|per cent|prozent|procent|pour cent|per cento|por cien|por ciento|por cento"
_BEHIND = re.compile(
    r"[\s-]*(?:(?:de|di|us|american|canadian|australian)\s+|d['’])?"
    rf"(?:(?P<share>{_PERCENT})\b|(?P<word>[^\W\d_]+|[€$£¥%°])|(?P<digit>\d))"
)
_HALF = re.compile(
    r"[\s-]*(?:and|und|et|y|e|en)[\s-]+(?:(?:an?|eine|une?|uma?|een)\s+)?"
    r"(?:half|halbe?|demie?|medi[oa]|mezz[oa]|mei[oa]|quarter|third)\b"
)
_SOME = re.compile(
    r"\b(?:half|quarter of|few|several|couple|couple of|paar|einige|mehrere|viele|quelques"
    r"|plusieurs|algun[oa]s|vari[oa]s|alguns|alcun[ei]|enkele|meerdere)[\s-]+\Z"
)
_IS_PERCENT = re.compile(rf"\b(?:{_PERCENT})\Z")
_DIGIT = re.compile(r"\d[ \t-]*\Z")
_BESIDE = 16  # characters in which these two stand
_NEAR = 60  # characters from a month in which its day stands
_WORD = re.compile(r"[^\W\d_]+")
_LINK = re.compile(r"[\s,]*(?:(?:and|und|et|y|con|e|en)\s+)?")
_KANJI = "[〇零一二两兩三四五六七八九十百千万萬億亿]"
_IN_KANJI = re.compile(rf"(?<![\d数几幾何]){_KANJI}++(?!\d)")
_DAY_IN_KANJI = re.compile(
    rf"(?:(?P<year>\d{{4}}|{_KANJI}+)年\s?)?(?P<month>{_KANJI}+)月\s?(?P<day>{_KANJI}+)[日号號]"
)
_MONTHS: Final = {
    name.translate(_ACCENTS): month
    for name, month in MONTHS.items()
    if len(name) > 3 or month == 5  # nobody says the short forms
}
_ANY_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTH = re.compile(rf"\b(?:{_ANY_MONTH})\b")
_ENGLISH_MONTHS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
)
_ALSO_VERBS = frozenset(("may", "march", "august"))  # in small letters
_OF = r"(?:(?:of|de|del|di|do)\s+|d['’]\s?)"


class _Run(NamedTuple):
    """Words of numbers: the numbers, where they begin, what stands behind and where that ends."""

    numbers: list[Decimal]
    start: int
    names: tuple[str, ...]
    end: int


def folded(text: str) -> tuple[str, str]:
    """Return a text, and the same in small letters without accents, as long."""
    if text.isascii():
        return text, text.lower()
    text = unicodedata.normalize("NFC", text)
    small = text.lower()
    return text if len(text) == len(small) else small, small.translate(_ACCENTS)


def numbers_in(text: str) -> Iterator[tuple[Decimal, tuple[str, ...]]]:
    """Yield each number that a folded text has in words, and what it may be of.

    That are units and currencies, or `PLAIN`. What is part of a larger number, or of
    one with digits, is none.
    """
    words = set(_WORD.findall(text))  # few texts have any of most languages
    spoken = (lang for lang in languages() if any(map(lang.run.match, words)))
    found = [(language, list(language.run.finditer(text))) for language in spoken]
    outer = _outermost(match.span() for _, matches in found for match in matches)
    for language, matches in found:
        own = (match for match in matches if match.span() in outer)
        yield from _with_cents(text, [run for match in own for run in _run(text, match, language)])
    for match in _IN_KANJI.finditer(text):
        number = in_kanji(match[0])
        if number is not None:
            yield Decimal(number), _named_in_cjk(text, match.end())


def _outermost(spans: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the spans that no other one overlaps.

    As "mille" of "trois mille", which is a number in Italian too.
    """
    found = set[tuple[int, int]]()
    last = (-1, -1)
    for start, stop in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        if start >= last[1]:
            found.add((start, stop))
            last = start, stop
        elif stop > last[1]:
            found.discard(last)
            last = last[0], stop
    return found


def _run(text: str, match: re.Match[str], language: Language) -> Iterator[_Run]:
    """Yield the numbers that words say, unless they are part of what stands beside them."""
    start, stop = match.span()
    before = text[max(0, start - _BESIDE) : start]
    behind = _BEHIND.match(text, stop)
    names = (PLAIN,) if behind is None else _named(behind)
    if not (
        not names
        or _DIGIT.search(before)
        or _HALF.match(text, stop)
        or _IS_PERCENT.search(before + match[0])
        or (language.begins_large(match[0]) and _SOME.search(before))
    ):
        end = behind.end() if behind else stop
        yield _Run(language.numbers(match[0]), start, names, end)


def _named(behind: re.Match[str]) -> tuple[str, ...]:
    """Return what a word behind a number says that it is of; nothing where it is part of it."""
    if behind["share"] or behind["digit"]:
        return ("%",) if behind["share"] else ()
    return _names().get(behind["word"], (PLAIN,))


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """Return what words behind numbers say that they are of, by folded word."""
    names: dict[str, tuple[str, ...]] = {}
    for word, name in (UNITS | CURRENCIES).items():
        if len(word) > 2 or not word.isascii() or not word.isalpha() or word in _SHORT:
            names[folded(word)[1]] = (name, *SHARED_WORDS.get(word, ()))
    return names | _MONEY | dict.fromkeys((folded(word)[1] for word in MAGNITUDES), ())


def _named_in_cjk(text: str, stop: int) -> tuple[str, ...]:
    behind = text[stop : stop + 3]
    if not behind[:1].isalnum():
        return (PLAIN,)
    lengths = range(len(behind), 0, -1)
    return next((_names()[behind[:n]] for n in lengths if behind[:n] in _names()), (PLAIN,))


def _with_cents(text: str, runs: list[_Run]) -> Iterator[tuple[Decimal, tuple[str, ...]]]:
    """Yield the numbers of runs, those as one that say an amount and its cents."""
    at = 0
    while at < len(runs):
        numbers, names = runs[at].numbers, runs[at].names
        if at + 1 < len(runs) and _goes_on_in_cents(text, runs[at], runs[at + 1]):
            at += 1
            numbers = [*numbers[:-1], numbers[-1] + runs[at].numbers[0] / 100]
        elif _CENTS in names:
            numbers, names = [number / 100 for number in numbers], (PLAIN,)
        yield from ((number, names) for number in numbers)
        at += 1


def _goes_on_in_cents(text: str, run: _Run, behind: _Run) -> bool:
    """Return whether what stands behind an amount are its cents: "zwölf Euro fünfzig"."""
    if not run.numbers or len(behind.numbers) != 1 or not 0 < behind.numbers[0] < 100:
        return False
    between = text[run.end : behind.start]
    linked = not between.strip() or (_CENTS in behind.names and _LINK.fullmatch(between))
    return bool(linked) and not _codes().isdisjoint(run.names)


@cache
def _codes() -> frozenset[str]:
    return frozenset(CURRENCIES.values())


def days_in(text: str, small: str) -> Iterator[tuple[int, int, int]]:
    """Yield the year (0: none), the month and the day of each day that a text names in words.

    Args:
        text: The text.
        small: What `folded` made of it.
    """
    if "月" in text:
        for match in _DAY_IN_KANJI.finditer(text):
            year = match["year"] or "0"
            said = int(year) if year.isdecimal() else in_kanji(year)
            month, day = in_kanji(match["month"]), in_kanji(match["day"])
            if said is not None and month is not None and day is not None:
                yield said, month, day
    months = [m.span() for m in _MONTH.finditer(small) if _is_month(text, m)]
    found = [
        (language, match)
        for start, stop in months
        for language in languages()
        if language.begin.search(small, max(0, start - _NEAR), stop + _NEAR)
        for pattern in _days_of(language)
        for match in pattern.finditer(small, max(0, start - _NEAR), stop + _NEAR)
    ]
    outer = _outermost(match.span("day") for _, match in found)
    for language, match in found:
        if match.span("day") in outer:
            yield from _day(match, language)


@cache
def _days_of(language: Language) -> tuple[re.Pattern[str], ...]:
    """Return what a day looks like: "the third of March", and in English "March third"."""
    barred = rf"(?!(?:{_ENGLISH_MONTHS})\b)" if language.is_romance else ""  # "due March", "once"
    month, day = rf"\b{barred}(?P<month>{_ANY_MONTH})\b", f"(?P<day>{language.day})"
    year = rf"(?:,?\s+(?:(?:of|de|del|do)\s+)?(?P<year>\d{{4}}\b|{language.row}))?"
    forward = re.compile(rf"{day}\s+{_OF}?{month}{year}")
    if not language.is_english:
        return (forward,)
    # Not "in March two orders came".
    return forward, re.compile(rf"{month}\s+(?:the\s+)?{day}{year}(?!\s+[a-z])")


def _is_month(text: str, name: re.Match[str]) -> bool:
    """Return whether the name of a month is none of the words that are also verbs: "may first"."""
    start = name.start()
    of = name.string.startswith("of ", max(0, start - 3))
    return name[0] not in _ALSO_VERBS or of or text[start].isupper()


def _day(match: re.Match[str], language: Language) -> Iterator[tuple[int, int, int]]:
    numbers = language.numbers(match["day"])
    if len(numbers) == 1:
        written = match["year"] or ""
        year = int(written) if written.isdecimal() else language.year(written)
        yield year or 0, _MONTHS[match["month"]], int(numbers[0])
