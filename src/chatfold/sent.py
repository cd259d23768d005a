"""What a conversation behind `Middleware` has sent to the model, and so which answers it asked for.

Not here: what a request with the answers of others has to carry (`chatfold.core.binding`).
"""

from __future__ import annotations

from collections.abc import Sequence

from chatfold.core.views import ItemView

__all__ = ["Sent"]


class Sent:
    """The lists that went out: how long the host's was, and how far it was folded then.

    The thinking in an answer is signed over what went out, so that it matters who asked for it.
    """

    def __init__(self) -> None:
        self._ends: dict[int, int | None] = {}  # by the length; None where it went out twice

    def note(self, length: int, end: int) -> None:
        """Take down what goes to the model.

        Args:
            length: Number of items of the host's list, which the answer comes behind.
            end: Index in it behind the last item that is folded.
        """
        # Of two at once, nobody knows whose answer the host goes on with.
        self._ends[length] = end if self._ends.get(length, end) == end else None

    def forget_before(self, length: int) -> None:
        """Drop what went out of shorter lists: the answers behind those are folded."""
        # A copy: another call may send meanwhile.
        self._ends = {at: end for at, end in self._ends.copy().items() if at >= length}

    def has_asked_for(self, at: int, index: int, views: Sequence[ItemView], end: int) -> bool:
        """Return whether an answer was asked for here, with the list folded so far.

        A host may keep an answer as several items, and may have sent more than it handed over.

        Args:
            at: Index of the answer in the list that was read.
            index: Its index in the host's list.
            views: The readings of the former.
            end: Index in the host's list behind the last item that was folded.
        """
        first = at
        while first and views[first - 1].role == "assistant":
            first -= 1
        while first and views[first - 1].role != "assistant":
            first -= 1
        lengths = range(index - (at - first) + 1, index + 1)
        return any(self._ends.get(length, -1) == end for length in lengths)
