"""Responses and chunks of OpenAI's Chat Completions, and of servers that follow it.

The SDK's own accumulation (`ChatCompletionStreamState`) is not used: it leaves `index` on tool
calls, merges parallel calls that a server numbers alike, and raises on list entries without an
index, such as those that some servers stream in `reasoning_details` (openai 3.54.0).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from chatfold.capture._choices import chosen
from chatfold.capture._sdk import fields, is_a, listed
from chatfold.capture._values import Captured, Gather
from chatfold.core.native import field, plain
from chatfold.core.usage import Usage, count

__all__ = ["outputs", "shape", "starts", "takes"]

shape: Final = "openai_chat"

Message = dict[str, Any]


def takes(response: object) -> bool:
    """Return whether this is a `ChatCompletion`, as an object or a dict.

    Other makes (litellm, groq, huggingface_hub) have classes of their own with these fields.
    """
    if is_a(response, "openai.types.chat", "ChatCompletion"):
        return True
    if field(response, "object") == "chat.completion":
        return True
    return any(field(c, "message") is not None for c in listed(field(response, "choices")))


def outputs(response: Any, *, choice: int | None) -> Captured:
    """Return the message of a response; one that holds nothing is left out.

    Raises:
        TypeError: The message does not say what it holds.
        ValueError: There are several choices and `choice` is None, or there is no such one.
    """
    message: Any = field(chosen(listed(field(response, "choices")), choice), "message")
    if message is not None and fields(message) is None:
        name = type(message).__qualname__
        message = plain(message)
        if fields(message) is None:
            raise TypeError(f"a message of {name} cannot be read; pass it as a dict")
    items = (_with_role(message),) if _says_something(message) else ()
    return Captured(items, _usage(field(response, "usage")), field(response, "model"))


def starts(event: object) -> Gather | None:
    """Return what gathers chunks, or the events of the SDK's helper that carry them."""
    return _Chunks() if _chunk(event) is not None else None


def _with_role(message: Any) -> Message:
    """Return a message with the role of an assistant, where its server has left the role out."""
    return message if message.get("role") else {**message, "role": "assistant"}


def _says_something(message: Any) -> bool:
    given = fields(plain(message)) or {}
    return any(value for key, value in given.items() if key != "role")


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    return Usage(
        count(usage, "prompt_tokens"),
        count(usage, "completion_tokens"),
        count(usage, "prompt_tokens_details", "cached_tokens"),
    )


def _chunk(event: object) -> Any:
    """Return the chunk that an event is, or carries; None where there is none."""
    if field(event, "type") == "chunk":
        return field(event, "chunk")
    if is_a(event, "openai.types.chat", "ChatCompletionChunk"):
        return event
    if field(event, "object") == "chat.completion.chunk":
        return event
    pieces = (field(choice, "delta") for choice in listed(field(event, "choices")))
    return event if any(piece is not None for piece in pieces) else None


class _Chunks:
    """Merges deltas; the message is finished by the chunk that says why it ended."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.model: str | None = None
        self.held: str | None = None
        self.takes_ids = True
        self._message: Message = {}
        self._calls: list[Message] = []
        self._done = False
        self._late = False
        self._others: set[int] = set()

    @property
    def unfinished(self) -> str:
        """The message, until it is finished; what came after its end, and other choices."""
        begun: list[str] = []
        if not self._done:
            calls = f" with {len(self._calls)} tool calls" if self._calls else ""
            begun.append(f"a message{calls}")
        if self._late:
            begun.append("what came after the end of the message")
        if self._others:
            begun.append(f"{len(self._others)} more choices (only the first is recorded)")
        return ", ".join(begun)

    def feed(self, event: Any) -> Iterator[Message]:
        """Take in an event; yield the message once it is finished."""
        chunk = _chunk(event)
        if chunk is None:
            return
        self.model = field(chunk, "model") or self.model
        # Groq tells it at the end of each stream, unasked, in a place of its own (groq 1.7.0).
        used = field(chunk, "usage") or field(field(chunk, "x_groq"), "usage")
        self.usage = _usage(used) or self.usage
        for choice in listed(field(chunk, "choices")):
            if index := count(choice, "index"):
                self._others.add(index)
            elif self._done:  # some servers repeat the end, which says nothing
                self._late = self._late or _says_something(field(choice, "delta"))
            else:
                self._take(plain(field(choice, "delta")))
                if field(choice, "finish_reason"):
                    self._done = True
                    message = self._finished()
                    if _says_something(message):
                        yield message

    def close(self) -> tuple[()]:
        """Return nothing: a message is stored as soon as it is finished."""
        return ()

    def _take(self, delta: Any) -> None:
        for key, value in (fields(delta) or {}).items():
            if key == "tool_calls":
                for call in listed(value):
                    _merge_call(self._calls, call)
            else:
                self._message[key] = _merged(key, self._message.get(key), value)

    def _finished(self) -> Message:
        message = _with_role({"content": None} | self._message)
        if self._calls:
            # What a stream opens with is an empty text where a whole response has none.
            message["content"] = message["content"] or None
            message["tool_calls"] = [
                {"type": "custom" if "custom" in call else "function"} | call
                for call in sorted(self._calls, key=lambda call: count(call, "index"))
            ]
        return message


_ONCE = frozenset({"id", "type", "role", "index", "format"})
"""Fields that come whole; servers repeat them, or send them empty later on."""


def _merged(key: str, old: Any, new: Any) -> Any:
    """Return a field with a delta added to it."""
    if new is None or old is None:
        return old if new is None else new
    if key in _ONCE:
        return old if old != "" else new
    if isinstance(old, str) and isinstance(new, str):
        repeated = key == "name" and old == new
        return old if repeated else old + new
    before, after = fields(old), fields(new)
    if before is not None and after is not None:
        return before | {k: _merged(k, before.get(k), v) for k, v in after.items()}
    if {type(old), type(new)} == {str, list}:
        old, new = _blocks(old), _blocks(new)
    entries = listed(new)
    if not entries:
        return old if new == [] else new
    return _merged_lists(listed(old), entries)


def _blocks(content: Any) -> list[Any]:
    """Return content as blocks: Mistral's models send citations and thoughts between texts."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return listed(content)


def _merged_lists(old: list[Any], new: list[Any]) -> list[Any]:
    """Add entries to a list, and return it; those with a known type and index are merged.

    So are texts, and thoughts, that follow each other and hold nothing else.
    """
    for entry in new:
        index, kind = field(entry, "index"), field(entry, "type")
        # Without an index each delta may be an entry of its own: there are thousands of them.
        known = enumerate(old if index is not None else ())
        same = (n for n, o in known if (field(o, "index"), field(o, "type")) == (index, kind))
        last = len(old) - 1 if old and _goes_on(old[-1], entry) else None
        place = next(same, last)
        if place is None:
            old.append(entry)
        else:
            old[place] = _merged("", old[place], entry)
    return old


def _goes_on(last: Any, entry: Any) -> bool:
    before, after = fields(last) or {}, fields(entry) or {}
    kind = after.get("type")
    if kind not in ("text", "thinking") or before.get("type") != kind:
        return False
    return before.keys() == after.keys() == {"type", kind}


def _merge_call(calls: list[Message], delta: Any) -> None:
    """Add a piece of a tool call to the call that it belongs to, or begin one.

    Some servers give all parallel calls the index 0, or none; a new id together with a name is a
    new call, and a known id is that call's. A new id alone is not: some make one up for each chunk.
    """
    piece = fields(delta) or {}
    index, id_ = piece.get("index"), piece.get("id")
    named = bool(field(piece.get("function") or piece.get("custom"), "name"))
    begun = [c for c in calls if c.get("index") == index]
    own = (c for c in begun if id_ and c.get("id") == id_)
    call = next(own, begun[-1] if begun else None)
    if call is not None and named:
        other = id_ and call.get("id") and id_ != call["id"]
        call = None if index is None or other else call
    if call is None:
        calls.append(call := Message())
    for key, value in piece.items():
        call[key] = _merged(key, call.get(key), value)
