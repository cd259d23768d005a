"""Where a provider takes no two messages of one role in a row, the summary joins the next one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import Weightless, fewer, same_objects, short
from strategies import History, histories
from validator import normalise, validate

from chatfold import ChatContext, Middleware, Policy

LONG = "the parcel left the warehouse and is on its way. " * 60


def said(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text} for text in texts]}


def round_of(number: int) -> list[Any]:
    """Return a tool call and its result."""
    use = {"toolUseId": f"t{number}", "name": "read", "input": {"n": number}}
    result = {"toolUseId": f"t{number}", "content": [{"text": LONG}], "status": "success"}
    return [
        {"role": "assistant", "content": [{"toolUse": use}]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]


def talk(turns: int) -> list[Any]:
    return [
        item
        for n in range(turns)
        for item in (said("user", f"question {n}"), said("assistant", f"answer {n} {LONG}"))
    ]


def context(items: list[Any]) -> ChatContext[Any]:
    return ChatContext(items, counter=Weightless())


def summaries(items: list[Any]) -> int:
    return json.dumps(items).count("<chat_history_summary digest")


def test_the_summary_goes_into_the_message_behind_it() -> None:
    """One item holds both, in blocks of their own; the other items of the tail are the same."""
    items = talk(3)
    before, said_before = list(items), copy.deepcopy(items)
    ctx = context(items)
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert outcome.changed
    assert outcome.tokens_after == int(ctx.count_tokens())
    assert len(items) == 2
    assert items[0] is outcome.item
    assert [b["text"] for b in items[0]["content"]][1:] == ["question 2"]
    assert outcome.merged == (before[4],)
    assert items[1] is before[5]
    assert validate(items, "bedrock", strict=True) == []
    assert before == said_before


def test_undo_puts_both_back() -> None:
    """The message that the summary went into is the caller's own object again."""
    items = talk(3)
    before = list(items)
    ctx = context(items)
    ctx.summarize(short, keep_last_turns=1)
    ctx.append(said("user", "more"))
    assert ctx.undo().changed
    assert same_objects(items[:-1], before)
    assert items[-1] == said("user", "more")


def test_folds_of_folds_leave_one_summary_and_walk_back() -> None:
    """The earlier summary is input to the next; each undo restores the list before its fold."""
    items = talk(2)
    ctx = context(items)
    states: list[list[Any]] = []
    for n in range(4):
        states.append(list(items))
        assert ctx.summarize(short, keep_last_turns=1).changed
        assert summaries(items) == 1
        assert validate(items, "bedrock", strict=True) == []
        fresh = context(list(items))
        plan = fresh.plan(keep_last_turns=0)
        assert plan.prompt is not None
        assert plan.prompt.previous_summary == "what happened before"
        items.extend([said("user", f"again {n}"), said("assistant", f"answer {LONG}")])
    for state in reversed(states):
        assert ctx.undo().changed
        assert same_objects(items[: len(state)], state)


@pytest.mark.parametrize("way", [{"keep_last_turns": 0}, {"keep_tokens": 600}])
def test_a_running_loop_keeps_its_request_beside_the_newest_summary(way: dict[str, Any]) -> None:
    """However often a long turn is folded, its request stands once, word for word."""
    items = [*talk(1), said("user", "do all of it")]
    ctx = context(items)
    for n in range(1, 9):
        items.extend(round_of(n))
        if n % 2:
            continue
        before = list(items)
        outcome = ctx.summarize(short, **way)
        assert outcome.changed, str(outcome)
        assert len(outcome.merged) == 1
        assert outcome.tokens_after == int(ctx.count_tokens())
        assert json.dumps(items).count("do all of it") == 1
        assert items[0]["content"][-1] == {"text": "do all of it"}
        assert summaries(items) == 1
        assert validate(items, "bedrock", strict=True) == []
        assert all(any(item is old for old in before) for item in items[1:])
    while ctx.undo().changed:
        pass
    assert [i for i in items if i["role"] == "user" and "text" in i["content"][0]] == [
        said("user", "question 0"),
        said("user", "do all of it"),
    ]
    assert len(items) == 3 + 16
    assert summaries(items) == 0


def test_results_stay_first_where_the_next_message_begins_with_them() -> None:
    """A tail never begins with results, because their call would be folded away from them."""
    items = [*talk(2), said("user", "go"), *round_of(1), said("assistant", "done")]
    for keep in range(4):
        for tokens in (None, 0, 100, 1000):
            ctx = context(list(items))
            ctx.summarize(short, keep_last_turns=keep, keep_tokens=tokens)
            assert validate(ctx.items, "bedrock", strict=True) == []


# --- behind Middleware ----------------------------------------------------------------------------


def middleware(
    llm: Callable[..., str] = short, pin: Callable[[Any], bool] | None = None, **policy: Any
) -> Middleware[Any]:
    given = {"max_items": 4, "keep_last_turns": 0, "min_gain": 0.0, **policy}
    return Middleware(
        llm, Policy(**given), shape="bedrock", counter=Weightless(), grounding="report", pin=pin
    )


def test_what_comes_behind_a_summary_of_the_whole_list_goes_out_with_it() -> None:
    """The host's question is a block of its own behind it, at each turn; its list stays apart."""
    host, wrapper = talk(3), middleware()
    alone = wrapper.fold(host)
    assert len(alone.items) == 1
    host.append(said("user", "next", "and more"))
    before = copy.deepcopy(host)
    folded = wrapper.fold(host)
    (sent,) = folded.items
    assert [b["text"] for b in sent["content"]][1:] == ["next", "and more"]
    assert sent["content"][0] == alone.items[0]["content"][0]
    assert folded.outcome.merged == (host[-1],)
    host.append(said("assistant", f"an answer {LONG}"))
    again = wrapper.fold(host)
    assert again.items[0] is sent
    assert same_objects(again.items[1:], host[-1:])
    assert validate(again.items, "bedrock", strict=True) == []
    assert host[: len(before)] == before
    assert wrapper.fold([*host[:-2], said("user", "otherwise")]).items[0]["content"][1:] == [
        {"text": "otherwise"}
    ]


def test_what_the_host_edits_in_place_goes_out_as_it_is_then() -> None:
    """What went out before is not shown again in its stead."""
    host, wrapper = talk(3), middleware()
    wrapper.fold(host)
    host.append(said("user", "next"))
    wrapper.fold(host)
    host[-1]["content"].append({"text": "edited"})
    (sent,) = wrapper.fold(host).items
    assert [b["text"] for b in sent["content"]][1:] == ["next", "edited"]


def test_what_went_out_with_a_summary_is_folded_as_any_other() -> None:
    """It came as an item of its own, and the next summary is of that."""
    prompts: list[str] = []

    def llm(prompt: Any) -> str:
        prompts.append(prompt.user)
        return "what happened before"

    host, wrapper = talk(3), middleware(llm)
    wrapper.fold(host)
    for number in range(3):
        host += [said("user", f"again {number}")]
        assert len(wrapper.fold(host).items) == 1
        host += [said("assistant", LONG), said("user", f"so {number}"), said("assistant", LONG)]
        folded = wrapper.fold(host)
        assert folded.outcome.reason == "summarized"
        assert len(folded.items) == 1
        assert summaries(folded.items) == 1
        assert f"again {number}" in prompts[-1]


def test_pins_of_one_role_go_out_as_one_message() -> None:
    """Each is asked about by itself when more is folded, and all else of them goes out as it is."""
    host = talk(4)
    pinned = [host[0], host[2], host[4]]
    wrapper = middleware(pin=lambda item: item["content"] in [p["content"] for p in pinned])
    for _ in range(3):
        host += [*round_of(len(host)), said("assistant", LONG)]
        for _ in range(2):  # what stood between the pins goes when nothing else is left
            folded = wrapper.fold(host)
            assert folded.outcome.changed
            assert validate(folded.items, "bedrock", strict=True) == []
        texts = [b.get("text") for item in folded.items for b in item["content"]]
        assert [texts.count(p["content"][0]["text"]) for p in pinned] == [1, 1, 1]
        host += [said("user", "more"), said("assistant", LONG)]
        assert validate(wrapper.fold(host).items, "bedrock", strict=True) == []


def test_what_the_host_has_side_by_side_goes_out_so() -> None:
    """Its provider takes that, as it took the host's own list."""
    host = [said("user", "rule"), said("user", "and another"), said("assistant", LONG), *talk(3)]
    rules = host[:2]
    wrapper = middleware(pin=lambda item: item in rules, keep_last_turns=1)
    sent = wrapper.fold(host).items
    assert [b["text"] for b in sent[0]["content"]][1:] == ["rule"]
    assert sent[1] is rules[1]
    assert rows(sent) == rows(host) == 1


def test_what_is_told_of_a_list_is_told_of_the_list_that_goes_out() -> None:
    """Indices count what goes out; two messages that are one there are no two in a row."""
    host = [*talk(2), *round_of(0)]
    host.insert(4, said("user", "look"))
    users = [item for item in host if item["role"] == "user" and "text" in item["content"][0]]
    wrapper = middleware(pin=lambda item: item in users[:2], max_items=1, keep_last_turns=1)
    folded = wrapper.fold(host)
    assert [i["role"] for i in folded.items] == ["user", "assistant", "user"]
    assert {i for r in folded.requirements for i in r.indices} == {1, 2}
    assert folded.outcome.item is folded.items[0]
    assert folded.outcome.problems == ()
    assert [m["content"] for m in folded.outcome.merged] == [u["content"] for u in users]
    (tools,) = folded.outcome.requirements
    assert tools.indices == (1, 2)


def rows(items: list[Any]) -> int:
    """Return how many messages stand behind one of their role, but for results' own messages."""
    strict = validate(items, "bedrock", strict=True)
    found = [v.index for v in strict if v.rule == "roles_alternate"]
    return sum("toolResult" not in json.dumps(normalise(items[i - 1])) for i in found)


@fewer
@given(
    history=histories("bedrock", open_calls=False),
    pins=st.sets(st.integers(0, 30), max_size=4),
    stops=st.lists(st.integers(0, 30), min_size=3, max_size=8),
    keep=st.sampled_from([0, 0, 1, 2]),
)
def test_no_list_that_goes_out_has_two_messages_of_one_role_that_the_host_s_has_not(
    history: History, pins: set[int], stops: list[int], keep: int
) -> None:
    """Whatever is pinned, and however often it was folded; and nothing that is pinned is lost."""
    pinned = [normalise(item) for i, item in enumerate(history.items) if i in pins]
    wrapper = middleware(
        pin=lambda item: normalise(item) in pinned, max_items=1 + keep, keep_last_turns=keep
    )
    for stop in sorted(stops):
        host = history.items[:stop]
        folded = wrapper.fold(host)
        assert all(v.open for v in validate(folded.items, "bedrock"))
        assert rows(folded.items) <= rows(host)
        blocks = [normalise(b) for item in folded.items for b in item["content"]]
        for item in host:
            if normalise(item) in pinned:
                assert all(normalise(b) in blocks for b in item["content"])
