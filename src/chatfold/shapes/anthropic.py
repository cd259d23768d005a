"""The shape `anthropic`: messages of Anthropic's Messages API, beta blocks included.

Sources: the types of anthropic 2.12.0 (`MessageParam`, `BetaMessageParam`);
https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview (read 2026-11-21).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from chatfold.core.arguments import wrapped
from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.native import field, plain
from chatfold.core.spans import Span
from chatfold.core.views import (
    CallPart,
    Fit,
    ItemView,
    Medium,
    Part,
    Placement,
    Role,
    Shape,
    StatePart,
    TextPart,
    Wanted,
)
from chatfold.errors import ShapeError
from chatfold.shapes._anthropic_blocks import fault_of, is_own, read_block
from chatfold.shapes._anthropic_problems import check_messages
from chatfold.shapes._anthropic_results import blocks_of_result, result_block
from chatfold.shapes._anthropic_rules import (
    compaction_requirements,
    follows,
    is_in_tool_loop,
    place_instructions,
    signs_thinking,
    thinking_requirements,
    user_may_follow,
    wants_thinking_back,
)
from chatfold.shapes._blocks import (
    block_type,
    fields_or_none,
    getter,
    is_object,
    json_text,
    listed,
    module_of,
    named_id,
    own_fields,
)
from chatfold.shapes._results import with_blocks

__all__ = ["Anthropic"]

_ROLES: Final = frozenset({"user", "assistant", "system"})
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
# Why a message, as the SDK returned it, may end in the middle of what it says:
# https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons (read 2026-11-27).
_CUT_OFF: Final = frozenset(
    {"max_tokens", "model_context_window_exceeded", "refusal", "stop_sequence"}
)


class Anthropic(Shape):
    """Anthropic messages: calls, results and thinking are blocks inside messages."""

    name = "anthropic"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is an Anthropic message."""
        module = module_of(item)
        if module and not module.startswith("anthropic.types"):
            return "no"
        get = getter(item)
        if not _is_message(get):
            return "no"
        is_whole = get("type") == "message" and get("model") and get("usage")  # as JSON
        if module or is_whole:
            return "yes"
        if get("output_config") is not None or get("clear_at") is not None:
            return "yes"
        content = get("content")
        if isinstance(content, str):
            return "maybe"
        if content is None and get("role") == "system":
            return "maybe"  # a message for options alone
        if not isinstance(content, list):
            return "no"
        blocks = cast(list[Any], content)
        if any(is_own(b) for b in blocks):
            return "yes"
        return "maybe" if all(block_type(b) == "text" for b in blocks) else "no"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of a message, None where it is of another shape."""
        get = getter(item)
        if not _is_message(get):
            return None
        content, fault = get("content"), ""
        if isinstance(content, str):
            parts: tuple[Part, ...] = (TextPart(content),)
        elif isinstance(content, list):
            made: list[Part] = []
            for block in cast(list[Any], content):
                part = read_block(block)
                if part is None:
                    return None
                made.append(part)
            parts = tuple(made)
            fault = fault_of(cast(list[Any], content))
        elif content is None and get("role") == "system":
            parts = ()  # a message that only sets options may do without content
        else:
            return None
        role = cast(Role, get("role"))
        config = get("output_config")
        if role == "system" and config is not None:
            keys = (
                frozenset(cast(dict[str, Any], config))
                if isinstance(config, dict)
                else frozenset({"effort"})
            )
            parts = (*parts, StatePart("output_config", keys, json_text(config)))
        id_, step = named_id(get("id")), role == "assistant"
        last = parts[-1] if parts else None
        if type(last) is CallPart and get("stop_reason") in _CUT_OFF:
            parts = (*parts[:-1], last._replace(cut_off=True))
        # "renders it only for the user turn it follows: once a later `role: "user"` message exists
        # in `messages` the message stays in the array (send it unchanged) but is no longer shown
        # to the model": anthropic 2.14.0, BetaSystemMessageParam. Results are such messages, too.
        passing = role == "system" and get("clear_at") == "next_user_message"
        return ItemView(role, parts, role, self.name, None, id_, step, fault, passing)

    def spans(self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterable[Span]:
        """Yield each mid-conversation instruction with the message it follows.

        Calls and results, the server's included, are bound by their records.
        """
        for index, view in enumerate(views):
            if index and view.role == "system" and any(type(p) is TextPart for p in view.parts):
                yield Span(follows(index, views), index, "none")

    def keeps(self, view: ItemView) -> bool:
        """Return whether the message is an instruction in the middle of the conversation."""
        return view.role == "system"

    def place(
        self,
        kept: Sequence[int],
        tail: int,
        views: Sequence[ItemView],
        *,
        behind: Role = "user",
    ) -> Placement:
        """Return where mid-conversation instructions go: behind a user turn."""
        return place_instructions(kept, tail, views, behind)

    def user_may_follow(self, views: Sequence[ItemView], index: int) -> bool:
        """Return whether no instruction stands there, which the assistant has to follow."""
        return user_may_follow(views, index)

    def full_replay(self) -> Requirement:
        """Return the fields that make the server hold the list as it is now."""
        return Requirement(
            "full_replay",
            "the thread holds the history as it was before the fold; send the whole list and begin "
            "a new thread with it, or send it without a thread",
            {"thread": {"type": "create"}},
            source="anthropic 2.12.0, BetaThreadCreateParams",
        )

    def summary_item(self, text: str, *, role: str) -> dict[str, Any]:
        """Return a message that holds `text` in a block of its own.

        Raises:
            ShapeError: There is no such role.
        """
        if role not in _ROLES:
            raise ShapeError(f"a message has no role {role!r}; use 'user'", shape=self.name)
        return {"role": role, "content": [{"type": "text", "text": text}]}

    def result_item(
        self, call: ToolCallRecord, text: str, *, failed: bool = False
    ) -> dict[str, Any]:
        """Return a user message whose one block answers `call`.

        Raises:
            ShapeError: The call is the server's, or it has no id.
        """
        if call.pair != "function" or call.id is None:
            raise ShapeError(
                f"a {call.kind} call is not answered by a message",
                shape=self.name,
                index=call.call_index,
            )
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id, "content": text}
        if call.toolset is not None:  # "the API rejects a mismatch": see `_anthropic_blocks`
            block["toolset_name"] = call.toolset
        if failed:
            block["is_error"] = True
        return {"role": "user", "content": [block]}

    def answer_items(self, answers: Sequence[Answer]) -> list[dict[str, Any]]:
        """Return one user message whose blocks answer the calls, in the order given.

        The results of one step must all stand in the next message:
        https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use
        (read 2026-11-22).

        Raises:
            ShapeError: A call is the server's, or it has no id.
        """
        made = ((a, self.result_item(a.call, a.text, failed=a.failed)) for a in answers)
        blocks = [with_blocks(b, "content", a) for a, message in made for b in message["content"]]
        return [{"role": "user", "content": blocks}] if blocks else []

    def own_blocks(self, returned: Sequence[Any], *, model: str | None) -> Sequence[Any] | None:
        """Return what a tool returned as blocks of a result, None unless all are such."""
        return blocks_of_result(returned)

    def result_block(self, piece: str | Medium, *, model: str | None) -> dict[str, Any] | None:
        """Return a text, a picture or a PDF as a block, None for all else."""
        return result_block(piece)

    def replayable(self, item: Any) -> Any | None:
        """Return a message as its role and content, without what only a response may hold.

        That are the envelope, `parsed_output`, in citations of documents `file_id`, and what
        models write and the API does not take back: blank texts, and thinking that nothing follows
        ("The final block in an assistant message cannot be `thinking`":
        https://github.com/tailcallhq/forgecode/issues/3071, read 2026-11-26). None where no more
        is there.
        """
        message = fields_or_none(plain(item))
        if message is None:
            return item
        content = message.get("content")
        if isinstance(content, list):
            blocks = [_replayable(block) for block in cast(list[Any], content)]
            content = [block for block in blocks if not _is_blank(block)]
            while content and block_type(content[-1]) in _THINKING:
                content.pop()
            if blocks and not content:
                return None
        return {"role": message.get("role") or "assistant", "content": content}

    def with_call_ids(self, item: Any, new_id: Callable[[CallPart], str]) -> Any:
        """Return the message with an id on each tool call that has none."""
        message = fields_or_none(item) or {}
        content = listed(message.get("content"))
        numbered = [_numbered(block, new_id) for block in content]
        return item if numbered == content else {**message, "content": numbered}

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return the message with these blocks alone; `output_config` is no block, and stays."""
        message = _message(item)
        content = message.get("content")
        if not isinstance(content, list):
            return item if parts else None
        blocks = cast(list[Any], content)
        kept = [block for place, block in enumerate(blocks) if place in parts]
        if len(kept) == len(blocks) and (kept or parts):
            return item
        return {**message, "content": kept} if kept or parts else None

    def join(self, items: Sequence[Any]) -> list[Any]:
        """Return one user message with the blocks of all, results first.

        "tool_result blocks must come FIRST in the content array":
        https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
        (read 2026-11-22).
        """
        blocks: list[Any] = []
        for item in items:
            content = _message(item).get("content")
            text = [{"type": "text", "text": content}] if isinstance(content, str) else None
            blocks += text or listed(content)
        ordered = sorted(blocks, key=lambda block: block_type(block) != "tool_result")
        in_order = all(a is b for a, b in zip(ordered, blocks, strict=True))
        if len(items) < 2 and in_order and all(field(item, "role") == "user" for item in items):
            return list(items)
        return [{"role": "user", "content": ordered}]

    def with_other_id(self, item: Any, part: int, call_id: str) -> Any:
        """Return the message with another id on the `tool_use` or `tool_result` at one place."""
        message = _message(item)
        content = listed(message.get("content"))
        if part >= len(content):
            return item
        block = cast(dict[str, Any], plain(content[part]))
        key = "tool_use_id" if block.get("type") == "tool_result" else "id"
        changed = [*content[:part], {**block, key: call_id}, *content[part + 1 :]]
        return {**message, "content": changed}

    def with_object_arguments(self, item: Any) -> Any:
        """Return the message with an object as the input of each `tool_use`."""
        message = _message(item)
        content = [_with_object(block) for block in listed(message.get("content"))]
        return {**message, "content": content}

    def without_thinking(self, item: Any) -> Any | None:
        """Return the message without its thinking, None where it holds nothing else.

        The documented way out where a changed history invalidates thinking behind it: all of it
        leaves, once; a rest that is no unbroken part of the original is refused. Models that are
        told when to think (manual thinking) want it back within a tool loop:
        https://platform.claude.com/docs/en/build-with-claude/preserved-thinking (read 2026-11-22).
        """
        content = listed(field(item, "content"))
        kept = [i for i, block in enumerate(content) if block_type(block) not in _THINKING]
        return item if len(kept) == len(content) else self.pick(item, kept)

    def tool_definition(
        self, name: str, description: str, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return a `ToolParam`."""
        return {"name": name, "description": description, "input_schema": dict(parameters)}

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what the Messages API would refuse."""
        return check_messages(items, views, calls)

    def may_strip(self, views: Sequence[ItemView], *, model: str | None) -> bool:
        """Return whether thinking may be taken out: not in a loop of tools, by an older model.

        A model that does not sign its thinking over what came before wants that of the turn it is
        in back, before the calls that it thought of.
        """
        return signs_thinking(model) or not is_in_tool_loop(views)

    def wants_back(self, view: ItemView, *, model: str | None) -> Wanted:
        """Return whether a message begins with thinking that Claude wants back in its turn."""
        return wants_thinking_back(view, model) if view.shape == self.name else "no"

    def requirements(self, views: Sequence[ItemView], *, model: str | None) -> list[Requirement]:
        """Return what a compaction block, and thinking behind a summary, make necessary."""
        return [*compaction_requirements(views), *thinking_requirements(views, model)]


def _is_message(get: Any) -> bool:
    return (
        get("role") in _ROLES
        and get("type") in (None, "message")
        and not (get("tool_calls") or get("tool_call_id") or get("function_call") or get("name"))
    )


def _message(item: Any) -> dict[str, Any]:
    """Return the fields of a message; its blocks stay the objects that they are, in a list."""
    if isinstance(item, dict):
        return own_fields(item)
    return {"role": field(item, "role"), "content": field(item, "content")}


def _with_object(block: Any) -> Any:
    given = field(block, "input")
    if block_type(block) != "tool_use" or is_object(given):
        return block
    return {**cast(dict[str, Any], plain(block)), "input": wrapped(given)}


def _numbered(block: Any, new_id: Callable[[CallPart], str]) -> Any:
    given = fields_or_none(block)
    if given is None or given.get("type") != "tool_use" or given.get("id"):
        return block
    return {**given, "id": new_id(cast(CallPart, read_block(given)))}


_BOUND_TO_FILE: Final = frozenset({"char_location", "page_location", "content_block_location"})


def _is_blank(block: Any) -> bool:
    return block_type(block) == "text" and not str(field(block, "text") or "").strip()


def _replayable(block: Any) -> Any:
    """Return a block without output-only fields, and so the blocks in it: results have texts."""
    given = fields_or_none(block)
    if given is None:
        return block
    made = {k: v for k, v in given.items() if k != "parsed_output"}
    if made.get("type") == "text":
        if made.get("citations") is None:
            made.pop("citations", None)
        else:
            made["citations"] = [_replayable_citation(c) for c in listed(made["citations"])]
    elif isinstance(made.get("content"), list):
        made["content"] = [_replayable(inner) for inner in listed(made["content"])]
    return made


def _replayable_citation(citation: Any) -> Any:
    if block_type(citation) not in _BOUND_TO_FILE:
        return citation
    return {k: v for k, v in cast(dict[str, Any], citation).items() if k != "file_id"}
