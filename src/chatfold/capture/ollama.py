"""Responses and streams of ollama's `chat`: each answer is one message.

Sources: the types of ollama 0.6.3; https://docs.ollama.com/api/chat (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from chatfold.capture._choices import chosen
from chatfold.capture._sdk import is_a, listed
from chatfold.capture._values import Captured
from chatfold.core.native import field
from chatfold.core.usage import Usage, count

__all__ = ["outputs", "shape", "starts", "takes"]

shape: Final = "ollama"


def takes(response: object) -> bool:
    """Return whether this is a whole `ChatResponse`, or its JSON as a dict."""
    return _is_chat(response) and field(response, "done") is not False


def outputs(response: Any, *, choice: int | None) -> Captured:
    """Return the message of a response; one that holds nothing is left out.

    Raises:
        ValueError: `choice` is neither None nor 0: there is one answer.
    """
    message = chosen([field(response, "message")], choice)
    items = (_with(message, {}),) if _says_something(message) else ()
    return Captured(items, _usage(response), field(response, "model"))


def starts(event: object) -> Answer | None:
    """Return what gathers a stream of `ChatResponse` chunks."""
    return Answer() if _is_chat(event) else None


class Answer:
    """One streamed message: complete at the chunk that says `done`."""

    held: str | None = None
    takes_ids = True

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.model: str | None = None
        self._first: Any = None
        self._texts: dict[str, str] = {}
        self._lists: dict[str, list[Any]] = {}

    @property
    def unfinished(self) -> str:
        """What was begun and is not finished."""
        return "" if self._first is None else "a message"

    def feed(self, event: Any) -> Iterable[Any]:
        """Take in a chunk; return the message if this chunk ends it."""
        if not _is_chat(event):
            return ()
        self.usage = _usage(event) or self.usage
        self.model = field(event, "model") or self.model
        message = field(event, "message")
        self._first = message if self._first is None else self._first
        for key in ("content", "thinking"):
            piece = field(message, key)
            if isinstance(piece, str):
                self._texts[key] = self._texts.get(key, "") + piece
        for key in ("tool_calls", "images"):
            if more := listed(field(message, key)):  # a call comes whole, in one chunk
                self._lists[key] = [*self._lists.get(key, ()), *more]
        return self._finish() if field(event, "done") else ()

    def close(self) -> Iterable[Any]:
        """Return nothing: a message is given at once when it is finished."""
        return ()

    def _finish(self) -> list[Any]:
        first, changes = self._first, {**self._texts, **self._lists}
        self._first, self._texts, self._lists = None, {}, {}
        message = _with(first, changes)
        return [message] if _says_something(message) else []


def _with(message: Any, changes: dict[str, Any]) -> Any:
    """Return a message with other fields, and a role: servers that follow Ollama may leave it out.

    The same message where neither is wanting.
    """
    if not field(message, "role"):
        changes = {"role": "assistant", **changes}
    if not changes:
        return message
    if isinstance(message, dict):
        return {**cast(dict[str, Any], message), **changes}
    return message.model_copy(update=changes)


def _is_chat(event: object) -> bool:
    if isinstance(event, dict):
        message = field(cast(object, event), "message")  # an object, in the dict of the SDK's own
        return "done" in event and (isinstance(message, dict) or bool(field(message, "role")))
    return is_a(event, "ollama", "ChatResponse")


def _says_something(message: Any) -> bool:
    return any(field(message, key) for key in ("content", "thinking", "tool_calls", "images"))


def _usage(response: Any) -> Usage | None:
    if field(response, "eval_count") is None and field(response, "prompt_eval_count") is None:
        return None
    return Usage(count(response, "prompt_eval_count"), count(response, "eval_count"))
