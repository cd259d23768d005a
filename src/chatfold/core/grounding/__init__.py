"""Which values of a summary nobody gave: what its author was shown, and what follows from it."""

from chatfold.core.grounding.second_answers import is_mended, is_shortened
from chatfold.core.grounding.ungrounded import (
    DROPPED_KINDS,
    Sources,
    Ungrounded,
    ungrounded,
    without,
)

__all__ = [
    "DROPPED_KINDS",
    "Sources",
    "Ungrounded",
    "is_mended",
    "is_shortened",
    "ungrounded",
    "without",
]
