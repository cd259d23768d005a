"""Calls and outputs that the Responses API refuses; part of the shape `openai_responses`.

Error texts are the server's own, as threads quote them; `_responses_problems` names the threads,
and has what else is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Severity
from chatfold.core.views import CallPart, ItemView, ResultPart
from chatfold.shapes._responses_rules import is_reasoning

__all__ = ["check_calls", "problem", "unanswered", "unasked"]

_NAME = "openai_responses"
_SOURCE = "https://developers.openai.com/api/docs/guides/reasoning (read 2026-11-21)"
_NO_OUTPUT = {
    "function": "No tool output found for function call {id}.",
    "custom": "No tool output found for custom tool call {id}.",
    "computer": "No tool output found for computer call {id}.",
    "local_shell": "No tool output found for local shell call {id}.",
}
_NO_CALL = {
    "function": "No tool call found for function call output with call_id {id}.",
    "custom": "No tool call found for custom tool call output with call_id {id}.",
    "computer": "No tool call found for computer call with call_id {id}.",
}
# What the host alone writes, so that the model's words behind it begin a new response.
_HOST_OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "computer_call_output",
        "local_shell_call_output",
        "apply_patch_call_output",
    }
)


def check_calls(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield what is wrong with calls and outputs, call by call."""
    yield from _check_pairs(views, calls)
    yield from _check_reused(calls)


def problem(
    rule: str, message: str, *indices: int, error: str = "", severity: Severity = "error"
) -> Problem:
    """Return what the API would refuse; `error` is the server's text, where it is known."""
    return Problem(rule, message, indices, severity, error, _NAME, _SOURCE)


def _check_pairs(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    last_step = _last_step(views)
    answered: dict[tuple[str, str | None], int] = {}
    for call in calls:
        if call.call_index is not None and call.result_index is not None:
            answered[call.pair, call.id] = call.result_index
    for index, view in enumerate(views):
        yield from _lacking(index, view)
    for call in calls:
        if _is_nameless(views, call):
            yield problem(
                "result_without_id",
                f"this result does not name its call, so the server has to guess; by its place it "
                f"answers {call.id!r}: give it that call_id",
                call.result_index or 0,
                call.call_index or 0,
                severity="loss",
            )
        if call.call_index is None and call.result_index is not None:
            yield unasked(call, answered.get((call.pair, call.id)))
        elif call.result_index is None and call.call_index is not None and call.pair != "server":
            yield unanswered(call, late=call.call_index < last_step)


def _lacking(index: int, view: ItemView) -> Iterator[Problem]:
    """Yield what a call to a function has to have, and lacks."""
    if view.shape != _NAME or view.type not in ("function_call", "custom_tool_call"):
        return
    for part in view.parts:
        if type(part) is CallPart:
            for lacks, of in (("call_id", part.id), ("name", part.name)):
                if of is None:
                    yield problem(
                        "malformed_item",
                        f"a {view.type} without its {lacks}; give it one",
                        index,
                        error=f"Missing required parameter: 'input[{index}].{lacks}'.",
                    )


def unanswered(call: ToolCallRecord, *, late: bool) -> Problem:
    """Return the problem of a call without a result.

    Args:
        call: The call.
        late: Whether the conversation went on without it.
    """
    waits = call.asynchronous or call.kind == "approval" or not late
    return problem(
        "unanswered_call",
        f"no result for {call.label!r}; "
        + (
            "add an mcp_approval_response that allows or denies it"
            if call.kind == "approval"
            else "add the result, or one that says that there is none"
        ),
        call.call_index or 0,
        severity="pending" if waits else "error",
        error=_NO_OUTPUT.get(call.pair, "").format(id=call.id),
    )


def _is_nameless(views: Sequence[ItemView], call: ToolCallRecord) -> bool:
    """Return whether a result without an id is bound to a call that has one."""
    if call.id is None or call.call_index is None or call.result_index is None:
        return False
    part = views[call.result_index].parts[0]
    return type(part) is ResultPart and part.id is None


def unasked(call: ToolCallRecord, first: int | None) -> Problem:
    """Return the problem of a result without a call: a second one, or an orphan."""
    index = call.result_index or 0
    if first is not None and first < index and call.id is not None:
        return problem(
            "duplicate_result",
            f"the call {call.id!r} has a result before, in item {first}; keep one of them",
            index,
            first,
            error=f"Duplicate function_call_output for call_id '{call.id}'. Each function_call "
            "must have exactly one matching function_call_output"
            if call.pair == "function"
            else "",
        )
    return problem(
        "orphan_result",
        f"this result answers {call.label!r}, and no unanswered call of that id stands before it; "
        "put the call back, or take out the result",
        index,
        error=_NO_CALL.get(call.pair, "").format(id=call.id),
    )


def _check_reused(calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield calls under the id of an earlier one: only the id tells which result is whose.

    Servers have been seen to take such a list, to give all results to the later call
    (https://github.com/openai/gpt-oss/pull/309), and to refuse it
    (https://github.com/NousResearch/hermes-agent/issues/102629), both read 2026-11-22.
    """
    seen: dict[tuple[str, str], int] = {}
    for call in calls:
        if call.id is None or call.call_index is None or call.pair in ("server", "approval"):
            continue
        first = seen.setdefault((call.pair, call.id), call.call_index)
        if first != call.call_index:
            own = () if call.result_index is None else (call.result_index,)
            yield problem(
                "reused_call_id",
                f"the call id {call.id!r} was used before, by item {first}, so the results of the "
                "two may be mixed up; give this call and its result another id",
                call.call_index,
                *own,
                first,
                severity="loss",
                error=f"Duplicate function_call_output for call_id '{call.id}'. Each function_call "
                "must have exactly one matching function_call_output",
            )


def _last_step(views: Sequence[ItemView]) -> int:
    """Return the index from which on a call may still get its output.

    That is the last thing the user said, or the start of the last response that is sure to be a
    new one: reasoning or words of the model right behind a result.
    """
    for index in range(len(views) - 1, -1, -1):
        view = views[index]
        if view.role == "user":
            return index
        speaks = is_reasoning(view) or (view.role == "assistant" and view.type == "message")
        if speaks and index and views[index - 1].type in _HOST_OUTPUTS:
            return index
    return 0
