"""What a tool returned, or how it failed, as text for the model; nothing here calls a tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence, Set, ValuesView
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from chatfold.core.native import bytes_label

__all__ = [
    "KINDS",
    "Failure",
    "FailureKind",
    "cut",
    "described",
    "result_text",
    "sendable",
    "sendable_block",
]

FailureKind: TypeAlias = Literal[
    "cut_off",
    "unknown_tool",
    "no_json",
    "no_object",
    "misfit",
    "raised",
    "no_text",
    "timeout",
    "interrupted",
    "not_started",
    "no_thread",
]
"""Why a call has no result of its own; `prompts/tool_error.jinja` has the words for each."""

KINDS: Final[tuple[FailureKind, ...]] = get_args(FailureKind)

_LONGEST: Final = 2_000  # characters of an error's own words, or of a list of names


class Failure(NamedTuple):
    """Why a call has no result of its own; `detail` is what Python or a parser said."""

    kind: FailureKind
    detail: str = ""
    whole: bool = False  # the words are the tool's own result, which is not cut


def result_text(value: object) -> str:
    """Return what a tool returned as text: a string as it is, None as "", all else as JSON.

    Values that JSON has no form for are written as what they are: pydantic models, dataclasses
    and named tuples as objects, sets as sorted lists, dates as ISO 8601, bytes as their number,
    and others by their own `str()`.

    Raises:
        TypeError: A value has no text of its own, such as a generator or a bare `object()`.
        Exception: Whatever the value's own code raises; a value that holds itself, for one, is a
            RecursionError.
    """
    if value is None:
        return ""
    made = _plain(value)
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return `value` as JSON types."""
    if isinstance(value, Enum):  # before the types that an enumeration may also be
        return _plain(value.value)
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes_label(bytes(cast("bytes", value)))
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {_key(k): _plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, type):
        raise _no_text(value)
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    """Return an instance of a class that JSON does not know as JSON types."""
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    cls = cast("type[Any]", type(value))
    for method in ("model_dump", "_asdict"):  # a pydantic model, a named tuple
        dump = getattr(cls, method, None)
        if callable(dump):
            return _plain(dump(value))
    if isinstance(value, Set):
        # Sorted: the order of a set differs from one process to the next.
        return sorted(map(_plain, cast("Set[Any]", value)), key=json.dumps)
    if isinstance(value, (Sequence, ValuesView)):
        return [_plain(v) for v in cast("Sequence[Any]", value)]
    if isinstance(value, (Iterator, AsyncIterator)) or not _speaks_for_itself(cls):
        raise _no_text(cls)
    return str(value)


def _speaks_for_itself(cls: type[Any]) -> bool:
    """Return whether `str()` of an instance says more than its class and address."""
    own = cls.__mro__[:-1]  # all but `object`
    return any("__str__" in vars(base) or "__repr__" in vars(base) for base in own)


def _no_text(cls: type[Any]) -> TypeError:
    return TypeError(f"{cls.__module__}.{cls.__qualname__} has no text form")


def _key(key: Any) -> str:
    made = _plain(key)
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def described(error: BaseException) -> str:
    """Return type and message of an exception; of a group's, those of what it holds."""
    if isinstance(error, BaseExceptionGroup):
        held = cast("BaseExceptionGroup[BaseException]", error)
        return "; ".join(map(described, held.exceptions))
    name = type(error).__name__
    try:
        message = str(error)
    except BaseException:  # the error's own code, which is as broken as the tool that raised it
        message = ""
    return f"{name}: {message}" if message else name


def cut(text: str) -> str:
    """Return `text`, its end cut off where it is too long for an error's words."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def sendable_block(block: Any) -> Any:
    """Return a copy of a block with its texts sendable: the tool may write to its own later."""
    if isinstance(block, Enum):
        return sendable_block(block.value)
    if isinstance(block, str):
        return sendable(block)
    if isinstance(block, Mapping):
        fields = cast("Mapping[str, Any]", block)
        return {sendable(key): sendable_block(inner) for key, inner in fields.items()}
    if isinstance(block, (list, tuple)):
        return [*map(sendable_block, cast("Sequence[Any]", block))]
    return bytes(block) if isinstance(block, bytearray) else block


def sendable(text: str) -> str:
    """Return `text` without lone surrogates: UTF-8 has none, so no request could carry them.

    Two that make up a character become it; others become U+FFFD. File names that Python could not
    decode hold such.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
