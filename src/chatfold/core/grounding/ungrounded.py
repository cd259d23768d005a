"""Which values of a summary its author was not shown, and the summary without them.

Not here: what a value looks like (`values`), what was shown (`shown`), whether it was shown for
what the summary says (`placing`), what is done about what is found (`guard`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from chatfold.core.grounding.addresses import Addresses
from chatfold.core.grounding.cut_out import cut_out
from chatfold.core.grounding.derived import Derived
from chatfold.core.grounding.phones import with_phones
from chatfold.core.grounding.placing import Placing
from chatfold.core.grounding.said import Said
from chatfold.core.grounding.search import Search
from chatfold.core.grounding.shown import Sources
from chatfold.core.grounding.spelled import Spelled
from chatfold.core.grounding.units import codes_of, currency_of, is_owner
from chatfold.core.grounding.weekdays import is_said, wrong_weekdays
from chatfold.core.values import Kind, Value, values
from chatfold.core.values.dates import either_order
from chatfold.core.values.decimals import number_of
from chatfold.core.values.phones import in_country
from chatfold.core.values.tables import MAGNITUDES

__all__ = ["DROPPED_KINDS", "Sources", "Ungrounded", "ungrounded", "without"]

DROPPED_KINDS: Final[frozenset[Kind]] = frozenset(
    {"id", "hash", "date", "amount", "mail", "phone", "url", "path"}
)
"""Kinds whose sentences `without` drops: a wrong one makes the next model act on a wrong thing."""

_LITERAL: Final[frozenset[Kind]] = frozenset(
    {"id", "hash", "name", "error", "path", "url", "mail", "version", "command"}
)
_UNMOVED: Final[frozenset[Kind]] = frozenset({"name", "error", "command"})
_NUMBERED: Final = re.compile(
    r"(?:[#!]|\b(?:pr|mr|pull(?: request)?|merge request|issue|ticket|order|job|run|build|pipeline"
    r"|case|invoice|release|task|discussion|commit|merged|bestellung|rechnung|auftrag|id|no|nr|number"
    r"|nummer)s?[.:]?[ \u00a0]?[#!]?)(?:\d{1,12}(?:,? (?:and |und |& )?|, ?))*\Z",
    re.IGNORECASE,
)
_FEW = 4  # places that are read to see whether a value was shown
_MOST_PLACES = 40  # of one number that are looked at
_LETTERS = re.compile(r"[^\W\d_]+")
_SCALES: Final = {"m": 6, **{word.lower(): n for word, n in MAGNITUDES.items()}}


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """A value in a text that its author was not shown, or was shown for something else.

    Attributes:
        value: The value.
        sentence: Start and stop in the text of the sentence, row or line that holds it.
        why: `unseen` where it was not shown, `misplaced` where it was shown for another id than
            the sentence names.
        belongs: That other id, as its key has it; "" where it was not shown.
    """

    value: Value
    sentence: tuple[int, int]
    why: Literal["unseen", "misplaced"]
    belongs: str = ""


def ungrounded(text: str, sources: Sources) -> list[Ungrounded]:
    """Return the values in a text that its author was not shown, in order.

    What follows from what was shown is not among them: sums, counts, rounded numbers, relative
    dates. A whole number up to 12, and up to 99 without a unit, is taken for a count.
    """
    reading = _Reading(text, sources)
    found = reading.ungrounded()
    wrong = reading.wrong_weekdays()
    return sorted([*found, *wrong], key=lambda each: each.value.start) if wrong else found


class _Reading:
    """A summary beside what its author was shown."""

    def __init__(self, text: str, sources: Sources) -> None:
        self.text = text
        self.sources = sources
        self.said = Said(text)
        self.search = Search(sources)
        self.addresses = Addresses(sources, self.search.holds)
        self.known: dict[str, str | None] = {}

    def ungrounded(self) -> list[Ungrounded]:
        if self._is_copied():
            return []  # most summaries without a lie, for a tenth of the time
        self.sources.read_all()
        self.search = Search(self.sources)
        self.addresses = Addresses(self.sources, self.search.holds)
        said = self.said
        told = with_phones(self.text, said.values, self.sources.kinds)
        if told is not None:
            said.take(told)
        said.know(self.sources.roles)
        placing = Placing(self.sources)
        keys = [self.shown(value) for value in said.values]
        known = [key is not None for key in keys]
        derived = Derived(self.text, said.values, self.sources, known)
        spelled = Spelled(self.sources)
        found: list[Ungrounded] = []
        for at, own in enumerate(said.by_sentence):
            place = (said.spans[at].start, said.spans[at].stop)
            for value in own:
                key = self.shown(value)
                if key is None:
                    if not (derived.follows(value) or spelled.holds(value)):
                        found.append(Ungrounded(value, place, "unseen"))
                elif key in self.sources.places:
                    near = said.named(value, at) - {value.key}
                    listed = said.listed(value, at) if near else ()
                    other = placing.owner(value, key, near, said.repeated[at], listed)
                    if other is not None:
                        found.append(Ungrounded(value, place, "misplaced", other))
        return found

    def wrong_weekdays(self) -> list[Ungrounded]:
        """Return the dates that are of another weekday than the text says."""
        found = wrong_weekdays(self.text, self.said.values)
        if not found:
            return []  # so that nothing more is read for most summaries
        self.sources.read_all()
        wrong = [each.value for each in found if not is_said(each, self.sources.texts)]
        starts = [span.start for span in self.said.spans]
        places = (self.said.spans[bisect_right(starts, value.stop - 1) - 1] for value in wrong)
        return [
            Ungrounded(value, (place.start, place.stop), "unseen")
            for value, place in zip(wrong, places, strict=True)
        ]

    # Whether it can be seen at once that there is nothing to find

    def _is_copied(self) -> bool:
        """Return whether every value stands in what was shown, beside the ids it is said of.

        Only what holds the same words is read, and False is returned in doubt.
        """
        sources, said = self.sources, self.said
        if sources.is_whole or not sources.read_some([v for v in said.values if is_owner(v)], 0):
            return False
        missing = [v for v in said.values if v.key not in sources.places and not _is_count(v)]
        if not sources.read_some(missing, _FEW):
            return False
        doubtful = self._doubtful()
        return not doubtful or (sources.read_some(doubtful, 0) and not self._doubtful())

    def _doubtful(self) -> list[Value]:
        said, places = self.said, self.sources.places
        said.know(self.sources.roles)
        placing = Placing(self.sources)
        return [
            value
            for at, own in enumerate(said.by_sentence)
            for value in own
            if not (
                placing.is_linked(value, value.key, said.named(value, at) - {value.key})
                if value.key in places
                else _is_count(value) or (value.kind in _UNMOVED and self.search.stands(value))
            )
        ]

    # Whether a value was shown

    def shown(self, value: Value) -> str | None:
        """Return the key by which a value was shown, None where it was not."""
        written = f"{value.key}\n{value.text}"
        if value.kind == "number" and self._is_numbered(value):
            written += "\n#"
        if written not in self.known:
            self.known[written] = self._shown(value)
        return self.known[written]

    def _is_numbered(self, value: Value) -> bool:
        """Return whether a number is that of a thing: "PR 1017", and not "1017 customers"."""
        return _NUMBERED.search(self.text, max(0, value.start - 60), value.start) is not None

    def _shown(self, value: Value) -> str | None:
        places, kinds, key = self.sources.places, self.sources.kinds, value.key
        if key in places:
            return key
        name = key.partition(":")[2]
        match value.kind:
            case "amount":
                return next(filter(None, map(self._amount, _readings(value))), None)
            case "id" if name.isdigit() and f"number:{name.lstrip('0')}" in places:
                return f"number:{name.lstrip('0')}"
            case "id" if self.addresses.names(name):  # "#17"
                return key
            case "number" if self._is_numbered(value) and self.addresses.names(name):  # "PR 1017"
                return key
            case "id" if "/" in name and self._stands_before_a_slash(value):
                return key
            case "hash" if self.addresses.names_hash(name):
                return key
            case "date":
                for other in either_order(value):
                    if other in places:
                        return other
                if self._expires(name):
                    return key
                # "11/14" may have been a fraction where it was shown, "3.11." a version.
                bare = value._replace(text=value.text.rstrip("."))
                if name.startswith("--") and not any(map(str.isalpha, bare.text)):
                    return key if self.search.stands(bare) else None
            case "path":
                if self.addresses.holds_path(name):
                    return key
            case "url" if self.addresses.holds_url(name):
                return key
            case "mail" if self.addresses.holds_login(name):
                return key
            case "mail":  # "d'anne@" may say whose, where "anne@" was shown
                for other in value.also:
                    if kinds.get(other) == "mail":
                        return other
            case "phone":
                # Kinds, as a number with another country code vouches for the same bare digits.
                told = (form for form in in_country(key) if form in kinds)
                return next(told, key if self.search.holds_in_groups(key) else None)
            case "time" if key[-1] == "Z" and kinds.get(key[:-1]) == "time":
                return key[:-1]  # no zone was shown beside it
            case "number" if key.endswith(" h"):
                for other in value.also:
                    if other in places and other.startswith("time:"):
                        return other
            case "error":
                for other in value.also:
                    if other in self.sources.bare:
                        return other
            case "command":
                if all(
                    self.shown(v) is not None for v in values(value.text) if v.kind != "command"
                ):
                    return key
            case _:
                pass
        return key if value.kind in _LITERAL and self.search.stands(value) else None

    def _expires(self, name: str) -> bool:
        """Return whether a month was shown as it is on cards: 09/28, which is no day there.

        Without its zero it may be any fraction, and any that begins with 10 to 12.
        """
        year, _, month = name.partition("-")
        if len(month) != 2 or len(year) != 4 or f"date:--{month}-{year[2:]}" in self.sources.places:
            return False
        return month[0] == "0" and self.search.holds(f"{month}/{year[2:]}")

    def _stands_before_a_slash(self, value: Value) -> bool:
        """Return whether an id was shown by itself to which the text sticks more: SKU-12/M."""
        alone = values(value.text.rpartition("/")[0])
        return bool(alone) and all(each.key in self.sources.kinds for each in alone)

    def _amount(self, value: Value) -> str | None:
        """Return the number that an amount was shown as, with its currency beside it or nowhere."""
        if value.key in self.sources.places:
            return value.key
        number, codes = number_of(value.key), codes_of(value)
        if number is None:
            return None
        for shown in (number, number * 100):
            written = f"number:{shown.normalize():f}"
            # Hundredths need a record that says so.
            if self.sources.may_be_amount(written, codes, beside=shown != number):
                return written
        return self._in_a_column(value, number, codes)

    def _in_a_column(self, value: Value, number: Decimal, codes: frozenset[str]) -> str | None:
        """Return the number that an amount was shown as where the key or the column has its scale.

        As $398.2 million is 398.2 under `revenue_usd_m`, or under "Paid (Mio. EUR)".
        """
        sources = self.sources
        for exponent in {MAGNITUDES[w] for w in _LETTERS.findall(value.text) if w in MAGNITUDES}:
            written = f"number:{number.scaleb(-exponent).normalize():f}"
            units = sources.bare.get(written, ())[:_MOST_PLACES]
            for _, field in sources.fields_of(written, units):
                words = _LETTERS.findall(field.partition(":")[2])
                if any(exponent == _SCALES.get(word.lower()) for word in words):
                    currencies = {currency_of(word) for word in words} - {None}
                    if not currencies or not codes.isdisjoint(currencies):
                        return written
        return None


def _readings(amount: Value) -> list[Value]:
    """Return an amount as it may be read: "1.275 million" of two languages are not the same."""
    number, _, code = amount.key.partition(" ")
    digits = number.replace(".", "").rstrip("0")
    others = (
        amount._replace(key=key)
        for key in amount.also
        if key.endswith(f" {code}") and key.partition(" ")[0].replace(".", "").rstrip("0") == digits
    )
    return [amount, *others]


def _is_count(value: Value) -> bool:
    """Return whether a value is a number that is taken for a count, whatever was shown."""
    return value.kind == "number" and len(value.text) < 3 and value.text.isdecimal()


def without(text: str, found: Sequence[Ungrounded]) -> tuple[str, list[str]]:
    """Return a text without the sentences that hold such values, and those sentences.

    Values of other kinds than `DROPPED_KINDS` stay. What stands under a dropped heading or list
    item goes with it, since it would else be read as part of the one before. A heading that
    nothing is left under goes too.

    Args:
        text: The text.
        found: What `ungrounded` returned for it.
    """
    return cut_out(text, sorted({u.sentence for u in found if u.value.kind in DROPPED_KINDS}))
