"""Whose name stands on a fold that a fallback chain has made, in spans, metrics and hooks."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from background import until
from each_turn import Model, Told, context, failing, maybe, turn
from fake_server import LLMServer, content_filter, llm_server, ok, server_error
from telemetry_backend import (
    WAYS,
    Backend,
    attributes,
    backend,
    fold,
    no_span_is_left_behind,
)

from chatfold import ChatContext, Completion, Prompt, SummaryError, Usage
from chatfold.core.flow import Flow
from chatfold.events import FoldEvent, Spent
from chatfold.policy import Policy

__all__ = ["backend", "llm_server", "no_span_is_left_behind"]

OPENAI = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-x"}
CLAUDE = {"gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-x"}
FILTERED = replace(content_filter(), input_tokens=70, output_tokens=7)
"""An answer that is paid for, and that a chain goes on behind."""


@pytest.fixture
def chain(llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A chain of two providers that both talk to the server."""
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    for name, value in llm_server.env.items():
        monkeypatch.setenv(name, value)
    return ["openai:gpt-x", "anthropic:claude-x"]


def _who(attributes: Any) -> dict[str, Any]:
    return {n: v for n, v in attributes.items() if n in OPENAI}


def _tokens(backend: Backend) -> dict[tuple[str, ...], int]:
    """Return the tokens that were counted, by provider, models and direction."""
    names = (*OPENAI, "gen_ai.response.model", "gen_ai.token.type")
    return {
        tuple(point.attributes.get(name, "") for name in names): point.sum
        for point in backend.points("gen_ai.client.token.usage")
    }


@WAYS
def test_who_answers_in_place_of_another_is_named(
    way: str, backend: Backend, llm_server: LLMServer, chain: list[str]
) -> None:
    """The first of the chain is down; what the second has used is not booked under its name."""
    llm_server.script(server_error(), ok("short"))
    assert fold(way, context(10, on_event=backend.telemetry()), chain, retries=0).changed
    span = backend.fold()
    assert span.name == "summarize claude-x"
    assert _who(attributes(span)) == CLAUDE
    assert attributes(span)["gen_ai.response.model"] == "claude-x"
    assert "chatfold.spent.by" not in attributes(span)
    assert _tokens(backend) == {
        ("anthropic", "claude-x", "claude-x", "input"): 120,
        ("anthropic", "claude-x", "claude-x", "output"): 30,
    }
    for name in ("gen_ai.client.operation.duration", "chatfold.folds"):
        (point,) = backend.points(name)
        assert _who(point.attributes) == CLAUDE


@pytest.mark.parametrize("asynchronous", [False, True])
def test_so_are_both_where_both_are_paid(
    asynchronous: bool, backend: Backend, llm_server: LLMServer, chain: list[str]
) -> None:
    """Also in the background; the sums of the span say whose they are."""
    llm_server.script(FILTERED, ok("short"))
    ctx = context(10, on_event=backend.telemetry())

    async def run() -> None:
        begun = ctx.summarize_in_background(chain, retries=0)
        await until(lambda: begun.done)
        assert begun.apply_if_ready().usage == Usage(190, 37)

    if asynchronous:
        asyncio.run(run())
    else:
        begun = ctx.summarize_in_background(chain, retries=0)
        assert begun.wait(20)
        assert begun.apply_if_ready().usage == Usage(190, 37)
    told = attributes(backend.fold())
    assert _who(told) == CLAUDE
    assert told["gen_ai.usage.input_tokens"] == 190
    assert told["chatfold.spent.by"] == ("openai gpt-x", "anthropic claude-x")
    assert told["chatfold.spent.input_tokens"] == (70, 120)
    assert told["chatfold.spent.output_tokens"] == (7, 30)
    assert _tokens(backend) == {
        ("openai", "gpt-x", "gpt-x", "input"): 70,
        ("openai", "gpt-x", "gpt-x", "output"): 7,
        ("anthropic", "claude-x", "claude-x", "input"): 120,
        ("anthropic", "claude-x", "claude-x", "output"): 30,
    }


def test_each_part_is_paid_for_by_who_has_written_it(
    backend: Backend, llm_server: LLMServer, chain: list[str]
) -> None:
    """Two parts by one, the others by another, which goes on where the first one stopped."""
    llm_server.script(
        ok("one", input_tokens=10, output_tokens=1),
        ok("two", input_tokens=20, output_tokens=2),
        server_error(),
    )
    llm_server.default = ok("more", input_tokens=100, output_tokens=10)
    items = [item for n in range(80) for item in turn(n, 400)]
    ctx: ChatContext[Any] = ChatContext(items, on_event=backend.telemetry())
    outcome = ctx.summarize(chain, retries=0, max_prompt_tokens=3_000, keep_last_turns=1)
    theirs = outcome.llm_calls - 3
    assert theirs > 1
    assert _tokens(backend) == {
        ("openai", "gpt-x", "gpt-x", "input"): 30,
        ("openai", "gpt-x", "gpt-x", "output"): 3,
        ("anthropic", "claude-x", "claude-x", "input"): 100 * theirs,
        ("anthropic", "claude-x", "claude-x", "output"): 10 * theirs,
    }


def test_where_all_fail_the_last_one_asked_is_named(
    backend: Backend, llm_server: LLMServer, chain: list[str]
) -> None:
    """And the model that has answered before it is not said to be its."""
    llm_server.script(FILTERED, server_error())
    with pytest.raises(SummaryError):
        context(10, on_event=backend.telemetry()).summarize(chain, retries=0)
    told = attributes(backend.fold())
    assert _who(told) == CLAUDE
    assert "gen_ai.response.model" not in told
    assert {key[:3] for key in _tokens(backend)} == {("openai", "gpt-x", "gpt-x")}
    (seconds,) = backend.points("gen_ai.client.operation.duration")
    assert _who(seconds.attributes) == CLAUDE
    assert "gen_ai.response.model" not in seconds.attributes


def _function(prompt: Prompt) -> Completion:
    return Completion("short", usage=Usage(11, 3), model="model-1")


@pytest.mark.parametrize(
    ("other", "model", "counted"),
    [("extractive", "extractive", 0), (_function, "model-1", 2), ([_function], "model-1", 2)],
)
def test_who_has_no_name_does_not_get_that_of_another(
    other: Any,
    model: str,
    counted: int,
    backend: Backend,
    llm_server: LLMServer,
    chain: list[str],
) -> None:
    """What was said of a span when it began cannot be taken away from it."""
    llm_server.script(server_error())
    ctx = context(10, on_event=backend.telemetry())
    assert ctx.summarize([chain[0], other], retries=0).changed
    span = backend.fold()
    assert span.name == "summarize"
    assert _who(attributes(span)) == dict.fromkeys(OPENAI, "_OTHER")
    assert attributes(span)["gen_ai.response.model"] == model
    assert {key[:2] for key in _tokens(backend)} == ({("_OTHER", "")} if counted else set())
    (seconds,) = backend.points("gen_ai.client.operation.duration")
    assert _who(seconds.attributes) == {}


@pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])
def test_a_last_resort_is_not_by_the_model_that_is_left_alone(
    way: str, backend: Backend, chain: list[str]
) -> None:
    """While the model waits to be tried again, a list that no longer fits is folded without it."""
    policy = Policy(max_tokens=1_000, keep_tokens=200, window=1_500)
    ctx = context(14, policy=policy, on_event=backend.telemetry())
    assert not maybe(way, ctx, Model(error=failing())).changed
    backend.exporter.clear()
    ctx.extend(context(2).items)
    assert maybe(way, ctx, chain).changed
    told = attributes(backend.fold())
    assert _who(told) == dict.fromkeys(OPENAI, "_OTHER")
    assert told["gen_ai.response.model"] == "extractive"


def _raises(prompt: Prompt) -> Completion:
    raise failing()


def _filtered(prompt: Prompt) -> Completion:
    return Completion(" ", usage=Usage(1, 1), model="model-0")


OURS = Spent(None, None, "model-1", Usage(11, 3))
THEIRS = Spent(None, None, "model-0", Usage(1, 1))


@pytest.mark.parametrize(
    ("llm", "spent", "usage"),
    [
        ([_function], [OURS], Usage(11, 3)),
        ([_raises, _function], [OURS], Usage(11, 3)),
        ([_filtered, _function], [THEIRS, OURS], Usage(12, 4)),
        (lambda prompt: "short", [Spent(None, None, None, None)], None),
    ],
)
def test_a_hook_hears_who_has_spent_what(llm: Any, spent: list[Spent], usage: Usage | None) -> None:
    """Functions go by the name that they give the model."""
    hook = Told()
    context(10, on_event=hook).summarize(llm)
    before, after = hook.events
    assert before.spent == ()
    assert list(after.spent) == spent
    assert after.outcome is not None
    assert after.outcome.usage == usage


@pytest.mark.parametrize("way", ["flow", "apply"])
def test_so_it_does_where_the_host_asks(way: str) -> None:
    hook = Told()
    ctx = context(10, on_event=hook)
    asked = ctx.flow() if way == "flow" else ctx.plan()
    assert asked.prompt is not None
    answer = _function(asked.prompt)
    if isinstance(asked, Flow):
        asked.send(answer)
    else:
        ctx.apply(asked, answer)
    (event,) = hook.events
    assert event.spent == (OURS,)


def test_an_event_made_by_hand_counts_what_its_outcome_says(backend: Backend) -> None:
    """A test of somebody's own hooks may make one, without saying who used the tokens."""
    outcome = replace(
        context(10).summarize(lambda _: "short"), usage=Usage(100, 10), model="my-model"
    )
    event = FoldEvent("after", 100, outcome=outcome, provider="openai", model="gpt-x")
    backend.telemetry()(event)
    assert _tokens(backend) == {
        ("openai", "gpt-x", "my-model", "input"): 100,
        ("openai", "gpt-x", "my-model", "output"): 10,
    }
