"""Content digests of native items: whether an item still says what it said.

A fingerprint is quick and holds within one process; it follows the item's own order of keys, so
that only equal items that were not reordered agree. Not here: the digest on a summary's tag
(`summary`).
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence

from chatfold.core.views import plain

__all__ = ["changed_index", "fingerprint"]

_VERSION = 2  # the last version of the format without references, which depend on identity


def fingerprint(item: object) -> int:
    """Return a number that changes when the item's content does, within this process."""
    return hash(_blob(item))


def changed_index(
    now: Sequence[object], then: Sequence[object], prints: Sequence[int]
) -> int | None:
    """Return the index of the first item of `now` that says something else than it did.

    Args:
        now: The items as they are in the list.
        then: The items as they were.
        prints: The fingerprints of `then` when it was read.

    Returns:
        None where nothing changed; an equal copy (a list reloaded from JSON) is no change.
    """
    for index, (new, old, print_) in enumerate(zip(now, then, prints, strict=False)):
        if fingerprint(new) == print_:
            continue
        if new is old or fingerprint(old) != print_ or plain(new) != plain(old):
            return index
    return None if len(now) == len(then) else min(len(now), len(then))


def _blob(item: object) -> bytes:
    try:
        return marshal.dumps(item, _VERSION)
    except ValueError:  # an SDK object, or a dict that holds one
        return marshal.dumps(plain(item), _VERSION)
