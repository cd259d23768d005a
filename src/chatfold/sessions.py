"""The conversations of one process that are held ready, found again by their name and content.

Not here: one conversation (`session`), what other processes have folded (`shared_folds`).
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

from chatfold.past_folds import PastFolds
from chatfold.regions import Region
from chatfold.session import Session

__all__ = ["Sessions"]

_log = logging.getLogger("chatfold")

_BRANCHES: Final = 64
"""Sessions of one name that open alike: a host that goes back makes a new branch."""
_PAST: Final = 10
"""Folds of sessions that are no longer held, for each one that is: a summary, and no item."""

Keep: TypeAlias = Callable[[Sequence[Region], bool], None]
"""Keeps what is folded of a list, the latest last; is told whether anything is lost besides."""


class Sessions:
    """The conversations of one process that are held ready; the one used longest ago goes.

    One for which something is under way goes last: as many more are held. Of those that go it is
    kept what was folded, so that it is found again; what was used longest ago goes there as well.

    Args:
        most: Number of sessions to hold.
        dropped: Is told of each session that is no longer held, and nothing is kept of.
        let_go: Is told of each that makes room, and what it is to be given to that is to be kept.
    """

    def __init__(
        self,
        most: int,
        dropped: Callable[[Session], None],
        let_go: Callable[[Session, Keep], None],
    ) -> None:
        self._most = most
        self._dropped = dropped
        self._let_go = let_go
        self._warned = False
        self._empty(PastFolds(_PAST * most))
        _ALL.add(self)

    def entered(
        self,
        name: str,
        items: Sequence[Any],
        make: Callable[[Sequence[Region]], Session],
        wanted: Callable[[Session], bool],
        ours: list[Session],
    ) -> Session:
        """Return the session of a list, for this call alone until `turn` is released.

        Args:
            name: Name of the conversation, or of several that are told apart by their content.
            items: The host's list.
            make: Makes a session where there is none, given what was folded of lists that have
                begun as this one does, maybe.
            wanted: Returns whether a session is one to go on with.
            ours: Sessions that this call has, and has to release in the end, whatever is raised:
                the session is added, unless another call has it.
        """
        gone: list[Session] = []
        room: list[tuple[str, Session]] = []
        try:
            with self._making[hash(name) % len(self._making)]:
                session = self._found(name, items, make, wanted, gone, ours)
                if session in ours:
                    room = self._use(name, session)
        finally:
            self._tell_of(gone)
        self._keep_of(room)
        return session

    def _found(
        self,
        name: str,
        items: Sequence[Any],
        make: Callable[[Sequence[Region]], Session],
        wanted: Callable[[Session], bool],
        gone: list[Session],
        ours: list[Session],
    ) -> Session:
        """Return what `entered` does; nothing is taken down of it yet, but what is `gone`."""
        known: list[Region] = []
        candidates = list(self._candidates(name, items))
        if len(candidates) > 1:  # else another that opens alike would take the list over
            candidates.sort(key=lambda s: (-s.folded_for(items), not s.is_engaged_for(items)))
        for session in candidates:
            if not wanted(session):
                continue
            if session.turn.acquire(blocking=False):
                ours.append(session)
                if self._follows(session, items, known, gone):
                    return session
                ours.remove(session)
                session.turn.release()
            elif session.shown(items) is not None:
                return session
        made = make(known)
        made.turn.acquire()
        ours.append(made)
        return made

    def _follows(
        self, session: Session, items: Sequence[Any], known: list[Region], gone: list[Session]
    ) -> bool:
        """Return whether a session that this call has goes on with a list.

        Args:
            session: The session.
            items: The host's list.
            known: What was folded of lists that begin alike; what this one has is added, if not.
            gone: The session is added where it cannot be held any longer.
        """
        if session.is_gone:  # since it was looked up, or as its last turn broke off
            with self._lock:
                self._drop(session)
            return False
        try:
            if session.follow(items):
                return True
            if session.begins_as(items):
                known += session.folds.regions()
        except BaseException:  # of a template or an item of the host's own; it may be half done
            with self._lock:
                gone.append(self._drop(session))
            raise
        return False

    def others(self, name: str, session: Session) -> list[Region]:
        """Return what other sessions of a name have folded, as far as no call has them now."""
        found: list[Region] = []
        for other in self._candidates(name, session.whole()):
            if other is not session and other.turn.acquire(blocking=False):
                try:
                    if other.begins_as(session.whole()):
                        found += other.folds.regions()
                finally:
                    other.turn.release()
        return found

    def past(self, name: str, session: Session) -> list[Region]:
        """Return what was folded of a session's list in others that are no longer held."""
        if not self._past or not session.may_be_folded():
            return []
        digests = session.rolling()
        with self._lock:
            return self._past.of(name, digests)

    def choose(self, name: str, session: Session) -> bool:
        """Choose a session that this call has to be folded, until its turn ends.

        Args:
            name: Name of the conversation.
            session: The session.

        Returns:
            Whether no other is, and none is being folded, whose list says the same behind other
            leading instructions: the summary of that one will do for this one, too.
        """
        with self._making[hash(name) % len(self._making)]:
            session.chosen = not self.writing(name, session)
        return session.chosen

    def writing(self, name: str, session: Session) -> list[Session]:
        """Return the other sessions whose folds, under way or yet to be put in, are of this list.

        Args:
            name: Name of the conversation.
            session: A session of the list.
        """
        items = session.whole()
        others = (other for other in self._candidates(name, items) if other is not session)
        return [other for other in others if other.is_writing_for(items)]

    def gone_over(
        self, name: str, old: Session, alike: Session, ours: list[Session]
    ) -> Session | None:
        """Go over from a session that this call has to another of the same list; return that.

        Args:
            name: Name of the conversation.
            old: The session.
            alike: One of the same list that is folded as the other has to be.
            ours: The sessions that this call has.

        Returns:
            None where there is no such session, or another call has it.
        """
        items, region, gone = alike.whole(), alike.folds.latest(), list[Session]()
        if region is None:
            return None
        found = [s for s in self._candidates(name, items) if s is not old and s.folds.shows(region)]
        found.sort(key=lambda session: not session.is_engaged_for(items))
        try:
            for other in found:
                if not other.turn.acquire(blocking=False):
                    continue
                ours.append(other)
                if other.folds.shows(region) and self._follows(other, items, [], gone):
                    other.catch_up()
                    if other.is_sound() and (old.claim is None or other.claim is None):
                        self._put_in_place(name, old, other, ours)
                        return other
                ours.remove(other)
                other.turn.release()
        finally:
            self._tell_of(gone)
        return None

    def replaced(self, name: str, old: Session, new: Session, ours: list[Session]) -> Session:
        """Put a session in place of one that this call has; return it.

        Args:
            name: Name of the conversation.
            old: The session.
            new: What comes in its place.
            ours: The sessions that this call has.
        """
        new.turn.acquire()
        ours.append(new)
        self._put_in_place(name, old, new, ours)
        return new

    def _put_in_place(self, name: str, old: Session, new: Session, ours: list[Session]) -> None:
        """Hold one session no longer, and have another used last; this call has both."""
        self._keep_of(self._use(name, new, old))
        if old.claim is not None:
            new.claim, old.claim = old.claim, None
        new.chosen, old.chosen = old.chosen, False
        ours.remove(old)
        old.turn.release()

    def _tell_of(self, gone: Sequence[Session]) -> None:
        """Tell of sessions that are no longer held; a hook may hear of it, and ask for another."""
        for old in gone:
            self._dropped(old)

    def _keep_of(self, gone: Sequence[tuple[str, Session]]) -> None:
        """Keep what is folded in sessions that make room, and tell of them as `_tell_of` does."""
        for name, old in gone:
            self._let_go(old, partial(self._keep, name, old))

    def _keep(self, name: str, old: Session, regions: Sequence[Region], is_lost: bool) -> None:
        """Keep what is folded in a session, unless it was forgotten meanwhile; see `Keep`."""
        with self._lock:
            if regions and not old.is_forgotten:
                is_lost = self._past.put(name, regions) or is_lost
            warns = is_lost and not self._warned
            self._warned = self._warned or is_lost
        if warns:
            _log.warning(
                "there are more conversations than sessions=%d can hold: folds of those used "
                "longest ago are given up, and paid for again if they go on; raise sessions=, or "
                "pass store=",
                self._most,
            )

    def forget(self, name: str) -> list[Session]:
        """Drop the sessions of a name, and what was folded by others of it; return them."""
        with self._lock:
            gone = list(self._named.get(name, ()))
            for session in gone:
                self._drop(session)
            gone += [other for other, its in self._left.items() if its == name]
            for session in gone:
                session.is_forgotten = True
            self._past.forget(name)
        self._tell_of(gone)
        return gone

    def after_fork(self) -> None:
        """Hold in the child of a fork what no other thread of its parent was at work on.

        A lock that another thread held is never released there, and its work never ends.
        """
        intact, named = not self._lock.locked(), self._named
        held = {**self._spared, **self._used} if intact else {}
        self._empty(self._past if intact else PastFolds(_PAST * self._most))
        for session, name in held.items():
            if session.is_at_rest():
                self._used[session] = name
                self._named.setdefault(name, {})[session] = named[name][session]

    def _empty(self, past: PastFolds) -> None:
        self._lock = threading.Lock()
        self._named: dict[str, dict[Session, bytes]] = {}  # with their openings, the latest last
        self._used: OrderedDict[Session, str] = OrderedDict()  # with their names, the latest last
        self._spared: OrderedDict[Session, str] = OrderedDict()  # likewise: of before, but in use
        self._past = past
        # Those that are no longer held, with their names: a turn may be under way with one.
        self._left: WeakKeyDictionary[Session, str] = WeakKeyDictionary()
        self._making = [threading.Lock() for _ in range(64)]  # by name, so that few wait

    def _candidates(self, name: str, items: Sequence[Any]) -> Iterator[Session]:
        """Yield the sessions that a list may be of, from its first item: the likely ones first."""
        with self._lock:
            held = list(reversed(self._named.get(name, {}).items()))
        others: list[tuple[Session, bytes]] = []
        for session, opening in held:
            if session.opens_with(items):
                yield session
            else:
                others.append((session, opening))
        openings: dict[str, bytes] = {}  # by how the item is read; mostly there is one way
        for session, opening in others:
            if session.read_as not in openings:
                openings[session.read_as] = session.opening_of(items)
            if opening in (b"", openings[session.read_as]):
                yield session

    def _use(
        self, name: str, session: Session, instead: Session | None = None
    ) -> list[tuple[str, Session]]:
        """Take down that a session was used last; return those that make room, with their names.

        Args:
            name: Name of the conversation.
            session: The session.
            instead: One whose place it takes, also where that was forgotten: it may have more of
                what was said.
        """
        gone: list[tuple[str, Session]] = []
        opening = session.opening
        with self._lock:
            if instead is not None:
                self._drop(instead)
                if instead.is_forgotten:
                    session.is_forgotten = session.is_gone = True
                    return gone
            self._drop(session)
            held = self._named.setdefault(name, {})
            held[session] = opening
            self._used[session] = name
            alike = [other for other, its in held.items() if its == opening]
            if len(alike) > _BRANCHES:
                free = [other for other in alike if not other.is_in_use()]
                go = free[: len(alike) - _BRANCHES] or alike[: max(0, len(alike) - 2 * _BRANCHES)]
                gone += [(name, self._drop(other)) for other in go]
            while len(self._used) > self._most:
                oldest, its = next(iter(self._used.items()))
                if oldest.is_in_use():
                    self._spared[oldest] = its
                    del self._used[oldest]
                else:
                    gone.append((its, self._drop(oldest)))
            while len(self._spared) > self._most:
                oldest, its = next(iter(self._spared.items()))
                gone.append((its, self._drop(oldest)))
        return gone

    def _drop(self, session: Session) -> Session:
        """Hold a session no longer, if it is held; return it."""
        used, spared = self._used.pop(session, None), self._spared.pop(session, None)
        name = spared if used is None else used
        if name is not None:
            self._left[session] = name
            left = self._named[name]
            del left[session]
            if not left:
                del self._named[name]
        return session


def _after_fork() -> None:
    for sessions in list(_ALL):
        sessions.after_fork()


# Held weakly: what is registered for a fork stays so until the process ends.
_ALL: Final[WeakSet[Sessions]] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
