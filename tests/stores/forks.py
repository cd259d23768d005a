"""Processes that are forked from one, and begin to work at the same moment."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["processes"]

_LONGEST = 120  # seconds after which a process that waits for ever is ended, and the test fails


@contextmanager
def processes(number: int, work: Callable[[int], object]) -> Iterator[None]:
    """Start processes that begin to work at the same moment; all must come to a good end.

    Args:
        number: Of processes.
        work: What each of them does, given its place among them.
    """
    gate_read, gate_write = os.pipe()
    children: list[int] = []
    for name in range(number):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(_LONGEST)
                os.close(gate_write)
                os.read(gate_read, 1)  # until the parent closes its end
                work(name)
                code = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(code)
        children.append(child)
    os.close(gate_read)
    os.close(gate_write)
    yield
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0] * number
