"""`Middleware` and thinking that was signed over another list than the one that goes out.

A provider refuses it without the fields of `request_options`: what another call, process or run has
folded may be unknown when a request goes out.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest
from background import LIMIT, Gate, until, wait_until
from test_middleware import Teller, middleware, summaries, talk

from chatfold import Policy, Prompt
from chatfold.events import FoldEvent
from chatfold.middleware import Folded
from chatfold.stores import HostFold, MemoryStore

Item = dict[str, Any]
MODEL = "claude-opus-5-5"
KEEPS = Policy(
    max_items=6, keep_last_turns=2, keep_tokens=2_000, max_tokens=5_000, window=9_000, min_gain=0.0
)


def thought(count: int, start: int = 0) -> list[Item]:
    """Return turns whose answers were thought over; the last one is yet to be answered."""
    made: list[Item] = []
    for item in talk(count, start):
        blocks: list[Item] = [{"type": "text", "text": item["content"]}]
        if item["role"] == "assistant":
            blocks.insert(0, {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
        made.append({"role": item["role"], "content": blocks})
    return made[:-1]


def thinking(llm: Any, policy: Policy = KEEPS, store: Any = None, **options: Any) -> Any:
    return middleware(llm, policy, store, agent_model=MODEL, **options)


def says(folded: Folded[Any], *, sure: Sequence[int] = ()) -> bool:
    """Return whether the fields are told of what thinks, by its places, but where that is sure."""
    kinds = [each.kind for each in folded.requirements]
    assert kinds in ([], ["thinking_binding"])
    if not kinds:
        return False
    at = [i for i, item in enumerate(folded.items) if "c2ln" in str(item) and i not in sure]
    assert list(folded.requirements[0].indices) == at
    assert folded.request_options()["thinking"]["block_binding"]
    return True


class Slow(MemoryStore):
    """A store that holds up whoever looks for a fold, or keeps one, while it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.looks, self.keeps = threading.Event(), threading.Event()
        self.looks.set()
        self.keeps.set()
        self.held_up = threading.Event()

    def longest(self, key: str, digests: Collection[str]) -> Any:
        self._waits(self.looks)
        return super().longest(key, digests)

    def put(self, fold: HostFold) -> None:
        self._waits(self.keeps)
        super().put(fold)

    def _waits(self, free: threading.Event) -> None:
        if not free.is_set():
            self.held_up.set()
            assert free.wait(LIMIT)


def fails(prompt: Prompt) -> str:
    raise ConnectionError("refused")


def known_to_both(store: Any, **options: Any) -> tuple[Any, list[Item]]:
    """Return a middleware that does not know the fold of a list in the store, and the list."""
    one, other = thinking(Teller(), store=store), thinking(Teller(), store=store, **options)
    history = thought(9)
    other.fold(history[:3], key="k")
    assert summaries(one.fold(history[:15], key="k").items) == 1
    return other, history


def test_who_does_not_wait_for_a_look_into_the_store_says_the_fields() -> None:
    """A client asks twice at once; one of the two is still looking up what is folded."""
    store = Slow()
    other, history = known_to_both(store)
    store.looks.clear()
    found: list[Folded[Any]] = []
    first = threading.Thread(target=lambda: found.append(other.fold(history, key="k")))
    first.start()
    assert store.held_up.wait(LIMIT)
    second = other.fold([*history], key="k")
    store.looks.set()
    first.join()
    assert (second.outcome.reason, len(second.items)) == ("running", len(history))
    assert says(second, sure=[3])
    assert summaries(found[0].items) == 1
    assert says(found[0])


def test_so_it_is_in_an_event_loop() -> None:
    store = Slow()
    other, history = known_to_both(store)
    store.looks.clear()

    async def run() -> None:
        first = asyncio.create_task(other.afold(history, key="k"))
        await until(store.held_up.is_set)
        second = await asyncio.wait_for(other.afold([*history], key="k"), LIMIT)
        assert (second.outcome.reason, len(second.items)) == ("running", len(history))
        assert says(second, sure=[3])
        store.looks.set()
        assert summaries((await first).items) == 1

    asyncio.run(run())


def test_a_list_is_of_the_session_that_is_folded_furthest() -> None:
    """A short branch opens as it does, and what another call does with that takes no fold away."""
    store = Slow()
    one, history = thinking(Teller(), store=store), thought(9)
    assert summaries(one.fold(history[:15], key="k").items) == 1
    branch = [*history[:4], *thought(1, 50)]
    assert summaries(one.fold(branch, key="k").items) == 0
    store.looks.clear()
    first = threading.Thread(target=lambda: one.fold(history, key="k"))
    first.start()
    wait_until(lambda: not first.is_alive() or store.held_up.is_set())
    second = one.fold([*history], key="k")
    store.looks.set()
    first.join()
    assert summaries(second.items) == 1
    assert says(second)
    assert summaries(one.fold(branch, key="k").items) == 0


@pytest.mark.parametrize("told", [True, False])
def test_what_came_since_counts_beside_the_turn_of_another_call(told: bool) -> None:
    """Its list ends before, and what is said of thinking would be of that one's alone.

    Nor need that list have told yet which provider's it is.
    """
    gate, history = Gate(), thought(12) if told else [*talk(10), *thought(2, 10)]
    gate.open.set()
    one = thinking(gate)
    assert summaries(one.fold(history[:15], key="k").items) == 1
    gate.open.clear()
    first = threading.Thread(target=lambda: one.fold(history[:21], key="k"))
    first.start()
    wait_until(lambda: gate.calls == 2)
    folded = one.fold(history, key="k")
    gate.open.set()
    first.join()
    assert (folded.outcome.reason, summaries(folded.items)) == ("running", 1)
    assert says(folded)


@pytest.mark.parametrize("strip", [False, True])
def test_what_came_since_counts_where_a_fold_is_being_put_in(strip: bool) -> None:
    """The answer was thought over the list as it was before, and the thread has put it in."""
    store, gate = Slow(), Gate()
    options: dict[str, Any] = {"thinking": "strip"} if strip else {}
    one, history = thinking(gate, store=store, background=True, **options), thought(9)
    for stop in range(1, 14, 2):
        assert not says(one.fold(history[:stop], key="k"))
    folded = one.fold(history[:15], key="k")
    assert folded.outcome.reason == "running"
    assert not says(folded)
    store.keeps.clear()
    gate.open.set()
    assert store.held_up.wait(LIMIT)
    folded = one.fold(history, key="k")
    assert summaries(folded.items) == 1
    assert says(folded)
    store.keeps.set()
    wait_until(lambda: one.fold(history, key="k").outcome.reason != "running")
    assert says(one.fold(history, key="k"))


def test_what_was_stripped_needs_no_fields_until_thinking_comes_that_was_not_asked_for() -> None:
    """What this process asked for is signed over the summary; of other answers nobody knows."""
    rarely = replace(KEEPS, max_items=12)
    one, history = thinking(Teller(), rarely, thinking="strip"), thought(9)
    folded = one.fold(history[:15], key="k")
    assert summaries(folded.items) == 1
    assert not folded.requirements
    again = one.fold(history[:17], key="k")
    assert again.items[-2] is history[15]
    assert not again.requirements
    elsewhere = one.fold(thought(11), key="k")
    assert [each.kind for each in elsewhere.requirements] == ["thinking_binding"]


@pytest.mark.parametrize("on_error", ["report", "raise"])
def test_who_has_failed_in_the_background_looks_into_the_store_first(on_error: str) -> None:
    """Another process has made the fold meanwhile, and the list was answered so."""
    store, gate, ends = MemoryStore(), Gate(error=ConnectionError("refused")), list[str]()

    def told(event: FoldEvent) -> None:
        ends.append(event.kind)

    one = thinking(gate, store=store, background=True, on_error=on_error, on_event=told)
    history = thought(12)
    assert one.fold(history[:15], key="k").outcome.reason == "started"
    put(store, thinking(Teller()).fold(history[:17], key="k", held=None).held)
    gate.open.set()
    wait_until(lambda: "failed" in ends)
    folded = one.fold(history, key="k")
    assert summaries(folded.items) == 1
    assert says(folded)
    assert folded.outcome.llm_calls == gate.calls > 0  # what it spent on the fold that failed
    assert ends.count("failed") == 1


def put(store: MemoryStore, region: Any) -> None:
    """Keep a fold as another process does whose claim has run out."""
    digest, length, kept, text = region
    fold = HostFold(
        key="k",
        digest=digest,
        length=length,
        text=text,
        summary=None,
        kept=kept,
        base=None,
        created=0.0,
    )
    store.put(fold)


def test_a_turn_that_does_not_look_says_the_fields() -> None:
    """It has failed a moment ago; another process has folded the list since and had an answer."""
    store, history = MemoryStore(), thought(24)
    one, other = thinking(fails, store=store), thinking(Teller(), store=store)
    for stop in range(1, 44, 2):
        assert not says(one.fold(history[:stop], key="k"))
    assert summaries(other.fold(history[:45], key="k").items) == 1
    folded = one.fold(history, key="k")
    assert summaries(folded.items) == 1 or len(folded.items) == 47  # it looks once a second
    assert folded.requirements[0].indices[-1] == len(folded.items) - 2


@pytest.mark.parametrize("stored", [False, True])
def test_a_new_process_says_the_fields_until_it_has_folded(stored: bool) -> None:
    """Whether the one before it had folded the list, nobody knows where the fold is not at hand."""
    gate, history = Gate(), thought(9)
    one = thinking(gate, store=MemoryStore() if stored else None, background=True)
    started = one.fold(history, key="k")
    assert (started.outcome.reason, summaries(started.items)) == ("started", 0)
    assert says(started)
    gate.open.set()
    wait_until(lambda: summaries(one.fold(history, key="k").items) == 1)
    assert says(one.fold(history, key="k"))


def test_a_list_too_small_to_be_folded_needs_no_fields() -> None:
    """Nor does one that needs a summary, where the model binds no thinking to it."""
    history = thought(2)
    assert not says(thinking(Teller()).fold(history, key="k"))
    free = middleware(fails, agent_model="claude-haiku-4-5")
    folded = free.fold(thought(9), key="k")
    assert (len(folded.items), folded.requirements) == (17, ())


def test_what_a_policy_of_ones_own_has_folded_is_not_known_by_its_size() -> None:
    history = thought(2)
    policy = Policy(when=lambda load: False, keep_last_turns=1)
    assert says(thinking(Teller(), policy).fold(history, key="k"))


# --- what this conversation asked for itself ------------------------------------------------------


def stripped(llm: Any) -> tuple[Any, list[Item], Folded[Any]]:
    """Return a conversation that was folded, with the thinking of what stays taken out."""
    wrapper, host = thinking(llm, replace(KEEPS, max_items=12), thinking="strip"), list[Item]()
    folded: Folded[Any] | None = None
    while folded is None or not folded.outcome.changed:
        host += thought(1, len(host) // 2)
        folded = wrapper.fold(list(host), key="k")
        host += thought(2, len(host) // 2)[1:2]
    return wrapper, host, folded


ANSWERS: list[list[Item]] = [
    [{"role": "assistant", "content": "So it is."}],  # and then, with the thinking, one more
    [{"role": "user", "content": "Be quick."}],  # which the host added to the request itself
]


@pytest.mark.parametrize("before", ANSWERS)
def test_an_answer_that_was_asked_for_needs_no_fields_with_whatever_came_before_it(
    before: list[Item],
) -> None:
    """Who has thinking taken out may not be able to send these."""
    wrapper, host, _ = stripped(lambda prompt: "short")
    host += thought(1, 40)
    assert not says(wrapper.fold(list(host), key="k"))
    host += [*before, *thought(2)[1:2], *thought(1, 50)]
    folded = wrapper.fold(list(host), key="k")
    assert summaries(folded.items)
    assert "c2ln" in str(folded.items)
    assert not says(folded)


def test_another_ones_answer_in_between_needs_them() -> None:
    """Nobody knows what that was signed over."""
    wrapper, host, _ = stripped(lambda prompt: "short")
    host += [*thought(2, 50), *thought(2)[1:2], *thought(1, 60)]
    folded = wrapper.fold(host, key="k")
    assert summaries(folded.items)
    assert folded.request_options()["thinking"]["block_binding"]
