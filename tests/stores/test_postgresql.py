"""`SQLStore` on a real PostgreSQL server: what goes wrong there, and what it must not cost."""

from __future__ import annotations

import builtins
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import sqlalchemy as sa
from logs import records
from sqlalchemy.engine import make_url
from stores.drawn import fold, host_fold, item, texts
from stores.postgresql import Server, started

from chatfold.errors import MissingExtraError
from chatfold.stores import SQLStore, StoreError
from chatfold.stores._postgresql_search import TSVectorSearch
from chatfold.stores._words import phrases

KEY = "conversation"
Opened = Callable[..., SQLStore]


@pytest.fixture
def url(postgresql: Server) -> str:
    """Names a schema in which there is nothing yet."""
    return postgresql.empty()


@pytest.fixture(scope="module")
def mortal() -> Iterator[Server]:
    """A server that the tests may kill; it runs at the beginning of each."""
    server = started()
    yield server
    server.remove()


@pytest.fixture
def engine(url: str) -> Iterator[sa.Engine]:
    """An engine of the application's own."""
    made = sa.create_engine(url)
    yield made
    made.dispose()


def _sessions(server: Server) -> int:
    """Return how many connections of stores the server has."""
    return int(
        server.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'chatfold'")[
            0
        ][0]
    )


def _wait_for_one_fold(store: SQLStore) -> None:
    """Return once a server that was halted answers again."""
    deadline = time.monotonic() + 10
    while True:
        try:
            assert len(store.folds(KEY)) == 1
            return
        except StoreError:
            assert time.monotonic() < deadline


def _in_threads(number: int, work: Callable[[int], None]) -> None:
    failed: list[BaseException] = []

    def run(name: int) -> None:
        try:
            work(name)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


# Opening


def test_a_store_opened_again_holds_what_was_saved(url: str, opened: Opened) -> None:
    """By another machine, as far as the server can tell."""
    opened(url).save(fold(item(0, "some words", "c1")))
    second = opened(url)
    assert second.load(KEY, "first") == fold(item(0, "some words", "c1"))
    assert texts(second.find(KEY, query="words")) == ["some words"]


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_url_may_leave_out_the_driver(url: str, opened: Opened, scheme: str) -> None:
    store = opened(url.replace("postgresql+psycopg", scheme))
    store.save(fold("text"))
    assert len(opened(url).folds(KEY)) == 1


def test_options_of_the_url_are_taken(postgresql: Server, opened: Opened) -> None:
    """Several hosts, of which the first that answers is used, and what else libpq knows."""
    query = [
        ("host", "/nowhere"),
        ("host", str(postgresql.directory)),
        ("application_name", "mine"),
    ]
    said = "&".join(f"{name}={value}" for name, value in query)
    schema = make_url(postgresql.empty()).query["options"]
    store = opened(f"postgresql://chatfold@/postgres?{said}&options={schema}")
    store.save(fold("text"))
    names = postgresql.execute("SELECT DISTINCT application_name FROM pg_stat_activity")
    assert ("mine",) in names


def test_an_engine_of_the_application_is_used_and_left_open(
    engine: sa.Engine, url: str, opened: Opened
) -> None:
    """Its own work has neither the store's time limit nor its isolation."""
    engine.hide_parameters = False
    with SQLStore(engine, timeout=20) as store:
        store.save(fold("text"))
        with engine.connect() as connection:
            assert connection.scalar(sa.text("SHOW statement_timeout")) == "0"
            assert connection.scalar(sa.text("SHOW transaction_isolation")) == "read committed"
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE chatfold_calls, chatfold_search")
        with pytest.raises(StoreError) as caught:
            store.save(fold(item(0, "secret", "secret call"), key="secret key"))
        assert "secret" not in f"{caught.value} {caught.value.__cause__}"
    with pytest.raises(StoreError, match="is closed"):
        store.folds(KEY)
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM chatfold_folds")) == 1
    assert len(opened(url).folds(KEY)) == 1


def test_an_engine_that_commits_each_statement_is_not_let_do_so(url: str, opened: Opened) -> None:
    made = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    store = SQLStore(made)
    store.save(fold("before"))
    with made.begin() as connection:
        connection.exec_driver_sql("DROP TABLE chatfold_calls")
    with pytest.raises(StoreError, match="does not exist"):
        store.save(fold(item(0, "text", "c1"), fold_id="second"))
    assert [one.fold_id for one in store.folds(KEY)] == ["first"]
    made.dispose()


def test_a_password_is_shown_nowhere(mortal: Server, opened: Opened) -> None:
    query = dict(make_url(mortal.url()).query)
    for named in (
        sa.URL.create("postgresql", "nobody", "hidden1", database="none", query=query),
        sa.URL.create(
            "postgresql", "nobody", database="none", query=query | {"password": "hidden1"}
        ),
    ):
        with records() as logged, pytest.raises(StoreError) as caught:
            SQLStore(named.render_as_string(hide_password=False))
        said = f"{caught.value} {caught.value.__cause__}"
        assert "postgresql:///none" in said
        assert "does not exist" in said
        assert "hidden1" not in said + "".join(record.getMessage() for record in logged)
    password = make_url(mortal.url()).set(password="hidden1")
    store = opened(password.render_as_string(hide_password=False))
    assert repr(store) == "SQLStore('postgresql:///postgres')"


def test_without_psycopg_the_extra_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "psycopg":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    for loaded in [name for name in sys.modules if name.partition(".")[0] == "psycopg"]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r'pip install "chatfold\[postgresql\]"') as caught:
        SQLStore(url)
    assert caught.value.extra == "postgresql"


def test_tables_of_a_newer_version_are_refused(url: str, postgresql: Server) -> None:
    SQLStore(url).close()
    postgresql.execute("UPDATE chatfold_version SET version = 3", url)
    with pytest.raises(StoreError, match=r"newer chatfold .*version 3, this one knows 2"):
        SQLStore(url)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_in_another_encoding_is_refused(postgresql: Server, encoding: str) -> None:
    postgresql_url, name = make_url(postgresql.url()), f"in_{encoding.lower()}"
    made = sa.create_engine(postgresql_url, isolation_level="AUTOCOMMIT")
    with made.connect() as connection:
        connection.exec_driver_sql(
            f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        )
    made.dispose()
    other = postgresql_url.set(database=name).render_as_string()
    with pytest.raises(StoreError, match=f"needs a database in UTF8, not in {encoding}"):
        SQLStore(other)
    utf8 = f"{other}&client_encoding=utf8"
    assert postgresql.execute("SELECT * FROM pg_tables WHERE tablename LIKE 'chat%%'", utf8) == []


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
@pytest.mark.parametrize("way", ["environment", "role", "url", "engine"])
def test_any_text_is_kept_whatever_encoding_a_session_begins_with(
    postgresql: Server, way: str, encoding: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: str | sa.Engine = postgresql.empty()
    if way == "environment":
        monkeypatch.setenv("PGCLIENTENCODING", encoding)
    elif way == "role":
        role = f"speaks_{encoding}".lower()
        postgresql.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
        postgresql.execute(f"ALTER ROLE {role} SET client_encoding = '{encoding}'")
        where = where.replace("chatfold@", f"{role}@")
    elif way == "url":
        where += f"&client_encoding={encoding}"
    else:  # SQLAlchemy itself can connect in no other
        where = sa.create_engine(f"{where}&client_encoding=LATIN1")
    store = opened(where)
    store.save(fold(item(0, "\u65e5\u672c\u8a9e, \xe9t\xe9", "c1")))
    assert store.load(KEY, "first") == fold(item(0, "\u65e5\u672c\u8a9e, \xe9t\xe9", "c1"))
    for query in ("\u672c\u8a9e", "\xe9t\xe9"):
        assert len(store.find(KEY, query=query)) == 1
    if isinstance(where, sa.Engine):
        with where.connect() as connection:
            assert connection.scalar(sa.text("SHOW client_encoding")) == "LATIN1"
        where.dispose()


def test_stores_that_open_an_empty_schema_at_once_all_work(url: str) -> None:
    def work(name: int) -> None:
        with SQLStore(url, timeout=60) as store:
            store.save(fold("words", fold_id=str(name)))

    _in_threads(12, work)
    with SQLStore(url) as store:
        assert len(store.folds(KEY)) == 12


def test_other_tables_of_the_application_are_left_alone(url: str, postgresql: Server) -> None:
    postgresql.execute("CREATE TABLE folds(mine int)", url)
    with SQLStore(url) as store:
        store.save(fold("text"))
        assert store.erase(KEY) == 1
    assert postgresql.execute("SELECT * FROM folds", url) == []


# Failing


def test_a_killed_server_is_an_error_and_a_restarted_one_is_found_again(
    mortal: Server, opened: Opened
) -> None:
    """With many pooled connections, all of them dead; what was saved is there."""
    store = opened(mortal.empty())
    store.save(fold(item(0, "some words", "c1")))
    _in_threads(8, lambda _: store.folds(KEY) and time.sleep(0.05))
    mortal.kill()
    start = time.monotonic()
    for call in (
        lambda: store.save(fold("more", fold_id="second")),
        lambda: store.load(KEY, "first"),
        lambda: store.longest(KEY, ["x"]),
        lambda: store.claim(KEY, "work", 60),
        lambda: store.erase(KEY),
    ):
        with pytest.raises(StoreError, match="the store 'postgresql:///postgres' cannot be"):
            call()
    assert time.monotonic() - start < 10
    mortal.start()
    assert store.load(KEY, "first") == fold(item(0, "some words", "c1"))
    store.save(fold("more", fold_id="second"))
    _in_threads(8, lambda _: store.claim(KEY, "work", 60) and None)
    assert [one.fold_id for one in store.folds(KEY)] == ["first", "second"]


def test_a_server_that_was_restarted_between_two_calls_is_not_noticed(
    mortal: Server, opened: Opened
) -> None:
    store = opened(mortal.empty())
    _in_threads(6, lambda name: store.save(fold("words", fold_id=str(name))))
    mortal.kill()
    mortal.start()
    _in_threads(6, lambda name: store.save(fold("words", fold_id=str(10 + name))))
    assert len(store.folds(KEY)) == 12


def test_a_server_that_is_killed_in_the_midst_leaves_whole_folds_alone(
    mortal: Server, opened: Opened
) -> None:
    """At any moment of a save: what `save` has returned from is there, and nothing by half."""
    moments = random.Random(5)
    store = opened(mortal.empty(), timeout=20)
    saved: set[str] = set()
    tried: set[str] = set()
    for round_ in range(4):
        killer = threading.Timer(moments.uniform(0.05, 0.6), mortal.kill)
        killer.start()
        with suppress(StoreError):
            for number in range(100_000):
                fold_id = f"{round_} {number}"
                tried.add(fold_id)
                region = [item(n, f"words {n}", f"c{n}") for n in range(30)]
                store.save(fold(*region, fold_id=fold_id))
                saved.add(fold_id)
        killer.join()
        mortal.start()
    there = {one.fold_id for one in store.folds(KEY)}
    assert saved <= there <= tried
    assert len(there) <= len(saved) + 4
    for fold_id in there:
        loaded = store.load(KEY, fold_id)
        assert loaded is not None
        assert len(loaded.items) == 30
    assert store.erase(KEY) == len(there)
    assert store.find(KEY, query="words") == []


def test_a_server_that_says_nothing_is_given_up(mortal: Server, opened: Opened) -> None:
    """Halted in its midst, it keeps neither its own time limit nor closes a connection."""
    threads = threading.active_count()  # of other tests too
    store = opened(mortal.empty(), timeout=1)
    store.save(fold("text"))
    go_on = mortal.halt()
    try:
        for call in (lambda: store.folds(KEY), lambda: store.claim(KEY, "work", 60)):
            start = time.monotonic()
            with pytest.raises(StoreError):
                call()
            assert time.monotonic() - start < 6
    finally:
        go_on()
    _wait_for_one_fold(store)
    assert threading.active_count() < threads + 3


def test_a_table_that_others_lock_is_an_error_after_the_time_limit(
    url: str, engine: sa.Engine, opened: Opened
) -> None:
    store = opened(url, timeout=1)
    store.save(fold("text"))
    with engine.begin() as connection:
        connection.exec_driver_sql("LOCK TABLE chatfold_folds, chatfold_claims")
        for call in (
            lambda: store.save(fold("secret words", fold_id="second")),
            lambda: store.folds(KEY),
            lambda: store.claim(KEY, "work", 60),
        ):
            start = time.monotonic()
            with pytest.raises(StoreError, match="statement timeout") as caught:
                call()
            assert 0.9 < time.monotonic() - start < 6
            assert "secret" not in f"{caught.value} {caught.value.__cause__}"
    assert [one.fold_id for one in store.folds(KEY)] == ["first"]
    assert store.claim(KEY, "work", 60) is not None


def test_an_error_leaves_out_the_details_which_show_rows(
    url: str, postgresql: Server, opened: Opened
) -> None:
    store = opened(url)
    postgresql.execute("ALTER TABLE chatfold_host_folds ADD CHECK (length < 5)", url)
    with pytest.raises(StoreError, match="violates check constraint") as caught:
        store.put(host_fold(9, digest="secret"))
    assert "secret" in str(caught.value.__cause__)  # so there was something to leave out
    assert "secret" not in str(caught.value)


def test_a_short_lock_is_waited_for(url: str, engine: sa.Engine, opened: Opened) -> None:
    store = opened(url, timeout=30)
    connection = engine.connect()
    connection.exec_driver_sql("LOCK TABLE chatfold_folds")
    timer = threading.Timer(0.3, connection.close)
    timer.start()
    store.save(fold("text"))
    timer.join()
    assert len(store.folds(KEY)) == 1


def test_a_long_call_of_short_statements_is_not_cut(url: str, opened: Opened) -> None:
    """The limit is one statement's, so that a large fold may take longer than that."""
    dialect = opened(url, timeout=2)._database.dialect

    def work(connection: sa.Connection) -> int:
        for _ in range(6):
            connection.execute(sa.text("SELECT pg_sleep(0.6)"))
        return 6

    assert dialect.write(work) == 6


def test_a_full_disk_is_an_error_that_leaves_the_store_as_it_was(opened: Opened) -> None:
    """A server whose files may not grow beyond two megabytes says what a full disk says."""
    server = started(limit=2_000_000)
    try:
        store = opened(server.empty())
        store.save(fold("before", fold_id="before"))
        noise = random.Random(1)
        large = "".join(f"{noise.getrandbits(64):016x} " for _ in range(200_000))
        with pytest.raises(StoreError, match=r"cannot be written: could not (extend|write)"):
            store.save(fold(*(item(n, f"{n} {large}") for n in range(3))))
        assert [one.fold_id for one in store.folds(KEY)] == ["before"]
        store.save(fold("after", fold_id="after"))
        assert len(store.find(KEY, query="after")) == 1
        store.close()
    finally:
        server.remove()


def test_a_deadlock_is_tried_again(url: str, opened: Opened) -> None:
    store = opened(url, timeout=30)
    dialect = store._database.dialect
    for name in ("a", "b"):
        store.save(fold("text", fold_id=name))
    meeting = threading.Barrier(2)
    tries: list[int] = []

    def work(name: int) -> None:
        def write(connection: sa.Connection) -> None:
            tries.append(name)
            for step in (name, 1 - name):
                which = b"ab"[step : step + 1]
                connection.execute(
                    sa.text("UPDATE chatfold_folds SET extent = extent + 1 WHERE fold_id = :id"),
                    {"id": which},
                )
                if step == name and tries.count(name) == 1:
                    meeting.wait()

        dialect.write(write)

    _in_threads(2, work)
    assert len(tries) >= 3  # the one that was turned away may meet the other again
    assert [one.extent for one in store.folds(KEY)] == [3, 3]


def test_a_session_that_was_ended_by_the_administrator_is_replaced(
    url: str, postgresql: Server, opened: Opened
) -> None:
    store = opened(url)
    store.save(fold("text"))
    for _ in range(3):
        postgresql.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'chatfold'"
        )
        assert len(store.folds(KEY)) == 1


# Connections


def test_connections_are_returned_also_after_errors(
    url: str, postgresql: Server, opened: Opened
) -> None:
    before = _sessions(postgresql)
    store = opened(url, timeout=2)
    for number in range(30):
        with pytest.raises(TypeError):
            store.save(fold(item(0, "text", native=object())))
        with pytest.raises(ValueError, match="wrong"):
            store._database.dialect.write(_wrong)
        store.save(fold("text", fold_id=str(number)))
    _in_threads(40, lambda _: store.folds(KEY) and None)
    assert _sessions(postgresql) <= before + 15
    store.close()
    deadline = time.monotonic() + 10
    while _sessions(postgresql) > before:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _wrong(connection: sa.Connection) -> None:
    connection.execute(sa.text("SELECT 1"))
    raise ValueError("wrong")


def test_more_threads_than_connections_wait_their_turn(url: str, opened: Opened) -> None:
    store = opened(url, timeout=60)
    _in_threads(40, lambda name: store.save(fold("words", fold_id=str(name))))
    assert len(store.folds(KEY)) == 40


def test_a_pool_of_the_application_that_is_empty_is_waited_for_as_long_as_the_store_says(
    url: str,
) -> None:
    """Its own patience is half a minute; what comes too late goes back into it."""
    made = sa.create_engine(url, pool_size=1, max_overflow=0)
    pool = made.pool
    assert isinstance(pool, sa.pool.QueuePool)
    store = SQLStore(made, timeout=1)
    store.save(fold("text"))
    with made.connect():
        for call in (lambda: store.folds(KEY), lambda: store.claim(KEY, "work", 60)):
            start = time.monotonic()
            with pytest.raises(StoreError, match="gave no connection within 1 s"):
                call()
            assert 0.9 < time.monotonic() - start < 6
    deadline = time.monotonic() + 10
    while pool.checkedout():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(store.folds(KEY)) == 1
    patient = SQLStore(made, timeout=20)  # eight wait for one connection on a busy machine
    _in_threads(8, lambda _: patient.save(fold("text")))
    assert pool.checkedout() == 0
    made.dispose()


def test_a_server_that_takes_no_connection_of_the_application_s_is_given_up(mortal: Server) -> None:
    """Its driver waits for ever, as nobody has told it otherwise."""
    made = sa.create_engine(mortal.empty(), poolclass=sa.pool.NullPool)
    store = SQLStore(made, timeout=1)
    store.save(fold("text"))
    go_on = mortal.halt()
    try:
        start = time.monotonic()
        with pytest.raises(StoreError, match="gave no connection within 1 s"):
            store.folds(KEY)
        assert time.monotonic() - start < 6
    finally:
        go_on()
    _wait_for_one_fold(store)


def test_a_machine_that_is_busy_for_a_moment_keeps_its_transaction(
    url: str, opened: Opened
) -> None:
    """The limit is that of a statement, not of what the process does between two of them."""
    dialect = opened(url, timeout=1)._database.dialect

    def work(connection: sa.Connection) -> int:
        time.sleep(3)
        return connection.execute(sa.text("SELECT 1")).scalar_one()

    assert dialect.write(work) == 1


def test_a_machine_that_went_away_in_the_midst_holds_no_lock_for_ever(
    url: str, opened: Opened
) -> None:
    """Its session says nothing any more, and the server ends it."""
    store, other = opened(url, timeout=1), opened(url, timeout=20)
    store.save(fold("text"))

    def work(connection: sa.Connection) -> None:
        connection.execute(sa.text("UPDATE chatfold_folds SET extent = 9"))
        time.sleep(7)
        connection.execute(sa.text("SELECT 1"))

    def stopped(_: int) -> None:
        with pytest.raises(sa.exc.SQLAlchemyError):
            store._database.dialect.write(work)

    _in_threads(1, stopped)
    other.save(fold("text"))
    assert other.folds(KEY)[0].extent == 1


# Size, isolation, search


def test_keys_and_ids_of_any_length_are_kept(url: str, opened: Opened) -> None:
    """Longer than an index takes: ids of calls that carry a signature are."""
    store = opened(url)
    noise = random.Random(2)
    long = "".join(f"{noise.getrandbits(64):016x}" for _ in range(2000))
    store.save(fold(item(0, "text", long, long[:-1]), key=long, fold_id=long))
    store.save(fold(item(0, "other", long), key=long[:-1], fold_id=long))
    store.put(host_fold(3, key=long))
    assert texts(store.find(long, call_id=long)) == ["text"]
    assert texts(store.find(long, query="text")) == ["text"]
    assert texts(store.find(long[:-1], call_id=long)) == ["other"]
    assert store.load(long, long) is not None
    assert store.longest(long, ["first 3"]) is not None
    assert store.claim(long, "work", 60) is not None
    assert store.claim(long[:-1], "work", 60) is not None
    assert store.erase(long) == 2
    assert len(store.folds(long[:-1])) == 1


def test_a_large_region_is_saved_and_found(url: str, opened: Opened) -> None:
    """More rows than one statement takes, and an item with more words than one vector takes."""
    store = opened(url, timeout=60)
    noise = random.Random(3)
    words = [f"{noise.getrandbits(64):016x}" for _ in range(80_000)]
    region = [item(n, f"item number {n}", f"call_{n}") for n in range(5000)]
    region.append(item(5000, " ".join(words), "giant"))
    region.append(item(5001, "x" * 3_000_000 + " needle " + "y" * 5000))
    store.save(fold(*region))
    loaded = store.load(KEY, "first")
    assert loaded is not None
    assert loaded.items == tuple(region)
    assert texts(store.find(KEY, call_id="call_4321")) == ["item number 4321"]
    assert texts(store.find(KEY, query="number 4321")) == ["item number 4321"]
    assert len(store.find(KEY, query="item number", limit=6000)) == 5000
    for n in (0, 40_000, 79_999):
        assert [one.position for one in store.find(KEY, query=words[n])] == [5000]
        assert [one.position for one in store.find(KEY, query=words[n][:9])] == [5000]
    for query in ("needle", "x" * 150, "y" * 150, "y" * 4999, "needle " + "y" * 20):
        assert [one.position for one in store.find(KEY, query=query)] == [5001]
    assert store.find(KEY, query="z" * 150) == []
    assert store.find(KEY, query="y" * 5001) == []


def test_the_index_of_words_is_used(url: str, opened: Opened) -> None:
    """Where a tenant has many texts, they are not all read for each question."""
    store = opened(url, timeout=60)
    region = [item(n, f"order {n} of customer c{n % 7} " + "and so on " * 30) for n in range(4000)]
    store.save(fold(*region))
    made = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with made.connect() as connection:
        connection.exec_driver_sql("VACUUM ANALYZE chatfold_search")  # as servers do by themselves
    made.dispose()
    asked: list[str] = []

    def explain(connection: sa.Connection) -> None:
        def note(conn: object, cursor: Any, statement: str, parameters: Any, *_: object) -> None:
            if "chatfold_search.words" in statement and not asked:
                asked.append("")
                with cursor.connection.cursor() as second:
                    second.execute(f"EXPLAIN {statement}", parameters)
                    asked.extend(row[0] for row in second.fetchall())

        sa.event.listen(connection.engine, "before_cursor_execute", note)
        scope = connection.scalar(sa.text("SELECT min(scope) FROM chatfold_search"))
        wanted = TSVectorSearch().find(connection, scope, phrases("3999"), None)
        assert len(wanted) == 1

    store._database.dialect.read(explain)
    assert any("chatfold_search_by_word" in line for line in asked), "\n".join(asked)


def test_another_tenant_is_not_read_to_answer_a_query(url: str, opened: Opened) -> None:
    store = opened(url)
    for tenant in range(30):
        store.save(fold(item(0, f"order of tenant{tenant}", "call_1"), key=f"tenant {tenant}"))
    for tenant in (0, 17):
        key = f"tenant {tenant}"
        assert texts(store.find(key, query="order tenant1")) == [f"order of tenant{tenant}"]
        assert texts(store.find(key, call_id="call_1")) == [f"order of tenant{tenant}"]
        assert len(store.folds(key)) == 1


def test_what_is_erased_leaves_all_tables(url: str, postgresql: Server, opened: Opened) -> None:
    store = opened(url)
    store.save(fold(item(0, "some words", "c1")))
    store.put(host_fold(3))
    assert store.claim(KEY, "work", 60) is not None
    assert store.erase(KEY) == 2
    for table in ("folds", "items", "calls", "search", "host_folds", "claims"):
        assert postgresql.execute(f"SELECT * FROM chatfold_{table}", url) == []
