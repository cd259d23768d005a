"""The histories that a small model is asked about: short heads, and many facts needed later."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest

from benchmarks.facts import histories
from benchmarks.facts.case import Case
from benchmarks.facts.gold import Item, needed, values_of
from benchmarks.facts.measure import TAIL, size_of
from benchmarks.facts.worlds import WORLDS
from chatfold import ChatContext

HISTORIES = 20
SMALLEST, LARGEST = 500, 700  # tokens of a head
FEWEST = 3  # needed facts that only a summary can save
SEEDS = 12  # histories drawn of every world


@dataclass(frozen=True, slots=True)
class Task:
    """A history, folded at one point.

    Attributes:
        name: Names the history.
        case: The history up to the point.
        want: The facts needed afterwards that the tail does not hold.
    """

    name: str
    case: Case
    want: frozenset[str]


def tasks(limit: int, tuning: bool = False) -> list[Task]:
    """Return the histories: real and generated ones in turn, those with the most facts first.

    Args:
        limit: How many at most.
        tuning: Return others, to try prompts on.
    """
    half = limit // 2
    real = _others(_best(_real()))[half * tuning : half * (1 + tuning)]
    generated = _in_turn(drawn(SEEDS * tuning), limit - len(real))
    return [task for pair in zip_longest(real, generated) for task in pair if task is not None]


def _best(found: Iterable[Task], limit: int | None = None) -> list[Task]:
    return sorted(found, key=lambda task: (-len(task.want), task.name))[:limit]


def _others(found: Iterable[Task]) -> list[Task]:
    """Return those that are about something else than each before: several may be of one matter."""
    chosen: list[Task] = []
    for task in found:
        if all(2 * len(task.want & other.want) < len(task.want) for other in chosen):
            chosen.append(task)
    return chosen


def _in_turn(found: Iterable[Task], limit: int) -> list[Task]:
    """Return one of every world, the next of every world, and so on."""
    worlds: dict[str, list[Task]] = {}
    for task in found:
        worlds.setdefault(task.name.split()[0], []).append(task)
    rounds = zip_longest(*worlds.values())
    return [task for each in rounds for task in each if task is not None][:limit]


def _real() -> Iterator[Task]:
    if histories.corpus_file().exists():
        for number, (_, items) in enumerate(histories.real()):
            yield from _task(f"real {number}", items)


def drawn(first: int = 0) -> Iterator[Task]:
    """Yield points of generated histories, of every world the best.

    Args:
        first: The first seed.
    """
    for world in WORLDS:
        named = [f"{world.__name__} {seed}" for seed in range(first, first + SEEDS)]
        found = (_task(name, world(random.Random(name), 2 * LARGEST)) for name in named)
        yield from _best(chain.from_iterable(found), -(-HISTORIES // len(WORLDS)))


def _task(name: str, items: list[Item]) -> Iterator[Task]:
    """Yield the point of a history from where most facts were needed, if there is one."""
    sizes = [size_of(item) for item in items]
    best: Task | None = None
    for at in range(4, len(items)):
        if items[at]["role"] != "assistant" or sum(sizes[1:at]) > 2 * LARGEST:
            continue
        keep = int(TAIL * sum(sizes[1:at]))
        plan = ChatContext(list(items[:at])).plan(keep_tokens=keep)
        case = Case(items[:at], sizes[:at], plan.index, keep)
        if plan.prompt is None or not SMALLEST <= case.head_tokens <= LARGEST:
            continue
        want = needed(items, at) - values_of(items[plan.index : at])
        if len(want) >= max(FEWEST, len(best.want) + 1 if best else 0):
            best = Task(name, case, want)
    if best is not None:
        yield best
