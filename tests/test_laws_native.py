"""The laws for folds by a provider itself, over generated histories; the provider is in-process."""

from __future__ import annotations

from typing import Any

from hypothesis import event, example, given
from hypothesis import strategies as st
from laws import Weightless, limits, same_objects, talk
from strategies import History, histories
from test_laws_valid import faults, own_errors
from validator import lost_partners

from chatfold import ChatContext, Outcome
from chatfold.core.native import plain
from chatfold.summarizers.native import Compacted
from chatfold.summarizers.native_anthropic import AnthropicCompaction
from chatfold.summarizers.native_openai import OpenAICompaction, _with_own


class PrefixError(ValueError):
    """The provider takes no items before what it folds."""


class Provider:
    """Compacts as the provider does, without a network."""

    asynchronous = False

    def __init__(self, shape: str) -> None:
        self.shape = shape
        self.kind: Any = OpenAICompaction if shape == "openai_responses" else AnthropicCompaction
        self.sent: list[Any] = []
        self.number = 0

    def check(self, *, prefix: Any = (), instructions: str | None = None) -> None:
        if self.shape == "anthropic" and prefix:
            raise PrefixError

    def owns(self, item: Any) -> bool:
        return bool(self.kind.owns(self, item))

    def compact(
        self, items: Any, *, prefix: Any = (), instructions: str | None = None
    ) -> Compacted:
        self.sent = list(items)
        self.number += 1
        if self.shape == "anthropic":
            block = {"type": "compaction", "content": "s", "signature": f"s{self.number}"}
            return Compacted(({"role": "assistant", "content": [block]},), readable="s")
        users = [plain(i) for i in items if plain(i).get("role") == "user"]
        window = [*_with_own(users, items)]
        sealed = {"type": "compaction", "id": f"cmp_x{self.number}", "encrypted_content": "x"}
        return Compacted((*window, sealed))


SHAPES = st.sampled_from(["openai_responses", "anthropic"])


def fold(ctx: ChatContext[Any], provider: Provider, **limit: Any) -> Outcome[Any] | None:
    """Fold; None where the provider does not take what stands before the head."""
    try:
        return ctx.summarize(provider, **limit)
    except PrefixError:
        return None


SYSTEM_LEFT = [{"role": role, "content": "ok"} for role in ("user", "system", "assistant")]


@given(
    history=SHAPES.flatmap(lambda s: histories(s, opaque=False)),
    limit=limits,
    pins=st.sets(st.integers(0, 30), max_size=3),
)
@example(History("anthropic", SYSTEM_LEFT, [], [0], [], True), {"keep_last_turns": 0}, set())
def test_a_valid_list_stays_valid(history: History, limit: dict[str, Any], pins: set[int]) -> None:
    """It stays sendable, what left was sent, what is kept is there, and undo gives back all."""
    pinned = {id(item) for i, item in enumerate(history.items) if i in pins}
    items = list(history.items)
    ctx = ChatContext(
        items, shape=history.shape, counter=Weightless(), pin=lambda i: id(i) in pinned
    )
    known = own_errors(ctx)
    provider = Provider(history.shape)
    text = ChatContext(
        list(history.items),
        shape=history.shape,
        counter=Weightless(),
        pin=lambda i: id(i) in pinned,
    )
    plan = text.plan(**limit)
    outcome = fold(ctx, provider, **limit)
    if outcome is None:
        return
    event(outcome.reason)
    if not outcome.changed:
        assert same_objects(items, history.items)
        # A message of the system that is kept needs one of the user before it; a summary's item of
        # text is one, the provider's own is the assistant's.
        systems = [i for i in items if plain(i).get("role") == "system"]
        reasons = {"no_gain", "nothing_to_summarize"} if systems else {"no_gain"}
        assert outcome.reason in reasons or not plan
        return
    assert [i for i in items if provider.owns(i)] == [outcome.item]
    assert not faults(items, history.shape)
    assert not lost_partners(history.items, items, history.shape)
    assert own_errors(ctx) <= known
    assert not faults(provider.sent, history.shape)
    here = {id(i) for i in (*items, *outcome.merged)}
    assert pinned <= here
    assert {id(i) for i in history.items} - here == {id(i) for i in outcome.removed}
    sent = {id(i) for i in provider.sent}
    assert all(id(i) in sent for i in outcome.removed)
    assert all(id(i) in here for i in outcome.kept)
    assert ctx.undo().reason == "undone"
    assert same_objects(items, history.items)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("native"), st.integers(0, 2)),
        st.tuples(st.just("text"), st.integers(0, 2)),
        st.tuples(st.just("append"), st.integers(1, 2)),
        st.tuples(st.just("undo"), st.just(0)),
    ),
    min_size=2,
    max_size=9,
)


@given(history=SHAPES.flatmap(lambda s: histories(s, broken=True, opaque=True)), steps=STEPS)
def test_folds_of_both_kinds_go_in_and_out(history: History, steps: list[tuple[str, int]]) -> None:
    """Whatever was folded by whom, each undo gives the list before, object for object."""
    items = [*history.items, *talk(1)]
    ctx = ChatContext(items, shape=history.shape, counter=Weightless())
    provider = Provider(history.shape)
    states: list[list[Any]] = []
    for what, number in [*steps, *[("undo", 0)] * 6]:
        before = list(items)
        if what == "append":
            new = talk(number)
            ctx.extend(new)
            for state in states:
                state.extend(new)
        elif what == "undo":
            if states:
                assert ctx.undo().reason == "undone"
                assert same_objects(items, states.pop())
            else:
                assert ctx.undo().reason == "nothing_to_undo"
        else:
            outcome: Outcome[Any] | None
            if what == "native":
                outcome = fold(ctx, provider, keep_last_turns=number, force=True)
            else:
                outcome = ctx.summarize(lambda p: "short", keep_last_turns=number, force=True)
            if outcome:
                states.append(before)
                event(what)
            else:
                assert same_objects(items, before)
