"""Notices a host whose lists begin otherwise at each turn, so that no fold of them is found again.

Such a host pays for the whole conversation at every turn, and nothing else would say so. Not here:
how folds are found (`sessions`, `shared_folds`).
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Final, NamedTuple
from weakref import ref

from chatfold.session import Session

__all__ = ["Begun", "Unfound"]

_log = logging.getLogger("chatfold")

_NOTED: Final = 1_000
"""Lists that are remembered, of all conversations."""
_COMPARED: Final = 8
"""Lists of one name that another one is compared with: a name may be that of several."""
_OFTEN: Final = 3
"""Times before that is told: who edits an old message, once, knows that it is summarized anew."""


class Begun(NamedTuple):
    """A list that is to be summarized from its beginning.

    Attributes:
        name: The hash of its name: what is forgotten is to be nowhere.
        session: Its session, as long as that is held.
        times: How many times in a row a model was asked for a summary of most of it before.
    """

    name: int
    session: ref[Session]
    times: int


class Unfound:
    """Takes down which lists are summarized from their beginning, and warns, once.

    Threads may use it at once, and on both sides of a fork: it has no lock.
    """

    def __init__(self) -> None:
        self._begun: deque[Begun] = deque(maxlen=_NOTED)
        self._warned = False

    def begun(self, name: str, session: Session) -> Begun | None:
        """Return what to note if a model is asked for a summary now; None for nothing.

        Args:
            name: Name of the conversation.
            session: Its session, which this call has.
        """
        if self._warned or session.folded:
            return None
        key, times, compared = hash(name), 0, 0
        for begun in reversed(self._begun.copy()):
            other = begun.session()
            if begun.name != key or other is None:
                continue
            if other is session:  # it failed, and is tried again
                return None
            if session.retells(other) and not session.begins_with_summary():
                times = begun.times + 1
                break
            compared += 1
            if compared == _COMPARED:
                break
        return Begun(key, ref(session), times)

    def note(self, begun: Begun) -> None:
        """Take down that a model was asked for a summary of a list; warn where it is often so."""
        self._begun.append(begun)
        if begun.times >= _OFTEN:
            self._warned = True
            _log.warning(
                "a model was asked %d times in a row for a summary of a conversation from its "
                "beginning, because an early part of it was another one each time, and what is "
                "folded is found again behind the same messages alone: hand over the whole "
                "history, not its last messages, and put what changes at each request, such as "
                "the time, into the leading instructions or the last message",
                begun.times + 1,
            )
