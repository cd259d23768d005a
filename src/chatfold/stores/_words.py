"""Words of a text as every store searches them, and the ranking for stores without an index.

A text becomes words of letters and digits, lower case, accents gone, joined by single spaces;
scripts that are written without spaces become one word a character, so that a query in them is
found as a phrase, at any place and of any length. An index that splits at spaces alone (FTS5's
`ascii`, a tsvector made by hand) then finds the same as a plain search for the string.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from chatfold.core.scalars import check_whole

__all__ = ["Phrase", "matches", "phrases", "ranked", "searchable", "sought"]

_MAX_PHRASES = 32
_MAX_QUERY = 10_000  # characters
_MAX_PHRASE = 64  # words; in scripts without spaces these are characters
_PREFIX_FROM = 3  # characters; shorter ones would begin too many words

# Thai, Lao, Tibetan, Myanmar, Khmer; kana; Han with its extensions; Hangul, whose particles stick
# to the word.
_SPACELESS = (
    "\u0e01-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+")
# What is written between words; all else that is no letter or digit (- . / : _ @) joins an id.
_BETWEEN = re.compile(r"[\s\x00-\x1f\"`()\[\]{}<>=;|]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
# Bounded: normalizing a run of n combining marks takes n * n steps.
_FOREIGN = re.compile(r"[^\x00-\x7f]{1,256}")


class Phrase(NamedTuple):
    """Words of a query that must follow each other; `prefix`: the last may go on."""

    text: str
    prefix: bool


def searchable(text: str) -> str:
    """Return the words of a text, joined by spaces."""
    return " ".join(_WORD.findall(_folded(text)))


def phrases(query: str) -> tuple[Phrase, ...]:
    """Return what a query asks for, one phrase for each of its words; () where it asks nothing."""
    found: dict[Phrase, None] = {}
    for written in _BETWEEN.split(query[:_MAX_QUERY]):
        words = _WORD.findall(_folded(written))[:_MAX_PHRASE]
        if words:
            prefix = len(words) > 1 or len(words[-1]) >= _PREFIX_FROM
            found[Phrase(" ".join(words), prefix)] = None
        if len(found) == _MAX_PHRASES:
            break
    return tuple(found)


def sought(call_id: str | None, query: str | None, limit: int) -> tuple[Phrase, ...] | None:
    """Return what to search texts for, () for none; None where nothing is to be found at all.

    Raises:
        ValueError: There is neither a call id nor a query, or `limit` is negative.
    """
    if call_id is None and query is None:
        raise ValueError("find() needs call_id= or query=")
    check_whole("limit", limit, 0)
    wanted = phrases(query or "")
    blank = not (query or "").strip()
    return None if not limit or (not wanted and (call_id is None or not blank)) else wanted


def matches(phrase: Phrase, words: str) -> int:
    """Return how often a phrase stands in a text that `searchable` has made."""
    padded = f" {words} "
    if phrase.prefix:
        return padded.count(f" {phrase.text}")
    if f" {phrase.text} " not in padded:  # the usual, and told much sooner than by a pattern
        return 0
    # Not the space itself, with which the next begins.
    return len(re.findall(f" {phrase.text}(?= )", padded))


def ranked(
    wanted: Sequence[Phrase], texts: Sequence[str], *, total: int | None = None
) -> list[int]:
    """Return the indices of the texts that match, best first.

    Texts with all phrases, else those with any; by Okapi BM25 as FTS5 computes it (k1 = 1.2,
    b = 0.75; https://www.sqlite.org/fts5.html#the_bm25_function, read 2026-11-22).

    Args:
        wanted: The phrases of a query.
        texts: What `searchable` has made.
        total: Number of texts in all, where `texts` leaves out some that match nothing.
    """
    counts = [[matches(phrase, text) for phrase in wanted] for text in texts]
    hits = [i for i, row in enumerate(counts) if row and all(row)]
    hits = hits or [i for i, row in enumerate(counts) if any(row)]
    lengths = [text.count(" ") + 1 for text in texts]
    mean = sum(lengths) / max(len(lengths), 1)
    number = len(texts) if total is None else total
    weights = [_weight(number, sum(row[p] > 0 for row in counts)) for p in range(len(wanted))]

    def score(index: int) -> float:
        damping = 1.2 * (0.25 + 0.75 * lengths[index] / mean)
        found = zip(weights, counts[index], strict=True)
        return sum(weight * count * 2.2 / (count + damping) for weight, count in found)

    return sorted(hits, key=lambda index: (-score(index), index))


def _weight(number: int, holding: int) -> float:
    return max(math.log((number - holding + 0.5) / (holding + 0.5)), 1e-6)


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else _FOREIGN.sub(_plain, text.casefold())


def _plain(run: re.Match[str]) -> str:
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", run[0]))
    return unicodedata.normalize("NFC", bare).casefold()  # also of what stood for a capital
