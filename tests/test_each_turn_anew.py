"""What a policy-driven call looks at anew: what was in the way, old items, whose report it gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from background import until
from each_turn import SIZE, Model, context, failing, maybe, timed, turn
from laws import step

from chatfold import ChatContext, Usage
from chatfold.policy import Load, Policy

WAYS = pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])


def never(prompt: object) -> str:
    raise AssertionError("a model was asked")


def folded(way: str, ctx: ChatContext[Any], **options: Any) -> bool:
    return maybe(way, ctx, Model(), **options).changed


# --- what was in the way is gone ------------------------------------------------------------------


@WAYS
def test_an_answer_to_an_open_call_is_noticed_at_once(way: str) -> None:
    """Though the list has hardly grown, and a minute has not passed."""
    first, second = (step("openai_chat", id_, 1, ["w " * 2_000]) for id_ in "ab")
    calls = {**first[0], "tool_calls": [*first[0]["tool_calls"], *second[0]["tool_calls"]]}
    ctx = context(0)
    timed(ctx)
    ctx.extend([{"role": "user", "content": "both, please"}, calls, first[1]])
    outcome = maybe(way, ctx, never)
    assert (outcome.reason, outcome.blocked_by) == ("blocked_by_open_calls", ("b",))
    assert maybe(way, ctx, never).reason == "blocked_by_open_calls"
    ctx.extend([{**second[1], "content": "done"}, {"role": "assistant", "content": "All done."}])
    assert folded(way, ctx)


@WAYS
def test_what_else_is_asked_for_is_tried_at_once(way: str) -> None:
    """As the outcome advises: other limits, a history that is to be replayed, a smaller gain."""
    ctx = context(12)
    assert maybe(way, ctx, never, keep_last_turns=20).reason == "too_few_turns"
    assert maybe(way, ctx, never, keep_last_turns=20).reason == "too_few_turns"
    assert folded(way, ctx, keep_tokens=300)
    ctx = context(12, server_managed=True)
    assert maybe(way, ctx, never).reason == "server_managed"
    assert folded(way, ctx, replay=True)


@WAYS
def test_a_turn_that_ends_what_had_to_be_kept_is_noticed(way: str) -> None:
    """One long message is kept while it is unanswered, and goes when the talk goes on."""
    ctx = context(0)
    timed(ctx)
    ctx.append({"role": "user", "content": "w " * 2_000})
    assert maybe(way, ctx, never).reason == "nothing_to_summarize"
    ctx.append({"role": "assistant", "content": "I see."})
    assert maybe(way, ctx, never).reason == "nothing_to_summarize"
    ctx.extend(turn(1))
    assert folded(way, ctx)


# --- what was edited ------------------------------------------------------------------------------


@WAYS
def test_what_an_agent_has_trimmed_itself_is_not_folded(way: str) -> None:
    """Old outputs that it shortened in place count as they are now, before anything is paid."""
    ctx = context(9)
    assert maybe(way, ctx, never).reason == "below_trigger"
    for item in ctx.items[:10]:
        item["content"] = "[trimmed]"
    ctx.extend([*turn(9), *turn(10)])
    assert ctx.load().tokens >= 1_000  # as far as it was looked at
    assert maybe(way, ctx, never).reason == "below_trigger"
    assert ctx.load().tokens < 1_000


@WAYS
def test_a_list_over_the_window_is_due_whatever_the_trigger_is(way: str) -> None:
    ctx = context(12, policy=Policy(window=1_100, max_tokens=50_000, keep_tokens=200))
    assert ctx.load().over_window
    assert folded(way, ctx)


# --- whose report it is ---------------------------------------------------------------------------


def test_a_report_of_a_request_from_before_a_fold_is_taken_as_that() -> None:
    """The list was folded while the model answered: it has not become larger by that."""
    ctx = context(12)
    before = ctx.load().tokens
    assert folded("maybe_summarize", ctx)
    after = ctx.load().tokens
    ctx.record_usage(Usage(before, 5))
    assert ctx.load().tokens == after
    ctx.record_usage(Usage(before, 5))  # the next one is of the list as it is
    assert ctx.load().tokens > before


def test_that_is_so_where_it_was_folded_without_a_model() -> None:
    """Whoever wrote the summary: what is beside the list has not become larger by it."""
    ctx = context(12, policy=Policy(window=1_100, max_tokens=1_000, keep_tokens=200))
    before = ctx.load().tokens
    assert maybe("maybe_summarize", ctx, Model(error=failing())).changed
    after = ctx.load().tokens
    ctx.record_usage(Usage(before, 5))
    assert ctx.load().tokens == after


def test_a_report_right_after_a_fold_may_be_of_the_folded_list() -> None:
    ctx = context(12)
    assert folded("maybe_summarize", ctx)
    ctx.append({"role": "user", "content": "and now?"})
    ctx.record_usage(Usage(ctx.load().tokens + 300, 5))
    assert ctx.load().tokens == ctx.count_tokens().value + 300


def test_a_report_that_comes_when_the_tools_have_run_is_not_of_their_results() -> None:
    """What they brought is new: the next request is larger by that."""
    ctx = context(12)
    ctx.append({"role": "user", "content": "and now?"})
    sent = ctx.load().tokens
    ctx.extend(step("openai_chat", "a", 1, ["w " * 1_000]))
    ctx.record_usage(Usage(sent, 5))
    assert ctx.load().tokens == ctx.count_tokens().value > sent + 1_000


def test_what_requests_have_besides_leaves_less_to_keep() -> None:
    """Whether the policy says how much that is, or the provider does."""
    said = context(policy=Policy(max_tokens=1_000, overhead_tokens=800))
    told = context(policy=Policy(max_tokens=1_000))
    told.append({"role": "user", "content": "hello"})
    told.record_usage(Usage(800 + told.count_tokens().value, 1))
    for ctx in (said, told):
        ctx.extend(item for n in range(5) for item in turn(n))
        assert ctx.load().over_limit
        assert folded("maybe_summarize", ctx)
        assert not ctx.load().over_limit
        assert len(ctx.items) == 3


@WAYS
@pytest.mark.parametrize("percent", [70, 100, 130, 150, 200])
def test_a_fold_leads_as_far_below_the_trigger_whatever_the_providers_tokenizer_is(
    way: str, percent: int
) -> None:
    """The trigger is of the provider's tokens, so what is kept is too, where those are more."""
    policy = Policy(max_tokens=6_000, overhead_tokens=1_000)
    ctx, model = context(25, policy=policy), Model()
    for number in range(120):
        ctx.extend(turn(number))
        ctx.record_usage(Usage(1_000 + ctx.count_tokens().value * percent // 100, 5))
        outcome = maybe(way, ctx, model)
        if outcome.changed:
            kept = 2_500 * 100 // max(100, percent)
            assert kept - SIZE < ctx.count_tokens().value + SIZE // 2 <= kept + SIZE
            assert not outcome.over_limit
        else:
            assert outcome.reason == "below_trigger"
    assert model.asked > 1


@WAYS
def test_what_is_kept_is_as_it_was_where_no_report_comes(way: str) -> None:
    """What is said to be beside the list is no reason to take the count for wrong."""
    ctx = context(55, policy=Policy(max_tokens=6_000, overhead_tokens=1_000))
    assert folded(way, ctx)
    assert 2_500 <= ctx.count_tokens().value < 2_510


@WAYS
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("edited", [False, True])
def test_a_yes_of_the_policys_own_function_holds_though_an_old_item_was_edited(
    way: str, background: bool, edited: bool
) -> None:
    """It is asked once in a turn: a user has asked for one fold, say."""
    wishes, asked = list[str](), list[int]()

    def when(load: Load) -> bool:
        asked.append(load.tokens)
        return bool(wishes) and bool(wishes.pop())

    ctx = context(6, policy=Policy(max_tokens=1_000, keep_last_turns=1, when=when))
    assert maybe(way, ctx, Model(), background=background).reason == "below_trigger"
    if edited:
        ctx.items[1]["content"] = "w " * 40
    wishes.append("fold")
    asked.clear()
    outcome = maybe(way, ctx, Model(), background=background)
    assert outcome.reason == ("started" if background else "summarized")
    assert len(asked) == 1


def test_a_number_of_the_policy_is_asked_again_of_the_list_as_it_was_edited() -> None:
    """It is smaller than it was taken to be; then its function is asked, as at any such turn."""
    asked = list[int]()

    def when(load: Load) -> bool:
        asked.append(load.tokens)
        return False

    ctx = context(10, policy=Policy(max_tokens=1_000, keep_tokens=200, when=when))
    assert ctx.load().over_limit
    ctx.items[1]["content"] = "w"
    assert ctx.maybe_summarize(never).reason == "below_trigger"
    assert asked == [ctx.load().tokens]
    assert asked[0] < 1_000


# --- a fold that lies ready, and what cannot work -----------------------------------------------


def test_who_waits_for_a_fold_in_the_background_puts_it_in() -> None:
    """Nobody else would: a waiting call would wait for ever."""

    async def run() -> None:
        ctx, model = context(12), Model()
        assert ctx.maybe_summarize(model, background=True).reason == "started"
        fold = ctx.background
        assert fold is not None
        await until(lambda: fold.done)
        assert (await ctx.asummarize(never, keep_last_turns=1)).reason == "busy"
        async with asyncio.timeout(10):
            outcome = await ctx.asummarize(model, wait=True, keep_last_turns=1)
        assert outcome.changed
        assert fold.apply_if_ready().changed
        assert model.asked == 2
        assert ctx.maybe_summarize(never, background=True).reason == "below_trigger"

    asyncio.run(run())


def test_a_hook_that_would_have_to_be_awaited_is_refused() -> None:
    async def hook(event: object) -> bool:
        return False

    with pytest.raises(TypeError, match="on_event"):
        context(1, on_event=hook)


@pytest.mark.parametrize("name", ["backoff", "min_gain", "background_at", "overhead_tokens"])
@pytest.mark.parametrize("value", [None, "0.5"])
def test_a_policys_numbers_are_numbers(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=name):
        Policy(**{name: value})
    with pytest.raises(TypeError, match="fraction"):
        Policy(fraction=True)


def test_reports_that_differ_a_little_do_not_change_what_is_kept() -> None:
    """Where nothing can be folded, each change of it is a plan anew at the next turn."""
    ctx = context(25, policy=Policy(max_tokens=6_000, overhead_tokens=1_000))
    before, kept = ctx._each_turn.loads.kept_tokens, list[int]()
    for more in (0, 20, -20, 30, 7):
        ctx.record_usage(Usage(1_000 + ctx.count_tokens().value * 3 // 2 + more, 5))
        kept.append(ctx._each_turn.loads.kept_tokens)
    assert len(set(kept)) == 1
    assert kept[0] < before
