"""Columns of numbers: in the tables of a text, and what the numbers of one come to.

Not here: the rows of tables, and what stands in them (`rows`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations, groupby
from typing import Final

from chatfold.core.once import once

__all__ = ["Column", "columns_in", "sums_of_two"]

_MARKS: Final = "|\t,"  # between cells; a comma only where no other one stands
_WIDE = re.compile(r"(?<=\S) {2,40}(?=\S)")  # between columns that only spaces part
_NUMBER = re.compile(r"[\"']?-?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,9})?)[\"']?")
_MANY = 40  # numbers whose pairs are looked at: more pairs would make any number a sum of two
_WIDEST = 40  # cells of a row; what has more is no table that somebody sums up


def columns_in(text: str) -> Iterator[list[Decimal]]:
    """Yield the numbers of each column that has several, of the tables in a text.

    Of databases, of Markdown, with commas or tabs, and with spaces between the columns.
    """
    rows = (_cells(line) for line in text.splitlines())
    for (width, _), run in groupby(rows, lambda row: (len(row[1]), row[0])):
        if not 1 < width <= _WIDEST:
            continue
        for cells in zip(*(cells for _, cells in run), strict=True):
            found = [number[1] for cell in cells if (number := _NUMBER.fullmatch(cell.strip()))]
            if len(found) > 1:
                yield [Decimal(number.replace(",", "")) for number in found]


def _cells(line: str) -> tuple[str, list[str]]:
    """Return the mark between the cells of a line, and the cells."""
    mark = next((mark for mark in _MARKS if mark in line), "")
    return mark, line.split(mark) if mark else _WIDE.split(line.strip())


class Column:
    """Numbers of one kind, and what they come to.

    Args:
        units: Their units, "" among them where some have none.
        numbers: The numbers.
    """

    def __init__(self, units: set[str], numbers: list[Decimal]) -> None:
        self.units = units
        self.numbers = numbers

    @once
    def sums(self) -> set[Decimal]:
        """The sum of all, of all that differ, and sums and differences of two, if they are few.

        The mean of all is among them, rounded or not.
        """
        different = set(self.numbers)
        whole = sum(self.numbers, Decimal())
        sums = {whole, sum(different, Decimal())}
        if self.numbers:
            mean = whole / len(self.numbers)
            sums.update(round(mean, places) for places in range(3))
        return sums | sums_of_two(self.numbers)


def sums_of_two(numbers: Sequence[Decimal]) -> set[Decimal]:
    """Return the sums and the differences of any two of some numbers; none of many."""
    some = list(dict.fromkeys(numbers))
    if len(some) > _MANY:
        return set()
    found: set[Decimal] = set()
    for one, other in combinations(some, 2):
        found.update((one + other, abs(one - other)))
    return found
