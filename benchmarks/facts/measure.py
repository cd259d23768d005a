"""From histories to the figures of the table: what each system kept of what was needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chatfold import ChatContext

from .case import Case, Folded, System
from .gold import Item, needed, points, prefix_length, values_in_prompt, values_of

ROOMS = (0.02, 0.05, 0.10)
"""Room for a summary, as parts of the head."""

TAIL = 0.15
"""The tail that every system is asked for, as a part of the tokens."""

POINTS = (0.5, 0.75)
"""Where a history is folded, as parts of its tokens."""

LEAST_ROOM = 64
"""Tokens that every summary may have: in fewer there is no room for one fact with its name."""

LEAST_HEAD = 1000
"""Tokens of a head below which a point is left out."""


@dataclass(slots=True)
class Row:
    """What a system kept, summed over cases, at one size of the summary.

    Attributes:
        folds: Number of cases.
        facts: Needed facts.
        kept: Those that stand in the summary or in what was kept.
        hard: Needed facts that the tail does not hold.
        hard_kept: Those of them that were kept.
        reachable: Needed facts that the summarizer was shown, or that were kept.
        tokens: Tokens of summary and kept messages, the leading instructions left out.
        whole: Tokens of the messages before the fold.
        missed: What was not kept.
    """

    folds: int = 0
    facts: int = 0
    kept: int = 0
    hard: int = 0
    hard_kept: int = 0
    reachable: int = 0
    tokens: int = 0
    whole: int = 0
    missed: list[str] = field(default_factory=list)

    def __add__(self, other: Row) -> Row:
        return Row(
            self.folds + other.folds,
            self.facts + other.facts,
            self.kept + other.kept,
            self.hard + other.hard,
            self.hard_kept + other.hard_kept,
            self.reachable + other.reachable,
            self.tokens + other.tokens,
            self.whole + other.whole,
            [*self.missed, *other.missed],
        )

    @property
    def share(self) -> float:
        """The needed facts that were kept, from 0 to 1."""
        return self.kept / max(self.facts, 1)

    @property
    def hard_share(self) -> float:
        """The same of those that the tail does not hold."""
        return self.hard_kept / max(self.hard, 1)

    @property
    def ceiling(self) -> float:
        """The needed facts that a perfect summary could have kept, from 0 to 1."""
        return self.reachable / max(self.facts, 1)

    @property
    def tokens_share(self) -> float:
        """What is left of the tokens, from 0 to 1."""
        return self.tokens / max(self.whole, 1)


def measure(
    histories: Iterable[Sequence[Item]], systems: Mapping[str, System]
) -> dict[tuple[str, float], Row]:
    """Return a row for every system and room."""
    rows = {(name, room): Row() for name in systems for room in ROOMS}
    for items in histories:
        for case, want in cases(items):
            for room in ROOMS:
                size = max(int(case.head_tokens * room), LEAST_ROOM)
                for name, fold in systems.items():
                    rows[name, room] += row_of(case, want, fold(case, size))
    return rows


def cases(items: Sequence[Item]) -> Iterator[tuple[Case, frozenset[str]]]:
    """Yield the points of a history where it is folded, with the facts needed afterwards."""
    sizes = [size_of(item) for item in items]
    start = prefix_length(items)
    for at in points(items, POINTS, sizes):
        want = needed(items, at)
        keep = int(TAIL * sum(sizes[start:at]))
        plan = ChatContext(list(items[:at])).plan(keep_tokens=keep)
        if want and plan.prompt is not None:
            case = Case(items[:at], sizes[:at], plan.index, keep)
            if case.head_tokens >= LEAST_HEAD:
                yield case, want


def row_of(case: Case, want: frozenset[str], folded: Folded) -> Row:
    """Return what one fold kept."""
    start = prefix_length(case.items)
    stay = values_of(case.items[i] for i in folded.kept)
    have = stay | values_in_prompt(folded.summary)
    hard = want - values_of(case.items[case.tail :])
    shown = "\n".join(message["content"] for message in folded.shown)
    summary = size_of({"role": "user", "content": folded.summary}) if folded.summary else 0
    return Row(
        folds=1,
        facts=len(want),
        kept=len(want & have),
        hard=len(hard),
        hard_kept=len(hard & have),
        reachable=len(want & (stay | values_in_prompt(shown))),
        tokens=sum(case.sizes[i] for i in folded.kept if i >= start) + summary,
        whole=sum(case.sizes[start:]),
        missed=sorted(want - have),
    )


def size_of(item: Item) -> int:
    """Return the tokens of a message."""
    return ChatContext([item], model="gpt-5").count_tokens().value
