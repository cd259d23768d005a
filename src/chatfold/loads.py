"""How large the next request will be, and how much of the list may stay in it.

Not here: what a report tells (`core.pace`), whether to fold now (`each_turn`).
"""

from __future__ import annotations

import logging
from typing import Any, Final

from chatfold.core.flow import Usage
from chatfold.core.pace import Calibration
from chatfold.core.plan import Outcome
from chatfold.core.snapshot import Extent
from chatfold.core.within import Within
from chatfold.planning import Limits
from chatfold.policy import Load, Policy
from chatfold.state import ListState

__all__ = ["Loads"]

_log = logging.getLogger("chatfold")

_NOTICED: Final = 1 / 16  # of what is kept: less is no reason to plan anew, and reports vary
_MOST_BESIDE: Final = 0.75  # of the trigger may be beside the list, before that is told
_UNREPORTED: Final = 2  # folds before which a request may have gone out that is reported now


class Loads:
    """Counts requests as the provider does, as far as its reports tell.

    Args:
        policy: What is folded at, and what is kept.
        state: The list.

    Attributes:
        keeps: How much of the list is kept, by our count, unless a call says otherwise.

    Raises:
        ValueError: The policy and the model do not go together.
    """

    def __init__(self, policy: Policy, state: ListState) -> None:
        self._policy = policy
        self._state = state
        self._limit = policy.limit(state.model)
        self._window = policy.window_of(state.model)
        self._calibration = Calibration(policy.overhead_tokens)
        self.keeps = self._keeps()
        self._warned: set[str] = set()  # of what: a trigger that leaves the list no room
        self._full = 0  # how many folds, one after the other, left what the next one is due at
        self._unfolded: tuple[int, ...] = ()  # tokens before each fold since the last report

    def now(self, tokens: int | None = None) -> Load:
        """Return how large the next request will be, in time that depends on what is new alone.

        Args:
            tokens: Size of the list in it, by default of the list as it is.
        """
        extent = self._state.extent()
        return self.of(extent if tokens is None else extent._replace(tokens=tokens))

    def of(self, extent: Extent) -> Load:
        """Return how large a request with a list of that size is."""
        size, turns, items = extent
        return Load(self._calibration.of(size), turns, items, self._limit, self._window)

    def may_be_folded(self, tokens: int | None = None) -> bool:
        """Return whether a list is so large that one who has the same policy would fold it.

        Args:
            tokens: As for `now`.
        """
        policy = self._policy
        share = min(1.0, policy.background_at)
        return policy.when is not None or policy.is_reached(self.now(tokens), share=share)

    def is_over_limit(self, tokens: int) -> bool:
        """Return whether a request with a list of so many tokens is larger than the policy allows.

        Args:
            tokens: What was just counted; 0 where nothing was, for the list as it is.
        """
        return self._calibration.of(tokens) >= self._limit if tokens else self.now().over_limit

    def over_by(self) -> float | None:
        """Return the share of the list by which it is over the window; None where it is not."""
        if self._window is None:
            return None
        load = self.now()
        if load.window is None or not load.over_window:
            return None
        return (load.tokens - load.window) / max(1, load.tokens - self._calibration.extra)

    @property
    def kept_tokens(self) -> int:
        """Tokens of the list that the recent part may have."""
        return self.keeps.tokens() or 0

    def head(self) -> int:
        """Return about how many tokens would be folded; half of the list at least."""
        tokens, turns, _ = self._state.extent()
        kept, of_turns = self.kept_tokens, self._policy.kept_turns()
        if of_turns is not None and turns:
            kept = min(kept, tokens * of_turns // turns)
        return max(tokens - kept, tokens // 2)

    def note(self, usage: Usage | None, start: int = 0) -> None:
        """Learn from what a provider reports of the latest request.

        The list is taken to end with that request, or with its answer.

        Args:
            usage: What it reports.
            start: Index from which on the answer stands, where the caller knows.
        """
        if usage is None or usage.input_tokens <= 0:
            return
        unfolded, self._unfolded = self._unfolded, ()
        if usage.context_tokens:
            reported, sizes = usage.context_tokens, self._state.request_tokens(answered=True)
        elif self._state.ran_tools_at_provider(start):  # the sum of several calls tells of none
            return
        else:
            reported, sizes = usage.input_tokens, self._state.request_tokens(start=start)
        self._calibrate(reported, (*sizes, *unfolded))  # it may have gone out before a fold

    def note_fold(self, outcome: Outcome[Any]) -> None:
        """Learn from a fold that took place, whoever has written it."""
        self._unfolded = (outcome.tokens_before, *self._unfolded[: _UNREPORTED - 1])
        self._look_beside()
        self._look_for_room()

    def _calibrate(self, reported: int, sizes: tuple[int, ...]) -> None:
        """Learn from the size of a request, which was of a list of one of these sizes."""
        now = self._calibration
        counted = next((size for size in sizes if now.fits(reported, size)), sizes[0])
        overhead = self._policy.overhead_tokens
        if not now.believes(reported, counted, overhead):  # what others have told holds
            return
        self._calibration = Calibration.learned(reported, counted, overhead)
        keeps = self._keeps()
        pairs = zip(_sizes(keeps), _sizes(self.keeps), strict=True)
        if any(abs(new - old) > _NOTICED * old for new, old in pairs):
            self.keeps = keeps
        self._look_beside()

    def _keeps(self) -> Limits:
        """Return what is to be kept, by our count, as far as reports tell how that is off."""
        policy, known, window = self._policy, self._calibration, self._window
        kept = known.counted(policy.kept_tokens(self._state.model, learned=known.extra))
        limits = (self._limit,) if window is None else (min(self._limit, window), window)
        below = tuple(max(0, known.counted(limit - known.extra)) for limit in limits)
        return Limits(policy.kept_turns(), kept, within=Within(below, policy.max_items))

    def _look_beside(self) -> None:
        """Warn where most of a request is not of the list: no fold makes that less."""
        beside = self._calibration.extra
        if beside >= _MOST_BESIDE * self._limit and not self._state.held:
            self._warn(
                "of each request %d tokens are not of the list (overhead_tokens=, or what the "
                "provider reports), and a fold is due at %d: so little is left to the list that "
                "folds will be frequent; raise max_tokens=, or shorten the system prompt and the "
                "tools",
                beside,
                self._limit,
            )

    def _look_for_room(self) -> None:
        """Warn where folds leave as many items as the next one is due at.

        After one of them, much may have come while it was written.
        """
        most = self._policy.max_items
        if most is None:  # as by default: the list is not read again for this
            return
        left = self._state.extent().items
        self._full = self._full + 1 if left >= most else 0
        if self._full > 1:
            self._warn(
                "folds leave %d items, and one is due at %d: nearly every turn will fold; raise "
                "max_items=, or keep fewer turns",
                left,
                most,
            )

    def _warn(self, message: str, *numbers: int) -> None:
        """Log a warning, once."""
        if message not in self._warned:
            self._warned.add(message)
            _log.warning(message, *numbers)


def _sizes(keeps: Limits) -> tuple[int, ...]:
    """Return what depends on reports in how much is to be kept, in tokens."""
    return keeps.tokens() or 0, *keeps.within.tokens
