"""What is learned from turn to turn: how far a count is off, and when to try again.

Both are values: the time and the numbers come from the caller.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["NO_WAIT", "SOME", "Calibration", "Wait"]

_LONGEST: Final = 15  # times the first wait
_GROWTH: Final = 1.25
SOME: Final = 1 / 16
"""Share of a list that is worth another look, where there was nothing to fold."""

_TELLING: Final = 2_000  # tokens; what a shorter list is off by says nothing of a longer one
_CLOSE: Final = 0.1  # of a report: what counts and tokenizers differ by, once calibrated
_LEAST: Final = 0.5  # no tokenizer makes half as many; a proxy may leave out what was cached


class Calibration(NamedTuple):
    """How the size that a provider reports for a request differs from what was counted.

    Attributes:
        extra: Tokens that each request has besides the list.
        ratio: Tokens of the provider for each token of ours.
    """

    extra: int = 0
    ratio: float = 1.0

    def of(self, counted: int) -> int:
        """Return the tokens of a request, given those of its list."""
        return int(counted * self.ratio) + self.extra

    def counted(self, tokens: int) -> int:
        """Return how much of the list, by our count, is so many of the provider's tokens.

        Never more than that number: a report may be low, as where one leaves out what was cached.
        """
        return int(tokens / max(1.0, self.ratio))

    def fits(self, reported: int, counted: int) -> bool:
        """Return whether a report may well be of a list of that size: within a tenth."""
        return abs(self.of(counted) - reported) <= _CLOSE * reported

    @staticmethod
    def believes(reported: int, counted: int, overhead: int) -> bool:
        """Return whether a report may be of that list; see `learned`."""
        return reported - overhead >= _LEAST * counted

    @classmethod
    def learned(cls, reported: int, counted: int, overhead: int) -> Calibration:
        """Return what one report tells.

        What is reported beyond the count is taken for what the request has besides the list, until
        the caller says how much that is; then it is the count that is off. A report of less than
        half of the count is not believed: it would keep the list from ever being folded.

        Args:
            reported: Input tokens of a request, by the provider.
            counted: Tokens of the list in that request, by our count.
            overhead: Tokens besides the list, as far as the caller knows.
        """
        known = reported - overhead
        if not cls.believes(reported, counted, overhead):
            return cls(overhead)
        if counted >= _TELLING and known > 0 and (overhead or known < counted):
            return cls(overhead, known / counted)
        return cls(overhead + max(0, known - counted))


class Wait(NamedTuple):
    """How long a head that could not be folded is left alone.

    Attributes:
        failures: How often in a row it could not be folded.
        until: Time from which it may be tried again, in seconds of any clock.
        size: Tokens of the head from which it may be tried sooner.
    """

    failures: int = 0
    until: float = 0.0
    size: float = 0.0

    def over(self, now: float, head: int) -> bool:
        """Return whether it may be tried again.

        Args:
            now: The time.
            head: Tokens that would be folded.
        """
        return not self.failures or now >= self.until or head >= self.size

    def longer(self, now: float, head: int, first: float) -> Wait:
        """Return the wait after one more failure: twice as long as the one before it.

        Args:
            now: The time.
            head: Tokens that could not be folded.
            first: Seconds of the first wait; none is longer than fifteen times that.
        """
        seconds = first * min(2**self.failures, _LONGEST)
        return Wait(self.failures + 1, now + seconds, max(head, 1) * _GROWTH)

    @classmethod
    def short(cls, now: float, size: int, seconds: float) -> Wait:
        """Return the wait where there was nothing to fold: it costs little to look again.

        Args:
            now: The time.
            size: Tokens of the list; a sixteenth more is worth another look.
            seconds: How long to wait at most.
        """
        return cls(1, now + seconds, max(size, 1) * (1 + SOME))


NO_WAIT: Final = Wait()
"""After a fold."""
