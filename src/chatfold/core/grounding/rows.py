"""Records in a plain text: rows of a table, blocks of "key: value" lines, and what keys say.

Not here: records in JSON (`shown`), sentences (`sentences`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from chatfold.core.sentences import Line, is_row
from chatfold.core.values import Value

__all__ = ["Records", "snake"]

_NAMED = re.compile(r"([A-Za-z_][\w-]{0,30})[\"']?[ \t]{0,2}[=:][ \t]{0,2}[\"']?\Z")
_DAY = re.compile(r"\d{4}-\d\d-\d\d[T ]\Z")
_PAIR = re.compile(r"[\"']?([A-Za-z_][\w .-]{0,30}?)[\"']?[ \t]{0,2}[:=](?!//)[ \t]*+")
_NEXT_PAIR = re.compile(r"[\s,;]\w{1,30}=")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(key: str) -> str:
    """Return a key of an object or a column as its words with underscores between."""
    return _CAMEL.sub("_", key).lower().strip().replace(" ", "_").replace("-", "_")


class Records:
    """Finds the records in a plain text: rows of a table, blocks of "key: value" lines.

    It is asked for values in their order, and looks at each line once.
    """

    def __init__(self, text: str, structure: Sequence[Line]) -> None:
        self.text = text
        self.structure = structure
        self.starts = [line.start for line in structure]
        self.line = -1
        self.key: str | None = None
        self.record = 0
        self.block = -1
        self.names: set[str] = set()
        self.columns: list[str] = []
        self.table = -1
        self.cell = (0, 0)

    def place(self, value: Value) -> tuple[int | None, str]:
        """Return the record that a value stands in, if it does, and the role that its key gives."""
        at = bisect_right(self.starts, value.start) - 1
        if at < 0:
            return None, ""
        line = self.structure[at]
        if at != self.line:
            self.line = at
            self._open(line)
        if self.table == line.block:
            return None, self._column(value)
        if self.key is not None:
            return self.record, f"key:{self.key}"
        before = self.text[max(line.start, value.start - 48) : value.start]
        named = _NAMED.search(_DAY.sub("", before))  # a time is named as its day is
        return None, f"key:{snake(named[1])}" if named else ""

    def _open(self, line: Line) -> None:
        """Take in a line: a row, a pair of a record, or neither."""
        self.key = None
        if is_row(self.text, line):
            self.cell = (line.start, 0)
            if self.table != line.block:
                self.table = line.block
                first = self.line
                while first and self.structure[first - 1].block == line.block:
                    first -= 1
                head = self.structure[first]
                cells = self.text[head.start : head.stop].split("|")
                self.columns = [snake(cell.strip()) for cell in cells]
            return
        pair = _PAIR.match(self.text, line.content, line.stop)
        if pair is None or _NEXT_PAIR.search(self.text, pair.end(), line.stop):
            return
        self.key = snake(pair[1])
        if line.block != self.block or self.key in self.names:
            self.record += 1
            self.block = line.block
            self.names = set()
        self.names.add(self.key)

    def _column(self, value: Value) -> str:
        start, number = self.cell
        number += self.text.count("|", start, value.start)
        self.cell = (value.start, number)
        named = number < len(self.columns) and self.columns[number]
        return f"key:{named}" if named else ""
