"""The OpenAI summarizer: the real clients, sync and async, both endpoints, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import pytest
from fake_server import (
    SUMMARY,
    Behaviour,
    Failure,
    LLMServer,
    Raw,
    content_filter,
    cut,
    empty,
    failed,
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
from openai import APITimeoutError, AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI

from chatfold.core.flow import Completion, Usage, accept
from chatfold.core.render import Prompt
from chatfold.errors import (
    EmptySummaryError,
    NoAnswerError,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
    TruncatedSummaryError,
)
from chatfold.summarizers import OpenAISummarizer

Endpoint = Literal["chat", "responses"]
Ask = Callable[..., Completion]
KEY = "sk-secret"


# Plain HTTP needs no certificates, and loading them takes longer than all else in a test.
def sync_client(server: LLMServer, **options: Any) -> OpenAI:
    http = DefaultHttpxClient(verify=False)
    return OpenAI(api_key=KEY, base_url=server.openai_url, http_client=http, **options)


def async_client(server: LLMServer) -> AsyncOpenAI:
    http = DefaultAsyncHttpxClient(verify=False)
    return AsyncOpenAI(api_key=KEY, base_url=server.openai_url, http_client=http)


@pytest.fixture(params=["chat", "responses"])
def endpoint(request: pytest.FixtureRequest) -> Endpoint:
    """Each endpoint in turn."""
    return request.param  # type: ignore[no-any-return]  # pytest types it as Any


@pytest.fixture(params=["sync", "async"])
def ask(
    request: pytest.FixtureRequest, llm_server: LLMServer, endpoint: Endpoint, prompt: Prompt
) -> Ask:
    """Asks the server through a real client, which the two kinds take turns to be."""

    def ask(asked: Prompt = prompt, **options: Any) -> Completion:
        options = {"endpoint": endpoint, "timeout": 5.0, "retries": 0, **options}
        if request.param == "sync":
            with sync_client(llm_server) as client:
                return OpenAISummarizer(client, "gpt-test", **options).complete(asked)

        async def call() -> Completion:
            async with async_client(llm_server) as client:
                return await OpenAISummarizer(client, "gpt-test", **options).acomplete(asked)

        return asyncio.run(call())

    return ask


def test_a_whole_answer_is_accepted_with_its_usage(ask: Ask, llm_server: LLMServer) -> None:
    """Text, model and tokens, those from the cache included, are read from the answer."""
    llm_server.script(ok(input_tokens=900, output_tokens=70, cached_tokens=512))
    completion = ask()
    assert accept(completion) == SUMMARY
    assert completion.usage == Usage(900, 70, 512)
    assert completion.model == "gpt-test"


def test_the_request_holds_the_prompt_and_neither_tools_nor_a_limit(
    ask: Ask, endpoint: Endpoint, llm_server: LLMServer, prompt: Prompt
) -> None:
    """Only what is needed is sent, and a response is not stored."""
    ask()
    sent = llm_server.requests[0]
    if endpoint == "chat":
        assert sent.path == "/v1/chat/completions"
        assert sent.body == {
            "model": "gpt-test",
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
        }
    else:
        assert sent.path == "/v1/responses"
        assert sent.body == {
            "model": "gpt-test",
            "instructions": prompt.system,
            "input": prompt.user,
            "store": False,
        }


def test_a_cap_is_sent_under_the_name_that_the_endpoint_has_for_it(
    ask: Ask, endpoint: Endpoint, llm_server: LLMServer, prompt: Prompt
) -> None:
    """`Prompt.cap` becomes the request's limit."""
    ask(replace(prompt, cap=16384))
    name = "max_completion_tokens" if endpoint == "chat" else "max_output_tokens"
    assert llm_server.requests[0].body[name] == 16384


@pytest.mark.parametrize(
    ("behaviour", "error", "word"),
    [
        pytest.param(truncated(), TruncatedSummaryError, "cut off", id="truncated"),
        pytest.param(empty(), EmptySummaryError, "empty", id="empty"),
        pytest.param(empty(" \n\t"), EmptySummaryError, "empty", id="blank"),
        pytest.param(nothing(), EmptySummaryError, "empty", id="nothing"),
        pytest.param(refused(), RefusedSummaryError, "refused", id="refused"),
        pytest.param(content_filter(), RefusedSummaryError, "content_filter", id="filter"),
        pytest.param(
            Failure(400, "The response was filtered", code="content_filter"),
            RefusedSummaryError,
            "content_filter",
            id="filter-400",
        ),
        pytest.param(tool_call(order="A-1001"), NoAnswerError, "tool calls", id="tool-call"),
        pytest.param(reasoning_only(), NoAnswerError, "reasoning only", id="reasoning"),
    ],
)
def test_an_answer_that_is_no_summary_is_told_apart(
    ask: Ask, llm_server: LLMServer, behaviour: Behaviour, error: type[SummaryError], word: str
) -> None:
    """Each way of not answering has its own error, and its usage is known where it was reported."""
    llm_server.script(behaviour)
    completion = ask()
    assert completion.usage is not None or isinstance(behaviour, Failure)
    with pytest.raises(error, match=word):
        accept(completion)


@pytest.mark.parametrize(
    ("behaviour", "words", "overflows"),
    [
        pytest.param(rate_limited(), "rate limited (429)", False, id="429"),
        pytest.param(server_error(), "status 500: The server had an error", False, id="500"),
        pytest.param(failed(), "The model stumbled", False, id="failed"),
        pytest.param(overflow(), "exceeds the model's window (400)", True, id="overflow"),
        pytest.param(
            overflow("llama.cpp"), "exceeds the model's window (400)", True, id="overflow-llama"
        ),
        pytest.param(Failure(413, "too big"), "exceeds the model's window (413)", True, id="413"),
        pytest.param(
            Failure(401, "Incorrect API key"), "not authenticated (401): Incorrect", False, id="401"
        ),
        pytest.param(cut(), "connection failed", False, id="cut"),
        pytest.param(Raw("<p>Hello", "text/html"), "is base_url right?", False, id="a-web-page"),
        pytest.param(Raw('{"id": '), "JSONDecodeError", False, id="half-a-body"),
        pytest.param(
            Raw('{"error": {"message": "no credits", "code": 402}}'),
            "reported an error: no credits",
            False,
            id="error-with-200",
        ),
        pytest.param(Raw("<p>Bad", "text/html", 502), "status 502", False, id="error-page"),
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
    assert str(caught.value).startswith("gpt-test: ")
    assert "<p>" not in str(caught.value)
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


@pytest.mark.parametrize(
    "first", [rate_limited(), server_error(), cut()], ids=["429", "500", "cut"]
)
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
    llm_server.script(Failure(422, f"body.input: unexpected value; got '{prompt.user}'"))
    with pytest.raises(SummarizerError, match=r"status 422 \(the message repeats") as caught:
        ask()
    assert "walrus" not in str(caught.value)


def test_a_synchronous_client_can_be_awaited(
    llm_server: LLMServer, endpoint: Endpoint, prompt: Prompt
) -> None:
    """The call runs in a thread, and the loop goes on meanwhile."""
    llm_server.script(ok(), server_error())

    async def both(summarizer: OpenAISummarizer) -> Completion:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        completion = await summarizer.acomplete(prompt)
        ticking.cancel()
        assert ticks > 1
        with pytest.raises(SummarizerError, match="status 500"):
            await summarizer.acomplete(prompt)
        return completion

    with sync_client(llm_server) as client:
        summarizer = OpenAISummarizer(client, "gpt-test", endpoint=endpoint, retries=0)
        assert accept(asyncio.run(both(summarizer))) == SUMMARY


def test_an_asynchronous_client_is_refused_before_anything_is_sent(
    llm_server: LLMServer, prompt: Prompt
) -> None:
    """`complete` cannot await, and says what to write."""
    client = async_client(llm_server)
    with pytest.raises(TypeError, match=r"summarize\(\) got AsyncOpenAI; use await ctx\.asumm"):
        OpenAISummarizer(client, "gpt-test").complete(prompt)
    assert not llm_server.requests


def test_a_resource_of_the_client_chooses_the_endpoint(
    llm_server: LLMServer, prompt: Prompt
) -> None:
    """`client.responses` and `client.chat.completions` stand for their endpoints."""
    with sync_client(llm_server) as client:
        OpenAISummarizer(client.responses, "gpt-test").complete(prompt)
        OpenAISummarizer(client.chat.completions, "gpt-test").complete(prompt)
    paths = [request.path for request in llm_server.requests]
    assert paths == ["/v1/responses", "/v1/chat/completions"]


def test_the_callers_client_keeps_its_settings_and_its_key_stays_out_of_sight(
    llm_server: LLMServer, prompt: Prompt
) -> None:
    """Our time-out and retries go to a copy of the client; the repr shows no secret."""
    with sync_client(llm_server, max_retries=7, timeout=321) as client:
        summarizer = OpenAISummarizer(client, "gpt-test", timeout=5, retries=0)
        summarizer.complete(prompt)
        assert (client.max_retries, client.timeout) == (7, 321)
        assert repr(summarizer) == "OpenAISummarizer(OpenAI, 'gpt-test', endpoint='chat')"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (
            {"status": "incomplete", "incomplete_details": {"reason": "steered"}},
            "incomplete: steer",
        ),
        ({"status": "cancelled"}, "is cancelled"),
        ({"status": "queued"}, "is queued"),
    ],
)
def test_a_response_that_did_not_end_is_an_error(
    llm_server: LLMServer, prompt: Prompt, body: dict[str, Any], outcome: str
) -> None:
    """Part of an answer never passes for a whole one, and its usage goes with the error."""
    part = {"type": "output_text", "text": "- The cust", "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [part]}
    usage = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
    whole = {"id": "r", "object": "response", "model": "m", "output": [message], "usage": usage}
    llm_server.script(Raw(json.dumps({**whole, **body})))
    with (
        sync_client(llm_server) as client,
        pytest.raises(SummarizerError, match=outcome) as caught,
    ):
        OpenAISummarizer(client.responses, "gpt-test").complete(prompt)
    assert caught.value.usage == Usage(9, 3, 0)


def test_commentary_before_the_final_answer_is_not_part_of_the_summary(
    llm_server: LLMServer, prompt: Prompt
) -> None:
    """Of several messages, those that are no commentary are joined."""

    def message(phase: str | None, text: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": []}
        return {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "content": [part],
            "phase": phase,
        }

    output = [
        message("commentary", "Let me see."),
        message("final_answer", "- A"),
        message(None, "- B"),
    ]
    whole = {"id": "r", "object": "response", "model": "m", "output": output, "status": "completed"}
    llm_server.script(Raw(json.dumps(whole)))
    with sync_client(llm_server) as client:
        completion = OpenAISummarizer(client.responses, "gpt-test").complete(prompt)
    assert accept(completion) == "- A\n\n- B"
    assert completion.usage is None


def answered(endpoint: Endpoint, content: Any, **fields: Any) -> Raw:
    """An answer whose message has this content; `fields` are the body's own."""
    message = {"id": "m", "type": "message", "role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    inside = {"choices": [choice]} if endpoint == "chat" else {"output": [message]}
    return Raw(json.dumps({"id": "r", "object": "x", "model": "m", **inside, **fields}))


def text_part(endpoint: Endpoint, text: str | None) -> dict[str, Any]:
    return {"type": "text" if endpoint == "chat" else "output_text", "text": text}


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (None, None),
        ({}, None),
        ({"prompt_tokens": None, "completion_tokens": None, "total_tokens": None}, None),
        ({"input_tokens": None, "output_tokens": None}, None),
        ("none", None),
        ({"prompt_tokens": 9, "completion_tokens": None}, Usage(9, 0, 0)),
        ({"output_tokens": 3, "input_tokens_details": {"cached_tokens": None}}, Usage(0, 3, 0)),
    ],
)
def test_a_good_text_needs_no_usage(
    ask: Ask, endpoint: Endpoint, llm_server: LLMServer, usage: Any, read: Usage | None
) -> None:
    """Compatible servers leave it out, or its fields, in one way or another."""
    llm_server.script(answered(endpoint, [text_part(endpoint, SUMMARY)], usage=usage))
    completion = ask()
    assert accept(completion) == SUMMARY
    assert completion.usage == read


def test_thinking_parts_are_not_the_summary(llm_server: LLMServer, prompt: Prompt) -> None:
    """Mistral's reasoning models answer with parts of both kinds behind this API."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    parts = [thinking, text_part("chat", "- A-1001 "), text_part("chat", "shipped")]
    llm_server.script(answered("chat", parts), answered("chat", [thinking]))
    with sync_client(llm_server) as client:
        summarizer = OpenAISummarizer(client, "gpt-test")
        completion = summarizer.complete(prompt)
        assert accept(completion) == "- A-1001 shipped"
        assert completion.reasoning
        with pytest.raises(NoAnswerError, match="reasoning only"):
            accept(summarizer.complete(prompt))


def test_no_text_is_an_empty_answer(ask: Ask, endpoint: Endpoint, llm_server: LLMServer) -> None:
    """Whatever stands in its place; nothing of it fails inside."""
    for content in (None, [], {}, [None], [{"type": None}], [text_part(endpoint, None)]):
        llm_server.script(answered(endpoint, content))
        with pytest.raises(EmptySummaryError):
            accept(ask())


@pytest.mark.parametrize(
    ("endpoint", "inside"),
    [
        ("chat", {"choices": [{"index": 0, "finish_reason": "stop", "message": None}]}),
        ("chat", {"choices": [{"index": 0}]}),
        ("chat", {"choices": [None]}),
        ("responses", {"output": [None]}),
        ("responses", {"output": [{"type": None}]}),
        ("responses", {"output": [{"type": "message"}]}),
    ],
)
def test_no_message_is_an_empty_answer(
    ask: Ask, llm_server: LLMServer, inside: dict[str, Any]
) -> None:
    """As no choice is."""
    llm_server.script(Raw(json.dumps({"id": "r", "object": "x", "model": "m", **inside})))
    with pytest.raises(EmptySummaryError):
        accept(ask())


def test_wrong_arguments_raise_before_any_call(llm_server: LLMServer) -> None:
    """A client of another kind, a missing model and an unknown endpoint are refused."""
    client = sync_client(llm_server)
    with pytest.raises(TypeError, match="expected a client of the OpenAI SDK"):
        OpenAISummarizer(object(), "gpt-test")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match=r"an OpenAI client needs model="):
        OpenAISummarizer(client, "")
    with pytest.raises(ValueError, match='"chat" or "responses"'):
        OpenAISummarizer(client, "gpt-test", endpoint="completions")  # type: ignore[arg-type]
