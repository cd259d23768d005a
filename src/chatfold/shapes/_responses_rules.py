"""What the Responses API requires together and refuses; part of the shape `openai_responses`.

Rules R1 to R7: reasoning is enforced by item id (openai-agents-python#1611, continue#8933,
mastra#8738); a program encloses the calls it made; an approval, its answer and the call it allows
are one. https://developers.openai.com/api/docs/guides/reasoning (read 2026-11-21).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.spans import Span
from chatfold.core.views import (
    CallPart,
    ItemView,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    TextPart,
    UnknownPart,
    field,
)

__all__ = ["check_items", "reasoning_spans"]

_NAME = "openai_responses"
_SOURCE = "https://developers.openai.com/api/docs/guides/reasoning (read 2026-11-21)"
_ENDS_SCOPE = frozenset(
    {"additional_tools", "configuration_update", "compaction", "mcp_approval_response"}
)
_FAMILY_WORDS = {"custom": "custom tool call", "computer": "computer call"}
_NO_ID_RULE = "__fake_id__"  # what the Agents SDK writes for models without item ids


def reasoning_spans(views: Sequence[ItemView]) -> list[Span]:
    """Return the spans of reasoning scopes, programs and approvals."""
    return [*_scopes(views), *_programs(views), *_approvals(views)]


def _scopes(views: Sequence[ItemView]) -> Iterator[Span]:
    """Yield each run of reasoning with all that the model emitted up to the next run.

    An item of the model is refused without the reasoning it came with, and reasoning without
    the item that followed it; outputs that a client put in between end nothing.
    """
    first, last, in_run = -1, -1, False
    for index, view in enumerate(views):
        reasoning = _is_reasoning(view)
        ends = view.role in ("user", "system", "developer") or view.type in _ENDS_SCOPE
        if ends or (reasoning and not in_run):
            if first >= 0 and last > first:
                yield Span(first, last, "all")
            first = index if reasoning else -1
            last = first
        elif first >= 0 and view.role in ("assistant", "unknown"):
            last = index
        in_run = reasoning
    if first >= 0 and last > first:
        yield Span(first, last, "all")


def _is_reasoning(view: ItemView) -> bool:
    return bool(view.parts) and type(view.parts[0]) is ReasoningPart and len(view.parts) == 1


def _programs(views: Sequence[ItemView]) -> Iterator[Span]:
    """Yield each program with every call and result that names it as its caller."""
    started: dict[str, tuple[int, int]] = {}
    for index, view in enumerate(views):
        for part in view.parts:
            if type(part) is CallPart and part.kind == "program" and part.id is not None:
                if part.id in started:
                    yield Span(*started[part.id], "all")
                started[part.id] = (index, index)
            elif isinstance(part, (CallPart, ResultPart)):
                program = part.id if part.pair == "program" else part.caller
                if program in started:
                    started[program] = (started[program][0], index)
    for first, last in started.values():
        yield Span(first, last, "all")


def _approvals(views: Sequence[ItemView]) -> Iterator[Span]:
    """Yield each approval's request with its response and the call that it allowed.

    An approved call that is still to be made is open: the server finds its way by these items.
    """
    asked: dict[str, int] = {}
    approved: dict[str, int] = {}
    for index, view in enumerate(views):
        speaks = view.role == "assistant" and any(
            type(p) is TextPart or (type(p) is CallPart and p.kind != "approval")
            for p in view.parts
        )
        for part in view.parts:
            if type(part) is CallPart and part.kind == "approval" and part.id is not None:
                asked[part.id] = index
            elif type(part) is ResultPart and part.pair == "approval" and part.id in asked:
                yield Span(asked[part.id], index)
                if not part.failed:
                    approved[part.id] = asked[part.id]
            elif type(part) is ServerCallPart and part.approval in asked:
                yield Span(asked[part.approval], index)
                approved.pop(part.approval, None)
        if speaks:
            approved.clear()  # the model went on without the call
    for first in approved.values():
        yield Span(first, len(views))


def check_items(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield what the Responses API would refuse, item by item, then call by call."""
    yield from _check_reasoning(items, views)
    yield from _check_ids(views)
    yield from _check_commands(views)
    yield from _check_callers(views)
    yield from _check_nested(views)
    yield from _check_calls(views, calls)


def _problem(
    rule: str, message: str, *indices: int, error: str = "", severity: str = "error"
) -> Problem:
    return Problem(rule, message, indices, severity, error, _NAME, _SOURCE)  # type: ignore[arg-type]


def _check_reasoning(items: Sequence[object], views: Sequence[ItemView]) -> Iterator[Problem]:
    for index, view in enumerate(views):
        if view.shape != _NAME or not _is_reasoning(view):
            continue
        if view.type == "reasoning" and field(items[index], "summary") is None:
            yield _problem(
                "reasoning_without_summary",
                "reasoning needs its summary, even an empty one",
                index,
                error=f"Input[{index}] missing required field `summary`",
            )
        follower = index + 1
        while follower < len(views) and _is_reasoning(views[follower]):
            follower += 1
        if follower == len(views) or views[follower].role not in ("assistant", "unknown", "state"):
            yield _problem(
                "reasoning_without_follower",
                "the item that the model emitted after this reasoning is missing",
                index,
                error=f"Item '{view.id}' of type 'reasoning' was provided without its required "
                "following item.",
            )


def _check_ids(views: Sequence[ItemView]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, view in enumerate(views):
        if view.shape != _NAME or view.id is None or view.id == _NO_ID_RULE:
            continue
        # A local shell's output carries the id of its call.
        key = f"output:{view.id}" if view.type.endswith("_output") else view.id
        if key in seen:
            yield _problem(
                "duplicate_item",
                f"items {seen[key]} and {index} have the same id",
                index,
                seen[key],
                error=f"Duplicate item found with id {view.id}. Remove duplicate items from "
                "your input and try again.",
            )
        seen.setdefault(key, index)


def _check_commands(views: Sequence[ItemView]) -> Iterator[Problem]:
    for index, view in enumerate(views[:-1]):
        if any(type(p) is UnknownPart and p.command for p in view.parts):
            yield _problem("command_not_last", f"a {view.type} must be the final item", index)


def _check_callers(views: Sequence[ItemView]) -> Iterator[Problem]:
    programs: set[str | None] = {None}  # a call without a caller is the model's own
    for index, view in enumerate(views):
        for part in view.parts:
            if type(part) is CallPart and part.kind == "program":
                programs.add(part.id)
            elif isinstance(part, (CallPart, ResultPart)) and part.caller not in programs:
                yield _problem(
                    "caller_missing",
                    f"the program {part.caller!r} that made this call is not in the list",
                    index,
                )


def _check_nested(views: Sequence[ItemView]) -> Iterator[Problem]:
    for index, view in enumerate(views):
        message = view.shape == _NAME and view.type == "message"
        if message and any(type(p) is CallPart for p in view.parts):
            yield _problem(
                "nested_call",
                "a call inside a message's content is no input; it has to be an item",
                index,
            )


def _check_calls(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    last_step = _last_step(views)
    yield from _check_reused(calls)
    for call in calls:
        words = _FAMILY_WORDS.get(call.pair, "function call")
        if call.call_index is None and call.result_index is not None:
            yield _problem(
                "orphan_result",
                f"this result answers {call.label!r}, and no unanswered call of that id stands "
                "before it",
                call.result_index,
                error=f"No tool call found for {words} output with call_id {call.id}.",
            )
        elif call.result_index is None and call.call_index is not None:
            waits = call.asynchronous or call.kind == "approval" or call.call_index >= last_step
            if call.pair == "server":
                continue
            yield _problem(
                "unanswered_call",
                f"no result for {call.label!r}",
                call.call_index,
                severity="pending" if waits else "error",
                error=""
                if call.kind == "approval"
                else f"No tool output found for {words} {call.id}.",
            )


def _check_reused(calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield results for a call id that has one already: the API knows a call by its id alone."""
    answered: dict[tuple[str, str], int] = {}
    for call in calls:
        if call.id is None or call.result_index is None or call.call_index is None:
            continue
        if call.pair == "server":
            continue
        first = answered.setdefault((call.pair, call.id), call.result_index)
        if first != call.result_index:
            yield _problem(
                "duplicate_result",
                f"the call id {call.id!r} has a result before, in item {first}",
                call.result_index,
                first,
                error=f"Duplicate function_call_output for call_id {call.id}",
            )


def _last_step(views: Sequence[ItemView]) -> int:
    """Return the index behind which nobody but the model and its tools has spoken."""
    for index in range(len(views) - 1, -1, -1):
        if views[index].role == "user":
            return index
    return 0
