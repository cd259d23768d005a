"""One summarization as a generator that yields requests and receives completions.

Decisions live here, model calls do not: a sync and an async driver, or a host, run the generator.
Not here: what a completion replaces (`plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Generic, TypeAlias, TypeVar

from chatfold.core.render import Prompt, Redact
from chatfold.core.views import texts
from chatfold.core.xml import unescape_copied
from chatfold.errors import (
    EmptySummaryError,
    NoAnswerError,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
    TruncatedSummaryError,
)

__all__ = [
    "CAP",
    "Completion",
    "Flow",
    "Request",
    "Steps",
    "Usage",
    "Written",
    "accept",
    "write_summary",
]

CAP = 8192
"""The limit of an answer, in tokens, where a provider demands one; doubled once if it is hit."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that model calls have used.

    Attributes:
        input_tokens: Tokens read, those read from a cache included.
        output_tokens: Tokens written, reasoning included.
        cached_tokens: Tokens read from the provider's cache, part of `input_tokens`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """What a summarizer answers.

    Attributes:
        text: The text of the answer, without reasoning; "" where there is none.
        finish_reason: Why the model stopped, in any provider's word; None where it is not known.
        usage: Tokens used, or None where the summarizer cannot tell.
        model: Name of the model that answered.
        refusal: The model's words of refusal, or None.
        reasoning: Whether the answer held reasoning.
    """

    text: str = field(repr=False)
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    refusal: str | None = field(default=None, repr=False)
    reasoning: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A model call that the flow asks for: the prompt, and which summarizer is to answer."""

    prompt: Prompt
    backend: int


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that was accepted, and what it cost."""

    text: str
    usage: Usage | None
    llm_calls: int
    model: str | None


Steps: TypeAlias = Generator[Request, Completion, Written]

_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"})
_REFUSED = frozenset({"refusal", "content_filter", "safety", "prohibited_content"})
_TOOLS = frozenset({"tool_calls", "tool_use", "function_call", "pause_turn"})


def accept(completion: Completion) -> str:
    """Return the text of an answer that can stand as a summary.

    Raises:
        RefusedSummaryError: The model refused or a filter withheld the answer.
        TruncatedSummaryError: The answer was cut off.
        NoAnswerError: There are only tool calls, or only reasoning.
        EmptySummaryError: There is nothing but white space.
    """
    reason = (completion.finish_reason or "").lower()
    if completion.refusal or reason in _REFUSED:
        raise RefusedSummaryError(f"the summarizer refused ({reason or 'refusal'})")
    if reason in _LENGTH:
        raise TruncatedSummaryError(
            f"the summary was cut off ({reason}); pass a larger max_summary_tokens= "
            "or use a model with a longer output"
        )
    if reason in _TOOLS:
        raise NoAnswerError(
            "the summarizer answered with tool calls; it must be called without tools"
        )
    if completion.text.strip():
        return completion.text.strip()
    if completion.reasoning:
        raise NoAnswerError("the summarizer answered with reasoning only, and no text")
    raise EmptySummaryError("the summarizer answered with an empty text")


def write_summary(
    prompt: Prompt,
    *,
    backends: int = 1,
    redact: Redact | None = None,
    post_process: Callable[[str], str] | None = None,
) -> Steps:
    """Yield requests until one completion can stand as the summary; return it.

    A truncated answer is asked for once more with twice the limit. A backend that fails is
    followed by the next; the last one's error is raised, with the usage of all.

    Args:
        prompt: What to ask.
        backends: Number of summarizers in the fallback chain.
        redact: Applied to the summary, as it was to what went in.
        post_process: Applied to the summary last.

    Raises:
        SummaryError: No backend gave a summary.
    """
    spent = _Spent()
    for backend in range(backends):
        try:
            text = yield from _ask(prompt, backend, spent)
            text = _finished(text, prompt, redact, post_process)
        except SummaryError as error:
            spent.add(error.usage)  # a failed answer may have cost something
            error.usage, error.llm_calls = spent.usage, spent.calls
            if backend == backends - 1:
                raise
        else:
            return Written(text, spent.usage, spent.calls, spent.model)
    raise AssertionError("a fallback chain holds at least one summarizer")


@dataclass(slots=True)
class _Spent:
    usage: Usage | None = None
    calls: int = 0
    model: str | None = None

    def add(self, usage: Usage | None) -> None:
        """Add what a model call used, where that is known."""
        if usage is not None:
            self.usage = (self.usage or Usage()) + usage


def _ask(prompt: Prompt, backend: int, spent: _Spent) -> Generator[Request, Completion, str]:
    for cap in (prompt.cap, 2 * (prompt.cap or CAP)):
        spent.calls += 1
        completion = yield Request(replace(prompt, cap=cap), backend)
        spent.add(completion.usage)
        spent.model = completion.model
        try:
            return accept(completion)
        except TruncatedSummaryError as error:
            truncated = error
    raise truncated


def _finished(
    text: str,
    prompt: Prompt,
    redact: Redact | None,
    post_process: Callable[[str], str] | None,
) -> str:
    """Return the summary as it goes into the list."""
    if "&" in text:
        decoded = unescape_copied(text, _Haystack(prompt))
        text = decoded if decoded.strip() else text  # a lone `&#9;` says nothing when decoded
    for name, change in (("redact", redact), ("post_process", post_process)):
        if change is not None:
            text = change(text)
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise SummarizerError(f"{name}= returned {type(text).__name__}, not text")
    if not text.strip():
        raise EmptySummaryError("nothing is left of the summary after redact= and post_process=")
    return text.strip()


class _Haystack:
    """The raw text of the head, searched without being joined."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        self.found: dict[str, bool] = {}

    def __contains__(self, needle: object) -> bool:
        assert isinstance(needle, str)
        if needle not in self.found:
            self.found[needle] = needle in (self.prompt.previous_summary or "") or any(
                needle in text for view in self.prompt.views for text in texts(view)
            )
        return self.found[needle]


OutcomeT = TypeVar("OutcomeT")


class Flow(Generic[OutcomeT]):
    """One summarization for a host that makes the model calls itself.

    ```python
    flow = ctx.flow(keep_last_turns=2)
    while flow.prompt is not None:
        flow.send(my_model(flow.prompt))
    print(flow.outcome)
    ```

    Attributes:
        prompt: What to ask next; None when the flow is done.
        outcome: What happened; None while the flow goes on.
    """

    def __init__(
        self, steps: Steps | None, finish: Callable[[Written], OutcomeT], outcome: OutcomeT | None
    ) -> None:
        self._steps = steps
        self._finish = finish
        self.request: Request | None = None
        self.outcome = outcome
        if steps is not None:
            self.request = next(steps)

    @property
    def prompt(self) -> Prompt | None:
        """What to ask next; None when the flow is done."""
        return self.request.prompt if self.request is not None else None

    def send(self, completion: str | Completion) -> None:
        """Take in the answer to `prompt`; the last one changes the list.

        Raises:
            SummaryError: The answer cannot stand as a summary, and nothing else can be tried.
            StaleHeadError: The head changed while the summary was written.
            InvalidResultError: The new list would break the provider's rules.
        """
        if isinstance(completion, str):
            completion = Completion(completion)
        self._advance(lambda steps: steps.send(completion))

    def fail(self, error: SummaryError) -> None:
        """Take in that the model call failed; the next summarizer is asked, if there is one.

        Raises:
            SummaryError: There is none: `error` itself, with the usage so far.
        """
        self._advance(lambda steps: steps.throw(error))

    def _advance(self, step: Callable[[Steps], Request]) -> None:
        if self._steps is None or self.request is None:
            raise ValueError("the flow is done; its outcome is set")
        self.request = None
        try:
            self.request = step(self._steps)
        except StopIteration as done:
            written: Written = done.value
        else:
            return
        self.outcome = self._finish(written)
