"""A conversation that grows message by message, in the hands of one system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from chatfold import ChatContext
from chatfold.tokens.estimate import EstimateCounter, estimate

from .prices import Block

Item: TypeAlias = dict[str, Any]

SUMMARY_SHARE = 0.05
MOST_SUMMARY = 2_000
_FILLER = "The work went on as it was asked for, and what came of it was noted in few words. "
_TENS = ("", "twenty-", "thirty-", "forty-", "fifty-", "sixty-", "seventy-", "eighty-", "ninety-")
_ONES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ORDINALS = tuple(f"{tens}{ones}" for tens in _TENS for ones in _ONES)
_FILLER_TOKENS = estimate(_FILLER * 100) / 100


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to the summarizer.

    Attributes:
        tokens: What it was shown, instructions included.
        output: What it answered, in tokens.
        live: The blocks of the request where it is the agent's own, with a question behind it.
    """

    tokens: int
    output: int
    live: Sequence[Block] = ()


class Session(ABC):
    """One system's hold on one conversation.

    Args:
        trigger: Tokens of a request from which it is to be folded.

    Attributes:
        blocks: The messages of the next request.
    """

    def __init__(self, trigger: int) -> None:
        self.trigger = trigger
        self.blocks: list[Block] = []

    @property
    def tokens(self) -> int:
        """Size of the next request."""
        return sum(block.tokens for block in self.blocks)

    def add(self, index: int, item: Item, tokens: int) -> None:
        """Append a message of the history."""
        self.blocks.append(Block(index, tokens))

    @abstractmethod
    def before_call(self) -> list[Asked]:
        """Make the list ready for the agent's next call; return what the summarizer was asked."""


def size_of(item: Item) -> int:
    """Return the tokens of a message, by the estimate that counts for every system."""
    return ChatContext([item], counter=EstimateCounter()).count_tokens().value


def summary_tokens(removed: int) -> int:
    """Return how long a summary the stand-in writes of so many tokens."""
    return min(max(int(SUMMARY_SHARE * removed), 1), MOST_SUMMARY)


def summary_text(tokens: int, number: int) -> str:
    """Return words of about that many tokens, without a value in them.

    Args:
        tokens: How many.
        number: Which summary of the conversation it is; two of them never begin alike.
    """
    length = int(len(_FILLER) * tokens / _FILLER_TOKENS)
    text = (_FILLER * (length // len(_FILLER) + 1))[:length]
    return f"{_ORDINALS[number % len(_ORDINALS)]} part of the work: {text}"
