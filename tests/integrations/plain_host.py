"""The suite's own host: a chat loop of a few lines over `Middleware`, with no framework at all.

It proves that the suite is bound to no framework, and that `docs/writing-an-integration.md` is
enough to write an integration.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from integrations.host import Ability, Conversation, Item, Setup, desk
from integrations.model_server import ModelServer
from integrations.openai_chat_items import native
from openai import AsyncOpenAI

from chatfold import Middleware

__all__ = ["HOST", "PlainLoop"]

TOOLS: dict[str, Any] = {
    "lookup": desk.lookup,
    "courier": desk.courier,
    "fail": desk.fail,
    "refund": desk.refund,
}


def _definition(name: str, needs: bool) -> Item:
    wanted = {"order": {"type": "string"}} if needs else {}
    parameters = {"type": "object", "properties": wanted, "required": list(wanted)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


DEFINITIONS: list[Any] = [
    *(_definition(name, True) for name in TOOLS),
    _definition("transfer_to_returns", False),
]


class PlainLoop:
    """An agent's loop as people write it; `middleware` is asked before each request."""

    def __init__(self, client: AsyncOpenAI, middleware: Middleware[Item], setup: Setup) -> None:
        self.client = client
        self.middleware = middleware
        self.key = setup.key
        self.messages: list[Item] = [
            {"role": "system", "content": setup.instructions},
            *native(setup.history),
        ]
        self._input_tokens = 0
        self._waiting: Any = None

    async def say(self, text: str, *, image: str | None = None) -> str:
        content: Any = text
        if image is not None:
            picture = {"type": "image_url", "image_url": {"url": image}}
            content = [{"type": "text", "text": text}, picture]
        self.messages.append({"role": "user", "content": content})
        return await self._run()

    async def approve(self) -> str:
        call, self._waiting = self._waiting, None
        await self._call(call)
        return await self._run()

    async def add(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    async def settled(self) -> None:
        """Return at once: this loop waits for each fold."""

    def reported(self) -> int:
        return self._input_tokens

    async def _run(self) -> str:
        while True:
            folded = await self.middleware.afold(self.messages, key=self.key)
            if folded.outcome.usage is not None:
                self._input_tokens += folded.outcome.usage.input_tokens or 0
            completion = await self.client.chat.completions.create(
                model="gpt-5", messages=folded.items, tools=DEFINITIONS
            )
            self._input_tokens += completion.usage.prompt_tokens if completion.usage else 0
            message = completion.choices[0].message
            self.messages.append(message.model_dump(exclude_none=True))
            calls: list[Any] = list(message.tool_calls or ())
            if not calls:
                return message.content or ""
            ready = [call for call in calls if call.function.name != "refund"]
            await asyncio.gather(*map(self._call, ready))
            if len(ready) < len(calls):
                self._waiting = next(call for call in calls if call not in ready)
                return ""

    async def _call(self, call: Any) -> None:
        arguments = json.loads(call.function.arguments)
        if call.function.name == "transfer_to_returns":
            output = "The returns desk has taken over."
        else:
            try:
                output = await TOOLS[call.function.name](**arguments)
            except ValueError as error:
                output = f"Error: {error}"
        self.messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


class PlainHost:
    """Opens loops, each with a model server of its own."""

    name: ClassVar[str] = ""
    package: ClassVar[str] = ""
    imports: ClassVar[str] = ""
    lacks: ClassVar[Mapping[Ability, str]] = {
        "framework": "It is a loop of a test's own, with nothing to install."
    }
    too_old: ClassVar[str] = ""

    def build(self, llm: Any = None, **options: Any) -> Middleware[Item]:
        return Middleware(llm or (lambda _: "A summary."), **options)

    @asynccontextmanager
    async def open(
        self, setup: Setup, *, beside: Conversation | None = None
    ) -> AsyncIterator[PlainLoop]:
        with ModelServer(setup.brain) as server:
            async with AsyncOpenAI(base_url=server.url, api_key="test", max_retries=0) as client:
                if isinstance(beside, PlainLoop):
                    middleware = beside.middleware
                elif setup.llm is None:  # the agent's own model
                    middleware = self.build(client, model="gpt-5", **setup.options)
                else:
                    middleware = self.build(setup.llm, **setup.options)
                yield PlainLoop(client, middleware, setup)


HOST = PlainHost()
