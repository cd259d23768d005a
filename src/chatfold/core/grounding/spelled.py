"""Numbers, amounts and days of a summary that were said in words, as one does in speech.

"Twelve thousand dollars" is $12,000, and "the third of March" is 3 March. Nothing here is read
before a value is looked for that neither stands in what was shown nor follows from it.

Not here: how such words are found (`spoken`), values that are written in digits (`shown`).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from chatfold.core.grounding.shown import Sources
from chatfold.core.grounding.spoken import PLAIN, days_in, folded, numbers_in
from chatfold.core.grounding.units import codes_of
from chatfold.core.once import once
from chatfold.core.values import Value
from chatfold.core.values.dates import day_keys, either_order
from chatfold.core.values.decimals import number_of
from chatfold.core.values.tables import CURRENCIES

__all__ = ["Spelled"]

_LONGEST: Final = 20_000  # characters: longer texts are no speech
_FEW: Final = 100  # fewer are said of anything
_ROUND: Final = frozenset((100, 1_000, 10**6, 10**9))


class Spelled:
    """What was said in words.

    Args:
        sources: What was shown; nothing is read of it any more while this is asked.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def holds(self, value: Value) -> bool:
        """Return whether a number, an amount or a date was said in words."""
        if value.kind == "date":
            return any(map(self._holds_day, either_order(value)))
        if value.kind not in ("number", "amount"):
            return False
        keys = [value.key]
        if value.kind == "number":  # "1.200" may be of thousands
            whole = f"number:{''.join(filter(str.isdigit, value.text))}"
            keys += [whole] if whole in value.also else []
        codes = codes_of(value) if value.kind == "amount" else frozenset[str]()
        unit = value.key.partition(" ")[2]
        numbers = (n for n in map(number_of, keys) if n is not None)
        return any(self._holds_number(number, unit, codes) for number in numbers)

    def _holds_number(self, number: Decimal, unit: str, codes: frozenset[str]) -> bool:
        """Return whether a number was said, of what it is said of or of nothing else."""
        names = self._numbers.get(number)
        if names is None:
            return False
        if not unit or not names.isdisjoint(codes or (unit,)):
            return True
        # "At once", "thanks a million": what is said so often has to be said of the same.
        is_few = (number < _FEW and number == int(number)) or number in _ROUND
        if is_few or PLAIN not in names:
            return False
        return not codes or not self._currencies or not codes.isdisjoint(self._currencies)

    def _holds_day(self, key: str) -> bool:
        """Return whether a day was named; one without its year may be of this year."""
        if key in self._days:
            return True
        short = f"date:--{key[-5:]}"
        return short in self._yearless and any(
            key[5:9] == str(day.year) for day in self._sources.today
        )

    # What was said

    @once
    def _texts(self) -> list[tuple[str, str]]:
        """What was shown, as it is and in small letters without accents."""
        return [folded(text) for text in self._sources.texts if len(text) <= _LONGEST]

    @once
    def _numbers(self) -> dict[Decimal, set[str]]:
        """The numbers that were said, and what stands behind them: units, currencies."""
        found: dict[Decimal, set[str]] = {}
        for _, text in self._texts:
            for number, names in numbers_in(text):
                found.setdefault(number, set()).update(names)
        return found

    @once
    def _currencies(self) -> frozenset[str]:
        """The currencies that were named, with digits or with words."""
        codes = set(CURRENCIES.values())
        said = (name for names in self._numbers.values() for name in names if name in codes)
        return frozenset((*said, *self._sources.currencies))

    @once
    def _days(self) -> set[str]:
        """The keys of the days that were named; of those with a year also the ones without."""
        return {key for named in self._dates for key in _keys(*named)}

    @once
    def _yearless(self) -> set[str]:
        return {key for named in self._dates if not named[0] for key in _keys(*named)}

    @once
    def _dates(self) -> set[tuple[int, int, int]]:
        """Years, 0 where none was named, months and days."""
        return {named for text, small in self._texts for named in days_in(text, small)}


def _keys(year: int, month: int, day: int) -> tuple[str, ...]:
    """Return the keys of a day, with its year and without."""
    keys = day_keys(year, month, day)
    return () if keys is None else (keys[0], *(key for key in keys[1] if key[:7] == "date:--"))
