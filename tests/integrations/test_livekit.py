"""`summarize` of a LiveKit context: what `ChatContext._summarize` does, without its losses."""

from __future__ import annotations

import asyncio
import copy
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("livekit.agents", reason="livekit-agents is not installed")

from integrations.host import Call, Step
from integrations.livekit_desk import Model, RealtimeVoice, payload_errors, support_call
from livekit.agents import (
    Agent,
    AgentSession,
    AgentTask,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    llm,
)
from livekit.agents.beta.workflows import TaskGroup

from chatfold import FoldEvent, Policy
from chatfold.core.summary import TAG
from chatfold.errors import (
    EmptySummaryError,
    MissingExtraError,
    NoAnswerError,
    StaleHeadError,
    SummarizerError,
)
from chatfold.integrations.livekit import fold_between_turns, summarize
from chatfold.stores import MemoryStore

Messages = list[dict[str, Any]]

_LONG = "I say it in my own words, and take all the time that I need for it. " * 5


def writer(text: str = "Order LK-4821936 is eligible for a replacement.") -> Model:
    return Model(lambda _: text)


def same(ours: list[Any], theirs: list[Any]) -> bool:
    """Return whether two lists hold the same objects."""
    return len(ours) == len(theirs) and all(a is b for a, b in zip(ours, theirs, strict=True))


def test_a_support_call_keeps_nine_items_in_causal_order() -> None:
    """System, summary, address, call, output, handoff, call, output, last answer."""
    items = support_call()
    assert len(items) == 24
    before = list(items)
    context, model = llm.ChatContext(items), writer()
    outcome = asyncio.run(summarize(context, model, keep_last_turns=1))
    assert outcome.reason == "summarized"
    assert context.items is items
    assert [getattr(i, "role", i.type) for i in items] == [
        "system",
        "user",
        "user",
        "function_call",
        "function_call_output",
        "agent_handoff",
        "function_call",
        "function_call_output",
        "assistant",
    ]
    assert items[1] is outcome.item
    assert same([items[0], *items[2:]], [before[0], *before[-7:]])
    assert "12 Quay Street" in str(items[2])
    assert [i.name for i in items if i.type == "function_call"] == [
        "create_rma",
        "generate_return_label",
    ]
    times = [i.created_at for i in items]
    assert times == sorted(times)
    assert payload_errors(items) == []
    (asked,) = model.asked
    assert [m["role"] for m in asked] == ["system", "user"]
    assert "ACB-PRO-7F29D4" in asked[1]["content"]


@pytest.mark.parametrize("keep", range(9))
def test_the_requests_that_livekit_makes_of_a_folded_call_are_valid(keep: int) -> None:
    """At every keep, for each provider, as LiveKit converts it."""
    context = llm.ChatContext(support_call())
    outcome = asyncio.run(summarize(context, writer("The earbuds crackle."), keep_last_turns=keep))
    assert outcome.changed is (keep < 5)  # with five turns kept, the rest is as short as a summary
    assert payload_errors(context.items) == []
    sent, _ = context.to_provider_format("anthropic")
    assert "(empty)" not in str(sent[0])


def test_two_folds_leave_one_summary_that_the_second_model_was_shown() -> None:
    """The first summary is labelled input of the second; LiveKit would keep both."""
    context = llm.ChatContext(support_call())
    asyncio.run(summarize(context, writer("Noor has Acme Buds Pro."), keep_last_turns=2))
    second = writer("Noor gets a replacement of her Acme Buds Pro.")
    outcome = asyncio.run(summarize(context, second, keep_last_turns=0))
    assert outcome.changed
    assert "<previous_summary>" in second.asked[0][1]["content"]
    assert "Noor has Acme Buds Pro." in second.asked[0][1]["content"]
    assert sum(TAG in str(i) for i in context.items) == 1
    assert [i.type for i in context.items] == ["message", "message", "agent_handoff"]


def test_what_livekits_own_summarize_left_is_taken_over() -> None:
    """A context that `_summarize` has been at comes to have one summary."""

    async def run() -> tuple[llm.ChatContext, Model]:
        context = llm.ChatContext(support_call())
        for n in range(2):
            await context._summarize(writer(f"LiveKit's summary {n}"), keep_last_turns=4 - n)
        assert sum(TAG in str(i) for i in context.items) == 2
        model = writer("Both.")
        await summarize(context, model, keep_last_turns=1)
        return context, model

    context, model = asyncio.run(run())
    asked = model.asked[0][1]["content"]
    assert "LiveKit's summary 0" in asked
    assert "LiveKit's summary 1" in asked
    assert sum(TAG in str(i) for i in context.items) == 1


def test_livekits_own_summarize_leaves_ours_as_a_summary() -> None:
    """`is_summary` tells LiveKit's own code that it is none of what was said."""

    async def run() -> None:
        context = llm.ChatContext(support_call())
        outcome = await summarize(context, writer(), keep_last_turns=3)
        await context._summarize(writer("theirs"), keep_last_turns=1)
        assert any(i is outcome.item for i in context.items)

    asyncio.run(run())


def test_an_item_that_is_added_while_the_summary_is_written_is_kept() -> None:
    """It stands behind the tail, and LiveKit's insertion by time finds the list in order."""
    context = llm.ChatContext(support_call())
    added = llm.ChatMessage(role="user", content=["One more thing."], created_at=time.time() + 9e8)

    def answer(_: Messages) -> str:
        context.insert(added)
        return "short"

    outcome = asyncio.run(summarize(context, Model(answer), keep_last_turns=1))
    assert outcome.changed
    assert len(context.items) == 10
    assert context.items[-1] is added


def test_a_head_that_changes_meanwhile_is_refused_and_stays() -> None:
    """What the summary was written of is not there any more."""
    context = llm.ChatContext(support_call())

    def answer(_: Messages) -> str:
        context.items.pop(3)
        return "short"

    with pytest.raises(StaleHeadError):
        asyncio.run(summarize(context, Model(answer), keep_last_turns=1))
    assert len(context.items) == 23
    assert TAG not in str(context.items)


def test_a_list_that_was_put_in_its_place_meanwhile_stays_and_is_reported() -> None:
    """`chat_ctx.items = ...` during the call is no list that the summary stands in."""
    context = llm.ChatContext(support_call())
    other = support_call()

    def answer(_: Messages) -> str:
        context.items = other
        return "short"

    with pytest.raises(StaleHeadError, match="another list") as caught:
        asyncio.run(summarize(context, Model(answer), keep_last_turns=1))
    assert caught.value.llm_calls == 1
    assert caught.value.usage is not None
    assert len(other) == 24


def test_of_two_calls_at_once_one_folds_and_the_other_is_stale() -> None:
    """Whoever comes second finds another head, and leaves the context as the first one left it."""
    context = llm.ChatContext(support_call())

    async def both() -> list[Any]:
        calls = (summarize(context, writer(), keep_last_turns=1) for _ in range(2))
        return await asyncio.gather(*calls, return_exceptions=True)

    one, other = asyncio.run(both())
    assert {type(one).__name__, type(other).__name__} == {"Outcome", "StaleHeadError"}
    assert len(context.items) == 9
    assert sum(TAG in str(i) for i in context.items) == 1


BAD: list[tuple[Any, type[Exception]]] = [
    (lambda _: "", EmptySummaryError),
    (lambda _: " \n", EmptySummaryError),
    (lambda _: Step(calls=(Call("c", "f"),)), NoAnswerError),
]


@pytest.mark.parametrize(("answer", "expected"), BAD)
def test_an_answer_that_is_no_summary_leaves_the_context_as_it_was(
    answer: Any, expected: type[Exception]
) -> None:
    """The error says what came instead, and what it cost."""
    items = support_call()
    said = copy.deepcopy(items)
    with pytest.raises(expected) as caught:
        asyncio.run(summarize(llm.ChatContext(items), Model(answer), keep_last_turns=1))
    assert items == said
    assert caught.value.usage is not None  # type: ignore[attr-defined]  # every error of ours has it
    reported = asyncio.run(
        summarize(llm.ChatContext(items), Model(answer), keep_last_turns=1, on_error="report")
    )
    assert (reported.changed, reported.reason) == (False, "failed")
    assert isinstance(reported.error, expected)
    assert items == said


def test_a_model_that_hangs_is_given_up_after_the_time_out() -> None:
    """The context is as it was, and the error says how long it took."""

    async def hang(_: Messages) -> str:
        await asyncio.sleep(30)
        return "late"

    items = support_call()
    began = time.monotonic()
    with pytest.raises(SummarizerError, match=r"longer than 0\.2 s"):
        asyncio.run(summarize(llm.ChatContext(items), Model(hang), keep_last_turns=1, timeout=0.2))
    assert time.monotonic() - began < 5
    assert len(items) == 24


def test_a_model_that_fails_is_repeated_as_often_as_asked_then_the_next_is_tried() -> None:
    """LiveKit's own retries, then the fallback chain."""
    failing = Model(_refuse)
    context = llm.ChatContext(support_call())
    outcome = asyncio.run(
        summarize(context, [failing, writer("The second one.")], keep_last_turns=1, retries=1)
    )
    assert outcome.summary == "The second one."
    assert len(failing.asked) == 2
    alone = Model(_refuse)
    with pytest.raises(SummarizerError) as caught:
        asyncio.run(summarize(llm.ChatContext(support_call()), alone, keep_last_turns=1, retries=0))
    assert len(alone.asked) == 1
    assert "busy" in str(caught.value.__cause__)


@pytest.mark.parametrize("retries", [0, 1])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (lambda: APIStatusError("slow down", status_code=429), r"rate limited \(429\): slow down"),
        (lambda: APIStatusError("broken", status_code=500), r"status 500: broken"),
        (APITimeoutError, "timed out"),
        (lambda: APIConnectionError("gone"), r"connection failed$"),
    ],
    ids=["429", "500", "slow", "gone"],
)
def test_a_failure_is_told_as_what_it_was_also_behind_livekits_retries(
    error: Callable[[], Exception], told: str, retries: int
) -> None:
    """After its retries LiveKit raises a connection error, whatever the last failure was."""

    def fail(_: Messages) -> str:
        raise error()

    context = llm.ChatContext(support_call())
    with pytest.raises(SummarizerError, match=told) as caught:
        asyncio.run(summarize(context, Model(fail), keep_last_turns=1, retries=retries))
    assert isinstance(caught.value.__cause__, APIConnectionError) or retries == 0


def _refuse(_: Messages) -> str:
    raise APIConnectionError("busy")


def test_an_answer_that_broke_off_is_not_taken_with_the_next_attempt_behind_it() -> None:
    """LiveKit's stream would go on behind the half that came; the next summarizer is asked."""
    broken = writer()
    broken.breaks = 1
    context = llm.ChatContext(support_call())
    outcome = asyncio.run(
        summarize(context, [broken, writer("The second one.")], keep_last_turns=1)
    )
    assert outcome.summary == "The second one."
    assert len(broken.asked) == 1


def test_a_failure_of_the_summarizer_never_reaches_the_session() -> None:
    """A session counts its model's errors and closes after a few; summaries do not count."""

    async def run() -> None:
        model = Model(lambda m: _refuse(m) if "<conversation>" in str(m) else "I see.")
        errors: list[Any] = []
        async with AgentSession(llm=model) as session:
            session.on("error", errors.append)
            session.on("close", errors.append)
            await session.start(Agent(instructions="Be brief."))
            for _ in range(6):
                context = llm.ChatContext(support_call())
                outcome = await summarize(
                    context, session=session, keep_last_turns=1, on_error="report", retries=0
                )
                assert outcome.reason == "failed"
            result = await session.run(user_input="hello")
            result.expect.next_event().is_message(role="assistant")
            assert errors == []

    asyncio.run(run())


def test_the_tokens_of_a_summary_are_in_the_sessions_usage() -> None:
    """LiveKit's metrics of the model have them, and so has the outcome."""

    async def run() -> None:
        model = writer()
        async with AgentSession(llm=model) as session:
            await session.start(Agent(instructions="Be brief."))
            outcome = await summarize(
                llm.ChatContext(support_call()), session=session, keep_last_turns=1
            )
            await asyncio.sleep(0.05)  # LiveKit reports when its own task comes to it
            (used,) = session.usage.model_usage
            assert outcome.usage is not None
            assert (outcome.usage.input_tokens, outcome.model) == (100, "gpt-5")
            assert used.input_tokens == 100  # type: ignore[union-attr]  # a model's usage

    asyncio.run(run())


def _running(agent: Agent, meanwhile: Any) -> Model:
    """Return a model that writes a summary, while something happens to the agent."""

    def answer(_: Messages) -> str:
        meanwhile(agent)
        return "The earbuds crackle."

    return Model(answer)


@pytest.mark.parametrize("runs", [True, False])
def test_an_agent_is_given_the_fold_and_keeps_what_it_is_told_meanwhile(runs: bool) -> None:
    """Who copies its context and publishes that copy afterwards loses it."""
    agent = Agent(instructions="Be brief.", chat_ctx=llm.ChatContext(support_call()))

    def meanwhile(agent: Agent) -> None:
        context = agent.chat_ctx.copy()
        context.add_message(role="user", content="Wait, it is 14 Quay Street.")
        context.remove(answer)  # nobody has heard it
        agent._chat_ctx = context

    model = _running(agent, meanwhile)

    async def run() -> Any:
        if not runs:
            return await summarize(agent, model, keep_last_turns=1)
        async with AgentSession(llm=model) as session:
            await session.start(agent)
            return await summarize(agent, keep_last_turns=1)

    *_, last, answer = agent.chat_ctx.items
    outcome = asyncio.run(run())
    items = agent.chat_ctx.items
    assert outcome.reason == "summarized"
    assert [i for i in items if TAG in str(i)] == [outcome.item]
    assert items[-1].type == "message"
    assert items[-1].text_content == "Wait, it is 14 Quay Street."
    assert answer not in items
    assert any(item is last for item in items)
    assert payload_errors(list(items)) == []


def test_an_answer_that_is_corrected_meanwhile_stays_corrected() -> None:
    """And what is said to be older than the summary stands behind it, which comes first."""
    agent = Agent(instructions="Be brief.", chat_ctx=llm.ChatContext(support_call()))

    def meanwhile(agent: Agent) -> None:
        *others, last = agent.chat_ctx.items
        late = llm.ChatMessage(role="user", content=["Wait."], created_at=1.0)
        mended = last.model_copy(update={"content": ["Corrected."]})
        agent._chat_ctx = llm.ChatContext([*others, mended, late])

    outcome = asyncio.run(summarize(agent, _running(agent, meanwhile), keep_last_turns=1))
    items = [item for item in agent.chat_ctx.items if item.type == "message"]
    assert [item.text_content for item in items[-2:]] == ["Corrected.", "Wait."]
    assert next(item for item in items if item.role != "system") is outcome.item


def _takes_back(agent: Agent) -> None:
    agent._chat_ctx = llm.ChatContext(agent.chat_ctx.items[:2])


def _answers(agent: Agent) -> None:
    call = next(i for i in agent.chat_ctx.items if i.type == "function_call")
    late = llm.FunctionCallOutput(call_id=call.call_id, name="late", output="1", is_error=False)
    agent._chat_ctx = llm.ChatContext([*agent.chat_ctx.items, late])


@pytest.mark.parametrize("meanwhile", [_takes_back, _answers])
def test_an_agent_whose_head_changed_meanwhile_stays_as_it_is(meanwhile: Any) -> None:
    """The error tells what was spent on the summary."""
    agent = Agent(instructions="Be brief.")
    items = support_call()
    items.remove(next(item for item in items if item.type == "function_call_output"))
    agent._chat_ctx = llm.ChatContext(items)
    with pytest.raises(StaleHeadError, match="as it was") as caught:
        asyncio.run(summarize(agent, _running(agent, meanwhile), keep_last_turns=1))
    assert caught.value.llm_calls == 1
    assert caught.value.usage is not None
    assert TAG not in str(agent.chat_ctx.items)


def test_a_context_that_may_not_be_changed_is_refused_with_what_to_do() -> None:
    """An agent's own context is a read-only copy."""
    agent = Agent(instructions="Be brief.", chat_ctx=llm.ChatContext(support_call()))
    with pytest.raises(TypeError, match="pass the agent itself"):
        asyncio.run(summarize(agent.chat_ctx, writer()))
    with pytest.raises(TypeError, match="must be a livekit"):
        asyncio.run(summarize(support_call(), writer()))  # type: ignore[arg-type]  # on purpose


def test_without_a_model_it_says_what_to_pass() -> None:
    """Neither an LLM nor a session that has one."""
    context = llm.ChatContext(support_call())
    with pytest.raises(ValueError, match="pass llm=, or session="):
        asyncio.run(summarize(context))
    with pytest.raises(ValueError, match="on_error"):
        asyncio.run(summarize(context, writer(), on_error="ignore"))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match="cannot write a summary"):
        asyncio.run(summarize(context, RealtimeVoice()))


def test_a_conversation_that_a_realtime_model_holds_is_refused() -> None:
    """Its server has the history; the local list is no more than a copy."""

    async def run() -> None:
        session: AgentSession[Any] = AgentSession(llm=RealtimeVoice())
        items = support_call()
        for model in (None, writer()):
            context = llm.ChatContext(items)
            outcome = await summarize(context, model, session=session, keep_last_turns=1)
            assert (outcome.changed, outcome.reason) == (False, "server_managed")
            assert "at its server, where no fold reaches" in str(outcome)
            assert "replay=" not in str(outcome)  # which this call does not take
        assert len(items) == 24

    asyncio.run(run())


def test_options_store_and_events_reach_the_fold() -> None:
    """As in every other call of chatfold's."""
    events: list[FoldEvent] = []
    store = MemoryStore()
    context = llm.ChatContext(support_call())
    model = writer()
    outcome = asyncio.run(
        summarize(
            context,
            model,
            keep_last_turns=1,
            instructions="Mind the serial number.",
            redact=lambda text: text.replace("Noor", "[name]"),
            store=store,
            key="call-7",
            on_event=events.append,
            pin=lambda item: "iPhone" in str(item),
        )
    )
    asked = model.asked[0][1]["content"]
    assert "Mind the serial number." in asked
    assert "Noor" not in asked
    assert [e.kind for e in events] == ["before", "after"]
    assert outcome.key == "call-7"
    assert "iPhone" in str(context.items[2])
    found = store.find("call-7", query="earbuds", limit=5)
    assert found
    with pytest.raises(TypeError, match="unknown option"):
        asyncio.run(summarize(context, model, unknown=1))  # type: ignore[call-arg]  # on purpose


class _Ask(AgentTask[str]):
    """Asks for one thing, and is done when the user says it."""

    async def on_user_turn_completed(self, *_: Any, **__: Any) -> None: ...

    @llm.function_tool
    async def record(self, order: str) -> None:
        """Record what the user said.

        Args:
            order: What the user said.
        """
        self.complete(order)


async def _entered(session: AgentSession[Any], kind: type[Agent]) -> None:
    """Wait until the session is with an agent of that kind, and idle."""
    async with asyncio.timeout(5):
        while not isinstance((await session.wait_for_idle()).agent, kind):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)


def test_a_task_group_hands_one_summary_to_its_caller() -> None:
    """`on_task_completed` is the place: the group's own summary is switched off."""
    turns = 0

    def answer(messages: Messages) -> Step | str:
        nonlocal turns
        if "<conversation>" in str(messages[-1]["content"]):
            return "Order LK-1 goes to Elm Street 12."
        if messages[-1]["role"] == "user" and messages[-1]["content"].startswith("It is "):
            turns += 1
            order = messages[-1]["content"].removeprefix("It is ").split(".")[0]
            return Step(calls=(Call(f"call_{turns}", "record", order),))
        return "What is it?"

    model = Model(answer)

    class Front(Agent):
        async def on_enter(self) -> None:
            group = TaskGroup(
                summarize_chat_ctx=False, on_task_completed=lambda event: fold(group, event)
            )
            for name in ("order", "address"):
                group.add(
                    lambda name=name: _Ask(instructions=f"Ask for the {name}."),
                    id=name,
                    description=name,
                )
            result = await group
            done.set_result(result.task_results)

    async def fold(group: TaskGroup, event: Any) -> None:
        outcomes.append(await summarize(group, keep_last_turns=0))

    async def run() -> Front:
        nonlocal done
        done = asyncio.get_running_loop().create_future()
        front = Front(instructions="You are at the front desk.")
        async with AgentSession(llm=model) as session:
            await session.start(front)
            for said in ("It is LK-1", "It is Elm Street 12"):
                await _entered(session, _Ask)
                await session.run(user_input=f"{said}. {_LONG}")
            async with asyncio.timeout(5):
                assert await done == {"order": "LK-1", "address": "Elm Street 12"}
            await _entered(session, Front)
        return front

    done: asyncio.Future[Any]
    outcomes: list[Any] = []
    front = asyncio.run(run())
    assert [o.reason for o in outcomes] == ["nothing_to_summarize", "summarized"]
    summaries = [i for i in front.chat_ctx.items if "Order LK-1 goes to Elm Street 12" in str(i)]
    assert len(summaries) == 1
    assert "It is LK-1" not in str([i for i in front.chat_ctx.items if i not in summaries])


@pytest.mark.parametrize(
    "lacking",
    [
        "import sys; sys.modules['livekit.agents'] = None",
        "import livekit.agents.llm as m; del m.AgentConfigUpdate",
        "import livekit.agents as m; del m.AgentSession.wait_for_idle",
    ],
)
def test_a_missing_or_older_livekit_is_told_with_the_line_to_install(lacking: str) -> None:
    """The error names the versions that do."""
    code = f"{lacking}\nimport chatfold.integrations.livekit"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert MissingExtraError.__name__ in last
    assert 'pip install "chatfold[livekit]"' in last
    assert "livekit-agents >=1.8.9,<2" in last


def test_a_wrong_argument_is_told_before_the_session_runs() -> None:
    """`fold_between_turns` checks what it is given at once."""

    async def run() -> None:
        session: AgentSession[Any] = AgentSession(llm=writer())
        with pytest.raises(TypeError, match="unknown option"):
            fold_between_turns(session, unknown=1)  # type: ignore[call-arg]  # on purpose
        shape: Any = {"shape": "openai_chat"}  # what is folded is LiveKit's
        with pytest.raises(TypeError, match=r"unknown option shape; there are .*agent_model"):
            fold_between_turns(session, **shape)
        with pytest.raises(TypeError, match=r"unknown option shape; there are .*on_error"):
            await summarize(llm.ChatContext.empty(), "extractive", **shape)
        for wrong in (5, AgentSession):
            none: Any = wrong
            with pytest.raises(TypeError, match=r"session must be a livekit.agents.AgentSession"):
                fold_between_turns(none)
            with pytest.raises(TypeError, match=r"session must be a livekit.agents.AgentSession"):
                await summarize(llm.ChatContext.empty(), "extractive", session=none)
        with pytest.raises(ValueError, match="window"):
            fold_between_turns(session, policy=Policy(fraction=0.5), agent_model="nobody-knows")
        with pytest.raises(TypeError, match="cannot write a summary"):
            fold_between_turns(session, RealtimeVoice())
        with pytest.raises(ValueError, match="leave mode= out"):
            fold_between_turns(session, mode="append", request={"model": "gpt-5"})

    asyncio.run(run())
