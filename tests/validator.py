"""A second opinion on provider rules: what a server would refuse in a list of native items.

Written from the providers' rules alone (`reference/native-shapes.md` sections A, B3, C2 and F of
the shared folder, read 2026-11-21) and free of chatfold code on purpose: the library's own
`check()` is measured against it, so a misreading must not be shared. Only what the list itself
shows is judged; models, headers and request options are not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from validators import bedrock, gemini, mistral, ollama, results
from validators.base import Item, Violation, dicts, normalise, readable

__all__ = ["Violation", "lost_partners", "normalise", "validate"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FAKE_ID = "__fake_id__"  # the Agents SDK gives this id to every item of a chat-completions model


def validate(
    items: list[Any], shape: str, *, strict: bool = False, blocks: bool = False
) -> list[Violation]:
    """Return every rule of the provider that the list breaks, in order of index.

    Args:
        items: Native items of one shape: dicts, SDK objects, or both.
        shape: "openai_chat", "openai_responses" or "anthropic".
        strict: Also report what the provider's own server is seen to take but other servers of
            the same protocol refuse: a call id used twice in a Responses list
            (https://github.com/NousResearch/hermes-agent/issues/102629, read 2026-11-21), and
            for Anthropic messages of one role in a row or a tool_use id used in two rounds.
        blocks: Also report what results of tools hold that the provider takes in none.

    Raises:
        ValueError: `shape` is none of the three.
    """
    judges: dict[str, Callable[[list[Item], bool], Iterator[Violation]]] = {
        "openai_chat": _chat,
        "openai_responses": _responses,
        "anthropic": _anthropic,
        "gemini": gemini.judge,
        "bedrock": bedrock.judge,
        "ollama": ollama.judge,
        "mistral": mistral.judge,
    }
    if shape not in judges:
        raise ValueError(f"shape must be one of {sorted(judges)}, got {shape!r}")
    plain = readable(items)
    found = [
        Violation(index, "malformed", f"not an item: {type(items[index]).__name__}")
        for index, item in enumerate(plain)
        if not item
    ]
    found += judges[shape](plain, strict)
    if blocks:
        found += [v for index, item in enumerate(plain) for v in results.judge(shape, index, item)]
    return sorted(found, key=lambda violation: violation.index)


# --- OpenAI Chat Completions (section A) ----------------------------------------------------------

_CHAT_ROLES = {"developer", "system", "user", "assistant", "tool", "function"}


@dataclass
class _Step:
    """The calls of the last assistant message, as long as nothing else came after them."""

    index: int = -1
    ids: list[Any] = field(default_factory=list)
    names: list[Any] = field(default_factory=list)
    answered: set[Any] = field(default_factory=set)

    def close(self, *, at_end: bool) -> Iterator[Violation]:
        for call in self.ids + self.names:
            yield Violation(self.index, "unanswered_call", f"{call!r} has no result", at_end)


def _chat(items: list[Item], _strict: bool) -> Iterator[Violation]:
    step = _Step()
    for index, item in enumerate(items):
        role = item.get("role")
        if role in ("tool", "function"):
            content = item.get("content")
            if not isinstance(content, (str, list)) and (role == "tool" or content is not None):
                yield Violation(index, "content_type", type(content).__name__)
        if role == "tool":
            yield from _chat_result(index, item.get("tool_call_id"), step.ids, step.answered)
            continue
        if role == "function":
            yield from _chat_result(index, item.get("name"), step.names, set())
            continue
        yield from step.close(at_end=False)
        step = _Step()
        if role == "assistant":
            step = _chat_step(index, item)
            yield from _chat_texts(index, item)
            spoken = item.get("refusal") or item.get("audio") or step.ids or step.names
            if item.get("content") is None and not spoken:
                yield Violation(index, "null_content", "assistant message without content or calls")
        elif item and role not in _CHAT_ROLES:
            yield Violation(index, "foreign_item", f"role {role!r}, type {item.get('type')!r}")
    yield from step.close(at_end=True)


def _chat_step(index: int, item: Item) -> _Step:
    step = _Step(index, [call.get("id") for call in dicts(item.get("tool_calls"))])
    # Some adapters write the calls as content blocks, beside `tool_calls` or instead of it.
    step.ids += [
        block.get("call_id")
        for block in dicts(item.get("content"))
        if block.get("type") == "function_call" and block.get("call_id") not in step.ids
    ]
    if isinstance(item.get("function_call"), dict):
        step.names.append(item["function_call"].get("name"))
    return step


def _chat_texts(index: int, item: Item) -> Iterator[Violation]:
    """Yield arguments that are no text: the API's type is string, and it takes nothing else."""
    functions = [call.get("function") for call in dicts(item.get("tool_calls"))]
    for function in dicts([*functions, item.get("function_call")]):
        if not isinstance(function.get("arguments"), str):
            yield Violation(index, "arguments_type", f"{function.get('arguments')!r}")


def _chat_result(
    index: int, key: Any, waiting: list[Any], answered: set[Any]
) -> Iterator[Violation]:
    if key in waiting:
        waiting.remove(key)
        answered.add(key)
    else:
        rule = "duplicate_result" if key in answered else "orphan_result"
        yield Violation(index, rule, f"no call {key!r} waits in the message right before")


# --- OpenAI Responses (sections B1, B3 and F) -----------------------------------------------------

_FAMILY_OF_CALL = {
    "function_call": "function_call",
    "custom_tool_call": "custom_tool_call",
    "computer_call": "computer_call",
    "local_shell_call": "local_shell_call",
    "shell_call": "shell_call",
    "apply_patch_call": "apply_patch_call",
    "tool_search_call": "tool_search",
    "program": "program",
}
_FAMILY_OF_OUTPUT = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
    "computer_call_output": "computer_call",
    "local_shell_call_output": "local_shell_call",
    "shell_call_output": "shell_call",
    "apply_patch_call_output": "apply_patch_call",
    "tool_search_output": "tool_search",
    "program_output": "program",
}
# Outputs that only a client writes; the server may write the others in the midst of a response.
_CLIENT_OUTPUTS = {
    "function_call_output",
    "custom_tool_call_output",
    "computer_call_output",
    "local_shell_call_output",
    "apply_patch_call_output",
}
# What ends a response's own run of items: it was not written by the model.
_CLIENT = {
    "additional_tools",
    "configuration_update",
    "compaction",
    "compaction_trigger",
    "mcp_approval_response",
}
_FAMILY_OF_REFERENCE = {"fc": "function_call", "ctc": "custom_tool_call"}
_MESSAGE_ROLES = {"user", "assistant", "system", "developer"}


def _type(item: Item) -> str:
    """Return the item's type; an easy message and a reference may leave it out."""
    kind = item.get("type")
    if kind is None and "role" in item:
        return "message"
    if kind is None and set(item) == {"id"}:
        return "item_reference"
    return kind if isinstance(kind, str) else ""


def _is_client(item: Item) -> bool:
    kind = _type(item)
    return kind in _CLIENT or (kind == "message" and item.get("role") != "assistant")


def _is_reasoning(item: Item) -> bool:
    reference = _type(item) == "item_reference" and str(item.get("id")).startswith("rs_")
    return _type(item) == "reasoning" or reference


def _is_model(item: Item) -> bool:
    """Say whether the model wrote the item and its reasoning may be demanded for it."""
    kind = _type(item)
    outside = kind in _FAMILY_OF_OUTPUT or kind == "mcp_list_tools"
    return bool(item) and not (outside or _is_client(item) or _is_reasoning(item))


@dataclass
class _Call:
    index: int
    family: str
    key: Any
    name: Any
    waits: bool = False  # asynchronous: may be answered many turns later
    hosted: bool = False  # run by the server, which does not always return an output item


def _responses(items: list[Item], strict: bool) -> Iterator[Violation]:
    yield from _responses_pairs(items, strict)
    yield from _responses_ids(items)
    yield from _responses_reasoning(items)
    yield from _responses_approvals(items)
    programs: set[Any] = set()
    for index, item in enumerate(items):
        kind: str = _type(item)
        caller: Any = item.get("caller")
        if kind == "program":
            programs.add(item.get("call_id"))
        if kind == "function_call" and not isinstance(item.get("arguments"), str):
            yield Violation(index, "arguments_type", f"{item.get('arguments')!r}")
        told = kind in ("function_call_output", "custom_tool_call_output")
        if told and not isinstance(item.get("output"), (str, list)):
            yield Violation(index, "output_type", type(item.get("output")).__name__)
        if kind == "compaction_trigger" and index != len(items) - 1:
            yield Violation(index, "trigger_not_last", "compaction_trigger must be the last item")
        if kind == "message" and item.get("role") not in _MESSAGE_ROLES:
            yield Violation(index, "foreign_item", f"message of role {item.get('role')!r}")
        nested = isinstance(caller, dict) and caller.get("type") == "program"
        if nested and caller.get("caller_id") not in programs:
            yield Violation(index, "nested_without_program", f"{caller.get('caller_id')!r}")


def _responses_pairs(items: list[Item], strict: bool) -> Iterator[Violation]:
    unanswered: list[_Call] = []
    seen: set[tuple[str, Any]] = set()
    top_level = {(_type(item), item.get("call_id")) for item in items}
    for index, item in enumerate(items):
        family = _FAMILY_OF_OUTPUT.get(_type(item))
        if family is None:
            for call in _calls_in(index, item, top_level):
                if strict and call.key is not None and (call.family, call.key) in seen:
                    yield Violation(index, "reused_call_id", f"{call.family} {call.key!r}")
                unanswered.append(call)
                seen.add((call.family, call.key))
            continue
        key = item.get("call_id")
        if key is None and family == "local_shell_call":
            key = item.get("id")
        answered = _answered_by(unanswered, family, key, item.get("name"))
        if answered is not None:
            unanswered.remove(answered)
        else:
            rule = "duplicate_output" if (family, key) in seen else "orphan_output"
            yield Violation(index, rule, f"no {family} {key!r} waits for it")
    last_step = _last_step(items)
    for call in unanswered:
        if call.hosted:
            continue  # recorded lists with a hosted search and no output were answered
        is_open = call.waits or call.index >= last_step
        yield Violation(call.index, "unanswered_call", f"{call.family} {call.key!r}", is_open)


def _calls_in(index: int, item: Item, top_level: set[tuple[str, Any]]) -> Iterator[_Call]:
    """Yield the item's own call, and calls that a session store nested into its content."""
    kind = _type(item)
    nested = [
        block
        for block in (dicts(item.get("content")) if kind == "message" else [])
        if (block.get("type"), block.get("call_id")) not in top_level
    ]
    for call in [item, *nested]:
        family = _FAMILY_OF_CALL.get(_type(call))
        if family is not None:
            key = call.get("call_id")
            waits = bool(call.get("async") or call.get("async_"))
            hosted = family == "tool_search" and (key is None or call.get("execution") == "server")
            yield _Call(index, family, key, call.get("name"), waits, hosted)
    if kind == "item_reference":
        family = _FAMILY_OF_REFERENCE.get(str(item.get("id")).split("_")[0])
        if family is not None:
            # The call id is on the server only, so any output of the family may be its answer.
            yield _Call(index, family, _Anything, item.get("id"))


class _Anything:
    """The call id of a call that is only referred to."""


def _answered_by(calls: list[_Call], family: str, key: Any, name: Any) -> _Call | None:
    own = [call for call in calls if call.family == family]
    exact = [call for call in own if call.key == key]
    if exact:
        # Without ids the order decides; with ids the nearest call of that id is meant.
        return exact[0] if key is None else exact[-1]
    if key is None and family == "function_call":
        # `call_id` became optional on this output; then its `name` is all that there is.
        return next((call for call in own if name is None or call.name == name), None)
    return next((call for call in own if call.key is _Anything), None)


def _last_step(items: list[Item]) -> int:
    """Return the index from which on an unanswered call may still get its output.

    That is behind the last message of the user, and behind the start of the last response that
    is known to be a new one: reasoning or speech that directly follows an output.
    """
    start = 0
    for index, item in enumerate(items):
        after_output = index > 0 and _type(items[index - 1]) in _CLIENT_OUTPUTS
        is_message = _type(item) == "message"
        from_user = is_message and item.get("role") == "user"
        from_model = _is_reasoning(item) or (is_message and item.get("role") == "assistant")
        if from_user or (after_output and from_model):
            start = index
    return start


def _responses_ids(items: list[Item]) -> Iterator[Violation]:
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        own = item.get("id")
        # The id of a local_shell_call_output is its call's id, not its own.
        if (
            not isinstance(own, str)
            or own in {"", FAKE_ID}
            or _type(item) == "local_shell_call_output"
        ):
            continue
        if own in first:
            yield Violation(index, "duplicate_id", f"{own!r} is also the id of item {first[own]}")
        first.setdefault(own, index)


def _responses_reasoning(items: list[Item]) -> Iterator[Violation]:
    for index, item in enumerate(items):
        if not _is_reasoning(item):
            continue
        if _type(item) == "reasoning" and item.get("summary") is None:
            yield Violation(index, "missing_summary", "reasoning needs `summary`, even empty")
        following = (
            items[later]
            for later in range(index + 1, len(items))
            if not _is_reasoning(items[later]) and _type(items[later]) != "mcp_list_tools"
        )
        follower = next(following, None)
        if follower is None or not _is_model(follower):
            yield Violation(index, "reasoning_without_follower", f"{item.get('id')!r}")
        elif (_type(item) == "item_reference") != (_type(follower) == "item_reference"):
            yield Violation(index, "half_a_reference", "one of the pair is a reference only")


def _responses_approvals(items: list[Item]) -> Iterator[Violation]:
    requests: dict[Any, int] = {}
    answered: set[Any] = set()
    for index, item in enumerate(items):
        kind, key = _type(item), item.get("approval_request_id")
        if kind == "mcp_approval_request":
            requests[item.get("id")] = index
        elif kind == "mcp_approval_response":
            if key not in requests:
                yield Violation(index, "orphan_approval", f"no request {key!r} before it")
            elif key in answered:
                yield Violation(index, "duplicate_approval", f"{key!r} was answered before")
            answered.add(key)
        elif kind == "mcp_call" and key and key not in requests:
            yield Violation(index, "approval_parted", f"no request {key!r} before the mcp_call")
    for key, index in requests.items():
        if key not in answered:
            yield Violation(index, "unanswered_approval", f"{key!r}", open=True)


# --- Anthropic Messages (section C2) --------------------------------------------------------------

_SERVER_CALLS = {"server_tool_use", "mcp_tool_use"}


def _is_server_result(block: Item) -> bool:
    kind = str(block.get("type"))
    return kind != "tool_result" and kind.endswith("_tool_result")


@dataclass
class _Message:
    """A run of messages of one role, which the server reads as one."""

    role: Any
    index: int
    blocks: list[tuple[int, Item]]

    def only_calls_by(self, code: Any) -> bool:
        """Return whether it holds nothing but calls that the server's run of code has made."""
        callers = [block.get("caller") or {} for _, block in self.blocks]
        return bool(callers) and all(code and c.get("tool_id") == code for c in callers)

    def only_results(self) -> bool:
        results = [block.get("type") == "tool_result" for _, block in self.blocks]
        return self.role == "user" and bool(results) and all(results)

    def of_type(self, *kinds: str) -> list[tuple[int, Item]]:
        return [(index, block) for index, block in self.blocks if block.get("type") in kinds]


def _blocks(item: Item) -> list[Item]:
    content = item.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else dicts(content)


def _is_directive(item: Item) -> bool:
    """Say whether the message only sets output options; such a message may stand anywhere."""
    empty = isinstance(item.get("content"), list) and not item["content"]
    return item.get("role") == "system" and empty and bool(item.get("output_config"))


def _anthropic(items: list[Item], strict: bool) -> Iterator[Violation]:
    merged: list[_Message] = []
    for index, item in enumerate(items):
        role = item.get("role")
        if not item or _is_directive(item):
            continue
        if role not in {"user", "assistant", "system"}:
            yield Violation(index, "foreign_item", f"role {role!r}, type {item.get('type')!r}")
            continue
        yield from _anthropic_content(index, item, is_last=index == len(items) - 1)
        blocks = [(index, block) for block in _blocks(item)]
        if merged and merged[-1].role == role and role != "system":
            merged[-1].blocks.extend(blocks)
            if strict:
                yield Violation(index, "roles_alternate", f"two {role} messages in a row")
        else:
            merged.append(_Message(role, index, blocks))
    if merged and merged[0].role == "assistant" and not _opens_with_compaction(merged[0]):
        yield Violation(merged[0].index, "first_role", "the first message must be the user's")
    for message in merged:
        last = message.blocks[-1][1].get("type") if message.blocks else None
        if message.role == "assistant" and last in ("thinking", "redacted_thinking"):
            yield Violation(message.blocks[-1][0], "thinking_last", f"the last block is {last!r}")
    yield from _anthropic_tools(merged)
    yield from _anthropic_ids(merged, strict)
    yield from _anthropic_server_tools(merged)
    yield from _anthropic_system(merged, {i for i, item in enumerate(items) if not item})
    yield from _anthropic_compaction(items)


def _opens_with_compaction(message: _Message) -> bool:
    return bool(message.blocks) and message.blocks[0][1].get("type") == "compaction"


def _anthropic_content(index: int, item: Item, *, is_last: bool) -> Iterator[Violation]:
    content = item.get("content")
    if not content:
        if not (is_last and item.get("role") == "assistant"):
            yield Violation(index, "empty_content", f"content is {content!r}")
        return
    for block in _blocks(item):
        if block.get("type") == "text" and not str(block.get("text") or "").strip():
            yield Violation(index, "blank_text", f"text is {block.get('text')!r}")
        if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
            yield Violation(index, "arguments_no_object", f"input is {block.get('input')!r}")
        if block.get("type") == "tool_use" and not re.fullmatch(
            "[a-zA-Z0-9_-]+", str(block.get("id") or "none")
        ):
            yield Violation(index, "tool_use_id", f"id is {block.get('id')!r}")


def _anthropic_tools(merged: list[_Message]) -> Iterator[Violation]:
    waiting: list[tuple[int, Item]] = []
    for place, message in enumerate(merged):
        is_last = place == len(merged) - 1
        calls = message.of_type("tool_use")
        if message.role != "assistant":
            for index, _ in calls:
                yield Violation(index, "misplaced_tool_use", f"in a message of {message.role!r}")
        results = message.of_type("tool_result")
        given = {block.get("tool_use_id") for _, block in results}
        yield from _anthropic_results(message, results, {block.get("id") for _, block in waiting})
        for index, block in waiting:
            if block.get("id") not in given:
                is_open = is_last and message.only_results()
                yield Violation(index, "unanswered_call", f"tool_use {block.get('id')!r}", is_open)
        waiting = calls if message.role == "assistant" else []
    for index, block in waiting:
        yield Violation(index, "unanswered_call", f"tool_use {block.get('id')!r}", open=True)


def _anthropic_ids(merged: list[_Message], strict: bool) -> Iterator[Violation]:
    """Judge the ids of client calls, which must differ within what one assistant turn holds.

    The error text does not say within what. Every published instance names a block behind the
    first one of its message (https://github.com/anthropics/claude-code/issues/20573, /21317,
    /28515, read 2026-11-21), and a recorded conversation that uses one id in two rounds was
    answered, so an id that recurs in a later round is reported on `strict` only.
    """
    earlier: set[Any] = set()
    for message in merged:
        own: set[Any] = set()
        for index, block in message.of_type("tool_use"):
            key = block.get("id")
            if key in own:
                yield Violation(index, "duplicate_tool_use", f"{key!r} twice in one turn")
            elif strict and key in earlier:
                yield Violation(index, "reused_tool_use_id", f"{key!r} used in an earlier round")
            own.add(key)
        earlier |= own


def _anthropic_results(
    message: _Message, results: list[tuple[int, Item]], wanted: set[Any]
) -> Iterator[Violation]:
    """Judge a message's results against the calls of the message before it."""
    seen: set[Any] = set()
    for index, block in results:
        key = block.get("tool_use_id")
        if message.role != "user" or key not in wanted:
            yield Violation(index, "orphan_result", f"no tool_use {key!r} in the message before")
        elif key in seen:
            yield Violation(index, "duplicate_result", f"{key!r} has more than one tool_result")
        seen.add(key)
    behind = message.blocks[len(results) :]
    late = [index for index, block in behind if block.get("type") == "tool_result"]
    if message.role == "user" and late:
        yield Violation(late[0], "results_first", "tool_result blocks must come before any other")


def _anthropic_server_tools(merged: list[_Message]) -> Iterator[Violation]:
    waiting: list[tuple[int, int, Item]] = []
    for place, message in enumerate(merged):
        for index, block in message.blocks:
            if block.get("type") in _SERVER_CALLS:
                waiting.append((place, index, block))
            elif _is_server_result(block):
                kind, key = block.get("type"), block.get("tool_use_id")
                family = "mcp_tool_use" if kind == "mcp_tool_result" else "server_tool_use"
                own = [
                    call
                    for call in waiting
                    if call[2].get("type") == family and call[2].get("id") == key
                ]
                if own:
                    waiting.remove(own[-1])
                else:
                    yield Violation(index, "orphan_server_result", f"{kind} {key!r}")
    for place, index, block in waiting:
        is_open = all(
            later.only_results() or later.only_calls_by(block.get("id"))
            for later in merged[place + 1 :]
        )
        yield Violation(index, "unanswered_server_call", f"{block.get('id')!r}", is_open)


def _anthropic_system(merged: list[_Message], holes: set[int]) -> Iterator[Violation]:
    for place, message in enumerate(merged):
        if message.role != "system":
            continue
        # "Consecutive `system` messages are judged together": the page on them, read 2026-11-29.
        before = next((m for m in reversed(merged[:place]) if m.role != "system"), None)
        after = next((m for m in merged[place + 1 :] if m.role != "system"), None)
        if before is None:
            yield Violation(message.index, "system_first", "belongs in the `system` parameter")
        elif before.role != "user" and not _ends_in_server_tool(before):
            yield Violation(message.index, "system_placement", f"follows {before.role!r}")
        if after is not None and after.role != "assistant":
            yield Violation(message.index, "system_placement", f"is followed by {after.role!r}")
        if holes.intersection((message.index - 1, message.index + 1)):
            yield Violation(message.index, "system_placement", "stands beside what is no message")


def _ends_in_server_tool(message: _Message) -> bool:
    last = message.blocks[-1][1] if message.blocks else {}
    return message.role == "assistant" and (
        last.get("type") in _SERVER_CALLS or _is_server_result(last)
    )


def _anthropic_compaction(items: list[Item]) -> Iterator[Violation]:
    for index, item in enumerate(items):
        for position, block in enumerate(_blocks(item)):
            signed = block.get("type") == "compaction" and block.get("signature")
            if signed and (index, position) != (0, 0):
                yield Violation(index, "compaction_misplaced", "a signed compaction must be first")


# --- What a fold may not part, seen from before and after (rule R2 of section F) ------------------


def lost_partners(before: list[Any], after: list[Any], shape: str) -> list[Violation]:
    """Return the items of `after` that lost a partner of which only `before` knew.

    The server keeps the tie between a reasoning item and the items of its response by item id,
    so a list can look complete and still be refused. Only Responses lists have such ties.

    Args:
        before: Items before the fold.
        after: Items after the fold; those that were kept are the same objects or equal to them.
        shape: "openai_chat", "openai_responses" or "anthropic".
    """
    if shape != "openai_responses":
        return []
    old, new = readable(before), readable(after)
    origin = _origins(before, after, old, new)
    kept = set(origin.values())
    where = {old_index: new_index for new_index, old_index in origin.items()}
    found: list[Violation] = []
    for run, scope in _reasoning_scopes(old):
        lost = [old[index].get("id") for index in run if index not in kept]
        for index in scope:
            own = old[index].get("id")
            # An item whose id was taken off is not demanded any more, so only ids count.
            named = index in kept and new[where[index]].get("id")
            if lost and named and own != FAKE_ID:
                found.append(Violation(where[index], "lost_reasoning", f"{own!r} needs {lost!r}"))
        if scope and scope[0] not in kept:
            found += [
                Violation(where[index], "lost_follower", f"{old[index].get('id')!r}")
                for index in run
                if index in kept
            ]
    return sorted(found, key=lambda violation: violation.index)


def _origins(
    before: list[Any], after: list[Any], old: list[Item], new: list[Item]
) -> dict[int, int]:
    """Return, for each index of `after` that was kept, its index in `before`."""
    origin: dict[int, int] = {}
    places: dict[int, list[int]] = {}
    for old_index, item in enumerate(before):
        places.setdefault(id(item), []).append(old_index)
    # From the end, because the tail is what surely stayed; equal items then meet their likes.
    for new_index in reversed(range(len(after))):
        if places.get(id(after[new_index])):
            origin[new_index] = places[id(after[new_index])].pop()
    kept = set(origin.values())
    free = [index for index in reversed(range(len(before))) if index not in kept]
    for new_index in reversed(range(len(after))):
        if new_index in origin:
            continue
        for old_index in free:
            if new[new_index] == old[old_index] or _same_id(new[new_index], old[old_index]):
                origin[new_index] = old_index
                free.remove(old_index)
                break
    return origin


def _same_id(one: Item, other: Item) -> bool:
    own = one.get("id")
    same = own == other.get("id") and _type(one) == _type(other)
    return bool(own) and own != FAKE_ID and same


def _reasoning_scopes(items: list[Item]) -> list[tuple[list[int], list[int]]]:
    """Return (indices of the reasoning run, indices of the model's items that need it)."""
    scopes: list[tuple[list[int], list[int]]] = []
    running = False
    for index, item in enumerate(items):
        if _is_client(item):
            running = False
        elif _is_reasoning(item):
            if running and not scopes[-1][1]:
                scopes[-1][0].append(index)
            else:
                scopes.append(([index], []))
            running = True
        elif running and _is_model(item):
            scopes[-1][1].append(index)
    return scopes
