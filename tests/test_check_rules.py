"""`check()` names each rule of the providers: the smallest list that breaks it, and no other."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

import pytest
from conftest import shared_directory
from hypothesis import given
from quickest import quickest
from strategies import History, broken, histories
from validator import validate

from chatfold import ChatContext, Problem
from chatfold.core.calls import pair_calls
from chatfold.shapes._anthropic_calls import check_calls

USER = {"role": "user", "content": "hello"}
SAID = {"role": "assistant", "content": "hi"}
BLANK = {"role": "user", "content": [{"type": "text", "text": " "}]}


class Case(NamedTuple):
    """The smallest list that breaks a rule.

    Attributes:
        shape: The list's shape.
        rule: The rule's name.
        items: The list.
        indices: What the problem names.
        severity: What the rule leads to.
        error: Words of the provider's own error text, "" where none is known.
    """

    shape: str
    rule: str
    items: list[Any]
    indices: tuple[int, ...]
    severity: str = "error"
    error: str = ""


def asks(*ids: str | None, arguments: Any = "{}") -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    calls = [{"id": i, "type": "function", "function": function} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tells(id_: str, content: Any = "1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


LEGACY = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
THINKS = {**asks("a"), "reasoning_content": "hm"}
IMAGE = [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]
NOT_RESPONSE = "messages with role 'tool' must be a response to a preceeding message"
CHAT = [
    ("orphan_result", [USER, tells("a")], (1,), "error", NOT_RESPONSE),
    ("late_result", [asks("a"), USER, tells("a")], (2, 0, 1), "error", NOT_RESPONSE),
    (
        "unanswered_call",
        [asks("a"), USER],
        (0,),
        "error",
        "The following tool_call_ids did not have response messages: a",
    ),
    ("unanswered_call", [asks("a")], (0,), "pending", "did not have response messages: a"),
    (
        "result_without_id",
        [asks("a"), {"role": "tool", "content": "1"}],
        (1, 0),
        "error",
        "Missing parameter 'tool_call_id'",
    ),
    ("result_role", [LEGACY, tells("a")], (1, 0), "error", NOT_RESPONSE),
    *(
        (
            "arguments_no_text",
            [USER, asks("a", arguments=given), tells("a")],
            (1,),
            "error",
            f"'messages[1].tool_calls[0].function.arguments': expected a string, but got {kind}",
        )
        for given, kind in ((None, "null"), ({"a": 1}, "an object"), ([1], "an array"))
    ),
    (
        "arguments_no_text",
        [
            USER,
            {**LEGACY, "function_call": {"name": "f"}},
            {"role": "function", "name": "f", "content": "1"},
        ],
        (1,),
        "error",
        "'messages[1].function_call.arguments': expected a string, but got null",
    ),
    *(
        ("malformed_item", [USER, asks("a"), tells("a", content)], (2,), "error", "")
        for content in (None, {"a": 1}, 7)
    ),
    ("empty_calls", [USER, {**SAID, "tool_calls": []}], (1,), "warning", "empty array"),
    (
        "long_call_id",
        [USER, *[message for id_ in (46 * "x", 47 * "x") for message in (asks(id_), tells(id_))]],
        (1, 3),
        "warning",
        "'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40",
    ),
    (
        "empty_message",
        [USER, {"role": "assistant", "content": None}],
        (1,),
        "error",
        "Invalid value for 'content': expected a string, got null.",
    ),
    (
        "media_in_result",
        [asks("a"), tells("a", IMAGE)],
        (1,),
        "loss",
        "Image URLs are only allowed for messages with role 'user'",
    ),
    (
        "empty_message",
        [USER, {"role": "assistant", "content": None, "reasoning_content": "hm"}, USER],
        (1,),
        "error",
        "expected a string",
    ),
    ("empty_message", [{"role": "system", "content": None}], (0,), "error", "expected a string"),
    (
        "missing_reasoning",
        [
            THINKS,
            tells("a"),
            asks("b"),
            tells("b"),
            {**THINKS, "reasoning_content": ""},
            tells("a"),
        ],
        (2, 4),
        "warning",
        "reasoning_content is missing in assistant tool call message at index 2",
    ),
    ("malformed_item", [USER, 7], (1,), "error", ""),
    *(
        ("malformed_item", [USER, {**SAID, key: {"a": 1}}], (1,), "error", "")
        for key in ("tool_calls", "refusal")
    ),
    ("malformed_item", [USER, {**SAID, "tool_calls": {}}, USER], (1,), "error", ""),
    ("malformed_item", [{**USER, "content": [{"type": "text", "text": 5}]}], (0,), "error", ""),
    ("malformed_item", [{**USER, "content": [{"type": "text"}]}], (0,), "error", ""),
    (
        "malformed_item",
        [asks(None), {"role": "tool", "content": "1"}],
        (0,),
        "error",
        "tool_calls[0].id",
    ),
    ("unknown_item", [USER, {"type": "from_the_future"}], (1,), "warning", ""),
    ("foreign_item", [USER, {"type": "reasoning", "summary": []}], (1,), "error", ""),
]


def call(id_: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id_, "name": "f", "arguments": "{}", **more}


def output(id_: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id_, "output": "1", **more}


def thought(id_: str = "rs_1", **more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": id_, "summary": [], "encrypted_content": "g", **more}


def message(id_: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": "hi", "annotations": []}]
    said = {"type": "message", "id": id_, "role": "assistant", "status": "completed"}
    return {**said, "content": content, **more}


REQUEST = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "m",
    "name": "f",
    "arguments": "{}",
}
LISTED = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "m", "tools": []}
MCP = {"type": "mcp_call", "id": "mcp_1", "server_label": "m", "name": "f", "arguments": "{}"}
REFERENCE = {"type": "item_reference", "id": "fc_1"}
CALLER = {"caller": {"type": "program", "caller_id": "p"}}
RESPONSES = [
    *(
        (
            "arguments_no_text",
            [USER, call("a", arguments=given), output("a")],
            (1,),
            "error",
            f"Invalid type for 'input[1].arguments': expected a string, but got {kind} instead.",
        )
        for given, kind in ((None, "null"), ({"a": 1}, "an object"))
    ),
    *(
        ("malformed_item", [USER, call("a"), output("a", output=given)], (2,), "error", "")
        for given in (None, {"a": 1})
    ),
    (
        "malformed_item",
        [{**USER, "content": [{"type": "input_text", "text": None}]}],
        (0,),
        "error",
        "",
    ),
    (
        "malformed_item",
        [USER, {"type": "message", "role": "tool", "content": "1"}],
        (1,),
        "error",
        "",
    ),
    (
        "unknown_item",
        [USER, {"type": "message", "role": "brand_new", "content": "1"}],
        (1,),
        "warning",
        "",
    ),
    (
        "malformed_item",
        [
            {"type": "function_call", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "output": "1"},
        ],
        (0,),
        "error",
        "'input[0].call_id'",
    ),
    (
        "malformed_item",
        [{"type": "function_call", "call_id": "a", "arguments": "{}"}, output("a")],
        (0,),
        "error",
        "'input[0].name'",
    ),
    (
        "reasoning_without_follower",
        [thought(), USER],
        (0,),
        "error",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    (
        "reasoning_without_summary",
        [thought(summary=None), message("msg_1")],
        (0,),
        "error",
        "Input[0] missing required field `summary`",
    ),
    (
        "half_a_reference",
        [thought(), REFERENCE, output("a")],
        (0, 1),
        "error",
        "without its required 'reasoning' item: 'rs_1'",
    ),
    ("reasoning_run", [thought(), thought("rs_2"), message("msg_1")], (0, 1), "warning", ""),
    (
        "duplicate_item",
        [USER, message("msg_1"), message("msg_1")],
        (2, 1),
        "error",
        "Duplicate item found with id msg_1.",
    ),
    (
        "bad_item_id",
        [thought(), call("a", id="item_1"), output("a")],
        (1,),
        "error",
        "Invalid 'input[1].id': 'item_1'. Expected an ID that begins with 'fc'.",
    ),
    ("bad_item_id", [message("0b7c")], (0,), "warning", "Expected an ID that begins with 'msg'."),
    ("bad_item_id", [message("msg_" + "x" * 61)], (0,), "error", "with length 65 instead."),
    ("bad_item_id", [message("msg 1")], (0,), "error", "contained additional characters."),
    (
        "input_of_the_model",
        [{"role": "assistant", "content": [{"type": "input_text", "text": "hi"}]}, USER],
        (0,),
        "error",
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    ),
    (
        "long_call_id",
        [call("x" * 65), output("x" * 65)],
        (0,),
        "error",
        "Invalid 'input[0].call_id': string too long.",
    ),
    (
        "needs_store",
        [thought(encrypted_content=None), REFERENCE, output("a")],
        (0, 1),
        "warning",
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
    ),
    ("command_not_last", [{"type": "compaction_trigger"}, USER], (0,), "error", ""),
    ("caller_missing", [call("a", **CALLER), output("a")], (0,), "error", ""),
    ("approval_parted", [LISTED, {**MCP, "approval_request_id": "mcpr_1"}], (1,), "error", ""),
    ("nested_call", [message("msg_1", content=[call("a")]), output("a")], (0,), "error", ""),
    (
        "orphan_result",
        [output("a")],
        (0,),
        "error",
        "No tool call found for function call output with call_id a.",
    ),
    (
        "orphan_result",
        [{"type": "custom_tool_call_output", "call_id": "a", "output": "1"}],
        (0,),
        "error",
        "No tool call found for custom tool call output with call_id a.",
    ),
    (
        "orphan_result",
        [{"type": "computer_call_output", "call_id": "a", "output": None}],
        (0,),
        "error",
        "No tool call found for computer call with call_id a.",
    ),
    (
        "orphan_result",
        [{"type": "mcp_approval_response", "approval_request_id": "a", "approve": True}],
        (0,),
        "error",
        "",
    ),
    (
        "duplicate_result",
        [call("a"), output("a"), output("a")],
        (2, 1),
        "error",
        "Duplicate function_call_output for call_id 'a'.",
    ),
    (
        "reused_call_id",
        [call("a"), output("a"), call("a"), output("a")],
        (2, 3, 0),
        "loss",
        "Duplicate function_call_output for call_id 'a'.",
    ),
    ("result_without_id", [call("a"), {**output("a"), "call_id": None}], (1, 0), "loss", ""),
    (
        "unanswered_call",
        [call("a"), USER],
        (0,),
        "error",
        "No tool output found for function call a.",
    ),
    ("unanswered_call", [call("a")], (0,), "pending", "No tool output found for function call a."),
    ("unanswered_call", [call("a", **{"async": True}), USER], (0,), "pending", ""),
    ("unanswered_call", [LISTED, REQUEST, USER], (1,), "pending", ""),
    (
        "unanswered_call",
        [call("a"), call("b"), output("b"), thought(), message("msg_1")],
        (0,),
        "error",
        "No tool output found for function call a.",
    ),
    (
        "unanswered_call",
        [{"type": "local_shell_call", "id": "l", "call_id": "a", "action": {}}, USER],
        (0,),
        "error",
        "No tool output found for local shell call a.",
    ),
    ("tools_not_listed", [MCP], (0,), "loss", ""),
    ("phase_missing", [message("msg_1", phase="commentary"), message("msg_2")], (1,), "loss", ""),
    ("foreign_item", [call("a"), output("a"), {**USER, "content": IMAGE}], (2,), "error", ""),
]


def use(id_: str, kind: str = "tool_use") -> dict[str, Any]:
    return {"type": kind, "id": id_, "name": "f", "input": {}}


def result(id_: str, kind: str = "tool_result") -> dict[str, Any]:
    return {"type": kind, "tool_use_id": id_, "content": []}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def model(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def coded(id_: str, code: str) -> dict[str, Any]:
    """Return a call of the host's tool by code that the server runs."""
    return {**use(id_), "caller": {"type": "code_execution_20260120", "tool_id": code}}


TEXT = {"type": "text", "text": "and?"}
CODE = [USER, model(use("s", "server_tool_use"), coded("a", "s")), user(result("a"))]
RULE = {"role": "system", "content": "be brief"}
REFUND = {"type": "tool_reference", "name": "refund"}
TOOLS = {"role": "system", "content": [{"type": "tool_addition", "tool": REFUND}]}
SIGNED = {"type": "compaction", "content": "c", "signature": "s"}
WHOLE = {"id": "msg_1", "type": "message", "model": "m", "stop_reason": "end_turn", "usage": {}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
NOT_ANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after: a."
UNEXPECTED = "unexpected `tool_use_id` found in `tool_result` blocks: a."
ANTHROPIC = [
    (
        "malformed_item",
        [
            USER,
            model({"type": "tool_use", "name": "f", "input": {}}),
            user({"type": "tool_result", "content": "1"}),
        ],
        (1,),
        "error",
        "messages.1.content.0.tool_use.id: Field required",
    ),
    (
        "malformed_item",
        [USER, model({"type": "tool_use", "id": "a", "input": {}}), user(result("a"))],
        (1,),
        "error",
        "messages.1.content.0.tool_use.name: Field required",
    ),
    ("first_role", [SAID, USER], (0,), "error", 'first message must use the "user" role'),
    ("first_role", [RULE, USER], (0,), "error", "use the top-level 'system' parameter"),
    ("empty_message", [USER, model(), USER], (1,), "error", "must have non-empty content except"),
    ("malformed_item", [user({"type": "text", "text": 5})], (0,), "error", ""),
    ("malformed_item", [USER, model({"type": "text", "text": {"a": 1}})], (1,), "error", ""),
    ("blank_text", [user({"type": "text", "text": ""})], (0,), "error", "must be non-empty"),
    ("blank_text", [BLANK], (0,), "error", "must contain non-whitespace text"),
    (
        "arguments_no_object",
        [USER, model(TEXT, {**use("a"), "input": '{"te'}), user(result("a"))],
        (1,),
        "error",
        "messages.1.content.1.tool_use.input: Input should be a valid dictionary",
    ),
    ("orphan_result", [user(result("a"))], (0,), "error", f"messages.0.content.0: {UNEXPECTED}"),
    (
        "result_without_id",
        [USER, model(use("a")), user({"type": "tool_result", "content": "1"})],
        (2, 1),
        "error",
        "tool_result.tool_use_id: Field required",
    ),
    (
        "late_result",
        [USER, model(use("a")), USER, SAID, user(result("a"))],
        (4, 1),
        "error",
        UNEXPECTED,
    ),
    (
        "result_not_first",
        [USER, model(use("a")), user(TEXT, result("a"))],
        (2, 1),
        "error",
        NOT_ANSWERED,
    ),
    (
        "duplicate_result",
        [USER, model(use("a")), user(result("a"), result("a"))],
        (2, 2),
        "error",
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
    ),
    (
        "toolset_name",
        [
            USER,
            model({**use("a"), "toolset_name": "browser"}, use("b")),
            user(result("a"), result("b")),
        ],
        (2, 1),
        "error",
        "",
    ),
    (
        "split_results",
        [USER, model(use("a"), use("b")), user(result("a")), user(result("b"))],
        (3, 1, 2),
        "warning",
        "",
    ),
    (
        "duplicate_call_id",
        [USER, model(use("a"), use("a")), user(result("a"))],
        (1, 1),
        "error",
        "messages.1.content.1: `tool_use` ids must be unique",
    ),
    (
        "duplicate_call_id",
        [USER, *[model(use("a")), user(result("a"))] * 2],
        (3, 1),
        "warning",
        "`tool_use` ids must be unique",
    ),
    (
        "call_id_form",
        [USER, model(TEXT, use("call_1|fc_1")), user(result("call_1|fc_1"))],
        (1,),
        "error",
        "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    *(
        (
            "thinking_last",
            [USER, model(*blocks, last), *behind],
            (1,),
            "error",
            "messages.1: The final block in an assistant message cannot be `thinking`.",
        )
        for blocks, last, behind in (
            ((), THINKING, (USER,)),
            ((THINKING, TEXT), THINKING, (USER,)),
            ((), {"type": "redacted_thinking", "data": "E"}, ()),
        )
    ),
    ("unanswered_call", [USER, model(use("a")), USER], (1,), "error", NOT_ANSWERED),
    ("unanswered_call", [USER, model(use("a"))], (1,), "pending", NOT_ANSWERED),
    (
        "unanswered_call",
        [USER, model(use("a"), use("b")), user(result("b"))],
        (1,),
        "pending",
        NOT_ANSWERED,
    ),
    (
        "unanswered_call",
        [USER, model(use("s", "server_tool_use")), USER],
        (1,),
        "error",
        "",
    ),
    ("unanswered_call", [USER, model(use("s", "server_tool_use"))], (1,), "pending", ""),
    *(
        (
            "unanswered_call",
            [*CODE, *behind],
            (1,),
            severity,
            "",
        )
        for behind, severity in (
            ((), "pending"),
            ((model(coded("b", "s")), user(result("b"))), "pending"),
            ((model(coded("b", "t")), user(result("b"))), "error"),
            ((model(use("b")), user(result("b"))), "error"),
            ((SAID,), "error"),
        )
    ),
    (
        "orphan_result",
        [USER, model(result("s", "web_search_tool_result"))],
        (1,),
        "error",
        "unexpected `tool_use_id` found in `web_search_tool_result` blocks: s.",
    ),
    (
        "block_place",
        [user(use("a"))],
        (0,),
        "error",
        "`tool_use` blocks can only be in `assistant` messages",
    ),
    (
        "block_place",
        [USER, model(use("a")), model(result("a"))],
        (2,),
        "error",
        "`tool_result` blocks can only be in `user` messages",
    ),
    (
        "block_place",
        [user({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}})],
        (0,),
        "error",
        "",
    ),
    ("system_place", [USER, SAID, RULE], (2,), "error", "must follow a user turn"),
    ("system_place", [USER, RULE, USER], (1,), "error", "must follow a user turn"),
    ("system_place", [USER, SAID, TOOLS, USER], (2,), "error", "must follow a user turn"),
    (
        "unsigned_thinking",
        [USER, model({"type": "thinking", "thinking": "hm"}, TEXT)],
        (1,),
        "error",
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    (
        "thinking_not_first",
        [USER, model(TEXT, THINKING, use("a")), user(result("a"))],
        (1,),
        "warning",
        "Expected `thinking` or `redacted_thinking`, but found `text`.",
    ),
    (
        "whole_response",
        [USER, {**model(TEXT), **WHOLE}],
        (1,),
        "warning",
        "messages.1.id: Extra inputs are not permitted",
    ),
    ("compaction_place", [USER, model(SIGNED)], (1,), "error", "compaction_block_misplaced"),
    ("compaction_place", [user(TEXT, SIGNED)], (0,), "error", "compaction_block_misplaced"),
    ("foreign_item", [USER, tells("a")], (1,), "error", ""),
]
# A few lists cannot break one rule alone.
SHARED = {
    "result_role",
    "half_a_reference",
    "needs_store",
    "long_call_id",
    "caller_missing",
    "nested_call",
    "block_place",
    "duplicate_call_id",
    "unanswered_call",
    "foreign_item",
    "late_result",
    "bad_item_id",
}
CASES = [
    Case(shape, *row)
    for shape, rows in (
        ("openai_chat", CHAT),
        ("openai_responses", RESPONSES),
        ("anthropic", ANTHROPIC),
    )
    for row in rows
]


def found(items: list[Any], shape: str) -> list[Problem]:
    return ChatContext(list(items), shape=shape).check()


TORN = "a \ud83d b"
TORN_ITEMS: dict[str, list[list[Any]]] = {
    "openai_chat": [
        [USER, {**SAID, "content": TORN}],
        [USER, asks("a", arguments=json.dumps({"k": TORN}, ensure_ascii=False)), tells("a")],
        [USER, asks("a"), tells("a", TORN)],
    ],
    "openai_responses": [[USER, call("a"), output("a", output=TORN)]],
    "anthropic": [
        [USER, model({**use("a"), "input": {"k": [TORN]}}), user(result("a"))],
        [USER, model(use("a")), user({**result("a"), "content": TORN})],
        [USER, model({"type": "text", "text": TORN})],
    ],
}


@pytest.mark.parametrize("shape", TORN_ITEMS)
def test_half_of_a_character_is_named_wherever_it_stands(shape: str) -> None:
    """No SDK of these can send it; whole characters of all planes are nothing to say."""
    for items in TORN_ITEMS[shape]:
        text = json.dumps(items)
        at = next(i for i, item in enumerate(items) if "ud83d" in json.dumps(item))
        (problem,) = found(items, shape)
        assert (problem.rule, problem.indices) == ("lone_surrogate", (at,))
        assert (problem.severity, problem.shape) == ("warning", shape)
        assert found(json.loads(text.replace("ud83d", "ud83d\\ude00")), shape) == []
        assert found(json.loads(text.replace("\\ud83d", "\\\\ud83d")), shape) == []


@pytest.mark.parametrize(
    "items",
    [
        [THINKS, tells("a"), THINKS, tells("a"), SAID],
        [asks("a"), tells("a"), asks("b"), tells("b")],
        [{**SAID, "reasoning_content": "hm"}, asks("a"), tells("a")],
    ],
)
def test_reasoning_is_missing_only_where_other_calls_have_it(items: list[Any]) -> None:
    ctx = ChatContext([USER, *items], shape="openai_chat")
    assert "missing_reasoning" not in [problem.rule for problem in ctx.check()]


@pytest.mark.parametrize("case", CASES, ids=[f"{c.shape}-{c.rule}-{c.severity}" for c in CASES])
def test_a_broken_rule_is_named(case: Case) -> None:
    """The problem says what, where, how bad, what to do, and quotes the provider."""
    problems = found(case.items, case.shape)
    (problem,) = [
        p
        for p in problems
        if (p.rule, p.indices, p.severity) == (case.rule, case.indices, case.severity)
    ]
    assert case.error in problem.provider_error
    assert problem.shape == case.shape
    assert problem.message
    assert "\n" not in problem.message
    if case.rule not in SHARED:
        assert {p.rule for p in problems} == {case.rule}


@pytest.mark.parametrize("case", CASES, ids=[f"{c.shape}-{c.rule}-{c.severity}" for c in CASES])
def test_an_error_is_one_for_the_second_validator_where_it_has_the_rule(case: Case) -> None:
    """What only looks odd is no error there either, and an open call is one to both."""
    judged = validate(case.items, case.shape)
    if case.severity in ("loss", "warning") and case.rule not in ("unknown_item", "foreign_item"):
        errors = [p for p in found(case.items, case.shape) if p.severity == "error"]
        assert bool(errors) == any(not v.open for v in judged)
    if case.severity == "pending":
        assert all(v.open for v in judged)


# --- no false alarms ------------------------------------------------------------------------------


@given(history=histories())
def test_a_valid_history_has_no_error(history: History) -> None:
    """Whatever a valid history holds, nothing in it is called refused."""
    assert [p for p in found(history.items, history.shape) if p.severity == "error"] == []


@given(history=histories(open_calls=False))
def test_a_finished_history_has_nothing_pending(history: History) -> None:
    """Where all calls are answered, none is said to be open."""
    assert [p for p in found(history.items, history.shape) if p.severity == "pending"] == []


@cache
def corpus(name: str) -> list[dict[str, Any]]:
    with (shared_directory() / "corpus" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.skipif(
    not (shared_directory() / "corpus").is_dir(),
    reason="no corpus beside the checkout; set CHATFOLD_SHARED",
)
@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses", "anthropic"])
def test_a_real_history_that_was_sent_has_no_error_and_no_loss(shape: str) -> None:
    """Real histories that a provider took are not said to be refused, nor to lose anything."""
    for history in corpus(shape):
        problems = found(history["items"], shape)
        assert [p for p in problems if p.severity != "warning"] == [], history["id"]


# --- agreement with the second validator ---------------------------------------------------------


@given(history=broken(histories(broken=True)))
def test_check_and_the_second_validator_agree(history: History) -> None:
    """A list that one of them refuses, the other refuses too."""
    problems = found(history.items, history.shape)
    errors = [p for p in problems if p.severity == "error"]
    judged = [v for v in validate(history.items, history.shape) if not v.open]
    assert bool(errors) == bool(judged), (errors, judged)


@given(history=broken(histories(broken=True), junk=True))
def test_check_never_raises(history: History) -> None:
    """Whatever stands in the list, there is an answer, and each problem has its place."""
    for problem in found(history.items, history.shape):
        assert all(0 <= index < len(history.items) for index in problem.indices)
        assert problem.indices
        assert str(problem)


class Counted(list[Any]):
    """A list that counts how often one of its items is asked for."""

    asked = 0

    def __getitem__(self, index: Any) -> Any:
        self.asked += 1
        return super().__getitem__(index)


def test_calls_in_a_row_are_checked_in_time_that_grows_with_their_number() -> None:
    """A thousand messages of the assistant may stand before the results of all."""
    asked: list[int] = []
    for number in (50, 100):
        calls = [model(use(f"a{at}")) for at in range(number)]
        results = [user(result(f"a{at}")) for at in range(number)]
        items = [USER, *calls, *results]
        views = ChatContext(items, shape="anthropic").views()
        counted = Counted(views)
        found = check_calls(items, counted, range(len(items)), pair_calls(views))
        assert {p.rule for p in found} == {"split_results"}
        asked.append(counted.asked)
    assert asked[1] < 2.2 * asked[0]


@pytest.mark.parametrize("between", [[], [USER]], ids=["in place", "late"])
def test_results_of_many_calls_in_one_message_are_checked_in_linear_time(
    between: list[Any],
) -> None:
    """Eight times the calls take about eight times as long; the square would be 64 times."""

    def seconds(count: int) -> float:
        function = {"name": "look", "arguments": "{}"}
        calls = [{"id": f"c{n}", "type": "function", "function": function} for n in range(count)]
        asked = {"role": "assistant", "content": None, "tool_calls": calls}
        results = [{"role": "tool", "tool_call_id": f"c{n}", "content": "x"} for n in range(count)]
        ctx = ChatContext([USER, asked, *between, *results, SAID])
        assert len(ctx.check()) == count * len(between)
        return quickest(ctx.check)

    assert seconds(4_000) < 25 * seconds(500)


@pytest.mark.parametrize("shape", [None, "openai_chat", "openai_responses", "anthropic", "bedrock"])
@pytest.mark.parametrize(("role", "told"), [({"name": "user"}, "dict"), (["user"], "list")])
def test_a_role_that_is_no_text_is_told_in_words(shape: str | None, role: Any, told: str) -> None:
    """Whether the list's shape is settled or not, and not by what Python says of it."""
    ctx: ChatContext[Any] = ChatContext([{"role": role, "content": "hello"}], shape=shape)
    (problem,) = ctx.check()
    assert (problem.rule, problem.index) == ("malformed_item", 0)
    assert problem.message == f"item: the role is {told}, not text"
    assert [repair.rule for repair in ctx.repair()] == ["malformed_item"]
