"""A process that is killed at any moment leaves the old or the new state, and no third."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from hypothesis import settings
from stores import killed_worker
from stores.killed_worker import KEY, Item, read

from chatfold import ChatContext
from chatfold.stores import SQLStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

KILLS = max(40, settings().max_examples)  # 200 in CI
_LONGEST = 0.05  # seconds that a process works before it is killed
_LONGEST_FOLD = 0.3  # the same for one that writes summaries
_LONGEST_OF_ALL = 1.0  # the same where the machine is busy
_EARLY = 0.1  # share of the kills that do not wait until the store is open


def _killed(work: str, directory: Path, times: int, check: Callable[[Path], None]) -> int:
    """Kill a process in one directory again and again; return how often it was in the midst.

    The next process goes on with what the last one has left. On a busy machine it takes longer
    until it is in the midst of anything, so what was killed too early makes the next live longer.
    """
    amidst = 0
    longest = _LONGEST_FOLD if work == killed_worker.summarize_and_undo.__name__ else _LONGEST
    moments = random.Random(str(directory))
    with _workers() as (asked, told):
        for _ in range(times):
            print(work, directory, file=asked, flush=True)
            first = told.readline()
            # On a busy machine the child may be first to say something.
            child = int(told.readline() if first == "open\n" else first)
            early = moments.random() < _EARLY
            if not early and first != "open\n":
                assert told.readline() == "open\n"
            time.sleep(moments.uniform(0, longest))
            os.kill(child, signal.SIGKILL)
            assert _last_line(told) == str(-signal.SIGKILL)
            # The log is there only while the file is in use.
            in_use = (directory / "folds.db-wal").exists()
            amidst += in_use
            if not in_use and not early:
                longest = min(2 * longest, _LONGEST_OF_ALL)
            if (directory / "folds.db").exists():
                check(directory)
    return amidst


@contextmanager
def _workers() -> Iterator[tuple[IO[str], IO[str]]]:
    """Start the program that works; give where it is asked, and where it tells."""
    with subprocess.Popen(
        [sys.executable, killed_worker.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        try:
            yield program.stdin, program.stdout
        except BaseException:
            os.killpg(program.pid, signal.SIGKILL)  # else its child would be waited for, for ever
            raise


def _last_line(output: IO[str]) -> str:
    line = output.readline()
    return (output.readline() if line == "open\n" else line).strip()


def _opened(directory: Path) -> SQLStore:
    """Open what is left; a file that was killed in the making is finished by that."""
    store = SQLStore(directory / "folds.db")
    connection = sqlite3.connect(directory / "folds.db")
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.execute("INSERT INTO chatfold_search(chatfold_search) VALUES('integrity-check')")
    finally:
        connection.close()
    return store


def _whole(store: SQLStore, key: str) -> list[str]:
    """Return the ids of the folds of a key, each of which is there with all its items."""
    found = [fold.fold_id for fold in store.folds(key)]
    numbers = set()
    for fold_id in found:
        fold = store.load(key, fold_id)
        assert fold is not None
        assert len(fold.items) == fold.length
        numbers |= {item.item["n"] for item in fold.items}
    by_words = {item.item["n"] for item in store.find(key, query="item word", limit=1000)}
    assert by_words == numbers
    for n in numbers:
        assert {item.item["n"] for item in store.find(key, call_id=f"call_{n}")} == {n}
    return found


def _nothing_is_lost(directory: Path) -> None:
    """The list is as before or after a fold; all folds in it can be taken back, one by one."""
    store = _opened(directory)
    items: list[Item] = read(directory / "list.json")
    replaced = []
    while items and "fold" in items[0]:
        fold = store.load(KEY, items[0]["fold"])
        assert fold is not None
        items[:1] = [original.item for original in fold.items]
        replaced += [item["n"] for item in items[1 : len(fold.items)]]
    assert items == [{"n": n, "text": "é\ud800"} for n in range(len(items))]
    for n in replaced[:1] + replaced[-1:]:
        assert [one.item["n"] for one in store.find(KEY, call_id=f"call_{n}")] == [n]
        assert n in {one.item["n"] for one in store.find(KEY, query=f"number{n}", limit=1000)}


def _every_turn_is_there(directory: Path) -> None:
    """A fresh context takes back every fold in the list, and finds what was folded."""
    store = _opened(directory)
    items = killed_worker.original(read(directory / "list.json"), store)
    users = sum(item["role"] == "user" for item in items)
    assert items == [item for n in range(0, users, 2) for item in killed_worker.turns(n)]
    ctx = ChatContext(read(directory / "list.json"), store=store, key=KEY)
    if items and str(items[0]) not in str(ctx.items):  # else it was killed before it wrote any
        assert ctx.recall(call_id="call_0") == items[1:3]
        assert items[2] in ctx.recall(query="number0")


def _erased_or_not(directory: Path) -> None:
    """A prefix of what was saved is there: an erased key never keeps its last folds alone."""
    store = _opened(directory)
    assert _whole(store, KEY) in ([], ["0"], ["0", "1"], ["0", "1", "2"])
    assert _whole(store, "another") in ([], ["kept"])


def _expired_or_not(directory: Path) -> None:
    """What is old goes all at once."""
    store = _opened(directory)
    assert _whole(store, KEY) in ([], ["0"], ["0", "1"], ["0", "1", "2"], ["2"])
    assert _whole(store, "another") in ([], ["kept"])


@pytest.mark.parametrize(
    ("work", "check", "times"),
    [
        (killed_worker.fold_and_undo, _nothing_is_lost, KILLS),
        (killed_worker.summarize_and_undo, _every_turn_is_there, KILLS),
        (killed_worker.save_and_erase, _erased_or_not, 40),
        (killed_worker.save_and_expire, _expired_or_not, 40),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_process_that_is_killed_leaves_the_old_or_the_new_state(
    tmp_path: Path, work: Callable[[Path], None], check: Callable[[Path], None], times: int
) -> None:
    lanes = 4
    directories = [tmp_path / str(lane) for lane in range(lanes)]
    for directory in directories:
        directory.mkdir()

    def lane(directory: Path) -> int:
        return _killed(work.__name__, directory, times // lanes, check)

    with ThreadPoolExecutor(lanes) as pool:
        amidst = sum(pool.map(lane, directories))
    print(f"{amidst} of {times} kills were in the midst of a call")
    assert amidst > times // 8
