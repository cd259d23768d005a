"""Telemetry exports nothing of the conversation unless it is asked to."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from each_turn import Model, context, failing, turn
from logs import records
from telemetry_backend import (
    BACKGROUND,
    Backend,
    attributes,
    backend,
    begun,
    no_span_is_left_behind,
)

from chatfold import ChatContext, Completion, Prompt, SummaryError, Usage
from chatfold.policy import Policy
from chatfold.stores import MemoryStore

__all__ = ["backend", "no_span_is_left_behind"]


SECRETS = {
    "system": "zqsystem",
    "said": "zquser",
    "answered": "zqanswer",
    "tool": "zqtool",
    "call": "zqcall",
    "argument": "zqargument",
    "result": "zqresult",
    "summary": "zqsummary",
    "message": "zqerror",
    "key": "zqkey",
    "open": "zqopen",
    "instructions": "zqinstructions",
    "kind": "zqkind",
}


def _secret_items() -> list[Any]:
    """Return a history in which each text holds a word of its own."""
    items: list[Any] = [{"role": "system", "content": SECRETS["system"] + " rules"}]
    for number in range(6):
        call = {"name": SECRETS["tool"], "arguments": json.dumps({"id": SECRETS["argument"]})}
        name = f"{SECRETS['call']}{number}"
        items += [
            {"role": "user", "content": f"{SECRETS['said']} never call me {number} " + "w " * 200},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": name, "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": name, "content": SECRETS["result"] + " w" * 200},
            {"role": "assistant", "content": f"{SECRETS['answered']} {number}"},
        ]
    items.insert(3, {"role": SECRETS["kind"], "content": "of an unknown kind"})
    return items


def _open_call() -> Any:
    call = {"name": SECRETS["open"], "arguments": "{}"}
    calls = [{"id": SECRETS["open"], "type": "function", "function": call}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _answers(prompt: Prompt) -> Completion:
    text = f"The {SECRETS['summary']} stands.\n\nShe was paid 99.00 EUR on 2031-01-01."
    return Completion(text, usage=Usage(9, 9))


def _raises(prompt: Prompt) -> Completion:
    try:
        raise OSError(SECRETS["message"])
    except OSError as error:
        raise failing() from error


def _refuses(prompt: Prompt) -> Completion:
    return Completion("", refusal=SECRETS["message"], usage=Usage(9, 9))


@pytest.mark.parametrize("model", [_answers, _raises, _refuses])
@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize("grounding", ["drop", "refuse", "report"])
def test_nothing_of_the_conversation_is_exported(
    model: Callable[[Prompt], Completion], blocked: bool, grounding: Any, backend: Backend
) -> None:
    """Neither in a span nor in a metric, nor in the log that may be exported too."""
    items = _secret_items()
    if blocked:
        items += [{"role": "user", "content": SECRETS["said"]}, _open_call()]
    with records() as logged:
        ctx: ChatContext[Any] = ChatContext(
            items,
            shape="openai_chat",
            store=MemoryStore(),
            key=SECRETS["key"],
            on_event=backend.telemetry(),
            instructions=SECRETS["instructions"],
            grounding=grounding,
        )
        with suppress(SummaryError):
            ctx.summarize(model, keep_last_turns=0)
    span = backend.fold()
    told = attributes(span)
    assert told["chatfold.tokens.before"] > 1_000
    folded = model is _answers and grounding != "refuse"
    assert told["chatfold.reason"] == ("summarized" if folded else "failed")
    assert told["chatfold.blocked_calls"] == (1 if folded and blocked else 0)
    out = span.to_json() + backend.measured()
    out += "\n".join(r.getMessage() for r in logged if r.name == "chatfold")
    assert "chatfold.folds" in out
    assert [name for name, word in SECRETS.items() if word in out] == []
    assert "99.00" not in out


@BACKGROUND
@pytest.mark.parametrize("model", [_answers, _raises])
def test_nor_is_it_in_the_background(
    way: str, model: Callable[[Prompt], Completion], backend: Backend
) -> None:
    policy = Policy(max_tokens=1_000, keep_tokens=300)
    ctx: ChatContext[Any] = ChatContext(
        _secret_items(), shape="openai_chat", policy=policy, on_event=backend.telemetry()
    )
    begun(ctx, way, model)
    assert ctx.background is not None
    assert ctx.background.wait(20)
    ctx.background.apply_if_ready()
    out = backend.fold().to_json() + backend.measured()
    assert [name for name, word in SECRETS.items() if word in out] == []


def test_content_is_exported_where_it_is_asked_for(backend: Backend) -> None:
    """The summary, as the conventions write a model's messages; what an error says."""
    ctx = context(10, on_event=backend.telemetry(content=True))
    outcome = ctx.summarize(lambda prompt: "short")
    messages = json.loads(attributes(backend.fold())["gen_ai.output.messages"])
    (part,) = messages[0].pop("parts")
    assert messages == [{"role": "assistant", "finish_reason": "stop"}]
    assert part == {"type": "text", "content": outcome.summary}
    backend.exporter.clear()
    ctx.extend([item for n in range(10) for item in turn(n)])
    with pytest.raises(Exception, match="secret words"):
        ctx.summarize(Model(error=failing()))
    assert backend.fold().status.description == "secret words of a server"


def test_what_is_exported_can_be_sent(backend: Backend) -> None:
    """An exporter drops all spans of a batch where one holds half of a surrogate pair."""
    telemetry = backend.telemetry(content=True, conversation_id=True)
    ctx = context(10, store=MemoryStore(), key="cut \ud83d", on_event=telemetry)
    with pytest.raises(SummaryError):
        ctx.summarize(Model(error=ConnectionError("cut \ud83d")))
    assert backend.fold().status.description == "the summarizer: ConnectionError: cut \\ud83d"
    assert attributes(backend.fold())["gen_ai.conversation.id"] == "cut \\ud83d"
    backend.fold().to_json().encode()


def test_an_error_that_cannot_be_told_is_an_error(backend: Backend) -> None:
    """Its own `__str__` fails; the span and the metrics still say that the fold did."""

    class MuteError(Exception):
        def __str__(self) -> str:
            raise KeyError("no words")

    def redact(text: str) -> str:
        raise MuteError

    ctx = context(10, on_event=backend.telemetry(content=True), redact=redact)
    with pytest.raises(MuteError):
        ctx.summarize(Model())
    span = backend.fold()
    assert (span.status.status_code.name, span.status.description) == ("ERROR", "")
    assert "chatfold.folds" in backend.measured()


@pytest.mark.parametrize("asked_for", [False, True])
def test_a_key_is_exported_where_it_is_asked_for(asked_for: bool, backend: Backend) -> None:
    """On the span, never as a dimension of a metric, of which there would be too many."""
    telemetry = backend.telemetry(conversation_id=asked_for)
    context(10, store=MemoryStore(), key="zqkey", on_event=telemetry).summarize(Model())
    assert attributes(backend.fold()).get("gen_ai.conversation.id") == (
        "zqkey" if asked_for else None
    )
    assert "zqkey" not in backend.measured()
