"""Collecting log records in tests that hypothesis repeats, where `caplog` would pile them up."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["records"]


class _Collector(logging.Handler):
    def __init__(self, found: list[logging.LogRecord]) -> None:
        super().__init__(logging.NOTSET)
        self.found = found

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record)


@contextmanager
def records() -> Iterator[list[logging.LogRecord]]:
    """Collect every log record of every level, whatever logger it comes from."""
    found: list[logging.LogRecord] = []
    handler = _Collector(found)
    root, own = logging.getLogger(), logging.getLogger("chatfold")
    levels = root.level, own.level
    root.addHandler(handler)
    root.setLevel(0)
    own.setLevel(1)
    try:
        yield found
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        own.setLevel(levels[1])
