"""Which values of a record fit into its room, and in how many words each.

Not here: what could be said of a fact, and what it is worth (`ledger`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from chatfold.core.carry import SAID_BY_USER
from chatfold.core.entries import Entry, Field, line, written
from chatfold.core.sizes import TextSizes

__all__ = ["Form", "Group", "Line", "Move", "chosen", "priced", "ranked"]

_TRIES = 40  # values that do not fit before the rest is given up
_WHAT_OF = 0.05  # worth of saying what a value is said of, as a share of the value's own

Group: TypeAlias = tuple[str, tuple[Field, ...] | None]
"""The name of an entry, and the arguments that tell its call from others."""


class Form(NamedTuple):
    """One way to write a value: as a field of an entry."""

    group: Group
    field: Field


@dataclass(slots=True)
class Line:
    """A value that may go into a record.

    Attributes:
        bare: It with others of its key or kind.
        full: It with the call or the words that say what it is of; None where `bare` says as much.
        order: Its place in time.
        worth: How much is lost without it.
        costs: What the two forms take of the room.
    """

    bare: Form
    full: Form | None
    order: tuple[int, int, int]
    worth: float
    costs: tuple[int, int] = (0, 0)


Move: TypeAlias = tuple[float, tuple[int, int, int], bool, Line]
"""What a step gains, less than 0; when; whether it is to the full form; of which value."""


def priced(lines: Sequence[Line], count: TextSizes) -> dict[Group, int]:
    """Return what the line of each group takes of the room without its values.

    The lines get the costs of their forms.
    """
    shown = [_shown(found.bare.field) for found in lines]
    fuller = ["" if found.full is None else _shown(found.full.field) for found in lines]
    for found, bare, full in zip(lines, count.many(shown), count.many(fuller), strict=True):
        found.costs = max(1, bare), full if found.full else 0
    groups = {form.group for found in lines for form in (found.bare, found.full) if form}
    headed = {group: f"- {line(Entry(*group))}: \n" for group in groups}
    return dict(zip(headed, (max(1, size) for size in count.many(headed.values())), strict=True))


def ranked(lines: Sequence[Line], headers: Mapping[Group, int]) -> list[Move]:
    """Return the steps by which values go into a record, those first that gain most for their room.

    To say more of a value that is in is weighed against one more value.

    Args:
        lines: The values, with their costs.
        headers: What the line of each group takes without its values.
    """
    members = Counter(form.group for found in lines for form in (found.bare, found.full) if form)
    share = {group: headers[group] / number for group, number in members.items()}
    moves: list[Move] = []
    for found in lines:
        gain = found.worth / (found.costs[0] + share[found.bare.group])
        moves.append((-gain, found.order, False, found))
        if found.full is not None:
            more = found.costs[1] - found.costs[0] + share[found.full.group]
            gain = min(gain, _WHAT_OF * found.worth / max(more, 1))
            moves.append((-gain, found.order, True, found))
    moves.sort(key=itemgetter(0, 1, 2))
    return moves


def chosen(moves: Sequence[Move], room: int, headers: Mapping[Group, int]) -> list[Entry]:
    """Return entries for the values that fit, each in the form that it is worth.

    First comes what the user said, then what is worth most for its room.

    Args:
        moves: The steps, ranked.
        room: Tokens.
        headers: What the line of each group takes without its values.
    """
    of_user = [move for move in moves if move[3].bare.group[0] == SAID_BY_USER]
    choice = _Choice(headers)
    choice.take(of_user, room // 2)
    choice.take(moves, room)
    return _entries(choice.taken.values())


class _Choice:
    """Takes values while there is room.

    Args:
        headers: What the line of each group takes without its values.
    """

    def __init__(self, headers: Mapping[Group, int]) -> None:
        self.headers = headers
        self.opened: set[Group] = set()
        self.taken: dict[int, tuple[Line, Form]] = {}
        self.used = 0

    def take(self, moves: Iterable[Move], room: int) -> None:
        """Take what fits into `room`, the first ones first."""
        tries = _TRIES
        for _, _, fuller, found in moves:
            known = self.taken.get(id(found))
            form = found.full if fuller else found.bare
            if form is None or (known is None) == fuller or (known and known[1] is form):
                continue
            cost = found.costs[1] - found.costs[0] if fuller else found.costs[0]
            cost += 0 if form.group in self.opened else self.headers[form.group]
            if self.used + cost <= room:
                self.used += cost
                self.opened.add(form.group)
                self.taken[id(found)] = (found, form)
            elif (tries := tries - 1) <= 0:
                break


def _entries(taken: Iterable[tuple[Line, Form]]) -> list[Entry]:
    """Return one entry for each call, key and author, those that were named last at the end."""
    groups: dict[Group, list[tuple[Line, Form]]] = {}
    for found in sorted(taken, key=lambda found: found[0].order[1:]):
        groups.setdefault(found[1].group, []).append(found)
    newest = sorted(groups.items(), key=lambda group: max(line.order for line, _ in group[1]))
    return [
        Entry(name, arguments, tuple(dict.fromkeys(form.field for _, form in inside)))
        for (name, arguments), inside in newest
    ]


def _shown(field: Field) -> str:
    return f', "": {written(field)}'
