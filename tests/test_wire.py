"""Whole folds with the real clients, over real HTTP, against a server that may answer badly."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic import DefaultAsyncHttpxClient as AsyncAnthropicHttp
from anthropic import DefaultHttpxClient as AnthropicHttp
from fake_server import (
    SUMMARY,
    Behaviour,
    Failure,
    LLMServer,
    content_filter,
    cut,
    delay,
    empty,
    hang,
    llm_server,
    ok,
    overflow,
    rate_limited,
    reasoning_only,
    refused,
    server_error,
    tool_call,
    truncated,
)
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI

from chatfold import (
    ChatContext,
    ChatfoldError,
    EmptySummaryError,
    NoAnswerError,
    Outcome,
    RefusedSummaryError,
    SummarizerError,
    TruncatedSummaryError,
)

__all__ = ["llm_server"]

Fold = Callable[..., Outcome[Any]]


def history() -> list[Any]:
    """Return a Chat Completions history of four turns with a call in each."""
    made: list[Any] = [{"role": "system", "content": "You are a clerk."}]
    for number in range(4):
        call = {"name": "look_up", "arguments": json.dumps({"order": f"LK-{number}"})}
        made += [
            {"role": "user", "content": f"Where is order LK-{number}? " + "It is late. " * 30},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": "on its way " * 30},
            {"role": "assistant", "content": "It is on its way."},
        ]
    return made


def openai_client(server: LLMServer) -> Any:
    return OpenAI(
        api_key="k", base_url=server.openai_url, http_client=DefaultHttpxClient(verify=False)
    )


def async_openai_client(server: LLMServer) -> Any:
    http = DefaultAsyncHttpxClient(verify=False)
    return AsyncOpenAI(api_key="k", base_url=server.openai_url, http_client=http)


def anthropic_client(server: LLMServer) -> Any:
    return Anthropic(
        api_key="k", base_url=server.anthropic_url, http_client=AnthropicHttp(verify=False)
    )


def async_anthropic_client(server: LLMServer) -> Any:
    http = AsyncAnthropicHttp(verify=False)
    return AsyncAnthropic(api_key="k", base_url=server.anthropic_url, http_client=http)


def responses(client: Any) -> Any:
    return client.responses


def itself(client: Any) -> Any:
    return client


CLIENTS = {
    "chat": (openai_client, itself, False),
    "responses": (openai_client, responses, False),
    "anthropic": (anthropic_client, itself, False),
    "chat async": (async_openai_client, itself, True),
    "responses async": (async_openai_client, responses, True),
    "anthropic async": (async_anthropic_client, itself, True),
}


@pytest.fixture(params=CLIENTS)
def fold(request: pytest.FixtureRequest, llm_server: LLMServer) -> Fold:
    """Folds a context with one of the six ways to ask a model."""
    make, choose, asynchronous = CLIENTS[request.param]

    def run(ctx: ChatContext[Any], **options: Any) -> Outcome[Any]:
        if not asynchronous:
            with make(llm_server) as client:
                return ctx.summarize(choose(client), model="small", keep_last_turns=1, **options)

        async def ask() -> Outcome[Any]:
            async with make(llm_server) as client:
                return await ctx.asummarize(
                    choose(client), model="small", keep_last_turns=1, **options
                )

        return asyncio.run(ask())

    return run


def test_a_real_client_writes_the_summary(fold: Fold, llm_server: LLMServer) -> None:
    """The list is folded, and the outcome knows the usage that the server reported."""
    items = history()
    tail = items[-4:]
    outcome = fold(ChatContext(items))
    assert outcome.reason == "summarized"
    assert outcome.summary == SUMMARY
    assert items[2:] == tail
    assert all(a is b for a, b in zip(items[2:], tail, strict=True))
    assert outcome.usage is not None
    assert outcome.usage.output_tokens > 0
    assert outcome.llm_calls == len(llm_server.requests) == 1
    assert "tools" not in llm_server.requests[0].body


FAILURES: dict[str, tuple[Behaviour, type[ChatfoldError], str]] = {
    "rate limited": (rate_limited(), SummarizerError, "429"),
    "server error": (server_error(), SummarizerError, "500"),
    "overflow": (overflow(), SummarizerError, "window|too long|exceed"),
    "connection cut": (cut(), SummarizerError, "connection"),
    "hang": (hang(2.0), SummarizerError, "0.2 s"),
    "truncated": (truncated(), TruncatedSummaryError, "cut off"),
    "empty": (empty(), EmptySummaryError, "empty"),
    "blank": (empty("  \n"), EmptySummaryError, "empty"),
    "refused": (refused(), RefusedSummaryError, "refused"),
    "filtered": (content_filter(), RefusedSummaryError, "refused"),
    "tool call": (tool_call(order="LK-1"), NoAnswerError, "tool calls"),
    "reasoning only": (reasoning_only(), NoAnswerError, "reasoning only"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_each_failure_leaves_the_list_untouched_and_names_itself(
    failure: str, fold: Fold, llm_server: LLMServer
) -> None:
    """Item for item, the list is what it was; the error says what went wrong."""
    behaviour, error, words = FAILURES[failure]
    llm_server.default = behaviour
    items = history()
    before, said = list(items), json.dumps(items)
    ctx = ChatContext(items)
    with pytest.raises(error, match=words) as caught:
        fold(ctx, retries=0, timeout=0.2 if failure == "hang" else 10)
    assert type(caught.value) is error
    assert all(a is b for a, b in zip(items, before, strict=True))
    assert json.dumps(items) == said
    assert caught.value.llm_calls == (2 if failure == "truncated" else 1)
    llm_server.default = ok()
    assert fold(ctx).changed, "a failure does not stand in the way of another try"


@pytest.mark.parametrize("status", [400, 422])
def test_a_model_that_may_write_no_more_is_told_by_what_it_was_cut_off_by(
    status: int, fold: Fold, llm_server: LLMServer
) -> None:
    """The doubled limit is over its own; the refusal is the cause, and both requests count."""
    llm_server.script(truncated(), Failure(status, "max_tokens must be 8192 at most"))
    items = history()
    before = list(items)
    with pytest.raises(TruncatedSummaryError, match="cut off") as caught:
        fold(ChatContext(items), retries=0)
    assert isinstance(caught.value.__cause__, SummarizerError)
    assert "8192 at most" in str(caught.value.__cause__)
    assert caught.value.llm_calls == len(llm_server.requests) == 2
    assert caught.value.usage is not None
    assert all(a is b for a, b in zip(items, before, strict=True))


@pytest.mark.parametrize("second", [rate_limited(), server_error()])
def test_a_server_that_fails_at_the_second_try_is_told_as_it_is(
    second: Behaviour, fold: Fold, llm_server: LLMServer
) -> None:
    """That says nothing of the length of the answer: the same request may succeed later."""
    llm_server.script(truncated(), second)
    with pytest.raises(SummarizerError) as caught:
        fold(ChatContext(history()), retries=0)
    assert caught.value.llm_calls == 2


def test_an_item_appended_while_a_real_server_answers_is_kept(
    fold: Fold, llm_server: LLMServer
) -> None:
    """What another thread adds during the request stands behind the tail afterwards."""
    items = history()
    slow = delay()
    llm_server.default = slow
    added = {"role": "user", "content": "one more thing"}

    def append() -> None:
        assert slow.arrived.wait(10)
        items.append(added)
        slow.release.set()

    thread = threading.Thread(target=append)
    thread.start()
    outcome = fold(ChatContext(items))
    thread.join()
    assert outcome.changed
    assert items[-1] is added


def test_a_chain_falls_back_to_the_extractive_summarizer(fold: Fold, llm_server: LLMServer) -> None:
    """Where the model fails, the next of the list writes the summary."""
    llm_server.default = server_error()
    items = history()
    with openai_client(llm_server) as client:
        outcome = ChatContext(items).summarize(
            [client, "extractive"], model="small", keep_last_turns=1, retries=0
        )
    assert outcome.changed
    assert "LK-1" in (outcome.summary or "")
