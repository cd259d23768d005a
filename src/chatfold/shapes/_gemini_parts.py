"""How the parts of a Gemini content are read; part of the shape `gemini`.

Sources: the types of google-genai 3.4.0 (`Part`), read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from operator import is_
from typing import Any, Final, cast

from chatfold.core.markers import GIVEN
from chatfold.core.native import field, plain
from chatfold.core.views import (
    CallPart,
    MediaPart,
    Part,
    ReasoningPart,
    ResultPart,
    TextPart,
    UnknownPart,
)
from chatfold.shapes._blocks import (
    arguments_text,
    call_kind,
    data_size,
    json_text,
    listed,
    named_id,
    named_place,
)
from chatfold.shapes._unread import unread

__all__ = [
    "NOTES",
    "READERS",
    "fault_of",
    "has_object",
    "holds_own",
    "new_fields",
    "read_call",
    "read_part",
    "spelled",
]

NOTES: Final = frozenset(
    {
        "thought",
        "thought_signature",
        "media_resolution",
        "video_metadata",
        "part_metadata",
        "audio_transcription",
        "media_processing",
        "speech_metadata",
        "document_metadata",
        "spreadsheet_metadata",
        "audio_metadata",
    }
)
"""Fields of a part that say something of what it holds, in the spelling of Python."""


def spelled(source: object, key: str) -> Any:
    """Return a field by its name in Python, or by its name on the wire, which only dicts have."""
    value = field(source, key)
    if value is None and "_" in key and isinstance(source, Mapping):
        value = field(cast(object, source), _wire(key))
    return value


def holds_own(block: object) -> bool:
    """Return whether a part has one of the fields that say what it holds."""
    return bool(_contents(block))


def read_part(block: Any) -> tuple[Part, ...]:
    """Return the readings of one part: two where it holds a signature and something to read."""
    size = data_size(spelled(block, "thought_signature")) or 0
    found = [READERS[key](value, block) for key, value in _contents(block)]
    if not found:
        found = [ReasoningPart("")] if size else [_unknown(block)]
    first = found[0]
    if type(first) is TextPart and not first.text and size:
        first = ReasoningPart("")  # a stream ends with a part that carries the signature alone
    if isinstance(first, ReasoningPart):
        return (ReasoningPart(first.text, 0 if first.text else size), *found[1:])
    return (ReasoningPart("", size), *found) if size else tuple(found)


def _contents(block: Any) -> list[tuple[str, Any]]:
    """Return what a part holds as fields and values, in the order of `READERS`: mostly one."""
    keys: Iterable[str] = READERS
    written: object = block
    if isinstance(written, dict):  # a look at its keys is quicker than to ask for each field
        keys = [key for key in READERS if key in written or _wire(key) in written]
    return [(key, value) for key in keys if (value := spelled(block, key)) is not None]


def _text(text: Any, block: Any) -> Part:
    words = text if isinstance(text, str) else str(text)
    return ReasoningPart(words) if field(block, "thought") else TextPart(words)


def read_call(call: Any) -> CallPart:
    """Return the reading of a function call."""
    name = named_id(field(call, "name"))
    arguments = field(call, "args")
    if arguments is None:
        arguments = spelled(call, "partial_args")
    text = arguments_text(arguments) if arguments is not None else unread(call, *_CALL_FIELDS)
    return CallPart(named_id(field(call, "id")), name, text or "{}", call_kind(name))


_CALL_FIELDS: Final = ("id", "name", "will_continue", "willContinue")


def has_object(call: Any) -> bool:
    """Return whether the arguments of a function call are an object, as far as there are any."""
    arguments = field(call, "args")
    return arguments is None or isinstance(arguments, Mapping)


def fault_of(blocks: list[Any]) -> str:
    """Return what is malformed about the texts and the responses of a content, "" if nothing is.

    A response is a Struct, so that a list is refused: "Proto field is not repeating, cannot start
    list.", https://github.com/google/adk-js/pull/347 (read 2026-11-27).
    """
    for block in blocks:
        if not isinstance(block, Mapping):  # the SDK checks its objects
            continue
        given = cast(Mapping[str, Any], block)
        text, result = given.get("text"), given.get("function_response")
        result = given.get("functionResponse") if result is None else result
        response = None if result is None else field(result, "response")
        if text is not None and not isinstance(text, str):
            return f"a text is {type(text).__name__}, not text"
        if response is not None and not isinstance(response, Mapping):
            return f"a function response is {type(response).__name__}, not an object"
    return ""


def _result(result: Any, block: Any) -> Part:
    media = [m for p in listed(field(result, "parts")) for m in _media(p)]
    response = field(result, "response")
    return ResultPart(
        named_id(field(result, "id")),
        named_id(field(result, "name")),
        _response_text(response),
        _says_error(response),
        media=tuple(media),
    )


def _response_text(response: Any) -> str:
    """Return the words of a response, without the key that only says what they are."""
    if isinstance(response, Mapping):
        fields = cast(Mapping[Any, Any], response)
        for key in ("result", "output", "error"):
            if len(fields) == 1 and isinstance(fields.get(key), str):
                return str(fields[key])
    return arguments_text(response)


def _says_error(response: Any) -> bool:
    """Return whether a response gives details of an error; an empty `error` says there is none.

    "Use "output" key to specify function output and "error" key to specify error details (if
    any)", says `FunctionResponse.response`.
    """
    return isinstance(response, Mapping) and bool(field(cast(object, response), "error"))


def _code(code: Any, block: Any) -> Part:
    words = arguments_text(field(code, "code"))
    id_ = named_id(field(code, "id"))
    return CallPart(id_, "code_execution", words, "server", "server_code", served=True)


def _code_result(result: Any, block: Any) -> Part:
    outcome = _word(field(result, "outcome"))
    failed = outcome not in (None, "OUTCOME_OK", "OUTCOME_UNSPECIFIED")
    words = arguments_text(field(result, "output"))
    id_ = named_id(field(result, "id"))
    return ResultPart(id_, "code_execution", words, failed, "server_code")


def _tool_call(call: Any, block: Any) -> Part:
    name = _word(spelled(call, "tool_type"))
    words = arguments_text(field(call, "args"))
    return CallPart(named_id(field(call, "id")), name, words, "server", "server_tool", served=True)


def _tool_response(result: Any, block: Any) -> Part:
    response = field(result, "response")
    return ResultPart(
        named_id(field(result, "id")),
        _word(spelled(result, "tool_type")),
        _response_text(response),
        _says_error(response),
        "server_tool",
    )


def _inline(blob: Any, block: Any) -> MediaPart:
    mime = named_id(spelled(blob, "mime_type"))
    name = named_id(spelled(blob, "display_name"))
    return MediaPart(_kind(mime), mime, data_size(field(blob, "data")), name, _transcript(block))


def _file(file: Any, block: Any) -> MediaPart:
    mime = named_id(spelled(file, "mime_type"))
    name, place = named_place(spelled(file, "display_name"), spelled(file, "file_uri"))
    return MediaPart(_kind(mime), mime, None, name, _transcript(block), place)


def _media(block: Any) -> Iterator[MediaPart]:
    """Yield the media of a part, or of a part of a function's response."""
    if (blob := spelled(block, "inline_data")) is not None:
        yield _inline(blob, block)
    if (file := spelled(block, "file_data")) is not None:
        yield _file(file, block)


def _transcript(block: Any) -> str:
    return arguments_text(field(spelled(block, "audio_transcription"), "text"))


def _kind(mime: str | None) -> str:
    kind = (mime or "").partition("/")[0]
    return kind if kind in ("image", "audio", "video") else "file"


def _word(value: Any) -> str | None:
    return named_id(value.value if isinstance(value, Enum) else value)


READERS: Final[Mapping[str, Callable[[Any, Any], Part]]] = {
    "text": _text,
    "function_call": lambda call, block: read_call(call),
    "function_response": _result,
    "inline_data": _inline,
    "file_data": _file,
    "executable_code": _code,
    "code_execution_result": _code_result,
    "tool_call": _tool_call,
    "tool_response": _tool_response,
}


def _unknown(block: Any) -> UnknownPart:
    """Return the generic reading of a part that holds nothing that is known."""
    new = new_fields(block)
    return UnknownPart(",".join(new), json_text(block), known=not new and _is_note(block))


def _is_note(block: Any) -> bool:
    return any(spelled(block, key) is not None for key in NOTES)


def new_fields(block: object) -> list[str]:
    """Return the fields that no part is known to have: a new kind of content."""
    fields = plain(block)
    if not isinstance(fields, dict):
        return []
    given = cast(dict[str, Any], fields)
    return [key for key, value in given.items() if value is not None and key not in _KNOWN]


def on_the_wire(value: Any, levels: int = 8) -> Any:
    """Return a content with the names of its fields as they are on the wire; itself if they are.

    What is given to a tool, or by it, has names of its own.

    Args:
        value: A content, or a part of one; objects are dumped so in any case.
        levels: How deep to look; a content whose result holds media is eight deep.
    """
    if not levels:
        return value
    if type(value) is dict:
        fields = cast("dict[Any, Any]", value)
        inside = [
            inner
            if key in GIVEN or type(inner) not in (dict, list)
            else on_the_wire(inner, levels - 1)
            for key, inner in fields.items()
        ]
        spelled_so = not any(type(key) is str and "_" in key for key in fields)
        if spelled_so and all(map(is_, inside, fields.values())):
            return fields
        keys = (_wire(key) if type(key) is str and "_" in key else key for key in fields)
        return dict(zip(keys, inside, strict=True))
    if type(value) is list:
        members = cast("list[Any]", value)
        told = [on_the_wire(inner, levels - 1) for inner in members]
        return members if all(map(is_, told, members)) else told
    return value


def _wire(key: str) -> str:
    """Return a field's name as it is on the wire; of one that is not known it is made anew."""
    return _WIRE.get(key) or _spelled(key)


def _spelled(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.title() for word in rest)


_WIRE: Final = {key: _spelled(key) for key in (*READERS, *NOTES)}
_KNOWN: Final = frozenset((*_WIRE, *_WIRE.values()))
