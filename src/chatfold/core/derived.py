"""What follows from the values that were shown: sums, shares, counts, rounded numbers, days.

Not here: the values themselves (`shown`), which of a summary's were not shown (`grounding`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import combinations, islice
from typing import Final

from chatfold.core.days import as_date
from chatfold.core.shown import Sources
from chatfold.core.units import codes_of
from chatfold.core.value_dates import either_order
from chatfold.core.values import Value

__all__ = ["Derived", "number_of"]

_MANY = 40  # numbers whose pairs are looked at: more pairs would make any number a sum of two
_SMALL = 12
_BESIDE = 120  # characters: farther from a number its factors do not stand
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approx\w{0,8}\.?|roughly|nearly|almost|over|under|some|circa|ca\.?"
    r"|more than|less than|at least|up to|below|above|etwa|rund|knapp|fast|über|gut|environ|près de"
    r"|plus de|unos|unas|casi|más de|aprox\.?|alrededor de)|[~≈±<>]|約|大约|大約|约)[ \t]*"
    r"(?:of |de |von )?(?:[A-Z]{3}[ \t]?|[$€£¥][ \t]?)?\Z",
    re.IGNORECASE,
)
_DECIMALS = re.compile(r"\d[.,](\d\d?)\D*\Z")
_SHORT = re.compile(r"[~≈]?(\d{1,6}(?:[.,]\d{1,3})?)[ \t]?([kKmM])\b")
_SCALES: Final = {"k": 1_000, "m": 1_000_000}
_UNITS: Final[dict[str, tuple[str, Decimal]]] = {
    unit: (dimension, Decimal(factor))
    for dimension, table in {
        "time": {"ms": "0.001", "s": "1", "min": "60", "h": "3600", "d": "86400", "day": "86400",
                 "days": "86400", "week": "604800", "weeks": "604800"},
        "bytes": {"B": "1", "KB": "1e3", "kB": "1e3", "MB": "1e6", "GB": "1e9", "TB": "1e12",
                  "KiB": "1024", "MiB": "1048576", "GiB": "1073741824"},
        "mass": {"mg": "0.001", "g": "1", "kg": "1000", "t": "1e6"},
        "length": {"mm": "0.001", "cm": "0.01", "m": "1", "km": "1000"},
    }.items()
    for unit, factor in table.items()
}  # fmt: skip


def number_of(key: str) -> Decimal | None:
    """Return the number in the key of a number or an amount."""
    written = key.partition(":")[2].partition(" ")[0]
    try:
        found = Decimal(written)
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found.adjusted()) < 20 else None


def _unit_of(key: str) -> str:
    """Return the unit, or the currency, in the key of a number or an amount."""
    return key.partition(" ")[2]


def _start(number: tuple[Value, Decimal]) -> int:
    return number[0].start


class Derived:
    """What follows from what was shown, beside what one summary says itself.

    Args:
        text: The summary.
        said: Its values.
        sources: What its author was shown.
        grounded: Whether a value of it was shown.
    """

    def __init__(
        self, text: str, said: Sequence[Value], sources: Sources, grounded: Sequence[bool]
    ) -> None:
        self.text = text
        self.sources = sources
        self.listed: dict[str, list[Decimal]] = {}
        self.numbers: list[tuple[Value, Decimal]] = []
        for value, known in zip(said, grounded, strict=True):
            if known and value.kind in ("amount", "number"):
                number = number_of(value.key)
                if number is not None:
                    self.listed.setdefault(_unit_of(value.key), []).append(number)
                    self.numbers.append((value, number))
        self.dates = {
            day
            for v, known in zip(said, grounded, strict=True)
            if known and v.kind == "date" and (day := as_date(v.key)) is not None
        }
        self._sums: dict[tuple[str, frozenset[str]], frozenset[Decimal]] = {}

    def follows(self, value: Value) -> bool:
        """Return whether a value that was not shown follows from what was."""
        if value.kind == "date":
            return any(map(self._date, either_order(value)))
        if value.kind in ("number", "amount"):
            return self._number(value)
        return value.kind == "id" and self._short(value)

    def _date(self, key: str) -> bool:
        day = as_date(key)
        if day is None:
            if not key.startswith("date:--"):
                return False
            return any(f"date:{d:--%m-%d}" == key for d in self._relative_days)
        return day in self._relative_days or self._completed(day)

    def _completed(self, day: date) -> bool:
        """Return whether a day was named without its year, and the year stands elsewhere."""
        sources = self.sources
        short = f"date:{day:--%m-%d}"
        if short not in sources.kinds:
            return False
        return any(d.year == day.year for d in sources.today) and not any(
            f"date:{y:04d}{day:-%m-%d}" in sources.kinds for y in range(day.year - 3, day.year + 4)
        )

    @cached_property
    def _relative_days(self) -> set[date]:
        found: set[date] = set()
        for base in [*self.sources.today, *self.dates][:_MANY]:
            for days in sorted(self.sources.offsets)[:_MANY]:
                found.add(base + timedelta(days=days))
        for base in sorted(self.sources.today)[:_SMALL]:
            for days in range(1, 15):
                day = base + timedelta(days=days)
                if day.weekday() in self.sources.weekdays:
                    found.add(day)
        return found

    def _short(self, value: Value) -> bool:
        match = _SHORT.fullmatch(value.text)
        if match is None:
            return False
        number = Decimal(match[1].replace(",", "."))
        return self._rounds(number * _SCALES[match[2].lower()], Decimal(1), True)

    def _number(self, value: Value) -> bool:
        number = number_of(value.key)
        if number is None:
            return False
        unit = _unit_of(value.key)
        if value.kind == "number":
            if abs(number) <= _SMALL or (not unit and abs(number) < 100):
                return True
            if self._is_bare(number, unit) or self._converts(number, unit):
                return True
            if number == number.to_integral_value() and int(number) in self.sources.counts:
                return True
            if unit == "%":
                return self._is_share(number)
            if unit in ("d", "day", "days", "") and self._is_distance(number):
                return True
        about = _ABOUT.search(self.text, max(0, value.start - 24), value.start) is not None
        short = _SHORT.search(self.text[value.start : value.stop + 2])
        codes = codes_of(value) if value.kind == "amount" else frozenset[str]()
        decimals = _DECIMALS.search(value.text)
        step = Decimal(1).scaleb(-len(decimals[1])) if decimals else _place(number)
        if self._rounds(number, step, about or short is not None, codes):
            return True
        return number in self._sums_of(unit, codes) or self._multiplies(value, number, unit, step)

    def _multiplies(self, value: Value, number: Decimal, unit: str, step: Decimal) -> bool:
        """Return whether a number is so many times, or percent of, another one beside it.

        That, and how many, were both shown: "19 % of 250 EUR are 47.50 EUR", "4 at 3.20 are 12.80".

        Args:
            value: The number as a value of the summary.
            number: It.
            unit: Its unit or currency, "" where it has none; the other one's, too, or none.
            step: The place to which it is rounded.
        """
        low, high = max(0, value.start - _BESIDE), value.stop + _BESIDE
        low = max(low, self.text.rfind("\n", low, value.start))
        end = self.text.find("\n", value.stop, high)
        high = high if end < 0 else end
        first = bisect_left(self.numbers, low, key=_start)
        near = [
            (_unit_of(other.key), found)
            for other, found in islice(self.numbers, first, first + _SMALL)
            if other.stop <= high
        ]
        for of, factor in near:
            times: tuple[Decimal, ...] = (factor,) if not of and factor > 1 else ()
            if of == "%":
                share = factor / 100
                times = share, 1 + share, 1 - share
            for other, found in near:
                if other in ("", unit) and any(abs(found * n - number) <= step / 2 for n in times):
                    return True
        return False

    def _is_bare(self, number: Decimal, unit: str) -> bool:
        return bool(unit) and f"number:{number.normalize():f}" in self.sources.bare

    def _converts(self, number: Decimal, unit: str) -> bool:
        """Return whether a number is one that was shown, in another unit, rounded or not."""
        if unit not in _UNITS:
            return False
        dimension, factor = _UNITS[unit]
        least, most = ((number + n * _place(number) / 2) * factor for n in (-1, 1))
        shown = self._measures.get(dimension, [])
        at = bisect_left(shown, least)
        return at < len(shown) and shown[at] <= most

    @cached_property
    def _measures(self) -> dict[str, list[Decimal]]:
        """What was shown with a unit, in the smallest one, by dimension."""
        found: dict[str, list[Decimal]] = {}
        for key in self.sources.bare:
            number, unit = number_of(key), _unit_of(key)
            if number is not None and unit in _UNITS:
                dimension, factor = _UNITS[unit]
                found.setdefault(dimension, []).append(number * factor)
        return {dimension: sorted(numbers) for dimension, numbers in found.items()}

    def _is_share(self, number: Decimal) -> bool:
        half = float(_place(number)) / 2
        at = bisect_left(self._shares, float(number) - half - 1e-9)
        return at < len(self._shares) and self._shares[at] <= float(number) + half + 1e-9

    @cached_property
    def _shares(self) -> list[float]:
        """How many percent one number of a column, or of the summary, is of another or of all."""
        found: set[float] = set()
        columns = [c.numbers for c in self._columns if len(c.numbers) > 1][:_SMALL]
        for column in (*self.listed.values(), *columns):
            some = [float(n) for n in list(dict.fromkeys(column))[:_MANY]]
            for one in some:
                for other in (*some, sum(some)):
                    if other and one + other:
                        found.update((100 * one / other, 100 * abs(one - other) / other))
                        found.add(100 * one / (one + other))
        return sorted(found)

    def _is_distance(self, number: Decimal) -> bool:
        return number in self._distances

    @cached_property
    def _distances(self) -> frozenset[int]:
        """Days between any two dates of the summary and, if they are few, of what was shown."""
        shown = (as_date(key) for key, kind in self.sources.kinds.items() if kind == "date")
        days = [*islice(self.dates, _MANY), *islice((d for d in shown if d is not None), _MANY)]
        return frozenset(abs((one - other).days) for one, other in combinations(days, 2))

    def _rounds(
        self, number: Decimal, step: Decimal, about: bool, codes: frozenset[str] = frozenset()
    ) -> bool:
        """Return whether a shown number rounds to this one.

        Without a word such as "about" only what stands behind the decimal point may be missing.
        """
        if about:
            step = min(_place(number, trailing=True), abs(number) / 5)
            least, most = number - step, number + step
        else:
            least, most = number - step / 2, number + step / 2
        shown = self._shown_numbers
        at = bisect_left(shown, least)
        for near in islice(shown, at, at + _MANY):
            if near > most:
                break
            rounded = about or near != near.quantize(step)
            if rounded and (not codes or self._is_amount(near, codes)):
                return True
        return False

    def _is_amount(self, number: Decimal, codes: frozenset[str]) -> bool:
        """Return whether a number was shown in one of these currencies, or may have been."""
        written = f"{number.normalize():f}"
        if any(f"amount:{written} {code}" in self.sources.kinds for code in codes):
            return True
        return self.sources.may_be_amount(f"number:{written}", codes)

    @cached_property
    def _shown_numbers(self) -> list[Decimal]:
        kinds = self.sources.kinds.items()
        keys = {key for key, kind in kinds if kind in ("number", "amount")}
        found = map(number_of, keys.union(self.sources.bare))
        return sorted({n for n in found if n is not None})

    @cached_property
    def _columns(self) -> list[_Column]:
        """The numbers under one key of one tool's results, or of one text."""
        found: list[_Column] = []
        for keys in self.sources.sums.values():
            numbers = [n for n in map(number_of, keys) if n is not None]
            found.append(_Column({_unit_of(key) for key in keys[:3]}, numbers))
        return found

    def _sums_of(self, unit: str, codes: frozenset[str]) -> frozenset[Decimal]:
        """Return the sums and differences in one unit: of columns and of what is said.

        Args:
            unit: The unit; of an amount its currency.
            codes: The currencies that the amount may be in; none for other numbers.
        """
        if (unit, codes) not in self._sums:
            said = self.listed.get(unit, [])
            found = {sum(said, Decimal()), sum(set(said), Decimal()), *_pairs(said)}
            for column in self._columns:
                if codes:
                    amounts = [n for n in column.numbers if self._is_amount(n, codes)]
                    found.update(_Column(column.units, amounts).sums)
                elif not unit or column.units & {unit, ""}:
                    found.update(column.sums)
            self._sums[unit, codes] = frozenset(found)
        return self._sums[unit, codes]


class _Column:
    """Numbers of one kind, and what they come to."""

    def __init__(self, units: set[str], numbers: list[Decimal]) -> None:
        self.units = units
        self.numbers = numbers

    @cached_property
    def sums(self) -> set[Decimal]:
        """The sum of all, of all that differ, and sums and differences of two, if they are few."""
        different = set(self.numbers)
        sums = {sum(self.numbers, Decimal()), sum(different, Decimal())}
        return sums | _pairs(self.numbers)


def _pairs(numbers: Sequence[Decimal]) -> set[Decimal]:
    some = list(dict.fromkeys(numbers))
    if len(some) > _MANY:
        return set()
    found: set[Decimal] = set()
    for one, other in combinations(some, 2):
        found.update((one + other, abs(one - other)))
    return found


def _place(number: Decimal, *, trailing: bool = False) -> Decimal:
    """Return the value of one at a number's last digit; `trailing`: at its last digit but zeros."""
    exponent = number.as_tuple().exponent
    if trailing:
        exponent = number.normalize().as_tuple().exponent
    return Decimal(1).scaleb(int(exponent))
