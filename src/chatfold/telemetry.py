"""Spans and metrics of folds for OpenTelemetry (extra `otel`).

Names are those of the GenAI semantic conventions, which are in development; what they have no name
for begins with `chatfold.`. Tokens are counted twice: under the names of their first release,
https://github.com/open-telemetry/semantic-conventions-genai/blob/v0.1.0/docs/gen-ai/client-inference.md
and as `gen_ai.client.token.usage`, which that has no more, and dashboards read:
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ (both read 2026-11-30). A fold is
no inference, but several or none: it keeps `gen_ai.client.operation.duration`, which is for all
other operations. Not here: spans of the model calls themselves, which the SDKs or their
instrumentation make; they become children of the fold's.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import ref

from chatfold import __version__
from chatfold.core.callables import check_sync
from chatfold.core.foreign_errors import words_of
from chatfold.core.plan import Outcome
from chatfold.core.scalars import check_flags
from chatfold.core.usage import Usage
from chatfold.errors import MissingExtraError
from chatfold.events import FoldEvent, Hook, Spent, tell

try:
    from opentelemetry import metrics, trace
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode
except ImportError as error:
    raise MissingExtraError(
        'chatfold.telemetry needs OpenTelemetry: pip install "chatfold[otel]"', extra="otel"
    ) from error

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["Telemetry"]

_log = logging.getLogger("chatfold")

_OPERATION: Final = "summarize"
"""None of the conventions' operations is a fold, which is several model calls, or none."""

# The boundaries of gen-ai-metrics.
_TOKENS: Final = [float(4**n) for n in range(14)]
_USED: Final = {
    "input": "Number of input tokens used.",
    "output": "Number of output tokens used.",
    "cache_read.input": "Number of input tokens read from the provider's cache.",
}
_SECONDS: Final = [0.01 * 2**n for n in range(14)]
_DROPPED: Final = "cancelled"
"""What became of a fold whose context was dropped."""
_OTHER: Final = "_OTHER"
"""What stands for a provider or model that is not known, where one has to be named."""


class Telemetry:
    """A hook that makes a span of each fold, and counts folds, tokens and seconds.

    ```python
    ctx = ChatContext(messages, on_event=Telemetry())
    ```

    One may serve any number of contexts, threads and tasks. A span begins when a fold is tried and
    ends when the list is changed or the try is over; it is current meanwhile, also in the thread or
    task of a fold in the background. Where there is nothing to try (`below_trigger`), or a hook
    forbids it, there is none. Nothing of the conversation is in what is exported: no text, no
    name of a tool, no id of a call, no message of an error, and no key. A hook of yours goes into
    `then`; one that calls this one has to return what it returned.

    Args:
        tracer_provider: Where spans go; by default the application's provider.
        meter_provider: Where metrics go, likewise.
        then: Another hook, which is told everything first, and may forbid a fold.
        conversation_id: Whether spans bear the store's key as `gen_ai.conversation.id`.
        content: Whether spans bear the summary (`gen_ai.output.messages`) and the message of an
            error, which may quote the conversation.

    Raises:
        TypeError: `then` is not callable, or a flag is neither true nor false.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        *,
        then: Hook | None = None,
        conversation_id: bool = False,
        content: bool = False,
    ) -> None:
        if then is not None and not callable(then):  # pyright: ignore[reportUnnecessaryComparison]
            raise TypeError(f"then must be a function of a FoldEvent, not {type(then).__name__}")
        check_sync("then", then, may_yield=True)
        check_flags(conversation_id=conversation_id, content=content)
        self._then = then
        self._conversation_id = conversation_id
        self._content = content
        self._tracer = trace.get_tracer("chatfold", __version__, tracer_provider)
        self._meters = _Meters(metrics.get_meter("chatfold", __version__, meter_provider))
        self._open: dict[str, tuple[Span, float, ref[_Open], FoldEvent]] = {}

    def __call__(self, event: FoldEvent) -> Any:
        """Take in an event; return what `then` answers, or what makes the span current."""
        if event.kind == "before":
            answer = tell(self._then, event)
            return (
                answer
                if answer is False
                else _safely(partial(self._begun, event, answer), event, answer)
            )
        try:
            return tell(self._then, event)
        finally:  # Ctrl-C may come, and the span is to end
            _safely(partial(self._ended, event), event, None)

    def _begun(self, event: FoldEvent, answer: Any) -> _Open:
        self._sweep()
        span = self._span(event, event.tokens)
        made = _Open(span, answer)
        self._open[event.id] = (span, time.perf_counter(), ref(made), event)
        return made

    def _ended(self, event: FoldEvent) -> None:
        outcome = event.outcome
        assert outcome is not None
        held = self._open.pop(event.id, None)
        if held is not None:
            span, since, _, begun = held
            seconds = time.perf_counter() - since
        else:  # nothing was told before
            now = time.time_ns() - round(outcome.seconds * 1e9)
            span, seconds, begun = self._span(event, outcome.tokens_before, now), 0.0, event
        try:
            if span.is_recording():
                if _who(begun) != _who(event):  # another one of a chain was asked in the end
                    span.update_name(_name(event))
                    span.set_attributes({**dict.fromkeys(_who(begun), _OTHER), **_who(event)})
                span.set_attributes(_told(event, outcome))
                if outcome.error is not None and not outcome.changed:
                    words = _sendable(words_of(outcome.error)) if self._content else None
                    span.set_status(Status(StatusCode.ERROR, words))
                if self._content and outcome.summary is not None:
                    span.set_attribute("gen_ai.output.messages", _messages(outcome.summary))
        finally:
            span.end()
        self._meters.record(event, outcome, outcome.seconds or seconds)

    def _sweep(self) -> None:
        """End the spans of folds in the background that were dropped with their context.

        Not when that happens: the garbage collector may run inside of an exporter.
        """
        for name, (span, _, held, begun) in list(self._open.items()):
            if held() is None and self._open.pop(name, None) is not None:
                span.set_attribute("chatfold.reason", _DROPPED)
                span.end()
                self._meters.count(begun, _DROPPED)

    def _span(self, event: FoldEvent, tokens: int, start: int | None = None) -> Span:
        attributes: dict[str, str | int] = {**_who(event), "chatfold.tokens.before": tokens}
        if self._conversation_id and event.key is not None:
            attributes["gen_ai.conversation.id"] = _sendable(event.key)
        # The calls to the provider, which run elsewhere, have spans of their own.
        kind = SpanKind.INTERNAL
        return self._tracer.start_span(
            _name(event), kind=kind, attributes=attributes, start_time=start
        )


class _Open:
    """A span that has begun; entered, it is current here and in what is begun from here.

    Who tries a fold holds it until that is over.
    """

    def __init__(self, span: Span, answer: Any) -> None:
        self._span = span
        self._inner = cast("Any", answer) if isinstance(answer, AbstractContextManager) else None
        self._stack = ExitStack()

    def __enter__(self) -> None:
        self._stack.enter_context(
            trace.use_span(self._span, record_exception=False, set_status_on_exception=False)
        )
        if self._inner is None:
            return
        try:
            self._stack.enter_context(self._inner)
        except Exception as error:
            _log.warning("on_event raised %s for 'before'", type(error).__name__)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, traceback)


class _Meters:
    """The instruments, with the boundaries that the conventions give."""

    def __init__(self, meter: metrics.Meter) -> None:
        self._usage = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._used = {
            kind: meter.create_counter(
                f"gen_ai.client.inference.usage.{kind}_tokens", "{token}", what
            )
            for kind, what in _USED.items()
        }
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._size = meter.create_histogram(
            "chatfold.history.tokens",
            "{token}",
            "Size of a history before and after a fold.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._folds = meter.create_counter(
            "chatfold.folds", "{fold}", "Folds that were tried, by what became of them."
        )

    def count(self, event: FoldEvent, reason: str) -> None:
        """Count a fold of which no more is known: not what it has used, nor for how long."""
        self._folds.add(1, {**_who(event), "chatfold.reason": reason})

    def record(self, event: FoldEvent, outcome: Outcome[Any], seconds: float) -> None:
        """Record what became of a fold."""
        who = _who(event)
        failed = outcome.error is not None and not outcome.changed
        why = {"error.type": _type(outcome.error)} if failed else {}
        self._folds.add(1, {**who, **why, "chatfold.reason": outcome.reason})
        without = any(map(_no_model, _spent(event)[-1:]))
        if seconds and (outcome.llm_calls or ((outcome.changed or failed) and not without)):
            named = who if without else who | _answerer(event)
            self._duration.record(seconds, {**named, **why})
        if outcome.changed:
            self._size.record(outcome.tokens_before, {"chatfold.history.state": "before"})
            self._size.record(outcome.tokens_after, {"chatfold.history.state": "after"})
        for spent in _spent(event):
            self._record(spent)

    def _record(self, spent: Spent) -> None:
        """Record what one of those has used that were asked in a fold."""
        used = spent.usage
        if used is None or used == Usage():  # a model reads something
            return
        who = {"gen_ai.provider.name": _OTHER, **_who(spent), **_answered(spent)}
        for kind, tokens in (("input", used.input_tokens), ("output", used.output_tokens)):
            self._usage.record(tokens, {**who, "gen_ai.token.type": kind})
            self._used[kind].add(tokens, who)
        if used.cached_tokens:  # 0 is also what a provider says that has no cache
            self._used["cache_read.input"].add(used.cached_tokens, who)


def _name(event: FoldEvent) -> str:
    return _OPERATION if event.model is None else f"{_OPERATION} {event.model}"


def _who(asked: FoldEvent | Spent) -> dict[str, str]:
    """Return who is asked for a fold, as spans and metrics bear it."""
    who = {"gen_ai.operation.name": _OPERATION}
    if asked.provider is not None:
        who["gen_ai.provider.name"] = asked.provider
    if asked.model is not None:
        who["gen_ai.request.model"] = asked.model
    return who


def _answerer(event: FoldEvent) -> dict[str, str]:
    """Return the model that answered last, unless another one was asked after it in vain."""
    last = next(reversed(_spent(event)), None)
    return _answered(last) if last is not None and _who(last) == _who(event) else {}


def _spent(event: FoldEvent) -> tuple[Spent, ...]:
    """Return what each has used that was asked; a test's own event may say it in its outcome."""
    outcome = event.outcome
    if event.spent or outcome is None or outcome.usage is None:
        return event.spent
    return (Spent(event.provider, event.model, outcome.model, outcome.usage),)


def _shares(spent: Sequence[Spent]) -> dict[str, list[str] | list[int]]:
    """Return the tokens of each that answered, in three lists of one order."""
    used = [each.usage or Usage() for each in spent]
    return {
        "chatfold.spent.by": [
            f"{each.provider or _OTHER} {each.model or each.answered or _OTHER}" for each in spent
        ],
        "chatfold.spent.input_tokens": [each.input_tokens for each in used],
        "chatfold.spent.output_tokens": [each.output_tokens for each in used],
    }


def _no_model(spent: Spent) -> bool:
    """Return whether that is what writes without a model: it has read nothing, for no provider."""
    return (spent.provider, spent.model, spent.usage) == (None, None, Usage())


def _answered(spent: Spent) -> dict[str, str]:
    return {} if spent.answered is None else {"gen_ai.response.model": spent.answered}


def _safely(act: Callable[[], Any], event: FoldEvent, otherwise: Any) -> Any:
    """Return what comes of an event; where an exporter fails, say, the fold goes on."""
    try:
        return act()
    except Exception as error:
        _log.warning("telemetry failed (%s) for %r", type(error).__name__, event.kind)
        return otherwise


def _told(
    event: FoldEvent, outcome: Outcome[Any]
) -> Mapping[str, str | int | bool | list[str] | list[int]]:
    """Return what became of a fold, in numbers and fixed words."""
    told: dict[str, str | int | bool | list[str] | list[int]] = {
        "chatfold.reason": outcome.reason,
        "chatfold.tokens.before": outcome.tokens_before,
        "chatfold.tokens.after": outcome.tokens_after,
        "chatfold.over_limit": outcome.over_limit,
        "chatfold.llm_calls": outcome.llm_calls,
        "chatfold.items.removed": len(outcome.removed),
        "chatfold.items.kept": len(outcome.kept),
        "chatfold.omitted": sum(outcome.omitted.values()),
        "chatfold.truncated": outcome.truncated,
        "chatfold.blocked_calls": len(outcome.blocked_by),
    }
    if outcome.fold_id is not None:
        told["chatfold.fold_id"] = outcome.fold_id
    if outcome.mode is not None:
        told["chatfold.mode"] = outcome.mode
        told["chatfold.fell_back"] = bool(outcome.fell_back)
    told |= _answerer(event)
    if len(event.spent) > 1:  # the numbers below are of all of them
        told |= _shares(event.spent)
    if outcome.usage is not None:
        told["gen_ai.usage.input_tokens"] = outcome.usage.input_tokens
        told["gen_ai.usage.output_tokens"] = outcome.usage.output_tokens
        if outcome.usage.cached_tokens:  # 0 is also what a provider says that has no cache
            told["gen_ai.usage.cache_read.input_tokens"] = outcome.usage.cached_tokens
    if outcome.facts is not None:
        for name in ("kept", "added", "left_out", "ungrounded", "dropped"):
            told[f"chatfold.facts.{name}"] = len(getattr(outcome.facts, name))
    if outcome.error is not None and not outcome.changed:
        told["error.type"] = _type(outcome.error)
        if outcome.error.__cause__ is not None:
            told["chatfold.error.cause"] = _type(outcome.error.__cause__)
    return told


def _type(error: BaseException | None) -> str:
    return type(error).__qualname__


def _sendable(text: str) -> str:
    """Return a text as UTF-8 can have it.

    A lone surrogate in one span makes OpenTelemetry's exporter drop all that are sent with it, also
    those of the application (opentelemetry-exporter-otlp-proto-common 1.45.2, `encode_spans`).
    """
    return text.encode("utf-8", "backslashreplace").decode()


def _messages(summary: str) -> str:
    """Return a summary as the conventions write what a model has said."""
    parts = [{"type": "text", "content": summary}]
    return json.dumps([{"role": "assistant", "parts": parts, "finish_reason": "stop"}])
