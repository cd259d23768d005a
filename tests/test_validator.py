"""The independent validator reports what breaks a rule and nothing else.

Every rule has a history that breaks it and a twin that does not; the shared fixtures and the
corpus of real histories, found beside the checkout, say whether a rule is too strict or too lax.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall, ResponseReasoningItem
from validator import Violation, lost_partners, normalise, validate

SHARED = Path(
    os.environ.get("CHATFOLD_SHARED") or Path(__file__).resolve().parents[1].parent / "shared"
)
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="no `shared` folder beside the checkout and no CHATFOLD_SHARED"
)
SHAPE_OF = {
    "openai_chat": "openai_chat",
    "openai_responses": "openai_responses",
    "openai_agents": "openai_responses",
    "anthropic": "anthropic",
    "anthropic_beta": "anthropic",
}
JsonDict = dict[str, Any]


# --- Short ways to write items --------------------------------------------------------------------


def user(content: Any = "hi") -> JsonDict:
    return {"role": "user", "content": content}


def said(content: Any = "hello") -> JsonDict:
    return {"role": "assistant", "content": content}


def chat_calls(*ids: str) -> JsonDict:
    calls = [
        {"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat_result(call_id: str) -> JsonDict:
    return {"role": "tool", "tool_call_id": call_id, "content": "r"}


def call(call_id: Any = "c1", kind: str = "function_call", **more: Any) -> JsonDict:
    return {"type": kind, "call_id": call_id, "name": "f", "arguments": "{}", **more}


def output(call_id: Any = "c1", kind: str = "function_call_output", **more: Any) -> JsonDict:
    return {"type": kind, "call_id": call_id, "output": "r", **more}


def reasoning(own: str = "rs_1", **more: Any) -> JsonDict:
    return {"type": "reasoning", "id": own, "summary": [], **more}


def answer(own: str = "msg_1") -> JsonDict:
    return {
        "type": "message",
        "id": own,
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    }


def text(value: str = "hello") -> JsonDict:
    return {"type": "text", "text": value}


def use(own: str = "t1", kind: str = "tool_use") -> JsonDict:
    return {"type": kind, "id": own, "name": "web_search", "input": {}}


def result(own: str = "t1", kind: str = "tool_result") -> JsonDict:
    return {"type": kind, "tool_use_id": own, "content": []}


# --- Each rule, broken and kept -------------------------------------------------------------------


class Case(NamedTuple):
    """A rule, a history that breaks it at one index, and a twin that keeps it."""

    rule: str
    at: int
    bad: list[Any]
    good: list[Any]
    open: bool = False


SEARCH, FOUND = "server_tool_use", "web_search_tool_result"
SYSTEM = {"role": "system", "content": "Be terse."}
EFFORT = {"role": "system", "content": [], "output_config": {"effort": "low"}}
SIGNED = {"type": "compaction", "content": "s", "signature": "sig"}
REQUEST = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}"}
CONSENT = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
MCP_CALL = {"type": "mcp_call", "id": "mcp_1", "name": "f", "approval_request_id": "mcpr_1"}
MCP_LESS = {"type": "mcp_call", "id": "mcp_2", "name": "f"}
PROGRAM = {"type": "program", "id": "prog_1", "call_id": "p1", "code": "", "fingerprint": "x"}
PROGRAM_OUTPUT = {"type": "program_output", "id": "po_1", "call_id": "p1", "result": ""}
CALLER = {"type": "program", "caller_id": "p1"}
ASYNC: JsonDict = {"async": True}
TRIGGER = {"type": "compaction_trigger"}
LOCAL_SHELL = {"type": "local_shell_call", "id": "lsh_1", "call_id": "l1"}
NO_ID_SEARCH = call(None, "tool_search_call", execution="server")
NO_ID_FOUND = output(None, "tool_search_output", execution="server")
CHAT_ROUND = [user(), chat_calls("a", "b"), chat_result("b"), chat_result("a")]
LEGACY_CALL = {
    "role": "assistant",
    "content": None,
    "function_call": {"name": "f", "arguments": "{}"},
}
LEGACY_RESULT = {"role": "function", "name": "f", "content": "r"}

CHAT = [
    Case("orphan_result", 1, [user(), chat_result("a"), said()], [user(), said()]),
    Case("orphan_result", 4, [*CHAT_ROUND, chat_result("c")], CHAT_ROUND),
    Case("orphan_result", 2, [user(), said(), chat_result("a")], [*CHAT_ROUND, said()]),
    Case("duplicate_result", 4, [*CHAT_ROUND, chat_result("a")], CHAT_ROUND),
    Case("unanswered_call", 1, [*CHAT_ROUND[:3], user()], [*CHAT_ROUND, user()]),
    Case("unanswered_call", 1, CHAT_ROUND[:3], CHAT_ROUND, open=True),
    Case("unanswered_call", 1, [*CHAT_ROUND[:3], said()], [*CHAT_ROUND, said()]),
    Case(
        "unanswered_call",
        1,
        [user(), chat_calls("a", "a"), chat_result("a"), said()],
        [user(), chat_calls("a", "a"), chat_result("a"), chat_result("a"), said()],
    ),
    Case("unanswered_call", 1, [user(), LEGACY_CALL], [user(), LEGACY_CALL, LEGACY_RESULT], True),
    Case(
        "orphan_result",
        1,
        [user(), LEGACY_RESULT, said()],
        [user(), LEGACY_CALL, LEGACY_RESULT, said()],
    ),
    Case("null_content", 1, [user(), said(None)], [user(), said(None) | {"refusal": "no"}]),
    Case("foreign_item", 1, [user(), call()], [user(), said()]),
    Case("malformed", 1, [user(), "text"], [user(), user("text")]),
]
RESPONSES = [
    Case("orphan_output", 1, [user(), output()], [user(), call(), output()]),
    Case("orphan_output", 1, [user(), output(), answer()], [user(), call(), output(), answer()]),
    Case("duplicate_output", 2, [call(), output(), output()], [call(), output()]),
    Case("unanswered_call", 1, [user(), call(), user()], [user(), call(), user(), output()]),
    Case("unanswered_call", 1, [user(), call()], [user(), call(), output()], open=True),
    Case(
        "unanswered_call",
        0,
        [call("a"), call("b"), output("b")],
        [call("a"), call("b"), output("b"), output("a")],
        open=True,
    ),
    Case(
        "unanswered_call",
        0,
        [call("a"), call("b"), output("b"), reasoning(), answer()],
        [call("a"), call("b"), output("b"), output("a"), reasoning(), answer()],
    ),
    Case(
        "unanswered_call",
        0,
        [call(**ASYNC), user(), answer()],
        [call(**ASYNC), user(), answer(), user(), output()],
        open=True,
    ),
    Case("unanswered_call", 0, [call(async_=True), user()], [call(), output(), user()], True),
    Case(
        "unanswered_call",
        0,
        [{"type": "item_reference", "id": "fc_1"}, user()],
        [{"type": "item_reference", "id": "fc_1"}, output("unknown"), user()],
    ),
    Case(
        "unanswered_call",
        0,
        [call(), user(), call(), output(), user()],
        [call(), output(), user(), call(), output(), user()],
    ),
    Case("duplicate_id", 1, [answer(), answer()], [answer(), answer("msg_2")]),
    Case(
        "duplicate_id",
        1,
        [answer(), {"id": "msg_1"}],
        [answer("__fake_id__"), answer("__fake_id__")],
    ),
    Case("reasoning_without_follower", 0, [reasoning(), user()], [reasoning(), answer(), user()]),
    Case(
        "reasoning_without_follower",
        2,
        [call(), output(), reasoning()],
        [call(), output(), reasoning(), answer()],
    ),
    Case(
        "reasoning_without_follower",
        1,
        [call(), reasoning(), output()],
        [reasoning(), call(), output()],
    ),
    Case(
        "half_a_reference",
        0,
        [reasoning(), {"type": "item_reference", "id": "msg_1"}],
        [{"type": "item_reference", "id": "rs_1"}, {"type": "item_reference", "id": "msg_1"}],
    ),
    Case(
        "missing_summary",
        0,
        [{"type": "reasoning", "id": "rs_1"}, answer()],
        [reasoning(), answer()],
    ),
    Case("trigger_not_last", 1, [user(), TRIGGER, user()], [user(), TRIGGER]),
    Case(
        "nested_without_program",
        0,
        [call(caller=CALLER), output()],
        [PROGRAM, call(caller=CALLER), output(caller=CALLER), PROGRAM_OUTPUT],
    ),
    Case("orphan_output", 0, [PROGRAM_OUTPUT, answer()], [PROGRAM, PROGRAM_OUTPUT, answer()]),
    Case(
        "orphan_output",
        1,
        [LOCAL_SHELL, {"type": "local_shell_call_output", "id": "x", "output": ""}, LOCAL_SHELL],
        [LOCAL_SHELL, {"type": "local_shell_call_output", "id": "l1", "output": ""}],
    ),
    Case(
        "orphan_output",
        0,
        [output("l1", "local_shell_call_output")],
        [LOCAL_SHELL, output("l1", "local_shell_call_output")],
    ),
    Case(
        "duplicate_output",
        2,
        [NO_ID_SEARCH, NO_ID_FOUND, NO_ID_FOUND],
        [NO_ID_SEARCH, NO_ID_SEARCH, NO_ID_FOUND, NO_ID_FOUND],
    ),
    Case("orphan_output", 0, [NO_ID_FOUND, user()], [NO_ID_SEARCH, NO_ID_FOUND, user()]),
    Case("unanswered_approval", 0, [REQUEST, user()], [REQUEST, CONSENT, user()], open=True),
    Case("orphan_approval", 0, [CONSENT, answer()], [REQUEST, CONSENT, answer()]),
    Case("duplicate_approval", 2, [REQUEST, CONSENT, CONSENT], [REQUEST, CONSENT]),
    Case("approval_parted", 0, [MCP_CALL, answer()], [REQUEST, CONSENT, MCP_CALL, answer()]),
    Case("foreign_item", 1, [user(), chat_result("a")], [user(), answer()]),
    Case("malformed", 0, [None, user()], [user()]),
    *[
        Case(
            "orphan_output",
            1,
            [user(), output("c1", result_type)],
            [user(), call("c1", call_type), output("c1", result_type)],
        )
        for call_type, result_type in [
            ("custom_tool_call", "custom_tool_call_output"),
            ("computer_call", "computer_call_output"),
            ("shell_call", "shell_call_output"),
            ("apply_patch_call", "apply_patch_call_output"),
            ("tool_search_call", "tool_search_output"),
        ]
    ],
]
ROUND = [user(), said([use()]), user([result()])]
ANTHROPIC = [
    Case("unanswered_call", 1, [*ROUND[:2], user()], [*ROUND, said()]),
    Case("unanswered_call", 1, ROUND[:2], ROUND, open=True),
    Case(
        "unanswered_call",
        1,
        [user(), said([use("a"), use("b")]), user([result("a")])],
        [user(), said([use("a"), use("b")]), user([result("a")]), user([result("b")])],
        open=True,
    ),
    Case(
        "unanswered_call",
        1,
        [user(), said([use("a"), use("b")]), user([result("a"), text()])],
        [user(), said([use("a"), use("b")]), user([result("a"), result("b"), text()])],
    ),
    Case("orphan_result", 0, ROUND[2:], ROUND),
    Case("orphan_result", 2, [user(), said(), user([result()])], ROUND),
    Case("orphan_result", 4, [*ROUND, said(), user([result()])], [*ROUND, said(), user()]),
    Case(
        "results_first",
        2,
        [*ROUND[:2], user([text(), result()])],
        [*ROUND[:2], user([result(), text()])],
    ),
    Case("results_first", 3, [*ROUND[:2], user(), ROUND[2]], [*ROUND, user()]),
    Case("duplicate_result", 2, [*ROUND[:2], user([result(), result()])], ROUND),
    Case("duplicate_result", 3, [*ROUND, user([result()])], ROUND),
    Case(
        "duplicate_tool_use",
        1,
        [user(), said([use(), use()]), user([result()])],
        [*ROUND, said([use()]), user([result()])],
    ),
    Case("misplaced_tool_use", 0, [user([use()]), said()], [user(), said()]),
    Case("arguments_no_object", 1, [user(), said([use() | {"input": "{"}])], ROUND),
    Case("first_role", 0, [said(), user()], [user(), said(), user()]),
    Case("first_role", 0, [said(), user()], [said([SIGNED]), user()]),
    Case("blank_text", 0, [user([text(" \n")])], [user([text("x")])]),
    Case("blank_text", 0, [user("  "), said()], [user("x"), said()]),
    Case("empty_content", 1, [user(), said([]), user()], [user(), said([])]),
    Case("empty_content", 0, [user(""), said()], [user("x"), said("")]),
    Case("system_first", 0, [SYSTEM, said()], [EFFORT, user(), said()]),
    Case("system_placement", 2, [user(), said(), SYSTEM], [user(), SYSTEM, said()]),
    Case("system_placement", 1, [user(), SYSTEM, user()], [user(), SYSTEM]),
    Case("system_placement", 1, [user(), SYSTEM, SYSTEM, user()], [user(), SYSTEM, SYSTEM, said()]),
    Case("system_placement", 3, [user(), said(), EFFORT, SYSTEM], [user(), EFFORT, SYSTEM, EFFORT]),
    Case(
        "system_placement",
        2,
        [user(), said([use("s", SEARCH), result("s", FOUND), text()]), SYSTEM, said()],
        [user(), said([use("s", SEARCH), result("s", FOUND)]), SYSTEM, said()],
    ),
    Case("compaction_misplaced", 1, [user(), said([SIGNED])], [said([SIGNED]), user()]),
    Case(
        "compaction_misplaced",
        1,
        [user(), said([text(), SIGNED])],
        [user(), said([{"type": "compaction", "content": "s"}, text()])],
    ),
    Case(
        "orphan_server_result",
        1,
        [user(), said([result("s", FOUND)])],
        [user(), said([use("s", SEARCH), result("s", FOUND)])],
    ),
    Case(
        "orphan_server_result",
        1,
        [user(), said([result("s", FOUND), text()]), user()],
        [
            user(),
            said([use("s", SEARCH), use()]),
            user([result()]),
            said([result("s", FOUND), text()]),
        ],
    ),
    Case(
        "orphan_server_result",
        1,
        [user(), said([result("m", "mcp_tool_result")])],
        [user(), said([use("m", "mcp_tool_use"), result("m", "mcp_tool_result")])],
    ),
    Case(
        "unanswered_server_call",
        1,
        [user(), said([use("s", SEARCH), use()]), user([result(), text()])],
        [user(), said([use("s", SEARCH), result("s", FOUND), use()]), user([result(), text()])],
    ),
    Case(
        "unanswered_server_call",
        1,
        [user(), said([use("s", SEARCH), use()]), user([result()])],
        [user(), said([use("s", SEARCH), result("s", FOUND), use()]), user([result()])],
        open=True,
    ),
    Case(
        "unanswered_server_call",
        1,
        [user(), said([use("s", SEARCH)]), user(), said([use("s", SEARCH), result("s", FOUND)])],
        [user(), said([use("s", SEARCH)]), said([result("s", FOUND)])],
    ),
    Case("foreign_item", 1, [user(), chat_result("a")], [user(), said()]),
    Case("malformed", 1, [user(), 7], [user(), said()]),
]
CASES = [
    pytest.param(shape, case, id=f"{shape}-{number}-{case.rule}")
    for shape, cases in [
        ("openai_chat", CHAT),
        ("openai_responses", RESPONSES),
        ("anthropic", ANTHROPIC),
    ]
    for number, case in enumerate(cases)
]


@pytest.mark.parametrize(("shape", "case"), CASES)
def test_a_broken_rule_is_reported_at_its_index(shape: str, case: Case) -> None:
    """The history that breaks a rule is reported under that rule, as open only if it is."""
    found = [(seen.rule, seen.index, seen.open) for seen in validate(case.bad, shape)]
    assert (case.rule, case.at, case.open) in found


@pytest.mark.parametrize(("shape", "case"), CASES)
def test_the_twin_that_keeps_the_rule_is_not_reported(shape: str, case: Case) -> None:
    """The smallest change that heals a history also silences the validator, open calls aside."""
    healed = [seen for seen in validate(case.good, shape) if seen.rule == case.rule]
    errors = [seen for seen in validate(case.good, shape) if not seen.open]
    assert not healed
    assert not errors


GOOD = [
    ("openai_chat", [user(), chat_calls("a"), chat_result("a"), chat_calls("a"), chat_result("a")]),
    ("openai_chat", [user(), user(), said(), said(), {"role": "system", "content": "s"}]),
    ("openai_chat", [user(), said(None) | {"audio": {"id": "audio_1"}}]),
    ("openai_chat", [said(), chat_calls("a"), chat_result("a")]),
    ("openai_responses", [call(), output(), user(), call(), output()]),
    ("openai_responses", [call("a"), call("b"), user(), output("b"), answer(), output("a")]),
    ("openai_responses", [reasoning("rs_1"), reasoning("rs_2"), answer()]),
    ("openai_responses", [reasoning(), {"type": "mcp_list_tools", "id": "mcpl_1"}, MCP_LESS]),
    ("openai_responses", [call("s", "tool_search_call", execution="server"), answer(), user()]),
    ("openai_responses", [{"type": "a_new_kind", "id": "x_1"}, answer()]),
    ("openai_responses", [call(), output(None, name="f"), user()]),
    ("anthropic", [user(), said(), said(), user(), user()]),
    ("anthropic", [user(), said([use("a")]), said([use("b")]), user([result("b"), result("a")])]),
    ("anthropic", [user(), said([use()]), EFFORT, user([result()])]),
    ("anthropic", [user(), said([{"type": "a_new_kind"}])]),
]


@pytest.mark.parametrize(("shape", "items"), GOOD)
def test_what_servers_accept_is_not_reported(shape: str, items: list[Any]) -> None:
    """Ids that recur, roles in a row, late outputs and unknown kinds break no rule."""
    assert validate(items, shape) == []


def test_a_call_nested_in_an_assistants_content_counts_once() -> None:
    """A session store's nested call takes an output; with a top-level twin it is no second call."""
    nested = said([text(), call("n")])
    assert validate([user(), nested, output("n"), user()], "openai_responses") == []
    assert validate([user(), nested, call("n"), output("n"), user()], "openai_responses") == []
    in_chat = nested | {"tool_calls": chat_calls("n")["tool_calls"]}
    assert validate([user(), in_chat, chat_result("n"), said()], "openai_chat") == []


def test_strict_also_reports_what_only_some_servers_refuse() -> None:
    """Reused ids and roles in a row are reported on demand only."""
    responses = [call(), output(), user(), call(), output()]
    strict = validate(responses, "openai_responses", strict=True)
    assert [(seen.rule, seen.index) for seen in strict] == [("reused_call_id", 3)]
    messages = [user(), user(), said([use()]), user([result()]), said([use()]), user([result()])]
    found = [(seen.rule, seen.index) for seen in validate(messages, "anthropic", strict=True)]
    assert found == [("roles_alternate", 1), ("reused_tool_use_id", 4)]


def test_an_unknown_shape_is_refused() -> None:
    """A shape without rules is the caller's mistake, not a clean list."""
    with pytest.raises(ValueError, match="shape must be one of"):
        validate([], "telegram")


def test_sdk_objects_are_judged_like_their_dicts() -> None:
    """Objects, dicts and dicts that hold objects may stand in one list."""
    message = ChatCompletionMessage.model_validate(chat_calls("a"))
    assert validate([user(), message, chat_result("a")], "openai_chat") == []
    assert [seen.open for seen in validate([user(), message], "openai_chat")] == [True]

    thought = ResponseReasoningItem.model_validate(reasoning())
    action = ResponseFunctionToolCall.model_validate(call(**ASYNC))
    assert validate([thought, action, output()], "openai_responses") == []
    pending = validate([thought, action, user()], "openai_responses")
    assert [(seen.rule, seen.open) for seen in pending] == [("unanswered_call", True)]

    reply = AnthropicMessage.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [use()],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    for turn in (reply, {"role": "assistant", "content": reply.content}):
        assert validate([user(), turn, user([result()])], "anthropic") == []
        assert validate([user(), turn, user()], "anthropic")[0].rule == "unanswered_call"
    assert normalise({"content": reply.content}) == {"content": [use()]}


# --- Partners that only the list before the fold knows --------------------------------------------

LOOP = [
    user(),
    reasoning("rs_1"),
    call("a", id="fc_a"),
    output("a"),
    call("b", id="fc_b"),
    output("b"),
    answer("msg_1"),
    user("next"),
    answer("msg_2"),
]
SUMMARY = user("<summary/>")


def lost(before: list[Any], after: list[Any]) -> list[tuple[str, int]]:
    found: list[Violation] = lost_partners(before, after, "openai_responses")
    return [(seen.rule, seen.index) for seen in found]


def test_an_item_whose_reasoning_was_folded_away_is_reported() -> None:
    """Parallel calls whose outputs came in between still need the reasoning before them all."""
    assert lost(LOOP, [SUMMARY, *LOOP[4:]]) == [("lost_reasoning", 1), ("lost_reasoning", 3)]


def test_a_fold_between_responses_loses_no_partner() -> None:
    """Before a reasoning item and after a user's message nothing is parted."""
    for cut in (0, 1, 7, 8, 9):
        assert lost(LOOP, [SUMMARY, *LOOP[cut:]]) == []


def test_reloaded_copies_are_recognized_as_the_same_items() -> None:
    """Equal items and items of the same id stand for those that were there before."""
    copies = json.loads(json.dumps(LOOP))
    assert lost(LOOP, [SUMMARY, *copies[6:]]) == [("lost_reasoning", 1)]
    without_id = [user(), {"type": "reasoning", "summary": []}, answer()]
    assert lost(without_id, json.loads(json.dumps(without_id))) == []
    renamed = LOOP[6] | {"status": "incomplete"}
    assert lost(LOOP, [SUMMARY, renamed, *LOOP[7:]]) == [("lost_reasoning", 1)]


def test_an_item_without_its_id_demands_no_reasoning() -> None:
    """The documented repair, taking the id off, is not reported."""
    bare = {key: value for key, value in LOOP[6].items() if key != "id"}
    assert lost(LOOP, [SUMMARY, bare, *LOOP[7:]]) == []


def test_an_id_that_every_item_bears_demands_nothing() -> None:
    """The fake id of the Agents SDK is no id."""
    fake = [item | {"id": "__fake_id__"} if "id" in item else item for item in LOOP]
    assert lost(fake, [SUMMARY, *fake[4:]]) == []


def test_an_equal_item_does_not_stand_in_for_the_same_object() -> None:
    """Of two equal items, the one that was kept is told by its identity."""
    first, second = {"type": "reasoning", "summary": []}, {"type": "reasoning", "summary": []}
    before = [first, answer("msg_1"), user(), second, answer("msg_2")]
    assert lost(before, [*before[:2], SUMMARY, before[4]]) == [("lost_reasoning", 3)]
    assert lost(before, [SUMMARY, before[1], *before[3:]]) == [("lost_reasoning", 1)]


def test_reasoning_whose_following_item_was_dropped_is_reported() -> None:
    """Another item behind the reasoning does not stand in for the one that followed it."""
    assert lost(LOOP, [SUMMARY, LOOP[1], *LOOP[4:]]) == [("lost_follower", 1)]


def test_half_a_run_of_reasoning_is_reported() -> None:
    """Reasoning items in a row belong to one response, so each of them is needed."""
    before = [user(), reasoning("rs_1"), reasoning("rs_2"), answer()]
    assert lost(before, [SUMMARY, *before[2:]]) == [("lost_reasoning", 2)]


def test_other_shapes_keep_no_partners_by_id() -> None:
    """Chat and Anthropic lists show their ties themselves."""
    assert lost_partners(LOOP, LOOP[4:], "anthropic") == []
    assert lost_partners(LOOP, LOOP[4:], "openai_chat") == []


# --- Fixtures and corpus --------------------------------------------------------------------------


def fixtures() -> list[JsonDict]:
    if not SHARED.is_dir():
        return []
    loaded = [json.loads(path.read_text()) for path in sorted(SHARED.glob("fixtures/*.json"))]
    return [one for one in loaded if one["provider_shape"] in SHAPE_OF]


def corpus(name: str) -> list[JsonDict]:
    with (SHARED / "corpus" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


by_name = pytest.mark.parametrize("fixture", fixtures(), ids=lambda one: one["name"])


@needs_shared
@by_name
def test_a_fixture_is_reported_as_it_is_labelled(fixture: JsonDict) -> None:
    """Valid histories are clean, unfinished ones only open, orphan outputs errors."""
    found = validate(fixture["items"], SHAPE_OF[fixture["provider_shape"]])
    pending = [one for one in fixture["calls"] if not one["completed"]]
    if fixture.get("requires_previous_response_id"):
        assert [seen.rule for seen in found if not seen.open] == ["orphan_output"]
    elif pending or fixture.get("pending_approvals"):
        assert found
        assert all(seen.open for seen in found)
    else:
        assert found == []


@needs_shared
@by_name
def test_legal_cuts_are_clean_and_all_others_are_reported(fixture: JsonDict) -> None:
    """A summary before item i is valid exactly where the fixture says that i is a legal cut."""
    items, shape = fixture["items"], SHAPE_OF[fixture["provider_shape"]]
    accepted = set(fixture["legal_cuts"]) | set(fixture.get("lossy_cuts", []))
    # Such cuts are taken by the server but take away an instruction's place or an open call.
    unseen = {len(items), *fixture.get("carry_forward", [])}
    for cut in range(1, len(items)):
        after = [SUMMARY, *items[cut:]]
        broken = [seen for seen in validate(after, shape) if not seen.open]
        broken += lost_partners(items, after, shape)
        if cut in accepted:
            assert not broken, cut
        elif cut not in unseen:
            assert broken, cut


@needs_shared
@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic"])
def test_real_histories_are_clean(name: str) -> None:
    """What real providers answered breaks no rule."""
    histories = corpus(name)
    reported = {one["id"]: validate(one["items"], one["provider_shape"]) for one in histories}
    reported = {key: found for key, found in reported.items() if found}
    print(f"{name}: {len(reported)} of {len(histories)} reported")
    assert reported == {}


@needs_shared
def test_dirty_histories_are_reported() -> None:
    """Every dirty history is reported, where the label is stricter than the server on `strict`."""
    histories = corpus("dirty")
    errors = pending = on_strict = 0
    for one in histories:
        found = validate(one["items"], one["provider_shape"])
        strict = validate(one["items"], one["provider_shape"], strict=True)
        errors += any(not seen.open for seen in found)
        pending += bool(found) and all(seen.open for seen in found)
        if not found:
            # Reused call ids that pair in order, and assistant messages that the server joins.
            assert {seen.rule for seen in strict} <= {"reused_call_id", "roles_alternate"}
            on_strict += bool(strict)
        assert strict, one["id"]
    total = len(histories)
    print(f"dirty: {errors} errors, {pending} open, {on_strict} on strict only, of {total}")
    assert errors + pending + on_strict == total
