"""A local server that answers one way, and the tests that each provider's capture passes.

A provider's test module names its answers and how its real SDK asks; `CaptureSuite` does the rest.
"""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from logs import records

from chatfold import ChatContext
from chatfold.capture import Captured, captured, record
from chatfold.core.flow import Usage
from chatfold.shapes import shape_named

__all__ = ["Answered", "CaptureSuite", "Host", "NativeServer", "sse"]


@dataclass
class Answered:
    """One answer of a model, as its server writes it whole and as a stream.

    Attributes:
        whole: The JSON body of the whole response.
        events: The body of the stream, event by event.
        ends: How many of the events must have come before the message is finished.
        usage: The tokens that both say were used.
        open: The names of the calls that wait for a result, in order.
    """

    whole: dict[str, Any]
    events: list[bytes]
    ends: int
    usage: Usage | None
    open: list[str] = field(default_factory=list)


class NativeServer:
    """A server on a free port; `answer` sets what it says, `requests` are the bodies it got."""

    def __init__(self, stream_type: str) -> None:
        self.requests: list[dict[str, Any]] = []
        self.breaks = False
        self._answers: list[bytes | list[bytes]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                server.requests.append(json.loads(self.rfile.read(length)))
                # Each test may have a loop of its own, so no connection outlives its request.
                self.close_connection = True
                self.send_response(200)
                self.send_header("connection", "close")
                answer = server._next()
                if isinstance(answer, bytes):
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                else:
                    self.send_header("content-type", stream_type)
                    self.send_header("transfer-encoding", "chunked")
                    self.end_headers()
                    self._stream(answer)

            def _stream(self, events: list[bytes]) -> None:
                try:
                    for event in events:
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                        self.wfile.flush()
                    if not server.breaks:
                        self.wfile.write(b"0\r\n\r\n")
                except OSError:
                    pass  # the client has left

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(
        self, *answered: Answered, streamed: bool, cut: int | None = None, breaks: bool = False
    ) -> None:
        """Answer so from now on, the last one again and again.

        Args:
            answered: The answers, in turn.
            streamed: Whether they are streamed.
            cut: How many events of a stream are sent; None for all.
            breaks: Whether the connection is closed in the middle of the stream.
        """
        self._answers = [
            a.events[:cut] if streamed else json.dumps(a.whole).encode() for a in answered
        ]
        self.breaks = breaks

    def _next(self) -> bytes | list[bytes]:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    @contextmanager
    def running(self) -> Iterator[NativeServer]:
        """Run in a thread of its own."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join(5)


class Host:
    """Keeps a history by `captured` and `record`, as a context does."""

    def __init__(self, before: list[Any]) -> None:
        self.items = list(before)
        self.start = len(before)
        self.usage: Usage | None = None
        self.model: str | None = None

    @property
    def added(self) -> list[Any]:
        return self.items[self.start :]

    def add_response(self, response: Any, *, choice: int | None = None) -> None:
        self._keep(captured(response, shape_named, self.items, choice=choice))

    def record(self, stream: Any) -> Any:
        return record(stream, shape_named, self.items, self._keep)

    def _keep(self, found: Captured) -> None:
        self.items.extend(found.items)
        self.usage = found.usage or self.usage
        self.model = found.model or self.model


def sse(*chunks: dict[str, Any]) -> list[bytes]:
    """Return chunks as server-sent events."""
    return [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]


class CaptureSuite:
    """What capture promises for every provider; a subclass says how to ask its real SDK."""

    shape: ClassVar[str]
    stream_type: ClassVar[str] = "text/event-stream"
    user: ClassVar[Any]
    answers: ClassVar[dict[str, Answered]]
    asynchronous: ClassVar[bool] = True
    model: ClassVar[str | None] = None

    def call(self, url: str, items: list[Any]) -> Any:
        """Ask for a whole response."""
        raise NotImplementedError

    def stream(self, url: str, items: list[Any]) -> Any:
        """Ask for a stream; what is returned is what a user hands to `record`."""
        raise NotImplementedError

    async def acall(self, url: str, items: list[Any]) -> Any:
        """Ask for a whole response, with the async client."""
        raise NotImplementedError

    async def astream(self, url: str, items: list[Any]) -> Any:
        """Ask for a stream, with the async client."""
        raise NotImplementedError

    def sent(self, body: dict[str, Any]) -> list[Any]:
        """Return the items in the body of a request."""
        raise NotImplementedError

    def written(self, answered: Answered, ids: list[str | None]) -> Any:
        """Return the answer's message as the server wrote it, its calls with these ids."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def server(cls) -> Iterator[NativeServer]:
        """A running server."""
        with (
            pytest.MonkeyPatch.context() as environment,
            NativeServer(cls.stream_type).running() as server,
        ):
            environment.setenv("NO_PROXY", "127.0.0.1")
            yield server

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test with every answer of the provider, and each way that its SDK has."""
        if "way" in metafunc.fixturenames:
            metafunc.parametrize("way", ["sync", "async"] if self.asynchronous else ["sync"])
        if "answered" in metafunc.fixturenames:
            cases = self.answers
            metafunc.parametrize("answered", cases.values(), ids=cases.keys())

    async def whole(self, way: str, server: NativeServer, answered: Answered) -> Host:
        """Return a host that has added the whole response."""
        server.answer(answered, streamed=False)
        host = Host([self.user])
        if way == "sync":
            response = self.call(server.url, host.items)
        else:
            response = await self.acall(server.url, host.items)
        host.add_response(response)
        return host

    async def recorded(
        self, way: str, server: NativeServer, host: Host, leave: int | None = None
    ) -> tuple[list[Any], BaseException | None]:
        """Read a recorded stream, or the first events of one; return them and what broke it."""
        events: list[Any] = []
        if way == "sync":
            stream = host.record(self.stream(server.url, host.items))
            with _closing(stream):
                try:
                    if leave != 0:
                        for event in readable(stream):
                            events.append(event)
                            if len(events) == leave:
                                break
                except Exception as error:
                    return events, error
            return events, None
        stream = host.record(await self.astream(server.url, host.items))
        try:
            if leave != 0:
                async for event in readable(stream):
                    events.append(event)
                    if len(events) == leave:
                        break
        except Exception as error:
            return events, error
        finally:
            await _aclose(stream)
        return events, None

    @pytest.mark.anyio
    async def test_a_stream_gives_the_items_of_the_whole_response(
        self, way: str, server: NativeServer, answered: Answered
    ) -> None:
        """Items, call ids, usage and model are the same, however the answer came."""
        whole = await self.whole(way, server, answered)
        server.answer(answered, streamed=True)
        host = Host([self.user])
        with records() as logged:
            _, error = await self.recorded(way, server, host)
        assert error is None
        assert not _warnings(logged)
        assert len(host.added) == 1
        assert host.added == whole.added
        assert [type(item) for item in host.added] == [type(item) for item in whole.added]
        assert host.usage == whole.usage == answered.usage
        assert host.model == whole.model == self.model

    @pytest.mark.anyio
    async def test_every_event_passes_through_as_it_came(
        self, way: str, server: NativeServer, answered: Answered
    ) -> None:
        """A recorded stream gives what the SDK's own gives, and recording changes none of it."""
        server.answer(answered, streamed=True)
        host = Host([self.user])
        events, _ = await self.recorded(way, server, host)
        if way == "sync":
            plain = list(readable(self.stream(server.url, [self.user])))
        else:
            plain = [e async for e in readable(await self.astream(server.url, [self.user]))]
        assert len(events) == len(answered.events)
        assert [comparable(e) for e in events] == [comparable(e) for e in plain]

    @pytest.mark.anyio
    @pytest.mark.parametrize("breaks", [True, False], ids=["broken", "ended"])
    async def test_a_stream_that_the_server_cuts_stores_what_was_finished(
        self, way: str, server: NativeServer, answered: Answered, breaks: bool
    ) -> None:
        """Whatever the place of the cut, the history holds the whole message or none of it."""
        whole = await self.whole(way, server, answered)
        for cut in range(len(answered.events) + 1):
            server.answer(answered, streamed=True, cut=cut, breaks=breaks)
            host = Host([self.user])
            with records() as logged:
                events, _ = await self.recorded(way, server, host)
            assert len(events) <= cut
            self._judge(answered, whole, host, len(events), logged)

    @pytest.mark.anyio
    async def test_a_stream_that_the_client_leaves_stores_what_was_finished(
        self, way: str, server: NativeServer, answered: Answered
    ) -> None:
        """A client that breaks off after any event has the whole message or none of it."""
        whole = await self.whole(way, server, answered)
        for leave in range(len(answered.events) + 1):
            server.answer(answered, streamed=True)
            host = Host([self.user])
            with records() as logged:
                events, error = await self.recorded(way, server, host, leave)
            assert error is None
            assert len(events) == leave
            self._judge(answered, whole, host, leave, logged)

    @pytest.mark.anyio
    async def test_a_stream_that_is_dropped_says_so(
        self, way: str, server: NativeServer, answered: Answered
    ) -> None:
        """A stream that nobody reads on and nobody closes is reported when it is given up."""
        whole = await self.whole(way, server, answered)
        server.answer(answered, streamed=True)
        host = Host([self.user])
        with records() as logged:
            await self._read_one(way, server, host)
            gc.collect()
        self._judge(answered, whole, host, 1, logged)

    async def _read_one(self, way: str, server: NativeServer, host: Host) -> None:
        if way == "sync":
            next(iter(readable(host.record(self.stream(server.url, host.items)))))
        else:
            stream = readable(host.record(await self.astream(server.url, host.items)))
            await anext(aiter(stream))

    def _judge(
        self, answered: Answered, whole: Host, host: Host, seen: int, logged: list[Any]
    ) -> None:
        finished = seen >= answered.ends
        assert host.added == (whole.added if finished else [])
        assert len(_warnings(logged)) == (0 if finished or seen == 0 else 1)
        problems = ChatContext(host.items, shape=self.shape).check()
        assert [p for p in problems if p.severity == "error"] == []
        waiting = [p for p in problems if p.severity == "pending"]
        assert bool(waiting) == (finished and bool(answered.open))

    @pytest.mark.anyio
    async def test_a_user_may_speak_at_any_moment_of_a_stream(
        self, way: str, server: NativeServer, answered: Answered
    ) -> None:
        """What was said stands before the whole answer or behind its results, and between none."""
        for at in range(1, len(answered.events) + 1):
            server.answer(answered, streamed=True)
            ctx: ChatContext[Any] = ChatContext([self.user], shape=self.shape)
            if way == "sync":
                stream = ctx.record(self.stream(server.url, [self.user]))
                for seen, _ in enumerate(readable(stream), 1):
                    if seen == at:
                        ctx.append(self.user)
            else:
                stream = ctx.record(await self.astream(server.url, [self.user]))
                seen = 0
                async for _ in readable(stream):
                    seen += 1
                    if seen == at:
                        ctx.append(self.user)
            assert seen == len(answered.events)
            assert sum(item is self.user for item in ctx.items) == 2
            ctx.run_tool_calls({name: lambda **_: "done" for name in answered.open})
            assert [c.completed for c in ctx.tool_calls()] == [True] * len(ctx.tool_calls())
            problems = {p.rule for p in ctx.check() if p.severity in ("error", "pending")}
            assert problems == set(), at

    @pytest.mark.anyio
    async def test_what_was_captured_is_sent_back_as_it_came(
        self, way: str, server: NativeServer, answered: Answered
    ) -> None:
        """The SDK takes the item, and the server gets what it wrote: nothing is lost or encoded."""
        host = await self.whole(way, server, answered)
        ctx = ChatContext(host.items, shape=self.shape)
        waiting = [call for call in ctx.tool_calls() if not call.completed]
        assert [call.name for call in waiting] == answered.open
        if way == "sync":
            self.call(server.url, host.items)
        else:
            await self.acall(server.url, host.items)
        ids = [call.id for call in waiting]
        assert self.sent(server.requests[-1])[-1] == self.written(answered, ids)


def readable(stream: Any) -> Any:
    """Return what is read event by event: Bedrock's response holds its stream."""
    return stream["stream"] if isinstance(stream, dict) else stream


def comparable(event: Any) -> Any:
    """Return an event without the headers of its answer, in which the time stands."""
    if hasattr(event, "sdk_http_response"):
        return event.model_copy(update={"sdk_http_response": None})
    return event


@contextmanager
def _closing(stream: Any) -> Iterator[None]:
    try:
        yield
    finally:
        readable(stream).close()


async def _aclose(stream: Any) -> None:
    close: Callable[[], Any] = getattr(stream, "aclose", None) or stream.close
    await close()


def _warnings(logged: list[Any]) -> list[str]:
    return [r.getMessage() for r in logged if r.name == "chatfold" and r.levelname == "WARNING"]
