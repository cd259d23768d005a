"""What words of numbers say: how they are put together in some languages, and in kanji.

Not here: the words (`number_tables`), where they stand in a text (`spoken`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import Final

from chatfold.core.grounding.number_tables import WORDS, Words

__all__ = ["Language", "in_kanji", "languages"]

_GAP = r"[\s‐‑-]+"
_LONGEST = 40  # words: a row of more of them says none
_GAPS = re.compile(r"[\s‐‑-]+")
_LARGE: Final = (100, 1_000, 1_000_000, 1_000_000_000)
_ORDINALS: Final = (*range(1, 21), 30)
_NEVER_FIRST: Final = ("hundred", "thousand", "cents", "mila")
_AND: Final = "&"
_COMMA: Final = ","
_POINT: Final = "."


class Language:
    """How numbers are said in one language, in a text of small letters without accents.

    Attributes:
        run: Matches words of numbers in a row.
        row: The expression of it.
        day: The same, which may end in an ordinal.
        begin: Matches how either may begin, in a tenth of the time.
        is_english: Whether it is English.
        is_romance: Whether it is one of those that share no name of a month with English.
    """

    def __init__(self, name: str, words: Words) -> None:
        self.is_english = name == "en"
        self.is_romance = name in ("es", "fr", "it", "pt")
        self._turns = name in ("de", "nl")  # five and twenty
        self._most = 100 if name in ("en", "de", "nl") else 10  # hundreds are counted up to it
        self._by_twenty = (60, 80) if name == "fr" else ()
        cardinals = dict(_numbered(words.counts, range(1, 20)))
        cardinals |= _numbered(words.tens, range(20, 100, 10))
        cardinals |= {
            form: -number if form in _NEVER_FIRST or number > 1_000 else number
            for form, number in _numbered(words.large, _LARGE)
        }
        cardinals |= {form: int(n) for form, _, n in (w.partition("=") for w in words.more.split())}
        ordinals = {
            form + ending: number
            for form, number in _numbered(words.ordinals, _ORDINALS)
            for ending in words.endings.split() or [""]
        }
        marks = dict.fromkeys(words.joins.split("|"), _AND) | {_COMMA: _COMMA}
        marks |= dict.fromkeys(words.point.split("|"), _POINT)
        atom, last = _any(cardinals), _any(ordinals)
        joined = rf"(?:{words.joins})?"
        word = rf"(?>{atom}(?:{joined}{atom})*+)(?!\w)"
        link = rf",?{_GAP}(?:(?:{words.joins}|{words.point}){_GAP})?"
        row = rf"{word}(?:{link}{word})*+"
        first = f"(?=[{''.join(sorted({form[0] for form in cardinals}))}])"  # in half the time
        self.run = re.compile(rf"{first}(?<!\w){row}")
        self.row = row
        self.day = rf"(?<!\w)(?:(?:{word}{link})*(?:{atom}{joined})*{last}(?!\w)|{row})"
        self.begin = re.compile(rf"(?<!\w)(?:{atom}|{last})")
        spoken: dict[str, int | str] = {**ordinals, **cardinals, **marks}
        self._said = {_bare(form): said for form, said in spoken.items()}
        self._token = re.compile(rf"({_any(spoken)})(?:{_GAP})?")

    def tokens(self, run: str) -> list[int | str]:
        """Return what the words of a run say, none where they do not part into such words."""
        found: list[int | str] = []
        at = 0
        while at < len(run):
            match = self._token.match(run, at)
            if match is None or len(found) == _LONGEST:
                return []
            said = self._said[_bare(match[1])]
            unit = found[-2] if self._turns and found[-1:] == [_AND] else ""
            if isinstance(unit, int) and 0 < unit < 10 and said in range(20, 100, 10):
                del found[-2:]
                said = unit + int(said)
            found.append(said)
            at = match.end()
        return found

    def begins_large(self, run: str) -> bool:
        """Return whether a run begins with "hundred" or the like, and not with how many."""
        return run.startswith("a ") or self.tokens(run)[:1] in ([100], [1_000])

    def numbers(self, run: str) -> list[Decimal]:
        """Return the numbers that a run says: several where an "and" or a comma parts them.

        What says none as a whole, such as a row of digits, says none of its parts either.
        """
        tokens, found = self.tokens(run), list[Decimal]()
        while tokens:
            cuts = (at for at in range(len(tokens), 0, -1) if tokens[at:][:1] in ([], ["&"], [","]))
            for cut in cuts:
                number = self._number(tokens[:cut])
                if number is not None:
                    found.append(number)
                    tokens = tokens[cut:]
                    while tokens and isinstance(tokens[0], str):
                        del tokens[0]
                    break
            else:
                return []
        return found

    def year(self, run: str) -> int | None:
        """Return the year that a run says, also as "nineteen ninety-nine"."""
        tokens = self.tokens(run)
        whole = self._whole(tokens)
        if whole is not None:
            return whole if 1_000 <= whole < 3_000 else None
        if self.is_english and tokens and tokens[0] in range(10, 21):
            oh = tokens[1:2] == [0]
            rest = self._whole(tokens[2 if oh else 1 :])
            if rest is not None and (rest < 10 if oh else 9 < rest < 100):
                return int(tokens[0]) * 100 + rest
        return None

    def _number(self, tokens: Sequence[int | str]) -> Decimal | None:
        if _POINT not in tokens:
            whole = self._whole(tokens)
            return None if whole is None else Decimal(whole)
        at = tokens.index(_POINT)
        whole, behind = self._whole(tokens[:at]), list(tokens[at + 1 :])
        last = behind[-1] if behind else ""
        scale = abs(last) if isinstance(last, int) and abs(last) >= 1_000 else 1
        behind = behind[:-1] if scale > 1 else behind
        digits = "".join(map(str, behind))
        if not all(isinstance(n, int) and 0 <= n < 10 for n in behind):
            rest = self._whole(behind)
            digits = str(rest) if rest is not None and 9 < rest < 100 else ""
        return Decimal(f"{whole}.{digits}") * scale if digits and whole is not None else None

    def _whole(self, tokens: Sequence[int | str]) -> int | None:
        """Return the number that all tokens make, None where they make none."""
        total = group = 0
        room, top, last = 1_000, 10**12, 0
        for token in tokens:
            if isinstance(token, str):
                needs_large = token == _COMMA or self.is_english
                if token == _POINT or (needs_large and last % 100) or not last:
                    return None
                continue
            number = abs(token)
            if token < 0 and not group:
                return None
            if number >= 1_000:
                if number >= top or (total and not group):
                    return None
                total, group, top, room = total + (group or 1) * number, 0, number, 1_000
            elif number == 100 and group < self._most and not (group and last == 100):
                group, room = (group or 1) * 100, 100
            elif 0 < number < room:
                group += number
                room = 20 if number in self._by_twenty else _room(number)
            elif tokens != [0]:
                return None
            last = number
        return total + group if tokens and isinstance(tokens[-1], int) else None


def _room(number: int) -> int:
    """Return below what a number has to be that may follow another one: 5 in "twenty-five"."""
    if number % 100 == 0:
        return 100
    return 10 if number % 10 == 0 and number > 10 else 1


def _numbered(row: str, numbers: Iterable[int]) -> Iterator[tuple[str, int]]:
    for forms, number in zip(row.split(), numbers, strict=False):
        for form in forms.split("|"):
            yield form, number


def _any(forms: Iterable[str]) -> str:
    """Return an expression for any of some words, longer ones first."""
    ordered = sorted(forms, key=lambda form: (-len(form), form))
    words = (form.replace("_", rf"(?:{_GAP})?").replace("'", "(?=ott|un)") for form in ordered)
    return f"(?:{'|'.join(words)})"


def _bare(form: str) -> str:
    return _GAPS.sub("", form).replace("_", "").replace("'", "")


@cache
def languages() -> tuple[Language, ...]:
    """Return the languages; made where they are first asked for, as most summaries never do."""
    return tuple(Language(name, words) for name, words in WORDS.items())


_DIGITS: Final = {
    sign: n
    for n, signs in enumerate(("〇零", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
_POWERS: Final = {
    "十": 10,
    "百": 100,
    "千": 1_000,
    "万": 10**4,
    "萬": 10**4,
    "億": 10**8,
    "亿": 10**8,
}


def in_kanji(run: str) -> int | None:
    """Return the number that kanji write, in powers or digit by digit; None where it is none."""
    if len(run) > _LONGEST:
        return None
    if all(sign in _DIGITS for sign in run):
        return int("".join(str(_DIGITS[sign]) for sign in run))
    total = group = digit = 0
    below, least = 10_000, 10**12
    for sign in run:
        power = _POWERS.get(sign, 0)
        if not power:
            if digit:
                return None
            digit = _DIGITS[sign]
        elif power < 10_000:
            if power >= below:
                return None
            group, digit, below = group + (digit or 1) * power, 0, power
        else:
            group += digit
            if not group or power >= least:
                return None
            total, group, digit, below, least = total + group * power, 0, 0, 10_000, power
    return total + group + digit
