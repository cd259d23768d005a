"""Which items of a list matter for where it may be cut, kept up as the list grows.

Not here: what follows from it (`split`, `spans`).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import Final, NamedTuple

from chatfold.core.views import (
    ItemView,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    is_user_message,
)

__all__ = ["SPEAKERS", "Outline"]

SPEAKERS: Final = ("user", "assistant")  # what they say is folded, whatever the shape
_RESULT: Final = frozenset({ResultPart})


class Outline(NamedTuple):
    """Indices of items of a list, ascending.

    Attributes:
        asks: Those in which a user speaks.
        others: Those of neither the user nor the assistant, but for mere results: they may be what
            a shape keeps.
        opaque: Those of which a part can be read by the provider alone.
        fused: Those in which a user speaks that carry results, too.
        retold: Those that retell what users have asked.
        thoughts: Those that hold reasoning.
    """

    asks: list[int]
    others: list[int]
    opaque: list[int]
    fused: list[int]
    retold: list[int]
    thoughts: list[int]

    @classmethod
    def of(cls, views: Iterable[ItemView]) -> Outline:
        """Return the outline of a list."""
        made = cls([], [], [], [], [], [])
        for index, view in enumerate(views):
            made.add(index, view)
        return made

    def with_summary(self, index: int, view: ItemView) -> Outline:
        """Return the outline of the list with the reading of an item as a summary."""
        asks = [ask for ask in self.asks if ask != index]
        if is_user_message(view):
            insort(asks, index)
        fused = [ask for ask in self.fused if ask != index]
        if index in asks and _brings_results(view.parts):
            insort(fused, index)
        others, opaque = [*self.others], [*self.opaque]
        return Outline(asks, others, opaque, fused, [*self.retold], [*self.thoughts])

    def copy(self) -> Outline:
        """Return the same outline, which does not grow."""
        return Outline(*([*indices] for indices in self))

    def last_ask(self) -> int:
        """Return the index of the last item in which a user speaks, -1 where there is none."""
        return self.asks[-1] if self.asks else -1

    def add(self, index: int, view: ItemView) -> None:
        """Take in the next item."""
        role, parts = view.role, view.parts
        if role == "user" and is_user_message(view):
            self.asks.append(index)
            if len(parts) > 1 and _brings_results(parts):
                self.fused.append(index)
        elif role not in SPEAKERS and not (role == "tool" and _is_result(parts)):
            self.others.append(index)
        elif view.retells:
            self.retold.append(index)
        kinds = (type(parts[0]),) if len(parts) == 1 else set(map(type, parts))
        if OpaquePart in kinds:
            self.opaque.append(index)
        if ReasoningPart in kinds:
            self.thoughts.append(index)


def _brings_results(parts: tuple[Part, ...]) -> bool:
    return any(type(part) is ResultPart for part in parts)


def _is_result(parts: tuple[Part, ...]) -> bool:
    return _RESULT.issuperset(map(type, parts))
