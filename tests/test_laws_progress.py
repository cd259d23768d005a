"""Laws 10 and 11: the last request survives, and a fold makes progress or is not made.

Not here: the policy, which waits after a failure.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import Weightless, context, limits, parted, same_objects, short, talk
from strategies import SHAPES, History, histories
from validator import validate

from chatfold import (
    ChatContext,
    Completion,
    EmptySummaryError,
    Policy,
    Prompt,
    SummaryError,
    Usage,
)

Item = dict[str, Any]
LONG = "many words that are worth folding away. " * 40


def user(text: str = "go on") -> Item:
    return {"role": "user", "content": text}


def said(text: str = LONG) -> Item:
    return {"role": "assistant", "content": text}


def reloaded(items: Sequence[Any]) -> list[Any]:
    loaded: list[Any] = json.loads(json.dumps(items))
    return loaded


def holds(items: Sequence[Any], wanted: object) -> bool:
    return any(item is wanted for item in items)


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
@given(data=st.data(), keep=limits)
def test_law_10_the_messages_that_open_a_cut_turn_stay(
    shape: str, data: st.DataObject, keep: dict[str, Any]
) -> None:
    """The same objects, wherever the cut falls inside a turn."""
    history = data.draw(histories(shape, max_turns=3, broken=True))
    items = list(history.items)
    ctx = ChatContext(items, shape=shape, counter=Weightless())
    plan = ctx.plan(**keep)
    outcome = ctx.apply(plan, "s") if plan else None
    if not outcome:
        return
    now = parted(items, outcome)
    for first, stop, openers in runs(history.openers, len(history.items)):
        if first < plan.index < stop:
            assert all(holds(now, history.items[i]) for i in openers)


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data(), keep=limits)
def test_law_10_the_request_of_an_unfinished_turn_stays_at_any_keep(
    shape: str, data: st.DataObject, keep: dict[str, Any]
) -> None:
    """A list that ends on a user's message or on results keeps its last request."""
    history = data.draw(histories(shape, max_turns=3, broken=True))
    ends = [
        i for i in (*history.openers, *answers(history)) if i >= min(history.openers, default=i)
    ]
    if not ends or not history.openers:
        return
    length = data.draw(st.sampled_from(ends)) + 1
    items = history.items[:length]
    request = runs([i for i in history.openers if i < length], length)[-1][2]
    outcome = ChatContext(items, shape=shape, counter=Weightless()).summarize(short, **keep)
    if outcome:
        assert all(holds(parted(items, outcome), history.items[i]) for i in request)


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data(), keep=limits)
def test_law_10_the_group_that_the_model_has_yet_to_see_is_never_cut(
    shape: str, data: st.DataObject, keep: dict[str, Any]
) -> None:
    """A list that ends with results keeps all from the first of their calls on."""
    history = data.draw(histories(shape, max_turns=3))
    results = answers(history)
    if not results:
        return
    length = data.draw(st.sampled_from(sorted(results))) + 1
    index = first = length
    while index - 1 in results:
        index -= 1
        first = min(first, *results[index])
    items, group = history.items[:length], history.items[first:length]
    ChatContext(items, shape=shape, counter=Weightless()).summarize(short, **keep)
    at = next(i for i, item in enumerate(items) if item is group[0])
    behind = items[at:]  # Anthropic's kept instructions may have moved behind the results
    assert same_objects([item for item in behind if holds(group, item)], group)
    assert shape == "anthropic" or same_objects(behind, group)


@given(history=histories("anthropic", max_turns=4), keep=limits)
def test_law_10_a_request_that_carries_results_moves_the_cut_back(
    history: History, keep: dict[str, Any]
) -> None:
    """Such a message cannot stay without its call, so no cut falls behind it in its turn."""
    plan = ChatContext(history.items, shape="anthropic", counter=Weightless()).plan(**keep)
    carried = {c.result_index for c in history.calls if c.result_index in history.openers}
    for first, stop, openers in runs(history.openers, len(history.items)):
        if plan and carried.intersection(openers):
            assert not first < plan.index < stop


@pytest.mark.parametrize("keep", [{"keep_last_turns": 0}, {"keep_tokens": 0}, {"keep_tokens": 5}])
def test_law_10_the_cut_moves_back_to_the_call_of_a_request_with_results(
    keep: dict[str, Any],
) -> None:
    """A long running turn that opened with results and text is kept with the call before it."""
    use = {"type": "tool_use", "id": "t1", "name": "go", "input": {}}
    done = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    call: Item = {"role": "assistant", "content": [use]}
    request: Item = {"role": "user", "content": [done, {"type": "text", "text": "and now this"}]}
    rounds: list[Any] = []
    for n in range(3):
        rounds.append({"role": "assistant", "content": [{**use, "id": f"r{n}"}]})
        rounds.append({"role": "user", "content": [{**done, "tool_use_id": f"r{n}"}]})
    note: Item = {"role": "system", "content": "Be brief."}
    for running in ([], rounds[:1], rounds[:2], rounds, [note]):
        items: list[Any] = [*talk(2), user("first"), call, request, *running]
        ctx = ChatContext(items, shape="anthropic", counter=Weightless())
        plan = ctx.plan(**keep)
        assert plan.index == 5
        assert ctx.apply(plan, "s")
        assert same_objects(items[-len(running) - 2 :], [call, request, *running])
        assert [v for v in validate(items, "anthropic") if not v.open] == []


def test_law_10_nothing_is_kept_of_a_finished_history_at_keep_0() -> None:
    """The law is about requests that wait; an answered one may go."""
    items = talk()
    assert ChatContext(items).summarize(short, keep_last_turns=0)
    assert len(items) == 1


NESTED = """For context, here is the conversation so far between the user and the previous agent:
<CONVERSATION HISTORY>
1. user: tell me in Dutch
</CONVERSATION HISTORY>"""


def looked_up(number: int) -> list[Item]:
    call = {"type": "function_call", "call_id": f"c{number}", "name": "go", "arguments": "{}"}
    return [call, {"type": "function_call_output", "call_id": f"c{number}", "output": LONG}]


@given(keep=limits, steps=st.integers(0, 3), earlier=st.booleans(), several=st.booleans())
def test_law_10_a_request_that_an_sdk_retells_stays_while_it_waits(
    keep: dict[str, Any], steps: int, earlier: bool, several: bool
) -> None:
    """At a handoff the Agents SDK puts all that was said into one message of the assistant."""
    nested = said(NESTED)
    last = [said("I ask a colleague."), said(NESTED)] if several else []
    begun = [*talk(2), user(LONG), *looked_up(9)] if earlier else []
    items = [*begun, nested, *last, *(i for n in range(steps) for i in looked_up(n))]
    ctx = ChatContext(items, shape="openai_responses", counter=Weightless())
    assert not ctx.turns()[-1].finished
    ctx.summarize(short, **keep)
    assert holds(items, nested)
    assert all(holds(items, item) for item in last if item["content"] == NESTED)


@pytest.mark.parametrize(
    "later", [[said("klaar")], [user(), said("klaar")], [user()], [user(), *looked_up(5)]]
)
def test_law_10_a_retold_request_may_go_once_it_is_answered_or_the_user_goes_on(
    later: list[Item],
) -> None:
    items = [said(NESTED), *looked_up(1), *looked_up(2), *later]
    ctx = ChatContext(items, shape="openai_responses", counter=Weightless())
    assert ctx.summarize(short, keep_last_turns=0)
    assert NESTED not in [item.get("content") for item in items]


@pytest.mark.parametrize("item", [user(NESTED), said("Note. " + NESTED), said(NESTED[:60])])
def test_law_10_other_words_of_that_kind_retell_nothing(item: Item) -> None:
    items = [user("a"), item, said(LONG)]
    ctx = ChatContext(items, shape="openai_responses", counter=Weightless())
    assert ctx.turns()[-1].openers == ((0, 1) if item["role"] == "user" else (0,))
    assert not any(view.retells for view in ctx.views())


# --- law 11: progress ---------------------------------------------------------------------------


class Letters:
    """Counts letters."""

    exact = False

    def count(self, text: str) -> int:
        return len(text)


class Words:
    """Counts words."""

    exact = False

    def count(self, text: str) -> int:
        return len(text.split())


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
    ctx = ChatContext(items, shape=history.shape, counter=Letters())
    outcome = ctx.summarize(model, keep_last_turns=turns)
    if model.calls == 0:
        return
    assert (outcome.changed, outcome.reason, outcome.usage) == (False, "no_gain", HUGE.usage)
    assert outcome.llm_calls == model.calls == 1
    assert outcome.tokens_before == outcome.tokens_after == ctx.count_tokens().value
    assert outcome.removed == ()
    assert outcome.item is None
    again = ctx.summarize(model, keep_last_turns=turns)
    assert (again.reason, again.llm_calls, model.calls) == ("unchanged_head", 0, 1)
    assert not ctx.plan(keep_last_turns=turns)
    assert same_objects(items, before)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_law_11_where_one_gives_no_gain_the_next_of_a_chain_is_asked(asynchronous: bool) -> None:
    """As after any other failure, and what the first has cost is told."""
    ctx = ChatContext(talk())
    chain: Any = [Model(HUGE), Model(Completion("short", usage=Usage(1, 1, 1)))]
    if asynchronous:
        outcome = asyncio.run(ctx.asummarize(chain, keep_last_turns=1))
    else:
        outcome = ctx.summarize(chain, keep_last_turns=1)
    assert (outcome.reason, outcome.summary, outcome.llm_calls) == ("summarized", "short", 2)
    assert outcome.usage == Usage(101, 51, 8)


def test_law_11_the_last_of_a_chain_says_what_comes_of_it() -> None:
    """Its words give no gain, or it fails; the share that is asked for counts."""
    ctx = ChatContext(talk())
    outcome = ctx.summarize([Model(HUGE), Model(HUGE)], keep_last_turns=1)
    assert (outcome.reason, outcome.llm_calls, outcome.error) == ("no_gain", 2, None)
    ctx = ChatContext(talk())
    with pytest.raises(EmptySummaryError) as caught:
        ctx.summarize([Model(HUGE), Model("")], keep_last_turns=1)
    assert caught.value.llm_calls == 2
    most = int(ctx.count_tokens())
    words = Completion("many words " * (most // 4))  # about half of the list
    for min_gain, llm_calls in ((0.1, 1), (0.6, 2)):
        ctx = ChatContext(talk())
        chain: Any = [Model(words), Model("short")]
        outcome = ctx.summarize(chain, keep_last_turns=1, min_gain=min_gain)
        assert (outcome.reason, outcome.llm_calls) == ("summarized", llm_calls)


def test_law_11_the_next_begins_anew_where_the_parts_so_far_were_not_summarized() -> None:
    """What the first made of them is as long as they are."""
    first, shown = Model(HUGE), list[Prompt]()

    def second(prompt: Prompt) -> str:
        shown.append(prompt)
        return "short"

    chain: Any = [first, second]
    outcome = ChatContext(talk(8)).summarize(chain, keep_last_turns=1, max_prompt_tokens=2_500)
    assert outcome.reason == "summarized"
    assert first.calls > 1
    assert shown[0].previous_summary is None
    assert sum(len(prompt.views) for prompt in shown) == len(outcome.removed)


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


def test_law_11_what_the_outcome_says_to_do_against_no_gain_can_be_done() -> None:
    model = Model(HUGE, "short")
    ctx = ChatContext(talk())
    refused = ctx.summarize(model, keep_last_turns=1)
    assert "pass a lower max_summary_tokens with force=True" in str(refused)
    assert ctx.summarize(model, keep_last_turns=1, max_summary_tokens=65, force=True).changed


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
    assert ctx.summarize(model, keep_last_turns=1)
    assert ctx.undo()
    assert ctx.summarize(model, keep_last_turns=1).reason == "unchanged_head"
    assert model.calls == 1
    assert ctx.summarize(model, keep_last_turns=1, force=True).reason == "summarized"


@pytest.mark.parametrize(
    "failure", [RuntimeError("down"), Completion(""), Completion("x", "length")]
)
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


def updated(words: int, **options: Any) -> tuple[Model, Any]:
    """Return who was asked, and what came of the second fold of a list that hardly gets smaller."""
    model = Model("summary " * words)
    ctx = ChatContext([user("q " * 2_000), said("a")], counter=Words())
    assert ctx.summarize(model, keep_last_turns=0)
    ctx.extend([user("q " * 100), said("a " * 700), user("q"), said("a")])
    return model, ctx.summarize(model, keep_last_turns=1, **options)


@pytest.mark.parametrize("words", [10, 500])
def test_law_11_a_summary_is_taken_to_be_as_long_as_the_one_that_it_updates(words: int) -> None:
    """No model is asked where one of that length would save too little."""
    model, outcome = updated(words, min_gain=0.6)
    assert (outcome.reason, model.calls) == (("summarized", 2) if words == 10 else ("no_gain", 1))
    assert outcome.llm_calls == model.calls - 1


@pytest.mark.parametrize("options", [{"force": True}, {"max_summary_tokens": 100}])
def test_law_11_a_shorter_summary_may_be_asked_for(options: dict[str, Any]) -> None:
    """By who says that it is to be shorter, or that it is to be tried in any case."""
    model, outcome = updated(500, min_gain=0.6, **options)
    assert model.calls == 2
    assert outcome.llm_calls == 1


def test_law_11_no_more_is_paid_where_what_has_to_stay_leaves_little_room() -> None:
    """What is paid for takes place, but for the first, whose size nobody knows before.

    Of a request of the user, or of one that is retold.
    """
    for start in (user("q " * 9_000), said(NESTED + "q " * 9_000)):
        model = Model("summary " * 900)
        policy = Policy(max_tokens=10_000, keep_tokens=2_000)
        items: list[Item] = [start]
        ctx = ChatContext(items, shape="openai_responses", counter=Words(), policy=policy)
        folds = 0
        for number in range(60):
            ctx.extend(looked_up(number))
            items[-1]["output"] = "word " * 1_000
            folds += ctx.maybe_summarize(model).changed
        assert model.calls - 1 <= folds
        assert 3 < folds < 20


@pytest.mark.parametrize(("saved", "reason"), [(-1, "no_gain"), (0, "no_gain"), (1, "summarized")])
def test_law_11_a_fold_that_saves_nothing_is_no_gain(saved: int, reason: str) -> None:
    """One token less is progress, as many as before is not."""

    class Exact(Letters):
        summary = 0

        def count(self, text: str) -> int:
            return self.summary if "<chat_history_summary digest=" in text else len(text)

    counter = Exact()
    items = talk()
    head = ChatContext(items[:4], counter=counter).count_tokens().value
    frame = ChatContext([user("")], counter=counter).count_tokens().value
    counter.summary = head - frame - saved
    outcome = ChatContext(items, counter=counter).summarize(short, keep_last_turns=1)
    assert outcome.reason == reason
    if outcome:
        assert outcome.tokens_before - outcome.tokens_after == saved


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data(), keep=limits)
def test_law_11_a_call_again_with_nothing_new_folds_nothing(
    shape: str, data: st.DataObject, keep: dict[str, Any]
) -> None:
    """But a request that alone exceeds the budget, and whose turn is over, after what is before."""
    history = data.draw(histories(shape))
    ctx = context(history)
    first = ctx.summarize(short, **keep)
    if not first.changed:
        return
    after = list(ctx.items)
    again = ctx.summarize(short, **keep)
    if again.changed:
        kept = context(history, list(first.kept)).count_tokens().value
        assert kept > keep["keep_tokens"]
        assert ctx.summarize(short, **keep).llm_calls == 0
    else:
        assert again.llm_calls == 0
        assert same_objects(ctx.items, after)


def test_law_11_the_summary_is_no_part_of_what_is_kept() -> None:
    """A tail that fits stays whole, though it would not fit together with the summary."""
    items = [item for n in range(30) for item in (user(f"{n}: {LONG[:400]}"), said(LONG[:400]))]
    ctx = ChatContext(items)
    assert ctx.summarize(short, keep_last_turns=None, keep_tokens=1000).changed
    after = list(items)
    again = ctx.summarize(short, keep_last_turns=None, keep_tokens=1000)
    assert (again.reason, again.llm_calls) == ("nothing_to_summarize", 0)
    assert same_objects(items, after)


@pytest.mark.parametrize("kind", ["instruction", "change of tools"])
@pytest.mark.parametrize("turns", [1, 3])
def test_law_11_what_the_provider_wants_in_the_tail_is_no_part_of_what_is_kept(
    kind: str, turns: int
) -> None:
    """Anthropic takes an instruction behind a user's turn alone, and it stays wherever it is."""
    items: list[Any] = []
    for turn in range(turns):
        tool = {"type": "tool_reference", "name": f"{turn}" * 300}
        block = {"type": "tool_removal", "tool": tool}
        rule = {"role": "system", "content": "x" * 300 if kind == "instruction" else [block]}
        items += [user("x" * 500), rule, said("x" * 900)]
    rules = items[1::3]
    items += [each for _ in range(6) for each in (user("x" * 99), said("x" * 99))]
    ctx: ChatContext[Any] = ChatContext(items, shape="anthropic", counter=Weightless())
    limits: dict[str, Any] = {"keep_last_turns": None, "keep_tokens": 900}
    assert ctx.summarize(short, **limits).changed
    after = list(items)
    assert len(after) == 1 + 8 + turns
    assert same_objects([item for item in after if item["role"] == "system"], rules)
    again = ctx.summarize(short, **limits)
    assert (again.reason, again.llm_calls) == ("nothing_to_summarize", 0)
    assert same_objects(items, after)


def test_law_11_an_instruction_that_has_passed_is_a_part_of_what_is_kept() -> None:
    """It would not stay, so that the recent part is smaller without it."""
    spent = {"role": "system", "content": "x" * 500, "clear_at": "next_user_message"}
    turns = [[user("x" * 99), spent, said("x" * 99)] for _ in range(6)]
    items = [item for turn in turns for item in turn]
    ctx: ChatContext[Any] = ChatContext(items, shape="anthropic", counter=Weightless())
    assert ctx.summarize(short, keep_last_turns=None, keep_tokens=900).changed
    assert same_objects(items[1:], [turns[4][0], turns[4][2], *turns[5]])


def test_law_11_an_empty_answer_at_the_end_is_one_that_goes_on() -> None:
    """The list ends with the user's request without it, and what stays has a place behind that."""
    rule = {"role": "system", "content": "Be brief."}
    items: list[Any] = [user(LONG), rule, said(), user("b"), {"role": "assistant", "content": []}]
    request = items[3]
    ctx: ChatContext[Any] = ChatContext(items, shape="anthropic")
    assert ctx.summarize(short, keep_last_turns=0).changed
    assert same_objects(items[1:], [request, rule])
    again = ctx.summarize(short, keep_last_turns=0)
    assert (again.reason, again.llm_calls) == ("nothing_to_summarize", 0)


def test_law_11_what_has_come_since_is_folded_where_it_no_longer_fits_beside_no_summary() -> None:
    """The tail begins within a turn, and half of what is to be kept is behind its end by now."""
    items: list[Any] = [*(said("x" * 99) for _ in range(20)), user("x" * 99)]
    items += [said("x" * 99) for _ in range(3)]
    ctx: ChatContext[Any] = ChatContext(items, counter=Letters())
    assert ctx.summarize(short, keep_last_turns=None, keep_tokens=900).changed
    kept = ctx.count_tokens().value - ChatContext(items[:1], counter=Letters()).count_tokens().value
    assert kept < 830
    items.append(said("x" * 60))
    assert ctx.count_tokens().value > 900
    again = ctx.summarize(short, keep_last_turns=None, keep_tokens=900)
    assert (again.reason, again.llm_calls) == ("nothing_to_summarize", 0)
    items.append(said("x" * 99))
    assert ctx.summarize(short, keep_last_turns=None, keep_tokens=900).changed


def test_law_11_an_answered_list_stays_answered_where_instructions_hold_what_is_around_them() -> (
    None
):
    """Without its last answer the end would be a place for all of them, and then for more."""
    rules = [{"role": "system", "content": f"Rule {turn}."} for turn in range(2)]
    items: list[Any] = []
    for turn, rule in enumerate(rules):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "find", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": LONG}
        step = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        items += [user(LONG), rule, *step, said(LONG)]
    items += [user(LONG), said("Done.")]
    ctx: ChatContext[Any] = ChatContext(items, shape="anthropic")
    assert ctx.summarize(short, keep_last_turns=0).changed
    after = list(items)
    again = ctx.summarize(short, keep_last_turns=0)
    assert (again.reason, again.llm_calls) == ("nothing_to_summarize", 0)
    assert same_objects(items, after)
    ctx.append(user("And now?"))
    assert ctx.check() == []


def test_law_11_a_summary_that_is_too_long_may_be_made_shorter() -> None:
    """The next is taken to be as long as it is asked to be, and not as long as the last."""
    items = [item for n in range(30) for item in (user(f"{n}: {LONG}"), said(LONG))]
    ctx = ChatContext(items)
    long = "An order was looked up and answered. " * 1500
    first = ctx.summarize(lambda prompt: long, keep_last_turns=2, max_summary_tokens=20_000)
    assert first.changed
    items += [user(LONG), said(LONG)]
    again = ctx.summarize(short, keep_last_turns=2, min_gain=0.2)
    assert again.changed
    assert again.tokens_after < first.tokens_after / 2


def test_words_longer_than_their_head_may_save_where_thinking_goes() -> None:
    """The tail gets smaller too, so that the next summarizer is not asked."""
    thought = {"type": "thinking", "thinking": "hmm " * 2000, "signature": "abc"}
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "Hello " + "a " * 30},
        {"role": "assistant", "content": [{"type": "text", "text": "yes " * 30}]},
        {"role": "user", "content": "Next"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "c"}]},
    ]
    chain = [lambda _: "word " * 100, lambda _: "They talked."]
    outcome = ChatContext(items).summarize(chain, keep_last_turns=1, thinking="strip")
    assert (outcome.changed, outcome.llm_calls) == (True, 1)
