"""Texts that say that a call went well and came to nothing: `DELETE 0`, "0 of 2 emails sent".

All that such a text says must be that; whatever else was done would have to be told. Not here:
the same in the fields of an object (`counts`), other words of failures (`unmade`, `refusals`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from chatfold.core.effects.tool_names import effect_of_name
from chatfold.core.failures.counts import CHANGES_ROWS, DONE_ELSEWHERE, deeds_of, is_deed, is_thing
from chatfold.core.failures.words import first_line
from chatfold.core.word_sets import word_set

__all__ = ["none_told"]

_LONGEST = 300  # characters; what has more to say is a report
# What a database says of each statement: the last number is that of the rows (`CommandComplete` in
# https://www.postgresql.org/docs/current/protocol-message-formats.html, read 2026-11-29).
_TAGS = re.compile(
    r"(?:BEGIN\s+)?(?:(?:DELETE|UPDATE|MERGE|INSERT 0) 0(?:\s+|\Z))+(?:COMMIT)?", re.IGNORECASE
)
_TIME = re.compile(r"\(?\b(?:in )?\d+(?:\.\d+)? ?(?:ms|min|s|secs?|seconds)\b\)?")
_CLAUSE = re.compile(r"[.,;!]+(?=\s|$)|:(?!\s*\d)|[\n()\[\]]+|\b(?:and|but)\b")
_COUNT = re.compile(  # of MySQL and SQL Server, and of those who copy them
    r"(?:rows?|records?|documents?) (?:affected|changed|deleted|inserted|modified|updated):? 0",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+|\d+")
_NONE = word_set("0 no none nothing zero")
# What says no more than that the call itself went well, or how much went wrong.
_IDLE = word_set(
    "a all been call command complete completed done duplicates error errors executed execution "
    "failed finished for found have in matched matching of ok on operation out query ran request "
    "selected skipped statement success successful successfully the total warnings was were with"
)
# None, perhaps of how many, of what, and what was to be done to them; or that first. `Row 0
# deleted` tells of one, as what comes first is its name.
_NOTHING = re.compile(r"ZN?T*D|DZN?T+|DZN")
_ALL_FAILED = re.compile(
    r"\W*(?:all (?:of the )?(?:\d+ )?|(\d+)(?: of | out of |/)\1 )(?:[a-z]+ )?"
    r"(?:have |had )?failed[.!]?",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\W*(?:es wurden? )?(?:0|keine?|aucune?|ningun[ao]?|ningún|nessun[ao]?|nenhuma?) "
    r"(?:[\w-]+ ){1,3}?(?:(?:wurden?|n['’]a été|fue(?:ron)?|stat[oiae]|foram|foi) )?"
    rf"{DONE_ELSEWHERE}\W*"
    r"|\W*se (?:actualiz|agreg|borr|cancel|cre|elimin|envi|modific)(?:aron|ó) (?:0|ningún) "
    r"(?:[\w-]+ ?){1,3}\W*",
    re.IGNORECASE,
)


def none_told(text: str, name: str, given: Callable[[], Iterable[Any]]) -> str | None:
    """Return the line by which a text says that its call came to nothing, None where it does not.

    Args:
        text: The result.
        name: The name of the call's tool.
        given: Returns the values that the call was given.
    """
    said = _TIME.sub(" ", text.strip().replace("(s)", "s")) if len(text) <= _LONGEST else ""
    if _TAGS.fullmatch(said):
        return first_line(said) if effect_of_name(name) != "read" else None
    if _ALL_FAILED.fullmatch(said) or _ELSEWHERE.fullmatch(said):
        return first_line(said) if effect_of_name(name) == "write" else None
    verbs = frozenset[str]() if _NONE.isdisjoint(_words(said)) else deeds_of(name, given)
    if not verbs:
        return None
    clauses = [form for form in (_form(part, name, verbs) for part in _CLAUSE.split(said)) if form]
    return first_line(text) if clauses and all(map(_NOTHING.fullmatch, clauses)) else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _form(clause: str, name: str, verbs: Collection[str]) -> str:
    """Return what kinds of words a clause has, a letter each; "" where it tells of no deed.

    `Z` is none, `N` a number, `T` what is counted, `D` what was to be done, `X` another word.
    """
    if _COUNT.fullmatch(clause.strip()):
        return "ZND" if not CHANGES_ROWS.isdisjoint(verbs) else "X"
    words = [word for word in _words(clause) if word in _NONE or word not in _IDLE]
    form = "".join(_kind(word, name, verbs) for word in words)
    return "" if set(form) <= {*"ZNT"} else form


def _kind(word: str, name: str, verbs: Collection[str]) -> str:
    if word in _NONE:
        return "ZT" if word == "nothing" else "Z"
    if word.isdigit():
        return "N"
    if is_deed(word, verbs):
        return "D"
    return "T" if is_thing(word, name) else "X"
