"""Files of earlier versions, as the code of their time made them.

`version_1_fts5.db.gz` and `version_1_scan.db.gz` were written by `SQLStore` as it was before it
knew hosts' folds (2026-11-22): `conversation` with the folds `first` and `second`, another tenant
with a fold `first`, and one fold saved and discarded. `scan` is by an SQLite without FTS5.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from stores.drawn import fold, host_fold, texts
from stores.forks import processes

from chatfold.stores import SQLStore, StoreError
from chatfold.stores._schema import VERSION

KEY = "conversation"
TENANT = "tenant \ud800"


@pytest.fixture(params=["fts5", "scan"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of version 1."""
    source = Path(__file__).with_name(f"version_1_{request.param}.db.gz")
    path = tmp_path / "folds.db"
    with gzip.open(source) as packed, path.open("wb") as file:
        shutil.copyfileobj(packed, file)
    return path


def _execute(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        with connection:
            return connection.execute(statement).fetchall()
    finally:
        connection.close()


def _tables(path: Path) -> set[tuple[object, ...]]:
    """Return how the tables and indices are made, whatever the version says."""
    return set(
        _execute(path, "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE '%search%'")
    )


def test_the_file_is_of_version_1(old: Path) -> None:
    """So that the tests below test something."""
    assert _execute(old, "SELECT version FROM chatfold_version") == [(1,)]
    assert not _execute(old, "SELECT 1 FROM sqlite_master WHERE name = 'chatfold_host_folds'")


def test_all_that_was_in_it_is_there_and_it_can_do_what_is_new(old: Path) -> None:
    with SQLStore(old) as store:
        assert [one.fold_id for one in store.folds(KEY)] == ["first", "second"]
        loaded = store.load(KEY, "first")
        assert loaded is not None
        assert loaded.summary == {"role": "user", "content": "summary first \ud800"}
        assert texts(loaded.items) == ["Return RMA-90721 to the café", "東京都の駅"]
        assert texts(store.find(KEY, query="rma-907 cafe")) == ["Return RMA-90721 to the café"]
        assert texts(store.find(KEY, query="京都")) == ["東京都の駅"]
        assert len(store.find(KEY, call_id="call_1")) == 2
        assert texts(store.find(TENANT, query="RMA")) == ["another tenant's RMA-90721"]
        assert store.find(KEY, query="erased") == []
        store.save(fold("new words", fold_id="third", created=3000.0))
        store.put(host_fold(9))
        assert store.claim(KEY, "work", 60) is not None
        with SQLStore(old) as again:
            assert again.longest(KEY, ["first 9"]) == host_fold(9)
            assert again.claim(KEY, "work", 60) is None
    with SQLStore(old) as again:
        assert again.claim(KEY, "work", 60) is not None, "the store that had it was closed"
        assert again.erase(KEY) == 4
        assert len(again.folds(TENANT)) == 1
    assert _execute(old, "SELECT version FROM chatfold_version") == [(VERSION,)]
    assert _execute(old, "PRAGMA integrity_check") == [("ok",)]


def test_its_tables_are_then_those_of_a_new_file(old: Path, tmp_path: Path) -> None:
    SQLStore(old)
    new = tmp_path / "new.db"
    SQLStore(new)
    fresh = {one for one in _tables(new) if one[1] != "chatfold_words"}
    assert {one for one in _tables(old) if "chatfold_words" not in str(one)} == fresh


def test_a_file_that_cannot_be_written_now_stays_as_it_was(old: Path) -> None:
    """The next process brings it up to date."""
    other = sqlite3.connect(old, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="cannot be opened: database is locked"):
        SQLStore(old, timeout=0.05)
    other.close()
    assert _execute(old, "SELECT version FROM chatfold_version") == [(1,)]
    assert len(SQLStore(old).folds(KEY)) == 2


def test_a_step_that_fails_half_way_leaves_the_old_version(old: Path) -> None:
    """Here because another table has the name of one of the new ones, with other columns."""
    _execute(old, "CREATE TABLE in_the_way(a)")
    _execute(old, "CREATE INDEX ix_chatfold_host_folds_created ON in_the_way(a)")
    with pytest.raises(StoreError, match="already exists"):
        SQLStore(old)
    assert _execute(old, "SELECT version FROM chatfold_version") == [(1,)]
    assert not _execute(old, "SELECT 1 FROM sqlite_master WHERE name = 'chatfold_host_folds'")
    _execute(old, "DROP TABLE in_the_way")
    assert len(SQLStore(old).folds(KEY)) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_processes_that_open_an_old_file_at_once_all_use_it(old: Path) -> None:
    with processes(8, lambda name: SQLStore(old, timeout=30).put(host_fold(name))):
        pass
    assert SQLStore(old).erase(KEY) == 10
