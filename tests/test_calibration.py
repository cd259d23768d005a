"""What providers report of their requests, and what the policy then counts by."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import anthropic
import openai
import pytest
from capture.replies import MESSAGES, chat, message, response
from laws import plainly
from strategies import SHAPES

from chatfold import ChatContext, Completion, Usage
from chatfold.capture import reported
from chatfold.policy import Policy

WORDS = "words that weigh something, and go on for a while. "


def count(text: str) -> int:
    return len(text.split())


class Words:
    """Counts words: what providers report differs from it by much."""

    exact = False

    def count(self, text: str) -> int:
        return count(text)


def talk(shape: str, turns: int = 150) -> list[Any]:
    roles = ("user", "assistant")
    said = [{"role": role, "content": f"{n} {WORDS * 2}"} for n in range(turns) for role in roles]
    return plainly(shape, said[:-1])


def context(shape: str, **fields: Any) -> ChatContext[Any]:
    policy = Policy(max_tokens=100_000, **fields)
    return ChatContext(talk(shape), shape=shape, policy=policy, counter=Words())


def google(**fields: Any) -> Any:
    types = pytest.importorskip("google.genai.types")
    return types.GenerateContentResponseUsageMetadata(**fields)


def mistral(**fields: Any) -> Any:
    models = pytest.importorskip("mistralai.client.models")
    return models.UsageInfo(**fields)


def ollama(**fields: Any) -> Any:
    sdk = pytest.importorskip("ollama")
    said = sdk.Message(role="assistant", content="x")
    return sdk.ChatResponse(model="m", done=True, message=said, **fields)


CHAT = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}
RESPONSES = {"input_tokens": 900, "output_tokens": 30, "total_tokens": 930}
CACHED = {"prompt_tokens_details": {"cached_tokens": 800}}
CLAUDE = {"cache_creation_input_tokens": 60, "cache_read_input_tokens": 800}
GEMINI = {
    "prompt_token_count": 900,
    "candidates_token_count": 20,
    "cached_content_token_count": 800,
}
BEDROCK = {"inputTokens": 900, "outputTokens": 30, "totalTokens": 930}

AGENTS = Usage(900, 30, context_tokens=408)


def sampling(read: int, kind: str = "message") -> dict[str, Any]:
    cache = {"cache_creation_input_tokens": 10, "cache_read_input_tokens": 0}
    return {"type": kind, "input_tokens": read - 10, "output_tokens": 10, **cache}


def loop(*calls: int) -> dict[str, Any]:
    """Return what Anthropic reports where its server ran tools between calls of the model."""
    return {
        "input_tokens": sum(calls) - 10 * len(calls),
        "output_tokens": 10 * len(calls),
        "cache_creation_input_tokens": 10 * len(calls),
        "cache_read_input_tokens": 0,
        "iterations": [sampling(read) for read in calls],
    }


def run_of_agents(*requests: int) -> Any:
    """Return the usage of a run, which the SDK adds up; two tokens of each answer are thought."""
    sdk = pytest.importorskip("agents.usage")
    total = sdk.Usage()
    for read in requests:
        one = sdk.Usage(requests=1, input_tokens=read, output_tokens=10, total_tokens=read + 10)
        one.output_tokens_details.reasoning_tokens = 2
        total.add(one)
    return total


REPORTS: dict[str, tuple[Callable[[], Any], Usage]] = {
    "openai chat": (
        lambda: openai.types.CompletionUsage.model_validate({**CHAT, **CACHED}),
        Usage(900, 30, 800),
    ),
    "openai chat, as a dict": (lambda: {**CHAT, **CACHED}, Usage(900, 30, 800)),
    "a chat server without details": (lambda: CHAT, Usage(900, 30)),
    "openai responses": (
        lambda: openai.types.responses.ResponseUsage.model_validate(
            {
                **RESPONSES,
                "input_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 9},
            }
        ),
        Usage(900, 30, 800),
    ),
    "anthropic with a cache": (
        lambda: anthropic.types.Usage(input_tokens=40, output_tokens=30, **CLAUDE),
        Usage(900, 30, 800),
    ),
    "anthropic without": (
        lambda: anthropic.types.Usage(input_tokens=900, output_tokens=30),
        Usage(900, 30),
    ),
    "anthropic, as a dict": (
        lambda: {"input_tokens": 40, "output_tokens": 30, **CLAUDE},
        Usage(900, 30, 800),
    ),
    "google-genai": (
        lambda: google(**GEMINI, thoughts_token_count=10),
        Usage(900, 30, 800),
    ),
    "google-genai with results of its own tools": (
        lambda: google(
            prompt_token_count=700,
            tool_use_prompt_token_count=200,
            candidates_token_count=20,
            thoughts_token_count=10,
        ),
        Usage(900, 30, context_tokens=720),
    ),
    "anthropic's of a loop on the server": (
        lambda: anthropic.types.beta.BetaUsage.model_validate(loop(300, 250, 350)),
        Usage(900, 30, context_tokens=360),
    ),
    "anthropic's of a fallback, an adviser and a compaction": (
        lambda: (
            loop(450, 450)
            | {
                "iterations": [
                    sampling(450),
                    sampling(70, "advisor_message"),
                    sampling(450, "fallback_message"),
                    sampling(60, "compaction"),
                ]
            }
        ),
        Usage(900, 20, context_tokens=460),
    ),
    "anthropic's of one call": (lambda: loop(900) | {"output_tokens": 30}, Usage(900, 30)),
    "a run of the openai agents sdk": (lambda: run_of_agents(200, 300, 400), AGENTS),
    "that run, as a dict": (lambda: dataclasses.asdict(run_of_agents(200, 300, 400)), AGENTS),
    "gemini's own JSON": (
        lambda: {"promptTokenCount": 900, "candidatesTokenCount": 30},
        Usage(900, 30),
    ),
    "bedrock": (lambda: BEDROCK, Usage(900, 30)),
    "bedrock with a cache": (
        lambda: (
            {**BEDROCK, "inputTokens": 40, "cacheReadInputTokens": 800}
            | {"cacheWriteInputTokens": 60}
        ),
        Usage(900, 30, 800),
    ),
    "mistral": (
        lambda: mistral(prompt_tokens=900, completion_tokens=30, total_tokens=930),
        Usage(900, 30),
    ),
    "ollama, which has it in its response": (
        lambda: ollama(prompt_eval_count=900, eval_count=30),
        Usage(900, 30),
    ),
    "our own": (lambda: Usage(900, 30, 800), Usage(900, 30, 800)),
    "a response that holds it": (
        lambda: SimpleNamespace(usage=openai.types.CompletionUsage.model_validate(CHAT)),
        Usage(900, 30),
    ),
    "a response of gemini": (
        lambda: {"candidates": [], "usageMetadata": {"promptTokenCount": 900}},
        Usage(900, 0),
    ),
    "langchain": (
        lambda: {**RESPONSES, "input_token_details": {"cache_read": 800}},
        Usage(900, 30, 800),
    ),
}


@pytest.mark.parametrize("name", REPORTS)
def test_every_sdks_report_is_read(name: str) -> None:
    """Input is all that the model read, cached or not."""
    made, expected = REPORTS[name]
    assert reported(made()) == expected


@pytest.mark.parametrize("name", REPORTS)
def test_the_next_request_is_what_was_reported_and_what_came_since(name: str) -> None:
    """The answer and the next question are counted, the rest is known.

    Of several calls in one report, the last tells how large it is with the answer.
    """
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "hello"}], counter=Words())
    answer = {"role": "assistant", "content": "three more words"}
    ctx.append(answer)
    made, expected = REPORTS[name]
    ctx.record_usage(made())
    answered = ctx.load().tokens
    alone: ChatContext[Any] = ChatContext([answer], counter=Words())
    assert answered == (expected.context_tokens or 900 + alone.load().tokens)
    ctx.append(answer)
    assert ctx.load().tokens == answered + alone.load().tokens


@pytest.mark.parametrize("usage", [None, {}, "900", 900, {"input_tokens": None}, object(), []])
def test_what_holds_no_number_is_refused(usage: Any) -> None:
    """The message says what to pass, and nothing is learned."""
    ctx: ChatContext[Any] = ChatContext()
    with pytest.raises(TypeError, match=r"holds no number of tokens; pass response.usage"):
        ctx.record_usage(usage)
    assert ctx.load().tokens == 0


def test_an_object_that_has_every_name_holds_no_number() -> None:
    """A mock has a usage, which has a usage; in a completion it is none, as nothing is known."""
    ctx: ChatContext[Any] = ChatContext()
    for usage in (MagicMock(), SimpleNamespace(usage=MagicMock()), {"usage": {"usage": MESSAGES}}):
        with pytest.raises(TypeError, match="holds no number of tokens"):
            ctx.record_usage(usage)
        assert Completion("text", usage=usage).usage is None  # type: ignore[arg-type]
    held = SimpleNamespace(usage=None, usage_metadata=Usage(900, 30))
    assert reported(held) == reported(MagicMock(usage=Usage(900, 30))) == Usage(900, 30)


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": -5},
        {"prompt_tokens": 5, "completion_tokens": -1},
        Usage(9, 1, -1),
    ],
)
def test_a_negative_number_is_refused(usage: Any) -> None:
    """It was computed wrong, and whoever did that would look for it in vain."""
    ctx: ChatContext[Any] = ChatContext()
    with pytest.raises(ValueError, match=r"cannot be negative: Usage\("):
        ctx.record_usage(usage)
    assert ctx.load().tokens == 0


@pytest.mark.parametrize("overhead", [0, 300])
@pytest.mark.parametrize("share", [0.6, 0.9, 1.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_report_sets_the_size_whatever_was_counted(
    shape: str, share: float, overhead: int
) -> None:
    """Above or below the count, with and without a known overhead."""
    ctx = context(shape, overhead_tokens=overhead)
    counted = ctx.count_tokens().value
    assert ctx.load().tokens == counted + overhead
    ctx.record_usage(Usage(int(counted * share) + overhead, 5))
    assert abs(ctx.load().tokens - int(counted * share) - overhead) <= 1


def test_the_latest_report_counts() -> None:
    """Tools that were loaded later are part of each request from then on."""
    ctx = context("openai_chat")
    counted = ctx.load().tokens
    ctx.record_usage(Usage(counted + 500, 0))
    ctx.record_usage(Usage(counted + 7_000, 0))
    assert ctx.load().tokens == counted + 7_000
    ctx.record_usage(Usage(0, 12))  # a part of a stream that says nothing of the input
    assert ctx.load().tokens == counted + 7_000


def test_after_a_fold_what_is_held_elsewhere_is_still_there() -> None:
    """The system prompt and the tools do not shrink with the list."""
    ctx = context("openai_chat")
    ctx.record_usage(Usage(ctx.load().tokens + 3_000, 0))
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert ctx.load().tokens == ctx.count_tokens().value + 3_000


def whole(shape: str, read: int) -> Any:
    """Return an answer of each provider, as its SDK or its server gives it."""
    said = {"role": "assistant", "content": "the answer"}
    match shape:
        case "openai_chat":
            body = chat(said).whole
            body["usage"] = {"prompt_tokens": read, "completion_tokens": 2, "total_tokens": 2}
            return openai.types.chat.ChatCompletion.model_validate(body)
        case "openai_responses":
            texts = [{"type": "output_text", "text": "the answer", "annotations": []}]
            item = {"type": "message", "id": "msg_1", "role": "assistant", "content": texts}
            body = response([{**item, "status": "completed"}]).whole
            body["usage"] |= {"input_tokens": read}
            return openai.types.responses.Response.model_validate(body)
        case "anthropic":
            body = json.loads(json.dumps(MESSAGES["text"].whole))
            body["usage"] |= {"input_tokens": read - 10}  # 5 are read from a cache, 5 written
            return anthropic.types.Message.model_validate(body)
        case "gemini":
            parts = {"role": "model", "parts": [{"text": "the answer"}]}
            usage = {"promptTokenCount": read, "candidatesTokenCount": 2}
            return {"candidates": [{"content": parts}], "usageMetadata": usage}
        case "bedrock":
            output = {"message": {"role": "assistant", "content": [{"text": "the answer"}]}}
            usage = {"inputTokens": read, "outputTokens": 2, "totalTokens": read + 2}
            return {"output": output, "stopReason": "end_turn", "usage": usage}
        case "ollama":
            return ollama(prompt_eval_count=read, eval_count=2)
        case _:
            models = pytest.importorskip("mistralai.client.models")
            usage = {"prompt_tokens": read, "completion_tokens": 2, "total_tokens": read + 2}
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            return models.ChatCompletionResponse.model_validate(
                {"id": "1", "object": "chat.completion", "model": "m", "usage": usage}
                | {"created": 1, "choices": [choice]}
            )


@pytest.mark.parametrize("share", [0.6, 1.8])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_response_that_is_added_brings_its_report(shape: str, share: float) -> None:
    """Reported for the list as it was sent; the answer comes on top."""
    ctx = context(shape)
    before = ctx.count_tokens().value
    read = int(before * share)
    ctx.add_response(whole(shape, read))
    answer = ctx.count_tokens().value - before
    assert answer > 0
    assert abs(ctx.load().tokens - read - min(1, share) * answer) <= 2


def test_a_paused_answer_is_part_of_the_request_that_goes_on() -> None:
    """Anthropic's `pause_turn`: two answers in a row, and the first was sent with the second."""
    ctx = context("anthropic")
    ctx.add_response(message([{"type": "text", "text": WORDS * 100}], end="pause_turn").whole)
    sent = ctx.count_tokens().value
    ctx.add_response(whole("anthropic", sent + 50))
    answer = ctx.count_tokens().value - sent
    assert ctx.load().tokens == sent + 50 + answer


SEARCHED = [
    {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"query": "beans"},
    },
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [
            {
                "type": "web_search_result",
                "url": "https://beans.example",
                "title": "Beans",
                "encrypted_content": "EqgfCioIARgB",
                "page_age": None,
            }
        ],
    },
    {"type": "text", "text": "Two sorts are in stock."},
]


@pytest.mark.parametrize("streamed", [False, True])
def test_calls_in_a_loop_on_anthropics_server_are_not_added_up(streamed: bool) -> None:
    """Each of them reads the list anew: of a list of 2,000 tokens, four make more than 17,000."""
    ctx = context("anthropic")
    sent = ctx.count_tokens().value
    usage = loop(sent, sent + 1_500, sent + 3_000, sent + 4_500)
    reply = message(SEARCHED)
    if streamed:
        told = [e | {"usage": usage} if e["type"] == "message_delta" else e for e in reply.events]
        for _ in ctx.record(iter(told)):
            pass
    else:
        # As its client makes it, which lets blocks through that an older one does not know.
        ctx.add_response(
            anthropic.types.beta.BetaMessage.construct(**reply.whole | {"usage": usage})
        )
    assert ctx.load().tokens == sent + 4_500 + 10
    ctx.record_usage(usage)  # once more, right behind its answer
    assert ctx.load().tokens == sent + 4_500 + 10


@pytest.mark.parametrize("way", ["added", "streamed", "recorded"])
@pytest.mark.parametrize("shape", ["openai_responses", "anthropic"])
def test_a_sum_of_calls_on_the_server_is_no_size(shape: str, way: str) -> None:
    """OpenAI reported 243,551 tokens of a list of 4,981, for which o3 searched 13 times.

    https://community.openai.com/t/massive-input-token-inflation-50x-with-o3-web-search/1317167
    """
    ctx = context(shape)
    ctx.record_usage(Usage(ctx.count_tokens().value + 700, 5))
    sent = ctx.load().tokens
    if shape == "anthropic":  # the stable API, which has no `iterations`
        reply = message(SEARCHED)
        usage = {"input_tokens": sent * 40, "output_tokens": 9}
    else:
        search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
        texts = [{"type": "output_text", "text": "Two sorts.", "annotations": []}]
        said = {"type": "message", "id": "msg_1", "role": "assistant", "content": texts}
        reply = response(
            [
                search | {"action": {"type": "search", "query": "beans"}},
                said | {"status": "completed"},
            ]
        )
        usage = {"input_tokens": sent * 40, "output_tokens": 9, "total_tokens": sent * 40 + 9}
    if way == "streamed":
        for _ in ctx.record(iter(reply.events)):
            pass
    else:
        ctx.add_response(reply.whole | ({"usage": usage} if way == "added" else {"usage": None}))
    if way == "recorded":
        ctx.record_usage(usage)
    assert sent < ctx.load().tokens < sent + 100


def test_calls_that_the_google_sdk_ran_are_part_of_the_last_request() -> None:
    """Automatic function calling: the response has the calls and results, and the last report."""
    types = pytest.importorskip("google.genai.types")
    asked = types.Content(role="user", parts=[types.Part(text="hello")])
    call = types.FunctionCall(name="look", args={"day": 1})
    result = types.FunctionResponse(name="look", response={"found": "word " * 3_000})
    ran = [
        types.Content(role="model", parts=[types.Part(function_call=call)]),
        types.Content(role="user", parts=[types.Part(function_response=result)]),
    ]
    answer = types.Content(role="model", parts=[types.Part(text="the answer")])
    ctx: ChatContext[Any] = ChatContext([asked], counter=Words())
    ctx.add_response(
        types.GenerateContentResponse(
            candidates=[types.Candidate(content=answer)],
            usage_metadata=google(prompt_token_count=3_500, candidates_token_count=2),
            automatic_function_calling_history=[asked, *ran],
        )
    )
    assert len(ctx.items) == 4
    alone: ChatContext[Any] = ChatContext([answer], counter=Words())
    assert ctx.load().tokens == 3_500 + alone.load().tokens


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_stream_that_is_recorded_brings_its_report(api: str) -> None:
    """It comes with the last events, when the answer is in the list already."""
    said = {"role": "assistant", "content": "the answer"}
    texts = [{"type": "output_text", "text": "the answer", "annotations": []}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": texts}
    shape, reply = {
        "chat": ("openai_chat", chat(said)),
        "responses": ("openai_responses", response([{**item, "status": "completed"}])),
        "messages": ("anthropic", MESSAGES["text"]),
    }[api]
    hello = plainly(shape, [{"role": "user", "content": "hello"}])
    ctx: ChatContext[Any] = ChatContext(hello, shape=shape, counter=Words())
    before = ctx.count_tokens().value
    for _ in ctx.record(iter(reply.events)):
        pass
    answer = ctx.count_tokens().value - before
    assert answer > 0
    used = reported(reply.whole)
    assert used.input_tokens > before
    assert ctx.load().tokens == used.input_tokens + answer


def test_a_report_that_cannot_be_true_is_not_believed() -> None:
    """A proxy that leaves out what was cached would keep the list from ever being folded."""
    ctx = context("openai_chat")
    counted = ctx.load().tokens
    ctx.record_usage(Usage(counted // 2 - 10, 5))
    assert ctx.load().tokens == counted


def test_a_report_that_is_not_believed_leaves_what_was_learned() -> None:
    """Such is a gateway's that leaves out what was cached: its first report is right."""
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "word " * 2_000}])
    counted = ctx.load().tokens
    ctx.record_usage(Usage(counted + 6_000, 5))
    assert ctx.load().tokens == counted + 6_000
    ctx.record_usage(Usage(40, 5))
    assert ctx.load().tokens == counted + 6_000


def test_a_trigger_that_leaves_the_list_no_room_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each turn would pay for a fold; `overhead_tokens=` of that size is refused."""
    policy = Policy(max_tokens=3_000, keep_tokens=200)
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "Hi"}], policy=policy)
    counted = ctx.count_tokens().value
    ctx.record_usage(Usage(counted + 2_240, 5))
    assert caplog.messages == []
    for _ in range(2):
        ctx.record_usage(Usage(counted + 2_250, 5))
    (told,) = caplog.messages
    assert "of each request 2250 tokens are not of the list" in told
    assert "raise max_tokens=" in told
