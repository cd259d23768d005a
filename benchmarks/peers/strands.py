"""strands' `SummarizingConversationManager`, which takes out a share of the messages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

from strands.agent.conversation_manager import SummarizingConversationManager

from .peer import Entry, Item, Peer, calls, words

_MOST = 0.8
"""The largest share that its configuration takes; 0.3 is the default."""


class Strands(Peer):
    """Messages of the Converse shape: the results of one step stand in one message."""

    package = "strands-agents"
    variants = ("as it comes", "largest share")
    timed = ("largest share",)

    def __init__(self, *options: Any, **named: Any) -> None:
        super().__init__(*options, **named)
        share = {"summary_ratio": _MOST} if self.variant == "largest share" else {}
        self._manager = SummarizingConversationManager(**share)
        if self.keep_messages is not None:
            self._manager.preserve_recent_messages = self.keep_messages
            self._manager.summary_ratio = 1.0  # so that the number kept is what counts
        self._agent: Any = SimpleNamespace(messages=[], aux_model=_Model(self))
        self._places: dict[int, list[int]] = {}
        self._system: list[int] = []
        self._made: list[Any] = []  # so that no identity is used twice

    def add(self, index: int, item: Item) -> None:
        role = item["role"]
        if role in ("system", "developer") and not self._made:
            self._system.append(index)  # an agent's own instructions are not in its messages
            return
        content: list[Any] = [{"text": words(item)}] if words(item) else []
        if role == "tool":
            result = {"toolUseId": item["tool_call_id"], "status": "success", "content": content}
            latest = self._agent.messages[-1] if self._agent.messages else None
            if latest is not None and "toolResult" in latest["content"][0]:
                latest["content"].append({"toolResult": result})
                self._places[id(latest)].append(index)
                return
            content = [{"toolResult": result}]
        for call, name, arguments in calls(item):
            use = {"toolUseId": call, "name": name, "input": json.loads(arguments)}
            content.append({"toolUse": use})
        role = "assistant" if role == "assistant" else "user"
        message = {"role": role, "content": content or [{"text": " "}]}
        self._made.append(message)
        self._agent.messages.append(message)
        self._places[id(message)] = [index]

    def fold(self) -> None:
        self._manager.reduce_context(self._agent)

    def entries(self) -> list[Entry]:
        found: list[Entry] = list(self._system)
        for message in self._agent.messages:
            if id(message) in self._places:
                found += self._places[id(message)]
            else:
                text = "\n".join(block["text"] for block in message["content"])
                found.append({"role": "user", "content": text})
        return found


class _Model:
    """Stands where strands' model stands."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def stream(
        self, messages: list[Any], *, system_prompt: str, **_: object
    ) -> AsyncIterator[Any]:
        told = (text for message in messages for text in _texts(message["content"]))
        text = self._peer.answer(system_prompt, *told)
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def _texts(blocks: list[Any]) -> list[str]:
    """Return what is told by the blocks of a message, ids included."""
    found: list[str] = []
    for block in blocks:
        if "text" in block:
            found.append(block["text"])
        elif "toolUse" in block:
            use = block["toolUse"]
            found += [use["toolUseId"], use["name"], json.dumps(use["input"])]
        else:
            found += [block["toolResult"]["toolUseId"], *_texts(block["toolResult"]["content"])]
    return found


PEER = Strands
