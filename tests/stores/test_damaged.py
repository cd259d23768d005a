"""Rows that somebody damaged or removed: they are as if they were not there, and nothing is raised.

Not here: folds of hosts' lists in a `Middleware` (`test_middleware_shared`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from logs import records
from stores.drawn import fold, host_fold, item, scanned, texts

from chatfold import ChatContext
from chatfold.stores import MemoryStore, SQLStore, StoredFold, StoreError

KEY = "conversation"
WORDS = "Look at the parcel. "


@pytest.fixture(params=[SQLStore, scanned], ids=["fts5", "scan"])
def new_store(request: pytest.FixtureRequest) -> Callable[..., SQLStore]:
    """Opens a file with either search."""
    opened: Callable[..., SQLStore] = request.param
    return opened


def damage(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement).rowcount != 0


def history() -> list[Any]:
    """Return six turns; the first instruction is kept by every fold."""
    said = (
        [{"role": "user", "content": f"Question {n}. {WORDS * 40}"}, _answer(n)] for n in range(6)
    )
    return [each for turn in said for each in turn]


def _answer(number: int) -> dict[str, str]:
    return {"role": "assistant", "content": f"Answer {number}. " * 20}


def folded(store: Any, items: list[Any]) -> list[Any]:
    """Fold a list; return it as a later process reads it."""
    ctx = ChatContext(items, shape="openai_chat", store=store, key=KEY)
    assert ctx.summarize(lambda prompt: "Questions were asked.", keep_last_turns=1).changed
    return list(json.loads(json.dumps(items)))


def later(items: list[Any], store: Any) -> ChatContext[Any]:
    return ChatContext(items, shape="openai_chat", store=store, key=KEY)


_ITEM = "UPDATE chatfold_items SET {} WHERE position = 2"
DAMAGES = [
    "DELETE FROM chatfold_items",
    *(f"DELETE FROM chatfold_items WHERE position = {n}" for n in (0, 3, 9)),
    "UPDATE chatfold_items SET position = position + 20",
    *(f"UPDATE chatfold_folds SET length = {n}" for n in ("length - 2", "length + 1", 0, -1)),
    *(
        f"UPDATE chatfold_folds SET {column} = {value}"
        for column in ("length", "extent", "created", "kept", "summary", "digest")
        for value in ("'x'", "x'ff'", "1.5 + 1e400", "CAST(x'ff' AS TEXT)")
    ),
    *(
        f"UPDATE chatfold_folds SET kept = CAST('{value}' AS BLOB)"
        for value in ("[99]", "[-1]", '["0"]', "[true]", "5", "{}", "no JSON")
    ),
    *(
        _ITEM.format(f"{column} = {value}")
        for column in ("position", "text", "call_ids", "item")
        for value in ("'x'", "x'ff'", "-1", "1.5")
    ),
    *(
        _ITEM.format(f"call_ids = CAST('{value}' AS BLOB)")
        for value in ("5", "[5]", '"call"', "{}", "null")
    ),
    *(
        _ITEM.format(f"item = CAST('{json.dumps(value)}' AS BLOB)")
        for value in (
            {"$chatfold": "zzz"},
            {"$chatfold": "bytes"},
            {"$chatfold": ["bytes"], "value": "AA=="},
            {"$chatfold": "bytes", "value": "&"},
            {"$chatfold": "decimal", "value": "abc"},
            {"$chatfold": "uuid", "value": 5},
            {"$chatfold": "tuple", "value": "abc"},
            {"role": "user", "content": [{"$chatfold": "pairs", "value": [[[1], 2]]}]},
        )
    ),
    _ITEM.format("item = CAST('" + "[" * 50_000 + "]" * 50_000 + "' AS BLOB)"),
    _ITEM.format(f"item = CAST('{'9' * 5000}' AS BLOB)"),
]


@pytest.mark.parametrize("statement", DAMAGES, ids=lambda statement: statement[:80])
def test_a_fold_that_is_not_whole_is_not_put_back(tmp_path: Path, statement: str) -> None:
    """Not a part of it either; no search for its items fails, and the list can be folded on."""
    path = tmp_path / "folds.db"
    with SQLStore(path) as store:
        items = folded(store, history())
        damage(path, statement)
        ctx, before = later(items, store), list(items)
        assert ctx.undo().reason == "nothing_to_undo"
        assert items == before
        tool = ctx.recall_tool()
        for query in ("parcel", "question 2", "answer 3"):
            ctx.recall(query=query)
            assert tool.handler(query=query)
        store.folds(KEY)
        ctx.extend(history())
        assert ctx.summarize(lambda prompt: "More was asked.", keep_last_turns=1).changed
        assert ctx.undo().reason == "undone"


@pytest.mark.parametrize("search", ["question", "c2"])
def test_what_is_not_damaged_is_found(
    tmp_path: Path, search: str, new_store: Callable[..., SQLStore]
) -> None:
    """Also where the index still names an item that is gone, and where its words are none."""
    path = tmp_path / "folds.db"
    sought: Any = {"call_id": "c2"} if search == "c2" else {"query": "question"}
    with new_store(path) as store, records() as logged:
        store.save(fold(*(item(n, f"question {n}", "c2") for n in range(5))))
        store.save(fold("other words", fold_id="second"))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM chatfold_items WHERE position = 3")  # and no more
            if new_store is scanned:
                connection.execute("UPDATE chatfold_words SET words = x'ff' WHERE item = 1")
        for column, position in (("call_ids", 1), ("item", 2)):
            damage(path, f"UPDATE chatfold_items SET {column} = 5 WHERE position = {position}")
        gone = {1, 2, 3, *([0] if new_store is scanned and search == "question" else ())}
        left = [f"question {n}" for n in range(5) if n not in gone]
        assert sorted(texts(store.find(KEY, **sought))) == left
        assert len(store.find(KEY, limit=len(left), **sought)) == len(left)
        assert store.load(KEY, "first") is None
        assert store.load(KEY, "second") == fold("other words", fold_id="second")
        assert store.erase(KEY) == 2
    (told,) = [record.getMessage() for record in logged]
    assert "holds damaged values" in told
    assert "question" not in told


def test_the_index_of_an_item_that_is_gone_leads_to_no_other_key_s(
    tmp_path: Path, new_store: Callable[..., SQLStore]
) -> None:
    """Numbers of rows that somebody removed are given again."""
    path = tmp_path / "folds.db"
    with new_store(path) as store:
        store.save(fold(item(0, "old words", "c1"), item(1, "old words", "c1")))
        damage(path, "DELETE FROM chatfold_items")
        store.save(fold(item(0, "", native=1), item(1, "new", native=2), key="another"))
        assert store.find(KEY, query="old") == store.find(KEY, call_id="c1") == []
        assert texts(store.find("another", query="new")) == ["new"]


def test_of_hosts_folds_the_longest_that_is_sound_is_found(tmp_path: Path) -> None:
    """What is damaged may count as the longest, or the newest, and would hide all others."""
    path = tmp_path / "folds.db"
    with SQLStore(path) as store:
        for length in (4, 8, 12, 16, 20):
            store.put(host_fold(length))
        for value, where in (("length = 'x'", 4), ("created = 'x'", 12), ("base = x'ff'", 16)):
            damage(path, f"UPDATE chatfold_host_folds SET {value} WHERE digest = 'first {where}'")
        damage(path, "UPDATE chatfold_host_folds SET text = 5 WHERE length = 20")
        digests = [f"first {n}" for n in range(30)]
        assert store.longest(KEY, digests) == host_fold(8)
        damage(path, "UPDATE chatfold_host_folds SET kept = 5 WHERE length = 8")
        assert store.longest(KEY, digests) is None


@pytest.mark.parametrize(
    "change",
    [
        {"length": 8},
        {"length": 11},
        {"length": "10"},
        {"kept": (10,)},
        {"kept": ("0",)},
        {"kept": None},
        {"extent": None},
        {"items": ()},
        {"items": (None,)},
    ],
    ids=str,
)
def test_of_a_store_of_somebody_else_s_no_part_of_a_fold_is_put_back(
    change: dict[str, Any],
) -> None:
    """Whatever it returns in place of what was saved."""

    class Store(MemoryStore):
        def load(self, key: str, fold_id: str) -> StoredFold | None:
            found = super().load(key, fold_id)
            return None if found is None else replace(found, **change)

    store = Store()
    items = folded(store, history())
    before = list(items)
    with records() as logged:
        assert later(items, store).undo().reason == "nothing_to_undo"
    assert items == before
    assert "so it is not put back" in logged[-1].getMessage()


@pytest.mark.parametrize("version", ["'abc'", "0", "-1", "1.5", "x'00'"])
def test_a_version_that_there_never_was_is_named(tmp_path: Path, version: str) -> None:
    SQLStore(tmp_path / "folds.db")
    damage(tmp_path / "folds.db", f"UPDATE chatfold_version SET version = {version}")
    with pytest.raises(StoreError, match="which there never was: restore the database"):
        SQLStore(tmp_path / "folds.db")


def test_tables_without_a_version_are_refused(tmp_path: Path) -> None:
    SQLStore(tmp_path / "folds.db")
    damage(tmp_path / "folds.db", "DELETE FROM chatfold_version")
    with pytest.raises(StoreError, match="version None, which there never was"):
        SQLStore(tmp_path / "folds.db")
