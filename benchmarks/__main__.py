"""Runs the benchmarks: chatfold beside other libraries, each in an environment of its own.

    python -m benchmarks                               # all parts: some hours
    python -m benchmarks --quick                       # all parts, on samples: ten minutes
    python -m benchmarks --parts cost --peers langchain pipecat --environments ~/peers

The environments are built from `benchmarks/requirements/` where they are missing. Tables are
printed as they are made; with `--out DIRECTORY` they are written as JSON, too, with versions, date
and command, and as figures where matplotlib is installed (extra `benchmarks`).
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from . import timing, validity
from .arguments import directory
from .cost import histories, systems
from .cost import table as cost
from .environments import PEERS, build
from .facts.histories import corpus_file, real
from .figures import cost_figure, time_figure
from .fold import SIZES
from .tables import Table
from .workers import PeerError, Worker, close_all

MANY = 10_000
"""Items above which fewer rounds are timed: some take minutes for one."""

FEW = 1_000
"""Items below which more are: a fold takes a millisecond, more at one time and less at another."""

Part = Callable[[list[Worker], bool], Iterator[Table]]


def validity_part(workers: list[Worker], quick: bool) -> Iterator[Table]:
    """Yield the table of invalid results; none where there are no real histories."""
    if not corpus_file().is_file():
        print(f"left out: validity, as there are no real histories at {corpus_file()}")
        return
    yield validity.table([items for _, items in real(every=12 if quick else 1)], workers)


def cost_part(workers: list[Worker], quick: bool) -> Iterator[Table]:
    """Yield the tables of cost and cache."""
    if not corpus_file().is_file():
        print(f"left out: real tasks in a row, as there are none at {corpus_file()}")
    compared = systems.OWN | systems.peers(workers)
    sizes = histories.SIZES[:2] if quick else histories.SIZES
    yield from cost.tables(histories.groups(1 if quick else 3, sizes), compared)


def time_part(workers: list[Worker], quick: bool) -> Iterator[Table]:
    """Yield the tables of time and memory."""
    own = Worker("chatfold", Path(sys.executable))
    try:
        for items in SIZES[:3] if quick else SIZES:
            rounds = 3 if quick or items > MANY else 7
            folds = 50 if items < FEW and not quick else rounds
            yield timing.table(items, folds, [own, *workers])
            yield timing.turns(items, rounds, [own, *workers])
    finally:
        own.close()


PARTS: dict[str, Part] = {"validity": validity_part, "cost": cost_part, "time": time_part}
FIGURES = {"cost": cost_figure, "time": time_figure}


def main() -> None:
    """Build the environments, run the parts, print and write the tables."""
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        directory = options.environments or Path(scratch)
        workers = list(_workers(directory.expanduser().resolve(), options.peers))
        try:
            head = _head(workers)
            print(*(f"{key}: {value}" for key, value in head.items()), sep="\n", end="\n\n")
            for name in options.parts:
                _run(name, workers, options, head)
        finally:
            close_all(workers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--quick", action="store_true", help="samples, and no 100,000 items")
    parser.add_argument(
        "--environments", type=Path, help="where they are built, and found the next time"
    )
    parser.add_argument("--out", type=directory, help="directory for JSON and figures")
    return parser.parse_args()


def _workers(directory: Path, names: Sequence[str]) -> Iterator[Worker]:
    """Yield the other libraries; one that cannot be installed or loaded is left out, and told."""
    for name in names:
        try:
            yield Worker(name, build(directory, name))
        except (PeerError, RuntimeError) as error:
            print(f"left out: {name}: {error}", file=sys.stderr, flush=True)


def _head(workers: Sequence[Worker]) -> dict[str, str]:
    """Return what belongs to every result: date, machine, versions, command."""
    versions = {"chatfold": importlib.metadata.version("chatfold")}
    versions |= {worker.name: worker.version for worker in workers}
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"Python {platform.python_version()}, {os.cpu_count()} cores",
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "command": " ".join(["python -m benchmarks", *sys.argv[1:]]),
    }


def _run(
    name: str, workers: list[Worker], options: argparse.Namespace, head: dict[str, str]
) -> None:
    """Run one part; write what it made, if asked."""
    made: list[Table] = []
    for table in PARTS[name](workers, options.quick):
        made.append(table)
        print(table, end="\n\n", flush=True)
    if options.out is None or not made:
        return
    written: dict[str, Any] = {**head, "tables": [table.as_json() for table in made]}
    path = options.out / f"{name}.json"
    path.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    if name not in FIGURES:
        return
    if importlib.util.find_spec("matplotlib") is None:
        print("no figure: matplotlib is not installed (extra: benchmarks)", file=sys.stderr)
    else:
        FIGURES[name](made, options.out / f"{name}.png")


if __name__ == "__main__":
    main()
