"""What was done, failed and is open within a budget: shorter, then counted together.

Not here: what of it is new (`actions`), what holds of an earlier record (`carry`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from chatfold.core.call_json import CUT
from chatfold.core.call_words import is_long
from chatfold.core.entries import Entry, Field, is_in_a_list, line
from chatfold.core.outcomes import says_how_it_went
from chatfold.core.record import Record, rendered
from chatfold.core.values import values

__all__ = ["call_of", "counted_together", "fitted_actions", "line_size", "with_counts"]


def call_of(entry: Entry) -> tuple[str, tuple[Field, ...] | None]:
    """Return what entries of one call have in common: its tool and its arguments."""
    return entry.name, entry.arguments


def with_counts(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries with one for all calls that say the same, where the newest of them stands."""
    found: dict[object, Entry] = {}
    for entry in entries:
        key: object = (call_of(entry), entry.values) if entry.arguments is not None else entry.name
        before = found.pop(key, None)
        if before is not None:
            entry = counted_together((before, entry))
        found[key] = entry
    counts = [e for e in found.values() if e.arguments is None]
    return counts + [e for e in found.values() if e.arguments is not None]


class _Shared(NamedTuple):
    """Ids that several calls have, as that of a user: they name a call last of all.

    The id of what a call made does name it, though later calls are given that.

    Attributes:
        given: Those that stand among what calls were given.
        made: Those that stand among what came of them.
    """

    given: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()

    def has(self, field: Field, entry: Entry) -> bool:
        """Return whether a value of an entry is one of them, where it stands in the entry."""
        return field.text in (self.made if _is_made(field.text, entry) else self.given)


def counted_together(entries: Sequence[Entry], shared: _Shared = _Shared()) -> Entry:  # noqa: B008 - a value
    """Return one entry for several calls of one tool, oldest first.

    Where they say the same it is the newest, with their number. Else what they say is given up
    for their number and the first and the last id among it.

    Args:
        entries: The calls.
        shared: Ids that other calls have too. So are those that several of `entries` have.
    """
    last = entries[-1]
    number = sum(entry.calls for entry in entries)
    if last.arguments is not None and len({(call_of(e), e.values) for e in entries}) == 1:
        return last._replace(calls=number)
    own = _shared(entries)
    shared = _Shared(own.given | shared.given, own.made | shared.made)
    ids = [field for entry in entries if (field := _id_of(entry, shared)) is not None]
    named: tuple[Field, ...] = ()
    if ids:
        ids = [field for field in ids if field.label == ids[-1].label]
        first, latest = ids[0].text.partition(_TO)[0], ids[-1].text.rpartition(_TO)[2]
        text = first if first == latest else f"{first}{_TO}{latest}"
        named = (Field(ids[-1].label, text),)
    return Entry(last.name, None, named, calls=number, unsure=all(e.unsure for e in entries))


_TO = " ... "


def _id_of(entry: Entry, shared: _Shared) -> Field | None:
    """Return the value that names a call best: an id of its result, else of its arguments.

    What stands in a list of its result, and what other calls have too, names it last of all.
    """
    if entry.arguments is None:
        return entry.values[0] if entry.values else None
    given = frozenset(field.label for field in entry.arguments)
    found = list(_ids_of(entry))
    return min(
        found,
        key=lambda f: (shared.has(f, entry), f.label not in given and is_in_a_list(f.label)),
        default=None,
    )


def _ids_of(entry: Entry) -> Iterator[Field]:
    for field in (*entry.values, *(entry.arguments or ())):
        found = values(field.text)
        if found and found[0].kind in ("id", "hash", "url", "path"):
            yield Field(field.label, found[0].text)
        elif field.text.isdigit() and field.label:
            yield field._replace(was="")


def _is_made(text: str, entry: Entry) -> bool:
    """Return whether an id stands among what came of a call, and not in what it was given."""
    return not any(text in given.text for given in entry.arguments or ())


def _shared(entries: Iterable[Entry]) -> _Shared:
    """Return the ids that several of some entries have, of which the oldest comes first."""
    counts: Counter[str] = Counter()
    made: set[str] = set()
    for entry in entries:
        for text in {field.text for field in _ids_of(entry)}:
            if text in counts and _is_made(text, entry):
                made.add(text)
            counts[text] += 1
    return _Shared(frozenset(t for t, number in counts.items() if number > 1), frozenset(made))


def fitted_actions(record: Record, room: int, count: Callable[[str], int]) -> Record:
    """Return a record whose actions fit: old failures go first, then what is done is counted.

    Before that go the call ids of what is done, its texts of many words, and most of what came of
    it. What is done goes last of all, and the tools that were called most rarely of late first:
    the ids beside their numbers, and then that they were called.
    """

    def size() -> int:
        return count(rendered(record._replace(standing=(), values=())))

    if size() <= room:
        return record
    # An id of a call takes as much room as a value, and names nothing outside of the history.
    done = tuple(with_counts(e._replace(call="") for e in record.done))
    record = record._replace(done=done)
    if (over := size() - room) <= 0:
        return record
    shared = _shared(done)
    for less in (_without_long_texts, partial(_with_one_value, shared=shared)):
        record = record._replace(done=_each(less, record.done, over, count))
        if (over := size() - room) <= 0:
            return record
    record = record._replace(
        failed=_newest(record.failed, room, count),
        open=_newest(record.open, room, count),
    )
    over = size() - room
    while over > 0 and record.done:
        record = record._replace(done=_smaller(record.done, over, shared, count))
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
            over -= line_size(entry, count) - line_size(made[place], count)
    return tuple(with_counts(made))


def _without_long_texts(entry: Entry) -> Entry:
    """Return an entry without texts of many words, where something else names the call."""
    given = [field for field in entry.arguments or () if field.text != CUT]
    short = [field for field in given if not is_long(field.text)]
    if not short or len(short) == len(given):
        return entry
    return entry._replace(arguments=(*short, Field("", CUT)))


def _with_one_value(entry: Entry, shared: _Shared) -> Entry:
    """Return an entry with how the call went, and one more value, where its arguments name it.

    An id that other calls have too is no such value, nor is what stands in a list.
    """
    if not entry.arguments:
        return entry
    others = (f for f in entry.values if not (shared.has(f, entry) or is_in_a_list(f.label)))
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
    while left and (share := share - line_size(entries[left - 1], count)) >= 0:
        left -= 1
    if entries and left == len(entries) and line_size(entries[-1], count) <= room // 3:
        left -= 1
    return entries[left:]


def line_size(entry: Entry, count: Callable[[str], int]) -> int:
    """Return the size of an entry's line in tokens."""
    return count(f"- {line(entry)}\n")


def _smaller(
    done: tuple[Entry, ...], over: int, shared: _Shared, count: Callable[[str], int]
) -> tuple[Entry, ...]:
    """Return entries that take less room by about `over` tokens, and less in any case."""
    counts = {e.name: e for e in done if e.arguments is None}
    singles = [e for e in done if e.arguments is not None]
    if not singles:
        nameless = _each(lambda entry: entry._replace(values=()), done, over, count)
        return nameless if nameless != done else done[1:]
    taken = 0
    while taken < len(singles) and (over > 0 or not taken):
        entry = singles[taken]
        before = counts.pop(entry.name, None)
        joint = counted_together(
            [before, entry] if before else [Entry(entry.name, None, calls=0), entry], shared
        )
        over -= (
            line_size(entry, count)
            - line_size(joint, count)
            + (line_size(before, count) if before else 0)
        )
        counts[entry.name] = joint
        taken += 1
    return (*counts.values(), *singles[taken:])
