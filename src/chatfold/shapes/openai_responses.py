"""The shape `openai_responses`: items of OpenAI's Responses API; the Agents SDK writes these too.

Sources: the types of openai 3.54.0 (`ResponseInputItemParam`);
https://developers.openai.com/api/docs/guides/reasoning (read 2026-11-21).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.spans import Span
from chatfold.core.views import (
    CallKind,
    CallPart,
    Fit,
    ItemView,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    ServerCallPart,
    Shape,
    StatePart,
    TextPart,
    UnknownPart,
    field,
    plain,
)
from chatfold.errors import ShapeError
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    block_type,
    call_kind,
    getter,
    json_text,
    media_from_url,
    module_of,
    named_id,
    unknown_part,
)
from chatfold.shapes._responses_problems import check_items
from chatfold.shapes._responses_rules import reasoning_spans

__all__ = ["OpenAIResponses"]

Get = Callable[[str], Any]

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
_BUSY = frozenset({"in_progress", "searching", "interpreting", "generating", "calling"})
_BROKEN = frozenset({"failed", "incomplete"})


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
            if kind in _READERS or (kind == "message" and get("role") in _ROLES):
                return "yes"
            return "maybe" if _is_newer(kind, item) else "no"
        if get("role") not in _ROLES or get("tool_call_id"):
            return "yes" if _is_bare_reference(item) else "no"
        content = get("content")
        if isinstance(content, str):
            return "no" if get("tool_calls") or get("function_call") else "maybe"
        kinds = {block_type(b) for b in _listed(content)}
        if kinds & _CALL_BLOCKS or (kinds and kinds <= _OWN_BLOCKS and kinds != {"refusal"}):
            return "yes"
        return "no"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of an item, None where it is of another shape."""
        get = getter(item)
        kind = get("type")
        if kind is None or kind == "message":
            return self._read_message(get, kind)
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            return _read_newer(get, item, kind) if _is_newer(kind, item) else None
        role, parts = reader(get)
        return ItemView(role, parts, kind, self.name, None, named_id(get("id")))

    def _read_message(self, get: Get, kind: str | None) -> ItemView | None:
        role, content = get("role"), get("content")
        if role not in _ROLES:
            if kind is None and isinstance(get("id"), str) and role is None and content is None:
                return ItemView(*_reference(get), "item_reference", self.name)
            return None
        fault = ""
        if isinstance(content, str):
            if kind is None and any(get(key) for key in _CHAT_KEYS):
                return None
            parts: tuple[Part, ...] = (TextPart(content),)
        elif isinstance(content, list):
            blocks = cast(list[Any], content)
            kinds = {block_type(b) for b in blocks}
            if kind is None and not (kinds <= _OWN_BLOCKS or kinds & _CALL_BLOCKS):
                return None
            parts = _read_blocks(blocks, get("tool_calls"))
        elif kind is None:
            return None
        else:
            parts, fault = (), f"content is {type(content).__name__}, not text or a list"
        return ItemView(
            cast(Role, role), parts, "message", self.name, None, named_id(get("id")), fault=fault
        )

    def spans(self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterable[Span]:
        """Return what reasoning, programs and approvals bind together."""
        return reasoning_spans(views)

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
        return {"type": output[call.pair], "call_id": call.id, "output": text}

    def replayable(self, item: Any) -> Any:
        """Return an item without what only a response may hold; reasoning stays as it is.

        That are `created_by`, `status` of a custom tool's output, and what the SDK parsed.
        """
        fields = _fields(plain(item))
        return item if fields is None else _replayable(fields)

    def with_call_ids(self, item: Any, new_id: Callable[[CallPart], str]) -> Any:
        """Return a function or custom call with a call id, where it has none."""
        given = _fields(item)
        if given is None or given.get("call_id") or given.get("type") not in _CALL_BLOCKS:
            return item
        _, (call,) = _READERS[given["type"]](given.get)
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
        return {**_own(item), "content": kept} if kept else None

    def detached(self, item: Any) -> Any:
        """Return what the model emitted without its own id; results are paired by `call_id`.

        The server demands an item's reasoning by that id, and no more without it:
        https://github.com/laravel/ai/pull/1052 (read 2026-11-22). Where the id is what the item
        is found or paired by, it stays.
        """
        kind = field(item, "type")
        if kind in _FOUND_BY_ID or field(item, "id") is None:
            return item
        if kind == "message" or kind in _READERS:
            return {k: v for k, v in _own(item).items() if k != "id"}
        return item

    def interrupted_item(self, call: ToolCallRecord) -> dict[str, Any] | None:
        """Return, for a search for tools, the output of one that found none."""
        if call.kind != "tool_search" or call.id is None:
            return None
        found: dict[str, Any] = {"execution": "client", "status": "incomplete", "tools": []}
        return {"type": "tool_search_output", "call_id": call.id, **found}

    def with_other_id(self, item: Any, part: int, call_id: str) -> Any:
        """Return a call or a result with another `call_id`, where that is what pairs it."""
        kind = field(item, "type")
        if kind not in _READERS or not str(kind).endswith(("_call", "_output")):
            return item
        if kind in _WITHOUT_CALL_ID:
            return item
        return {**_own(item), "call_id": call_id}

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


def _listed(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _str(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _read_blocks(blocks: list[Any], tool_calls: Any) -> tuple[Part, ...]:
    """Return the parts of a content list; calls listed a second time beside it count once."""
    parts = [_read_block(b) for b in blocks]
    seen = {p.id for p in parts if isinstance(p, CallPart)}
    for call in _listed(tool_calls):
        function = field(call, "function")
        source = function if function is not None else call
        name = named_id(field(source, "name"))
        part = CallPart(
            named_id(field(call, "id")),
            name,
            arguments_text(field(source, "arguments") or field(source, "args")),
            call_kind(name),
        )
        if part.id is None or part.id not in seen:
            parts.append(part)
    return tuple(parts)


def _read_block(block: Any) -> Part:
    match block_type(block):
        case "input_text" | "output_text" | "text" | "summary_text":
            return TextPart(_str(field(block, "text")))
        case "refusal":
            return TextPart(_str(field(block, "refusal")), "refusal")
        case "input_image" | "input_file" | "input_audio" | "computer_screenshot":
            return _media(block)
        case "function_call" | "custom_tool_call":
            return _block_call(block)
        case "reasoning":
            return _reasoning(getter(block))[1][0]
        case _:
            return TextPart(block) if isinstance(block, str) else unknown_part(block)


def _block_call(block: Any) -> CallPart:
    """Return a call that stands inside a message: flat, or under `function` as in chat."""
    function = field(block, "function")
    source = function if function is not None else block
    name = named_id(field(source, "name"))
    return CallPart(
        named_id(field(block, "call_id") or field(block, "id")),
        name,
        arguments_text(field(source, "arguments")),
        call_kind(name),
    )


def _media(block: Any) -> MediaPart:
    kind = block_type(block)
    if kind == "input_audio":
        audio = field(block, "input_audio")
        form = field(audio, "format")
        return MediaPart(
            "audio", f"audio/{form}" if form else None, base64_size(field(audio, "data"))
        )
    if kind in ("input_image", "computer_screenshot"):
        return media_from_url("image", field(block, "image_url"), name=field(block, "file_id"))
    name = field(block, "filename") or field(block, "file_id")
    if field(block, "file_url") is not None:
        return media_from_url("file", field(block, "file_url"), name=name)
    data = field(block, "file_data")
    if isinstance(data, str):
        return media_from_url(
            "file", data if data.startswith("data:") else f"data:,{data}", name=name
        )
    return MediaPart("file", None, None, named_id(name))


def _output(value: Any) -> tuple[str, tuple[MediaPart, ...]]:
    if isinstance(value, str):
        return value, ()
    if not isinstance(value, list):
        return arguments_text(value), ()
    parts = [_read_block(b) for b in cast(list[Any], value)]
    media = tuple(p for p in parts if isinstance(p, MediaPart))
    return "\n".join(_str(getattr(p, "text", "")) for p in parts if p not in media), media


def _caller(get: Get) -> str | None:
    caller = get("caller")
    return named_id(field(caller, "caller_id")) if caller is not None else None


Reading = tuple[Role, tuple[Part, ...]]


def _call(
    kind: CallKind, pair: str, name: str | None, arguments: str, get: Get, *, id_: Any = None
) -> Reading:
    call = CallPart(
        named_id(id_ if id_ is not None else get("call_id")),
        name,
        arguments,
        kind,
        pair,
        bool(get("async") or get("async_")),
        _caller(get),
    )
    return "assistant", (call,)


def _result(
    pair: str, text: str, get: Get, *, failed: bool = False, media: tuple[MediaPart, ...] = ()
) -> Reading:
    result = ResultPart(
        named_id(get("call_id")), named_id(get("name")), text, failed, pair, media, _caller(get)
    )
    return "tool", (result,)


def _function_call(get: Get) -> Reading:
    name = named_id(get("name"))
    return _call(call_kind(name), "function", name, arguments_text(get("arguments")), get)


def _function_output(get: Get) -> Reading:
    text, media = _output(get("output"))
    return _result("function", text, get, failed=get("status") == "incomplete", media=media)


def _custom_call(get: Get) -> Reading:
    return _call("custom", "custom", named_id(get("name")), _str(get("input")), get)


def _custom_output(get: Get) -> Reading:
    text, media = _output(get("output"))
    return _result("custom", text, get, media=media)


def _computer_call(get: Get) -> Reading:
    actions = get("actions") or get("action")
    return _call("computer", "computer", "computer", json_text(actions), get)


def _computer_output(get: Get) -> Reading:
    output = get("output")
    media = (_media(output),) if output is not None else ()
    return _result("computer", "", get, failed=get("status") == "incomplete", media=media)


def _shell_call(get: Get) -> Reading:
    return _call("shell", "shell", "shell", json_text(get("action")), get)


def _shell_output(get: Get) -> Reading:
    lines: list[str] = []
    failed = False
    for chunk in _listed(get("output")):
        outcome = field(chunk, "outcome")
        code = field(outcome, "exit_code")
        ended = "timed out" if field(outcome, "type") == "timeout" else f"exit {code}"
        failed = failed or ended != "exit 0"
        lines.extend(t for t in (_str(field(chunk, "stdout")), _str(field(chunk, "stderr"))) if t)
        lines.append(f"[{ended}]")
    text = "\n".join(lines) if isinstance(get("output"), list) else _str(get("output"))
    return _result("shell", text, get, failed=failed)


def _local_shell_call(get: Get) -> Reading:
    return _call("local_shell", "local_shell", "local_shell", json_text(get("action")), get)


def _local_shell_output(get: Get) -> Reading:
    # The SDK's type pairs through `id`; the Agents SDK writes `call_id` (openai 3.54.0).
    id_ = get("call_id") or get("id")
    result = ResultPart(
        named_id(id_), None, _str(get("output")), get("status") == "incomplete", "local_shell"
    )
    return "tool", (result,)


def _patch_call(get: Get) -> Reading:
    return _call("apply_patch", "apply_patch", "apply_patch", json_text(get("operation")), get)


def _patch_output(get: Get) -> Reading:
    return _result("apply_patch", _str(get("output")), get, failed=get("status") == "failed")


def _search_call(get: Get) -> Reading:
    role, (call,) = _call(
        "tool_search", "tool_search", "tool_search", json_text(get("arguments")), get
    )
    served = get("execution") == "server" and get("status") not in _BUSY
    return role, (cast(CallPart, call)._replace(served=served),)


def _tool_names(tools: Any) -> list[str]:
    return [
        _str(field(t, "name") or field(t, "server_label") or block_type(t)) for t in _listed(tools)
    ]


def _search_output(get: Get) -> Reading:
    names = _tool_names(get("tools"))
    result = ResultPart(
        named_id(get("call_id")), "tool_search", ", ".join(names), False, "tool_search"
    )
    return "tool", (result, StatePart("tool_search_output", frozenset(names)))


def _program(get: Get) -> Reading:
    return _call("program", "program", "program", _str(get("code")), get)


def _program_output(get: Get) -> Reading:
    return _result("program", _str(get("result")), get, failed=get("status") == "incomplete")


def _approval_request(get: Get) -> Reading:
    arguments = arguments_text(get("arguments"))
    return _call("approval", "approval", named_id(get("name")), arguments, get, id_=get("id"))


def _approval_response(get: Get) -> Reading:
    verdict = "approved" if get("approve") else "denied"
    reason = get("reason")
    text = f"{verdict}: {reason}" if reason else verdict
    id_ = named_id(get("approval_request_id"))
    return "tool", (ResultPart(id_, None, text, not get("approve"), "approval"),)


def _server(
    get: Get, name: str | None, arguments: str, result: str, *, kind: CallKind = "server"
) -> ServerCallPart:
    status = get("status")
    state = "open" if status in _BUSY else "failed" if status in _BROKEN else "completed"
    if get("error") and state != "open":
        state = "failed"
    return ServerCallPart(
        named_id(get("id")),
        name,
        arguments,
        result,
        cast(Any, state),
        kind,
        named_id(get("approval_request_id")),
    )


def _web_search(get: Get) -> Reading:
    return "assistant", (_server(get, "web_search", json_text(get("action")), ""),)


def _file_search(get: Get) -> Reading:
    results = get("results")
    found = json_text(results) if results else ""
    return "assistant", (_server(get, "file_search", json_text(get("queries")), found),)


def _interpreter(get: Get) -> Reading:
    outputs = _listed(get("outputs"))
    logs = "\n".join(t for o in outputs if (t := _str(field(o, "logs"))))
    urls = [field(o, "url") for o in outputs]
    images = (media_from_url("image", url) for url in urls if url is not None)
    return "assistant", (_server(get, "code_interpreter", _str(get("code")), logs), *images)


def _image(get: Get) -> Reading:
    error = get("error")
    asked = _str(get("revised_prompt") or get("action"))
    call = _server(get, "image_generation", asked, json_text(error) if error else "")
    form = get("output_format")
    if not get("result"):
        return "assistant", (call,)
    media = MediaPart("image", f"image/{form}" if form else None, base64_size(get("result")))
    return "assistant", (call, media)


def _mcp_call(get: Get) -> Reading:
    error = get("error")
    result = json_text(error) if error and not isinstance(error, str) else _str(error)
    result = _str(get("output")) or result
    part = _server(get, named_id(get("name")), arguments_text(get("arguments")), result, kind="mcp")
    return "assistant", (part,)


def _reasoning(get: Get) -> Reading:
    lines = [_str(field(s, "text")) for s in (*_listed(get("summary")), *_listed(get("content")))]
    opaque = len(_str(get("encrypted_content")))
    return "assistant", (ReasoningPart("\n".join(t for t in lines if t), opaque),)


def _compaction(get: Get) -> Reading:
    return "state", (OpaquePart("compaction", len(_str(get("encrypted_content")))),)


def _trigger(get: Get) -> Reading:
    return "state", (UnknownPart("compaction_trigger", "", command=True, known=True),)


def _additional_tools(get: Get) -> Reading:
    return "state", (StatePart("additional_tools", frozenset(_tool_names(get("tools")))),)


def _configuration(get: Get) -> Reading:
    keys = frozenset(
        f"{group}.{key}" for group in ("reasoning", "text") for key in _keys(get(group))
    )
    settings = {group: get(group) for group in ("reasoning", "text") if get(group) is not None}
    return "state", (StatePart("configuration_update", keys, json_text(settings)),)


def _keys(group: Any) -> list[str]:
    if group is None:
        return []
    return list(cast(dict[str, Any], group)) if isinstance(group, dict) else ["effort", "format"]


def _mcp_tools(get: Get) -> Reading:
    label = _str(get("server_label"))
    return "state", (StatePart("mcp_list_tools", frozenset({label})),)


def _reference(get: Get) -> Reading:
    """Return what an item that is only named by its id must be: ids start with their type."""
    id_ = _str(get("id"))
    if id_.startswith("rs_"):
        return "assistant", (ReasoningPart("", 1),)
    if id_.startswith(("fc_", "ctc_")):
        pair = "custom" if id_.startswith("ctc_") else "function"
        return "assistant", (CallPart(None, None, "", "function", pair),)
    return "assistant", (UnknownPart("item_reference", "", known=True),)


_READERS: Final[dict[str, Callable[[Get], Reading]]] = {
    "reasoning": _reasoning,
    "function_call": _function_call,
    "function_call_output": _function_output,
    "custom_tool_call": _custom_call,
    "custom_tool_call_output": _custom_output,
    "computer_call": _computer_call,
    "computer_call_output": _computer_output,
    "local_shell_call": _local_shell_call,
    "local_shell_call_output": _local_shell_output,
    "shell_call": _shell_call,
    "shell_call_output": _shell_output,
    "apply_patch_call": _patch_call,
    "apply_patch_call_output": _patch_output,
    "tool_search_call": _search_call,
    "tool_search_output": _search_output,
    "program": _program,
    "program_output": _program_output,
    "mcp_approval_request": _approval_request,
    "mcp_approval_response": _approval_response,
    "mcp_call": _mcp_call,
    "mcp_list_tools": _mcp_tools,
    "web_search_call": _web_search,
    "file_search_call": _file_search,
    "code_interpreter_call": _interpreter,
    "image_generation_call": _image,
    "compaction": _compaction,
    "compaction_trigger": _trigger,
    "additional_tools": _additional_tools,
    "configuration_update": _configuration,
    "item_reference": _reference,
}


def _is_newer(kind: object, item: object) -> bool:
    """Return whether an item that no reader knows is still one of the Responses API."""
    if module_of(item).startswith("openai.types.responses"):
        return True
    return isinstance(kind, str) and kind.endswith(("_call", "_call_output"))


def _read_newer(get: Get, item: object, kind: str) -> ItemView:
    """Return the reading of an item of a newer SDK: calls and outputs name themselves."""
    call_id = named_id(get("call_id"))
    role: Role = "assistant"
    parts: tuple[Part, ...] = (unknown_part(item),)
    if call_id is not None and kind.endswith("_call"):
        parts = (CallPart(call_id, kind[:-5], json_text(item), "function", kind), *parts)
    elif call_id is not None and kind.endswith("_output"):
        role = "tool"
        parts = (ResultPart(call_id, kind[:-12], "", False, kind[:-7]), *parts)
    return ItemView(role, parts, kind, "openai_responses", None, named_id(get("id")))


def _replayable(item: dict[str, Any]) -> dict[str, Any]:
    dropped = {"created_by", "parsed_arguments"}
    if item.get("type") == "custom_tool_call_output":
        dropped.add("status")
    made = {key: value for key, value in item.items() if key not in dropped}
    if item.get("type") == "message":
        made["content"] = _without(item.get("content"), "parsed")
    elif item.get("type") == "shell_call_output":
        made["output"] = _without(item.get("output"), "created_by")
    return made


def _without(parts: Any, key: str) -> Any:
    """Return a list with a field taken out of each of its objects."""
    if not isinstance(parts, list):
        return parts
    return [
        part if (given := _fields(part)) is None else {k: v for k, v in given.items() if k != key}
        for part in cast(list[Any], parts)
    ]


def _own(item: Any) -> dict[str, Any]:
    """Return the fields of a dict as they are, and those of an SDK object by their wire names."""
    return _fields(item) or cast(dict[str, Any], plain(item))


def _fields(value: Any) -> dict[str, Any] | None:
    return cast(dict[str, Any], value) if isinstance(value, dict) else None
