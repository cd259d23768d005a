"""The tool-call records: every call with its result, for every shape by one walk.

A result binds by position, never through a table of ids: ids recur within one history and may be
missing. Not here: which cuts part nothing (`spans`), what else a provider requires together and how
parts are read (`shapes`).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from chatfold.core.callables import check_sync, is_yes
from chatfold.core.views import (
    CallKind,
    CallPart,
    ItemView,
    Part,
    ResultPart,
    ServerCallPart,
    TextPart,
    is_user_message,
    qualified,
)

__all__ = [
    "Abandon",
    "Answer",
    "CallPairing",
    "Span",
    "ToolCallRecord",
    "frozen_abandon",
    "pair_calls",
]

Status: TypeAlias = Literal["completed", "failed", "open", "abandoned"]


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """One tool call and its result.

    Attributes:
        id: The call id, as the provider wrote it; None where there is none.
        name: Name of the tool; None for a result whose call is not in the list.
        raw_arguments: The arguments as text, as the model wrote them.
        result: Text of the result, "" while there is none; media are left out.
        status: `open` while a result may still come, `abandoned` once the user went on without.
        call_index: Index of the item that holds the call; None for an orphan result.
        result_index: Index of the item that holds the result; None while there is none.
        shape: Name of the shape that wrote the call.
        kind: What was called.
        pair: The family of calls and results that join each other.
        asynchronous: Whether the result may come many turns later.
        cut_off: Whether its item says that the model did not write the call to its end.
        caller: Call id of the program, or of the server's run of code, that made the call; None
            where the model did.
        namespace: Where the tool lives, as the provider writes it: a namespace of functions, the
            label of an MCP server, a provider's family of tools, such as `browser`. None where it
            says nothing of that. Tools of two namespaces may have one name.
    """

    id: str | None
    name: str | None
    raw_arguments: str = field(repr=False)
    result: str = field(repr=False)
    status: Status
    call_index: int | None
    result_index: int | None
    shape: str = ""
    kind: CallKind = "function"
    pair: str = "function"
    asynchronous: bool = False
    cut_off: bool = False
    caller: str | None = None
    namespace: str | None = None

    @property
    def qualified_name(self) -> str | None:
        """What tells the tool from those of its name that live elsewhere: `namespace.name`.

        The plain name where the tool lives in no namespace; None where there is no name.
        """
        return None if self.name is None else qualified(self.name, self.namespace)

    @property
    def toolset(self) -> str | None:
        """The namespace, where that is a provider's own family of tools, such as `browser`."""
        return self.namespace if self.kind == "computer" else None

    @property
    def arguments(self) -> Any:
        """The arguments as JSON types, or their raw text where they are not JSON."""
        if self.kind in ("custom", "program"):
            return self.raw_arguments
        try:
            return json.loads(self.raw_arguments)
        except (ValueError, RecursionError):
            return self.raw_arguments

    @property
    def completed(self) -> bool:
        """Whether the call has a result, a failed one included."""
        return self.status in ("completed", "failed")

    @property
    def label(self) -> str:
        """What names the call best: its id, else its name, else its place."""
        return self.id or self.name or f"item {self.call_index}"


class Answer(NamedTuple):
    """What a call is to be answered with.

    Attributes:
        call: The open call.
        text: The result's text, and all that can be read of its blocks where there are any.
        failed: Whether the text says why there is no result.
        blocks: What the result holds in place of the text, in the provider's own form, where it
            is more than a text: pictures, documents.
    """

    call: ToolCallRecord
    text: str
    failed: bool = False
    blocks: tuple[Any, ...] = ()


Abandon: TypeAlias = Iterable[str] | Callable[[ToolCallRecord], bool]
"""Open calls to give up: their ids (labels, where they have none), or a function true for them."""


class Span(NamedTuple):
    """Items `first` to `last`, both included, that no cut may part.

    Attributes:
        first: Index of the first item.
        last: Index of the last item; the length of the list where it is still to come.
        binds: Which of the items cannot be kept without each other: `all`, the two `ends` (what
            lies between them is another matter), or `none`.
    """

    first: int
    last: int
    binds: Literal["all", "ends", "none"] = "ends"


class _Entry:
    """A call on its way to becoming a record; the record is kept once nothing can change it."""

    __slots__ = ("index", "name", "part", "record", "shape", "step")

    def __init__(
        self,
        part: CallPart | None,
        index: int,
        shape: str,
        step: int,
        record: ToolCallRecord | None,
    ) -> None:
        self.part = part
        self.index = index
        self.shape = shape
        self.step = step
        self.name = part.name if part else None
        self.record = record


class CallPairing:
    """Binds results to calls as views come in; each view is looked at once.

    A result binds to the latest step that holds an unanswered call with its id, and inside the
    step to the first such call. Where either side has no id, the name decides, then the place;
    of several results in an item, those that name their calls come first.

    Args:
        last_user: Returns the index of the last item in which a user speaks, -1 where there is
            none.

    Attributes:
        spans: From the answered calls to their results, where these are in other items.
    """

    def __init__(self, last_user: Callable[[], int]) -> None:
        self.entries: list[_Entry] = []
        self.spans: list[Span] = []
        self._last_user = last_user
        self._open: dict[tuple[str, str | None], list[_Entry]] = {}
        # What was answered since anybody spoke: by its id, with whether that was by its place, and
        # then by its name.
        self._told: dict[tuple[str, str | None], tuple[_Entry, bool]] = {}
        self._told_by_name: dict[tuple[str, str | None], _Entry] = {}
        self._at_any_time: dict[tuple[str, str], _Entry] = {}  # and what is answered when it may be
        self._step = 0
        self._model_spoke = False

    @property
    def waiting(self) -> tuple[int, ...]:
        """Indices of the items with calls that have no result, one for each call."""
        return tuple(entry.index for open_ in self._open.values() for entry in open_)

    def feed(self, index: int, view: ItemView) -> None:
        """Take in the view of the item at `index`; indices come in order."""
        role, parts = view.role, view.parts
        if role == "assistant":
            if view.whole_step or not self._model_spoke:
                self._step += 1
                if self._told:
                    self._go_on()
            self._model_spoke = True
        else:
            self._model_spoke = False
        if len(parts) == 1 and type(parts[0]) is TextPart:  # what most items are
            if self._told:
                self._go_on()
            return
        waiting: Sequence[ResultPart] | None = None
        for part in parts:
            if isinstance(part, CallPart):
                entry = _Entry(part, index, view.shape, self._step, None)
                self.entries.append(entry)
                self._open.setdefault((part.pair, part.id), []).append(entry)
            elif isinstance(part, ResultPart):
                if part.id is None and waiting is None:
                    waiting = _after_others(parts)
                if part.id is not None or not waiting:
                    self._bind(index, view, part)
            elif isinstance(part, ServerCallPart):
                self.entries.append(self._served(index, view, part))
        for part in waiting or ():
            self._bind(index, view, part)
        if self._told and role != "assistant" and any(type(p) is not ResultPart for p in parts):
            self._go_on()

    def records(self, abandon: Abandon | None = None) -> list[ToolCallRecord]:
        """Return the calls, and the results without a call, in order of their place.

        Requests for approval are among them, with the kind `approval`.
        """
        given_up, last = _given_up(abandon), self._last_user()
        return [e.record or _unanswered(e, last, given_up) for e in self.entries]

    def near(self, start: int, stop: int, *, before: int) -> tuple[int, list[ToolCallRecord]]:
        """Return the calls of some items, and a few of the calls before them.

        Args:
            start: Index of the first of the items.
            stop: Index behind the last.
            before: Number of calls before theirs.

        Returns:
            The position of the first of them in `records()`, and the calls.
        """
        entries = self.entries
        last = len(entries)
        if last and entries[-1].index >= stop:
            last = bisect_left(entries, stop, key=_index)
        first = last
        if last and entries[last - 1].index >= start:
            first = bisect_left(entries, start, hi=last, key=_index)
        first = max(0, first - before)
        given_up, spoke = _given_up(None), self._last_user()
        return first, [e.record or _unanswered(e, spoke, given_up) for e in entries[first:last]]

    def _served(self, index: int, view: ItemView, part: ServerCallPart) -> _Entry:
        if part.status == "open":
            made = CallPart(part.id, part.name, part.arguments, part.kind, "server")
            made = made._replace(namespace=part.namespace)
            return _Entry(made, index, view.shape, self._step, None)
        record = ToolCallRecord(
            part.id,
            part.name,
            part.arguments,
            part.result,
            part.status,
            index,
            index,
            view.shape,
            part.kind,
            "server",
            namespace=part.namespace,
        )
        return _Entry(None, index, view.shape, self._step, record)

    def _bind(self, index: int, view: ItemView, part: ResultPart) -> None:
        """Give a result to the call that it answers; one without a call stands for itself."""
        status: Status = "failed" if part.failed else "completed"
        entry = self._answered(part, view.shape)
        if entry is None or entry.part is None:
            self._keep_beside(index, part)
            orphan = ToolCallRecord(
                part.id,
                part.name,
                "",
                part.text,
                status,
                None,
                index,
                view.shape,
                "approval" if part.pair == "approval" else "function",
                part.pair,
                namespace=part.namespace,
            )
            self.entries.append(_Entry(None, index, view.shape, self._step, orphan))
            return
        call = entry.part
        by_place = part.id is None or call.id is None
        self._told[part.pair, call.id if call.id is not None else part.id] = entry, by_place
        if by_place:
            self._told_by_name[part.pair, part.name] = entry
            if call.asynchronous and call.id is not None:
                self._at_any_time[part.pair, call.id] = entry
        entry.record = ToolCallRecord(
            call.id if call.id is not None else part.id,
            call.name if call.name is not None else part.name,
            call.arguments,
            part.text,
            status,
            entry.index,
            index,
            entry.shape,
            call.kind,
            call.pair,
            call.asynchronous,
            call.cut_off,
            call.caller,
            call.namespace if call.name is not None else part.namespace,
        )
        if index > entry.index:
            self.spans.append(Span(entry.index, index))

    def _go_on(self) -> None:
        """Forget which calls were answered last: whoever speaks ends the group of their results."""
        self._told.clear()
        self._told_by_name.clear()

    def _keep_beside(self, index: int, part: ResultPart) -> None:
        """Bind a result without a call to the call that has another one, in the same group.

        Chat messages belong together from the message with the calls to the last of their results
        (https://developers.openai.com/api/docs/guides/function-calling, read 2026-11-21). Which of
        two the provider takes for the answer is its matter: no cut is to decide it. A result that
        comes after something was said is a stray: nobody takes it as it stands, and all between it
        and its call would be bound for that.
        """
        by_place = True
        if part.id is None:
            entry = self._told_by_name.get((part.pair, part.name))
        else:
            key = part.pair, part.id
            entry, by_place = self._told.get(key) or (self._at_any_time.get(key), True)
        if entry is not None and index > entry.index:
            # Of two that name their call one is too many: who keeps the call need not keep both.
            self.spans.append(Span(entry.index, index, "ends" if by_place else "none"))

    def _answered(self, part: ResultPart, shape: str) -> _Entry | None:
        """Return the call that `part` answers, taken off the open ones.

        Where an id is missing, only a call of the same shape can be meant.
        """
        if part.id is not None:
            key = (part.pair, part.id)
            waiting = self._open.get(key)
            if waiting is not None and len(waiting) == 1:  # so it is with most
                del self._open[key]
                return waiting[0]
            found = self._take(key, None, None)
            return found or self._take((part.pair, None), part.name, shape)
        found = self._take((part.pair, None), part.name, shape)
        if found is not None:
            return found
        # The calls have ids and the result has none: the first of that name in the latest step.
        fitting = [
            entry
            for (pair, _), waiting in self._open.items()
            if pair == part.pair
            for entry in waiting
            if _fits(entry, part.name, shape)
        ]
        if not fitting:
            return None
        step = max(entry.step for entry in fitting)
        chosen = {id(entry): entry for entry in fitting if entry.step == step}
        first = bisect_left(self.entries, min(map(_index, chosen.values())), key=_index)
        found = next(e for e in islice(self.entries, first, None) if id(e) in chosen)
        assert found.part is not None
        under = (found.part.pair, found.part.id)
        return self._taken(under, self._open[under].index(found))

    def _take(
        self, key: tuple[str, str | None], name: str | None, shape: str | None
    ) -> _Entry | None:
        """Return and remove the first call of the latest step under `key` that fits."""
        waiting = self._open.get(key)
        if not waiting:
            return None
        # They stand in the order of their steps: there may be thousands of one id.
        place = len(waiting) - 1
        while not _fits(waiting[place], name, shape):
            if place == 0:
                return None
            place -= 1
        place = bisect_left(waiting, waiting[place].step, hi=place, key=_step)
        while not _fits(waiting[place], name, shape):
            place += 1
        return self._taken(key, place)

    def _taken(self, key: tuple[str, str | None], place: int) -> _Entry:
        """Return the waiting call at one place, which waits no more."""
        waiting = self._open[key]
        entry = waiting.pop(place)
        if not waiting:
            del self._open[key]
        return entry


def pair_calls(views: Sequence[ItemView]) -> list[ToolCallRecord]:
    """Return one record for each tool call in `views`, and for each result without a call.

    Args:
        views: One reading per native item, in the same order.
    """
    pairing = CallPairing(partial(_last_user, views))
    for index, view in enumerate(views):
        pairing.feed(index, view)
    return pairing.records()


def _last_user(views: Sequence[ItemView]) -> int:
    return next((i for i in reversed(range(len(views))) if is_user_message(views[i])), -1)


def _unanswered(
    entry: _Entry, last_user: int, given_up: Callable[[ToolCallRecord], bool]
) -> ToolCallRecord:
    """Return the record of a call without a result."""
    call = entry.part
    assert call is not None
    waits = call.asynchronous or call.kind == "approval"
    status: Status = "abandoned" if last_user > entry.index and not waits else "open"
    record = ToolCallRecord(
        call.id,
        call.name,
        call.arguments,
        "",
        "completed" if call.served else status,
        entry.index,
        entry.index if call.served else None,
        entry.shape,
        call.kind,
        call.pair,
        call.asynchronous,
        call.cut_off,
        call.caller,
        call.namespace,
    )
    if record.status == "open" and given_up(record):
        return replace(record, status="abandoned")
    return record


def _index(entry: _Entry) -> int:
    return entry.index


def _step(entry: _Entry) -> int:
    return entry.step


def _after_others(parts: Sequence[Part]) -> Sequence[ResultPart]:
    """Return the results of an item that do not name their calls, where others in it do.

    They answer the calls that those leave.
    """
    results = [part for part in parts if isinstance(part, ResultPart)]
    unnamed = [part for part in results if part.id is None]
    if len(unnamed) == len(results) or any(isinstance(part, CallPart) for part in parts):
        return ()
    return unnamed


def _fits(entry: _Entry, name: str | None, shape: str | None) -> bool:
    """Return whether a call is of that name and shape; None is any, as is a call without a name."""
    if shape is not None and entry.shape != shape:
        return False
    return name is None or entry.name is None or entry.name == name


def frozen_abandon(abandon: Abandon | None) -> Abandon | None:
    """Return ids as a frozen set, so that they are read once; a function as it is.

    Raises:
        TypeError: It is neither, or has to be awaited.
    """
    if abandon is None:
        return None
    if callable(abandon):
        check_sync("abandon", abandon)
        return abandon
    given: Any = abandon
    if isinstance(given, Iterable) and not isinstance(given, str):
        given = [*cast("Iterable[Any]", given)]
        if all(id_ is None or isinstance(id_, str) for id_ in given):
            return frozenset(given)
    raise TypeError(f"abandon= takes a list of call ids or a function, not {given!r}")


def _given_up(abandon: Abandon | None) -> Callable[[ToolCallRecord], bool]:
    if abandon is None:
        return lambda record: False
    ids = frozen_abandon(abandon)
    if callable(ids):
        return lambda record: is_yes("abandon", ids(record))
    assert isinstance(ids, frozenset)
    return lambda record: record.label in ids
