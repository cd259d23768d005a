"""What a fold has cost so far: one value that whoever pays adds to, and every way out reads.

Not here: the model calls, and what time it is, which who has a clock says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chatfold.core.usage import Usage
from chatfold.errors import ChatfoldError

__all__ = ["Cost"]


@dataclass(slots=True)
class Cost:
    """What one fold has cost so far, however it ends.

    Attributes:
        usage: Tokens of every model call that was answered, or None where none told.
        llm_calls: Number of model calls, one under way included.
        model: The model that answered last, or None.
        since: When its time began to count, by the clock of who counts it; None where nobody does.
    """

    usage: Usage | None = None
    llm_calls: int = 0
    model: str | None = None
    since: float | None = None

    def add(self, usage: Usage | None) -> None:
        """Add what a model call used, where that is known."""
        if usage is not None:
            self.usage = (self.usage or Usage()) + usage

    def add_failed(self, error: BaseException) -> None:
        """Add what a failed model call used: it may have been answered all the same."""
        if isinstance(error, ChatfoldError):
            self.add(error.usage)

    def charge(self, error: BaseException) -> None:
        """Have an error of chatfold say what has been spent."""
        if isinstance(error, ChatfoldError):
            error.usage, error.llm_calls = self.usage, self.llm_calls

    def fields(self, now: float) -> dict[str, Any]:
        """Return it as fields of an outcome.

        Args:
            now: The time, by the clock of `since`.
        """
        return {
            "usage": self.usage,
            "llm_calls": self.llm_calls,
            "model": self.model,
            "seconds": 0.0 if self.since is None else now - self.since,
        }
