"""Measures in one unit and in another, and the units that keys of an object name.

Not here: how a number and its unit are read (`values.numbers`), sums and shares (`derived`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from chatfold.core.grounding.units import Unit
from chatfold.core.values.decimals import number_of
from chatfold.core.values.tables import UNITS

__all__ = ["Measures", "is_in_another"]

_TIME: Final = "time"
_HEAT: Final = "heat"

_FACTORS: Final[dict[str, tuple[str, Decimal]]] = {
    unit: (dimension, Decimal(factor))
    for dimension, table in {
        _TIME: {"ms": "0.001", "s": "1", "min": "60", "h": "3600", "d": "86400", "wk": "604800"},
        "bytes": {"B": "1", "kB": "1e3", "MB": "1e6", "GB": "1e9", "TB": "1e12",
                  "KiB": "1024", "MiB": "1048576", "GiB": "1073741824"},
        "mass": {"µg": "1e-6", "mg": "0.001", "g": "1", "kg": "1000", "t": "1e6",
                 "oz": "28.349523125", "lb": "453.59237"},
        "length": {"mm": "0.001", "cm": "0.01", "m": "1", "km": "1000", "in": "0.0254",
                   "ft": "0.3048", "mi": "1609.344"},
        "volume": {"ml": "0.001", "l": "1"},
        "speed": {"km/h": "1", "mph": "1.609344"},
        "power": {"W": "1", "kW": "1e3", "MW": "1e6"},
        "energy": {"Wh": "1", "kWh": "1e3", "MWh": "1e6"},
        _HEAT: {"°C": "1.8", "°F": "1"},
    }.items()
    for unit, factor in table.items()
}  # fmt: skip
_STEPS = re.compile("[._:]")
_FREEZES = Decimal(32)  # degrees Fahrenheit
_OF_KEYS: Final[dict[str, str]] = {
    **{word.lower(): unit for word, unit in UNITS.items() if unit in _FACTORS},
    "c": "°C",
    "f": "°F",
    "kmh": "km/h",
    "mins": "min",
    "secs": "s",
}
_TOLD = re.compile("[A-Za-z]{2,}|s|c|f")  # "m" is a minute, a metre and a million
_OTHER_WORDS = frozenset(("min", "in"))  # the least of all, and not minutes


class Measures:
    """What was shown with a unit, or under a key that names one.

    Args:
        bare: Keys of the numbers that were shown, without a currency.
        units: Where values stand, with their keys.
    """

    def __init__(self, bare: Iterable[str], units: Iterable[Unit]) -> None:
        self._shown: dict[str, list[Decimal]] = {}
        told = [(key, key.partition(" ")[2]) for key in bare]
        told += (
            (keys[0], _unit_of_key(key))
            for unit in units
            for (_, key), values in unit.fields.items()
            for keys in values
        )
        for key, unit in told:
            number = number_of(key) if unit else None
            measured = None if number is None else _in_smallest(number, unit)
            if measured is not None:
                self._shown.setdefault(measured[0], []).append(measured[1])
        for numbers in self._shown.values():
            numbers.sort()

    def holds(self, number: Decimal, unit: str, half: Decimal = Decimal()) -> bool:
        """Return whether a number with a unit was shown, in whatever unit.

        Args:
            number: The number.
            unit: Its unit.
            half: By how much it may have been rounded.
        """
        low, high = _in_smallest(number - half, unit), _in_smallest(number + half, unit)
        if low is None or high is None:
            return False
        shown = self._shown.get(low[0], [])
        at = bisect_left(shown, low[1])
        return at < len(shown) and shown[at] <= high[1]

    def holds_time(self, number: Decimal, unit: str, rest: Decimal, of: str) -> bool:
        """Return whether a time of two numbers was shown, as "2 h 35 min"."""
        times = _in_smallest(number, unit), _in_smallest(rest, of)
        if not all(time is not None and time[0] == _TIME for time in times):
            return False
        return self.holds(sum((time[1] for time in times if time), Decimal()), "s")


def is_in_another(unit: str, field: str) -> bool:
    """Return whether a key names another unit of what a unit measures: `p99_s` is in no ms."""
    word = _STEPS.split(field)[-1].lower()
    named = _OF_KEYS.get(word, "")
    own, other = _FACTORS.get(unit), _FACTORS.get(named)
    if own is None or other is None or not _TOLD.fullmatch(word) or word in _OTHER_WORDS:
        return False
    if unit.upper().replace("IB", "B") == named.upper().replace("IB", "B"):
        return False  # who says MB may mean MiB
    return own != other and own[0] == other[0]


def _in_smallest(number: Decimal, unit: str) -> tuple[str, Decimal] | None:
    """Return what a number with a unit measures, and how much of its smallest unit that is."""
    known = _FACTORS.get(unit)
    if known is None:
        return None
    dimension, factor = known
    zero = _FREEZES if unit == "°C" else Decimal()
    return dimension, number * factor + zero


def _unit_of_key(key: str) -> str:
    """Return the unit that a key of an object ends in, as `weight_kg`; "" where it is none."""
    return _OF_KEYS.get(_STEPS.split(key)[-1].lower(), "")
