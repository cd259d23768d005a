"""`Middleware` where the host edits items in place: no fold says what it no longer says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from test_middleware import Teller, folded_host, middleware, reloaded, talk
from test_middleware_back import TIGHT

from chatfold import Policy, Prompt
from chatfold.middleware import Middleware
from chatfold.stores import MemoryStore

LATE = Policy(max_items=20, keep_last_turns=1, keep_tokens=0, min_gain=0.0)
OLD, NEW = "LK-1004", "the new address"


def known(wrapper: Middleware[Any], hand: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
    """Return a host's list that a middleware has seen twice, at first as `hand` gave it."""
    host = talk(2)
    wrapper.fold(hand(host), key="k")
    host += talk(6, 2)
    wrapper.fold(hand(host), key="k")
    wrapper.fold(host, key="k")
    return host


def edit(host: list[Any]) -> None:
    """Put other words into a message that is neither the first nor the last."""
    assert OLD in host[8]["content"]
    host[8]["content"] = f"{NEW}. " + "word " * 20


def said(prompt: Prompt) -> str:
    """Return what a summarizer is told by the user of the turn that is edited."""
    return json.dumps([v.parts[0].text for v in prompt.views if v.role == "user"])  # type: ignore[union-attr]


@pytest.mark.parametrize("hand", [list, reloaded])
def test_what_was_edited_before_it_is_folded_is_folded_as_it_is_now(
    hand: Callable[[Sequence[Any]], list[Any]],
) -> None:
    """Also where the middleware got copies first; the fold is one that is found again."""
    teller = Teller()
    wrapper = middleware(teller, LATE, MemoryStore())
    host = known(wrapper, hand)
    edit(host)
    host += talk(4, 10)
    folded = wrapper.fold(host, key="k", held=None)
    assert folded.outcome.reason == "summarized"
    assert NEW in said(teller.prompts[0])
    assert OLD not in said(teller.prompts[0])
    again = wrapper.refolded(reloaded(host), folded.held)
    assert again is not None
    assert len(again) == len(folded.items)
    host += talk(10, 14)
    assert wrapper.fold(host, key="k", held=folded.held).outcome.reason == "summarized"
    assert NEW not in said(teller.prompts[1])


@pytest.mark.parametrize("hand", [list, reloaded])
@pytest.mark.parametrize("shared", [True, False])
def test_what_is_edited_while_it_is_folded_is_not_folded(
    hand: Callable[[Sequence[Any]], list[Any]], shared: bool
) -> None:
    """A fold from the background does not know the new words, so it is not put in."""
    may_end, prompts = threading.Event(), list[Prompt]()

    def slow(prompt: Prompt) -> str:
        prompts.append(prompt)
        assert may_end.wait(20)
        return f"what happened before, part {len(prompts)}"

    store = MemoryStore() if shared else None
    wrapper = middleware(slow, replace(LATE, backoff=0), store, background=True)
    host = known(wrapper, hand)
    host += talk(4, 10)
    assert wrapper.fold(hand(host), key="k").outcome.reason == "started"
    wrapper.fold(host, key="k")
    edit(host)
    assert wrapper.fold(host, key="k").outcome.reason == "running"
    may_end.set()
    for _ in range(400):
        out = json.dumps(wrapper.fold(host, key="k").items)
        assert "part 1" not in out
        if "part 2" in out:
            break
        threading.Event().wait(0.01)
    assert "part 2" in out
    assert [OLD in said(prompt) for prompt in prompts] == [True, False]
    assert NEW in said(prompts[1])


def test_an_edit_in_place_inside_the_folded_part_is_noticed_at_the_next_fold() -> None:
    """The same object with other words: the summary that does not know them goes."""
    wrapper, teller, host, _ = folded_host()
    host[2]["content"] = "The address is 48 Harbour Street."
    host += talk(8, 40)
    folded = wrapper.fold(host)
    assert folded.outcome.reason == "summarized"
    assert any("48 Harbour" in v.parts[0].text for v in teller.prompts[-1].views)


def test_an_edit_in_place_is_seen_in_the_next_copy() -> None:
    """Who erases something from a stored history finds it erased from what goes to the model."""

    def llm(prompt: Any) -> str:
        return "The mail is dana@example.com." if "dana@" in prompt.user else "Mail was erased."

    wrapper: Middleware[Any] = Middleware(llm, TIGHT)
    said = ["I am dana@example.com.", "Hello.", "Where is it?", "On its way.", "Thanks."]
    host: list[Any] = [
        {"role": "assistant" if number % 2 else "user", "content": f"{text} {'word ' * 80}"}
        for number, text in enumerate(said)
    ]
    assert "dana@" in json.dumps(wrapper.fold(host).items)
    host[0]["content"] = "I am [erased]. " + "word " * 80
    wrapper.fold(host)
    later = wrapper.fold(reloaded(host))
    assert "dana@" not in json.dumps(later.items)
    assert later.outcome.reason == "summarized"
