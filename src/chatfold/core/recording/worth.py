"""What a fact is worth to a later model, by what has become of it in what goes.

Not here: which facts are needed (`needs`), how often values are come back to (`reuse`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, sqrt
from operator import add
from types import EllipsisType
from typing import TYPE_CHECKING, Final, TypeAlias

from chatfold.core.by_hash import by_hash
from chatfold.core.reuse import LEVELS, Origin, Rates
from chatfold.core.sightings import Sighting
from chatfold.core.uses import Track, last_key
from chatfold.core.values import Kind, Value

if TYPE_CHECKING:
    from chatfold.core.recording.needs import Head

__all__ = ["USED_LATER", "Weigher", "Weight", "worth_as"]

# How much of a kind is lost when it is not copied: a number is often one of many like it.
_KINDS: dict[Kind, float] = {
    "id": 1.4,
    "hash": 0.9,
    "mail": 1.0,
    "phone": 1.0,
    "url": 0.9,
    "path": 1.0,
    "date": 0.8,
    "amount": 0.8,
    "version": 0.7,
    "command": 0.2,
    "error": 0.6,
    "time": 0.5,
    "number": 0.25,
    "name": 0.2,
}
_BY_SIDES = (0.0, 1.0, 1.6, 2.6, 3.2, 3.6)  # worth by the number of sides that name a fact
_ALONE = {
    "user": 1.6,
    "argument": 1.7,
    "outcome": 1.7,
    "summary": 1.4,
    "assistant": 0.7,
    "result": 0.7,
    "body": 0.5,
}
_BY_THE_USER = 1.7  # nobody else can give it again
_AGAIN, _OFTEN, _MOST_TURNS = 1.5, 4.0, 5  # for each further turn that names it, and at most
_FINISHED, _UNUSED = 0.35, 1.5
USED_LATER: Final = frozenset(
    {"id", "hash", "mail", "phone", "url", "path", "amount", "date", "version"}
)
"""Kinds of values that agents come back to although only a tool has named them."""

_ID = re.compile(
    r"(?:^|_|(?<=[a-z]))(?:[iI]d|ID|no|No|number|Number|ref|Ref|key|Key|code|Code"
    r"|nummer|Nummer|nr|Nr|referenz|Referenz)$|^(?:numero|codigo|codice|referencia|riferimento)(?:.*[^s])?$"
)
_ADDRESS = re.compile(
    r"(?i)(?:address|street|destination|recipient|location|place|contact|mail|phone|^to|^from"
    r"|adresse|anschrift|strasse|empfaenger|telefon|direccion|telefono|correo|destinatario"
    r"|endereco|telefone|indirizzo|destinataire)$"
)
_MONEY = re.compile(
    r"(?i)(?:amount|balance|charge|cost|fee|paid|price|refund|total|betrag|preis|guthaben|montant"
    r"|prix|solde|importe|precio|monto|saldo|valor|preco|prezzo|importo|totale)s?$"
)
_MERE = re.compile(r"\d{1,3}")  # such numbers recur by chance
_LIKELY_KIN, _LIKELY_NEAR = 0.15, 0.05  # how likely such paths are used, at the least
_LIKELY_MADE = 0.12  # the same of an id of what a call has made: nothing else may give it again
_MANY = 0.05  # share of the values of a body of text that were used, below which they stay out
_OLD = 0.45  # share of its worth that a fact keeps, whatever its age
_BY_AGE = [_OLD + 0.33 * exp(-age / 20) for age in range(800)]  # beyond, no digit of it changes
_GIVEN = frozenset({"body", "result"})
_BODY = ("body",)
_NO_MORE = (False, False, False, False)  # is known of what stands in one place behind the opening

Weight: TypeAlias = tuple[float, bool] | None | EllipsisType
"""What facts are worth, and whether they are needed for certain; None where they are not; an
ellipsis where more has to be known."""


_Alike: TypeAlias = tuple[Origin, tuple[str, ...], Kind, int, int, bool, bool, bool, bool, bool]
"""What facts have in common that are worth the same while they are fresh: the origin, the sides,
what they are worth as, how often they were used, in how many turns they are named, whether they
are recent, of the opening, kin of a path that was worked with, of a tree that was worked in, made
by a call."""


_Same: TypeAlias = tuple[int, int, Kind, int, int, bool, bool, bool, bool, bool]
"""The same, with the addresses of the origin and of the sides, 0 where the origin tells them."""


class Weigher:
    """Weighs facts of a head by how values were come back to.

    Args:
        head: What goes.
        rates: How often values of each origin were used.

    Its facts, and so their origins and sides, are to be held for as long as it is asked.
    """

    def __init__(self, head: Head, rates: Rates) -> None:
        self.recent, self.opening = head.recent, head.opening
        self.rates = rates
        self.start, self.stop = head.span.start, head.span.stop
        self.fresh = _freshness(len(head.span))
        self.alone = _Alone(rates)
        self.weights: dict[_Same, tuple[float, bool] | None] = {}

    def worth(
        self,
        value: Value,
        sightings: Sequence[Sighting],
        origin: Origin,
        track: Track | None,
        kin: int = -1,
        near: bool = False,
        made: bool = False,
    ) -> tuple[float, bool] | None:
        """Return what a fact is worth, and whether it is needed for certain; None: it is not.

        Args:
            value: The value, as it was first seen.
            sightings: Where it stands; in the head alone.
            origin: Where it comes from.
            track: What has come of it, where it stands in several places.
            kin: Index of the last item that worked with a path of the same name, else -1.
            near: Whether it is a path of a tree that was worked in.
            made: Whether it names what a call has made.
        """
        sides: tuple[str, ...]
        if track is None:
            sides, uses, turns, last = (origin[0],), 0, 1, sightings[0].index
        else:  # more uses, or turns, make no fact worth more: those that have many are alike
            sides, uses, turns, last = track.names, track.uses, track.turns, track.last
            uses = uses if uses < LEVELS else LEVELS
            turns = turns if turns < _MOST_TURNS else _MOST_TURNS
        kind = value.kind
        if kind == "number" or kind == "name":
            argument = track.sides.get("argument") if track is not None else None
            if track is None and origin[0] == "argument":
                argument = sightings[0]
            kind = worth_as(kind, origin[2], None if argument is None else last_key(argument.path))
        if sides == _BODY and (kind == "name" or _MERE.fullmatch(value.text)):
            return None
        opens = sightings[0].index < self.opening
        recent = last >= self.recent
        # The facts of a list share their origins and the names of their sides: to tell these by
        # what they say takes longer than all the rest.
        by = 0 if track is None else id(sides)
        same = (id(origin), by, kind, uses, turns, recent, opens, kin >= 0, near, made)
        weight = self.weights.get(same, ...)
        if weight is ...:
            weight = _weight((origin, sides, *same[2:]), self.rates)
            self.weights[same] = weight
        if weight is None:
            return None
        age = -1  # from behind: as of the last item of the head
        if last < kin:
            last = kin
        if not opens and last < self.stop:
            age = last - self.start
        return weight[0] * self.fresh[age], weight[1]


class _Alone(dict[Origin, tuple[Weight, Weight]]):
    """What facts that stand in one place are worth while they are fresh, by their origin.

    First of recent ones, then of others; those of the opening are worth more. An ellipsis where
    it takes more than the origin to know.
    """

    def __init__(self, rates: Rates) -> None:
        super().__init__()
        self._rates = rates

    def __missing__(self, origin: Origin) -> tuple[Weight, Weight]:
        side, _, label, kind = origin
        if side == "body" or (side == "argument" and kind in ("number", "name")):
            weights: tuple[Weight, Weight] = (..., ...)
        else:
            if kind == "number" or kind == "name":
                kind = worth_as(kind, label, None)
            recent: _Alike = (origin, (side,), kind, 0, 1, True, *_NO_MORE)
            rest: _Alike = (origin, (side,), kind, 0, 1, False, *_NO_MORE)
            weights = _weight(recent, self._rates), _weight(rest, self._rates)
        self[origin] = weights
        return weights


def _weight(alike: _Alike, rates: Rates) -> tuple[float, bool] | None:
    """Return what facts of one kind are worth while they are fresh; see `worth`."""
    origin, sides, kind, uses, turns, recent, is_opening, is_kin, near, made = alike
    if len(sides) == 1:
        side, sure = sides[0], sides[0] not in _GIVEN or (sides[0] == "result" and recent)
        worth = _ALONE[side]
    else:
        given = ("body" in sides) + ("result" in sides)  # by tools alone
        sure = len(sides) > given or (recent and "result" in sides)
        worth = _BY_SIDES[min(len(sides), 5)]
    if not sure and kind not in USED_LATER and not rates.used(origin):
        return None
    if sides == _BODY and not near and rates.used(origin) < _MANY:
        return None
    if "user" in sides:
        worth *= _BY_THE_USER
    worth *= _standing(sides, turns, recent=recent, is_opening=is_opening)
    likely = _LIKELY_KIN if is_kin else _LIKELY_NEAR if near else 0.0
    if made:
        likely = max(likely, _LIKELY_MADE)
    return sqrt(worth) * max(rates.again(origin, uses), likely) * _KINDS[kind], sure


def _freshness(length: int) -> list[float]:
    """Return how much less facts are worth for their age, by the place of the last item in a head.

    Args:
        length: Number of its items.
    """
    shares = _BY_AGE[:length] + [_OLD] * (length - len(_BY_AGE))
    step = 0.22 / length if length else 0.0
    of_its_place = map(step.__mul__, range(length, 0, -1))  # tens of thousands, without a loop
    return [*map(add, shares, of_its_place)][::-1]


def _standing(sides: Sequence[str], turns: int, *, recent: bool, is_opening: bool) -> float:
    """Return how much more, or less, a fact is worth for what has become of it.

    What turn after turn comes back to will be needed again. What a user gave and a call has
    used in the same turn is a finished matter once the conversation has moved on.
    """
    if turns > 1:
        return min(_AGAIN ** (min(turns, _MOST_TURNS) - 1), _OFTEN)
    if recent:
        return 1.0
    if "user" in sides:
        return _FINISHED if len(sides) > 1 and not is_opening else _UNUSED
    return 1.0


@by_hash(512)
def worth_as(kind: Kind, label: str, argument: str | None) -> Kind:
    """Return what a number or a name is worth as: the key beside it may say what it is.

    Args:
        kind: Which of both it is.
        label: The key beside it where it was first seen, or how it is written.
        argument: Its key among the arguments of a call, None where it is none.
    """
    if argument is not None and _ADDRESS.search(argument):
        return "mail"
    if _ID.search(label):
        return "id"
    if kind == "number" and _MONEY.search(label):
        return "amount"
    return kind
