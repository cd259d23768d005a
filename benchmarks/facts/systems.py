"""One fold of the same history by each system, at the same tail and the same room for a summary.

The other systems need a model, so one deterministic writer stands in for it: chatfold's
extractive summarizer, run on exactly what each of them shows its model. What differs is what a
system shows, what it keeps beside the summary, and, for chatfold, what it adds to the summary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chatfold import ChatContext, Prompt
from chatfold.core.summary import opened
from chatfold.errors import EmptySummaryError

from .case import Case, Folded, System, unchanged
from .gold import Item, prefix_length
from .peers import agent_framework, langchain, langchain_untrimmed, livekit

LEDGER_SHARE = 0.9
"""The part of the room for a summary that chatfold's record gets; the rest is for its words."""

_TRIES = 6
_LEAST_WORDS = 24  # tokens
_LEAST_LEDGER = 8  # tokens: if so little is too much, there are too many words
_FIRST_TRY = 0.6  # of the room, for values
_NEAR = 0.96  # of the room, from which on it is used


def chatfold(case: Case, room: int) -> Folded:
    """Fold by chatfold: its words and its record are within the room together.

    What is done and what the user forbade stand in the record beside its values, however many
    there are; so the room for values is what the rest leaves of it, found by trying.
    """
    words = max(int(room * (1 - LEDGER_SHARE)), _LEAST_WORDS)
    low, high = 0, room  # what is known to fit, and what is not to be tried
    ledger = int(room * _FIRST_TRY)
    best: Folded | None = None
    smallest = largest = 0
    for _ in range(_TRIES):
        folded, size = _fold(case, words, ledger)
        if size <= room:
            low = ledger
            if best is None or smallest > room or size > largest:
                best, smallest, largest = folded, size, size
        else:
            high = ledger
            if best is None or size < smallest:
                best, smallest = folded, size
            if ledger <= _LEAST_LEDGER:
                words = max(_LEAST_WORDS, words // 2)
        if high - low < 2 or _NEAR * room <= size <= room:
            break
        guess = ledger * room // max(size, 1)
        ledger = guess if low < guess < high else (low + high) // 2
    assert best is not None
    return best


def _fold(case: Case, words: int, ledger: int) -> tuple[Folded, int]:
    """Return what chatfold makes of a case, and the tokens of what stands in its wrapper."""
    items = list(case.items)
    context: ChatContext[Item] = ChatContext(items, model="gpt-5")
    options: dict[str, Any] = {"max_summary_tokens": words, "ledger_tokens": ledger}
    plan = context.plan(keep_tokens=case.keep_tokens, **options)
    if plan.prompt is None:
        return unchanged(case), 0
    try:
        outcome = context.summarize("extractive", keep_tokens=case.keep_tokens, **options)
    except EmptySummaryError:  # not one line fits into so few tokens
        return _fold(case, 2 * words, ledger)
    if not outcome.changed or outcome.item is None:
        return unchanged(case), 0
    content = str(outcome.item["content"])
    inside = [{"role": "user", "content": opened(content) or ""}]
    size = ChatContext(inside, model="gpt-5").count_tokens().value
    places = {id(item): index for index, item in enumerate(case.items)}
    kept = frozenset(places[id(item)] for item in items if id(item) in places)
    return Folded(kept, content, asked(plan.prompt)), size


def chatfold_short(case: Case, room: int) -> Folded:
    """Fold by chatfold, with a fifth of the tail."""
    return chatfold(replace(case, keep_tokens=case.keep_tokens // 5), room)


def tail_alone(case: Case, room: int) -> Folded:
    """Keep the tail and write nothing: the floor."""
    start = prefix_length(case.items)
    kept = frozenset([*range(start), *range(case.tail, len(case.items))])
    return Folded(kept, "")


SYSTEMS: dict[str, tuple[str, System]] = {
    "chatfold, extractive": ("chatfold", chatfold),
    "chatfold, short tail": ("chatfold", chatfold_short),
    "LangChain, as it comes": ("langchain", langchain),
    "LangChain, untrimmed": ("langchain", langchain_untrimmed),
    "LiveKit": ("livekit-agents", livekit),
    "agent-framework": ("agent-framework-core", agent_framework),
    "tail alone": ("chatfold", tail_alone),
}
"""The rows of the table: the package that each needs, and the fold."""


def asked(prompt: Prompt) -> list[Item]:
    """Return chatfold's prompt as messages."""
    return [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
