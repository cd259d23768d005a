"""Spans of folds in the background, and of several conversations at once."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest
from background import Gate, background_threads, finished, until
from each_turn import context, failing
from opentelemetry import trace
from telemetry_backend import (
    BACKGROUND,
    Backend,
    attributes,
    backend,
    begun,
    id_of,
    no_span_is_left_behind,
    parent,
)

from chatfold import Completion, Middleware, Policy, Prompt, Usage
from chatfold.stores import MemoryStore

__all__ = ["backend", "no_span_is_left_behind"]


@BACKGROUND
def test_a_fold_in_a_thread_is_a_span_until_it_is_put_in(way: str, backend: Backend) -> None:
    """It is current in that thread, and not in the caller's, whose turn goes on."""
    ctx, gate = context(10, on_event=backend.telemetry()), Gate()

    def model(prompt: Prompt) -> Completion:
        with backend.tracer.start_as_current_span("chat"):
            return gate(prompt)

    with backend.tracer.start_as_current_span("turn 1") as first:
        begun(ctx, way, model)
        assert trace.get_current_span() is first
    finished(ctx, gate)
    assert [span.name for span in backend.ended()] == ["turn 1", "chat"]
    assert ctx.background is not None
    with backend.tracer.start_as_current_span("turn 2"):
        assert ctx.background.apply_if_ready().changed
    *_, chat, span, last = backend.ended()
    assert [s.name for s in (chat, span, last)] == ["chat", "summarize", "turn 2"]
    assert parent(chat) == id_of(span)
    assert parent(span) == first.get_span_context().span_id
    assert attributes(span)["chatfold.reason"] == "summarized"
    (seconds,) = backend.points("gen_ai.client.operation.duration")
    assert (seconds.count, seconds.sum) == (1, pytest.approx(0, abs=20))


@BACKGROUND
def test_a_fold_in_a_task_is_a_span_until_it_is_put_in(way: str, backend: Backend) -> None:
    async def main() -> None:
        ctx, gate = context(10, on_event=backend.telemetry()), Gate()

        async def model(prompt: Prompt) -> Completion:
            with backend.tracer.start_as_current_span("chat"):
                return await gate.awaited(prompt)

        begun(ctx, way, model)
        assert trace.get_current_span() is trace.INVALID_SPAN
        task = ctx.background
        assert task is not None
        gate.open.set()
        await until(lambda: task.done)
        assert [span.name for span in backend.ended()] == ["chat"]
        assert task.apply_if_ready().changed
        chat, span = backend.ended()
        assert (span.name, parent(chat)) == ("summarize", id_of(span))

    asyncio.run(main())


@BACKGROUND
@pytest.mark.parametrize("end", ["cancelled", "failed"])
def test_a_fold_in_the_background_may_fail(way: str, end: str, backend: Backend) -> None:
    gate = Gate(error=failing() if end == "failed" else None)
    ctx = context(10, on_event=backend.telemetry())
    begun(ctx, way, gate)
    task = ctx.background
    assert task is not None
    if end == "cancelled":
        task.cancel()
    gate.open.set()
    assert task.wait(20)
    task.apply_if_ready()
    span = backend.fold()
    assert attributes(span)["chatfold.reason"] == end
    assert span.status.is_ok is (end == "cancelled")
    assert span.status.description is None


def test_a_fold_behind_an_object_of_one_request_is_a_span_and_counted(backend: Backend) -> None:
    """No further turn comes to the `Middleware` that has begun it."""
    telemetry, store = backend.telemetry(), MemoryStore()
    roles = ("user", "assistant")
    host = [{"role": roles[n % 2], "content": f"{n} " + "word " * 20} for n in range(40)]
    for key in ("one", "two"):
        wrapper: Middleware[Any] = Middleware(
            lambda prompt: Completion("They talked.", usage=Usage(70, 3)),
            Policy(max_tokens=600, keep_tokens=100),
            store,
            background=True,
            on_event=telemetry,
        )
        assert wrapper.fold(host, key=key).outcome.reason == "started"
    asyncio.run(until(lambda: len(backend.folds()) == 2))
    assert {attributes(span)["gen_ai.usage.input_tokens"] for span in backend.folds()} == {70}
    asyncio.run(until(lambda: sum(p.value for p in backend.points("chatfold.folds")) == 2))
    assert telemetry._open == {}


def test_two_conversations_in_one_thread_do_not_mix(backend: Backend) -> None:
    """Folds that begin in one thread and end in another order have a span each."""
    telemetry, folds = backend.telemetry(conversation_id=True), list[tuple[Any, Gate]]()
    for key in ("one", "two", "three"):
        gate = Gate()
        ctx = context(10, on_event=telemetry, store=MemoryStore(), key=key)
        folds.append((ctx.summarize_in_background(gate), gate))
    for task, gate in reversed(folds):
        gate.open.set()
        assert task.wait(20)
    for task, _ in (folds[1], folds[0], folds[2]):
        assert task.apply_if_ready().changed
    keys = [attributes(span)["gen_ai.conversation.id"] for span in backend.folds()]
    assert keys == ["two", "one", "three"]
    assert {parent(span) for span in backend.folds()} == {None}


def test_conversations_in_tasks_of_one_loop_do_not_mix(backend: Backend) -> None:
    telemetry, gates = backend.telemetry(), [Gate() for _ in range(4)]

    async def one(number: int) -> None:
        async def model(prompt: Prompt) -> Completion:
            with backend.tracer.start_as_current_span(f"chat {number}"):
                return await gates[number].awaited(prompt)

        with backend.tracer.start_as_current_span(f"turn {number}"):
            assert (await context(10, on_event=telemetry).asummarize(model)).changed

    async def main() -> None:
        tasks = [asyncio.create_task(one(number)) for number in range(4)]
        for number in (2, 0, 3, 1):
            await until(gates[number].asked.is_set)
            gates[number].open.set()
            await tasks[number]

    asyncio.run(main())
    spans = {id_of(span): span for span in backend.ended()}
    for number in range(4):
        (chat,) = (span for span in spans.values() if span.name == f"chat {number}")
        made = spans[parent(chat) or 0]
        assert made.name == "summarize"
        assert spans[parent(made) or 0].name == f"turn {number}"


def test_a_fold_within_a_fold_is_its_child(backend: Backend) -> None:
    """A summarizer may be an agent with a context of its own."""
    telemetry = backend.telemetry()

    def agent(prompt: Prompt) -> Completion:
        context(10, on_event=telemetry).summarize(backend.model)
        return Completion("short")

    context(10, on_event=telemetry).summarize(agent)
    chat, inner, outer = backend.ended()
    assert (parent(chat), parent(inner), parent(outer)) == (id_of(inner), id_of(outer), None)


def test_a_fold_that_is_dropped_with_its_context_ends_its_span(backend: Backend) -> None:
    """At one of the next folds; nothing piles up in a server whose users leave."""
    telemetry = backend.telemetry()
    for _ in range(3):
        gate = Gate()
        ctx = context(10, on_event=telemetry)
        task = ctx.summarize_in_background(gate)
        gate.open.set()
        assert task.wait(20)
        del ctx, task, gate
    asyncio.run(until(lambda: not background_threads()))  # they hold their folds until they end
    gc.collect()
    assert context(10, on_event=telemetry).summarize(backend.model).changed
    reasons = [attributes(span)["chatfold.reason"] for span in backend.folds()]
    assert reasons == ["cancelled"] * 3 + ["summarized"]
    points = backend.points("chatfold.folds")
    counted = {(point.attributes or {})["chatfold.reason"]: point.value for point in points}
    assert counted == {"cancelled": 3, "summarized": 1}
    assert telemetry._open == {}


def test_one_telemetry_serves_many_threads(backend: Backend) -> None:
    """Each fold has a span, and each call of a model is in the span of its own fold."""
    telemetry, names = backend.telemetry(), [f"thread {number}" for number in range(8)]

    def work(name: str) -> None:
        def model(prompt: Prompt) -> Completion:
            with backend.tracer.start_as_current_span(f"chat {name}"):
                return Completion("short")

        for _ in range(5):
            with backend.tracer.start_as_current_span(name):
                assert context(10, on_event=telemetry).summarize(model).changed

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spans = {id_of(span): span for span in backend.ended()}
    assert len(backend.folds()) == 40
    for span in spans.values():
        if span.name.startswith("chat "):
            outer = spans[parent(spans[parent(span) or 0]) or 0]
            assert span.name == f"chat {outer.name}"
    (count,) = backend.points("chatfold.folds")
    assert count.value == 40
    assert telemetry._open == {}
