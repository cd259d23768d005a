"""The store of a filter that was given none: as many conversations as `sessions` says."""

from __future__ import annotations

import pytest
from stores.drawn import host_fold

from chatfold.integrations._openai_agents.own_store import OwnStore
from chatfold.stores import HostFold

ALL = 40  # folds of one conversation


def chain(key: str, name: str, *lengths: int, base: str | None = None) -> list[HostFold]:
    """Return folds of folds."""
    made: list[HostFold] = []
    for length in lengths:
        made.append(host_fold(length, key=key, digest=f"{name} {length}", base=base))
        base = made[-1].digest
    return made


def filled(most: int, *folds: HostFold) -> OwnStore:
    store = OwnStore(most)
    for fold in folds:
        store.put(fold)
    return store


def there(store: OwnStore, *folds: HostFold) -> list[bool]:
    """Return which folds are there; who asks for the longest uses it."""
    held = {(key, digest) for _, key, digest in store._entries.names()}
    return [(fold.key, fold.digest) in held for fold in folds]


def test_a_conversation_that_was_folded_often_puts_no_other_out() -> None:
    short, long = chain("a", "a", 4), chain("b", "b", *range(1, ALL))
    store = filled(2, *short, *long)
    assert all(there(store, *short, *long))


@pytest.mark.parametrize("key", ["c", "a"], ids=["named", "of one name"])
def test_the_one_used_longest_ago_goes_with_all_its_folds(key: str) -> None:
    """Also where a name stands for several: they are told apart by what their folds go back to."""
    first, second, third = chain("a", "x", 4, 8), chain(key, "y", 4, 8), chain(key, "z", 4)
    store = filled(2, *first, *second)
    assert store.longest("a", ["x 8"]) is not None
    store.put(third[0])
    assert there(store, *first, *second, *third) == [True, True, False, False, True]


def test_what_an_older_branch_goes_back_to_stays_for_the_newer_one() -> None:
    trunk = chain("a", "x", 4, 8)
    old, new = chain("a", "old", 12, base="x 8"), chain("a", "new", 12, base="x 8")
    store = filled(1, *trunk, *old, *new)
    assert there(store, *trunk, *old, *new) == [True, True, False, True]


def test_of_many_conversations_a_few_more_stay_until_all_are_looked_through() -> None:
    folds = [chain(str(number), "x", 4)[0] for number in range(100)]
    held = there(filled(32, *folds), *folds)
    assert all(held[-32:])
    assert sum(held) <= 34


def test_of_branches_that_go_back_to_a_fold_in_use_the_older_one_goes() -> None:
    trunk, other = chain("a", "x", 4), chain("b", "y", 4)
    branches = [f for n in range(8) for f in chain("a", f"branch {n}", 8, base="x 4")]
    store = filled(8, *trunk, *branches)
    assert store.longest("a", ["x 4"]) is not None
    store.put(other[0])
    assert there(store, *trunk, *branches, *other) == [True, False, *[True] * 8]


def test_a_conversation_that_went_back_is_as_new_as_the_fold_that_it_uses() -> None:
    """The later ones of it are not asked for until it has come as far again."""
    gone_back, other, newest = chain("a", "x", 4, 8), chain("b", "y", 4), chain("c", "z", 4)
    store = filled(2, *gone_back, *other)
    assert store.longest("a", ["x 4"]) is not None
    store.put(newest[0])
    assert there(store, *gone_back, *other, *newest) == [True, True, False, True]


@pytest.mark.parametrize(("most", "error"), [(0, ValueError), (True, TypeError), (2.5, TypeError)])
def test_a_number_that_is_none_is_refused(most: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="sessions must be"):
        OwnStore(most)
