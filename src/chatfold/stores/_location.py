"""Which database is meant: a path, a URL or an engine of the caller's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from chatfold.errors import MissingExtraError
from chatfold.stores._postgresql import DRIVER, PostgreSQL
from chatfold.stores._schema import Dialect
from chatfold.stores._sqlite import SQLite

__all__ = ["Location", "located"]

_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRESQL = ("postgresql", "postgres", DRIVER)
_SCHEME = re.compile(r"(?:sqlite|postgres(?:ql)?)(?:\+\w+)?:|file:")
"""How a URL begins; one with fewer slashes than it needs would be the name of a file."""


class Location(NamedTuple):
    """A database that was named but not opened yet.

    Attributes:
        name: What errors call it; without a password.
        open: Returns what reads and writes it, given the seconds to wait for a lock or a
            statement. It raises what the database's driver does, `StoreError` for a file that
            cannot be made or written, and `MissingExtraError` where the driver is missing.
    """

    name: str
    open: Callable[[float], Dialect]


def located(where: str | os.PathLike[str] | sa.Engine) -> Location:
    """Return which database is meant.

    Args:
        where: Path of an SQLite file, an SQLAlchemy URL, or an engine.

    Raises:
        TypeError: It is none of these.
        ValueError: It names no file, or another kind of database or driver.
    """
    if isinstance(where, sa.Engine):
        # What a URL without a driver stands for depends on SQLAlchemy's version.
        url = where.url.set(drivername=f"{where.dialect.name}+{where.dialect.driver}")
        return _at(url, where)
    path = _text(where)
    is_url = "://" in path or (isinstance(where, str) and _SCHEME.match(path))
    return _at(_url(path), None) if is_url else _file(path)


def _text(where: object) -> str:
    path = os.fspath(cast("os.PathLike[Any]", where)) if isinstance(where, os.PathLike) else where
    if not isinstance(path, str):
        raise TypeError(f"SQLStore takes a path or a URL as text, not {type(path).__name__}")
    return path


def _at(url: sa.URL, engine: sa.Engine | None) -> Location:
    if url.drivername in _SQLITE:
        if url.query:
            raise ValueError("SQLStore takes a URL without options; write sqlite:///file.db")
        return _file(url.database or "")
    if url.drivername not in _POSTGRESQL:
        raise ValueError(
            f"SQLStore keeps folds in SQLite (sqlite:///file.db) or PostgreSQL ({DRIVER}://...), "
            f"not in {url.drivername!r}"
        )
    name = f"postgresql://{url.host or ''}/{url.database or ''}"
    made = engine if engine is not None else url.set(drivername=DRIVER)
    return Location(name, partial(_postgresql, made))


def _postgresql(engine: sa.Engine | sa.URL, timeout: float) -> PostgreSQL:
    try:
        return PostgreSQL(engine, timeout)
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise MissingExtraError(
            'SQLStore needs psycopg for PostgreSQL: pip install "chatfold[postgresql]"',
            extra="postgresql",
        ) from error


def _url(text: str) -> sa.URL:
    try:
        return sa.make_url(text)
    except (ArgumentError, ValueError):
        # The error would show the URL, and with it a password.
        raise ValueError("SQLStore got a URL that is none; write sqlite:///file.db") from None


def _file(path: str) -> Location:
    if path in ("", ":memory:"):
        raise ValueError("SQLStore needs a file; use MemoryStore() to keep folds in memory")
    return Location(path, partial(SQLite, path))
