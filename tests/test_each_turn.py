"""What `maybe_summarize` and its twin do at each turn: fold, leave alone, wait, help, report."""

from __future__ import annotations

from typing import Any

import pytest
from each_turn import SIZE, Model, Told, Words, context, failing, maybe, timed, turn
from hypothesis import given
from hypothesis import strategies as st
from laws import plainly, same_objects
from strategies import SHAPES

from chatfold import ChatContext, Prompt, SummarizerError, SummaryError
from chatfold.events import FoldEvent
from chatfold.policy import Policy

WAYS = pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])
WINDOW = Policy(max_tokens=1_000, keep_tokens=200, window=1_500)
LONG = Policy(max_tokens=1_000, keep_tokens=200, window=2_500)
"""For a context that counts what is in a summary."""


def never(prompt: Prompt) -> str:
    raise AssertionError("a model was asked")


# --- folding --------------------------------------------------------------------------------------


@WAYS
def test_below_every_trigger_nothing_is_done(way: str) -> None:
    """No model is asked, nobody is told, and the outcome says how large the list is."""
    told, ctx = Told(), context(9)
    before = list(ctx.items)
    outcome = maybe(way, ctx, never, on_event=told)
    assert (outcome.changed, outcome.reason, outcome.over_limit) == (False, "below_trigger", False)
    assert outcome.tokens_before == outcome.tokens_after == 9 * SIZE
    assert same_objects(ctx.items, before)
    assert told.events == []


@WAYS
@pytest.mark.parametrize("shape", SHAPES)
def test_from_the_trigger_on_the_list_is_folded_to_its_target(way: str, shape: str) -> None:
    """The recent turns stay, object for object; the trigger is far away again."""
    items = plainly(shape, [item for n in range(10) for item in turn(n)])
    tail, model, ctx = items[-4:], Model(), context(shape=shape)
    ctx.items.extend(items)
    assert ctx.load().over_limit
    outcome = maybe(way, ctx, model)
    assert outcome.reason == "summarized"
    assert not outcome.over_limit
    assert same_objects(ctx.items, [outcome.item, *tail]) or outcome.merged
    assert 150 < ctx.load().tokens < 200 + SIZE
    assert model.asked == 1


@WAYS
def test_after_a_fold_the_next_turns_do_not_fold(way: str) -> None:
    """From the target up to the trigger, so that the provider's cache is lost rarely."""
    model, ctx, folded = Model(), context(), list[int]()
    for n in range(80):
        ctx.extend(turn(n))
        if maybe(way, ctx, model).changed:
            folded.append(n)
    assert folded == [*range(9, 80, 8)]
    assert model.asked == len(folded)


@given(
    sizes=st.lists(st.integers(20, 400), max_size=60), keep=st.sampled_from([0, 100, 300, 600, 900])
)
def test_no_list_stays_above_the_trigger_where_it_can_be_folded(
    sizes: list[int], keep: int
) -> None:
    """Whatever the turns weigh; and what is left is at most the target and one item of it."""
    model, ctx = Model(), context(policy=Policy(max_tokens=1_000, keep_tokens=keep, min_gain=0))
    for n, size in enumerate(sizes):
        ctx.extend(turn(n, size))
        outcome = maybe("maybe_summarize", ctx, model)
        assert outcome.changed or not ctx.load().over_limit
        assert not outcome.changed or ctx.load().tokens <= keep + max(sizes)


@WAYS
@pytest.mark.parametrize(
    ("policy", "at"),
    [
        (Policy(max_turns=6), 6),
        (Policy(max_items=7), 4),
        (Policy(when=lambda load: load.tokens > 5 * SIZE), 6),
        (Policy(window=800), 6),
        (Policy(fraction=0.5, window=1_000), 5),
        (Policy(max_tokens=1_000, keep_tokens=200, overhead_tokens=250), 8),
    ],
)
def test_each_trigger_fires_and_then_rests(way: str, policy: Policy, at: int) -> None:
    """At the turn that reaches it, and not at the one after the fold."""
    ctx, model = context(policy=policy), Model()
    for n in range(1, at):
        ctx.extend(turn(n))
        assert maybe(way, ctx, model).reason == "below_trigger"
    ctx.extend(turn(at))
    assert maybe(way, ctx, model).changed
    assert maybe(way, ctx, model).reason == "below_trigger"


@WAYS
def test_a_fold_that_leaves_as_many_items_is_seen_at_the_next_turn(way: str) -> None:
    """One item gave way to one, and the last is the same: the length tells nothing."""
    items: list[Any] = [
        {"role": "assistant", "content": "welcome " * 300},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello there"},
    ]
    ctx = ChatContext(items, counter=Words(), policy=Policy(max_tokens=1_000))
    assert maybe(way, ctx, never).tokens_before > 300
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert len(items) == 3
    assert maybe(way, ctx, never).tokens_before < 30


@pytest.mark.parametrize(("most", "warnings"), [(5, 1), (6, 0)])
def test_folds_that_leave_as_many_items_as_one_is_due_at_are_told_once(
    most: int, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Each turn pays for one. Of a single fold nothing is told: much may have come meanwhile."""
    ctx = context(3, policy=Policy(max_items=most, keep_last_turns=2))
    told: list[int] = []
    for number in range(4):
        assert ctx.maybe_summarize(Model()).changed
        told.append(sum("nearly every turn will fold" in text for text in caplog.messages))
        ctx.items.extend(turn(number))
    assert told == [0, warnings, warnings, warnings]


@pytest.mark.parametrize("held", [False, True])
def test_a_request_that_is_mostly_beside_the_list_is_told_of_where_something_can_be_folded(
    held: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a history that the provider holds nothing is folded at any turn."""
    ctx = context(10, policy=Policy(max_tokens=1_000), server_managed=held)
    ctx.record_usage({"input_tokens": 5_000, "output_tokens": 1})
    ctx.maybe_summarize(never)
    assert any("folds will be frequent" in text for text in caplog.messages) is not held


@pytest.mark.parametrize(("overhead", "warnings"), [(749, 0), (750, 1)])
def test_that_is_told_at_the_first_fold_too_where_the_policy_says_so(
    overhead: int, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    """No provider reports it behind a `Middleware`, say."""
    ctx = context(3, policy=Policy(max_tokens=1_000, overhead_tokens=overhead))
    assert caplog.messages == []
    for number in range(2):
        assert ctx.maybe_summarize(Model()).changed
        told = [text for text in caplog.messages if "folds will be frequent" in text]
        assert len(told) == warnings
        ctx.items.extend(turn(number, 400))


@WAYS
def test_the_call_may_keep_something_else(way: str) -> None:
    """The policy says when; how much stays is the call's if it says so."""
    ctx = context(10)
    assert len(maybe(way, ctx, Model(), keep_last_turns=5).removed) == 10
    assert len(ctx.items) == 11


def test_an_explicit_fold_keeps_as_the_policy_does() -> None:
    """Without a policy it keeps two turns; with one, what that says, turns and tokens."""
    assert len(context(8, policy=None).plan().head) == 12
    assert len(context(8).plan().head) == 12
    assert len(context(8, policy=Policy(max_turns=20)).plan().head) == 6
    assert len(context(8, policy=Policy(max_tokens=1_000, keep_tokens=400)).plan().head) == 8
    assert len(context(8).plan(keep_last_turns=1).head) == 14
    assert context(8).summarize(Model()).changed  # far below the trigger


def _grown(ctx: ChatContext[Any], start: int) -> ChatContext[Any]:
    """Return a context with ten more turns."""
    ctx.items.extend(item for n in range(start, start + 10) for item in turn(n))
    return ctx


@WAYS
def test_the_options_of_a_call_hold_for_that_call_alone(way: str) -> None:
    """Also between calls without any, whose options are worked out once."""
    model, ctx = Model(), context(3)
    assert maybe(way, ctx, model).reason == "below_trigger"
    assert maybe(way, _grown(ctx, 3), model, max_summary_tokens=77).changed
    assert maybe(way, _grown(ctx, 13), model).changed
    first, second = model.prompts
    assert first.max_tokens == 77 != second.max_tokens


@WAYS
@pytest.mark.parametrize("before", [False, True])
def test_only_a_call_that_may_wait_has_a_summary_mended(way: str, before: bool) -> None:
    """Whichever kind of call came first: one in the background drops what was made up."""
    model, ctx = Model(), context(3)
    model.text = "The user asked for LK-4821936. All is well."
    assert maybe(way, ctx, model, background=before).reason == "below_trigger"
    outcome = maybe(way, _grown(ctx, 3), model)
    assert (outcome.changed, outcome.llm_calls, model.asked) == (True, 2, 2)


@WAYS
def test_an_outcome_says_whether_the_list_is_too_large_after_the_fold(way: str) -> None:
    """Too much may be kept, by the call or by an explicit fold."""
    assert maybe(way, context(20), Model(), keep_tokens=1_500).over_limit
    assert not maybe(way, context(20), Model(), keep_tokens=500).over_limit
    assert context(20).summarize(Model(), keep_tokens=1_500).over_limit
    assert not context(20).summarize(Model(), keep_tokens=500).over_limit
    assert not context(20, policy=None).summarize(Model(), keep_tokens=1_500).over_limit


# --- how much has to be gained --------------------------------------------------------------------


@WAYS
def test_a_large_request_that_was_answered_does_not_keep_the_list_large(way: str) -> None:
    """It goes with its turn; inside of that, it would stay whole, above what is to be kept."""
    ctx, model = context(1), Model()
    ctx.extend({"role": "user", "content": "w " * 1_500} if n == 0 else turn(1)[1] for n in (0, 1))
    last = {"role": "user", "content": "And now?"}
    ctx.append(last)
    outcome = maybe(way, ctx, model)
    assert (outcome.reason, model.asked) == ("summarized", 1)
    assert same_objects(ctx.items, [outcome.item, last])
    assert not outcome.over_limit


@WAYS
def test_a_fold_by_policy_has_to_gain_a_fifth(way: str) -> None:
    """A head that is too small for that is not even sent; an option wins over the policy."""
    policy = Policy(max_tokens=1_000, keep_tokens=950)
    ctx = context(10, policy=policy)
    outcome = maybe(way, ctx, never)
    assert (outcome.reason, outcome.llm_calls) == ("no_gain", 0)
    assert "not be smaller by the share that is asked for" in str(outcome)
    assert outcome.over_limit
    assert maybe(way, context(10, policy=policy), Model(), min_gain=0.05).changed
    assert maybe(way, context(10, policy=policy, min_gain=0.05), Model()).changed
    assert context(10, policy=policy).summarize(Model()).changed
    less = Policy(max_tokens=1_000, keep_tokens=950, min_gain=0.05)
    assert maybe(way, context(10, policy=less), Model()).changed
    assert maybe(way, context(10, policy=less, min_gain=0.11), never).reason == "no_gain"


@WAYS
def test_a_summary_that_is_too_long_is_no_gain(way: str) -> None:
    """It has been paid, and the next try waits."""
    model, ctx = Model(), context(10, counter=None, policy=Policy(max_items=20, keep_tokens=0))
    model.text = "long " * 5_000
    outcome = maybe(way, ctx, model)
    assert (outcome.reason, outcome.llm_calls) == ("no_gain", 1)
    assert outcome.usage is not None
    assert maybe(way, ctx, never).reason == "unchanged_head"


# --- failures -------------------------------------------------------------------------------------


@WAYS
def test_below_the_window_a_failure_leaves_the_list_unfolded(way: str) -> None:
    """The turn goes on; the outcome has the error and says that the list is over its limit."""
    ctx, model = context(10, policy=WINDOW), Model(error=failing())
    before = list(ctx.items)
    outcome = maybe(way, ctx, model)
    assert (outcome.changed, outcome.reason, outcome.over_limit) == (False, "failed", True)
    assert outcome.error is model.error
    assert same_objects(ctx.items, before)


@WAYS
@pytest.mark.parametrize("background", [False, True])
def test_so_it_does_where_another_call_fails_while_the_hook_is_told(
    way: str, background: bool
) -> None:
    """A call of the hook's own here, as well one of another thread; and it is not asked again."""
    told, ctx, model = Told(), context(10, policy=WINDOW), Model(error=failing())

    def hook(event: FoldEvent) -> None:
        told(event)
        if event.kind == "before":
            assert ctx.maybe_summarize(model).reason == "failed"

    before = list(ctx.items)
    outcome = maybe(way, ctx, never, on_event=hook, background=background)
    assert (outcome.changed, outcome.reason, outcome.over_limit) == (False, "unchanged_head", True)
    assert "the last try failed" in str(outcome)
    assert same_objects(ctx.items, before)
    assert model.asked == 1
    assert told.kinds == ["before", "skipped"]


@WAYS
def test_above_the_window_the_list_is_folded_without_a_model(way: str) -> None:
    """The request would be refused; the outcome has the model's error all the same."""
    told, ctx, model = Told(), context(16, policy=WINDOW), Model(error=failing())
    outcome = maybe(way, ctx, model, on_event=told)
    assert outcome.changed
    assert outcome.model == "extractive"
    assert str(outcome).endswith(" (without a model: SummarizerError)")
    assert outcome.error is model.error
    assert model.asked == 1
    assert told.kinds == ["before", "failed", "after"]
    assert ctx.load().tokens < 500
    assert not ctx.check()


@WAYS
def test_a_wait_does_not_keep_a_list_above_its_window(way: str) -> None:
    """The model failed a moment ago and is not asked again; the list is folded without it."""
    policy = Policy(max_tokens=1_000, keep_tokens=200, window=1_350)
    ctx, model = context(12, policy=policy), Model(error=failing())
    clock = timed(ctx)
    assert maybe(way, ctx, model).reason == "failed"
    ctx.extend(turn(12))
    assert maybe(way, ctx, never).reason == "unchanged_head"
    ctx.extend(turn(13))
    outcome = maybe(way, ctx, never)
    assert (outcome.changed, outcome.model, outcome.error) == (True, "extractive", None)
    clock.now += 59
    ctx.extend([item for n in range(9) for item in turn(n)])
    assert maybe(way, ctx, never).reason == "unchanged_head"  # the model's wait goes on
    clock.now += 2
    assert maybe(way, ctx, Model()).changed


@pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize", "background"])
def test_above_the_window_any_gain_will_do(way: str) -> None:
    """Less than a fifth of the list would go, and then it fits; below, that is too little."""
    for last, folds in [(1_150, False), (1_390, True)]:
        ctx, model = context(2, policy=WINDOW), Model()
        ctx.extend(turn(2, last))
        assert ctx.load().over_limit
        assert ctx.load().over_window == folds
        if way == "background":
            outcome = ctx.maybe_summarize(model, background=True, keep_last_turns=1)
            assert ctx.background is not None
            assert ctx.background.wait(10)
            outcome = ctx.maybe_summarize(model, background=True, keep_last_turns=1)
        else:
            outcome = maybe(way, ctx, model, keep_last_turns=1)
        assert (outcome.reason, model.asked) == (("summarized", 1) if folds else ("no_gain", 0))
        assert not ctx.load().over_window


@WAYS
def test_above_the_window_words_that_are_too_long_are_helped_too(way: str) -> None:
    """What a model made of a head says nothing of what code makes of it."""
    ctx, model = context(60, counter=None, policy=LONG), Model()
    model.text = "long " * 9_000
    assert ctx.load().over_window
    outcome = maybe(way, ctx, model)
    assert (outcome.changed, outcome.reason) == (True, "summarized")
    assert model.asked == outcome.llm_calls == 1
    assert outcome.usage is not None
    assert isinstance(outcome.error, SummaryError)
    assert "too long" in str(outcome.error)
    assert str(outcome).endswith(" (without a model: SummaryError)")
    assert not ctx.load().over_window


@WAYS
def test_a_head_that_gave_no_gain_is_folded_without_a_model_above_the_window(way: str) -> None:
    """Also when the wait is over, and the head is still the same."""
    ctx, model = context(40, counter=None, policy=LONG), Model()
    clock = timed(ctx)
    model.text = "long " * 9_000
    assert maybe(way, ctx, model, keep_last_turns=1).reason == "no_gain"
    clock.now += 61
    ctx.append({"role": "assistant", "content": "w " * 1_500})  # of the turn that is kept
    assert ctx.load().over_window
    assert maybe(way, ctx, never, keep_last_turns=1).changed
    assert not ctx.load().over_window


@WAYS
def test_above_the_window_what_was_taken_back_is_not_folded_again(way: str) -> None:
    """That was the caller's wish, with or without a model."""
    ctx = context(16, policy=WINDOW)
    assert maybe(way, ctx, Model()).changed
    ctx.undo()
    assert ctx.load().over_window
    outcome = maybe(way, ctx, never)
    assert (outcome.reason, outcome.over_limit) == ("unchanged_head", True)


@WAYS
def test_where_nothing_helps_the_last_resort_waits_too(way: str) -> None:
    """A list that cannot be folded is not rendered anew at each turn."""
    told, ctx = Told(), context(16, policy=WINDOW, pin=lambda item: True)
    ctx.items.insert(0, {"role": "system", "content": "be brief"})
    for _ in range(3):
        outcome = maybe(way, ctx, never, on_event=told)
        assert (outcome.changed, outcome.over_limit) == (False, True)
    assert outcome.reason == "nothing_to_summarize"


@WAYS
def test_a_failure_is_raised_where_the_caller_wants_it(way: str) -> None:
    """After the log and the hook know of it; the list is untouched. A help is no failure."""
    told, ctx, model = Told(), context(10, policy=WINDOW), Model(error=failing())
    before = list(ctx.items)
    with pytest.raises(SummarizerError) as caught:
        maybe(way, ctx, model, on_error="raise", on_event=told)
    assert caught.value is model.error
    assert told.kinds == ["before", "failed"]
    assert same_objects(ctx.items, before)
    assert maybe(way, ctx, model, on_error="raise").reason == "unchanged_head"
    assert maybe(way, context(16, policy=WINDOW), model, on_error="raise").changed


class Editing:
    """Edits the head while it is asked for a summary, as hosts do that move cache markers."""

    def __init__(self, ctx: ChatContext[Any]) -> None:
        self.ctx = ctx

    def __call__(self, prompt: Prompt) -> str:
        self.ctx.items[0]["content"] += " and more"
        return "short"


@WAYS
def test_a_head_that_is_edited_each_time_is_not_summarized_each_time(way: str) -> None:
    """A stale fold was paid as well, so the next one waits."""
    ctx = context(10)
    outcome = maybe(way, ctx, Editing(ctx))
    assert (outcome.reason, outcome.llm_calls) == ("stale", 1)
    assert maybe(way, ctx, never).reason == "unchanged_head"


@WAYS
@pytest.mark.parametrize("error", [KeyError("pin"), RuntimeError("boom")])
def test_an_error_of_the_callers_own_code_is_raised(way: str, error: Exception) -> None:
    """It is no failure of the summarizer, and nothing was changed."""

    def broken(item: Any) -> bool:
        raise error

    ctx = context(10, pin=broken)
    before = list(ctx.items)
    with pytest.raises(type(error)):
        maybe(way, ctx, Model())
    assert same_objects(ctx.items, before)
    assert not ctx._state.running.locked()
