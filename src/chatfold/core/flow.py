"""One summarization as a generator that yields requests and receives completions.

What is asked and answered, and `Flow`, which runs the generator for a host; a sync and an async
driver run it too. Not here: what is asked next (`write`), what a completion replaces (`plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeAlias, TypeVar, cast

from chatfold.core.answers.no_summary import is_error_text, is_refusal, says_nothing
from chatfold.core.answers.thoughts import is_blank, is_calls_alone, without_thoughts
from chatfold.core.cost import Cost
from chatfold.core.grounding import Ungrounded
from chatfold.core.live import Mode
from chatfold.core.render import Prompt
from chatfold.core.summary import unwrapped
from chatfold.core.usage import Usage, usage_in
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
    "cap_for",
    "completed",
]

CAP = 8192
"""The limit of an answer, in tokens, where a provider demands one; doubled once if it is hit."""

_ABOVE = 2  # a limit is this many times what is asked for: models overshoot, and some think first

_SHORT = 50  # tokens; a line with its heading may be longer


@dataclass(frozen=True, slots=True)
class Completion:
    """What a summarizer answers.

    Attributes:
        text: The text of the answer; "" where there is none, also for None. Thoughts that open it
            in tags (`<think>`) are taken off later.
        finish_reason: Why the model stopped, in any provider's word, also as an enum's member;
            None where it is not known.
        usage: Tokens used, or None where the summarizer cannot tell; what a provider's response
            says of them will do, and is read.
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

    def __post_init__(self) -> None:
        """Read what hosts copy from a response as it is."""
        if cast("object", self.text) is None:
            object.__setattr__(self, "text", "")
        if self.usage is not None:
            object.__setattr__(self, "usage", usage_in(self.usage))


@dataclass(frozen=True, slots=True)
class Request:
    """A model call that the flow asks for: the prompt, and which summarizer is to answer."""

    prompt: Prompt
    backend: int


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that was accepted.

    Attributes:
        text: The summary.
        truncated: Number of texts that were shown with their middle left out.
        ungrounded: Values of the model's words that the conversation does not hold.
        dropped: Sentences that went because of them.
        mode: How the summary was asked for.
        fell_back: Why it was not asked for in append mode though that was wanted, else "".
    """

    text: str
    truncated: int = 0
    ungrounded: tuple[Ungrounded, ...] = ()
    dropped: tuple[str, ...] = ()
    mode: Mode = "prompt"
    fell_back: str = ""


Steps: TypeAlias = Generator[Request, Completion, Written]

# Why a model may stop, as the installed SDKs name it (read 2026-11-25): openai 3 (chat, and the
# status of a response), anthropic 2 (`StopReason`), google-genai 3.6 (`FinishReason`), mistralai
# 3.7 (`ChatCompletionChoiceFinishReason`), botocore 1.44 (bedrock-runtime, `StopReason`). And as
# servers name it that speak OpenAI's API (read 2026-11-26): DeepSeek
# (https://api-docs.deepseek.com/api/create-chat-completion), Zhipu's GLM
# (https://docs.bigmodel.cn/api-reference), vLLM (https://github.com/vllm-project/vllm/issues/57082).
_LENGTH = frozenset(
    {
        "incomplete",
        "length",
        "max_output_tokens",
        "max_tokens",
        "model_context_window_exceeded",
        "model_length",
    }
)
_REFUSED = frozenset(
    {
        "blocklist",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "model_armor",
        "prohibited_content",
        "recitation",
        "refusal",
        "safety",
        "sensitive",
        "spii",
    }
)
_TOOLS = frozenset(
    {
        "function_call",
        "malformed_function_call",
        "malformed_tool_use",
        "pause_turn",
        "too_many_tool_calls",
        "tool_calls",
        "tool_use",
        "unexpected_tool_call",
    }
)
_BROKEN = frozenset(
    {
        "abort",
        "cancelled",
        "error",
        "failed",
        "insufficient_system_resource",
        "language",
        "malformed_model_output",
        "malformed_response",
        "missing_thought_signature",
        "network_error",
        "other",
    }
)


def cap_for(asked: int) -> int:
    """Return the limit of an answer where a provider demands one: well above what is asked for.

    But what all models can write is not gone beyond for that: some end at 8,192 tokens.
    """
    return CAP if asked <= CAP else _ABOVE * asked


def completed(answer: object) -> Completion:
    """Return what a host was answered as a completion.

    Raises:
        TypeError: It is neither text nor a `Completion`.
    """
    if answer is None:  # an SDK's `content` where the model refused, or called a tool
        return Completion("")
    if isinstance(answer, str):
        return Completion(answer)
    if isinstance(answer, Completion) and isinstance(cast("object", answer.text), str):
        return answer
    found = type(answer.text if isinstance(answer, Completion) else answer).__qualname__
    raise TypeError(f"a completion is text or a Completion that holds text, not {found}")


def accept(completion: Completion, most: int | None = None) -> str:
    """Return the text of an answer that can stand as a summary, without thoughts before it.

    Args:
        completion: The answer.
        most: Tokens that were asked for, for the remedies: more has to be asked for than that.

    Raises:
        RefusedSummaryError: The model refused or a filter withheld the answer.
        SummarizerError: The provider says that it failed, or the answer is the text of an error.
        TruncatedSummaryError: The answer was cut off.
        NoAnswerError: There are only tool calls, or only reasoning.
        EmptySummaryError: There is nothing to be seen, but the wrapper of an earlier summary, or a
            word or sign that stands where there is nothing.
    """
    reason = _word(completion.finish_reason)
    if completion.refusal or reason in _REFUSED:
        why = reason if reason in _REFUSED else "refusal"
        raise RefusedSummaryError(f"the summarizer refused ({why})")
    if reason in _LENGTH:
        raise TruncatedSummaryError(
            f"the summary was cut off ({reason}); pass max_summary_tokens= of more than "
            f"{max(most or 0, CAP):,}, as the limit that chatfold sends follows it, or "
            "use a model with a longer output"
        )
    said, thought = without_thoughts(completion.text)
    text = unwrapped(said)
    if reason in _TOOLS or is_calls_alone(text):
        raise NoAnswerError(
            "the summarizer answered with tool calls; it must be called without tools"
        )
    if reason in _BROKEN:
        raise SummarizerError(f"the summarizer broke off ({reason})")
    if is_refusal(text):
        raise RefusedSummaryError("the summarizer refused, in words")
    if is_error_text(text):
        raise SummarizerError(
            "the summarizer answered with an error in place of a summary, as a proxy may; what is "
            "asked has to raise it"
        )
    if not is_blank(text) and not says_nothing(text):
        return text
    if completion.reasoning or thought:
        raise NoAnswerError("the summarizer answered with reasoning only, and no text")
    remedy = ""
    if most is not None and most < _SHORT:
        remedy = f"; it was asked for {most} tokens at most, pass a larger max_summary_tokens="
    what = "an empty text" if is_blank(text) else "a text that says nothing"
    raise EmptySummaryError(f"the summarizer answered with {what}{remedy}")


def _word(reason: object) -> str:
    """Return why a model stopped, as one word in small letters: of text, or of an enum's member."""
    value = reason if reason is None or isinstance(reason, str) else getattr(reason, "value", "")
    return value.rpartition(".")[2].lower() if isinstance(value, str) else ""


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
        cost: What it has cost so far.
    """

    def __init__(
        self,
        steps: Steps | None,
        finish: Callable[[Written], OutcomeT],
        outcome: OutcomeT | None,
        *,
        cost: Cost | None = None,
        failed: Callable[[Exception], object] | None = None,
    ) -> None:
        self.cost = Cost() if cost is None else cost
        self._is_asked = False
        self._by_model = True  # what a host sends is its model's
        self._steps = steps
        self._finish = finish
        self._failed = failed  # is told of what ends the flow before it is raised
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
            TypeError: It is neither text nor a `Completion`.
            ValueError: The flow is done, or has ended in an error: there is no `prompt`.
            SummaryError: The answer cannot stand as a summary, and nothing else can be tried.
            StaleHeadError: The head changed while the summary was written.
            InvalidResultError: The new list would break the provider's rules.
        """
        self.answered(completion)()

    def fail(self, error: SummaryError) -> None:
        """Take in that the model call failed; the next summarizer is asked, if there is one.

        Raises:
            TypeError: `error` is no error.
            ValueError: The flow is done, or has ended in an error: there is no `prompt`.
            SummaryError: There is none: `error` itself, with the usage so far.
        """
        try:
            self.unanswered(error)()
        finally:
            del error  # its traceback holds this frame

    # What the drivers use: what a call costs is known before anything is made of its answer

    def asked(self, *, by_model: bool = True) -> Request:
        """Return what is to be asked, by who asks it now: it is a call from here on.

        Args:
            by_model: Whether a model is asked; what is written without one is no call.
        """
        assert self.request is not None, "the flow goes on"
        self.cost.llm_calls += by_model
        self._by_model = by_model
        self.cost.backend = self.request.backend
        self._is_asked = True
        return self.request

    def answered(self, completion: str | Completion) -> Callable[[], None]:
        """Take down what a call has cost; return what does the rest of `send`, in any thread."""
        answer, steps = completed(completion), self._charged()
        self.cost.add(answer.usage, answer.model, by_model=self._by_model)
        return partial(self._advance, partial(steps.send, answer))

    def unanswered(self, error: SummaryError) -> Callable[[], None]:
        """Take down what a call has cost; return what does the rest of `fail`, in any thread."""
        if not isinstance(error, BaseException):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"fail() takes the error of the model call, not {type(error).__name__}; write "
                'flow.fail(SummarizerError("..."))'
            )
        steps = self._charged()
        self.cost.add_failed(error)
        # Held until then: what is returned stands in frames that the error's traceback will hold,
        # and the conversation with them.
        held = [error]
        return partial(self._advance, lambda: steps.throw(held.pop()))

    def _charged(self) -> Steps:
        """Return the steps that go on; the call that was made for them is counted, once."""
        if self._steps is None or self.request is None:
            ended = (
                "is done; its outcome is set" if self.outcome is not None else "ended in an error"
            )
            raise ValueError(f"the flow {ended}, and takes no more; begin another one")
        self.cost.llm_calls += not self._is_asked
        self._is_asked, self.request = False, None
        return self._steps

    def _advance(self, step: Callable[[], Request]) -> None:
        try:
            self._go_on(step)
        except Exception as error:
            if self._failed is not None:
                self._failed(error)
            raise

    def _go_on(self, step: Callable[[], Request]) -> None:
        try:
            self.request = step()
        except StopIteration as done:
            written: Written = done.value
        else:
            return
        self.outcome = self._finish(written)
