"""What a policy keeps where much of the list stays in every fold, and where turns are long."""

from __future__ import annotations

from typing import Any

import pytest
from each_turn import SIZE, Model, context, maybe, turn
from laws import step

from chatfold import ChatContext, Usage
from chatfold.policy import Policy

WAYS = pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])
WINDOW = 10_000  # folded from 7,500 on, and then 3,750 are kept


class All:
    """Counts words, of a summary too."""

    exact = False

    def count(self, text: str) -> int:
        return len(text.split())


def long(size: int, role: str = "system") -> dict[str, Any]:
    return {"role": role, "content": "rule " * size}


def reasons(
    ctx: ChatContext[Any], model: Model, turns: int, way: str = "maybe_summarize"
) -> list[str]:
    """Return what came of each turn of an agent; the list is below its window at each of them."""
    found: list[str] = []
    for number in range(turns):
        ctx.extend(turn(number))
        found.append(maybe(way, ctx, model).reason)
        assert not ctx.load().over_window
    return found


@WAYS
@pytest.mark.parametrize("keep_tokens", [None, 3_750])
@pytest.mark.parametrize("size", [500, 1_500, 2_500, 3_500])
def test_instructions_in_the_list_leave_less_to_keep_as_those_beside_it_do(
    way: str, size: int, keep_tokens: int | None
) -> None:
    """Each fold is due, made, paid for once and leads below the trigger."""
    policy, model = Policy(window=WINDOW, keep_tokens=keep_tokens), Model()
    model.text = "word " * 400
    ctx = context(policy=policy, counter=All())
    ctx.append(long(size))
    found = reasons(ctx, model, 200, way)
    assert set(found) == {"below_trigger", "summarized"}
    assert model.asked == found.count("summarized") < 30
    assert not ctx.load().over_limit


def test_a_model_that_writes_more_than_it_is_asked_for_leaves_less_to_keep() -> None:
    """The next summary will be about as long as the one that is there."""
    model, ctx = Model(), context(policy=Policy(window=16_000), counter=All())
    model.text = "word " * 1_500
    ctx.append(long(5_000))
    found = reasons(ctx, model, 250)
    last = found.index("summarized", found.index("summarized") + 1)  # of the first nothing is known
    assert set(found[last:]) == {"below_trigger", "summarized"}


def test_no_model_is_paid_to_find_out_that_too_little_goes() -> None:
    """Instructions near the trigger leave a list that is due from its first turns on."""
    model, ctx = Model(), context(policy=Policy(window=8_192), counter=All())
    ctx.append(long(5_250))
    model.text = "word " * 200
    found: list[str] = []
    while ctx.load().tokens < 6_700:
        ctx.extend(turn(len(found)))
        found.append(maybe("maybe_summarize", ctx, model).reason)
    assert "no_gain" not in found
    assert model.asked == found.count("summarized")


def test_what_is_pinned_leaves_less_to_keep() -> None:
    """It stays in every fold, as instructions do."""
    model, ctx = Model(), context(policy=Policy(window=WINDOW), counter=All(), pin=_is_rule)
    model.text = "word " * 400
    ctx.extend([*turn(0), long(3_000, "user"), {"role": "assistant", "content": "Noted."}])
    found = reasons(ctx, model, 200)
    assert found.count("no_gain") <= 1  # before the first fold nothing is known of it
    assert set(found[60:]) == {"below_trigger", "summarized"}
    assert model.asked == found.count("summarized") < 30


def test_a_message_that_holds_the_summary_is_not_taken_for_the_summary() -> None:
    """Bedrock takes no two messages of one role in a row: the pinned one has the summary, too."""
    model = Model()
    model.text = "word " * 400
    policy = Policy(window=WINDOW)
    ctx = context(policy=policy, counter=All(), pin=_is_long, shape="bedrock")
    ctx.extend([_said("user", "rule " * 2_500), _said("assistant", "Noted.")])
    found: list[str] = []
    for number in range(200):
        ctx.extend(_said(item["role"], item["content"]) for item in turn(number))
        found.append((outcome := ctx.maybe_summarize(model)).reason)
        assert not outcome.changed or 5_000 < ctx.count_tokens().value < 5_600
    assert set(found[60:]) == {"below_trigger", "summarized"}


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text}]}


def _is_long(item: Any) -> bool:
    return any(block.get("text", "").startswith("rule") for block in item["content"])


def _is_rule(item: Any) -> bool:
    return item["content"].startswith("rule")


@pytest.mark.parametrize("keep_tokens", [None, 6_500])
@pytest.mark.parametrize("size", [0, 400, 460])
def test_short_instructions_change_nothing(size: int, keep_tokens: int | None) -> None:
    """What stays is as long as the policy says, to the turn."""
    policy = Policy(window=WINDOW, keep_tokens=keep_tokens, min_gain=0.0)
    ctx = context(policy=policy)
    ctx.extend([long(size)] if size else [])
    ctx.extend(item for number in range(80) for item in turn(number))
    kept = policy.kept_tokens(None)
    assert maybe("maybe_summarize", ctx, Model()).changed
    tail = ctx.count_tokens().value - size - SIZE // 10
    assert kept - SIZE < tail <= kept


def test_what_a_call_says_is_kept_whatever_the_instructions_take() -> None:
    """It is the caller's word for this list."""
    ctx = context(policy=Policy(window=WINDOW))
    ctx.append(long(3_000))
    ctx.extend(item for number in range(80) for item in turn(number))
    assert maybe("maybe_summarize", ctx, Model(), keep_tokens=3_750).changed
    assert ctx.count_tokens().value > 3_000 + 3_750 - SIZE


@WAYS
@pytest.mark.parametrize("size", [6_000, 7_400, 8_000, 8_600])
def test_instructions_that_leave_no_room_below_the_trigger_leave_the_list_below_the_window(
    way: str, size: int
) -> None:
    """No fold leads below the trigger then; but the request has to be taken by the model."""
    model, ctx = Model(), context(policy=Policy(window=WINDOW), counter=All())
    model.text = "word " * 400
    ctx.append(long(size))
    found = reasons(ctx, model, 150, way)
    assert 2 < found.count("summarized") <= model.asked <= found.count("summarized") + 1


def test_instructions_far_above_the_trigger_leave_what_is_kept_as_it_was() -> None:
    """Where no fold leads below it, and the window is far, less to keep would gain nothing."""
    policy = Policy(window=100_000, max_tokens=7_500)
    ctx = context(policy=policy)
    ctx.append(long(7_400))
    ctx.extend(item for number in range(120) for item in turn(number))
    assert maybe("maybe_summarize", ctx, Model()).changed
    assert ctx.count_tokens().value > 7_400 + policy.kept_tokens(None) - SIZE


def test_what_a_report_says_of_each_request_counts_with_the_instructions() -> None:
    """What is left to the list is what both leave."""
    model, ctx = Model(), context(policy=Policy(window=WINDOW), counter=All())
    model.text = "word " * 300
    ctx.append(long(1_500))
    found: list[str] = []
    for number in range(200):
        ctx.extend(turn(number))
        found.append(ctx.maybe_summarize(model).reason)
        ctx.record_usage(Usage(2_000 + ctx.count_tokens().value, 5))
    assert set(found) == {"below_trigger", "summarized"}
    assert model.asked == found.count("summarized") < 40


def test_a_report_that_changes_only_what_the_list_is_to_be_below_counts_too() -> None:
    """The recent part alone would have room for its fifth of the trigger."""
    policy = Policy(max_tokens=40_000)
    ctx = context(policy=policy)
    ctx.append(long(13_000))
    ctx.record_usage(Usage(12_000 + ctx.count_tokens().value, 5))
    ctx.extend(item for number in range(180) for item in turn(number))
    assert ctx._each_turn.loads.kept_tokens == policy.kept_tokens(None) == 8_000
    assert maybe("maybe_summarize", ctx, Model()).changed
    assert ctx.count_tokens().value < 13_000 + 7_500


# --- long turns -----------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("keep_last_turns", [None, 1, 3])
def test_a_turn_longer_than_max_items_is_cut_inside(way: str, keep_last_turns: int | None) -> None:
    """The list does not grow on, the request stays verbatim, and not every step folds."""
    model = Model()
    policy = Policy(max_items=30, keep_last_turns=keep_last_turns)
    ctx = context(2, policy=policy)
    ctx.append(request := {"role": "user", "content": "Mend what the tests find."})
    for number in range(100):
        ctx.extend(step("openai_chat", f"call_{number}", 1, ["found " * 50]))
        maybe(way, ctx, model)
        assert len(ctx.items) <= 40  # some more than 30, until a fold saves enough
        assert any(item is request for item in ctx.items)
        assert not ctx.check()
    assert 10 < model.asked < 20


def test_turns_shorter_than_max_items_are_kept_whole() -> None:
    """Two of twelve items each, of 30: as the policy says."""
    model, ctx = Model(), context(policy=Policy(max_items=30))
    for number in range(40):
        ctx.append({"role": "user", "content": f"Look {number} up."})
        for call in range(5):
            ctx.extend(step("openai_chat", f"call_{number}_{call}", 1, ["found " * 50]))
        ctx.append({"role": "assistant", "content": "Done."})
        outcome = maybe("maybe_summarize", ctx, model)
        assert not outcome.changed or len(ctx.items) == 25
    assert model.asked > 10
