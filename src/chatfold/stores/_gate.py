"""Holds off forks while a store is at work.

A lock that another thread holds is copied by a fork and never released. And SQLite notes in the
process's own memory which locks the process holds: a child inherits the notes but not the locks,
so it would write without any, and what others saved would be lost
(https://www.sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork,
read 2026-11-22).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

__all__ = ["GATE"]

_LONGEST: Final = 20.0  # seconds that a fork waits


class _Gate:
    """Lets no fork happen while a store is at work, and no work begin during a fork."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Be as new, in a child that has none of its parent's threads."""
        # Taken itself: Ctrl-C between the steps of `Condition.__enter__` would leave it locked.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._at_work = 0
        self._forking = False

    @contextmanager
    def passed(self) -> Generator[None, None, None]:
        """Be at work; a thread that is must not pass again."""
        is_at_work = False
        try:
            with self._lock:
                self._changed.wait_for(lambda: not self._forking)
                self._at_work += 1
                is_at_work = True
            yield
        finally:
            if is_at_work:
                with self._lock:
                    self._at_work -= 1
                    self._changed.notify_all()

    def close(self) -> None:
        """Wait until no work is going on, and let none begin.

        Not for ever: a signal handler may fork a thread in the midst of its own work.
        """
        self._changed.acquire()
        self._forking = True
        self._changed.wait_for(lambda: not self._at_work, timeout=_LONGEST)

    def open(self) -> None:
        """Let work begin again."""
        self._forking = False
        self._changed.notify_all()
        self._changed.release()


# One for all stores: what it guards is the process's.
GATE: Final = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.close, after_in_parent=GATE.open, after_in_child=GATE.reset)
