"""What the summarizers over a provider's SDK share: telling clients apart, and calling.

No SDK is imported here. A client is recognized by the names of its classes, so that proxies,
subclasses and the clients for Azure, Bedrock or Vertex are known without loading what they need.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    TypeAlias,
    cast,
)

from chatfold import threads
from chatfold.core.flow import Completion
from chatfold.core.native import field, plain
from chatfold.core.scalars import check_whole
from chatfold.errors import SummarizerError, SummaryError
from chatfold.summarizers._failures import code_of, detail_of, failure
from chatfold.summarizers._limits import configured, in_time
from chatfold.threads import check_timeout

if TYPE_CHECKING:
    from chatfold.core.render import Prompt

__all__ = [
    "Client",
    "Family",
    "SDKSummarizer",
    "got_async",
    "recognize",
    "text_in",
    "texts_in",
]

Family: TypeAlias = Literal["openai", "anthropic"]

_SYNC = frozenset({"OpenAI", "Anthropic", "SyncAPIClient"})
_ASYNC = frozenset({"AsyncOpenAI", "AsyncAnthropic", "AsyncAPIClient"})
_RESOURCES = {
    ("openai.resources.chat.completions", "Completions"): "chat",
    ("openai.resources.beta.chat.completions", "Completions"): "chat",  # of older versions
    ("openai.resources.responses", "Responses"): "responses",
    ("anthropic.resources.messages", "Messages"): "messages",
    ("anthropic.resources.beta.messages", "Messages"): "messages",
}


class Client(NamedTuple):
    """A client of an SDK, and what is known about it.

    Attributes:
        family: The SDK.
        asynchronous: Whether its calls are awaited.
        endpoint: The endpoint, where not the client was given but one of its resources.
        client: The client itself.
    """

    family: Family
    asynchronous: bool
    endpoint: str | None
    client: Any


def recognize(llm: object) -> Client | None:
    """Return what kind of client `llm` is; None where it is none.

    `client.chat.completions`, `client.responses`, `client.messages` and `client.beta.messages`
    count as their client.
    """
    # Not type(llm): proxies (the SDK's module-level client, instrumentation) answer for what they
    # stand for.
    for base in llm.__class__.__mro__:
        module, name = base.__module__, base.__name__
        root = module.partition(".")[0]
        if root not in ("openai", "anthropic"):
            continue
        family: Family = "openai" if root == "openai" else "anthropic"
        if name in _SYNC or name in _ASYNC:
            return Client(family, name in _ASYNC, None, llm)
        for (path, resource), endpoint in _RESOURCES.items():
            inside = module == path or module.startswith(path + ".")
            if inside and name in (resource, "Async" + resource):
                # The only way from a resource to its client, the same in both SDKs.
                client: Any = cast("Any", llm)._client
                return Client(family, name.startswith("Async"), endpoint, client)
    return None


def got_async(what: str) -> TypeError:
    """Return the error for an asynchronous summarizer in a synchronous call."""
    return TypeError(
        f"summarize() got {what}; use await ctx.asummarize(...), or of another call its twin: "
        "amaybe_summarize for maybe_summarize, Middleware.afold for fold"
    )


def text_in(content: object, kind: str = "text") -> str:
    """Return the text of an answer, "" where there is none.

    Args:
        content: The text itself, or a list of parts, as SDK objects or as dicts.
        kind: The type of the parts that hold text.
    """
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    texts = [field(part, "text") for part in parts if field(part, "type") == kind]
    return "".join(text for text in texts if isinstance(text, str))


class SDKSummarizer:
    """The part of a summarizer that is the same for both SDKs.

    Attributes:
        client: The SDK's client.
        model: Name of the model that is asked.
        timeout: Seconds that one call may take, retries and the waits before them included; None
            for no limit.
        retries: How often the SDK repeats a request that failed.
        asynchronous: Whether the client's calls are awaited.
        owned: Whether the client was made for one call, and is closed when that has ended, be it
            after it was given up.
    """

    family: ClassVar[Family]
    title: ClassVar[str]
    owned = False

    def __init__(
        self, client: object, model: str, *, timeout: float | None = 60.0, retries: int = 1
    ) -> None:
        known = recognize(client)
        if known is None or known.family != self.family:
            raise TypeError(f"expected a client of the {self.title} SDK, got {client!r}")
        if not model:
            raise TypeError(
                f'an {self.title} client needs model=, e.g. ctx.summarize(client, model="...")'
            )
        check_timeout(timeout)
        check_whole("retries", retries, 0)
        self.client: Any = known.client
        self.model = model
        self.timeout = timeout
        self.retries = retries
        self.asynchronous = known.asynchronous

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.client).__name__}, {self.model!r})"

    def complete(self, prompt: Prompt) -> Completion:
        """Ask the model and wait for its answer.

        With a time limit, the client is called in a daemon thread that sees the caller's context
        variables; a call that took too long goes on there, and sends nothing more.

        Raises:
            SummarizerError: The request failed, or took too long; the SDK's error is the cause.
            TypeError: The client is an asynchronous one.
        """
        if self.asynchronous:
            raise got_async(type(self.client).__name__)
        asked = self.suited(prompt)
        try:
            answer = threads.run(partial(self._sent, asked, prompt), self.timeout)
            return asked.read(answer, live=prompt.live is not None)
        except Exception as error:
            return self._failed(error, prompt)

    async def acomplete(self, prompt: Prompt) -> Completion:
        """Ask the model and await its answer; a synchronous client is called in a thread.

        Raises:
            SummarizerError: The request failed, or took too long; the SDK's error is the cause.
        """
        asked = self.suited(prompt)
        if self.asynchronous:
            sending = self._asent(asked, prompt)
        else:
            sending = threads.arun(partial(self._sent, asked, prompt))
        try:
            answer = await in_time(sending, self.timeout)
            return asked.read(answer, live=prompt.live is not None)
        except Exception as error:
            return self._failed(error, prompt)

    def _sent(self, asked: SDKSummarizer, prompt: Prompt) -> Any:
        with self.client if self.owned else nullcontext():
            return asked.send(prompt)

    async def _asent(self, asked: SDKSummarizer, prompt: Prompt) -> Any:
        async with self.client if self.owned else nullcontext():
            return await asked.send(prompt)

    # Answers are Any: servers that only imitate a provider leave out what the SDK's types promise.
    def send(self, prompt: Prompt) -> Any:
        """Send the request; return the SDK's answer, or what to await for it."""
        raise NotImplementedError

    def read(self, answer: Any, *, live: bool = False) -> Completion:
        """Return the SDK's answer as a completion.

        Args:
            answer: The answer.
            live: Whether the request had tools: text beside a call is then no answer, but what
                the model says before it goes on.
        """
        raise NotImplementedError

    def suited(self, prompt: Prompt) -> SDKSummarizer:
        """Return what can send the prompt: this summarizer, or one for another endpoint."""
        return self

    def configured(self) -> Any:
        """Return the client with our time-out and retries; it shares the connections."""
        return configured(self.client, self.timeout, self.retries)

    def unreadable(self, answer: Any) -> NoReturn:
        """Raise the error for an answer that holds none of what the endpoint promises.

        Raises:
            SummarizerError: Always; with the server's words where it reported an error with
                status 200, as routers do.
        """
        error = getattr(answer, "error", None)
        if error:
            raise SummarizerError(
                f"{self.model}: the server reported an error: {detail_of(error)[0]}"
            )
        raise SummarizerError(
            f"{self.model}: the server's answer is not what the {self.title} API gives "
            f"({type(answer).__name__}); is base_url right?"
        )

    def _failed(self, error: Exception, prompt: Prompt) -> Completion:
        """Return the completion that a refused request amounts to, else raise.

        Azure answers status 400 where its filter withholds a prompt, with the same word as where
        it withholds an answer
        (https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter, 2026-11-21).
        """
        if isinstance(error, SummaryError):
            raise error
        if code_of(error) == "content_filter":
            return Completion("", finish_reason="content_filter", model=self.model)
        raise failure(error, _sent(prompt), who=self.model, timeout=self.timeout) from error


def _sent(prompt: Prompt) -> Prompt:
    """Return a prompt with all that was sent, to find out whether an error repeats it."""
    if prompt.live is None:
        return prompt
    given = [*prompt.live.items, prompt.live.item, prompt.live.request]
    return replace(prompt, user="\n".join(texts_in([plain(value) for value in given])))


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text inside of plain values."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, dict):
            waiting.extend(cast("dict[str, Any]", inner).values())
        elif isinstance(inner, list):
            waiting.extend(cast("list[Any]", inner))
