"""Real histories, saved and found again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stores.drawn import exact

from chatfold import ChatContext
from chatfold.core.native import plain
from chatfold.core.views import texts
from chatfold.stores import Store, StoredFold, StoredItem

FILES = ("openai_chat", "openai_responses", "anthropic", "dirty")


def _fold(items: list[Any], key: str) -> StoredFold:
    ctx = ChatContext(items)
    called: dict[int, list[str]] = {}
    for call in ctx.tool_calls():
        for index in (call.call_index, call.result_index):
            if index is not None and call.id is not None:
                called.setdefault(index, []).append(call.id)
    region = tuple(
        StoredItem(index, "\n".join(texts(view)), tuple(called.get(index, ())), plain(one))
        for index, (one, view) in enumerate(zip(items, ctx.views(), strict=True))
    )
    return StoredFold(key, "whole", "digest", len(items), None, (), 0, region, 1.0)


@pytest.mark.parametrize("name", FILES)
def test_a_real_history_comes_back_as_it_was(
    shared: Path, name: str, new_store: Callable[..., Store]
) -> None:
    path = shared / "corpus" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("no corpus beside the checkout; set CHATFOLD_SHARED")
    store = new_store()
    with path.open(encoding="utf-8") as lines:
        histories = [json.loads(line)["items"] for line, _ in zip(lines, range(12), strict=False)]
    for number, items in enumerate(histories):
        saved = _fold(items, f"key {number}")
        store.save(saved)
        assert exact(store.load(saved.key, "whole")) == exact(saved)
        for one in saved.items:
            for call_id in one.call_ids:
                found = store.find(saved.key, call_id=call_id, limit=1000)
                assert any(other.item == one.item for other in found)
        longest = max(saved.items, key=lambda one: len(one.text), default=None)
        if longest is not None and longest.text.isascii() and longest.text.strip():
            words = " ".join(longest.text.split()[:6])
            assert longest.text in [
                one.text for one in store.find(saved.key, query=words, limit=1000)
            ]
