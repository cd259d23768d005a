"""Answers as the bodies of each endpoint, complete by the SDKs' own types."""

from __future__ import annotations

import json
from typing import Any

from fake_answers import Answer, Failure
from starlette.responses import JSONResponse, Response


def text_of(answer: Answer, body: dict[str, Any]) -> str:
    return answer.text if isinstance(answer.text, str) else answer.text(body)


def failure_response(api: str, failure: Failure) -> Response:
    content: dict[str, Any]
    if api == "messages":
        text = failure.message or "prompt is too long: 208310 tokens > 200000 maximum"
        error = {"type": failure.type, "message": text}
        content = {"type": "error", "error": error, "request_id": "req_1"}
    else:
        text = failure.message or (
            "Your input exceeds the context window of this model. "
            "Please adjust your input and try again."
        )
        content = {
            "error": {"message": text, "type": failure.type, "param": None, "code": failure.code}
        }
    return JSONResponse(content, failure.status, headers=failure.headers)


def chat_body(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text_of(answer, body) or ("" if answer.end == "stop" else None),
        "refusal": answer.refusal,
        "annotations": [],
    }
    if answer.reasoning is not None:
        message["reasoning_content"] = answer.reasoning
    if answer.tool is not None:
        function = {"name": answer.tool[0], "arguments": json.dumps(answer.tool[1])}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    ends = {"tool_call": "tool_calls", "refusal": "stop"}
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": ends.get(answer.end, answer.end),
        "logprobs": None,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": [] if answer.nothing else [choice],
        "usage": {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
            "prompt_tokens_details": {"cached_tokens": answer.cached_tokens, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
        "service_tier": "default",
    }


def response_body(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    ended = {"length": "incomplete", "content_filter": "incomplete", "failed": "failed"}
    status = ended.get(answer.end, "completed")
    output: list[dict[str, Any]] = []
    if answer.reasoning is not None:
        thoughts = [{"type": "summary_text", "text": answer.reasoning}]
        output.append({"id": "rs_1", "type": "reasoning", "summary": thoughts})
    parts: list[dict[str, Any]] = []
    if answer.refusal is not None:
        parts = [{"type": "refusal", "refusal": answer.refusal}]
    elif answer.end in ("stop", "length") and answer.reasoning is None:
        parts = [{"type": "output_text", "text": text_of(answer, body), "annotations": []}]
    if parts:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "content": parts}
        output.append({**message, "status": "completed" if status == "completed" else status})
    if answer.tool is not None:
        call = {"name": answer.tool[0], "arguments": json.dumps(answer.tool[1])}
        output.append(
            {"id": "fc_1", "type": "function_call", "call_id": "call_1", "status": status, **call}
        )
    cut_by = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.end)
    stumbled = {"code": "server_error", "message": text_of(answer, body)}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": status,
        "error": stumbled if answer.end == "failed" else None,
        "incomplete_details": {"reason": cut_by} if cut_by else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": {},
        "model": body["model"],
        "output": [] if answer.nothing else output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {
                "cached_tokens": answer.cached_tokens,
                "cache_write_tokens": 0,
            },
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        },
    }


def message_body(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    ends = {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_call": "tool_use",
        "content_filter": "refusal",
    }
    stop = ends.get(answer.end, answer.end)
    content: list[dict[str, Any]] = []
    if answer.reasoning is not None:
        content.append({"type": "thinking", "thinking": answer.reasoning, "signature": "c2ln"})
    elif answer.end in ("stop", "length"):
        content.append({"type": "text", "text": text_of(answer, body), "citations": None})
    if answer.tool is not None:
        name, arguments = answer.tool
        content.append({"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments})
    details = {"type": "refusal", "category": None, "explanation": answer.refusal}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [] if answer.nothing else content,
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": details if stop == "refusal" else None,
        "usage": {
            "input_tokens": answer.input_tokens - answer.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": answer.cached_tokens,
            "output_tokens": answer.output_tokens,
            "service_tier": "standard",
        },
    }
