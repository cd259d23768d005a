"""One database under `SQLStore`: its errors become `StoreError`, its tables are ready."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from chatfold.core.scalars import check_number
from chatfold.errors import StoreError
from chatfold.stores._location import located
from chatfold.stores._schema import Dialect, Search, prepare

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["Database"]

T = TypeVar("T")

_OUT_OF_TIME: Final = ("55P03", "57014")
"""What PostgreSQL says where a lock was not to be had, or a statement took too long."""


_LONGEST: Final = 2**31 // 1000
"""Both databases count a time limit in milliseconds, in 32 bits; SQLite would not wait at all."""


class Database:
    """What a store reads and writes.

    Args:
        where: As `SQLStore` takes it.
        timeout: Seconds to wait for a lock or a statement.

    Raises:
        TypeError: `where` is no path, URL or engine, or `timeout` no number.
        ValueError: It names no file or another kind of database, or `timeout` is out of range.
        MissingExtraError: The driver is not installed.
        StoreError: The database cannot be made, reached, read or written.
    """

    def __init__(self, where: str | os.PathLike[str] | sa.Engine, timeout: float) -> None:
        check_number("timeout", timeout)
        if not 0 < timeout <= _LONGEST:
            raise ValueError(
                f"timeout must be more than 0 seconds, and {_LONGEST:,} at most, not {timeout!r}"
            )
        found = located(where)
        self.name = found.name
        self._timeout = timeout
        self._closed = False
        with self._failing("cannot be opened"):
            self.dialect: Dialect = found.open(timeout)
            self.search: Search = prepare(self.dialect, self.dialect.searches)

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in a transaction that sees one state of the database.

        Raises:
            StoreError: It cannot be done.
        """
        with self._failing("cannot be read"):
            return self.dialect.read(work)

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in a transaction, from its beginning again where others came between.

        Raises:
            StoreError: It cannot be done; nothing was written.
        """
        with self._failing("cannot be written"):
            return self.dialect.write(work)

    def scrub(self, removed: int) -> None:
        """Make the database forget the bytes of so many folds.

        Raises:
            StoreError: It cannot be done now.
        """
        with self._failing(
            f"has removed {removed} folds, but its file still holds their bytes, call it again"
        ):
            self.dialect.scrub()

    def close(self) -> None:
        """Close all connections; any later call raises `StoreError`."""
        self._closed = True
        self.dialect.close()

    @contextmanager
    def _failing(self, what: str) -> Generator[None, None, None]:
        """Raise the database's errors as `StoreError`, which names no value from a statement."""
        if self._closed:
            raise StoreError(f"the store {self.name!r} is closed")
        began = time.monotonic()
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            said = f"the store {self.name!r} {what}: {_said(error)}"
            if _waited(error):
                waited = time.monotonic() - began
                said += (
                    f"; given up after {waited:.1f} s (timeout={self._timeout:g}):"
                    " pass a larger timeout= to SQLStore, or let others write for a shorter time"
                )
            raise StoreError(said) from error


def _waited(error: Exception) -> bool:
    """Return whether the database was waited for in vain, for as long as `timeout` says."""
    said = getattr(error, "orig", None) or error
    if isinstance(said, sqlite3.Error):
        code = getattr(said, "sqlite_errorcode", None)
        return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return getattr(said, "sqlstate", None) in _OUT_OF_TIME


def _said(error: Exception) -> str:
    """Return what the database said, without the details, which may hold values."""
    said = getattr(error, "orig", None) or error
    primary = getattr(getattr(said, "diag", None), "message_primary", None)
    return str(primary or said).strip()
