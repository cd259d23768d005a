"""How often values were come back to, by where they came from.

Not here: what counts as coming back (`needs`), what follows from it (`ledger`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from chatfold.core.values.kinds import Kind

__all__ = ["LEVELS", "Origin", "Rates"]

Origin: TypeAlias = tuple[str, str, str, Kind]
"""Where a value comes from: the side, the tool, the key or how it is written, and its kind."""

_USUAL = (0.08, 0.3, 0.5, 0.6)  # how often values are used, used again, and so on
_WEIGHTS = (18.0, 6.0, 4.0)  # values that it takes to tell something else

LEVELS = len(_USUAL)
"""Uses beyond so many tell nothing more."""


class Rates:
    """How often what came from where others come from was used, and then used again.

    What a tool gives under one key is either what agents go on with, such as a tracking number, or
    what they never look at again, and the history itself tells which. Where it has too few of one
    origin, those of the same kind and side count, then all, then what is usual.

    Args:
        seen: How many values are of an origin, and were used so often.
    """

    def __init__(self, seen: Mapping[tuple[Origin, int], int]) -> None:
        self._reached: dict[tuple[str, ...], list[int]] = {}
        self._rates: dict[tuple[Origin, int], float] = {}
        for (origin, uses), number in seen.items():
            for of in _wider(origin):
                counts = self._reached.setdefault(of, [0] * (LEVELS + 1))
                for reached in range(min(uses, LEVELS) + 1):
                    counts[reached] += number

    def again(self, origin: Origin, uses: int) -> float:
        """Return how likely a value that was used so often is to be used again, from 0 to 1."""
        level = min(uses, LEVELS - 1)
        known = self._rates.get((origin, level))
        if known is not None:
            return known
        rate = _USUAL[level]
        for of, weight in zip(_wider(origin), _WEIGHTS, strict=True):
            counts = self._reached.get(of, _NONE)
            rate = (counts[level + 1] + weight * rate) / (counts[level] + weight)
        self._rates[origin, level] = rate
        return rate

    def used(self, origin: Origin) -> float:
        """Return the share of the values of one origin that were used, from 0 to 1."""
        counts = self._reached.get(origin, _NONE)
        return counts[1] / max(counts[0], 1)


_NONE = (0,) * (LEVELS + 1)


def _wider(origin: Origin) -> tuple[tuple[str, ...], ...]:
    """Return what an origin belongs to, the widest first."""
    return (), (origin[0], origin[3]), origin
