"""Tables as people read them, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Cell: TypeAlias = str | int | float | None


@dataclass(slots=True)
class Table:
    """One table: rows of named cells.

    Attributes:
        title: What it shows.
        columns: Title of every column, with how its numbers are written (a format specification).
        rows: The cells of every row, in the order of the columns.
        notes: What stands below it.
    """

    title: str
    columns: Mapping[str, str]
    rows: list[Sequence[Cell]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [list(self.columns), *(self._written(row) for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        written = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        written.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([self.title, "", *written, *(["", *self.notes] if self.notes else [])])

    def as_json(self) -> dict[str, Any]:
        """Return the table for a JSON file."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": self.notes}

    def _written(self, row: Sequence[Cell]) -> list[str]:
        return [
            "-" if cell is None else cell if isinstance(cell, str) else format(cell, form)
            for cell, form in zip(row, self.columns.values(), strict=True)
        ]
