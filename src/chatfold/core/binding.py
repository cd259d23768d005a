"""Thinking that was, or may have been, signed over something else than what stands before it now.

Values from values; what a provider asks for where thinking is bound is known by its shape.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeAlias

from chatfold.core.check import THINKING_BINDING, Requirement
from chatfold.core.snapshot import Snapshot
from chatfold.core.views import ItemView, ReasoningPart, Shape, SummaryPart

__all__ = [
    "Doubted",
    "binds_thinking",
    "doubted_thinking",
    "parted_thinking",
    "thinking_prints",
]

Doubted: TypeAlias = Callable[[int, Sequence[ItemView]], bool]
"""Returns of an index, and the readings there, whether thinking may be signed over another list."""

_PARTED = (
    "thinking was signed over something else than what stands before it now: a summary that undo() "
    "took out, what repair() mended, or a list to which something came while the model thought; "
    "send these fields with client.beta.messages.create while that thinking stays in the list"
)
_DOUBTED = (
    "the list goes out as the host has it, and thinking in it may have been signed over a summary "
    "that is not at hand: another call, process or run may have folded the list; send these fields "
    "with this request"
)


def thinking_prints(snapshot: Snapshot, start: int = 0) -> frozenset[int]:
    """Return the fingerprints of the items that hold thinking, from an index on."""
    thoughts, prints = snapshot.outline.thoughts, snapshot.prints
    return frozenset(prints[index] for index in thoughts[bisect_left(thoughts, start) :])


def parted_thinking(
    snapshot: Snapshot, signed: Collection[int], model: str | None
) -> list[Requirement]:
    """Return what a request with thinking has to carry that was signed over something else.

    Args:
        snapshot: The list as it is now.
        signed: Fingerprints of the items whose thinking was.
        model: The agent's model.
    """
    prints = snapshot.prints

    def is_signed(index: int) -> bool:
        return prints[index] in signed

    return _as_behind_a_summary(snapshot.shape, snapshot.views, is_signed, model, _PARTED)


def binds_thinking(shape: Shape, views: Sequence[ItemView], model: str | None) -> bool:
    """Return whether there is thinking in items that is signed over what stands before them."""
    return bool(_as_behind_a_summary(shape, views, lambda _: True, model, _PARTED))


def doubted_thinking(
    shape: Shape,
    views: Sequence[ItemView],
    is_doubted: Doubted,
    model: str | None,
) -> list[Requirement]:
    """Return what a request with thinking has to carry that may have been signed over a summary.

    Args:
        shape: The shape of the list.
        views: The readings of its items.
        is_doubted: Returns whether that may be so of the item at an index of these.
        model: The agent's model.
    """
    return _as_behind_a_summary(shape, views, lambda at: is_doubted(at, views), model, _DOUBTED)


def _as_behind_a_summary(
    shape: Shape,
    views: Sequence[ItemView],
    is_meant: Callable[[int], bool],
    model: str | None,
    message: str,
) -> list[Requirement]:
    """Return what thinking needs, by the provider's rule for such behind a summary.

    It is asked as if one were there.
    """
    thinks = [  # of long lists all items are asked: in one loop, without a call for each
        i for i, view in enumerate(views) for part in view.parts if type(part) is ReasoningPart
    ]
    at = [i for i in dict.fromkeys(thinks) if is_meant(i)]
    if not at:
        return []
    summary = ItemView("user", (SummaryPart(""),), "", shape.name)
    needed = shape.requirements([summary, *(views[i] for i in at)], model=model)
    return [
        replace(r, message=message, indices=tuple(at[i - 1] for i in r.indices))
        for r in needed
        if r.kind == THINKING_BINDING
    ]
