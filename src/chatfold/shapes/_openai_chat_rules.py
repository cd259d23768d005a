"""What Chat Completions refuses; part of the shape `openai_chat`.

Error texts are the server's own, as threads quote them; each rule names its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.native import field
from chatfold.core.views import (
    CallPart,
    ItemView,
    Part,
    ReasoningPart,
    ResultPart,
    TextPart,
)
from chatfold.shapes._blocks import listed, textless
from chatfold.shapes._chat_rules import PairRules, pair_problems

__all__ = ["check_messages"]

_NAME = "openai_chat"
_SOURCE = "https://developers.openai.com/api/docs/guides/function-calling (read 2026-11-21)"
_ORPHAN = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
    "with 'tool_calls'."
)
_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
)
_RULES = PairRules(_NAME, _ORPHAN, _UNANSWERED, _SOURCE)
_TOLD = ("assistant", "system", "developer")
_LONGEST_ID = 40


def check_messages(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield what Chat Completions would refuse."""
    yield from pair_problems(views, calls, _RULES)
    yield from _nameless_results(items, views, calls)
    yield from _thoughtless_calls(items, views)
    long: list[tuple[int, str]] = []
    for index, view in enumerate(views):
        parts = view.parts
        if view.shape != _NAME:
            continue
        if view.role == "assistant":
            message: Any = items[index]
            quick = type(items[index]) is dict
            asked = message.get("tool_calls") if quick else field(message, "tool_calls")
            if asked in ([], ()):
                yield _empty_calls(index)
        if len(parts) == 1 and type(parts[0]) is TextPart:
            continue  # what most items are
        bare = not parts or _is_unsaid(parts[0])
        if bare and view.role in _TOLD and not view.fault and _says_nothing(items[index], view):
            yield Problem(
                "empty_message",
                "a message without tool calls needs content; take it out",
                (index,),
                provider_error="Invalid value for 'content': expected a string, got null.",
                shape=_NAME,
                source=_SOURCE,
            )
        for part in parts:
            if type(part) is CallPart:
                if part.no_text and part is _first_without_text(parts):
                    yield from _unwritten_arguments(items[index], index)
                if part.name is None or part.id is None:
                    yield from _nameless_call(items[index], part, index)
                elif len(part.id) > _LONGEST_ID:
                    long.append((index, part.id))
            elif type(part) is ResultPart and part.media:
                yield _unseen_media(index)
    if long:
        yield _long_ids(long)


def _thoughtless_calls(items: Sequence[object], views: Sequence[ItemView]) -> Iterator[Problem]:
    """Yield, as one problem, the messages with calls that lack the reasoning which others have.

    DeepSeek's and Moonshot's models that think refuse them, an empty text too:
    https://github.com/bytedance/deer-flow/issues/3043,
    https://github.com/HKUDS/nanobot/issues/946 (both read 2026-11-29).
    """
    if not any(view.parts and type(view.parts[0]) is ReasoningPart for view in views):
        return  # as in most lists
    asking = [
        index
        for index, view in enumerate(views)
        if view.shape == _NAME and any(type(part) is CallPart for part in view.parts)
    ]
    without = [index for index in asking if not field(items[index], "reasoning_content")]
    if without and len(without) < len(asking):
        yield Problem(
            "missing_reasoning",
            "a message with calls without the `reasoning_content` that others have; DeepSeek's and "
            "Moonshot's thinking models refuse it, so send back what the model wrote",
            tuple(without),
            "warning",
            "thinking is enabled but reasoning_content is missing in assistant tool call message "
            f"at index {without[0]}",
            _NAME,
            "https://github.com/bytedance/deer-flow/issues/3043 (read 2026-11-29)",
        )


def _long_ids(found: Sequence[tuple[int, str]]) -> Problem:
    """Return, as one problem, the ids that OpenAI refuses and other servers write and take back.

    https://github.com/anomalyco/opencode/issues/12653 (read 2026-11-27).
    """
    index, id_ = found[0]
    return Problem(
        "long_call_id",
        f"OpenAI takes {_LONGEST_ID} characters in the id of a call, and other servers more; "
        "shorten it, in the call and in its result alike, before the list goes to OpenAI",
        tuple(dict.fromkeys(index for index, _ in found)),
        "warning",
        f"Invalid 'messages[{index}].tool_calls[0].id': string too long. Expected a string with "
        f"maximum length {_LONGEST_ID}, but got a string with length {len(id_)} instead.",
        _NAME,
        _SOURCE,
    )


def _nameless_call(item: object, call: CallPart, index: int) -> Iterator[Problem]:
    """Yield what lacks in a call: its name, or else its id."""
    if call.name is None:
        yield Problem("malformed_item", "a tool call without a name", (index,), shape=_NAME)
    elif field(item, "function_call") is None:  # which has none
        yield Problem(
            "malformed_item",
            "a tool call without an id; give the call and its result one",
            (index,),
            provider_error=f"Missing required parameter: 'messages[{index}].tool_calls[0].id'.",
            shape=_NAME,
            source=_SOURCE,
        )


def _says_nothing(item: object, view: ItemView) -> bool:
    """Return whether a message that begins with nothing, or with reasoning, has no content."""
    if field(item, "content") is not None:
        return not view.parts
    return all(map(_is_unsaid, view.parts))


def _is_unsaid(part: Part) -> bool:
    return type(part) is ReasoningPart


def _empty_calls(index: int) -> Problem:
    """Return the problem of a list of no calls, which other servers write and take back.

    https://github.com/openai/openai-node/pull/1341 (read 2026-11-26).
    """
    return Problem(
        "empty_calls",
        "`tool_calls` is an empty list, which OpenAI refuses and some other servers take; leave "
        "the field out",
        (index,),
        "warning",
        f"Invalid 'messages[{index}].tool_calls': empty array. Expected an array with minimum "
        "length 1, but got an empty array instead.",
        _NAME,
        _SOURCE,
    )


def _first_without_text(parts: Sequence[Part]) -> Part | None:
    return next((part for part in parts if type(part) is CallPart and part.no_text), None)


def _unwritten_arguments(item: object, index: int) -> Iterator[Problem]:
    """Yield the calls whose arguments are no text, as of a host that has parsed them."""
    calls = [(f"tool_calls[{n}].", c) for n, c in enumerate(listed(field(item, "tool_calls")))]
    functions = [(where + "function", field(call, "function")) for where, call in calls]
    functions.append(("function_call", field(item, "function_call")))
    for where, function in functions:
        arguments = field(function, "arguments")
        if field(function, "name") is not None and not isinstance(arguments, str):
            yield Problem(
                "arguments_no_text",
                "the arguments of a call are no text; write them as JSON, no arguments as '{}'",
                (index,),
                provider_error=textless(f"messages[{index}].{where}.arguments", arguments),
                shape=_NAME,
                source=_SOURCE,
            )


def _nameless_results(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield results that answer a call by their place, and do not say so as they must.

    The text is quoted in https://github.com/langchain-ai/langchain/issues/22600 (read 2026-11-22).
    """
    ids: dict[int, set[str | None]] = {}  # of the calls of an item, which may be many
    for call in calls:
        index, asked = call.result_index, call.call_index
        if index is None or asked is None or views[index].shape != _NAME:
            continue
        if asked not in ids:
            ids[asked] = {p.id for p in views[asked].parts if type(p) is CallPart}
        named = call.id in ids[asked]
        if call.id is not None and named:
            own = [p.id for p in views[index].parts if type(p) is ResultPart]
            if own == [None]:
                yield Problem(
                    "result_without_id",
                    f"this result does not name its call; by its place it answers {call.id!r}, so "
                    "make it a `tool` message with that tool_call_id",
                    (index, asked),
                    "error",
                    "Missing parameter 'tool_call_id': messages with role 'tool' must have a "
                    "'tool_call_id'.",
                    _NAME,
                    _SOURCE,
                )
        elif views[index].type == "tool" and (
            not named or (call.id is None and field(items[asked], "function_call") is not None)
        ):
            yield Problem(
                "result_role",
                "a `function_call` is answered by a message with the role 'function' and the name "
                "of the function, and this is a `tool` message",
                (index, asked),
                "error",
                _ORPHAN,
                _NAME,
                _SOURCE,
            )


def _unseen_media(index: int) -> Problem:
    """Return the problem of an image in a result: older models refuse it, newer do not see it.

    https://github.com/openai/openai-openapi/issues/523 (read 2026-11-22).
    """
    return Problem(
        "media_in_result",
        "a tool result may hold text only; put the image into a user message behind the results",
        (index,),
        "loss",
        f"Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role 'user', "
        "but this message with role 'tool' contains an image URL.",
        _NAME,
        _SOURCE,
    )
