"""A summary stays of bounded length, whatever its model does, and says when it was cut."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold import ChatContext, Completion, Prompt, SummarizerError

LONG = "Dana asked about her order, and it was looked after by the clerk of the day. " * 60


def talk(number: int) -> list[dict[str, Any]]:
    """Return a turn of about a thousand tokens."""
    return [
        {"role": "user", "content": f"Question {number}: what is new? {'It is late. ' * 150}"},
        {"role": "assistant", "content": f"Answer {number}: nothing. {'Good night. ' * 150}"},
    ]


def growing(prompt: Prompt) -> str:
    """Answer as a model does that only ever adds to its earlier summary."""
    return f"{prompt.previous_summary or ''}\n{LONG}".strip()


def test_a_model_that_only_adds_does_not_fill_the_window() -> None:
    """Twenty folds in a row stop growing, and the outcome counts the cut."""
    items = [item for number in range(4) for item in talk(number)]
    ctx = ChatContext(items)
    sizes, cut = [], []
    for number in range(20):
        items += [item for more in range(4) for item in talk(number * 4 + more)]
        outcome = ctx.summarize(growing, keep_last_turns=1)
        assert outcome.changed
        sizes.append(outcome.tokens_after)
        cut.append(outcome.truncated)
    assert max(sizes[10:]) <= 1.05 * min(sizes[10:])
    assert cut[0] == 0
    assert all(cut[10:])
    assert "characters are left out here" in str(items[0])


def test_a_summary_that_is_far_too_long_is_asked_for_once_more() -> None:
    """The second answer stands, and both are paid for."""
    items = [item for number in range(20) for item in talk(number)]
    asked: list[Prompt] = []

    def obeying(prompt: Prompt) -> Completion:
        asked.append(prompt)
        return Completion("Nothing is new." if "far too long" in prompt.user else LONG * 3)

    outcome = ChatContext(items).summarize(obeying, keep_last_turns=1, max_summary_tokens=200)
    assert outcome.summary == "Nothing is new."
    assert (outcome.llm_calls, outcome.truncated) == (2, 0)
    assert asked[1].user.startswith(asked[0].user)
    assert LONG[:200] in asked[1].user


ORDERS = "".join(f"Order LK-{4_820_000 + n} came on 2025-11-18, and was paid. " for n in range(45))


@pytest.mark.parametrize(
    ("second", "is_taken"),
    [
        ("OK", False),
        ("Sure, here is a shorter version.", False),
        ("I cannot shorten this record.", False),
        ("45 orders were paid.", False),
        ("LK-4820000 to LK-4820044 came on 2025-11-18, and were paid.", True),
        ("Orders of 2025-11-18 were paid, the last one is LK-4820044.", True),
    ],
)
def test_an_answer_that_only_speaks_of_the_summary_does_not_take_its_place(
    second: str, is_taken: bool
) -> None:
    """What was far too long is cut instead, and both requests are paid for."""
    items = [item for number in range(40) for item in talk(number)]
    items[1]["content"] += ORDERS

    def obeying(prompt: Prompt) -> Completion:
        return Completion(second if "far too long" in prompt.user else ORDERS * 9)

    outcome = ChatContext(items).summarize(obeying, keep_last_turns=1, max_summary_tokens=200)
    assert outcome.changed
    assert outcome.llm_calls == 2
    if is_taken:
        assert (outcome.summary, outcome.truncated) == (second, 0)
    else:
        assert outcome.truncated == 1
        assert (outcome.summary or "").startswith(ORDERS[:500])


@pytest.mark.parametrize("far_too_long", [False, True])
def test_where_the_second_request_fails_the_first_answer_is_cut(far_too_long: bool) -> None:
    """A failed request costs no fold."""
    items = [item for number in range(20) for item in talk(number)]

    def failing(prompt: Prompt) -> Completion:
        if "far too long" in prompt.user:
            raise SummarizerError("overloaded")
        return Completion(LONG * 3 if far_too_long else LONG[:3000])

    outcome = ChatContext(items).summarize(failing, keep_last_turns=1, max_summary_tokens=50)
    assert outcome.changed
    assert outcome.llm_calls == 1 + far_too_long
    assert outcome.truncated == far_too_long
    assert len(outcome.summary or "") < 4 * 1200


def test_a_second_request_that_would_not_fit_is_not_sent() -> None:
    """The limit of a prompt holds for it as well: the conversation and the draft together."""
    items = [item for number in range(20) for item in talk(number)]
    asked: list[Prompt] = []

    def verbose(prompt: Prompt) -> str:
        asked.append(prompt)
        return LONG * 3

    ctx = ChatContext(items)
    limit = int(ctx.count_tokens()) + 1_500  # holds the conversation, and not the draft behind it
    outcome = ctx.summarize(
        verbose, keep_last_turns=1, max_summary_tokens=200, max_prompt_tokens=limit
    )
    assert (outcome.llm_calls, outcome.truncated) == (1, 1)
    assert len(asked) == 1
