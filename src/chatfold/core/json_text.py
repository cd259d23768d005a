"""JSON texts, and what Python writes of such values, decoded to the same depth everywhere.

`json` gives up near 1,000 levels on 3.11, and beyond 60,000 on 3.14. What goes through a document
takes the whole path to each value along, so that a text made for it would take minutes there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, cast

from chatfold.core.python_text import json_of

__all__ = ["DEEPEST", "QUOTE", "bare", "decoded", "decoding", "document"]

DEEPEST: Final = 1_000
"""Objects and arrays in each other, at most."""

QUOTE: Final = '"'
"""How a text begins that `bare` may find JSON in."""

_LAYERS = 3  # of what is put around one text, at most


def decoded(text: str, decode: Callable[[str], Any] = json.loads) -> Any:
    """Return what a JSON text says, or a dict or list that Python has written.

    Args:
        text: The text.
        decode: Decodes JSON.

    Raises:
        ValueError: It is neither, or nested deeper than `DEEPEST`.
    """
    try:
        try:
            found = decode(text)
        except ValueError:
            written = json_of(text)
            if written is None:
                raise
            text, found = written, decode(written)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if len(text) > DEEPEST and text.count("[") + text.count("{") > DEEPEST and _is_deep(found):
        raise ValueError("nested too deep")
    return found


def bare(text: str) -> str:
    """Return the object or array that is all that a text holds as a JSON string.

    A host that writes each result as JSON does so to one that was JSON already. Any other text is
    returned as it is; so is one in a fence, which may be what a tool was to write.
    """
    inner = text
    for _ in range(_LAYERS):
        inner = inner.strip()
        if not inner[:1] == QUOTE == inner[-1:]:
            break
        try:
            inner = cast("str", json.loads(inner, strict=False))
        except ValueError:
            return text
    return inner if inner.lstrip()[:1] in ("{", "[") else text


def decoding(**options: Any) -> Callable[[str], Any]:
    """Return what decodes as `json.JSONDecoder(**options).decode` does, in half the time.

    That looks for white space around each text, of which most have none.
    """
    decoder = json.JSONDecoder(**options)

    def decode(text: str) -> Any:
        if text[:1] in _SPACES:
            return decoder.decode(text)
        found, end = decoder.raw_decode(text)
        if end < len(text) and text[end:].strip(_SPACES):
            raise json.JSONDecodeError("Extra data", text, end)
        return found

    return decode


_SPACES: Final = " \t\n\r"
_as_written: Final = decoding(parse_int=str, parse_float=str, parse_constant=str)


def document(text: str, decode: Callable[[str], Any] = _as_written) -> Any:
    """Return a JSON object or array, also in a JSON string, None for all else.

    Args:
        text: The text.
        decode: Decodes JSON; by default with its numbers as they are written.
    """
    opening = text[:1]
    if opening not in ("{", "["):
        opening = text.lstrip()[:1]
        if opening == QUOTE:
            text = bare(text)
            opening = text.lstrip()[:1]
        if opening not in ("{", "["):
            return None
    try:
        found = decoded(text, decode)
    except ValueError:
        return None
    return cast("Any", found) if isinstance(found, (dict, list)) else None


def _is_deep(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (
                cast("dict[str, Any]", each).values()
                if isinstance(each, dict)
                else cast("list[Any]", each)
            )
        ]
        if not level:
            return False
    return True
