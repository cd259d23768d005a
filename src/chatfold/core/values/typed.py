"""Typed values in a text: ids, dates, amounts, addresses and the like, normalized to compare.

Not here: where in a history a value stands and how it was used (`facts`), what follows from it
(`ledger`, `grounding`).
"""

from __future__ import annotations

import re

from chatfold.core.values.dates import day_in_utc, glued_time
from chatfold.core.values.kinds import Kind, Reading, Value
from chatfold.core.values.numbers import Cache, numbers_at, quiet_number
from chatfold.core.values.paths import path_keys, url_keys
from chatfold.core.values.stuck import is_whole, may_stick, unstuck
from chatfold.core.values.terms import COMMANDS
from chatfold.core.values.words import read_word

__all__ = ["Kind", "Value", "command_value", "found_in", "values"]

_LETTER = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"  # none of them × or ÷
_REACH = 64
_LINE = 300

# One class comes first, so that the engine leaps over all that no value can hold.
_MARK = re.compile(
    r"[0-9A-Z_@/`.$(\\-](?:(?<=[0-9_@/`])|(?<=[a-z][A-Z])|(?<=\.)(?=[A-Za-z0-9_])"
    r"|(?<=-)(?=-[a-z])|(?<=\()(?=\))|(?<=E)(?=[A-Z]{3})|(?<=\$)(?= [a-z./])|(?<=[A-Za-z]:\\))"
)
# An apostrophe joins letters in front of an @, unless one behind the address ends a quotation.
_OF_MAIL = "A-Za-z0-9_.+~-"
_JOINED = (
    rf"(?<=[A-Za-z])(?<!\b[BFRUbfru])(?:'(?=[A-Za-z])[{_OF_MAIL}]{{1,{_REACH}}}+){{1,3}}+"
    "@[A-Za-z0-9.-]++(?!')"
)
_JOINED_MAIL = re.compile(rf"[{_OF_MAIL}]++{_JOINED}")
_WORD = re.compile(rf"[{_LETTER}0-9_./+~-]*+(?:{_JOINED})?+[{_LETTER}0-9_./@+~-]*+")
_DIGITS = "0123456789"
_LOOSE = "./@+~-"
_LETTERS = map(chr, [*range(65, 91), *range(97, 123), *range(192, 592)])
_BESIDE = "".join(["_", _DIGITS, _LOOSE, *_LETTERS]).translate({0xD7: None, 0xF7: None})
_ASCII_BESIDE = _BESIDE.encode("ascii", "ignore").decode()  # to look through all takes longer
_BEFORE_JOINT = _ASCII_BESIDE.translate({ord("/"): None, ord("@"): None})
_URL = re.compile(
    r"[^\s\"'<>`{}|\\^\u00ab\u00bb\u201a-\u201f\u2039\u203a\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af"
    r"\uff00-\uffef]{1,2048}"
)
_DRIVE = re.compile(r"[A-Za-z]:\\[^\s\"'<>|:*?`,;]{1,512}")
_NO_DRIVE = re.compile(rf"(?<!\\[nrt])(?<=[{_LETTER}0-9_])")  # "schema:\n" in JSON; but "\nC:\"
_FLAG = re.compile(r"--[a-z][a-z0-9-]*")
_OPTION = re.compile(r"(?:^| )--?[A-Za-z][\w-]*")
_IBAN = re.compile(r"[A-Z]{2}\d\d(?: [A-Z0-9]{4}){3,7}(?: [A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_ESCAPE = re.compile("[nrt]|u[0-9A-Fa-f]{4}")  # of JSON, behind its backslash
_TO_END = re.compile(rf"[^\n`]{{1,{_LINE}}}")

_MAY_STICK = ("id", "number")  # what words are read as in which letters stick to a number
_STUCK: list[Reading] = []  # known by being this very list: the text behind the word decides

_FOLD = {
    **dict.fromkeys([0xA0, 0x202F, 0x2009, 0x3000], " "),
    **dict.fromkeys([0x2212, *range(0x2010, 0x2014)], "-"),
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **{zero + n: str(n) for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50) for n in range(10)},
    0x2019: "'",
    0x66B: ".",
    0x66C: ",",
}
_FOLDED = re.compile("[" + "".join(map(chr, sorted(_FOLD))) + "]")
# ARABIC DECIMAL SEPARATOR and ARABIC THOUSANDS SEPARATOR, as Unicode names them. Beside anything
# but digits they are no such signs, and the comma of that script (U+060C) parts numbers.
_IN_NUMBERS = "\u066b\u066c"
_PARTS_DIGITS = re.compile(r"(?<=\d)(?:\u066b(?=\d)|\u066c(?=(?:\d\d\u066c){0,6}+\d{3}(?!\d)))")


def values(text: str) -> list[Value]:
    """Return the typed values in a text, in order, none inside another; linear in its length.

    Full-width and other digits, and the hyphens, spaces and separators that stand in numbers, are
    read as those of ASCII. No value goes over the end of a line. What is normalized how: dates and
    times by `day_keys` and `time_keys`, numbers by `plain_number`, amounts by `amount_at`, phones
    by `phone_keys`, digits by `digit_keys`, paths by `path_keys`, addresses by `url_keys`. Mails
    are in lower case, ids too unless they hold both capitals and small letters; hashes are, and
    vouch for their short forms. Versions lose their v and vouch for their beginnings; commands
    have single spaces and vouch for their parts; names and errors are as they are written.
    """
    return found_in(text, {})


def found_in(text: str, cache: Cache) -> list[Value]:
    """Return `values(text)`; texts that share a cache have each of their words read once."""
    plain = text if text.isascii() else _FOLDED.sub(_fold, text)
    found: list[Value] = []
    search = _MARK.search
    at = 0
    while (mark := search(plain, at)) is not None:
        place = mark.start()
        quiet = quiet_number(plain, place, cache) if mark[0] in _DIGITS else None
        new, at = quiet or _at_mark(plain, place, at, cache)
        if new:
            found += new
    if plain is not text:
        return [value._replace(text=text[value.start : value.stop]) for value in found]
    return found


def _fold(found: re.Match[str]) -> str:
    sign = found[0]
    if sign in _IN_NUMBERS and not _PARTS_DIGITS.match(found.string, found.start()):
        return sign
    return _FOLD[ord(sign)]


def _at_mark(text: str, mark: int, at: int, cache: Cache) -> tuple[list[Value], int]:
    """Return the values at a mark, and where the search goes on.

    Args:
        text: The whole text.
        mark: Index of a character that a value may hold and plain words do not.
        at: Where the last value stopped.
        cache: Readings of words.
    """
    sign = text[mark]
    if sign in "`$\\":
        return _marked(text, mark, at)
    low = at if at > mark - _REACH else mark - _REACH
    before = text[low:mark]
    start = low + len(before.rstrip(_ASCII_BESIDE if before.isascii() else _BESIDE))
    matched = _WORD.match(text, start)
    assert matched is not None
    word, stop = matched[0], matched.end()
    if not word:  # the bracket of a call, and no word before it
        return [], mark + 1
    if start == low > at and text[low - 1] in _BESIDE:
        return [], stop + (stop == mark)  # it began farther back than a value reaches
    if start and text[start - 1] in "\\'":
        if text[start - 1] == "'":
            start, stop = _joined(text, start, low) or (start, stop)
        elif escape := _ESCAPE.match(text, start):
            start = escape.end()
            if start > mark:
                return [], start
            if start == stop:  # the bracket of a call, and no word before it but the escape
                return [], mark + 1
        word = text[start:stop]
    return _at_word(text, start, stop, word, at, cache)


def _joined(text: str, start: int, low: int) -> tuple[int, int] | None:
    """Return where a mail's address stands that goes on behind an apostrophe: d'arcy@example.com.

    Args:
        text: The whole text.
        start: Where the word behind the apostrophe begins.
        low: Where the address may begin.
    """
    first = low + len(text[low : start - 1].rstrip(_BEFORE_JOINT))
    escape = _ESCAPE.match(text, first) if text[first - 1 : first] == "\\" else None
    mail = _JOINED_MAIL.match(text, escape.end() if escape else first)
    return mail.span() if mail else None


def _at_word(
    text: str, start: int, stop: int, word: str, at: int, cache: Cache
) -> tuple[list[Value], int]:
    """Return the values in a word and what belongs to it, and where the search goes on."""
    first = word[0]
    if first.isdigit() or (first == "+" and word[1:2].isdigit()):
        new = _numbers(text, start + (first == "+"), word.lstrip("+"), at, cache)
        if new:
            return new, new[-1].stop
    elif text.startswith("://", stop) and word.isalnum():
        return _url(text, start, stop)
    elif first in "/-w" or (len(word) == 4 and first.isupper()):
        other = _led(text, start, stop, word, at)
        if other is None and first == "/" and start == at:
            other = _each(text, start, stop, word, cache)
        if other:
            return other
    readings = cache.get(word)
    if readings is None:
        readings = read_word(word)
        loose = not readings or readings[0].kind in _MAY_STICK or first in _LOOSE
        if loose and may_stick(word) and unstuck(word):
            readings = _STUCK
        cache[word] = readings
    if readings is _STUCK:
        return _unstuck(text, start, stop, word, at, cache)
    if not readings and text.startswith("()", stop) and word[-1] not in _LOOSE:
        return [Value("name", word, f"name:{word}", start, stop)], stop + 2
    return [
        Value(kind, word[a:b], key, start + a, start + b, also)
        for kind, a, b, key, also in readings
    ], stop


def _unstuck(
    text: str, start: int, stop: int, word: str, at: int, cache: Cache
) -> tuple[list[Value], int]:
    """Return the values of a word in which something sticks to the front of a number."""
    head = unstuck(word)
    new = _numbers(text, start + head, word[head:], at, cache)
    if new and is_whole(word, head, new[-1].stop - start):
        if word[head - 1].isalpha():  # it may be an id all the same
            also = (key for reading in read_word(word) for key in (reading.key, *reading.also))
            forms = dict.fromkeys((*new[0].also, *also))
            new[0] = new[0]._replace(also=tuple(form for form in forms if form != new[0].key))
        return new, new[-1].stop
    return [
        Value(kind, word[a:b], key, start + a, start + b, also)
        for kind, a, b, key, also in read_word(word)
    ], stop


def _numbers(text: str, start: int, word: str, at: int, cache: Cache) -> list[Value]:
    """Return the values that begin at a digit, with the time that is glued to a date."""
    new = numbers_at(text, start, word, at, cache)
    if not new:
        return new
    last = new[-1]
    late = glued_time(text, last.stop) if last.kind == "date" else None
    if late is not None:
        new[-1] = day_in_utc(last, late)
        new.append(late)
    return new


def _led(text: str, start: int, stop: int, word: str, at: int) -> tuple[list[Value], int] | None:
    """Return what a word is by how it begins: the address behind `https:`, an IBAN, a flag."""
    account = _IBAN.match(text, start) if len(word) == 4 else None
    if account is not None:
        written, end = account[0].replace(" ", ""), account.end()
        also = (f"id:{written[-4:].lower()}",)
        return [Value("id", account[0], f"id:{written.lower()}", start, end, also)], end
    if word[0] == "/" and text[start - 1 : start] == "<":
        return [], stop  # what ends an element
    if word.startswith("//") and text[start - 1 : start] == ":":
        return _address(text, start, stop, at)
    if word.startswith("www."):
        return _url(text, start, stop)
    flag = _FLAG.match(text, start) if word.startswith("--") else None
    if flag is None:
        return None
    return [Value("command", flag[0], f"command:{flag[0]}", start, flag.end())], flag.end()


def _each(
    text: str, start: int, stop: int, word: str, cache: Cache
) -> tuple[list[Value], int] | None:
    """Return what stands behind a number and a slash: "$30/month" names no path."""
    before = text[start - 1 : start] or " "
    if not (before.isalnum() or before in "%€£$") or text[max(0, start - 6) : start - 4] == "\\u":
        return None
    if word[1:2].isdigit():
        new = _numbers(text, start + 1, word[1:], start, cache)
        return (new, new[-1].stop) if new else None
    return ([], stop) if word.replace("/", "").isalpha() else None


def _address(text: str, slashes: int, stop: int, at: int) -> tuple[list[Value], int]:
    """Return the address whose `//` stands there."""
    low = max(at, slashes - 12)
    scheme = text[low : slashes - 1]
    start = low + len(scheme.rstrip("abcdefghijklmnopqrstuvwxyzHTPS0123456789+"))
    return _url(text, start, stop) if start < slashes - 1 else ([], stop)


def _url(text: str, start: int, stop: int) -> tuple[list[Value], int]:
    """Return the address that begins there, without the punctuation of the sentence around it."""
    found = _URL.match(text, start)
    if found is None:
        return [], stop
    url = found[0].rstrip(".,;:!?*_~'")
    for opening, closing in ("()", "[]"):
        while url.endswith(closing) and url.count(closing) > url.count(opening):
            url = url[:-1].rstrip(".,;:!?*_~'")
    host = (url.partition("://")[2] if "://" in url else url).strip("/")
    if len(host) < 3:
        return [], stop
    return [Value("url", url, *_placed(url_keys(url), start, len(url)))], start + len(url)


def _placed(
    keys: tuple[str, tuple[str, ...]], start: int, length: int
) -> tuple[str, int, int, tuple[str, ...]]:
    return keys[0], start, start + length, keys[1]


def _marked(text: str, mark: int, at: int) -> tuple[list[Value], int]:
    """Return a command in backticks or behind a prompt, or the path behind a drive's letter."""
    if text[mark] == "\\":
        start = mark - 2
        is_drive = start >= at and not _NO_DRIVE.match(text, start)
        found = _DRIVE.match(text, start) if is_drive else None
        path = found[0].rstrip(".)") if found else ""
        keys = path_keys(path) if path else None
        if keys is None:
            return [], mark + 1
        return [Value("path", path, *_placed(keys, start, len(path)))], start + len(path)
    if text[mark] == "$":
        found = _TO_END.match(text, mark + 2) if not mark or text[mark - 1] == "\n" else None
        return (
            ([command_value(found[0].rstrip(), mark + 2)], found.end()) if found else ([], mark + 1)
        )
    if text.startswith("``", mark + 1):
        return [], mark + 3
    end = text.find("`", mark + 1, mark + _LINE)
    inner = text[mark + 1 : end] if end > 0 else ""
    name, space, rest = inner.partition(" ")
    if space and "\n" not in inner and (name in COMMANDS or _OPTION.search(rest)):
        return [command_value(inner.rstrip(), mark + 1)], end + 1
    return [], mark + 1


def command_value(command: str, start: int) -> Value:
    """Return a command as a value: its key has single spaces; it vouches for what stands in it."""
    parts = re.split(r"&&|\|\||[;|]", command)
    also = [f"command:{' '.join(part.split())}" for part in parts]
    for value in values(command.replace("`", " ")):
        also += (value.key, *value.also)
    key = f"command:{' '.join(command.split())}"
    unique = tuple(dict.fromkeys(form for form in also if form != key))
    return Value("command", command, key, start, start + len(command), unique)
