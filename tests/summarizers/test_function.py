"""The summarizer over a callable: what it may return, raise and take, sync and async."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, cast

import pytest
from anthropic.types import Usage as AnthropicUsage
from fake_server import LLMServer, overflow
from openai import DefaultHttpxClient, OpenAI
from openai.types import CompletionUsage

from chatfold import ChatContext, Middleware, Policy
from chatfold.core.flow import Completion, Usage
from chatfold.core.render import Prompt
from chatfold.errors import SummarizerError, TruncatedSummaryError
from chatfold.summarizers import FunctionSummarizer

ASYNC = r"summarize\(\) got an async function; use await ctx\.asummarize\(\.\.\.\)"
Run = Callable[..., Completion]


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest, prompt: Prompt) -> Run:
    """Runs a synchronous function as `summarize` and as `asummarize` would."""

    def run(function: Callable[[Prompt], Any], timeout: float | None = 5.0) -> Completion:
        summarizer = FunctionSummarizer(function, timeout=timeout)
        if request.param == "sync":
            return summarizer.complete(prompt)
        return asyncio.run(summarizer.acomplete(prompt))

    return run


async def _later() -> str:
    return "- A"


def awaited(function: Callable[[Prompt], Any], prompt: Prompt, **options: Any) -> Completion:
    return asyncio.run(FunctionSummarizer(function, **options).acomplete(prompt))


class _Awaited:
    async def __call__(self, _: Prompt) -> str:
        return "- A"


@functools.wraps(_later)
def _wrapped(_: Prompt) -> str:
    return "- A"


@pytest.mark.parametrize(
    ("function", "asynchronous"),
    [
        (_later, True),
        (functools.partial(_later), True),
        (_Awaited(), True),
        (_Awaited().__call__, True),
        (_wrapped, False),
        (lambda _: _later(), False),  # that shows only when it is called
        (str, False),
    ],
)
def test_what_has_to_be_awaited_is_known_before_it_is_called(
    function: Callable[[Prompt], Any], asynchronous: bool
) -> None:
    assert FunctionSummarizer(function).asynchronous is asynchronous


def test_text_becomes_a_completion(run: Run, prompt: Prompt) -> None:
    """The function gets the prompt, and text is all that it must return."""
    assert run(lambda given: given.system) == Completion(prompt.system)


def test_a_completion_is_handed_on(run: Run) -> None:
    """A Completion keeps its usage and its finish reason."""
    completion = Completion("- A", "stop", Usage(5, 3), "mine")
    assert run(lambda _: completion) is completion


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 5, "completion_tokens": 3},
        CompletionUsage(prompt_tokens=5, completion_tokens=3, total_tokens=8),
        AnthropicUsage(input_tokens=5, output_tokens=3),
    ],
)
def test_usage_as_a_provider_reports_it_is_read(run: Run, usage: Any) -> None:
    """It is what a host has in its hands; it once broke the turn, at every turn anew."""
    assert run(lambda _: Completion("- A", "stop", usage)).usage == Usage(5, 3)
    assert run(lambda _: Completion("- A", "stop", cast(Any, object()))).usage is None


def test_no_text_has_its_usage_still(run: Run) -> None:
    """An SDK's `content` is None where the model refused, or called a tool."""
    answered = run(lambda _: Completion(cast(Any, None), "stop", Usage(5, 3)))
    assert (answered.text, answered.usage) == ("", Usage(5, 3))


@pytest.mark.parametrize("answer", [3, b"bytes", ["- A"], Completion(["- A"])])  # type: ignore[arg-type]
def test_anything_else_is_a_type_error(run: Run, answer: object) -> None:
    """The error says what was expected, and shows nothing of the answer."""
    with pytest.raises(TypeError, match="returns the summary as str or Completion; it") as caught:
        run(lambda _: answer)
    assert isinstance(caught.value, SummarizerError)
    assert "- A" not in str(caught.value)


@pytest.mark.parametrize("answer", [[{"type": "text", "text": "- A"}], _later])
def test_a_function_that_answers_wrongly_breaks_no_turn(answer: object) -> None:
    """It is reported and waited for as any failure is, and the next of a chain is asked."""
    calls = 0

    def wrong(_: Prompt) -> Any:
        nonlocal calls
        calls += 1
        return answer() if callable(answer) else answer

    talk = [{"role": role, "content": "word " * 400} for role in ("user", "assistant") * 4]
    policy = Policy(max_tokens=1_000, keep_tokens=200)
    ctx = ChatContext(list(talk), policy=policy)
    outcomes = [ctx.maybe_summarize(wrong) for _ in range(3)]
    assert [outcome.reason for outcome in outcomes] == [
        "failed",
        "unchanged_head",
        "unchanged_head",
    ]
    assert isinstance(outcomes[0].error, SummarizerError)
    assert calls == 1
    folded = ChatContext(list(talk), policy=policy).maybe_summarize([wrong, "extractive"])
    assert folded.changed


def test_an_async_function_is_awaited(prompt: Prompt) -> None:
    """Coroutine functions, partials of them, callable objects and awaitables returned all work."""

    async def write(given: Prompt) -> str:
        await asyncio.sleep(0)
        return given.system

    class Writer:
        async def __call__(self, given: Prompt) -> str:
            return await write(given)

    for function in (write, functools.partial(write), Writer(), lambda given: write(given)):
        assert awaited(function, prompt) == Completion(prompt.system)


def test_an_async_function_is_refused_by_the_synchronous_call(prompt: Prompt) -> None:
    """The function is not called; where it hides behind a lambda, its coroutine is closed."""
    calls = 0

    async def write(_: Prompt) -> str:
        nonlocal calls
        calls += 1
        return "- A"

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for function in (write, functools.partial(write), lambda given: write(given)):
            with pytest.raises(TypeError, match=ASYNC):
                FunctionSummarizer(function).complete(prompt)
        gc.collect()  # a coroutine that was never awaited warns when it is collected
    assert calls == 0
    assert not [w for w in warned if "never awaited" in str(w.message)]


def test_what_the_function_raises_is_the_cause_of_a_summarizer_error(
    run: Run, prompt: Prompt
) -> None:
    """The function is called once, whatever it raises."""
    for error in (ValueError("bad"), TypeError("f() takes 0"), TimeoutError("db")):
        calls: list[Prompt] = []

        def fail(given: Prompt, error: Exception = error, calls: list[Prompt] = calls) -> str:
            calls.append(given)
            raise error

        with pytest.raises(SummarizerError, match=type(error).__name__) as caught:
            run(fail)
        assert caught.value.__cause__ is error
        assert not caught.value.overflow
        assert calls == [prompt]


def test_the_error_of_a_lambda_is_told(run: Run) -> None:
    """Its name begins as a proxy's error page does, which is left out."""
    none: Any = lambda: "text"  # noqa: E731 - a lambda is what this is about
    none.__qualname__ = "<lambda>"  # as where it is written in a module
    with pytest.raises(SummarizerError, match=r"TypeError: <lambda>\(\) takes 0 positional"):
        run(none)
    pages = (
        "<html><p>Bad gateway</p></html>",
        "<!DOCTYPE html>",
        "<?xml version='1.0'?>",
        "<p>a</p>",
    )
    for page in pages:

        def fail(_: Prompt, page: str = page) -> str:
            raise RuntimeError(page)

        with pytest.raises(SummarizerError, match=r"the summarizer: RuntimeError$"):
            run(fail)


def test_an_iterator_that_runs_out_is_an_error_too(run: Run) -> None:
    """StopIteration ends neither the flow's generator nor the coroutine in silence."""
    with pytest.raises(SummarizerError, match="StopIteration"):
        run(lambda _: next(iter([])))


def test_an_error_of_an_async_function_is_the_cause_too(prompt: Prompt) -> None:
    """Its own TimeoutError is not mistaken for ours."""

    async def fail(_: Prompt) -> str:
        raise TimeoutError("the database")

    with pytest.raises(SummarizerError, match="TimeoutError: the database"):
        awaited(fail, prompt)


def test_an_error_that_repeats_the_prompt_is_not_quoted(run: Run) -> None:
    """The conversation does not reach a log by way of an error."""

    def fail(given: Prompt) -> str:
        raise ValueError(f"cannot read {given.user}")

    with pytest.raises(SummarizerError, match="ValueError") as caught:
        run(fail)
    assert "walrus" not in str(caught.value)


@pytest.mark.parametrize(
    "said", ["no", "timeout", "Connection error.", "rate limit exceeded", "Not Found", "none!"]
)
def test_a_short_error_that_names_nothing_is_told(said: str) -> None:
    """It stands in the prompt by chance: in its instructions, or in what a tool answered."""

    def fail(given: Prompt) -> str:
        assert said in given.user
        raise RuntimeError(said)

    talk = [{"role": "user", "content": f"Say {said}."}, {"role": "assistant", "content": "ok"}] * 9
    with pytest.raises(SummarizerError, match=f": RuntimeError: {said}$"):
        ChatContext(talk).summarize(fail, keep_last_turns=1)


@pytest.mark.parametrize(
    "said",
    ["walrus", "Ms Miller", "4711", "LK-77", "no walrus", "77", "the request was not for a value"],
)
def test_a_short_error_that_may_be_a_value_of_the_conversation_is_not(said: str) -> None:
    """A name or an id is as short; and a sentence is told from its length on."""

    def fail(_: Prompt) -> str:
        raise ValueError(said)

    talk = [{"role": "user", "content": f"Say {said}."}, {"role": "assistant", "content": "ok"}] * 9
    with pytest.raises(SummarizerError, match="left out") as caught:
        ChatContext(talk).summarize(fail, keep_last_turns=1)
    assert said not in str(caught.value)


class UnreadableError(Exception):
    """An error whose own code fails: it takes for granted a detail that it does not have."""

    def __str__(self) -> str:
        raise AttributeError("detail")


class HiddenError(Exception):
    """An error whose message, status and code fail likewise."""

    @property
    def message(self) -> str:
        raise KeyError("message")

    status_code = code = body = message


@pytest.mark.parametrize("error", [UnreadableError, HiddenError])
def test_an_error_that_cannot_be_read_is_told_by_its_type(run: Run, error: type[Exception]) -> None:
    def fail(_: Prompt) -> str:
        raise error

    with pytest.raises(SummarizerError, match=f"^the summarizer: {error.__name__}$") as caught:
        run(fail)
    assert type(caught.value.__cause__) is error


@pytest.mark.parametrize("error", [UnreadableError, HiddenError])
def test_behind_an_error_that_cannot_be_read_the_next_summarizer_is_asked(
    error: type[Exception],
) -> None:
    """A failure of a summarizer breaks no turn, whatever kind of error it is."""
    asked: list[Prompt] = []

    def fail(given: Prompt) -> str:
        asked.append(given)
        raise error

    turn = [{"role": "user", "content": "Where is A-1? " * 200}, {"role": "assistant"}]
    items: list[Any] = [{**item, "content": item.get("content", "Sent.")} for item in turn * 4]
    policy = Policy(max_tokens=500, keep_tokens=200)
    assert ChatContext(list(items), policy=policy).maybe_summarize([fail, "extractive"]).changed
    assert Middleware(fail, policy).fold(items).outcome.reason == "failed"
    assert len(asked) == 2


def test_an_outcome_tells_an_error_that_cannot_be_read_by_its_type() -> None:
    """An error of a function of the caller's own stands in the outcome as it is."""

    def fail(_: str) -> str:
        raise UnreadableError

    turn = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Here."}]
    ctx = ChatContext(turn * 4, redact=fail)
    fold = ctx.summarize_in_background("extractive", keep_last_turns=0)
    assert fold.wait(20)
    outcome = fold.apply_if_ready()
    assert type(outcome.error) is UnreadableError
    assert str(outcome).startswith("not summarized (failed): UnreadableError")


def test_a_summary_error_passes_as_it_is(run: Run) -> None:
    """A function that knows why there is no summary may say so."""

    def fail(_: Prompt) -> str:
        raise TruncatedSummaryError("cut off")

    with pytest.raises(TruncatedSummaryError, match="cut off"):
        run(fail)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_ends_the_program_or_the_task_passes(
    prompt: Prompt, error: type[BaseException]
) -> None:
    """Only ordinary exceptions become a SummarizerError."""

    def stop(_: Prompt) -> str:
        raise error

    for timeout in (5.0, None):
        with pytest.raises(error):
            FunctionSummarizer(stop, timeout=timeout).complete(prompt)


def test_an_overflow_inside_the_function_is_known(
    run: Run, llm_server: LLMServer, prompt: Prompt
) -> None:
    """A function that calls an SDK need not translate its errors."""
    llm_server.default = overflow()
    http = DefaultHttpxClient(verify=False)

    def write(given: Prompt) -> str:
        with OpenAI(api_key="k", base_url=llm_server.openai_url, http_client=http) as client:
            client.responses.create(model="gpt-test", input=given.user)
        raise AssertionError("the server refuses every request")

    with pytest.raises(SummarizerError, match=r"exceeds the model's window \(400\)") as caught:
        run(write)
    assert caught.value.overflow


def test_a_function_that_takes_too_long_is_given_up(run: Run) -> None:
    """The caller goes on; the thread is a daemon and does not keep the program."""
    release = threading.Event()
    threads: list[threading.Thread] = []

    def write(_: Prompt) -> str:
        threads.append(threading.current_thread())
        release.wait(10)
        return "too late"

    started = time.monotonic()
    with pytest.raises(SummarizerError, match=r"took longer than 0\.5 s") as caught:
        run(write, timeout=0.5)
    assert time.monotonic() - started < 3
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert threads[0].daemon
    release.set()


def test_an_async_function_that_takes_too_long_is_cancelled(prompt: Prompt) -> None:
    """The coroutine sees the cancellation."""
    seen = []

    async def write(_: Prompt) -> str:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "too late"

    with pytest.raises(SummarizerError, match=r"took longer than 0\.1 s") as caught:
        awaited(write, prompt, timeout=0.1)
    assert seen == ["cancelled"]
    assert isinstance(caught.value.__cause__, TimeoutError)


def test_cancelling_the_caller_passes_through(prompt: Prompt) -> None:
    """A cancelled task is cancelled at once, also while a thread works for it."""
    started, release = threading.Event(), threading.Event()

    def write(_: Prompt) -> str:
        started.set()
        release.wait(10)
        return "too late"

    async def cancelled() -> bool:
        task = asyncio.create_task(FunctionSummarizer(write).acomplete(prompt))
        while not started.is_set():  # noqa: ASYNC110 - it is set by a thread
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()
        return True

    assert asyncio.run(cancelled())


def test_the_function_sees_the_callers_context_variables(run: Run) -> None:
    """Tracing and request-local state work in the thread as they do outside."""
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant")
    tenant.set("blue")
    assert run(lambda _: tenant.get()).text == "blue"


def test_without_a_time_limit_the_function_runs_in_the_callers_thread(prompt: Prompt) -> None:
    """Functions that are tied to a thread have a way."""
    here = threading.current_thread()
    for timeout, same in ((None, True), (5.0, False)):
        threads: list[threading.Thread] = []

        def write(_: Prompt, threads: list[threading.Thread] = threads) -> str:
            threads.append(threading.current_thread())
            return "- A"

        FunctionSummarizer(write, timeout=timeout).complete(prompt)
        assert (threads[0] is here) is same


def test_the_repr_names_the_function_only() -> None:
    """What a function closes over stays out of sight."""

    def write(_: Prompt, key: str = "sk-secret") -> str:
        return key

    assert repr(FunctionSummarizer(write)).endswith("write)")
    assert "sk-secret" not in repr(FunctionSummarizer(functools.partial(write, key="sk-secret")))


def test_a_function_that_takes_no_notice_of_its_cancellation_is_not_waited_for(
    prompt: Prompt,
) -> None:
    """The turn goes on at the time-out; what comes later is dropped without a word."""

    async def run() -> float:
        may_end = asyncio.Event()

        async def deaf(given: Prompt) -> str:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                await may_end.wait()
            raise ValueError("too late")

        began = time.monotonic()
        with pytest.raises(SummarizerError, match=r"longer than 0\.05 s"):
            await FunctionSummarizer(deaf, timeout=0.05).acomplete(prompt)
        took = time.monotonic() - began
        may_end.set()
        await asyncio.sleep(0.01)
        return took

    assert asyncio.run(run()) < 10
