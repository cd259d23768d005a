"""A PostgreSQL server of the tests' own, in a directory of its own and on a Unix socket alone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa

__all__ = ["REQUIRED", "Server", "started"]

REQUIRED = "CHATFOLD_REQUIRE_POSTGRESQL"
"""Where this is set, tests of PostgreSQL fail instead of being skipped."""

_USER = "chatfold"


class Server:
    """A server that can be killed, halted and started again.

    Args:
        programs: Where `initdb` and `postgres` are.
        limit: Bytes that a file of its may have at most; None is without bound.

    Attributes:
        directory: Where its files and its socket are.
        account: Options for `subprocess` that name who runs it; empty where that is who runs us.
    """

    def __init__(self, programs: Path, limit: int | None = None) -> None:
        # The path of a socket is limited to about 100 characters, so not below pytest's.
        self.directory = Path(tempfile.mkdtemp(prefix="chatfold-"))
        self._programs = programs
        self._limit = limit
        self.account: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to be run by root
            self.account = {"user": "nobody", "group": 65534, "extra_groups": []}
            shutil.chown(self.directory, "nobody")
        self._data = self.directory / "data"
        self._log = self.directory / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._schemas = 0
        settings = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", "-D", str(self._data), "-U", _USER, "--wal-segsize=1", *settings)

    def url(self, **options: str) -> str:
        """Return the URL of the database, with options of its query."""
        query = {"host": str(self.directory), **options}
        said = "&".join(f"{name}={quote(value)}" for name, value in query.items())
        return f"postgresql+psycopg://{_USER}@/postgres?{said}"

    def empty(self) -> str:
        """Return the URL of a schema in which there is nothing yet."""
        self._schemas += 1
        name = f"schema_{self._schemas}"
        self.execute(f"CREATE SCHEMA {name}")
        return self.url(options=f"-csearch_path={name}")

    def database(self, **options: str) -> str:
        """Return the URL of a database in which there is nothing yet, with options of its query."""
        self._schemas += 1
        name = f"database_{self._schemas}"
        engine = sa.create_engine(self.url(), poolclass=sa.pool.NullPool)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        return self.url(**options).replace("/postgres?", f"/{name}?")

    def execute(self, statement: str, url: str | None = None) -> list[Any]:
        """Do something from outside the store."""
        engine = sa.create_engine(url or self.url(), poolclass=sa.pool.NullPool)
        with engine.begin() as connection:
            done = connection.exec_driver_sql(statement)
            return [tuple(row) for row in done] if done.returns_rows else []

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.directory,
            "fsync": "off",  # nothing here outlives the machine
            "max_connections": "200",
            "shared_buffers": "16MB",
        }
        limited = None
        if self._limit is not None:
            import resource  # not on every system

            limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (self._limit,) * 2)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._programs / "postgres",
                    "-D",
                    self._data,
                    *(f"--{name}={value}" for name, value in settings.items()),
                ],
                stdout=log,
                stderr=log,
                preexec_fn=limited,
                **self.account,
            )
        for _ in range(300):
            try:
                self.execute("SELECT 1")
            except sa.exc.OperationalError:
                assert self._process.poll() is None, self._log.read_text(errors="replace")
                time.sleep(0.1)
            else:
                return
        raise AssertionError(f"no answer: {self._log.read_text(errors='replace')}")

    def kill(self) -> None:
        """End the server and all its sessions at once, as a machine that goes down does."""
        process = self._running()
        sessions = self._sessions()
        os.kill(process.pid, signal.SIGKILL)
        for number in sessions:
            with suppress(ProcessLookupError):  # it has noticed that the server is gone
                os.kill(number, signal.SIGKILL)
        process.wait()
        while any(Path(f"/proc/{number}").exists() for number in sessions):
            time.sleep(0.01)  # a new server is refused while an old session is there

    def halt(self) -> Callable[[], None]:
        """Stop the server and its sessions in their midst; return what lets them go on."""
        numbers = (self._running().pid, *self._sessions())
        for number in numbers:
            os.kill(number, signal.SIGSTOP)

        def go_on() -> None:
            for number in numbers:
                os.kill(number, signal.SIGCONT)

        return go_on

    def remove(self) -> None:
        """End the server and remove what it wrote."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
        shutil.rmtree(self.directory)

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def _sessions(self) -> list[int]:
        found = self.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        return [row[0] for row in found]

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.directory,
            **self.account,
        )
        assert done.returncode == 0, done.stderr


def started(limit: int | None = None) -> Server:
    """Return a running server; where there is no PostgreSQL, the test is skipped."""
    programs = _programs()
    if programs is None:
        _absent("no PostgreSQL is installed; CONTRIBUTING.md says how")
    try:
        import psycopg  # noqa: F401 - SQLAlchemy imports it by itself
    except ImportError:
        _absent('no psycopg is installed: pip install -e ".[test]"')
    assert programs is not None
    server = Server(programs, limit)
    try:
        server.start()
    except BaseException:
        server.remove()
        raise
    return server


def _absent(reason: str) -> None:
    if os.environ.get(REQUIRED):
        pytest.fail(f"{REQUIRED} is set, but {reason}")
    pytest.skip(reason)


def _programs() -> Path | None:
    """Return the directory of the newest server; Debian keeps it out of the path."""
    found = shutil.which("postgres")
    if found is not None and shutil.which("initdb") is not None:
        return Path(found).parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    return max(
        (path.parent for path in versions), key=lambda path: int(path.parent.name), default=None
    )
