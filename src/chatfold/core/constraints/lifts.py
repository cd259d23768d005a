"""Where in a sentence something is taken back, and where that is only spoken of.

"Forget what I said" takes back; "you always forget what I said" complains, "I never said you can"
denies. So what takes back has to begin its clause. Not here: what is taken back (`standing`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from chatfold.core.constraints.words import Words, alternatives, compiled

__all__ = ["Lifts", "Phrases", "Places"]


class Phrases:
    """Phrases that begin a clause, and those behind what they are about.

    Args:
        beginning: Find the former.
        behind: Finds the latter, without what they are about.
    """

    def __init__(self, beginning: Sequence[re.Pattern[str]], behind: re.Pattern[str]) -> None:
        self._beginning = beginning
        self.behind = behind

    @classmethod
    def of(cls, phrases: Sequence[str]) -> Phrases:
        """Return what finds these; those of them that begin with `*` stand behind."""
        beginning = compiled([p for p in phrases if not p.startswith("* ")])
        behind = compiled([p.removeprefix("* ") for p in phrases if p.startswith("* ")])
        return cls([beginning], behind)

    def match(self, plain: str, place: int) -> re.Match[str] | None:
        """Return the one that begins at a place of a sentence in small letters."""
        return next(filter(None, (each.match(plain, place) for each in self._beginning)), None)

    def anywhere(self, plain: str) -> bool:
        """Return whether a sentence in small letters has one of them, wherever it stands."""
        return any(each.search(plain) for each in (*self._beginning, self.behind))


class Places(NamedTuple):
    """Where clauses begin in a sentence, in characters.

    Attributes:
        first: The first one, also behind what opens it.
        later: Those behind a comma.
    """

    first: tuple[int, ...]
    later: tuple[int, ...]


class Lifts:
    """Finds by the words of one language what takes back."""

    def __init__(self, words: Words) -> None:
        opener = alternatives((*words.openers, *words.fillers, *words.limits)) or "(?!)"
        self._opener = re.compile(rf"(?:{opener})(?!'?\w)(?:[ ,;!.…–—-]+|$)")
        self._answers = re.compile(rf"(?:(?:{opener}) ?[,;!–—-]+ ?)*+")
        self._clause = re.compile(r"[,;–—](?: |(?=\w))|(?<=\s)-+ ")
        self._hedge = compiled((*words.reports, *words.hedges))
        self._negation = compiled(words.negations)

    def places(self, plain: str) -> Places:
        """Return where a clause of a sentence in small letters begins."""
        first = self._opened(plain, 0)
        reached = first[-1]
        later: list[int] = []
        for match in self._clause.finditer(plain):
            if match.end() > reached:
                later += self._opened(plain, match.end())
                reached = later[-1]
        return Places(tuple(first), tuple(later))

    def find(self, plain: str, phrases: Phrases, places: Places) -> re.Match[str] | None:
        """Return the first phrase that takes back, None where there is none or it is in doubt.

        Args:
            plain: A sentence in small letters.
            phrases: What takes back.
            places: Where its clauses begin.
        """
        for place in places.first:
            match = phrases.match(plain, place)
            if match:
                return None if self._hedged(plain, match) else match
        for place in places.later:
            match = phrases.match(plain, place)
            if match:
                negated = self._negation.search(plain, self._answered(plain), match.start())
                return None if negated or self._hedged(plain, match) else match
        match = phrases.behind.search(plain)
        return None if match is None or self._hedged(plain, match) else match

    def _opened(self, plain: str, place: int) -> list[int]:
        """Return a place and those behind each of the words there that only open a clause."""
        places = [place]
        while match := self._opener.match(plain, places[-1]):
            places.append(match.end())
        return places

    def _answered(self, plain: str) -> int:
        match = self._answers.match(plain)
        return match.end() if match else 0

    def _hedged(self, plain: str, match: re.Match[str]) -> bool:
        """Return whether the words around a phrase say that it is none, or another's."""
        before, behind = plain[: match.start()], plain[match.end() :]
        return bool(self._hedge.search(before) or self._hedge.search(behind))
