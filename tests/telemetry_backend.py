"""What the tests of telemetry share: where spans and metrics end, and the ways to fold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from each_turn import maybe
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chatfold import ChatContext, Completion, Outcome, Prompt, Usage
from chatfold.telemetry import Telemetry

__all__ = [
    "BACKGROUND",
    "WAYS",
    "Backend",
    "attributes",
    "backend",
    "begun",
    "fold",
    "id_of",
    "no_span_is_left_behind",
    "parent",
]

WAYS = pytest.mark.parametrize(
    "way", ["summarize", "asummarize", "maybe_summarize", "amaybe_summarize"]
)
BACKGROUND = pytest.mark.parametrize("way", ["maybe_summarize", "summarize_in_background"])


class Backend:
    """What an application sets up: providers of spans and metrics, and where they end."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.spans = TracerProvider()
        self.spans.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.metrics = MeterProvider(metric_readers=[self.reader])
        self.tracer = self.spans.get_tracer("test")

    def telemetry(self, **options: Any) -> Telemetry:
        return Telemetry(self.spans, self.metrics, **options)

    def ended(self) -> list[ReadableSpan]:
        """Return every span so far, in the order in which they ended."""
        return list(self.exporter.get_finished_spans())

    def folds(self) -> list[ReadableSpan]:
        return [s for s in self.ended() if s.instrumentation_scope.name == "chatfold"]

    def fold(self) -> ReadableSpan:
        """Return the span of the only fold."""
        (span,) = self.folds()
        return span

    def points(self, name: str) -> list[Any]:
        """Return the points of a metric."""
        data = self.reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def measured(self) -> str:
        data = self.reader.get_metrics_data()
        return data.to_json() if data else ""

    def model(self, prompt: Prompt) -> Completion:
        """Answer, within a span as the instrumentation of an SDK makes one."""
        with self.tracer.start_as_current_span("chat"):
            return Completion("short", usage=Usage(11, 3, 5), model="model-1")

    async def amodel(self, prompt: Prompt) -> Completion:
        with self.tracer.start_as_current_span("chat"):
            await asyncio.sleep(0)
            return Completion("short", usage=Usage(11, 3, 5), model="model-1")


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture(autouse=True)
def no_span_is_left_behind() -> Iterator[None]:
    """Whatever a test does, no span of its folds is current after it."""
    yield
    assert trace.get_current_span() is trace.INVALID_SPAN


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def parent(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def id_of(span: ReadableSpan) -> int:
    return span.context.span_id


def fold(way: str, ctx: ChatContext[Any], llm: Any, **options: Any) -> Outcome[Any]:
    """Fold in one of four ways."""
    if "maybe" in way:
        return maybe(way, ctx, llm, **options)
    if way == "summarize":
        return ctx.summarize(llm, **options)
    return asyncio.run(ctx.asummarize(llm, **options))


def begun(ctx: ChatContext[Any], way: str, llm: Any) -> None:
    if way == "maybe_summarize":
        assert ctx.maybe_summarize(llm, background=True).reason == "started"
    else:
        assert not ctx.summarize_in_background(llm).settled
