"""How long a pattern takes for a text that was made against it, where steps of C are not counted.

All other speed is measured in `benchmarks/`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["quickest"]


def quickest(work: Callable[[], object]) -> float:
    """Return the processor's seconds for some work, the least of three runs.

    The load of the machine does not count, nor does a collection of the garbage of the tests
    before, which comes in one of them.
    """
    taken: list[float] = []
    for _ in range(3):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)
