"""Stored folds for tests: written by hand in short, or drawn with everything JSON can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from chatfold.stores import HostFold, MemoryStore, SQLStore, StoredFold, StoredItem
from chatfold.stores._schema import prepare
from chatfold.stores._sqlite import SQLite
from chatfold.stores._sqlite_search import FTS5Search, ScanSearch

__all__ = [
    "KINDS",
    "PATIENT",
    "AnyStore",
    "any_text",
    "digests",
    "exact",
    "exact_host",
    "fold",
    "folds",
    "host_fold",
    "host_folds",
    "indexed",
    "item",
    "scanned",
    "texts",
]


def item(position: int, text: str, *call_ids: str, native: Any = ...) -> StoredItem:
    """Return an item that says `text`."""
    said = {"role": "user", "content": text} if native is ... else native
    return StoredItem(position, text, call_ids, said)


def fold(
    *texts_or_items: str | StoredItem,
    key: str = "conversation",
    fold_id: str = "first",
    created: float = 1000.0,
) -> StoredFold:
    """Return a fold of items that say the texts."""
    region = tuple(
        item(index, said) if isinstance(said, str) else said
        for index, said in enumerate(texts_or_items)
    )
    return StoredFold(
        key=key,
        fold_id=fold_id,
        digest=f"digest of {fold_id}",
        length=len(region),
        summary={"role": "user", "content": f"summary {fold_id}"},
        kept=(0,) if region else (),
        extent=1,
        items=region,
        created=created,
    )


def host_fold(
    length: int,
    *,
    digest: str | None = None,
    key: str = "conversation",
    base: str | None = None,
    created: float = 1000.0,
) -> HostFold:
    """Return the fold of the first items of a host's list."""
    return HostFold(
        key=key,
        digest=digest or f"first {length}",
        length=length,
        text=f"summary of {length}",
        summary={"role": "user", "content": f"summary of {length}"},
        kept=(0, 2),
        base=base,
        details={"tokens": length},
        created=created,
    )


def texts(found: Sequence[StoredItem]) -> list[str]:
    """Return what items say."""
    return [one.text for one in found]


def scanned(path: Path, **options: Any) -> SQLStore:
    """Return a store on a file that was made by an SQLite without FTS5."""
    if not path.exists():
        prepare(SQLite(str(path), 5.0), [ScanSearch()])
    return SQLStore(path, **options)


def indexed(path: Path, **options: Any) -> SQLStore:
    """Return a store that takes any texts for so many that its index is asked."""
    store = SQLStore(path, **options)
    store._database.search = FTS5Search(few=0)
    return store


PATIENT = 60.0
"""Seconds that a store waits for others in tests of many at once: the disk may be slow or busy."""

AnyStore = MemoryStore | SQLStore
"""A store that is both a `Store` and a `HostStore`."""

KINDS: dict[str, Callable[..., AnyStore]] = {
    "memory": lambda path, **options: MemoryStore(**options),
    "fts5": lambda path, **options: SQLStore(path, **{"timeout": PATIENT, **options}),
    "indexed": lambda path, **options: indexed(path, **{"timeout": PATIENT, **options}),
    "scan": lambda path, **options: scanned(path, **{"timeout": PATIENT, **options}),
}

any_text = st.text(st.characters(exclude_categories=()), max_size=12)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**301)
    | st.floats()
    | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def folds(draw: st.DrawFn) -> StoredFold:
    """Draw a fold of anything that a store must take."""
    region = [
        StoredItem(position, draw(any_text), tuple(draw(st.lists(any_text, max_size=2))), native)
        for position, native in enumerate(draw(st.lists(json_values, max_size=4)))
    ]
    return StoredFold(
        key=draw(any_text.filter(bool)),
        fold_id=draw(any_text.filter(bool)),
        digest=draw(any_text),
        length=draw(st.integers(0, 2**31 - 1)),
        summary=draw(json_values),
        kept=tuple(draw(st.lists(st.integers(0, 9), max_size=3))),
        extent=draw(st.integers(0, 100)),
        items=tuple(region),
        created=draw(st.floats(-1e12, 1e12)) + 0.0,  # databases know no -0.0
    )


digests = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=40)


@st.composite
def host_folds(draw: st.DrawFn) -> HostFold:
    """Draw a fold of a host's list, of anything that a store must take."""
    return HostFold(
        key=draw(any_text.filter(bool)),
        digest=draw(digests | st.just("x" * 200)),
        length=draw(st.integers(0, 2**31 - 1)),
        text=draw(any_text),
        summary=draw(json_values),
        kept=tuple(draw(st.lists(st.integers(0, 9), max_size=3))),
        base=draw(st.none() | digests),
        details=draw(json_values),
        created=draw(st.floats(-1e12, 1e12)) + 0.0,  # databases know no -0.0
    )


def exact_host(found: HostFold | None) -> str:
    """Return all that such a fold holds."""
    assert found is not None
    return repr([found, found.text, found.summary, found.details])


def exact(stored: StoredFold | None) -> str:
    """Return all that a fold holds, so that NaN equals itself and the order of keys counts."""
    assert stored is not None
    return repr(
        [
            stored,
            stored.summary,
            [(one.position, one.text, one.call_ids, one.item) for one in stored.items],
        ]
    )
