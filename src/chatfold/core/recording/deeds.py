"""What was done, failed and is open within a budget: shorter, then counted together.

Not here: how several calls are one entry (`counted`), what of it is new (`actions`), what holds of
an earlier record (`carry`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Sequence
from functools import partial
from typing import Final, TypeAlias

from chatfold.core.call_json import CUT
from chatfold.core.call_words import is_long
from chatfold.core.entries import Entry, Field, is_in_a_list, line
from chatfold.core.outcomes import is_unclear, says_how_it_went, tells_of_doubt
from chatfold.core.record import Record, rendered
from chatfold.core.recording.counted import (
    Alike,
    Shared,
    counted_together,
    counted_with,
    how_it_went,
    shared_ids,
    with_counts,
    with_fewer_arguments,
    with_fewer_names,
    with_newest_names,
    with_reason,
    without_names,
)
from chatfold.core.recording.unlike import unlike_others

__all__ = ["fitted_actions", "line_size"]

_Count: TypeAlias = Callable[[str], int]
_Done: TypeAlias = tuple[Entry, ...]
_Less: TypeAlias = Callable[[Entry, Callable[[Entry], bool]], Entry]

_SHARE: Final = 3  # a third of the room stays for calls in full, another for names of the others


def fitted_actions(record: Record, room: int, count: _Count) -> Record:
    """Return a record whose actions fit.

    First go the call ids of what is done, its texts of many words, and most of what came of it.
    Then calls of one tool are counted together, with what names each of them; then old failures
    and old open calls are, each among its like, and one that is alone of its kind has less of what
    it was given, but why it failed; then most of the names of what is done go. Of each, calls that
    may have changed nothing go before those that surely did something. What is done goes last of
    all, and the tools that were called most rarely of late first: the ids beside their numbers, and
    then that they were called. A call that answered unlike the others of its tool stands alone as
    long as it may.
    """

    def over() -> int:
        return count(rendered(record._replace(standing=(), values=()))) - room

    if over() <= 0:
        return record
    # An id of a call takes as much room as a value, and names nothing outside of the history.
    record = record._replace(done=tuple(with_counts(e._replace(call="") for e in record.done)))
    shared = shared_ids(record.done)
    alone = _newest_in(room // _SHARE, unlike_others(record.done), count)
    shorter = _Counting(shared, room // _SHARE, count, alone, others=(*record.failed, *record.open))
    for less in (_without_long_texts, partial(_with_one_value, shared=shared)):
        if (more := over()) > 0:
            record = record._replace(done=_each(less, record.done, more, count, alone))
    if (more := over()) > 0:
        record = record._replace(done=shorter.counted(record.done, more))
    if (more := over()) > 0 and record.failed:
        failed = shorter.newest(record.failed, room, more, with_fewer_arguments)
        record = record._replace(failed=failed)
    if (more := over()) > 0 and record.open:
        # Nobody answered them: a result may come under their ids, and each says no more than that.
        left = shorter.newest(record.open, room, more, _without_values)
        record = record._replace(open=left)
    while (more := over()) > 0 and record.done:
        record = record._replace(done=shorter.less(record.done, more))
    while over() > 0 and (record.failed or record.open):
        record = record._replace(failed=record.failed[1:], open=record.open[1:])
    return record


def _newest_in(room: int, entries: Sequence[Entry], count: _Count) -> frozenset[Entry]:
    """Return the newest of some entries that have room together."""
    found: set[Entry] = set()
    for entry in reversed(entries):
        room -= line_size(entry, count)
        if room < 0:
            break
        found.add(entry)
    return frozenset(found)


def _each(
    less: Callable[[Entry], Entry],
    entries: Sequence[Entry],
    over: int,
    count: _Count,
    but: Collection[Entry] = (),
) -> _Done:
    """Return entries with less in them, oldest first, until `over` tokens are gone."""
    made = list(entries)
    for place, entry in enumerate(entries):
        if over <= 0:
            break
        made[place] = entry if entry in but else less(entry)
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


def _with_one_value(entry: Entry, shared: Shared) -> Entry:
    """Return an entry with how the call went, and one more value, where its arguments name it.

    An id that other calls have too is no such value, nor is what stands in a list. What says in
    words that it may have changed nothing is told of how it went.
    """
    if not entry.arguments:
        return entry
    others = [f for f in entry.values if not (shared.has(f, entry) or is_in_a_list(f.label))]
    doubt = next((field for field in others if tells_of_doubt(field, entry.name)), None)
    other = next((f for f in others if f is not doubt and not says_how_it_went(f)), None)
    values = tuple(f for f in entry.values if f in (other, doubt) or says_how_it_went(f))
    return entry._replace(values=values) if len(values) < len(entry.values) else entry


def line_size(entry: Entry, count: _Count) -> int:
    """Return the size of an entry's line in tokens."""
    return count(f"- {line(entry)}\n")


class _Counting:
    """Makes what was done shorter by counting calls of a tool together.

    Args:
        shared: Ids that several calls have.
        part: Tokens that calls in full are left with, as long as names of others may give more;
            and those names, as long as calls in full may.
        count: Returns the size of a text in tokens.
        alone: Calls that answered unlike the others of their tools, which are counted last.
        others: Calls that were not done: of their tools no range of what was done is written, as it
            would seem to hold them.
    """

    def __init__(
        self,
        shared: Shared,
        part: int,
        count: _Count,
        alone: frozenset[Entry],
        others: Sequence[Entry],
    ) -> None:
        self._shared = shared
        self._part = part
        self._count = count
        self._alone = alone
        self._others = frozenset(entry.name for entry in others)

    def newest(self, entries: _Done, room: int, over: int, single: _Less) -> _Done:
        """Return what fits into a quarter of the room: the newest in full, counts of the others.

        The last one may take a third, and has its like counted without names then. Without it a
        call that has just failed would read as one that was never made. Where there are others
        that are alone of their tools, so may all together, and take what else is left of the room.

        Args:
            entries: The calls, oldest first.
            room: Tokens of the whole room.
            over: Tokens that are to go.
            single: Makes one shorter that is alone of its tool.
        """
        whole = self._count("".join(f"- {line(e)}\n" for e in entries))
        spare = max(0, whole - over - room // 4)
        at, left = len(entries), room // 4
        while at and (left := left - line_size(entries[at - 1], self._count)) >= 0:
            at -= 1
        if not at:
            return entries
        at, left = len(entries), room // 6
        while at and entries[at - 1].arguments is not None:
            size = line_size(entries[at - 1], self._count)
            is_last = at == len(entries) and size <= room // 3
            if size > left and not is_last:
                break
            at, left = at - 1, left - size
        others: dict[Alike, list[Entry]] = {}
        for entry in entries[:at]:
            others.setdefault(counted_with(entry), []).append(entry)
        counts = [counted_together(alike, self._shared) for alike in others.values()]
        if any(entry.arguments is not None for entry in counts):
            most = max(room // 3, room // 4 + spare)
            return self._shorter((*counts, *entries[at:]), most, single)
        free = room // 4 - sum(line_size(entry, self._count) for entry in entries[at:])
        return (*self._shorter(counts, free, single), *entries[at:])

    def _shorter(self, entries: Sequence[Entry], room: int, single: _Less) -> _Done:
        """Return calls that were not done with as much as fits, the newest first.

        Those that stand alone have less of what they were given before one loses its reason.
        """
        made, free = list(entries), room
        least = [line_size(_with_least(entry), self._count) for entry in made]
        over = sum(least) - room
        for place, entry in enumerate(made):
            if over <= 0:
                break  # the newest keep their reasons longest
            bare = Entry(entry.name, None, calls=entry.calls, unsure=entry.unsure)
            size = line_size(bare, self._count)
            over -= least[place] - size
            least[place] = size
        for place, entry in reversed([*enumerate(entries)]):
            fits = partial(self._fits, max(0, free - sum(least[:place])))
            made[place] = (with_newest_names if entry.arguments is None else single)(entry, fits)
            free -= line_size(made[place], self._count)
        return tuple(made)

    def less(self, done: _Done, over: int) -> _Done:
        """Return entries that take less room by about `over` tokens, and less in any case."""
        steps: tuple[Callable[[_Done, int], _Done], ...] = (
            self.counted,
            partial(self._with_fewer_names, left=self._part),
            partial(self.counted, left=0),
            partial(self.counted, left=0, alone=True, unsure=True),
            partial(self._with_fewer_names, unsure=True),
            partial(self.counted, left=0, alone=True, unsure=True, last=True),
            partial(self.counted, left=0, alone=True),
            self._with_fewer_names,
            partial(self.counted, left=0, alone=True, last=True),
            lambda done, over: _each(_nameless_if_unsure, done, over, self._count),
            lambda done, over: _each(_nameless, done, over, self._count),
        )
        made = (step(done, over) for step in steps)
        first = _first_to_go(done) or 0
        rest = (*done[:first], *done[first + 1 :])
        return next((shorter for shorter in made if shorter != done), rest)

    def counted(
        self,
        done: _Done,
        over: int,
        *,
        left: int | None = None,
        alone: bool = False,
        unsure: bool = False,
        last: bool = False,
    ) -> _Done:
        """Return entries with more of them counted together.

        Args:
            done: The entries: those of several calls first, the oldest first.
            over: Tokens that are to go.
            left: Tokens that calls in full are to be left with; by default a third of the room.
            alone: Whether those go, too, that are the only ones of their tools or may not have come
                about: the oldest of all. Else it is the oldest of the tool with the most room. Of
                either, what may have changed nothing goes first.
            unsure: Whether nothing else goes.
            last: Whether those go, too, that answered unlike the others of their tools.
        """
        stays: Collection[Entry] = () if last else self._alone
        counts = {counted_with(e): e for e in done if e.arguments is None}
        singles = [e for e in done if e.arguments is not None]
        sizes = [line_size(e, self._count) for e in singles]
        least = self._part if left is None else left
        while over > 0 and sum(sizes) > least:
            if alone:
                place = _first_to_go(singles, stays)
            else:
                place = _of_most_room(singles, sizes, counts, stays)
            if place is None or (unsure and not singles[place].unsure):
                break
            entry, size = singles.pop(place), sizes.pop(place)
            alike = counted_with(entry)
            before = counts.pop(alike, None)
            none = Entry(entry.name, None, how_it_went(entry), calls=0, unsure=entry.unsure)
            joint = counted_together([before or none, entry], self._shared)
            over -= size - line_size(joint, self._count)
            over -= line_size(before, self._count) if before else 0
            counts[alike] = joint
        return (*counts.values(), *singles)

    def _with_fewer_names(
        self, done: _Done, over: int, left: int = 0, *, unsure: bool = False
    ) -> _Done:
        """Return entries with fewer names of calls, where there are most, the oldest first.

        Args:
            done: The entries.
            over: Tokens that are to go.
            left: Tokens that the entries of several calls are to be left with.
            unsure: Whether only names of calls go that may have changed nothing.
        """
        made = list(done)
        sizes = [
            line_size(e, self._count) if e.arguments is None and e.unsure >= unsure else 0
            for e in made
        ]
        ways = Counter(name for name, *_ in set(map(counted_with, made)))
        while over > 0 and sum(sizes) > left:
            named = [
                n
                for n, e in enumerate(made)
                if sizes[n] and len(e.values) > 1 + len(how_it_went(e))
            ]
            if not named:
                break
            place = max(named, key=sizes.__getitem__)
            aim = max(sizes[place] - over, left - sum(sizes) + sizes[place])
            entry, fits = made[place], partial(self._fits, aim)
            # Those between two ids may have gone otherwise.
            if entry.name in self._others or ways[entry.name] > 1:
                made[place] = with_newest_names(entry, fits, least=1)
            else:
                made[place] = with_fewer_names(entry, fits)
            less = sizes[place] - line_size(made[place], self._count)
            over, sizes[place] = over - less, sizes[place] - less
        return tuple(made)

    def _fits(self, room: int, entry: Entry) -> bool:
        return line_size(entry, self._count) <= room


def _of_most_room(
    singles: Sequence[Entry],
    sizes: Sequence[int],
    counts: Container[Alike],
    stays: Collection[Entry],
) -> int | None:
    """Return the place of the oldest call of the tool with the most room; None where none may go.

    Those of its calls that may have changed nothing go before those that surely did something.

    Args:
        singles: The calls that stand in full.
        sizes: What each takes, in tokens.
        counts: What calls have in common that are counted already: one more takes but a name there.
        stays: Those that may not go.
    """
    tools: dict[str, dict[Alike, list[int]]] = {}
    for place, entry in enumerate(singles):
        if not is_unclear(entry.values) and entry not in stays:
            tools.setdefault(entry.name, {}).setdefault(counted_with(entry), []).append(place)
    rooms: list[tuple[int, int]] = []
    for kinds in tools.values():
        room = sum(sizes[place] for places in kinds.values() for place in places)
        may_go = [at for alike, at in kinds.items() if len(at) > 1 or alike in counts]
        if may_go:
            first = min(may_go, key=lambda places: not singles[places[0]].unsure)
            rooms.append((room, -first[0]))
    return -max(rooms)[1] if rooms else None


def _first_to_go(entries: Sequence[Entry], stays: Collection[Entry] = ()) -> int | None:
    """Return the place of the oldest that may have changed nothing, else of the oldest of all.

    None where all of them stay.
    """
    places = [place for place, entry in enumerate(entries) if entry not in stays]
    first = places[0] if places else None
    return next((place for place in places if entries[place].unsure), first)


def _with_least(entry: Entry) -> Entry:
    """Return an entry of what was not done with the least that says more than that it was not."""
    return _nameless(entry) if entry.arguments is None else with_reason(entry)


def _without_values(entry: Entry, is_short: Callable[[Entry], bool]) -> Entry:
    return entry if is_short(entry) else _nameless(entry)


def _nameless_if_unsure(entry: Entry) -> Entry:
    return _nameless(entry) if entry.unsure else entry


def _nameless(entry: Entry) -> Entry:
    return entry._replace(values=()) if entry.arguments is not None else without_names(entry)
