"""Stores that many processes use at once: one summary is made, and nothing is lost."""

from __future__ import annotations

import itertools
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from stores.drawn import PATIENT, fold, host_fold, item, texts
from stores.forks import processes
from stores.postgresql import Server

from chatfold.errors import StoreError
from chatfold.stores import Claim, MemoryStore, SQLStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

KEY = "conversation"


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Names an empty database of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "folds.db")
    server: Server = request.getfixturevalue("postgresql")
    return server.empty()


@pytest.mark.parametrize("before", [True, False], ids=["opened before the fork", "after it"])
def test_fifty_processes_make_one_summary(where: str, tmp_path: Path, before: bool) -> None:
    """Each goes on without it while another works, and all find it in the end."""
    inherited = SQLStore(where, timeout=PATIENT)
    inherited.folds(KEY)
    made = tmp_path / "made"
    asked = [f"first {n}" for n in range(100)]

    def turn(store: SQLStore, name: int) -> bool:
        """Do what a middleware does at one turn; return whether there was a fold."""
        if store.longest(KEY, asked) is not None:
            return True
        claim = store.claim(KEY, "first 40", 300)
        if claim is not None:
            if store.longest(KEY, asked) is None:
                with made.open("a") as file:
                    print(name, file=file)
                time.sleep(0.3)  # a model at work
                store.put(host_fold(40))
            store.release(claim)
        return False

    def work(name: int) -> None:
        store = inherited if before else SQLStore(where, timeout=PATIENT)
        while not turn(store, name):
            time.sleep(0.02)

    with processes(50, work):
        pass
    assert len(made.read_text().split()) == 1
    assert inherited.longest(KEY, asked) == host_fold(40)
    assert inherited.claim(KEY, "first 40", 1) is not None
    inherited.close()


def test_a_holder_that_is_killed_blocks_nobody_for_ever(where: str) -> None:
    with SQLStore(where, timeout=PATIENT) as store:
        with processes(1, lambda _: _claim_and_die(where)):
            pass
        assert store.claim(KEY, "work", 60) is None
        deadline = time.monotonic() + 10
        while store.claim(KEY, "work", 60) is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_store_that_is_closed_gives_its_claims_up_and_no_others(where: str) -> None:
    store, other = SQLStore(where, timeout=PATIENT), SQLStore(where, timeout=PATIENT)

    def claimed(by: SQLStore, work: str) -> Claim:
        claim = by.claim(KEY, work, 300)
        assert claim is not None
        return claim

    mine = claimed(store, "mine")
    store.release(claimed(store, "ended before"))
    theirs = [claimed(other, "theirs"), claimed(other, "ended before")]
    assert store.claim(KEY, "theirs", 300) is None
    assert [claim for _, claim in store._claimed] == [mine]
    store.close()
    theirs.append(claimed(other, "mine"))
    store.release(mine)  # by a fold that has ended since
    assert all(other.renew(claim, 300) for claim in theirs)
    with pytest.raises(StoreError, match="is closed"):
        store.release(theirs[0])
    store.close()


def test_the_child_of_a_fork_closes_its_store_and_leaves_its_parent_s_claims(where: str) -> None:
    store = SQLStore(where, timeout=PATIENT)
    assert store.claim(KEY, "the parent's", 300) is not None

    def work(_: int) -> None:
        assert store.claim(KEY, "the child's", 300) is not None
        store.close()

    with processes(1, work):
        pass
    assert store.claim(KEY, "the parent's", 300) is None
    assert store.claim(KEY, "the child's", 300) is not None


def _claim_and_die(where: str) -> None:
    assert SQLStore(where).claim(KEY, "work", 3.0) is not None
    os._exit(0)


def test_a_process_that_is_killed_leaves_whole_folds_alone(where: str) -> None:
    """At any moment; the server notices by itself that nobody is there any more."""
    moments = random.Random(7)
    region = [item(n, f"words {n}", f"c{n}") for n in range(40)]

    def work(_: int) -> None:
        with SQLStore(where, timeout=PATIENT) as store:
            for number in itertools.count():
                store.save(fold(*region, fold_id=str(number % 5)))
                store.put(host_fold(number % 5))

    for _ in range(10):
        child = os.fork()
        if child == 0:
            try:
                work(0)
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(1)
        time.sleep(moments.uniform(0.05, 0.5))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with SQLStore(where, timeout=PATIENT) as store:
        store.save(fold(*region, fold_id="after"))
        there = store.folds(KEY)
        assert len(there) > 1
        for listed in there:
            loaded = store.load(KEY, listed.fold_id)
            assert loaded is not None
            assert loaded.items == tuple(region)
        assert len(store.find(KEY, query="words", limit=1000)) == 40
        assert store.longest(KEY, [f"first {n}" for n in range(5)]) is not None


def test_processes_that_save_the_same_folds_at_once_leave_each_once(where: str) -> None:
    """Whoever was last has replaced all of what the others wrote."""

    def work(name: int) -> None:
        with SQLStore(where, timeout=PATIENT) as store:
            for number in range(10):
                said = [item(0, f"words of {name}", "c1"), item(1, f"more of {name}", "c2")]
                store.save(fold(*said, fold_id=str(number % 3)))
                store.put(host_fold(number % 3))
                if number % 4 == 3:
                    store.discard(KEY, str(number % 3))

    with processes(8, work):
        pass
    with SQLStore(where, timeout=PATIENT) as store:
        for listed in store.folds(KEY):
            loaded = store.load(KEY, listed.fold_id)
            assert loaded is not None
            first, second = texts(loaded.items)
            assert second == first.replace("words", "more")
        assert store.longest(KEY, ["first 0", "first 1", "first 2"]) == host_fold(2)
        left = len(store.folds(KEY))
        found = len(store.find(KEY, query="words of", limit=1000))
        assert found <= left
        assert store.erase(KEY) == left + 3
        assert store.find(KEY, query="words of more") == []


def test_readers_never_see_half_a_fold(where: str) -> None:
    """While one process replaces, discards and expires, others load, list and search."""
    stop = time.monotonic() + 3
    both = [item(0, "alpha beta", "c1"), item(1, "alpha gamma", "c1")]

    def work(name: int) -> None:
        with SQLStore(where, timeout=PATIENT) as store:
            while time.monotonic() < stop:
                if name == 0:
                    store.save(fold(*both, created=1.0))
                    store.discard(KEY, "first")
                    store.save(fold(*both, created=1.0))
                    store.save(fold(*both, created=2.0))
                    continue
                loaded = store.load(KEY, "first")
                assert loaded is None or len(loaded.items) == 2
                assert len(store.find(KEY, query="alpha")) in (0, 2)
                assert len(store.find(KEY, call_id="c1")) in (0, 2)
                assert len(store.folds(KEY)) < 2

    with processes(4, work):
        pass


def test_a_store_works_on_both_sides_of_a_fork_while_threads_use_it(where: str) -> None:
    """What the child does with its parent's store reaches the database, and nothing is mixed up."""
    with SQLStore(where, timeout=PATIENT) as store:
        store.save(fold("before", fold_id="before"))
        over = threading.Event()
        failed: list[BaseException] = []

        def keep_busy() -> None:
            try:
                while not over.wait(0.001):
                    assert len(store.folds(KEY)) >= 1
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=keep_busy) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(5):
            with processes(
                3, lambda name, n=number: store.save(fold("child", fold_id=f"{n} {name}"))
            ):
                store.save(fold("parent", fold_id=f"parent {number}"))
        over.set()
        for thread in threads:
            thread.join()
        assert failed == []
        assert len(store.folds(KEY)) == 21


def test_a_store_in_memory_works_in_the_child_while_threads_use_it() -> None:
    """A lock that a thread of the parent holds would never be released there."""
    store = MemoryStore()
    over = threading.Event()
    region = [item(n, f"number {n}") for n in range(50)]

    def keep_busy() -> None:
        while not over.is_set():
            store.save(fold(*region))

    threads = [threading.Thread(target=keep_busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        with processes(1, lambda _: store.put(host_fold(1))):
            pass
    over.set()
    for thread in threads:
        thread.join()
    assert store.longest(KEY, ["first 1"]) is None
