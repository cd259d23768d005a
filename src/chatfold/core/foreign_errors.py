"""The words of exceptions that others have made: their own code may be as broken as what failed."""

from __future__ import annotations

__all__ = ["words_of"]


def words_of(error: object) -> str:
    """Return an exception's message, "" where there is none or it cannot be read."""
    try:
        return str(error)
    except Exception:
        return ""
