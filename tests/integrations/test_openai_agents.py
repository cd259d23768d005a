"""`chatfold_filter` in runs of the real OpenAI Agents SDK, with the SDK's own test model."""

from __future__ import annotations

import asyncio
import gc
import json
import re
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")

from agents import Agent, ModelProvider, RunConfig, Runner, RunState, SQLiteSession, function_tool
from agents.exceptions import ModelBehaviorError
from agents.run_config import CallModelData, ModelInputData
from agents.testing import function_call
from agents.tracing import TracingProcessor, set_trace_processors
from integrations.agents_desk import SMALL, Desk, agent, ask, says, summaries, talk, text_of
from logs import records
from openai.types.responses import ResponseReasoningItem
from validator import validate

from chatfold import ChatContext, Completion, FoldEvent, Policy, Prompt
from chatfold.events import Attempt
from chatfold.integrations._openai_agents.watch import Watch
from chatfold.integrations.openai_agents import chatfold_filter
from chatfold.stores import MemoryStore

EAGER = Policy(max_items=6, max_tokens=100_000, keep_tokens=300, keep_last_turns=1, min_gain=0.0)


def config(fold: Any, **options: Any) -> RunConfig:
    return RunConfig(call_model_input_filter=fold, **options)


class Names(ModelProvider):
    """A provider that knows models by their names, and keeps which it was asked for."""

    def __init__(self, **models: Any) -> None:
        self.models = models
        self.asked: list[str | None] = []

    def get_model(self, model_name: str | None) -> Any:
        self.asked.append(model_name)
        return self.models[model_name or "usual"]


class Spans(TracingProcessor):
    """Keeps the spans that ended."""

    def __init__(self) -> None:
        self.ended: list[Any] = []

    def on_span_end(self, span: Any) -> None:
        self.ended.append(span)

    def on_trace_start(self, trace: Any) -> None: ...
    def on_trace_end(self, trace: Any) -> None: ...
    def on_span_start(self, span: Any) -> None: ...
    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...


# --- what the model sees, and what the run keeps --------------------------------------------------


def test_the_model_sees_the_fold_and_the_session_keeps_everything() -> None:
    """One summary stands for the old turns; what the user says now is there as he said it."""
    model, session = Desk("what came before"), SQLiteSession("one")
    fold = chatfold_filter(policy=SMALL)
    for number in range(12):
        ask(agent(model), f"question {number}", session=session, run_config=config(fold))
    kept = asyncio.run(session.get_items())
    assert len(kept) == 24
    assert summaries(kept) == 0
    last = model.requests[-1]
    assert len(last) < len(kept) / 1.5
    assert summaries(last) == 1
    assert last[-1]["content"] == "question 11"
    assert model.prompts


def test_what_was_folded_is_found_again_in_later_runs() -> None:
    """Runs that are given the list of the last one ask for no second summary of the same turns."""
    model, fold = Desk(), chatfold_filter(policy=EAGER)
    given = talk(8)
    for number in range(2):
        result = ask(agent(model), [*given, *talk(1, f"n{number}-")[:1]], run_config=config(fold))
        given = result.to_input_list()
        assert summaries(given) == 0
    assert len(model.prompts) == 1
    assert model.requests[0][0] == model.requests[1][0]


def test_a_fold_inside_of_a_run_keeps_the_request_and_every_call_with_its_result() -> None:
    """Tool calls of one long turn are folded while it runs."""
    model = Desk()

    def act(items: list[Any]) -> list[Any]:
        count = len(model.requests)
        if count > 12:
            return [says("done", count)]
        return [
            function_call("lookup", {"order": f"{count}-{n}"}, call_id=f"c{count}{n}") for n in "ab"
        ]

    model.act = act
    asked = "look at all of them"
    fold = chatfold_filter(policy=SMALL)
    result = ask(agent(model), asked, max_turns=20, run_config=config(fold))
    assert result.final_output == "done"
    assert len(model.prompts) > 1
    for request in model.requests:
        assert "look at all of them" in text_of(request)
    assert summaries(model.requests[-1]) == 1
    assert len(result.new_items) == 49


def test_runs_side_by_side_do_not_mix() -> None:
    """Twelve conversations of one filter, whose summaries say which conversation they are of."""

    async def own(prompt: Prompt) -> str:
        await asyncio.sleep(0.01)
        marks = set(re.findall(r"m-\d+-", prompt.user))
        return f"about {sorted(marks)}"

    fold, model = chatfold_filter(own, EAGER), Desk()

    async def converse(mark: str) -> None:
        given: list[Any] = talk(6, f"m-{mark} ")
        for number in range(3):
            asked = {"role": "user", "content": f"m-{mark} again {number}"}
            result = await Runner.run(agent(model), [*given, asked], run_config=config(fold))
            given = result.to_input_list()

    async def all_of_them() -> None:
        await asyncio.gather(*(converse(f"{n}-") for n in range(12)))

    asyncio.run(all_of_them())
    assert len(model.requests) == 36
    for request in model.requests:
        assert len(set(re.findall(r"m-\d+-", text_of(request)))) == 1
        assert summaries(request) == 1


@pytest.mark.parametrize("streamed", [False, True])
def test_usage_is_the_runs_and_a_stream_holds_nothing_of_the_summary(streamed: bool) -> None:
    """The summary's request and tokens are in the run's usage; its words are in no event."""
    model, fold = Desk(), chatfold_filter(policy=EAGER)

    async def run() -> tuple[Any, str]:
        if not streamed:
            return await Runner.run(agent(model), talk(8)[:-1], run_config=config(fold)), ""
        result = Runner.run_streamed(agent(model), talk(8)[:-1], run_config=config(fold))
        return result, "".join([repr(event) async for event in result.stream_events()])

    result, events = asyncio.run(run())
    assert len(model.prompts) == 1
    usage = result.context_wrapper.usage
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (2, 150, 15)
    assert [entry.input_tokens for entry in usage.request_usage_entries] == [50, 100]
    assert bool(events) == streamed
    assert model.summary not in events


def test_a_trace_shows_the_fold_in_numbers_and_the_models_call_inside_of_it() -> None:
    """The fold's span stands in the agent's turn, and says nothing of the conversation."""
    spans, model = Spans(), Desk("secret words")
    set_trace_processors([spans])
    try:
        ask(agent(model), talk(8)[:-1], run_config=config(chatfold_filter(policy=EAGER)))
    finally:
        set_trace_processors([])
    folds = [span for span in spans.ended if getattr(span.span_data, "name", "") == "chatfold.fold"]
    assert len(folds) == 1
    data = folds[0].span_data.data
    assert data["reason"] == "summarized"
    assert (data["llm_calls"], data["input_tokens"], data["output_tokens"]) == (1, 50, 5)
    assert data["tokens_after"] < data["tokens_before"]
    assert "secret" not in text_of(data)
    inside = [span for span in spans.ended if span.parent_id == folds[0].span_id]
    assert [span.span_data.type for span in inside] == ["generation"]
    assert folds[0].parent_id is not None


def test_the_users_hook_is_told_and_may_forbid_the_fold() -> None:
    told: list[FoldEvent] = []

    def hook(event: FoldEvent) -> bool:
        told.append(event)
        return event.kind != "before"

    model = Desk()
    ask(agent(model), talk(8)[:-1], run_config=config(chatfold_filter(policy=EAGER, on_event=hook)))
    assert [event.kind for event in told] == ["before"]
    assert summaries(model.requests[-1]) == 0
    assert model.prompts == []


# --- handoffs, approvals, reasoning, items of the provider ----------------------------------------


@pytest.mark.parametrize("nested", [False, True])
def test_a_handoff_goes_on_with_the_fold_and_the_new_agents_own_model(nested: bool) -> None:
    """What one agent's model has summarized, the next agent's request begins with."""
    first, second = Desk("first wrote this"), Desk("second wrote this")
    returns = agent(second, "returns")
    triage = agent(first, "triage", handoffs=[returns])
    first.act = first.call(("transfer_to_returns", {}))
    fold = chatfold_filter(policy=EAGER)
    run_config = config(fold, nest_handoff_history=nested)
    result = ask(triage, [*talk(6), *talk(1, "now ")[:1]], run_config=run_config)
    assert result.last_agent is returns
    assert len(first.prompts) == 1
    assert "first wrote this" in text_of(first.requests[-1])
    if not nested:  # else the SDK has made one message of what came before
        assert "first wrote this" in text_of(second.requests[-1])
        assert second.prompts == []
        assert "transfer_to_returns" in text_of(second.requests[-1])
    else:
        assert "user now 0" in text_of(second.requests[-1])
    later = [*result.to_input_list(), *talk(8, "later ")[:-1]]
    ask(returns, later, run_config=run_config)
    assert len(second.prompts) == 1
    assert "second wrote this" in text_of(second.requests[-1])


@pytest.mark.parametrize("says_so", [False, True])
def test_the_question_of_a_nested_handoff_stays_until_the_user_goes_on(says_so: bool) -> None:
    """The SDK hands the next agent all that was said in one message: the question is in there."""
    first, second = Desk(), Desk("They spoke about parcels.")
    returns = agent(second, "returns")
    triage = agent(first, "triage", handoffs=[returns])
    fold = chatfold_filter(lambda prompt: "They spoke about parcels.", SMALL)
    run_config = config(fold, nest_handoff_history=True)
    session = SQLiteSession("nested")
    for number in range(9):
        ask(triage, f"question {number}", session=session, run_config=run_config)

    def hand_over(items: list[Any]) -> list[Any]:
        words = [says("I will ask a colleague.", 99)] if says_so else []
        return [*words, function_call("transfer_to_returns", {}, call_id="h", item_id="fc_h")]

    def act(items: list[Any]) -> list[Any]:
        count = len(second.requests)
        if count > 6:
            return [says("gedaan", count)]
        return [function_call("lookup", {"order": f"{count}"}, call_id=f"c{count}")]

    first.act, second.act = hand_over, act
    asked = "Please refund 17.30 euros, and tell me in Dutch why the box was late."
    result = ask(triage, asked, session=session, run_config=run_config)
    assert result.last_agent is returns
    assert len(second.requests) == 7
    assert all(asked in text_of(request) for request in second.requests)
    assert summaries(second.requests[-1]) == 1
    second.act = second.say
    ask(returns, [*result.to_input_list(), *talk(1, "later ")[:1]], run_config=run_config)
    assert asked not in text_of(second.requests[-1])
    assert summaries(second.requests[-1]) == 1


def test_what_was_retold_is_history_once_it_is_answered() -> None:
    """Also for a cut within the turn."""
    said = "For context, here is the conversation so far:\n" + "1. user: story\n" * 400
    retold = {"role": "assistant", "content": said}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    work = [call, {"type": "function_call_output", "call_id": "c", "output": "ok " * 200}]
    ctx: ChatContext[Any]
    ctx = ChatContext([retold, *work, talk(1)[1]], shape="openai_responses")
    assert ctx.turns()[-1].openers == ()
    assert ctx.summarize(lambda prompt: "They talked.", keep_tokens=20).changed
    assert retold not in ctx.items
    ctx = ChatContext([retold, *work], shape="openai_responses")
    ctx.summarize(lambda prompt: "They talked.", keep_tokens=20)
    assert retold in ctx.items


def test_a_nested_handoff_over_the_limit_goes_as_it_is_and_the_outcome_says_so() -> None:
    events: list[FoldEvent] = []
    first, second = Desk(), Desk()
    returns = agent(second, "returns")
    first.act = first.call(("transfer_to_returns", {}))
    tight = Policy(max_tokens=300, keep_tokens=20, min_gain=0.0)
    fold = chatfold_filter(lambda prompt: "They talked.", tight, on_event=events.append)
    triage = agent(first, "triage", handoffs=[returns])
    run_config = config(fold, nest_handoff_history=True)
    ask(triage, [*talk(6), *talk(1, "now ")[:1]], run_config=run_config)
    assert "user now 0" in text_of(second.requests[-1])
    assert summaries(second.requests[-1]) == 0
    told = events[-1].outcome
    assert told is not None
    assert (told.changed, told.reason, told.over_limit) == (False, "nothing_to_summarize", True)


def test_a_handoff_to_a_model_of_another_window_takes_the_fold_along() -> None:
    first, second = Desk("first wrote this", "gpt-5"), Desk("second", "gpt-4o")
    returns = agent(second, "returns")
    first.act = first.call(("transfer_to_returns", {}))
    triage = agent(first, "triage", handoffs=[returns])
    ask(triage, [*talk(6), *talk(1, "now ")[:1]], run_config=config(chatfold_filter(policy=EAGER)))
    assert "first wrote this" in text_of(second.requests[-1])
    assert (len(first.prompts), len(second.prompts)) == (1, 0)


def test_a_call_that_waits_for_approval_survives_the_state_as_json_and_the_fold() -> None:
    """The run is interrupted, written down, read again by another process, allowed, and goes on."""
    done: list[str] = []

    @function_tool(needs_approval=True)
    async def refund(order: str) -> str:
        """Refund an order."""
        done.append(order)
        return f"refunded {order}"

    def desk(model: Any) -> Agent[Any]:
        return Agent(name="desk", model=model, tools=[refund])

    async def run() -> Any:
        model = Desk()
        model.act = model.call(("refund", {"order": "LK-7"}))
        asked = [*talk(8), {"role": "user", "content": "refund LK-7"}]
        fold = chatfold_filter(policy=EAGER)
        result = await Runner.run(desk(model), asked, run_config=config(fold))
        assert len(result.interruptions) == 1
        written = json.dumps(result.to_state().to_json())
        assert len(model.prompts) == 1

        other = Desk()
        state = await RunState.from_json(desk(other), json.loads(written))
        state.approve(state.get_interruptions()[0])
        fold = chatfold_filter(policy=EAGER)
        return other, await Runner.run(desk(other), state, run_config=config(fold))

    model, result = asyncio.run(run())
    assert done == ["LK-7"]
    assert result.interruptions == []
    last = model.requests[-1]
    assert summaries(last) == 1
    assert [item.get("type") for item in last[-2:]] == ["function_call", "function_call_output"]
    assert "refund LK-7" in text_of(last)


def test_reasoning_stays_with_what_it_belongs_to() -> None:
    """Every request in which reasoning stands has its call too; the validator looks at both."""
    model = Desk()

    def act(items: list[Any]) -> list[Any]:
        count = len(model.requests)
        if count % 4 == 0:
            return [says(f"said {count} " + "words " * 40, count)]
        thought = ResponseReasoningItem(id=f"rs_{count}", summary=[], type="reasoning")
        call = function_call(
            "lookup", {"order": str(count)}, call_id=f"c{count}", item_id=f"fc_{count}"
        )
        return [thought, call]

    model.act = act
    session, fold = SQLiteSession("thinking"), chatfold_filter(policy=SMALL)
    for number in range(5):
        ask(agent(model), f"think {number}", session=session, run_config=config(fold))
    assert len(model.prompts) > 1
    assert any("rs_" in text_of(request) for request in model.requests[8:])


def test_what_the_provider_has_folded_itself_stays_as_it_is() -> None:
    """A compaction item is not read, not moved, and nothing before it is taken away."""
    sealed = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2VhbGVk"}
    model = Desk()
    given = [*talk(2), sealed, *talk(8, "since ")[:-1]]
    ask(agent(model), given, run_config=config(chatfold_filter(policy=EAGER)))
    assert [item for item in model.requests[-1] if item.get("type") == "compaction"] == [sealed]
    assert all("c2VhbGVk" not in text_of(prompt.input) for prompt in model.prompts)


def test_approvals_of_a_hosted_mcp_server_keep_their_answers() -> None:
    """A request for approval and its answer stay together; one that waits for an answer stays."""

    def wanted(number: int) -> dict[str, Any]:
        return {
            "type": "mcp_approval_request",
            "id": f"mcpr_{number}",
            "name": "pay",
            "arguments": "{}",
            "server_label": "bank",
        }

    given = talk(3)
    for number in range(4):
        given += [wanted(number)]
        given += [
            {
                "type": "mcp_approval_response",
                "approval_request_id": f"mcpr_{number}",
                "approve": True,
            }
        ]
        given += talk(1, f"after {number} ")
    fold = chatfold_filter(Desk(), EAGER)
    for tail in ([], [wanted(9)]):
        data = CallModelData(ModelInputData([*given, *tail], None), agent(Desk()), None)
        seen = asyncio.run(_awaited(fold(data))).input
        assert summaries(seen) == 1
        assert not [found for found in validate(seen, "openai_responses") if not found.open]
        assert ("mcpr_9" in text_of(seen)) == bool(tail)


async def _awaited(value: Any) -> Any:
    return await value


# --- histories that the server holds --------------------------------------------------------------


@pytest.mark.parametrize(
    "managed", [{"previous_response_id": "resp_0"}, {"conversation_id": "conv_0"}]
)
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("replay", [False, True])
def test_a_run_whose_history_the_server_holds_is_refused_once_and_goes_on(
    managed: dict[str, str], streamed: bool, replay: bool
) -> None:
    """Nothing is folded, the reason is told with its remedy, and the request is as it was."""
    told: list[FoldEvent] = []
    model = Desk()
    fold = chatfold_filter(policy=EAGER, on_event=told.append, replay=replay)
    model.act = lambda items: model.call(("lookup", {"order": "LK-1"}))(items)

    async def run() -> Any:
        given, options = talk(8)[:-1], {"run_config": config(fold), **managed}
        if not streamed:
            return await Runner.run(agent(model), given, **options)
        result = Runner.run_streamed(agent(model), given, **options)
        async for _ in result.stream_events():
            pass
        return result

    with records() as logged:
        result = asyncio.run(run())
    assert result.final_output.startswith("answer")
    assert [len(call.input) for call in model.calls] == [15, 1]
    assert model.prompts == []
    assert [(event.kind, event.outcome.reason) for event in told if event.outcome is not None] == [
        ("skipped", "server_managed")
    ]
    warned = [record for record in logged if record.name == "chatfold"]
    assert len(warned) == 1
    assert next(iter(managed)) in warned[0].getMessage()


# --- who writes the summary -----------------------------------------------------------------------


def test_the_agents_own_model_is_the_runs_where_that_has_one() -> None:
    """As the Runner has it: the run's model, its name by the run's provider, then the agent's."""
    own, other = Desk("own"), Desk("other")
    given = talk(8)[:-1]
    ask(agent(own), given, run_config=config(chatfold_filter(policy=EAGER), model=other))
    assert (len(own.prompts), len(other.prompts)) == (0, 1)

    names = Names(small=own, usual=other)
    ask(
        agent("small"),
        given,
        run_config=config(chatfold_filter(policy=EAGER), model_provider=names),
    )
    assert (len(own.prompts), len(other.prompts)) == (1, 1)
    ask(agent(None), given, run_config=config(chatfold_filter(policy=EAGER), model_provider=names))
    assert (len(own.prompts), len(other.prompts)) == (1, 2)


def test_a_models_name_is_looked_up_by_the_runs_provider() -> None:
    writer, model = Desk("the writer's"), Desk()
    names = Names(writer=writer)
    fold = chatfold_filter("writer", EAGER)
    ask(agent(model), talk(8)[:-1], run_config=config(fold, model_provider=names))
    assert names.asked == ["writer"]
    assert "the writer's" in text_of(model.requests[-1])
    assert model.prompts == []


def failing(_: Prompt) -> str:
    raise ConnectionError("no way")


@pytest.mark.parametrize(
    "llm",
    [
        Desk("by hand"),
        lambda prompt: Completion("by hand"),
        [failing, Desk("by hand")],
        [Desk(""), lambda prompt: "by hand"],
    ],
    ids=["a model", "a function", "a chain that ends with a model", "one that begins with one"],
)
def test_whatever_answers_can_write_the_summary(llm: Any) -> None:
    model = Desk("not this one")
    ask(agent(model), talk(8)[:-1], run_config=config(chatfold_filter(llm, EAGER)))
    assert "by hand" in text_of(model.requests[-1])
    assert model.prompts == []


def test_a_summary_is_asked_for_without_tools_and_with_what_the_gateway_needs() -> None:
    from agents import ModelSettings

    model = Desk()
    own = ModelSettings(temperature=0.3, tool_choice="required", extra_headers={"x-tenant": "7"})
    ask(
        agent(model, model_settings=own),
        talk(8)[:-1],
        run_config=config(chatfold_filter(policy=EAGER), trace_include_sensitive_data=False),
    )
    call = model.prompts[0]
    assert (call.tools, call.handoffs, call.output_schema) == ([], [], None)
    assert call.model_settings.tool_choice is None
    assert call.model_settings.temperature is None
    assert call.model_settings.extra_headers == {"x-tenant": "7"}
    assert call.tracing.value == 2
    assert "<conversation>" in call.input


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ([], "EmptySummaryError"),
        ([function_call("lookup", {"order": "1"}, call_id="c")], "NoAnswerError"),
        (ModelBehaviorError("ended (reason=max_output_tokens)"), "TruncatedSummaryError"),
        (ModelBehaviorError("ended (reason=content_filter)"), "RefusedSummaryError"),
        (ModelBehaviorError("what is this"), "SummarizerError"),
        (RuntimeError("down"), "SummarizerError"),
    ],
)
def test_what_is_no_summary_is_reported_and_the_turn_goes_on_unfolded(
    answer: Any, error: str
) -> None:
    told: list[FoldEvent] = []

    class Bad(Desk):
        async def get_response(self, *arguments: Any, **options: Any) -> Any:
            if not isinstance(answer, Exception):
                from agents import ModelResponse
                from integrations.agents_desk import spent

                return ModelResponse(output=answer, usage=spent(50, 5), response_id=None)
            raise answer

    model = Desk()
    fold = chatfold_filter(Bad(), EAGER, on_event=told.append)
    result = ask(agent(model), talk(8)[:-1], run_config=config(fold))
    assert result.final_output
    assert len(model.requests[-1]) == 15
    assert told[-1].kind == "failed"
    outcome = told[-1].outcome
    assert outcome is not None
    assert type(outcome.error).__name__ == error
    if not isinstance(answer, Exception):  # what was spent is in the run's usage all the same
        assert result.context_wrapper.usage.input_tokens == 100 + 50 * outcome.llm_calls


def test_a_hanging_model_delays_the_turn_by_its_time_out_and_no_more() -> None:
    slow, model = Desk(), Desk()
    slow.delay = 30.0
    fold = chatfold_filter(slow, EAGER, timeout=0.1)

    async def run() -> float:
        begun = asyncio.get_running_loop().time()
        await Runner.run(agent(model), talk(8)[:-1], run_config=config(fold))
        return asyncio.get_running_loop().time() - begun

    assert asyncio.run(run()) < 5
    assert len(model.requests[-1]) == 15


def test_an_error_is_raised_where_that_is_wanted() -> None:
    fold = chatfold_filter(failing, EAGER, on_error="raise")
    with pytest.raises(Exception, match="no way"):
        ask(agent(Desk()), talk(8)[:-1], run_config=config(fold))


def test_in_the_background_no_turn_waits() -> None:
    """The turn that begins a fold is answered before the summary is there; the next one has it."""
    slow, model = Desk("in the background"), Desk()
    slow.delay = 0.3
    fold = chatfold_filter(slow, EAGER, background=True)

    async def run() -> Any:
        first = await Runner.run(agent(model), talk(8)[:-1], run_config=config(fold))
        assert slow.prompts == [] or summaries(model.requests[-1]) == 0
        await asyncio.sleep(1.5)
        given = [*first.to_input_list(), {"role": "user", "content": "and now?"}]
        return await Runner.run(agent(model), given, run_config=config(fold))

    result = asyncio.run(run())
    assert summaries(model.requests[0]) == 0
    assert summaries(model.requests[1]) == 1
    assert "in the background" in text_of(model.requests[1])
    assert result.context_wrapper.usage.input_tokens == 150  # the run that was given the fold


def test_a_summary_that_is_given_to_no_run_is_told_with_its_cost() -> None:
    """The filter is made anew at each request, and one run is not billed for another's."""
    slow, model, store = Desk("in the background"), Desk(), MemoryStore()
    told: list[FoldEvent] = []

    async def run() -> list[int]:
        usages = []
        for _ in range(2):
            fold = chatfold_filter(
                slow, EAGER, background=True, store=store, key="k", on_event=told.append
            )
            given = await Runner.run(agent(model), talk(8)[:-1], run_config=config(fold))
            usages.append(given.context_wrapper.usage.input_tokens)
            await asyncio.sleep(1)
        return usages

    assert asyncio.run(run()) == [100, 100]
    assert [event.kind for event in told] == ["before", "after"]
    assert told[1].outcome is not None
    assert told[1].outcome.usage is not None
    assert told[1].outcome.usage.input_tokens == 50
    assert summaries(model.requests[1]) == 1


# --- names, stores, arguments ---------------------------------------------------------------------


def test_a_conversation_is_named_by_its_key_its_session_or_its_group() -> None:
    """With a store that others share; what one name has folded, no other finds."""
    store, model = MemoryStore(), Desk()
    data: list[Any] = []

    def by_context(given: CallModelData[Any]) -> str:
        data.append(given)
        return str(given.context)

    given = talk(8)[:-1]
    for fold, options, count in (
        (chatfold_filter(policy=EAGER, store=store, key="a"), {}, 1),
        (chatfold_filter(policy=EAGER, store=store, key="a"), {}, 1),
        (chatfold_filter(policy=EAGER, store=store, key="b"), {}, 2),
        (chatfold_filter(policy=EAGER, store=store, key=by_context), {"context": "b"}, 2),
        (chatfold_filter(policy=EAGER, store=store, key=by_context), {"context": "c"}, 3),
    ):
        ask(agent(model), given, run_config=config(fold), **options)
        assert len(model.prompts) == count
    assert data[0].agent.name == "desk"
    for name, count in (("b", 3), ("d", 4)):
        fold = chatfold_filter(policy=EAGER, store=store)
        ask(agent(model), given, run_config=config(fold, group_id=name))
        assert len(model.prompts) == count
        fold = chatfold_filter(policy=EAGER, store=store)
        session = SQLiteSession(name)
        ask(agent(model), given, run_config=config(fold), session=session)
        assert len(model.prompts) == count


def test_a_shared_store_wants_a_name(tmp_path: Path) -> None:
    from chatfold.stores import SQLStore

    fold = chatfold_filter(policy=EAGER, store=SQLStore(tmp_path / "folds.db"))
    with pytest.raises(ValueError, match=r"key= is required.*session=.*group_id=.*chatfold_filter"):
        ask(agent(Desk()), talk(8)[:-1], run_config=config(fold))


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        ({"unknown": 1}, TypeError, "unknown"),
        ({"llm": 42}, TypeError, "cannot summarize with int"),
        ({"key": 42}, TypeError, "key must be"),
        ({"store": 42}, TypeError, "store must be"),
        ({"timeout": -1}, ValueError, "timeout"),
        ({"on_error": "shout"}, ValueError, "on_error"),
        ({"mode": "append", "request": {"model": "gpt-5"}}, ValueError, "append"),
        ({"model": "gpt-5"}, TypeError, "model= goes with a client"),
        ({"sessions": 0}, ValueError, "sessions"),
    ],
)
def test_wrong_arguments_are_told_at_once(
    wrong: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        chatfold_filter(**wrong)


def test_a_filter_outside_of_any_run_folds_as_well() -> None:
    """Called by a filter of the user's own, or by a test: less is known, and nothing breaks."""
    model = Desk()
    fold = chatfold_filter(policy=EAGER)
    data = CallModelData(ModelInputData(talk(8), "be kind"), agent(model), None)
    seen = asyncio.run(_awaited(fold(data)))
    assert seen.instructions == "be kind"
    assert summaries(seen.input) == 1
    assert len(model.prompts) == 1
    nothing = CallModelData(ModelInputData([], None), agent(model), None)
    assert asyncio.run(_awaited(fold(nothing))).input == []


def test_a_filter_inside_of_the_users_own_still_sees_the_run() -> None:
    model, fold = Desk(), chatfold_filter(policy=EAGER)

    async def mine(data: CallModelData[Any]) -> ModelInputData:
        await asyncio.sleep(0)
        return await fold(data)

    result = ask(agent(model), talk(8)[:-1], run_config=config(mine))
    assert result.context_wrapper.usage.requests == 2
    assert summaries(model.requests[-1]) == 1


def test_what_a_hook_answers_is_held_for_as_long_as_the_fold_is_tried() -> None:
    """`Telemetry` tells by it that a fold goes on, also behind the call that began it."""

    class Held:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    answers: list[ref[Held]] = []

    def hook(event: FoldEvent) -> Held:
        made = Held()
        answers.append(ref(made))
        return made

    with Attempt(Watch(hook)) as attempt:
        assert attempt.allowed(lambda: 10)
    gc.collect()
    assert answers[0]() is not None
    del attempt
    gc.collect()
    assert answers[0]() is None


def test_a_filter_is_told_what_is_wrong_at_once() -> None:
    """And is told of its own arguments, not of those of what it uses."""
    given: Any = {"shape": "openai_chat"}
    with pytest.raises(TypeError, match=r"unknown option shape; there are .* key, .* replay,"):
        chatfold_filter(**given)
    with pytest.raises(ValueError, match="the list of summarizers is empty"):
        chatfold_filter([])
    with pytest.raises(ValueError, match="no summarizer is named ''"):
        chatfold_filter("")
    with pytest.raises(ValueError, match="a key must not be empty"):
        chatfold_filter(key="")
