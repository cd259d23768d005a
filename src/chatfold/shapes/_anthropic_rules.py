"""What the Messages API requires of a fold; part of the shape `anthropic`.

Sources: https://platform.claude.com/docs/en/build-with-claude/preserved-thinking (read 2026-11-21),
https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages (read
2026-11-29).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from chatfold.core.check import THINKING_BINDING, Requirement
from chatfold.core.turns import is_answer
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
    Wanted,
    is_user_message,
)

__all__ = [
    "compaction_requirements",
    "follows",
    "is_in_tool_loop",
    "is_served",
    "is_setting",
    "place_instructions",
    "signs_thinking",
    "thinking_requirements",
    "user_may_follow",
    "wants_thinking_back",
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


_Sides: TypeAlias = tuple[int | None, int | None]
"""Index of the message right before and right behind an instruction and those beside it."""


def signs_thinking(model: str | None) -> bool:
    """Return whether a model signs its thinking over what came before it.

    All of generation 4 and older do not, nor the first of generation 5 and Mythos 5.1:
    https://platform.claude.com/docs/en/models/fable-5-1/migration-guide (read 2026-11-29). A model
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


def wants_thinking_back(view: ItemView, model: str | None) -> Wanted:
    """Return whether a message begins with thinking that the turn it began is not taken without.

    "If thinking is enabled, the final assistant turn should start with a thinking block. [...] tool
    use loops are part of the assistant turn":
    https://platform.claude.com/docs/en/build-with-claude/extended-thinking (read 2026-11-29).
    Where it does not, the API answers with the error of `is_in_tool_loop`, or thinks no more.
    Adaptive thinking demands no such thing ("previous assistant turns don't need to start with
    thinking blocks"), and models from 4.7 on think in no other way:
    https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking (read 2026-11-29). A
    model that is not known may be one that demands it, and 4.6 thinks either way.
    """
    if not view.parts or type(view.parts[0]) is not ReasoningPart:
        return "no"
    found = _NEW_STYLE.search(re.sub("[@.]", "-", (model or "").lower()))
    if found is None:
        return "maybe"
    version = int(found["major"]), int(found["minor"] or 0)
    return "yes" if version < (4, 6) else "maybe" if version < (4, 7) else "no"


def place_instructions(
    kept: Sequence[int], tail: int, views: Sequence[ItemView], behind: Role
) -> Placement:
    """Return where kept system messages go: behind a user turn, before an assistant's.

    The end of the list is such a place where an answer comes next; behind a finished turn the
    user's next message would follow, and behind some results of a step the others. Each goes to a
    place of its own, for servers that judge every message alone; where these run out, the oldest
    share the first, one behind the other: "Consecutive system messages are accepted and treated as
    a single system section, which follows the same placement rule as a whole". None goes behind a
    later instruction, which it would seem to take back, nor one that sets an option behind a later
    message that sets it, too: the settings behind it go with it. One that stays with the messages
    around it anyhow has those before it beside it. Without a place all stay where they are, with
    the messages around them.
    """
    here = frozenset(kept)
    told = [i for i in kept if _is_instruction(views[i])]
    sides = _sides(told, views)
    moved: dict[int, int] = {}
    last: list[int] = []  # those that no other holds off from the tail
    stuck: list[int] = []  # those held off by one that the provider refuses where it stands
    held: int | None = None
    for index in reversed(told):
        if _is_held(sides[index], here, tail, views):
            held = index
        elif held is None:
            last.append(index)
        elif _is_sound(sides[held], views, behind):
            moved[index] = held
        else:
            stuck.append(index)
    if stuck:
        return Placement(moved, _around(stuck, kept, sides, tail, views))
    last.reverse()
    settings = [i for i in kept if is_setting(views[i])]
    if last:
        staying = [i for i in kept if views[i].role != "system"]
        before = views[staying[-1]].role if staying else behind
        places = _places_in_tail(last, settings, range(tail, len(views)), views, before)
        if not places:
            return Placement(moved, _around(last, kept, sides, tail, views))
        sharing = [places[0]] * (len(last) - len(places))
        moved.update(zip(last, [*sharing, *places], strict=True))
    return Placement(moved | _settings_with(moved, settings, views))


def _places_in_tail(
    moving: Sequence[int],
    settings: Sequence[int],
    tail: range,
    views: Sequence[ItemView],
    before: Role,
) -> list[int]:
    """Return where instructions may go in a tail, as many places as there are of them or fewer."""
    setters = [i for i in moving if _options(views[i])]
    with_them = [i for i in settings if setters and i > setters[0]]
    last = _first_waiting(tail.start, views)
    stop = _first_setter([*setters, *with_them], range(tail.start, last), views) + 1
    places = _places(range(tail.start, stop), views, before)
    found = list(islice(places, len(moving) + 1))
    alone = [place for place in found if not _is_told_at(place, views)]
    return alone[: len(moving)] or found[:1]


def _settings_with(
    moved: Mapping[int, int], settings: Sequence[int], views: Sequence[ItemView]
) -> dict[int, int]:
    """Return where settings go that an earlier message which sets an option may not pass."""
    found: dict[int, int] = {}
    place = until = 0
    for index in sorted([*moved, *settings]):
        if index in moved:
            place = moved[index]
            until = place if _options(views[index]) else until
        elif index < until:
            found[index] = place
    return found


def _around(
    told: Sequence[int],
    kept: Sequence[int],
    sides: Mapping[int, _Sides],
    tail: int,
    views: Sequence[ItemView],
) -> list[int]:
    """Return the messages that instructions without a place have to stay with."""
    around = {j for i in told for j in sides[i] if j is not None}
    stays = [views[i] for i in sorted({*kept, *around})]
    if tail == len(views) and _next_role(stays) == "assistant":  # though it was answered
        around |= {*range(tail - 1, tail)}
    return sorted(around)


def _places(within: range, views: Sequence[ItemView], before: Role) -> Iterator[int]:
    """Yield where an instruction may go, up to the first that stands there.

    Settings may stand anywhere, and part nothing.

    Args:
        within: Indices before which it may go; the last may be that of settings to hold after it.
        views: The readings of the whole list.
        before: Who speaks before them.
    """
    for index in within:
        if index < within.stop - 1 and is_setting(views[index]):
            continue
        stands = _is_told_at(index, views)
        if before == "user" and _speaks_from(index, views) == "assistant":
            yield index
            before = "system"
        if stands and not views[index].passing:
            return
        if index < len(views) and not stands:
            before = views[index].role


def _is_told_at(index: int, views: Sequence[ItemView]) -> bool:
    return index < len(views) and _is_instruction(views[index])


def _options(view: ItemView) -> frozenset[str]:
    """Return the names of the options that a message sets."""
    parts = (p for p in view.parts if type(p) is StatePart and _sets_options(p))
    return frozenset[str]().union(*(part.keys for part in parts))


def _first_setter(moving: Sequence[int], within: range, views: Sequence[ItemView]) -> int:
    """Return the index of the first message that sets an option which a moving one sets, too."""
    names = frozenset[str]().union(*(_options(views[i]) for i in moving))
    return next((i for i in within if names & _options(views[i])), within.stop)


def _is_held(sides: _Sides, here: Collection[int], tail: int, views: Sequence[ItemView]) -> bool:
    """Return whether an instruction stays where it is, since what it stands between does.

    Between a user and the tail it may as well go to that, with those that may not pass it.
    """
    before, after = sides
    by_user = before is not None and views[before].role == "user"
    behind = after in here or ((after is None or after >= tail) and not by_user)
    return behind and (before is None or before in here)


def _is_sound(sides: _Sides, views: Sequence[ItemView], behind: Role) -> bool:
    """Return whether an instruction may stand where it does: others beside it may, too."""
    before, after = sides
    role = behind if before is None else views[before].role
    return role == "user" and (after is None or views[after].role == "assistant")


def _speaks_from(index: int, views: Sequence[ItemView]) -> Role:
    """Return who speaks first from an index on; at the end of the list, who speaks next."""
    view = next((view for view in islice(views, index, None) if view.role != "system"), None)
    if view is None:
        return _next_role(views)
    return view.role if _is_message(view) else "unknown"


def _sides(told: Sequence[int], views: Sequence[ItemView]) -> dict[int, _Sides]:
    """Return what instructions stand between; thousands may stand side by side."""
    made: dict[int, _Sides] = {}
    sides: _Sides = None, -1
    for index in told:
        if sides[1] is not None and sides[1] < index:  # else it stands beside the one before it
            runs = range(index - 1, -1, -1), range(index + 1, len(views))
            spoken = [next((j for j in run if views[j].role != "system"), None) for run in runs]
            sides = spoken[0], spoken[1]
        made[index] = sides
    return made


def follows(index: int, views: Sequence[ItemView]) -> int:
    """Return the index of the message that an instruction follows; settings part nothing."""
    return next((i for i in range(index - 1, -1, -1) if not is_setting(views[i])), index - 1)


def user_may_follow(views: Sequence[ItemView], index: int) -> bool:
    """Return whether a user may speak behind a message: not behind an instruction, and settings."""
    last = next((i for i in range(index, -1, -1) if not is_setting(views[i])), None)
    return last is None or not _is_instruction(views[last])


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
    """Return who speaks next: the assistant, unless the last to speak has answered.

    A last message of the assistant's may be empty; the answer then goes on from there.
    """
    last = next((view for view in reversed(views) if view.role != "system"), None)
    goes_on = last is None or last.role == "user"
    goes_on = goes_on or (last is not None and last.role == "assistant" and not is_answer(last))
    return "assistant" if goes_on else "user"


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
