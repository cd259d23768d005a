r"""What Python writes of a value (`str(result)`), as the JSON that says the same.

A tool returns a dict, and its host makes a text of it: openai-agents 0.24 (`agents/items.py`),
livekit-agents 1.8.9 (`llm/utils.py`) and many a loop of one's own call `str`. No code is run for
what stands in such a text; it is gone through from left to right, once.
Not here: JSON itself (`json_text`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

__all__ = ["LONGEST", "json_of"]

LONGEST: Final = 100_000
"""Characters of a text that is looked at; more takes longer than what it says is worth."""

# An object or a list, which ends as it begins, with a string, a name or a number first: most other
# texts with such a beginning are let go by this.
_BEGINS = re.compile(r"\s*(?:\{\s*(?:b?['\"]|-?\d)|\[\s*(?:[{\[('\"]|-?\d|[A-Za-z_]))")
# What JSON has not, and one of which is in nearly all that Python writes: broken JSON is let go.
_OF_PYTHON = re.compile(r"['(]|\b(?:True|False|None|nan|inf)\b|[{,]\s*+-?\d++\s*+:")
_STRING = r"""'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+\""""
# Made of one text, which says all that they are. The name of any other class may be what a text
# is there for (`Rejected()`, `ConnectionError('refused')`): with one of these it stays a text.
_PLAIN = (
    r"(?:Decimal|UUID|ObjectId|Timestamp|IPv[46]Address|(?:Pure)?(?:Posix|Windows)Path|np\.str_)"
)
_UTC = (
    r"(?:datetime\.)?timezone\.utc|(?:tz)?[uU][tT][cC](?:\(\))?|<UTC>|TzInfo\((?:UTC|0)\)"
    r"|zoneinfo\.ZoneInfo\(key='(?:Etc/)?UTC'\)"
)
_OFFSET = (
    r"(?:datetime\.)?timezone\((?:datetime\.)?timedelta\("
    r"(?P<days>days=-1, )?seconds=(?P<seconds>\d{1,5})\)\)"
)
_PARENTHESES = r"\((?:[^()\n]|\([^()\n]{0,80}\)){0,80}\)"
_TOKEN = re.compile(
    rf"\s*+(?:(?P<string>{_STRING})"
    r"|(?P<number>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?P<key>(?=\s*+:))?"
    r"|(?P<mark>[\[\]{}:(]|,(?!\s*+\)))"
    r"|,?\s*+(?P<end>\))"  # of one thing alone there is a comma: `(1,)`
    # As databases and their kind return them: `Decimal('49.90')`, `datetime.date(2026, 12, 4)`.
    rf"|{_PLAIN}\((?P<held>{_STRING})\)"
    r"|np\.(?:float|u?int)\d+\((?P<np>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\)"
    r"|(?:datetime\.)?(?P<day>date|datetime)\((?P<numbers>\d{4}(?:, \d{1,6}){2,6})"
    rf"(?P<zone>, tzinfo=(?:(?P<utc>{_UTC})|{_OFFSET}))?\)"
    # A member of an enumeration: the number of one says nothing, its text is what is sent.
    rf"|<[A-Za-z_]\w*\.(?P<member>[A-Za-z_]\w*): (?:(?P<enum>{_STRING})|-?\d+)>"
    r"|(?P<word>(?:True|False|None|nan|inf)\b|-inf\b)"
    # What says nothing here is taken as it is written: `<Node object at 0x7f>`, `b'GIF'`.
    rf"|(?P<other>datetime\.(?:time|timedelta)\([^()'\"\n]{{0,80}}\)|<[^<>\n]{{1,200}}>"
    rf"|(?:datetime\.)?datetime\((?:[^()\n]|{_PARENTHESES}){{1,200}}\)|b(?:{_STRING})))"
)
_WORDS: Mapping[str, str] = {
    "True": "true",
    "False": "false",
    "None": "null",
    "nan": "NaN",
    "inf": "Infinity",
    "-inf": "-Infinity",
}
_ENDS: Mapping[str, str] = {"{": "}", "[": "]", "(": ")"}
_IN_JSON: Mapping[str, str] = {"{": "{", "}": "}", "[": "[", "]": "]", "(": "[", ")": "]"}
_ESCAPES = re.compile(r"\\(?:x([0-9a-f]{2})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4})|(.))|([\"\x00-\x1f])")
_SAME_IN_JSON = frozenset('\\"bfnrtu')


def json_of(text: str) -> str | None:
    """Return the JSON of a dict or list that Python has written.

    Of values that JSON does not know, dates are written as ISO 8601 writes them, members of an
    enumeration as their text or name, and what is made of one text (`Decimal('49.90')`,
    `UUID(...)`) as that.

    Args:
        text: The text.

    Returns:
        What `json` reads if it is one, however deep; None, or what `json` refuses, where it is
        something else, or holds an object whose class may be what it says.
    """
    if len(text) > LONGEST or not _BEGINS.match(text):
        return None
    text = text.strip()
    if text[-1] != _ENDS[text[0]] or not _OF_PYTHON.search(text):
        return None
    out: list[str] = []
    ends: list[tuple[str, str]] = []  # of what is open, as Python and as JSON write it
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or not (ends or at == 0):  # lines of JSON, one value each
            return None
        at, kind = found.end(), found.lastgroup or ""
        written = found[kind]
        if kind in ("mark", "end"):
            if written in _ENDS:
                ends.append((_ENDS[written], _IN_JSON[_ENDS[written]]))
                written = _IN_JSON[written]
            elif written not in ",:":
                if not ends or ends[-1][0] != written:
                    return None
                written = ends.pop()[1]
        else:
            written = _VALUES[kind](found)
        out.append(written)
    return None if ends else "".join(out)


def _string(written: str) -> str:
    """Return a string between the quotes of Python as one of JSON."""
    inner = written[1:-1]
    return f'"{_ESCAPES.sub(_escape, inner)}"'


def _escape(found: re.Match[str]) -> str:
    if found[1]:
        return f"\\u00{found[1]}"
    if found[3] in _SAME_IN_JSON:
        return found[0]
    said = (
        chr(int(found[2], 16)) if found[2] else found[4] or ("'" if found[3] == "'" else found[0])
    )
    return json.dumps(said)[1:-1]


def _day(found: re.Match[str]) -> str:
    year, month, day, *time = (int(number) for number in found["numbers"].split(", "))
    told = f"{year:04}-{month:02}-{day:02}"
    if found["day"] == "date":
        return f'"{told}"'
    hour, minute, second, micro = (*time, 0, 0, 0, 0)[:4]
    told += f"T{hour:02}:{minute:02}:{second:02}" + (f".{micro:06}" if micro else "")
    return f'"{told}{_zone(found)}"'


def _zone(found: re.Match[str]) -> str:
    if found["utc"]:
        return "Z"
    if found["seconds"] is None:
        return ""
    minutes = int(found["seconds"]) // 60 - (1_440 if found["days"] else 0)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _member(found: re.Match[str]) -> str:
    return _string(found["enum"]) if found["enum"] else json.dumps(found["member"])


_VALUES: Mapping[str, Callable[[re.Match[str]], str]] = {
    "string": lambda found: _string(found["string"]),
    "held": lambda found: _string(found["held"]),
    "np": lambda found: found["np"],
    "number": lambda found: found["number"],
    "key": lambda found: f'"{found["number"]}"',
    "numbers": _day,
    "zone": _day,
    "member": _member,
    "enum": _member,
    "word": lambda found: _WORDS[found["word"]],
    "other": lambda found: json.dumps(found["other"]),
}
