"""Folds in the background, from sync code: begun by one turn, put in by a later one."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest
from background import LIMIT, Gate, background_threads, finished, slow, until
from each_turn import Model, Told, Words, turn
from laws import same_objects, step, talk
from logs import records

from chatfold import BusyError, ChatContext, Prompt, StaleHeadError
from chatfold.policy import Policy

EARLY = Policy(max_tokens=1_000, keep_tokens=200, background_at=0.5)


def never(prompt: Prompt) -> str:
    raise AssertionError("a model was asked")


def begun(ctx: ChatContext[Any], gate: Gate, **options: Any) -> None:
    """Begin a fold, and wait until its model is asked."""
    assert ctx.maybe_summarize(gate, background=True, **options).reason == "started"
    assert gate.asked.wait(LIMIT)


def test_a_fold_is_begun_at_the_first_threshold_and_put_in_when_it_is_written() -> None:
    """The turns between go on with the list as it is; what they add stays behind the fold."""
    ctx, gate = slow(4, policy=EARLY)
    assert ctx.maybe_summarize(gate, background=True).reason == "below_trigger"
    ctx.extend(turn(4))
    assert ctx.maybe_summarize(gate).reason == "below_trigger"  # the share is the background's
    begun(ctx, gate)
    before = list(ctx.items)
    for n in range(5, 8):
        ctx.extend(turn(n))
        assert ctx.maybe_summarize(gate, background=True).reason == "running"
    assert same_objects(ctx.items[: len(before)], before)
    kept = ctx.items[len(before) - 4 :]
    finished(ctx, gate)
    assert same_objects(ctx.items[: len(before)], before)  # only the owner changes the list
    outcome = ctx.maybe_summarize(gate, background=True)
    assert outcome.reason == "summarized"
    assert same_objects(ctx.items, [outcome.item, *kept])
    assert (outcome.llm_calls, gate.calls) == (1, 1)
    assert ctx.background is None
    assert ctx.maybe_summarize(never, background=True).reason == "started"  # 505 of 1,000


def test_a_fold_is_put_in_though_the_user_wrote_again_behind_an_instruction_of_the_head() -> None:
    """The instruction was to go behind the first question, and goes behind both."""
    rule = {"role": "system", "content": "Answer in French."}
    items: list[Any] = [*talk(1), {"role": "user", "content": "And then?"}]
    items.insert(1, rule)
    ctx, gate = ChatContext(items, shape="anthropic", policy=EARLY), Gate()
    begun(ctx, gate)
    late = [items[-1], {"role": "user", "content": "And quickly."}]
    ctx.append(late[1])
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    assert outcome.reason == "summarized"
    assert same_objects(items, [outcome.item, *late, rule])


def test_a_call_that_may_wait_puts_it_in_as_well() -> None:
    """And answers `running` before, as a second fold would."""
    ctx, gate = slow()
    begun(ctx, gate)
    assert ctx.maybe_summarize(never).reason == "running"
    assert ctx.summarize(never).reason == "busy"
    finished(ctx, gate)
    assert ctx.maybe_summarize(never).reason == "summarized"


def test_never_is_more_than_one_in_flight() -> None:
    """However often it is asked for, by whatever call."""
    ctx, gate = slow()
    begun(ctx, gate)
    for n in range(10, 20):
        ctx.extend(turn(n))
        assert ctx.maybe_summarize(gate, background=True).reason == "running"
        second = ctx.summarize_in_background(gate)
        assert second.done
        assert second.wait(0)
        assert second.apply_if_ready().reason == "busy"
        assert second.cancel().reason == "busy"
        assert ctx.summarize(gate).reason == "busy"
    with pytest.raises(BusyError):
        ctx.undo()
    finished(ctx, gate)
    assert ctx.maybe_summarize(never).changed
    assert (gate.calls, gate.most) == (1, 1)


# --- an explicit one ------------------------------------------------------------------------------


def test_an_explicit_fold_is_put_in_by_its_owner() -> None:
    """It says what became of it, the same each time; hook and log are told once."""
    told, (ctx, gate) = Told(), slow(4)
    with records() as found:
        fold = ctx.summarize_in_background(gate, keep_last_turns=1, on_event=told)
        assert fold is ctx.background
        assert not fold.done
        assert not fold.wait(0.001)
        assert fold.apply_if_ready().reason == "running"
        gate.open.set()
        assert fold.wait(LIMIT)
        assert fold.done
        assert len(ctx.items) == 8
        outcome = fold.apply_if_ready()
    assert outcome.changed
    assert len(ctx.items) == 3
    assert fold.apply_if_ready() is fold.cancel() is outcome
    assert told.kinds == ["before", "after"]
    assert told.events[1].outcome is outcome
    info = [r.getMessage() for r in found if r.name == "chatfold" and r.levelno == logging.INFO]
    assert info == [str(outcome)]
    assert ctx.maybe_summarize(never).reason == "below_trigger"  # not reported a second time
    assert ctx.background is None


def test_an_explicit_fold_that_nobody_holds_is_put_in_at_the_next_turn() -> None:
    """What was paid is not lost, and stands in nobody's way."""
    ctx, gate = slow(4)
    ctx.summarize_in_background(gate, keep_last_turns=1)
    finished(ctx, gate)
    assert ctx.maybe_summarize(never).changed
    assert ctx.summarize(Model(), keep_last_turns=0).changed


def test_an_explicit_fold_can_be_forbidden() -> None:
    """The hook says no before anything is begun."""
    ctx, _ = slow()
    fold = ctx.summarize_in_background(never, on_event=Told(veto=True))
    assert fold.done
    assert fold.wait()
    assert fold.apply_if_ready().reason == "vetoed"
    assert ctx.background is None
    assert ctx.summarize(Model(), keep_last_turns=1).changed


@pytest.mark.parametrize(
    "options", [{"keep_last_turns": -1}, {"keep_tokens": 0.5}, {"min_gain": 2}, {"model": "m"}]
)
def test_wrong_arguments_raise_in_the_callers_thread(options: dict[str, Any]) -> None:
    """And leave nothing behind that would keep others from summarizing."""
    ctx, _ = slow()
    with pytest.raises((TypeError, ValueError)):
        ctx.summarize_in_background(never, **options)
    assert ctx.summarize(Model(), keep_last_turns=1).changed


# --- given up -------------------------------------------------------------------------------------


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_fold_that_is_given_up_changes_nothing(elsewhere: bool) -> None:
    """From whatever thread; what the model still answers is discarded, the next fold begins."""
    told, (ctx, gate) = Told(), slow()
    begun(ctx, gate, on_event=told)
    fold = ctx.background
    assert fold is not None
    before = list(ctx.items)
    if elsewhere:
        thread = threading.Thread(target=fold.cancel)
        thread.start()
        thread.join(LIMIT)
    assert fold.cancel().reason == "cancelled"
    assert fold.done
    assert fold.wait()
    assert ctx.summarize(Model(), keep_last_turns=3).changed  # nobody is in its way
    ctx.undo()
    gate.open.set()
    while background_threads():
        assert threading.Event().wait(0.001) is False
    assert same_objects(ctx.items, before)
    assert fold.apply_if_ready().reason == "cancelled"
    assert fold._made is None  # nor is it held
    assert told.kinds == ["before", "skipped"]


def test_while_a_given_up_model_still_answers_no_other_is_asked() -> None:
    """A sync call cannot be broken off: interruptions in a row must not pile up calls."""
    ctx, gate = slow()
    begun(ctx, gate)
    assert ctx.background is not None
    ctx.background.cancel()
    for n in range(10, 15):
        ctx.extend(turn(n))
        outcome = ctx.maybe_summarize(never, background=True)
        assert (outcome.reason, outcome.over_limit) == ("running", True)
        assert "given up" in outcome.remedy
    gate.open.set()
    while background_threads():
        assert threading.Event().wait(0.001) is False
    again = Gate()
    begun(ctx, again)
    finished(ctx, again)
    assert ctx.maybe_summarize(never, background=True).changed
    assert gate.most == 1


def test_nor_is_one_asked_by_hand() -> None:
    """What is refused is over at once, and tells why; it takes the place of no other."""
    told, (ctx, gate) = Told(), slow()
    begun(ctx, gate)
    assert ctx.background is not None
    ctx.background.cancel()
    for _ in range(3):
        refused = ctx.summarize_in_background(never, on_event=told)
        assert refused.done
        assert refused.apply_if_ready().reason == "busy"
        assert "given up" in refused.apply_if_ready().remedy
        assert ctx.maybe_summarize(never, background=True).reason == "running"
    assert told.kinds == ["before", "skipped"] * 3
    gate.open.set()
    while background_threads():
        assert threading.Event().wait(0.001) is False
    fold = ctx.summarize_in_background(gate)
    assert fold.wait(LIMIT)
    assert fold.apply_if_ready().changed
    assert gate.most == 1


def test_a_written_fold_can_be_given_up_too() -> None:
    """As long as it is not in the list."""
    ctx, gate = slow()
    begun(ctx, gate)
    finished(ctx, gate)
    assert ctx.background is not None
    assert ctx.background.cancel().reason == "cancelled"
    assert len(ctx.items) == 20
    assert ctx.maybe_summarize(Model()).changed


# --- what happens meanwhile -----------------------------------------------------------------------


def edit(items: list[Any]) -> None:
    items[3]["content"] += " and more"


def shorten(items: list[Any]) -> None:
    del items[5:]


def insert(items: list[Any]) -> None:
    items.insert(2, {"role": "user", "content": "put in"})


def clear(items: list[Any]) -> None:
    items.clear()


@pytest.mark.parametrize("change", [edit, shorten, insert, clear])
@pytest.mark.parametrize("when", ["before the answer", "after it"])
def test_a_head_that_changed_meanwhile_is_not_replaced(change: Any, when: str) -> None:
    """The result is discarded, and reported with what it has cost."""
    ctx, gate = slow()
    begun(ctx, gate)
    if when == "before the answer":
        change(ctx.items)
    finished(ctx, gate)
    if when == "after it":
        change(ctx.items)
    left = list(ctx.items)
    outcome = ctx.maybe_summarize(never, background=True)
    assert (outcome.changed, outcome.reason, outcome.llm_calls) == (False, "stale", 1)
    assert isinstance(outcome.error, StaleHeadError)
    assert outcome.usage is not None
    assert same_objects(ctx.items, left)


def test_an_edit_since_the_list_was_read_is_in_the_prompt() -> None:
    """No turn has looked for it before the one that begins the fold."""
    ctx, gate = slow()
    ctx.load()
    ctx.items[3]["content"] = "the colour is mauve " + ctx.items[3]["content"]
    begun(ctx, gate)
    assert gate.prompts[0].user.count("mauve") == 1
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    assert outcome.changed
    assert any("mauve" in item["content"] for item in outcome.removed)


def test_a_result_that_arrives_for_a_call_in_the_head_discards_the_fold() -> None:
    """The summary says that the call has no result, and now it has one."""
    ctx, gate = slow(3, shape="openai_responses")
    ctx.items[2:2] = [{**step("openai_responses", "slow", 1, [])[0], "async": True}]
    fold = ctx.summarize_in_background(gate, keep_last_turns=1, abandon=["slow"])
    gate.open.set()
    assert fold.wait(LIMIT)
    ctx.append(step("openai_responses", "slow", 1, ["late"])[1])
    assert fold.apply_if_ready().reason == "stale"
    assert len(ctx.items) == 8


@pytest.mark.parametrize(
    ("pinned", "goes_on"), [(False, False), (False, True), (True, False), (True, True)]
)
def test_a_request_that_is_to_be_answered_again_discards_the_fold(
    pinned: bool, goes_on: bool
) -> None:
    """The list was taken back to the cut; a request that stays may have its answer behind it."""
    said, answer, asked = *talk(1), talk(1)[0]
    note = {"role": "system", "content": "ok"}
    behind = step("openai_chat", "late", 1, ["ok"]) if pinned else [note]
    ctx, gate = slow(0, policy=EARLY, pin=lambda item: pinned and item is asked)
    ctx.extend([said, answer, asked, *behind, talk(1)[0]])
    fold = ctx.summarize_in_background(gate, keep_last_turns=1)
    assert gate.asked.wait(LIMIT)
    ctx.items.pop()
    if goes_on:
        ctx.items.append(answer)
    before = list(ctx.items)
    gate.open.set()
    assert fold.wait(LIMIT)
    if pinned and goes_on:
        assert fold.apply_if_ready().kept == (asked,)
    else:
        assert fold.apply_if_ready().reason == "stale"
        assert same_objects(ctx.items, before)


def test_prefix_and_tail_may_change_meanwhile() -> None:
    """A clock in the system prompt and an edit of the last answer are no business of the head's."""
    ctx, gate = slow()
    ctx.items.insert(0, {"role": "system", "content": "09:00"})
    begun(ctx, gate)
    ctx.items[0]["content"] = "09:01"
    ctx.items[-1]["content"] += " and more"
    finished(ctx, gate)
    assert ctx.maybe_summarize(never, background=True).changed
    assert ctx.items[0]["content"] == "09:01"
    assert ctx.items[-1]["content"].endswith(" and more")


@pytest.mark.parametrize("reason", ["no_gain", "too_few_turns"])
def test_an_outcome_tells_the_size_of_the_list_as_it_is_when_it_comes(reason: str) -> None:
    """Also where nothing came of the fold, and items came while it was written."""
    told = Told()
    ctx, gate = slow(counter=None, on_event=told)
    if reason == "no_gain":
        gate.text = "long " * 5_000
        fold = ctx.summarize_in_background(gate, max_summary_tokens=50_000)
        assert gate.asked.wait(LIMIT)
    else:
        fold = ctx.summarize_in_background(never, keep_last_turns=20)
    ctx.extend(item for n in range(5) for item in turn(n, 1_000))
    gate.open.set()
    assert fold.wait(LIMIT)
    outcome, size = fold.apply_if_ready(), ctx.count_tokens().value
    assert (outcome.reason, outcome.tokens_before, outcome.tokens_after) == (reason, size, size)
    assert outcome.over_limit
    assert told.events[-1].tokens == size


@pytest.mark.parametrize("way", ["flow", "asummarize"])
def test_a_fold_without_gain_tells_what_came_while_it_was_written(way: str) -> None:
    ctx, gate = slow(counter=None)
    gate.text = "long " * 5_000
    options: dict[str, Any] = {"keep_last_turns": 1, "max_summary_tokens": 50_000}

    async def main() -> Any:
        task = asyncio.create_task(ctx.asummarize(gate.awaited, **options))
        await until(gate.asked.is_set)
        ctx.extend(turn(99, 1_000))
        gate.open.set()
        return await task

    if way == "flow":
        flow = ctx.flow(**options)
        ctx.extend(turn(99, 1_000))
        flow.send(gate.text)
        outcome: Any = flow.outcome
    else:
        outcome = asyncio.run(main())
    size = ctx.count_tokens().value
    assert (outcome.reason, outcome.tokens_before, outcome.tokens_after) == ("no_gain", size, size)


MUCH = {"role": "user", "content": "w " * 5_000}  # a page, say


@pytest.mark.parametrize("way", ["background", "flow", "asummarize"])
def test_what_comes_while_it_is_written_does_not_make_a_gain_less(way: str) -> None:
    """Of the list that it was planned for, it saves enough; of what came, nothing could be."""
    ctx, gate = slow(5, policy=EARLY)
    options: dict[str, Any] = {"keep_last_turns": 2, "min_gain": 0.5}

    async def main() -> Any:
        task = asyncio.create_task(ctx.asummarize(gate.awaited, **options))
        await until(gate.asked.is_set)
        ctx.append(MUCH)
        gate.open.set()
        return await task

    if way == "background":
        begun(ctx, gate, **options)
        ctx.append(MUCH)
        finished(ctx, gate)
        outcome: Any = ctx.maybe_summarize(never, background=True, **options)
    elif way == "flow":
        flow = ctx.flow(**options)
        ctx.append(MUCH)
        flow.send(gate.text)
        outcome = flow.outcome
    else:
        outcome = asyncio.run(main())
    assert (outcome.reason, outcome.llm_calls) == ("summarized", 1)
    assert outcome.tokens_before > 5_000
    assert ctx.items[-1] is MUCH


class Each(Words):
    """Counts the words of a summary too."""

    def count(self, text: str) -> int:
        return len(text.split())


def test_what_goes_while_it_is_written_does_not_make_a_gain_less() -> None:
    """Too little of the list that it was planned for, it is enough of what is left of that."""
    ctx, gate = slow(5, policy=EARLY, counter=Each(), ledger_tokens=0)
    ctx.append({"role": "user", "content": "w " * 1_000})
    gate.text = "long " * 200
    begun(ctx, gate, keep_last_turns=2, keep_tokens=None)
    del ctx.items[-1]
    finished(ctx, gate)
    assert ctx.maybe_summarize(never, background=True).changed


@pytest.mark.parametrize("window", [1_500, 1_300, None])
def test_any_gain_will_do_where_the_list_has_come_to_pass_the_window(window: int | None) -> None:
    """It was begun for a fifth, and gives less: that is refused while the list still fits."""
    policy = Policy(max_tokens=1_000, keep_tokens=200, window=window)
    ctx, gate = slow(policy=policy, counter=Each(), ledger_tokens=0)
    gate.text = "long " * 650
    begun(ctx, gate)
    ctx.extend(turn(99, 400))
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    over = window == 1_300
    assert (outcome.reason, outcome.model) == ("summarized" if over else "no_gain", None)


@pytest.mark.parametrize(("window", "is_enough"), [(4_700, True), (4_500, False)])
def test_what_a_list_is_over_the_window_by_is_of_the_providers_tokens(
    window: int, is_enough: bool
) -> None:
    """Which are two for each of ours: half as many of ours have to go."""
    policy = Policy(max_tokens=4_000, keep_tokens=400, window=window, overhead_tokens=100)
    ctx, gate = slow(21, policy=policy, counter=Each(), ledger_tokens=0)
    ctx.record_usage({"input_tokens": 100 + 2 * ctx.count_tokens().value, "output_tokens": 1})
    gate.text = "long " * 1_600
    begun(ctx, gate)
    ctx.extend(turn(99, 400))
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    assert outcome.changed
    assert (outcome.model is None) is is_enough
    assert not ctx.load().over_window


def test_a_fold_that_leaves_the_list_over_the_window_is_not_taken_for_it() -> None:
    """The list goes out as small as it can be made then, though the summary was paid for."""
    policy = Policy(max_tokens=1_000, keep_tokens=200, window=1_300)
    ctx, gate = slow(policy=policy, counter=Each(), ledger_tokens=0)
    gate.text = "long " * 650
    begun(ctx, gate)
    for number in range(6):
        ctx.extend(turn(90 + number, 100))
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    assert (outcome.changed, outcome.model) == (True, "extractive")
    assert ctx.count_tokens().value < 1_300


def test_the_next_one_begins_at_once_where_no_model_was_asked() -> None:
    """The one that was given up had not begun to ask: there is nothing to be paid for twice."""
    ctx, gate = slow()
    gate.open.set()

    async def main() -> Any:
        ctx.summarize_in_background(never).cancel()
        fold = ctx.summarize_in_background(gate.awaited)
        await fold.await_done()
        return fold.apply_if_ready()

    outcome = asyncio.run(main())
    assert (outcome.reason, outcome.llm_calls) == ("summarized", 1)
