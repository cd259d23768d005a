"""Columns of numbers in a text: tables of databases, of Markdown, and with commas or tabs.

Not here: the rows of tables, and what stands in them (`records`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby
from typing import Final

__all__ = ["columns_in"]

_MARKS: Final = "|\t,"  # between cells; a comma only where no other one stands
_NUMBER = re.compile(r"[\"']?-?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,9})?)[\"']?")
_WIDEST = 40  # cells of a row; what has more is no table that somebody sums up


def columns_in(text: str) -> Iterator[list[Decimal]]:
    """Yield the numbers of each column of the tables in a text that has several."""
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
    return mark, line.split(mark) if mark else [line]
