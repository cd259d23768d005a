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
from chatfold.core.constraints.reader import May, SentenceReader
from chatfold.core.constraints.speech import Speech
from chatfold.core.constraints.words import (
    Marks,
    Words,
    asking_marks_of,
    compiled,
    correcting_marks_of,
    lifting_marks_of,
    loosening_marks_of,
    telling_marks_of,
    vocabulary_of,
)

__all__ = ["Lexicon", "built_in", "lexicons", "reader_of"]

_PLAINLY, _AT_LEAST = 2, 2  # times as many words of one language as of another, and so many more


class Lexicon(NamedTuple):
    """What is known of the words of a language.

    Attributes:
        words: The language.
        marks: Words without which no sentence does anything to instructions, as all but those of
            `loosening` and `correcting` need none to be held; None: any may.
        telling: Words without which no sentence is an instruction, but for questions; None: any
            may, as with those that follow.
        asking: The same of questions.
        lifting: The same of sentences that take something back or allow it.
        loosening: The same of sentences that say nothing but where an instruction is held.
        correcting: The same of those that tell a number of one anew.
        waits: Finds instructions that hold until the user goes on, which any sentence may do.
        vocabulary: All words of its phrases.
        is_built_in: Whether it is one of `LANGUAGES`.
        speech: How its sentences are parted.
    """

    words: Words
    marks: frozenset[str] | None
    telling: Marks | None
    asking: Marks | None
    lifting: Marks | None
    loosening: Marks | None
    correcting: Marks | None
    waits: re.Pattern[str]
    vocabulary: frozenset[str]
    is_built_in: bool
    speech: Speech

    def may(self, said: frozenset[str]) -> May | None:
        """Return what a text of these words may do to instructions, None where that is nothing.

        "Can you send it?" has a word of "can you only", and is none of what that is a part of. Each
        word of a sentence is one of the text around it, so either can be asked for.
        """
        if self.marks is not None and self.marks.isdisjoint(said):
            return None  # as of most
        kinds = (self.telling, self.asking, self.lifting, self.loosening, self.correcting)
        may = May(*(marks is None or marks.may_be_in(said) for marks in kinds))
        return may if any(may) else None

    def is_foreign(self, said: frozenset[str]) -> bool:
        """Return whether a sentence of these words is plainly in another built-in language.

        "Solo" is Italian and Spanish. A language of the caller's may have few words, and is read.
        """
        if not self.is_built_in:
            return False
        own = len(said & self.vocabulary)
        plainly = max(_PLAINLY * own, own + _AT_LEAST)
        return any(len(said & language.vocabulary) >= plainly for language in built_in())


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
    telling, asking, lifting = (
        marks_of(words) for marks_of in (telling_marks_of, asking_marks_of, lifting_marks_of)
    )
    loosening, correcting = loosening_marks_of(words), correcting_marks_of(words)
    waits, vocabulary = compiled(words.waits), vocabulary_of(words)
    return Lexicon(
        words,
        _joined((telling, asking, lifting, loosening)),
        telling,
        asking,
        lifting,
        loosening,
        correcting,
        waits,
        vocabulary,
        is_built_in=words in LANGUAGES,
        speech=Speech(words),
    )


def _joined(several: Sequence[Marks | None]) -> frozenset[str] | None:
    """Return the words of all marks, None where any sentence may have what one of them tells."""
    words = [marks.words for marks in several if marks is not None]
    return frozenset[str]().union(*words) if len(words) == len(several) else None


@lru_cache(maxsize=32)
def reader_of(words: Words) -> SentenceReader:
    """Return what reads by these words; made once, as that takes tens of milliseconds."""
    return SentenceReader(words)
