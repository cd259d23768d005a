"""OpenAI's Responses behind LangChain: its items stand in the content of messages, and are paired.

What is sent is written by langchain-openai itself, and judged by the rules of the Responses API.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip(
    "langchain.agents", reason='LangChain is not installed: pip install "chatfold[langchain]"'
)
pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from validator import validate

from chatfold import ChatContext, Middleware, Policy
from chatfold.core.calls import pair_calls
from chatfold.core.views import MediaPart, Part, ResultPart, ServerCallPart, StatePart
from chatfold.errors import ShapeError
from chatfold.integrations.langchain import LangChainMessages

SHAPE = LangChainMessages()
LONG = "It is on its way, and will be there soon. " * 12
SHOT = "data:image/png;base64,AAAA"

APPROVAL = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "delete_repo",
            "arguments": '{"name": "x"}', "server_label": "git"}  # fmt: skip
CLICK = {"type": "computer_call", "id": "cu_1", "call_id": "call_1", "status": "completed",
         "pending_safety_checks": [], "action": {"type": "click", "x": 1, "y": 2}}  # fmt: skip
PATCH = {"type": "apply_patch_call", "id": "apc_1", "call_id": "call_1", "status": "completed",
         "operation": {"type": "delete_file", "path": "a.py"}}  # fmt: skip
SEARCH = {"type": "tool_search_call", "id": "ts_1", "call_id": "call_1", "status": "completed",
          "execution": "client", "arguments": {"query": "mail"}}  # fmt: skip
APPROVED = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
PATCHED = {"type": "apply_patch_call_output", "call_id": "call_1", "status": "completed",
           "output": "ok"}  # fmt: skip
FOUND = {"type": "tool_search_output", "call_id": "call_1", "status": "completed",
         "execution": "client", "tools": [{"type": "function", "name": "send_mail"}]}  # fmt: skip


def screenshot(content: Any, call: str = "call_1") -> ToolMessage:
    beside = {"type": "computer_call_output"}
    return ToolMessage(content, tool_call_id=call, additional_kwargs=beside)


ANSWERED = {
    "approval": (APPROVAL, HumanMessage([APPROVED])),
    "computer": (CLICK, screenshot([{"type": "input_image", "image_url": SHOT}])),
    "computer, as a text": (CLICK, screenshot(SHOT)),
    "apply_patch": (PATCH, HumanMessage([PATCHED])),
    "tool_search": (SEARCH, HumanMessage([FOUND])),
    "wrapped": (
        {"type": "non_standard", "value": APPROVAL},
        HumanMessage([{"type": "non_standard", "value": APPROVED}]),
    ),
}
pairs = pytest.mark.parametrize(
    ("call", "answer"), [pytest.param(*pair, id=name) for name, pair in ANSWERED.items()]
)


def said(text: str, number: int) -> AIMessage:
    return AIMessage([{"type": "text", "text": text, "annotations": [], "id": f"msg_{number}"}])


def history(*last: BaseMessage) -> list[BaseMessage]:
    """Return two turns and a third, as far as it is given."""
    return [
        HumanMessage(f"Where is P-1? {LONG}"), said(LONG, 1),
        HumanMessage(f"Where is P-2? {LONG}"), said(LONG, 2),
        HumanMessage("Do it."), *last,
    ]  # fmt: skip


def refused(items: list[BaseMessage]) -> list[Any]:
    """Return what OpenAI would refuse of the input that langchain-openai writes."""
    model = ChatOpenAI(model="gpt-5", api_key=SecretStr("test"), use_responses_api=True)
    sent = model._get_request_payload(items)["input"]
    return [found for found in validate(sent, "openai_responses") if not found.open]


def context(items: list[BaseMessage]) -> ChatContext[Any]:
    return ChatContext(items, shape=SHAPE)


def parts(message: BaseMessage) -> tuple[Part, ...]:
    found = SHAPE.read(message)
    assert found is not None
    return found.parts


def brief(prompt: object) -> str:
    return "They talked of P-1 and P-2."


def emitted(call: dict[str, Any], form: str) -> AIMessage:
    """Return the message with an item in its content, or beside it as in older ones."""
    if form == "v0":
        return AIMessage([], additional_kwargs={"tool_outputs": [call]})
    return AIMessage([call])


@pairs
@pytest.mark.parametrize("form", ["responses/v1", "v0"])
def test_no_cut_parts_an_item_from_its_answer(
    call: dict[str, Any], answer: BaseMessage, form: str
) -> None:
    """Whatever the item is, and in whichever message LangChain has its answer."""
    items = history(emitted(call, form), answer, said("Done.", 3), HumanMessage("Thanks."))
    ctx = context(items)
    assert refused(items) == []
    assert ctx.check() == []
    (record,) = pair_calls(ctx.views())
    assert (record.status, record.call_index, record.result_index) == ("completed", 5, 6)
    assert 6 not in ctx.cut_points()
    assert 7 in ctx.cut_points()
    for cut in ctx.cut_points():
        assert refused(items[cut:]) == []


@pairs
@pytest.mark.parametrize("keep", [{"keep_last_turns": 0}, {"keep_last_turns": 1},
                                  {"keep_last_turns": None, "keep_tokens": 30}])  # fmt: skip
def test_a_fold_leaves_what_is_sent_valid(
    call: dict[str, Any], answer: BaseMessage, keep: dict[str, Any]
) -> None:
    """An answer that just came in is no turn of its own, and stays with its call."""
    items = history(AIMessage([call]), answer)
    last = items[4:]
    outcome = context(items).summarize(brief, **keep)
    assert outcome.changed
    assert refused(items) == []
    assert [item for item in items if item in last] == last


@pytest.mark.parametrize("call", [APPROVAL, CLICK, PATCH, SEARCH])
@pytest.mark.parametrize("form", ["responses/v1", "v0"])
def test_an_item_without_an_answer_stays(call: dict[str, Any], form: str) -> None:
    """At any `keep`: what the host is asked for may still come."""
    waiting = emitted(call, form)
    items = history(waiting)
    ctx = context(items)
    assert [(p.rule, p.severity) for p in ctx.check()] == [("unanswered_call", "pending")]
    outcome = ctx.summarize(brief, keep_last_turns=0)
    assert outcome.changed
    assert items[-1] is waiting
    assert [r.status for r in pair_calls(ctx.views())] == ["open"]


def test_a_pending_approval_stays_when_the_user_says_something_else() -> None:
    """It can be answered for as long as it is there; a click of long ago cannot."""
    asking = AIMessage([APPROVAL])
    items = history(asking, HumanMessage("Wait. What was it?"), said("A repository.", 3))
    ctx = context(items)
    assert [(p.rule, p.severity) for p in ctx.check()] == [("unanswered_call", "pending")]
    assert ctx.summarize(brief, keep_last_turns=1).changed
    assert asking in items
    items.append(HumanMessage([APPROVED]))
    assert refused(items) == []
    late = context(history(AIMessage([CLICK]), HumanMessage("Well?")))
    assert [(p.rule, p.severity) for p in late.check()] == [("unanswered_call", "error")]
    assert [r.status for r in late.tool_calls()] == ["abandoned"]


CALLED = {"type": "mcp_call", "id": "mcp_1", "name": "delete_repo", "arguments": "{}",
          "server_label": "git", "output": "gone", "approval_request_id": "mcpr_1"}  # fmt: skip
CALLED_V1 = [
    {"type": "server_tool_call", "id": "mcp_1", "name": "remote_mcp", "args": {},
     "extras": {"tool_name": "delete_repo", "server_label": "git",
                "approval_request_id": "mcpr_1"}},
    {"type": "server_tool_result", "tool_call_id": "mcp_1", "output": "gone", "status": "success"},
]  # fmt: skip


@pytest.mark.parametrize("called", [[CALLED], CALLED_V1])
def test_a_call_stays_with_the_request_that_allowed_it(called: list[Any]) -> None:
    """In OpenAI's item, and in LangChain's two blocks for it."""
    doing = AIMessage([*called, {"type": "text", "text": "Done."}])
    assert parts(doing)[0] == ServerCallPart(
        "mcp_1", "delete_repo", "{}", "gone", "completed", "mcp", "mcpr_1", "git"
    )
    items = history(AIMessage([APPROVAL]), HumanMessage([APPROVED]), doing, HumanMessage("Thanks."))
    ctx = context(items)
    assert ctx.check() == []
    assert {6, 7}.isdisjoint(ctx.cut_points())
    torn = context([HumanMessage("Do it."), doing])
    assert [(p.rule, p.shape) for p in torn.check()] == [("approval_parted", "langchain")]
    assert [v.rule for v in refused(torn.items)] == ["approval_parted"]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "job", "arguments": "{}",
         "async": True},
        {"type": "tool_call", "id": "c", "name": "job", "args": {}, "extras": {"async": True}},
    ],
)  # fmt: skip
def test_a_call_that_may_be_answered_later_is_waited_for(block: dict[str, Any]) -> None:
    """Only the block says so, not the call in `tool_calls`."""
    started = AIMessage([block], tool_calls=[{"id": "c", "name": "job", "args": {}}])
    items = history(started, HumanMessage("Meanwhile?"), said("It runs.", 3),
                    HumanMessage("And now?"), said("Still.", 4))  # fmt: skip
    ctx = context(items)
    assert [(p.rule, p.severity) for p in ctx.check()] == [("unanswered_call", "pending")]
    ctx.summarize(brief, keep_last_turns=1)
    assert started in items
    items.append(ToolMessage("done", tool_call_id="c"))
    assert ctx.check() == []
    assert refused(items) == []


@pytest.mark.parametrize(
    "block",
    [
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "delete",
         "arguments": "{}", "namespace": "crm"},
        {"type": "tool_call", "id": "c", "name": "delete", "args": {},
         "extras": {"namespace": "crm"}},
        {"type": "tool_use", "id": "c", "name": "delete", "input": {}, "toolset_name": "crm"},
    ],
)  # fmt: skip
def test_a_call_says_where_its_tool_lives(block: dict[str, Any]) -> None:
    """Only the block does, not the call in `tool_calls`."""
    other = {**block, "type": "text", "text": "Well."}
    listed = [{"id": id_, "name": "delete", "args": {}} for id_ in ("c", "d")]
    items = history(AIMessage([other, block], tool_calls=listed))
    assert [r.namespace for r in context(items).tool_calls()] == ["crm", None]


def test_a_call_without_an_id_does_not_live_where_another_block_says() -> None:
    block = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    search = {"type": "tool_search_call", "id": "ts", "namespace": "crm"}
    listed = [{"id": id_, "name": "look", "args": {}} for id_ in ("c", None)]
    items = history(AIMessage([block, search], tool_calls=listed))
    assert [r.namespace for r in context(items).tool_calls() if r.name == "look"] == [None, None]


def test_a_call_of_an_mcp_server_says_which() -> None:
    """In LangChain's own block for OpenAI's and for Anthropic's."""
    served = {"type": "server_tool_call", "id": "m", "name": "remote_mcp", "args": {}}
    for key in ("server_label", "server_name"):
        block = {**served, "extras": {"tool_name": "restart", key: "staging"}}
        (record,) = context(history(AIMessage([block]))).tool_calls()
        assert record.qualified_name == "staging.restart"


def test_a_screenshot_is_a_medium_and_no_text() -> None:
    """Its bytes are counted, in each form in which langchain-openai takes one."""
    picture = MediaPart("image", "image/png", 3)
    output = {"type": "computer_call_output", "call_id": "call_1",
              "output": {"type": "computer_screenshot", "image_url": SHOT}}  # fmt: skip
    forms = [
        screenshot(SHOT),
        screenshot([{"type": "input_image", "image_url": SHOT}]),
        ToolMessage([{"type": "non_standard", "value": output}], tool_call_id="call_1"),
    ]
    for message in forms:
        assert parts(message) == (
            ResultPart("call_1", None, "", False, "computer", (picture,)),
        )  # fmt: skip


def test_the_output_of_a_custom_tool_answers_the_call_that_langchain_lists() -> None:
    """LangChain has custom calls among the others."""
    call = {"id": "c", "name": "run", "args": {"__arg1": "ls"}}
    output = {"type": "custom_tool_call_output", "output": "a.txt"}
    items = history(AIMessage("", tool_calls=[call]), ToolMessage([output], tool_call_id="c"))
    ctx = context(items)
    assert [(r.status, r.result) for r in ctx.tool_calls()] == [("completed", "a.txt")]
    assert ctx.check() == []


def test_what_the_server_called_is_over_and_its_lists_are_named() -> None:
    """A stream's last word of an image may be that it is being made."""
    image = {"type": "image_generation_call", "id": "ig_1", "status": "generating",
             "result": "AAAA", "output_format": "png"}  # fmt: skip
    tools = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "git",
             "tools": [{"name": "delete_repo"}, {"name": "list_repos"}]}  # fmt: skip
    assert parts(AIMessage([image, tools])) == (
        ServerCallPart("ig_1", "image_generation", "", ""),
        MediaPart("image", "image/png", 3),
        StatePart("mcp_list_tools", frozenset({"git"}), "delete_repo, list_repos"),
    )


def test_settings_of_the_request_stay() -> None:
    """LangChain has no other message for them than a person's."""
    setting = HumanMessage([{"type": "configuration_update", "reasoning": {"effort": "high"}}])
    items = [HumanMessage(LONG), said(LONG, 1), setting, *history(said("Done.", 3))]
    outcome = context(items).summarize(brief, keep_last_turns=1)
    assert outcome.changed
    assert setting in items


def test_an_answer_without_its_request_is_reported_and_taken_out() -> None:
    """What the person says in the same message stays, and the rest of a pair of parts with it."""
    words = {"type": "text", "text": "Go on."}
    items = history(HumanMessage([APPROVED, FOUND, words]))
    ctx = context(items)
    assert [(p.rule, p.severity) for p in ctx.check()] == [("orphan_result", "error")] * 2
    assert [v.rule for v in refused(items)] == ["orphan_approval", "orphan_output"]
    assert getattr(SHAPE.pick(items[-1], [2, 3]), "content", None) == [FOUND, words]
    assert getattr(SHAPE.pick(items[-1], [3]), "content", None) == [words]
    assert SHAPE.pick(items[-1], [0, 1, 3]) is items[-1]


def test_a_text_does_not_answer_what_the_host_answers() -> None:
    """The error says so, and does not speak of ids."""
    (call,) = context(history(AIMessage([CLICK]))).tool_calls()
    with pytest.raises(ShapeError, match="answered by its host"):
        SHAPE.result_item(call, "clicked")


def test_a_long_turn_at_a_computer_is_folded_again_and_again() -> None:
    """Every request of it can be sent."""
    policy = Policy(max_tokens=9_000, keep_tokens=4_000)
    middleware: Middleware[Any] = Middleware(lambda _: "They clicked.", policy, shape=SHAPE)
    messages: list[Any] = [HumanMessage("Book a table.")]
    reasons: set[str] = set()
    for step in range(30):
        typed = {"type": "type", "text": f"word {step} " * 12}
        click = {**CLICK, "id": f"cu_{step}", "call_id": f"call_{step}", "action": typed}
        picture = [{"type": "input_image", "image_url": "https://x.org/a.png"}]
        messages += [AIMessage([click]), screenshot(picture, f"call_{step}")]
        fold = middleware.fold(messages, key="k")
        reasons.add(fold.outcome.reason)
        assert refused(fold.items) == []
    assert "summarized" in reasons
