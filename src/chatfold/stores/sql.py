"""`SQLStore`: folds and originals in a database, by SQLAlchemy Core (extra `sql`)."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import Self

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from chatfold.errors import StoreError
from chatfold.stores._encoding import encoded, item_rows, text_bytes
from chatfold.stores._rows import (
    add_items,
    called_items,
    distinct_items,
    fold_of,
    item_of,
    named,
    scope,
)
from chatfold.stores._schema import WRITING, Dialect, folds, items, prepare
from chatfold.stores._sqlite import SQLite
from chatfold.stores._words import sought
from chatfold.stores.base import (
    StoredFold,
    StoredItem,
    checked_fold,
    horizon,
    seconds,
)

__all__ = ["SQLStore"]


class SQLStore:
    """A `Store` in one SQLite file, which several threads and processes may use at once.

    The file is made where there is none, readable by its owner alone, and may lie in a database
    that has other tables. It is written through a log (WAL) that is flushed to the disk at each
    save: what `save` has returned from survives `kill -9` and, as far as the disk keeps its word,
    a power failure. Beside the file lie, while it is in use, two more with `-wal` and `-shm`
    added to its name; copy all three, or none. A network file system is no place for it.

    Calls wait up to ten seconds for another process that writes, then raise `StoreError`. A store
    may be used on both sides of a fork. Text is searched by FTS5, or by reading all texts of a
    key where SQLite was built without it; which of the two is settled when the file is made.

    Args:
        url_or_path: Path of the file, or an SQLAlchemy URL (`sqlite:///relative.db`,
            `sqlite:////absolute.db`).
        keep_originals: Whether to keep the items' content. Without it, no item and no text to
            search is written: `find` knows call ids only, and a fold cannot be undone by a
            context other than the one that made it. Summaries are kept.
        expire_after: Age in seconds, or as a timedelta, from which a fold is dropped: on each
            save, of whatever key. None keeps folds until they are removed.

    Raises:
        TypeError: `url_or_path` is neither text nor a path.
        ValueError: It names no file or another kind of database, or `expire_after` is not more
            than 0.
        StoreError: The file cannot be made, read or written, is no database, or was written by a
            newer chatfold.
    """

    def __init__(
        self,
        url_or_path: str | os.PathLike[str],
        *,
        keep_originals: bool = True,
        expire_after: float | timedelta | None = None,
    ) -> None:
        self._keep_originals = keep_originals
        self._expire_after = seconds(expire_after)
        path = _path(url_or_path)
        self._name = str(path)
        self._closed = False
        with self._failing("cannot be opened"):
            self._dialect: Dialect = SQLite(path)
            self._engine = self._dialect.engine()
            with self._dialect.in_use():
                self._search = prepare(self._engine, self._dialect.searches)

    def __repr__(self) -> str:
        return f"SQLStore({self._name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; any later call raises `StoreError`. Closing twice is no error."""
        self._closed = True
        self._engine.dispose()

    def save(self, fold: StoredFold) -> None:
        """Keep a fold in one transaction; see `Store.save`."""
        checked_fold(fold)
        rows = item_rows(fold, keep_originals=self._keep_originals)
        values = {
            "key": text_bytes(fold.key),
            "fold_id": text_bytes(fold.fold_id),
            "digest": text_bytes(fold.digest),
            "length": fold.length,
            "summary": encoded(fold.summary, "the summary"),
            "kept": encoded(fold.kept, "kept"),
            "extent": fold.extent,
            "created": fold.created,
        }
        with self._writing() as connection:
            self._drop(connection, named(fold.key, fold.fold_id))
            connection.execute(folds.insert().values(values))
            if rows:
                add_items(connection, fold, rows, self._search)
            if self._expire_after is not None:
                self._drop(connection, folds.c.created < time.time() - self._expire_after)

    def load(self, key: str, fold_id: str) -> StoredFold | None:
        """Return a fold with its items; see `Store.load`."""
        with self._reading() as connection:
            fold = connection.execute(sa.select(folds).where(named(key, fold_id))).one_or_none()
            if fold is None:
                return None
            rows = connection.execute(
                sa.select(items).where(items.c.fold == fold.id).order_by(items.c.position)
            ).all()
        return fold_of(fold, tuple(map(item_of, rows)))

    def folds(self, key: str) -> list[StoredFold]:
        """Return the folds of a key without their items, oldest first; see `Store.folds`."""
        with self._reading() as connection:
            rows = connection.execute(
                sa.select(folds)
                .where(folds.c.key == text_bytes(key))
                .order_by(folds.c.created, folds.c.id)
            ).all()
        return [fold_of(row, ()) for row in rows]

    def discard(self, key: str, fold_id: str) -> None:
        """Remove one fold; see `Store.discard`."""
        with self._writing() as connection:
            self._drop(connection, named(key, fold_id))

    def find(
        self, key: str, *, call_id: str | None = None, query: str | None = None, limit: int = 20
    ) -> list[StoredItem]:
        """Return originals by a call's id or by words; see `Store.find`."""
        wanted = sought(call_id, query, limit)
        if wanted is None:
            return []
        with self._reading() as connection:
            called = None if call_id is None else called_items(key, call_id)
            found: Sequence[int]
            if wanted:
                found = self._search.find(connection, scope(key), wanted, called)
            else:
                assert called is not None, "sought() has seen to it"
                found = connection.scalars(called).all()
            return distinct_items(connection, found, limit)

    def erase(self, key: str) -> int:
        """Remove all that was saved under a key, also from the bytes of the file.

        The whole file is rewritten, which takes its time with a large one; copies that the file
        system or the disk has made are out of reach.

        Raises:
            StoreError: Nothing was removed; or, as its message says then, all was, but the bytes
                are still in the file because others are using it. Call it again.
        """
        with self._writing() as connection:
            number = self._drop(connection, folds.c.key == text_bytes(key))
            self._search.compact(connection)
        self._scrub(number)
        return number

    def expire(self, before: float | None = None) -> int:
        """Remove the folds that are older than a time, also from the bytes of the file.

        The file is rewritten where there were any. What expires on a save can no longer be read
        by any call, but single words may stay in the file until the next `expire` or `erase`.

        Args:
            before: Seconds since the epoch; None is `expire_after` ago.

        Raises:
            ValueError: There is neither `before` nor `expire_after`.
            StoreError: As `erase`.
        """
        limit = horizon(before, self._expire_after)
        with self._writing() as connection:
            number = self._drop(connection, folds.c.created < limit)
            if number:
                self._search.compact(connection)
        if number:
            self._scrub(number)
        return number

    def _drop(self, connection: sa.Connection, which: sa.ColumnElement[bool]) -> int:
        """Delete folds with their items, call ids (both by their foreign keys) and words."""
        gone = sa.select(items.c.id).join(folds, items.c.fold == folds.c.id).where(which)
        self._search.remove(connection, gone)
        return connection.execute(folds.delete().where(which)).rowcount

    def _scrub(self, number: int) -> None:
        with (
            self._failing(
                f"has removed {number} folds, but its file still holds their bytes, call it again"
            ),
            self._dialect.in_use(),
        ):
            self._dialect.scrub()

    @contextmanager
    def _reading(self) -> Generator[sa.Connection, None, None]:
        with (
            self._failing("cannot be read"),
            self._dialect.in_use(),
            self._engine.connect() as connection,
        ):
            yield connection

    @contextmanager
    def _writing(self) -> Generator[sa.Connection, None, None]:
        engine = self._engine.execution_options(**WRITING)
        with (
            self._failing("cannot be written"),
            self._dialect.in_use(),
            engine.begin() as connection,
        ):
            yield connection

    @contextmanager
    def _failing(self, what: str) -> Generator[None, None, None]:
        """Raise the database's errors as `StoreError`, which names no value from a statement."""
        if self._closed:
            raise StoreError(f"the store {self._name!r} is closed")
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            said = getattr(error, "orig", None) or error
            raise StoreError(f"the store {self._name!r} {what}: {said}") from error


def _path(url_or_path: str | os.PathLike[str]) -> str:
    """Return the path of an SQLite file that a URL or a path names.

    Raises:
        TypeError: It is neither.
        ValueError: It names no file.
    """
    path = os.fspath(url_or_path)
    if not isinstance(path, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"SQLStore takes a path or a URL as text, not {type(path).__name__}")
    if "://" in path:
        try:
            url = sa.make_url(path)
        except ArgumentError:
            # The error would show the URL, and with it a password.
            raise ValueError("SQLStore got a URL that is none; write sqlite:///file.db") from None
        if url.drivername not in ("sqlite", "sqlite+pysqlite"):
            raise ValueError(f"SQLStore keeps folds in SQLite, not in {url.drivername!r}")
        if url.query:
            raise ValueError("SQLStore takes a URL without options; write sqlite:///file.db")
        path = url.database or ""
    if path in ("", ":memory:"):
        raise ValueError("SQLStore needs a file; use MemoryStore() to keep folds in memory")
    return path
