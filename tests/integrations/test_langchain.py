"""`ChatfoldMiddleware` in agents and graphs of LangChain, with checkpointers, threads and streams.

Not here: what holds in every framework (`conformance`), how messages are read
(`test_langchain_shape`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "langchain.agents", reason='LangChain is not installed: pip install "chatfold[langchain]"'
)
pytest.importorskip("langchain_anthropic", reason="langchain-anthropic is not installed")
pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
pytest.importorskip(
    "langgraph.checkpoint.sqlite.aio", reason="langgraph-checkpoint-sqlite is not installed"
)

from integrations.host import Events
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
    dynamic_prompt,
)
from langchain.agents.middleware.types import ModelRequest
from langchain.tools import tool
from langchain_anthropic import ChatAnthropic
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from pydantic import Field, SecretStr
from validator import validate

from chatfold import ChatContext, Policy
from chatfold.core.summary import TAG
from chatfold.errors import (
    NoAnswerError,
    RefusedSummaryError,
    SummarizerError,
    TruncatedSummaryError,
)
from chatfold.integrations._langchain.model import ChatModelSummarizer
from chatfold.integrations._langchain.shape import LangChainMessages
from chatfold.integrations.langchain import ChatfoldMiddleware, FoldState
from chatfold.stores import MemoryStore, SQLStore

SMALL = Policy(max_tokens=400, keep_tokens=150, min_gain=0.0)
WORDS = "and so on, as it was agreed with the warehouse last week " * 7


class Model(BaseChatModel):
    """A chat model that answers what it is asked last, word by word, and writes summaries."""

    seen: list[list[BaseMessage]] = Field(default_factory=list)
    prompts: list[list[BaseMessage]] = Field(default_factory=list)
    fails: int = 0
    sleeps: float = 0.0
    use_previous_response_id: bool = False

    @property
    def _llm_type(self) -> str:
        return "test"

    def _said(self, messages: list[BaseMessage]) -> str:
        last = str(messages[-1].content)
        if "<conversation>" not in last:
            self.seen.append(list(messages))
            return f"Answer to {last[:12]}."
        self.prompts.append(list(messages))
        if self.fails:
            self.fails -= 1
            raise ConnectionError("the model is not there")
        time.sleep(self.sleeps)
        return f"Summary number {len(self.prompts)}."

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        answer = AIMessage(self._said(messages), usage_metadata=_usage())
        answer.response_metadata = {"model_name": "test-1", "finish_reason": "stop"}
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[Any]:
        words = self._said(messages).split()
        for n, word in enumerate(words):
            last = n == len(words) - 1
            chunk = AIMessageChunk(word if last else f"{word} ")
            if last:
                chunk.usage_metadata = _usage()
                chunk.response_metadata = {"model_name": "test-1"}
            yield ChatGenerationChunk(message=chunk)


def _usage() -> Any:
    return {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55}


def thread(name: str = "one", **more: Any) -> Any:
    return {"configurable": {"thread_id": name}, **more}


def asked(n: int) -> str:
    return f"Question {n:03d}: {WORDS}"


def talk(agent: Any, turns: range, config: Any) -> list[Any]:
    """Run turns; return the messages in the state."""
    state: Any = {}
    for n in turns:
        state = agent.invoke({"messages": [HumanMessage(asked(n))]}, config)
    return state["messages"]


def summaries(messages: list[BaseMessage]) -> list[BaseMessage]:
    return [m for m in messages if f"<{TAG} " in str(m.content)]


def sound(messages: list[BaseMessage]) -> bool:
    """Return whether OpenAI would take the messages, as LangChain would send them."""
    model = ChatOpenAI(model="gpt-5", api_key=SecretStr("test"))
    return validate(model._get_request_payload(messages)["messages"], "openai_chat") == []


class Payer(Model):
    """A model that refunds 500 at its first answer."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        made = super()._generate(messages)
        if len(self.seen) == 1:
            call = {"name": "refund", "args": {"order": "LK-7", "amount": 500}, "id": "c1"}
            made.generations[0].message = AIMessage("", tool_calls=[call])
        return made


def test_a_record_tells_what_was_run_where_a_person_has_changed_a_call() -> None:
    """LangChain leaves the call as the model wrote it, and says so in a long text before it."""
    paid: list[int] = []

    @tool
    def refund(order: str, amount: int) -> str:
        """Refund an order."""
        paid.append(amount)
        return "refunded"

    model = Payer()
    fold = ChatfoldMiddleware(policy=SMALL)
    asks = HumanInTheLoopMiddleware({"refund": True})
    agent: Any = create_agent(
        model, [refund], middleware=[fold, asks], checkpointer=InMemorySaver()
    )
    agent.invoke({"messages": [HumanMessage("Refund LK-7.")]}, thread())
    action = {"name": "refund", "args": {"order": "LK-7", "amount": 42}}
    edit = {"type": "edit", "edited_action": action}
    agent.invoke(Command(resume={"decisions": [edit]}), thread())
    talk(agent, range(4), thread())
    record = str(summaries(model.seen[-1])[0].content).partition("<record>")[2]
    (done,) = [line for line in record.splitlines() if line.startswith("- refund(order=LK-7")]
    assert "42" in done
    assert paid == [42]


# The state of a thread


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_a_thread_folded_three_times_goes_on_from_a_sqlite_checkpoint(
    tmp_path: Path, persist: Any
) -> None:
    """A new process reads it: valid, one summary, nothing summarized again; the first state too."""
    path, model, events = str(tmp_path / "threads.db"), Model(), Events()
    with SqliteSaver.from_conn_string(path) as saver:
        middleware = ChatfoldMiddleware(policy=SMALL, persist=persist, on_event=events)
        agent = create_agent(model, middleware=[middleware], checkpointer=saver)
        turns = 0
        while len(events.changed) < 3:
            talk(agent, range(turns, turns + 1), thread())
            turns += 1
        first = [list(messages) for messages in model.seen]
    assert len(model.prompts) == 3
    again = Model()
    with SqliteSaver.from_conn_string(path) as saver:
        middleware = ChatfoldMiddleware(policy=SMALL, persist=persist)
        agent = create_agent(again, middleware=[middleware], checkpointer=saver)
        state = talk(agent, range(turns, turns + 1), thread())
        assert again.prompts == []
        assert len(summaries(again.seen[-1])) == 1
        assert "Summary number 3." in str(again.seen[-1][0].content)
        assert sound(again.seen[-1])
        known = {m.content for m in state if isinstance(m, HumanMessage)}
        if persist == "view":
            assert known == {asked(n) for n in range(turns + 1)}
        else:
            assert len(summaries(state)) == 1
        # Back to the first turn: each checkpoint holds the messages and their fold.
        history = list(agent.get_state_history(thread()))
        start = next(s for s in reversed(history) if len(s.values.get("messages", ())) == 2)
        assert start.values.get("chatfold_fold") is None
        assert [m.content for m in start.values["messages"]] == [
            asked(0),
            first[1][1].content,
        ]
        more = {"messages": [HumanMessage("Once more, from the beginning.")]}
        agent.invoke(more, start.config)
        assert [m.content for m in again.seen[-1]] == [
            asked(0),
            first[1][1].content,
            "Once more, from the beginning.",
        ]


def test_going_back_behind_a_fold_uses_the_fold_of_that_time() -> None:
    """Each checkpoint has its own: the second one is gone where the second fold is."""
    model, events = Model(), Events()
    middleware = ChatfoldMiddleware(policy=SMALL, on_event=events)
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    turns = 0
    while len(events.changed) < 2:
        talk(agent, range(turns, turns + 1), thread())
        turns += 1
    history = list(agent.get_state_history(thread()))
    assert "Summary number 2." in str(history[0].values["chatfold_fold"])
    earlier = next(
        s
        for s in history
        if "Summary number 1." in str(s.values.get("chatfold_fold")) and not s.next
    )
    agent.invoke({"messages": [HumanMessage("What?")]}, earlier.config)
    assert len(model.prompts) == 2
    assert "Summary number 1." in str(model.seen[-1][0].content)
    assert model.seen[-1][-1].content == "What?"
    # The step that made the second fold, once more: what is known of it is not paid for twice.
    before = next(
        s for s in history if s.next == ("model",) and len(s.values["messages"]) == 2 * turns - 1
    )
    agent.invoke(None, before.config)
    assert len(model.prompts) == 2
    assert "Summary number 2." in str(model.seen[-1][0].content)


def test_the_state_is_complete_and_the_fold_is_private() -> None:
    """Neither what an agent returns nor what it takes shows the fold; the checkpoint has it."""
    model = Model()
    agent: Any = create_agent(
        model, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=InMemorySaver()
    )
    talk(agent, range(9), thread())
    state = agent.invoke({"messages": [HumanMessage(asked(9))]}, thread())
    assert set(state) == {"messages"}
    assert len(state["messages"]) == 20
    assert not summaries(state["messages"])
    assert "chatfold_fold" in agent.get_state(thread()).values
    assert "chatfold_fold" not in agent.get_input_jsonschema()["properties"]
    assert "chatfold_fold" not in agent.get_output_jsonschema()["properties"]
    assert model.prompts


def test_threads_are_apart() -> None:
    """One agent, the same words in two threads: each has the summary that was written for it."""
    model = Model()
    agent: Any = create_agent(
        model, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=InMemorySaver()
    )
    for n in range(8):
        talk(agent, range(n, n + 1), thread("one"))
        talk(agent, range(n, n + 1), thread("two"))
    folds = [agent.get_state(thread(name)).values["chatfold_fold"] for name in ("one", "two")]
    assert folds[0][3] != folds[1][3]
    assert len(model.prompts) % 2 == 0


def test_a_thread_with_an_empty_name_has_none() -> None:
    """LangGraph runs it, so it is folded as one without a name, and the run does not end."""
    model, events = Model(), Events()
    middleware = ChatfoldMiddleware(policy=SMALL, on_event=events)
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    talk(agent, range(6), thread(""))
    assert {event.key for event in events} == {None}
    assert len(summaries(model.seen[-1])) == 1


def test_an_agent_in_an_agent_has_a_conversation_of_its_own() -> None:
    """The same middleware in the same thread: neither is shown what was written for the other."""
    inner, outer, events = Model(), Model(), Events()
    fold = ChatfoldMiddleware(policy=SMALL, on_event=events)
    below: Any = create_agent(inner, middleware=[fold])

    def passes(state: Any) -> Any:
        history = [(HumanMessage, AIMessage)[n % 2](f"Inner {n}: {WORDS}") for n in range(9)]
        return {"messages": [below.invoke({"messages": history})["messages"][-1]]}

    graph = StateGraph(FoldState)
    graph.add_node("below", passes)
    graph.add_node("agent", create_agent(outer, middleware=[fold]))
    graph.add_edge(START, "below")
    graph.add_edge("below", "agent")
    whole: Any = graph.compile(checkpointer=InMemorySaver())
    for n in range(7):
        whole.invoke({"messages": [HumanMessage(asked(n))]}, thread())
    assert len(events.changed) >= 2
    assert {event.key for event in events} == {"one/below", "one/agent"}
    assert "Question" not in str(inner.prompts)
    assert "Inner 0" not in str(outer.prompts)


def test_a_fold_can_be_taken_back_in_the_state() -> None:
    """Until the policy wants one again."""
    model = Model()
    agent: Any = create_agent(
        model, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=InMemorySaver()
    )
    talk(agent, range(8), thread())
    assert summaries(model.seen[-1])
    agent.update_state(thread(), {"chatfold_fold": None})
    roomy: Any = create_agent(model, middleware=[ChatfoldMiddleware()])
    roomy.checkpointer = agent.checkpointer
    talk(roomy, range(8, 9), thread())
    assert [m.content for m in model.seen[-1] if isinstance(m, HumanMessage)] == [
        asked(n) for n in range(9)
    ]
    count = len(model.prompts)
    talk(agent, range(9, 10), thread())
    assert summaries(model.seen[-1])
    assert len(model.prompts) <= count + 1


def test_an_edited_thread_is_not_shown_a_summary_of_what_it_was() -> None:
    """Who takes a message out of the state is not told of it by a summary."""
    model = Model()
    agent: Any = create_agent(
        model, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=InMemorySaver()
    )
    messages = talk(agent, range(6), thread())
    assert summaries(model.seen[-1])
    count = len(model.prompts)
    agent.update_state(thread(), {"messages": [RemoveMessage(id=messages[0].id)]})
    talk(agent, range(6, 7), thread())
    assert len(model.prompts) == count + 1
    assert asked(0) not in str(model.prompts[-1])
    assert f"Summary number {count}." not in str(model.seen[-1])


def test_without_a_checkpointer_a_history_that_comes_anew_is_folded_once() -> None:
    """Callers that hold the history themselves: new objects and ids each time."""
    model = Model()
    agent: Any = create_agent(model, middleware=[ChatfoldMiddleware(policy=SMALL)])
    history: list[Any] = []
    for n in range(7):
        history.append({"role": "user", "content": asked(n)})
        state = agent.invoke({"messages": [dict(m) for m in history]})
        history.append({"role": "assistant", "content": state["messages"][-1].content})
    assert len(model.prompts) == 2
    assert len(summaries(model.seen[-1])) == 1


def test_a_system_prompt_that_comes_and_goes_changes_nothing() -> None:
    """It is counted, stays in front, and is no part of what is folded."""
    model, prompt = Model(), ""

    @dynamic_prompt
    def instructions(request: ModelRequest[Any]) -> Any:
        return SystemMessage(f"It is {len(request.messages)} o'clock.")

    middleware: list[Any] = [ChatfoldMiddleware(policy=SMALL)]
    saver = InMemorySaver()
    plain: Any = create_agent(model, middleware=middleware, checkpointer=saver)
    told: Any = create_agent(
        model, middleware=middleware, checkpointer=saver, system_prompt="Be brief."
    )
    clock: Any = create_agent(model, middleware=[instructions, *middleware], checkpointer=saver)
    for n in range(12):
        agent = (plain, told, clock)[n % 3]
        talk(agent, range(n, n + 1), thread())
        prompt = ("", "Be brief.", f"It is {2 * n + 1} o'clock.")[n % 3]
        first = model.seen[-1][0]
        assert (first.content if isinstance(first, SystemMessage) else "") == prompt
        assert [type(m) for m in model.seen[-1]].count(SystemMessage) == bool(prompt)
        assert model.seen[-1][-1].content == asked(n)
        assert len(summaries(model.seen[-1])) == (1 if model.prompts else 0)
    alone = Model()
    usual: Any = create_agent(
        alone, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=InMemorySaver()
    )
    talk(usual, range(12), thread())
    assert 2 <= len(model.prompts) <= len(alone.prompts) + 1


# Replacing


def test_replaced_messages_keep_their_ids_and_the_summary_has_one() -> None:
    """The tail is the same messages; what went is removed, and nothing else."""
    assert "after_model" not in str(create_agent(Model(), middleware=[ChatfoldMiddleware()]).nodes)
    model = Model()
    middleware = ChatfoldMiddleware(policy=SMALL, persist="replace")
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    before: dict[str, str] = {}
    for n in range(9):
        for message in talk(agent, range(n, n + 1), thread()):
            if not summaries([message]):
                before.setdefault(message.id, message.content)
    left = agent.get_state(thread()).values["messages"]
    assert len(model.prompts) >= 2
    assert len(summaries(left)) == 1
    assert summaries([left[0]])
    assert all(m.id for m in left)
    assert len({m.id for m in left}) == len(left)
    assert [before[m.id] for m in left[1:]] == [m.content for m in left[1:]]
    assert len(left) < 12
    assert left[0].additional_kwargs["lc_source"] == "summarization"


def test_the_messages_of_a_graph_around_the_agent_are_not_replaced(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It hears of no removal: the summary would stand in it among all that it stands for."""
    model = Model()
    fold = ChatfoldMiddleware(policy=SMALL, persist="replace")
    graph = StateGraph(FoldState)
    graph.add_node("agent", create_agent(model, middleware=[fold]))
    graph.add_edge(START, "agent")
    whole: Any = graph.compile(checkpointer=InMemorySaver())
    messages = talk(whole, range(12), thread())
    assert [m.content for m in messages[::2]] == [asked(n) for n in range(12)]
    assert summaries(messages) == []
    assert len(summaries(model.seen[-1])) == 1
    assert 2 <= len(model.prompts) <= 6  # and not once a turn
    assert caplog.text.count("a part of another graph") == 1


def test_what_was_begun_for_an_agent_in_another_graph_is_put_in() -> None:
    """In a later turn, which knows no more of the fold before it than the one that began it."""
    model, events = Model(), Events()
    fold = ChatfoldMiddleware(policy=SMALL, background=True, on_event=events)
    graph = StateGraph(FoldState)
    graph.add_node("agent", create_agent(model, middleware=[fold]))
    graph.add_edge(START, "agent")
    whole: Any = graph.compile(checkpointer=InMemorySaver())
    turns = 0
    while turns < 24 or (len(events.changed) < 2 and turns < 200):
        talk(whole, range(turns, turns + 1), thread())
        time.sleep(0.03)  # in which a thread writes the summary
        turns += 1
    assert len(events.changed) >= 2
    assert len(model.prompts) <= len(events.changed) + 1
    assert len(summaries(model.seen[-1])) == 1
    assert len(model.seen[-1]) < turns


def test_a_pinned_first_message_stays_behind_the_summary() -> None:
    """The summary opens the thread, so that it is recognized; then all messages are written."""
    model = Model()
    middleware = ChatfoldMiddleware(
        policy=SMALL, persist="replace", pin=lambda m: "Question 000" in str(m.content)
    )
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    messages = talk(agent, range(9), thread())
    assert len(model.prompts) >= 2
    assert [bool(summaries([m])) for m in messages[:3]] == [True, False, False]
    assert messages[1].content == asked(0)
    assert len(summaries(messages)) == 1


def test_langchains_summary_in_a_thread_is_gone_on_with() -> None:
    """A thread that `SummarizationMiddleware` folded: its summary is the input of the next."""
    model, saver = Model(), InMemorySaver()
    theirs: Any = create_agent(
        model,
        middleware=[SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 2))],
        checkpointer=saver,
    )
    messages = talk(theirs, range(4), thread())
    assert messages[0].additional_kwargs == {"lc_source": "summarization"}
    ours: Any = create_agent(
        model, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=saver
    )
    talk(ours, range(4, 9), thread())
    assert "<previous_summary>" in str(model.prompts[0])
    assert messages[0].content[:20] in str(model.prompts[0])
    assert "Here is a summary" not in str(model.seen[-1])
    assert len(summaries(model.seen[-1])) == 1


# Streams, callbacks and failures


def test_no_word_of_a_summary_is_streamed_to_the_user() -> None:
    """Neither its tokens nor the message, wherever the fold is kept; the agent's words are."""
    for persist in ("view", "replace"):
        model = Model()
        middleware: Any = ChatfoldMiddleware(policy=SMALL, persist=persist)
        agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
        streamed: list[Any] = []
        for n in range(8):
            given = {"messages": [HumanMessage(asked(n))]}
            for message, _ in agent.stream(given, thread(), stream_mode="messages"):
                streamed.append(message)
        text = "".join(str(m.content) for m in streamed)
        assert model.prompts
        assert "Summary number" not in text
        assert "Answer to Question 007" in text.replace("  ", " ")
        assert not any(isinstance(m, RemoveMessage) for m in streamed)


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
async def test_the_new_streams_show_no_summary_either() -> None:
    """`astream_events` of version 3 has its own way to leave internal calls out."""
    model = Model()
    agent: Any = create_agent(
        model, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=InMemorySaver()
    )
    texts: list[str] = []
    for n in range(6):
        run = await agent.astream_events(
            {"messages": [HumanMessage(asked(n))]}, thread(), version="v3"
        )
        texts += [await message.text async for message in run.messages]
    assert model.prompts
    assert texts == [f"Answer to {asked(n)[:12]}." for n in range(6)]


class Runs(BaseCallbackHandler):
    """Keeps what a tracer is told of calls to models."""

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **told: Any) -> None:
        self.started.append(told)


@pytest.mark.anyio
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("way", ["sync", "async"])
async def test_tracers_and_usage_see_the_call_for_a_summary(own: bool, way: str) -> None:
    """It is a child of the run, marked with its source, and its tokens are counted."""
    seller, writer, runs, usage = Model(), Model(), Runs(), UsageMetadataCallbackHandler()
    middleware = ChatfoldMiddleware(None if own else writer, SMALL)
    agent: Any = create_agent(seller, middleware=[middleware], checkpointer=InMemorySaver())
    config = thread(callbacks=[runs, usage])
    for n in range(8):
        given = {"messages": [HumanMessage(asked(n))]}
        if way == "sync":
            agent.invoke(given, config)
        else:
            await agent.ainvoke(given, config)
    wrote = seller if own else writer
    assert wrote.prompts
    assert not (writer if own else seller).prompts
    marked = [r for r in runs.started if r["metadata"].get("lc_source") == "summarization"]
    assert len(marked) == len(wrote.prompts)
    assert all(run["parent_run_id"] is not None for run in marked)
    calls = len(seller.seen) + len(wrote.prompts)
    assert usage.usage_metadata["test-1"]["input_tokens"] == 50 * calls


def test_usage_of_the_summary_is_in_the_outcome() -> None:
    """What the model says of its tokens and of itself."""
    events = Events()
    agent: Any = create_agent(
        Model(),
        middleware=[ChatfoldMiddleware(policy=SMALL, on_event=events)],
        checkpointer=InMemorySaver(),
    )
    talk(agent, range(6), thread())
    outcome = events.changed[0].outcome
    assert outcome is not None
    assert outcome.usage is not None
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (50, 5)
    assert outcome.model == "test-1"


def test_a_failed_call_is_repeated_as_often_as_is_said() -> None:
    """`retries` counts for a chat model too; after that the turn goes on unfolded."""
    for fails, retries, folds in ((1, 1, True), (1, 0, False), (2, 1, False)):
        model, events = Model(fails=fails), Events()
        middleware = ChatfoldMiddleware(policy=SMALL, retries=retries, on_event=events)
        agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
        messages: list[Any] = []
        turns = 0
        while not events:
            messages = talk(agent, range(turns, turns + 1), thread())
            turns += 1
        assert [e.kind for e in events] == ["before", "after" if folds else "failed"]
        assert messages[-1].content == f"Answer to {asked(turns - 1)[:12]}."


def test_thoughts_alone_are_no_summary() -> None:
    """Of a model whose server does not parse them: the history goes out as it is."""

    class Thinking(Model):
        def _said(self, messages: list[BaseMessage]) -> str:
            said = super()._said(messages)
            return f"<think>{said}</think>" if said.startswith("Summary") else said

    model, events = Thinking(), Events()
    agent = create_agent(model, middleware=[ChatfoldMiddleware(policy=SMALL, on_event=events)])
    history = [message for n in range(8) for message in (HumanMessage(asked(n)), AIMessage("Yes."))]
    agent.invoke({"messages": [*history, HumanMessage("And now?")]})
    assert model.prompts
    assert not events.changed
    assert [m.content for m in model.seen[-1][:-1]] == [m.content for m in history]


RESPONSE = {"object": "response", "status": "completed", "model_name": "gpt-5"}


@pytest.mark.parametrize(
    ("content", "told", "error"),
    [
        (
            [{"type": "text", "text": "The user asked, and"}],
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            TruncatedSummaryError,
        ),
        (
            [{"type": "text", "text": "The user asked, and"}],
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            RefusedSummaryError,
        ),
        ([{"type": "text", "text": "The user"}], {"status": "incomplete"}, TruncatedSummaryError),
        ([{"type": "refusal", "refusal": "I cannot."}], {}, RefusedSummaryError),
        ([{"type": "text", "text": "Hm.", "phase": "commentary"}], {}, NoAnswerError),
        (
            [{"type": "text", "text": "Hm.", "extras": {"phase": "commentary"}}],
            {},
            NoAnswerError,
        ),
    ],
)
def test_an_answer_of_openais_responses_that_is_none_is_no_summary(
    content: list[Any], told: dict[str, Any], error: type[Exception]
) -> None:
    """They say why they ended, and what they refuse, elsewhere than Chat Completions do."""
    answer = AIMessage(content, response_metadata=RESPONSE | told)
    items = [message for n in range(4) for message in (HumanMessage(asked(n)), AIMessage("Yes."))]
    kept = list(items)
    context = ChatContext(items, shape=LangChainMessages())
    with pytest.raises(error):
        context.summarize(ChatModelSummarizer(RunnableLambda(lambda _: answer)), keep_last_turns=1)
    assert items == kept


def test_what_a_model_says_before_its_final_answer_is_not_in_the_summary() -> None:
    """As with OpenAI's own SDK."""
    said = {"type": "text", "text": "Let me look at that. ", "phase": "commentary"}
    final = {"type": "text", "text": "The user asked thrice.", "phase": "final_answer"}
    answer = AIMessage([said, final], response_metadata=RESPONSE)
    items = [message for n in range(4) for message in (HumanMessage(asked(n)), AIMessage("Yes."))]
    context = ChatContext(items, shape=LangChainMessages())
    model = ChatModelSummarizer(RunnableLambda(lambda _: answer))
    outcome = context.summarize(model, keep_last_turns=1)
    assert outcome.summary is not None
    assert outcome.summary.startswith("The user asked thrice.")


def test_a_failure_is_raised_where_that_is_wanted() -> None:
    """`on_error="raise"`: the agent's run ends with it."""
    model = Model(fails=9)
    middleware = ChatfoldMiddleware(policy=SMALL, retries=0, on_error="raise")
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    with pytest.raises(SummarizerError, match="not there"):
        talk(agent, range(9), thread())


def test_a_fold_whose_turn_failed_is_not_paid_for_again() -> None:
    """The agent's model fails after the summary was written: the next try uses it."""
    model = Model()
    broken = [False]

    class Breaks(Model):
        def _said(self, messages: list[BaseMessage]) -> str:
            if "<conversation>" not in str(messages[-1].content) and broken[0]:
                raise ConnectionError("no answer")
            return super()._said(messages)

    model = Breaks()
    agent: Any = create_agent(
        model, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=InMemorySaver()
    )
    turns = 0
    while not model.prompts:
        broken[0] = turns >= 2
        with suppress(ConnectionError):
            talk(agent, range(turns, turns + 1), thread())
        turns += 1
    broken[0] = False
    talk(agent, range(turns, turns + 1), thread())
    assert len(model.prompts) == 1
    assert summaries(model.seen[-1])


def test_a_summary_in_the_background_delays_no_turn() -> None:
    """It is put in at a later turn, and what came meanwhile stays behind it."""
    model, events = Model(sleeps=0.4), Events()
    middleware = ChatfoldMiddleware(policy=SMALL, background=True, on_event=events)
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    turns, slowest = 0, 0.0
    deadline = time.monotonic() + 20
    while not events.changed and time.monotonic() < deadline:
        started = time.monotonic()
        messages = talk(agent, range(turns, turns + 1), thread())
        slowest = max(slowest, time.monotonic() - started)
        turns += 1
        time.sleep(0.1)
    assert events.changed
    assert slowest < 0.4
    assert len(messages) == 2 * turns
    assert len(summaries(model.seen[-1])) == 1
    assert model.seen[-1][-1].content == asked(turns - 1)
    assert agent.get_state(thread()).values["chatfold_fold"] is not None


# Models


def test_the_profile_of_the_model_tells_the_window() -> None:
    """Without numbers in the policy, a fold is due at three quarters of it."""
    model = Model(profile={"max_input_tokens": 2_600})
    agent: Any = create_agent(
        model, middleware=[ChatfoldMiddleware()], checkpointer=InMemorySaver()
    )
    sizes = 0
    while not model.prompts and sizes < 100:
        talk(agent, range(sizes, sizes + 1), thread())
        sizes += 1
    assert 15 < sizes < 60
    part: Any = create_agent(
        Model(profile={"max_input_tokens": 2_600}),
        middleware=[ChatfoldMiddleware(policy=Policy(fraction=0.2, keep_tokens=100))],
        checkpointer=InMemorySaver(),
    )
    talk(part, range(1), thread())


def test_a_history_that_the_provider_holds_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    """`use_previous_response_id`: a summary would never be read; said once."""
    model = Model(use_previous_response_id=True)
    agent: Any = create_agent(
        model, middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=InMemorySaver()
    )
    with caplog.at_level("WARNING", logger="chatfold"):
        talk(agent, range(8), thread())
    assert not model.prompts
    assert len(model.seen[-1]) == 15
    assert [
        r.message for r in caplog.records if "use_previous_response_id" in r.message
    ].__len__() == 1


def test_thinking_behind_a_summary_is_sent_with_what_anthropic_wants() -> None:
    """The model's own settings stay, and the fields that keep the request from being refused."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    messages: list[Any] = []
    for n in range(8):
        content = [thought, {"type": "text", "text": f"Answer {n}. {WORDS}"}]
        messages += [HumanMessage(asked(n)), AIMessage(content)]
    model = ChatAnthropic(
        model_name="claude-opus-5-5",
        api_key="test",
        thinking={"type": "adaptive", "display": "summarized"},
        betas=["mine"],
        timeout=None,
        stop=None,
    )  # type: ignore[arg-type]  # pydantic makes a secret of it
    got: list[Any] = []

    def handler(request: ModelRequest[Any]) -> Any:
        got.append(request)
        return None

    middleware = ChatfoldMiddleware(Model(), SMALL)
    asks = [*messages, HumanMessage("And now?")]
    middleware.wrap_model_call(
        ModelRequest(model=model, messages=asks, state={"messages": asks}), handler
    )
    sent = got[0].model._get_request_payload(got[0].messages, **got[0].model_settings)
    assert sent["betas"] == ["mine", "thinking-binding-controls-2026-08-01"]
    assert sent["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    assert validate(sent["messages"], "anthropic") == []
    bare = ChatfoldMiddleware(Model(), SMALL, thinking="strip")
    bare.wrap_model_call(
        ModelRequest(model=model, messages=asks, state={"messages": asks}), handler
    )
    assert got[1].model_settings == {}
    assert "thinking" not in str([m.content for m in got[1].messages])


@pytest.mark.parametrize("where", ["model", "call"])
def test_thinking_that_is_switched_off_is_sent_as_it_is(where: str) -> None:
    """Anthropic takes nothing else beside `disabled`, also where older answers have thoughts."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    messages: list[Any] = []
    for n in range(8):
        content = [thought, {"type": "text", "text": f"Answer {n}. {WORDS}"}]
        messages += [HumanMessage(asked(n)), AIMessage(content)]
    off = {"type": "disabled"}
    model = ChatAnthropic(
        model_name="claude-opus-5-5",
        api_key="test",
        thinking=off if where == "model" else None,
        timeout=None,
        stop=None,
    )  # type: ignore[arg-type]  # pydantic makes a secret of it
    got: list[Any] = []

    def handler(request: ModelRequest[Any]) -> Any:
        got.append(request)
        return None

    asks = [*messages, HumanMessage("And now?")]
    settings: dict[str, Any] = {} if where == "model" else {"thinking": off}
    ChatfoldMiddleware(Model(), SMALL).wrap_model_call(
        ModelRequest(model=model, messages=asks, state={"messages": asks}, model_settings=settings),
        handler,
    )
    assert len(summaries(got[0].messages)) == 1
    sent = got[0].model._get_request_payload(got[0].messages, **got[0].model_settings)
    assert sent["thinking"] == off


def test_a_prompt_that_is_too_long_for_the_model_is_asked_in_parts() -> None:
    """LangChain's own error for it is understood, whatever its words are; it is not repeated."""

    class Short(Model):
        refused: int = 0

        def _said(self, messages: list[BaseMessage]) -> str:
            if len(str(messages[-1].content)) > 9_000:
                self.refused += 1
                raise ContextOverflowError("no")
            return super()._said(messages)

    writer, events = Short(), Events()
    middleware = ChatfoldMiddleware(writer, SMALL, retries=3, on_event=events)
    agent: Any = create_agent(Model(), middleware=[middleware])
    history = [(HumanMessage, AIMessage)[n % 2](asked(n)) for n in range(61)]
    agent.invoke({"messages": history})
    assert len(events.changed) == 1
    assert writer.refused
    assert len(writer.prompts) > 1
    shown = "".join(str(prompt) for prompt in writer.prompts)
    assert all(f"Question {n:03d}" in shown for n in range(50))


def test_models_and_other_summarizers_may_stand_in_one_chain() -> None:
    """The first that answers writes: a chat model, a runnable, a function, or none of them."""
    broken, words = Model(fails=99), RunnableLambda(lambda messages: "By a runnable.")
    for llm, said in (
        ([broken, words], "By a runnable."),
        ([broken, lambda prompt: "By a function."], "By a function."),
        (words, "By a runnable."),
        ("extractive", "LK-1"),
    ):
        model = Model()
        agent: Any = create_agent(model, middleware=[ChatfoldMiddleware(llm, SMALL, retries=0)])
        history = [(HumanMessage, AIMessage)[n % 2](f"LK-1{n}: {WORDS}") for n in range(11)]
        agent.invoke({"messages": history})
        assert said in str(summaries(model.seen[-1])[0].content)


# Stores


def test_a_store_shares_folds_between_processes_without_a_checkpointer(tmp_path: Path) -> None:
    """The key names the conversation; without a thread or a key there is none, and it says so."""
    history = [(HumanMessage, AIMessage)[n % 2](asked(n)) for n in range(9)]
    counts: list[int] = []
    for _ in range(2):
        model = Model()
        with SQLStore(tmp_path / "folds.db") as store:
            middleware = ChatfoldMiddleware(
                policy=SMALL, store=store, key=lambda config: config["metadata"]["user"]
            )
            agent: Any = create_agent(model, middleware=[middleware])
            agent.invoke({"messages": list(history)}, {"metadata": {"user": "u-1"}})
            counts.append(len(model.prompts))
            keyless: Any = create_agent(
                model, middleware=[ChatfoldMiddleware(policy=SMALL, store=store)]
            )
            with pytest.raises(
                ValueError, match=r"key= is required.*thread_id.*ChatfoldMiddleware"
            ):
                keyless.invoke({"messages": list(history)})
    assert counts == [1, 0]
    assert ChatfoldMiddleware(store=MemoryStore(), key="a") is not None


# Graphs


@pytest.mark.anyio
@pytest.mark.parametrize("persist", ["view", "replace"])
@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_node_folds_for_a_graph_without_an_agent(
    tmp_path: Path, persist: Any, way: str
) -> None:
    """It stands before the model's node, and its fold is kept in the graph's checkpoints."""

    class State(FoldState):
        llm_input_messages: list[Any]

    model = Model()
    path = str(tmp_path / "graph.db")

    def calls(state: Any) -> Any:
        shown = state["llm_input_messages"] if persist == "view" else state["messages"]
        return {"messages": [model.invoke(shown)]}

    def built(saver: Any) -> Any:
        graph = StateGraph(State)
        fold = ChatfoldMiddleware(policy=SMALL, persist=persist).node(model)
        graph.add_node("fold", fold)
        graph.add_node("model", calls)
        graph.add_edge(START, "fold")
        graph.add_edge("fold", "model")
        return graph.compile(checkpointer=saver)

    streamed: list[Any] = []
    for part in (range(6), range(6, 8)):
        before = len(model.prompts)
        if way == "sync":
            with SqliteSaver.from_conn_string(path) as saver:
                agent = built(saver)
                for n in part:
                    given = {"messages": [HumanMessage(asked(n))]}
                    streamed += [
                        m for m, _ in agent.stream(given, thread(), stream_mode="messages")
                    ]
        else:
            async with AsyncSqliteSaver.from_conn_string(path) as saver:
                agent = built(saver)
                for n in part:
                    given = {"messages": [HumanMessage(asked(n))]}
                    later = agent.astream(given, thread(), stream_mode="messages")
                    streamed += [message async for message, _ in later]
        if part.start:
            assert len(model.prompts) <= before + 1
    assert model.prompts
    assert len(summaries(model.seen[-1])) == 1
    assert model.seen[-1][-1].content == asked(7)
    assert not any(isinstance(m, HumanMessage) and summaries([m]) for m in streamed)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda model: model.bind(tools=[{"name": "look"}], tool_choice="look"),
        lambda model: model.bind(tools=[{"name": "look"}]).with_retry(),
        lambda model: model.with_fallbacks([Model()]),
        lambda model: model.bind(tools=[{"name": "look"}]).with_fallbacks([Model()]),
    ],
    ids=["tools", "retry", "fallbacks", "tools and fallbacks"],
)
def test_a_node_sees_the_model_that_tools_are_bound_to(wrapped: Any) -> None:
    """Its window and what holds its history count, and it writes summaries without these tools."""

    class State(FoldState):
        llm_input_messages: list[Any]

    given: list[tuple[bool, set[str]]] = []

    class Bound(Model):
        def _generate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
            made = super()._generate(messages)
            given.append((bool(self.prompts and messages == self.prompts[-1]), {*kwargs}))
            return made

    model = Bound(profile={"max_input_tokens": 4_000}, disable_streaming=True)
    whole = wrapped(model)
    graph = StateGraph(State)
    graph.add_node("fold", ChatfoldMiddleware().node(whole))
    graph.add_node("model", lambda s: {"messages": [whole.invoke(s["llm_input_messages"])]})
    graph.add_edge(START, "fold")
    graph.add_edge("fold", "model")
    talk(graph.compile(checkpointer=InMemorySaver()), range(60), thread())
    assert model.prompts
    assert len(model.seen[-1]) < 60
    asked_for = [names & {"tools", "tool_choice"} for is_summary, names in given if is_summary]
    assert asked_for
    assert not any(asked_for)
    holds = wrapped(Model(use_previous_response_id=True))
    assert ChatfoldMiddleware()._is_held_elsewhere(holds)


@pytest.mark.anyio
@pytest.mark.parametrize("persist", ["view", "replace"])
@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_node_leaves_a_history_that_the_provider_holds_alone(
    persist: Any, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """`use_previous_response_id`: as in an agent, nothing is paid for, and that is said."""

    class State(FoldState):
        llm_input_messages: list[Any]

    model = Model(use_previous_response_id=True)
    graph = StateGraph(State)
    with caplog.at_level("WARNING", logger="chatfold"):
        fold = ChatfoldMiddleware(policy=SMALL, persist=persist).node(model)
    assert "use_previous_response_id" in caplog.text
    graph.add_node("fold", fold)
    shown = "llm_input_messages" if persist == "view" else "messages"
    graph.add_node("model", lambda state: {"messages": [model.invoke(state[shown])]})
    graph.add_edge(START, "fold")
    graph.add_edge("fold", "model")
    agent = graph.compile(checkpointer=InMemorySaver())
    for n in range(8):
        given = {"messages": [HumanMessage(asked(n))]}
        if way == "sync":
            agent.invoke(given, thread())
        else:
            await agent.ainvoke(given, thread())
    assert not model.prompts
    assert len(model.seen[-1]) == 15


def test_a_node_needs_a_model_to_write_summaries() -> None:
    """In a graph nobody says which model is the agent's."""
    with pytest.raises(TypeError, match="model="):
        ChatfoldMiddleware(policy=SMALL).node()
    assert ChatfoldMiddleware("extractive", SMALL).node() is not None


def test_a_node_writes_what_the_model_is_to_see_where_it_is_told() -> None:
    """Under that key alone; the thread stays complete."""

    class State(FoldState):
        shown_to_model: list[Any]

    model = Model()
    graph = StateGraph(State)
    fold = ChatfoldMiddleware(policy=SMALL).node(model, output="shown_to_model")
    graph.add_node("fold", fold)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["shown_to_model"])]})
    graph.add_edge(START, "fold")
    graph.add_edge("fold", "model")
    agent = graph.compile(checkpointer=InMemorySaver())
    messages = talk(agent, range(8), thread())
    assert [m.content for m in messages[::2]] == [asked(n) for n in range(8)]
    assert summaries(messages) == []
    shown = agent.get_state(thread()).values["shown_to_model"]
    assert shown == model.seen[-1]
    assert len(summaries(shown)) == 1
    assert shown[-1].content == asked(7)


@pytest.mark.parametrize("output", ["messages", "chatfold_fold"])
def test_a_node_does_not_write_what_the_model_sees_into_the_thread(output: str) -> None:
    """The summary would overwrite one of its messages, and the rest be summarized at each turn."""
    with pytest.raises(ValueError, match="persist='replace'"):
        ChatfoldMiddleware(policy=SMALL).node(Model(), output=output)
    replacing = ChatfoldMiddleware(policy=SMALL, persist="replace")
    assert replacing.node(Model(), output=output) is not None  # it writes there anyway


def test_wrong_arguments_are_said_at_once() -> None:
    """Not in the middle of somebody's conversation."""
    with pytest.raises(ValueError, match="persist"):
        ChatfoldMiddleware(persist="both")  # type: ignore[arg-type]  # that is the mistake
    with pytest.raises(TypeError, match="unknown option"):
        ChatfoldMiddleware(wrong=1)  # type: ignore[call-arg]  # that is the mistake
    for own in ("agent_model", "shape"):  # what is known of the agent's model and messages
        given: Any = {own: "gpt-5"}
        with pytest.raises(TypeError, match=f"unknown option {own}; there are .*persist") as told:
            ChatfoldMiddleware(**given)
        assert f" {own}," not in str(told.value).partition(";")[2]
    with pytest.raises(TypeError, match="a key must be a str, not int"):
        ChatfoldMiddleware(key=42)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="store must be"):
        ChatfoldMiddleware(store="folds.db")  # type: ignore[arg-type]  # that is the mistake
