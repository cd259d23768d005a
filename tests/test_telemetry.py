"""Spans of folds, by the real OpenTelemetry SDK, as an exporter gets them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from background import Gate, until
from each_turn import Model, Words, context, failing, turn
from fake_server import LLMServer, llm_server, ok
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode
from telemetry_backend import (
    WAYS,
    Backend,
    attributes,
    backend,
    fold,
    id_of,
    no_span_is_left_behind,
    parent,
)

from chatfold import ChatContext, Prompt
from chatfold.middleware import Middleware
from chatfold.policy import Policy

__all__ = ["backend", "llm_server", "no_span_is_left_behind"]


# --- a fold is a span -----------------------------------------------------------------------------


@WAYS
def test_a_fold_is_a_span_that_says_what_happened(way: str, backend: Backend) -> None:
    ctx = context(10, on_event=backend.telemetry())
    outcome = fold(way, ctx, backend.model)
    span = backend.fold()
    assert (span.name, span.kind, span.status.status_code) == (
        "summarize",
        SpanKind.INTERNAL,
        StatusCode.UNSET,
    )
    assert outcome.facts is not None
    assert attributes(span) == {
        "gen_ai.operation.name": "summarize",
        "gen_ai.response.model": "model-1",
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.usage.cache_read.input_tokens": 5,
        "chatfold.reason": "summarized",
        "chatfold.tokens.before": outcome.tokens_before,
        "chatfold.tokens.after": outcome.tokens_after,
        "chatfold.over_limit": False,
        "chatfold.llm_calls": 1,
        "chatfold.items.removed": len(outcome.removed),
        "chatfold.items.kept": 0,
        "chatfold.omitted": 0,
        "chatfold.truncated": 0,
        "chatfold.blocked_calls": 0,
        "chatfold.fold_id": outcome.fold_id,
        "chatfold.mode": "prompt",
        "chatfold.fell_back": False,
        "chatfold.facts.kept": len(outcome.facts.kept),
        "chatfold.facts.added": len(outcome.facts.added),
        "chatfold.facts.left_out": 0,
        "chatfold.facts.ungrounded": 0,
        "chatfold.facts.dropped": 0,
    }
    assert outcome.tokens_before > outcome.tokens_after > 0
    assert len(outcome.removed) > 10
    assert not span.events


@pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])
def test_where_nothing_is_due_there_is_no_span(way: str, backend: Backend) -> None:
    """A turn below the trigger exports nothing at all."""
    ctx = context(5, on_event=backend.telemetry())
    assert fold(way, ctx, backend.model).reason == "below_trigger"
    assert backend.ended() == []
    assert backend.reader.get_metrics_data() is None


@WAYS
def test_a_fold_that_is_skipped_is_no_error(way: str, backend: Backend) -> None:
    items = [{"role": "user", "content": "w " * 2_000}]
    ctx = ChatContext(items, policy=Policy(max_items=1, keep_last_turns=2))
    fold(way, ctx, backend.model, on_event=backend.telemetry())
    span = backend.fold()
    assert span.status.status_code is StatusCode.UNSET
    told = attributes(span)
    assert told["chatfold.reason"] == "too_few_turns"
    assert "error.type" not in told
    assert "gen_ai.usage.input_tokens" not in told
    assert backend.points("gen_ai.client.operation.duration") == []
    (count,) = backend.points("chatfold.folds")
    assert count.attributes["chatfold.reason"] == "too_few_turns"


@WAYS
def test_a_failed_fold_is_an_error_without_words(way: str, backend: Backend) -> None:
    """Its type and that of its cause are told, and no message, which may hold anything."""

    def model(prompt: Prompt) -> str:
        raise ConnectionResetError("the customer's words")

    ctx = context(10, on_event=backend.telemetry())
    with suppress(type(failing())):
        fold(way, ctx, model)
    span = backend.fold()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    told = attributes(span)
    assert told["error.type"] == "SummarizerError"
    assert told["chatfold.error.cause"] == "ConnectionResetError"
    assert told["chatfold.reason"] == "failed"
    assert not span.events
    (seconds,) = backend.points("gen_ai.client.operation.duration")
    assert seconds.attributes["error.type"] == "SummarizerError"
    assert seconds.sum > 0
    (count,) = backend.points("chatfold.folds")
    assert count.attributes["error.type"] == "SummarizerError"


@WAYS
def test_a_list_that_another_call_is_folding_is_told(way: str, backend: Backend) -> None:
    ctx = context(10, on_event=backend.telemetry())
    with ctx._state.alone("a test"):
        assert fold(way, ctx, backend.model).reason == "busy"
    assert attributes(backend.fold())["chatfold.reason"] == "busy"


@WAYS
def test_a_fold_that_the_next_hook_forbids_is_none(way: str, backend: Backend) -> None:
    """There is no span and no count, as nothing was tried."""
    telemetry = backend.telemetry(then=lambda event: event.kind != "before")
    assert fold(way, context(10), backend.model, on_event=telemetry).reason == "vetoed"
    assert backend.ended() == []
    assert backend.reader.get_metrics_data() is None


@pytest.mark.parametrize("way", ["asummarize", "amaybe_summarize"])
def test_a_fold_that_is_cancelled_ends_its_span(way: str, backend: Backend) -> None:
    async def main() -> None:
        ctx, gate = context(10, on_event=backend.telemetry()), Gate()
        call = ctx.asummarize if way == "asummarize" else ctx.amaybe_summarize
        task = asyncio.create_task(call(gate.awaited))
        await until(gate.asked.is_set)
        assert backend.ended() == []
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    span = backend.fold()
    assert attributes(span)["chatfold.reason"] == "cancelled"
    assert span.status.status_code is StatusCode.UNSET
    assert not span.events


@pytest.mark.parametrize("way", ["summarize", "maybe_summarize"])
def test_a_fold_that_something_else_ends_ends_its_span(way: str, backend: Backend) -> None:
    def cut(text: str) -> str:
        raise MemoryError("the customer's words")

    with pytest.raises(MemoryError):
        fold(way, context(10), backend.model, on_event=backend.telemetry(), redact=cut)
    span = backend.fold()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert attributes(span)["error.type"] == "MemoryError"
    assert not span.events


def test_wrong_arguments_end_their_span(backend: Backend) -> None:
    with pytest.raises(TypeError):
        context(10).summarize(backend.amodel, on_event=backend.telemetry())
    assert attributes(backend.fold())["error.type"] == "TypeError"


def test_what_the_caller_has_written_is_a_span_too(backend: Backend) -> None:
    ctx = ChatContext(context(10).items, shape="openai_chat", on_event=backend.telemetry())
    assert ctx.apply(ctx.plan(keep_last_turns=8), "short").changed
    flow = ctx.flow(keep_last_turns=2)
    while flow.prompt is not None:
        flow.send("short")
    first, second = backend.folds()
    assert attributes(first)["chatfold.reason"] == "summarized"
    assert (
        attributes(first)["chatfold.tokens.before"] > attributes(second)["chatfold.tokens.before"]
    )


def test_the_last_resort_is_a_span_of_its_own(backend: Backend) -> None:
    """Beside that of the fold that failed, not within it; it took time."""
    policy = Policy(max_tokens=1_000, keep_tokens=200, window=1_500)
    ctx = context(20, policy=policy, on_event=backend.telemetry())
    with backend.tracer.start_as_current_span("turn") as turn_:
        outcome = ctx.maybe_summarize(Model(error=failing()))
    assert outcome.changed
    failed, helped = backend.folds()
    assert failed.status.status_code is StatusCode.ERROR
    assert helped.status.status_code is StatusCode.UNSET
    assert attributes(helped)["gen_ai.response.model"] == "extractive"
    assert backend.points("gen_ai.client.token.usage") == [], "no model has read anything"
    assert parent(failed) == parent(helped) == turn_.get_span_context().span_id
    assert helped.start_time is not None
    assert helped.end_time is not None
    assert failed.start_time is not None
    assert failed.end_time is not None
    took = (failed.end_time - failed.start_time) + (helped.end_time - helped.start_time)
    assert took / 1e9 > outcome.seconds * 0.99
    assert helped.end_time > helped.start_time


# --- what is a child of it ------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("timeout", [None, 30])
def test_the_calls_of_the_model_are_its_children(
    way: str, timeout: float | None, backend: Backend
) -> None:
    """In the caller's thread, and in that of a function with a time-out."""
    with backend.tracer.start_as_current_span("turn") as turn_:
        fold(way, context(10), backend.model, on_event=backend.telemetry(), timeout=timeout)
        assert trace.get_current_span() is turn_
    chat, span, _ = backend.ended()
    assert (chat.name, parent(chat)) == ("chat", id_of(span))
    assert parent(span) == turn_.get_span_context().span_id


@pytest.mark.parametrize("way", ["asummarize", "amaybe_summarize"])
def test_the_calls_of_an_async_model_are_its_children(way: str, backend: Backend) -> None:
    fold(way, context(10), backend.amodel, on_event=backend.telemetry())
    chat, span = backend.ended()
    assert (chat.name, parent(chat)) == ("chat", id_of(span))
    assert parent(span) is None


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_spans_of_an_sdk_are_its_children(
    background: bool, asynchronous: bool, backend: Backend, llm_server: LLMServer
) -> None:
    """The Anthropic SDK makes spans of its own, with the tokens of each call."""
    anthropic = pytest.importorskip("anthropic")
    kind = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
    client_of = anthropic.DefaultAsyncHttpxClient if asynchronous else anthropic.DefaultHttpxClient
    given: dict[str, Any] = {"open_telemetry": {"tracer_provider": backend.spans}}
    http = client_of(verify=False)
    try:
        client = kind(api_key="k", base_url=llm_server.anthropic_url, http_client=http, **given)
    except TypeError:
        pytest.skip("this SDK makes no spans")
    llm_server.default = ok("short")
    ctx = context(10, on_event=backend.telemetry())

    def run() -> None:
        if not background:
            assert ctx.summarize(client, model="claude-x").changed
            return
        task = ctx.summarize_in_background(client, model="claude-x")
        assert task.wait(20)
        assert task.apply_if_ready().changed

    async def arun() -> None:
        if not background:
            assert (await ctx.asummarize(client, model="claude-x")).changed
            return
        task = ctx.summarize_in_background(client, model="claude-x")
        await until(lambda: task.done)
        assert task.apply_if_ready().changed

    asyncio.run(arun()) if asynchronous else run()
    child, span = backend.ended()
    assert child.instrumentation_scope.name == "com.anthropic.sdk.python"
    assert parent(child) == id_of(span)
    assert span.name == "summarize claude-x"
    assert attributes(span)["gen_ai.provider.name"] == "anthropic"
    assert attributes(span)["gen_ai.request.model"] == "claude-x"
    for name in ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"):
        assert attributes(child)[name] == attributes(span)[name] > 0


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_middleware_makes_a_span_of_each_fold(asynchronous: bool, backend: Backend) -> None:
    """And none at the turns at which it finds its last one again."""
    policy = Policy(max_tokens=1_000, keep_tokens=200)
    middleware: Middleware[Any] = Middleware(
        backend.model, policy, on_event=backend.telemetry(), counter=Words()
    )
    items = [item for n in range(4) for item in turn(n, 400)]
    for _ in range(3):
        made = asyncio.run(middleware.afold(items)) if asynchronous else middleware.fold(items)
        assert made.outcome.changed
    chat, span = backend.ended()
    assert (parent(chat), span.name) == (id_of(span), "summarize")
    assert attributes(span)["chatfold.reason"] == "summarized"
