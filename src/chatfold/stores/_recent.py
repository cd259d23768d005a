"""What `MemoryStore` holds: bounded, the least recently used goes first."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

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


class Recent:
    """Entries of several kinds, each with a name within its key. It locks nothing.

    Args:
        max_bytes: Size of all entries; None is without bound. One entry may be larger, alone.
    """

    def __init__(self, max_bytes: int | None) -> None:
        self.dropped = 0  # entries for which there was no room any more
        self._max_bytes = max_bytes
        self._bytes = 0
        self._oldest = math.inf  # nothing is older than this
        self._groups: dict[tuple[type[Any], str], dict[str, Any]] = {}
        self._used: OrderedDict[tuple[type[Any], str, str], int] = OrderedDict()
        self._torn = False  # whether an entry is being put or taken out: Ctrl-C may come

    def __len__(self) -> int:
        return len(self._used)

    def put(self, kind: type[E], key: str, name: str, entry: E) -> None:
        """Keep an entry, behind all others of its key; drop others where there is no room."""
        self.pop(kind, key, name)
        self._torn = True
        self._oldest = min(self._oldest, entry.created)
        self._groups.setdefault((kind, key), {})[name] = entry
        self._used[kind, key, name] = entry.size
        self._bytes += entry.size
        self._torn = False
        while self._max_bytes is not None and self._bytes > self._max_bytes and len(self._used) > 1:
            self.pop(*next(iter(self._used)))
            self.dropped += 1

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
        self._torn = False
        return 1

    def pop_key(self, key: str) -> int:
        """Remove all entries of a key; return their number."""
        self._mend()
        return sum(self.pop(*one) for one in list(self._used) if one[1] == key)

    def pop_before(self, limit: float) -> int:
        """Remove the entries that are older than a time; return their number."""
        if limit <= self._oldest:
            return 0
        self._mend()
        ages = {one: self._groups[one[:2]][one[2]].created for one in self._used}
        old = [one for one, created in ages.items() if created < limit]
        removed = sum(self.pop(*one) for one in old)
        self._oldest = min((age for age in ages.values() if age >= limit), default=math.inf)
        return removed

    def _mend(self) -> None:
        """Bring in line what an interrupt has left by halves: the groups say what is there."""
        if not self._torn:
            return
        self._groups = {which: group for which, group in self._groups.items() if group}
        there = {
            (*which, name): entry.size
            for which, group in self._groups.items()
            for name, entry in group.items()
        }
        order = [*(one for one in self._used if one in there), *there]
        self._used = OrderedDict((one, there[one]) for one in order)
        self._bytes = sum(there.values())
        self._torn = False
