"""`Middleware` with a shared database: one summary for all processes, and no turn that fails."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stores.one_turn import host
from stores.postgresql import Server, started

from chatfold import Middleware, Policy, Prompt
from chatfold.stores import HostFold, MemoryStore, SQLStore, StoreError

POLICY = Policy(max_tokens=1500, keep_tokens=500)
PROCESSES = 50


def short(prompt: Prompt) -> str:
    """Summarize in few words."""
    return "Orders were asked for, and looked up."


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings in the log."""
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database is."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql").empty()
    return str(tmp_path / "folds.db")


def test_a_second_process_finds_the_first_one_s_fold(url: str) -> None:
    """It makes no model call, and its model sees the same list."""
    with SQLStore(url) as store:
        first = Middleware(short, POLICY, store).fold(host(), key="k")
    with SQLStore(url) as store:
        second = Middleware("extractive", POLICY, store).fold(host(), key="k")
    assert (first.outcome.reason, second.outcome.reason) == ("summarized", "reused")
    assert second.outcome.llm_calls == 0
    assert second.items == first.items


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fifty_processes_at_once_make_one_summary_and_none_waits(url: str, tmp_path: Path) -> None:
    """The model answers when all others have had their turn."""
    command = [sys.executable, "-m", "stores.one_turn", str(tmp_path), url, "k", str(PROCESSES)]
    tests = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=tests, capture_output=True, timeout=600, check=False)
    assert (done.returncode, done.stderr[-2000:].decode()) == (0, "")
    told = [json.loads(file.read_text(encoding="utf-8")) for file in tmp_path.glob("*.json")]
    assert len(told) == PROCESSES
    assert sum(each["calls"] for each in told) == 1, told
    assert sorted(each["reason"] for each in told) == ["running"] * (PROCESSES - 1) + ["summarized"]
    assert {each["items"] for each in told if each["reason"] == "running"} == {len(host())}


def test_a_locked_database_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The turn goes on; the fold is made all the same, and stays in this process."""
    path = tmp_path / "folds.db"
    with SQLStore(path, timeout=0.2) as store:
        middleware = Middleware(short, POLICY, store)
        other = sqlite3.connect(path)
        other.execute("BEGIN EXCLUSIVE")
        first = middleware.fold(host(), key="k")
        second = middleware.fold(host(), key="k")
        other.rollback()
        other.close()
    assert first.outcome.reason == "summarized"
    assert second.outcome.reason == "reused"
    assert len(warnings(caplog)) == 1
    assert "LK-40" not in caplog.text


@pytest.mark.parametrize("background", [False, True])
def test_a_fold_that_could_not_be_written_is_written_at_the_next_turn(
    tmp_path: Path, background: bool
) -> None:
    """Else each other process would pay for it again."""
    path, asked = tmp_path / "folds.db", list[str]()

    def counted(prompt: Prompt) -> str:
        asked.append(short(prompt))
        return asked[-1]

    with SQLStore(path, timeout=0.2) as store, SQLStore(path) as patient:
        middleware = Middleware(counted, POLICY, store, background=background)
        other = sqlite3.connect(path)
        other.execute("BEGIN EXCLUSIVE")
        first = middleware.fold(host(), key="k").outcome.reason
        time.sleep(3 if background else 0)  # it is written, and given up, in a thread
        other.rollback()
        other.close()
        seen = [middleware.fold(host(), key="k").outcome.reason for _ in range(2)]
        found = Middleware("extractive", POLICY, patient).fold(host(), key="k").outcome.reason
    assert first == ("started" if background else "summarized")
    assert seen[1] == found == "reused"
    assert len(asked) == 1


def test_what_is_owed_to_a_store_is_tried_once_a_turn_and_seldom(tmp_path: Path) -> None:
    class Counting(MemoryStore):
        tries, fails, takes = 0, True, 0.0

        def put(self, fold: HostFold) -> None:
            self.tries += 1
            if self.fails:
                time.sleep(self.takes)
                raise StoreError("the disk is full")
            super().put(fold)

    store = Counting()
    middleware = Middleware(short, POLICY, store)
    middleware.fold(host(), key="k")
    assert store.tries == 1
    store.takes = 0.3
    assert middleware.fold(host(), key="k").outcome.reason == "reused"
    assert store.tries == 2
    middleware.fold(host(), key="k")
    assert store.tries == 2  # half of the time goes into waiting, at most
    time.sleep(0.4)
    store.fails = False
    middleware.fold(host(), key="k")
    middleware.fold(host(), key="k")
    assert store.tries == 3
    assert Middleware("extractive", POLICY, store).fold(host(), key="k").outcome.reason == "reused"


def test_what_is_owed_to_a_store_is_written_in_a_thread_where_no_turn_may_wait() -> None:
    class Failing(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.by: list[threading.Thread] = []
            self.is_tried, self.is_kept = threading.Event(), threading.Event()

        def put(self, fold: HostFold) -> None:
            self.by.append(threading.current_thread())
            if len(self.by) == 1:
                self.is_tried.set()
                raise StoreError("the disk is full")
            super().put(fold)
            self.is_kept.set()

    store = Failing()
    middleware = Middleware(short, POLICY, store, background=True)
    assert middleware.fold(host(), key="k").outcome.reason == "started"
    assert store.is_tried.wait(60)  # as soon as it is written, by a thread
    while not store.is_kept.wait(0.01):  # each is one more turn of the same list
        assert middleware.fold(host(), key="k").outcome.reason != "started"
    assert len(store.by) == 2
    assert threading.current_thread() not in store.by


@pytest.mark.parametrize("background", [False, True])
def test_what_is_owed_is_tried_again_where_the_store_is_broken(
    background: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault of the store's own is raised in the turn, or logged by the thread."""

    class Broken(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.tries = 0
            self.is_tried = threading.Event()

        def put(self, fold: HostFold) -> None:
            self.tries += 1
            self.is_tried.set()
            if self.tries == 1:
                raise StoreError("the disk is full")
            if self.tries == 2:
                raise TypeError("a fault of its own")
            super().put(fold)

    store = Broken()
    middleware = Middleware(short, POLICY, store, background=background)
    middleware.fold(host(), key="k")
    assert store.is_tried.wait(60)
    raised = 0
    while store.tries < 3:
        try:
            middleware.fold(host(), key="k")
        except TypeError:
            raised += 1
        time.sleep(0.01)
    assert raised == (0 if background else 1)
    assert ("TypeError" in caplog.text) is background


def test_a_killed_server_costs_one_warning_and_is_used_again_when_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Turns before, during and after: every one gets a list, and none is lost."""
    server = started()
    try:
        with SQLStore(server.empty(), timeout=2.0) as store:
            middleware = Middleware(short, POLICY, store)
            assert middleware.fold(host(), key="a").outcome.reason == "summarized"
            server.kill()
            during = [middleware.fold(host(), key=key) for key in ("b", "b", "a")]
            server.start()
            after = middleware.fold(host(), key="c")
            other = Middleware("extractive", POLICY, store).fold(host(), key="c")
    finally:
        server.remove()
    assert [f.outcome.reason for f in during] == ["summarized", "reused", "reused"]
    assert after.outcome.reason == "summarized"
    assert other.outcome.reason == "reused"
    assert len(warnings(caplog)) == 1


def test_a_server_that_stands_still_is_not_waited_for_longer_than_the_store_says(
    postgresql: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Another connection holds the table; each question ends at the store's time-out."""
    import sqlalchemy as sa

    url = postgresql.empty()
    with SQLStore(url, timeout=1) as store:
        middleware = Middleware(short, POLICY, store)
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            for table in sa.inspect(connection).get_table_names():
                connection.execute(sa.text(f'LOCK TABLE "{table}" IN ACCESS EXCLUSIVE MODE'))
            folded = middleware.fold(host(), key="k")
        engine.dispose()
    assert folded.outcome.reason == "summarized"
    assert len(warnings(caplog)) == 1


def test_a_store_that_fails_at_every_turn_loses_nothing(
    tmp_path: Path, opened: Callable[..., SQLStore], caplog: pytest.LogCaptureFixture
) -> None:
    """The file is no database any more; a conversation of many turns goes on, folded."""
    path = tmp_path / "folds.db"
    store = opened(path)
    path.write_bytes(b"no database" * 2000)
    middleware, items = Middleware(short, POLICY, store), list[Any]()
    for item in host():
        items.append(item)
        folded = middleware.fold(items, key="k")
        assert folded.items[-1] is item
    assert folded.outcome.reason == "reused"
    assert len(warnings(caplog)) == 1
