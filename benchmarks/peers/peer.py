"""What a driver of another library is asked: a conversation in, what is left of it out.

The stand-in for the model answers with a mark, `[[summary 3]]`; the other side puts text of the
right length in its place. A driver gives the library what its documentation says, and leaves what
it says nothing about at the library's own defaults.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeAlias, TypeVar

from chatfold import ChatContext
from chatfold.tokens.estimate import EstimateCounter

FAR = 1_000_000_000
"""A trigger that is never reached."""

Item: TypeAlias = dict[str, Any]

T = TypeVar("T")

Entry: TypeAlias = int | dict[str, Any]
"""A message that is still there, by its index, or one that the library wrote."""


class Peer(ABC):
    """One conversation in a library's own types.

    Args:
        variant: Which of `variants`.
        trigger: Tokens from which the conversation is to be folded.
        keep: Tokens of a tail, for those that can be told.
        keep_messages: Messages of a tail; None leaves it to the library.

    Attributes:
        asked: The texts of the requests that the summarizer was sent by the latest fold.
    """

    package: ClassVar[str]
    variants: ClassVar[tuple[str, ...]]
    timed: ClassVar[tuple[str, ...]]
    """The ways whose folds are timed: those that show their model all that they take out."""
    checked: ClassVar[tuple[str, ...]] = ()
    """The ways whose trigger is timed at turns at which nothing is to be done."""

    def __init__(
        self, variant: str, trigger: int, keep: int, keep_messages: int | None = None
    ) -> None:
        self.variant = variant
        self.trigger = trigger
        self.keep = keep
        self.keep_messages = keep_messages
        self.asked: list[str] = []
        self._written = 0

    @abstractmethod
    def add(self, index: int, item: Item) -> None:
        """Append a Chat Completions message."""

    def ready(self) -> None:  # noqa: B027 - most have nothing to do
        """Do what is not a fold's to do, before one is timed."""

    @abstractmethod
    def fold(self) -> None:
        """Fold as the library does when its trigger is reached."""

    @property
    def new_messages(self) -> int:
        """How many messages come before each check."""
        return 1

    def before_check(self) -> None:  # noqa: B027 - most have nothing to do
        """Do what is the host's to do before a check, and is not timed."""

    def check(self) -> None:
        """Ask the library whether to fold, with a trigger that is far away."""
        raise NotImplementedError

    @abstractmethod
    def entries(self) -> list[Entry]:
        """Return the messages of the next request, in order."""

    def answer(self, *texts: str) -> str:
        """Return what the stand-in answers to a request, and note the request."""
        self.asked.append("\n".join(texts))
        self._written += 1
        return f"[[summary {self._written}]]"


_LOOP = asyncio.new_event_loop()


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Return what some work returns, in the one loop here: to start one is no part of a fold."""
    return _LOOP.run_until_complete(work)


def size_of(item: Item) -> int:
    """Return the tokens of a message, counted as on the other side."""
    return ChatContext([item], counter=EstimateCounter()).count_tokens().value


def words(item: Item) -> str:
    """Return the text of a message."""
    content = item.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text") or "" for part in content)
    return content or ""


def calls(item: Item) -> list[tuple[str, str, str]]:
    """Return id, name and arguments of a message's calls."""
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in item.get("tool_calls") or ()
    ]
