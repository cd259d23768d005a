"""Times a turn at which nothing is to be done: chatfold beside LangChain and LiveKit, in one run.

    python -m venv peers && peers/bin/pip install . -r benchmarks/requirements.txt
    peers/bin/python -m benchmarks.turn                      # 100, 1,000, 10,000, 100,000 items
    peers/bin/python -m benchmarks.turn --items 10000 --rounds 50

`check` is a context or hook that is asked after one item came, with a trigger far above the list.
`same` and `copies` are `Middleware` on a history that it has folded and that grew by two items,
handed over as the same objects or as equal copies; beside them LangChain's hook on as many
messages. In each round each of them has five turns, so that a machine that slows down slows all.
The tables show the best and the median time in microseconds, and the median's share of
LangChain's hook, which counts the whole history at each turn. Below stands what a context keeps
beside the list (`tracemalloc`): one that was asked at each turn, and one that was asked once.
"""

from __future__ import annotations

import argparse
import copy
import gc
import importlib.metadata
import json
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from chatfold import ChatContext, Middleware, Policy

if __package__:
    from .arguments import at_least, output
    from .fold import SHORTEST, SIZES, SUMMARY, conversation
else:  # python benchmarks/turn.py
    from arguments import at_least, output
    from fold import SHORTEST, SIZES, SUMMARY, conversation

FAR = 1_000_000_000
_AT_A_TIME = 5

Turn = Callable[[], float]


def _timed(prepare: Callable[[], None], run: Callable[[], None]) -> Turn:
    """Return one turn, which returns the microseconds that `run` takes."""

    def turn() -> float:
        prepare()
        started = time.perf_counter()
        run()
        return (time.perf_counter() - started) * 1e6

    return turn


def chatfold_check(messages: list[dict[str, Any]]) -> Turn:
    """Return one turn of a context that was asked at each: an item comes, the policy says no."""
    items: list[dict[str, Any]] = []
    context = ChatContext(items, policy=Policy(max_tokens=FAR))
    for start in range(0, len(messages), 4):
        items.extend(messages[start : start + 4])
        context.maybe_summarize("extractive")

    def prepare() -> None:
        asked = {"role": "user", "content": f"And order LK-{len(items)}?"}
        said = {"role": "assistant", "content": "It was delivered."}
        items.append(said if items[-1]["role"] == "user" else asked)

    def run() -> None:
        assert context.maybe_summarize("extractive").reason == "below_trigger"

    return _timed(prepare, run)


def chatfold_hook(messages: list[dict[str, Any]], *, copies: bool) -> Turn:
    """Return one turn of a middleware over a history that has been folded."""
    host = list(messages)
    middleware: Any = Middleware(lambda prompt: SUMMARY, Policy(max_items=1000, max_tokens=FAR))
    assert middleware.fold(host).outcome.changed or len(host) < 1000
    handed = host

    def prepare() -> None:
        nonlocal handed
        host.extend(
            [
                {"role": "user", "content": f"And order LK-{len(host)}?"},
                {"role": "assistant", "content": "It was delivered."},
            ]
        )
        handed = copy.deepcopy(host) if copies else host

    def run() -> None:
        assert middleware.fold(handed).outcome.reason in ("reused", "below_trigger")

    return _timed(prepare, run)


def langchain_hook(messages: list[dict[str, Any]]) -> Turn:
    """Return one turn of LangChain's middleware: messages come, and its trigger says no."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import AIMessage, HumanMessage, convert_to_messages

    middleware: Any = SummarizationMiddleware(
        model=FakeListChatModel(responses=[SUMMARY]), trigger=("tokens", FAR), keep=("messages", 16)
    )
    state: Any = {"messages": convert_to_messages(messages)}
    for number, message in enumerate(state["messages"]):
        message.id = str(number)  # as those that a graph holds

    def prepare() -> None:
        number = len(state["messages"])
        state["messages"].append(HumanMessage(f"And order LK-{number}?", id=str(number)))
        state["messages"].append(AIMessage("It was delivered.", id=str(number + 1)))

    def run() -> None:
        assert middleware.before_model(state, None) is None

    return _timed(prepare, run)


SYSTEMS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], Turn]]] = {
    "LangChain hook": ("langchain", langchain_hook),
    "chatfold check": ("chatfold", chatfold_check),
    "chatfold middleware, same objects": (
        "chatfold",
        lambda messages: chatfold_hook(messages, copies=False),
    ),
    "chatfold middleware, equal copies": (
        "chatfold",
        lambda messages: chatfold_hook(messages, copies=True),
    ),
}


def kept_bytes(messages: list[dict[str, Any]], at_once: int) -> float:
    """Return the bytes an item that a context keeps, which is asked after so many items."""
    gc.collect()
    tracemalloc.start()
    items: list[dict[str, Any]] = []
    context = ChatContext(items, policy=Policy(max_tokens=FAR))
    own = 0
    for start in range(0, len(messages), at_once):
        before = tracemalloc.get_traced_memory()[0]
        items.extend(messages[start : start + at_once])
        own += tracemalloc.get_traced_memory()[0] - before  # the list's own
        context.maybe_summarize("extractive")
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0] - own
    tracemalloc.stop()
    return kept / len(messages)


def report(items: int, rounds: int) -> list[dict[str, Any]]:
    """Measure turns of one length of list, print the table, and return its rows."""
    messages = conversation(items)
    turns: dict[str, Turn] = {}
    for name, (package, make) in SYSTEMS.items():
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            print(f"left out: {name} ({package} is not installed)", file=sys.stderr)
            continue
        turns[name] = make(messages)
    times: dict[str, list[float]] = {name: [] for name in turns}
    gc.collect()
    gc.disable()
    for number in range(rounds + 1):
        for name, turn in turns.items():
            took = [turn() for _ in range(_AT_A_TIME)]
            if number:  # the first turns warm caches
                times[name] += took
    gc.enable()
    base = statistics.median(times["LangChain hook"]) if "LangChain hook" in times else None
    print(f"one turn over {items:,} items, nothing to do, {rounds} rounds\n")
    print(f"{'':36} {'best us':>10} {'median us':>11} {'of LangChain':>13}")
    rows: list[dict[str, Any]] = []
    for name, values in times.items():
        median = statistics.median(values)
        rows.append({"items": items, "system": name, "best_us": min(values), "median_us": median})
        share = f"{median / base:13.5f}" if base else ""
        print(f"{name:36} {min(values):10.1f} {median:11.1f} {share}")
    turns.clear()
    warm, read = kept_bytes(messages, 4), kept_bytes(messages, len(messages))
    rows.append({"items": items, "system": "chatfold kept", "bytes": warm, "bytes_read": read})
    print(f"\nkept beside the list: {warm:,.0f} bytes an item; {read:,.0f} where asked once")
    print(flush=True)
    return rows


def main() -> None:
    """Print a table for each length, and write all rows as JSON where a file is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--items", type=at_least(SHORTEST), nargs="+", default=[*SIZES])
    parser.add_argument("--rounds", type=at_least(1), default=30)
    parser.add_argument("--json", type=output, help="file for the rows")
    options = parser.parse_args()
    rows = [row for items in options.items for row in report(items, options.rounds)]
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
