"""A list that was being read when Ctrl-C came, or a handler of the log raised: it is read anew."""

from __future__ import annotations

import copy
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from types import FrameType
from typing import Any
from unittest.mock import ANY

import pytest
from background import wait_until
from each_turn import Model, Words, context, turn
from laws import same_objects
from stores.drawn import fold, host_fold
from validator import validate

from chatfold import ChatContext, Middleware, Policy
from chatfold.errors import ChatfoldError
from chatfold.events import FoldEvent
from chatfold.stores import MemoryStore

NEW = {"role": "user", "content": [{"type": "brandnew"}, {"type": "text", "text": "and this"}]}
"""An item whose reading is told to the log."""


def asked(number: int) -> list[dict[str, Any]]:
    """Return a turn with a call in it."""
    function = {"name": "look", "arguments": json.dumps({"number": number})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "user", "content": f"question {number} " + "word " * 20},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": "result " * 60},
        {"role": "assistant", "content": f"answer {number}"},
    ]


@contextmanager
def interrupted() -> Iterator[None]:
    """Have the next record of the log raise what Ctrl-C does."""

    def interrupt(record: logging.LogRecord) -> bool:
        raise KeyboardInterrupt

    log = logging.getLogger("chatfold")
    log.addFilter(interrupt)
    try:
        yield
    finally:
        log.removeFilter(interrupt)


def same(ctx: ChatContext[Any], items: list[Any]) -> None:
    """Check that a context reads a list as a new one does."""
    new = ChatContext(copy.deepcopy(items), counter=Words(), shape="openai_chat")
    assert ctx.views() == new.views()
    assert ctx.count_tokens() == new.count_tokens()
    assert ctx.turns() == new.turns()
    assert ctx.cut_points() == new.cut_points()
    assert ctx.tool_calls() == new.tool_calls()


@pytest.mark.parametrize("before", range(9))
@pytest.mark.parametrize("call", [ChatContext.load, ChatContext.views, ChatContext.plan])
def test_what_was_read_by_halves_is_read_again(
    before: int, call: Callable[[ChatContext[Any]], Any]
) -> None:
    """Whichever item it was at, and whatever comes next."""
    items: list[Any] = [item for number in range(8) for item in asked(number)]
    ctx = ChatContext(items, counter=Words(), shape="openai_chat")
    ctx.load()
    items += [*[item for number in (50, 51, 52) for item in asked(number)][:before], NEW]
    with interrupted(), pytest.raises(KeyboardInterrupt):
        call(ctx)
    for number in range(100, 104):
        items += asked(number)
    same(ctx, items)


def test_after_an_edit_too() -> None:
    """What was read from there on had been forgotten already."""
    items: list[Any] = [item for number in range(8) for item in asked(number)]
    ctx = ChatContext(items, counter=Words(), shape="openai_chat")
    ctx.load()
    items[5:9] = [copy.deepcopy(NEW)]
    with interrupted(), pytest.raises(KeyboardInterrupt):
        ctx.views()
    same(ctx, items)
    items.clear()
    same(ctx, items)


def test_a_fold_after_it_parts_no_call_from_its_result() -> None:
    """Readings that had shifted by some items let one do so, or raise an IndexError."""
    for more in range(1, 12):
        items: list[Any] = [item for number in range(8) for item in asked(number)]
        ctx = ChatContext(items, counter=Words(), shape="openai_chat")
        ctx.load()
        items += [*[i for number in range(50, 50 + more) for i in asked(number)][:more], NEW]
        with interrupted(), pytest.raises(KeyboardInterrupt):
            ctx.load()
        del items[-1 - more :]
        for number in range(100, 104):
            items += asked(number)
        try:
            assert ctx.summarize(lambda prompt: "short", keep_tokens=200).changed
        except ChatfoldError as error:  # pragma: no cover - what this test is about
            pytest.fail(f"{more}: {error}")
        assert validate(items, "openai_chat") == []


@contextmanager
def interrupted_at(line: int, module: str, function: str | None = None) -> Iterator[None]:
    """Have Ctrl-C come at the n-th line that is run of a module, or a function, if so many are."""
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.replace("\\", "/").endswith(module):
            return None
        if function not in (None, frame.f_code.co_name):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("module", ["core/reading.py", "core/as_read.py"])
@pytest.mark.parametrize("edited", [False, True])
def test_wherever_the_reading_is_interrupted_it_is_read_again(edited: bool, module: str) -> None:
    """Between any two lines that keep what is known of the items."""
    line, ended = 0, False
    while not ended:
        line += 1
        items: list[Any] = [item for number in range(3) for item in asked(number)]
        ctx = ChatContext(items, counter=Words(), shape="openai_chat")
        ctx.load()
        if edited:
            items[2] = {**items[2], "content": "another result"}
        items += asked(50)
        try:
            with interrupted_at(line, module):
                ctx.views() if edited else ctx.load()
            ended = True
        except KeyboardInterrupt:
            pass
        same(ctx, items)
        assert ctx.load().tokens == ctx.count_tokens().value
    assert line > (20 if module == "core/reading.py" else 10)


def test_wherever_a_fold_is_interrupted_it_can_be_taken_back() -> None:
    """It is in the list, with its originals, or it is not."""
    line, ended, folded = 0, False, 0
    while not ended:
        line += 1
        items: list[Any] = [item for number in range(4) for item in asked(number)]
        before = list(items)
        ctx = ChatContext(items, counter=Words(), shape="openai_chat")
        try:
            with interrupted_at(line, "chatfold/swaps.py"):
                ctx.summarize(lambda prompt: "short", keep_last_turns=1)
            ended = True
        except KeyboardInterrupt:
            pass
        if len(items) < len(before):
            folded += 1
            assert ctx.undo().reason == "undone", line
        assert same_objects(items, before)
    assert folded > 3


def begun(line: int, module: str, function: str | None) -> bool:
    """Interrupt a fold in the background as it is begun; return whether that ended before."""
    ctx, model, told, ended = context(11), Model(), list[str](), False

    def hook(event: FoldEvent) -> None:
        told.append(event.kind)

    try:
        with interrupted_at(line, module, function):
            ctx.maybe_summarize(model, background=True, on_event=hook)
        ended = True
    except KeyboardInterrupt:
        wait_until(lambda: ctx.background is None or not ctx.background.working)
        assert told in ([], ["before", "skipped"]), line
    ctx.maybe_summarize(model, background=True)
    if ctx.background is not None:
        assert ctx.background.wait(20)
        ctx.maybe_summarize(model, background=True)
    assert len(ctx.items) < 20, line
    return ended


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("chatfold/beginning.py", None),
        ("chatfold/background.py", None),
        ("chatfold/each_turn.py", "_begun"),
    ],
)
def test_wherever_a_fold_in_the_background_is_begun_another_can_be(
    module: str, function: str | None
) -> None:
    """Before, the list was `busy` from then on: nobody knew of the fold, and it had the right."""
    line = next(line for line in count(1) if begun(line, module, function))
    assert line > 3


def put_in(line: int, module: str, function: str) -> bool:
    """Interrupt a turn that puts a fold in; return whether that ended before."""
    told: list[FoldEvent] = []
    ctx, model, ended = context(11, on_event=told.append), Model(), False
    ctx.maybe_summarize(model, background=True)
    assert ctx.background is not None
    assert ctx.background.wait(20)
    try:
        with interrupted_at(line, module, function):
            ctx.maybe_summarize(model, background=True)
        ended = True
    except KeyboardInterrupt:
        pass
    kinds = [event.kind for event in told]
    assert kinds in (["before", "after"], ["before", "skipped"]), line
    assert told[-1].outcome is not None
    assert told[-1].outcome.llm_calls == 1
    return ended


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("chatfold/swaps.py", "put"),
        ("core/commit.py", "judge"),
        ("background.py", "_put"),
        ("folding.py", "charged"),
    ],
)
def test_wherever_a_fold_is_being_put_in_its_end_is_told_with_what_it_cost(
    module: str, function: str
) -> None:
    """Once: a budget that is kept by a hook has it, and a span ends."""
    assert next(line for line in count(1) if put_in(line, module, function)) > 1


def turned(line: int, module: str, function: str, *, background: bool) -> bool:
    """Interrupt a turn of a host; return whether it ended before."""
    store, host = MemoryStore(), [item for number in range(11) for item in turn(number)]
    options: dict[str, Any] = {"counter": Words(), "shape": "openai_chat"}
    policy, ended = Policy(max_tokens=1_000, keep_tokens=200), False
    wrapper = Middleware(Model(), policy, store, background=background, **options)
    try:
        with interrupted_at(line, module, function):
            wrapper.fold(host, key="one")
        ended = True
    except KeyboardInterrupt:
        wait_until(lambda: not store._claims)
    wait_until(lambda: len(wrapper.fold(host, key="one").items) < len(host))
    wait_until(lambda: not store._claims)

    def is_shared() -> bool:
        wrapper.fold(host, key="one")
        other: Middleware[Any] = Middleware(Model(), Policy(max_tokens=10**9), store, **options)
        return other.fold(host, key="one").outcome.reason == "reused"

    wait_until(is_shared)
    return ended


@pytest.mark.parametrize(
    ("module", "function", "background"),
    [
        ("host_turns.py", "_entered", False),
        ("host_turns.py", "_entered", True),
        ("session.py", "changing", False),
        ("session.py", "changing", True),
        ("shared_folds.py", "claim", False),
        ("shared_folds.py", "claim", True),
        # With `background` a thread does these, where no Ctrl-C comes.
        ("own_folds.py", "regions", False),
        ("shared_folds.py", "begun", False),
        ("shared_folds.py", "_taken_down", False),
    ],
)
def test_wherever_a_turn_of_a_host_is_interrupted_the_next_one_folds(
    module: str, function: str, background: bool
) -> None:
    """The conversation was left to a call that had ended, or claimed for ten minutes."""
    tried = (line for line in count(1) if turned(line, module, function, background=background))
    assert next(tried) > 1


def _save(store: MemoryStore) -> None:
    store.save(fold("words " * 100, fold_id="new"))


def _load(store: MemoryStore) -> None:
    store.load("conversation", "2")


def _discard(store: MemoryStore) -> None:
    store.discard("conversation", "0")


def _erase(store: MemoryStore) -> None:
    store.erase("conversation")


def _expire(store: MemoryStore) -> None:
    store.expire(before=1.5)


@pytest.mark.parametrize("call", [_save, _load, _discard, _erase, _expire])
def test_wherever_a_store_in_memory_is_interrupted_it_goes_on(
    call: Callable[[MemoryStore], None],
) -> None:
    """It finds, drops, erases and forgets by age all that it has; nothing of it stays for ever."""
    line, ended = 0, False
    while not ended:
        line += 1
        store = MemoryStore(max_bytes=12_000)
        for number in range(3):
            store.save(fold("words " * 100, fold_id=str(number), created=float(number)))
        try:
            with interrupted_at(line, "stores/_recent.py"):
                call(store)
            ended = True
        except KeyboardInterrupt:
            pass
        for one in store.folds("conversation"):
            assert store.load("conversation", one.fold_id) == replace(one, items=ANY)
        assert store.expire(before=1.5) <= 2
        assert all(one.created >= 1.5 for one in store.folds("conversation"))
        for number in range(20):  # more than there is room for
            store.save(fold("words " * 100, fold_id=f"later {number}"))
            store.put(host_fold(1, digest=str(number)))
        left = len(store.folds("conversation"))
        assert 0 < left < 20
        assert store.erase("conversation") >= left
        assert (store.folds("conversation"), repr(store)) == ([], "MemoryStore(0 folds)")
    assert line > 1
