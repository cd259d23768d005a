"""What a fold has cost is told by every way out of it: an error, a failure, a cancellation."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from background import LIMIT, until

from chatfold import ChatContext, ChatfoldError, Completion, Outcome, Policy, Prompt, Usage
from chatfold.events import FoldEvent

PAID = Usage(1000, 20)
SLOW = 0.01  # seconds that each model call takes
POLICY = Policy(max_tokens=800, keep_tokens=200)
LOOPS = ("summarize", "asummarize", "maybe_summarize", "amaybe_summarize")
BEHIND = ("thread", "task")
WAYS = pytest.mark.parametrize("way", [*LOOPS, *BEHIND])


class OwnError(LookupError):
    """An error of the caller's, which chatfold does not know."""


class Wordy:
    """Counts words, and fails when it is told to."""

    exact = True

    def __init__(self) -> None:
        self.fails = False

    def count(self, text: str) -> int:
        if self.fails:
            raise OwnError("the counter")
        return len(text.split())


class Clerk:
    """A model that takes its time, and answers each call in its own way; also a counter's switch.

    Args:
        answers: What it answers, one after the other; an error is raised.
    """

    def __init__(self, *answers: str | Completion | BaseException) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.counter = Wordy()
        self.breaks = False

    def __call__(self, prompt: Prompt) -> Completion:
        time.sleep(SLOW)
        self.asked += 1
        answer = self.answers.pop(0)
        self.counter.fails = self.breaks
        if isinstance(answer, BaseException):
            raise answer
        return (
            Completion(answer, usage=PAID, model="clerk-1") if isinstance(answer, str) else answer
        )


def talk(turns: int = 6) -> list[Any]:
    """Return turns of some two hundred words."""
    words = "Details, please. " * 100
    roles = ("user", "assistant")
    return [{"role": r, "content": f"{n} {words}"} for n in range(turns) for r in roles]


def ended(way: str, llm: Any, items: list[Any] | None = None, **options: Any) -> list[Outcome[Any]]:
    """Fold; return the outcomes that a hook was told of, and that which came back if one did."""
    told: list[Outcome[Any]] = []

    def hook(event: FoldEvent) -> None:
        if event.outcome is not None:
            told.append(event.outcome)

    counter = options.pop("counter", None) or Wordy()
    policy = options.pop("policy", POLICY)
    given: Any = {"policy": policy, "counter": counter, "on_event": hook, **options}
    ctx = ChatContext(talk() if items is None else items, **given)

    async def in_loop() -> Outcome[Any]:
        if way == "amaybe_summarize":
            return await ctx.amaybe_summarize(llm)
        if way == "asummarize":
            return await ctx.asummarize(llm)
        fold = ctx.summarize_in_background(llm)
        await fold.await_done()
        return fold.apply_if_ready()

    with suppress(OwnError, ChatfoldError):
        if way == "summarize":
            told.append(ctx.summarize(llm))
        elif way == "maybe_summarize":
            told.append(ctx.maybe_summarize(llm))
        elif way == "thread":
            fold = ctx.summarize_in_background(llm)
            assert fold.wait(LIMIT)
            told.append(fold.apply_if_ready())
        else:
            told.append(asyncio.run(in_loop()))
    return told


def costs(outcome: Outcome[Any]) -> tuple[Any, ...]:
    return outcome.usage, outcome.llm_calls, outcome.model


# --- the caller's own functions -------------------------------------------------------------------


def raising(text: str) -> str:
    raise OwnError("post_process")


def picky(text: str) -> str:
    """Fail on what the model has written, and on nothing else."""
    if "Days" in text:
        raise OwnError("redact")
    return text


@WAYS
@pytest.mark.parametrize("what", ["post_process", "redact", "counter"])
def test_a_fold_that_the_callers_own_function_breaks_tells_what_was_paid(
    way: str, what: str
) -> None:
    """Whatever it raises: a hook that keeps to a budget would else never stop paying."""
    clerk = Clerk("Days were asked about.")
    clerk.breaks = what == "counter"
    options: dict[str, Any] = {"counter": clerk.counter}
    if what != "counter":
        options[what] = raising if what == "post_process" else picky
    told = ended(way, clerk, **options)
    assert clerk.asked == 1
    for outcome in told:
        assert outcome.reason == "failed"
        assert isinstance(outcome.error, OwnError)
        assert costs(outcome) == (PAID, 1, "clerk-1")
        assert outcome.seconds >= SLOW
    assert len(told) == (2 if way in BEHIND else 1)


@pytest.mark.parametrize("way", ["flow", "apply"])
def test_a_hosts_own_call_that_its_function_breaks_tells_what_was_paid(way: str) -> None:
    told: list[Outcome[Any]] = []
    ctx = ChatContext(
        talk(), on_event=lambda e: told.append(e.outcome), post_process=raising, counter=Wordy()
    )
    answer = Completion("Days.", usage=PAID, model="clerk-1")
    flow, plan = ctx.flow(keep_last_turns=1), ctx.plan(keep_last_turns=1)
    with pytest.raises(OwnError):
        flow.send(answer) if way == "flow" else ctx.apply(plan, answer)
    (outcome,) = told
    assert costs(outcome) == (PAID, 1 if way == "flow" else 0, "clerk-1")
    assert outcome.seconds > 0


# --- failures of the summarizer -------------------------------------------------------------------

ANSWERS = {
    "filtered": Completion("half", "content_filter", PAID, "clerk-1"),
    "blank": Completion(" ", "stop", PAID, "clerk-1"),
    "calls": Completion("", "tool_calls", PAID, "clerk-1"),
}


@WAYS
@pytest.mark.parametrize("kind", ANSWERS)
def test_a_failed_fold_tells_how_long_it_took_and_which_model_answered(way: str, kind: str) -> None:
    told = ended(way, Clerk(ANSWERS[kind]))
    for outcome in told:
        assert outcome.error is not None
        assert costs(outcome) == (PAID, 1, "clerk-1")
        assert SLOW <= outcome.seconds < LIMIT
    assert told


@WAYS
def test_a_model_that_does_not_answer_is_timed_too(way: str) -> None:
    told = ended(way, Clerk(ConnectionError("down")))
    for outcome in told:
        assert costs(outcome) == (None, 1, None)
        assert outcome.seconds >= SLOW
    assert told


@WAYS
def test_a_fold_without_gain_tells_the_same(way: str) -> None:
    long = Completion("word " * 9_000, usage=PAID, model="clerk-1")
    told = ended(way, Clerk(long), max_summary_tokens=100_000)
    for outcome in told:
        assert outcome.reason == "no_gain"
        assert costs(outcome) == (PAID, 1, "clerk-1")
        assert outcome.seconds >= SLOW
    assert told


@pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])
def test_what_was_folded_without_a_model_tells_the_time_of_the_one_that_failed(way: str) -> None:
    """The hook is told of both, each with its own."""
    policy = Policy(max_tokens=800, keep_tokens=200, window=900)
    first, second, outcome = ended(way, Clerk(ConnectionError("down")), policy=policy)
    assert (first.reason, second.reason) == ("failed", "summarized")
    assert outcome.changed
    assert outcome.seconds == pytest.approx(first.seconds + second.seconds)
    assert outcome.llm_calls == first.llm_calls + second.llm_calls
    assert outcome.seconds >= SLOW


# --- what is given up -----------------------------------------------------------------------------


class Slow:
    """A model of which the first refuses and the second does not answer before it is let go."""

    def __init__(self) -> None:
        self.asked, self.open = threading.Event(), threading.Event()

    def first(self, prompt: Prompt) -> Completion:
        return ANSWERS["filtered"]

    def second(self, prompt: Prompt) -> str:
        self.asked.set()
        self.open.wait(LIMIT)
        return "Days."

    async def afirst(self, prompt: Prompt) -> Completion:
        return ANSWERS["filtered"]

    async def asecond(self, prompt: Prompt) -> str:
        self.asked.set()
        await asyncio.sleep(LIMIT)
        return "Days."


def test_a_fold_in_the_background_that_is_given_up_tells_what_was_answered() -> None:
    """The call under way is counted; what it will cost nobody knows yet."""
    slow, ctx = Slow(), ChatContext(talk(), policy=POLICY, counter=Wordy())
    assert ctx.maybe_summarize([slow.first, slow.second], background=True).reason == "started"
    assert slow.asked.wait(LIMIT)
    assert ctx.background is not None
    outcome = ctx.background.cancel()
    slow.open.set()
    assert (outcome.reason, costs(outcome)) == ("cancelled", (PAID, 2, "clerk-1"))
    assert outcome.seconds > 0


def test_a_fold_that_is_given_up_before_anybody_is_asked_has_cost_nothing() -> None:
    told: list[Prompt] = []
    ctx = ChatContext(talk(), policy=POLICY, counter=Wordy())
    fold = ctx.summarize_in_background(told.append)
    outcome = fold.cancel()
    while fold.working:
        time.sleep(0.001)
    assert (outcome.reason, outcome.llm_calls, outcome.usage) == ("cancelled", len(told), None)


@pytest.mark.parametrize("way", ["asummarize", "amaybe_summarize", "task"])
def test_a_fold_that_is_cancelled_tells_what_was_answered(way: str) -> None:
    told: list[Any] = []

    async def main() -> None:
        slow = Slow()
        ctx = ChatContext(
            talk(), policy=POLICY, counter=Wordy(), on_event=lambda e: told.append(e.outcome)
        )
        chain = [slow.afirst, slow.asecond]
        if way == "task":
            ctx.maybe_summarize(chain, background=True)
            await until(slow.asked.is_set)
            assert ctx.background is not None
            ctx.background.cancel()
            return
        call = ctx.asummarize if way == "asummarize" else ctx.amaybe_summarize
        task = asyncio.create_task(call(chain))
        await until(slow.asked.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    outcome = told[-1]
    assert (outcome.reason, costs(outcome)) == ("cancelled", (PAID, 2, "clerk-1"))
    assert outcome.seconds > 0


@pytest.mark.parametrize("way", ["summarize", "maybe_summarize"])
def test_a_fold_that_is_interrupted_tells_what_was_answered(way: str) -> None:
    told: list[Any] = []
    chain = [Clerk(ANSWERS["filtered"]), Clerk(KeyboardInterrupt())]
    ctx = ChatContext(
        talk(), policy=POLICY, counter=Wordy(), on_event=lambda e: told.append(e.outcome)
    )
    with pytest.raises(KeyboardInterrupt):
        (ctx.summarize if way == "summarize" else ctx.maybe_summarize)(chain, timeout=None)
    assert (told[-1].reason, costs(told[-1])) == ("cancelled", (PAID, 2, "clerk-1"))
    assert told[-1].seconds >= SLOW


def test_a_task_that_the_end_of_its_loop_cancels_tells_what_was_answered() -> None:
    """Somebody else has ended it, so that it is a failure; its error says it too."""

    async def main() -> ChatContext[Any]:
        slow, ctx = Slow(), ChatContext(talk(), policy=POLICY, counter=Wordy())
        ctx.maybe_summarize([slow.afirst, slow.asecond], background=True)
        await until(slow.asked.is_set)
        return ctx

    outcome = asyncio.run(main()).maybe_summarize("extractive", background=True)
    assert (outcome.reason, costs(outcome)) == ("failed", (PAID, 2, "clerk-1"))
    assert isinstance(outcome.error, ChatfoldError)
    assert (outcome.error.usage, outcome.error.llm_calls) == (PAID, 2)


# --- without a model ------------------------------------------------------------------------------


@WAYS
def test_what_is_folded_without_a_model_is_no_call(way: str) -> None:
    """Nobody is asked for it, so a budget of calls is not spent on it, and there are no tokens."""
    outcome = ended(way, "extractive")[-1]
    assert outcome.changed
    assert costs(outcome) == (None, 0, "extractive")
    assert " tokens, no call, " in str(outcome)


@WAYS
@pytest.mark.parametrize("told", [None, PAID])
def test_a_chain_that_ends_without_a_model_tells_what_the_models_have_cost(
    way: str, told: Usage | None
) -> None:
    """One that could not be reached and told nothing, and one that was answered with nothing."""
    clerk = Clerk(OwnError("down"), Completion(" ", usage=told, model="clerk-1"))
    outcome = ended(way, [clerk, clerk, "extractive"])[-1]
    assert costs(outcome) == (told, clerk.asked, "extractive")
    assert " tokens, 2 calls, " in str(outcome)


@pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])
def test_a_last_resort_adds_nothing_to_what_the_model_has_cost(way: str) -> None:
    """The list is above its window, so it is folded without the model that failed."""
    clerk = Clerk(OwnError("down"))
    policy = Policy(window=1_000, max_tokens=800, keep_tokens=200)
    outcome = ended(way, clerk, policy=policy)[-1]
    assert (outcome.changed, clerk.asked) == (True, 1)
    assert costs(outcome) == (None, 1, "extractive")


class Offline:
    """A summarizer of the caller's: whether a model stands behind it, it does not say."""

    def complete(self, prompt: Prompt) -> str:
        return "Days were asked about."


@WAYS
def test_a_summarizer_of_the_callers_is_taken_to_ask_a_model(way: str) -> None:
    """A budget that counts one call too many does no harm."""
    assert ended(way, Offline())[-1].llm_calls == 1
