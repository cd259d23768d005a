"""Plays a history call by call, and writes the bill."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .prices import Bill, Block, Cache
from .session import Asked, Item, Session


def replay(
    items: Sequence[Item],
    sizes: Sequence[int],
    session: Session,
    note: Callable[[Bill], None] | None = None,
) -> Bill:
    """Return what the calls of a history cost: one before every message of the assistant.

    Args:
        items: The history.
        sizes: Tokens of every message.
        session: The system that has it in its hands.
        note: Is shown the bill after every call.
    """
    bill, cache = Bill(), Cache()
    latest: list[Block] = []
    for index, (item, size) in enumerate(zip(items, sizes, strict=True)):
        if item["role"] == "assistant":
            before = list(session.blocks)
            asked = session.before_call()
            for request in asked:
                _pay(bill, cache, request)
            known, left = ({block.key for block in blocks} for blocks in (before, session.blocks))
            if left - known:  # something was written in place of what is gone
                bill.folds += 1
                bill.left += session.tokens
                bill.removed += sum(block.tokens for block in before if block.key not in left)
            _send(bill, cache, session, latest)
            latest = list(session.blocks)
            bill.output += size
            if note is not None:
                note(bill)
        session.add(index, item, size)
    return bill


def _pay(bill: Bill, cache: Cache, asked: Asked) -> None:
    """Add a request to the summarizer: the live one goes by the cache, a prompt is fresh."""
    bill.asked += 1
    bill.shown += asked.tokens
    bill.output += asked.output
    if not asked.live:
        bill.fresh += asked.tokens
        return
    read = cache.read(asked.live)
    bill.read += read
    bill.written += asked.tokens - read
    cache.write(asked.live)


def _send(bill: Bill, cache: Cache, session: Session, latest: list[Block]) -> None:
    """Add a request of the agent."""
    tokens, read = session.tokens, cache.read(session.blocks)
    bill.calls += 1
    bill.read += read
    bill.written += tokens - read
    bill.breaks += session.blocks[: len(latest)] != latest
    bill.over += tokens >= session.trigger
    bill.largest = max(bill.largest, tokens)
    cache.write(session.blocks)
