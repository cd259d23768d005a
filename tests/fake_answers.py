"""How a provider may answer a request, well or badly; `fake_server` gives these answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

SUMMARY = "- The customer asked about an order; it was shipped."


@dataclass(frozen=True)
class Answer:
    """A whole answer with status 200; each endpoint writes it in its own way."""

    text: str | Callable[[dict[str, Any]], str] = SUMMARY
    end: Literal["stop", "length", "refusal", "content_filter", "tool_call", "failed"] = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    tool: tuple[str, dict[str, Any]] | None = None
    nothing: bool = False
    input_tokens: int = 120
    output_tokens: int = 30
    cached_tokens: int = 0


@dataclass(frozen=True)
class Failure:
    """An answer with a status of 400 or more."""

    status: int
    message: str
    type: str = "invalid_request_error"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """An answer whose body is not what the endpoint gives."""

    body: str
    media_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True)
class Cut:
    """The connection is closed in the middle of the body."""


@dataclass(frozen=True)
class Wait:
    """An answer that comes late.

    Attributes:
        seconds: The answer is held back for so long.
        then: What is answered.
        arrived: Set when the request has arrived.
        release: Set by a test to have the answer earlier.
    """

    seconds: float
    then: Answer | Failure
    arrived: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)


Behaviour = Answer | Failure | Raw | Cut | Wait


def ok(text: str | Callable[[dict[str, Any]], str] = SUMMARY, **tokens: int) -> Answer:
    """A whole answer; a callable makes its text from the request's body."""
    return Answer(text, **tokens)  # type: ignore[arg-type]  # only the three counts are passed


def truncated(text: str = "- The customer asked about") -> Answer:
    """An answer cut off by the length limit."""
    return Answer(text, end="length", output_tokens=8192)


def empty(text: str = "") -> Answer:
    """An answer that ends normally and holds no text; `text` may be white space."""
    return Answer(text)


def nothing() -> Answer:
    """An answer without a single choice, output item or block."""
    return Answer("", nothing=True)


def refused(words: str = "I can't help with that.") -> Answer:
    """A refusal in the provider's own form."""
    return Answer("", end="refusal", refusal=words)


def content_filter() -> Answer:
    """An answer withheld by a filter; Anthropic calls that a refusal."""
    return Answer("", end="content_filter")


def tool_call(name: str = "lookup_order", **arguments: Any) -> Answer:
    """A call of one tool and no text."""
    return Answer("", end="tool_call", tool=(name, arguments))


def reasoning_only(thoughts: str = "The user wants a summary.") -> Answer:
    """Reasoning and no text."""
    return Answer("", reasoning=thoughts)


def failed(message: str = "The model stumbled.") -> Answer | Failure:
    """A response whose status is `failed`; the other endpoints know no such thing: status 500."""
    return Answer(message, end="failed")


def rate_limited(retry_after_ms: int = 1) -> Failure:
    """Status 429; the SDKs may repeat the request after so many milliseconds."""
    headers = {"retry-after-ms": str(retry_after_ms), "retry-after": "1"}
    return Failure(429, "Rate limit reached.", "rate_limit_error", "rate_limit_exceeded", headers)


def server_error(message: str = "The server had an error.") -> Failure:
    """Status 500, which the SDKs repeat at once."""
    return Failure(500, message, "server_error", headers={"retry-after-ms": "1"})


def overflow(style: Literal["provider", "llama.cpp"] = "provider") -> Failure:
    """Status 400 for a prompt that exceeds the window, in the provider's words or llama.cpp's."""
    if style == "llama.cpp":
        text = "the request exceeds the available context size, try increasing it"
        return Failure(400, text, "exceed_context_size_error")
    return Failure(400, "", code="context_length_exceeded")


def cut() -> Cut:
    """A connection closed in the middle of the body."""
    return Cut()


def hang(seconds: float = 30.0) -> Wait:
    """No answer for so long; the server's end ends it."""
    return Wait(seconds, Failure(500, "too late"))


def delay(seconds: float = 10.0, text: str = SUMMARY) -> Wait:
    """A good answer after `seconds`, or when the test sets `.release`; `.arrived` is set before."""
    return Wait(seconds, Answer(text))
