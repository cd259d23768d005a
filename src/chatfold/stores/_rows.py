"""Folds and items as rows of `SQLStore`'s tables, written and read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Final

import sqlalchemy as sa

from chatfold.stores._encoding import ItemRow, decoded, encoded, restored, text_bytes, text_of
from chatfold.stores._schema import Search, calls, folds, items
from chatfold.stores.base import StoredFold, StoredItem

__all__ = ["add_items", "called_items", "distinct_items", "fold_of", "item_of", "named", "scope"]

_BATCH: Final = 200  # rows read at a time


def add_items(
    connection: sa.Connection, fold: StoredFold, rows: Sequence[ItemRow], search: Search
) -> None:
    """Write the items of a fold that has been written, with their call ids and their words."""
    number = connection.scalars(sa.select(folds.c.id).where(named(fold.key, fold.fold_id))).one()
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
            for row in rows
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
    if called:
        connection.execute(calls.insert(), called)
    words = [(item, row.words) for item, row in placed if row.words]
    if words:
        search.add(connection, scope(fold.key), words)


def named(key: str, fold_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(folds.c.key == text_bytes(key), folds.c.fold_id == text_bytes(fold_id))


def scope(key: str) -> str:
    """Return a word that stands for a key in the index, whatever the key is made of."""
    return f"k{blake2b(text_bytes(key), digest_size=16).hexdigest()}"


def called_items(key: str, call_id: str) -> sa.Select[Any]:
    """Return what selects the ids of the items of a call, in order of their folds."""
    return (
        sa.select(items.c.id)
        .join(calls, calls.c.item == items.c.id)
        .join(folds, items.c.fold == folds.c.id)
        .where(calls.c.key == text_bytes(key), calls.c.call_id == text_bytes(call_id))
        .order_by(folds.c.created, folds.c.id, items.c.position)
    )


def distinct_items(
    connection: sa.Connection, numbers: Sequence[int], limit: int
) -> list[StoredItem]:
    """Return items by their ids, in that order; of those that say the same, the first."""
    found: dict[bytes, StoredItem] = {}
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        rows = {
            row.id: row for row in connection.execute(sa.select(items).where(items.c.id.in_(batch)))
        }
        for number in batch:
            row = rows[number]
            if row.content not in found:
                found[row.content] = item_of(row)
            if len(found) == limit:
                return list(found.values())
    return list(found.values())


def fold_of(row: Any, region: Iterable[StoredItem]) -> StoredFold:
    return StoredFold(
        key=text_of(row.key),
        fold_id=text_of(row.fold_id),
        digest=text_of(row.digest),
        length=row.length,
        summary=decoded(row.summary),
        kept=tuple(decoded(row.kept)),
        extent=row.extent,
        items=tuple(region),
        created=row.created,
    )


def item_of(row: Any) -> StoredItem:
    return restored(row.position, row.text, decoded(row.call_ids), row.item)
