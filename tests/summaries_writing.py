"""How people write dates, times and amounts in a few languages, to draw summaries with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

__all__ = ["AMOUNTS", "DATES", "TIMES", "Money", "Number", "amount_in"]


@dataclass(frozen=True)
class Money:
    """An amount: hundredths and a currency's code."""

    cents: int
    currency: str = ""


class Number(NamedTuple):
    """A number with its unit."""

    value: int
    unit: str

    def __str__(self) -> str:
        return (
            f"{self.value:,} {self.unit}" if self.value >= 10_000 else f"{self.value} {self.unit}"
        )


_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
}
MONTHS = {language: names.split() for language, names in _MONTHS.items()}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _month(language: str, d: date) -> str:
    return MONTHS[language][d.month - 1]


def _th(day: int) -> str:
    if day in (11, 12, 13):
        return f"{day}th"
    return f"{day}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th') }"


def _iso(d: date) -> str:
    return f"{d:%Y-%m-%d}"


def _japanese(d: date) -> str:
    return f"{d.year}年{d.month}月{d.day}日"


DATES: dict[str, tuple[Callable[[date], str], ...]] = {
    "en": (
        _iso,
        lambda d: f"{_month('en', d)} {d.day}, {d.year}",
        lambda d: f"{d.day} {_month('en', d)[:3]} {d.year}",
        lambda d: f"{_month('en', d)[:3]} {d.day}",
        lambda d: f"{_DAYS[d.weekday()]}, {_month('en', d)} {d.day}, {d.year}",
        lambda d: f"{_month('en', d)} {_th(d.day)}",
        lambda d: f"{d.day} {_month('en', d)} {d.year}",
    ),
    "de": (
        _iso,
        lambda d: f"{d.day}. {_month('de', d)} {d.year}",
        lambda d: f"{d:%d.%m.%Y}",
        lambda d: f"{d.day}. {_month('de', d)}",
    ),
    "fr": (
        lambda d: f"{d.day} {_month('fr', d)} {d.year}",
        lambda d: f"{d:%d/%m/%Y}",
        lambda d: f"{d.day} {_month('fr', d)}",
    ),
    "es": (
        _iso,
        lambda d: f"{d.day} de {_month('es', d)} de {d.year}",
        lambda d: f"{d:%d/%m/%Y}",
        lambda d: f"{d.day} de {_month('es', d)}",
    ),
    "ja": (_iso, _japanese, lambda d: f"{d.month}月{d.day}日"),
    "zh": (_japanese, lambda d: f"{d:%Y/%m/%d}", lambda d: f"{d.month}月{d.day}日"),
}


def _twelve(d: datetime) -> str:
    return f"{d.hour % 12 or 12}:{d:%M} {'pm' if d.hour >= 12 else 'am'}"


TIMES: dict[str, tuple[Callable[[datetime], str], ...]] = {
    "en": (
        lambda d: f"{d:%H:%M} on {DATES['en'][3](d)}",
        lambda d: f"{_twelve(d)} on {DATES['en'][1](d)}",
        lambda d: f"{d:%Y-%m-%d %H:%M}",
        lambda d: f"{DATES['en'][3](d)} at {_twelve(d)}",
    ),
    "de": (
        lambda d: f"{DATES['de'][1](d)} um {d:%H:%M} Uhr",
        lambda d: f"{d:%d.%m.%Y}, {d:%H:%M}",
    ),
    "fr": (lambda d: f"{DATES['fr'][0](d)} à {d:%H:%M}",),
    "es": (lambda d: f"{DATES['es'][1](d)} a las {d:%H:%M}",),
    "ja": (lambda d: f"{_japanese(d)} {d:%H:%M}",),
    "zh": (lambda d: f"{_japanese(d)} {d:%H:%M}",),
}

_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def amount_in(language: str, cents: int, *, whole: bool = False) -> str:
    """Return the number of an amount as a language writes it."""
    text = f"{cents // 100:,}" if whole else f"{cents // 100:,}.{cents % 100:02d}"
    if language in ("de", "es"):
        return text.translate(str.maketrans(",.", ".,"))
    return text.translate(str.maketrans(",.", "\u202f,")) if language == "fr" else text


def _signed(m: Money) -> str:
    if m.currency not in _SIGNS:
        return _coded(m)
    return f"{_SIGNS[m.currency]}{amount_in('en', m.cents)}"


def _coded(m: Money) -> str:
    return f"{amount_in('en', m.cents)} {m.currency}"


def _led(m: Money) -> str:
    return f"{m.currency} {amount_in('en', m.cents)}"


def _ungrouped(m: Money) -> str:
    return f"{m.cents / 100:.2f} {m.currency}"


def _european(language: str) -> tuple[Callable[[Money], str], ...]:
    def signed(m: Money) -> str:
        return f"{amount_in(language, m.cents)} {_SIGNS.get(m.currency, m.currency)}"

    return (signed, lambda m: f"{amount_in(language, m.cents)} {m.currency}")


AMOUNTS: dict[str, tuple[Callable[[Money], str], ...]] = {
    "en": (_signed, _coded, _led, _ungrouped),
    "de": _european("de"),
    "fr": _european("fr"),
    "es": _european("es"),
    "ja": (_signed, _coded),
    "zh": (_coded, _led),
}
