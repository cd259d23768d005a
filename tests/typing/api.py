"""What type checkers have to make of the public names; checked by mypy and pyright, never run.

`mypy --strict tests/typing` and `pyright tests/typing` report every line where a type differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_type

from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam

from chatfold import (
    ChatContext,
    ChatfoldError,
    Completion,
    Flow,
    InvalidResultError,
    ItemView,
    Middleware,
    MissingExtraError,
    Outcome,
    Plan,
    Policy,
    Problem,
    Prompt,
    Repair,
    RepairPolicies,
    Requirement,
    Shape,
    StaleHeadError,
    Step,
    Summarizer,
    SummarizerError,
    SummaryError,
    SummaryOptions,
    TokenCount,
    TokenCounter,
    ToolCallRecord,
    ToolRun,
    Turn,
    Usage,
    __version__,
    render_steps,
)
from chatfold.core.plan import Reason
from chatfold.stores import MemoryStore

Dict = dict[str, Any]


def the_items_keep_their_own_type(
    chat: list[ChatCompletionMessageParam], items: list[ResponseInputItemParam], mixed: list[object]
) -> None:
    """The list that comes out is the list that went in."""
    ctx = ChatContext(chat)
    assert_type(ctx, ChatContext[ChatCompletionMessageParam])
    assert_type(ctx.items, list[ChatCompletionMessageParam])
    assert_type(ChatContext(items).items, list[ResponseInputItemParam])
    assert_type(ChatContext(mixed).items, list[object])
    new: ChatContext[Dict] = ChatContext(shape="anthropic", model="claude-opus-4-6")
    assert_type(new.items, list[Dict])
    ctx.append({"role": "user", "content": "hello"})
    ctx.extend([{"role": "user", "content": "hello"}])
    ctx.items = []  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def readings(ctx: ChatContext[Dict]) -> None:
    """What is read off a list is the same for every item type."""
    assert_type(ctx.shape, Shape | None)
    assert_type(ctx.views(), Sequence[ItemView])
    assert_type(ctx.tool_calls(), list[ToolCallRecord])
    assert_type(ctx.count_tool_calls(completed_only=True), int)
    assert_type(ctx.turns(), list[Turn])
    assert_type(ctx.cut_points(lossy=True), list[int])
    assert_type(ctx.count_tokens(), TokenCount)
    assert_type(ctx.check(), list[Problem])
    assert_type(ctx.requirements(), list[Requirement])
    assert_type(ctx.request_options(), Dict)
    assert_type(len(ctx), int)


def a_record(call: ToolCallRecord, turn: Turn, count: TokenCount, problem: Problem) -> None:
    """Ids and indices may be missing; arguments are whatever JSON holds."""
    assert_type(call.id, str | None)
    assert_type(call.name, str | None)
    assert_type(call.arguments, Any)
    assert_type(call.result, str)
    assert_type(call.completed, bool)
    assert_type(call.call_index, int | None)
    assert_type(call.result_index, int | None)
    assert_type(turn.openers, tuple[int, ...])
    assert_type(turn.finished, bool)
    assert_type(count.value, int)
    assert_type(count.exact, bool)
    assert_type(problem.indices, tuple[int, ...])
    assert_type(problem.index, int)


def folding(ctx: ChatContext[Dict], client: OpenAI, other: Anthropic) -> None:
    """A plan and an outcome carry items of the list's own type."""
    plan = ctx.plan(keep_last_turns=2, keep_tokens=None, abandon=["call_1"], force=True)
    assert_type(plan, Plan[Dict])
    assert_type(plan.prompt, Prompt | None)
    assert_type(plan.head, tuple[Dict, ...])
    assert_type(plan.kept, tuple[Dict, ...])
    assert_type(plan.index, int)
    assert_type(plan.omitted, Mapping[str, int])
    outcome = ctx.apply(plan, Completion("text", "stop", Usage(1, 2)))
    assert_type(outcome, Outcome[Dict])
    assert_type(ctx.apply(plan, "text"), Outcome[Dict])
    assert_type(ctx.summarize(client, model="gpt-5-mini", keep_tokens=20_000), Outcome[Dict])
    assert_type(ctx.summarize([other, "extractive"], model="m", timeout=None), Outcome[Dict])
    assert_type(ctx.summarize(lambda prompt: "text", abandon=lambda call: True), Outcome[Dict])
    assert_type(ctx.undo(), Outcome[Dict])
    flow = ctx.flow(keep_last_turns=1, instructions="be brief")
    assert_type(flow, Flow[Outcome[Dict]])
    assert_type(flow.prompt, Prompt | None)
    assert_type(flow.outcome, Outcome[Dict] | None)
    flow.send("text")
    ctx.summarize(client, keep_last_turns="two")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ctx.summarize(client, temperature=0.5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


async def asynchronous_folding(
    ctx: ChatContext[Dict], client: AsyncOpenAI, other: AsyncAnthropic
) -> None:
    """The async twin takes the same and answers the same."""
    assert_type(await ctx.asummarize(client, model="m", wait=True), Outcome[Dict])
    assert_type(await ctx.asummarize([other], model="m", retries=0), Outcome[Dict])


def an_outcome(outcome: Outcome[Dict]) -> None:
    """What happened, and why."""
    assert_type(outcome.changed, bool)
    assert_type(outcome.summary, str | None)
    assert_type(outcome.item, Dict | None)
    assert_type(outcome.removed, tuple[Dict, ...])
    assert_type(outcome.usage, Usage | None)
    assert_type(outcome.seconds, float)
    assert_type(outcome.blocked_by, tuple[str, ...])
    assert_type(outcome.requirements, tuple[Requirement, ...])
    assert_type(outcome.problems, tuple[Problem, ...])
    assert_type(outcome.error, BaseException | None)
    assert_type(outcome.reason, Reason)
    assert_type(bool(outcome), bool)


def a_prompt(prompt: Prompt) -> None:
    """Text for most, the readings for those who want more."""
    assert_type(prompt.system, str)
    assert_type(prompt.user, str)
    assert_type(prompt.views, tuple[ItemView, ...])
    assert_type(prompt.previous_summary, str | None)
    assert_type(prompt.max_tokens, int)
    assert_type(prompt.calls, list[ToolCallRecord])


def options(items: list[Dict]) -> None:
    """The options are one TypedDict, for the context and for each call."""
    shared: SummaryOptions = {
        "timeout": 30.0,
        "retries": 0,
        "instructions": None,
        "language": "French",
        "max_summary_tokens": 400,
        "redact": str.upper,
        "post_process": str.strip,
        "templates": {"summary_note.jinja": "A record."},
        "summary_role": "user",
        "min_gain": 0.1,
    }
    ctx = ChatContext(items, pin=lambda item: "pin" in item, summary_key=b"key", **shared)
    assert_type(ctx.plan(**shared), Plan[Dict])
    assert_type(ctx.summarize("extractive", **shared), Outcome[Dict])


async def recording(items: list[ChatCompletionMessageParam], response: object) -> None:
    """What is added is of the list's own item type."""
    ctx = ChatContext(items, late_results="drop")
    assert_type(ctx.add_response(response), list[ChatCompletionMessageParam])
    tools: Mapping[str, Any] = {"look_up": str.upper}
    run = ctx.run_tool_calls(tools, timeout=5.0)
    assert_type(run, ToolRun[ChatCompletionMessageParam])
    assert_type(run.items, tuple[ChatCompletionMessageParam, ...])
    assert_type(run.not_handled, tuple[ToolCallRecord, ...])
    again = await ctx.arun_tool_calls(tools, max_concurrency=2)
    assert_type(again, ToolRun[ChatCompletionMessageParam])
    policies: RepairPolicies = {"open_calls": "keep", "orphan_results": "drop"}
    assert_type(ctx.repair(**policies), list[Repair])
    steps = ctx.steps()
    assert_type(steps[0], Step)
    assert_type(steps.skipped, int)
    assert_type(render_steps(steps, limit=5), str)
    outcome = ctx.summarize("extractive", replay=True)
    assert_type(outcome.merged, tuple[ChatCompletionMessageParam, ...])


class Mine:
    """A summarizer and a counter of the user's own."""

    exact = True

    def complete(self, prompt: Prompt) -> Completion:
        return Completion(prompt.user[:10])

    async def acomplete(self, prompt: Prompt) -> Completion:
        return Completion(prompt.user[:10])

    def count(self, text: str) -> int:
        return len(text)


def protocols(items: list[Dict]) -> None:
    """Users implement them without inheriting."""
    summarizer: Summarizer = Mine()
    counter: TokenCounter = Mine()
    ctx = ChatContext(items, counter=counter, undo_depth=3, server_managed=False)
    assert_type(ctx.summarize(summarizer), Outcome[Dict])
    version: str = __version__
    print(version)


async def a_host(chat: list[ChatCompletionMessageParam], items: list[Dict], llm: str) -> None:
    """What a middleware is made of seldom says what the items are; a host may, or leave it out."""
    middleware = Middleware("extractive", Policy(max_tokens=2_000, keep_tokens=500), MemoryStore())
    assert_type(middleware, Middleware[Any])
    folded = middleware.fold(items, key="conversation 17")
    assert_type(folded.items, list[Any])
    assert_type(folded.outcome, Outcome[Any])
    sent: list[ChatCompletionMessageParam] = middleware(chat, key="conversation 17")
    more: list[ChatCompletionMessageParam] = await Middleware(llm, background=True).acall(sent)
    said = Middleware[ChatCompletionMessageParam](llm, pin=lambda item: item["role"] == "developer")
    assert_type((await said.afold(more)).items, list[ChatCompletionMessageParam])
    told: Middleware[Dict] = Middleware(llm)
    assert_type(told(items), list[Dict])

    def pinned(item: Dict) -> bool:
        return "pin" in item

    assert_type(Middleware(llm, pin=pinned), Middleware[Dict])


def errors(items: list[Dict]) -> None:
    """Every error is of one tree, and carries data."""
    try:
        ChatContext(items).summarize("extractive")
    except StaleHeadError as error:
        assert_type(error.index, int | None)
    except InvalidResultError as error:
        assert_type(error.problems, tuple[Problem, ...])
    except SummarizerError as error:
        assert_type(error.overflow, bool)
    except SummaryError as error:
        assert_type(error.usage, Usage | None)
    except MissingExtraError as error:
        assert_type(error.extra, str)
    except ChatfoldError as error:
        assert_type(error.llm_calls, int)
