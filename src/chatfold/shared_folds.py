"""The folds of a host's conversations in a store, which several processes share.

A store that fails is reported once and then done without: the agent's turn goes on.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple, TypeAlias, TypeVar
from weakref import WeakSet

from chatfold.core.callables import has_method, kind_of
from chatfold.core.summary import summary_id
from chatfold.errors import StoreError
from chatfold.held_claims import CLAIMS
from chatfold.regions import Region, region_of
from chatfold.session import Session
from chatfold.stores import Claim, HostFold, HostStore, MemoryStore
from chatfold.stores.base import checked_key
from chatfold.threads import NoThreadError, Threads

__all__ = ["SharedFolds", "is_shared", "missing_key"]

_log = logging.getLogger("chatfold")

ValueT = TypeVar("ValueT")

_NAMELESS: Final = "default"
_TELLING: Final = 4
"""Items by which processes tell which conversation they claim: they may not have equally many."""
_LEASE: Final = 60.0
"""Seconds after which a claim is free again, should its holder have died."""
_WRITERS: Final = Threads("chatfold-store", 60.0)
"""For what a turn does not wait for: a fold that is kept, and a claim that is given up."""
_BUGS: Final = (AssertionError, AttributeError, NameError, TypeError)
"""What a store of the caller's own raises where it is at fault itself, which must be seen."""
_UNDER_WAY: Final = math.inf
"""When what is owed to the store is tried again, while it is being tried."""

_Latest: TypeAlias = tuple[Region, str | None] | None
"""The latest fold of a session, with the digest of the one that it is a fold of."""


class _Write(NamedTuple):
    """A fold that is to be kept, as it was when its turn had the session.

    Attributes:
        name: Name of the conversation.
        session: Its session.
        latest: The fold.
        claim: The right to fold the conversation, which is given up behind it; None where the
            session keeps it, or has none.
        is_first: Whether it is tried for the first time.
    """

    name: str
    session: Session
    latest: _Latest
    claim: Claim | None
    is_first: bool


def _reported(work: Callable[[], None]) -> None:
    """Do work in a thread, which nobody would tell of what it raises."""
    try:
        work()
    except Exception as error:
        _log.warning("a fold could not be put into the store: %s", type(error).__name__)


def _latest(session: Session) -> _Latest:
    regions = session.folds.regions()
    if not regions:
        return None
    return regions[-1], regions[-2].digest if len(regions) > 1 else None


def is_shared(store: object) -> bool:
    """Return whether a store may hold folds of conversations that are none of this process."""
    return store is not None and not isinstance(store, MemoryStore)


def missing_key(remedy: str = "") -> ValueError:
    """Return the error for a conversation without a name in a shared store.

    Args:
        remedy: How this host's conversations get one; "" where the caller passes it.
    """
    why = "without it, one conversation could read another's summary"
    return ValueError(
        f"key= is required with a shared store: {why}" + (f"; {remedy}" if remedy else "")
    )


class SharedFolds:
    """What a middleware keeps in a store, and who is at work; without a store there is nothing.

    Args:
        store: The store, or None.
        lease: Seconds after which a claim is free again, should its holder have died.

    Raises:
        TypeError: It is no store for hosts.
    """

    def __init__(self, store: HostStore | None, lease: float = _LEASE) -> None:
        if store is not None and not has_method(store, "longest"):
            raise TypeError(
                f"store must be one for hosts, such as SQLStore(url), not {kind_of(store)}"
            )
        self._store = store
        self.lease = lease
        self._warned = False
        self._asked_again = 0.0  # from when on, by `time.monotonic`, a store that failed is asked
        self._under_way: list[_Write] = []  # what is to be written, or is being written now
        _ALL.add(self)

    def after_fork(self) -> None:
        """Wait for nothing in the child of a fork: the threads of its parent write it."""
        self._under_way = []

    @property
    def used(self) -> bool:
        """Whether there is a store."""
        return self._store is not None

    def name(self, key: str | None) -> str:
        """Return the name of a conversation in the store.

        Raises:
            TypeError: It is no text.
            ValueError: It has none, and the store may hold those of others.
        """
        if key is None and is_shared(self._store):
            raise missing_key()
        return _NAMELESS if key is None else checked_key(key)

    def longest(self, name: str, session: Session) -> Region | None:
        """Return the fold that stands for most of a host's list, and for more than is folded."""
        return self._longest(name, session.rolling()[session.folded :])

    def folds(self, name: str, session: Session) -> Iterator[Region]:
        """Yield the folds of a host's list, the longest first; each is asked for when needed."""
        if self._store is None:
            return
        digests = session.rolling()
        while (found := self._longest(name, digests)) is not None:
            yield found
            del digests[digests.index(found.digest) :]

    def _longest(self, name: str, digests: Sequence[str]) -> Region | None:
        found = self._asked(lambda store: store.longest(name, digests), None) if digests else None
        if found is None or found.digest not in digests:
            return None
        if not found.text:  # it was taken back
            return self._longest(name, digests[: digests.index(found.digest)])
        return region_of((found.digest, found.length, found.kept, found.text))

    def put(self, name: str, session: Session, *, waits: bool) -> None:
        """Keep the latest fold of a session, and give up its claim behind that.

        Not before: who has the claim next would write the same fold. Where the store fails, the
        fold is owed: see `put_owed`.

        Args:
            name: Name of the conversation.
            session: The session.
            waits: Whether the turn may wait for the store; else a thread does.
        """
        self._do(self.begun(name, session), waits=waits)

    def put_owed(self, name: str, session: Session, *, waits: bool) -> None:
        """Keep the latest fold of a session where that failed before; once a turn.

        Else each other process would pay for it again. The first time that is tried at the next
        turn, and then as seldom as `_asked` asks.

        Args:
            name: Name of the conversation.
            session: The session.
            waits: Whether the turn may wait for the store; else a thread does.
        """
        if session.owed_from is not None and time.monotonic() >= session.owed_from:
            latest = _latest(session)
            self._do(self._taken_down(name, session, latest, None, first=False), waits=waits)

    def begun(self, name: str, session: Session) -> _Write:
        """Return what `put` does, for a thread that goes on with it (`write`) behind the turn."""
        latest = _latest(session)  # it takes a while in a long list: the claim is not lost in it
        claim: Claim | None = None
        try:
            with session.ending:
                claim, session.claim = session.claim, None
                return self._taken_down(name, session, latest, claim, first=True)
        except BaseException:  # Ctrl-C: the turn gives the claim up, and the next one writes
            session.claim, session.owed_from = session.claim or claim, 0.0
            raise

    def _taken_down(
        self, name: str, session: Session, latest: _Latest, claim: Claim | None, *, first: bool
    ) -> _Write:
        write = _Write(name, session, latest, claim, first)
        session.owed, session.owed_from = write, _UNDER_WAY
        self._under_way.append(write)
        return write

    def write(self, write: _Write) -> None:
        """Keep a fold, unless its conversation has been forgotten; give up the claim behind it."""
        session, written = write.session, False
        try:
            with session.writing:
                written = session.is_forgotten or self._put_latest(write.name, write.latest)
        finally:
            again = 0.0 if write.is_first else self._asked_again
            self._ended_with(write, None if written else again)
            if write.claim is not None:
                self.released(write.claim)

    def _ended_with(self, write: _Write, owed_from: float | None) -> None:
        """Take down that a write has ended, and when it is tried again, if so."""
        self._under_way.remove(write)
        if write.session.owed is write:  # else there was another fold meanwhile
            write.session.owed, write.session.owed_from = None, owed_from

    def _do(self, write: _Write, *, waits: bool) -> None:
        """Have a fold written, here or in a thread."""
        if waits or self._store is None:
            self.write(write)
            return
        try:
            _WRITERS.run(partial(_reported, partial(self.write, write)))
        except NoThreadError:
            self._ended_with(write, 0.0)
            if write.claim is not None:  # the turn gives it up
                write.session.claim = write.claim

    def forget(self, name: str, sessions: Iterable[Session]) -> None:
        """Write no more folds of a conversation; return when none is being written any more.

        Args:
            name: Name of the conversation.
            sessions: Its sessions, as far as they are held; others have something under way.
        """
        others = [write.session for write in list(self._under_way) if write.name == name]
        for session in (*sessions, *others):
            session.is_forgotten = True
            with session.writing:
                pass

    def _put_latest(self, name: str, latest: _Latest) -> bool:
        """Return whether the latest fold is kept, or there is none that can be."""
        if self._store is None or latest is None:
            return True
        return self._put(name, *latest)

    def take_back(self, name: str, session: Session, fold_id: str) -> None:
        """Take down that a fold of a session's list was undone: nobody is to find it again."""
        for region in self.folds(name, session):
            if summary_id(region.summary) == fold_id:
                self._put(name, region._replace(summary="", kept=()))
                return

    def _put(self, name: str, region: Region, base: str | None = None) -> bool:
        digest, length, kept, text = region
        fold = HostFold(
            key=name,
            digest=digest,
            length=length,
            text=text,
            summary=None,
            kept=kept,
            base=base,
            created=time.time(),
        )

        def put(store: HostStore) -> bool:
            store.put(fold)
            self._warned = False  # it can be written again; a locked one can still be read
            return True

        return self._tried(put, False)

    def claim(self, name: str, session: Session) -> Claim | None:
        """Give a session the right to fold a conversation; return that, None where others have it.

        Where the store cannot say, nobody is waited for. It is held until it is released.
        """
        begins = session.rolling()[:_TELLING]
        nobody: Claim | None = Claim(name, _NAMELESS, "")
        if not begins:
            session.claim = nobody
            return nobody
        # The session has it before anybody holds it for longer: an interrupt may come between.
        session.claim = made = self._asked(
            lambda store: store.claim(name, begins[-1], self.lease), nobody
        )
        if made is not None and made.token:
            CLAIMS.hold(self, made)
        return made

    def released(self, claim: Claim, *, waits: bool = True) -> None:
        """Give up a claim; where the store fails just then, again until its time is up.

        Args:
            claim: The claim.
            waits: Whether the caller may wait for the store; else a thread does.
        """
        if not waits:
            with suppress(NoThreadError):  # then here
                _WRITERS.run(partial(_reported, partial(self.released, claim)))
                return
        if claim.token:
            CLAIMS.give_up(self, claim)

    def renew(self, claim: Claim) -> None:
        """Hold a claim for longer; where the store fails, nothing."""
        self._tried(lambda store: store.renew(claim, self.lease), False)

    def gave_up(self, claim: Claim) -> bool:
        """Give a claim up, as often as this is called; return False where the store failed."""

        def release(store: HostStore) -> bool:
            store.release(claim)
            return True

        return self._tried(release, False)

    def _asked(self, ask: Callable[[HostStore], ValueT], otherwise: ValueT) -> ValueT:
        """Return what the store answers, or something else where it has failed a moment ago.

        A turn asks several times, each of which may take as long as the store waits. What comes
        of the turn is tried to be written all the same.
        """
        return otherwise if time.monotonic() < self._asked_again else self._tried(ask, otherwise)

    def _tried(self, ask: Callable[[HostStore], ValueT], otherwise: ValueT) -> ValueT:
        """Return what the store answers; where it fails, something else, and one warning."""
        assert self._store is not None
        begun = time.monotonic()
        try:
            return ask(self._store)
        except _BUGS:
            raise
        except Exception as error:  # a store of the caller's own raises what its driver raises
            now = time.monotonic()
            self._asked_again = now + (now - begun)  # at most half of the time goes into waiting
            if not self._warned:
                # What a driver says may quote the summary that it was to write.
                said = error if isinstance(error, StoreError) else kind_of(error)
                _log.warning("the store failed, and is done without: %s", said)
            self._warned = True
            return otherwise


def _after_fork() -> None:
    for shared in list(_ALL):
        shared.after_fork()


# Held weakly: what is registered for a fork stays so until the process ends.
_ALL: Final[WeakSet[SharedFolds]] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
