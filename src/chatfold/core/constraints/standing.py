"""Standing instructions: what a user wants kept to from now on, word for word, until taken back.

They are found by the words that such requests are made of, which are data: some languages are built
in, and a `Words` of another one is written in the same way. In doubt a sentence is kept.
Not here: what a sentence means (`reader`), and where in a summary the instructions stand
(`record`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from operator import is_
from typing import Literal, NamedTuple, TypeAlias

from chatfold.core.constraints.content import Content, key_of, plain_of
from chatfold.core.constraints.languages import LANGUAGES
from chatfold.core.constraints.reader import MOST, SentenceReader
from chatfold.core.constraints.speech import Message, Speech, each_word, texts_of
from chatfold.core.constraints.words import (
    Marks,
    Words,
    compiled,
    correcting_marks_of,
    loosening_marks_of,
    marks_of,
    vocabulary_of,
)
from chatfold.core.views import ItemView

__all__ = ["Instructs", "Standing", "Words", "may_instruct", "standing"]

_PLAINLY, _AT_LEAST = 2, 2  # times as many words of one language as of another, and so many more
_SPOKEN = re.compile(r"[^\W\d_]{3}")  # "Merge it." may go on with what was to wait


Instructs: TypeAlias = Literal["", "held", "alone"]
"""How an item can change which instructions hold: not at all; where one is held, as by what loosens
it; also by itself."""


class Standing(NamedTuple):
    """What became of instructions.

    Attributes:
        held: Those that hold, oldest first, each once: sentences as they were written, 300
            characters at most; the newest 40.
        lifted: Those that users took back, in that order.
    """

    held: list[str]
    lifted: list[str]


def standing(
    views: Iterable[ItemView],
    *,
    words: Words | Sequence[Words] = LANGUAGES,
    earlier: Sequence[str] = (),
    clean: Callable[[str], str] | None = None,
) -> Standing:
    """Return the instructions of users that hold behind these items, and those taken back there.

    Only what users say is read: results of tools, what the model said, and summaries are no
    source, so that nobody else can give instructions through them.

    Args:
        views: The readings of the items.
        words: The language, or several of them. A sentence is read in each that it may be in: of
            those built in, not where another has twice as many of its words.
        earlier: Those that hold by the items before these.
        clean: Applied to every text before it is read (`redact`).
    """
    held = {key_of(text): text for text in earlier}
    lifted: list[str] = []
    said = [texts for view in views if (texts := texts_of(view, clean))]
    if said:
        languages = [*map(_Language, _lexicons(words))]
        for texts in said:
            message = Message(texts)
            for language in languages:
                if language.may_hold(message.words, held.values()):
                    lifted += language.hold(message, held)
    return Standing(list(held.values())[-MOST:], lifted)


def may_instruct(view: ItemView, clean: Callable[[str], str] | None = None) -> Instructs:
    """Return how an item can change which instructions hold, in a language that is built in.

    Args:
        view: The reading of the item.
        clean: Applied to every text before it is read (`redact`).
    """
    texts = texts_of(view, clean)
    if not any(map(_SPOKEN.search, texts)):
        return ""
    marks = _marks_of_all()
    return "alone" if marks is None or not marks.isdisjoint(each_word(texts)) else "held"


class _Lexicon(NamedTuple):
    """What is known of the words of a language.

    Attributes:
        words: The language.
        marks: Words without which no sentence says anything of instructions; None: any may.
        loosening: The same of sentences that say nothing but where an instruction is held.
        correcting: The same of those that tell a number of one anew.
        waits: Finds instructions that hold until the user goes on, which any sentence may do.
        vocabulary: All words of its phrases.
        built_in: Whether it is one of `LANGUAGES`.
        speech: How its sentences are parted.
    """

    words: Words
    marks: Marks | None
    loosening: Marks | None
    correcting: Marks | None
    waits: re.Pattern[str]
    vocabulary: frozenset[str]
    built_in: bool
    speech: Speech


class _Language:
    """Reads messages in one language."""

    def __init__(self, lexicon: _Lexicon) -> None:
        self._lexicon = lexicon
        self._known: dict[str, Content] = {}
        self._held: tuple[str, ...] = ()
        self._waiting = False
        self._waits: dict[str, bool] = {}

    def may_hold(self, spoken: Iterable[str], held: Collection[str]) -> bool:
        """Return whether among these words is one of those that instructions are told by.

        To look for words is far quicker than to look for phrases, and most messages have none.

        Args:
            spoken: The words.
            held: The instructions that hold, which may be loosened.
        """
        marks, loosening = self._lexicon.marks, self._lexicon.loosening
        if marks is None or not marks.words.isdisjoint(spoken):
            return True
        if held and (loosening is None or not loosening.words.isdisjoint(spoken)):
            return True
        return bool(held) and self._are_waiting(tuple(held))

    def _may_change(self, words: frozenset[str], held: Collection[str]) -> bool:
        """Return whether a sentence, of which `may_hold` is true, may be or have what matters.

        "Can you send it?" has a word of "can you only", and is none of what that is a part of.

        Args:
            words: Its words.
            held: The instructions that hold.
        """
        marks, loosening = self._lexicon.marks, self._lexicon.loosening
        if marks is None or marks.may_be_in(words):
            return True
        if not held:
            return False
        others = (loosening, self._lexicon.correcting)
        if any(other is None or other.may_be_in(words) for other in others):
            return True
        return self._are_waiting(tuple(held))

    def _are_waiting(self, held: tuple[str, ...]) -> bool:
        """Return whether one of the instructions that hold does so until the user goes on.

        It is asked for every message and most of its sentences, and seldom of others than before.
        """
        if held != self._held:
            for text in held:
                if text not in self._waits:
                    self._waits[text] = bool(self._lexicon.waits.search(plain_of(text)))
            self._held, self._waiting = held, any(self._waits[text] for text in held)
        return self._waiting

    def hold(self, message: Message, held: dict[str, str]) -> list[str]:
        """Change what is held as a message says, and return the instructions that it takes back.

        Args:
            message: What the user said.
            held: The instructions, oldest first, by their keys.
        """
        speech = self._lexicon.speech
        lifted: list[str] = []
        is_mail: bool | None = None
        for sentence, words, own in message.sentences(speech):
            now = held.values()
            if not (self.may_hold(words, now) and self._may_change(words, now)):
                continue
            if self._is_foreign(words):
                continue
            if own and is_mail is None:
                is_mail = message.is_mail(speech)
            reader = _reader(self._lexicon.words)  # not before it is needed
            back = reader.hold(sentence, held, self._known, own=own and not is_mail)
            if back is not None:
                lifted.append(back)
        return lifted

    def _is_foreign(self, said: frozenset[str]) -> bool:
        """Return whether a sentence of these words is plainly in another built-in language.

        "Solo" is Italian and Spanish. A language of the caller's may have few words, and is read.
        """
        if not self._lexicon.built_in:
            return False
        own = len(said & self._lexicon.vocabulary)
        return _most_of_one(said) >= max(_PLAINLY * own, own + _AT_LEAST)


@lru_cache(maxsize=32)
def _most_of_one(said: frozenset[str]) -> int:
    """Return how many of these words one of the built-in languages has at most."""
    return max(len(said & language.vocabulary) for language in _built_in())


@cache
def _marks_of_all() -> frozenset[str] | None:
    """Return the marks of all languages that are built in, None where any sentence may have one."""
    marks = [own.words for words in LANGUAGES if (own := marks_of(words)) is not None]
    return frozenset[str]().union(*marks) if len(marks) == len(LANGUAGES) else None


@cache
def _built_in() -> tuple[_Lexicon, ...]:
    return tuple(map(_lexicon, LANGUAGES))


def _lexicons(words: Words | Sequence[Words]) -> Iterator[_Lexicon]:
    """Yield what is known of languages; to look for those built in by their words takes longer."""
    several = (words,) if isinstance(words, Words) else words
    number = len(LANGUAGES)
    if len(several) >= number and all(map(is_, several, LANGUAGES)):
        yield from _built_in()
        several = several[number:]
    yield from map(_lexicon, several)


@lru_cache(maxsize=32)
def _lexicon(words: Words) -> _Lexicon:
    """Return what is known of a language; made once, as that takes milliseconds."""
    marks, loosening = marks_of(words), loosening_marks_of(words)
    correcting = correcting_marks_of(words)
    waits, vocabulary = compiled(words.waits), vocabulary_of(words)
    built_in, speech = words in LANGUAGES, Speech(words)
    return _Lexicon(words, marks, loosening, correcting, waits, vocabulary, built_in, speech)


@lru_cache(maxsize=32)
def _reader(words: Words) -> SentenceReader:
    """Return what reads by these words; made once, as that takes tens of milliseconds."""
    return SentenceReader(words)
