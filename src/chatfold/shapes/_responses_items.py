"""How each item type of the Responses API is read; part of the shape `openai_responses`.

Source: the types of openai 3.54.0 (`ResponseInputItemParam`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

from chatfold.core.native import field
from chatfold.core.views import (
    CallKind,
    CallPart,
    ItemView,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    ServerCallPart,
    StatePart,
    UnknownPart,
)
from chatfold.shapes._blocks import (
    arguments_text,
    base64_size,
    block_type,
    call_kind,
    json_text,
    listed,
    media_from_url,
    module_of,
    named_id,
    text_of,
    unknown_part,
)
from chatfold.shapes._responses_blocks import Get, Reading, read_media, read_output, read_reasoning

__all__ = ["READERS", "is_newer", "read_newer", "read_reference", "tool_names"]

_BUSY = frozenset({"in_progress", "searching", "interpreting", "generating", "calling"})
_BROKEN = frozenset({"failed", "incomplete"})


def _caller(get: Get) -> str | None:
    caller = get("caller")
    return named_id(field(caller, "caller_id")) if caller is not None else None


def _call(
    kind: CallKind,
    pair: str,
    name: str | None,
    arguments: str,
    get: Get,
    *,
    id_: Any = None,
    namespace: Any = None,
) -> Reading:
    call = CallPart(
        named_id(id_ if id_ is not None else get("call_id")),
        name,
        arguments,
        kind,
        pair,
        bool(get("async") or get("async_")),
        _caller(get),
        cut_off=get("status") == "incomplete",
        namespace=named_id(namespace),
    )
    return "assistant", (call,)


def _result(
    pair: str, text: str, get: Get, *, failed: bool = False, media: tuple[MediaPart, ...] = ()
) -> Reading:
    result = ResultPart(
        named_id(get("call_id")), named_id(get("name")), text, failed, pair, media, _caller(get)
    )
    home = named_id(get("namespace"))
    return "tool", (result if home is None else result._replace(namespace=home),)


def _function_call(get: Get) -> Reading:
    name, arguments, home = named_id(get("name")), get("arguments"), get("namespace")
    if isinstance(arguments, str):
        return _call(call_kind(name), "function", name, arguments, get, namespace=home)
    text = arguments_text(arguments)
    role, (call,) = _call(call_kind(name), "function", name, text, get, namespace=home)
    return role, (cast("CallPart", call)._replace(no_text=True),)


def _function_output(get: Get) -> Reading:
    text, media = read_output(get("output"))
    return _result("function", text, get, failed=get("status") == "incomplete", media=media)


def _custom_call(get: Get) -> Reading:
    name, text, home = named_id(get("name")), text_of(get("input")), get("namespace")
    return _call("custom", "custom", name, text, get, namespace=home)


def _custom_output(get: Get) -> Reading:
    text, media = read_output(get("output"))
    return _result("custom", text, get, media=media)


def _computer_call(get: Get) -> Reading:
    actions = get("actions") or get("action")
    return _call("computer", "computer", "computer", json_text(actions), get)


def _computer_output(get: Get) -> Reading:
    output = get("output")
    media = (read_media(output),) if output is not None else ()
    return _result("computer", "", get, failed=get("status") == "incomplete", media=media)


def _shell_call(get: Get) -> Reading:
    return _call("shell", "shell", "shell", json_text(get("action")), get)


def _shell_output(get: Get) -> Reading:
    lines: list[str] = []
    failed = False
    for chunk in listed(get("output")):
        outcome = field(chunk, "outcome")
        code = field(outcome, "exit_code")
        ended = "timed out" if field(outcome, "type") == "timeout" else f"exit {code}"
        failed = failed or ended != "exit 0"
        lines.extend(
            t for t in (text_of(field(chunk, "stdout")), text_of(field(chunk, "stderr"))) if t
        )
        lines.append(f"[{ended}]")
    text = "\n".join(lines) if isinstance(get("output"), list) else text_of(get("output"))
    return _result("shell", text, get, failed=failed)


def _local_shell_call(get: Get) -> Reading:
    return _call("local_shell", "local_shell", "local_shell", json_text(get("action")), get)


def _local_shell_output(get: Get) -> Reading:
    # The SDK's type pairs through `id`; the Agents SDK writes `call_id` (openai 3.54.0).
    id_ = get("call_id") or get("id")
    result = ResultPart(
        named_id(id_), None, text_of(get("output")), get("status") == "incomplete", "local_shell"
    )
    return "tool", (result,)


def _patch_call(get: Get) -> Reading:
    return _call("apply_patch", "apply_patch", "apply_patch", json_text(get("operation")), get)


def _patch_output(get: Get) -> Reading:
    return _result("apply_patch", text_of(get("output")), get, failed=get("status") == "failed")


def _search_call(get: Get) -> Reading:
    role, (call,) = _call(
        "tool_search", "tool_search", "tool_search", json_text(get("arguments")), get
    )
    served = get("execution") == "server" and get("status") not in _BUSY
    return role, (cast(CallPart, call)._replace(served=served),)


def tool_names(tools: Any) -> list[str]:
    """Return what each tool of a list is called: its name, its server, or its type."""
    return [
        text_of(field(t, "name") or field(t, "server_label") or block_type(t))
        for t in listed(tools)
    ]


def _search_output(get: Get) -> Reading:
    names = tool_names(get("tools"))
    result = ResultPart(
        named_id(get("call_id")), "tool_search", ", ".join(names), False, "tool_search"
    )
    return "tool", (result, StatePart("tool_search_output", frozenset(names)))


def _program(get: Get) -> Reading:
    return _call("program", "program", "program", text_of(get("code")), get)


def _program_output(get: Get) -> Reading:
    return _result("program", text_of(get("result")), get, failed=get("status") == "incomplete")


def _approval_request(get: Get) -> Reading:
    name, arguments = named_id(get("name")), arguments_text(get("arguments"))
    own = {"id_": get("id"), "namespace": get("server_label")}
    return _call("approval", "approval", name, arguments, get, **own)


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
    outputs = listed(get("outputs"))
    logs = "\n".join(t for o in outputs if (t := text_of(field(o, "logs"))))
    urls = [field(o, "url") for o in outputs]
    images = (media_from_url("image", url) for url in urls if url is not None)
    return "assistant", (_server(get, "code_interpreter", text_of(get("code")), logs), *images)


def _image(get: Get) -> Reading:
    error = get("error")
    asked = text_of(get("revised_prompt") or get("action"))
    call = _server(get, "image_generation", asked, json_text(error) if error else "")
    form = get("output_format")
    if not get("result"):
        return "assistant", (call,)
    media = MediaPart("image", f"image/{form}" if form else None, base64_size(get("result")))
    return "assistant", (call, media)


def _mcp_call(get: Get) -> Reading:
    error = get("error")
    result = json_text(error) if error and not isinstance(error, str) else text_of(error)
    result = text_of(get("output")) or result
    part = _server(get, named_id(get("name")), arguments_text(get("arguments")), result, kind="mcp")
    return "assistant", (part._replace(namespace=named_id(get("server_label"))),)


def _compaction(get: Get) -> Reading:
    return "state", (OpaquePart("compaction", len(text_of(get("encrypted_content")))),)


def _trigger(get: Get) -> Reading:
    return "state", (UnknownPart("compaction_trigger", "", command=True, known=True),)


def _additional_tools(get: Get) -> Reading:
    return "state", (StatePart("additional_tools", frozenset(tool_names(get("tools")))),)


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
    label = text_of(get("server_label"))
    return "state", (StatePart("mcp_list_tools", frozenset({label})),)


class _Referred(NamedTuple):
    """What a call is whose id begins in a certain way.

    `served` where the server may have run it: then no output of the host's has to follow.
    """

    kind: CallKind
    pair: str
    served: bool = False


# As the examples of https://developers.openai.com/api/docs/guides/tools write them, and vercel/ai
# sends them (`convert-to-openai-responses-input.test.ts`, read 2026-11-26).
_REFERRED: Final = {
    "fc_": _Referred("function", "function"),
    "ctc_": _Referred("function", "custom"),
    "cu_": _Referred("computer", "computer"),
    "lsh_": _Referred("local_shell", "local_shell"),
    "apc_": _Referred("apply_patch", "apply_patch"),
    "sh_": _Referred("shell", "shell", served=True),
    "tsc_": _Referred("tool_search", "tool_search", served=True),
    "mcpr_": _Referred("approval", "approval"),
}


def read_reference(get: Get) -> Reading:
    """Return what an item that is only named by its id must be: ids start with their type."""
    id_ = text_of(get("id"))
    start = id_[: id_.find("_") + 1]
    if start == "rs_":
        return "assistant", (ReasoningPart("", 1),)
    if (call := _REFERRED.get(start)) is not None:
        own = id_ if call.kind == "approval" else None  # its answer names it; others have a call id
        part = CallPart(own, None, "", call.kind, call.pair, served=call.served)
        return "assistant", (part,)
    return "assistant", (UnknownPart("item_reference", "", known=True),)


READERS: Final[dict[str, Callable[[Get], Reading]]] = {
    "reasoning": read_reasoning,
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
    "item_reference": read_reference,
}


def is_newer(kind: object, item: object) -> bool:
    """Return whether an item that no reader knows is still one of the Responses API."""
    if module_of(item).startswith("openai.types.responses"):
        return True
    return isinstance(kind, str) and kind.endswith(("_call", "_output"))


def read_newer(get: Get, item: object, kind: str) -> ItemView:
    """Return the reading of an item of a newer SDK: calls and outputs name themselves.

    The SDK has both `shell_call_output` and `tool_search_output`, of a `tool_search_call`.
    """
    call_id = named_id(get("call_id"))
    role: Role = "assistant"
    parts: tuple[Part, ...] = (unknown_part(item),)
    told = UnknownPart(kind, "")  # the other part says all of it
    if call_id is not None and kind.endswith("_call"):
        role, parts = _call("function", kind, kind[:-5], json_text(item), get)
        parts = (*parts, told)
    elif call_id is not None and kind.endswith("_output"):
        role = "tool"
        tool = kind.removesuffix("_output").removesuffix("_call")
        result = ResultPart(
            call_id, tool, json_text(item), get("status") in _BROKEN, f"{tool}_call"
        )
        parts = (result._replace(caller=_caller(get)), told)
    return ItemView(role, parts, kind, "openai_responses", None, named_id(get("id")))
