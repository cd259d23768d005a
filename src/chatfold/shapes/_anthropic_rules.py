"""What the Messages API requires of a fold; part of the shape `anthropic`.

Sources, all read 2026-11-21:
https://platform.claude.com/docs/en/build-with-claude/preserved-thinking,
https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from chatfold.core.check import THINKING_BINDING, Requirement
from chatfold.core.views import (
    CallPart,
    ItemView,
    OpaquePart,
    Part,
    Placement,
    ReasoningPart,
    ResultPart,
    Role,
    StatePart,
    SummaryPart,
    TextPart,
    is_user_message,
)

__all__ = [
    "around",
    "compaction_requirements",
    "is_in_tool_loop",
    "is_served",
    "is_setting",
    "place_instructions",
    "signs_thinking",
    "thinking_requirements",
    "user_may_follow",
]

_NAME = "anthropic"
_THINKING = (
    "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking (read 2026-11-21)"
)
_BETA = "thinking-binding-controls-2026-08-01"
_COMPACTION = (
    "https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand (read 2026-11-22)"
)
_COMPACTION_BETA = "compact-2026-09-04"

# Names of a generation: claude-3-5-sonnet, claude-sonnet-4-5, claude-opus-5; the digits of a date
# (eight of them) are no version.
_OLD_STYLE = re.compile(r"claude-(?:v?[12]|instant|3)(?![0-9])")
_NEW_STYLE = re.compile(
    r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?![0-9])(?:-(?P<minor>\d{1,2})(?![0-9]))?"
)


def signs_thinking(model: str | None) -> bool:
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


def is_in_tool_loop(views: Sequence[ItemView]) -> bool:
    """Return whether the next message goes on with what was thought before calls of tools.

    The API's words where it misses it, with manual thinking: "a final assistant message must start
    with a thinking block (preceeding the lastmost set of tool_use and tool_result blocks)", in
    https://github.com/anthropics/claude-code/issues/14264 (read 2026-11-22).
    """
    last = views[-1].parts if views else ()
    return any(type(part) in (CallPart, ResultPart) for part in last)


def place_instructions(
    kept: Sequence[int], tail: int, views: Sequence[ItemView], behind: Role
) -> Placement:
    """Return where kept system messages go: behind a user turn, before an assistant's.

    The end of the list is such a place where an answer comes next; behind a finished turn the
    user's next message would follow, and behind some results of a step the others. None goes
    behind a later instruction, which it would seem to take back. Each goes to a place of its own;
    where these run out, the oldest share one. If that is not enough, all stay where they are, with
    the messages around them; so does one that these stay with anyhow.
    """
    here = frozenset(kept)
    told = [i for i in kept if _is_instruction(views[i])]
    movable = [i for i in told if not all(j >= tail or j in here for j in around(i, views))]
    if not movable:
        return Placement()
    staying = [i for i in kept if i not in movable and not is_setting(views[i])]
    before = views[staying[-1]].role if staying else behind
    places: list[int] = []
    stop = _first_waiting(tail, views) + 1 if movable == told[-len(movable) :] else tail
    for index in range(tail, stop):
        if index < len(views) and views[index].role == "system":
            if is_setting(views[index]):
                continue  # it may stand anywhere, and parts nothing
            if not views[index].passing:
                break
            before = "system"  # no other may stand beside it, but it may be passed
            continue
        after = views[index].role if index < len(views) else _next_role(views)
        if index < len(views) and not _is_message(views[index]):
            after = "unknown"
        if before == "user" and after == "assistant":
            places.append(index)
            if len(places) == len(movable):
                return Placement(dict(zip(movable, places, strict=True)))
        if index < len(views):
            before = views[index].role
    groups = _sharing(movable, len(places), views)
    if groups:
        pairs = zip(groups, places, strict=True)
        return Placement({index: place for group, place in pairs for index in group})
    return Placement({}, [j for i in movable for j in around(i, views)])


def around(index: int, views: Sequence[ItemView]) -> list[int]:
    """Return what stands right before and right behind an instruction; settings part nothing."""
    runs = range(index - 1, -1, -1), range(index + 1, len(views))
    sides = (next((j for j in run if not is_setting(views[j])), None) for run in runs)
    return [j for j in sides if j is not None]


def user_may_follow(views: Sequence[ItemView], index: int) -> bool:
    """Return whether a user may speak behind a message: not behind an instruction, and settings."""
    last = next((i for i in range(index, -1, -1) if not is_setting(views[i])), None)
    return last is None or not _is_instruction(views[last])


def _sharing(
    movable: Sequence[int], places: int, views: Sequence[ItemView]
) -> list[list[int]] | None:
    """Return the instructions for each of too few places, None where they cannot share them."""
    groups: list[list[int]] = []
    over = len(movable) - places
    for index in movable:
        if over and groups and _may_share(views[groups[-1][-1]]) and _may_share(views[index]):
            groups[-1].append(index)
            over -= 1
        else:
            groups.append([index])
    return groups if places and not over else None


def _may_share(view: ItemView) -> bool:
    """Return whether a system message is blocks alone: options of two cannot stand in one."""
    return not view.passing and all(map(_is_block, view.parts))


def _is_block(part: Part) -> bool:
    """Return whether a part of a system message may stand beside those of another one."""
    if type(part) is StatePart:
        return part.kind == "tools"
    return type(part) is TextPart and bool(part.text.strip())


def _is_instruction(view: ItemView) -> bool:
    """Return whether a message says to the model what holds from now on, tools that change too."""
    return view.role == "system" and not is_setting(view)


def is_setting(view: ItemView) -> bool:
    """Return whether a system message holds settings only, which may stand anywhere.

    "The directive-only form (content: [] with output_config) is accepted at any position": the API.
    """
    return view.role == "system" and all(map(_sets_options, view.parts))


def _sets_options(part: Part) -> bool:
    return type(part) is StatePart and part.kind == "output_config"


def _next_role(views: Sequence[ItemView]) -> Role:
    """Return who speaks next: the assistant, unless it was the last to speak."""
    last = next((view.role for view in reversed(views) if view.role != "system"), "user")
    return "assistant" if last == "user" else "user"


def _first_waiting(tail: int, views: Sequence[ItemView]) -> int:
    """Return the index of the first message with a call that is yet to be answered.

    Nothing but results may follow such a message; the length of the list where there is none. A
    call of the server's may be answered much later, and those before the tail are no matter; one
    of the host's in the next message, of which more may be to come where it is the last.
    """
    answered = {
        p.id for v in views[tail:] for p in v.parts if type(p) is ResultPart and is_served(p)
    }
    for index in range(tail, len(views)):
        for part in views[index].parts:
            if type(part) is CallPart and is_served(part) and part.id not in answered:
                return index
    return _last_step(views)


def _last_step(views: Sequence[ItemView]) -> int:
    """Return the index of the last message, if the host still answers calls in it.

    The results that are there are passed over; the length of the list where none is missing.
    """
    given: Counter[str | None] = Counter()
    for index in range(len(views) - 1, -1, -1):
        view = views[index]
        if view.role == "system":
            continue
        if is_user_message(view) or view.role not in ("user", "assistant"):
            break
        if view.role == "assistant":
            calls = (p for p in view.parts if type(p) is CallPart and not is_served(p))
            waiting = Counter(call.id for call in calls) - given
            return index if waiting else len(views)
        given.update(p.id for p in view.parts if type(p) is ResultPart)
    return len(views)


def _is_message(view: ItemView) -> bool:
    """Return whether the item is a message of this shape, or one of plain text."""
    return view.shape == _NAME or all(type(part) is TextPart for part in view.parts)


def is_served(part: CallPart | ResultPart) -> bool:
    """Return whether the server makes such calls and answers them itself."""
    return part.pair.startswith("server")


def compaction_requirements(views: Sequence[ItemView]) -> list[Requirement]:
    """Return the header without which a list with a block made on demand is refused."""
    holders = tuple(
        index
        for index, view in enumerate(views)
        if any(type(p) is OpaquePart and p.kind == "signed_compaction" for p in view.parts)
    )
    if not holders:
        return []
    message = (
        "the list holds a compaction block; send this header with every request that holds it, by "
        "client.beta.messages.create"
    )
    options = {"betas": [_COMPACTION_BETA]}
    return [Requirement("compaction_beta", message, options, holders, _COMPACTION)]


def thinking_requirements(views: Sequence[ItemView], model: str | None) -> list[Requirement]:
    """Return what to send so that thinking behind a summary is not refused.

    Newer models sign each thinking block over all that stood before it. The summary changed
    that, for as long as the block stays in the list.
    """
    if not signs_thinking(model):
        return []
    summary = next((i for i, v in enumerate(views) if any(map(_replaces, v.parts))), None)
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
    # Behind a signed block thinking stays valid under conditions that a list does not show; the
    # field drops only what does not.
    message = (
        "thinking kept behind the summary was signed over the messages that the summary "
        "replaced; send these fields with client.beta.messages.create while it stays in the list"
    )
    return [Requirement(THINKING_BINDING, message, options, bound, _THINKING)]


def _replaces(part: Part) -> bool:
    """Return whether a part stands for messages that are gone: a summary, or a signed block."""
    return type(part) is SummaryPart or (
        type(part) is OpaquePart and part.kind == "signed_compaction"
    )
