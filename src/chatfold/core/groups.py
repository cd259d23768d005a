"""The smallest pieces of a head that may be parted: each rendered and measured once.

Not here: which pieces make a prompt (`parts`), how a text is cut (`clip`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from chatfold.core.calls import ToolCallRecord
from chatfold.core.clip import shortened
from chatfold.core.once import once
from chatfold.core.redaction import Redact, redacted
from chatfold.core.render import Conversation, TemplateRenderer, Written, conversation, cut_marker
from chatfold.core.views import ItemView
from chatfold.core.xml import escape

__all__ = ["Asking", "Groups", "inner", "wrap"]

_OPEN, _CLOSE = "<conversation>\n", "\n</conversation>"


@dataclass(frozen=True, slots=True)
class Asking:
    """What every prompt for a head is made with.

    Attributes:
        templates: The templates.
        count: Returns the sizes of texts in tokens.
        max_tokens: Length of the summary to ask for, in tokens.
        instructions: What the application adds to the prompt.
        language: Language of the summary, or None for the user's.
        redact: Applied to every text of the prompt.
    """

    templates: TemplateRenderer
    count: Callable[[Sequence[str]], list[int]]
    max_tokens: int
    instructions: str | None = None
    language: str | None = None
    redact: Redact | None = None

    def mark(self, left_out: int, total: int) -> str:
        """Return the marker for a text that is cut: both are numbers of characters."""
        return cut_marker(self.templates, left_out, total)

    def size(self, *texts: str) -> int:
        """Return the size of texts in tokens, all together."""
        return sum(self.count(texts))


class _Pieces(NamedTuple):
    bodies: Sequence[str]
    ends: Sequence[int]
    omitted: dict[str, int]


class Groups:
    """The items of a head, in groups that no cut may part.

    Args:
        views: Their readings.
        calls: The records of all calls of the list.
        asking: What every prompt is made with.
        offset: Index in the list of the first of `views`.
        cuts: Returns the indices in the list at which it may be cut.
        kept: Indices in the list of items that stay in the conversation.
        skipped: Indices in the list of items that are left out as superseded.
        written: What was written of items ahead.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        calls: Sequence[ToolCallRecord],
        asking: Asking,
        *,
        offset: int = 0,
        cuts: Callable[[], Sequence[int]],
        kept: Collection[int] = (),
        skipped: Collection[int] = (),
        written: Written | None = None,
    ) -> None:
        self.views = tuple(views)
        self._calls = calls
        self._asking = asking
        self._offset = offset
        self._kept, self._skipped = frozenset(kept), frozenset(skipped)
        self._cuts = cuts
        self._written = written

    @once
    def borders(self) -> Sequence[int]:
        """The first item of each group, counted from the head's first, and the head's end."""
        offset, length = self._offset, len(self.views)
        return [0, *(cut - offset for cut in self._cuts() if 0 < cut - offset < length), length]

    @property
    def bodies(self) -> Sequence[str]:
        """What each group shows, as elements."""
        return self._pieces.bodies

    @property
    def ends(self) -> Sequence[int]:
        """Size of all groups before each one, and of all, in tokens."""
        return self._pieces.ends

    @property
    def omitted(self) -> dict[str, int]:
        """What has no readable form, by kind: number of such parts."""
        return self._pieces.omitted

    def whole(self, previous: str | None, record: str) -> Conversation:
        """Return all items as one conversation."""
        return conversation(
            self.views,
            self._calls,
            offset=self._offset,
            kept=self._kept,
            skipped=self._skipped,
            previous_summary=previous,
            previous_record=record,
            redact=self._asking.redact,
            written=self._written,
        )

    def body(self, views: Sequence[ItemView], group: int) -> str:
        """Return what a group shows, given its readings."""
        return inner(self._rendered(views, group))

    def clipped(self, group: int, room: int) -> Sequence[ItemView] | None:
        """Return the readings of a group with its largest texts cut until it fits a size."""
        return shortened(
            self.views[self.borders[group] : self.borders[group + 1]],
            room,
            measure=lambda views: sum(self._asking.count([self.body(views, group)])),
            count=lambda texts: self._asking.count([*map(escape, texts)]),
            clean=lambda text: redacted(text, self._asking.redact),
            mark=self._asking.mark,
        )

    @once
    def _pieces(self) -> _Pieces:
        omitted: Counter[str] = Counter()
        bodies: list[str] = []
        for group, (first, stop) in enumerate(pairwise(self.borders)):
            rendered = self._rendered(self.views[first:stop], group)
            bodies.append(inner(rendered))
            omitted.update(rendered.omitted)
        sizes = (size + 1 for size in self._asking.count(bodies))  # and a line break each
        return _Pieces(bodies, [0, *accumulate(sizes)], dict(omitted))

    def _rendered(self, views: Sequence[ItemView], group: int) -> Conversation:
        return conversation(
            views,
            self._records[group],
            offset=self._offset + self.borders[group],
            kept=self._kept,
            skipped=self._skipped,
            redact=self._asking.redact,
            written=self._written,
        )

    @once
    def _records(self) -> Sequence[Sequence[ToolCallRecord]]:
        """The records of the calls and results in each group, in their order.

        A group is shown with these alone: with those of the whole list, each would look at all.
        """
        found: list[list[ToolCallRecord]] = [[] for _ in self.borders[1:]]
        for call in self._calls:
            places = {
                bisect_right(self.borders, index - self._offset) - 1
                for index in (call.call_index, call.result_index)
                if index is not None and 0 <= index - self._offset < len(self.views)
            }
            for place in places:
                found[place].append(call)
        return found


def inner(rendered: Conversation) -> str:
    """Return the elements of a conversation."""
    return rendered.xml[len(_OPEN) : -len(_CLOSE)]


def wrap(*bodies: str) -> Conversation:
    """Return elements as a conversation; an empty text is no element."""
    lines = "\n".join(filter(None, bodies))
    return Conversation(f"{_OPEN}{lines}{_CLOSE}", {})
