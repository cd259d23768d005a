"""How long a list is, kept up to date at a cost that depends on what is new alone."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from each_turn import Words, context, turn
from hypothesis import given
from hypothesis import strategies as st
from laws import fewer, plainly, said, talk
from strategies import SHAPES, History, broken, histories, long_history

from chatfold import ChatContext, ChatfoldError
from chatfold.shapes import shape_named


def told(ctx: ChatContext[Any]) -> tuple[int, int, int]:
    """Return what the context says at each turn."""
    load = ctx.load()
    return load.tokens, load.turns, load.items


def counted(ctx: ChatContext[Any], *, shape: Any = None) -> tuple[int, int, int]:
    """Return the same, counted from the start by a context that has seen nothing before."""
    fresh: ChatContext[Any] = ChatContext(list(ctx.items), shape=shape, counter=Words())
    sizes = fresh._state.snapshot().sizes
    return sum(sizes), sum(bool(turn.openers) for turn in fresh.turns()), len(ctx.items)


EDITS = (
    "append",
    "extend",
    "edit the last",
    "replace the last",
    "insert",
    "insert again",
    "append again",
    "cut the end",
    "cut the start",
    "fold",
    "undo",
    "repair",
    "nothing",
)


def edit(ctx: ChatContext[Any], kind: str, more: list[Any], place: int) -> None:
    """Do to the list what its owner may do, behind the context's back or not."""
    items = ctx.items
    match kind:
        case "append":
            items.extend(more[:1])
        case "extend":
            ctx.extend(more)
        case "edit the last" if items and isinstance(items[-1], dict):
            items[-1]["content" if "content" in items[-1] else "note"] = f"edited {place}"
        case "replace the last" if items:
            items[-1] = copy.deepcopy(items[-1])
        case "insert":
            at = place % (len(items) + 1)
            items[at:at] = more[:1]
        case "insert again" if items:
            items.insert(place % len(items), items[place * 7 % len(items)])
        case "append again" if items:
            items.append(items[-1 - place % min(2, len(items))])
        case "cut the end":
            del items[len(items) - place % (len(items) + 1) :]
        case "cut the start":
            del items[: place % (len(items) + 1)]
        case "fold":
            with suppress(ChatfoldError):
                ctx.summarize(lambda prompt: "short", keep_last_turns=place % 4, force=True)
        case "undo":
            ctx.undo()
        case "repair":
            ctx.repair()
        case _:
            pass


@given(
    history=histories() | broken(histories(broken=True), junk=True),
    start=st.integers(0, 40),
    edits=st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 30)), max_size=8),
    hinted=st.booleans(),
)
def test_it_is_what_a_count_from_the_start_would_give(
    history: History, start: int, edits: list[tuple[str, int]], hinted: bool
) -> None:
    """Tokens, turns that a user opens, and items: whatever happened to the list since."""
    items = said(history.items)
    shape = history.shape if hinted else None
    ctx: ChatContext[Any] = ChatContext(
        items[:start], shape=shape, counter=Words(), grounding="report"
    )
    rest = items[start:]
    assert told(ctx) == counted(ctx, shape=shape)
    for kind, place in edits:
        more, rest = rest[: place % 5], rest[place % 5 :]
        edit(ctx, kind, more, place)
        now = told(ctx)
        sizes = ctx._state.snapshot().sizes
        if hinted:  # without, what was cut off before may have told the shape
            assert now == counted(ctx, shape=shape)
        assert now == told(ctx)
        assert (now[0], now[2]) == (sum(sizes), len(ctx.items))
        assert now[1] == sum(bool(turn.openers) for turn in ctx.turns())


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("more", [0, 1, 3])
def test_an_item_before_one_that_is_in_the_list_twice_is_noticed(place: int, more: int) -> None:
    """What then stands in the last place is the object that stood there before."""
    nudge: Any = {"role": "user", "content": "Go on, please."}
    items = [*turn(1), *turn(2), *([nudge] * 9)]
    ctx: ChatContext[Any] = ChatContext(items, counter=Words())
    told(ctx)
    items.insert(place, {"role": "user", "content": "w " * 70})
    items += turn(3)[:more]
    assert told(ctx) == counted(ctx)
    items[place:place] = [{"role": "assistant", "content": "w " * 90}, items[-1]]
    assert told(ctx) == counted(ctx)


def test_a_list_that_loses_as_much_as_comes_behind_it_is_noticed() -> None:
    """A window of the latest turns, each of which ends with the same object."""
    nudge: Any = {"role": "user", "content": "Go on, please."}
    items: list[Any] = []
    ctx: ChatContext[Any] = ChatContext(items, counter=Words())
    for number in range(12):
        items += [{"role": "user", "content": "w " * (number + 1)}, nudge]
        del items[:-8]
        assert told(ctx) == counted(ctx)


def test_a_head_of_one_item_leaves_a_list_of_the_same_length() -> None:
    """The summary takes its place; neither the length nor the last item tells."""
    ctx: ChatContext[Any] = ChatContext(
        [{"role": "assistant", "content": "w " * 900}, *turn(1)], counter=Words()
    )
    before = told(ctx)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert told(ctx)[2] == before[2] == 3
    assert told(ctx)[0] < 200
    ctx.undo()
    assert told(ctx) == before


@pytest.mark.parametrize("shape", SHAPES)
def test_a_summary_that_comes_into_an_empty_list_opens_no_turn(shape: str) -> None:
    """A list that is reloaded behind the context's back, with its system prompt or without."""
    before: ChatContext[Any] = ChatContext(plainly(shape, talk()), shape=shape)
    assert before.summarize(lambda prompt: "short", keep_last_turns=1).changed
    roles = ("system", "developer") if shape == "openai_chat" else ()
    for first in ([], *([{"role": role, "content": "be brief"}] for role in roles)):
        ctx: ChatContext[Any] = ChatContext([], shape=shape)
        assert told(ctx) == (0, 0, 0)
        # Behind a user's message it would be of the same turn, whether it is known or not.
        for item in (*first, before.items[0], before.items[-1], *before.items[1:]):
            ctx.items.append(item)
            ctx.load()
        assert ctx.load().turns == sum(bool(turn.openers) for turn in ctx.turns())


@fewer
@given(history=histories(), place=st.integers(0, 60))
def test_an_edit_in_the_middle_is_noticed_when_folding(history: History, place: int) -> None:
    """It changes neither the length nor the last item, so no turn looks for it before."""
    items = said(history.items)
    ctx: ChatContext[Any] = ChatContext(items, shape=history.shape, counter=Words())
    told(ctx)
    if len(items) < 2:
        return
    at = place % (len(items) - 1)
    items[at] = {**items[at], "content": "edited " * 50}
    told(ctx)
    plan = ctx.plan(keep_last_turns=0)
    fresh: ChatContext[Any] = ChatContext(items, shape=history.shape, counter=Words())
    assert plan.tokens_before == fresh.plan(keep_last_turns=0).tokens_before
    assert told(ctx) == counted(ctx, shape=history.shape)


@pytest.mark.parametrize("model", ["a summary", "no answer"])
def test_an_edit_in_the_middle_is_in_the_prompt_of_the_next_fold(model: str) -> None:
    """Nothing that the list says now is folded away unseen."""
    ctx, seen = context(9), list[str]()
    ctx.load()
    ctx.items[2]["content"] = "the colour is mauve " + "w " * 300

    def llm(prompt: Any) -> str:
        seen.append(prompt.user)
        return "short" if model == "a summary" else ""

    assert ctx.maybe_summarize(llm).reason == "below_trigger"
    ctx.extend(turn(10))
    ctx.maybe_summarize(llm)
    assert "mauve" in seen[0]
    assert told(ctx) == counted(ctx)


# --- the cost -------------------------------------------------------------------------------------


class Counting:
    """A shape and a counter that count how often they are asked."""

    exact = False

    def __init__(self, name: str) -> None:
        self._shape = shape_named(name)
        self.reads = self.fits = self.counts = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shape, name)

    def read(self, item: Any) -> Any:
        self.reads += 1
        return self._shape.read(item)

    def fit(self, item: Any) -> Any:
        self.fits += 1
        return self._shape.fit(item)

    def count(self, text: str) -> int:
        self.counts += 1
        return len(text.split())

    def cost(self) -> tuple[int, int, int]:
        made = self.reads, self.fits, self.counts
        self.reads = self.fits = self.counts = 0
        return made


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cost_of_a_turn_does_not_depend_on_the_length_of_the_list(shape: str) -> None:
    """Each new item is read and measured once, by whatever way it came; old ones never again."""
    costs: list[list[tuple[int, int, int]]] = []
    for length in (20, 2_000):
        counting = Counting(shape)
        items = long_history(shape, length, seed=7)
        new = long_history(shape, 40, seed=8)[1:]
        ctx: ChatContext[Any] = ChatContext(items, shape=counting, counter=counting)
        ctx.load()
        counting.cost()
        own: list[tuple[int, int, int]] = []
        for item in new:
            ctx.items.append(item)
            ctx.maybe_summarize(lambda prompt: "short")
            own.append(counting.cost())
            ctx.maybe_summarize(lambda prompt: "short")
            assert counting.cost() == (0, 0, 0)
        assert all(reads == 1 for reads, _, _ in own)
        costs.append(own)
    assert costs[0] == costs[1]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_item_that_grows_at_the_end_is_read_again_alone(shape: str) -> None:
    """A transcript that is written into the last message as it is spoken."""
    counting = Counting(shape)
    items = [*long_history(shape, 500, seed=7), *plainly(shape, talk(1)[:1])]
    ctx: ChatContext[Any] = ChatContext(items, shape=counting, counter=counting)
    ctx.load()
    counting.cost()
    for word in ("and", "then", "some"):
        items[-1]["spoken"] = word
        ctx.load()
        reads, _, counts = counting.cost()
        assert reads == 1
        assert counts < 10


@pytest.mark.parametrize("reported", [False, True])
def test_a_report_costs_no_count(reported: bool) -> None:
    """What a provider says of its request is set against sizes that are known."""
    counting = Counting("openai_chat")
    items = long_history("openai_chat", 1_000, seed=7)
    ctx: ChatContext[Any] = ChatContext(items, shape=counting, counter=counting)
    ctx.load()
    counting.cost()
    if reported:
        ctx.record_usage({"prompt_tokens": 9_000, "completion_tokens": 1})
    ctx.load()
    assert counting.cost() == (0, 0, 0)
