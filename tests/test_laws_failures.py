"""Law 4: whatever fails, the list is what it was, and the error knows what it cost."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from laws import WAYS, Asked, context, fewer, fold, limits, said, same_objects, short, talk, ways
from strategies import History, histories

from chatfold import (
    ChatContext,
    ChatfoldError,
    Completion,
    EmptySummaryError,
    InvalidResultError,
    NoAnswerError,
    Prompt,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
    TemplateError,
    TruncatedSummaryError,
    Usage,
)

USAGE = Usage(100, 20, 5)
NO_TEXT = Completion(cast("Any", ["text"]))
LOOPS = ("summarize", "asummarize")  # the ways in which chatfold makes the model call itself


def refused_with(
    expected: type[BaseException],
    history: History,
    limit: dict[str, Any],
    llm: Callable[[Prompt], Any],
    way: str,
    **options: Any,
) -> BaseException:
    """Fold, expect an error and an untouched list that can be folded as if nothing had been."""
    items, before = list(history.items), said(history.items)
    ctx = context(history, items)
    assume(ctx.plan(**limit))
    with pytest.raises(expected) as caught:
        fold(ctx, llm, way=way, **limit, **options)
    assert same_objects(items, history.items)
    assert said(items) == before
    fresh = context(history)
    assert fold(ctx, **limit).reason == fold(fresh, **limit).reason == "summarized"
    assert len(ctx.items) == len(fresh.items)
    return caught.value


NO_SUMMARIES = [
    (Completion("", "stop", USAGE), EmptySummaryError),
    (Completion(" \n\t\u3000", None, USAGE), EmptySummaryError),
    (Completion("\u200b\ufeff\x00\u2060", "stop", USAGE), EmptySummaryError),
    (Completion("I cannot", "refusal", USAGE), RefusedSummaryError),
    (Completion("", "stop", USAGE, refusal="I will not"), RefusedSummaryError),
    (Completion("half", "content_filter", USAGE), RefusedSummaryError),
    (Completion("The order is", "length", USAGE), TruncatedSummaryError),
    (Completion("The order is", "max_tokens", USAGE), TruncatedSummaryError),
    (Completion("", "max_output_tokens", USAGE), TruncatedSummaryError),
    (Completion("", "tool_calls", USAGE), NoAnswerError),
    (Completion("Let me look.", "tool_use", USAGE), NoAnswerError),
    (Completion("", "stop", USAGE, reasoning=True), NoAnswerError),
]


@fewer
@given(history=histories(), limit=limits, way=ways)
def test_law_4_an_answer_that_is_no_summary_changes_nothing(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """Blank, refused, filtered, cut off, calls only, reasoning only: told apart, all refused."""
    ctx, before = context(history), said(history.items)
    assume(ctx.plan(**limit))
    for answer, expected in NO_SUMMARIES:
        asked = Asked(answer)
        with pytest.raises(SummaryError) as caught:
            fold(ctx, asked, way=way, **limit)
        assert type(caught.value) is expected
        assert same_objects(ctx.items, history.items)
        if way != "apply":
            assert caught.value.llm_calls == len(asked.prompts)
            assert len(asked.prompts) == (2 if expected is TruncatedSummaryError else 1)
            assert caught.value.usage == sum([USAGE] * len(asked.prompts), Usage())
    assert said(ctx.items) == before


class OwnError(Exception):
    """An error of the caller's."""


@fewer
@given(
    history=histories(),
    limit=limits,
    way=st.sampled_from(LOOPS),
    raised=st.sampled_from([OwnError("no"), ConnectionError("cut"), SummarizerError("late")]),
)
def test_law_4_a_summarizer_that_raises_changes_nothing(
    history: History, limit: dict[str, Any], way: str, raised: Exception
) -> None:
    """The backend's own error is the cause, and its text never becomes a summary."""

    def failing(prompt: Prompt) -> str:
        raise raised

    error = refused_with(SummarizerError, history, limit, failing, way)
    assert error is raised or error.__cause__ is raised
    assert isinstance(error, SummarizerError)
    assert error.llm_calls == 1


@fewer
@given(history=histories(), limit=limits, way=ways)
def test_law_4_an_interrupt_changes_nothing(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """Ctrl-C while the model writes leaves a list that can be folded later."""

    def interrupted(prompt: Prompt) -> str:
        raise KeyboardInterrupt

    refused_with(KeyboardInterrupt, history, limit, interrupted, way)


@fewer
@given(
    history=histories(),
    limit=limits,
    way=st.sampled_from(LOOPS),
    answer=st.sampled_from([7, b"text", ["text"], {"text": "x"}, NO_TEXT]),
)
def test_law_4_an_answer_of_another_type_changes_nothing(
    history: History, limit: dict[str, Any], way: str, answer: Any
) -> None:
    """A summarizer that returns neither text nor a `Completion` is told so."""
    error = refused_with(TypeError, history, limit, lambda prompt: answer, way)
    assert "str or Completion" in str(error)


def raising(text: str) -> str:
    raise OwnError(text[:20])


@fewer
@given(
    history=histories(),
    limit=limits,
    way=st.sampled_from([*LOOPS, "flow"]),
    option=st.sampled_from(["redact", "post_process"]),
)
def test_law_4_a_hook_that_raises_changes_nothing(
    history: History, limit: dict[str, Any], way: str, option: str
) -> None:
    """The application's own functions may fail, before the model call and after it."""
    refused_with(OwnError, history, limit, short, way, **{option: raising})


@fewer
@given(history=histories(), limit=limits, way=st.sampled_from([*LOOPS, "flow"]))
def test_law_4_a_summary_of_which_nothing_is_left_changes_nothing(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """What `post_process` empties is as blank as what a model leaves blank."""
    options: dict[str, Any] = {"post_process": lambda text: " \n"}
    error = refused_with(
        EmptySummaryError, history, limit, lambda p: Completion("x", usage=USAGE), way, **options
    )
    assert isinstance(error, ChatfoldError)
    assert (error.usage, error.llm_calls) == (USAGE, 1)


BROKEN_TEMPLATES = [
    {"summarize_user.jinja": "{{ nobody_gave_this }}"},
    {"summarize_system.jinja": "{% if %}"},
    {"summarize_user.jinja": "{{ 1 / 0 }}"},
]


@fewer
@given(
    history=histories(),
    limit=limits,
    way=st.sampled_from([*LOOPS, "flow", "apply"]),
    templates=st.sampled_from(BROKEN_TEMPLATES),
)
def test_law_4_a_template_that_does_not_render_costs_no_model_call(
    history: History, limit: dict[str, Any], way: str, templates: dict[str, str]
) -> None:
    """The prompt is made before anybody is asked."""

    def never(prompt: Prompt) -> str:
        raise AssertionError("a model was asked")

    refused_with(TemplateError, history, limit, never, way, templates=templates)


@fewer
@given(history=histories(), limit=limits, way=st.sampled_from([*LOOPS, "flow"]))
def test_law_4_a_note_that_does_not_render_changes_nothing(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """Even if the model was asked by then; what that cost is told."""
    asked: list[Prompt] = []

    def answering(prompt: Prompt) -> Completion:
        asked.append(prompt)
        return Completion("fine", usage=USAGE)

    templates = {"summary_note.jinja": "{{ nobody_gave_this }}"}
    error = refused_with(TemplateError, history, limit, answering, way, templates=templates)
    assert isinstance(error, ChatfoldError)
    assert error.llm_calls == len(asked)
    assert error.usage == (USAGE if asked else None)


@fewer
@given(history=histories(), limit=limits, way=ways)
def test_law_4_a_summary_without_gain_changes_nothing(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """A summary larger than what it replaces is reported with its cost, and not put in."""
    ctx, before = context(history, counter=None), said(history.items)
    assume(ctx.plan(**limit))
    huge = Completion("word " * 90_000, "stop", USAGE)
    outcome = fold(ctx, lambda prompt: huge, way=way, **limit)
    assert (outcome.changed, outcome.reason, outcome.usage) == (False, "no_gain", USAGE)
    assert outcome.llm_calls == (0 if way == "apply" else 1)
    assert outcome.tokens_after == outcome.tokens_before == int(ctx.count_tokens())
    assert outcome.item is None
    assert outcome.removed == ()
    assert same_objects(ctx.items, history.items)
    assert said(ctx.items) == before


@fewer
@given(history=histories("anthropic"), limit=limits, way=st.sampled_from([*LOOPS, "flow"]))
def test_law_4_an_invalid_result_changes_nothing_and_tells_its_cost(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """A Messages list that would begin with the assistant is refused after the model call."""
    answer = Completion("fine", usage=USAGE)
    error = refused_with(
        InvalidResultError, history, limit, lambda p: answer, way, summary_role="assistant"
    )
    assert isinstance(error, InvalidResultError)
    assert error.problems
    assert (error.usage, error.llm_calls) == (USAGE, 1)


@fewer
@given(
    history=histories(),
    limit=limits,
    way=st.sampled_from(LOOPS),
    failures=st.lists(
        st.sampled_from([OwnError("down"), *(a for a, _ in NO_SUMMARIES)]), max_size=3
    ),
)
def test_law_4_a_fallback_chain_is_tried_in_order_and_adds_up_what_it_cost(
    history: History, limit: dict[str, Any], way: str, failures: list[Any]
) -> None:
    """Each summarizer is asked after the one before it failed; usage is that of all."""
    order: list[int] = []

    def member(number: int, answer: Any) -> Callable[[Prompt], Any]:
        def ask(prompt: Prompt) -> Any:
            order.append(number)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return ask

    good = Completion("at last", "stop", USAGE, "small-model")
    chain = [member(n, answer) for n, answer in enumerate([*failures, good])]
    ctx = context(history)
    assume(ctx.plan(**limit))
    call: Any = ctx.summarize
    outcome = (
        call(chain, timeout=None, **limit)
        if way == "summarize"
        else asyncio.run(ctx.asummarize(chain, timeout=None, **limit))
    )
    twice = [isinstance(f, Completion) and f.finish_reason in CUT_OFF for f in failures]
    asked = [n for n, again in enumerate([*twice, False]) for _ in range(1 + again)]
    told = sum(not isinstance([*failures, good][n], Exception) for n in asked)
    assert order == asked
    assert outcome.llm_calls == len(asked)
    assert outcome.usage == sum([USAGE] * told, Usage())
    assert (outcome.summary, outcome.model) == ("at last", "small-model")


CUT_OFF = ("length", "max_tokens", "max_output_tokens")


@fewer
@given(history=histories(), limit=limits, way=st.sampled_from([*LOOPS, "flow"]), ok=st.booleans())
def test_law_4_a_cut_off_answer_is_asked_for_once_more_with_twice_the_limit(
    history: History, limit: dict[str, Any], way: str, ok: bool
) -> None:
    """The second answer counts, and a third is never asked for."""
    caps: list[int | None] = []

    def answering(prompt: Prompt) -> Completion:
        caps.append(prompt.cap)
        whole = ok and len(caps) == 2
        return Completion("whole" if whole else "ha", "stop" if whole else "length", USAGE)

    if not ok:
        refused_with(TruncatedSummaryError, history, limit, answering, way)
    else:
        ctx = context(history)
        assume(ctx.plan(**limit))
        outcome = fold(ctx, answering, way=way, **limit)
        assert (outcome.summary, outcome.llm_calls) == ("whole", 2)
        assert outcome.usage == USAGE + USAGE
    assert caps == [None, 16384]


@pytest.mark.parametrize("way", LOOPS)
def test_law_4_a_late_answer_is_a_failure_and_comes_to_nothing(way: str) -> None:
    """The function runs on after the time-out; what it returns then changes nothing."""
    items, answered = talk(), threading.Event()
    before = list(items)

    def slow(prompt: Prompt) -> str:
        time.sleep(0.15)
        answered.set()
        return "too late"

    def fold_late() -> None:
        if way == "summarize":
            ctx.summarize(slow, timeout=0.05, keep_last_turns=1)
        else:
            asyncio.run(ctx.asummarize(slow, timeout=0.05, keep_last_turns=1))

    ctx = ChatContext(items)
    with pytest.raises(SummarizerError, match=r"longer than 0\.05 s") as caught:
        fold_late()
    assert caught.value.llm_calls == 1
    assert same_objects(items, before)
    assert answered.wait(5)
    time.sleep(0.02)
    assert same_objects(items, before)
    assert ctx.summarize(short, keep_last_turns=1).changed


def test_law_4_an_async_function_that_hangs_is_given_up() -> None:
    """The time-out holds for coroutines too."""
    items = talk()
    before = list(items)

    async def hanging(prompt: Prompt) -> str:
        await asyncio.sleep(60)
        return "never"

    with pytest.raises(SummarizerError, match="longer than"):
        asyncio.run(ChatContext(items).asummarize(hanging, timeout=0.02, keep_last_turns=1))
    assert same_objects(items, before)


@pytest.mark.parametrize("blocking", [False, True])
def test_law_4_cancelling_leaves_the_list_and_the_context_usable(blocking: bool) -> None:
    """A cancelled `asummarize` raises CancelledError, and the next one is not `busy`."""
    items = talk()
    before = list(items)
    may_end, ended = threading.Event(), threading.Event()

    async def hanging(prompt: Prompt) -> str:
        await asyncio.sleep(60)
        return "never"

    def sleeping(prompt: Prompt) -> str:
        may_end.wait(60)
        ended.set()
        return "never"

    async def run() -> None:
        ctx = ChatContext(items)
        task = asyncio.create_task(
            ctx.asummarize(sleeping if blocking else hanging, keep_last_turns=1)
        )
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        may_end.set()
        assert not blocking or ended.wait(60)
        await asyncio.sleep(0.02)
        assert same_objects(items, before)
        assert (await ctx.asummarize(short, keep_last_turns=1)).reason == "summarized"

    asyncio.run(run())
    assert len(items) == 3


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("what", ["pin", "counter", "abandon"])
def test_law_4_a_callers_function_that_raises_leaves_the_list_and_the_context_usable(
    way: str, what: str
) -> None:
    """`pin`, a counter and `abandon` are the caller's code, and may fail once."""
    items, failed = talk(), [False]
    before = list(items)

    def fails_once(*args: Any) -> Any:
        if not failed[0]:
            failed[0] = True
            raise OwnError(what)
        return 1 if what == "counter" else False

    class Failing:
        exact = False
        count = staticmethod(fails_once)

    options: dict[str, Any] = {}
    if what == "abandon":
        items.insert(
            1,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
        )
        del items[2:]
        before = list(items)
    else:
        options = {what: fails_once if what == "pin" else Failing()}
    ctx = ChatContext(items, **options)
    wishes: dict[str, Any] = {"abandon": fails_once} if what == "abandon" else {}
    with pytest.raises(OwnError):
        fold(ctx, way=way, keep_last_turns=1, **wishes)
    assert same_objects(items, before)
    assert fold(ctx, way=way, keep_last_turns=1, **wishes).reason != "busy"


def test_law_4_every_failure_of_a_summarizer_is_one_kind_of_error() -> None:
    """Who catches `SummaryError` catches all that a model can do wrong."""
    assert all(issubclass(kind, SummaryError) for _, kind in NO_SUMMARIES)
    assert issubclass(SummarizerError, SummaryError)


@settings(max_examples=8)
@given(history=histories(sdk_objects=True), limit=limits)
def test_law_4_time_outs_change_nothing(history: History, limit: dict[str, Any]) -> None:
    """Any history is as it was after a time-out."""
    items, before = list(history.items), said(history.items)
    ctx = context(history, items)
    assume(ctx.plan(**limit))
    gate = threading.Event()
    with pytest.raises(SummarizerError):
        ctx.summarize(lambda prompt: str(gate.wait(5)), timeout=0.01, **limit)
    gate.set()
    assert same_objects(items, history.items)
    assert said(items) == before
