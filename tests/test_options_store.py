"""`store=` and `key=` as an application uses them: over several folds, restarts and a bad disk.

Not here: folds and undos drawn at random (`test_recall`), what a store keeps (`stores`).
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from fake_native import NativeServer, native_server
from laws import WAYS, fold, same_objects
from returns_desk import APIS, LONG, SENT, TRUE, Clerk, assistant, called, desk, thanks, user

from chatfold import ChatContext, Usage
from chatfold.errors import StoreError
from chatfold.stores import MemoryStore, StoredFold
from chatfold.summarizers import OpenAICompaction

pytest.importorskip("sqlalchemy")

from chatfold.stores import SQLStore

__all__ = ["native_server"]

shapes = pytest.mark.parametrize("shape", APIS)
STORES: dict[str, Callable[..., Any]] = {
    "memory": lambda path, **options: MemoryStore(**options),
    "sqlite": lambda path, **options: SQLStore(path / "folds.db", **options),
}
stores = pytest.mark.parametrize("kind", STORES)


def later(shape: str, n: int) -> list[Any]:
    """Return another turn, with a call of its own."""
    parcel = {"parcel": f"1Z999AA101234567{n}"}
    found = {"city": "Leipzig", "note": LONG}
    call = called(shape, f"call_{n}", "track", parcel, found)
    return [user(f"And parcel {n}?"), *call, assistant(f"It is in Leipzig, {n}.")]


class Foreign(MemoryStore):
    """A store of somebody's own, whose client's errors are no `StoreError`."""

    failing = ""

    def save(self, fold: StoredFold) -> None:
        if self.failing == "save":
            raise ConnectionError("refused by the server")
        super().save(fold)

    def load(self, key: str, fold_id: str) -> StoredFold | None:
        if self.failing == "load":
            raise ConnectionError("refused by the server")
        return super().load(key, fold_id)

    def find(self, *args: Any, **options: Any) -> Any:
        if self.failing == "find":
            raise ConnectionError("refused by the server")
        return super().find(*args, **options)


def test_a_store_of_the_callers_own_may_raise_what_its_client_raises() -> None:
    """It is a `StoreError`, so that a turn goes on, and the list is as it was."""
    items = desk("openai_chat")
    store = Foreign()
    ctx = ChatContext(list(items), shape="openai_chat", store=store, key="a")
    store.failing = "save"
    with pytest.raises(StoreError, match=r"Foreign failed: ConnectionError: refused") as caught:
        ctx.summarize("extractive", keep_last_turns=1)
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert same_objects(ctx.items, items)
    store.failing = ""
    assert ctx.summarize("extractive", keep_last_turns=1, force=True).changed
    after = list(ctx.items)
    store.failing = "find"
    with pytest.raises(StoreError, match="Foreign failed"):
        ctx.recall(query="parcel")
    store.failing = "load"
    with pytest.raises(StoreError, match="Foreign failed"):
        ChatContext(after, shape="openai_chat", store=store, key="a").undo()
    assert same_objects(ctx.items, after)


@shapes
@stores
@pytest.mark.parametrize("restarted", [False, True])
def test_what_two_folds_took_out_is_found_by_the_ids_of_its_calls(
    tmp_path: Path, shape: str, kind: str, restarted: bool
) -> None:
    """Call and result, as they stood, from the first fold and from the second."""
    kept = STORES[kind](tmp_path)
    first, second = desk(shape), later(shape, 4)
    items = [*first, *second]
    ctx = ChatContext(items, shape=shape, store=kept, key="dana")
    assert fold(ctx, Clerk(TRUE), keep_last_turns=2)
    ctx.extend(thanks())
    assert fold(ctx, Clerk(TRUE), keep_last_turns=1)
    if restarted:
        ctx = ChatContext(json.loads(json.dumps(items)), shape=shape, store=kept, key="dana")
    for n, own in ((1, first[1:3]), (2, first[3:5]), (3, first[7:9]), (4, second[1:3])):
        assert ctx.recall(call_id=f"call_{n}") == own
    assert ctx.recall(query="RMA-90721 please") == [first[5]]
    tool = ctx.recall_tool()
    assert "1Z999AA1012345674" in tool.handler(call_id="call_4")
    assert "card expired" in tool.handler(call_id="call_3")
    stranger = ChatContext(items, shape=shape, store=kept, key="ann")
    assert stranger.recall(call_id="call_1") == []
    assert "Nothing was found" in stranger.recall_tool().handler(call_id="call_1")


@shapes
@pytest.mark.parametrize("way", WAYS)
def test_originals_are_written_while_they_stand_in_the_list(shape: str, way: str) -> None:
    """And only then: a process that is killed behind it has both."""
    items = desk(shape)
    before = list(items)
    seen: list[list[Any]] = []

    class Watching(MemoryStore):
        def save(self, fold: StoredFold) -> None:
            seen.append(list(items))
            super().save(fold)

    ctx = ChatContext(items, shape=shape, store=Watching())
    outcome = fold(ctx, Clerk(TRUE), way=way, keep_last_turns=1)
    assert outcome.changed
    (then,) = seen
    assert same_objects(then, before)
    assert len(items) == 3


@stores
def test_two_branches_told_in_the_same_words_keep_their_own_originals(
    tmp_path: Path, kind: str
) -> None:
    """The host goes back, and the conversation goes on otherwise under the same key."""
    store = STORES[kind](tmp_path)
    branches: dict[str, list[Any]] = {}
    for animal in ("dog", "cat"):
        said = [("user", "Tell me of my pet."), ("assistant", f"The {animal} slept. " * 60)]
        items = [{"role": role, "content": text} for role, text in [*said, ("user", "Thanks.")]]
        branches[animal] = items
        ctx = ChatContext(items, store=store, key="k")
        assert ctx.summarize(lambda prompt: "A story was told.", keep_last_turns=1).changed
    for animal, items in branches.items():
        restarted = ChatContext(json.loads(json.dumps(items)), store=store, key="k")
        assert restarted.recall(query=animal) != []
        assert restarted.undo().reason == "undone"
        assert animal in restarted.items[1]["content"]


def _blocks(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text}]}


_TALK = [("user", "What now?"), ("assistant", "This. " * 80)]


@stores
def test_what_is_kept_in_another_items_words_returns_after_a_restart(
    tmp_path: Path, kind: str
) -> None:
    """On Bedrock an item that is kept goes into that of the summary."""
    items = [_blocks(*each) for each in (*_TALK, ("user", "PINNED"), *_TALK[1:] * 2)]
    before, store = json.loads(json.dumps(items)), STORES[kind](tmp_path)
    ctx = ChatContext(
        [*items], shape="bedrock", store=store, key="k", pin=lambda i: "PINNED" in str(i)
    )
    outcome = ctx.summarize(lambda prompt: "A story.", keep_last_turns=0)
    assert outcome.changed
    assert outcome.merged
    copies = json.loads(json.dumps(ctx.items))
    restarted = ChatContext(copies, shape="bedrock", store=store, key="k")
    assert restarted.undo().reason == "undone"
    assert copies == before


@shapes
@stores
@pytest.mark.parametrize("restarted", [False, True])
def test_a_head_is_left_alone_after_its_fold_was_undone_from_the_store(
    tmp_path: Path, shape: str, kind: str, restarted: bool
) -> None:
    """Else the next turn would pay for the summary again that its user has just taken back."""
    store, clerk = STORES[kind](tmp_path), Clerk(TRUE)
    ctx = ChatContext(desk(shape), shape=shape, store=store, pin=lambda i: "E14" in str(i))
    keep = {"keep_last_turns": 1}
    assert fold(ctx, clerk, **keep)
    if restarted:
        items = json.loads(json.dumps(ctx.items))
        ctx = ChatContext(items, shape=shape, store=store, pin=lambda i: "E14" in str(i))
    before, asked = list(ctx.items), len(clerk.prompts)
    assert ctx.undo().reason == "undone"
    assert ctx.plan(**keep).reason == "unchanged_head"
    assert ctx.plan(**keep, force=True).reason == "summarized"
    assert len(clerk.prompts) == asked
    assert fold(ctx, clerk, **keep, force=True)
    assert len(ctx.items) == len(before)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_head_is_left_alone_whose_summary_came_in_one_item_with_the_tail(restarted: bool) -> None:
    store, items = MemoryStore(), [_blocks(*each) for each in (*_TALK * 3, ("user", "Thanks."))]
    ctx = ChatContext(items, shape="bedrock", store=store)
    assert ctx.summarize(lambda prompt: "A story.", keep_last_turns=1).merged
    if restarted:
        ctx = ChatContext(json.loads(json.dumps(ctx.items)), shape="bedrock", store=store)
    assert ctx.undo().reason == "undone"
    assert ctx.plan(keep_last_turns=1).reason == "unchanged_head"


@stores
def test_what_is_erased_is_the_keys_own(tmp_path: Path, kind: str) -> None:
    """Another conversation's originals stay, and can be put back."""
    kept = STORES[kind](tmp_path)
    ctxs = [ChatContext(desk("openai_chat"), store=kept, key=name) for name in ("dana", "ann")]
    before = [list(ctx.items) for ctx in ctxs]
    assert all(fold(ctx, Clerk(TRUE), keep_last_turns=1) for ctx in ctxs)
    assert kept.erase("dana") == 1
    assert [len(ctx.recall(call_id="call_1")) for ctx in ctxs] == [0, 2]
    fresh = [
        ChatContext(json.loads(json.dumps(ctx.items)), store=kept, key=name)
        for ctx, name in zip(ctxs, ("dana", "ann"), strict=True)
    ]
    assert [ctx.undo().reason for ctx in fresh] == ["nothing_to_undo", "undone"]
    assert fresh[1].items == before[1]


@stores
def test_originals_go_when_their_time_is_over(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each save drops what is too old; this process can put everything back all the same."""
    kept = STORES[kind](tmp_path, expire_after=3600)
    ctx = ChatContext([*desk("openai_chat"), *later("openai_chat", 4)], store=kept)
    before = list(ctx.items)
    assert fold(ctx, Clerk(TRUE), keep_last_turns=2)
    assert len(ctx.recall(call_id="call_1")) == 2
    later_on = time.time() + 3601
    monkeypatch.setattr(time, "time", lambda: later_on)
    more = thanks()
    ctx.extend(more)
    assert fold(ctx, Clerk(TRUE), keep_last_turns=1)
    assert ctx.recall(call_id="call_1") == []
    assert len(ctx.recall(call_id="call_4")) == 2
    assert [ctx.undo().reason for _ in range(3)] == ["undone", "undone", "nothing_to_undo"]
    assert same_objects(ctx.items, [*before, *more])


@stores
@pytest.mark.parametrize("keep", [True, False])
def test_without_originals_the_summary_is_all_there_is(
    tmp_path: Path, kind: str, keep: bool
) -> None:
    """The tool finds nothing, and a later process cannot undo."""
    kept = STORES[kind](tmp_path, keep_originals=keep)
    ctx = ChatContext(desk("openai_chat"), store=kept)
    tool = ctx.recall_tool()
    assert fold(ctx, Clerk(TRUE), keep_last_turns=1)
    assert ("card expired" in tool.handler(call_id="call_3")) == keep
    assert bool(ctx.recall(query="dana.w@example.com")) == keep
    fresh = ChatContext(json.loads(json.dumps(ctx.items)), store=kept)
    assert (fresh.undo().reason == "undone") == keep


# --- a store that fails ---------------------------------------------------------------------------


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Another process writes, and does not come to an end."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


@contextmanager
def full(path: Path) -> Generator[None]:
    """The disk takes no more: what a file of that size would need is refused."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@contextmanager
def gone(path: Path) -> Generator[None]:
    """Somebody has moved the file away."""
    moved = path.with_suffix(".moved")
    os.rename(path, moved)
    try:
        yield
    finally:
        os.rename(moved, path)


@pytest.mark.parametrize("bad", [locked, full, gone])
@pytest.mark.parametrize("way", WAYS)
def test_a_bad_disk_leaves_the_list_and_says_what_the_call_cost(
    tmp_path: Path, way: str, bad: Any
) -> None:
    """Nothing is lost and nothing half done; once it is mended the same fold goes through."""
    path = tmp_path / "folds.db"
    ctx = ChatContext(desk("openai_chat"), store=SQLStore(path, timeout=0.05), key="dana")
    ctx.items[0] = user(f"Dana here. {LONG * 200}")
    before = list(ctx.items)
    known = bad is not full and way in ("summarize", "asummarize")  # before the model is paid
    with bad(path):
        with pytest.raises(StoreError, match="cannot be") as caught:
            fold(ctx, Clerk("A return is open."), way=way, keep_last_turns=1)
        if way != "apply":
            spent = (None, 0) if known else (SENT, 1)
            assert (caught.value.usage, caught.value.llm_calls) == spent
        if way in ("summarize", "asummarize"):  # a full disk is known from the first time on
            with pytest.raises(StoreError, match="cannot be written") as caught:
                fold(ctx, Clerk("A return is open."), way=way, keep_last_turns=1)
            assert (caught.value.usage, caught.value.llm_calls) == (None, 0)
    assert same_objects(ctx.items, before)
    assert ctx.recall(call_id="call_1") == []
    assert ctx.undo().reason == "nothing_to_undo"
    assert fold(ctx, Clerk("A return is open."), way=way, keep_last_turns=1).changed
    assert ctx.recall(call_id="call_1") == before[1:3]


def test_a_bad_disk_costs_no_native_fold_its_items(
    native_server: NativeServer, tmp_path: Path
) -> None:
    """What the provider made is dropped, the list stays, and its usage is told."""
    pytest.importorskip("openai", minversion="2.9.0")
    path = tmp_path / "folds.db"
    ctx = ChatContext(desk("openai_responses"), store=SQLStore(path, timeout=0.05))
    ctx.items[0] = user(f"Dana here. {LONG * 200}")
    before = list(ctx.items)
    with openai.OpenAI(base_url=native_server.openai_url, api_key="k") as client:
        backend = OpenAICompaction(client, "m", retries=0)
        with full(path), pytest.raises(StoreError, match="cannot be written") as caught:
            ctx.summarize(backend, keep_last_turns=1)
        assert (caught.value.usage, caught.value.llm_calls) == (Usage(900, 70, 64), 1)
        for bad in (full, locked, gone):
            with bad(path), pytest.raises(StoreError, match="cannot be written") as caught:
                ctx.summarize(backend, keep_last_turns=1)
            assert (caught.value.usage, caught.value.llm_calls) == (None, 0)
        assert len(native_server.requests) == 1
        assert same_objects(ctx.items, before)
        assert ctx.summarize(backend, keep_last_turns=1).changed
    assert ctx.recall(call_id="call_2") == before[3:5]
    assert ctx.undo().reason == "undone"
    assert same_objects(ctx.items, before)
