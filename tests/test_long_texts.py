"""A text of thousands of values takes work for each of them, not for each pair of them."""

from __future__ import annotations

import random
import sys
from types import FrameType
from typing import Any

import pytest

from chatfold import ChatContext

NUMBERS = 8_000
MOST = 120  # calls of Python functions for each; 1,600 where each is compared with all others


def said(role: str, numbers: int) -> list[dict[str, Any]]:
    """Return a conversation in which somebody gives numbers, one behind the other."""
    draw = random.Random(3)
    text = " ".join(str(draw.randrange(10, 10 ** draw.randrange(2, 6))) for _ in range(numbers))
    return [
        {"role": "user", "content": "Add these."},
        {"role": "assistant", "content": "Which?"},
        {"role": role, "content": text},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "Bye."},
    ]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("llm", ["extractive", lambda prompt: "Done."], ids=["extract", "model"])
def test_a_fold_of_many_numbers_does_not_compare_each_with_all(role: str, llm: Any) -> None:
    """As of a file of measurements that a tool printed, or a user pasted."""
    called = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal called
        called += event == "call"

    assert ChatContext(said(role, 3_000)).summarize(llm, keep_last_turns=1).changed  # compiles
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        outcome = ChatContext(said(role, NUMBERS)).summarize(llm, keep_last_turns=1)
    finally:
        sys.setprofile(before)
    assert outcome.changed
    assert called < MOST * NUMBERS
