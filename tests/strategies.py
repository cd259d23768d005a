"""Native histories to test with: hypothesis strategies, long random ones, and the support call.

Belongs here: whatever draws or builds lists of provider-native items, with the ground truth that
is known by construction. Nothing here imports chatfold, so that the truth owes nothing to it.

The rules of validity are those of the providers: tool messages directly behind their calls
(https://platform.openai.com/docs/guides/function-calling), results first and all in the next
message (https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use),
a `system` message between a user and an assistant turn
(https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages),
reasoning followed by what it led to (https://platform.openai.com/docs/guides/reasoning),
all read 2026-11-21.
"""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from typing import Any

from drafts import (
    anthropic,
    bedrock,
    gemini,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
)
from drafts.base import Draft, ExpectedCall, History, Options, texts, words
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "SHAPES",
    "ExpectedCall",
    "History",
    "broken",
    "histories",
    "long_history",
    "support_call",
    "texts",
]

SHAPE_MODULES: dict[str, Any] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "ollama": ollama,
    "mistral": mistral,
}
SHAPES = tuple(SHAPE_MODULES)
Item = dict[str, Any]

DRAFTS: dict[str, type[Draft]] = {
    c.shape: c
    for c in (
        openai_chat.ChatDraft,
        openai_responses.ResponsesDraft,
        anthropic.AnthropicDraft,
        gemini.GeminiDraft,
        bedrock.BedrockDraft,
        ollama.OllamaDraft,
        mistral.MistralDraft,
    )
}


# --- the strategies -----------------------------------------------------------------------------


@st.composite
def _drawn(draw: DrawFn, shape: str, options: Options) -> History:
    return DRAFTS[shape](draw, options).history()


def histories(
    shape: str | None = None,
    *,
    max_turns: int = 5,
    sdk_objects: bool = True,
    open_calls: bool = True,
    broken: bool = False,
    allow_late: bool = True,
    opaque: bool = False,
) -> SearchStrategy[History]:
    """Draw native histories with the truth about their calls.

    Args:
        shape: One of `SHAPES`; None draws any of them.
        max_turns: Largest number of turns; 0 draws the prefix alone.
        sdk_objects: Whether some items (Anthropic: blocks) are the SDK's own objects.
        open_calls: Whether calls and approvals may be open at the end of the list, and Responses
            calls with `async` anywhere.
        broken: Whether the list may break the provider's rules in ways that leave the truth
            clear: abandoned calls, Chat results behind the next user message, Anthropic ids
            that recur. Such a history says `valid=False`.
        allow_late: Whether a plain Responses result may land behind the next user message.
        opaque: Whether the provider's own compaction items occur.

    Raises:
        KeyError: `shape` is none of `SHAPES`.
    """
    options = Options(max_turns, sdk_objects, open_calls, broken, allow_late, opaque)
    chosen = SHAPES if shape is None else (DRAFTS[shape].shape,)
    return st.one_of([_drawn(name, options) for name in chosen])


_JUNK: tuple[Any, ...] = (
    None,
    7,
    "text",
    [],
    {},
    {"role": "user"},
    {"role": "tool", "content": "x"},
    {"role": "assistant", "content": [None, 3, {}], "tool_calls": [None, {}]},
    {"type": "function_call_output"},
    {"type": "from_the_future", "data": 1},
)


_EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ("drop", "repeat", "copy", "swap", "cut the end", "cut the start", "other", "other")
        ),
        st.integers(0, 99),
        st.integers(0, 99),
        st.sampled_from(_JUNK),
    ),
    min_size=1,
    max_size=4,
)


@st.composite
def broken(
    draw: DrawFn, history_strategy: SearchStrategy[History], *, junk: bool = False
) -> History:
    """Draw a history and delete, duplicate, swap or cut off some of its items.

    Args:
        draw: Given by hypothesis; leave it out.
        history_strategy: What to start from.
        junk: Whether malformed items and items of unknown types are put in as well.

    Returns:
        A history with `valid=False`, without calls, openers and approvals: nothing is known.
    """
    # The edits come first: behind a long history hypothesis would seldom vary them.
    edits = draw(_EDITS)
    history = draw(history_strategy)
    items = list(history.items)
    for edit, place, other, malformed in edits:
        at, to = place * len(items) // 100, other * len(items) // 100
        match edit:
            case "drop":
                del items[at : at + 1]
            case "repeat":
                items[at:at] = items[at : at + 1]
            case "copy":
                items[at:at] = copy.deepcopy(items[at : at + 1])
            case "swap" if items:
                items[at], items[to] = items[to], items[at]
            case "cut the end":
                del items[at + 1 :]
            case "cut the start":
                del items[:at]
            case _ if junk:
                items.insert(at, copy.deepcopy(malformed))
            case _:
                del items[at : at + 2]
    return replace(history, items=items, calls=[], openers=[], approvals=[], valid=False)


# --- long histories -----------------------------------------------------------------------------


def long_history(shape: str, n_items: int, seed: int) -> list[Any]:
    """Build a valid history of exactly `n_items` dicts, the same for the same seed.

    Args:
        shape: One of `SHAPES`.
        n_items: Number of items; 100,000 take about a second.
        seed: Seed of the random generator.

    Raises:
        KeyError: `shape` is none of `SHAPES`.
    """
    module = SHAPE_MODULES[shape]
    rng = random.Random(seed)
    items: list[Any] = []
    if n_items:
        items += module.script_message(0, "system", "You are the help desk of a shop.")
    while len(items) < n_items:
        new = module.turn(rng, len(items))
        if len(items) + len(new) > n_items:
            roles = ("user", "assistant")
            new = [
                m for role in roles for m in module.script_message(len(items), role, words(rng, 9))
            ]
        items += new[: n_items - len(items)]
    return items


# --- the support call ---------------------------------------------------------------------------

_MAIL = "noor.haddad@example.com"
_SERIAL = "ACB-PRO-7F29D4"
_LABEL = "https://returns.example.com/labels/RMA-90721.pdf"
_SCRIPT: tuple[tuple[Any, ...], ...] = (
    ("system", "You are the support agent of Acme Audio. Be brief. Check facts with your tools."),
    ("user", "Hello, my earbuds have started to crackle."),
    ("assistant", "I am sorry to hear that. Under which name and mail address did you order?"),
    ("user", f"Noor Haddad, {_MAIL}."),
    ("assistant", "Thank you. Do you have the order number, and when did you buy them?"),
    ("user", "LK-4821936. I bought them on October 7."),
    (
        "lookup_order",
        {"order_number": "LK-4821936", "email": _MAIL},
        {
            "status": "delivered October 8",
            "product": "Acme Buds Pro",
            "sku": "AC-EBD-PRO",
            "purchase_date": "2025-10-07",
        },
    ),
    ("assistant", "I found your Acme Buds Pro. Which phone do you use them with?"),
    ("user", "With an iPhone 14 Pro on iOS 18.0.1."),
    ("assistant", "Please pair them again, and try another device if you have one."),
    ("user", "I have paired them twice. They crackle on my tablet as well."),
    ("assistant", "Is anything damaged, and since when do you hear it?"),
    ("user", "No damage. It began on October 9. I scanned the label in the case with your app."),
    (
        "check_warranty",
        {"serial_number": _SERIAL, "purchase_date": "2025-10-07"},
        {"eligible": True, "valid_until": "2026-10-07"},
    ),
    ("assistant", "We will replace them free of charge. Where should we send the new pair?"),
    ("user", "To 12 Quay Street, Galway. My phone number is +353 91 555 0142."),
    (
        "create_rma",
        {
            "order_number": "LK-4821936",
            "serial_number": _SERIAL,
            "reason": "crackling in both earbuds",
            "customer": {"name": "Noor Haddad", "address": "12 Quay Street, Galway"},
        },
        {"rma": "RMA-90721", "ships_in_days": 2},
    ),
    ("transfer_to_returns_agent", {}, {"assistant": "returns agent"}),
    (
        "generate_return_label",
        {"rma": "RMA-90721", "email": _MAIL},
        {"url": _LABEL, "due_in_days": 14},
    ),
    (
        "assistant",
        f"Your replacement leaves within 2 days (RMA-90721). Use this label in 14 days: {_LABEL}",
    ),
)


def support_call(shape: str) -> list[Any]:
    """Build the support call: four tool calls and a handoff, the address in the last turn.

    The purchase year and the serial number stand in tool data only.

    Returns:
        25 items; 24 for `anthropic`, whose system prompt is no message.

    Raises:
        KeyError: `shape` is none of `SHAPES`.
    """
    module = SHAPE_MODULES[shape]
    items: list[Any] = []
    for number, (kind, *rest) in enumerate(_SCRIPT):
        if len(rest) == 2:
            items += module.script_call(number, kind, *rest)
        else:
            items += module.script_message(number, kind, rest[0])
    return items
