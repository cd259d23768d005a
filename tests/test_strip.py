"""Whole folds with `thinking="strip"`: no bound thinking is left behind, and it can be taken back.

Not here: what of an item is thinking (`test_thinking`).
"""

from __future__ import annotations

import copy
from typing import Any

import anthropic
import pytest
from anthropic.types import Message
from fake_server import LLMServer, llm_server
from hypothesis import event, given
from hypothesis import strategies as st
from laws import WAYS, Weightless, fold, limits, parted, plainly, same_objects, talk, ways
from strategies import History, histories
from test_laws_valid import faults, own_errors
from validator import validate

from chatfold import ChatContext
from chatfold.core.views import ReasoningPart
from chatfold.stores import MemoryStore

__all__ = ["llm_server"]

Item = dict[str, Any]
MODEL = "claude-opus-5-5"
LONG = "The parcel left the warehouse and is on its way to the customer. " * 30
BOUND = ("anthropic", "bedrock")


def thoughts(items: list[Any], shape: str) -> list[int]:
    """Return the indices of items that hold reasoning."""
    views = ChatContext(items, shape=shape).views()
    return [i for i, v in enumerate(views) if any(type(p) is ReasoningPart for p in v.parts)]


def context(history: History, **options: Any) -> ChatContext[Any]:
    given = {"model": MODEL, "counter": Weightless(), "grounding": "report", "thinking": "strip"}
    return ChatContext(list(history.items), shape=history.shape, **{**given, **options})


@given(
    history=st.sampled_from(BOUND).flatmap(histories),
    limit=limits,
    way=ways,
    pins=st.sets(st.integers(0, 20), max_size=2),
)
def test_no_thinking_is_left_behind_a_summary(
    history: History, limit: dict[str, Any], way: str, pins: set[int]
) -> None:
    """Kept items and tail are without it, all else is as it was, and undo gives back the first."""
    before = list(history.items)
    said = copy.deepcopy(before)
    pinned = {id(item) for i, item in enumerate(before) if i in pins}
    ctx = context(history, pin=lambda item: id(item) in pinned)
    items, known = ctx.items, own_errors(ctx)
    outcome = fold(ctx, way=way, **limit)
    event(f"{outcome.reason} {len(outcome.stripped) > 0}")
    if not outcome.changed:
        assert same_objects(items, before)
        return
    assert outcome.tokens_after == ctx.count_tokens().value
    assert thoughts(items, history.shape) == []
    assert [r for r in ctx.requirements() if r.kind == "thinking_binding"] == []
    assert [r for r in outcome.requirements if r.kind == "thinking_binding"] == []
    assert "thinking" not in ctx.request_options()
    old, held = {id(item) for item in before}, thoughts(before, history.shape)
    gone = {id(item) for item in (*outcome.removed, *outcome.stripped, *outcome.merged)}
    stays = [item for item in before if id(item) not in gone]
    assert {id(item) for item in outcome.stripped} <= {id(before[i]) for i in held}
    assert {id(item) for item in stays} == {id(item) for item in items} & old
    assert not faults(items, history.shape)
    assert own_errors(ctx) <= known
    later = plainly(history.shape, talk(1))
    ctx.extend(later)
    undone = ctx.undo()
    assert undone.reason == "undone"
    assert same_objects(items, [*before, *later])
    assert before == said


def test_what_is_thought_behind_a_fold_that_stripped_needs_nothing() -> None:
    """It was signed over the list with the summary; who strips cannot send what it would need."""

    def asked(ctx: ChatContext[Any]) -> list[str]:
        assert (ctx.request_options() != {}) == bool(ctx.requirements())
        return [requirement.kind for requirement in ctx.requirements()]

    items = [item for n in range(4) for item in _thought(n)]
    ctx = ChatContext(items, model=MODEL)
    first = ctx.summarize(lambda _: "Orders were asked for.", keep_last_turns=1, thinking="strip")
    assert first.stripped
    assert asked(ctx) == []
    ctx.extend(_thought(4))
    assert asked(ctx) == []
    second = ctx.summarize(lambda _: "More orders.", keep_last_turns=1, thinking="keep")
    assert [requirement.kind for requirement in second.requirements] == asked(ctx) != []
    ctx.undo()
    assert asked(ctx) != [], "what was signed over which list is not known any more"
    ctx.summarize(lambda _: "More orders.", keep_last_turns=1, thinking="strip", force=True)
    ctx.extend(_thought(5))
    assert asked(ctx) == []
    assert asked(ChatContext(list(items), model=MODEL)) != []


def _thought(n: int) -> list[Any]:
    thinking = {"type": "thinking", "thinking": "Look it up.", "signature": f"c2ln{n}"}
    answer = [thinking, {"type": "text", "text": "Delivered."}]
    ask = {"role": "user", "content": f"Where is order {n}? " + "Details, please. " * 60}
    return [ask, {"role": "assistant", "content": answer}]


def _bound(ctx: ChatContext[Any]) -> list[tuple[int, ...]]:
    """Return which items a request must say something of; the options say it, and quickly."""
    found = [r for r in ctx.requirements() if r.kind == "thinking_binding"]
    assert ctx.request_options() == (dict(found[0].options) if found else {})
    assert [*ctx._state.requirements_read()] == found  # pyright: ignore[reportPrivateUsage]
    return [r.indices for r in found]


@pytest.mark.parametrize("thinking", ["keep", "strip"])
def test_what_was_signed_over_a_summary_needs_the_fields_when_that_is_taken_back(
    thinking: Any,
) -> None:
    """Behind the originals it is refused, until it is folded away; what was there before is not."""
    items = [item for n in range(4) for item in _thought(n)]
    ctx = ChatContext(items, model=MODEL)
    for first in (4, 6):
        ctx.summarize(lambda _, n=first: f"Orders {n}.", keep_last_turns=1, thinking=thinking)
        ctx.extend([*_thought(first), *_thought(first + 1)])
    second = ctx.undo()
    assert len(items) < 16
    assert len(_bound(ctx)) == 1
    assert [r for r in ctx.requirements() if r.kind == "thinking_binding"] == [*second.requirements]
    outcome = ctx.undo()
    assert _bound(ctx) == [(9, 11, 13, 15)] == [r.indices for r in outcome.requirements]
    assert "undo()" in outcome.requirements[0].message
    assert ctx.summarize(lambda _: "Other words.", keep_last_turns=2, force=True)
    ctx.undo()
    assert _bound(ctx) == [(9, 11, 13, 15)]
    ctx.append({"role": "user", "content": "Thanks."})
    assert ctx.summarize(lambda _: "All orders.", keep_last_turns=1, force=True)
    assert _bound(ctx) == []


@pytest.mark.parametrize("model", [MODEL, "claude-opus-4-5"])
def test_an_undo_needs_nothing_where_nothing_was_signed_since(model: str) -> None:
    """Nor for a model that does not bind its thinking."""
    items = [item for n in range(4) for item in _thought(n)]
    ctx = ChatContext(items, model=model)
    ctx.summarize(lambda _: "Orders were asked for.", keep_last_turns=2)
    ctx.append({"role": "user", "content": "Thanks."})
    assert (_bound(ctx) != []) == (model == MODEL)
    if model != MODEL:
        ctx.extend(_thought(4))
    assert ctx.undo().requirements == ()
    assert _bound(ctx) == []


def test_an_undo_from_a_store_takes_all_thinking_behind_the_summary_to_be_signed_over_it() -> None:
    """Who did not see the fold does not know what came since; the fields do no harm."""
    store = MemoryStore()
    items = [item for n in range(4) for item in _thought(n)]
    ctx = ChatContext(items, model=MODEL, store=store, key="c")
    ctx.summarize(lambda _: "Orders were asked for.", keep_last_turns=1)
    again = ChatContext([*items, *_thought(4)], model=MODEL, store=store, key="c")
    assert again.undo().reason == "undone"
    assert _bound(again) == [(7, 9)]


@given(history=st.sampled_from(BOUND).flatmap(histories), limit=limits)
def test_keep_is_the_default_and_keeps_the_tail_object_for_object(
    history: History, limit: dict[str, Any]
) -> None:
    """Nothing is stripped without being asked for, and the requirement says what is bound."""
    ctx = context(history, thinking="keep")
    default = ChatContext(
        list(history.items), shape=history.shape, model=MODEL, counter=Weightless()
    )
    first, second = fold(ctx, **limit), fold(default, **limit, grounding="report")
    assert first.stripped == second.stripped == ()
    assert first.reason == second.reason
    if first.changed:
        old = {id(item) for item in history.items}
        behind = [item for item in parted(ctx.items, first) if id(item) in old]
        assert same_objects(behind, [i for i in parted(default.items, second) if id(i) in old])
        held = thoughts(ctx.items, history.shape)
        asked = [r for r in ctx.requirements() if r.kind == "thinking_binding"]
        assert bool(asked) == (history.shape == "anthropic" and bool(held))


@given(
    history=st.sampled_from(
        ("openai_chat", "openai_responses", "gemini", "mistral", "ollama")
    ).flatmap(histories),
    limit=limits,
)
def test_reasoning_of_other_providers_stays_as_it_is(
    history: History, limit: dict[str, Any]
) -> None:
    """OpenAI's belongs to the calls behind it, and is not bound to what stood before."""
    kept = context(history, thinking="keep", model=None)
    stripped = context(history, model=None)
    behind = len(history.items) - kept.plan(**limit).index
    first, second = fold(kept, **limit), fold(stripped, **limit)
    assert first.reason == second.reason
    assert second.stripped == ()
    old = {id(item) for item in history.items}
    assert same_objects(
        [item for item in kept.items if id(item) in old],
        [item for item in stripped.items if id(item) in old],
    )
    if second.changed and not second.merged:
        tail = history.items[len(history.items) - behind :]
        assert same_objects(stripped.items[len(stripped.items) - behind :], tail)


def turn(n: int, *, sdk: bool) -> list[Any]:
    """Return a turn with a tool loop; the assistant's messages are dicts or the SDK's objects."""
    thought = {"type": "thinking", "thinking": f"hm {n}", "signature": "c2ln"}
    use = {"type": "tool_use", "id": f"t{n}", "name": "find", "input": {"order": f"A-{n}"}}
    said = {"type": "text", "text": f"It is on its way, {n}."}
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": LONG}
    made: list[Any] = [
        {"role": "assistant", "content": [thought, use]},
        {"role": "assistant", "content": [{**thought, "thinking": "done"}, said]},
    ]
    if sdk:
        made = [message(*item["content"]) for item in made]
    return [
        {"role": "user", "content": f"Where is order A-{n}?"},
        made[0],
        {"role": "user", "content": [result]},
        made[1],
    ]


def message(*blocks: Item) -> Message:
    return Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": list(blocks),
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("sdk", [False, True], ids=["dicts", "sdk objects"])
def test_a_stripped_tail_needs_nothing_and_is_sent_as_it_is(
    llm_server: LLMServer, sdk: bool, way: str
) -> None:
    """Old objects are named, blocks that stay are the same objects, and no thinking goes out."""
    items = [item for n in range(5) for item in turn(n, sdk=sdk)]
    before = list(items)
    contents = [list(_content(item)) for item in before]
    ctx = ChatContext(items, model=MODEL, shape="anthropic")
    outcome = fold(ctx, way=way, keep_last_turns=2, thinking="strip")
    assert outcome.changed
    tail = before[12:]
    assert same_objects(outcome.stripped, [tail[i] for i in (1, 3, 5, 7)])
    assert same_objects(items[1::2], tail[0::2])
    for new, old in zip(items[2::2], tail[1::2], strict=True):
        assert isinstance(new, dict)
        assert same_objects(new["content"], _content(old)[1:])
    assert (ctx.requirements(), ctx.request_options()) == ([], {})
    assert validate(items, "anthropic") == []
    assert ctx.check() == []
    with anthropic.Anthropic(base_url=llm_server.anthropic_url, api_key="sk-test") as client:
        client.messages.create(model=MODEL, max_tokens=100, messages=items)
    sent = llm_server.requests[-1].body["messages"]
    kinds = [b["type"] for m in sent if isinstance(m["content"], list) for b in m["content"]]
    assert kinds.count("thinking") == 0
    assert kinds.count("tool_use") == kinds.count("tool_result") == 2
    assert ctx.undo().changed
    assert same_objects(items, before)
    assert all(same_objects(_content(i), c) for i, c in zip(before, contents, strict=True))


def _content(item: Any) -> list[Any]:
    content = item["content"] if isinstance(item, dict) else item.content
    return content if isinstance(content, list) else [content]


@pytest.mark.parametrize("sdk", [False, True], ids=["dicts", "sdk objects"])
def test_without_strip_the_fields_are_asked_for(sdk: bool) -> None:
    """What a request has to carry goes away with a later fold that strips."""
    items = [item for n in range(5) for item in turn(n, sdk=sdk)]
    before = list(items)
    ctx = ChatContext(items, model=MODEL, shape="anthropic")
    assert fold(ctx, keep_last_turns=3).stripped == ()
    assert ctx.request_options()["thinking"]["block_binding"]
    middle = list(items)
    outcome = fold(ctx, keep_last_turns=2, thinking="strip")
    assert len(outcome.stripped) == 4
    assert ctx.request_options() == {}
    assert ctx.undo().changed
    assert same_objects(items, middle)
    assert ctx.request_options() != {}
    assert ctx.undo().changed
    assert same_objects(items, before)


def test_what_is_appended_while_the_summary_is_written_is_stripped_or_stays() -> None:
    """An item with thinking that came meanwhile is bound too; one without stays the same object."""
    items = [item for n in range(4) for item in turn(n, sdk=False)]
    before = list(items)
    came = turn(9, sdk=True)
    ctx = ChatContext(items, model=MODEL, shape="anthropic", thinking="strip")

    def slow(prompt: object) -> str:
        ctx.extend(came)
        return "what happened before"

    outcome = ctx.summarize(slow, keep_last_turns=1)
    assert outcome.changed
    assert same_objects([items[-4], items[-2]], [came[0], came[2]])
    assert outcome.stripped[-2] is came[1]
    assert outcome.stripped[-1] is came[3]
    assert thoughts(items, "anthropic") == []
    late = [{"role": "user", "content": "Hello?"}]
    ctx.extend(late)
    assert ctx.undo().changed
    assert same_objects(items, [*before, *came, *late])


@pytest.mark.parametrize(
    ("model", "stays"), [("claude-opus-4-5", True), (MODEL, False), (None, False)]
)
def test_an_older_model_gets_back_what_it_thought_before_its_calls(
    model: str | None, stays: bool
) -> None:
    """In a loop of tools it wants its thinking back, and none of it is bound to what was folded."""
    items = [item for n in range(4) for item in turn(n, sdk=False)]
    before = list(items[-2:])
    del items[-1]  # the results stand last
    ctx = ChatContext(items, model=model, shape="anthropic", thinking="strip")
    outcome = fold(ctx, keep_last_turns=1)
    assert outcome.changed
    assert bool(thoughts(items, "anthropic")) == stays
    assert (outcome.stripped == ()) == stays
    assert items[-1] is before[0]
    items.append(before[1])
    ctx.extend([item for n in range(5, 9) for item in turn(n, sdk=False)])
    assert fold(ctx, keep_last_turns=1).changed
    assert thoughts(items, "anthropic") == [], "outside of a loop it may go"


def test_what_left_the_tail_meanwhile_does_not_come_back() -> None:
    """Only what reaches to the last thinking belongs to the fold; the rest is the caller's."""
    items = [item for n in range(3) for item in turn(n, sdk=False)]
    items += [{"role": "user", "content": "And?"}, {"role": "assistant", "content": "Yes."}]
    before = list(items)
    ctx = ChatContext(items, model=MODEL, shape="anthropic", thinking="strip")
    assert fold(ctx, keep_last_turns=2).changed
    del items[-1]
    assert ctx.undo().changed
    assert same_objects(items, before[:-1])


def test_a_message_of_nothing_but_thinking_leaves_and_comes_back() -> None:
    """It would be empty, so it goes; `undo` puts it where it was."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    alone = {"role": "assistant", "content": [thought]}
    items = [*turn(0, sdk=False), *turn(1, sdk=False), {"role": "user", "content": "?"}, alone]
    before = list(items)
    ctx = ChatContext(items, model=MODEL, shape="anthropic", thinking="strip")
    outcome = fold(ctx, keep_last_turns=1)
    assert outcome.changed
    assert same_objects(outcome.stripped, [alone])
    assert items[-1] is before[-2]
    assert ctx.undo().changed
    assert same_objects(items, before)


def test_kept_items_lose_their_thinking_and_come_back() -> None:
    """An item that is pinned stays as what is left of it."""
    items = [item for n in range(4) for item in turn(n, sdk=False)]
    before = list(items)
    pinned = (before[1], before[2])
    ctx = ChatContext(
        items, model=MODEL, shape="anthropic", pin=lambda i: any(i is p for p in pinned)
    )
    outcome = fold(ctx, keep_last_turns=1, thinking="strip")
    assert outcome.changed
    assert items[1] == {"role": "assistant", "content": before[1]["content"][1:]}
    assert items[2] is before[2]
    assert outcome.stripped[0] is before[1]
    assert ctx.undo().changed
    assert same_objects(items, before)


def test_nothing_is_stripped_where_nothing_is_folded() -> None:
    """No gain, no change: thinking is bound to what is still there."""
    items = [item for n in range(3) for item in turn(n, sdk=True)]
    before = list(items)
    ctx = ChatContext(items, model=MODEL, shape="anthropic", thinking="strip")
    outcome = ctx.summarize(lambda p: LONG * 20, keep_last_turns=1)
    assert (outcome.reason, outcome.stripped) == ("no_gain", ())
    assert same_objects(items, before)
    assert not ctx.summarize(lambda p: "short", keep_last_turns=9, force=True)
    assert same_objects(items, before)


@pytest.mark.parametrize("wrong", ["drop", "", None, True])
def test_another_word_is_refused_before_any_call(wrong: Any) -> None:
    """The message names the two that there are."""
    with pytest.raises(ValueError, match="thinking must be one of keep, strip"):
        ChatContext([], thinking=wrong)
    ctx = ChatContext([item for n in range(4) for item in turn(n, sdk=False)])
    with pytest.raises(ValueError, match="thinking must be one of"):
        ctx.summarize(lambda p: pytest.fail("asked"), thinking=wrong)
