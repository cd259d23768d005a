"""Two records as one, within a budget, over any number of folds.

What is newer replaces what is older of the same; of what does not fit, that goes first of which
there is most, the oldest of it, and what the user said goes last. Not here: what a fold adds
(`actions`, `ledger`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Final

from chatfold.core.call_json import CUT
from chatfold.core.call_words import is_cut, is_long
from chatfold.core.entries import Entry, Field, line
from chatfold.core.outcomes import says_how_it_went
from chatfold.core.record import Record, rendered
from chatfold.core.values import Kind, values

__all__ = [
    "SAID_BY_USER",
    "THINGS",
    "Budget",
    "counted_together",
    "fitted_values",
    "is_in_a_list",
    "merged",
    "merged_values",
    "names_a_thing",
]


THINGS: Final[frozenset[Kind]] = frozenset(
    {"id", "hash", "path", "mail", "url", "phone", "version"}
)
"""Kinds of values that say by themselves what they are, without the words around them."""

_LONGEST_ID = 16  # characters


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
    previous, new = _without_long_ids(previous), _without_long_ids(new)
    done = _with_counts((*previous.done, *new.done))  # calls that go were in no record before
    again = {_key(entry) for entry in new.done}
    told = again | {_key(entry) for entry in new.failed}
    failed = [e for e in previous.failed if not _is_told(e, told)]
    # Ids recur: another call under the id of one that nobody answered says nothing of that one.
    waits = [e for e in previous.open if not _is_told(e, told) and e not in new.open]
    record = Record(new.standing, tuple(done), (*failed, *new.failed), (*waits, *new.open))
    return _fitted_actions(record, budget)._replace(
        values=fitted_values(
            merged_values(previous.values, new.values), budget.values, budget.count
        )
    )


def _without_long_ids(record: Record) -> Record:
    """Return a record without call ids that take more room than a value.

    They name nothing outside of the history; only what is open has to be known by them again.
    """

    def each(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        return tuple(e._replace(call="") if len(e.call) > _LONGEST_ID else e for e in entries)

    return record._replace(done=each(record.done), failed=each(record.failed))


def _key(entry: Entry) -> tuple[str, tuple[Field, ...] | None]:
    return entry.name, entry.arguments


def _is_told(entry: Entry, told: Collection[object]) -> bool:
    """Return whether what has come since is of the same call, for certain."""
    return _key(entry) in told and not is_cut(entry.arguments or ())


# --- what was done ------------------------------------------------------------------------------


def _with_counts(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries with one for all calls that say the same, where the newest of them stands."""
    found: dict[object, Entry] = {}
    for entry in entries:
        key: object = (_key(entry), entry.values) if entry.arguments is not None else entry.name
        before = found.pop(key, None)
        if before is not None:
            entry = counted_together((before, entry))
        found[key] = entry
    counts = [e for e in found.values() if e.arguments is None]
    return counts + [e for e in found.values() if e.arguments is not None]


def counted_together(entries: Sequence[Entry], shared: Collection[str] = ()) -> Entry:
    """Return one entry for several calls of one tool, oldest first.

    Where they say the same it is the newest, with their number. Else what they say is given up
    for their number and the first and the last id among it.

    Args:
        entries: The calls.
        shared: Ids that other calls have too, as that of a user: they name a call last of all.
            So do those that several of `entries` have.
    """
    last = entries[-1]
    number = sum(entry.calls for entry in entries)
    if last.arguments is not None and len({(_key(e), e.values) for e in entries}) == 1:
        return last._replace(calls=number)
    shared = _shared(entries).union(shared)
    ids = [field for entry in entries if (field := _id_of(entry, shared)) is not None]
    named: tuple[Field, ...] = ()
    if ids:
        ids = [field for field in ids if field.label == ids[-1].label]
        first, latest = ids[0].text.partition(_TO)[0], ids[-1].text.rpartition(_TO)[2]
        text = first if first == latest else f"{first}{_TO}{latest}"
        named = (Field(ids[-1].label, text),)
    return Entry(last.name, None, named, calls=number, unsure=all(e.unsure for e in entries))


_TO = " ... "


def _id_of(entry: Entry, shared: Collection[str]) -> Field | None:
    """Return the value that names a call best: an id of its result, else of its arguments.

    What stands in a list of its result, and what other calls have too, names it last of all.
    """
    if entry.arguments is None:
        return entry.values[0] if entry.values else None
    given = frozenset(field.label for field in entry.arguments)
    found = list(_ids_of(entry))
    return min(
        found,
        key=lambda f: (f.text in shared, f.label not in given and is_in_a_list(f.label)),
        default=None,
    )


def _ids_of(entry: Entry) -> Iterator[Field]:
    for field in (*entry.values, *(entry.arguments or ())):
        found = values(field.text)
        if found and found[0].kind in ("id", "hash", "url", "path"):
            yield Field(field.label, found[0].text)
        elif field.text.isdigit() and field.label:
            yield field._replace(was="")


def _shared(entries: Iterable[Entry]) -> set[str]:
    """Return the ids that several entries have."""
    counts = Counter(text for entry in entries for text in {f.text for f in _ids_of(entry)})
    return {text for text, number in counts.items() if number > 1}


def _fitted_actions(record: Record, budget: Budget) -> Record:
    """Return a record whose actions fit: old failures go first, then what is done is counted.

    Before that go the call ids of what is done, its texts of many words, and most of what came of
    it. What is done goes last of all, and the tools that were called most rarely of late first.
    """
    room = budget.actions

    def size() -> int:
        return budget.count(rendered(record._replace(standing=(), values=())))

    if size() <= room:
        return record
    # An id of a call takes as much room as a value, and names nothing outside of the history.
    done = tuple(_with_counts(e._replace(call="") for e in record.done))
    record = record._replace(done=done)
    if (over := size() - room) <= 0:
        return record
    shared = _shared(done)
    for less in (_without_long_texts, partial(_with_one_value, shared=shared)):
        record = record._replace(done=_each(less, record.done, over, budget.count))
        if (over := size() - room) <= 0:
            return record
    record = record._replace(
        failed=_newest(record.failed, room, budget.count),
        open=_newest(record.open, room, budget.count),
    )
    over = size() - room
    while over > 0 and record.done:
        record = record._replace(done=_smaller(record.done, over, shared, budget.count))
        over = size() - room
    while over > 0 and (record.failed or record.open):
        record = record._replace(failed=record.failed[1:], open=record.open[1:])
        over = size() - room
    return record


def _each(
    less: Callable[[Entry], Entry],
    entries: Sequence[Entry],
    over: int,
    count: Callable[[str], int],
) -> tuple[Entry, ...]:
    """Return entries with less in them, oldest first, until `over` tokens are gone."""
    made = list(entries)
    for place, entry in enumerate(entries):
        if over <= 0:
            break
        made[place] = less(entry)
        if made[place] is not entry:
            over -= _size(entry, count) - _size(made[place], count)
    return tuple(_with_counts(made))


def _without_long_texts(entry: Entry) -> Entry:
    """Return an entry without texts of many words, where something else names the call."""
    given = [field for field in entry.arguments or () if field.text != CUT]
    short = [field for field in given if not is_long(field.text)]
    if not short or len(short) == len(given):
        return entry
    return entry._replace(arguments=(*short, Field("", CUT)))


def _with_one_value(entry: Entry, shared: Collection[str]) -> Entry:
    """Return an entry with how the call went, and one more value, where its arguments name it.

    An id that other calls have too is no such value, nor is what stands in a list.
    """
    if not entry.arguments:
        return entry
    others = (f for f in entry.values if not (f.text in shared or is_in_a_list(f.label)))
    other = next((field for field in others if not says_how_it_went(field)), None)
    values = tuple(f for f in entry.values if f is other or says_how_it_went(f))
    return entry._replace(values=values) if len(values) < len(entry.values) else entry


def _newest(
    entries: tuple[Entry, ...], room: int, count: Callable[[str], int]
) -> tuple[Entry, ...]:
    """Return the newest entries that fit into a quarter of the room, the last one into a third.

    Without the last one a call that has just failed would read as one that was never made.
    """
    left, share = len(entries), room // 4
    while left and (share := share - _size(entries[left - 1], count)) >= 0:
        left -= 1
    if entries and left == len(entries) and _size(entries[-1], count) <= room // 3:
        left -= 1
    return entries[left:]


def _size(entry: Entry, count: Callable[[str], int]) -> int:
    return count(f"- {line(entry)}\n")


def _smaller(
    done: tuple[Entry, ...], over: int, shared: Collection[str], count: Callable[[str], int]
) -> tuple[Entry, ...]:
    """Return entries that take less room by about `over` tokens, and at least one fewer."""
    counts = {e.name: e for e in done if e.arguments is None}
    singles = [e for e in done if e.arguments is not None]
    if not singles:
        return done[1:]
    taken = 0
    while taken < len(singles) and (over > 0 or not taken):
        entry = singles[taken]
        before = counts.pop(entry.name, None)
        joint = counted_together(
            [before, entry] if before else [Entry(entry.name, None, calls=0), entry], shared
        )
        over -= _size(entry, count) - _size(joint, count) + (_size(before, count) if before else 0)
        counts[entry.name] = joint
        taken += 1
    return (*counts.values(), *singles[taken:])


# --- values -------------------------------------------------------------------------------------


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
    found = {_key(entry): entry for entry in previous}
    for entry in new:
        before = found.pop(_key(entry), None)
        if before is not None:
            entry = _updated(before, entry) if is_certain(entry) else _beside(before, entry)
        found[_key(entry)] = entry
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


def names_a_thing(text: str) -> bool:
    """Return whether a text holds a value that says by itself what it is, such as an id."""
    return any(value.kind in THINGS for value in values(text))


def is_in_a_list(label: str) -> bool:
    """Return whether a label names a place in a list, which may hold another thing next time."""
    return any(step.isdigit() for step in label.split("."))


SAID_BY_USER = "user"
"""Who says what goes last: nobody else can give it again."""


def fitted_values(
    entries: Sequence[Entry], room: int, count: Callable[[str], int]
) -> tuple[Entry, ...]:
    """Return the entries that fit, cut value by value where there are most, the oldest first.

    Of forty order numbers one is missed less than the only address, so the tool or author with
    the most room gives first. What the user said goes last, but takes no more than half of the
    room while others want it.
    """
    left = list(entries)
    while left and (over := count(rendered(Record(values=tuple(left)))) - room) > 0:
        left = _smaller_values(left, over, room, count)
    return tuple(left)


def _smaller_values(
    entries: list[Entry], over: int, room: int, count: Callable[[str], int]
) -> list[Entry]:
    """Return entries without about `over` tokens of values, at least one of them."""
    costs = {name: [*reversed(found)] for name, found in _costs(entries, count).items()}
    sizes = {name: sum(cost for cost, _ in found) for name, found in costs.items()}
    newest = {entry.name: place for place, entry in enumerate(entries, 1)}

    def weight(name: str) -> int:
        if name == SAID_BY_USER and len(sizes) > 1 and sizes[name] <= room // 2:
            return 0
        return sizes[name]

    waiting = [(-weight(name), newest[name], name) for name in sizes]
    heapify(waiting)
    gone: dict[int, int] = {}
    while over > 0 and waiting:
        _, at, name = heappop(waiting)
        cost, place = costs[name].pop()
        gone[place] = gone.get(place, 0) + 1
        over -= cost
        sizes[name] -= cost
        if costs[name]:
            heappush(waiting, (-weight(name), at, name))
        else:
            del sizes[name]
    cut = [e._replace(values=e.values[gone.get(n, 0) :]) for n, e in enumerate(entries)]
    return [entry for entry in cut if entry.values]


def _costs(
    entries: Sequence[Entry], count: Callable[[str], int]
) -> dict[str, list[tuple[int, int]]]:
    """Return the tokens of the values of every name, oldest first, and where their entries are.

    With the last value of an entry goes its line.
    """
    costs: dict[str, list[tuple[int, int]]] = {}
    for place, entry in enumerate(entries):
        found = costs.setdefault(entry.name, [])
        for field in entry.values[:-1]:
            found.append((max(1, count(f"{field.label}={field.text}, ")), place))
        found.append((max(1, _size(entry._replace(values=entry.values[-1:]), count)), place))
    return costs
