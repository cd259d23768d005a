"""LiveKit's `ChatContext._summarize`, with its default of two turns kept."""

from __future__ import annotations

from typing import Any

from livekit.agents.llm import ChatContext, ChatMessage, FunctionCall, FunctionCallOutput

from .peer import Entry, Item, Peer, awaited, calls, words


class LiveKit(Peer):
    """One item a message's text, a call, and a result; a message is there while one of them is."""

    package = "livekit-agents"
    variants = ("as it comes",)
    timed = ("as it comes",)

    def __init__(self, *options: Any, **named: Any) -> None:
        super().__init__(*options, **named)
        self._context: Any = ChatContext()
        self._places: dict[str, int] = {}
        self._names: dict[str, str] = {}

    def add(self, index: int, item: Item) -> None:
        for made in self._items(item):
            self._places[made.id] = index
            self._context.items.append(made)

    def _items(self, item: Item) -> list[Any]:
        role = item["role"]
        if role == "tool":
            call = item["tool_call_id"]
            name = item.get("name") or self._names.get(call, "")
            return [FunctionCallOutput(call_id=call, name=name, output=words(item), is_error=False)]
        made: list[Any] = []
        if words(item):
            made.append(ChatMessage(role=role, content=[words(item)]))
        for call, name, arguments in calls(item):
            self._names[call] = name
            made.append(FunctionCall(call_id=call, name=name, arguments=arguments))
        return made

    def fold(self) -> None:
        options = {}
        if self.keep_messages is not None:
            options["keep_last_turns"] = self.keep_messages // 2
        awaited(self._context._summarize(_Model(self), **options))

    def entries(self) -> list[Entry]:
        found: list[Entry] = []
        for item in self._context.items:
            place = self._places.get(item.id)
            if place is None:
                found.append({"role": item.role, "content": item.text_content or ""})
            elif not found or found[-1] != place:
                found.append(place)
        return found


class _Model:
    """Stands where LiveKit's model stands."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._text = ""

    def chat(self, *, chat_ctx: Any) -> _Model:
        self._text = self._peer.answer(*(item.text_content or "" for item in chat_ctx.items))
        return self

    async def __aenter__(self) -> _Model:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def __aiter__(self) -> Any:
        yield _Chunk(self._text)


class _Chunk:
    def __init__(self, text: str) -> None:
        self.delta = self
        self.content = text


PEER = LiveKit
