"""A conversation at a returns desk with real values, as three providers write it, and its models.

Belongs here: what the tests of options that hold for a whole fold share (`test_options_*.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from chatfold import Completion, FactReport, Outcome, Prompt, Usage
from chatfold.core.facts import Fact

__all__ = [
    "APIS",
    "LIE",
    "LONG",
    "SENT",
    "STANDING",
    "TRUE",
    "Clerk",
    "assistant",
    "called",
    "desk",
    "parts_of",
    "quoted",
    "report_of",
    "text_of",
    "texts",
    "thanks",
    "user",
]

Item = dict[str, Any]

APIS: Final = ("openai_chat", "openai_responses", "anthropic")
LONG: Final = "The parcel left the warehouse and is on its way to the customer. " * 30
STANDING: Final = "Never call me before 10 am."
TRUE: Final = "The heater of order LK-4821936 shows E14. Return RMA-90721 is open."
LIE: Final = "She was paid 2,500.00 EUR on 2025-12-24."
SENT: Final = Usage(120, 30)


def user(text: str) -> Item:
    return {"role": "user", "content": text}


def assistant(text: str) -> Item:
    return {"role": "assistant", "content": text}


def called(shape: str, id_: str, name: str, arguments: Item, result: Any) -> list[Item]:
    """Return a call and its result."""
    text = result if isinstance(result, str) else json.dumps(result)
    raw = json.dumps(arguments)
    if shape == "anthropic":
        use = {"type": "tool_use", "id": id_, "name": name, "input": arguments}
        done = {"type": "tool_result", "tool_use_id": id_, "content": text}
        failed = {"is_error": True} if text.startswith("Error") else {}
        return [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [done | failed]},
        ]
    if shape == "openai_responses":
        return [
            {"type": "function_call", "call_id": id_, "name": name, "arguments": raw},
            {"type": "function_call_output", "call_id": id_, "output": text},
        ]
    call = {"id": id_, "type": "function", "function": {"name": name, "arguments": raw}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id_, "content": text},
    ]


def desk(shape: str) -> list[Any]:
    """Return the conversation: a lookup, an action done, one that failed, and a last turn."""
    order = {"order_number": "LK-4821936"}
    found = {"status": "delivered", "total": "1,349.90 EUR", "note": LONG}
    opened = {"rma": "RMA-90721", "ship_by": "2025-11-28"}
    return [
        user(f"I am Dana, dana.w@example.com. My heater LK-4821936 shows E14. {STANDING}"),
        *called(shape, "call_1", "lookup_order", order, found),
        *called(shape, "call_2", "create_rma", order, opened),
        assistant("Return RMA-90721 is open; please ship it by 2025-11-28."),
        user("Refund it to my card, please."),
        *called(shape, "call_3", "refund", {"rma": "RMA-90721"}, "Error: card expired"),
        assistant("Your card has expired."),
        *thanks(),
    ]


def thanks() -> list[Item]:
    """Return a last turn."""
    return [user("Thanks. What now?"), assistant("Send it, and I will see to the rest.")]


def text_of(item: Any) -> str:
    """Return the words of a summary item."""
    content = item["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


def texts(facts: Sequence[Fact]) -> list[str]:
    """Return facts as they were first written."""
    return [fact.text for fact in facts]


class Clerk:
    """A model that gives its answers one after the other, then the last one again.

    An error among them is raised. Prompts are kept.
    """

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = answers
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        answer = self.answers[min(len(self.prompts), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer, usage=SENT, model="clerk-1")


def report_of(outcome: Any) -> FactReport:
    assert outcome.facts is not None
    facts: FactReport = outcome.facts
    return facts


def parts_of(outcome: Outcome[Any]) -> dict[str, list[str]]:
    """Return the lines of the record by its parts, as they stand in the list."""
    record = report_of(outcome).record
    assert outcome.item is not None
    assert record in text_of(outcome.item)
    found = re.findall(
        r"^(\w+):\n(- .*?)$(?=\n\w+:\n|\n</record>)", record, re.DOTALL | re.MULTILINE
    )
    return {name: lines[2:].split("\n- ") for name, lines in found}


def quoted(*instructions: str) -> list[str]:
    return [f'"{text}"' for text in instructions]
