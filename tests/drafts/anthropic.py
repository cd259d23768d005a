"""Drafts of Anthropic histories."""

from __future__ import annotations

import json
import random
from typing import Any

from drafts.base import Draft, DrawnCall, Item, long_calls, sdk_types, words

_IMAGE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
_SERVER_TOOLS = (
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
)


class AnthropicDraft(Draft):
    shape = "anthropic"
    running: list[DrawnCall]  # server calls without a result: it opens the next assistant message

    def begin(self) -> None:
        """Add nothing: the system prompt is no message here."""
        self.running = []

    # what users write

    def opening(self, first: bool) -> None:
        self.speak()
        self.repeat((33, 50), self.speak)
        if self.chance(10):
            self.instruct()
            self.repeat((20,), self.instruct)
            # It has to be followed by an assistant turn, or be the last.
            if not (self.last and self.chance(20)):
                self.answer()
            elif not self.chance(50):
                self.ended = True

    def instruct(self) -> None:
        """Add an instruction; several in a row are judged together."""
        content: Any = self.solid()
        if self.chance(40):
            content = [{"type": "text", "text": content}]
        term = {"clear_at": "next_user_message"} if self.chance(20) else {}
        self.add({"role": "system", "content": content, **term})

    def user(self) -> Item:
        if not self.chance(30):
            return {"role": "user", "content": self.solid()}
        return {"role": "user", "content": [self.part() for _ in range(1 + self.below(3))]}

    def part(self) -> Item:
        def text() -> Item:
            return {"type": "text", "text": self.solid()}

        plain = {"type": "text", "media_type": "text/plain", "data": "a\x00 & <b>"}
        pdf = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
        return self.pick_lazily(
            (
                text,
                lambda: {**text(), "cache_control": {"type": "ephemeral"}},
                {"type": "image", "source": _IMAGE},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {"type": "document", "source": plain, "title": "T", "context": "C"},
                {"type": "document", "source": pdf, "citations": {"enabled": True}},
                lambda: {"type": "search_result", "source": "s", "title": "T", "content": [text()]},
                {"type": "container_upload", "file_id": "file_1"},
            )
        )

    # what the model writes

    def assistant(self, blocks: list[Item]) -> None:
        content: list[Any] = blocks
        if self.sdk_percent:
            from anthropic.types import ContentBlock
            from anthropic.types.beta import BetaContentBlock

            types = sdk_types(ContentBlock, BetaContentBlock)
            content = [
                types[block["type"]].construct(**block)
                if block["type"] in types and self.chance(self.sdk_percent)
                else block
                for block in blocks
            ]
        self.add({"role": "assistant", "content": content})

    def begun(self) -> list[Item]:
        """Return how an assistant message begins: results that are due, then thinking."""
        due, self.running = self.running, []
        blocks = [self.server_result(call) for call in due]
        if self.chance(35):
            if self.chance(25):
                blocks.append({"type": "redacted_thinking", "data": "EmwKAhgB"})
            else:
                thought = {"thinking": self.text(), "signature": self.fresh("sig")}
                blocks.append({"type": "thinking", **thought})
        return blocks

    def answer(self) -> None:
        blocks = self.begun()
        if self.options.opaque and not blocks and self.chance(20):
            blocks = [{"type": "compaction", "content": self.pick((self.solid(), None))}]
        if not blocks and self.last and self.chance(15):
            self.assistant([])  # legal in the last message only
            self.ended = True
            return
        if not blocks and self.chance(50):
            self.add({"role": "assistant", "content": self.solid()})
            return
        if self.chance(20):
            self.server_pair(blocks)
        text: Item = {"type": "text", "text": self.solid()}
        if self.chance(15):
            where = {"type": "web_search_result_location", "url": "https://example.com"}
            what = {"title": "T", "encrypted_index": "Eo", "cited_text": "c"}
            text["citations"] = [{**where, **what}]
        self.assistant([*blocks, text])

    def step(self) -> None:
        blocks = self.begun()
        if self.chance(40):
            blocks.append({"type": "text", "text": self.solid()})
        if self.chance(20):
            self.server_pair(blocks)
        if self.chance(15):
            self.server_use(blocks)
        step: list[DrawnCall] = []
        # A paused turn holds server calls alone; the assistant goes on without a user.
        if not (self.running and self.chance(30)):
            step.append(self.tool_use(blocks, step))
            self.repeat((67, 50, 50), lambda: step.append(self.tool_use(blocks, step)))
        self.assistant(blocks)
        if step:
            self.results(step)
        elif not (self.last and self.options.open_calls and self.chance(25)):
            self.answer()
        else:
            self.ended = True
        if self.running and not self.ended and not (self.last and self.options.open_calls):
            self.answer()

    def tool_use(self, blocks: list[Item], step: list[DrawnCall]) -> DrawnCall:
        call_id = self.fresh("toolu")
        if self.options.broken and self.chance(8):
            call_id = self.call_id(step)
            self.valid = self.valid and all(call.id != call_id for call in self.calls)
        arguments = self.pick_lazily(
            ({}, {"q": 1}, lambda: {"q": self.text(), "n": [None, {"k": 2.5}]})
        )
        call = DrawnCall(call_id, self.tool_name(), len(self.items), arguments=arguments)
        use = {"type": "tool_use", "id": call_id, "name": call.name, "input": arguments}
        blocks.append(use)
        return self.called(call)

    def results(self, step: list[DrawnCall]) -> None:
        now = self.settled(step)
        if self.ended and self.last:
            return  # a message with some of the results only would be refused
        if not now:
            return
        blocks = [self.result(call) for call in now]
        if not self.ended and not self.running and self.chance(15):
            self.openers.append(len(self.items))
            blocks += [self.part() for _ in range(self.below(2))]
            blocks.append({"type": "text", "text": self.solid()})
        self.add({"role": "user", "content": blocks})

    def result(self, call: DrawnCall) -> Item:
        block: Item = {"type": "tool_result", "tool_use_id": call.id}
        text: str | None = ""
        match self.below(10):
            case 4:
                pass  # no content at all
            case 5:
                block["content"] = self.pick(("", []))
            case 6 | 7:
                text = self.solid()
                block["content"] = [{"type": "text", "text": text}]
            case 8:
                text = self.solid()
                picture = {"type": "image", "source": _IMAGE}
                block["content"] = [{"type": "text", "text": text}, picture]
            case 9:
                text = None
                hit = {"source": "s", "title": "T"}
                words = [{"type": "text", "text": self.solid()}]
                block["content"] = [{"type": "search_result", **hit, "content": words}]
            case _:
                text = block["content"] = self.text()
        roll = self.below(10)
        failed = roll >= 8
        if roll >= 7:
            block["is_error"] = failed
        self.answered(call, text, failed=failed)
        return block

    # calls that the server answers

    def server_pair(self, blocks: list[Item]) -> None:
        """Add a server call and its result to one message."""
        if self.chance(25):
            self.mcp_pair(blocks)
            return
        self.server_use(blocks)
        blocks.append(self.server_result(self.running.pop()))

    def server_use(self, blocks: list[Item]) -> None:
        call = DrawnCall(
            self.fresh("srvtoolu"), self.pick(_SERVER_TOOLS), len(self.items), "server"
        )
        call.arguments = {"query": self.text()}
        use = {"type": "server_tool_use", "id": call.id, "name": call.name}
        blocks.append({**use, "input": call.arguments})
        self.running.append(self.called(call))

    def mcp_pair(self, blocks: list[Item]) -> None:
        call = DrawnCall(self.fresh("mcptoolu"), "send", len(self.items), "server", {"to": "ada"})
        use = {"type": "mcp_tool_use", "id": call.id, "name": call.name, "server_name": "mail"}
        text, failed = self.solid(), self.chance(30)
        answer = {"type": "mcp_tool_result", "tool_use_id": call.id, "is_error": failed}
        blocks.append({**use, "input": call.arguments})
        blocks.append({**answer, "content": [{"type": "text", "text": text}]})
        self.called(call)
        call.result_index, call.result_text, call.failed = len(self.items), text, failed

    def server_result(self, call: DrawnCall) -> Item:
        kind = "tool_search" if call.name.startswith("tool_search") else call.name
        failed = self.chance(25)
        content: Any = {"error_code": "unavailable", "type": f"{kind}_tool_result_error"}
        if not failed:
            content = self.server_content(call.name)
        call.result_index, call.failed = len(self.items), failed
        return {"type": f"{kind}_tool_result", "tool_use_id": call.id, "content": content}

    def server_content(self, name: str) -> Any:
        if name == "web_search":
            page: Item = {"url": "https://example.com", "title": self.text(), "page_age": None}
            return [{"type": "web_search_result", "encrypted_content": "Eo8", **page}]
        if name == "web_fetch":
            plain = {"type": "text", "media_type": "text/plain", "data": self.text()}
            found: Item = {"type": "document", "source": plain}
            return {"type": "web_fetch_result", "url": "https://example.com", "content": found}
        if name == "text_editor_code_execution":
            view = {"type": f"{name}_view_result", "file_type": "text"}
            return {**view, "content": self.text()}
        if name.startswith("tool_search"):
            names = [{"type": "tool_reference", "tool_name": "get_order"}]
            return {"type": "tool_search_tool_search_result", "tool_references": names}
        run = {"stdout": self.text(), "stderr": "", "return_code": 0, "content": []}
        return {"type": f"{name}_result", **run}


def turn(rng: random.Random, at: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": words(rng, 12)}]
    calls = long_calls(rng, at)
    if calls:
        uses = [
            {"type": "tool_use", "id": call_id, "name": "get_order", "input": arguments}
            for call_id, arguments, _ in calls
        ]
        items.append({"role": "assistant", "content": uses})
        rng.shuffle(calls)
        results = [
            {"type": "tool_result", "tool_use_id": i, "content": text} for i, _, text in calls
        ]
        items.append({"role": "user", "content": results})
    said = [{"type": "text", "text": words(rng, 30)}]
    return [*items, {"role": "assistant", "content": said}]


def script_call(number: int, name: str, arguments: Item, result: Item) -> list[Any]:
    call_id = f"toolu_{number}"
    use = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    answer = {"type": "tool_result", "tool_use_id": call_id, "content": json.dumps(result)}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]


def script_message(number: int, role: str, text: str) -> list[Any]:
    return [] if role == "system" else [{"role": role, "content": text}]
