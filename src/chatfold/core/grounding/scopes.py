"""Brackets in a text: which words stand in the same object, row or list of values.

Summaries that copy JSON or calls write `items: [{id: A; price: 5}; {id: B}]`: what stands in one
pair of brackets says nothing of what stands in another. Not here: sentences and headings
(`sentences`), what the words are (`values`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

__all__ = ["Scopes"]

_MARK = re.compile(r"[{}\[\]\n]")
_OPENS_A_LIST = re.compile(r"[:=,;(\[{][ \t]?\Z")
_DEEPEST = 16  # brackets: a deeper one is read as part of the one around it


class Scopes:
    """The brackets of a text, line by line; 0 stands for what is in none.

    Braces always count, square brackets only behind a colon, a comma and the like: elsewhere they
    are links, tags and check boxes. Round ones never do: they hold a remark on what stands before.
    """

    def __init__(self, text: str) -> None:
        self._parents = [-1]
        self._starts = [0]
        self._scopes = [0]
        stack: list[tuple[str, int]] = []
        for mark in _MARK.finditer(text):
            at, sign = mark.start(), mark[0]
            if sign == "\n":
                if stack:
                    stack = []
                    self._turn(at, 0)
            elif sign in "{[":
                if len(stack) < _DEEPEST and (
                    sign == "{" or _OPENS_A_LIST.search(text, max(at - 2, 0), at)
                ):
                    self._parents.append(stack[-1][1] if stack else 0)
                    stack.append((sign, len(self._parents) - 1))
                    self._turn(at, stack[-1][1])
            elif stack and stack[-1][0] == ("{" if sign == "}" else "["):
                stack.pop()
                self._turn(at, stack[-1][1] if stack else 0)

    def _turn(self, at: int, scope: int) -> None:
        self._starts.append(at)
        self._scopes.append(scope)

    def at(self, place: int) -> int:
        """Return the scope of a place: the number of the innermost brackets around it."""
        return self._scopes[bisect_right(self._starts, place) - 1]

    def around(self, scope: int) -> Iterator[int]:
        """Yield a scope and those around it, the innermost first."""
        while scope >= 0:
            yield scope
            scope = self._parents[scope]
