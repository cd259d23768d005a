"""The shape `ollama`: messages of Ollama's `/api/chat`.

Sources: the types of ollama 0.6.3 (`Message`); https://docs.ollama.com/capabilities/tool-calling;
the server's own, https://github.com/ollama/ollama/blob/main/api/types.go: since 0.12.10 it gives
calls an `id` and takes a `tool_call_id` on a result, which the Python client leaves out (all read
2026-11-22).

The server judges no order: it hands whatever there is to the model's template
(https://github.com/ollama/ollama/blob/main/server/routes.go, `ChatHandler`, read 2026-11-22). Calls
and results that lost each other are therefore warnings; only its cloud looks at ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.native import field
from chatfold.core.views import (
    CallPart,
    Fit,
    ItemView,
    MediaPart,
    Medium,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    Shape,
    TextPart,
)
from chatfold.errors import ShapeError
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    getter,
    listed,
    module_of,
    named_id,
    text_of,
)
from chatfold.shapes._chat import (
    CHAT_BLOCKS,
    Dialect,
    Get,
    names_ollama,
    read_block,
    read_call,
    read_calls,
    sdk_of,
)
from chatfold.shapes._chat_picked import stays_whole
from chatfold.shapes._chat_rules import PairRules, pair_problems
from chatfold.shapes._unread import lone_part, unlisted

__all__ = ["Ollama"]

_SOURCE = "https://docs.ollama.com/capabilities/tool-calling (read 2026-11-22)"
# Its cloud runs Mistral's models behind Mistral's own validator.
_CLOUD = "https://github.com/onyx-dot-app/onyx/pull/8522 (read 2026-11-22)"
_RULES = PairRules("ollama", "", "", _SOURCE, "warning")
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_DIALECT = Dialect("ollama", _ROLES, {"text": CHAT_BLOCKS["text"]})
_FOREIGN_KEYS = ("type", "parts", "function_call", "refusal", "audio", "prefix")
# How the commonest pictures begin, in bytes and in base64.
_PICTURES: Final = (
    (b"\x89PNG", "iVBORw0KGgo", "image/png"),
    (b"\xff\xd8\xff", "/9j/", "image/jpeg"),
    (b"GIF8", "R0lGOD", "image/gif"),
    (b"RIFF", "UklGR", "image/webp"),
)
_READ: Final = ("image/png", "image/jpeg", "image/webp")
_PICTURE: Final = "picture"  # the key of base64 among the blocks of a result, where texts are words
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{32,}={0,2}\s*")  # a path has a dot, or is short


class Ollama(Shape):
    """Ollama's messages: arguments are objects, and a result names its tool."""

    name = "ollama"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a message of Ollama's."""
        get = getter(item)
        if get("role") not in _ROLES or _is_foreign(get):
            return "no"
        if module_of(item):
            return "yes" if module_of(item).startswith("ollama") else "no"
        if names_ollama(get):
            return "yes"
        others = any(get(key) is not None for key in ("tool_calls", "tool_call_id", "name"))
        return "maybe" if isinstance(get("content"), str) and not others else "no"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of a message, None where it is of another shape."""
        get = getter(item)
        role = get("role")
        if role not in _ROLES or sdk_of(item) not in ("", "ollama") or _is_foreign(get):
            return None
        content = get("content")
        fault = _fault(get)
        if role == "tool":
            name = named_id(get("tool_name")) or named_id(get("name"))
            text = content if isinstance(content, str) else arguments_text(content)
            media = tuple(_pictures(get("images")))
            result = ResultPart(named_id(get("tool_call_id")), name, text, media=media)
            return ItemView("tool", (result,), role, self.name, fault=fault)
        parts = tuple(_parts(get))
        return ItemView(
            _ROLES[role], parts, role, self.name, None, None, role == "assistant", fault
        )

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what Ollama's server would refuse, and what its models would not understand."""
        for problem in pair_problems(views, calls, _RULES):
            wrong = [p.id for p in views[problem.index].parts if type(p) is ResultPart and p.id]
            if problem.rule == "orphan_result" and wrong:
                error = f"Unexpected tool call id {wrong[0]} in tool results"
                yield replace(problem, severity="error", provider_error=error, source=_CLOUD)
            else:
                yield problem
        for index, view in enumerate(views):
            if view.shape != self.name:
                continue
            if any(type(p) is CallPart and p.name is None for p in view.parts):
                yield Problem(
                    "malformed_item", "a tool call without a name", (index,), shape=self.name
                )
            elif not view.parts and not view.fault:
                yield Problem(
                    "empty_message", "a message without content", (index,), "warning", "", self.name
                )

    def summary_item(self, text: str, *, role: str) -> dict[str, Any]:
        """Return a message of that role that holds `text`.

        Raises:
            ShapeError: Ollama's templates have no such role, or it cannot hold a summary.
        """
        if role not in ("system", "user", "assistant"):
            raise ShapeError(f"a summary cannot be a message of {role!r} here", shape=self.name)
        return {"role": role, "content": text}

    def result_item(
        self, call: ToolCallRecord, text: str, *, failed: bool = False
    ) -> dict[str, Any]:
        """Return the `tool` message that answers `call`.

        Raises:
            ShapeError: The call has neither an id nor a name to answer to.
        """
        if call.id is None and call.name is None:
            raise ShapeError(
                "the call has no name to answer to", shape=self.name, index=call.call_index
            )
        to = {"tool_name": call.name, "tool_call_id": call.id}
        known = {key: value for key, value in to.items() if value is not None}
        return {"role": "tool", **known, "content": text}

    def own_blocks(self, returned: Sequence[Any], *, model: str | None) -> Sequence[Any] | None:
        """Return texts and the SDK's pictures, None where a tool returned anything else."""
        words = [isinstance(each, str) for each in returned]
        pictures = [
            type(each).__name__ == "Image" and sdk_of(each) == "ollama" for each in returned
        ]
        return returned if sum(words) + sum(pictures) == len(words) else None

    def result_block(self, piece: str | Medium, *, model: str | None) -> Any | None:
        """Return a text or a picture, None for all else.

        Results have pictures beside their words, as all messages do: the server asks no role, see
        https://github.com/ollama/ollama/blob/main/server/prompt.go (read 2026-11-29).
        """
        if isinstance(piece, str):
            return piece
        return {_PICTURE: piece.data} if piece.type in _READ else None

    def answer_items(self, answers: Sequence[Answer]) -> list[Any]:
        """Return a message for each answer; its pictures stand beside its words.

        Raises:
            ShapeError: A call has neither an id nor a name to answer to.
        """
        made = super().answer_items(answers)
        return [_illustrated(m, a.blocks) for m, a in zip(made, answers, strict=True)]

    def replayable(self, item: Any) -> Any:
        """Return a message of a response as the dict that may be sent back."""
        if module_of(item).startswith("ollama"):
            return item.model_dump(exclude_none=True)
        return {key: value for key, value in item.items() if value is not None}

    def with_call_ids(self, item: Any, new_id: Callable[[CallPart], str]) -> Any:
        """Return the message with an id on each call that has none."""
        parts = [read_call(call, _DIALECT) for call in listed(getter(item)("tool_calls"))]
        if all(part.id is not None for part in parts):
            return item
        message = dict(self.replayable(item))
        named = zip(message["tool_calls"], parts, strict=True)
        message["tool_calls"] = [
            call if part.id else {"id": new_id(part), **_dict(call)} for call, part in named
        ]
        return message

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return the message with these parts alone: its words, pictures and calls."""
        view = self.read(item)
        if not parts:
            return None
        if view is None or stays_whole(view, parts):
            return item
        message = dict(self.replayable(item))
        if view.fault or unlisted(message.get("images")):  # which field is which part is unclear
            return item
        kinds = ("thinking", ReasoningPart), ("content", TextPart)
        for key, kind in kinds:
            if not any(type(view.parts[place]) is kind for place in parts):
                message.pop(key, None)
        for key, read in (("images", MediaPart), ("tool_calls", CallPart)):
            places = [n for n, part in enumerate(view.parts) if type(part) is read]
            kept = zip(listed(message.pop(key, None)), places, strict=True)
            if left := [member for member, place in kept if place in parts]:
                message[key] = left
        return {**message, "content": message.get("content", "")}


def _illustrated(message: dict[str, Any], blocks: Sequence[Any]) -> dict[str, Any]:
    """Return a result with what a tool returned as its words and pictures, where it has any."""
    if not blocks:
        return message
    words = [block for block in blocks if isinstance(block, str)]
    others = [block for block in blocks if not isinstance(block, str)]
    pictures = [field(block, _PICTURE) or block for block in others]
    return {**message, "content": "\n".join(words), "images": pictures}


def _is_foreign(get: Get) -> bool:
    """Return whether a message has what only other servers write.

    Their arguments are texts, and their content may be a list.
    """
    if any(get(key) is not None for key in _FOREIGN_KEYS) or isinstance(get("content"), list):
        return True
    arguments = [field(field(c, "function"), "arguments") for c in listed(get("tool_calls"))]
    return any(isinstance(a, str) for a in arguments) and not names_ollama(get)


def _fault(get: Get) -> str:
    """Return why the server, or its client, cannot read a message."""
    content, calls = get("content"), get("tool_calls")
    if content is not None and not isinstance(content, str):
        return f"content is {type(content).__name__}, not text"
    if calls is not None and not isinstance(calls, (list, tuple)):
        return f"tool_calls is {type(calls).__name__}, not a list"
    arguments = [field(field(call, "function"), "arguments") for call in listed(calls)]
    if any(a is not None and not isinstance(a, Mapping) for a in arguments):
        return "the arguments of a call are not an object"
    return ""


def _parts(get: Get) -> Iterator[Part]:
    thinking, content = get("thinking"), get("content")
    if thinking:
        yield ReasoningPart(text_of(thinking))
    if isinstance(content, str):
        yield TextPart(content)
    elif content is not None:
        yield lone_part(content, partial(read_block, dialect=_DIALECT))
    if (images := get("images")) is not None:
        yield from _pictures(images)
    yield from read_calls(get, _DIALECT)


def _pictures(images: Any) -> Iterator[MediaPart]:
    """Yield the images of a message; one alone is no list, and counts all the same."""
    return map(_picture, [images] if unlisted(images) else listed(images))


def _picture(image: Any) -> MediaPart:
    """Return the reading of an image: base64, bytes, or the name of a file."""
    value: Any = image if isinstance(image, (str, bytes)) else field(image, "value")
    if isinstance(value, bytes):
        found = next((kind for start, _, kind in _PICTURES if value.startswith(start)), None)
        return MediaPart("image", found, len(value))
    text = str(image if value is None else value)
    found = next((kind for _, start, kind in _PICTURES if text.startswith(start)), None)
    if found or _BASE64.fullmatch(text):
        return MediaPart("image", found, base64_size(text))
    return MediaPart("image", None, None, text)


def _dict(call: Any) -> dict[str, Any]:
    """Return a call as a dict, whether or not it is an SDK's object."""
    if isinstance(call, Mapping):
        return dict(cast(Mapping[str, Any], call))
    return cast("dict[str, Any]", call.model_dump(exclude_none=True))
