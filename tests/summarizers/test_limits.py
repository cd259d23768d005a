"""How long one model call may take, whatever the server does meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic import DefaultAsyncHttpxClient as AsyncHttpOfAnthropic
from anthropic import DefaultHttpxClient as HttpOfAnthropic
from background import LIMIT, wait_until
from fake_server import LLMServer, ok
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI

from chatfold.core.render import Prompt
from chatfold.errors import MissingExtraError, SummarizerError
from chatfold.summarizers import AnthropicSummarizer, OpenAISummarizer
from chatfold.summarizers._named import NamedSummarizer
from chatfold.summarizers.native_anthropic import AnthropicCompaction
from chatfold.summarizers.native_openai import OpenAICompaction

SECONDS = 0.3  # that a call may take
LATE = 5.0  # seconds; far more than a call that heeds its limit takes on a busy machine

BEGUN = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
BUSY = (
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-type: application/json\r\n"
    b"content-length: 2\r\nconnection: close\r\n\r\n{}"
)


class Awkward:
    """A server that begins its answers and sends white space from then on, or that is busy."""

    def __init__(self) -> None:
        self.busy = False
        self.requests = 0
        self.ended = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self.ended.set()
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:  # the client has gone
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(65_536)
            self.requests += 1
            connection.sendall(BUSY if self.busy else BEGUN)
            while not (self.busy or self.ended.wait(0.05)):
                connection.sendall(b"\n")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Awkward]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = Awkward()
    yield made
    made.close()


# Plain HTTP needs no certificates, and loading them takes longer than all else in a test.
def openai(url: str, asynchronous: bool) -> Any:
    if asynchronous:
        http = DefaultAsyncHttpxClient(verify=False)
        return AsyncOpenAI(api_key="k", base_url=url, http_client=http)
    return OpenAI(api_key="k", base_url=url, http_client=DefaultHttpxClient(verify=False))


def anthropic(url: str, asynchronous: bool) -> Any:
    if asynchronous:
        http = AsyncHttpOfAnthropic(verify=False)
        return AsyncAnthropic(api_key="k", base_url=url, http_client=http)
    return Anthropic(api_key="k", base_url=url, http_client=HttpOfAnthropic(verify=False))


WRITERS: dict[str, Callable[..., Any]] = {
    "chat": lambda url, kind, **o: OpenAISummarizer(openai(url, kind), "m", **o),
    "responses": lambda url, kind, **o: OpenAISummarizer(
        openai(url, kind), "m", endpoint="responses", **o
    ),
    "messages": lambda url, kind, **o: AnthropicSummarizer(anthropic(url, kind), "m", **o),
    "compact of OpenAI": lambda url, kind, **o: OpenAICompaction(openai(url, kind), "m", **o),
    "compact of Anthropic": lambda url, kind, **o: AnthropicCompaction(
        anthropic(url, kind), "m", **o
    ),
}


def writer_of(name: str, url: str, asynchronous: bool, **options: Any) -> Any:
    """Return what writes summaries; older SDKs that are supported otherwise cannot compact."""
    try:
        return WRITERS[name](url, asynchronous, **options)
    except MissingExtraError as error:
        pytest.skip(str(error))


WAYS = pytest.mark.parametrize("way", ["sync", "async", "sync, awaited"])


def asked(way: str, backend: Any, prompt: Prompt) -> Any:
    """Ask for a summary, or have items compacted."""
    native = hasattr(backend, "compact")
    given: Any = [{"role": "user", "content": "Hi"}] if native else prompt
    if way == "sync":
        return backend.compact(given) if native else backend.complete(given)

    async def call() -> Any:
        return await (backend.acompact(given) if native else backend.acomplete(given))

    return asyncio.run(call())


@WAYS
@pytest.mark.parametrize("writer", WRITERS)
def test_a_server_that_trickles_costs_the_time_out_and_no_more(
    server: Awkward, prompt: Prompt, writer: str, way: str
) -> None:
    """To HTTP each byte is a sign of life; the turn goes on all the same."""
    backend = writer_of(writer, server.url, way == "async", timeout=SECONDS, retries=0)
    started = time.monotonic()
    with pytest.raises(SummarizerError, match=r"^m: timed out after 0\.3 s$") as caught:
        asked(way, backend, prompt)
    assert time.monotonic() - started < LATE
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert server.requests == 1


@WAYS
@pytest.mark.parametrize("writer", WRITERS)
def test_the_wait_before_a_retry_counts_and_nothing_is_sent_afterwards(
    server: Awkward, prompt: Prompt, writer: str, way: str
) -> None:
    """A busy server says when to come again; who has been given up does not come."""
    server.busy = True
    backend = writer_of(writer, server.url, way == "async", timeout=SECONDS, retries=2)
    with pytest.raises(SummarizerError, match=r"timed out after 0\.3 s"):
        asked(way, backend, prompt)
    time.sleep(1.2)  # longer than the server has said
    assert server.requests == 1


@WAYS
def test_a_client_by_name_is_closed_when_its_call_has_ended(
    server: Awkward, prompt: Prompt, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not closed while a call that was given up still uses it."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    backend = NamedSummarizer(
        "openai", "m", timeout=SECONDS, retries=0, asynchronous=way == "async"
    )
    client = backend._spare
    with pytest.raises(SummarizerError, match="timed out"):
        asked(way, backend, prompt)
    assert way == "async" or not client.is_closed()
    server.ended.set()
    wait_until(client.is_closed)


CALLER: ContextVar[str] = ContextVar("CALLER", default="nobody")


@WAYS
def test_a_call_with_a_limit_sees_the_callers_context(
    llm_server: LLMServer, prompt: Prompt, way: str
) -> None:
    """What traces the SDK's requests finds the span that they belong to."""
    llm_server.script(ok())
    seen: list[str] = []

    def note(_: Any) -> None:
        seen.append(CALLER.get())

    async def anote(_: Any) -> None:
        seen.append(CALLER.get())

    client = openai(llm_server.openai_url, way == "async")
    client._client.event_hooks["request"].append(anote if way == "async" else note)
    token = CALLER.set("the turn")
    try:
        asked(way, OpenAISummarizer(client, "m", timeout=LIMIT), prompt)
    finally:
        CALLER.reset(token)
    assert seen == ["the turn"]


@pytest.mark.parametrize(("timeout", "same"), [(None, True), (LIMIT, False)])
def test_without_a_limit_a_client_is_called_in_the_callers_thread(
    llm_server: LLMServer, prompt: Prompt, timeout: float | None, same: bool
) -> None:
    threads: list[int] = []
    client = openai(llm_server.openai_url, False)
    client._client.event_hooks["request"].append(lambda _: threads.append(threading.get_ident()))
    OpenAISummarizer(client, "m", timeout=timeout).complete(prompt)
    assert [each == threading.get_ident() for each in threads] == [same]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such signals")
def test_an_interrupt_ends_the_wait_at_once(server: Awkward, prompt: Prompt) -> None:
    """Ctrl-C does not wait for the model."""
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        WRITERS["chat"](server.url, False, timeout=LIMIT).complete(prompt)
    assert time.monotonic() - started < LATE


def test_a_call_that_is_cancelled_leaves_nothing_behind(server: Awkward, prompt: Prompt) -> None:
    """Its request ends with it, and nothing is logged of what nobody waits for."""
    said: list[dict[str, Any]] = []

    async def call() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))
        backend = WRITERS["chat"](server.url, True, timeout=LIMIT)
        task = asyncio.create_task(backend.acomplete(prompt))
        while not server.requests:  # noqa: ASYNC110 - a thread counts them
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.05)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(call())
    assert not said
