"""Chat messages as several providers write them: one reading, and a table of what differs.

Belongs here: what the shapes of chat messages share. What one provider alone has is in its shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, cast

from chatfold.core.native import field
from chatfold.core.views import (
    CallPart,
    ItemView,
    MediaPart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    TextPart,
)
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    block_type,
    call_kind,
    getter,
    is_converse_block,
    listed,
    media_from_url,
    module_of,
    named_id,
    named_place,
    object_text,
    sources_of,
    text_of,
    textless_block,
    unknown_part,
)
from chatfold.shapes._unread import lone_part, misplaced, misplaced_part, unread, whole_call, worded

__all__ = [
    "CHAT_BLOCKS",
    "SHARED_MEDIA",
    "Dialect",
    "Get",
    "has_mistral_ids",
    "is_foreign_block",
    "is_mistral_id",
    "names_mistral",
    "names_ollama",
    "part_text",
    "read_audio",
    "read_block",
    "read_call",
    "read_calls",
    "read_message",
    "read_reasoning",
    "sdk_of",
]

Get: TypeAlias = Callable[[str], Any]
"""Reads a field of one item."""


class Dialect(NamedTuple):
    """How one provider's chat messages differ from the others'.

    Attributes:
        name: Name of the shape.
        roles: The roles that it knows, and whom each speaks for.
        blocks: What reads its content blocks, by their type.
        foreign: Whether a content block is another provider's.
        no_id: A text that stands for a missing call id.
        text_arguments: Whether arguments of calls must be texts.
    """

    name: str
    roles: Mapping[str, Role]
    blocks: Mapping[str, Callable[[Any], Part]]
    foreign: Callable[[Any], bool] = lambda block: False
    no_id: str = ""
    text_arguments: bool = False


# Reading


def read_message(get: Get, role: str, dialect: Dialect) -> ItemView | None:
    """Return the reading of a message, None where one of its blocks is another provider's."""
    content = get("content")
    if dialect.roles[role] == "tool":
        return _read_result(get, role, content, dialect)
    fault = ""
    if isinstance(content, str):
        parts: tuple[Part, ...] = (TextPart(content),)
    elif content is None:
        parts, fault = (), "it has no content" if role == "user" else ""
    elif isinstance(content, list):
        blocks = cast(list[Any], content)
        if any(dialect.foreign(block) for block in blocks):
            return None
        parts = tuple(read_block(block, dialect) for block in blocks)
        fault = textless_block("content", blocks)
    else:
        parts = (lone_part(content, partial(read_block, dialect=dialect)),)
        fault = _other_content(content)
    if role == "assistant":
        if annotations := get("annotations"):
            parts = _citing(parts, annotations)
        parts = (*read_reasoning(get), *parts, *_more(get, parts, dialect))
        fault = fault or misplaced(get)
    name, whole = named_id(get("name")), role == "assistant"
    return ItemView(dialect.roles[role], parts, role, dialect.name, name, None, whole, fault)


def _other_content(content: object) -> str:
    return f"content is {type(content).__name__}, not text or a list"


def _citing(parts: tuple[Part, ...], annotations: object) -> tuple[Part, ...]:
    """Return the parts with what the message cites on the last of its words."""
    texts = [place for place, part in enumerate(parts) if isinstance(part, TextPart)]
    if not texts:
        return parts
    sources = sources_of(annotations, "\n".join(part_text(parts[place]) for place in texts))
    last = cast(TextPart, parts[texts[-1]])._replace(sources=sources)
    return (*parts[: texts[-1]], last, *parts[texts[-1] + 1 :])


def _read_result(get: Get, role: str, content: Any, dialect: Dialect) -> ItemView:
    text, media = _result_content(content, dialect)
    result = ResultPart(
        _call_id(get("tool_call_id"), dialect) if role == "tool" else None,
        named_id(get("name")),
        text,
        media=media,
    )
    fault = ""
    if content is None:
        fault = "it has no content" if role == "tool" else ""
    elif not isinstance(content, (str, list)):
        fault = _other_content(content)
    elif isinstance(content, list):
        fault = textless_block("content", cast(list[Any], content))
    return ItemView("tool", (result,), role, dialect.name, fault=fault)


def _result_content(content: Any, dialect: Dialect) -> tuple[str, tuple[MediaPart, ...]]:
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, list):
        return arguments_text(content), ()
    parts = [read_block(b, dialect) for b in cast(list[Any], content)]
    media = tuple(p for p in parts if isinstance(p, MediaPart))
    return "\n".join(part_text(p) for p in parts if not isinstance(p, MediaPart)), media


def read_block(block: Any, dialect: Dialect) -> Part:
    """Return the reading of a content block."""
    if isinstance(block, str):
        return TextPart(block)
    reader = dialect.blocks.get(block_type(block) or "")
    return unknown_part(block) if reader is None else worded(block, reader(block))


def read_call(call: Any, dialect: Dialect) -> CallPart:
    """Return the reading of a member of `tool_calls`."""
    get = getter(call)
    call_id = _call_id(get("id"), dialect)
    custom = get("custom")
    if custom is not None:
        name, given = named_id(field(custom, "name")), field(custom, "input")
        text = unread(custom, "name") if given is None else arguments_text(given)
        part = CallPart(call_id, name, text, "custom")
    else:
        part = _function_call(get("function"), call_id, dialect)
    return whole_call(call, part) if part.name is None else part


def _function_call(function: Any, call_id: str | None, dialect: Dialect) -> CallPart:
    get = getter(function)
    name, arguments = named_id(get("name")), get("arguments")
    if isinstance(arguments, str):
        return CallPart(call_id, name, arguments, call_kind(name))
    text = unread(function, "name") if arguments is None else arguments_text(arguments)
    if dialect.text_arguments:
        return CallPart(call_id, name, text, call_kind(name), no_text=True)
    return CallPart(call_id, name, text or object_text(arguments), call_kind(name))


def _call_id(value: object, dialect: Dialect) -> str | None:
    found = named_id(value)
    return None if found == dialect.no_id else found


def read_reasoning(get: Get) -> tuple[ReasoningPart, ...]:
    """Return the reasoning that servers other than OpenAI's put on the message."""
    text = get("reasoning_content") or get("reasoning")
    if isinstance(text, str):
        return (ReasoningPart(text),)
    details = listed(get("reasoning_details"))
    if not details:
        return ()
    readable = [text_of(field(d, "text") or field(d, "summary")) for d in details]
    opaque = sum(len(text_of(field(d, "data"))) for d in details)
    return (ReasoningPart("\n".join(t for t in readable if t), opaque),)


def _more(get: Get, parts: tuple[Part, ...], dialect: Dialect) -> Iterator[Part]:
    """Yield what an assistant message holds besides its content."""
    refusal = get("refusal")
    if refusal and not isinstance(refusal, str):
        yield misplaced_part("refusal", refusal)
    elif refusal and TextPart(refusal, "refusal") not in parts:
        yield TextPart(refusal, "refusal")
    audio = get("audio")
    if audio is not None:
        yield read_audio(audio)
    legacy = get("function_call")
    if legacy is not None:
        part = _function_call(legacy, None, dialect)
        yield whole_call(legacy, part) if part.name is None else part
    yield from read_calls(get, dialect)


def read_calls(get: Get, dialect: Dialect) -> Iterator[Part]:
    """Yield the calls of a message; what is no list is shown, and pairs with nothing."""
    calls = get("tool_calls")
    if isinstance(calls, list):
        for call in cast(list[Any], calls):
            yield read_call(call, dialect)
    elif calls:
        yield misplaced_part("tool_calls", calls)


def read_audio(audio: Any) -> MediaPart:
    """Return the reading of what a model said aloud: its words, and how many bytes it was."""
    return MediaPart(
        "audio",
        None,
        base64_size(field(audio, "data")),
        named_id(field(audio, "id")),
        text_of(field(audio, "transcript")),
    )


# Content blocks


def _read_url(block: Any) -> Part:
    kind = block_type(block) or ""
    where = field(block, kind)
    url = where if isinstance(where, str) else field(where, "url")
    return media_from_url(kind.removesuffix("_url"), url)


def _read_audio(block: Any) -> Part:
    audio = field(block, "input_audio")
    form = field(audio, "format")
    return MediaPart("audio", f"audio/{form}" if form else None, base64_size(field(audio, "data")))


def _read_file(block: Any) -> Part:
    file = field(block, "file")
    name, place = named_place(field(file, "filename"), field(file, "file_id"))
    data = field(file, "file_data")
    if isinstance(data, str) and data.startswith("data:"):
        return media_from_url("file", data, name=name)._replace(source=place)
    return MediaPart("file", None, base64_size(data), name, source=place)


def _read_thinking(block: Any) -> Part:
    thoughts = (text_of(field(b, "text")) for b in listed(field(block, "thinking")))
    return ReasoningPart("\n".join(thoughts))


CHAT_BLOCKS: Mapping[str, Callable[[Any], Part]] = {
    "text": lambda block: TextPart(text_of(field(block, "text"))),
    "refusal": lambda block: TextPart(text_of(field(block, "refusal")), "refusal"),
    "image_url": _read_url,
    "video_url": _read_url,
    "input_audio": _read_audio,
    "file": _read_file,
    "thinking": _read_thinking,
}
"""The content blocks of Chat Completions, and those that servers which follow it add."""


def part_text(part: Part) -> str:
    """Return the words of a part, "" where it has none."""
    return str(getattr(part, "text", ""))


# Telling dialects apart


_FOREIGN_BLOCKS = frozenset(
    {
        "input_text",
        "output_text",
        "input_image",
        "input_file",
        "summary_text",
        "function_call",
        "tool_use",
        "tool_result",
        "server_tool_use",
        "redacted_thinking",
        "image",
        "document",
        "search_result",
        "container_upload",
        "compaction",
    }
)


def is_foreign_block(block: object) -> bool:
    """Return whether a content block is of a shape that is no chat messages.

    `thinking` with a text is Anthropic's; other servers have it with a list.
    """
    kind = block_type(block)
    if kind in _FOREIGN_BLOCKS or is_converse_block(block):
        return True
    return kind == "thinking" and isinstance(field(block, "thinking"), str)


def sdk_of(item: object) -> str:
    """Return the name of the SDK whose object an item is, "" for dicts and other objects."""
    name = module_of(item).partition(".")[0] if type(item) is not dict else ""
    return name if name in ("openai", "mistralai", "ollama") else ""


_MISTRAL_CALL_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")


def is_mistral_id(value: object) -> bool:
    """Return whether a value is an id of a call as Mistral's API writes and takes it.

    Source: see `_mistral_rules`.
    """
    return isinstance(value, str) and _MISTRAL_CALL_ID.fullmatch(value) is not None


SHARED_MEDIA: Final = frozenset({"image_url", "input_audio", "file"})
"""The content blocks that Chat Completions and Mistral have beside text."""


def has_mistral_ids(get: Get) -> bool:
    """Return whether a message has calls, or is a result, under ids of Mistral's form alone.

    Servers of Chat Completions that run Mistral's models write them too.
    """
    if get("role") == "tool":
        return is_mistral_id(get("tool_call_id"))
    calls = listed(get("tool_calls"))
    return bool(calls) and all(is_mistral_id(field(call, "id")) for call in calls)


def names_mistral(get: Get) -> bool:
    """Return whether a message has what Mistral's server alone writes or takes.

    Arguments of calls may be objects there, which Chat Completions refuses; beside an id of
    Mistral's form they are Mistral's.
    """
    if get("role") == "assistant" and isinstance(get("prefix"), bool):
        return True
    calls = listed(get("tool_calls"))
    if any(_has_object(call) and is_mistral_id(field(call, "id")) for call in calls):
        return True
    return any(
        block_type(b) in ("reference", "document_url")
        or (block_type(b) == "thinking" and isinstance(field(b, "thinking"), list))
        for b in listed(get("content"))
    )


def _has_object(call: Any) -> bool:
    arguments = field(field(call, "function"), "arguments")
    return not isinstance(arguments, str) and isinstance(arguments, Mapping)  # most are texts


def names_ollama(get: Get) -> bool:
    """Return whether a message has what Ollama's server alone takes.

    Ollama's arguments are objects and its calls have no id, or no type; servers that follow
    OpenAI write both.
    """
    if get("tool_name") is not None or get("images") is not None:
        return True
    if isinstance(get("thinking"), str):
        return True
    return any(
        _has_object(call) and (field(call, "id") is None or field(call, "type") is None)
        for call in listed(get("tool_calls"))
    )
