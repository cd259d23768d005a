"""The readings of a list that changes in any place: those of one that is read anew."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from each_turn import Words
from hypothesis import given
from hypothesis import strategies as st
from laws import said, short
from strategies import SHAPES, History, broken, histories, long_history

from chatfold import ChatContext
from chatfold.core import as_read, still_read
from chatfold.core.read_items import ReadItems
from chatfold.core.snapshot import Snapshot
from chatfold.core.views import ItemView
from chatfold.policy import Policy

KINDS = ("take out", "put in", "move to the end", "replace", "edit", "twice", "append")


def change(items: list[Any], kind: str, first: int, last: int, more: list[Any]) -> None:
    """Do to a list what its owner may do to any part of it."""
    first, last = sorted((first % (len(items) + 1), last % (len(items) + 1)))
    part = items[first:last]
    match kind:
        case "take out":
            del items[first:last]
        case "put in":
            items[first:first] = more
        case "move to the end":
            items[first:last] = []
            items += part
        case "replace":
            items[first:last] = copy.deepcopy(part)
        case "edit":
            for item in part[-1:]:
                if isinstance(item, dict):
                    item["content" if "content" in item else "note"] = f"edited {first} {last}"
        case "twice":  # one object in two places
            items += part[:2]
        case _:
            items += more


def read(ctx: ChatContext[Any]) -> Snapshot:
    return ctx._state.snapshot()


@given(
    history=histories() | broken(histories(broken=True), junk=True),
    start=st.integers(0, 40),
    changes=st.lists(
        st.lists(
            st.tuples(st.sampled_from(KINDS), st.integers(0, 40), st.integers(0, 40)), max_size=3
        ),
        max_size=5,
    ),
)
def test_a_list_that_was_changed_anywhere_reads_as_a_new_one(
    history: History, start: int, changes: list[list[tuple[str, int, int]]]
) -> None:
    """Its readings, what they were read from, sizes, calls, and where it may be cut."""
    items = said(history.items)
    ctx: ChatContext[Any] = ChatContext(items[:start], shape=history.shape, counter=Words())
    rest = items[start:]
    read(ctx)
    for several in changes:
        for kind, first, last in several:
            more, rest = rest[: last % 3], rest[last % 3 :]
            change(ctx.items, kind, first, last, more)
        now = read(ctx)
        new = read(ChatContext([*ctx.items], shape=history.shape, counter=Words()))
        for told in ("items", "views", "prints", "sizes", "calls", "spans", "previous", "outline"):
            assert getattr(now, told) == getattr(new, told), told
        assert ctx.load().tokens == sum(new.sizes)


class Counting(Words):
    """A counter that counts how many texts it was asked for."""

    texts = 0

    def count(self, text: str) -> int:
        self.texts += 1
        return super().count(text)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_stays_behind_a_fold_is_not_read_again(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its items nor their sizes, whatever has come in the meantime."""
    items = long_history(shape, 80, 1)
    counter = Counting()
    ctx: ChatContext[Any] = ChatContext(items, shape=shape, counter=counter)
    was = read(ctx)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=6).changed
    stayed = [view for view in was.views[-10:] if view.shape]
    assert len(stayed) == 10
    asked: list[Any] = []
    prints = still_read.fingerprints

    def noted(those: list[Any]) -> list[int]:
        asked.extend(those)
        return prints(those)

    for module in (as_read, still_read):
        monkeypatch.setattr(module, "fingerprints", noted)
    items += long_history(shape, 2, 2)
    counter.texts = 0
    views: list[ItemView] = list(read(ctx).views)
    assert all(any(view is kept for kept in views) for view in stayed)
    assert not any(item is kept for item in asked for kept in was.items)
    assert 0 < counter.texts < 20


def test_one_object_may_stand_in_several_places() -> None:
    """What stays behind the first of them is not taken for what stood before it."""
    items: list[Any] = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b b"}]
    ctx: ChatContext[Any] = ChatContext([items[0], items[0], *items], counter=Words())
    for _ in range(3):
        read(ctx)
        del ctx.items[0]
        new = ChatContext([*ctx.items], counter=Words())
        assert (read(ctx).views, ctx.load()) == (read(new).views, new.load())


def test_what_stays_behind_is_read_again_where_the_list_is_of_another_shape_by_now() -> None:
    """The words alone would be read alike; of what shape they are, the rest of the list tells."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "read_log", "input": {}}
    found = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "disk full"}
    call = {"type": "function", "function": {"name": "read_log", "arguments": "{}"}, "id": "c1"}
    said = [{"role": role, "content": "w w"} for role in ("assistant", "user", "assistant")]
    first = {"role": "user", "content": "What broke?"}
    asked = {"role": "assistant", "content": [use]}
    items: list[Any] = [first, asked, {"role": "user", "content": [found]}, *said]
    ctx = ChatContext(items, counter=Words())
    assert read(ctx).shape.name == "anthropic"
    items[1:3] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "disk full"},
    ]
    now, new = read(ctx), read(ChatContext([*items], counter=Words()))
    assert now.shape.name == new.shape.name == "openai_chat"
    assert (now.views, now.sizes) == (new.views, new.sizes)
    assert ctx.check() == []


def test_an_item_that_has_moved_behind_the_others_is_not_told_of_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is unknown, and was so before."""
    items: list[Any] = [
        {"role": "user", "content": "a"},
        {"kind": "of its own"},
        *({"role": role, "content": "b"} for role in ("assistant", "user", "assistant")),
    ]
    ctx = ChatContext(items, shape="openai_chat", counter=Words())
    read(ctx)
    assert "of no known shape" in caplog.text
    caplog.clear()
    items.append(items.pop(1))
    read(ctx)
    assert not caplog.records


@pytest.mark.parametrize("depth", [0, 32])
def test_a_turn_beside_the_model_does_not_free_what_a_fold_took_out(
    depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that writes the next fold does, unless no original is to be held that long."""
    ctx: ChatContext[Any] = ChatContext(
        long_history("openai_chat", 40, 1),
        shape="openai_chat",
        undo_depth=depth,
        policy=Policy(max_items=20, keep_last_turns=2),
    )
    by: list[bool] = []
    again = ReadItems._start_again

    def noted(self: ReadItems, views: Sequence[ItemView]) -> None:
        by.append(threading.current_thread() is threading.main_thread())
        again(self, views)

    monkeypatch.setattr(ReadItems, "_start_again", noted)
    for number in (2, 3):
        assert ctx.maybe_summarize(short, background=True).reason == "started"
        assert ctx.background is not None
        assert ctx.background.wait(10)
        assert ctx.maybe_summarize(short, background=True).changed
        ctx.extend(long_history("openai_chat", 40, number))
    assert by
    assert any(by) == (depth == 0)
