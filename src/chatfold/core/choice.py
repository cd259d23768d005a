"""Which values of a record fit into its room, and in how many words each.

Not here: what a fact is worth (`needs`), the words for it (`phrases`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias

from chatfold.core.carry import SAID_BY_USER
from chatfold.core.entries import Entry, Field
from chatfold.core.phrases import Group, Phrase

__all__ = ["Choice", "Line", "Move", "ranked"]

_COST = itemgetter(3)  # of a move
_TRIES = 40  # values that do not fit before the rest is given up
_WHAT_OF = 0.05  # worth of saying what a value is said of, as a share of the value's own


@dataclass(slots=True, eq=False)
class Line:
    """A value that may go into a record.

    Attributes:
        phrase: The words for it, with what they take of the room.
        order: Its place in time.
        worth: How much is lost without it.
    """

    phrase: Phrase
    order: tuple[int, int, int]
    worth: float


Move: TypeAlias = tuple[float, tuple[int, int, int], bool, int, Group, Line]
"""What a step gains, less than 0; when; whether it is to the full form; what it takes; into which
entry; of which value."""


def ranked(lines: Sequence[Line]) -> list[Move]:
    """Return the steps by which values go into a record, those first that gain most for their room.

    To say more of a value that is in is weighed against one more value.
    """
    share = _shares([found.phrase for found in lines])
    moves: list[Move] = []
    for found in lines:
        phrase, order, worth = found.phrase, found.order, found.worth
        (bare, full), (cost, more) = phrase.groups, phrase.costs
        gain = -worth / (cost + share[bare])
        moves.append((gain, order, False, cost, bare, found))
        if phrase.full is not None:
            extra = more - cost + share[full]
            step = -_WHAT_OF * worth / (extra if extra > 1 else 1)
            moves.append((gain if gain > step else step, order, True, more - cost, full, found))
    moves.sort()  # no two are of the same time, so that no lines are compared
    return moves


def _shares(phrases: Sequence[Phrase]) -> dict[Group, float]:
    """Return what each value that may go into an entry pays of the entry's line."""
    members = Counter([phrase.groups[0] for phrase in phrases])
    members.update([phrase.groups[1] for phrase in phrases if phrase.full is not None])
    return {group: group.cost / number for group, number in members.items()}


class Choice:
    """Chooses the values that fit, each in the form that it is worth.

    First comes what the user said, then what is worth most for its room.

    Args:
        lines: The values.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self._moves = ranked(lines)
        of_user = {line for line in lines if line.phrase.groups[0].name == SAID_BY_USER}
        self._least = min(map(_COST, self._moves), default=0)
        self._of_user = [move for move in self._moves if move[5] in of_user] if of_user else []

    def entries(self, room: int) -> list[Entry]:
        """Return entries for what fits, in the order of time.

        Args:
            room: Shares of a token (see `FINE`).
        """
        taken: dict[Line, bool] = {}
        opened: set[Group] = set()
        used, least = 0, self._least
        if self._of_user:
            used = _take(self._of_user, room // 2, used, least, taken, opened)
        _take(self._moves, room, used, least, taken, opened)
        return _entries(taken)


def _take(
    moves: Iterable[Move],
    room: int,
    used: int,
    least: int,
    taken: dict[Line, bool],
    opened: set[Group],
) -> int:
    """Take values while there is room, the first ones first; return what is used of it then.

    Args:
        moves: The steps, ranked.
        room: Shares of a token.
        used: How many of them are used already.
        least: How many of them a step takes at least.
        taken: What was taken before, and whether in its full form; more is added to it.
        opened: The entries that it went into, likewise.
    """
    tries = _TRIES
    for _, _, fuller, cost, group, found in moves:
        if taken.get(found) is not (False if fuller else None):
            continue
        if group not in opened:
            cost += group.cost
        if used + cost <= room:
            used += cost
            opened.add(group)
            taken[found] = fuller
        elif used + least > room or (tries := tries - 1) <= 0:
            break
    return used


def _entries(taken: Mapping[Line, bool]) -> list[Entry]:
    """Return one entry for each call, key and author, those that were named last at the end.

    Args:
        taken: The values, and whether in their full form.
    """
    inside: dict[Group, dict[Field, None]] = {}
    newest: dict[Group, tuple[int, int, int]] = {}
    for found in sorted(taken, key=_when):
        phrase, order, fuller = found.phrase, found.order, taken[found]
        group = phrase.groups[fuller]
        known = inside.get(group)
        if known is None:
            known = inside[group] = {}
            newest[group] = order
        elif order > newest[group]:
            newest[group] = order
        known[phrase.full if fuller and phrase.full is not None else phrase.bare] = None
    return [
        Entry(group.name, group.arguments, tuple(inside[group]))
        for group in sorted(inside, key=newest.__getitem__)
    ]


def _when(found: Line) -> tuple[int, int]:
    """Return where a value stands, in time: not when it was named last."""
    _, index, place = found.order
    return index, place
