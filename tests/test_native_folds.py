"""Whole folds by the provider's own compaction: the laws hold, and the result is accepted."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from typing import Any

import pytest
from background import LIMIT, Held, until
from fake_native import BETA, NativeServer, ended, native_server, opened
from fake_server import delay, server_error
from summarizers.test_native import BACKENDS, clients
from validator import validate

from chatfold import (
    ChatContext,
    Outcome,
    RefusedSummaryError,
    ShapeError,
    StaleHeadError,
    SummarizerError,
)
from chatfold.stores import MemoryStore

__all__ = ["native_server"]
LONG = "The parcel left the warehouse and is on its way to the customer. " * 30


def turn(family: str, n: int, *, think: bool = True) -> list[Any]:
    if family == "openai":
        call = {"type": "function_call", "name": "find", "arguments": "{}"}
        return [
            {"role": "user", "content": f"Where is order A-{n}?"},
            {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "gAAA"},
            {**call, "id": f"fc_{n}", "call_id": f"c{n}"},
            {"type": "function_call_output", "call_id": f"c{n}", "output": LONG},
            {"role": "assistant", "content": f"It is on its way, {n}."},
        ]
    thought = [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}] if think else []
    use = {"type": "tool_use", "id": f"t{n}", "name": "find", "input": {}}
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": LONG}
    return [
        {"role": "user", "content": f"Where is order A-{n}?"},
        {"role": "assistant", "content": [*thought, use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": f"It is on its way, {n}."},
    ]


def history(family: str, turns: int = 4) -> list[Any]:
    prefix = [{"role": "developer", "content": "Be a clerk."}] if family == "openai" else []
    return prefix + [item for n in range(turns) for item in turn(family, n)]


def fold(
    server: NativeServer,
    family: str,
    kind: str,
    ctx: ChatContext[Any],
    *,
    retries: int = 0,
    **o: Any,
) -> Outcome[Any]:
    client = clients(server, family, kind)
    backend = BACKENDS[family](client, "claude-opus-5-5", retries=retries)
    if kind == "sync":
        with client:
            return ctx.summarize(backend, **o)

    async def call() -> Outcome[Any]:
        async with client:
            return await ctx.asummarize(backend, **o)

    return asyncio.run(call())


def accepted(server: NativeServer, family: str, ctx: ChatContext[Any]) -> None:
    """The list goes through to an ordinary request, with what the context says it needs."""
    with clients(server, family, "sync") as client:
        if family == "openai":
            client.responses.create(model="m", input=ctx.items, **ctx.request_options())
        else:
            client.beta.messages.create(
                model="m", max_tokens=99, messages=ctx.items, **ctx.request_options()
            )


ALL = pytest.mark.parametrize(
    ("family", "kind"), [(f, k) for f in ("openai", "anthropic") for k in ("sync", "async")]
)
FAMILIES = pytest.mark.parametrize("family", ["openai", "anthropic"])


def shape(family: str) -> str:
    return {"openai": "openai_responses", "anthropic": "anthropic"}[family]


@ALL
def test_a_fold_puts_the_providers_items_in_place_of_the_head(
    native_server: NativeServer, family: str, kind: str
) -> None:
    items = history(family)
    before = list(items)
    ctx = ChatContext(items, model="claude-opus-5-5")
    outcome = fold(native_server, family, kind, ctx, keep_last_turns=2)
    assert outcome.reason == "summarized"
    size = len(turn(family, 0))
    tail = before[-2 * size :]
    assert all(a is b for a, b in zip(items[-2 * size :], tail, strict=True))
    if family == "openai":
        assert items[0] is before[0]
        assert items[1] is before[1]
        assert items[2] is before[1 + size]
        assert opened(items[3]) == before[1 : 1 + 2 * size]
        assert outcome.item is items[3]
        assert outcome.summary is None
        assert outcome.kept == (before[1], before[1 + size])
    else:
        assert opened(items[0]) == before[: 2 * size]
        assert outcome.item is items[0]
        assert (outcome.summary or "").startswith("Summary: ")
        assert {r.kind for r in outcome.requirements} == {"compaction_beta", "thinking_binding"}
        betas = ctx.request_options()["betas"]
        assert set(betas) == {BETA, "thinking-binding-controls-2026-08-01"}
    left = {id(i) for i in items}
    assert outcome.removed == tuple(i for i in before[: -2 * size] if id(i) not in left)
    assert str(outcome).startswith(f"summarized {len(outcome.removed)} items: ")
    assert outcome.llm_calls == 1
    assert outcome.usage
    assert not validate(items, shape(family))
    assert ctx.check() == []
    accepted(native_server, family, ctx)


@ALL
def test_folds_go_in_and_out(native_server: NativeServer, family: str, kind: str) -> None:
    """Each fold stands for the one before; undone one after the other, all is as it was."""
    items = history(family)
    ctx = ChatContext(items, model="claude-opus-5-5")
    states: list[list[Any]] = []
    since: list[list[Any]] = []
    for n in range(3):
        states.append(list(items))
        assert fold(native_server, family, kind, ctx, keep_last_turns=1).reason == "summarized"
        accepted(native_server, family, ctx)
        since.append(turn(family, 10 + n))
        ctx.extend(since[-1])
    own = [i for i in items if BACKENDS[family].owns(None, i)]
    assert len(own) == 1
    seen = opened(own[0])
    folded = [i for i in states[0] if i.get("role") != "developer"]
    assert all(i in seen for i in folded)
    for n in (2, 1, 0):
        assert ctx.undo().reason == "undone"
        expected = [*states[n], *(i for added in since[n:] for i in added)]
        assert len(items) == len(expected)
        assert all(a is b for a, b in zip(items, expected, strict=True))
    assert ctx.undo().reason == "nothing_to_undo"


@FAMILIES
def test_a_fold_inside_a_turn_keeps_its_request(native_server: NativeServer, family: str) -> None:
    first = turn(family, 0)[0]
    items = [*history(family, 0), first]
    for n in range(6):
        items += turn(family, 20 + n)[1:-1]
    items += [turn(family, 30)[-1]]
    ctx = ChatContext(items, shape=shape(family))
    outcome = fold(native_server, family, "sync", ctx, keep_tokens=500)
    assert outcome.reason == "summarized"
    assert any(i is first for i in items)
    assert sum(1 for i in items if i == first) == 1
    assert not validate(items, shape(family))
    accepted(native_server, family, ctx)
    ctx.undo()
    assert items[-1] == turn(family, 30)[-1]
    assert any(i is first for i in items)


@FAMILIES
def test_pinned_items_stay_behind_the_providers_item(
    native_server: NativeServer, family: str
) -> None:
    items = history(family)
    before = list(items)
    size = len(turn(family, 0))
    pinned = before[-3 * size + (2 if family == "openai" else 1)]
    ctx = ChatContext(items, pin=lambda i: i is pinned, shape=shape(family))
    outcome = fold(native_server, family, "sync", ctx, keep_last_turns=1)
    assert outcome.reason == "summarized"
    at = next(n for n, i in enumerate(items) if BACKENDS[family].owns(None, i))
    assert any(i is pinned for i in items[at:])
    assert not validate(items, shape(family))
    accepted(native_server, family, ctx)
    ctx.undo()
    assert all(a is b for a, b in zip(items, before, strict=True))


def test_an_instruction_in_the_middle_goes_behind_a_users_turn(native_server: NativeServer) -> None:
    items = history("anthropic", 4)
    items.insert(5, {"role": "system", "content": "From now on be brief."})
    before = list(items)
    ctx = ChatContext(items, shape="anthropic")
    assert ctx.check() == []
    outcome = fold(native_server, "anthropic", "sync", ctx, keep_tokens=1000)
    assert outcome.reason == "summarized"
    assert any(i is before[5] for i in items)
    assert not validate(items, "anthropic")
    accepted(native_server, "anthropic", ctx)
    ctx.undo()
    assert all(a is b for a, b in zip(items, before, strict=True))


@FAMILIES
@pytest.mark.parametrize("how", ["error", "empty", "stale"])
def test_a_fold_that_fails_changes_nothing(
    native_server: NativeServer, family: str, how: str
) -> None:
    items = history(family)
    before = list(items)
    ctx = ChatContext(items)
    if how == "error":
        native_server.script(server_error())
        with pytest.raises(SummarizerError) as caught:
            fold(native_server, family, "sync", ctx)
        assert caught.value.llm_calls == 1
    elif how == "empty":
        if family == "openai":
            native_server.script(lambda b: {"object": "response.compaction", "output": []})
            with pytest.raises(SummarizerError):
                fold(native_server, family, "sync", ctx)
        else:
            native_server.script(lambda b: ended("refusal", b))
            with pytest.raises(RefusedSummaryError) as refused:
                fold(native_server, family, "sync", ctx)
            assert refused.value.usage is not None
    else:
        content = copy.deepcopy(items[1])

        def edit(body: dict[str, Any]) -> dict[str, Any]:
            from fake_native import _usual

            items[1]["content"] = "changed"
            return _usual("compact" if family == "openai" else "messages", body)(body)

        native_server.script(edit)
        with pytest.raises(StaleHeadError):
            fold(native_server, family, "sync", ctx)
        items[1].clear()
        items[1].update(content)
    assert all(a is b for a, b in zip(items, before, strict=True))
    assert fold(native_server, family, "sync", ctx).reason == "summarized"


@FAMILIES
def test_what_arrives_meanwhile_is_kept(native_server: NativeServer, family: str) -> None:
    items = history(family)
    waiting = delay(5)
    native_server.script(waiting)
    ctx = ChatContext(items)

    async def call() -> Outcome[Any]:
        async with clients(native_server, family, "async") as client:
            task = asyncio.create_task(ctx.asummarize(BACKENDS[family](client, "m")))
            await asyncio.to_thread(waiting.arrived.wait, 5)
            ctx.append({"role": "user", "content": "Hello?"})
            assert (await ctx.asummarize(BACKENDS[family](client, "m"))).reason == "busy"
            waiting.release.set()
            return await task

    assert asyncio.run(call()).reason == "summarized"
    assert items[-1] == {"role": "user", "content": "Hello?"}


@FAMILIES
def test_open_calls_stay(native_server: NativeServer, family: str) -> None:
    items = history(family, 3)
    items += turn(family, 9)[: 3 if family == "openai" else 2]
    open_call = items[-1]
    ctx = ChatContext(items)
    outcome = fold(native_server, family, "sync", ctx, keep_last_turns=0)
    assert outcome.reason == "summarized"
    assert items[-1] is open_call
    if family == "anthropic":
        assert [v for v in validate(items, "anthropic") if not v.open] == []


@FAMILIES
def test_other_opaque_items_are_barriers(native_server: NativeServer, family: str) -> None:
    """A block made at a threshold is no block of this backend; text cannot fold either."""
    items = history(family)
    ctx = ChatContext(items)
    fold(native_server, family, "sync", ctx, keep_last_turns=2)
    assert ctx.summarize(lambda p: "short", keep_last_turns=0).reason == "blocked_by_opaque"
    if family == "anthropic":
        items[0]["content"][0].pop("signature")
        ctx = ChatContext(items)
        assert (
            fold(native_server, family, "sync", ctx, keep_last_turns=0).reason
            == "blocked_by_opaque"
        )


@FAMILIES
def test_a_reloaded_list_is_folded_again_and_needs_the_same(
    native_server: NativeServer, family: str
) -> None:
    items = history(family)
    ctx = ChatContext(items, model="claude-opus-5-5")
    fold(native_server, family, "sync", ctx, keep_last_turns=2)
    again = ChatContext(json.loads(json.dumps(items)), model="claude-opus-5-5")
    assert again.request_options() == ctx.request_options()
    assert fold(native_server, family, "sync", again, keep_last_turns=1).reason == "summarized"
    accepted(native_server, family, again)


@FAMILIES
def test_a_text_summary_can_be_folded_natively(native_server: NativeServer, family: str) -> None:
    items = history(family)
    before = list(items)
    ctx = ChatContext(items)
    ctx.summarize(lambda p: "short", keep_last_turns=2)
    assert fold(native_server, family, "sync", ctx, keep_last_turns=1).reason == "summarized"
    accepted(native_server, family, ctx)
    ctx.undo()
    ctx.undo()
    assert all(a is b for a, b in zip(items, before, strict=True))


@FAMILIES
def test_folds_of_both_ways_are_taken_back_after_a_restart(
    native_server: NativeServer, family: str
) -> None:
    """OpenAI's window holds the text summary, as a user's message, that its item took in."""
    items, store = history(family), MemoryStore()
    states = [copy.deepcopy(items)]
    ctx = ChatContext(items, store=store)
    folds = [ctx.summarize(lambda p: "short", keep_last_turns=2)]
    states.append(copy.deepcopy(items))
    for turns in ([], turn(family, 5)):
        ctx.extend(turns)
        states[:] = [[*state, *copy.deepcopy(turns)] for state in states]
        folds.append(fold(native_server, family, "sync", ctx, keep_last_turns=1))
        states.append(copy.deepcopy(items))
    fresh = ChatContext(states.pop(), store=store)
    for made in reversed(folds):
        undone = fresh.undo()
        assert (undone.reason, undone.fold_id) == ("undone", made.fold_id)
        assert fresh.items == states.pop()
    assert fresh.undo().reason == "nothing_to_undo"


@FAMILIES
def test_a_fold_given_up_while_it_is_stored_leaves_nothing_there(
    native_server: NativeServer, family: str
) -> None:
    """Its thread hears of it at once: the event loop has no step between that and the writing."""
    taken_out = threading.Event()

    class Told(Held):
        def discard(self, key: str, fold_id: str) -> None:
            super().discard(key, fold_id)
            taken_out.set()

    async def run() -> None:
        async with clients(native_server, family, "async") as client:
            store = Told()
            ctx = ChatContext(history(family), store=store, key="c")
            backend = BACKENDS[family](client, "claude-opus-5-5", retries=0)
            fold = ctx.summarize_in_background(backend, keep_last_turns=2)
            await until(store.is_writing.is_set)
            fold.cancel()
            assert store.erase("c") == 0
            store.may_write.set()
            assert taken_out.wait(LIMIT)
            assert store.folds("c") == []

    asyncio.run(run())


@FAMILIES
def test_a_head_is_not_folded_again_by_the_provider_whose_fold_was_undone(
    native_server: NativeServer, family: str
) -> None:
    """After a restart either; words may still take its place."""
    items, store = history(family), MemoryStore()
    assert fold(native_server, family, "sync", ChatContext(items, store=store), keep_last_turns=2)
    fresh = ChatContext(copy.deepcopy(items), store=store)
    assert fresh.undo().reason == "undone"
    again = fold(native_server, family, "sync", fresh, keep_last_turns=2)
    assert (again.reason, len(native_server.requests)) == ("unchanged_head", 1)
    assert fresh.plan(keep_last_turns=2)


@FAMILIES
@pytest.mark.parametrize("option", ["redact", "post_process"])
def test_an_option_that_cannot_hold_is_refused_before_any_call(
    native_server: NativeServer, family: str, option: str
) -> None:
    options: Any = {option: str.upper}
    ctx = ChatContext(history(family), **options)
    with pytest.raises(ValueError, match=option):
        fold(native_server, family, "sync", ctx)
    assert not native_server.requests


def test_a_list_of_another_shape_is_refused(native_server: NativeServer) -> None:
    with pytest.raises(ShapeError, match="folds lists of anthropic"):
        fold(native_server, "anthropic", "sync", ChatContext(history("openai")))
    items = [{"role": "system", "content": "x"}, *history("anthropic")]
    with pytest.raises(ValueError, match="nothing may stand before"):
        fold(native_server, "anthropic", "sync", ChatContext(items, shape="anthropic"))
    assert not native_server.requests


@FAMILIES
def test_nothing_is_sent_where_there_is_nothing_to_fold(
    native_server: NativeServer, family: str
) -> None:
    ctx = ChatContext(history(family, 1))
    assert not fold(native_server, family, "sync", ctx).changed
    assert not native_server.requests


@FAMILIES
def test_a_backend_stands_alone(native_server: NativeServer, family: str) -> None:
    """Summarizers in a chain take turns with one prompt, and here is none."""
    with clients(native_server, family, "sync") as client:
        with pytest.raises(TypeError, match="stands alone"):
            ChatContext(history(family)).summarize([BACKENDS[family](client, "m"), "extractive"])
        with pytest.raises(TypeError, match="leave model= out"):
            ChatContext(history(family)).summarize(BACKENDS[family](client, "m"), model="m")


def test_items_that_a_window_holds_behind_the_compaction_go_out_again(
    native_server: NativeServer,
) -> None:
    """The guide says that a window can hold retained items; their place is not said."""
    from fake_native import window_of

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        made = window_of(body)
        users, sealed = made["output"][:-1], made["output"][-1]
        other = {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "?"}],
        }
        return made | {"output": [other, users[0], sealed, users[1], other]}

    items = history("openai")
    before = list(items)
    native_server.script(answer)
    ctx = ChatContext(items)
    outcome = fold(native_server, "openai", "sync", ctx, keep_last_turns=2)
    assert outcome.reason == "summarized"
    assert items[2] is before[1]
    assert items[4] is before[6]
    assert items[5]["content"][0]["text"] == "?"
    ctx.undo()
    assert all(a is b for a, b in zip(items, before, strict=True))


@FAMILIES
def test_a_head_that_words_could_not_shorten_is_tried_natively(
    native_server: NativeServer, family: str
) -> None:
    ctx = ChatContext(history(family))
    assert ctx.summarize(lambda p: LONG * 99).reason == "no_gain"
    assert ctx.summarize(lambda p: LONG * 99).reason == "unchanged_head"
    assert fold(native_server, family, "sync", ctx).reason == "summarized"
