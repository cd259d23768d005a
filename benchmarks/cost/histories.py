"""Histories that are long enough: generated ones, and real ones one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.facts.generate import generated
from benchmarks.facts.gold import prefix_length
from benchmarks.facts.histories import corpus_file, real
from benchmarks.facts.worlds import WORLDS

from .session import Item, size_of

SIZES = (75_000, 150_000, 300_000)
"""Tokens of a generated history: the shorter, the less of it is behind the first fold."""

IN_A_ROW = 150_000
"""Tokens of a session of real tasks."""

LEAST_TASKS = 4
_SOURCES = 4


class Group(NamedTuple):
    """Histories of one kind."""

    name: str
    histories: Sequence[Sequence[Item]]


def groups(seeds: int, sizes: Sequence[int] = SIZES) -> Iterator[Group]:
    """Yield the histories: a group for each size, and one of real tasks if there are any.

    Args:
        seeds: Number of generated histories of each world and size.
        sizes: Tokens of a history.
    """
    for size in sizes:
        written = [h for world in WORLDS for h in generated(world, range(seeds), [size])]
        yield Group(f"generated, of {size:,} tokens", written)
    if corpus_file().is_file():
        rows = list(in_a_row(IN_A_ROW, _SOURCES * seeds))
        yield Group(f"real tasks in a row, to {IN_A_ROW:,} tokens", rows)


def in_a_row(tokens: int, most: int) -> Iterator[list[Item]]:
    """Yield sessions of one agent that does real tasks one after another.

    No single history of the corpus is long enough. The instructions are those of the first task.

    Args:
        tokens: Tokens of a session.
        most: Number of sessions; of every source at least one, where it has enough.
    """
    by_source: dict[str, list[list[Item]]] = {}
    for source, items in real():
        by_source.setdefault(source, []).append(items)
    waiting = [iter(tasks) for _, tasks in sorted(by_source.items())]
    made = 0
    while waiting and made < most:
        for tasks in list(waiting):
            session = _session(tasks, tokens)
            if session is None:
                waiting.remove(tasks)
            elif made < most:
                made += 1
                yield session


def _session(tasks: Iterator[list[Item]], tokens: int) -> list[Item] | None:
    """Return one session of the next tasks, or None where they are too few."""
    items: list[Item] = []
    size = 0
    for count, task in enumerate(tasks, 1):
        start = 0 if not items else prefix_length(task)
        items += task[start:]
        size += sum(map(size_of, task[start:]))
        if size >= tokens:
            return items if count >= LEAST_TASKS else None
    return None
