"""What is known of the words of each language before a sentence is read.

It takes milliseconds to make, and is made once for a language: the words by which sentences that
say nothing of instructions are passed over, and how its sentences are parted.
Not here: how sentences are read (`reader`), which of them matter (`remarks`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from operator import is_
from typing import NamedTuple

from chatfold.core.constraints.languages import LANGUAGES
from chatfold.core.constraints.reader import SentenceReader
from chatfold.core.constraints.speech import Speech
from chatfold.core.constraints.words import (
    Marks,
    Words,
    compiled,
    correcting_marks_of,
    loosening_marks_of,
    marks_of,
    vocabulary_of,
)

__all__ = ["Lexicon", "built_in", "lexicons", "reader_of"]

_PLAINLY, _AT_LEAST = 2, 2  # times as many words of one language as of another, and so many more


class Lexicon(NamedTuple):
    """What is known of the words of a language.

    Attributes:
        words: The language.
        marks: Words without which no sentence says anything of instructions; None: any may.
        loosening: The same of sentences that say nothing but where an instruction is held.
        correcting: The same of those that tell a number of one anew.
        waits: Finds instructions that hold until the user goes on, which any sentence may do.
        vocabulary: All words of its phrases.
        is_built_in: Whether it is one of `LANGUAGES`.
        speech: How its sentences are parted.
    """

    words: Words
    marks: Marks | None
    loosening: Marks | None
    correcting: Marks | None
    waits: re.Pattern[str]
    vocabulary: frozenset[str]
    is_built_in: bool
    speech: Speech

    def may_give(self, said: frozenset[str]) -> bool:
        """Return whether a text of these words may give or take back an instruction by itself.

        "Can you send it?" has a word of "can you only", and is none of what that is a part of.
        """
        return self.marks is None or self.marks.may_be_in(said)

    def may_change(self, said: frozenset[str]) -> bool:
        """Return whether it may give one, or change one that is held."""
        marks, loosening, correcting = self.marks, self.loosening, self.correcting
        if marks is None or loosening is None or loosening.may_be_in(said):
            return True
        # Who tells a number anew says a word, at least, of those that instructions are told by.
        if marks.words.isdisjoint(said) and loosening.words.isdisjoint(said):
            return False
        return marks.may_be_in(said) or correcting is None or correcting.may_be_in(said)

    def is_foreign(self, said: frozenset[str]) -> bool:
        """Return whether a sentence of these words is plainly in another built-in language.

        "Solo" is Italian and Spanish. A language of the caller's may have few words, and is read.
        """
        if not self.is_built_in:
            return False
        own = len(said & self.vocabulary)
        return _most_of_one(said) >= max(_PLAINLY * own, own + _AT_LEAST)


@lru_cache(maxsize=32)
def _most_of_one(said: frozenset[str]) -> int:
    """Return how many of these words one of the built-in languages has at most."""
    return max(len(said & language.vocabulary) for language in built_in())


@cache
def built_in() -> tuple[Lexicon, ...]:
    """Return what is known of the languages that are built in, in their order."""
    return tuple(map(_lexicon, LANGUAGES))


def lexicons(words: Words | Sequence[Words]) -> Iterator[Lexicon]:
    """Yield what is known of languages; to look for those built in by their words takes longer."""
    several = (words,) if isinstance(words, Words) else words
    number = len(LANGUAGES)
    if len(several) >= number and all(map(is_, several, LANGUAGES)):
        yield from built_in()
        several = several[number:]
    yield from map(_lexicon, several)


@lru_cache(maxsize=32)
def _lexicon(words: Words) -> Lexicon:
    marks, loosening = marks_of(words), loosening_marks_of(words)
    correcting = correcting_marks_of(words)
    waits, vocabulary = compiled(words.waits), vocabulary_of(words)
    is_built_in, speech = words in LANGUAGES, Speech(words)
    return Lexicon(words, marks, loosening, correcting, waits, vocabulary, is_built_in, speech)


@lru_cache(maxsize=32)
def reader_of(words: Words) -> SentenceReader:
    """Return what reads by these words; made once, as that takes tens of milliseconds."""
    return SentenceReader(words)
