"""When a policy-driven call tries again, whom it tells, and what it refuses."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from each_turn import SIZE, Model, Told, Words, context, failing, maybe, timed, turn
from laws import same_objects, step
from logs import records

from chatfold import ChatContext, Prompt
from chatfold.policy import Policy

WAYS = pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])


def never(prompt: Prompt) -> str:
    raise AssertionError("a model was asked")


# --- trying again ---------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("first", [60.0, 2.0])
def test_a_failure_is_tried_again_after_the_back_off(way: str, first: float) -> None:
    """A minute, two, four, eight, then fifteen each; or what the policy begins with."""
    ctx = context(12, policy=Policy(max_tokens=1_000, keep_tokens=200, backoff=first))
    clock, model = timed(ctx), Model(error=failing())
    for wait in (1, 2, 4, 8, 15, 15, 15):
        assert maybe(way, ctx, model).reason == "failed"
        clock.now += wait * first - 1
        outcome = maybe(way, ctx, never)
        assert (outcome.reason, outcome.over_limit) == ("unchanged_head", True)
        assert "the next is in 1 s" in outcome.remedy
        clock.now += 1
    assert model.asked == 7
    assert maybe(way, ctx, Model()).changed


@WAYS
def test_words_without_a_model_that_gain_nothing_wait_too(way: str) -> None:
    """It is no call, but it takes its time; the next try comes as after a model's."""
    ctx = context(60, counter=None, post_process=lambda text: f"{text} {'long ' * 9_000}")
    clock = timed(ctx)
    outcome = maybe(way, ctx, "extractive")
    assert (outcome.reason, outcome.llm_calls) == ("no_gain", 0)
    clock.now += 59
    waiting = maybe(way, ctx, "extractive")
    assert (waiting.reason, "the next is in 1 s" in waiting.remedy) == ("unchanged_head", True)


@WAYS
def test_a_head_that_grew_by_a_quarter_is_tried_at_once(way: str) -> None:
    """1,000 tokens, of which 800 would go: 200 more are a quarter."""
    ctx, model = context(10), Model(error=failing())
    timed(ctx)
    assert maybe(way, ctx, model).reason == "failed"
    ctx.extend(turn(11))
    assert "100 more tokens" in maybe(way, ctx, never).remedy
    ctx.extend(turn(12))
    assert maybe(way, ctx, model).reason == "failed"
    ctx.extend(turn(13))
    assert maybe(way, ctx, never).reason == "unchanged_head"  # of 1,000 it is 250 now


@WAYS
def test_an_error_of_the_callers_own_is_not_paid_for_at_each_turn(way: str) -> None:
    """It comes out of the call that it ends; the next turns wait, as after any failure."""
    asked: list[Prompt] = []
    told: list[str] = []

    def model(prompt: Prompt) -> str:
        asked.append(prompt)
        return "What happened before."

    def broken(text: str) -> str:
        raise LookupError("mine")

    ctx = context(12, post_process=broken, on_event=lambda event: told.append(event.kind))
    clock = timed(ctx)
    with pytest.raises(LookupError, match="mine"):
        maybe(way, ctx, model)
    assert maybe(way, ctx, never).reason == "unchanged_head"
    assert told == ["before", "failed"]
    clock.now += 60
    with pytest.raises(LookupError, match="mine"):
        maybe(way, ctx, model)
    assert len(asked) == 2


@WAYS
def test_a_fold_ends_the_wait(way: str) -> None:
    """However it came about: the next failure waits a minute again."""
    ctx = context(12)
    clock, model = timed(ctx), Model(error=failing())
    for _ in range(3):
        assert maybe(way, ctx, model).reason == "failed"
        clock.now += 900
    clock.now -= 900
    assert maybe(way, ctx, never).reason == "unchanged_head"
    assert ctx.summarize(Model()).changed
    ctx.extend([item for n in range(12) for item in turn(n)])
    assert maybe(way, ctx, model).reason == "failed"
    clock.now += 61
    assert maybe(way, ctx, Model()).changed


@WAYS
def test_where_nothing_can_be_folded_it_is_not_looked_at_each_turn(way: str) -> None:
    """An open call blocks; the plan is made again when a little more has come, or after a while."""
    told, ctx = Told(), context()
    ctx.items.append({"role": "user", "content": "find it"})
    ctx.extend(step("openai_chat", "slow", 1, []))
    ctx.items.append({"role": "assistant", "content": "w " * 1_600})
    clock = timed(ctx)
    first = maybe(way, ctx, never, on_event=told)
    assert first.reason == "blocked_by_open_calls"
    assert first.blocked_by
    for _ in range(5):
        clock.now += 10
        again = maybe(way, ctx, never, on_event=told)
        assert (again.reason, again.blocked_by) == (first.reason, first.blocked_by)
        assert again.over_limit
    assert told.kinds == ["before", "skipped"]
    ctx.items.append({"role": "assistant", "content": "w " * 50})
    assert maybe(way, ctx, never, on_event=told).tokens_before > first.tokens_before + 50
    assert told.kinds == ["before", "skipped"]
    ctx.items.append({"role": "assistant", "content": "w " * 60})
    assert maybe(way, ctx, never, on_event=told).reason == first.reason
    assert told.kinds == ["before", "skipped"] * 2
    clock.now += 61
    assert maybe(way, ctx, never, on_event=told).reason == first.reason
    assert told.kinds == ["before", "skipped"] * 3


@WAYS
def test_what_was_blocked_is_folded_when_it_is_free(way: str) -> None:
    """The wait is of a kind that ends by itself, soon."""
    ctx, model = context(1), Model()
    ctx.extend(step("openai_chat", "slow", 1, []))
    ctx.items.append({"role": "assistant", "content": "w " * 1_000})
    assert maybe(way, ctx, never).reason in ("blocked_by_open_calls", "no_gain")
    del ctx.items[2:]
    ctx.extend(step("openai_chat", "slow", 1, ["w " * 1_000]))
    ctx.extend(turn(2))
    ctx.extend(turn(3))
    assert maybe(way, ctx, model).changed


@WAYS
def test_another_call_in_the_way_is_another_reason(way: str) -> None:
    """What blocked was answered in the same turn in which the next call was made."""

    def call(number: int) -> dict[str, Any]:
        id_ = f"call_{number}"
        return {"type": "function_call", "call_id": id_, "name": "find", "arguments": "{}"}

    said = {"type": "output_text", "text": "data " * 4_000, "annotations": []}
    items: list[Any] = [{"role": "user", "content": "hi"}, call(1)]
    items.append({"type": "message", "role": "assistant", "content": [said]})
    policy = Policy(max_tokens=3_000, keep_tokens=100)
    ctx: ChatContext[Any] = ChatContext(items, policy=policy)
    assert maybe(way, ctx, never).blocked_by == ("call_1",)
    items += [{"type": "function_call_output", "call_id": "call_1", "output": "ok"}, call(2)]
    assert maybe(way, ctx, Model()).changed


@pytest.mark.parametrize("size", [2, 20, 40])
def test_where_turns_say_what_is_kept_the_head_grows_by_a_quarter_too(size: int) -> None:
    """Whether the list has more tokens than a policy by tokens would keep, or less."""
    model = Model(error=failing())
    ctx: ChatContext[Any] = ChatContext(
        [item for n in range(20) for item in turn(n, size * SIZE)],
        counter=Words(),
        policy=Policy(max_turns=20),
    )
    ctx._each_turn.waits.clock = lambda: 0.0
    assert maybe("maybe_summarize", ctx, model).reason == "failed"
    for number in range(20, 23):
        ctx.extend(turn(number, size * SIZE))
        assert maybe("maybe_summarize", ctx, model).reason == "unchanged_head"
    for number in range(23, 28):  # 15 turns could not be folded; at the first of these it is 19
        ctx.extend(turn(number, size * SIZE))
        maybe("maybe_summarize", ctx, model)
    assert model.asked == 2


@WAYS
def test_a_history_that_the_provider_holds_is_left_alone(way: str) -> None:
    """Folding the local list would change nothing; `replay` says that it is all of it."""
    ctx = context(12, server_managed=True)
    assert maybe(way, ctx, never).reason == "server_managed"
    assert maybe(way, ctx, never).reason == "server_managed"
    assert maybe(way, context(12, server_managed=True), Model(), replay=True).changed


# --- who is told ----------------------------------------------------------------------------------


@WAYS
def test_the_hook_is_told_before_and_after(way: str) -> None:
    """With the size of the list and the outcome that the caller gets."""
    told, ctx = Told(), context(10)
    outcome = maybe(way, ctx, Model(), on_event=told)
    before, after = told.events
    assert (before.kind, before.tokens, before.outcome) == ("before", 10 * SIZE, None)
    assert (after.kind, after.tokens) == ("after", ctx.count_tokens().value)
    assert after.outcome is outcome


@WAYS
def test_the_hook_is_told_the_size_of_the_list_and_not_of_the_request(way: str) -> None:
    """Both events measure the same thing, whatever is held elsewhere."""
    policy = Policy(max_tokens=1_000, keep_tokens=200, overhead_tokens=300)
    told, ctx = Told(), context(8, policy=policy)
    assert maybe(way, ctx, Model(), on_event=told).changed
    assert [event.tokens for event in told.events] == [800, ctx.count_tokens().value]


@WAYS
def test_the_hook_can_forbid(way: str) -> None:
    """Nothing is asked, and the next turn asks the hook again."""
    told, ctx = Told(veto=True), context(10)
    before = list(ctx.items)
    for _ in range(2):
        outcome = maybe(way, ctx, never, on_event=told)
        assert (outcome.reason, outcome.over_limit) == ("vetoed", True)
    assert told.kinds == ["before", "before"]
    assert same_objects(ctx.items, before)
    assert ctx.summarize(never, on_event=told).reason == "vetoed"


@WAYS
def test_the_hook_is_told_of_failures_and_of_what_was_skipped(way: str) -> None:
    """And of what was not even tried nobody is told."""
    told, ctx = Told(), context(10)
    failed = maybe(way, ctx, Model(error=failing()), on_event=told)
    assert maybe(way, ctx, never, on_event=told).reason == "unchanged_head"
    assert told.kinds == ["before", "failed"]
    assert told.events[1].outcome is failed
    told, small = Told(), context(10, policy=Policy(max_tokens=1_000, keep_tokens=900))
    skipped = maybe(way, small, never, on_event=told)
    assert told.kinds == ["before", "skipped"]
    assert told.events[1].outcome is skipped


@WAYS
def test_a_hook_that_raises_breaks_nothing(way: str) -> None:
    """It is named in the log without its words, and forbids nothing."""
    told, ctx = Told(error=RuntimeError("secret words")), context(10)
    with records() as found:
        assert maybe(way, ctx, Model(), on_event=told).changed
    assert told.kinds == ["before", "after"]
    warned = [r.getMessage() for r in found if r.levelno == logging.WARNING]
    assert warned == [f"on_event raised RuntimeError for {k!r}" for k in ("before", "after")]


@WAYS
def test_a_fold_is_one_line_in_the_log(way: str) -> None:
    """With numbers and without a word of the conversation; other turns log nothing."""
    ctx = context(9)
    with records() as found:
        maybe(way, ctx, Model())
        ctx.extend(turn(10))
        outcome = maybe(way, ctx, Model())
        ctx.extend(turn(11))
        maybe(way, ctx, Model())
    info = [r for r in found if r.name == "chatfold" and r.levelno >= logging.INFO]
    assert [(r.levelno, r.getMessage()) for r in info] == [(logging.INFO, str(outcome))]
    assert str(outcome).startswith("summarized 16 items: 1,000 -> ")
    assert "short" not in str(outcome)


@WAYS
def test_a_failure_is_one_warning_without_words(way: str) -> None:
    """The error's text may hold what a server sent back; its kind is enough for a log."""
    with records() as found:
        maybe(way, context(10), Model(error=failing()))
    warned = [r.getMessage() for r in found if r.levelno >= logging.WARNING]
    assert warned == ["not summarized (failed): SummarizerError"]


# --- wrong arguments ------------------------------------------------------------------------------


async def awaited(prompt: Prompt) -> str:
    return "short"


@pytest.mark.parametrize("turns", [0, 12])
@pytest.mark.parametrize(
    ("llm", "options", "error", "words"),
    [
        (7, {}, TypeError, "cannot summarize with int"),
        ([], {}, ValueError, "the list of summarizers is empty"),
        ("gpt-5", {}, ValueError, "no summarizer is named 'gpt-5'"),
        (never, {"model": "m"}, TypeError, "model= goes with a client"),
        (never, {"on_error": "ignore"}, ValueError, "on_error must be one of report, raise"),
        (never, {"keep_last_turns": -1}, ValueError, "keep_last_turns must be 0 or more"),
        (never, {"keep_tokens": 1.5}, TypeError, "keep_tokens must be a whole number"),
        (never, {"keep_last_turns": None, "keep_tokens": None}, ValueError, "both are None"),
        (never, {"min_gain": 1}, ValueError, "min_gain must be"),
        (never, {"timeout": 0}, ValueError, "timeout must be"),
        (never, {"tokens": 3}, TypeError, "unknown option tokens"),
    ],
)
@pytest.mark.parametrize("background", [False, True])
@WAYS
def test_wrong_arguments_raise_at_the_first_turn(
    way: str,
    background: bool,
    turns: int,
    llm: Any,
    options: dict[str, Any],
    error: type[Exception],
    words: str,
) -> None:
    """Not when the trigger is reached at last, in the midst of a conversation."""
    ctx = context(turns)
    before = list(ctx.items)
    with pytest.raises(error, match=words):
        maybe(way, ctx, llm, background=background, **options)
    assert same_objects(ctx.items, before)
    assert not ctx._state.running.locked()


@WAYS
def test_a_word_is_no_flag(way: str) -> None:
    """`background="false"`, from a settings file, would have been taken as true."""
    with pytest.raises(TypeError, match="background must be True or False, not 'false'"):
        maybe(way, context(0), never, background="false")


@pytest.mark.parametrize("background", [False, True])
def test_only_the_awaited_call_takes_async_functions(background: bool) -> None:
    """Known before anything is asked, at the first turn."""
    ctx: ChatContext[Any] = context()
    with pytest.raises(TypeError, match="await"):
        ctx.maybe_summarize(awaited, background=background)
    assert maybe("amaybe_summarize", context(12), awaited).changed


def test_a_missing_key_breaks_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A summarizer that cannot be made is one that fails: reported when it is needed."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ctx = context(9)
    assert ctx.maybe_summarize("openai:gpt-5-mini").reason == "below_trigger"
    ctx.extend(turn(10))
    outcome = ctx.maybe_summarize("openai:gpt-5-mini")
    assert outcome.reason == "failed"
    assert "cannot be made" in str(outcome)
