"""From what a store holds to values: data from outside, of which what is damaged is passed by.

Not here: how a value is written (`_encoding`), what a sound one is (`base.checked_fold`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from chatfold.stores._encoding import DamagedError

__all__ = ["Sound"]

_log = logging.getLogger("chatfold")

RowT = TypeVar("RowT")
ValueT = TypeVar("ValueT")


class Sound:
    """Makes values of rows; the first one that is damaged is told in the log, without content.

    Args:
        name: What the log calls the store.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._told = False

    def made(self, make: Callable[[RowT], ValueT], row: RowT) -> ValueT | None:
        """Return the value of a row, None where the row holds what no store has written."""
        try:
            return make(row)
        except (DamagedError, TypeError, ValueError) as error:
            if not self._told:
                _log.warning(
                    "the store %r holds damaged values, which are passed by; restore it from a "
                    "copy if they are needed. The first one: %s",
                    self._name,
                    error,
                )
            self._told = True
            return None

    def all_made(self, make: Callable[[RowT], ValueT], rows: Iterable[RowT]) -> list[ValueT]:
        """Return the values of those rows that are sound."""
        values = (self.made(make, row) for row in rows)
        return [value for value in values if value is not None]
