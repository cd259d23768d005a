"""The entries of Mistral's Conversations API, which agents run on; part of the shape `mistral`.

Sources: the types of mistralai 3.7.0 (`InputEntries`: all that its responses and histories hold may
be sent). Its `inputs` take a dict of a role and a text as an entry of a user or an assistant, so
that such messages are at home in a list of either kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.native import field, json_text, plain
from chatfold.core.views import (
    CallPart,
    HandoffPart,
    ItemView,
    MediaPart,
    Part,
    ResultPart,
    Role,
    ServerCallPart,
)
from chatfold.errors import ShapeError
from chatfold.shapes._blocks import arguments_text, call_kind, named_id, named_place, unknown_part
from chatfold.shapes._chat import Dialect, Get, read_message
from chatfold.shapes._mistral_chunks import BLOCKS
from chatfold.shapes._unread import whole_call

__all__ = [
    "ENTRY_PAIR",
    "ENTRY_TYPES",
    "HANDOFF",
    "RESULT",
    "SENT_ROLES",
    "entry_type",
    "holds_entries",
    "message_entry",
    "read_entry",
    "result_entry",
    "said_entry",
    "sent_entry",
    "text_of_answer",
]

HANDOFF: Final = "agent.handoff"
RESULT: Final = "function.result"
ENTRY_PAIR: Final = "entry"  # a `tool` message answers no entry, and a result entry no `tool_calls`
_MESSAGES: Final = ("message.input", "message.output")
ENTRY_TYPES: Final = frozenset({*_MESSAGES, "function.call", RESULT, "tool.execution", HANDOFF})
SENT_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant"}


def entry_type(get: Get) -> str | None:
    """Return the type of an entry, also of one that is new; None where an item is none."""
    kind = get("type")
    if not isinstance(kind, str) or "." not in kind:  # as most messages
        return None
    return kind if kind in ENTRY_TYPES or get("object") == "entry" else None


def holds_entries(views: Sequence[ItemView]) -> bool:
    """Return whether a list is of entries, and so for the Conversations API."""
    return any(view.type in ENTRY_TYPES and view.shape == "mistral" for view in views)


# Reading


def read_entry(item: object, get: Get, kind: str) -> ItemView:
    """Return the reading of an entry of that type."""
    if kind in _MESSAGES:
        return _read_message(item, get, kind)
    role, part, fault = _READERS.get(kind, _read_unknown)(item, get)
    return ItemView(role, (part,), kind, "mistral", None, named_id(get("id")), fault=fault)


def _read_message(item: object, get: Get, kind: str) -> ItemView:
    """Return the reading of what was said; an output is the assistant's, whoever leaves that out.

    What the server has run, and what the model has said, are steps of runs of entries.
    """
    role: Any = get("role")
    if role is None and kind == "message.output":
        role = "assistant"
    id_ = named_id(get("id"))
    view = None
    if isinstance(role, str) and role in SENT_ROLES:
        view = read_message(get, role, _DIALECT)
    if view is None:
        fault = "" if isinstance(role, str) else f"role is {role!r}, not 'user' or 'assistant'"
        return ItemView("unknown", (unknown_part(item),), kind, "mistral", None, id_, fault=fault)
    fault = view.fault or ("it has no content" if get("content") is None else "")
    return view._replace(type=kind, id=id_, whole_step=False, fault=fault)


_Reading = tuple[Role, Part, str]


def _read_call(item: object, get: Get) -> _Reading:
    """Return the reading of a call, which the server may want confirmed before it runs the tool."""
    name, arguments = named_id(get("name")), get("arguments")
    kind = "approval" if get("confirmation_status") == "pending" else call_kind(name)
    text = arguments_text(arguments)
    part = CallPart(named_id(get("tool_call_id")), name, text, kind, ENTRY_PAIR)
    fault = ""
    if not isinstance(arguments, (str, Mapping)):
        fault = f"arguments is {type(arguments).__name__}, not text or an object"
    return "assistant", whole_call(item, part) if name is None else part, fault


def _read_result(item: object, get: Get) -> _Reading:
    result = get("result")
    fault = "" if isinstance(result, str) else f"result is {type(result).__name__}, not text"
    part = ResultPart(named_id(get("tool_call_id")), None, arguments_text(result), pair=ENTRY_PAIR)
    return "tool", part, fault


def _read_execution(item: object, get: Get) -> _Reading:
    """Return the reading of a call that the server has run; `info` is what it says about that."""
    name, info = named_id(get("name")), get("info")
    found = json_text(info) if info else ""
    part = ServerCallPart(named_id(get("id")), name, arguments_text(get("arguments")), found)
    return "assistant", part, "it has no name" if name is None else ""


def _read_handoff(item: object, get: Get) -> _Reading:
    names = (
        named_id(get(f"{side}_agent_name")) or named_id(get(f"{side}_agent_id"))
        for side in ("previous", "next")
    )
    part = HandoffPart(*names)
    return "state", part, "it names no agent" if part == HandoffPart(None, None) else ""


def _read_unknown(item: object, get: Get) -> _Reading:
    return "unknown", unknown_part(item), ""


_READERS: Final[Mapping[str, Callable[[object, Get], _Reading]]] = {
    "function.call": _read_call,
    RESULT: _read_result,
    "tool.execution": _read_execution,
    HANDOFF: _read_handoff,
}


def _read_tool_file(block: Any) -> Part:
    """Return the reading of a file that a tool of the server's has made."""
    (name, place), type_ = _named(block, "file_name", "file_id"), _text(block, "file_type")
    return MediaPart("file", type_, None, name, source=place)


def _read_tool_reference(block: Any) -> Part:
    """Return the reading of a page that a tool of the server's has found."""
    (name, place), said = _named(block, "title", "url"), _text(block, "description")
    return MediaPart("reference", None, None, name, said or "", place)


def _named(block: Any, name: str, place: str) -> tuple[str | None, str]:
    return named_place(_text(block, name), _text(block, place))


def _text(block: Any, key: str) -> str | None:
    """Return a text of a chunk's, None where there is none: the SDK's `UNSET` is no text."""
    value = field(block, key)
    return value if isinstance(value, str) and value else None


_DIALECT: Final = Dialect(
    "mistral",
    SENT_ROLES,
    {**BLOCKS, "tool_file": _read_tool_file, "tool_reference": _read_tool_reference},
)


def said_entry(entry: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return an entry without its times, its id and fields at their default, which JSON has all.

    The id of what the server has run is the one that its call goes by.
    """
    dropped = {"object", "created_at", "completed_at"}
    if kind != "tool.execution":
        dropped.add("id")
    told = {k: v for k, v in entry.items() if k not in dropped and v is not None}
    return {k: v for k, v in told.items() if (kind, k, v) not in _DEFAULTS}


_DEFAULTS: Final = (("message.input", "prefix", False), ("message.output", "role", "assistant"))
"""mistralai 3.7.0, `MessageInputEntry` and `MessageOutputEntry`."""


# Writing


def sent_entry(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry of the SDK's in JSON types, with its times as it sends them."""
    times = ("created_at", "completed_at")
    said = {k: v.isoformat() for k, v in fields.items() if k in times and hasattr(v, "isoformat")}
    return cast("dict[str, Any]", plain({**fields, **said}))


def message_entry(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of a user's or an assistant's as an entry; others are none."""
    if message.get("role") not in SENT_ROLES:
        return message
    return {"object": "entry", "type": "message.input", **message}


def result_entry(call: ToolCallRecord, text: str) -> dict[str, Any] | None:
    """Return the entry that answers a call, None where the call is in a message.

    Raises:
        ShapeError: The server waits for a confirmation of the call, which no entry gives.
    """
    if call.pair != ENTRY_PAIR:
        return None
    if call.kind == "approval":
        raise ShapeError(
            "the call waits to be confirmed by its host (`tool_confirmations`), not for a text",
            shape="mistral",
            index=call.call_index,
        )
    return {"object": "entry", "type": RESULT, "tool_call_id": call.id, "result": text}


def text_of_answer(answer: Answer) -> str | None:
    """Return what answers a call in an entry, which holds nothing but a text; None in a message."""
    if answer.call.pair != ENTRY_PAIR or answer.text or not answer.blocks:
        return None
    texts = (field(b, "text") for b in answer.blocks)
    told = zip(answer.blocks, texts, strict=True)
    return "\n".join(t if isinstance(t, str) else json_text(b) for b, t in told)
