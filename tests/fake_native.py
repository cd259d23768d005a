"""A local server that compacts as OpenAI and Anthropic do, and refuses what they would refuse.

Tests import the fixture `native_server`. What it writes can be opened again with `opened`, so that
a test sees what a compaction stands for. Rules, all read 2026-11-22:
https://developers.openai.com/api/docs/guides/compaction,
https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import pytest
from fake_answers import Answer, Cut, Failure, Raw, Wait, ok
from fake_bodies import failure_response, message_body, response_body
from fake_server import LLMServer, Recorded, _response
from shapes.sdk_types import refusal, union_named
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from validator import validate

__all__ = ["BETA", "NativeServer", "block_of", "code", "native_server", "opened", "window_of"]

BETA = "compact-2026-09-04"

Json = dict[str, Any]
Change = Callable[[Json], Json]


def opened(item: Any) -> list[Any]:
    """Return the items that a compaction of this server stands for, earlier ones opened too."""
    if item.get("type") == "compaction":
        sealed = item["encrypted_content"]
    else:
        sealed = item["content"][0]["content"].partition(": ")[2]
    inside = json.loads(zlib.decompress(urlsafe_b64decode(sealed)))
    return [one for i in inside for one in (opened(i) if _is_compaction(i) else [i])]


def _is_compaction(item: Json) -> bool:
    content = item.get("content")
    first = content[0] if isinstance(content, list) and content else {}
    return item.get("type") == "compaction" or first.get("type") == "compaction"


def _sealed(items: list[Any]) -> str:
    return urlsafe_b64encode(zlib.compress(json.dumps(items).encode())).decode()


def window_of(body: Json) -> Json:
    """Return what `/responses/compact` answers: all user messages, and one compaction item."""
    users = [i for i in body["input"] if i.get("role") == "user"]
    window: list[Json] = [
        {
            "id": f"msg_{number}",
            "type": "message",
            "status": "completed",
            "role": "user",
            "content": _input_blocks(user["content"]),
        }
        for number, user in enumerate(users)
    ]
    sealed = _sealed(body["input"])
    made = {"id": "cmp_1", "type": "compaction", "encrypted_content": sealed, "created_by": "api"}
    return {
        "id": "resp_compact_1",
        "object": "response.compaction",
        "created_at": 1_790_000_000,
        "output": [*window, made],
        "usage": {
            "input_tokens": 900,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
            "output_tokens": 70,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 970,
        },
    }


def _input_blocks(content: Any) -> list[Json]:
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else content


def _signature(content: str) -> str:
    return "EuYB" + sha256(content.encode()).hexdigest()


def block_of(body: Json) -> Json:
    """Return what a compaction request is answered: one signed block, and usage by iterations."""
    text = f"Summary: {_sealed(body['messages'])}"
    block = {"type": "compaction", "content": text, "signature": _signature(text)}
    return {**ended("compaction", body), "content": [block]}


def ended(reason: str, body: Json) -> Json:
    """Return an answer without a block: status 200, no content, and the reason."""
    iteration = {"type": "compaction", "input_tokens": 144, "output_tokens": 276}
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": reason,
        "stop_sequence": None,
        "stop_details": details if reason == "refusal" else None,
        "usage": {
            "input_tokens": 0,
            "output_tokens": 0,
            "iterations": [
                {**iteration, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 8}
            ],
        },
    }


def code(name: str, status: int = 400) -> Raw:
    """Return Anthropic's error with a code in its details; the SDK may repeat it at once."""
    kind = "overloaded_error" if status == 529 else "invalid_request_error"
    error = {"type": kind, "message": "refused", "details": {"error_code": name}}
    return Raw(json.dumps({"type": "error", "error": error}), status=status)


class NativeServer(LLMServer):
    """The server; a script's functions take the request's body and return the answer's."""

    def __init__(self) -> None:
        super().__init__()
        self.default: Any = None
        route = Route("/v1/responses/compact", self._endpoint("compact"), methods=["POST"])
        app: Any = self._server.config.app
        app.routes.append(route)

    def script(self, *behaviours: Any) -> None:
        """Answer the next requests so; see `LLMServer`. A function makes a body of a body."""
        super().script(*behaviours)

    def _endpoint(self, api: str) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            body = json.loads(await request.body())
            self.requests.append(Recorded(request.url.path, body, dict(request.headers)))
            behaviour: Any = self._script.popleft() if self._script else self.default
            if isinstance(behaviour, Wait):
                behaviour.arrived.set()
                await self._pause(behaviour)
                behaviour = None if isinstance(behaviour.then, Answer) else behaviour.then
            if isinstance(behaviour, (Failure, Raw, Cut)):
                return _scripted(api, behaviour, body)
            wrong = _WRONG[api](body, request)
            if wrong:
                return failure_response("messages" if api == "messages" else "responses", wrong)
            return JSONResponse((behaviour or _usual(api, body))(body))

        return answer


def _scripted(api: str, behaviour: Any, body: Json) -> Response:
    made = _response("messages" if api == "messages" else "responses", behaviour, body)
    made.headers["retry-after-ms"] = "1"
    return made


def _usual(api: str, body: Json) -> Change:
    if api == "compact":
        return window_of
    if api == "responses":
        return lambda asked: response_body(ok(), asked)
    return block_of if "compaction" in body else lambda asked: message_body(ok(), asked)


def _bad(message: str, code: str | None = None) -> Failure:
    return Failure(400, message, code=code)


def _refused_items(items: list[Any], path: str, shape: str) -> Failure | None:
    union = union_named(path)
    for index, item in enumerate(items):
        why = refusal(union, item)
        if why:
            return _bad(f"Invalid value at {index}: {why}")
    broken = [v for v in validate(items, shape) if not v.open]
    return _bad(f"item {broken[0].index}: {broken[0].rule}") if broken else None


def _wrong_input(body: Json) -> Failure | None:
    items = body["input"]
    for item in items:
        if item.get("type") == "compaction":
            try:
                opened(item)
            except (ValueError, zlib.error):
                words = "The encrypted content could not be verified."
                return _bad(words, "invalid_encrypted_content")
    return _refused_items(
        items,
        "openai.types.responses.response_input_item_param:ResponseInputItemParam",
        "openai_responses",
    )


def _wrong_compact(body: Json, request: Request) -> Failure | None:
    unknown = set(body) - {
        "model", "input", "instructions", "prompt_cache_key", "prompt_cache_options",
        "prompt_cache_retention", "service_tier", "previous_response_id", "image",
    }  # fmt: skip
    if unknown:
        return _bad(f"Unknown parameter: {sorted(unknown)}")
    if any(i.get("type") == "configuration_update" for i in body["input"]):
        return _bad("Invalid input type 'configuration_update'")
    return _wrong_input(body)


def _wrong_response(body: Json, request: Request) -> Failure | None:
    return _wrong_input(body)


_WITHOUT = ("context_management", "stop_sequences")


def _wrong_messages(body: Json, request: Request) -> Failure | None:
    messages = body["messages"]
    beta = BETA in request.headers.get("anthropic-beta", "").split(",")
    blocks = [
        (place, position, block)
        for place, message in enumerate(messages)
        if isinstance(message.get("content"), list)
        for position, block in enumerate(message["content"])
        if block.get("type") == "compaction"
    ]
    if (blocks or "compaction" in body) and not beta:
        return _bad(f"compaction: requires anthropic-beta: {BETA}")
    if len(blocks) > 1:
        return _bad("compaction_block_ambiguous")
    for place, position, block in blocks:
        if place or position:
            return _bad("compaction_block_misplaced")
        if block.get("signature") != _signature(block["content"]):
            return _bad("compaction_signature_invalid")
    if "compaction" in body:
        refused = [key for key in _WITHOUT if key in body]
        if refused or len(body["compaction"].get("instructions", "")) > 16_384:
            return _bad(f"compaction: cannot be combined with {refused}")
        if not messages:
            return _bad("compaction_nothing_to_summarize")
    wrong = _refused_items(
        messages, "anthropic.types.beta.beta_message_param:BetaMessageParam", "anthropic"
    )
    still_open = "compaction" in body and any(v.open for v in validate(messages, "anthropic"))
    return _bad("compaction_incomplete_turn") if still_open and not wrong else wrong


_WRONG: dict[str, Callable[[Json, Request], Failure | None]] = {
    "compact": _wrong_compact,
    "responses": _wrong_response,
    "messages": _wrong_messages,
    "chat": lambda body, request: _bad("no chat here"),
}


@pytest.fixture
def native_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[NativeServer]:
    """A running server with an empty script and no requests recorded."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with NativeServer() as server:
        yield server
