"""What the tests of the OpenAI Agents SDK share: a model of its own test kind, and an agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from agents import Agent, Runner, Usage, function_tool, set_trace_processors
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from validator import validate

from chatfold import Policy

__all__ = ["SMALL", "Desk", "agent", "ask", "says", "spent", "summaries", "talk", "text_of"]

set_trace_processors([])  # the SDK would send traces to its maker

SMALL = Policy(max_tokens=1_000, keep_tokens=300, min_gain=0.0)
"""Folds after some turns of `talk`."""


def spent(into: int = 100, out: int = 10) -> Usage:
    return Usage(requests=1, input_tokens=into, output_tokens=out, total_tokens=into + out)


class Desk(ScriptedModel):
    """The SDK's own test model, that answers by what it is sent.

    Attributes:
        requests: What it was sent for an agent, each a list of items; all were valid.
        prompts: What it was sent to write summaries.
        summary: What it answers to those.
        act: What it does about a request, where that is not to say something.
    """

    def __init__(self, summary: str = "The desk was asked.", model: str = "") -> None:
        super().__init__([ModelStep.respond(self._step)] * 200, emit_traces=True)
        if model:
            self.model = model
        self.requests: list[list[Any]] = []
        self.prompts: list[Any] = []
        self.summary = summary
        self.act: Callable[[list[Any]], Any] = self.say
        self.delay = 0.0

    async def _step(self, call: Any) -> ModelStep:
        if isinstance(call.input, str):
            self.prompts.append(call)
            await asyncio.sleep(self.delay)
            return ModelStep(
                output=[assistant_message(self.summary)], usage=spent(50, 5), response_id=None
            )
        items = json.loads(json.dumps(call.input))
        if not (call.previous_response_id or call.conversation_id):  # else the server has the rest
            assert not validate(items, "openai_responses")
        self.requests.append(items)
        made = self.act(items)
        if isinstance(made, Exception):
            return ModelStep(error=made)
        return ModelStep(output=made, usage=spent(), response_id=f"resp_{len(self.requests)}")

    def say(self, items: list[Any]) -> list[Any]:
        """Say something long, under an id of its own."""
        return [says(f"answer {len(self.requests)} " + "words " * 120, len(self.requests))]

    def call(self, *made: tuple[str, dict[str, Any]]) -> Callable[[list[Any]], list[Any]]:
        """Return what calls tools about what a user says, and speaks about their results."""

        def act(items: list[Any]) -> list[Any]:
            if items[-1].get("role") != "user":
                return self.say(items)
            count = len(self.requests)
            return [
                function_call(name, given, call_id=f"call_{count}_{n}", item_id=f"fc_{count}_{n}")
                for n, (name, given) in enumerate(made)
            ]

        return act


def says(text: str, number: int) -> Any:
    return assistant_message(text, item_id=f"msg_{number}")


@function_tool
async def lookup(order: str) -> str:
    """Look up an order.

    Args:
        order: Its number.
    """
    return f"order {order}: shipped as parcel P-{order}. " + "catalogue " * 80


def agent(model: Any, name: str = "desk", **options: Any) -> Agent[Any]:
    """Return an agent of the desk."""
    return Agent(name=name, instructions="You sell phones.", model=model, tools=[lookup], **options)


def ask(*arguments: Any, **options: Any) -> Any:
    """Run an agent to its end, in a loop of its own."""
    return asyncio.run(Runner.run(*arguments, **options))


def talk(turns: int, mark: str = "") -> list[Any]:
    """Return so many turns, of which each says something else."""
    return [
        {"role": role, "content": f"{role} {mark}{number} LK-{1000 + number} " + "word " * 60}
        for number in range(turns)
        for role in ("user", "assistant")
    ]


def text_of(items: Any) -> str:
    return json.dumps(items, ensure_ascii=False, default=str)


def summaries(items: list[Any]) -> int:
    """Return the number of summary items."""
    return sum("<chat_history_summary digest=" in text_of(item)[:200] for item in items)
