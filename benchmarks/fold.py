"""Times one fold with a stub model: chatfold beside LangChain and LiveKit, in one run.

    python -m venv peers && peers/bin/pip install . -r benchmarks/requirements.txt
    peers/bin/python -m benchmarks.fold                      # 100, 1,000, 10,000, 100,000 items
    peers/bin/python -m benchmarks.fold --items 10000 --rounds 9
    peers/bin/python -m benchmarks.fold --items 4000 --real histories.jsonl

Each system gets the same conversation in its own message type, built before the clock starts. In
each round each of them folds a fresh list once, in turn, so that a machine that slows down slows
all of them. The tables show the best and the median time and the median's ratio to chatfold's
warm fold. `warm` is a context that was asked at each turn whether there is something to do, as
an agent's is; `read` is one that was asked once, with the whole list; `cold` is a new one. A
system that is not installed is left out, and said so.

What users say decides how long chatfold takes: in the made conversation they only ask. `--real`
folds real ones, as many whole histories of a file as give so many items, one behind the other.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.metadata
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chatfold import ChatContext
from chatfold.policy import Policy

if __package__:
    from .arguments import at_least, existing, output
else:  # python benchmarks/fold.py
    from arguments import at_least, existing, output

_LOOP = asyncio.new_event_loop()  # an agent's loop runs: to start one is no part of a fold

SIZES = (100, 1_000, 10_000, 100_000)
SHORTEST = 20  # items; all of fewer ones are within what is to be kept

SUMMARY = "The user asked for the state of orders, and each was looked up and answered."


def conversation(items: int) -> list[dict[str, Any]]:
    """Return Chat Completions messages: turns of a question, a tool call, its result, an answer."""
    made: list[dict[str, Any]] = [{"role": "system", "content": "You are a support agent."}]
    turn = 0
    while len(made) < items:
        turn += 1
        order = f"LK-{4_000_000 + turn}"
        arguments = json.dumps({"order_number": order, "with_history": True})
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {"name": "lookup_order", "arguments": arguments},
        }
        result = {
            "order_number": order,
            "status": "delivered",
            "delivered_on": f"2026-{turn % 12 + 1:02}-{turn % 28 + 1:02}",
            "total": f"{turn % 900 + 19}.90 EUR",
            "note": "left with the neighbour <second floor> & signed",
        }
        made += [
            {"role": "user", "content": f"Where is my order {order}? It was to come last week."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": json.dumps(result)},
            {"role": "assistant", "content": f"Order {order} was delivered. Anything else?"},
        ]
    return made[:items] if made[items - 1]["role"] == "assistant" else made


def real_conversation(path: Path, items: int) -> list[dict[str, Any]]:
    """Return whole histories of a file one behind the other, at least so many messages of them.

    System prompts and histories that hold anything but text are left out, calls get ids of their
    own, and the last message is an answer.

    Args:
        path: One JSON object a line, with Chat Completions messages under `items`.
        items: Number of messages.
    """
    made: list[dict[str, Any]] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            history = [item for item in json.loads(line)["items"] if item["role"] != "system"]
            if not all(isinstance(item["content"] or "", str) for item in history):
                continue
            for item in history:
                for call in item.get("tool_calls") or ():
                    call["id"] += f"-{number}"
                if item["role"] == "tool":
                    item["tool_call_id"] += f"-{number}"
            while history and (history[-1]["role"] != "assistant" or history[-1].get("tool_calls")):
                history.pop()
            made += history
            if len(made) >= items:
                return made
    raise SystemExit(f"{path} holds {len(made):,} messages that can be joined; --items {items:,}")


def chatfold_warm(messages: list[dict[str, Any]]) -> Callable[[], None]:
    """Return one fold by a context that was asked at each turn of its list, and never folded."""
    items: list[dict[str, Any]] = []
    context = ChatContext(items, policy=Policy(max_tokens=1_000_000_000))
    for start in range(0, len(messages), 4):
        items.extend(messages[start : start + 4])
        context.maybe_summarize(lambda prompt: SUMMARY)
    return _fold_by(context)


def chatfold_read(messages: list[dict[str, Any]]) -> Callable[[], None]:
    """Return one fold by a context that was asked once, with the whole list."""
    context = ChatContext(list(messages), policy=Policy(max_tokens=1_000_000_000))
    context.maybe_summarize(lambda prompt: SUMMARY)
    return _fold_by(context)


def _fold_by(context: ChatContext[dict[str, Any]]) -> Callable[[], None]:
    def run() -> None:
        outcome = context.summarize(lambda prompt: SUMMARY, keep_last_turns=4)
        assert outcome.changed, outcome

    return run


def chatfold_cold(messages: list[dict[str, Any]]) -> Callable[[], None]:
    """Return one fold by a new context."""
    items = list(messages)

    def run() -> None:
        outcome = ChatContext(items).summarize(lambda prompt: SUMMARY, keep_last_turns=4)
        assert outcome.changed, outcome

    return run


def langchain_fold(messages: list[dict[str, Any]], trim: int | None) -> Callable[[], None]:
    """Return one run of LangChain's middleware; `trim` is its limit on what the model is shown."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages

    middleware: Any = SummarizationMiddleware(
        model=FakeListChatModel(responses=[SUMMARY]),
        trigger=("messages", 10),
        keep=("messages", 16),
        trim_tokens_to_summarize=trim,
    )
    state = {"messages": convert_to_messages(messages)}
    for number, message in enumerate(state["messages"]):
        message.id = f"message-{number}"  # as an agent's have that were in its state before

    def run() -> None:
        assert middleware.before_model(state, None) is not None

    return run


def livekit_fold(messages: list[dict[str, Any]]) -> Callable[[], None]:
    """Return one run of LiveKit's `_summarize`."""
    from livekit.agents.llm import ChatContext as LiveKitContext
    from livekit.agents.llm import FunctionCall, FunctionCallOutput

    class Delta:
        content = SUMMARY

    class Chunk:
        delta = Delta()

    class Stream:
        async def __aenter__(self) -> Stream:
            return self

        async def __aexit__(self, *_: object) -> None:
            return None

        async def __aiter__(self) -> Any:
            yield Chunk()

    class Model:
        def chat(self, **_: object) -> Stream:
            return Stream()

    context: Any = LiveKitContext()
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            context.items.append(
                FunctionCall(
                    call_id=call["id"], name=function["name"], arguments=function["arguments"]
                )
            )
        if message["role"] == "tool":
            context.items.append(
                FunctionCallOutput(
                    call_id=message["tool_call_id"],
                    name="lookup_order",
                    output=message["content"],
                    is_error=False,
                )
            )
        elif message["content"] is not None:
            context.add_message(role=message["role"], content=message["content"])

    def run() -> None:
        before = len(context.items)
        _LOOP.run_until_complete(context._summarize(Model(), keep_last_turns=4))
        assert len(context.items) < before

    return run


SYSTEMS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], Callable[[], None]]]] = {
    "chatfold, warm": ("chatfold", chatfold_warm),
    "chatfold, read": ("chatfold", chatfold_read),
    "chatfold, cold": ("chatfold", chatfold_cold),
    "LangChain, as it comes (shows its model 4,000 tokens)": (
        "langchain",
        lambda messages: langchain_fold(messages, 4000),
    ),
    "LangChain, untrimmed": ("langchain", lambda messages: langchain_fold(messages, None)),
    "LiveKit": ("livekit-agents", livekit_fold),
}


def measure(messages: list[dict[str, Any]], rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each round, by system."""
    times: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        for name, (package, prepare) in SYSTEMS.items():
            try:
                importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                if number == 0:
                    print(f"left out: {name} ({package} is not installed)", file=sys.stderr)
                continue
            run = prepare(messages)
            gc.collect()
            started = time.perf_counter()
            run()
            if number:  # the first round warms caches and lazy imports
                times.setdefault(name, []).append((time.perf_counter() - started) * 1000)
    return times


def report(items: int, rounds: int, real: Path | None) -> list[dict[str, Any]]:
    """Measure folds of one length, print the table, and return its rows."""
    messages = conversation(items) if real is None else real_conversation(real, items)
    times = measure(messages, rounds)
    base = statistics.median(times["chatfold, warm"])
    items, what = len(messages), "" if real is None else "real "
    print(f"one fold of {items:,} {what}items with a stub model, {rounds} rounds\n")
    print(f"{'':54} {'best ms':>9} {'median ms':>10} {'ratio':>7}")
    rows: list[dict[str, Any]] = []
    for name, values in times.items():
        median = statistics.median(values)
        rows.append({"items": items, "system": name, "best_ms": min(values), "median_ms": median})
        print(f"{name:54} {min(values):9.1f} {median:10.1f} {median / base:7.2f}")
    print(flush=True)
    return rows


def main() -> None:
    """Measure, print the tables, and write them as JSON if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--items", type=at_least(SHORTEST), nargs="+", default=[*SIZES])
    parser.add_argument("--rounds", type=at_least(1), default=7)
    parser.add_argument("--real", type=existing, help="a file of real histories to fold instead")
    parser.add_argument("--json", type=output, help="write the figures here too")
    options = parser.parse_args()
    rows = [row for items in options.items for row in report(items, options.rounds, options.real)]
    if options.json is not None:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
