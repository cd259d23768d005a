"""A local server that speaks for a `Brain` as OpenAI's endpoints do, whole or as a stream.

Real model classes and SDK clients are pointed at `url`; what they send is what a provider would
get, so nothing of a framework's own conversion is left out.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from uuid import uuid4

from integrations.host import Brain, Step

__all__ = ["ModelServer"]

_TIME = 1_790_000_000


class ModelServer:
    """Serves `POST /v1/chat/completions` and `/v1/responses`; a context manager.

    Args:
        brain: Says what the model does.

    Attributes:
        url: The `base_url` of a client.
    """

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each answer takes 40 ms

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                served.answer(self, json.loads(self.rfile.read(length)))

            def log_message(self, *_: object) -> None:
                """Be quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False  # a client may keep its connection open
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Answer one request."""
        if handler.path.endswith("/responses"):
            items = body["input"]
            items = [{"role": "user", "content": items}] if isinstance(items, str) else items
            step = self.brain.answer("openai_responses", items)
            whole = _response(step, body, self.brain.tokens)
            parts = _response_events(whole)
        else:
            step = self.brain.answer("openai_chat", body["messages"])
            whole = _completion(step, body, self.brain.tokens)
            parts = _chunks(whole)
        if body.get("stream"):
            content = "".join(parts)
            kind = "text/event-stream"
        else:
            content, kind = json.dumps(whole), "application/json"
        data = content.encode()
        handler.send_response(200)
        handler.send_header("content-type", kind)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


# --- Chat Completions -----------------------------------------------------------------------------


def _completion(step: Step, body: dict[str, Any], tokens: tuple[int, int]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in step.calls
        ]
    end = "tool_calls" if step.calls else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": _TIME,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": end, "logprobs": None}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _chunks(whole: dict[str, Any]) -> Iterator[str]:
    """Yield the stream of a completion: its message in one piece, its end, and the usage."""
    choice = whole["choices"][0]
    calls = choice["message"].get("tool_calls")
    delta = {"role": "assistant", "content": choice["message"]["content"] or ""}
    if calls:
        delta["tool_calls"] = [{"index": n, **call} for n, call in enumerate(calls)]
    frame = {**whole, "object": "chat.completion.chunk", "usage": None}
    for piece, end in ((delta, None), ({}, choice["finish_reason"])):
        chunk = {**frame, "choices": [{"index": 0, "delta": piece, "finish_reason": end}]}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield f"data: {json.dumps({**frame, 'choices': [], 'usage': whole['usage']})}\n\n"
    yield "data: [DONE]\n\n"


# --- Responses ------------------------------------------------------------------------------------


def _response(step: Step, body: dict[str, Any], tokens: tuple[int, int]) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if step.text:
        text = {"type": "output_text", "text": step.text, "annotations": [], "logprobs": []}
        output.append(
            {
                "id": f"msg_{uuid4().hex}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        )
    output += [
        {
            "id": f"fc_{call.id}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for call in step.calls
    ]
    return {
        "id": f"resp_{uuid4().hex}",
        "object": "response",
        "created_at": _TIME,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": body["model"],
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": tokens[0],
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": tokens[1],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sum(tokens),
        },
    }


def _response_events(whole: dict[str, Any]) -> Iterator[str]:
    """Yield the events of a response that matter to readers of its stream."""
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(whole["output"]):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            events.append(
                {
                    "type": "response.output_text.delta",
                    "item_id": item["id"],
                    "output_index": index,
                    "content_index": 0,
                    "delta": item["content"][0]["text"],
                    "logprobs": [],
                }
            )
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": whole})
    for number, event in enumerate(events):
        named = {**event, "sequence_number": number}
        yield f"event: {event['type']}\ndata: {json.dumps(named)}\n\n"
