"""Two records as one, within a budget, over any number of folds.

What is newer replaces what is older of the same; what does not fit goes by age, and what the user
said goes last. Not here: what a fold adds (`actions`, `ledger`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chatfold.core.entries import Entry, Field, line
from chatfold.core.record import Record, rendered
from chatfold.core.values import values

__all__ = ["SAID_BY_USER", "Budget", "counted_together", "fitted_values", "merged", "merged_values"]


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
    call that was made again with success is no longer failed or open; the same call is not named
    twice. To merge the same twice is to merge it once, as long as nothing had to be counted.

    Args:
        previous: The earlier record.
        new: What has come since, in the order of time.
        budget: How large the parts may be.
    """
    known = _with_counts(previous.done)
    done = _with_counts((*known, *_unknown_to(known, _with_counts(new.done))))
    again = {_key(entry) for entry in new.done}
    told = again | {_key(entry) for entry in new.failed}
    answered = {entry.call for entry in (*new.done, *new.failed) if entry.call}
    failed = [e for e in previous.failed if _key(e) not in told]
    waits = [
        e
        for e in previous.open
        if _key(e) not in told and e.call not in answered and e not in new.open
    ]
    record = Record(new.standing, tuple(done), (*failed, *new.failed), (*waits, *new.open))
    return _fitted_actions(record, budget)._replace(
        values=fitted_values(
            merged_values(previous.values, new.values), budget.values, budget.count
        )
    )


def _key(entry: Entry) -> tuple[str, tuple[Field, ...] | None]:
    return entry.name, entry.arguments


# --- what was done ------------------------------------------------------------------------------


def _unknown_to(known: Sequence[Entry], new: Sequence[Entry]) -> list[Entry]:
    """Return the entries that an earlier record does not hold, with whatever number of calls."""
    same = {entry._replace(calls=1) for entry in known}
    return [entry for entry in new if entry._replace(calls=1) not in same]


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


def counted_together(entries: Sequence[Entry]) -> Entry:
    """Return one entry for several calls of one tool, oldest first.

    Where they say the same it is the newest, with their number. Else what they say is given up
    for their number and the first and the last id among it.
    """
    last = entries[-1]
    number = sum(entry.calls for entry in entries)
    if last.arguments is not None and len({(_key(e), e.values) for e in entries}) == 1:
        return last._replace(calls=number)
    ids = [field for entry in entries if (field := _id_of(entry)) is not None]
    named: tuple[Field, ...] = ()
    if ids:
        first, latest = ids[0].text.partition(_TO)[0], ids[-1].text.rpartition(_TO)[2]
        text = first if first == latest else f"{first}{_TO}{latest}"
        named = (Field(ids[-1].label, text),)
    return Entry(last.name, None, named, calls=number, unsure=all(e.unsure for e in entries))


_TO = " ... "


def _id_of(entry: Entry) -> Field | None:
    """Return the value that names a call best: an id of its result, else of its arguments."""
    if entry.arguments is None:
        return entry.values[0] if entry.values else None
    for field in (*entry.values, *entry.arguments):
        found = values(field.text)
        if found and found[0].kind in ("id", "hash", "url", "path"):
            return Field(field.label, found[0].text)
        if field.text.isdigit() and field.label:
            return Field(field.label, field.text)
    return None


def _fitted_actions(record: Record, budget: Budget) -> Record:
    """Return a record whose actions fit: old failures go first, then what is done is counted.

    What is done goes last of all, and the tools that were called most rarely of late first.
    """
    room = budget.actions

    def size() -> int:
        return budget.count(rendered(record._replace(standing=(), values=())))

    if size() <= room:
        return record
    share = room // 4
    record = record._replace(
        failed=_newest(record.failed, share, budget.count),
        open=_newest(record.open, share, budget.count),
    )
    over = size() - room
    while over > 0 and record.done:
        record = record._replace(done=_smaller(record.done, over, budget.count))
        over = size() - room
    while over > 0 and (record.failed or record.open):
        record = record._replace(failed=record.failed[1:], open=record.open[1:])
        over = size() - room
    return record


def _newest(
    entries: tuple[Entry, ...], room: int, count: Callable[[str], int]
) -> tuple[Entry, ...]:
    """Return the newest entries that fit."""
    left = len(entries)
    while left and (room := room - _size(entries[left - 1], count)) >= 0:
        left -= 1
    return entries[left:]


def _size(entry: Entry, count: Callable[[str], int]) -> int:
    return count(f"- {line(entry)}\n")


def _smaller(done: tuple[Entry, ...], over: int, count: Callable[[str], int]) -> tuple[Entry, ...]:
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
            [before, entry] if before else [Entry(entry.name, None, calls=0), entry]
        )
        over -= _size(entry, count) - _size(joint, count) + (_size(before, count) if before else 0)
        counts[entry.name] = joint
        taken += 1
    return (*counts.values(), *singles[taken:])


# --- values -------------------------------------------------------------------------------------


def merged_values(previous: Sequence[Entry], new: Sequence[Entry]) -> list[Entry]:
    """Return one entry for each call and author, those with something new last."""
    found = {_key(entry): entry for entry in previous}
    for entry in new:
        before = found.pop(_key(entry), None)
        found[_key(entry)] = entry if before is None else _updated(before, entry)
    return list(found.values())


def _updated(before: Entry, entry: Entry) -> Entry:
    """Return an entry with newer values behind or in place of the older ones."""
    fields: dict[str, Field] = {f.label or f"\\0{f.text}": f for f in before.values}
    for field in entry.values:
        key = field.label or f"\\0{field.text}"
        known = fields.pop(key, None)
        if known is not None and not field.was and not _in_a_list(field.label):
            field = field._replace(was=known.was if known.text == field.text else known.text)
        fields[key] = field
    return entry._replace(values=tuple(fields.values()))


def _in_a_list(label: str) -> bool:
    """Return whether a label names a place in a list, which may hold another thing next time."""
    return any(step.isdigit() for step in label.split("."))


SAID_BY_USER = "user"
"""Who says what goes last: nobody else can give it again."""


def fitted_values(
    entries: Sequence[Entry], room: int, count: Callable[[str], int]
) -> tuple[Entry, ...]:
    """Return the entries that fit, cut value by value from the oldest.

    What the user said goes last, but takes no more than half of the room while others want it.
    """
    left: tuple[Entry, ...] = tuple(entries)
    while left and (over := count(rendered(Record(values=left))) - room) > 0:
        of_user = [e for e in left if e.name == SAID_BY_USER]
        others = [e for e in left if e.name != SAID_BY_USER]
        large = sum(_size(e, count) for e in of_user) - room // 2
        if of_user and (large > 0 or not others):
            of_user = _without_oldest(of_user, min(over, large) if others else over, count)
        else:
            others = _without_oldest(others, over, count)
        kept = {_key(e): e for e in (*of_user, *others)}
        left = tuple(kept[_key(e)] for e in left if _key(e) in kept)
    return left


def _without_oldest(entries: list[Entry], over: int, count: Callable[[str], int]) -> list[Entry]:
    """Return entries without the oldest values, about `over` tokens of them, at least one."""
    for place, entry in enumerate(entries):
        for taken, field in enumerate(entry.values, 1):
            over -= max(1, count(f"{field.label}={field.text}, "))
            if over <= 0 and taken < len(entry.values):
                return [entry._replace(values=entry.values[taken:]), *entries[place + 1 :]]
        over -= _size(entry._replace(values=()), count)
        if over <= 0:
            return entries[place + 1 :]
    return []
