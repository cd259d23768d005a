"""Finds the words for a fact: what stands where it does, or what is around it in a text.

Not here: what these words take of a record's room (`phrases`), which of them fit (`choice`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from chatfold.core.call_json import LONGEST, Path, label_of
from chatfold.core.call_words import CallWords, named_by
from chatfold.core.entries import Field
from chatfold.core.phrases import Group, Phrase, Phrases, Way
from chatfold.core.recording.carry import SAID_BY_USER, THINGS
from chatfold.core.recording.denials import qualifies
from chatfold.core.recording.snippets import Contrasts, snippet
from chatfold.core.sightings import Sighting
from chatfold.core.values import Kind, Value, values
from chatfold.core.views import ItemView, SummaryPart, TextPart

__all__ = ["EARLIER", "Change", "PhraseFinder", "on_one_line"]

EARLIER = "earlier"
"""Who says what only an earlier summary still tells."""

_PART = 2  # times its length: in a longer text a value is one of several
_SMALL = re.compile(r"\d{1,2}")  # such a number says nothing without the words around it
_SHORT = 80  # characters of a sentence that says in few words what a value is, or corrects
_OWN_WORDS = 200  # characters: a longer message says more than that a value was another one
_SMALL_WORTH = 0.3
_SUPERSEDED = 0.3  # what remains of the worth of a value that a later call no longer gave
_GENERAL = frozenset({"id", "name", "key", "value", "values", "number", "code", "type", "data"})

_MOST_AROUND = 2  # times its length: in a longer text such a value stands alone

_NO_KINDS: Final[Mapping[Kind, int]] = MappingProxyType({})
_AUTHORS = frozenset({SAID_BY_USER, "assistant", EARLIER})

Change = Callable[[int, Path, object], tuple[str, str]]
"""Returns what the latest call like one gave at a path, and what was there before, given what
stands there: texts, "" where there is none."""


def on_one_line(leaf: object, clean: Callable[[str], str]) -> str:
    """Return a value as text on one line, "" where it says nothing or is too long."""
    text = "" if leaf is None else clean(" ".join(str(leaf).split()))
    return text if len(text) <= LONGEST else ""


class _Text(NamedTuple):
    """A text of an item.

    Attributes:
        text: The text.
        found: Its values, in order.
        first: The first of each key.
        contrasts: What it says of them.
    """

    text: str
    found: list[Value]
    first: dict[str, Value]
    contrasts: Contrasts


class PhraseFinder:
    """Finds the words for facts of a list.

    Args:
        views: The readings of its items.
        words: The words of its calls, or of some that follow each other.
        phrases: Where its entries are.
        whole_text: Returns what stands at a place where a fact is all that stands there, given its
            key; None where that is not so.
        values_in: Returns the values in a text.
        kinds: Index of the item in which a user named the first value of each kind.
        first: Position of the first of those calls among all.
        earlier: The words of an earlier summary, without its record.
        change: What came of calls like another; by default no call is like another.
        is_past: Whether what stands in a list has changed since, given the call, the path and it.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        words: CallWords,
        phrases: Phrases,
        whole_text: Callable[[str, Sighting], str | None],
        *,
        values_in: Callable[[str], list[Value]] = values,
        kinds: Mapping[Kind, int] = _NO_KINDS,
        first: int = 0,
        earlier: str = "",
        change: Change | None = None,
        is_past: Callable[[int, Path, str], bool] | None = None,
    ) -> None:
        self.views = views
        self.words = words
        self.clean = words.clean
        self.group = phrases.group
        self._phrases = phrases
        self.whole_text = whole_text
        self.values_in = values_in
        self.kinds = kinds
        self.first = first
        self.earlier = earlier
        self.change: Change = change or partial(_as_it_is, words.clean)
        self.is_past = is_past or _never
        self._values: dict[int, list[_Text]] = {}

    def at(self, value: Value, home: Sighting) -> Phrase | None:
        """Return the words for a fact at one place, None where that is inside a body of text."""
        if home.place == "text":
            phrase = self._said(value, home)
        elif home.call is None:
            return None
        elif home.place == "argument":
            phrase = self._argument(value, home, home.call - self.first)
        else:
            phrase = self._result(value, home, home.call)
        if phrase is not None and len(value.text) < 3 and _SMALL.fullmatch(value.text):
            phrase.share *= _SMALL_WORTH
        return phrase

    def _said(self, value: Value, home: Sighting) -> Phrase | None:
        """Return the words for a fact that somebody said."""
        author = self.group(EARLIER if home.author == "summary" else home.author)
        groups = author, author
        if home.author == SAID_BY_USER and (told := self._told_apart(value, home)):
            return Phrase(home, Field("", told), None, groups)
        said = self._in_short(value, home) or self._around(value, home)
        if said is None:
            return None
        full = Field("", said)
        alone = self._alone(value)
        if alone is None or len(alone) >= len(said) or _SMALL.fullmatch(alone):
            return Phrase(home, full, None, groups)
        return Phrase(home, Field("", alone), full, groups)

    def _argument(self, value: Value, home: Sighting, call: int) -> Phrase | None:
        """Return the words for an argument."""
        leaf: object = self.whole_text(value.key, home)
        if leaf is None:
            leaf = self.words.leaf(self.words.arguments(call), home.path)
        text = self._leaf(leaf, home.path, value)
        if text is None:
            return None
        group = self._together(value, self._way(call, home.path), text, leaf)
        return Phrase(home, Field("", text), None, (group, group))

    def _result(self, value: Value, home: Sighting, number: int) -> Phrase | None:
        """Return the words for a value of a result."""
        path, call = home.path, number - self.first
        leaf: object = self.whole_text(value.key, home)
        if leaf is None:
            leaf = self.words.leaf(self.words.result(call), path)
        text = self._leaf(leaf, path, value)
        if text is None:
            return None
        if not path or (isinstance(leaf, str) and len(leaf) > LONGEST):
            one = Field("", text)  # of many in a text
            groups = self.group(value.kind), self.group(self.words.name(call))
            return Phrase(home, one, one, groups)
        way, was, share = self._way(call, path), "", 1.0
        if way.in_a_list:
            if value.kind not in THINGS and self.is_past(number, path, text):
                return None
        else:
            now, was = self.change(number, path, leaf)
            text, share = (now, share) if now else (text, _SUPERSEDED)
        if text in path:
            label = label_of(tuple(step for step in path[-2:] if step != text))
        else:
            label = self.words.label(call, path)
        groups = self._together(value, way, text, text), self._of_call(call)
        return Phrase(
            home, Field("", text), Field(self.clean(label), text, was), groups, share, number
        )

    def _way(self, call: int, path: Path) -> Way:
        """Return what is said of what stands at a path, in a call or its result."""
        made = partial(_way, path, self.words, call)
        return self._phrases.way(self.words.calls[call].qualified_name, path, made)

    def _of_call(self, call: int) -> Group:
        """Return the entry of a call and its result."""
        return self.group(self.words.name(call), named_by(self.words.identity(call)))

    def _together(self, value: Value, way: Way, text: str, leaf: object) -> Group:
        """Return what a value stands with: others under its key, or a part of a text with its kind.

        Args:
            value: The value.
            way: What is said of where it stands.
            text: Its words.
            leaf: What stands there.
        """
        if not way.key or (leaf is not text and len(str(leaf)) > _PART * len(text)):
            return self.group(value.kind)
        return self.group(way.short)

    def _leaf(self, leaf: object, path: Path, value: Value) -> str | None:
        """Return the words of a value in arguments or a result, given what stands at its path."""
        if leaf is None or isinstance(leaf, (dict, list)):
            return None
        text = str(leaf)
        plain = value.kind in THINGS and len(text) > _MOST_AROUND * len(value.text)
        if path and len(text) <= LONGEST and not plain:
            return self.clean(" ".join(text.split()))
        return self._alone(value)

    def _alone(self, value: Value) -> str | None:
        text = self.clean(value.text)
        return text if 0 < len(text) <= LONGEST else None

    def _around(self, value: Value, home: Sighting) -> str | None:
        """Return a value with the words around it that say what it is."""
        place = self._place(value, home)
        if place is None:
            return self._alone(value)
        one, there = place
        said = snippet(there.text, one, there.found)
        contrasts = there.contrasts
        if len(said) > len(one.text) and contrasts.is_qualified(one):
            whole = contrasts.sentence(one, LONGEST)
            return whole if whole and qualifies(whole) else self._alone(value)
        if len(said) > len(one.text) and contrasts.is_asked(one):
            said += "?"
        return said if len(said) <= LONGEST else None

    def _in_short(self, value: Value, home: Sighting) -> str | None:
        """Return the short sentence of a value that may correct one: "No, I meant 4.30 pm".

        That is where a user has named another one of its kind before.
        """
        before = self.kinds.get(value.kind, home.index) < home.index
        if home.author != SAID_BY_USER or not before or _SMALL.fullmatch(value.text):
            return None
        place = self._place(value, home)
        if place is None or len(place[1].text) > _OWN_WORDS:
            return None
        return place[1].contrasts.sentence(place[0], _SHORT)

    def _told_apart(self, value: Value, home: Sighting) -> str | None:
        """Return the sentence of a value that stands beside others of its kind."""
        place = self._place(value, home)
        return None if place is None else place[1].contrasts.words(place[0])

    def _place(self, value: Value, home: Sighting) -> tuple[Value, _Text] | None:
        """Return a value as it stands in the first text of an item that has it, with that text."""
        for text in self._texts(home.index):
            one = text.first.get(value.key)
            if one is not None:
                return one, text
        return None

    def _texts(self, index: int) -> list[_Text]:
        known = self._values.get(index)
        if known is None:
            known = self._values[index] = []
            for part in self.views[index].parts:
                text = ""
                if isinstance(part, TextPart):
                    text = self.clean(part.text)
                elif isinstance(part, SummaryPart):
                    text = self.earlier
                if text:
                    found = self.values_in(text)
                    first = {one.key: one for one in reversed(found)}
                    known.append(_Text(text, found, first, Contrasts(text, found, LONGEST)))
        return known


def _as_it_is(clean: Callable[[str], str], _: int, __: Path, leaf: object) -> tuple[str, str]:
    """Return what a call gave, as no other is like it."""
    return on_one_line(leaf, clean), ""


def _never(_: int, __: Path, ___: str) -> bool:
    return False


def _way(path: Path, words: CallWords, call: int) -> Way:
    """Return what is said of what stands at a path, in a call or its result."""
    clean = words.clean
    key = next((step for step in reversed(path) if isinstance(step, str)), "")
    short = clean(key) if key else ""
    if short.lower() in _GENERAL or short in _AUTHORS:
        short = f"{words.name(call)}.{short}"
    in_a_list = any(isinstance(step, int) for step in path)
    return Way(key, short, in_a_list)
