"""What a hook is told of folds: one end for each beginning, and what it has entered is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import pytest
from background import Gate, finished, until
from each_turn import Model, context, failing, maybe
from logs import records

from chatfold import (
    BusyError,
    ChatContext,
    Completion,
    EmptySummaryError,
    MissingExtraError,
    Outcome,
    Prompt,
    StaleHeadError,
    SummarizerError,
    Usage,
)
from chatfold.events import FoldEvent
from chatfold.policy import Policy

WAYS = pytest.mark.parametrize(
    "way", ["summarize", "asummarize", "maybe_summarize", "amaybe_summarize"]
)
SYNC = pytest.mark.parametrize("way", ["summarize", "maybe_summarize"])
ASYNC = pytest.mark.parametrize("way", ["asummarize", "amaybe_summarize"])

UNDER_WAY: ContextVar[str] = ContextVar("UNDER_WAY", default="nothing")


class Hook:
    """Keeps what it is told, and is under way from before a fold until the call has done its part.

    Args:
        enters: An error that it raises when it is entered.
        leaves: An error that it raises when it is left.
    """

    def __init__(
        self, *, enters: BaseException | None = None, leaves: Exception | None = None
    ) -> None:
        self.enters = enters
        self.leaves = leaves
        self.events: list[FoldEvent] = []
        self.raised: list[BaseException | None] = []

    @property
    def told(self) -> list[tuple[str, str | None]]:
        return [(e.kind, None if e.outcome is None else e.outcome.reason) for e in self.events]

    def __call__(self, event: FoldEvent) -> Any:
        self.events.append(event)
        return self._under_way(event.id) if event.kind == "before" else None

    @contextmanager
    def _under_way(self, name: str) -> Any:
        if self.enters is not None:
            raise self.enters
        token, error = UNDER_WAY.set(name), None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            UNDER_WAY.reset(token)
            self.raised.append(error)
            if self.leaves is not None:
                raise self.leaves


class Seen(Model):
    """A model that notes what is under way when it is asked."""

    def __init__(self, *, error: BaseException | None = None) -> None:
        super().__init__(error=error)
        self.under_way: list[str] = []

    def __call__(self, prompt: Prompt) -> Any:
        self.under_way.append(UNDER_WAY.get())
        return super().__call__(prompt)


def fold(way: str, ctx: ChatContext[Any], llm: Any, **options: Any) -> Outcome[Any]:
    """Fold in one of four ways."""
    if "maybe" in way:
        return maybe(way, ctx, llm, **options)
    if way == "summarize":
        return ctx.summarize(llm, **options)
    return asyncio.run(ctx.asummarize(llm, **options))


# --- one end for each beginning -------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("timeout", [None, 30])
def test_what_a_hook_enters_is_under_way_while_the_model_is_asked(
    way: str, timeout: float | None
) -> None:
    """In the caller's thread, and in that of a function with a time-out; not after the call."""
    hook, model = Hook(), Seen()
    outcome = fold(way, context(10), model, on_event=hook, timeout=timeout)
    assert outcome.changed
    before, after = hook.events
    assert (before.tokens, after.tokens) == (outcome.tokens_before, outcome.tokens_after)
    assert hook.told == [("before", None), ("after", "summarized")]
    assert before.id == after.id
    assert model.under_way == [before.id]
    assert UNDER_WAY.get() == "nothing"
    assert hook.raised == [None]


@WAYS
def test_a_failed_fold_has_one_end(way: str) -> None:
    hook, model = Hook(), Seen(error=failing())
    with suppress(type(failing())):
        fold(way, context(10), model, on_event=hook)
    assert hook.told == [("before", None), ("failed", "failed")]
    assert UNDER_WAY.get() == "nothing"


@WAYS
def test_a_fold_that_is_skipped_has_one_end(way: str) -> None:
    hook = Hook()
    items = [{"role": "user", "content": "w " * 2_000}]
    policy = Policy(max_items=1, keep_last_turns=2)
    fold(way, ChatContext(items, policy=policy), Seen(), on_event=hook)
    assert hook.told == [("before", None), ("skipped", "too_few_turns")]


@SYNC
@pytest.mark.parametrize(
    ("error", "end"),
    [
        (KeyboardInterrupt(), ("skipped", "cancelled")),
        (MemoryError("of whoever made it"), ("failed", "failed")),
    ],
    ids=["interrupted", "broken"],
)
def test_a_fold_that_something_else_has_ended_has_one_end(
    way: str, error: BaseException, end: tuple[str, str]
) -> None:
    """What no fold raises of itself comes out as it is; the hook is told, and left."""

    def cut(text: str) -> str:
        raise error

    hook, ctx = Hook(), context(10)
    with pytest.raises(type(error)) as caught:
        fold(way, ctx, Seen(), on_event=hook, redact=cut)
    assert caught.value is error
    assert hook.told == [("before", None), end]
    assert hook.raised == [error]
    assert UNDER_WAY.get() == "nothing"
    hook.events.clear()
    now = way.replace("maybe_", "")  # a policy waits after an error
    assert fold(now, ctx, Seen(), on_event=hook).changed  # nothing is held


@ASYNC
def test_a_fold_that_is_cancelled_has_one_end(way: str) -> None:
    async def main() -> None:
        hook, gate, ctx = Hook(), Gate(), context(10)
        call = ctx.asummarize if way == "asummarize" else ctx.amaybe_summarize
        task = asyncio.create_task(call(gate.awaited, on_event=hook))
        await until(gate.asked.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert hook.told == [("before", None), ("skipped", "cancelled")]
        assert isinstance(hook.raised[0], asyncio.CancelledError)
        assert len(ctx.items) == 20

    asyncio.run(main())


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("summarize", [("before", None), ("failed", "failed")]),
        ("maybe_summarize", []),  # checked before the policy is asked
    ],
)
def test_wrong_arguments_have_no_beginning_without_an_end(way: str, told: list[Any]) -> None:
    hook = Hook()
    with pytest.raises(TypeError, match="await"):
        fold(way, context(10), Gate().awaited, on_event=hook)
    assert hook.told == told
    assert UNDER_WAY.get() == "nothing"


@WAYS
def test_a_list_that_another_call_is_folding_has_one_end(way: str) -> None:
    hook, ctx = Hook(), context(10)
    with ctx._state.alone("a test"):
        assert fold(way, ctx, Seen(), on_event=hook).reason == "busy"
    assert hook.told == [("before", None), ("skipped", "busy")]


def test_what_the_caller_has_written_is_told_of_once() -> None:
    """`apply` and a flow announce nothing: what there is to say is what came of it."""
    hook, ctx = Hook(), context(10)
    ctx = ChatContext(ctx.items, shape="openai_chat", on_event=hook)
    assert ctx.apply(ctx.plan(keep_last_turns=8), "short").changed
    flow = ctx.flow(keep_last_turns=2)
    while flow.prompt is not None:
        flow.send("short")
    assert hook.told == [("after", "summarized")] * 2
    first, second = hook.events
    assert first.id
    assert second.id
    assert first.id != second.id


def test_an_answer_that_cannot_stand_is_told_of_once() -> None:
    """Whoever asks the model elsewhere watches the same hook, and counts on what it is told."""
    hook, ctx = Hook(), context(10)
    ctx = ChatContext(ctx.items, shape="openai_chat", on_event=hook)
    with pytest.raises(EmptySummaryError):
        ctx.apply(ctx.plan(keep_last_turns=2), " ")
    flow = ctx.flow(keep_last_turns=2)
    with pytest.raises(EmptySummaryError):
        flow.send("")
    flow = ctx.flow(keep_last_turns=2)
    with pytest.raises(SummarizerError, match="no line"):
        flow.fail(SummarizerError("no line"))
    plan = ctx.plan(keep_last_turns=2)
    ctx.items[0] = {"role": "user", "content": "Something else."}
    with pytest.raises(StaleHeadError):
        ctx.apply(plan, "short")
    assert hook.told == [("failed", "failed")] * 3 + [("failed", "stale")]
    assert len({event.id for event in hook.events}) == 4
    errors = [type(event.outcome.error) for event in hook.events if event.outcome is not None]
    assert errors == [EmptySummaryError, EmptySummaryError, SummarizerError, StaleHeadError]


def test_an_error_of_the_callers_own_is_told_of_too() -> None:
    """Of `post_process`, say."""

    def broken(text: str) -> str:
        raise ValueError("mine")

    hook, ctx = Hook(), context(10)
    ctx = ChatContext(ctx.items, on_event=hook, post_process=broken)
    with pytest.raises(ValueError, match="mine"):
        ctx.apply(ctx.plan(keep_last_turns=2), "short")
    flow = ctx.flow(keep_last_turns=2)
    with pytest.raises(ValueError, match="mine"):
        flow.send("short")
    assert hook.told == [("failed", "failed")] * 2


def test_a_flow_leaves_the_list_to_a_fold_that_runs() -> None:
    """One at a time: what is paid for elsewhere is not made stale."""
    hook, ctx = Hook(), context(10)
    ctx = ChatContext(ctx.items, shape="openai_chat", on_event=hook)
    flow = ctx.flow(keep_last_turns=2)
    before = list(ctx.items)
    with ctx._state.alone("a test"):
        flow.send(Completion("short", usage=Usage(11, 3)))
    assert flow.outcome is not None
    assert flow.outcome.reason == "busy"
    assert flow.outcome.usage == Usage(11, 3)
    assert ctx.items == before
    assert hook.told == [("skipped", "busy")]


def test_a_flow_with_nothing_to_do_says_so() -> None:
    hook, ctx = Hook(), context(10)
    flow = ChatContext(ctx.items, on_event=hook).flow(keep_last_turns=50)
    assert flow.prompt is None
    assert hook.told == [("skipped", "too_few_turns")]


def test_who_may_not_apply_now_has_not_tried() -> None:
    hook, ctx = Hook(), context(10)
    ctx = ChatContext(ctx.items, on_event=hook)
    plan = ctx.plan(keep_last_turns=2)
    with ctx._state.alone("a test"), pytest.raises(BusyError):
        ctx.apply(plan, "short")
    assert hook.told == []


def test_the_last_resort_is_a_try_of_its_own() -> None:
    """It is not announced; its end is told beside that of the fold that failed."""
    hook = Hook()
    ctx = context(20, policy=Policy(max_tokens=1_000, keep_tokens=200, window=1_500))
    assert ctx.maybe_summarize(Model(error=failing()), on_event=hook).changed
    assert hook.told == [("before", None), ("failed", "failed"), ("after", "summarized")]
    before, failed, after = (event.id for event in hook.events)
    assert before == failed != after


# --- in the background ----------------------------------------------------------------------------


def begun(ctx: ChatContext[Any], way: str, llm: Any, hook: Hook) -> None:
    if way == "maybe_summarize":
        assert ctx.maybe_summarize(llm, background=True, on_event=hook).reason == "started"
    else:
        assert not ctx.summarize_in_background(llm, on_event=hook).settled


BACKGROUND = pytest.mark.parametrize("way", ["maybe_summarize", "summarize_in_background"])


@BACKGROUND
def test_in_a_thread_it_is_under_way_until_the_model_has_answered(way: str) -> None:
    """Not in the caller's own thread, which goes on; the end is told when the fold is put in."""
    hook, ctx, gate = Hook(), context(10), Gate()
    seen: list[str] = []

    def model(prompt: Prompt) -> Any:
        seen.append(UNDER_WAY.get())
        return gate(prompt)

    begun(ctx, way, model, hook)
    assert UNDER_WAY.get() == "nothing"
    assert hook.told == [("before", None)]
    finished(ctx, gate)
    assert hook.told == [("before", None)]
    assert ctx.background is not None
    assert ctx.background.apply_if_ready().changed
    assert hook.told == [("before", None), ("after", "summarized")]
    assert [event.id for event in hook.events] == [seen[0], seen[0]]


@BACKGROUND
def test_in_a_task_it_is_under_way_until_the_model_has_answered(way: str) -> None:
    seen: list[str] = []

    async def main() -> None:
        hook, ctx, gate = Hook(), context(10), Gate()

        async def model(prompt: Prompt) -> Any:
            seen.append(UNDER_WAY.get())
            return await gate.awaited(prompt)

        begun(ctx, way, model, hook)
        assert UNDER_WAY.get() == "nothing"
        fold = ctx.background
        assert fold is not None
        gate.open.set()
        await until(lambda: fold.done)
        assert fold.apply_if_ready().changed
        assert hook.told == [("before", None), ("after", "summarized")]
        assert [event.id for event in hook.events] == [seen[0], seen[0]]

    asyncio.run(main())


@BACKGROUND
def test_a_fold_that_is_given_up_has_one_end(way: str) -> None:
    hook, ctx, gate = Hook(), context(10), Gate()
    begun(ctx, way, gate, hook)
    fold = ctx.background
    assert fold is not None
    fold.cancel()
    fold.cancel()
    gate.open.set()
    assert fold.wait(10)
    fold.apply_if_ready()
    assert hook.told == [("before", None), ("skipped", "cancelled")]


def test_a_fold_that_cannot_begin_has_one_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing key, say, is found when the client is made."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    hook, ctx = Hook(), context(10)
    with pytest.raises(Exception, match="client cannot be made"):
        ctx.summarize_in_background("openai:some-model", on_event=hook)
    assert hook.told == [("before", None), ("failed", "failed")]
    assert UNDER_WAY.get() == "nothing"


def test_a_fold_that_is_forbidden_is_not_begun() -> None:
    events: list[FoldEvent] = []

    def forbid(event: FoldEvent) -> bool:
        events.append(event)
        return False

    ctx, gate = context(10), Gate()
    assert ctx.summarize_in_background(gate, on_event=forbid).apply_if_ready().reason == "vetoed"
    assert [event.kind for event in events] == ["before"]
    assert gate.calls == 0


class bool_:  # noqa: N801 - as numpy before its version 2 calls it
    """A truth value that is none of Python's, as comparing numpy's numbers gives."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __bool__(self) -> bool:
        return self.value


@WAYS
@pytest.mark.parametrize("answer", [False, bool_(False)], ids=["python", "numpy"])
def test_a_no_forbids_the_fold_whatever_type_of_truth_it_is_of(way: str, answer: object) -> None:
    """`return left_of_budget.sum() > 0` is no `False` of Python's, and money is at stake."""
    ctx, model = context(10), Seen()
    outcome = fold(way, ctx, model, on_event=lambda _: answer)
    assert (outcome.reason, model.under_way) == ("vetoed", [])


def test_a_no_of_numpys_own_forbids_the_fold() -> None:
    numpy = pytest.importorskip("numpy")
    for hook in (lambda _: numpy.array([1, 2]).sum() > 5, lambda _: numpy.False_):
        assert context(10).summarize(Model(), on_event=hook).reason == "vetoed"


@WAYS
@pytest.mark.parametrize(
    "answer", [None, 0, 0.0, "", [], True, bool_(True)], ids=lambda answer: type(answer).__name__
)
def test_nothing_is_no_objection(way: str, answer: object) -> None:
    """Hooks that only listen return whatever the last call in them did."""
    assert fold(way, context(10), Seen(), on_event=lambda _: answer).reason == "summarized"


# --- what a hook does wrong -----------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("fault", ["enters", "leaves"])
def test_what_a_hook_returns_may_fail(way: str, fault: str) -> None:
    """The fold goes on; what was wrong is logged by its type alone."""
    hook = Hook(**{fault: RuntimeError("the customer's words")})
    with records() as logged:
        assert fold(way, context(10), Seen(), on_event=hook).changed
    assert hook.told == [("before", None), ("after", "summarized")]
    said = [r.getMessage() for r in logged if r.name == "chatfold" and r.levelname == "WARNING"]
    assert said == ["on_event raised RuntimeError for 'before'"]


def test_what_a_hook_returns_cannot_hide_an_error() -> None:
    """A context manager may say that it has dealt with an exception; that is not its to say."""

    @contextmanager
    def deaf(_event: FoldEvent) -> Any:
        with suppress(BaseException):
            yield

    ctx = context(10)
    with pytest.raises(type(failing())):
        ctx.summarize(Model(error=failing()), on_event=lambda e: deaf(e))


@WAYS
@pytest.mark.filterwarnings("error")
def test_a_hook_whose_answer_has_to_be_awaited_forbids_the_fold(way: str) -> None:
    """Its answer may be no; and it is logged, as nothing of the hook was run."""
    events: list[FoldEvent] = []

    async def later(event: FoldEvent) -> bool:
        events.append(event)
        return False

    ctx, model = context(10), Seen()
    with records() as logged:
        outcome = fold(way, ctx, model, on_event=lambda event: later(event))
    assert (outcome.changed, outcome.reason, model.under_way) == (False, "vetoed", [])
    assert not events
    [said] = [r.getMessage() for r in logged if r.name == "chatfold" and r.levelname == "WARNING"]
    assert said.startswith("on_event must answer at once, and returned a coroutine for 'before'")


@pytest.mark.filterwarnings("error")
def test_a_hook_that_has_to_be_awaited_afterwards_is_logged_as_well() -> None:
    async def later(_: FoldEvent) -> None: ...

    with records() as logged:
        hook = lambda e: None if e.kind == "before" else later(e)  # noqa: E731 - shows no coroutine
        assert context(10).summarize(Model(), on_event=hook).changed
    said = [r.getMessage() for r in logged if r.levelname == "WARNING"]
    assert [line.partition(" for ")[2] for line in said] == ["'after', which is not awaited or run"]


@WAYS
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["generator", "async_generator", "_AsyncGeneratorContextManager"])
def test_a_hook_that_yields_forbids_the_fold_unless_it_is_a_context_manager(
    kind: str, way: str
) -> None:
    """Nothing of it was run, not even what would have said no."""
    events: list[FoldEvent] = []

    def around(event: FoldEvent) -> Any:
        events.append(event)
        yield

    async def later(event: FoldEvent) -> Any:
        events.append(event)
        yield

    hooks = {"generator": around, "async_generator": later}
    ctx, model = context(10), Seen()
    with records() as logged:
        hook = hooks.get(kind, asynccontextmanager(later))
        assert fold(way, ctx, model, on_event=hook).reason == "vetoed"
    assert not events
    [said] = [r.getMessage() for r in logged if r.name == "chatfold" and r.levelname == "WARNING"]
    assert said.startswith(f"on_event must answer at once, and returned a {kind} for 'before'")
    manager = contextmanager(around)
    hook = lambda e: manager(e) if e.kind == "before" else None  # noqa: E731 - one line is enough
    assert fold(way, ctx, model, on_event=hook).changed
    assert [event.kind for event in events] == ["before"]


@ASYNC
def test_a_hook_may_begin_a_task(way: str) -> None:
    """That is at work without being awaited: its result is not asked for, and forbids nothing."""
    told: list[str] = []

    async def tell(event: FoldEvent) -> bool:
        told.append(event.kind)
        return False

    async def talk() -> Outcome[Any]:
        tasks: list[asyncio.Task[bool]] = []

        def hook(event: FoldEvent) -> asyncio.Task[bool]:
            tasks.append(asyncio.create_task(tell(event)))
            return tasks[-1]

        call = getattr(context(10), way)
        outcome: Outcome[Any] = await call(Model(), on_event=hook)
        await asyncio.gather(*tasks)
        return outcome

    assert asyncio.run(talk()).changed
    assert told == ["before", "after"]


# --- who is asked ---------------------------------------------------------------------------------


def _openai(**options: Any) -> Any:
    openai = pytest.importorskip("openai")
    return openai.OpenAI(api_key="sk-secret", **options)


def _azure() -> Any:
    openai = pytest.importorskip("openai")
    return openai.AzureOpenAI(api_key="k", api_version="v", azure_endpoint="http://localhost")


def _anthropic() -> Any:
    return pytest.importorskip("anthropic").Anthropic(api_key="sk-secret")


def _bedrock() -> Any:
    return pytest.importorskip("anthropic").AnthropicBedrock(
        aws_region="r", aws_access_key="a", aws_secret_key="s"
    )


def _native() -> Any:
    from chatfold.summarizers import OpenAICompaction

    try:
        return OpenAICompaction(_openai(), model="gpt-x")
    except MissingExtraError:
        pytest.skip("this SDK cannot compact")


def _summarizer() -> Any:
    from chatfold.summarizers import AnthropicSummarizer

    return AnthropicSummarizer(_anthropic(), "claude-x")


class _Theirs:
    family, model = "openai", "not-ours-to-say"

    def complete(self, prompt: Prompt) -> str:
        return "short"


@pytest.mark.parametrize(
    ("make", "model", "provider", "named"),
    [
        (_openai, "gpt-x", "openai", "gpt-x"),
        (lambda: _openai().responses, "gpt-x", "openai", "gpt-x"),
        (_azure, "gpt-x", "azure.ai.openai", "gpt-x"),
        (_anthropic, "claude-x", "anthropic", "claude-x"),
        (_bedrock, "claude-x", "aws.bedrock", "claude-x"),
        (_native, None, "openai", "gpt-x"),
        (_summarizer, None, "anthropic", "claude-x"),
        (lambda: [_openai(), "extractive"], "gpt-x", "openai", "gpt-x"),
        (lambda: ["anthropic:claude-x", "extractive"], None, "anthropic", "claude-x"),
        (lambda: "extractive", None, None, None),
        (Model, None, None, None),
        (_Theirs, None, None, None),
    ],
)
def test_a_hook_is_told_who_is_asked(
    make: Callable[[], Any], model: str | None, provider: str | None, named: str | None
) -> None:
    """Before anything is sent, so that the hook may forbid it; nothing is asked here."""
    events: list[FoldEvent] = []

    def forbid(event: FoldEvent) -> bool:
        events.append(event)
        return False

    outcome = context(10).summarize(make(), model=model, on_event=forbid)
    assert outcome.reason == "vetoed"
    assert [(event.provider, event.model) for event in events] == [(provider, named)]


def test_in_append_mode_the_live_model_is_asked() -> None:
    events: list[FoldEvent] = []

    def forbid(event: FoldEvent) -> bool:
        events.append(event)
        return False

    context(10).summarize(_openai(), mode="append", request={"model": "live"}, on_event=forbid)
    assert [event.model for event in events] == ["live"]
