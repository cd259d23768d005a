"""The facts of a history: typed values with where each was seen and how it was used since.

They are put together item by item, so that a list that grew costs what is new in it. Not here: what
its items say (`read_items`), which facts a summary has to hold (`needs`, `ledger`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from chatfold.core.call_ends import Ends
from chatfold.core.call_numbers import CallNumbers
from chatfold.core.call_words import CallWords
from chatfold.core.calls import CallPairing, ToolCallRecord
from chatfold.core.constraints import Remarks
from chatfold.core.effects import effect_of_call
from chatfold.core.entries import Field
from chatfold.core.phrases import Phrases
from chatfold.core.read_items import NOTHING, ReadItem, ReadItems, places_of
from chatfold.core.sightings import Place, Sighting
from chatfold.core.uses import Uses, own_side
from chatfold.core.values import Kind, Value
from chatfold.core.views import ItemView, TextPart, is_note, is_user_message

__all__ = ["Fact", "Facts", "Place", "Sighting", "Told"]

_BEFORE: Final = (8, 200)  # calls before those of new items among which new results find theirs


class Fact(NamedTuple):
    """A value, and every place where it stands.

    Attributes:
        kind: What it is.
        key: What it says, normalized (see `Value.key`).
        text: As it was first written.
        sightings: Where it stands, in order; the first is where it comes from.
        also: Keys that it vouches for too (see `Value.also`).
    """

    kind: Kind
    key: str
    text: str
    sightings: tuple[Sighting, ...]
    also: tuple[str, ...] = ()


class Told(NamedTuple):
    """Items whose facts were put together ahead of a fold.

    Attributes:
        span: Their indices.
        views: The readings of all items, an earlier summary marked as one.
        words: The words of their calls, and of some before.
        first: Position of the first of these calls among all.
    """

    span: range
    views: Sequence[ItemView]
    words: CallWords
    first: int


class Facts:
    """The facts of a list that grows; each item is read once.

    Read are the words of all authors, earlier summaries, the arguments and results of calls, names
    and captions of media, and the agents of handoffs; where arguments or results are JSON, leaf by
    leaf (see `LeafReader`). The names of the tools are no facts, nor is reasoning, nor content
    that is encoded or encrypted.

    Args:
        clean: Applied to every text before it is read (`redact`).

    Attributes:
        said: What the items say.
        values: Each fact as it was first seen, by its key, in the order in which they were.
        places: Every place where each of them stands, in order, by the same keys.
        uses: What has come of them.
        identities: What names the calls, by their positions, as far as it is known.
        ends: How those ended that may have changed something, as far as it is known.
        phrases: The words for the latest of them, as far as they are known.
    """

    def __init__(self, clean: Callable[[str], str] | None = None) -> None:
        self.said = ReadItems(clean)
        self.values: dict[str, Value] = {}
        self.places: dict[str, list[Sighting]] = {}
        self.uses = Uses()
        self.identities: dict[int, tuple[Field, ...]] = {}
        self.ends = Ends({}, {})
        self.phrases = Phrases()
        self._clean = clean
        self._told = 0  # how many items are in `places`
        self._opened = 0  # of how many items it is known whether a user speaks in them
        self._also: dict[str, list[str]] = {}

    @property
    def is_cleaned(self) -> bool:
        """Whether texts were changed before they were read."""
        return self._clean is not None

    @property
    def items(self) -> int:
        """Index behind the last item that was read."""
        return len(self.said.views)

    @property
    def openers(self) -> Sequence[int]:
        """Indices of the items in which a user speaks."""
        self._open(self.items)
        return self.uses.openers

    def fact(self, key: str) -> Fact:
        """Return the fact of that key."""
        return self.teller()(key)

    def teller(self) -> Callable[[str], Fact]:
        """Return what returns the fact of a key, as it is now, also when the list has changed."""
        values, places, stop = self.values, self.places, self._told
        others = {key: tuple(more) for key, more in self._also.items()}

        def fact(key: str) -> Fact:
            value, sightings = values[key], places[key]
            seen = tuple(sightings)
            if seen[-1].index >= stop:  # it has come since
                seen = tuple(sighting for sighting in seen if sighting.index < stop)
            more = others.get(key)
            also = tuple(dict.fromkeys((*value.also, *more))) if more else value.also
            return Fact(value.kind, key, value.text, seen, also)

        return fact

    def named(self) -> set[str]:
        """Return the keys of the facts that more than an earlier summary names."""
        return {
            key
            for key, sightings in self.places.items()
            if any(seen.author != "summary" for seen in sightings)
        }

    def remarks(self, span: range) -> Iterator[tuple[int, Remarks]]:
        """Yield the indices of a span at which a user speaks, each with its remarks.

        They are of the languages that are built in.
        """
        openers = self.openers
        for at in range(bisect_left(openers, span.start), bisect_left(openers, span.stop)):
            item = self.said.read[openers[at]]
            if item is not None:
                yield openers[at], item[0]

    def update(self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> None:
        """Read what is new in a list, and put all together again where it changed.

        Args:
            views: The readings of the items as they are now.
            calls: The records of all calls of the list.
        """
        if self.said.take(views):
            self._untold()
        self.said.read_rest()
        if self._told < len(self.said.read):
            self._tell(calls)

    def read_ahead(
        self,
        views: Sequence[ItemView],
        sizes: Sequence[int],
        summary: tuple[int, ItemView] | None,
    ) -> None:
        """Read some of what is new in a list, so that the next fold has less to read.

        Args:
            views: The readings of the items as they are now.
            sizes: Their sizes in tokens.
            summary: Index and reading of an earlier summary, which is not marked in `views`.
        """
        self.hold_to(views)
        if self.said.read_ahead(views, sizes, summary):
            self._untold()

    def tell_ahead(self, calls: CallPairing) -> Told | None:
        """Put together what was read ahead, as far as it goes without a gap.

        Args:
            calls: The calls of the list.

        Returns:
            What was put together, None where nothing was.
        """
        views, read = self.said.views, self.said.read
        stop = start = self._told
        while stop < len(read) and read[stop] is not None:
            stop += 1
        if stop == start:
            return None
        telling = [index for index in range(start, stop) if read[index] != NOTHING]
        numbers = CallNumbers((), start)
        for before in _BEFORE if telling else ():
            first, near = calls.near(start, stop, before=before)
            numbers = CallNumbers(near, start, first=first)
            if all(numbers.has_all(index, views[index]) for index in telling):
                break
        words = CallWords(numbers.calls, self._clean)
        self._name(words, numbers.first, start)
        self._open(stop)
        for index in telling:
            item, view = read[index], views[index]
            if item is None or not numbers.has_all(index, view):
                stop = index  # it answers calls of long ago: the fold looks for them
                break
            self._add(index, view, item, numbers, words)
        self._end(words, numbers.first, range(start, stop))
        self._told = stop
        return Told(range(start, stop), views, words, numbers.first)

    def _name(self, words: CallWords, first: int, start: int) -> None:
        """Take down what names the calls that items from `start` on have made."""
        for number in range(len(words.calls) - 1, -1, -1):
            made = words.calls[number].call_index
            if made is None:
                continue
            if made < start:  # so are those before it
                return
            self.identities[first + number] = words.identity(number)

    def _end(self, words: CallWords, first: int, span: range) -> None:
        """Take down how the calls ended that some items answer, but of those that only look.

        None of them may come to another end: each has its result.
        """
        for number, call in enumerate(words.calls):
            if call.call_index is None or call.result_index not in span or call.kind == "approval":
                continue
            if call.call_index == call.result_index and not call.result:
                continue  # a server runs it: its result may stand in an item to come
            if effect_of_call(call, {})[0] == "read":
                continue
            failure = self.ends.failures[first + number] = words.failure(number)
            if failure is None:
                self.ends.outcomes[first + number] = words.outcome(number)

    def hold_to(self, views: Sequence[ItemView], same: int | None = None) -> None:
        """Let go of what is known of items that are no longer in the list.

        Args:
            views: The readings of the items as they are now.
            same: How many leading items were there before, all else being new or elsewhere; None
                where items have only come behind.
        """
        if self.said.hold_to(views, same):
            self._untold()

    def _untold(self) -> None:
        self.values, self.places, self._also = {}, {}, {}
        self.uses, self.identities, self.phrases = Uses(), {}, Phrases()
        self.ends = Ends({}, {})
        self._told = self._opened = 0

    def _open(self, stop: int) -> None:
        """Take down in which of the items before an index a user speaks."""
        start, self._opened = self._opened, max(self._opened, stop)
        for index, view in enumerate(self.said.views[start:stop], start):
            if view.role == "user" and is_user_message(view):
                self.uses.openers.append(index)

    def _tell(self, calls: Sequence[ToolCallRecord]) -> None:
        """Put the values of items that were read into `values` and `places`."""
        numbers = CallNumbers(calls, self._told)
        words = CallWords(calls, self._clean, self.identities)
        self._open(self.items)
        views, read = self.said.views, self.said.read
        for index in range(self._told, len(views)):
            item = read[index]
            if item is not None and len(item) > 1:
                self._add(index, views[index], item, numbers, words)
        self._told = len(views)

    def _add(
        self, index: int, view: ItemView, item: ReadItem, numbers: CallNumbers, words: CallWords
    ) -> None:
        """Put the values of an item into `values` and `places`, and what comes of them into `uses`.

        It was taken down in which of the items up to this one a user speaks.

        Args:
            index: Index of the item in the list.
            view: Its reading.
            item: What it says.
            numbers: Tell of which call a part is.
            words: The words of these calls.
        """
        firsts, sightings_of, uses = self.values, self.places, self.uses
        turn = uses.turn(index)
        calls: dict[int, int] | None = None
        of: tuple[int, str] | None = None  # the part, and its side, that the next four are of
        call, near, tool, may_be_body = None, -1, "", False
        for part, where, path, whole, values in places_of(item):
            if where == "text" or where == "summary":
                author = "summary" if where == "summary" else _author(view, part)
                seen, side = Sighting(index, author, "text", path), own_side(author)
                of, tool = None, ""
            else:
                if of != (part, where):
                    calls = numbers.of(index, view) if calls is None else calls
                    of, call, tool, may_be_body = (part, where), calls.get(part), "", False
                    if call is not None:
                        near = call - numbers.first
                        tool, may_be_body = words.name(near), words.may_hold_body(near, where)
                author = "tool" if where == "result" else view.role
                seen, side = Sighting(index, author, where, path, call, whole), where
                if may_be_body and call is not None and words.in_body(near, where, path):
                    side = "body"
                    uses.bodies.add((call, where, path))
            for value in (values,) if type(values) is Value else values:
                key = value.key
                sightings = sightings_of.get(key)
                if sightings is None:
                    firsts[key], sightings_of[key] = value, [seen]
                    uses.first(key, value, seen, side, tool)
                    continue
                last = sightings[-1]
                if last is not seen and last != seen:
                    sightings.append(seen)
                    uses.again(key, sightings[0], seen, side, turn)
                first = firsts[key]
                if value is not first and value.also != first.also:
                    more = self._also.setdefault(key, [])
                    more.extend(form for form in value.also if form not in more)


def _author(view: ItemView, part: int) -> str:
    """Return whose words a part of an item holds: also of a tool, in the user's name."""
    said = view.parts[part]
    return "tool" if type(said) is TextPart and is_note(said.text) else view.role
