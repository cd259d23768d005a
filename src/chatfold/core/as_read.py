"""The items of a list as they were when they were read, by which it is told what has changed.

Not here: their readings (`reading`), what is known of those that stand elsewhere (`still_read`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import is_
from typing import Any, Final

from chatfold.core.digest import edited_index, fingerprints
from chatfold.core.still_read import still_behind

__all__ = ["AsRead", "is_as_read"]

_AT_THE_END: Final = 3  # items before the last one: that may be one object, put in again and again


class AsRead:
    """The items that were read, with what each of them said then.

    Attributes:
        items: The items themselves, in order.
        prints: Their fingerprints.
        copies: Their copies, None where the fingerprint alone tells of an edit.
    """

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.prints: list[int] = []
        self.copies: list[dict[str, Any] | None] = []

    def take(
        self, items: Sequence[Any], prints: Sequence[int], copies: Sequence[dict[str, Any] | None]
    ) -> None:
        """Take down items that were read behind the others."""
        self.items.extend(items)
        self.prints.extend(prints)
        self.copies.extend(copies)

    def forget(self, start: int) -> None:
        """Forget the items from an index on."""
        for kept in (self.items, self.prints, self.copies):
            del kept[start:]

    def may_differ(self, items: Sequence[Any], new: Sequence[Any]) -> bool:
        """Return whether a list has to be looked through, told by its end alone.

        An edit before the last item that was read is not noticed.

        Args:
            items: The list as it is now.
            new: What stands behind what was read.
        """
        seen = len(self.items)
        return len(items) < seen or (
            seen > 0 and not (self._end(items) and self._stand(items, new))
        )

    def _end(self, items: Sequence[Any]) -> bool:
        """Return whether the last item that was read is still there, and says the same."""
        at = len(self.items) - 1
        start = max(0, at - _AT_THE_END)
        ends = items[start : at + 1]
        # Its owner may have removed it just now.
        if len(ends) <= at - start or not all(map(is_, ends, self.items[start:])):
            return False
        last, copy = ends[-1], self.copies[at]
        return (copy is not None and copy == last) or fingerprints([last])[0] == self.prints[at]

    def _stand(self, items: Sequence[Any], new: Sequence[Any]) -> bool:
        """Return whether nothing was put in before the last item that was read.

        That item then stands further on, and is new there; what stands in its place may be it, too,
        where one object is in the list several times.
        """
        last = id(self.items[-1])
        return last not in map(id, new) or all(map(is_, items, self.items))

    def same(self, items: list[Any]) -> int:
        """Return how many leading items are the objects that were read, and say the same."""
        count = min(len(items), len(self.items))
        if not all(map(is_, items, self.items)):
            known = enumerate(zip(items, self.items, strict=False))
            count = next(index for index, (new, old) in known if new is not old)
        edited = edited_index(items[:count], self.copies[:count], self.prints)
        return count if edited is None else edited

    def behind(self, items: list[Any], start: int) -> range | None:
        """Return where the last items that were read stand now, one behind the other.

        None where there are none, or one of them was edited.

        Args:
            items: The list as it is now.
            start: How many leading items are as they were.
        """
        first, stop = still_behind(self.items, items, start)
        at = len(self.items) - (stop - first)
        copies, prints = self.copies[at:], self.prints[at:]
        if first == stop or edited_index(items[first:stop], copies, prints) is not None:
            return None
        return range(first, stop)

    def among(self, items: Sequence[Any], start: int) -> Iterator[int]:
        """Return the indices, from one on, at which some items stood when they were read."""
        seen = self.items
        places = dict(zip(map(id, seen[start:]), range(start, len(seen)), strict=True))
        return (at for item in items if (at := places.get(id(item))) is not None)


def is_as_read(item: Any, seen: Any) -> bool:
    """Return whether an item is the one that was read, or a plain dict that is equal to it.

    That is told sooner than an item is read.
    """
    return item is seen or (type(item) is dict is type(seen) and item == seen)
