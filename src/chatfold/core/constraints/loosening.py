"""What says that an instruction holds no more, or not as strictly, without its words.

"Any time is fine now" has no word of "never call me before 9". Such a sentence takes nothing back:
it may be about something else, so that both stand, the later one behind.
Not here: what is clearly taken back (`lifts`), what the instructions are about (`content`).
"""

from __future__ import annotations

from typing import NamedTuple

from chatfold.core.constraints.content import plain_of
from chatfold.core.constraints.lifts import Lifts, Phrases
from chatfold.core.constraints.words import Words, compiled

__all__ = ["Loose", "Loosening"]


class Loose(NamedTuple):
    """A sentence that may loosen an instruction.

    Attributes:
        sentence: What the user said.
        unnamed: Whether it takes back what was said, and names none of it.
    """

    sentence: str
    unnamed: bool


class Loosening:
    """Finds by the words of one language what loosens."""

    def __init__(self, words: Words, lifts: Lifts, permit: Phrases) -> None:
        self._loosens = Phrases.of(words.loosens)
        self._unnamed = Phrases.of(words.unnamed)
        self._reports = compiled(words.reports)
        self._lifts = lifts
        self._permit = permit

    def read(self, sentence: str) -> Loose | None:
        """Return what a sentence loosens, None where that is nothing; who asks loosens nothing."""
        plain = plain_of(sentence)
        if plain.endswith("?"):
            return None
        unnamed = self._unnamed.anywhere(plain) and self._begun(plain, self._unnamed)
        loosens = self._loosens.anywhere(plain) and self._begun(plain, self._loosens)
        if not (unnamed or loosens or self._permit.anywhere(plain)):
            return None
        return None if self._reports.search(plain) else Loose(sentence, unnamed)

    def _begun(self, plain: str, phrases: Phrases) -> bool:
        """Return whether a clause of a sentence begins so; on what condition is no matter here."""
        first, later = self._lifts.places(plain)
        starts = any(phrases.match(plain, place) for place in (*first, *later))
        return starts or phrases.behind.search(plain) is not None
