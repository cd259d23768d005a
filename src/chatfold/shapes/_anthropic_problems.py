"""What the Messages API refuses or forgets; part of the shape `anthropic`.

Sources, read 2026-11-21: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview,
https://platform.claude.com/docs/en/build-with-claude/preserved-thinking,
https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand; read 2026-11-29:
https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages.
Error texts are the server's own, as threads quote them: claude-code#5989, #18947, #20508, #64383,
tghamm/Anthropic.SDK#128 (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
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
from chatfold.shapes._anthropic_calls import check_calls, problem
from chatfold.shapes._anthropic_rules import is_served, is_setting
from chatfold.shapes._blocks import block_type, is_object, listed

__all__ = ["check_messages"]

_NAME = "anthropic"
_INPUT = "https://github.com/langchain-ai/langsmith-sdk/issues/2435 (read 2026-11-26)"
_SYSTEM = (
    "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages "
    "(read 2026-11-29)"
)
_THINKING = (
    "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking (read 2026-11-21)"
)
_LAST = "https://github.com/tailcallhq/forgecode/issues/2107 (read 2026-11-27)"
_THOUGHTS = ("thinking", "redacted_thinking")
_ENVELOPE = ("id", "model", "stop_reason", "stop_sequence", "usage")
_ENVELOPE_SOURCE = "anthropic 2.14.0, MessageParam"
_COMPACTION = (
    "https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand (read 2026-11-21)"
)


def check_messages(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield what the Messages API would refuse."""
    own = [i for i, v in enumerate(views) if v.shape == _NAME]
    yield from _check_first(views, own)
    yield from _check_contents(items, views, own)
    yield from _check_inputs(items, own)
    yield from _check_envelopes(items, views, own)
    yield from _check_places(views, own)
    yield from check_calls(items, views, own, calls)
    yield from _check_system(views, own)
    yield from _check_thinking(items, views, own)
    yield from _check_last_thoughts(items, views, own)
    yield from _check_compaction(items, views, own)


def _check_first(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    first = next((i for i in own if not is_setting(views[i])), None)
    if first is None or views[first].role == "user":
        return
    if views[first].role == "system":
        yield problem(
            "first_role",
            "an instruction or a change of tools cannot be the first message; send it as the "
            "request's `system` or `tools`",
            first,
            error=f"messages.{first}: use the top-level 'system' parameter for the initial system "
            "prompt",
            source=_SYSTEM,
        )
    elif not (views[first].parts and type(views[first].parts[0]) is OpaquePart):
        yield problem(
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
                yield problem(
                    "empty_message",
                    "a message without content; take it out",
                    index,
                    error=f"messages.{index}: all messages must have non-empty content except for "
                    "the optional final assistant message",
                )
        elif blank:
            lacking = "be non-empty" if not blank[0].text else "contain non-whitespace text"
            yield problem(
                "blank_text",
                "a text that is empty or only white space; take it out",
                index,
                error=f"messages: text content blocks must {lacking}",
            )


def _check_inputs(items: Sequence[object], own: Sequence[int]) -> Iterator[Problem]:
    """Yield calls whose input is no object, as a stream that was cut off may leave them."""
    for index in own:
        content: Any = field(items[index], "content")
        blocks = listed(content)
        for place, block in enumerate(blocks):
            if block_type(block) == "tool_use" and not is_object(field(block, "input")):
                yield problem(
                    "arguments_no_object",
                    "the input of a tool_use is no object",
                    index,
                    error=f"messages.{index}.content.{place}.tool_use.input: Input should be a "
                    "valid dictionary",
                    source=_INPUT,
                )


def _check_envelopes(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    """Yield answers as they came, whose other fields the SDK sends along.

    A warning: some of those who serve Claude under another address take no offence at them.
    """
    for index in own:
        item = items[index]
        if views[index].role == "assistant" and field(item, "type") == "message":
            found = [name for name in _ENVELOPE if field(item, name) is not None]
            if found:
                yield problem(
                    "whole_response",
                    f"a whole response, with {', '.join(found)} and type beside its role and "
                    "content, which are all that may be sent back; put "
                    '{"role": "assistant", "content": response.content} in its place, as '
                    "ctx.add_response(response) does",
                    index,
                    severity="warning",
                    error=f"messages.{index}.{found[0]}: Extra inputs are not permitted",
                    source=_ENVELOPE_SOURCE,
                )


def _check_places(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    """Yield blocks in a message of the wrong role."""
    for index in own:
        role = views[index].role
        if role != "user" and any(
            type(p) is ResultPart and not is_served(p) for p in views[index].parts
        ):
            yield problem(
                "block_place",
                f"a tool result in a message of the role {role!r}; results go into a message of "
                "the user",
                index,
                error=f"messages.{index}: `tool_result` blocks can only be in `user` messages",
            )
        if role != "assistant" and any(_is_models(p) for p in views[index].parts):
            yield problem(
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


def _check_system(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    """Yield instructions in the wrong place.

    "Consecutive `system` messages are judged together": the first follows what all of them follow.
    """
    first = next((i for i, v in enumerate(views) if not is_setting(v)), None)
    misplaced: set[int] = set()
    for before, section, after in _sections(views):
        if not (_takes_instructions(before) and (after is None or after.role == "assistant")):
            misplaced.update(i for i in section if not is_setting(views[i]))
    misplaced.discard(-1 if first is None else first)  # the first message has its own rule
    for index in sorted(misplaced.intersection(own)):
        yield problem(
            "system_place",
            "an instruction or a change of tools must follow a user's turn, and be last or be "
            "followed by the assistant's; move it behind the next message of the user",
            index,
            error="role 'system' must follow a user turn and precede an assistant turn",
            source=_SYSTEM,
        )


def _sections(
    views: Sequence[ItemView],
) -> Iterator[tuple[ItemView | None, list[int], ItemView | None]]:
    """Yield the runs of system messages, each with what stands before it and behind it."""
    for told, run in groupby(range(len(views)), lambda index: views[index].role == "system"):
        if told:
            section = [*run]
            first, stop = section[0], section[-1] + 1
            before = views[first - 1] if first else None
            yield before, section, views[stop] if stop < len(views) else None


def _takes_instructions(view: ItemView | None) -> bool:
    """Return whether instructions may follow: a user's turn, or results of the server's."""
    if view is None or view.role == "user":
        return view is not None
    last = view.parts[-1] if view.parts else None
    served = isinstance(last, (CallPart, ResultPart)) and is_served(last)
    return view.role == "assistant" and served


def _check_thinking(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    """Yield thinking that lost its signature, or its place at the start of the last answer."""
    answers = [i for i in own if views[i].role == "assistant"]
    for index in answers:
        content: Any = field(items[index], "content")
        blocks = listed(content)
        kinds = [block_type(b) for b in blocks]
        for place, block in enumerate(blocks):
            if kinds[place] == "thinking" and not field(block, "signature"):
                yield problem(
                    "unsigned_thinking",
                    "thinking without its signature; send thinking back as it came, or drop all of "
                    "it",
                    index,
                    error=f"messages.{index}.content.{place}: Invalid `signature` in `thinking` "
                    "block",
                    source=_THINKING,
                )
        first = next((p for p, k in enumerate(kinds) if k in ("text", "tool_use")), len(kinds))
        behind = any(k in _THOUGHTS for k in kinds[first:])
        led = any(k in _THOUGHTS for k in kinds[:first])
        if index == answers[-1] and behind and not led:
            yield problem(
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


def _check_last_thoughts(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    """Yield messages that end in thinking, as an answer does that was cut off while it thought."""
    for index in own:
        goes_on = index + 1 < len(views) and views[index + 1].role == "assistant"
        content: Any = field(items[index], "content")
        blocks = listed(content)
        if blocks and block_type(blocks[-1]) in _THOUGHTS and not goes_on:
            yield problem(
                "thinking_last",
                "the message ends in thinking, with nothing behind it that it led to; take the "
                "thinking out",
                index,
                error=f"messages.{index}: The final block in an assistant message cannot be "
                "`thinking`.",
                source=_LAST,
            )


def _check_compaction(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    for index in own:
        if not any(type(p) is OpaquePart for p in views[index].parts):
            continue
        content: Any = field(items[index], "content")
        blocks = listed(content)
        for place, block in enumerate(blocks):
            signed = block_type(block) == "compaction" and field(block, "signature")
            if signed and (index or place):
                yield problem(
                    "compaction_place",
                    "nothing may stand before a signed compaction block, which stands for all of "
                    "it; drop what comes before",
                    index,
                    error="compaction_block_misplaced",
                    source=_COMPACTION,
                )
                break
