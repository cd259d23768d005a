"""Drafts of Bedrock Converse histories."""

from __future__ import annotations

import json
import random
from base64 import b64decode
from typing import Any

from drafts.base import Draft, DrawnCall, Item, long_calls, words

_PICTURE = "iVBORw0KGgo="
_CACHE: Item = {"cachePoint": {"type": "default"}}
_FOUND: Item = {"source": "https://example.com", "title": "T", "content": [{"text": "a page"}]}


class BedrockDraft(Draft):
    shape = "bedrock"

    def begin(self) -> None:
        """Add nothing: the system prompt is no message here."""

    def opening(self, first: bool) -> None:
        self.speak()
        self.repeat((33, 50), self.speak)

    # what users write

    def user(self) -> Item:
        blocks: list[Item] = [{"text": self.solid()}]
        if self.chance(30):
            blocks += [self.block() for _ in range(1 + self.below(2))]
        if self.chance(15):
            blocks.append(_CACHE)
        return {"role": "user", "content": blocks}

    def block(self) -> Item:
        text = {"format": "txt", "name": "terms", "source": {"text": "a\x00 & <b>"}}
        return self.pick_lazily(
            (
                lambda: {"text": self.solid()},
                self.picture,
                {"document": {**text, "context": "C", "citations": {"enabled": True}}},
                {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://shop/a.mp4"}}}},
                {"searchResult": _FOUND},
                lambda: {"guardContent": {"text": {"text": self.solid()}}},
            )
        )

    def picture(self) -> Item:
        """Draw a picture: boto3 takes bytes, a list that was JSON has base64."""
        data = b64decode(_PICTURE) if self.chance(self.sdk_percent) else _PICTURE
        return {"image": {"format": "png", "source": {"bytes": data}}}

    # what the model writes

    def begun(self) -> list[Item]:
        if not self.chance(30):
            return []
        if self.chance(25):
            secret = b"\x00\xffhidden" if self.chance(self.sdk_percent) else "AP9oaWRkZW4="
            return [{"reasoningContent": {"redactedContent": secret}}]
        thought = {"text": self.text(), "signature": self.fresh("sig")}
        return [{"reasoningContent": {"reasoningText": thought}}]

    def answer(self) -> None:
        blocks = self.begun()
        if self.chance(15):
            self.server_pair(blocks)
        text = self.solid()
        if self.chance(15):
            blocks.append({"citationsContent": {"content": [{"text": text}], "citations": []}})
        else:
            blocks.append({"text": text})
        self.add({"role": "assistant", "content": blocks})

    def step(self) -> None:
        blocks = self.begun()
        if self.chance(40):
            blocks.append({"text": self.solid()})
        if self.chance(10):
            self.server_pair(blocks)
        step: list[DrawnCall] = [self.call(blocks)]
        self.repeat((67, 50, 50), lambda: step.append(self.call(blocks)))
        self.add({"role": "assistant", "content": blocks})
        now = self.settled(step)
        if now and not (self.ended and self.last):  # a message with some of the results is refused
            self.results(now)

    def call(self, blocks: list[Item]) -> DrawnCall:
        call_id = self.call_id()
        arguments = self.pick_lazily(
            ({}, {"q": 1}, lambda: {"q": self.text(), "n": [None, {"k": 2.5}]})
        )
        call = DrawnCall(call_id, self.tool_name(), len(self.items), arguments=arguments)
        blocks.append({"toolUse": {"toolUseId": call_id, "name": call.name, "input": arguments}})
        return self.called(call)

    def results(self, now: list[DrawnCall]) -> None:
        blocks = [self.result(call) for call in now]
        if not self.ended and self.chance(15):
            self.openers.append(len(self.items))
            blocks.append({"text": self.solid()})
        if self.chance(20):
            blocks.append(_CACHE)
        self.add({"role": "user", "content": blocks})

    def result(self, call: DrawnCall) -> Item:
        text: str | None = self.text()
        content: list[Item] = [{"text": text}]
        match self.below(10):
            case 6:
                text, content = "", []
            case 7:
                text, content = None, [{"json": {"rows": [1, {"text": text}]}}]
            case 8:
                content.append(self.picture())
            case 9:
                text, content = None, [{"searchResult": _FOUND}]
            case _:
                pass
        block: Item = {"toolUseId": call.id, "content": content}
        roll = self.below(10)
        failed = roll >= 8 and bool(content)  # an error says what it was, or is refused
        if roll >= 7:
            block["status"] = "error" if failed else "success"
        self.answered(call, text, failed=failed)
        return {"toolResult": block}

    def server_pair(self, blocks: list[Item]) -> None:
        """Add what the server called and answered itself."""
        call = DrawnCall(self.fresh("srv"), "nova_grounding", len(self.items), "server", {"q": "x"})
        use = {"toolUseId": call.id, "name": call.name, "input": call.arguments}
        text, failed = self.text(), self.chance(25)
        result = {"toolUseId": call.id, "content": [{"text": text}]}
        status = "error" if failed else "success"
        blocks.append({"toolUse": {**use, "type": "server_tool_use"}})
        blocks.append({"toolResult": {**result, "status": status, "type": "nova_grounding_result"}})
        self.called(call)
        call.result_index, call.result_text, call.failed = len(self.items), text, failed


def turn(rng: random.Random, at: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": [{"text": words(rng, 12)}]}]
    calls = long_calls(rng, at)
    if calls:
        uses = [
            {"toolUse": {"toolUseId": i, "name": "get_order", "input": args}}
            for i, args, _ in calls
        ]
        items.append({"role": "assistant", "content": uses})
        rng.shuffle(calls)
        results = [
            {"toolResult": {"toolUseId": i, "content": [{"text": text}]}} for i, _, text in calls
        ]
        items.append({"role": "user", "content": results})
    return [*items, {"role": "assistant", "content": [{"text": words(rng, 30)}]}]


def script_call(number: int, name: str, arguments: Item, result: Item) -> list[Any]:
    call_id = f"tooluse_{number}"
    use = {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}
    answer = {"toolUseId": call_id, "content": [{"text": json.dumps(result)}]}
    return [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"toolResult": answer}]},
    ]


def script_message(number: int, role: str, text: str) -> list[Any]:
    return [] if role == "system" else [{"role": role, "content": [{"text": text}]}]
