"""Recorded streams over real HTTP: equal to the whole response, and safe when they end early."""

from __future__ import annotations

from typing import Any

import pytest
from capture.driving import Reading, read, whole_items
from capture.replies import CHAT, MESSAGES, RESPONSES
from capture.stream_server import Reply, StreamServer
from logs import records

from chatfold import ChatContext
from chatfold.core.flow import Usage

REPLIES = {
    f"{api}: {name}": reply
    for api, replies in (("chat", CHAT), ("responses", RESPONSES), ("messages", MESSAGES))
    for name, reply in replies.items()
}
ALL = [pytest.param(reply, id=name) for name, reply in REPLIES.items()]
# One of each API that holds as much as possible, for the tests that read it once for each event.
LONGEST = [
    pytest.param(REPLIES[name], id=name)
    for name in (
        "chat: parallel calls",
        "chat: fields of other servers",
        "responses: reasoning and parallel calls",
        "responses: what the server does",
        "messages: thinking and parallel calls",
        "messages: server tools and citations",
    )
]
# OpenAI's helpers raise for custom calls, and for two calls without an id (openai 3.54.0).
UNHELPED = ("chat: a custom call", "responses: calls without ids")
HELPED = [p for p in ALL if p.id not in UNHELPED]
BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
ENDINGS = ("response.completed", "response.incomplete", "response.failed")


def finished_items(reply: Reply, events: list[Any]) -> int:
    """Return how many items are finished after these events, counted apart from chatfold."""
    if not _items_of(reply):
        return 0
    if reply.api == "chat":
        return int(any(c["finish_reason"] for e in events for c in e["choices"]))
    done = [e["item"]["type"] for e in events if e["type"] == "response.output_item.done"]
    while done and done[-1] == "reasoning":  # it goes with what follows it
        done.pop()
    return len(done) + sum(e["type"] == "message_stop" for e in events)


def is_whole(reply: Reply, events: list[Any]) -> bool:
    """Return whether a stream of these events says that it is finished, or says nothing at all."""
    if reply.api == "chat":
        return not events or any(c["finish_reason"] for e in events for c in e["choices"])
    return not events or any(e["type"] in ("message_stop", *ENDINGS) for e in events)


def _items_of(reply: Reply) -> Any:
    if reply.api == "chat":
        message = reply.whole["choices"][0]["message"]
        return [k for k, v in message.items() if v and k != "role"]
    return reply.whole["output" if reply.api == "responses" else "content"]


def warnings_of(found: list[Any]) -> list[str]:
    return [r.getMessage() for r in found if r.name == "chatfold"]


@BOTH
@pytest.mark.parametrize("reply", ALL)
def test_a_recorded_stream_gives_the_items_of_the_whole_response(
    stream_server: StreamServer, reply: Reply, asynchronous: bool
) -> None:
    """Streamed or not, the same answer is the same items, and every event is handed over."""
    before = [{"role": "user", "content": "Weather?"}]
    with records() as found:
        reading = read(stream_server, reply, asynchronous=asynchronous, before=before)
    assert reading.items[1:] == whole_items(stream_server, reply, before)
    assert len(reading.items) == 1 + (
        bool(_items_of(reply)) if reply.api != "responses" else len(_items_of(reply))
    )
    assert reading.stored == tuple(reading.items[1:])
    assert len(reading.events) == len([e for e in reply.events if e.get("type") != "ping"])
    assert reading.unfinished == ""
    assert not warnings_of(found)


@BOTH
@pytest.mark.parametrize("reply", HELPED)
def test_a_stream_of_the_sdks_helper_gives_the_items_of_the_whole_response(
    stream_server: StreamServer, reply: Reply, asynchronous: bool
) -> None:
    """`client....stream()` returns what opens a stream; it is recorded like any other."""
    reading = read(stream_server, reply, asynchronous=asynchronous, helper=True)
    assert reading.error is None
    assert reading.items == whole_items(stream_server, reply)
    assert reading.unfinished == ""


@BOTH
@pytest.mark.parametrize("helper", [False, True], ids=["raw", "helper"])
@pytest.mark.parametrize("reply", LONGEST)
def test_the_usage_and_the_model_are_told_once_at_the_end(
    stream_server: StreamServer, reply: Reply, asynchronous: bool, helper: bool
) -> None:
    """What the call used is known when the stream has ended, and told once."""
    (told,) = read(stream_server, reply, asynchronous=asynchronous, helper=helper).told
    assert told.usage == Usage(20, 7, 5)
    assert told.model == reply.whole["model"]
    assert told.held is None


@BOTH
@pytest.mark.parametrize("how", ["ends", "breaks", "is left"])
@pytest.mark.parametrize("reply", LONGEST)
def test_a_stream_that_stops_at_any_event_stores_only_what_was_finished(
    stream_server: StreamServer, reply: Reply, asynchronous: bool, how: str
) -> None:
    """Cut after each event in turn: the list is a beginning of the whole response's items."""
    whole = whole_items(stream_server, reply)
    for number in range(len(reply.events) + 1):
        with records() as found:
            reading = _stopped(stream_server, reply, number, asynchronous, how)
        seen = reply.events[:number]
        assert reading.items == whole[: finished_items(reply, seen)]
        assert (reading.unfinished == "") is is_whole(reply, seen), reading.unfinished
        assert warnings_of(found) == _expected_warning(reading)
        assert (reading.error is None) is (how != "breaks")
        _check_names_what_is_open(reading.items)


def _stopped(
    server: StreamServer, reply: Reply, number: int, asynchronous: bool, how: str
) -> Reading:
    if how == "is left":
        # The SDK keeps pings to itself, so what we see may be fewer than what was sent.
        pings = sum(e.get("type") == "ping" for e in reply.events[:number])
        return read(server, reply, asynchronous=asynchronous, leave=number - pings)
    return read(server, reply, asynchronous=asynchronous, cut=number, broken=how == "breaks")


def _expected_warning(reading: Reading) -> list[str]:
    if not reading.unfinished:
        return []
    said = "a recorded stream ended before it was finished; not stored: "
    return [f"{said}{reading.unfinished}; stored: {len(reading.items)} items"]


def _check_names_what_is_open(items: list[Any]) -> None:
    ctx = ChatContext([{"role": "user", "content": "Weather?"}, *items])
    open_ids = {call.id for call in ctx.tool_calls() if call.status == "open"}
    pending = {p.index for p in ctx.check() if p.severity == "pending"}
    holders = {call.call_index for call in ctx.tool_calls() if call.status == "open"}
    assert holders == pending, open_ids


@pytest.mark.parametrize("reply", ALL)
def test_an_item_is_stored_before_the_event_that_finished_it_is_handed_over(
    stream_server: StreamServer, reply: Reply
) -> None:
    """Whoever reacts to the event finds the item in the list."""
    reading = read(stream_server, reply)
    sent = [e for e in reply.events if e.get("type") != "ping"]
    counts = [finished_items(reply, sent[: n + 1]) for n in range(len(sent))]
    assert reading.stored_at == counts


DRAINS = [
    ("chat: text", "get_final_completion"),
    ("chat: parallel calls", "until_done"),
    ("responses: what the server does", "get_final_response"),
    ("responses: reasoning and parallel calls", "until_done"),
    ("messages: thinking and parallel calls", "get_final_message"),
    ("messages: text", "get_final_text"),
    ("messages: server tools and citations", "until_done"),
]


@BOTH
@pytest.mark.parametrize("leave", [0, 3])
@pytest.mark.parametrize(("name", "drain"), DRAINS)
def test_a_method_that_reads_the_rest_is_recorded_too(
    stream_server: StreamServer, name: str, drain: str, leave: int, asynchronous: bool
) -> None:
    """The helpers' own methods consume the stream; nothing is missed, from wherever they begin."""
    reply = REPLIES[name]
    reading = read(
        stream_server, reply, asynchronous=asynchronous, helper=True, leave=leave, drain=drain
    )
    assert reading.items == whole_items(stream_server, reply)
    expected = {
        "get_final_completion": "ParsedChatCompletion",
        "get_final_response": "ParsedResponse",
        "get_final_message": "ParsedMessage",
        "get_final_text": "str",
    }.get(drain)
    if expected:
        named = type(reading.answer).__name__.partition("[")[0]
        assert named in (expected, expected.removeprefix("Parsed"))  # as older SDKs call it
    elif reply.api == "responses":  # the SDK returns the stream, so that calls can be chained
        assert reading.answer.stored == reading.stored
