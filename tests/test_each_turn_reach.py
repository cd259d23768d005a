"""When a list that had nothing to fold is planned again: as soon as a fold could take more.

What had to stay is no longer the last of an agent's loop, say. And not at each turn of one that
can never be folded: each plan takes time that grows with the list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count, islice
from random import Random
from typing import Any

import pytest
from background import LIMIT
from each_turn import Model, Told, Words, maybe, timed
from hypothesis import given
from hypothesis import strategies as st
from laws import fewer, plainly, step
from strategies import SHAPES
from test_middleware import middleware

from chatfold import ChatContext, Outcome, Policy

WAYS = pytest.mark.parametrize("way", ["maybe_summarize", "amaybe_summarize"])
WORDS = {"nothing_to_summarize", "too_few_turns", "no_gain", "blocked_by_open_calls"}


def never(prompt: object) -> str:
    raise AssertionError("a model was asked")


def always(item: object) -> bool:
    return True


def words(number: int) -> str:
    return "w " * number


def asks(shape: str, size: int = 1) -> list[Any]:
    return plainly(shape, [{"role": "user", "content": words(size)}])


def says(shape: str, size: int = 1) -> list[Any]:
    return plainly(shape, [{"role": "assistant", "content": words(size)}])


def reads(shape: str, number: int, size: int) -> list[Any]:
    """Return a call and its result, of so many tokens."""
    return step(shape, f"call_{number}", 1, [words(size)])


def loop(shape: str, items: list[Any], **options: Any) -> ChatContext[Any]:
    """Return a context that folds from 1,000 tokens on, keeps 200, and whose clock stands still."""
    given: dict[str, Any] = {"policy": Policy(max_tokens=1_000, keep_tokens=200)}
    ctx: ChatContext[Any] = ChatContext(
        items, shape=shape, counter=Words(), timeout=None, **given | options
    )
    timed(ctx)
    return ctx


def settled(ctx: ChatContext[Any]) -> Outcome[Any]:
    """Return what becomes of the fold that was begun in the background."""
    assert ctx.background is not None
    assert ctx.background.wait(LIMIT)
    return ctx.maybe_summarize(never, background=True)


def giant_result(shape: str) -> list[Any]:
    return [*asks(shape), *reads(shape, 0, 3_000)]


@WAYS
@pytest.mark.parametrize("shape", SHAPES)
def test_a_result_that_had_to_stay_is_folded_when_the_next_one_has_come(
    way: str, shape: str
) -> None:
    """Though the list has not grown by a sixteenth, no time has passed, and no user has spoken."""
    ctx = loop(shape, giant_result(shape))
    assert maybe(way, ctx, never).reason == "nothing_to_summarize"
    ctx.extend(reads(shape, 1, 5))
    outcome = maybe(way, ctx, Model())
    assert outcome.changed
    assert outcome.tokens_after < 100


@pytest.mark.parametrize("shape", SHAPES)
def test_so_it_is_in_the_background(shape: str) -> None:
    """What comes while a fold is tried in vain is no part of what it was tried with."""
    ctx = loop(shape, giant_result(shape))
    assert ctx.maybe_summarize(never, background=True).reason == "started"
    ctx.extend(reads(shape, 1, 5))
    assert settled(ctx).reason == "nothing_to_summarize"
    assert ctx.maybe_summarize(Model(), background=True).reason == "started"
    assert settled(ctx).changed


@pytest.mark.parametrize("shape", SHAPES)
def test_so_it_is_with_middleware(shape: str) -> None:
    """And with what the tools give while the host owns the list."""
    host, model = giant_result(shape), Model()
    wrapper = middleware(
        model, Policy(max_tokens=1_000, keep_tokens=200), shape=shape, counter=Words()
    )
    assert wrapper.fold(host).outcome.reason == "nothing_to_summarize"
    host += reads(shape, 1, 5)
    folded = wrapper.fold(host)
    assert folded.outcome.changed
    assert folded.outcome.tokens_after < 100
    assert model.asked == 1


@WAYS
def test_what_gained_too_little_is_folded_when_the_answer_has_come(way: str) -> None:
    """A large result had to stay as long as the model had not seen it."""
    earlier = [m for _ in range(3) for m in (*asks("openai_chat", 60), *says("openai_chat", 60))]
    items = [*earlier, *asks("openai_chat"), *reads("openai_chat", 0, 3_000)]
    ctx = loop("openai_chat", items)
    assert maybe(way, ctx, never).reason == "no_gain"
    ctx.extend(says("openai_chat"))
    outcome = maybe(way, ctx, Model())
    assert outcome.changed
    assert outcome.tokens_after < 300


@WAYS
def test_a_request_that_had_to_stay_is_folded_when_it_is_answered(way: str) -> None:
    """Where none of the recent part is kept: the answer has ended the turn."""
    policy = Policy(max_tokens=1_000, keep_tokens=0)
    ctx = loop("openai_chat", asks("openai_chat", 2_000), policy=policy)
    assert maybe(way, ctx, never).reason == "nothing_to_summarize"
    ctx.extend(says("openai_chat"))
    assert maybe(way, ctx, Model()).changed


@WAYS
def test_what_is_said_of_a_list_is_said_of_it_as_it_is(way: str) -> None:
    """Its size is told, and in the words, too."""
    ctx = loop("openai_chat", giant_result("openai_chat"))
    first = maybe(way, ctx, never)
    ctx.items[-1] = {**ctx.items[-1], "content": words(3_020)}
    again = maybe(way, ctx, never)
    assert again.tokens_before == again.tokens_after == first.tokens_before + 20
    assert f"all {again.tokens_before:,} tokens are within" in again.remedy
    few = loop("openai_chat", [*asks("openai_chat"), *says("openai_chat", 2_000)])
    turns = {"keep_last_turns": 2, "keep_tokens": None}
    for _ in range(2):
        size = few.count_tokens().value
        assert f"1 turn of {size:,} tokens; pass" in maybe(way, few, never, **turns).remedy
        few.extend(says("openai_chat", 10))


def test_what_a_fold_in_the_background_came_to_is_said_of_the_list_as_it_is() -> None:
    """It was planned of the list as it was."""
    ctx = loop("openai_chat", giant_result("openai_chat"))
    assert ctx.maybe_summarize(never, background=True).reason == "started"
    ctx.extend(reads("openai_chat", 1, 5))
    outcome = settled(ctx)
    assert f"all {ctx.count_tokens().value:,} tokens are within" in outcome.remedy


# --- and not at each turn -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_a_loop_that_cannot_be_folded_is_planned_again_as_it_grows_by_sixteenths(
    shape: str,
) -> None:
    """Four times as long in the end, and 22 sixteenths: what comes in counts once, as it goes."""
    told = Told()
    ctx = loop(shape, giant_result(shape), pin=always, on_event=told)
    for number in range(1, 451):
        assert maybe("maybe_summarize", ctx, never).reason in WORDS
        ctx.extend(reads(shape, number, 10))
    assert ctx.count_tokens().value == pytest.approx(12_000, rel=0.02)
    assert 22 <= told.kinds.count("before") <= 22 + 2


@WAYS
def test_a_loop_whose_request_alone_is_over_the_trigger_is_planned_seldom(way: str) -> None:
    """Nothing of what comes is worth a fold, until it is a fifth of all."""
    told, model = Told(), Model()
    ctx = loop("openai_chat", asks("openai_chat", 8_000), on_event=told)
    outcome, number = maybe(way, ctx, model), 0
    while not outcome.changed and number < 1_000:
        number += 1
        ctx.extend(reads("openai_chat", number, 10))
        outcome = maybe(way, ctx, model)
    assert outcome.changed
    assert outcome.tokens_before < (8_000 + 200) * 5 / 4 * (1 + 1 / 16)
    assert told.kinds.count("before") <= 6


# --- beside a context that looks at each turn -----------------------------------------------------


def growing(shape: str, random: Random) -> Iterator[list[Any]]:
    """Yield what comes from turn to turn: an agent's steps for the most part, a few of them long.

    And calls whose results come a turn later.
    """

    def size() -> int:
        most = random.choice([20] * 6 + [200] * 3 + [3_000])
        return random.randrange(1, most)

    yield asks(shape, size())
    for number in count():
        kind = random.choice(["step"] * 9 + ["apart"] * 2 + ["said"] * 3 + ["asked", "all"])
        if kind == "step":
            yield reads(shape, number, size())
        elif kind == "apart":
            yield from ([item] for item in reads(shape, number, size()))
        elif kind == "said":
            yield says(shape, size())
        elif kind == "asked":
            yield asks(shape, size())
        else:
            yield [*reads(shape, number, size()), *says(shape, size())]


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw what is folded at, what is kept, and what a fold has to save."""
    limit = draw(st.sampled_from([300, 1_000, 2_000]))
    return Policy(
        max_tokens=limit,
        keep_tokens=limit * draw(st.sampled_from([0, 5, 20, 50, 80])) // 100,
        keep_last_turns=draw(st.sampled_from([None, None, 0, 1, 2])),
        min_gain=draw(st.sampled_from([0.05, 0.2, 0.5])),
    )


@fewer
@given(st.sampled_from(SHAPES), policies(), st.randoms(use_true_random=False))
def test_no_fold_is_missed_that_saves_a_sixteenth_more_than_it_has_to(
    shape: str, policy: Policy, random: Random
) -> None:
    """A fresh context, which has tried nothing yet, would make it at this very turn.

    What gains less may be made later, when the list has grown by a sixteenth.
    """
    ctx = loop(shape, [], policy=policy)
    for new in islice(growing(shape, random), 80):
        ctx.extend(new)
        fresh = loop(shape, list(ctx.items), policy=policy).maybe_summarize(Model())
        size = ctx.count_tokens().value
        outcome: Outcome[Any] = ctx.maybe_summarize(Model())
        if fresh.changed and not outcome.changed and outcome.reason in WORDS:
            saved = fresh.tokens_before - fresh.tokens_after
            assert saved <= (policy.min_gain + 1 / 16) * size


@fewer
@given(st.sampled_from(SHAPES), policies(), st.randoms(use_true_random=False))
def test_what_is_tried_in_vain_is_seldom(shape: str, policy: Policy, random: Random) -> None:
    """Each time a sixteenth has come, or come within reach of one of two cuts: 48 for a doubling.

    That goes for what cannot be folded, in one turn. A turn that is opened is looked at each time.
    """
    told, sizes = Told(), list[int]()
    ctx = loop(shape, asks(shape, 300), policy=policy, pin=always, on_event=told)
    for number in range(300):
        size = random.randrange(1, random.choice([20] * 6 + [200] * 3 + [3_000]))
        ctx.extend(reads(shape, number, size) if random.random() < 0.8 else says(shape, size))
        if ctx.maybe_summarize(never).reason in WORDS:
            sizes.append(ctx.count_tokens().value)
    doublings = math.log2(sizes[-1] / sizes[0])
    assert told.kinds.count("before") <= 1 + 48 * (1 + doublings)
