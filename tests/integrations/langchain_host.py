"""LangChain's agents as the conformance suite runs them: `create_agent` with a checkpointer.

The model is `ChatOpenAI` over a local server, so what it sends is LangChain's own conversion.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, ClassVar

from integrations.host import Ability, Conversation, Setup, desk
from integrations.langchain_items import native
from integrations.model_server import ModelServer
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelRequest,
    ToolErrorMiddleware,
    dynamic_prompt,
)
from langchain.agents.middleware.types import AgentState
from langchain.tools import InjectedToolCallId, tool
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import SecretStr

from chatfold.integrations.langchain import ChatfoldMiddleware

__all__ = ["HOST", "Agent"]


class DeskState(AgentState[Any]):
    """Who has the conversation."""

    desk: str


class Desks(AgentMiddleware[DeskState, Any, Any]):
    """Gives the state its field."""

    state_schema = DeskState


@tool
def transfer_to_returns(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Hand over to the returns desk."""
    said = ToolMessage("The returns desk has taken over.", tool_call_id=tool_call_id)
    return Command(update={"desk": "returns", "messages": [said]})


TOOLS = [*map(tool, (desk.lookup, desk.courier, desk.fail, desk.refund)), transfer_to_returns]


class Agent:
    """One thread of an agent."""

    def __init__(self, model: ChatOpenAI, middleware: ChatfoldMiddleware, setup: Setup) -> None:
        @dynamic_prompt
        def instructions(request: ModelRequest[Any]) -> str:
            state: Any = request.state
            return "You take things back." if state.get("desk") else setup.instructions

        def failed(error: Exception, _: Any) -> str:
            return f"Error: {error}"

        self.middleware = middleware
        self.usage = UsageMetadataCallbackHandler()
        self.graph: Any = create_agent(
            model,
            TOOLS,
            middleware=[
                middleware,
                instructions,
                Desks(),
                HumanInTheLoopMiddleware({"refund": True}),
                ToolErrorMiddleware(failed),
            ],
            checkpointer=InMemorySaver(),
        )
        self.config: Any = {"configurable": {"thread_id": setup.key}, "callbacks": [self.usage]}
        self.coming: list[AnyMessage] = list(native(setup.history))

    async def say(self, text: str, *, image: str | None = None) -> str:
        content: Any = text
        if image is not None:
            picture = {"type": "image_url", "image_url": {"url": image}}
            content = [{"type": "text", "text": text}, picture]
        messages = [*self.coming, HumanMessage(content)]
        self.coming = []
        return await self._run({"messages": messages})

    async def approve(self) -> str:
        return await self._run(Command(resume={"decisions": [{"type": "approve"}]}))

    async def add(self, text: str) -> None:
        """Queue a message: a run owns its thread, and what comes meanwhile is for the next."""
        self.coming.append(HumanMessage(text))

    async def settled(self) -> None:
        """Return at once: each fold is over before the model is called."""

    def reported(self) -> int:
        return sum(usage["input_tokens"] for usage in self.usage.usage_metadata.values())

    async def _run(self, given: Any) -> str:
        state = await self.graph.ainvoke(given, self.config)
        return "" if "__interrupt__" in state else state["messages"][-1].text


class LangChainHost:
    """Opens threads, each with a model server of its own."""

    name: ClassVar[str] = "langchain"
    package: ClassVar[str] = "langchain"
    imports: ClassVar[str] = "langchain"
    lacks: ClassVar[Mapping[Ability, str]] = {}
    too_old: ClassVar[str] = inspect.cleandoc(
        """
        import langchain.agents.middleware.types as module
        del module.ExtendedModelResponse
        """
    )

    def build(self, llm: Any = None, **options: Any) -> ChatfoldMiddleware:
        return ChatfoldMiddleware(llm, **options)

    @asynccontextmanager
    async def open(
        self, setup: Setup, *, beside: Conversation | None = None
    ) -> AsyncIterator[Agent]:
        with ModelServer(setup.brain) as server:
            model = ChatOpenAI(
                model="gpt-5", base_url=server.url, api_key=SecretStr("test"), max_retries=0
            )
            if isinstance(beside, Agent):
                middleware = beside.middleware
            else:
                middleware = self.build(setup.llm, **setup.options)
            yield Agent(model, middleware, setup)


HOST = LangChainHost()
