"""When a fold that failed, or that found nothing to do, may be tried again."""

from __future__ import annotations

from typing import Any

from chatfold import Outcome
from chatfold.core.reach import Reach
from chatfold.waits import Tried, Waits

BACKOFF = 60.0  # seconds


REACH = Reach(5_000, 3_000)


def tried(wanted: object, *rest: object) -> Tried:
    """Return what a list of 10,000 tokens was tried with, half of which no fold could take."""
    return Tried(wanted, 2_000, 10_000, REACH, rest)


def still(
    waits: Waits, size: int, wanted: object, *rest: object, reach: Reach = REACH
) -> Outcome[Any] | None:
    kept: list[int] = []

    def reach_of(keep: int) -> Reach:
        kept.append(keep)
        return reach

    found = waits.still_nothing(size, wanted, lambda: rest, reach_of)
    assert kept in ([], [2_000])
    return found


class Clock:
    """A time that tests set, and a head of so many tokens."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.head = 10_000

    def waits(self) -> Waits:
        return Waits(lambda: self.head, BACKOFF, lambda: self.now)


def test_a_fold_ends_all_waits_but_one_without_a_model_not_the_models() -> None:
    waits = Clock().waits()
    waits.failed(in_store=True)
    waits.found_nothing(Outcome(changed=False, reason="no_gain"), tried(None))
    assert waits.waits()
    assert waits.waits_without_model()
    waits.folded(by_model=False)
    assert waits.waits()
    assert not waits.waits_without_model()
    assert still(waits, 10_000, None) is None
    waits.folded(by_model=True)
    assert not waits.waits()


def test_each_failure_waits_longer_unless_more_has_come() -> None:
    clock = Clock()
    waits = clock.waits()
    for seconds in (BACKOFF, 2 * BACKOFF, 4 * BACKOFF):
        waits.failed(in_store=False)
        clock.now += seconds - 1
        assert waits.waits()
        clock.now += 1
        assert not waits.waits()
    waits.failed(in_store=False)
    assert "the next is in 480 s, or when 2,500 more tokens have come" in waits.remedy()
    clock.head = 12_500
    assert not waits.waits()


def test_what_found_nothing_holds_for_the_same_and_a_size_that_is_about_the_same() -> None:
    clock = Clock()
    waits = clock.waits()
    waits.found_nothing(Outcome(changed=False, reason="too_few_turns"), tried("keep", 3))
    told = still(waits, 10_100, "keep", 3)
    assert told is not None
    assert (told.reason, told.tokens_before, told.tokens_after) == ("too_few_turns", 10_100, 10_100)
    assert still(waits, 10_100, None, 3) is not None
    assert still(waits, 10_100, "other", 3) is None
    assert still(waits, 10_100, "keep", 4) is None
    assert still(waits, 11_000, "keep", 3) is None
    clock.now += BACKOFF
    assert still(waits, 10_100, "keep", 3) is None


def test_what_found_nothing_holds_until_a_fold_could_take_a_sixteenth_more() -> None:
    """Of the list, though that has hardly grown: what had to stay is no longer the last."""
    waits = Clock().waits()
    waits.found_nothing(Outcome(changed=False, reason="no_gain"), tried("keep"))
    assert still(waits, 10_100, "keep", reach=Reach(5_624, 3_624)) is not None
    assert still(waits, 10_100, "keep", reach=Reach(5_625, 3_000)) is None
    assert still(waits, 10_100, "keep", reach=Reach(5_000, 3_625)) is None
    assert still(waits, 10_100, "keep", reach=Reach(0, 0)) is not None


def test_it_is_looked_elsewhere_once_a_second_while_a_failure_waits() -> None:
    clock = Clock()
    waits = clock.waits()
    assert not waits.looks_elsewhere()
    waits.failed(in_store=False)
    assert [waits.looks_elsewhere() for _ in range(3)] == [True, False, False]
    clock.now += 1
    assert waits.looks_elsewhere()
