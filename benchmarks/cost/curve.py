"""What one long conversation has cost after each of its calls."""

from __future__ import annotations

import random

from benchmarks.facts.worlds import WORLDS

from .prices import PRICES, Bill
from .replay import replay
from .session import size_of
from .systems import OWN

TRIGGER = 50_000
TOKENS = 200_000


def growth() -> dict[str, list[float]]:
    """Return the cost so far, by system, at the first of the prices; the window is left out."""
    items = WORLDS[0](random.Random("curve"), TOKENS)
    sizes = [size_of(item) for item in items]
    curves: dict[str, list[float]] = {}
    for name, start in OWN.items():
        if name != "sliding window":
            points: list[float] = []

            def note(bill: Bill, points: list[float] = points) -> None:
                points.append(bill.cost(PRICES[0]))

            replay(items, sizes, start(TRIGGER), note)
            curves[name] = points
    return curves
