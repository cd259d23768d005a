"""A local server that answers as OpenAI and Anthropic do, well or badly, by a script.

Tests import the fixture `llm_server` (`from fake_server import llm_server`) and drive the real SDKs
against it over HTTP: `POST /v1/chat/completions`, `/v1/responses` and `/v1/messages`. Each request
takes the next behaviour of the script, or `default` where the script is empty.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import pytest
import uvicorn
from fake_answers import (
    SUMMARY,
    Answer,
    Behaviour,
    Cut,
    Failure,
    Raw,
    Wait,
    content_filter,
    cut,
    delay,
    empty,
    failed,
    hang,
    nothing,
    ok,
    overflow,
    rate_limited,
    reasoning_only,
    refused,
    server_error,
    tool_call,
    truncated,
)
from fake_bodies import chat_body, failure_response, message_body, response_body, text_of
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

__all__ = [
    "SUMMARY",
    "Answer",
    "Behaviour",
    "Cut",
    "Failure",
    "LLMServer",
    "Limited",
    "Raw",
    "Recorded",
    "Wait",
    "content_filter",
    "cut",
    "delay",
    "empty",
    "failed",
    "hang",
    "llm_server",
    "nothing",
    "ok",
    "overflow",
    "rate_limited",
    "reasoning_only",
    "refused",
    "server_error",
    "tool_call",
    "truncated",
]


@dataclass(frozen=True)
class Recorded:
    """A request as it came: path, JSON body, headers with lower-case names."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass(frozen=True)
class Limited:
    """The answers of a model with a window: what does not fit is refused or cut off.

    Attributes:
        window: Tokens of prompt and answer together.
        count: Returns the tokens of a text, as this model counts.
        answer: What is answered where there is room; the usage is filled in.
        refusal: Makes the refusal from the window and the prompt's size.
    """

    window: int
    count: Callable[[str], int]
    answer: Answer
    refusal: Callable[[int, int], Failure]

    def to(self, body: dict[str, Any]) -> Answer | Failure:
        """Return the answer to a request."""
        size = self.count("\n".join(_texts(body)))
        if size > self.window:
            return self.refusal(self.window, size)
        text = text_of(self.answer, body)
        length = self.count(text)
        end = self.answer.end if size + length <= self.window else "length"
        return replace(self.answer, text=text, end=end, input_tokens=size, output_tokens=length)


def _texts(body: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a request of any of the endpoints."""
    for message in body.get("messages", ()):
        yield message["content"]
    for key in ("system", "instructions", "input"):
        if key in body:
            yield body[key]


class _Server(uvicorn.Server):
    """A server that ends at once when told to; uvicorn's own takes a fifth of a second."""

    async def main_loop(self) -> None:
        while not self.should_exit:  # noqa: ASYNC110 - uvicorn's own flag, set by a thread
            await asyncio.sleep(0.002)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await asyncio.sleep(0)  # lets the connections close


class LLMServer:
    """The server; a context manager that runs it in a thread of its own on a free port."""

    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self.default: Behaviour | Limited = ok()
        self._script: deque[Behaviour | Limited] = deque()
        self._closing = threading.Event()
        routes = [
            Route(path, self._endpoint(api), methods=["POST"])
            for path, api in (
                ("/v1/chat/completions", "chat"),
                ("/v1/responses", "responses"),
                ("/v1/messages", "messages"),
            )
        ]
        config = uvicorn.Config(
            Starlette(routes=routes), log_config=None, log_level="critical", lifespan="off"
        )
        self._server = _Server(config)
        # Named as TCP, else asyncio leaves Nagle's algorithm on and each answer takes 40 ms.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen()  # already here: a request that comes early waits in the backlog
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @property
    def openai_url(self) -> str:
        """The `base_url` of an OpenAI client."""
        return f"{self.origin}/v1"

    @property
    def anthropic_url(self) -> str:
        """The `base_url` of an Anthropic client."""
        return self.origin

    @property
    def env(self) -> dict[str, str]:
        """Environment variables with which clients made without arguments talk to this server."""
        return {
            "OPENAI_BASE_URL": self.openai_url,
            "OPENAI_API_KEY": "sk-test-openai",
            "ANTHROPIC_BASE_URL": self.anthropic_url,
            "ANTHROPIC_API_KEY": "sk-test-anthropic",
            "NO_PROXY": "127.0.0.1",
        }

    def script(self, *behaviours: Behaviour | Limited) -> None:
        """Answer the next requests so, in this order; an older script is dropped."""
        self._script = deque(behaviours)

    def __enter__(self) -> LLMServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.should_exit = True
        self._thread.join(5)
        self._socket.close()

    def _endpoint(self, api: str) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            body = json.loads(await request.body())
            self.requests.append(Recorded(request.url.path, body, dict(request.headers)))
            behaviour = self._script.popleft() if self._script else self.default
            if isinstance(behaviour, Wait):
                behaviour.arrived.set()
                await self._pause(behaviour)
                behaviour = behaviour.then
            if isinstance(behaviour, Limited):
                behaviour = behaviour.to(body)
            return _response(api, behaviour, body)

        return answer

    async def _pause(self, wait: Wait) -> None:
        end = asyncio.get_running_loop().time() + wait.seconds
        while asyncio.get_running_loop().time() < end:
            if wait.release.is_set() or self._closing.is_set():
                return
            await asyncio.sleep(0.005)


@pytest.fixture
def llm_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LLMServer]:
    """A running server with an empty script and no requests recorded."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with LLMServer() as server:
        yield server


def _response(api: str, behaviour: Behaviour, body: dict[str, Any]) -> Response:
    match behaviour:
        case Failure():
            return failure_response(api, behaviour)
        case Raw():
            return Response(behaviour.body, behaviour.status, media_type=behaviour.media_type)
        case Cut():
            return StreamingResponse(
                _half_a_body(),
                headers={"content-length": "4000", "retry-after-ms": "1"},
                media_type="application/json",
            )
        case Answer():
            if behaviour.end == "failed" and api != "responses":
                return failure_response(api, server_error(text_of(behaviour, body)))
            write = {"chat": chat_body, "responses": response_body, "messages": message_body}[api]
            return JSONResponse(write(behaviour, body))
        case Wait():
            raise AssertionError("a pause is over before its answer is written")


async def _half_a_body() -> AsyncIterator[bytes]:
    yield b'{"id": "cut", "model":'
    # uvicorn closes the connection when fewer bytes come than content-length has promised.
