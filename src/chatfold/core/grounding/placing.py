"""Whether the values of a summary were shown for what it says them of; in doubt they were.

Not here: what it says of what (`said`), where the values stood (`shown`).
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import Final

from chatfold.core.grounding.days import is_next_day
from chatfold.core.grounding.units import Index, is_owner
from chatfold.core.values import Kind, Value

__all__ = ["Placing"]

_MOVABLE: Final[frozenset[Kind]] = frozenset(
    {"id", "hash", "date", "time", "amount", "number", "mail", "phone", "url", "path", "version"}
)
_MOST_PLACES = 400  # units of one value that are looked at


class Placing:
    """Compares what values are said of with where they stand in what was shown."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.known: dict[str, set[int]] = {}

    def is_linked(self, value: Value, key: str, near: Collection[str]) -> bool:
        """Return whether a value stands beside, around or in one of these ids, or need not.

        What more there is to read can make this true, never false.
        """
        if not near or value.kind not in _MOVABLE:
            return True
        places = self.index.places[key]
        if len(places) > _MOST_PLACES or (value.kind == "number" and len(value.text) < 3):
            return True
        above = self.index.around(places)
        return any(
            not self._around(name).isdisjoint(places)
            or not above.isdisjoint(self.index.places[name])
            for name in near
        )

    def owner(
        self,
        value: Value,
        key: str,
        near: Collection[str],
        repeated: Container[str],
        listed: Collection[str],
    ) -> str | None:
        """Return the id that a value was shown for, where a sentence says it of another.

        In doubt it returns None. It is certain where the sentence names one id of a role, nothing
        that was shown links that to the value, the value has owners of that role wherever it
        stands, and the id has one other value in the same field.

        Args:
            value: The value.
            key: The key by which it was shown.
            near: The ids that it is said of.
            repeated: Those that the sentence names more than once.
            listed: Those that stand in one row with the value: what is said of it is said of them.
        """
        if self.is_linked(value, key, near):
            return None
        places = self.index.places[key]
        if any(self.index.is_about(unit, name) for unit in places for name in near):
            return None
        told = self._alone(near)
        owned = self._owned(value, places, told)
        fields = self.index.fields_of(key, places)
        for role, found in owned.items():
            only = {owner for owners in found if len(owners) == 1 for owner in owners}
            if len(only) != 1 if is_owner(value) else not only or len(found) < len(places):
                continue  # an id is part of many records, and may itself own what it stands beside
            name = told[role]
            beside = [] if name in repeated else [other for other in near if other not in listed]
            if any(self._has_another(name, key, field, beside) for field in fields):
                return min(only).partition(":")[2]
        return None

    def _around(self, name: str) -> set[int]:
        if name not in self.known:
            self.known[name] = self.index.around(self.index.places[name])
        return self.known[name]

    def _alone(self, near: Collection[str]) -> dict[str, str]:
        """Return the one id of each role that only one has."""
        by_role: dict[str, list[str]] = {}
        for name in near:
            for role in self.index.roles[name]:
                by_role.setdefault(role, []).append(name)
        return {role: names[0] for role, names in by_role.items() if len(names) == 1}

    def _owned(
        self, value: Value, places: Sequence[int], roles: Collection[str]
    ) -> dict[str, list[set[str]]]:
        """Return the owners that a value has in each place where it has any, by role."""
        owned: dict[str, list[set[str]]] = {}
        for unit in places:
            for role, owners in self.index.owners(unit).items():
                if role in roles and owners - {value.key}:
                    owned.setdefault(role, []).append(owners)
        return owned

    def _has_another(
        self, name: str, key: str, field: tuple[str, str], beside: Collection[str]
    ) -> bool:
        """Return whether an id has exactly one value in a field beside itself, and not this one.

        Not where that value is among those `beside`: a sentence that names the id once, and what
        it belongs to, says that of it, and something else of the other: "mail M-1 about A-1 was
        sent, and none about A-2".
        """
        held = self.index.holds(self._around(name), field)
        held = {keys for keys in held if name not in keys}
        if len(held) != 1:
            return False
        (keys,) = held
        if key in keys or any(other in beside for other in keys):
            return False
        return not is_next_day(key, keys[0])
