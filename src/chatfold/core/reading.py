"""The readings of a growing list: each item is read once, and again only when it changed.

Holds what is derived item by item (views, fingerprints, sizes, the pairing of calls), so that a
list that grew by two items costs two items. Not here: what is made of the readings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, NamedTuple, cast

from chatfold.core.calls import Abandon, CallPairing, ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.digest import fingerprints
from chatfold.core.spans import Span, call_spans
from chatfold.core.split import prefix_length
from chatfold.core.summary import mark_summary
from chatfold.core.views import (
    Fit,
    ItemView,
    Placement,
    Role,
    Shape,
    UnknownPart,
    field,
    json_text,
)
from chatfold.errors import ShapeError

__all__ = ["Reading", "SeveralShapes", "Snapshot"]


class SeveralShapes(Shape):
    """Stands for the shape of a list of plain messages that several shapes write alike.

    What any of them requires holds, so that the list stays valid in all of them.
    """

    name = ""

    def __init__(self, candidates: Sequence[Shape]) -> None:
        self.candidates = candidates

    def fit(self, item: object) -> Fit:
        """Return no: this is never the shape of an item."""
        return "no"

    def read(self, item: object) -> ItemView | None:
        """Return the reading by the first candidate that knows the item."""
        return next((v for c in self.candidates if (v := c.read(item)) is not None), None)

    def spans(self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Sequence[Span]:
        """Return the spans of all candidates, but for the leading instructions."""
        start = prefix_length(views)
        return [s for c in self.candidates for s in c.spans(views, calls) if s.first >= start]

    def keeps(self, view: ItemView) -> bool:
        """Return whether any of the candidates keeps the item."""
        return any(c.keeps(view) for c in self.candidates)

    def place(
        self,
        kept: Sequence[int],
        tail: int,
        views: Sequence[ItemView],
        *,
        behind: Role = "user",
    ) -> Placement:
        """Return the placement of the candidate that moves or needs anything."""
        for candidate in self.candidates:
            placement = candidate.place(kept, tail, views, behind=behind)
            if placement.moved or placement.needs:
                return placement
        return Placement()

    def summary_item(self, text: str, *, role: str) -> dict[str, str]:
        """Return a message that is valid in every shape that the list may turn out to be."""
        return {"role": role, "content": text}

    def result_item(self, call: ToolCallRecord, text: str, *, failed: bool = False) -> object:
        """Refuse: a list with calls is of a known shape.

        Raises:
            ShapeError: Always.
        """
        raise ShapeError("the shape of this list is not known yet", index=call.call_index)

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Sequence[Problem]:
        """Return nothing: what is wrong depends on the shape."""
        return ()


class Snapshot(NamedTuple):
    """A list as it was at one moment, with all its readings.

    Attributes:
        items: The items.
        views: One reading per item; an earlier summary is marked as one.
        calls: The records of all calls, requests for approval included.
        spans: What must stay together.
        shape: The list's shape.
        previous: Index of the earlier summary, or None.
        prints: One fingerprint per item.
        sizes: One size in tokens per item.
    """

    items: Sequence[Any]
    views: Sequence[ItemView]
    calls: Sequence[ToolCallRecord]
    spans: Sequence[Span]
    shape: Shape
    previous: int | None
    prints: Sequence[int]
    sizes: Sequence[int]


class Reading:
    """Keeps the readings of one list up to date.

    Args:
        items: The list; it is read, never changed.
        shapes: The shapes to choose from.
        shape: The list's shape, where the caller names it.
        measure: Returns the sizes of items in tokens, given their views.
        summary_key: Secret that the digests of summaries are made with.
        report: Told of each item that is unknown, or holds what is: its index and its reading.
    """

    def __init__(
        self,
        items: Sequence[Any],
        shapes: Sequence[Shape],
        *,
        shape: Shape | None,
        measure: Callable[[Sequence[ItemView]], list[int]],
        summary_key: bytes | None,
        report: Callable[[int, ItemView], None] | None = None,
    ) -> None:
        self.items = items
        self.shapes = shapes
        self.shape = shape
        self._forced = shape is not None
        self._measure = measure
        self._key = summary_key
        self._report = report
        self._seen: list[Any] = []
        self._views: list[ItemView] = []
        self._prints: list[int] = []
        self._sizes: list[int] = []
        self._pairing = CallPairing()
        self._candidates = tuple(shapes)
        self._told: Shape | None = None  # by the newest SDK object
        self._last: tuple[Abandon | None, Snapshot] | None = None

    def snapshot(self, *, abandon: Abandon | None = None) -> Snapshot:
        """Return the list as it is now; what changed since the last time is read again."""
        self.sync()
        # What a function says may change from one moment to the next.
        if self._last is not None and not callable(abandon) and self._last[0] == abandon:
            return self._last[1]
        views: list[ItemView] = list(self._views)
        marked = mark_summary(views, self._key)
        if marked is not None:
            views[marked[0]] = marked[1]
        calls = self._pairing.records(abandon)
        shape = self.shape or SeveralShapes(self._candidates)
        made = Snapshot(
            items=list(self._seen),
            views=views,
            calls=calls,
            spans=[*call_spans(calls, len(views)), *shape.spans(views, calls)],
            shape=shape,
            previous=marked[0] if marked else None,
            prints=list(self._prints),
            sizes=self.sizes(),
        )
        self._last = (abandon, made)
        return made

    def of(self, items: Sequence[Any]) -> Snapshot:
        """Return another list as it is now, read as this one is, and by the same shape."""
        other = Reading(
            items, self.shapes, shape=self.shape, measure=self._measure, summary_key=self._key
        )
        return other.snapshot()

    def view_of(self, item: Any) -> ItemView:
        """Return the reading of an item that is not in the list."""
        return self._read(item)

    def sync(self) -> None:
        """Read what is new in the list, and all from the first item that changed."""
        items = list(self.items)
        prints = fingerprints(items)
        same = self._same(items, prints)
        if same == len(items) == len(self._seen):
            return
        self._last = None
        if same < len(self._seen):
            self._forget(same)
        if same < len(items):
            self._take_in(items, prints, same)

    def sizes(self) -> list[int]:
        """Return the size of each item in tokens; each is measured once."""
        if len(self._sizes) < len(self._views):
            self._sizes += self._measure(self._views[len(self._sizes) :])
        return list(self._sizes)

    def _same(self, items: Sequence[Any], prints: Sequence[int]) -> int:
        """Return how many leading items are the objects that were read, and say the same."""
        count = min(len(items), len(self._seen))
        if prints[:count] == self._prints[:count] and all(map(is_, items, self._seen)):
            return count
        known = zip(items, self._seen, prints, self._prints, strict=False)
        return next(
            i for i, (new, old, now, then) in enumerate(known) if new is not old or now != then
        )

    def _forget(self, start: int) -> None:
        for kept in (self._seen, self._views, self._prints, self._sizes):
            del kept[start:]
        if not self._forced:
            self.shape = self._told = None
            self._candidates = tuple(self.shapes)
            self._settle(self._seen)
        self._pair_again()

    def _take_in(self, items: Sequence[Any], prints: Sequence[int], start: int) -> None:
        new = items[start:]
        before = self.shape
        self._settle(new)
        if before is not self.shape and start:
            self._views = [self._reported(i, item) for i, item in enumerate(self._seen)]
            self._sizes = []
            self._pair_again()
        for index, item in enumerate(new, start):
            view = self._reported(index, item)
            self._views.append(view)
            self._pairing.feed(index, view)
        self._seen.extend(new)
        self._prints.extend(prints[start:])

    def _pair_again(self) -> None:
        self._pairing = CallPairing()
        for index, view in enumerate(self._views):
            self._pairing.feed(index, view)

    def _settle(self, new: Sequence[Any]) -> None:
        """Choose the list's shape: the newest item that only one shape writes decides."""
        if self._forced:
            return
        for item in reversed(new):
            for shape in self.shapes:
                if _fit(shape, item) == "yes":
                    self.shape = self._surer(shape, item, new)
                    return
        if self.shape is None:
            for item in new:
                fitting = tuple(s for s in self._candidates if _fit(s, item) != "no")
                self._candidates = fitting or self._candidates
            if len(self._candidates) == 1:
                self.shape = self._candidates[0]

    def _surer(self, shape: Shape, item: Any, new: Sequence[Any]) -> Shape:
        """Return the shape that the newest SDK object tells, if it may have written `item` too.

        A dict that one provider writes may be another's as well; an SDK's object is nobody else's.
        """
        objects = (other for other in reversed(new) if type(other) is not dict)
        told = (s for other in objects for s in self.shapes if _fit(s, other) == "yes")
        self._told = next(told, self._told)
        sure = self._told is not None and _fit(self._told, item) != "no"
        return self._told if self._told is not None and sure else shape

    def _reported(self, index: int, item: Any) -> ItemView:
        """Return the reading of an item of the list; what is unknown in it is told."""
        view = self._read(item)
        if self._report is not None and (not view.shape or _holds_unknown(view)):
            self._report(index, view)
        return view

    def _read(self, item: Any) -> ItemView:
        """Return the reading of an item by the list's shape, or by whichever shape knows it."""
        try:
            view = self.shape.read(item) if self.shape is not None else None
            if view is None:
                view = self._read_foreign(item)
        except Exception as error:  # whatever is wrong with one item must not break the rest
            return _unreadable(item, f"{type(error).__name__}: {error}")
        return view if view is not None else _unreadable(item, "")

    def _read_foreign(self, item: Any) -> ItemView | None:
        for wanted in ("yes", "maybe"):
            for shape in self.shapes:
                if shape is not self.shape and _fit(shape, item) == wanted:
                    view = shape.read(item)
                    if view is not None:
                        return view
        return None


def _fit(shape: Shape, item: Any) -> Fit:
    try:
        return shape.fit(item)
    except Exception:  # a malformed item is of no shape; reading it reports it
        return "no"


def _holds_unknown(view: ItemView) -> bool:
    return any(type(p) is UnknownPart and not (p.known or p.command) for p in view.parts)


def _unreadable(item: Any, fault: str) -> ItemView:
    """Return the generic reading of an item that no shape reads."""
    kind = field(item, "type")
    if not isinstance(kind, str):
        kind = "" if isinstance(item, dict) else type(item).__name__
    if item is None or isinstance(item, (str, int, float, list, tuple)):
        found = cast(object, item)
        fault = fault or f"an item has to be a dict or an object, not {type(found).__name__}"
    try:
        text = json_text(item)
    except Exception:  # whatever is wrong with one object must not break the rest
        text = ""
    return ItemView("unknown", (UnknownPart(kind, text),), kind, fault=fault)
