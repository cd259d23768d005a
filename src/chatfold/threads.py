"""Daemon threads that wait a while for more work: to wake one takes a tenth of starting one.

Daemon threads, because work that nobody waits for must not keep the program from ending, as the
pools of `concurrent.futures` would. Here is also how long one may wait for such work at most. Not
here: what is done in them (`background`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

__all__ = ["Threads", "Work", "check_timeout"]

Work: TypeAlias = Callable[[], None]
_Box: TypeAlias = "SimpleQueue[Work]"

_WAITING: Final = "-idle"


def check_timeout(timeout: float | None) -> None:
    """Check for how many seconds a caller wants to wait; None stands for no limit.

    Raises:
        ValueError: It is not more than 0, not a number, or longer than a thread can wait.
    """
    if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
        raise ValueError(
            f"timeout must be more than 0 seconds, at most {threading.TIMEOUT_MAX:,.0f}, or None "
            f"for no limit, not {timeout!r}"
        )


class Threads:
    """As many threads as there is work at a time; no lock is needed, a list hands them out.

    Args:
        name: What a thread is called while it works; while it waits, `-idle` stands behind it.
        patience: Seconds for which a thread waits for more work before it ends.
    """

    def __init__(self, name: str, patience: float) -> None:
        self._name = name
        self._patience = patience
        self._idle: list[_Box] = []
        if hasattr(os, "register_at_fork"):  # a fork has none of the threads
            os.register_at_fork(after_in_child=self._idle.clear)

    def run(self, work: Work) -> None:
        """Have work done in a thread; it must not raise."""
        try:
            box = self._idle.pop()
        except IndexError:
            box = SimpleQueue[Work]()
            threading.Thread(target=self._serve, args=(box,), name=self._name, daemon=True).start()
        box.put(work)

    def _serve(self, box: _Box) -> None:
        thread = threading.current_thread()
        while True:
            try:
                work = box.get(timeout=self._patience)
            except Empty:
                try:
                    self._idle.remove(box)
                except ValueError:  # somebody has taken it a moment ago, and is to put work in
                    continue
                return
            thread.name = self._name
            work()
            del work  # and all that it holds
            thread.name = self._name + _WAITING
            self._idle.append(box)
