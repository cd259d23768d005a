"""Standing instructions: what a user wants kept to from now on, word for word, until taken back.

They are found by the words that such requests are made of, which are data: English is built in,
and a `Words` of another language is written in the same way. In doubt a sentence is kept.
Not here: what a sentence means, and where in a summary the instructions stand (`record`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from chatfold.core.constraint_words import ENGLISH, Words, alternatives, compiled, marks
from chatfold.core.views import ItemView, TextPart, is_note, is_user_message

__all__ = ["ENGLISH", "Words", "may_instruct", "standing"]

_LONGEST: Final = 300  # characters of one instruction
_MOST: Final = 40  # instructions
_LOOKED_AT: Final = 200_000  # characters of one text: what is longer was pasted, not said
_SENTENCE: Final = 2_000  # characters: longer ones are no sentences


def standing(
    views: Iterable[ItemView],
    *,
    words: Words = ENGLISH,
    earlier: Sequence[str] = (),
    clean: Callable[[str], str] | None = None,
) -> list[str]:
    """Return the instructions of users that hold behind these items, oldest first, each once.

    Only what users say is read: results of tools, what the model said, and summaries are no
    source, so that nobody else can give instructions through them.

    Args:
        views: The readings of the items.
        words: The language.
        earlier: What an earlier call returned for the items before these.
        clean: Applied to every text before it is read (`redact`).

    Returns:
        Sentences as they were written, 300 characters at most; the newest 40.
    """
    held = {_key(text): text for text in earlier}
    texts = list(_said(views, clean))
    if not texts:
        return list(held.values())[-_MOST:]
    reader = _reader(words)
    for text in texts:
        if reader.may_hold(text):
            for sentence in _sentences(text):
                reader.hold(sentence, held)
    return list(held.values())[-_MOST:]


def may_instruct(
    view: ItemView, clean: Callable[[str], str] | None = None, *, words: Words = ENGLISH
) -> bool:
    """Return whether an item can hold an instruction: what holds none changes nothing.

    Args:
        view: The reading of the item.
        clean: Applied to every text before it is read (`redact`).
        words: The language.
    """
    return view.role == "user" and any(map(_reader(words).may_hold, _said((view,), clean)))


def _said(views: Iterable[ItemView], clean: Callable[[str], str] | None) -> Iterator[str]:
    for view in views:
        if is_user_message(view):
            for part in view.parts:
                if type(part) is TextPart and not is_note(part.text):
                    # Cleaned first: a secret that is cut in two is not known any more.
                    yield (clean(part.text) if clean else part.text)[:_LOOKED_AT]


# --- sentences ----------------------------------------------------------------------------------

_FENCED = re.compile(r"^(?:```|~~~)[^\n]*\n.*?(?:^(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE)
_END = re.compile(r"(?<=[.!?])(?<![a-zA-Z]\.[a-zA-Z]\.)[\"')\]]?\s+|(?<=[。！？])")
_BULLET = re.compile(r"\A\s*(?:[-*•·–+]|\(?\d{1,3}[.)]|#{1,6})\s+")
_QUOTED: Final = (">", "|")


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences and list lines of a text; quoted lines and fenced code are no speech."""
    for line in _FENCED.sub("\n", text).splitlines():
        bare = _BULLET.sub("", line, count=1).strip()
        if bare and not bare.startswith(_QUOTED):
            yield from (s.strip() for s in _END.split(bare) if 1 < len(s) <= _SENTENCE)


def _plain(sentence: str) -> str:
    """Return a sentence in small letters, with one kind of apostrophe and single spaces."""
    return " ".join(sentence.lower().replace("’", "'").replace("`", "'").split())


def _shortened(sentence: str) -> str:
    if len(sentence) <= _LONGEST:
        return sentence
    return sentence[: _LONGEST - 1].rsplit(" ", 1)[0] + "…"


def _key(sentence: str) -> str:
    """Return what is the same for two sentences of the same words."""
    return " ".join(_WORD.findall(_plain(sentence)))


# --- reading one sentence -----------------------------------------------------------------------

_WORD = re.compile(r"\w+(?:'\w+)*")
_ALIKE: Final = 4  # letters in which two forms of a word agree at least
_CLEARLY: Final = 0.75  # share of a sentence's words that name an instruction to be that one


class _Reader:
    """Reads sentences by the words of one language."""

    def __init__(self, words: Words) -> None:
        joins = alternatives((*words.joins, *words.limits)) or "(?!)"
        fillers = alternatives((*words.joins, *words.fillers)) or "(?!)"
        first = r"(?:^|[,;:.!?()\"“”–—] ?|(?<=\s)-+ )[\"'“‘]?"
        start = rf"(?:{first}|(?<!\w)(?<!\w')(?:{joins})[ ,]+)(?:(?:{fillers})[ ,]+)*+"
        self.order = compiled(words.orders, start)
        self.request = compiled(words.requests, start)
        self.always = compiled(words.always)
        self.asking = compiled(words.asking)
        self.limit = compiled(words.limits)
        self.bound = compiled(words.bounds)
        self.exception = compiled(words.exceptions)
        self.report = compiled(words.reports)
        self.question = compiled(words.questions, "^")
        self.taking_back = compiled(words.takes_back)
        self.negation = compiled(words.negations)
        self.common = frozenset(w for phrase in words.common for w in phrase.split("|"))
        self.marks = marks((*words.orders, *words.always, *words.asking, *words.takes_back))
        self.limits = marks((*words.limits, *words.bounds))

    def may_hold(self, text: str) -> bool:
        """Return whether a text has a word of those that instructions are told by.

        Each word of a sentence is one of the text around it, so this can be asked of either.
        """
        if self.marks is None or self.limits is None:
            return True
        said = _WORD.findall(_plain(text))
        return not (self.marks.isdisjoint(said) and self.limits.isdisjoint(said))

    def hold(self, sentence: str, held: dict[str, str]) -> None:
        """Change what is held as a sentence says.

        Args:
            sentence: What a user said.
            held: The instructions, oldest first, by their keys.
        """
        if not self.may_hold(sentence):
            return
        plain = _plain(sentence)
        lifted = bool(self.taking_back.search(plain))
        instruction = self.is_instruction(plain)
        if not (lifted or instruction):
            return
        key = _key(sentence)
        held.pop(key, None)  # said again, it is new
        told = self.content(plain)
        meant = self.meant(plain, told, held, lifted=lifted)
        if meant is not None:
            del held[meant]
        if instruction or (meant is None and any(_shared(told, self.content(k)) for k in held)):
            held[key] = _shortened(sentence)
            if len(held) > _MOST:
                del held[next(iter(held))]

    def is_instruction(self, plain: str) -> bool:
        """Return whether a sentence asks for something that holds from now on."""
        if plain.endswith("?") or self.question.search(plain):
            return bool(self.asking.search(plain))
        alone = " " not in plain and self.order.fullmatch(plain.rstrip(".!…"))
        if alone or self.report.search(plain):
            return False  # one word alone is an answer
        if self.order.search(plain) or self.always.search(plain):
            rest = self.exception.sub("~", plain)
            if self.order.search(rest) or self.always.search(rest):
                return True
        request = self.request.search(plain)
        if request is None:
            return False
        return bool(self.limit.search(plain) or self.bound.search(plain, request.start()))

    def meant(
        self, plain: str, told: frozenset[str], held: dict[str, str], *, lifted: bool
    ) -> str | None:
        """Return the key of the one instruction that a sentence clearly takes back, or None.

        Args:
            plain: The sentence.
            told: What it is about.
            held: The instructions.
            lifted: Whether it says that something no longer holds; else it may say the contrary.
        """
        negative = bool(self.negation.search(plain))
        scores: dict[str, float] = {}
        for key, text in held.items():
            about = self.content(key)
            size = len(told) if lifted else max(len(told), len(about))
            other = bool(self.negation.search(_plain(text))) != negative
            if size and (lifted or other):
                scores[key] = _shared(told, about) / size
        best = max(scores.values(), default=0.0)
        named = [key for key, score in scores.items() if score == best]
        return named[0] if best >= _CLEARLY and len(named) == 1 else None

    def content(self, plain: str) -> frozenset[str]:
        """Return the words of a sentence that say what it is about."""
        return frozenset(_WORD.findall(plain)) - self.common


@lru_cache(maxsize=8)
def _reader(words: Words) -> _Reader:
    """Return what reads by these words; made once, as that takes a millisecond and more."""
    return _Reader(words)


def _shared(one: frozenset[str], other: frozenset[str]) -> int:
    """Return how many words of `one` are in `other`, perhaps in another form."""
    return sum(any(_alike(a, b) for b in other) for a in one)


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    short = min(len(one), len(other))
    size = max(_ALIKE, short - 1)
    return short >= size and one[:size] == other[:size] and abs(len(one) - len(other)) <= _ALIKE
