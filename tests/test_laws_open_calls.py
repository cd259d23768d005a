"""Law 3: what may still be answered stays in the list, and what blocks a fold is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import LIMITS, WAYS, context, fold, limits, short, ways
from strategies import History, histories
from validator import normalise

from chatfold import ChatContext, Prompt
from chatfold.core.native import field

# Tools that the model found or listed stay, with the whole run of reasoning that they came in.
LOADED = ("tool_search_output", "mcp_list_tools")


def runs_of_reasoning(items: Sequence[Any]) -> list[list[Any]]:
    """Return what stands between each item of reasoning and the next, the reasoning included."""
    runs: list[list[Any]] = [[]]
    for item in items:
        if field(item, "type") == "reasoning":
            runs.append([])
        runs[-1].append(item)
    return runs


def live(history: History) -> list[tuple[int, str]]:
    """Return the index and the label of each open call and pending approval."""
    asked = [(i, str(normalise(history.items[i])["id"])) for i in history.approvals]
    return asked + [(c.call_index, c.id or c.name) for c in history.calls if c.status == "open"]


@given(history=histories(broken=True), limit=limits, way=ways)
def test_law_3_live_calls_and_pending_approvals_stay_at_any_keep(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """What the host or the user may still answer is in the list after every fold."""
    ctx = context(history)
    fold(ctx, way=way, **limit)
    left = {id(item) for item in ctx.items}
    for index, _ in live(history):
        assert id(history.items[index]) in left


@given(history=histories(broken=True), way=ways)
def test_law_3_the_outcome_names_what_blocks(history: History, way: str) -> None:
    """With no turn to keep every live call is in the way, and each is named; no other is."""
    labels = {label for _, label in live(history)}
    outcome = fold(context(history), way=way, keep_last_turns=0)
    assert set(outcome.blocked_by) == labels
    assert len(outcome.blocked_by) == len(set(outcome.blocked_by))
    if outcome.reason == "blocked_by_open_calls":
        assert all(label in str(outcome) for label in labels)
    else:
        assert outcome.reason in ("summarized", "nothing_to_summarize", "no_gain")


@given(history=histories("openai_responses", broken=True), count=st.integers(1, 5))
def test_law_3_only_calls_before_the_kept_turns_block(history: History, count: int) -> None:
    """An open call among the turns that are kept anyhow is in nobody's way."""
    starts = [i for i in history.openers if i - 1 not in history.openers]
    stop = starts[-count] if count <= len(starts) else 0
    early = {label for index, label in live(history) if index < stop}
    assert set(context(history).plan(keep_last_turns=count).blocked_by) == early


@given(history=histories("openai_chat", broken=True, open_calls=False))
def test_law_3_abandoned_calls_block_nothing(history: History) -> None:
    """A call that a later user message passed by leaves with the rest, and says so."""
    assert all(c.status != "open" for c in history.calls)
    prompts: list[Prompt] = []

    def note(prompt: Prompt) -> str:
        prompts.append(prompt)
        return "gone"

    ctx = context(history)
    outcome = fold(ctx, note, keep_last_turns=0)
    assert outcome.blocked_by == ()
    lost = sum(c.status == "abandoned" for c in history.calls)
    gone = {id(item) for item in outcome.removed}
    passed = [c for c in history.calls if c.status == "abandoned"]
    if outcome.changed and all(id(history.items[c.call_index]) in gone for c in passed):
        assert prompts[0].user.count('result="no result recorded"') >= lost


@given(
    history=histories("openai_responses", open_calls=False),
    place=st.integers(0, 4),
    by_id=st.booleans(),
    way=ways,
)
def test_law_3_asynchronous_calls_wait_until_the_caller_gives_them_up(
    history: History, place: int, by_id: bool, way: str
) -> None:
    """`abandon` frees the way by id or by a function; without it the call stays."""
    call = {"type": "function_call", "call_id": "slow", "name": "slow", "arguments": "{}"}
    call["async"] = True  # type: ignore[assignment]
    places = [index + 1 for index in history.openers] or [len(history.items)]
    at = places[place % len(places)]
    bye = [{"role": "user", "content": "thanks"}, {"role": "assistant", "content": "bye"}]
    items = [*history.items[:at], call, *history.items[at:], *bye]
    ctx = context(history, items)
    assert fold(ctx, way=way, keep_last_turns=0).blocked_by == ("slow",)
    assert any(item is call for item in items)
    # As the second fold finds it: the first one may have taken what stood between.
    before = items[: next(index for index, item in enumerate(items) if item is call)]
    abandon: Any = ["slow"] if by_id else lambda record: record.name == "slow"
    outcome = fold(ctx, way=way, keep_last_turns=0, abandon=abandon)
    assert outcome.changed
    assert outcome.blocked_by == ()
    if any(item is call for item in items):  # a provider refuses parts of what reasoning led to
        scope = runs_of_reasoning(before)[-1]
        assert any(field(item, "type") in LOADED for item in scope)
        assert all(any(item is left for left in items) for item in scope)


CALLS_WITHOUT_ID: dict[str, dict[str, Any]] = {
    "ollama": {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "look", "arguments": {}}}],
    },
    "gemini": {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
}


@pytest.mark.parametrize("shape", CALLS_WITHOUT_ID)
@pytest.mark.parametrize("way", WAYS)
def test_law_3_a_call_without_an_id_is_given_up_by_what_the_outcome_calls_it(
    shape: str, way: str
) -> None:
    said = "It is a long story. " * 40
    spoken = {
        "ollama": {"role": "assistant", "content": said},
        "gemini": {"role": "model", "parts": [{"text": said}]},
    }
    asked = {
        "ollama": {"role": "user", "content": said},
        "gemini": {"role": "user", "parts": [{"text": said}]},
    }
    ctx = ChatContext([asked[shape], CALLS_WITHOUT_ID[shape], spoken[shape]], shape=shape)
    blocked = fold(ctx, way=way, keep_last_turns=0)
    assert blocked.blocked_by == ("look",)
    outcome = fold(ctx, way=way, keep_last_turns=0, abandon=blocked.blocked_by)
    assert (outcome.changed, outcome.blocked_by) == (True, ())


def test_law_3_a_text_is_no_list_of_ids() -> None:
    """`abandon="call_1"` would give up calls named `c`, `a`, ...: it is refused."""
    ctx = ChatContext([{"role": "user", "content": "hello"}] * 3)
    with pytest.raises(TypeError, match="list of call ids"):
        ctx.summarize(short, abandon="call_1")


def test_law_3_an_approved_call_that_is_yet_to_be_made_stays() -> None:
    """The approval's request and answer are what the server finds the call by."""
    ask = {
        "type": "mcp_approval_request",
        "id": "a1",
        "server_label": "m",
        "name": "pay",
        "arguments": "{}",
    }
    grant = {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True}
    talk = [{"role": "user", "content": "pay"}, {"role": "assistant", "content": "I will. " * 99}]
    items: list[Any] = [*talk, talk[0], ask, grant]
    assert ChatContext(list(items)).cut_points() == [0, 1, 2, 3]
    for limit in LIMITS:
        ctx = ChatContext(list(items))
        fold(ctx, **limit)
        assert ctx.items[-2] is ask
        assert ctx.items[-1] is grant
