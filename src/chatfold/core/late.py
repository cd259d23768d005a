"""Results that arrive when their call is no longer in the list.

Not here: the words of the note that one becomes (`prompts/`), and where it goes (`folding`).
"""

from __future__ import annotations

from collections.abc import Sequence

from chatfold.core.calls import ToolCallRecord
from chatfold.core.views import ItemView, ResultPart

__all__ = ["late_parts"]


def late_parts(view: ItemView, calls: Sequence[ToolCallRecord]) -> list[int]:
    """Return the positions of the results whose call the list does not hold, in a new item.

    Args:
        view: The reading of the item that is to be added.
        calls: The records of the calls in the list.
    """
    ids = {(c.pair, c.id) for c in calls if c.call_index is not None and c.id is not None}
    names = {(c.pair, c.name) for c in calls if c.call_index is not None and not c.completed}
    late: list[int] = []
    for position, part in enumerate(view.parts):
        if not isinstance(part, ResultPart) or part.pair == "approval":
            continue
        known = (part.pair, part.id) in ids
        if part.id is None:
            known = part.name is None or (part.pair, part.name) in names
        elif not known:  # a call without an id takes a result that names its tool
            known = any(c.id is None and not c.completed and c.pair == part.pair for c in calls)
        if not known:
            late.append(position)
    return late
