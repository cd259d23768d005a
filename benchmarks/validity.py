"""Folds that the provider would refuse: every system over the same histories, judged from outside.

The judge is `tests/validator.py`, which knows the provider's rules and nothing of chatfold.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from chatfold import ChatContext

from .facts.gold import prefix_length
from .tables import Table
from .workers import PeerError, Worker

Item: TypeAlias = dict[str, Any]
Entry: TypeAlias = int | Item

SUMMARY = "What was asked for was looked up and answered."
FOLDS = 3
KEPT_MESSAGES = (1, 2, 4, 10, 20)
KEPT_TURNS = (0, 1, 2, 5)
KEPT_TOKENS = (200, 1_000, 4_000)


class Case(NamedTuple):
    """A list that is folded, and what comes after the fold.

    Attributes:
        kind: Why it is tried.
        items: The list.
        later: What is appended afterwards: the results of calls that were open.
        grown: Lengths at which it is folded as it grows; none stands for once, when it is whole.
    """

    kind: str
    items: Sequence[Item]
    later: Sequence[Item] = ()
    grown: Sequence[int] = ()

    def pieces(self) -> Iterator[range]:
        """Yield the indices of what comes before each of the folds."""
        start = 0
        for stop in self.grown or (len(self.items),):
            yield range(start, stop)
            start = stop


Fold: TypeAlias = Callable[[Case], Iterator[Sequence[Entry] | None]]
"""Folds a case at every limit of its grid; yields what is left, None where nothing was folded."""


@dataclass(slots=True)
class Count:
    """What one system's folds came to."""

    runs: int = 0
    folds: int = 0
    invalid: int = 0
    kept: int = 0
    errors: int = 0
    rules: Counter[str] | None = None


def cases(histories: Iterable[Sequence[Item]]) -> Iterator[Case]:
    """Yield every history whole, half, up to an open call, without a result, and in three folds."""
    for items in histories:
        half = len(items) // 2
        yield Case("whole", items)
        if half > 2 and items[half]["role"] != "tool":
            yield Case("half", items[:half])
        for index in range(half, len(items)):
            if items[index].get("tool_calls"):
                stop = index + 1
                while stop < len(items) and items[stop]["role"] == "tool":
                    stop += 1
                yield Case("open call", items[: index + 1], items[index + 1 : stop])
                break
        lost = next((i for i in range(half) if items[i]["role"] == "tool"), None)
        if lost is not None:
            yield Case("result lost", [*items[:lost], *items[lost + 1 :]])
        if len(items) > 2 * FOLDS:
            grown = [len(items) * n // FOLDS for n in range(1, FOLDS + 1)]
            yield Case("three folds", items, grown=[_whole(items, stop) for stop in grown])


def _whole(items: Sequence[Item], stop: int) -> int:
    """Return the next place at or behind `stop` where no call waits for its result."""
    while stop < len(items) and items[stop]["role"] == "tool":
        stop += 1
    return stop


def by_chatfold(case: Case) -> Iterator[Sequence[Entry] | None]:
    """Fold by chatfold at its grid."""
    limits: list[dict[str, Any]] = [{"keep_last_turns": turns} for turns in KEPT_TURNS]
    limits += [{"keep_tokens": tokens} for tokens in KEPT_TOKENS]
    places = {id(item): index for index, item in enumerate(case.items)}
    for limit in limits:
        items: list[Item] = []
        context: ChatContext[Item] = ChatContext(items, shape="openai_chat")
        changed = False
        for piece in case.pieces():
            items.extend(case.items[piece.start : piece.stop])
            outcome = context.summarize(lambda _: SUMMARY, timeout=None, force=True, **limit)
            changed |= outcome.changed
        yield [places.get(id(item), item) for item in items] if changed else None


def by_peer(worker: Worker) -> Fold:
    """Return what folds by another library, at numbers of messages to keep."""

    def fold(case: Case) -> Iterator[Sequence[Entry] | None]:
        variant = next(v for v in worker.timed if v != "as it comes" or len(worker.timed) == 1)
        for keep in KEPT_MESSAGES:
            worker.ask("start", variant=variant, trigger=1, keep=1, keep_messages=keep)
            entries: list[Entry] = []
            for piece in case.pieces():
                new = [(index, case.items[index]) for index in piece]
                entries = worker.ask("fold", items=new)["entries"]
            yield entries if any(isinstance(entry, dict) for entry in entries) else None

    return fold


def table(histories: Sequence[Sequence[Item]], workers: Sequence[Worker]) -> Table:
    """Return the table: one row for every system."""
    made = Table(
        f"validity: {len(histories)} real histories, in five ways each",
        {"": "", "runs": "d", "folded": "d", "invalid": "d", "request kept": ".1%", "rules": ""},
        notes=[
            "invalid: the list breaks a rule of the provider that it kept before the fold.",
            "request kept: the user's latest message is there word for word after the fold.",
            f"chatfold at {len(KEPT_TURNS)} numbers of turns and {len(KEPT_TOKENS)} of tokens, the",
            f"others at {len(KEPT_MESSAGES)} of messages (LiveKit: half as many turns).",
        ],
    )
    systems: dict[str, Fold] = {"chatfold": by_chatfold}
    systems |= {worker.name: by_peer(worker) for worker in workers}
    for name, fold in systems.items():
        count = counted(cases(histories), fold, name)
        rules = ", ".join(f"{rule} {n}" for rule, n in (count.rules or Counter()).most_common(3))
        share = count.kept / count.folds if count.folds else None
        made.rows.append([name, count.runs, count.folds, count.invalid, share, rules])
    return made


def counted(given: Iterable[Case], fold: Fold, name: str) -> Count:
    """Return what came of a system's folds."""
    count = Count(rules=Counter())
    assert count.rules is not None
    for case in given:
        try:
            for entries in fold(case):
                count.runs += 1
                if entries is not None:
                    _judge(case, entries, count, count.rules)
        except PeerError as error:
            count.errors += 1
            if count.errors == 1:
                print(f"{name}: {error}", file=sys.stderr, flush=True)
    return count


def _judge(case: Case, entries: Sequence[Entry], count: Count, rules: Counter[str]) -> None:
    count.folds += 1
    left = [case.items[entry] if isinstance(entry, int) else entry for entry in entries]
    new = _errors([*left, *case.later]) - _errors([*case.items, *case.later])
    count.invalid += bool(new)
    rules.update(new.keys())
    start = prefix_length(case.items)
    users = [i for i, item in enumerate(case.items) if i >= start and item["role"] == "user"]
    count.kept += not users or users[-1] in entries


def _errors(items: list[Item]) -> Counter[str]:
    """Return the rules that a list breaks, each as often as it does."""
    tests = str(Path(__file__).resolve().parents[1] / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    from validator import validate

    return Counter(v.rule for v in validate(items, "openai_chat") if not v.open)
