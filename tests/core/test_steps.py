"""The trajectory: every action has its observation, and nothing that cannot be read raises."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from conftest import shared_directory
from hypothesis import given
from logs import records
from strategies import History, broken, histories, support_call

from chatfold import ChatContext, Step, render_steps
from chatfold.core.steps import Trajectory

FILES = ("openai_chat", "openai_responses", "anthropic", "dirty")


def told(steps: list[Step]) -> list[tuple[str, str]]:
    return [(step.kind, step.text) for step in steps]


def call(name: str | None, arguments: str, id_: str = "c") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def assert_linked(ctx: ChatContext[Any], steps: Trajectory) -> None:
    """Check that actions are the calls, and observations their results, each naming the other."""
    made = [c for c in ctx.tool_calls() if c.call_index is not None]
    actions = [s for s in steps if s.kind == "action"]
    assert [a.call for a in actions] == made
    for place, step in enumerate(steps):
        if step.kind not in ("action", "observation"):
            assert step.call is None
            assert step.partner is None
        elif step.partner is not None:
            other = steps[step.partner]
            assert other.partner == place
            assert other.call is step.call
            assert {step.kind, other.kind} == {"action", "observation"}
    for action in actions:
        assert action.call is not None
        assert (action.partner is not None) == action.call.completed
        if action.partner is not None:
            observation = steps[action.partner]
            assert observation.index == action.call.result_index
            assert action.call.result in observation.text


@pytest.mark.parametrize("name", ["code", "tool"])
def test_a_result_beside_the_call_of_the_server_is_one_observation(name: str) -> None:
    """As Gemini writes them; of two calls each has its own, and one without says nothing."""
    if name == "code":
        one: Any = {"executable_code": {"code": "print(1)", "language": "PYTHON"}}
        result: Any = {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "found"}}
    else:
        one = {"tool_call": {"id": "s1", "tool_type": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}}
        result = {"tool_response": {"id": "s1", "tool_type": "GOOGLE_SEARCH_WEB", "response": {}}}
    for parts in ([one, result], [one, result, {"text": "It is."}, one, result]):
        ctx = ChatContext([{"role": "model", "parts": parts}], shape="gemini")
        steps = ctx.steps()
        seen = [s for s in steps if s.kind == "observation"]
        assert len(seen) == len([s for s in steps if s.kind == "action"]) == parts.count(one)
        assert all(step.call is not None for step in seen)
        assert_linked(ctx, steps)


@given(history=histories(broken=True))
def test_every_call_is_an_action_and_every_result_its_observation(history: History) -> None:
    """In any shape and order, the links go both ways."""
    ctx = ChatContext(history.items, shape=history.shape)
    assert_linked(ctx, ctx.steps())


@given(history=broken(histories(broken=True), junk=True))
def test_no_list_is_too_broken_for_a_trajectory(history: History) -> None:
    """Deleted, doubled, swapped and malformed items: nothing raises, what is read is linked."""
    ctx = ChatContext(history.items)
    steps = ctx.steps()
    assert_linked(ctx, steps)
    assert len(render_steps(steps).splitlines()) == len(steps)


def test_results_without_ids_that_answer_in_another_order_are_told_with_their_calls() -> None:
    """Each binds to the latest step that waits for its name, so the first answers the last call."""
    call = {"role": "model", "parts": [{"function_call": {"name": "look", "args": {}}}]}
    answers = [
        {"function_response": {"name": "look", "response": {"result": said}}}
        for said in ("of the second", "of the first")
    ]
    steps = ChatContext(
        [
            {"role": "user", "parts": [{"text": "Look twice."}]},
            call,
            {"role": "user", "parts": [{"text": "And again."}]},
            call,
            {"role": "user", "parts": answers},
        ],
        shape="gemini",
    ).steps()
    assert [s.text for s in steps if s.kind == "observation"] == ["of the second", "of the first"]
    first, last = [s for s in steps if s.kind == "action"]
    assert steps[first.partner or 0].text == "of the first"
    assert steps[last.partner or 0].text == "of the second"


@pytest.mark.parametrize("name", FILES)
def test_real_histories_have_as_many_actions_as_calls(name: str) -> None:
    """Of every completed call of the corpus, the observation is there and linked."""
    path = shared_directory() / "corpus" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("no corpus beside the checkout; set CHATFOLD_SHARED")
    for line in path.read_text(encoding="utf-8").splitlines():
        ctx = ChatContext(json.loads(line)["items"])
        steps = ctx.steps()
        assert_linked(ctx, steps)
        assert steps.skipped == 0
        asked = [s for s in steps if s.role == "user"]
        assert [s for s in steps if s.kind == "task"] == asked[:1]


@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses", "anthropic"])
def test_the_support_call_is_told_in_the_order_that_it_happened(shape: str) -> None:
    """One task, every later word of the user a message, each action right before its result."""
    ctx = ChatContext(support_call(shape))
    steps = ctx.steps()
    assert [s.text for s in steps if s.kind == "task"] == [
        "Hello, my earbuds have started to crackle."
    ]
    names = [s.name for s in steps if s.kind == "action"]
    assert names[0] == "lookup_order"
    assert names[-2:] == ["transfer_to_returns_agent", "generate_return_label"]
    for place, step in enumerate(steps):
        if step.kind == "action":
            assert step.partner == place + 1


@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses", "anthropic"])
def test_a_summary_is_no_word_of_the_user(shape: str) -> None:
    ctx = ChatContext(support_call(shape))
    assert ctx.summarize(lambda prompt: "They spoke of earbuds.", keep_last_turns=1).changed
    (step,) = (step for step in ctx.steps() if step.role == "summary")
    assert (step.kind, step.text) == ("message", "They spoke of earbuds.")
    assert "message: summary:" in render_steps(ctx.steps())


def test_transcripts_of_two_makes_in_one_list_are_one_trajectory() -> None:
    """Chat Completions messages and Agents SDK items, mixed: both kinds of calls are actions."""
    ctx = ChatContext(
        [
            {"role": "user", "content": [{"type": "text", "text": "Book it"}]},
            {"role": "assistant", "content": "", "tool_calls": [call("find", '{"q": 1}', "c1")]},
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "h"}]},
            {"type": "function_call", "call_id": "c2", "name": "book", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c2", "output": "booked"},
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
            },
        ]
    )
    assert told(ctx.steps()) == [
        ("task", "Book it"),
        ("action", '{"q": 1}'),
        ("observation", "found"),
        ("thought", "h"),
        ("action", "{}"),
        ("observation", "booked"),
        ("message", "Done."),
    ]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"role": "assistant", "content": [], "tool_calls": [call("f", "{}")]}, [("action", "{}")]),
        (
            {"role": "assistant", "content": None, "tool_calls": [call(None, "x")]},
            [("action", "x")],
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": None}]},
            [("action", "")],
        ),
        ({"role": "assistant", "content": None}, []),
        ({"role": "assistant", "content": {"text": "hi"}}, []),
        ({"role": "assistant", "content": ["one", {"type": "text", "text": "two"}]}, None),
    ],
)
def test_contents_of_any_kind_are_read_or_left_out(
    item: Any, expected: list[tuple[str, str]] | None
) -> None:
    """A list, a dict, nothing at all, a call without a function: nothing raises."""
    steps = ChatContext([{"role": "user", "content": "go"}, item]).steps()
    assert told(steps)[0] == ("task", "go")
    assert told(steps)[1:] == ([("message", "one\ntwo")] if expected is None else expected)


def test_a_first_request_without_words_is_a_task_by_its_media() -> None:
    """A picture alone is what the user asked with."""
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    steps = ChatContext([{"role": "user", "content": [picture]}]).steps()
    assert told(steps) == [("task", "[image https://example.com/a.png]")]


def test_what_cannot_be_read_is_counted_and_logged_once() -> None:
    """Three strange things are one warning, which has no content in it."""
    strange = {"type": "from_the_future", "secret": "s3cr3t"}
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "go"}, strange, strange, 7])
    ctx.views()
    with records() as found:
        steps = ctx.steps()
    assert steps.skipped == 3
    assert told(steps) == [("task", "go")]
    (record,) = found
    assert record.levelno == logging.WARNING
    assert "3 parts" in record.getMessage()
    assert "s3cr3t" not in record.getMessage()


def test_a_failed_call_says_so_in_both_steps() -> None:
    """The observation of an error is marked, and the action knows its record."""
    items: list[Any] = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}
            ],
        },
    ]
    _, action, observation = ChatContext(items).steps()
    assert action.failed
    assert observation.failed
    assert render_steps([observation]) == "observation: f [failed] -> no"


def test_each_step_is_one_line_and_long_texts_lose_their_middle() -> None:
    """Lines are counted by steps, whatever the texts hold."""
    steps = ChatContext([{"role": "user", "content": f"a\nb {'x' * 100} z"}]).steps()
    assert render_steps(steps, characters=9) == "task: a b xx [... 97 characters ...] x z"


def test_a_limit_is_the_number_of_lines_and_says_what_is_missing() -> None:
    """The first and the last steps stay; one line stands for the rest."""
    items = [{"role": "user", "content": str(n)} for n in range(10)]
    steps = ChatContext(items).steps()
    lines = render_steps(steps, limit=5).splitlines()
    assert lines == [
        "task: 0",
        "message: user: 1",
        "... 6 steps left out ...",
        "message: user: 8",
        "message: user: 9",
    ]
    assert render_steps(steps, limit=1) == "... 10 steps left out ..."
    assert len(render_steps(steps, limit=10).splitlines()) == 10
    for wrong in ({"limit": 0}, {"characters": 0}):
        with pytest.raises(ValueError, match="1"):
            render_steps(steps, **wrong)


def test_an_open_call_is_an_action_that_says_that_it_is_open() -> None:
    """Nothing was observed yet, and the line says it."""
    items = [{"role": "assistant", "content": None, "tool_calls": [call("f", "{}")]}]
    assert render_steps(ChatContext(items).steps()) == "action: f({}) [open]"


def test_a_tool_is_named_with_where_it_lives() -> None:
    """Steps of two servers tell themselves apart."""
    call = {"type": "mcp_call", "id": "m", "name": "restart", "arguments": "{}", "output": "ok"}
    items: list[Any] = [
        {"role": "user", "content": "go"},
        {**call, "server_label": "staging"},
        {**call, "server_label": "production"},
    ]
    steps = ChatContext(items, shape="openai_responses").steps()
    assert {step.name for step in steps} == {None, "restart"}
    assert render_steps(steps).splitlines()[1:] == [
        *("action: staging.restart({})", "observation: staging.restart -> ok"),
        *("action: production.restart({})", "observation: production.restart -> ok"),
    ]
