"""How much of a list may stay, where a fold is to lead below a limit.

What is to be kept says how long the recent part may be; instructions and kept items come on top of
it. Not here: where the list is cut for that (`split`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from chatfold.core.split import Split

__all__ = ["Within"]

_SOME: Final = 1 / 16  # of a limit: what stays beside the recent part matters from there on


class Within(NamedTuple):
    """The limits that a list is to be below after a fold, the recent part with all beside it.

    Attributes:
        tokens: Tokens of the list, ascending: the first that a fold can lead below counts.
        items: Its items, None for no limit. Whole turns may pass it, but none that does alone.
    """

    tokens: tuple[int, ...] = ()
    items: int | None = None

    def kept_tokens(
        self, where: Split, sizes: Sequence[int], words: int, min_gain: float
    ) -> int | None:
        """Return the tokens that the recent part may have; None where it need not be shorter.

        Args:
            where: Where the list would be cut.
            sizes: The sizes of its items in tokens.
            words: Tokens that the summary will have, about.
            min_gain: Share of the list's tokens that the fold has to save.
        """
        stays = [*range(where.start), *where.kept]
        beside, tail = sum(sizes[i] for i in stays), sizes[where.cut :]
        found = (self._by_tokens(beside, sum(tail), words, min_gain), self._by_items(stays, tail))
        return min((tokens for tokens in found if tokens is not None), default=None)

    def _by_items(self, stays: Sequence[int], tail: Sequence[int]) -> int | None:
        """Return what the last items have, as many as half of what is left: long turns are cut."""
        if self.items is None or len(tail) < self.items or len(stays) >= self.items - 1:
            return None
        return sum(tail[-((self.items - len(stays)) // 2) :])

    def _by_tokens(self, beside: int, tail: int, words: int, min_gain: float) -> int | None:
        """Return what a recent part may have that is too long for the fold to be worth it.

        That is half of what is left beside all else that stays, as a policy keeps half of what is
        left beside its `overhead_tokens`; or less than that, down to a half of it, where the fold
        would not save enough then.
        """
        for limit in self.tokens:
            if beside < limit * _SOME:  # then the policy alone says how much is kept
                return None
            most = int(limit * (1 - min_gain - _SOME)) - beside - words
            if tail <= most:
                return None
            half = (limit - beside) // 2
            if half >= words:  # else so little is left that this limit is out of reach
                return min(half, max(most, half // 2))
        return None
