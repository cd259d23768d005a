"""Drafts of Gemini histories."""

from __future__ import annotations

import json
import random
import re
from base64 import b64decode
from typing import Any

from drafts.base import Draft, DrawnCall, Item, long_calls, words

_PICTURE = {"mime_type": "image/png", "data": "iVBORw0KGgo="}
_FILE = {"mime_type": "application/pdf", "file_uri": "gs://shop/terms.pdf", "display_name": "T"}
_SIGNATURE = "c2lnbmF0dXJl"


def _camel(value: Any) -> Any:
    """Return a content with the names of the wire; what tools say keeps its own keys."""
    if isinstance(value, list):
        return [_camel(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub(r"_([a-z])", lambda found: found[1].upper(), key): inner
        if key in ("args", "response")
        else _camel(inner)
        for key, inner in value.items()
    }


def _content(item: Item) -> Any:
    """Return a content as the SDK's object, without validation: it takes no lone surrogates."""
    from google.genai import types

    inner = {
        "function_call": types.FunctionCall,
        "function_response": types.FunctionResponse,
        "inline_data": types.Blob,
        "executable_code": types.ExecutableCode,
        "code_execution_result": types.CodeExecutionResult,
        "tool_call": types.ToolCall,
        "tool_response": types.ToolResponse,
    }
    enums = {
        "outcome": types.Outcome,
        "language": types.Language,
        "tool_type": types.ToolType,
    }
    parts: list[Any] = []
    for part in item["parts"]:
        made: dict[str, Any] = {}
        for key, value in part.items():
            if key == "thought_signature":
                made[key] = b64decode(value)
            elif key in inner:
                fields = {k: enums[k](v) if k in enums else v for k, v in value.items()}
                made[key] = inner[key].model_construct(**fields)
            else:
                made[key] = value
        parts.append(types.Part.model_construct(**made))
    return types.Content.model_construct(role=item["role"], parts=parts)


class GeminiDraft(Draft):
    shape = "gemini"

    def begin(self) -> None:
        """Add nothing: the system prompt is no content here."""

    def opening(self, first: bool) -> None:
        self.speak()
        self.repeat((33, 50), self.speak)

    def spelled(self, item: Item) -> Item:
        return _camel(item) if self.chance(20) else item

    # what users write

    def user(self) -> Item:
        parts = [self.part() for _ in range(1 + (self.below(3) if self.chance(30) else 0))]
        return self.spelled({"role": "user", "parts": parts})

    def part(self) -> Item:
        return self.pick_lazily(
            (
                lambda: {"text": self.solid()},
                lambda: {"text": self.solid()},
                {"inline_data": _PICTURE},
                {"file_data": _FILE},
                {"inline_data": {"mime_type": "audio/wav", "data": "UklGRg=="}},
            )
        )

    # what the model writes

    def model(self, parts: list[Item]) -> None:
        item: Item = {"role": "model", "parts": parts}
        self.add(_content(item) if self.chance(self.sdk_percent) else self.spelled(item))

    def begun(self) -> list[Item]:
        return [{"text": self.solid(), "thought": True}] if self.chance(30) else []

    def answer(self) -> None:
        parts = self.begun()
        if self.chance(20):
            self.server_pair(parts)
        parts.append({"text": self.solid()})
        match self.below(10):
            case 8:
                parts[-1]["thought_signature"] = _SIGNATURE
            case 9:
                parts.append({"text": "", "thought_signature": _SIGNATURE})
        self.model(parts)

    def step(self) -> None:
        parts = self.begun()
        if self.chance(30):
            parts.append({"text": self.solid()})
        if self.chance(10):
            self.server_pair(parts)
        named = self.chance(60)
        step: list[DrawnCall] = []
        step.append(self.call(parts, step, named))
        if self.chance(80):
            parts[-1]["thought_signature"] = _SIGNATURE
        self.repeat((67, 50, 50), lambda: step.append(self.call(parts, step, named)))
        self.model(parts)
        now = self.settled(step)
        if now and not (self.ended and self.last):  # a content with some of the results is refused
            self.results(now)

    def call(self, parts: list[Item], step: list[DrawnCall], named: bool) -> DrawnCall:
        key = {"id": self.call_id(step)} if named else {}
        arguments = self.pick_lazily(
            ({}, {"q": 1}, lambda: {"q": self.text(), "n": [None, {"k": 2.5}]})
        )
        call = DrawnCall(key.get("id"), self.tool_name(), len(self.items), arguments=arguments)
        parts.append({"function_call": {**key, "name": call.name, "args": arguments}})
        return self.called(call)

    def results(self, now: list[DrawnCall]) -> None:
        parts = [self.result(call) for call in now]
        if not self.ended and self.chance(10):
            self.openers.append(len(self.items))
            parts.append({"text": self.solid()})
        self.add(self.spelled({"role": "user", "parts": parts}))

    def result(self, call: DrawnCall) -> Item:
        key = {} if call.id is None else {"id": call.id}
        text: str | None = self.text()
        failed, more = False, {}
        match self.below(10):
            case 6:
                response: Item = {"output": text}
            case 7:
                text, response = None, {"rows": [1, {"text": text}], "note": None}
            case 8:
                failed, response = True, {"error": self.solid()}
                text = response["error"]
            case 9:
                response, more = {"result": text}, {"parts": [{"inline_data": _PICTURE}]}
            case _:
                response = {"result": text}
        self.answered(call, text, failed=failed)
        return {"function_response": {**key, "name": call.name, "response": response, **more}}

    def server_pair(self, parts: list[Item]) -> None:
        """Add what the server called and answered itself."""
        index, text, failed = len(self.items), self.text(), self.chance(25)
        if self.chance(60):
            code = "print('a < b')"
            outcome = "OUTCOME_FAILED" if failed else "OUTCOME_OK"
            parts.append({"executable_code": {"code": code, "language": "PYTHON"}})
            parts.append({"code_execution_result": {"outcome": outcome, "output": text}})
            call = DrawnCall(None, "code_execution", index, "code", code)
        else:
            key = {"id": self.fresh("srv"), "tool_type": "GOOGLE_SEARCH_WEB"}
            response = {"error": text or "none"} if failed else {"result": text}
            text = next(iter(response.values()))
            call = DrawnCall(key["id"], key["tool_type"], index, "tool", {"q": "x"})
            parts.append({"tool_call": {**key, "args": call.arguments}})
            parts.append({"tool_response": {**key, "response": response}})
        self.called(call)
        call.result_index, call.result_text, call.failed = index, text, failed


def turn(rng: random.Random, at: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "parts": [{"text": words(rng, 12)}]}]
    calls = long_calls(rng, at)
    if calls:
        made: list[Item] = [
            {"function_call": {"id": i, "name": "get_order", "args": args}} for i, args, _ in calls
        ]
        made[0]["thought_signature"] = _SIGNATURE
        items.append({"role": "model", "parts": made})
        rng.shuffle(calls)
        results = [
            {"function_response": {"id": i, "name": "get_order", "response": {"result": text}}}
            for i, _, text in calls
        ]
        items.append({"role": "user", "parts": results})
    return [*items, {"role": "model", "parts": [{"text": words(rng, 30)}]}]


def script_call(number: int, name: str, arguments: Item, result: Item) -> list[Any]:
    call = {"function_call": {"name": name, "args": arguments}, "thought_signature": _SIGNATURE}
    answer = {"function_response": {"name": name, "response": {"result": json.dumps(result)}}}
    return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [answer]}]


def script_message(number: int, role: str, text: str) -> list[Any]:
    if role == "system":
        return []
    return [{"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}]
