"""Which tool an open call is for, where names of tools are those of several namespaces.

Not here: what becomes of the call then (`test_tools`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from openai.types.responses import ResponseFunctionToolCall

from chatfold import ChatContext, ToolRun
from chatfold.tools import Tool

both_ways = pytest.mark.parametrize("way", ["sync", "async"])


class In(NamedTuple):
    """A call of the Responses API of a tool that may live in a namespace."""

    name: str
    namespace: str | None = None
    answered: bool = False
    custom: bool = False
    made: bool = True


def of_namespaces(*calls: In) -> list[Any]:
    """Return a step with these calls, and the results of those that are answered."""
    items: list[Any] = [{"role": "user", "content": "Please do it."}]
    for n, call in enumerate(calls):
        home = {} if call.namespace is None else {"namespace": call.namespace}
        fields = {"call_id": f"call_{n}", "name": call.name, **home}
        given = {"type": "function_call", "arguments": "{}"}
        given = {"type": "custom_tool_call", "input": "go"} if call.custom else given
        if call.made:
            items.append({**given, **fields})
        if call.answered:
            items.append({"type": "function_call_output", "output": "ok", **fields})
    return items


def run_all(way: str, ctx: ChatContext[Any], tools: Mapping[str, Tool]) -> ToolRun[Any]:
    """Run the open calls of a context."""
    if way == "sync":
        return ctx.run_tool_calls(tools)
    return asyncio.run(ctx.arun_tool_calls(tools))


def told_apart(way: str, keys: Sequence[str], *calls: In) -> list[str]:
    """Return by which key each open call was run, and of others the text of their failure."""
    tools: dict[str, Tool] = {key: lambda *_, key=key: f"ran {key}" for key in keys}
    ctx: ChatContext[Any] = ChatContext(of_namespaces(*calls), shape="openai_responses")
    run = run_all(way, ctx, tools)
    for answer in run.answers:
        assert answer.failed != answer.text.startswith("ran ")
    return [answer.text.removeprefix("ran ") for answer in run.answers]


def unknown(qualified: str, *known: str) -> str:
    return (
        f'There is no tool named "{qualified}", so nothing was called. '
        f"The tools are: {', '.join(sorted(known))}."
    )


@both_ways
def test_calls_of_one_name_in_two_namespaces_are_run_by_their_qualified_names(way: str) -> None:
    """The plain name is that of the tool which lives in none."""
    calls = [In("delete", "crm"), In("delete", "billing"), In("delete")]
    keys = ["delete", "crm.delete", "billing.delete"]
    assert told_apart(way, keys, *calls) == ["crm.delete", "billing.delete", "delete"]
    custom = [call._replace(custom=True) for call in calls]
    assert told_apart(way, keys, *custom) == ["crm.delete", "billing.delete", "delete"]


@both_ways
@pytest.mark.parametrize("before", [(), (In("delete", "crm", answered=True),), (In("find"),)])
def test_a_plain_name_serves_the_calls_of_one_namespace(way: str, before: tuple[In, ...]) -> None:
    """As long as nothing says that another tool may be meant by it."""
    calls = [In("delete", "crm"), In("find", "crm"), In("delete", "crm")]
    wanted = ["delete", "crm.find", "delete"]
    told = told_apart(way, ["delete", "find", "crm.find"], *before, *calls)
    assert told[-3:] == wanted


@both_ways
@pytest.mark.parametrize(
    "other",
    [
        In("delete", "billing"),
        In("delete", "billing", answered=True),
        In("delete", "billing", custom=True),
    ],
)
def test_a_plain_name_serves_no_calls_of_two_namespaces(way: str, other: In) -> None:
    """Not even where one of them has been answered: which of the two it is of, nobody can know."""
    told = told_apart(way, ["delete"], other, In("delete", "crm"))
    homes = ["crm"] if other.answered else ["billing", "crm"]
    assert told == [unknown(f"{home}.delete", "delete") for home in homes]


@both_ways
def test_a_name_with_dots_that_may_be_of_two_tools_serves_neither(way: str) -> None:
    calls = [In("c", "a.b"), In("b.c", "a")]
    assert told_apart(way, ["a.b.c"], calls[0]) == ["a.b.c"]
    assert told_apart(way, ["a.b.c"], *calls) == [unknown("a.b.c", "a.b.c")] * 2


@both_ways
@pytest.mark.parametrize("answered", [False, True])
def test_a_plain_name_serves_the_calls_without_a_namespace_first(way: str, answered: bool) -> None:
    """A list that has both has two tools of that name."""
    told = told_apart(way, ["delete"], In("delete", answered=answered), In("delete", "crm"))
    assert told == [*([] if answered else ["delete"]), unknown("crm.delete", "delete")]


@both_ways
def test_a_plain_name_serves_no_namespace_where_the_tools_tell_namespaces_apart(way: str) -> None:
    """Who has written one of them out means another tool by the plain name."""
    keys = ["delete", "billing.delete", "crm.undelete"]
    assert told_apart(way, keys, In("delete", "crm")) == [unknown("crm.delete", *keys)]
    assert told_apart(way, keys, In("delete", "billing")) == ["billing.delete"]
    assert told_apart(way, ["billing.delete"], In("delete")) == [
        unknown("delete", "billing.delete")
    ]


@both_ways
def test_a_tool_that_was_loaded_by_a_search_has_its_own_name_for_a_namespace(way: str) -> None:
    """It lives in none: openai-agents 0.24.0, `_tool_identity.py`."""
    calls = [In("weather"), In("weather", "weather")]
    assert told_apart(way, ["weather"], *calls) == ["weather", "weather"]
    assert told_apart(way, ["weather", "crm.weather"], calls[1]) == ["weather"]
    assert told_apart(way, ["weather", "weather.weather"], calls[1]) == ["weather.weather"]
    assert told_apart(way, ["w"], calls[1]) == [unknown("weather", "w")]


@both_ways
def test_a_result_without_its_call_is_of_no_other_tool(way: str) -> None:
    """Results need not say where their tool lives, and what was called is not in the list."""
    items = of_namespaces(In("delete", answered=True, made=False), In("delete", "crm"))
    ctx: ChatContext[Any] = ChatContext(items, shape="openai_responses")
    run = run_all(way, ctx, {"delete": lambda: "ran"})
    assert [answer.text for answer in run.answers] == ["ran"]


@both_ways
def test_calls_that_the_server_runs_are_of_no_tool_of_the_host(way: str) -> None:
    """The tool of an MCP server may have the name of one in a namespace."""
    served = {"type": "mcp_call", "id": "m", "name": "delete", "arguments": "{}", "output": "ok"}
    items = [*of_namespaces(In("delete", "crm")), {**served, "server_label": "billing"}]
    ctx: ChatContext[Any] = ChatContext(items, shape="openai_responses")
    run = run_all(way, ctx, {"delete": lambda: "ran"})
    assert [answer.text for answer in run.answers] == ["ran"]


def test_an_sdk_object_says_where_its_tool_lives() -> None:
    """As a dict does."""
    fields = {"call_id": "c", "name": "delete", "arguments": "{}", "namespace": "crm"}
    call = ResponseFunctionToolCall.construct(type="function_call", **fields)
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "Go."}, call])
    (record,) = ctx.tool_calls()
    assert (record.namespace, record.name, record.qualified_name) == (
        *("crm", "delete"),
        "crm.delete",
    )
    run = ctx.run_tool_calls({"crm.delete": lambda: "gone", "delete": lambda: "wrong"})
    assert [answer.text for answer in run.answers] == ["gone"]
