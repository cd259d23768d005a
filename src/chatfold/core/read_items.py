"""The items of a list, each read once for what it says.

Not here: what one item says (`values.items`), what its values are among those of all (`facts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any, Final, TypeAlias

from chatfold.core.call_json import Path
from chatfold.core.constraints import Remarks, remarks_of
from chatfold.core.sightings import Place, Sighting
from chatfold.core.values import Value
from chatfold.core.values.items import SAID, ItemReader
from chatfold.core.views import ItemView, SummaryPart

__all__ = ["NOTHING", "ReadItem", "ReadItems", "places_of"]

ReadItem: TypeAlias = tuple[Any, ...]
"""The remarks of an item (see `Remarks`); then what it says (see `Said`)."""

NOTHING: Final[ReadItem] = (None,)
"""An item that says nothing."""

_Where: TypeAlias = tuple[str, Place, Path]
"""The key of a fact, and where in an item it stands."""

_AHEAD: Final = 4_000  # tokens that are read at one time ahead of a fold, at most
_CATCHING_UP: Final = 2  # tokens that are read for each one that came
_LARGE: Final = 64 * SAID  # such an item is worth an index


class ReadItems:
    """What the items of a list that grows say; what is known of those that stay is kept.

    Args:
        clean: Applied to every text before it is read (`redact`).

    Attributes:
        views: The readings of the items, an earlier summary marked as one.
        read: What each says, None for what is left to the next fold.
    """

    def __init__(self, clean: Callable[[str], str] | None = None) -> None:
        self.views: list[ItemView] = []
        self.read: list[ReadItem | None] = []
        self._clean = clean
        self._reader = ItemReader(clean)
        self._ahead = 0  # how many items were looked at ahead of a fold

    def keys_in(self, indices: Iterable[int]) -> set[str]:
        """Return the keys of the facts that some items name."""
        return set(self.named_in(indices))

    def named_in(self, indices: Iterable[int]) -> Iterator[str]:
        """Yield the keys of the facts that some items name, of each item the last one first."""
        for index in indices:
            item = self.read[index]
            for values in () if item is None else reversed(item[SAID::SAID]):
                if type(values) is Value:
                    yield values.key
                else:
                    yield from (value.key for value in reversed(values))

    def values_in(self, text: str) -> list[Value]:
        """Return `values(text)`; words that stand in items too are not read again."""
        return self._reader.values(text)

    def whole_text(self, key: str, seen: Sighting) -> str | None:
        """Return what stands at one place where a fact is all that stands there; None elsewhere.

        None, too, where an item says the same in several such places in other words.
        """
        item = self.read[seen.index] if seen.whole else None
        text: str | None = None
        if item is None:
            return None
        for _, where, path, whole, value in places_of(item):
            if whole and value.key == key and path == seen.path and where == seen.place:
                if text not in (None, value.text):
                    return None
                text = value.text
        return text

    def whole_texts(self) -> Callable[[str, Sighting], str | None]:
        """Return what says the same as `whole_text`, and looks through a large item only once.

        To be asked while the items stay as they are.
        """
        indexed: dict[int, Mapping[_Where, str | None]] = {}

        def whole_text(key: str, seen: Sighting) -> str | None:
            item = self.read[seen.index] if seen.whole else None
            if item is None or len(item) < _LARGE:
                return self.whole_text(key, seen)
            if seen.index not in indexed:
                indexed[seen.index] = _wholes(item)
            return indexed[seen.index].get((key, seen.place, seen.path))

        return whole_text

    def take(self, views: Sequence[ItemView]) -> bool:
        """Take in a list as it is now, to be read (`read_rest`).

        Returns:
            Whether it has changed: its items stand elsewhere then.
        """
        if self._has_grown_to(views):
            self.views += views[len(self.views) :]
            self.read += [None] * (len(views) - len(self.read))
            return False
        self._start_again(views)
        return True

    def read_rest(self) -> None:
        """Read the items that are not read yet."""
        read = self.read
        if not all(read):  # what an item says is never empty
            for index in range(read.index(None), len(read)):
                if read[index] is None:
                    read[index] = self._item(self.views[index])
            self._reader.forget()

    def read_ahead(
        self,
        views: Sequence[ItemView],
        sizes: Sequence[int],
        summary: tuple[int, ItemView] | None,
    ) -> bool:
        """Read some of what is new in a list to which items have only come (see `hold_to`).

        That is some times as much as has come, so that what is not read yet gets less, and a turn
        at which little came costs little. Items that are very large are left out.

        Args:
            views: The readings of the items as they are now.
            sizes: Their sizes in tokens.
            summary: Index and reading of an earlier summary, which is not marked in `views`.

        Returns:
            Whether an item among those that were there says something else now.
        """
        known = len(self.views)
        self.views += views[known:]
        self.read += [None] * (len(views) - known)
        is_marked = summary is not None and not _is_same(self.views[summary[0]], summary[1])
        if summary is not None and is_marked:
            self.views[summary[0]], self.read[summary[0]] = summary[1], None
            self._ahead = 0
        room = min(_AHEAD, _CATCHING_UP * sum(sizes[known:]))
        for index in range(self._ahead, len(views)):
            if sizes[index] <= _AHEAD and self.read[index] is None:
                room -= sizes[index]
                if room < 0:
                    break
                self.read[index] = self._item(self.views[index])
            self._ahead = index + 1
        return is_marked

    def hold_to(self, views: Sequence[ItemView], same: int | None = None) -> bool:
        """Let go of what is known of items that are no longer in the list.

        Args:
            views: The readings of the items as they are now.
            same: How many leading items were there before, all else being new or elsewhere; None
                where items have only come behind.

        Returns:
            Whether there were such, so that items stand elsewhere now.
        """
        known, left = len(self.views), len(views) if same is None else same
        if known > left or (known and self.views[-1] is not views[known - 1]):
            self._start_again(views)
            return True
        return False

    def _start_again(self, views: Sequence[ItemView]) -> None:
        """Take over what was read of items that are still there."""
        here = set(map(id, views))  # few, after a fold
        pairs = zip(self.views, self.read, strict=True)
        known = {id(view): item for view, item in pairs if id(view) in here}
        self.read = [known.get(id(view)) for view in views]
        self.views = list(views)  # not before: an id holds as long as its object
        self._ahead = 0

    def _item(self, view: ItemView) -> ReadItem:
        """Return what an item says; most say nothing, and share the reading of that."""
        remarks: Remarks = remarks_of(view, self._clean) if view.role == "user" else None
        said = self._reader.read(view)
        return NOTHING if remarks is None and not said else (remarks, *said)

    def _has_grown_to(self, views: Sequence[ItemView]) -> bool:
        """Return whether items came to those that were read, and nothing else has changed."""
        if len(views) < len(self.views):
            return False
        return all(map(is_, self.views, views)) or all(map(_is_same, self.views, views))


def places_of(item: ReadItem) -> Iterator[tuple[int, Any, Path, bool, Any]]:
    """Return what an item says, place by place (see `Said`)."""
    said = iter(item[1:])
    return zip(said, said, said, said, said, strict=True)


def _wholes(item: ReadItem) -> Mapping[_Where, str | None]:
    """Return the facts of an item that are all that stands at their places (see `whole_text`)."""
    texts: dict[_Where, str | None] = {}
    for _, where, path, whole, value in places_of(item):
        if whole:
            place = (value.key, where, path)
            texts[place] = value.text if texts.get(place, value.text) == value.text else None
    return texts


def _is_same(one: ItemView, other: ItemView) -> bool:
    """Return whether two readings are of one item; an earlier summary is marked anew each time."""
    if one is other:
        return True
    first, second = one.parts[:1], other.parts[:1]
    if not (first and second) or not type(first[0]) is type(second[0]) is SummaryPart:
        return False
    return one.role == other.role and first == second and _are_same(one.parts, other.parts)


def _are_same(parts: Sequence[object], others: Sequence[object]) -> bool:
    return len(parts) == len(others) and all(map(is_, parts[1:], others[1:]))
