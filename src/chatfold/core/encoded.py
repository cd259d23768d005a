"""Encoded data in a text: base64, `data:` URLs, signed tokens and hex dumps become a short label.

No model can read them, and a picture of a megabyte would fill its window. What is told apart here
from words, paths, names, hashes and numbers is told by its letters alone; nothing is decoded.
Not here: media that an item names as such (`views`), what a prompt says of them (`render`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["LEAST", "readable"]

LEAST: Final = 256
"""Characters of the shortest run that is replaced."""

_LINE: Final = 60  # characters: lines of wrapped data are no shorter, lists of ids seldom as long
_SAMPLE: Final = 2_000  # characters at each of three places of a run that are looked at

Span = tuple[int, int]


def readable(text: str) -> tuple[str, int]:
    """Return a text with a label in place of each run of encoded data, and how many there were.

    Linear in the length of the text. A text without such a run is returned as it is, the same
    object.

    Args:
        text: Any text; runs of `LEAST` characters or more are replaced, line breaks in wrapped
            data counted.
    """
    if len(text) < LEAST:
        return text, 0
    found: list[Span] = []
    if "data:" in text:
        found += _urls(text)
    if _LONG_WORD.search(text):
        found += _blocks(text)
        found += _tokens(text)
    if "\\x" in text:
        found += _bytes(text)
    if _DUMPED.search(text):
        found += _dumps(text)
    spans = _joined(text, sorted(found)) if found else ()
    return (_labelled(text, spans), len(spans)) if spans else (text, 0)


def _labelled(text: str, spans: Iterable[Span]) -> str:
    out: list[str] = []
    done = 0
    for start, stop in spans:
        out += text[done:start], f"[{stop - start:,} characters of encoded data]"
        done = stop
    return "".join((*out, text[done:]))


def _joined(text: str, spans: list[Span]) -> list[Span]:
    """Return spans that overlap, or that a line break alone parts, as one; short ones are left out.

    The first line of wrapped data in a `data:` URL is a span of its own.
    """
    joined: list[Span] = []
    for start, stop in spans:
        if joined:
            first, last = joined[-1]
            if start <= last or _BREAK.fullmatch(text, last, start):
                joined[-1] = (first, max(last, stop))
                continue
        joined.append((start, stop))
    return [(start, stop) for start, stop in joined if stop - start >= LEAST]


# --- data: URLs and signed tokens ---------------------------------------------------------------

_URL = re.compile(
    r"(?<![\w.-])data:(?:[\w.+-]{1,80}/[\w.+-]{1,80}|(?=;))(?:;[\w.+-]{1,40}(?:=[\w.+-]{1,80})?){0,5}"
    r",(?:[^\s\"'<>()\\]|\\+(?:/|u002[bBfF]|u003[dD]))*+"
)
_TOKEN = re.compile(r"(?<![\w.-])eyJ[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]*+){1,4}", re.ASCII)


def _urls(text: str) -> Iterator[Span]:
    """Yield `data:` URLs of any length: the rest of a short one may stand on further lines."""
    return (found.span() for found in _URL.finditer(text))


def _tokens(text: str) -> Iterator[Span]:
    """Yield tokens like those of JWT: parts of base64 with dots, of which the first is JSON."""
    return (f.span() for f in _TOKEN.finditer(text) if f.end() - f.start() >= LEAST)


# --- base64 and hexadecimal digits, wrapped or not ----------------------------------------------

# Slashes and plus signs may be escaped, as JSON and URLs do.
_LONG_WORD = re.compile(rf"[A-Za-z0-9+/_=%\\-]{{{_LINE},}}+")
_STRETCH = re.compile(
    r"(?P<run>(?:[A-Za-z0-9+/_-]++|\\++(?:/|u002[bBfF])|%2[bBfF])++)"
    r"(?P<padding>(?:=|%3[dD]|\\++u003[dD]){0,2}+)"
    r"|\\++(?:u[0-9A-Fa-f]{4}|.)?"  # any other escape, so that its letter is not taken for data
)
# A line break, real or escaped, with what stands around it in source code, mail and YAML.
_BREAK = re.compile(
    r"[\"'+,. \t]{0,8}+(?:\r|\\++r)?+(?:\n|\\++n|\\\r?\n)[>#*\"' \t]{0,64}+", re.ASCII
)
_LAST_LINE = re.compile(
    _BREAK.pattern + r"(?P<run>[A-Za-z0-9+/_][A-Za-z0-9+/_-]*+)(?P<padding>={0,2}+)(?![\w.:%-])"
)
# Directories in front of data: the address of something, not a part of it.
_FOLDERS = re.compile(r"/?(?:[a-z][a-z0-9_-]{1,40}+/)++")
_DIGESTS: Final = frozenset({64, 96, 128})  # hexadecimal digits; shorter ones make no line


def _blocks(text: str) -> Iterator[Span]:
    """Yield runs of base64 or hexadecimal digits, on one line or on lines of one length."""
    start = stop = width = lines = 0
    for first, last, padded in _lines(text):
        size = last - first
        if width and size <= width and _BREAK.fullmatch(text, stop, first):
            stop, lines = last, lines + 1
            width = width if size == width and not padded else 0
            continue
        yield from _block(text, start, stop, width, lines)
        start, stop, width, lines = first, last, 0 if padded else size, 1
    yield from _block(text, start, stop, width, lines)


def _lines(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where lines that may hold data begin and end, and whether padding ends them."""
    for word in _LONG_WORD.finditer(text):
        for found in _STRETCH.finditer(text, word.start(), word.end()):
            if found["run"] and found.end() - found.start() >= _LINE:
                yield found.start(), found.end(), bool(found["padding"])


def _block(text: str, start: int, stop: int, width: int, lines: int) -> Iterator[Span]:
    """Yield the span of a block if it is one.

    Args:
        text: The whole text.
        start: Where the first line begins.
        stop: Where the last line ends.
        width: Characters of each line; 0 where a shorter or padded line has ended the block.
        lines: How many lines there are.
    """
    if width and lines > 1:
        last = _LAST_LINE.match(text, stop)
        if last and len(last["run"]) < width and (last["padding"] or _is_code(last["run"])):
            stop = last.end()
    if lines == 1:
        folders = _FOLDERS.match(text, start, stop)
        start = folders.end() if folders else start
    if stop - start < LEAST:
        return
    sample = _sample(text, start, stop)
    if _HEX.fullmatch(sample):
        encoded = _is_hex(sample) and not (lines > 1 and width in _DIGESTS)
    else:
        encoded = _is_base64(sample)
    if encoded:
        yield start, stop


_HEX = re.compile(r"[0-9a-fA-F]+")
_ESCAPE = re.compile(r"\\++(?:u[0-9A-Fa-f]{4}|[rn/])|%[0-9A-Fa-f]{2}|[\s\"'=>#*,.\\]")
_REPEATED = re.compile(r"(.)\1{3,}+")
_KINDS = re.compile(r"[A-Z]+|[a-z]+|[0-9]+|[+/_-]+")


def _sample(text: str, start: int, stop: int) -> str:
    """Return what a run is judged by: of a long one both ends and the middle."""
    if stop - start <= 3 * _SAMPLE:
        return _ESCAPE.sub("", text[start:stop])
    middle = (start + stop) // 2
    places = ((start, start + _SAMPLE), (middle, middle + _SAMPLE), (stop - _SAMPLE, stop))
    return _ESCAPE.sub("", "".join(text[a:b] for a, b in places))


def _is_hex(run: str) -> bool:
    """Return whether hexadecimal digits are a dump, and not a long number or a filler."""
    letters = sum(map(run.count, "abcdefABCDEF"))
    return len(set(run)) >= 8 and 20 * letters >= len(run)


def _is_base64(run: str) -> bool:
    """Return whether a run reads like base64, base32 or the like.

    Words, paths and names have a separator every few characters, or seldom change between
    capitals, small letters and digits. Fillers, and zeros in the data, repeat one character.
    """
    run = _REPEATED.sub(r"\1", run)
    size = len(run)
    if len(set(run)) < 8:
        return False
    kinds = _KINDS.findall(run)
    capitals = sum(len(k) for k in kinds if k.isupper())
    digits = sum(len(k) for k in kinds if k.isdigit())
    separators = sum(len(k) for k in kinds if not k.isalnum())
    small = size - capitals - digits - separators
    if 12 * separators > size:
        return False
    if capitals and small and min(capitals, small) * 12 >= size:
        return 100 * len(kinds) >= 42 * size and 50 * digits >= size
    one_case = 100 * len(kinds) >= 15 * size and 12 * digits >= size and 2 * digits <= size
    return one_case and 60 * separators <= size


def _is_code(word: str) -> bool:
    """Return whether the short end of a block is data, and not the word that follows it."""
    cases = word != word.lower() and word[1:] != word[1:].lower()
    return (cases and not word.isupper()) or any(c.isdigit() for c in word)


# --- dumps of bytes -----------------------------------------------------------------------------

_GROUP = r"(?:[0-9a-fA-F]{2}){1,4}+(?![0-9A-Za-z])"
_DUMPED = re.compile(rf"[0-9a-fA-F]{{2}}[0-9a-fA-F]{{0,6}}+(?:[ :]{{1,2}}{_GROUP}){{6}}")
_DUMP_LINE = re.compile(rf"(?<![0-9A-Za-z]){_GROUP}(?:[ :]{{1,2}}{_GROUP}){{7,}}+:?")
_OFFSET = re.compile(r"(?:\n|\\n|\A|\")(?P<offset>[ \t]*(?:[0-9a-fA-F]{4,16}:?[ \t]{1,3})?)\Z")
# From the digits of one line to those of the next: characters, a line break, an offset.
_ROW_END = r"(?: {1,60}\|[^\n]{0,64}\|| {2,40}[^\n]{1,40}?)?[ \t]{0,8}(?:\r?\n|\\+n)"
_BETWEEN = re.compile(
    rf"{_ROW_END}(?:\*(?:\r?\n|\\+n))?[ \t]{{0,64}}(?:[0-9a-fA-F]{{4,16}}:?[ \t]{{1,3}})?"
)
_SHORT_LINE = re.compile(
    rf"{_ROW_END}(?=[a-fA-F]*[0-9])[0-9a-fA-F]{{4,16}}:?[ \t]{{1,3}}"
    rf"{_GROUP}(?:[ :]{{1,2}}{_GROUP}){{0,6}}+"
)
_COLUMN = re.compile(
    r" {1,60}\|[^\n]{0,64}?\|(?=\n|\\n|\"|\Z)"
    r"| {2,40}(?:\\[\"\\]|[^\n]){1,32}?(?=\n|\\n|\"[,\]}]|\"?\Z)"
)
_FINGERPRINTS: Final = frozenset({6, 8, 16, 20, 28, 32, 48, 64})  # bytes, with colons between
_ESCAPED_BYTES = re.compile(
    r"(?:\\{1,4}+x[0-9a-fA-F]{2}(?:[^\\\n]{1,8}+|\\{1,4}+[^x\n]){0,3}+){32,}+"
)


def _bytes(text: str) -> Iterator[Span]:
    """Yield byte strings as source code writes them; words with a few such bytes are none."""
    for run in _ESCAPED_BYTES.finditer(text):
        start, stop = run.start(), text.rindex("\\x", *run.span()) + 4
        if 5 * text.count("\\x", start, stop) >= stop - start:
            yield start, stop


def _dumps(text: str) -> Iterator[Span]:
    """Yield dumps: lines of hexadecimal digits in groups, with offsets and characters or without.

    Numbers in columns have no letters among their digits, so they are none.
    """
    start = stop = 0
    digits = ""
    for line in _DUMP_LINE.finditer(text):
        if _is_fingerprint(line[0]):
            continue
        if not (stop and _BETWEEN.fullmatch(text, stop, line.start())):
            yield from _dump(text, start, stop, digits)
            start, digits = line.start(), ""
        stop = line.end()
        if len(digits) < _SAMPLE:
            digits += line[0]
    yield from _dump(text, start, stop, digits)


def _dump(text: str, start: int, stop: int, digits: str) -> Iterator[Span]:
    for rest in (_SHORT_LINE, _COLUMN):
        found = rest.match(text, stop)
        stop = found.end() if found else stop
    before = _OFFSET.search(text[max(start - 24, 0) : start])
    if before:
        start -= len(before["offset"])
    if stop - start >= LEAST and _is_hex("".join(_HEX.findall(digits))):
        yield start, stop


def _is_fingerprint(line: str) -> bool:
    pairs = line.count(":") + 1
    return " " not in line and pairs in _FINGERPRINTS and len(line) == 3 * pairs - 1
