"""What `forget` drops of a conversation that was folded in the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from string import ascii_lowercase
from typing import Any

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
from agents.run_config import CallModelData, ModelInputData
from agents.testing import assistant_message
from heap import holds
from integrations.agents_desk import SMALL, summaries, talk

from chatfold import Prompt
from chatfold.integrations.openai_agents import FoldedSession, chatfold_filter
from chatfold.stores import MemoryStore


def unheard() -> str:
    """Return a word that nothing else in this process holds."""
    return "zq" + "".join(random.choices(ascii_lowercase, k=8))


class Writer:
    """Summarizes with the mark of the conversation."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.asked = 0
        self.ended = 0
        self.seconds = seconds

    async def __call__(self, prompt: Prompt) -> str:
        self.asked += 1
        mark = prompt.user.partition("user zq")[2][:8]
        await asyncio.sleep(self.seconds)
        self.ended += 1
        return f"zq{mark} asked the desk."


class Nobody(Model):
    """A model that answers, and holds nothing of what it was sent."""

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        return ModelResponse([assistant_message("It is on its way.")], Usage(), None)

    async def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield


def sent(fold: Any, key: str | None, items: list[Any], model: str = "gpt-5") -> list[Any]:
    """Return what a filter makes of a conversation."""
    data = CallModelData(
        model_data=ModelInputData(input=items, instructions=""),
        agent=Agent(name="desk", model=model),
        context=key,
    )
    return list(asyncio.run(fold(data)).input)


def test_a_filter_forgets_one_conversation_in_all_models_and_its_own_store() -> None:
    joe, kim, writer = unheard(), unheard(), Writer()
    fold = chatfold_filter(writer, SMALL, key=lambda data: data.context)
    for model in ("gpt-5", "gpt-4.1"):
        for mark in (joe, kim):
            assert summaries(sent(fold, f"{mark[0]}-{mark}", talk(8, f"{mark} "), model)) == 1
    assert writer.asked == 2  # the second model was handed the fold
    assert holds(fold, joe)
    assert holds(fold, kim)
    fold.forget(f"{joe[0]}-{joe}")
    assert not holds(fold, joe)
    assert holds(fold, kim)
    for mark, asked in ((kim, 2), (joe, 3)):
        assert summaries(sent(fold, f"{mark[0]}-{mark}", talk(8, f"{mark} "), "gpt-4.1-mini")) == 1
        assert writer.asked == asked


def test_a_filter_holds_no_more_of_earlier_customers_than_sessions_says() -> None:
    """Nor does the store that it has made itself, also where nobody names the conversations."""
    marks = [unheard() for _ in range(4)]
    fold = chatfold_filter(Writer(), SMALL, key=lambda data: data.context, sessions=2)
    for name in ("named", None):
        for mark in marks:
            items = [{"role": "user", "content": "Hello"}, *talk(8, f"{mark} ")]
            assert summaries(sent(fold, name and name + mark, items)) == 1
        assert [holds(fold, mark) for mark in marks] == [False, False, True, True]


def test_sessions_says_of_how_many_conversations_another_model_finds_the_fold() -> None:
    """However often each was folded before."""
    writer = Writer()
    fold = chatfold_filter(writer, SMALL, key=lambda data: data.context, sessions=3)
    for name in ("joe", "kim", "sue"):
        for length in range(8, 40, 2):
            sent(fold, name, talk(length, f"{name} "))
    asked = writer.asked
    assert asked >= 3 * 5
    for name in ("joe", "kim", "sue"):
        assert summaries(sent(fold, name, talk(38, f"{name} "), "gpt-4.1")) == 1
    assert writer.asked == asked


def test_what_a_passed_store_holds_is_the_users_to_erase() -> None:
    mark, store, writer = unheard(), MemoryStore(), Writer()
    fold = chatfold_filter(writer, SMALL, store, key=lambda data: data.context)
    sent(fold, "joe", talk(8, f"{mark} "))
    fold.forget("joe")
    sent(fold, "joe", talk(8, f"{mark} "))
    assert writer.asked == 1
    fold.forget("joe")
    assert store.erase("joe") == 1
    assert not holds(fold, mark)


@pytest.mark.parametrize("persist", ["view", "replace"])
@pytest.mark.parametrize("stored", [False, True])
def test_a_session_forgets_what_it_holds(persist: Any, stored: bool) -> None:
    mark, store = unheard(), MemoryStore() if stored else None
    wrapped = SQLiteSession("joe")
    asyncio.run(wrapped.add_items(talk(8, f"{mark} ")))
    session = FoldedSession(wrapped, Writer(), SMALL, store, persist=persist)
    agent = Agent(name="desk", model=Nobody())
    quiet = RunConfig(tracing_disabled=True)
    result = asyncio.run(
        Runner.run(agent, f"And {mark}?", context=mark, session=session, run_config=quiet)
    )
    assert result.final_output == "It is on its way."
    del result
    assert summaries(asyncio.run(session.get_items())) == 1
    assert holds(session, mark)
    asyncio.run(session.clear_session())
    session.forget()
    if store is not None:
        assert store.erase("joe") == 1
    assert not holds(session, mark)
    assert asyncio.run(session.fold()).reason != "failed"  # the last run's agent is still known


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_what_is_written_in_the_background_is_given_up(persist: Any) -> None:
    mark, writer = unheard(), Writer(0.5)

    async def run() -> None:
        session = FoldedSession(
            SQLiteSession("joe"), writer, SMALL, persist=persist, background=True
        )
        await session.wrapped.add_items(talk(8, f"{mark} "))
        await session.get_items()
        while not writer.asked:  # noqa: ASYNC110 - the writer may be of another loop
            await asyncio.sleep(0.01)
        session.forget()
        await session.clear_session()
        await asyncio.sleep(0.8)
        assert await session.get_items() == []
        assert not holds(session, mark)

    asyncio.run(run())
    assert writer.asked == 1
    assert not writer.ended
