"""The calls of a head that a later model has to know of: done, failed, given up.

Not here: whether a tool changes things (`effects`), how long such lists may grow (`deeds`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from chatfold.core.call_words import CallWords, is_cut
from chatfold.core.calls import ToolCallRecord
from chatfold.core.effects import Effect, effect_of, effect_of_call, reads_by_name
from chatfold.core.effects.given import may_say
from chatfold.core.entries import Entry, Field, line
from chatfold.core.record import Record
from chatfold.core.recording.counted import Alike, counted_together, how_it_went, with_ends
from chatfold.core.recording.unlike import said_by, unlike

__all__ = ["NO_RESULT", "Actions", "actions_of", "settled"]

NO_RESULT = "no result recorded"
_MOST_ALONE: Final = 8  # old calls that stand in full because of what they answered


class Actions(NamedTuple):
    """The actions among calls that go.

    Attributes:
        done: Those that changed something, oldest first.
        failed: Those that failed and were not made again with success, or were not approved.
        open: Those that nobody answered.
        guessed: Names of the tools whose effect was guessed.
        written: Positions in the calls of those that changed something, or may have.
    """

    done: tuple[Entry, ...]
    failed: tuple[Entry, ...]
    open: tuple[Entry, ...]
    guessed: tuple[str, ...]
    written: frozenset[int]


def actions_of(
    words: CallWords,
    gone: Sequence[int],
    effects: Mapping[str, Effect],
    *,
    earlier: Sequence[Entry] = (),
    listed: int,
    room: int,
) -> Actions:
    """Return the actions among some calls.

    A call of a tool whose effect nobody knows is among those done, marked as unsure: to do a thing
    twice costs more than a line that was not needed. A failed call counts unless its tool only
    reads; one that nobody answered counts in any case. So does one that a user turned down when
    asked for approval; what he approved is told by the call that was made then.

    Args:
        words: The words of all calls.
        gone: Positions of the calls that go, in order.
        effects: What the caller says of tools, by name.
        earlier: Calls that were open in an earlier record; a result without a call answers them.
        listed: Number of the calls that the list holds; behind them come those of notes.
        room: Characters that the lines of what is done may have; what is older is only counted.
    """
    writer = _Writer(words, _answered(earlier, words, gone, listed))
    done: list[int] = []
    failed: list[int] = []
    waiting: list[int] = []
    guessed: dict[str, None] = {}
    seen: set[str | None] = set()
    reads: set[_Tool] = set()  # tools that only read, by all that they are given
    told_more = _told_more([words.calls[number] for number in gone])
    for number in gone:
        call = words.calls[number]
        tool = call.name, call.kind, call.namespace
        if tool in reads and call.completed and call.call_index is not None:
            continue  # as most are
        answers_to = writer.answered.get(number)
        if call.kind == "approval" or (call.call_index is None and answers_to is None):
            continue
        name = call.qualified_name
        if answers_to is None:
            effect, guess = effect_of_call(call, effects)
            only_reads = effect == "read" and tool not in told_more
            if only_reads and reads_by_name(call.name, call.kind, effects, call.namespace):
                reads.add(tool)
        else:
            name = answers_to.name
            given = [{field.key: field.text} for field in answers_to.arguments or ()]
            effect, guess = effect_of(name, effects, given)
        if guess and name not in seen:
            seen.add(name)
            guessed.setdefault(writer.name(number))
        if not call.completed:
            waiting.append(number)
        elif effect != "read":
            (done if writer.failure(number) is None else failed).append(number)
            if effect == "unknown":
                writer.unsure.add(number)
    names = {writer.name(number) for number in failed}
    same = (number for number in (*failed, *done) if writer.name(number) in names) if names else ()
    last = {writer.again(number): number for number in same}
    lost = [n for n in failed if n >= last[writer.again(n)]]
    lost = sorted((*lost, *_turned_down(writer, gone)))
    return Actions(
        done=writer.done(done, room, {writer.name(n) for n in (*lost, *waiting)}),
        failed=tuple(writer.entry(n, (Field("", writer.failure(n) or ""),)) for n in lost),
        open=tuple(writer.entry(n, (Field("", NO_RESULT),)) for n in waiting),
        guessed=tuple(guessed),
        written=frozenset(done),
    )


def _turned_down(writer: _Writer, gone: Sequence[int]) -> list[int]:
    """Return the requests for approval that were denied, and of which nothing has come later.

    An answer alone does not say to what: a provider that holds the history has the request.
    """
    calls = writer.words.calls
    denied = [
        number
        for number in gone
        if calls[number].kind == "approval"
        and calls[number].status == "failed"
        and calls[number].call_index is not None
    ]
    if not denied:
        return denied
    last = {writer.again(n): n for n in gone if n >= denied[0] and calls[n].completed}
    return [number for number in denied if last[writer.again(number)] == number]


_Tool: TypeAlias = tuple[str | None, str, str | None]
"""The name of a tool, the kind of its calls, and where it lives."""


def _told_more(calls: Sequence[ToolCallRecord]) -> set[_Tool]:
    """Return the tools of which some call is given what may make it a write, by a quick look.

    All texts are looked through at once: to look at each of thousands takes five times as long.
    """
    if not may_say("\n".join(call.raw_arguments for call in calls)):
        return set()
    given: dict[_Tool, list[str]] = {}
    for call in calls:
        given.setdefault((call.name, call.kind, call.namespace), []).append(call.raw_arguments)
    return {tool for tool, texts in given.items() if may_say("\n".join(texts))}


def settled(record: Record, words: CallWords, gone: Sequence[int], listed: int) -> Record:
    """Return an earlier record without what was failed or open and has come to its end since.

    A call may stay in the list: it says itself what it is. A result without one does not, so that
    what it answers is open until it goes: only then is it told how that ended.

    Args:
        record: The record.
        words: The words of all calls.
        gone: As for `actions_of`.
        listed: As for `actions_of`.
    """
    names = {entry.name for entry in (*record.failed, *record.open)}
    if not names:
        return record
    ended: set[tuple[str, tuple[Field, ...]]] = set()
    came = {id(entry) for entry in _answered(record.open, words, gone, listed).values()}
    again: set[tuple[str, tuple[Field, ...]]] = set()
    for number, call in enumerate(words.calls):
        if call.call_index is not None and call.completed and words.name(number) in names:
            key = (words.name(number), words.deed(number))
            ended.add(key)
            if words.failure(number) is None:
                again.add(key)
    return record._replace(
        failed=tuple(e for e in record.failed if not _is_one_of(e, again)),
        open=tuple(e for e in record.open if not _is_one_of(e, ended) and id(e) not in came),
    )


def _answered(
    waiting: Sequence[Entry], words: CallWords, gone: Sequence[int], listed: int
) -> dict[int, Entry]:
    """Return the calls of an earlier record that results without one answer, by their positions.

    Of several that answer one call it is the last: hosts put a placeholder before what came of it.

    Args:
        waiting: Calls that were open in the earlier record.
        words: As for `actions_of`.
        gone: As for `actions_of`.
        listed: As for `actions_of`.
    """
    if not waiting:
        return {}
    by_call = _by_call(waiting)
    last: dict[int, tuple[int, Entry]] = {}
    for number in gone:
        call = words.calls[number]
        if call.call_index is None and call.kind != "approval":
            entry = _meant(by_call, words, number, listed)
            if entry is not None:
                last[id(entry)] = number, entry
    return dict(last.values())


_Key: TypeAlias = tuple[str, str]
"""The id of a call, or the name of its tool, with "" in place of the other."""


def _by_call(entries: Sequence[Entry]) -> dict[_Key, list[Entry]]:
    """Return entries by the ids of their calls, and by the names of their tools."""
    made: dict[_Key, list[Entry]] = {}
    for entry in entries:
        if entry.call:
            made.setdefault((entry.call, ""), []).append(entry)
        made.setdefault(("", entry.name), []).append(entry)
    return made


def _meant(
    waiting: Mapping[_Key, Sequence[Entry]], words: CallWords, number: int, noted: int
) -> Entry | None:
    """Return the call that a result without one answers, None where none waits under its id.

    Ids recur: it is the latest that was open under its id, of its name where the result has one.

    One without an id answers the one call that waits by its name; of several nobody knows which.
    So only does a note, of which there is one for each: what stands in the list by itself may be
    the same result twice, or of another call.
    """
    if words.calls[number].id is None:
        if number < noted:
            return None
        name = words.name(number) if words.calls[number].name else None
        alike = [*waiting.get(("", name), ())] if name else []
        return alike[0] if len(alike) == 1 and alike[0].calls == 1 else None
    under = waiting.get((words.id(number), ""), ())
    if len(under) > 1 and words.calls[number].name:
        name = words.name(number)
        exact = [entry for entry in under if entry.name == name]
        # Either may name the tool without saying where it lives: the result, or an older record.
        under = exact or [e for e in under if _is_short_for(e.name, name)] or under
    return under[-1] if under else None


def _is_short_for(one: str, other: str) -> bool:
    """Return whether one of two names is the other without the namespace."""
    return one.endswith(f".{other}") or other.endswith(f".{one}")


def _is_one_of(entry: Entry, calls: Collection[tuple[str, tuple[Field, ...]]]) -> bool:
    """Return whether an entry is of one of some calls for certain, and of no more than one."""
    named = entry.arguments
    return named is not None and not is_cut(named) and (entry.name, named) in calls


class _Writer:
    """Makes entries of calls."""

    def __init__(self, words: CallWords, answered: dict[int, Entry]) -> None:
        self.words = words
        self.answered = answered
        self.unsure: set[int] = set()

    def name(self, number: int) -> str:
        entry = self.answered.get(number)
        return self.words.name(number) if entry is None else entry.name

    def again(self, number: int) -> object:
        """Return what a call that is made again has in common with the first."""
        entry = self.answered.get(number)
        if entry is None:
            return self.words.name(number), self.words.again(number)
        return entry.name, entry.arguments or ()

    def failure(self, number: int) -> str | None:
        return self.words.failure(number, self.answered.get(number))

    def entry(self, number: int, values: tuple[Field, ...]) -> Entry:
        known = self.answered.get(number)
        name = self.name(number)
        arguments = self.words.deed(number) if known is None else known.arguments or ()
        call_id = self.words.id(number) if known is None else known.call
        return Entry(name, arguments, values, call_id, unsure=number in self.unsure)

    def done(
        self, numbers: Sequence[int], room: int, not_done: Collection[str]
    ) -> tuple[Entry, ...]:
        """Return the newest calls in full, as far as there is room, behind counts of the others.

        Of the others, those in full that answered unlike the rest of their tools: the newest of
        them.

        Args:
            numbers: Positions of the calls, oldest first.
            room: Characters that the newest may have.
            not_done: Names of tools of which other calls were not done.
        """
        made: list[Entry] = []
        seen: set[Entry] = set()
        left = len(numbers)
        while left and room > 0:
            left -= 1
            entry = self.entry(numbers[left], self.words.outcome(numbers[left]))
            made.append(entry)
            alike = entry._replace(call="")
            if alike not in seen:
                seen.add(alike)
                room -= len(line(entry))
        alone = self._unlike(numbers, left) if left else []
        others = [n for n in numbers[:left] if n not in alone] if alone else numbers[:left]
        stands_alone = (self.entry(n, self.words.outcome(n)) for n in alone)
        return (*self._counts(others, alone, not_done), *stands_alone, *reversed(made))

    def _unlike(self, numbers: Sequence[int], before: int) -> list[int]:
        """Return the newest of the first calls that answered unlike the others of their tools."""
        told = [(self.name(n), said_by(self.words.outcome(n)), 1) for n in numbers]
        places = sorted(place for place in unlike(told) if place < before)
        return [numbers[place] for place in places[-_MOST_ALONE:]]

    def _counts(
        self, numbers: Sequence[int], alone: Sequence[int], not_done: Collection[str]
    ) -> list[Entry]:
        """Return counts of calls: from the first to the last where none between went otherwise."""
        alike: dict[Alike, list[int]] = {}
        for number in numbers:
            alike.setdefault(self._alike(number), []).append(number)
        ways = Counter(name for name, *_ in {*alike, *map(self._alike, alone)})
        counts: list[Entry] = []
        for (name, *_), same in alike.items():
            ends = [
                self.entry(n, self.words.outcome(n)) for n in dict.fromkeys((same[0], same[-1]))
            ]
            counted = counted_together(ends)._replace(calls=len(same))
            is_range = len(same) > len(ends) and ways[name] == 1 and name not in not_done
            counts.append(with_ends(counted) if is_range else counted)
        return counts

    def _alike(self, number: int) -> Alike:
        went = how_it_went(Entry("", None, self.words.outcome(number)))
        return self.name(number), went, number in self.unsure
