"""A voice agent that cannot wait: how long each of its turns spends in chatfold.

    python -m benchmarks.voice
    python -m benchmarks.voice --loop --turns 2000

A turn every 300 ms and a model that needs 5 s, both made shorter by the same factor; real threads
(or, with `--loop`, real tasks), real folds, a stub for the model. The user interrupts at random:
the answer is cut off, and the fold that is being written is given up. Measured is the wall time of
`maybe_summarize(background=True)`, once a turn; and halfway between two turns, as long as a usual
one takes, work of the standard library alone, which shows what the machine does to any program. At
the end every item has to be in the list or in the fold that took it out, in order, and every folded
list has to be sendable.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import sys
import time
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from chatfold import ChatContext, Prompt
from chatfold.core.plan import Reason
from chatfold.policy import Policy

from .arguments import at_least, output, positive

TURN, ANSWER = 0.3, 5.0  # seconds of the call that is simulated
PLACES = ("Lisbon", "Galway", "Bern", "Oslo", "Graz", "Turin", "Porto", "Ghent")
SUMMARY = (
    "The caller plans several trips and asks for fares and times. Fares were looked up with "
    "find_fare; nothing has been booked. Open: which of the trips to book."
)

REASONS = get_args(Reason)

Item = dict[str, Any]


def conversation(seed: int) -> Iterator[list[Item]]:
    """Yield what each turn adds to the list: speech, and every third time a call of a tool."""
    rng, number = random.Random(seed), 0
    while True:
        number += 1
        place, day, price = rng.choice(PLACES), rng.randint(1, 28), rng.randint(40, 900)
        said: list[Item] = [
            {
                "role": "user",
                "content": f"Uh, and what would it cost to go to {place} on the {day}th, for, "
                f"let me think, two people and one bag? That is my question number {number}.",
            }
        ]
        if number % 3 == 0:
            arguments = json.dumps({"to": place, "day": day, "people": 2})
            function = {"name": "find_fare", "arguments": arguments}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            found = {"to": place, "day": day, "price": f"{price}.90", "seats": rng.randint(1, 9)}
            said += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(found)},
            ]
        said.append(
            {
                "role": "assistant",
                "content": f"To {place} on the {day}th it is {price}.90 for the two of you, "
                "with one bag each. Shall I look at another day as well?",
            }
        )
        yield said


class Agent:
    """One call: its list, what of it has been folded, and how long each turn took."""

    def __init__(self, interrupted: float, seed: int) -> None:
        prompt: Item = {"role": "system", "content": "You sell train tickets by telephone."}
        self.ctx: ChatContext[Item] = ChatContext([prompt], policy=Policy.voice())
        self.took = {reason: array("d") for reason in REASONS}
        self.worked = {reason: array("d") for reason in REASONS}  # of that, on a processor
        self.late = array("d")  # how much later than wanted each turn began
        self.there: deque[Item] = deque()  # what was added and is in no summary
        self.faults: Counter[str] = Counter()
        self.cancelled = 0
        self._interrupted = interrupted
        self._rng = random.Random(seed + 1)
        self._turns = conversation(seed)

    def turn(self, llm: Any) -> None:
        """Do what one turn does; all but the one call that is timed is the host's."""
        said = next(self._turns)
        if self._rng.random() < self._interrupted:
            said[-1]["content"] = said[-1]["content"][:30] + " [interrupted]"
            fold = self.ctx.background
            if fold is not None and not fold.settled:
                self.cancelled += fold.cancel().reason == "cancelled"
        self.there += said
        self.ctx.extend(said)
        began, worked = time.perf_counter(), time.thread_time()
        outcome = self.ctx.maybe_summarize(llm, background=True)
        worked, ended = time.thread_time() - worked, time.perf_counter()
        self.took[outcome.reason].append(ended - began)
        self.worked[outcome.reason].append(worked)
        if outcome.error is not None:
            self.faults[type(outcome.error).__name__] += 1
        if outcome.changed:
            for item in outcome.removed:
                if self.there[0] is item:
                    self.there.popleft()
                elif not summary(item):
                    self.faults["removed out of order"] += 1
            # Not by `ctx`: it would read here what the next turn has to.
            found = ChatContext([*self.ctx.items]).check()
            self.faults.update(p.rule for p in found if p.severity == "error")
            self.faults["no summary"] += not summary(self.ctx.items[1])

    def lost(self) -> int:
        """Return how many items are neither in the list nor in a fold, or out of order."""
        here = [item for item in self.ctx.items[1:] if not summary(item)]
        same = sum(found is put for found, put in zip(here, self.there, strict=False))
        return max(len(here), len(self.there)) - same


class Yardstick:
    """Work of the standard library that takes about as long as a turn, and how long it took."""

    def __init__(self) -> None:
        self.took = array("d")
        turns = conversation(0)
        self._items = [item for _ in range(11) for item in next(turns)]

    def look(self) -> None:
        began = time.perf_counter()
        json.loads(json.dumps(self._items))
        self.took.append(time.perf_counter() - began)


def summary(item: Item) -> bool:
    return str(item["content"]).startswith("<chat_history_summary ")


def blocks() -> int:
    """Return how much Python holds, when everything that can go is gone."""
    gc.collect()
    return sys.getallocatedblocks()


def resident() -> float:
    """Return the megabytes that the process holds, 0 where the system does not say."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return 0.0
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def percentile(values: Iterable[float], share: float) -> float:
    """Return the milliseconds that a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000


class Memory:
    """What is held after each quarter of the turns, when no fold is being written."""

    def __init__(self, turns: int) -> None:
        self._at = [turns * n // 4 for n in (1, 2, 3, 4)]
        self.blocks: list[int] = []
        self.megabytes: list[float] = []

    def look(self, turn: int, agent: Agent) -> None:
        if self._at and turn >= self._at[0] and agent.ctx.background is None:
            del self._at[0]
            self.blocks.append(blocks())
            self.megabytes.append(resident())


def in_thread(agent: Agent, turns: int, speed: float, yardstick: Yardstick) -> Memory:
    """Run the call from sync code: folds are written by threads."""

    def model(prompt: Prompt) -> str:
        time.sleep(ANSWER / speed)
        return SUMMARY

    memory, due = Memory(turns), time.perf_counter()
    for number in range(turns):
        due += TURN / speed
        time.sleep(max(0.0, due - TURN / speed / 2 - time.perf_counter()))
        yardstick.look()
        time.sleep(max(0.0, due - time.perf_counter()))
        agent.late.append(max(0.0, time.perf_counter() - due))
        due = max(due, time.perf_counter() - TURN / speed)
        agent.turn(model)
        memory.look(number, agent)
    return memory


async def in_loop(agent: Agent, turns: int, speed: float, yardstick: Yardstick) -> Memory:
    """Run the call in an event loop: folds are written by tasks."""

    async def model(prompt: Prompt) -> str:
        await asyncio.sleep(ANSWER / speed)
        return SUMMARY

    memory, due = Memory(turns), time.perf_counter()
    for number in range(turns):
        due += TURN / speed
        await asyncio.sleep(max(0.0, due - TURN / speed / 2 - time.perf_counter()))
        yardstick.look()
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        agent.late.append(max(0.0, time.perf_counter() - due))
        due = max(due, time.perf_counter() - TURN / speed)
        agent.turn(model)
        memory.look(number, agent)
    return memory


SHARES = (0.5, 0.99, 0.999, 1)


def rows(title: str, times: dict[str, array[float]]) -> dict[str, Any]:
    """Print a part of the table, and return its figures."""
    print(f"{title:24} {'turns':>7} {'median':>9} {'99 %':>9} {'99.9 %':>9} {'longest':>9}  (ms)")
    every = array("d", (each for values in times.values() for each in values))
    figures: dict[str, Any] = {}
    for name, values in {"every turn": every, **times}.items():
        if values:
            found = [percentile(values, share) for share in SHARES]
            figures[name] = {"turns": len(values), "ms": found}
            print(f"  {name:22} {len(values):7,} " + " ".join(f"{each:9.3f}" for each in found))
    return figures


def report(agent: Agent, memory: Memory, seconds: float, yardstick: Yardstick) -> dict[str, Any]:
    """Print the table, and return its figures."""
    faults = dict(+agent.faults)
    figures = {
        "seconds": seconds,
        "took": rows("waited for chatfold", agent.took),
        "worked": rows("of that, on a processor", agent.worked),
        "late": rows("began late by", {"every turn": agent.late}),
        "yardstick": rows("as much of json alone", {"every turn": yardstick.took}),
        "given_up": agent.cancelled,
        "lost": agent.lost(),
        "faults": faults,
        "blocks": memory.blocks,
        "megabytes": memory.megabytes,
    }
    print(f"\nfolds given up at an interruption: {agent.cancelled}; items lost: {figures['lost']}")
    print(f"faults of folded lists, and errors: {faults or 'none'}")
    print(f"held after each quarter: {', '.join(f'{n:,}' for n in memory.blocks)} blocks")
    print(f"                         {', '.join(f'{n:.0f}' for n in memory.megabytes)} MB")
    return figures


def main() -> None:
    """Run the call, print the table, and write it as JSON if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--turns", type=at_least(1), default=10_000)
    parser.add_argument("--speed", type=positive, default=30.0, help="times as fast as real")
    parser.add_argument("--interrupted", type=float, default=0.03, help="share of the turns")
    parser.add_argument("--loop", action="store_true", help="in an event loop, not in threads")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=output, help="write the figures here too")
    options = parser.parse_args()
    agent, yardstick = Agent(options.interrupted, options.seed), Yardstick()
    began = time.perf_counter()
    if options.loop:
        memory = asyncio.run(in_loop(agent, options.turns, options.speed, yardstick))
    else:
        memory = in_thread(agent, options.turns, options.speed, yardstick)
    seconds = time.perf_counter() - began
    how = "an event loop" if options.loop else "threads"
    print(f"{options.turns:,} turns in {how}, {options.speed:g} times as fast as real\n")
    figures = report(agent, memory, seconds, yardstick)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
