"""Which call a result answers, and how much is looked at to find it."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType
from typing import Any, Literal

import pytest

from chatfold.core.calls import CallPairing, Span, pair_calls
from chatfold.core.views import CallPart, ItemView, ResultPart, TextPart

RESULT = ItemView("tool", (ResultPart("a", None, "1"),), "tool", "openai_chat")


def _asks(calls: int) -> ItemView:
    parts = tuple(CallPart("a", f"f{number}", "{}") for number in range(calls))
    return ItemView("assistant", parts, "assistant", "openai_chat", whole_step=True)


@pytest.mark.parametrize(("steps", "calls"), [(1, 1000), (1000, 1)])
def test_thousands_of_open_calls_of_one_id_are_not_looked_through_for_each_result(
    steps: int, calls: int
) -> None:
    """Some servers number the calls of each answer anew, and a broken run answers none of them."""
    views = [*(_asks(calls) for _ in range(steps)), *([RESULT] * 1000)]
    made: Counter[str] = Counter()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        made[event] += 1

    sys.setprofile(count)
    try:
        records = pair_calls(views)
    finally:
        sys.setprofile(None)
    assert all(record.completed for record in records)
    assert made["call"] < 40_000


def test_a_result_answers_the_first_open_call_of_the_latest_step() -> None:
    """Of the same id, whichever calls of it stand before."""
    views = [_asks(2), _asks(3), RESULT, RESULT, RESULT, RESULT]
    asked = [(r.call_index, r.name, r.result_index) for r in pair_calls(views)]
    assert asked == [(0, "f0", 5), (0, "f1", None), (1, "f0", 2), (1, "f1", 3), (1, "f2", 4)]


def test_no_result_answers_a_call_that_stands_behind_it() -> None:
    """Though results that name their calls come first, where an item has nothing but results."""
    parts = (
        CallPart("a", "f", "{}"),
        ResultPart(None, "g", "1"),
        ResultPart("a", None, "2"),
        CallPart("b", "g", "{}"),
    )
    records = pair_calls([ItemView("assistant", parts, "assistant", "gemini", whole_step=True)])
    assert [(r.id, r.result) for r in records if r.completed and r.call_index == 0] == [("a", "2")]


@pytest.mark.parametrize("texts", [1, 2])
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_a_second_result_behind_what_somebody_said_binds_nothing(
    role: Literal["user"], texts: int
) -> None:
    """It may come hundreds of items later, and is refused where it stands in any case."""
    said = ItemView(role, (TextPart("Go on."),) * texts, role, "openai_chat", whole_step=True)
    views = [_asks(1), RESULT, RESULT, *([said] * 3), RESULT]
    pairing = CallPairing(lambda: -1)
    for index, view in enumerate(views):
        pairing.feed(index, view)
    assert pairing.spans == [Span(0, 1), Span(0, 2, "none")]


def test_a_second_result_belongs_to_the_latest_call_of_its_id_that_was_answered() -> None:
    """Ids recur; of a call that came between, it is the first."""
    views = [_asks(1), RESULT, _asks(1), RESULT, RESULT, _asks(1), RESULT]
    pairing = CallPairing(lambda: -1)
    for index, view in enumerate(views):
        pairing.feed(index, view)
    assert pairing.spans == [Span(0, 1), Span(2, 3), Span(2, 4, "none"), Span(5, 6)]
