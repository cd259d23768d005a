"""Histories that the provider holds: folding the local list is refused, or sent in full."""

from __future__ import annotations

from typing import Any

import pytest
from laws import same_objects, short, talk
from validator import validate

from chatfold import ChatContext

OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "42"}


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
    ],
)
def test_a_full_replay_folds_and_says_what_the_next_request_needs(
    shape: str, options: dict[str, Any]
) -> None:
    """The list is folded as any, and the provider's own history is left behind."""
    items = talk()
    ctx = ChatContext(items, shape=shape, server_managed=True)
    assert ctx.request_options() == {}
    outcome = ctx.summarize(short, keep_last_turns=1, replay=True)
    assert outcome.changed
    assert validate(items, shape) == []
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
