"""Whether an error says that a prompt exceeds a model's window, and which numbers it gives.

Providers have no common code for it; most are told by their words alone. The wordings are those of
https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts and of the threads
named beside them (all read 2026-11-22).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, cast

__all__ = ["Overflow", "overflow_in"]


class Overflow(NamedTuple):
    """What an error says of a prompt that is too long.

    Attributes:
        limit: Tokens that the model's window, or a prompt for it, holds; None where it is not said.
        size: Tokens of the prompt by the server's count, the answer's room not counted; None where
            it is not said.
    """

    limit: int | None = None
    size: int | None = None


# Codes of OpenAI, Azure and Groq, of llama.cpp's server, of Anthropic (by size in bytes) and of
# GitHub Copilot.
_CODES = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "exceed_context_size_error",
        "model_max_prompt_tokens_exceeded",
        "request_too_large",
        "string_above_max_length",
    }
)
_WORDS = re.compile(
    r"(?i)(?:prompt|input) is too long|prompt too long|maximum context length"
    r"|exceeds? the context window|exceeds? (?:the )?context (?:limit|length)"
    r"|model's context length|input token count|input tokens exceed|length of the messages"
    r"|maximum (?:prompt|model) length|available context size|exceed context window"
    r"|greater than the context length|with context length of only|context window exceeds"
    r"|exceeded model token limit|prompt token count of|maximum allowed input length"
)
# Bedrock says "Too many tokens, please wait" where it throttles.
_NO_OVERFLOW = re.compile(r"(?i)rate limit|too many requests|throttl|per minute")

_N = r"\d[\d,]{0,14}"
_NUMBERS = tuple(
    re.compile(
        "(?i)" + pattern.replace("<limit>", f"(?P<limit>{_N})").replace("<size>", f"(?P<size>{_N})")
    )
    for pattern in (
        # Anthropic, also behind Bedrock and Vertex; with an answer's cap:
        # https://github.com/docker/docker-agent/issues/569
        r"too long: <size> tokens > <limit> maximum",
        r"context limit: <size> \+ [\d,]{1,15} > <limit>",
        # OpenAI and Azure: https://github.com/smol-ai/developer/issues/7. With a completion counted
        # in: https://github.com/vllm-project/vllm/issues/20409
        r"maximum context length is <limit> tokens.{0,40}?resulted in <size>",
        r"maximum context length is <limit> tokens.{0,60}?\(<size> (?:in|of) ",
        r"configured limit of <limit> tokens.{0,30}?resulted in <size>",
        # vLLM with a completion's cap: https://github.com/vllm-project/vllm/issues/42474. It stops
        # counting one token behind the window ("at least", "You passed"): that is no size.
        r"maximum context length is <limit> tokens.{0,40}?request has <size> input tokens",
        r"context length is only <limit> tokens",
        r"\(length <size>\) is longer than the maximum model length of <limit>",
        # Gemini, xAI, Mistral, Together, GitHub Copilot, Kimi, and proxies (LiteLLM, OpenRouter)
        r"input token count \(<size>\) exceeds the maximum number of tokens allowed \(<limit>\)",
        r"maximum prompt length is <limit> but the request contains <size>",
        r"contains <size> tokens.{0,80}?too large for model with <limit> maximum",
        r"\(<size> tokens\) is longer than the model's context length \(<limit> tokens\)",
        r"prompt token count of <size> exceeds the limit of <limit>",
        r"token limit: <limit> \(requested: <size>\)",
        r"input length \(<size>\) exceeds (?:the )?model's maximum context length \(<limit>\)",
        r"input length <size> exceeds the maximum allowed input length of <limit>",
        # llama.cpp and its Python server: https://github.com/abetlen/llama-cpp-python/issues/416
        r"request \(<size> tokens\) exceeds the available context size \(<limit> tokens\)",
        r"requested tokens \(<size>\) exceed context window of <limit>",
        # The window alone; LM Studio's too.
        r"maximum (?:context|prompt|model) length (?:is|of) <limit>",
        r"configured limit of <limit> tokens",
        r"context length of only <limit> tokens",
    )
)
_LOOKED_AT = 1000  # characters of a message: what matters stands in its first sentences


def overflow_in(
    text: str, codes: frozenset[str], body: object = None, *, certain: bool = False
) -> Overflow | None:
    """Return what an error says of a prompt's length; None where it says nothing of the kind.

    Args:
        text: The error's words.
        codes: The error's codes and types.
        body: The body of the response; llama.cpp's server gives the numbers in fields of their own
            (https://github.com/ggml-org/llama.cpp/pull/15780, read 2026-11-22).
        certain: Whether it is known otherwise that the prompt was too long.
    """
    text = " ".join(text[:_LOOKED_AT].split())
    said = _WORDS.search(text) and not _NO_OVERFLOW.search(text)
    if not (certain or said or codes & _CODES):
        return None
    fields = _fields(body)
    limit, size = _number(fields.get("n_ctx")), _number(fields.get("n_prompt_tokens"))
    if limit is not None:
        return Overflow(limit, size)
    for pattern in _NUMBERS:
        found = pattern.search(text)
        if found is not None:
            numbers = found.groupdict()
            return Overflow(_number(numbers["limit"]), _number(numbers.get("size")))
    return Overflow()


def _fields(body: object) -> Mapping[str, object]:
    if not isinstance(body, Mapping):
        return {}
    fields = cast("Mapping[str, object]", body)
    inner = fields.get("error")
    return cast("Mapping[str, object]", inner) if isinstance(inner, Mapping) else fields


def _number(value: object) -> int | None:
    """Return a number of tokens that an error gives; None where it cannot be one."""
    if isinstance(value, str):
        value = int(value.replace(",", "")) if re.fullmatch(_N, value) else None
    return value if isinstance(value, int) and 0 < value < 10**12 else None
