"""Views to a prompt: the conversation as escaped XML, inside the templates that are given.

The conversation is built here and not in a template, so that no template can forget an escape.
Not here: the words around it (`prompts/`), finding templates (`chatfold.templates`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, count, repeat
from operator import is_, not_
from typing import Protocol, TypeAlias

from chatfold.core.calls import ToolCallRecord, pair_calls
from chatfold.core.encoded import LEAST, readable
from chatfold.core.live import LiveRequest
from chatfold.core.native import hidden_in
from chatfold.core.views import (
    CallPart,
    HandoffPart,
    ItemView,
    MediaPart,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    StatePart,
    SummaryPart,
    TextPart,
    UnknownPart,
)
from chatfold.core.xml import attribute, attributes, encode, escape, markup
from chatfold.errors import TemplateError

__all__ = [
    "Conversation",
    "Prompt",
    "Redact",
    "TemplateRenderer",
    "Written",
    "conversation",
    "elements",
    "filled",
    "prompt",
]

Redact = Callable[[str], str]
"""Takes a text and returns it without what may not leave the process."""


Written: TypeAlias = Mapping[int, tuple[ItemView, str]]
"""What items of a list show, by their indices: the reading that it was written of, the elements."""

_NOTHING: Written = {}
_OPENING = 64  # characters by which a conversation is looked for
_SYSTEM, _USER = "summarize_system.jinja", "summarize_user.jinja"


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
    writer = _Writer(calls, offset, offset + len(views), redact)
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
    writer = _Writer(calls, 0, len(views), None)
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
        raise _unseen()
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


def _unseen() -> TemplateError:
    """Return the error of a prompt whose reader would see nothing of what is to be replaced."""
    return TemplateError(
        f"template {_USER!r}: the prompt does not show the conversation; put the value "
        f"`conversation` as it is, in Jinja {{{{ conversation }}}}, into the text of {_USER!r} "
        f"or of {_SYSTEM!r}",
        template=_USER,
    )


def redacted(text: str, redact: Redact | None) -> str:
    """Return `text` as `redact` returns it.

    Raises:
        TypeError: It returns no text.
    """
    if redact is None:
        return text
    cleaned = redact(text)
    if not isinstance(cleaned, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"redact= has to return text, not {type(cleaned).__name__}")
    return cleaned


_MESSAGE_ROLES = ("user", "assistant", "system", "developer")


class _Writer:
    """Collects the elements of a conversation."""

    def __init__(
        self, calls: Sequence[ToolCallRecord], start: int, stop: int, redact: Redact | None
    ) -> None:
        self.out: list[str] = []
        self.omitted: defaultdict[str, int] = defaultdict(int)
        self.redact = redact
        self.unanswered: dict[int, list[str | None]] = {}
        self.named: dict[str | None, str] = {}
        self._calls = calls
        self.expected: Container[int | None] = ()  # the items that are to be written
        for call in [c for c in calls if c.result_index is None or c.result_index >= stop]:
            asked = call.call_index
            if asked is not None and start <= asked < stop:
                self.unanswered.setdefault(asked, []).append(call.id)

    @cached_property
    def answers(self) -> dict[int, list[ToolCallRecord]]:
        """The calls that the expected items answer; most are words, and ask for none."""
        found: dict[int, list[ToolCallRecord]] = {}
        for call in [call for call in self._calls if call.result_index in self.expected]:
            assert call.result_index is not None
            found.setdefault(call.result_index, []).append(call)
        return found

    def taken(self) -> str:
        """Return the elements so far, each on a line; they are no longer held here."""
        text = encode("\n".join(self.out))
        self.out.clear()
        return text

    def clean(self, text: str) -> str:
        """Return a text as it goes into a prompt: redacted, without encoded data, escaped."""
        if self.redact is None and len(text) < LEAST:
            return markup(text)
        if self.redact is not None:
            text = redacted(text, self.redact)
        if len(text) >= LEAST:
            text, encoded = readable(text)
            if encoded:
                self.omitted["encoded"] += encoded
        return markup(text)

    def data(self, text: str) -> str:
        """Return a text that may be JSON as it goes into a prompt; what it leaves out is counted.

        It was left out where the item was read, so that `clean` cannot find it.
        """
        if hidden := hidden_in(text):
            self.omitted["encoded"] += hidden
        return self.clean(text)

    def told(self, name: str | None) -> str | None:
        """Return a name or an id as `redact` returns it; it still has to be escaped."""
        return name if self.redact is None or not name else redacted(name, self.redact)

    def text(self, name: str, attrs: str, text: str) -> None:
        self.out.append(f"<{name}{attrs}>{self.data(text)}</{name}>")

    def previous(self, text: str, record: str) -> None:
        """Write the earlier summary, with the record behind it as an element inside."""
        lines = record.removeprefix("<record>").removesuffix("</record>")
        inner = f"<record>{self.clean(lines)}</record>" if record else ""
        self.out.append(f"<previous_summary>{self.clean(text)}{inner}</previous_summary>")

    def item(self, index: int, view: ItemView, mark: str) -> None:
        """Write the elements of one item; `mark` goes on each of them."""
        parts = view.parts
        if len(parts) == 1:  # as in most items
            part = parts[0]
            if type(part) is TextPart and view.role in _MESSAGE_ROLES:
                alone = view.name is None and not view.passing
                role, attrs = view.role, mark if alone else self.author(view, mark)
                said = self.clean(part.text) + (self.cited(part.sources) if part.sources else "")
                self.out.append(f"<{role}{attrs}>{said}</{role}>")
                return
            if type(part) is not TextPart and type(part) is not MediaPart:
                self.part(index, view, part, mark)
                return
        if not parts and view.role in _MESSAGE_ROLES:
            self.out.append(f"<{view.role}{self.author(view, mark)}></{view.role}>")
            return
        spoken: list[TextPart | MediaPart] = []
        for part in parts:
            if type(part) is TextPart or type(part) is MediaPart:
                spoken.append(part)
                continue
            self.flush(view, mark, spoken)
            self.part(index, view, part, mark)
        self.flush(view, mark, spoken)

    def author(self, view: ItemView, mark: str) -> str:
        until = "next_user_message" if view.passing else None
        return attributes(name=self.told(view.name), until=until) + mark

    def flush(self, view: ItemView, mark: str, said: list[TextPart | MediaPart]) -> None:
        """Write what the author said, in one element: words and media, then what they cite."""
        if not said:
            return
        inner: list[str] = []
        sources: dict[str, None] = {}  # each once, though several texts may cite it
        for number, part in enumerate(said):
            if isinstance(part, TextPart):
                after_text = number and isinstance(said[number - 1], TextPart)
                inner.append(("\n" if after_text else "") + self.clean(part.text))
                if part.sources:
                    sources.update(dict.fromkeys(part.sources))
            else:
                inner.append(self.attachment(part))
        if sources:
            inner.append(self.cited(sources))
        name, attrs = view.role, self.author(view, mark)
        if name not in _MESSAGE_ROLES:
            name, attrs = "item", attributes(type=view.type) + mark  # type: ignore[assignment]
        self.out.append(f"<{name}{attrs}>{''.join(inner)}</{name}>")
        said.clear()

    def cited(self, sources: Iterable[str]) -> str:
        # In attributes: what an element holds as text are the author's own words.
        return "".join(f"<citation{attributes(source=self.told(s))}/>" for s in sources)

    def attachment(self, part: MediaPart) -> str:
        self.omitted["media"] += 1
        name, kind = self.told(part.name), self.told(part.type)
        attrs = attributes(kind=part.kind, type=kind, bytes=part.bytes, name=name)
        if not part.text:
            return f"<attachment{attrs}/>"
        return f"<attachment{attrs}>{self.clean(part.text)}</attachment>"

    def part(self, index: int, view: ItemView, part: object, mark: str) -> None:
        """Write one part that is more than words."""
        if type(part) is ResultPart:  # the commonest, and so not asked for by a pattern
            self.result(index, part, mark)
            return
        match part:
            case CallPart():
                self.call(index, view, part, mark)
            case ServerCallPart():
                self.server_call(part, mark)
            case ReasoningPart():
                if part.opaque:
                    self.omitted["encrypted_reasoning"] += 1
                if part.text:
                    self.out.append(f"<reasoning{mark}>{self.clean(part.text)}</reasoning>")
            case HandoffPart():
                source, target = self.told(part.source), self.told(part.target)
                attrs = attributes(**{"from": source, "to": target})
                self.out.append(f"<agent_handoff{attrs}{mark}/>")
            case OpaquePart():
                self.omitted["opaque"] += 1
            case SummaryPart():
                pass  # it goes in as previous_summary
            case StatePart():
                if part.text:
                    self.text("item", attributes(type=part.kind) + mark, part.text)
            case UnknownPart() if not part.text and len(view.parts) > 1:
                pass  # the others say all of it
            case UnknownPart():
                self.text("item", attributes(type=self.told(part.type) or None) + mark, part.text)
            case _:
                raise TypeError(f"no rendering for {type(part).__name__}")

    def call(self, index: int, view: ItemView, part: CallPart, mark: str) -> None:
        if part.kind == "approval":
            name, call = self.told(part.name), self.told(part.id)
            attrs = attributes(type="mcp_approval_request", name=name, id=call)
            self.text("item", attrs + mark, part.arguments)
            return
        waiting = self.unanswered.get(index, ())
        if part.id in waiting:
            mark = f' result="no result recorded"{mark}'
        attrs = self.names(part.name, part.id)
        served = part.pair.startswith("server")
        name = "server_tool_call" if served else "function_call"
        self.text(name, attrs + mark, part.arguments)
        if part.kind == "handoff" and part.name:
            target = self.told(part.name.removeprefix("transfer_to_"))
            self.out.append(f"<agent_handoff{attributes(to=target)}{mark}/>")

    def result(self, index: int, part: ResultPart, mark: str) -> None:
        if part.pair == "approval":
            attrs = attributes(type="approval_response", id=self.told(part.id))
            self.text("item", attrs + mark, part.text)
            return
        answered = self.answers.get(index)
        record = None if answered is None else self.answer(answered, part)
        id_, tool = part.id, part.name
        if record is not None:
            id_, tool = part.id or record.id, record.name or part.name
        status = "failed" if part.failed else "completed"
        name = "server_tool_output" if part.pair.startswith("server") else "function_call_output"
        inner = self.data(part.text)
        if part.media:
            inner += "".join(map(self.attachment, part.media))
        names = self.names(tool, id_)
        self.out.append(f'<{name}{names} status="{status}"{mark}>{inner}</{name}>')

    def names(self, name: str | None, call_id: str | None) -> str:
        """Return the attributes that name a call; most tools are called more than once."""
        known = self.named.get(name)
        if known is None:
            known = self.named[name] = attributes(name=self.told(name))
        if call_id is None:
            return known
        return f'{known} call_id="{attribute(self.told(call_id) or "")}"'

    def answer(self, answered: list[ToolCallRecord], part: ResultPart) -> ToolCallRecord | None:
        """Return the call that a result is of, and take it out of those of its item."""
        if len(answered) == 1:
            return answered.pop()
        fitting = [r for r in answered if r.id == part.id]
        named = (r for r in fitting if part.name is None or r.name == part.name)
        record = next(named, fitting[0] if fitting else None)
        if record is not None:
            answered.remove(record)
        return record

    def server_call(self, part: ServerCallPart, mark: str) -> None:
        attrs = attributes(name=self.told(part.name), id=self.told(part.id), status=part.status)
        inner = f"<arguments>{self.data(part.arguments)}</arguments>"
        if part.result:
            inner += f"<result>{self.data(part.result)}</result>"
        self.out.append(f"<server_tool_call{attrs}{mark}>{inner}</server_tool_call>")
