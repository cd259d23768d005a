"""What tools return besides text, for each provider: a call, blocks of its own, its real client."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from capture.native_servers import Answered, NativeServer
from fake_server import LLMServer
from live_requests import APIS

__all__ = [
    "OLLAMA_HISTORY",
    "PDF",
    "PICTURE",
    "PNG",
    "PROVIDERS",
    "WORDS",
    "Provider",
    "mcp_json",
    "object_blocks",
    "received",
]

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
PNG = b64encode(PICTURE).decode()
PDF = b64encode(b"%PDF-1.7\n" + bytes(range(256)) * 20).decode()
URL = f"data:image/png;base64,{PNG}"
WORDS = "The page has loaded."


@dataclass(frozen=True)
class Provider:
    """One provider.

    Attributes:
        shape: Name of the shape.
        history: A user's message and a step with one call of `shot`.
        blocks: What a tool may return, all of it the provider's own, with a picture first.
        written: Returns the item that answers the call by these blocks.
        picture: The block of the picture of `PNG`, None where no result holds one.
        union: Where the SDK has the type of an item.
    """

    shape: str
    history: tuple[Any, ...]
    blocks: tuple[Any, ...]
    written: Callable[[list[Any]], Any]
    picture: Any
    union: str


USER = {"role": "user", "content": "Show me the page."}
FUNCTION = {"name": "shot", "arguments": "{}"}
TEXT = {"type": "text", "text": WORDS}
CACHED = {**TEXT, "cache_control": {"type": "ephemeral"}}
OPENAI_CALL = {"id": "call_1", "type": "function", "function": FUNCTION}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
DOCUMENT = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
    "title": "Terms",
}
FOUND = {
    "type": "search_result",
    "source": "https://example.com/terms",
    "title": "Terms",
    "content": [TEXT],
}
INPUT_IMAGE = {"type": "input_image", "detail": "auto", "image_url": URL}
INPUT_FILE = {
    "type": "input_file",
    "filename": "terms.pdf",
    "file_data": f"data:application/pdf;base64,{PDF}",
}
BYTES = {"image": {"format": "png", "source": {"bytes": PICTURE}}}
INLINE = {"inline_data": {"mime_type": "image/png", "data": PNG}}


def _gemini(parts: list[Any]) -> Any:
    words = "\n".join(p["text"] for p in parts if "text" in p)
    media = [p for p in parts if "text" not in p]
    response = {"name": "shot", "response": {"result": words}, "parts": media}
    return {"role": "user", "parts": [{"function_response": response}]}


PROVIDERS = {
    "openai_chat": Provider(
        "openai_chat",
        (USER, {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}),
        (TEXT, {"type": "text", "text": "Twice.", "prompt_cache_breakpoint": {"mode": "explicit"}}),
        lambda blocks: {"role": "tool", "tool_call_id": "call_1", "content": blocks},
        None,
        "openai.types.chat:ChatCompletionMessageParam",
    ),
    "openai_responses": Provider(
        "openai_responses",
        (USER, {"type": "function_call", "call_id": "call_1", **FUNCTION}),
        (INPUT_IMAGE, {"type": "input_text", "text": WORDS}, INPUT_FILE),
        lambda blocks: {"type": "function_call_output", "call_id": "call_1", "output": blocks},
        INPUT_IMAGE,
        "openai.types.responses:ResponseInputItemParam",
    ),
    "anthropic": Provider(
        "anthropic",
        (
            USER,
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_1", "name": "shot", "input": {}}],
            },
        ),
        (IMAGE, CACHED, DOCUMENT, FOUND),
        lambda blocks: {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": blocks}],
        },
        IMAGE,
        "anthropic.types:MessageParam",
    ),
    "gemini": Provider(
        "gemini",
        (
            {"role": "user", "parts": [{"text": "Show me the page."}]},
            {
                "role": "model",
                "parts": [
                    {"function_call": {"name": "shot", "args": {}}, "thought_signature": b"signed"}
                ],
            },
        ),
        (INLINE, {"text": WORDS}),
        _gemini,
        INLINE,
        "google.genai.types:ContentDict",
    ),
    "bedrock": Provider(
        "bedrock",
        (
            {"role": "user", "content": [{"text": "Show me the page."}]},
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "t1", "name": "shot", "input": {}}}],
            },
        ),
        (BYTES, {"text": WORDS}, {"json": {"status": 200}}),
        lambda blocks: {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t1", "content": blocks}}],
        },
        BYTES,
        "shapes.sdk_types:CONVERSE_MESSAGE",
    ),
    "mistral": Provider(
        "mistral",
        (
            USER,
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{**OPENAI_CALL, "id": "callAAAA1"}],
            },
        ),
        ({"type": "image_url", "image_url": URL}, TEXT),
        lambda blocks: {
            "role": "tool",
            "tool_call_id": "callAAAA1",
            "name": "shot",
            "content": blocks,
        },
        {"type": "image_url", "image_url": URL},
        "mistralai.client.models:ChatCompletionRequestMessageTypedDict",
    ),
}
"""All but Ollama's, whose results have no blocks: pictures stand beside the words."""

OLLAMA_HISTORY = (
    USER,
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "shot", "arguments": {}}}],
    },
)


def object_blocks(shape: str) -> tuple[list[Any], list[Any]]:
    """Return blocks as objects of the provider's SDK, and the same as dicts."""
    if shape == "openai_responses":
        from openai.types.responses import ResponseInputImage, ResponseInputText

        image = ResponseInputImage(type="input_image", detail="auto", image_url=URL)
        text = ResponseInputText(type="input_text", text=WORDS)
        return [image, text], [INPUT_IMAGE, {"type": "input_text", "text": WORDS}]
    if shape == "anthropic":
        from anthropic.types import TextBlock

        return [TextBlock(type="text", text=WORDS), IMAGE], [TEXT, IMAGE]
    if shape == "gemini":
        from google.genai import types

        part = types.Part(inline_data=types.Blob(mime_type="image/png", data=PICTURE))
        as_dict = {"inline_data": {"mime_type": "image/png", "data": PICTURE}}
        return [types.Part(text=WORDS), part], [{"text": WORDS}, as_dict]
    from mistralai.client import models

    chunks = [models.ImageURLChunk(image_url=URL), models.TextChunk(text=WORDS)]
    return chunks, [{"type": "image_url", "image_url": URL}, TEXT]


def mcp_json(**more: Any) -> dict[str, Any]:
    """Return a result of MCP's as JSON: words, and a picture."""
    picture = {"type": "image", "data": PNG, "mimeType": "image/png"}
    return {"content": [{"type": "text", "text": WORDS}, picture], **more}


def received(shape: str, items: list[Any]) -> list[Any]:
    """Send a list with the real client of a provider; return it as a server gets it."""
    if shape in APIS:
        api = APIS[shape]
        with LLMServer() as server, api.client(server) as client:
            limit = {"max_tokens": 100} if shape == "anthropic" else {}
            api.create(client)(model="a-model", **{api.items: items}, **limit)
            return list(server.requests[-1].body[api.items])
    with NativeServer("application/json").running() as native:
        native.answer(Answered(_BODIES[shape], [], 0, None), streamed=False)
        _ASKED[shape](native.url, items)
        body = native.requests[-1]
        return list(body["contents" if shape == "gemini" else "messages"])


def _ask_gemini(url: str, items: list[Any]) -> None:
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="test", http_options=types.HttpOptions(base_url=url))
    client.models.generate_content(model="gemini-3.8-flash", contents=items)


def _ask_bedrock(url: str, items: list[Any]) -> None:
    import boto3

    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    client = boto3.client("bedrock-runtime", endpoint_url=url, region_name="us-east-1", **keys)
    client.converse(modelId="a-model", messages=items)


def _ask_ollama(url: str, items: list[Any]) -> None:
    from ollama import Client

    Client(host=url).chat("qwen3", items)


def _ask_mistral(url: str, items: list[Any]) -> None:
    from mistralai.client import Mistral

    Mistral(api_key="test", server_url=url).chat.complete(model="mistral-large", messages=items)


_ASKED: dict[str, Callable[[str, list[Any]], None]] = {
    "gemini": _ask_gemini,
    "bedrock": _ask_bedrock,
    "ollama": _ask_ollama,
    "mistral": _ask_mistral,
}
_SAID = {"role": "assistant", "content": "I see."}
_BODIES: dict[str, Any] = {
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": "I see."}]}}]},
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": "I see."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    },
    "ollama": {
        "model": "qwen3",
        "created_at": "2026-11-22T10:00:00Z",
        "message": _SAID,
        "done": True,
    },
    "mistral": {
        "id": "cmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "mistral-large",
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "choices": [{"index": 0, "finish_reason": "stop", "message": _SAID}],
    },
}
