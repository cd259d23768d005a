"""LiveKit's `ChatContext._summarize`, and chatfold's `summarize` in its place."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from integrations import livekit_items
from integrations.battery import Run, System
from integrations.transcripts import Said, Transcript
from livekit.agents import DEFAULT_API_CONNECT_OPTIONS
from livekit.agents.llm import LLM, ChatChunk, ChatContext, ChoiceDelta, LLMStream

__all__ = ["SYSTEMS"]


class Model(LLM):
    """A model of LiveKit's that keeps what it is asked, and always says the same."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def chat(self, *, chat_ctx: ChatContext, tools: Any = None, **_: Any) -> LLMStream:
        messages = [item for item in chat_ctx.items if item.type == "message"]
        self.asked.append("\n".join(message.raw_text_content or "" for message in messages))
        return _Stream(self, chat_ctx=chat_ctx, tools=[], conn_options=DEFAULT_API_CONNECT_OPTIONS)


class _Stream(LLMStream):
    async def _run(self) -> None:
        delta = ChoiceDelta(role="assistant", content="What was done before.")
        self._event_ch.send_nowait(ChatChunk(id="1", delta=delta))


class Own:
    """As it comes; a turn is two messages to it."""

    name = "livekit: _summarize"
    own = True
    items: ModuleType = livekit_items
    shape = "openai_chat"

    def keeps(self, given: Transcript) -> Sequence[int]:
        """Return every number of turns, none included."""
        return range(len([e for e in given.events if isinstance(e, Said) and e.role == "user"]) + 1)

    async def fold(self, before: list[Any], later: list[Any], keep: int) -> Run | None:
        context, model = ChatContext(before), Model()
        await context._summarize(model, keep_last_turns=keep)
        return Run([*context.items, *later], model.asked) if model.asked else None


class Ours(Own):
    """`chatfold.integrations.livekit.summarize`."""

    name = "livekit: chatfold"
    own = False

    async def fold(self, before: list[Any], later: list[Any], keep: int) -> Run | None:
        from chatfold.integrations.livekit import summarize

        context, model = ChatContext(before), Model()
        outcome = await summarize(context, model, keep_last_turns=keep)
        return Run([*context.items, *later], model.asked) if outcome.changed else None


SYSTEMS: tuple[System, ...] = (Own(), Ours())
