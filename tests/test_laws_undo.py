"""Law 14, reversible: `undo` puts the originals back and keeps what came since.

Not here: stores.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from typing import Any
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import Weightless, limits, same_objects, short, talk
from strategies import History, histories

from chatfold import ChatContext, Policy

Item = dict[str, Any]
LONG = "many words that are worth folding away. " * 40


def user(text: str = "go on") -> Item:
    return {"role": "user", "content": text}


def said(text: str = LONG) -> Item:
    return {"role": "assistant", "content": text}


def holds(items: Sequence[Any], wanted: object) -> bool:
    return any(item is wanted for item in items)


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
    ctx = ChatContext(items, shape=history.shape, counter=Weightless(), undo_depth=depth)
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
                assert same_objects(items, before)
        elif states:
            assert ctx.undo().reason == "undone"
            assert same_objects(items, states.pop())
        else:
            assert ctx.undo().reason == "nothing_to_undo"
            assert same_objects(items, before)
    assert states == []


@given(history=histories(max_turns=3, sdk_objects=False), keep=limits)
def test_law_14_undo_works_on_a_list_that_was_reloaded_in_place(
    history: History, keep: dict[str, Any]
) -> None:
    """The summary and the kept items are found as equal items; what came since stays."""
    items = [*history.items, *talk(1)]
    before = list(items)
    ctx = ChatContext(items, shape=history.shape, counter=Weightless())
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


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("depth", [0, 1])
def test_law_14_originals_are_held_for_undo_alone(depth: int, background: bool) -> None:
    """Where nothing is to be taken back they are gone at the next turn: they may be personal."""

    class Watched(Item):  # a plain dict cannot be
        pass

    items: list[Item] = [Watched(item) for item in (*talk(2), user("And now?"))]
    ctx = ChatContext(items, undo_depth=depth, policy=Policy(max_items=3, keep_last_turns=1))
    originals = [ref(item) for item in items[:-1]]
    if background:
        ctx.maybe_summarize(short, background=True)
        assert ctx.background is not None
        ctx.background.wait(10)
    assert ctx.maybe_summarize(short, background=background).changed
    ctx.append(said())
    ctx.maybe_summarize(short, background=background)
    gc.collect()
    assert all((original() is None) == (depth == 0) for original in originals)


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
    assert same_objects(items, [*before, *later])


@pytest.mark.parametrize("reload", [False, True])
@pytest.mark.parametrize("times", [1, 2])
def test_law_14_an_object_that_stands_in_the_list_twice_returns_to_each_place(
    times: int, reload: bool
) -> None:
    """A rule in the prefix that is said again in the head, and later once more."""
    rule = {"role": "system", "content": "Answer in French."}
    items: list[Any] = [rule, user("a"), said(), *[rule] * times, user("b"), said(), *talk(1)]
    before = list(items)
    ctx = ChatContext(items, shape="openai_chat")
    assert ctx.summarize(short, keep_last_turns=1).kept == (rule,) * times
    if reload:  # all but the rule, which the application holds
        items[:] = [item if item is rule else reloaded([item])[0] for item in items]
    later = [*talk(1), rule]
    ctx.extend(later)
    assert ctx.undo().reason == "undone"
    assert items == [*before, *later]
    assert reload or same_objects(items, [*before, *later])
    assert all(item is rule for item in items if item == rule)


def test_law_14_a_kept_item_is_found_behind_what_was_put_before_it() -> None:
    """What the owner put between the summary and a kept item stays, behind the originals."""
    rule = {"role": "system", "content": "Answer in French."}
    items: list[Any] = [rule, user("a"), said(), rule, user("b"), said(), *talk(1)]
    before = list(items)
    ctx = ChatContext(items)
    assert ctx.summarize(short, keep_last_turns=1).kept == (rule,)
    note = {"role": "system", "content": "A note."}
    items.insert(2, note)
    assert ctx.undo()
    assert same_objects(items, [*before[:6], note, *before[6:]])


def test_law_14_without_its_summary_there_is_nothing_to_undo() -> None:
    """A list whose summary was taken out by hand is left as it is."""
    items = talk()
    ctx = ChatContext(items)
    ctx.summarize(short, keep_last_turns=1)
    del items[0]
    left = list(items)
    assert ctx.undo().reason == "nothing_to_undo"
    assert same_objects(items, left)


def test_law_14_an_earlier_state_that_its_owner_put_back_can_be_undone() -> None:
    """The fold that stands there is not the latest that was made."""
    items: list[Any] = talk(6)
    originals = list(items)
    ctx = ChatContext(items, counter=Weightless())
    assert ctx.summarize(lambda prompt: "one", keep_last_turns=2).changed
    kept = list(items)
    ctx.extend(talk(6))
    latest = list(items)
    assert ctx.summarize(lambda prompt: "two", keep_last_turns=2).changed
    items[:] = kept
    assert ctx.undo().reason == "undone"
    assert same_objects(items, originals)
    items[:] = kept
    assert ctx.undo().reason == "nothing_to_undo"
    items[:] = latest
    assert ctx.summarize(lambda prompt: "three", keep_last_turns=2).changed
    assert ctx.undo().changed
    assert same_objects(items, latest)


def gemini_content() -> Any:
    from google.genai import types

    return types.Content(
        role="model",
        parts=[types.Part(text="The code is 4711.", thought_signature=b"\x00signed")],
    )


def mistral_message() -> Any:
    from mistralai.client.models import AssistantMessage

    return AssistantMessage(content="The code is 4711.")


@pytest.mark.parametrize(
    ("shape", "package", "made"),
    [("gemini", "google.genai", gemini_content), ("mistral", "mistralai", mistral_message)],
)
@pytest.mark.parametrize("with_unset", [False, True])
def test_law_14_a_kept_object_is_found_as_the_json_its_sdk_made_of_it(
    shape: str, package: str, made: Any, with_unset: bool
) -> None:
    """Each SDK spells and fills the fields of its JSON otherwise than those of its objects."""
    pytest.importorskip(package)
    pinned = made()

    def one(role: str, text: str) -> Item:
        if shape == "mistral":
            return {"role": role, "content": text}
        named = "model" if role == "assistant" else role
        return {"role": named, "parts": [{"text": text}]}

    turn = [one("user", "go on"), one("assistant", LONG)]
    items: list[Any] = [one("user", "The code?"), pinned, *turn, *turn]
    before = list(items)
    ctx = ChatContext(items, shape=shape, pin=lambda item: item is pinned)
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert outcome.kept == (pinned,)
    json_made = pinned.model_dump(mode="json", exclude_none=not with_unset)
    items[:] = [json_made if item is pinned else item for item in items]
    assert ctx.undo().reason == "undone"
    assert same_objects(items, before)


def test_law_14_what_differs_from_a_kept_item_in_its_cache_marker_alone_is_another_one() -> None:
    """Its owner has taken the kept one out; the other one came with the tail."""
    pinned = {"role": "user", "content": "continue"}
    marker = {"type": "ephemeral"}
    block = {"type": "text", "text": "continue", "cache_control": marker}
    later = {"role": "user", "content": [block]}
    items: list[Any] = [user("a"), said(), pinned, said(), later, said()]
    before = list(items)
    ctx = ChatContext(items, shape="anthropic", pin=lambda item: item is pinned)
    assert ctx.summarize(short, keep_last_turns=1).kept == (pinned,)
    items.remove(pinned)
    assert ctx.undo().reason == "undone"
    assert same_objects(items, before)
