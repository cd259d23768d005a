"""Drafts of Ollama histories."""

from __future__ import annotations

import json
import random
from typing import Any

from drafts.base import Draft, DrawnCall, Item, long_calls, words

PICTURE = "iVBORw0KGgo="  # the beginning of a PNG


class OllamaDraft(Draft):
    shape = "ollama"

    def begin(self) -> None:
        # Newer servers give ids, which the SDK's objects do not hold.
        self.has_ids = self.chance(30)
        self.repeat((75, 33), lambda: self.instruct(("system",)))

    def instruct(self, roles: Any) -> None:
        super().instruct(("system",))

    def user(self) -> Item:
        item: Item = {"role": "user", "content": self.text()}
        if self.chance(20):
            item["images"] = [PICTURE] * (1 + self.below(2))
        return item

    def step(self) -> None:
        members: list[Item] = []
        step: list[DrawnCall] = []

        def emit() -> None:
            call_id = self.call_id(step) if self.has_ids else None
            arguments = self.pick(({"order": "LK-20417"}, {}, {"q": self.text(), "n": [1, None]}))
            call = DrawnCall(call_id, self.tool_name(), len(self.items), arguments=arguments)
            member: Item = {"function": {"name": call.name, "arguments": arguments}}
            members.append(member if call_id is None else {"id": call_id, **member})
            step.append(self.called(call))

        emit()
        self.repeat((67, 50, 50), emit)
        self.add(self.assistant({"content": self.said(), "tool_calls": members}))
        for call in self.settled(step):
            text = self.text()
            self.answered(call, text)
            to = {} if call.id is None else {"tool_call_id": call.id}
            self.add({"role": "tool", "content": text, "tool_name": call.name, **to})

    def said(self) -> str:
        """Draw what an assistant says beside its calls: the server writes "" for nothing."""
        return self.text() if self.chance(40) else ""

    def answer(self) -> None:
        self.add(self.assistant({"content": self.text()}))

    def assistant(self, body: Item) -> Any:
        """Return an assistant message as a dict, an SDK object, or a dict that holds some."""
        item: Item = {"role": "assistant", **body}
        if self.chance(25):
            item["thinking"] = self.solid()
        if self.has_ids or not self.sdk_percent or not self.chance(self.sdk_percent):
            return item
        from ollama import Message

        if "tool_calls" in item:
            item["tool_calls"] = [
                Message.ToolCall.model_construct(
                    function=Message.ToolCall.Function.model_construct(**call["function"])
                )
                for call in item["tool_calls"]
            ]
            if self.chance(25):
                return item
        return Message.model_construct(**item)


def turn(rng: random.Random, at: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": words(rng, 12)}]
    calls = long_calls(rng, at)
    if calls:
        members = [
            {"function": {"name": "get_order", "arguments": arguments}} for _, arguments, _ in calls
        ]
        items.append({"role": "assistant", "content": "", "tool_calls": members})
        items += [
            {"role": "tool", "content": text, "tool_name": "get_order"} for _, _, text in calls
        ]
    items.append({"role": "assistant", "content": words(rng, 30)})
    return items


def script_call(number: int, name: str, arguments: Item, result: Item) -> list[Any]:
    function = {"name": name, "arguments": arguments}
    return [
        {"role": "assistant", "content": "", "tool_calls": [{"function": function}]},
        {"role": "tool", "content": json.dumps(result), "tool_name": name},
    ]


def script_message(number: int, role: str, text: str) -> list[Any]:
    return [{"role": role, "content": text}]
