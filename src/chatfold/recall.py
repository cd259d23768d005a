"""A tool by which an agent reads again what a summary stands for: its definition and its answers.

Not here: where the originals are (`originals`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from chatfold.core.calls import pair_calls
from chatfold.core.clip import cut_middle
from chatfold.core.digest import stable_digest
from chatfold.core.native import json_text
from chatfold.core.redaction import Redact
from chatfold.core.render import TemplateRenderer, conversation, cut_marker, filled
from chatfold.core.views import CallPart, ItemView, ResultPart, Shape
from chatfold.core.xml import escape

__all__ = ["RecallTool", "make_tool"]

_TEMPLATE: Final = "recall_tool.jinja"


class RecallTool(NamedTuple):
    """A tool that reads originals.

    Attributes:
        name: Name of the tool, for the mapping that `run_tool_calls` takes.
        definition: What goes into a request's `tools`, in the form of the list's shape.
        handler: Takes `call_id` or `query` and returns what was found, as escaped XML.
    """

    name: str
    definition: Any
    handler: Callable[..., str]


def make_tool(
    name: str,
    shape: Shape,
    templates: TemplateRenderer,
    found: Callable[[str | None, str | None], Sequence[Any]],
    view_of: Callable[[Any], ItemView],
    *,
    redact: Redact | None,
    limit: int,
    max_characters: int,
) -> RecallTool:
    """Return the tool.

    Args:
        name: Name of the tool.
        shape: The list's shape.
        templates: What renders its words.
        found: Returns the originals for a call id or for words.
        view_of: Returns the reading of an item.
        redact: Applied to what it answers.
        limit: Most items in one answer.
        max_characters: Characters that one answer may have; a longer one is cut in the middle.

    Raises:
        TemplateError: The template does not load or render.
    """

    def words(kind: str, **values: object) -> str:
        plain: dict[str, object] = {"conversation": "", "what": ""}
        return filled(templates, _TEMPLATE, kind=kind, **(plain | values)).strip()

    def of_call(id_: str) -> Sequence[Any]:
        return found(id_, None)

    def handler(call_id: str | None = None, query: str | None = None) -> str:
        id_, sought = _as_text(call_id), _as_text(query)
        if not (id_ or sought):
            return words("neither")
        items: Sequence[Any] = of_call(id_) if id_ else ()
        if not items and sought:
            items = _with_partners(found(None, sought), of_call, view_of, limit)
        if not items:
            return words("nothing", what=escape(id_ or sought))
        views = [view_of(item) for item in items]
        shown = conversation(views, pair_calls(views), redact=redact).xml
        return words(
            "found", conversation=cut_middle(shown, max_characters, partial(cut_marker, templates))
        )

    texts = {"type": "string"}
    parameters = {
        "type": "object",
        "properties": {
            "call_id": {**texts, "description": words("call_id")},
            "query": {**texts, "description": words("query")},
        },
        "required": list[str](),
    }
    definition = shape.tool_definition(name, words("description"), parameters)
    return RecallTool(name, definition, handler)


def _with_partners(
    items: Sequence[Any],
    of_call: Callable[[str], Sequence[Any]],
    view_of: Callable[[Any], ItemView],
    limit: int,
) -> list[Any]:
    """Return items with the calls and results that belong to them, each call before its result.

    A search finds the one without the other, and the better match first; a call alone would be
    shown as one that has no result.

    Args:
        items: What was found.
        of_call: Returns the originals for a call id.
        view_of: Returns the reading of an item.
        limit: Most items to return; the first ones that were found are whole in any case.
    """
    made: dict[str, Any] = {}
    for item in items:
        parts = (p for p in view_of(item).parts if isinstance(p, (CallPart, ResultPart)))
        group = {stable_digest(i): i for p in parts if p.id for i in of_call(p.id)}
        digest = stable_digest(item)
        group = group if digest in group else {digest: item}
        if made and len(made.keys() | group.keys()) > limit:
            break
        made.update(group)
    return list(made.values())


def _as_text(argument: object) -> str:
    """Return an argument as text, "" where it says nothing.

    Models fill in what they do not use, with null mostly, and ids of digits come as numbers.
    """
    if argument is None:
        return ""
    return (argument if isinstance(argument, str) else json_text(argument)).strip()
