"""The claims of a process in a store: kept by one thread, and given up when the process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from chatfold.held_claims import HeldClaims
from chatfold.stores import Claim

LONG = 20.0  # seconds after which something has hung


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds that another thread brings about."""
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.01)


def named(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(name)]


class Store:
    """A holder whose store takes its time for some claims, or does not take them back at first."""

    def __init__(self, lease: float = 0.3, refused: int = 0) -> None:
        self.lease, self.renewed, self.released = lease, list[str](), list[str]()
        self.slow, self.may_answer, self.refused = set[str](), threading.Event(), refused

    def renew(self, claim: Claim) -> None:
        if claim.token in self.slow:
            self.may_answer.wait(LONG)
        self.renewed.append(claim.token)

    def gave_up(self, claim: Claim) -> bool:
        self.released.append(claim.token)
        self.refused -= 1
        return self.refused < 0


def claims(number: int) -> list[Claim]:
    return [Claim("key", f"work {n}", str(n)) for n in range(number)]


# --- one thread keeps them ------------------------------------------------------------------------


def test_hundreds_of_claims_are_held_for_longer_by_few_threads() -> None:
    """A process of a server may fold as many conversations at once."""
    held, store, ours = HeldClaims(), Store(), claims(300)
    for claim in ours:
        held.hold(store, claim)
    until(lambda: len(set(store.renewed)) == 300)
    assert len(named("chatfold-")) < 60
    for claim in ours:
        held.give_up(store, claim)
    assert len(store.released) == 300


def test_a_store_that_is_slow_with_one_claim_holds_up_no_other() -> None:
    held, store = HeldClaims(), Store()
    slow, quick = claims(2)
    store.slow.add(slow.token)
    held.hold(store, slow)
    held.hold(store, quick)
    until(lambda: store.renewed.count(quick.token) >= 3)
    store.may_answer.set()
    for claim in (slow, quick):
        held.give_up(store, claim)


def test_a_store_that_hangs_holds_up_no_other_store() -> None:
    """However many claims of it there are."""
    held, hung, sound = HeldClaims(), Store(), Store()
    quick, *slow = claims(60)
    hung.slow.update(claim.token for claim in slow)
    for claim in slow:
        held.hold(hung, claim)
    held.hold(sound, quick)
    until(lambda: len(sound.renewed) >= 3)
    hung.may_answer.set()
    held.give_up(sound, quick)
    for claim in slow:
        held.give_up(hung, claim)


def test_what_gives_a_claim_up_may_come_while_another_is_taken() -> None:
    """A turn that nobody ends does so when it is collected, and that is wherever it likes."""
    held, store, (one, other) = HeldClaims(), Store(), claims(2)

    class Collecting(Store):
        def __hash__(self) -> int:  # asked for where claims are put into the table
            if not store.released:
                held.give_up(store, one)
            return id(self)

    held.hold(store, one)
    taking = threading.Thread(target=held.hold, args=(Collecting(), other), daemon=True)
    taking.start()
    taking.join(LONG)
    assert not taking.is_alive()
    assert store.released == [one.token]


def test_a_claim_that_is_given_up_is_no_longer_held_for_longer() -> None:
    held, store = HeldClaims(), Store()
    gone, other = claims(2)
    for claim in (gone, other):
        held.hold(store, claim)
    held.give_up(store, gone)
    until(lambda: store.renewed.count(other.token) >= 3)
    assert gone.token not in store.renewed
    held.give_up(store, other)


def test_who_hangs_for_long_has_a_claim_no_more() -> None:
    held, store = HeldClaims(), Store(lease=0.03)
    held.hold(store, claims(1)[0])
    until(lambda: len(store.renewed) == 30)
    time.sleep(0.2)
    assert len(store.renewed) == 30


def test_a_claim_that_a_store_did_not_take_is_given_up_again() -> None:
    """Also where many were: no thread each waits for that."""
    held, store, ours = HeldClaims(), Store(lease=10.0, refused=50), claims(50)
    for claim in ours:
        held.hold(store, claim)
        held.give_up(store, claim)
    assert len(store.released) == 50
    until(lambda: len(store.released) == 100)
    assert store.renewed == []


def test_the_keeper_ends_when_nothing_is_held_and_comes_again() -> None:
    held, store = HeldClaims(), Store(lease=0.06)
    for _ in range(2):
        (claim,) = claims(1)
        begun = len(store.renewed)
        held.hold(store, claim)
        until(lambda begun=begun: len(store.renewed) > begun)
        assert [t for t in named("chatfold-keeper") if not t.name.endswith("-idle")]
        held.give_up(store, claim)
        until(lambda: all(t.name.endswith("-idle") for t in named("chatfold-keeper")))


def test_a_store_that_breaks_takes_no_other_claim_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One of somebody's own may raise what is no failure of a database."""

    class Broken(Store):
        def renew(self, claim: Claim) -> None:
            raise TypeError("no such method")

    held, broken, store, (claim,) = HeldClaims(), Broken(), Store(), claims(1)
    held.hold(broken, claim)
    held.hold(store, claim)
    until(lambda: len(store.renewed) >= 2)
    held.give_up(store, claim)
    assert [r.getMessage() for r in caplog.records] == [
        "a claim could not be held or given up: TypeError"
    ]


# --- and the end of the process gives them up -----------------------------------------------------

_BEGUN = """
import asyncio, logging, os, sys, threading, time
from chatfold import Middleware, Policy
from chatfold.stores import SQLStore
where = sys.argv[1]
policy = Policy(max_tokens=1000, keep_tokens=300)
asked = threading.Event()
def slow(prompt):
    asked.set()
    time.sleep(120)
async def aslow(prompt):
    asked.set()
    await asyncio.sleep(120)
talk = [{"role": r, "content": f"Day {n}? " + "Details. " * 60}
        for n in range(20) for r in ("user", "assistant")]
store = SQLStore(where)
def begun(model, fold="fold"):
    return getattr(Middleware(model, policy, store, background=True), fold)(talk, key="a")
"""
_ENDS = {
    "thread": """
assert begun(slow).outcome.reason == "started" and asked.wait(20)
sys.exit()
""",
    "task": """
async def main():
    assert (await begun(aslow, "afold")).outcome.reason == "started"
    while not asked.is_set():
        await asyncio.sleep(0.01)
logging.disable()
asyncio.run(main())
sys.exit()
""",
    "turn that a server gives up": """
ends = Middleware(slow, policy, store)
threading.Thread(target=ends.fold, args=(talk,), kwargs={"key": "a"}, daemon=True).start()
assert asked.wait(20)
sys.exit()
""",
}


def ran(code: str, where: Path) -> tuple[int, str, float]:
    """Return how a process ended, with what it said, and how long it took."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _BEGUN + code, str(where)],
        capture_output=True,
        timeout=60,
        check=False,
        text=True,
    )
    return done.returncode, done.stderr, time.monotonic() - began


def claimed(where: Path) -> int:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(where)) as database:
        return int(database.execute("select count(*) from chatfold_claims").fetchone()[0])


@pytest.mark.parametrize("way", _ENDS)
def test_a_process_that_ends_in_the_middle_of_a_fold_leaves_no_claim(
    way: str, tmp_path: Path
) -> None:
    """Else the next one could not fold the conversation for a minute, in a deploy, say."""
    where = tmp_path / "folds.db"
    returned, said, _ = ran(_ENDS[way], where)
    assert (returned, said) == (0, "")
    assert claimed(where) == 0


_SERVER = """
import socket
from contextlib import asynccontextmanager
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
turns = Middleware(aslow, policy, store, background=True)
async def turn(request):
    told = (await turns.afold(talk, key="a")).outcome.reason
    return PlainTextResponse(told)
@asynccontextmanager
async def lifespan(app):
    yield
    store.close()
app = Starlette(routes=[Route("/", turn)], lifespan=lifespan)
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])
"""


def test_a_server_that_sigterm_ends_has_closed_its_store_and_leaves_no_claim(
    tmp_path: Path,
) -> None:
    """Behind the lifespan, uvicorn raises the signal again: no exit handler runs."""
    where = tmp_path / "folds.db"
    command = [sys.executable, "-W", "ignore", "-c", _BEGUN + _SERVER, str(where)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=LONG) as answer:
            assert answer.read() == b"started"
        assert claimed(where) == 1
        server.send_signal(signal.SIGTERM)
        server.wait(LONG)
    assert server.returncode == -signal.SIGTERM
    assert claimed(where) == 0


def test_a_store_that_was_closed_holds_up_no_end(tmp_path: Path) -> None:
    code = """
assert begun(slow).outcome.reason == "started" and asked.wait(20)
store.close()
began = time.monotonic()
import atexit
atexit._run_exitfuncs()
print(time.monotonic() - began, file=sys.stderr)
"""
    where = tmp_path / "folds.db"
    returned, said, _ = ran(code, where)
    assert (returned, claimed(where)) == (0, 0)
    assert float(said.splitlines()[-1]) < 1.5  # of the 2 s for which it waits at most


@pytest.mark.parametrize("fails", ["time.sleep(120)", "raise OSError('it is down')"])
def test_a_store_that_hangs_holds_up_no_end(fails: str, tmp_path: Path) -> None:
    code = f"""
def release(claim):
    {fails}
store.release = release
assert begun(slow).outcome.reason == "started" and asked.wait(20)
began = time.monotonic()
import atexit
atexit._run_exitfuncs()
print(time.monotonic() - began, file=sys.stderr)
"""
    returned, said, _ = ran(code, tmp_path / "folds.db")
    assert returned == 0
    assert 1.5 < float(said.splitlines()[-1]) < 20


def test_a_store_that_hangs_keeps_no_other_from_its_claims(tmp_path: Path) -> None:
    begins = "import atexit, threading; atexit.register(threading.Thread(target=int).start)"
    if subprocess.run([sys.executable, "-c", begins], capture_output=True, check=False).stderr:
        pytest.skip("this Python gives exit handlers no new threads, as 3.12 does")
    code = """
hanging = SQLStore(where + "2")
hanging.release = lambda claim: time.sleep(120)
Middleware(slow, policy, hanging, background=True).fold(talk, key="a")
assert begun(slow).outcome.reason == "started" and asked.wait(20)
sys.exit()
"""
    where = tmp_path / "folds.db"
    assert ran(code, where)[:2] == (0, "")
    assert (claimed(where), claimed(tmp_path / "folds.db2")) == (0, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_the_child_of_a_fork_leaves_its_parent_s_claims(tmp_path: Path) -> None:
    """Its end is not its parent's; what it has claimed itself, it keeps and gives up."""
    code = """
import sqlite3
from chatfold.held_claims import CLAIMS
def now():
    return sqlite3.connect(where).execute("select count(*) from chatfold_claims").fetchone()[0]
assert begun(slow).outcome.reason == "started" and asked.wait(20)
if not (child := os.fork()):
    asked.clear()
    own = Middleware(slow, policy, store, background=True).fold(talk, key="b")
    assert own.outcome.reason == "started" and asked.wait(20)
    assert now() == 2
    assert [t.name for t in threading.enumerate() if "keeper" in t.name] == ["chatfold-keeper"]
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
assert now() == 1
"""
    where = tmp_path / "folds.db"
    assert ran(code, where)[:2] == (0, "")
    assert claimed(where) == 0


def test_a_claim_is_given_up_once_more_where_a_thread_was_at_it(tmp_path: Path) -> None:
    """The thread dies with the process, and the store may not have it yet."""
    code = """
give_up, asks = store.release, []
def release(claim):
    asks.append(claim)
    if len(asks) == 1:
        time.sleep(120)
    give_up(claim)
store.release = release
async def main():
    await begun(aslow, "afold")
    while not asked.is_set():
        await asyncio.sleep(0.01)
logging.disable()
asyncio.run(main())
while not asks:
    time.sleep(0.01)
sys.exit()
"""
    where = tmp_path / "folds.db"
    assert ran(code, where)[:2] == (0, "")
    assert claimed(where) == 0
