"""PostgreSQL under `SQLStore`: connections, and what keeps a call from waiting for ever."""

from __future__ import annotations

import contextvars
import math
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.dialects import postgresql

from chatfold.errors import StoreError
from chatfold.stores._postgresql_search import TSVectorSearch
from chatfold.stores._schema import Search
from chatfold.stores._watch import Watch
from chatfold.threads import Threads

__all__ = ["DRIVER", "PostgreSQL"]

DRIVER: Final = "postgresql+psycopg"

# https://www.postgresql.org/docs/15/errcodes-appendix.html, read 2026-11-22
_DEADLOCK: Final = "40P01"
_TRIES: Final = 5

_GRACE: Final = 2.0  # seconds that a server has to say that it has cancelled a statement
_STALE: Final = 2  # pooled connections that may turn out to be dead, one after the other
_IDLE: Final = 5.0  # seconds that a transaction may stand still at the least
_TABLES: Final = 0x636861_74666F_6C64  # "chatfold" as a number: names the lock of the tables

_ENCODING: Final = "UTF8"  # in which any text can be said

# Local to the transaction, as the session may be another's when a pooler stands between. The
# second ends the transaction of a machine that went away in its midst, not that of one which is
# busy for a moment between two statements, however short the first is. The encoding may be set
# otherwise by the environment, the role or the caller's engine.
_LIMITS: Final = sa.text(
    "SELECT set_config('statement_timeout', :limit, true),"
    " set_config('idle_in_transaction_session_timeout', :idle, true),"
    f" set_config('client_encoding', '{_ENCODING}', true)"
)

_CONNECTING: Final = Threads("chatfold-connect", 60.0)

_Box: TypeAlias = "SimpleQueue[sa.Connection | BaseException]"

T = TypeVar("T")


class PostgreSQL:
    """One PostgreSQL database, by psycopg 3.

    A statement that takes longer than `timeout` is cancelled by the server. A server that does
    not even do that is not waited for: the connection is cut from this side. The first statement
    of each transaction tells whether a pooled connection still works; a server that was restarted
    is simply connected to again.

    Args:
        engine: What makes connections, or the URL for an engine of our own.
        timeout: Seconds that one statement may take, waiting for locks included.
    """

    def __init__(self, engine: sa.Engine | sa.URL, timeout: float) -> None:
        self._timeout = timeout
        self._limits = {"limit": _milliseconds(timeout), "idle": _milliseconds(max(timeout, _IDLE))}
        self._calls = threading.local()
        self._owned = isinstance(engine, sa.URL)
        self._engine = self._made(engine) if isinstance(engine, sa.URL) else engine
        self.searches: tuple[Search, ...] = (TSVectorSearch(),)
        self._reader = self._engine.execution_options(isolation_level="REPEATABLE READ")
        self._writer = self._engine.execution_options(isolation_level="READ COMMITTED")
        for one in (self._reader, self._writer):
            one.hide_parameters = True
            event.listen(one, "before_cursor_execute", self._progress)
            event.listen(one, "after_cursor_execute", self._pause)
        self._process = os.getpid()
        self._inherited: list[sa.Pool] = []

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in a transaction that sees one state of the database."""
        return self._do(self._reader, work)

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something in a transaction, again from its beginning where it ended a deadlock."""
        for _ in range(_TRIES - 1):
            try:
                return self._do(self._writer, work)
            except exc.DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) != _DEADLOCK:
                    raise
        return self._do(self._writer, work)

    def lock_tables(self, connection: sa.Connection) -> None:
        """Let no other make or change the tables, of whatever schema, until the end."""
        encoding = connection.scalar(sa.text("SHOW server_encoding"))
        if encoding != _ENCODING:
            raise StoreError(f"the store needs a database in {_ENCODING}, not in {encoding}")
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_TABLES)))

    def lock_key(self, connection: sa.Connection, scope: str) -> None:
        """Let no other write folds of a key, of whatever schema, until the transaction ends.

        Two that replace the same fold would else each delete the old one and insert a new one.
        """
        connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(scope, _TABLES)))
        )

    def now(self) -> sa.ColumnElement[float]:
        """Return the server's time, which is the same for all machines."""
        return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double)

    def among(self, column: sa.Column[str], values: Sequence[str]) -> sa.ColumnElement[bool]:
        """Return whether a column is one of any number of texts, which go as one parameter."""
        return column == sa.any_(sa.literal(list(values), postgresql.ARRAY(sa.String)))

    def upsert(self, table: sa.Table) -> postgresql.Insert:
        """Return an insert that may say what to do where the row is there."""
        return postgresql.insert(table)

    def scrub(self) -> None:
        """Leave it to the server: its own vacuum reuses the room, and its log ages away."""

    def close(self) -> None:
        """Close the pooled connections, unless they are those of the caller's own engine."""
        self._leave_to_parent()
        if self._owned:
            self._engine.dispose()

    def _made(self, url: sa.URL) -> sa.Engine:
        usual = {
            "connect_timeout": max(2, math.ceil(self._timeout)),  # psycopg takes no less
            "prepare_threshold": None,  # a pooler may give each transaction another session
            "application_name": "chatfold",
        }
        engine = sa.create_engine(
            url,
            hide_parameters=True,
            pool_timeout=self._timeout,
            connect_args={name: usual[name] for name in usual.keys() - url.query.keys()}
            | {"client_encoding": _ENCODING},  # SQLAlchemy reads texts before any transaction
        )
        event.listen(engine, "do_connect", self._connect)
        return engine

    def _connect(
        self, dialect: sa.Dialect, record: object, arguments: list[Any], options: dict[str, Any]
    ) -> Any:
        connection = dialect.connect(*arguments, **options)
        self._calls.watch.add(connection)
        return connection

    def _progress(self, *_: object) -> None:
        self._calls.watch.progress()

    def _pause(self, *_: object) -> None:
        self._calls.watch.pause()

    def _do(self, engine: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
        self._leave_to_parent()
        with closing(Watch(self._timeout + _GRACE)) as watch:
            self._calls.watch = watch
            with closing(self._begun(engine, watch)) as connection:
                try:
                    result = work(connection)
                finally:
                    watch.progress()
                connection.commit()
                return result

    def _begun(self, engine: sa.Engine, watch: Watch) -> sa.Connection:
        """Return a connection that works, in a transaction whose statements have a time limit."""
        for stale in range(_STALE + 1):
            connection = engine.connect() if self._owned else _lent(engine, self._timeout)
            try:
                watch.add(connection.connection)
                connection.execute(_LIMITS, self._limits)
            except BaseException as error:
                connection.close()
                lost = isinstance(error, exc.DBAPIError) and error.connection_invalidated
                if stale == _STALE or watch.expired or not lost:
                    raise
            else:
                return connection
        raise AssertionError("the last round returns or raises")

    def _leave_to_parent(self) -> None:
        """In the child of a fork, connect anew; the inherited sessions are the parent's."""
        if os.getpid() != self._process:
            self._inherited.append(self._engine.pool)  # its end would write to them
            self._engine.dispose(close=False)
            self._process = os.getpid()


def _milliseconds(seconds: float) -> str:
    return f"{math.ceil(seconds * 1000)}ms"


def _lent(engine: sa.Engine, seconds: float) -> sa.Connection:
    """Return a connection of an engine of the caller's, within a time limit of our own.

    Its pool waits for half a minute, if nothing else was said, and its driver for a machine that
    is down for as long as the system does. What comes too late goes back to the pool.

    Raises:
        SQLAlchemyError: It cannot be connected, or not in time.
    """
    box: _Box = SimpleQueue()
    over = threading.Event()

    def connect() -> None:
        try:
            box.put(engine.connect())
        except BaseException as error:
            box.put(error)
        if over.is_set():
            _put_back(box)

    try:
        _CONNECTING.run(partial(contextvars.copy_context().run, connect))
    except RuntimeError:  # at the interpreter's end there are no new threads
        return engine.connect()
    try:
        lent = box.get(timeout=seconds)
    except Empty:
        raise exc.TimeoutError(
            f"the engine gave no connection within {seconds:g} s (timeout=); its pool may be too"
            " small for all that use it"
        ) from None
    finally:
        over.set()
        _put_back(box)
    if isinstance(lent, BaseException):
        raise lent
    return lent


def _put_back(box: _Box) -> None:
    with suppress(Exception):  # there is none, or it is lost
        late = box.get_nowait()
        if isinstance(late, sa.Connection):
            late.close()
