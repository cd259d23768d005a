"""Folds as bytes, the same for every store: JSON that keeps every string exactly as it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, cast

from chatfold.errors import StoreError
from chatfold.stores._words import searchable
from chatfold.stores.base import StoredFold, StoredItem, checked_item

__all__ = [
    "DamagedError",
    "ItemRow",
    "decoded",
    "decoded_list",
    "encoded",
    "item_rows",
    "restored",
    "text_bytes",
    "text_of",
]


class DamagedError(StoreError):
    """A store holds what none has written; `Sound` passes it by."""


class ItemRow(NamedTuple):
    """One item as stores keep it; rows of items that say the same have the same `content`."""

    position: int
    text: bytes
    call_ids: tuple[str, ...]
    item: bytes | None
    words: str
    content: bytes


def text_bytes(text: str) -> bytes:
    """Return a text as UTF-8; lone surrogates, which databases refuse as text, are kept."""
    return text.encode("utf-8", "surrogatepass")


def text_of(data: bytes) -> str:
    """Return the text again.

    Raises:
        DamagedError: It is none.
    """
    try:
        return data.decode("utf-8", "surrogatepass")
    except (AttributeError, UnicodeDecodeError) as error:
        raise DamagedError("what must be text is none") from error


def encoded(value: Any, what: str) -> bytes:
    """Return a value of JSON types as JSON.

    Nothing is escaped that need not be: two lone surrogates side by side, written as escapes,
    would come back as one character.

    Raises:
        TypeError: Part of the value is no JSON type.
        ValueError: It holds itself, is nested too deeply, or has an integer that is too long.
    """
    try:
        return text_bytes(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except TypeError as error:
        raise TypeError(f"{what} must be made of JSON types: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} cannot be written as JSON: {error}") from error


def decoded(data: bytes) -> Any:
    """Return the value again, equal and with its keys in order.

    Raises:
        DamagedError: It is no JSON.
    """
    try:
        return json.loads(text_of(data))
    except (TypeError, ValueError, RecursionError) as error:
        raise DamagedError("what must be JSON is none") from error


def decoded_list(data: bytes) -> tuple[Any, ...]:
    """Return the values of a list again.

    Raises:
        DamagedError: It is none.
    """
    values: Any = decoded(data)
    if not isinstance(values, list):
        raise DamagedError(f"what must be a list is of type {type(values).__name__}")
    return tuple(cast("list[Any]", values))


def item_rows(fold: StoredFold, *, keep_originals: bool) -> list[ItemRow]:
    """Return the items of a fold as they are kept.

    Args:
        fold: The fold.
        keep_originals: Whether to keep more of them than their positions and call ids.

    Raises:
        TypeError: An item is not made of JSON types.
        ValueError: JSON cannot write an item.
    """
    if keep_originals:
        return [_row(item) for item in fold.items]
    return [_row(StoredItem(item.position, "", item.call_ids)) for item in fold.items]


def restored(position: int, text: bytes, call_ids: Sequence[str], item: bytes | None) -> StoredItem:
    """Return a kept item again.

    Raises:
        DamagedError: A value is not as it was written.
        TypeError: The same.
        ValueError: The same.
    """
    native = None if item is None else decoded(item)
    return checked_item(StoredItem(position, text_of(text), tuple(call_ids), native))


def _row(item: StoredItem) -> ItemRow:
    native = None if item.item is None else encoded(item.item, f"the item at {item.position}")
    text = text_bytes(item.text)
    said = blake2b(digest_size=16)
    for part in (encoded(item.call_ids, "call_ids"), native or b"", text):
        said.update(b"%d:" % len(part))
        said.update(part)
    words = searchable(item.text)
    return ItemRow(item.position, text, item.call_ids, native, words, said.digest())
