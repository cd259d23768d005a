"""A shell's command line as its simple commands, each as its words.

Commands inside others, `$(...)`, are commands of their own. Not here: what a command does
(`shell_commands`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Line", "is_text", "taken_apart", "text_of"]

_SEPARATORS = re.compile(r"&&|\|\||[;|\n&]")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\$`])")
_PLAIN = re.compile(r"[\w./:@%+,=-]+")
_PUT_BY = re.compile(r"''(\d+)\.(?:\"\")*")  # stands for a quoted text, by its number
_SUM = re.compile(r"\$\(\([^()]*\)\)")
_INSIDE = re.compile(r"[$<>]\(([^()]*)\)|`([^`]*)`")  # a command in another
_BEGUN = re.compile(r"[$<>]\(|`")
_TO_A_FILE = re.compile(r"(?<![-=<])(?:\d|&)?>>?(?!&-)(?!\s*/dev/null)(?!\()")
_HARMLESS = re.compile(r"(?:\d|&)?>>?\s*(?:/dev/null|&\d)")


class Line(NamedTuple):
    """A command line.

    Attributes:
        commands: The words of each simple command. A quoted text that is more than a plain word is
            one word, with a quotation mark in front.
        writes: Whether a file is made of what one of them puts out.
    """

    commands: list[list[str]]
    writes: bool


def is_text(word: str) -> bool:
    """Return whether a word of a command is a quoted text, and no plain word."""
    return word.startswith("'")


def text_of(word: str) -> str:
    """Return what a word of a command says, without the mark of a quoted text."""
    return word.removeprefix("'")


def taken_apart(line: str) -> Line:
    """Return the simple commands of a command line, those inside others behind them."""
    texts: list[str] = []

    def put_by(quoted: re.Match[str]) -> str:
        text = quoted[0][1:-1]
        if _PLAIN.fullmatch(text):
            return text
        inside = ""
        if quoted[0][0] == '"':
            inside = _inside(text)
            text = _ESCAPED.sub(r"\1", text)
        texts.append(text)
        return f"''{len(texts) - 1}.{inside}"

    bare = _HARMLESS.sub(" ", _SUM.sub("0", _QUOTED.sub(put_by, line.replace("\\\n", " "))))
    inner: list[str] = []
    found = 1
    while found:
        inner += (one or other for one, other in _INSIDE.findall(bare))
        bare, found = _INSIDE.subn('""', bare)
    whole = ";".join((bare, *inner, *_BEGUN.findall(bare)))
    parts = (part.split() for part in _SEPARATORS.split(whole))
    commands = [[_word(word, texts) for word in words] for words in parts if words]
    return Line(commands, _TO_A_FILE.search(whole) is not None)


def _inside(text: str) -> str:
    """Return the commands that stand in a text between double quotes, whole or begun."""
    if not _BEGUN.search(text):
        return ""
    ends = "".join(_BEGUN.findall(_INSIDE.sub("", text)))
    return "".join(found[0] for found in _INSIDE.finditer(text)) + ends


def _word(word: str, texts: list[str]) -> str:
    """Return a word with its quoted text, or where that is a part of it, without."""
    found = _PUT_BY.fullmatch(word)
    return _PUT_BY.sub('""', word) if found is None else f"'{texts[int(found[1])]}"
