"""The shape `livekit`: the items of a `livekit.agents.llm.ChatContext`; part of `livekit`.

Sources: livekit-agents 1.8.9, `llm/chat_context.py` (the items) and `llm/_provider_format/utils.py`
(`group_tool_calls`: what is sent together, and what is left out of a request).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from livekit.agents.llm import (
    AgentConfigUpdate,
    AgentHandoff,
    ChatItem,
    ChatMessage,
    FunctionCall,
    FunctionCallOutput,
)
from pydantic import TypeAdapter

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.native import field, fields_of, plain
from chatfold.core.spans import Span
from chatfold.core.summary import FOREIGN, TAG
from chatfold.core.views import (
    CallPart,
    Fit,
    HandoffPart,
    ItemView,
    MediaPart,
    Part,
    ResultPart,
    Role,
    Shape,
    StatePart,
    TextPart,
    UnknownPart,
    is_user_message,
)
from chatfold.errors import ShapeError
from chatfold.integrations._livekit.problems import recurring_ids, unpaired
from chatfold.shapes._blocks import (
    arguments_text,
    block_type,
    call_kind,
    getter,
    listed,
    media_from_url,
    module_of,
    named_id,
    unknown_part,
)

__all__ = ["LIVEKIT", "LiveKit"]

_ROLES: Final = frozenset({"developer", "system", "user", "assistant"})
_KINDS: Final = frozenset(
    {"message", "function_call", "function_call_output", "agent_handoff", "agent_config_update"}
)
_APART: Final = 1e-6  # seconds between the summary and its neighbour, as LiveKit has it
# What LiveKit's own `_summarize` writes around a summary.
_LIVEKITS_WRAPPER: Final = re.compile(rf"\s*<{TAG}>\n(.*)\n</{TAG}>\s*", re.DOTALL)
_NOT_SAID: Final = frozenset({"created_at", "metrics", "transcript_confidence", "hash"})


class LiveKit(Shape):
    """`ChatItem`s: calls, outputs, handoffs and changes of an agent's settings are items too.

    An item is read as the object or as the dict that `ChatContext.to_dict` makes of it. The `id`
    of a view is that of the group that LiveKit sends as one message: `group_id`, or the part of
    the item's id before the first "/".
    """

    name = "livekit"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a LiveKit item."""
        get = getter(item)
        kind = get("type")
        if module_of(item):
            return "yes" if module_of(item).startswith("livekit.agents.llm.") else "no"
        if kind not in _KINDS:
            return "no"
        if kind == "message":
            content = get("content")
            own = isinstance(content, list) and all(
                isinstance(c, str) for c in cast(list[Any], content)
            )
            return "maybe" if own else "no"
        return "yes" if str(kind).startswith("agent_") else "maybe"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of an item, None where it is of another shape."""
        get = getter(item)
        match get("type"):
            case "message":
                return self._read_message(item)
            case "function_call":
                name = named_id(get("name"))
                arguments = arguments_text(get("arguments"))
                call = CallPart(named_id(get("call_id")), name, arguments, call_kind(name))
                return self._view(item, "assistant", call)
            case "function_call_output":
                output = get("output")
                text = output if isinstance(output, str) else arguments_text(output)
                failed = get("is_error") is True
                result = ResultPart(
                    named_id(get("call_id")), named_id(get("name")), text, failed=failed
                )
                return self._view(item, "tool", result)
            case "agent_handoff":
                source, target = named_id(get("old_agent_id")), named_id(get("new_agent_id"))
                return self._view(item, "state", HandoffPart(source, target))
            case "agent_config_update":
                part = StatePart("agent_config_update", _settings(item), _said(item))
                return self._view(item, "state", part)
            case _:
                if not module_of(item).startswith("livekit.agents.llm."):
                    return None
                return self._view(item, "unknown", unknown_part(item))

    def _view(self, item: object, role: Role, *parts: Part, fault: str = "") -> ItemView:
        get = getter(item)
        group = named_id(get("group_id")) or (named_id(get("id")) or "").split("/")[0]
        kind = block_type(item) or ""
        return ItemView(role, parts, kind, self.name, None, group or None, fault=fault)

    def _read_message(self, item: object) -> ItemView | None:
        get = getter(item)
        role, content = get("role"), get("content")
        if role not in _ROLES or not isinstance(content, list):
            if not module_of(item):
                return None  # a message of another provider, or of none
            fault = f"role {role!r} with content of type {type(content).__name__}"
            return self._view(item, "unknown", fault=fault)
        parts = tuple(_content(block) for block in cast(list[Any], content))
        if not module_of(item) and not all(map(_is_own, cast(list[Any], content))):
            return None
        extra = get("extra")
        if isinstance(extra, Mapping) and cast(Mapping[str, Any], extra).get("is_summary") is True:
            return self._view(item, "state", *_summary(parts))._replace(type=FOREIGN)
        return self._view(item, cast(Role, role), *parts)

    def said(self, item: Any) -> Any:
        """Return an item without what LiveKit measures about it, now or later."""
        if field(item, "type") not in _KINDS:
            return item
        return {key: value for key, value in plain(item).items() if key not in _NOT_SAID}

    def restored(self, value: Any) -> Any:
        """Return the object of an item that a store holds; frames were never stored."""
        content = field(value, "content")
        if isinstance(content, list):
            parts = [part for part in cast(list[Any], content) if _is_whole(part)]
            value = {**value, "content": parts}
        return _ITEM.validate_python(value)

    def keeps(self, view: ItemView) -> bool:
        """Return whether the item is a handoff, a change of settings, or an instruction."""
        if view.role == "state":
            return view.type != FOREIGN
        return view.role in ("system", "developer")

    def spans(self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Span]:
        """Yield the groups that LiveKit sends as one assistant message, with all its calls."""
        places: dict[str, int] = {}
        for index, view in enumerate(views):
            if is_user_message(view):
                places.clear()  # ids that recur in another turn are no group
            if view.role != "assistant" or view.id is None:
                continue
            first = places.setdefault(view.id, index)
            if first < index:
                yield Span(first, index)

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what LiveKit would leave out of a request, or cannot make one of."""
        yield from unpaired(calls)
        yield from recurring_ids(views, calls)

    def summary_item(self, text: str, *, role: str) -> ChatMessage:
        """Return a message with an id of its own, marked as LiveKit marks its summaries."""
        return ChatMessage(role=cast(Any, role), content=[text], extra={"is_summary": True})

    def placed(self, summary: Any, last: Any, following: Any | None) -> Any:
        """Return the summary with the time of its place: LiveKit inserts items by their times."""
        if following is not None:
            at = float(field(following, "created_at") or 0.0) - _APART
        else:
            at = float(field(last, "created_at") or 0.0) + _APART
        return summary.model_copy(update={"created_at": at})

    def result_item(
        self, call: ToolCallRecord, text: str, *, failed: bool = False
    ) -> FunctionCallOutput:
        """Return the output of a call.

        Raises:
            ShapeError: The call has no id.
        """
        if call.id is None:
            raise ShapeError(
                "a call without an id cannot be answered", shape=self.name, index=call.call_index
            )
        return FunctionCallOutput(
            call_id=call.id, name=call.name or "", output=text, is_error=failed
        )

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return a message with these parts of its content alone; other items are one thing."""
        content = field(item, "content")
        if not parts or not isinstance(content, list):
            return item if parts else None
        blocks = cast(list[Any], content)
        kept = [block for place, block in enumerate(blocks) if place in parts]
        if len(kept) == len(blocks):
            return item
        return _changed(item, content=kept) if kept else None

    def with_other_id(self, item: Any, part: int, call_id: str) -> Any:
        """Return a call or an output with another `call_id`."""
        if field(item, "type") not in ("function_call", "function_call_output"):
            return item
        return _changed(item, call_id=call_id)


LIVEKIT: Final = LiveKit()

_ITEM: Final[TypeAdapter[Any]] = TypeAdapter(ChatItem)


def _content(block: Any) -> Part:
    """Return the reading of one element of a message's content."""
    if isinstance(block, str):
        return TextPart(block)
    kind = block_type(block)
    if kind == "cache_breakpoint":
        return UnknownPart(kind, "", known=True)
    if kind == "image_content":
        return _image(block)
    if kind == "audio_content":
        frames = cast(list[Any], field(block, "frame") or [])
        size = sum(_size(frame) or 0 for frame in frames)
        return MediaPart("audio", None, size or None, text=field(block, "transcript") or "")
    return unknown_part(block)


def _image(block: Any) -> MediaPart:
    image, type_ = field(block, "image"), named_id(field(block, "mime_type"))
    if isinstance(image, str):
        part = media_from_url("image", image)
        return part._replace(type=part.type or type_)
    return MediaPart("image", type_, _size(image))


def _size(frame: Any) -> int | None:
    """Return how many bytes a frame of sound or video holds."""
    data = getattr(frame, "data", None)
    return getattr(data, "nbytes", None) if data is not None else None


def _is_whole(block: Any) -> bool:
    """Return whether an element of a message's content has all that LiveKit makes it of."""
    lacking = {"image_content": "image", "audio_content": "frame"}.get(block_type(block) or "")
    return lacking is None or field(block, lacking) is not None


def _is_own(block: Any) -> bool:
    """Return whether an element of a dict's content is written as LiveKit writes it."""
    return isinstance(block, str) or block_type(block) in (
        "image_content",
        "audio_content",
        "cache_breakpoint",
    )


def _summary(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts of a message that LiveKit marks as a summary, without its own wrapper."""
    first, *rest = parts or (TextPart(""),)
    if not isinstance(first, TextPart):
        return tuple(parts)
    found = _LIVEKITS_WRAPPER.fullmatch(first.text)
    return (first if found is None else TextPart(found[1]), *rest)


def _settings(item: object) -> frozenset[str]:
    """Return what is set anew by a change of an agent's settings: its instructions, each tool."""
    get = getter(item)
    changed = (listed(get(key)) for key in ("tools_added", "tools_removed"))
    tools = frozenset(f"tool {name}" for names in changed for name in names)
    return tools if get("instructions") is None else tools | {"instructions"}


def _said(item: object) -> str:
    """Return what changed in an agent's settings; its instructions stand at the list's start."""
    get = getter(item)
    changed: dict[str, Any] = {
        key: value for key in ("tools_added", "tools_removed") if (value := get(key))
    }
    if get("instructions") is not None:
        changed["instructions"] = "changed"
    return json.dumps(changed, ensure_ascii=False)


def _changed(item: Any, **fields: Any) -> Any:
    """Return a copy of an item with other fields."""
    if isinstance(item, Mapping):
        return {**cast(Mapping[str, Any], item), **fields}
    return item.model_copy(update=fields)


def _fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of an item, set or not: LiveKit makes its type, id and time itself.

    Frames of sound and video are left out: they are megabytes, and a medium has an id.
    """
    content: Any = getattr(value, "content", None)
    said: dict[str, Any] = value.model_dump(exclude_none=True, exclude={"content"})
    if not isinstance(content, list):
        return said if content is None else {**said, "content": content}
    parts: list[Any] = []
    for part in cast(list[Any], content):
        if hasattr(part, "model_dump"):
            framed = not isinstance(getattr(part, "image", ""), str)
            left_out = {"frame", "image"} if framed else {"frame"}
            parts.append(part.model_dump(exclude_none=True, exclude=left_out))
        else:
            parts.append(part)
    return {**said, "content": parts}


for _kind in (ChatMessage, FunctionCall, FunctionCallOutput, AgentHandoff, AgentConfigUpdate):
    fields_of.register(_kind, _fields_of)
