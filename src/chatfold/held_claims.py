"""The claims that this process has in stores: held for longer, given up, and none left at its end.

One thread watches over all of them; stores, which may be slow, are asked in others. Not here: whose
a claim is, and for how long (`shared_folds`).
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from chatfold.stores import Claim
from chatfold.threads import NoThreadError, Threads

__all__ = ["CLAIMS", "HeldClaims", "Holder"]

_log = logging.getLogger("chatfold")

_RENEWALS: Final = 30
"""Times that a claim is held for longer: whoever takes ten minutes over a summary has hung."""
_AGAIN: Final = 1.0
"""Seconds between two tries to give up a claim."""
_EXIT: Final = 2.0
"""Seconds for which the end of the process waits for the stores, in all."""
_IDLE: Final = 60.0
"""Seconds after which the keeper sees that no claim is left."""
_KEEPER: Final = Threads("chatfold-keeper", _IDLE)
_ASKING: Final = Threads("chatfold-claims", 5.0)
"""For what the keeper asks of stores: one that is slow holds up its own claims alone."""


class Holder(Protocol):
    """Who has claims in a store."""

    @property
    def lease(self) -> float:
        """Seconds after which a claim is free again, should its holder have died."""
        ...

    def renew(self, claim: Claim) -> None:
        """Hold a claim for longer; where the store fails, nothing."""
        ...

    def gave_up(self, claim: Claim) -> bool:
        """Give a claim up, as often as this is called; return False where the store failed."""
        ...


@dataclass(slots=True, eq=False)
class _Held:
    """One claim.

    Attributes:
        holder: Who has it.
        claim: The claim.
        due: When the store is asked again, by `time.monotonic`; never while it is being asked.
        left: Times that it may still be held for longer.
        until: When it is free by itself, once it is to be given up; None until then.
    """

    holder: Holder
    claim: Claim
    due: float
    left: int = _RENEWALS
    until: float | None = None


class HeldClaims:
    """The claims of a process, or of the child of a fork, which has none of its parent's."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        lock = threading.RLock()  # a turn that nobody ends is collected wherever, in here too
        self._sooner = threading.Condition(lock)  # the keeper is to look before it wanted to
        self._fewer = threading.Condition(lock)
        self._held: dict[tuple[Holder, Claim], _Held] = {}
        self._looks = math.inf  # when the keeper does
        self._is_kept = False  # there is a keeper
        self._ends_with_process = False

    def hold(self, holder: Holder, claim: Claim) -> None:
        """Hold a claim until it is given up; without a thread it has its time, and no more."""
        with self._sooner:
            if not self._ends_with_process:  # now: a fork may have left out what was registered
                atexit.unregister(self._at_exit)
                atexit.register(self._at_exit)
                self._ends_with_process = True
            self._held[holder, claim] = held = _Held(holder, claim, math.inf)
            self._next(held, holder.lease / 3)

    def give_up(self, holder: Holder, claim: Claim) -> None:
        """Give up a claim, here; where the store fails just then, again until its time is up.

        Else nobody could fold the conversation until then, and who must would wait for it. Until
        the store has taken it, it is among those that the end of the process gives up.
        """
        with self._sooner:
            held = self._held.setdefault((holder, claim), _Held(holder, claim, math.inf))
            held.due, held.until = math.inf, time.monotonic() + holder.lease
        is_over = False
        try:
            is_over = holder.gave_up(claim)
        except Exception:  # a fault of the store's own, which is seen
            is_over = True
            raise
        finally:
            self._asked(held, is_over)

    def _next(self, held: _Held, seconds: float) -> None:
        """Have the store asked about a claim after some time; the lock is held."""
        held.due = time.monotonic() + seconds
        if self._is_kept:
            if held.due < self._looks:
                self._sooner.notify()
            return
        with suppress(NoThreadError):
            _KEEPER.run(self._keep)
            self._is_kept = True

    def _asked(self, held: _Held, is_over: bool) -> None:
        """Take down that the store has been asked."""
        with self._sooner:
            if is_over:
                self._held.pop((held.holder, held.claim), None)
                self._fewer.notify_all()
                if not self._held and self._looks == math.inf:  # the keeper waits for nothing else
                    self._sooner.notify()
            elif (held.holder, held.claim) in self._held:
                self._next(held, held.holder.lease / 3 if held.until is None else _AGAIN)

    def _keep(self) -> None:
        """Have the stores asked when that is due, as long as there are claims."""
        while True:
            with self._sooner:
                if not self._held:
                    self._is_kept = False
                    return
                now = time.monotonic()
                due = self._taken(now)
                if not due:
                    dues = [held.due for held in list(self._held.values())]
                    self._looks = min(dues, default=math.inf)  # what is collected may take all
                    self._sooner.wait(min(self._looks - now, _IDLE))
                    self._looks = 0.0
            self._ask_all(due)
            del due

    def _taken(self, now: float) -> list[_Held]:
        """Take what is due; the lock is held."""
        due = [held for held in list(self._held.values()) if held.due <= now]
        for held in due:
            held.due = math.inf
        return due

    def _ask_all(self, due: list[_Held]) -> None:
        """Have the stores asked; not in `_keep`, which would hold the last one while it waits."""
        for held in due:
            work = partial(self._ask, held)
            try:
                _ASKING.run(work)
            except NoThreadError:
                work()

    def _ask(self, held: _Held) -> None:
        """Hold a claim for longer, or give it up."""
        is_over = True
        try:
            if held.until is not None:
                is_over = held.holder.gave_up(held.claim) or time.monotonic() >= held.until
            elif held.left:
                held.left -= 1
                held.holder.renew(held.claim)
                is_over = False
        except Exception as error:  # of a store of the caller's own; nobody else is told
            _log.warning("a claim could not be held or given up: %s", type(error).__name__)
        self._asked(held, is_over)

    def _at_exit(self) -> None:
        """Give up all claims: a process that ends well is not to count as one that still works.

        The keeper does: a store that hangs is not to hold up the end, and Python 3.12 gives exit
        handlers no new threads; it asks one store after the other then.
        """
        with self._sooner:
            if not self._is_kept:
                return
            now = time.monotonic()
            for held in list(self._held.values()):
                held.due, held.until = now, now + _EXIT
            self._sooner.notify()
            self._fewer.wait_for(lambda: not self._held, _EXIT)


CLAIMS: Final = HeldClaims()
