"""What becomes of folds that nobody wants any more while a store still writes them."""

from __future__ import annotations

import copy
import os
import signal
import threading
from typing import Any

import pytest
from laws import short, talk

from chatfold import ChatContext, Middleware, Policy, Prompt
from chatfold.stores import MemoryStore, StoredFold


class Held(MemoryStore):
    """Takes its first fold when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.saving, self.may_go_on = threading.Event(), threading.Event()

    def save(self, fold: StoredFold) -> None:
        if not self.saving.is_set():
            self.saving.set()
            assert self.may_go_on.wait(20)
        super().save(fold)


def test_what_is_given_up_takes_out_nothing_that_the_same_words_have_put_in_since() -> None:
    """A retry behind a slow store: equal words of one part of a list are one fold."""
    store = Held()
    ctx: ChatContext[Any] = ChatContext(talk(20), store=store, key="c")
    before = copy.deepcopy(ctx.items)
    fold = ctx.summarize_in_background("extractive", keep_last_turns=2)
    assert store.saving.wait(20)
    assert fold.cancel().reason == "cancelled"
    assert ctx.summarize("extractive", keep_last_turns=2).changed
    threads = [t for t in threading.enumerate() if t.name.startswith("chatfold")]
    store.may_go_on.set()
    for _ in range(200):
        if not any(t.is_alive() and t.name == "chatfold" for t in threads):
            break
        threading.Event().wait(0.01)
    assert len(store.folds("c")) == 1
    later: ChatContext[Any] = ChatContext(copy.deepcopy(ctx.items), store=store, key="c")
    assert later.undo().changed
    assert later.items == before


def test_a_conversation_that_was_put_aside_in_its_turn_is_forgotten_too() -> None:
    """Another one took its place, and its turn still waits for the model."""
    store, asked, may_end = MemoryStore(), threading.Event(), threading.Event()

    def model(prompt: Prompt) -> str:
        asked.set()
        assert may_end.wait(20)
        return "short"

    middleware = Middleware[Any](
        model, Policy(max_tokens=1_000, keep_tokens=400), store, sessions=1
    )
    turns = [
        threading.Thread(target=middleware.fold, args=(talk(30),), kwargs={"key": key})
        for key in ("a", "b")
    ]
    for turn in turns:
        asked.clear()
        turn.start()
        assert asked.wait(20)
    middleware.fold(talk(1)[:1], key="c")
    middleware.forget("a")
    store.erase("a")
    may_end.set()
    for turn in turns:
        turn.join(20)
    assert (store.erase("a"), store.erase("b")) == (0, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_the_child_of_a_fork_forgets_what_a_thread_of_its_parent_is_writing() -> None:
    """That thread is not in the child, where nobody would ever end the write."""

    class Slow(MemoryStore):
        writing, may_go_on = threading.Event(), threading.Event()

        def put(self, *args: Any, **options: Any) -> Any:
            self.writing.set()
            assert self.may_go_on.wait(20)
            return super().put(*args, **options)

    store = Slow()
    policy = Policy(max_tokens=1_000, keep_tokens=400)
    middleware = Middleware[Any](short, policy, store, background=True)
    middleware.fold(talk(30), key="a")
    assert store.writing.wait(20)
    child = os.fork()
    if not child:
        signal.alarm(10)  # which ends a child that waits for ever
        middleware.forget("a")
        os._exit(0)
    store.may_go_on.set()
    assert os.waitpid(child, 0)[1] == 0
