"""What folds took out of a list, in a store: written before the swap, read for undo and recall.

Not here: where it is kept (`chatfold.stores`), the folds of this process (`swaps`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from chatfold.core.callables import kind_of
from chatfold.core.digest import stable_digest
from chatfold.core.encoded import readable
from chatfold.core.redaction import Redact, redacted
from chatfold.core.summary import summary_id
from chatfold.core.undo import Fold
from chatfold.core.views import (
    CallPart,
    ItemView,
    MediaPart,
    ResultPart,
    ServerCallPart,
    TextPart,
    texts,
)
from chatfold.errors import ChatfoldError, StoreError
from chatfold.stored_form import NotRestorableError, from_stored, to_stored
from chatfold.stores import Store, StoredFold, StoredItem
from chatfold.stores.base import checked_fold

__all__ = ["Originals"]

_log = logging.getLogger("chatfold")

ValueT = TypeVar("ValueT")

_ONLY = "default"  # the key in a store that holds one conversation
_TRIAL: Final = "0" * 16  # names no fold, but is a digest like their names
_LATEST: Final[dict[tuple[int, str, str], object]] = {}
"""Who began last to write a fold, by its store, key and name; while it is being written."""


class Originals:
    """The folds of one conversation in a store; without a store there are none.

    Args:
        store: Where they are kept, or None.
        key: Names the conversation there.
        view_of: Returns the reading of an item.
        restored: Returns a native item for what the store holds of one.
    """

    def __init__(
        self,
        store: Store | None,
        key: str | None,
        view_of: Callable[[Any], ItemView],
        restored: Callable[[Any], Any],
    ) -> None:
        self._store = store
        self.key = key if key is not None or store is None else _ONLY
        self.tool: str | None = None  # name of the tool by which the agent reads them
        self._view_of = view_of
        self._restored = restored
        self._has_failed = False  # the store could not take the latest fold

    @property
    def are_kept(self) -> bool:
        """Whether there is a store."""
        return self._store is not None

    def require(self) -> Store:
        """Return the store.

        Raises:
            ValueError: There is none.
        """
        if self._store is None:
            raise ValueError(
                "recall needs the originals; pass store=, e.g. "
                "ChatContext(items, store=MemoryStore())"
            )
        return self._store

    def try_out(self, region: Sequence[Any], redact: Redact | None) -> None:
        """Find out whether the store can be written to, before a model is paid for a summary.

        Without its originals in the store no fold takes place. Where the latest could not be
        written, these are first, and taken out again: a full disk may take what is small.

        Args:
            region: What is to be folded.
            redact: What the originals are kept without.

        Raises:
            StoreError: It cannot be written to.
        """
        if self._store is None:
            return
        key = self.key or _ONLY
        if self._has_failed:
            trial = StoredFold(
                key=key,
                fold_id=_TRIAL,
                digest=stable_digest(region),
                length=len(region),
                summary=None,
                kept=(),
                extent=0,
                items=tuple(self._stored(n, item, redact) for n, item in enumerate(region)),
                created=time.time(),
            )
            _asked(self._store, lambda store: store.save(trial))
        _asked(self._store, lambda store: store.discard(key, _TRIAL))  # begins to write, at least
        self._has_failed = False

    def keep(self, fold: Fold, fold_id: str, redact: Redact | None) -> bool:
        """Write what a fold is about to take out; an error of the store goes to the caller.

        What `redact` takes out of a prompt does not go into the store either.

        Returns:
            Whether nobody else has begun to write a fold of that name meanwhile.
        """
        if self._store is None:
            return True
        places = {id(item): position for position, item in enumerate(fold.region)}
        other = (*(item for item in fold.kept if id(item) not in places), *fold.others)
        said = [self._stored(n, item, redact) for n, item in enumerate(fold.region)]
        formed = [
            StoredItem(n, "", (), _formed(item, redact)) for n, item in enumerate(other, len(said))
        ]
        stored = StoredFold(
            key=self.key or _ONLY,
            fold_id=fold_id,
            digest=stable_digest(fold.region),
            length=len(said),
            summary=_formed(fold.summary, redact),
            kept=tuple(places[id(item)] for item in fold.kept if id(item) in places),
            extent=fold.extent,
            items=(*said, *formed),
            created=time.time(),
        )
        place = self._place(fold_id)
        _LATEST[place] = own = object()
        try:
            _asked(self._store, lambda store: store.save(stored))
            self._has_failed = False
        except StoreError:
            self._has_failed = True
            raise
        finally:
            is_latest = _LATEST.get(place) is own
            if is_latest:
                _LATEST.pop(place, None)
        return is_latest

    def _place(self, fold_id: str) -> tuple[int, str, str]:
        return id(self._store), self.key or _ONLY, fold_id

    def discard(self, fold_id: str) -> None:
        """Take out of the store what was written for a fold that is given up.

        Raises:
            StoreError: The store cannot be written to.
        """
        if self._store is not None:
            _asked(self._store, lambda store: store.discard(self.key or _ONLY, fold_id))

    def has(self, fold_id: str) -> bool:
        """Return whether a fold of that id is kept.

        Raises:
            StoreError: The store cannot be read.
        """
        return self._loaded(fold_id) is not None

    def holds_another(self, fold_id: str, region: Sequence[Any]) -> bool:
        """Return whether a fold of that id is kept that took out something else.

        It has the same words where a host has gone back and its list went on otherwise. Written
        over, it could not be undone, or only to what the other list had.

        Raises:
            StoreError: The store cannot be read.
        """
        kept = self._loaded(fold_id)
        return kept is not None and kept.digest != stable_digest(region)

    def fold(self, fold_id: str, summary: Any) -> Fold | None:
        """Return a fold of an earlier process, or None where the store has not its originals.

        Nor are they there where one of them held what no JSON brings back, or is damaged, or
        missing: whatever is not the whole fold is not put into the list.

        Args:
            fold_id: The digest on the tag of its summary.
            summary: The summary as it stands in the list.
        """
        stored = self._loaded(fold_id)
        if stored is None:
            return None
        # A summary of ours comes first of all that is put in; what a provider writes may come last.
        first = _is_ours(self._view_of(summary))
        fault = _fault(stored, first=first)
        if fault:
            _log.warning(
                "the store holds no whole fold %s, so it is not put back: %s", fold_id, fault
            )
            return None
        if any(item.item is None for item in stored.items):
            return None
        try:
            items = tuple(self._native(item, whole=True) for item in stored.items)
        except NotRestorableError:
            return None
        region, other = items[: stored.length], items[stored.length :]
        kept = tuple(region[position] for position in stored.kept)
        before = 0 if first else len(kept) + len(other)
        return Fold(summary, region, (*kept, *other), stored.digest, stored.extent, (), before)

    def found(
        self, call_id: str | None, query: str | None, limit: int, redact: Redact | None
    ) -> list[Any]:
        """Return originals that hold a call, its result, or words.

        Args:
            call_id: Id of a call as it stood in the list, or as `redact` returns it.
            query: Words.
            limit: Most items to return.
            redact: What the originals are kept without; earlier ones may have been kept whole.

        Raises:
            ValueError: There is no store, or neither or both are given.
            TypeError: What is given is no text.
        """
        store = self.require()
        if (call_id is None) == (query is None):
            raise ValueError("recall() takes call_id= or query=, one of them")
        for name, value in (("call_id", call_id), ("query", query)):
            if not (value is None or isinstance(value, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"{name} must be text, not {value!r}")
        find = partial(store.find, self.key or _ONLY, query=query, limit=limit)
        items = _asked(store, lambda _: find(call_id=call_id))
        if call_id is not None and not items:
            kept_as = redacted(call_id, redact)
            if kept_as != call_id:
                items = _asked(store, lambda _: find(call_id=kept_as))
        return [self._readable(item) for item in items if item.item is not None]

    def _loaded(self, fold_id: str) -> StoredFold | None:
        """Return a fold as the store has it, None where there is none, or no store."""
        if self._store is None:
            return None
        return _asked(self._store, lambda store: store.load(self.key or _ONLY, fold_id))

    def _native(self, item: StoredItem, *, whole: bool) -> Any:
        """Return the native item.

        Raises:
            NotRestorableError: Something of it was lost, and `whole` is true; or it is damaged.
        """
        try:
            return self._restored(from_stored(item.item, whole=whole))
        except NotRestorableError:
            raise
        except Exception as error:  # whatever a framework's class makes of what it never wrote
            raise NotRestorableError("an item in the store cannot be made again") from error

    def _readable(self, item: StoredItem) -> Any:
        """Return the native item, or what can be read of it."""
        try:
            return self._native(item, whole=False)
        except NotRestorableError:
            return item.item

    def _stored(self, position: int, item: Any, redact: Redact | None) -> StoredItem:
        view = self._view_of(item)
        if _is_ours(view):
            view = view._replace(parts=view.parts[1:])  # what it stands for is found, not itself
        text = "\n".join(readable(redacted(t, redact))[0] for t in _sought(view) if t)
        calls = tuple(dict.fromkeys(redacted(id_, redact) for id_ in _call_ids(view)))
        return StoredItem(position, text, calls, _formed(item, redact))


def _asked(store: Store, ask: Callable[[Store], ValueT]) -> ValueT:
    """Return what a store answers.

    Raises:
        StoreError: It failed; one of the caller's own may have raised what its driver raises.
    """
    try:
        return ask(store)
    except (ChatfoldError, TypeError, ValueError):  # of what it was given
        raise
    except Exception as error:
        raise StoreError(f"{kind_of(store)} failed: {kind_of(error)}: {error}") from error


def _fault(stored: StoredFold, *, first: bool) -> str:
    """Return what tells that a stored fold is not whole, "" where nothing does.

    Args:
        stored: What a store has returned, which anybody may have changed there.
        first: Whether its summary comes before all else that was put in.
    """
    try:
        checked_fold(stored)
    except (TypeError, ValueError) as error:
        return str(error)
    count, other = len(stored.items), stored.items[stored.length :]
    positions = [item.position for item in stored.items]
    if positions != [*range(count)] or not 0 < stored.length <= count:
        return f"{stored.length} items were saved, and {count} are there, or others"
    if any(position >= stored.length for position in stored.kept):
        return "an item that was kept is none of its items"
    # Only items of the region are searched; what else was put in stands behind the summary.
    if any(item.text or item.call_ids for item in other) or (
        first and len(stored.kept) + len(other) > stored.extent
    ):
        return "it has more items than were taken out and put in"
    return ""


def _is_ours(view: ItemView) -> bool:
    """Return whether an item is, or begins with, a summary in chatfold's wrapper."""
    first = view.parts[0] if view.parts else None
    return isinstance(first, TextPart) and summary_id(first.text) != ""


def _formed(item: Any, redact: Redact | None) -> Any:
    return to_stored(item, None if redact is None else partial(redacted, redact=redact))


def _sought(view: ItemView) -> Iterator[str]:
    """Yield what an item is found by: its texts, and what media are called as a prompt shows them.

    That is the URL of a picture without a name.
    """
    yield from texts(view)
    for part in view.parts:
        if type(part) is MediaPart:
            yield part.name or ""
        elif type(part) is ResultPart:
            yield from (medium.name or "" for medium in part.media)


def _call_ids(view: ItemView) -> Iterator[str]:
    for part in view.parts:
        if isinstance(part, (CallPart, ResultPart, ServerCallPart)) and part.id:
            yield part.id
