"""The facts of a history: typed values with where each was seen and how it was used since.

Not here: what a value looks like (`values`), how JSON is read (`leaves`), which facts a summary
has to hold (`ledger`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from chatfold.core.calls import ToolCallRecord
from chatfold.core.leaves import LeafReader, leaves, named
from chatfold.core.values import Kind, Value, found_in
from chatfold.core.views import (
    CallPart,
    HandoffPart,
    ItemView,
    MediaPart,
    Part,
    ResultPart,
    ServerCallPart,
    StatePart,
    SummaryPart,
    TextPart,
    UnknownPart,
)

__all__ = ["Fact", "Place", "Sighting", "facts"]

Place: TypeAlias = Literal["text", "argument", "result"]
"""Where in an item a value stands: in its words, in a call's arguments, in a call's result."""


class Sighting(NamedTuple):
    """One place where a value stands.

    Attributes:
        index: Index of the item in the list.
        author: The item's role (`user`, `assistant`, ...); `tool` for every result, whatever item
            it stands in, `summary` for what an earlier summary says.
        place: Where in the item.
        path: Keys and indices that lead to it where that is JSON; () for plain text.
        call: Position in `calls` of the tool call that it belongs to, or None.
    """

    index: int  # type: ignore[assignment]  # nobody asks a sighting where in it a value is
    author: str
    place: Place
    path: tuple[str | int, ...] = ()
    call: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A value, and every place where it stands.

    Attributes:
        kind: What it is.
        key: What it says, normalized (see `Value.key`).
        text: As it was first written.
        sightings: Where it stands, in order; the first is where it comes from.
        also: Keys that it vouches for too (see `Value.also`).
    """

    kind: Kind
    key: str
    text: str
    sightings: tuple[Sighting, ...]
    also: tuple[str, ...] = ()


def facts(
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
    *,
    offset: int = 0,
    clean: Callable[[str], str] | None = None,
) -> list[Fact]:
    """Return the facts of items, in the order in which they were first seen.

    Read are the words of all authors, earlier summaries, the arguments and results of calls, names
    and captions of media, and the agents of handoffs; where arguments or results are JSON, leaf by
    leaf (see `LeafReader`). The names of the tools are no facts, nor is reasoning, nor content
    that is encoded or encrypted.

    Args:
        views: The readings of the items.
        calls: The records of all calls of the list.
        offset: Index in the list of the first of `views`.
        clean: Applied to every text before it is read (`redact`).
    """
    collector = _Collector(calls, clean)
    for index, view in enumerate(views, offset):
        for part in view.parts:
            collector.part(index, view.role, part)
    return [
        Fact(value.kind, key, value.text, tuple(seen), _all_also(value, more))
        for key, (value, seen, more) in collector.found.items()
    ]


def _all_also(value: Value, more: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*value.also, *more))) if more else value.also


class _Collector:
    """Takes in parts one by one; `found` holds what each key was first seen as, and where."""

    def __init__(self, calls: Sequence[ToolCallRecord], clean: Callable[[str], str] | None) -> None:
        self.calls = calls
        self.clean = clean
        self.found: dict[str, tuple[Value, list[Sighting], list[str]]] = {}
        self.reader = LeafReader()
        self.made: dict[int, list[int]] = {}
        self.answered: dict[int, list[int]] = {}
        for number in range(len(calls) - 1, -1, -1):
            call = calls[number]
            if call.call_index is not None:
                self.made.setdefault(call.call_index, []).append(number)
            if call.result_index is not None:
                self.answered.setdefault(call.result_index, []).append(number)

    def part(self, index: int, role: str, part: Part) -> None:
        match part:
            case TextPart() | StatePart() | UnknownPart():
                self.text(part.text, Sighting(index, role, "text"))
            case SummaryPart():
                self.text(part.text, Sighting(index, "summary", "text"))
            case MediaPart():
                self.media(part, Sighting(index, role, "text"))
            case HandoffPart():
                for name in filter(None, (part.source, part.target)):
                    self.name(name, Sighting(index, role, "text"))
            case CallPart() | ServerCallPart():
                call = _taken(self.made, index, lambda n: _made(self.calls[n], part))
                self.json(part.arguments, Sighting(index, role, "argument", (), call))
                if isinstance(part, ServerCallPart):
                    self.json(part.result, Sighting(index, "tool", "result", (), call))
            case ResultPart():
                call = _taken(self.answered, index, lambda n: _answered(self.calls[n], part))
                seen = Sighting(index, "tool", "result", (), call)
                self.json(part.text, seen)
                for media in part.media:
                    self.media(media, seen)
            case _:
                pass  # reasoning and what only the provider can read

    def media(self, part: MediaPart, seen: Sighting) -> None:
        self.name(part.name or "", seen)
        self.text(part.text, seen)

    def name(self, name: str, seen: Sighting) -> None:
        """Take in a short text that names something, whatever it looks like."""
        if self.clean:
            name = self.clean(name)
        if name.strip():
            self.add(found_in(name, self.reader.words) or [named(name)], seen)

    def text(self, text: str, seen: Sighting) -> None:
        if text:
            if self.clean:
                text = self.clean(text)
            self.add(found_in(text, self.reader.words), seen)

    def json(self, text: str, seen: Sighting) -> None:
        """Take in a text that may be JSON."""
        if not text:
            return
        if self.clean:
            text = self.clean(text)
        index, author, place, _, call = seen
        read = self.reader.read
        for leaf in leaves(text):
            if self.clean:  # once more: escapes in JSON may have hidden what is to go
                leaf = leaf._replace(text=self.clean(leaf.text))
            found = read(leaf)
            if found:
                self.add(found, Sighting(index, author, place, leaf.path, call))

    def add(self, values: Sequence[Value], seen: Sighting) -> None:
        found = self.found
        for value in values:
            known = found.get(value.key)
            if known is None:
                found[value.key] = (value, [seen], [])
                continue
            if known[1][-1] != seen:
                known[1].append(seen)
            if value.also is not known[0].also and value.also != known[0].also:
                known[2].extend(form for form in value.also if form not in known[2])


def _taken(table: dict[int, list[int]], index: int, fits: Callable[[int], bool]) -> int | None:
    """Return and take off the first call of an item that fits."""
    waiting = table.get(index, [])
    for place in range(len(waiting) - 1, -1, -1):
        if fits(waiting[place]):
            return waiting.pop(place)
    return None


def _made(call: ToolCallRecord, part: CallPart | ServerCallPart) -> bool:
    return call.raw_arguments == part.arguments and call.name == part.name


def _answered(call: ToolCallRecord, part: ResultPart) -> bool:
    return call.result == part.text and (part.id is None or call.id in (None, part.id))
