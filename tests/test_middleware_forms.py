"""`Middleware` where the same words come in another form: what was folded is found again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from chatfold import Middleware, Policy, Prompt
from chatfold.core.views import ItemView, TextPart
from chatfold.host_list import HostList
from chatfold.stores import MemoryStore

Host = list[dict[str, Any]]
Hand = Callable[[Host, int], Host]

POLICY = Policy(max_tokens=1_500, keep_tokens=300)
SUMMARY = "Days were asked about."


def question(day: int) -> dict[str, Any]:
    return {"role": "user", "content": f"Day {day}? " + "Details, please. " * 20}


def answer(day: int) -> dict[str, Any]:
    return {"role": "assistant", "content": f"Quiet on {day}. " * 10}


def reordered(host: Host) -> Host:
    """Return copies with their keys in another order, as a JSONB column gives them back."""
    return [{key: item[key] for key in sorted(item)} for item in host]


def marked(host: Host) -> Host:
    """Return copies of which the last message has a cache marker."""
    return [*host[:-1], {**host[-1], "cache_control": {"type": "ephemeral"}}]


def from_the_database_and_from_memory(host: Host, day: int) -> Host:
    return reordered(host) if day % 2 else list(host)


def from_memory_at_first(host: Host, day: int) -> Host:
    return reordered(host) if day > 12 else list(host)


def old_ones_from_the_database(host: Host, day: int) -> Host:
    return [*reordered(host[: -1 - day % 3]), *host[-1 - day % 3 :]]


def marked_and_from_the_database(host: Host, day: int) -> Host:
    return marked(reordered(host) if day % 3 else host)


HANDS: list[Hand] = [
    from_the_database_and_from_memory,
    from_memory_at_first,
    old_ones_from_the_database,
    marked_and_from_the_database,
]


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("background", [True, False])
def test_another_order_of_keys_is_the_same_list(hand: Hand, shared: bool, background: bool) -> None:
    """Each part is summarized once; every later summary is made of the one before."""
    prompts: list[Prompt] = []
    may_end = threading.Semaphore(0)

    def teller(prompt: Prompt) -> str:
        prompts.append(prompt)
        assert not background or may_end.acquire(timeout=20)
        return SUMMARY

    store = Claimed() if shared else None
    wrapper = Middleware[Any](teller, POLICY, store, background=background)
    host: Host = []
    reasons: list[str] = []
    for day in range(40):
        host.append(question(day))
        reasons.append(wrapper.fold(hand(host, day), key="k").outcome.reason)
        if reasons[-2:] == ["running", "running"]:
            may_end.release()
            reasons.append(settled(wrapper, hand(host, day)))  # it may have begun the next
            if store is not None:
                store.wait_until_free()  # its thread gives the claim up behind the write
        host.append(answer(day))
    assert [prompt.previous_summary is not None for prompt in prompts] == [False, True, True, True]
    assert reasons.count("started" if background else "summarized") == 4


class Claimed(MemoryStore):
    """Counts the claims that are held."""

    def __init__(self) -> None:
        super().__init__()
        self.held = 0

    def claim(self, *args: Any) -> Any:
        claim = super().claim(*args)
        self.held += claim is not None
        return claim

    def release(self, claim: Any) -> None:
        super().release(claim)
        self.held -= 1

    def wait_until_free(self) -> None:
        for _ in range(2000):
            if not self.held:
                return
            threading.Event().wait(0.01)
        raise AssertionError("a claim was never given up")


def settled(wrapper: Middleware[Any], host: Host) -> str:
    """Hand a list over until the fold from the background is in it; return why that ended."""
    for _ in range(400):
        reason = wrapper.fold(host, key="k").outcome.reason
        if reason != "running":
            return reason
        threading.Event().wait(0.01)
    raise AssertionError("the fold was never put in")


def test_an_edit_in_place_is_seen_in_copies_with_another_order_of_keys() -> None:
    """What was folded says other words then, and is folded anew."""
    prompts: list[Prompt] = []
    wrapper = Middleware[Any](lambda prompt: prompts.append(prompt) or SUMMARY, POLICY)  # type: ignore[func-returns-value]
    host: Host = []
    for day in range(30):
        host.append(question(day))
        wrapper.fold(reordered(host) if 13 < day < 16 else host)
        if day == 16:
            host[2]["content"] = host[2]["content"].replace("Details", "Mail")
        host.append(answer(day))
    assert [prompt.previous_summary is not None for prompt in prompts] == [False, False, True]
    assert "Mail, please." in prompts[1].user


def test_a_turn_that_cannot_wait_is_shown_the_fold_in_another_order_of_keys() -> None:
    """While another call has the conversation: a second session would pay for all of it again."""
    inside, may_end, prompts = threading.Event(), threading.Event(), list[Prompt]()

    def teller(prompt: Prompt) -> str:
        prompts.append(prompt)
        if len(prompts) > 1:
            inside.set()
            assert may_end.wait(20)
        return SUMMARY

    wrapper = Middleware[Any](teller, POLICY)
    host: Host = [item for day in range(12) for item in (question(day), answer(day))][:-1]
    assert wrapper.fold(host).outcome.reason == "summarized"
    host += [item for day in range(12, 24) for item in (answer(day), question(day))]
    other = threading.Thread(target=wrapper.fold, args=(host,))
    other.start()
    assert inside.wait(20)
    for copies in (reordered(host), [{**item, "name": None} for item in host]):
        assert wrapper.fold(copies).outcome.reason == "running"
    may_end.set()
    other.join()
    assert len(prompts) == 2


def with_unset_fields(host: Host) -> Host:
    """Return copies that tell of what is not set, as `model_dump` writes them."""
    return [{**item, "refusal": None} for item in host]


def copies(host: Host) -> Host:
    return [{**item} for item in host]


@pytest.mark.parametrize("form", [with_unset_fields, reordered, copies])
@pytest.mark.parametrize("shared", [True, False])
def test_who_goes_back_from_a_branch_in_another_form_pays_for_no_fold(
    form: Callable[[Host], Host], shared: bool
) -> None:
    """The branch is not taken in where it parts from what is folded, and leaves nothing there."""
    prompts: list[Prompt] = []
    store = MemoryStore() if shared else None
    wrapper = Middleware[Any](lambda prompt: prompts.append(prompt) or SUMMARY, POLICY, store)  # type: ignore[func-returns-value]
    host: Host = []
    for day in range(26):
        host.append(question(day))
        wrapper.fold(copies(host), key="k")
        host.append(answer(day))
    host.append(question(26))
    branch = [*form(host[:37]), {"role": "user", "content": "Another question?"}]
    branch[30]["content"] += " And what else?"
    paid = len(prompts)
    assert wrapper.fold(branch, key="k").outcome.reason == "reused"
    assert wrapper.fold(form(host), key="k").outcome.reason == "reused"
    for day in range(27, 34):
        host += [answer(day - 1), question(day)]
        wrapper.fold(form(host), key="k")
    assert [prompt.previous_summary is not None for prompt in prompts[paid:]] == [True]


@pytest.mark.parametrize("form", [with_unset_fields, reordered, copies])
def test_a_list_that_is_only_compared_leaves_nothing(form: Callable[[Host], Host]) -> None:
    """It may be another conversation's; what was edited in place is told by what came before."""
    host = [question(day) for day in range(4)]
    known = HostList(host, 0, None, view_of)
    known.note()
    other = [*form(host[:3]), question(5)]
    same, prints = known.same_until(other, 0)
    assert same == 3
    assert known.edited(0, 4) is None
    known.take(other, same, prints)
    assert known.edited(0, 4) is None


def view_of(item: Any) -> ItemView:
    """Return the reading of a user's message."""
    return ItemView("user", (TextPart(item["content"]),), "message")
