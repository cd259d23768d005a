"""The sentences of users, and which of them are surely their own words.

What is pasted into a message may have been written by anybody, so what plainly is makes no rule. A
rule of the user's is not for others to lift, so a sentence that may be pasted is told from others;
in doubt it may be.
Not here: what a sentence says (`standing`), what is plainly pasted (`pasted`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Final, NamedTuple, TypeAlias

from chatfold.core.constraints.content import straight
from chatfold.core.constraints.pasted import Said, said_of, unfenced
from chatfold.core.constraints.words import Words, compiled
from chatfold.core.once import once
from chatfold.core.sentences import is_abbreviated
from chatfold.core.views import ItemView, TextPart, is_note, is_user_message

__all__ = ["Message", "Sentence", "Speech", "words_of"]

_LOOKED_AT: Final = 200_000  # characters of one text: what is longer was pasted, not said
_SENTENCE: Final = 2_000  # characters: longer ones are no sentences

_Breaks: TypeAlias = tuple[tuple[int, ...], ...]
"""Of each text of a message, which lines go on with the sentence of the line before."""

_WORD = re.compile(r"\w+(?:'\w+)*")
_END = re.compile(r"(?<=[.!?])(?<![a-zA-Z]\.[a-zA-Z]\.)[\"')\]]?\s+|(?<=[。！？])")
_BULLET = re.compile(r"\A\s*(?:[-*•·–+]|\(?\d{1,3}[.)]|#{1,6})\s+")
_QUOTED: Final = (">", "|")
_ENDS: Final = ".!?:;…。！？：；"  # behind them nothing goes on
_BREAK = re.compile(r"(?<!\s)\s*[\r\n]\s*")

_LEADS = re.compile(r":(?=\s|\Z)|：")
_QUOTATION = re.compile(
    r'"[^"]*(?:"|\Z)|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)|«[^»]*(?:»|\Z)|「[^」]*(?:」|\Z)'
    r"|(?<!\w)'(?=\w)(?:[^']|(?<=\w)'(?=\w))*+'(?!\w)|‘(?:[^’]|’(?=\w))*+(?:’|\Z)"
)
_HEADER = re.compile(r"\W*[^\W\d_][\w-]*(?: [\w-]+)? ?: ")
_RULED = re.compile(r"-{3,}[^-]+-{3,}|_{8,}")


class Sentence(NamedTuple):
    """A sentence or a list line of a message.

    Attributes:
        text: The sentence.
        words: Its words (see `words_of`).
        own: Whether it is surely the user's own, if no mail was pasted into the message.
    """

    text: str
    words: frozenset[str]
    own: bool


class Speech:
    """How those who write in one language part their sentences, and begin and end their mails."""

    def __init__(self, words: Words) -> None:
        self.letter = compiled(words.letters)
        self.goes_on = compiled(words.goes_on)


class Message:
    """What a user said at one time, which is read in several languages.

    What they have in common is looked for once: to most of them its sentences are the same.

    Args:
        view: The reading of the item.
        clean: Applied to every text before it is cut.
    """

    def __init__(self, view: ItemView, clean: Callable[[str], str] | None) -> None:
        self._view = view
        self._clean = clean
        self._parted: dict[_Breaks, list[Sentence]] = {}
        self._mails: dict[Speech, bool] = {}

    @once
    def texts(self) -> list[str]:
        """The texts that a user says, in their order; of what others say, none."""
        if not is_user_message(self._view):
            return []
        clean, parts = self._clean, self._view.parts
        said = (p.text for p in parts if type(p) is TextPart and not is_note(p.text))
        # Cleaned first: a secret that is cut in two is not known any more.
        return [(clean(text) if clean else text)[:_LOOKED_AT] for text in said]

    @once
    def words(self) -> frozenset[str]:
        """The words of the message, those of pasted texts with them."""
        return words_of(*self.texts)

    def sentences(self, speech: Speech) -> list[Sentence]:
        """Return the sentences and list lines of the message.

        Quoted lines, fenced code and what is plainly pasted are no speech. What stands behind a
        colon, in quotation marks, in a mail or behind what was pasted may be another's.
        """
        breaks = tuple(tuple(lines.breaks(speech.goes_on)) for lines in self._said_lines)
        if breaks not in self._parted:
            self._parted[breaks] = [*self._sentences(breaks)]
        return self._parted[breaks]

    def is_mail(self, speech: Speech) -> bool:
        """Return whether it looks as if a mail had been pasted into the message.

        Who only talks may say hello, too, but in one line and before anything else. It is asked
        for each of its sentences, and looked for once.
        """
        if speech not in self._mails:
            self._mails[speech] = self._is_mail(speech)
        return self._mails[speech]

    def _is_mail(self, speech: Speech) -> bool:
        bare = self._unfenced
        lines = [s for said in bare for line in said.text.splitlines() if (s := line.strip())]
        headers = [bool(_HEADER.match(line)) for line in lines]
        spoken = [s for said in bare for _, s in _sentences(said, said.breaks(speech.goes_on))][1:]
        return (
            any(a and b for a, b in pairwise(headers))
            or any(line.startswith(">") or _RULED.fullmatch(line) for line in lines)
            or any(speech.letter.match(s.lower()) for s in (*lines[len(lines) < 2 :], *spoken))
        )

    @once
    def _said(self) -> list[Said]:
        return [*said_of(self.texts)]

    @once
    def _said_lines(self) -> list[_Lines]:
        return [_Lines(said.text) for said in self._said]

    @once
    def _unfenced(self) -> list[_Lines]:
        return [_Lines(unfenced(text)) for text in self.texts]

    def _sentences(self, breaks: _Breaks) -> Iterator[Sentence]:
        own = True
        for (text, pasted_at), lines, broken in zip(
            self._said, self._said_lines, breaks, strict=True
        ):
            lead = _LEADS.search(text)
            ends = (lead.start() if lead else None, pasted_at, len(text))
            leads = min(end for end in ends if end is not None)
            quoted = _quoted(text)
            for at, sentence in _sentences(lines, broken):
                told = own and at <= leads and not quoted(at)
                yield Sentence(sentence, words_of(sentence), told)
            own = own and lead is None and pasted_at is None


def words_of(*texts: str) -> frozenset[str]:
    """Return the words of texts, in small letters, with one kind of apostrophe."""
    found = (_WORD.findall(straight(text).lower()) for text in texts)
    return frozenset(chain.from_iterable(found))


class _Lines:
    """The lines of a text.

    Who writes by hand breaks lines where a mail would: "do not call me", "or text me after nine".
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self._open = [
            (at, line.lstrip().lower())
            for at, (before, line) in enumerate(pairwise(self.lines), 1)
            if _is_open(before.rstrip())
        ]

    def breaks(self, goes_on: re.Pattern[str]) -> Iterator[int]:
        """Yield at which lines nothing ends: they go on with the sentence of the line before."""
        return (at for at, line in self._open if goes_on.match(line))


def _is_open(line: str) -> bool:
    return bool(line) and line[-1] not in _ENDS and not line.lstrip().startswith(_QUOTED)


def _paragraphs(lines: Sequence[str], broken: Iterable[int]) -> Iterator[str]:
    """Yield lines, with each one that goes on with the sentence before it."""
    on = frozenset(broken)
    said: list[str] = []
    for at, line in enumerate(lines):
        if at not in on:
            yield "".join(said)
            said.clear()
        said.append(line)
    yield "".join(said)


def _sentences(lines: _Lines, broken: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield where a sentence begins, in characters, and the sentence."""
    text, start = lines.text, 0
    for line in _paragraphs(lines.lines, broken):
        bare = _BULLET.sub("", line, count=1).strip()
        if bare and not bare.startswith(_QUOTED):
            at = start + line.rindex(bare)
            for sentence in _parted(bare):
                if 1 < len(sentence) <= _SENTENCE:
                    at = text.index(sentence, at)
                    yield at, _BREAK.sub(" ", sentence.strip())
                at += len(sentence)
        start += len(line)


def _parted(text: str) -> Iterator[str]:
    """Yield the sentences of a line, without what is between them."""
    start = 0
    for end in _END.finditer(text):
        full_stop = end.start() - 1
        if text[full_stop] == "." and is_abbreviated(text, full_stop, text[end.end() :]):
            continue
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def _quoted(text: str) -> Callable[[int], bool]:
    """Return what tells whether a place is in a quotation; asked for places in their order."""
    spans = (match.span() for match in _QUOTATION.finditer(text))
    start, end = next(spans, (len(text), len(text)))

    def is_in(at: int) -> bool:
        nonlocal start, end
        while end <= at and end < len(text):
            start, end = next(spans, (len(text), len(text)))
        return start <= at < end

    return is_in
