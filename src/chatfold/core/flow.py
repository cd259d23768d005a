"""One summarization as a generator that yields requests and receives completions.

What is asked and answered, and `Flow`, which runs the generator for a host; a sync and an async
driver run it too. Not here: what is asked next (`write`), what a completion replaces (`plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from chatfold.core.grounding import Ungrounded
from chatfold.core.live import Mode
from chatfold.core.render import Prompt
from chatfold.errors import (
    EmptySummaryError,
    NoAnswerError,
    RefusedSummaryError,
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
    """A summary that was accepted, and what it cost.

    Attributes:
        text: The summary.
        usage: Tokens of every model call, or None where none was made or none told.
        llm_calls: Number of model calls.
        model: The model that answered last, or None.
        truncated: Number of texts that were shown with their middle left out.
        ungrounded: Values of the model's words that the conversation does not hold.
        dropped: Sentences that went because of them.
        mode: How the summary was asked for.
        fell_back: Why it was not asked for in append mode though that was wanted, else "".
    """

    text: str
    usage: Usage | None
    llm_calls: int
    model: str | None
    truncated: int = 0
    ungrounded: tuple[Ungrounded, ...] = ()
    dropped: tuple[str, ...] = ()
    mode: Mode = "prompt"
    fell_back: str = ""


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
