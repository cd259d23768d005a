"""What calls that name the same gave, one after the other: the latest is what holds.

Not here: what names a call (`call_words`), how it is told (`phrasing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from chatfold.core.call_json import Path
from chatfold.core.call_words import CallWords
from chatfold.core.recording.phrasing import on_one_line

__all__ = ["Alike"]

_LOOKED_AT: Final = 50  # calls


class Alike:
    """Calls beside others of their tool that name the same.

    Args:
        words: The words of all calls.
        numbers: Positions of those that are asked about.

    Attributes:
        calls: For each of them the calls like it, in order; None where there is no other.
    """

    def __init__(self, words: CallWords, numbers: Sequence[int]) -> None:
        self._words = words
        self.calls = _alike(words, numbers)

    def change(self, number: int, path: Path, leaf: object) -> tuple[str, str]:
        """Return what the latest call like this one gave at a path, and what was there before.

        Args:
            number: Position of the call.
            path: Where in its result.
            leaf: What stands there.
        """
        alike, clean = self.calls.get(number, ()), self._words.clean
        if alike is None:  # as most are
            return on_one_line(leaf, clean), ""
        now = was = ""
        for other in reversed(alike[-_LOOKED_AT:]):
            text = on_one_line(self._words.leaf(self._words.result(other), path), clean)
            if not text:
                continue
            if now and text != now:
                was = text
                break
            now = text
        return now, was

    def is_past(self, number: int, path: Path, text: str) -> bool:
        """Return whether the latest call like one gave something else at a path, and not this."""
        alike = self.calls.get(number)
        if not alike or alike[-1] == number:
            return False
        latest, words = alike[-1], self._words
        now = on_one_line(words.leaf(words.result(latest), path), words.clean)
        return bool(now) and now != text and text not in words.calls[latest].result


def _alike(words: CallWords, numbers: Sequence[int]) -> Mapping[int, list[int] | None]:
    """Return, for each call, the calls of its tool that name the same, in order; None for itself.

    Args:
        words: The words of the calls.
        numbers: Positions of those that are asked about.
    """
    said = words.identities(numbers)
    if len(set(said)) == len(said):  # of whatever tool
        return dict.fromkeys(numbers)
    named: dict[object, list[int]] = {}
    for number, fields in zip(numbers, said, strict=True):
        named.setdefault((words.calls[number].qualified_name, fields), []).append(number)
    made: dict[int, list[int] | None] = {}
    for alike in named.values():
        if len(alike) == 1:
            made[alike[0]] = None
            continue
        same: dict[object, list[int]] = {}  # what names them may leave out in what they differ
        for number in alike:
            same.setdefault(words.given(number), []).append(number)
        made.update(
            {n: calls if len(calls) > 1 else None for calls in same.values() for n in calls}
        )
    return made
