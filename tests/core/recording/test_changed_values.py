"""Values that a later call gave anew: what an earlier record says of them does not outlive that."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from chatfold import ChatContext


def looked_up(name: str, arguments: dict[str, Any], result: Any, id_: str) -> list[Any]:
    """Return a turn in which something is looked up."""
    given = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "user", "content": "And now? " + "I am waiting. " * 200},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id_, "type": "function", "function": given}],
        },
        {"role": "tool", "tool_call_id": id_, "content": json.dumps(result)},
        {"role": "assistant", "content": "Here it is."},
    ]


def folded_twice(name: str, first: Any, second: Any, said: str) -> str:
    """Return the record of a second fold: each takes one look at the same thing away."""
    of = {"of": "ACC-1001"}
    items = [*looked_up(name, of, first, "call_1"), {"role": "user", "content": "ok"}]
    ctx = ChatContext(items)
    assert ctx.summarize(lambda prompt: "They ask.", keep_last_turns=1, grounding="report")
    items += [*looked_up(name, of, second, "call_2"), {"role": "user", "content": "ok"}]
    outcome = ctx.summarize(lambda prompt: said, keep_last_turns=1, grounding="report")
    assert outcome.facts is not None
    return outcome.facts.record


LIST = [{"type": "savings", "balance": 8200.5}]
NEW_LIST = [{"type": "savings", "balance": 7700.25}]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"state": "shipped"}, {"state": "delivered"}, "It is delivered."),
        ({"balance": 8200.5}, {"balance": 7700.25}, "The balance is 7700.25."),
        ({"eta": "2026-11-20"}, {"eta": "2026-11-25"}, "It arrives on 2026-11-25."),
        ({"a": LIST}, {"a": NEW_LIST}, "Savings hold 7700.25."),
        ({"a": LIST}, {"a": NEW_LIST}, "They ask again."),
    ],
)
def test_an_old_value_does_not_outlive_the_new_one(first: Any, second: Any, said: str) -> None:
    """The record is exact: beside a text that has the new value it would contradict that."""
    record = folded_twice("get_account", first, second, said)
    for old in ("shipped", "8200.5", "2026-11-20"):
        assert old not in re.sub(r"\(was: [^)]*\)", "", record)


def test_a_text_with_the_old_value_is_set_right_by_the_record() -> None:
    record = folded_twice(
        "get_account", {"state": "shipped"}, {"state": "delivered"}, "It is shipped."
    )
    assert "state=delivered (was: shipped)" in record


def test_a_value_that_an_action_has_changed_is_set_right_as_well() -> None:
    """What is done says it, so that nothing new is added for it."""
    record = folded_twice("set_limit", {"limit": 8200.5}, {"limit": 7700.25}, "They ask again.")
    assert "7700.25" in record
    assert record.count("8200.5") == 1  # in what was done first


def test_an_id_that_stood_in_a_list_is_kept() -> None:
    """The next list holds others; that one is no newer value of it."""
    first, second = ({"orders": [{"id": f"LK-{n}"}]} for n in (10001, 10002))
    record = folded_twice("get_account", first, second, "They ask again.")
    assert "LK-10001" in record
    assert "LK-10002" in record


def test_a_call_that_failed_has_nothing_newer_to_say() -> None:
    """What the text has of it takes no value away."""
    said, failed = "It is unknown, as the server is down.", {"error": "down", "state": "unknown"}
    assert "state=shipped" in folded_twice("get_account", {"state": "shipped"}, failed, said)


def test_of_a_list_that_is_looked_up_twice_in_one_fold_the_newer_values_stand() -> None:
    of = {"of": "ACC-1001"}
    items = [
        *looked_up("get_account", of, LIST, "call_1"),
        *looked_up("get_account", of, NEW_LIST, "call_2"),
        {"role": "user", "content": "ok"},
    ]
    outcome = ChatContext(items).summarize(lambda prompt: "They ask.", keep_last_turns=1)
    assert outcome.facts is not None
    assert "7700.25" in outcome.facts.record
    assert "8200.5" not in outcome.facts.record
