"""The README's examples run as printed, and what it says of options and errors is so."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from validator import validate

import chatfold
from chatfold import ChatContext, SummaryOptions
from chatfold.shapes import SHAPES

Item = dict[str, Any]

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
SUMMARY = "Facts: on Monday the disk of db-2 was full."
BETA = "thinking-binding-controls-2026-08-01"
UNBOUND = "Invalid `signature` in `thinking` block. The block is bound to a different conversation"


def blocks(language: str) -> list[str]:
    """Return the README's fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


class Model(ThreadingHTTPServer):
    """A model behind all three APIs, which refuses every list that its provider would refuse.

    Asked with tools, it calls `read_log` for the day in the user's question, and answers when it
    has the result. Asked without tools, it writes a summary. Anthropic's thinking is signed over
    the messages before it, as newer Claude models do.

    Attributes:
        asked: The bodies of the requests with tools, in order.
        prompts: What the summarizer was asked.
        refused: What was refused, in the provider's or the validator's words.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Item] = []
        self.prompts: list[str] = []
        self.refused: list[str] = []
        self.numbers = itertools.count(1)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str, body: Item, betas: str) -> Item | str:
        """Return the body of an answer, or why the request is refused."""
        shape, key, write = {
            "/v1/chat/completions": ("openai_chat", "messages", self._chat),
            "/v1/responses": ("openai_responses", "input", self._response),
            "/v1/messages": ("anthropic", "messages", self._message),
        }[path.partition("?")[0]]
        if "tools" not in body:
            asked = json.dumps(body[key])
            self.prompts.append(asked)
            return write(body, [], None)
        self.asked.append(body)
        items: list[Item] = body[key]
        wrong = validate(items, shape)
        if wrong:
            return str(wrong[0])
        if shape == "anthropic" and not self._is_bound(items) and not _drops(body, betas):
            return UNBOUND
        question = next(
            i
            for i in reversed(items)
            if isinstance(i.get("content"), str) and i.get("role") == "user"
        )
        day = question["content"].rstrip("?").rpartition(" ")[2]
        return write(body, items, None if "role" not in items[-1] or _is_result(items[-1]) else day)

    def _chat(self, body: Item, items: list[Item], day: str | None) -> Item:
        message: Item = {"role": "assistant", "content": None if day else _text(body)}
        if day:
            function = {"name": "read_log", "arguments": json.dumps({"day": day})}
            call = {"id": f"call_{next(self.numbers)}", "type": "function", "function": function}
            message["tool_calls"] = [call]
        ended = "tool_calls" if day else "stop"
        choice = {"index": 0, "message": message, "finish_reason": ended, "logprobs": None}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        made = {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"]}
        return {**made, "choices": [choice], "usage": usage}

    def _response(self, body: Item, items: list[Item], day: str | None) -> Item:
        number = next(self.numbers)
        output: list[Item] = []
        if items:
            sealed = {"summary": [], "encrypted_content": "c2VhbGVk" * 40}
            output.append({"id": f"rs_{number}", "type": "reasoning", **sealed})
        if day:
            call = {"name": "read_log", "arguments": json.dumps({"day": day})}
            ids = {"id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
            output.append({"type": "function_call", **ids, **call})
        else:
            text = {"type": "output_text", "text": _text(body), "annotations": []}
            said = {"role": "assistant", "status": "completed", "content": [text]}
            output.append({"id": f"msg_{number}", "type": "message", **said})
        made = {"id": "r", "object": "response", "created_at": 1, "model": body["model"]}
        rest = {
            "status": "completed",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        return {**made, **rest, "output": output, "error": None}

    def _message(self, body: Item, items: list[Item], day: str | None) -> Item:
        content: list[Item] = []
        if items:
            thought = {"thinking": "The log will tell.", "signature": _signature(items)}
            content.append({"type": "thinking", **thought})
        if day:
            ids = {"id": f"toolu_{next(self.numbers)}", "name": "read_log"}
            content.append({"type": "tool_use", **ids, "input": {"day": day}})
        else:
            content.append({"type": "text", "text": _text(body)})
        made = {"id": "m", "type": "message", "role": "assistant", "model": body["model"]}
        ended = {"stop_reason": "tool_use" if day else "end_turn", "stop_sequence": None}
        return {
            **made,
            **ended,
            "content": content,
            "usage": {"input_tokens": 9, "output_tokens": 9},
        }

    def _is_bound(self, items: list[Item]) -> bool:
        return all(
            block["signature"] == _signature(items[:index])
            for index, item in enumerate(items)
            if isinstance(item["content"], list)
            for block in item["content"]
            if block["type"] == "thinking"
        )


class _Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = self.server.answer(self.path, body, self.headers.get("anthropic-beta", ""))
        status = 200
        if isinstance(answer, str):
            self.server.refused.append(answer)
            error = {"type": "invalid_request_error", "message": answer}
            status, answer = 400, {"type": "error", "error": error}
        raw, kind = json.dumps(answer).encode(), "application/json"
        if body.get("stream") and status == 200:
            raw, kind = _events(answer), "text/event-stream"
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _events(response: Item) -> bytes:
    """Return a response as the server-sent events of its stream."""
    made: list[Item] = [{"type": "response.created", "response": {**response, "output": []}}]
    for index, item in enumerate(response["output"]):
        place = {"output_index": index, "item_id": item["id"], "content_index": 0, "logprobs": []}
        made.append({"type": "response.output_item.added", "item": item, **place})
        for part in item.get("content", ()):
            words = [{"delta": f"{word} ", **place} for word in part["text"].split(" ")]
            made += [{"type": "response.output_text.delta", **word} for word in words]
        made.append({"type": "response.output_item.done", "item": item, **place})
    made.append({"type": "response.completed", "response": response})
    numbered = ({**event, "sequence_number": number} for number, event in enumerate(made))
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in numbered).encode()


def _is_result(item: Item) -> bool:
    content = item.get("content")
    return item["role"] == "tool" or (
        isinstance(content, list) and content[0].get("type") == "tool_result"
    )


def _text(body: Item) -> str:
    return "The disk of db-2 was full." if "tools" in body else SUMMARY


def _signature(items: list[Item]) -> str:
    return hashlib.sha256(json.dumps(items).encode()).hexdigest()


def _drops(body: Item, betas: str) -> bool:
    binding = body.get("thinking", {}).get("block_binding", {})
    return BETA in betas and binding.get("prefix_mismatch_behavior") == "drop_block"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """A running model; clients that are made without arguments talk to it."""
    with Model() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.origin}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.origin)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def execute(code: str, **names: Any) -> Item:
    """Run a block as a program of its own, and return its names."""
    namespace: Item = {"__name__": "__main__", **names}
    exec(compile(code, "README.md", "exec"), namespace)
    return namespace


# The examples

SHORT, *LOOPS, STREAM, STORED, TURNS, APPENDED, HOST = blocks("python")
LISTS = {"openai_chat": "messages", "openai_responses": "items", "anthropic": "messages"}


def test_there_is_an_example_of_three_lines_and_a_loop_for_each_of_three_providers() -> None:
    """The short one has three lines, each loop about twenty, and three providers have one."""
    assert len(SHORT.splitlines()) == 3
    assert len(LOOPS) == len(LISTS)
    assert all(18 <= len([line for line in loop.splitlines() if line]) <= 28 for loop in LOOPS)


def test_the_three_lines_fold_the_list(model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    """With a list and a client of the reader's own, the three lines print the outcome."""
    from openai import OpenAI

    messages: list[Item] = [{"role": "system", "content": "You are on call for a web shop."}]
    for turn in range(4):
        messages.append({"role": "user", "content": f"What broke on day {turn}?"})
        messages.append({"role": "assistant", "content": "The disk of db-2. " * 50})
    tail = messages[5:]
    with OpenAI() as client:
        execute(SHORT, messages=messages, client=client)
    assert capsys.readouterr().out.startswith("summarized 4 items: ")
    assert len(messages) == 6
    assert all(new is old for new, old in zip(messages[2:], tail, strict=True))
    assert SUMMARY in messages[1]["content"]


def test_the_stream_prints_the_answer_and_records_it(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words are printed as they come, and the list ends with the answer, ready to be sent."""
    names = execute(STREAM)
    assert capsys.readouterr().out.split() == f"{SUMMARY} assistant".split()
    assert validate(names["items"], "openai_responses") == []
    assert names["ctx"].check() == []


def test_the_store_finds_and_gives_back_what_was_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The question is found by its id, and a second context takes the fold back."""
    monkeypatch.chdir(tmp_path)
    names = execute(STORED)
    found, undone = capsys.readouterr().out.splitlines()
    assert "Where is order LK-4821936?" in found
    assert undone.startswith("undone: ")
    assert [item["role"] for item in names["messages"]] == ["user", "assistant", "user"]


def test_the_policy_folds_again_and_again(model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    """Thirty turns, a few folds, and what is sent stays below the trigger."""
    names = execute(TURNS)
    printed = capsys.readouterr().out.splitlines()
    assert 2 <= len(printed) <= 8
    assert all(line.startswith("summarized ") for line in printed)
    assert len(model.prompts) == 30 + len(printed)  # without tools, both kinds of request are there
    assert max(map(len, model.prompts)) < 20_000
    assert names["ctx"].load().tokens < 3_500
    assert names["ctx"].check() == []


def test_append_mode_repeats_the_live_request(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole list goes out with a question behind it, and then the folded one."""
    names = execute(APPENDED)
    assert capsys.readouterr().out.strip() == "append"
    assert len(model.prompts) == 2
    assert len(json.loads(model.prompts[0])) == 21
    assert len(names["messages"]) == 5


def test_the_host_keeps_its_history_and_sends_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eighty messages, and a list of a few for the model."""
    monkeypatch.chdir(tmp_path)
    names = execute(HOST)
    total, sent, *_ = capsys.readouterr().out.split()
    assert int(total) == len(names["history"]) == 80
    assert int(sent) == len(names["folded"].items) < 30


@pytest.mark.parametrize(("loop", "shape"), list(zip(LOOPS, LISTS, strict=True)), ids=list(LISTS))
def test_each_loop_runs_folds_and_sends_only_valid_lists(
    model: Model, capsys: pytest.CaptureFixture[str], loop: str, shape: str
) -> None:
    """Three questions, three tool calls, one fold; the server refuses nothing."""
    names = execute(loop)
    printed = capsys.readouterr().out.splitlines()
    assert model.refused == []
    assert printed.count("The disk of db-2 was full.") == 3
    (outcome,) = (line for line in printed if line.startswith("summarized "))
    assert outcome.endswith(" s")
    assert len(model.asked) == 6
    (prompt,) = model.prompts
    assert "Monday: ERROR disk full on db-2" in prompt
    assert "Tuesday: ERROR" not in prompt
    sent = json.dumps(model.asked[-1])
    assert SUMMARY in sent
    assert "Monday: ERROR" not in sent
    assert "Tuesday: ERROR" in sent
    items = names[LISTS[shape]]
    assert names["ctx"].items is items
    assert names["ctx"].shape.name == shape
    assert names["ctx"].check() == []


def test_the_anthropic_loop_needs_the_request_options(model: Model) -> None:
    """Without them the server refuses the thinking behind the summary, as the README says."""
    loop = LOOPS[2].replace(", **ctx.request_options()", "")
    assert loop != LOOPS[2]
    with pytest.raises(Exception, match="bound to a different conversation"):
        execute(loop)
    assert model.refused == [UNBOUND]


# The commands


def test_the_commands_stand_in_blocks_of_their_own() -> None:
    """CI takes its test command from here, and newcomers their first one."""
    found = [block.strip() for block in blocks("bash")]
    assert found[:3] == [
        'pip install ".[cli]" && chatfold demo',
        'pip install "chatfold[cli]" && chatfold demo',
        'pip install -e ".[test]" && pytest',
    ]


# The errors

CALL = {"id": "call_x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"role": "tool", "tool_call_id": "call_x", "content": "1"}
FUNCTION_CALL = {"type": "function_call", "call_id": "call_x", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_x", "output": "1"}
REASONING = {"type": "reasoning", "id": "rs_x", "summary": []}
USE = {"type": "tool_use", "id": "toolu_x", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_x", "content": "1"}
USER = {"role": "user", "content": "hi"}
SAID = {"role": "assistant", "content": "hello"}
ASKED = {"type": "message", "role": "user", "content": "hi"}

BROKEN: list[tuple[str, str, list[Item]]] = [
    ("openai_chat", "orphan_result", [USER, ANSWER]),
    ("openai_chat", "late_result", [CALLING, USER, ANSWER]),
    ("openai_chat", "unanswered_call", [CALLING, USER]),
    ("openai_responses", "orphan_result", [ASKED, OUTPUT]),
    ("openai_responses", "unanswered_call", [FUNCTION_CALL, ASKED]),
    ("openai_responses", "reasoning_without_follower", [REASONING, ASKED]),
    ("openai_responses", "duplicate_item", [REASONING, FUNCTION_CALL, OUTPUT, REASONING, SAID]),
    ("anthropic", "orphan_result", [{"role": "user", "content": [RESULT]}]),
    ("anthropic", "unanswered_call", [{"role": "assistant", "content": [USE]}, USER]),
    (
        "anthropic",
        "duplicate_result",
        [{"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT, RESULT]}],
    ),
    (
        "anthropic",
        "call_id_form",
        [
            USER,
            {"role": "assistant", "content": [{**USE, "id": "a|b"}]},
            {"role": "user", "content": [{**RESULT, "tool_use_id": "a|b"}]},
        ],
    ),
    ("anthropic", "first_role", [SAID, USER]),
    ("anthropic", "whole_response", [USER, {**SAID, "type": "message", "id": "msg_1"}]),
    ("anthropic", "blank_text", [{"role": "user", "content": [{"type": "text", "text": " "}]}]),
]


@pytest.mark.parametrize(("shape", "rule", "items"), BROKEN, ids=[f"{b[0]}-{b[1]}" for b in BROKEN])
def test_each_error_of_the_table_is_what_check_quotes(
    shape: str, rule: str, items: list[Item]
) -> None:
    """The README's text is the one that `check()` gives for such a list, under that rule."""
    problems = ChatContext(list(items), shape=shape).check()
    (said,) = {p.provider_error for p in problems if p.rule == rule}
    rows = [line for line in README.splitlines() if f"`{rule}`" in line]
    assert any(said in row for row in rows), said


def test_the_table_of_errors_names_every_list_of_this_test() -> None:
    """No row is left without a list that shows it, but the one about request options."""
    table = README.partition("| its words (400) |")[2].partition("\n\n")[0]
    rules = [
        rule
        for row in table.splitlines()[2:]
        for rule in re.findall(r"`(\w+)`", row.rpartition(" | ")[2])
    ]
    assert len(rules) == len(BROKEN)
    assert set(rules) == {rule for _, rule, _ in BROKEN}


# What there is


def test_every_option_and_every_error_is_named() -> None:
    """Options of the context and of the calls, and all error classes, stand in the README."""
    options = {*SummaryOptions.__annotations__}
    for function in (ChatContext.__init__, ChatContext.plan):
        options |= {
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
    errors = {name for name in chatfold.__all__ if name.endswith("Error")}
    missing = {name for name in options | errors if not re.search(rf"\b{name}\b", README)}
    assert missing == set()


def test_every_shape_has_a_row() -> None:
    """The table of shapes is complete."""
    for shape in SHAPES:
        assert f"\n| `{shape.name}` |" in README
