"""What the Messages API requires and refuses; part of the shape `anthropic`.

Sources, all read 2026-11-21: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview,
https://platform.claude.com/docs/en/build-with-claude/preserved-thinking,
https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages,
https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.views import (
    CallPart,
    ItemView,
    OpaquePart,
    Placement,
    ReasoningPart,
    ResultPart,
    SummaryPart,
    TextPart,
    field,
)
from chatfold.shapes._blocks import block_type

__all__ = ["check_messages", "place_instructions", "thinking_requirements"]

_NAME = "anthropic"
_TOOLS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview (read 2026-11-21)"
_SYSTEM = (
    "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages "
    "(read 2026-11-21)"
)
_THINKING = (
    "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking (read 2026-11-21)"
)
_BETA = "thinking-binding-controls-2026-08-01"

# Names of a generation: claude-3-5-sonnet, claude-sonnet-4-5, claude-opus-5; the digits of a date
# (eight of them) are no version.
_OLD_STYLE = re.compile(r"claude-(?:v?[12]|instant|3)(?![0-9])")
_NEW_STYLE = re.compile(
    r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?![0-9])(?:-(?P<minor>\d{1,2})(?![0-9]))?"
)


def _signs_thinking(model: str | None) -> bool:
    """Return whether a model signs its thinking over what came before it.

    All of generation 4 and older do not, nor the first of generation 5 and Mythos 5.1. A model
    that is not known is taken to sign: the fields are harmless to one that takes them.
    """
    if model is None:
        return True
    name = re.sub(r"[@.]", "-", model.rpartition("/")[2].rpartition("anthropic.")[2].lower())
    if _OLD_STYLE.match(name) or name.startswith("claude-mythos-preview"):
        return False
    found = _NEW_STYLE.match(re.sub(r"-v\d+(?:[:-]\d+)*$", "", name))
    if found is None:
        return True
    version = (int(found["major"]), int(found["minor"] or 0))
    first = (5, 1) if found["family"] == "mythos" else (5, 0)
    return version > first


def place_instructions(kept: Sequence[int], tail: int, views: Sequence[ItemView]) -> Placement:
    """Return where kept system messages go: behind a user turn, before an assistant's or the end.

    Each goes to a place of its own. If there are not enough of them, all stay where they are,
    with the messages around them.
    """
    movable = [i for i in kept if views[i].role == "system" and not _is_free(views[i])]
    if not movable:
        return Placement()
    staying = [i for i in kept if views[i].role != "system"]
    before = views[staying[-1]].role if staying else "user"  # the summary is a user's message
    places: list[int] = []
    for index in range(tail, _first_waiting(tail, views) + 1):
        if index < len(views) and views[index].role == "system" and _is_free(views[index]):
            continue  # settings may stand anywhere, and part nothing
        after = views[index].role if index < len(views) else "assistant"
        if index < len(views) and not _is_message(views[index]):
            after = "unknown"
        if before == "user" and after == "assistant":
            places.append(index)
            if len(places) == len(movable):
                return Placement(dict(zip(movable, places, strict=True)))
        if index < len(views):
            before = views[index].role
    around = [j for i in movable for j in (i - 1, i + 1) if 0 <= j < len(views)]
    return Placement({}, around)


def _first_waiting(tail: int, views: Sequence[ItemView]) -> int:
    """Return the index of the first tail message whose server call has no result yet.

    Nothing but results may follow such a message; the length of the list where there is none.
    """
    answered = {
        p.id for v in views[tail:] for p in v.parts if type(p) is ResultPart and _is_served(p)
    }
    for index in range(tail, len(views)):
        for part in views[index].parts:
            if type(part) is CallPart and _is_served(part) and part.id not in answered:
                return index
    return len(views)


def _is_message(view: ItemView) -> bool:
    """Return whether the item is a message of this shape, or one of plain text."""
    return view.shape == _NAME or all(type(part) is TextPart for part in view.parts)


def _is_served(part: CallPart | ResultPart) -> bool:
    return part.pair.startswith("server")


def _is_free(view: ItemView) -> bool:
    """Return whether a system message holds settings only, which may stand anywhere."""
    return not any(isinstance(part, (TextPart, SummaryPart)) for part in view.parts)


def thinking_requirements(views: Sequence[ItemView], model: str | None) -> list[Requirement]:
    """Return what to send so that thinking behind a summary is not refused.

    Newer models sign each thinking block over all that stood before it. The summary changed
    that, for as long as the block stays in the list.
    """
    if not _signs_thinking(model):
        return []
    summary = next(
        (i for i, v in enumerate(views) if any(type(p) is SummaryPart for p in v.parts)), None
    )
    if summary is None:
        return []
    bound = tuple(
        i
        for i in range(summary + 1, len(views))
        if views[i].shape == _NAME and any(type(p) is ReasoningPart for p in views[i].parts)
    )
    if not bound:
        return []
    options = {
        "betas": [_BETA],
        "thinking": {
            "type": "adaptive",
            "block_binding": {"prefix_mismatch_behavior": "drop_block"},
        },
    }
    message = (
        "thinking kept behind the summary was signed over the messages that the summary "
        "replaced; send these fields with client.beta.messages.create while it stays in the list"
    )
    return [Requirement("thinking_binding", message, options, bound, _THINKING)]


def check_messages(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield what the Messages API would refuse."""
    own = [i for i, v in enumerate(views) if v.shape == _NAME]
    yield from _check_first(views, own)
    yield from _check_contents(items, views, own)
    yield from _check_results(views, own)
    yield from _check_ids(views, own)
    yield from _check_calls(views, calls)
    yield from _check_system(views, own)
    yield from _check_compaction(items, views, own)


def _problem(
    rule: str,
    message: str,
    *indices: int,
    error: str = "",
    severity: Any = "error",
    source: str = _TOOLS,
) -> Problem:
    return Problem(rule, message, indices, severity, error, _NAME, source)


def _check_first(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    if not own or own[0] != 0 or views[0].role == "user":
        return
    view = views[0]
    if view.role == "system":
        if not _is_free(view):
            yield _problem(
                "first_role",
                "an instruction cannot be the first message",
                0,
                error="messages.0: use the top-level 'system' parameter for the initial system "
                "prompt",
                source=_SYSTEM,
            )
    elif not (view.parts and type(view.parts[0]) is OpaquePart):
        yield _problem(
            "first_role",
            "the first message must be the user's",
            0,
            error='messages: first message must use the "user" role',
        )


def _check_contents(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    for index in own:
        view = views[index]
        blank = any(type(p) is TextPart and not p.text.strip() for p in view.parts)
        whole = isinstance(field(items[index], "content"), str)
        last = index == len(views) - 1 and view.role == "assistant"
        if not view.parts or (blank and whole):
            if not last:
                yield _problem(
                    "empty_message",
                    "a message without content",
                    index,
                    error="all messages must have non-empty content except for the optional final "
                    "assistant message",
                )
        elif blank:
            yield _problem(
                "blank_text",
                "a text block that is empty or only white space",
                index,
                error="messages: text content blocks must be non-empty",
            )


def _runs(views: Sequence[ItemView], own: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Return runs of messages of one role: the server makes one turn of each."""
    runs: list[tuple[str, list[int]]] = []
    for index in own:
        if runs and runs[-1][0] == views[index].role:
            runs[-1][1].append(index)
        else:
            runs.append((views[index].role, [index]))
    return runs


def _check_results(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    """Yield results that do not follow their call at once, or come after other content."""
    waiting: dict[str | None, int] = {}
    for role, indices in _runs(views, own):
        if role == "user":
            yield from _check_batch(views, indices, waiting)
        waiting = {
            part.id: index
            for index in indices
            for part in views[index].parts
            if role == "assistant" and type(part) is CallPart and part.pair == "function"
        }


def _check_batch(
    views: Sequence[ItemView], indices: Sequence[int], waiting: dict[str | None, int]
) -> Iterator[Problem]:
    """Yield what is wrong with the results in one user's turn.

    Args:
        views: The readings of the list.
        indices: Indices of the turn's messages.
        waiting: The calls of the turn before, by id, with the index of their message.
    """
    spoken = False
    seen: set[str | None] = set()
    for index in indices:
        for part in views[index].parts:
            if type(part) is not ResultPart:
                spoken = True
                continue
            if part.id in seen:
                yield _problem(
                    "duplicate_result",
                    f"a second result for {part.id!r}",
                    index,
                    error="each tool_use must have a single result. Found multiple `tool_result` "
                    f"blocks with id: {part.id}",
                )
            elif part.id not in waiting:
                yield _problem(
                    "orphan_result",
                    f"the message before this one has no call {part.id!r}",
                    index,
                    error=f"messages.{index}.content.0: unexpected `tool_use_id` found in "
                    f"`tool_result` blocks: {part.id}. Each `tool_result` block must have a "
                    "corresponding `tool_use` block in the previous message.",
                )
            elif spoken:
                yield _problem(
                    "result_not_first",
                    "results must come before any other content of the message",
                    index,
                    error=f"messages.{index - 1}: `tool_use` ids were found without `tool_result` "
                    f"blocks immediately after: {part.id}.",
                )
            elif index != waiting[part.id] + 1:
                yield _problem(
                    "split_results",
                    "calls or results are spread over several messages of one role; the server "
                    "makes one turn of them, and strict proxies refuse them",
                    index,
                    waiting[part.id],
                    severity="warning",
                )
            seen.add(part.id)


def _check_ids(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    """Yield call ids that recur: refused inside one message, and a trap between messages."""
    seen: dict[str, int] = {}
    for index in own:
        for place, part in enumerate(views[index].parts):
            if type(part) is not CallPart or part.id is None:
                continue
            if part.id in seen:
                yield _problem(
                    "duplicate_call_id",
                    f"the call id {part.id!r} is used before, in item {seen[part.id]}",
                    index,
                    seen[part.id],
                    severity="error" if seen[part.id] == index else "warning",
                    error=f"messages.{index}.content.{place}: `tool_use` ids must be unique",
                )
            seen[part.id] = index


def _check_calls(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    for call in calls:
        server = call.pair.startswith("server")
        index = call.call_index
        if index is None:
            if server and call.result_index is not None:
                yield _problem(
                    "orphan_result",
                    f"no server call {call.label!r} stands before this result",
                    call.result_index,
                    error=f"unexpected `tool_use_id` found: {call.id}. Each result block must have "
                    "a corresponding `server_tool_use` block before it.",
                )
            continue
        if server and call.result_index is None:
            later = views[index + 1 :]
            if all(v.role == "user" and _only_results(v) for v in later):
                yield _problem(
                    "unanswered_call", f"no result for {call.label!r}", index, severity="pending"
                )
            else:
                yield _problem(
                    "unanswered_call", f"no result for the server call {call.label!r}", index
                )
        elif not server and not _answered_next(views, call):
            last = all(v.role == "assistant" for v in views[index + 1 :])
            yield _problem(
                "unanswered_call",
                f"no result for {call.label!r} in the next message",
                index,
                severity="pending" if last else "error",
                error=f"messages.{index}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {call.id}. Each `tool_use` block must have a corresponding "
                "`tool_result` block in the next message.",
            )


def _answered_next(views: Sequence[ItemView], call: ToolCallRecord) -> bool:
    """Return whether the result stands in the turn right after the call's."""
    if call.result_index is None or call.call_index is None:
        return False
    roles = [v.role for v in views[call.call_index + 1 : call.result_index + 1]]
    while roles and roles[0] == "assistant":
        roles.pop(0)
    return bool(roles) and all(role == "user" for role in roles)


def _only_results(view: ItemView) -> bool:
    return bool(view.parts) and all(type(p) is ResultPart for p in view.parts)


def _check_system(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    for index in own:
        if views[index].role != "system" or index == 0 or _is_free(views[index]):
            continue
        ahead = [v for v in views[:index] if not (v.role == "system" and _is_free(v))]
        later = [v for v in views[index + 1 :] if not (v.role == "system" and _is_free(v))]
        if not ahead:
            continue  # nothing but settings before it: the first message, which has its own rule
        before = ahead[-1]
        follows = before.role == "user" or (
            before.role == "assistant"
            and bool(before.parts)
            and isinstance(before.parts[-1], (CallPart, ResultPart))
            and before.parts[-1].pair.startswith("server")
        )
        leads = not later or later[0].role == "assistant"
        if not (follows and leads):
            yield _problem(
                "system_place",
                "an instruction must follow a user turn, and be last or be followed by an "
                "assistant turn",
                index,
                error="role 'system' must follow a user turn and precede an assistant turn",
                source=_SYSTEM,
            )


def _check_compaction(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    for index in own:
        if not any(type(p) is OpaquePart for p in views[index].parts):
            continue
        blocks: Any = field(items[index], "content")
        signed = any(
            block_type(b) == "compaction" and field(b, "signature")
            for b in (cast(list[Any], blocks) if isinstance(blocks, list) else ())
        )
        if signed and index:
            yield _problem(
                "compaction_place",
                "nothing may stand before a signed compaction block",
                index,
                error="compaction_block_misplaced",
                source="https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand "
                "(read 2026-11-21)",
            )
