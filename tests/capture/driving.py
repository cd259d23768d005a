"""Reading a reply by the real SDKs, whole or as a recorded stream, sync or async."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from capture.stream_server import Api, Reply, StreamServer

from chatfold.capture import Captured, captured, record
from chatfold.shapes import shape_named

__all__ = ["Reading", "call", "read", "whole_items", "whole_response"]

_ASKED = [{"role": "user", "content": "Weather?"}]


@dataclass
class Reading:
    """What came of a stream that was read.

    Attributes:
        items: The list that the items were added to.
        events: The events that were handed over.
        stored_at: For each event, how many items were in the list when it was handed over.
        told: What was kept besides items: usage, model, what the server holds.
        error: What the stream raised, None where it ended.
        stored: What the stream says it stored.
        unfinished: What the stream says is not finished, after all.
        answer: What the method named by `drain` returned.
    """

    items: list[Any] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    stored_at: list[int] = field(default_factory=list)
    told: list[Captured] = field(default_factory=list)
    error: BaseException | None = None
    stored: tuple[Any, ...] = ()
    unfinished: str = ""
    answer: Any = None

    def keep(self, captured: Captured) -> None:
        self.items.extend(captured.items)
        if not captured.items:
            self.told.append(captured)

    def record(self, stream: Any) -> Any:
        return record(stream, shape_named, self.items, self.keep)

    def take(self, event: Any) -> None:
        self.events.append(event)
        self.stored_at.append(len(self.items))

    def end(self, stream: Any) -> None:
        self.stored, self.unfinished = stream.stored, stream.unfinished


def call(client: Any, api: Api, *, helper: bool = False, **options: Any) -> Any:
    """Make the call of an API; with `helper`, by the SDK's own `stream()`."""
    match api:
        case "chat":
            made = client.chat.completions
            options |= {"messages": _ASKED, "model": "gpt-5"}
        case "responses":
            made = client.responses
            options |= {"input": "Weather?", "model": "gpt-5"}
        case "messages":
            made = client.messages
            options |= {"messages": _ASKED, "model": "claude-opus-5", "max_tokens": 99}
    if helper and not hasattr(made, "stream"):
        pytest.skip(f"the installed SDK has no stream() for {api}")
    return made.stream(**options) if helper else made.create(**options)


def whole_response(server: StreamServer, reply: Reply) -> Any:
    """Return the SDK's object for a reply that was not streamed."""
    server.answers(reply)
    return call(server.client(reply.api), reply.api)


def whole_items(server: StreamServer, reply: Reply, before: Any = ()) -> list[Any]:
    """Return the items of a reply that was not streamed."""
    return list(captured(whole_response(server, reply), shape_named, list(before)).items)


def read(
    server: StreamServer,
    reply: Reply,
    *,
    asynchronous: bool = False,
    helper: bool = False,
    cut: int | None = None,
    broken: bool = False,
    leave: int | None = None,
    drain: str | None = None,
    before: Any = (),
) -> Reading:
    """Read a reply as a recorded stream.

    Args:
        server: Gives the reply.
        reply: What it gives.
        asynchronous: Whether by the async client.
        helper: Whether by the SDK's own `stream()`.
        cut: After how many events the server ends the stream.
        broken: Whether the connection breaks there.
        leave: After how many events we stop reading and close.
        drain: Name of a method that reads the rest.
        before: What is in the list at first.
    """
    server.answers(reply, cut=cut, broken=broken)
    reading = Reading(items=list(before))
    if asynchronous:
        server.loop.run(_aread(server, reply.api, reading, helper, leave, drain))
    else:
        _read(server, reply.api, reading, helper, leave, drain)
    return reading


def _read(
    server: StreamServer,
    api: Api,
    reading: Reading,
    helper: bool,
    leave: int | None,
    drain: str | None,
) -> None:
    client = server.client(api)
    opened = call(client, api, **({"helper": True} if helper else {"stream": True}))
    with reading.record(opened) as stream:
        try:
            while leave is None or len(reading.events) < leave:
                event = next(stream, None)
                if event is None:
                    break
                reading.take(event)
        except Exception as error:
            reading.error = error
        if drain is not None:
            reading.answer = getattr(stream, drain)()
    reading.end(stream)


async def _aread(
    server: StreamServer,
    api: Api,
    reading: Reading,
    helper: bool,
    leave: int | None,
    drain: str | None,
) -> None:
    client = server.client(api, asynchronous=True)
    opened = call(client, api, **({"helper": True} if helper else {"stream": True}))
    async with reading.record(opened if helper else await opened) as stream:
        try:
            while leave is None or len(reading.events) < leave:
                event = await anext(stream, None)
                if event is None:
                    break
                reading.take(event)
        except Exception as error:
            reading.error = error
        if drain is not None:
            reading.answer = await getattr(stream, drain)()
    reading.end(stream)
