"""What came of a call, in few words: for the record of what was done.

Not here: whether it failed (`failures`), what names the call (`call_words`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import Any, TypeAlias

from chatfold.core.call_json import (
    CUT,
    LONGEST,
    Path,
    key_of,
    label_of,
    leaves_of,
    shortened,
    text_of,
)
from chatfold.core.entries import Field
from chatfold.core.failures.not_done import parts_not_done, tells_of_trouble
from chatfold.core.failures.reasons import OTHER_REASONS, REASONS
from chatfold.core.failures.successes import (
    denial_in,
    denies,
    is_in_doubt,
    is_plain_success,
    telling_line,
)
from chatfold.core.failures.wraps import unwrapped
from chatfold.core.values import Kind, values
from chatfold.core.values.numbers import Cache
from chatfold.core.values.typed import found_in
from chatfold.core.word_sets import word_set

__all__ = [
    "Naming",
    "is_unclear",
    "outcome_of",
    "says_how_it_went",
    "tells_of_doubt",
    "waits_or_ended",
]

_MOST_NAMED = 5  # values that name a result
_FEW = 3  # values of a result that go in whatever they are
_FEW_FALSE = 2  # of a result; an object with more of them describes itself
_FLAGS = (False, None, True)  # in the order of how much they tell
_FLAG_TEXTS = frozenset(map(json.dumps, _FLAGS))
_WENT_WELL = frozenset({"success", "ok", "succeeded", "done", "completed"})
_PLAINLY_WELL = _WENT_WELL | word_set(
    "accepted active applied approved booked complete confirmed created deleted delivered enabled "
    "finished issued open paid posted processed published refunded registered reserved resolved "
    "saved sent shipped submitted successful true updated"
)
_NOT_NAMING = 9
_NAMING: dict[Kind, int] = {
    "id": 0,
    "hash": 1,
    "url": 1,
    "mail": 2,
    "phone": 2,
    "path": 1,
    "date": 2,
    "amount": 2,
    "version": 3,
}
_TELLING = frozenset((*_NAMING, "number"))  # "Refunded 10.00 of 49.90."
_NUMBER = re.compile(r"(?:^|_)(?:id|number|no|ref)$")
_STATE = re.compile(r"(?:^|_)(?:status|state|outcome|estado|statut|stato)$")
_TROUBLE = re.compile(
    r"(?i:is_?)?(?i:errors?|exception|fail(?:ed|ures?)|warnings?)(?:_\w+|[A-Z]\w*)?"
)
# What a tool says in words of how a call went.
_SAYS = frozenset((*REASONS, *OTHER_REASONS, "hint", "note", "notes", "warning", "warnings"))
_REGION = re.compile(r"[A-Z]{2}")  # of an address: `"state": "TX"`
_SAID = 1000  # characters of what is said in words that are read
_READ = 4000  # characters of a text in which is looked for what was run
# How LangChain's `HumanInTheLoopMiddleware` (1.5) tells that a person has changed a call: in its
# result alone, as the call stays as the model wrote it. What comes before is the application's.
_RUN_INSTEAD = re.compile(r"\bExecuted instead: \S+ with arguments [^\n]*")


_Placed: TypeAlias = list[tuple[int, str]]
"""Values of a result as they are shown, each behind the place of its leaf."""


class Naming:
    """Tells how well texts name what came of a call; each is read once."""

    def __init__(self) -> None:
        self._words: Cache = {}
        self._ranks: dict[str, int] = {}

    def rank(self, text: str) -> int:
        """Return how well the values in a text name something, 0 best."""
        known = self._ranks.get(text)
        if known is None:
            found = found_in(text, self._words)
            ranks = (_NAMING[value.kind] for value in found if value.kind in _NAMING)
            known = self._ranks[text] = min(ranks, default=_NOT_NAMING)
        return known


def outcome_of(
    result: Any,
    name: str,
    known: Collection[str],
    clean: Callable[[str], str],
    given: Collection[str] = (),
    naming: Naming | None = None,
) -> tuple[Field, ...]:
    """Return what came of a call, without what names the call.

    Of a result of fields it is those that name it, and those that may say that it did not do what
    it is for. Of what was not done, those that name the call too: which of them it was, nothing
    else says. A text goes in unless it says no more than that it did.

    Args:
        result: The result as JSON types, or its text.
        name: The name of the call's tool.
        known: The texts that name the call.
        clean: Applied to what goes in.
        given: The keys of the call's arguments.
        naming: What was read of other results, which often say the same.
    """
    result = unwrapped(result)
    if isinstance(result, str):
        return _of_text(result, name, known, clean)
    told, naming = {*known}, naming or Naming()
    ranked: list[tuple[int, int, int, str]] = []
    flags: list[tuple[int, int]] = []
    parts: list[tuple[int, int, str]] = []
    said: _Placed = []  # in words
    of_one: Counter[Path] = Counter()
    leaves = list(leaves_of(result))
    not_done = parts_not_done(leaves, name, given)
    for place, (path, leaf) in enumerate(leaves):
        if leaf is None or isinstance(leaf, bool):
            if not _is_good_news(key_of(path), leaf):
                flags.append((_FLAGS.index(leaf), place))
            continue
        key = key_of(path)
        text = text_of(leaf, clean)
        if text is not None and place in not_done:
            # What comes first names each of the things, before more is told of the first one.
            parts.append((of_one[path[:-1]], place, shortened(text)))
            of_one[path[:-1]] += 1
            continue
        if text is None or text in told:
            continue
        told.add(text)
        if len(text) <= LONGEST:
            ranked.append((_rank(key, text, naming), len(path), place, text))
        if key in _SAYS and " " in text and not _is_of_one(path):
            said.append((place, clean(leaf)[:_SAID] if len(text) > LONGEST else text))
    chosen = _chosen(ranked)
    words = _said(said, chosen, name)
    shown = [part[1:] for part in sorted(parts)[:_MOST_NAMED]]
    told_of = sorted([*chosen, *words, *_told_flags(flags, len(chosen)), *shown])
    made = [Field(clean(label_of(leaves[place][0])), text) for place, text in told_of]
    made += [Field("", CUT)] if len(parts) > _MOST_NAMED else []
    return tuple(made) or _of_empty(result)


def _chosen(ranked: list[tuple[int, int, int, str]]) -> _Placed:
    """Return the values that name a result best; others where it has few of them.

    Args:
        ranked: How well each names it, how deep it stands, its place, and its text.
    """
    ranked.sort()
    naming = [found for found in ranked if found[0] < _NOT_NAMING]
    chosen = ranked[:_FEW] if len(naming) < _FEW else naming[:_MOST_NAMED]
    return [found[2:] for found in chosen]


def _said(said: _Placed, chosen: _Placed, name: str) -> _Placed:
    """Return what is said in words that goes in beside the values of a result, at most one text.

    It is one that denies something; another only where nothing else is told.
    """
    for place, text in said:
        part = denial_in(text, name, LONGEST)
        if part is not None:
            told = text if len(text) <= LONGEST else shortened(part)
            return [] if (place, text) in chosen else [(place, told)]
    others = () if chosen else (each for each in said if not is_plain_success(each[1], name))
    return [(place, shortened(telling_line(text))) for place, text in islice(others, 1)]


def _is_of_one(path: Path) -> bool:
    """Return whether a leaf tells of one of several things, as in a list of objects."""
    return any(isinstance(step, int) for step in path[:-1])


def _is_good_news(key: str, flag: bool | None) -> bool:
    """Return whether a flag only says that all is well: `ok` is true, `error` is null."""
    return key in _WENT_WELL if flag else _TROUBLE.fullmatch(key) is not None


def says_how_it_went(field: Field) -> bool:
    """Return whether a field of an outcome may say that a call did not do what it is for."""
    is_state = _is_state(field.label.rpartition(".")[2], field.text)
    return is_state or field.text in _FLAG_TEXTS or tells_of_trouble(field.label, field.text)


def tells_of_doubt(field: Field, name: str) -> bool:
    """Return whether a field says in words that a call may not have done what it is for.

    Args:
        field: A field of its outcome.
        name: The name of its tool.
    """
    if not field.label or (" " not in field.text and field.text != CUT):
        return False
    says = key_of((*field.label.split("."),)) in _SAYS
    return says and (field.text == CUT or denies(field.text, name))


def is_unclear(outcome: Iterable[Field]) -> bool:
    """Return whether an outcome may say that a call did not do what it is for.

    It says so in words, by what is false, or by a state that is not plainly a good one.
    """
    return any(
        not field.label or (says_how_it_went(field) and field.text.lower() not in _PLAINLY_WELL)
        for field in outcome
    )


def waits_or_ended(outcome: Iterable[Field], name: str) -> bool:
    """Return whether a state in an outcome says that what a call asked for is not, or not yet, so.

    Args:
        outcome: What came of the call.
        name: The name of its tool.
    """
    keys = [(f.label.rpartition(".")[2], f.text) for f in outcome]
    states = [(key, text) for key, text in keys if _is_state(key, text)]
    own = [text for key, text in states if key in ("status", "state")]  # not what stands beside it
    told = own or [text for _, text in states]
    return any(text not in _FLAG_TEXTS and is_in_doubt(text, name) for text in told)


def _is_state(key: str, text: str) -> bool:
    if key == "state" and _REGION.fullmatch(text):
        return False
    return _STATE.search(key) is not None


def _of_text(
    text: str, name: str, known: Collection[str], clean: Callable[[str], str]
) -> tuple[Field, ...]:
    instead = _RUN_INSTEAD.search(text, 0, _READ)
    said = telling_line(text) if instead is None else instead[0]
    if said in known or not any(map(str.isalnum, said)):
        return ()
    if is_plain_success(said, name):
        new = (v for v in values(said) if v.kind in _TELLING and v.text not in known)
        if next(new, None) is None:
            return ()
    return (Field("", shortened(clean(said))),)


def _told_flags(flags: list[tuple[int, int]], others: int) -> _Placed:
    """Return the flags of a result that may say that it did not do what it is for.

    Where it has few other values, all that there is room for; else what is false, unless much is.

    Args:
        flags: Which each is, in the order of `_FLAGS`, and its place.
        others: Number of the other values that go in.
    """
    if others < _FEW:
        return [(place, json.dumps(_FLAGS[flag])) for flag, place in sorted(flags)[: _FEW - others]]
    false = [(place, json.dumps(False)) for flag, place in flags if flag == 0]
    return false if len(false) <= _FEW_FALSE else []


def _of_empty(result: Any) -> tuple[Field, ...]:
    """Return that a result is an empty list: nothing may have been done."""
    return (Field("", "[]"),) if result == [] else ()


def _rank(key: str, text: str, naming: Naming) -> int:
    """Return how well a value names what came of a call, 0 best."""
    if _is_state(key, text):
        return 0
    if text.isdigit():
        return 0 if _NUMBER.search(key) else _NOT_NAMING
    return naming.rank(text)
