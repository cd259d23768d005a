"""What the Converse API requires and refuses; part of the shape `bedrock`.

The API's error texts are quoted from reports of those who met them; each rule names its source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Requirement, Severity, unnamed
from chatfold.core.native import field
from chatfold.core.spans import bridged
from chatfold.core.turns import is_summary
from chatfold.core.views import CallPart, ItemView, Placement, ReasoningPart, ResultPart, TextPart

__all__ = ["check_messages", "place_kept", "tool_requirements"]

_NAME = "bedrock"
_API = "botocore 1.44.5, bedrock-runtime, Message (read 2026-11-22)"
_TOOLS = "https://github.com/vxcontrol/pentagi/pull/196 (read 2026-11-22)"
_ALTERNATION = "https://github.com/langchain-ai/langchain-aws/issues/192 (read 2026-11-22)"
_MIXED = "https://github.com/langchain-ai/langchain-aws/issues/141 (read 2026-11-22)"
_BLANK = "https://github.com/NousResearch/hermes-agent/issues/55092 (read 2026-11-22)"
_ALONE = "https://github.com/NousResearch/hermes-agent/issues/105780 (read 2026-11-27)"
_EMPTY = "https://github.com/earendil-works/pi/pull/3443 (read 2026-11-22)"
_FIRST = "https://github.com/elastic/kibana/pull/246393 (read 2026-11-22)"
_INPUT = "https://github.com/vercel/ai/pull/19023 (read 2026-11-26)"
_PAIRS = "https://github.com/strands-agents/harness-sdk/issues/1435 (read 2026-11-22)"
_IDS = (
    "botocore 1.44.8, bedrock-runtime, ToolUseId, and "
    "https://github.com/RooCodeInc/Roo-Code/pull/10902 (read 2026-11-27)"
)
_NAMES = (
    "botocore 1.44.8, bedrock-runtime, ToolName, and "
    "https://github.com/openclaw/openclaw/issues/12892 (read 2026-11-27)"
)
_NO_ERROR = (
    "https://github.com/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15 "
    "(read 2026-11-27)"
)
_NO_TEXT = (
    "botocore 1.44.8, bedrock-runtime, ReasoningTextBlock, and "
    "https://github.com/danny-avila/LibreChat/pull/13888 (read 2026-11-27)"
)

_ID = re.compile(r"[a-zA-Z0-9_.:-]+")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_LONGEST = 64  # characters of either


def tool_requirements(views: Sequence[ItemView]) -> list[Requirement]:
    """Return that the request needs its tools, where any call or result is left in the list."""
    indices = tuple(
        i
        for i, view in enumerate(views)
        if view.shape == _NAME and any(isinstance(p, (CallPart, ResultPart)) for p in view.parts)
    )
    if not indices:
        return []
    message = (
        "send toolConfig with the definitions of your tools while tool calls or results are in "
        "the list, also where the model is to call none"
    )
    return [Requirement("tool_config", message, {}, indices, _TOOLS)]


def place_kept(kept: Sequence[int], tail: int, views: Sequence[ItemView]) -> Placement:
    """Return what must stay between kept messages of one role, which some models refuse in a row.

    Between those of a user it is what the model said to the first, and the other way round. Most
    models take two in a row, so that nothing must stay where nothing would be left to fold.
    """
    placement = bridged(kept, tail, partial(_between, views))
    left = set(range(tail)).difference(kept, placement.needs)
    if any(views[i].role != "system" and not is_summary(views[i]) for i in left):
        return placement
    return Placement({}, [])


def _between(views: Sequence[ItemView], before: int, index: int) -> int | None:
    """Return a message of the other role between two of one, None where there is no such.

    One with calls or results would bring others along. What stood side by side already is left as
    it is; at the end of the list is a user's message where nothing but a summary is left, too.
    """
    if index == len(views):
        return None
    role = views[index].role
    if index == before + 1 or role == "system" or views[before].role != role:
        return None
    others = (
        i
        for i in range(before + 1, index)
        if views[i].role not in (role, "system")
        and not any(isinstance(p, (CallPart, ResultPart)) for p in views[i].parts)
    )
    return next(others, None)


def check_messages(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield what Converse would refuse."""
    own = [i for i, v in enumerate(views) if v.shape == _NAME]
    yield from _check_order(views, own)
    yield from _check_contents(items, views, own)
    yield from _check_ids(views, own)
    yield from _check_forms(views, own)
    yield from _check_results(views, calls)


def _problem(
    rule: str,
    message: str,
    *indices: int,
    severity: Severity = "error",
    error: str = "",
    source: str,
) -> Problem:
    return Problem(rule, message, indices, severity, error, _NAME, source)


def _check_order(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    spoken = [i for i in own if views[i].role != "system"]
    first = spoken[0] if spoken else 0
    opens = all(v.role == "system" for v in views[:first])
    if spoken and opens and views[first].role == "assistant":
        yield _problem(
            "first_role",
            "the first message must be the user's",
            first,
            error="A conversation must start with a user message. Try again with a conversation "
            "that starts with a user message.",
            source=_FIRST,
        )
    for before, index in pairwise(own):
        if index == before + 1 and views[before].role == views[index].role != "system":
            yield _problem(
                "same_role",
                f"two {views[index].role} messages in a row; some models refuse them, others take "
                "them as one",
                index,
                before,
                severity="warning",
                error="A conversation must alternate between user and assistant roles. Make sure "
                "the conversation alternates between user and assistant roles and try again.",
                source=_ALTERNATION,
            )


def _check_contents(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    for index in own:
        view = views[index]
        if not view.parts:
            yield _problem(
                "empty_message",
                "a message without content",
                index,
                error=f"The content field in the Message object at messages.{index} is empty. Add "
                "a ContentBlock object to the content field and try again.",
                source=_EMPTY,
            )
        for place, part in enumerate(view.parts):
            if type(part) is TextPart and not part.text.strip():
                yield _problem(
                    "blank_text",
                    "a text block that is empty or only white space",
                    index,
                    error=f"The text field in the ContentBlock object at messages.{index}.content."
                    f"{place} is blank. Add text to the text field, and try again.",
                    source=_BLANK,
                )
        yield from _check_insides(items[index], index)
        if view.role != "assistant" and any(type(p) is CallPart for p in view.parts):
            yield _problem(
                "block_place",
                f"a toolUse in a message of role {view.role!r}; it goes into one of the assistant",
                index,
                error=f"messages.{index}: `tool_use` blocks can only be in `assistant` messages",
                source=_API,
            )
        yield from _check_mixture(items[index], view, index)


def _check_insides(item: Any, index: int) -> Iterator[Problem]:
    """Yield what a block lacks: a call its input, a result what the error was, reasoning a text."""
    blocks: list[Any] = field(item, "content")
    for place, block in enumerate(blocks):
        use: Any = field(block, "toolUse")
        # One that is no object has no id and no name either, which is told of as malformed.
        if isinstance(use, Mapping) and not isinstance(field(cast(Any, use), "input"), Mapping):
            yield _problem(
                "arguments_no_object",
                "the input of a toolUse is no object",
                index,
                error=f"The format of the value at messages.{index}.content.{place}.toolUse.input "
                "is invalid. Provide a json object for the field and try again.",
                source=_INPUT,
            )
        result: Any = field(block, "toolResult")
        if field(result, "status") == "error" and not field(result, "content"):
            yield _empty_error(index, place)
        thought: Any = field(field(block, "reasoningContent"), "reasoningText")
        if thought is not None and field(thought, "text") is None:
            yield _textless_reasoning(index, place)


def _empty_error(index: int, place: int) -> Problem:
    return _problem(
        "empty_error",
        "a toolResult of an error that holds nothing; put in what the error was",
        index,
        error=f"The content field at messages.{index}.content.{place}.toolResult cannot be empty "
        "when status value is error.",
        source=_NO_ERROR,
    )


def _textless_reasoning(index: int, place: int) -> Problem:
    where = f"messages.{index + 1}.member.content.{place + 1}.member.reasoningContent.reasoningText"
    return _problem(
        "reasoning_without_text",
        "a reasoningText without a text; take the reasoning out",
        index,
        error=f"Value at '{where}.text' failed to satisfy constraint: Member must not be null",
        source=_NO_TEXT,
    )


def _check_mixture(item: Any, view: ItemView, index: int) -> Iterator[Problem]:
    """Yield what may not stand without, or beside, something else in one message."""
    spoken = any(type(p) is TextPart for p in view.parts)
    blocks: list[Any] = field(item, "content")
    if not spoken and any(field(b, "document") is not None for b in blocks):
        yield _problem(
            "document_without_text",
            "a message with a document must have a text block too",
            index,
            source=_API,
        )
    if view.parts and all(type(p) is ReasoningPart for p in view.parts):
        yield _problem(
            "reasoning_alone",
            "a message of nothing but reasoning; newer models take it for an answer that they are "
            "to go on with, and refuse that, so take it out",
            index,
            severity="warning",
            error="This model does not support assistant message prefill. The conversation must "
            "end with a user message.",
            source=_ALONE,
        )
    results = any(type(p) is ResultPart and p.pair == "function" for p in view.parts)
    if spoken and results:
        yield _problem(
            "mixed_results",
            "words beside results in one message; some models refuse them",
            index,
            severity="warning",
            error=f"messages.{index}.content: Conversation blocks and tool result blocks cannot be "
            "provided in the same turn.",
            source=_MIXED,
        )


def _check_ids(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    """Yield calls without an id, and ids that recur in one message.

    Its results could not be told apart.
    """
    for index in own:
        calls = (p for p in views[index].parts if type(p) is CallPart and p.pair == "function")
        made = Counter(part.id for part in calls)
        if made[None]:
            yield _problem("malformed_item", "a toolUse without an id", index, source=_API)
        for call_id, count in made.items():
            if call_id is not None and count > 1:
                yield _problem(
                    "duplicate_call_id",
                    f"the call id {call_id!r} is used {count} times in one message",
                    index,
                    error=f"messages.{index}.content: `tool_use` ids must be unique",
                    source=_PAIRS,
                )


def _check_forms(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    """Yield calls without a name, and ids and names that other providers take and this does not."""
    for index in own:
        for place, part in enumerate(views[index].parts):
            if type(part) is not CallPart:
                continue
            where = f"messages.{index + 1}.member.content.{place + 1}.member.toolUse"
            if part.id is not None and not _fits(_ID, part.id):
                yield _problem(
                    "call_id_form",
                    f"the call id {part.id!r} has more than {_LONGEST} characters, or others than "
                    "letters, digits and _.:-; give the call and its result another",
                    index,
                    error=_misfit(f"{where}.toolUseId", _ID, part.id),
                    source=_IDS,
                )
            if part.name is None:
                yield _problem("malformed_item", "a toolUse without a name", index, source=_API)
            elif not _fits(_TOOL_NAME, part.name):
                yield _problem(
                    "tool_name",
                    f"the tool name {part.name!r} has more than {_LONGEST} characters, or others "
                    "than letters, digits, underscores and dashes",
                    index,
                    error=_misfit(f"{where}.name", _TOOL_NAME, part.name),
                    source=_NAMES,
                )


def _fits(form: re.Pattern[str], text: str) -> bool:
    return len(text) <= _LONGEST and form.fullmatch(text) is not None


def _misfit(where: str, form: re.Pattern[str], text: str) -> str:
    """Return the server's words about a text that is too long or of another form."""
    told = f"Value at '{where}' failed to satisfy constraint: Member must "
    if len(text) > _LONGEST:
        return f"{told}have length less than or equal to {_LONGEST}"
    return f"{told}satisfy regular expression pattern: {form.pattern}"


def _check_results(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield client calls without a result in the next message, and results without a call there."""
    for call in unnamed(views, calls):
        if call.shape == _NAME:
            yield _problem(
                "result_without_id",
                f"this result does not name its call; by its place it answers {call.id!r}, so give "
                "it that toolUseId",
                cast(int, call.result_index),
                cast(int, call.call_index),
                error='Missing required parameter in messages[].content[].toolResult: "toolUseId"',
                source=_API,
            )
    for call in calls:
        if call.shape != _NAME:
            continue
        if call.pair != "function":
            yield from _check_served(views, call)
            continue
        if call.result_index is not None and call.result_index - 1 != call.call_index:
            index = call.result_index
            asked = () if call.call_index is None else (call.call_index,)
            yield _problem(
                "late_result" if asked else "orphan_result",
                f"the message before this one has no unanswered call {call.label!r}",
                index,
                *asked,
                error=f"The number of toolResult blocks at messages.{index}.content exceeds the "
                "number of toolUse blocks of previous turn.",
                source=_PAIRS,
            )
        if call.call_index is not None and call.result_index != call.call_index + 1:
            after = call.call_index + 1
            last = after == len(views)
            yield _problem(
                "unanswered_call",
                f"no result for {call.label!r} in the next message",
                call.call_index,
                severity="pending" if last else "error",
                error=f"Expected toolResult blocks at messages.{after}.content for the following "
                f"Ids: {call.id}",
                source=_PAIRS,
            )


def _check_served(views: Sequence[ItemView], call: ToolCallRecord) -> Iterator[Problem]:
    if call.call_index is None and call.result_index is not None:
        yield _problem(
            "orphan_result",
            f"no server call {call.label!r} stands before this result",
            call.result_index,
            source=_PAIRS,
        )
    elif call.result_index is None and call.call_index is not None:
        last = call.call_index == len(views) - 1
        yield _problem(
            "unanswered_call",
            f"no result for the server call {call.label!r}",
            call.call_index,
            severity="pending" if last else "warning",
            source=_PAIRS,
        )
