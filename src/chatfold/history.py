"""The list that a context wraps, read in many ways, and what folds took out of it.

Not here: what is added to it (`adding`), folding (`summarizing`).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Requirement, options_of
from chatfold.core.scalars import check_flags, check_whole
from chatfold.core.spans import cut_points
from chatfold.core.split import Turn, turns
from chatfold.core.steps import Trajectory, trajectory
from chatfold.core.views import ItemView, Shape
from chatfold.errors import ShapeError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.recall import RecallTool, make_tool
from chatfold.state import ListState
from chatfold.tokens import Sizes, TokenCount

__all__ = ["History"]

ItemT = TypeVar("ItemT")

_TOOL_NAME: Final = r"[A-Za-z0-9_-]{1,64}"

_log = logging.getLogger("chatfold")


class History(Generic[ItemT]):
    """A message list with its readings; what makes one is `ChatContext`."""

    _items: list[ItemT]
    _state: ListState
    _settings: Settings
    _sizes: Sizes
    _originals: Originals

    @property
    def items(self) -> list[ItemT]:
        """The caller's own list."""
        return self._items

    @property
    def shape(self) -> Shape | None:
        """The list's shape; None while the list could still be of several."""
        shape = self._state.snapshot().shape
        return shape if shape.name else None

    def __repr__(self) -> str:
        shape = self._state.reading.shape
        return f"ChatContext({len(self._items)} items, shape={shape.name if shape else None!r})"

    def __len__(self) -> int:
        return len(self._items)

    # Reading

    def views(self) -> Sequence[ItemView]:
        """Return the neutral reading of each item, in order."""
        return tuple(self._state.snapshot().views)

    def tool_calls(self) -> list[ToolCallRecord]:
        """Return one record for each tool call, and for each result without a call, in order."""
        return [call for call in self._state.snapshot().calls if call.kind != "approval"]

    def count_tool_calls(self, *, completed_only: bool = False) -> int:
        """Return the number of tool calls; with `completed_only`, of those that have a result."""
        check_flags(completed_only=completed_only)
        return sum(1 for c in self.tool_calls() if c.completed or not completed_only)

    def turns(self) -> list[Turn]:
        """Return the turns after the leading instructions, in order."""
        return turns(self._state.snapshot().views)

    def steps(self) -> Trajectory:
        """Return the trajectory: task, messages, thoughts, actions and their observations.

        What nothing can be read from is left out, counted in `.skipped` and logged once.
        """
        snapshot = self._state.snapshot()
        steps = trajectory(snapshot.views, snapshot.calls)
        if steps.skipped:
            _log.warning("%d parts could not be read and are no steps", steps.skipped)
        return steps

    def cut_points(self, *, lossy: bool = False) -> list[int]:
        """Return every index at which the list may be cut without parting what belongs together.

        Args:
            lossy: Whether to count cuts behind an item that only the provider can read.
        """
        check_flags(lossy=lossy)
        snapshot = self._state.snapshot()
        return cut_points(snapshot.spans, snapshot.views, lossy=lossy)

    def count_tokens(self) -> TokenCount:
        """Return the size of the list in tokens, and whether the count is exact."""
        exact = getattr(self._sizes.counter, "exact", False)  # one that does not say so, is not
        return TokenCount(sum(self._state.snapshot().sizes), exact)

    def check(self) -> list[Problem]:
        """Return what the provider would refuse or lose, with indices and severity."""
        return self._state.problems()

    def requirements(self) -> list[Requirement]:
        """Return what a request with this list has to carry besides the list."""
        return self._state.requirements()

    def request_options(self) -> dict[str, Any]:
        """Return the same as `requirements`, ready to spread into `create(**...)`; mostly {}.

        Ask for it when you make the request: what comes into the list until the answer is there is
        taken to be unknown to the model.
        """
        self._state.asked = self._state.end()
        return options_of(self.requirements())

    # Originals

    def recall(
        self, *, call_id: str | None = None, query: str | None = None, limit: int = 20
    ) -> list[Any]:
        """Return items that folds took out of the list, as they were, from the store.

        Args:
            call_id: Id of a tool call: the items that hold the call and its result.
            query: Words: the items that hold them, the best match first. What was attached is
                found by its name, or by its URL.
            limit: Most items that are returned.

        Returns:
            Native items, equal to what left the list, with dicts in place of SDK objects; [] where
            nothing is found, or where the store does not keep originals.

        Raises:
            TypeError: `limit` is no whole number, or what is sought no text.
            ValueError: The context has no store, not one of `call_id` and `query` is given, or
                `limit` is negative.
            StoreError: The store cannot be read.
        """
        return self._originals.found(call_id, query, limit, self._settings.redaction())

    def recall_tool(
        self, name: str = "recall", *, limit: int = 10, max_characters: int = 20_000
    ) -> RecallTool:
        """Return a tool by which the agent itself reads again what was folded away.

        Put `.definition` into the request's tools and `{tool.name: tool.handler}` into what
        `run_tool_calls` takes. The summaries of this context say from then on that there is such a
        tool.

        Args:
            name: Name of the tool: letters, digits, `_` and `-`, 64 at most, as providers take it.
            limit: Most items in one answer; a call and its result are not parted.
            max_characters: Length of one answer; a longer one is cut in the middle.

        Raises:
            TypeError: A limit is no whole number, or `name` no text.
            ValueError: The context has no store, a limit is less than 1, or `name` is none that
                providers take.
            ShapeError: The list could still be of several shapes; pass `shape=` to the context.
            TemplateError: A template does not load or render.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"name must be text, not {name!r}")
        if not re.fullmatch(_TOOL_NAME, name):
            raise ValueError(f"name must be of letters, digits, _ and -, 64 at most, not {name!r}")
        check_whole("limit", limit, 1)
        check_whole("max_characters", max_characters, 1)
        self._originals.require()
        self._state.snapshot()
        shape = self._state.reading.likeliest_shape
        if shape is None:
            raise ShapeError(
                "the shape of this list is not known yet, and so not that of the tool; "
                "pass shape= to ChatContext"
            )
        tool = make_tool(
            name,
            shape,
            self._settings.renderer(),
            lambda call_id, query: self.recall(call_id=call_id, query=query, limit=limit),
            self._state.reading.view_of,
            redact=self._settings.redaction(),
            limit=limit,
            max_characters=max_characters,
        )
        self._originals.tool = name
        return tool
