"""`MemoryStore`: how much it holds, and what it drops first."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from secrets import token_hex

import pytest
from heap import holds
from logs import records
from stores.drawn import fold, host_fold, item, texts

from chatfold import ChatContext, Policy, StoreError
from chatfold.stores import MemoryStore
from chatfold.stores._recent import Recent

KEY = "conversation"
KILOBYTE = "x" * 1000


def _there(store: MemoryStore) -> list[str]:
    return [one.fold_id for one in store.folds(KEY)]


def test_what_was_not_used_for_longest_is_dropped_first() -> None:
    """Used is what was written, loaded, found or asked for."""
    store = MemoryStore(max_bytes=20_000)
    for name in "abc":
        store.save(fold(KILOBYTE, key=name, fold_id=name))  # the text, its words and its JSON
        store.put(host_fold(1, digest=name, key=name))
    assert store.load("a", "a") is not None
    assert store.find("b", query="nothing") == []
    assert store.longest("c", ["c"]) is not None
    for number in range(3):
        store.save(fold(KILOBYTE, fold_id=str(number)))
    assert store.longest("a", ["a"]) is None
    assert store.longest("b", ["b"]) is None
    assert store.load("c", "c") is None
    assert store.longest("c", ["c"]) is not None
    assert store.load("a", "a") is not None
    assert store.load("b", "b") is not None
    assert _there(store) == ["0", "1", "2"]


def test_a_closed_store_holds_nothing() -> None:
    mark = "zq" + token_hex(8)
    with MemoryStore() as store:
        store.save(fold(mark))
        assert holds(store, mark)
    assert not holds(store, mark)
    assert repr(store) == "MemoryStore(closed)"


def test_a_context_goes_on_without_its_closed_store() -> None:
    """As with any store that fails: a policy's fold reports it, and the turn goes on."""
    with MemoryStore() as store:
        pass
    items = [{"role": "user", "content": f"{n} " + "word " * 99} for n in range(9)]
    items = [one for n in items for one in (n, {"role": "assistant", "content": "yes"})]
    ctx = ChatContext(items, policy=Policy(max_tokens=300, keep_tokens=100), store=store, key=KEY)
    assert isinstance(ctx.maybe_summarize("extractive").error, StoreError)
    with pytest.raises(StoreError, match="is closed"):
        ctx.summarize("extractive", keep_last_turns=1)


def test_a_fold_that_is_larger_than_all_is_kept_alone() -> None:
    store = MemoryStore(max_bytes=5_000)
    store.save(fold("small", fold_id="small"))
    store.save(fold(KILOBYTE * 9, fold_id="large"))
    assert _there(store) == ["large"]
    assert len(store.find(KEY, query=KILOBYTE)) == 1
    store.save(fold("small", fold_id="small"))
    assert _there(store) == ["small"]


def test_what_is_replaced_or_removed_makes_room() -> None:
    store = MemoryStore(max_bytes=12_000)
    for _ in range(50):
        store.save(fold(KILOBYTE, fold_id="same"))
        store.put(replace(host_fold(1), text=KILOBYTE))
    for number in range(50):
        store.save(fold(KILOBYTE, fold_id=f"discarded {number}"))
        store.discard(KEY, f"discarded {number}")
        store.save(fold(KILOBYTE, key="erased"))
        store.erase("erased")
        store.save(fold(KILOBYTE, key="expired", created=1.0))
        store.expire(2.0)
    assert _there(store) == ["same"]
    assert store.longest(KEY, ["first 1"]) is not None


def test_the_first_loss_is_logged_once_and_without_content() -> None:
    store = MemoryStore(max_bytes=4_000)
    with records() as logged:
        for number in range(20):
            store.save(fold("secret " * 100, fold_id=str(number)))
    said = [record.getMessage() for record in logged]
    assert said == ["MemoryStore(max_bytes=4000) is full: what was not used for longest is dropped"]
    assert logged[0].levelname == "WARNING"


def test_the_bound_is_about_the_memory_that_is_taken() -> None:
    """Ten times as much is saved as it may hold; what it takes stays near the bound."""
    tracemalloc.start()
    try:
        store = MemoryStore(max_bytes=1_000_000)
        for number in range(400):
            store.save(
                fold(
                    *(item(n, f"text {n} of {number} " * 20, f"call {n}") for n in range(20)),
                    fold_id=str(number),
                )
            )
            store.put(host_fold(number, key=f"key {number}"))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 5 < len(store.folds(KEY)) < 100
    assert 300_000 < taken < 3_000_000


def test_a_sign_of_four_bytes_counts_as_such() -> None:
    """It makes every character of its text take four."""
    tracemalloc.start()
    try:
        store = MemoryStore(max_bytes=1_000_000)
        for number in range(400):
            said = f"\U0001f600 {number} " + "word " * 1000
            store.put(replace(host_fold(number, key=f"key {number}"), text=said))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 300_000 < taken < 2_000_000


def test_without_a_bound_all_is_kept() -> None:
    store = MemoryStore(max_bytes=None)
    for number in range(100):
        store.save(fold(KILOBYTE, fold_id=str(number)))
    assert len(store.folds(KEY)) == 100
    assert texts(store.find(KEY, query=KILOBYTE)) == [KILOBYTE]


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_that_means_nothing_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="max_bytes must be more than 0"):
        MemoryStore(max_bytes=bound)
    with pytest.raises(TypeError, match="max_bytes must be a number, not '1'"):
        MemoryStore(max_bytes="1")  # type: ignore[arg-type]


def test_what_is_old_goes_by_age_even_where_it_was_used() -> None:
    store = MemoryStore()
    for created in (5.0, 1.0, 3.0):
        store.save(fold("text", fold_id=str(created), created=created))
    assert store.expire(2.0) == 1
    assert store.load(KEY, "3.0") is not None
    assert store.expire(2.0) == 0
    store.save(fold("text", fold_id="1.0", created=1.0))
    assert store.expire(4.0) == 2
    assert _there(store) == ["5.0"]
    assert store.expire(6.0) == 1
    assert repr(store) == "MemoryStore(0 folds)"


class _Aged:
    """An entry that counts how often its age is asked for."""

    size = 1
    asked = 0

    def __init__(self, created: float) -> None:
        self._created = created

    @property
    def created(self) -> float:
        _Aged.asked += 1
        return self._created


class _Key(str):
    """A key that counts how often it is compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _Key.compared += 1
        return str.__eq__(self, other)


def _filled(number: int) -> Recent:
    held = Recent(None)
    for index in range(number):
        held.put(_Aged, f"key {index}", "only", _Aged(float(index)))
    return held


def test_what_a_save_costs_by_which_others_expire_does_not_depend_on_their_number() -> None:
    """All other threads wait meanwhile."""
    costs: list[int] = []
    for number in (100, 2_000):
        held = _filled(number)
        _Aged.asked = 0
        for index in range(50):
            held.put(_Aged, "new", str(index), _Aged(float(number)))
            assert held.pop_before(index + 1.0) == 1
        costs.append(_Aged.asked)
        assert len(held) == number
    assert costs[0] == costs[1]


def test_what_it_costs_to_erase_a_key_does_not_depend_on_the_number_of_keys() -> None:
    costs: list[int] = []
    for number in (100, 2_000):
        held = _filled(number)
        _Key.compared = 0
        assert held.pop_key(_Key("key 7")) == 1
        assert held.pop_key(_Key("none")) == 0
        costs.append(_Key.compared)
    assert costs[0] == costs[1]


def test_an_entry_that_is_put_again_expires_with_its_own_age() -> None:
    """However often it was put again, nothing of that is kept."""
    held = Recent(None)
    for number in range(1_000):
        held.put(_Aged, "key", "only", _Aged(float(number % 10)))
    assert held.pop_before(9.0) == 0
    held.put(_Aged, "key", "only", _Aged(3.0))
    for number in range(1_000):
        held.put(_Aged, "gone", str(number), _Aged(float(number)))
        assert held.pop_key("gone") == 1
    assert len(held._ages) < 200  # pyright: ignore[reportPrivateUsage] - nobody else can tell
    assert (held.pop_before(3.0), held.pop_before(4.0), len(held)) == (0, 1, 0)


class _Interrupting(_Aged):
    """An entry at which Ctrl-C comes, the first time that its size is asked for."""

    interrupts = True

    @property
    def size(self) -> int:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]
        if self.interrupts:
            self.interrupts = False
            raise KeyboardInterrupt
        return 1


def test_what_was_there_at_an_interrupt_still_expires() -> None:
    """The entry that was being put, too."""
    held = _filled(3)
    with pytest.raises(KeyboardInterrupt):
        held.put(_Aged, "key 9", "only", _Interrupting(9.0))
    assert (held.pop_before(2.0), len(held)) == (2, 2)
    assert (held.pop_before(10.0), len(held)) == (2, 0)
