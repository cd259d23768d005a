"""The turns of a list, and what stands before the first.

Not here: where a list may be cut (`spans`), and is (`split`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from chatfold.core.outline import Outline
from chatfold.core.summary import INSTRUCTING
from chatfold.core.views import (
    CallPart,
    ItemView,
    MediaPart,
    ResultPart,
    Shape,
    SummaryPart,
    TextPart,
)

__all__ = [
    "Turn",
    "Turns",
    "is_answer",
    "is_summary",
    "last_answer",
    "prefix_length",
    "thought_at",
    "turns",
    "unseen_result",
]

_MOST: Final = 4_000  # tokens of a call and its result: the least that a policy keeps


class Turn(NamedTuple):
    """A user's message (or a run of them) and all that follows up to the next.

    Attributes:
        start: Index of the first item.
        stop: Index after the last item.
        openers: Indices of the user messages that open the turn; none for items before the first.
            In a last turn that is not finished also of messages that retell what was asked.
        finished: Whether the last item is an assistant's answer without calls.
    """

    start: int
    stop: int
    openers: tuple[int, ...]
    finished: bool


def prefix_length(views: Sequence[ItemView]) -> int:
    """Return how many leading items are system or developer instructions."""
    for index, view in enumerate(views):
        if view.role not in INSTRUCTING or is_summary(view):
            return index
    return len(views)


class Turns:
    """The turns after the prefix, in order; each is made when it is asked for.

    Args:
        views: One reading per native item.
        start: Index of the first item after the prefix.
        asks: Indices of the items in which a user speaks.
        retold: Indices of the items that retell what a user has asked.

    Attributes:
        starts: Index of the first item of each.
        opened: How many of them a user opens.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        start: int,
        asks: Sequence[int],
        retold: Sequence[int],
    ) -> None:
        self._views = views
        self._retold = retold
        self._asks = asks = asks[bisect_left(asks, start) :]
        before = [start - 2, *asks[:-1]]  # messages one behind the other are one opening
        self.starts = [ask for ask, last in zip(asks, before, strict=False) if ask - 1 != last]
        self.opened = len(self.starts)
        if start < len(views) and (not self.starts or self.starts[0] > start):
            self.starts.insert(0, start)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, place: int) -> Turn:
        place = range(len(self.starts))[place]
        first = self.starts[place]
        last = place + 1 == len(self.starts)
        stop = len(self._views) if last else self.starts[place + 1]
        at = behind = bisect_left(self._asks, first)
        while behind < len(self._asks) and self._asks[behind] == first + behind - at:
            behind += 1
        openers, end = self._asks[at:behind], self._views[stop - 1]
        finished = is_answer(end) and not end.retells
        if last and not finished:  # answered, what was retold is history as any other
            openers = [*openers, *self._retold[bisect_left(self._retold, first) :]]
        return Turn(first, stop, tuple(openers), finished)

    def __iter__(self) -> Iterator[Turn]:
        return (self[place] for place in range(len(self.starts)))


def turns(views: Sequence[ItemView]) -> list[Turn]:
    """Return the turns after the prefix, in order."""
    outline = Outline.of(views)
    return list(Turns(views, prefix_length(views), outline.asks, outline.retold))


def thought_at(
    cut: int,
    views: Sequence[ItemView],
    found: Turns,
    shape: Shape,
    model: str | None,
    tokens: Callable[[int], int],
) -> tuple[int, ...]:
    """Return the message that the running turn began with, where a cut may not take it alone.

    That is where its provider wants back what the model thought before its first call, and what
    the model goes on with behind the cut does not begin with such thinking itself. Where it may
    want that, a large first result is let go: it would fill the window with what cannot be folded.

    Args:
        cut: Index of the first tail item.
        views: The readings of the whole list.
        found: Its turns.
        shape: What knows what the provider wants.
        model: The agent's model, None where it is not known.
        tokens: Returns the size in tokens of the item at an index.
    """
    if not found or cut <= found.starts[-1] or found[-1].finished:
        return ()
    said = [i for i in range(found.starts[-1], len(views)) if views[i].role == "assistant"]
    behind = next((i for i in said if i >= cut), None)
    if behind is None or behind == said[0]:
        return ()
    wanted = shape.wants_back(views[said[0]], model=model)
    if wanted == "no" or shape.wants_back(views[behind], model=model) != "no":
        return ()
    stays = wanted == "yes" or sum(map(tokens, range(said[0], said[1]))) <= _MOST
    return (said[0],) if stays else ()


def unseen_result(views: Sequence[ItemView], start: int = 0) -> int | None:
    """Return the index of the last result that the model has yet to see, None where it saw all.

    Args:
        views: The readings of the whole list.
        start: Index from which on it is looked for.
    """
    for index in range(len(views) - 1, start - 1, -1):
        view = views[index]
        if view.role in INSTRUCTING:  # it stays anyway, and answers nothing
            continue
        if any(type(part) is ResultPart for part in view.parts):
            return index
        if any(isinstance(part, (TextPart, MediaPart, CallPart)) for part in view.parts):
            return None
    return None


def is_answer(view: ItemView) -> bool:
    """Return whether the item is an assistant's answer: words, and no call that still waits.

    A call that the server answered inside the same message does not wait.
    """
    if view.role != "assistant":
        return False
    if len(view.parts) == 1:
        return type(view.parts[0]) is TextPart
    if not any(type(p) is TextPart for p in view.parts):
        return False
    answered = {p.id for p in view.parts if type(p) is ResultPart}
    return all(p.id in answered for p in view.parts if type(p) is CallPart)


def is_summary(view: ItemView) -> bool:
    """Return whether an item begins with an earlier summary."""
    return bool(view.parts) and type(view.parts[0]) is SummaryPart


def last_answer(views: Sequence[ItemView]) -> tuple[int, int]:
    """Return where the answer at a list's end begins, and where the results behind it do."""
    results = len(views)
    while results and _brings_results(views[results - 1]):
        results -= 1
    start = results
    while start and views[start - 1].role == "assistant":
        start -= 1
    return start, results


def _brings_results(view: ItemView) -> bool:
    """Return whether it brings what the caller's tools gave; the server's stand in its answer."""
    return view.role != "assistant" and any(type(part) is ResultPart for part in view.parts)
