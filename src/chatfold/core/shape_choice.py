"""Which shape a list is of, as its items tell, and the reading of an item by it.

Not here: the readings of a list (`reading`), what a shape is (`views`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.failures.own_results import with_own_failures
from chatfold.core.foreign_errors import words_of
from chatfold.core.native import field, json_text
from chatfold.core.spans import Span
from chatfold.core.split import prefix_length
from chatfold.core.views import Fit, ItemView, Placement, Role, Shape, UnknownPart
from chatfold.errors import ShapeError

__all__ = ["SeveralShapes", "ShapeChoice", "no_item"]

_PLAIN: Final = (str, bytes, int, float, list, tuple)


class SeveralShapes(Shape):
    """Stands for the shape of a list of plain messages that several shapes write alike.

    What any of them requires holds, so that the list stays valid in all of them. But no message
    is moved for the sake of another provider than the one that the list was seen to be of.

    Args:
        candidates: The shapes that may have written the list.
        before: The one of them that it was of while it had items that told, if it had any.
    """

    name = ""

    def __init__(self, candidates: Sequence[Shape], before: Shape | None = None) -> None:
        self.candidates = candidates
        self._placing = candidates if before is None else (before,)

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
        for candidate in self._placing:
            placement = candidate.place(kept, tail, views, behind=behind)
            if placement.moved or placement.needs:
                return placement
        return Placement()

    def user_may_follow(self, views: Sequence[ItemView], index: int) -> bool:
        """Return whether all candidates take a user's message there."""
        return all(c.user_may_follow(views, index) for c in self.candidates)

    def full_replay(self) -> Requirement | None:
        """Return what the first candidate needs whose provider may hold a history."""
        return next((r for c in self.candidates if (r := c.full_replay()) is not None), None)

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


class ShapeChoice:
    """Chooses the shape of a growing list.

    Args:
        shapes: The shapes to choose from.
        shape: The list's shape, where the caller names it.

    Attributes:
        shape: The list's shape, None as long as several may have written it.
    """

    def __init__(self, shapes: Sequence[Shape], shape: Shape | None) -> None:
        self.shapes = shapes
        self.shape = shape
        self._is_given = shape is not None
        self._candidates = tuple(shapes)
        self._told: Shape | None = None  # by the newest SDK object
        # What told these may have been folded since.
        self._sure: tuple[Shape, ...] = ()  # of which the newest telling items surely are
        self._before: Shape | None = None
        # How messages of a role and a text fit, by their role.
        self._of_plain: dict[str, list[tuple[Shape, Fit]]] = {}

    def for_now(self) -> Shape:
        """Return the list's shape, or what stands for all that may have written it."""
        return self.shape or SeveralShapes(self._candidates, self.likeliest)

    @property
    def likeliest(self) -> Shape | None:
        """The list's shape; where its items fit several, the one that it had before, if any."""
        return self.shape or (self._before if self._before in self._candidates else None)

    def settle_again(self, items: Sequence[Any]) -> None:
        """Choose anew, as if these items were all."""
        if not self._is_given:
            self._before = self.shape or self._before
            other = ShapeChoice(self.shapes, None)
            other._sure, other._of_plain = self._sure, self._of_plain
            other.settle(items)
            self._told, self._candidates, self._sure = other._told, other._candidates, other._sure
            self.shape = other.shape  # last, and in one step: others read items meanwhile

    def of(self, items: Sequence[Any]) -> ShapeChoice:
        """Return the choice for another list, whose items may tell more than this one's do."""
        if self._is_given or not items:
            return self
        other = ShapeChoice(self.shapes, None)
        other.settle(items)
        return self if other.shape is None else other

    def settle(self, new: Sequence[Any]) -> None:
        """Choose the list's shape: the newest item that only one shape writes decides.

        An item that is surely of one of several is of the one that items before it tell.
        """
        if self._is_given:
            return
        newest, sure = self._sure_of(new)
        if sure:
            self._sure = sure
            self.shape = self._surer(sure[0], newest, new)
        elif self.shape is None:
            for item in new:
                fitting = tuple(
                    s for s, fit in self._fits(item) if fit != "no" and s in self._candidates
                )
                self._candidates = fitting or self._candidates
            if len(self._candidates) == 1:
                self.shape = self._candidates[0]

    def _fits(self, item: Any) -> Iterable[tuple[Shape, Fit]]:
        """Return how an item fits each shape, in their order.

        Most items are messages of a role and a text, which are asked about once a role.
        """
        plain: Any = item
        if type(item) is dict and len(plain) == 2 and type(plain.get("content")) is str:
            role: Any = plain.get("role")
            if type(role) is str:
                if role not in self._of_plain:
                    self._of_plain[role] = [(s, _fit(s, item)) for s in self.shapes]
                return self._of_plain[role]
        return ((s, _fit(s, item)) for s in self.shapes)

    def _sure_of(self, new: Sequence[Any]) -> tuple[Any, tuple[Shape, ...]]:
        """Return the newest item that tells, and the shapes that it is surely of one of.

        Where these are several, items before it leave fewer, up to one that is of none of them.
        """
        newest: Any = None
        sure: tuple[Shape, ...] = ()
        for item in reversed(new):
            told = self._tells(item, sure)
            if not told:
                continue
            left = _both(sure, told) if sure else told
            if not left:
                return newest, sure
            newest, sure = newest if sure else item, left
            if len(sure) == 1:
                return newest, sure
        return newest, _both(sure, self._sure) or sure

    def _tells(self, item: Any, asked: tuple[Shape, ...] = ()) -> tuple[Shape, ...]:
        """Return the shapes that an item is surely of one of, none where it does not tell.

        Of those asked about, and of all where it is of none of them.
        """
        told: list[Shape] = []
        for shape, fit in ((s, _fit(s, item)) for s in asked) if asked else self._fits(item):
            if fit == "yes":
                return (shape,)
            if fit == "also":
                told.append(shape)
        return tuple(told) if told or not asked else self._tells(item)

    def _surer(self, shape: Shape, item: Any, new: Sequence[Any]) -> Shape:
        """Return the shape that the newest SDK object tells, if it may have written `item` too.

        A dict that one provider writes may be another's as well; an SDK's object is nobody else's.
        """
        objects = (other for other in reversed(new) if type(other) is not dict)
        told = (s for other in objects for s in self.shapes if _fit(s, other) == "yes")
        self._told = next(told, self._told)
        sure = self._told is not None and _fit(self._told, item) != "no"
        return self._told if self._told is not None and sure else shape

    def read(self, item: Any) -> ItemView:
        """Return the reading of an item by the list's shape, or by whichever shape knows it."""
        shape = self.shape  # once: another thread may be settling it
        try:
            view = shape.read(item) if shape is not None else None
            if view is None:
                view = self._read_foreign(item, shape)
        except Exception as error:  # whatever is wrong with one item must not break the rest
            return _unreadable(item, _fault_of(error))
        return with_own_failures(view) if view is not None else _unreadable(item, "")

    def _read_foreign(self, item: Any, own: Shape | None) -> ItemView | None:
        for wanted in ("yes", "also", "maybe"):
            for shape, fit in self._fits(item):
                if shape is not own and fit == wanted:
                    view = shape.read(item)
                    if view is not None:
                        return view
        return None


def _both(newer: tuple[Shape, ...], older: tuple[Shape, ...]) -> tuple[Shape, ...]:
    return tuple(shape for shape in newer if shape in older)


def _fit(shape: Shape, item: Any) -> Fit:
    try:
        return shape.fit(item)
    except Exception:  # a malformed item is of no shape; reading it reports it
        return "no"


def _fault_of(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply to be read"
    return f"{type(error).__name__}: {words_of(error)}"


def no_item(value: object) -> str:
    """Return why a value can be no item of any shape, "" where it may be one."""
    if value is not None and not isinstance(value, _PLAIN):
        return ""
    return f"an item has to be a dict or an object, not {type(cast(object, value)).__name__}"


def _unreadable(item: Any, fault: str) -> ItemView:
    """Return the generic reading of an item that no shape reads."""
    kind: Any = None
    role: Any = None
    text = ""
    # Whatever is wrong with one object must not break the rest: one of a database, say, may not
    # be asked any more.
    with suppress(Exception):
        kind = field(item, "type")
    with suppress(Exception):
        role = field(item, "role")
    with suppress(Exception):
        text = json_text(item)
    if not isinstance(kind, str):
        kind = "" if isinstance(item, dict) else type(item).__name__
    if isinstance(role, (dict, list)):  # which no shape can look up; Python's words help nobody
        fault = f"the role is {type(cast(object, role)).__name__}, not text"
    fault = fault or no_item(cast(object, item))
    return ItemView("unknown", (UnknownPart(kind, text),), kind, fault=fault)
