"""Which values of a record fit into its room, and in how many words each.

Not here: what a fact is worth (`needs`), the words for it (`phrases`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

from chatfold.core.entries import Entry, Field
from chatfold.core.phrases import Group, Phrase
from chatfold.core.recording.carry import SAID_BY_USER, says_mere_numbers

__all__ = ["Choice", "Line", "Move"]

_COST = itemgetter(3)  # of a move
_WHERE = itemgetter(1, 2)  # of a value's time: where it stands, not when it was named last
_TRIES = 40  # values that do not fit before the rest is given up
_WHAT_OF = 0.05  # worth of saying what a value is said of, as a share of the value's own


Order: TypeAlias = tuple[int, int, int]
"""When a value is of: the item that names it last, the one that its words are of, its place among
all values. No two are of the same time."""


Line: TypeAlias = tuple[Phrase, Order, float]
"""A value that may go into a record: the words for it, when it is of, how much is lost without it.

A plain tuple, as are moves: each record makes hundreds."""


Move: TypeAlias = tuple[float, Order, bool, int, Group, Phrase]
"""What a step gains, less than 0; when; whether it is to the full form; what it takes; into which
entry; of which value."""


def _ranked(lines: Sequence[Line], share: Mapping[Group, float]) -> list[Move]:
    """Return the steps by which values go into a record, those first that gain most for their room.

    To say more of a value that is in is weighed against one more value.

    Args:
        lines: The values.
        share: What each value that may go into an entry pays of the entry's line.
    """
    moves: list[Move] = []
    for phrase, order, worth in lines:
        (bare, full), (cost, more) = phrase.groups, phrase.costs
        gain = -worth / (cost + share[bare])
        moves.append((gain, order, False, cost, bare, phrase))
        if phrase.full is not None:
            extra = more - cost + share[full]
            step = -_WHAT_OF * worth / (extra if extra > 1 else 1)
            moves.append((gain if gain > step else step, order, True, more - cost, full, phrase))
    moves.sort()
    return moves


def _shares(lines: Sequence[Line]) -> dict[Group, float]:
    """Return what each value that may go into an entry pays of the entry's line."""
    bare = [line[0].groups[0] for line in lines]
    full = [line[0].groups[1] for line in lines if line[0].full is not None]
    members = Counter(bare + full)
    return {group: group.cost / number for group, number in members.items()}


class Choice:
    """Chooses the values that fit, each in the form that it is worth.

    First comes what the user said, and of that what is more than a small number: many questions
    with one each would else leave no room for an account's. Then what is worth most for its room.

    Args:
        lines: The values.

    Attributes:
        moves: The steps by which they may go in, those first that gain most for their room.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        share = _shares(lines)
        self.moves = _ranked(lines, share)
        self._least = min(map(_COST, self.moves), default=0)
        self._of_user: list[Move] = []
        if any(group.name == SAID_BY_USER for group in share):
            of_user = [move for move in self.moves if _is_of_user(move[5])]
            self._of_user = sorted(of_user, key=_says_mere_numbers)

    def entries(self, room: int) -> list[Entry]:
        """Return entries for what fits, in the order of time.

        Args:
            room: Shares of a token (see `FINE`).
        """
        taken: dict[Order, tuple[Phrase, bool]] = {}
        opened: set[Group] = set()
        used, least = 0, self._least
        if self._of_user:
            used = _take(self._of_user, room // 2, used, least, taken, opened)
        _take(self.moves, room, used, least, taken, opened)
        return _entries(taken)


def _take(
    moves: Iterable[Move],
    room: int,
    used: int,
    least: int,
    taken: dict[Order, tuple[Phrase, bool]],
    opened: set[Group],
) -> int:
    """Take values while there is room, the first ones first; return what is used of it then.

    Args:
        moves: The steps, ranked.
        room: Shares of a token.
        used: How many of them are used already.
        least: How many of them a step takes at least.
        taken: What was taken before, by its time, and whether in its full form; more is added.
        opened: The entries that it went into, likewise.
    """
    tries = _TRIES
    for _, order, fuller, cost, group, phrase in moves:
        known = taken.get(order)
        if (known is None or known[1]) if fuller else (known is not None):
            continue
        if group not in opened:
            cost += group.cost
        if used + cost <= room:
            used += cost
            opened.add(group)
            taken[order] = phrase, fuller
        elif used + least > room or (tries := tries - 1) <= 0:
            break
    return used


def _entries(taken: Mapping[Order, tuple[Phrase, bool]]) -> list[Entry]:
    """Return one entry for each call, key and author, those that were named last at the end.

    Args:
        taken: The values, by their time, and whether in their full form.
    """
    inside: dict[Group, dict[Field, None]] = {}
    newest: dict[Group, Order] = {}
    for order in sorted(taken, key=_WHERE):
        phrase, fuller = taken[order]
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


def _is_of_user(phrase: Phrase) -> bool:
    return phrase.groups[0].name == SAID_BY_USER


def _says_mere_numbers(move: Move) -> bool:
    phrase = move[5]
    return says_mere_numbers((phrase.full or phrase.bare).text)
