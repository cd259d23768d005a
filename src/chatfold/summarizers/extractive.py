"""The summarizer without a model: it copies what an agent is most likely to need again.

Deterministic, offline, linear in the head. Here is the choice: what a piece is worth, and which
pieces fit. Not here: what there is to choose from (`_reader`), how texts are cut (`_pieces`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import count, groupby
from math import exp
from typing import Final

from chatfold.core.flow import Completion, Usage
from chatfold.core.render import Prompt
from chatfold.summarizers._lines import NOTHING, Leaf, Line
from chatfold.summarizers._pieces import estimate_tokens, weight
from chatfold.summarizers._reader import read_lines

__all__ = ["Extractive"]


class Extractive:
    """Writes summaries without a model and without a network.

    A summary holds the user's requests and constraints, every call's outcome with the facts in
    its arguments and result, and what the assistant said, as lines under short headings. All of
    it is copied from the prompt's views and its previous summary, and equal prompts give equal
    summaries.

    Args:
        count: Returns the size of a text in tokens; by default an estimate that is seldom below
            that of o200k_base.

    Attributes:
        asks_model: That it asks none, for who counts the calls.
    """

    asks_model: Final = False

    def __init__(self, *, count: Callable[[str], int] = estimate_tokens) -> None:
        self.count = count

    def __repr__(self) -> str:
        return "Extractive()"

    def complete(self, prompt: Prompt) -> Completion:
        """Return a summary of at most `prompt.max_tokens` tokens.

        Its text is empty only where there are no items, or where not one line fits.
        """
        lines = read_lines(prompt)
        text = _Choice(lines, prompt.max_tokens, self.count).text()
        if not any(leaf.base for line in lines for leaf in line.leaves):
            said = prompt.views or prompt.previous_summary
            text = NOTHING if said and self.count(NOTHING) <= prompt.max_tokens else ""
        return Completion(text, "stop", Usage(), "extractive")

    async def acomplete(self, prompt: Prompt) -> Completion:
        """Return what `complete` returns; there is nothing to wait for."""
        return self.complete(prompt)


# Tuned on one half of a corpus of real histories, for values that were needed after a cut.
_MUST_SHARE, _MUST_LEAST = 0.25, 40  # of the budget, and in tokens: room for what must come first
_BY_SOURCES = (0.0, 0.55, 1.6, 2.6, 3.2, 3.6)  # worth of a value by the number of its sources
_ALONE = 1.7  # worth of a value that only the assistant, or only an argument, names
_OFTEN, _OFTEN_WORTH = 3, 1.3
_HEADING = 5  # tokens
_SAMPLE = 50  # pieces that the caller's tokens are compared with ours on
_REFILLS = 3  # attempts to use what the estimates left over


class _Choice:
    """Keeps the pieces that are worth most for their room."""

    def __init__(self, lines: Sequence[Line], budget: int, size: Callable[[str], int]) -> None:
        self.lines = lines
        # Not in the leaf: each line would then live until the next collection of cycles.
        self.line_of = {leaf: line for line in lines for leaf in line.leaves}
        self.budget = budget
        self.size = size
        self.left = 0
        self.kept: list[Leaf] = []
        self.covered: set[str] = set()
        self.sections: set[str] = set()
        self.worth = _worths(lines)
        self.unit = self._unit()

    def text(self) -> str:
        """Return the summary."""
        leaves = [*self.line_of]
        room = int(self.budget / self.unit)
        self.left = first = int(max(room * _MUST_SHARE, min(_MUST_LEAST, room / 2)))
        self._keep(leaf for leaf in leaves if leaf.must)
        self.left += room - first
        self._keep(leaves)
        text = self._written()
        for _ in range(_REFILLS):
            self.left = int((self.budget - self.size(text)) / self.unit)
            before = len(self.kept)
            if self.left > room // 50:
                self._keep(leaves)
            if len(self.kept) == before:
                break
            text = self._written()
        while self.kept and (over := self.size(text) - self.budget) > 0:
            while self.kept and over > 0:
                last = self.kept.pop()
                last.kept = False
                over -= int(last.cost * self.unit)
            text = self._written()
        return text

    def _unit(self) -> float:
        """Return how many of the caller's tokens an estimated one is."""
        if self.size is estimate_tokens:
            return 1.0
        texts = [leaf.text for line in self.lines for leaf in line.leaves[:_SAMPLE]]
        sample = " ".join(texts[:_SAMPLE])
        return max(self.size(sample), 1) / max(estimate_tokens(sample), 1)

    def _keep(self, leaves: Iterable[Leaf]) -> None:
        """Keep leaves by worth per token until nothing more fits."""
        ticket = count()  # decides between equals, so that leaves are never compared
        heap = [
            (-gain / self._cost(leaf), next(ticket), leaf)
            for leaf in leaves
            if not leaf.kept and (gain := self._gain(leaf)) > 0
        ]
        heapify(heap)
        while heap and self.left > 1:
            ratio, _, leaf = heappop(heap)
            cost = self._cost(leaf)
            if leaf.kept or cost > self.left:
                continue
            now = -self._gain(leaf) / cost
            if now > ratio + 1e-9:  # what it says has been said since
                if now < 0:
                    heappush(heap, (now, next(ticket), leaf))
                continue
            line = self.line_of[leaf]
            opened = bool(line.shown)
            self._take(leaf, cost)
            for other in line.leaves if not opened else ():  # they have become cheaper
                if not other.kept and (gain := self._gain(other)) > 0:
                    heappush(heap, (-gain / self._cost(other), next(ticket), other))

    def _take(self, leaf: Leaf, cost: int) -> None:
        line = self.line_of[leaf]
        leaf.kept = True
        self.left -= cost
        self.sections.add(line.section)
        self.covered.update(leaf.values)
        self.covered.add(leaf.key)
        line.shown.add(())
        line.shown.update(path for path, _ in leaf.steps)
        self.kept.append(leaf)

    def _gain(self, leaf: Leaf) -> float:
        """Return what a leaf adds to what is kept."""
        if leaf.text and leaf.key in self.covered:
            return 0.0
        gain = leaf.base
        for value in leaf.values:
            if value not in self.covered:
                gain += self.worth[value]
        return gain

    def _cost(self, leaf: Leaf) -> int:
        """Return the tokens that a leaf takes, with what must be written around it."""
        line = self.line_of[leaf]
        cost = leaf.cost
        if not line.shown:
            cost += line.cost
            if line.section not in self.sections:
                cost += _HEADING
        for path, step_cost in leaf.steps:
            if path not in line.shown:
                cost += step_cost
        return cost

    def _written(self) -> str:
        out: list[str] = []
        for section, run in groupby(self.lines, lambda line: line.section):
            written = dict.fromkeys(filter(None, (line.written() for line in run)))
            if written:
                out += [section, *written]
        return "\n".join(out)


def _worths(lines: Sequence[Line]) -> dict[str, float]:
    """Return the worth of every value: by its kind, who names it, how often and how lately."""
    sides: dict[str, set[str]] = {}
    times: dict[str, int] = {}
    ages: dict[str, int] = {}
    for line in lines:
        for leaf in line.leaves:
            for value in leaf.values:
                sides.setdefault(value, set()).add(leaf.side)
                times[value] = times.get(value, 0) + 1
                ages[value] = min(ages.get(value, line.age), line.age)
    oldest = max((line.age for line in lines), default=0) + 1
    worths: dict[str, float] = {}
    for value, named_by in sides.items():
        worth = weight(value) * _BY_SOURCES[min(len(named_by), 5)]
        if named_by in ({"assistant"}, {"argument"}):
            worth = weight(value) * _ALONE
        if times[value] > _OFTEN:
            worth *= _OFTEN_WORTH
        age = ages[value]
        worths[value] = worth * (0.45 + 0.33 * exp(-age / 10) + 0.22 * (1 - age / oldest))
    return worths
