"""The store of a host that passes none: agents of several models hand a conversation over by it."""

from __future__ import annotations

from chatfold.core.scalars import check_whole
from chatfold.stores import HostFold, MemoryStore

__all__ = ["OwnStore"]


class OwnStore(MemoryStore):
    """A store for the latest conversations; the one used longest ago goes, with all its folds.

    A conversation is told by its last fold, and has those that this one goes back to: a key may
    stand for several, that opened alike. Where a host went back, each branch counts as one. All are
    looked through when a sixteenth more has come, so that each put need not.

    Args:
        most: Number of conversations that it keeps.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is less than 1.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        check_whole("sessions", most, 1)
        self._most = most
        self._last: set[int] = set()  # last folds, or a few more, by hash: no word stays in it

    def put(self, fold: HostFold) -> None:
        """Keep a fold; see `HostStore.put`."""
        super().put(fold)
        with self._alone():
            self._last.discard(hash((fold.key, fold.base or "")))
            self._last.add(hash((fold.key, fold.digest)))
            if len(self._last) > self._most + self._most // 16:
                self._drop_conversations()

    def _drop_conversations(self) -> None:
        names = self._entries.names()  # the latest used last
        folds: dict[tuple[str, str], HostFold] = {
            (key, digest): self._entries.group(kind, key)[digest].fold
            for kind, key, digest in names
        }
        bases = {name: (name[0], fold.base or "") for name, fold in folds.items()}
        used: dict[tuple[str, str], int] = {}  # of a fold and all that it goes back to
        place = {name: number for number, name in enumerate(folds)}
        for name in sorted(folds, key=lambda name: folds[name].length):
            used[name] = max(place[name], used.get(bases[name], 0))
        last = folds.keys() - bases.values()
        latest = sorted(last, key=lambda name: (used[name], place[name]))[-self._most :]
        self._last = set(map(hash, latest))
        kept: set[tuple[str, str]] = set()
        for name in latest:
            while name in folds and name not in kept:
                kept.add(name)
                name = bases[name]
        for kind, key, digest in names:
            if (key, digest) not in kept:
                self._entries.pop(kind, key, digest)
