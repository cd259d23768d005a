"""What `MemoryStore` holds: bounded, the least recently used goes first."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias, TypeVar

__all__ = ["Entry", "Recent"]


class Entry(Protocol):
    """Something that is kept."""

    @property
    def created(self) -> float:
        """When it was made, in seconds since the epoch."""
        ...

    @property
    def size(self) -> int:
        """Bytes that it takes, about."""
        ...


E = TypeVar("E", bound=Entry)

_Name: TypeAlias = tuple[type[Any], str, str]  # kind, key and name

_FEW: Final = 100  # ages of entries that are gone are not worth clearing away


class Recent:
    """Entries of several kinds, each with a name within its key. It locks nothing.

    Args:
        max_bytes: Size of all entries; None is without bound. One entry may be larger, alone.
    """

    def __init__(self, max_bytes: int | None) -> None:
        self.dropped = 0  # entries for which there was no room any more
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kinds: set[type[Any]] = set()
        self._groups: dict[tuple[type[Any], str], dict[str, Any]] = {}
        self._used: OrderedDict[_Name, int] = OrderedDict()
        # When entries were made, as a heap, with the numbers under which they are named; also of
        # some that are gone, whose names are not to outlive them.
        self._ages: list[tuple[float, int]] = []
        self._named: dict[int, _Name] = {}
        self._numbers: dict[_Name, int] = {}
        self._last = 0  # of those numbers
        self._torn = False  # whether an entry is being put or taken out: Ctrl-C may come

    def __len__(self) -> int:
        return len(self._used)

    def put(self, kind: type[E], key: str, name: str, entry: E) -> None:
        """Keep an entry, behind all others of its key; drop others where there is no room."""
        self.pop(kind, key, name)
        self._torn = True
        self._kinds.add(kind)
        self._age((kind, key, name), entry)
        self._groups.setdefault((kind, key), {})[name] = entry
        self._used[kind, key, name] = entry.size
        self._bytes += entry.size
        self._torn = False
        while self._max_bytes is not None and self._bytes > self._max_bytes and len(self._used) > 1:
            self.pop(*next(iter(self._used)))
            self.dropped += 1
        if len(self._ages) > 2 * len(self._used) + _FEW:
            self._ages = [one for one in self._ages if one[1] in self._named]
            heapq.heapify(self._ages)

    def names(self) -> list[_Name]:
        """Return the kind, key and name of each entry, what was not used for longest first."""
        self._mend()
        return list(self._used)

    def group(self, kind: type[E], key: str) -> Mapping[str, E]:
        """Return the entries of a key by name, in the order in which they were put."""
        return self._groups.get((kind, key), {})

    def use(self, kind: type[E], key: str, name: str) -> None:
        """Note that an entry that is there was used."""
        self._mend()
        self._used.move_to_end((kind, key, name))

    def pop(self, kind: type[E], key: str, name: str) -> int:
        """Remove an entry; return how many that were, 0 or 1."""
        self._mend()
        group = self._groups.get((kind, key), {})
        if name not in group:
            return 0
        self._torn = True
        del group[name]
        if not group:
            del self._groups[kind, key]
        self._bytes -= self._used.pop((kind, key, name))
        del self._named[self._numbers.pop((kind, key, name))]
        self._torn = False
        return 1

    def pop_key(self, key: str) -> int:
        """Remove all entries of a key; return their number."""
        self._mend()
        names = [(kind, name) for kind in self._kinds for name in self.group(kind, key)]
        return sum(self.pop(kind, key, name) for kind, name in names)

    def pop_before(self, limit: float) -> int:
        """Remove the entries that are older than a time; return their number."""
        self._mend()
        removed = 0
        while self._ages and self._ages[0][0] < limit:
            name = self._named.get(self._ages[0][1])
            removed += 0 if name is None else self.pop(*name)
            heapq.heappop(self._ages)  # last: an interrupt leaves the age of one that is gone
        return removed

    def _age(self, name: _Name, entry: Entry) -> None:
        """Take down when an entry was made."""
        self._last = number = self._last + 1
        self._named[number] = name
        self._numbers[name] = number
        heapq.heappush(self._ages, (entry.created, number))

    def _mend(self) -> None:
        """Bring in line what an interrupt has left by halves: the groups say what is there."""
        if not self._torn:
            return
        self._groups = {which: group for which, group in self._groups.items() if group}
        there = {
            (*which, name): entry
            for which, group in self._groups.items()
            for name, entry in group.items()
        }
        order = [*(one for one in self._used if one in there), *there]
        self._used = OrderedDict((one, there[one].size) for one in order)
        self._bytes = sum(self._used.values())
        self._ages, self._named, self._numbers = [], {}, {}
        for name, entry in there.items():
            self._age(name, entry)
        self._torn = False
