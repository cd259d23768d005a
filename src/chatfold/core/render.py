"""Views to a prompt: the conversation as escaped XML, inside the templates that are given.

The conversation is built here and not in a template, so that no template can forget an escape.
Not here: the words around it (`prompts/`), finding templates (`chatfold.template_files`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count, repeat
from operator import is_, not_
from typing import Final, Protocol, TypeAlias

from chatfold.core.calls import ToolCallRecord, pair_calls
from chatfold.core.item_xml import ItemWriter
from chatfold.core.live import LiveRequest
from chatfold.core.redaction import Redact, redacted
from chatfold.core.views import (
    ItemView,
)
from chatfold.core.xml import escape
from chatfold.errors import TemplateError

__all__ = [
    "PROMPT",
    "Conversation",
    "Prompt",
    "TemplateRenderer",
    "Written",
    "conversation",
    "cut_marker",
    "elements",
    "filled",
    "prompt",
    "unseen",
]

Written: TypeAlias = Mapping[int, tuple[ItemView, str]]
"""What items of a list show, by their indices: the reading that it was written of, the elements."""

_NOTHING: Written = {}
_OPENING = 64  # characters by which a conversation is looked for
PROMPT: Final = ("summarize_system.jinja", "summarize_user.jinja")
"""The templates of a prompt: instructions and conversation; either may show the conversation."""

_SYSTEM, _USER = PROMPT


class TemplateRenderer(Protocol):
    """What fills in the templates in `prompts/`."""

    def render(self, name: str, /, **values: object) -> str:
        """Return the template of that name with the values filled in."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a summarizer is asked.

    Attributes:
        system: The instructions.
        user: The conversation as one `<conversation>` element, with instructions before and
            after it.
        views: The readings of the items that the summary is to stand for, for code that wants
            more than text; not redacted.
        previous_summary: The words of the earlier summary that this one replaces, or None.
        max_tokens: Length of the summary that is asked for, in tokens.
        cap: The request's own limit, in tokens; None leaves it to the summarizer.
        live: The live request with the question behind it, in append mode; `system` and `user` ask
            the same of whoever cannot send it.
    """

    system: str
    user: str
    views: tuple[ItemView, ...] = field(repr=False)
    previous_summary: str | None = field(repr=False)
    max_tokens: int
    cap: int | None = None
    live: LiveRequest | None = field(default=None, repr=False)

    @property
    def calls(self) -> list[ToolCallRecord]:
        """The tool calls of these items; indices count from the first of `views`."""
        return [call for call in pair_calls(self.views) if call.kind != "approval"]

    def __repr__(self) -> str:
        return f"Prompt({len(self.views)} items, {len(self.user):,} characters)"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A rendered part of a list.

    Attributes:
        xml: One `<conversation>` element.
        omitted: What has no readable form, by kind: number of such parts.
    """

    xml: str
    omitted: Mapping[str, int]


def conversation(
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
    *,
    offset: int = 0,
    kept: Iterable[int] = (),
    skipped: Iterable[int] = (),
    previous_summary: str | None = None,
    previous_record: str = "",
    redact: Redact | None = None,
    written: Written | None = None,
) -> Conversation:
    """Return items as one `<conversation>` element that an XML parser reads back exactly.

    Args:
        views: The readings of the items.
        calls: The records of all calls of the list.
        offset: Index in the list of the first of `views`.
        kept: Indices in the list of items that stay in the conversation; they are marked.
        skipped: Indices in the list of items that are left out and counted as superseded.
        previous_summary: The earlier summary's words.
        previous_record: The record behind them; it stands in the same element.
        redact: Applied to every text before it is escaped.
        written: What `elements` wrote of items ahead.
    """
    writer = ItemWriter(calls, offset, offset + len(views), redact)
    if previous_summary is not None:
        writer.previous(previous_summary, previous_record)
    kept_set, skipped_set = frozenset(kept), frozenset(skipped)
    ahead = written if written is not None and redact is None else _NOTHING
    shown, new = _shown_ahead(ahead, views, offset, kept_set.union(skipped_set, writer.unanswered))
    writer.expected = {at + offset for at in new}
    out, behind = list[str](), 0
    for at in new:
        if behind < at:
            out += (writer.taken(), *shown[behind:at])
        behind, index, view = at + 1, at + offset, views[at]
        if index in skipped_set:
            writer.omitted["superseded_state"] += 1
        elif index in kept_set:
            lost = writer.omitted.copy()
            writer.item(index, view, ' kept="yes"')
            writer.omitted = lost  # what stays in the list is not lost
        else:
            writer.item(index, view, "")
    out += (writer.taken(), *shown[behind:])
    lines = ("<conversation>", *(list(filter(None, out)) or ("",)), "</conversation>")
    return Conversation("\n".join(lines), dict(writer.omitted))  # once: it may have megabytes


def _shown_ahead(
    ahead: Written, views: Sequence[ItemView], offset: int, special: Iterable[int]
) -> tuple[Sequence[str], Sequence[int]]:
    """Return what items show, "" where it is to be written yet, and the places of these.

    Args:
        ahead: What was written of items of the list.
        views: The readings of the items.
        offset: Index in the list of the first of them.
        special: Indices in the list of those that are to be written anew.
    """
    nothing: tuple[ItemView | None, str] = (None, "")
    known = map(ahead.get, range(offset, offset + len(views)), repeat(nothing))
    of, shown = zip(*known, strict=True) if views else ((), ())
    stands = [*map(is_, of, views)]  # as most are that came of late
    for index in special:
        if 0 <= index - offset < len(stands):
            stands[index - offset] = False
    return shown, [*compress(count(), map(not_, stands))]


def elements(
    views: Sequence[ItemView], indices: Iterable[int], calls: Sequence[ToolCallRecord]
) -> Iterator[tuple[int, str]]:
    """Yield the index of each item with its elements as `conversation` writes them.

    Calls are written as answered ones. Left out are items that show nothing, or hold what a
    conversation counts as omitted.

    Args:
        views: The readings of the list.
        indices: Which items, ascending.
        calls: The records of their calls, in the list's order.
    """
    writer = ItemWriter(calls, 0, len(views), None)
    writer.unanswered.clear()
    writer.expected = range(len(views))
    for index in indices:
        writer.item(index, views[index], "")
        text = writer.taken()
        if text and not writer.omitted:
            yield index, text
        writer.omitted.clear()


def filled(templates: TemplateRenderer, name: str, /, **values: object) -> str:
    """Return a template with the values filled in.

    Raises:
        TemplateError: It does not load or render, or a renderer of the caller's returns no text.
    """
    text = templates.render(name, **values)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TemplateError(
            f"template {name!r}: render() has to return text, not {type(text).__name__}",
            template=name,
        )
    return text


def cut_marker(templates: TemplateRenderer, left_out: int, total: int) -> str:
    """Return the marker for a text that is cut in the middle.

    Args:
        templates: What renders it.
        left_out: Number of characters that are left out.
        total: Number of all characters.

    Raises:
        TemplateError: As `filled`.
    """
    values = {"left_out": f"{left_out:,}", "total": f"{total:,}"}
    return filled(templates, "cut_marker.jinja", **values)


def prompt(
    templates: TemplateRenderer,
    rendered: Conversation,
    views: Sequence[ItemView],
    *,
    max_tokens: int,
    previous_summary: str | None = None,
    instructions: str | None = None,
    language: str | None = None,
    redact: Redact | None = None,
) -> Prompt:
    """Return the prompt for a rendered conversation.

    Raises:
        TemplateError: A template does not load or render, or none shows the conversation.
    """

    def clean(text: str | None) -> str | None:
        return None if text is None else escape(redacted(text, redact))

    values: dict[str, object] = {
        "conversation": rendered.xml,
        "instructions": clean(instructions),
        "language": clean(language),
        "max_tokens": max_tokens,
        "has_previous_summary": previous_summary is not None,
    }
    system = filled(templates, _SYSTEM, **values).strip()
    user = filled(templates, _USER, **values).strip()
    if not _shows(user, rendered.xml) and not _shows(system, rendered.xml):
        raise unseen()
    return Prompt(
        system=system,
        user=user,
        views=tuple(views),
        previous_summary=previous_summary,
        max_tokens=max_tokens,
    )


def _shows(text: str, xml: str) -> bool:
    """Return whether a text holds a conversation: `xml in text`, which would study it all first."""
    opening = xml[:_OPENING]
    at = text.find(opening)
    while at >= 0 and not text.startswith(xml, at):
        at = text.find(opening, at + 1)
    return at >= 0


def unseen() -> TemplateError:
    """Return the error of a prompt whose reader would see nothing of what is to be replaced."""
    return TemplateError(
        f"template {_USER!r}: the prompt does not show the conversation; put the value "
        f"`conversation` as it is, in Jinja {{{{ conversation }}}}, into the text of {_USER!r} "
        f"or of {_SYSTEM!r}",
        template=_USER,
    )
