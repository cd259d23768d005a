"""Whether a second answer of a model may take the place of its first, by the values it still holds.

A model that is asked to mend its words, or to shorten them, may answer about them instead: with an
apology, a question, the one line that was wrong. No list of such words is complete; what no longer
stands in the answer tells them from a summary in any language.
Not here: asking (`write`), what else has to be right about an answer (`guard`, `parts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from chatfold.core.grounding.cut_out import cut_out
from chatfold.core.grounding.ungrounded import DROPPED_KINDS, Ungrounded
from chatfold.core.values import Value, values

__all__ = ["is_mended", "is_shortened"]

_MENDED: Final = 2  # one in so many values: "change nothing else" is what was asked for
_SHORTENED: Final = 20  # one in so many: the finished goes, and a range may stand for many
_FEW: Final = 3  # are enough, however many there were: words about a summary name hardly one


def is_mended(
    first: str,
    second: str,
    asked: Sequence[Ungrounded],
    found: Sequence[Ungrounded],
    left: Sequence[Ungrounded],
) -> bool:
    """Return whether a second answer tells as much as would be left of the first without it.

    That is half of its proven values, or as many of its own: a model may give others their place.
    Where no proven value would be left, nothing can be told from them, and it is taken.

    Args:
        first: The first answer.
        second: The answer to the request to mend it.
        asked: The values that the model was asked to mend.
        found: All of the first answer that nobody gave.
        left: All of the second one that nobody gave.
    """
    rest, _ = cut_out(first, sorted({unproven.sentence for unproven in asked}))
    proven = _proven(values(rest), found)
    told = _proven(values(second), left)
    return _held(proven, second) * _MENDED >= len(proven) or len(told) >= len(proven)


def is_shortened(first: str, second: str, found: Sequence[Ungrounded]) -> bool:
    """Return whether a second answer is a summary of what the first one, far too long, told.

    It names some of what the first names: three of its proven ids, dates, amounts and addresses,
    or one in twenty where that is less, and one at least. A first answer without any tells
    nothing of a second one.

    Args:
        first: The first answer.
        second: The answer to the request to shorten it.
        found: What of the first nobody gave.
    """
    firm = (value for value in values(first) if value.kind in DROPPED_KINDS)
    proven = _proven(firm, found)
    least = max(1, min(_FEW, len(proven) // _SHORTENED))
    return not proven or _held(proven, second) >= least


def _proven(said: Iterable[Value], found: Sequence[Ungrounded]) -> dict[str, Value]:
    """Return the values that somebody gave, by what they say: each counts once."""
    proven = {value.key: value for value in said}
    for unproven in found:
        proven.pop(unproven.value.key, None)
    return proven


def _held(proven: dict[str, Value], text: str) -> int:
    """Return how many values a text holds, also less or more exactly: a date without its year."""
    told = {key for value in values(text) for key in (value.key, *value.also)}
    return sum(not told.isdisjoint((value.key, *value.also)) for value in proven.values())
