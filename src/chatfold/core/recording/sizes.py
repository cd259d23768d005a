"""Sizes of short texts in tokens, each counted once, and many at a time where they are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

__all__ = ["TextSizes"]


class TextSizes:
    """Counts texts, and counts none of them twice.

    Args:
        count: Returns the sizes of texts in tokens; many at once cost it less than one at a time.
    """

    def __init__(self, count: Callable[[Sequence[str]], list[int]]) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    @classmethod
    def of(cls, count: Callable[[str], int]) -> TextSizes:
        """Return what counts with a function of one text."""
        return count if isinstance(count, cls) else cls(lambda texts: list(map(count, texts)))

    def __call__(self, text: str) -> int:
        """Return the size of a text."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._count((text,))[0]
        return found

    def many(self, texts: Iterable[str]) -> list[int]:
        """Return the sizes of texts, in order."""
        asked, known = list(texts), self._known
        new = [text for text in dict.fromkeys(asked) if text not in known]
        if new:
            known.update(zip(new, self._count(new), strict=True))
        return [known[text] for text in asked]
