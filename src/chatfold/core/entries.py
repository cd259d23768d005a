r"""The entries of a record, and the one line that each is written as.

What could be mistaken for the form is written between double quotes, with ``\n`` and ``\u{HEX}``
for line breaks and the like, so that one entry is one line whatever stands in it.

Not here: the block around the lines (`record`), what becomes an entry (`actions`, `ledger`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from chatfold.core.once import once

__all__ = [
    "TAGS",
    "Entry",
    "Field",
    "cleaned",
    "is_in_a_list",
    "line",
    "quoted",
    "read_line",
    "read_quoted",
    "written",
]

TAGS = ("record", "standing", "done", "failed", "open", "values")
"""Names of a record's elements, the outer one first; a value that holds their tags is escaped."""


class Field(NamedTuple):
    """One value of an entry.

    Attributes:
        label: Keys and indices that lead to it, joined by dots; "" for words out of a text.
        text: The value as it was written.
        was: What it was before, where that is known; else "".
    """

    label: str
    text: str
    was: str = ""

    @property
    def key(self) -> str:
        """The last key that leads to it, "" where none does."""
        return next((step for step in reversed(self.label.split(".")) if not step.isdigit()), "")


class _Parts(NamedTuple):
    name: str
    arguments: tuple[Field, ...] | None = None
    values: tuple[Field, ...] = ()
    call: str = ""
    calls: int = 1
    unsure: bool = False


class Entry(_Parts):
    """One line of a record.

    Attributes:
        name: The tool, or who said it (`user`, `assistant`, `earlier`).
        arguments: What names the call among those of its tool; None where it is no single call.
        values: What came of it.
        call: The call id, "" where there is none.
        calls: Number of calls that the entry stands for, at least 1.
        unsure: Whether the tool may change nothing at all.
    """

    @once  # a fold writes the same ones again and again
    def line(self) -> str:
        """The entry as it is written; `read_line` gives it back."""
        return _line(self)


def cleaned(entry: Entry, clean: Callable[[str], str]) -> Entry:
    """Return an entry with every text of it as `clean` returns it."""

    def each(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(Field(*(clean(text) if text else "" for text in field)) for field in fields)

    return entry._replace(
        name=clean(entry.name),
        arguments=None if entry.arguments is None else each(entry.arguments),
        values=each(entry.values),
        call=clean(entry.call) if entry.call else "",
    )


def line(entry: Entry) -> str:
    """Return the line of an entry; `read_line` gives the entry back."""
    return entry.line


def _line(entry: Entry) -> str:
    out = [_name(entry.name)]
    if entry.arguments is not None:
        out.append(f"({', '.join(map(written, entry.arguments))})")
    if entry.calls != 1:
        earlier = " earlier" if entry.arguments is None else ""
        out.append(f" ({entry.calls}{earlier} calls)")
    if entry.values:
        out.append(": " + ", ".join(map(written, entry.values)))
    if entry.unsure:
        out.append(_UNSURE)
    if entry.call:
        out.append(f" [{_name(entry.call)}]")
    return "".join(out)


def quoted(text: str) -> str:
    """Return any text between double quotes, on one line."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _name(text: str) -> str:
    if text.isascii() and text.isidentifier():  # most names: quicker than by the pattern
        return text
    return text if _NAME.fullmatch(text) else quoted(text)


def written(field: Field) -> str:
    """Return a value as it stands in the line of an entry."""
    label, text, was = field
    text = _value(text, labelled=bool(label))
    if label:
        text = f"{_name(label)}={text}"
    return f"{text} (was: {_value(was, labelled=True)})" if was else text


def _value(text: str, *, labelled: bool) -> str:
    """Return a value as it is where nothing in it can be mistaken; else between quotes."""
    if text.isalnum() or _PLAIN.fullmatch(text):
        return text
    if _BARE.fullmatch(text) is None or text[-1].isspace() or _ESCAPED.search(text):
        return quoted(text)
    return text if labelled or "=" not in text else quoted(text)


# --- characters -----------------------------------------------------------------------------------

_UNSURE = " (effect unknown)"
_NAME = re.compile(r"[\w./$@-]+(?::+[\w./$@-]+)*")
_PLAIN = re.compile(r"[\w.:/@#+-]+(?: [\w.:/@#+-]+)*")  # most of them: quicker than by all rules
_BARE = re.compile(r"[^\s\"\\,()\[\]=][^\"\\,()\[\]]*")
# What ends a string or a line for some reader, what is half a character, and the record's tags.
_ESCAPED = re.compile(
    r"[\"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]" + rf"|<(?=/?(?:{'|'.join(TAGS)})\b)"
)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(?:u\{((?:10|[0-9a-f])?[0-9a-f]{1,4})\}|(.))")


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in '"\\':
        return "\\" + character
    return "\\n" if character == "\n" else f"\\u{{{ord(character):x}}}"


def _unescape(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return "\n" if found[2] == "n" else found[2]


# --- reading --------------------------------------------------------------------------------------

_COUNT = re.compile(r" \(([0-9]{1,9})(?: earlier)? calls\)")


def read_line(text: str) -> Entry | None:
    """Return the entry in a line, None where it is not of the form.

    More forms are read than `line` writes; who has to be certain writes the entry again.
    """
    reader = _Reader(text)
    try:
        entry = reader.entry()
    except _FormError:
        return None
    return entry if reader.at == len(text) else None


def read_quoted(text: str) -> str | None:
    """Return the text between quotes, None where there are none."""
    found = _QUOTED.fullmatch(text)
    return None if found is None else _ESCAPE.sub(_unescape, found[1])


class _FormError(Exception):
    """A line is not of the form."""


class _Reader:
    """Reads one line from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def entry(self) -> Entry:
        name = self.name()
        arguments = None
        if self.skip("("):
            arguments = () if self.skip(")") else tuple(self.fields(")"))
        found = _COUNT.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        values = tuple(self.fields("")) if self.skip(": ") else ()
        unsure = self.skip(_UNSURE)
        call = ""
        if self.skip(" ["):
            call = self.name()
            self.skip("]")
        return Entry(name, arguments, values, call, int(found[1]) if found else 1, unsure)

    def fields(self, end: str) -> Iterator[Field]:
        yield self.field()
        while self.skip(", "):
            yield self.field()
        self.skip(end)

    def field(self) -> Field:
        start, label = self.at, ""
        if self.text.startswith('"', self.at) or _NAME.match(self.text, self.at):
            label = self.name()
            if not self.skip("="):
                self.at, label = start, ""
        text = self.value()
        was = ""
        if self.skip(" (was: "):
            was = self.value()
            self.skip(")")
        return Field(label, text, was)

    def value(self) -> str:
        if self.text.startswith('"', self.at):
            return self.word(_QUOTED)
        text = self.word(_BARE)
        bare = text.rstrip()  # the space belongs to a parenthesis or a bracket behind the value
        self.at -= len(text) - len(bare)
        return bare

    def name(self) -> str:
        return self.word(_QUOTED if self.text.startswith('"', self.at) else _NAME)

    def word(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _FormError
        self.at = found.end()
        return _ESCAPE.sub(_unescape, found[1]) if pattern is _QUOTED else found[0]

    def skip(self, text: str) -> bool:
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True


def is_in_a_list(label: str) -> bool:
    """Return whether a label names a place in a list, which may hold another thing next time."""
    return any(step.isdigit() for step in label.split("."))
