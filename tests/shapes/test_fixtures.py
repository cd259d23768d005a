"""Every labelled history of the shared fixtures reads and folds as its labels say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import shared_directory
from conversation import elements
from laws import Weightless
from validator import lost_partners, validate

from chatfold import ChatContext
from chatfold.core.split import prefix_length

Labels = dict[str, Any]

SHAPE_OF = {
    "openai_chat": "openai_chat",
    "openai_responses": "openai_responses",
    "openai_agents": "openai_responses",
    "anthropic": "anthropic",
    "anthropic_beta": "anthropic",
    "gemini": "gemini",
    "bedrock_converse": "bedrock",
}


def _load(path: Path) -> Labels:
    labels: Labels = json.loads(path.read_text(encoding="utf-8"))
    return labels


def _fixtures() -> list[Any]:
    found = [_load(path) for path in sorted((shared_directory() / "fixtures").glob("*.json"))]
    own = [pytest.param(f, id=f["name"]) for f in found if f["provider_shape"] in SHAPE_OF]
    return own or [NONE]


NONE = pytest.param(
    {},
    id="none",
    marks=pytest.mark.skip(reason="no fixtures beside the checkout; set CHATFOLD_SHARED"),
)
FIXTURES = pytest.mark.parametrize("labels", _fixtures())


@pytest.fixture(params=["hint", "no hint"])
def hint(request: pytest.FixtureRequest, labels: Labels) -> str | None:
    """The shape's name as the fixture writes it, or None."""
    return labels["provider_shape"] if request.param == "hint" else None


@pytest.fixture
def ctx(labels: Labels, hint: str | None) -> ChatContext[Any]:
    """A context on a fresh copy of the fixture's items."""
    return ChatContext(json.loads(json.dumps(labels["items"])), shape=hint)


@FIXTURES
def test_the_cut_points_are_the_legal_cuts(ctx: ChatContext[Any], labels: Labels) -> None:
    """The list may be cut where the label says, and nowhere else."""
    assert ctx.cut_points() == labels["legal_cuts"]


@FIXTURES
def test_the_lossy_cuts_are_the_cuts_behind_a_barrier(
    ctx: ChatContext[Any], labels: Labels
) -> None:
    """Cuts behind what only the provider can read come with `lossy=True` only."""
    lossy = set(ctx.cut_points(lossy=True)) - set(ctx.cut_points())
    assert sorted(lossy) == labels.get("lossy_cuts", [])


@FIXTURES
def test_the_tool_calls_are_the_labelled_calls(ctx: ChatContext[Any], labels: Labels) -> None:
    """Id, name, completion and place of every call are as labelled, in order."""
    records = ctx.tool_calls()
    assert [{"id": c.id, "name": c.name, "completed": c.completed} for c in records] == labels[
        "calls"
    ]
    assert [[c.call_index, c.result_index] for c in records] == labels["call_spans"]
    assert ctx.count_tool_calls() == len(labels["calls"])
    assert ctx.count_tool_calls(completed_only=True) == sum(c["completed"] for c in labels["calls"])


@FIXTURES
def test_the_shape_is_the_labelled_one_or_still_open(ctx: ChatContext[Any], labels: Labels) -> None:
    """Detection does not settle on a wrong shape; a list of plain words stays undecided."""
    expected = SHAPE_OF[labels["provider_shape"]]
    words_only = all(set(i) <= {"role", "content"} for i in labels["items"])
    if ctx.shape is None:
        assert words_only
    else:
        assert ctx.shape.name == expected
    assert all(view.shape for view in ctx.views())


@FIXTURES
def test_the_pinned_prefix_is_never_folded(ctx: ChatContext[Any], labels: Labels) -> None:
    """The labelled leading instructions are the prefix, and stay the same objects."""
    count = labels.get("pinned_prefix", 0)
    prefix = ctx.items[:count]
    assert prefix_length(ctx.views()) == count
    ctx.summarize(lambda prompt: ".", keep_last_turns=0)
    assert all(a is b for a, b in zip(ctx.items[:count], prefix, strict=True))


@FIXTURES
def test_a_fold_keeps_what_is_to_be_carried_forward(ctx: ChatContext[Any], labels: Labels) -> None:
    """State in the head stays, at every limit; apart from it, only an unanswered request does."""
    items = list(ctx.items)
    opened = {i for turn in ctx.turns() for i in turn.openers}
    for keep in range(4):
        plan = ctx.plan(keep_last_turns=keep)
        if not plan:
            continue
        kept = [next(i for i, item in enumerate(items) if item is k) for k in plan.kept]
        carried = [i for i in labels.get("carry_forward", []) if i < plan.index]
        assert [i for i in kept if i not in opened] == carried
    assert "carry_forward" not in labels or ctx.plan(keep_last_turns=0)


@pytest.mark.parametrize(
    "labels", [f for f in _fixtures() if "existing_summary_index" in f.values[0]] or [NONE]
)
def test_an_existing_summary_is_shown_as_nobodys_speech(labels: Labels) -> None:
    """What the Agents SDK tells the next agent of the conversation was not said in it."""
    index = labels["existing_summary_index"]
    text = labels["items"][index]["content"]
    prompt = ChatContext(labels["items"]).plan(keep_last_turns=0).prompt
    assert prompt is not None
    shown = [element for element in elements(prompt.user) if element.text == text]
    assert [(e.tag, e.attributes) for e in shown] == [("item", {"type": "conversation_so_far"})]


@FIXTURES
def test_a_fold_requires_of_the_next_request_what_the_label_says(labels: Labels) -> None:
    """Thinking behind a summary needs its fields for the labelled models; nothing else does."""
    wanted = labels.get("tail_requirement")
    for model in wanted["models"] if wanted else ["claude-sonnet-4-5", "gpt-5", "gemini-3-pro"]:
        told: list[dict[str, Any]] = []
        for tokens in range(0, 200, 5):
            ctx: ChatContext[Any] = ChatContext(
                json.loads(json.dumps(labels["items"])),
                shape=labels["provider_shape"],
                model=model,
                counter=Weightless(),
            )
            assert ctx.request_options() == {}
            if ctx.summarize(lambda prompt: ".", keep_tokens=tokens).changed:
                told.append(ctx.request_options())
        if wanted:
            assert wanted["option_1"] in told
        assert all(options in ({}, wanted and wanted["option_1"]) for options in told)


@FIXTURES
def test_an_approval_that_waits_blocks_every_fold_of_it(
    ctx: ChatContext[Any], labels: Labels
) -> None:
    """A pending approval stays at any limit and is named; without one, nothing is named for it."""
    pending = labels.get("pending_approvals", [])
    asked = [i for i, item in enumerate(ctx.items) if item.get("id") in pending]
    assert len(asked) == len(pending)
    plan = ctx.plan(keep_last_turns=0)
    for index in asked:
        assert plan.index <= index
        assert set(pending) <= set(plan.blocked_by)
        assert any(p.severity == "pending" and p.index == index for p in ctx.check())


@FIXTURES
def test_a_fold_is_valid_wherever_it_cuts(ctx: ChatContext[Any], labels: Labels) -> None:
    """At every limit, the folded list has no error that the history did not have."""
    shape = SHAPE_OF[labels["provider_shape"]]
    items = list(ctx.items)
    before = {v.rule for v in validate(items, shape) if not v.open}
    for keep in range(4):
        for tokens in (None, 0, 30):
            again: ChatContext[Any] = ChatContext(list(items), shape=shape)
            outcome = again.summarize(lambda prompt: ".", keep_last_turns=keep, keep_tokens=tokens)
            assert outcome.changed or outcome.reason != "failed"
            after = [v for v in validate(again.items, shape) if not v.open]
            assert {v.rule for v in after} <= before
            assert lost_partners(items, again.items, shape) == []
