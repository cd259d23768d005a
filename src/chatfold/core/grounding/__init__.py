"""Which values of a summary nobody gave: what its author was shown, and what follows from it."""

from chatfold.core.grounding.ungrounded import (
    DROPPED_KINDS,
    Sources,
    Ungrounded,
    ungrounded,
    without,
)

__all__ = ["DROPPED_KINDS", "Sources", "Ungrounded", "ungrounded", "without"]
