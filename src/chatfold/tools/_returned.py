"""What a tool returned as what answers its call: a text, or blocks in the provider's own form.

Not here: the text of plain data (`_texts`), what a result of MCP's says (`_mcp`), and which blocks
a provider takes (`chatfold.shapes`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.render import TemplateRenderer, filled
from chatfold.core.views import MediaPart, Medium, ResultPart, Shape, legible
from chatfold.tools._mcp import mcp_result
from chatfold.tools._texts import Failure, result_text, sendable_block

__all__ = ["Content", "Reader"]

_log = logging.getLogger("chatfold")


class Content(NamedTuple):
    """What answers a call: a text, and the blocks that go out in its place, where there are any."""

    text: str
    blocks: tuple[Any, ...] = ()


class Reader:
    """Reads what tools return.

    Args:
        shape: Writes the results later.
        model: The agent's model, None where it is not known.
        templates: Has the words for a medium that no result of this provider holds.
    """

    def __init__(self, shape: Shape, model: str | None, templates: TemplateRenderer) -> None:
        self._shape = shape
        self._model = model
        self._templates = templates

    def read(self, value: object, call: ToolCallRecord) -> Content | Failure:
        """Return what a tool returned as what answers its call.

        The provider's own blocks go out as they are, if all in the list are such; results of MCP's
        become blocks, or words where the provider takes no such block; all else becomes a text.

        Raises:
            Exception: As `result_text`.
        """
        own = self._own(value, call)
        if own is not None:
            return own
        result = mcp_result(value)
        if result is None or not (result.pieces or result.failed):
            return Content(result_text(value))
        if result.failed:
            return Failure("raised", self._text(result.pieces), whole=True)
        return self._made(result.pieces, call)

    def _own(self, value: object, call: ToolCallRecord) -> Content | None:
        """Return what a tool returned as the provider's own blocks, None where it is none.

        Rows of a table may be dicts that have a text by chance, and texts in a list are what they
        are: there has to be more than a text among these.
        """
        in_list = isinstance(value, (list, tuple))
        members = [*cast("Sequence[Any]", value)] if in_list else [value]
        texts = [isinstance(each, str) for each in members]
        if all(texts):
            return None
        found = self._shape.own_blocks(
            [self._block(each) if isinstance(each, str) else each for each in members],
            model=self._model,
        )
        if found is None:
            return None
        made = [self._instead(each) if isinstance(each, MediaPart) else each for each in found]
        blocks = tuple(map(sendable_block, made))
        part = self._reading(blocks, call)
        media = part.media or any(isinstance(each, MediaPart) for each in found)
        if not media and (any(texts) or isinstance(value, Mapping) or _are_rows(members)):
            return None
        return Content(legible(part), blocks)

    def _made(self, pieces: Sequence[str | Medium], call: ToolCallRecord) -> Content:
        """Return a result of MCP's as blocks; as a text where it is one, or can be nothing else."""
        taken = [self._block(piece) for piece in pieces]
        media = [b for p, b in zip(pieces, taken, strict=True) if isinstance(p, Medium)]
        if all(block is None for block in media):
            return Content(self._text(pieces))
        blocks = tuple(
            sendable_block(self._instead(piece) if block is None else block)
            for piece, block in zip(pieces, taken, strict=True)
            if isinstance(piece, Medium) or piece.strip()
        )
        return Content(legible(self._reading(blocks, call)), blocks)

    def _block(self, piece: str | Medium) -> Any | None:
        return self._shape.result_block(piece, model=self._model)

    def _instead(self, medium: MediaPart | Medium | str) -> Any:
        """Return the block that stands for a medium which no result holds."""
        return self._block(medium if isinstance(medium, str) else self._words(medium))

    def _text(self, pieces: Sequence[str | Medium]) -> str:
        """Return pieces as one text, which says of media what they are."""
        return "\n".join(p if isinstance(p, str) else self._words(p) for p in pieces)

    def _words(self, medium: MediaPart | Medium) -> str:
        """Return what the model is told of a medium that it is not shown."""
        part = medium.part if isinstance(medium, Medium) else medium
        _log.warning(
            "a tool returned media (%s) that a result of %s does not hold; the model is told so",
            medium.kind,
            self._shape.name,
        )
        try:
            return filled(self._templates, "tool_medium.jinja", **part._asdict()).strip()
        except Exception:  # a caller's template; its failure must not cost the call its result
            return f"[{medium.kind}]"

    def _reading(self, blocks: tuple[Any, ...], call: ToolCallRecord) -> ResultPart:
        """Return how a result of these blocks reads."""
        items = self._shape.answer_items([Answer(call, "", blocks=blocks)])
        views = (self._shape.read(item) for item in items)
        parts = (part for view in views if view is not None for part in view.parts)
        return next(part for part in parts if isinstance(part, ResultPart))


def _are_rows(members: Sequence[Any]) -> bool:
    """Return whether all are dicts that say a text and nothing else."""
    rows = [cast("Mapping[str, Any]", each) for each in members if isinstance(each, Mapping)]
    return len(rows) == len(members) and all({"type", "text"}.issuperset(row) for row in rows)
