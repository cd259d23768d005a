"""Who of a process's threads writes to one SQLite file next, and for whom besides.

Not here: how is written (`_sqlite`), and why no fork comes between (`_gate`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["Job", "Turns"]

_LONGEST: Final = 4
"""Times the seconds for which another process is waited for, that a thread waits in all."""

_LOCKED: Final = "database is locked"
_OWN: Final = "other threads of this process have not done with it"


class Job:
    """What one thread is to write; it may be done again, where a transaction came to nothing."""

    def __init__(self, work: Callable[[sa.Connection], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.is_done = False
        self.is_alone = False  # it was tried with others in vain
        self.is_left = False  # nobody waits for it any more


class Turns:
    """Lets the threads of this process write one after the other, or one of them for all.

    SQLite lets those that wait for another process try again at odd times, by which one of many
    may never come to its turn. And most of a transaction's time goes into having the disk keep
    it, which takes no longer for a hundred folds than for one: whoever has the turn writes what
    the others wait with in the same transaction.
    """

    def __init__(self) -> None:
        self.begin_anew()
        _ALL.add(self)

    def begin_anew(self) -> None:
        """Have nobody at work, and nobody waiting."""
        # Taken itself: Ctrl-C between the steps of `Condition.__enter__` would leave it locked.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._waiting: list[Job] = []  # first come, first served
        self._holder: Job | None = None
        self._along: list[Job] = []
        self._has_begun = False  # its holder has the database, and keeps nobody else's lock
        self._written = -float("inf")

    def take(self, job: Job, seconds: float, write: Callable[[Job, float], None]) -> None:
        """Have the job done: by `write`, when its turn comes, or along with another.

        Args:
            job: What is to be done.
            seconds: How long another process may be waited for. What this process's own threads
                take is no sign that the database is locked, so that time counts anew from when
                they have last written, up to a bound.
            write: Does the job, given the seconds that are left; it asks `taken_along` for others
                as soon as it has the database.

        Raises:
            sqlite3.OperationalError: It was waited for too long.
        """
        try:
            with self._lock:
                self._waiting.append(job)
                left = self._waited(job, seconds)
                if not job.is_done:
                    self._waiting.remove(job)
                    self._holder = job
            if not job.is_done:
                write(job, left)
        finally:  # whatever comes between any two of these
            try:
                self._leave(job)
            except BaseException:  # Ctrl-C in its midst: all others would wait for this one
                self._leave(job)
                raise

    def taken_along(self, job: Job) -> list[Job]:
        """Return the jobs of others that are to be done with one; the database is its own now."""
        with self._lock:
            self._has_begun = True
            if not job.is_alone:
                self._along = [one for one in self._waiting if not one.is_alone]
                self._waiting = [one for one in self._waiting if one.is_alone]
            return list(self._along)

    def _waited(self, job: Job, seconds: float) -> float:
        """Wait for the turn of a job; return the seconds that are left of those for others."""
        came = time.monotonic()
        last = came + _LONGEST * seconds
        while True:
            now = time.monotonic()
            until = min(last, max(came, self._written) + seconds)
            if job.is_done or (self._holder is None and self._waiting[0] is job):
                return max(0.0, until - now)
            if job in self._along:
                self._changed.wait()
                continue
            limit = last if self._has_begun else until
            if now >= limit:
                raise _busy(_OWN if self._has_begun else _LOCKED)
            self._changed.wait(limit - now)

    def _leave(self, job: Job) -> None:
        """Let the next have the turn; what was not done along with this job is each for itself.

        Doing it again where it was broken off does no harm.
        """
        with self._lock:
            job.is_left = True
            self._waiting = [one for one in self._waiting if one is not job]
            if self._holder is job:
                undone = [one for one in self._along if not (one.is_done or one.is_left)]
                for one in undone:
                    one.is_alone = True
                self._waiting = [*undone, *(one for one in self._waiting if one not in undone)]
                self._written = time.monotonic() if self._has_begun else self._written
                self._holder, self._along, self._has_begun = None, [], False
            self._changed.notify_all()


_ALL: Final = WeakSet[Turns]()


def _forget_all() -> None:
    """Have nobody wait for a thread of the parent's, which may be none of the child's."""
    for turns in list(_ALL):
        turns.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _busy(why: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(why)
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error
