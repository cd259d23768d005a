"""Phone numbers, and card numbers in groups of four, which look like them.

Not here: other things that begin with a digit (`numbers`), bare digits (`words`).
"""

from __future__ import annotations

import re

from chatfold.core.values.kinds import Keys, Reading, Value
from chatfold.core.values.words import digit_keys
from chatfold.core.word_sets import word_set

__all__ = ["in_country", "phone_at", "phone_keys", "phone_word"]

_PHONE = re.compile(
    r"\+\d{1,3}(?:[ ./-]?\(?\d{1,5}\)?){1,6}(?!\d)"
    r"|\(\d{2,5}\)[ -]?\d{3,4}[- ]?\d{3,5}(?!\d|-\d)"
    r"|\d{3}[-. ]\d{3}[-. ]\d{4}(?!\d|[-.]\d)"
    r"|1\d{2}[- ]\d{4}[- ]\d{4}(?!\d|-\d)"
    r"|0\d{1,4}(?:[ /-]\d{2,8}){1,4}(?!\d|-\d)"
    r"|0(?:\d(?:\.\d\d){4}|\d{3}(?:\.\d\d){3})(?!\d|[-.]\d)"
)
_CARD = re.compile(r"\d{4}(?:[ -]\d{4}){2,3}(?![\d-])")

# Country codes of two digits; of the others 1 and 7 have one, and the rest three.
# https://en.wikipedia.org/wiki/Telephone_country_code (2026-11-29)
_TWO = word_set(
    """
    20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64
    65 66 81 82 84 86 90 91 92 93 94 95 98
    """
)
_SHORTEST = 8  # digits of a number within its country


def phone_word(word: str) -> Reading | None:
    """Return the reading of a word that is a whole phone number, with hyphens or points."""
    if _PHONE.fullmatch(word) is None:
        return None
    digits = "".join(filter(str.isdigit, word))
    if not 9 <= len(digits) <= 15:
        return None
    return Reading("phone", 0, len(word), *phone_keys(digits, international=False))


def phone_at(text: str, start: int, left: str) -> list[Value]:
    """Return the phone number, or the card number in groups of four, that begins at a digit.

    Args:
        text: The whole text.
        start: Where the digit stands.
        left: What stands before it in its line.
    """
    at = start
    before = left[-1:]
    if before == "(":
        at -= 1
        before = left[-2:-1]
    if before == "+":
        at -= 1
    found = _PHONE.match(text, at)
    if found is not None:
        # The 0 of "+49 (0)171" is dialled only inside of the country.
        digits = "".join(filter(str.isdigit, found[0].replace("(0)", "", found[0][0] == "+")))
        if (9 if digits[0] == "0" and found[0][0] != "+" else 7) <= len(digits) <= 15:
            keys = phone_keys(digits, international=found[0][0] == "+")
            return [Value("phone", found[0], keys[0], at, found.end(), keys[1])]
    found = _CARD.match(text, start)
    if found is None:
        return []
    digits = found[0].replace(" ", "").replace("-", "")
    kind, keys = digit_keys(digits)
    return [Value(kind, found[0], keys[0], start, found.end(), keys[1])]


def phone_keys(digits: str, *, international: bool) -> Keys:
    """Return the keys of a phone number: its digits, with + where the country is written.

    It vouches for the same without country code (of one to three digits), with or without a 0 in
    front, and for the bare digits as an id.
    """
    also = [f"id:{digits}"]
    if international:
        also.append(f"phone:{digits}")
        for length in (1, 2, 3):
            rest = digits[length:]
            also += (f"phone:{rest}", f"phone:0{rest}")
    elif digits[0] == "0":
        also.append(f"phone:{digits[1:]}")
    return f"phone:{'+' if international else ''}{digits}", tuple(also)


def in_country(key: str) -> tuple[str, ...]:
    """Return the keys that a phone number with its country code has when it is written without.

    None where it has no country code, or where too little is left to tell one number from others.
    """
    digits = key.removeprefix("phone:+")
    if digits == key:
        return ()
    length = 1 if digits[0] in "17" else 2 if digits[:2] in _TWO else 3
    rest = digits[length:]
    if len(rest) < _SHORTEST:
        return ()
    return tuple(f"{kind}:{zero}{rest}" for kind in ("phone", "id", "number") for zero in ("0", ""))
