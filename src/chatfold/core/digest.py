"""Content digests of native items: whether an item still says what it said.

A fingerprint is quick and holds within one process; it follows the item's own order of keys, so
that only equal items that were not reordered agree. Of most items a copy can be kept instead, by
which that is told ten times as quickly. A stable digest holds in every process, and for an equal
copy. Not here: the digest on a summary's tag (`summary`).
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Final, cast

from chatfold.core.markers import as_text, may_be_marked, said, unmarked
from chatfold.core.native import plain

__all__ = [
    "changed_index",
    "content",
    "copied",
    "edited_index",
    "fingerprints",
    "head_digest",
    "lasting",
    "stable_digest",
]

_VERSION = 2  # the last version of the format without references, which depend on identity

# In each process texts have other hashes, and objects other addresses.
_PROCESS: Final = f"{hash(__name__)} {id(__name__)}".encode()

_COPIED = frozenset({str, type(None)})  # not numbers: True equals 1, and says something else


def fingerprints(items: Sequence[Any]) -> list[int]:
    """Return for each item a number that changes when its content does, within this process."""
    try:
        blobs = [marshal.dumps(item, _VERSION) for item in items]
    except ValueError:  # an SDK object, or a dict that holds one
        blobs = [_blob(item) for item in items]
    return [hash(_counted(item, blob)) for item, blob in zip(items, blobs, strict=True)]


def copied(item: Any) -> dict[str, Any] | None:
    """Return a copy that equals an item for as long as that says the same.

    None of an item that holds more than texts, in objects and lists.
    """
    fields: Any = item
    if type(item) is not dict:
        return None
    if _COPIED.issuperset(map(type, fields.values())):  # as in most
        copy: dict[str, Any] = fields.copy()
        return copy
    try:
        return cast("dict[str, Any]", _copy(fields))
    except (_NoCopyError, RecursionError):
        return None


class _NoCopyError(Exception):
    """Something is no text, and may equal what says something else."""


def _copy(value: Any) -> Any:
    if type(value) is dict:
        fields = cast("dict[str, Any]", value)
        if _COPIED.issuperset(map(type, fields.values())):  # as in most
            return fields.copy()
        return {
            key: inner if type(inner) in _COPIED else _copy(inner) for key, inner in fields.items()
        }
    if type(value) is list:
        inside = cast("list[Any]", value)
        return [inner if type(inner) in _COPIED else _copy(inner) for inner in inside]
    raise _NoCopyError


def edited_index(
    items: list[Any], copies: list[dict[str, Any] | None], prints: Sequence[int]
) -> int | None:
    """Return the index of the first item that no longer says what it said, None where all do.

    Args:
        items: The items, the same objects as they were.
        copies: What `copied` returned of them.
        prints: Their fingerprints at that time.
    """
    # Where there are copies, items are dicts, whose comparison asks nothing of anybody's.
    if all(copies) and copies == items:  # as it is almost always
        return None
    told = enumerate(zip(items, copies, strict=True))
    doubtful = [index for index, (item, copy) in told if copy is None or copy != item]
    now = fingerprints([items[index] for index in doubtful])
    known = zip(doubtful, now, strict=True)
    return next((index for index, found in known if found != prints[index]), None)


def head_digest(prints: Sequence[int], kept: Sequence[int], *, native: bool) -> str:
    """Return what tells a head that was tried, or whose fold was undone, within this process.

    Args:
        prints: The fingerprints of the items between the prefix and the cut.
        kept: Indices in the list of those of them that stay, ascending.
        native: Whether a provider folds it: what words could not make smaller, it may.
    """
    return f"{hash((tuple(prints), tuple(kept), native)) & 0xFFFFFFFFFFFFFFFF:016x}"


def stable_digest(value: Any) -> str:
    """Return a number in 32 hex digits that is the same for all that says the same."""
    return blake2b(lasting(value), digest_size=16).hexdigest()


def lasting(value: Any, say: Callable[[Any], Any] = plain) -> bytes:
    """Return what a value says, in bytes that are the same in every process.

    JSON where it can be. It holds no integer of thousands of digits and nothing that is nested
    hundreds deep; those who copied such a value still agree, unless they have reordered its keys.
    What holds itself, or cannot say what it holds, equals nothing but the same object.

    Args:
        value: Anything.
        say: Returns what counts of a value, in JSON types.
    """
    try:
        said = say(value)
    except Exception:  # whatever is wrong with one item must not break the rest
        said = value
    try:
        return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    except Exception:  # the integer, the nesting, or what `say` could say nothing of
        pass
    try:
        return marshal.dumps(said, _VERSION)
    except ValueError:
        return b"%b %d" % (_PROCESS, id(value))


def content(item: Any, say: Callable[[Any], Any] | None = None) -> bytes:
    """Return what an item says, in bytes that are the same in every process and for equal copies.

    Neither cache markers count nor fields that are not set.

    Args:
        item: The item.
        say: What its shape says of the forms that one item may come in (`Shape.said`).
    """
    return lasting(item, lambda it: said(it if say is None else say(it)))


def changed_index(
    now: Sequence[object],
    now_prints: Sequence[int],
    then: Sequence[object],
    then_prints: Sequence[int],
    say: Callable[[Any], Any] | None = None,
) -> int | None:
    """Return the index of the first item that says something else than it did.

    Args:
        now: The items as they are in the list.
        now_prints: Their fingerprints.
        then: The items as they were.
        then_prints: Their fingerprints at that time.
        say: See `content`.

    Returns:
        None where nothing changed; an equal copy (a list reloaded from JSON) is no change, nor is
        one without fields that were not set, or with other cache markers.
    """
    for index, (new, old) in enumerate(zip(now, then, strict=False)):
        if now_prints[index] == then_prints[index]:
            continue
        edited = new is old or fingerprints([old])[0] != then_prints[index]
        if edited or content(new, say) != content(old, say):
            return index
    return None if len(now) == len(then) else min(len(now), len(then))


def _counted(item: Any, blob: bytes) -> bytes:
    """Return the bytes of what counts of an item: no markers, and a text for a block of text."""
    if may_be_marked(blob):
        return _unmarked_blob(item, blob)
    told = as_text(item)
    return blob if told is item else _blob(told)


def _unmarked_blob(item: Any, blob: bytes) -> bytes:
    try:
        return _blob(unmarked(item))
    except RecursionError:  # it is nested hundreds deep, and `marshal` knows it as it stands
        return blob


def _blob(item: Any) -> bytes:
    try:
        return marshal.dumps(item, _VERSION)
    except ValueError:
        pass
    try:
        return marshal.dumps(plain(item), _VERSION)
    except Exception:  # an object that cannot say what it holds is told apart by identity alone
        return str(id(item)).encode()
