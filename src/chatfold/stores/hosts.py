"""What a store keeps for hosts that own their list: the values and the `HostStore` protocol.

Such a host hands over its whole list at each turn and never sees the list that goes to the model,
so what was folded is recognized by what it stood for. Not here: originals (`base`).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from chatfold.stores.base import checked_count, checked_key, checked_time

__all__ = [
    "Claim",
    "HostFold",
    "HostStore",
    "checked_digest",
    "checked_host_fold",
    "checked_lease",
    "usable",
]

_LONGEST_DIGEST = 200  # characters; databases bound what an index holds


@dataclass(frozen=True, slots=True)
class HostFold:
    """One fold of a list that belongs to a host.

    Attributes:
        key: Names the conversation or tenant; nothing is ever found under another key.
        digest: Rolling digest of the host's items that the summary stands for, as ASCII text of 1
            to 200 characters. It names the fold within its key.
        length: Number of these items.
        text: The summary's text; "" where the fold was undone: nobody is to use it again.
        summary: The summary item, in JSON types.
        kept: Positions among these items of those that stay in the list as they are.
        base: Digest of the earlier fold that this one went on from, which it replaces; None for
            the first.
        details: What else the caller wants back, in JSON types.
        created: Seconds since the epoch.
    """

    key: str
    digest: str
    length: int
    text: str = field(repr=False)
    summary: Any = field(repr=False)
    kept: tuple[int, ...] = ()
    base: str | None = None
    details: Any = field(default=None, repr=False)
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to do one piece of work alone, for some time.

    Attributes:
        key: The conversation or tenant.
        digest: What is claimed.
        token: Tells the holder from later ones.
    """

    key: str
    digest: str
    token: str = field(repr=False)


@runtime_checkable
class HostStore(Protocol):
    """Keeps folds of hosts' lists, and settles who makes the next; callable from any thread.

    As with a `Store`, no method returns, counts or removes what belongs to another key, what is
    returned is fresh, a method that cannot do its work raises `StoreError` and has changed
    nothing, and what somebody has damaged is as if it were not there.

    Several processes make one summary of a region in this way: `longest` finds none; `claim`,
    which only one of them gets; `longest` again, as the claim may have been free because the work
    was done meanwhile; summarize; `put`; `release`, also after a failure.
    """

    def put(self, fold: HostFold) -> None:
        """Keep a fold, in place of an earlier one of the same key and digest.

        Raises:
            TypeError: A field has another type, or a value is not made of JSON types.
            ValueError: A field is out of range, or JSON cannot write a value.
        """
        ...

    def longest(self, key: str, digests: Collection[str]) -> HostFold | None:
        """Return the fold that stands for the most items, among those with one of the digests.

        It is one query, however many digests there are. A host's list of n items is looked up by
        the rolling digests of its first 1, 2, ... n items; a caller that has a fold already asks
        for the digests of longer regions alone.

        Args:
            key: The conversation or tenant.
            digests: The digests in question, in any order; a digest that no fold can have is
                found nowhere.
        """
        ...

    def claim(self, key: str, digest: str, seconds: float) -> Claim | None:
        """Return a claim that nobody else has, or None at once where somebody has it.

        Args:
            key: The conversation or tenant.
            digest: What is claimed, as ASCII text of 1 to 200 characters. It need not be the
                digest of a fold.
            seconds: Time after which it is free again, should its holder have died.

        Raises:
            ValueError: `digest` or `seconds` is out of range.
        """
        ...

    def renew(self, claim: Claim, seconds: float) -> bool:
        """Hold a claim for so many seconds from now; return False where its time is up.

        Raises:
            ValueError: `seconds` is out of range.
        """
        ...

    def release(self, claim: Claim) -> None:
        """Give up a claim; one that is no longer held is no error and stays as it is."""
        ...

    def erase(self, key: str) -> int:
        """Remove all that was kept under a key, claims too; return the number of folds."""
        ...

    def expire(self, before: float) -> int:
        """Remove the folds of every key that are older than a time; return their number.

        Args:
            before: Seconds since the epoch.
        """
        ...


def checked_host_fold(fold: HostFold) -> HostFold:
    """Return the fold, if a store can keep it.

    Raises:
        TypeError: It is no `HostFold`, or one of its texts is none.
        ValueError: A field is out of range.
    """
    if not isinstance(fold, HostFold):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"put() takes a HostFold, not {type(fold).__name__}")
    checked_key(fold.key)
    checked_digest(fold.digest)
    if fold.base is not None:
        checked_digest(fold.base)
    if not isinstance(fold.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"text must be a str, not {type(fold.text).__name__}")
    checked_count("length", fold.length)
    checked_time(fold.created)
    return fold


def checked_digest(digest: str) -> str:
    """Return a digest, if it can name something.

    Raises:
        TypeError: It is no text.
        ValueError: It is empty, too long, or more than printable ASCII.
    """
    if not isinstance(digest, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a digest must be a str, not {type(digest).__name__}")
    if not _can_name(digest):
        raise ValueError(
            f"a digest must be 1 to {_LONGEST_DIGEST} printable ASCII characters, not {digest!r}"
        )
    return digest


def usable(digests: Collection[str]) -> list[str]:
    """Return those digests that a fold can have."""
    return [digest for digest in digests if _can_name(digest)]


def checked_lease(seconds: float) -> float:
    """Return the time of a claim in seconds.

    Raises:
        ValueError: It is not more than 0, or without end.
    """
    if not 0 < seconds < math.inf:
        raise ValueError(f"a claim needs more than 0 seconds and an end, not {seconds!r}")
    return float(seconds)


def _can_name(digest: str) -> bool:
    return 0 < len(digest) <= _LONGEST_DIGEST and digest.isascii() and digest.isprintable()
