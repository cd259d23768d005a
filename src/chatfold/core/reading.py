"""The readings of a growing list: each item is read once, and again only when it changed.

Holds what is derived item by item (views, sizes, the pairing of calls), so that a list that grew
by two items costs two items. Not here: by what a change is told (`as_read`), which shape the list
is of (`shape_choice`), what is made of the readings.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from chatfold.core.as_read import AsRead, is_as_read
from chatfold.core.calls import Abandon, CallPairing
from chatfold.core.elements import Elements
from chatfold.core.outline import Outline
from chatfold.core.phrases import Count
from chatfold.core.reach import Reach, reach_of
from chatfold.core.recording.kept_facts import KeptFacts
from chatfold.core.shape_choice import ShapeChoice
from chatfold.core.snapshot import Extent, Snapshot
from chatfold.core.spans import open_spans
from chatfold.core.still_read import StillRead, printed, printed_around
from chatfold.core.summary import FOREIGN, INSTRUCTING, Summaries, mark_summary, may_precede
from chatfold.core.turns import last_answer
from chatfold.core.views import CallPart, ItemView, Shape, UnknownPart

__all__ = ["Reading"]


_AT_ONCE: Final = 4  # items that are read ahead together: to begin with it takes most of the time
_SHORT: Final = 100  # items; of a shorter list a fold reads little, and what is new is most of it


_Read: TypeAlias = tuple[Any, int, ItemView, Shape | None]
"""An item, its fingerprint, its reading, and the shape of the list by which it was read."""


class Reading:
    """Keeps the readings of one list up to date.

    Args:
        items: The list; it is read, never changed.
        shapes: The shapes to choose from.
        shape: The list's shape, where the caller names it.
        measure: Returns the sizes of items in tokens, given their views.
        summary_key: Secret that the digests of summaries are made with.
        count: Counts texts ahead of a fold; None where the list is not to be folded.
        report: Told of each item that is unknown, or holds what is: its index and its reading.
    """

    def __init__(
        self,
        items: Sequence[Any],
        shapes: Sequence[Shape],
        *,
        shape: Shape | None,
        measure: Callable[[Sequence[ItemView]], list[int]],
        summary_key: bytes | None,
        count: Count | None = None,
        report: Callable[[int, ItemView], None] | None = None,
    ) -> None:
        self.items = items
        self._choice = ShapeChoice(shapes, shape)
        self._measure = measure
        self.summaries = Summaries(summary_key)
        self._count = count
        self._report = report
        self._as_read = AsRead()
        self._views: list[ItemView] = []
        self._sizes: list[int] = []
        self._outline = Outline.of(())
        self._pairing = CallPairing(self._outline.last_ask)
        self._last: tuple[Abandon | None, Snapshot] | None = None
        self._total = 0  # of the sizes
        self._told = 0  # items, by the last extent
        self._turns: int | None = None  # None where they are to be counted again
        self._marked: tuple[int, ItemView] | None = None  # the summary, as of that count
        # The item that holds the summary, and its reading as one: the record in it is long.
        self._known: tuple[int, ItemView, ItemView] | None = None
        self._doubtful = False  # whether something in the middle may have changed
        self._torn = False  # whether what is kept for each item is being changed: Ctrl-C may come
        self._facts = KeptFacts()
        self._elements = Elements()
        self.reads_ahead = True  # whether `extent` may do some of the next fold's work
        self._ahead = 0  # items up to which it has
        self.lets_go = True  # whether a turn is to free what a fold took out, not the next fold

    @property
    def shape(self) -> Shape | None:
        """The list's shape, None as long as several may have written it."""
        return self._choice.shape

    @property
    def likeliest_shape(self) -> Shape | None:
        """The list's shape, also where a fold has left only words of those that told it."""
        return self._choice.likeliest

    def extent(self) -> Extent:
        """Return how long the list is, in time that depends on what is new alone.

        An edit before the last item that was read is noticed by `sync` only.
        """
        seen = self._told
        self._take_in_new()
        self._measure_new()
        self._told = len(self._views)
        if self._turns is None:
            self._marked = self._summary()
            self._turns = self._opened(0)
        # Not of a list that was never read: most of those are never folded.
        if not (self.reads_ahead and seen and self._ahead < self._told):
            self._ahead = self._told
        elif self._told < _SHORT or self._told - self._ahead >= _AT_ONCE:
            self._facts.read_ahead(
                self._views, self._sizes, self._marked, self._pairing, self._count
            )
            self._elements.write_ahead(self._views, self._ahead, self._sizes, self._pairing)
            self._ahead = self._told
        return Extent(self._total, self._turns, len(self._views))

    def read_on(self, most: int) -> bool:
        """Read so many items behind what was read; return whether to go on like that.

        Fewer, and what was changed, are left to the next look at the list. So is all that follows
        where its shape changes: each part of a mixed list could have all be read anew.
        """
        before, seen = self.shape, len(self._as_read.items)
        new = self.items[seen : seen + most]
        if len(new) < most or self._may_differ(new):
            return False
        self._take_in_behind(new)
        self._measure_new()
        return before is None or before is self.shape

    def _take_in_new(self) -> None:
        """Read what stands behind what was read; all that has changed where that is noticed."""
        new = self.items[len(self._as_read.items) :]
        if self._may_differ(new):
            self.sync()
        elif new:
            self._take_in_behind(new)

    def _may_differ(self, new: Sequence[Any]) -> bool:
        """Return whether what was read has to be looked through first, before `new` behind it."""
        return self._torn or self._doubtful or self._as_read.may_differ(self.items, new)

    def _take_in_behind(self, new: Sequence[Any]) -> None:
        self._last, self._torn = None, True
        self._take_in(new)
        self._torn = False

    def read_now(self) -> tuple[Shape, Sequence[ItemView]]:
        """Return the list's shape, and what was read of it with the summary as one."""
        self.extent()
        return self._choice.for_now(), _with(self._summary(), self._views)

    def read_of(self, items: Sequence[Any]) -> tuple[Shape, Sequence[ItemView]]:
        """Return the same of another list of the conversation."""
        # What was read has told already: to ask all of a long list again takes long.
        known = self._as_read.items
        choice = self._choice.of(items[len(known) :])
        views: list[ItemView] = []
        if choice is self._choice:
            read = zip(items, known, self._views, strict=False)
            views += (v if is_as_read(item, seen) else choice.read(item) for item, seen, v in read)
        views += map(choice.read, items[len(views) :])
        return choice.for_now(), _with(mark_summary(views, self.summaries), views)

    def _summary(self) -> tuple[int, ItemView] | None:
        """Return the index and the reading of the earlier summary in the list, if there is one."""
        if self._known is not None:
            index, view, marked = self._known
            before = self._views[:index]
            leading = (*INSTRUCTING, *(("state",) if view.type == FOREIGN else ()))
            if (
                len(self._views) > index
                and self._views[index] is view
                and all(other.role in leading for other in before)
            ):
                return index, marked
        found = mark_summary(self._views, self.summaries)
        self._known = None if found is None else (found[0], self._views[found[0]], found[1])
        return found

    def holds_summary(self) -> bool:
        """Return whether an earlier summary is in the list, by what was read of it."""
        self._take_in_new()
        return self._summary() is not None

    def doubt(self) -> None:
        """Take down that the list was changed anywhere; it is looked through the next time."""
        self._doubtful = True

    def request_tokens(self, *, start: int = 0, answered: bool = False) -> tuple[int, ...]:
        """Return the sizes of the list in the requests that a report may be of, likeliest first.

        That is the list up to the answer at its end, where there is one; or, where it ends with
        results, also the list up to the answer that made their calls.

        Args:
            start: Index from which on the answer stands, where the caller knows.
            answered: Whether the report counts that answer, too.
        """
        total = self.extent().tokens
        answer, results = last_answer(self._views)
        if answered:
            return (total - sum(self._sizes[results:]),)
        spoken = start > 0 and answer == len(self._views)  # somebody spoke behind the answer
        sent = total - sum(self._sizes[start if spoken else max(answer, start) :])
        return (sent,) if start or results == len(self._views) else (total, sent)

    def ran_tools_at_provider(self, start: int = 0) -> bool:
        """Return whether the server itself ran tools for the answer at the end of the list.

        Args:
            start: As for `request_tokens`.
        """
        self.extent()
        return any(
            getattr(part, "kind", None) == "server"
            for view in self._views[start or last_answer(self._views)[0] :]
            for part in view.parts
        )

    def waiting_calls(self) -> tuple[int, ...]:
        """Return where the calls without a result are, as of what was read."""
        return self._pairing.waiting

    def reach(self, keep: int) -> Reach:
        """Return how far a fold may go that keeps so many tokens; no more is read for it."""
        total, views, sizes = self.extent().tokens, self._views, self._sizes
        return reach_of(views, sizes, total, self._pairing.spans, self._outline.asks, keep)

    def snapshot(self, *, abandon: Abandon | None = None, looked_through: bool = False) -> Snapshot:
        """Return the list as it is now; what changed since the last time is read again.

        Args:
            abandon: See `ChatContext.plan`.
            looked_through: Whether that was done a moment ago (`sync`), and need not be again.
        """
        if self._doubtful or not looked_through:
            self.sync()
        # What a function says may change from one moment to the next.
        if self._last is not None and not callable(abandon) and self._last[0] == abandon:
            return self._last[1]
        views: list[ItemView] = list(self._views)
        marked = self._summary()
        if marked is None:
            outline = self._outline.copy()
        else:
            outline = self._outline.with_summary(*marked)
            views[marked[0]] = marked[1]
        calls = self._pairing.records(abandon)
        shape = self._choice.for_now()
        made = Snapshot(
            items=list(self._as_read.items),
            views=views,
            calls=calls,
            spans=[
                *self._pairing.spans,
                *open_spans(calls, len(views)),
                *shape.spans(views, calls),
            ],
            shape=shape,
            previous=marked[0] if marked else None,
            prints=list(self._as_read.prints),
            sizes=self.sizes(),
            facts=self._facts,
            outline=outline,
            elements=self._elements,
        )
        self._last = (abandon, made)
        return made

    def of(self, items: Sequence[Any]) -> Snapshot:
        """Return another list as it is now, read as this one is, and by the same shape."""
        shapes, key = self._choice.shapes, self.summaries.key
        other = Reading(items, shapes, shape=self.shape, measure=self._measure, summary_key=key)
        other.summaries = self.summaries
        return other.snapshot()

    def view_of(self, item: Any) -> ItemView:
        """Return the reading of an item that is not in the list."""
        return self._choice.read(item)

    def restored(self, value: Any) -> Any:
        """Return a native item for what a store holds of one."""
        shape = self.shape  # once: another thread may be settling it
        return value if shape is None else shape.restored(value)

    def sync(self) -> None:
        """Read what is new in the list, and all from the first item that changed.

        Where an interrupt came while items were read, or a handler of the log raised, all is read
        again: what is kept for each of them may have parted.
        """
        if self._torn:
            self._forget(0)
        items = list(self.items)
        same, seen = self._as_read.same(items), len(self._as_read.items)
        self._doubtful = False
        if same == len(items) == seen and not self._torn:
            return
        self._last, self._torn = None, True
        again: dict[int, _Read] = {}
        run: StillRead | None = None
        edited = same < seen
        if edited:
            run = self._still_behind(same, items)
            again = self._forget(same, items[same:] if run is None else run.others(items[same:]))
        if same < len(items):
            self._take_in(items[same:], again, run)
        if edited:  # what a fold or an edit has left is not worth the time of the next turn
            self._elements.looked = len(self._views)
            self._facts.hold_to(self._views, same, now=self.lets_go)
        self._torn = False
        if run is not None and run.shape is self.shape:
            self._measure_new(same + run.first)
            self._add_sizes(run.sizes)

    def sizes(self) -> list[int]:
        """Return the size of each item in tokens; each is measured once."""
        self._measure_new()
        return list(self._sizes)

    def _measure_new(self, stop: int | None = None) -> None:
        """Measure what is not measured yet, up to an item where that is asked for."""
        if len(self._sizes) < len(self._views):
            self._add_sizes(self._measure(self._views[len(self._sizes) : stop]))

    def _add_sizes(self, new: Sequence[int]) -> None:
        self._torn = True
        self._sizes += new
        self._total += sum(new)
        self._torn = False

    def _opened(self, start: int) -> int:
        """Return the number of turns that users open from an item on."""
        asks = self._outline.asks
        if self._marked is not None and self._marked[0] >= start - 1:  # a summary is no speech
            asks = self._outline.with_summary(*self._marked).asks
        first = bisect_left(asks, start)
        last, opened = asks[first - 1] if first else -2, 0
        for ask in asks[first:]:
            opened += ask - last > 1
            last = ask
        return opened

    def _still_behind(self, start: int, items: list[Any]) -> StillRead | None:
        """Return the last items that were read, as far as they stand one behind the other still.

        None where one of them was edited.

        Args:
            start: How many leading items are as they were.
            items: The list as it is now.
        """
        read = self._as_read
        now = read.behind(items, start)
        if now is None:
            return None
        at = len(read.items) - len(now)
        prints, copies = read.prints[at:], read.copies[at:]
        return StillRead(
            now.start - start, self._views[at:], prints, copies, self._sizes[at:], self.shape
        )

    def _forget(self, start: int, items: Sequence[Any] = ()) -> dict[int, _Read]:
        """Forget what was read from an item on; return that of items that stand elsewhere now."""
        read = self._as_read
        again = {
            id(read.items[at]): (read.items[at], read.prints[at], self._views[at], self.shape)
            for at in read.among(items, start)
        }
        read.forget(start)
        del self._views[start:], self._sizes[start:]
        self._total, self._turns = sum(self._sizes), None
        before = self.shape
        self._choice.settle_again(read.items)
        if before is not self.shape:  # what told it is gone
            self._read_again()
        else:
            self._pair_again()
        return again

    def _take_in(
        self,
        new: Sequence[Any],
        again: Mapping[int, _Read] | None = None,
        run: StillRead | None = None,
    ) -> None:
        """Read items that come behind those that were read; some may have been before.

        Args:
            new: The items.
            again: What is known of some of them, by their ids.
            run: What is known of some that stand one behind the other.
        """
        before, start = self.shape, len(self._as_read.items)
        # First: what is edited while they are read, as in a thread, is to be seen afterwards.
        prints, copies = printed(new) if run is None else printed_around(run, new)
        self._choice.settle(new)
        if before is not self.shape and start:
            self._read_again()
        views: list[ItemView | None] = [None] * len(new)
        if run is not None and run.shape is self.shape:
            views[run.first : run.first + len(run.views)] = run.views
        for index, item in enumerate(new, start):
            view = views[index - start]
            if view is None:
                known = again.get(id(item)) if again else None
                if known and known[1] == prints[index - start] and known[3] is self.shape:
                    view = known[2]
                else:
                    view = self._reported(index, item)
            self._views.append(view)
            self._pairing.feed(index, view)
            self._outline.add(index, view)
        if self._turns is not None:
            # It may be among what is new, where nothing but instructions stands before.
            if self._marked is None and (not start or may_precede(self._views[start - 1])):
                self._marked = self._summary()
            self._turns += self._opened(start)
        self._as_read.take(new, prints, copies)

    def _read_again(self) -> None:
        """Read all that was read anew: the list is of another shape."""
        self._views = [self._reported(i, item) for i, item in enumerate(self._as_read.items)]
        self._sizes, self._total, self._turns = [], 0, None
        self._pair_again()

    def _pair_again(self) -> None:
        self._outline = Outline.of(self._views)
        self._pairing = CallPairing(self._outline.last_ask)
        self._elements = Elements()  # which say of what call they are
        for index, view in enumerate(self._views):
            self._pairing.feed(index, view)

    def _reported(self, index: int, item: Any) -> ItemView:
        """Return the reading of an item of the list; what is unknown in it is told."""
        view = self._choice.read(item)
        if self._report is not None and (not view.shape or _holds_unknown(view)):
            self._report(index, view)
        return view


def _holds_unknown(view: ItemView) -> bool:
    if _PERHAPS_UNKNOWN.isdisjoint(map(type, view.parts)):  # as in most
        return False
    return any(
        p.unknown is not None
        if type(p) is CallPart
        else type(p) is UnknownPart and not (p.known or p.command)
        for p in view.parts
    )


_PERHAPS_UNKNOWN: Final = frozenset((UnknownPart, CallPart))


def _with(marked: tuple[int, ItemView] | None, views: Sequence[ItemView]) -> Sequence[ItemView]:
    """Return readings with that of the summary among them, if there is one."""
    if marked is None:
        return views
    made = [*views]
    made[marked[0]] = marked[1]
    return made
