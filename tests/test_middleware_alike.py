"""`Middleware` with several conversations under one key that open alike: none sees another's."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from test_middleware import reloaded

from chatfold import Middleware, Policy, Prompt
from chatfold.middleware import Folded
from chatfold.stores import MemoryStore

SECRET = "her divorce"
WAIT = 10.0


def chat(who: str, turns: int) -> list[dict[str, Any]]:
    """Return a conversation that opens with the same word as any other."""
    opening = [{"role": "user", "content": "Hello"}]
    return opening + [
        {"role": role, "content": f"{who} {role} {number} " + "word " * 80}
        for number in range(turns)
        for role in ("assistant", "user")
    ]


class Held:
    """Writes a summary when it is let."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, prompt: Prompt) -> str:
        self.begun.set()
        self.go.wait(WAIT)
        return f"Alice asked about {SECRET}."


def ended(wrapper: Middleware[Any]) -> None:
    """Wait until no fold in the background is being written."""
    sessions = [session for held in wrapper._turns._sessions._named.values() for session in held]
    for session in sessions:
        if session._each_turn.background is not None:
            assert session._each_turn.background.wait(WAIT)


def held_sessions(wrapper: Middleware[Any]) -> int:
    """Return how many conversations are held ready."""
    return sum(len(held) for held in wrapper._turns._sessions._named.values())


def next_turn(
    wrapper: Middleware[Any],
    items: list[dict[str, Any]],
    hand: Callable[[Any], Any] = reloaded,
) -> Folded[Any]:
    """Return what comes of a list, once its fold is not said to be under way any more.

    What was written is claimed for a moment longer.
    """
    limit = time.monotonic() + WAIT
    while True:
        folded = wrapper.fold(hand(items), key="k")
        if folded.outcome.reason != "running" or time.monotonic() > limit:
            return folded
        time.sleep(0.01)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("other", ["bob", "alice"])
def test_a_fold_that_lay_ready_stands_for_what_it_was_written_of(other: str, stored: bool) -> None:
    """Its list may have come as other copies, and gone to an earlier branch, meanwhile.

    A fold once was taken down for the first message alone, which all chats begin with.
    """
    model = Held()
    store = MemoryStore() if stored else None
    policy = Policy(max_tokens=600, keep_tokens=100)
    wrapper: Middleware[Any] = Middleware(model, policy, store, background=True)
    ours, theirs = chat("alice", 6), chat(other, 2)
    assert wrapper.fold(reloaded(ours), key="k").outcome.reason == "started"
    wrapper.fold(reloaded(theirs), key="k")
    wrapper.fold(reloaded(ours), key="k")
    model.go.set()
    ended(wrapper)
    folded = next_turn(wrapper, ours)
    assert folded.outcome.changed
    gone = len(ours) - len(folded.items) + 1
    assert gone > len(theirs)
    assert folded.items[1:] == ours[gone:]
    assert wrapper.fold(reloaded(ours), key="k").items == folded.items
    fresh: Middleware[Any] = Middleware(model, policy, store, background=True)
    for reader in (wrapper, fresh):
        seen = reader.fold(reloaded(theirs), key="k")
        assert SECRET not in json.dumps(seen.items)
        assert seen.items == theirs


def test_what_was_folded_is_found_while_another_that_opens_alike_is_written() -> None:
    """Else a request would be sent whole that fits no window."""
    model = Held()
    model.go.set()
    policy = Policy(window=4_000, max_tokens=900, keep_tokens=100)
    wrapper: Middleware[Any] = Middleware(model, policy)
    ours, theirs = chat("alice", 8), chat("bob", 8)
    before = wrapper.fold(reloaded(theirs), key="k")
    assert before.outcome.changed
    model.go.clear()
    model.begun.clear()
    thread = threading.Thread(target=wrapper.fold, args=(reloaded(ours),), kwargs={"key": "k"})
    thread.start()
    assert model.begun.wait(WAIT)
    try:
        assert wrapper.fold(reloaded(theirs), key="k").items == before.items
        running = wrapper.fold(reloaded(ours), key="k")
        assert running.outcome.reason == "running"  # the same one is not written twice
        assert running.items == ours
    finally:
        model.go.set()
        thread.join()


@pytest.mark.parametrize("stored", [False, True])
def test_each_has_its_own_fold_in_the_background(stored: bool) -> None:
    """What is under way for one is not handed over to the next, and so thrown away."""
    prompts: list[str] = []

    def model(prompt: Prompt) -> str:
        prompts.append(prompt.user)
        return "They talked."

    store = MemoryStore() if stored else None
    policy = Policy(max_tokens=600, keep_tokens=100)
    wrapper: Middleware[Any] = Middleware(model, policy, store, background=True)
    chats = {who: chat(who, 6) for who in ("alice", "bob", "carol")}
    for who, items in chats.items():
        assert wrapper.fold(reloaded(items), key="k").outcome.reason == "started", who
    ended(wrapper)
    for who, items in chats.items():
        folded = next_turn(wrapper, items)
        assert folded.outcome.changed, who
        assert folded.outcome.error is None
        gone = len(items) - len(folded.items) + 1
        assert folded.items[1:] == items[gone:]
    assert sorted(who in prompt for prompt in prompts for who in chats) == [False] * 6 + [True] * 3


def test_each_has_its_own_patience_after_a_failure() -> None:
    def model(prompt: Prompt) -> str:
        if "alice" in prompt.user:
            raise ConnectionError("no line")
        return "They talked."

    wrapper: Middleware[Any] = Middleware(model, Policy(max_tokens=600, keep_tokens=100))
    assert wrapper.fold(chat("alice", 6), key="k").outcome.reason == "failed"
    assert wrapper.fold(chat("bob", 6), key="k").outcome.changed
    assert wrapper.fold(reloaded(chat("alice", 6)), key="k").outcome.reason == "unchanged_head"


def test_what_was_edited_behind_a_fold_that_is_under_way_is_the_same_conversation() -> None:
    """A last message is sent anew: the fold is for it, too."""
    model = Held()
    policy = Policy(max_tokens=600, keep_tokens=100)
    wrapper: Middleware[Any] = Middleware(model, policy, background=True)
    items = chat("alice", 6)
    assert wrapper.fold(reloaded(items), key="k").outcome.reason == "started"
    items[-1] = {"role": "user", "content": "Something else, please."}
    assert wrapper.fold(reloaded(items), key="k").outcome.reason == "running"
    model.go.set()
    ended(wrapper)
    assert next_turn(wrapper, items).outcome.changed


@pytest.mark.parametrize("stored", [False, True])
def test_a_conversation_finds_its_own_fold_beside_one_that_has_none(stored: bool) -> None:
    """The one that came last would else take the list over, and pay for it once more."""
    model = Held()
    store = MemoryStore() if stored else None
    policy = Policy(max_tokens=600, keep_tokens=100)
    wrapper: Middleware[Any] = Middleware(model, policy, store, background=True)
    ours, theirs = chat("alice", 6), chat("bob", 2)
    assert wrapper.fold(reloaded(ours), key="k").outcome.reason == "started"
    for _ in range(3):
        assert wrapper.fold(reloaded(theirs), key="k").outcome.reason == "below_trigger"
        assert wrapper.fold(reloaded(ours), key="k").outcome.reason == "running"
        assert held_sessions(wrapper) == 2
    model.go.set()
    ended(wrapper)
    assert next_turn(wrapper, ours).outcome.reason == "summarized"


FIRST = {"title": 0, "most of it": 2}
"""Thirds of a conversation that hosts ask about besides; or another one has that opens alike."""


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("thirds", FIRST.values(), ids=FIRST)
@pytest.mark.parametrize("hand", [list, reloaded], ids=["same", "reloaded"])
def test_a_list_of_its_beginning_leaves_a_fold_that_is_under_way(
    hand: Callable[[Any], Any], thirds: int, stored: bool
) -> None:
    """The first fold, and the next: each was thrown away once, and paid for at each turn."""
    model = Held()
    policy = Policy(max_tokens=600, keep_tokens=100)
    store = MemoryStore() if stored else None
    wrapper: Middleware[Any] = Middleware(model, policy, store, background=True)
    for turns in (7, 14):
        items = chat("alice", turns)
        first = items[: max(1, len(items) * thirds // 3)]
        ended(wrapper)  # the part's own, if it was large enough
        model.go.clear()
        assert next_turn(wrapper, items, hand).outcome.reason == "started"
        wrapper.fold(hand(first), key="k")
        assert wrapper.fold(hand(items), key="k").outcome.reason == "running"
        model.go.set()
        ended(wrapper)
        wrapper.fold(hand(first), key="k")
        folded = next_turn(wrapper, items, hand)
        assert folded.outcome.changed, turns
        assert folded.items[-1] == items[-1]
        assert len(folded.items) < 4


def test_an_answer_that_is_asked_for_again_leaves_a_fold_that_is_under_way() -> None:
    """Its host deletes the answer: what is being folded stands, and so does its conversation."""
    model = Held()
    policy = Policy(max_tokens=600, keep_tokens=200)
    wrapper: Middleware[Any] = Middleware(model, policy, background=True)
    leading = [{"role": "system", "content": "You are a clerk. " * 200}]
    for turns in (7, 14):
        items = [*leading, *chat("alice", turns)]
        model.go.clear()
        assert wrapper.fold(reloaded(items), key="k").outcome.reason == "started"
        items += [{"role": "assistant", "content": f"A long answer. {'word ' * 400}"}]
        wrapper.fold(reloaded(items), key="k")
        assert wrapper.fold(reloaded(items[:-1]), key="k").outcome.reason == "running"
        assert wrapper.fold(reloaded(items[:-2]), key="k").outcome.reason == "running"
        assert held_sessions(wrapper) == 1
        model.go.set()
        ended(wrapper)
        assert next_turn(wrapper, items[:-1]).outcome.reason == "summarized"
        assert held_sessions(wrapper) == 1


def test_a_conversation_that_waits_after_a_failure_is_taken_back_and_goes_on() -> None:
    """Nothing is under way then, and nothing folded: it is asked about again as one that waits."""

    def model(prompt: Prompt) -> str:
        asked.append(prompt.user)
        raise ConnectionError("no line")

    asked: list[str] = []
    wrapper: Middleware[Any] = Middleware(model, Policy(max_tokens=600, keep_tokens=100))
    items = chat("alice", 7)
    assert wrapper.fold(reloaded(items), key="k").outcome.reason == "failed"
    assert wrapper.fold(reloaded(items[:-2]), key="k").outcome.reason == "unchanged_head"
    assert wrapper.fold(reloaded(items), key="k").outcome.reason == "unchanged_head"
    assert held_sessions(wrapper) == len(asked) == 1
