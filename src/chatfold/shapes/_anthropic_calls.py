"""Calls and results that the Messages API refuses; part of the shape `anthropic`.

Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview (read 2026-11-21).
Error texts are the server's own, as threads quote them: claude-code#5989, #18947, #20508, #64383,
tghamm/Anthropic.SDK#128 (read 2026-11-22).
Not here: what else it refuses (`_anthropic_problems`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Severity, unnamed
from chatfold.core.native import field
from chatfold.core.views import (
    CallPart,
    ItemView,
    ResultPart,
)
from chatfold.shapes._anthropic_rules import is_served, is_setting
from chatfold.shapes._blocks import block_type, listed

__all__ = ["check_calls", "problem"]

_NAME = "anthropic"
_TOOLS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview (read 2026-11-21)"
_FORM = "https://github.com/OpenSecretCloud/maple-proxy/issues/18 (read 2026-11-27)"
_TOOLSETS = "anthropic 2.14.0, lib/tools/_toolsets/_runnable.py: the API rejects a mismatch"

_ID = re.compile(r"[a-zA-Z0-9_-]+")


class _Run(NamedTuple):
    """Messages of one role in a row: the server makes one turn of them."""

    role: str
    indices: list[int]


def check_calls(
    items: Sequence[object],
    views: Sequence[ItemView],
    own: Sequence[int],
    calls: Sequence[ToolCallRecord],
) -> Iterator[Problem]:
    """Yield what is wrong with calls and results.

    Args:
        items: The list.
        views: Its readings.
        own: Indices of the messages of this API.
        calls: The records of the list's calls.
    """
    runs = _runs(views, own)
    yield from _check_results(views, runs, calls)
    yield from _check_toolsets(items, calls)
    yield from _check_call_ids(views, runs)
    yield from _check_unanswered(views, runs, calls)
    yield from _check_server_calls(items, views, calls)


def problem(
    rule: str,
    message: str,
    *indices: int,
    error: str = "",
    severity: Severity = "error",
    source: str = _TOOLS,
) -> Problem:
    """Return what the API would refuse; `error` is the server's text, where it is known."""
    return Problem(rule, message, indices, severity, error, _NAME, source)


def _runs(views: Sequence[ItemView], own: Sequence[int]) -> list[_Run]:
    """Return runs of messages of one role; messages that only set options part nothing."""
    runs: list[_Run] = []
    for index in own:
        role = views[index].role
        if is_setting(views[index]):
            continue
        if runs and runs[-1].role == role:
            runs[-1].indices.append(index)
        else:
            runs.append(_Run(role, [index]))
    return runs


def _check_results(
    views: Sequence[ItemView], runs: Sequence[_Run], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield results that do not follow their call at once, or come after other content."""
    places: dict[tuple[int, str | None], int] = {}
    for call in calls:
        if call.result_index is not None and call.call_index is not None:
            places[call.result_index, call.id] = call.call_index
    lacking = Counter[int]()  # results that their place alone binds to a call, by their message
    for call in unnamed(views, calls):
        if call.pair != "function":
            continue
        index, asked = cast(int, call.result_index), cast(int, call.call_index)
        lacking[index] += 1
        yield problem(
            "result_without_id",
            f"this result does not name its call; by its place it answers {call.id!r}, so give it "
            "that tool_use_id",
            index,
            asked,
            error=f"messages.{index}.content.0.tool_result.tool_use_id: Field required",
        )
    waiting: dict[str | None, int] = {}
    for role, indices in runs:
        if role == "user":
            yield from _check_batch(views, indices, waiting, places, lacking)
        waiting = {
            part.id: index
            for index in indices
            for part in views[index].parts
            if role == "assistant" and type(part) is CallPart and part.pair == "function"
        }


def _check_batch(
    views: Sequence[ItemView],
    indices: Sequence[int],
    waiting: dict[str | None, int],
    places: dict[tuple[int, str | None], int],
    lacking: Counter[int],
) -> Iterator[Problem]:
    """Yield what is wrong with the results in one user's turn.

    Args:
        views: The readings of the list.
        indices: Indices of the turn's messages.
        waiting: The calls of the turn before, by id, with the index of their message.
        places: For a result's index and id, the index of the call that it answers.
        lacking: The number of results in a message that are told of, as they lack an id.
    """
    spoken = False
    seen: dict[str | None, int] = {}
    for index in indices:
        for place, part in enumerate(views[index].parts):
            if type(part) is not ResultPart or is_served(part):
                spoken = True
                continue
            if part.id is None and lacking[index] > 0:
                lacking[index] -= 1
                continue
            if part.id in seen:
                yield problem(
                    "duplicate_result",
                    f"a second result for {part.id!r}, which has one in item {seen[part.id]}; keep "
                    "one of them",
                    index,
                    seen[part.id],
                    error="each tool_use must have a single result. Found multiple `tool_result` "
                    f"blocks with id: {part.id}",
                )
            elif part.id not in waiting:
                yield _parted(index, place, part.id, places.get((index, part.id)))
            elif spoken:
                yield problem(
                    "result_not_first",
                    "results must come before any other content of the message; put them first",
                    index,
                    waiting[part.id],
                    error=f"messages.{waiting[part.id]}: `tool_use` ids were found without "
                    f"`tool_result` blocks immediately after: {part.id}.",
                )
            elif index != waiting[part.id] + 1:
                yield problem(
                    "split_results",
                    "calls or results are spread over several messages of one role; the server "
                    "makes one turn of them, and strict proxies refuse them",
                    index,
                    *range(waiting[part.id], index),
                    severity="warning",
                )
            seen.setdefault(part.id, index)


def _parted(index: int, place: int, id_: str | None, asked: int | None) -> Problem:
    error = (
        f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `tool_result` "
        f"blocks: {id_}. Each `tool_result` block must have a corresponding `tool_use` block in "
        "the previous message."
    )
    if asked is not None:
        return problem(
            "late_result",
            f"the call {id_!r} is in item {asked}, and other messages stand between it and this "
            "result; move the result into the message right behind the call",
            index,
            asked,
            error=error,
        )
    return problem(
        "orphan_result",
        f"this result answers {id_!r}, and no unanswered call of that id stands before it; put "
        "the call back, or take out the result",
        index,
        error=error,
    )


def _check_toolsets(items: Sequence[object], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield results of members of toolsets that do not name the toolset of their call."""
    for call in calls:
        index, asked = call.result_index, call.call_index
        if call.toolset is None or index is None or asked is None:
            continue
        content: Any = field(items[index], "content")
        own = [b for b in listed(content) if field(b, "tool_use_id") == call.id]
        if own and field(own[0], "toolset_name") != call.toolset:
            yield problem(
                "toolset_name",
                f"the result of {call.label!r}, a call of a member of a toolset, does not name it; "
                f"give it the toolset_name {call.toolset!r}",
                index,
                asked,
                source=_TOOLSETS,
            )


def _check_call_ids(views: Sequence[ItemView], runs: Sequence[_Run]) -> Iterator[Problem]:
    """Yield calls that lack an id or a name, and ids that recur.

    That is refused inside one turn, and a trap between turns.

    Every published refusal names a block of the same message (claude-code#20573, #21317, #28515,
    read 2026-11-22), and a recorded conversation with one id in two rounds was answered.
    """
    seen: dict[str, tuple[int, int]] = {}
    for number, (_, indices) in enumerate(runs):
        for index in indices:
            for place, part in enumerate(views[index].parts):
                if type(part) is not CallPart:
                    continue
                for lacks, of in (("an id", part.id), ("a name", part.name)):
                    if of is None:
                        yield problem(
                            "malformed_item",
                            f"a tool_use without {lacks}; give it one",
                            index,
                            error=f"messages.{index}.content.{place}.tool_use."
                            f"{lacks.split()[1]}: Field required",
                        )
                if part.id is None:
                    continue
                if not (is_served(part) or _ID.fullmatch(part.id)):
                    yield _misformed(index, place, part.id)
                if part.id in seen:
                    turn, first = seen[part.id]
                    yield problem(
                        "duplicate_call_id",
                        f"the call id {part.id!r} is used before, in item {first}; give each call "
                        "an id of its own",
                        index,
                        first,
                        severity="error" if turn == number and not is_served(part) else "warning",
                        error=f"messages.{index}.content.{place}: `tool_use` ids must be unique",
                    )
                seen[part.id] = (number, index)


def _misformed(index: int, place: int, id_: str) -> Problem:
    return problem(
        "call_id_form",
        f"the call id {id_!r} has other characters than letters, digits, underscores and dashes, "
        "as ids of other providers may; give the call and its result another",
        index,
        error=f"messages.{index}.content.{place}.tool_use.id: String should match pattern "
        f"'^{_ID.pattern}$'",
        source=_FORM,
    )


def _check_unanswered(
    views: Sequence[ItemView], runs: Sequence[_Run], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    last = _last_turn(views)
    answered = _answered_there(len(views), runs)
    for call in calls:
        index = call.call_index
        if index is None or call.pair.startswith("server"):
            continue
        if call.result_index is not None and index in answered[call.result_index]:
            continue
        ids = f"messages.{index}: `tool_use` ids were found without `tool_result` blocks"
        yield problem(
            "unanswered_call",
            f"no result for {call.label!r} in the next message; add the result there, or one that "
            "says that there is none",
            index,
            severity="pending" if index >= last and call.result_index is None else "error",
            error=f"{ids} immediately after: {call.id}. Each `tool_use` block must have a "
            "corresponding `tool_result` block in the next message.",
        )


def _last_turn(views: Sequence[ItemView]) -> int:
    """Return where the assistant's turn begins behind which nothing but results has come."""
    first = len(views)
    while first and views[first - 1].role == "user" and _only_results(views[first - 1]):
        first -= 1
    while first and views[first - 1].role == "assistant":
        first -= 1
    return first


def _answered_there(length: int, runs: Sequence[_Run]) -> list[range]:
    """Return for each item which items' calls may have their result there.

    Those are the calls of the assistant's turn before the user's, and none where another speaks.
    """
    found = [range(0)] * length
    for number, (role, indices) in enumerate(runs):
        if role != "user":
            continue
        asked = number > 0 and runs[number - 1].role == "assistant"
        barred = number - (2 if asked else 1)  # the last turn behind which all may be answered
        since = runs[barred].indices[-1] if barred >= 0 else 0
        behind = runs[number + 1].indices[0] if number + 1 < len(runs) else length
        for index, until in pairwise([*indices, behind]):  # what stands between is passed over
            found[index:until] = [range(since, index)] * (until - index)
    return found


def _check_server_calls(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    for call in calls:
        if not call.pair.startswith("server") or call.call_index == call.result_index:
            continue
        if call.call_index is None:
            index = call.result_index or 0
            kind = _result_type(items[index], call.id)
            made = "mcp_tool_use" if kind == "mcp_tool_result" else "server_tool_use"
            yield problem(
                "orphan_result",
                f"this result answers {call.label!r}, and no call of the server with that id "
                "stands before it; put the call back, or take out the result",
                index,
                error=f"unexpected `tool_use_id` found in `{kind}` blocks: {call.id}. Each "
                f"`{kind}` block must have a corresponding `{made}` block before it.",
            )
        elif call.result_index is None:
            yield problem(
                "unanswered_call",
                f"no result for {call.label!r}, which the server runs itself; send the list back "
                "as it was, or take out the call",
                call.call_index,
                severity="pending" if _still_runs(views, call) else "error",
            )


def _still_runs(views: Sequence[ItemView], call: ToolCallRecord) -> bool:
    """Return whether nothing follows a server's call but what it asked for, and got.

    Code that calls the host's tools does so message by message, of nothing but these calls, until
    it has ended: https://github.com/withceleste/celeste-python/pull/299 (read 2026-11-27).
    """
    asked = call.call_index or 0
    return all(
        _only_results(view) if view.role == "user" else _only_calls_by(call.id, view)
        for view in islice(views, asked + 1, None)
    )


def _only_calls_by(caller: str | None, view: ItemView) -> bool:
    calls = (type(part) is CallPart and part.caller == caller for part in view.parts)
    return bool(view.parts) and all(calls)


def _result_type(item: object, id_: str | None) -> str:
    """Return the type of the block that holds a server's result."""
    content: Any = field(item, "content")
    for block in listed(content):
        kind = block_type(block) or ""
        if kind.endswith("_tool_result") and field(block, "tool_use_id") == id_:
            return kind
    return "server_tool_result"


def _only_results(view: ItemView) -> bool:
    return bool(view.parts) and all(type(p) is ResultPart and not is_served(p) for p in view.parts)
