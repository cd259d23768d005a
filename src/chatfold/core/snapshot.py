"""A list as it was at one moment, with all that is read of it; how that is done is `reading`'s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from chatfold.core.calls import ToolCallRecord
from chatfold.core.elements import Elements
from chatfold.core.outline import Outline
from chatfold.core.recording.kept_facts import KeptFacts
from chatfold.core.spans import Span
from chatfold.core.views import ItemView, Shape

__all__ = ["Extent", "Snapshot"]


class Snapshot(NamedTuple):
    """A list as it was at one moment, with all its readings.

    Attributes:
        items: The items.
        views: One reading per item; an earlier summary is marked as one.
        calls: The records of all calls, requests for approval included.
        spans: What must stay together.
        shape: The list's shape.
        previous: Index of the earlier summary, or None.
        prints: One fingerprint per item.
        sizes: One size in tokens per item.
        facts: Where what is known of the facts of the list is kept.
        outline: Which of the items matter for where it may be cut.
        elements: What the latest items show in a prompt.
    """

    items: Sequence[Any]
    views: Sequence[ItemView]
    calls: Sequence[ToolCallRecord]
    spans: Sequence[Span]
    shape: Shape
    previous: int | None
    prints: Sequence[int]
    sizes: Sequence[int]
    facts: KeptFacts
    outline: Outline
    elements: Elements


class Extent(NamedTuple):
    """How long a list is.

    Attributes:
        tokens: Its size in tokens.
        turns: The number of its turns that a user opens; a summary opens none.
        items: The number of its items.
    """

    tokens: int
    turns: int
    items: int
