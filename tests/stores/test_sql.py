"""`SQLStore`: the file, who may use it, what is left in it, and what its errors say."""

from __future__ import annotations

import builtins
import gc
import math
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from stores.drawn import PATIENT, fold, host_fold, item, scanned, texts
from stores.forks import processes

import chatfold.stores
from chatfold.errors import MissingExtraError
from chatfold.stores import Claim, SQLStore, StoreError, _gate, _schema, _sqlite

KEY = "conversation"

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made."""
    return tmp_path / "folds.db"


@pytest.fixture(params=[SQLStore, scanned], ids=["fts5", "scan"])
def new_store(request: pytest.FixtureRequest) -> Callable[..., SQLStore]:
    """Opens a file with either search."""
    opened: Callable[..., SQLStore] = request.param
    return opened


def _execute(path: Path, statement: str) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        with connection:
            return connection.execute(statement).fetchall()
    finally:
        connection.close()


def _in_child(work: Callable[[], None]) -> int:
    """Run in a forked process; return 0 where nothing was raised."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# Opening


def test_a_store_opened_again_holds_what_was_saved(
    path: Path, new_store: Callable[..., SQLStore]
) -> None:
    with new_store(path) as first:
        first.save(fold(item(0, "some words", "c1")))
    with new_store(path) as second:
        assert second.load(KEY, "first") == fold(item(0, "some words", "c1"))
        assert texts(second.find(KEY, query="words")) == ["some words"]
        assert texts(second.find(KEY, call_id="c1")) == ["some words"]


def test_a_file_is_named_by_path_or_url(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    SQLStore(path).save(fold("text"))
    stores = [
        SQLStore(named)
        for named in (str(path), "folds.db", f"sqlite:///{path}", "sqlite+pysqlite:///folds.db")
    ]
    monkeypatch.chdir("/")
    for store in stores:
        assert len(store.folds(KEY)) == 1


def test_of_an_sqlite_engine_the_file_is_used(path: Path) -> None:
    """Not its connections, which take no locks in time and outlive a fork."""
    for made in (
        sa.create_engine(f"sqlite:///{path}"),
        sa.create_engine(f"sqlite+pysqlite:///{path}"),
    ):
        with SQLStore(made) as store:
            store.save(fold("text"))
            assert len(store.folds(KEY)) == 1
        assert _execute(path, "PRAGMA journal_mode") == [("wal",)]
        made.dispose()
    for refused in (sa.create_engine("sqlite://"), sa.create_engine("sqlite:///:memory:")):
        with pytest.raises(ValueError, match="needs a file"):
            SQLStore(refused)


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf, 3e6, 10**400])
def test_a_time_limit_that_means_nothing_is_refused(path: Path, timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout must be more than 0 seconds"):
        SQLStore(path, timeout=timeout)
    for wrong in ("5", True, None):
        with pytest.raises(TypeError, match=f"timeout must be a number, not {wrong!r}"):
            SQLStore(path, timeout=wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes a path or a URL as text, not NoneType"):
        SQLStore(None)  # type: ignore[arg-type]
    assert not path.exists()


def test_a_path_of_any_characters_is_taken(tmp_path: Path) -> None:
    odd = tmp_path / "100% of #1? é 'x'.db"
    SQLStore(odd).save(fold("text"))
    assert len(SQLStore(odd).folds(KEY)) == 1
    assert odd.name in os.listdir(tmp_path)


def test_a_new_file_is_for_its_owner_alone(path: Path) -> None:
    SQLStore(path).save(fold("text"))
    with sqlite3.connect(path) as reader:
        reader.execute("SELECT * FROM chatfold_folds")
        modes = {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
        assert len(list(path.parent.iterdir())) == 3
    reader.close()
    assert modes == {0o600}


def test_the_mode_of_a_file_that_is_there_is_left_alone(path: Path) -> None:
    path.touch()
    path.chmod(0o640)
    SQLStore(path).save(fold("text"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_database_of_the_application_may_be_shared(path: Path) -> None:
    _execute(path, "CREATE TABLE folds(mine)")
    _execute(path, "PRAGMA user_version = 77")
    SQLStore(path).save(fold("text"))
    assert SQLStore(path).erase(KEY) == 1
    assert _execute(path, "SELECT * FROM folds") == []
    assert _execute(path, "PRAGMA user_version") == [(77,)]


def test_a_save_is_flushed_to_the_log(path: Path) -> None:
    """WAL, flushed at each commit: what SQLite calls FULL, which is 2."""
    store = SQLStore(path)
    connection = store._database.dialect._connect()  # type: ignore[attr-defined]  # no other way to see it
    settings = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "secure_delete", "foreign_keys")
    }
    assert connection.isolation_level is None  # transactions are SQLAlchemy's alone
    connection.close()
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "secure_delete": 1,
        "foreign_keys": 1,
    }


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ("", ValueError, "needs a file"),
        (":memory:", ValueError, r"use MemoryStore\(\)"),
        ("sqlite://", ValueError, "needs a file"),
        ("sqlite:///:memory:", ValueError, "needs a file"),
        ("sqlite:///x.db?mode=memory", ValueError, "without options"),
        ("postgresql+psycopg2://user:hidden@host/db", ValueError, "not in 'postgresql.psycopg2'"),
        ("mysql://user:hidden@host/db", ValueError, "not in 'mysql'"),
        ("postgresql://user:hidden@host:port/db", ValueError, "none"),
        ("sqlite+aiosqlite:///x.db", ValueError, "not in 'sqlite"),
        ("http//:hidden@x://", ValueError, "none"),
        ("sqlite:x.db", ValueError, "none; write sqlite:///file.db"),
        ("sqlite:/x.db", ValueError, "none"),
        ("postgresql+psycopg:hidden@host/db", ValueError, "none"),
        ("file:x.db?mode=ro", ValueError, "none"),
        (b"x.db", TypeError, "as text, not bytes"),
        (None, TypeError, "NoneType"),
    ],
    ids=str,
)
def test_what_names_no_file_is_refused(wrong: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        SQLStore(wrong)
    assert "hidden" not in str(caught.value)


def test_a_directory_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"the directory '.*nowhere' does not exist"):
        SQLStore(tmp_path / "nowhere" / "folds.db")


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a directory"):
        SQLStore(tmp_path)


def test_a_part_of_the_path_that_is_a_file_is_an_error(path: Path) -> None:
    path.touch()
    with pytest.raises(StoreError, match="cannot be made"):
        SQLStore(path / "folds.db")


def test_a_file_that_is_no_database_is_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"not a database, but notes of somebody" * 100)
    with pytest.raises(StoreError, match="is not a database"):
        SQLStore(path)
    assert path.read_bytes() == b"not a database, but notes of somebody" * 100


def test_tables_of_a_newer_version_are_refused(path: Path) -> None:
    SQLStore(path).save(fold("text"))
    _execute(path, "UPDATE chatfold_version SET version = 3")
    with pytest.raises(StoreError, match=r"newer chatfold .*version 3, this one knows 2"):
        SQLStore(path)


def test_a_search_that_is_not_known_is_refused(path: Path) -> None:
    SQLStore(path)
    _execute(path, "UPDATE chatfold_version SET search = 'other'")
    with pytest.raises(StoreError, match="not known here: 'other'"):
        SQLStore(path)


def test_a_missing_module_is_reported_as_the_fallback_expects(path: Path) -> None:
    """An SQLite without FTS5 says so in these words; then texts are read one by one."""
    with pytest.raises(sqlite3.OperationalError, match="no such module"):
        _execute(path, "CREATE VIRTUAL TABLE t USING fts6(words)")


@needs_fork
def test_a_file_that_may_not_be_written_is_refused() -> None:
    """As another user where root runs the tests, whom no mode keeps out."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made, "folds.db")
        SQLStore(path)
        path.chmod(0o444)
        path.parent.chmod(0o755)

        def work() -> None:
            if os.getuid() == 0:
                os.setuid(65534)
            with pytest.raises(StoreError, match="may not be written by this user"):
                SQLStore(path)
            with pytest.raises(StoreError, match="cannot be made: Permission denied"):
                SQLStore(path.with_name("new.db"))

        assert _in_child(work) == 0
        path.parent.chmod(0o700)


def test_without_sqlalchemy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "sqlalchemy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    for loaded in [name for name in sys.modules if name.startswith("chatfold.stores.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r'"chatfold\[sql\]".*\[postgresql\]"') as caught:
        chatfold.stores.SQLStore  # noqa: B018 - what is looked up is imported
    assert caught.value.extra == "sql"


def test_the_package_of_stores_loads_no_sqlalchemy() -> None:
    code = "import sys, chatfold.stores; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_name_that_stores_lack_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        chatfold.stores.Nothing  # noqa: B018 - as above


# Closing


def test_a_closed_store_says_so(path: Path) -> None:
    store = SQLStore(path)
    with store as entered:
        assert entered is store
    store.close()
    for call in (
        lambda: store.save(fold("text")),
        lambda: store.load(KEY, "first"),
        lambda: store.find(KEY, query="text"),
        lambda: store.erase(KEY),
        lambda: store.expire(0),
    ):
        with pytest.raises(StoreError, match="is closed"):
            call()


def test_a_store_whose_file_is_gone_is_closed_with_its_claims(path: Path) -> None:
    """Nobody can find them any more, and whoever closes it is not kept from doing so."""
    store = SQLStore(path)
    claim = store.claim(KEY, "work", 300)
    assert claim is not None
    path.unlink()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.release(claim)


def test_no_file_stays_open_between_calls(path: Path) -> None:
    store = SQLStore(path)
    store.save(fold("text"))
    assert [one.name for one in path.parent.iterdir()] == ["folds.db"]
    path.unlink()
    with pytest.raises(StoreError, match="unable to open"):
        store.folds(KEY)
    assert not path.exists()


# Several at once


def test_threads_may_share_a_store(path: Path) -> None:
    store = SQLStore(path, timeout=PATIENT)
    failed: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(10):
                store.save(fold(f"words {number}", key=f"key {name}", fold_id=str(number)))
                assert len(store.find(f"key {name}", query="words")) == number + 1
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [len(store.folds(f"key {name}")) for name in range(6)] == [10] * 6


@needs_fork
def test_processes_that_open_a_new_file_at_once_all_save(path: Path) -> None:
    """Turning on the log and making the tables are the moments when they meet."""

    def work(name: int) -> None:
        store = SQLStore(path, timeout=PATIENT)
        for number in range(5):
            store.save(fold("words", fold_id=f"{name} {number}"))

    with processes(8, work):
        pass
    assert len(SQLStore(path, timeout=PATIENT).folds(KEY)) == 40


@needs_fork
def test_a_store_works_on_both_sides_of_a_fork(path: Path) -> None:
    store = SQLStore(path, timeout=PATIENT)
    store.save(fold("before", fold_id="before"))
    busy = threading.Event()

    def keep_busy() -> None:
        while not busy.wait(0.001):
            store.folds(KEY)

    thread = threading.Thread(target=keep_busy)
    thread.start()
    for number in range(5):
        assert _in_child(lambda n=number: store.save(fold("child", fold_id=f"child {n}"))) == 0  # type: ignore[misc]
        store.save(fold("parent", fold_id=f"parent {number}"))
    busy.set()
    thread.join()
    assert len(store.folds(KEY)) == 11
    assert _execute(path, "PRAGMA integrity_check") == [("ok",)]


@needs_fork
def test_a_fork_waits_while_another_thread_has_the_file_open() -> None:
    """SQLite's notes of what it has locked would be copied, and the locks would not."""
    order: list[str] = []
    inside = threading.Event()

    def hold() -> None:
        with _gate.GATE.passed():
            inside.set()
            time.sleep(0.2)
            order.append("closed")

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    assert _in_child(lambda: None) == 0
    order.append("forked")
    thread.join()
    assert order == ["closed", "forked"]


def test_the_log_is_turned_on_when_others_have_let_go_of_the_file(path: Path) -> None:
    """A statement for which SQLite does not wait by itself."""
    _execute(path, "CREATE TABLE mine(a)")
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, writer.close)
    timer.start()
    SQLStore(path)
    timer.join()
    assert _execute(path, "PRAGMA journal_mode") == [("wal",)]


def test_a_save_waits_for_another_process_that_writes(path: Path) -> None:
    store = SQLStore(path)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    timer.start()
    store.save(fold("text"))
    timer.join()
    other.close()
    assert len(store.folds(KEY)) == 1


@pytest.mark.parametrize("call", ["execute", "executemany"])
def test_a_save_that_is_interrupted_leaves_the_file_to_others(path: Path, call: str) -> None:
    """At once, not when the garbage is collected: Ctrl-C comes behind a call into the driver."""
    store = SQLStore(path)
    store.save(fold("first", fold_id="1"))

    def interrupt(frame: Any, event: str, called: Any) -> None:
        if event == "c_return" and getattr(called, "__name__", "") == call:
            sys.setprofile(None)
            raise KeyboardInterrupt

    before = sys.getprofile()
    gc.disable()
    try:
        sys.setprofile(interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.save(fold("second", "and more", fold_id="2"))
        sys.setprofile(before)
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.rollback()
    finally:
        sys.setprofile(before)
        gc.enable()
    store.save(fold("third", fold_id="3"))
    assert [one.fold_id for one in store.folds("conversation")] == ["1", "3"]


def test_a_store_that_stays_locked_is_an_error_without_content(path: Path) -> None:
    """Reading goes on meanwhile."""
    store = SQLStore(path, timeout=0.05)
    store.save(fold("text"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    said = (
        r"cannot be written: database is locked; given up after \d+\.\d s "
        r"\(timeout=0\.05\): pass a larger timeout= to SQLStore"
    )
    with pytest.raises(StoreError, match=said) as caught:
        store.save(fold("secret words", fold_id="second"))
    claim = Claim(KEY, "work", "token")
    for call in (
        lambda: store.put(host_fold(3)),
        lambda: store.claim(KEY, "work", 60),
        lambda: store.renew(claim, 60),
        lambda: store.release(claim),
    ):
        start = time.monotonic()
        with pytest.raises(StoreError, match="database is locked"):
            call()
        assert time.monotonic() - start < 3
    assert store.longest(KEY, ["first 3"]) is None
    assert texts(store.find(KEY, query="text")) == ["text"]
    other.close()
    assert len(store.folds(KEY)) == 1
    assert "secret" not in f"{caught.value} {caught.value.__cause__}"


def test_no_database_error_shows_what_was_to_be_found(path: Path) -> None:
    store = SQLStore(path)
    _execute(path, "DROP TABLE chatfold_search")
    with pytest.raises(StoreError, match="cannot be read: no such table") as caught:
        store.find(KEY, query="secret")
    assert "secret" not in f"{caught.value} {caught.value.__cause__}"


def test_no_database_error_shows_what_was_to_be_written(path: Path) -> None:
    store = SQLStore(path)
    _execute(path, "DROP TABLE chatfold_items")
    with pytest.raises(StoreError, match="no such table") as caught:
        store.save(fold("secret words", key="secret key"))
    assert "secret" not in f"{caught.value} {caught.value.__cause__}"
    assert store.folds(KEY) == []


@needs_fork
def test_a_full_disk_is_an_error_that_leaves_the_store_as_it_was(path: Path) -> None:
    resource = pytest.importorskip("resource")
    store = SQLStore(path)
    store.save(fold("before", fold_id="before"))

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        with pytest.raises(StoreError, match="cannot be written"):
            store.save(fold("x" * 2_000_000))
        with pytest.raises(StoreError, match="cannot be written"):
            store.put(replace(host_fold(3), text="x" * 2_000_000))
        assert [one.fold_id for one in store.folds(KEY)] == ["before"]

    assert _in_child(work) == 0
    assert [one.fold_id for one in store.folds(KEY)] == ["before"]
    assert _execute(path, "PRAGMA integrity_check") == [("ok",)]
    store.save(fold("after", fold_id="after"))


# What is left in the file


def _bytes(path: Path) -> bytes:
    return b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))


def _busy_file(store: SQLStore, draw: random.Random) -> list[str]:
    """Save folds of two keys in turn, of all sizes; return the words of the first key.

    Many short rows in a random order make SQLite move rows between pages.
    """
    secret = []
    for number in range(50):
        mine = draw.random() < 0.4
        region = []
        for position in range(draw.randint(1, 4)):
            word, *calls = (f"{draw.getrandbits(64):016x}" for _ in range(20))
            region.append(item(position, f"{word} " * draw.choice([1, 1, 3, 30, 300]), *calls))
            if mine:
                secret += [word, *calls]
        store.save(
            fold(
                *region,
                key="mine" if mine else "other",
                fold_id=str(number),
                created=1.0 if mine else 2.0,
            )
        )
        if draw.random() < 0.1:
            store.discard("other", str(draw.randrange(number + 1)))
    return secret


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("way", ["erase", "expire"])
def test_what_was_removed_is_no_longer_in_the_bytes_of_the_file(
    path: Path, way: str, seed: int, new_store: Callable[..., SQLStore]
) -> None:
    """Neither in its tables, nor in the index, nor in the log, nor where rows once lay."""
    store = new_store(path)
    secret = _busy_file(store, random.Random(seed))
    reader = sqlite3.connect(path)  # keeps the log from being removed by itself
    reader.execute("SELECT count(*) FROM chatfold_items").fetchone()
    content = _bytes(path)
    assert all(word.encode() in content for word in secret)
    assert (store.erase("mine") if way == "erase" else store.expire(1.5)) > 5
    content = _bytes(path)
    assert [word for word in secret if word.encode() in content] == []
    assert len(store.folds("other")) > 5
    reader.close()


@pytest.mark.parametrize("way", ["erase", "expire"])
def test_a_reader_that_holds_on_to_the_old_bytes_is_reported(path: Path, way: str) -> None:
    """What was erased cannot be found any more; the bytes go with the next call."""
    store = SQLStore(path, timeout=0.05)
    store.save(fold("hiddenword"))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM chatfold_items").fetchone()
    with pytest.raises(StoreError, match="has removed 1 folds, but its file still holds"):
        store.erase(KEY) if way == "erase" else store.expire(2000.0)
    assert store.folds(KEY) == []
    reader.close()
    assert store.erase(KEY) == 0
    assert b"hiddenword" not in _bytes(path)


_EMPTYING = """
import fcntl, sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM chatfold_items").fetchone()
with open(sys.argv[1] + "-shm", "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 121)  # WAL_CKPT_LOCK, https://www.sqlite.org/walformat.html
    print("locked", flush=True)
    time.sleep(0.4)
"""


def test_what_was_erased_goes_when_another_process_has_emptied_the_log(path: Path) -> None:
    """SQLite waits for readers by itself, and not for that: each process does it now and then."""
    pytest.importorskip("fcntl")
    store = SQLStore(path)
    store.save(fold("hiddenword"))
    command = [sys.executable, "-c", _EMPTYING, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        assert store.erase(KEY) == 1
    assert other.returncode == 0
    assert b"hiddenword" not in _bytes(path)


def test_without_originals_no_content_is_ever_written(
    path: Path, new_store: Callable[..., SQLStore]
) -> None:
    store = new_store(path, keep_originals=False)
    store.save(fold(item(0, "hiddenword", native={"content": "hiddennative"})))
    assert b"hidden" not in _bytes(path)


def test_content_dropped_by_age_on_a_save_leaves_the_tables(path: Path) -> None:
    store = SQLStore(path, expire_after=timedelta(hours=1))
    store.save(fold("some words", created=time.time() - 3700))
    for table in ("folds", "items", "calls"):
        assert _execute(path, f"SELECT * FROM chatfold_{table}") == []
    assert _execute(path, "SELECT * FROM chatfold_search") == []


def test_repr_names_the_file_and_nothing_else(path: Path) -> None:
    store = SQLStore(f"sqlite:///{path}")
    store.save(fold("hidden"))
    assert repr(store) == f"SQLStore({str(path)!r})"


# Size


def test_a_large_region_is_saved_and_found(path: Path) -> None:
    """More rows than one statement takes, and one item of several megabytes."""
    store = SQLStore(path)
    region = [item(n, f"item number {n}", f"call_{n}") for n in range(5000)]
    region.append(item(5000, "giant " * 500_000, "giant"))
    store.save(fold(*region))
    loaded = store.load(KEY, "first")
    assert loaded is not None
    assert loaded.items == tuple(region)
    assert texts(store.find(KEY, call_id="call_4321")) == ["item number 4321"]
    assert texts(store.find(KEY, query="number 4321")) == ["item number 4321"]
    assert len(store.find(KEY, query="item number", limit=6000)) == 5000


def test_another_tenant_is_not_read_to_answer_a_query(path: Path) -> None:
    """The same words, ids and folds under many keys: each finds its own."""
    store = SQLStore(path)
    for tenant in range(30):
        store.save(fold(item(0, f"order of tenant{tenant}", "call_1"), key=f"tenant {tenant}"))
    for tenant in (0, 17):
        key = f"tenant {tenant}"
        assert texts(store.find(key, query="order tenant1")) == ([f"order of tenant{tenant}"])
        assert texts(store.find(key, call_id="call_1")) == [f"order of tenant{tenant}"]


def test_what_others_have_said_changes_no_answer(
    path: Path, new_store: Callable[..., SQLStore]
) -> None:
    """Nor how long it takes: of two words, the one that is rarer in this conversation counts."""
    store = new_store(path)
    store.save(fold("alpha one", "beta two", "beta three", *(f"text {n}" for n in range(8))))
    alone = texts(store.find(KEY, query="alpha beta"))
    assert alone[0] == "alpha one"
    store.save(fold(*(f"alpha {n}" for n in range(60)), key="another"))
    assert texts(store.find(KEY, query="alpha beta")) == alone


def test_many_words_are_asked_of_the_index(path: Path) -> None:
    """What takes longer to read than to look up; both find the same."""
    store = SQLStore(path)
    store.save(fold("needle one", *(f"text {n} " + "and so on " * 3_000 for n in range(40))))
    assert texts(store.find(KEY, query="needle")) == ["needle one"]
    assert len(store.find(KEY, query="text on", limit=50)) == 40


def test_of_many_words_no_more_are_read_than_of_few(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a query would take as long as its conversation is, and hold all of its texts at once."""
    sizes: list[int] = []

    def counted(value: bytes) -> str:
        sizes.append(len(value))
        return given(value)

    given = _sqlite._text
    monkeypatch.setattr(_sqlite, "_text", counted)
    read: list[int] = []
    for number in (100, 200):
        long = (f"text {n} " + "and so on " * 3_000 for n in range(number))
        with SQLStore(path) as store:
            store.save(fold("needle one", *long, key=f"{number} texts"))
            sizes.clear()
            assert texts(store.find(f"{number} texts", query="needle")) == ["needle one"]
        read.append(sum(sizes))
    assert abs(read[0] - read[1]) < 1_000  # of 3 and of 6 million characters
    assert read[1] < 1_100_000  # a million, and the text with which that is full


def test_the_tables_carry_their_version(path: Path) -> None:
    SQLStore(path)
    assert _execute(path, "SELECT * FROM chatfold_version") == [(_schema.VERSION, "fts5")]


@pytest.fixture(autouse=True)
def no_leftovers(path: Path) -> Iterator[None]:
    """Every file that a test has left is sound, its index included."""
    yield
    if path.is_file() and path.read_bytes()[:6] == b"SQLite":
        assert _execute(path, "PRAGMA integrity_check") == [("ok",)]


def test_threads_that_write_take_turns_beside_another_process(path: Path) -> None:
    """SQLite lets who waits try again at odd times; of twenty, some would never have a turn."""
    store = SQLStore(path, timeout=20)
    asked: list[int] = []
    most: list[int] = []

    def asks(*told: Any) -> None:
        if told[2] == "BEGIN IMMEDIATE":
            asked.append(1)
            most.append(len(asked))

    def has(*told: Any) -> None:
        if told[2] == "BEGIN IMMEDIATE":
            asked.pop()

    engine = store._database.dialect._reader
    sa.event.listen(engine, "before_cursor_execute", asks)
    sa.event.listen(engine, "after_cursor_execute", has)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    threads = [
        threading.Thread(target=store.save, args=(fold("text", fold_id=str(number)),))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    other.close()
    for thread in threads:
        thread.join()
    assert len(store.folds(KEY)) == 20
    assert set(most) == {1}  # one at a time, and one for many
    assert len(most) <= 20


def test_a_thread_that_waited_for_its_turn_waits_the_less_for_the_file(path: Path) -> None:
    """The second begins later: it has the turn when the first gives up, and half of its time."""
    store = SQLStore(path, timeout=4)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waited: list[float] = []

    def write(number: int) -> None:
        time.sleep(2 * number)
        began = time.monotonic()
        with pytest.raises(StoreError, match="database is locked"):
            store.save(fold("text", fold_id=str(number)))
        waited.append(time.monotonic() - began)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(waited) == 2
    assert max(waited) < 5.5
    other.close()


def test_a_thread_that_waits_for_its_turn_is_given_up_as_if_the_file_were_locked(
    path: Path,
) -> None:
    """All together it waits no longer than the store says."""
    store = SQLStore(path, timeout=0.5)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    said: list[str] = []

    def write(number: int) -> None:
        with pytest.raises(StoreError, match="database is locked; given up after") as caught:
            store.save(fold("text", fold_id=str(number)))
        said.append(str(caught.value))

    began = time.monotonic()
    threads = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 12
    assert 0.4 < time.monotonic() - began < 4
    other.close()
    store.save(fold("text"))
