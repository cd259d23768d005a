"""SQLite under `SQLStore`: the file and its connections."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import NullPool

from chatfold.errors import StoreError
from chatfold.stores._gate import GATE
from chatfold.stores._schema import Search
from chatfold.stores._sqlite_search import FTS5Search, ScanSearch
from chatfold.stores._turns import Job, Turns

__all__ = ["SQLite"]

_WRITING = "chatfold_writing"  # option of a transaction that writes: seconds it may wait

T = TypeVar("T")


class SQLite:
    """One SQLite file.

    Each operation opens the file and closes it again, which costs about a millisecond: a
    connection that lives on must not be carried over a fork, not even to be closed, and keeps
    others from shortening the log.

    Threads that write take turns before they ask SQLite; see `Turns`.

    Args:
        path: The file.
        timeout: Seconds to wait for another process that writes.

    Raises:
        StoreError: The file cannot be made or written.
        sqlite3.Error: It is no database, or stays locked.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self.path = Path(os.path.abspath(path))  # for a process that changes its directory later
        self.searches: tuple[Search, ...] = (FTS5Search(), ScanSearch())
        self._timeout = timeout
        self._turns = Turns()
        _make_file(self.path)
        with GATE.passed():
            self._to_log()
        self._reader = sa.create_engine(
            "sqlite://", creator=self._connect, poolclass=NullPool, hide_parameters=True
        )
        event.listen(self._reader, "begin", _begin)
        event.listen(self._reader, "invalidate", _roll_back)

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in a transaction that sees one state of the file."""
        with GATE.passed(), self._reader.begin() as connection:
            return work(connection)

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in a transaction that writes; it takes its lock at once."""
        job = Job(work)
        with GATE.passed():
            self._turns.take(job, self._timeout, self._write)
        return cast("T", job.result)

    def _write(self, job: Job, left: float) -> None:
        """Do a job that has its turn, and with it those that wait; where that fails, it alone."""
        writer = self._reader.execution_options(**{_WRITING: left})
        jobs = [job]
        try:
            with writer.begin() as connection:
                jobs += self._turns.taken_along(job)
                results = [one.work(connection) for one in jobs]
        except Exception:
            if len(jobs) == 1:
                raise
            # One of them cannot be done: nobody but who it belongs to is to be told of it.
            jobs = [job]
            with writer.begin() as connection:
                results = [job.work(connection)]
        for one, result in zip(jobs, results, strict=True):
            one.result, one.is_done = result, True

    def lock_tables(self, connection: sa.Connection) -> None:
        """Let no other make or change the tables: a transaction that writes is alone."""

    def lock_key(self, connection: sa.Connection, scope: str) -> None:
        """Let no other write folds of a key: a transaction that writes is alone."""

    def now(self) -> sa.ColumnElement[float]:
        """Return the time in seconds since the epoch, by the clock that all processes share."""
        return sa.literal(time.time(), sa.Double)

    def among(self, column: sa.Column[str], values: Sequence[str]) -> sa.ColumnElement[bool]:
        """Return whether a column is one of any number of texts, which are ASCII."""
        texts = sa.func.json_each(sa.literal(json.dumps(values))).table_valued("value")
        return column.in_(sa.select(texts.c.value))

    def upsert(self, table: sa.Table) -> sqlite.Insert:
        """Return an insert that may say what to do where the row is there."""
        return sqlite.insert(table)

    def scrub(self) -> None:
        """Rewrite the file and empty its log.

        `secure_delete` leaves copies of rows that were moved between pages, so it is not enough.
        Where somebody else empties the log, SQLite does not wait as it does for readers
        (https://www.sqlite.org/c3ref/wal_checkpoint_v2.html, read 2026-11-26), so that is tried
        again.
        """
        with GATE.passed(), closing(self._connect()) as connection:
            connection.execute("VACUUM")
            deadline = time.monotonic() + self._timeout
            while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise sqlite3.OperationalError("another process is reading")
                time.sleep(0.01)

    def close(self) -> None:
        """Let go of nothing: no connection outlives the call that needed it."""

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw",  # a file that went away is not made anew
            uri=True,
            timeout=self._timeout,
            isolation_level=None,  # sqlite3 would begin transactions of its own, and too late
        )
        connection.text_factory = _text
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _to_log(self) -> None:
        """Turn on the write-ahead log, which stays on.

        The switch does not wait for others as all else does, so it is tried again.
        """
        deadline = time.monotonic() + self._timeout
        connection = self._connect()
        try:
            while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                try:
                    connection.execute("PRAGMA journal_mode=WAL")
                    return
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
        finally:
            connection.close()


def _text(data: bytes) -> str:
    """Return a text; one that is damaged is not to end the reading of others, nor to be shown."""
    return data.decode("utf-8", "replace")


def _roll_back(connection: sqlite3.Connection, _record: object, _error: object) -> None:
    # Ctrl-C inside a statement: SQLAlchemy closes the connection without a rollback, and SQLite
    # keeps the lock of its transaction for as long as one of its cursors lives.
    with suppress(sqlite3.Error):
        connection.rollback()


def _begin(connection: sa.Connection) -> None:
    # A transaction that begins by reading could not wait for its turn to write.
    left = connection.get_execution_options().get(_WRITING)
    if left is None:
        connection.exec_driver_sql("BEGIN")
        return
    connection.exec_driver_sql(f"PRAGMA busy_timeout={math.ceil(left * 1000)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _make_file(path: Path) -> None:
    """Make the file if there is none, readable by its owner alone.

    A file that is there is not opened: closing it would give up the locks that other connections
    of this process hold on it (https://www.sqlite.org/howtocorrupt.html, read 2026-11-22).

    Raises:
        StoreError: It cannot be made or written.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if path.is_dir():
            raise StoreError(f"the store {str(path)!r} is a directory; name a file in it") from None
        if not os.access(path, os.R_OK | os.W_OK):
            raise StoreError(f"the store {str(path)!r} may not be written by this user") from None
    except FileNotFoundError as error:
        raise StoreError(
            f"the directory {str(path.parent)!r} does not exist; make it first"
        ) from error
    except OSError as error:
        raise StoreError(f"the store {str(path)!r} cannot be made: {error.strerror}") from error
