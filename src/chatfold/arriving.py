"""Where the items of an answer go in a list that went on while it was written.

By some providers thinking is signed over the list that the model was sent. Not here: what a request
with thinking has to carry (`chatfold.core.binding`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chatfold.core.binding import binds_thinking
from chatfold.core.digest import fingerprints
from chatfold.core.late import unanswered
from chatfold.core.views import Shape
from chatfold.state import End, ListState

__all__ = ["Arriving"]


class Arriving:
    """Puts the items of one answer into the list.

    The list may have grown since it was sent, or a fold may have been put in. It is known how it
    was when the fields of the request were asked for (`request_options`), and, of a stream, when
    that was taken on and when it began. Thinking that comes behind anything else is noted.

    Args:
        state: The list.
        shapes: Returns the shape of a name.
        recorded: Whether the answer is a stream that was taken on just now; else it is whole.
    """

    def __init__(
        self, state: ListState, shapes: Callable[[str], Shape], *, recorded: bool = False
    ) -> None:
        self._state = state
        self._shapes = shapes
        asked, state.asked = state.asked, None
        self._begun = state.end()
        self._start = 0
        ends = (asked, self._begun if recorded else None)
        self._ends = [end for end in ends if end is not None and self._may_be_sent(end)]

    @property
    def start(self) -> int:
        """Index from which on the answer stands, where others came behind it; else 0."""
        return self._start if self._begun.changes == self._state.changes else 0

    def begin(self) -> None:
        """Take down that the stream has begun: the model was sent nothing that comes later."""
        self._begun = self._state.end()
        if self._may_be_sent(self._begun):
            self._ends.append(self._begun)

    def _may_be_sent(self, end: End) -> bool:
        """Return whether a list that ended so asks for an answer.

        Else the model was sent more: words that its caller stores once they were taken.
        """
        return end.length > 0 and self._state.reading.view_of(end.last).role != "assistant"

    def put(self, items: Sequence[Any], *, in_place: bool) -> None:
        """Put the next items of the answer into the list.

        Bound thinking goes where its stream began, before what came since: there it is valid, also
        in a list that is stored and read again. With calls that wait it goes to the end, as all
        else does, for their results will come right behind it.

        Args:
            items: The items.
            in_place: Whether they may go before others; not at any moment.
        """
        state, at = self._state, self._begun.length
        views = [state.reading.view_of(item) for item in items]
        name = views[0].shape
        if not name or not binds_thinking(self._shapes(name), views, state.model):
            state.items.extend(items)
            return
        is_between = at < len(state.items) and self._may_be_sent(self._begun)
        if in_place and is_between and not unanswered(views):
            with state.held_briefly() as held:
                if held and state.ended_at(self._begun, at):
                    self._put(items, at)
                    return
        self._put(items, len(state.items))

    def _put(self, items: Sequence[Any], at: int) -> None:
        state, prints = self._state, fingerprints(items)
        is_behind = all(state.ended_at(end, at) for end in self._ends)
        state.put_in({at: items}, but=prints)
        if not is_behind:
            state.parted.update(prints)
        stop = at + len(items)
        self._start = at if stop < len(state.items) else 0
        self._begun = state.end()._replace(length=stop, last=items[-1])
        self._ends = [self._begun] if is_behind else [*self._ends, self._begun]
