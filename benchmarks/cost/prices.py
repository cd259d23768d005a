"""What a request costs with a cache of exact prefixes, in units of one fresh input token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

LEAST_CACHED = 1024
"""Tokens that a prefix must have for a provider to keep it, with the models of both."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a provider, as multiples of the price of one input token.

    Attributes:
        name: The provider that these are like.
        read: An input token that is read from the cache.
        written: An input token that is written to it.
        output: An output token.
    """

    name: str
    read: float
    written: float
    output: float


PRICES = (
    Prices("Anthropic-like", read=0.1, written=1.25, output=5.0),
    Prices("OpenAI-like", read=0.1, written=1.0, output=8.0),
)


class Block(NamedTuple):
    """One message of a request: what it is known by, and its tokens."""

    key: int | str
    tokens: int


@dataclass(slots=True)
class Cache:
    """Remembers the prefixes of the requests that were sent; nothing expires."""

    _root: dict[int | str, object] = field(default_factory=dict)

    def read(self, request: Sequence[Block]) -> int:
        """Return the tokens of the longest prefix that an earlier request had too."""
        node, tokens = self._root, 0
        for block in request:
            inner = node.get(block.key)
            if not isinstance(inner, dict):
                break
            node, tokens = inner, tokens + block.tokens
        return tokens if tokens >= LEAST_CACHED else 0

    def write(self, request: Sequence[Block]) -> None:
        """Keep the prefixes of a request."""
        node = self._root
        for block in request:
            inner = node.setdefault(block.key, {})
            assert isinstance(inner, dict)
            node = inner


@dataclass(slots=True)
class Bill:
    """Tokens that were paid for, and what went with them.

    Attributes:
        read: Input tokens from the cache.
        written: Input tokens written to it.
        fresh: Input tokens of requests that are no part of the conversation.
        output: Output tokens.
        calls: Requests of the agent.
        folds: Times that a summary took the place of messages.
        asked: Requests to the summarizer.
        breaks: Requests of the agent that do not begin with the one before.
        removed: Tokens that folds took out.
        left: Tokens of the requests right after folds.
        shown: Tokens that the summarizer was shown.
        over: Requests of the agent that were at the trigger or above it.
        largest: Tokens of the largest request of the agent.
    """

    read: int = 0
    written: int = 0
    fresh: int = 0
    output: int = 0
    calls: int = 0
    folds: int = 0
    asked: int = 0
    breaks: int = 0
    removed: int = 0
    left: int = 0
    shown: int = 0
    over: int = 0
    largest: int = 0

    def __add__(self, other: Bill) -> Bill:
        names = [name for name in self.__slots__ if name != "largest"]
        summed = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Bill(**summed, largest=max(self.largest, other.largest))

    def cost(self, prices: Prices) -> float:
        """Return the whole cost."""
        return (
            self.read * prices.read
            + self.written * prices.written
            + self.fresh
            + self.output * prices.output
        )
