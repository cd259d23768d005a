"""`Middleware` where a host has more or fewer leading instructions than before: notes, documents.

Not here: instructions that change and stay as many (`test_middleware`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from laws import fewer
from strategies import History, histories
from test_middleware import Teller, middleware, reloaded, talk
from validator import Violation, validate

from chatfold import Policy

HANDED = st.sampled_from([list, reloaded])


def instructions(count: int) -> list[dict[str, Any]]:
    return [{"role": "system", "content": f"Rule {n}."} for n in range(count)]


def faults(found: Sequence[Violation]) -> set[tuple[str, str]]:
    """Return what is wrong with a list, wherever in it."""
    return {(one.rule, one.detail) for one in found}


def after(counts: Sequence[int], hand: Callable[[Sequence[Any]], list[Any]]) -> Teller:
    """Return who wrote the summaries of a host with so many instructions at each turn."""
    teller = Teller()
    wrapper = middleware(teller, Policy(max_tokens=2_000, keep_tokens=400))
    body: list[Any] = []
    for turn, count in enumerate(counts):
        body += talk(1, turn, words=60)
        folded = wrapper.fold(hand([*instructions(count), *body]))
        assert folded.items[:count] == instructions(count)
        assert [item["role"] for item in folded.items[count:]].count("system") == 0
        assert folded.items[-1] == body[-1]
    return teller


@fewer
@given(counts=st.lists(st.integers(0, 3), min_size=40, max_size=40), hand=HANDED)
def test_folds_are_found_again_behind_other_instructions(
    counts: list[int], hand: Callable[[Sequence[Any]], list[Any]]
) -> None:
    """The model is not asked more often, nor shown more, than where the instructions stay."""
    changing, steady = after(counts, hand), after([max(counts)] * len(counts), hand)
    event(f"{len(changing.prompts)} folds")
    assert 1 < len(changing.prompts) <= len(steady.prompts) + 1
    shown, usual = (sum(len(p.user) for p in t.prompts) for t in (changing, steady))
    assert shown < usual * 1.25


@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses", "mistral"])
@fewer
@given(data=st.data())
def test_each_list_is_sendable(shape: str, data: st.DataObject) -> None:
    """Laws 2 and 3 hold where a fold is used behind other instructions than it was made behind."""
    history: History = data.draw(histories(shape, max_turns=6))
    wrapper = middleware(Teller(), Policy(max_items=6, min_gain=0.0), shape=shape)
    for stop in range(1, len(history.items) + 1):
        count = data.draw(st.integers(0, 2))
        folded = wrapper.fold([*instructions(count), *history.items[:stop]])
        assert folded.items[:count] == instructions(count)
        before = validate(reloaded([*instructions(count), *history.items[:stop]]), shape)
        added = faults(validate(reloaded(folded.items), shape)) - faults(before)
        assert not added


def test_other_conversations_are_told_apart_by_what_follows_the_instructions() -> None:
    """Without a key, the first message decides which folds may be meant."""
    teller = Teller()
    wrapper = middleware(teller, Policy(max_tokens=2_000, keep_tokens=400))
    for count in (0, 1, 2, 0):
        for start in (0, 500):
            wrapper.fold([*instructions(count), *talk(40, start)])
    assert len(teller.prompts) == 2
