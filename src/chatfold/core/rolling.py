"""Digests of growing lists that a host hands over again and again: what was folded is found again.

They hold in every process and for equal copies, and leave out what says nothing of the content:
cache markers and fields that are not set. Not here: fingerprints within one process (`digest`).
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final, cast

from chatfold.core.digest import GIVEN, lasting
from chatfold.core.native import plain

__all__ = ["item_digest", "rolled"]

_SIZE: Final = 16  # bytes

# What a host moves from item to item, so that the provider caches the request up to there:
# https://platform.claude.com/docs/en/build-with-claude/prompt-caching and
# https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html (read 2026-11-22).
_MARKERS: Final = frozenset({"cache_control", "cachePoint", "cache_point"})


def item_digest(item: Any) -> bytes:
    """Return a digest of what an item says."""
    return blake2b(lasting(item, _said), digest_size=_SIZE).digest()


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


def _said(item: Any) -> Any:
    return _without_markers(plain(item))


def _without_markers(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {
            key: inner if key in GIVEN else _without_markers(inner)
            for key, inner in fields.items()
            if inner is not None and key not in _MARKERS
        }
    if isinstance(value, list):
        made = (_without_markers(inner) for inner in cast("list[Any]", value))
        return [inner for inner in made if inner != {}]  # a marker that was a block of its own
    return value
