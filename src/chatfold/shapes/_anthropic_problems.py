"""What the Messages API refuses or forgets; part of the shape `anthropic`.

Sources, all read 2026-11-21: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview,
https://platform.claude.com/docs/en/build-with-claude/preserved-thinking,
https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages,
https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand.
Error texts are the server's own, as threads quote them: claude-code#5989, #18947, #20508, #64383,
tghamm/Anthropic.SDK#128 (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Severity
from chatfold.core.native import field
from chatfold.core.views import (
    CallPart,
    ItemView,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    TextPart,
    UnknownPart,
)
from chatfold.shapes._anthropic_rules import is_free, is_served
from chatfold.shapes._blocks import block_type

__all__ = ["check_messages"]

_NAME = "anthropic"
_TOOLS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview (read 2026-11-21)"
_INPUT = "https://github.com/langchain-ai/langsmith-sdk/issues/2435 (read 2026-11-26)"
_SYSTEM = (
    "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages "
    "(read 2026-11-21)"
)
_THINKING = (
    "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking (read 2026-11-21)"
)
_COMPACTION = (
    "https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand (read 2026-11-21)"
)


class _Run(NamedTuple):
    """Messages of one role in a row: the server makes one turn of them."""

    role: str
    indices: list[int]


def check_messages(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield what the Messages API would refuse."""
    own = [i for i, v in enumerate(views) if v.shape == _NAME]
    runs = _runs(views, own)
    yield from _check_first(views, own)
    yield from _check_contents(items, views, own)
    yield from _check_inputs(items, own)
    yield from _check_places(views, own)
    yield from _check_results(views, runs, calls)
    yield from _check_call_ids(views, runs)
    yield from _check_calls(views, calls)
    yield from _check_server_calls(items, views, calls)
    yield from _check_system(views, own)
    yield from _check_thinking(items, views, own)
    yield from _check_compaction(items, views, own)


def _problem(
    rule: str,
    message: str,
    *indices: int,
    error: str = "",
    severity: Severity = "error",
    source: str = _TOOLS,
) -> Problem:
    return Problem(rule, message, indices, severity, error, _NAME, source)


def _runs(views: Sequence[ItemView], own: Sequence[int]) -> list[_Run]:
    """Return runs of messages of one role; messages that only set options part nothing."""
    runs: list[_Run] = []
    for index in own:
        role = views[index].role
        if role == "system" and is_free(views[index]):
            continue
        if runs and runs[-1].role == role:
            runs[-1].indices.append(index)
        else:
            runs.append(_Run(role, [index]))
    return runs


def _check_first(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    first = next((i for i in own if not (views[i].role == "system" and is_free(views[i]))), None)
    if first is None or views[first].role == "user":
        return
    if views[first].role == "system":
        yield _problem(
            "first_role",
            "an instruction cannot be the first message; send it as the request's `system`",
            first,
            error=f"messages.{first}: use the top-level 'system' parameter for the initial system "
            "prompt",
            source=_SYSTEM,
        )
    elif not (views[first].parts and type(views[first].parts[0]) is OpaquePart):
        yield _problem(
            "first_role",
            "the first message must be the user's; put back the request that this answers, or "
            "drop what stands before the first user message",
            first,
            error='messages: first message must use the "user" role',
        )


def _check_contents(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    for index in own:
        view = views[index]
        blank = [p for p in view.parts if type(p) is TextPart and not p.text.strip()]
        whole = isinstance(field(items[index], "content"), str)
        last = index == len(views) - 1 and view.role == "assistant"
        if not view.parts or (whole and blank and not blank[0].text):
            if not last:
                yield _problem(
                    "empty_message",
                    "a message without content; take it out",
                    index,
                    error=f"messages.{index}: all messages must have non-empty content except for "
                    "the optional final assistant message",
                )
        elif blank:
            lacking = "be non-empty" if not blank[0].text else "contain non-whitespace text"
            yield _problem(
                "blank_text",
                "a text that is empty or only white space; take it out",
                index,
                error=f"messages: text content blocks must {lacking}",
            )


def _check_inputs(items: Sequence[object], own: Sequence[int]) -> Iterator[Problem]:
    """Yield calls whose input is no object, as a stream that was cut off may leave them."""
    for index in own:
        content: Any = field(items[index], "content")
        blocks = cast(list[Any], content) if isinstance(content, list) else []
        for place, block in enumerate(blocks):
            if block_type(block) == "tool_use" and not isinstance(field(block, "input"), Mapping):
                yield _problem(
                    "arguments_no_object",
                    "the input of a tool_use is no object",
                    index,
                    error=f"messages.{index}.content.{place}.tool_use.input: Input should be a "
                    "valid dictionary",
                    source=_INPUT,
                )


def _check_places(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    """Yield blocks in a message of the wrong role."""
    for index in own:
        role = views[index].role
        if role != "user" and any(
            type(p) is ResultPart and not is_served(p) for p in views[index].parts
        ):
            yield _problem(
                "block_place",
                f"a tool result in a message of the role {role!r}; results go into a message of "
                "the user",
                index,
                error=f"messages.{index}: `tool_result` blocks can only be in `user` messages",
            )
        if role != "assistant" and any(_is_models(p) for p in views[index].parts):
            yield _problem(
                "block_place",
                f"a block that only the model writes (a call, thinking) in a message of role "
                f"{role!r}; it goes into a message of the assistant",
                index,
                error=f"messages.{index}: `tool_use` blocks can only be in `assistant` messages",
            )


def _is_models(part: Part) -> bool:
    if type(part) is UnknownPart:
        return part.known and part.type == "fallback"
    return isinstance(part, (CallPart, ReasoningPart))


def _check_results(
    views: Sequence[ItemView], runs: Sequence[_Run], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield results that do not follow their call at once, or come after other content."""
    places: dict[tuple[int, str | None], int] = {}
    for call in calls:
        if call.result_index is not None and call.call_index is not None:
            places[call.result_index, call.id] = call.call_index
    waiting: dict[str | None, int] = {}
    for role, indices in runs:
        if role == "user":
            yield from _check_batch(views, indices, waiting, places)
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
) -> Iterator[Problem]:
    """Yield what is wrong with the results in one user's turn.

    Args:
        views: The readings of the list.
        indices: Indices of the turn's messages.
        waiting: The calls of the turn before, by id, with the index of their message.
        places: For a result's index and id, the index of the call that it answers.
    """
    spoken = False
    seen: dict[str | None, int] = {}
    for index in indices:
        for place, part in enumerate(views[index].parts):
            if type(part) is not ResultPart or is_served(part):
                spoken = True
                continue
            if part.id in seen:
                yield _problem(
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
                yield _problem(
                    "result_not_first",
                    "results must come before any other content of the message; put them first",
                    index,
                    waiting[part.id],
                    error=f"messages.{waiting[part.id]}: `tool_use` ids were found without "
                    f"`tool_result` blocks immediately after: {part.id}.",
                )
            elif index != waiting[part.id] + 1:
                yield _problem(
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
        return _problem(
            "late_result",
            f"the call {id_!r} is in item {asked}, and other messages stand between it and this "
            "result; move the result into the message right behind the call",
            index,
            asked,
            error=error,
        )
    return _problem(
        "orphan_result",
        f"this result answers {id_!r}, and no unanswered call of that id stands before it; put "
        "the call back, or take out the result",
        index,
        error=error,
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
                        yield _problem(
                            "malformed_item",
                            f"a tool_use without {lacks}; give it one",
                            index,
                            error=f"messages.{index}.content.{place}.tool_use."
                            f"{lacks.split()[1]}: Field required",
                        )
                if part.id is None:
                    continue
                if part.id in seen:
                    turn, first = seen[part.id]
                    yield _problem(
                        "duplicate_call_id",
                        f"the call id {part.id!r} is used before, in item {first}; give each call "
                        "an id of its own",
                        index,
                        first,
                        severity="error" if turn == number and not is_served(part) else "warning",
                        error=f"messages.{index}.content.{place}: `tool_use` ids must be unique",
                    )
                seen[part.id] = (number, index)


def _check_calls(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    last = _last_turn(views)
    for call in calls:
        index = call.call_index
        if index is None or call.pair.startswith("server") or _answered_next(views, call):
            continue
        ids = f"messages.{index}: `tool_use` ids were found without `tool_result` blocks"
        yield _problem(
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


def _answered_next(views: Sequence[ItemView], call: ToolCallRecord) -> bool:
    """Return whether the result stands in the turn right after the call's."""
    if call.result_index is None or call.call_index is None:
        return False
    answered = False
    for index in range(call.call_index + 1, call.result_index + 1):
        view = views[index]
        if view.shape != _NAME or (view.role == "system" and is_free(view)):
            continue
        if view.role != "user" and (answered or view.role != "assistant"):
            return False
        answered = view.role == "user"
    return answered


def _check_server_calls(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    spoken = max(
        (i for i, v in enumerate(views) if not (v.role == "user" and _only_results(v))), default=0
    )
    for call in calls:
        if not call.pair.startswith("server") or call.call_index == call.result_index:
            continue
        if call.call_index is None:
            index = call.result_index or 0
            kind = _result_type(items[index], call.id)
            made = "mcp_tool_use" if kind == "mcp_tool_result" else "server_tool_use"
            yield _problem(
                "orphan_result",
                f"this result answers {call.label!r}, and no call of the server with that id "
                "stands before it; put the call back, or take out the result",
                index,
                error=f"unexpected `tool_use_id` found in `{kind}` blocks: {call.id}. Each "
                f"`{kind}` block must have a corresponding `{made}` block before it.",
            )
        elif call.result_index is None:
            yield _problem(
                "unanswered_call",
                f"no result for {call.label!r}, which the server runs itself; send the list back "
                "as it was, or take out the call",
                call.call_index,
                severity="pending" if spoken <= call.call_index else "error",
            )


def _result_type(item: object, id_: str | None) -> str:
    """Return the type of the block that holds a server's result."""
    content: Any = field(item, "content")
    for block in cast(list[Any], content) if isinstance(content, list) else []:
        kind = block_type(block) or ""
        if kind.endswith("_tool_result") and field(block, "tool_use_id") == id_:
            return kind
    return "server_tool_result"


def _only_results(view: ItemView) -> bool:
    return bool(view.parts) and all(type(p) is ResultPart and not is_served(p) for p in view.parts)


def _check_system(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    speaking = [i for i, v in enumerate(views) if not (v.role == "system" and is_free(v))]
    places = {index: place for place, index in enumerate(speaking)}
    for index in own:
        place = places.get(index)
        if views[index].role != "system" or not place:
            continue  # nothing but settings before it: the first message, which has its own rule
        before = views[speaking[place - 1]]
        follows = before.role == "user" or (
            before.role == "assistant"
            and bool(before.parts)
            and isinstance(before.parts[-1], (CallPart, ResultPart))
            and is_served(before.parts[-1])
        )
        last = place + 1 == len(speaking)
        if not (follows and (last or views[speaking[place + 1]].role == "assistant")):
            yield _problem(
                "system_place",
                "an instruction must follow a user's turn, and be last or be followed by the "
                "assistant's; move it behind the next message of the user",
                index,
                error="role 'system' must follow a user turn and precede an assistant turn",
                source=_SYSTEM,
            )


def _check_thinking(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    """Yield thinking that lost its signature, or its place at the start of the last answer."""
    answers = [i for i in own if views[i].role == "assistant"]
    for index in answers:
        content: Any = field(items[index], "content")
        blocks = cast(list[Any], content) if isinstance(content, list) else []
        kinds = [block_type(b) for b in blocks]
        for place, block in enumerate(blocks):
            if kinds[place] == "thinking" and not field(block, "signature"):
                yield _problem(
                    "unsigned_thinking",
                    "thinking without its signature; send thinking back as it came, or drop all of "
                    "it",
                    index,
                    error=f"messages.{index}.content.{place}: Invalid `signature` in `thinking` "
                    "block",
                    source=_THINKING,
                )
        first = next((p for p, k in enumerate(kinds) if k in ("text", "tool_use")), len(kinds))
        behind = any(k in ("thinking", "redacted_thinking") for k in kinds[first:])
        led = any(k in ("thinking", "redacted_thinking") for k in kinds[:first])
        if index == answers[-1] and behind and not led:
            yield _problem(
                "thinking_not_first",
                "the thinking of the last answer stands behind other content; models that think "
                "first only refuse that, so keep the blocks in the order in which they came",
                index,
                severity="warning",
                error=f"messages.{index}.content.0.type: Expected `thinking` or "
                f"`redacted_thinking`, but found `{kinds[first]}`. When `thinking` is enabled, a "
                "final `assistant` message must start with a thinking block (preceeding the "
                "lastmost set of `tool_use` and `tool_result` blocks).",
                source=_THINKING,
            )


def _check_compaction(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    for index in own:
        if not any(type(p) is OpaquePart for p in views[index].parts):
            continue
        content: Any = field(items[index], "content")
        blocks = cast(list[Any], content) if isinstance(content, list) else []
        for place, block in enumerate(blocks):
            signed = block_type(block) == "compaction" and field(block, "signature")
            if signed and (index or place):
                yield _problem(
                    "compaction_place",
                    "nothing may stand before a signed compaction block, which stands for all of "
                    "it; drop what comes before",
                    index,
                    error="compaction_block_misplaced",
                    source=_COMPACTION,
                )
                break
