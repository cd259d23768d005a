"""A value out of running text, with the words around it that say what it is.

Not here: which values are worth that (`ledger`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatfold.core.values import Kind, Value

__all__ = ["snippet"]

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


def snippet(text: str, value: Value, found: Sequence[Value]) -> str:
    """Return a value as it stands in a text, with a few words of its sentence where it needs them.

    Args:
        text: The text.
        value: The value.
        found: All values of the text; none of them is cut.
    """
    before, behind = _AROUND.get(value.kind, (0, 0))
    start, stop = value.start, value.stop
    if before:
        near = max(start - _NEAR, max((v.stop for v in found if v.stop <= start), default=0))
        space = text[near:start]
        bounds = [mark.end() for mark in _BOUND.finditer(space)]
        words = list(_WORD.finditer(space, bounds[-1] if bounds else 0))
        if near and words and words[0].start() == 0:
            words = words[1:]  # it may be half a word
        if words:
            start = near + words[-before:][0].start()
    if behind:
        near = min(
            stop + _NEAR, min((v.start for v in found if v.start >= stop), default=len(text))
        )
        space = text[stop:near]
        bound = _BOUND.search(space)
        words = list(_WORD.finditer(space, 0, bound.start() if bound else len(space)))
        if near < len(text) and words and words[-1].end() == len(space):
            words = words[:-1]
        if words:
            stop += words[:behind][-1].end()
    return " ".join(text[start:stop].split())
