"""The shape `openai_responses`: items of OpenAI's Responses API; the Agents SDK writes these too.

Sources: the types of openai 3.54.0 (`ResponseInputItemParam`);
https://developers.openai.com/api/docs/guides/reasoning (read 2026-11-21).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from chatfold.core.arguments import written
from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.native import field, plain
from chatfold.core.spans import Span
from chatfold.core.views import (
    CallPart,
    Fit,
    ItemView,
    Medium,
    Part,
    Role,
    Shape,
    StatePart,
    TextPart,
)
from chatfold.errors import ShapeError
from chatfold.shapes._blocks import (
    block_type,
    fields_or_none,
    getter,
    listed,
    module_of,
    named_id,
    own_fields,
    textless_block,
    unknown_part,
)
from chatfold.shapes._responses_blocks import Get, read_block, read_blocks, with_all_held
from chatfold.shapes._responses_items import READERS, is_newer, read_newer, read_reference
from chatfold.shapes._responses_problems import check_items
from chatfold.shapes._responses_results import blocks_of_result, result_block
from chatfold.shapes._responses_rules import required_spans
from chatfold.shapes._results import with_blocks
from chatfold.shapes._unread import lone_part, misplaced

__all__ = ["OpenAIResponses"]

_ROLES: Final = frozenset({"user", "assistant", "system", "developer"})
_OWN_BLOCKS = frozenset(
    {
        "input_text",
        "output_text",
        "input_image",
        "input_file",
        "input_audio",
        "summary_text",
        "refusal",
    }
)
_CHAT_KEYS = ("tool_calls", "function_call", "audio", "name", "refusal", "reasoning_content")
_CHAT_ROLES = ("tool", "function")  # of Chat Completions; a role that is new is not known
_CALL_BLOCKS = frozenset({"function_call", "custom_tool_call"})
_FOUND_BY_ID = frozenset(
    {
        "item_reference",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_list_tools",
        "local_shell_call_output",
        "program",
        "program_output",
        "compaction",
    }
)
_WITHOUT_CALL_ID = frozenset(
    {
        "mcp_call",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "local_shell_call_output",
        "program_output",
    }
)
_TOLD = frozenset({"function_call_output", "custom_tool_call_output"})
_RETOLD: Final = (
    "For context, here is the conversation so far between the user and the previous agent:\n",
    "For context, here is the conversation so far:\n",
)
"""How a message begins in which the Agents SDK tells the next agent what was said before a handoff.

The markers that follow are the user's to choose, these words are not: openai-agents 0.24.0,
`agents/handoffs/history.py` (`_SUPPORTED_CONVERSATION_HISTORY_PREAMBLES`).
"""


class OpenAIResponses(Shape):
    """Responses items: calls, results, reasoning and state are items of their own."""

    name = "openai_responses"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a Responses item."""
        module = module_of(item)
        if module:
            return "yes" if module.startswith("openai.types.responses") else "no"
        get = getter(item)
        kind = get("type")
        if kind is not None:
            if kind == "message" and get("role") in _ROLES:
                whole = get("model") and get("usage")  # a response of Claude's
                return "no" if whole else "yes"
            if kind in READERS:
                return "yes"
            return "maybe" if is_newer(kind, item) else "no"
        if get("role") not in _ROLES or get("tool_call_id"):
            return "yes" if _is_bare_reference(item) else "no"
        content = get("content")
        if isinstance(content, str):
            return "no" if get("tool_calls") or get("function_call") else "maybe"
        kinds = {block_type(b) for b in listed(content)}
        if kinds == {"input_audio"}:  # Chat Completions has it too
            return "also"
        if kinds & _CALL_BLOCKS or (kinds and kinds <= _OWN_BLOCKS and kinds != {"refusal"}):
            return "yes"
        return "no"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of an item, None where it is of another shape."""
        get = getter(item)
        kind = get("type")
        if kind is None or kind == "message":
            return self._read_message(item, get, kind)
        reader = READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            return read_newer(get, item, kind) if is_newer(kind, item) else None
        role, parts = reader(get)
        first, fault = parts[0], ""
        if type(first) is CallPart and first.no_text:
            parts = (with_all_held(item, first),)
        if kind in _TOLD:
            output = get("output")
            if isinstance(output, list):
                fault = textless_block("output", cast(list[Any], output))
            elif not isinstance(output, str):
                fault = f"output is {type(output).__name__}, not text or a list"
        return ItemView(role, parts, kind, self.name, None, named_id(get("id")), fault=fault)

    def _read_message(self, item: object, get: Get, kind: str | None) -> ItemView | None:
        role, content = get("role"), get("content")
        if role not in _ROLES:
            if kind == "message" and role in _CHAT_ROLES:
                fault = f"no message has the role {role!r}; send the result as an output item"
                return ItemView("unknown", (unknown_part(item),), kind, self.name, fault=fault)
            if kind is None and isinstance(get("id"), str) and role is None and content is None:
                return ItemView(*read_reference(get), "item_reference", self.name)
            return None
        fault, retells = "", False
        if isinstance(content, str):
            if kind is None and any(get(key) for key in _CHAT_KEYS):
                return None
            retells = role == "assistant" and content.startswith(_RETOLD)
            parts: tuple[Part, ...] = (TextPart(content),)
        elif isinstance(content, list):
            blocks = cast(list[Any], content)
            kinds = {block_type(b) for b in blocks}
            if kind is None and not (kinds <= _OWN_BLOCKS or kinds & _CALL_BLOCKS):
                return None
            parts = read_blocks(blocks, get("tool_calls"))
            fault = textless_block("content", blocks) or misplaced(get)
        elif kind is None:
            return None
        else:
            parts = (lone_part(content, read_block),)
            fault = f"content is {type(content).__name__}, not text or a list"
        return ItemView(
            cast(Role, role),
            parts,
            "message",
            self.name,
            None,
            named_id(get("id")),
            fault=fault,
            retells=retells,
        )

    def spans(self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterable[Span]:
        """Return what reasoning, programs, approvals and searches bind together."""
        return required_spans(views)

    def keeps(self, view: ItemView) -> bool:
        """Return whether the item is state, or an instruction in the middle."""
        if view.role in ("system", "developer"):
            return True
        if view.role not in ("state", "tool"):
            return False
        return any(type(part) is StatePart for part in view.parts)

    def full_replay(self) -> Requirement:
        """Return the fields that keep the server from putting its own history before the list."""
        return Requirement(
            "full_replay",
            "the server holds the history as it was before the fold; send the whole list, without "
            "previous_response_id and without conversation",
            {"previous_response_id": None, "conversation": None},
            source="https://developers.openai.com/api/docs/guides/conversation-state "
            "(read 2026-11-21)",
        )

    def summary_item(self, text: str, *, role: str) -> dict[str, Any]:
        """Return a message item of that role that holds `text`, without an id."""
        if role == "assistant":  # an output message would need an id; an easy one does not
            return {"role": "assistant", "content": text}
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}

    def result_item(
        self, call: ToolCallRecord, text: str, *, failed: bool = False
    ) -> dict[str, Any]:
        """Return the item that answers `call`.

        The result of what a program has called names the program, which goes on with it: "return
        each client tool result as `function_call_output` echoing the original `caller`",
        https://github.com/OpenHands/software-agent-sdk/issues/4082 (read 2026-11-27).

        Raises:
            ShapeError: The call is not one that a text answers, or it has no id.
        """
        output = {"function": "function_call_output", "custom": "custom_tool_call_output"}
        if call.pair not in output or call.id is None:
            raise ShapeError(
                f"a {call.kind} call is answered by its host, not by a text",
                shape=self.name,
                index=call.call_index,
            )
        item = {"type": output[call.pair], "call_id": call.id, "output": text}
        if call.caller is None:
            return item
        return {**item, "caller": {"type": "program", "caller_id": call.caller}}

    def own_blocks(self, returned: Sequence[Any], *, model: str | None) -> Sequence[Any] | None:
        """Return what a tool returned as blocks of an output, None unless all are such."""
        return blocks_of_result(returned)

    def result_block(self, piece: str | Medium, *, model: str | None) -> dict[str, Any] | None:
        """Return a text, a picture or a PDF as a block, None for all else."""
        return result_block(piece)

    def answer_items(self, answers: Sequence[Answer]) -> list[Any]:
        """Return an item for each answer.

        Raises:
            ShapeError: A call is not one that a text answers, or it has no id.
        """
        made = super().answer_items(answers)
        return [with_blocks(m, "output", a) for m, a in zip(made, answers, strict=True)]

    def replayable(self, item: Any) -> Any:
        """Return an item without what only a response may hold; reasoning stays as it is.

        That are `created_by`, `status` of a custom tool's output, and what the SDK parsed. A
        message whose server has left the role out is an assistant's.
        """
        fields = fields_or_none(plain(item))
        return item if fields is None else _replayable(fields)

    def with_call_ids(self, item: Any, new_id: Callable[[CallPart], str]) -> Any:
        """Return a function or custom call with a call id, where it has none."""
        given = fields_or_none(item)
        if given is None or given.get("call_id") or given.get("type") not in _CALL_BLOCKS:
            return item
        _, (call,) = READERS[given["type"]](given.get)
        return {**given, "call_id": new_id(cast(CallPart, call))}

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return a message with these parts of its content alone; other items are one thing."""
        content = field(item, "content")
        if not parts or field(item, "role") is None or not isinstance(content, list):
            return item if parts else None
        blocks = cast(list[Any], content)
        kept = [block for place, block in enumerate(blocks) if place in parts]
        if len(kept) == len(blocks):
            return item
        return {**own_fields(item), "content": kept} if kept else None

    def detached(self, item: Any) -> Any:
        """Return what the model emitted without its own id; results are paired by `call_id`.

        The server demands an item's reasoning by that id, and no more without it:
        https://github.com/laravel/ai/pull/1052 (read 2026-11-22). Where the id is what the item
        is found or paired by, it stays.
        """
        kind = block_type(item)
        if kind in _FOUND_BY_ID or field(item, "id") is None:
            return item
        if kind == "message" or kind in READERS:
            return {k: v for k, v in own_fields(item).items() if k != "id"}
        return item

    def interrupted_item(self, call: ToolCallRecord) -> dict[str, Any] | None:
        """Return, for a search for tools, the output of one that found none."""
        if call.kind != "tool_search" or call.id is None:
            return None
        found: dict[str, Any] = {"execution": "client", "status": "incomplete", "tools": []}
        return {"type": "tool_search_output", "call_id": call.id, **found}

    def with_other_id(self, item: Any, part: int, call_id: str) -> Any:
        """Return a call or a result with another `call_id`, where that is what pairs it."""
        kind = block_type(item)
        if kind not in READERS or not str(kind).endswith(("_call", "_output")):
            return item
        if kind in _WITHOUT_CALL_ID:
            return item
        return {**own_fields(item), "call_id": call_id}

    def with_text_arguments(self, item: Any) -> Any:
        """Return a function call with a text as its arguments."""
        if field(item, "type") != "function_call" or isinstance(field(item, "arguments"), str):
            return item
        return {**own_fields(item), "arguments": written(field(item, "arguments"))}

    def tool_definition(
        self, name: str, description: str, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return a `FunctionToolParam`.

        "If you omit strict, [...] Responses requests will normalize your schema into strict mode",
        which makes optional parameters required:
        https://developers.openai.com/api/docs/guides/function-calling (read 2026-11-22).
        """
        function = {"name": name, "description": description, "parameters": dict(parameters)}
        return {"type": "function", **function, "strict": False}

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what the Responses API would refuse."""
        return check_items(items, views, calls)


def _is_bare_reference(item: object) -> bool:
    """Return whether an item is an `item_reference`, whose type may be left out."""
    if not isinstance(item, dict):
        return False
    keys = cast(dict[str, Any], item)
    return keys.keys() <= {"id", "type"} and isinstance(keys.get("id"), str)


def _replayable(item: dict[str, Any]) -> dict[str, Any]:
    dropped = {"created_by", "parsed_arguments"}
    if item.get("type") == "custom_tool_call_output":
        dropped.add("status")
    made = {key: value for key, value in item.items() if key not in dropped}
    if item.get("type") == "message":
        made["role"] = item.get("role") or "assistant"
        made["content"] = _without(item.get("content"), "parsed")
    elif item.get("type") == "shell_call_output":
        made["output"] = _without(item.get("output"), "created_by")
    return made


def _without(parts: Any, key: str) -> Any:
    """Return a list with a field taken out of each of its objects."""
    if not isinstance(parts, list):
        return parts
    return [
        part
        if (given := fields_or_none(part)) is None
        else {k: v for k, v in given.items() if k != key}
        for part in cast(list[Any], parts)
    ]
