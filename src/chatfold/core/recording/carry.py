"""Two records as one, within a budget, over any number of folds.

What is newer replaces what is older of the same; of what does not fit, that goes first of which
there is most, the oldest of it, and what the user said goes last. Not here: what a fold adds
(`actions`, `ledger`), how what was done is made shorter (`deeds`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Final

from chatfold.core.by_hash import by_hash
from chatfold.core.call_words import is_cut, is_long
from chatfold.core.entries import Entry, Field, is_in_a_list
from chatfold.core.record import Record, rendered
from chatfold.core.recording.counted import call_of, with_counts, without_calls
from chatfold.core.recording.deeds import fitted_actions, line_size
from chatfold.core.values import Kind, values

__all__ = [
    "SAID_BY_USER",
    "THINGS",
    "Budget",
    "all_actions",
    "displaced",
    "fitted_values",
    "given_up",
    "merged",
    "merged_values",
    "names_a_thing",
    "names_as_given",
    "says_mere_numbers",
]


THINGS: Final[frozenset[Kind]] = frozenset(
    {"id", "hash", "path", "mail", "url", "phone", "version"}
)
"""Kinds of values that say by themselves what they are, without the words around them."""

_LONGEST_ID = 16  # characters
_MERE = re.compile(r"\d{1,3}")


@dataclass(frozen=True, slots=True)
class Budget:
    """How large a record may be; standing instructions do not count.

    Attributes:
        values: Tokens of the values part.
        actions: Tokens of what is done, failed and open together.
        count: Returns the size of a text in tokens.
    """

    values: int
    actions: int
    count: Callable[[str], int]


def merged(previous: Record, new: Record, budget: Budget) -> Record:
    """Return one record for an earlier one and what has come since.

    Standing instructions are those of `new`: whoever finds them knows which ones still hold. A
    call that was made again with success is no longer failed or open; calls that say the same are
    one entry with their number.

    Args:
        previous: The earlier record.
        new: What has come since, in the order of time.
        budget: How large the parts may be.
    """
    if not any((*previous[1:], *new[1:])):  # as where agents only look things up
        return Record(new.standing)
    record = fitted_actions(all_actions(previous, new), budget.actions, budget.count)
    both = merged_values(previous.values, new.values)
    return record._replace(values=fitted_values(both, budget.values, budget.count))


def all_actions(previous: Record, new: Record) -> Record:
    """Return a record with all that is done, failed and open, whatever its size, without values."""
    previous, new = _without_long_ids(previous), _without_long_ids(new)
    done = with_counts((*previous.done, *new.done))  # calls that go were in no record before
    again = {call_of(entry) for entry in new.done}
    told = again | {call_of(entry) for entry in new.failed}
    failed = [e for e in previous.failed if not _is_told(e, told)]
    failed = [*_left(failed, new.done)]
    # Ids recur: another call under the id of one that nobody answered says nothing of that one.
    waits = [e for e in previous.open if not _is_told(e, told) and e not in new.open]
    waits = [*_left(waits, (*new.done, *new.failed))]
    return Record(new.standing, tuple(done), (*failed, *new.failed), (*waits, *new.open))


def _without_long_ids(record: Record) -> Record:
    """Return a record without call ids that take more room than a value.

    They name nothing outside of the history; only what is open has to be known by them again.
    """

    def each(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        return tuple(e._replace(call="") if len(e.call) > _LONGEST_ID else e for e in entries)

    return record._replace(done=each(record.done), failed=each(record.failed))


def _left(entries: Sequence[Entry], made: Sequence[Entry]) -> Iterator[Entry]:
    """Yield what has not come to its end, of calls that are only counted too.

    Args:
        entries: What failed, or was open.
        made: Calls that have since ended so that they are that no more.
    """
    beside = Counter(entry.name for entry in entries)
    for entry in entries:
        if entry.arguments is not None:
            yield entry
            continue
        alike = [call for call in made if call.name == entry.name]
        left = without_calls(entry, alike, beside[entry.name] > 1)
        if left is not None:
            yield left


def _is_told(entry: Entry, told: Collection[object]) -> bool:
    """Return whether what has come since is of the same call, for certain."""
    named = entry.arguments
    return named is not None and call_of(entry) in told and not is_cut(named)


def given_up(whole: Record, acted: Record, new: Record) -> list[Entry]:
    """Return what an earlier record told of what failed or is open, and that is told no longer.

    Args:
        whole: All that is done, failed and open, whatever its size.
        acted: The same as it fits.
        new: What of it has come since the earlier record.
    """
    told = (*acted.failed, *acted.open, *new.failed, *new.open)
    still = {entry._replace(call="") for entry in told}
    return [e for e in (*whole.failed, *whole.open) if e._replace(call="") not in still]


def names_as_given(entry: Entry) -> Entry:
    """Return an entry of what its calls were given, and nothing else.

    Of calls that are only counted that is what names them, under a label that is written once.
    """
    if entry.arguments is not None:
        return Entry(entry.name, entry.arguments)
    given: list[Field] = []
    for field in entry.values:
        given.append(field if field.label or not given else field._replace(label=given[-1].label))
    return Entry(entry.name, tuple(given))


def displaced(done: Sequence[Entry], is_told: Callable[[str], bool]) -> list[Entry]:
    """Return as values what an earlier record told of what was done, and a new one does not.

    Calls that were given the same may have come to different things: one entry has all of these.
    A new record has it from the calls themselves where they go; what went before stands nowhere
    else.

    Args:
        done: What was done, as the earlier record has it, of which the new one tells less.
        is_told: Returns whether a text stands somewhere in the new one.
    """
    found: list[Entry] = []
    for entry in done:
        if entry.arguments is None:
            continue
        left = tuple(field for field in entry.values if not is_told(field.text))
        if left:
            found.append(Entry(entry.name, entry.arguments, left))
            continue
        found += (
            Entry(field.key, None, (Field("", field.text),))
            for field in entry.arguments
            if field.key and not is_long(field.text) and not is_told(field.text)
        )
    return merged_values((), found, lambda entry: False)


def merged_values(
    previous: Sequence[Entry],
    new: Sequence[Entry],
    is_certain: Callable[[Entry], bool] = lambda entry: True,
) -> list[Entry]:
    """Return one entry for each call and author, those with something new last.

    Args:
        previous: The entries of an earlier record.
        new: What has come since.
        is_certain: Returns whether another entry of the same name and arguments is of the same
            call. Where it may be of another one, nothing has changed from one to the other.
    """
    found = {call_of(entry): entry for entry in previous}
    for entry in new:
        before = found.pop(call_of(entry), None)
        if before is not None:
            entry = _updated(before, entry) if is_certain(entry) else _beside(before, entry)
        found[call_of(entry)] = entry
    return list(found.values())


def _beside(before: Entry, entry: Entry) -> Entry:
    """Return an entry with newer values behind the older ones."""
    return entry._replace(values=tuple(dict.fromkeys((*before.values, *entry.values))))


def _updated(before: Entry, entry: Entry) -> Entry:
    """Return an entry with newer values behind or in place of the older ones.

    A label that stands for several values does not say which of them a newer one is of; nor does
    a place in a list, where another thing may stand by now: what names one stays.
    """
    each = [Counter(field.label for field in of.values) for of in (before, entry)]

    def key(field: Field) -> tuple[str, str]:
        alone = field.label and all(count[field.label] < 2 for count in each)
        stays = is_in_a_list(field.label) and names_a_thing(field.text)
        return field.label, "" if alone and not stays else field.text

    fields = {key(field): field for field in before.values}
    for field in entry.values:
        known = fields.pop(key(field), None)
        if known is not None and not field.was and not is_in_a_list(field.label):
            field = field._replace(was=known.was if known.text == field.text else known.text)
        fields[key(field)] = field
    return entry._replace(values=tuple(fields.values()))


@by_hash(1_024)  # each fold asks of the same words again
def names_a_thing(text: str) -> bool:
    """Return whether a text holds a value that says by itself what it is, such as an id."""
    return any(value.kind in THINGS for value in values(text))


SAID_BY_USER = "user"
"""Who says what goes last: nobody else can give it again."""
_SAID_BY_MODEL: Final = "assistant"
_SHARE_OF_MADE: Final = 4  # of the room, a part


def fitted_values(
    entries: Sequence[Entry],
    room: int,
    count: Callable[[str], int],
    made: Collection[str] = (),
) -> tuple[Entry, ...]:
    """Return the entries that fit, cut value by value where there are most, the oldest first.

    Of forty order numbers one is missed less than the only address, so the tool or author with
    the most room gives first; what the assistant said, mostly after others, counts twice. What the
    user said goes last, but takes no more than half of the room while others want it; of that
    small numbers go first. So do, within a quarter of it, the ids of what was made: a lookup gives
    its own again, and a call that changed something must not be made for that.

    Args:
        entries: The entries, oldest first.
        room: Tokens that they may have.
        count: Returns the size of a text in tokens.
        made: Names of the tools whose calls changed something.
    """
    left = list(entries)
    while left and (over := count(rendered(Record(values=tuple(left)))) - room) > 0:
        left = _smaller_values(left, over, room, count, made)
    return tuple(left)


def _smaller_values(
    entries: list[Entry],
    over: int,
    room: int,
    count: Callable[[str], int],
    made: Collection[str],
) -> list[Entry]:
    """Return entries without about `over` tokens of values, at least one of them."""
    costs = {name: [*reversed(found)] for name, found in _costs(entries, count, made).items()}
    sizes = {name: sum(cost for cost, _, _ in found) for name, found in costs.items()}
    newest = {entry.name: place for place, entry in enumerate(entries, 1)}
    of_made = sum(sizes.get(name, 0) for name in made)

    def goes_last(name: str) -> bool:
        if name == SAID_BY_USER:
            return sizes[name] <= room // 2
        if name not in made:
            return False
        _, place, number = costs[name][-1]
        is_small = of_made <= room // _SHARE_OF_MADE
        return is_small and names_a_thing(entries[place].values[number].text)

    def weight(name: str) -> int:
        if len(sizes) > 1 and goes_last(name):
            return 0
        return sizes[name] * (2 if name == _SAID_BY_MODEL else 1)

    waiting = [(-weight(name), newest[name], name) for name in sizes]
    heapify(waiting)
    gone: set[tuple[int, int]] = set()
    while over > 0 and waiting:
        weighed, at, name = heappop(waiting)
        if name in made and weighed != -weight(name):  # others that were made have given since
            heappush(waiting, (-weight(name), at, name))
            continue
        cost, place, number = costs[name].pop()
        gone.add((place, number))
        over -= cost
        sizes[name] -= cost
        of_made -= cost if name in made else 0
        if costs[name]:
            heappush(waiting, (-weight(name), at, name))
        else:
            del sizes[name]
    left: list[Entry] = []
    for place, entry in enumerate(entries):
        kept = tuple(f for number, f in enumerate(entry.values) if (place, number) not in gone)
        if kept:
            left.append(entry._replace(values=kept))
    return left


def _costs(
    entries: Sequence[Entry], count: Callable[[str], int], made: Collection[str]
) -> dict[str, list[tuple[int, int, int]]]:
    """Return the tokens of the values of every name, and where they are: what goes first, first.

    That is the oldest; of what the user said, small numbers; of what was made, what names no
    thing, of all its calls. With the last value of an entry goes its line.
    """

    def is_thing(place: int, number: int) -> bool:
        return names_a_thing(entries[place].values[number].text)

    costs: dict[str, list[tuple[int, int, int]]] = {}
    for place, entry in enumerate(entries):
        found = costs.setdefault(entry.name, [])
        order = [*range(len(entry.values))]
        if entry.name == SAID_BY_USER:
            order.sort(key=lambda number: not says_mere_numbers(entry.values[number].text))
        elif entry.name in made:
            order.sort(key=partial(is_thing, place))
        for number in order[:-1]:
            field = entry.values[number]
            found.append((max(1, count(f"{field.label}={field.text}, ")), place, number))
        for number in order[-1:]:
            alone = entry._replace(values=(entry.values[number],))
            found.append((max(1, line_size(alone, count)), place, number))
    for name in made:
        costs.get(name, []).sort(key=lambda found: is_thing(*found[1:]))
    return costs


@by_hash(1_024)  # each fold asks of the same words again
def says_mere_numbers(text: str) -> bool:
    """Return whether a text says no more than numbers as there are many: of up to three digits.

    In "question 22?" nothing is lost that a user would have to give again, as an account's number.
    """
    found = values(text)
    return bool(found) and all(
        value.kind == "number" and _MERE.fullmatch(value.text) for value in found
    )
