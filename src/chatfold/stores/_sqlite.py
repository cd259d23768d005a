"""SQLite under `SQLStore`: the file, its connections, its two ways of searching."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from chatfold.errors import StoreError
from chatfold.stores._schema import WRITING, Search
from chatfold.stores._words import Phrase, ranked

__all__ = ["SQLite"]

_PATIENCE: Final = 10.0  # seconds to wait for another process that writes


class SQLite:
    """One SQLite file.

    Each operation opens the file and closes it again, which costs about a millisecond: a
    connection that lives on must not be carried over a fork, not even to be closed, and keeps
    others from shortening the log.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(os.path.abspath(path))  # for a process that changes its directory later
        self.searches: tuple[Search, ...] = (FTS5Search(), ScanSearch())
        _make_file(self.path)
        with self.in_use():
            self._to_log()

    def engine(self) -> sa.Engine:
        """Return what makes connections; a transaction that writes takes its lock at once."""
        engine = sa.create_engine(
            "sqlite://", creator=self._connect, poolclass=NullPool, hide_parameters=True
        )
        event.listen(engine, "begin", _begin)
        return engine

    def in_use(self) -> AbstractContextManager[None]:
        """Hold off forks while a connection is open."""
        return _GATE.passed()

    def scrub(self) -> None:
        """Rewrite the file and empty its log.

        `secure_delete` leaves copies of rows that were moved between pages, so it is not enough.
        """
        connection = self._connect()
        try:
            connection.execute("VACUUM")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise sqlite3.OperationalError("another process is reading")
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw",  # a file that went away is not made anew
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,  # sqlite3 would begin transactions of its own, and too late
        )
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _to_log(self) -> None:
        """Turn on the write-ahead log, which stays on.

        The switch does not wait for others as all else does, so it is tried again.
        """
        deadline = time.monotonic() + _PATIENCE
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


class FTS5Search:
    """SQLite's own full-text index, ranked by BM25."""

    name = "fts5"

    def create(self, connection: sa.Connection) -> bool:
        """Make the index, which splits texts at the spaces that `searchable` has put."""
        try:
            connection.exec_driver_sql(
                "CREATE VIRTUAL TABLE chatfold_search USING fts5(scope, words, tokenize='ascii')"
            )
        except OperationalError as error:
            if "no such module" not in str(error.orig):
                raise
            return False
        return True

    def add(self, connection: sa.Connection, scope: str, rows: Sequence[tuple[int, str]]) -> None:
        """Take in texts."""
        connection.execute(
            _index.insert(),
            [{"rowid": item, "scope": scope, "words": words} for item, words in rows],
        )

    def remove(self, connection: sa.Connection, gone: sa.Select[Any]) -> None:
        """Take out texts."""
        connection.execute(_index.delete().where(_index.c.rowid.in_(gone)))

    def find(
        self,
        connection: sa.Connection,
        scope: str,
        wanted: Sequence[Phrase],
        among: sa.Select[Any] | None,
    ) -> Sequence[int]:
        """Return the ids of the items that match, best first."""
        whole: sa.ColumnClause[str] = sa.literal_column("chatfold_search")
        for joint in (" AND ", " OR "):
            # Words hold letters and digits alone, so nothing in them is syntax.
            words = joint.join(f'"{p.text}"{" *" if p.prefix else ""}' for p in wanted)
            found = connection.scalars(
                sa.select(_index.c.rowid)
                .where(
                    whole.op("MATCH")(f'scope : "{scope}" AND words : ({words})'),
                    sa.true() if among is None else _index.c.rowid.in_(among),
                )
                .order_by(sa.func.bm25(whole, 0.0, 1.0), _index.c.rowid)
            ).all()
            if found:
                return found
        return ()

    def compact(self, connection: sa.Connection) -> None:
        """Merge the index into one piece, which leaves out what was deleted."""
        connection.exec_driver_sql(
            "INSERT INTO chatfold_search(chatfold_search) VALUES('optimize')"
        )


class ScanSearch:
    """Reads all texts of a key; for an SQLite that was built without FTS5."""

    name = "scan"

    def create(self, connection: sa.Connection) -> bool:
        """Make the table."""
        _scanned.create(connection)
        return True

    def add(self, connection: sa.Connection, scope: str, rows: Sequence[tuple[int, str]]) -> None:
        """Take in texts."""
        connection.execute(
            _scanned.insert(),
            [{"item": item, "scope": scope, "words": words} for item, words in rows],
        )

    def remove(self, connection: sa.Connection, gone: sa.Select[Any]) -> None:
        """Take out texts."""
        connection.execute(_scanned.delete().where(_scanned.c.item.in_(gone)))

    def find(
        self,
        connection: sa.Connection,
        scope: str,
        wanted: Sequence[Phrase],
        among: sa.Select[Any] | None,
    ) -> Sequence[int]:
        """Return the ids of the items that match, best first."""
        rows = connection.execute(
            sa.select(_scanned.c.item, _scanned.c.words)
            .where(
                _scanned.c.scope == scope,
                sa.true() if among is None else _scanned.c.item.in_(among),
            )
            .order_by(_scanned.c.item)
        ).all()
        return [rows[index].item for index in ranked(wanted, [row.words for row in rows])]

    def compact(self, connection: sa.Connection) -> None:
        """Let go of nothing: a plain table has no more than its rows."""


class _Gate:
    """Lets no fork happen while this process has a file open.

    SQLite notes in the process's own memory which locks the process holds. A child inherits the
    notes but not the locks, so it would write without any, and what others saved would be lost
    (https://www.sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork,
    read 2026-11-22).
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Be as new, in a child that has none of its parent's threads."""
        self._changed = threading.Condition(threading.Lock())
        self._open = 0
        self._forking = False

    @contextmanager
    def passed(self) -> Generator[None, None, None]:
        """Have a file open; a thread that has one must not open another."""
        with self._changed:
            self._changed.wait_for(lambda: not self._forking)
            self._open += 1
        try:
            yield
        finally:
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Wait until no file is open, and let none be opened.

        Not for ever: a signal handler may fork a thread in the midst of its own work.
        """
        self._changed.acquire()
        self._forking = True
        self._changed.wait_for(lambda: not self._open, timeout=2 * _PATIENCE)

    def open(self) -> None:
        """Let files be opened again."""
        self._forking = False
        self._changed.notify_all()
        self._changed.release()


# One for all stores: what it guards is the process's.
_GATE: Final = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_GATE.close, after_in_parent=_GATE.open, after_in_child=_GATE.reset)

_index = sa.table(
    "chatfold_search", sa.column("rowid", sa.Integer), sa.column("scope"), sa.column("words")
)

_scanned = sa.Table(
    "chatfold_words",
    sa.MetaData(),
    sa.Column("item", sa.Integer, primary_key=True),
    sa.Column("scope", sa.Text, nullable=False, index=True),
    sa.Column("words", sa.Text, nullable=False),
)


def _begin(connection: sa.Connection) -> None:
    # A transaction that begins by reading could not wait for its turn to write.
    writing = connection.get_execution_options().keys() >= WRITING.keys()
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


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
