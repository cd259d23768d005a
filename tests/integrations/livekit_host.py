"""LiveKit Agents: real sessions in text mode, with a model of LiveKit's own base class."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from integrations.host import Ability, Conversation, Setup, desk
from integrations.livekit_desk import Model
from integrations.livekit_items import native
from livekit.agents import Agent, AgentSession, llm

from chatfold.integrations.livekit import TurnFolds, fold_between_turns

__all__ = ["HOST", "LiveKitTalk"]


class Clerk(Agent):
    """An agent with the tools of the desk; `refund` waits until somebody allows it."""

    def __init__(self, talk: LiveKitTalk, instructions: str, before: Agent | None = None) -> None:
        self._talk = talk
        self._before = before
        super().__init__(
            instructions=instructions,
            tools=[
                llm.function_tool(desk.lookup),
                llm.function_tool(desk.courier),
                llm.function_tool(desk.fail),
                llm.function_tool(self.refund),
                llm.function_tool(self.transfer_to_returns),
            ],
        )

    async def on_enter(self) -> None:
        """Take over what the agent before has in its context, as LiveKit's examples do."""
        if self._before is None:
            return
        context = self.chat_ctx.copy()
        context.items.extend(self._before.chat_ctx.copy(exclude_instructions=True).items)
        await self.update_chat_ctx(context, exclude_invalid_function_calls=False)
        self.session.generate_reply()

    async def refund(self, order: str) -> str:
        """Refund an order.

        Args:
            order: Its number.
        """
        self._talk.waits.set()
        await self._talk.allowed.wait()
        return await desk.refund(order)

    async def transfer_to_returns(self) -> Agent:
        """Hand the customer over to the returns desk."""
        return Clerk(self._talk, "You take things back.", self)


class LiveKitTalk:
    """A session, and what its tests need of it."""

    def __init__(self, session: AgentSession[Any], folds: TurnFolds) -> None:
        self.session = session
        self.folds = folds
        self.waits = asyncio.Event()
        self.allowed = asyncio.Event()
        self._turn: asyncio.Task[None] | None = None
        self._answers: list[str] = []
        session.on("conversation_item_added", self._added)

    async def say(self, text: str, *, image: str | None = None) -> str:
        content: list[Any] = [text, *([llm.ImageContent(image=image)] if image else [])]
        message: Any = llm.ChatMessage(role="user", content=content)
        self._answers.clear()
        self.waits.clear()
        self.allowed.clear()

        async def turn() -> None:
            await self.session.run(user_input=message)  # it hands the message to generate_reply

        self._turn = asyncio.create_task(turn())
        waiting = asyncio.create_task(self.waits.wait())
        await asyncio.wait({self._turn, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        return "" if not self._turn.done() else await self._answer()

    async def approve(self) -> str:
        self.allowed.set()
        return await self._answer()

    async def add(self, text: str) -> None:
        agent = self.session.current_agent
        context = agent.chat_ctx.copy()
        context.add_message(role="user", content=text)
        await agent.update_chat_ctx(context, exclude_invalid_function_calls=False)

    async def settled(self) -> None:
        await self.folds.settled()

    def reported(self) -> int:
        return sum(getattr(use, "input_tokens", 0) for use in self.session.usage.model_usage)

    async def _answer(self) -> str:
        assert self._turn is not None
        await self._turn
        return self._answers[-1] if self._answers else ""

    def _added(self, event: Any) -> None:
        if event.item.type == "message" and event.item.role == "assistant":
            self._answers.append(event.item.text_content or "")


class LiveKitHost:
    """Opens sessions, each with a model and a fold of its own."""

    name: ClassVar[str] = "livekit"
    package: ClassVar[str] = "livekit-agents"
    imports: ClassVar[str] = "livekit"
    lacks: ClassVar[Mapping[Ability, str]] = {
        "keys": "Each session has an object, and so a hook, of its own."
    }
    too_old: ClassVar[str] = "import livekit.agents.llm as m; del m.AgentConfigUpdate"

    def build(self, llm: Any = None, **options: Any) -> TurnFolds:
        async def build() -> TurnFolds:
            session: AgentSession[Any] = AgentSession(llm=Model(lambda _: "A summary."))
            return fold_between_turns(session, llm, **options)

        return asyncio.run(build())

    @asynccontextmanager
    async def open(
        self, setup: Setup, *, beside: Conversation | None = None
    ) -> AsyncIterator[LiveKitTalk]:
        brain = setup.brain
        model = Model(lambda messages: brain.answer("openai_chat", messages), brain.tokens)
        async with (
            AgentSession(llm=model) as session,
            fold_between_turns(session, setup.llm, **setup.options) as folds,
        ):
            talk = LiveKitTalk(session, folds)
            agent = Clerk(talk, setup.instructions)
            await session.start(agent)
            if setup.history:
                context = agent.chat_ctx.copy()
                context.items[1:1] = native(setup.history)
                await agent.update_chat_ctx(context, exclude_invalid_function_calls=False)
            yield talk


HOST = LiveKitHost()
