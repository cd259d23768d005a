"""The shape `openai_chat`: messages of OpenAI's Chat Completions and of servers that follow it.

Sources: the types of openai 3.54.0 (`ChatCompletionMessageParam`);
https://developers.openai.com/api/docs/guides/function-calling (read 2026-11-21).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.views import (
    CallPart,
    Fit,
    ItemView,
    MediaPart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    Shape,
    TextPart,
    field,
)
from chatfold.errors import ShapeError
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    block_type,
    call_kind,
    getter,
    media_from_url,
    module_of,
    named_id,
    unknown_part,
)

__all__ = ["OpenAIChat"]

_SOURCE = "https://developers.openai.com/api/docs/guides/function-calling (read 2026-11-21)"
_ORPHAN = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
    "with 'tool_calls'."
)
_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
)
_ROLES: Final = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SPEAKERS = ("user", "assistant", "system", "developer")
_OWN_BLOCKS = frozenset({"text", "image_url", "input_audio", "file", "refusal", "video_url"})
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
_OWN_KEYS = (
    "tool_calls",
    "function_call",
    "tool_call_id",
    "refusal",
    "audio",
    "name",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
)


class OpenAIChat(Shape):
    """Chat Completions messages: calls inside assistant messages, results in `tool` messages."""

    name = "openai_chat"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a Chat Completions message."""
        module = module_of(item)
        if module:
            return "yes" if module.startswith("openai.types.chat") else "no"
        get = getter(item)
        role = get("role")
        if role not in _ROLES or get("type") is not None:
            return "no"
        content = get("content")
        kinds = {block_type(b) for b in _listed(content)}
        if kinds & _FOREIGN_BLOCKS or any(_is_anthropic_thinking(get, b) for b in _listed(content)):
            return "no"
        if role in ("tool", "function") or any(get(key) for key in _OWN_KEYS):
            return "yes"
        return "yes" if kinds & (_OWN_BLOCKS - {"text"}) else "maybe"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of a message, None where it is of another shape."""
        get = getter(item)
        role = get("role")
        if type(item) is dict and len(cast(Any, item)) == 2 and role in _SPEAKERS:
            content = get("content")
            if type(content) is str:  # what most messages are: a role and a text
                speaks = role == "assistant"
                text = TextPart(content)
                return ItemView(role, (text,), role, "openai_chat", None, None, speaks)
        if role not in _ROLES or get("type") is not None:
            return None
        content = get("content")
        if role in ("tool", "function"):
            return self._read_result(get, role, content)
        fault = ""
        if isinstance(content, str):
            parts: tuple[Part, ...] = (TextPart(content),)
        elif content is None:
            parts, fault = (), "it has no content" if role == "user" else ""
        elif isinstance(content, list):
            blocks = cast(list[Any], content)
            if any(
                block_type(b) in _FOREIGN_BLOCKS or _is_anthropic_thinking(get, b) for b in blocks
            ):
                return None
            parts = tuple(_read_block(b) for b in blocks)
        else:
            parts, fault = (), f"content is {type(content).__name__}, not text or a list"
        if role == "assistant":
            parts = (*_reasoning(get), *parts, *_more(get, parts))
        return ItemView(
            cast(Role, _ROLES[role]),
            parts,
            role,
            self.name,
            named_id(get("name")),
            None,
            role == "assistant",
            fault,
        )

    def _read_result(self, get: Any, role: str, content: Any) -> ItemView:
        text, media = _result_content(content)
        result = ResultPart(
            named_id(get("tool_call_id")) if role == "tool" else None,
            named_id(get("name")),
            text,
            media=media,
        )
        fault = "it has no content" if content is None and role == "tool" else ""
        return ItemView("tool", (result,), role, self.name, fault=fault)

    def summary_item(self, text: str, *, role: str) -> dict[str, Any]:
        """Return a message of that role that holds `text`."""
        return {"role": role, "content": text}

    def result_item(
        self, call: ToolCallRecord, text: str, *, failed: bool = False
    ) -> dict[str, Any]:
        """Return the `tool` message that answers `call`.

        Raises:
            ShapeError: The call has neither an id nor a name to answer to.
        """
        if call.id is not None:
            return {"role": "tool", "tool_call_id": call.id, "content": text}
        if call.name is not None:
            return {"role": "function", "name": call.name, "content": text}
        raise ShapeError("the call has no id to answer to", shape=self.name, index=call.call_index)

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what Chat Completions would refuse."""
        yield from _misplaced_results(views, calls)
        yield from _unanswered(views, calls)
        for index, view in enumerate(views):
            if view.shape != self.name:
                continue
            if view.role == "assistant" and not view.parts and not view.fault:
                yield Problem(
                    "empty_message",
                    "an assistant message without tool calls needs content",
                    (index,),
                    shape=self.name,
                    source=_SOURCE,
                )
            for part in view.parts:
                if type(part) is CallPart and part.name is None:
                    yield Problem(
                        "malformed_item", "a tool call without a name", (index,), shape=self.name
                    )


def _misplaced_results(
    views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield results without a call, and results with another message between them and it."""
    for call in calls:
        index = call.result_index
        if index is None or call.result_index == call.call_index:
            continue
        if call.call_index is None:
            yield Problem(
                "orphan_result",
                f"this result answers {call.label!r}, and no unanswered call of that id stands "
                "before it",
                (index,),
                provider_error=_ORPHAN,
                shape="openai_chat",
                source=_SOURCE,
            )
            continue
        between = next(
            (i for i in range(index - 1, call.call_index, -1) if views[i].role != "tool"), None
        )
        if between is not None:
            yield Problem(
                "late_result",
                f"item {between} stands between the call {call.label!r} and its result",
                (index, call.call_index, between),
                provider_error=_ORPHAN,
                shape="openai_chat",
                source=_SOURCE,
            )


def _unanswered(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    waiting: dict[int, list[str]] = {}
    for call in calls:
        if call.result_index is None and call.call_index is not None:
            waiting.setdefault(call.call_index, []).append(call.label)
    for index, labels in waiting.items():
        followed = any(views[i].role != "tool" for i in range(index + 1, len(views)))
        ids = ", ".join(labels)
        yield Problem(
            "unanswered_call",
            f"no result for {ids}",
            (index,),
            "error" if followed else "pending",
            _UNANSWERED.format(ids=ids),
            "openai_chat",
            _SOURCE,
        )


def _listed(content: Any) -> list[Any]:
    return cast(list[Any], content) if isinstance(content, list) else []


def _is_anthropic_thinking(get: Any, block: object) -> bool:
    """Tell Anthropic's signed thinking from the `thinking` chunks of other servers."""
    return block_type(block) == "thinking" and isinstance(field(block, "thinking"), str)


def _read_block(block: Any) -> Part:
    kind = block_type(block)
    if isinstance(block, str):
        return TextPart(block)
    match kind:
        case "text":
            return TextPart(_str(field(block, "text")))
        case "refusal":
            return TextPart(_str(field(block, "refusal")), "refusal")
        case "image_url" | "video_url":
            where = field(block, kind)
            url = where if isinstance(where, str) else field(where, "url")
            return media_from_url("image" if kind == "image_url" else "video", url)
        case "input_audio":
            audio = field(block, "input_audio")
            form = field(audio, "format")
            return MediaPart(
                "audio", f"audio/{form}" if form else None, base64_size(field(audio, "data"))
            )
        case "file":
            file = field(block, "file")
            name = field(file, "filename") or field(file, "file_id")
            data = field(file, "file_data")
            if isinstance(data, str) and data.startswith("data:"):
                return media_from_url("file", data, name=name)
            return MediaPart("file", None, base64_size(data), named_id(name))
        case "thinking":
            texts = [_str(field(b, "text")) for b in _listed(field(block, "thinking"))]
            return ReasoningPart("\n".join(texts))
        case _:
            return unknown_part(block)


def _str(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _result_content(content: Any) -> tuple[str, tuple[MediaPart, ...]]:
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, list):
        return arguments_text(content), ()
    parts = [_read_block(b) for b in cast(list[Any], content)]
    media = tuple(p for p in parts if isinstance(p, MediaPart))
    return "\n".join(_part_text(p) for p in parts if not isinstance(p, MediaPart)), media


def _part_text(part: Part) -> str:
    return str(getattr(part, "text", ""))


def _reasoning(get: Any) -> tuple[Part, ...]:
    """Return the reasoning that servers other than OpenAI's put on the message."""
    text = get("reasoning_content") or get("reasoning")
    if isinstance(text, str):
        return (ReasoningPart(text),)
    details = _listed(get("reasoning_details"))
    if not details:
        return ()
    readable = [_str(field(d, "text") or field(d, "summary")) for d in details]
    opaque = sum(len(_str(field(d, "data"))) for d in details)
    return (ReasoningPart("\n".join(t for t in readable if t), opaque),)


def _more(get: Any, parts: tuple[Part, ...]) -> Iterator[Part]:
    """Yield what an assistant message holds besides its content."""
    refusal = get("refusal")
    if isinstance(refusal, str) and refusal and TextPart(refusal, "refusal") not in parts:
        yield TextPart(refusal, "refusal")
    audio = get("audio")
    if audio is not None:
        yield MediaPart(
            "audio",
            None,
            base64_size(field(audio, "data")),
            named_id(field(audio, "id")),
            _str(field(audio, "transcript")),
        )
    legacy = get("function_call")
    if legacy is not None:
        name = named_id(field(legacy, "name"))
        yield CallPart(None, name, arguments_text(field(legacy, "arguments")), call_kind(name))
    for call in _listed(get("tool_calls")):
        yield _read_call(call)


def _read_call(call: Any) -> Part:
    custom = field(call, "custom")
    if custom is not None:
        return CallPart(
            named_id(field(call, "id")),
            named_id(field(custom, "name")),
            arguments_text(field(custom, "input")),
            "custom",
        )
    function = field(call, "function")
    name = named_id(field(function, "name"))
    return CallPart(
        named_id(field(call, "id")),
        name,
        arguments_text(field(function, "arguments")),
        call_kind(name),
    )
