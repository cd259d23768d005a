"""Law 9, data stays data: whatever a history holds, a prompt gives it back and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from conversation import HEAD, LAST_TURN, Element, elements, elements_named, prompt_of
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SHAPES, History, broken, histories, texts

from chatfold import ChatContext, ItemView, Prompt
from chatfold.core.answers.no_summary import is_error_text, is_refusal, says_nothing
from chatfold.core.views import CallPart, ReasoningPart, ServerCallPart, TextPart
from chatfold.core.xml import escape

# --- every place, by construction ---------------------------------------------------------------


class Wild(NamedTuple):
    """A text for each place of a history where one may stand."""

    author: str
    tool: str
    other_tool: str
    call: str
    other_call: str
    words: str
    more: str
    thought: str
    arguments: str
    input: str
    output: str
    last: str


NAME = texts().map(lambda text: text or "x")  # a name or an id of no length is none at all
WILD = st.builds(Wild, *[NAME] * 5, *[texts(blank=False)] * 7)


def call(name: str, id_: str, text: str) -> Element:
    return Element("function_call", {"name": name, "call_id": id_}, text)


def output(name: str, id_: str, text: str, status: str = "completed") -> Element:
    return Element("function_call_output", {"name": name, "call_id": id_, "status": status}, text)


def said(role: str, text: str, *inner: Element, **attributes: str) -> Element:
    return Element(role, attributes, text, inner)


def chat(w: Wild) -> tuple[list[Any], list[Element]]:
    function = {"name": w.tool, "arguments": w.arguments}
    custom = {"name": w.other_tool, "input": w.input}
    items: list[Any] = [
        {"role": "user", "name": w.author, "content": w.words},
        {
            "role": "assistant",
            "reasoning_content": w.thought,
            "content": w.more,
            "tool_calls": [
                {"id": w.call, "type": "function", "function": function},
                {"id": w.other_call, "type": "custom", "custom": custom},
            ],
        },
        {"role": "tool", "tool_call_id": w.call, "content": w.output},
        {"role": "tool", "tool_call_id": w.other_call, "content": w.last},
        {"role": "assistant", "content": None, "function_call": function},
        {"role": "function", "name": w.tool, "content": w.output},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": w.words},
                {"type": "text", "text": w.more},
                {"type": "file", "file": {"filename": w.author}},
            ],
        },
        {"role": "assistant", "content": [{"type": "refusal", "refusal": w.last}]},
    ]
    file = Element("attachment", {"kind": "file", "name": w.author}, "")
    return items, [
        said("user", w.words, name=w.author),
        said("reasoning", w.thought),
        said("assistant", w.more),
        call(w.tool, w.call, w.arguments),
        call(w.other_tool, w.other_call, w.input),
        output(w.tool, w.call, w.output),
        output(w.other_tool, w.other_call, w.last),
        Element("function_call", {"name": w.tool}, w.arguments),
        Element("function_call_output", {"name": w.tool, "status": "completed"}, w.output),
        said("user", f"{w.words}\n{w.more}", file),
        said("assistant", w.last),
    ]


def responses(w: Wild) -> tuple[list[Any], list[Element]]:
    mcp = {"type": "mcp_call", "id": w.call, "server_label": w.author, "status": "completed"}
    asked = {"type": "mcp_approval_request", "id": w.call, "server_label": w.author}
    granted = {"type": "mcp_approval_response", "approval_request_id": w.call, "approve": False}
    items: list[Any] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": w.words}]},
        {"type": "function_call", "call_id": w.call, "name": w.tool, "arguments": w.arguments},
        {
            "type": "custom_tool_call",
            "call_id": w.other_call,
            "name": w.other_tool,
            "input": w.input,
        },
        {"type": "function_call_output", "call_id": w.call, "output": w.output},
        {"type": "custom_tool_call_output", "call_id": w.other_call, "output": w.last},
        {**mcp, "name": w.tool, "arguments": w.arguments, "output": w.output},
        {**asked, "name": w.tool, "arguments": w.arguments},
        {**granted, "reason": w.more},
        {"role": "assistant", "content": [{"type": "output_text", "text": w.more}]},
    ]
    inner = (Element("arguments", {}, w.arguments), Element("result", {}, w.output))
    where = {"namespace": w.author}
    attributes = {"name": w.tool, "id": w.call, "status": "completed", **where}
    question = {"type": "mcp_approval_request", "name": w.tool, "id": w.call, **where}
    reply = elements_named(prompt_of([*items, *LAST_TURN], "openai_responses"), "item")[1]
    return items, [
        said("user", w.words),
        call(w.tool, w.call, w.arguments),
        call(w.other_tool, w.other_call, w.input),
        output(w.tool, w.call, w.output),
        output(w.other_tool, w.other_call, w.last),
        Element("server_tool_call", attributes, w.arguments + w.output, inner),
        Element("item", question, w.arguments),
        Element("item", {"type": "approval_response", "id": w.call}, reply.text),
        said("assistant", w.more),
    ]


def in_blocks(w: Wild, ids: Any, about: dict[str, str]) -> list[Element]:
    """Return what is shown of a history of blocks, whoever's they are; `about` is its document."""
    arguments = json.dumps({"q": w.input}, ensure_ascii=False)
    served = {"name": w.tool, "call_id": ids[2], "status": "completed"}
    return [
        said("user", w.words + w.more, Element("attachment", about, w.more)),
        said("reasoning", w.thought),
        said("assistant", w.more),
        call(w.tool, ids[0], arguments),
        call(w.other_tool, ids[1], "{}"),
        output(w.tool, ids[0], w.output),
        output(w.other_tool, ids[1], w.last, "failed"),
        Element("server_tool_call", {"name": w.tool, "call_id": ids[2]}, arguments),
        Element("server_tool_output", served, w.output),
        said("assistant", w.last),
    ]


def anthropic(w: Wild) -> tuple[list[Any], list[Element]]:
    plain = {"type": "text", "media_type": "text/plain", "data": w.more}
    ids = (f"1{w.call}", f"2{w.other_call}", f"3{w.call}")  # ids are unique here
    failed = {"type": "tool_result", "tool_use_id": ids[1], "is_error": True}
    items: list[Any] = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": w.words},
                {"type": "document", "source": plain, "title": w.author},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": w.thought, "signature": "c2ln"},
                {"type": "text", "text": w.more},
                {"type": "tool_use", "id": ids[0], "name": w.tool, "input": {"q": w.input}},
                {"type": "tool_use", "id": ids[1], "name": w.other_tool, "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": ids[0], "content": w.output},
                {**failed, "content": [{"type": "text", "text": w.last}]},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "mcp_tool_use", "id": ids[2], "name": w.tool, "input": {"q": w.input}},
                {"type": "mcp_tool_result", "tool_use_id": ids[2], "content": w.output},
                {"type": "text", "text": w.last},
            ],
        },
    ]
    size = str(len(w.more.encode("utf-8", "replace")))
    about = {"kind": "document", "type": "text/plain", "bytes": size, "name": w.author}
    return items, in_blocks(w, ids, about)


def ollama(w: Wild) -> tuple[list[Any], list[Element]]:
    picture = "iVBORw0KGgo="
    calls = [
        {"id": w.call, "function": {"name": w.tool, "arguments": {"q": w.arguments}}},
        {"function": {"name": w.other_tool, "arguments": {}}},
    ]
    said_and_done = {"thinking": w.thought, "content": w.more, "tool_calls": calls}
    items: list[Any] = [
        {"role": "user", "content": w.words, "images": [picture]},
        {"role": "assistant", **said_and_done},
        {"role": "tool", "tool_name": w.tool, "tool_call_id": w.call, "content": w.output},
        {"role": "tool", "tool_name": w.other_tool, "content": w.last},
        {"role": "assistant", "content": w.more},
    ]
    image = Element("attachment", {"kind": "image", "type": "image/png", "bytes": "8"}, "")
    return items, [
        said("user", w.words, image),
        said("reasoning", w.thought),
        said("assistant", w.more),
        call(w.tool, w.call, json.dumps({"q": w.arguments}, ensure_ascii=False)),
        Element("function_call", {"name": w.other_tool}, "{}"),
        output(w.tool, w.call, w.output),
        Element("function_call_output", {"name": w.other_tool, "status": "completed"}, w.last),
        said("assistant", w.more),
    ]


def mistral(w: Wild) -> tuple[list[Any], list[Element]]:
    thinking = [{"type": "text", "text": w.thought}]
    ids = (f"1{w.call}", f"2{w.other_call}")  # ids are unique here
    calls = [
        {"id": ids[0], "function": {"name": w.tool, "arguments": w.arguments}},
        {"id": ids[1], "function": {"name": w.other_tool, "arguments": {"q": w.input}}},
    ]
    page = {"type": "resource", "uri": w.author, "content": {"type": "text", "text": w.input}}
    items: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": w.words}, page]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": thinking},
                {"type": "text", "text": w.more},
            ],
            "tool_calls": calls,
        },
        {"role": "tool", "name": w.other_tool, "tool_call_id": ids[1], "content": w.last},
        {"role": "tool", "name": w.tool, "tool_call_id": ids[0], "content": w.output},
        {"role": "assistant", "content": w.more},
    ]
    about = Element("attachment", {"kind": "resource", "name": w.author}, w.input)
    return items, [
        said("user", w.words + w.input, about),
        said("reasoning", w.thought),
        said("assistant", w.more),
        call(w.tool, ids[0], w.arguments),
        call(w.other_tool, ids[1], json.dumps({"q": w.input}, ensure_ascii=False)),
        output(w.other_tool, ids[1], w.last),
        output(w.tool, ids[0], w.output),
        said("assistant", w.more),
    ]


def gemini(w: Wild) -> tuple[list[Any], list[Element]]:
    first = {"id": w.call, "name": w.tool}
    second = {"id": w.other_call, "name": w.other_tool}
    items: list[Any] = [
        {"role": "user", "parts": [{"text": w.words}, {"file_data": {"file_uri": w.author}}]},
        {
            "role": "model",
            "parts": [
                {"text": w.thought, "thought": True},
                {"text": w.more},
                {"functionCall": {**first, "args": {"q": w.input}}, "thoughtSignature": "c2ln"},
                {"function_call": {**second, "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {**first, "response": {"result": w.output}}},
                {"function_response": {**second, "response": {"error": w.last}}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"executable_code": {"code": w.arguments, "language": "PYTHON"}},
                {"code_execution_result": {"outcome": "OUTCOME_OK", "output": w.output}},
                {"text": w.last},
            ],
        },
    ]
    file = Element("attachment", {"kind": "file", "name": w.author}, "")
    served = {"name": "code_execution", "status": "completed"}
    return items, [
        said("user", w.words, file),
        said("reasoning", w.thought),
        said("assistant", w.more),
        call(w.tool, w.call, json.dumps({"q": w.input}, ensure_ascii=False)),
        call(w.other_tool, w.other_call, "{}"),
        output(w.tool, w.call, w.output),
        output(w.other_tool, w.other_call, w.last, "failed"),
        Element("server_tool_call", {"name": "code_execution"}, w.arguments),
        Element("server_tool_output", served, w.output),
        said("assistant", w.last),
    ]


def bedrock(w: Wild) -> tuple[list[Any], list[Element]]:
    ids = (f"1{w.call}", f"2{w.other_call}", f"3{w.call}")  # ids are unique here
    paper = {"format": "txt", "name": w.author, "source": {"text": w.more}}
    failed = {"toolUseId": ids[1], "status": "error", "content": [{"text": w.last}]}
    served = {"toolUseId": ids[2], "type": "grounding_result", "content": [{"text": w.output}]}
    asked = {"toolUseId": ids[2], "name": w.tool, "type": "server_tool_use"}
    items: list[Any] = [
        {"role": "user", "content": [{"text": w.words}, {"document": paper}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": w.thought, "signature": "s"}}},
                {"text": w.more},
                {"toolUse": {"toolUseId": ids[0], "name": w.tool, "input": {"q": w.input}}},
                {"toolUse": {"toolUseId": ids[1], "name": w.other_tool, "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": ids[0], "content": [{"text": w.output}]}},
                {"toolResult": failed},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"toolUse": {**asked, "input": {"q": w.input}}},
                {"toolResult": served},
                {"text": w.last},
            ],
        },
    ]
    about = {"kind": "document", "type": "txt", "name": w.author}
    return items, in_blocks(w, ids, about)


BUILDERS: dict[str, Callable[[Wild], tuple[list[Any], list[Element]]]] = {
    "openai_chat": chat,
    "openai_responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "ollama": ollama,
    "mistral": mistral,
}


@pytest.mark.parametrize("shape", SHAPES)
@given(wild=WILD)
@settings(max_examples=50)
def test_law_9_every_text_name_and_id_comes_back_from_the_prompt(shape: str, wild: Wild) -> None:
    """Roles in order, authors, tool names, call ids, arguments and results, for any unicode."""
    items, expected = BUILDERS[shape](wild)
    # A tool that hands over is followed by one more element, which says so.
    found = elements(prompt_of([*items, *LAST_TURN], shape).user)
    assert [e for e in found if e.tag != "agent_handoff"] == expected


def test_law_9_results_of_one_id_in_one_message_name_their_own_tools() -> None:
    """The first answers the first call of that id, the second the second."""
    use = {"type": "tool_use", "id": "t", "input": {}}
    done = {"type": "tool_result", "tool_use_id": "t"}
    items: list[Any] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{**use, "name": "one"}, {**use, "name": "two"}]},
        {"role": "user", "content": [{**done, "content": "1"}, {**done, "content": "2"}]},
    ]
    found = elements_named(prompt_of([*items, *LAST_TURN], "anthropic"), "function_call_output")
    assert found == [output("one", "t", "1"), output("two", "t", "2")]


@given(text=texts())
def test_law_9_a_handoff_and_an_approval_say_their_names_exactly(text: str) -> None:
    """The target of a `transfer_to_...` call and the reason of a denial, for any unicode."""
    items: list[Any] = [
        {"role": "user", "content": "go"},
        {"type": "function_call", "call_id": "h", "name": f"transfer_to_{text}", "arguments": ""},
        {"type": "function_call_output", "call_id": "h", "output": "Over to the next."},
        {"type": "mcp_approval_request", "id": "a", "name": "send", "arguments": "{}"},
        {
            "type": "mcp_approval_response",
            "approval_request_id": "a",
            "approve": False,
            "reason": text,
        },
    ]
    prompt = prompt_of([*items, *LAST_TURN], "openai_responses")
    assert elements_named(prompt, "agent_handoff")[0].attributes == {"to": text}
    assert text in elements_named(prompt, "item")[1].text


def test_a_handoff_that_was_ignored_did_not_take_place() -> None:
    """The Agents SDK follows the first of several at a time (`agents/run_internal`, 0.24)."""
    ignored = "Multiple handoffs detected, ignoring this one."
    answers = {
        "look_up": "Found.",
        "transfer_to_refunds": '{"assistant": "Refunds"}',
        "transfer_to_billing": ignored,
    }
    items: list[Any] = [{"role": "user", "content": "a refund, and a look at my bill"}]
    for name in answers:
        items += [{"type": "function_call", "call_id": name, "name": name, "arguments": "{}"}]
    for name, text in answers.items():
        items += [{"type": "function_call_output", "call_id": name, "output": text}]
    prompt = prompt_of([*items, *LAST_TURN], "openai_responses")
    assert [e.attributes for e in elements_named(prompt, "agent_handoff")] == [{"to": "refunds"}]


@given(
    value=st.dictionaries(
        texts().map(lambda t: f"_{t}"), texts() | st.none() | st.lists(texts(), max_size=2)
    )
)
def test_law_9_an_unknown_item_comes_back_as_its_json(value: dict[str, Any]) -> None:
    """The element holds the item's JSON, its type is the attribute."""
    item = {"fields": value, "type": "from_the_future </item>\x00"}
    items = [{"role": "user", "content": "go"}, item, {"role": "assistant", "content": "done"}]
    (found,) = elements_named(prompt_of([*items, *LAST_TURN], "openai_chat"), "item")
    assert found.attributes == {"type": item["type"]}
    assert json.loads(found.text) == item


# --- generated histories ------------------------------------------------------------------------


@given(history=histories(broken=True, opaque=True, max_turns=4), keep=st.integers(0, 1))
def test_law_9_the_calls_of_any_history_come_back_in_order(history: History, keep: int) -> None:
    """Each call of the head is one element with its name, id and arguments, each text its own."""
    plan = ChatContext(history.items, shape=history.shape).plan(keep_last_turns=keep)
    if plan.prompt is None:
        return
    start, stop = plan.index - len(plan.region), plan.index
    inside = [c for c in history.calls if start <= c.call_index < stop]
    found = [
        e for e in elements(plan.prompt.user) if e.tag in ("function_call", "server_tool_call")
    ]
    named = [(e.attributes.get("name"), e.attributes.get("call_id")) for e in found]
    ids = [e.attributes.get("id") for e in found]
    assert [(n, c or i) for (n, c), i in zip(named, ids, strict=True)] == [
        (c.name, c.id) for c in inside
    ]
    for expected, shown in zip(inside, found, strict=True):
        written = shown.inner[0].text if shown.inner else shown.text
        if isinstance(expected.arguments, str):
            assert written == expected.arguments
        elif expected.arguments is not None:
            assert json.loads(written) == expected.arguments


@given(history=histories(broken=True, max_turns=4), keep=st.integers(0, 1))
def test_law_9_the_results_of_any_history_come_back_with_their_call(
    history: History, keep: int
) -> None:
    """Each result in the head says its text, and the name and the id of the call it answers."""
    plan = ChatContext(history.items, shape=history.shape).plan(keep_last_turns=keep)
    if plan.prompt is None:
        return
    region = range(plan.index - len(plan.region), plan.index)
    tags = ("function_call_output", "server_tool_output")
    found = [e for e in elements(plan.prompt.user) if e.tag in tags]
    shown = [(e.attributes.get("name"), e.attributes.get("call_id"), e.text) for e in found]
    for expected in history.calls:
        both = expected.call_index == expected.result_index
        if expected.result_index not in region or expected.result_text is None:
            continue
        if not both and not expected.name.startswith("tool_search"):
            assert (expected.name, expected.id, expected.result_text) in shown


def spoken(view: ItemView) -> list[tuple[str, str]]:
    """Return what an item says, as (role, text), with a call or the like breaking it up."""
    runs: list[tuple[str, str]] = []
    open_run = False
    for part in view.parts:
        if not isinstance(part, TextPart):
            open_run = False
        elif open_run:
            runs[-1] = (view.role, f"{runs[-1][1]}\n{part.text}")
        else:
            runs.append((view.role, part.text))
            open_run = True
    return runs


@given(history=histories(broken=True, max_turns=4), keep=st.integers(0, 1))
def test_law_9_roles_stay_in_order(history: History, keep: int) -> None:
    """What is said in the head stands in the prompt in its order, under its own role."""
    plan = ChatContext(history.items, shape=history.shape).plan(keep_last_turns=keep)
    if plan.prompt is None:
        return
    roles = ("user", "assistant", "system", "developer")
    shown = [(e.tag, e.text) for e in elements(plan.prompt.user) if e.tag in roles and e.text]
    rest = iter(shown)
    for view in plan.prompt.views:
        if all(
            isinstance(p, TextPart | CallPart | ReasoningPart | ServerCallPart) for p in view.parts
        ):
            assert all(run in rest for run in spoken(view) if run[1])


@given(
    history=broken(histories(broken=True, opaque=True, max_turns=3), junk=True),
    keep=st.integers(0, 1),
)
def test_law_9_a_broken_history_still_renders_as_one_element(history: History, keep: int) -> None:
    """Malformed and unknown items, orphans and duplicates parse like all else."""
    plan = ChatContext(history.items).plan(keep_last_turns=keep)
    if plan.prompt is not None:
        elements(plan.prompt.user)


# --- what the application adds ------------------------------------------------------------------

MARK = "__MARK__"


@given(instructions=texts(blank=False), language=texts(blank=False))
def test_law_9_instructions_are_escaped_and_change_nothing_around_them(
    instructions: str, language: str
) -> None:
    """The prompt is the one for another instruction, with the escaped words in its place."""
    items = [*HEAD, *LAST_TURN]
    plain = prompt_of(items, "openai_chat", instructions=MARK, language="__TONGUE__")
    made = prompt_of(items, "openai_chat", instructions=instructions, language=language)
    wanted = plain.user.replace(MARK, escape(instructions))
    wanted = wanted.replace("__TONGUE__", escape(language))
    assert plain.user.count(MARK) == 2  # before and after the conversation
    assert made.user == wanted.strip()
    assert made.system == plain.system
    made.user.encode()  # nothing is left that UTF-8 or XML cannot carry
    assert len(elements(made.user)) == 2


@given(text=texts(blank=False))
def test_law_9_a_text_of_the_history_changes_nothing_around_it(text: str) -> None:
    """No text is read as a template, ends the element or reaches the instructions."""
    lists = [[{"role": "user", "content": words}, *HEAD, *LAST_TURN] for words in (MARK, text)]
    made = [prompt_of(items, "openai_chat", max_summary_tokens=100) for items in lists]
    assert made[1].user == made[0].user.replace(MARK, escape(text))
    assert made[1].system == made[0].system


def may_be_told(text: str) -> bool:
    """Return whether a summary may be a text; Hypothesis draws "rate limited" from our own code."""
    is_none = is_error_text(text) or is_refusal(text) or says_nothing(text)
    return text.isprintable() and not is_none


@pytest.mark.parametrize("shape", SHAPES)
@given(text=texts(blank=False).filter(may_be_told) | texts().map("x{}".format))
@settings(max_examples=30)
def test_law_9_an_earlier_summary_comes_back_exactly(shape: str, text: str) -> None:
    """The next prompt holds it in one element, and the wrapper cannot be closed by its words."""
    items: list[Any] = [*HEAD, *LAST_TURN]
    ctx = ChatContext(items, shape=shape, grounding="report")
    outcome = ctx.summarize(lambda p: text, keep_last_turns=1)
    assert outcome.summary is not None
    wrapper = json.dumps(items[0], ensure_ascii=False)
    assert wrapper.count("<chat_history_summary") == wrapper.count("</chat_history_summary>") == 1
    assert wrapper.count("<note>") == wrapper.count("</note>") == 1
    items += [*HEAD, *LAST_TURN]
    prompt = prompt_of(json.loads(json.dumps(items)), shape)
    first, *others = elements(prompt.user)
    assert first == Element("previous_summary", {}, outcome.summary)
    assert prompt.previous_summary == outcome.summary
    assert "previous_summary" not in [e.tag for e in others]


# --- entities that a model copies ---------------------------------------------------------------


def folded(head: str, answer: Callable[[Prompt], str]) -> str | None:
    """Return the summary of a list whose first message says `head`."""
    items = [{"role": "user", "content": head}, HEAD[1], *LAST_TURN]
    return ChatContext(items, shape="openai_chat").summarize(answer, keep_last_turns=1).summary


@given(head=st.text(st.sampled_from("ab <>&\r\"'"), min_size=1).map(lambda t: f"({t})"))
def test_law_9_what_a_model_copies_out_of_the_prompt_is_decoded(head: str) -> None:
    """A summary that quotes the prompt says what the head says, without entities."""
    assert folded(head, lambda prompt: escape(head)) == head


@pytest.mark.parametrize(
    ("entity", "character"),
    [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&quot;", '"'), ("&apos;", "'")],
)
def test_law_9_an_entity_that_stands_in_the_head_is_left_alone(entity: str, character: str) -> None:
    """Who talks about entities gets them back; who does not gets the character."""
    assert folded(f"write {entity} there", lambda p: f"use {entity}!") == f"use {entity}!"
    assert folded("write it there", lambda p: f"use {entity}!") == f"use {character}!"
    if entity == "&amp;":
        return  # `&amp;amp;` may be a copy of either; what stands in the head is left alone
    shown = escape(entity)  # what the prompt shows for an entity is an entity of an entity
    assert folded(f"write {entity} there", lambda p: f"use {shown}!") == f"use {entity}!"


@pytest.mark.parametrize("place", ["arguments", "output", "summary"])
def test_law_9_an_entity_in_a_call_or_an_earlier_summary_is_left_alone(place: str) -> None:
    """The head is more than what is said in it."""
    words = dict.fromkeys(("arguments", "output", "summary"), "x") | {place: "a &lt; b"}
    items: list[Any] = [*HEAD, *LAST_TURN]
    ctx = ChatContext(items, shape="openai_responses")
    ctx.summarize(lambda p: words["summary"].replace("&", "&amp;"), keep_last_turns=1)
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": words["arguments"]}
    result = {"type": "function_call_output", "call_id": "c", "output": words["output"]}
    items += [*HEAD, call, result, HEAD[1], *LAST_TURN]
    outcome = ctx.summarize(lambda p: "a &lt; b &gt; c", keep_last_turns=1)
    assert outcome.summary == "a &lt; b > c"
