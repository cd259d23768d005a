"""An index of values by what they stand beside: a JSON object, a row, a sentence, a call.

Not here: how texts and documents become units (`shown`), what a summary makes of it (`ungrounded`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from chatfold.core.grounding.stamps import SHORTEST, stamped
from chatfold.core.values import Kind, Value
from chatfold.core.values.tables import CURRENCIES, SHARED_WORDS

__all__ = [
    "Index",
    "Unit",
    "codes_of",
    "currencies_in",
    "currency_of",
    "forms",
    "is_owner",
    "names_ids",
    "number_key",
    "stem_of",
]

_WIDEST = 24  # ids: what names more of them is a list, and none of them owns what stands beside
_MOST_PLACES = 400  # units of one number that are looked at
_REFERENCE = re.compile(r"[A-Z]{1,6}(?:/[A-Z0-9-]{1,12}){1,4}")
_CURRENCY = re.compile(r"\b[A-Z]{3}\b|[$€£¥₹₩₽円元]")
_WORD_OR_SIGN = re.compile(r"[A-Z]{0,2}\$|[^\W\d_]+")
_DIGIT_RUN = re.compile(r"\d+")
_ID_KEY = re.compile(
    r"(?:^|[:_])(?:id|ids|number|no|nr|ref|reference|order|ticket|account|code|sku)$"
)


def is_owner(value: Value) -> bool:
    """Return whether other values can belong to a value: an id, a hash, or one like CL/26/7."""
    if value.kind == "path":
        return _REFERENCE.fullmatch(value.text) is not None
    return value.kind in ("id", "hash")


def stem_of(value: Value) -> str:
    """Return the key of an id without the short piece behind its slash; "" where it has none."""
    stem = value.key.partition("/")[0]
    return stem if stem != value.key and stem in value.also else ""


def forms(value: Value) -> set[str]:
    """Return the roles that an id's form gives it: one prefix stands for one kind of thing."""
    if value.kind == "hash":
        return set()
    name = value.key.partition(":")[2]
    form = _DIGIT_RUN.sub("9", name)
    if form.count("9") > 3:
        return set()  # a UUID or the like: the form says nothing
    return {f"form:{form}"} if form != "9" else set()


def names_ids(key: str) -> bool:
    """Return whether a key of an object or a column, or a role from it, is that of ids."""
    return _ID_KEY.search(key) is not None


def number_key(value: Value, role: str) -> str | None:
    """Return the key of the number that an id may be: digits that its key calls no id.

    Amounts in cents, prices of houses and numbers of people are as long as ids are.
    """
    digits = value.text
    if value.kind != "id" or not role or not digits.isdecimal() or digits[0] == "0":
        return None
    return None if names_ids(role) else f"number:{value.key.partition(':')[2]}"


def currencies_in(text: str) -> tuple[str, ...]:
    """Return the currencies that a text names, as amounts have them in their keys."""
    found = {CURRENCIES[word] for word in _CURRENCY.findall(text) if word in CURRENCIES}
    return tuple(sorted(found))


def currency_of(word: str) -> str | None:
    """Return the currency that a short text names."""
    return CURRENCIES.get(word) or CURRENCIES.get(word.upper())


def codes_of(amount: Value) -> frozenset[str]:
    """Return the currencies that an amount may be in as it is written: "$" may be Canada's."""
    keys = (key for key in (amount.key, *amount.also) if key.startswith("amount:"))
    words = _WORD_OR_SIGN.findall(amount.text)
    others = (code for word in words for code in SHARED_WORDS.get(word, ()))
    return frozenset((*(key.partition(" ")[2] for key in keys), *others))


class Unit:
    """What belongs together: the ids in it, its values by field, the unit around it (-1: none)."""

    __slots__ = ("_fields_of", "carried", "currencies", "fields", "names", "parent")

    def __init__(self, parent: int) -> None:
        self.parent = parent
        self.names: list[str] = []
        self.carried: tuple[str, ...] = ()
        self.currencies: tuple[str, ...] = ()
        self.fields: dict[tuple[str, str], set[tuple[str, ...]]] = {}
        self._fields_of: dict[str, list[tuple[str, str]]] | None = None

    def place(self, field: tuple[str, str], keys: tuple[str, ...]) -> None:
        """Take in that all keys of a value stand in a field."""
        self.fields.setdefault(field, set()).add(keys)
        self._fields_of = None

    def fields_of(self, key: str) -> Iterable[tuple[str, str]]:
        """Return the fields in which a value stands."""
        if self._fields_of is None:  # a long text may be asked for each of its numbers
            self._fields_of = self._by_key()
        return self._fields_of.get(key, ())

    def _by_key(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for field, held in self.fields.items():
            for key in set(chain.from_iterable(held)):
                found.setdefault(key, []).append(field)
        return found


class Index:
    """Where each value stands, by key.

    Attributes:
        places: Units by key, those included that a value vouches for (`Value.also`).
        bare: Units by key of numbers that stand without a currency, and of ids that may be one.
        kinds: Kind by key, of what stands there as it is.
        roles: What an id is, by its key: the keys of JSON or columns it stands under, its form.
        currencies: Every currency that is named.
    """

    def __init__(self) -> None:
        self.places: dict[str, list[int]] = {}
        self.bare: dict[str, list[int]] = {}
        self.kinds: dict[str, Kind] = {}
        self.roles: dict[str, set[str]] = {}
        self.units: list[Unit] = []
        self.currencies: set[str] = set()

    def unit(self, parent: int) -> int:
        """Return the number of a new unit inside `parent` (-1: inside none)."""
        self.units.append(Unit(parent))
        return len(self.units) - 1

    def add(self, value: Value, unit: int, role: str = "", field: str = "") -> None:
        """Take in a value where it stands.

        Args:
            value: The value.
            unit: Where it stands.
            role: What its key says that it is.
            field: The path of keys to it, where that says more than the role.
        """
        keys = (value.key, *value.also)
        kind = "number" if value.kind == "amount" else value.kind
        self.place(kind, keys, unit, field or role)
        if value.kind in ("id", "number") and len(value.text) >= SHORTEST:
            for told in stamped(value.text):
                self.place(*told, unit, field or role)
        self.kinds.setdefault(value.key, value.kind)
        if is_owner(value):
            names = self.units[unit].names
            if len(names) <= _WIDEST and value.key not in names:
                names.append(value.key)
            self.roles.setdefault(value.key, forms(value)).update((role,) if role else ())
            stem = stem_of(value)
            if stem:  # what is told of SKU-12 is told of SKU-12/M
                self.roles.setdefault(stem, set()).update(self.roles[value.key])
            number = number_key(value, role)
            if number:
                self.bare.setdefault(number, []).append(unit)
        elif value.kind == "number":
            self.bare.setdefault(value.key, []).append(unit)
            if "." in value.key:  # "128.450 km" may be of thousands
                whole = f"number:{''.join(filter(str.isdigit, value.text))}"
                if whole in value.also:
                    self.bare.setdefault(whole, []).append(unit)
        elif value.kind == "amount":
            self.currencies.add(value.key.rpartition(" ")[2])

    def place(self, kind: Kind, keys: tuple[str, ...], unit: int, field: str) -> None:
        """Take in where all keys of a value stand."""
        self.units[unit].place((kind, field), keys)
        for key in keys:
            seen = self.places.get(key)
            if seen is None:
                self.places[key] = [unit]
            elif seen[-1] != unit:
                seen.append(unit)

    def owners(self, unit: int) -> dict[str, set[str]]:
        """Return the ids that a unit's values belong to, by role; a nearer one hides the others."""
        found: dict[str, set[str]] = {}
        while unit >= 0:
            own: dict[str, set[str]] = {}
            names = self.units[unit].names
            for name in names if len(names) <= _WIDEST else ():
                for role in self.roles[name]:
                    own.setdefault(role, set()).add(name)
            for role, members in own.items():
                found.setdefault(role, members)
            unit = self.units[unit].parent
        return found

    def around(self, units: Iterable[int]) -> set[int]:
        """Return units and all that are around them."""
        found: set[int] = set()
        for unit in units:
            while unit >= 0 and unit not in found:
                found.add(unit)
                unit = self.units[unit].parent
        return found

    def fields_of(self, key: str, units: Iterable[int]) -> set[tuple[str, str]]:
        """Return the fields in which units hold a value: its kind and what names it."""
        return {field for unit in units for field in self.units[unit].fields_of(key)}

    def holds(self, units: Iterable[int], field: tuple[str, str]) -> set[tuple[str, ...]]:
        """Return what units hold in a field: all keys of each value."""
        return {keys for unit in units for keys in self.units[unit].fields.get(field, ())}

    def is_about(self, unit: int, name: str) -> bool:
        """Return whether an id is what the text of a unit, or of one around it, goes on about."""
        while unit >= 0:
            here = self.units[unit]
            if name in here.carried:
                roles = self.roles[name]
                # Only what names no id of that kind itself goes on about the one before.
                if not any(roles & self.roles[own] for own in here.names):
                    return True
            unit = here.parent
        return False

    def currencies_at(self, unit: int) -> tuple[str, ...]:
        """Return the currencies that a unit names, or the nearest around it that names any."""
        while unit >= 0:
            if self.units[unit].currencies:
                return self.units[unit].currencies
            unit = self.units[unit].parent
        return ()

    def may_be_amount(self, number: str, codes: frozenset[str], *, beside: bool = False) -> bool:
        """Return whether a number was shown that may be an amount in one of these currencies.

        One of them is named beside it, or none is and what was shown speaks of no other.

        Args:
            number: Its key.
            codes: The currencies.
            beside: Whether one has to be named beside it.
        """
        for unit in self.bare.get(number, ())[:_MOST_PLACES]:
            near = self.currencies_at(unit)
            if not near and not beside:
                near = tuple(self.currencies)
                if not near:
                    return True
            if not codes.isdisjoint(near):
                return True
        return False
