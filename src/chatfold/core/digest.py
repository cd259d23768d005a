"""Content digests of native items: whether an item still says what it said.

A fingerprint is quick and holds within one process; it follows the item's own order of keys, so
that only equal items that were not reordered agree. A stable digest holds in every process, and
for an equal copy. Not here: the digest on a summary's tag
(`summary`).
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from chatfold.core.views import plain

__all__ = ["changed_index", "fingerprints", "stable_digest"]

_VERSION = 2  # the last version of the format without references, which depend on identity


def fingerprints(items: Sequence[Any]) -> list[int]:
    """Return for each item a number that changes when its content does, within this process."""
    try:
        return [hash(marshal.dumps(item, _VERSION)) for item in items]
    except ValueError:  # an SDK object, or a dict that holds one
        return [hash(_blob(item)) for item in items]


def stable_digest(value: Any) -> str:
    """Return a number in 32 hex digits that is the same for all that says the same."""
    text = json.dumps(plain(value), sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def changed_index(
    now: Sequence[object],
    now_prints: Sequence[int],
    then: Sequence[object],
    then_prints: Sequence[int],
) -> int | None:
    """Return the index of the first item that says something else than it did.

    Args:
        now: The items as they are in the list.
        now_prints: Their fingerprints.
        then: The items as they were.
        then_prints: Their fingerprints at that time.

    Returns:
        None where nothing changed; an equal copy (a list reloaded from JSON) is no change.
    """
    if list(now_prints) == list(then_prints):
        return None
    for index, (new, old) in enumerate(zip(now, then, strict=False)):
        if now_prints[index] == then_prints[index]:
            continue
        edited = new is old or fingerprints([old])[0] != then_prints[index]
        if edited or plain(new) != plain(old):
            return index
    return None if len(now) == len(then) else min(len(now), len(then))


def _blob(item: Any) -> bytes:
    try:
        return marshal.dumps(item, _VERSION)
    except ValueError:
        pass
    try:
        return marshal.dumps(plain(item), _VERSION)
    except Exception:  # an object that cannot say what it holds is told apart by identity alone
        return str(id(item)).encode()
