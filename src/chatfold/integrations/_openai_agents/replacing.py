"""Folds in the background for sessions whose items they replace; each request may have its own.

Not here: how the items are written anew (`wrapped`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from chatfold.middleware import Middleware
from chatfold.session import Session

if TYPE_CHECKING:
    from chatfold.core.plan import Outcome
    from chatfold.stores import HostStore
    from chatfold.summarizers import LLM

__all__ = ["Replacing"]


class Replacing(Middleware[Any]):
    """The turns of a host that puts what comes of them in place of its items.

    What one object has begun is found in the store by the next one that reads the items. Until its
    host has written a fold down, no other is begun: that would be one of items that go.

    Args:
        llm: See `Middleware`.
        store: Keeps the folds, and the originals that they take out.
        undone: Digests of heads whose fold was taken back.
        **options: See `Middleware`.
    """

    def __init__(self, llm: LLM, store: HostStore, undone: set[str], **options: Any) -> None:
        self._kept_in = store
        self._undone = undone
        super().__init__(llm, store=store, **options)

    def session(self, items: Sequence[Any], key: str | None) -> Session:
        """Return the context of items that nothing is folded of yet."""
        return self._make(items, key)

    def held_off(self, items: Sequence[Any], key: str) -> Session | None:
        """Return a session of items that nobody folds until it is let go; see `HostTurns`."""
        return self._turns.held_off(items, key)

    def let_go(self, session: Session) -> None:
        """Let its items be folded again."""
        self._turns.let_go(session)

    def take_back(self, items: Sequence[Any], key: str, fold_id: str) -> None:
        """Take down that a fold was undone, whose originals are among the items again."""
        self.forget(key)
        self._shared.take_back(self._shared.name(key), self._make(items, key), fold_id)

    def _maker(self) -> Callable[[Sequence[Any], str | None], Session]:
        more: dict[str, Any] = {"store": self._kept_in, "undone": self._undone, **self._options}

        def made(items: Sequence[Any], key: str | None) -> Session:
            return Session(items, named=key, key=key, **more)

        return made

    async def _adone(self, step: Session | float, llm: LLM | None) -> Outcome[Any] | None:
        if isinstance(step, Session) and step.folded and step.background is None:
            return step.idle("below_trigger")
        return await super()._adone(step, llm)
