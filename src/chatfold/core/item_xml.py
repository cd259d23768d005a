"""Items as elements of escaped XML, with the calls of the whole list beside them.

Not here: the conversation around them (`render`), escaping (`xml`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence

from chatfold.core.call_json import json_or_text
from chatfold.core.calls import ToolCallRecord
from chatfold.core.encoded import LEAST, readable
from chatfold.core.failures import reason_in
from chatfold.core.native import hidden_in
from chatfold.core.once import once
from chatfold.core.redaction import Redact, redacted
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
from chatfold.core.xml import attribute, attributes, encode, markup

__all__ = ["ItemWriter"]

_MESSAGE_ROLES = ("user", "assistant", "system", "developer")
_RETOLD = "conversation_so_far"  # told to another agent at a handoff


class ItemWriter:
    """Collects the elements of items, one after the other, until they are taken.

    Args:
        calls: The records of the calls, in the list's order.
        start: Index of the first item of the conversation.
        stop: Index behind the last one: what answers a call from there on is not shown.
        redact: Takes a text and returns it without what may not leave the process.

    Attributes:
        omitted: How many things of a kind the elements leave out.
        unanswered: Of each item with a call that is written as an unanswered one, by its index:
            whether each of its calls is one, in their order; as far as they are not written.
        expected: Indices of the items that are to be written.
    """

    def __init__(
        self, calls: Sequence[ToolCallRecord], start: int, stop: int, redact: Redact | None
    ) -> None:
        self._out: list[str] = []
        self.omitted: defaultdict[str, int] = defaultdict(int)
        self._redact = redact
        self.unanswered: dict[int, list[bool]] = {}
        self._named: dict[str | None, str] = {}
        self._calls = calls
        self.expected: Container[int | None] = ()
        waiting = [c for c in calls if c.result_index is None or c.result_index >= stop]
        places = [c.call_index for c in waiting if c.call_index is not None]
        asked = {place for place in places if start <= place < stop}
        if asked:
            self._mark_unanswered(waiting, asked)

    def _mark_unanswered(
        self, waiting: Sequence[ToolCallRecord], asked: Container[int | None]
    ) -> None:
        """Note which calls of their items wait: several of one item may have no id, or the same."""
        lacking = set(map(id, waiting))
        for call in self._calls:
            at = call.call_index
            if at is not None and at in asked:
                self.unanswered.setdefault(at, []).append(id(call) in lacking)

    @once
    def _answers(self) -> dict[int, list[ToolCallRecord]]:
        """The calls that the expected items answer; most are words, and ask for none."""
        found: dict[int, list[ToolCallRecord]] = {}
        for call in [call for call in self._calls if call.result_index in self.expected]:
            assert call.result_index is not None
            found.setdefault(call.result_index, []).append(call)
        return found

    def taken(self) -> str:
        """Return the elements so far, each on a line; they are no longer held here."""
        text = encode("\n".join(self._out))
        self._out.clear()
        return text

    def _clean(self, text: str) -> str:
        """Return a text as it goes into a prompt: redacted, without encoded data, escaped."""
        if self._redact is None and len(text) < LEAST:
            return markup(text)
        if self._redact is not None:
            text = redacted(text, self._redact)
        if len(text) >= LEAST:
            text, encoded = readable(text)
            if encoded:
                self.omitted["encoded"] += encoded
        return markup(text)

    def _data(self, text: str) -> str:
        """Return a text that may be JSON as it goes into a prompt; what it leaves out is counted.

        It was left out where the item was read, so that `_clean` cannot find it.
        """
        if hidden := hidden_in(text):
            self.omitted["encoded"] += hidden
        return self._clean(text)

    def _told(self, name: str | None) -> str | None:
        """Return a name or an id as `redact` returns it; it still has to be escaped."""
        return name if self._redact is None or not name else redacted(name, self._redact)

    def _text(self, name: str, attrs: str, text: str) -> None:
        self._out.append(f"<{name}{attrs}>{self._data(text)}</{name}>")

    def previous(self, text: str, record: str) -> None:
        """Write the earlier summary, with the record behind it as an element inside."""
        lines = record.removeprefix("<record>").removesuffix("</record>")
        inner = f"<record>{self._clean(lines)}</record>" if record else ""
        self._out.append(f"<previous_summary>{self._clean(text)}{inner}</previous_summary>")

    def item(self, index: int, view: ItemView, mark: str) -> None:
        """Write the elements of one item; `mark` goes on each of them."""
        parts = view.parts
        if len(parts) == 1:  # as in most items
            part = parts[0]
            if view.retells and type(part) is TextPart:  # it is not what the assistant says now
                self._text("item", attributes(type=_RETOLD) + mark, part.text)
                return
            if type(part) is TextPart and view.role in _MESSAGE_ROLES:
                alone = view.name is None and not view.passing
                role, attrs = view.role, mark if alone else self._author(view, mark)
                said = self._clean(part.text) + (self._cited(part.sources) if part.sources else "")
                self._out.append(f"<{role}{attrs}>{said}</{role}>")
                return
            if type(part) is not TextPart and type(part) is not MediaPart:
                self._part(index, view, part, mark)
                return
        if not parts and view.role in _MESSAGE_ROLES:
            self._out.append(f"<{view.role}{self._author(view, mark)}></{view.role}>")
            return
        spoken: list[TextPart | MediaPart] = []
        for part in parts:
            if type(part) is TextPart or type(part) is MediaPart:
                spoken.append(part)
                continue
            self._flush(view, mark, spoken)
            self._part(index, view, part, mark)
        self._flush(view, mark, spoken)

    def _author(self, view: ItemView, mark: str) -> str:
        until = "next_user_message" if view.passing else None
        return attributes(name=self._told(view.name), until=until) + mark

    def _flush(self, view: ItemView, mark: str, said: list[TextPart | MediaPart]) -> None:
        """Write what the author said, in one element: words and media, then what they cite."""
        if not said:
            return
        inner: list[str] = []
        sources: dict[str, None] = {}  # each once, though several texts may cite it
        for number, part in enumerate(said):
            if isinstance(part, TextPart):
                after_text = number and isinstance(said[number - 1], TextPart)
                inner.append(("\n" if after_text else "") + self._clean(part.text))
                if part.sources:
                    sources.update(dict.fromkeys(part.sources))
            else:
                inner.append(self._attachment(part))
        if sources:
            inner.append(self._cited(sources))
        name, attrs = view.role, self._author(view, mark)
        if name not in _MESSAGE_ROLES:
            name, attrs = "item", attributes(type=view.type) + mark  # type: ignore[assignment]
        self._out.append(f"<{name}{attrs}>{''.join(inner)}</{name}>")
        said.clear()

    def _cited(self, sources: Iterable[str]) -> str:
        # In attributes: what an element holds as text are the author's own words.
        return "".join(f"<citation{attributes(source=self._told(s))}/>" for s in sources)

    def _attachment(self, part: MediaPart) -> str:
        self.omitted["media"] += 1
        name, kind = self._told(part.name), self._told(part.type)
        source = self._told(part.source) or None
        attrs = attributes(kind=part.kind, type=kind, bytes=part.bytes, name=name, source=source)
        if not part.text:
            return f"<attachment{attrs}/>"
        return f"<attachment{attrs}>{self._clean(part.text)}</attachment>"

    def _part(self, index: int, view: ItemView, part: object, mark: str) -> None:
        """Write one part that is more than words."""
        if type(part) is ResultPart:  # the commonest, and so not asked for by a pattern
            self._result(index, part, mark)
            return
        match part:
            case CallPart():
                self._call(index, view, part, mark)
            case ServerCallPart():
                self._waits(index)
                self._server_call(part, mark)
            case ReasoningPart():
                if part.opaque:
                    self.omitted["encrypted_reasoning"] += 1
                if part.text:
                    self._out.append(f"<reasoning{mark}>{self._clean(part.text)}</reasoning>")
            case HandoffPart():
                source, target = self._told(part.source), self._told(part.target)
                attrs = attributes(**{"from": source, "to": target})
                self._out.append(f"<agent_handoff{attrs}{mark}/>")
            case OpaquePart():
                self.omitted["opaque"] += 1
            case SummaryPart():
                pass  # it goes in as previous_summary
            case StatePart():
                if part.text:
                    self._text("item", attributes(type=part.kind) + mark, part.text)
            case UnknownPart():
                self._unknown(view, part, mark)
            case _:
                raise TypeError(f"no rendering for {type(part).__name__}")

    def _unknown(self, view: ItemView, part: UnknownPart, mark: str) -> None:
        own = part.type == view.type  # else it is a part of an item that is known
        if not part.text and len(view.parts) > 1 and (own or part.known):
            return  # the others say all of it
        lost = not part.text and not (own and view.shape)
        bare = not view.shape and part.type and part.text == "{}"  # an object that hides its fields
        if (lost or bare) and not part.known:
            self.omitted["unreadable"] += 1
        # What is known by its id alone, such as a reference, is told by that.
        known_by = view.id if own and not part.text else None
        attrs = attributes(type=self._told(part.type) or None, id=self._told(known_by))
        self._text("item", attrs + mark, part.text)

    def _waits(self, index: int) -> bool:
        """Return whether the next call of an item is written as an unanswered one."""
        rest = self.unanswered.get(index)
        return rest.pop(0) if rest else False

    def _call(self, index: int, view: ItemView, part: CallPart, mark: str) -> None:
        waits = self._waits(index)
        if part.kind == "approval":
            name, call = self._told(part.name), self._told(part.id)
            attrs = attributes(type="mcp_approval_request", name=name, id=call)
            attrs += self._home(part.namespace)
            self._text("item", attrs + mark, part.arguments)
            return
        if waits:
            mark = f' result="no result recorded"{mark}'
        attrs = self._names(part.name or part.unknown or None, part.id) + self._home(part.namespace)
        if not (part.name or part.id or part.arguments) and view.id:  # a reference to a call
            attrs += attributes(id=self._told(view.id))
        served = part.pair.startswith("server")
        name = "server_tool_call" if served else "function_call"
        self._text(name, attrs + mark, part.arguments)

    def _result(self, index: int, part: ResultPart, mark: str) -> None:
        if part.pair == "approval":
            attrs = attributes(type="approval_response", id=self._told(part.id))
            self._text("item", attrs + mark, part.text)
            return
        answered = self._answers.get(index)
        record = None if answered is None else self._answer(answered, part)
        id_, tool, home = part.id, part.name, part.namespace
        if record is not None:
            id_, tool, home = part.id or record.id, record.name or part.name, record.namespace
        status = "failed" if part.failed else "completed"
        name = "server_tool_output" if part.pair.startswith("server") else "function_call_output"
        inner = self._data(part.text)
        if part.media:
            inner += "".join(map(self._attachment, part.media))
        names = self._names(tool, id_) + self._home(home)
        self._out.append(f'<{name}{names} status="{status}"{mark}>{inner}</{name}>')
        if record is not None and record.kind == "handoff" and _took_place(record, part):
            target = self._told((record.name or "").removeprefix("transfer_to_"))
            self._out.append(f"<agent_handoff{attributes(to=target)}{mark}/>")

    def _names(self, name: str | None, call_id: str | None) -> str:
        """Return the attributes that name a call; most tools are called more than once."""
        known = self._named.get(name)
        if known is None:
            known = self._named[name] = attributes(name=self._told(name))
        if call_id is None:
            return known
        return f'{known} call_id="{attribute(self._told(call_id) or "")}"'

    def _home(self, namespace: str | None) -> str:
        """Return the attribute that says where a tool lives, "" where nothing says it."""
        return "" if namespace is None else attributes(namespace=self._told(namespace))

    def _answer(self, answered: list[ToolCallRecord], part: ResultPart) -> ToolCallRecord | None:
        """Return the call that a result is of, and take it out of those of its item."""
        if len(answered) == 1:
            return answered.pop()
        fitting = [r for r in answered if r.id == part.id]
        named = (r for r in fitting if part.name is None or r.name == part.name)
        record = next(named, fitting[0] if fitting else None)
        if record is not None:
            answered.remove(record)
        return record

    def _server_call(self, part: ServerCallPart, mark: str) -> None:
        attrs = attributes(name=self._told(part.name), id=self._told(part.id), status=part.status)
        attrs += self._home(part.namespace)
        inner = f"<arguments>{self._data(part.arguments)}</arguments>"
        if part.result:
            inner += f"<result>{self._data(part.result)}</result>"
        self._out.append(f"<server_tool_call{attrs}{mark}>{inner}</server_tool_call>")


def _took_place(call: ToolCallRecord, part: ResultPart) -> bool:
    """Return whether a handoff led to another agent: one of several at a time is ignored."""
    if not call.name:
        return False
    return reason_in(json_or_text(part.text), failed=part.failed, name=call.name) is None
