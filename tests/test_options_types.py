"""What is of a type that it cannot be is said when a context or a middleware is made."""

from __future__ import annotations

import copy
import math
import pickle
import re
from asyncio import run
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import jinja2
import pytest
from laws import plainly
from openai import OpenAI

from chatfold import (
    ChatContext,
    Completion,
    EmptySummaryError,
    Middleware,
    Policy,
    Shape,
    TemplateError,
    Words,
    render_steps,
)
from chatfold.stores import MemoryStore, SQLStore
from chatfold.telemetry import Telemetry
from chatfold.tokens import counter_for

WRONG: list[tuple[str, Any, str]] = [
    ("counter", "gpt-5", r"object with count\(text\), not 'gpt-5'; the name of a model is model="),
    ("counter", ["gpt-5"], r"object with count\(text\), not \['gpt-5'\]"),
    ("pin", [0], "pin must be a function of an item"),
    ("policy", {}, "policy must be a Policy"),
    ("summary_key", "secret", "summary_key must be bytes, not str"),
    ("on_event", "log", "on_event must be a function"),
    ("on_event", Telemetry, "on_event must be a function, or None, not the class Telemetry"),
    ("redact", "mail", "redact must be a function"),
    ("post_process", 1, "post_process must be a function"),
    ("timeout", "60", "timeout must be a number"),
    ("retries", "1", "retries must be a whole number, not '1'"),
    ("max_summary_tokens", "9", "max_summary_tokens must be a whole number, or None, not '9'"),
    ("ledger_tokens", "200", "ledger_tokens must be a whole number, or None, not '200'"),
    ("min_gain", None, "min_gain must be a number, not None"),
    ("effects", None, "effects must be a mapping of tools to 'read' or 'write', not None"),
    ("standing_words", "immer", r"standing_words must be a Words, such as Words\(orders="),
    ("standing_words", ["immer", "nie"], r"or a list of them, not \['immer', 'nie'\]"),
    ("standing_words", None, "standing_words must be a Words"),
    ("language", 5, "language must be text"),
    ("instructions", ["a"], "instructions must be text"),
    ("shape", 5, "shape must be a name, such as 'openai_chat', an object that is a Shape, or None"),
    ("shape", Shape, "shape must be a name, .* not <class"),
    ("shape", True, "shape must be a name"),
    (
        "model",
        OpenAI(api_key="sk-secret"),
        "model must be the name of a model, or None, not OpenAI",
    ),
    ("model", 5, "model must be the name of a model"),
    ("templates", 5, "templates= takes a directory, a mapping of names to sources"),
    ("templates", {"summary_note.jinja": 5}, "maps names to template sources, both text"),
]


@pytest.mark.parametrize(("name", "value", "said"), WRONG)
def test_a_value_of_a_wrong_type_is_refused_at_once(name: str, value: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        ChatContext([], **{name: value})
    with pytest.raises(TypeError, match=said):
        Middleware("extractive", **{name: value})


def turned_on(name: str, value: Any) -> list[Callable[[], object]]:
    """Everything that takes the flag, each to be called with the value."""
    items = [{"role": "user", "content": "Hi"}]
    ctx = ChatContext(items)
    calls: list[Callable[..., object]]
    match name:
        case "force":
            calls = [ctx.plan, ctx.flow, partial(ctx.summarize, "extractive")]
            calls += [partial(ctx.summarize_in_background, "extractive")]
            calls += [lambda **given: run(ctx.asummarize("extractive", **given))]
        case "replay":
            calls = [ctx.plan, partial(ctx.summarize, "extractive")]
            calls += [partial(ctx.maybe_summarize, "extractive")]
            calls += [partial(ctx.maybe_summarize, "extractive", keep_tokens=5)]
            calls += [lambda **given: run(ctx.amaybe_summarize("extractive", **given))]
        case "background":
            calls = [partial(ctx.maybe_summarize, "extractive"), partial(Middleware, "extractive")]
        case "wait":
            calls = [lambda **given: run(ctx.asummarize("extractive", **given))]
        case "server_managed":
            calls = [partial(ChatContext, items)]
        case "lossy":
            calls = [ctx.cut_points]
        case "completed_only":
            calls = [ctx.count_tool_calls]
        case "keep_originals":
            calls = [MemoryStore, partial(SQLStore, ":never made:")]
        case "allow_download":
            calls = [partial(counter_for, "gpt-5")]
        case _:
            calls = [Telemetry]
    return [partial(call, **{name: value}) for call in calls]


@pytest.mark.parametrize(
    ("templates", "said"),
    [
        ("/no/such/prompts", "names a directory that does not exist: '/no/such/prompts'"),
        ({"sumary_note.jinja": "A record."}, "replaces none of the built-in templates"),
        (jinja2.Environment(), "without a loader"),
    ],
)
def test_templates_that_are_not_there_are_refused_at_once(templates: Any, said: str) -> None:
    """Else every turn from the trigger on would raise."""
    with pytest.raises(ValueError, match=said):
        ChatContext([], templates=templates)
    with pytest.raises(ValueError, match=said):
        Middleware("extractive", templates=templates)
    with pytest.raises(ValueError, match=said):
        ChatContext([]).maybe_summarize("extractive", templates=templates)


@pytest.mark.parametrize("text", ["{% if %}", "{{ conversation }}{{ nobody }}", "Sum it up."])
def test_templates_that_no_fold_could_use_are_refused_at_once(text: str) -> None:
    """A middleware would let every turn go on unfolded, and say so in a log alone."""
    templates = {"summarize_user.jinja": text}
    ctx = ChatContext([{"role": "user", "content": "Hi"}])
    for call in (partial(ChatContext, []), partial(Middleware, "extractive")):
        with pytest.raises(TemplateError, match=r"template 'summarize_user\.jinja'"):
            call(templates=templates)
    for ask in (ctx.plan, partial(ctx.maybe_summarize, "extractive")):
        with pytest.raises(TemplateError, match=r"template 'summarize_user\.jinja'"):
            ask(templates=templates)


def test_templates_that_are_gone_by_now_are_a_failure_of_the_fold(tmp_path: Path) -> None:
    made = tmp_path / "prompts"
    made.mkdir()
    (made / "summary_note.jinja").write_text("A record.")
    items = [{"role": role, "content": f"{role} " * 200} for role in ("user", "assistant") * 3]
    policy = Policy(max_tokens=300, keep_tokens=50)
    ctx = ChatContext(list(items), policy=policy, templates=made)
    middleware = Middleware("extractive", policy, templates=made)
    made.rename(tmp_path / "elsewhere")
    for outcome in (ctx.maybe_summarize("extractive"), middleware.fold(items).outcome):
        assert (outcome.reason, type(outcome.error)) == ("failed", TemplateError)
    with pytest.raises(TemplateError, match="does not exist"):
        ctx.plan(keep_last_turns=1)


def test_an_empty_mapping_of_templates_replaces_none() -> None:
    items = [{"role": role, "content": f"{role} " * 200} for role in ("user", "assistant") * 3]
    prompts = [ChatContext(items, templates=given).plan(keep_last_turns=1) for given in ({}, None)]
    assert prompts[0].prompt == prompts[1].prompt


@pytest.mark.parametrize("name", [field.name for field in fields(Words)])
def test_words_are_tuples_of_phrases(name: str) -> None:
    """A text would be taken letter by letter, a list could not be looked up."""
    given: dict[str, Any] = {"orders": ("nie",)}
    for value in ("nie wieder", ["nie"], {"nie"}, None, 5, (5,), (None,), (("nie",),)):
        with pytest.raises(TypeError, match=f"{name} must be a tuple of phrases, such as"):
            Words(**(given | {name: value}))
    for phrase in ("nie[", "nie wieder|nie[!", "[] nie", "n[i e]"):
        with pytest.raises(ValueError, match=re.escape(f"{name}: {phrase!r} has a [ without")):
            Words(**(given | {name: (phrase,)}))
    assert getattr(Words(**(given | {name: ("[nm]ie", "nie]")})), name) == ("[nm]ie", "nie]")


FLAGS = [
    *("background", "force", "replay", "wait", "server_managed", "lossy", "completed_only"),
    *("keep_originals", "allow_download", "content", "conversation_id"),
]


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", ["false", "", 0, None])
def test_a_flag_is_true_or_false(name: str, value: Any) -> None:
    """A word from a file of settings counts as true: personal data would go where it must not."""
    for call in turned_on(name, value):
        with pytest.raises(TypeError, match=f"{name} must be True or False, not {value!r}"):
            call()


def test_an_unknown_option_is_told_what_the_call_takes() -> None:
    ctx = ChatContext([{"role": "user", "content": "Hi"}])
    given: dict[str, Any] = {"keep_turns": 1}
    limits = ["keep_last_turns", "keep_tokens", "abandon", "replay", "retries"]
    calls: dict[Callable[[], object], list[str]] = {
        partial(ctx.plan, **given): [*limits, "force"],
        partial(ctx.flow, **given): [*limits, "force"],
        partial(ctx.summarize, "extractive", **given): [*limits, "force", "model"],
        lambda: run(ctx.asummarize("extractive", **given)): [*limits, "force", "wait"],
        partial(ctx.maybe_summarize, "extractive", **given): [*limits, "background", "on_error"],
        lambda: run(ctx.amaybe_summarize("extractive", **given)): [*limits, "background"],
        partial(ctx.summarize_in_background, "extractive", **given): [*limits, "force"],
        partial(ChatContext, [], **given): ["retries", "undo_depth", "late_results", "shape"],
        partial(Middleware, "extractive", **given): ["retries", "sessions", "agent_model"],
    }
    for call, names in calls.items():
        with pytest.raises(TypeError, match="unknown option keep_turns; there are ") as caught:
            call()
        assert set(names) <= set(re.findall(r"\w+", str(caught.value)))


def test_the_name_of_a_model_is_text() -> None:
    """What is no name would be sent to a provider, or be an error of ours when it is looked up."""
    client = OpenAI(api_key="sk-secret")
    ctx = ChatContext([{"role": "user", "content": "Hi"}])
    with pytest.raises(
        TypeError, match="agent_model must be the name of a model, or None, not int"
    ):
        Middleware("extractive", agent_model=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^model must be the name of a model, or None, not by"):
        ctx.summarize(client, model=b"gpt-5")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^model must be the name of a model, or None, not Op"):
        ctx.maybe_summarize(client, model=client)  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", ["x", b"x", [{"role": "user"}], 5, None])
def test_what_is_rendered_as_steps_are_steps(steps: Any) -> None:
    with pytest.raises(TypeError):
        render_steps(steps)


@pytest.mark.parametrize("name", [5, None, ("model",), b"model"])
def test_a_live_request_is_by_names(name: Any) -> None:
    """What is named otherwise no SDK takes; Python said nothing of `request`."""
    for make in (ChatContext, partial(ChatContext([]).summarize, "extractive")):
        with pytest.raises(TypeError, match=r"^request is by the names of arguments, not "):
            make(request={"model": "m", name: 1})  # type: ignore[misc, arg-type]


@pytest.mark.parametrize("depth", [1.5, math.inf, math.nan, "3", None, True])
def test_undo_depth_is_a_whole_number(depth: Any) -> None:
    """It is used when the list has changed already; half a fold was an error there."""
    with pytest.raises(TypeError, match=f"undo_depth must be a whole number, not {depth!r}"):
        ChatContext([], undo_depth=depth)
    with pytest.raises(ValueError, match="undo_depth must be 0 or more, not -1"):
        ChatContext([], undo_depth=-1)


async def later(_: object) -> Any:
    """Answer no, to whoever awaits it."""
    return False


class Later:
    """An object that is called, and has to be awaited."""

    async def __call__(self, _: object) -> Any:
        return False


@pytest.mark.parametrize("function", [later, Later(), partial(later)])
def test_what_answers_only_when_awaited_is_refused_at_once(function: Any) -> None:
    """A coroutine is always true: every call would be given up, or no item be folded, ever."""
    for name in ("pin", "redact", "post_process", "on_event"):
        with pytest.raises(TypeError, match=f"{name} must answer at once"):
            ChatContext([], **{name: function})
        with pytest.raises(TypeError, match=f"{name} must answer at once"):
            Middleware("extractive", **{name: function})
    with pytest.raises(TypeError, match="when must answer at once"):
        Policy(when=function)
    with pytest.raises(TypeError, match="then must answer at once"):
        Telemetry(then=function)
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "Hi"}])
    for ask in (ctx.plan, ctx.flow, partial(ctx.summarize, "extractive")):
        with pytest.raises(TypeError, match="abandon must answer at once"):
            ask(abandon=function)  # type: ignore[operator]


def yielding(_: object) -> Any:
    """Answer no, to whoever runs it."""
    yield False


async def yielding_later(_: object) -> Any:
    """Answer no, to whoever awaits and runs it."""
    yield False


class Yielding:
    """An object that is called, and runs only when its answer is."""

    def __call__(self, _: object) -> Any:
        yield False

    def count(self, _: str) -> Any:
        """Count nothing yet."""
        yield 1


@pytest.mark.parametrize("function", [yielding, yielding_later, Yielding(), partial(yielding)])
def test_a_function_that_yields_is_refused_at_once(function: Any) -> None:
    """A generator is always true, too: every item would be pinned."""
    for name in ("pin", "redact", "post_process"):
        with pytest.raises(TypeError, match=f"{name} must answer with return"):
            ChatContext([], **{name: function})
        with pytest.raises(TypeError, match=f"{name} must answer with return"):
            Middleware("extractive", **{name: function})
    with pytest.raises(TypeError, match="when must answer with return"):
        Policy(when=function)
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "Hi"}])
    with pytest.raises(TypeError, match="abandon must answer with return"):
        ctx.plan(abandon=function)
    with pytest.raises(TypeError, match=r"counter\.count must answer with return"):
        ChatContext([], counter=Yielding())


@pytest.mark.parametrize("answer", [yielding, yielding_later])
def test_a_yes_or_no_that_has_not_run_is_refused(answer: Any) -> None:
    """From outside it does not show: `lambda item: ask(item)`, with an `ask` that yields."""
    items = [{"role": "user", "content": "Hi"}] * 3
    has_not_run = "must answer at once, and returned what has not run"
    with pytest.raises(TypeError, match=f"pin {has_not_run}"):
        ChatContext(list(items), pin=lambda item: answer(item)).plan(keep_last_turns=0)
    policy = Policy(when=lambda load: answer(load))
    with pytest.raises(TypeError, match=f"when {has_not_run}"):
        ChatContext(list(items), policy=policy).maybe_summarize("extractive")


@pytest.mark.parametrize("background", [[], {}, {1}, [True], "no", None])
def test_a_background_that_is_neither_true_nor_false_is_refused(background: Any) -> None:
    """The error names the option, whatever is given."""
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "Hi"}])
    with pytest.raises(TypeError, match="background must be True or False"):
        ctx.maybe_summarize("extractive", background=background)
    assert not ctx.maybe_summarize("extractive").changed


class Query:
    """What is asked only when it is awaited, and is no coroutine."""

    def __await__(self) -> Any:
        yield


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("answer", [later, lambda _: Query()])
def test_a_yes_or_no_that_has_to_be_awaited_is_refused(answer: Any) -> None:
    """From outside it does not show: `lambda item: ask(item)`, with an `ask` that is async."""
    items = plainly("openai_chat", [{"role": "user", "content": "Hi"}] * 3)
    call = {"id": "call_1", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    items.append({"role": "assistant", "content": None, "tool_calls": [call]})

    def asked(about: Any) -> Any:
        return answer(about)

    awaited = "must answer at once, and returned what is to be awaited"
    before = list(items)
    with pytest.raises(TypeError, match=f"pin {awaited}"):
        ChatContext(items, pin=asked).summarize("extractive", keep_last_turns=0)
    with pytest.raises(TypeError, match=f"when {awaited}"):
        ChatContext(items, policy=Policy(when=asked)).maybe_summarize("extractive")
    with pytest.raises(TypeError, match=f"abandon {awaited}"):
        ChatContext(items).summarize("extractive", keep_last_turns=0, abandon=asked)
    assert items == before


@pytest.mark.parametrize("yes", [1, "yes", [0], MagicMock()])
def test_what_is_true_is_a_yes(yes: Any) -> None:
    """A question of yes or no takes what Python takes."""
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "Hi"}])
    policy = Policy(when=lambda _: yes)
    assert policy.due(ctx.load())
    assert not Policy(when=lambda _: yes and 0).due(ctx.load())


@pytest.mark.parametrize(("key", "error"), [(17, TypeError), ("", ValueError)])
def test_a_key_that_no_store_takes_is_refused_at_once(key: Any, error: type[Exception]) -> None:
    """Else each turn would pay for a summary that cannot be written."""
    with pytest.raises(error, match="a key must"):
        ChatContext([], store=MemoryStore(), key=key)


def test_a_function_cannot_send_the_live_request() -> None:
    """A middleware says so when it is made, a context at its first turn."""
    with pytest.raises(ValueError, match="so it needs an OpenAI or Anthropic client"):
        Middleware(lambda prompt: "short", mode="append", request={"model": "gpt-5"})
    ctx = ChatContext([{"role": "user", "content": "Hi"}], mode="append", request={"model": "m"})
    with pytest.raises(ValueError, match="so it needs an OpenAI or Anthropic client"):
        ctx.maybe_summarize(lambda prompt: "short")


def test_a_secret_key_of_a_wrong_type_is_not_shown() -> None:
    with pytest.raises(TypeError) as caught:
        ChatContext([], summary_key="hunter2")  # type: ignore[arg-type]
    assert "hunter2" not in str(caught.value)


def test_a_summarizer_that_returns_none_has_written_nothing() -> None:
    """It is what `message.content` is where a model refused, or called a tool."""
    items = [{"role": role, "content": f"{role} " * 200} for role in ("user", "assistant") * 3]
    before = list(items)
    ctx = ChatContext(items, policy=Policy(max_tokens=300, keep_tokens=50))
    outcome = ctx.maybe_summarize(lambda prompt: None)  # type: ignore[arg-type,return-value]
    assert outcome.reason == "failed"
    assert isinstance(outcome.error, EmptySummaryError)
    with pytest.raises(EmptySummaryError):
        ctx.summarize(lambda prompt: None)  # type: ignore[arg-type,return-value]
    assert items == before


def test_a_class_is_no_object_of_it() -> None:
    """Parentheses are easily forgotten; it failed in the first fold."""
    with pytest.raises(TypeError, match=r"store must be a Store, .* not the class MemoryStore"):
        ChatContext([], store=MemoryStore, key="one")  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"store must be one for hosts, .* not the class MemoryStore"
    ):
        Middleware("extractive", store=MemoryStore)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="counter must be an object with count"):
        ChatContext([], counter=type(counter_for("gpt-5")))  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["call_1", 5, [5], [b"call_1"]])
def test_open_calls_are_given_up_by_their_ids(given: Any) -> None:
    """An id of a wrong type named no call, and said nothing."""
    with pytest.raises(TypeError, match="abandon= takes a list of call ids or a function, not "):
        ChatContext([{"role": "user", "content": "Hi"}]).plan(abandon=given)


@pytest.mark.parametrize("one", [{"role": "user", "content": "Hi"}, "Hi", b"Hi"])
def test_one_item_is_no_list_of_them(one: Any) -> None:
    """Its keys went into the list."""
    ctx: ChatContext[Any] = ChatContext([])
    with pytest.raises(TypeError, match=r"takes a list of items, not .*; append"):
        ctx.extend(one)
    assert ctx.items == []


@pytest.mark.parametrize("wrong", ["Hi", b"Hi", None, 5, [{"role": "user", "content": "Hi"}]])
def test_what_can_be_no_item_is_not_added(wrong: Any) -> None:
    """Each later request would have failed for it."""
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "Hi"}])
    with pytest.raises(TypeError, match=r"append\(\) takes one item: .* a dict or an object, not "):
        ctx.append(wrong)
    with pytest.raises(TypeError, match=r"number 1: an item has to be a dict or an object, not "):
        ctx.extend([{"role": "user", "content": "Ho"}, wrong])
    assert len(ctx.items) == 1


def test_what_is_no_plan_is_not_applied() -> None:
    with pytest.raises(TypeError, match=r"apply\(\) takes what plan\(\) returned, not str"):
        ChatContext([]).apply("a summary", "a summary")  # type: ignore[arg-type]


def test_what_is_recalled_is_sought_by_text() -> None:
    ctx: ChatContext[Any] = ChatContext([], store=MemoryStore(), key="one", shape="anthropic")
    for name in ("call_id", "query"):
        with pytest.raises(TypeError, match=f"{name} must be text, not 5"):
            ctx.recall(**{name: 5})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="name must be text, not 5"):
        ctx.recall_tool(5)  # type: ignore[arg-type]
    for name in ("", "my tool", "a" * 65, "tool\n"):
        with pytest.raises(ValueError, match="name must be of letters, digits"):
            ctx.recall_tool(name)
    assert ctx.recall_tool("read-again_2").name == "read-again_2"


def test_a_counter_that_does_not_say_whether_it_is_exact_is_not() -> None:
    """Most of what people bring is an encoder with a `count` put around it."""

    class Letters:
        def count(self, text: str) -> int:
            return len(text)

    counted: Any = ChatContext([{"role": "user", "content": "Hi"}], counter=Letters())  # type: ignore[arg-type]
    assert counted.count_tokens().value > 1
    assert counted.count_tokens().exact is False


def test_what_is_no_list_of_items_is_refused_by_extend() -> None:
    """The message says what it takes, and no line of Python's own comes out."""
    ctx = ChatContext([{"role": "user", "content": "Hi"}])
    for given in (None, 5, object()):
        with pytest.raises(TypeError, match=r"extend\(\) takes a list of items, not "):
            ctx.extend(given)  # type: ignore[arg-type]
    assert len(ctx) == 1


def test_a_context_that_is_copied_or_pickled_says_what_to_keep_instead() -> None:
    """Frameworks copy and store an agent's state; what has to be kept of a context is its list."""
    ctx = ChatContext([{"role": "user", "content": "Hi"}])
    for keep in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"ctx\.items"):
            keep(ctx)


def test_a_plan_that_is_copied_or_pickled_says_that_its_prompt_is_what_to_send() -> None:
    """Which a worker can have, also with what it shows; its answer is put in where the list is."""
    turns = [("user", "Where is it? " * 90), ("assistant", "On its way. " * 90)] * 3
    ctx = ChatContext([{"role": role, "content": said} for role, said in turns])
    plan = ctx.plan(keep_last_turns=1)
    for keep in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"plan\.prompt"):
            keep(plan)
    assert pickle.loads(pickle.dumps(plan.prompt)) == plan.prompt
    assert ctx.apply(copy.copy(plan), pickle.loads(pickle.dumps(Completion("It is.")))).changed
    nothing = ctx.plan(keep_last_turns=1)
    assert not nothing
    assert pickle.loads(pickle.dumps(nothing)) == nothing


def test_a_middleware_that_is_copied_or_pickled_says_what_to_do_instead() -> None:
    """A shallow copy has the same folds, and no lock of its own."""
    ours = Middleware(OpenAI(api_key="k"), model="m")
    for keep in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="make another one, with the same store"):
            keep(ours)
    other: Middleware[Any] = copy.copy(ours)
    messages = [{"role": "user", "content": "Hi"}]
    assert other is not ours
    assert other(messages) == ours(messages) == messages


@pytest.mark.parametrize(
    ("count", "error", "said"),
    [
        (None, TypeError, "counter=Odd has to return a number of tokens, not NoneType"),
        ("12", TypeError, "counter=Odd has to return a number of tokens, not str"),
        (-3, ValueError, "counter=Odd counts -3 tokens in a text"),
        (float("nan"), ValueError, "counter=Odd counts nan tokens in a text"),
        (float("inf"), ValueError, "counter=Odd counts inf tokens in a text"),
    ],
)
def test_a_counter_that_counts_wrongly_is_named(
    count: Any, error: type[Exception], said: str
) -> None:
    """Deep inside of the counting it was an error of Python's, or a list of less than nothing."""

    class Odd:
        exact = False

        def count(self, text: str) -> Any:
            return count

    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    with pytest.raises(error, match=f"^{said}$"):
        ChatContext(talk, counter=Odd()).count_tokens()


def test_a_counter_that_divides_is_right() -> None:
    """It is rounded up."""

    class Quarter:
        exact = False

        def count(self, text: str) -> Any:
            return len(text) / 4

    assert ChatContext([{"role": "user", "content": "Hello"}], counter=Quarter()).count_tokens()


def test_names_in_options_are_names() -> None:
    """A number would never be found, or be sent to a provider."""
    for given in ({"effects": {5: "read"}}, {"request": {"model": 5}}):
        options: Any = given
        with pytest.raises(TypeError, match=r"not 5$|not int$"):
            ChatContext([], **options)
