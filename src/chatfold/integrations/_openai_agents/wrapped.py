"""The session that a `FoldedSession` wraps: whether it is one, and how it is written anew."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from agents import OpenAIConversationsSession, OpenAIResponsesCompactionSession

if TYPE_CHECKING:
    from agents import Session

__all__ = ["check_session", "finished", "swap"]

T = TypeVar("T")


def check_session(wrapped: object) -> None:
    """Check that a session can be wrapped.

    Raises:
        TypeError: It is no session.
        ValueError: It folds by itself, or is held by the server.
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


async def swap(session: Session, before: list[Any], after: list[Any]) -> bool:
    """Put items in place of all that a session holds; return whether it still held them.

    The SDK's own stores can do it in one transaction, by a method that they have for the SDK's own
    wrapper. It is asked of the class, as a wrapper may pass on what is not its own.
    """
    reader = getattr(type(session), "_get_compaction_snapshot", None)
    snapshot = await reader(session, len(before) + 1) if reader is not None and before else None
    if snapshot is not None:
        if not snapshot.complete or snapshot.items != before:
            return False
        return bool(await snapshot.replace_suffix(0, after))
    try:
        await session.clear_session()
        if after:
            await session.add_items(after)
    except BaseException:
        await session.clear_session()
        if before:
            await session.add_items(before)
        raise
    return True


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
