"""Taking back a fold: the originals return, and what was added since stays.

Not here: which fold is the latest, and the swap itself (`chatfold.swaps`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any

from chatfold.core.digest import content
from chatfold.core.native import plain
from chatfold.core.replacement import Replacement

__all__ = ["Fold", "unfolded"]


@dataclass(frozen=True, slots=True)
class Fold:
    """What one fold took out of a list.

    Attributes:
        summary: The item that was put in.
        region: The items that stood between the prefix and the cut, in order.
        kept: Those of them that stayed in the list.
        digest: Content digest of the region.
        extent: Number of items behind the summary among which the kept ones were left.
        others: What else was put in, which goes with the summary.
        before: Number of items before the summary that were put in or left there.
        thoughts: Fingerprints of the items with thinking that were in the list before it: what has
            come since was signed over the summary. None where that is not known.
    """

    summary: Any = field(repr=False)
    region: tuple[Any, ...] = field(repr=False)
    kept: tuple[Any, ...] = field(repr=False)
    digest: str
    extent: int
    others: tuple[Any, ...] = field(default=(), repr=False)
    before: int = 0
    thoughts: frozenset[int] | None = field(default=None, repr=False)

    def is_as(self, other: Fold | None) -> bool:
        """Return whether another fold takes out the same items, and leaves and puts in the same."""
        if other is None or (self.extent, self.before) != (other.extent, other.before):
            return False
        pairs = [(self.region, other.region), (self.kept, other.kept), (self.others, other.others)]
        same = all(len(a) == len(b) and all(map(is_, a, b)) for a, b in pairs)
        return same and (self.summary is other.summary or self.summary == other.summary)


def unfolded(
    fold: Fold, items: Sequence[Any], say: Callable[[Any], Any]
) -> Replacement[Any] | None:
    """Return what takes the place of a fold's summary, or None where it is no longer there.

    Kept items are where the fold left them; they go back to their old places among the
    originals. A list that was reloaded holds equal items, and these are found too.

    Args:
        fold: The fold.
        items: The list as it is now.
        say: What its shape says of the forms that one item may come in (`Shape.said`).
    """
    at = _find(fold.summary, items, range(len(items)), (), say)
    if at is None:
        return None
    places = {at}
    near = range(max(0, at - fold.before), at + 1 + fold.extent)
    for item in (*fold.kept, *fold.others):
        found = _find(item, items, near, places, say)
        if found is not None:
            places.add(found)
    start, stop = min(places), max(places) + 1
    between = (items[i] for i in range(start, stop) if i not in places)
    return Replacement(start, stop, (*fold.region, *between))


def _find(
    wanted: Any,
    items: Sequence[Any],
    near: range,
    taken: Collection[int],
    say: Callable[[Any], Any],
) -> int | None:
    """Return the index of an item where it was left, of an equal one there, or of it further on.

    Where there is none, the JSON of an object, or the object of a JSON, is looked for where it was
    left: an SDK may spell fields otherwise there, and write those that were not set. Two objects,
    or two dicts, that differ in their ids alone are two items.

    What stands before is not looked at: one object may be in a list more than once, and a copy in
    the prefix is none of the fold's.
    """
    left = [index for index in near if index < len(items) and index not in taken]
    for index in left:
        if items[index] is wanted:
            return index
    said = plain(wanted)
    for index in left:
        if plain(items[index]) == said:
            return index
    for index in range(near.stop, len(items)):  # its owner may have put others before it
        if items[index] is wanted and index not in taken:
            return index
    is_json = isinstance(wanted, dict)
    others = [index for index in left if isinstance(items[index], dict) != is_json]
    told = content(wanted, say) if others else b""
    return next((index for index in others if content(items[index], say) == told), None)
