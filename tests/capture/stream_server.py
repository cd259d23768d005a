"""A local server that gives one answer whole or as a stream, which may end too early.

Tests use the fixture `stream_server` and drive the real SDKs against it over HTTP.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import anthropic
import openai
import pytest
from fake_server import LLMServer
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

__all__ = ["Api", "Reply", "StreamServer", "stream_server"]

Api = Literal["chat", "responses", "messages"]


@dataclass(frozen=True)
class Reply:
    """An answer: its body, and the same as the events of a stream.

    Attributes:
        api: Which endpoint gives it.
        whole: The body of the answer that is not streamed.
        events: The events of the stream, without the last `[DONE]` of Chat Completions.
    """

    api: Api
    whole: dict[str, Any] = field(repr=False)
    events: list[dict[str, Any]] = field(repr=False)


class StreamServer(LLMServer):
    """The server; `reply` is what it answers, `cut` after how many events a stream ends.

    Attributes:
        cut: Number of events to send; None sends all.
        broken: Whether the connection breaks there, instead of ending as if all was said.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reply: Reply | None = None
        self.cut: int | None = None
        self.broken = False
        self.loop = asyncio.Runner()  # of all async clients
        self._clients: dict[tuple[str, bool], Any] = {}

    def answers(self, reply: Reply, *, cut: int | None = None, broken: bool = False) -> None:
        self.reply, self.cut, self.broken = reply, cut, broken

    def client(self, api: Api, *, asynchronous: bool = False) -> Any:
        """Return the SDK's client for an API; it is made once, which takes longer than a call."""
        key = ("anthropic" if api == "messages" else "openai", asynchronous)
        if key not in self._clients:
            cls: Any = {
                ("openai", False): openai.OpenAI,
                ("openai", True): openai.AsyncOpenAI,
                ("anthropic", False): anthropic.Anthropic,
                ("anthropic", True): anthropic.AsyncAnthropic,
            }[key]
            url = self.anthropic_url if api == "messages" else self.openai_url
            self._clients[key] = cls(base_url=url, api_key="sk-test", max_retries=0)
        return self._clients[key]

    def close_clients(self) -> None:
        for (_, asynchronous), client in self._clients.items():
            if asynchronous:
                self.loop.run(client.close())
            else:
                client.close()
        self.loop.close()

    def _endpoint(self, api: str) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            body = json.loads(await request.body())
            assert self.reply is not None
            assert self.reply.api == api
            if not body.get("stream"):
                return JSONResponse(self.reply.whole)
            lines = _lines(self.reply, self.cut, self.broken)
            return StreamingResponse(lines, media_type="text/event-stream")

        return answer


async def _lines(reply: Reply, cut: int | None, broken: bool) -> AsyncIterator[str]:
    for event in reply.events[:cut]:
        name = "" if reply.api == "chat" else f"event: {event['type']}\n"
        yield f"{name}data: {json.dumps(event)}\n\n"
    if broken:
        raise ConnectionError  # uvicorn then closes the connection without the last chunk
    if reply.api == "chat" and cut is None:
        yield "data: [DONE]\n\n"


@pytest.fixture(scope="session")
def _running() -> Iterator[StreamServer]:
    with pytest.MonkeyPatch.context() as patch, StreamServer() as server:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield server
        server.close_clients()


@pytest.fixture
def stream_server(_running: StreamServer, monkeypatch: pytest.MonkeyPatch) -> StreamServer:
    """The server of the session, with nothing to answer yet."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _running.reply = None
    return _running
