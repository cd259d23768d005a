"""What the Responses API refuses or forgets; part of the shape `openai_responses`.

Error texts are the server's own, as threads quote them: vercel/ai#7099, mastra#8738,
codex2api#414, openai-agents-python#1855, microsoft/agent-framework#3295, oh-my-pi#284 and #41,
langchainjs#11044, hermes-agent#102629 (all read 2026-11-22). Where none is known, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.native import field
from chatfold.core.views import CallPart, ItemView, ResultPart, ServerCallPart, UnknownPart
from chatfold.shapes._blocks import block_type, listed, textless
from chatfold.shapes._responses_calls import check_calls, problem
from chatfold.shapes._responses_rules import is_reasoning

__all__ = ["check_approved", "check_items"]

_NAME = "openai_responses"
_NO_ID_RULE = "__fake_id__"  # what the Agents SDK writes for models without item ids
_LONGEST_ID = 64
_ID = re.compile(r"[A-Za-z0-9_-]+")
_PREFIXES = {
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "message": "msg",
    "web_search_call": "ws",
}


def check_items(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield what the Responses API would refuse, item by item, then call by call."""
    yield from _check_reasoning(items, views)
    yield from _check_duplicates(views)
    yield from _check_ids(items, views)
    yield from _check_stored(items, views)
    yield from _check_commands(views)
    yield from _check_callers(views)
    yield from check_approved(views)
    yield from _check_nested(views)
    yield from _check_contents(items, views)
    yield from _check_arguments(items, views)
    yield from _check_forgotten(items, views)
    yield from check_calls(views, calls)


def _check_reasoning(items: Sequence[object], views: Sequence[ItemView]) -> Iterator[Problem]:
    followers = _followers(views)
    for index, view in enumerate(views):
        if view.shape != _NAME or not is_reasoning(view):
            continue
        if view.type == "reasoning" and field(items[index], "summary") is None:
            yield problem(
                "reasoning_without_summary",
                "reasoning needs the field `summary`, even if it is an empty list; drop the "
                "reasoning, or put its summary back",
                index,
                error=f"Input[{index}] missing required field `summary`",
            )
        if index and is_reasoning(views[index - 1]):
            yield problem(
                "reasoning_run",
                "two reasoning items in a row can come from the model, and the server has been "
                "seen to refuse them when they are sent back; if so, drop the first",
                index - 1,
                index,
                severity="warning",
            )
        follower = followers[index]
        if follower is None:
            yield problem(
                "reasoning_without_follower",
                "the message or the call that the model wrote after this reasoning is missing; "
                "put it back right behind, or drop the reasoning",
                index,
                error=f"Item '{view.id}' of type 'reasoning' was provided without its required "
                "following item.",
            )
        elif (view.type == "item_reference") != (views[follower].type == "item_reference"):
            yield problem(
                "half_a_reference",
                "of this reasoning and the item that follows it only one is a reference; send "
                "both as references or both in full",
                index,
                follower,
                error=f"Item '{views[follower].id}' of type '{views[follower].type}' was provided "
                f"without its required 'reasoning' item: '{view.id}'.",
            )


def _followers(views: Sequence[ItemView]) -> list[int | None]:
    """Return for each index the item of the model that comes next, if it comes at once.

    Lists of tools, which the server puts anywhere, and more reasoning stand in nobody's way.
    """
    found: list[int | None] = []
    follower: int | None = None
    for index in range(len(views) - 1, -1, -1):
        found.append(follower)
        view = views[index]
        if not is_reasoning(view) and view.type != "mcp_list_tools":
            newer = view.role == "unknown" and view.type and not view.fault
            wrote = view.role == "assistant" or newer
            follower = index if wrote else None
    return found[::-1]


def _check_duplicates(views: Sequence[ItemView]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, view in enumerate(views):
        if view.shape != _NAME or view.id is None or view.id == _NO_ID_RULE:
            continue
        # A local shell's output carries the id of its call.
        key = f"output:{view.id}" if view.type.endswith("_output") else view.id
        if key in seen:
            yield problem(
                "duplicate_item",
                f"this item has the id of item {seen[key]}; send each item once",
                index,
                seen[key],
                error=f"Duplicate item found with id {view.id}. Remove duplicate items from "
                "your input and try again.",
            )
        seen.setdefault(key, index)


def _check_ids(items: Sequence[object], views: Sequence[ItemView]) -> Iterator[Problem]:
    """Yield item ids and call ids that are not of the server's own form.

    Other servers of the same protocol write ids of other forms; only where the list also holds
    ids of OpenAI's own form is such an id sure to be refused.
    """
    own = [i for i, v in enumerate(views) if v.shape == _NAME]
    at_openai = any((views[i].id or "").startswith(f"{_PREFIXES.get(views[i].type)}_") for i in own)
    for index in own:
        view = views[index]
        call_id = field(items[index], "call_id")
        if isinstance(call_id, str) and len(call_id) > _LONGEST_ID:
            yield problem(
                "long_call_id",
                f"a call id may have {_LONGEST_ID} characters; shorten it, in the call and in its "
                "result alike",
                index,
                error=f"Invalid 'input[{index}].call_id': string too long. Expected a string with "
                f"maximum length {_LONGEST_ID}, but got a string with length {len(call_id)} "
                "instead.",
            )
        if view.id is None or view.id == _NO_ID_RULE or view.type.endswith("_output"):
            continue
        wrong = _id_error(index, view)
        if wrong is not None:
            expected, certain = wrong
            yield problem(
                "bad_item_id",
                "the item's own id is not one that the server gave; leave the id out",
                index,
                error=expected,
                severity="error" if certain or at_openai else "warning",
            )


def _id_error(index: int, view: ItemView) -> tuple[str, bool] | None:
    """Return the server's text about an item's id, and whether every server minds."""
    id_ = view.id or ""
    start = f"Invalid 'input[{index}].id': "
    if len(id_) > _LONGEST_ID:
        text = (
            f"{start}string too long. Expected a string with maximum length {_LONGEST_ID}, but "
            f"got a string with length {len(id_)} instead."
        )
        return text, True
    if not _ID.fullmatch(id_):
        text = (
            f"{start}'{id_}'. Expected an ID that contains letters, numbers, underscores, or "
            "dashes, but this value contained additional characters."
        )
        return text, True
    prefix = _PREFIXES.get(view.type)
    if prefix is None or id_.startswith(prefix):
        return None
    if view.type == "message" and view.role != "assistant":
        return None
    return f"{start}'{id_}'. Expected an ID that begins with '{prefix}'.", False


def _check_stored(items: Sequence[object], views: Sequence[ItemView]) -> Iterator[Problem]:
    """Yield, as one problem, what only a server that stored the response can find."""
    named = [i for i, v in enumerate(views) if v.shape == _NAME and v.type == "item_reference"]
    unsealed = [
        i
        for i, v in enumerate(views)
        if v.type == "reasoning"
        and (v.id or "").startswith("rs_")
        and not field(items[i], "encrypted_content")
    ]
    if indices := sorted([*named, *unsealed]):
        yield problem(
            "needs_store",
            "these items are known to the server by their id alone, so the responses that they "
            "come from must have been stored; with store=False send items in full, and reasoning "
            "with its encrypted_content",
            *indices,
            severity="warning",
            error=f"Item with id '{field(items[indices[0]], 'id')}' not found. Items are not "
            "persisted when `store` is set to false. Try again with `store` set to true, or "
            "remove this item from your input.",
        )


def _check_commands(views: Sequence[ItemView]) -> Iterator[Problem]:
    for index, view in enumerate(views[:-1]):
        if any(type(p) is UnknownPart and p.command for p in view.parts):
            yield problem(
                "command_not_last",
                f"a {view.type} must be the final item; take it out once it was carried out",
                index,
            )


def _check_callers(views: Sequence[ItemView]) -> Iterator[Problem]:
    programs: set[str | None] = {None}  # a call without a caller is the model's own
    for index, view in enumerate(views):
        for part in view.parts:
            if type(part) is CallPart and part.kind == "program":
                programs.add(part.id)
            elif isinstance(part, (CallPart, ResultPart)) and part.caller not in programs:
                yield problem(
                    "caller_missing",
                    f"the program {part.caller!r} that made this call is not in the list before "
                    "it; put the program back, or take out all that it called",
                    index,
                )


def check_approved(views: Sequence[ItemView]) -> Iterator[Problem]:
    """Yield calls that a request for approval allowed which is not in the list."""
    asked: set[str] = set()
    for index, view in enumerate(views):
        for part in view.parts:
            if type(part) is CallPart and part.kind == "approval" and part.id is not None:
                asked.add(part.id)
            elif type(part) is ServerCallPart and part.approval and part.approval not in asked:
                yield problem(
                    "approval_parted",
                    f"the request {part.approval!r} that allowed this call is not in the list "
                    "before it; put it back with its answer, or take out the call",
                    index,
                )


def _check_nested(views: Sequence[ItemView]) -> Iterator[Problem]:
    for index, view in enumerate(views):
        message = view.shape == _NAME and view.type == "message"
        if message and any(type(p) is CallPart for p in view.parts):
            yield problem(
                "nested_call",
                "a call inside a message's content is no input; make it an item of its own, of "
                "type function_call",
                index,
            )


def _check_contents(items: Sequence[object], views: Sequence[ItemView]) -> Iterator[Problem]:
    """Yield messages of the model with text as a user gives it, as converters write them.

    https://github.com/jeremychone/rust-genai/pull/119 (read 2026-11-27).
    """
    for index, view in enumerate(views):
        if view.role != "assistant" or view.type != "message" or view.shape != _NAME:
            continue
        blocks = listed(field(items[index], "content"))
        if any(block_type(block) == "input_text" for block in blocks):
            yield problem(
                "input_of_the_model",
                "text of the assistant is `output_text`, or the content itself; `input_text` is "
                "what others say",
                index,
                error="Invalid value: 'input_text'. Supported values are: 'output_text' and "
                "'refusal'.",
            )


def _check_arguments(items: Sequence[object], views: Sequence[ItemView]) -> Iterator[Problem]:
    """Yield calls whose arguments are no text, as a host may write them that has parsed them."""
    for index, view in enumerate(views):
        part = view.parts[0] if view.parts else None
        if type(part) is CallPart and part.no_text and view.shape == _NAME:
            arguments = field(items[index], "arguments")
            yield problem(
                "arguments_no_text",
                "the arguments of a call are no text; write them as JSON, no arguments as '{}'",
                index,
                error=textless(f"input[{index}].arguments", arguments),
            )


def _check_forgotten(items: Sequence[object], views: Sequence[ItemView]) -> Iterator[Problem]:
    """Yield what the server takes, and yet does worse without: phases and lists of tools."""
    said = {i for i, v in enumerate(views) if v.type == "message" and v.role == "assistant"}
    phased = any(field(items[i], "phase") for i in said)
    told: set[str] = set()
    for index, view in enumerate(views):
        if view.shape != _NAME:
            continue
        label = field(items[index], "server_label")
        if view.type == "mcp_list_tools":
            told.add(str(label))
        elif view.type in ("mcp_call", "mcp_approval_request") and str(label) not in told:
            yield problem(
                "tools_not_listed",
                f"the list of the tools of {label!r} is missing, so the server fetches it again; "
                "keep the mcp_list_tools item",
                index,
                severity="loss",
            )
        elif phased and view.id and index in said and not field(items[index], "phase"):
            yield problem(
                "phase_missing",
                "other messages of the model say their phase, and this one has lost it; send "
                "messages back with their `phase`, or answers get worse",
                index,
                severity="loss",
            )
