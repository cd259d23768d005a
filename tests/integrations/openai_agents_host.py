"""The OpenAI Agents SDK's runs as the conformance suite has them: a session and the filter.

The model is `OpenAIResponsesModel` over a local server, so what it sends is the SDK's own request.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from agents import (
    Agent,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_trace_processors,
)
from integrations.host import Ability, Conversation, Item, Setup, desk
from integrations.model_server import ModelServer
from integrations.openai_agents_items import native
from openai import AsyncOpenAI

from chatfold.integrations.openai_agents import ChatfoldFilter, chatfold_filter

__all__ = ["HOST", "Desk"]

set_trace_processors([])  # the SDK would send traces to its maker


def _failed(_: Any, error: Exception) -> str:
    return f"Error: {error}"  # by default the SDK tells the model nothing of the error


TOOLS: list[Any] = [
    function_tool(tool, failure_error_function=_failed, needs_approval=tool is desk.refund)
    for tool in (desk.lookup, desk.courier, desk.fail, desk.refund)
]


class Desk:
    """A session that two agents answer."""

    def __init__(self, model: OpenAIResponsesModel, fold: ChatfoldFilter, setup: Setup) -> None:
        self.fold = fold
        self.session = SQLiteSession(setup.key)
        self.returns: Agent[Any] = Agent(
            name="returns", instructions="You take things back.", model=model, tools=TOOLS
        )
        self.agent: Agent[Any] = Agent(
            name="sales",
            instructions=setup.instructions,
            model=model,
            tools=TOOLS,
            handoffs=[self.returns],
        )
        self._state: Any = None
        self._input_tokens = 0

    async def say(self, text: str, *, image: str | None = None) -> str:
        parts: list[Item] = [{"type": "input_text", "text": text}]
        if image is not None:
            parts.append({"type": "input_image", "image_url": image, "detail": "auto"})
        return await self._run([{"role": "user", "content": parts}])

    async def approve(self) -> str:
        state, self._state = self._state, None
        self._input_tokens -= state._context.usage.input_tokens  # the run goes on counting
        for waiting in state.get_interruptions():
            state.approve(waiting)
        return await self._run(state)

    async def add(self, text: str) -> None:
        await self.session.add_items([{"role": "user", "content": text}])

    async def settled(self) -> None:
        """Return at once: each fold is over before the model is called."""

    def reported(self) -> int:
        return self._input_tokens

    async def _run(self, given: Any) -> str:
        config = RunConfig(call_model_input_filter=self.fold)
        result = await Runner.run(self.agent, given, session=self.session, run_config=config)
        self._input_tokens += result.context_wrapper.usage.input_tokens
        self.agent = result.last_agent
        if result.interruptions:
            self._state = result.to_state()
            return ""
        return str(result.final_output)


class OpenAIAgentsHost:
    """Opens sessions, each with a model server of its own."""

    name: ClassVar[str] = "openai-agents"
    package: ClassVar[str] = "openai-agents"
    imports: ClassVar[str] = "agents"
    lacks: ClassVar[Mapping[Ability, str]] = {}
    too_old: ClassVar[str] = inspect.cleandoc(
        """
        import agents.run_config as module
        del module.CallModelData
        """
    )

    def build(self, llm: Any = None, **options: Any) -> ChatfoldFilter:
        return chatfold_filter(llm, **options)

    @asynccontextmanager
    async def open(
        self, setup: Setup, *, beside: Conversation | None = None
    ) -> AsyncIterator[Desk]:
        with ModelServer(setup.brain) as server:
            async with AsyncOpenAI(base_url=server.url, api_key="test", max_retries=0) as client:
                model = OpenAIResponsesModel("gpt-5", client)
                if isinstance(beside, Desk):
                    fold = beside.fold
                else:
                    fold = self.build(setup.llm, **setup.options)
                conversation = Desk(model, fold, setup)
                if setup.history:
                    await conversation.session.add_items(native(setup.history))  # type: ignore[arg-type]
                yield conversation


HOST = OpenAIAgentsHost()
