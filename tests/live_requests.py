"""Live requests of three APIs, with conversations for them, and real clients that fold behind them.

Belongs here: what more than one test of append mode uses.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from anthropic import Anthropic, AsyncAnthropic
from anthropic import DefaultAsyncHttpxClient as AsyncAnthropicHttp
from anthropic import DefaultHttpxClient as AnthropicHttp
from fake_server import LLMServer
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI
from strategies import support_call

from chatfold import ChatContext, Outcome

__all__ = [
    "APIS",
    "LIVE",
    "WAYS",
    "Api",
    "Way",
    "as_text",
    "conversation",
    "sent",
    "tool",
    "words_of",
]

_PARAMETERS = {"type": "object", "properties": {"order": {"type": "string"}}}


def tool(shape: str) -> dict[str, Any]:
    """Return the definition of a tool as a request of that API has it."""
    described = {"name": "lookup_order", "description": "Looks up an order."}
    if shape == "anthropic":
        return {**described, "input_schema": _PARAMETERS}
    if shape == "openai_responses":
        return {"type": "function", **described, "parameters": _PARAMETERS, "strict": False}
    return {"type": "function", "function": {**described, "parameters": _PARAMETERS}}


LIVE: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "model": "gpt-5",
        "tools": [tool("openai_chat")],
        "tool_choice": "auto",
        "reasoning_effort": "low",
        "extra_body": {"prompt_cache_key": "support"},  # older SDKs have no name for it
    },
    "openai_responses": {
        "model": "gpt-5",
        "instructions": "You are a clerk of the earbud shop.",
        "tools": [tool("openai_responses")],
        "reasoning": {"effort": "low"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    },
    "anthropic": {
        "model": "claude-opus-4-5",
        "system": [
            {
                "type": "text",
                "text": "You are a clerk of the earbud shop.",
                "cache_control": {"type": "ephemeral"},
            }
        ],
        "tools": [tool("anthropic")],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "extra_body": {"cache_control": {"type": "ephemeral"}},
        "max_tokens": 16_384,
    },
}


def conversation(shape: str) -> list[Any]:
    """Return the support call behind a long complaint, so that a fold is worth its while."""
    items = support_call(shape)
    start = 1 if items[0].get("role") in ("system", "developer") else 0
    long = {"role": "user", "content": "It crackles, and then it crackles again. " * 60}
    answer = {"role": "assistant", "content": "I see, that is annoying."}
    return [*items[:start], long, answer, *items[start:]]


class Api(NamedTuple):
    """One endpoint of a provider, as a client calls it."""

    shape: str
    items: str
    client: Callable[[LLMServer], Any]
    aclient: Callable[[LLMServer], Any]
    create: Callable[[Any], Callable[..., Any]]


def _openai(server: LLMServer) -> Any:
    http = DefaultHttpxClient(verify=False)
    return OpenAI(api_key="k", base_url=server.openai_url, http_client=http)


def _async_openai(server: LLMServer) -> Any:
    http = DefaultAsyncHttpxClient(verify=False)
    return AsyncOpenAI(api_key="k", base_url=server.openai_url, http_client=http)


def _anthropic(server: LLMServer) -> Any:
    http = AnthropicHttp(verify=False)
    return Anthropic(api_key="k", base_url=server.anthropic_url, http_client=http)


def _async_anthropic(server: LLMServer) -> Any:
    http = AsyncAnthropicHttp(verify=False)
    return AsyncAnthropic(api_key="k", base_url=server.anthropic_url, http_client=http)


APIS = {
    "openai_chat": Api(
        "openai_chat", "messages", _openai, _async_openai, lambda c: c.chat.completions.create
    ),
    "openai_responses": Api(
        "openai_responses", "input", _openai, _async_openai, lambda c: c.responses.create
    ),
    "anthropic": Api(
        "anthropic", "messages", _anthropic, _async_anthropic, lambda c: c.messages.create
    ),
}


class Way:
    """Folds in append mode with the real client of one API, blocking or awaited."""

    def __init__(self, api: Api, asynchronous: bool) -> None:
        self.api = api
        self.shape = api.shape
        self.asynchronous = asynchronous

    def request(self, **changes: Any) -> dict[str, Any]:
        """Return the fields of a live request; None takes one out."""
        given = {**LIVE[self.shape], **changes}
        return {name: value for name, value in given.items() if value is not None}

    def takes(self, fields: dict[str, Any], server: LLMServer) -> dict[str, Any]:
        """Return those of some fields that the installed SDK takes."""
        with self.api.client(server) as client:
            known = inspect.signature(self.api.create(client)).parameters
        return {name: value for name, value in fields.items() if name in known}

    def live(self, server: LLMServer, items: list[Any], **request: Any) -> dict[str, Any]:
        """Send a live request; return its body."""
        with self.api.client(server) as client:
            given = self.request(**request)
            self.api.create(client)(**{self.api.items: items}, **given)
        return server.requests.pop().body

    def turn(self, ctx: ChatContext[Any], server: LLMServer, **options: Any) -> Outcome[Any]:
        """Have the context's policy decide, as before each request of an agent."""
        if not self.asynchronous:
            with self.api.client(server) as client:
                return ctx.maybe_summarize(client, **options)

        async def ask() -> Outcome[Any]:
            async with self.api.aclient(server) as client:
                return await ctx.amaybe_summarize(client, **options)

        return asyncio.run(ask())

    def fold(
        self,
        ctx: ChatContext[Any],
        server: LLMServer,
        llm: Callable[[Any], Any] = lambda client: client,
        **options: Any,
    ) -> Outcome[Any]:
        """Fold with a client, or what `llm` makes of it."""
        given = {"keep_last_turns": 1, "mode": "append", "request": self.request(), **options}
        if not self.asynchronous:
            with self.api.client(server) as client:
                return ctx.summarize(llm(client), **given)

        async def ask() -> Outcome[Any]:
            async with self.api.aclient(server) as client:
                return await ctx.asummarize(llm(client), **given)

        return asyncio.run(ask())


WAYS = {
    f"{name}{' async' if asynchronous else ''}": Way(api, asynchronous)
    for asynchronous in (False, True)
    for name, api in APIS.items()
}


def sent(body: dict[str, Any]) -> list[Any]:
    """Return the items of a request's body."""
    items: list[Any] = body["input"] if "input" in body else body["messages"]
    return items


def words_of(item: dict[str, Any]) -> str:
    """Return the text of a user's item in a request."""
    content = item["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def as_text(value: Any) -> str:
    """Return what goes over the wire for a value, keys in their order."""
    return json.dumps(value, ensure_ascii=False)
