r"""What `redact=` is shown of a text: the text as it is, and what the escapes of JSON in it hide.

Dumped arguments and results hold `J\u00fcrgen`, `a\/b`, `O\"Neil`, and texts that were dumped once
more inside of others. A model reads them as easily as what they stand for; a function that looks
for a name does not find it. Not here: which texts are shown to it (`render`, `reader`, `write`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["Redact", "Redaction", "redacted"]

Redact = Callable[[str], str]
"""Takes a text and returns it without what may not leave the process."""

_DEEPEST: Final = 8  # strings inside of each other; at the last a quote has hundreds of backslashes
# A string as JSON writes it. Its end may be missing, as texts are cut off; and it ends with its
# line, or a lone `"` in prose would turn all that follows inside out.
_STRING: Final = re.compile(r'"([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)("?)')
_ESCAPE: Final = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))",
    re.DOTALL,
)
_SIGNS: Final = {
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    '"': '"',
    "\\": "\\",
    "/": "/",
}


def redacted(text: str, redact: Redact | None) -> str:
    """Return `text` as `redact` returns it.

    Raises:
        TypeError: It returns no text.
    """
    if redact is None:
        return text
    cleaned = redact(text)
    if not isinstance(cleaned, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"redact= has to return text, not {type(cleaned).__name__}")
    return cleaned


@dataclass(frozen=True, slots=True)
class Redaction:
    """A function of the caller's that sees through the escapes of JSON.

    A string in which it finds something is written with escapes again; all else stays as it is. A
    text with escapes is shown to it more than once.

    Args:
        redact: Takes a text and returns it without what may not leave the process.
    """

    redact: Redact

    def __call__(self, text: str) -> str:
        """Return a text without what may not leave the process.

        Raises:
            TypeError: `redact` returns no text.
        """
        return self._cleaned(text, 0)

    def _cleaned(self, text: str, depth: int) -> str:
        text = redacted(text, self.redact)
        if "\\" not in text:  # as most
            return text
        if "\\u" in text or "\\/" in text:  # as a whole, for patterns around a string: `"straße":`
            legible = _ESCAPE.sub(_legible, text)
            cleaned = redacted(legible, self.redact)
            text = text if cleaned == legible else cleaned
        if depth == _DEEPEST:
            return text
        return _STRING.sub(lambda found: self._string(found, depth + 1), text)

    def _string(self, found: re.Match[str], depth: int) -> str:
        """Return a string as JSON writes it, without what may not leave the process."""
        written, end = found.groups()
        if "\\" not in written:
            return found[0]
        said = _ESCAPE.sub(_meant, written)
        cleaned = self._cleaned(said, depth)
        if cleaned == said:
            return found[0]
        return json.dumps(cleaned, ensure_ascii=written.isascii())[:-1] + end


def _meant(found: re.Match[str]) -> str:
    """Return what an escape stands for; what is none, or half a pair, as it is.

    Half a pair is a text that many functions cannot take.
    """
    high, low, code, sign = found.groups()
    if high:
        return bytes.fromhex(high + low).decode("utf-16-be")
    meant = chr(int(code, 16)) if code else _SIGNS.get(sign, found[0])
    return found[0] if "\ud800" <= meant <= "\udfff" else meant


def _legible(found: re.Match[str]) -> str:
    """Return what an escape stands for where JSON may hold that without one."""
    meant = _meant(found)
    return found[0] if meant in '"\\' or meant < " " else meant
