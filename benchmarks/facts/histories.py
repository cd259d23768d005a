"""The real histories beside the checkout."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from .gold import Item

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def corpus_file() -> Path:
    """Return where the real histories are expected; the file may be absent."""
    named = os.environ.get("CHATFOLD_SHARED")
    shared = Path(named) if named else Path(__file__).resolve().parents[3] / "shared"
    return shared / "corpus" / "openai_chat.jsonl"


def real(every: int = 1) -> Iterator[tuple[str, list[Item]]]:
    """Yield real histories that every system can read, each with the name of its source.

    Args:
        every: Yield only one in so many.
    """
    with corpus_file().open(encoding="utf-8") as lines:
        histories = [json.loads(line) for line in lines]
    readable = [h for h in histories if all(map(_is_readable, h["items"]))]
    for history in readable[::every]:
        yield history["source"], history["items"]


def _is_readable(item: Item) -> bool:
    """Return whether every system takes a message: LangChain refuses arguments that are no JSON."""
    if item["role"] not in _ROLES:
        return False
    for call in item.get("tool_calls") or ():
        try:
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                return False
        except (KeyError, ValueError):
            return False
    return True
