"""The elements of the latest items of a list, written ahead of the prompt that shows them.

Not here: how an item is written (`render`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from chatfold.core.call_numbers import CallNumbers
from chatfold.core.calls import CallPairing
from chatfold.core.render import Written, elements
from chatfold.core.views import ItemView

__all__ = ["Elements"]

_AT_ONCE: Final = 32  # items that are written at one time, at most
_LONGEST: Final = 1_000  # tokens of an item: longer ones are left to the fold
_MOST: Final = 8_000_000  # characters, twice: what a hundred thousand items of a few words show
_BEFORE: Final = 8  # calls before those of new items among which results find theirs


class Elements:
    """What the latest items of a list show in a prompt, as far as it is known.

    It is known of an item by its place and its reading, which is another one when the item is
    edited. Where items move, results may be of other calls, and all is to be written anew.

    Attributes:
        looked: At how many items of the list nobody has to look again.
    """

    def __init__(self) -> None:
        self._noted: dict[int, tuple[ItemView, str]] = {}
        self._before: dict[int, tuple[ItemView, str]] = {}
        self._length = 0
        self.looked = 0

    def known(self) -> Written:
        """Return what is known now; calls are written as answered ones."""
        return {**self._before, **self._noted}

    def write_ahead(
        self, views: Sequence[ItemView], start: int, sizes: Sequence[int], calls: CallPairing
    ) -> None:
        """Write the elements of items that came, and of those that nobody looked at before.

        Args:
            views: The readings of the list.
            start: Index of the first item that came.
            sizes: Sizes of the items in tokens.
            calls: The calls of the list.
        """
        stop = len(views)
        start = max(min(start, self.looked), stop - _AT_ONCE)
        self.looked = stop
        _, near = calls.near(start, stop, before=_BEFORE)
        numbers = CallNumbers(near, start)
        these = [
            index
            for index in range(start, stop)
            if sizes[index] <= _LONGEST and numbers.has_all(index, views[index])
        ]
        for index, text in elements(views, these, near):
            self._noted[index] = views[index], text
            self._length += len(text)
        if self._length >= _MOST:
            self._before, self._noted, self._length = self._noted, {}, 0
