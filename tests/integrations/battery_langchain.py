"""LangChain's `SummarizationMiddleware`, and `ChatfoldMiddleware` in its place."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from integrations import langchain_items
from integrations.battery import Run, System, policies
from integrations.transcripts import Transcript
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from pydantic import Field

from chatfold import Policy
from chatfold.integrations.langchain import ChatfoldMiddleware

__all__ = ["SYSTEMS"]


class Model(BaseChatModel):
    """A chat model that keeps what it is asked, and always says the same."""

    asked: list[str] = Field(default_factory=list)
    received: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "battery"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.received.append(list(messages))
        self.asked.append("\n".join(str(message.text) for message in messages))
        answer = AIMessage("What was done before.")
        return ChatResult(generations=[ChatGeneration(message=answer)])


class Own:
    """With a trigger that is always reached, and what its documentation says to leave alone."""

    own = True
    items: ModuleType = langchain_items
    shape = "openai_chat"

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.name = f"langchain: SummarizationMiddleware, keep {unit}"

    def keeps(self, given: Transcript) -> Sequence[int]:
        """Return every number of messages, or of tokens, that leaves something to fold."""
        items = langchain_items.native(given.events)
        if self.unit == "messages":
            return range(1, len(items) + 1)  # it takes no 0
        return sorted(
            {count_tokens_approximately(items[n:]) for n in range(len(items))}
        )  # it takes no 0

    async def fold(self, before: list[Any], later: list[Any], keep: int) -> Run | None:
        model = Model()
        middleware: Any = SummarizationMiddleware(
            model,
            trigger=("messages", 1),
            keep=(self.unit, keep),  # type: ignore[arg-type]  # one of its units
        )
        update = middleware.before_model({"messages": before}, None)
        if update is None:
            return None
        left: Any = add_messages(before, update["messages"])
        return Run([*left, *later], model.asked)


class Ours:
    """`ChatfoldMiddleware`, asked as an agent asks it: around each call of its model."""

    own = False
    items: ModuleType = langchain_items
    shape = "openai_chat"

    def __init__(self, persist: str) -> None:
        self.persist = persist
        self.name = f"langchain: ChatfoldMiddleware, {persist}"

    def keeps(self, given: Transcript) -> Sequence[Policy]:
        """Return every number of turns, and sizes of all recent parts."""
        return policies(given)

    async def fold(self, before: list[Any], later: list[Any], keep: Policy) -> Run | None:
        writer, seller = Model(), Model()
        persist: Any = self.persist
        middleware = ChatfoldMiddleware(writer, keep, persist=persist)
        agent = create_agent(seller, middleware=[middleware], checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "one"}}
        state = await agent.ainvoke({"messages": before}, config)
        # The model's answer is not part of the transcript.
        answer = RemoveMessage(id=state["messages"][-1].id)
        await agent.ainvoke({"messages": [answer, *later]}, config)
        return Run(seller.received[-1], writer.asked) if writer.asked else None


SYSTEMS: tuple[System, ...] = (Own("messages"), Own("tokens"), Ours("view"), Ours("replace"))
