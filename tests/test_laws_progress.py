"""Laws 10 to 15: the last request survives, folds make progress and can be taken back, and nothing
is silent or leaks.

Not here: the policy's part of law 11 and the stores of law 14.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SHAPES, History, broken, histories
from validator import validate

import chatfold
from chatfold import (
    BusyError,
    ChatContext,
    ChatfoldError,
    Completion,
    InvalidResultError,
    Outcome,
    Plan,
    Prompt,
    StaleHeadError,
    SummarizerError,
    SummaryError,
    Usage,
)
from chatfold.core.plan import Reason
from chatfold.core.views import MediaPart, OpaquePart, ReasoningPart, ResultPart

Item = dict[str, Any]
LONG = "many words that are worth folding away. " * 40


class Letters:
    """Counts letters; by default next to nothing for our wrapper, so that small folds gain too."""

    exact = False

    def __init__(self, *, wrapper: bool = False) -> None:
        self.wrapper = wrapper

    def count(self, text: str) -> int:
        free = not self.wrapper and "<chat_history_summary digest=" in text
        return 1 if free else len(text)


def short(prompt: Prompt) -> str:
    return "s"


def user(text: str = "go on") -> Item:
    return {"role": "user", "content": text}


def said(text: str = LONG) -> Item:
    return {"role": "assistant", "content": text}


def talk(turns: int = 3) -> list[Any]:
    """Return turns that every shape takes, each with a long answer."""
    return [item for n in range(turns) for item in (user(f"question {n}"), said())]


def same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether two lists hold the same objects in the same order."""
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def holds(items: Sequence[Any], wanted: object) -> bool:
    return any(item is wanted for item in items)


KEEPS: st.SearchStrategy[dict[str, int]] = st.one_of(
    st.integers(0, 2).map(lambda n: {"keep_last_turns": n}),
    st.integers(0, 200).map(lambda n: {"keep_tokens": n}),
    st.tuples(st.integers(0, 2), st.integers(0, 200)).map(
        lambda both: {"keep_last_turns": both[0], "keep_tokens": both[1]}
    ),
)


# --- law 10: the last request survives ----------------------------------------------------------


def runs(openers: Sequence[int], length: int) -> list[tuple[int, int, list[int]]]:
    """Return the turns with a user's message: first index, index behind, the openers' indices."""
    made: list[tuple[int, int, list[int]]] = []
    for index in openers:
        if made and made[-1][2][-1] == index - 1:
            made[-1][2].append(index)
        else:
            made.append((index, length, [index]))
    stops = [first for first, _, _ in made[1:]] + [length]
    return [(first, stop, own) for (first, _, own), stop in zip(made, stops, strict=False)]


def answers(history: History) -> dict[int, list[int]]:
    """Return for each item that holds nothing but results the indices of the calls it answers."""
    found: dict[int, list[int]] = {}
    for call in history.calls:
        index = call.result_index
        if index is None or index in history.openers or index == call.call_index:
            continue
        item = history.items[index]
        role = item.get("role") if isinstance(item, dict) else getattr(item, "role", None)
        if role != "assistant" and (not isinstance(item, dict) or "execution" not in item):
            found.setdefault(index, []).append(call.call_index)
    return found


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data(), keep=KEEPS)
def test_law_10_the_messages_that_open_a_cut_turn_stay(
    shape: str, data: st.DataObject, keep: dict[str, int]
) -> None:
    """The same objects, wherever the cut falls inside a turn."""
    history = data.draw(histories(shape, max_turns=3, broken=True))
    items = list(history.items)
    ctx = ChatContext(items, shape=shape, counter=Letters())
    plan = ctx.plan(**keep)
    if not plan or not ctx.apply(plan, "s"):
        return
    for first, stop, openers in runs(history.openers, len(history.items)):
        if first < plan.index < stop:
            assert all(holds(items, history.items[i]) for i in openers)


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data(), keep=KEEPS)
def test_law_10_the_request_of_an_unfinished_turn_stays_at_any_keep(
    shape: str, data: st.DataObject, keep: dict[str, int]
) -> None:
    """A list that ends on a user's message or on results keeps its last request."""
    history = data.draw(histories(shape, max_turns=3, broken=True))
    last = len(history.items) - 1
    unfinished = last in history.openers or last in answers(history)
    if not (unfinished and history.openers):
        return
    items = list(history.items)
    outcome = ChatContext(items, shape=shape, counter=Letters()).summarize(short, **keep)
    request = runs(history.openers, last + 1)[-1][2]
    if outcome:
        assert all(holds(items, history.items[i]) for i in request)


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data(), keep=KEEPS)
def test_law_10_the_group_that_the_model_has_yet_to_see_is_never_cut(
    shape: str, data: st.DataObject, keep: dict[str, int]
) -> None:
    """A list that ends with results keeps all from the first of their calls on."""
    history = data.draw(histories(shape, max_turns=3))
    results = answers(history)
    index = first = len(history.items)
    while index - 1 in results:
        index -= 1
        first = min(first, *results[index])
    items = list(history.items)
    if first == len(items):
        return
    ChatContext(items, shape=shape, counter=Letters()).summarize(short, **keep)
    group = history.items[first:]
    at = next(i for i, item in enumerate(items) if item is group[0])
    behind = items[at:]  # Anthropic's kept instructions may have moved behind the results
    assert same([item for item in behind if holds(group, item)], group)
    assert same(behind[: len(group)], group) or shape == "anthropic"


@given(history=histories("anthropic", max_turns=4), keep=KEEPS)
def test_law_10_a_request_that_carries_results_moves_the_cut_back(
    history: History, keep: dict[str, int]
) -> None:
    """Such a message cannot stay without its call, so no cut falls behind it in its turn."""
    plan = ChatContext(history.items, shape="anthropic", counter=Letters()).plan(**keep)
    carried = {c.result_index for c in history.calls if c.result_index in history.openers}
    for first, stop, openers in runs(history.openers, len(history.items)):
        if plan and carried.intersection(openers):
            assert not first < plan.index < stop


@pytest.mark.parametrize("keep", [{"keep_last_turns": 0}, {"keep_tokens": 0}, {"keep_tokens": 5}])
def test_law_10_the_cut_moves_back_to_the_call_of_a_request_with_results(
    keep: dict[str, int],
) -> None:
    """A long running turn that opened with results and text is kept with the call before it."""
    use = {"type": "tool_use", "id": "t1", "name": "go", "input": {}}
    done = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    call: Item = {"role": "assistant", "content": [use]}
    request: Item = {"role": "user", "content": [done, {"type": "text", "text": "and now this"}]}
    items: list[Any] = [*talk(2), user("first"), call, request, said(), user("more"), said()]
    turn = items[5:8]
    for running in (items[:8], [*items[:8], {"role": "user", "content": [dict(done)]}]):
        del running[9:]
        ctx = ChatContext(running[:8], shape="anthropic", counter=Letters())
        own = ctx.items
        del own[7:]  # the request is the last item: its turn runs
        assert ctx.summarize(short, **keep)
        assert same(own[-2:], turn[:2])
        assert validate(own, "anthropic") == []


def test_law_10_nothing_is_kept_of_a_finished_history_at_keep_0() -> None:
    """The law is about requests that wait; an answered one may go."""
    items = talk()
    assert ChatContext(items).summarize(short, keep_last_turns=0)
    assert len(items) == 1


# --- law 11: progress ---------------------------------------------------------------------------


class Model:
    """A summarizer that counts how often it is asked."""

    def __init__(self, *answers: str | Completion | Exception) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self, prompt: Prompt) -> str | Completion:
        self.calls += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


HUGE = Completion("too long. " * 50_000, usage=Usage(100, 50, 7))


@given(history=histories(max_turns=3), turns=st.integers(1, 3))
@settings(max_examples=30)
def test_law_11_a_fold_that_does_not_shrink_is_refused_and_not_tried_again(
    history: History, turns: int
) -> None:
    """`no_gain` with its usage, the list untouched; then `unchanged_head` without a call."""
    items = [*history.items, *talk(2)]
    before = list(items)
    model = Model(HUGE)
    ctx = ChatContext(items, shape=history.shape, counter=Letters(wrapper=True))
    outcome = ctx.summarize(model, keep_last_turns=turns)
    if model.calls == 0:
        return
    assert (outcome.changed, outcome.reason, outcome.usage) == (False, "no_gain", HUGE.usage)
    assert outcome.llm_calls == model.calls == 1
    assert outcome.tokens_before == outcome.tokens_after == ctx.count_tokens().value
    assert outcome.removed == () and outcome.item is None
    again = ctx.summarize(model, keep_last_turns=turns)
    assert (again.reason, again.llm_calls, model.calls) == ("unchanged_head", 0, 1)
    assert not ctx.plan(keep_last_turns=turns)
    assert same(items, before)


def test_law_11_force_tries_the_same_head_again() -> None:
    """The caller may know better, and gets a fold if the model does better."""
    model = Model(HUGE, HUGE, "short")
    ctx = ChatContext(talk())
    reasons = [
        ctx.summarize(model, keep_last_turns=1, force=force).reason
        for force in (False, False, True, True)
    ]
    assert reasons == ["no_gain", "unchanged_head", "no_gain", "summarized"]
    assert model.calls == 3


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda items: items.extend(talk(1)), id="grown"),
        pytest.param(lambda items: items[1].update(content=LONG + "!"), id="edited"),
        pytest.param(lambda items: items.insert(0, user("before")), id="longer"),
    ],
)
def test_law_11_a_head_that_changed_is_tried_again(change: Callable[[list[Any]], None]) -> None:
    """What grew or says something else is another head."""
    model = Model(HUGE, "short")
    items = talk()
    ctx = ChatContext(items)
    assert ctx.summarize(model, keep_last_turns=1).reason == "no_gain"
    change(items)
    assert ctx.summarize(model, keep_last_turns=1).reason == "summarized"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda items: items.append(said("ok")), id="tail grown"),
        pytest.param(lambda items: items[-1].update(content="other"), id="tail edited"),
        pytest.param(lambda items: items.__setitem__(slice(None), reloaded(items)), id="reloaded"),
    ],
)
def test_law_11_a_head_that_says_the_same_is_not_tried_again(
    change: Callable[[list[Any]], None],
) -> None:
    """Only the head counts, and an equal copy of it says the same."""
    model = Model(HUGE)
    items = talk()
    ctx = ChatContext(items)
    ctx.summarize(model, keep_last_turns=1)
    change(items)
    assert ctx.summarize(model, keep_last_turns=1).reason == "unchanged_head"
    assert model.calls == 1


def test_law_11_an_undone_head_is_not_tried_again() -> None:
    """Who took a fold back does not want it at the next turn; `force` says otherwise."""
    model = Model("short")
    ctx = ChatContext(talk())
    assert ctx.summarize(model, keep_last_turns=1) and ctx.undo()
    assert ctx.summarize(model, keep_last_turns=1).reason == "unchanged_head"
    assert model.calls == 1
    assert ctx.summarize(model, keep_last_turns=1, force=True).reason == "summarized"


@pytest.mark.parametrize("failure", [RuntimeError("down"), Completion(""), Completion("x", "length")])
def test_law_11_an_explicit_retry_after_a_failure_asks_the_model_again(
    failure: Exception | Completion,
) -> None:
    """A failure says nothing about the head."""
    answers = [failure, failure] if isinstance(failure, Completion) else [failure]
    model = Model(*answers[: 2 if failure == Completion("x", "length") else 1], "short")
    ctx = ChatContext(talk())
    with pytest.raises(SummaryError):
        ctx.summarize(model, keep_last_turns=1)
    asked = model.calls
    assert ctx.summarize(model, keep_last_turns=1).reason == "summarized"
    assert model.calls == asked + 1


def test_law_11_min_gain_refuses_a_fold_that_saves_too_little() -> None:
    """Any saving will do by default; a share can be asked for."""
    ctx = ChatContext(talk())
    assert ctx.summarize(short, keep_last_turns=1, min_gain=0.9).reason == "no_gain"
    assert ctx.summarize(short, keep_last_turns=1, min_gain=0.1, force=True).reason == "summarized"


# --- law 12: unknown is not fatal ---------------------------------------------------------------


class Foreign:
    """An object of no SDK that we know."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Unwilling:
    """An SDK object whose fields do not serialize."""

    role = "assistant"

    def to_dict(self) -> dict[str, Any]:
        raise ValueError("cannot be serialized")


UNKNOWN: st.SearchStrategy[Any] = st.sampled_from(
    [
        lambda: {"type": "from_the_future", "data": {"a": [1, None, "x"]}},
        lambda: {"type": "from_the_future", "role": "user", "parts": ["a\x00b"]},
        lambda: {"kind": "no type at all"},
        lambda: {"role": "narrator", "content": "meanwhile"},
        lambda: Foreign(type="from_the_future", data=1),
        lambda: SimpleNamespace(role="narrator", content="meanwhile"),
    ]
).map(lambda make: make())
BLOCK = {"type": "block_from_the_future", "data": {"deep": ["x", 1]}}
READERS = (
    *("views", "tool_calls", "count_tool_calls", "turns", "cut_points", "count_tokens"),
    *("check", "requirements", "request_options", "plan", "__repr__", "__len__"),
)


@contextmanager
def records() -> Iterator[list[logging.LogRecord]]:
    """Collect every log record of every level, whatever logger it comes from."""
    found: list[logging.LogRecord] = []
    handler = logging.Handler(0)
    handler.emit = found.append  # type: ignore[method-assign]
    root, own = logging.getLogger(), logging.getLogger("chatfold")
    levels = root.level, own.level
    root.addHandler(handler)
    root.setLevel(0)
    own.setLevel(1)
    try:
        yield found
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        own.setLevel(levels[1])


@given(
    history=histories(max_turns=2, open_calls=False),
    unknown=st.lists(UNKNOWN, min_size=1, max_size=3),
    at=st.integers(0, 20),
)
def test_law_12_unknown_items_are_kept_in_the_tail_and_shown_in_the_prompt(
    history: History, unknown: list[Any], at: int
) -> None:
    """Same objects behind the cut, generic elements before it, one warning for each."""
    items = [*history.items[:at], *unknown, *history.items[at:]]
    items += [*talk(2), {"type": "from_the_future", "at": "the end"}, said("end")]
    ctx = ChatContext(items, shape=history.shape, counter=Letters())
    with records() as logged:
        for name in READERS:
            getattr(ctx, name)()
    warned = [r for r in logged if r.levelno == logging.WARNING and "known shape" in r.getMessage()]
    assert len(warned) == len(unknown) + 1
    places = {i for i, item in enumerate(items) if any(item is u for u in unknown)}
    assert places <= {i for p in ctx.check() for i in p.indices}
    plan = ctx.plan(keep_last_turns=1)
    tail = items[plan.index :]
    if plan.prompt is not None:
        shown = plan.prompt.user.count("<item")
        assert shown >= sum(1 for u in unknown if holds(plan.head, u))
        ctx.apply(plan, "s")
    assert same([item for item in items if holds(tail, item)], tail)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_law_12_an_unknown_block_passes_through(shape: str, kind: type) -> None:
    """It is in the prompt as its JSON, `check` names it, a warning is logged, nothing raises."""
    block = kind(**BLOCK)
    strange: Item = {"role": "user", "content": [{"type": "text", "text": "see"}, block]}
    if shape == "openai_responses":
        strange["type"] = "message"
    items: list[Any] = [user(), said(), strange, said(), user(), strange, said("end")]
    with records() as logged:
        ctx = ChatContext(items, shape=shape)
        found = [p for p in ctx.check() if p.rule == "unknown_part"]
    assert [(p.index, p.severity) for p in found] == [(2, "warning"), (5, "warning")]
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert '<item type="block_from_the_future">' in plan.prompt.user
    assert json.dumps(BLOCK) in plan.prompt.user
    assert ctx.apply(plan, "s").changed
    assert items[-2] is strange and strange["content"][1] is block
    assert [r for r in logged if r.levelno == logging.WARNING]


@given(history=histories(max_turns=3, sdk_objects=False), name=st.sampled_from(["x_new", "meta"]))
def test_law_12_unknown_fields_change_no_reading(history: History, name: str) -> None:
    """Items with a field that nobody knows read, cut and count as without it."""
    more = [{**item, name: {"a": ["b"]}} for item in history.items]
    plain, other = (ChatContext(list(i), shape=history.shape) for i in (history.items, more))
    assert other.tool_calls() == plain.tool_calls()
    assert other.turns() == plain.turns()
    assert other.cut_points() == plain.cut_points()
    assert other.check() == plain.check()
    assert other.count_tokens() == plain.count_tokens()
    plan = other.plan(keep_last_turns=1)
    assert all(holds(more, item) for item in plan.head)


@given(history=broken(histories(broken=True, opaque=True), junk=True), keep=KEEPS)
def test_law_12_nothing_raises_on_a_broken_history(history: History, keep: dict[str, int]) -> None:
    """Every reading method answers, with the right shape, a wrong one and none."""
    for shape in (None, *SHAPES):
        ctx = ChatContext(list(history.items), shape=shape, counter=Letters())
        for name in READERS:
            getattr(ctx, name)()
        ctx.plan(**keep)


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


MALFORMED = {
    "none": None,
    "number": 7,
    "text": "text",
    "list": [],
    "bytes": b"bytes",
    "bytes content": {"role": "user", "content": b"x"},
    "object content": {"role": "user", "content": object()},
    "unwilling": Unwilling(),
    "no content": {"role": "user"},
    "orphan": {"role": "tool", "content": "x"},
    "call without name": {"role": "assistant", "content": None, "tool_calls": [{}]},
}


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("shape", ["openai_chat", "anthropic"])
def test_law_12_a_malformed_item_is_reported_with_its_index(name: str, shape: str) -> None:
    """The others are read as if it were not there, and the list still folds."""
    items = [*talk(1), MALFORMED[name], *talk(2)]
    ctx = ChatContext(items, shape=shape)
    assert 2 in {i for p in ctx.check() for i in p.indices}
    assert [p for p in ctx.check() if 2 not in p.indices] == []
    assert ctx.summarize(short, keep_last_turns=1)


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": nested(900)},
        {"type": "from_the_future", "deep": nested(900)},
        {"type": "from_the_future", "odd": {1: {2}, None: math.nan}},
        {"type": ["list"], "role": {"a": 1}, "content": 3},
        {"type": "function_call", "call_id": ["x"], "name": {"a": 1}, "arguments": [object()]},
        {"role": "assistant", "content": [None, 3, {"type": []}], "tool_calls": "abc"},
    ],
    ids=["deep", "deep unknown", "odd values", "odd type", "odd call", "odd parts"],
)
def test_law_12_strange_values_inside_an_item_raise_nothing(item: Item) -> None:
    """Whatever JSON or Python can hold where text should be."""
    for shape in (None, *SHAPES):
        ctx = ChatContext([*talk(1), item, *talk(2)], shape=shape)
        for name in READERS:
            getattr(ctx, name)()


# --- law 13: never silent -----------------------------------------------------------------------


def told(outcome: Outcome[Any], before: Sequence[Any], items: Sequence[Any]) -> None:
    """Check what every outcome says against the list before and after."""
    fresh = [ChatContext(list(i), counter=Letters(), shape=SHAPE[0]) for i in (before, items)]
    assert outcome.reason in get_args(Reason)
    assert len(str(outcome).splitlines()) == 1
    assert outcome.tokens_before == fresh[0].count_tokens().value
    assert outcome.tokens_after == fresh[1].count_tokens().value
    if outcome.reason == "summarized":
        prefix = len(before) - len(outcome.removed) - len(outcome.kept)
        assert prefix >= 0 and outcome.seconds > 0 and outcome.llm_calls == 1
        assert str(outcome) == (
            f"summarized {len(outcome.removed)} items: {outcome.tokens_before:,} -> "
            f"{outcome.tokens_after:,} tokens, 1 call, {outcome.seconds:.1f} s"
        )
        assert list(outcome.problems) == fresh[1].check()
    else:
        assert not outcome.changed and same(items, before)
        assert str(outcome).startswith(f"not summarized ({outcome.reason})")
        assert outcome.removed == () and outcome.tokens_after == outcome.tokens_before


SHAPE: list[str | None] = [None]  # of the history that `told` looks at


@given(history=histories(broken=True, opaque=True, max_turns=4), keep=KEEPS)
def test_law_13_every_outcome_says_what_happened(history: History, keep: dict[str, int]) -> None:
    """A reason of the set, one line, and the token figures that a fresh context counts."""
    SHAPE[0] = history.shape
    items = list(history.items)
    outcome = ChatContext(items, shape=history.shape, counter=Letters()).summarize(short, **keep)
    told(outcome, history.items, items)


@given(history=histories(broken=True, max_turns=4), keep=KEEPS)
def test_law_13_removed_kept_and_tail_are_all_there_was(
    history: History, keep: dict[str, int]
) -> None:
    """Every item is named once: removed, kept before the cut, or still where it was."""
    items = list(history.items)
    ctx = ChatContext(items, shape=history.shape, counter=Letters())
    plan = ctx.plan(**keep)
    outcome = ctx.apply(plan, "s") if plan else None
    if not outcome:
        return
    stays = [item for item in history.items if not holds(outcome.removed, item)]
    gone = [item for item in history.items if holds(outcome.removed, item)]
    assert same(gone, outcome.removed)
    assert Counter(map(id, items)) == Counter(map(id, [*stays, outcome.item]))
    assert all(holds(stays, item) for item in outcome.kept)
    assert len(history.items[plan.index :]) + len(outcome.kept) + len(outcome.removed) <= len(
        history.items
    )


@given(history=histories(broken=True, max_turns=4, open_calls=False))
def test_law_13_what_has_no_readable_form_is_counted(history: History) -> None:
    """Media, encrypted reasoning and superseded state of the head, one by one."""
    plan = ChatContext(history.items, shape=history.shape).plan(keep_last_turns=1)
    if plan.prompt is None:
        return
    skipped = {i - (plan.index - len(plan.region)) for i in plan.split.superseded}
    views = [v for i, v in enumerate(plan.prompt.views) if i not in skipped]
    parts = [part for view in views for part in view.parts]
    counted = {
        "media": sum(isinstance(p, MediaPart) for p in parts)
        + sum(len(p.media) for p in parts if isinstance(p, ResultPart)),
        "encrypted_reasoning": sum(isinstance(p, ReasoningPart) and p.opaque > 0 for p in parts),
        "opaque": sum(isinstance(p, OpaquePart) for p in parts),
        "superseded_state": len(skipped),
    }
    assert dict(plan.omitted) == {kind: count for kind, count in counted.items() if count}
    if history.shape == "openai_responses":
        sealed = [item for item in plan.region if is_sealed(item)]
        assert len(sealed) == plan.omitted.get("encrypted_reasoning", 0)


def is_sealed(item: Any) -> bool:
    get = item.get if isinstance(item, dict) else lambda key: getattr(item, key, None)
    return get("type") == "reasoning" and bool(get("encrypted_content"))


def test_law_13_the_line_of_a_fold_has_the_format_of_the_design() -> None:
    """Items, tokens before and after, calls and seconds, with separators."""
    outcome: Outcome[Any] = Outcome(
        True,
        "summarized",
        removed=(None,) * 48,
        tokens_before=61_204,
        tokens_after=9_870,
        llm_calls=1,
        seconds=3.2,
    )
    assert str(outcome) == "summarized 48 items: 61,204 -> 9,870 tokens, 1 call, 3.2 s"


def test_law_13_too_few_turns_names_the_remedy() -> None:
    """One giant turn: how large it is, and what to pass to cut inside it."""
    ctx = ChatContext([user(), said(LONG * 100)])
    outcome = ctx.summarize(short)
    tokens = f"{outcome.tokens_before:,}"
    limit = re.fullmatch(
        rf"not summarized \(too_few_turns\): 1 turn of {tokens} tokens; "
        r"pass keep_tokens=([0-9_]+) to cut inside( it)?",
        str(outcome),
    )
    assert limit is not None and 0 < int(limit[1]) < outcome.tokens_before
    assert ctx.plan(keep_tokens=int(limit[1]))


@pytest.mark.parametrize(
    ("items", "options", "reason", "words"),
    [
        ([], {}, "nothing_to_summarize", ""),
        ([{"role": "system", "content": "rules"}], {}, "nothing_to_summarize", ""),
        (talk(1), {"keep_last_turns": 2}, "too_few_turns", "keep_tokens="),
        (talk(3), {"keep_last_turns": 1, "summarizer": HUGE}, "no_gain", "max_summary_tokens"),
        (talk(3), {"server_managed": True}, "server_managed", "full list"),
        (
            [{"type": "compaction", "id": "c", "encrypted_content": "x" * 99}, *talk(3)],
            {"keep_last_turns": 1},
            "blocked_by_opaque",
            "natively",
        ),
    ],
)
def test_law_13_every_reason_has_its_words(
    items: list[Any], options: dict[str, Any], reason: str, words: str
) -> None:
    """Where something can be done about it, the line says what."""
    managed = options.pop("server_managed", False)
    model = Model(options.pop("summarizer", "s"))
    outcome = ChatContext(list(items), server_managed=managed).summarize(model, **options)
    assert (outcome.reason, outcome.changed) == (reason, False)
    assert words in str(outcome) and len(str(outcome).splitlines()) == 1


def test_law_13_what_blocks_is_named_on_one_line() -> None:
    """Even where a call's id holds line breaks."""
    call = {"type": "function_call", "call_id": "a\nb\u2028c", "name": "f", "arguments": "{}"}
    items = [user(), {**call, "async": True}, said(), *talk(2)]
    outcome = ChatContext(items).summarize(short, keep_last_turns=1)
    assert (outcome.reason, outcome.blocked_by) == ("blocked_by_open_calls", ("a\nb\u2028c",))
    assert len(str(outcome).splitlines()) == 1


@given(
    spent=st.lists(
        st.builds(Usage, *[st.integers(0, 10**6)] * 3) | st.none(), min_size=3, max_size=3
    ),
    fails=st.booleans(),
)
def test_law_13_usage_sums_every_model_call(spent: list[Usage | None], fails: bool) -> None:
    """Truncated answers and failed members of a chain are paid for as well."""
    cut = [Completion("x", "length", usage) for usage in spent[:2]]
    last = Completion("", usage=spent[2]) if fails else Completion("fine", usage=spent[2])
    known = [usage for usage in spent if usage is not None]
    total = sum(known, Usage()) if known else None
    chain = [Model(*cut), Model(last)]
    ctx = ChatContext(talk())
    if fails:
        with pytest.raises(SummaryError) as caught:
            ctx.summarize(chain, keep_last_turns=1)
        assert (caught.value.usage, caught.value.llm_calls) == (total, 3)
    else:
        outcome = ctx.summarize(chain, keep_last_turns=1)
        assert (outcome.usage, outcome.llm_calls) == (total, 3)
        assert ", 3 calls, " in str(outcome)


def test_law_13_an_undo_says_what_it_did() -> None:
    """Its line holds the sizes; without a fold there is a reason."""
    items = talk()
    ctx = ChatContext(items)
    assert str(ctx.undo()) == "nothing_to_undo"
    folded = ctx.summarize(short, keep_last_turns=1)
    outcome = ctx.undo()
    assert (outcome.reason, outcome.changed) == ("undone", True)
    assert outcome.removed == (folded.item,)
    assert (outcome.tokens_before, outcome.tokens_after) == (
        folded.tokens_after,
        folded.tokens_before,
    )
    assert str(outcome) == f"undone: {folded.tokens_after:,} -> {folded.tokens_before:,} tokens"


# --- law 14: reversible -------------------------------------------------------------------------


def reloaded(items: Sequence[Any]) -> list[Any]:
    loaded: list[Any] = json.loads(json.dumps(items))
    return loaded


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("fold"), st.integers(0, 2)),
        st.tuples(st.just("append"), st.integers(1, 2)),
        st.tuples(st.just("undo"), st.just(0)),
    ),
    min_size=2,
    max_size=9,
)


@given(history=histories(max_turns=3, broken=True), steps=STEPS, depth=st.integers(0, 3))
def test_law_14_undo_walks_back_object_for_object(
    history: History, steps: list[tuple[str, int]], depth: int
) -> None:
    """After any folds and additions each undo gives the list before its fold, plus what came."""
    items = [*history.items, *talk(1)]
    ctx = ChatContext(items, shape=history.shape, counter=Letters(), undo_depth=depth)
    states: list[list[Any]] = []  # the list before each fold that can be taken back
    for step, number in [*steps, *[("undo", 0)] * 4]:
        before = list(items)
        if step == "append":
            new = talk(number)
            ctx.extend(new)
            for state in states:
                state.extend(new)
        elif step == "fold":
            if ctx.summarize(short, keep_last_turns=number, force=True):
                states = [*states, before][-depth:] if depth else []
            else:
                assert same(items, before)
        elif states:
            assert ctx.undo().reason == "undone"
            assert same(items, states.pop())
        else:
            assert ctx.undo().reason == "nothing_to_undo"
            assert same(items, before)
    assert states == []


@given(history=histories(max_turns=3, sdk_objects=False), keep=KEEPS)
def test_law_14_undo_works_on_a_list_that_was_reloaded_in_place(
    history: History, keep: dict[str, int]
) -> None:
    """The summary and the kept items are found as equal items; what came since stays."""
    items = [*history.items, *talk(1)]
    before = list(items)
    ctx = ChatContext(items, shape=history.shape, counter=Letters())
    outcome = ctx.summarize(short, **keep)
    if not outcome:
        return
    items[:] = reloaded(items)
    new = talk(1)
    ctx.extend(new)
    assert ctx.undo().reason == "undone"
    assert items == [*before, *new]
    assert all(holds(items, item) for item in outcome.removed)


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_law_14_undo_depth_is_the_number_of_folds_that_can_be_taken_back(depth: int) -> None:
    """The oldest folds are forgotten first."""
    items: list[Any] = []
    ctx = ChatContext(items, undo_depth=depth)
    for n in range(4):
        ctx.extend([user(f"turn {n}"), said(), user("more"), said()])
        assert ctx.summarize(lambda p, n=n: f"summary {n}", keep_last_turns=1)
    reasons = [ctx.undo().reason for _ in range(5)]
    taken_back = min(depth, 4)
    assert reasons == ["undone"] * taken_back + ["nothing_to_undo"] * (5 - taken_back)


def test_law_14_a_moved_instruction_returns_to_its_place() -> None:
    """Anthropic's mid-conversation instruction goes behind a user's turn and comes back."""
    rule = {"role": "system", "content": "Terse mode."}
    items: list[Any] = [user("a"), said(), user("b"), rule, said(), *talk(2)]
    before = list(items)
    ctx = ChatContext(items, shape="anthropic")
    assert ctx.summarize(short, keep_last_turns=1).kept == (rule,)
    assert [item["role"] for item in items] == ["user", "user", "system", "assistant"]
    later = talk(1)
    ctx.extend(later)
    assert ctx.undo()
    assert same(items, [*before, *later])


def test_law_14_without_its_summary_there_is_nothing_to_undo() -> None:
    """A list whose summary was taken out by hand is left as it is."""
    items = talk()
    ctx = ChatContext(items)
    ctx.summarize(short, keep_last_turns=1)
    del items[0]
    left = list(items)
    assert ctx.undo().reason == "nothing_to_undo" and same(items, left)


# --- law 15: quiet by default -------------------------------------------------------------------

SECRET = "VAULT-9931-Zq7-PASSPHRASE-correct-horse"


def secrets(shape: str) -> list[Any]:
    """Return a history with the secret in everything that is said, done and named in it."""
    arguments = json.dumps({"password": SECRET})
    if shape == "anthropic":
        use = {"type": "tool_use", "id": "t1", "name": "login", "input": {"password": SECRET}}
        done = {"type": "tool_result", "tool_use_id": "t1", "content": SECRET}
        middle: list[Any] = [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [done]},
        ]
    elif shape == "openai_chat":
        call = {"id": "c1", "type": "function"}
        function = {"name": "login", "arguments": arguments}
        middle = [
            {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "content": SECRET},
        ]
    else:
        call = {"type": "function_call", "call_id": "c1", "name": "login", "arguments": arguments}
        middle = [call, {"type": "function_call_output", "call_id": "c1", "output": SECRET}]
    strange = [{"type": "from_the_future", "data": SECRET}, {"role": "user", "content": {SECRET}}]
    block = {"type": "block_from_the_future", "data": SECRET}
    return [
        user(f"my passphrase is {SECRET}"),
        *middle,
        said(f"{SECRET} {LONG}"),
        *strange,
        {"role": "user", "content": [block]},
        said(SECRET),
        user(SECRET),
        said(f"{SECRET} {LONG}"),
        *strange,
        user(SECRET),
        said(SECRET),
    ]


def in_record(record: logging.LogRecord) -> bool:
    formatted = logging.Formatter().format(record)
    return any(SECRET in str(v) for v in (formatted, record.args, vars(record)))


class Shown(Exception):
    """An error of a backend that repeats what it was asked."""


FAILURES: dict[str, Callable[[Prompt], str | Completion]] = {
    "empty": lambda p: "",
    "refused": lambda p: Completion("", refusal=f"I cannot read {p.user}"),
    "filtered": lambda p: Completion(p.user, "content_filter"),
    "truncated": lambda p: Completion(p.user, "length"),
    "calls": lambda p: Completion(p.user, "tool_calls"),
    "reasoning": lambda p: Completion("", reasoning=True),
    "no text": lambda p: SimpleNamespace(text=p.user),  # type: ignore[arg-type,return-value]
}


def failing(prompt: Prompt) -> str:
    raise Shown(f"invalid request: {prompt.user}")


def quoting(prompt: Prompt) -> str:
    raise Shown(f"moderation stopped at: {SECRET}")


FAILURES |= {"raises": failing, "quotes": quoting}


@pytest.mark.parametrize("shape", SHAPES)
def test_law_15_a_fold_logs_and_shows_no_content(shape: str) -> None:
    """No record at any level, and no `repr` of what a fold hands out, holds the secret."""
    items = secrets(shape)
    key = b"KEY-" + SECRET.encode()
    with records() as logged:
        ctx = ChatContext(items, shape=shape, summary_key=key, instructions=SECRET)
        flow = ctx.flow(keep_last_turns=1)
        plan = ctx.plan(keep_last_turns=1)
        shown = [repr(ctx), repr(flow), repr(flow.prompt), str(flow.prompt), repr(plan), str(plan)]
        outcome = ctx.summarize(lambda p: f"it is {SECRET}", keep_last_turns=1)
        shown += [repr(flow.request), *shows(outcome), repr(ctx), *map(str, ctx.check())]
        shown += shows(ctx.undo())
        shown += shows(ctx.summarize(lambda p: "s", keep_last_turns=1))
        shown += shows(ctx.summarize(lambda p: SECRET * 2000, keep_last_turns=1, force=True))
    assert outcome.changed and outcome.summary == f"it is {SECRET}"
    assert [text for text in shown if SECRET in text] == []
    assert [record for record in logged if in_record(record)] == []


def shows(outcome: Outcome[Any]) -> list[str]:
    return [repr(outcome), str(outcome), repr(outcome.problems)]


@pytest.mark.parametrize("name", FAILURES)
def test_law_15_a_failure_logs_and_says_no_content(name: str) -> None:
    """Neither does an error's message, nor the log of what went wrong."""
    items = secrets("openai_responses")
    before = list(items)
    ctx = ChatContext(items, shape="openai_responses")
    with records() as logged, pytest.raises((SummaryError, TypeError)) as caught:
        ctx.summarize(FAILURES[name], keep_last_turns=1)
    assert SECRET not in str(caught.value) + repr(caught.value)
    assert [record for record in logged if in_record(record)] == []
    assert same(items, before)


def test_law_15_stale_busy_and_invalid_say_no_content() -> None:
    """The other errors of a fold name indices and rules."""
    items = secrets("openai_chat")
    ctx = ChatContext(items, shape="openai_chat")
    caught: list[ChatfoldError] = []

    def meddling(prompt: Prompt) -> str:
        try:
            ctx.undo()
        except BusyError as error:
            caught.append(error)
        assert ctx.summarize(short).reason == "busy"
        items[0]["content"] += " " + SECRET
        return "s"

    with records() as logged:
        with pytest.raises(StaleHeadError) as stale:
            ctx.summarize(meddling, keep_last_turns=1)
        late = [*talk(1), said(SECRET), user(SECRET), said()]
        with pytest.raises(InvalidResultError) as invalid:
            ChatContext(late, shape="anthropic").summarize(
                lambda p: SECRET, keep_last_turns=1, summary_role="assistant"
            )
    caught += [stale.value, invalid.value]
    assert len(caught) == 3
    assert [str(e) for e in caught if SECRET in str(e) + repr(e) + repr(vars(e))] == []
    assert [record for record in logged if in_record(record)] == []


def test_law_15_no_network_is_used_but_the_summarizers(tmp_path: Path) -> None:
    """A fresh process that may not open a connection reads, plans, applies, folds and checks."""
    source = Path(chatfold.__file__).parents[1]
    program = f"""
import sys
sys.path.insert(0, {str(source)!r})
tried = []
def forbid(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.gethostby",
                         "socket.sendto", "urllib.", "http.", "ftplib.", "smtplib.")):
        tried.append(event)
        raise OSError("no network here")
sys.addaudithook(forbid)
from chatfold import ChatContext
talk = [i for n in range(4) for i in ({{"role": "user", "content": f"order LK-{{n}}"}},
                                      {{"role": "assistant", "content": "words " * 300}})]
for model in (None, "gpt-5", "gpt-3.5-turbo", "claude-opus-4-6", "unheard-of"):
    for shape in ("openai_chat", "openai_responses", "anthropic"):
        ctx = ChatContext(list(talk), shape=shape, model=model)
        assert ctx.summarize("extractive", keep_last_turns=2), model
        plan = ctx.plan(keep_last_turns=1)
        ctx.apply(plan, "short"); ctx.undo(); ctx.check(); ctx.tool_calls(); ctx.count_tokens()
assert not tried, tried
print("quiet")
"""
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("quiet\n", 0), done.stderr


def test_law_15_the_library_adds_no_handler_and_prints_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """What a program shows is its own affair."""
    ctx = ChatContext(secrets("openai_chat"))
    ctx.summarize("extractive", keep_last_turns=1)
    with pytest.raises(SummarizerError):
        ctx.summarize(failing, keep_last_turns=0, force=True)
    assert logging.getLogger("chatfold").handlers in ([], [logging.lastResort]) or all(
        isinstance(h, logging.NullHandler) for h in logging.getLogger("chatfold").handlers
    )
    assert SECRET not in "".join(capfd.readouterr())


def test_law_15_a_plan_that_is_falsy_shows_no_content_either() -> None:
    """Too few turns is no reason to print them."""
    plan: Plan[Any] = ChatContext(secrets("openai_chat")).plan(keep_last_turns=50)
    assert not plan and SECRET not in repr(plan)
