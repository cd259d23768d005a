"""Daemon threads that wait a while for more work."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref
from functools import partial
from typing import Any

import pytest
from background import LIMIT, wait_until

from chatfold.threads import Threads


def named(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(name)]


def idle(name: str, count: int) -> bool:
    return [thread.name for thread in named(name)] == [f"{name}-idle"] * count


def test_one_thread_does_one_work_after_the_other() -> None:
    threads, did = Threads("after", LIMIT), list[int]()
    for count in range(20):
        threads.run(lambda: did.append(threading.get_ident()))
        wait_until(lambda: (len(did), len(threads._idle)) == (count + 1, 1))  # noqa: B023
    assert idle("after", 1)
    assert len(set(did)) == 1
    assert named("after")[0].daemon


def test_work_at_the_same_time_has_a_thread_each() -> None:
    threads, meet = Threads("beside", LIMIT), threading.Barrier(4)
    for _ in range(4):
        threads.run(lambda: meet.wait(LIMIT) and None)
    wait_until(lambda: idle("beside", 4))
    assert not meet.broken


def test_a_thread_ends_when_nobody_has_work_for_it() -> None:
    threads = Threads("short", 0.01)
    threads.run(lambda: None)
    wait_until(lambda: not named("short"))
    did = threading.Event()
    threads.run(did.set)
    assert did.wait(LIMIT)


def test_no_work_is_lost_where_a_thread_is_about_to_end() -> None:
    """Each work comes at about the moment at which the thread gives up waiting."""
    threads, did = Threads("edge", 0.001), list[int]()
    for number in range(300):
        threads.run(partial(did.append, number))
        threading.Event().wait(0.0011)
    wait_until(lambda: len(did) == 300)
    assert sorted(did) == list(range(300))


def test_what_work_held_is_let_go() -> None:
    class Thing:
        pass

    thing = Thing()
    gone: weakref.ref[Any] = weakref.ref(thing)
    threads = Threads("held", LIMIT)
    threads.run(partial(id, thing))
    wait_until(lambda: idle("held", 1))
    del thing
    assert gone() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_has_threads_of_its_own() -> None:
    """A server that forks its workers after a first fold; a waiting thread is not in the fork."""
    code = """
import os, threading, time
from chatfold.threads import Threads

threads, done = Threads("work", 60), threading.Event()
threads.run(done.set)
assert done.wait(20)
while not threads._idle:
    time.sleep(0.001)
pid = os.fork()
if pid == 0:
    again = threading.Event()
    threads.run(again.set)
    os._exit(0 if again.wait(20) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_thread_that_was_taken_as_it_gave_up_waits_for_its_work() -> None:
    """Between the two steps of `run`, the time is over for which the thread waits."""
    threads, did = Threads("taken", 0.02), threading.Event()
    threads.run(lambda: None)
    wait_until(lambda: len(threads._idle) == 1)
    box = threads._idle.pop()
    assert not did.wait(0.1)
    box.put(did.set)
    assert did.wait(LIMIT)
