"""`MemoryStore`: folds and originals for as long as the process lives."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from chatfold.stores._encoding import ItemRow, decoded, encoded, item_rows, restored
from chatfold.stores._words import ranked, sought
from chatfold.stores.base import StoredFold, StoredItem, checked_fold, horizon, seconds

__all__ = ["MemoryStore"]


class _Entry(NamedTuple):
    """A fold without what could be changed from outside: its JSON is kept as bytes."""

    fold: StoredFold
    summary: bytes
    rows: tuple[ItemRow, ...]


class MemoryStore:
    """A `Store` in this process's memory; what it holds is gone with it.

    It keeps copies in JSON, so that items edited later are still found as they were. Items and
    their search words take about twice the size of the items' JSON.

    Args:
        keep_originals: Whether to keep the items' content. Without it, no item and no text to
            search is kept: `find` knows call ids only, and a fold cannot be undone by a context
            other than the one that made it.
        expire_after: Age in seconds, or as a timedelta, from which a fold is dropped: on each
            save, of whatever key. None keeps folds until they are removed.

    Raises:
        ValueError: `expire_after` is not more than 0.
    """

    def __init__(
        self, *, keep_originals: bool = True, expire_after: float | timedelta | None = None
    ) -> None:
        self._keep_originals = keep_originals
        self._expire_after = seconds(expire_after)
        self._entries: dict[str, dict[str, _Entry]] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        with self._lock:
            count = sum(len(entries) for entries in self._entries.values())
        return f"MemoryStore({count} folds)"

    def save(self, fold: StoredFold) -> None:
        """Keep a fold; see `Store.save`."""
        checked_fold(fold)
        rows = tuple(item_rows(fold, keep_originals=self._keep_originals))
        entry = _Entry(
            replace(fold, summary=None, items=()), encoded(fold.summary, "the summary"), rows
        )
        with self._lock:
            entries = self._entries.setdefault(fold.key, {})
            entries.pop(fold.fold_id, None)
            entries[fold.fold_id] = entry
        if self._expire_after is not None:
            self.expire(time.time() - self._expire_after)

    def load(self, key: str, fold_id: str) -> StoredFold | None:
        """Return a fold with its items; see `Store.load`."""
        with self._lock:
            entry = self._entries.get(key, {}).get(fold_id)
        if entry is None:
            return None
        return replace(_bare(entry), items=tuple(map(_item, entry.rows)))

    def folds(self, key: str) -> list[StoredFold]:
        """Return the folds of a key without their items, oldest first; see `Store.folds`."""
        return [_bare(entry) for entry in self._of(key)]

    def discard(self, key: str, fold_id: str) -> None:
        """Remove one fold; see `Store.discard`."""
        with self._lock:
            self._forget(key, fold_id)

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
        return [_item(row) for row in rows[:limit]]

    def erase(self, key: str) -> int:
        """Remove all that was saved under a key; see `Store.erase`."""
        with self._lock:
            return len(self._entries.pop(key, {}))

    def expire(self, before: float | None = None) -> int:
        """Remove the folds that are older than a time; see `Store.expire`.

        Args:
            before: Seconds since the epoch; None is `expire_after` ago.

        Raises:
            ValueError: There is neither `before` nor `expire_after`.
        """
        limit = horizon(before, self._expire_after)
        with self._lock:
            old = [
                (key, fold_id)
                for key, entries in self._entries.items()
                for fold_id, entry in entries.items()
                if entry.fold.created < limit
            ]
            for key, fold_id in old:
                self._forget(key, fold_id)
        return len(old)

    def _forget(self, key: str, fold_id: str) -> None:
        entries = self._entries.get(key, {})
        entries.pop(fold_id, None)
        if not entries:
            self._entries.pop(key, None)

    def _of(self, key: str) -> list[_Entry]:
        with self._lock:
            entries = list(self._entries.get(key, {}).values())
        return sorted(entries, key=lambda entry: entry.fold.created)


def _bare(entry: _Entry) -> StoredFold:
    return replace(entry.fold, summary=decoded(entry.summary))


def _item(row: ItemRow) -> StoredItem:
    return restored(row.position, row.text, row.call_ids, row.item)


def _distinct(rows: Iterable[ItemRow]) -> list[ItemRow]:
    first: dict[bytes, ItemRow] = {}
    for row in rows:
        first.setdefault(row.content, row)
    return list(first.values())
