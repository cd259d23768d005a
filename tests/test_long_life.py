"""Twenty folds in a row: one summary of bounded size, the needed facts in it, nothing lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.flow import Completion
from chatfold.core.record import parsed
from chatfold.core.render import Prompt
from chatfold.stores import MemoryStore, SQLStore, Store

FOLDS = 20
ITEMS = 10_000

ADDRESS = "48 Harbour Street, Cork"
MAIL = "dana.whitfield@example.com"
STANDING = "Never call me before 10 am."


def turn(number: int) -> list[dict[str, Any]]:
    """Return one turn: a question, a lookup or a change, its result, an answer."""
    order = f"LK-{4_000_000 + number}"
    name, arguments = "lookup_order", {"order_number": order}
    result: dict[str, Any] = {"order_number": order, "status": "shipped", "total": f"{number}.90"}
    question = f"Where is order {order}?"
    if number % 250 == 1:  # forty changes in all; the first is in the first fold
        name = "create_rma"
        result = {"rma": f"RMA-{90_000 + number}", "ship_by": "2026-11-28", "label_to": MAIL}
        question = f"Order {order} is broken. Send me a label, please."
    if number % 100 == 7:  # what was said in the first turn is needed again and again
        name, arguments = "check_delivery", {"address": ADDRESS, "mail": MAIL}
        result = {"possible": True, "slot": f"{8 + number % 9}:30"}
        question = "Can it come to my address?"
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": json.dumps(result)},
        {"role": "assistant", "content": f"Order {order} is looked after."},
    ]


def history() -> list[dict[str, Any]]:
    """Return a conversation of 10,000 items behind its instructions."""
    items: list[dict[str, Any]] = [{"role": "system", "content": "You are a support agent."}]
    hello = f"I am Dana, {MAIL}, and live at {ADDRESS}. {STANDING} My customer number is C-77310."
    items += [
        {"role": "user", "content": hello},
        {"role": "assistant", "content": "Thank you, Dana. What can I do for you?"},
    ]
    number = 0
    while len(items) < ITEMS:
        number += 1
        items += turn(number)
    return items


def vague(prompt: Prompt) -> Completion:
    """Answer as a poor model does: without any of the facts."""
    return Completion("Dana asked about orders, and each was looked after.")


def forgetful(prompt: Prompt) -> Completion:
    """Answer as a model does that tells the first facts once and never again."""
    if prompt.previous_summary is None:
        return Completion(f"Dana, customer C-77310, {MAIL}, lives at {ADDRESS}.")
    return vague(prompt)


def growing(prompt: Prompt) -> Completion:
    """Answer as a model does that only ever adds to its earlier summary."""
    earlier = parsed(prompt.previous_summary or "")[0]
    return Completion(f"{earlier}\nDana asked about orders, and each was looked after.".strip())


def test_what_only_an_earlier_summary_told_outlives_its_words() -> None:
    """A model tells the customer's number once; after that the record has it."""
    whole = history()[:3000]
    items = whole[:500]
    ctx = ChatContext(items)
    for start in range(500, 3000, 500):
        assert ctx.summarize(forgetful, keep_last_turns=3).changed
        items += whole[start : start + 500]
    said = items[1]["content"]
    for needed in (ADDRESS, MAIL, STANDING, "RMA-90001", "C-77310"):
        assert needed in said, needed


@pytest.mark.parametrize("llm", ["extractive", vague], ids=["extractive", "vague"])
@pytest.mark.parametrize("kind", ["memory", "sql"])
def test_twenty_folds_keep_what_is_needed_and_can_all_be_taken_back(
    kind: str, llm: Any, tmp_path: Path
) -> None:
    """The first fold's facts are there after the last; every original is found; undo goes back."""
    store: Store = MemoryStore() if kind == "memory" else SQLStore(tmp_path / "folds.db")
    whole = history()
    items = whole[: ITEMS // FOLDS]
    ctx = ChatContext(items, store=store, key="dana")
    before = list(items)
    lists, sizes = [], []
    for fold in range(1, FOLDS + 1):
        lists.append(list(items))
        outcome = ctx.summarize(llm, keep_last_turns=3)
        assert outcome.reason == "summarized", str(outcome)
        sizes.append(ctx.count_tokens().value)
        texts = [m["content"] for m in items if "chat_history_summary" in str(m["content"])]
        assert len(texts) == 1
        assert texts[0].count("<chat_history_summary") == 1
        assert texts[0].count("<record>") == 1
        items += whole[len(whole) * fold // FOLDS : len(whole) * (fold + 1) // FOLDS]
    said = items[1]["content"]
    for needed in (ADDRESS, MAIL, STANDING, "RMA-90001", "C-77310"):
        assert needed in said, needed
    last = max(
        n for n in range(1, ITEMS // 4) if n % 250 == 1 and f"call_{n}" not in str(items[2:])
    )
    assert f"RMA-{90_000 + last}" in said
    assert max(sizes[5:]) < 1.3 * min(sizes[5:])
    for number in (1, 7, 251, 1_000, last):
        found = ctx.recall(call_id=f"call_{number}")
        assert [item["role"] for item in found] == ["assistant", "tool"]
        assert found == turn(number)[1:3]
    assert ctx.recall(query="RMA-90001")[0] == turn(1)[2]
    for fold in reversed(range(FOLDS)):
        behind = lists[fold]
        assert ctx.undo().reason == "undone"
        assert items[: len(behind)] == behind
        assert all(a is b for a, b in zip(items, behind, strict=False))
    assert items[: len(before)] == before
    assert items == whole[: len(items)]
    assert ctx.undo().reason == "nothing_to_undo"
