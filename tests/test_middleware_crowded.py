"""`Middleware` with more conversations than it holds ready: each fold is paid for once."""

from __future__ import annotations

import gc
import itertools
import logging
import marshal
import os
import threading
import weakref
from typing import Any

import pytest
from background import wait_until
from laws import Weightless
from test_middleware import SMALL, Teller, middleware, talk
from test_middleware_forked import in_child

from chatfold import Policy, Prompt
from chatfold.events import FoldEvent
from chatfold.past_folds import PastFolds
from chatfold.regions import Region

ROOMY = Policy(max_items=20, keep_last_turns=1, min_gain=0.0)
PAST = 10  # folds of others that are kept for each conversation that is held ready
BRANCHES = 64  # that are held of one name and one opening


class Gate:
    """A model that answers when it may."""

    def __init__(self) -> None:
        self.open, self.asked, self._numbers = threading.Event(), 0, itertools.count(1)

    def __call__(self, prompt: Prompt) -> str:
        self.asked = next(self._numbers)
        assert self.open.wait(20)
        return "what happened before"


def hosts_of(count: int, first: int = 0) -> list[list[dict[str, Any]]]:
    return [talk(20, 1_000 * number) for number in range(first, first + count)]


def are_written(wrapper: Any) -> bool:
    """Return whether no model is at work for what is held."""
    sessions = wrapper._turns._sessions
    held = [*sessions._used, *sessions._spared]
    return all(session.background is None or session.background.done for session in held)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


@pytest.mark.parametrize("named", [True, False])
def test_each_of_many_is_summarized_once(named: bool, caplog: pytest.LogCaptureFixture) -> None:
    teller, hosts = Teller(), hosts_of(12)
    wrapper = middleware(teller, ROOMY, sessions=3)
    for turn in range(4):
        for number, host in enumerate(hosts):
            folded = wrapper.fold(host, key=f"c{number}" if named else None)
            assert folded.outcome.reason == ("reused" if turn else "summarized")
            assert len(folded.items) < len(host)
            host += talk(1, 1_000 * number + 500 + turn, words=1)
    assert len(teller.prompts) == len(hosts)
    assert said(caplog) == []


def test_who_is_not_held_goes_on_from_its_last_fold() -> None:
    teller, hosts = Teller(), hosts_of(3)
    wrapper = middleware(teller, sessions=1)
    for number, host in enumerate(hosts):
        wrapper.fold(host, key=f"c{number}")
        host += talk(20, 1_000 * number + 500)
    for number, host in enumerate(hosts):
        assert wrapper.fold(host, key=f"c{number}").outcome.reason == "summarized"
        assert teller.prompts[-1].previous_summary == f"what happened before, part {number + 1}"


def test_what_is_being_written_is_not_given_up(caplog: pytest.LogCaptureFixture) -> None:
    """Its conversation is held beyond the number, and told what came of it."""
    gate, hosts = Gate(), hosts_of(6)
    wrapper = middleware(gate, background=True, sessions=3)
    for host in hosts:
        assert wrapper.fold(host).outcome.reason == "started"
    for host in hosts:
        assert wrapper.fold(host).outcome.reason == "running"
    gate.open.set()
    wait_until(lambda: are_written(wrapper))
    for host in hosts:
        assert wrapper.fold(host).outcome.reason == "summarized"
    for host in hosts:
        assert wrapper.fold(host).outcome.reason == "reused"
    assert gate.asked == len(hosts)
    assert said(caplog) == []


def test_who_waits_for_the_model_in_its_turn_stays(caplog: pytest.LogCaptureFixture) -> None:
    gate, [host] = Gate(), hosts_of(1)
    wrapper = middleware(gate, sessions=1)
    turn = threading.Thread(target=wrapper.fold, args=(host,))
    turn.start()
    wait_until(lambda: gate.asked == 1)
    for number in range(3):
        wrapper.fold(talk(1, 9_000 + number))
    gate.open.set()
    turn.join(20)
    assert wrapper.fold(host).outcome.reason == "reused"
    assert gate.asked == 1
    assert said(caplog) == []


def test_what_is_written_is_put_in_when_its_conversation_makes_room(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And told of; however few are held."""
    told: list[str] = []

    def hook(event: FoldEvent) -> None:
        told.append(event.kind)

    teller, hosts = Teller(), hosts_of(10)
    wrapper = middleware(teller, background=True, sessions=1, on_event=hook)
    for host in hosts:
        assert wrapper.fold(host).outcome.reason == "started"
        wait_until(lambda: are_written(wrapper))
    reasons = [wrapper.fold(host).outcome.reason for host in hosts]
    assert reasons == [*["reused"] * 9, "summarized"]  # the last one is held, and told by that
    assert len(teller.prompts) == len(hosts)
    assert (told.count("after"), told.count("skipped")) == (10, 0)
    assert said(caplog) == []


def test_what_is_given_up_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    gate, hosts = Gate(), hosts_of(8)
    wrapper = middleware(gate, background=True, sessions=2)
    for host in hosts:
        assert said(caplog) == [] or host in hosts[5:]
        assert wrapper.fold(host).outcome.reason == "started"
    gate.open.set()
    [warning] = said(caplog)
    assert "sessions=2" in warning
    assert "pass store=" in warning


def test_what_a_later_fold_stands_for_is_no_loss() -> None:
    first, second, other, last = (Region(d, 1, (), d) for d in ("a1", "a2", "b", "c"))
    past = PastFolds(2)
    assert not past.put("a", [first])
    assert not past.put("a", [first, second])
    assert not past.put("b", [other]), "the first of a's goes"
    assert past.put("c", [last])


def test_of_those_that_are_not_held_the_one_used_longest_ago_goes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    teller, hosts = Teller(), hosts_of(PAST + 1)
    wrapper = middleware(teller, sessions=1)
    for host in hosts[:-1]:
        assert wrapper.fold(host).outcome.reason == "summarized"
    assert wrapper.fold(hosts[0]).outcome.reason == "reused"
    assert said(caplog) == []
    for host in (hosts[-1], *hosts_of(1, 100)):
        assert wrapper.fold(host).outcome.reason == "summarized"
    assert len(said(caplog)) == 1
    reasons = [wrapper.fold(host).outcome.reason for host in (hosts[0], hosts[1])]
    assert reasons == ["reused", "summarized"]
    assert len(said(caplog)) == 1


def test_one_that_is_folded_often_puts_no_other_out() -> None:
    teller, hosts, often = Teller(), hosts_of(PAST - 1), talk(20, 90_000)
    wrapper = middleware(teller, sessions=1)
    for host in hosts:
        wrapper.fold(host)
    for turn in range(2 * PAST):
        assert wrapper.fold(often).outcome.reason == "summarized"
        wrapper.fold(talk(1, 95_000))
        often += talk(20, 90_100 + 100 * turn)
    assert [wrapper.fold(host).outcome.reason for host in hosts] == ["reused"] * len(hosts)


def test_no_conversation_finds_what_was_folded_under_another_key() -> None:
    teller, [host, other] = Teller(), hosts_of(2)
    wrapper = middleware(teller, sessions=1)
    for items, key in ((host, "a"), (other, "a")):
        wrapper.fold(items, key=key)
    others: tuple[str | None, ...] = ("b", None)
    for name in others:
        assert wrapper.fold(host, key=name).outcome.reason == "summarized"
    assert wrapper.fold(host, key="a").outcome.reason == "reused"


def test_what_was_edited_is_summarized_anew() -> None:
    teller, [host, other] = Teller(), hosts_of(2)
    wrapper = middleware(teller, sessions=1)
    wrapper.fold(host, key="a")
    wrapper.fold(other, key="b")
    host[0] = {**host[0], "content": "I never said that. " * 10}
    assert wrapper.fold(host, key="a").outcome.reason == "summarized"


def test_what_is_forgotten_is_not_found_again() -> None:
    teller, hosts = Teller(), hosts_of(3)
    wrapper = middleware(teller, sessions=1)
    for number, host in enumerate(hosts):
        wrapper.fold(host, key=f"c{number}")
    wrapper.forget("c0")
    reasons = [wrapper.fold(host, key=f"c{n}").outcome.reason for n, host in enumerate(hosts)]
    assert reasons == ["summarized", "reused", "reused"]


def test_what_is_forgotten_while_it_makes_room_is_not_kept() -> None:
    """Another thread forgets it between the two; here what looks at the size of the list."""
    forgets: list[str] = []

    class Counter(Weightless):
        def count(self, text: str) -> int:
            if forgets and is_making_room():
                wrapper.forget(forgets.pop())
            return super().count(text)

    def is_making_room() -> bool:
        sessions = wrapper._turns._sessions
        return len(sessions._named) == 2 and "a" not in sessions._named

    hosts = hosts_of(3)
    wrapper = middleware(Teller(), background=True, sessions=1, counter=Counter())
    for host, key in zip(hosts, "ab", strict=False):
        wrapper.fold(host, key=key)
        wait_until(lambda: are_written(wrapper))
    forgets.append("a")
    wrapper.fold(hosts[2], key="c")
    assert not forgets
    assert wrapper.fold(hosts[0], key="a").outcome.reason == "started"


def test_one_whose_fold_failed_is_left_alone_as_before() -> None:
    asked: list[Prompt] = []

    def failing(prompt: Prompt) -> str:
        asked.append(prompt)
        raise OSError("no route")

    wrapper, [host] = middleware(failing, sessions=1, retries=0), hosts_of(1)
    assert wrapper.fold(host).outcome.reason == "failed"
    wrapper.fold(talk(1, 9_000))
    wrapper.fold(talk(1, 8_000))
    assert wrapper.fold(host).outcome.reason == "unchanged_head"
    assert len(asked) == 1


def test_of_those_that_open_alike_none_that_is_written_is_given_up() -> None:
    gate, count = Gate(), BRANCHES + 6
    wrapper = middleware(gate, background=True)
    hosts = [[*talk(1, 5), *talk(20, 1_000 * n)] for n in range(count)]
    for host in hosts:
        assert wrapper.fold(host).outcome.reason == "started"
    gate.open.set()
    wait_until(lambda: are_written(wrapper))
    assert [wrapper.fold(host).outcome.reason for host in hosts] == ["summarized"] * count
    assert [wrapper.fold(host).outcome.reason for host in hosts] == ["reused"] * count
    assert gate.asked == count


class Item(dict[str, Any]):
    """A message of which it is known whether it is still held."""


@pytest.mark.parametrize("background", [False, True])
def test_of_what_is_not_held_no_item_is(background: bool) -> None:
    """Twice as many at most, whatever is under way."""
    gate, refs = Gate(), list[weakref.ref[Item]]()
    if not background:
        gate.open.set()
    wrapper = middleware(gate, SMALL, background=background, sessions=4, shape="openai_chat")
    for host in hosts_of(20):
        items = [Item(item) for item in host]
        refs.append(weakref.ref(items[0]))
        wrapper.fold(items)
        del items
    if background:
        gate.open.set()  # what was given up holds its items until the model has answered

    def held() -> int:
        gc.collect()
        return sum(ref() is not None for ref in refs)

    wait_until(lambda: held() <= (8 if background else 4))
    assert held() == (8 if background else 4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_the_child_of_a_fork_finds_what_its_parent_had_folded() -> None:
    teller, hosts = Teller(), hosts_of(3)
    wrapper = middleware(teller, sessions=1)
    for host in hosts:
        wrapper.fold(host)

    def child() -> None:
        assert [wrapper.fold(host).outcome.reason for host in hosts] == ["reused"] * 3

    assert in_child(child) == 0


def test_an_item_that_is_edited_just_then_breaks_no_other_turn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its host adds to it in another thread, which Python does not let pass while it is read."""
    dumps, [host, other] = marshal.dumps, hosts_of(2)

    def read(item: Any, *args: Any) -> bytes:
        if item is host[0]:
            raise RuntimeError("dictionary changed size during iteration")
        return dumps(item, *args)

    wrapper = middleware(Teller(), sessions=1)
    assert wrapper.fold(host).outcome.reason == "summarized"
    monkeypatch.setattr("marshal.dumps", read)
    assert wrapper.fold(other).outcome.reason == "summarized"
    assert [text for text in said(caplog) if "could not be kept: RuntimeError" in text]
