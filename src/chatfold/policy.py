"""When to summarize and how much to keep: a value that is asked at each turn.

Not here: what is done about it (`each_turn`), the size of a request (`loads`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from chatfold.core.callables import check_sync, is_yes
from chatfold.core.scalars import check_whole
from chatfold.tokens.windows import window_for

__all__ = ["Load", "Policy"]

SHARE_OF_WINDOW: Final = 0.75
MOST_TOKENS: Final = 150_000
WITHOUT_WINDOW: Final = 96_000
VOICE_TOKENS: Final = 8_000
KEEP_SHARE: Final = 0.2
LEAST_KEPT: Final = 4_000
MOST_KEPT: Final = 20_000


@dataclass(frozen=True, slots=True)
class Load:
    """What a policy is asked about: how large the next request will be.

    Attributes:
        tokens: Its size, with what is held outside of the list (`overhead_tokens`, or what the
            provider has reported).
        turns: Number of turns that a user has opened.
        items: Number of items in the list.
        limit: Tokens from which the policy folds.
        window: Tokens that the model takes, or None where that is not known.
    """

    tokens: int
    turns: int
    items: int
    limit: int
    window: int | None = None

    @property
    def over_limit(self) -> bool:
        """Whether the request is larger than the policy allows."""
        return self.tokens >= self.limit

    @property
    def over_window(self) -> bool:
        """Whether the request is larger than the model takes, as far as that is known."""
        return self.window is not None and self.tokens > self.window


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When to fold, and how much to keep.

    A list is folded as soon as one of the triggers is reached: tokens (always set), turns, items,
    or `when`; and always where it is larger than the window. It is folded down to `keep_tokens`,
    well below the trigger, so that the provider's cache of the request is lost rarely.

    Args:
        window: Tokens that the agent's model takes; by default what is known of the model.
        max_tokens: Tokens of a request from which to fold. By default three quarters of the
            window and at most 150,000; 96,000 where the window is not known.
        fraction: Share of the window from which to fold, in place of those three quarters; there
            is no other maximum then.
        max_turns: Turns from which to fold, or None.
        max_items: Items from which to fold, or None.
        when: Returns whether to fold, given the `Load`; asked where nothing else says so.
        keep_last_turns: Turns to keep; where they hold more than `keep_tokens`, less. By default
            a quarter of `max_turns`, or 2 with `max_items` or `when`; else `keep_tokens` alone
            counts.
        keep_tokens: Tokens that the recent part may have; by default a fifth of the trigger (of a
            known window, where that is smaller), within 4,000 to 20,000 and at most half of it.
            It may be cut inside a turn. Where a model takes less than this, half of what it takes.
        overhead_tokens: Tokens that each request has besides the list: a system prompt and tools
            that are held elsewhere.
        min_gain: Share of the list's tokens that a fold has to save; above the window any saving
            will do.
        background_at: Share of each trigger, and of the window, from which a fold in the background
            is begun.
        max_summary_tokens: Length to ask for, where the options do not say.
        backoff: Seconds without a further try after a failure or a fold without gain; doubled
            each time, up to fifteen times as long. A head that grew by a quarter is tried sooner.

    Raises:
        ValueError: A number is out of range, or what is kept is not below the trigger.
        TypeError: A number is not whole, or `when` is no function.
    """

    window: int | None = None
    max_tokens: int | None = None
    fraction: float | None = None
    max_turns: int | None = None
    max_items: int | None = None
    when: Callable[[Load], Any] | None = None
    keep_last_turns: int | None = None
    keep_tokens: int | None = None
    overhead_tokens: int = 0
    min_gain: float = 0.2
    background_at: float = 1.0
    max_summary_tokens: int | None = None
    backoff: float = 60.0

    def __post_init__(self) -> None:
        """Check every value."""
        for name in ("window", "max_tokens", "max_turns", "max_items", "max_summary_tokens"):
            self._check_whole(name, 1)
        for name in ("keep_last_turns", "keep_tokens", "overhead_tokens"):
            self._check_whole(name, 0)
        if self.when is not None and not callable(self.when):
            raise TypeError(f"when must be a function of a Load, or None, not {self.when!r}")
        check_sync("when", self.when)
        self._check_shares()
        if self.fraction is not None and self.max_tokens is not None:
            raise ValueError("fraction and max_tokens both set the trigger; pass one of them")
        if self.max_tokens is not None:
            self._check_room(self.max_tokens)
        if self.window is not None:
            self._check_room(self.window, "window")
        if self.max_turns is not None and (self.keep_last_turns or 0) >= self.max_turns:
            raise ValueError(
                f"keep_last_turns={self.keep_last_turns} is not below max_turns={self.max_turns}; "
                "every turn would fold again"
            )

    @classmethod
    def voice(cls, **changes: Any) -> Policy:
        """Return the policy for voice agents: small requests, folded before they are large.

        8,000 tokens (three quarters of `window`, where that is less), the last 4 turns kept, folds
        in the background from 70 %, and summaries of 400 tokens.

        Args:
            **changes: What is to be otherwise; see `Policy`.
        """
        given: dict[str, Any] = {
            "keep_last_turns": 4,
            "background_at": 0.7,
            "max_summary_tokens": 400,
        }
        made = cls(**(given | changes))
        if "fraction" in changes or "max_tokens" in changes:
            return made
        return replace(made, max_tokens=min(VOICE_TOKENS, made.limit(None)))

    def window_of(self, model: str | None) -> int | None:
        """Return the tokens that a model takes: as the policy says, else as is known of it."""
        return self.window if self.window is not None else window_for(model)

    def limit(self, model: str | None) -> int:
        """Return the tokens of a request from which to fold.

        Args:
            model: The agent's model, which tells the window where the policy does not.

        Raises:
            ValueError: `fraction` is of a window that nobody knows.
        """
        if self.max_tokens is not None:
            return self.max_tokens
        window = self.window_of(model)
        if self.fraction is not None:
            if window is None:
                raise ValueError(
                    f"fraction={self.fraction} of which window? That of {model or 'the model'} is "
                    "not known; pass window="
                )
            return max(1, int(window * self.fraction))
        if window is None:
            return WITHOUT_WINDOW
        return max(1, min(int(window * SHARE_OF_WINDOW), MOST_TOKENS))

    def kept_tokens(self, model: str | None, *, learned: int = 0) -> int:
        """Return the tokens that the recent part may have.

        Args:
            model: The agent's model, as for `limit`.
            learned: Tokens that each request has besides the list, as providers report.

        Raises:
            ValueError: That, with what each request has besides, is not below the trigger.
        """
        trigger, window = self.limit(model), self.window_of(model)
        self._check_room(trigger)
        # A list is folded where it passes the window, whatever the trigger.
        limit = trigger if window is None else min(trigger, window)
        share = min(MOST_KEPT, max(LEAST_KEPT, int(limit * KEEP_SHARE)))
        overhead = max(self.overhead_tokens, learned)
        half = (limit - overhead) // 2
        if self.keep_tokens is not None:
            fits = overhead >= limit or self.keep_tokens + overhead < limit
            return self.keep_tokens if fits else half
        if overhead >= limit:  # learned: no fold leads below the trigger, so less would not help
            return share
        return min(share, half)

    def kept_turns(self) -> int | None:
        """Return the turns to keep, None where tokens alone decide."""
        if self.keep_last_turns is not None:
            return self.keep_last_turns
        if self.max_turns is not None:
            return min(max(1, self.max_turns // 4), self.max_turns - 1)
        return 2 if self.max_items is not None or self.when is not None else None

    def due(self, load: Load, *, share: float = 1.0) -> bool:
        """Return whether to fold.

        Args:
            load: How large the request is.
            share: Share of each trigger that is enough.
        """
        by_when = self.when
        return self.is_reached(load, share=share) or (
            by_when is not None and is_yes("when", by_when(load))
        )

    def is_reached(self, load: Load, *, share: float = 1.0) -> bool:
        """Return whether one of the policy's numbers is reached; see `due`. `when` is not asked."""
        return (
            load.tokens >= load.limit * share
            or (load.window is not None and load.tokens > load.window * share)
            or (self.max_turns is not None and load.turns >= self.max_turns * share)
            or (self.max_items is not None and load.items >= self.max_items * share)
        )

    def _check_whole(self, name: str, least: int) -> None:
        """Check a number that has to be whole, unless it is None."""
        value = getattr(self, name)
        if value is not None:
            check_whole(name, value, least)

    def _check_shares(self) -> None:
        """Check the numbers that need not be whole, and that none is missing."""
        for name in ("overhead_tokens", "min_gain", "background_at", "backoff"):
            if getattr(self, name) is None:
                raise TypeError(f"{name} must be a number, not None")
        for name in ("backoff", "min_gain", "fraction", "background_at"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, type(None))):
                raise TypeError(f"{name} must be a number, not {value!r}")
        if not self.backoff >= 0:
            raise ValueError(f"backoff must be 0 or more seconds, not {self.backoff!r}")
        if not 0 <= self.min_gain < 1:
            raise ValueError(f"min_gain must be from 0 to below 1, not {self.min_gain!r}")
        for name in ("fraction", "background_at"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= 1:
                raise ValueError(f"{name} must be above 0 and at most 1, not {value!r}")

    def _check_room(self, limit: int, what: str = "trigger") -> None:
        """Check that a request can be below the trigger, or the window, after a fold."""
        kept = self.keep_tokens or 0
        if kept + self.overhead_tokens >= limit:
            given = f"keep_tokens={kept}"
            if self.overhead_tokens:
                given += f" with overhead_tokens={self.overhead_tokens}"
            raise ValueError(
                f"{given} is not below the {what} of {limit} tokens; every turn would fold again"
            )
