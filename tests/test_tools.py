"""Running open tool calls: exactly one result for each, whatever the tools do."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import json
import logging
import os
import signal
import threading
import uuid
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from anthropic.types import ToolUseBlock
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall
from pydantic import BaseModel, SecretStr
from strategies import texts
from validator import normalise, validate

from chatfold import ChatContext, TemplateError, ToolCallRecord
from chatfold.core.arguments import parsed_object
from chatfold.core.calls import pair_calls
from chatfold.shapes import shape_named
from chatfold.templates import load_templates
from chatfold.tools import Run, Tool, arun_calls, run_calls

# A coroutine that nobody awaited, or an error that nobody retrieved, fails the test.
pytestmark = pytest.mark.filterwarnings("error")

SHAPES = ("openai_chat", "openai_responses", "anthropic")
WAYS = ("sync", "async")
every_shape = pytest.mark.parametrize("shape", SHAPES)
both_ways = pytest.mark.parametrize("way", WAYS)
LONG = 60.0  # seconds; a limit that no test reaches


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind() -> None:
    """Collect what tests elsewhere left, such as a client that nobody closed: it warns then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


class Wanted(NamedTuple):
    """A call that a model makes; the arguments are what it wrote."""

    name: str
    arguments: str = "{}"
    id: str | None = ""
    custom: bool = False


def asked(shape: str, wanted: Sequence[Wanted]) -> list[Any]:
    """Return a user's message and a step with these calls, as SDK objects but for custom ones."""
    user = {"role": "user", "content": "Please do it."}
    ids = [f"call_{n}" if call.id == "" else call.id for n, call in enumerate(wanted)]
    named = list(zip(wanted, ids, strict=True))
    if shape == "openai_chat":
        calls = [
            {"id": i, "type": "custom", "custom": {"name": c.name, "input": c.arguments}}
            if c.custom
            else {
                "id": i,
                "type": "function",
                "function": {"name": c.name, "arguments": c.arguments},
            }
            for c, i in named
        ]
        return [user, ChatCompletionMessage.construct(role="assistant", tool_calls=calls)]
    if shape == "anthropic":
        blocks = [_tool_use(c, i) for c, i in named]
        return [user, {"role": "assistant", "content": blocks}]
    return [
        user,
        *(
            {"type": "custom_tool_call", "call_id": i, "name": c.name, "input": c.arguments}
            if c.custom
            else ResponseFunctionToolCall.construct(
                type="function_call", call_id=i, name=c.name, arguments=c.arguments
            )
            for c, i in named
        ),
    ]


def _tool_use(call: Wanted, id_: str | None) -> Any:
    """Return Anthropic's block; arguments that are no object are wrapped, as in a stream."""
    written = parsed_object(call.arguments)
    fields = {"type": "tool_use", "id": id_, "name": call.name, "input": written}
    return ToolUseBlock.construct(**fields) if id_ else fields


class Delivered(list[Run]):
    """What was delivered, and whether anything was raised before."""

    @property
    def run(self) -> Run:
        (run,) = self
        return run

    @property
    def results(self) -> list[str]:
        return [answer.text for answer in self.run.answers]

    @property
    def failed(self) -> list[bool]:
        return [answer.failed for answer in self.run.answers]


def open_calls(items: list[Any], shape: str) -> list[ToolCallRecord]:
    return [c for c in ChatContext(items, shape=shape).tool_calls() if c.status == "open"]


def perform(
    way: str,
    wanted: Sequence[Wanted | str],
    tools: Mapping[str, Tool],
    *,
    shape: str = "openai_chat",
    items: list[Any] | None = None,
    delivered: Delivered | None = None,
    templates: Any = None,
    **options: Any,
) -> Delivered:
    """Run calls and put what answers them into the list, as a context does."""
    delivered = Delivered() if delivered is None else delivered
    calls = [Wanted(call) if isinstance(call, str) else call for call in wanted]
    history = asked(shape, calls) if items is None else items
    native = shape_named(shape)

    def deliver(run: Run) -> None:
        delivered.append(run)
        history.extend(native.answer_items(run.answers))

    given_ = {"shape": native, "templates": load_templates(templates), "deliver": deliver}
    found = open_calls(history, shape)
    if way == "sync":
        options.pop("max_concurrency", None)
        returned = run_calls(found, tools, **given_, **options)
    else:
        returned = asyncio.run(arun_calls(found, tools, **given_, **options))
    assert returned is delivered.run
    return delivered


def result_ids(items: list[Any]) -> list[str]:
    """Return the call ids of all results, read without chatfold."""
    found: list[str] = []
    for item in map(normalise, items):
        found += [item[key] for key in ("tool_call_id",) if key in item]
        if str(item.get("type", "")).endswith("_output"):
            found.append(item["call_id"])
        if isinstance(item.get("content"), list):
            found += [b["tool_use_id"] for b in item["content"] if b["type"] == "tool_result"]
    return found


# --- one failure of each kind ---------------------------------------------------------------------


class Broken:
    """A tool whose dispatch fails."""

    @property
    def invoke(self) -> Any:
        raise LookupError("no connection")


class Unprintable:
    """A result that fails when it is looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("cannot be shown")


def get_order(order: str) -> dict[str, Any]:
    return {"order": order, "total": 12.5}


async def aget_order(order: str) -> dict[str, Any]:
    await asyncio.sleep(0)
    return get_order(order)


def _raises(error: BaseException) -> Callable[[], None]:
    def tool() -> None:
        raise error

    return tool


async def _yields() -> AsyncIterator[str]:
    yield "a word"


def _araises(error: BaseException) -> Callable[[], Awaitable[None]]:
    async def tool() -> None:
        raise error

    return tool


ORDER = '{"order": "LK-20417"}'
GOOD = '{"order": "LK-20417", "total": 12.5}'
LATE = "It is unknown whether"

# Each failure: the call, and what its result has to say.
FAILURES: tuple[tuple[Wanted, str], ...] = (
    (Wanted("nobody", ORDER), 'no tool named "nobody"'),
    (Wanted("nobody", ORDER), "ahanging, araising, broken, cancelled"),
    (Wanted("get_order", '{"order": "LK'), "not JSON"),
    (Wanted("get_order", "[1, 2]"), "one JSON object, not an array"),
    (Wanted("get_order", "3"), "one JSON object, not a number"),
    (Wanted("get_order", "{}"), "missing a required argument: 'order'"),
    (Wanted("aget_order", '{"order": "a", "size": 3}'), "unexpected keyword argument 'size'"),
    (Wanted("raising"), "The tool failed: KeyError: 'LK'"),
    (Wanted("araising"), "The tool failed: ValueError: no such order"),
    (Wanted("grouped"), "ValueError: one; TypeError: two"),
    (Wanted("broken"), "The tool failed: LookupError: no connection"),
    (Wanted("unprintable"), "could not be turned into text: RuntimeError: cannot be shown"),
    (Wanted("endless"), "could not be turned into text: TypeError: builtins.generator"),
    (Wanted("aendless"), "could not be turned into text: TypeError: builtins.async_generator"),
    (Wanted("stopping"), "The tool failed: StopIteration: done"),
    (Wanted("exiting"), "The tool failed: SystemExit: 3"),
    (Wanted("aexiting"), "The tool failed: SystemExit: 4"),
    (Wanted("cancelled"), LATE),
    (Wanted("acancelled"), LATE),
    (Wanted("hanging"), f"within 1.5 seconds. {LATE}"),
)


@contextmanager
def tools_that_fail() -> Iterator[dict[str, Tool]]:
    """Give tools that fail in every way, and let the hanging ones end afterwards."""
    release = threading.Event()

    async def ahanging() -> None:
        await asyncio.Event().wait()

    yield {
        "get_order": get_order,
        "aget_order": aget_order,
        "raising": _raises(KeyError("LK")),
        "araising": _araises(ValueError("no such order")),
        "grouped": _araises(ExceptionGroup("", [ValueError("one"), TypeError("two")])),
        "broken": Broken(),
        "unprintable": Unprintable,
        "endless": lambda: (n for n in range(3)),
        "aendless": _yields,
        "stopping": _raises(StopIteration("done")),
        "exiting": _raises(SystemExit(3)),
        "aexiting": _araises(SystemExit(4)),
        "cancelled": _raises(asyncio.CancelledError()),
        "acancelled": _araises(asyncio.CancelledError()),
        "hanging": lambda: release.wait(LONG),
        "ahanging": ahanging,
    }
    release.set()


@every_shape
@both_ways
def test_each_kind_of_failure_is_one_calls_own(shape: str, way: str) -> None:
    """In one batch each kind of failure gives one error result, and the others keep theirs."""
    healthy = [Wanted("get_order", ORDER), Wanted("aget_order", ORDER)]
    wanted = [healthy[0], *(call for call, _ in FAILURES), healthy[1]]
    items = asked(shape, wanted)
    with tools_that_fail() as tools:
        done = perform(way, wanted, tools, shape=shape, items=items, timeout=1.5)
    assert done.failed == [False, *([True] * len(FAILURES)), False]
    assert [done.results[0], done.results[-1]] == [GOOD, GOOD]
    for text, (_, words) in zip(done.results[1:-1], FAILURES, strict=True):
        assert words in text
    assert result_ids(items) == [f"call_{n}" for n in range(len(wanted))]
    assert validate(items, shape, strict=True) == []
    assert not [p for p in ChatContext(items, shape=shape).check() if p.severity == "error"]
    calls = ChatContext(items, shape=shape).tool_calls()
    assert all(c.completed for c in calls)
    assert [c.result for c in calls] == done.results
    assert done.run.not_handled == ()


@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses"])
@both_ways
def test_a_custom_call_gets_its_text_as_it_is(shape: str, way: str) -> None:
    """A free-text call goes to the callable of its name with the text as its one argument."""
    wanted = [
        Wanted("run", '{"not": "parsed"', custom=True),
        Wanted("invoked", "", custom=True),
        Wanted("nothing", "x", custom=True),
    ]
    tools: dict[str, Tool] = {
        "run": lambda text: f"<{text}>",
        "invoked": SimpleNamespace(invoke=lambda text: f"[{text}]"),
        "nothing": lambda: "",
    }
    items = asked(shape, wanted)
    done = perform(way, wanted, tools, shape=shape, items=items)
    assert done.results[:2] == ['<{"not": "parsed">', "[]"]
    assert "too many positional arguments" in done.results[2]
    assert done.failed == [False, False, True]
    assert validate(items, shape, strict=True) == []


def test_anthropic_answers_are_one_message_in_call_order() -> None:
    """All results of a step stand in one user message, the failed ones marked."""
    items = asked("anthropic", [Wanted("get_order", ORDER), Wanted("nobody"), Wanted("empty")])
    perform("async", [], {"get_order": get_order, "empty": str}, shape="anthropic", items=items)
    (message,) = items[2:]
    assert message["role"] == "user"
    blocks = message["content"]
    assert [b["tool_use_id"] for b in blocks] == ["call_0", "call_1", "call_2"]
    assert [b.get("is_error") for b in blocks] == [None, True, None]
    assert shape_named("anthropic").answer_items([]) == []


@both_ways
def test_asynchronous_calls_are_run_like_any(way: str) -> None:
    """A Responses call with `async` is answered too, also after a later user message."""
    call = {"type": "function_call", "call_id": "c", "name": "get_order", "arguments": ORDER}
    items = [{**call, "async": True}, {"role": "user", "content": "And?"}]
    done = perform(way, [], {"get_order": get_order}, shape="openai_responses", items=items)
    assert done.results == [GOOD]


@pytest.mark.parametrize("custom", [False, True])
@both_ways
def test_the_result_of_what_a_program_called_names_the_program(custom: bool, way: str) -> None:
    """Without its caller the server does not know which program goes on with a result."""
    by: dict[str, Any] = {"caller": {"type": "program", "caller_id": "p"}}
    program = {"type": "program", "id": "p_1", "call_id": "p", "code": "t()", "fingerprint": "f"}
    (call,) = asked("openai_responses", [Wanted("t", custom=custom)])[1:]
    nested = {**(call if custom else call.to_dict()), **by}
    direct = {**nested, "call_id": "call_1", "caller": {"type": "direct"}}
    items = [program, nested, direct]
    tools = {"t": lambda *words: "ok"}
    perform(way, [], tools, shape="openai_responses", items=items)
    assert [(i["call_id"], i.get("caller")) for i in items[3:]] == [
        ("call_0", by["caller"]),
        ("call_1", None),
    ]


@both_ways
def test_a_handoff_is_a_function_call(way: str) -> None:
    """A tool that hands over is called by its name."""
    done = perform(way, ["transfer_to_billing"], {"transfer_to_billing": lambda: "billing"})
    assert done.results == ["billing"]


@both_ways
def test_what_the_host_answers_is_reported_and_not_run(way: str) -> None:
    """Shell, computer, patch, search and program calls and approvals get no answer from here."""
    kinds = {
        "computer_call": {"action": {"type": "screenshot"}, "pending_safety_checks": []},
        "shell_call": {"action": {"commands": ["ls"]}},
        "local_shell_call": {"action": {"type": "exec", "command": ["ls"], "env": {}}},
        "apply_patch_call": {"operation": {"type": "delete_file", "path": "a"}},
        "tool_search_call": {"arguments": {}, "execution": "client"},
        "program": {"code": "1", "fingerprint": "f"},
    }
    items: list[Any] = [
        {"type": kind, "call_id": f"call_{n}", "id": f"x_{n}", **fields}
        for n, (kind, fields) in enumerate(kinds.items())
    ]
    items.append(
        {
            "type": "mcp_approval_request",
            "id": "m",
            "name": "f",
            "arguments": "{}",
            "server_label": "s",
        }
    )
    items.append({"type": "function_call", "call_id": "f", "name": "f", "arguments": "{}"})
    shape = shape_named("openai_responses")
    calls = pair_calls([view for item in items if (view := shape.read(item))])
    delivered = Delivered()
    ran: list[str] = []
    tools = dict.fromkeys(
        ["f", "shell", "computer", "local_shell", "apply_patch"], lambda: ran.append("f")
    )
    templates = load_templates()
    if way == "sync":
        run_calls(calls, tools, shape=shape, templates=templates, deliver=delivered.append)
    else:
        asyncio.run(
            arun_calls(calls, tools, shape=shape, templates=templates, deliver=delivered.append)
        )
    assert [a.call.id for a in delivered.run.answers] == ["f"]
    assert delivered.run.not_handled == tuple(calls[:-1])
    assert ran == ["f"]


@both_ways
def test_a_call_that_the_shape_cannot_answer_is_not_run(way: str) -> None:
    """Without an id Anthropic takes no result, so the tool does not act in vain."""
    ran: list[int] = []
    wanted = [Wanted("f", id=None), Wanted("f")]
    done = perform(way, wanted, {"f": lambda: ran.append(1)}, shape="anthropic")
    assert [a.call.id for a in done.run.answers] == ["call_1"]
    assert [c.id for c in done.run.not_handled] == [None]
    assert ran == [1]


@pytest.mark.parametrize("sdk", [False, True])
@both_ways
def test_a_call_of_a_toolset_is_the_hosts(sdk: bool, way: str) -> None:
    """Names of members are not reserved: a tool of that name is not what was called."""
    fields: dict[str, Any] = {"type": "tool_use", "name": "navigate", "input": {}}
    member = {**fields, "id": "toolu_1", "toolset_name": "browser"}
    blocks = [ToolUseBlock.construct(**member) if sdk else member, {**fields, "id": "toolu_2"}]
    items: list[Any] = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": blocks},
    ]
    done = perform(way, [], {"navigate": lambda: "mine"}, shape="anthropic", items=items)
    assert result_ids(items) == ["toolu_2"]
    assert [(c.id, c.toolset) for c in done.run.not_handled] == [("toolu_1", "browser")]
    ctx = ChatContext(items)
    assert ctx.repair()
    answered = {b["tool_use_id"]: b.get("toolset_name") for b in items[-1]["content"]}
    assert answered == {"toolu_1": "browser", "toolu_2": None}
    assert ctx.check() == []


def test_a_hosts_call_is_not_run_even_where_a_text_would_answer_it() -> None:
    """The kind decides, in a shape whose results all look alike too."""
    (call,) = open_calls(asked("openai_chat", [Wanted("t")]), "openai_chat")
    delivered, ran = Delivered(), list[int]()
    run_calls(
        [replace(call, kind="computer")],
        {"t": lambda: ran.append(1)},
        shape=shape_named("openai_chat"),
        templates=load_templates(),
        deliver=delivered.append,
    )
    assert (delivered.results, len(delivered.run.not_handled), ran) == ([], 1, [])


@both_ways
def test_without_calls_an_empty_run_is_delivered(way: str) -> None:
    """The callback is called once, with nothing."""
    assert perform(way, [], {}).run == ((), ())


# --- tools ----------------------------------------------------------------------------------------


class Shop:
    """Tools of many makes."""

    def get(self, order: str) -> str:
        return f"method {order}"

    async def aget(self, order: str) -> str:
        return f"async method {order}"

    def __call__(self, order: str) -> str:
        return f"object {order}"


class AsyncShop:
    async def __call__(self, order: str) -> str:
        return f"async object {order}"


class Invoked:
    """What LangChain's tools look like."""

    def invoke(self, arguments: dict[str, str]) -> str:
        return f"invoke {arguments}"

    async def ainvoke(self, arguments: dict[str, str]) -> str:
        return f"ainvoke {arguments}"

    def __call__(self, *_: Any) -> str:
        raise AssertionError("deprecated")


class OnlyAsync:
    async def ainvoke(self, arguments: dict[str, str]) -> str:
        return f"ainvoke {arguments}"


class Order(BaseModel):
    order: str

    def invoke(self, arguments: Any) -> str:
        raise AssertionError("this belongs to the instances")


def injected(function: Callable[..., str]) -> Callable[..., str]:
    """Add the first argument, as decorators that hand over a session do."""

    @functools.wraps(function)
    def wrapper(*args: Any, **named: Any) -> str:
        return function("session", *args, **named)

    return wrapper


@injected
def with_session(session: str, order: str) -> str:
    return f"{session} {order}"


def _two(shop: str, order: str) -> str:
    return f"{shop} {order}"


class Unsigned:
    """A callable whose signature cannot be had."""

    @property
    def __signature__(self) -> Any:
        raise AttributeError("none")

    def __call__(self, **named: str) -> str:
        return f"unsigned {named['order']}"


ARGUMENTS = {"order": "LK-20417"}
TOOLS: dict[str, tuple[Tool, str]] = {
    "function": (get_order, GOOD),
    "coroutine function": (aget_order, GOOD),
    "lambda": (lambda order: f"lambda {order}", "lambda LK-20417"),
    "lambda that makes a coroutine": (lambda order: aget_order(order), GOOD),
    "bound method": (Shop().get, "method LK-20417"),
    "async bound method": (Shop().aget, "async method LK-20417"),
    "partial": (functools.partial(_two, "shop"), "shop LK-20417"),
    "partial by keyword": (functools.partial(_two, shop="shop"), "shop LK-20417"),
    "async partial": (functools.partial(aget_order), GOOD),
    "callable object": (Shop(), "object LK-20417"),
    "async callable object": (AsyncShop(), "async object LK-20417"),
    "only ainvoke": (OnlyAsync(), f"ainvoke {ARGUMENTS}"),
    "only invoke": (SimpleNamespace(invoke=lambda d: f"invoke {d}"), f"invoke {ARGUMENTS}"),
    "class": (Order, ORDER),
    "built-in": (dict, ORDER),
    "decorator that adds an argument": (with_session, "session LK-20417"),
    "no signature": (Unsigned(), "unsigned LK-20417"),
}


@pytest.mark.parametrize("kind", TOOLS)
@pytest.mark.parametrize("timeout", [None, LONG])
@both_ways
def test_every_make_of_tool_is_called(kind: str, timeout: float | None, way: str) -> None:
    """Functions, methods, partials and objects, sync and async, get the arguments."""
    tool, expected = TOOLS[kind]
    done = perform(way, [Wanted("t", ORDER)], {"t": tool}, timeout=timeout)
    assert (done.results, done.failed) == ([expected], [False])


@both_ways
def test_an_object_with_both_methods_is_invoked_by_the_loops(way: str) -> None:
    """The asynchronous run prefers `ainvoke`, the other `invoke`; the object is never called."""
    done = perform(way, [Wanted("t", ORDER)], {"t": Invoked()})
    assert done.results == [f"{'invoke' if way == 'sync' else 'ainvoke'} {ARGUMENTS}"]


@pytest.mark.parametrize("text", ["", " \n", "{}"])
@both_ways
def test_no_arguments_may_be_written_as_nothing(text: str, way: str) -> None:
    """Some models write nothing at all for a tool without arguments."""

    @functools.wraps(lambda: None)
    def decorated(*args: Any, **named: Any) -> str:
        return "ok"

    bare = SimpleNamespace(args={}, invoke=lambda arguments: f"ok{arguments}")
    tools: dict[str, Tool] = {"t": lambda: "ok", "decorated": decorated, "bare": bare}
    wanted = [Wanted(name, text) for name in tools]
    done = perform(way, wanted, tools, shape="openai_responses")
    assert done.results == ["ok", "ok", "ok{}"]


@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses"])
@both_ways
def test_a_tool_with_parameters_is_not_called_without_arguments(
    shape: str, text: str, way: str
) -> None:
    """A limit may have cut the call off before its first one: defaults would be a guess."""
    ran: list[Any] = []

    def cancel_orders(order: str | None = None) -> None:
        ran.append(order)

    @functools.wraps(cancel_orders)
    def decorated(*args: Any, **named: Any) -> None:
        ran.append(named)

    class Unreadable:
        __signature__ = "none"

        def __call__(self, **named: Any) -> None:
            ran.append(named)

    tools: dict[str, Tool] = {
        "cancel_orders": cancel_orders,
        "decorated": decorated,
        "partial": functools.partial(cancel_orders, order=None),
        "named": lambda **named: ran.append(named),
        "unreadable": Unreadable(),
        "unknown": SimpleNamespace(invoke=ran.append),
        "known": SimpleNamespace(invoke=ran.append, args={"order": {"type": "string"}}),
    }
    wanted = [Wanted(name, text) for name in tools]
    done = perform(way, wanted, tools, shape=shape)
    assert done.failed == [True] * len(tools)
    assert all("write {}" in told for told in done.results)
    assert ran == []
    wanted = [Wanted(name, "{}") for name in tools]
    assert perform(way, wanted, tools, shape=shape).failed == [False] * len(tools)
    done = perform(way, [Wanted("get_order", text)], {"get_order": get_order}, shape=shape)
    assert "missing a required argument: 'order'" in done.results[0]


@pytest.mark.parametrize("arguments", ["", "{}", ORDER, '{"order": "LK'])
@pytest.mark.parametrize("custom", [False, True])
@both_ways
def test_a_call_whose_item_is_incomplete_is_not_run(arguments: str, custom: bool, way: str) -> None:
    """What the model wrote of it may be less than it meant, whatever it looks like."""
    ran: list[Any] = []
    items = asked("openai_responses", [Wanted("t", arguments, custom=custom)])
    items[1] = {**normalise(items[1]), "status": "incomplete"}
    calls = ChatContext(items, shape="openai_responses").tool_calls()
    assert [call.cut_off for call in calls] == [True]
    tools: dict[str, Tool] = {"t": lambda *words, **named: ran.append((words, named))}
    done = perform(way, [], tools, shape="openai_responses", items=items)
    assert done.failed == [True]
    assert "The call was cut off" in done.results[0]
    assert ran == []
    assert [c.cut_off for c in ChatContext(items, shape="openai_responses").tool_calls()] == [True]
    assert validate(items, "openai_responses", strict=True) == []


@pytest.mark.parametrize(
    "text",
    [
        *("null", "3", "true", "1.5", "[" * 99_999, "{'a': 1}", '{"a":1}{"b":2}'),
        *('{"amount": NaN}', '{"amount": [-Infinity]}'),
    ],
    ids=lambda text: text[:20],
)
@both_ways
def test_arguments_that_are_no_object_call_nothing(text: str, way: str) -> None:
    """Whatever else the model wrote, the tool is not called."""
    ran: list[Any] = []
    done = perform(way, [Wanted("t", text)], {"t": lambda **named: ran.append(named)})
    assert done.failed == [True]
    assert "arguments" in done.results[0]
    assert ran == []


@pytest.mark.parametrize("text", ['{"path": "a.txt", "te', "", "[1]", "{}"])
@both_ways
def test_wrapped_arguments_call_nothing(text: str, way: str) -> None:
    """What is wrapped so that it may be sent back is no argument of that name."""
    ran: list[Any] = []
    wanted = [Wanted("t", json.dumps({"INVALID_JSON": text}))] * 2
    tools: dict[str, Tool] = {"t": lambda **named: ran.append(named)}
    items = asked("anthropic", wanted)
    done = perform(way, [], tools, shape="anthropic", items=items)
    invoked: dict[str, Tool] = {"t": SimpleNamespace(invoke=ran.append)}
    done_too = perform(way, wanted, invoked)
    assert done.failed == done_too.failed == [True, True]
    assert all("arguments" in told for told in done.results + done_too.results)
    assert ran == []


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([get_order], "mapping of tool names"),
        ({"get_order": get_order, "bad": 3}, "'bad'.*int"),
        ({"bad": None}, "'bad'.*NoneType"),
        ({get_order: get_order}, "must be text"),
        ({"bad": SimpleNamespace(invoke=3)}, "'bad'"),
    ],
)
@both_ways
def test_what_is_no_tool_is_refused_before_any_call(tools: Any, words: str, way: str) -> None:
    """A wrong mapping is a TypeError that names what is wrong, and nothing is delivered."""
    delivered = Delivered()
    with pytest.raises(TypeError, match=words):
        perform(way, [Wanted("get_order", ORDER)], tools, delivered=delivered)
    assert delivered == []


@pytest.mark.parametrize(
    ("way", "options"),
    [(way, {"timeout": t}) for way in WAYS for t in (0, -1, float("nan"), float("inf"))]
    + [("async", {"max_concurrency": n}) for n in (0, -3)],
)
def test_limits_out_of_range_are_refused_before_any_call(way: str, options: Any) -> None:
    """A time limit must be above 0, and at least one call has to run at a time."""
    ran: list[int] = []
    with pytest.raises(ValueError, match="must be"):
        perform(way, ["t"], {"t": lambda: ran.append(1)}, **options)
    assert ran == []


@both_ways
def test_the_tools_are_those_at_the_start(way: str) -> None:
    """A tool that changes the mapping changes nothing for the calls behind it."""
    tools: dict[str, Tool] = {}
    tools |= {"clear": lambda: tools.clear(), "t": lambda: "ok"}
    assert perform(way, ["clear", "t"], tools, max_concurrency=1).results == ["", "ok"]


# --- texts ----------------------------------------------------------------------------------------


@dataclass
class Parcel:
    number: int
    sent: date
    price: Decimal


class Point(NamedTuple):
    x: int
    y: int


class Color(Enum):
    RED = "red"
    BLUE = 2


class Account(BaseModel):
    name: str
    opened: datetime
    token: SecretStr
    photo: bytes


PARCEL = Parcel(3, date(2026, 11, 22), Decimal("1.10"))
ID = uuid.UUID(int=7)
MOMENT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
ACCOUNT = Account(name="Ada", opened=MOMENT, token=SecretStr("hush"), photo=b"\xff\x00")
RESULTS: list[tuple[Any, str]] = [
    ("as it is\n<&>\x00", "as it is\n<&>\x00"),
    ("", ""),
    (None, ""),
    (0, "0"),
    (False, "false"),
    ({"größe": [1, None, True]}, '{"größe": [1, null, true]}'),
    ([], "[]"),
    ({1: "a", None: "b", PARCEL.sent: "c"}, '{"1": "a", "null": "b", "2026-11-22": "c"}'),
    (b"\xff\x00", "[2 bytes]"),
    ({"data": bytearray(3), "view": memoryview(b"1234")}, '{"data": "[3 bytes]", '),
    (PARCEL, '{"number": 3, "sent": "2026-11-22", "price": "1.10"}'),
    ([PARCEL], '[{"number": 3, "sent": "2026-11-22", "price": "1.10"}]'),
    (Point(1, 2), '{"x": 1, "y": 2}'),
    ({1, 8, 3}, "[1, 3, 8]"),
    (frozenset({"b", "a"}), '["a", "b"]'),
    ({"a": 1}.keys(), '["a"]'),
    ({"a": 1}.values(), "[1]"),
    (range(3), "[0, 1, 2]"),
    (Color.RED, "red"),
    ({Color.BLUE: Color.BLUE}, '{"2": 2}'),
    (MOMENT, "2026-11-22T09:30:00+00:00"),
    (ID, str(ID)),
    (Path("a/b"), "a/b"),
    (ValueError("returned"), "returned"),
    (ACCOUNT, '{"name": "Ada", "opened": "2026-11-22T09:30:00+00:00", "token": "**********", '),
    ([ACCOUNT], '"photo": "[2 bytes]"}]'),
]


@pytest.mark.parametrize(("value", "expected"), RESULTS, ids=lambda v: repr(v)[:30])
def test_a_result_is_text_or_json(value: Any, expected: str) -> None:
    """Strings stay, None is nothing, everything else is JSON that a model can read."""
    done = perform("sync", ["t"], {"t": lambda: value})
    assert expected in done.results[0]
    assert expected or done.results == [""]
    assert done.failed == [False]
    if isinstance(value, str):
        assert done.results == [value]


def _circle() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


@pytest.mark.parametrize(
    "make", [object, _circle, lambda: iter([1]), lambda: int, lambda: {"deep": [object()]}]
)
@both_ways
def test_a_result_without_a_text_is_a_failure(make: Callable[[], Any], way: str) -> None:
    """What has no readable form is said to have none, with its type and no address."""
    done = perform(way, ["t", "u"], {"t": make, "u": lambda: "ok"})
    assert done.failed == [True, False]
    assert "ran to its end" in done.results[0]
    assert " at 0x" not in done.results[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\ud800", "a\ufffd"),
        ("\udfffb", "\ufffdb"),
        ("\ud83d\ude00!", "\U0001f600!"),
        ("x\ud83dy\u20ac\U0001f600", "x\ufffdy\u20ac\U0001f600"),
    ],
)
@both_ways
def test_lone_surrogates_do_not_break_the_next_request(text: str, expected: str, way: str) -> None:
    """No text of a result or an error holds what UTF-8 cannot carry."""
    items = asked("openai_chat", [Wanted("t"), Wanted("f"), Wanted("j")])
    tools: dict[str, Tool] = {
        "t": lambda: text,
        "f": _raises(ValueError(text)),
        "j": lambda: [text],
    }
    done = perform(way, [], tools, items=items)
    assert done.results[0] == expected
    assert expected in done.results[1]
    assert json.loads(done.results[2]) == [expected]
    json.dumps(items[2:], ensure_ascii=False).encode()


@both_ways
def test_an_errors_words_are_cut(way: str) -> None:
    """A message, a name or a list of names of any length leaves a text of a page at most."""
    tools: dict[str, Tool] = {"f": _raises(ValueError("x" * 99_999))}
    tools |= {f"tool_{n}": get_order for n in range(5_000)}
    done = perform(way, ["f", "n" * 99_999], tools)
    assert [1_000 < len(text) < 5_000 for text in done.results] == [True, True]
    assert all("…" in text for text in done.results)


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@both_ways
def test_an_error_whose_own_text_fails_is_named_by_its_type(way: str) -> None:
    """An exception that cannot be printed, and one without a message, are still told."""
    done = perform(way, ["m", "e"], {"m": _raises(MuteError()), "e": _raises(ValueError())})
    assert done.results == ["The tool failed: MuteError", "The tool failed: ValueError"]


def test_no_traceback_reaches_the_model() -> None:
    """Type and message say enough; paths and code lines of the host stay with it."""
    (text,) = perform("sync", ["f"], {"f": _raises(KeyError("k"))}).results
    assert text == "The tool failed: KeyError: 'k'"


@both_ways
def test_the_words_are_the_callers_if_it_wants(way: str) -> None:
    """The template is overridden like any other, and its values go in as they are."""
    words = "{{ kind }}/{{ tool }}/{{ known }}/{{ detail }}/{{ seconds }}"
    tools: dict[str, Tool] = {"a": _raises(ValueError("<b> {{ x }}")), "b": get_order}
    done = perform(
        way, ["a", "c"], tools, templates={"tool_error.jinja": words}, timeout=LONG
    ).results
    assert done == ["raised/a/a, b/ValueError: <b> {{ x }}/60", "unknown_tool/c/a, b//60"]


@both_ways
def test_a_broken_template_is_told_before_any_call(way: str) -> None:
    """It would be found out when tools have already acted, so it is tried first."""
    ran: list[int] = []
    with pytest.raises(TemplateError):
        perform(
            way,
            ["t"],
            {"t": lambda: ran.append(1)},
            templates={"tool_error.jinja": "{% if kind == 'timeout' %}{{ oops }}{% endif %}"},
        )
    assert ran == []


@pytest.mark.parametrize(
    "words", ["{{ 1 // (detail | length - 15) }}", "{{ '' if '9' in detail else 'x' }}"]
)
@both_ways
def test_a_template_that_fails_later_costs_no_other_call_its_result(way: str, words: str) -> None:
    """What the template cannot say is said by the exception's own words."""
    tools: dict[str, Tool] = {"t": lambda: "ok", "f": _raises(ValueError("989"))}
    done = perform(way, ["t", "f"], tools, templates={"tool_error.jinja": words}).results
    assert done == ["ok", "ValueError: 989"]


# --- interruption ---------------------------------------------------------------------------------


NOT_STARTED = "The call was not started"
INTERRUPTED = "The call was interrupted before it finished"


def test_a_cancelled_run_answers_every_call_and_is_raised_again() -> None:
    """Finished calls keep their results, running ones are interrupted, the rest never start."""
    release, ran, ended = threading.Event(), list[str](), list[str]()
    delivered = Delivered()
    items = asked("openai_chat", [Wanted(n) for n in ("ok", "hang", "thread", "late")])

    async def main() -> None:
        hangs, blocks = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        async def hang() -> None:
            hangs.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("hang")

        def thread() -> None:
            loop.call_soon_threadsafe(blocks.set)
            release.wait(LONG)

        tools: dict[str, Tool] = {
            "ok": lambda: "ok",
            "hang": hang,
            "thread": thread,
            "late": lambda: ran.append("late"),
        }
        task = asyncio.create_task(
            arun_calls(
                open_calls(items, "openai_chat"),
                tools,
                shape=shape_named("openai_chat"),
                templates=load_templates(),
                deliver=delivered.append,
                max_concurrency=2,
            )
        )
        await hangs.wait()
        await blocks.wait()
        assert delivered == []
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    try:
        asyncio.run(main())
    finally:
        release.set()
    assert delivered.results[0] == "ok"
    assert delivered.failed == [False, True, True, True]
    assert [INTERRUPTED in text for text in delivered.results] == [False, True, True, False]
    assert NOT_STARTED in delivered.results[3]
    assert (ran, ended) == ([], ["hang"])


def test_a_call_that_finishes_as_the_run_is_cancelled_keeps_its_result() -> None:
    """A cancellation in the same round of the loop does not take the result away."""
    delivered = Delivered()

    async def main() -> None:
        calls = open_calls(asked("openai_chat", [Wanted("t")]), "openai_chat")

        async def tool() -> str:
            await asyncio.sleep(0)
            task.cancel()
            return "ok"

        task = asyncio.create_task(
            arun_calls(
                calls,
                {"t": tool},
                shape=shape_named("openai_chat"),
                templates=load_templates(),
                deliver=delivered.append,
            )
        )
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert delivered.results == ["ok"]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("timeout", [None, LONG])
@both_ways
def test_a_keyboard_interrupt_of_a_tool_ends_the_run(
    asynchronous: bool, timeout: float | None, way: str
) -> None:
    """It is no failure of the tool: the batch is answered, then it is raised."""
    delivered, ran = Delivered(), list[int]()
    stop = KeyboardInterrupt()
    tools: dict[str, Tool] = {
        "ok": lambda: "ok",
        "stop": _araises(stop) if asynchronous else _raises(stop),
        "late": lambda: ran.append(1),
    }
    with pytest.raises(KeyboardInterrupt) as caught:
        perform(
            way,
            ["ok", "stop", "late"],
            tools,
            delivered=delivered,
            timeout=timeout,
            max_concurrency=1,
        )
    assert caught.value is stop
    assert delivered.results[0] == "ok"
    assert INTERRUPTED in delivered.results[1]
    assert NOT_STARTED in delivered.results[2]
    assert ran == []


def test_a_keyboard_interrupt_of_a_tool_stops_the_tools_beside_it() -> None:
    """Calls that run at the same time are cancelled and answered as interrupted."""
    delivered = Delivered()
    started = asyncio.Event()

    async def hang() -> None:
        started.set()
        await asyncio.Event().wait()

    async def stop() -> None:
        await started.wait()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform("async", ["hang", "stop"], {"hang": hang, "stop": stop}, delivered=delivered)
    assert [INTERRUPTED in text for text in delivered.results] == [True, True]


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("timeout", [None, LONG])
@both_ways
def test_ctrl_c_answers_every_call(asynchronous: bool, timeout: float | None, way: str) -> None:
    """A real SIGINT while a tool runs leaves no call without a result."""
    delivered, release, ran = Delivered(), threading.Event(), list[int]()

    def stop() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        release.wait(LONG)

    async def astop() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        while not release.is_set():  # noqa: ASYNC110 - an event of threads
            await asyncio.sleep(0.01)

    tools: dict[str, Tool] = {
        "ok": lambda: "ok",
        "stop": astop if asynchronous else stop,
        "late": lambda: ran.append(1),
    }
    try:
        with pytest.raises(KeyboardInterrupt):
            perform(
                way,
                ["ok", "stop", "late"],
                tools,
                delivered=delivered,
                timeout=timeout,
                max_concurrency=1,
            )
    finally:
        release.set()
    assert delivered.results[0] == "ok"
    assert INTERRUPTED in delivered.results[1]
    assert NOT_STARTED in delivered.results[2]
    assert ran == []


def test_a_tool_that_does_not_heed_its_cancellation_holds_up_nobody() -> None:
    """It is out of time all the same, and the run ends without it."""

    async def main() -> Delivered:
        release, delivered = asyncio.Event(), Delivered()

        async def stubborn() -> str:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return "too late"

        await arun_calls(
            open_calls(asked("openai_chat", [Wanted("s"), Wanted("t")]), "openai_chat"),
            {"s": stubborn, "t": lambda: "ok"},
            shape=shape_named("openai_chat"),
            templates=load_templates(),
            deliver=delivered.append,
            timeout=1.5,
            max_concurrency=1,
        )
        release.set()
        return delivered

    delivered = asyncio.run(main())
    assert "within 1.5 seconds" in delivered.results[0]
    assert delivered.results[1] == "ok"


def test_a_tool_that_is_out_of_time_is_cancelled_in_the_sync_run_too() -> None:
    """An asynchronous tool ends at the limit, though the run around it is synchronous."""
    ended = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    done = perform("sync", ["t"], {"t": hang}, timeout=0.2)
    assert "within 0.2 seconds" in done.results[0]
    assert ended.wait(LONG)


def test_a_tool_that_cancels_its_own_task_costs_only_itself() -> None:
    """Even one that returns nevertheless."""

    async def tool() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "ok"

    done = perform("async", ["t", "u"], {"t": tool, "u": lambda: "ok"}, max_concurrency=1)
    assert done.failed == [True, False]


@both_ways
def test_a_failing_delivery_is_raised(way: str) -> None:
    """What the callback raises reaches the caller, and it is not called again."""

    class Closed(Delivered):
        def append(self, run: Run) -> None:
            super().append(run)
            raise RuntimeError("the list is closed")

    delivered = Closed()
    with pytest.raises(RuntimeError, match="the list is closed"):
        perform(way, ["t"], {"t": lambda: "ok"}, delivered=delivered)
    assert delivered.results == ["ok"]


# --- threads and loops ----------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 3, 8])
def test_no_more_than_so_many_coroutines_run_at_a_time(limit: int) -> None:
    """The limit is reached and never passed."""
    now, peak = 0, 0

    async def tool() -> None:
        nonlocal now, peak
        now += 1
        peak = max(peak, now)
        for _ in range(20):
            await asyncio.sleep(0)
        now -= 1

    perform("async", ["t"] * 10, {"t": tool}, max_concurrency=limit)
    assert (peak, now) == (limit, 0)


def test_no_more_than_so_many_threads_run_at_a_time() -> None:
    """Three calls meet at each barrier, and never a fourth."""
    lock, barrier = threading.Lock(), threading.Barrier(3)
    now, peak = 0, 0

    def tool() -> None:
        nonlocal now, peak
        with lock:
            now += 1
            peak = max(peak, now)
        barrier.wait(LONG)
        with lock:
            now -= 1
        barrier.wait(LONG)

    assert perform("async", ["t"] * 9, {"t": tool}, max_concurrency=3).results == [""] * 9
    assert peak == 3


def test_answers_stand_in_call_order_whatever_ends_first() -> None:
    """Each call waits for the one behind it, so they end in reverse."""
    ended: list[int] = []

    async def main() -> Delivered:
        gates = [asyncio.Event() for _ in range(6)]
        gates[-1].set()

        async def tool(n: int) -> int:
            await gates[n].wait()
            ended.append(n)
            gates[n - 1].set()
            return n

        delivered = Delivered()
        wanted = [Wanted("t", f'{{"n": {n}}}') for n in range(6)]
        await arun_calls(
            open_calls(asked("anthropic", wanted), "anthropic"),
            {"t": tool},
            shape=shape_named("anthropic"),
            templates=load_templates(),
            deliver=delivered.append,
        )
        return delivered

    assert asyncio.run(main()).results == ["0", "1", "2", "3", "4", "5"]
    assert ended == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("timeout", [None, LONG])
@both_ways
def test_tools_see_the_callers_context_variables(
    asynchronous: bool, timeout: float | None, way: str
) -> None:
    """Threads and tasks have the tenant, the trace and whatever else stands there."""
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="none")

    async def areads() -> str:
        return tenant.get()

    tenant.set("acme")
    tools: dict[str, Tool] = {"t": areads if asynchronous else tenant.get}
    assert perform(way, ["t"], tools, timeout=timeout).results == ["acme"]


def test_a_sync_tool_without_a_limit_runs_in_the_callers_thread() -> None:
    """Connections that belong to a thread can be used."""
    done = perform("sync", ["t"], {"t": lambda: threading.get_ident()})
    assert done.results == [str(threading.get_ident())]


def test_a_sync_tool_of_the_async_run_does_not_block_the_loop() -> None:
    """It is called in a thread of its own, which does not keep the program from ending."""

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        release, delivered = threading.Event(), Delivered()

        def blocking() -> list[bool]:
            loop.call_soon_threadsafe(release.set)  # runs only if the loop is free
            return [release.wait(LONG), threading.current_thread().daemon]

        await arun_calls(
            open_calls(asked("openai_chat", [Wanted("t")]), "openai_chat"),
            {"t": blocking},
            shape=shape_named("openai_chat"),
            templates=load_templates(),
            deliver=delivered.append,
        )
        return delivered.results

    assert asyncio.run(main()) == ["[true, true]"]


@pytest.mark.parametrize("timeout", [None, LONG])
def test_the_sync_run_calls_async_tools_inside_a_running_loop(timeout: float | None) -> None:
    """A notebook has a loop already; the tool gets one of its own."""

    async def main() -> list[str]:
        calls = open_calls(asked("openai_chat", [Wanted("t", ORDER)]), "openai_chat")
        delivered = Delivered()
        run_calls(
            calls,
            {"t": aget_order},
            shape=shape_named("openai_chat"),
            templates=load_templates(),
            deliver=delivered.append,
            timeout=timeout,
        )
        return delivered.results

    assert asyncio.run(main()) == [GOOD]


def test_the_sync_run_leaves_the_threads_own_loop_alone() -> None:
    """`asyncio.run` would take it away from code that still asks for it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        assert perform("sync", [Wanted("t", ORDER)], {"t": aget_order}).results == [GOOD]
        assert asyncio.get_event_loop() is loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@both_ways
def test_failures_leave_nothing_for_the_loops_own_log(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No error is left unretrieved, and no task is destroyed while it is pending."""
    gc.collect()  # what the tests before left behind
    with caplog.at_level(logging.DEBUG, logger="asyncio"), tools_that_fail() as tools:
        hanging = perform(way, ["ahanging", "hanging"], tools, timeout=0.2)
        perform(way, [call for call, _ in FAILURES[:-1]], tools)
        gc.collect()
    assert all("within 0.2 seconds" in text for text in hanging.results)
    assert [r for r in caplog.records if r.levelno > logging.DEBUG] == []


# --- any batch ------------------------------------------------------------------------------------


class Planned(NamedTuple):
    """What a drawn tool does: how often it yields, and whether it returns or raises."""

    asynchronous: bool
    rounds: int
    result: Any


ERRORS = (
    ValueError,
    SystemExit,
    asyncio.CancelledError,
    TimeoutError,
    StopIteration,
    GeneratorExit,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
    max_leaves=5,
)
plans = st.lists(
    st.builds(
        Planned,
        st.booleans(),
        st.integers(0, 3),
        json_values | st.sampled_from([*ERRORS, object, Wanted]),
    ),
    max_size=7,
)


def _tool(plan: Planned) -> Tool:
    def act() -> Any:
        if plan.result in ERRORS:
            raise plan.result
        return plan.result() if plan.result is object else plan.result

    async def aact() -> Any:
        for _ in range(plan.rounds):
            await asyncio.sleep(0)
        return act()

    return aact if plan.asynchronous else act


def _is_failure(result: Any) -> bool:
    return isinstance(result, type)


@given(
    batch=plans, way=st.sampled_from(WAYS), shape=st.sampled_from(SHAPES), limit=st.integers(1, 4)
)
@settings(max_examples=settings().max_examples // 2)
def test_any_batch_gets_exactly_one_answer_a_call_in_order(
    batch: list[Planned], way: str, shape: str, limit: int
) -> None:
    """Whatever the tools return or raise, in whatever order they end."""
    tools = {f"t{n}": _tool(p) for n, p in enumerate(batch) if p.result is not Wanted}
    wanted = [Wanted(f"t{n}") for n in range(len(batch))]
    items = asked(shape, wanted)
    done = perform(way, wanted, tools, shape=shape, items=items, max_concurrency=limit)
    assert [a.call.id for a in done.run.answers] == [f"call_{n}" for n in range(len(batch))]
    assert result_ids(items) == [f"call_{n}" for n in range(len(batch))]
    assert done.failed == [_is_failure(p.result) for p in batch]
    assert all(text for text, failed in zip(done.results, done.failed, strict=True) if failed)
    for plan, text in zip(batch, done.results, strict=True):
        if isinstance(plan.result, (list, dict, bool, int)):
            assert json.loads(text.encode()) is not None
    if batch:
        assert validate(items, shape, strict=True) == []
