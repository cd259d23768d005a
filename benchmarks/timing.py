"""One fold with a stub model, everything included but the model: time, and the peak of memory.

Every system is in a process of its own and has the same conversation in its own types before the
clock starts. In each round each of them folds once, in turn, so that a machine that slows down
slows all; each round begins with another, as whoever follows a long fold finds the processor's
caches empty. Before each of these folds garbage is collected, which empties the caches too: an
agent folds once in many turns, and has done other things since. The other extreme is a program that
does nothing but fold: `in a row` is the median of as many folds, one after the other, with garbage
collected when Python thinks so. Peaks are those of Python's own allocations during one fold
(`tracemalloc`), in runs of their own, as tracing slows them down.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .fold import conversation
from .tables import Table
from .workers import PeerError, Worker

BASE = "chatfold, warm"
_IN_A_ROW = 5
_OPTIONS: dict[str, Any] = {"trigger": 1, "keep": 1, "keep_messages": None}


@dataclass(slots=True)
class Row:
    """One way of one system."""

    worker: Worker
    variant: str
    milliseconds: list[float] = field(default_factory=list)
    in_a_row: float | None = None
    peak: int | None = None

    @property
    def name(self) -> str:
        """The name in the table."""
        return f"{self.worker.name}, {self.variant}"


def table(items: int, rounds: int, workers: Sequence[Worker]) -> Table:
    """Return the table of one length: a row for every system.

    Args:
        items: Messages of the conversation.
        rounds: Folds that are timed, after one that warms up.
        workers: chatfold and the other libraries.
    """
    rows = [Row(worker, variant) for worker in workers for variant in worker.timed]
    messages = conversation(items)
    for worker in workers:
        worker.ask("load", items=messages)
    for number in range(rounds + 1):
        first = number % max(1, len(rows))
        for row in [*rows[first:], *rows[:first]]:
            try:
                took = _run(row, traced=False)
            except PeerError as error:
                print(f"left out: {row.name}: {error}", file=sys.stderr, flush=True)
                rows.remove(row)
                continue
            if number:
                row.milliseconds.append(took)
    for row in rows:
        in_a_row = row.worker.ask("in_a_row", times=rounds, variant=row.variant, **_OPTIONS)
        row.in_a_row = statistics.median(in_a_row["ms"])
        row.peak = int(_run(row, traced=True))
    for worker in workers:
        worker.ask("load", items=[])
    return _written(f"one fold of {items:,} items with a stub model, {rounds} rounds", rows)


def turns(items: int, rounds: int, workers: Sequence[Worker]) -> Table:
    """Return the table of turns at which nothing is to be done: microseconds of every check.

    Args:
        items: Messages of the conversation; one more comes before each check, two before each of
            chatfold's middleware, which a host asks once a turn.
        rounds: How often each system has some checks in a row, as an agent's turns are.
        workers: chatfold and the other libraries.
    """
    messages = conversation(items)
    made = Table(
        f"one check of {items:,} items and one more, nothing to do, {rounds} rounds of {_IN_A_ROW}",
        {"": "", "best us": ".1f", "median us": ".1f", "of LangChain": ".5f"},
    )
    medians: dict[str, tuple[float, float]] = {}
    for place in range(max(len(worker.checked) for worker in workers)):
        asked = [worker for worker in workers if len(worker.checked) > place]
        for worker in asked:
            worker.ask("load", items=messages)
            worker.ask("begin", variant=worker.checked[place], **_OPTIONS)
        times: dict[str, list[float]] = {worker.name: [] for worker in asked}
        for _ in range(rounds):
            for worker in asked:
                times[worker.name] += (worker.ask("check")["us"] for _ in range(_IN_A_ROW))
        for worker in asked:
            took = times[worker.name]
            name = f"{worker.name}, {worker.checked[place]}"
            medians[name] = (min(took), statistics.median(took))
            worker.ask("end")
    base = next((m for name, (_, m) in medians.items() if name.startswith("langchain")), None)
    for name, (best, median) in medians.items():
        made.rows.append([name, best, median, median / base if base else None])
    return made


def _run(row: Row, *, traced: bool) -> float:
    answer = row.worker.ask("run", traced=traced, variant=row.variant, **_OPTIONS)
    if not answer["folded"]:
        raise PeerError("nothing was folded")
    return float(answer["bytes"] if traced else answer["ms"])


def _written(title: str, rows: Sequence[Row]) -> Table:
    times = {"best ms": ".2f", "median ms": ".2f", "ratio": ".2f", "in a row ms": ".2f"}
    columns = {"": "", **times, "peak MB": ".1f"}
    made = Table(title, columns, notes=[f"ratio: of the median, to {BASE}."])
    medians = {row.name: statistics.median(row.milliseconds) for row in rows}
    base = medians.get(BASE)
    for row in rows:
        median = medians[row.name]
        peak = None if row.peak is None else row.peak / 1e6
        ratio = median / base if base else None
        made.rows.append([row.name, min(row.milliseconds), median, ratio, row.in_a_row, peak])
    return made
