"""Which sentences of a message can change which instructions hold, whichever do.

That is a property of the message alone, so it is known of each before a fold, and of most there is
nothing to remember.
Not here: what the sentences then do (`standing`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from chatfold.core.constraints.lexicons import Lexicon, built_in
from chatfold.core.constraints.reader import May
from chatfold.core.constraints.speech import Message
from chatfold.core.views import ItemView

__all__ = ["Remark", "Remarks", "remarks_in", "remarks_of"]

_SPOKEN = re.compile(r"[^\W\d_]{3}")  # "Merge it." may go on with what was to wait


class Remark(NamedTuple):
    """A sentence that can change which instructions hold.

    Attributes:
        language: The position of the language in which it can.
        at: The position of the sentence among those of its message in that language.
        text: The sentence.
        own: Whether it is the user's own words, if no mail was pasted into the message.
        may: What its words may do.
    """

    language: int
    at: int
    text: str
    own: bool
    may: May


Remarks: TypeAlias = tuple[Remark, ...] | None
"""Those of an item, in the order of the languages; None where no user says a word in it, so that
it does not go on either with what was to wait."""


def remarks_of(view: ItemView, clean: Callable[[str], str] | None = None) -> Remarks:
    """Return the remarks of an item in the languages that are built in.

    Args:
        view: The reading of the item.
        clean: Applied to every text before it is read (`redact`).
    """
    message = Message(view, clean)
    if not any(map(_SPOKEN.search, message.texts)):
        return None
    return remarks_in(message, built_in())


def remarks_in(
    message: Message, languages: Sequence[Lexicon], first: int = 0
) -> tuple[Remark, ...]:
    """Return the remarks of a message in some languages, the first of which has that position."""
    return tuple(chain.from_iterable(_each(message, languages, first)))


def _each(message: Message, languages: Sequence[Lexicon], first: int) -> Iterator[Iterable[Remark]]:
    """Yield the remarks in each language in which its words alone do not rule them out.

    To look for words is far quicker than to part sentences, and most messages have none.
    """
    words = message.words
    for number, lexicon in enumerate(languages, first):
        if lexicon.may(words):
            yield _in_language(message, number, lexicon)


def _in_language(message: Message, number: int, lexicon: Lexicon) -> Iterator[Remark]:
    for at, (text, words, own) in enumerate(message.sentences(lexicon.speech)):
        may = lexicon.may(words)
        if may and not lexicon.is_foreign(words):
            yield Remark(number, at, text, own, may)
