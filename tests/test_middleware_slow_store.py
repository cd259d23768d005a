"""`Middleware` with a store that takes its time: no turn of the background waits for it to write.

And what is forgotten stays away: nothing that is under way in this process brings it back.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from laws import Weightless
from test_middleware import middleware, summaries, talk
from test_middleware_shared import LONG, is_known, until

from chatfold import Middleware, Policy
from chatfold.stores import Claim, HostFold, MemoryStore, SQLStore

SOON = 3.0  # seconds; on however busy a machine, and less than any store waits here

POLICY = Policy(max_tokens=3_000, keep_tokens=1_000)


class Held(MemoryStore):
    """A store that writes only when it may; what it writes in which thread is known."""

    def __init__(self, *, releases: bool = False) -> None:
        super().__init__()
        self.releases = releases  # at once
        self.may_write, self.is_writing = threading.Event(), threading.Event()
        self.by: list[threading.Thread] = []

    def _wait(self) -> None:
        self.by.append(threading.current_thread())
        self.is_writing.set()
        assert self.may_write.wait(LONG)

    def put(self, fold: HostFold) -> None:
        self._wait()
        super().put(fold)

    def release(self, claim: Claim) -> None:
        if not self.releases:
            self._wait()
        super().release(claim)


class Gate:
    """A model that answers when it may."""

    def __init__(self, answer: str = "what happened before") -> None:
        self.answer = answer
        self.open, self.is_asked = threading.Event(), threading.Event()

    def __call__(self, prompt: Any) -> str:
        self.is_asked.set()
        assert self.open.wait(LONG)
        return self.answer


class InTurn(Weightless):
    """A counter that lets something be done in the middle of the next turn."""

    def __init__(self) -> None:
        self.act: Callable[[], None] | None = None

    def count(self, text: str) -> int:
        if self.act is not None and threading.current_thread() is threading.main_thread():
            act, self.act = self.act, None
            act()
        return super().count(text)


def soon(turn: Callable[[], Any]) -> Any:
    """Return what a turn returns, which may not wait."""
    began = time.perf_counter()
    made = turn()
    assert time.perf_counter() - began < SOON
    return made


def session_of(wrapper: Middleware[Any]) -> Any:
    (session,) = wrapper._turns._sessions._used
    return session


def written_in_a_turn(wrapper: Middleware[Any], gate: Gate, counter: InTurn, host: Any) -> Any:
    """Return a turn of a fold that is ready in its midst: its thread has to wait for the turn."""
    assert wrapper.fold(host, key="a").outcome.reason == "started"
    assert gate.is_asked.wait(LONG)
    background = session_of(wrapper).background

    def ready() -> None:
        gate.open.set()
        assert background.wait(LONG)

    counter.act = ready
    return soon(lambda: wrapper.fold([*host, *talk(1, 999)], key="a"))


@pytest.mark.parametrize("answer", ["what happened before", ""], ids=["a fold", "in vain"])
def test_a_turn_that_comes_before_the_thread_waits_for_no_store(answer: str) -> None:
    """It puts the fold in; a thread puts it into the store, and gives the claim up behind that."""
    store, gate = Held(releases=bool(answer)), Gate(answer)
    counter, host = InTurn(), talk(40)
    wrapper = middleware(gate, POLICY, store, background=True, counter=counter)
    turn = written_in_a_turn(wrapper, gate, counter, host)
    assert turn.outcome.changed == bool(answer)
    assert store.is_writing.wait(LONG)
    first = session_of(wrapper).rolling()[3]
    time.sleep(0.1)
    assert store.claim("a", first, 1.0) is None
    for more in range(3):
        again = soon(lambda more=more: wrapper.fold([*host, *talk(2 + more, 999)], key="a"))
        assert summaries(again.items) == bool(answer)
    store.may_write.set()
    until(lambda: store.claim("a", first, 0.001) is not None)
    assert is_known(store, host) == bool(answer)
    assert threading.current_thread() not in store.by


def test_a_turn_sees_a_fold_that_its_thread_still_puts_into_a_store() -> None:
    store, gate, host = Held(), Gate(), talk(40)
    wrapper = middleware(gate, POLICY, store, background=True)
    assert wrapper.fold(host, key="a").outcome.reason == "started"
    gate.open.set()
    assert store.is_writing.wait(LONG)
    assert summaries(soon(lambda: wrapper.fold(host, key="a")).items) == 1
    store.may_write.set()
    until(lambda: is_known(store, host))
    assert threading.current_thread() not in store.by


def test_a_fold_behind_other_instructions_is_put_in_without_waiting_for_a_store() -> None:
    """The turn has that of another list; what was written for it goes into the store behind it."""
    store, gate, one = Held(), Gate(), talk(40)
    other = [{"role": "system", "content": "Be kind."}, *talk(40)]
    wrapper = middleware(gate, POLICY, store, background=True)
    assert wrapper.fold(one, key="a").outcome.reason == "started"
    session = session_of(wrapper)
    assert gate.is_asked.wait(LONG)
    assert wrapper.fold(other, key="a").outcome.reason == "running"
    background = session.background
    session.turn = turn = threading.RLock()
    turn.acquire()  # its thread has to wait, as for a turn; this one has not
    gate.open.set()
    assert background.wait(LONG)
    time.sleep(0.1)
    found = soon(lambda: wrapper.fold(other, key="a"))
    assert summaries(found.items) == 1
    assert store.is_writing.wait(LONG)
    turn.release()
    store.may_write.set()
    until(lambda: is_known(store, other))
    assert threading.current_thread() not in store.by


def test_a_turn_waits_for_no_file_that_another_process_writes_to(tmp_path: Path) -> None:
    """SQLite has one writer at a time; the fold is in the file when that one has ended."""
    store, gate, counter, host = SQLStore(tmp_path / "f.db"), Gate(), InTurn(), talk(40)
    wrapper = middleware(gate, POLICY, store, background=True, counter=counter)
    assert not is_known(store, host)
    assert wrapper.fold(host, key="a").outcome.reason == "started"
    background = session_of(wrapper).background
    with closing(sqlite3.connect(tmp_path / "f.db", isolation_level=None)) as elsewhere:

        def ready() -> None:
            elsewhere.execute("BEGIN IMMEDIATE")
            gate.open.set()
            assert background.wait(LONG)

        counter.act = ready
        turn = soon(lambda: wrapper.fold([*host, *talk(1, 999)], key="a"))
        assert turn.outcome.changed
        assert not is_known(store, host)
        elsewhere.execute("ROLLBACK")
    until(lambda: is_known(store, host))


# --- forgotten and erased -------------------------------------------------------------------------


def left(store: Any, wrapper: Middleware[Any]) -> int:
    """Return how many folds are in a store when nothing of a middleware is under way any more."""
    until(lambda: not wrapper._shared._under_way)
    time.sleep(0.05)
    return int(store.erase("a"))


def erases_all(wrapper: Any, store: Held) -> None:
    """Forget and erase a conversation of which a fold is being written."""
    forgotten = threading.Thread(target=wrapper.forget, args=("a",))
    forgotten.start()
    forgotten.join(0.2)
    assert forgotten.is_alive()
    store.may_write.set()
    forgotten.join(LONG)
    assert store.erase("a") == 1
    assert left(store, wrapper) == 0


def test_what_a_thread_is_writing_is_erased() -> None:
    """`forget` returns when it is written, so that who erases then erases it."""
    store, gate, counter, host = Held(), Gate(), InTurn(), talk(40)
    wrapper = middleware(gate, POLICY, store, background=True, counter=counter)
    assert written_in_a_turn(wrapper, gate, counter, host).outcome.changed
    assert store.is_writing.wait(LONG)
    erases_all(wrapper, store)


@pytest.mark.parametrize("sessions", [1, 1_000])
def test_what_was_owed_to_a_store_is_erased(sessions: int) -> None:
    """Also where another conversation has taken its place since it failed."""

    class Failing(Held):
        def put(self, fold: HostFold) -> None:
            if not self.by:
                self.by.append(threading.current_thread())
                raise OSError("the disk is full")
            super().put(fold)

    store, gate, host = Failing(), Gate(), talk(40)
    gate.open.set()
    wrapper = middleware(gate, POLICY, store, background=True, sessions=sessions)
    assert wrapper.fold(host, key="a").outcome.reason == "started"
    until(lambda: bool(store.by))

    def tried_again() -> bool:
        soon(lambda: wrapper.fold(host, key="a"))
        return len(store.by) > 2  # the claim is given up besides

    until(tried_again)
    wrapper.fold(talk(2), key="b")
    erases_all(wrapper, store)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store of each kind that one machine has."""
    return MemoryStore() if request.param == "memory" else SQLStore(tmp_path / "folds.db")


@pytest.mark.parametrize("background", [False, True])
def test_what_a_turn_or_a_thread_still_writes_does_not_come_back(
    store: Any, background: bool
) -> None:
    """The model answers when the conversation has been erased."""
    gate, host = Gate(), talk(40)
    wrapper = middleware(gate, POLICY, store, background=background)
    turn = threading.Thread(target=wrapper.fold, args=(host,), kwargs={"key": "a"})
    turn.start()
    assert gate.is_asked.wait(LONG)
    wrapper.forget("a")
    store.erase("a")
    gate.open.set()
    turn.join(LONG)
    assert left(store, wrapper) == 0
    assert wrapper.fold(host, key="a").outcome.reason in ("summarized", "started")
    until(lambda: is_known(store, host))  # who goes on with it has it kept again


def test_a_turn_that_goes_over_to_another_session_meanwhile_writes_nothing() -> None:
    """Another process has folded more, and the turn goes on from that when all is erased."""

    class Read(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.reads = 2  # that find something, until one waits
            self.is_read, self.may_go_on = threading.Event(), threading.Event()

        def longest(self, key: str, digests: Collection[str]) -> HostFold | None:
            found = super().longest(key, digests)
            self.reads -= found is not None
            if found is not None and self.reads == 0:
                self.is_read.set()
                assert self.may_go_on.wait(LONG)
            return found

    store, gate, host = Read(), Gate(), talk(80)
    gate.open.set()
    wrapper = middleware(gate, POLICY, store)
    assert wrapper.fold(host[:4], key="a").outcome.reason == "below_trigger"
    assert middleware(gate, POLICY, store).fold(host[:60], key="a").outcome.changed
    turns: list[Any] = []
    turn = threading.Thread(target=lambda: turns.append(wrapper.fold(host, key="a")))
    turn.start()
    assert store.is_read.wait(LONG)
    wrapper.forget("a")
    assert store.erase("a") == 1
    store.may_go_on.set()
    turn.join(LONG)
    assert turns[0].outcome.reason == "summarized"
    assert left(store, wrapper) == 0
    assert wrapper.fold(host, key="a").outcome.changed
    assert is_known(store, host)


@pytest.mark.parametrize("background", [False, True])
def test_a_cancelled_turn_writes_nothing_that_was_forgotten(store: Any, background: bool) -> None:
    """Its thread goes on, and may be at the store just then."""
    host = talk(40)

    async def model(prompt: Any) -> str:
        return "what happened before"

    for pause in [step / 1000 for step in range(0, 60, 4)]:

        async def run(pause: float = pause) -> None:
            wrapper = middleware(model, POLICY, store, background=background)
            turn = asyncio.create_task(wrapper.afold(host, key="a"))
            await asyncio.sleep(pause)
            turn.cancel()
            await asyncio.wait({turn})
            wrapper.forget("a")
            store.erase("a")
            await asyncio.sleep(0.1)
            assert left(store, wrapper) == 0

        asyncio.run(run())
