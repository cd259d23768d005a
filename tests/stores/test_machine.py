"""Any sequence of calls gives the same with every store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from stores.drawn import AnyStore, exact, exact_host, fold, host_fold, item

from chatfold.stores import Claim, MemoryStore, StoredItem

KEYS = st.sampled_from(["one", "two", "\ud800"])
FOLDS = st.sampled_from(["a", "b", "c"])
TIMES = st.integers(0, 5).map(float)
CALLS = st.sampled_from(["c1", "c2", ""])
WORDS = st.sampled_from(["RMA-90721", "rma", "907", "café", "東京", "都", "foo", "foobar", "x_y"])
SAID = st.lists(WORDS, max_size=4).map(" ".join)
DIGESTS = st.sampled_from(["d1", "d2", "d3", "work"])
LEASES = st.sampled_from([1e-9, 1000.0])  # it is over at once, or lasts
ITEMS = st.lists(st.tuples(SAID, st.lists(CALLS, max_size=2)), max_size=4)


def _said(found: list[StoredItem]) -> list[str]:
    """Return what was found without its place: equal items of two folds are one to the caller."""
    return sorted(repr((one.text, one.call_ids, one.item)) for one in found)


class Comparison(RuleBasedStateMachine):
    """Does the same to a store and to a `MemoryStore`."""

    def __init__(self, store: AnyStore) -> None:
        super().__init__()
        self.store = store
        self.model = MemoryStore(max_bytes=None)
        self.claims: list[tuple[Claim, Claim]] = []
        for key in ("one", "two", "\ud800"):
            store.erase(key)

    def teardown(self) -> None:
        for key in ("one", "two", "\ud800"):
            self.read(key)

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

    @rule(key=KEYS, digest=DIGESTS, length=st.integers(0, 3), created=TIMES)
    def put(self, key: str, digest: str, length: int, created: float) -> None:
        made = host_fold(length, digest=digest, key=key, created=created)
        self.store.put(made)
        self.model.put(made)

    @rule(key=KEYS, digests=st.lists(DIGESTS))
    def longest(self, key: str, digests: list[str]) -> None:
        found, expected = self.store.longest(key, digests), self.model.longest(key, digests)
        assert (found is None) == (expected is None)
        if expected is not None:
            assert exact_host(found) == exact_host(expected)

    @rule(key=KEYS, digest=DIGESTS, seconds=LEASES)
    def claim(self, key: str, digest: str, seconds: float) -> None:
        made, expected = (
            self.store.claim(key, digest, seconds),
            self.model.claim(key, digest, seconds),
        )
        assert (made is None) == (expected is None)
        if made is not None and expected is not None:
            self.claims.append((made, expected))

    @rule(which=st.integers(0, 9), seconds=LEASES)
    def renew(self, which: int, seconds: float) -> None:
        for made, expected in self.claims[which : which + 1]:
            assert self.store.renew(made, seconds) == self.model.renew(expected, seconds)

    @rule(which=st.integers(0, 9))
    def release(self, which: int) -> None:
        for made, expected in self.claims[which : which + 1]:
            self.store.release(made)
            self.model.release(expected)


def test_any_sequence_of_calls_gives_the_same_as_in_memory(
    new_store: Callable[..., AnyStore],
) -> None:
    """One store serves all sequences; each begins by erasing what the last one left."""
    store = new_store()
    run_state_machine_as_test(  # type: ignore[no-untyped-call]  # hypothesis leaves it untyped
        lambda: Comparison(store), settings=settings(max_examples=30, stateful_step_count=20)
    )
