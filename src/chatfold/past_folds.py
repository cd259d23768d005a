"""What was folded of conversations that a process no longer holds ready; bounded.

Not here: which are held (`sessions`), what other processes have folded (`shared_folds`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from chatfold.regions import Region

__all__ = ["PastFolds"]


class PastFolds:
    """Folds of several names, found again by content; what was used longest ago goes.

    It locks nothing. One of a name is never found under another.

    Args:
        most: Number of folds to keep.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._passed: set[tuple[str, str]] = set()  # those that a later one of theirs is kept for
        self._folds: OrderedDict[tuple[str, str], Region] = OrderedDict()  # the latest last

    def __len__(self) -> int:
        return len(self._folds)

    def put(self, name: str, regions: Sequence[Region]) -> bool:
        """Keep the last of a conversation's folds; return whether another had to go for it.

        Those before it are the first to go: only who goes on from there, as a branch does, would
        have to pay for one again.
        """
        for region in regions[:-1]:
            if (name, region.digest) in self._folds:
                self._folds.move_to_end((name, region.digest), last=False)
                self._passed.add((name, region.digest))
        latest = name, regions[-1].digest
        self._folds[latest] = regions[-1]
        self._folds.move_to_end(latest)
        self._passed.discard(latest)
        is_lost = False
        while len(self._folds) > self._most:  # more, where an interrupt came
            gone, _ = self._folds.popitem(last=False)
            is_lost = is_lost or gone not in self._passed
            self._passed.discard(gone)
        return is_lost

    def of(self, name: str, digests: Sequence[str]) -> list[Region]:
        """Return the folds of a list; the one that is used comes again when that is let go.

        Args:
            name: Name of the conversation.
            digests: Digests of its first 1, 2, 3, ... items.
        """
        names = [(name, digest) for digest in digests]
        return [self._folds[each] for each in names if each in self._folds]

    def forget(self, name: str) -> None:
        """Drop the folds of a name."""
        for each in [each for each in self._folds if each[0] == name]:
            del self._folds[each]
            self._passed.discard(each)
