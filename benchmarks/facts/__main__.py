"""Needed facts that survive a fold, against the tokens kept: chatfold beside other libraries.

    python -m venv peers && peers/bin/pip install '.[offline-tokens]' -r benchmarks/requirements.txt
    peers/bin/python -m benchmarks.facts

Every history is folded at half and at three quarters of its tokens, just before the assistant
speaks. What it needed from there on is told from the history itself (`gold`). All systems are asked
for the same tail (15 % of the tokens) and the same room for a summary (2, 5 and 10 % of the head);
where a system cannot count its tail in tokens, it is set to what comes nearest. One deterministic
writer stands in for the model of all of them (`systems`), so that the figures compare what each of
them shows to its summarizer and what it keeps, and not what a model makes of it.

The histories: real ones beside the checkout (`CHATFOLD_SHARED` names another place; left out where
there are none), and histories drawn from a seed (`generate`). Long ones have more than 50,000
tokens when they are folded, the others less.

The table shows, for every room: the share of the needed facts that stand in the summary or in what
was kept; the same of those that the tail does not hold; the tokens that are left, as a share of
those before. The leading instructions are not counted. `ceiling` is the share of the needed facts
that the summarizer was shown or that were kept: what no summary could bring back is missing from
it. The last line compares at equal tokens: by how many points chatfold's curve lies above another
one where it does so least. chatfold's curve goes through the points of two tails, since not every
system can keep the tail that it is asked for.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from benchmarks.arguments import at_least, output

from . import histories
from .case import System
from .generate import generated
from .gold import Item
from .measure import ROOMS, measure
from .systems import SYSTEMS
from .table import OURS, Rows, figures, leads, table, total
from .worlds import WORLDS

SHORT, LONG = 10_000, 110_000  # tokens; a long history has over 50,000 when it is half told


Histories: TypeAlias = Callable[[], list[list[Item]]]


def installed() -> dict[str, System]:
    """Return the systems that can run here, and say which cannot."""
    found: dict[str, System] = {}
    for name, (package, fold) in SYSTEMS.items():
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            print(f"left out: {name} ({package} is not installed)", file=sys.stderr)
        else:
            found[name] = fold
    return found


def classes(every: int, seeds: int) -> Iterator[tuple[str, bool, Histories]]:
    """Yield classes of histories: a name, whether they are long, and what makes them."""
    if histories.corpus_file().exists():
        yield "real", False, lambda: [items for _, items in histories.real(every)]
    else:
        print("left out: real histories (not found; set CHATFOLD_SHARED)", file=sys.stderr)
    for size in (SHORT, LONG):
        for world in WORLDS:
            title = f"{world.__name__}, {size:,} tokens"
            yield title, size == LONG, partial(generated, world, range(seeds), [size])


def show(title: str, rows: Rows, seconds: float, missed: int) -> None:
    """Print a class."""
    one = rows[OURS[0], ROOMS[0]]
    print(f"\n{title}: {one.folds} folds, {one.facts:,} needed facts, {one.hard:,} of them hard")
    print(table(rows))
    print(leads(rows))
    for room in ROOMS if missed else ():
        print(f"  lost at {room:.0%}: {', '.join(rows[OURS[0], room].missed[:missed])}")
    sys.stdout.flush()


def main() -> None:
    """Measure, print the tables, and write them as JSON if asked."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.facts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--every", type=at_least(1), default=1, help="take one real history in so many"
    )
    parser.add_argument(
        "--seeds", type=at_least(1), default=3, help="generated histories of each kind"
    )
    parser.add_argument("--only", default="", help="the classes whose name holds this")
    parser.add_argument(
        "--missed", type=at_least(0), default=0, help="show so many facts that were lost"
    )
    parser.add_argument("--json", type=output, help="write the figures here too")
    options = parser.parse_args()
    asked = list(classes(options.every, options.seeds))
    chosen = [each for each in asked if options.only in each[0]]
    if not chosen:
        names = ", ".join(repr(title) for title, _, _ in asked)
        parser.error(f"no class has {options.only!r} in its name; there are {names}")
    systems = installed()
    sizes: dict[bool, list[Rows]] = {False: [], True: []}
    written: dict[str, object] = {}
    for title, is_long, made in chosen:
        started = time.perf_counter()
        rows = measure(made(), systems)
        show(title, rows, time.perf_counter() - started, options.missed)
        sizes[is_long].append(rows)
        written[title] = figures(rows)
    for is_long, parts in sizes.items():
        if len(parts) > 1:
            title = f"all histories {'over' if is_long else 'under'} 50,000 tokens"
            show(title, total(parts), 0.0, 0)
            written[title] = figures(total(parts))
    if options.json is not None:
        options.json.write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
