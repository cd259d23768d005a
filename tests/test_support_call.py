"""The worked case: a support call with four tool calls and a handoff, folded before its end."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from strategies import SHAPES, support_call

from chatfold import ChatContext

NEEDED = ("LK-4821936", "2025", "2026-10-07", "ACB-PRO-7F29D4", "iPhone 14 Pro")
VALUE = re.compile(r"[\w.@:/+-]*\d[\w.@:/+-]*|[\w.]+@[\w.]+")


def test_a_support_call_of_responses_items_keeps_its_causal_order() -> None:
    """System, summary, the address, every call with its output behind it, the last answer."""
    items = support_call("openai_responses")
    address = max(i for i, item in enumerate(items) if item.get("role") == "user")
    tail = items[address:]
    outcome = ChatContext(items).summarize("extractive", keep_last_turns=1)
    assert outcome.reason == "summarized"
    assert items[0]["role"] == "system"
    assert "chat_history_summary" in json.dumps(items[1])
    assert all(a is b for a, b in zip(items[2:], tail, strict=True))
    kinds = [item["type"] for item in items[3:-1]]
    assert kinds == ["function_call", "function_call_output"] * 3
    names = [item["name"] for item in items[3:-1:2]]
    assert names == ["create_rma", "transfer_to_returns_agent", "generate_return_label"]
    assert all(
        a["call_id"] == b["call_id"] for a, b in zip(items[3:-1:2], items[4:-1:2], strict=True)
    )
    assert items[-1]["role"] == "assistant"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_extractive_summary_of_the_support_call_holds_the_facts_and_invents_none(
    shape: str,
) -> None:
    """What stood in tool data only is there, and every value of the summary is in the head."""
    items = support_call(shape)
    outcome = ChatContext(items).summarize("extractive", keep_last_turns=1)
    summary = outcome.summary or ""
    assert [fact for fact in NEEDED if fact not in summary] == []
    head = json.dumps(outcome.removed, ensure_ascii=False)
    values = [v.strip(".,:-/") for v in VALUE.findall(summary)]
    assert [v for v in values if v not in head] == []
    assert "2023" not in summary


@pytest.mark.parametrize("shape", SHAPES)
def test_the_prompt_of_the_support_call_shows_what_the_agent_did(shape: str) -> None:
    """Calls, their arguments and their results stand in the prompt, in the order of the list."""
    plan: Any = ChatContext(support_call(shape)).plan(keep_last_turns=1)
    said = plan.prompt.user
    order = [said.index(t) for t in ("lookup_order", "2025-10-07", "check_warranty", "2026-10-07")]
    assert order == sorted(order)
