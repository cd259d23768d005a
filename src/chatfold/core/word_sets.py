"""Sets of words, written as one text."""

from __future__ import annotations

import unicodedata

__all__ = ["without_accents", "word_set"]


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def without_accents(word: str) -> str:
    """Return a word as programs write it where names are to be ASCII: `echec` for `échec`."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))
