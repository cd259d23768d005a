"""How the words of a language that standing instructions are made of are written.

Not here: those of any language (`languages`), how sentences are read by them (`standing`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, TypeAlias, cast

__all__ = [
    "Marks",
    "Words",
    "alternatives",
    "asking_marks_of",
    "compiled",
    "correcting_marks_of",
    "lifting_marks_of",
    "loosening_marks_of",
    "phrases_of",
    "telling_marks_of",
    "vocabulary_of",
]

_Groups: TypeAlias = tuple[frozenset[str], ...]
"""Of each word of a phrase but the one that it is looked for by, those that it may be."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language by which standing instructions are told.

    A phrase is written in small letters: words with spaces between. A word may hold `a|b` for
    either, `*` for any letters, `[ab]` or `[!ab]` for one letter; a word that is `*` alone stands
    for up to four words, one that is `#` for a number. A comma may stand behind each word, but not
    where `_` stands: "no _ *s" is in "no pets", not in "no, pets". `.` is the end of the sentence,
    and may stand last among others: "no _ *s please|.".

    Texts without any of the rarer words of the phrases are not read further. A word in which one
    letter is in brackets, "s[o]lo", is none of those: for one that another language has, too.

    A few phrases will do to begin with: `orders` finds "Aldrig ringa på måndagar.", `always` also
    "Snälla ring mig aldrig på måndagar.", and `common` tells what is no topic where something is
    taken back.

    ```python
    swedish = Words(
        orders=("aldrig|alltid",),
        always=("snälla * aldrig|alltid|inte", "under inga villkor", "du får * aldrig|inte|bara"),
        takes_back=("glöm * om",),
        negations=("aldrig|inte",),
        lists=("och|eller",),
        common=("snälla|den|det|en|ett|mig|du|att|på|glöm|vad|om|jag|sa|har|sagt",),
    )
    ctx = ChatContext(messages, standing_words=swedish)
    ```

    Attributes:
        orders: Begin a clause that is a standing instruction: "never", "do not".
        always: Make a sentence one, wherever they stand: "you must not", "make sure".
        asking: Make a question one: "could you * only".
        limits: Make a request one that holds, wherever they stand: "from now on".
        bounds: Make a request before them one that holds: "at most", "without".
        requests: Begin a clause that is a request: "please", "use", "write".
        joins: Begin a clause in the middle of a sentence: "and", "please".
        fillers: May stand before the first word of a clause: "also", "just".
        exceptions: Look like any of these and are none: "never mind".
        reports: Say that what follows is another's words: "told me".
        questions: Begin a question, whether or not it has its mark: "why".
        subjects: Begin, behind a comma, a clause that only tells something: what bounds a request
            stands before it. "Please check, i", "it".
        takes_back: Say that an earlier instruction no longer holds: "forget what i said".
        negations: Tell "do" from "do not".
        common: Words that say nothing of what an instruction is about: "the".
        allows: Take back by the contrary, of which they may leave words out: "you can * again"
            what says that one must not, "you don't * anymore" what says that one must.
        permits: Say the contrary, perhaps for once, and take back only the very same: "it's ok to".
        loosens: Say that something else will do, or no longer matters, of whatever it may be. They
            take nothing back, and stand behind what they share a word or a topic with: "you may",
            "* doesn't matter".
        unnamed: Take back without a word of what: "scrap that". They stand behind an instruction
            that is the only one.
        waits: Make an instruction one that holds until the user goes on: "yet", "for now". Who then
            begins a clause with its verb ("ok, send it" for "don't send it yet") stands behind.
        topics: Each the phrases that speak of one thing, with ` / ` between: "any time / mornings /
            before|after #". "Any time is fine now" is about "never call me before 9".
        contrasts: Words, common or not, of which another one tells another thing: "from|to". A
            phrase of `orders` or `limits` without a `*` takes away those that stand in it.
        endings: What words end in without being others, the plain one first, which may be none:
            "|s|ing", "e|ing". Without these only equal words are the same; names always so.
        elisions: What is left of a short word before an apostrophe, which says nothing of what the
            word behind it is about: "l'|d'".
        openers: May stand before what takes back, as `fillers` and `limits` may: "yes", "fine".
        hedges: Say that a taking back in the same sentence is none, or another's, or holds on a
            condition: "you said", "it's not that", "if i".
        letters: Begin a line of a mail that is no header: "dear", "best regards".
        tags: End an instruction as a question ends, behind a comma: "ok", "will you".
        corrects: Begin a sentence that tells a number anew: "actually". In the words of an earlier
            instruction with another number it takes the place of that one.
        lists: Single words between things of which each is meant: "and", "or". Who takes back what
            is about two of them and names one leaves the other.
        prefixes: Single words before a verb that may part from it: "anrufen", "ruf … an".
        goes_on: Begin a line that goes on with the sentence of the line before: "or", "unless".

    A phrase of `takes_back`, `allows` or `permits` counts where it begins a clause; one that begins
    with `*` has what it is about before it: "* no longer applies".

    Raises:
        TypeError: An attribute is no tuple of texts: a text would be read letter by letter.
        ValueError: A phrase cannot be read.
    """

    orders: tuple[str, ...]
    always: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    fillers: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    takes_back: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    permits: tuple[str, ...] = ()
    loosens: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    contrasts: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    elisions: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    hedges: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    goes_on: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every phrase: one that cannot be read would break each fold."""
        for field in fields(self):
            _check_phrases(field.name, getattr(self, field.name))


def _check_phrases(name: str, phrases: Sequence[object]) -> None:
    if not isinstance(phrases, tuple) or not all(isinstance(p, str) for p in phrases):
        raise TypeError(
            f"{name} must be a tuple of phrases, such as ('never', 'do not'), not {phrases!r}"
        )
    for written in cast("tuple[str, ...]", phrases):
        for phrase in phrases_of(written):
            if "[" in phrase:
                _check_letters(name, phrase)
            if any(_END in word.split("|") for word in phrase.split()[:-1]):
                raise ValueError(f"{name}: {phrase!r} goes on behind the end of the sentence (`.`)")


def _check_letters(name: str, phrase: str) -> None:
    try:
        for word in phrase.split():
            re.compile(_phrase(word))
    except re.error as error:
        raise ValueError(
            f"{name}: {phrase!r} has a [ without the letters, or without the ], that belong to it"
        ) from error


def phrases_of(topic: str) -> list[str]:
    """Return the phrases that one of `Words.topics` is written of."""
    return topic.split(_OR)


def compiled(phrases: Sequence[str], before: str = "") -> re.Pattern[str]:
    """Return what finds any of these phrases; without phrases, nothing."""
    if not phrases:
        return re.compile(r"(?!)")
    return re.compile(rf"{before}(?<!\w)(?<!\w')(?:{alternatives(phrases)})(?!'?\w)")


def alternatives(phrases: Sequence[str]) -> str:
    """Return the regular expression for any of these phrases, without borders."""
    return "|".join(map(_phrase, phrases))


class Marks:
    """Words without which a text has none of some phrases.

    To look for words is far quicker than to look for phrases, and most sentences have none.

    Attributes:
        words: Words of which each text with one of the phrases has one.
    """

    def __init__(self, phrases: Mapping[str, Sequence[_Groups]]) -> None:
        self.words = frozenset(phrases)
        self._phrases = phrases

    def may_be_in(self, said: frozenset[str]) -> bool:
        """Return whether a text of these words may have a phrase: it has a word of each group."""
        for mark in self.words & said:
            for others in self._phrases[mark]:
                if not any(map(said.isdisjoint, others)):
                    return True
        return False


def telling_marks_of(words: Words) -> Marks | None:
    """Return the words without which a sentence that is no question is no instruction.

    Each word of a sentence is one of the text around it, so either can be asked for them. None:
    there are no such words, and any sentence may.
    """
    return _marks((*words.orders, *words.always, *words.limits, *words.bounds))


def asking_marks_of(words: Words) -> Marks | None:
    """Return the same of questions."""
    return _marks(words.asking)


def lifting_marks_of(words: Words) -> Marks | None:
    """Return the same of sentences that take something back or allow it."""
    return _marks((*words.takes_back, *words.allows, *words.permits))


def loosening_marks_of(words: Words) -> Marks | None:
    """Return the same of sentences that say nothing but where an instruction is held."""
    return _marks((*words.loosens, *words.unnamed))


def correcting_marks_of(words: Words) -> Marks | None:
    """Return the same of sentences that tell a number of an instruction anew."""
    return _marks(words.corrects)


def vocabulary_of(words: Words) -> frozenset[str]:
    """Return all whole words that the phrases of a language are made of."""
    phrases = (phrase for field in fields(words) for phrase in getattr(words, field.name))
    said = (word for phrase in phrases for group in phrase.split() for word in group.split("|"))
    return frozenset(filter(_PLAIN.fullmatch, said))


def _marks(phrases: Sequence[str]) -> Marks | None:
    """Return words of which each text with one of these phrases has one; None where none do."""
    found: dict[str, list[_Groups]] = {}
    for phrase in phrases:
        groups = [group.split("|") for group in phrase.split() if group != _NO_COMMA]
        plain = [[_looked_for(word) for word in group] for group in groups if _is_plain(group)]
        if not plain:
            return None
        rarest: list[str] = max(plain, key=_rarity)
        others = [g for g in plain if g is not rarest and all(map(_WHOLE.fullmatch, g))]
        whole = tuple(map(frozenset, others))
        for word in rarest:
            found.setdefault(word, []).append(whole)
    return Marks(found)


def _looked_for(word: str) -> str:
    """Return that of a word which a text with it has as one of its own: of "e'" it has "e"."""
    return max((part.strip("'") for part in word.split("-")), key=len)


def _is_plain(group: list[str]) -> bool:
    return all(_PLAIN.fullmatch(word) for word in group)


def _rarity(group: list[str]) -> tuple[bool, int]:
    """Return how seldom a text has one of these words, the greater the more seldom."""
    return _EVERYDAY.isdisjoint(group), min(map(len, group))


_EVERYDAY: Final = frozenset(
    word
    for words in (
        "a about and are as at be but can do for from have i in is it it's like may more my no",
        "not of on or our so that the this time to us was we were will with would you your",
    )
    for word in words.split()
)


_WHOLE = re.compile(r"\w+(?:'\w+)*")  # a word as those of a text are told from one another
_PLAIN = re.compile(r"[\w'-]*\w[\w'-]*")
_OR: Final = " / "
_NO_COMMA: Final = "_"
_END: Final = "."
_AT_END: Final = r"(?=[\s.!…)\"']*+\Z)"


def _phrase(phrase: str) -> str:
    made = ""
    for word in phrase.split():
        if word == _NO_COMMA:
            made = made.removesuffix(",? ") + " "
        elif word == _END:
            made = made.removesuffix(",? ") + _AT_END
        elif word.endswith(f"|{_END}"):
            words = "|".join(map(_letters, word.split("|")[:-1]))
            between = ",? " if made.endswith(",? ") else ""
            made = made.removesuffix(",? ") + f"(?:{between}(?:{words})|{_AT_END})"
        elif word == "*":
            made += r"(?:(?:[^\s,;:]|[,:](?=\S))+ ){0,4}?"  # "2,040" and a URL are words
        else:
            made += f"(?:{'|'.join(map(_letters, word.split('|')))}),? "
    return made.removesuffix(",? ").removesuffix(" ")


def _letters(word: str) -> str:
    """Return a word's pattern as a regular expression."""
    if word == "#":
        return r"[0-9][0-9.,]*+"
    made = re.escape(word).replace(r"\*", r"[\w'-]*").replace(r"\[!", "[^")
    return made.replace(r"\[", "[").replace(r"\]", "]")
