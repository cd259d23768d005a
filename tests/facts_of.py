"""The facts of a whole list, read at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chatfold.core.calls import ToolCallRecord
from chatfold.core.facts import Fact, Facts
from chatfold.core.views import ItemView

__all__ = ["facts_of", "known"]


def facts_of(
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
    clean: Callable[[str], str] | None = None,
) -> list[Fact]:
    """Return the facts of items, in the order in which they were first seen."""
    made = known(views, calls, clean)
    return [made.fact(key) for key in made.values]


def known(
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
    clean: Callable[[str], str] | None = None,
) -> Facts:
    """Return the facts of items as a fold has them."""
    made = Facts(clean)
    made.update(views, calls)
    return made
