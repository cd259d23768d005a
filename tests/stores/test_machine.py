"""Any sequence of calls gives the same with every store."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from stores.drawn import KINDS, exact, fold, item

from chatfold.stores import MemoryStore, Store, StoredItem

KEYS = st.sampled_from(["one", "two", "\ud800"])
FOLDS = st.sampled_from(["a", "b", "c"])
TIMES = st.integers(0, 5).map(float)
CALLS = st.sampled_from(["c1", "c2", ""])
WORDS = st.sampled_from(["RMA-90721", "rma", "907", "café", "東京", "都", "foo", "foobar", "x_y"])
SAID = st.lists(WORDS, max_size=4).map(" ".join)
ITEMS = st.lists(st.tuples(SAID, st.lists(CALLS, max_size=2)), max_size=4)


def _said(found: list[StoredItem]) -> list[str]:
    """Return what was found without its place: equal items of two folds are one to the caller."""
    return sorted(repr((one.text, one.call_ids, one.item)) for one in found)


class Comparison(RuleBasedStateMachine):
    """Does the same to a store and to a `MemoryStore`."""

    kind = "fts5"

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.store: Store = KINDS[self.kind](self.directory / "folds.db")
        self.model = MemoryStore()

    def teardown(self) -> None:
        for key in ("one", "two", "\ud800"):
            self.read(key)
        shutil.rmtree(self.directory)

    @rule(key=KEYS, fold_id=FOLDS, created=TIMES, said=ITEMS)
    def save(self, key: str, fold_id: str, created: float, said: list[Any]) -> None:
        region = [item(n, text, *call_ids) for n, (text, call_ids) in enumerate(said)]
        saved = fold(*region, key=key, fold_id=fold_id, created=created)
        self.store.save(saved)
        self.model.save(saved)

    @rule(key=KEYS, fold_id=FOLDS)
    def discard(self, key: str, fold_id: str) -> None:
        self.store.discard(key, fold_id)
        self.model.discard(key, fold_id)

    @rule(key=KEYS)
    def erase(self, key: str) -> None:
        assert self.store.erase(key) == self.model.erase(key)

    @rule(before=TIMES)
    def expire(self, before: float) -> None:
        assert self.store.expire(before) == self.model.expire(before)

    @rule(key=KEYS, call_id=CALLS, limit=st.sampled_from([1, 3, 100]))
    def find_call(self, key: str, call_id: str, limit: int) -> None:
        found = self.store.find(key, call_id=call_id, limit=limit)
        expected = self.model.find(key, call_id=call_id, limit=limit)
        assert repr([(one, one.item) for one in found]) == repr(
            [(one, one.item) for one in expected]
        )

    @rule(key=KEYS, query=SAID, call_id=st.none() | CALLS)
    def find_words(self, key: str, query: str, call_id: str | None) -> None:
        found = self.store.find(key, query=query, call_id=call_id, limit=100)
        expected = self.model.find(key, query=query, call_id=call_id, limit=100)
        assert _said(found) == _said(expected)

    @rule(key=KEYS)
    def read(self, key: str) -> None:
        listed = self.store.folds(key)
        assert [exact(one) for one in listed] == [exact(one) for one in self.model.folds(key)]
        for one in listed:
            loaded = self.store.load(key, one.fold_id)
            assert exact(loaded) == exact(self.model.load(key, one.fold_id))


@pytest.mark.parametrize("kind", ["fts5", "scan"])
def test_any_sequence_of_calls_gives_the_same_as_in_memory(kind: str) -> None:
    machine = type("Comparison", (Comparison,), {"kind": kind})
    run_state_machine_as_test(  # type: ignore[no-untyped-call]  # hypothesis leaves it untyped
        machine, settings=settings(max_examples=30, stateful_step_count=20)
    )
