"""Many threads that write to one SQLite file: whose turn it is, and what is written at once."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

import sqlalchemy as sa
from sqlalchemy import event
from test_middleware import middleware, talk

from chatfold.stores import HostFold, SQLStore, StoreError
from chatfold.stores._sqlite import _WRITING, SQLite
from chatfold.stores._turns import Job, Turns

THREADS = 12


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folds.db"


def sqlite(store: SQLStore) -> SQLite:
    dialect = store._database.dialect
    assert isinstance(dialect, SQLite)
    return dialect


@contextmanager
def writing(store: SQLStore, pool: ThreadPoolExecutor) -> Generator[threading.Event, None, None]:
    """Have a thread write until the event is set, at the latest when the block ends."""
    begun, end = threading.Event(), threading.Event()

    def work(connection: sa.Connection) -> None:
        begun.set()
        end.wait(60)

    done = pool.submit(sqlite(store).write, work)
    assert begun.wait(60)
    try:
        yield end
    finally:
        end.set()
        done.result()


def put(store: SQLStore, number: int) -> None:
    store.put(HostFold(f"key {number}", f"digest {number}", 3, "Words.", None))


def kept(store: SQLStore) -> list[bool]:
    return [store.longest(f"key {n}", [f"digest {n}"]) is not None for n in range(THREADS)]


def waiting(store: SQLStore, number: int) -> None:
    """Wait until so many threads wait for their turn."""
    until = time.monotonic() + 60
    while len(sqlite(store)._turns._waiting) < number:
        assert time.monotonic() < until
        time.sleep(0.001)


def test_what_waits_for_its_turn_is_written_in_one_transaction(path: Path) -> None:
    store, commits = SQLStore(path), list[object]()
    event.listen(sqlite(store)._reader, "commit", commits.append)
    with ThreadPoolExecutor(THREADS + 1) as pool:
        with writing(store, pool):
            done = [pool.submit(put, store, number) for number in range(THREADS)]
            waiting(store, THREADS)
        for one in done:
            one.result()
    assert len(commits) == 2
    assert kept(store) == [True] * THREADS


def test_a_thread_that_waits_is_told_what_came_of_its_own_work(path: Path) -> None:
    store = SQLStore(path)
    with ThreadPoolExecutor(THREADS + 1) as pool:
        with writing(store, pool):
            done = [pool.submit(store.claim, "key", "work", 60) for _ in range(THREADS)]
            waiting(store, THREADS)
        claims = [one.result() for one in done]
    held = [claim for claim in claims if claim is not None]
    assert len(held) == 1
    assert store.renew(held[0], 60)


def test_work_that_fails_among_others_is_told_to_nobody_else(path: Path) -> None:
    store, tried = SQLStore(path), list[int]()

    def fail(connection: sa.Connection) -> None:
        tried.append(1)
        connection.exec_driver_sql("DELETE FROM chatfold_host_folds")
        raise sqlite3.OperationalError("the disk is full")

    with ThreadPoolExecutor(THREADS + 2) as pool:
        with writing(store, pool):
            half = [pool.submit(put, store, number) for number in range(THREADS // 2)]
            waiting(store, THREADS // 2)
            failing = pool.submit(store._database.write, fail)
            waiting(store, THREADS // 2 + 1)
            rest = [pool.submit(put, store, number) for number in range(THREADS // 2, THREADS)]
            waiting(store, THREADS + 1)
        for one in [*half, *rest]:
            one.result()
        with pytest.raises(StoreError, match="the disk is full"):
            failing.result()
    assert kept(store) == [True] * THREADS
    assert len(tried) == 2  # with the others, and then alone


def test_the_time_for_another_process_begins_when_the_own_threads_have_written() -> None:
    turns, begun, end, left = Turns(), threading.Event(), threading.Event(), list[float]()

    def first(job: Job, _: float) -> None:
        turns.taken_along(job)
        begun.set()
        end.wait(60)

    def work(connection: sa.Connection) -> None:
        raise AssertionError("nobody does this")

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(turns.take, Job(work), 0.5, first)]
        assert begun.wait(60)
        done.append(pool.submit(turns.take, Job(work), 0.5, lambda _, rest: left.append(rest)))
        time.sleep(0.6)
        end.set()
        for one in done:
            one.result()
    assert left[0] > 0.1


def test_the_own_threads_do_not_count_as_a_locked_database(path: Path) -> None:
    """A thread that comes while others write has all of its time after them."""
    store = SQLStore(path, timeout=0.5)
    with ThreadPoolExecutor(2) as pool, writing(store, pool) as end:
        done = pool.submit(put, store, 0)
        time.sleep(1)
        assert not done.done()
        end.set()
        done.result()
    assert kept(store)[0]


def test_own_threads_that_do_not_end_are_waited_for_so_long_only(path: Path) -> None:
    store = SQLStore(path, timeout=0.05)
    with (
        ThreadPoolExecutor(2) as pool,
        writing(store, pool),
        pytest.raises(
            StoreError, match="other threads of this process have not done with it; given up"
        ),
    ):
        put(store, 0)
    put(store, 1)
    assert kept(store)[:2] == [False, True]


def test_another_process_keeps_all_threads_waiting_no_longer_than_one(path: Path) -> None:
    store = SQLStore(path, timeout=0.5)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def waited(number: int) -> float:
        began = time.monotonic()
        with pytest.raises(StoreError, match="database is locked"):
            put(store, number)
        return time.monotonic() - began

    with ThreadPoolExecutor(THREADS) as pool:
        assert max(pool.map(waited, range(THREADS))) < 0.5 * THREADS / 2
    other.execute("ROLLBACK")
    other.close()
    put(store, 0)
    assert kept(store) == [True] + [False] * (THREADS - 1)


@pytest.mark.parametrize("when", ["first", "along"])
def test_a_thread_that_is_interrupted_leaves_the_others_their_turn(path: Path, when: str) -> None:
    store = SQLStore(path)

    def interrupted(connection: sa.Connection) -> None:
        raise KeyboardInterrupt

    def caught(work: Callable[[sa.Connection], Any]) -> bool:
        try:
            sqlite(store).write(work)
        except KeyboardInterrupt:
            return True
        return False

    with ThreadPoolExecutor(4) as pool:
        with writing(store, pool):
            done: list[Future[Any]] = []
            works = [lambda: put(store, 0), lambda: caught(interrupted)]
            for work in reversed(works) if when == "first" else works:
                done.append(pool.submit(work))
                waiting(store, len(done))
        for one in done:
            one.exception()
    put(store, 1)
    assert kept(store)[1]


def test_ctrl_c_before_a_claim_is_written_asks_nothing_more_of_the_store(path: Path) -> None:
    """There is nothing to give up, and who broke off a wait for others would wait once more."""
    store, host, begun = SQLStore(path), talk(40), list[object]()
    wrapper = middleware(lambda prompt: "what happened before", store=store)

    def begin(connection: sa.Connection) -> None:
        if _WRITING in connection.get_execution_options():
            begun.append(connection)
            if len(begun) == 1:
                raise KeyboardInterrupt

    event.listen(sqlite(store)._reader, "begin", begin)
    with pytest.raises(KeyboardInterrupt):
        wrapper.fold(host, key="one")
    assert len(begun) == 1
    assert wrapper.fold(host, key="one").outcome.reason == "summarized"


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system has no such signals")
def test_ctrl_c_while_a_claim_waits_for_another_thread_makes_it_wait_no_more(path: Path) -> None:
    """The one that has the file may have it for long: a second wait would be as long again."""
    store, main, ended = SQLStore(path, timeout=60), threading.get_ident(), threading.Event()

    def waits_again() -> bool:
        """Send Ctrl-C as soon as the claim waits; return whether anything does behind that."""
        waiting(store, 1)
        first = sqlite(store)._turns._waiting[0]
        signal.pthread_kill(main, signal.SIGINT)
        while not ended.wait(0.001):
            if any(job is not first for job in sqlite(store)._turns._waiting):
                return True
        return False

    with ThreadPoolExecutor(2) as pool, writing(store, pool) as end:
        waits = pool.submit(waits_again)
        waits.add_done_callback(lambda _: end.set())
        with pytest.raises(KeyboardInterrupt):
            store.claim("key", "work", 60)
        ended.set()
        assert not waits.result()
    assert store.claim("key", "work", 60) is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_waits_for_no_thread_of_its_parent() -> None:
    """The one that has the turn is not among the child's."""
    turns, has_begun, may_end = Turns(), threading.Event(), threading.Event()

    def hold(job: Job, left: float) -> None:
        has_begun.set()
        may_end.wait(60)

    def write(job: Job, left: float) -> None:
        job.result = "written"

    holder = threading.Thread(target=turns.take, args=(Job(lambda _: None), 60.0, hold))
    holder.start()
    assert has_begun.wait(60)
    child = os.fork()
    if child == 0:
        job = Job(lambda _: None)
        with suppress(sqlite3.OperationalError):
            turns.take(job, 0.1, write)
        os._exit(0 if job.result == "written" else 1)
    status = os.waitpid(child, 0)[1]
    may_end.set()
    holder.join()
    assert status == 0
