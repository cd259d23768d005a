"""`MemoryStore`: folds and originals for as long as the process lives."""

from __future__ import annotations

import logging
import os
import secrets
import sys
import threading
import time
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from chatfold.core.scalars import check_flags, check_number
from chatfold.errors import StoreError
from chatfold.stores._closing import Closing
from chatfold.stores._encoding import ItemRow, decoded, encoded, item_rows, restored
from chatfold.stores._gate import GATE
from chatfold.stores._recent import Recent
from chatfold.stores._sound import Sound
from chatfold.stores._words import ranked, sought
from chatfold.stores.base import (
    StoredFold,
    StoredItem,
    checked_fold,
    checked_key,
    horizon,
    seconds,
)
from chatfold.stores.hosts import (
    Claim,
    HostFold,
    checked_digest,
    checked_host_fold,
    checked_lease,
)

__all__ = ["MemoryStore"]

_log = logging.getLogger("chatfold")

_EMPTY = sys.getsizeof("")
_OVERHEAD = 400  # bytes that an item or a fold takes beside its texts, about


@dataclass(frozen=True, slots=True)
class _Entry:
    """A fold without what could be changed from outside: its JSON is kept as bytes."""

    fold: StoredFold
    summary: bytes
    rows: tuple[ItemRow, ...]

    @property
    def created(self) -> float:
        return self.fold.created

    @property
    def size(self) -> int:
        rows = sum(
            len(row.text) + len(row.item or b"") + _bytes(row.words) + _OVERHEAD
            for row in self.rows
        )
        return rows + len(self.summary) + _OVERHEAD

    def bare(self) -> StoredFold:
        return replace(self.fold, summary=decoded(self.summary))

    def whole(self) -> StoredFold:
        return replace(self.bare(), items=tuple(map(_item, self.rows)))


@dataclass(frozen=True, slots=True)
class _HostEntry:
    """The same for a fold of a host's list."""

    fold: HostFold
    summary: bytes
    details: bytes

    @property
    def created(self) -> float:
        return self.fold.created

    @property
    def size(self) -> int:
        return _bytes(self.fold.text) + len(self.summary) + len(self.details) + _OVERHEAD

    def whole(self) -> HostFold:
        return replace(self.fold, summary=decoded(self.summary), details=decoded(self.details))


def _bytes(text: str) -> int:
    """Return what a text takes: one emoji in it makes each of its characters take four bytes."""
    return sys.getsizeof(text) - _EMPTY


class MemoryStore(Closing):
    """A `Store` and a `HostStore` in this process's memory; what it holds is gone with it.

    It keeps copies in JSON, so that items edited later are still found as they were. Items and
    their search words take about twice the size of the items' JSON. What has not been written or
    read for longest is dropped where `max_bytes` is reached, which is logged once; a fold that is
    larger than that is kept alone. Any number of threads may use it; after a fork, parent and
    child each have their own, and claims stay with the parent. Like `SQLStore` it may be closed,
    also by `with`.

    Args:
        keep_originals: Whether to keep the items' content. Without it, no item and no text to
            search is kept: `find` knows call ids only, and a fold cannot be undone by a context
            other than the one that made it.
        expire_after: Age in seconds, or as a timedelta, from which a fold is dropped: on each
            save, of whatever key. None keeps folds until they are removed.
        max_bytes: Size of all that is kept, about; None is without bound.

    Raises:
        TypeError: `expire_after` or `max_bytes` is no number, or `keep_originals` neither true nor
            false.
        ValueError: One of them is not more than 0.
    """

    def __init__(
        self,
        *,
        keep_originals: bool = True,
        expire_after: float | timedelta | None = None,
        max_bytes: int | None = 256 * 2**20,
    ) -> None:
        if max_bytes is not None:
            check_number("max_bytes", max_bytes)
            if not max_bytes > 0:
                raise ValueError(f"max_bytes must be more than 0, or None, not {max_bytes!r}")
        check_flags(keep_originals=keep_originals)
        self._keep_originals = keep_originals
        self._expire_after = seconds(expire_after)
        self._max_bytes = max_bytes
        self._entries = Recent(max_bytes)
        self._claims: dict[tuple[str, str], tuple[str, float]] = {}
        self._process = os.getpid()  # whose claims they are
        self._lock = threading.Lock()
        self._closed = False
        self._ended: frozenset[str] = frozenset()  # tokens of claims that ended when it was closed
        self._sound = Sound("memory")

    def __repr__(self) -> str:
        return "MemoryStore(closed)" if self._closed else f"MemoryStore({len(self._entries)} folds)"

    def close(self) -> None:
        """Let go of all that it holds; any later call raises `StoreError`.

        Closing twice is no error. What was claimed by it is given up.
        """
        with GATE.passed(), self._lock:
            if self._closed:
                return
            self._closed = True
            self._ended = frozenset(token for token, _ in self._claims.values())
            self._claims, self._entries = {}, Recent(self._max_bytes)

    def save(self, fold: StoredFold) -> None:
        """Keep a fold; see `Store.save`."""
        checked_fold(fold)
        rows = tuple(item_rows(fold, keep_originals=self._keep_originals))
        summary = encoded(fold.summary, "the summary")
        entry = _Entry(replace(fold, summary=None, items=()), summary, rows)
        with self._writing():
            self._entries.put(_Entry, fold.key, fold.fold_id, entry)

    def load(self, key: str, fold_id: str) -> StoredFold | None:
        """Return a fold with its items; see `Store.load`."""
        with self._alone():
            entry = self._entries.group(_Entry, key).get(fold_id)
            if entry is None:
                return None
            self._entries.use(_Entry, key, fold_id)
        return self._sound.made(_Entry.whole, entry)

    def folds(self, key: str) -> list[StoredFold]:
        """Return the folds of a key without their items, oldest first; see `Store.folds`."""
        checked_key(key)
        return self._sound.all_made(_Entry.bare, self._of(key))

    def discard(self, key: str, fold_id: str) -> None:
        """Remove one fold; see `Store.discard`."""
        with self._alone():
            self._entries.pop(_Entry, key, fold_id)

    def find(
        self, key: str, *, call_id: str | None = None, query: str | None = None, limit: int = 20
    ) -> list[StoredItem]:
        """Return originals by a call's id or by words; see `Store.find`."""
        wanted = sought(call_id, query, limit)
        if wanted is None:
            return []
        rows = _distinct(row for entry in self._of(key) for row in entry.rows)
        if call_id is not None:
            rows = [row for row in rows if call_id in row.call_ids]
        if wanted:
            rows = [row for row in rows if row.words]
            rows = [rows[index] for index in ranked(wanted, [row.words for row in rows])]
        return self._sound.all_made(_item, rows[:limit])

    def put(self, fold: HostFold) -> None:
        """Keep a fold of a host's list; see `HostStore.put`."""
        checked_host_fold(fold)
        summary, details = encoded(fold.summary, "the summary"), encoded(fold.details, "details")
        kept = tuple(decoded(encoded(fold.kept, "kept")))
        entry = _HostEntry(replace(fold, summary=None, details=None, kept=kept), summary, details)
        with self._writing():
            self._entries.put(_HostEntry, fold.key, fold.digest, entry)

    def longest(self, key: str, digests: Collection[str]) -> HostFold | None:
        """Return the fold that stands for the most items; see `HostStore.longest`."""
        with self._alone():
            kept = self._entries.group(_HostEntry, key)
            matching = {digest: kept[digest] for digest in digests if digest in kept}
            if not matching:
                return None
            if len(matching) > 1:  # of equal ones the one that was put last
                matching = {digest: kept[digest] for digest in kept if digest in matching}
            entry = max(
                reversed(matching.values()), key=lambda one: (one.fold.length, one.fold.created)
            )
            self._entries.use(_HostEntry, key, entry.fold.digest)
        return self._sound.made(_HostEntry.whole, entry)

    def claim(self, key: str, digest: str, seconds: float) -> Claim | None:
        """Return a claim, or None at once where somebody has it; see `HostStore.claim`."""
        checked_key(key)
        checked_digest(digest)
        lease = checked_lease(seconds)
        mine = Claim(key, digest, secrets.token_hex(16))
        try:
            with self._alone():
                now = time.monotonic()
                self._claims = {what: held for what, held in self._claims.items() if held[1] > now}
                if (key, digest) in self._claims:
                    return None
                self._claims[key, digest] = mine.token, now + lease
            return mine
        except BaseException:  # Ctrl-C; what was broken off may hold the lock for a moment yet
            if self._claims.get((key, digest), (None, 0.0))[0] == mine.token:
                del self._claims[key, digest]
            raise

    def renew(self, claim: Claim, seconds: float) -> bool:
        """Hold a claim for longer; see `HostStore.renew`."""
        lease = checked_lease(seconds)
        with self._alone():
            token, until = self._claims.get((claim.key, claim.digest), (None, 0.0))
            now = time.monotonic()
            if token != claim.token or until <= now:
                return False
            self._claims[claim.key, claim.digest] = claim.token, now + lease
        return True

    def release(self, claim: Claim) -> None:
        """Give up a claim; see `HostStore.release`."""
        if claim.token in self._ended:
            return
        with self._alone():
            if self._claims.get((claim.key, claim.digest), (None, 0.0))[0] == claim.token:
                del self._claims[claim.key, claim.digest]

    def erase(self, key: str) -> int:
        """Remove all that was saved under a key; see `Store.erase`."""
        checked_key(key)
        with self._alone():
            self._claims = {what: held for what, held in self._claims.items() if what[0] != key}
            return self._entries.pop_key(key)

    def expire(self, before: float | None = None) -> int:
        """Remove the folds that are older than a time; see `Store.expire`.

        Args:
            before: Seconds since the epoch; None is `expire_after` ago.

        Raises:
            ValueError: There is neither `before` nor `expire_after`.
        """
        limit = horizon(before, self._expire_after)
        with self._alone():
            return self._entries.pop_before(limit)

    @contextmanager
    def _alone(self) -> Generator[None, None, None]:
        """Hold off other threads, and forks, which would copy a lock that is never released.

        Raises:
            StoreError: The store is closed.
        """
        with GATE.passed(), self._lock:
            if self._closed:
                raise StoreError("the store in memory is closed")
            if os.getpid() != self._process:  # none of the threads that could release them is here
                self._claims, self._process = {}, os.getpid()
            yield

    @contextmanager
    def _writing(self) -> Generator[None, None, None]:
        """Hold off others, and let go of what is too old or too much."""
        with self._alone():
            before = self._entries.dropped
            yield
            if self._expire_after is not None:
                self._entries.pop_before(time.time() - self._expire_after)
            first = not before and self._entries.dropped
        if first:
            _log.warning(
                "MemoryStore(max_bytes=%d) is full: what was not used for longest is dropped",
                self._max_bytes,
            )

    def _of(self, key: str) -> list[_Entry]:
        with self._alone():
            entries = dict(self._entries.group(_Entry, key))
            for fold_id in entries:
                self._entries.use(_Entry, key, fold_id)
        return sorted(entries.values(), key=lambda entry: entry.fold.created)


def _item(row: ItemRow) -> StoredItem:
    return restored(row.position, row.text, row.call_ids, row.item)


def _distinct(rows: Iterable[ItemRow]) -> list[ItemRow]:
    first: dict[bytes, ItemRow] = {}
    for row in rows:
        first.setdefault(row.content, row)
    return list(first.values())
