"""The shape `openai_responses`: the conformance suite, and what only Responses items have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage
from shapes.conformance import Call, ShapeConformance
from validator import lost_partners, validate

from chatfold import ChatContext
from chatfold.core.views import ReasoningPart, StatePart

Item = dict[str, Any]


class ResponsesWriter:
    """Writes Responses items."""

    shape = "openai_responses"
    union = "openai.types.responses:ResponseInputItemParam"
    fails = False

    def system(self, text: str) -> Item:
        return {"role": "developer", "content": [{"type": "input_text", "text": text}]}

    def user(self, text: str) -> Item:
        return {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": text}],
        }

    def picture(self, text: str, data: str) -> Item:
        image = {
            "type": "input_image",
            "image_url": f"data:image/png;base64,{data}",
            "detail": "low",
        }
        return {"role": "user", "content": [{"type": "input_text", "text": text}, image]}

    def assistant(self, text: str, *, sdk: bool = False) -> Any:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {
            "type": "message",
            "id": f"msg_{len(text)}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        return ResponseOutputMessage.model_validate(item) if sdk else item

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        items = [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(call.arguments),
            }
            for call in calls
        ]
        return [ResponseFunctionToolCall.model_validate(i) if sdk else i for i in items]

    def results(self, *calls: Call) -> list[Any]:
        return [
            {"type": "function_call_output", "call_id": c.id, "output": c.result} for c in calls
        ]

    def joined(self, results: list[Any]) -> list[Any]:
        return results

    def unknown(self) -> list[Any]:
        return [
            {"type": "brand_new", "data": 1},
            {"type": "message", "role": "user", "content": [{"type": "brand_new", "data": 1}]},
        ]

    def malformed(self) -> list[Any]:
        return [
            {"type": "message"},
            {"type": "message", "role": "user"},
            {"type": "message", "role": "user", "content": 5},
            {"type": "message", "role": [], "content": "x"},
            {"type": "function_call"},
            {"type": "function_call", "call_id": None, "name": None, "arguments": None},
            {"type": "function_call_output"},
            {"type": "function_call_output", "call_id": "x", "output": 5},
            {"type": "reasoning"},
            {"type": "custom_tool_call"},
        ]


class TestOpenAIResponses(ShapeConformance):
    """Responses items pass the shared suite."""

    writer = ResponsesWriter()


_W = ResponsesWriter()
USER, ANSWER = _W.user("hi"), _W.assistant("hello")


def _reasoning(id_: str) -> Item:
    return {"type": "reasoning", "id": id_, "summary": [], "encrypted_content": "gAAAA"}


def _call(id_: str, name: str = "get", *, is_async: bool = False, **more: Any) -> Item:
    late = {"async": True} if is_async else {}
    return {
        "type": "function_call",
        "call_id": id_,
        "name": name,
        "arguments": "{}",
        **late,
        **more,
    }


def _output(id_: str, text: str = "ok", **more: Any) -> Item:
    return {"type": "function_call_output", "call_id": id_, "output": text, **more}


def _calls(items: list[Any]) -> list[tuple[str | None, str | None, str, int | None, int | None]]:
    return [
        (c.id, c.name, c.status, c.call_index, c.result_index)
        for c in ChatContext(items, shape="openai_responses").tool_calls()
    ]


PAIRS: list[tuple[str, Item, Item]] = [
    (
        "py",
        {"type": "custom_tool_call", "call_id": "c", "name": "py", "input": "1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
    ),
    (
        "shell",
        {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
    ),
    (
        "apply_patch",
        {
            "type": "apply_patch_call",
            "call_id": "c",
            "status": "completed",
            "operation": {"type": "x"},
        },
        {"type": "apply_patch_call_output", "call_id": "c", "status": "completed"},
    ),
    (
        "computer",
        {"type": "computer_call", "id": "cu_1", "call_id": "c", "pending_safety_checks": []},
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}},
    ),
    (
        "local_shell",
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "c", "output": "{}"},  # as the SDK's type has it
    ),
    (
        "local_shell",
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "action": {"command": ["ls"]}},
        {
            "type": "local_shell_call_output",
            "call_id": "c",
            "output": "{}",
        },  # as the Agents SDK does
    ),
]


@pytest.mark.parametrize(("name", "call", "result"), PAIRS)
def test_every_kind_of_call_is_joined_with_its_own_kind_of_output(
    name: str, call: Item, result: Item
) -> None:
    """Each family pairs by call id, stays together, and does not take another family's output."""
    items = [USER, call, result, ANSWER]
    assert _calls(items) == [("c", name, "completed", 1, 2)]
    assert ChatContext(items).cut_points() == [0, 1, 3, 4]
    other = _calls([USER, call, _output("c"), ANSWER])
    assert [entry[2:] for entry in other] == [("open", 1, None), ("completed", None, 2)]


def test_a_tool_search_without_call_ids_is_paired_in_order() -> None:
    """The server's own searches have a null call id; order joins them."""
    search: Item = {
        "type": "tool_search_call",
        "call_id": None,
        "arguments": {},
        "execution": "client",
    }
    found: Item = {
        "type": "tool_search_output",
        "call_id": None,
        "tools": [],
        "execution": "client",
    }
    assert _calls([USER, search, found, search, found]) == [
        (None, "tool_search", "completed", 1, 2),
        (None, "tool_search", "completed", 3, 4),
    ]


def test_searches_of_the_server_are_not_cut_while_their_outputs_may_come() -> None:
    """Nothing is said to be open, as they may go without; but the order binds what comes."""
    call: Item = {
        "type": "tool_search_call",
        "call_id": None,
        "arguments": {},
        "execution": "server",
    }
    found: Item = {"type": "tool_search_output", "call_id": None, "tools": []}
    for waiting in ([call], [call, call], [call, call, found]):
        ctx: ChatContext[Any] = ChatContext([USER, *waiting])
        assert ctx.cut_points() == [0, 1]
        assert {c.status for c in ctx.tool_calls()} == {"completed"}
        assert ctx.check() == []
        assert 2 in ChatContext([USER, *waiting, ANSWER]).cut_points() or found in waiting
    assert ChatContext([USER, call, call, found, found]).cut_points() == [0, 1, 5]
    named = call | {"call_id": "t1"}
    assert ChatContext([USER, named]).cut_points() == [0, 1, 2]


@pytest.mark.parametrize(
    ("item", "status"),
    [
        (
            {"type": "web_search_call", "status": "completed", "action": {"type": "search"}},
            "completed",
        ),
        ({"type": "web_search_call", "status": "failed", "action": {"type": "search"}}, "failed"),
        ({"type": "web_search_call", "status": "searching", "action": {"type": "search"}}, "open"),
        ({"type": "file_search_call", "status": "completed", "queries": ["a"]}, "completed"),
        ({"type": "code_interpreter_call", "status": "incomplete", "code": "1"}, "failed"),
        ({"type": "image_generation_call", "status": "generating", "result": None}, "open"),
        ({"type": "mcp_call", "name": "send", "arguments": "{}", "output": "sent"}, "completed"),
        ({"type": "mcp_call", "name": "send", "arguments": "{}", "error": "denied"}, "failed"),
    ],
)
def test_a_combined_item_is_call_and_result_in_one(item: Item, status: str) -> None:
    """The server's calls are one record at one index, and no cut depends on them once done."""
    items = [USER, {"id": "x_1", **item}, ANSWER]
    (record,) = ChatContext(items).tool_calls()
    assert (record.id, record.status, record.call_index) == ("x_1", status, 1)
    assert record.result_index == (None if status == "open" else 1)


def test_reasoning_and_all_that_followed_it_is_one_span() -> None:
    """Parallel calls whose outputs were put in between still need their reasoning."""
    items = [
        USER,
        _reasoning("rs_1"),
        _call("a", id="fc_a"),
        _output("a"),
        _call("b", id="fc_b"),
        _output("b"),
        _reasoning("rs_2"),
        ANSWER,
        _W.user("bye"),
    ]
    assert ChatContext(items).cut_points() == [0, 1, 6, 8, 9]
    for cut in range(len(items) + 1):
        after = items[cut:]
        broken = [v for v in validate(after, "openai_responses") if not v.open]
        broken += lost_partners(items, after, "openai_responses")
        if cut in ChatContext(items).cut_points():
            assert broken == []


def test_a_program_encloses_the_calls_that_name_it() -> None:
    """Calls with a caller belong to the program, up to its output."""
    program = {"type": "program", "id": "p_1", "call_id": "p", "code": "get()", "fingerprint": "f"}
    by: Item = {"caller": {"type": "program", "caller_id": "p"}}
    end = {
        "type": "program_output",
        "id": "po_1",
        "call_id": "p",
        "result": "1",
        "status": "completed",
    }
    items = [USER, program, _call("c", **by), _output("c", **by), end, ANSWER]
    assert ChatContext(items).cut_points() == [0, 1, 5, 6]
    assert _calls(items) == [("p", "program", "completed", 1, 4), ("c", "get", "completed", 2, 3)]


def test_an_approval_is_no_tool_call_and_blocks_while_nobody_answered_it() -> None:
    """A pending approval is open at any keep, and its call is what counts as a call."""
    ask = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "send",
        "arguments": "{}",
        "server_label": "mail",
    }
    yes = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    done = {
        "type": "mcp_call",
        "id": "mcp_1",
        "name": "send",
        "arguments": "{}",
        "server_label": "mail",
        "output": "sent",
        "approval_request_id": "mcpr_1",
    }
    ctx: ChatContext[Any] = ChatContext([USER, ask])
    assert ctx.tool_calls() == []
    assert ctx.cut_points() == [0, 1]
    ctx.append(_W.user("hurry"))
    assert ctx.cut_points() == [0, 1]
    assert ctx.plan(keep_last_turns=0, force=True).blocked_by == ("mcpr_1",)
    ctx.items.pop()
    ctx.extend([yes, done, ANSWER])
    assert ctx.cut_points() == [0, 1, 4, 5]
    assert [c.id for c in ctx.tool_calls()] == ["mcp_1"]


def test_an_answer_to_a_request_that_the_provider_holds_is_no_tool_call() -> None:
    """Behind a `previous_response_id` the list has what the user said to it, and no more."""
    yes = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    ctx: ChatContext[Any] = ChatContext([yes, ANSWER, USER, _call("c"), _output("c")])
    assert ctx.count_tool_calls() == ctx.count_tool_calls(completed_only=True) == 1
    assert [c.id for c in ctx.tool_calls()] == ["c"]


@pytest.mark.parametrize(
    ("result", "family"),
    [
        ({"type": "local_shell_call_output", "id": "s", "output": "ok"}, "local_shell"),
        ({"type": "custom_tool_call_output", "call_id": "c", "output": "ok"}, "custom"),
        (_output("c"), "function"),
    ],
)
def test_a_result_without_its_call_is_of_the_family_that_its_item_says(
    result: dict[str, Any], family: str
) -> None:
    """`repair` puts each behind a call of its own family alone."""
    ctx: ChatContext[Any] = ChatContext([result, USER], shape="openai_responses")
    assert [(c.pair, c.kind, c.call_index) for c in ctx.tool_calls()] == [
        (family, "function", None)
    ]


def test_an_asynchronous_call_stays_open_behind_later_user_messages() -> None:
    """Its result may come many turns later, so nothing behind it may be cut, unless abandoned."""
    long = _W.assistant("word " * 300)
    items = [
        USER,
        long,
        _call("slow", is_async=True),
        ANSWER,
        _W.user("and?"),
        _W.assistant("ok"),
    ]
    ctx = ChatContext(items)
    assert _calls(items)[0][2] == "open"
    assert ctx.cut_points() == [0, 1, 2]
    assert ctx.plan(keep_last_turns=0).blocked_by == ("slow",)
    assert ctx.plan(keep_last_turns=0, abandon=["slow"]).index == len(items)


def test_fifty_superseded_settings_leave_one() -> None:
    """Only the last configuration of the same settings goes on to apply, so only it is kept."""
    updates = [
        {"type": "configuration_update", "reasoning": {"effort": e}} for e in ["low", "high"] * 25
    ]
    long = _W.assistant("word " * 400)
    items = [USER, long, *updates, _W.user("next"), ANSWER]
    ctx = ChatContext(items)
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert outcome.kept == (updates[-1],)
    assert outcome.omitted == {"superseded_state": 49}


def test_superseded_settings_alone_are_nothing_to_summarize() -> None:
    """Without a word to write a summary of, no model is asked for one."""
    updates = [
        {"type": "configuration_update", "reasoning": {"effort": e}} for e in ["low", "high"] * 25
    ]
    ctx = ChatContext([*updates, _W.user("next"), ANSWER])
    assert ctx.plan(keep_last_turns=1).reason == "nothing_to_summarize"


@pytest.mark.parametrize("flat", [True, False])
def test_calls_inside_a_content_list_are_calls(flat: bool) -> None:
    """Some session stores nest calls in an assistant's content; they count, and they count once."""
    body = {"name": "only_in_content", "arguments": "{}"}
    block: Item = {"type": "function_call", "id": "fc_9", "call_id": "call_9"}
    block |= body if flat else {"function": body}
    twice = {"id": "call_9", "function": body}
    message = {"role": "assistant", "content": [block], "tool_calls": [twice]}
    items = [USER, message, _output("call_9"), ANSWER]
    assert _calls(items) == [("call_9", "only_in_content", "completed", 1, 2)]
    assert ChatContext(items).cut_points() == [0, 1, 3, 4]


def test_a_reference_is_taken_for_what_its_id_says() -> None:
    """`rs_` refers to reasoning, `fc_` to a call: the output behind it belongs to it."""
    items = [USER, {"id": "rs_1"}, {"id": "fc_1", "type": "item_reference"}, _output("c"), ANSWER]
    ctx = ChatContext(items)
    assert ctx.views()[1].parts == (ReasoningPart("", 1),)
    assert ctx.cut_points() == [0, 1, 5]


@pytest.mark.parametrize(
    ("id_", "output"),
    [
        ("cu_1", {"type": "computer_call_output", "call_id": "c", "output": {}}),
        ("lsh_1", {"type": "local_shell_call_output", "id": "c", "output": "ok"}),
        ("sh_1", {"type": "shell_call_output", "call_id": "c", "output": []}),
        ("apc_1", {"type": "apply_patch_call_output", "call_id": "c", "status": "completed"}),
        ("tsc_1", {"type": "tool_search_output", "call_id": "c", "tools": []}),
        (
            "mcpr_1",
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        ),
    ],
)
def test_an_output_stays_with_the_reference_to_its_call(id_: str, output: Item) -> None:
    """Whatever was called: the id of a reference says so, as far as its types are known."""
    ctx = ChatContext([USER, {"type": "item_reference", "id": id_}, output, ANSWER])
    assert ctx.cut_points() == [0, 1, 3, 4]
    assert [problem.rule for problem in ctx.check()] == ["needs_store"]


@pytest.mark.parametrize(("id_", "open_"), [("cu_1", True), ("sh_1", False), ("mcpr_1", True)])
def test_a_reference_to_what_the_server_may_have_run_waits_for_nothing(
    id_: str, open_: bool
) -> None:
    """Outputs of hosted shells and searches may be references, too, or none."""
    ctx = ChatContext([USER, {"type": "item_reference", "id": id_}])
    assert (2 not in ctx.cut_points()) is open_


def test_loaded_tools_and_listed_servers_are_state_that_stays() -> None:
    """Dropping them would unload tools or list a server again, so a fold keeps them."""
    tools = {
        "type": "additional_tools",
        "role": "developer",
        "tools": [{"type": "function", "name": "a"}],
    }
    listed = {"type": "mcp_list_tools", "id": "l_1", "server_label": "mail", "tools": []}
    search = {"type": "tool_search_call", "call_id": "s", "arguments": {}, "execution": "client"}
    found = {
        "type": "tool_search_output",
        "call_id": "s",
        "tools": [{"type": "function", "name": "b"}],
    }
    state = [tools, listed, search, found]
    ctx = ChatContext([USER, _W.assistant("word " * 400), *state, _W.user("next"), ANSWER])
    assert [type(v.parts[-1]) for v in ctx.views()[2:4]] == [StatePart, StatePart]
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).kept == tuple(state)


@pytest.mark.parametrize(
    ("items", "rule", "index", "severity"),
    [
        ([USER, _output("c"), ANSWER], "orphan_result", 1, "error"),
        ([USER, _call("c"), USER, ANSWER], "unanswered_call", 1, "error"),
        ([USER, _call("c")], "unanswered_call", 1, "pending"),
        ([USER, _call("c", is_async=True), USER], "unanswered_call", 1, "pending"),
        ([USER, _reasoning("rs_1")], "reasoning_without_follower", 1, "error"),
        ([USER, _reasoning("rs_1"), USER], "reasoning_without_follower", 1, "error"),
        (
            [USER, {**_reasoning("rs_1"), "summary": None}, ANSWER],
            "reasoning_without_summary",
            1,
            "error",
        ),
        ([USER, ANSWER, ANSWER], "duplicate_item", 2, "error"),
        ([USER, {"type": "compaction_trigger"}, USER], "command_not_last", 1, "error"),
    ],
)
def test_what_the_api_refuses_is_a_problem_at_its_index(
    items: list[Any], rule: str, index: int, severity: str
) -> None:
    """Each broken rule has a problem with the index of the offending item."""
    found = {(p.rule, p.index, p.severity) for p in ChatContext(items).check()}
    assert found == {(rule, index, severity)}
    assert {(v.index, v.open) for v in validate(items, "openai_responses")} == {
        (index, severity == "pending")
    }


@pytest.mark.parametrize("output", ["memory_search_output", "memory_search_call_output"])
def test_calls_and_outputs_of_a_later_sdk_are_joined_by_their_id(output: str) -> None:
    """The SDK names them both ways: `tool_search_output`, and `shell_call_output`."""
    items: list[Any] = [
        {"role": "user", "content": "Find it. " * 100},
        {"type": "memory_search_call", "call_id": "call_9", "query": "QQ"},
        {"type": output, "call_id": "call_9", "results": ["RR"]},
        {"role": "assistant", "content": "There."},
        {"role": "user", "content": "z"},
    ]
    ctx = ChatContext(items, shape="openai_responses")
    assert {p.rule for p in ctx.check()} == {"unknown_part"}
    assert [c.status for c in ctx.tool_calls()] == ["completed"]
    assert 2 not in ctx.cut_points()
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert (plan.prompt.user.count("QQ"), plan.prompt.user.count("RR")) == (1, 1)
    assert ctx.repair() == []


def test_calls_and_outputs_of_a_later_sdk_have_the_fields_that_all_have() -> None:
    """A caller, `async` and a status mean the same on an item of a type that is not known yet."""
    by: Item = {"caller": {"type": "program", "caller_id": "p"}}
    program = {"type": "program", "id": "p_1", "call_id": "p", "code": "get()", "fingerprint": "f"}
    end = {"type": "program_output", "id": "po_1", "call_id": "p", "result": "1"}
    call: Item = {"type": "memory_call", "call_id": "m", "query": "q"}
    output: Item = {"type": "memory_output", "call_id": "m", "results": []}
    items = [USER, program, end, {**call, **by}, {**output, **by, "status": "failed"}, ANSWER]
    ctx = ChatContext(items)
    assert ctx.cut_points() == [0, 1, 5, 6]
    assert [(c.caller, c.status) for c in ctx.tool_calls()] == [
        (None, "completed"),
        ("p", "failed"),
    ]
    problems = ChatContext([USER, *items[3:5]]).check()
    assert [p.index for p in problems if p.rule == "caller_missing"] == [1, 2]
    (waiting,) = ChatContext([USER, {**call, "async": True}, ANSWER, USER]).tool_calls()
    assert waiting.status == "open"


def _homes(items: list[Any]) -> list[tuple[str | None, str | None]]:
    return [
        (c.qualified_name, c.namespace)
        for c in ChatContext(items, shape="openai_responses").tool_calls()
    ]


def test_a_call_says_where_its_tool_lives() -> None:
    """In a namespace of functions, or on an MCP server, answered there or not yet."""
    custom = {"type": "custom_tool_call", "call_id": "d", "name": "sql", "input": "select 1"}
    served = {"type": "mcp_call", "id": "m", "name": "restart", "arguments": "{}"}
    items = [
        USER,
        _call("a", "delete", namespace="crm"),
        _output("a", namespace="crm"),
        {**custom, "namespace": "billing"},
        {**served, "server_label": "staging", "output": "ok"},
        {**served, "server_label": "production", "status": "calling"},
        _call("e", "weather", namespace="weather"),  # loaded by a search
        _call("f", namespace=None),
        _call("g", namespace=""),
    ]
    assert _homes(items) == [
        ("crm.delete", "crm"),
        ("billing.sql", "billing"),
        ("staging.restart", "staging"),
        ("production.restart", "production"),
        ("weather", "weather"),
        ("get", None),
        ("get", None),
    ]


def test_a_result_without_its_call_says_where_its_tool_lives_if_it_knows() -> None:
    """With a call, that is what says it; one that is known by its id alone says nothing."""
    alone = _output("a", name="delete", namespace="crm")
    assert _homes([USER, alone]) == [("crm.delete", "crm")]
    assert _homes([USER, _call("a", "delete"), alone]) == [("delete", None)]
    named = {"type": "item_reference", "id": "fc_1"}
    assert _homes([USER, named, alone]) == [("crm.delete", "crm")]


def test_a_call_inside_of_a_message_says_where_its_tool_lives() -> None:
    """In its content, or listed beside it as in chat."""
    inside = {"type": "function_call", "call_id": "a", "name": "delete", "namespace": "crm"}
    message = {"type": "message", "role": "assistant", "content": [{**inside, "arguments": "{}"}]}
    assert _homes([USER, message]) == [("crm.delete", "crm")]
    function = {"name": "delete", "namespace": "crm", "arguments": "{}"}
    beside = [{"id": "a", "type": "function", "function": function}]
    message = {**message, "content": [], "tool_calls": beside}
    assert _homes([USER, message]) == [("crm.delete", "crm")]
