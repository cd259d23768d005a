"""One answer of several: a history goes on with one of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from chatfold.core.native import field

__all__ = ["chosen", "others"]


def chosen(answers: Sequence[Any], choice: int | None) -> Any:
    """Return the answer that is wanted, None where there is none at all.

    Args:
        answers: The answers of a response; their `index` counts, else their place.
        choice: Which one, from 0; None where there is only one.

    Raises:
        ValueError: There are several answers and `choice` is None, or there is no such one.
    """
    if choice is None:
        if len(answers) > 1:
            raise ValueError(
                f"the response holds {len(answers)} answers, and a history goes on with one; pass "
                "choice=0 for the first, and so on"
            )
        return answers[0] if answers else None
    for place, answer in enumerate(answers):
        index = field(answer, "index")
        if choice == (place if index is None else index):
            return answer
    raise ValueError(f"the response has no choice {choice}; it holds {len(answers)}")


def others(seen: Collection[int]) -> str:
    """Return the words for answers of a stream that are not recorded, "" where there are none."""
    return f"{len(seen)} more choices (only the first is recorded)" if seen else ""
