"""A tool's definition in each provider's form goes over the wire as its API wants it.

The real SDKs send it to a local server; what they would send is judged, not what they were given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from capture.native_servers import Answered, NativeServer
from fake_server import LLMServer, llm_server

from chatfold.shapes import SHAPES, shape_named

__all__ = ["llm_server"]

NAME = "recall"
TOLD = "Return what was said and done earlier."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "call_id": {"type": "string", "description": "Id of a tool call."},
        "query": {"type": "string", "description": "Words to look for."},
    },
}
QUESTION = "Which order was it?"


def defined(shape: str) -> dict[str, Any]:
    return shape_named(shape).tool_definition(NAME, TOLD, SCHEMA)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[NativeServer]:
    """A server that records what it is asked."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with NativeServer("text/event-stream").running() as running:
        yield running


def asked(server: NativeServer, answer: dict[str, Any], send: Any) -> dict[str, Any]:
    """Return the body of the one request that `send` makes."""
    server.answer(Answered(answer, [], 0, None), streamed=False)
    send()
    (body,) = server.requests
    return body


def test_chat_completions_gets_a_function(llm_server: LLMServer) -> None:
    """The function stands under `function`, and strict mode is not asked for."""
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=llm_server.openai_url, api_key="sk-test") as client:
        client.chat.completions.create(
            model="gpt-5",
            messages=[{"role": "user", "content": QUESTION}],
            tools=[defined("openai_chat")],
        )
    (tool,) = llm_server.requests[0].body["tools"]
    function = {"name": NAME, "description": TOLD, "parameters": SCHEMA}
    assert tool == {"type": "function", "function": function}


def test_responses_gets_a_flat_function_without_strict_mode(llm_server: LLMServer) -> None:
    """Strict mode, the default there, would make both parameters required."""
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=llm_server.openai_url, api_key="sk-test") as client:
        client.responses.create(model="gpt-5", input=QUESTION, tools=[defined("openai_responses")])
    (tool,) = llm_server.requests[0].body["tools"]
    assert tool == {
        "type": "function",
        "name": NAME,
        "description": TOLD,
        "parameters": SCHEMA,
        "strict": False,
    }


def test_messages_gets_an_input_schema(llm_server: LLMServer) -> None:
    """Anthropic's tools are told by their name and their `input_schema`."""
    anthropic = pytest.importorskip("anthropic")
    with anthropic.Anthropic(base_url=llm_server.anthropic_url, api_key="sk-test") as client:
        client.messages.create(
            model="claude-opus-5-5",
            max_tokens=100,
            messages=[{"role": "user", "content": QUESTION}],
            tools=[defined("anthropic")],
        )
    (tool,) = llm_server.requests[0].body["tools"]
    assert tool == {"name": NAME, "description": TOLD, "input_schema": SCHEMA}


def test_gemini_gets_a_json_schema(server: NativeServer) -> None:
    """The dict is what `config.tools` takes, and the schema goes out unchanged."""
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key="test", http_options={"base_url": server.url})
    content = {"role": "model", "parts": [{"text": "LK-20417"}]}
    body = asked(
        server,
        {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]},
        lambda: client.models.generate_content(
            model="gemini-3.8-flash", contents=QUESTION, config={"tools": [defined("gemini")]}
        ),
    )
    (tool,) = body["tools"]
    (function,) = tool["functionDeclarations"]
    schema = function.pop("parametersJsonSchema", None) or function.pop("parameters_json_schema")
    assert (function, schema) == ({"name": NAME, "description": TOLD}, SCHEMA)


def test_bedrock_gets_a_tool_spec(server: NativeServer) -> None:
    """Botocore takes it as a member of `toolConfig.tools`."""
    boto3 = pytest.importorskip("boto3")
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=server.url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    message = {"role": "assistant", "content": [{"text": "LK-20417"}]}
    body = asked(
        server,
        {"output": {"message": message}, "stopReason": "end_turn"},
        lambda: client.converse(
            modelId="m",
            messages=[{"role": "user", "content": [{"text": QUESTION}]}],
            toolConfig={"tools": [defined("bedrock")]},
        ),
    )
    (tool,) = body["toolConfig"]["tools"]
    spec = {"name": NAME, "description": TOLD, "inputSchema": {"json": SCHEMA}}
    assert tool == {"toolSpec": spec}


def test_ollama_gets_a_function(server: NativeServer) -> None:
    """Its client parses the definition and drops nothing of it."""
    ollama = pytest.importorskip("ollama")
    body = asked(
        server,
        {"model": "m", "message": {"role": "assistant", "content": "LK-20417"}, "done": True},
        lambda: ollama.Client(host=server.url).chat(
            "m", [{"role": "user", "content": QUESTION}], tools=[defined("ollama")]
        ),
    )
    (tool,) = body["tools"]
    function = {"name": NAME, "description": TOLD, "parameters": SCHEMA}
    assert tool == {"type": "function", "function": function}


def test_mistral_gets_a_function(server: NativeServer) -> None:
    """Its client adds `strict`, which it has a default for."""
    mistral = pytest.importorskip("mistralai.client")
    message = {"role": "assistant", "content": "LK-20417"}
    body = asked(
        server,
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        },
        lambda: mistral.Mistral(api_key="test", server_url=server.url).chat.complete(
            model="m",
            messages=[{"role": "user", "content": QUESTION}],
            tools=[defined("mistral")],
        ),
    )
    (tool,) = body["tools"]
    assert tool["function"].pop("strict", False) is False
    function = {"name": NAME, "description": TOLD, "parameters": SCHEMA}
    assert tool == {"type": "function", "function": function}


@pytest.mark.parametrize("shape", [s.name for s in SHAPES])
def test_a_definition_is_new_json_each_time(shape: str) -> None:
    """Who changes the one that it got changes nobody else's."""
    one, other = defined(shape), defined(shape)
    assert json.loads(json.dumps(one)) == other
    one.clear()
    assert defined(shape) == other
