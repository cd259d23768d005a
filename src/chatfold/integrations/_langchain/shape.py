"""The shape `langchain`: the message objects of langchain-core, and their JSON form.

Source: the types of langchain-core 1.7.2 (`langchain_core.messages`). What is required here is what
the providers behind LangChain share; what one of them wants besides is its own package's affair.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.load.serializable import Serializable
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_from_dict,
)

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.native import field, fields_of, plain
from chatfold.core.spans import Span
from chatfold.core.summary import FOREIGN
from chatfold.core.views import (
    CallPart,
    Fit,
    ItemView,
    Part,
    ResultPart,
    Role,
    Shape,
    StatePart,
    TextPart,
    UnknownPart,
    Wanted,
)
from chatfold.errors import ShapeError
from chatfold.integrations._langchain.beside import read_ahead, read_behind
from chatfold.integrations._langchain.blocks import is_thinking, read_block, read_blocks
from chatfold.integrations._langchain.calls import (
    is_asynchronous,
    is_call_block,
    namespace_of,
    read_calls,
    read_result,
    said_again,
)
from chatfold.integrations._langchain.problems import check_messages
from chatfold.shapes._anthropic_rules import thinking_requirements, wants_thinking_back
from chatfold.shapes._blocks import getter, listed, named_id
from chatfold.shapes._responses_rules import approval_spans

__all__ = ["SOURCE", "LangChainMessages"]

SOURCE: Final = "summarization"
"""What LangChain's own summaries, and with them ours, have as `lc_source`."""

_ROLES: Final[dict[str, Role]] = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "SystemMessageChunk": "system",
    "tool": "tool",
    "ToolMessageChunk": "tool",
    "function": "tool",
    "FunctionMessageChunk": "tool",
}
_CHAT_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "developer",
}
_CHAT: Final = ("chat", "ChatMessageChunk")
_SIGNED: Final = "ai (signed thinking)"
"""The type of an AI message with thinking that Anthropic has signed."""
# What two copies of one message may differ in: ids are drawn anew where the caller hands over the
# history each time, and only what came from a model just now has its usage.
_NOT_SAID: Final = ("id", "response_metadata", "usage_metadata", "artifact", "chunk_position")


class LangChainMessages(Shape):
    """LangChain's messages: calls on AI messages, results in tool messages behind them."""

    name = "langchain"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a message of LangChain's, or its JSON form."""
        if isinstance(item, BaseMessage):
            return "yes"
        return "yes" if _is_json_form(item) else "no"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of a message, None where it is none of LangChain's."""
        if not isinstance(item, BaseMessage) and not _is_json_form(item):
            return None
        get = getter(cast(object, item))
        kind = get("type")
        role = _role(get, kind)
        if role is None:
            said = f"a {type(cast(object, item)).__name__} is no part of a conversation"
            return ItemView("unknown", (UnknownPart(str(kind), ""),), str(kind), fault=said)
        if role == "tool":
            parts: tuple[Part, ...] = (read_result(get),)
            fault = "" if get("tool_call_id") or get("name") else "it does not name its call"
            return ItemView("tool", parts, kind, self.name, id=named_id(get("id")), fault=fault)
        return _read_message(get, kind, role)

    def said(self, item: Any) -> Any:
        """Return a message without what two copies of it may differ in."""
        fields: Any = plain(_without_artifact(item))
        if not isinstance(fields, dict):
            return fields
        known = cast(dict[str, Any], fields)
        return {key: value for key, value in known.items() if key not in _NOT_SAID}

    def restored(self, value: Any) -> Any:
        """Return the message that a store holds as JSON."""
        if isinstance(value, BaseMessage) or not _is_json_form(value):
            return value
        (message,) = messages_from_dict([{"type": value["type"], "data": value}])
        return message

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what the providers behind LangChain would refuse."""
        return check_messages(views, calls)

    def spans(self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterable[Span]:
        """Return what approvals bind together, with OpenAI's Responses."""
        return approval_spans(views) if any(c.kind == "approval" for c in calls) else ()

    def keeps(self, view: ItemView) -> bool:
        """Return whether a message is an instruction, or state of OpenAI's Responses."""
        if view.role in ("system", "developer", "state"):
            return True
        return view.role == "tool" and any(type(part) is StatePart for part in view.parts)

    def requirements(self, views: Sequence[ItemView], *, model: str | None) -> list[Requirement]:
        """Return what Anthropic's thinking behind a summary makes necessary."""
        signed = [v._replace(shape="anthropic") if v.type == _SIGNED else v for v in views]
        return thinking_requirements(signed, model)

    def wants_back(self, view: ItemView, *, model: str | None) -> Wanted:
        """Return whether a message begins with thinking that Claude wants back in its turn."""
        is_claude = view.type == _SIGNED or "claude" in (model or "").lower()
        return wants_thinking_back(view, model) if is_claude else "no"

    def summary_item(self, text: str, *, role: str) -> BaseMessage:
        """Return a message of that role that holds `text`, marked as LangChain marks summaries.

        Raises:
            ShapeError: There is no message of that role.
        """
        marks = {"lc_source": SOURCE}
        match role:
            case "user":
                return HumanMessage(text, additional_kwargs=marks)
            case "assistant":
                return AIMessage(text, additional_kwargs=marks)
            case "system":
                return SystemMessage(text, additional_kwargs=marks)
            case "developer":
                told = {**marks, "__openai_role__": "developer"}
                return SystemMessage(text, additional_kwargs=told)
            case _:
                raise ShapeError(f"there is no message of the role {role!r}", shape=self.name)

    def result_item(self, call: ToolCallRecord, text: str, *, failed: bool = False) -> ToolMessage:
        """Return the tool message that answers `call`.

        Raises:
            ShapeError: The call has no id to answer to, or a text does not answer it.
        """
        if call.id is None or call.pair != "function":
            said = (
                f"a {call.kind} call is answered by its host, not by a text"
                if call.id is not None
                else "the call has no id to answer to"
            )
            raise ShapeError(said, shape=self.name, index=call.call_index)
        return ToolMessage(
            text,
            tool_call_id=call.id,
            name=call.name,
            status="error" if failed else "success",
        )

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return a person's message with these of its blocks alone; others stay whole."""
        if not parts or not isinstance(item, HumanMessage) or isinstance(item.content, str):
            return item if parts else None
        wanted, place = set(parts), 0
        kept: list[Any] = []
        for block in item.content:
            end = place + len(read_block(block))
            if not wanted.isdisjoint(range(place, end)):
                kept.append(block)
            place = end
        if len(kept) == len(item.content):
            return item
        return item.model_copy(update={"content": kept})

    def without_thinking(self, item: Any) -> Any | None:
        """Return an AI message without its thinking, None where it holds nothing else.

        What OpenAI reasons stays: nothing binds it to what came before.
        """
        if not isinstance(item, AIMessage) or isinstance(item.content, str):
            return item
        kept = [block for block in item.content if not is_thinking(block)]
        if len(kept) == len(item.content):
            return item
        if not kept and not item.tool_calls:
            return None
        return item.model_copy(update={"content": kept or ""})


def _is_json_form(item: object) -> bool:
    """Return whether an item is a message as `model_dump` writes it, and JSON gives it back."""
    if not isinstance(item, Mapping):
        return False
    fields = cast(Mapping[str, Any], item)
    kind = fields.get("type")
    return isinstance(kind, str) and "content" in fields and (kind in _ROLES or kind in _CHAT)


def _without_artifact(item: Any) -> Any:
    """Return a tool message without what the model never sees, which may be any object."""
    if isinstance(item, ToolMessage) and item.artifact is not None:
        return item.model_copy(update={"artifact": None})
    return item


def _role(get: Callable[[str], Any], kind: Any) -> Role | None:
    """Return who a message speaks for, None where it is no part of a conversation."""
    if kind in _CHAT:
        return _CHAT_ROLES.get(str(get("role")).lower(), "user")
    role = _ROLES.get(kind)
    if role == "system" and _extras(get).get("__openai_role__") == "developer":
        return "developer"
    return role


def _extras(get: Callable[[str], Any]) -> Mapping[str, Any]:
    found = get("additional_kwargs")
    return cast(Mapping[str, Any], found) if isinstance(found, Mapping) else {}


def _read_message(get: Callable[[str], Any], kind: str, role: Role) -> ItemView:
    content, extras = get("content"), _extras(get)
    fault = ""
    if isinstance(content, str):
        blocks: list[Any] = []
        parts: list[Part] = [TextPart(content)] if content or role != "assistant" else []
    else:
        blocks = listed(content)
        fault = "" if isinstance(content, list) else "its content is neither text nor a list"
        parts = []
    calls: list[CallPart] = []
    if role == "assistant":
        calls = read_calls(get)
        parts = [*read_ahead(extras, blocks), *parts] if extras else parts
    if calls and blocks:
        blocks, calls = _without_calls(blocks, calls)
    parts += read_blocks(blocks)
    if role == "user":
        role = _role_of(parts)
    if extras:
        parts += read_behind(extras, parts)
    type_ = _SIGNED if any(_is_signed(b) for b in blocks) else kind
    if extras.get("lc_source") == SOURCE:
        type_ = FOREIGN
    return ItemView(
        role,
        (*parts, *calls),
        type_,
        "langchain",
        named_id(get("name")),
        named_id(get("id")),
        role == "assistant",
        fault,
    )


def _without_calls(
    blocks: Sequence[Any], calls: Sequence[CallPart]
) -> tuple[list[Any], list[CallPart]]:
    """Return the blocks that are no calls said again, and the calls with what only those say."""
    known = {call.id for call in calls if call.id is not None}
    rest = [block for block in blocks if not is_call_block(block, known)]
    if len(rest) == len(blocks):
        return rest, [*calls]
    late = {said_again(block, known) for block in blocks if is_asynchronous(block)} - {None}
    homes = {said_again(b, known): home for b in blocks if (home := namespace_of(b))}
    homes.pop(None, None)  # of blocks that say no call again
    calls = [c._replace(asynchronous=True) if c.id in late else c for c in calls]
    return rest, [c._replace(namespace=homes[c.id]) if c.id in homes else c for c in calls]


def _role_of(parts: Sequence[Part]) -> Role:
    """Return who a person's message speaks for: the tools, where it holds their results alone.

    LangChain has no other message for what a host answers to OpenAI's Responses, or sets there.
    """
    kinds = {type(part) for part in parts}
    if not kinds or kinds - {ResultPart, StatePart}:
        return "user"
    return "tool" if ResultPart in kinds else "state"


def _is_signed(block: Any) -> bool:
    """Return whether a block is thinking that Anthropic signed over what stood before it."""
    if not is_thinking(block):
        return False
    extras = field(block, "extras")
    found = (field(source, key) for source in (block, extras) for key in ("signature", "data"))
    return any(found)


def _fields_of(value: Serializable) -> dict[str, Any]:
    """Return the fields of an object that say something: with its type, and without the usual.

    A message that was stored and loaded has set every field, also to what it is by default.
    """
    said = value.model_dump(by_alias=True, exclude_defaults=True)
    rest = {k: v for k, v in said.items() if k == "content" or v not in (None, {}, [])}
    kind = getattr(value, "type", None)
    return {"type": kind, **rest} if isinstance(kind, str) else rest


fields_of.register(Serializable, _fields_of)
