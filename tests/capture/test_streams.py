"""What stands before a stream: events and errors pass through it, and it can be left anywhere."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any

import pytest
from capture.driving import Reading, call, whole_items, whole_response
from capture.replies import CHAT, MESSAGES, RESPONSES, response
from capture.stream_server import Reply, StreamServer
from logs import records

from chatfold import ChatContext
from chatfold.capture import captured, record
from chatfold.shapes import shape_named

REASONED = RESPONSES["reasoning and parallel calls"]
REPLY = response(REASONED.whole["output"][1:])
HALF = "function_call (output 1)"
LEFT = 1 + [e.get("output_index") for e in REPLY.events].index(1)
"""Number of events after which the first item is done and the second begun."""


def generator(events: Any = REPLY.events, error: BaseException | None = None) -> Iterator[Any]:
    yield from events
    if error is not None:
        raise error


async def async_generator(
    events: Any = REPLY.events, error: BaseException | None = None
) -> AsyncIterator[Any]:
    for event in events:
        yield event
    if error is not None:
        raise error


def warned(found: list[Any]) -> list[str]:
    return [r.getMessage() for r in found if r.name == "chatfold"]


# Events and errors


def test_events_are_passed_on_as_the_same_objects() -> None:
    """Nothing is copied or converted on the way, and a generator or a list is a stream too."""
    for source in (generator(), list(REPLY.events), iter(REPLY.events)):
        reading = Reading()
        events = list(reading.record(source))
        assert all(a is b for a, b in zip(events, REPLY.events, strict=True))
        assert reading.items == REPLY.whole["output"]


@pytest.mark.anyio
async def test_events_of_an_async_generator_are_passed_on_as_the_same_objects() -> None:
    """An async generator is read by `async for`, and recorded as a sync one is."""
    reading = Reading()
    events = [event async for event in reading.record(async_generator())]
    assert all(a is b for a, b in zip(events, REPLY.events, strict=True))
    assert reading.items == REPLY.whole["output"]


def test_stored_items_share_nothing_with_the_events() -> None:
    """Whoever changes an event afterwards does not change the history."""
    reading = Reading()
    events: Any = [{**e, "item": dict(e["item"])} if "item" in e else e for e in REPLY.events]
    for event in reading.record(generator(events)):
        if "item" in event:
            event["item"]["type"] = "changed"
    assert reading.items == REPLY.whole["output"]


class Broken(BaseException):
    """An error of the transport."""


@pytest.mark.anyio
async def test_an_error_of_the_stream_passes_through_unchanged() -> None:
    """The very exception arrives, after one warning; what was finished is stored."""
    for asynchronous in (False, True):
        reading, error = Reading(), Broken("x")
        caught: BaseException | None = None
        with records() as found:
            try:
                if asynchronous:
                    async for _ in reading.record(async_generator(REPLY.events[:LEFT], error)):
                        pass
                else:
                    list(reading.record(generator(REPLY.events[:LEFT], error)))
            except Broken as raised:
                caught = raised
        assert caught is error
        assert reading.items == REPLY.whole["output"][:1]
        said = "a recorded stream ended before it was finished; not stored: "
        assert warned(found) == [f"{said}function_call (output 1); stored: 1 items"]


def test_a_stream_that_chatfold_does_not_know_passes_through() -> None:
    """Unknown events are handed over, nothing is stored, and the log says why."""
    events = [{"type": "ping"}, {"type": "newer.event"}, object(), None]
    reading = Reading()
    with records() as found:
        stream = reading.record(generator(events))
        assert list(stream) == events
    assert stream.unfinished == "a stream that chatfold does not know"
    assert (reading.items, reading.told) == ([], [])
    assert len(warned(found)) == 1


def test_a_stream_without_events_is_no_reason_to_warn() -> None:
    """Nothing was begun, so nothing is unfinished."""
    reading = Reading()
    with records() as found:
        stream = reading.record(generator([]))
        assert list(stream) == []
    assert stream.unfinished == ""
    assert not warned(found)


class Odd:
    """An event whose fields cannot be read."""

    type = "response.output_item.done"

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no field can be read: a secret")


def test_an_event_that_cannot_be_read_does_not_cost_the_stream() -> None:
    """The reader gets all events; what came before is stored; the log holds no content."""
    events = [*REPLY.events[:LEFT], Odd(), *REPLY.events[LEFT:]]
    reading = Reading()
    with records() as found:
        stream = reading.record(generator(events))
        assert len(list(stream)) == len(events)
    assert reading.items == REPLY.whole["output"][:1]
    assert stream.unfinished == "all since an event that cannot be read (RuntimeError)"
    assert "secret" not in str(warned(found))
    assert len(warned(found)) == 1


_NONSENSE: tuple[Any, ...] = (None, 5, "\ud800", [None], [5, [[]]], {}, {"type": None})
_STREAMS = [CHAT["fields of other servers"], REASONED, MESSAGES["server tools and citations"]]


@pytest.mark.parametrize("reply", _STREAMS, ids=lambda reply: reply.api)
def test_a_field_that_holds_nonsense_breaks_nothing(reply: Reply) -> None:
    """Whatever stands in any field of any event, the stream goes on to its end."""
    for number, event in enumerate(reply.events):
        for broken in _broken(event, 4):
            events = [*reply.events[:number], broken, *reply.events[number + 1 :]]
            assert len(list(Reading().record(generator(events)))) == len(events)


def _broken(value: Any, depth: int) -> Iterator[Any]:
    """Yield the value with one field replaced, some levels deep."""
    if depth and isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: made} for made in (*_NONSENSE, *_broken(inner, depth - 1)))
    elif depth and isinstance(value, list):
        for n, inner in enumerate(value):
            for made in (*_NONSENSE, *_broken(inner, depth - 1)):
                yield [*value[:n], made, *value[n + 1 :]]


# Two readers


def test_a_second_thread_that_reads_costs_nothing() -> None:
    """A generator refuses it while the first one waits; that one's events are recorded."""
    waits, goes_on = threading.Event(), threading.Event()

    def slow() -> Iterator[Any]:
        for event in REPLY.events:
            if event is REPLY.events[LEFT]:
                waits.set()
                goes_on.wait(10)
            yield event

    reading = Reading()
    stream = reading.record(slow())
    first = threading.Thread(target=list, args=(stream,))
    first.start()
    assert waits.wait(10)
    with pytest.raises(ValueError, match="already executing"):
        next(stream)
    goes_on.set()
    first.join()
    assert reading.items == REPLY.whole["output"]
    assert stream.unfinished == ""


@pytest.mark.anyio
async def test_a_second_task_that_reads_costs_nothing() -> None:
    """An async generator refuses it while the first one waits; that one's events are recorded."""

    async def slow() -> AsyncIterator[Any]:
        for event in REPLY.events:
            await asyncio.sleep(0)
            yield event

    reading = Reading()
    stream = reading.record(slow())

    async def read() -> None:
        async for _ in stream:
            pass

    _, error = await asyncio.gather(read(), read(), return_exceptions=True)
    assert isinstance(error, RuntimeError)
    assert reading.items == REPLY.whole["output"]
    assert stream.unfinished == ""


# Leaving early


def _left(stream: Any) -> Any:
    for number, _ in enumerate(stream, 1):
        if number == LEFT:
            return stream
    raise AssertionError


def test_a_stream_that_is_left_and_forgotten_warns_once() -> None:
    """`break` alone ends nothing; the end comes when nobody can read the stream any more."""
    gc.collect()
    reading = Reading()
    with records() as found:
        stream = _left(reading.record(generator()))
        assert stream.unfinished == HALF
        assert not warned(found)
        del stream
        gc.collect()
    assert len(warned(found)) == 1
    assert reading.items == REPLY.whole["output"][:1]
    assert len(reading.told) == 1


class Collecting(logging.Handler):
    """A handler in which the garbage collector runs; it may do so in any other code as well."""

    def emit(self, record: logging.LogRecord) -> None:
        gc.collect()


def test_a_stream_may_be_found_forgotten_while_the_list_is_read() -> None:
    """The list is read once: who counts tokens then does not read it a second time in between."""
    question: list[Any] = [{"role": "user", "content": "What broke?"}]
    ctx, whole = (ChatContext([*question], shape="anthropic") for _ in range(2))
    stream = ctx.record(generator(next(iter(MESSAGES.values())).events))
    next(stream)  # the usage is in the first event
    ring: list[Any] = [stream]
    ring.append(ring)  # as errors and the frames that they come through
    for listed in (ctx.items, whole.items):
        listed.append({"role": "assistant", "content": [{"type": "of_tomorrow"}]})
    expected = whole.load(), whole.views()
    handler = Collecting()
    logger = logging.getLogger("chatfold")
    logger.addHandler(handler)
    try:
        gc.collect()
        del stream, ring
        found = ctx.load(), ctx.views()
    finally:
        logger.removeHandler(handler)
    assert found == expected


def test_a_stream_that_is_left_may_be_read_on() -> None:
    """Reading on after `break` misses nothing."""
    reading = Reading()
    stream = _left(reading.record(generator()))
    rest = list(stream)
    assert rest == REPLY.events[LEFT:]
    assert reading.items == REPLY.whole["output"]
    assert stream.unfinished == ""


def test_closing_a_stream_ends_it() -> None:
    """After `close()` the log says what is missing, once, and the source is closed too."""
    source = generator()
    reading = Reading()
    with records() as found, closing(reading.record(source)) as stream:
        _left(stream)
        stream.close()
        assert len(warned(found)) == 1
    assert len(warned(found)) == 1
    assert list(source) == []
    assert stream.unfinished == HALF


@pytest.mark.anyio
async def test_closing_an_async_stream_ends_it() -> None:
    """After `aclose()` the log says what is missing, once, and the source is closed too."""
    source = async_generator()
    reading = Reading()
    with records() as found:
        async with aclosing(reading.record(source)) as stream:
            for _ in range(LEFT):
                await anext(stream)
        assert len(warned(found)) == 1
    assert [event async for event in source] == []
    assert stream.unfinished == HALF


@pytest.mark.parametrize("helper", [False, True], ids=["raw", "helper"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_an_error_inside_of_with_ends_the_stream(
    stream_server: StreamServer, asynchronous: bool, helper: bool
) -> None:
    """The caller's own error passes, the connection is closed, and the log says what is missing."""
    stream_server.answers(REPLY)
    reading = Reading()
    error = KeyError("mine")
    responses: list[Any] = []

    def fail() -> None:
        options = {"helper": True} if helper else {"stream": True}
        with reading.record(call(stream_server.client("responses"), "responses", **options)) as s:
            responses.append(s._response if helper else s.response)
            for _ in range(LEFT):
                next(s)
            raise error

    async def afail() -> None:
        options = {"helper": True} if helper else {"stream": True}
        made = call(stream_server.client("responses", asynchronous=True), "responses", **options)
        async with reading.record(made if helper else await made) as s:
            responses.append(s._response if helper else s.response)
            for _ in range(LEFT):
                await anext(s)
            raise error

    with records() as found, pytest.raises(KeyError) as raised:
        stream_server.loop.run(afail()) if asynchronous else fail()
    assert raised.value is error
    assert len(warned(found)) == 1
    assert reading.items == REPLY.whole["output"][:1]
    assert [r.is_closed for r in responses] == [True]


# What else a stream offers


def test_attributes_of_the_stream_are_its_own(stream_server: StreamServer) -> None:
    """The response, the request's id and whatever else are reached through the recorded stream."""
    stream_server.answers(MESSAGES["text"])
    options: Any = {"model": "claude-opus-5", "max_tokens": 9}
    asked = [{"role": "user", "content": "?"}]
    client = stream_server.client("messages")
    with Reading().record(client.messages.stream(messages=asked, **options)) as stream:
        assert stream.response.status_code == 200
        assert stream.request_id is None
        next(stream)
        assert stream.current_message_snapshot.model == "claude-opus-5"
        with pytest.raises(AttributeError, match="no_such_thing"):
            _ = stream.no_such_thing
        assert "MessageStream" in repr(stream)
    raw = Reading().record(client.messages.create(messages=asked, stream=True, **options))
    with raw, pytest.raises(AttributeError, match="text_stream"):
        _ = raw.text_stream


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("leave", [False, True], ids=["read", "left"])
def test_the_text_stream_is_recorded_too(
    stream_server: StreamServer, leave: bool, asynchronous: bool
) -> None:
    """It gives the texts that the SDK's gives; read to its end, the message is stored."""
    reply = MESSAGES["thinking and parallel calls"]
    items = whole_items(stream_server, reply)
    said = items[0]["content"][2]["text"]
    reading = Reading()
    texts: list[str] = []

    def read() -> None:
        client = stream_server.client("messages")
        with reading.record(call(client, "messages", helper=True)) as stream:
            for text in stream.text_stream:
                texts.append(text)
                if leave:
                    break
        reading.end(stream)

    async def aread() -> None:
        client = stream_server.client("messages", asynchronous=True)
        async with reading.record(call(client, "messages", helper=True)) as stream:
            async for text in stream.text_stream:
                texts.append(text)
                if leave:
                    break
        reading.end(stream)

    if asynchronous:
        stream_server.loop.run(aread())
    else:
        read()
    assert "".join(texts) == (texts[0] if leave else said)
    assert reading.items == ([] if leave else items)
    assert bool(reading.unfinished) is leave


@pytest.mark.anyio
async def test_a_stream_is_read_in_the_way_that_it_was_made_for() -> None:
    """`async for` over a sync stream is Python's own TypeError, and so the other way round."""
    with pytest.raises(TypeError, match="async for"):
        async for _ in Reading().record(generator([])):
            pass
    with pytest.raises(TypeError, match="not iterable"):
        for _ in Reading().record(async_generator([])):
            pass
    with pytest.raises(TypeError, match="read it with `for`"), Reading().record(generator([])):
        pass


def test_a_response_that_holds_its_stream_is_returned_with_the_stream_recorded() -> None:
    """Bedrock's calls return a dict; the other keys stay."""
    reading = Reading()
    answer = reading.record({"stream": generator(), "ResponseMetadata": {}})
    assert set(answer) == {"stream", "ResponseMetadata"}
    list(answer["stream"])
    assert reading.items == REPLY.whole["output"]


# What is refused


def _refused(value: Any) -> tuple[str, str]:
    """Return what `record` and `add_response` say of a value, "" where they take it."""
    said: list[str] = []
    for attempt in (
        lambda: record(value, shape_named, [], lambda _: None),
        lambda: captured(value, shape_named, []),
    ):
        try:
            attempt()
        except TypeError as error:
            said.append(str(error))
        else:
            said.append("")
    return said[0], said[1]


async def _coroutine() -> None: ...


def test_what_is_no_response_and_no_stream_is_refused_with_what_to_pass(
    stream_server: StreamServer,
) -> None:
    """Each wrong argument gets words that name the right one."""
    client = stream_server.client("chat")
    whole = whole_response(stream_server, CHAT["text"])
    message = whole.choices[0].message
    helper = call(client, "chat", helper=True)
    waiting = _coroutine()
    streaming = client.chat.completions.with_streaming_response.create(
        model="gpt-5", messages=[{"role": "user", "content": "?"}]
    )
    expected: list[tuple[Any, str, str]] = [
        (whole, "ctx.add_response", ""),
        (CHAT["text"].whole, "ctx.add_response", ""),
        (RESPONSES["text"].whole, "stream=True", ""),
        (MESSAGES["text"].whole, "stream=True", ""),
        (waiting, "`await`", "`await`"),
        (streaming, "parse()", "parse()"),
        (generator(), "", "ctx.record(stream)"),
        (async_generator(), "", "ctx.record(stream)"),
        (helper, "", "ctx.record(stream)"),
        (message, "got ChatCompletionMessage", "ctx.append"),
        (whole.choices[0], "got Choice", "such as a ChatCompletion"),
        (message.to_dict(), "got dict", "ctx.append"),
        (MESSAGES["text"].whole["content"][0], "got dict", "ctx.append"),
        ({"object": "response.compaction", "output": []}, "got dict", "stands for the whole"),
        (RESPONSES["text"].whole["output"], "", "ctx.extend"),
        ("text", "got str", "got str"),
        (None, "got NoneType", "got NoneType"),
        (5, "got int", "got int"),
    ]
    for value, recorded, taken in expected:
        found = _refused(value)
        for words, said in zip((recorded, taken), found, strict=True):
            assert words in said, (value, found)
            assert bool(words) is bool(said), (value, found)
    waiting.close()
