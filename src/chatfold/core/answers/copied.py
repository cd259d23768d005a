"""What a model copies into its answer of the earlier summary: its tags, its note, its record.

Code carries the record on. A copy of it among the model's words would say as true what was taken
back since, would be copied once more at each fold, and would pass for told, so that the record
leaves out what stands in it.

Not here: an answer that is one whole wrapper (`summary`), the form of a record (`record`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final, NamedTuple

from chatfold.core.entries import TAGS, read_line, read_quoted

__all__ = ["without_copied"]

_RECORD, *_PARTS = TAGS
_LT, _GT = r"(?:<|&(?:amp;)*lt;)", r"(?:>|&(?:amp;)*gt;)"  # a prompt shows a text with entities
_HEAD: Final = rf"[ \t]*[*_#]{{0,4}} ?(?i:{'|'.join(_PARTS)})\W{{1,6}}\n"
_OPENS: Final = re.compile(rf"(?<=[^\n])({_LT}{_RECORD}{_GT})(?=[ \t]*\n{_HEAD})")
_CLOSES: Final = re.compile(rf"(?<=\n)({_LT}/{_RECORD}{_GT})(?=[^\n])")
_OPENING: Final = re.compile(rf"{_LT}{_RECORD}{_GT}")
_CLOSING: Final = re.compile(rf"{_LT}/{_RECORD}{_GT}")
_CLOSING_TAG: Final = f"</{_RECORD}>"
_WRAPPER: Final = re.compile(
    r'(?:\A[^\n\d]{0,60}:\s*)?<chat_history_summary digest="[0-9a-f]+">'
    r"\s*<note>[^<]{0,4000}</note>\s*"
)
_WRAPPER_END: Final = "</chat_history_summary>"
_NOTE: Final = re.compile(
    rf"{_LT}note{_GT}((?:(?!{_LT}note{_GT}).)*?){_LT}/note{_GT}\s*", re.DOTALL
)
_SHOWN: Final = re.compile(rf"\s*{_LT}previous_summary{_GT}")
_SHOWN_ENDS: Final = re.compile(rf"{_LT}/previous_summary{_GT}")
_MAY_COPY: Final = re.compile(r"[<&]")
_BULLET: Final = re.compile(r"[-*\u2022]\s+")
_TWICE: Final = re.compile(r"&(?:amp;)+(?=(?:amp|lt|gt|quot|apos|#39|#34);)")
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#34;", '"'))
_AUTHORS: Final = frozenset(("assistant", "earlier", "user"))
_EMPTY_LINES: Final = re.compile(r"\n{3,}")
_LEAST: Final = 8  # characters of a line that was broken off, by which it is known


class _Kind(Enum):
    """What a line of an answer is."""

    OPENING = auto()
    CLOSING = auto()
    HEAD = auto()
    COPY = auto()  # stands in the earlier record
    ENTRY = auto()  # has the form of a record's line
    BULLET = auto()
    BLANK = auto()
    WORDS = auto()


_KNOWN: Final = frozenset((_Kind.COPY, _Kind.ENTRY))
_ENTRIES: Final = _KNOWN | {_Kind.BULLET}
_INSIDE: Final = _ENTRIES | {_Kind.HEAD}


class _Line(NamedTuple):
    """A line of an answer."""

    text: str
    kind: _Kind


def without_copied(text: str, record: str, note: str = "") -> str:
    """Return an answer without what it copies of the summary that its author was shown.

    What goes is the note that stood in front of it, in an element of its own; the record as an
    element in the form that it is shown in, where a line of it stands in the answer's element word
    for word; and the tags around the summary. Words stay, whatever they speak of, and so do lists
    of the model's own, whatever they hold of the record, and elements of a conversation's own that
    bear the record's name.

    Args:
        text: The answer.
        record: The record that was shown; "" where there was none.
        note: The note that may have been shown, "" where there was none.
    """
    if _MAY_COPY.search(text) is None:
        return text
    said = _without_note(_without_tags(text), note)
    broken = _CLOSES.sub(r"\1\n", _OPENS.sub(r"\n\1", said))
    if _OPENING.search(broken) is None:
        return said
    shown = _lines_of(record)
    lines = [_line(line, shown) for line in broken.split("\n")]
    goes = _copied(lines)
    if not any(goes):
        return said
    _mark_broken_off(lines, goes, shown)
    _mark_tags(lines, goes)
    _mark_bare(lines, goes)
    left = [line.text for line, is_copy in zip(lines, goes, strict=True) if not is_copy]
    return _EMPTY_LINES.sub("\n\n", "\n".join(left)).strip()


def _without_tags(text: str) -> str:
    """Return an answer without the tags, and the note, that stand around the summary shown."""
    if (framed := _SHOWN.match(text)) is not None:
        text = _SHOWN_ENDS.sub("\n", text[framed.end() :], count=1).strip()
    if _WRAPPER.search(text) is None:
        return text
    return _WRAPPER.sub("", text).replace(_WRAPPER_END, "").strip()


def _without_note(text: str, note: str) -> str:
    """Return an answer without a note of the same words, wherever it stands."""
    if not (told := _plain(" ".join(note.split()))):
        return text
    left = _NOTE.sub(lambda m: "" if _plain(" ".join(m[1].split())) == told else m[0], text)
    return text if left == text else left.strip()


def _lines_of(record: str) -> frozenset[str]:
    """Return the lines of a record as they are compared."""
    return frozenset(_plain(text[2:]) for text in record.split("\n") if text.startswith("- "))


def _plain(text: str) -> str:
    """Return a line as it is compared: entities may have been copied with it, once or twice."""
    text = text.strip()
    if "&" in text:
        text = _TWICE.sub("&", text)
        for entity, character in _ENTITIES:
            text = text.replace(entity, character)
        text = text.replace("&amp;", "&")
    return text


def _line(line: str, shown: frozenset[str]) -> _Line:
    """Return a line of an answer with what it is.

    Args:
        line: The line.
        shown: The lines of the earlier record.
    """
    text = line.strip()
    if not text:
        return _Line(line, _Kind.BLANK)
    if _OPENING.fullmatch(text) is not None:
        return _Line(line, _Kind.OPENING)
    if _CLOSING.fullmatch(text) is not None:
        return _Line(line, _Kind.CLOSING)
    bullet = _BULLET.match(text)
    if bullet is None:
        head = text.strip("*_# \t")
        is_head = head[-1:] == ":" and head.rstrip("*_:").lower() in _PARTS
        return _Line(line, _Kind.HEAD if is_head else _Kind.WORDS)
    said = _plain(text[bullet.end() :])
    if said in shown:
        return _Line(line, _Kind.COPY)
    return _Line(line, _Kind.ENTRY if _is_entry(said) else _Kind.BULLET)


def _is_entry(said: str) -> bool:
    """Return whether a text has the form of a record's line, and no other."""
    if read_quoted(said) is not None:
        return True
    entry = read_line(said)
    if entry is None:
        return False
    is_call = entry.call != "" or entry.calls != 1 or entry.arguments is not None
    return is_call or entry.name in _AUTHORS


def _copied(lines: list[_Line]) -> list[bool]:
    """Return of each line whether it goes: those of elements that hold a line that was shown."""
    goes = [False] * len(lines)
    for inside in _elements(lines):
        if any(lines[at].kind is _Kind.COPY for at in inside):
            for at in inside:
                goes[at] = lines[at].kind in _KNOWN and not _goes_on(lines, at)
    return goes


def _goes_on(lines: list[_Line], at: int) -> bool:
    """Return whether something hangs on an entry: a line that is indented below it."""
    if _kind_at(lines, at + 1) is not _Kind.WORDS or at + 1 >= len(lines):
        return False
    return _indent(lines[at + 1].text) > _indent(lines[at].text)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _elements(lines: list[_Line]) -> Iterator[range]:
    """Yield where the lines of each element stand: from a head behind its tag to a tag or words."""
    at = 0
    while at < len(lines):
        first = at = at + 1
        if lines[at - 1].kind is not _Kind.OPENING or _kind_at(lines, at) is not _Kind.HEAD:
            continue
        while _kind_at(lines, at) in _INSIDE or _is_gap(lines, at):
            at += 1
        yield range(first, at)


def _kind_at(lines: list[_Line], at: int) -> _Kind:
    return lines[at].kind if 0 <= at < len(lines) else _Kind.WORDS


def _is_gap(lines: list[_Line], at: int) -> bool:
    return _kind_at(lines, at) is _Kind.BLANK and _kind_at(lines, at + 1) is _Kind.HEAD


def _mark_broken_off(lines: list[_Line], goes: list[bool], shown: frozenset[str]) -> None:
    """Mark the last line where it is the beginning of one that would go: the answer ended there."""
    last = max(at for at, line in enumerate(lines) if line.kind is not _Kind.BLANK)
    before = max(at for at, is_copy in enumerate(goes) if is_copy)
    text = lines[last].text.strip()
    if before >= last or any(
        line.kind not in (_Kind.BLANK, _Kind.HEAD) for line in lines[before + 1 : last]
    ):
        return
    said = _plain(text[2:])
    if text.startswith("- ") and len(said) >= _LEAST:
        is_part = any(sign in said for sign in '(:"')  # a name alone may be what is open
        goes[last] = is_part and any(line.startswith(said) for line in shown)
    elif text.startswith("</"):
        goes[last] = _CLOSING_TAG.startswith(text)


def _mark_tags(lines: list[_Line], goes: list[bool]) -> None:
    """Mark the tags of an element of which something goes."""
    behind = False  # whether the opening tag before it goes
    for at, line in enumerate(lines):
        if line.kind is _Kind.OPENING:
            behind = goes[at] = any(goes[place] for place in _below(lines, at))
        elif line.kind is _Kind.CLOSING:
            goes[at] = behind or (at > 0 and goes[at - 1])
            behind = False


def _mark_bare(lines: list[_Line], goes: list[bool]) -> None:
    """Mark the heads of what goes, and the words that lead to it, if nothing is left under them."""
    for at in range(len(lines) - 1, -1, -1):
        kind, text = lines[at].kind, lines[at].text
        if kind is _Kind.HEAD:
            under = _entries(lines, at + 1)
        elif kind is _Kind.WORDS and _is_lead_in(text):
            under = _below(lines, at)
        else:
            continue
        goes[at] = bool(under) and all(goes[place] for place in under)


def _is_lead_in(text: str) -> bool:
    """Return whether a line says no more than that something follows."""
    said = text.rstrip()
    return said[-1:] == ":" and len(said.split()) <= 8 and not any(map(str.isdigit, said))


def _entries(lines: list[_Line], first: int) -> range:
    """Return the places of the entries from a line on."""
    behind = first
    while _kind_at(lines, behind) in _ENTRIES:
        behind += 1
    return range(first, behind)


def _below(lines: list[_Line], at: int) -> range:
    """Return the places of what stands below a line, behind empty ones, up to the next gap."""
    first = at + 1
    while _kind_at(lines, first) is _Kind.BLANK:
        first += 1
    behind = first
    while _kind_at(lines, behind) not in (_Kind.BLANK, _Kind.WORDS):
        behind += 1
        if _kind_at(lines, behind) is _Kind.OPENING:
            break
    return range(first, behind)
