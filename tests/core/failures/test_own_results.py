"""Results that chatfold wrote itself are known as failures, whether or not a field says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.failures.own_results import with_own_failures
from chatfold.core.views import ItemView, ResultPart, TextPart
from chatfold.templates import load_templates
from chatfold.tools._texts import KINDS

SAID = {"tool": "refund", "seconds": "1.5"}


def failed(text: str, *, flagged: bool = False) -> bool:
    """Return whether a result of that text has failed; what stands beside it stays."""
    beside = TextPart("a"), TextPart("b")
    parts = (beside[0], ResultPart("c", "t", text, flagged), beside[1])
    view = ItemView("user", parts, "user", "s")
    before, result, behind = with_own_failures(view).parts
    assert (before, behind) == beside
    assert isinstance(result, ResultPart)
    assert result._replace(failed=flagged) == view.parts[1]
    return result.failed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("known", ["", "refund, lookup"])
@pytest.mark.parametrize("detail", ["ValueError: no such order", "a list", "two\nlines"])
@pytest.mark.parametrize("flagged", [True, False])
def test_all_that_a_run_of_tools_writes_is_known(
    kind: str, known: str, detail: str, flagged: bool
) -> None:
    words = load_templates().render(
        "tool_error.jinja", kind=kind, known=known, detail=detail, **SAID
    )
    ran = kind == "no_text"  # what it did is done, and is not to be done again
    assert failed(words.strip(), flagged=flagged) is not ran


def test_what_a_repair_writes_for_a_missing_result_is_known() -> None:
    words = load_templates().render("repair_note.jinja", kind="interrupted")
    assert failed(words.strip())


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
def test_what_others_write_is_as_they_flag_it(text: str) -> None:
    assert not failed(text)
    assert failed(text, flagged=True)


NAMES = ("charge", "look", "gone", "send")


def asked(shape: str) -> list[Any]:
    """Return a list with four calls of one step."""
    given = [(f"call_{n}", name) for n, name in enumerate(NAMES)]
    user: dict[str, Any] = {"role": "user", "content": "Pay."}
    if shape == "openai_responses":
        made = {"type": "function_call", "arguments": "{}"}
        return [user, *({**made, "call_id": id_, "name": name} for id_, name in given)]
    if shape == "anthropic":
        uses = [{"type": "tool_use", "id": id_, "name": name, "input": {}} for id_, name in given]
        return [user, {"role": "assistant", "content": uses}]
    if shape == "bedrock":
        uses = [{"toolUse": {"toolUseId": id_, "name": name, "input": {}}} for id_, name in given]
        return [
            {"role": "user", "content": [{"text": "Pay."}]},
            {"role": "assistant", "content": uses},
        ]
    if shape == "gemini":
        uses = [{"functionCall": {"id": id_, "name": name, "args": {}}} for id_, name in given]
        return [{"role": "user", "parts": [{"text": "Pay."}]}, {"role": "model", "parts": uses}]
    calls: list[Any] = [{"function": {"name": name, "arguments": {}}} for _, name in given]
    if shape != "ollama":
        calls = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": "{}"}}
            for id_, name in given
        ]
    return [user, {"role": "assistant", "content": "", "tool_calls": calls}]


@pytest.mark.parametrize("reloaded", [False, True])
@pytest.mark.parametrize(
    "shape",
    ["openai_chat", "mistral", "openai_responses", "ollama", "anthropic", "bedrock", "gemini"],
)
def test_a_call_that_was_answered_with_a_failure_has_failed(shape: str, reloaded: bool) -> None:
    """In all shapes alike, for the context that answered and for a fresh one, in the prompt too."""

    def charge() -> None:
        raise RuntimeError("declined")

    ctx = ChatContext(asked(shape), shape=shape)
    run = ctx.run_tool_calls({"charge": charge, "look": lambda: "3", "send": object})
    assert [answer.failed for answer in run.answers] == [True, False, True, True]
    if reloaded:
        ctx = ChatContext(json.loads(json.dumps(ctx.items)), shape=shape)
    calls = ctx.tool_calls()
    assert [call.status for call in calls] == ["failed", "completed", "failed", "completed"]
    assert all(call.completed for call in calls)
    seen = [step.failed for step in ctx.steps() if step.kind == "observation"]
    assert seen == [True, False, True, False]
    ctx.append(asked(shape)[0])
    prompt = ctx.plan(keep_last_turns=1).prompt
    assert prompt is not None
    assert prompt.user.count('status="failed"') == 2


@pytest.mark.parametrize(
    "shape", ["openai_chat", "mistral", "openai_responses", "anthropic", "bedrock", "gemini"]
)
def test_a_call_that_a_repair_answered_has_failed(shape: str) -> None:
    ctx = ChatContext(asked(shape), shape=shape)
    ctx.repair()
    assert [call.status for call in ctx.tool_calls()] == ["failed"] * len(NAMES)
