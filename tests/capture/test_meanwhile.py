"""A user who speaks while a response is recorded: the list stays whole, and its folds valid."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from capture.driving import call
from capture.replies import CHAT, MESSAGES, RESPONSES, response
from capture.stream_server import Reply, StreamServer
from validator import validate

from chatfold import ChatContext
from chatfold.errors import StaleHeadError

Json = dict[str, Any]
SHAPES = {"chat": "openai_chat", "responses": "openai_responses", "messages": "anthropic"}
WAIT = {"role": "user", "content": "Wait."}


def _reasoning(number: int) -> Json:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "gAAA"}


def _call(number: int) -> Json:
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
    return {**call, "name": "get_weather", "arguments": json.dumps({"city": f"No. {number}"})}


def _said(number: int) -> Json:
    text = {"type": "output_text", "text": "I look.", "annotations": []}
    message = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
    return {**message, "status": "completed", "content": [text]}


ANSWERS = {
    "parallel calls": response([_reasoning(1), _call(1), _call(2), _call(3)]),
    "a word before the call": response([_reasoning(1), _said(1), _call(1)]),
    "thought again": response([_reasoning(1), _said(1), _call(1), _reasoning(2), _call(2)]),
    "no thought": response([_said(1), _call(1), _call(2)]),
}


def _context(api: str) -> ChatContext[Any]:
    said = [
        {"role": "user", "content": "What is the weather? " * 40},
        {"role": "assistant", "content": "In which city? " * 40},
        {"role": "user", "content": "In all of them."},
    ]
    return ChatContext(said, shape=SHAPES[api])


def _read(
    server: StreamServer,
    ctx: ChatContext[Any],
    reply: Reply,
    meanwhile: Callable[[int], object],
    *,
    cut: int | None = None,
    asynchronous: bool = False,
) -> int:
    """Read a recorded stream; something is done after each event. Return how many there were."""
    server.answers(reply, cut=cut)
    client = server.client(reply.api, asynchronous=asynchronous)

    seen = 0

    async def aread() -> None:
        nonlocal seen
        async with ctx.record(await call(client, reply.api, stream=True)) as stream:
            async for _ in stream:
                meanwhile(seen)
                seen += 1

    if asynchronous:
        server.loop.run(aread())
        return seen
    with ctx.record(call(client, reply.api, stream=True)) as stream:
        for _ in stream:
            meanwhile(seen)
            seen += 1
    return seen


def _parted(items: list[Any], output: list[Json], cut: int) -> list[str]:
    """Return the ids of items behind a cut that the server would miss the reasoning of.

    Told by the response as the server wrote it: each item demands the reasoning before it, by id.
    """
    kept = [item.get("id") for item in items[cut:]]
    needs: str | None = None
    missed: list[str] = []
    for item in output:
        if item["type"] == "reasoning":
            needs = item["id"]
        elif item["id"] in kept and needs is not None and needs not in kept:
            missed.append(item["id"])
    return missed


def _bare(item: Json) -> Json:
    return {key: value for key, value in item.items() if key != "id"}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", ANSWERS)
def test_no_fold_keeps_an_item_without_its_reasoning_whenever_a_user_spoke(
    stream_server: StreamServer, name: str, asynchronous: bool
) -> None:
    """What comes behind the user's words no longer demands by id the reasoning before them."""
    reply = ANSWERS[name]
    output = reply.whole["output"]
    for at in range(len(reply.events)):
        ctx = _context("responses")
        _read(
            stream_server,
            ctx,
            reply,
            lambda n, at=at, ctx=ctx: ctx.append(WAIT) if n == at else None,
            asynchronous=asynchronous,
        )
        added = [item for item in ctx.items[3:] if item is not WAIT]
        assert len(ctx.items) == 4 + len(output)
        assert list(map(_bare, added)) == list(map(_bare, output))
        for items in (ctx.items, json.loads(json.dumps(ctx.items))):  # also after a restart
            cuts = ChatContext(list(items), shape="openai_responses").cut_points()
            assert [_parted(items, output, cut) for cut in cuts] == [[]] * len(cuts)


def test_what_nothing_came_between_keeps_its_ids(stream_server: StreamServer) -> None:
    """So does what comes with reasoning of its own, and what needs none."""
    reply = ANSWERS["thought again"]
    first = next(n for n, e in enumerate(reply.events) if e["type"].endswith("item.done") and n > 5)

    def ids(reply: Reply, at: int | None) -> list[str | None]:
        ctx = _context("responses")
        _read(stream_server, ctx, reply, lambda n: ctx.append(WAIT) if n == at else None)
        return [item.get("id") for item in ctx.items[3:] if item is not WAIT]

    assert ids(reply, None) == ["rs_1", "msg_1", "fc_1", "rs_2", "fc_2"]
    assert ids(reply, first) == ["rs_1", "msg_1", None, "rs_2", "fc_2"]
    plain = ANSWERS["no thought"]
    every = [ids(plain, at) for at in range(len(plain.events))]
    assert every == [["msg_1", "fc_1", "fc_2"]] * len(plain.events)


def test_results_of_tools_that_ran_meanwhile_part_nothing(stream_server: StreamServer) -> None:
    """The server takes them between the calls, and each call keeps its id."""
    reply = ANSWERS["parallel calls"]
    ctx = _context("responses")

    def run(_: int) -> None:
        ctx.run_tool_calls({"get_weather": lambda city: f"sun in {city}"})

    _read(stream_server, ctx, reply, run)
    kinds = [item["type"] for item in ctx.items[3:]]
    assert kinds == ["reasoning", *["function_call", "function_call_output"] * 3]
    calls = [item["id"] for item in ctx.items if item.get("type") == "function_call"]
    assert calls == ["fc_1", "fc_2", "fc_3"]
    assert ctx.cut_points() == [0, 1, 2, 3, len(ctx.items)]


def test_what_follows_a_part_that_was_folded_away_needs_it_no_more(
    stream_server: StreamServer,
) -> None:
    """A fold between two items of a response takes the reasoning of both."""
    reply = ANSWERS["parallel calls"]
    spoke = next(n for n, e in enumerate(reply.events) if e.get("item", {}).get("id") == "fc_2")
    ctx = _context("responses")

    def meanwhile(number: int) -> None:
        if number == spoke:
            ctx.append(WAIT)
            outcome = ctx.summarize(lambda _: "The weather was asked for.", keep_last_turns=1)
            assert outcome.changed
            assert ctx.items[1] is WAIT

    _read(stream_server, ctx, reply, meanwhile)
    assert [item.get("id") for item in ctx.items[2:]] == [None, None]
    assert [item["call_id"] for item in ctx.items[2:]] == ["call_2", "call_3"]


def test_a_fold_that_was_planned_between_two_items_of_a_response_is_stale(
    stream_server: StreamServer,
) -> None:
    """What came meanwhile, with nothing between, goes together with what the plan would take."""
    reply = ANSWERS["a word before the call"]
    planned = next(n for n, e in enumerate(reply.events) if e.get("item", {}).get("id") == "fc_1")
    ctx = _context("responses")
    plans: list[Any] = []

    def meanwhile(number: int) -> None:
        if number == planned:
            plans.append(ctx.plan(keep_last_turns=0))

    _read(stream_server, ctx, reply, meanwhile)
    before = list(ctx.items)
    assert plans[0].index > 3
    with pytest.raises(StaleHeadError):
        ctx.apply(plans[0], "The weather was asked for.")
    assert ctx.items == before


WITH_CALLS = [
    *(pytest.param(reply, id=f"responses, {name}") for name, reply in ANSWERS.items()),
    pytest.param(RESPONSES["calls without ids"], id="responses, calls without ids"),
    pytest.param(CHAT["parallel calls"], id="chat, parallel calls"),
    pytest.param(CHAT["text and a call"], id="chat, text and a call"),
    pytest.param(MESSAGES["calls without ids"], id="messages, calls without ids"),
    pytest.param(MESSAGES["thinking and parallel calls"], id="messages, parallel calls"),
]


@pytest.mark.parametrize("reply", WITH_CALLS)
@pytest.mark.parametrize("ends", [True, False], ids=["whole", "cut short"])
def test_calls_are_run_though_a_user_spoke_while_their_response_was_written(
    stream_server: StreamServer, reply: Reply, ends: bool
) -> None:
    """Nobody could have run them before; each has one result, and the list may be sent."""
    for at in range(len(reply.events)):
        ctx = _context(reply.api)
        seen = _read(
            stream_server,
            ctx,
            reply,
            lambda n, at=at, ctx=ctx: ctx.append(WAIT) if n == at else None,
            cut=None if ends else len(reply.events) - 1,
        )
        names = {record.name or "" for record in ctx.tool_calls()}
        ctx.run_tool_calls({name: lambda **_: "sun" for name in names})
        assert [p for p in ctx.check() if p.severity in ("error", "pending")] == []
        assert validate(ctx.items, SHAPES[reply.api]) == []
        assert all(record.status == "completed" for record in ctx.tool_calls())
        assert (WAIT in ctx.items) == (at < seen)
        assert not ctx.run_tool_calls({})


def test_a_call_that_a_user_passes_by_when_its_response_is_there_is_not_run(
    stream_server: StreamServer,
) -> None:
    """One who speaks once more has gone on without it, as without any other call."""
    reply = ANSWERS["parallel calls"]
    for before_the_end in (True, False):
        ctx = _context("responses")
        last = len(reply.events) - 1

        def meanwhile(
            n: int, ctx: ChatContext[Any] = ctx, at: int | None = last if before_the_end else None
        ) -> None:
            if n == at:
                ctx.append(WAIT)

        _read(stream_server, ctx, reply, meanwhile)
        ctx.append({"role": "user", "content": "Never mind."})
        assert not ctx.run_tool_calls({"get_weather": lambda city: city})
        assert {record.status for record in ctx.tool_calls()} == {"abandoned"}


def test_a_call_of_an_earlier_response_that_was_passed_by_stays_so(
    stream_server: StreamServer,
) -> None:
    """Only those of the stream that was read last were waiting when the user spoke."""
    ctx = _context("responses")
    ctx.items[1:1] = [_call(9)]
    spoke = len(ANSWERS["parallel calls"].events) - 1
    _read(
        stream_server,
        ctx,
        ANSWERS["parallel calls"],
        lambda n: ctx.append(WAIT) if n == spoke else None,
    )
    ctx.run_tool_calls({"get_weather": lambda city: city})
    ran = {record.id: record.status for record in ctx.tool_calls()}
    assert ran == {
        "call_9": "abandoned",
        **dict.fromkeys(("call_1", "call_2", "call_3"), "completed"),
    }
