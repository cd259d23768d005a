"""Results that chatfold wrote itself are known as failures where nothing but words can say so."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.failures.own_results import is_own_failure
from chatfold.templates import load_templates
from chatfold.tools._texts import KINDS

SAID = {"tool": "refund", "seconds": "1.5"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("known", ["", "refund, lookup"])
@pytest.mark.parametrize("detail", ["ValueError: no such order", "a list", "two\nlines"])
def test_all_that_a_run_of_tools_writes_is_known(kind: str, known: str, detail: str) -> None:
    words = load_templates().render(
        "tool_error.jinja", kind=kind, known=known, detail=detail, **SAID
    )
    assert is_own_failure(words.strip()) is (kind != "no_text")  # it ran, and may not run again


def test_what_a_repair_writes_for_a_missing_result_is_known() -> None:
    words = load_templates().render("repair_note.jinja", kind="interrupted")
    assert is_own_failure(words.strip())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The tool works.",
        "The tool failed",
        "The tool failed 3 of 20 checks, all others passed.",
        "the tool failed: no",
        "Log of yesterday:\nThe tool failed: RuntimeError: declined",
        "There is no tool shed in the garden.",
        "There is no tool named hammer in stock; there are 4 saws.",
        "The arguments do not fit the evidence.",
        "The arguments are not JSON",
        "The call was cut off after 4 minutes; the customer will call again.",
        "The call was interrupted before it finished. The customer called back and has paid.",
        "The call was not started by us.",
        "Interrupted: no",
        "Interrupted by rain, the match ended 2:1.",
        '{"error": "The tool failed: x"}',
        "RuntimeError: declined",
    ],
)
def test_what_others_write_is_not(text: str) -> None:
    assert not is_own_failure(text)


CHAT: list[Any] = [
    {"role": "user", "content": "Pay."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
            for n, name in enumerate(("charge", "look", "gone"))
        ],
    },
]
RESPONSES: list[Any] = [
    {"role": "user", "content": "Pay."},
    *(
        {"type": "function_call", "call_id": f"call_{n}", "name": name, "arguments": "{}"}
        for n, name in enumerate(("charge", "look", "gone"))
    ),
]
OLLAMA: list[Any] = [
    {"role": "user", "content": "Pay."},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"function": {"name": name, "arguments": {}}} for name in ("charge", "look", "gone")
        ],
    },
]


@pytest.mark.parametrize(
    ("shape", "asked"),
    [
        ("openai_chat", CHAT),
        ("mistral", CHAT),
        ("openai_responses", RESPONSES),
        ("ollama", OLLAMA),
    ],
)
def test_a_call_that_was_answered_with_a_failure_has_failed(shape: str, asked: list[Any]) -> None:
    """As it has where results have a field for it, for a fresh context and in the prompt too."""

    def charge() -> None:
        raise RuntimeError("declined")

    items = list(asked)
    run = ChatContext(items, shape=shape).run_tool_calls({"charge": charge, "look": lambda: "3"})
    assert [answer.failed for answer in run.answers] == [True, False, True]
    calls = ChatContext(items, shape=shape).tool_calls()
    assert [call.status for call in calls] == ["failed", "completed", "failed"]
    assert all(call.completed for call in calls)
    prompt = ChatContext(items, shape=shape).plan(keep_tokens=0, keep_last_turns=0).prompt
    if prompt is not None:
        assert prompt.user.count('status="failed"') == 2
