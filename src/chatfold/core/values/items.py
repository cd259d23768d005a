"""The typed values of one item, part by part, wherever in a list the item stands.

Not here: what a value looks like (`typed`), how JSON is read (`leaves`), where in a list a value
was seen and how it was used since (`facts`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias

from chatfold.core.values.leaves import LeafReader, named
from chatfold.core.values.typed import Value, found_in
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
    is_note,
    noted,
)

__all__ = ["SAID", "ItemReader", "Said", "Where"]

Where: TypeAlias = Literal["text", "summary", "argument", "result"]
"""Where in an item a value stands: in its words, in an earlier summary, in a call or a result."""

Said: TypeAlias = list[Any]
"""What an item says: five entries for each place with values, one behind the other. The number of
the part; where; keys and indices; whether a single value is all that stands there, under a key or
in a list; the values, a single one as it is. There are very many places, and Python's collector of
garbage looks at each tuple inside another again and again."""

SAID: Final = 5
"""Entries for each place."""

_MARKER = re.compile(r"^([ \t]*)[*_]{0,2}(\d{1,2})[.)](?=[ \t*_])", re.MULTILINE)
_MOST_KNOWN = 5_000  # words and leaves that are remembered, since those of one history recur


class ItemReader:
    """Reads items; what many of them say alike is read once.

    Args:
        clean: Applied to every text before it is read (`redact`).
    """

    def __init__(self, clean: Callable[[str], str] | None = None) -> None:
        self.clean = clean
        self.forget()

    def forget(self) -> None:
        """Forget what items say alike, for its room."""
        self._leaves = LeafReader()
        self._values: dict[tuple[str, str], Value] = {}

    def values(self, text: str) -> list[Value]:
        """Return the values of a text that is clean, in order, with where in it each stands."""
        return found_in(text, self._leaves.words)

    def read(self, view: ItemView) -> Said:
        """Return the values of an item, in order; where in its text one stands does not count.

        Read are words, earlier summaries, the arguments and results of calls, names and captions
        of media, and the agents of handoffs; where arguments or results are JSON, leaf by leaf.
        """
        if self._leaves.known + len(self._values) > _MOST_KNOWN:
            self.forget()
        said: Said = []
        for number, part in enumerate(view.parts):
            if type(part) is TextPart:  # the commonest first
                self._words(number, part, said)
            elif type(part) is ResultPart:
                self._result(number, part, said)
            elif type(part) is CallPart:
                self._document(number, "argument", part.arguments, said)
            else:
                self._part(number, part, said)
        return said

    def _words(self, number: int, part: TextPart, said: Said) -> None:
        if is_note(part.text):
            self._text(number, "text", noted(part.text), said)
            return
        self._text(number, "text", part.text, said)
        for source in part.sources:
            self._text(number, "text", source, said)

    def _result(self, number: int, part: ResultPart, said: Said) -> None:
        self._document(number, "result", part.text, said)
        for media in part.media:
            self._media(number, "result", media, said)

    def _part(self, number: int, part: Part, said: Said) -> None:
        match part:
            case StatePart() | UnknownPart():
                self._text(number, "text", part.text, said)
            case SummaryPart():
                self._text(number, "summary", part.text, said)
            case ServerCallPart():
                self._document(number, "argument", part.arguments, said)
                if part.status != "open":  # else it is no result yet, and no record holds it
                    self._document(number, "result", part.result, said)
            case MediaPart():
                self._media(number, "text", part, said)
            case HandoffPart():
                self._name(number, "text", part.source or "", said)
                self._name(number, "text", part.target or "", said)
            case _:
                pass  # reasoning and what only the provider can read

    def _text(self, number: int, where: Where, text: str, said: Said) -> None:
        if text:
            if self.clean:
                text = self.clean(text)
            found = _without_markers(text, found_in(text, self._leaves.words))
            if found:
                said += (number, where, (), False, self._shared(found))

    def _media(self, number: int, where: Where, part: MediaPart, said: Said) -> None:
        self._name(number, where, part.name or "", said)
        self._text(number, where, part.source, said)
        self._text(number, where, part.text, said)

    def _name(self, number: int, where: Where, name: str, said: Said) -> None:
        """Take in a short text that names something, whatever it looks like."""
        if self.clean:
            name = self.clean(name)
        if name.strip():
            found = self.values(name) or [named(name)]
            said += (number, where, (), False, self._shared(found))

    def _document(self, number: int, where: Where, text: str, said: Said) -> None:
        """Take in a text that may be JSON."""
        if text:
            if self.clean:
                text = self.clean(text)
            for path, values in self._leaves.document(text, self.clean):
                said += (number, where, path, *values)

    def _shared(self, found: Sequence[Value]) -> Value | Sequence[Value]:
        """Return values as they were first met, so that those that recur are kept once."""
        if len(found) == 1:
            return self._first(found[0])
        return [self._first(value) for value in found]

    def _first(self, value: Value) -> Value:
        first = self._values.setdefault((value.key, value.text), value)
        if first is value or (first.kind == value.kind and first.also == value.also):
            return first
        return value


def _without_markers(text: str, found: list[Value]) -> list[Value]:
    """Return the values of a text without those that only number the lines of a list."""
    if not any(value.kind == "number" and len(value.text) < 3 for value in found):
        return found
    markers = _markers(text)
    return [v for v in found if v.kind != "number" or v.start not in markers] if markers else found


def _markers(text: str) -> set[int]:
    """Return where lines begin with 1, 2, 3, ... in this order; other numbers may mean something.

    A list inside another one is told by how far its lines are indented.
    """
    marked: set[int] = set()
    lists: dict[str, list[int]] = {}
    for marker in _MARKER.finditer(text):
        known, number = lists.setdefault(marker[1], []), int(marker[2])
        if number == 1:
            known.clear()
        if number == len(known) + 1:
            known.append(marker.start(2))
            marked.update(known if number == 2 else known[-1:] if number > 2 else ())
    return marked
