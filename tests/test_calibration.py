"""What providers report of their requests, and what the policy then counts by."""

from __future__ import annotations

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
        lambda: google(prompt_token_count=700, tool_use_prompt_token_count=200),
        Usage(900, 0),
    ),
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
    """The answer and the next question are counted, the rest is known."""
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "hello"}], counter=Words())
    answer = {"role": "assistant", "content": "three more words"}
    ctx.append(answer)
    ctx.record_usage(REPORTS[name][0]())
    answered = ctx.load().tokens
    alone: ChatContext[Any] = ChatContext([answer], counter=Words())
    assert answered == 900 + alone.load().tokens
    ctx.append(answer)
    assert ctx.load().tokens == 900 + 2 * alone.load().tokens


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
