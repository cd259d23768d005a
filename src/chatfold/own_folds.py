"""What has been folded of one conversation's list, as it is found again: by its digest and length.

Not here: what is folded of lists that are held no longer (`past_folds`), stores (`shared_folds`).
"""

from __future__ import annotations

from typing import Final

from chatfold.host_list import HostList
from chatfold.places import Places
from chatfold.regions import Region

__all__ = ["OwnFolds"]

_REMEMBERED: Final = 32
"""Folds of one session that are found again where the host has changed what came later."""


class OwnFolds:
    """The folds of a host's list, each of which stands for more of it than the one before.

    Args:
        host: The host's list.
        places: Where its items stand in the list that gets folded.
    """

    def __init__(self, host: HostList, places: Places) -> None:
        self._host = host
        self._places = places
        self._regions: list[tuple[int, tuple[int, ...], str]] = []  # without digests, latest last

    @property
    def length(self) -> int:
        """Number of the host's items after the prefix that the folds so far stand for."""
        return self._places.cut - self._host.start

    def add(self, kept: tuple[int, ...], text: str) -> None:
        """Take down what is folded now.

        Args:
            kept: Indices in the host's list of the items before the cut that stay, ascending.
            text: The summary in its wrapper.
        """
        places = tuple(index - self._host.start for index in kept)
        self._regions.append((self.length, places, text))
        del self._regions[:-_REMEMBERED]

    def put_again(self, region: Region) -> None:
        """Take down that the list is folded as it was before, in another session."""
        self._regions.append(region[1:])

    def regions(self) -> list[Region]:
        """Return what has been folded of the host's list, the latest last.

        Nothing where that was edited in place: the digests would be those of other words.
        """
        if not self._regions or not self._host.is_as_it_was(self._places.cut):
            return []
        digests = self._host.rolling()
        return [
            Region(digests[length - 1], length, kept, text) for length, kept, text in self._regions
        ]

    def shows(self, region: Region | None) -> bool:
        """Return whether what is folded of the list is this region, or nothing where it is None."""
        latest = self._regions[-1] if self._regions else None
        return latest == (None if region is None else region[1:])

    def latest(self) -> Region | None:
        """Return what the summary in the list stands for, as `regions` does."""
        return next(reversed(self.regions()), None)

    def continues(self, region: Region) -> bool:
        """Return whether more than is folded was folded as a region before."""
        longer = self.length < region.length
        return longer and self._host.begins_with(region.length, region.digest)
