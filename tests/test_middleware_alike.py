"""`Middleware` with several conversations under one key that open alike: none sees another's."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from test_middleware import reloaded

from chatfold import Middleware, Policy, Prompt
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
    folded = wrapper.fold(reloaded(ours), key="k")
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
