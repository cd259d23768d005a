"""What is done at a turn of a host that owns its list: which conversation, whether to fold, how.

Not here: who waits, and how (`middleware`); whether a fold is due, and the fold (`session`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar, cast

from chatfold.core.check import Requirement, options_of
from chatfold.core.plan import Outcome
from chatfold.regions import Region, Seen, region_of
from chatfold.session import Session
from chatfold.sessions import Sessions
from chatfold.shared_folds import SharedFolds
from chatfold.under_way import UnderWay

if TYPE_CHECKING:
    from types import EllipsisType


__all__ = ["LONGEST", "POLL", "Folded", "HostTurns", "Steps"]

ItemT = TypeVar("ItemT")

POLL: Final = 0.1  # seconds between two looks at whether another call or process has ended
LONGEST: Final = 180.0  # seconds for which another call or process is waited for
_TRIED: Final = 32
"""Folds of a list that are tried one after the other: where so many cannot be used, as after a
change of the key, another summary takes less time than a look at hundreds."""


@dataclass(frozen=True, slots=True)
class Folded(Generic[ItemT]):
    """What goes to the model in place of a host's list.

    Attributes:
        items: A new list of the host's own items, with a summary in place of the oldest ones; those
            in `outcome.merged` stand in another one.
        outcome: What happened, and why.
        requirements: What the next request has to carry besides the items.
        held: What is folded of the host's list, for a host that keeps this itself: four values in
            JSON types. None where nothing is, or where it holds for this process alone.
    """

    items: list[ItemT] = field(repr=False)
    outcome: Outcome[ItemT]
    requirements: tuple[Requirement, ...] = ()
    held: Region | None = field(default=None, repr=False)

    def request_options(self) -> dict[str, Any]:
        """Return the same as `requirements`, ready to spread into `create(**...)`; mostly {}."""
        return options_of(self.requirements)


Steps: TypeAlias = Generator["Session | float", "Outcome[Any] | None", Folded[ItemT]]
"""Yields a session that is to be asked whether to fold, or seconds to wait; returns what goes out.

The driver sends the outcome, or throws what was raised.
"""


class HostTurns(Generic[ItemT]):
    """The turns of a host's conversations.

    Args:
        make: Returns a new session of a list, given also its key.
        shared: The folds that other processes see.
        sessions: Number of conversations that are held ready.
        background: Whether summaries are written in the background.
    """

    def __init__(
        self,
        make: Callable[[Sequence[ItemT], str | None], Session],
        shared: SharedFolds,
        *,
        sessions: int,
        background: bool,
    ) -> None:
        self._make = make
        self._shared = shared
        self._under_way = UnderWay(shared, waits=not background)
        self._sessions = Sessions(sessions, self._under_way.dropped, self._under_way.let_go)
        self._background = background

    def refolded(self, messages: Any, held: Any) -> list[ItemT] | None:
        """Return a list folded as its host says; None where that was of another list.

        Raises:
            TypeError: `messages` is no list.
            ValueError: `held` is not what `Folded.held` was.
        """
        known = _held(held)
        session = self._as_held(None, [*_checked(messages)], known)
        return session.outgoing().items if session.folds.shows(known) else None

    def forget(self, key: str | None) -> None:
        """Drop what this process holds of a conversation; nothing more of it goes into the store.

        Raises:
            ValueError: `key` is missing though the store is shared.
        """
        name = self._shared.name(key)
        self._shared.forget(name, self._sessions.forget(name))

    def held_off(self, items: Sequence[ItemT], key: str | None) -> Session | None:
        """Return a session of a list that nobody folds until that is let go (`let_go`).

        None where it is being folded, here or by another process; or where that has been done, and
        its host has yet to be given it.
        """
        name, session, is_free = self._shared.name(key), self._make(items, key), False
        try:
            if self._may_fold(name, session):
                known = self._sessions.others(name, session) if self._background else []
                is_free = not self._background or not self._begun(name, key, items, known).folded
        finally:
            if not is_free:
                self._under_way.left(session)
        return session if is_free else None

    def let_go(self, session: Session) -> None:
        """Let a list be folded again."""
        self._under_way.left(session)

    def steps(
        self,
        messages: Sequence[ItemT],
        key: str | None,
        held: Region | list[Any] | EllipsisType | None,
    ) -> Steps[ItemT]:
        """Begin a turn; the arguments and errors are those of `Middleware.fold`."""
        items = [*_checked(messages)]  # its host may add to it meanwhile
        name = self._shared.name(key)
        held = held if held is ... or held is None else _held(held)
        ours: list[Session] = []  # an interrupt may come at once
        try:
            session = yield from self._entered(name, key, items, held, ours)
            if isinstance(session, Folded):
                return session
            background = session.background
            session.chosen = background is not None  # what is put in is seen when this turn ends
            session, came = self._caught_up(name, session, items, ours)
            if session.is_due(background=self._background, again=True):
                session = yield from self._alone(name, session, items, ours)
                if not session.chosen:
                    return self._result(session, session.idle("running"), key, held, came)
                session.prepare()
            with session.changing() as before:
                outcome = yield session
                assert outcome is not None
                is_new = outcome.changed and session.after(outcome, before)
            write = self._shared.put if is_new else self._shared.put_owed
            write(name, session, waits=not self._background)
            if background is not None and session.background is None:  # begun by an earlier turn
                self._under_way.released(session, waits=not self._background)
            if outcome.reason == "started":
                outcome = self._followed(name, session, outcome, shares=held is ...)
            return self._result(session, outcome, key, held, came)
        finally:
            for session in ours:
                try:
                    self._under_way.left(session)
                finally:  # whatever a store raises: nobody could fold the conversation any more
                    session.chosen = False
                    session.turn.release()

    def _entered(
        self,
        name: str,
        key: str | None,
        items: Sequence[ItemT],
        held: Region | EllipsisType | None,
        ours: list[Session],
    ) -> Generator[float, Outcome[Any] | None, Session | Folded[ItemT]]:
        """Return the session of a list, for this call alone: it is among `ours` then.

        Where another call has it, what goes out is what is folded so far; where that no longer
        fits, the other one is waited for.
        """
        given, waited = None if held is ... else held, 0.0

        def made(known: Sequence[Region]) -> Session:
            if held is ...:
                return self._begun(name, key, items, known)
            return self._as_held(key, items, given)

        def wanted(session: Session) -> bool:
            return held is ... or session.folds.shows(given)

        while True:
            session = self._sessions.entered(name, items, made, wanted, ours)
            if session in ours:
                return session
            if waited < LONGEST and session.is_over_window(items):
                yield POLL
                waited += POLL
                continue
            outcome = replace(session.running(items), key=key)
            seen = session.shown(items)  # now: what was just found to fit may be less than before
            if seen is not None and wanted(session):
                # Of what goes out: the other call's list may end before, and be folded meanwhile.
                needed = tuple(session.requirements_of(seen, items))
                session.sent(seen, items)
                return replace(_folded(seen, outcome, (), given), requirements=needed)

    def _begun(
        self, name: str, key: str | None, items: Sequence[ItemT], known: Sequence[Region]
    ) -> Session:
        """Return a new session, in which the list is folded as far as it was before."""
        session = self._make(items, key)
        known = [*known, *self._sessions.past(name, session)]
        ours = sorted(filter(session.folds.continues, known), key=_length, reverse=True)
        both = merge(ours, self._shared.folds(name, session), key=_length, reverse=True)
        for region in islice(both, _TRIED):
            if session.reuse(region) is not None:
                break
        return session

    def _as_held(self, key: str | None, items: Sequence[ItemT], held: Region | None) -> Session:
        """Return a new session, in which the list is folded as its host says."""
        session = self._make(items, key)
        if held is not None:
            session.reuse(held)
        return session

    def _caught_up(
        self, name: str, session: Session, items: Sequence[ItemT], ours: list[Session]
    ) -> tuple[Session, Outcome[Any] | None]:
        """Return the session as it is to be asked now, and what was put in for it in another one.

        Where a fold is due, one that another call or process has made by now comes first.
        """
        background = session.background
        if session.is_due(background=self._background):
            session.catch_up()
            came = self._under_way.come(name, self._sessions.writing(name, session))
            return self._renewed(name, session, items, ours), came
        if background is not None and background.done:
            session.catch_up()
            if self._shared.used and background.came_to_nothing:
                self._under_way.released(session, waits=not self._background)
                session = self._renewed(name, session, items, ours)
                if session.background is not background:
                    return session, background.apply_if_ready()
        elif self._shared.used and session.looks_elsewhere():
            session = self._renewed(name, session, items, ours)
        return session, None

    def _followed(
        self, name: str, session: Session, outcome: Outcome[Any], *, shares: bool
    ) -> Outcome[Any]:
        """Return what a turn that has begun a fold in the background comes to.

        Args:
            name: Name of the conversation.
            session: Its session.
            outcome: That a fold has begun.
            shares: Whether it is for other processes as soon as it is written; else its host is to
                see it first.
        """
        fold = session.background
        if fold is not None and session.is_gone:
            # Dropped in this very turn: nobody would put the fold in, or tell of it.
            outcome = fold.cancel()
            fold = session.background
        if fold is not None and outcome.reason == "started" and self._shared.used:
            under_way = self._under_way
            act = partial(under_way.put_in, name) if shares else under_way.released
            fold.when_ended(partial(act, session, fold))
            session.awaited = fold
        return outcome

    def _renewed(
        self, name: str, session: Session, items: Sequence[ItemT], ours: list[Session]
    ) -> Session:
        """Return the session, or a new one: before a fold, what is folded has to be up to date.

        The host may have edited it in place, another process has folded more of it, or this one
        has, before the host went back to an earlier state.
        """
        sound = session.is_sound()
        more = [
            r for r in self._sessions.others(name, session) if sound and session.folds.continues(r)
        ]
        if sound and not more and not (self._shared.used and self._shared.longest(name, session)):
            return session
        fresh = self._begun(name, session.key, items, [*session.folds.regions(), *more])
        if sound and fresh.folded <= session.folded:
            return session
        # Another may have been folded that far, and have a fold under way, or wait after a failure.
        other = self._sessions.gone_over(name, session, fresh, ours)
        if other is not None:
            return other
        return self._sessions.replaced(name, session, fresh, ours)

    def _alone(
        self, name: str, session: Session, items: Sequence[ItemT], ours: list[Session]
    ) -> Generator[Session | float, Outcome[Any] | None, Session]:
        """Return the session: chosen to be folded, unless another call or process folds its list.

        Where the list no longer fits, the other one is waited for, but by turns that never wait.
        """
        waited = 0.0
        while True:
            if self._may_fold(name, session):
                return self._renewed(name, session, items, ours)  # it may have been done meanwhile
            if self._background or waited >= LONGEST or not session.load().over_window:
                return session
            yield POLL
            waited += POLL

    def _may_fold(self, name: str, session: Session) -> bool:
        """Return whether nobody else folds the list of a session: it is chosen for that then."""
        if self._sessions.choose(name, session) and self._shared.used:
            session.chosen = self._shared.claim(name, session) is not None
        return session.chosen

    def _result(
        self,
        session: Session,
        outcome: Outcome[Any],
        key: str | None,
        held: Region | EllipsisType | None,
        came: Outcome[Any] | None,
    ) -> Folded[ItemT]:
        """Return what goes to the model; `came` was put in for it in another session."""
        saved = session.view.saved
        if saved and not outcome.changed and outcome.reason == "below_trigger":
            outcome = replace(outcome, changed=True, reason="reused")
        if outcome.reason == "reused":
            outcome = replace(outcome, tokens_before=outcome.tokens_after + saved)
        if came is not None and outcome.usage is None:
            outcome = replace(
                outcome,
                usage=came.usage,
                llm_calls=came.llm_calls,
                seconds=came.seconds,
                model=came.model,
            )
        now = None if held is ... else held if session.folds.shows(held) else session.folds.latest()
        seen, needed = session.outgoing(), session.requirements_now()
        session.sent(seen, session.whole())
        return _folded(seen, replace(outcome, key=key), needed, now)


def _folded(
    seen: Seen, outcome: Outcome[Any], needed: Sequence[Requirement], held: Region | None
) -> Folded[Any]:
    """Return what goes to the model, and what is said of it by the places where items stand there.

    Args:
        seen: What goes to the model.
        outcome: What happened, told of the list with each item by itself.
        needed: What the next request has to carry, likewise.
        held: What is folded of the host's list.
    """
    outcome = replace(outcome, merged=seen.merged)
    if not seen.joined:
        return Folded(seen.items, outcome, tuple(needed), held)

    def placed(told: Sequence[Requirement]) -> tuple[Requirement, ...]:
        return tuple(replace(each, indices=seen.places(each.indices)) for each in told)

    problems = [(each, seen.places(each.indices)) for each in outcome.problems]
    outcome = replace(
        outcome,
        item=seen.form(outcome.item),
        requirements=placed(outcome.requirements),
        # What was wrong between two that are one item now is so no more.
        problems=tuple(
            replace(each, indices=places)
            for each, places in problems
            if len(places) == len(each.indices)
        ),
    )
    return Folded(seen.items, outcome, placed(needed), held)


def _held(value: Any) -> Region:
    """Return what a host keeps of a fold.

    Raises:
        ValueError: It is not what `Folded.held` was.
    """
    region = region_of(value)
    if region is None:
        raise ValueError(
            "held must be the `Folded.held` of a call before, also as a list from JSON (digest, "
            "number of items, places of those that stay, summary), or None"
        )
    return region


def _length(region: Region) -> int:
    return region.length


def _checked(messages: Any) -> Sequence[Any]:
    """Return the host's list.

    Raises:
        TypeError: It is none.
    """
    if isinstance(messages, (list, tuple)):
        return cast("Sequence[Any]", messages)
    raise TypeError(
        f"messages must be a list, not {type(messages).__name__}: the whole history as the host "
        "has it"
    )
