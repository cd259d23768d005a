"""What is in the arguments and results of calls: leaves, the words for where they stand, texts.

Not here: which of them name a call (`call_words`), or what came of it (`outcomes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, TypeAlias, cast

from chatfold.core.json_text import QUOTE, bare, decoded, decoding

__all__ = [
    "CUT",
    "LONGEST",
    "Path",
    "json_or_text",
    "key_of",
    "label_of",
    "leaves_of",
    "shortened",
    "text_of",
]

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead to a leaf."""

LONGEST = 120
"""Characters of a value that goes into a record as it is; what is longer is cut or left out."""

CUT = "…"
"""Stands at the end of what was cut, and for arguments of a call that are left out."""

_MOST_LEAVES = 400
_OPENING = ("{", "[", QUOTE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class _Written(float):
    """A number with a fraction, written as it was read."""

    def __new__(cls, text: str) -> _Written:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __str__(self) -> str:
        return self.text


def json_or_text(text: str) -> Any:
    """Return a JSON object, array or string; everything else as the text that it is.

    Of an object or array in a JSON string, that itself.
    """
    opening = text.lstrip()[:1]
    if opening not in _OPENING:
        return text
    if opening == QUOTE and (inner := bare(text)) is not text:
        with suppress(ValueError):
            return decoded(inner, _decode)
    try:
        return decoded(text, _decode)
    except ValueError:
        return text


_decode = decoding(parse_float=_Written)


def leaves_of(root: Any) -> Iterator[tuple[Path, Any]]:
    """Yield path and value of the first leaves of a JSON value, in order."""
    if isinstance(root, dict):  # most arguments, and many results, have one level
        fields = cast(dict[str, Any], root)
        if not any(isinstance(inner, (dict, list)) for inner in fields.values()):
            yield from (((key,), inner) for key, inner in islice(fields.items(), _MOST_LEAVES))
            return
    stack: list[tuple[Path, Any]] = [((), root)]
    left = _MOST_LEAVES
    while stack and left:
        path, value = stack.pop()
        if isinstance(value, dict):
            fields = cast(dict[str, Any], value)
            stack += [((*path, key), inner) for key, inner in reversed(fields.items())]
        elif isinstance(value, list):
            inside = cast(list[Any], value)[:_MOST_LEAVES]
            stack += [((*path, n), inside[n]) for n in reversed(range(len(inside)))]
        else:
            left -= 1
            yield path, value


def label_of(path: Path) -> str:
    """Return a path as one word: its keys and indices, joined by dots."""
    return ".".join(map(str, path))


def key_of(path: Path) -> str:
    """Return the last key of a path in lower case, its words joined by underscores."""
    key = path[-1] if path else ""
    if not isinstance(key, str):
        key = next((step for step in reversed(path) if isinstance(step, str)), "")
    return key if key.islower() else _CAMEL.sub("_", key).lower()


def text_of(leaf: Any, clean: Callable[[str], str]) -> str | None:
    """Return a value as text; truth values, nulls and blank texts say nothing by themselves."""
    if isinstance(leaf, str):
        text = " ".join(leaf.split()) if len(leaf) <= 4 * LONGEST else leaf
        return clean(text) if text else None
    if isinstance(leaf, bool) or not isinstance(leaf, (int, float)):
        return None
    return clean(str(leaf))


def shortened(text: str, most: int = LONGEST) -> str:
    """Return `text` on one line, cut at a space where it has more than `most` characters."""
    if len(text) > 8 * most:
        text = text[: 8 * most]
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    cut = text.rfind(" ", most // 2, most)
    return text[: cut if cut > 0 else most - 1].rstrip() + CUT
