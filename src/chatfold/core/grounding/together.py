"""What few amounts come to that were shown together: the rest to pay, the sum of two bookings.

Not here: columns, and what stands beside each other in the summary (`columns`, `derived`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final, TypeAlias

from chatfold.core.calls import ToolCallRecord
from chatfold.core.grounding.columns import sums_of_two
from chatfold.core.grounding.shown import Sources
from chatfold.core.grounding.units import Unit, currency_of
from chatfold.core.values.decimals import number_of

__all__ = ["Together"]

Amounts: TypeAlias = dict[str, dict[Decimal, None]]
"""Amounts by currency, each once, in their order."""

_FEW: Final = 12  # amounts whose sum is looked at
_PAIRS: Final = 6  # amounts of which any two are: of more, any amount would be the sum of two
_OWN: Final = 3  # amounts of a result that tells of one thing, and not of a list
_MONEY = re.compile(
    r"price|cost|amount|total|fee|balance|sum|paid|due|deposit|refund|budget|limit|tax|charge"
    r"|betrag|preis|prix|montant|precio|importe|prezzo|importo|preco|valor"
)


class Together:
    """The amounts that were shown in one item or turn, or are the newest of what calls made.

    Args:
        sources: What was shown, read as a whole.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._groups: list[Amounts] | None = None
        self._found: dict[str, list[Decimal]] = {}

    def come_to(self, number: Decimal, half: Decimal, codes: Iterable[str]) -> bool:
        """Return whether an amount is the sum of such amounts, or the difference of two.

        Args:
            number: The amount.
            half: By how much it may have been rounded; 0: it is exact.
            codes: The currencies that it may be in.
        """
        return any(self._holds(code, number, half) for code in sorted(codes))

    def _holds(self, code: str, number: Decimal, half: Decimal) -> bool:
        found = self._found.get(code)
        if found is None:
            if self._groups is None:
                self._groups = list(self._all())
            sums: set[Decimal] = set()
            for group in self._groups:
                sums |= _sums(list(group.get(code, ())))
            found = self._found[code] = sorted(sums)
        at = bisect_left(found, number - half)
        return at < len(found) and found[at] <= number + half

    def _all(self) -> Iterator[Amounts]:
        """Yield the amounts of each item and call, each turn, the newest calls, and all turns."""
        turns: dict[int, Amounts] = {}
        newest: dict[str, Amounts] = {}
        whole: Amounts = {}
        for piece, turn, units in self.sources.by_piece():
            if turn < 0:
                continue  # nobody adds up the prices of instructions
            own: Amounts = {}
            for unit in units:
                self._add(self.sources.units[unit], unit, own)
            if not own:
                continue
            yield own
            _join(turns.setdefault(turn, {}), own)
            _join(whole, own)
            if isinstance(piece, ToolCallRecord) and piece.name:
                one = all(len(amounts) <= _OWN for amounts in own.values())
                newest[piece.name] = own if one else {}
        yield from turns.values()
        latest: Amounts = {}
        for own in newest.values():
            _join(latest, own)
        yield latest
        yield whole

    def _add(self, unit: Unit, number: int, amounts: Amounts) -> None:
        """Add the amounts of a unit, those too whose currency stands beside them or in their key.

        Args:
            unit: The unit.
            number: Its number.
            amounts: Where to add them.
        """
        for (kind, field), held in unit.fields.items():
            if kind != "number":
                continue
            for keys in sorted(held):
                found = number_of(keys[0])
                _, _, code = keys[0].partition(" ")
                if keys[0].startswith("number:") and not code and is_money(field):
                    codes = self.sources.currencies_at(number)
                    code = codes[0] if len(codes) == 1 else ""
                elif not keys[0].startswith("amount:"):
                    continue
                if found and code:
                    amounts.setdefault(code, {})[abs(found)] = None


def is_money(field: str) -> bool:
    """Return whether a field of an object is that of an amount, by its key: `total`, `fee_eur`."""
    key = field.rpartition(".")[2].rpartition(":")[2].lower()
    return _MONEY.search(key) is not None or any(map(currency_of, key.split("_")))


def _join(amounts: Amounts, more: Amounts) -> None:
    for code, numbers in more.items():
        amounts.setdefault(code, {}).update(numbers)


def _sums(numbers: list[Decimal]) -> set[Decimal]:
    """Return the sum of all of a few numbers, and of any two if they are fewer, and differences."""
    if not 1 < len(numbers) <= _FEW:
        return set()
    pairs = sums_of_two(numbers) if len(numbers) <= _PAIRS else set[Decimal]()
    return {sum(numbers, Decimal()), *pairs} - {Decimal()}
