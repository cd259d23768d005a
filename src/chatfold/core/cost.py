"""What a fold has cost so far: one value that whoever pays adds to, and every way out reads.

Not here: the model calls, and what time it is, which who has a clock says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from chatfold.core.usage import Usage
from chatfold.errors import ChatfoldError

__all__ = ["Answers", "Cost"]


class Answers(NamedTuple):
    """What one model behind one summarizer has answered in a fold.

    Attributes:
        backend: Index of the summarizer in the fallback chain.
        model: The model, by its own word; None where the answer does not name it, or did not come.
        usage: Tokens of its calls, or None where none told.
    """

    backend: int
    model: str | None
    usage: Usage | None


@dataclass(slots=True)
class Cost:
    """What one fold has cost so far, however it ends.

    Attributes:
        usage: Tokens of every model call that was answered, or None where none told.
        llm_calls: Number of model calls, one under way included; what writes without a model is
            asked without one.
        model: Who answered last, a model or what writes without one; None where nobody says.
        since: When its time began to count, by the clock of who counts it; None where nobody does.
        backend: Index in the fallback chain of the summarizer that was asked last.
        answers: The same tokens by who used them, the one that answered last at the end.
    """

    usage: Usage | None = None
    llm_calls: int = 0
    model: str | None = None
    since: float | None = None
    backend: int = 0
    answers: tuple[Answers, ...] = ()

    def add(self, usage: Usage | None, model: str | None, *, by_model: bool = True) -> None:
        """Add an answer of the summarizer that was asked last.

        Args:
            usage: What it used, where that is known.
            model: Who answered.
            by_model: Whether that is a model: what writes without one has no part in `usage`.
        """
        self.model = model
        self._note(usage, model)
        if by_model:
            self.usage = _sum(self.usage, usage)

    def add_failed(self, error: BaseException) -> None:
        """Add what a failed model call used: it may have been answered all the same."""
        if isinstance(error, ChatfoldError) and error.usage is not None:
            self._note(error.usage, None)
            self.usage = _sum(self.usage, error.usage)

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

    def _note(self, usage: Usage | None, model: str | None) -> None:
        """Add tokens to those of who used them."""
        who = (self.backend, model)
        before = next((a.usage for a in self.answers if a[:2] == who), None)
        # A new tuple, never one that changes: who gives a fold up may be reading it meanwhile.
        others = (a for a in self.answers if a[:2] != who)
        self.answers = (*others, Answers(*who, _sum(before, usage)))


def _sum(before: Usage | None, usage: Usage | None) -> Usage | None:
    return before if usage is None else (before or Usage()) + usage
