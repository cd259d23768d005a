"""How long a list is left alone after a fold that failed, or that found nothing to do.

Not here: how long one wait is (`core.pace`), what is done at each turn (`each_turn`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from chatfold.core.pace import NO_WAIT, SOME, Wait
from chatfold.core.plan import Outcome, by_size
from chatfold.core.reach import Reach

__all__ = ["Tried", "Waits"]

_UNTRIED: Final = 1.0  # seconds without another fold over the window where a store has failed
_LOOKS: Final = 1.0  # seconds between two looks for the fold of another process


class Tried(NamedTuple):
    """What a fold was tried with; where there was nothing to fold, that holds for this.

    Attributes:
        wanted: What was to be kept, and how.
        keep: The tokens that were, by that.
        size: Tokens of the list.
        reach: How far a fold could go.
        rest: What else it depends on.
    """

    wanted: object
    keep: int
    size: int
    reach: Reach
    rest: tuple[object, ...]

    def reaches_further(self, reach: Reach) -> bool:
        """Return whether a fold could take more by now: a sixteenth of the list, as it was."""
        return reach.grew(self.reach, max(self.size, 1) * SOME)


class Waits:
    """Keeps when each kind of fold may be tried again.

    Args:
        head: Returns about how many tokens would be folded.
        backoff: Seconds of the first wait.
        clock: Returns the time in seconds.
    """

    def __init__(
        self, head: Callable[[], int], backoff: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.clock = clock
        self._head = head
        self._backoff = backoff
        self._after_failure = NO_WAIT
        self._without_model = NO_WAIT
        self._for_more = NO_WAIT  # after a try that found nothing to fold
        self._nothing: Outcome[Any] | None = None  # what that try said
        self._tried: Tried | None = None  # and of what
        self._looked_until = -math.inf  # when it is looked elsewhere again, while a try waits

    def waits(self) -> bool:
        """Return whether a fold that failed is not to be tried again yet."""
        # As a rule nothing has failed, and how long the head is need not be asked.
        wait = self._after_failure
        return wait is not NO_WAIT and not wait.over(self.clock(), self._head())

    @property
    def tried_in_vain(self) -> bool:
        """Whether the last fold failed; unlike `waits`, it counts nothing and asks no clock."""
        return self._after_failure is not NO_WAIT

    def waits_without_model(self) -> bool:
        """Return whether that holds for a fold without a model."""
        return not self._without_model.over(self.clock(), self._head())

    def remedy(self) -> str:
        """Return when a fold that failed is tried again, in words."""
        wait = self._after_failure
        seconds = max(0.0, wait.until - self.clock())
        more = max(0, int(wait.size) - self._head())
        return (
            f"the last try failed or gave no gain; the next is in {seconds:.0f} s, or when "
            f"{more:,} more tokens have come"
        )

    def still_nothing(
        self,
        size: int,
        wanted: object,
        rest: Callable[[], tuple[object, ...]],
        reach: Callable[[int], Reach],
    ) -> Outcome[Any] | None:
        """Return what the last try said that found nothing to fold, if that still holds.

        A list over its trigger may go on like that for long, and each plan takes time that grows
        with it. So it is planned again where more could be folded than then, as when a result that
        had to stay is no longer the last, and not because something came behind it.

        Args:
            size: Tokens of the list.
            wanted: What is to be kept, and how; None for the same as at that try.
            rest: Returns what else it depends on.
            reach: Returns how far a fold may go that keeps so many tokens.
        """
        tried = self._tried
        if self._nothing is None or tried is None or self._for_more.over(self.clock(), size):
            return None
        if (wanted or tried.wanted) != tried.wanted or rest() != tried.rest:
            return None
        # What a provider holds is no matter of how far a fold would go.
        if self._nothing.reason != "server_managed" and tried.reaches_further(reach(tried.keep)):
            return None
        return by_size(self._nothing, size)

    def looks_elsewhere(self) -> bool:
        """Return whether another process may by now have made the fold that failed in this one.

        At the first turn that waits, and then once a second: to ask for it takes time.
        """
        if not self.waits() or (now := self.clock()) < self._looked_until:
            return False
        self._looked_until = now + _LOOKS
        return True

    def folded(self, *, by_model: bool) -> None:
        """Take down that a fold took place; one without a model says nothing of the model."""
        if by_model:
            self._after_failure = NO_WAIT
        self._without_model = self._for_more = NO_WAIT

    def failed(self, *, in_store: bool) -> None:
        """Take down that a fold failed; where it was the store, none goes without a model now."""
        self._after_failure = self._longer(self._after_failure)
        if in_store:
            seconds = min(_UNTRIED, self._backoff)
            self._without_model = Wait.short(self.clock(), self._head(), seconds)

    def failed_without_model(self) -> None:
        """Take down that a fold failed that asks no model."""
        self._without_model = self._longer(self._without_model)

    def found_nothing(self, outcome: Outcome[Any], tried: Tried) -> None:
        """Take down that there was nothing to fold.

        Args:
            outcome: What the try said.
            tried: Of what.
        """
        self._for_more = Wait.short(self.clock(), tried.size, self._backoff)
        self._nothing, self._tried = outcome, tried

    def _longer(self, wait: Wait) -> Wait:
        return wait.longer(self.clock(), self._head(), self._backoff)
