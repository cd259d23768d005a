"""What every store does alike for hosts that own their list: folds found by digest, and claims."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stores.drawn import KINDS, AnyStore, any_text, exact_host, fold, host_fold, host_folds

from chatfold import StoreError
from chatfold.stores import Claim, HostStore

KEY = "conversation"
NewStore = Callable[..., AnyStore]

_shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


# Folds


@_shared
@given(host_folds())
def test_a_host_fold_comes_back_exactly_as_it_was_put(store: AnyStore, drawn: Any) -> None:
    store.put(drawn)
    assert exact_host(store.longest(drawn.key, [drawn.digest])) == exact_host(drawn)


def test_the_longest_of_the_folds_with_one_of_the_digests_is_found(store: AnyStore) -> None:
    """Whatever the order in which they were put or are asked for."""
    for length in (40, 8, 96, 24):
        store.put(host_fold(length))
    asked = [f"first {length}" for length in range(51)]
    for order in (asked, asked[::-1], set(asked), tuple(asked), dict.fromkeys(asked)):
        assert store.longest(KEY, order) == host_fold(40)
    assert store.longest(KEY, asked[:24]) == host_fold(8)
    assert store.longest(KEY, asked[:8]) is None
    assert store.longest(KEY, asked[41:]) is None
    assert store.longest(KEY, []) is None


def test_of_folds_of_one_length_the_newest_is_found(store: AnyStore) -> None:
    """Among those of one time, the one that was put last."""
    for digest, created in (("a", 10.0), ("b", 30.0), ("c", 20.0), ("d", 30.0)):
        store.put(host_fold(5, digest=digest, created=created))
    assert store.longest(KEY, "abcd") == host_fold(5, digest="d", created=30.0)
    assert store.longest(KEY, "dcba") == host_fold(5, digest="d", created=30.0)
    assert store.longest(KEY, "ac") == host_fold(5, digest="c", created=20.0)
    store.put(host_fold(5, digest="b", created=30.0))
    assert store.longest(KEY, "abcd") == host_fold(5, digest="b", created=30.0)


def test_putting_again_replaces(store: AnyStore) -> None:
    store.put(host_fold(9))
    again = replace(host_fold(9), text="another", kept=(), base="first 3", details=None)
    store.put(again)
    assert store.longest(KEY, ["first 9"]) == again
    assert store.erase(KEY) == 1


def test_another_key_finds_nothing(store: AnyStore) -> None:
    """Also where the digests and everything else are the same."""
    store.put(host_fold(9, key="mine"))
    store.put(host_fold(4, key="other"))
    for key in ("other", "min", "mine ", "MINE", "", "\ud800"):
        found = store.longest(key, ["first 9", "first 4"])
        assert found == (host_fold(4, key="other") if key == "other" else None)
    assert store.erase("mine") == 1
    assert store.longest("other", ["first 4"]) is not None
    assert store.longest("mine", ["first 9"]) is None


@_shared
@given(host_folds(), any_text.filter(bool), st.booleans())
def test_no_key_ever_finds_the_fold_of_another(
    store: AnyStore, drawn: Any, other: str, joined: bool
) -> None:
    """Nor one whose key and digest are the same text with its parts divided elsewhere."""
    store.put(drawn)
    other = drawn.key + drawn.digest[:1] if joined else other
    if other != drawn.key:
        digests = {drawn.digest, drawn.digest[1:], drawn.key[-1:] + drawn.digest}
        before = store.longest(other, digests)
        assert before is None or before.key == other


def test_digests_that_no_fold_can_have_find_nothing(store: AnyStore) -> None:
    store.put(host_fold(9))
    odd = ["", "é", "\0", "\ud800", "x" * 100_000, "%", "first_9", "FIRST 9", "first 9 "]
    assert store.longest(KEY, odd) is None
    assert store.longest(KEY, [*odd, "first 9"]) == host_fold(9)
    assert store.longest(KEY, ["'); DROP TABLE chatfold_host_folds; --", '"', "\\", "{,}"]) is None


def test_a_long_history_is_looked_up_by_all_its_digests(store: AnyStore) -> None:
    """More of them than a statement takes parameters."""
    digests = [f"{n:032x}" for n in range(100_000)]
    store.put(host_fold(70_000, digest=digests[70_000]))
    store.put(host_fold(20_000, digest=digests[20_000]))
    for other in range(20):
        store.put(host_fold(99_000, digest=f"of another list {other}"))
    found = store.longest(KEY, digests)
    assert found is not None
    assert found.length == 70_000
    assert store.longest(KEY, digests[70_001:]) is None


def test_what_the_caller_changes_later_changes_no_host_fold(store: AnyStore) -> None:
    kept = [0, 2]
    put = replace(host_fold(9), kept=kept)
    store.put(put)
    put.summary["content"] = put.details["tokens"] = "edited"
    kept.clear()
    found = store.longest(KEY, ["first 9"])
    assert found == host_fold(9)
    found.summary.clear()
    found.details.clear()
    assert store.longest(KEY, ["first 9"]) == host_fold(9)


def _endless() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"summary": object()}, TypeError),
        ({"details": object()}, TypeError),
        ({"summary": _endless()}, ValueError),
        ({"text": b"bytes"}, TypeError),
        ({"key": ""}, ValueError),
        ({"key": None}, TypeError),
        ({"digest": ""}, ValueError),
        ({"digest": "é"}, ValueError),
        ({"digest": "a\n"}, ValueError),
        ({"digest": "x" * 201}, ValueError),
        ({"digest": b"x"}, TypeError),
        ({"base": ""}, ValueError),
        ({"length": -1}, ValueError),
        ({"length": 2**31}, ValueError),
        ({"created": float("nan")}, ValueError),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "-".join(value),
)
def test_a_host_fold_that_cannot_be_kept_is_refused(
    store: AnyStore, change: dict[str, Any], error: type[Exception]
) -> None:
    store.put(host_fold(9))
    with pytest.raises(error):
        store.put(replace(host_fold(9), **change))
    with pytest.raises(TypeError, match="takes a HostFold"):
        store.put(fold("text"))  # type: ignore[arg-type]  # what is refused
    assert store.longest(KEY, ["first 9"]) == host_fold(9)


def test_host_folds_expire_and_are_erased_with_the_others(new_store: NewStore) -> None:
    store = new_store()
    for key in (KEY, "another"):
        for created in (1.0, 2.0, 3.0):
            name = f"at {created}"
            store.put(host_fold(int(created), digest=name, key=key, created=created))
            store.save(fold(name, key=key, fold_id=name, created=created))
    assert store.expire(2.0) == 4
    assert store.longest(KEY, ["at 1.0"]) is None
    found = store.longest(KEY, ["at 1.0", "at 2.0", "at 3.0"])
    assert found is not None
    assert found.length == 3
    assert store.erase(KEY) == 4
    assert store.longest(KEY, ["at 2.0", "at 3.0"]) is None
    assert store.longest("another", ["at 2.0"]) is not None
    assert len(store.folds("another")) == 2


def test_a_put_drops_what_is_older_than_expire_after(new_store: NewStore) -> None:
    store = new_store(expire_after=3600)
    now = time.time()
    store.put(host_fold(1, created=now - 3700, key="another"))
    store.put(host_fold(2, created=now - 3000, key="another"))
    assert store.longest("another", ["first 1"]) is None
    store.put(host_fold(3, created=now))
    assert store.longest("another", ["first 1", "first 2"]) is not None
    store.save(fold("text", created=now - 3700))
    assert store.folds(KEY) == []


def test_without_originals_summaries_are_kept(new_store: NewStore) -> None:
    store = new_store(keep_originals=False)
    store.put(host_fold(9))
    assert store.longest(KEY, ["first 9"]) == host_fold(9)


# Claims


def test_only_one_gets_a_claim(store: AnyStore) -> None:
    claim = store.claim(KEY, "work", 60)
    assert isinstance(claim, Claim)
    assert store.claim(KEY, "work", 60) is None
    assert store.claim(KEY, "other work", 60) is not None
    assert store.claim("another", "work", 60) is not None
    store.release(claim)
    assert store.claim(KEY, "work", 60) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_that_ctrl_c_broke_off_is_nobody_s(kind: str, tmp_path: Path) -> None:
    """Behind the commit too: whoever would fold the conversation had to wait for its time."""
    options: dict[str, Any] = {} if kind == "memory" else {"timeout": 0.5}
    store, written = KINDS[kind](tmp_path / "folds.db", **options), False

    def broken_off(at: int) -> bool:
        """Interrupt the `at`-th return of a C function from the commit on; return if one was."""
        nonlocal written
        written, left = kind == "memory", at

        def profile(frame: FrameType, event: str, called: object) -> None:
            nonlocal written, left
            if event != "c_return":
                return
            written = written or getattr(called, "__name__", "") == "commit"
            left -= written
            if not left:
                sys.setprofile(None)
                raise KeyboardInterrupt

        sys.setprofile(profile)
        try:
            store.claim(KEY, f"work {at}", 60)
        except KeyboardInterrupt:
            return True
        finally:
            sys.setprofile(None)
        return False

    tries = 0
    for tries in count(1):
        if not broken_off(tries):
            break
        assert store.claim(KEY, f"work {tries}", 60) is not None, tries
    assert written
    assert tries > 5


def test_a_claim_whose_holder_died_is_free_after_its_time(store: AnyStore) -> None:
    claim = store.claim(KEY, "work", 0.1)
    assert claim is not None
    time.sleep(0.15)
    assert not store.renew(claim, 60)
    second = store.claim(KEY, "work", 60)
    assert second is not None
    store.release(claim)  # it comes back to life, too late
    assert not store.renew(claim, 60)
    assert store.claim(KEY, "work", 60) is None
    assert store.renew(second, 60)


def test_a_short_claim_of_another_takes_no_long_one(store: AnyStore) -> None:
    """However long it has to go, and however it was held for longer."""
    long, held = store.claim(KEY, "long work", 7200), store.claim(KEY, "work", 60)
    assert long is not None
    assert held is not None
    assert store.renew(held, 7200)
    for name in ("long work", "work"):
        assert store.claim(KEY, name, 60) is None
        assert store.claim(KEY, name, 1e-9) is None
    assert store.renew(long, 7200)
    assert store.renew(held, 7200)


def test_a_claim_can_be_held_for_longer(store: AnyStore) -> None:
    began = time.monotonic()
    for name in map(str, range(20)):  # a machine may stand still for longer than the claim holds
        claim = store.claim(KEY, name, 1.0)
        assert claim is not None
        if store.renew(claim, 60):
            break
    else:
        pytest.fail("no claim could be held for longer")
    time.sleep(1.05)
    assert time.monotonic() - began < 60
    assert store.claim(KEY, name, 60) is None
    assert store.renew(claim, 0.1)
    time.sleep(0.15)
    assert store.claim(KEY, name, 60) is not None


def test_erasing_a_key_frees_its_claims_and_no_others(store: AnyStore) -> None:
    mine, other = store.claim(KEY, "work", 60), store.claim("another", "work", 60)
    assert mine is not None
    assert other is not None
    assert store.erase(KEY) == 0
    assert not store.renew(mine, 60)
    assert store.renew(other, 60)
    assert store.claim(KEY, "work", 60) is not None


def test_expiring_folds_leaves_claims_that_are_held(store: AnyStore) -> None:
    held, dead = store.claim(KEY, "work", 60), store.claim(KEY, "dead", 1e-9)
    assert held is not None
    assert dead is not None
    assert store.expire(time.time() + 1000) == 0
    assert store.renew(held, 60)
    assert store.claim(KEY, "dead", 60) is not None


def test_a_claim_that_was_made_up_is_not_held(store: AnyStore) -> None:
    assert store.claim(KEY, "work", 60) is not None
    for made_up in (Claim(KEY, "work", ""), Claim(KEY, "none", ""), Claim(KEY, "work", "x" * 32)):
        assert not store.renew(made_up, 60)
        store.release(made_up)
    assert store.claim(KEY, "work", 60) is None


def test_renewing_with_the_token_of_another_key_is_refused(store: AnyStore) -> None:
    mine = store.claim(KEY, "work", 60)
    assert mine is not None
    assert not store.renew(replace(mine, key="another"), 60)
    store.release(replace(mine, key="another"))
    assert store.renew(mine, 60)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_claim_without_a_time_is_refused(store: AnyStore, seconds: float) -> None:
    with pytest.raises(ValueError, match="a claim needs more than 0 seconds"):
        store.claim(KEY, "work", seconds)
    claim = store.claim(KEY, "work", 60)
    assert claim is not None
    with pytest.raises(ValueError, match="a claim needs more than 0 seconds"):
        store.renew(claim, seconds)


@pytest.mark.parametrize(("key", "digest"), [("", "x"), (KEY, ""), (KEY, "é"), (KEY, "x" * 201)])
def test_a_claim_of_nothing_is_refused(store: AnyStore, key: str, digest: str) -> None:
    with pytest.raises(ValueError, match="must"):
        store.claim(key, digest, 60)


def test_of_many_threads_one_gets_the_claim(store: AnyStore) -> None:
    """And those that do not get it are told so at once, not when it is free."""
    ready = threading.Barrier(20)
    won: list[Claim] = []
    longest: list[float] = []

    def work() -> None:
        store.longest(KEY, ["warm"])
        ready.wait()
        start = time.monotonic()
        claim = store.claim(KEY, "work", 60)
        longest.append(time.monotonic() - start)
        if claim is not None:
            won.append(claim)

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert len(longest) == 20
    assert max(longest) < 4  # a machine under load; the claim is held for 60 seconds


def test_neither_repr_shows_what_was_said(store: AnyStore) -> None:
    put = host_fold(9)
    store.put(put)
    claim = store.claim(KEY, "work", 60)
    assert claim is not None
    said = f"{put} {store.longest(KEY, ['first 9'])} {claim} {store}"
    assert "summary of" not in said
    assert claim.token not in said


def test_every_store_is_one_for_hosts_by_the_protocol(store: AnyStore) -> None:
    assert isinstance(store, HostStore)


# The end


def test_a_closed_store_gives_up_its_claims_and_does_nothing_more(store: AnyStore) -> None:
    """So that one kind can stand in for another; `with` closes it too, and twice is no error."""
    with store as same:
        assert same is store
        store.save(fold("words"))
        store.put(host_fold(1))
        claim = store.claim(KEY, "work", 60)
        other = store.claim(KEY, "other", 60)
        assert claim is not None
        assert other is not None
        store.release(other)
    store.close()
    calls: list[Callable[[], object]] = [
        lambda: store.save(fold("words")),
        lambda: store.load(KEY, "first"),
        lambda: store.folds(KEY),
        lambda: store.discard(KEY, "first"),
        lambda: store.find(KEY, query="words"),
        lambda: store.erase(KEY),
        lambda: store.expire(0.0),
        lambda: store.put(host_fold(1)),
        lambda: store.longest(KEY, [host_fold(1).digest]),
        lambda: store.claim(KEY, "work", 60),
        lambda: store.renew(claim, 60),
        lambda: store.release(other),
    ]
    for call in calls:
        with pytest.raises(StoreError, match="is closed"):
            call()
    store.release(claim)  # by a fold that has ended since
    assert "Store(" in repr(store)
