"""The session that a `FoldedSession` wraps: whether it is one, and how it is written anew."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agents import OpenAIConversationsSession, OpenAIResponsesCompactionSession
from agents.extensions.memory import AdvancedSQLiteSession

if TYPE_CHECKING:
    from agents import Session

__all__ = ["UnfitError", "Wrapped", "check_session", "finished", "layers"]

T = TypeVar("T")

_ALL: Final = 2**30  # items; a session may have a limit of its own by default
_BARE: Final = frozenset(
    {
        "agents.extensions.memory.dapr_session.DaprSession",
        "agents.extensions.memory.mongodb_session.MongoDBSession",
    }
)
"""Sessions that hold their items and nothing else, and where taking out a single one is costly.

Dapr reads and writes the whole history for each, MongoDB asks four times.
"""

_ENCRYPTED: Final = "agents.extensions.memory.encrypt_session.EncryptedSession"


def check_session(wrapped: object, *, replaces: bool) -> None:
    """Check that a session can be wrapped.

    Raises:
        TypeError: It is no session.
        ValueError: It folds by itself, is held by the server, or is to be given the fold in place
            of its items and holds more than these.
    """
    if isinstance(wrapped, OpenAIResponsesCompactionSession):
        raise ValueError(
            "OpenAIResponsesCompactionSession folds by itself; wrap its underlying_session"
        )
    if isinstance(wrapped, OpenAIConversationsSession):
        raise ValueError(
            "the items of OpenAIConversationsSession are held by the server; give it to the Runner "
            "as it is, with chatfold_filter(replay=True)"
        )
    methods = ("get_items", "add_items", "pop_item", "clear_session")
    if not all(callable(getattr(wrapped, name, None)) for name in methods):
        raise TypeError(
            f"wrapped must be a Session, such as SQLiteSession(id), not {type(wrapped).__name__}"
        )
    if replaces and any(isinstance(each, AdvancedSQLiteSession) for each in layers(wrapped)):
        raise ValueError(
            "AdvancedSQLiteSession counts turns, usage and branches by its items, and would lose "
            'them with these; use persist="view", which leaves them where they are'
        )


class Wrapped:
    """A session, as it is read and written by the one that wraps it.

    Args:
        session: The session.
        passed: What its methods are given besides, such as the run.
    """

    def __init__(self, session: Session, passed: dict[str, Any]) -> None:
        self._session = session
        self._passed = passed

    async def items(self) -> list[Any]:
        """Return all items, whatever limit the session has by default."""
        settings = self._session.session_settings
        limit: dict[str, Any] = (
            {"limit": _ALL} if settings is not None and settings.limit is not None else {}
        )
        return list(await self._session.get_items(**limit, **self._passed))

    async def swap(self, before: list[Any], after: list[Any]) -> bool:
        """Put items in place of all that was read; return whether the session still held them.

        No more is removed than was read, as a session may hold what it does not show. The SDK's
        own stores can do it in one transaction, by methods that they have for the SDK's own
        wrapper. These are asked of the class, as a wrapper may pass on what is not its own.

        Raises:
            UnfitError: The session gives out what it does not show.
        """
        session = self._session
        reader = getattr(type(session), "_get_compaction_snapshot", None)
        # Of all rows: where they are encrypted, some may have expired and are not read.
        snapshot = await reader(session, _ALL) if reader is not None and before else None
        if snapshot is not None:
            if not snapshot.complete or snapshot.items != before:
                return False
            return bool(await snapshot.replace_suffix(0, after))
        replace = getattr(type(session), "_atomic_replace_items", None)
        if replace is not None and await replace(session, after):
            return True
        return await self._written_anew(before, after)

    async def _written_anew(self, before: list[Any], after: list[Any]) -> bool:
        """Do it where there is no transaction: take out what was read, and add the others."""
        left = len(before)  # so many were not touched
        try:
            if _is_bare(self._session):
                left = 0
                await self._session.clear_session(**self._passed)
            while left:
                left -= 1
                found = await self._session.pop_item(**self._passed)
                if found != before[left] and await self.items() != before[:left]:
                    came = found is not None
                    await self._put_back(before, left + (not came), [found] if came else [])
                    if await self.items() == before:  # nobody else has written
                        raise UnfitError(self._session)
                    return False
            if after:
                await self._session.add_items(after, **self._passed)
        except UnfitError:
            raise
        except BaseException:
            await self._put_back(before, left, [], after)
            raise
        return True

    async def _put_back(
        self, before: list[Any], left: int, others: list[Any], after: Sequence[Any] = ()
    ) -> None:
        """Put back what was taken out, and behind it what others have added meanwhile.

        Args:
            before: What was read.
            left: How many of these were not touched.
            others: What came out besides.
            after: What may have been written in part.
        """
        there = await self.items()
        pairs = enumerate(zip(there, before, strict=False))
        same = next((i for i, (now, then) in pairs if now != then), min(len(there), len(before)))
        written = there[same:]
        if written == list(after[same : len(there)]):
            for _ in written:
                await self._session.pop_item(**self._passed)
        missing = [*before[max(same, left) :], *others]
        if missing:
            await self._session.add_items(missing, **self._passed)


class UnfitError(ValueError):
    """A session's items cannot be replaced, as `pop_item()` gives out what is not shown."""

    def __init__(self, session: object) -> None:
        super().__init__(
            f"{type(session).__name__}.pop_item() gives out what get_items() does not show, which "
            'would be lost; use persist="view"'
        )


def _is_bare(session: object) -> bool:
    *around, inner = [
        f"{type(each).__module__}.{type(each).__qualname__}" for each in layers(session)
    ]
    return inner in _BARE and all(each == _ENCRYPTED for each in around)


def layers(session: object) -> Iterator[object]:
    """Yield a session, and what a wrapper like the SDK's own holds inside of it."""
    while session is not None:
        yield session
        session = vars(session).get("underlying_session") if hasattr(session, "__dict__") else None


async def finished(writing: Coroutine[Any, Any, T]) -> T:
    """Return what comes of a change that is not to be stopped halfway, also when cancelled."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        raise
