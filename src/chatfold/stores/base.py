"""What a store keeps and what it must be able to do: the values and the `Store` protocol."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final, Protocol, runtime_checkable

from chatfold.core.scalars import check_number

__all__ = [
    "Store",
    "StoredFold",
    "StoredItem",
    "checked_count",
    "checked_fold",
    "checked_item",
    "checked_key",
    "checked_time",
    "horizon",
    "seconds",
]

_MOST: Final = 2**31  # items; what a database holds in a column of whole numbers


@dataclass(frozen=True, slots=True)
class StoredItem:
    """One original item of a fold.

    Attributes:
        position: Index of the item in the region that the fold replaced, from 0.
        text: What can be read of the item, and is searched; "" where originals are not kept.
        call_ids: Ids of the tool calls that the item makes or answers.
        item: The native item in JSON types, with tags on what JSON has no type for (bytes,
            decimals, dates); None where originals are not kept.
    """

    position: int
    text: str = field(repr=False)
    call_ids: tuple[str, ...] = ()
    item: Any = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class StoredFold:
    """One fold, with all that is needed to use it again and to take it back.

    Attributes:
        key: Names the conversation or tenant; nothing is ever found under another key.
        fold_id: Names the fold within its key: the digest on its summary's tag.
        digest: Content digest of the region that was replaced.
        length: Number of items in that region.
        summary: The summary item that was put in, in JSON types.
        kept: Positions in the region of the items that stayed in the list as they were.
        extent: Number of items behind the summary among which the kept ones were left.
        items: The region, in order of position; behind it, from the position `length` on, what
            was put into the list besides the summary or stays there in another form. Empty in
            what `Store.folds` returns.
        created: Seconds since the epoch.
    """

    key: str
    fold_id: str
    digest: str
    length: int
    summary: Any = field(repr=False)
    kept: tuple[int, ...]
    extent: int
    items: tuple[StoredItem, ...] = field(repr=False)
    created: float


@runtime_checkable
class Store(Protocol):
    """Keeps folds and originals; every method may be called from any thread.

    Whatever a key is, no method returns, counts or removes what was saved under another one. What
    is returned is fresh: changing it changes nothing in the store. A method that cannot do its
    work raises `StoreError` and has then changed nothing, unless it says otherwise. What somebody
    has damaged in the store is as if it were not there, but for `erase` and `expire`.
    """

    def save(self, fold: StoredFold) -> None:
        """Keep a fold, all of it or nothing, in place of an earlier one of the same key and id.

        It is called before the list is changed, so a fold may be kept that never took place. That
        does no harm: a fold is looked up by the id on a summary in the list.

        Raises:
            TypeError: The summary or an item is not made of JSON types.
            ValueError: A field is out of range, or JSON cannot write a value.
        """
        ...

    def load(self, key: str, fold_id: str) -> StoredFold | None:
        """Return a fold with its items, or None where there is none of that id."""
        ...

    def folds(self, key: str) -> list[StoredFold]:
        """Return the folds of a key without their items, oldest first."""
        ...

    def discard(self, key: str, fold_id: str) -> None:
        """Remove one fold that was undone or never put in; one that is not there is no error.

        So it is asked before a model is paid for a summary: a store that cannot be written to
        should raise here too. After a `save` that failed, what is to be folded is saved and
        discarded first, under a name of sixteen zeros.
        """
        ...

    def find(
        self, key: str, *, call_id: str | None = None, query: str | None = None, limit: int = 20
    ) -> list[StoredItem]:
        """Return originals by a call's id, by words in their text, or by words among a call's.

        Items of a fold that never took place are found too: they are originals all the same. Of
        items that say the same, one is returned, so a region saved twice is found once.

        Args:
            key: The conversation or tenant.
            call_id: Exact id of a tool call; such items come in order of their folds.
            query: Words, compared without case and accents. Items that hold all of them come
                first and alone; only where there are none, those that hold some. The best match
                stands first. A word of three characters or more, and an id with a hyphen or the
                like, is found by its beginning too; scripts without spaces are found by any part.
                Nothing in it is syntax: quotes and brackets stand between words, other signs
                join an id. The first 32 words of the first 10,000 characters count. Blank is as
                None.
            limit: Number of items to return at most; 0 returns none.

        Raises:
            ValueError: Both `call_id` and `query` are None, or `limit` is negative.
        """
        ...

    def erase(self, key: str) -> int:
        """Remove all that was saved under a key; return the number of folds.

        Raises:
            TypeError: The key is no text, so that nothing was saved under it.
            ValueError: It is empty.
        """
        ...

    def expire(self, before: float) -> int:
        """Remove the folds of every key that are older than a time; return their number.

        Args:
            before: Seconds since the epoch.
        """
        ...


def checked_fold(fold: StoredFold) -> StoredFold:
    """Return the fold, if a store can keep it; what comes out of a store is looked at alike.

    Raises:
        TypeError: It is no `StoredFold`, or one of its fields is of another type.
        ValueError: A field is out of range.
    """
    if not isinstance(fold, StoredFold):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"save() takes a StoredFold, not {type(fold).__name__}")
    checked_key(fold.key)
    _checked_text("fold_id", fold.fold_id)
    _checked_text("digest", fold.digest)
    if not fold.fold_id:
        raise ValueError("a fold needs a fold_id that is not empty")
    checked_count("length", fold.length)
    checked_count("extent", fold.extent)
    for place in fold.kept:
        checked_count("a position in kept", place)
    checked_time(fold.created)
    places = [checked_item(item).position for item in fold.items]
    if any(a >= b for a, b in pairwise(places)):
        raise ValueError("items must be in order of position, and no position taken twice")
    return fold


def checked_item(item: StoredItem) -> StoredItem:
    """Return the item, if a store can keep it.

    Raises:
        TypeError: It is no `StoredItem`, or one of its fields is of another type.
        ValueError: Its position is out of range.
    """
    if not isinstance(item, StoredItem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"an item must be a StoredItem, not {type(item).__name__}")
    checked_count("position", item.position)
    _checked_text("text", item.text)
    for call_id in item.call_ids:
        _checked_text("a call id", call_id)
    return item


def checked_count(name: str, value: int) -> int:
    """Return a number of items, or the place of one.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is negative, or more than databases hold.
    """
    if type(value) is not int:
        raise TypeError(f"{name} must be a whole number, not of type {type(value).__name__}")
    if not 0 <= value < _MOST:
        raise ValueError(f"{name} must be 0 or more, and less than 2**31")
    return value


def checked_time(created: float) -> float:
    """Return when something was made.

    Raises:
        TypeError: It is no number.
        ValueError: It is no time.
    """
    if not isinstance(created, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"created must be a number, not of type {type(created).__name__}")
    if not math.isfinite(created):
        raise ValueError(f"created must be seconds since the epoch, not {created!r}")
    return created


def _checked_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")


def checked_key(key: str) -> str:
    """Return a key, if it can name a conversation or tenant.

    Raises:
        TypeError: It is no text.
        ValueError: It is empty.
    """
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a key must be a str, not {type(key).__name__}")
    if not key:
        raise ValueError("a key must not be empty")
    return key


def seconds(expire_after: float | timedelta | None) -> float | None:
    """Return a time to live in seconds.

    Raises:
        TypeError: It is no number, and no timedelta.
        ValueError: It is not more than 0.
    """
    if expire_after is None:
        return None
    if isinstance(expire_after, timedelta):
        wanted = expire_after.total_seconds()
    else:
        check_number("expire_after", expire_after)
        wanted = expire_after
    if not 0 < wanted < math.inf:
        raise ValueError(f"expire_after must be more than 0 seconds, or None, not {expire_after!r}")
    return wanted


def horizon(before: float | None, expire_after: float | None) -> float:
    """Return the time before which folds are too old, in seconds since the epoch.

    Raises:
        ValueError: Neither is given, or `before` is not a number.
        TypeError: `before` is none.
    """
    if before is not None:
        check_number("before", before)
        if math.isnan(before):
            raise ValueError(f"before must be in seconds since the epoch, not {before!r}")
        return before
    if expire_after is None:
        raise ValueError("expire() needs a time, or a store with expire_after=")
    return time.time() - expire_after
