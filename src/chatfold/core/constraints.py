"""Standing instructions: what a user wants kept to from now on, word for word, until taken back.

They are found by the words that such requests are made of, which are data: English is built in,
and a `Words` of another language is written in the same way. In doubt a sentence is kept.
Not here: what a sentence means, and where in a summary the instructions stand (`record`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from chatfold.core.constraint_content import Content, ContentReader, key_of, plain_of
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
    held = {key_of(text): text for text in earlier}
    texts = list(_said(views, clean))
    if not texts:
        return list(held.values())[-_MOST:]
    reader = _reader(words)
    known: dict[str, Content] = {}
    for text in texts:
        if reader.may_hold(text):
            for sentence in _sentences(text):
                reader.hold(sentence, held, known)
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


def _shortened(sentence: str) -> str:
    if len(sentence) <= _LONGEST:
        return sentence
    return sentence[: _LONGEST - 1].rsplit(" ", 1)[0] + "…"


# --- reading one sentence -----------------------------------------------------------------------

_WORD = re.compile(r"\w+(?:'\w+)*")


class _Said(NamedTuple):
    """What a sentence says of instructions.

    Attributes:
        about: What it is about.
        instruction: Whether it is one itself.
        lifted: Whether it says that something no longer holds, and may name it by a part of its
            words.
        named: Whether it only names what that is; else it says the contrary of it.
        may_lift: Whether it takes anything back: to ask whether one may is not to be allowed.
    """

    about: Content
    instruction: bool
    lifted: bool
    named: bool
    may_lift: bool


class _Reader:
    """Reads sentences by the words of one language."""

    def __init__(self, words: Words) -> None:
        joins = alternatives((*words.joins, *words.limits)) or "(?!)"
        fillers = alternatives((*words.joins, *words.fillers)) or "(?!)"
        first = r"(?:^|[,;:.!?()\"“”–—] ?|(?<=\s)-+ )[\"'“‘*]{0,3}"
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
        self.allowing = compiled(words.allows)
        self.permit = compiled((*words.allows, *words.permits))
        self.content = ContentReader(words)
        lifts = (*words.takes_back, *words.allows, *words.permits)
        self.marks = marks((*words.orders, *words.always, *words.asking, *lifts))
        self.limits = marks((*words.limits, *words.bounds))

    def may_hold(self, text: str) -> bool:
        """Return whether a text has a word of those that instructions are told by.

        Each word of a sentence is one of the text around it, so this can be asked of either.
        """
        if self.marks is None or self.limits is None:
            return True
        said = _WORD.findall(plain_of(text))
        return not (self.marks.isdisjoint(said) and self.limits.isdisjoint(said))

    def hold(self, sentence: str, held: dict[str, str], known: dict[str, Content]) -> None:
        """Change what is held as a sentence says.

        Args:
            sentence: What a user said.
            held: The instructions, oldest first, by their keys.
            known: What they are about, by their keys, so that each is read once.
        """
        said = self.said(sentence) if self.may_hold(sentence) else None
        if said is None:
            return
        key = key_of(sentence)
        for dropped in (held, known):
            dropped.pop(key, None)  # said again, it is new
        for other in held.keys() - known.keys():
            known[other] = self.content.read(held[other])
        about = {k: known[k] for k in held}
        meant = self.meant(said, about)
        if meant is not None:
            del held[meant]
        touched = any(self.content.touches(said.about, other) for other in about.values())
        if said.instruction or (meant is None and touched):
            held[key] = _shortened(sentence)
            if len(held) > _MOST:
                del held[next(iter(held))]

    def said(self, sentence: str) -> _Said | None:
        """Return what a sentence says of instructions, None where that is nothing."""
        plain = plain_of(sentence)
        named = bool(self.taking_back.search(plain))
        permit = self.permit.search(plain)
        instruction = self.is_instruction(plain)
        if not (named or permit or instruction):
            return None
        about = self.content.read(sentence)
        if permit and not instruction:  # the "no" of "no, you can" is an answer
            about = about._replace(negative=self.content.is_negative(plain[permit.start() :]))
        return _Said(
            about,
            instruction,
            lifted=named or bool(self.allowing.search(plain)),
            named=named and not instruction,
            may_lift=instruction or not plain.endswith("?"),
        )

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

    def meant(self, said: _Said, about: dict[str, Content]) -> str | None:
        """Return the key of the one instruction that a sentence clearly takes back, or None.

        No sentence takes back what is about something that it does not name. What only says the
        contrary is about the very same: of a narrower or a wider thing both may hold.

        Args:
            said: What the sentence says.
            about: What each instruction is about, by its key.
        """
        within = self.content.within
        found = [
            key
            for key, other in about.items()
            if (said.named or said.about.negative != other.negative)
            and within(said.about, other)
            and (said.lifted or within(other, said.about))
        ]
        return found[0] if said.may_lift and len(found) == 1 else None


@lru_cache(maxsize=8)
def _reader(words: Words) -> _Reader:
    """Return what reads by these words; made once, as that takes a millisecond and more."""
    return _Reader(words)
