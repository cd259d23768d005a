"""Standing instructions: what a user wants kept to from now on, word for word, until taken back.

They are found by the words that such requests are made of, which are data: some languages are built
in, and a `Words` of another one is written in the same way. In doubt a sentence is kept.
Not here: what a sentence means (`reader`), and where in a summary the instructions stand
(`record`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from chatfold.core.constraints.content import Content, key_of, plain_of
from chatfold.core.constraints.languages import LANGUAGES
from chatfold.core.constraints.lexicons import Lexicon, built_in, lexicons, reader_of
from chatfold.core.constraints.reader import MOST, May
from chatfold.core.constraints.remarks import Remark, Remarks, remarks_in
from chatfold.core.constraints.speech import Message
from chatfold.core.constraints.words import Words
from chatfold.core.views import ItemView

__all__ = ["Standing", "Words", "standing", "standing_by"]

_NOTHING: Final = May()  # that the words of a sentence do


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
    languages = [*lexicons(words)]
    messages = (Message(view, clean) for view in views)
    said = ((remarks_in(message, languages), message) for message in messages if message.texts)
    return _standing(said, languages, earlier)


def standing_by(
    said: Iterable[tuple[ItemView, Remarks]],
    *,
    words: Sequence[Words] = (),
    earlier: Sequence[str] = (),
    clean: Callable[[str], str] | None = None,
) -> Standing:
    """Return the same in the languages that are built in, by remarks that are known, and in others.

    Args:
        said: The readings of the items in which a user speaks, each with its remarks.
        words: The other languages.
        earlier: Those that hold by the items before these.
        clean: Applied to every text before it is read (`redact`), as it was for the remarks.
    """
    known, others = built_in(), [*lexicons(words)]
    # A word of another language may be as short as "不".
    spoken = ((r or (), Message(view, clean)) for view, r in said if others or r is not None)
    if others:
        spoken = (((*r, *remarks_in(m, others, len(known))), m) for r, m in spoken if m.texts)
    return _standing(spoken, (*known, *others), earlier)


def _standing(
    said: Iterable[tuple[Sequence[Remark], Message]],
    lexicons: Sequence[Lexicon],
    earlier: Sequence[str],
) -> Standing:
    """Return what became of instructions.

    Args:
        said: The remarks of each message, and the whole of it.
        lexicons: The languages that the remarks are in.
        earlier: The instructions that hold before.
    """
    held = {key_of(text): text for text in earlier}
    lifted: list[str] = []
    languages = [_Language(number, lexicon) for number, lexicon in enumerate(lexicons)]
    waiting = any(language.is_waiting(held.values()) for language in languages)
    for remarks, message in said:
        if not (remarks or waiting):
            continue
        for number, language in enumerate(languages):
            own = [remark for remark in remarks if remark.language == number]
            if own or waiting:
                lifted += language.hold(own, message, held)
                waiting = any(each.is_waiting(held.values()) for each in languages)
    return Standing(list(held.values())[-MOST:], lifted)


class _Language:
    """Reads messages in one language."""

    def __init__(self, number: int, lexicon: Lexicon) -> None:
        self._number = number
        self._lexicon = lexicon
        self._known: dict[str, Content] = {}
        self._held: tuple[str, ...] = ()
        self._waiting = False
        self._waits: dict[str, bool] = {}

    def is_waiting(self, held: Collection[str]) -> bool:
        """Return whether one of the instructions that hold does so until the user goes on.

        It is asked for every message, and seldom of others than before.
        """
        texts = tuple(held)
        if texts != self._held:
            for text in texts:
                if text not in self._waits:
                    self._waits[text] = bool(self._lexicon.waits.search(plain_of(text)))
            self._held, self._waiting = texts, any(self._waits[text] for text in texts)
        return self._waiting

    def hold(self, remarks: Iterable[Remark], message: Message, held: dict[str, str]) -> list[str]:
        """Change what is held as a message says, and return the instructions that it takes back.

        Args:
            remarks: Those of the message in this language.
            message: The whole of it: where one of the instructions waits, any sentence may go on
                with that.
            held: The instructions, oldest first, by their keys.
        """
        lifted: list[str] = []
        place = 0
        for remark in remarks:
            if self.is_waiting(held.values()):
                break
            lifted += self._read(remark, message, held)
            place = remark.at + 1
        if self.is_waiting(held.values()):
            for remark in self._rest(message, place):
                lifted += self._read(remark, message, held)
        return lifted

    def _rest(self, message: Message, place: int) -> Iterator[Remark]:
        """Yield all sentences of a message from one on that are in this language."""
        lexicon = self._lexicon
        for at, (text, words, own) in enumerate(message.sentences(lexicon.speech)[place:], place):
            if not lexicon.is_foreign(words):
                yield Remark(self._number, at, text, own, lexicon.may(words) or _NOTHING)

    def _read(self, remark: Remark, message: Message, held: dict[str, str]) -> list[str]:
        """Return the instruction that a sentence of a message takes back, if it does."""
        if not remark.may.alone and not held:
            return []
        if remark.may == _NOTHING and not self.is_waiting(held.values()):
            return []

        def is_own() -> bool:
            return remark.own and not message.is_mail(self._lexicon.speech)

        reader = reader_of(self._lexicon.words)  # not before it is needed
        back = reader.hold(remark.text, remark.may, held, self._known, is_own=is_own)
        return [] if back is None else [back]
