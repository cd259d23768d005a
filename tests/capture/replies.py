"""Answers of OpenAI and Anthropic, each as a whole body and as the events of its stream.

The events are written after the providers' streaming guides, not after the code that reads them:
https://developers.openai.com/api/docs/guides/streaming-responses and
https://platform.claude.com/docs/en/build-with-claude/streaming (read 2026-11-22).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from capture.stream_server import Reply

__all__ = [
    "CHAT",
    "MESSAGES",
    "RESPONSES",
    "chat",
    "chat_call",
    "chunk",
    "message",
    "response",
]

Json = dict[str, Any]
_USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}


def _pieces(text: str, number: int = 3) -> list[str]:
    size = max(1, -(-len(text) // number))
    return [text[n : n + size] for n in range(0, len(text), size)]


# Chat Completions


def chunk(delta: Json, *, end: str | None = None, index: int = 0) -> Json:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "gpt-5",
        "choices": [{"index": index, "delta": delta, "finish_reason": end, "logprobs": None}],
    }


def chat(message: Json, *, end: str = "stop") -> Reply:
    """Return an answer with one message; what is null in the message is not streamed."""
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-5",
        "choices": [{"index": 0, "message": message, "finish_reason": end, "logprobs": None}],
        "usage": {**_USAGE, "prompt_tokens_details": {"cached_tokens": 5}},
    }
    says = None if message.get("content") is None else ""
    events = [chunk({"role": "assistant", "content": says, "refusal": None})]
    events += [chunk(delta) for delta in _chat_deltas(message)]
    events.append(chunk({}, end=end))
    events.append({**chunk({}), "choices": [], "usage": whole["usage"]})
    return Reply("chat", whole, events)


def _chat_deltas(message: Json) -> Iterator[Json]:
    for key in ("reasoning_content", "refusal", "content"):
        yield from ({key: piece} for piece in _pieces(message.get(key) or ""))
    if legacy := message.get("function_call"):
        yield {"function_call": {"name": legacy["name"], "arguments": ""}}
        yield from ({"function_call": {"arguments": p}} for p in _pieces(legacy["arguments"]))
    if audio := message.get("audio"):
        yield {"audio": {"id": audio["id"]}}
        yield {"audio": {"transcript": audio["transcript"]}}
        yield {"audio": {"data": audio["data"]}}
        yield {"audio": {"expires_at": audio["expires_at"]}}
    for index, call in enumerate(message.get("tool_calls") or ()):
        kind = call["type"]
        key = "input" if kind == "custom" else "arguments"
        first = {**call, "index": index, kind: {**call[kind], key: ""}}
        yield {"tool_calls": [first]}
        for piece in _pieces(call[kind][key]):
            yield {"tool_calls": [{"index": index, kind: {key: piece}}]}


def chat_call(id_: str | None, name: str = "get_weather", **arguments: Any) -> Json:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": id_, "type": "function", "function": function}


_TEXT = "Rain – about 4 mm, until 18:00 in Zürich."
CHAT: dict[str, Reply] = {
    "text": chat({"role": "assistant", "content": _TEXT, "refusal": None, "annotations": []}),
    "parallel calls": chat(
        {
            "role": "assistant",
            "content": None,
            "refusal": None,
            "tool_calls": [chat_call("call_a", city="Bern"), chat_call("call_b", city="Basel")],
        },
        end="tool_calls",
    ),
    "text and a call": chat(
        {"role": "assistant", "content": "I look.", "tool_calls": [chat_call("call_a", q="x")]},
        end="tool_calls",
    ),
    "a custom call": chat(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
            ],
        },
        end="tool_calls",
    ),
    "a refusal": chat({"role": "assistant", "content": None, "refusal": "I cannot do that."}),
    "a legacy call": chat(
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "get_weather", "arguments": '{"city": "Bern"}'},
        },
        end="function_call",
    ),
    "audio": chat(
        {
            "role": "assistant",
            "content": None,
            "audio": {"id": "audio_1", "data": "aGk=", "expires_at": 99, "transcript": "Hello."},
        }
    ),
    "fields of other servers": chat(
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "The user wants weather.",
            "tool_calls": [
                {**chat_call("call_a", city="Bern"), "extra_content": {"google": {"sig": "c2ln"}}}
            ],
        },
        end="tool_calls",
    ),
    "calls without ids": chat(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [chat_call(None, city="Bern"), chat_call(None, city="Bern")],
        },
        end="tool_calls",
    ),
    "arguments cut off": chat(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_a",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"city": "Ber'},
                }
            ],
        },
        end="length",
    ),
    "nothing": chat({"role": "assistant", "content": "", "refusal": None, "annotations": []}),
}


# Responses


def response(output: list[Json], **fields: Any) -> Reply:
    """Return a response with these output items."""
    whole = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "gpt-5",
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": 20,
            "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 27,
        },
        **fields,
    }
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(output):
        events += [{**event, "output_index": index} for event in _item_events(item)]
    events.append({"type": f"response.{whole['status']}", "response": whole})
    numbered = [{**event, "sequence_number": n} for n, event in enumerate(events)]
    return Reply("responses", whole, numbered)


def _item_events(item: Json) -> Iterator[Json]:
    yield {"type": "response.output_item.added", "item": _skeleton(item)}
    id_ = item.get("id")
    for place, part in enumerate(item.get("content") or () if item["type"] == "message" else ()):
        where = {"item_id": id_, "content_index": place}
        kind, key = part["type"], "refusal" if part["type"] == "refusal" else "text"
        empty = {**part, key: "", **({"annotations": []} if key == "text" else {})}
        yield {"type": "response.content_part.added", "part": empty, **where}
        for piece in _pieces(part[key]):
            logs = {"logprobs": []} if key == "text" else {}
            yield {"type": f"response.{kind}.delta", "delta": piece, **where, **logs}
        yield {"type": "response.content_part.done", "part": part, **where}
    for key, name in (
        ("arguments", "function_call_arguments"),
        ("input", "custom_tool_call_input"),
    ):
        if item["type"] in ("function_call", "custom_tool_call") and key in item:
            for piece in _pieces(item[key]):
                yield {"type": f"response.{name}.delta", "delta": piece, "item_id": id_}
    yield {"type": "response.output_item.done", "item": item}


def _skeleton(item: Json) -> Json:
    """Return what an item looks like when it is added: most of it is missing."""
    empty = {"arguments": "", "input": "", "content": [], "summary": [], "code": ""}
    made = {key: empty.get(key, value) for key, value in item.items()}
    made.pop("encrypted_content", None)
    if "status" in made:
        made["status"] = "in_progress"
    return made


def _function_call(n: int, **arguments: Any) -> Json:
    return {
        "type": "function_call",
        "id": f"fc_{n}",
        "call_id": f"call_{n}",
        "name": "get_weather",
        "arguments": json.dumps(arguments),
        "status": "completed",
    }


def _said(*parts: Json) -> Json:
    content = list(parts)
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": content,
        "phase": "final_answer",
    }


def _reasoning(n: int) -> Json:
    return {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "Z2g=" * 9}


_CITED = {
    "type": "output_text",
    "text": _TEXT,
    "annotations": [
        {
            "type": "url_citation",
            "url": "https://example.com",
            "title": "Weather",
            "start_index": 0,
            "end_index": 4,
        }
    ],
}
_SERVED: list[Json] = [
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "weather"},
    },
    {
        "type": "mcp_list_tools",
        "id": "mcpl_1",
        "server_label": "wiki",
        "tools": [{"name": "ask", "input_schema": {"type": "object"}, "annotations": None}],
    },
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "server_label": "wiki",
        "name": "ask",
        "arguments": '{"q": 1}',
        "output": "one",
        "status": "completed",
    },
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "container_id": "cntr_1",
        "code": "print(1)",
        "status": "completed",
        "outputs": [{"type": "logs", "logs": "1"}],
    },
    {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aGk=" * 80},
]
RESPONSES: dict[str, Reply] = {
    "text": response([_said(_CITED)]),
    "a refusal": response([_said({"type": "refusal", "refusal": "I cannot do that."})]),
    "reasoning and parallel calls": response(
        [_reasoning(1), _function_call(1, city="Bern"), _function_call(2, city="Basel")]
    ),
    "a custom call": response(
        [
            _reasoning(1),
            {
                "type": "custom_tool_call",
                "id": "ctc_1",
                "call_id": "call_c",
                "name": "sql",
                "input": "select 1",
            },
        ]
    ),
    "what the server does": response([_reasoning(1), *_SERVED, _said(_CITED)]),
    "an asynchronous call": response([{**_function_call(1, city="Bern"), "async": True}]),
    "a shell and who made it": response(
        [
            {
                "type": "shell_call",
                "id": "sh_1",
                "call_id": "call_s",
                "action": {"commands": ["ls"], "timeout_ms": None, "max_output_length": None},
                "environment": None,
                "status": "completed",
                "created_by": "user_1",
            },
            {
                "type": "shell_call_output",
                "id": "sho_1",
                "call_id": "call_s",
                "max_output_length": None,
                "status": "completed",
                "output": [
                    {
                        "stdout": "a",
                        "stderr": "",
                        "outcome": {"type": "exit", "exit_code": 0},
                        "created_by": "user_1",
                    }
                ],
                "created_by": "user_1",
            },
        ]
    ),
    "calls without ids": response(
        [{**_function_call(n, city="Bern"), "call_id": None} for n in (1, 2)]
    ),
    "cut off": response(
        [
            {
                **_said({"type": "output_text", "text": "Ra", "annotations": []}),
                "status": "incomplete",
            }
        ],
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    ),
    "nothing": response([]),
}


# Messages


def message(content: list[Json], *, end: str = "end_turn") -> Reply:
    """Return a message with these blocks."""
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 5,
        "output_tokens": 7,
    }
    whole: Json = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": content,
        "stop_reason": end,
        "stop_sequence": None,
        "usage": usage,
    }
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[Json] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(content):
        events += [{**event, "index": index} for event in _block_events(block)]
    said = {"stop_reason": end, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": said, "usage": {"output_tokens": 7}})
    events.append({"type": "message_stop"})
    return Reply("messages", whole, events)


def _block_events(block: Json) -> Iterator[Json]:
    kind = block["type"]
    start, deltas = dict(block), []
    if kind == "text":
        start = {**block, "text": ""}
        start.pop("citations", None)
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        deltas += [{"type": "citations_delta", "citation": c} for c in block.get("citations") or ()]
    elif kind == "thinking":
        start = {**block, "thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": p} for p in _pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        start = {**block, "input": {}}
        text = json.dumps(block["input"]) if block["input"] else ""
        deltas = [{"type": "input_json_delta", "partial_json": p} for p in ["", *_pieces(text)]]
    elif kind == "compaction":
        start = {key: None if key == "content" else v for key, v in block.items()}
        deltas = [{"type": "compaction_delta", "content": block["content"]}]
    yield {"type": "content_block_start", "content_block": start}
    yield from ({"type": "content_block_delta", "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop"}


def _tool_use(id_: str | None, **arguments: Any) -> Json:
    return {"type": "tool_use", "id": id_, "name": "get_weather", "input": arguments}


_THINKING = {"type": "thinking", "thinking": "The user wants weather.", "signature": "c2lnbmVk"}
_CHAR = {
    "type": "char_location",
    "cited_text": "rain",
    "document_index": 0,
    "document_title": None,
    "start_char_index": 0,
    "end_char_index": 4,
    "file_id": "file_1",
}
MESSAGES: dict[str, Reply] = {
    "text": message([{"type": "text", "text": _TEXT, "citations": None}]),
    "thinking and parallel calls": message(
        [
            _THINKING,
            {"type": "redacted_thinking", "data": "cmVk"},
            {"type": "text", "text": "I look."},
            _tool_use("toolu_1", city="Bern", days=[1, 2]),
            _tool_use("toolu_2"),
        ],
        end="tool_use",
    ),
    "server tools and citations": message(
        [
            {
                "type": "server_tool_use",
                "id": "srvtoolu_1",
                "name": "web_search",
                "input": {"query": "weather"},
            },
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": [
                    {
                        "type": "web_search_result",
                        "url": "https://example.com",
                        "title": "Weather",
                        "encrypted_content": "Z2g=",
                        "page_age": None,
                    }
                ],
            },
            {"type": "text", "text": "It rains.", "citations": [_CHAR, {**_CHAR, "file_id": None}]},
        ]
    ),
    "calls without ids": message(
        [_tool_use(None, city="Bern"), _tool_use(None, city="Bern")], end="tool_use"
    ),
    "nothing": message([]),
}
