"""Calls that answered otherwise than the others of their tool.

Sixty calls say "Updated", and one "Row is locked by Kim": whether that one came about nobody can
tell by its words alone, and in a range of sixty it would read as done. Not here: results that are
known to tell of a failure (`failures`), how calls are counted together (`counted`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from chatfold.core.entries import Entry, Field
from chatfold.core.word_sets import word_set

__all__ = ["Told", "said_by", "unlike", "unlike_others"]

Told: TypeAlias = tuple[str, str | None, int]
"""The tool of some calls, what they said ("" for nothing, None where it is lost), how many."""

_LEAST: Final = 4  # calls of a tool, of which most must have said the same
_FEW: Final = 2  # that said what the others did not, or
_SHARE: Final = 20  # the twentieth part of all
_SAYING = word_set("comment detail info message msg note reason warning")
_OWN = re.compile(r"\S*\d\S*")  # what names each call: "Updated PX-700"


def said_by(values: Iterable[Field]) -> str:
    """Return what a result said in words, without what names the call; "" for nothing."""
    texts = (f for f in values if not f.label or f.label.rpartition(".")[2] in _SAYING)
    return "\n".join(_OWN.sub("#", field.text).lower() for field in texts)


def unlike(told: Sequence[Told]) -> set[int]:
    """Return the places of the calls that said what next to none of their tool has said.

    Of a tool that says something else at each call, none is unlike the others.
    """
    said: dict[str, Counter[str | None]] = {}
    for tool, words, calls in told:
        said.setdefault(tool, Counter())[words] += calls
    most = {tool: _usual(counts) for tool, counts in said.items() if counts.total() >= _LEAST}
    found: dict[str, list[int]] = {}
    for place, (tool, words, _) in enumerate(told):
        if not words or tool not in most or words == most[tool][0]:
            continue
        if said[tool][words] <= max(_FEW, said[tool].total() // _SHARE):
            found.setdefault(tool, []).append(place)
    return {
        place
        for tool, places in found.items()
        if 2 * most[tool][1] >= said[tool].total()
        and (len(places) <= _FEW or 2 * len(places) <= _singles(said[tool]))
        for place in places
    }


def unlike_others(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries of single calls that said what next to none of their tool has said."""
    told = [(e.name, None if e.arguments is None else said_by(e.values), e.calls) for e in entries]
    return [entries[place] for place in sorted(unlike(told))]


def _usual(counts: Counter[str | None]) -> tuple[str | None, int]:
    return counts.most_common(1)[0]


def _singles(counts: Counter[str | None]) -> int:
    """Return of how many calls it is known what they said."""
    return counts.total() - counts[None]
