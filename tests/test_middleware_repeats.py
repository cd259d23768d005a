"""`Middleware` over lists in which one object stands in several places, such as a constant."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from chatfold import Middleware, Policy, Prompt
from chatfold.middleware import Folded
from chatfold.stores import MemoryStore

Item = dict[str, Any]

NUDGE: Item = {"role": "user", "content": "continue"}
WAIT: Item = {"role": "assistant", "content": "One moment."}
SMALL = Policy(max_tokens=800, keep_tokens=300, min_gain=0.0)


def told(prompt: Prompt) -> str:
    return "Work goes on."


def called(number: int) -> list[Item]:
    function = {"name": "order", "arguments": "{}"}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    answer = {"role": "tool", "tool_call_id": f"call_{number}", "content": "Ordered."}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, answer]


def history(seed: int, turns: int) -> list[Item]:
    """Return a history that repeats two of its objects."""
    chosen, items = random.Random(seed), list[Item]()
    for number in range(turns):
        items.append(NUDGE)
        if chosen.random() < 0.4:
            items += called(number)
        if chosen.random() < 0.4:
            items.append(WAIT)
        items.append({"role": "assistant", "content": f"step {number}. " + "The disk. " * 30})
    return items


def same(items: list[Item]) -> list[Item]:
    return items


def others(items: list[Item]) -> list[Item]:
    """Return equal items, each an object of its own."""
    return [deepcopy(item) for item in items]


def run(
    items: list[Item], given: Callable[[list[Item]], list[Item]], pinned: bool
) -> list[tuple[Any, ...]]:
    """Return what came of each turn, of the same turn elsewhere, and of what was held."""
    store, held, came = MemoryStore(), None, list[tuple[Any, ...]]()
    options: dict[str, Any] = {"pin": lambda item: item == WAIT} if pinned else {}
    here: Middleware[Any] = Middleware(told, SMALL, store, **options)
    own: Middleware[Any] = Middleware(told, SMALL, **options)
    for stop in range(1, len(items) + 1):
        now = given(items[:stop])
        folded = here.fold(now, key="k")
        kept = own.fold(now, held=held)
        held = kept.held
        there: Folded[Any] = Middleware(told, SMALL, store, **options).fold(now, key="k")
        again = now if held is None else own.refolded(now, held)
        came.append((folded.items, kept.items, held, there.items, there.outcome.reason, again))
        assert there.items == folded.items
        assert kept.items == again
    return came


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_folded_does_not_depend_on_which_objects_are_one(seed: int, pinned: bool) -> None:
    items = history(seed, 14)
    came = run(items, same, pinned)
    assert came == run(items, others, pinned)
    assert len({str(held) for _, _, held, *_ in came}) > 1


def test_the_tail_is_the_hosts_own() -> None:
    """Also behind a fold that another process has made."""
    items, store = history(0, 14), MemoryStore()
    for given in (same, others):
        folded = Middleware(told, SMALL, store).fold(given(items), key=given.__name__)
        tail = folded.items[1:]
        assert tail == items[-len(tail) :]
        again = Middleware(told, SMALL, store).fold(items, key=given.__name__)
        assert again.outcome.reason == "reused"
        assert all(a is b for a, b in zip(again.items[1:], items[-len(tail) :], strict=True))
