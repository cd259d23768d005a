"""Folds of hosts' lists and claims as rows of `SQLStore`'s tables, written and read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import sqlalchemy as sa

from chatfold.stores._encoding import decoded, decoded_list, encoded, text_bytes, text_of
from chatfold.stores._rows import scope
from chatfold.stores._schema import Dialect, claims, host_folds
from chatfold.stores._sound import Sound
from chatfold.stores.hosts import Claim, HostFold, checked_host_fold

__all__ = [
    "add_claim",
    "end_claim",
    "extend_claim",
    "host_fold_of",
    "host_values",
    "longest_fold",
    "of",
]


def host_values(fold: HostFold) -> dict[str, Any]:
    """Return a fold as a row.

    Raises:
        TypeError: A value is not made of JSON types.
        ValueError: JSON cannot write a value.
    """
    return {
        "scope": scope(fold.key),
        "digest": fold.digest,
        "key": text_bytes(fold.key),
        "length": fold.length,
        "text": text_bytes(fold.text),
        "summary": encoded(fold.summary, "the summary"),
        "kept": encoded(fold.kept, "kept"),
        "base": fold.base,
        "details": encoded(fold.details, "details"),
        "created": fold.created,
    }


def host_fold_of(row: Any) -> HostFold:
    """Return a fold again.

    Raises:
        DamagedError: A value is not as it was written.
        TypeError: The same.
        ValueError: The same.
    """
    return checked_host_fold(
        HostFold(
            key=text_of(row.key),
            digest=row.digest,
            length=row.length,
            text=text_of(row.text),
            summary=decoded(row.summary),
            kept=decoded_list(row.kept),
            base=row.base,
            details=decoded(row.details),
            created=row.created,
        )
    )


def of(key: str, digest: str | None = None) -> sa.ColumnElement[bool]:
    """Return what selects the folds of a key, or the one of a digest."""
    named = sa.true() if digest is None else host_folds.c.digest == digest
    return sa.and_(host_folds.c.scope == scope(key), host_folds.c.key == text_bytes(key), named)


def longest_fold(
    connection: sa.Connection, dialect: Dialect, key: str, digests: Sequence[str], sound: Sound
) -> HostFold | None:
    """Return the fold that stands for the most items; the newest of equal ones.

    One that is damaged may stand for the most by what is left of it, so the next one is looked at.
    """
    wanted = (
        sa.select(host_folds)
        .where(of(key), dialect.among(host_folds.c.digest, digests))
        .order_by(host_folds.c.length.desc(), host_folds.c.created.desc(), host_folds.c.id.desc())
        .limit(1)
    )
    for passed_by in count():
        row = connection.execute(wanted.offset(passed_by)).one_or_none()
        fold = None if row is None else sound.made(host_fold_of, row)
        if row is None or fold is not None:
            return fold
    raise AssertionError("there are only so many rows")


def add_claim(connection: sa.Connection, dialect: Dialect, claim: Claim, seconds: float) -> bool:
    """Write a claim, in a way that others cannot come between; return False where one has it."""
    now = dialect.now()
    insert = dialect.upsert(claims).values(
        scope=scope(claim.key), digest=claim.digest, token=claim.token, until=now + seconds
    )
    connection.execute(
        insert.on_conflict_do_update(
            index_elements=[claims.c.scope, claims.c.digest],
            set_={"token": insert.excluded.token, "until": insert.excluded.until},
            where=claims.c.until <= now,
        )
    )
    # Drivers do not count alike what such an insert has done; the row says whose it is.
    return connection.scalar(sa.select(claims.c.token).where(_is(claim))) is not None


def extend_claim(connection: sa.Connection, dialect: Dialect, claim: Claim, seconds: float) -> bool:
    """Hold a claim for longer; return False where it is no longer held."""
    now = dialect.now()
    held = claims.update().where(_is(claim), claims.c.until > now).values(until=now + seconds)
    return connection.execute(held).rowcount > 0


def end_claim(connection: sa.Connection, claim: Claim) -> None:
    """Remove a claim, if it is still held."""
    connection.execute(claims.delete().where(_is(claim)))


def _is(claim: Claim) -> sa.ColumnElement[bool]:
    return sa.and_(
        claims.c.scope == scope(claim.key),
        claims.c.digest == claim.digest,
        claims.c.token == claim.token,
    )
