"""Every type that the installed SDKs list is read: enumerated here, so that none is a silent gap.

The tables hold what is expected of each type of the newest SDKs that chatfold knows. A type that
only a newer SDK lists is a warning, and still must not raise; a type of the table that an older
SDK lacks is skipped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import pytest
from shapes.sdk_types import Member, instance, members, model_instance, union_named

from chatfold import ChatContext
from chatfold.core.render import conversation
from chatfold.core.views import ItemView, UnknownPart

Item = dict[str, Any]


@dataclass(frozen=True)
class Union:
    """One typed union of an SDK, and how its members are read.

    Attributes:
        path: Where the SDK has it, as `module:name`.
        shape: Name of the shape that reads it.
        expected: For each `type` (or role), the parts that must be in the reading.
        wrap: Puts a member into an item; None where members are items.
    """

    path: str
    shape: str
    expected: dict[str, str] = field(repr=False)
    wrap: Callable[[str, Any], Item] | None = None

    def item(self, label: str, member: Any) -> Any:
        return member if self.wrap is None else self.wrap(label, member)

    def __str__(self) -> str:
        return self.path.rpartition(".")[2]


_CHAT_MESSAGES = {
    "developer": "Text",
    "system": "Text",
    "user": "Text",
    "assistant": "",
    "tool": "Result",
    "function": "Result",
}
_RESPONSES_ITEMS = {
    "message": "Text",
    "file_search_call": "ServerCall",
    "computer_call": "Call",
    "computer_call_output": "Result",
    "web_search_call": "ServerCall",
    "function_call": "Call",
    "function_call_output": "Result",
    "tool_search_call": "Call",
    "tool_search_output": "Result State",
    "additional_tools": "State",
    "configuration_update": "State",
    "reasoning": "Reasoning",
    "compaction": "Opaque",
    "image_generation_call": "ServerCall",
    "code_interpreter_call": "ServerCall",
    "local_shell_call": "Call",
    "local_shell_call_output": "Result",
    "shell_call": "Call",
    "shell_call_output": "Result",
    "apply_patch_call": "Call",
    "apply_patch_call_output": "Result",
    "mcp_list_tools": "State",
    "mcp_approval_request": "Call",
    "mcp_approval_response": "Result",
    "mcp_call": "ServerCall",
    "custom_tool_call_output": "Result",
    "custom_tool_call": "Call",
    "compaction_trigger": "Unknown",  # a command, and no content
    "item_reference": "Unknown",  # the reference's id does not tell what it refers to
    "program": "Call",
    "program_output": "Result",
}
_INPUT_ONLY = ("configuration_update", "compaction_trigger", "item_reference")
_RESPONSES_OUTPUT = {k: v for k, v in _RESPONSES_ITEMS.items() if k not in _INPUT_ONLY}
_RESPONSES_LISTED = {k: v for k, v in _RESPONSES_ITEMS.items() if k not in _INPUT_ONLY[1:]}
_ANTHROPIC_OUTPUT = {
    "text": "Text",
    "thinking": "Reasoning",
    "redacted_thinking": "Reasoning",
    "tool_use": "Call",
    "server_tool_use": "Call",
    "web_search_tool_result": "Result",
    "web_fetch_tool_result": "Result",
    "code_execution_tool_result": "Result",
    "bash_code_execution_tool_result": "Result",
    "text_editor_code_execution_tool_result": "Result",
    "tool_search_tool_result": "Result",
    "container_upload": "Media",
}
_ANTHROPIC_BETA_OUTPUT = _ANTHROPIC_OUTPUT | {
    "advisor_tool_result": "Result",
    "mcp_tool_use": "Call",
    "mcp_tool_result": "Result",
    "compaction": "",  # without content it is a failed attempt, and stands for nothing
    "fallback": "Unknown",
    "mcp_tool_listing": "Unknown",
}
_ANTHROPIC_INPUT = {
    "image": "Media",
    "document": "Media",
    "search_result": "Media",
    "tool_result": "Result",
}
_ANTHROPIC_BETA_INPUT = _ANTHROPIC_INPUT | {"tool_addition": "State", "tool_removal": "State"}
_TOOL_RESULT_CONTENT = dict.fromkeys(
    ("text", "image", "search_result", "document", "tool_reference", "browser_state"), "Result"
)


def _said(label: str, part: Any) -> Item:
    """Return an OpenAI message that holds a content part."""
    assistant = label in ("refusal", "output_text")
    return {"role": "assistant" if assistant else "user", "content": [part]}


def _called(_: str, call: Any) -> Item:
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _returned(_: str, part: Any) -> Item:
    return {"type": "function_call_output", "call_id": "call_1", "output": [part]}


def _block(label: str, block: Any) -> Item:
    """Return an Anthropic message that holds a block, in the role that may send it."""
    role = "user" if label in _ANTHROPIC_INPUT or label == "container_upload" else "assistant"
    return {
        "role": "system" if label in ("tool_addition", "tool_removal") else role,
        "content": [block],
    }


def _tool_result(_: str, part: Any) -> Item:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [part]}
    return {"role": "user", "content": [block]}


_CHAT = "openai.types.chat"
_RESPONSES = "openai.types.responses"
_CHAT_PARTS = {"text": "Text", "image_url": "Media", "input_audio": "Media", "file": "Media"}
_CALLS = {"function": "Call", "custom": "Call"}
_INPUT_PARTS = {"input_text": "Text", "input_image": "Media", "input_file": "Media"}
_OUTPUT_PARTS = {"output_text": "Text", "refusal": "Text"}

UNIONS = [
    Union(f"{_CHAT}:ChatCompletionMessageParam", "openai_chat", _CHAT_MESSAGES),
    Union(f"{_CHAT}:ChatCompletionMessage", "openai_chat", {"assistant": ""}),
    Union(f"{_CHAT}:ChatCompletionContentPartParam", "openai_chat", _CHAT_PARTS, _said),
    Union(
        f"{_CHAT}.chat_completion_assistant_message_param:ContentArrayOfContentPart",
        "openai_chat",
        {"text": "Text", "refusal": "Text"},
        _said,
    ),
    Union(f"{_CHAT}:ChatCompletionMessageToolCallUnionParam", "openai_chat", _CALLS, _called),
    Union(f"{_CHAT}:ChatCompletionMessageToolCallUnion", "openai_chat", _CALLS, _called),
    Union(f"{_RESPONSES}:ResponseInputItemParam", "openai_responses", _RESPONSES_ITEMS),
    Union(f"{_RESPONSES}:ResponseInputItem", "openai_responses", _RESPONSES_ITEMS),
    Union(f"{_RESPONSES}:ResponseOutputItem", "openai_responses", _RESPONSES_OUTPUT),
    Union(f"{_RESPONSES}:ResponseItem", "openai_responses", _RESPONSES_LISTED),
    Union(f"{_RESPONSES}:ResponseInputContentParam", "openai_responses", _INPUT_PARTS, _said),
    Union(
        f"{_RESPONSES}.response_output_message_param:Content",
        "openai_responses",
        _OUTPUT_PARTS,
        lambda label, part: {"type": "message", "id": "msg_1"} | _said(label, part),
    ),
    Union(
        f"{_RESPONSES}:ResponseFunctionCallOutputItemParam",
        "openai_responses",
        dict.fromkeys(_INPUT_PARTS, "Result"),
        _returned,
    ),
    Union(
        "anthropic.types:MessageParam",
        "anthropic",
        dict.fromkeys(("user", "assistant", "system"), ""),
    ),
    Union(
        "anthropic.types.beta:BetaMessageParam",
        "anthropic",
        dict.fromkeys(("user", "assistant", "system"), ""),
    ),
    Union("anthropic.types:ContentBlock", "anthropic", _ANTHROPIC_OUTPUT, _block),
    Union("anthropic.types:ToolsetToolUseBlock", "anthropic", {"tool_use": "Call"}, _block),
    Union(
        "anthropic.types:ContentBlockParam",
        "anthropic",
        _ANTHROPIC_OUTPUT | _ANTHROPIC_INPUT,
        _block,
    ),
    Union("anthropic.types.beta:BetaContentBlock", "anthropic", _ANTHROPIC_BETA_OUTPUT, _block),
    Union(
        "anthropic.types.beta:BetaContentBlockParam",
        "anthropic",
        _ANTHROPIC_BETA_OUTPUT | _ANTHROPIC_BETA_INPUT,
        _block,
    ),
    Union(
        "anthropic.types.tool_result_block_param:Content",
        "anthropic",
        _TOOL_RESULT_CONTENT,
        _tool_result,
    ),
    Union(
        "anthropic.types.beta.beta_tool_result_block_param:Content",
        "anthropic",
        _TOOL_RESULT_CONTENT,
        _tool_result,
    ),
]
TYPES = [
    pytest.param(union, label, id=f"{union}-{label}")
    for union in UNIONS
    for label in union.expected
]


def _members(union: Union) -> list[Member]:
    found = union_named(union.path)
    if found is None:
        pytest.skip(f"the installed SDK has no {union.path}")
    return members(found)


def _instances(union: Union, label: str) -> Iterator[Any]:
    """Yield items for each member of that type: bare and full, as dicts and as objects."""
    for member in _members(union):
        if member.label != label:
            continue
        for full in (False, True):
            yield union.item(label, instance(member.cls, full=full))
            if member.is_model:
                yield union.item(label, model_instance(member.cls, full=full))


def _is_text_only(item: Any) -> bool:
    """Return whether several providers write such an item."""
    content = item.get("content") if isinstance(item, dict) else ""
    if isinstance(content, list):
        plain = all(isinstance(b, dict) and set(b) <= {"type", "text"} for b in content)
        return plain and "type" not in item
    return isinstance(item, dict) and set(item) <= {"role", "content"}


def _read(item: Any, shape: str | None = None) -> ItemView:
    return ChatContext([item], shape=shape).views()[0]


@pytest.mark.parametrize(("union", "label"), TYPES)
def test_a_type_of_the_sdk_is_read_by_its_shape_without_a_hint(union: Union, label: str) -> None:
    """No listed type is unknown: alone in a list, it is read by the shape that writes it."""
    found = list(_instances(union, label))
    if not found:
        pytest.skip(f"the installed SDK has no {label!r} in {union.path}")
    for item in found:
        view = _read(item)
        assert view.shape == union.shape or (view.shape and _is_text_only(item)), item
        assert not view.fault, item
        unknown = [p for p in view.parts if type(p) is UnknownPart and not (p.known or p.command)]
        assert not unknown, item


@pytest.mark.parametrize(("union", "label"), TYPES)
def test_a_type_of_the_sdk_has_the_reading_that_is_expected_of_it(union: Union, label: str) -> None:
    """Each type is read as what it is, with a hint as without one."""
    for item in _instances(union, label):
        for shape in (None, union.shape):
            view = _read(item, shape)
            kinds = {type(part).__name__.removesuffix("Part") for part in view.parts}
            assert set(union.expected[label].split()) <= kinds, (shape, item)


@pytest.mark.parametrize(("union", "label"), TYPES)
def test_a_type_of_the_sdk_is_rendered_or_counted_as_omitted(union: Union, label: str) -> None:
    """What is folded away is in the prompt, or counted; what is neither stays in the list."""
    for item in _instances(union, label):
        ctx = ChatContext([item], shape=union.shape)
        view = ctx.views()[0]
        rendered = conversation([view], ctx.tool_calls())
        element = ElementTree.fromstring(rendered.xml)
        stays = next(s for s in (ctx.shape,) if s is not None).keeps(view)
        assert len(element) or rendered.omitted or stays, item


@pytest.mark.parametrize(("union", "label"), TYPES)
def test_a_type_of_the_sdk_stands_in_a_list_without_breaking_it(union: Union, label: str) -> None:
    """In the middle of a list of its shape, every type lets all readings and a plan through."""
    for item in _instances(union, label):
        around = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
        for shape in (None, union.shape):
            ctx = ChatContext([around[0], item, around[1], dict(around[0])], shape=shape)
            _exercise(ctx)
            assert not [p for p in ctx.check() if p.rule in ("malformed_item", "unknown_item")]


@pytest.mark.parametrize("union", UNIONS, ids=str)
def test_a_type_that_only_a_newer_sdk_knows_is_a_warning(union: Union) -> None:
    """A type that is missing in the table is told, passes through, and raises nothing."""
    newer = sorted({m.label for m in _members(union)} - set(union.expected))
    for label in newer:
        warnings.warn(f"{union.path} has a type that chatfold does not know: {label}", stacklevel=1)
        for item in _instances(union, label):
            _exercise(ChatContext([item], shape=union.shape))
            _exercise(ChatContext([item]))


_NONSENSE: tuple[Any, ...] = (None, 5, "\ud800", [None], [5, [[]]], {}, {"type": None})


@pytest.mark.parametrize("union", [u for u in UNIONS if "Param" in u.path], ids=str)
def test_a_field_that_holds_nonsense_breaks_nothing(union: Union) -> None:
    """Whatever stands in any field of any type, every reading and a plan go through."""
    for label in union.expected:
        fullest = [i for i in _instances(union, label) if isinstance(i, dict)][1::2]
        broken = [made for item in fullest for made in _broken(item)]
        for shape in (None, union.shape):
            ctx = ChatContext([{"role": "user", "content": "hi"}, *broken], shape=shape)
            _exercise(ctx)
            assert len(ctx.views()) == len(ctx.items)


def _broken(item: Item) -> Iterator[Item]:
    """Yield the item with one field replaced or missing, three levels deep."""
    for path in _paths(item, 3):
        for value in (*_NONSENSE, ...):
            yield _replaced(item, path, value)


def _paths(value: Any, depth: int) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in inner:
        yield (key,)
        if depth > 1 and isinstance(child, (dict, list)):
            yield from ((key, *rest) for rest in _paths(child, depth - 1))


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy with the value at a path replaced; an ellipsis takes it out."""
    copy = dict(value) if isinstance(value, dict) else list(value)
    key, *rest = path
    if rest:
        copy[key] = _replaced(copy[key], tuple(rest), new)
    elif new is ...:
        del copy[key]
    else:
        copy[key] = new
    return copy


def _exercise(ctx: ChatContext[Any]) -> None:
    """Call every reading of a context, and plan a fold."""
    ctx.views()
    ctx.tool_calls()
    ctx.turns()
    ctx.cut_points()
    ctx.cut_points(lossy=True)
    ctx.count_tokens()
    ctx.check()
    ctx.request_options()
    ctx.plan(keep_last_turns=0)
    ctx.plan(keep_tokens=10)


_NAMED: dict[str, Item] = {
    "openai_chat": {
        "role": "user",
        "content": [{"type": "file", "file": {"filename": "A", "file_id": "id-7"}}],
    },
    "openai_responses": {
        "role": "user",
        "content": [{"type": "input_file", "filename": "A", "file_id": "id-7"}],
    },
    "anthropic": {
        "role": "user",
        "content": [
            {"type": "document", "title": "A", "source": {"type": "file", "file_id": "id-7"}}
        ],
    },
    "gemini": {"role": "user", "parts": [{"file_data": {"display_name": "A", "file_uri": "id-7"}}]},
    "bedrock": {
        "role": "user",
        "content": [{"document": {"name": "A", "source": {"s3Location": {"uri": "id-7"}}}}],
    },
}


@pytest.mark.parametrize("shape", _NAMED)
def test_a_file_with_a_name_is_known_by_its_id_too(shape: str) -> None:
    """The agent finds a file by that alone: its name is for those who read."""
    ctx: ChatContext[Any] = ChatContext([_NAMED[shape]], shape=shape)
    root = ElementTree.fromstring(conversation(ctx.views(), []).xml)
    (found,) = root.iter("attachment")
    assert (found.get("name"), found.get("source")) == ("A", "id-7")
