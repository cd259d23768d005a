"""Which facts an agent needed after a point of its history, told without a model.

A fact is a value: an id, a date, a time, an amount, a number, an address, a path. It was needed if
it had been seen before the point and the first to write it afterwards was the assistant, in a call
or in words: nobody had told it again, so it had to be remembered. Nothing of chatfold is used
here, so that its own reading of values is not what it is graded by. Not counted: numbers of one or
two digits, which stand everywhere by chance, and what the leading instructions say, which every
system keeps.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

Item = dict[str, Any]

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_VALUE = re.compile(
    rf"""
    (?P<url>https?://[^\s"'<>()\[\]{{}}|\\^`]{{1,400}})
    | (?P<mail>(?<![\w.+-])[\w.+-]{{1,64}}@[A-Za-z0-9-]{{1,63}}(?:\.[A-Za-z0-9-]{{1,63}}){{1,4}})
    | (?P<words>\b{_MONTH}\.?\ \d{{1,2}}(?:st|nd|rd|th)?(?:,?\ \d{{4}})?\b)
    | (?P<path>(?<![\w./~-])~?(?:/[\w.@+-]{{1,80}}){{2,20}}
        | (?<![\w./~-])[\w.@+-]{{1,80}}(?:/[\w.@+-]{{1,80}}){{1,20}})
    | (?P<time>(?<![\w:.])\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:\.\d{{1,6}})?)?(?![\w:]))
    | (?P<word>(?<![\w])\#?[A-Za-z0-9]{{1,80}}(?:[-_.][A-Za-z0-9]{{1,80}}){{0,12}})
    """,
    re.VERBOSE,
)
_GROUPS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DATE_PARTS = re.compile(r"[A-Za-z]{3,}|\d+")
_PLAIN = re.compile(r"\d+(?:\.\d+)?\Z")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
_COUNTED = re.compile(r"\d{1,3}-[a-z]+\Z")  # 24-hour
_FILE = re.compile(r"\w[\w-]*(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,4}\Z")
_ESCAPES = re.compile(r"\\[nrt]")


def values(text: str) -> set[str]:
    """Return the values in a text, in one form each; linear in its length."""
    text = _GROUPS.sub("", _ESCAPES.sub(" ", text))
    found = set()
    for match in _VALUE.finditer(text):
        kind = match.lastgroup
        value = match[0].rstrip(".,:;!?*_-")
        if kind in ("url", "mail"):
            found.add(value)
        elif kind == "time":
            found.add(value.removesuffix(":00") if value.count(":") > 1 else value)
        elif kind == "words":
            found.add(_date(value))
        elif kind == "path":
            if _is_path(value):
                found.add(value)
            else:
                found.update(filter(None, (_word(part) for part in value.split("/"))))
        else:
            found.add(_word(value) or "")
    found.discard("")
    return found


def _date(value: str) -> str:
    month, day, *year = _DATE_PARTS.findall(value)
    number = _MONTHS.index(month[:3].lower()) + 1
    return f"{year[0]}-{number:02}-{int(day):02}" if year else f"--{number:02}-{int(day):02}"


def _is_path(value: str) -> bool:
    """Return whether a run with slashes is a path, and not "and/or" or a fraction."""
    if not _LETTER.search(value):
        return bool(re.fullmatch(r"\d{1,4}/\d{1,2}/\d{1,4}", value))
    return value[0] in "/~" or value.count("/") > 1 or bool(_FILE.search(value))


def _word(value: str) -> str | None:
    """Return a word in one form if it is a value: a number, a date, an id, the name of a file."""
    if _PLAIN.match(value):
        whole, _, part = value.partition(".")
        part = part.rstrip("0")
        if not part:
            return whole if len(whole) > 2 else None
        return f"{whole}.{part}"
    if _DIGIT.search(value) and len(value) > 3 and not _COUNTED.match(value):
        return value
    return value if len(value) > 4 and _FILE.match(value) else None


def texts(item: Item) -> Iterator[str]:
    """Yield the texts of a Chat Completions message: words, arguments, a result; JSON by value."""
    content = item.get("content")
    if isinstance(content, str):
        yield from _strings(content)
    for part in content if isinstance(content, list) else ():
        yield from _strings(part.get("text") or part.get("refusal") or "")
    for call in item.get("tool_calls") or ():
        named = call.get("function") or call.get("custom") or {}
        yield from _strings(named.get("arguments") or named.get("input") or "")


def _strings(text: Any) -> Iterator[str]:
    """Yield a text, or the keys and values of the JSON document that it is."""
    if isinstance(text, str) and text.lstrip()[:1] in ("{", "["):
        try:
            yield from _leaves(json.loads(text))
            return
        except (ValueError, RecursionError):
            pass
    yield text if isinstance(text, str) else json.dumps(text)


def _leaves(document: Any) -> Iterator[str]:
    stack = [document]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str):
            yield value
        elif value is not None and not isinstance(value, bool):
            yield repr(value)


def values_of(items: Iterable[Item]) -> set[str]:
    """Return the values in messages."""
    return {value for item in items for text in texts(item) for value in values(text)}


def values_in_prompt(text: str) -> set[str]:
    """Return the values in a text that holds escaped XML, JSON, or both."""
    found = values(text)
    plain = html.unescape(text)
    if plain != text:
        found |= values(plain)
    if '\\"' in plain:
        found |= values(plain.replace('\\"', '"'))
    return found


class Needed(NamedTuple):
    """What was needed after a point.

    Attributes:
        all: Every needed value.
        head: Those of them that do not stand in the tail as well: only a summary can save them.
    """

    all: frozenset[str]
    head: frozenset[str]


def prefix_length(items: Sequence[Item]) -> int:
    """Return the number of leading instructions."""
    roles = ("system", "developer")
    return next((i for i, item in enumerate(items) if item["role"] not in roles), len(items))


def needed(items: Sequence[Item], at: int) -> frozenset[str]:
    """Return the values that the assistant needed from `items[at]` on."""
    start = prefix_length(items)
    seen = values_of(items[start:at]) - values_of(items[:start])
    wanted: set[str] = set()
    told: set[str] = set()
    for item in items[at:]:
        here = values_of([item])
        if item["role"] == "assistant":
            wanted |= (here & seen) - told
        told |= here
    return frozenset(wanted)


def points(items: Sequence[Item], shares: Sequence[float], sizes: Sequence[int]) -> list[int]:
    """Return where to fold: before an assistant's message, at about those shares of the tokens.

    Args:
        items: The messages.
        shares: Parts of the whole, from 0 to 1.
        sizes: Tokens of every message.
    """
    total, found = sum(sizes), []
    for share in shares:
        seen = 0
        for index, size in enumerate(sizes):
            if seen >= share * total and items[index]["role"] == "assistant":
                found.append(index)
                break
            seen += size
    return sorted(set(found))
