"""What several shapes share: reading texts, media and arguments; no shape's own rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from chatfold.core.native import bytes_label, field, json_text, plain
from chatfold.core.views import CallKind, MediaPart, UnknownPart

__all__ = [
    "CONVERSE_BLOCKS",
    "arguments_text",
    "base64_size",
    "block_type",
    "call_kind",
    "data_size",
    "fields_or_none",
    "getter",
    "is_converse_block",
    "is_object",
    "json_text",
    "listed",
    "media_from_url",
    "module_of",
    "named_id",
    "named_place",
    "object_text",
    "own_fields",
    "sources_of",
    "text_of",
    "textless",
    "textless_block",
    "unknown_part",
]


CONVERSE_BLOCKS: Final = frozenset(
    {
        "text",
        "image",
        "document",
        "video",
        "audio",
        "toolUse",
        "toolResult",
        "guardContent",
        "cachePoint",
        "reasoningContent",
        "citationsContent",
        "searchResult",
        "toolAddition",
        "toolRemoval",
    }
)
"""Keys of the members of Bedrock's union `ContentBlock`: botocore 1.44.5, bedrock-runtime."""


def getter(item: object) -> Callable[[str], Any]:
    """Return what reads a field of a dict or an SDK object."""
    fields: Any = item
    if type(item) is not dict:
        return lambda key: field(item, key)
    return partial(field, fields) if tuple in map(type, fields.values()) else fields.get


_SDKS: Final = ("openai.types", "anthropic.types", "google.genai.", "mistralai", "ollama")


def module_of(item: object) -> str:
    """Return the module of an object's class, "" for dicts.

    Of a class that is derived from one of an SDK's, it is the module of that one.
    """
    if type(item) is dict or isinstance(item, Mapping):  # the first test is the quick one
        return ""
    module = type(item).__module__
    if module.startswith(_SDKS):  # as most
        return module
    bases = (base.__module__ for base in type(item).__mro__)
    return next((base for base in bases if base.startswith(_SDKS)), module)


def listed(value: Any) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return cast(list[Any], value) if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text as it is, "" for None, and what else stands in its place as text."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def textless_block(where: str, blocks: Sequence[Any], *, nothing: bool = True) -> str:
    """Return which text of a content list is no text, "" where all are.

    Only dicts are looked at: SDKs check what their objects hold.

    Args:
        where: What the list is called.
        blocks: The blocks of the list.
        nothing: Whether null, or no such field, counts too: some shapes tell of it as blank.
    """
    for place, block in enumerate(blocks):
        if type(block) is not dict:
            continue
        given = cast(dict[str, Any], block)
        if type(said := given.get("text")) is str:  # as most
            continue
        kind = given.get("type")
        if kind == "refusal":
            said = given.get("refusal")
        elif kind not in _TEXTS:
            continue
        if not isinstance(said, str) and (said is not None or nothing):
            key = "refusal" if kind == "refusal" else "text"
            return f"the {key} of {where}[{place}] is {type(said).__name__}, not text"
    return ""


_TEXTS: Final = ("text", "input_text", "output_text")


def fields_or_none(value: Any) -> dict[str, Any] | None:
    """Return a dict as it is, None for anything else."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def own_fields(item: Any) -> dict[str, Any]:
    """Return the fields of an item for a copy of it: of a dict as they are, with lists for tuples.

    Of an SDK object they have their wire names.
    """
    given = fields_or_none(item)
    if given is None:
        return cast("dict[str, Any]", plain(item))
    return {key: field(given, key) for key in given}


def block_type(block: object) -> str | None:
    """Return the `type` of a content block, None where it has none."""
    kind = field(block, "type")
    return kind if isinstance(kind, str) else None


def is_converse_block(block: object) -> bool:
    """Return whether a content block is one of Bedrock's: it has no `type`, its key says it."""
    if not isinstance(block, Mapping) or "type" in block:
        return False
    return not CONVERSE_BLOCKS.isdisjoint(cast(Mapping[str, Any], block))


def named_id(value: object) -> str | None:
    """Return an id or a name, None where it is missing or empty."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else str(value)


def arguments_text(value: Any) -> str:
    """Return the arguments of a call as text: as the model wrote them, or as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(plain(value, encode=bytes_label), ensure_ascii=False)


def is_object(value: object) -> bool:
    """Return whether arguments are an object: a dict, or what an SDK has made of one.

    Blocks of Anthropic's toolsets have models of their own as their inputs: anthropic 2.14.0,
    `ToolsetToolUseBlock`.
    """
    return isinstance(value, Mapping) or hasattr(value, "model_dump")


def object_text(value: Any) -> str:
    """Return as JSON what stands where a call's arguments are an object: none is one without any.

    Gemini leaves the field out: https://github.com/anomalyco/opencode/pull/43111 (read 2026-11-27).
    """
    return "{}" if value is None else arguments_text(value)


def textless(where: str, value: object) -> str:
    """Return the words in which OpenAI's servers refuse a value at a place that is no text.

    "Invalid type for 'messages[1].content': expected one of a string or array of objects, but got
    an object instead.": https://github.com/pydantic/pydantic-ai/issues/2653, and for arguments
    https://github.com/Wei-Shaw/sub2api/issues/3818 (both read 2026-11-26).
    """
    kinds = {"NoneType": "null", "dict": "an object", "list": "an array"}
    found = kinds.get(type(value).__name__, f"a {type(value).__name__}")
    return f"Invalid type for '{where}': expected a string, but got {found} instead."


def call_kind(name: str | None) -> CallKind:
    """Return the kind of a function call: a tool named `transfer_to_...` hands over."""
    return "handoff" if name is not None and name.startswith("transfer_to_") else "function"


def unknown_part(block: object, *, known: bool = False) -> UnknownPart:
    """Return the generic reading of a block that has no reading of its own."""
    if isinstance(block, str):
        return UnknownPart("", block, known=known)
    return UnknownPart(block_type(block) or "", json_text(block), known=known)


def sources_of(cited: object, text: str) -> tuple[str, ...]:
    """Return what a text cites besides its own words: of each source title, place and passage.

    The place is a URL or the id of a file; the passage, what is cited word for word where nothing
    else holds it in readable form: a page on the web, a PDF, a file that was uploaded.

    Args:
        cited: The annotations or citations beside the text, in any provider's form.
        text: The words.
    """
    if not cited or not isinstance(cited, list):
        return ()
    found: dict[str, None] = {}
    for one in cast(list[Any], cited):
        source = field(one, "url_citation") or field(one, "value") or one
        url = field(source, "url") or field(field(field(source, "location"), "web"), "url")
        names = ("file_id", "container_id")
        ids = [field(source, name) or field(field(source, "extras"), name) for name in names]
        places = [str(place) for place in (url, field(source, "source"), *ids) if place]
        passage = _passage(source, by_place=bool(url or any(ids)))
        if (passage and passage not in text) or any(place not in text for place in places):
            titles = [field(source, name) for name in ("title", "filename", "document_title")]
            title = next((str(each) for each in titles if each), "")
            found[" ".join(each for each in (title, *places, passage) if each)] = None
    return tuple(found)


# Locations in what the conversation itself holds as text. Anthropic's, and the one of Bedrock's.
_IN_TEXT: Final = frozenset({"char_location", "content_block_location", "search_result_location"})


def _passage(source: Any, *, by_place: bool) -> str:
    """Return the words that are cited, "" where a text of the conversation holds them.

    Args:
        source: The citation.
        by_place: Whether it is of a page on the web or of an uploaded file.
    """
    in_text = block_type(source) in _IN_TEXT or (
        field(field(source, "location"), "searchResultLocation") is not None
    )
    if in_text and not by_place:
        return ""
    said = field(source, "cited_text")
    if said is None:  # of Bedrock
        parts = listed(field(source, "sourceContent"))
        return "\n".join(text_of(field(part, "text")) for part in parts)
    return text_of(said)


def named_place(name: object, place: object) -> tuple[str | None, str]:
    """Return what a medium is called, and where it is besides: its id or URL is lost otherwise."""
    label, where = named_id(name), named_id(place)
    return (label, where or "") if label else (where, "")


def media_from_url(kind: str, url: object, *, name: object = None, text: str = "") -> MediaPart:
    """Return the reading of a medium at a URL; the bytes of a `data:` URL are only counted."""
    label = named_id(name)
    if not isinstance(url, str):
        return MediaPart(kind, None, None, label, text)
    if not url.startswith("data:"):
        label, place = named_place(name, url)
        return MediaPart(kind, None, None, label, text, place)
    head, _, data = url[5:].partition(",")
    return MediaPart(kind, head.split(";")[0] or None, base64_size(data), label, text)


def base64_size(data: object) -> int | None:
    """Return how many bytes a base64 text holds, None where there is no text."""
    if not isinstance(data, str):
        return None
    return len(data) * 3 // 4 - data[-2:].count("=")


def data_size(data: Any) -> int | None:
    """Return how many bytes there are: SDKs hold bytes, the wire and a reloaded list base64."""
    return len(data) if isinstance(data, (bytes, bytearray)) else base64_size(data)
