"""Items that were read and stand elsewhere now: behind a fold they are most of the list.

Not here: the readings of the list (`reading`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from chatfold.core.digest import copied, fingerprints
from chatfold.core.views import ItemView, Shape

__all__ = ["StillRead", "printed", "printed_around", "still_behind"]


class StillRead(NamedTuple):
    """The items at the end of what was read, which stand elsewhere now and say the same.

    Attributes:
        first: Index of the first, behind what of the list is as it was.
        views: Their readings.
        prints: Their fingerprints.
        copies: Their copies.
        sizes: Their sizes in tokens, of those that were measured.
        shape: The shape of the list by which they were read.
    """

    first: int
    views: list[ItemView]
    prints: list[int]
    copies: list[dict[str, Any] | None]
    sizes: list[int]
    shape: Shape | None

    def others(self, items: list[Any]) -> list[Any]:
        """Return those of the items behind what is as it was that are none of these."""
        return items[: self.first] + items[self.first + len(self.views) :]


def still_behind(seen: Sequence[Any], items: Sequence[Any], start: int) -> tuple[int, int]:
    """Return where the last items that were read stand now, one behind the other: start and stop.

    Args:
        seen: The items that were read.
        items: The list as it is now.
        start: How many leading items are as they were.
    """
    stop = next((i for i in range(len(items), start, -1) if items[i - 1] is seen[-1]), start)
    most, length = min(stop, len(seen)) - start, 0
    while length < most and items[stop - 1 - length] is seen[-1 - length]:
        length += 1
    return stop - length, stop


def printed(items: Sequence[Any]) -> tuple[list[int], list[dict[str, Any] | None]]:
    """Return the fingerprints of items, and the copies by which an edit of them is told."""
    return fingerprints(items), [*map(copied, items)]


def printed_around(
    run: StillRead, items: Sequence[Any]
) -> tuple[list[int], list[dict[str, Any] | None]]:
    """Return the same of items of which some are known."""
    first, stop = run.first, run.first + len(run.views)
    before, behind = printed(items[:first]), printed(items[stop:])
    return [*before[0], *run.prints, *behind[0]], [*before[1], *run.copies, *behind[1]]
