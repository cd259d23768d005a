"""Drafts of Mistral histories."""

from __future__ import annotations

import json
import random
from typing import Any

from drafts.base import PNG, Draft, DrawnCall, Item, long_calls, words


def text_chunk(text: str) -> Item:
    return {"type": "text", "text": text}


class MistralDraft(Draft):
    shape = "mistral"

    def fresh(self, prefix: str) -> str:
        """Return an id in Mistral's form: nine letters and digits."""
        self.serial += 1
        return f"{prefix[:4]}{self.serial:0{9 - len(prefix[:4])}}"

    def begin(self) -> None:
        self.repeat((75, 33), lambda: self.instruct(("system",)))

    def opening(self, first: bool) -> None:
        if self.items and self.role_of(self.items[-1]) == "tool":
            if self.options.broken and self.chance(30):
                self.valid = False  # a user directly behind a result
            elif not self.open_calls():
                self.answer()
        if not (first and self.items and self.chance(20)):
            self.speak()
            self.repeat((33, 50), self.speak)
        if self.chance(5):
            self.instruct(("system",))

    def open_calls(self) -> bool:
        return any(call.result_index is None for call in self.calls[-4:])

    @staticmethod
    def role_of(item: Any) -> str:
        return str(item["role"] if isinstance(item, dict) else item.role)

    def user(self) -> Item:
        content: Any = self.text()
        if self.chance(30):
            content = [self.part() for _ in range(1 + self.below(3))]
        return {"role": "user", "content": content}

    def part(self) -> Item:
        return self.pick_lazily(
            (
                lambda: text_chunk(self.text()),
                {"type": "image_url", "image_url": PNG},
                {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
                {"type": "input_audio", "input_audio": "UklGRg=="},
                {"type": "file", "file_id": "file-1"},
                {"type": "document_url", "document_url": "https://example.com/a.pdf"},
                {"type": "reference", "reference_ids": [1, "b"]},
            )
        )

    def step(self) -> None:
        members: list[Item] = []
        step: list[DrawnCall] = []
        nameless = self.options.broken and self.chance(10)  # the server gave no ids
        self.valid = self.valid and not nameless

        def emit() -> None:
            call_id = None if nameless else self.call_id()
            arguments: Any = self.arguments()
            if not nameless and self.chance(20):  # without an id too, it could be Ollama's
                arguments = {"q": self.text()}
            call = DrawnCall(call_id, self.tool_name(), len(self.items), arguments=arguments)
            function = {"name": call.name, "arguments": arguments}
            members.append(
                {"type": "function", "function": function, "index": len(members)}
                | ({} if call_id is None else {"id": call_id})
            )
            step.append(self.called(call))

        emit()
        self.repeat((67, 50, 50), emit)
        self.add(self.assistant({"content": self.said(), "tool_calls": members}))
        for call in self.settled(step):
            self.result(call)

    def said(self) -> Any:
        """Draw what an assistant says beside its calls."""
        match self.below(5):
            case 0 | 1:
                return ""
            case 2:
                return self.text()
            case 3:
                return None
            case _:
                return self.thoughts()

    def thoughts(self) -> list[Item]:
        thinking = [text_chunk(self.solid())]
        return [{"type": "thinking", "thinking": thinking}, text_chunk(self.text())]

    def result(self, call: DrawnCall) -> None:
        text = self.text()
        self.answered(call, text)
        item: Item = {"role": "tool", "content": [text_chunk(text)] if self.chance(20) else text}
        if call.id is not None:
            item["tool_call_id"] = call.id
        if call.id is None or self.chance(50):
            item["name"] = call.name
        self.add(item)

    def answer(self) -> None:
        content = self.thoughts() if self.chance(20) else self.text() or "x"
        self.add(self.assistant({"content": content}))

    def assistant(self, body: Item) -> Any:
        """Return an assistant message as a dict, an SDK object, or a dict that holds some."""
        item: Item = {"role": "assistant", **body}
        if self.chance(15):
            item["prefix"] = False
        if not self.sdk_percent or not self.chance(self.sdk_percent):
            return item
        from mistralai.client import models

        if "tool_calls" in item:
            item["tool_calls"] = [
                models.ToolCall.model_construct(
                    **{**call, "function": models.FunctionCall.model_construct(**call["function"])}
                )
                for call in item["tool_calls"]
            ]
            if self.chance(25):
                return item
        if isinstance(item["content"], list):
            item["content"] = [self.chunk(models, chunk) for chunk in item["content"]]
        return models.AssistantMessage.model_construct(**item)

    def chunk(self, models: Any, chunk: Item) -> Any:
        if chunk["type"] == "text":
            return models.TextChunk.model_construct(**chunk)
        thinking = [models.TextChunk.model_construct(**inner) for inner in chunk["thinking"]]
        return models.ThinkChunk.model_construct(type="thinking", thinking=thinking)

    def end(self) -> None:
        """Begin the answer that the model is to go on with, now and then."""
        waits = bool(self.items) and self.role_of(self.items[-1]) in ("user", "tool")
        if waits and not self.ended and self.chance(10):
            self.add({"role": "assistant", "content": "Dear", "prefix": True})


def turn(rng: random.Random, at: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": words(rng, 12)}]
    calls = [(f"{at:06}x{n:02}", *rest[1:]) for n, rest in enumerate(long_calls(rng, at))]
    if calls:
        members = [
            {"id": i, "function": {"name": "get_order", "arguments": json.dumps(arguments)}}
            for i, arguments, _ in calls
        ]
        items.append({"role": "assistant", "content": "", "tool_calls": members, "prefix": False})
        rng.shuffle(calls)
        items += [
            {"role": "tool", "name": "get_order", "tool_call_id": i, "content": text}
            for i, _, text in calls
        ]
    items.append({"role": "assistant", "content": words(rng, 30)})
    return items


def script_call(number: int, name: str, arguments: Item, result: Item) -> list[Any]:
    call_id = f"call{number:05}"
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return [
        {"role": "assistant", "content": "", "tool_calls": calls, "prefix": False},
        {"role": "tool", "name": name, "tool_call_id": call_id, "content": json.dumps(result)},
    ]


def script_message(number: int, role: str, text: str) -> list[Any]:
    return [{"role": role, "content": text}]
