"""What was found out of texts and is asked again and again, known by their hashes alone.

A cache of `functools` would hold the texts: keys of a customer's records, names of tools, words
of users, also when their conversation is over and forgotten.
Not here: what is known of one conversation, which lives with its context.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, TypeVarTuple

__all__ = ["by_hash"]

T = TypeVar("T")
Given = TypeVarTuple("Given")


def by_hash(most: int) -> Callable[[Callable[[*Given], T]], Callable[[*Given], T]]:
    """Have a function asked once for the same texts, and hold nothing of them but a hash.

    Python's hash of a text has 64 bits, and a secret of the process in it: among some hundreds of
    texts no two are alike by chance or by intent.

    Args:
        most: Number of answers to hold; then all are let go.

    Returns:
        What decorates a function of texts, given by position, whose answers are all written in the
        code: true or false, or one of a few words; or a place in a text. Anything else may be a
        part of what was given.
    """

    def decorated(function: Callable[[*Given], T]) -> Callable[[*Given], T]:
        known: dict[int, T] = {}

        @wraps(function)
        def asked(*given: *Given) -> T:
            name = hash(given)
            try:
                return known[name]
            except KeyError:
                answer = function(*given)
            if len(known) >= most:
                known.clear()
            known[name] = answer
            return answer

        return asked

    return decorated
