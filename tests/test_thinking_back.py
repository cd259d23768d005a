"""Folds inside a loop of tools whose turn the provider wants to begin with thinking, as it did.

Not here: thinking that is bound to what stood before it (`test_middleware_signed`, `test_strip`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import anthropic
import pytest
from fake_server import LLMServer, llm_server

from chatfold import ChatContext, Middleware, Policy
from chatfold.core.views import ReasoningPart

__all__ = ["llm_server"]

Item = dict[str, Any]
Loop = Callable[..., list[Item]]
BUDGET = "claude-haiku-4-5"
ROWS = "delivered in Lyon. " * 60
POLICY = Policy(max_tokens=2500, keep_tokens=800)


def said(text: str) -> Item:
    return {"role": "user", "content": text}


def anthropic_loop(calls: int, thinks: Sequence[int] = (0,)) -> list[Item]:
    """Return a turn of calls that still runs; the model thought before some of them."""
    made = [said("Check all my orders.")]
    for n in range(calls):
        thought = {"type": "thinking", "thinking": "I look all of them up.", "signature": "c2ln"}
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "find_order", "input": {"n": n}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"{n}: {ROWS}"}
        made.append({"role": "assistant", "content": [thought, use] if n in thinks else [use]})
        made.append({"role": "user", "content": [result]})
    return made


def bedrock_loop(calls: int, thinks: Sequence[int] = (0,)) -> list[Item]:
    """Return the same as messages of Converse."""
    made: list[Item] = [{"role": "user", "content": [{"text": "Check all my orders."}]}]
    for n in range(calls):
        text = {"text": "I look all of them up.", "signature": "c2ln"}
        thought = {"reasoningContent": {"reasoningText": text}}
        use = {"toolUse": {"toolUseId": f"tooluse_{n}", "name": "find_order", "input": {"n": n}}}
        result = {"toolUseId": f"tooluse_{n}", "content": [{"text": f"{n}: {ROWS}"}]}
        made.append({"role": "assistant", "content": [thought, use] if n in thinks else [use]})
        made.append({"role": "user", "content": [{"toolResult": result}]})
    return made


LOOPS = pytest.mark.parametrize("loop", [anthropic_loop, bedrock_loop])


def summarizer(prompt: Any) -> str:
    return "Orders were looked up."


def thoughtful(items: Sequence[Any], shape: str | None = None) -> list[bool]:
    """Return of each message of the model whether it begins with thinking."""
    views = ChatContext(list(items), shape=shape).views()
    return [isinstance(v.parts[0], ReasoningPart) for v in views if v.role == "assistant"]


@LOOPS
@pytest.mark.parametrize("model", ["claude-opus-4-5", "eu.anthropic.claude-haiku-4-5-v1:0", None])
@pytest.mark.parametrize("limit", [{"keep_tokens": 900}, {"keep_last_turns": 0}, None])
def test_a_turn_goes_on_with_what_was_thought_before_its_first_call(
    loop: Loop, model: str | None, limit: dict[str, Any] | None
) -> None:
    """It stays with its call and the result, also where the turn is folded again, and then goes."""
    items = loop(12)
    first = items[1:3]
    ctx = ChatContext(items, model=model, policy=POLICY)

    def fold() -> bool:
        if limit is None:
            return ctx.maybe_summarize(summarizer).changed
        return ctx.summarize(summarizer, **limit).changed

    for _ in range(3):
        assert fold()
        assert next(i for i in items if i["role"] == "assistant") is first[0]
        assert items[items.index(first[0]) + 1] is first[1]
        assert sum(thoughtful(items)) == 1
        assert [p for p in ctx.check() if p.severity == "error"] == []
        items += loop(24)[19:]
        ctx = ChatContext(items, model=model, policy=POLICY)
    answer = [{"text": "All are delivered."}] if loop is bedrock_loop else "All are delivered."
    items.append({"role": "assistant", "content": answer})
    assert ctx.summarize(summarizer, keep_last_turns=0).changed
    assert first[0] not in items


@LOOPS
@pytest.mark.parametrize(
    ("model", "thinks", "calls"),
    [
        ("claude-opus-4-7", (0,), 12),
        ("claude-sonnet-5-5", (0,), 12),
        ("us.anthropic.claude-sonnet-5", (0,), 12),
        (BUDGET, (), 12),
        (BUDGET, range(12), 12),  # interleaved
        (BUDGET, (11,), 12),
    ],
)
def test_nothing_is_kept_where_the_turn_may_begin_without(
    loop: Loop, model: str, thinks: Sequence[int], calls: int
) -> None:
    """Models that think as they like, turns without thinking, and tails that begin with some."""
    items = loop(calls, thinks)
    tail = items[-2:]
    ctx = ChatContext(items, model=model)
    assert ctx.summarize(summarizer, keep_last_turns=0).changed
    assert all(new is old for new, old in zip(items[-2:], tail, strict=True))
    assert sum(item["role"] == "assistant" for item in items) == 1


@LOOPS
def test_a_turn_that_is_over_keeps_none_of_it(loop: Loop) -> None:
    """Cut inside, its calls follow no thinking: that of earlier turns is nobody's matter."""
    items = loop(12)
    answer = [{"text": "All are delivered."}] if loop is bedrock_loop else "All are delivered."
    items.append({"role": "assistant", "content": answer})
    ctx = ChatContext(items, model=BUDGET)
    assert ctx.summarize(summarizer, keep_tokens=900).changed
    assert not any(thoughtful(items))


def test_a_model_of_another_maker_keeps_none_of_it() -> None:
    """On Bedrock: only Claude asks for it, and a profile may stand for Claude."""
    for model, kept in {
        "amazon.nova-2-lite-v1:0": False,
        "arn:aws:bedrock:eu-central-1:1:application-inference-profile/x": True,
    }.items():
        items = bedrock_loop(12)
        ctx = ChatContext(items, model=model)
        assert ctx.summarize(summarizer, keep_last_turns=0).changed
        assert any(thoughtful(items)) is kept


def test_a_turn_that_its_host_takes_up_again_is_folded_anew() -> None:
    """Its answer was there when it was folded; without it the turn runs, and begins with a call."""
    middleware = Middleware(summarizer, POLICY, agent_model=BUDGET)
    running = anthropic_loop(12)
    answered = [*running, {"role": "assistant", "content": "All are delivered."}]
    folded = middleware.fold(answered)
    assert folded.outcome is not None
    assert folded.outcome.changed
    assert not any(thoughtful(folded.items))
    again = middleware.fold(running)
    assert len(again.items) < len(running)
    assert thoughtful(again.items)[0]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_request_begins_its_turn_with_thinking(
    asynchronous: bool, llm_server: LLMServer
) -> None:
    """The real client sends it so, and asks for nothing besides."""
    items: list[Any] = anthropic_loop(12)
    ctx = ChatContext(items, model=BUDGET, policy=POLICY)
    if asynchronous:
        asyncio.run(ctx.amaybe_summarize(summarizer))
    else:
        ctx.maybe_summarize(summarizer)
    assert ctx.request_options() == {}
    with anthropic.Anthropic(base_url=llm_server.anthropic_url, api_key="sk-test") as client:
        client.messages.create(
            model=BUDGET,
            max_tokens=4000,
            thinking={"type": "enabled", "budget_tokens": 1024},
            messages=items,
        )
    sent = llm_server.requests[0].body["messages"]
    turn = [message for message in sent if message["role"] == "assistant"]
    kinds = [[block["type"] for block in message["content"]] for message in turn]
    assert kinds == [["thinking", "tool_use"], ["tool_use"], ["tool_use"]]


@pytest.mark.parametrize(
    ("model", "stays"),
    [
        ("claude-haiku-4-5", True),
        ("claude-opus-4-6", False),
        (None, False),
        ("claude-opus-5", False),
    ],
)
def test_a_large_first_result_stays_only_where_it_surely_has_to(
    model: str | None, stays: bool
) -> None:
    """It may fill most of the window, and none of it can be folded until the turn is over."""
    items = anthropic_loop(9)
    items[2]["content"][0]["content"] = "A parcel from Lyon. " * 4_000
    ctx = ChatContext(items, model=model)
    assert ctx.summarize(summarizer, keep_tokens=800).changed
    assert any("thinking" in str(item["content"]) for item in ctx.items) is stays
    assert [p for p in ctx.check() if p.severity == "error"] == []
