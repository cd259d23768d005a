"""A local model that talks: it reads the conversation, calls tools, answers, and writes summaries.

It speaks Chat Completions, Responses and Messages, whole and as a stream, and refuses every list
that its provider would refuse. Belongs here: what the tests of pages and examples share.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable
from typing import Any

from capture.replies import chat, message, response
from capture.stream_server import Reply, _lines
from fake_server import LLMServer, Recorded
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from validator import lost_partners, validate

__all__ = ["ANSWER", "SUMMARY", "UNBOUND", "Clerk"]

Item = dict[str, Any]

ANSWER = "I have looked into it."
SUMMARY = "The customer asked about several orders, and each was looked up."
UNBOUND = "Invalid `signature` in `thinking` block. The block is bound to a different conversation"
_LAST = -2  # events that a stream which breaks off does without
_BETA = "thinking-binding-controls-2026-08-01"
_PLACES = {
    "chat": ("openai_chat", "messages"),
    "responses": ("openai_responses", "input"),
    "messages": ("anthropic", "messages"),
}


class Clerk(LLMServer):
    """The model of a shop.

    Asked with tools, it calls one for each order (`LK-` and digits) in the user's last message,
    all at once, and answers when it has the results: `create_return` where "send back" is said and
    there is such a tool, else the first tool there is. Asked without tools, or about no order, it
    says a sentence. Thinking is signed over the messages before it, as newer Claude models do;
    what is said on Responses comes with encrypted reasoning.

    Attributes:
        turns: The requests with tools, in order.
        prompts: The requests without.
        refused: Why requests were refused, in order.
        fails: Whether requests without tools are answered with status 500.
        breaks: The requests with tools of which the stream breaks off, before its last events.
    """

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[Recorded] = []
        self.prompts: list[Recorded] = []
        self.refused: list[str] = []
        self.fails = False
        self.breaks: frozenset[int] = frozenset()
        self._numbers = itertools.count(1)

    def __enter__(self) -> Clerk:
        super().__enter__()
        return self

    def items(self, turn: int) -> list[Item]:
        """Return the items of a request with tools."""
        return _items(self.turns[turn])

    def _endpoint(self, api: str) -> Callable[[Request], Any]:
        shape, key = _PLACES[api]

        async def answer(request: Request) -> Response:
            body = json.loads(await request.body())
            asked = Recorded(request.url.path, body, dict(request.headers))
            self.requests.append(asked)
            items = _listed(body[key])
            wrong = self._wrong(asked, items, shape)
            (self.turns if body.get("tools") else self.prompts).append(asked)
            if wrong:
                self.refused.append(wrong)
                return JSONResponse(_error(wrong, "invalid_request_error"), 400)
            if self.fails and not body.get("tools"):
                return JSONResponse(_error("The server had an error.", "server_error"), 500)
            reply = self._reply(api, body, items)
            _count(reply, len(json.dumps(body)) // 3)
            if body.get("stream"):
                broken = bool(body.get("tools")) and len(self.turns) - 1 in self.breaks
                lines = _lines(reply, _LAST if broken else None, broken)
                return StreamingResponse(lines, media_type="text/event-stream")
            return JSONResponse(reply.whole)

        return answer

    def _wrong(self, asked: Recorded, items: list[Item], shape: str) -> str:
        """Return why the provider would refuse a request, "" where it would not."""
        found = [violation for violation in validate(items, shape) if not violation.open]
        if self.turns and asked.body.get("tools") and self.turns[-1].path == asked.path:
            found += lost_partners(_items(self.turns[-1]), items, shape)
        if found:
            return str(found[0])
        if shape == "anthropic" and not _is_bound(items) and not _drops(asked):
            return UNBOUND
        return ""

    def _reply(self, api: str, body: Item, items: list[Item]) -> Reply:
        calls = self._calls(body.get("tools") or [], items)
        words = ANSWER if body.get("tools") else SUMMARY
        write = {"chat": self._chat, "responses": self._response, "messages": self._message}[api]
        return write(items, calls, words)

    def _calls(self, tools: list[Item], items: list[Item]) -> list[tuple[str, Item]]:
        """Return the names and arguments of the calls to make now."""
        defined = {tool.get("function", tool).get("name"): tool for tool in tools}
        defined.pop(None, None)
        said = _last_words(items)
        orders = dict.fromkeys(re.findall(r"LK-\d+", said))
        if not defined or not orders:
            return []
        name = "create_return" if "send back" in said and "create_return" in defined else ""
        name = name or next(iter(defined))
        schema = defined[name].get("function", defined[name])
        schema = schema.get("parameters") or schema.get("input_schema") or {}
        wanted = list(schema.get("required") or schema.get("properties") or {})
        return [
            (name, {wish: order if n == 0 else "it leaks" for n, wish in enumerate(wanted)})
            for order in orders
        ]

    def _chat(self, items: list[Item], calls: list[tuple[str, Item]], words: str) -> Reply:
        if not calls:
            return chat({"role": "assistant", "content": words})
        made = [
            {
                "id": f"call_{next(self._numbers)}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for name, arguments in calls
        ]
        return chat({"role": "assistant", "content": None, "tool_calls": made}, end="tool_calls")

    def _response(self, items: list[Item], calls: list[tuple[str, Item]], words: str) -> Reply:
        number = next(self._numbers)
        sealed = {"summary": [], "encrypted_content": "c2VhbGVk" * 40}
        output: list[Item] = [{"type": "reasoning", "id": f"rs_{number}", **sealed}]
        for name, arguments in calls:
            n = next(self._numbers)
            made = {"name": name, "arguments": json.dumps(arguments), "status": "completed"}
            output.append(
                {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", **made}
            )
        if not calls:
            part = {"type": "output_text", "text": words, "annotations": []}
            said = {"role": "assistant", "status": "completed", "content": [part]}
            output.append({"type": "message", "id": f"msg_{number}", **said})
        return response(output)

    def _message(self, items: list[Item], calls: list[tuple[str, Item]], words: str) -> Reply:
        thought = {"thinking": "The order will tell.", "signature": _signature(items)}
        content: list[Item] = [{"type": "thinking", **thought}]
        content += [
            {"type": "tool_use", "id": f"toolu_{next(self._numbers)}", "name": name, "input": given}
            for name, given in calls
        ]
        if calls:
            return message(content, end="tool_use")
        return message([*content, {"type": "text", "text": words}])


def _listed(given: Any) -> list[Item]:
    """Return the items of a request; a plain text is one of the user's."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _items(asked: Recorded) -> list[Item]:
    body = asked.body
    return _listed(body["input"] if "input" in body else body["messages"])


def _last_words(items: list[Item]) -> str:
    """Return the user's words that the list ends with, "" where it ends with something else."""
    last = items[-1] if items else {}
    if last.get("role") != "user":
        return ""
    content = last.get("content")
    if isinstance(content, str):
        return content
    parts = content or []
    if any(part.get("type") == "tool_result" for part in parts):
        return ""
    return " ".join(str(part.get("text", "")) for part in parts)


def _count(reply: Reply, prompt: int) -> None:
    """Put the size of the request into a reply's usage, which its events share or copy."""
    usage = reply.whole["usage"]
    if reply.api == "chat":
        usage.update(prompt_tokens=prompt, total_tokens=prompt + usage["completion_tokens"])
    elif reply.api == "responses":
        usage.update(input_tokens=prompt, total_tokens=prompt + usage["output_tokens"])
    else:
        counts = {"input_tokens": prompt, "cache_creation_input_tokens": 0}
        usage.update(counts, cache_read_input_tokens=0)
        reply.events[0]["message"]["usage"].update(usage)


def _error(words: str, kind: str) -> Item:
    return {"type": "error", "error": {"type": kind, "message": words}}


def _signature(items: list[Item]) -> str:
    return hashlib.sha256(json.dumps(items).encode()).hexdigest()


def _is_bound(items: list[Item]) -> bool:
    """Return whether all thinking stands behind the messages that it was signed over."""
    return all(
        block["signature"] == _signature(items[:index])
        for index, item in enumerate(items)
        if isinstance(item["content"], list)
        for block in item["content"]
        if block.get("type") == "thinking"
    )


def _drops(asked: Recorded) -> bool:
    """Return whether a request says that unbound thinking is to be dropped."""
    binding = (asked.body.get("thinking") or {}).get("block_binding") or {}
    asks = binding.get("prefix_mismatch_behavior") == "drop_block"
    return asks and _BETA in asked.headers.get("anthropic-beta", "")
