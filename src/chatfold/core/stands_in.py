"""Whether a text of a conversation stands in another, with something of a kind around it.

By patterns that are written in the code alone: `re` keeps the last five hundred that it has
compiled, and with them the words of a conversation, also when that is forgotten.
"""

from __future__ import annotations

import re

__all__ = ["stands_in", "stands_spaced_in"]

_BEFORE_WORD = re.compile(r"(?<!\w)")
_BEHIND_WORD = re.compile(r"(?!\w)")


def stands_in(text: str, word: str, before: re.Pattern[str], behind: re.Pattern[str]) -> bool:
    """Return whether a word stands in a text where two patterns match: before it and behind.

    Args:
        text: The text.
        word: The word, of one character at least.
        before: Matches where the word begins; it looks back only.
        behind: Matches where the word has ended.
    """
    at = text.find(word)
    while at >= 0:
        if before.match(text, at) and behind.match(text, at + len(word)):
            return True
        at = text.find(word, at + 1)
    return False


def stands_spaced_in(text: str, word: str, gaps: str) -> bool:
    """Return whether a word stands in a text by itself, with at most one gap behind a character.

    Args:
        text: The text.
        word: Letters and digits, one at least.
        gaps: The characters that are gaps.
    """
    at = text.find(word[0])
    while at >= 0:
        if _BEFORE_WORD.match(text, at) and _spaced_at(text, at, word, gaps):
            return True
        at = text.find(word[0], at + 1)
    return False


def _spaced_at(text: str, at: int, word: str, gaps: str) -> bool:
    for number, character in enumerate(word):
        if number and at < len(text) and text[at] in gaps:
            at += 1
        if not text.startswith(character, at):
            return False
        at += 1
    return _BEHIND_WORD.match(text, at) is not None
