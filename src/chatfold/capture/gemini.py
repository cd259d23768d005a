"""Responses and streams of google-genai: each answer is one content of the role `model`.

Sources: the types of google-genai 3.4.0;
https://ai.google.dev/gemini-api/docs/function-calling (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from chatfold.capture._choices import chosen, others
from chatfold.capture._gemini_parts import Parts, changed, spelled
from chatfold.capture._sdk import is_a, listed
from chatfold.capture._values import Captured
from chatfold.core.usage import Usage, usage_in

__all__ = ["outputs", "shape", "starts", "takes"]

shape: Final = "gemini"


def takes(response: object) -> bool:
    """Return whether this is a `GenerateContentResponse`, or its JSON as a dict."""
    if isinstance(response, dict):
        return bool(listed(spelled(response, "candidates")))
    return is_a(response, "google.genai", "GenerateContentResponse")


def outputs(response: Any, *, choice: int | None) -> Captured:
    """Return the content of a candidate as it is, the role aside; one without parts is left out.

    Before it stand the calls that the SDK ran by itself, and their results.

    Raises:
        ValueError: There are several candidates and `choice` is None, or there is no such one.
    """
    content = spelled(chosen(listed(spelled(response, "candidates")), choice), "content")
    items = (*_run_by_sdk(response), *([_by_model(content)] if spelled(content, "parts") else ()))
    return Captured(
        items,
        _usage(response),
        spelled(response, "model_version"),
        takes_ids=not _is_from_vertex(response),
    )


def starts(event: object) -> Answer | None:
    """Return what gathers a stream of `GenerateContentResponse` chunks."""
    return Answer() if takes(event) else None


class Answer:
    """One streamed content: complete at the chunk that says why the model stopped."""

    held: str | None = None

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.model: str | None = None
        self.takes_ids = True
        self._content: Any = None
        self._parts = Parts()
        self._others: set[int] = set()
        self._history = 0

    @property
    def unfinished(self) -> str:
        """The content, until it is finished; candidates that are not recorded."""
        begun = [] if self._content is None else ["a message"]
        return ", ".join([*begun, *filter(None, [others(self._others)])])

    def feed(self, event: Any) -> Iterable[Any]:
        """Take in a chunk; return the content if this chunk ends it.

        The first chunk of an answer to results that the SDK made by itself brings them along.
        """
        if not takes(event):
            return ()
        history = listed(spelled(event, "automatic_function_calling_history"))
        results = history[-1:] if len(history) > self._history else []
        self._history = len(history)
        self.usage = _usage(event) or self.usage
        self.model = spelled(event, "model_version") or self.model
        self.takes_ids = self.takes_ids and not _is_from_vertex(event)
        candidates = listed(spelled(event, "candidates"))
        self._others.update(index for c in candidates if (index := spelled(c, "index")))
        candidate = next((c for c in candidates if not spelled(c, "index")), None)
        content = spelled(candidate, "content")
        if content is not None:
            self._content = content if self._content is None else self._content
            for part in listed(spelled(content, "parts")):
                self._parts.add(part)
        reason = spelled(candidate, "finish_reason")
        return [*results, *(self._finish(reason) if reason else ())]

    def close(self) -> Iterable[Any]:
        """Return nothing: a content is given at once when it is finished."""
        return ()

    def _finish(self, reason: Any) -> list[Any]:
        content, parts = self._content, self._parts.taken(cut_off=reason != "STOP")
        self._content, self._parts = None, Parts()
        return [_by_model(changed(content, parts=parts))] if parts else []


def _by_model(content: Any) -> Any:
    """Return a content of the model with its role, which gemini-2.5-flash sometimes leaves out.

    https://github.com/brekkylab/ailoy/issues/425 (read 2026-11-29). Sent back without one it is the
    user's: "If not set, the service will default to 'user'" (google-genai 3.6.1, `Content`).
    """
    return content if spelled(content, "role") else changed(content, role="model")


def _run_by_sdk(response: Any) -> list[Any]:
    """Return the calls and results, in turn, of the SDK's automatic function calling.

    They stand at the end of the whole history. The SDK writes its results without the calls' ids
    (`Part.from_function_response`, google-genai 3.4.0), which tells them from a host's.
    """
    history = listed(spelled(response, "automatic_function_calling_history"))
    start = len(history)
    while start >= 2 and _is_automatic(history[start - 1]) and _has_call(history[start - 2]):
        start -= 2
    return [_by_model(content) if _has_call(content) else content for content in history[start:]]


def _is_automatic(content: Any) -> bool:
    results = [spelled(part, "function_response") for part in listed(spelled(content, "parts"))]
    return bool(results) and all(r is not None and spelled(r, "id") is None for r in results)


def _has_call(content: Any) -> bool:
    parts = listed(spelled(content, "parts"))
    return any(spelled(part, "function_call") is not None for part in parts)


def _is_from_vertex(response: Any) -> bool:
    """Return whether Vertex AI answered: unlike the Gemini API, it says when, and how it bills.

    Only google-genai's converter for Vertex reads `createTime`, and `trafficType` "is not supported
    in Gemini API" (google-genai 3.4.0). Vertex refuses ids of calls that the Gemini API takes:
    `Unknown name "id" at 'contents[1].parts[0].function_call'`. Sources, read 2026-11-22:
    https://github.com/pydantic/pydantic-ai/issues/5081, https://github.com/vercel/ai/issues/15664
    """
    used = spelled(response, "usage_metadata")
    marks = (spelled(response, "create_time"), spelled(used, "traffic_type"))
    return any(mark is not None for mark in marks)


def _usage(response: Any) -> Usage | None:
    """Return the tokens used; a chunk counts what the chunks before it have used as well."""
    return usage_in(spelled(response, "usage_metadata"))
