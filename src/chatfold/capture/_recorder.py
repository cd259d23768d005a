"""What is decided for each event of a stream that is recorded; it waits for nothing itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from chatfold.capture._ids import finished
from chatfold.capture._parted import standing
from chatfold.capture._values import Captured, Gather, Maker
from chatfold.core.views import Shape

__all__ = ["Recording"]

_log = logging.getLogger("chatfold")


class Recording:
    """What is known of a stream so far, and what was kept of it.

    Args:
        makers: The providers' modules; the stream is of the first that one of its events starts.
        shapes: Returns the shape of a name.
        items: The list that the items will be added to; it is only read.
        keep: Takes what is finished: items as soon as they are; usage, model and what the server
            holds once, when the stream ends (see `end`).
        lock: Returns what is held while nobody else may put new items in place of old ones.
        begins: Is called at the first event.
    """

    def __init__(
        self,
        makers: Sequence[Maker],
        shapes: Callable[[str], Shape],
        items: Sequence[Any],
        keep: Callable[[Captured], None],
        lock: Callable[[], AbstractContextManager[Any]] = nullcontext,
        begins: Callable[[], object] = nullcontext,
    ) -> None:
        self._makers = makers
        self._shapes = shapes
        self._items = items
        self._keep = keep
        self._lock = lock
        self._begins = begins
        self._gather: Gather | None = None
        self._shape: Shape | None = None
        self._fault = ""
        self._seen = False
        self._ended = False
        self.stored: tuple[Any, ...] = ()

    @property
    def unfinished(self) -> str:
        """What was begun and is not finished, "" where nothing is."""
        if self._fault:
            return self._fault
        if self._gather is not None:
            return self._gather.unfinished
        return "a stream that chatfold does not know" if self._seen else ""

    def take(self, event: Any) -> None:
        """Take in an event, and keep what it finished."""
        if not (self._ended or self._fault):
            if not self._seen:
                self._begins()
            self._seen = True
            self._store(lambda: self._fed(event))

    def end(self, *, forgotten: bool = False) -> None:
        """Take in that the stream has ended, whole or not; a second call does nothing.

        Args:
            forgotten: Whether nobody holds the stream any more. The garbage collector finds that
                out at any moment, in any thread: also while the list is read, or a lock is held.
                So what the request has cost is not told then, for whoever is told reads the list.
        """
        if self._ended:
            return
        self._ended = True
        gather = self._gather
        if gather is not None:
            self._store(gather.close, locks=not forgotten)
            usage, recorded = (None, ()) if forgotten else (gather.usage, self.stored)
            if usage or gather.model or gather.held or recorded:
                self._keep(Captured((), usage, gather.model, gather.held, recorded=recorded))
        if self.unfinished:
            _log.warning(
                "a recorded stream ended before it was finished; not stored: %s; stored: %d items",
                self.unfinished,
                len(self.stored),
            )

    def _fed(self, event: Any) -> Iterable[Any]:
        """Return the raw items that an event finished; before the first, find out whose it is."""
        if self._gather is None:
            for maker in self._makers:
                gather = maker.starts(event)
                if gather is not None:
                    self._gather, self._shape = gather, self._shapes(maker.shape)
                    return gather.feed(event)
            return ()
        return self._gather.feed(event)

    def _store(self, read: Callable[[], Iterable[Any]], *, locks: bool = True) -> None:
        """Keep what is read.

        Args:
            read: Returns the raw items.
            locks: Whether the list's lock may be taken; else a fold may come between.
        """
        try:
            raw = tuple(read())
            made: tuple[Any, ...] = ()
            if raw and self._shape is not None and self._gather is not None:
                takes_ids = self._gather.takes_ids
                made = finished(raw, self._shape, self._items, takes_ids=takes_ids)
        except Exception as error:  # an event as no provider sends it must not cost the stream
            self._fault = f"all since an event that cannot be read ({type(error).__name__})"
            return
        if made and self._shape is not None:
            with self._lock() if locks and self.stored else nullcontext():
                made = standing(made, self.stored, self._items, self._shape)
                self._keep(Captured(made, forgotten=not locks))
            self.stored += made
