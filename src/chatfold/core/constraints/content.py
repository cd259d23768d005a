"""What an instruction is about, and whether another one is about the same.

A sentence is about its values, names and the words that are not `common` to all instructions.
Not here: which sentences are instructions and what they do to one another (`standing`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from chatfold.core.constraints.words import Words, compiled, phrases_of
from chatfold.core.once import once

__all__ = ["Content", "ContentReader", "key_of", "plain_of", "straight"]

_STEM: Final = 3  # letters in which two forms of a word agree at least
_SAYS: Final = 4  # letters of a word that is no name and says something by itself: not "me", "one"
_KIN, _SHORT = 4, 2  # the same of words that may be akin, and the letters behind of one of them

# A path, a host, an amount is one word with all its signs: what differs in it is what matters.
_TOKEN = re.compile(r"(?:[^\s,;!?…\"“”„«»()\[\]{}—–。！？，、；：「」『』]|,(?=\d))+")
_VALUE = re.compile(r"[\d/\\@_.:#$%*+=~<>&]")
_NUMBER = re.compile(r"[€$£]?\d[\d.,:]*+[a-z%]{0,3}")
_PARTS = re.compile(r"[/\\]")
_EMPHASIS = re.compile(r"^\*+(?=\w)|\*+$")
_WORD = re.compile(r"\w+(?:'\w+)*")


def plain_of(sentence: str) -> str:
    """Return a sentence in small letters, with one kind of apostrophe and single spaces."""
    return " ".join(straight(sentence).lower().split())


def key_of(sentence: str) -> str:
    """Return what is the same for two sentences of the same words."""
    return " ".join(word.text for word in _words(sentence))


def straight(sentence: str) -> str:
    """Return a sentence with one kind of apostrophe."""
    return sentence.replace("’", "'").replace("`", "'")


class _Word(NamedTuple):
    """A word of a sentence.

    Attributes:
        text: In small letters; a value is as it was written, as paths with other capitals are
            other paths.
        fixed: Whether it is a name or a value: what has another ending is another one.
        behind_comma: Whether there is a comma between it and the word before.
    """

    text: str
    fixed: bool
    behind_comma: bool = False

    @property
    def is_value(self) -> bool:
        """Whether it is a path, a host, a number and the like."""
        return bool(_VALUE.search(self.text))


def _words(sentence: str) -> Iterator[_Word]:
    loud = sentence.isupper()
    first = True
    text, end = straight(sentence), 0
    for match in _TOKEN.finditer(text):
        token, gap = match.group(), text[end : match.start()]
        end = match.end()
        bare = _EMPHASIS.sub("", token.rstrip(".:'")).lstrip("':").rstrip(".:'")
        if not bare.strip("-"):
            continue
        value = bool(_VALUE.search(bare))
        spoken = bare[1:] if first else bare  # the first word has a capital whatever it is
        name = not loud and spoken != spoken.lower()
        yield _Word(bare if value else bare.lower(), value or name, "," in gap)
        first = False


def _before(number: str, sentence: str) -> str:
    """Return the word before a number in a sentence, "" where there is none."""
    words = [word.text for word in _words(sentence)]
    place = words.index(number) if number in words else 0
    return words[place - 1] if place else ""


class Content(NamedTuple):
    """What a sentence is about.

    Attributes:
        words: Its words that say so, in their order, each once.
        listed: Words with a word of `Words.lists` between, two by two.
        contrasts: For each group of `Words.contrasts`, those of the group that it has.
        negative: Whether it says "don't"; "never … without" says "do".
        topics: Which of `Words.topics` it speaks of.
        waits: Whether it holds until the user goes on.
    """

    words: tuple[_Word, ...]
    listed: tuple[tuple[_Word, _Word], ...]
    contrasts: tuple[frozenset[str], ...]
    negative: bool
    topics: frozenset[int]
    waits: bool


class ContentReader:
    """Reads by the words of one language what sentences are about."""

    def __init__(self, words: Words) -> None:
        self._common = frozenset(w for phrase in words.common for w in phrase.split("|"))
        self._lists = frozenset(w for phrase in words.lists for w in phrase.split("|"))
        self._contrasts = [frozenset(group.split("|")) for group in words.contrasts]
        self._endings = [group.split("|") for group in words.endings]
        elided = [part for phrase in words.elisions for part in phrase.split("|")]
        self._elisions = tuple(sorted(elided, key=len, reverse=True))
        self._prefixes = frozenset(w for phrase in words.prefixes for w in phrase.split("|"))
        self._negation = compiled(words.negations)
        self._waits = compiled(words.waits)
        self._topics = [compiled(phrases_of(topic)) for topic in words.topics]
        # "From now on" and "feel free to" say nothing of whence and whither. But a phrase that
        # skips words would take away the very words that are compared, unless they are before
        # what it is about: "forget what I said".
        told = (*words.orders, *words.limits, *words.allows, *words.permits)
        bare = [phrase.removeprefix("* ") for phrase in told]
        takes_back = [phrase.removeprefix("* ") for phrase in words.takes_back]
        self._phrases = [*(phrase for phrase in bare if "*" not in phrase), *takes_back]

    @once
    def _told(self) -> re.Pattern[str]:
        """What is taken away; made when it is first needed, as that takes 20 milliseconds."""
        return compiled(self._phrases)

    def read(self, sentence: str, *, behind: str = "") -> Content:
        """Return what a sentence is about, but for what it begins with and says nothing of it."""
        told = [*islice(_words(sentence), sum(1 for _ in _words(behind)), None)]
        about: dict[str, _Word] = {}
        for word in told:
            text = self._bare(word)
            if self._common.isdisjoint((word.text, text)):
                about.setdefault(text, _Word(text, word.fixed))
        plain = plain_of(sentence)
        left = frozenset(_WORD.findall(self._told.sub("~", plain)))
        contrasts = tuple(left & group for group in self._contrasts)
        listed = tuple(self._listed(told))
        topics = frozenset(i for i, topic in enumerate(self._topics) if topic.search(plain))
        negative, waits = self.is_negative(plain), bool(self._waits.search(plain))
        return Content(tuple(about.values()), listed, contrasts, negative, topics, waits)

    def _listed(self, words: Sequence[_Word]) -> Iterator[tuple[_Word, _Word]]:
        """Return the words before one that lists, each with the word behind it."""
        row: list[_Word] = []  # words with nothing but commas between
        lists = between = False
        for said in words:
            if said.text in self._lists:
                lists = True
            if said.text in self._common:
                between = True
                continue
            word = said._replace(text=self._bare(said))
            if lists:
                yield from ((before, word) for before in row)
            row = [*row, word] if word.behind_comma and not between else [word]
            lists = between = False

    def _bare(self, word: _Word) -> str:
        """Return a word without the apostrophe's part of another one."""
        text = word.text.removesuffix("'s")
        elided = next((part for part in self._elisions if text.startswith(part)), "")
        return text.removeprefix(elided) or text

    def is_negative(self, plain: str) -> bool:
        """Return whether a sentence in small letters says "don't"."""
        return len(self._negation.findall(plain)) % 2 == 1

    def touches(self, one: Content, other: Content) -> bool:
        """Return whether two sentences have a word in common, perhaps in another form."""
        one_said, other_said = (
            [form for word in content.words for form in self._parted(word)]
            for content in (one, other)
        )
        return any(self._place(word, other_said) is not None for word in one_said) or any(
            _is_kin(word.text, other.text)
            for word in one_said
            if not word.is_value
            for other in other_said
            if not other.is_value
        )

    def concerns(self, one: Content, other: Content) -> bool:
        """Return whether two sentences speak of the same, be it in other words or of a part."""
        if not one.topics.isdisjoint(other.topics):
            return True
        said, about = ([*self._telling(content)] for content in (one, other))
        return any(self._place(word, about) is not None for word in said)

    def begins(self, clause: str, content: Content) -> bool:
        """Return whether a clause begins with the first word of a sentence, be it in another form.

        That is the verb, as a rule: of "don't send the invoice yet" not what is to be sent.

        Args:
            clause: The clause, and what follows it.
            content: What the sentence is about.
        """
        first = next(_words(clause), None)
        if first is None or not self._common.isdisjoint((first.text, self._bare(first))):
            return False
        about = [form for word in content.words[:1] for form in self._parted(word)]
        return any(
            self._place(word, about) is not None or any(_is_kin(word.text, o.text) for o in about)
            for word in self._parted(first)
        )

    def _telling(self, content: Content) -> Iterator[_Word]:
        """Yield the words that say something by themselves, and the parts of paths."""
        for word in content.words:
            if word.is_value:
                parts = (part for part in _PARTS.split(word.text) if len(part) >= _SAYS)
                yield from (word._replace(text=part) for part in parts)
            if word.fixed or len(word.text) >= _SAYS:
                yield from self._parted(word)

    def _parted(self, word: _Word) -> Iterator[_Word]:
        """Yield a word, its parts, and what is left of a verb where its prefix stands apart."""
        yield word
        if "-" in word.text and not word.is_value:
            parts = [part for part in word.text.split("-") if len(part) > _STEM]
            yield from (word._replace(text=part) for part in parts)
        for length in () if word.fixed else range(1, len(word.text) - _STEM + 1):
            if word.text[:length] in self._prefixes:
                yield word._replace(text=word.text[length:])

    def within(self, one: Content, other: Content) -> bool:
        """Return whether all that one sentence is about is what the other is about, too.

        Where each has something that the other lacks they are about different things, also where
        that is only "from" and "to", or the order of the same words.
        """
        if any(a - b and b - a for a, b in zip(one.contrasts, other.contrasts, strict=True)):
            return False
        places: list[int] = []
        for word in one.words:
            place = self._place(word, other.words)
            if place is None:
                return False
            places.append(place)
        return bool(places) and _in_order(one.words, other.words, places)

    def leaves_out(self, one: Content, other: Content) -> bool:
        """Return whether one sentence names some of the other's values, or things listed, not all.

        Who allows one path of two has not spoken of the second. Who names none may mean them all.
        """
        named = [self._place(word, one.words) is not None for word in other.words if word.is_value]
        pairs = [[self._place(w, one.words) is not None for w in pair] for pair in other.listed]
        return any(any(group) and not all(group) for group in (named, *pairs))

    def renumbers(self, one: Content, other: Content, sentence: str, said: str) -> bool:
        """Return whether a sentence says the same as another but for its one number.

        It may have another verb, if the same word stands before the number, and may say that the
        older number is not the one any more. Where the other forbids, both may hold: to forbid a
        second thing does not allow the first.

        Args:
            one: What the sentence is about.
            other: What the other is about.
            sentence: The sentence.
            said: The other one.
        """
        new, old = ([w.text for w in c.words if _NUMBER.fullmatch(w.text)] for c in (one, other))
        if len(old) != 1 or new[:1] == old or new[1:] not in ([], old) or not new:
            return False
        if other.negative or one.negative != (len(new) > 1):
            return False
        words, known = (
            [w.text for w in c.words if w.text not in (*new, *old)] for c in (one, other)
        )
        if words == known:
            return True
        is_alike = len(words) == len(known) > 1 and words[1:] == known[1:]
        return is_alike and _before(new[0], sentence) == _before(old[0], said)

    def _place(self, word: _Word, words: Sequence[_Word]) -> int | None:
        """Return where a word stands among others, perhaps in another form."""
        alike: int | None = None
        for index, other in enumerate(words):
            if word.text == other.text:
                return index
            if alike is None and self._alike(word, other):
                alike = index
        return alike

    def _alike(self, one: _Word, other: _Word) -> bool:
        if one.fixed or other.fixed or one.text[:_STEM] != other.text[:_STEM]:
            return False
        return any(
            _is_form(one.text, other.text, group) or _is_form(other.text, one.text, group)
            for group in self._endings
        )


def _is_kin(one: str, other: str) -> bool:
    """Return whether two words begin alike, and have short endings: "llamen" and "llamarme".

    Languages have more endings than are listed, and in German every noun looks like a name.
    """
    if one[:_KIN] != other[:_KIN] or min(len(one), len(other)) < _KIN:
        return False
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    same = min(len(one), len(other)) if same is None else same
    shorter, longer = sorted((len(one) - same, len(other) - same))
    return shorter <= _SHORT and longer <= 2 * _SHORT


def _is_form(bare: str, other: str, endings: Sequence[str]) -> bool:
    """Return whether one word is another one with its first ending changed for a later one."""
    stem = bare.removesuffix(endings[0])
    if not bare.endswith(endings[0]) or not other.startswith(stem):
        return False
    return other[len(stem) :] in endings[1:]


def _in_order(one: Sequence[_Word], other: Sequence[_Word], places: Sequence[int]) -> bool:
    """Return whether words stand in the same order as those that they are found at.

    "Staging to production" is not "production to staging". A single word in another form may
    stand anywhere: that is the verb, as in "drafts may be published" for "never publish drafts".
    """
    if _rises(places):
        return True
    return any(
        one[index].text != other[place].text and _rises([*places[:index], *places[index + 1 :]])
        for index, place in enumerate(places)
    )


def _rises(places: Sequence[int]) -> bool:
    return all(a <= b for a, b in pairwise(places))
