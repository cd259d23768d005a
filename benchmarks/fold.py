"""Times one fold with a stub model: chatfold beside LangChain and LiveKit, in one run.

    python -m venv peers && peers/bin/pip install . -r benchmarks/requirements.txt
    peers/bin/python -m benchmarks.fold                      # 100, 1,000, 10,000, 100,000 items
    peers/bin/python -m benchmarks.fold --items 10000 --rounds 9

Each system gets the same conversation in its own message type, built before the clock starts. In
each round each of them folds a fresh list once, in turn, so that a machine that slows down slows
all of them. The tables show the best and the median time and the median's ratio to chatfold's
warm fold. `warm` is a context that was asked at each turn whether there is something to do, as
an agent's is; `read` is one that was asked once, with the whole list; `cold` is a new one. A
system that is not installed is left out, and said so.
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
from typing import Any

from chatfold import ChatContext
from chatfold.policy import Policy

if __package__:
    from .arguments import at_least, output
else:  # python benchmarks/fold.py
    from arguments import at_least, output

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
        for call in message.get("tool_calls", ()):
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


def measure(items: int, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each round, by system."""
    messages = conversation(items)
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


def report(items: int, rounds: int) -> list[dict[str, Any]]:
    """Measure folds of one length, print the table, and return its rows."""
    times = measure(items, rounds)
    base = statistics.median(times["chatfold, warm"])
    print(f"one fold of {items:,} items with a stub model, {rounds} rounds\n")
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
    parser.add_argument("--json", type=output, help="write the figures here too")
    options = parser.parse_args()
    rows = [row for items in options.items for row in report(items, options.rounds)]
    if options.json is not None:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
