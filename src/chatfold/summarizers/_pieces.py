"""Pieces of text for the extractive summarizer: cleaned, cut on borders, with the values in them.

A piece is copied from its source and holds only whole ids, dates, numbers and addresses. Not
here: which pieces are worth their room (`extractive`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast

from chatfold.core.json_text import document

__all__ = [
    "GAP",
    "Path",
    "Piece",
    "estimate_tokens",
    "json_pieces",
    "one_line",
    "parsed",
    "pieces",
    "shortened",
    "values_in",
    "weight",
]

GAP = "…"
"""Stands where something was left out."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead to a piece inside JSON; empty for a piece of plain text."""

_PIECE = 160  # characters: about two lines of prose
_CLIP = 200_000  # characters: of a longer text only both ends are looked at
_JSON_LIMIT = 16_000_000  # characters: a longer text is not parsed
_DEPTH = 8  # keys and indices: deeper values are shown under their ancestor of that depth
_FIRST, _LAST = 60, 20  # elements of a long list that are looked at
_NAME = 60  # characters of a key


class Piece(NamedTuple):
    """A piece of a text or a value of a JSON document, with the place that it comes from."""

    text: str
    path: Path = ()


# --- tokens -------------------------------------------------------------------------------------

_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+| ?[0-9]+|\s+|[!-/:-@\[-`{-~]{1,2}|[^\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` has: no less than a quarter of its UTF-8 bytes.

    Digits and punctuation, of which facts are full, cost far more than prose; so they are counted
    by kind. Within a few percent of o200k_base on English facts, above it elsewhere.
    """
    total = 0
    for run in _RUNS.findall(text):
        last = run[-1]
        if last > "\x7f":
            total += -(-len(run.encode("utf-8", "surrogatepass")) // 4)
        elif last.isdigit():
            total += -(-len(run) // 3) if run[0] != " " else 1 + (len(run) + 1) // 3
        elif last.isspace():
            total += len(run) > 1 or last == "\n"
        elif last.isupper():
            total += -(-2 * len(run) // 5)
        else:
            total += -(-len(run) // 8) if last.isalpha() else 1
    return max(total, -(-len(text.encode("utf-8", "surrogatepass")) // 4))


# --- cleaning and cutting -----------------------------------------------------------------------

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_ENCODED = re.compile(r"[A-Za-z0-9+/_=-]{48,}")
_SAME_KIND = re.compile(r"[A-Z]+|[a-z]+|[0-9]+")
_SEPARATORS = re.compile(r"[/_=+-]+")
_LAST_OF_ENCODED = re.compile(r"\r?\n([A-Za-z0-9+/_-]{1,76}={0,2})(?![^\s\"'])")
_WORD_END = re.compile(r"[\s\"'<>,;(){}\[\]]")
_DATA_URL = re.compile(
    r"(?<!\w)data:[\w.+-]{1,60}/[\w.+-]{1,60}(?:;[\w=.-]{1,60}){0,3},[^\s\"'<>)]*"
)
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=\D)|(?<=[。！？])")
_BORDER = re.compile("[\\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WIDE_RUN = re.compile(
    "[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,8}|[^\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


def pieces(text: str) -> Iterator[Piece]:
    """Yield a plain text in pieces: its lines, long ones by sentences, long sentences by words."""
    if len(text) > _CLIP:
        text = _ends(text)
    for line in _clean(text).splitlines():
        words = line.split()
        if not words:
            continue
        line = " ".join(words)
        if len(line) <= _PIECE:
            yield Piece(line)
            continue
        for sentence in _SENTENCE.split(line):
            if sentence:
                yield from map(Piece, _by_words(sentence))


def one_line(text: str) -> Iterator[str]:
    """Yield the lines of a text, cleaned and without blank ones."""
    for line in _clean(text if len(text) <= _CLIP else _ends(text, _CLIP // 4)).splitlines():
        words = line.split()
        if words:
            yield " ".join(words)


def shortened(text: str, limit: int) -> str:
    """Return `text` on one line, cut on a border of words where it is longer than `limit`."""
    if len(text) > 4 * limit:
        text = _ends(text, 4 * limit)
    line = " ".join(_clean(text).split())
    if len(line) <= limit:
        return line
    first = next(iter(_by_words(line, limit)), "")
    return first if first.endswith(GAP) else f"{first}{GAP}"


def _clean(text: str) -> str:
    """Return `text` without what no model can use: controls, encoded data."""
    if not text.isprintable():
        text = _CONTROL.sub(" ", _ANSI.sub(" ", text))
    if len(text) < 48:
        return text
    if "data:" in text:
        text = _DATA_URL.sub(GAP, text)
    found = [run.span() for run in _ENCODED.finditer(text) if _is_encoded(run[0])]
    return _without(text, found) if found else text


def _is_encoded(run: str) -> bool:
    """Return whether a run reads like base64 or a dump.

    Words, paths and ids have a separator every few characters and seldom change between capitals,
    small letters and digits, and a digest is shorter.
    """
    if _is_mixed(run) and 10 * len(_SAME_KIND.findall(run)) > 3 * len(run):
        return True
    parts = 1 + len(_SEPARATORS.findall(run.rstrip("=")))
    return len(run) > 16 * parts and (len(run) > 64 or not run.isalnum() or _is_mixed(run))


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text with gaps in place of the words that hold encoded runs.

    The whole word goes, since the rest of it would be a partial address; so does the last line of
    a block, which is too short to be told by itself.
    """
    out: list[str] = []
    done = 0
    for start, stop in spans:
        if stop <= done:
            continue
        before = _WORD_END.search(text[done:start][::-1])
        out.append(text[done : start - before.start()] if before else "")
        after = _WORD_END.search(text, stop)
        done = after.start() if after else len(text)
        rest = _LAST_OF_ENCODED.match(text, done)
        if rest and (rest[1].endswith("=") or _is_mixed(rest[1])):
            done = rest.end()
        out.append(GAP)
    return "".join((*out, text[done:]))


def _is_mixed(run: str) -> bool:
    return run != run.lower() and run != run.upper() and any(c.isdigit() for c in run)


def _ends(text: str, size: int = _CLIP) -> str:
    """Return both ends of a long text, cut where no word is parted."""
    half = size // 2
    first, last = text[:half], text[-half:]
    start = _BORDER.search(last)
    stop = _BORDER.search(first[::-1])
    kept = first[: half - stop.start()] if stop else ""
    return f"{kept}\n{GAP}\n{last[start.end() :] if start else ''}"


def _by_words(sentence: str, limit: int = _PIECE) -> Iterator[str]:
    """Yield a long sentence in parts of whole words; a word that is too long becomes a gap.

    Words with digits stay with their neighbours, so that no date, address or number with spaces
    is parted.
    """
    words = [w for word in sentence.split(" ") for w in _wide_words(word, limit)]
    part: list[str] = []
    size = 0
    for index, word in enumerate(words):
        if len(word) > limit:
            word = word if "://" in word and len(word) <= 3 * limit else GAP
        if size + len(word) > limit and part:
            keep = _border(part, word)
            yield _joined(part[:keep])
            part = part[keep:]
            size = sum(map(len, part)) + len(part)
        part.append(word)
        size += len(word) + 1
        if index == len(words) - 1:
            yield _joined(part)


def _wide_words(word: str, limit: int) -> Sequence[str]:
    """Return a word, or its characters in groups where its script has no spaces between words."""
    if len(word) <= limit // 4 or len(groups := _WIDE_RUN.findall(word)) == 1:
        return (word,)
    # A tie in front marks what is to be joined without a space.
    return [groups[0], *(f"\x1f{group}" for group in groups[1:])]


def _joined(words: Sequence[str]) -> str:
    return " ".join(words).replace(" \x1f", "").lstrip("\x1f")


def _border(words: Sequence[str], following: str) -> int:
    """Return how many of `words` go into the part that ends here: at least one."""

    def parts(left: str, right: str) -> bool:
        return not (_HAS_DIGIT.search(left) or _HAS_DIGIT.search(right))

    for at in range(len(words), max(len(words) // 2, 1) - 1, -1):
        if parts(words[at - 1], words[at] if at < len(words) else following):
            return at
    for at in range(len(words), 0, -1):
        after = words[at] if at < len(words) else following
        if not (_HAS_DIGIT.search(words[at - 1]) and _HAS_DIGIT.search(after)):
            return at
    return len(words)


# --- JSON ---------------------------------------------------------------------------------------


def parsed(text: str) -> Any:
    """Return a JSON object or list with its numbers as they are written, or None."""
    return document(text) if len(text) <= _JSON_LIMIT else None


def json_pieces(document: Any, limit: int) -> Iterator[Piece]:
    """Yield the values of a JSON document in its order, long texts in several pieces.

    Args:
        document: What `parsed` returned.
        limit: Number of pieces to stop at.
    """
    stack: list[tuple[Any, Path, int]] = [(document, (), 0)]
    while stack and limit > 0:
        value, path, level = stack.pop()
        if isinstance(value, str):
            inner = parsed(value) if level < 3 and len(value) > 2 else None
            if inner is not None:
                stack.append((inner, path, level + 1))
                continue
            for piece in pieces(value) if len(value) > _PIECE else _short(value):
                limit -= 1
                yield Piece(piece.text, path)
        elif isinstance(value, dict):
            for key, inner in reversed(_some_entries(cast(dict[str, Any], value))):
                if key not in _SECRET_KEYS:
                    stack.append((inner, _longer(path, shortened(key, _NAME)), level))
        elif isinstance(value, list):
            elements = cast(list[Any], value)
            last = range(max(_FIRST, len(elements) - _LAST), len(elements))
            taken = [*range(min(_FIRST, len(elements))), *last]
            stack.extend((elements[i], _longer(path, i), level) for i in reversed(taken))
        elif value is not None:
            limit -= 1
            yield Piece("true" if value else "false", path)


_SECRET_KEYS = frozenset({"encrypted_content", "encrypted_index", "b64_json", "signature"})


def _short(text: str) -> Sequence[Piece]:
    line = " ".join(_clean(text).split())
    return (Piece(line),) if line else ()


def _longer(path: Path, step: str | int) -> Path:
    return (*path, step) if len(path) < _DEPTH else path


def _some_entries(entries: dict[str, Any]) -> list[tuple[str, Any]]:
    if len(entries) <= _FIRST + _LAST:
        return list(entries.items())
    last = list(islice(reversed(entries.items()), _LAST))
    return [*islice(entries.items(), _FIRST), *reversed(last)]


# --- values -------------------------------------------------------------------------------------

_HAS_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"(?:[^\s\"'<>{}\[\]()|;,`]|(?<=\d),(?=\d))+")
_VALUE_LIKE = re.compile(r"[\d@]|[\w.~-]/[\w.~-]")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}")


def values_in(text: str) -> list[str]:
    """Return the ids, dates, numbers, paths and addresses in a text, in order, once each."""
    if not _VALUE_LIKE.search(text):
        return []
    found: dict[str, None] = {}
    for word in _WORDS.findall(text):
        if not _VALUE_LIKE.search(word):
            continue
        if "://" in word:
            found[word.rstrip(".,:!?*")] = None
            continue
        for part in word.split("=") if "=" in word else (word,):
            value = part.strip(".,:!?*#$€£%+~-_\\")
            if value and _VALUE_LIKE.search(value):
                found[value] = None
    return list(found)


def weight(value: str) -> float:
    """Return how likely an agent needs a value again, by its kind alone."""
    if value.isdigit():
        return (0.05, 0.2, 0.6, 1.2, 0.8, 1.6)[min(len(value), 6) - 1]
    if not any(c.isalpha() for c in value):
        return 1.2 if _DATE.match(value) else 0.5
    if "://" in value or "/" in value:
        return 1.5
    if "@" in value:
        return 0.8
    return 2.0 if len(value) > 3 else 0.8
