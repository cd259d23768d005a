"""Which values of a record fit into its room, and in how many words each.

Not here: what could be said of a fact, and what it is worth (`ledger`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from chatfold.core.carry import SAID_BY_USER
from chatfold.core.entries import Entry, Field, line, written
from chatfold.core.sizes import TextSizes

__all__ = ["Group", "Line", "Move", "chosen", "priced", "ranked"]

_TRIES = 40  # values that do not fit before the rest is given up
_WHAT_OF = 0.05  # worth of saying what a value is said of, as a share of the value's own

Group: TypeAlias = tuple[str, tuple[Field, ...] | None]
"""The name of an entry, and the arguments that tell its call from others."""


@dataclass(slots=True)
class Line:
    """A value that may go into a record, in one or two forms.

    Attributes:
        bare: It as it stands with others of its key or kind.
        full: It as it stands in an entry that says by its call or its words what it is of; None
            where the other form says as much.
        groups: The numbers of the two entries.
        order: Its place in time.
        worth: How much is lost without it.
        costs: What the two forms take of the room.
    """

    bare: Field
    full: Field | None
    groups: tuple[int, int]
    order: tuple[int, int, int]
    worth: float
    costs: tuple[int, int] = (0, 0)


Move: TypeAlias = tuple[float, tuple[int, int, int], bool, Line]
"""What a step gains, less than 0; when; whether it is to the full form; of which value."""


def priced(lines: Sequence[Line], groups: Sequence[Group], count: TextSizes) -> dict[int, int]:
    """Return what the line of each group takes of the room without its values, by its number.

    The lines get the costs of their forms.

    Args:
        lines: The values.
        groups: What the numbers of groups stand for.
        count: Returns the sizes of texts in tokens.
    """
    shown: list[str] = []
    used: dict[int, None] = {}
    for found in lines:
        bare, full = found.groups
        used[bare] = None
        used[full] = None
        shown.append(f', "": {written(found.bare)}')
        shown.append("" if found.full is None else f', "": {written(found.full)}')
    sizes = count.many([*shown, *(f"- {line(Entry(*groups[number]))}: \n" for number in used)])
    for found, bare, full in zip(lines, sizes[::2], sizes[1::2], strict=False):
        found.costs = bare or 1, full
    return {number: size or 1 for number, size in zip(used, sizes[len(shown) :], strict=True)}


def ranked(lines: Sequence[Line], headers: Mapping[int, int]) -> list[Move]:
    """Return the steps by which values go into a record, those first that gain most for their room.

    To say more of a value that is in is weighed against one more value.

    Args:
        lines: The values, with their costs.
        headers: What the line of each group takes without its values.
    """
    members = dict.fromkeys(headers, 0)
    for found in lines:
        bare, full = found.groups
        members[bare] += 1
        if found.full is not None:
            members[full] += 1
    share = {group: header / (members[group] or 1) for group, header in headers.items()}
    moves: list[Move] = []
    for found in lines:
        (bare, full), (cost, more) = found.groups, found.costs
        gain = found.worth / (cost + share[bare])
        moves.append((-gain, found.order, False, found))
        if found.full is not None:
            extra = more - cost + share[full]
            more_gain = _WHAT_OF * found.worth / (extra if extra > 1 else 1)
            moves.append((-min(gain, more_gain), found.order, True, found))
    moves.sort()  # no two are of the same time, so that no lines are compared
    return moves


def chosen(
    moves: Sequence[Move], room: int, headers: Mapping[int, int], groups: Sequence[Group]
) -> list[Entry]:
    """Return entries for the values that fit, each in the form that it is worth.

    First comes what the user said, then what is worth most for its room.

    Args:
        moves: The steps, ranked.
        room: Tokens.
        headers: What the line of each group takes without its values.
        groups: What the numbers of groups stand for.
    """
    of_user = [move for move in moves if groups[move[3].groups[0]][0] == SAID_BY_USER]
    choice = _Choice(headers)
    choice.take(of_user, room // 2)
    choice.take(moves, room)
    return _entries(choice.taken.values(), groups)


class _Choice:
    """Takes values while there is room.

    Args:
        headers: What the line of each group takes without its values.
    """

    def __init__(self, headers: Mapping[int, int]) -> None:
        self.headers = headers
        self.opened: set[int] = set()
        self.taken: dict[int, tuple[Line, bool]] = {}
        self.used = 0

    def take(self, moves: Iterable[Move], room: int) -> None:
        """Take what fits into `room`, the first ones first."""
        tries, used = _TRIES, self.used
        opened, taken, headers = self.opened, self.taken, self.headers
        for _, _, fuller, found in moves:
            known = taken.get(id(found))
            if fuller:
                if known is None or known[1]:
                    continue
                cost, group = found.costs[1] - found.costs[0], found.groups[1]
            else:
                if known is not None:
                    continue
                cost, group = found.costs[0], found.groups[0]
            if group not in opened:
                cost += headers[group]
            if used + cost <= room:
                used += cost
                opened.add(group)
                taken[id(found)] = (found, fuller)
            elif (tries := tries - 1) <= 0:
                break
        self.used = used


def _entries(taken: Iterable[tuple[Line, bool]], groups: Sequence[Group]) -> list[Entry]:
    """Return one entry for each call, key and author, those that were named last at the end."""
    inside: dict[int, dict[Field, None]] = {}
    newest: dict[int, tuple[int, int, int]] = {}
    for found, fuller in sorted(taken, key=lambda taken: taken[0].order[1:]):
        number = found.groups[fuller]
        known = inside.get(number)
        if known is None:
            known = inside[number] = {}
            newest[number] = found.order
        elif found.order > newest[number]:
            newest[number] = found.order
        known[found.full if fuller and found.full is not None else found.bare] = None
    return [
        Entry(*groups[number], tuple(inside[number]))
        for number in sorted(inside, key=newest.__getitem__)
    ]
