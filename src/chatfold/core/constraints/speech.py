"""The sentences of users, and which of them are surely their own words.

What is pasted into a message may have been written by anybody, so what plainly is makes no rule. A
rule of the user's is not for others to lift, so a sentence that may be pasted is told from others;
in doubt it may be.
Not here: what a sentence says (`standing`), what is plainly pasted (`pasted`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from chatfold.core.constraints.pasted import said_of, unfenced
from chatfold.core.constraints.words import Words, compiled
from chatfold.core.sentences import is_abbreviated
from chatfold.core.views import ItemView, TextPart, is_note, is_user_message

__all__ = ["Speech", "texts_of"]

_LOOKED_AT: Final = 200_000  # characters of one text: what is longer was pasted, not said
_SENTENCE: Final = 2_000  # characters: longer ones are no sentences

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


def texts_of(view: ItemView, clean: Callable[[str], str] | None) -> list[str]:
    """Return the texts of an item that a user says; of what others say, none.

    Args:
        view: The reading of the item.
        clean: Applied to every text before it is cut.
    """
    if not is_user_message(view):
        return []
    said = (p.text for p in view.parts if type(p) is TextPart and not is_note(p.text))
    # Cleaned first: a secret that is cut in two is not known any more.
    return [(clean(text) if clean else text)[:_LOOKED_AT] for text in said]


class Speech:
    """Reads the messages of users, who write in one language."""

    def __init__(self, words: Words) -> None:
        self._letter = compiled(words.letters)
        self._goes_on = compiled(words.goes_on)

    def sentences(self, texts: Sequence[str]) -> Iterator[tuple[str, bool]]:
        """Yield the sentences and list lines of a message, and whether they are surely its own.

        Quoted lines, fenced code and what is plainly pasted are no speech. What stands behind a
        colon, in quotation marks, in a mail or behind what was pasted may be another's.

        Args:
            texts: The texts of one message, in their order.
        """
        own = not self._is_mail([*map(unfenced, texts)])
        for text, pasted_at in said_of(texts):
            lead = _LEADS.search(text)
            ends = (lead.start() if lead else None, pasted_at, len(text))
            leads = min(end for end in ends if end is not None)
            quoted = _quoted(text)
            for at, sentence in _sentences(text, self._goes_on):
                yield sentence, own and at <= leads and not quoted(at)
            own = own and lead is None and pasted_at is None

    def _is_mail(self, texts: Sequence[str]) -> bool:
        """Return whether a message looks as if a mail had been pasted into it.

        Who only talks may say hello, too, but in one line and before anything else.
        """
        lines = [s for text in texts for line in text.splitlines() if (s := line.strip())]
        headers = [bool(_HEADER.match(line)) for line in lines]
        spoken = [s for text in texts for _, s in _sentences(text, self._goes_on)][1:]
        return (
            any(a and b for a, b in pairwise(headers))
            or any(line.startswith(">") or _RULED.fullmatch(line) for line in lines)
            or any(self._letter.match(s.lower()) for s in (*lines[len(lines) < 2 :], *spoken))
        )


def _paragraphs(text: str, goes_on: re.Pattern[str]) -> Iterator[str]:
    """Yield the lines of a text, with each one that goes on with the sentence before it.

    Who writes by hand breaks lines where a mail would: "do not call me", "or text me after nine".
    """
    said: list[str] = []
    for line in text.splitlines(keepends=True):
        bare = said[-1].rstrip() if said else ""
        open_ = bool(bare) and bare[-1] not in _ENDS and not bare.lstrip().startswith(_QUOTED)
        if not (open_ and goes_on.match(line.lstrip().lower())):
            yield "".join(said)
            said.clear()
        said.append(line)
    yield "".join(said)


def _sentences(text: str, goes_on: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield where a sentence begins, in characters, and the sentence."""
    start = 0
    for line in _paragraphs(text, goes_on):
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
