"""Compaction by the provider itself: what a backend is, and what it gives.

A backend sends the native items themselves, not a prompt, and gets items that only the provider
can write. One provider a file (`native_openai`, `native_anthropic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from chatfold.core.check import Requirement
    from chatfold.core.flow import Usage

__all__ = ["Compacted", "NativeCompaction"]


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a provider made of the items that it was sent.

    Attributes:
        items: What takes their place, in order, as it may be sent. Items that the provider gave
            back unchanged are the caller's own objects.
        usage: Tokens of every model call, or None where the provider did not tell.
        model: The model that compacted.
        readable: The provider's summary as text; None where only the provider can read it.
        requirements: What the next requests have to carry besides the list.
        llm_calls: Number of model calls.
    """

    items: tuple[Any, ...] = field(repr=False)
    usage: Usage | None = None
    model: str | None = None
    readable: str | None = field(default=None, repr=False)
    requirements: tuple[Requirement, ...] = ()
    llm_calls: int = 1


class NativeCompaction(Protocol):
    """Folds items into items of the provider's own.

    Attributes:
        shape: Name of the shape whose lists it folds.
        asynchronous: Whether only `acompact` can be used.
    """

    shape: ClassVar[str]
    asynchronous: bool

    def check(self, *, prefix: Sequence[Any] = (), instructions: str | None = None) -> None:
        """Check what can be known before anything is sent; see `compact`.

        Raises:
            ValueError: `instructions` is too long, or `prefix` cannot stay where it is.
        """
        ...

    def compact(
        self, items: Sequence[Any], *, prefix: Sequence[Any] = (), instructions: str | None = None
    ) -> Compacted:
        """Return what takes the place of `items`.

        Args:
            items: Every item from the prefix to the cut, also those that stay, without open
                calls. They leave the process as they are: nothing is redacted.
            prefix: The leading instructions of the list, which stay in front of the result.
            instructions: What the caller adds.

        Raises:
            ValueError: See `check`.
            SummaryError: The provider gave nothing that can stand for the items; the error has
                the usage of all calls.
            TypeError: The client is an asynchronous one.
        """
        ...

    async def acompact(
        self, items: Sequence[Any], *, prefix: Sequence[Any] = (), instructions: str | None = None
    ) -> Compacted:
        """Return what takes the place of `items`; see `compact`."""
        ...

    def owns(self, item: Any) -> bool:
        """Return whether an item is the provider's own, which it can read and fold again."""
        ...
