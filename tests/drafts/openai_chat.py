"""Drafts of Chat Completions histories."""

from __future__ import annotations

import json
import random
from typing import Any

from drafts.base import PNG, Draft, DrawnCall, Item, long_calls, words


class ChatDraft(Draft):
    shape = "openai_chat"

    def opening(self, first: bool) -> None:
        super().opening(first)
        for call in self.waiting:
            self.result(call)
        self.waiting.clear()

    def user(self) -> Item:
        item: Item = {"role": "user", "content": self.text()}
        if self.chance(30):
            item["content"] = [self.part() for _ in range(1 + self.below(3))]
        if self.chance(10):
            item["name"] = "ada"
        return item

    def part(self) -> Item:
        return self.pick_lazily(
            (
                lambda: {"type": "text", "text": self.text()},
                {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "file", "file": {"file_data": "JVBERi0=", "filename": "a.pdf"}},
            )
        )

    def step(self) -> None:
        if self.chance(12):
            self.legacy_step()
            return
        members: list[Item] = []
        step: list[DrawnCall] = []

        def emit() -> None:
            call_id, name = self.call_id(step), self.tool_name()
            call = DrawnCall(call_id, name, len(self.items))
            if self.chance(20):
                call.arguments = self.text()
                body = {"type": "custom", "custom": {"name": name, "input": call.arguments}}
            else:
                call.arguments = self.arguments()
                body = {
                    "type": "function",
                    "function": {"name": name, "arguments": call.arguments},
                }
            members.append({"id": call_id, **body})
            step.append(self.called(call))

        emit()
        self.repeat((67, 50, 50), emit)
        self.add(self.assistant({"content": self.content(), "tool_calls": members}))
        for call in self.settled(step):
            self.result(call)
        if self.ended and not self.last:
            left = [call for call in step if call.result_index is None]
            for call in left:
                alone = sum(other.key == call.key for other in left) == 1
                if alone and self.chance(40):
                    self.waiting.append(call)

    def legacy_step(self) -> None:
        """Add the deprecated pair of `function_call` and role `function`, which has no ids."""
        call = DrawnCall(None, self.tool_name(), len(self.items), arguments=self.arguments())
        body = {"name": call.name, "arguments": call.arguments}
        self.add(self.assistant({"content": self.content(), "function_call": body}))
        self.called(call)
        for answered in self.settled([call]):
            self.result(answered)

    def content(self) -> Any:
        """Draw what an assistant says beside its calls."""
        match self.below(5):
            case 0 | 1:
                return None
            case 2:
                return self.text()
            case 3:
                return ""
            case _:
                return [{"type": "text", "text": self.text()}]

    def result(self, call: DrawnCall) -> None:
        text = self.text()
        if call.id is None:
            empty = self.chance(20)
            self.answered(call, "" if empty else text)
            null = None if empty else text
            self.add({"role": "function", "name": call.name, "content": null})
            return
        parts = [{"type": "text", "text": text}]
        self.answered(call, text)
        content: Any = parts if self.chance(20) else text
        self.add({"role": "tool", "tool_call_id": call.id, "content": content})

    def answer(self) -> None:
        match self.below(10):
            case 7:
                refusal = self.solid()
                parts = [{"type": "refusal", "refusal": refusal}]
                body: Item = {"content": parts, "refusal": refusal}
            case 8:
                body = {"content": [{"type": "text", "text": self.text()} for _ in range(2)]}
            case 9:
                extra: Item = self.pick(({"name": "support"}, {"audio": {"id": "audio_1"}}))
                body = {"content": self.text(), **extra}
            case _:
                body = {"content": self.text()}
        self.add(self.assistant(body))

    def assistant(self, body: Item) -> Any:
        """Return an assistant message as a dict, an SDK object, or a dict that holds some."""
        item = {"role": "assistant", **body}
        if not self.sdk_percent or not self.chance(self.sdk_percent):
            return item
        import openai.types.chat
        from openai.types.chat import ChatCompletionMessage

        custom = any(call["type"] == "custom" for call in item.get("tool_calls", ()))
        if custom and not hasattr(openai.types.chat, "ChatCompletionMessageCustomToolCall"):
            return item
        plain = not isinstance(item["content"], list) and not {"name", "audio"} & item.keys()
        if plain and not ("tool_calls" in item and self.chance(25)):
            return ChatCompletionMessage.construct(**{"refusal": None, "annotations": [], **item})
        if "tool_calls" in item:
            whole = ChatCompletionMessage.construct(
                role="assistant", content=None, tool_calls=item["tool_calls"]
            )
            item["tool_calls"] = whole.tool_calls
        return item


def turn(rng: random.Random, at: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": words(rng, 12)}]
    calls = long_calls(rng, at)
    if calls:
        members = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": "get_order", "arguments": json.dumps(arguments)},
            }
            for call_id, arguments, _ in calls
        ]
        items.append({"role": "assistant", "content": None, "tool_calls": members})
        rng.shuffle(calls)
        items += [{"role": "tool", "tool_call_id": i, "content": text} for i, _, text in calls]
    items.append({"role": "assistant", "content": words(rng, 30)})
    return items


def script_call(number: int, name: str, arguments: Item, result: Item) -> list[Any]:
    call_id, function = f"call_{number}", {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": call_id, "content": json.dumps(result)},
    ]


def script_message(number: int, role: str, text: str) -> list[Any]:
    return [{"role": role, "content": text}]
