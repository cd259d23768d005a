"""Responses and streams of mistralai's `chat`: each answer is one message, or several.

Only the SDK's objects are taken: as JSON they read as OpenAI's do. Source: the types of
mistralai 3.7.0, whose copies for Azure and GCP have the same names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

from chatfold.capture._choices import chosen, others
from chatfold.capture._sdk import is_a, listed
from chatfold.capture._values import Captured
from chatfold.core.flow import Usage
from chatfold.core.native import field

__all__ = ["outputs", "shape", "starts", "takes"]

shape: Final = "mistral"


def takes(response: object) -> bool:
    """Return whether this is a `ChatCompletionResponse`, parsed ones included."""
    return is_a(response, "mistralai", "ChatCompletionResponse")


def outputs(response: Any, *, choice: int | None) -> Captured:
    """Return the message of a choice, or its messages; one that holds nothing is left out.

    Raises:
        ValueError: There are several choices and `choice` is None, or there is no such one.
    """
    answer = chosen(listed(response.choices), choice)
    items = [_as_written(field(answer, "message"))]
    for message in listed(field(answer, "messages")):
        whole = _Message()
        whole.add(message)
        items.append(whole.item())
    kept = tuple(filter(_says_something, items))
    return Captured(kept, _usage(response.usage), response.model)


def starts(event: object) -> Answer | None:
    """Return what gathers a stream of `CompletionEvent` or of their chunks."""
    return Answer() if _chunk(event) is not None else None


class Answer:
    """One streamed answer: complete at the chunk that says why the model stopped."""

    held: str | None = None
    takes_ids = True

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.model: str | None = None
        self._messages: dict[int, _Message] = {}
        self._others: set[int] = set()

    @property
    def unfinished(self) -> str:
        """The message, until it is finished; choices that are not recorded."""
        begun = ["a message"] if self._messages else []
        return ", ".join([*begun, *filter(None, [others(self._others)])])

    def feed(self, event: Any) -> Iterable[Any]:
        """Take in a chunk; return the messages if this chunk ends them."""
        chunk = _chunk(event)
        if chunk is None:
            return ()
        self.usage = _usage(chunk.usage) or self.usage
        self.model = chunk.model or self.model
        self._others.update(c.index for c in chunk.choices if c.index)
        choice = next((c for c in chunk.choices if not c.index), None)
        if choice is None:
            return ()
        message = self._messages.setdefault(choice.delta.index or 0, _Message())
        message.add(choice.delta)
        return self._finish() if choice.finish_reason else ()

    def close(self) -> Iterable[Any]:
        """Return nothing: a message is given at once when it is finished."""
        return ()

    def _finish(self) -> list[Any]:
        messages, self._messages = self._messages, {}
        return list(filter(_says_something, (messages[at].item() for at in sorted(messages))))


class _Message:
    """A message that comes in deltas, or as one."""

    def __init__(self) -> None:
        self._models: Any = None
        self._role = "assistant"
        self._answers: str | None = None
        self._content: list[Any] | None = None
        self._calls: list[Any] | None = None

    def add(self, delta: Any) -> None:
        """Take in a delta."""
        # The package that the delta's class comes from has the classes of whole messages.
        self._models = sys.modules[type(delta).__module__.rpartition(".")[0]]
        self._role = delta.role or self._role
        self._answers = delta.tool_call_id or self._answers
        pieces = [delta.content] if isinstance(delta.content, str) else listed(delta.content)
        for piece in pieces:
            self._content = self._content or []
            _add_piece(self._content, piece)
        if delta.tool_calls:
            self._calls = self._calls or []
            for call in delta.tool_calls:
                _add_call(self._calls, call)

    def item(self) -> Any:
        """Return the message, as the SDK's own object."""
        fields: dict[str, Any] = {}
        if self._content is not None:
            fields["content"] = self._whole_content(self._content)
        if self._role == "tool":
            return self._models.ToolMessage(role="tool", **fields, tool_call_id=self._answers)
        if self._calls is not None:
            fields["tool_calls"] = self._calls
        return self._models.AssistantMessage(role="assistant", **fields)

    def _whole_content(self, pieces: Sequence[Any]) -> Any:
        if all(isinstance(p, str) for p in pieces):
            return "".join(pieces)
        text = self._models.TextChunk
        return [text(type="text", text=p) if isinstance(p, str) else p for p in pieces if p]


def _add_piece(content: list[Any], piece: Any) -> None:
    """Put a piece of content behind the others, or into the last one that it goes on."""
    last: Any = content[-1] if content else None
    kinds = (_kind(last), _kind(piece))
    if kinds == ("text", "text"):
        text = _text(last) + _text(piece)
        chunk = next((c for c in (last, piece) if not isinstance(c, str)), None)
        content[-1] = text if chunk is None else chunk.model_copy(update={"text": text})
    elif kinds == ("thinking", "thinking") and not (last.closed or last.signature):
        content[-1] = _joined_thinking(last, piece)
    else:
        content.append(piece)


def _joined_thinking(known: Any, piece: Any) -> Any:
    thinking = list(known.thinking)
    for more in piece.thinking:
        _add_piece(thinking, more)
    changes = {
        key: getattr(piece, key) for key in ("signature", "closed") if key in piece.model_fields_set
    }
    return known.model_copy(update={"thinking": thinking, **changes})


def _add_call(calls: list[Any], piece: Any) -> None:
    """Put a call behind the others, or more arguments into the last one of that index.

    The SDK writes the index 0 and the id "null" where the server gives none, so neither alone
    tells calls apart: what brings a name is another call, unless it repeats the id.
    """
    places = [place for place, known in enumerate(calls) if known.index == piece.index]
    if places:
        known = calls[places[-1]]
        repeated = piece.id == known.id and piece.id not in ("null", None)
        if repeated or not piece.function.name:
            calls[places[-1]] = _joined_call(known, piece)
            return
    calls.append(piece)


def _joined_call(known: Any, piece: Any) -> Any:
    before, more = known.function.arguments, piece.function.arguments
    if isinstance(before, str) and isinstance(more, str):
        more = before + more
    function = known.function.model_copy(update={"arguments": more})
    return known.model_copy(update={"function": function})


def _kind(piece: Any) -> str | None:
    return "text" if isinstance(piece, str) else field(piece, "type")


def _text(piece: Any) -> str:
    return piece if isinstance(piece, str) else piece.text


def _as_written(message: Any) -> Any:
    """Return a message as the server wrote it: `chat.parse` adds a field to its class."""
    classes: list[Any] = [*type(message).__mro__[1:]]
    for cls in classes:
        if cls.__name__ == "AssistantMessage":
            known: set[str] = message.model_fields_set & cls.model_fields.keys()
            return cls(**{key: getattr(message, key) for key in known})
    return message


def _says_something(message: Any) -> bool:
    return bool(field(message, "content") or field(message, "tool_calls"))


def _chunk(event: object) -> Any:
    """Return the chunk of an event, or the event where it is one; None for anything else."""
    if is_a(event, "mistralai", "CompletionEvent"):
        return field(event, "data")
    return event if is_a(event, "mistralai", "CompletionChunk") else None


def _usage(used: Any) -> Usage | None:
    return used and Usage(used.prompt_tokens or 0, used.completion_tokens or 0)
