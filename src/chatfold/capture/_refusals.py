"""What to say of values that are no response or no stream: what they are, and what to write."""

from __future__ import annotations

import inspect
from typing import Any

from chatfold.capture._sdk import is_a
from chatfold.core.native import field

__all__ = ["no_response", "no_stream", "unreadable"]

_RAW = (
    "LegacyAPIResponse",
    "BaseAPIResponse",
    "ResponseContextManager",
    "AsyncResponseContextManager",
)


def no_response(value: Any) -> str:
    """Return why `add_response` does not take a value, and what to pass instead."""
    name = type(value).__name__
    if common := _wrapped(value):
        return f"add_response() got {common}"
    if field(value, "object") == "response.compaction":
        return (
            f"add_response() got a {name}, which stands for the whole history; start a new list "
            "with its output instead of adding it"
        )
    if _is_stream(value):
        return (
            f"add_response() got a stream ({name}); read it through ctx.record(stream), which "
            "stores its items"
        )
    if isinstance(value, list):
        return (
            "add_response() got a list; pass the whole response, or add items with ctx.extend(...)"
        )
    if field(value, "role") is not None or field(value, "type") is not None:
        return (
            f"add_response() got an item or a part of one ({name}), not a response; pass the "
            "whole response, or add an item with ctx.append(...)"
        )
    return (
        f"add_response() got {name}; pass what the SDK's call returned, such as a ChatCompletion, "
        "a Response or a Message, as an object or a dict"
    )


def unreadable(response: Any, error: Exception) -> str:
    """Return that a response was not taken as it holds what no provider sends, and what to do."""
    return (
        f"add_response() cannot read what this {type(response).__name__} holds "
        f"({type(error).__name__}: {error}), and added nothing; correct the response, or ask again"
    )


def no_stream(value: Any, *, whole: bool) -> str | None:
    """Return why `record` does not take a value, and what to pass; None where it does.

    Args:
        value: What was passed.
        whole: Whether it is a whole response.
    """
    name = type(value).__name__
    if common := _wrapped(value):
        return f"record() got {common}"
    if whole:
        return (
            f"record() got a whole response ({name}); pass it to ctx.add_response(...), or make "
            "the call with stream=True"
        )
    if _is_stream(value) or (_has(value, "__iter__") and not _is_data(value)):
        return None
    return (
        f"record() got {name}; pass the stream that the SDK's call returned with stream=True, or "
        "what its stream() helper returned"
    )


def _wrapped(value: Any) -> str | None:
    """Return what hides the response inside of it, and how to get at it."""
    name = type(value).__name__
    if inspect.isawaitable(value):
        return f"a {name} that nobody has awaited; write `await` before the SDK's call"
    if is_a(value, type(value).__module__.partition(".")[0], *_RAW):
        return f"a raw response ({name}); pass what its parse() returns"
    return None


def _is_stream(value: Any) -> bool:
    return _has(value, "__next__", "__anext__", "__aiter__", "__enter__", "__aenter__")


def _is_data(value: Any) -> bool:
    """Return whether a value is iterable for another reason: an SDK's object, by its fields."""
    return _has(value, "model_fields") or isinstance(value, (str, bytes, dict))


def _has(value: object, *names: str) -> bool:
    return any(hasattr(type(value), name) for name in names)
