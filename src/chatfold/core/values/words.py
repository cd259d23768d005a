"""What a single word says by itself: ids, hashes, versions, mails, names of code and of errors.

Not here: what depends on the words beside it (`numbers`), the search for words (`typed`),
paths and addresses (`paths`).
"""

from __future__ import annotations

import re

from chatfold.core.values.dates import date_word
from chatfold.core.values.kinds import Keys, Kind, Reading
from chatfold.core.values.paths import host_name, path_keys, url_keys
from chatfold.core.values.terms import BRANDS, ERROR_NAMES, NO_IDS, PREFIXES

__all__ = ["digit_keys", "read_word"]

_LONGEST = 256
_UNBROKEN = 64
_ENDS = "./@+~-"

_MAIL = re.compile(r"[a-z0-9_.+~'-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_HEX = re.compile(r"[0-9a-f]{7,64}|[0-9A-F]{32}|[0-9A-F]{40}|[0-9A-F]{64}")
_VERSION = re.compile(
    r"[vV]?(\d+(?:\.\d+){1,3}(?:[-.]?(?:a|b|c|rc|alpha|beta|dev|post|pre|preview|canary|next)"
    r"[-.]?\d*)?(?:[+-][A-Za-z0-9.]+)?)|[vV](\d{1,3})"
)
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_DIGIT = re.compile("[0-9]")
_PART = re.compile(r"_*[^\W\d_]\w*")
_HUMP = re.compile(r"[a-z0-9][A-Z]")
_ERROR = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Fault)|ERR_\w+|[A-Z_]+_ERROR")
_SHORT_PIECE = re.compile(r"[A-Z]{1,3}|\d{1,3}")
_LONG_RUN = re.compile(r"\d{3,}")
_WORD_DIGITS = re.compile(r"[a-z]*\d{0,3}")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


def read_word(word: str) -> list[Reading]:
    """Return the values in a word that says what it is by itself.

    Args:
        word: Letters, digits and `_ . / @ + ~ -`, no spaces; longer than 256 it says nothing.
    """
    if len(word) > _LONGEST:
        return []
    stop = len(word.rstrip(_ENDS))
    bare = word[:stop].lstrip("@+-")
    start = stop - len(bare)
    if not bare:
        return []
    if "@" in bare:
        if _MAIL.fullmatch(bare.lower()):
            return [Reading("mail", start, stop, f"mail:{bare.lower()}", _behind_at(bare))]
        return _pieces(word, start, stop, "@")
    if ".." in bare and not bare.startswith("../"):
        return _pieces(word, start, stop, "..")
    date = date_word(bare) if bare[0].isdigit() else None
    if date is not None:
        return [Reading("date", start, start + date[0], *date[1])]
    closed = stop + (word[stop : stop + 1] == "/")
    if len(word) > _UNBROKEN and _is_encoded(bare):
        return []
    if "/" in word[start:closed]:
        return _slashed(word, start, stop, closed)
    if "+" in bare and not _VERSION.fullmatch(bare):
        return _pieces(word, start, stop, "+")
    read = _read(bare)
    if read is None and bare[0] in ".~":
        inner = bare.lstrip(".~")
        start = stop - len(inner)
        read = _read(inner) if inner else None
    return [] if read is None else [Reading(read[0], start, stop, *read[1])]


def _is_encoded(word: str) -> bool:
    """Return whether a long word is a line of base64 and the like."""
    mixed = any(map(str.isupper, word)) and any(map(str.islower, word))
    return mixed and any(map(str.isdigit, word)) and not set("._-~").intersection(word)


def _behind_at(mail: str) -> tuple[str, ...]:
    """Return the keys of the host, and of "anne@" for "d'anne@", which may say of whom."""
    lower = mail.lower()
    head, _, rest = lower.partition("'")
    host = f"url:{lower.rpartition('@')[2]}"
    return (host, f"mail:{rest}") if rest and head.isalpha() else (host,)


def _slashed(word: str, start: int, stop: int, closed: int) -> list[Reading]:
    written = word[start:closed]
    host = host_name(written.partition("/")[0])
    if host:
        return [Reading("url", start, stop, *url_keys(word[start:stop]))]
    keys = path_keys(written)
    if keys is None:
        part = _part_of(word[start:stop])
        return [Reading("id", start, stop, *part)] if part else _pieces(word, start, stop, "/")
    stem = written.rstrip("/").rpartition("/")[2].partition(".")[0]
    return [Reading("path", start, closed, keys[0], (*keys[1], *_named_after(stem)))]


def _part_of(word: str) -> Keys | None:
    """Return the keys of an id to which a short piece sticks, as WO-55821/2 and A-77/B; else None.

    It vouches for what stands before the slash. Digits that may stand for the last ones of that
    are a second id, as in "A101/102".
    """
    whole, _, piece = word.partition("/")
    if whole.isdigit() or not _SHORT_PIECE.fullmatch(piece):
        return None
    read = _read(whole)
    if read is None or read[0] != "id":
        return None
    key, also = read[1]
    if not piece.isdigit():
        named = "-" in whole or _LONG_RUN.search(whole)  # unlike "PS5/PC"
        return (_id_key(word), (key, *also)) if named else None
    digits = len(whole) - len(whole.rstrip("0123456789"))
    if len(piece) >= digits or not any(map(str.isalpha, whole)):
        return None
    return _id_key(word), (key, *also, digit_keys(piece)[1][0])


def _named_after(stem: str) -> tuple[str, ...]:
    """Return the keys of an id, or another value, that a file is named after."""
    if not any(map(str.isdigit, stem)):
        return ()
    read = _read(stem)
    return (read[1][0], *read[1][1]) if read else ()


def _pieces(word: str, start: int, stop: int, mark: str) -> list[Reading]:
    found: list[Reading] = []
    for piece in word[start:stop].split(mark):
        end = len(piece.rstrip(_ENDS))
        inner = piece[:end].lstrip(_ENDS)
        read = _piece(inner) if inner else None
        if read is not None:
            at = start + end - len(inner)
            found.append(Reading(read[0], at, start + end, *read[1]))
        start += len(piece) + len(mark)
    return found


def _piece(word: str) -> tuple[Kind, Keys] | None:
    date = date_word(word) if len(word) > 5 and word[0].isdigit() else None
    return ("date", date[1]) if date and date[0] == len(word) else _read(word)


def _read(word: str) -> tuple[Kind, Keys] | None:
    """Return kind and keys of a word that is no date, without `/` and `@`."""
    if word.isdigit():
        return digit_keys(word)
    lower = word.lower()
    if lower in NO_IDS or lower in BRANDS:
        return None
    if _DIGIT.search(word):
        return _with_digits(word, lower)
    return _without_digits(word)


def digit_keys(word: str) -> tuple[Kind, Keys]:
    """Return the reading of a bare run of digits.

    From six digits on, and with zeros in front from three, it is an id, else a number; either
    vouches for the other. A long one vouches for a phone number, eight digits for a date, few for
    the code of an error.
    """
    length = len(word)
    plain = word.lstrip("0") or "0"
    if length < 6 and (word[0] != "0" or length < 3):
        also = [f"id:{word}"]
        if length == 3:
            also.append(f"error:http {word}")
        if length <= 3:
            also.append(f"error:exit {plain}")
        return "number", (f"number:{plain}", tuple(also))
    also = [f"number:{plain}"]
    if length == 8 and word[:2] in ("19", "20") and "01" <= word[4:6] <= "12":
        also.append(f"date:{word[:4]}-{word[4:6]}-{word[6:]}")
    elif 9 < length < 16:
        also += (f"phone:{word}", f"phone:+{word}")
    if length > 11:
        also += (f"id:{word[-4:]}", f"number:{word[-4:].lstrip('0') or '0'}")
    also.append(f"hash:{word}")
    return "id", (f"id:{word}", tuple(also))


def _with_digits(word: str, lower: str) -> tuple[Kind, Keys] | None:
    length, starts = len(word), word[0].isdigit()  # cheap, and most words fail by one of them
    if length == 36 and _UUID.fullmatch(lower):
        return "id", (f"id:{lower}", (f"hash:{lower[:8]}", f"id:{lower[:8]}"))
    if length > 6 and _HEX.fullmatch(word) and not word.isalpha():
        return "hash", (f"hash:{lower}", _beginnings(lower))
    if starts and _IP.fullmatch(word):
        return "id", (f"id:{word}", ())
    version = _VERSION.fullmatch(word) if starts or word[0] in "vV" else None
    if version is not None and (word[0] in "vV" or word.count(".") > 1):
        number = (version[1] or version[2]).lower()
        return "version", (f"version:{number}", _shorter(number))
    dotted = _dotted(word) if "." in word else None
    if dotted is not None:
        return dotted
    if length > _UNBROKEN and "-" not in word and "_" not in word:
        return None
    ordinal = _ORDINAL.fullmatch(lower) if starts else None
    if ordinal is not None:
        return "number", (f"number:{ordinal[1].lstrip('0')}", ())
    head, _, tail = lower.partition("-")
    if head in PREFIXES and tail.isdigit():
        return "number", (f"number:{tail}", ())
    if "_" in word and word.islower() and all(map(_WORD_DIGITS.fullmatch, word.split("_"))):
        return "name", (f"name:{word}", (f"id:{word}",))
    if "." in word and not any(map(str.isalpha, word)):
        return None
    return "id", (_id_key(word), _inside(word))


def _beginnings(digest: str) -> tuple[str, ...]:
    """Return the keys of the short forms of a hash, in which it is an id where it has no letter."""
    short = [digest[:n] for n in (7, 8, 9, 10, 11, 12, 16) if n < len(digest)]
    return tuple(f"{'id' if part.isdigit() else 'hash'}:{part}" for part in short)


def _shorter(version: str) -> tuple[str, ...]:
    parts = version.split(".")
    short = [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]
    plain = [part for part in (version, *short) if part.count(".") < 2 and part[-1].isdigit()]
    return (*(f"version:{part}" for part in short), *(f"number:{part}" for part in plain))


def _inside(word: str) -> tuple[str, ...]:
    """Return the keys of what is long enough in an id to name it by itself."""
    also = [f"{kind}:{run}" for run in _LONG_RUN.findall(word) for kind in ("id", "number")]
    if "-" in word:
        also.append(_id_key(word.replace("-", "")))
    return tuple(also)


def _id_key(word: str) -> str:
    """Return the key of an id: lower case, unless capitals and small letters are mixed in it."""
    folded = word.isupper() or word.islower() or word.istitle()
    return f"id:{word.lower() if folded else word}"


def _without_digits(word: str) -> tuple[Kind, Keys] | None:
    last = word.rpartition(".")[2]
    if word in ERROR_NAMES or _ERROR.fullmatch(last):
        return "error", (f"error:{last}", ())
    if "." in word:
        return _dotted(word)
    if "-" in word:
        return None
    if "_" in word.strip("_") or _HUMP.search(word):
        return "name", (f"name:{word}", ())
    return None


def _dotted(word: str) -> tuple[Kind, Keys] | None:
    """Return the reading of a file's name, a host's name or a name of code with points in it."""
    keys = path_keys(word)
    if keys is not None:
        return "path", (keys[0], (*keys[1], *_named_after(word.rpartition(".")[0])))
    host = host_name(word)
    if host:
        return "url", (f"url:{host}", ())
    parts = word.split(".")
    if not all(map(_PART.fullmatch, parts)) or max(map(len, parts)) < 3:
        return None
    if len(parts) < 3 and "_" not in word and not _HUMP.search(word):
        return None
    return "name", (f"name:{word}", tuple(f"name:{part}" for part in parts))
