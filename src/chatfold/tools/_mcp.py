"""Results of the Model Context Protocol, as its SDKs return them or as JSON; known by their form.

`mcp` need not be installed, and is never imported. Source:
https://modelcontextprotocol.io/specification/2025-06-18/server/tools (read 2026-11-29).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from chatfold.core.forms import (
    Form,
    base64_text,
    either,
    filled,
    list_of,
    one_of,
    record,
    text,
)
from chatfold.core.native import field, json_text
from chatfold.core.views import Medium
from chatfold.tools._texts import result_text

__all__ = ["McpResult", "mcp_result"]


class McpResult(NamedTuple):
    """What a tool of MCP's returned.

    Attributes:
        pieces: Its content in order, and what is structured as JSON, unless the content says it.
        failed: Whether it says that the tool failed.
    """

    pieces: tuple[str | Medium, ...]
    failed: bool = False


def _anything(value: object) -> bool:
    return True


# Not for the model: whom a content is for and how much it matters, and what a client needs.
_ASIDE: Final[dict[str, Form]] = dict.fromkeys(("annotations", "_meta", "meta", "icons"), _anything)
_TYPED: Final[dict[str, Form]] = {"mimeType": filled, "mime_type": filled}
_MEDIUM = record({"type": one_of("image", "audio"), "data": base64_text}, {**_ASIDE, **_TYPED})
_TEXT = record({"type": one_of("text"), "text": text}, _ASIDE)
_WORDS = record({"uri": filled, "text": text}, {**_ASIDE, **_TYPED})
_BLOB = record({"uri": filled, "blob": base64_text}, {**_ASIDE, **_TYPED})
_RESOURCE = record({"type": one_of("resource"), "resource": either(_WORDS, _BLOB)}, _ASIDE)
_LINK = record(
    {"type": one_of("resource_link"), "uri": filled, "name": text},
    {**_ASIDE, **_TYPED, "title": text, "description": text, "size": _anything},
)


def _is_medium(value: object) -> bool:
    """Return whether a value is a picture, a sound or a resource; of a medium, the type is said."""
    return (_MEDIUM(value) and _mime(value) is not None) or _RESOURCE(value)


_CONTENT = either(_TEXT, _is_medium, _LINK)
_RESULT = record(
    {"content": either(list_of(_CONTENT), lambda value: isinstance(value, list) and not value)},
    {
        **_ASIDE,
        **dict.fromkeys(("isError", "is_error"), one_of(True, False)),
        **dict.fromkeys(("structuredContent", "structured_content"), _anything),
        **dict.fromkeys(("resultType", "result_type"), text),
    },
)
_WHOLE: Final = frozenset({"CallToolResult"})
_CLASSES: Final = frozenset(
    {"TextContent", "ImageContent", "AudioContent", "EmbeddedResource", "ResourceLink"}
)


def mcp_result(value: object) -> McpResult | None:
    """Return the reading of a result of MCP's, None where the value is none.

    An object is one by its class: a `CallToolResult`, or a content, or a list with one. Of JSON
    that has the form of one, a whole result has to say whether it failed, or to hold a medium, and
    a list of contents has to hold one: what is text alone may as well be anything else.

    Raises:
        Exception: As `result_text`, of what stands in a list beside contents.
    """
    if _is_below(type(value), _WHOLE) and isinstance(field(value, "content"), list):
        return _whole({key: field(value, key) for key in _OF_RESULT})
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        if not _RESULT(fields):
            return McpResult((_piece(fields),)) if _is_medium(fields) else None
        says = any(fields.get(key) is not None for key in ("isError", "is_error"))
        return _whole(fields) if says or any(map(_is_medium, fields["content"])) else None
    in_list = isinstance(value, (list, tuple))
    members = cast("Sequence[object]", value) if in_list else (value,)
    kinds = {type(each) for each in members}
    if not any(issubclass(k, Mapping) or _is_below(k, _CLASSES) for k in kinds):
        return None
    told = [(each, _as_json(each)) for each in members]
    sure = any(c is not each and _CONTENT(c) for each, c in told)
    if not sure and not (any(map(_is_medium, members)) and all(map(_CONTENT, members))):
        return None
    return McpResult(tuple(_piece(c) if _CONTENT(c) else result_text(each) for each, c in told))


_OF_RESULT: Final = (
    *("content", "isError", "is_error"),
    *("structuredContent", "structured_content"),
)


def _is_below(cls: type[Any], names: frozenset[str]) -> bool:
    """Return whether a class has one of these names, or is derived from one that has."""
    return not names.isdisjoint(base.__name__ for base in cls.__mro__)


def _as_json(value: Any) -> Any:
    """Return a content that is the SDK's object as a dict; anything else as it is."""
    if not _is_below(type(cast("object", value)), _CLASSES) or not hasattr(value, "model_dump"):
        return value
    try:
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    except Exception:  # a class of the caller's own that is called so
        return value


def _whole(fields: Mapping[str, Any]) -> McpResult:
    contents = map(_as_json, fields["content"])
    # One of a new kind may have data, which is not for words.
    pieces = tuple(_piece(c) if _CONTENT(c) else json_text(c) for c in contents)
    failed = bool(fields.get("isError") or fields.get("is_error"))
    structured = fields.get("structuredContent")
    structured = fields.get("structured_content") if structured is None else structured
    if structured is not None and not _says(pieces, structured):
        pieces = (*pieces, json.dumps(structured, ensure_ascii=False, default=str))
    return McpResult(pieces, failed)


def _says(pieces: Sequence[str | Medium], structured: Any) -> bool:
    """Return whether texts say what is structured.

    A tool "SHOULD also return the serialized JSON in a TextContent block"; the SDKs for Python put
    a result that is no object under `result`, and write each member of a list as a text.
    """
    said = [_parsed(piece) for piece in pieces if isinstance(piece, str)]
    inner = structured
    if isinstance(structured, Mapping):
        fields = cast("Mapping[str, Any]", structured)
        inner = fields["result"] if [*fields] == ["result"] else fields
    told = (inner, str(inner))
    return said == inner or any(each in told for each in said)


def _parsed(words: str) -> Any:
    try:
        return json.loads(words)
    except (ValueError, RecursionError):
        return words


def _piece(content: Any) -> str | Medium:
    """Return the reading of a content."""
    match field(content, "type"):
        case "text":
            return str(field(content, "text"))
        case "image" | "audio":
            data, mime = field(content, "data"), str(_mime(content))
            return Medium(field(content, "type"), mime, "".join(data.split()))
        case "resource":
            return _resource(field(content, "resource"))
        case _:
            told = {k: v for k, v in content.items() if k not in _ASIDE and v is not None}
            return json.dumps(told, ensure_ascii=False)


def _resource(resource: Any) -> str | Medium:
    uri, words = field(resource, "uri"), field(resource, "text")
    if words is not None:
        return f"{uri}\n{words}"
    mime = _mime(resource) or "application/octet-stream"
    kind = mime.partition("/")[0]
    kind = kind if kind in ("image", "audio", "video") else "file"
    return Medium(kind, mime, "".join(field(resource, "blob").split()), uri)


def _mime(content: object) -> str | None:
    found = field(content, "mimeType") or field(content, "mime_type")
    return None if found is None else str(found)
