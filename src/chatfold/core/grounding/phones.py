"""Phone numbers with their country code and without, where groups of digits are read as numbers.

Not here: what is a phone number wherever it stands (`values.phones`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chatfold.core.values import Kind, Value, values
from chatfold.core.values.phones import in_country

__all__ = ["is_shown_in_groups", "with_phones"]

_GROUP = re.compile(r"(?<![\w+])\d{1,15}(?!\w)")
_GAP: Final = r"\)?[ ./\u00a0\u202f-]?\(?"  # between two groups of digits
_BETWEEN = re.compile(_GAP)
_NO_GAPS: Final = str.maketrans("", "", " ./-()\u00a0\u202f")
_MARGIN: Final = 24  # characters beside a number in which its currency or unit stands
_BEFORE: Final = 100  # characters: farther away nothing says that a number is that of a phone
_THOUSANDS = re.compile(r"\d{1,3}(?:[ .\u00a0\u202f]\d{3})+")
_ENDS = re.compile(r"[.!?](?:\s|\Z)|\n")
_OF_PHONES = re.compile(
    r"\b(?:(?:cell|tel|call|ring|dial|reach|text|sms|fax)\b|phone|mobi|whatsapp|contact|land ?line"
    r"|voicemail|telef|t[ée]l[ée]ph|handy|m[óo]vil|anruf|ruf|erreich|portable|appel|joindre"
    r"|celular|llam|l[íi]nea|telem|ligar|ligue|liga|cellulare|chiam|bellen|komórk|zadzwo"
    r"|(?:my|your|his|her|their|mi|su|tu|mon|votre|son|sa|[ms]eu|[dm]eine|ihre|seine|mijn|zijn"
    r"|haar|mio|suo) (?:number|n[úu]mero|nummer|num[ée]ro)\b)|電話|电话|手机|携帯|전화|☎|📞",
    re.IGNORECASE,
)


def with_phones(text: str, found: Sequence[Value], kinds: Mapping[str, Kind]) -> list[Value] | None:
    """Return the values of a text, with groups of digits that are a shown phone number as one.

    As "612 555 019" where +34612555019 was shown. All digits behind the country code have to be
    those, so that it is no other number that ends alike. None where no groups are.

    Args:
        text: The text.
        found: Its values, in order.
        kinds: Kinds of what was shown, by key.
    """
    told = {
        form.partition(":")[2]: key
        for key, kind in kinds.items()
        if kind == "phone"
        for form in in_country(key)
    }
    result, joined = [*found], False
    for start, stop in _runs(text, told) if told else ():
        key = told["".join(filter(str.isdecimal, text[start:stop]))]
        inner = [value for value in result if value.start < stop and start < value.stop]
        if inner and start <= inner[0].start and inner[-1].stop <= stop:
            at = result.index(inner[0])
            result[at : at + len(inner)] = [Value("phone", text[start:stop], key, start, stop)]
            joined = True
    return result if joined else None


def _runs(text: str, told: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    """Yield where all groups of digits beside each other begin and stop, if they are a number."""
    start, stop, digits = 0, 0, ""
    for group in _GROUP.finditer(text):
        if not digits or _BETWEEN.fullmatch(text, stop, group.start()) is None:
            if digits in told:
                yield start, stop
            start, digits = group.start(), ""
        stop, digits = group.end(), digits + group[0]
    if digits in told:
        yield start, stop


def without_gaps(text: str) -> str:
    """Return a text without what may stand between groups of digits."""
    return text.translate(_NO_GAPS)


def is_shown_in_groups(key: str, texts: Sequence[str], dense: Sequence[str]) -> bool:
    """Return whether a phone number with its country code was shown without, in some groups.

    "612 555 019" may be any number, so that something has to say that it is that of a phone.

    Args:
        key: Its key.
        texts: What was shown, in order.
        dense: The same without what may stand between groups (`without_gaps`).
    """
    for digits in {form.partition(":")[2] for form in in_country(key)}:
        held = [at for at, text in enumerate(dense) if digits in text]
        if not held:
            continue
        pattern = re.compile(
            rf"{digits[0]}(?<![\w+]\d)(?<![\d+][ ./(-]\d)(?<![\d+][ )]\(\d)"
            rf"{_GAP}{_GAP.join(digits[1:])}(?![ ./-]?\d|\w)"
        )
        for at in held:
            text = texts[at]
            before = texts[at - 1] if at else ""
            if any(_is_phone(text, found, before) for found in pattern.finditer(text)):
                return True
    return False


def _is_phone(text: str, found: re.Match[str], earlier: str) -> bool:
    """Return whether digits in a text are a phone number by how they stand there.

    Args:
        text: The text.
        found: The digits.
        earlier: The text before it, which may have asked for the number.
    """
    low = max(0, found.start() - _MARGIN)
    for value in values(text[low : found.end() + _MARGIN]):
        of_more = value.kind not in ("number", "id", "phone") or " " in value.key
        if of_more and value.start + low < found.end() and found.start() < value.stop + low:
            return False
    if _THOUSANDS.fullmatch(found[0]) is None:
        return True
    end = _ENDS.search(text, found.end(), found.end() + _BEFORE)
    beside = text[max(0, found.start() - _BEFORE) : end.start() if end else found.end() + _BEFORE]
    if found.start() < _BEFORE:
        beside = f"{earlier[-_BEFORE:]}\n{beside}"
    return _OF_PHONES.search(beside) is not None
