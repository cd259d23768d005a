"""`SQLStore` behind PgBouncer, which gives each transaction whatever session is free.

What lasts longer than a transaction (prepared statements, settings, locks of a session) is
another's there, or lost: https://www.pgbouncer.org/features.html (read 2026-11-28).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stores.drawn import fold, host_fold
from stores.one_turn import host
from stores.postgresql import Server

from chatfold import Middleware, Policy
from chatfold.stores import SQLStore

SESSIONS = 2
"""Sessions of the server, fewer than there are clients."""


class Pooler:
    """PgBouncer before a server, by transaction, on a Unix socket alone.

    Args:
        program: Where it is.
        server: What it stands before.
    """

    def __init__(self, program: str, server: Server) -> None:
        self._server = server
        self.directory = Path(tempfile.mkdtemp(prefix="chatfold-"))
        settings = self.directory / "pgbouncer.ini"
        (self.directory / "users").write_text('"chatfold" ""\n')
        settings.write_text(
            f"[databases]\n* = host={server.directory}\n"
            "[pgbouncer]\n"
            f"unix_socket_dir = {self.directory}\nlisten_addr =\n"
            f"auth_type = trust\nauth_file = {self.directory / 'users'}\n"
            f"pool_mode = transaction\ndefault_pool_size = {SESSIONS}\n"
        )
        account = server.account
        if account:  # it refuses to be run by root
            for path in (self.directory, settings):
                shutil.chown(path, account["user"])
        self._process = subprocess.Popen(
            [program, "--quiet", settings],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **account,
        )
        while not (self.directory / ".s.PGSQL.6432").exists():
            assert self._process.poll() is None
            time.sleep(0.05)

    def empty(self) -> str:
        """Return the URL, through it, of a database in which there is nothing yet.

        It passes on no `options`, so a schema could not be named in the URL.
        """
        return self._server.database(host=str(self.directory), port="6432")

    def remove(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.directory)


@pytest.fixture(scope="module")
def pooler(postgresql: Server) -> Iterator[Pooler]:
    """PgBouncer, where Debian's package of that name, or another one, has put it."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("no PgBouncer is installed")
    made = Pooler(program, postgresql)
    yield made
    made.remove()


def test_many_clients_share_few_sessions(pooler: Pooler, opened: Callable[..., SQLStore]) -> None:
    """More stores than sessions write and read at once; none sees what is another's."""
    url = pooler.empty()
    opened(url).folds("first")

    def work(number: int) -> None:
        key = f"conversation {number}"
        with SQLStore(url, timeout=60) as store:
            for size in range(10, 15):
                store.put(host_fold(size, key=key))
                claim = store.claim(key, f"{size}", 60)
                assert claim is not None
                assert store.claim(key, f"{size}", 60) is None
                store.release(claim)
            store.save(fold("a", key=key))
            assert store.longest(key, [f"first {n}" for n in range(20)]) == host_fold(14, key=key)
            assert [each.key for each in store.folds(key)] == [key]

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))


def test_no_setting_of_the_store_s_stays_with_a_session(
    pooler: Pooler, postgresql: Server, opened: Callable[..., SQLStore]
) -> None:
    """Another application may be next in it."""
    url = pooler.empty()
    with ThreadPoolExecutor(SESSIONS) as threads:
        list(threads.map(lambda _: opened(url, timeout=3).folds("k"), range(4 * SESSIONS)))
    for setting in ("statement_timeout", "idle_in_transaction_session_timeout"):
        for _ in range(2 * SESSIONS):
            assert postgresql.execute(f"SHOW {setting}", url) == [("0",)]


def test_a_middleware_finds_the_fold_of_another(
    pooler: Pooler, opened: Callable[..., SQLStore]
) -> None:
    url, policy = pooler.empty(), Policy(max_tokens=1500, keep_tokens=500)
    first = Middleware("extractive", policy, opened(url)).fold(host(), key="k")
    second = Middleware("extractive", policy, opened(url)).fold(host(), key="k")
    assert (first.outcome.reason, second.outcome.reason) == ("summarized", "reused")
    assert second.items == first.items
