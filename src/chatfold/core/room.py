"""How large a prompt for one summarizer may be: what is known of its window, and what is learned.

Sizes come in two counts: the caller's, by which parts are made, and the server's, in which windows
and errors are written. Not here: what goes into a part (`parts`).
"""

from __future__ import annotations

from typing import NamedTuple

from chatfold.core.flow import cap_for

__all__ = ["Room", "Window"]

_MARGIN = 0.03  # the two counts differ from text to text by some percent
_SHARE = 8  # of the room, one part for the summary: it goes in with the next part, and comes out
_OVERSHOOT = 4  # models write up to a quarter more than they are asked for
_LEAST = 256  # a window below this holds no prompt of ours: the number is about something else
_FAR = 4  # two counts of one text that differ by more than this are not of the same text
_PATIENCE = 3  # overflows in a row that are answered by the server's own numbers


class Window(NamedTuple):
    """What is known of a model's window.

    Attributes:
        tokens: Tokens that a prompt and its answer have together; None where it is not known.
        cap: Tokens that every request sets aside for its answer, more where a long one is asked
            for (`cap_for`); 0 where it sets none aside.
    """

    tokens: int | None = None
    cap: int = 0


class Room:
    """The room that prompts for one summarizer have; it only ever shrinks.

    Args:
        window: What is known of the summarizer's window.
        most: Tokens that the caller allows a prompt, or None.
    """

    def __init__(self, window: Window = Window(), most: int | None = None) -> None:  # noqa: B008 - a value
        self._window = window.tokens
        self._cap = window.cap
        self._most = most
        self._ratio: float | None = None  # the server's tokens for each of the caller's
        self._refused = 0
        self._too_long: int | None = None  # the least limit that was refused

    def prompt(self, answer: int) -> int | None:
        """Return the tokens that a prompt may have, by the caller's count; None for no limit.

        Args:
            answer: Length of the answer that the prompt asks for, in tokens.
        """
        limits = [] if self._most is None else [self._most]
        if self._window is not None:
            aside = max(self._cap, cap_for(answer)) if self._cap else 0
            left = self._window - max(aside, answer + answer // _OVERSHOOT)
            limits.append(int(left / (self._ratio or 1.0) * (1 - _MARGIN)))
        return min(limits, default=None)

    def answer(self, wanted: int) -> int:
        """Return the length of the answer to ask for where a head is folded in parts."""
        known = [n for n in (self._most, self._window) if n is not None]
        return min(wanted, max(1, min(known) // _SHARE)) if known else wanted

    def cap(self, wanted: int, size: int) -> int:
        """Return the limit to send with a request: what is wanted, or what the window leaves.

        Args:
            wanted: The limit in tokens.
            size: Size of the prompt, by the caller's count.
        """
        if self._window is None:
            return wanted
        left = int(self._window - size * (self._ratio or 1.0) * (1 + _MARGIN))
        return min(wanted, left) if left >= _LEAST else wanted

    def refused(self, cap: int) -> None:
        """Note that a request was refused that left so many tokens to its answer."""
        self._too_long = cap if self._too_long is None else min(cap, self._too_long)

    def refuses(self, cap: int) -> bool:
        """Return whether a request that leaves so many tokens to its answer is known to fail."""
        return self._too_long is not None and cap >= self._too_long

    def held(self) -> None:
        """Note that a prompt was taken."""
        self._refused = 0

    def overflowed(self, sent: int, answer: int, limit: int | None, size: int | None) -> None:
        """Learn from a prompt that was too long: the next one will be smaller.

        Args:
            sent: Its size by the caller's count.
            answer: Length of the answer that it asked for.
            limit: Tokens that the window holds, as the server says, or None.
            size: The prompt's size as the server says, or None.
        """
        self._refused += 1
        if limit is not None and limit >= _LEAST and (size is None or size > limit):
            if size is not None and sent <= size * _FAR and size <= sent * _FAR:
                self._ratio = max(self._ratio or 0.0, size / max(1, sent))
            self._window = limit if self._window is None else min(limit, self._window)
        now = self.prompt(answer)
        if now is None or now >= sent or self._refused > _PATIENCE:
            # Taken for the whole window, so that the answer's room is left where it is not more.
            self._window = int(sent * (self._ratio or 1.0)) // 2
