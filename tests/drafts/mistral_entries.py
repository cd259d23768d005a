"""Drafts of the entries of Mistral's conversations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from drafts.base import PNG, DrawnCall, Item
from drafts.mistral import MistralDraft, text_chunk

CLASSES = {
    "message.input": "MessageInputEntry",
    "message.output": "MessageOutputEntry",
    "function.call": "FunctionCallEntry",
    "function.result": "FunctionResultEntry",
    "tool.execution": "ToolExecutionEntry",
    "agent.handoff": "AgentHandoffEntry",
}
CHUNKS: dict[str, Callable[[Any, Item], Any]] = {
    "text": lambda models, chunk: models.TextChunk.model_construct(**chunk),
    "image_url": lambda models, chunk: models.ImageURLChunk(**chunk),
    "document_url": lambda models, chunk: models.DocumentURLChunk(**chunk),
    "tool_file": lambda models, chunk: models.ToolFileChunk(**chunk),
    "tool_reference": lambda models, chunk: models.ToolReferenceChunk(**chunk),
}


class EntriesDraft(MistralDraft):
    """What `conversations` take and give: calls and results are entries, instructions are none."""

    def begin(self) -> None:
        """Leave the start to the first turn."""

    def opening(self, first: bool) -> None:
        if not (first and self.chance(20)):
            self.speak()
            self.repeat((33, 50), self.speak)

    def entry(self, kind: str, **fields: Any) -> Any:
        """Return an entry as the host writes it, as the server does, or as the SDK's object."""
        item: Item = {"object": "entry", "type": kind, **fields}
        if self.chance(30):
            item.setdefault("id", self.fresh("entry"))
            item["created_at"] = "2026-11-30T08:00:00Z"
        if self.sdk_percent and self.chance(self.sdk_percent):
            from mistralai.client import models

            if isinstance(item.get("content"), list):
                item["content"] = [CHUNKS[c["type"]](models, c) for c in item["content"]]
            if "created_at" in item:
                item["created_at"] = datetime.fromisoformat(item["created_at"])
            return getattr(models, CLASSES[kind]).model_construct(**item)
        return item

    def user(self) -> Any:
        content: Any = self.text()
        if self.chance(30):
            content = [self.part() for _ in range(1 + self.below(3))]
        return self.entry("message.input", role="user", content=content)

    def part(self) -> Item:
        return self.pick_lazily(
            (
                lambda: text_chunk(self.text()),
                {"type": "image_url", "image_url": PNG},
                {"type": "document_url", "document_url": "https://example.com/a.pdf"},
                {"type": "tool_file", "tool": "code_interpreter", "file_id": "file-1"},
            )
        )

    def step(self) -> None:
        self.repeat((15,), self.hand_over)
        self.repeat((20,), self.execute)
        self.repeat((20,), self.answer)
        step: list[DrawnCall] = []

        def emit() -> None:
            arguments: Any = {"q": self.text()} if self.chance(20) else self.arguments()
            at = len(self.items)
            call = DrawnCall(self.call_id(), self.tool_name(), at, arguments=arguments)
            told = {"tool_call_id": call.id, "name": call.name, "arguments": arguments}
            self.add(self.entry("function.call", **told))
            step.append(self.called(call))

        emit()
        self.repeat((67, 50, 50), emit)
        for call in self.settled(step):
            text = self.text()
            self.answered(call, text)
            self.add(self.entry("function.result", tool_call_id=call.id, result=text))

    def hand_over(self) -> None:
        agents = {
            f"{side}_agent_{key}": f"{key} of {agent}"
            for side, agent in (("previous", "desk"), ("next", "billing"))
            for key in ("id", "name")
        }
        self.add(self.entry("agent.handoff", **agents))

    def execute(self) -> None:
        """Let the server run a tool of its own."""
        call = DrawnCall(self.fresh("tool_exec"), "web_search", len(self.items), pair="combined")
        call.result_index = len(self.items)
        info = {"info": {"found": self.text()}} if self.chance(50) else {}
        told = {"id": call.id, "name": call.name, "arguments": self.text()}
        self.add(self.entry("tool.execution", **told, **info))
        self.called(call)

    def answer(self) -> None:
        content: Any = self.text() or "x"
        if self.chance(20):
            page = {"type": "tool_reference", "tool": "web_search", "title": "A page"}
            content = [text_chunk(content), {**page, "url": "https://example.com/a"}]
        self.add(self.entry("message.output", role="assistant", content=content))

    def end(self) -> None:
        """Leave the end as it is: the model begins every answer."""
