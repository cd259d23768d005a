"""A host's list as it was handed over last, and up to where another one says the same.

Not here: what has been folded of it (`session`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any, Final

from chatfold.core.digest import fingerprints
from chatfold.core.rolling import item_digest, rolled
from chatfold.core.split import prefix_length
from chatfold.core.views import ItemView, Shape

__all__ = ["HostList"]

_LOOKED_AT: Final = 512
"""Items among which a turn looks for edits in place, where copies come."""

_NONE: Final[Mapping[int, int]] = {}


class HostList:
    """A list that its host hands over again and again: grown, taken back, edited, or as copies.

    Args:
        items: The list.
        start: Number of its leading instructions, which may change from turn to turn.
        shape: Its shape.
        view_of: Returns the reading of an item.
    """

    def __init__(
        self,
        items: Sequence[Any],
        start: int,
        shape: Shape | None,
        view_of: Callable[[Any], ItemView],
    ) -> None:
        self.items = list(items)
        self.start = start
        self.read_as: str = getattr(shape, "name", "")
        self._view_of = view_of
        self._said: Callable[[Any], Any] | None = getattr(shape, "said", None)
        self._prints = self.printed(items)
        self._digests: list[bytes] = []
        self._rolling: list[str] = []  # of the items after the prefix, as far as asked for
        self._looked_at = self.start  # up to where edits in place were looked for

    def __len__(self) -> int:
        return len(self.items)

    def take(self, items: Sequence[Any], same: int, prints: Mapping[int, int] = _NONE) -> None:
        """Take in the list as it is handed over now; before `same` it says what it said.

        Args:
            items: The list.
            same: Index from which on it differs.
            prints: Prints of items before that which say the same in another form, by index.
        """
        for index, print_ in prints.items():
            self._prints[index] = print_
        if same < max(len(self.items), len(items)):
            self._prints[same:] = self.printed(items[same:])
            del self._digests[same:]
            del self._rolling[max(same - self.start, 0) :]
        self.items = list(items)

    def printed(self, items: Sequence[Any]) -> list[int]:
        """Return the fingerprints of what items say."""
        return fingerprints(items if self._said is None else [*map(self._said, items)])

    def note(self) -> None:
        """Take down what the items say, before copies of them come in another form."""
        self._digests_to(len(self.items))

    def is_as_it_was(self, stop: int) -> bool:
        """Return whether the items up to an index say what they said; hosts may edit in place."""
        return self._changed(self.start, stop) is None

    def edited(self, start: int, stop: int) -> int | None:
        """Return the index of the first item of a part that was edited in place, None for none.

        An equal copy with another order of keys counts as one: it is read as quickly as compared.
        """
        return next((index for index, _ in self._printed_anew(start, stop)), None)

    def rolling(self) -> list[str]:
        """Return the digests of the first 1, 2, 3, ... of the items after the prefix."""
        return list(self._rolled())

    def begins_with(self, length: int, digest: str) -> bool:
        """Return whether that is the digest of so many items after the prefix."""
        return 0 < length <= len(self.items) - self.start and self._rolled()[length - 1] == digest

    def begins_alike(self, items: Sequence[Any]) -> bool:
        """Return whether another list has as many leading instructions.

        Else all that follows would be looked for in the wrong place.
        """
        first = slice(self.start + 1)
        if len(items) > self.start and all(map(is_, items[first], self.items[first])):
            return True
        return prefix_length([*map(self._view_of, items[first])]) == self.start

    def prefix_of(self, items: Sequence[Any]) -> int:
        """Return how many leading instructions another list has."""
        if self.begins_alike(items):
            return self.start
        views = map(self._view_of, items)
        return next((i for i, view in enumerate(views) if not prefix_length([view])), len(items))

    def opens_alike(self, items: Sequence[Any], start: int) -> bool:
        """Return whether another list has the same first item after its prefix, if it has one.

        Args:
            items: The other list.
            start: Number of its leading instructions.
        """
        first = self.start
        if len(items) <= start or len(self.items) <= first:
            return True
        alike = self.printed(items[start : start + 1]) == self._prints[first : first + 1]
        return alike or self._says_the_same(items[start], first)

    def opening(self) -> bytes:
        """Return the digest of the first item after the prefix, b"" where there is none."""
        return b"".join(self._digests_to(min(self.start + 1, len(self.items)))[self.start :])

    def opening_of(self, items: Sequence[Any]) -> bytes:
        """Return the same of another list, read as this one is."""
        start = self.prefix_of(items)
        return self._digest(items[start]) if start < len(items) else b""

    def opens_with(self, items: Sequence[Any]) -> bool:
        """Return whether another list has the same object as first item after the prefix.

        May be asked while another call takes a list in.
        """
        first, known = self.start, self.items
        both = min(len(items), len(known)) > first
        return both and items[first] is known[first]

    def equals_to(self, stop: int, items: Sequence[Any]) -> bool:
        """Return whether the items after the prefix are equal by their own account, which is quick.

        Those that say the same in another form are not. May be asked as `continues` may.

        Args:
            stop: Index behind the last one that is looked at.
            items: The other list.
        """
        part = slice(self.start, stop)
        return _equal(self.items[part], items[part])

    def continues(self, items: Sequence[Any]) -> bool:
        """Return whether another list says the same after its prefix, as far as both go.

        It may have more or fewer leading instructions. May be asked while another call takes a
        list in.
        """
        ours, theirs = self.items[self.start :], items[self.prefix_of(items) :]
        both = min(len(ours), len(theirs))
        return self.alike(ours[:both], theirs[:both])

    def alike(self, ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
        """Return whether as many items say the same; may be asked as `continues` may."""
        if all(map(is_, ours, theirs)) or _equal(ours, theirs):
            return True
        pairs = zip(ours, theirs, self.printed(ours), self.printed(theirs), strict=True)
        return all(
            print_ == other or self._digest(one) == self._digest(its)
            for one, its, print_, other in pairs
        )

    def same_until(self, items: Sequence[Any], folded: int) -> tuple[int, dict[int, int]]:
        """Return the index after the prefix from which on another list differs, and new prints.

        Those are of what says the same in another form, by index: for `take`, for a list that
        is not taken in may be another conversation's.

        Args:
            items: The other list.
            folded: Index up to which the items are folded: what was edited in place of them is
                looked for where copies come.
        """
        start, count = self.start, min(len(items), len(self.items))
        anew: dict[int, int] = {}
        if all(map(is_, items[start:count], self.items[start:count])):
            last = max(start, count - 1)  # what else was edited in place, `is_as_it_was` notices
            as_it_was = self.printed(items[last:count]) == self._prints[last:count]
            return count if as_it_was else last, anew
        if _equal(items[start:count], self.items[start:count]):
            edited = self._first_edited(folded)
            return count if edited is None else edited, anew
        if not self.opens_alike(items, start):
            return start, anew
        prints = self.printed(items[start:count])
        if prints == self._prints[start:count]:
            return count, anew
        for index, print_ in enumerate(prints, start):
            if print_ != self._prints[index]:
                if not self._says_the_same(items[index], index):
                    return index, anew
                anew[index] = print_  # a cache marker moved
        return count, anew

    def _first_edited(self, folded: int) -> int | None:
        """Return the index of a folded item that the host had edited in place, None for none.

        The copies of such a list are equal to it, and not to what was handed over. So many plain
        dicts are looked at that it takes no time to speak of, others at the next turn;
        `is_as_it_was` looks at all that is folded.
        """
        part = slice(self._looked_at, min(self._looked_at + _LOOKED_AT, folded))
        if not all(type(item) is dict for item in self.items[part]):
            return None  # what objects say takes thirty times as long
        self._looked_at = part.stop if part.stop < folded else self.start
        return self._changed(part.start, part.stop)

    def _changed(self, start: int, stop: int) -> int | None:
        """Return the index of the first item of a part that says something else, None for none.

        Equal copies may have come with another order of keys, as a database gives them back: other
        prints, and the same words.
        """
        for index, print_ in self._printed_anew(start, stop):
            if index >= len(self._digests) or not self._says_the_same(self.items[index], index):
                return index
            self._prints[index] = print_
        return None

    def _printed_anew(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield where the items of a part have other prints than they had, and which."""
        now = self.printed(self.items[start:stop])
        pairs = enumerate(zip(now, self._prints[start:stop], strict=True), start)
        return ((index, one) for index, (one, other) in pairs if one != other)

    def _rolled(self) -> list[str]:
        """Return what `rolling` does, made once: many folds may be asked about."""
        more = self._digests_to(len(self.items))[self.start + len(self._rolling) :]
        self._rolling += rolled(more, self._rolling[-1] if self._rolling else "")
        return self._rolling

    def _digests_to(self, stop: int) -> list[bytes]:
        """Return the digests of the items up to an index; each is made once."""
        made = len(self._digests)
        if made < stop:
            self._digests += [self._digest(item) for item in self.items[made:stop]]
        return self._digests[:stop]

    def _digest(self, item: Any) -> bytes:
        return item_digest(item, self._said)

    def _says_the_same(self, item: Any, index: int) -> bool:
        """Return whether an item of another print says what this list's said at an index."""
        if index >= len(self._digests):
            if self.printed(self.items[index : index + 1]) != self._prints[index : index + 1]:
                return False  # that was edited in place, so what it said is not known any more
            self._digests_to(index + 1)
        return self._digest(item) == self._digests[index]


def _equal(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether items are equal by their own account, which is quicker than their prints."""
    try:
        return bool(one == other)
    except Exception:  # whatever the classes of a host's items make of it
        return False
