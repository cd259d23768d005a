"""History files: read, with a place for whatever is wrong, and rendered as they were written.

Messages are for people at a terminal: one line, with file, line and index. Not here: what is done
with the items (`commands`), and how a file is written (`outputs`).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from chatfold.cli.literals import NumberError, dumps, loads

__all__ = ["FileError", "Held", "History", "read_history", "reason"]

Item: TypeAlias = dict[str, Any]

_KEYS: Final = ("messages", "input", "items")
_EXPECTED: Final = (
    "expected a JSON list of items, an object with a list under messages, input or items, or "
    "JSONL with one item a line"
)
# What makes the provider put a history of its own before the list of a request.
_HELD_BY: Final = ("previous_response_id", "conversation", "thread")


class FileError(Exception):
    """A file cannot be read as a history, or cannot be written; the message is one line."""


class Held(NamedTuple):
    """A history that the provider holds, as a request names it.

    Attributes:
        by: The field of the request, and what stands there.
        shape: Name of the only shape whose requests have that field.
    """

    by: str
    shape: str


@dataclass(frozen=True, slots=True)
class History:
    """The items of a file, and how the file wrote them.

    Attributes:
        items: The native items, in order.
        raw: The file's bytes.
        form: A JSON list, an object that holds the list, or one item a line.
        key: The key of the list in an object, else "".
        around: The object, with all its keys; {} in the other forms.
        indent: What one level is indented by; None where the file has no line breaks.
    """

    items: list[Item]
    raw: bytes = field(repr=False)
    form: Literal["list", "object", "jsonl"]
    key: str = ""
    around: Item = field(default_factory=dict[str, Any], repr=False)
    indent: str | None = None

    @property
    def held(self) -> Held | None:
        """The history that the provider would put before the list; None where there is none.

        Beside `messages`, `conversation` is some name that whoever saved the file gave. A thread
        that begins with the request holds nothing yet.
        """
        previous, conversation, thread = (self.around.get(name) for name in _HELD_BY)
        if self.key == "input" and (previous or conversation):
            name, value = _HELD_BY[0 if previous else 1], previous or conversation
            named = cast("Item", value).get("id") if isinstance(value, dict) else value
            return Held(f"{name} {named!r}", "openai_responses")
        if self.key == "messages" and isinstance(thread, dict):
            begun = cast("Item", thread).get("previous_message_id")
            return Held(f"thread {begun!r}", "anthropic") if begun else None
        return None

    def rendered(self, items: Sequence[Item], options: Mapping[str, Any] | None = None) -> bytes:
        """Return `items` written as the file wrote its own, as UTF-8, numbers digit for digit.

        Half of a surrogate pair has no UTF-8 form and is written as the escape that it was.

        Args:
            items: What takes the place of the file's items.
            options: What requests with the items need; a request that named a history of the
                provider's takes what keeps it away.
        """
        if self.form == "jsonl":
            text = "".join(dumps(item, None) + "\n" for item in items)
        else:
            around = {
                name: options[name] if name in _HELD_BY and options and name in options else value
                for name, value in self.around.items()
            }
            value = {**around, self.key: items} if self.form == "object" else items
            text = dumps(value, self.indent) + "\n"
        return text.encode("utf-8", "backslashreplace")


def read_history(name: str) -> History:
    """Return the history in a file; `-` is standard input.

    A key that stands twice in one object counts once, with its last value.

    Raises:
        FileError: The file cannot be read, or holds something else than items.
    """
    if not name:
        raise FileError("cannot read a file without a name; name one, or - for standard input")
    if name == "-" and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise FileError("cannot read standard input: it is closed")
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {name}: {reason(error)}") from error
    where = "standard input" if name == "-" else name
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"{where}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; "
            "save the file as UTF-8"
        ) from error
    if "\0" in text[:4]:  # of JSON, each other byte of UTF-16 is zero
        raise FileError(f"{where} is UTF-16 or UTF-32, not UTF-8; save the file as UTF-8")
    if not text.strip():
        raise FileError(f"{where} is empty; {_EXPECTED}")
    try:
        return _parsed(text, raw, where)
    except RecursionError as error:
        raise FileError(f"{where} is nested too deeply to be read") from error


def reason(error: OSError) -> str:
    """Return the system's words for what went wrong with a file."""
    return (error.strerror or str(error)).lower()


def _parsed(text: str, raw: bytes, where: str) -> History:
    first, _, more = text.lstrip().partition("\n")
    try:
        value = _loads(text, where)
    except FileError:
        if not more.strip() or not _is_json(first):
            raise
        return History(_lines(text, where), raw, "jsonl")
    indent = _indent(text)
    if isinstance(value, list):
        return History(_items(cast("list[object]", value), where), raw, "list", indent=indent)
    if isinstance(value, dict):
        held = cast("Item", value)
        for key in _KEYS:
            if isinstance(held.get(key), list):
                items = _items(held[key], f"{where}, {key}")
                return History(items, raw, "object", key, held, indent)
        if not more.strip() and ("role" in held or "type" in held):
            return History([held], raw, "jsonl")
        named = next((key for key in _KEYS if key in held), None)
        if named is not None:
            raise FileError(f"{where}: {named} is {_kind(held[named])}, not a list of items")
        raise FileError(f"{where} is an object without a list of items; {_EXPECTED}")
    raise FileError(f"{where} is {_kind(value)}; {_EXPECTED}")


def _lines(text: str, where: str) -> list[Item]:
    """Return the items of JSONL; blank lines are passed over."""
    items: list[Item] = []
    # Not splitlines(): JSON strings may hold its other line breaks, such as U+2028.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = _loads(line, where, number)
        if not isinstance(value, dict):
            raise FileError(f"{where}, line {number}: expected an item, found {_kind(value)}")
        item = cast("Item", value)
        held = next((key for key in _KEYS if isinstance(item.get(key), list)), None)
        if held is not None and "role" not in item and "type" not in item:
            raise FileError(
                f"{where}, line {number}: found a whole history (under {held}) where one item "
                "was expected; put each history into a file of its own"
            )
        items.append(item)
    return items


def _items(values: list[object], where: str) -> list[Item]:
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            raise FileError(f"{where}, item {index}: expected a JSON object, found {_kind(value)}")
    return cast("list[Item]", values)


def _loads(text: str, where: str, line: int | None = None) -> object:
    """Return a JSON value.

    Args:
        text: The whole text, or one line of it.
        where: Name of the file.
        line: Number of that line, from 1.

    Raises:
        FileError: The text is not JSON, or holds a number that could not be written back.
    """

    def at(position: int) -> str:
        before = text[:position]
        row = before.count("\n") + 1 if line is None else line
        return f"{where}, line {row}, column {position - before.rfind(chr(10))}"

    try:
        return loads(text)
    except json.JSONDecodeError as error:
        raise FileError(f"{at(error.pos)}: not JSON: {error.msg}") from error
    except NumberError as error:
        raise FileError(f"{at(error.position(text))}: {error}") from error


def _is_json(text: str) -> bool:
    try:
        _loads(text, "")
    except FileError:
        return False
    return True


def _indent(text: str) -> str | None:
    """Return the white space that opens the second line; None where there is one line only."""
    body = text.strip()
    if "\n" not in body:
        return None
    found = re.match(r"[\[{][ \t\r]*\n([ \t]+)", body)
    return found[1] if found else "  "


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
