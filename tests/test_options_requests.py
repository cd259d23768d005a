"""`timeout=` and `retries=` reach the SDK's client, in place of its own.

Not here: what a client makes of them (`summarizers`).
"""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import openai
import pytest
from fake_server import LLMServer, delay, llm_server, server_error
from laws import same_objects
from returns_desk import desk

from chatfold import ChatContext, SummarizerError

__all__ = ["llm_server"]

CLIENTS: dict[str, Any] = {
    "openai": (openai.OpenAI, openai.AsyncOpenAI, "openai_chat"),
    "anthropic": (anthropic.Anthropic, anthropic.AsyncAnthropic, "anthropic"),
}
sdks = pytest.mark.parametrize("sdk", CLIENTS)
ways = pytest.mark.parametrize("way", ["summarize", "asummarize"])


def fail(server: LLMServer, sdk: str, way: str, **options: Any) -> SummarizerError:
    """Return the error of a fold by a real client; its list is untouched."""
    sync, awaited, shape = CLIENTS[sdk]
    url = server.openai_url if sdk == "openai" else server.anthropic_url
    items = desk(shape)
    before = list(items)
    ctx = ChatContext(items, shape=shape, **options)
    client = (sync if way == "summarize" else awaited)(base_url=url, api_key="k")
    with pytest.raises(SummarizerError) as caught:
        in_one_way(ctx, client, way)
    assert same_objects(items, before)
    return caught.value


def in_one_way(ctx: ChatContext[Any], client: Any, way: str) -> Any:
    if way == "summarize":
        return ctx.summarize(client, model="m", keep_last_turns=1)
    return asyncio.run(ctx.asummarize(client, model="m", keep_last_turns=1))


@sdks
@ways
@pytest.mark.parametrize("retries", [0, 2])
def test_a_failed_request_is_repeated_as_often_as_is_said(
    llm_server: LLMServer, sdk: str, way: str, retries: int
) -> None:
    """And no more; that is one call of the summarizer."""
    llm_server.default = server_error()
    assert fail(llm_server, sdk, way, retries=retries).llm_calls == 1
    assert len(llm_server.requests) == retries + 1


@sdks
@ways
def test_a_request_ends_at_the_time_that_is_said(llm_server: LLMServer, sdk: str, way: str) -> None:
    """A server that is slow costs no more than that.

    Long enough for a busy machine to bring the request to the server, which counts it.
    """
    llm_server.default = delay(20)
    assert "after 1.5 s" in str(fail(llm_server, sdk, way, timeout=1.5, retries=0))
    assert len(llm_server.requests) == 1
