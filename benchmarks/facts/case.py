"""One point of one history, what a system makes of it, and who writes the summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from chatfold import ChatContext, Prompt
from chatfold.summarizers.extractive import Extractive

from .gold import Item, prefix_length


@dataclass(frozen=True, slots=True)
class Case:
    """One point of one history.

    Attributes:
        items: The messages up to there.
        sizes: Tokens of each.
        tail: Index of the first message of the tail that every system is asked to keep.
        keep_tokens: The size of that tail that was asked for.
    """

    items: Sequence[Item]
    sizes: Sequence[int]
    tail: int
    keep_tokens: int

    @property
    def head_tokens(self) -> int:
        """Size of what lies between the leading instructions and the tail."""
        return sum(self.sizes[prefix_length(self.items) : self.tail])


@dataclass(frozen=True, slots=True)
class Folded:
    """What a system made of a case.

    Attributes:
        kept: Indices of the messages that are still there.
        summary: The summary's text, "" where nothing was folded.
        shown: The messages that the summarizer was sent.
    """

    kept: frozenset[int]
    summary: str
    shown: Sequence[Item] = ()


System: TypeAlias = Callable[[Case, int], Folded]


def stand_in(items: Sequence[Item], room: int, previous: str | None = None) -> str:
    """Return what the stand-in writes of messages in `room` tokens."""
    views = tuple(ChatContext(list(items), shape="openai_chat").views())
    return Extractive().complete(Prompt("", "", views, previous, room)).text


def unchanged(case: Case) -> Folded:
    """Return what a system left that did nothing."""
    return Folded(frozenset(range(len(case.items))), "")
