"""Where a provider takes no two messages of one role in a row, the summary joins the next one."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from laws import Weightless, same_objects, short
from validator import validate

from chatfold import ChatContext

LONG = "the parcel left the warehouse and is on its way. " * 60


def said(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text} for text in texts]}


def round_of(number: int) -> list[Any]:
    """Return a tool call and its result."""
    use = {"toolUseId": f"t{number}", "name": "read", "input": {"n": number}}
    result = {"toolUseId": f"t{number}", "content": [{"text": LONG}], "status": "success"}
    return [
        {"role": "assistant", "content": [{"toolUse": use}]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]


def talk(turns: int) -> list[Any]:
    return [
        item
        for n in range(turns)
        for item in (said("user", f"question {n}"), said("assistant", f"answer {n} {LONG}"))
    ]


def context(items: list[Any]) -> ChatContext[Any]:
    return ChatContext(items, counter=Weightless())


def summaries(items: list[Any]) -> int:
    return json.dumps(items).count("<chat_history_summary digest")


def test_the_summary_goes_into_the_message_behind_it() -> None:
    """One item holds both, in blocks of their own; the other items of the tail are the same."""
    items = talk(3)
    before, said_before = list(items), copy.deepcopy(items)
    ctx = context(items)
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert outcome.changed
    assert outcome.tokens_after == int(ctx.count_tokens())
    assert len(items) == 2
    assert items[0] is outcome.item
    assert [b["text"] for b in items[0]["content"]][1:] == ["question 2"]
    assert outcome.merged == (before[4],)
    assert items[1] is before[5]
    assert validate(items, "bedrock", strict=True) == []
    assert before == said_before


def test_undo_puts_both_back() -> None:
    """The message that the summary went into is the caller's own object again."""
    items = talk(3)
    before = list(items)
    ctx = context(items)
    ctx.summarize(short, keep_last_turns=1)
    ctx.append(said("user", "more"))
    assert ctx.undo().changed
    assert same_objects(items[:-1], before)
    assert items[-1] == said("user", "more")


def test_folds_of_folds_leave_one_summary_and_walk_back() -> None:
    """The earlier summary is input to the next; each undo restores the list before its fold."""
    items = talk(2)
    ctx = context(items)
    states: list[list[Any]] = []
    for n in range(4):
        states.append(list(items))
        assert ctx.summarize(short, keep_last_turns=1).changed
        assert summaries(items) == 1
        assert validate(items, "bedrock", strict=True) == []
        fresh = context(list(items))
        plan = fresh.plan(keep_last_turns=0)
        assert plan.prompt is not None
        assert plan.prompt.previous_summary == "what happened before"
        items.extend([said("user", f"again {n}"), said("assistant", f"answer {LONG}")])
    for state in reversed(states):
        assert ctx.undo().changed
        assert same_objects(items[: len(state)], state)


@pytest.mark.parametrize("way", [{"keep_last_turns": 0}, {"keep_tokens": 600}])
def test_a_running_loop_keeps_its_request_beside_the_newest_summary(way: dict[str, Any]) -> None:
    """However often a long turn is folded, its request stands once, word for word."""
    items = [*talk(1), said("user", "do all of it")]
    ctx = context(items)
    for n in range(1, 9):
        items.extend(round_of(n))
        if n % 2:
            continue
        before = list(items)
        outcome = ctx.summarize(short, **way)
        assert outcome.changed, str(outcome)
        assert len(outcome.merged) == 1
        assert outcome.tokens_after == int(ctx.count_tokens())
        assert json.dumps(items).count("do all of it") == 1
        assert items[0]["content"][-1] == {"text": "do all of it"}
        assert summaries(items) == 1
        assert validate(items, "bedrock", strict=True) == []
        assert all(any(item is old for old in before) for item in items[1:])
    while ctx.undo().changed:
        pass
    assert [i for i in items if i["role"] == "user" and "text" in i["content"][0]] == [
        said("user", "question 0"),
        said("user", "do all of it"),
    ]
    assert len(items) == 3 + 16
    assert summaries(items) == 0


def test_results_stay_first_where_the_next_message_begins_with_them() -> None:
    """A tail never begins with results, because their call would be folded away from them."""
    items = [*talk(2), said("user", "go"), *round_of(1), said("assistant", "done")]
    for keep in range(4):
        for tokens in (None, 0, 100, 1000):
            ctx = context(list(items))
            ctx.summarize(short, keep_last_turns=keep, keep_tokens=tokens)
            assert validate(ctx.items, "bedrock", strict=True) == []
