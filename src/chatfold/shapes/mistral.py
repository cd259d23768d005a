"""The shape `mistral`: messages of Mistral's chat completions, as far as they are its own.

Sources: the types of mistralai 3.7.0 (`ChatCompletionRequestMessage`); what is refused is in
`_mistral_rules`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, cast

from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.native import field, fields_of, json_text, plain
from chatfold.core.views import (
    CallPart,
    Fit,
    ItemView,
    MediaPart,
    Medium,
    Part,
    Placement,
    ReasoningPart,
    ResultPart,
    Role,
    Shape,
)
from chatfold.errors import ShapeError
from chatfold.shapes._blocks import (
    base64_size,
    block_type,
    getter,
    listed,
    media_from_url,
    module_of,
    named_id,
    own_fields,
    text_of,
)
from chatfold.shapes._chat import (
    CHAT_BLOCKS,
    SHARED_MEDIA,
    Dialect,
    Get,
    has_mistral_ids,
    is_foreign_block,
    is_mistral_id,
    names_mistral,
    part_text,
    read_block,
    read_call,
    read_message,
    sdk_of,
)
from chatfold.shapes._chat_picked import picked, stays_whole
from chatfold.shapes._mistral_results import blocks_of_result, result_block
from chatfold.shapes._mistral_rules import check_messages, place_kept, user_may_follow
from chatfold.shapes._results import with_blocks
from chatfold.shapes._unread import unlisted

__all__ = ["Mistral"]

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_FOREIGN_KEYS = (
    *("type", "parts", "function_call", "refusal", "audio"),
    *("tool_name", "images", "thinking"),
)
_NULL = "null"  # what the SDK's `ToolCall` has as its id where the server gave none


class Mistral(Shape):
    """Mistral's messages: as Chat Completions, with ids of nine characters and a strict order."""

    name = "mistral"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a message of Mistral's."""
        get = _getter(item)
        role = get("role")
        if role not in _ROLES or _is_foreign(get):
            return "no"
        if module_of(item):
            return "yes" if module_of(item).startswith("mistralai") else "no"
        if names_mistral(get):
            return "yes"
        if role == "tool":
            if has_mistral_ids(get) and not get("name"):  # a name beside it tells neither
                return "also"
            return "maybe" if get("tool_call_id") else "no"
        content = get("content")
        chunks = {block_type(b) for b in listed(content)}
        says = isinstance(content, str) or chunks or get("tool_calls")
        if not says or not chunks <= _CHUNKS or get("name"):
            return "no"
        return "also" if chunks & SHARED_MEDIA or has_mistral_ids(get) else "maybe"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of a message, None where it is of another shape."""
        get = _getter(item)
        role = get("role")
        if role not in _ROLES or sdk_of(item) not in ("", "mistralai") or _is_foreign(get):
            return None
        return read_message(get, role, _DIALECT)

    def said(self, item: Any) -> Any:
        """Return a message without fields at their default: the SDK's JSON has them all."""
        item = _plain(item)
        if type(item) is not dict:
            return item
        fields = cast("dict[str, Any]", item)
        calls = listed(fields.get("tool_calls"))
        if fields.get("prefix") is not False and not calls:
            return fields
        told = {key: value for key, value in fields.items() if (key, value) != ("prefix", False)}
        if calls:
            told["tool_calls"] = [*map(_told, calls)]
        return told

    def place(
        self,
        kept: Sequence[int],
        tail: int,
        views: Sequence[ItemView],
        *,
        behind: Role = "user",
    ) -> Placement:
        """Return what must stay between kept items that may not stand behind each other."""
        return place_kept(kept, tail, views)

    def user_may_follow(self, views: Sequence[ItemView], index: int) -> bool:
        """Return whether the item is no result: the model answers these first."""
        return user_may_follow(views[index])

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Return what Mistral's API would refuse."""
        return check_messages(items, views, calls)

    def summary_item(self, text: str, *, role: str) -> dict[str, Any]:
        """Return a message of that role that holds `text`.

        Raises:
            ShapeError: Mistral has no such role, or it cannot hold a summary.
        """
        if role not in ("system", "user", "assistant"):
            raise ShapeError(f"a summary cannot be a message of {role!r} here", shape=self.name)
        return {"role": role, "content": text}

    def result_item(
        self, call: ToolCallRecord, text: str, *, failed: bool = False
    ) -> dict[str, Any]:
        """Return the `tool` message that answers `call`.

        Raises:
            ShapeError: The call has no id to answer to.
        """
        if call.id is None:
            raise ShapeError(
                "the call has no id to answer to", shape=self.name, index=call.call_index
            )
        name = {} if call.name is None else {"name": call.name}
        return {"role": "tool", "tool_call_id": call.id, **name, "content": text}

    def own_blocks(self, returned: Sequence[Any], *, model: str | None) -> Sequence[Any] | None:
        """Return what a tool returned as chunks, None unless all are such."""
        return blocks_of_result(returned)

    def result_block(self, piece: str | Medium, *, model: str | None) -> dict[str, Any] | None:
        """Return a text or a picture as a chunk, None for all else."""
        return result_block(piece)

    def answer_items(self, answers: Sequence[Answer]) -> list[Any]:
        """Return a message for each answer.

        Raises:
            ShapeError: A call has no id to answer to.
        """
        made = super().answer_items(answers)
        return [with_blocks(m, "content", a) for m, a in zip(made, answers, strict=True)]

    def replayable(self, item: Any) -> Any:
        """Return a message of a response as the dict that may be sent back."""
        if not module_of(item).startswith("mistralai"):
            return item
        # `parsed` is the SDK's own.
        message = {key: value for key, value in fields_of(item).items() if key != "parsed"}
        return _raw({**message, "role": item.role or "assistant"})

    def with_call_ids(self, item: Any, new_id: Callable[[CallPart], str]) -> Any:
        """Return the message with an id of nine characters on each call that has none."""
        members = listed(_getter(item)("tool_calls"))
        parts = [read_call(member, _DIALECT) for member in members]
        if all(part.id is not None for part in parts):
            return item
        message = own_fields(self.replayable(item))
        named = zip(listed(message["tool_calls"]), parts, strict=True)
        message["tool_calls"] = [
            call if part.id else {**_dict(call), "id": _nine(new_id(part))} for call, part in named
        ]
        return message

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return the message with these chunks of its content and these calls alone."""
        view = self.read(item)
        if not parts:
            return None
        # Of calls that are no list, nobody can say what they are.
        odd = unlisted(_getter(item)("tool_calls"))
        if view is None or odd or stays_whole(view, parts):
            return item
        return picked(own_fields(self.replayable(item)), view.parts, parts)

    def with_other_id(self, item: Any, part: int, call_id: str) -> Any:
        """Return the message with another id on the call, or the result, at one place."""
        view = self.read(item)
        if view is None or part >= len(view.parts):
            return item
        message = own_fields(self.replayable(item))
        if type(view.parts[part]) is ResultPart:
            return {**message, "tool_call_id": call_id}
        if type(view.parts[part]) is not CallPart:
            return item
        place = sum(type(p) is CallPart for p in view.parts[:part])
        members = listed(message["tool_calls"])
        member = members[place]
        if not (isinstance(member, Mapping) or hasattr(member, "model_dump")):
            return item
        named = {**_dict(member), "id": call_id}
        return {**message, "tool_calls": [*members[:place], named, *members[place + 1 :]]}


def _getter(item: object) -> Get:
    """Return what reads a field; one that the SDK's object says is not set reads as None."""
    get = getter(item)

    def read(key: str) -> Any:
        value = get(key)
        return None if type(value).__name__ == "Unset" else value

    return read


def _plain(value: Any) -> Any:
    """Return an object of the SDK's in JSON types; anything else as it is."""
    if not module_of(value).startswith("mistralai"):
        return value
    try:
        return plain(value)
    except Exception:  # it cannot say what it holds, and equals itself alone
        return value


def _told(call: Any) -> Any:
    """Return a call without fields at their default, as `Mistral.said` does a message."""
    call = _plain(call)  # an object of the SDK's may stand in a message that is a dict
    if type(call) is not dict:
        return call
    fields = cast("dict[str, Any]", call)
    return {key: value for key, value in fields.items() if (key, value) not in _DEFAULTS}


_DEFAULTS: Final = (("id", _NULL), ("type", "function"), ("index", 0))
"""Of a call: mistralai 3.7.0, `ToolCall`."""


def _is_foreign(get: Get) -> bool:
    """Return whether a message has what Mistral's API does not take."""
    if any(get(key) is not None for key in _FOREIGN_KEYS):
        return True
    calls = listed(get("tool_calls"))
    blocks = listed(get("content"))
    return any(field(c, "custom") is not None for c in calls) or any(map(is_foreign_block, blocks))


def _dict(value: Any) -> dict[str, Any]:
    """Return a part of a message as a dict, whether or not it is an SDK's object."""
    if isinstance(value, Mapping):
        return dict(cast(Mapping[str, Any], value))
    return cast("dict[str, Any]", value.model_dump(by_alias=True, exclude_unset=True))


def _raw(value: Any) -> Any:
    """Return dumped fields with each chunk that the SDK does not know as the server wrote it."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if fields.get("is_unknown") is True or fields.keys() == {"raw"}:  # the SDK's own class
            return fields.get("raw")
        # What a call was given is the model's own.
        return {k: v if k == "arguments" else _raw(v) for k, v in fields.items()}
    return [_raw(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value


def _nine(text: str) -> str:
    """Return a text as an id that Mistral takes: itself, or nine characters made from it."""
    if is_mistral_id(text):
        return text
    digest = b64encode(sha256(text.encode("utf-8", "surrogatepass")).digest()).decode()
    return "".join(c for c in digest if c.isalnum())[:9]


# Content chunks


def _read_audio(block: Any) -> Part:
    audio = field(block, "input_audio")
    if not isinstance(audio, str):
        return CHAT_BLOCKS["input_audio"](block)
    if audio.startswith(("http:", "https:", "data:")):
        return media_from_url("audio", audio)
    return MediaPart("audio", None, base64_size(audio))


def _read_file(block: Any) -> Part:
    file_id = field(block, "file_id")
    if not isinstance(file_id, str):
        return CHAT_BLOCKS["file"](block)
    return MediaPart("file", None, None, named_id(file_id))


def _read_document(block: Any) -> Part:
    name = field(block, "document_name")
    url = field(block, "document_url")
    return media_from_url("document", url, name=name if isinstance(name, str) else None)


def _read_thinking(block: Any) -> Part:
    thoughts = listed(field(block, "thinking"))
    said = (
        text_of(field(t, "text")) if block_type(t) in ("text", None) else json_text(t)
        for t in thoughts
    )
    return ReasoningPart("\n".join(said))


def _references(block: Any) -> str | None:
    """Return what a chunk refers to: places in what a tool found."""
    return ", ".join(str(each) for each in listed(field(block, "reference_ids"))) or None


def _read_resource(block: Any) -> Part:
    inner = read_block(field(block, "content"), _DIALECT)
    name = named_id(field(block, "uri"))
    if type(inner) is MediaPart:
        return inner._replace(name=inner.name or name)
    return MediaPart("resource", None, None, name, part_text(inner))


_BLOCKS: Final[Mapping[str, Callable[[Any], Part]]] = {
    **CHAT_BLOCKS,
    "document_url": _read_document,
    "file": _read_file,
    "input_audio": _read_audio,
    "reference": lambda block: MediaPart("reference", None, None, _references(block)),
    "resource": _read_resource,
    "resource_link": lambda block: MediaPart("resource", None, None, named_id(field(block, "uri"))),
    "thinking": _read_thinking,
    # The SDK's object for a chunk that it does not know.
    "UNKNOWN": lambda block: read_block(field(block, "raw"), _DIALECT),
}
_CHUNKS: Final = frozenset(_BLOCKS) - {"refusal", "video_url"}
_DIALECT: Final[Dialect] = Dialect("mistral", _ROLES, _BLOCKS, is_foreign_block, _NULL)
