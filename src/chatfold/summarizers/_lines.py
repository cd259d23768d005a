"""Lines of an extractive summary, and the pieces that each is made of.

A line is a message, a call with its result, or a line of the last summary; its pieces are kept or
left out one by one. Not here: where lines come from (`_reader`), what is kept (`extractive`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from chatfold.summarizers._pieces import GAP, Path, Piece, estimate_tokens, values_in

__all__ = ["ASSISTANT", "CALLS", "EARLIER", "NOTHING", "SECTIONS", "USER", "Leaf", "Line"]

EARLIER, USER, ASSISTANT = "Earlier:", "User said:", "Assistant said:"
CALLS = "Tool calls (excerpts):"
SECTIONS = (EARLIER, USER, CALLS, ASSISTANT)
"""The headings, in the order in which they are written."""

NOTHING = "Nothing readable was said or done."
"""What is written of items without any words."""


class Leaf:
    """A piece that may be kept: the smallest unit of choice.

    Attributes:
        text: Its words; "" for what a call line says of itself.
        path: Where it stands in a JSON document.
        side: Whose word it is: user, assistant, argument, result, carried or call.
        base: What it is worth beyond the values in it.
        must: Whether it is looked at before all others.
        values: The ids, dates, numbers and addresses in it.
        key: What makes a second writing of the same fact superfluous.
        cost: Its size in tokens, by estimate.
        steps: The keys above it, with what writing each costs.
        order: Its place in the line.
        kept: Whether it is kept.
    """

    __slots__ = (
        "base", "cost", "kept", "key", "must", "order", "path", "side", "steps", "text", "values",
    )  # fmt: skip

    def __init__(self, order: int, piece: Piece, base: float, side: str, must: bool) -> None:
        self.text = text = piece.text
        self.path: Path = piece.path
        self.side = side
        self.base = base if text != GAP else 0.0
        self.must = must
        named = [step for step in piece.path[-2:] if isinstance(step, str)]
        self.values = values_in(" ".join((*named, text)) if named else text)
        self.key = f"{named[-1]}: {text}" if named else text
        self.cost = estimate_tokens(text) + 1
        self.steps: list[tuple[Path, int]] = [
            ((side, *piece.path[: n + 1]), 2 + len(step) // 5 if isinstance(step, str) else 1)
            for n, step in enumerate(piece.path)
        ]
        self.order = order
        self.kept = False


class Line:
    """A line that may be written.

    Attributes:
        section: The heading that it stands under.
        source: Where it comes from: user, assistant, result, handoff or carried.
        age: Number of items between it and the end of the head.
        call: The call's name; None where the line is no call.
        outcome: What became of the call.
        author: What stands before the words of a message.
        leaves: Its pieces, in order.
        shown: The keys that are written already; empty while the line is not opened.
        cost: Size in tokens of what is written once.
    """

    __slots__ = (
        "age", "author", "call", "cost", "leaves", "outcome", "section", "shown", "source",
    )  # fmt: skip

    def __init__(
        self, section: str, source: str, age: int, *, call: str | None = None, outcome: str = ""
    ) -> None:
        self.section = section
        self.source = source
        self.age = age
        self.call = call
        self.outcome = outcome
        self.author = ""
        self.leaves: list[Leaf] = []
        self.shown: set[Path] = set()
        self.cost = 3 if call is None else 2 + estimate_tokens(f"{call}() -> {outcome}")

    def add(self, piece: Piece, base: float, side: str = "", *, must: bool = False) -> None:
        """Add a piece."""
        self.leaves.append(Leaf(len(self.leaves), piece, base, side or self.source, must))

    def written(self) -> str:
        """Return the line with the pieces that are kept, "" where none is."""
        kept = [leaf for leaf in self.leaves if leaf.kept]
        if not kept:
            return ""
        if self.call is None:
            return f"- {self.author}{self._words(kept)}"
        arguments = _tree([leaf for leaf in kept if leaf.side == "argument"], "=")
        facts = _tree([leaf for leaf in kept if leaf.side == "result"], ": ")
        shown = f"{self.call}({arguments})" if arguments else self.call
        if not facts:
            return f"- {shown} -> {self.outcome}"
        return f"- {shown} -> {'' if self.outcome == 'done' else self.outcome + ': '}{facts}"

    def _words(self, kept: Sequence[Leaf]) -> str:
        """Return pieces of one text, with a gap wherever something is missing."""
        out: list[str] = []
        last = -1
        for leaf in kept:
            if leaf.order != last + 1 and not (out and out[-1].endswith(GAP)):
                out.append(GAP)
            out.append(leaf.text)
            last = leaf.order
        if last < len(self.leaves) - 1 and not out[-1].endswith(GAP):
            out.append(GAP)
        return " ".join(out)


def _tree(leaves: Sequence[Leaf], equals: str, depth: int = 0) -> str:
    """Return the kept values of a document under their keys, each key written once."""
    out: list[str] = []
    for step, run in groupby(leaves, lambda leaf: leaf.path[depth : depth + 1]):
        group = list(run)
        texts = [leaf.text for leaf in group if len(leaf.path) <= depth + 1]
        deeper = [leaf for leaf in group if len(leaf.path) > depth + 1]
        if deeper:
            inner = _tree(deeper, ": ", depth + 1)
            listed = isinstance(deeper[0].path[depth + 1], int)
            texts.append(f"[{inner}]" if listed else f"{{{inner}}}")
        text = f" {GAP} ".join(texts)
        out.append(f"{step[0]}{equals}{text}" if step and isinstance(step[0], str) else text)
    return "; ".join(out)
