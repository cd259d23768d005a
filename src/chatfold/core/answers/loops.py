"""Answers of models that went round in a loop: the same lines over and over.

Only what follows itself directly is a loop, and only where there is much of it: a list may hold
equal entries, two headings the same line, a song its chorus. Rules, lines of tables and empty
lines make no loop, nor does code between fences; numbered lines differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

__all__ = ["without_loops"]

_TIMES: Final = 3
_LEAST: Final = 2_000  # characters of a loop, all rounds together
_LONGEST: Final = 400  # lines of one round
_FENCES: Final = ("```", "~~~")


def without_loops(text: str) -> str:
    """Return a text in which a line, or a block of lines, that is said over and over is said once.

    A last round that the end of the text has broken off goes with the others.
    """
    if len(text) < _LEAST or "\n" not in text:
        return text
    pieces = _pieces(text.split("\n"))
    said = [piece.rstrip() for piece in pieces]
    words = [0, *accumulate(map(_is_words, said))]  # how many there are before each place
    left: list[str] = []
    latest: dict[str, int] = {}
    at = 0
    while at < len(said):
        first = latest.get(said[at], at)
        behind = _end(said, first, at) if words[at] > words[first] else at
        if behind > at and _is_much(said[first:behind]):
            is_rest = _is_broken_off(said[behind:], said[first:at])
            start, stop, at = behind + first - at, behind, len(said) if is_rest else behind
        else:  # a short loop stays, and no other begins in it
            start, stop, at = at, max(behind, at + 1), max(behind, at + 1)
            left += pieces[start:stop]
        latest.update((said[place], place) for place in range(start, stop))
    return "\n".join(left) if len(left) < len(pieces) else text


def _pieces(lines: Sequence[str]) -> list[str]:
    """Return the lines of a text, those of code between two fences as one."""
    pieces: list[str] = []
    opened = -1  # place of the fence that is open
    for line in lines:
        pieces.append(line)
        if opened < 0:
            opened = len(pieces) - 1 if line.lstrip().startswith(_FENCES) else -1
        elif line.strip() == pieces[opened].lstrip()[:3]:
            pieces[opened:] = ["\n".join(pieces[opened:])]
            opened = -1
    return pieces


def _is_words(piece: str) -> bool:
    """Return whether a piece says something: no rule, no line of a table, no empty one."""
    return not piece.lstrip().startswith("|") and any(map(str.isalpha, piece))


def _end(said: Sequence[str], first: int, at: int) -> int:
    """Return where the rounds end of which the first is from `first` to `at`; `at` where none is.

    Args:
        said: The pieces of a text.
        first: Place of the first piece of a round.
        at: Place of the same piece, the next time that it stands there.
    """
    size = at - first
    if size > _LONGEST or said[at : at + 1] != said[at + size : at + size + 1]:
        return at
    one, behind = said[first:at], at
    while said[behind : behind + size] == one:
        behind += size
    return behind if behind - first >= _TIMES * size else at


def _is_much(said: Sequence[str]) -> bool:
    return sum(map(len, said)) + len(said) > _LEAST


def _is_broken_off(rest: Sequence[str], one: Sequence[str]) -> bool:
    """Return whether the rest of a text is the beginning of a round, and nothing else."""
    if not 0 < len(rest) <= len(one):
        return False
    last = len(rest) - 1
    return rest[:last] == one[:last] and one[last].startswith(rest[last])
