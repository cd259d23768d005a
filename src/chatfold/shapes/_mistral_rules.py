"""What Mistral's API requires and refuses; part of the shape `mistral`.

Source: the validator that Mistral publishes, whose errors are the API's,
https://github.com/mistralai/mistral-common
(src/mistral_common/protocol/instruct/validator.py, read 2026-11-22).

A list may rest on an assistant's message, as it does between two turns. To be sent it needs a
user's behind it: `Expected last role User or Tool (or Assistant with prefix True) for serving but
got assistant`. That is no problem of the list, and is not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Severity
from chatfold.core.native import field
from chatfold.core.spans import bridged
from chatfold.core.views import CallPart, ItemView, Placement, ResultPart, Role
from chatfold.shapes._chat import is_mistral_id
from chatfold.shapes._chat_rules import PairRules, pair_problems

__all__ = ["check_messages", "place_kept", "user_may_follow"]

_SOURCE = (
    "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/"
    "validator.py (read 2026-11-22)"
)
# The published validator lets a user speak behind a result since 2026 (1.11.7 of 2026-07-23 does);
# the API refused it with code 3230 on 2025-12-04:
# https://github.com/datapizza-labs/datapizza-ai/issues/98, and servers that run the open models did
# on 2026-08-13: https://github.com/NousResearch/hermes-agent/pull/84944 (all read 2026-11-29).
_FOLLOWERS: Final = {
    "system": ("system", "user", "assistant"),
    "user": ("system", "user", "assistant"),
    "assistant": ("user", "assistant", "tool"),
    "tool": ("assistant", "tool"),
}
_COUNTS = "Not the same number of function calls and responses"
_RULES = PairRules("mistral", _COUNTS, _COUNTS, _SOURCE)
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def place_kept(kept: Sequence[int], tail: int, views: Sequence[ItemView]) -> Placement:
    """Return what must stay between kept items that may not stand behind each other.

    An instruction needs what stood before it, a user behind a tool's result the answer that
    stood between; where there was none, a call that nobody has answered.
    """
    return bridged(kept, tail, partial(_between, views))


def _between(views: Sequence[ItemView], before: int, index: int) -> int | None:
    """Return an item that must stay between two, None where they may stand as they are.

    What stood side by side already is left as it is. Behind the end of the list speaks the user, or
    whoever may answer what is there.
    """
    role = views[index].role if index < len(views) else _next_role(views)
    if index == before + 1 or role in _FOLLOWERS.get(views[before].role, (role,)):
        return None
    if role == "system":
        return index - 1
    last = [  # of a step: no results stand behind them
        i
        for i in range(before + 1, index)
        if views[i].role == "assistant" and (i + 1 == len(views) or views[i + 1].role != "tool")
    ]
    answers = (i for i in last if not any(type(p) is CallPart for p in views[i].parts))
    return next(answers, last[0] if last else None)


def _next_role(views: Sequence[ItemView]) -> Role:
    """Return who speaks next: the assistant, unless it has spoken."""
    return "user" if views[-1].role == "assistant" else "assistant"


def user_may_follow(view: ItemView) -> bool:
    """Return whether a user may speak right behind an item."""
    return "user" in _FOLLOWERS.get(view.role, ("user",))


def check_messages(
    items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
) -> Iterator[Problem]:
    """Yield what Mistral's API would refuse."""
    yield from pair_problems(views, calls, _RULES)
    own = [i for i, view in enumerate(views) if view.shape == "mistral"]
    if own and own[0] == 0 and any(type(p) is CallPart for p in views[0].parts):
        yield _problem(
            "first_role", "the first message cannot be an assistant's call", 0, error=_COUNTS
        )
    for before, index in pairwise(own):
        role, last = views[index].role, views[before].role
        # A result in the wrong place is an orphan, or late, and reported as that.
        if role != "tool" and index == before + 1 and role not in _FOLLOWERS[last]:
            yield _problem(
                "unexpected_role",
                f"a message of {role!r} cannot follow one of {last!r}",
                index,
                before,
                error=f"Unexpected role '{role}' after role '{last}'",
            )
    for index in own:
        yield from _check_message(items[index], views[index], index, own[-1])


def _problem(
    rule: str, message: str, *indices: int, error: str, severity: Severity = "error"
) -> Problem:
    return Problem(rule, message, indices, severity, error, "mistral", _SOURCE)


def _check_message(item: object, view: ItemView, index: int, last: int) -> Iterator[Problem]:
    """Yield what is wrong with one message by itself."""
    calls = [part for part in view.parts if type(part) is CallPart]
    if view.role == "assistant" and not calls and not field(item, "content") and not view.fault:
        yield _problem(
            "empty_message",
            "an assistant's message needs content or calls",
            index,
            error="Assistant message must have either content or tool_calls, but not none.",
        )
    if field(item, "prefix") is True and index != last:
        yield _problem(
            "prefix_not_last",
            "a message that begins the answer has to be the last",
            index,
            error="Assistant message with prefix True must be last message",
        )
    ids = [call.id for call in calls if call.id is not None]
    for repeated in sorted({i for i in ids if ids.count(i) > 1}):
        yield _problem(
            "duplicate_call_id",
            f"two calls of one message have the id {repeated!r}",
            index,
            error=f"Duplicate tool call id {repeated} in assistant message",
        )
    for part in view.parts:
        if type(part) is CallPart or type(part) is ResultPart:
            yield from _check_names(part, index)


def _check_names(part: CallPart | ResultPart, index: int) -> Iterator[Problem]:
    if part.id is None:
        yield _problem(
            "missing_call_id",
            "a call or a result without an id",
            index,
            error="Tool call id has to be defined.",
        )
    elif not is_mistral_id(part.id):
        yield _problem(
            "call_id_form",
            f"the call id {part.id!r} is not nine letters and digits, which all but the newest "
            "models demand",
            index,
            error=f"Tool call id was {part.id} but must be a-z, A-Z, 0-9, with a length of 9.",
            severity="warning",
        )
    if part.name is None:
        if type(part) is CallPart:
            yield Problem("malformed_item", "a tool call without a name", (index,), shape="mistral")
    elif not _TOOL_NAME.fullmatch(part.name):
        yield _problem(
            "tool_name",
            f"{part.name!r} is no name of a tool here",
            index,
            error=f"Function name was {part.name} but must be a-z, A-Z, 0-9, or contain "
            "underscores and dashes, with a maximum length of 64.",
        )
