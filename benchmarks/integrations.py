"""The adversarial conversations in the frameworks: chatfold beside each one's own summarizer.

    pip install -e ".[test,langchain,livekit,openai-agents]"
    python -m benchmarks.integrations                      # all that are installed: two minutes
    python -m benchmarks.integrations --frameworks livekit --notes

Runs in one environment, on the frameworks' own items, at every number of turns or messages to keep
and many of tokens; a stand-in answers for the models. What is judged stands in
`tests/integrations/battery.py`. Exits with 1 where a fold of chatfold's is not clean.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import importlib.util
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .tables import Table

PACKAGES = {
    "livekit": "livekit-agents",
    "langchain": "langchain",
    "openai_agents": "openai-agents",
}


def table(rows: Sequence[Any], groups: Sequence[str]) -> Table:
    """Return one row for each way to fold."""
    columns = {"": "", "runs": "d", "folded": "d"}
    columns |= {f"broken: {group}": "" for group in groups}
    made = Table(
        "the adversarial conversations, in the frameworks",
        {**columns, "refused": "d", "lost": "d", "break-outs": "d"},
        notes=[
            "broken: folds after which a call has no result or a result no call, of those made.",
            "refused: folds whose request breaks a rule of the provider that it kept unfolded.",
            "lost: folds after which something is neither in the list nor was in a prompt.",
            "break-outs: folds whose prompt holds forged tags as they stood; - where the",
            "summarizer is sent items, not text.",
        ],
    )
    for row in rows:
        broken = [f"{row.broken[group]}/{row.folded[group]}" for group in groups]
        made.rows.append(
            [row.name, row.runs, row.folded.total(), *broken, row.refused, row.lost, row.broke_out]
        )
    return made


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _rows(battery: Any, names: Sequence[str]) -> Iterator[Any]:
    for name in names:
        if not _installed(battery.FRAMEWORKS[name]):
            print(f"left out: {name}: {PACKAGES[name]} is not installed", file=sys.stderr)
            continue
        print(f"{PACKAGES[name]} {importlib.metadata.version(PACKAGES[name])}", flush=True)
        for system in battery.systems(name):
            yield asyncio.run(battery.counted(system))


def main() -> None:
    """Run what is installed, and print the table."""
    tests = str(Path(__file__).resolve().parents[1] / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    from integrations import battery

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.integrations",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--frameworks", nargs="+", choices=PACKAGES, default=list(PACKAGES))
    parser.add_argument("--notes", action="store_true", help="which conversations it was")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    rows = list(_rows(battery, options.frameworks))
    print("", table(rows, battery.GROUPS), sep="\n")
    if options.notes:
        for row in rows:
            print(f"\n{row.name}:", *(f"  {note} {n}" for note, n in row.notes.items()), sep="\n")
    if not all(row.clean for row in rows if not row.own):
        sys.exit(1)


if __name__ == "__main__":
    main()
