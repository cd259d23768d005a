"""The shape `openai_chat`: messages of OpenAI's Chat Completions and of servers that follow it.

Sources: the types of openai 3.54.0 (`ChatCompletionMessageParam`);
https://developers.openai.com/api/docs/guides/function-calling (read 2026-11-21).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

from chatfold.core.arguments import written
from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.native import field, plain
from chatfold.core.views import (
    CallPart,
    Fit,
    ItemView,
    Medium,
    Role,
    Shape,
    TextPart,
)
from chatfold.errors import ShapeError
from chatfold.shapes._blocks import (
    block_type,
    fields_or_none,
    getter,
    listed,
    module_of,
    own_fields,
)
from chatfold.shapes._chat import (
    CHAT_BLOCKS,
    SHARED_MEDIA,
    Dialect,
    Get,
    has_mistral_ids,
    is_foreign_block,
    names_mistral,
    names_ollama,
    read_call,
    read_message,
    sdk_of,
)
from chatfold.shapes._chat_picked import picked, stays_whole
from chatfold.shapes._openai_chat_results import blocks_of_result
from chatfold.shapes._openai_chat_rules import check_messages
from chatfold.shapes._results import with_blocks

__all__ = ["OpenAIChat"]

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SPEAKERS = ("user", "assistant", "system", "developer")
_OWN_BLOCKS = frozenset({"text", "image_url", "input_audio", "file", "refusal", "video_url"})
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
_DIALECT = Dialect("openai_chat", _ROLES, CHAT_BLOCKS, is_foreign_block, text_arguments=True)


class OpenAIChat(Shape):
    """Chat Completions messages: calls inside assistant messages, results in `tool` messages."""

    name = "openai_chat"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a Chat Completions message."""
        module = module_of(item)
        if module.startswith("openai.types.chat"):
            return "yes"
        get = getter(item)
        if module and (sdk_of(item) or not _has_calls(get)):
            return "no"
        role = get("role")
        if role not in _ROLES or get("type") is not None or get("parts") is not None:
            return "no"
        content = get("content")
        if names_ollama(get) or any(is_foreign_block(b) for b in listed(content)):
            return "no"
        # Mistral's tool messages have a name beside the id, and Ollama's may have no id.
        unclear = role == "tool" and (get("name") or not get("tool_call_id"))
        if unclear or names_mistral(get):
            return "maybe"
        if role in ("tool", "function") or any(get(key) for key in _OWN_KEYS):
            return "also" if has_mistral_ids(get) else "yes"
        kinds = {block_type(b) for b in listed(content)} & (_OWN_BLOCKS - {"text"})
        return "maybe" if not kinds else "also" if kinds <= SHARED_MEDIA else "yes"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of a message, None where it is of another shape."""
        if (spoken := _spoken(item)) is not None:
            return spoken
        get = getter(item)
        role = get("role")
        if role not in _ROLES or get("type") is not None or get("parts") is not None:
            return None
        if sdk_of(item) not in ("", "openai") or names_ollama(get):
            return None
        return read_message(get, role, _DIALECT)

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

    def own_blocks(self, returned: Sequence[Any], *, model: str | None) -> Sequence[Any] | None:
        """Return what a tool returned as content parts, None unless all are such."""
        return blocks_of_result(returned)

    def result_block(self, piece: str | Medium, *, model: str | None) -> dict[str, Any] | None:
        """Return a text as a content part; a result holds no media."""
        return {"type": "text", "text": piece} if isinstance(piece, str) else None

    def answer_items(self, answers: Sequence[Answer]) -> list[Any]:
        """Return a message for each answer.

        Raises:
            ShapeError: A call has neither an id nor a name to answer to.
        """
        made = super().answer_items(answers)
        return [_filled(m, a) for m, a in zip(made, answers, strict=True)]

    def replayable(self, item: Any) -> Any | None:
        """Return an assistant's message without what only a response may hold.

        That are `annotations`, `parsed`, all of `audio` but its id, and all that is null or an
        empty list; fields that the SDK does not know stay, as other servers need theirs back.

        What was said aloud becomes the content. A request takes the id alone (openai 3.54.0), and
        the server forgets it after an hour, which https://community.openai.com/t/1046769 quotes:
        "Assistant audio ... not found." Words beside an id were taken:
        https://community.openai.com/t/1015066 (both read 2026-11-26).

        None where the model has only thought, as one does that a limit has cut off: "Invalid
        assistant message: content or tool_calls must be set",
        https://github.com/BenedictKing/ccx/issues/35 (read 2026-11-28).
        """
        fields = fields_or_none(plain(item))
        if fields is None:
            return item
        made = _replayable(fields)
        return made if any(value for key, value in made.items() if key not in _UNSAID) else None

    def with_call_ids(self, item: Any, new_id: Callable[[CallPart], str]) -> Any:
        """Return the message with an id on each tool call that has none."""
        message = fields_or_none(item) or {}
        calls = listed(message.get("tool_calls"))
        numbered = [_numbered(call, new_id) for call in calls]
        return item if numbered == calls else {**message, "tool_calls": numbered}

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return the message with these parts of its content and these calls alone."""
        view = self.read(item)
        if not parts:
            return None
        if view is None or stays_whole(view, parts):
            return item
        return picked(own_fields(item), view.parts, parts)

    def with_other_id(self, item: Any, part: int, call_id: str) -> Any:
        """Return a result as a `tool` message for that id; ids of calls may recur here."""
        if field(item, "role") not in ("tool", "function"):
            return item
        return {**own_fields(item), "role": "tool", "tool_call_id": call_id}

    def with_text_arguments(self, item: Any) -> Any:
        """Return the message with a text as the arguments of each function call."""
        message = own_fields(item)
        if (legacy := message.get("function_call")) is not None:
            message["function_call"] = _with_text(legacy)
        if members := listed(message.get("tool_calls")):
            message["tool_calls"] = [_with_text_inside(member) for member in members]
        return message

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what Chat Completions would refuse."""
        return check_messages(items, views, calls)


def _filled(message: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """Return a result with its blocks; the content of an older `function` message is a text."""
    if answer.blocks and message["role"] == "function":
        return {**message, "content": "\n".join(field(b, "text") for b in answer.blocks)}
    return with_blocks(message, "content", answer)


def _spoken(item: object) -> ItemView | None:
    """Return the reading of what most messages are, a role and a text; None for all others."""
    message: Any = item
    if type(item) is not dict or len(message) != 2:
        return None
    role, content = message.get("role"), message.get("content")
    if type(content) is not str or role not in _SPEAKERS:
        return None
    return ItemView(role, (TextPart(content),), role, "openai_chat", whole_step=role == "assistant")


def _has_calls(get: Get) -> bool:
    """Return whether a message has calls, or the id of one, as Chat Completions writes them.

    Objects of other makes (litellm, groq, a class of the caller's own) tell themselves by these
    alone: frameworks have messages with a role and a content, too, that take no dict beside them.
    """
    if isinstance(get("tool_call_id"), str) or field(get("function_call"), "name") is not None:
        return True
    return any(
        isinstance(field(field(call, "function"), "arguments"), str)
        or field(call, "custom") is not None
        for call in listed(get("tool_calls"))
    )


_OUTPUT_ONLY: Final = frozenset({"annotations", "parsed"})
_UNSAID: Final = frozenset({"role", "reasoning", "reasoning_content", "reasoning_details"})


def _replayable(message: dict[str, Any]) -> dict[str, Any]:
    made = {
        key: value
        for key, value in message.items()
        if key not in _OUTPUT_ONLY and (key == "content" or value not in (None, []))
    }
    audio = fields_or_none(made.pop("audio", None)) or {}
    if audio.get("id"):
        made["audio"] = {"id": audio["id"]}
    if audio.get("transcript") and not made.get("content"):
        made["content"] = audio["transcript"]
    if (legacy := fields_or_none(made.get("function_call"))) is not None:
        made["function_call"] = _replayable_function(legacy)
    if isinstance(made.get("tool_calls"), list):
        made["tool_calls"] = [_replayable_call(call) for call in listed(made["tool_calls"])]
    return made


def _replayable_call(call: Any) -> Any:
    """Return a tool call without its place in a stream, its parsed arguments and empty fields."""
    given = fields_or_none(call)
    if given is None:
        return call
    made = {k: v for k, v in given.items() if k != "index"}
    if (function := fields_or_none(made.get("function"))) is not None:
        made["function"] = _replayable_function(function)
    return made


def _replayable_function(function: dict[str, Any]) -> dict[str, Any]:
    """Return the function of a call with a text as its arguments, where the model wrote none.

    Some servers leave the field out, or write null, and take back neither:
    https://github.com/OpenRouterTeam/ai-sdk-provider/pull/310 (read 2026-11-28). The text is blank,
    as it may be that a limit has cut it off: whether no arguments will do, the tool tells.
    """
    made = {k: v for k, v in function.items() if k != "parsed_arguments" and v is not None}
    return made if "arguments" in made else {**made, "arguments": ""}


def _numbered(call: Any, new_id: Callable[[CallPart], str]) -> Any:
    given = fields_or_none(call)
    if given is None or given.get("id"):
        return call
    return {**given, "id": new_id(read_call(given, _DIALECT))}


def _with_text_inside(call: Any) -> Any:
    """Return a tool call with a text as the arguments of its function."""
    function = field(call, "function")
    changed = function if function is None else _with_text(function)
    return call if changed is function else {**own_fields(call), "function": changed}


def _with_text(function: Any) -> Any:
    arguments = field(function, "arguments")
    if isinstance(arguments, str) or field(function, "name") is None:
        return function
    return {**own_fields(function), "arguments": written(arguments)}
