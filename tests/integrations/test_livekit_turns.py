"""`fold_between_turns`: folds of a real session, put in when nobody speaks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("livekit.agents", reason="livekit-agents is not installed")

from integrations.host import Call, Step
from integrations.livekit_desk import Model, RealtimeVoice
from livekit.agents import Agent, AgentSession, AgentTask, function_tool, llm
from livekit.agents.voice.audio_recognition import _PreemptiveGenerationInfo

from chatfold import FoldEvent, Policy, Prompt
from chatfold.core.summary import TAG
from chatfold.errors import BusyError, SummarizerError
from chatfold.integrations.livekit import TurnFolds, fold_between_turns
from chatfold.stores import MemoryStore

SMALL = Policy(max_items=8, keep_last_turns=1, keep_tokens=1000, max_tokens=100_000, min_gain=0.0)
LONG = "I tell you all that there is to tell about it, and a little more than that. " * 8

Messages = list[dict[str, Any]]


class Gate:
    """A summarizer that answers when it is let; keeps what it is asked."""

    def __init__(self, text: str = "They talked.", *, opened: bool = False) -> None:
        self.text = text
        self.prompts: list[Prompt] = []
        self.asked = asyncio.Event()
        self.let = asyncio.Event()
        if opened:
            self.let.set()

    async def __call__(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        self.asked.set()
        await self.let.wait()
        return self.text


def echo(messages: Messages) -> str:
    """Answer the latest message at some length."""
    return f"You said: {str(messages[-1]['content'])[:40]} {LONG}"


@asynccontextmanager
async def talk(
    llm_: Any, agent: Agent | None = None, model: Any = None, **options: Any
) -> AsyncIterator[tuple[AgentSession[Any], TurnFolds]]:
    """Open a session that folds, with an agent that has begun."""
    options = {"policy": SMALL, **options}
    async with (
        asyncio.timeout(30),
        AgentSession(llm=model or Model(echo)) as session,
        fold_between_turns(session, llm_, **options) as folds,
    ):
        await session.start(agent or Agent(instructions="Be brief."))
        yield session, folds


async def say(session: AgentSession[Any], *numbers: int) -> None:
    for n in numbers:
        await session.run(user_input=f"question {n} {LONG}")


def folded(agent: Agent) -> bool:
    return TAG in str(agent.chat_ctx.items)


def said(agent: Agent) -> list[str]:
    return [
        item.raw_text_content or ""
        for item in agent.chat_ctx.items
        if item.type == "message" and item.role == "user" and TAG not in str(item)
    ]


def run(test: Any) -> None:
    asyncio.run(test())


def test_a_session_is_folded_between_its_turns_and_goes_on() -> None:
    """One summary in front, the last turn behind it, object for object, and valid requests."""

    async def test() -> None:
        model = Model(echo)
        async with talk(Gate(opened=True), model=model) as (session, folds):
            agent = session.current_agent
            for n in range(9):
                before = list(agent.chat_ctx.items)
                await say(session, n)
                await folds.settled()
                assert str(agent.chat_ctx.items).count(f"<{TAG} ") <= 1
                assert said(agent)[-1].startswith(f"question {n} ")
                kept = [i for i in agent.chat_ctx.items[1:] if i.id in {b.id for b in before}]
                assert all(any(i is b for b in before) for i in kept)
            assert [o.reason for o in folds.outcomes] == ["summarized"] * len(folds.outcomes)
            assert len(folds.outcomes) >= 3
            assert len(agent.chat_ctx.items) < 10
            assert len(session.history.items) >= 18  # LiveKit's own record stays whole
            times = [i.created_at for i in agent.chat_ctx.items]
            assert times == sorted(times)
        assert [m["role"] for m in model.asked[-1]][:2] == ["system", "user"]
        assert f"<{TAG} " in model.asked[-1][1]["content"]

    run(test)


def test_an_item_that_is_added_during_the_summary_is_still_there() -> None:
    """Whole turns go on while it is written, and the application adds what it likes."""

    async def test() -> None:
        gate = Gate()
        async with talk(gate) as (session, folds):
            agent = session.current_agent
            await say(session, 0, 1, 2)
            await gate.asked.wait()
            await say(session, 3)
            context = agent.chat_ctx.copy()
            added = context.add_message(role="user", content="I also want a case.")
            await agent.update_chat_ctx(context, exclude_invalid_function_calls=False)
            assert not folded(agent)
            gate.let.set()
            await folds.settled()
            assert folds.outcomes[0].reason == "summarized"
            assert any(item is added for item in agent.chat_ctx.items)
            assert [text[:10] for text in said(agent)] == ["question 2", "question 3", "I also wan"]

    run(test)


def test_no_turn_waits_for_a_summarizer_that_hangs() -> None:
    """It is given up in the end, and told of; the session is as it was."""

    async def test() -> None:
        events: list[FoldEvent] = []
        errors: list[Any] = []
        gate = Gate()
        async with talk(gate, timeout=0.5, on_event=events.append) as (session, folds):
            session.on("error", errors.append)
            began = time.monotonic()
            await say(session, *range(6))
            assert time.monotonic() - began < 5
            await folds.settled()
            agent = session.current_agent
            assert not folded(agent)
            assert len(said(agent)) == 6
            assert folds.outcomes[0].reason == "failed"
            assert isinstance(folds.outcomes[0].error, SummarizerError)
            assert [e.kind for e in events] == ["before", "failed"]
            assert errors == []

    run(test)


def test_the_agents_own_model_writes_where_none_is_given() -> None:
    """An agent's model comes before its session's."""

    async def test() -> None:
        theirs = Model(echo)
        own = Model(lambda m: "Own words." if "<conversation>" in str(m[-1]) else echo(m))
        agent = Agent(instructions="Be brief.", llm=own)
        async with talk(None, agent, theirs) as (session, folds):
            await say(session, 0, 1, 2, 3)
            await folds.settled()
            assert folds.outcomes[0].summary == "Own words."
            assert folds.outcomes[0].model == "gpt-5"
            assert theirs.asked == []

    run(test)


def test_nothing_is_put_in_while_a_tool_runs() -> None:
    """What runs for a reply has a copy of the list; the fold waits until it is over."""

    async def test() -> None:
        started, going = asyncio.Event(), asyncio.Event()

        async def look(order: str) -> str:
            """Look up an order.

            Args:
                order: Its number.
            """
            started.set()
            await going.wait()
            return f"order {order} is on its way"

        def answer(messages: Messages) -> Step | str:
            if messages[-1]["role"] == "user" and "look it up" in messages[-1]["content"]:
                return Step(calls=(Call("call_1", "look", "LK-1"),))
            return echo(messages)

        gate, model = Gate(), Model(answer)
        agent = Agent(instructions="Be brief.", tools=[llm.function_tool(look)])
        async with talk(gate, agent, model) as (session, folds):
            await say(session, 0, 1, 2)
            await gate.asked.wait()
            turn = asyncio.ensure_future(_run(session, "look it up"))
            await started.wait()
            gate.let.set()
            await asyncio.sleep(0.6)
            assert not folded(agent)
            going.set()
            await turn
            await folds.settled()
            assert folded(agent)
            kinds = [item.type for item in agent.chat_ctx.items[-4:]]
            assert kinds == ["message", "function_call", "function_call_output", "message"]
        assert f"<{TAG} " not in str(model.asked[-1])  # the reply to the tool: as it was begun

    run(test)


async def _run(session: AgentSession[Any], text: str) -> None:
    await session.run(user_input=text)


def test_a_preemptive_reply_is_not_thrown_away_by_a_fold() -> None:
    """While one waits, the context stays as the reply was begun with."""

    async def test() -> None:
        gate = Gate()
        async with talk(gate) as (session, folds):
            agent = session.current_agent
            await say(session, 0, 1, 2)
            await gate.asked.wait()
            activity: Any = session._activity
            activity.on_preemptive_generation(_PreemptiveGenerationInfo("And now?", 1.0, None))
            reply = activity._preemptive_generation
            assert reply is not None
            gate.let.set()
            await asyncio.sleep(0.6)
            assert not folded(agent)
            assert reply.chat_ctx.is_equivalent(agent.chat_ctx)
            activity._cancel_preemptive_generation()
            await folds.settled()
            assert folded(agent)

    run(test)


def test_nothing_is_put_in_while_the_user_speaks() -> None:
    """The user's turn is answered with the context as it was when they began."""

    async def test() -> None:
        gate = Gate()
        async with talk(gate) as (session, folds):
            agent = session.current_agent
            await say(session, 0, 1, 2)
            await gate.asked.wait()
            session._update_user_state("speaking")
            gate.let.set()
            await asyncio.sleep(0.6)
            assert not folded(agent)
            session._update_user_state("listening")
            await folds.settled()
            assert folded(agent)

    run(test)


def test_a_fold_follows_a_handoff_to_an_agent_with_the_same_items() -> None:
    """The next agent has the conversation before it, and gets the summary of it."""

    async def test() -> None:
        gate = Gate()
        async with talk(gate) as (session, folds):
            await say(session, 0, 1, 2)
            await gate.asked.wait()
            first = session.current_agent
            second = Agent(
                instructions="You take things back.",
                chat_ctx=first.chat_ctx.copy(exclude_instructions=True),
            )
            session.update_agent(second)
            await _with(session, second)
            gate.let.set()
            await folds.settled()
            assert [o.reason for o in folds.outcomes] == ["summarized"]
            assert folded(second)
            assert not folded(first)
            assert "You take things back." in str(second.chat_ctx.items[0])
            await say(session, 3)

    run(test)


def test_a_fold_is_stale_after_a_handoff_to_an_agent_with_others() -> None:
    """It is told of, and the next agent's own folds begin without delay."""

    async def test() -> None:
        gate = Gate()
        async with talk(gate) as (session, folds):
            await say(session, 0, 1, 2)
            await gate.asked.wait()
            first = session.current_agent
            other = llm.ChatContext.empty()
            for n in range(4):
                other.add_message(role="user", content=f"another {n} {LONG}")
                other.add_message(role="assistant", content=LONG)
            second = Agent(instructions="You take things back.", chat_ctx=other)
            session.update_agent(second)
            await _with(session, second)
            gate.let.set()
            await folds.settled()
            assert [o.reason for o in folds.outcomes] == ["stale", "summarized"]
            assert not folded(first)
            assert folded(second)
            assert "question 0" not in gate.prompts[1].user

    run(test)


class _Intake(AgentTask[str]):
    """Asks something, and is done when it is told so."""

    @function_tool
    async def finish(self) -> None:
        """End it."""
        self.complete("a new address")


class _Desk(Agent):
    @function_tool
    async def intake(self) -> str:
        """Ask for the new address."""
        known = self.chat_ctx.copy(exclude_instructions=True)
        return await _Intake(instructions="Ask where they live.", chat_ctx=known)


@pytest.mark.parametrize(("folds_before", "folds_within"), [(0, 1), (1, 1), (0, 2)])
def test_an_agent_that_waited_for_a_task_has_what_was_folded_there_once(
    folds_before: int, folds_within: int
) -> None:
    """LiveKit puts the task's items among its own: the summary beside what it stands for."""

    async def test() -> None:
        def answer(messages: Messages) -> Step | str:
            said_ = str(messages[-1]["content"])
            for name, agent in (("intake", "Be brief."), ("finish", "Ask where they live.")):
                if messages[0]["content"] == agent and said_.startswith(name):
                    return Step("", (Call(f"call_{len(model.asked)}", name, "{}"),))
            return echo(messages)

        model = Model(answer)
        policy = Policy(
            max_tokens=2_200, keep_last_turns=1, keep_tokens=600, min_gain=0.0, window=100_000
        )
        desk = _Desk(instructions="Be brief.")
        gate = Gate(opened=True)
        async with talk(gate, desk, model, policy=policy) as (session, folds):
            await say(session, *range(8 if folds_before else 4))
            await folds.settled()
            assert len(folds.outcomes) == folds_before
            await session.run(user_input="intake, please")
            task: Any = session.current_agent
            number = 10
            while len(folds.outcomes) < folds_before + folds_within:
                await say(session, number)
                await folds.settled()
                number += 1
            assert folded(task)
            await session.run(user_input="finish, please")
            assert session.current_agent is desk
            await folds.settled()
            assert len(gate.prompts) == folds_before + folds_within
            assert str(desk.chat_ctx.items).count(f"<{TAG} ") == 1
            stays = {item.id for item in desk.chat_ctx.items}
            assert stays.isdisjoint(item.id for o in folds.outcomes for item in o.removed)
            assert said(desk) == [*said(task)[:1], "finish, please"]
            calls = [i.call_id for i in desk.chat_ctx.items if i.type == "function_call"]
            outputs = [i.call_id for i in desk.chat_ctx.items if i.type == "function_call_output"]
            assert calls == outputs != []
            times = [i.created_at for i in desk.chat_ctx.items]
            assert times == sorted(times)

    run(test)


async def _with(session: AgentSession[Any], agent: Agent) -> None:
    """Wait until the session is with an agent."""
    async with asyncio.timeout(5):
        while (await session.wait_for_idle()).agent is not agent:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)


def test_calls_of_a_tool_that_is_gone_stay() -> None:
    """`exclude_invalid_function_calls` would drop them from the history without a word."""

    async def test() -> None:
        async def look(order: str) -> str:
            """Look up an order.

            Args:
                order: Its number.
            """
            return f"order {order} is on its way {LONG}"

        def answer(messages: Messages) -> Step | str:
            if messages[-1]["role"] == "user" and "look it up" in messages[-1]["content"]:
                return Step(calls=(Call("call_1", "look", "LK-1"),))
            return echo(messages)

        gate = Gate()
        agent = Agent(instructions="Be brief.", tools=[llm.function_tool(look)])
        async with talk(gate, agent, Model(answer)) as (session, folds):
            await say(session, 0, 1)
            await session.run(user_input="look it up")
            await gate.asked.wait()
            agent._tools = []  # as where an agent's tools are loaded anew
            gate.let.set()
            await folds.settled()
            assert folded(agent)
            assert [i.type for i in agent.chat_ctx.items[-3:-1]] == [
                "function_call",
                "function_call_output",
            ]

    run(test)


def test_a_realtime_model_is_refused_once_for_each_agent() -> None:
    """Its server holds the conversation; nobody is asked for a summary."""

    async def test() -> None:
        gate = Gate(opened=True)
        async with talk(gate, model=RealtimeVoice()) as (session, folds):
            agent = session.current_agent
            for n in range(12):
                session._conversation_item_added(
                    llm.ChatMessage(role="user", content=[f"{n} {LONG}"])
                )
                await folds.settled()
            assert [o.reason for o in folds.outcomes] == ["server_managed"]
            assert "server" in str(folds.outcomes[0])
            assert gate.prompts == []
            assert not folded(agent)

    run(test)


def test_without_any_model_it_is_told_and_the_session_goes_on() -> None:
    """An agent that answers by code of its own has no LLM."""

    class Parrot(Agent):
        async def llm_node(self, chat_ctx: Any, tools: Any, model_settings: Any) -> str:
            return f"Yes. {LONG}"

    async def test() -> None:
        async with (
            asyncio.timeout(20),
            AgentSession() as session,
            fold_between_turns(session, policy=SMALL) as folds,
        ):
            agent = Parrot(instructions="Be brief.")
            await session.start(agent)
            for n in range(12):
                context = agent.chat_ctx.copy()
                context.add_message(role="user", content=f"{n} {LONG}")
                await agent.update_chat_ctx(context)
            session._update_user_state("away")
            await folds.settled()
            assert isinstance(folds.outcomes[-1].error, ValueError)
            assert "pass llm=" in str(folds.outcomes[-1])

    run(test)


def test_undo_puts_the_originals_back_into_the_agent() -> None:
    """Object for object, with what was said since behind them."""

    async def test() -> None:
        gate = Gate()
        async with talk(gate) as (session, folds):
            agent = session.current_agent
            await say(session, 0, 1, 2)
            await gate.asked.wait()
            before = list(agent.chat_ctx.items)
            with pytest.raises(BusyError):
                await folds.undo()
            gate.let.set()
            await folds.settled()
            assert folded(agent)
            outcome = await folds.undo()
            assert outcome.reason == "undone"
            assert all(a is b for a, b in zip(before[1:], agent.chat_ctx.items[1:], strict=True))

    run(test)


def test_closing_gives_a_fold_up_and_leaves_nothing_behind() -> None:
    """Neither a task nor a listener; closing twice is the same as once."""

    async def test() -> None:
        gate = Gate()
        async with talk(gate) as (session, folds):
            await say(session, 0, 1, 2)
            await gate.asked.wait()
            await folds.aclose()
            await folds.aclose()
            assert folds.closed
            assert [o.reason for o in folds.outcomes] == ["cancelled"]
            gate.let.set()
            await asyncio.sleep(0.05)
            assert not folded(session.current_agent)
            await say(session, 3)
            assert len(gate.prompts) == 1
            assert not [t for t in asyncio.all_tasks() if t.get_name() == "chatfold"]
            with pytest.raises(RuntimeError, match="not running"):
                await folds.undo()

    run(test)


def chatfold_tasks() -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if task.get_name() == "chatfold"]


def test_it_ends_with_its_session() -> None:
    """`close` of the session is enough, also while a summary is written."""

    async def test() -> None:
        gate = Gate()
        session: AgentSession[Any] = AgentSession(llm=Model(echo))
        folds = fold_between_turns(session, gate, SMALL)
        await session.start(Agent(instructions="Be brief."))
        await say(session, 0, 1, 2)
        await gate.asked.wait()
        await session.aclose()
        assert folds.closed
        await folds.settled()
        async with asyncio.timeout(5):  # the model's call is closed first
            await asyncio.gather(*chatfold_tasks(), return_exceptions=True)
        assert not chatfold_tasks()

    run(test)


def test_it_may_begin_before_or_after_the_session() -> None:
    """A session with a history that is long already is folded at once."""

    async def test() -> None:
        agent = Agent(instructions="Be brief.")
        async with asyncio.timeout(20), AgentSession(llm=Model(echo)) as session:
            await session.start(agent)
            await say(session, *range(4))
            folds = fold_between_turns(session, Gate(opened=True), SMALL)
            await folds.settled()
            assert folded(agent)
            await folds.aclose()

    run(test)


def test_a_store_has_the_originals_under_the_sessions_key() -> None:
    """And an event tells each fold."""

    async def test() -> None:
        store, events = MemoryStore(), []
        gate = Gate(opened=True)
        async with talk(gate, store=store, key="room-1", on_event=events.append) as (
            session,
            folds,
        ):
            await say(session, *range(4))
            await folds.settled()
            assert folds.outcomes[0].key == "room-1"
        assert store.find("room-1", query="question 0", limit=3)
        assert [e.kind for e in events[:2]] == ["before", "after"]

    run(test)


def test_a_voice_policy_is_the_default() -> None:
    """8,000 tokens, four turns kept, begun at 70 %."""

    async def test() -> None:
        gate = Gate(opened=True)
        async with talk(gate, policy=None, model=Model(lambda _: LONG * 4)) as (session, folds):
            n = 0
            while not folds.outcomes and n < 40:
                await say(session, n)
                await folds.settled()
                n += 1
            outcome = folds.outcomes[0]
            assert 5_600 <= outcome.tokens_before < 8_000
            assert len(said(session.current_agent)) == 4
            assert gate.prompts[0].max_tokens <= 400

    run(test)


def test_usage_of_a_fold_is_no_speechs() -> None:
    """LiveKit adds metrics to the speech in whose context they arise; a fold belongs to none."""

    async def test() -> None:
        speeches: list[Any] = []
        model = Model(lambda m: "Short." if "<conversation>" in str(m[-1]) else echo(m))
        async with talk(None, model=model) as (session, folds):
            session.on("metrics_collected", lambda e: speeches.append(e.metrics.speech_id))
            await say(session, *range(4))
            await folds.settled()
            await asyncio.sleep(0.05)
            assert folds.outcomes[0].changed
        assert None in speeches
        assert len([s for s in speeches if s]) == 4

    run(test)
