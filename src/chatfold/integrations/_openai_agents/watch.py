"""Folds in what the OpenAI Agents SDK shows: the usage of a run, and its traces."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, cast

from agents import Usage, custom_span, get_current_trace

from chatfold.beginning import in_loop
from chatfold.core.flow import Usage as Tokens
from chatfold.core.plan import Outcome
from chatfold.events import FoldEvent, Hook, tell
from chatfold.integrations._openai_agents.run import RUN

if TYPE_CHECKING:
    from agents.tracing import CustomSpanData, Span

__all__ = ["Watch"]

_BESIDE: Final = 1_000  # folds told beside all runs whose cost waits for a run, at most


class Watch:
    """A hook that shows folds where the SDK shows usage, and in its traces.

    Args:
        hook: The user's own hook, which is told as well.
    """

    def __init__(self, hook: Hook | None = None) -> None:
        self._hook = hook
        self._spans: dict[str, Span[CustomSpanData]] = {}
        self._beside: dict[int, tuple[Tokens, int]] = {}  # what such folds cost, by its identity

    def __call__(self, event: FoldEvent) -> Any:
        """Take in an event."""
        if event.kind != "before":
            self._told(event)
            return tell(self._hook, event)
        answer = tell(self._hook, event)
        return answer if answer is False else _Around(self._spans, event, answer)

    def _told(self, event: FoldEvent) -> None:
        """Write down how a fold went, and what it has cost."""
        outcome = event.outcome
        if outcome is None:
            return
        data, span = _numbers(outcome), self._spans.get(event.id)
        if span is not None:
            span.span_data.data.update(data)
        elif outcome.llm_calls or outcome.changed:  # begun in an earlier call, in the background
            with _span(data):
                pass
        spent = outcome.usage
        if spent is None:
            return
        if in_loop():
            _add(spent, outcome.llm_calls)
            return
        # In a thread, when the run that began it may be over: the run counts that is given it.
        self._beside[id(spent)] = spent, outcome.llm_calls
        for first in list(self._beside)[:-_BESIDE]:
            self._beside.pop(first, None)

    def given_all(self) -> None:
        """Take down that a run is given whatever was told beside all runs: all of one session."""
        for spent, _ in [*self._beside.values()]:
            self.given(spent)

    def given(self, spent: Tokens | None) -> None:
        """Take down that a run is given a fold, or its error, that has cost this.

        Where it was told beside all runs, its cost is part of this one's.
        """
        known = None if spent is None else self._beside.pop(id(spent), None)
        if known is not None:
            _add(*known)


class _Around(AbstractContextManager[None]):
    """Holds a span open while the fold is made, so that the model's own span stands in it.

    Who tries a fold holds this until the try is over, in the background too, and so what the
    user's own hook answered: that hook may tell by it whether the try goes on.

    Args:
        spans: The span is here meanwhile, by the event's id.
        event: Says that the fold begins.
        answer: What the user's own hook answered.
    """

    def __init__(
        self, spans: dict[str, Span[CustomSpanData]], event: FoldEvent, answer: Any
    ) -> None:
        self._spans = spans
        self._event = event
        self._answer: Any = answer
        self._stack = ExitStack()

    def __enter__(self) -> None:
        with ExitStack() as stack:
            name, tokens = self._event.id, self._event.tokens
            self._spans[name] = stack.enter_context(_span({"tokens_before": tokens}))
            stack.callback(self._spans.pop, name, None)
            if isinstance(answer := self._answer, AbstractContextManager):
                stack.enter_context(cast("AbstractContextManager[Any]", answer))
            self._stack = stack.pop_all()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def _span(data: dict[str, Any]) -> Span[CustomSpanData]:
    return custom_span("chatfold.fold", data, disabled=get_current_trace() is None)


def _numbers(outcome: Outcome[Any]) -> dict[str, Any]:
    """Return what a span says of a fold: nothing of the conversation."""
    spent = outcome.usage or Tokens()
    return {
        "reason": outcome.reason,
        "changed": outcome.changed,
        "tokens_before": outcome.tokens_before,
        "tokens_after": outcome.tokens_after,
        "items_removed": len(outcome.removed),
        "model": outcome.model,
        "llm_calls": outcome.llm_calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "seconds": round(outcome.seconds, 3),
    }


def _add(spent: Tokens, calls: int) -> None:
    """Count tokens as the run's in which this is called."""
    context = RUN.get().context
    if context is not None:
        context.usage.add(_usage(spent, calls))


def _usage(spent: Tokens, calls: int) -> Usage:
    """Return tokens as the SDK counts them."""
    made = Usage(
        requests=calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        total_tokens=spent.input_tokens + spent.output_tokens,
    )
    made.input_tokens_details.cached_tokens = spent.cached_tokens
    return made
