"""The shape `bedrock`: messages of Amazon Bedrock's Converse API, as boto3 takes and returns them.

A block is a dict of one key, which says what it is; it has no `type`.
Sources: the service model of botocore 1.44.5 (`bedrock-runtime`, `Message`), read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from chatfold.core.arguments import wrapped
from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.native import field
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
    StatePart,
    TextPart,
    UnknownPart,
    Wanted,
)
from chatfold.errors import ShapeError
from chatfold.shapes._anthropic_rules import wants_thinking_back
from chatfold.shapes._bedrock_results import blocks_of_result, named_apart, result_block
from chatfold.shapes._bedrock_rules import check_messages, place_kept, tool_requirements
from chatfold.shapes._blocks import (
    CONVERSE_BLOCKS,
    arguments_text,
    call_kind,
    data_size,
    getter,
    is_converse_block,
    json_text,
    listed,
    module_of,
    named_id,
    named_place,
    sources_of,
    text_of,
)
from chatfold.shapes._unread import unread

__all__ = ["Bedrock"]

_ROLES: Final = frozenset({"user", "assistant", "system"})
_FOREIGN_KEYS = ("type", "parts", "name", "tool_calls", "tool_call_id", "function_call")


class Bedrock(Shape):
    """Converse messages: calls, results and reasoning are blocks inside messages."""

    name = "bedrock"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a Converse message."""
        get = getter(item)
        if module_of(item) or not _is_message(get):
            return "no"
        blocks = listed(get("content"))
        if any(is_converse_block(b) for b in blocks):
            return "yes"
        return "no" if blocks or get("content") != [] else "maybe"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of a message, None where it is of another shape."""
        get = getter(item)
        if module_of(item) or not _is_message(get):
            return None
        blocks = get("content")
        if not isinstance(blocks, list) or any(
            field(b, "type") is not None for b in _dicts(blocks)
        ):
            return None
        role = cast(Role, get("role"))
        parts = tuple(_read_block(block, role) for block in cast(list[Any], blocks))
        fault = _fault(cast(list[Any], blocks))
        return ItemView(role, parts, role, self.name, whole_step=role == "assistant", fault=fault)

    def summary_item(self, text: str, *, role: str) -> dict[str, Any]:
        """Return a message that holds `text` in a block of its own.

        Raises:
            ShapeError: There is no such role.
        """
        if role not in _ROLES:
            raise ShapeError(f"a message has no role {role!r}; use 'user'", shape=self.name)
        return {"role": role, "content": [{"text": text}]}

    def merged(self, before: Any, following: Any) -> Any | None:
        """Return one message for two of one role, such as a summary and a user's message behind it.

        Some models refuse two messages of one role in a row ("A conversation must alternate
        between user and assistant roles"), others take them:
        https://github.com/langchain-ai/langchain-aws/issues/192,
        https://github.com/anthropics/anthropic-sdk-typescript/issues/565 (read 2026-11-22).
        None where one of them holds results: results come first there, the summary must be the
        first text, and some models refuse words beside results.
        """
        first, second = self.read(before), self.read(following)
        if first is None or second is None or first.role != second.role:
            return None
        if second.role == "system" or any(
            type(part) is ResultPart for part in (*first.parts, *second.parts)
        ):
            return None
        blocks = [*listed(field(before, "content")), *listed(field(following, "content"))]
        return {**following, "content": blocks}

    def place(
        self,
        kept: Sequence[int],
        tail: int,
        views: Sequence[ItemView],
        *,
        behind: Role = "user",
    ) -> Placement:
        """Return what must stay between kept messages of one role."""
        return place_kept(kept, tail, views)

    def result_item(
        self, call: ToolCallRecord, text: str, *, failed: bool = False
    ) -> dict[str, Any]:
        """Return a user message whose one block answers `call`.

        Raises:
            ShapeError: The call is the server's, or it has no id.
        """
        return {"role": "user", "content": [self._answer(Answer(call, text, failed))]}

    def answer_items(self, answers: Sequence[Answer]) -> list[Any]:
        """Return one message with all results of a step, as the API demands.

        Raises:
            ShapeError: A call is the server's, or it has no id.
        """
        return [{"role": "user", "content": [self._answer(a) for a in answers]}] if answers else []

    def own_blocks(self, returned: Sequence[Any], *, model: str | None) -> Sequence[Any] | None:
        """Return what a tool returned as blocks of a result, None unless all are such."""
        return blocks_of_result(returned)

    def result_block(self, piece: str | Medium, *, model: str | None) -> dict[str, Any] | None:
        """Return a text or a medium as a block, None for all else."""
        return result_block(piece)

    def replayable(self, item: Any) -> Any | None:
        """Return a message without blank texts and without reasoning at its end, None for no more.

        Models write blank texts, before calls above all, and the API does not take them back; nor
        does Claude take reasoning that nothing follows.
        """
        blocks = listed(field(item, "content"))
        kept = [block for block in blocks if not _is_blank(block)]
        while kept and field(kept[-1], "reasoningContent") is not None:
            kept.pop()
        if len(kept) == len(blocks):
            return item
        return {**item, "content": kept} if kept else None

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return the message with these blocks alone."""
        blocks = listed(field(item, "content"))
        kept = [block for place, block in enumerate(blocks) if place in parts]
        if kept and len(kept) == len(blocks):
            return item
        return {**item, "content": kept} if kept else None

    def join(self, items: Sequence[Any]) -> list[Any]:
        """Return one message with the blocks of all, results first."""
        if len(items) < 2:
            return list(items)
        blocks = [block for item in items for block in listed(field(item, "content"))]
        blocks.sort(key=lambda block: field(block, "toolResult") is None)
        return [{"role": "user", "content": blocks}]

    def with_other_id(self, item: Any, part: int, call_id: str) -> Any:
        """Return the message with another id on the `toolUse` or `toolResult` at one place."""
        blocks = listed(field(item, "content"))
        block: Any = blocks[part] if part < len(blocks) else None
        keys = ("toolUse", "toolResult")
        key = next((k for k in keys if isinstance(field(block, k), Mapping)), None)
        if key is None:
            return item
        changed = {**block, key: {**block[key], "toolUseId": call_id}}
        return {**item, "content": [*blocks[:part], changed, *blocks[part + 1 :]]}

    def with_object_arguments(self, item: Any) -> Any:
        """Return the message with an object as the input of each `toolUse`."""
        blocks = listed(field(item, "content"))
        return {**item, "content": [_with_object(block) for block in blocks]}

    def without_thinking(self, item: Any) -> Any | None:
        """Return the message without its reasoning, None where it holds nothing else.

        Claude's rules for thinking hold here too; a cache point alone is no message.
        """
        blocks = listed(field(item, "content"))
        kept = [block for block in blocks if field(block, "reasoningContent") is None]
        if len(kept) == len(blocks):
            return item
        if all(field(block, "cachePoint") is not None for block in kept):
            return None
        return {**item, "content": kept}

    def tool_definition(
        self, name: str, description: str, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return a member of `toolConfig.tools`."""
        schema = {"json": dict(parameters)}
        return {"toolSpec": {"name": name, "description": description, "inputSchema": schema}}

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what Converse would refuse."""
        return check_messages(items, views, calls)

    def wants_back(self, view: ItemView, *, model: str | None) -> Wanted:
        """Return whether a message begins with reasoning that Claude wants back in its turn.

        An ARN may name a profile of the caller's own, which says nothing of the model.
        """
        named = (model or "arn:").lower()
        may_be_claude = "claude" in named or named.startswith("arn:")
        own = may_be_claude and view.shape == self.name
        return wants_thinking_back(view, model) if own else "no"

    def requirements(self, views: Sequence[ItemView], *, model: str | None) -> list[Requirement]:
        """Return that the tools must be sent along while calls or results are in the list."""
        return tool_requirements(views)

    def _answer(self, answer: Answer) -> dict[str, Any]:
        """Return the block that answers a call.

        A blank text is refused in a message and taken in a result, as measured in
        https://github.com/NousResearch/hermes-agent/issues/55092 (read 2026-11-22).
        """
        call = answer.call
        if call.pair != "function" or call.id is None:
            raise ShapeError(
                f"a {call.kind} call is not answered by a message",
                shape=self.name,
                index=call.call_index,
            )
        content = named_apart(answer.blocks, call.id) or [{"text": answer.text}]
        block: dict[str, Any] = {"toolUseId": call.id, "content": content}
        if answer.failed:
            block["status"] = "error"
        return {"toolResult": block}


def _with_object(block: Any) -> Any:
    use: Any = field(block, "toolUse")
    if not isinstance(use, Mapping):
        return block
    fields = cast(Mapping[str, Any], use)
    given: Any = fields.get("input")
    if isinstance(given, Mapping):
        return block
    return {**block, "toolUse": {**fields, "input": wrapped(given)}}


def _is_message(get: Callable[[str], Any]) -> bool:
    return get("role") in _ROLES and not any(get(key) for key in _FOREIGN_KEYS)


def _is_blank(block: Any) -> bool:
    text: Any = field(block, "text")
    return isinstance(text, str) and not text.strip() and len(block) == 1


def _dicts(blocks: Any) -> list[Mapping[str, Any]]:
    return [block for block in listed(blocks) if isinstance(block, Mapping)]


def _lines(blocks: Any) -> str:
    return "\n".join(text_of(field(b, "text")) for b in listed(blocks))


def _read_block(block: Any, role: str) -> Part:
    """Return the reading of a block: exactly one part, so that their places agree."""
    keys = _keys(block)
    kind = next((key for key in keys if key in CONVERSE_BLOCKS), None)
    inside: Any = field(cast(object, block), kind) if kind else None
    match kind:
        case "text":
            return TextPart(text_of(inside))
        case "toolUse":
            return _call(inside)
        case "toolResult":
            return _result(inside, role)
        case "reasoningContent":
            return _reasoning(inside)
        case "guardContent":
            words = field(inside, "text")
            if words is None:
                return _media("image", field(inside, "image"))
            return TextPart(text_of(field(words, "text")))
        case "citationsContent":
            said = "".join(text_of(field(b, "text")) for b in listed(field(inside, "content")))
            return TextPart(said, sources=sources_of(field(inside, "citations"), said))
        case "image" | "document" | "video" | "audio":
            return _media(kind, inside)
        case "searchResult":
            return _search_result(inside)
        case "toolAddition" | "toolRemoval":
            name = named_id(field(field(inside, "tool"), "name"))
            return StatePart("tools", frozenset({name} if name else ()), json_text(block))
        case "cachePoint":
            return UnknownPart(kind, json_text(inside), known=True)
        case _:
            return UnknownPart(",".join(map(str, keys)), json_text(block))


def _fault(blocks: list[Any]) -> str:
    """Return what is malformed about the texts and the results of a message, "" if nothing is.

    "Bedrock Converse requires `toolResult.content[].json` to be a JSON object":
    https://github.com/sigoden/aichat/issues/1542 (read 2026-11-27). What is null or missing in
    place of a text is told of as blank.
    """
    for block in _dicts(blocks):
        text, result = block.get("text"), block.get("toolResult")
        if text is not None and not isinstance(text, str):
            return f"a text is {type(text).__name__}, not text"
        if not isinstance(result, Mapping):
            continue
        content: Any = field(cast(Any, result), "content")
        if not isinstance(content, list):
            return f"the content of a toolResult is {type(content).__name__}, not a list"
        for inner in _dicts(content):
            for key, kind, said in (("text", str, "text"), ("json", Mapping, "an object")):
                if key in inner and not isinstance(inner[key], kind):
                    found = type(inner[key]).__name__
                    return f"a {key} in a toolResult is {found}, not {said}"
    return ""


def _keys(block: Any) -> list[str]:
    if isinstance(block, Mapping):
        return list(cast(Mapping[str, Any], block))
    return [str(key) for key in getattr(block, "__dict__", ())]


def _call(use: Any) -> CallPart:
    name = named_id(field(use, "name"))
    served = field(use, "type") == "server_tool_use"
    given: Any = field(use, "input")
    return CallPart(
        named_id(field(use, "toolUseId")),
        name,
        unread(use, "toolUseId", "name", "type") if given is None else arguments_text(given),
        "server" if served else call_kind(name),
        "server" if served else "function",
    )


def _result(result: Any, role: str) -> ResultPart:
    """Return the reading of a result; the server's own stand in the model's message."""
    lines: list[str] = []
    media: list[MediaPart] = []
    content = field(result, "content")
    if content is not None and not isinstance(content, list):  # refused; it is shown all the same
        lines.append(content if isinstance(content, str) else json_text(content))
    for block in listed(content):
        data = field(block, "json")
        part = _read_block(block, role) if data is None else TextPart(arguments_text(data))
        if isinstance(part, MediaPart):
            media.append(part)
        elif isinstance(part, (TextPart, UnknownPart)):
            lines.append(part.text)
    served = role == "assistant" or field(result, "type") is not None
    return ResultPart(
        named_id(field(result, "toolUseId")),
        None,
        "\n".join(lines),
        field(result, "status") == "error",
        "server" if served else "function",
        tuple(media),
    )


def _reasoning(content: Any) -> ReasoningPart:
    words = field(content, "reasoningText")
    if words is None:
        return ReasoningPart("", data_size(field(content, "redactedContent")) or 0)
    text = text_of(field(words, "text"))
    return ReasoningPart(text, 0 if text else len(text_of(field(words, "signature"))))


def _media(kind: str, medium: Any) -> MediaPart:
    source = field(medium, "source")
    form = named_id(field(medium, "format"))
    uri = field(field(source, "s3Location"), "uri")
    texts = [field(medium, "context"), field(source, "text"), _lines(field(source, "content"))]
    name, place = named_place(field(medium, "name"), uri)
    return MediaPart(
        kind,
        form if form is None or kind == "document" else f"{kind}/{form}",
        data_size(field(source, "bytes")),
        name,
        "\n".join(text_of(t) for t in texts if t),
        place,
    )


def _search_result(found: Any) -> MediaPart:
    title, source = named_id(field(found, "title")), text_of(field(found, "source"))
    return MediaPart("search_result", None, None, title, _lines(field(found, "content")), source)
