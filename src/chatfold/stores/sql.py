"""`SQLStore`: folds and originals in a database, by SQLAlchemy Core (extra `sql`)."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import timedelta

import sqlalchemy as sa

from chatfold.core.scalars import check_flags
from chatfold.errors import StoreError
from chatfold.stores import _host_rows as host_rows
from chatfold.stores._closing import Closing
from chatfold.stores._database import Database
from chatfold.stores._encoding import encoded, item_rows, text_bytes
from chatfold.stores._rows import (
    add_items,
    called_items,
    distinct_items,
    fold_of,
    named,
    scope,
)
from chatfold.stores._schema import claims, folds, host_folds, items, same
from chatfold.stores._sound import Sound
from chatfold.stores._words import sought
from chatfold.stores.base import StoredFold, StoredItem, checked_fold, checked_key, horizon, seconds
from chatfold.stores.hosts import (
    Claim,
    HostFold,
    checked_digest,
    checked_host_fold,
    checked_lease,
    usable,
)

__all__ = ["SQLStore"]


class SQLStore(Closing):
    """A `Store` and a `HostStore` in a database, which threads and processes may share.

    **SQLite** is one file, made where there is none, readable by its owner alone; it may lie in a
    database that has other tables. It is written through a log (WAL) that is flushed to the disk
    at each save, once for all threads of a process that wait to save: what `save` has returned
    from survives `kill -9` and, as far as the disk keeps its word, a power failure. Beside the
    file lie, while it is in use, two more with `-wal` and `-shm` added to its name; copy all
    three, or none. A network file system is no place for it. Text is searched by FTS5, or by
    reading all texts of a key where SQLite was built without it; which of the two is settled when
    the file is made.

    **PostgreSQL** (11 or newer, in UTF8; extra `postgresql`) is for several machines. The tables,
    all named `chatfold_...`, are made in the first schema of the search path where there are
    none. Up to 15 connections are pooled; each transaction tests its connection, so that a server
    that was restarted is found again. Times of claims are the server's.

    Tables of an earlier chatfold are brought up to date when they are opened. Any number of
    threads may use one store, and it may be used on both sides of a fork, which waits for what is
    asked of the database (`timeout` at most, 20 seconds in all). Whatever goes wrong in
    the database is a `StoreError`, and then nothing was written, except that a commit whose
    answer was lost may have taken place. A row in which somebody has damaged a value is as if it
    were not there; the first one that a store comes upon is named in a warning.

    Args:
        where: Path of an SQLite file; an SQLAlchemy URL (`sqlite:///relative.db`,
            `sqlite:////absolute.db`, `postgresql+psycopg://user@host/database`, with libpq's
            options as its query); or an SQLAlchemy engine for one of these: of an SQLite engine
            the file alone is used, of a PostgreSQL engine the pool, which `close` leaves open.
        keep_originals: Whether to keep the items' content. Without it, no item and no text to
            search is written: `find` knows call ids only, and a fold cannot be undone by a
            context other than the one that made it. Summaries are kept.
        expire_after: Age in seconds, or as a timedelta, from which a fold is dropped: on each
            save, of whatever key. None keeps folds until they are removed.
        timeout: Seconds to wait for others that lock the database, and on PostgreSQL also for any
            one statement and for a connection (for which two are the least). A PostgreSQL server
            that does not answer at all is given up two seconds later. `erase` and `expire` of a
            great many folds may need more. Threads of this process that write to one SQLite file
            are no others: they are waited for besides, up to four times as long in all.

    Raises:
        TypeError: `where` is none of these, `expire_after` or `timeout` no number, or
            `keep_originals` neither true nor false.
        ValueError: It names no file or another kind of database, or `expire_after` or `timeout`
            is out of range (up to 2,147,483 seconds, as both databases count to no more).
        MissingExtraError: psycopg is not installed.
        StoreError: The database cannot be made, reached, read or written, is none, was written
            by a newer chatfold, or has tables of a version that there never was.
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | sa.Engine,
        *,
        keep_originals: bool = True,
        expire_after: float | timedelta | None = None,
        timeout: float = 5.0,
    ) -> None:
        check_flags(keep_originals=keep_originals)
        self._keep_originals = keep_originals
        self._expire_after = seconds(expire_after)
        self._database = Database(where, timeout)
        self._sound = Sound(self._database.name)
        # With the process that has them: in the child of a fork they stay its parent's.
        self._claimed: set[tuple[int, Claim]] = set()
        self._ended: frozenset[Claim] = frozenset()  # given up when the store was closed

    def __repr__(self) -> str:
        return f"SQLStore({self._database.name!r})"

    def close(self) -> None:
        """Close the store; any later call raises `StoreError`. Closing twice is no error.

        What this process has claimed by it is given up first, so that others can fold those
        conversations at once; where the database fails just then, when their time is up.
        """
        ours = [claim for process, claim in list(self._claimed) if process == os.getpid()]

        def end(connection: sa.Connection) -> None:
            for claim in ours:
                host_rows.end_claim(connection, claim)

        try:
            if ours:
                with suppress(StoreError):
                    self._database.write(end)
                    self._ended = frozenset(ours)
        finally:
            self._database.close()

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

        def write(connection: sa.Connection) -> None:
            self._database.dialect.lock_key(connection, scope(fold.key))
            self._drop(connection, named(fold.key, fold.fold_id))
            connection.execute(folds.insert().values(values))
            if rows:
                add_items(connection, fold, rows, self._database.search)
            self._drop_old(connection)

        self._database.write(write)

    def load(self, key: str, fold_id: str) -> StoredFold | None:
        """Return a fold with its items; see `Store.load`."""

        def read(connection: sa.Connection) -> StoredFold | None:
            fold = connection.execute(sa.select(folds).where(named(key, fold_id))).one_or_none()
            if fold is None:
                return None
            rows = connection.execute(
                sa.select(items).where(items.c.fold == fold.id).order_by(items.c.position)
            ).all()
            return self._sound.made(lambda row: fold_of(row, rows), fold)

        return self._database.read(read)

    def folds(self, key: str) -> list[StoredFold]:
        """Return the folds of a key without their items, oldest first; see `Store.folds`."""
        checked_key(key)
        wanted = (
            sa.select(folds)
            .where(same(folds.c.key, text_bytes(key)))
            .order_by(folds.c.created, folds.c.id)
        )
        rows = self._database.read(lambda connection: connection.execute(wanted).all())
        return self._sound.all_made(fold_of, rows)

    def discard(self, key: str, fold_id: str) -> None:
        """Remove one fold; see `Store.discard`."""

        def write(connection: sa.Connection) -> None:
            self._database.dialect.lock_key(connection, scope(key))
            self._drop(connection, named(key, fold_id))

        self._database.write(write)

    def find(
        self, key: str, *, call_id: str | None = None, query: str | None = None, limit: int = 20
    ) -> list[StoredItem]:
        """Return originals by a call's id or by words; see `Store.find`."""
        wanted = sought(call_id, query, limit)
        if wanted is None:
            return []
        called = None if call_id is None else called_items(key, call_id)

        def read(connection: sa.Connection) -> list[StoredItem]:
            found: Sequence[int]
            if wanted:
                found = self._database.search.find(connection, scope(key), wanted, called)
            else:
                assert called is not None, "sought() has seen to it"
                found = connection.scalars(called).all()
            return distinct_items(connection, key, found, limit, self._sound)

        return self._database.read(read)

    def put(self, fold: HostFold) -> None:
        """Keep a fold of a host's list; see `HostStore.put`."""
        values = host_rows.host_values(checked_host_fold(fold))

        def write(connection: sa.Connection) -> None:
            self._database.dialect.lock_key(connection, scope(fold.key))
            connection.execute(host_folds.delete().where(host_rows.of(fold.key, fold.digest)))
            connection.execute(host_folds.insert().values(values))
            self._drop_old(connection)

        self._database.write(write)

    def longest(self, key: str, digests: Collection[str]) -> HostFold | None:
        """Return the fold that stands for the most items; see `HostStore.longest`."""
        possible = usable(digests)
        if not possible:
            return None
        dialect, sound = self._database.dialect, self._sound
        return self._database.read(
            lambda connection: host_rows.longest_fold(connection, dialect, key, possible, sound)
        )

    def claim(self, key: str, digest: str, seconds: float) -> Claim | None:
        """Return a claim, or None at once where somebody has it; see `HostStore.claim`."""
        checked_digest(digest)
        checked_key(key)
        lease = checked_lease(seconds)
        dialect, mine = self._database.dialect, Claim(key, digest, secrets.token_hex(16))
        held, begun, is_ours = (os.getpid(), mine), False, False

        def work(connection: sa.Connection) -> bool:
            nonlocal begun
            begun = True
            return host_rows.add_claim(connection, dialect, mine, lease)

        self._claimed.add(held)
        try:
            is_ours = self._database.write(work)
            return mine if is_ours else None
        except Exception:  # nothing was written; and a store that fails is not asked again
            raise
        except BaseException:  # Ctrl-C behind the commit: others would wait for its time to be up
            if begun:
                with suppress(StoreError):
                    self.release(mine)
            raise
        finally:
            if not is_ours:
                self._claimed.discard(held)

    def renew(self, claim: Claim, seconds: float) -> bool:
        """Hold a claim for longer; see `HostStore.renew`."""
        lease = checked_lease(seconds)
        dialect = self._database.dialect
        return self._database.write(
            lambda connection: host_rows.extend_claim(connection, dialect, claim, lease)
        )

    def release(self, claim: Claim) -> None:
        """Give up a claim; see `HostStore.release`."""
        if claim in self._ended:
            return
        self._database.write(lambda connection: host_rows.end_claim(connection, claim))
        self._claimed.discard((os.getpid(), claim))

    def erase(self, key: str) -> int:
        """Remove all that was saved under a key, of SQLite also from the bytes of the file.

        The whole file is rewritten, which takes its time with a large one; copies that the file
        system or the disk has made are out of reach. PostgreSQL gives the bytes no longer to any
        query; its vacuum, its log and its backups let go of them in their own time.

        Raises:
            StoreError: Nothing was removed; or, as its message says then, all was, but the bytes
                are still in the file because others are using it. Call it again.
            TypeError: The key is no text.
            ValueError: It is empty.
        """
        checked_key(key)

        def write(connection: sa.Connection) -> int:
            self._database.dialect.lock_key(connection, scope(key))
            connection.execute(claims.delete().where(claims.c.scope == scope(key)))
            hosts = connection.execute(host_folds.delete().where(host_rows.of(key))).rowcount
            number = self._drop(connection, same(folds.c.key, text_bytes(key)))
            self._database.search.compact(connection)
            return number + hosts

        number = self._database.write(write)
        self._database.scrub(number)
        return number

    def expire(self, before: float | None = None) -> int:
        """Remove the folds that are older than a time, of SQLite also from the bytes of the file.

        The file is rewritten where there were any. What expires on a save can no longer be read
        by any call, but single words may stay in the file until the next `expire` or `erase`.

        Args:
            before: Seconds since the epoch; None is `expire_after` ago.

        Raises:
            ValueError: There is neither `before` nor `expire_after`.
            StoreError: As `erase`.
        """
        limit = horizon(before, self._expire_after)

        def write(connection: sa.Connection) -> int:
            connection.execute(claims.delete().where(claims.c.until < self._database.dialect.now()))
            number = self._drop_before(connection, limit)
            if number:
                self._database.search.compact(connection)
            return number

        number = self._database.write(write)
        if number:
            self._database.scrub(number)
        return number

    def _drop_old(self, connection: sa.Connection) -> None:
        if self._expire_after is not None:
            self._drop_before(connection, time.time() - self._expire_after)

    def _drop_before(self, connection: sa.Connection, limit: float) -> int:
        hosts = connection.execute(host_folds.delete().where(host_folds.c.created < limit)).rowcount
        return hosts + self._drop(connection, folds.c.created < limit)

    def _drop(self, connection: sa.Connection, which: sa.ColumnElement[bool]) -> int:
        """Delete folds with their items, call ids (both by their foreign keys) and words."""
        gone = sa.select(items.c.id).join(folds, items.c.fold == folds.c.id).where(which)
        self._database.search.remove(connection, gone)
        return connection.execute(folds.delete().where(which)).rowcount
