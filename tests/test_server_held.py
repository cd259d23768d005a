"""Histories that the provider holds: folding the local list is refused, or sent in full."""

from __future__ import annotations

from typing import Any

import pytest
from laws import same_objects, short, talk
from validator import validate

from chatfold import ChatContext, Completion, Prompt, Usage

OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "42"}

HELD = {
    "id": "resp_2",
    "object": "response",
    "status": "completed",
    "previous_response_id": "resp_1",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "ok", "annotations": []}],
        }
    ],
}
"""A response to a request that went on from another one."""


@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses", "anthropic", None])
def test_a_history_that_the_provider_holds_is_not_folded(shape: str | None) -> None:
    """Nothing changes, no model is asked, and the outcome says what to do instead."""
    items = talk()
    before = list(items)
    ctx = ChatContext(items, shape=shape, server_managed=True)

    def never(prompt: Any) -> str:
        raise AssertionError("the summarizer was asked")

    outcome = ctx.summarize(never, keep_last_turns=1)
    assert (outcome.changed, outcome.reason) == (False, "server_managed")
    assert "server_managed=True" in str(outcome)
    assert "replay=True" in str(outcome)
    assert not ctx.plan(keep_last_turns=1)
    assert ctx.flow(keep_last_turns=1).prompt is None
    assert same_objects(items, before)


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ("openai_responses", {"previous_response_id": None, "conversation": None}),
        ("anthropic", {"thread": {"type": "create"}}),
        ("openai_chat", {}),
        (None, {"previous_response_id": None, "conversation": None}),  # plain messages
    ],
)
def test_a_full_replay_folds_and_says_what_the_next_request_needs(
    shape: str | None, options: dict[str, Any]
) -> None:
    """The list is folded as any, and the provider's own history is left behind."""
    items = talk()
    ctx = ChatContext(items, shape=shape, server_managed=True)
    assert ctx.request_options() == {}
    outcome = ctx.summarize(short, keep_last_turns=1, replay=True)
    assert outcome.changed
    assert validate(items, shape or "openai_responses") == []
    assert ctx.request_options() == options
    assert [r.kind for r in outcome.requirements] == ["full_replay"] * bool(options)
    assert ctx.requirements() == list(outcome.requirements)


def test_a_replay_that_does_nothing_leaves_the_history_where_it_is() -> None:
    """Until a fold has changed the list, the provider's own history is as good."""
    ctx = ChatContext(talk(1), shape="openai_responses", server_managed=True)
    assert not ctx.summarize(short, keep_last_turns=5, replay=True)
    assert ctx.request_options() == {}
    assert ctx.summarize(short, keep_last_turns=0).reason == "server_managed"


def test_after_a_replay_the_list_is_folded_like_any() -> None:
    """The list is the history now, so nobody need say so again."""
    items = talk()
    ctx = ChatContext(items, shape="openai_responses", server_managed=True)
    assert ctx.summarize(short, keep_last_turns=2, replay=True)
    assert ctx.summarize(short, keep_last_turns=1).changed
    assert "previous_response_id" in ctx.request_options()


def test_results_without_calls_are_no_error_where_the_provider_has_the_calls() -> None:
    """With `previous_response_id` the new items alone are sent; without it they are refused."""
    items: list[Any] = [OUTPUT, {"role": "user", "content": "and now?"}]
    assert [p.rule for p in ChatContext(items).check()] == ["orphan_result"]
    assert ChatContext(items, server_managed=True).check() == []


@pytest.mark.parametrize("background", [False, True])
def test_a_history_that_the_provider_comes_to_hold_while_a_summary_is_written(
    background: bool,
) -> None:
    """A response says so meanwhile: what only the server has would drop out of the next request."""
    items = talk(6)
    ctx = ChatContext(items, shape="openai_responses", timeout=None)

    def answered(prompt: Prompt) -> Completion:
        ctx.add_response(HELD)
        return Completion("what happened before", usage=Usage(11, 3))

    if background:
        fold = ctx.summarize_in_background(answered, keep_last_turns=1)
        assert fold.wait(20)
        outcome = fold.apply_if_ready()
    else:
        outcome = ctx.summarize(answered, keep_last_turns=1)
    assert (outcome.changed, outcome.reason) == (False, "server_managed")
    assert (outcome.usage, outcome.llm_calls) == (Usage(11, 3), 1)
    assert outcome.tokens_before == outcome.tokens_after == ctx.count_tokens().value
    assert len(items) == 13
    assert ctx.summarize(short, keep_last_turns=1, replay=True).changed


def test_a_plan_of_a_replay_is_put_in() -> None:
    """Whoever makes the model call says so when they plan it."""
    items = talk(6)
    ctx = ChatContext(items, shape="openai_responses", server_managed=True)
    plan = ctx.plan(keep_last_turns=1, replay=True)
    assert ctx.apply(plan, "what happened before").changed
    later = ChatContext(talk(6), shape="openai_responses")
    plan = later.plan(keep_last_turns=1)
    later.add_response(HELD)
    assert later.apply(plan, "what happened before").reason == "server_managed"
