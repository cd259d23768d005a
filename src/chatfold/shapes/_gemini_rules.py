"""What the Gemini API requires and refuses; part of the shape `gemini`.

The API's error texts are quoted from reports of those who met them; each rule names its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Severity
from chatfold.core.native import field
from chatfold.core.views import (
    CallPart,
    ItemView,
    Placement,
    ResultPart,
    TextPart,
    is_user_message,
)
from chatfold.shapes._blocks import listed
from chatfold.shapes._gemini_parts import READERS, has_object, new_fields, spelled

__all__ = ["check_contents", "is_empty", "place_kept"]

_NAME = "gemini"
_CALLS = "https://github.com/pipecat-ai/pipecat/pull/5660 (read 2026-11-22)"
_COUNTS = "https://github.com/docker/docker-agent/pull/2959 (read 2026-11-22)"
_TYPES = "google-genai 3.4.0, FunctionCall and FunctionResponse (read 2026-11-22)"
_PLACES = "https://github.com/run-llama/LlamaIndexTS/pull/1634 (read 2026-11-27)"
_SENT_BACK = "https://github.com/maximhq/bifrost/pull/2222 (read 2026-11-27)"
_EMPTY = "https://github.com/router-for-me/CLIProxyAPI/issues/3485 (read 2026-11-22)"
_MIXED = "https://github.com/vellum-ai/vellum-assistant/pull/39495 (read 2026-11-27)"
_NO_PARTS = "https://github.com/vercel/ai/issues/3775 (read 2026-11-22)"
_SIGNATURES = "https://docs.apiyi.com/en/faq/gemini-thought-signature-missing (read 2026-11-22)"
_ROLES = "https://github.com/BerriAI/litellm/pull/22046 (read 2026-11-22)"
_FIRST = "https://github.com/NousResearch/hermes-agent/pull/97644 (read 2026-11-22)"
_CALL_TURN = (
    "Please ensure that function call turn comes immediately after a user turn or after a function "
    "response turn."
)
_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
_SIGNATURE = (
    "Function call is missing a thought_signature in functionCall parts. This is required for "
    "tools to work correctly, and missing thought_signature may lead to degraded model performance."
)


def place_kept(kept: Sequence[int], tail: int, views: Sequence[ItemView]) -> Placement:
    """Return what must stay before kept calls that would stand behind the model's own words.

    It is what the calls followed: the user's message, or else the content right before them.
    """
    order = [*kept, tail] if tail < len(views) else kept
    needs = [
        next((i for i in range(index - 1, before, -1) if is_user_message(views[i])), index - 1)
        for before, index in pairwise(order)
        if index > before + 1 and not _may_follow(views[before], views[index])
    ]
    return Placement({}, needs)


def check_contents(
    items: Sequence[object],
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
) -> Iterator[Problem]:
    """Yield what the Gemini API would refuse."""
    own = [i for i, v in enumerate(views) if v.shape == _NAME and not v.fault]
    yield from _check_parts(items, views, own)
    yield from _check_mixture(views, own)
    yield from _check_roles(items, views, own)
    yield from _check_call_turns(views, own)
    yield from _check_results(views, calls)
    yield from _check_signatures(items, views, own)


def _problem(
    rule: str,
    message: str,
    *indices: int,
    severity: Severity = "error",
    error: str = "",
    source: str,
) -> Problem:
    return Problem(rule, message, indices, severity, error, _NAME, source)


def _check_parts(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    """Yield contents without parts, empty parts, and calls and results that lack something."""
    for index in own:
        blocks = listed(field(items[index], "parts"))
        if not blocks:
            yield _problem(
                "empty_message",
                "a content without parts",
                index,
                error=f"GenerateContentRequest.contents[{index}].parts: contents.parts must not be "
                "empty.",
                source=_NO_PARTS,
            )
        for place, block in enumerate(blocks):
            if is_empty(block):
                yield _problem(
                    "empty_part",
                    "a part that holds nothing, or an empty text",
                    index,
                    error=f"GenerateContentRequest.contents[{index}].parts[{place}].data: required "
                    "oneof field 'data' must have one initialized field",
                    source=_EMPTY,
                )
            if not has_object(spelled(block, "function_call")):
                message = "the args of a function call are no object"
                yield _problem("arguments_no_object", message, index, source=_TYPES)
        for part in views[index].parts:
            if isinstance(part, (CallPart, ResultPart)) and part.name is None:
                what = "call" if type(part) is CallPart else "response"
                message = f"a function {what} without a name"
                yield _problem("malformed_item", message, index, source=_TYPES)


def is_empty(block: Any) -> bool:
    """Return whether none of the fields of a part that may stand for it is set.

    A text of no characters counts as unset on the wire; with a signature, it is what the model
    itself sends. A field that is not known may be a new kind of content.
    """
    if spelled(block, "thought_signature") is not None:
        return False
    if any(spelled(block, key) not in (None, "") for key in READERS):
        return False
    return not new_fields(block)


def _check_mixture(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    """Yield contents with words beside responses, behind which newer models see no user's turn."""
    for index in own:
        parts = views[index].parts
        responds = any(type(p) is ResultPart and p.pair == "function" for p in parts)
        if responds and any(type(p) is TextPart for p in parts):
            yield _problem(
                "mixed_results",
                "words beside function responses in one content; newer models refuse them, so put "
                "the words into a content of their own behind it",
                index,
                severity="warning",
                error="Requests ending with a model turn are not supported.",
                source=_MIXED,
            )


def _check_roles(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    """Yield roles that some of Google's servers refuse, though the types or old pages have them."""
    for index in own:
        told = any(type(p) is ResultPart and p.pair == "function" for p in views[index].parts)
        if told and views[index].role == "assistant":
            yield _problem(
                "response_role",
                "a function response in a content of the model; some servers take it only in one "
                "of the user",
                index,
                severity="warning",
                source=_SENT_BACK,
            )
        role = field(items[index], "role")
        if role in ("function", "tool") or (role is None and len(views) > 1):
            yield _problem(
                "role_name",
                "some servers take only the roles 'user' and 'model', and want one on each content",
                index,
                severity="warning",
                error="Please use a valid role: user, model.",
                source=_ROLES,
            )
    if own and own[0] == 0 and views[0].role == "assistant" and not _has_calls(views[0]):
        yield _problem(
            "first_role",
            "the first content is the model's; some servers want it to be the user's",
            0,
            severity="warning",
            source=_FIRST,
        )


def _has_calls(view: ItemView) -> bool:
    return any(type(p) is CallPart and p.pair == "function" for p in view.parts)


def _may_follow(before: ItemView, view: ItemView) -> bool:
    """Return whether a content may stand behind another: calls follow the user, or responses."""
    return not (_has_calls(view) and before.shape == _NAME and before.role == "assistant")


def _check_call_turns(views: Sequence[ItemView], own: Sequence[int]) -> Iterator[Problem]:
    for index in own:
        if not _has_calls(views[index]):
            continue
        if views[index].role != "assistant":
            yield _problem(
                "block_place",
                "a function call in a content of another role than 'model'; it goes into one of "
                "the model",
                index,
                source=_PLACES,
            )
        elif not (index > 0 and _may_follow(views[index - 1], views[index])):
            yield _problem(
                "call_place",
                "a content with function calls must follow the user's or one of responses",
                index,
                error=_CALL_TURN,
                source=_CALLS,
            )


def _check_results(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield calls and results that do not stand in contents right behind each other."""
    for call in calls:
        if call.shape != _NAME:
            continue
        if call.call_index is None:
            index = cast(int, call.result_index)
            message = f"this result answers {call.label!r}, and no such call waits for one"
            yield _problem("orphan_result", message, index, error=_COUNT, source=_COUNTS)
        elif call.pair != "function":
            continue  # the server called and answered
        elif call.result_index != call.call_index + 1:
            last = call.call_index == len(views) - 1
            yield _problem(
                "unanswered_call",
                f"no result for {call.label!r} in the next content",
                call.call_index,
                severity="pending" if last else "error",
                error=_COUNT,
                source=_COUNTS,
            )
            if call.result_index is not None:
                yield _problem(
                    "late_result",
                    f"the result of {call.label!r} is not in the content right behind the call",
                    call.result_index,
                    call.call_index,
                    error=_COUNT,
                    source=_COUNTS,
                )


def _check_signatures(
    items: Sequence[object], views: Sequence[ItemView], own: Sequence[int]
) -> Iterator[Problem]:
    """Yield one warning for the steps of the last turn whose first call has no signature.

    Gemini 3 refuses them, earlier models have none; which one it is, the list does not tell.
    """
    start = max((i for i in own if is_user_message(views[i])), default=0)
    bare: list[int] = []
    for index in own:
        if index > start and views[index].role == "assistant":
            made = [
                b
                for b in listed(field(items[index], "parts"))
                if spelled(b, "function_call") is not None
            ]
            if made and not spelled(made[0], "thought_signature"):
                bare.append(index)
    if bare:
        yield _problem(
            "missing_signature",
            "function calls of the last turn without a thought signature: Gemini 3 and later "
            "refuse them; send what the model sent as it was, or 'skip_thought_signature_validator'"
            " as the signature of a call that another model made",
            *bare,
            severity="warning",
            error=_SIGNATURE,
            source=_SIGNATURES,
        )
