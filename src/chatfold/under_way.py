"""What becomes of the folds of a host's conversations that are under way: put in, shared, told of.

Not here: when one begins and when that is looked at (`host_turns`), the store (`shared_folds`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from chatfold.core.plan import Outcome
from chatfold.regions import Region
from chatfold.session import Session
from chatfold.shared_folds import SharedFolds

if TYPE_CHECKING:
    from chatfold.background import BackgroundFold

__all__ = ["UnderWay"]

_log = logging.getLogger("chatfold")


class UnderWay:
    """The folds that are being written, each by a session that may have a claim for it.

    Args:
        shared: The folds that other processes see.
        waits: Whether a turn may wait for the store.
    """

    def __init__(self, shared: SharedFolds, *, waits: bool) -> None:
        self._shared = shared
        self._waits = waits

    def put_in(
        self, name: str, session: Session, fold: BackgroundFold[Any], *, waits: bool = True
    ) -> None:
        """Put in what was written in the background, share it and tell of it; give up the claim.

        This process may not see the conversation again, and then nobody else would tell.
        """
        if not session.turn.acquire(blocking=waits):
            return  # the call that has it does so, or the next one
        try:
            if session.background is not fold:
                return
            is_new = self._taken_in(session, fold)
            write = self._shared.begun(name, session) if is_new else None
            claim = self._claim_of(session)
        finally:
            session.turn.release()
        # Without the turn: the next one is not to wait for the store.
        try:
            if write is not None:
                self._shared.write(write)
        except Exception as error:  # of a store of the caller's own
            _log.warning("a fold could not be put into the store: %s", type(error).__name__)
        if claim is not None:
            self._shared.released(claim)
        # It is paid for, whether it can be kept or not. Without the locks: a hook may wait for
        # a loop whose turn waits for them.
        fold.tell()

    def _taken_in(self, session: Session, fold: BackgroundFold[Any]) -> bool:
        """Put in what was written for a session that this call has.

        Return whether the session is folded by it now, and was not before.
        """
        with session.ending:
            try:
                session.catch_up()
                with session.changing() as before:
                    outcome = None if session.is_gone else fold.put_in()
                    return bool(outcome and outcome.changed and session.after(outcome, before))
            except Exception as error:  # of an item of the caller's own, say
                _log.warning("a fold could not be put in: %s", type(error).__name__)
        return False

    def come(self, name: str, others: Iterable[Session]) -> Outcome[Any] | None:
        """Put in what was written for a list behind other leading instructions.

        Its host may not come again with those. Where another call has that session, it does so
        itself, and nobody waits for it.

        Args:
            name: Name of the conversation.
            others: Its sessions for whose lists something is being written.

        Returns:
            What came of it, for this turn to report, where that list is folded by now.
        """
        for other in others:
            fold = other.background
            if fold is None or not fold.done or not other.turn.acquire(blocking=False):
                continue
            try:
                other.chosen = True
                is_new = other.background is fold and self._taken_in(other, fold)
                if is_new:
                    self._shared.put(name, other, waits=self._waits)
                elif other.background is fold:
                    self.released(other, waits=self._waits)
            finally:
                other.chosen = False
                other.turn.release()
            if is_new:
                return fold.apply_if_ready()
            fold.tell()
        return None

    def left(self, session: Session) -> None:
        """Give up the claim of a session, unless it is of a fold in the background."""
        fold = session.background
        if fold is not None and fold is not session.awaited and self._shared.used:
            fold.cancel()  # the turn broke off, and nobody is there to give its claim up
            fold = None
        if fold is None:
            self.released(session)

    def released(
        self,
        session: Session,
        fold: BackgroundFold[Any] | None = None,
        *,
        waits: bool = True,
    ) -> None:
        """Give up the claim of a session, if it has one.

        Args:
            session: The session.
            fold: The one in the background with whose end that is due, from its thread: the turn
                may be another call's by now, and no call is to find it taken for this.
            waits: Whether the store may be waited for.
        """
        claim = self._claim_of(session, fold)
        if claim is not None:
            self._shared.released(claim, waits=waits)

    def _claim_of(self, session: Session, fold: BackgroundFold[Any] | None = None) -> Any:
        """Take the claim of a session, if it has one, to give it up."""
        with session.ending:
            if fold is not None and session.background is not fold:
                return None
            claim, session.claim = session.claim, None
            return claim

    def let_go(self, session: Session, keep: Callable[[list[Region], bool], None]) -> None:
        """Put in what was written for a session that is no longer held ready, and give up the rest.

        Args:
            session: The session.
            keep: Is given what is folded of its list where no store has that, the latest last; and
                whether anything is lost that its next session would have to pay for again.
        """
        fold, regions, keeps = session.background, list[Region](), not self._shared.used
        if not keeps or not session.turn.acquire(blocking=False):
            keep([], keeps or (fold is not None and not fold.settled))
            self.dropped(session)
            return
        try:
            if fold is not None and fold.done:
                self._taken_in(session, fold)
            regions = session.folds.regions()
        except Exception as error:  # of an item of the host's own
            _log.warning("what was folded could not be kept: %s", type(error).__name__)
        finally:
            session.is_gone = True
            session.turn.release()
        keep(regions, fold is not None and not fold.settled)
        self.dropped(session)  # last: a hook hears of what was put in, or is given up now

    def dropped(self, session: Session) -> None:
        """Give up what is under way for a session."""
        session.is_gone = True
        with session.ending:  # what was being put in is put in
            if session.background is not None:
                session.background.cancel()
                self.released(session)
