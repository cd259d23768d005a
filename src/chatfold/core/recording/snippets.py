"""A value out of running text, with the words around it that say what it is.

Not here: which values are worth that (`ledger`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from chatfold.core.once import once
from chatfold.core.recording.denials import qualifies
from chatfold.core.sentences import lines, sentences
from chatfold.core.values import Kind, Value

__all__ = ["Contrasts", "snippet"]

# How many words before and behind a value say what it is; an id or an address says it itself.
_AROUND: dict[Kind, tuple[int, int]] = {
    "number": (2, 2),
    "amount": (3, 0),
    "date": (3, 0),
    "time": (3, 0),
    "version": (1, 0),
}
_NEAR = 60  # characters that are looked at on either side
_BOUND = re.compile(r"[.!?:;,()\[\]\n\"]+(?=\s|$)|\n")
_WORD = re.compile(r"\S+")
_COMMA = re.compile(rf"{_BOUND.pattern}|[、，；：]")
# A house in a street, and the town and the country behind a comma.
_CAPITAL = r"(?<!\w)[A-Z\u00c0-\u00d6\u00d8-\u00de]"
_STREET = re.compile(rf"{_CAPITAL}[\w'\u2019.-]*(?: \d+\w?)?\Z")
_NAMED = rf"{_CAPITAL}[\w'\u2019-]*"
_PLACE = re.compile(
    rf"(?: {_NAMED}){{0,3}}(?:, {_NAMED}(?: {_NAMED}){{0,2}}(?=[,.;!?)\n]|\Z)){{0,2}}"
)
_SPACE = re.compile(r"\s+")
_ONE = re.compile(r"[^\W\d][^\n.!?…。！？|]*[.!?…]*")  # a line that is one sentence for certain
_END = ".,; 。、，；"  # says nothing at the end of a sentence that stands in a list
_ASKS = re.compile(r"[?؟](?=[\"'”’»)\]*]*(?:\s|\Z))|？")
_BESIDE = 120  # characters: so near to a value, another one of its kind may be meant instead
_WIDE = 400  # characters: a sentence that goes on for longer says little of a value
_LINE = 20_000  # characters: longer ones were not written by hand
_START, _STOP = attrgetter("start"), attrgetter("stop")


def snippet(text: str, value: Value, found: Sequence[Value]) -> str:
    """Return a value as it stands in a text, with a few words of its sentence where it needs them.

    Args:
        text: The text.
        value: The value.
        found: All values of the text, in order; none of them is cut.
    """
    before, behind = _AROUND.get(value.kind, (0, 0))
    start, stop = value.start, value.stop
    if before:
        at = bisect_right(found, start, key=_STOP)
        near = max(start - _NEAR, found[at - 1].stop if at else 0)
        space = text[near:start]
        bounds = [mark.end() for mark in _BOUND.finditer(space)]
        words = list(_WORD.finditer(space, bounds[-1] if bounds else 0))
        if near and words and words[0].start() == 0:
            words = words[1:]  # it may be half a word
        if words:
            start = near + words[-before:][0].start()
    if behind:
        at = bisect_left(found, stop, key=_START)
        near = min(stop + _NEAR, found[at].start if at < len(found) else len(text))
        space = text[stop:near]
        bound = _BOUND.search(space)
        words = list(_WORD.finditer(space, 0, bound.start() if bound else len(space)))
        if near < len(text) and words and words[-1].end() == len(space):
            words = words[:-1]
        if words:
            stop += words[:behind][-1].end()
        if _STREET.search(text, start, stop) and (place := _PLACE.match(text, stop, near)):
            stop = place.end()
    return " ".join(text[start:stop].split())


class _Part(NamedTuple):
    """A sentence, or a part of a long one.

    Attributes:
        start: Where it begins.
        stop: Where it ends.
        tells: Whether values in it are told apart by it.
        sentence: Where the whole sentence begins and ends.
    """

    start: int
    stop: int
    tells: bool
    sentence: tuple[int, int]


class Contrasts:
    """What a text says of values that stand beside others of their kind.

    A list of both loses that it is "not this one but that one", in whatever language. So their
    sentence stands for them and for what else is in it; of a long one, a part of it.

    Args:
        text: The text.
        found: Its values, in order.
        most: Characters that a sentence or a part of one may have.
    """

    def __init__(self, text: str, found: Sequence[Value], most: int) -> None:
        self._text, self._found, self._most = text, found, most
        self._of_lines: dict[int, list[_Part]] = {}
        # In most texts there are no two of a kind, and then there is no sentence to look for.
        self._alone = len({value.kind for value in found}) == len(found)

    def words(self, value: Value) -> str | None:
        """Return the words for a value, None where it is told from no other by its sentence."""
        part = None if self._alone else self._part(value)
        return None if part is None or not part.tells else self._said(part, self._most)

    def sentence(self, value: Value, most: int) -> str | None:
        """Return the sentence that a value is in, None where it has more than `most` characters."""
        if len(self._text) <= most and _ONE.fullmatch(self._text):  # as most short messages are
            return " ".join(self._text.split()).rstrip(_END)
        part = self._part(value)
        return None if part is None else self._said(part, most)

    def is_qualified(self, value: Value) -> bool:
        """Return whether the sentence that a value is in denies something, or has a condition.

        A few words of it may then say the contrary, or more.
        """
        near = max(0, value.start - _WIDE), value.stop + _WIDE
        short = len(self._text) <= _WIDE  # as most messages: one look for all values
        if not (self._qualifies if short else qualifies(self._text, *near)):
            return False  # as in most, where no sentence is looked for
        part = self._part(value)
        return part is None or qualifies(self._text, *part.sentence)

    def is_asked(self, value: Value) -> bool:
        """Return whether the sentence that a value is in is a question.

        A few words of it may then say that what was asked is so.
        """
        if _ASKS.search(self._text, value.stop, value.stop + _WIDE) is None:
            return False
        part = self._part(value)
        return part is not None and _ASKS.search(self._text, *part.sentence) is not None

    @once
    def _qualifies(self) -> bool:
        """Whether the text denies anything, or has a condition."""
        return qualifies(self._text)

    def _said(self, part: _Part, most: int) -> str | None:
        said = " ".join(self._text[part.start : part.stop].split()).rstrip(_END)
        return said if len(said) <= most else None

    def _part(self, value: Value) -> _Part | None:
        parts = self._parts(value)
        place = bisect_right(parts, value.start, key=_START) - 1
        part = parts[place] if place >= 0 else None
        return None if part is None or part.stop < value.stop else part

    def _parts(self, value: Value) -> list[_Part]:
        """Return the parts of the line that a value is in."""
        text = self._text
        start = text.rfind("\n", 0, value.start) + 1
        known = self._of_lines.get(start)
        if known is None:
            end = text.find("\n", value.stop)
            stop = end if end >= 0 else len(text)
            known = [] if stop - start > _LINE else [*self._in_line(start, stop)]
            self._of_lines[start] = known
        return known

    def _in_line(self, start: int, stop: int) -> Iterator[_Part]:
        """Yield the parts of a line, in order."""
        found = self._found
        low = bisect_left(found, start, key=_START)
        high = bisect_right(found, stop, low, key=_STOP)
        inside = [
            value._replace(start=value.start - start, stop=value.stop - start)
            for value in found[low:high]
        ]
        line = self._text[start:stop]
        for sentence in sentences(line, inside, lines(line)):
            whole = start + sentence.start, start + sentence.stop
            at = sentence.start
            while at < sentence.stop:
                long = sentence.stop - at > self._most
                end = _cut(line, at, at + self._most, inside) if long else sentence.stop
                first = low + bisect_left(inside, at, key=_START)
                behind = low + bisect_left(inside, end, key=_START)
                tells = any(map(self._is_beside_another, range(first, behind)))
                yield _Part(start + at, start + end, tells, whole)
                at = end

    def _is_beside_another(self, place: int) -> bool:
        """Return whether near the value of that number there is another one of its kind."""
        found, value = self._found, self._found[place]
        for others in (range(place - 1, -1, -1), range(place + 1, len(found))):
            for other in map(found.__getitem__, others):
                if max(value.start - other.stop, other.start - value.stop) > _BESIDE:
                    break
                if other.kind == value.kind and other.key != value.key:
                    return True
        return False


def _cut(text: str, start: int, limit: int, found: Sequence[Value]) -> int:
    """Return where a long sentence is parted: behind a comma, else between words; in no value."""
    for border in (_COMMA, _SPACE):
        for cut in reversed([mark.end() for mark in border.finditer(text, start, limit)]):
            before = bisect_left(found, cut, key=_START) - 1
            if before < 0 or found[before].stop <= cut:
                return cut
    before = bisect_left(found, limit, key=_START) - 1
    inside = before >= 0 and start < found[before].start and limit < found[before].stop
    return found[before].start if inside else limit
