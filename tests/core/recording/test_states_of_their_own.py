"""What is done and failed where many calls went otherwise than others, in little room."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from chatfold import ChatContext


def record_of(calls: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> list[str]:
    """Return the lines of the record behind the summary of some calls, of done or of failed."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Handle the cases. " * 500}]
    for number, (name, given, result) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(given)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        items += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(result)},
        ]
    items.append({"role": "assistant", "content": "Ready."})
    ctx = ChatContext(items, shape="openai_chat")
    outcome = ctx.summarize(lambda prompt: "The cases were handled.", keep_last_turns=0)
    assert outcome.facts is not None
    told = outcome.facts.record.partition("values:")[0]
    return [text for text in told.splitlines() if text.startswith("- ")]


def test_a_state_that_names_another_thing_in_each_call_leaves_them_counted_together() -> None:
    lines = record_of(
        [
            ("place_bid", {"lot": f"LT-{10000 + n}"}, {"status": f"outbid by USR-{10500 + n}"})
            for n in range(30)
        ]
    )
    counted = [text for text in lines if "earlier calls" in text]
    assert len(counted) == 1
    assert "LT-10000" in counted[0]
    assert all("LT-" in text for text in lines)


def test_the_newest_of_many_failures_keep_what_they_were_about() -> None:
    lines = record_of(
        [
            (
                f"tool_{n}_create",
                {"order": f"LK-{10000 + n}", "note": "x " * 40},
                {"error": f"Card {n} was declined because of reason {n} " + "and more words " * 12},
            )
            for n in range(12)
        ]
    )
    assert "Card 11 was declined" in lines[-1]


@pytest.mark.parametrize("states", [["label_created", "held"], ["done", "pending_approval"]])
def test_calls_that_went_otherwise_are_never_counted_as_one(states: list[str]) -> None:
    """Nor are they among those that a range of ids spans."""
    calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("create_shipment", {"order": f"LK-{n:02d}77"}, {"status": states[n % 2]})
        for n in range(40)
    ]
    lines = [text for text in record_of(calls) if "earlier calls" in text]
    assert len(lines) == 2
    for text in lines:
        assert " ... " not in text
        numbers = re.findall(r"LK-(\d\d)77", text)
        assert numbers
        assert {int(n) % 2 for n in numbers} == {int(states[1] in text)}


def test_those_that_wait_are_in_no_count_of_what_is_done() -> None:
    """Also where there are more than are looked at one by one."""
    calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        (
            "issue_refund",
            {"order": f"LK-{n:03d}7", "amount": 10 + n, "recipient": f"u{n}@x.io"},
            {"refund": f"RF-{n:03d}5", "status": "ok" if n % 5 else "pending_approval"},
        )
        for n in range(80)
    ]
    waits = [text for text in record_of(calls) if "pending_approval" in text]
    counts = [re.search(r"\((\d+) earlier calls", text) for text in waits]
    assert sum(int(count[1]) if count else 1 for count in counts) == 80 / 5
