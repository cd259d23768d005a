"""The Anthropic summarizer: the real clients, sync and async, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anthropic import (
    Anthropic,
    APITimeoutError,
    AsyncAnthropic,
    DefaultAsyncHttpxClient,
    DefaultHttpxClient,
)
from fake_server import (
    SUMMARY,
    Behaviour,
    Failure,
    LLMServer,
    Raw,
    content_filter,
    cut,
    empty,
    hang,
    nothing,
    ok,
    overflow,
    rate_limited,
    reasoning_only,
    refused,
    server_error,
    tool_call,
    truncated,
)

from chatfold.core.flow import CAP, Completion, Usage, accept
from chatfold.core.render import Prompt
from chatfold.errors import (
    EmptySummaryError,
    NoAnswerError,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
    TruncatedSummaryError,
)
from chatfold.summarizers import AnthropicSummarizer

Ask = Callable[..., Completion]
KEY = "sk-ant-secret"


# Plain HTTP needs no certificates, and loading them takes longer than all else in a test.
def sync_client(server: LLMServer, **options: Any) -> Anthropic:
    http = DefaultHttpxClient(verify=False)
    return Anthropic(api_key=KEY, base_url=server.anthropic_url, http_client=http, **options)


def async_client(server: LLMServer) -> AsyncAnthropic:
    http = DefaultAsyncHttpxClient(verify=False)
    return AsyncAnthropic(api_key=KEY, base_url=server.anthropic_url, http_client=http)


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest, llm_server: LLMServer, prompt: Prompt) -> Ask:
    """Asks the server through a real client, which the two kinds take turns to be."""

    def ask(asked: Prompt = prompt, **options: Any) -> Completion:
        options = {"timeout": 5.0, "retries": 0, **options}
        if request.param == "sync":
            with sync_client(llm_server) as client:
                return AnthropicSummarizer(client, "claude-test", **options).complete(asked)

        async def call() -> Completion:
            async with async_client(llm_server) as client:
                return await AnthropicSummarizer(client, "claude-test", **options).acomplete(asked)

        return asyncio.run(call())

    return ask


def test_a_whole_answer_is_accepted_with_its_usage(ask: Ask, llm_server: LLMServer) -> None:
    """What was read from the cache counts as input, which Anthropic reports beside it."""
    llm_server.script(ok(input_tokens=900, output_tokens=70, cached_tokens=512))
    completion = ask()
    assert accept(completion) == SUMMARY
    assert completion.usage == Usage(900, 70, 512)
    assert completion.model == "claude-test"


def test_the_request_holds_the_prompt_and_the_limit_that_the_api_demands(
    ask: Ask, llm_server: LLMServer, prompt: Prompt
) -> None:
    """`max_tokens` is CAP where the prompt names no cap; there are no tools."""
    ask()
    assert llm_server.requests[0].path == "/v1/messages"
    assert llm_server.requests[0].body == {
        "model": "claude-test",
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
        "max_tokens": CAP,
    }


@pytest.mark.parametrize(("asked", "limit"), [(4_096, CAP), (8_192, 8_192), (20_000, 40_000)])
def test_the_limit_is_well_above_a_long_summary(
    ask: Ask, llm_server: LLMServer, prompt: Prompt, asked: int, limit: int
) -> None:
    """A summary of the length that was asked for would be cut off otherwise, and paid for twice."""
    ask(replace(prompt, max_tokens=asked))
    assert llm_server.requests[0].body["max_tokens"] == limit


@pytest.mark.parametrize("timeout", [5.0, None])
@pytest.mark.parametrize("cap", [2 * CAP, 64_000])
def test_a_large_cap_needs_no_streaming(
    ask: Ask, llm_server: LLMServer, prompt: Prompt, cap: int, timeout: float | None
) -> None:
    """The SDK refuses long requests without streaming only where no time-out was named."""
    assert accept(ask(replace(prompt, cap=cap), timeout=timeout)) == SUMMARY
    assert llm_server.requests[0].body["max_tokens"] == cap


@pytest.mark.parametrize(
    ("behaviour", "error", "word"),
    [
        pytest.param(truncated(), TruncatedSummaryError, "cut off", id="truncated"),
        pytest.param(empty(), EmptySummaryError, "empty", id="empty"),
        pytest.param(empty(" \n\t"), EmptySummaryError, "empty", id="blank"),
        pytest.param(nothing(), EmptySummaryError, "empty", id="nothing"),
        pytest.param(refused(), RefusedSummaryError, "refused", id="refused"),
        pytest.param(content_filter(), RefusedSummaryError, "refus", id="filter"),
        pytest.param(tool_call(order="A-1001"), NoAnswerError, "tool calls", id="tool-call"),
        pytest.param(reasoning_only(), NoAnswerError, "reasoning only", id="reasoning"),
    ],
)
def test_an_answer_that_is_no_summary_is_told_apart(
    ask: Ask, llm_server: LLMServer, behaviour: Behaviour, error: type[SummaryError], word: str
) -> None:
    """Each way of not answering has its own error, and its usage is known."""
    llm_server.script(behaviour)
    completion = ask()
    assert completion.usage is not None
    with pytest.raises(error, match=word):
        accept(completion)


def answered(content: Any, **fields: Any) -> Raw:
    """A message with this content."""
    body = {"id": "m", "type": "message", "role": "assistant", "model": "claude-test"}
    return Raw(json.dumps({**body, "content": content, "stop_reason": "end_turn", **fields}))


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (None, None),
        ({}, None),
        ({"input_tokens": None, "output_tokens": None}, None),
        ({"output_tokens": 3, "cache_read_input_tokens": None}, Usage(0, 3, 0)),
    ],
)
def test_a_good_text_needs_no_usage(
    ask: Ask, llm_server: LLMServer, usage: Any, read: Usage | None
) -> None:
    """Compatible servers leave it out, or its fields, in one way or another."""
    llm_server.script(answered([{"type": "text", "text": SUMMARY}], usage=usage))
    completion = ask()
    assert accept(completion) == SUMMARY
    assert completion.usage == read


@pytest.mark.parametrize("block", [{"type": "text", "text": None}, {"type": "text"}, {}, None])
def test_a_block_without_text_adds_none(ask: Ask, llm_server: LLMServer, block: Any) -> None:
    """Alone it is an empty answer; beside a text it takes nothing from that."""
    llm_server.script(answered([block]), answered([block, {"type": "text", "text": SUMMARY}]))
    with pytest.raises(EmptySummaryError):
        accept(ask())
    assert accept(ask()) == SUMMARY


@pytest.mark.parametrize(
    ("stop", "error"),
    [
        ("model_context_window_exceeded", TruncatedSummaryError),
        ("pause_turn", NoAnswerError),
        ("refusal", RefusedSummaryError),
    ],
)
def test_text_does_not_hide_why_the_model_stopped(
    ask: Ask, llm_server: LLMServer, stop: str, error: type[SummaryError]
) -> None:
    """Part of an answer never passes for a whole one."""
    body = (
        '{"id": "m", "type": "message", "role": "assistant", "model": "claude-test", '
        '"content": [{"type": "text", "text": "- The cust"}], "stop_sequence": null, '
        f'"stop_reason": "{stop}", "usage": {{"input_tokens": 1, "output_tokens": 1}}}}'
    )
    llm_server.script(Raw(body))
    completion = ask()
    assert (completion.text, completion.finish_reason) == ("- The cust", stop)
    with pytest.raises(error):
        accept(completion)


@pytest.mark.parametrize(
    ("behaviour", "words", "overflows"),
    [
        pytest.param(rate_limited(), "rate limited (429)", False, id="429"),
        pytest.param(server_error(), "status 500: The server had an error", False, id="500"),
        pytest.param(
            Failure(529, "Overloaded", "overloaded_error", headers={"retry-after-ms": "1"}),
            "overloaded (529)",
            False,
            id="529",
        ),
        pytest.param(overflow(), "exceeds the model's window (400)", True, id="overflow"),
        pytest.param(
            overflow("llama.cpp"), "exceeds the model's window (400)", True, id="overflow-llama"
        ),
        pytest.param(
            Failure(400, "input length and `max_tokens` exceed context limit: 190000 + 16384"),
            "exceeds the model's window (400)",
            True,
            id="overflow-with-cap",
        ),
        pytest.param(
            Failure(413, "Request exceeds the maximum size", "request_too_large"),
            "exceeds the model's window (413)",
            True,
            id="413",
        ),
        pytest.param(Failure(404, "model: claude-test"), "not found (404)", False, id="404"),
        pytest.param(cut(), "connection failed", False, id="cut"),
        pytest.param(Raw("<p>Hello", "text/html"), "is base_url right?", False, id="a-web-page"),
    ],
)
def test_a_failed_request_says_what_failed(
    ask: Ask, llm_server: LLMServer, behaviour: Behaviour, words: str, overflows: bool
) -> None:
    """Every failure is a SummarizerError that names the model and the kind, and knows overflow."""
    llm_server.script(behaviour)
    with pytest.raises(SummarizerError) as caught:
        ask()
    assert words in str(caught.value)
    assert str(caught.value).startswith("claude-test: ")
    assert caught.value.overflow is overflows
    assert len(llm_server.requests) == 1


def test_a_request_is_given_up_after_the_time_out(ask: Ask, llm_server: LLMServer) -> None:
    """A server that does not answer costs the time-out and no more."""
    llm_server.script(hang(5))
    started = time.monotonic()
    with pytest.raises(SummarizerError, match=r"timed out after 0\.3 s") as caught:
        ask(timeout=0.3)
    assert time.monotonic() - started < 3
    assert isinstance(caught.value.__cause__, (TimeoutError, APITimeoutError))


@pytest.mark.parametrize("first", [rate_limited(), server_error()], ids=["429", "500"])
def test_a_failed_request_is_repeated_as_often_as_asked(
    ask: Ask, llm_server: LLMServer, first: Behaviour
) -> None:
    """One retry is one request more, no retry is none."""
    llm_server.script(first, ok())
    assert accept(ask(retries=1)) == SUMMARY
    assert len(llm_server.requests) == 2
    llm_server.script(first, ok())
    with pytest.raises(SummarizerError):
        ask(retries=0)
    assert len(llm_server.requests) == 3


def test_an_error_does_not_repeat_the_prompt(
    ask: Ask, llm_server: LLMServer, prompt: Prompt
) -> None:
    """A server that sends the request back does not bring the conversation into an error's text."""
    llm_server.script(Failure(400, f"messages.0: unexpected value; got '{prompt.user}'"))
    with pytest.raises(SummarizerError, match=r"status 400 \(the message repeats") as caught:
        ask()
    assert "walrus" not in str(caught.value)


def test_a_synchronous_client_can_be_awaited(llm_server: LLMServer, prompt: Prompt) -> None:
    """The call runs in a thread."""
    with sync_client(llm_server) as client:
        completion = asyncio.run(AnthropicSummarizer(client, "claude-test").acomplete(prompt))
    assert accept(completion) == SUMMARY


def test_an_asynchronous_client_is_refused_before_anything_is_sent(
    llm_server: LLMServer, prompt: Prompt
) -> None:
    """`complete` cannot await, and says what to write."""
    with pytest.raises(TypeError, match=r"summarize\(\) got AsyncAnthropic; use await ctx\.asum"):
        AnthropicSummarizer(async_client(llm_server), "claude-test").complete(prompt)
    assert not llm_server.requests


def test_the_callers_client_keeps_its_settings_and_its_key_stays_out_of_sight(
    llm_server: LLMServer, prompt: Prompt
) -> None:
    """Our time-out and retries go to a copy of the client; the repr shows no secret."""
    with sync_client(llm_server, max_retries=7, timeout=321) as client:
        summarizer = AnthropicSummarizer(client.messages, "claude-test", timeout=5, retries=0)
        summarizer.complete(prompt)
        assert (client.max_retries, client.timeout) == (7, 321)
        assert repr(summarizer) == "AnthropicSummarizer(Anthropic, 'claude-test')"


def test_a_client_without_a_key_fails_before_anything_is_sent(
    llm_server: LLMServer,
    prompt: Prompt,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The SDK finds out at the first request; the error keeps its words."""
    for name in ("API_KEY", "AUTH_TOKEN", "PROFILE", "CONFIG_DIR"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))  # where the SDK looks for profiles
    with (
        Anthropic(base_url=llm_server.anthropic_url) as client,
        pytest.raises(SummarizerError, match="authentication"),
    ):
        AnthropicSummarizer(client, "claude-test").complete(prompt)
    assert not llm_server.requests
