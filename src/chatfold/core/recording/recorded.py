"""From a list and a model's summary of its head to the record that stands behind the summary.

Not here: the parts of this work (`actions`, `needs`, `ledger`, `carry`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from chatfold.core.call_words import CallWords
from chatfold.core.calls import ToolCallRecord
from chatfold.core.effects import Effect
from chatfold.core.entries import Entry, Field, quoted
from chatfold.core.facts import Fact, Facts
from chatfold.core.guard import FoundFacts
from chatfold.core.once import once
from chatfold.core.record import Record, rendered
from chatfold.core.recording.actions import actions_of, settled
from chatfold.core.recording.carry import (
    Budget,
    all_actions,
    displaced,
    fitted_values,
    given_up,
    merged,
    merged_values,
    names_as_given,
)
from chatfold.core.recording.corrections import corrections, hold_all
from chatfold.core.recording.late_notes import noted_results
from chatfold.core.recording.ledger import Ledger
from chatfold.core.recording.needs import Head, Needs, needs_of
from chatfold.core.recording.sizes import TextSizes
from chatfold.core.summary import earlier_summary
from chatfold.core.values import values
from chatfold.core.views import ItemView

__all__ = ["Recorded", "make_record"]

_SHARE_OF_ACTIONS, _LEAST_FOR_ACTIONS = 0.4, 200
_WITHOUT_VALUES = 400
_BY_DIGITS, _BY_WORD = frozenset({"number", "amount"}), frozenset({"name", "command"})
_BETWEEN_DIGITS = re.compile(r"[^0-9]+")
_CHARACTERS = 15  # of a token, at most, of three that are cut to one: how far back calls are read


class Recorded(NamedTuple):
    """A record, and what it was made for.

    Attributes:
        record: What stands behind the model's text.
        guessed: Names of the tools whose effect was guessed.
        found_in: Returns where what is needed is, given the record that stands behind the text:
            this one, or one with less of it.
    """

    record: Record
    guessed: tuple[str, ...]
    found_in: Callable[[Record], FoundFacts]

    def found(self) -> FoundFacts:
        """Return where what is needed is, with the whole record behind the text."""
        return self.found_in(self.record)


def make_record(
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
    *,
    head: range,
    kept: Collection[int] = (),
    previous: Record | None = None,
    standing: Sequence[str] = (),
    lifted: Sequence[str] = (),
    text: str,
    effects: Mapping[str, Effect] | None = None,
    ledger_tokens: int,
    action_tokens: int | None = None,
    count: Callable[[str], int],
    clean: Callable[[str], str] | None = None,
    found: Facts,
) -> Recorded:
    """Return the record for a summary that takes the place of a list's head.

    Args:
        views: The readings of the whole list.
        calls: The records of all its calls, in order of their place.
        head: Indices of the items that the summary takes the place of.
        kept: Those of them that stay in the list.
        previous: The record of the earlier summary, if there is one in the head.
        standing: The instructions that hold, word for word; those of earlier folds among them.
        lifted: Instructions that were taken back, word for word.
        text: The model's summary.
        effects: What tools do, by name, as far as the caller says.
        ledger_tokens: Tokens that the values part may have; 0 leaves it out.
        action_tokens: Tokens that what is done, failed and open may have together; by default two
            fifths of those for values, and at least 200; 400 without values.
        count: Returns the size of a text in tokens.
        clean: Applied to everything that goes into the record, before it is read.
        found: The facts of the whole list.
    """
    previous = previous or Record()
    words = CallWords(calls, clean, found.identities, found.ends)
    sizes = TextSizes.of(count)
    goes = Head.of(views, head, frozenset(kept), found.openers)
    first, behind = (bisect_left(calls, end, key=_place) for end in (head.start, head.stop))
    gone: Sequence[int] = range(first, behind)
    if goes.kept:
        gone = [n for n in gone if _place(calls[n]) not in goes.kept]
    for_actions = _for_actions(ledger_tokens) if action_tokens is None else action_tokens
    answering, all_gone = words, gone
    if previous.open:
        answering, all_gone = _with_notes(words, gone, views, goes, found)
    actions = actions_of(
        answering,
        all_gone,
        effects or {},
        earlier=previous.open,
        listed=len(calls),
        room=_CHARACTERS * for_actions,
    )
    budget = Budget(ledger_tokens, for_actions, sizes)
    said = tuple(map(clean, standing)) if clean else tuple(standing)
    new = Record(said, actions.done, actions.failed, actions.open)
    earlier = settled(previous, answering, all_gone, len(calls))
    acted = merged(earlier._replace(values=()), new, budget)
    whole = all_actions(earlier, new) if any((*earlier[2:4], *new[2:4])) else acted
    lost = given_up(whole, acted, new)
    summary = _earlier_text(views, head)
    told = _Held("\n".join(filter(None, (summary, rendered(previous))))).keys
    written = actions.written if answering is words else actions.written.intersection(gone)
    needs = needs_of(found, goes, calls, written=written, earlier=told)
    held = _Held(text)
    missing = held.missing(needs, range(len(needs)))
    record, carried = acted, tuple[Entry, ...]()
    if ledger_tokens:
        ledger = Ledger(views, words, gone, earlier=summary, lifted=lifted, found=found)
        told_before = _told_before(previous, acted, lost)
        carried = tuple(_carried(told_before, held, found, ledger))
        record = _with_values(acted, carried, needs, missing, ledger, budget, sizes)
    # What it was given stands in the items that go.
    reasons = (e._replace(arguments=None) for e in new.failed if e not in acted.failed)
    lost += (entry for entry in reasons if entry.values)
    found_in = partial(_found_in, record, needs, missing, carried, lost, held, found.teller())
    return Recorded(record, actions.guessed, found_in)


def _with_notes(
    words: CallWords, gone: Sequence[int], views: Sequence[ItemView], goes: Head, found: Facts
) -> tuple[CallWords, Sequence[int]]:
    """Return the calls, and those that go, with what came for calls that were open before."""
    notes = noted_results(views, (index for index in goes.span if index in goes))
    if not notes:
        return words, gone
    calls = [*words.calls, *notes]
    # What is known of identities is of the list's calls.
    more = CallWords(calls, words.clean, dict(found.identities), found.ends)
    return more, [*gone, *range(len(words.calls), len(calls))]


def _with_values(
    acted: Record,
    carried: tuple[Entry, ...],
    needs: Needs,
    missing: Sequence[int],
    ledger: Ledger,
    budget: Budget,
    sizes: TextSizes,
) -> Record:
    """Return a record with values: those that are carried, and those that are missing now.

    Args:
        acted: The record without values.
        carried: The entries of the earlier record that are carried.
        needs: The needed facts.
        missing: Places of those that the model's text does not hold.
        ledger: Finds words for them.
        budget: How large the parts may be.
        sizes: Returns the sizes of texts in tokens.
    """
    shown = _Held(rendered(acted._replace(values=carried)))
    used = sizes(rendered(Record(values=carried))) if carried else 0
    left = shown.missing(needs, missing)
    room = budget.values - min(used, budget.values // 2)
    lines = ledger.lines(needs, left, room)
    entries = ledger.entries(lines, room, sizes)
    later = corrections(needs, set(missing).difference(left), left, carried)
    if later:
        more = ledger.entries(ledger.corrected(lines, needs, later), room, sizes)
        whole = tuple(merged_values(carried, more, ledger.is_certain))
        if hold_all(more, entries) and sizes(rendered(Record(values=whole))) <= budget.values:
            return acted._replace(values=whole)
    values = merged_values(carried, entries, ledger.is_certain)
    made = frozenset(entry.name for entry in acted.done)
    return acted._replace(values=fitted_values(values, budget.values, budget.count, made))


def _found_in(
    whole: Record,
    needs: Needs,
    missing: Sequence[int],
    carried: tuple[Entry, ...],
    given_up: Sequence[Entry],
    held: _Held,
    fact: Callable[[str], Fact],
    record: Record,
) -> FoundFacts:
    """Return where what is needed is, with a record behind the model's text.

    Args:
        whole: The whole record.
        needs: What it was made for.
        missing: Places of that of it which the model's text does not hold.
        carried: What an earlier record has that the model's text does not hold, as it is now.
        given_up: What failed or is open, and does not stand in the record in full: nothing else
            says why, nor of what an earlier record had what it was given.
        held: What the model's text holds.
        fact: Returns the fact of a key.
        record: The record that is asked about, the whole one or one with less in it.
    """
    sure = [place for place in range(len(needs)) if needs.sure[place]]
    out = set(missing)
    rest = [place for place in missing if needs.sure[place]]
    left = set(_Held(rendered(whole)).missing(needs, rest))
    added = [place for place in rest if place not in left]
    gone = [] if record == whole else _Held(rendered(record)).missing(needs, added)
    lost = set(gone)

    def facts(places: Iterable[int]) -> tuple[Fact, ...]:
        return tuple(fact(needs.keys[place]) for place in places)

    fallen = _fallen(carried, held.keys.union(needs.keys), record) if carried else []
    if given_up:
        known = held.keys.union((needs.keys[place] for place in sure), (f.key for f in fallen))
        fallen += [
            fact(lost.key) if lost.key in needs.places else lost
            for lost in _fallen(given_up, known, record)
        ]
    return FoundFacts(
        needed=(*fallen, *facts(sure)),
        kept=facts(place for place in sure if place not in out),
        added=facts(place for place in added if place not in lost),
        left_out=(*fallen, *facts(place for place in rest if place in left), *facts(gone)),
    )


def _fallen(carried: Iterable[Entry], known: Collection[str], record: Record) -> list[Fact]:
    """Return the facts that an earlier record had, and that are nowhere any more.

    They were needed when they came into it. No item of the list names them.
    """
    told = _Held(rendered(record)).keys.union(known)
    fields = (field for e in carried for field in (*(e.arguments or ()), *e.values))
    found = {value.key: value for field in fields for value in values(field.text)}
    return [Fact(v.kind, k, v.text, (), v.also) for k, v in found.items() if k not in told]


def _for_actions(ledger_tokens: int) -> int:
    """Return the tokens for what is done, failed and open, beside those for values."""
    if not ledger_tokens:
        return _WITHOUT_VALUES
    return max(int(ledger_tokens * _SHARE_OF_ACTIONS), _LEAST_FOR_ACTIONS)


def _place(call: ToolCallRecord) -> int:
    """Return the index of the item that a call goes with."""
    index = call.result_index if call.call_index is None else call.call_index
    assert index is not None
    return index


def _earlier_text(views: Sequence[ItemView], head: range) -> str:
    """Return the words of the earlier summary in a head, without its record."""
    earlier = earlier_summary(views[head.start : head.stop])
    return "" if earlier is None else earlier.text


class _Held:
    """The values that a text holds."""

    def __init__(self, text: str) -> None:
        self.text = text.casefold()
        self.keys: set[str] = set()
        self._of_numbers: dict[str, bool] = {}
        for value in values(text):
            self.keys.add(value.key)
            self.keys.update(value.also)

    def missing(self, needs: Needs, places: Sequence[int]) -> list[int]:
        """Return the places of the needs that the text does not hold, of some of them.

        A name may be any word of it. A number may stand as it was written: its unit or currency
        may come from the key beside it.
        """
        if not self.text:
            return [*places]
        keys, missing = self.keys, list[int]()
        all_keys, values = needs.keys, needs.values
        for place in places:
            key = all_keys[place]
            if key in keys:
                continue
            value = values[key]
            if value.kind in _BY_DIGITS:
                if keys and self._holds_number(value.text):
                    continue
            elif value.kind in _BY_WORD and self._holds_text(value.text):
                continue
            missing.append(place)
        return missing

    def _holds_text(self, text: str) -> bool:
        if text.casefold() in self.text:
            return True
        # A record, if that is the text, writes it with a backslash in front of each quote.
        return '"' in text and quoted(text)[1:-1].casefold() in self.text

    @once
    def _digits(self) -> frozenset[str]:
        """The digits of all keys; most texts are never asked for a number."""
        return frozenset(map(_digits, self.keys))

    def _holds_number(self, text: str) -> bool:
        # Whatever stands beside a number, its digits are those of its key, but for zeros at the
        # ends: to compare them is a hundred times as quick as to read it.
        if text.isascii() and "-" not in text and _digits(text) not in self._digits:
            return False
        known = self._of_numbers.get(text)
        if known is None:
            known = any(value.key in self.keys for value in values(text))
            self._of_numbers[text] = known
        return known

    def holds_words(self, text: str) -> bool:
        """Return whether every value in some words is held, or the words where there is none."""
        found = values(text)
        if found:
            return all(value.key in self.keys for value in found)
        return text.casefold() in self.text


def _digits(text: str) -> str:
    """Return the digits of a number without the zeros at its ends, which units and marks change."""
    return _BETWEEN_DIGITS.sub("", text).strip("0")


def _told_before(previous: Record, acted: Record, lost: Sequence[Entry]) -> Sequence[Entry]:
    """Return the values of an earlier record, with what `acted` no longer tells of its calls.

    Args:
        previous: The earlier record.
        acted: The new one, without values.
        lost: What of the earlier one failed or is open, and the new one does not tell. Why stands
            with it or nowhere: as a value it would outlive a call that is made again.
    """
    now = {entry._replace(call="") for entry in acted.done}
    less = [entry for entry in previous.done if entry._replace(call="") not in now]
    if not less and not lost:
        return previous.values
    before = displaced([*less, *map(names_as_given, lost)], _Held(rendered(acted)).holds_words)
    return merged_values(before, previous.values, lambda entry: False)


def _carried(entries: Sequence[Entry], held: _Held, found: Facts, ledger: Ledger) -> list[Entry]:
    """Return the values of an earlier record that are still to be carried, the oldest first.

    What the model's text holds goes; so does what has changed since, if the text holds that. What
    was named again since is not old any more.
    """
    named = found.named() if entries else frozenset[str]()

    def is_named(field: Field) -> bool:
        return any(value.key in named for value in values(field.text))

    at_rest: list[Entry] = []
    at_work: list[Entry] = []
    for entry in entries:
        now = ledger.up_to_date(entry)
        left = [field for field in now if field and not held.holds_words(field.text)]
        if not left:
            continue
        left.sort(key=is_named)
        about = any(map(is_named, entry.arguments or ())) or is_named(left[-1])
        (at_work if about else at_rest).append(entry._replace(values=tuple(left)))
    return at_rest + at_work
