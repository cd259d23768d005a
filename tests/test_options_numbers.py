"""Numbers that callers give: what is none is refused at once, wherever it is given."""

from __future__ import annotations

import math
from asyncio import run
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from anthropic import Anthropic
from laws import plainly
from openai import OpenAI

from chatfold import ChatContext, Completion, Middleware, Policy, render_steps
from chatfold.core.usage import Usage
from chatfold.stores import MemoryStore
from chatfold.summarizers import (
    AnthropicCompaction,
    AnthropicSummarizer,
    FunctionSummarizer,
    OpenAICompaction,
    OpenAISummarizer,
    resolve,
)

OPENAI, ANTHROPIC = OpenAI(api_key="sk-none"), Anthropic(api_key="sk-none")
Call = Callable[..., Any]


def conversation() -> list[Any]:
    words = [{"role": role, "content": f"{role} " * 200} for role in ("user", "assistant") * 4]
    return plainly("openai_chat", words)


def stored() -> ChatContext[Any]:
    return ChatContext(conversation(), shape="openai_chat", store=MemoryStore(), key="one")


def arun_tools(**limits: Any) -> None:
    run(ChatContext(conversation()).arun_tool_calls({}, **limits))


def compact_openai(**options: Any) -> None:
    pytest.importorskip("openai", minversion="2.9.0")
    OpenAICompaction(OPENAI, "m", **options)


def compact_anthropic(**options: Any) -> None:
    pytest.importorskip("anthropic", minversion="1.6.0")
    AnthropicCompaction(ANTHROPIC, "m", **options)


def background(timeout: Any) -> None:
    fold = ChatContext(conversation()).summarize_in_background("extractive", keep_last_turns=1)
    fold.wait(timeout)


WHOLE: list[tuple[str, int, Call]] = [
    ("retries", 0, partial(ChatContext, [])),
    ("retries", 0, partial(Middleware, "extractive")),
    ("retries", 0, partial(resolve, "extractive", asynchronous=False)),
    ("retries", 0, partial(OpenAISummarizer, OPENAI, "m")),
    ("retries", 0, partial(AnthropicSummarizer, ANTHROPIC, "m")),
    ("retries", 0, compact_openai),
    ("retries", 0, compact_anthropic),
    ("max_tokens", 1, compact_anthropic),
    ("max_summary_tokens", 1, partial(ChatContext, [])),
    ("ledger_tokens", 0, partial(ChatContext, [])),
    ("max_prompt_tokens", 1000, partial(ChatContext, [])),
    ("max_concurrency", 1, arun_tools),
    ("limit", 0, lambda limit: stored().recall(query="user", limit=limit)),
    ("limit", 1, lambda limit: stored().recall_tool(limit=limit)),
    (
        "max_characters",
        1,
        lambda max_characters: stored().recall_tool(max_characters=max_characters),
    ),
    ("limit", 1, partial(render_steps, [])),
    ("characters", 1, partial(render_steps, [])),
]


@pytest.mark.parametrize(("name", "least", "call"), WHOLE)
def test_a_whole_number_is_one(name: str, least: int, call: Call) -> None:
    """`True` would be 1: a switch that somebody took for another option."""
    for wrong in (True, False, 1.5, math.nan, math.inf, "5"):
        with pytest.raises(TypeError, match=f"{name} must be a whole number.*, not {wrong!r}"):
            call(**{name: wrong})
    with pytest.raises(ValueError, match=f"{name} must be {least} or more.*, not {least - 1}"):
        call(**{name: least - 1})
    with pytest.raises(ValueError, match=f"{name} must be 9,223,372,036,854,775,807 at most"):
        call(**{name: 10**400})
    call(**{name: least})


TIMES: list[Call] = [
    partial(ChatContext, []),
    partial(Middleware, "extractive"),
    partial(resolve, "extractive", asynchronous=False),
    partial(OpenAISummarizer, OPENAI, "m"),
    compact_anthropic,
    partial(FunctionSummarizer, str),
    lambda timeout: ChatContext(conversation()).run_tool_calls({}, timeout=timeout),
    arun_tools,
]


@pytest.mark.parametrize("call", [*TIMES, background])
def test_a_time_limit_is_a_number(call: Call) -> None:
    for wrong in (True, False, "60", [60]):
        with pytest.raises(TypeError, match="timeout must be a number"):
            call(timeout=wrong)
    for outside in (math.nan, math.inf, 10**400):
        with pytest.raises(ValueError, match="timeout must be "):
            call(timeout=outside)
    call(timeout=0.5)


@pytest.mark.parametrize("call", TIMES)
def test_a_time_limit_is_more_than_nothing(call: Call) -> None:
    for outside in (0, -1):
        with pytest.raises(ValueError, match=f"timeout must be more than 0 .*, not {outside}"):
            call(timeout=outside)


def test_a_share_is_a_number() -> None:
    for wrong in (True, False, "0.5"):
        with pytest.raises(TypeError, match="min_gain must be a number"):
            ChatContext([], min_gain=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("told", [None, math.nan, math.inf, "5"])
def test_what_is_no_number_of_tokens_counts_as_none(told: Any) -> None:
    """An SDK's `prompt_eval_count` may be None; a fold that was paid for is not to fail for it."""
    usage = Usage(told, 5)
    outcome = ChatContext(conversation()).summarize(
        lambda prompt: Completion("They spoke.", usage=usage), keep_last_turns=1
    )
    assert (outcome.changed, outcome.usage) == (True, Usage(0, 5))
    ctx = ChatContext(conversation(), policy=Policy(max_tokens=5_000, keep_tokens=100))
    before = ctx.load()
    ctx.record_usage(usage)
    assert ctx.load() == before
    with pytest.raises(TypeError, match="holds no number of tokens"):
        ctx.record_usage(Usage(told, told, told))
