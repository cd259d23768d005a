"""`Middleware` in several processes with one store: folds in the background, and claims."""

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
from test_middleware import Teller, middleware, talk

from chatfold import ChatContext, Middleware, Policy
from chatfold.held_claims import HeldClaims
from chatfold.session import Session
from chatfold.shared_folds import SharedFolds
from chatfold.stores import Claim, HostFold, HostStore, MemoryStore, SQLStore, StoreError
from chatfold.threads import Threads

LONG = 20.0  # seconds after which something has hung


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store of each kind that one machine has."""
    if request.param == "memory":
        return MemoryStore()
    pytest.importorskip("sqlalchemy")
    return SQLStore(tmp_path / "folds.db")


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds that another thread brings about."""
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.01)


def asleep(prompt: Any) -> str:
    """Take as long as a model would, compared with what is waited for here."""
    time.sleep(0.05)
    return "what happened before"


async def asleep_too(prompt: Any) -> str:
    await asyncio.sleep(0.05)
    return "what happened before"


def is_known(store: HostStore, host: list[Any]) -> bool:
    """Return whether a process that has no model to ask folds the list."""

    def never(prompt: Any) -> str:
        raise AssertionError("it is summarized again")

    far = Policy(max_tokens=10**9)
    return middleware(never, far, store).fold(host, key="a").outcome.reason == "reused"


def in_turn(wrapper: Any, host: list[Any]) -> Any:
    """Return what a turn gets that does not come while another has the conversation."""
    turns: list[Any] = []

    def came() -> bool:
        turns.append(wrapper.fold(host, key="a"))
        return turns[-1].outcome.reason != "running"

    until(came)
    return turns[-1]


def test_what_is_written_in_the_background_is_for_the_other_processes_too(store: Any) -> None:
    """The process that has begun it may not see the conversation again."""
    first, host = middleware(asleep, store=store, background=True), talk(40)
    assert first.fold(host, key="a").outcome.reason == "started"
    until(lambda: is_known(store, host))
    other = middleware(Teller(), store=store, background=True)
    host += talk(40, 40)
    until(lambda: other.fold(host, key="a").outcome.reason == "started")


def test_a_task_s_fold_is_for_the_other_processes_too(store: Any) -> None:
    host = talk(40)

    async def run() -> None:
        first = middleware(asleep_too, store=store, background=True)
        assert (await first.afold(host, key="a")).outcome.reason == "started"
        await asyncio.sleep(0.1)  # the host has other conversations
        await asyncio.to_thread(until, lambda: is_known(store, host))

    asyncio.run(run())


def test_the_next_turn_tells_of_a_fold_that_was_put_in_before_it(store: Any) -> None:
    """Once, with what it has cost; later turns reuse it."""
    first, host = middleware(asleep, store=store, background=True), talk(40)
    assert first.fold(host, key="a").outcome.reason == "started"
    until(lambda: is_known(store, host))
    host += talk(1, 40)
    told = in_turn(first, host)
    assert (told.outcome.reason, told.outcome.llm_calls) == ("summarized", 1)
    assert told.items[-2:] == host[-2:]
    assert len(told.items) < len(host)
    again = first.fold(host, key="a").outcome
    assert again.reason == "reused"
    whole = ChatContext(list(host), counter=Weightless()).count_tokens().value
    assert again.tokens_before == whole


def test_in_the_background_another_process_is_not_waited_for_over_the_window(store: Any) -> None:
    policy = Policy(max_tokens=600, keep_tokens=200, window=700)
    begun, may_end = threading.Event(), threading.Event()

    def slow(prompt: Any) -> str:
        begun.set()
        may_end.wait(20)
        return "They talked."

    host = talk(40)
    first = middleware(slow, policy, store)
    writing = threading.Thread(target=first.fold, args=(host,), kwargs={"key": "a"})
    writing.start()
    assert begun.wait(20)
    told = middleware(Teller(), policy, store, background=True).fold(host, key="a")
    assert told.outcome.reason == "running"  # else it would have waited for `may_end`
    may_end.set()
    writing.join()


def test_a_failure_in_the_background_leaves_the_next_process_free(store: Any) -> None:
    def failing(prompt: Any) -> str:
        raise RuntimeError("no model")

    first, host = middleware(failing, store=store, background=True), talk(40)
    assert first.fold(host, key="a").outcome.reason == "started"
    other = middleware(Teller(), store=store)
    until(lambda: other.fold(host, key="a").outcome.reason == "summarized")
    assert in_turn(first, host).outcome.reason in ("failed", "reused")


def test_a_failure_in_the_background_is_raised_where_the_host_wants_it() -> None:
    def failing(prompt: Any) -> str:
        raise RuntimeError("no model")

    first = middleware(failing, store=MemoryStore(), background=True, on_error="raise")
    host = talk(40)
    assert first.fold(host, key="a").outcome.reason == "started"

    def raised() -> bool:
        try:
            first.fold(host, key="a")
        except Exception as error:
            return "no model" in str(error)
        return False

    until(raised)


def test_a_conversation_that_makes_room_leaves_its_claim(store: Any) -> None:
    """The process holds few conversations ready; the others' folds are given up."""
    may_end = threading.Event()

    def slow(prompt: Any) -> str:
        may_end.wait(LONG)
        return "what happened before"

    first = middleware(slow, store=store, background=True, sessions=1)
    host = talk(40)
    assert first.fold(host, key="a").outcome.reason == "started"
    other = middleware(Teller(), store=store)
    assert other.fold(host, key="a").outcome.reason == "running"
    assert first.fold(talk(40), key="b").outcome.reason == "started"
    first.fold(talk(2), key="c")
    assert other.fold(host, key="a").outcome.reason == "summarized"
    may_end.set()


def test_a_claim_is_held_for_as_long_as_the_work_takes(store: Any) -> None:
    """A head in many parts takes longer than the time after which a holder counts as dead."""
    shared, others = SharedFolds(store, lease=4.0), SharedFolds(store)
    session = Session(talk(4))
    claim = shared.claim("a", session)
    assert claim is not None
    time.sleep(4.5)
    assert others.claim("a", session) is None
    shared.released(claim)
    after = others.claim("a", session)
    assert after is not None
    others.released(after)


class Breaking(MemoryStore):
    """A store of somebody's own, whose client's errors are no `StoreError`."""

    failing = False

    def release(self, claim: Claim) -> None:
        if self.failing:
            raise ConnectionError("the store is down")
        super().release(claim)


def test_a_claim_that_cannot_be_given_up_leaves_the_conversation_free(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The turn goes on with what it has paid for, and so does the next one; the log tells once."""
    store = Breaking()
    wrapper, host = middleware(Teller(), store=store), talk(40)
    store.failing = True
    assert wrapper.fold(host, key="a").outcome.reason == "summarized"
    assert [r.getMessage() for r in caplog.records if r.levelname == "WARNING"] == [
        "the store failed, and is done without: ConnectionError"
    ]
    store.failing = False
    assert wrapper.fold(host, key="a").outcome.reason == "reused"


def test_a_fault_of_a_store_of_somebodys_own_is_seen() -> None:
    """It is no database that is down."""

    class Wrong(MemoryStore):
        def longest(self, *_: Any, **__: Any) -> Any:
            raise AttributeError("no such method")

    with pytest.raises(AttributeError):
        middleware(Teller(), store=Wrong()).fold(talk(40), key="a")


def test_a_claim_is_had_without_a_thread_that_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may have no thread left; the claim then has its time, and is given up."""

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    store = MemoryStore()
    monkeypatch.setattr("chatfold.held_claims._KEEPER", Threads("no", 1.0))
    monkeypatch.setattr("chatfold.shared_folds.CLAIMS", HeldClaims())
    monkeypatch.setattr(threading.Thread, "start", start)
    assert middleware(Teller(), store=store).fold(talk(40), key="a").outcome.reason == "summarized"
    assert middleware(Teller(), store=store).fold(talk(60), key="a").outcome.reason == "summarized"


def test_a_turn_goes_on_without_a_thread_for_the_background(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The outcome says so; the next turn tries again when the policy lets it."""

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("chatfold.background._THREADS", Threads("no", 1.0))
    wrapper, host = middleware(Teller(), background=True), talk(40)
    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", start)
        told = wrapper.fold(host, key="a")
    assert told.items == host
    assert told.outcome.reason == "failed"
    assert "no thread can be had" in str(told.outcome.error)


class Slow(MemoryStore):
    """A store that says after a while that it cannot be reached."""

    failing: Collection[str] = ()

    def __init__(self) -> None:
        super().__init__()
        self.failed: list[str] = []

    def longest(self, key: str, digests: Collection[str]) -> HostFold | None:
        self._fail("longest")
        return super().longest(key, digests)

    def claim(self, key: str, digest: str, seconds: float) -> Claim | None:
        self._fail("claim")
        return super().claim(key, digest, seconds)

    def put(self, fold: HostFold) -> None:
        self._fail("put")
        super().put(fold)

    def release(self, claim: Claim) -> None:
        self._fail("release")
        super().release(claim)

    def _fail(self, what: str) -> None:
        if what in self.failing:
            self.failed.append(what)
            time.sleep(0.5)
            raise StoreError("it cannot be reached")


@pytest.mark.parametrize("first", ["longest", "claim"])
def test_a_turn_waits_twice_at_most_for_a_store_that_does_not_answer(first: str) -> None:
    """Where it asks first, and where it writes; as soon as the store answers, it is used."""
    store, host = Slow(), talk(40)
    store.failing = ("longest", "claim", "put", "release")[("longest", "claim").index(first) :]
    wrapper = middleware(Teller(), store=store)
    assert wrapper.fold(host, key="a").outcome.reason == "summarized"
    assert store.failed == [first, "put"]
    store.failing = ()
    time.sleep(0.6)
    assert wrapper.fold(host, key="b").outcome.reason == "summarized"
    assert middleware(Teller(), store=store).fold(host, key="b").outcome.reason == "reused"


def test_a_claim_that_could_not_be_given_up_is_given_up_later() -> None:
    """Else no process could fold the conversation for as long as a dead holder is waited for."""
    store, host = Slow(), talk(40)
    store.failing = ("put", "release")
    assert middleware(Teller(), store=store).fold(host, key="a").outcome.reason == "summarized"
    store.failing = ()
    other = middleware(Teller(), store=store)
    until(lambda: other.fold(host, key="a").outcome.reason == "summarized")


def test_a_turn_that_is_cancelled_gives_its_claim_up_beside_the_event_loop() -> None:
    """The store may take its time; the loop has other turns to run."""
    threads: list[threading.Thread] = []

    class Store(MemoryStore):
        def claim(self, *args: Any) -> Claim | None:
            asking.set()
            assert cancelled.wait(20)
            return super().claim(*args)

        def release(self, claim: Claim) -> None:
            threads.append(threading.current_thread())
            super().release(claim)
            released.set()

    async def run() -> None:
        turn = asyncio.ensure_future(wrapper.afold(talk(40), key="a"))
        assert await asyncio.to_thread(asking.wait, 20)
        turn.cancel()
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert await asyncio.to_thread(released.wait, 20)

    store, asking, cancelled, released = Store(), *(threading.Event() for _ in range(3))
    wrapper = middleware(Teller(), store=store)
    asyncio.run(run())
    assert threads != [threading.current_thread()]
    assert middleware(Teller(), store=store).fold(talk(40), key="a").outcome.changed


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("kept", each) for each in (b"not json", b"5", b'["a"]', b"[10000]", b"[-1]", "[]")),
        *(("text", each) for each in (b"\xff\xfe", "a text", 5)),
        *((column, b"[" * 200_000) for column in ("kept", "details")),
        *((column, b"\xff") for column in ("summary", "details")),
    ],
)
def test_a_damaged_fold_is_done_without(tmp_path: Path, column: str, value: object) -> None:
    """The turn goes on, and the list is folded anew."""
    pytest.importorskip("sqlalchemy")
    path, host = tmp_path / "folds.db", talk(40)
    with SQLStore(path) as store:
        assert middleware(Teller(), store=store).fold(host, key="a").outcome.changed
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE chatfold_host_folds SET {column} = ?", [value])
    with SQLStore(path) as store:
        folded = middleware(Teller(), store=store).fold(host, key="a")
    assert folded.outcome.reason == "summarized"
    assert folded.items[-1] is host[-1]


def nested(levels: int) -> Any:
    value: Any = "the innermost"
    for _ in range(levels):
        value = [value]
    return value


class Mute:
    """An SDK's object that cannot say what it holds."""

    role, content = "user", "hm"

    def to_dict(self, **options: Any) -> Any:
        raise RuntimeError("not today")


@pytest.mark.parametrize("what", ["integer", "deep", "itself", "mute"])
def test_an_item_that_no_store_can_hold_breaks_no_turn(store: Any, what: str) -> None:
    """Processes share the fold where they can tell that they have the same item."""

    def host() -> list[Any]:
        odd: Any = {"role": "user", "content": "Look at this."}
        odd["extra"] = {"integer": 10**5000, "deep": nested(400)}.get(what, odd)
        return [talk(1)[0], Mute() if what == "mute" else odd, *talk(40)]

    shared = "reused" if what in ("integer", "deep") else "summarized"
    for expected in ("summarized", shared):
        items, wrapper = host(), middleware(Teller(), store=store)
        folded = wrapper.fold(items, key="a")
        assert folded.outcome.reason == expected
        assert folded.items[-1] is items[-1]
        assert wrapper.fold([*items, *talk(1, 40)], key="a").outcome.reason == "reused"


class Asked(MemoryStore):
    """Counts how often it is asked for the longest fold."""

    asked = 0

    def longest(self, key: str, digests: Collection[str]) -> HostFold | None:
        self.asked += 1
        return super().longest(key, digests)


def test_folds_of_before_a_change_of_the_key_are_not_all_tried() -> None:
    """There may be hundreds, each as long to try as the list is."""
    costs: list[int] = []
    for folds in (40, 80):
        store, host = Asked(), list[dict[str, str]]()
        policy = Policy(max_items=4, keep_last_turns=1, min_gain=0.0)
        before: Middleware[Any] = Middleware(lambda prompt: "before", policy, store)
        made = 0
        while made < folds:
            host += [
                {"role": r, "content": f"{len(host)} {'word ' * 60}"} for r in ("user", "assistant")
            ]
            made += before.fold(host, key="k").outcome.reason == "summarized"
        store.asked = 0
        after: Middleware[Any] = Middleware(
            lambda prompt: "after", policy, store, summary_key=b"another"
        )
        assert after.fold(host, key="k").outcome.reason == "summarized"
        costs.append(store.asked)
        again: Middleware[Any] = Middleware("extractive", policy, store, summary_key=b"another")
        assert again.fold(host, key="k").outcome.reason == "reused"
    assert costs[0] == costs[1]
