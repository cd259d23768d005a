"""Digests of growing lists that a host hands over again and again: what was folded is found again.

They hold in every process and for equal copies, and leave out what says nothing of the content:
cache markers and fields that are not set. Not here: fingerprints within one process (`digest`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any, Final

from chatfold.core.digest import content

__all__ = ["item_digest", "rolled"]

_SIZE: Final = 16  # bytes


def item_digest(item: Any, say: Callable[[Any], Any] | None = None) -> bytes:
    """Return a digest of what an item says; see `content`."""
    return blake2b(content(item, say), digest_size=_SIZE).digest()


def rolled(digests: Iterable[bytes], after: str = "") -> list[str]:
    """Return the digests of the first 1, 2, 3, ... items in 32 hex digits, given that of each.

    Args:
        digests: The digest of each item.
        after: That of all items before these, which are counted in then; "" where there are none.
    """
    made: list[str] = []
    before = bytes.fromhex(after)
    for digest in digests:
        before = blake2b(before + digest, digest_size=_SIZE).digest()
        made.append(before.hex())
    return made
