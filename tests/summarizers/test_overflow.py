"""Errors of every provider that say that a prompt is too long, and the numbers in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold import Prompt, SummarizerError
from chatfold.summarizers._failures import failure
from chatfold.summarizers._overflow import Overflow, overflow_in

PROMPT = Prompt("s", "u", (), None, 100)

SAID: dict[str, tuple[str, int | None, int | None]] = {
    "Anthropic": ("prompt is too long: 213462 tokens > 200000 maximum", 200_000, 213_462),
    "Anthropic with a cap": (
        (
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease "
            "input length or `max_tokens` and try again"
        ),
        200_000,
        178_959,
    ),
    "OpenAI": (
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 8545 tokens. Please reduce the length of the messages."
        ),
        8192,
        8545,
    ),
    "OpenAI with functions": (
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 8545 tokens (8000 in the messages, 545 in the functions)."
        ),
        8192,
        8545,
    ),
    "OpenAI with a completion": (
        (
            "This model's maximum context length is 16384 tokens. However, you requested 122946 "
            "tokens (112946 in the messages, 10000 in the completion). Please reduce the length of "
            "the messages or completion."
        ),
        16_384,
        112_946,
    ),
    "OpenAI, completions": (
        (
            "This model's maximum context length is 4097 tokens, however you requested 6539 tokens "
            "(6283 in your prompt; 256 for the completion). Please reduce your prompt."
        ),
        4097,
        6283,
    ),
    "OpenAI, newer": (
        (
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in "
            "300007 tokens. Please reduce the length of the messages."
        ),
        272_000,
        300_007,
    ),
    "OpenAI, Responses": (
        (
            "Your input exceeds the context window of this model. Please adjust your input and try "
            "again."
        ),
        None,
        None,
    ),
    "Azure": (
        "Input tokens exceed the configured limit of 922000 tokens",
        922_000,
        None,
    ),
    "OpenRouter": (
        (
            "This endpoint's maximum context length is 1048576 tokens. However, you requested "
            "about 1293741 tokens (1227853 of text input, 353 of tool input, 65535 in the output)."
        ),
        1_048_576,
        1_227_853,
    ),
    "vLLM, which stops counting behind the window": (
        (
            "This model's maximum context length is 262144 tokens. However, you requested 0 output "
            "tokens and your prompt contains at least 262145 input tokens, for a total of at least "
            "262145 tokens. Please reduce the length of the input prompt."
        ),
        262_144,
        None,
    ),
    "vLLM 0.16, likewise": (
        (
            "You passed 1015 input tokens and requested 10 output tokens. However, the model's "
            "context length is only 1024 tokens, resulting in a maximum input length of 1014."
        ),
        1024,
        None,
    ),
    "vLLM with a cap": (
        (
            "'max_completion_tokens' is too large: 16384. This model's maximum context length is "
            "8192 tokens and your request has 3000 input tokens (16384 > 8192 - 3000)."
        ),
        8192,
        3000,
    ),
    "vLLM, older": (
        (
            "The decoder prompt (length 40000) is longer than the maximum model length of 32768. "
            "Make sure that max_model_len is no smaller."
        ),
        32_768,
        40_000,
    ),
    "Gemini": (
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        1_048_575,
        1_196_265,
    ),
    "xAI": (
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        131_072,
        537_812,
    ),
    "Mistral": (
        (
            "Prompt contains 300000 tokens and 0 draft tokens, too large for model with 131072 "
            "maximum context length"
        ),
        131_072,
        300_000,
    ),
    "Together": (
        "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
        32_768,
        40_000,
    ),
    "Bedrock": ("Input is too long for requested model.", None, None),
    "Groq": ("Please reduce the length of the messages or completion.", None, None),
    "llama.cpp": (
        "the request exceeds the available context size, try increasing it",
        None,
        None,
    ),
    "llama.cpp, newer": (
        "request (14429 tokens) exceeds the available context size (8192 tokens), try again",
        8192,
        14_429,
    ),
    "llama-cpp-python": ("Requested tokens (2285) exceed context window of 2048", 2048, 2285),
    "Ollama": ("prompt too long; exceeded max context length by 120 tokens", None, None),
    "LM Studio": (
        (
            "Trying to keep the first 5000 tokens when context the overflows. However, the model "
            "is loaded with context length of only 4096 tokens, which is not enough."
        ),
        4096,
        None,
    ),
    "Copilot": ("prompt token count of 140,000 exceeds the limit of 128,000", 128_000, 140_000),
    "Kimi": (
        "Your request exceeded model token limit: 262144 (requested: 300000)",
        262_144,
        300_000,
    ),
    "LiteLLM": (
        "Requested token count exceeds the model's maximum context length of 131072 tokens.",
        131_072,
        None,
    ),
    "a proxy": (
        "Input length (265330) exceeds model's maximum context length (262144).",
        262_144,
        265_330,
    ),
    "Poolside": (
        "Input length 140000 exceeds the maximum allowed input length of 131040 tokens.",
        131_040,
        140_000,
    ),
}


@pytest.mark.parametrize("who", SAID)
def test_each_wording_is_known_with_its_numbers(who: str) -> None:
    text, limit, size = SAID[who]
    assert overflow_in(text, frozenset()) == Overflow(limit, size)


def test_numbers_in_fields_of_their_own_are_read() -> None:
    """As llama.cpp's server gives them."""
    fields = {"message": "the request exceeds the available context size", "n_ctx": 8192}
    body = {"error": {**fields, "n_prompt_tokens": 14_429}}
    assert overflow_in(fields["message"], frozenset(), body) == Overflow(8192, 14_429)  # type: ignore[arg-type]
    assert overflow_in("", frozenset({"exceed_context_size_error"}), fields) == Overflow(8192)
    lies = {"n_ctx": True, "n_prompt_tokens": "9" * 30}
    assert overflow_in("", frozenset(), lies, certain=True) == Overflow(1, None)


@pytest.mark.parametrize(
    "text",
    [
        "Too many tokens, please wait before trying again.",
        "Rate limit reached: the input token count per minute is 40,000",
        "ThrottlingException: input is too long for now",
        "max_tokens is too large: 16384. This model supports at most 4096 completion tokens",
        "The model `small` does not exist",
        "",
    ],
)
def test_other_errors_are_no_overflow(text: str) -> None:
    assert overflow_in(text, frozenset()) is None
    assert overflow_in(text, frozenset(), certain=True) is not None


class _RefusedError(Exception):
    """An error as the SDKs raise them."""

    def __init__(self, status: int | None, message: str, **fields: Any) -> None:
        super().__init__(message)
        if status is not None:
            self.status_code = status
        self.body: object = {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "overflow"), [(400, True), (413, True), (500, True), (429, False)]
)
def test_the_error_carries_what_the_server_said(status: int, overflow: bool) -> None:
    error = failure(_RefusedError(status, SAID["Gemini"][0]), PROMPT, who="m")
    assert (error.overflow, error.limit) == (overflow, 1_048_575 if overflow else None)
    assert ("exceeds the model's window" in str(error)) == overflow


def test_an_error_without_a_status_is_read_too() -> None:
    """Functions call whatever they like: boto3 raises no error with a status."""
    error = failure(
        _RefusedError(None, "An error occurred: Input is too long for requested model."),
        PROMPT,
        who="m",
    )
    assert isinstance(error, SummarizerError)
    assert error.overflow
    assert not failure(ValueError("no"), PROMPT, who="m").overflow


class _BodilessError(Exception):
    """As Ollama's client and litellm raise it: with a status, and all words in the message."""

    status_code = 400
    body = None


def test_the_words_of_an_error_without_a_body_are_its_message() -> None:
    error = failure(_BodilessError(SAID["OpenAI"][0]), PROMPT, who="m")
    assert (error.overflow, error.limit, error.size) == (True, 8192, 8545)
    assert str(failure(_BodilessError("no such model"), PROMPT, who="m")).endswith(
        ": no such model"
    )


@pytest.mark.parametrize(
    "body",
    [
        {"detail": SAID["OpenAI"][0]},
        {"detail": [{"loc": ["body", 0], "msg": SAID["OpenAI"][0]}]},
        {"error": {"code": 400, "reason": SAID["OpenAI"][0]}},
    ],
)
def test_a_body_without_a_message_is_read_by_all_its_words(body: object) -> None:
    """A server that is no provider's own puts them where it likes."""
    refused = _RefusedError(400, "")
    refused.body = body
    error = failure(refused, PROMPT, who="m")
    assert (error.overflow, error.limit, error.size) == (True, 8192, 8545)
    assert "resulted in 8545 tokens" in str(error)


def test_what_a_server_quotes_of_the_request_is_left_out() -> None:
    """A key in a header, say, which is no part of the prompt."""
    refused = _RefusedError(422, "")
    where = ["header", "authorization"]
    refused.body = {"detail": [{"loc": where, "msg": "bad key", "input": "Bearer sk-SECRET"}]}
    assert str(failure(refused, PROMPT, who="m")) == "m: status 422: bad key header authorization"
    refused.body = {"error": {"metadata": {"headers": {"Authorization": "Bearer sk-SECRET"}}}}
    assert "SECRET" not in str(failure(refused, PROMPT, who="m"))


def test_a_window_that_is_no_number_is_none() -> None:
    body = {"error": {"message": "exceeds the available context size", "n_ctx": "unknown"}}
    assert overflow_in("exceeds the available context size", frozenset(), body) == Overflow()


def test_a_request_that_is_too_large_in_bytes_is_an_overflow() -> None:
    """A proxy answers 413 with a page."""
    error = failure(_RefusedError(413, "<html>too large</html>"), PROMPT, who="m")
    assert error.overflow
    assert (error.limit, error.size) == (None, None)


@given(
    text=st.text(
        st.sampled_from("0123456789, ()>tokens maximum context length is of"), max_size=400
    )
)
def test_no_text_breaks_the_reading(text: str) -> None:
    found = overflow_in("maximum context length is " + text, frozenset())
    assert found is not None
    assert all(n is None or 0 < n < 10**12 for n in found)


def test_a_long_hostile_message_is_read_to_a_limit() -> None:
    """Only its beginning can say anything."""
    text = "maximum context length is 9 tokens" + " (9" * 1_000_000
    assert overflow_in(text, frozenset()) == Overflow(9)
    assert overflow_in(" " * 5_000_000 + SAID["Gemini"][0], frozenset()) is None
