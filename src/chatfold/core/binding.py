"""Thinking that was signed over a list with a summary which was taken out again since.

Values from values; what a provider asks for where thinking is bound is known by its shape.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import islice

from chatfold.core.check import THINKING_BINDING, Requirement
from chatfold.core.reading import Snapshot
from chatfold.core.views import ItemView, ReasoningPart, SummaryPart

__all__ = ["parted_thinking", "thinking_prints"]

_MESSAGE = (
    "thinking that came behind a summary was signed over it, and undo() has taken it out; send "
    "these fields with every request while that thinking stays in the list"
)


def thinking_prints(snapshot: Snapshot, start: int = 0) -> frozenset[int]:
    """Return the fingerprints of the items that hold thinking, from an index on."""
    pairs = zip(snapshot.views, snapshot.prints, strict=True)
    return frozenset(
        own  # of every fold all items are asked: in one loop, without a call for each
        for view, own in islice(pairs, start, None)
        for part in view.parts
        if type(part) is ReasoningPart
    )


def parted_thinking(
    snapshot: Snapshot, signed: Collection[int], model: str | None
) -> list[Requirement]:
    """Return what a request with thinking has to carry whose summary was taken out.

    The provider's rule is that for thinking behind a summary: it is asked as if one were there.

    Args:
        snapshot: The list as it is now.
        signed: Fingerprints of the items whose thinking was signed over the summary.
        model: The agent's model.
    """
    at = [i for i, view in enumerate(snapshot.views) if _thinks(view)]
    at = [i for i in at if snapshot.prints[i] in signed]
    if not at:
        return []
    summary = ItemView("user", (SummaryPart(""),), "", snapshot.shape.name)
    views = [summary, *(snapshot.views[i] for i in at)]
    needed = snapshot.shape.requirements(views, model=model)
    return [
        replace(r, message=_MESSAGE, indices=tuple(at[i - 1] for i in r.indices))
        for r in needed
        if r.kind == THINKING_BINDING
    ]


def _thinks(view: ItemView) -> bool:
    return any(type(part) is ReasoningPart for part in view.parts)
