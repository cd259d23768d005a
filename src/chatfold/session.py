"""One conversation of a host: whether a list is its, what the model sees of it, when it is folded.

Not here: how the host's items get into the context's list (`mirror`), what was folded, as others
ask for it (`own_folds`), which conversation a list belongs to (`sessions`), the store
(`shared_folds`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from operator import is_
from typing import Any
from weakref import WeakMethod

from chatfold.context import ChatContext
from chatfold.core.binding import Doubted
from chatfold.core.check import Requirement
from chatfold.core.late import late_index
from chatfold.core.plan import Outcome, Reason
from chatfold.core.split import allows, prefix_length
from chatfold.core.summary import summary_id
from chatfold.core.views import ItemView, TextPart, is_user_message
from chatfold.errors import ChatfoldError
from chatfold.host_list import HostList
from chatfold.mirror import Mirror
from chatfold.own_folds import OwnFolds
from chatfold.regions import Region, Seen, View
from chatfold.sent import Sent
from chatfold.summarizers import LLM

__all__ = ["Session"]


class Session(ChatContext[Any]):
    """A conversation: a context over a list of its own, which follows the host's list.

    Args:
        items: The host's list.
        named: The conversation's key, for what is told of folds; it need not be in a store.
        undone: Digests of heads whose fold was taken back, by another session of the list.
        **options: See `ChatContext`.
    """

    def __init__(
        self,
        items: Sequence[Any],
        *,
        named: str | None = None,
        undone: Iterable[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(list(items), **options)
        self._originals.key = named
        self.undone = self._folding.planning.undone
        self.undone.update(undone)
        self.turn = threading.Lock()  # held by the call that follows and folds
        self.claim: Any = None
        self.chosen = False  # by a call, to be folded: see `Sessions.choose`
        self.awaited: Any = None  # the fold in the background with whose end that is given up
        self._taken: Any = None  # the item of the fold that was taken in last
        self.ending = threading.RLock()  # held while that is done; a hook may forget it all
        self.owed_from: float | None = None  # see `SharedFolds.put_owed`; None owes nothing
        self.owed: object = None  # what is to be written of it, or is being written now
        self.writing = threading.RLock()  # held while a store writes a fold of it
        self.is_gone = False  # dropped: no fold is put in any more
        self.is_forgotten = False  # and none that was goes into a store
        reading = self._state.reading
        self._host = HostList(items, prefix_length(self.views()), reading.shape, reading.view_of)
        self._start = self._host.start
        self._state.doubts = WeakMethod(self._doubts)
        self._needs = 0  # items of the host's list with which it may stay folded, for certain
        self._mirror = Mirror(self._state, self._writing, self._host)
        self._places = self._mirror.places
        self.folds = OwnFolds(self._host, self._places)
        self._view = View()
        self._joined: list[Any] = []  # what stood in one item when it went out last
        self._sent = Sent()
        self._before = 0  # tokens of the context's list before a fold that is being put in
        self._head = 0  # tokens up to where the latest fold to be begun was to reach
        self._settle(0)

    @property
    def view(self) -> View:
        """What the model sees of the host's list."""
        return self._view

    @property
    def key(self) -> str | None:
        """The conversation's key."""
        return self._originals.key

    @property
    def folded(self) -> int:
        """Number of the host's items after the prefix that the folds so far stand for."""
        return self.folds.length

    def check_summarizer(self, llm: LLM, model: str | None) -> None:
        """Check that a summarizer can answer, in one kind of call at least.

        Raises:
            TypeError: It cannot.
            ValueError: It is a string that names nothing, or an empty list.
        """
        self._check_llm(llm, self._settings, model, asynchronous=True)

    def _check_templates(self) -> None:
        """Do nothing: the middleware has done so, and what breaks later is to break no turn."""

    def is_due(self, *, background: bool, again: bool = False) -> bool:
        """Return whether a fold would be begun now; see `EachTurn.is_due`."""
        return self._each_turn.is_due(background=background, again=again)

    def may_be_folded(self) -> bool:
        """Return whether the list is so large that one with the same policy may have folded it."""
        return self._each_turn.loads.may_be_folded()

    def looks_elsewhere(self) -> bool:
        """Return whether to look for the fold of another process; see `Waits`."""
        return self._each_turn.waits.looks_elsewhere()

    def idle(self, reason: Reason) -> Outcome[Any]:
        """Return the outcome of a turn at which nothing was done."""
        return self._each_turn.with_limit(self._folding.idle(reason))

    def requirements_now(self) -> list[Requirement]:
        """Return what a request with the list has to carry, from what was read of it."""
        return self._state.requirements_read(self._doubts())

    def _doubts(self) -> Doubted | None:
        """Return what asks for thinking that may be signed over another list, where some may."""
        doubts = self._state.unbound if self.folded else self.may_be_folded()
        return self._is_doubted if doubts else None

    def requirements_of(self, seen: Seen, items: Sequence[Any]) -> list[Requirement]:
        """Return the same for what is shown of a list.

        May be asked while another call has the session, whose own list may end before that one.

        Args:
            seen: What is shown.
            items: The host's list.
        """
        is_folded = seen.end > self._start
        if is_folded:
            doubts = self._state.unbound
        else:
            doubts = self._each_turn.loads.may_be_folded(self._tokens_of(items))
        fewer = len(items) - len(seen.items)

        def is_doubted(at: int, views: Sequence[ItemView]) -> bool:
            return not self._sent.has_asked_for(at, at + fewer, views, seen.end)

        return self._state.requirements_of(seen.items, is_doubted if doubts else None)

    def sent(self, seen: Seen, items: Sequence[Any]) -> None:
        """Take down what goes to the model: thinking in the answer is signed over that.

        Args:
            seen: What goes out.
            items: The host's list, which the answer comes behind.
        """
        self._sent.note(len(items), seen.end)

    def _is_doubted(self, at: int, views: Sequence[ItemView]) -> bool:
        """Return whether thinking in an item of the context's list may be signed over another one.

        That is so where this conversation did not ask for it, folded as it is now.
        """
        index = self._places.index_of(at)
        if index is None:
            return False
        return not self._sent.has_asked_for(at, index, views, self._view.end)

    def shown(self, items: Sequence[Any]) -> Seen | None:
        """Return what the model sees of a list, None where it is not this conversation's.

        Changes nothing, so it may be asked while another call has the session: what that one may
        be changing is read once, and what has to go together from the view alone.
        """
        view, known, start = self._view, self._host.items, self._start
        if len(items) < view.cut or self._mirror.answers_from(items, view.cut):
            return None
        # Where nothing is folded, all that both lists hold says whether they are one.
        alike = view.cut if view.cut > start else min(len(known), len(items))
        if not self._host.alike(known[start:alike], items[start:alike]):
            return None
        part = slice(view.cut, self._needs)
        as_it_was = len(items) >= self._needs and all(map(is_, known[part], items[part]))
        return self._seen(view, items) if as_it_was or self._may_stay_folded(view, items) else None

    def follow(self, items: Sequence[Any]) -> bool:
        """Take in the list as the host hands it over now; False where it is another one.

        What the model no longer sees as it came has to be the same; behind that, items may have
        come, gone, or changed.
        """
        stop = len(self._host)
        if len(items) < self._view.cut or (len(items) > stop and self._mirror.ends_elsewhere(stop)):
            return False
        if not self._host.begins_alike(items):
            return False
        same, prints = self._host.same_until(items, self._places.cut)
        if same < self._view.cut or (same == self._start and self._begins_elsewhere(items)):
            return False
        if self._is_another(items, same):
            return False
        if same < self._needs:
            if not self._may_stay_folded(self._view, items):
                return False
            self._needs = len(items)
        self._mirror.note_prefix(items)
        if same < len(self._host) or same < len(items):
            at = len(self._items) - (len(self._host) - same)
            self._mirror.take(items, same, at)
        self._host.take(items, same, prints)
        if self._places.noted:
            self._settle(self._view.saved)
        return True

    def begins_as(self, items: Sequence[Any]) -> bool:
        """Return whether a list may be of the same conversation, from how it begins; it is quick.

        Of many conversations that share a name, most are told apart by this. A list may have more
        or fewer leading instructions than before: what is folded behind them is the same.
        """
        return self._host.opens_alike(items, self._host.prefix_of(items))

    @property
    def opening(self) -> bytes:
        """What tells the conversation from most others: the digest of its first item.

        Of the first after the leading instructions; b"" where there is none.
        """
        return self._host.opening()

    @property
    def read_as(self) -> str:
        """Name of the shape by which openings are told, "" where that is not known."""
        return self._host.read_as

    def opening_of(self, items: Sequence[Any]) -> bytes:
        """Return the opening of another list, read as this one is."""
        return self._host.opening_of(items)

    def opens_with(self, items: Sequence[Any]) -> bool:
        """Return whether another list has the same object as first item; it is quicker."""
        return self._host.opens_with(items)

    def folded_for(self, items: Sequence[Any]) -> int:
        """Return how many items of this very list are folded.

        May be asked while another call has the session.
        """
        view = self._view
        # Most that only open alike are told apart by this at once.
        if view.end <= self._start or not self._host.equals_to(view.end, items):
            return 0
        return 0 if self.shown(items) is None else view.end - self._start

    def is_engaged_for(self, items: Sequence[Any]) -> bool:
        """Return whether a fold of this very list is under way, or waits to be tried again.

        May be asked while another call has the session.
        """
        return self._each_turn.is_engaged() and self._host.continues(items)

    def is_writing_for(self, items: Sequence[Any]) -> bool:
        """Return whether a fold of this very list is being written, or is yet to be put in.

        Behind whatever leading instructions: it is of what follows them. May be asked while
        another call has the session.
        """
        return (self.chosen or self._state.running.locked()) and self._host.continues(items)

    def is_in_use(self) -> bool:
        """Return whether a turn or a fold is under way, or ready to be put in, or failed last.

        Another session holds nothing of that. Runs nothing of the host's.
        """
        engaged = self.background is not None or self._each_turn.waits.tried_in_vain
        return engaged or self.turn.locked()

    def is_at_rest(self) -> bool:
        """Return whether no other thread is at work on this conversation, nor for it."""
        free: list[bool] = []
        locks = (self.turn, self.ending, self.writing, self._state.running, self._state.lock)
        for lock in locks:
            free.append(lock.acquire(blocking=False))
            if free[-1]:
                lock.release()
        return self.background is None and self.owed_from != math.inf and all(free)

    def is_sound(self) -> bool:
        """Return whether all that the model does not see as the host has it says what it said.

        Hosts may edit it in place. What stands behind that is for `catch_up`.
        """
        return self._host.is_as_it_was(self._view.cut)

    def prepare(self) -> None:
        """Bring the leading instructions up to date, which a fold may be written with.

        And all items, where they are sent as they are: copies that say the same come in another
        form, as with a cache marker that the host has moved. What is to be folded is taken down,
        for it may come so again.
        """
        self._host.note()
        self._head = self._each_turn.loads.head()
        self._mirror.renew_prefix()
        if self._settings.mode == "append":
            self._mirror.take_forms()

    def catch_up(self) -> None:
        """Take in what the host edited in place of what the model sees as the host has it.

        The context may have other objects of the same words: copies that came first.
        """
        edited, items = self._host.edited(self._view.cut, len(self._host)), self._host.items
        if edited is not None:
            self._mirror.take(items, edited, len(self._items) - (len(items) - edited))
            self._host.take(items, edited)
            self._host.note()  # a fold of it may be about to be put in
            self._settle(self._view.saved)

    @contextmanager
    def changing(self) -> Generator[list[Any], None, None]:
        """Hold what the context's list was, until a fold of it is taken in; yield its items."""
        items, self._before = list(self._items), self._state.tokens()
        try:
            yield items
        except BaseException:  # of a hook, say, that was told of a fold: nobody takes that in
            same = len(items) == len(self._items) and all(map(is_, items, self._items))
            self.is_gone = self.is_gone or not same
            raise
        finally:
            self._before = 0

    def is_over_window(self, items: Sequence[Any]) -> bool:
        """Return whether a list may not fit the model's window, folded as far as this one is.

        May be asked while another call has the session; before `shown`, which may show less then.
        """
        return self._each_turn.loads.now(self._tokens_of(items)).over_window

    def running(self, items: Sequence[Any]) -> Outcome[Any]:
        """Return the outcome of a turn at which another call has the session, for its list."""
        tokens, idle = self._tokens_of(items), self._folding.idle("running")
        over = self._each_turn.loads.now(tokens).over_limit
        return replace(
            idle, tokens_before=tokens, tokens_after=tokens, over_limit=over, key=self.key
        )

    def after(self, outcome: Outcome[Any], before: Sequence[Any]) -> bool:
        """Take in a fold of the context's list; False where that was done already.

        Args:
            outcome: What happened.
            before: The items of the context's list before it.
        """
        if outcome.item is self._taken:
            return False
        self._taken = outcome.item
        self.owed_from = 0.0  # from now on, also where Ctrl-C comes before it is being written
        kept = self._mirror.fold(*self._folding.swaps.placed, before)
        self._needs = len(self._host)
        self._sent.forget_before(self._places.cut)
        self._mirror.pass_by(outcome.removed)
        text = self._summary_text()
        # Not what only the provider can read, what no longer tells, or what the host has not.
        if text is not None and kept is not None:
            self.folds.add(kept, text)  # before it is shown: the list may come again at once
        self._settle(self._view.saved + outcome.tokens_before - outcome.tokens_after)
        return True

    def reuse(self, region: Region) -> Outcome[Any] | None:
        """Fold the host's list, of which nothing is folded yet, as it was folded before.

        Returns:
            What happened; None where that was a fold of another list, or cannot be used here.
        """
        cut = self._start + region.length
        if not self._host.begins_with(region.length, region.digest):
            return None
        opened = self._state.reading.summaries.part
        if summary_id(region.summary) and opened(region.summary) is None:
            return None  # of before a change of the key; in a long list it takes long to find out
        kept = [self._start + index for index in region.kept]
        whole = self._host.items
        late = late_index(self._state.snapshot().calls, cut)
        stop = len(whole) if late is None else late  # the fold was there before it came
        self._mirror.take(whole[:stop], stop, stop)
        before = list(self._items)
        try:
            outcome = self._folding.swaps.put_again(cut, kept, region.summary, self._settings)
        except ChatfoldError:
            self._mirror.take(whole, stop, stop)
            return None
        self._mirror.fold(*self._folding.swaps.placed, before)
        self._needs = len(self._host)
        self._mirror.pass_by(outcome.removed)
        self._mirror.take(whole, stop, len(self._items))
        self._settle(outcome.tokens_before - outcome.tokens_after)
        self.folds.put_again(region)
        return outcome

    def rolling(self) -> list[str]:
        """Return the digests of the first 1, 2, 3, ... of the host's items after the prefix."""
        return self._host.rolling()

    def whole(self) -> list[Any]:
        """Return the host's list as it handed it over last."""
        return self._host.items

    def outgoing(self) -> Seen:
        """Return what the model is to see: the host's own objects, and the summary."""
        seen = self._seen(self._view, self._host.items)
        self._joined = [seen.items[place] for place in seen.places(seen.joined)]
        return seen

    def _seen(self, view: View, items: Sequence[Any]) -> Seen:
        """Return what the model sees of a list; what was shown as one item before is the same."""
        shape = self._state.reading.shape

        def join(before: Any, item: Any) -> Any | None:
            return None if shape is None else shape.merged(before, item)

        return view.of(items, join, self._joined)

    def _tokens_of(self, items: Sequence[Any]) -> int:
        """Return the size of a list, folded as far as this one is; see `is_over_window`."""
        while True:
            known = self._host.items
            # In this order: the context's list gets smaller first, what is shown a while later.
            size, before = self._state.tokens(), self._before
            if known is self._host.items:  # else a third call has taken a longer list in
                break
        view = self._view
        same = at = max(view.cut, self._start)
        ours, theirs = known[at:], items[at:]
        if all(map(is_, ours, theirs)):
            same += min(len(ours), len(theirs))
        else:
            pairs = zip(self._host.printed(ours), self._host.printed(theirs), strict=False)
            same += sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        more, less = items[same:], known[same:]
        if not more and not less:
            return max(size, before)
        read = self._state.reading.view_of
        sizes = self._sizes.of_items([read(item) for item in (*more, *less)])
        return max(size, before) + sum(sizes[: len(more)]) - sum(sizes[len(more) :])

    def _summary_text(self) -> str | None:
        """Return the wrapper of the summary in the list, with all that is in it."""
        previous = self._state.snapshot().previous
        if previous is None:
            return None
        said = self._state.reading.view_of(self._items[previous]).parts[0]
        return said.text if isinstance(said, TextPart) else None

    def _settle(self, saved: int) -> None:
        """Take down what the model sees from now on."""
        self._view = self._mirror.view(saved)

    def _begins_elsewhere(self, items: Sequence[Any]) -> bool:
        """Return whether there are first items after the prefix, and they are not one object."""
        both = min(len(items), len(self._host)) > self._start
        return both and not self._host.opens_with(items)

    def _is_another(self, items: Sequence[Any], same: int) -> bool:
        """Return whether a list parts from this one in what is being folded, or was tried in vain.

        Many conversations open alike, and hosts ask about the beginning of one, as for a title. To
        hand one over to another would throw its fold away, and have the other wait for it.

        Args:
            items: The list.
            same: Index from which on it differs.
        """
        if same == len(self._host) or not self._each_turn.is_engaged():
            return False
        under_way = self.background is not None
        if not under_way and (self.folded or same == len(items)):
            return False  # what waits after a failure goes on when the list has grown again
        head = self._head if under_way else self._each_turn.loads.head()
        at = len(self._items) - (len(self._host) - same)
        return sum(self._state.reading.sizes()[:at]) < head

    def _may_stay_folded(self, view: View, items: Sequence[Any]) -> bool:
        """Return whether what is folded may stay so in a list that its host has taken back.

        That depends on the turn at the cut alone, and on nothing once a user has spoken behind it.
        """
        cut, view_of = view.end, self._state.reading.view_of
        if any(is_user_message(view_of(item)) for item in items[cut:]):
            return True
        opened = (i for i in range(cut - 1, self._start, -1) if is_user_message(view_of(items[i])))
        first = next(opened, self._start)
        while first > self._start and is_user_message(view_of(items[first - 1])):
            first -= 1
        part = self._state.reading.of(items[first:])
        kept = {index - first for index in view.stay()}
        views, calls, spans, shape = part.views, part.calls, part.spans, part.shape
        model = self._state.model
        return allows(views, calls, spans, shape, cut - first, kept, part.sizes, model=model)
