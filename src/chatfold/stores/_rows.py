"""Folds and items as rows of `SQLStore`'s tables, written and read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from chatfold.stores._encoding import (
    ItemRow,
    decoded,
    decoded_list,
    encoded,
    restored,
    text_bytes,
    text_of,
)
from chatfold.stores._schema import Search, calls, folds, items, same
from chatfold.stores._sound import Sound
from chatfold.stores.base import StoredFold, StoredItem, checked_fold

__all__ = ["add_items", "called_items", "distinct_items", "fold_of", "item_of", "named", "scope"]

_BATCH: Final = 200  # rows read at a time
_ROWS: Final = 1000  # rows written at a time
_BYTES: Final = 1_000_000  # bytes from which on no further row is written with them

T = TypeVar("T")


def add_items(
    connection: sa.Connection, fold: StoredFold, rows: Sequence[ItemRow], search: Search
) -> None:
    """Write the items of a fold that has been written, with their call ids and their words."""
    number = connection.scalars(sa.select(folds.c.id).where(named(fold.key, fold.fold_id))).one()
    for part in _batches(rows, lambda row: len(row.text) + len(row.item or b"")):
        connection.execute(
            items.insert(),
            [
                {
                    "fold": number,
                    "position": row.position,
                    "text": row.text,
                    "call_ids": encoded(row.call_ids, "call_ids"),
                    "item": row.item,
                    "content": row.content,
                }
                for row in part
            ],
        )
    numbers = connection.scalars(
        sa.select(items.c.id).where(items.c.fold == number).order_by(items.c.position)
    ).all()
    placed = list(zip(numbers, rows, strict=True))
    called = [
        {"key": text_bytes(fold.key), "call_id": text_bytes(call_id), "item": item}
        for item, row in placed
        for call_id in dict.fromkeys(row.call_ids)
    ]
    for some in _batches(called, lambda row: len(row["key"]) + len(row["call_id"])):
        connection.execute(calls.insert(), some)
    words = [(item, row.words) for item, row in placed if row.words]
    for texts in _batches(words, lambda row: len(row[1])):
        search.add(connection, scope(fold.key), texts)


def _batches(rows: Sequence[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Divide rows into what is written at a time, so that no one statement takes for long."""
    batch: list[T] = []
    total = 0
    for row in rows:
        batch.append(row)
        total += size(row)
        if len(batch) == _ROWS or total >= _BYTES:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def named(key: str, fold_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(same(folds.c.key, text_bytes(key)), same(folds.c.fold_id, text_bytes(fold_id)))


def scope(key: str) -> str:
    """Return a word that stands for a key in the index, whatever the key is made of."""
    return f"k{blake2b(text_bytes(key), digest_size=16).hexdigest()}"


def called_items(key: str, call_id: str) -> sa.Select[Any]:
    """Return what selects the ids of the items of a call, in order of their folds."""
    return (
        sa.select(items.c.id)
        .join(calls, calls.c.item == items.c.id)
        .join(folds, items.c.fold == folds.c.id)
        .where(same(calls.c.key, text_bytes(key)), same(calls.c.call_id, text_bytes(call_id)))
        .order_by(folds.c.created, folds.c.id, items.c.position)
    )


def distinct_items(
    connection: sa.Connection, key: str, numbers: Sequence[int], limit: int, sound: Sound
) -> list[StoredItem]:
    """Return items of a key by their ids, in that order; of those that say the same, the first.

    Those that are damaged are passed by. So are those that are gone but for their words or call
    ids; their number may be that of another key's item by now.
    """
    wanted = sa.select(items).join(folds, items.c.fold == folds.c.id)
    wanted = wanted.where(same(folds.c.key, text_bytes(key)))
    found: dict[bytes, StoredItem] = {}
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        rows = {row.id: row for row in connection.execute(wanted.where(items.c.id.in_(batch)))}
        for number in batch:
            row = rows.get(number)
            if row is not None and row.content not in found:
                item = sound.made(item_of, row)
                if item is not None:
                    found[row.content] = item
            if len(found) == limit:
                return list(found.values())
    return list(found.values())


def fold_of(row: Any, region: Iterable[Any] = ()) -> StoredFold:
    """Return a fold again, with its items, given their rows.

    Raises:
        DamagedError: A value is not as it was written.
        TypeError: The same.
        ValueError: The same.
    """
    return checked_fold(
        StoredFold(
            key=text_of(row.key),
            fold_id=text_of(row.fold_id),
            digest=text_of(row.digest),
            length=row.length,
            summary=decoded(row.summary),
            kept=decoded_list(row.kept),
            extent=row.extent,
            items=tuple(map(item_of, region)),
            created=row.created,
        )
    )


def item_of(row: Any) -> StoredItem:
    """Return an item again; see `restored`."""
    return restored(row.position, row.text, decoded_list(row.call_ids), row.item)
