"""What is found once for each object: when it is asked, where it stands, who waits for whom."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from test_middleware_forked import LONG, in_child

from chatfold.core.once import once


class Counted:
    """Says how often it was asked."""

    asked = 0

    @once
    def times(self) -> int:
        """How often."""
        self.asked += 1
        return self.asked


@dataclass(frozen=True)
class Frozen:
    """Whose attributes nobody may set."""

    name: str

    @once
    def loud(self) -> list[str]:
        return [self.name.upper()]


def test_each_object_is_asked_once() -> None:
    first, second = Counted(), Counted()
    second.asked = 6
    assert [first.times, first.times, second.times, first.times] == [1, 1, 7, 1]


def test_a_frozen_object_is_asked_as_well() -> None:
    one = Frozen("ada")
    assert one.loud == ["ADA"]
    assert one.loud is one.loud
    assert one == Frozen("ada")


def put_as_attribute(one: Any) -> None:
    one.times = 40


def put_in_dict(one: Any) -> None:
    vars(one)["times"] = 40


@pytest.mark.parametrize("put", [put_as_attribute, put_in_dict])
def test_what_others_put_there_stands_until_it_is_deleted(put: Callable[[Any], None]) -> None:
    one = Counted()
    put(one)
    assert (one.times, one.asked) == (40, 0)
    del vars(one)["times"]
    assert (one.times, one.asked) == (1, 1)


def test_the_class_shows_what_it_is_and_what_it_says() -> None:
    assert isinstance(Counted.times, once)
    assert Counted.times.__doc__ == "How often."


def test_it_stands_by_the_name_that_the_class_gives_it() -> None:
    class Named:
        other = once(lambda self: object())

    one = Named()
    assert one.other is vars(one)["other"]


class Slow:
    """Is asked for as long as anybody waits, by the thread that asks first."""

    def __init__(self) -> None:
        self.at_work, self.may_end = threading.Event(), threading.Event()

    @once
    def found(self) -> object:
        if not self.at_work.is_set():
            self.at_work.set()
            assert self.may_end.wait(LONG)
        return object()


def test_no_thread_waits_for_another_and_all_have_what_was_there_first() -> None:
    slow, later = Slow(), list[object]()
    other = threading.Thread(target=lambda: later.append(slow.found))
    other.start()
    assert slow.at_work.wait(LONG)
    first = slow.found  # would wait for the other thread, which is let on below
    slow.may_end.set()
    other.join(LONG)
    assert later == [first]
    assert slow.found is first


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent() -> None:
    """It has none of them: the lock of `functools.cached_property` in 3.11 would stay shut."""
    slow, another = Slow(), Slow()
    another.at_work.set()
    other = threading.Thread(target=lambda: slow.found)
    other.start()
    assert slow.at_work.wait(LONG)

    def work() -> None:
        assert another.found is another.found
        assert slow.found is slow.found

    ended = in_child(work)
    slow.may_end.set()
    other.join()
    assert ended == 0
