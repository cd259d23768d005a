"""A text as sentences, with the headings and list items that each of them stands under.

Not here: what the sentences say (`values`), what becomes of them (`grounding`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from chatfold.core.values import Value
from chatfold.core.values.tables import AMBIGUOUS_MONTHS, MONTHS

__all__ = [
    "Line",
    "Sentence",
    "goes_on",
    "governing",
    "is_abbreviated",
    "is_row",
    "is_rule",
    "lines",
    "sentences",
]


class Line(NamedTuple):
    """One line that is not blank.

    Attributes:
        start: Index of its first character.
        content: Index of the first one behind indentation, quote and list marks.
        stop: Index behind its last, the line break not counted.
        level: 1 to 6 for a heading, 0 for none.
        indent: Columns in front of a list item's mark; -1 for other lines.
        parent: Position of the line that this one stands under, or -1.
        block: Number of the run of lines, without a blank one between, that it belongs to.
    """

    start: int
    content: int
    stop: int
    level: int
    indent: int
    parent: int
    block: int


class Sentence(NamedTuple):
    """One sentence, table or line of one; `line` is the position of the line it begins in."""

    start: int
    stop: int
    line: int


_HEAD = re.compile(r"[ \t]*+(?:>[ \t]?)*+(?:(#{1,6})[ \t]++|(?:[-*+•·‣▪]|\d{1,3}[.)])[ \t]++)?")
_BOX = re.compile(r"\[[ xX]\][ \t]+")
_RULE = re.compile(r"[ \t]*+\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[-: \t|]*+)?")
_END = re.compile(r"[。！？]+[」』）”’]*|(?<![.!?…])[.!?…]++[\"'”’»)\]*_`]*+(?=\s)")
_LAST_WORD = re.compile(r"[^\s(\[\"'“„]{1,24}\Z")
_ABBREVIATIONS: Final = frozenset(
    re.findall(
        r"\S+",
        "nr nos vs approx ca etc cf e.g i.e eg ie dr mr mrs ms prof st inc ltd co corp dept est "
        "fig vol art sec al jr sr min max tel ext ref refs bzw usw evtl ggf inkl zzgl zb z.b d.h "
        "u.a str hr fr abs aufl bd jan feb mar apr jun jul aug sep sept oct okt nov dec dez "
        "p.ej sra a.m p.m resp incl excl qty temp acct",
    )
)
_BEFORE_NAMES: Final = frozenset(
    ("approx", "ca", "dr", "fr", "hr", "mr", "mrs", "ms", "nr", "prof", "st", "vs")
)
# Behind the ordinals of German and its cousins; "bis" with a capital begins a sentence.
_COUNTED: Final = frozenset(
    (
        *("bis", "und", "oder", "Stock", "Stockwerk", "Etage", "Obergeschoss", "Untergeschoss"),
        *("OG", "UG", "Klasse", "Quartal"),
    )
)
_MONTHS: Final = MONTHS.keys() - (AMBIGUOUS_MONTHS - {"august"})
_ENGLISH = re.compile(r"\s*Stock (?:is|was|has|will|levels?|arrives?|arrived|runs?|ran|price\w*)\b")
_FIRST_WORD = re.compile(r"\s*([^\W\d_]{2,16})\b")
_SMALL_WORD = re.compile(r"[a-z\u00df-\u024f]{1,20}[ ,.;]")
_WORD_AT_END = re.compile(r"\s(?:[a-z\u00df-\u024f]{3,20}|an?|of|to|in|on|at|by|is|it|as|or),?\Z")
_REACH = 24  # characters behind a full stop that are looked at
_BROKEN_AT = 60  # characters: nobody breaks shorter lines for their length
_PRONOUN = re.compile(
    r"(?:It|Its|This|That|These|They|Their|There|He|She|His|Her|Sie|Er|Es|Ihr|Diese[rs]?|Das|"
    r"Il|Elle|Celle-ci|Celui-ci|Esta?|Este|Su|Lo)\b|これ|それ|その|この|它|其|该",
    re.IGNORECASE,
)


def _filled(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and stop of each line that is not blank."""
    start = 0
    while start < len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        if not text[start:stop].isspace() and start < stop:
            yield start, stop
        start = stop + 1


def lines(text: str) -> list[Line]:
    """Return the lines of a text that are not blank, each with what it stands under."""
    found: list[Line] = []
    headings: list[int] = []
    items: list[int] = []
    block, last, colon = 0, 0, -1
    for start, stop in _filled(text):
        mark = _HEAD.match(text, start, stop)
        assert mark is not None
        content = mark.end()
        level = len(mark[1] or "")
        listed = (
            not level and content > start and text[content - 1] in " \t" and mark[0].strip(" \t>")
        )
        column = len(text[start:content].expandtabs(4)) - len(
            text[start:content].expandtabs(4).lstrip()
        )
        if text.count("\n", last, start) > 1:
            block += 1
            colon = -1
        if level:
            while headings and found[headings[-1]].level >= level:
                headings.pop()
            parent = headings[-1] if headings else -1
            items, colon = [], -1
        else:
            while items and column <= found[items[-1]].indent:
                items.pop()
            if items:
                parent = items[-1]
            elif listed and colon >= 0:
                parent = colon
            else:
                parent = headings[-1] if headings else -1
        box = _BOX.match(text, content, stop)
        content = box.end() if box and listed else content
        found.append(Line(start, content, stop, level, column if listed else -1, parent, block))
        at = len(found) - 1
        if level:
            headings.append(at)
        elif listed:
            items.append(at)
        elif text[start:stop].rstrip().rstrip("*_").endswith((":", "：")):
            colon = at
        elif column == 0:
            items, colon = [], -1
        last = stop
    return found


def sentences(text: str, found: Sequence[Value], structure: Sequence[Line]) -> list[Sentence]:
    """Return the sentences of a text, in order; rows of a table are one each.

    Args:
        text: The text.
        found: Its values: no sentence ends inside one.
        structure: Its lines.
    """
    starts = [value.start for value in found]
    out: list[Sentence] = []
    number = 0
    while number < len(structure):
        line = structure[number]
        if is_row(text, line):
            stop = number + 1
            if stop < len(structure) and is_rule(text, structure[stop]):
                # Without its head a table is none, so both go, and all that hangs on them.
                out.append(Sentence(line.start, structure[stop].stop, number))
                stop += 1
            else:
                out.append(Sentence(line.start, line.stop, number))
            number = stop
            continue
        last = number
        while last + 1 < len(structure) and _is_continued(
            text, structure[last], structure[last + 1]
        ):
            last += 1
        stop = structure[last].stop
        at = line.content
        for end in _END.finditer(text, line.content, 0 if line.level else stop):
            if end.end() < stop and _is_end(text, end, (line.content, stop), starts, found):
                out.append(Sentence(at, end.end(), number))
                at = end.end()
                while at < stop and text[at].isspace():
                    at += 1
        if at < stop:
            out.append(Sentence(at, stop, number))
        number = last + 1
    return out


def _is_continued(text: str, line: Line, following: Line) -> bool:
    """Return whether a line was only broken for its length."""
    return (
        following.block == line.block
        and not (line.level or following.level or following.indent >= 0)
        and line.stop - line.start >= _BROKEN_AT
        and _WORD_AT_END.search(text, line.stop - 24, line.stop) is not None
        and _SMALL_WORD.match(text, following.content) is not None
    )


def is_rule(text: str, line: Line) -> bool:
    """Return whether a line parts the head of a table from its rows."""
    return _RULE.fullmatch(text, line.start, line.stop) is not None


def is_row(text: str, line: Line) -> bool:
    """Return whether a line is a row of a table."""
    return (
        text[line.start : line.stop].lstrip()[:1] == "|"
        and text.count("|", line.start, line.stop) > 1
    )


def _is_end(
    text: str,
    end: re.Match[str],
    within: tuple[int, int],
    starts: Sequence[int],
    found: Sequence[Value],
) -> bool:
    """Return whether a full stop ends a sentence: not in a value, nor after an abbreviation."""
    at = end.start()
    inside = bisect_right(starts, at) - 1
    beyond = found[inside].stop - at if inside >= 0 else 0
    if beyond > 1 or (beyond == 1 and text[at - 1].isdigit()):
        return False  # "14.11." has its full stop only where the sentence goes on
    if text[at] != ".":
        return True
    rest = text[end.end() : min(within[1], end.end() + 8)].lstrip()
    word = _LAST_WORD.search(text, max(within[0], at - 24), at)
    if word is None:
        return True
    last = word[0].lower()
    if inside >= 0 and found[inside].stop == at and found[inside].kind != "number":
        return True
    if rest[:1].islower() and word[0].isalpha() and 1 < len(last) < 5 and not word[0].isupper():
        return False  # an abbreviation that the list does not know
    if last == "no":
        return not rest[:1].isdigit()
    if last in _ABBREVIATIONS or _is_street(last, rest):
        return False
    if len(last) == 1 and last.isalpha():  # J. Smith, z. B.; but "5 g." ends a sentence
        return not (word[0].isupper() or rest[1:2] == ".")
    if "." in last and all(len(part) == 1 for part in last.split(".")):
        return False  # U.S., z.B.
    if last.isdigit() and len(last) < 3:
        ordinal = _is_ordinal(last, text[end.end() : min(within[1], end.end() + _REACH)])
        counts = rest[:1].isdigit() or not _ends_number(rest) or ordinal
        return word.start() != within[0] and not counts
    return True


def is_abbreviated(text: str, at: int, rest: str) -> bool:
    """Return whether a full stop surely belongs to the word before it: `Dr. Weber`, `No. 5`.

    Other than in what a model writes, a small letter behind it says nothing: who chats begins
    sentences with one.

    Args:
        text: The text.
        at: Index of the full stop.
        rest: What stands behind it and the space there.
    """
    word = _LAST_WORD.search(text, max(0, at - 24), at)
    if word is None:
        return False
    last = word[0].lower()
    if last == "no":
        return rest[:1].isdigit()
    if len(last) == 1 and last.isalpha():  # J. Smith
        return word[0].isupper() and last != "i" and rest[:1].isupper()
    if last in _BEFORE_NAMES:  # but "500 ms." ends a sentence
        return not text[: word.start()].rstrip()[-1:].isdigit()
    if _is_ordinal(last, rest) or _is_street(last, rest):
        return True
    return last in _ABBREVIATIONS and not rest[:1].isupper()


def _ends_number(rest: str) -> bool:
    """Return whether a number of one or two digits with a full stop is no ordinal."""
    return rest[:1].isupper() or not rest[:1].isalpha()


def _is_ordinal(word: str, rest: str) -> bool:
    """Return whether a number with a full stop is one of a row: `6. August`, `2. Stock`."""
    if not (word.isdigit() and len(word) < 3):
        return False
    counted = _FIRST_WORD.match(rest)
    if counted is None or _ENGLISH.match(rest):
        return False
    return counted[1] in _COUNTED or counted[1].lower() in _MONTHS


def _is_street(word: str, rest: str) -> bool:
    """Return whether the number of a house stands behind a word: `Lindenstr. 5`."""
    return word.endswith("str") and rest[:1].isdigit()


def goes_on(text: str, sentence: Sentence) -> bool:
    """Return whether a sentence speaks of what the one before it has named."""
    return _PRONOUN.match(text, sentence.start, sentence.stop) is not None


def governing(structure: Sequence[Line], line: int) -> Iterable[int]:
    """Yield the positions of the lines that a line stands under, the nearest first."""
    at = structure[line].parent
    while at >= 0:
        yield at
        at = structure[at].parent
