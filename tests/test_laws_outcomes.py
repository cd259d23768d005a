"""Law 13, never silent: every outcome says what happened, why and what it cost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import WAYS, Weightless, fold, limits, parted, same_objects, short, talk
from strategies import History, histories

from chatfold import (
    ChatContext,
    Completion,
    Outcome,
    Policy,
    Prompt,
    SummaryError,
    Usage,
)
from chatfold.core.plan import Reason
from chatfold.core.views import MediaPart, OpaquePart, ReasoningPart, ResultPart, texts
from chatfold.stores import MemoryStore

Item = dict[str, Any]
LONG = "many words that are worth folding away. " * 40


def user(text: str = "go on") -> Item:
    return {"role": "user", "content": text}


def said(text: str = LONG) -> Item:
    return {"role": "assistant", "content": text}


def holds(items: Sequence[Any], wanted: object) -> bool:
    return any(item is wanted for item in items)


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


def told(outcome: Outcome[Any], shape: str, before: Sequence[Any], items: Sequence[Any]) -> None:
    """Check what every outcome says against the list before and after."""
    fresh = [ChatContext(list(i), counter=Weightless(), shape=shape) for i in (before, items)]
    assert outcome.reason in get_args(Reason)
    assert len(str(outcome).splitlines()) == 1
    assert outcome.tokens_before == fresh[0].count_tokens().value
    assert outcome.tokens_after == fresh[1].count_tokens().value
    if outcome.reason == "summarized":
        assert outcome.seconds > 0
        assert outcome.llm_calls == 1
        assert str(outcome) == (
            f"summarized {len(outcome.removed)} items: {outcome.tokens_before:,} -> "
            f"{outcome.tokens_after:,} tokens, 1 call, {outcome.seconds:.1f} s"
        )
        assert list(outcome.problems) == fresh[1].check()
    else:
        assert not outcome.changed
        assert same_objects(items, before)
        assert str(outcome).startswith(f"not summarized ({outcome.reason})")
        assert outcome.removed == ()
        assert outcome.tokens_after == outcome.tokens_before


@given(history=histories(broken=True, opaque=True, max_turns=4), keep=limits)
def test_law_13_every_outcome_says_what_happened(history: History, keep: dict[str, Any]) -> None:
    """A reason of the set, one line, and the token figures that a fresh context counts."""
    items = list(history.items)
    outcome = ChatContext(items, shape=history.shape, counter=Weightless()).summarize(short, **keep)
    told(outcome, history.shape, history.items, items)


@given(history=histories(broken=True, max_turns=4), keep=limits)
def test_law_13_removed_kept_and_tail_are_all_there_was(
    history: History, keep: dict[str, Any]
) -> None:
    """Every item is named once: removed, kept before the cut, or still where it was."""
    items = list(history.items)
    ctx = ChatContext(items, shape=history.shape, counter=Weightless())
    plan = ctx.plan(**keep)
    outcome = ctx.apply(plan, "s") if plan else None
    if not outcome:
        return
    stays = [item for item in history.items if not holds(outcome.removed, item)]
    gone = [item for item in history.items if holds(outcome.removed, item)]
    assert same_objects(gone, outcome.removed)
    assert Counter(map(id, parted(items, outcome))) == Counter(map(id, [*stays, outcome.item]))
    assert all(holds(stays, item) for item in outcome.kept)
    assert len(history.items[plan.index :]) + len(outcome.kept) + len(outcome.removed) <= len(
        history.items
    )


LEFT_OUT = re.compile(r'"\[[0-9]+ (characters|bytes)[a-z ]*\]"')
"""What stands in JSON for encoded data, such as the encrypted content of what a search found."""


@given(history=histories(broken=True, max_turns=4, open_calls=False))
def test_law_13_what_has_no_readable_form_is_counted(history: History) -> None:
    """Media, encrypted reasoning, encoded data and superseded state of the head, one by one."""
    plan = ChatContext(history.items, shape=history.shape).plan(keep_last_turns=1)
    if plan.prompt is None:
        return
    start = plan.index - len(plan.region)
    skipped = {i - start for i in plan.split.superseded}
    stays = skipped | {i - start for i in plan.split.kept}
    views = [v for i, v in enumerate(plan.prompt.views) if i not in stays]
    parts = [part for view in views for part in view.parts]
    counted = {
        "media": sum(isinstance(p, MediaPart) for p in parts)
        + sum(len(p.media) for p in parts if isinstance(p, ResultPart)),
        "encrypted_reasoning": sum(isinstance(p, ReasoningPart) and p.opaque > 0 for p in parts),
        "opaque": sum(isinstance(p, OpaquePart) for p in parts),
        "superseded_state": len(skipped),
        "encoded": sum(len(LEFT_OUT.findall(text)) for view in views for text in texts(view)),
    }
    assert dict(plan.omitted) == {kind: count for kind, count in counted.items() if count}
    if history.shape == "openai_responses":
        sealed = [item for item in plan.head if is_sealed(item)]
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


@pytest.mark.parametrize("times", [1, 2, 5, 100])
def test_law_13_too_few_turns_names_the_remedy(times: int) -> None:
    """One turn, short or giant: how large it is, and what to pass to cut inside it."""
    ctx = ChatContext([user(), said(LONG * times)])
    outcome = ctx.summarize(short)
    tokens = f"{outcome.tokens_before:,}"
    limit = re.fullmatch(
        rf"not summarized \(too_few_turns\): 1 turn of {tokens} tokens; "
        r"pass keep_tokens=([0-9_]+) to cut inside( it)?",
        str(outcome),
    )
    assert limit is not None
    assert 0 < int(limit[1]) < outcome.tokens_before
    assert ctx.plan(keep_tokens=int(limit[1]))


@pytest.mark.parametrize(
    ("items", "options", "reason", "words"),
    [
        ([], {}, "nothing_to_summarize", ""),
        ([{"role": "system", "content": "rules"}], {}, "nothing_to_summarize", ""),
        (talk(1), {"keep_last_turns": 2}, "too_few_turns", "keep_tokens="),
        (talk(3), {"keep_last_turns": 1, "summarizer": HUGE}, "no_gain", "max_summary_tokens"),
        (talk(3), {"keep_last_turns": 1, "min_gain": 0.95}, "no_gain", "share that is asked for"),
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
    assert words in str(outcome)
    assert len(str(outcome).splitlines()) == 1


def late(shape: str, turns: int) -> list[Any]:
    """Return a call, turns of talk, and only then its result."""
    if shape == "openai_chat":
        function = {"name": "scan", "arguments": "{}"}
        calls = [{"id": "c1", "type": "function", "function": function}]
        call: Any = {"role": "assistant", "content": None, "tool_calls": calls}
        result: Any = {"role": "tool", "tool_call_id": "c1", "content": "clean"}
    else:
        call = {"type": "function_call", "call_id": "c1", "name": "scan", "arguments": "{}"}
        result = {"type": "function_call_output", "call_id": "c1", "output": "clean"}
    return [{"role": "user", "content": "Scan it."}, call, *talk(turns), result]


@pytest.mark.parametrize("keep", [{"keep_last_turns": 1}, {"keep_tokens": 0}, {"keep_tokens": 50}])
def test_law_13_a_result_that_came_turns_later_is_named_as_what_is_in_the_way(keep: Any) -> None:
    """All between it and its call belongs together; moved to its call, it is in nobody's way."""
    ctx = ChatContext(late("openai_chat", 4))
    line = str(ctx.summarize(Model("s"), **keep))
    assert line == (
        "not summarized (nothing_to_summarize): items 1 to 10 belong together, as the result of "
        "the call 'c1' comes only with item 10; ctx.repair() moves it behind its call"
    )
    ctx.repair()
    assert ctx.summarize(Model("s"), **keep).changed


def test_law_13_a_late_result_is_not_to_be_moved_where_its_provider_takes_it_so() -> None:
    ctx = ChatContext(late("openai_responses", 4), shape="openai_responses")
    line = str(ctx.summarize(Model("s"), keep_last_turns=1))
    assert "items 1 to 10 belong together" in line
    assert "repair" not in line
    assert ctx.repair() == []


def test_law_13_a_late_result_is_not_named_where_it_is_in_nobodys_way() -> None:
    """All of it is within what is to be kept, or it was answered before its turn went on."""
    items = late("openai_chat", 4)
    line = str(ChatContext(items).summarize(Model("s"), keep_tokens=100_000))
    assert line.endswith("tokens are within what is to be kept")
    at_once = [*items[:2], items[-1]]
    line = str(ChatContext(at_once).summarize(Model("s"), keep_tokens=0))
    assert "belong together" not in line


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("answer", "options", "reason"),
    [
        ("short", {"keep_last_turns": 1}, "summarized"),
        ("short", {"keep_last_turns": 9}, "too_few_turns"),
        (LONG * 99, {"keep_last_turns": 1}, "no_gain"),
    ],
)
def test_law_13_every_outcome_names_its_conversation(
    way: str, answer: str, options: dict[str, Any], reason: str
) -> None:
    """Also where nothing was folded: who reads the log wants to know of which."""
    ctx = ChatContext(talk(), store=MemoryStore(), key="tenant 7/conversation 17")
    outcome = fold(ctx, lambda prompt: answer, way=way, **options)
    assert (outcome.reason, outcome.key) == (reason, "tenant 7/conversation 17")


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
    assert outcome.seconds > 0


@pytest.mark.parametrize("way", ["undo", "summarize", "asummarize", "background"])
def test_law_13_who_undoes_or_forbids_a_fold_is_told_that_the_list_is_too_large(way: str) -> None:
    """As of any other outcome, by the policy that the caller gave; where he gave none, none is."""
    for policy in (Policy(max_tokens=2_000, keep_tokens=500), None):
        ctx = ChatContext(talk(6), policy=policy)
        if way == "undo":
            assert not ctx.summarize(short, keep_last_turns=1).over_limit
            outcome: Outcome[Any] = ctx.undo()
            assert outcome.changed
        elif way == "background":
            options: dict[str, Any] = {"on_event": lambda event: False}
            outcome = ctx.summarize_in_background(short, **options).apply_if_ready()
        else:
            outcome = fold(ctx, way=way, keep_last_turns=1, on_event=lambda event: False)
        assert outcome.reason == ("undone" if way == "undo" else "vetoed")
        assert ctx.load().tokens > 2_000
        assert outcome.over_limit is (policy is not None)
