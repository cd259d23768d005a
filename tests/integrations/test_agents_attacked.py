"""What an attack on the integration of the OpenAI Agents SDK has found."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")

from agents import Agent, Runner, RunState, SQLiteSession, function_tool
from agents.testing import function_call
from integrations.agents_desk import SMALL, Desk, summaries
from validator import validate

from chatfold.integrations.openai_agents import FoldedSession, Persist


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_a_run_that_is_resumed_after_a_fold_leaves_no_result_without_its_call(
    persist: Persist,
) -> None:
    @function_tool(needs_approval=True)
    async def cancel(order: str) -> str:
        return f"{order} is cancelled"

    model = Desk()

    def act(items: list[Any]) -> Any:
        if items[-1].get("content") == "cancel it":
            return [function_call("cancel", {"order": "7"}, call_id="late", item_id="fc_late")]
        return model.say(items)

    model.act = act
    agent = Agent(name="desk", model=model, tools=[cancel])
    session = FoldedSession(SQLiteSession("resumed"), policy=SMALL, persist=persist)

    async def converse() -> list[Any]:
        await Runner.run(agent, "hello", session=session)
        waiting = await Runner.run(agent, "cancel it", session=session)
        for number in range(10):  # the user goes on, and the call is among what is folded
            await Runner.run(agent, f"question {number}", session=session)
        assert summaries(model.requests[-1]) == 1
        state = await RunState.from_json(agent, waiting.to_state().to_json())
        state.approve(state.get_interruptions()[0])
        await Runner.run(agent, state, session=session)
        for number in range(3):
            await Runner.run(agent, f"and {number}", session=session)
        return await session.get_items()

    items = asyncio.run(converse())  # `Desk` judges each request
    assert not validate(items, "openai_responses")


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_an_unanswered_call_whose_id_is_used_again_stops_no_fold(persist: Persist) -> None:
    wrapped = SQLiteSession("gateway")
    session = FoldedSession(wrapped, lambda _: "They talked.", policy=SMALL, persist=persist)
    call = {"type": "function_call", "call_id": "call_0", "name": "look", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "call_0", "output": "word " * 80}

    async def converse() -> list[Any]:
        for number in range(12):
            asked: Any = {"role": "user", "content": f"question {number} " + "word " * 60}
            told: Any = {"role": "assistant", "content": "answer"}
            answered = [] if number == 1 else [result]
            await wrapped.add_items([asked, call, *answered, told])
            await session.fold()
        return await session.get_items()

    items = asyncio.run(converse())
    assert len(items) < 24
    assert not validate(items, "openai_responses")
