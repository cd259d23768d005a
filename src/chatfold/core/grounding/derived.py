"""What follows from the values that were shown: sums, shares, counts, rounded numbers.

Not here: days (`derived_days`), the values themselves (`shown`), which of a summary's were not
shown (`ungrounded`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate, chain, combinations, islice, permutations
from typing import Final

from chatfold.core.grounding.columns import Column, columns_in, sums_of_two
from chatfold.core.grounding.derived_days import DerivedDays
from chatfold.core.grounding.measures import Measures, is_in_another
from chatfold.core.grounding.rounding import far_scale, last_place, place
from chatfold.core.grounding.shown import Sources
from chatfold.core.grounding.together import Together
from chatfold.core.grounding.units import codes_of
from chatfold.core.once import once
from chatfold.core.values import Value
from chatfold.core.values.dates import either_order
from chatfold.core.values.decimals import number_of

__all__ = ["Derived"]

_MANY = 40  # numbers of a kind that are looked at: of more, any number would be the share of two
_SMALL = 12
_MEASURED = frozenset(("µg", "mg", "g", "kg", "ml", "l"))  # so much of a thing is no count
_DOZENS = 144  # of one thing in a line of an order are fewer
_TOTALS = 400
_BETWEEN = 5  # characters between hours and minutes of one time
_BESIDE = 120  # characters: farther from a number its factors do not stand
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approx\w{0,8}\.?|roughly|nearly|almost|over|under|some|circa|ca\.?"
    r"|more than|less than|at least|up to|below|above|etwa|rund|knapp|fast|über|gut|environ|près de"
    r"|plus de|unos|unas|casi|más de|aprox\.?|alrededor de)|[~≈±<>]|約|大约|大約|约)[ \t]*"
    r"(?:of |de |von )?(?:[A-Z]{3}[ \t]?|[$€£¥][ \t]?)?\Z",
    re.IGNORECASE,
)
_THOUSAND: Final = 1_000  # what is written with a word for it, or a larger one, is rounded
_SHORT = re.compile(r"[~≈]?(\d{1,6}(?:[.,]\d{1,3})?)[ \t]?([kKmM])\b")
_SCALES: Final = {"k": 1_000, "m": 1_000_000}


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
        self.said: list[tuple[Value, Decimal]] = []
        self.numbers: list[tuple[Value, Decimal]] = []
        for value, known in zip(said, grounded, strict=True):
            number = number_of(value.key) if value.kind in ("amount", "number") else None
            if number is not None:
                self.said.append((value, number))
                is_bare = value.kind == "number" and self._is_bare(
                    number, _unit_of(value.key) or "n"
                )
                if known or is_bare:
                    self.listed.setdefault(_unit_of(value.key), []).append(number)
                    self.numbers.append((value, number))
        dates = (
            v.key for v, known in zip(said, grounded, strict=True) if known and v.kind == "date"
        )
        self.days = DerivedDays(dates, sources)
        self._together = Together(sources)
        self._sums: dict[tuple[str, frozenset[str]], frozenset[Decimal]] = {}

    def follows(self, value: Value) -> bool:
        """Return whether a value that was not shown follows from what was."""
        if value.kind == "date":
            return any(map(self.days.follows, either_order(value)))
        if value.kind in ("number", "amount"):
            return self._number(value)
        if value.kind == "time" and "h" in value.text:
            return self._lasts(value.key)
        return value.kind == "id" and self._short(value)

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
            counts = number == number.to_integral_value()  # what has decimals is measured
            if abs(number) < 100 and not unit and (counts or self._may_be_of_two(number)):
                return True
            if counts and abs(number) <= _SMALL and unit not in _MEASURED:
                return True
            if self._is_bare(number, unit):
                return True
            if unit and self._measures.holds(number, unit, place(number) / 2):
                return True
            if self._is_rest(value, number, unit):
                return True
            if number == number.to_integral_value() and int(number) in self.sources.counts:
                return True
            if unit == "%":
                if self._is_share(number) or self._is_bare(number / 100, unit):
                    return True
                return self._is_near_share(value, number)
            if unit in ("d", "day", "days", "") and self.days.are_apart(number):
                return True
        about = _ABOUT.search(self.text, max(0, value.start - 24), value.start) is not None
        short = _SHORT.search(self.text[value.start : value.stop + 2])
        codes = codes_of(value) if value.kind == "amount" else frozenset[str]()
        step = last_place(value.text, number)
        if self._rounds(number, step, about or short is not None, codes):
            return True
        exponent = far_scale(self.text, value.stop)
        if exponent:
            large = number.scaleb(exponent), step.scaleb(exponent)
            if large[0] in self._shown_numbers or self._rounds(*large, about, codes):
                return True
        half = step / 2 if step >= _THOUSAND else Decimal()
        sums = self._sums_of(unit, codes)
        if number in sums or (half and any(abs(found - number) <= half for found in sums)):
            return True
        if self._multiplies(value, number, unit, step):
            return True
        if self._adds(value, number, unit, codes) or self._is_line_total(number, codes):
            return True
        return bool(codes) and self._together.come_to(number, half, codes)

    def _is_line_total(self, number: Decimal, codes: frozenset[str]) -> bool:
        """Return whether a number is so many times another one of the same object.

        As `{"qty": 2, "price": "14.50"}` comes to 29.00.
        """
        each = self._totals.get(number, ())
        return any(not codes or self._is_amount(one, codes) for one in each)

    @once
    def _totals(self) -> dict[Decimal, set[Decimal]]:
        """What whole numbers of objects come to with the others, and these."""
        found: dict[Decimal, set[Decimal]] = {}
        for unit in self.sources.units:
            held = {
                keys[0]
                for (kind, key), values in unit.fields.items()
                if kind == "number" and key
                for keys in values
            }
            if not 1 < len(held) <= _SMALL:
                continue
            numbers = [(key, n) for key in held if (n := number_of(key)) is not None]
            for (key, factor), (_, each) in permutations(numbers, 2):
                if 1 < factor < _DOZENS and factor == int(factor) and not _unit_of(key):
                    found.setdefault(factor * each, set()).add(each)
            if len(found) > _TOTALS:
                break
        return found

    def _near(self, value: Value) -> list[tuple[str, Decimal]]:
        """Return the units and numbers of what was shown, and stands beside a value in its line."""
        low, high = max(0, value.start - _BESIDE), value.stop + _BESIDE
        low = max(low, self.text.rfind("\n", low, value.start))
        end = self.text.find("\n", value.stop, high)
        high = high if end < 0 else end
        first = bisect_left(self.numbers, low, key=_start)
        return [
            (_unit_of(other.key), found)
            for other, found in islice(self.numbers, first, first + _SMALL)
            if other.stop <= high
        ]

    def _multiplies(self, value: Value, number: Decimal, unit: str, step: Decimal) -> bool:
        """Return whether a number is so many times, or percent of, another one beside it.

        That, and how many, were both shown: "19 % of 250 EUR are 47.50 EUR", "4 at 3.20 are 12.80".

        Args:
            value: The number as a value of the summary.
            number: It.
            unit: Its unit or currency, "" where it has none; the other one's, too, or none.
            step: The place to which it is rounded.
        """
        near = self._near(value)
        for of, factor in near:
            times: tuple[Decimal, ...] = (factor,) if not of and factor > 1 else ()
            if of == "%":
                share = factor / 100
                times = share, 1 + share, 1 - share
            for other, found in near:
                if other in ("", unit) and any(abs(found * n - number) <= step / 2 for n in times):
                    return True
        return False

    def _adds(self, value: Value, number: Decimal, unit: str, codes: frozenset[str]) -> bool:
        """Return whether a number is the sum of some that are named in a row beside it.

        Or the difference of two: "a flight for 402, a room for 850.50: 1,252.50 EUR".

        Args:
            value: The number as a value of the summary.
            number: It.
            unit: Its unit or currency; those of the others are the same, or not named.
            codes: The currencies that it may be in; none where it is no amount.
        """
        near = [
            found
            for of, found in self._near(value)
            if of == unit or (not of and (not codes or self._is_amount(found, codes)))
        ]
        sums = list(accumulate(near, initial=Decimal()))
        rows = combinations(range(len(sums)), 2)
        if any(last - first > 1 and sums[last] - sums[first] == number for first, last in rows):
            return True
        return any(abs(one - other) == number for one, other in combinations(near, 2))

    def _is_near_share(self, value: Value, number: Decimal) -> bool:
        """Return whether a number is how many percent one beside it is of another one."""
        near = [(of, found) for of, found in self._near(value) if of != "%" and found]
        half = place(number) / 2
        return any(
            abs(100 * one / other - number) <= half
            for (unit, one), (of, other) in permutations(near, 2)
            if unit == of or not unit or not of
        )

    def _is_bare(self, number: Decimal, unit: str) -> bool:
        key = f"number:{number.normalize():f}"
        places = self.sources.bare.get(key, ()) if unit else ()
        if not places or len(places) > _MANY:
            return bool(places)
        fields = self.sources.fields_of(key, places)
        return not all(is_in_another(unit, field) for _, field in fields)

    def _is_rest(self, value: Value, number: Decimal, unit: str) -> bool:
        """Return whether a number is what is left of a time behind its hours: "2 h 35 min"."""
        at = bisect_left(self.said, value.start, key=_start)
        if not at or unit not in ("min", "s"):
            return False
        before, more = self.said[at - 1]
        larger = _unit_of(before.key)
        if larger == "m" and unit == "s":
            larger = "min"
        near = value.start - before.stop <= _BETWEEN
        return near and self._measures.holds_time(more, larger, number, unit)

    def _lasts(self, key: str) -> bool:
        """Return whether the time of day that "2 h 35" may be is how long something took."""
        hours, _, minutes = key.partition(":")[2].partition(":")
        if not (hours.isdigit() and minutes.isdigit()):
            return False
        return self._measures.holds_time(Decimal(hours), "h", Decimal(minutes), "min")

    @once
    def _measures(self) -> Measures:
        return Measures(self.sources.bare, self.sources.units)

    def _may_be_of_two(self, number: Decimal) -> bool:
        """Return whether a number may come of two that were shown: a difference, a rate, a mean.

        Of more than a few, any number would.
        """
        shown, half = self._shown_numbers, place(number) / 2
        if len(shown) > _SMALL:
            return True
        return any(
            abs(found - number) <= half
            for one, other in permutations(shown, 2)
            for found in (
                *(one + other, one - other, one * other, (one + other) / 2, (one + 2 * other) / 3),
                *((one / other,) if other else ()),
            )
        )

    def _is_share(self, number: Decimal) -> bool:
        half = float(place(number)) / 2
        at = bisect_left(self._shares, float(number) - half - 1e-9)
        return at < len(self._shares) and self._shares[at] <= float(number) + half + 1e-9

    @once
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

    def _rounds(
        self, number: Decimal, step: Decimal, about: bool, codes: frozenset[str] = frozenset()
    ) -> bool:
        """Return whether a shown number rounds to this one.

        Without a word such as "about" only what stands behind the decimal point may be missing.
        """
        if about:
            step = min(place(number, trailing=True), abs(number) / 5)
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

    @once
    def _shown_numbers(self) -> list[Decimal]:
        kinds = self.sources.kinds.items()
        keys = {key for key, kind in kinds if kind in ("number", "amount")}
        found = map(number_of, keys.union(self.sources.bare))
        return sorted({n for n in found if n is not None})

    @once
    def _columns(self) -> list[Column]:
        """The numbers under one key of one tool's results, or of one text."""
        found: list[Column] = []
        for keys in self.sources.sums.values():
            numbers = [n for n in map(number_of, keys) if n is not None]
            found.append(Column({_unit_of(key) for key in keys[:3]}, numbers))
        tables = chain.from_iterable(map(columns_in, self.sources.texts))
        found += (Column({""}, numbers) for numbers in islice(tables, _MANY))
        return found

    def _sums_of(self, unit: str, codes: frozenset[str]) -> frozenset[Decimal]:
        """Return the sums and differences in one unit: of columns and of what is said.

        Args:
            unit: The unit; of an amount its currency.
            codes: The currencies that the amount may be in; none for other numbers.
        """
        if (unit, codes) not in self._sums:
            said = self.listed.get(unit, [])
            found = {sum(said, Decimal()), sum(set(said), Decimal()), *sums_of_two(said)}
            for column in self._columns:
                if codes:
                    amounts = [n for n in column.numbers if self._is_amount(n, codes)]
                    found.update(Column(column.units, amounts).sums)
                elif not unit or (len(column.numbers) > 1 and column.units & {unit, ""}):
                    found.update(column.sums)
            self._sums[unit, codes] = frozenset(found)
        return self._sums[unit, codes]
