"""Daemon threads that wait a while for more work, and what is awaited of them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from background import LIMIT, wait_until

from chatfold import ChatContext, Middleware, Policy, Prompt
from chatfold.stores import MemoryStore
from chatfold.threads import Crew, Threads, arun


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
from chatfold import ChatContext, Middleware, Policy, Prompt
from chatfold.stores import MemoryStore
from chatfold.threads import Crew, Threads, arun

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


# --- so many at a time ----------------------------------------------------------------------------


def test_of_a_crew_no_more_than_so_many_work_at_a_time() -> None:
    """What comes besides waits for its turn, in order, and is done."""
    crew, go = Crew(Threads("crew", LIMIT), 3), threading.Event()
    begun, done = list[int](), list[int]()

    def work(number: int) -> None:
        begun.append(number)
        assert go.wait(LIMIT)
        done.append(number)

    for number in range(20):
        crew.run(partial(work, number))
    wait_until(lambda: len(begun) == 3)
    assert len(named("crew")) == 3
    go.set()
    wait_until(lambda: idle("crew", 3))
    assert begun == sorted(begun)
    assert sorted(done) == list(range(20))


def test_no_work_of_a_crew_is_lost_where_a_thread_is_about_to_look_away() -> None:
    crew, did = Crew(Threads("lookaway", LIMIT), 2), list[int]()
    for number in range(2_000):
        crew.run(partial(did.append, number))
    wait_until(lambda: len(did) == 2_000)
    assert len(named("lookaway")) <= 2


def test_where_no_thread_can_be_started_a_crew_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was to be done is not done later, when nobody waits for it."""
    crew, did = Crew(Threads("nothread", LIMIT), 1), list[str]()
    with monkeypatch.context() as patched:

        def fail(_: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        patched.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError, match="can't start"):
            crew.run(partial(did.append, "first"))
    crew.run(partial(did.append, "second"))
    wait_until(lambda: bool(did))
    assert did == ["second"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_has_a_crew_of_its_own() -> None:
    """In the child nobody is at work, and nothing waits."""
    code = """
import os, threading
from chatfold.threads import Crew, Threads
crew, go, did = Crew(Threads("crew", 20), 1), threading.Event(), threading.Event()
crew.run(lambda: go.wait(20) and None)
crew.run(lambda: None)
if not (child := os.fork()):
    crew.run(did.set)
    os._exit(0 if did.wait(20) else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


# --- what an event loop waits for -----------------------------------------------------------------


def talk() -> list[Any]:
    turn = [{"role": "user", "content": "Where is A-1? " * 200}]
    return [*turn, {"role": "assistant", "content": "Sent."}] * 4


async def write(_: Prompt) -> str:
    return "The customer asked about A-1."


POLICY = Policy(max_tokens=500, keep_tokens=200)
FOLDS: dict[str, Callable[[], Awaitable[Any]]] = {
    "asummarize": lambda: ChatContext(talk(), policy=POLICY).asummarize(write),
    "amaybe_summarize": lambda: ChatContext(talk(), policy=POLICY).amaybe_summarize(write),
    "afold": lambda: Middleware(write, POLICY, MemoryStore()).afold(talk(), key="a"),
}


@pytest.mark.parametrize("way", FOLDS)
def test_a_fold_needs_none_of_the_threads_that_may_wait_for_it(way: str) -> None:
    """A sync tool in `asyncio.to_thread` that calls back into the loop holds one of the loop's."""

    async def run() -> Any:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))

        async def fold() -> Any:
            return await FOLDS[way]()

        def tool() -> Any:
            future = asyncio.run_coroutine_threadsafe(fold(), loop)
            try:
                return future.result(LIMIT / 4)
            finally:
                future.cancel()

        return await asyncio.to_thread(tool)

    made = asyncio.run(run())
    assert getattr(made, "outcome", made).reason == "summarized"


def test_a_loop_that_is_closed_meanwhile_is_let_be() -> None:
    """Work that goes on when its loop has ended has nobody to tell, and no error comes of it."""
    go, threads = threading.Event(), Threads("closed", LIMIT)

    async def leave() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(arun(lambda: go.wait(LIMIT), threads), 0.01)

    asyncio.run(leave())
    go.set()
    wait_until(lambda: idle("closed", 1))


def test_what_is_awaited_without_asyncio_says_so() -> None:
    """Trio has no loop of its kind; a coroutine that is driven by hand stands for it."""
    waiting = arun(lambda: 1)
    with pytest.raises(RuntimeError, match=r"event loop of asyncio.* under trio, call the method"):
        waiting.send(None)
