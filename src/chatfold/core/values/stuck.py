"""What sticks to the front of a number: signs, words for "about", codes of currencies.

Not here: the number itself and what stands beside it (`numbers`), other words
(`words`), the search for words (`typed`).
"""

from __future__ import annotations

import re

from chatfold.core.values.tables import CURRENCIES

__all__ = ["in_diff", "is_whole", "may_stick", "unstuck"]

_HEAD = re.compile(
    r"(?:[~+@_-]{1,3}"  # about, minus, a price for each, emphasis, struck through
    r"|[A-Za-z]?[a-z]*\.{3,}"  # the dots that lead to a price
    r"|[~+-]?(?:(?:c|ca|circa|approx|etwa|env)\.|([A-Z](?:[A-Z]{2}|[a-z]\.?))))(?=\d)"
)
_SIGNS = "~+@_-."
_ENDS = "./@+~-_"
_HUNK = 40


def may_stick(word: str) -> bool:
    """Return whether a word is worth the search of `unstuck`; most fail this cheaper test."""
    return word[0] in _SIGNS or word[:3] in CURRENCIES or word[:2] in CURRENCIES or "." in word


def unstuck(word: str) -> int:
    """Return where in a word a number begins to whose front something sticks; 0 where none does.

    "~3", "-1", "...50", "ca.12", "CHF1", "_7" of emphasis; not "~/x3", "HEAD~1", "_x7".
    """
    found = _HEAD.match(word)
    if found is None or (found[1] and found[1] not in CURRENCIES):
        return 0
    return found.end()


def is_whole(word: str, head: int, reach: int) -> bool:
    """Return whether a number that was read in a word is the number that was meant.

    A name of code may begin with `_`, an id with the letters of a currency; a number that goes
    on behind the word is neither.

    Args:
        word: As it stands in the text.
        head: Where in it the number begins.
        reach: Where the number stops, counted from the beginning of the word.
    """
    if word[head - 1] == "_":
        return reach > len(word) or word[-1] == "_" or not word.isidentifier()
    return not word[head - 1].isalpha() or reach >= len(word.rstrip(_ENDS))


def in_diff(text: str, start: int) -> bool:
    """Return whether a number stands in the head of a hunk: `@@ -1,25 +1,26 @@`."""
    return "@@" in text[max(0, start - _HUNK) : start].rpartition("\n")[2]
