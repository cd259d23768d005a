"""The demo's history: a support call, told once in neutral lines and written down in three shapes.

Not here: how it is shown (`demo`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

__all__ = ["FACTS", "SHAPE_NAMES", "Item", "support_call"]

Item: TypeAlias = dict[str, Any]


class _Said(NamedTuple):
    """Words of the system, the user or the assistant."""

    role: Literal["system", "user", "assistant"]
    text: str


class _Called(NamedTuple):
    """A tool call and what it gave."""

    id: str
    name: str
    arguments: Mapping[str, object]
    result: Mapping[str, object]


_STORY: Final[tuple[_Said | _Called, ...]] = (
    _Said(
        "system",
        "You answer the support line of Acme Audio. Look things up before you promise anything; "
        "a replacement needs a valid warranty.",
    ),
    _Said("user", "Hi, my earbuds started to crackle and it is driving me mad. Can you help?"),
    _Said(
        "assistant",
        "I am sorry to hear that, and I will gladly help. What is your name, and which mail "
        "address did you order with?",
    ),
    _Said("user", "Maren Holt, maren.holt@example.com."),
    _Said(
        "assistant", "Thank you, Maren. Do you have the order number, and when did you buy them?"
    ),
    _Said("user", "It is LK-4821936. I bought them on October 7."),
    _Called(
        "call_k1order",
        "lookup_order",
        {"order_number": "LK-4821936", "email": "maren.holt@example.com"},
        {
            "order_number": "LK-4821936",
            "purchase_date": "2025-10-07",
            "status": "delivered",
            "delivered_on": "2025-10-08",
            "items": [{"name": "Acme Buds Pro", "sku": "AC-EBD-PRO", "serial": "ACB-PRO-7F29D4"}],
        },
    ),
    _Said(
        "assistant",
        "Found it: one pair of Acme Buds Pro, delivered on October 8. Which phone do you use them "
        "with, and which version of its system?",
    ),
    _Said("user", "An iPhone 14 Pro, on iOS 18.0.1."),
    _Said("assistant", "Have you tried to pair them again, or to use them with another device?"),
    _Said("user", "I paired them again, twice. They crackle on my tablet just the same."),
    _Said(
        "assistant", "Then the phone is not the cause. Is there any damage, and when did it start?"
    ),
    _Said("user", "No damage, they never fell. It started on October 9, the day after they came."),
    _Called(
        "call_k2warranty",
        "check_warranty",
        {"serial": "ACB-PRO-7F29D4", "purchase_date": "2025-10-07"},
        {"eligible": True, "valid_until": "2026-10-07", "covers": ["crackling", "dropouts"]},
    ),
    _Said(
        "assistant",
        "The warranty covers this, so the replacement is free. Which address should it go to, and "
        "which phone number may the courier call?",
    ),
    _Said(
        "user",
        "418 Alder Court, Apartment 6, Portland, Oregon 97205, and my number is 503-555-0142.",
    ),
    _Called(
        "call_k3rma",
        "create_rma",
        {
            "order_number": "LK-4821936",
            "serial": "ACB-PRO-7F29D4",
            "reason": "crackling on two devices, re-paired twice, no damage",
            "customer": {
                "name": "Maren Holt",
                "address": "418 Alder Court, Apartment 6, Portland, Oregon 97205",
                "phone": "503-555-0142",
            },
        },
        {"rma": "RMA-90721", "status": "approved", "ships_within_days": 2},
    ),
    _Called(
        "call_k4handoff",
        "transfer_to_returns_agent",
        {},
        {"assistant": "Returns agent"},
    ),
    _Called(
        "call_k5label",
        "generate_return_label",
        {"rma": "RMA-90721", "email": "maren.holt@example.com"},
        {"label_url": "https://returns.example.com/l/RMA-90721.pdf", "return_within_days": 14},
    ),
    _Said(
        "assistant",
        "All set, Maren: return RMA-90721 is approved and your replacement leaves within 2 days. "
        "The label is in your mail; please send the old pair back within 14 days.",
    ),
)

FACTS: Final[Mapping[str, str]] = {
    "order number": "LK-4821936",
    "serial number": "ACB-PRO-7F29D4",
    "warranty until": "2026-10-07",
    "year of purchase": "2025",
    "phone": "iPhone 14 Pro",
}
"""What the summary of the demo must hold; the year and the warranty stand in tool results only."""


def support_call(shape: str) -> list[Item]:
    """Return the support call as a new list of native items.

    Args:
        shape: One of `SHAPE_NAMES`.

    Raises:
        KeyError: There is no such shape.
    """
    write = _WRITERS[shape]
    return [item for line in _STORY for item in write(line)]


def _as_chat(line: _Said | _Called) -> Iterator[Item]:
    if isinstance(line, _Said):
        yield {"role": line.role, "content": line.text}
        return
    function = {"name": line.name, "arguments": json.dumps(line.arguments)}
    call = {"id": line.id, "type": "function", "function": function}
    yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": line.id, "content": json.dumps(line.result)}


def _as_responses(line: _Said | _Called) -> Iterator[Item]:
    if isinstance(line, _Said):
        yield {"role": line.role, "content": line.text}
        return
    call = {"call_id": line.id, "name": line.name, "arguments": json.dumps(line.arguments)}
    yield {"type": "function_call", **call}
    output = json.dumps(line.result)
    yield {"type": "function_call_output", "call_id": line.id, "output": output}


def _as_anthropic(line: _Said | _Called) -> Iterator[Item]:
    if isinstance(line, _Said):
        if line.role != "system":  # it is a parameter of the request, not a message
            yield {"role": line.role, "content": line.text}
        return
    call = {"type": "tool_use", "id": line.id, "name": line.name, "input": dict(line.arguments)}
    yield {"role": "assistant", "content": [call]}
    result = {"type": "tool_result", "tool_use_id": line.id, "content": json.dumps(line.result)}
    yield {"role": "user", "content": [result]}


_WRITERS: Final[Mapping[str, Callable[[_Said | _Called], Iterator[Item]]]] = {
    "openai_chat": _as_chat,
    "openai_responses": _as_responses,
    "anthropic": _as_anthropic,
}

SHAPE_NAMES: Final = tuple(_WRITERS)
