"""`Middleware` for hosts that keep with their own list what is folded of it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from chatfold import ChatContext, Policy, Prompt
from chatfold.core.summary import TAG
from chatfold.middleware import Folded, Middleware
from chatfold.regions import Region
from chatfold.shapes import shape_named
from chatfold.shapes.openai_chat import OpenAIChat
from chatfold.stores import Claim, HostStore, MemoryStore

SMALL = Policy(max_tokens=600, keep_tokens=200, min_gain=0.0)


class Teller:
    """Writes summaries that say which one each is."""

    def __init__(self, name: str = "part") -> None:
        self.name = name
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        return f"{self.name} {len(self.prompts)}"


def talk(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": f"{role} {number} LK-{1000 + number} " + "word " * 60}
        for number in range(start, start + count)
        for role in ("user", "assistant")
    ]


def summary(folded: Folded[Any]) -> str:
    text = str(folded.items[0]["content"])
    return text if text.startswith(f"<{TAG} ") else ""


def stored(region: Region | None) -> Any:
    """Return what a host gets back that keeps it as JSON."""
    return json.loads(json.dumps(region))


def run(middleware: Middleware[Any], turns: int) -> list[tuple[int, Region | None]]:
    """Run turns as such a host does; return the length of the list and what was held at each."""
    history, held = talk(turns), None
    states: list[tuple[int, Region | None]] = []
    for stop in range(1, len(history), 2):
        held = middleware.fold(history[:stop], key="a", held=held).held
        states.append((stop, held))
    return states


def test_what_is_held_is_folded_so_in_another_process_without_a_model() -> None:
    """Nothing else is known there; the same items come out, with the same summary."""
    teller = Teller()
    here: Middleware[Any] = Middleware(teller, SMALL)
    states = run(here, 12)
    assert len(teller.prompts) >= 2
    for stop, held in states:
        mine = here.fold(talk(12)[:stop], key="a", held=held)
        there: Middleware[Any] = Middleware(Teller("never"), Policy(max_tokens=10_000))
        again = there.fold(talk(12)[:stop], key="b", held=stored(held))
        assert again.items == mine.items
        assert again.held == held == mine.held
        assert again.outcome.llm_calls == 0
    assert len({held for _, held in states}) == len(teller.prompts) + 1


def test_a_host_that_goes_back_sees_the_fold_of_that_time() -> None:
    """Though this process has folded more since."""
    middleware: Middleware[Any] = Middleware(Teller(), SMALL)
    states = run(middleware, 12)
    for stop, held in reversed(states):
        folded = middleware.fold(talk(12)[:stop], key="a", held=held)
        assert folded.held == held
        if held is None:
            assert not summary(folded)
            assert len(folded.items) == stop
        else:
            assert folded.items[0]["content"] == held.summary


class Slow(MemoryStore):
    """Takes its time to say that a claim has been given up."""

    def release(self, claim: Claim) -> None:
        super().release(claim)
        time.sleep(0.1)


@pytest.mark.parametrize("store", [None, MemoryStore(), Slow()], ids=["none", "memory", "slow"])
def test_a_host_that_keeps_nothing_is_given_what_was_begun_for_it(store: HostStore | None) -> None:
    """As an agent in another graph, which no checkpoint keeps: the fold is another turn's.

    Also at the moment at which its claim is being given up.
    """
    teller = Teller()
    middleware: Middleware[Any] = Middleware(teller, SMALL, store, background=True)
    history, reasons = talk(40), list[str]()
    for stop in range(1, len(history), 2):
        folded = middleware.fold(history[:stop], key="a", held=None)
        told = [folded.outcome.reason]  # "running" comes first while a claim is being given up
        until = time.monotonic() + 20
        while told[-1] in ("started", "running") and time.monotonic() < until:
            time.sleep(0.01)
            folded = middleware.fold(history[:stop], key="a", held=None)
            told.append(folded.outcome.reason)
        assert told.count("started") <= 1
        reasons += told
        assert len(folded.items) < 20
    assert summary(folded)
    assert 3 <= len(teller.prompts) == reasons.count("started")


@pytest.mark.parametrize("keeps", [True, False])
def test_a_failing_model_is_not_asked_at_each_turn(keeps: bool) -> None:
    """Whether its host keeps what is folded or not: what a failure tells holds for both."""
    teller = Teller()

    def tell(prompt: Prompt) -> str:
        said = teller(prompt)
        if len(teller.prompts) > 1:
            raise ConnectionError("the model is not there")
        return said

    middleware: Middleware[Any] = Middleware(tell, SMALL, retries=0)
    history, held = talk(30), None
    for stop in range(1, len(history), 2):
        held = middleware.fold(history[:stop], key="a", held=held if keeps else None).held
    assert held is not None
    assert 3 <= len(teller.prompts) <= 10  # where the head has grown by a quarter


def test_a_step_that_is_done_again_is_not_paid_for_again() -> None:
    """The host lost what came of it: a fold that is due is found in this process, or the store."""
    store = MemoryStore()
    for last in (False, True):
        teller = Teller()
        middleware: Middleware[Any] = Middleware(teller, SMALL, store if last else None)
        states = run(middleware, 12)
        count = len(teller.prompts)
        before = next(i for i, (_, held) in enumerate(states) if held != states[0][1]) - 1
        stop = states[before + 1][0]
        again = middleware.fold(talk(12)[:stop], key="a", held=states[before][1])
        assert len(teller.prompts) == count
        assert again.held == states[before + 1][1]
        if last:
            other = Teller()
            there: Middleware[Any] = Middleware(other, SMALL, store)
            found = there.fold(talk(12)[:stop], key="a", held=None)
            assert found.held == states[before + 1][1]
            assert other.prompts == []


def test_what_was_folded_of_another_list_is_not_used() -> None:
    """The host has changed what the summary stands for: it is told that nothing is folded."""
    middleware: Middleware[Any] = Middleware(Teller(), SMALL)
    stop, held = run(middleware, 12)[-1]
    assert held is not None
    edited = [{"role": "user", "content": "something else"}, *talk(12)[1:stop]]
    roomy: Middleware[Any] = Middleware(Teller(), Policy(max_tokens=50_000))
    folded = roomy.fold(edited, key="a", held=held)
    assert folded.held is None
    assert folded.items == edited
    assert roomy.refolded(edited, held) is None
    assert roomy.refolded(talk(12)[:stop], held) == middleware.fold(
        talk(12)[:stop], key="a", held=held
    ).items  # fmt: skip


@pytest.mark.parametrize(
    "held",
    [
        "text",
        5,
        [],
        ["d", 4, [9], "s"],
        ["d", 4, [1, 0], "s"],
        ["d", "4", [], "s"],
        {"digest": "d"},
    ],
)
def test_what_nobody_gave_to_hold_is_refused(held: Any) -> None:
    """Places that are not of the region, say, as of a row that somebody has edited."""
    middleware: Middleware[Any] = Middleware(Teller(), SMALL)
    for call in (
        lambda: middleware.fold(talk(2), held=held),
        lambda: middleware.refolded([], held),
    ):
        with pytest.raises(ValueError, match="held must be the"):
            call()


def test_without_it_nothing_is_given_to_hold() -> None:
    """A host that leaves the folds to the middleware pays nothing for it."""
    middleware: Middleware[Any] = Middleware(Teller(), SMALL)
    folded = middleware.fold(talk(12), key="a")
    assert summary(folded)
    assert folded.held is None


@pytest.mark.anyio
async def test_a_call_may_bring_its_own_summarizer() -> None:
    """In place of the middleware's, for this call alone."""
    usual, own = Teller("usual"), Teller("own")
    middleware: Middleware[Any] = Middleware(usual, SMALL)
    folded = middleware.fold(talk(6), key="a", llm=own)
    assert "own 1" in summary(folded)
    assert usual.prompts == []
    folded = await middleware.afold(talk(6), key="b", llm=own, held=None)
    assert "own 2" in summary(folded)
    assert folded.held is not None
    folded = middleware.fold(talk(6), key="c")
    assert "usual 1" in summary(folded)


def test_leading_instructions_may_come_and_go() -> None:
    """They are no part of what is folded, and never stand in anybody's place."""
    teller = Teller()
    middleware: Middleware[Any] = Middleware(teller, SMALL)
    history, held = talk(9), None
    for stop in range(1, len(history), 2):
        system = [{"role": "system", "content": f"Turn {stop}."}] * (stop % 3)
        folded = middleware.fold([*system, *history[:stop]], key="a", held=held)
        held = folded.held
        assert folded.items[: len(system)] == system
        assert [i["role"] for i in folded.items].count("system") == len(system)
        assert folded.items[-1] is history[stop - 1]
    shown = "".join(prompt.user for prompt in teller.prompts)
    assert "LK-1000" in shown
    assert "Turn " not in shown


@pytest.mark.parametrize("first", [0, 1])
def test_what_was_folded_beside_instructions_is_folded_without_them(first: int) -> None:
    """And the other way round: what the summary stands for is looked for in the right place."""
    teller = Teller()
    middleware: Middleware[Any] = Middleware(teller, SMALL)
    history, held = talk(9), None
    for stop in (1, 11, 13):
        system = [{"role": "system", "content": "Be brief."}] * (first if stop != 11 else 1 - first)
        folded = middleware.fold([*system, *history[:stop]], key="a", held=held)
        held = folded.held
        assert bool(held) == (stop > 1)
    assert len(teller.prompts) == 1


class Numbered(OpenAIChat):
    """A shape whose items have a number that is another one in each copy."""

    def said(self, item: Any) -> Any:
        return {key: value for key, value in item.items() if key != "number"}


def numbered(items: Sequence[Any], start: int) -> list[Any]:
    return [{**item, "number": start + place} for place, item in enumerate(items)]


def test_a_shape_says_what_copies_differ_in() -> None:
    """The numbers are new each time; what was folded is found again all the same."""
    history = talk(8)
    for shape, paid in ((Numbered(), 1), (shape_named("openai_chat"), 2)):
        teller = Teller()
        middleware: Middleware[Any] = Middleware(teller, SMALL, shape=shape)
        for turn in range(2):
            assert summary(middleware.fold(numbered(history, 100 * turn), key="a"))
        assert len(teller.prompts) == paid


def test_what_thinking_needs_is_told_with_the_fold() -> None:
    """The summary is seen as one, so a request is not refused for thinking that stands behind."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    history: list[Any] = []
    for item in talk(6):
        text = {"type": "text", "text": item["content"]}
        blocks = [thought, text] if item["role"] == "assistant" else [text]
        history.append({"role": item["role"], "content": blocks})
    middleware: Middleware[Any] = Middleware(
        Teller(), SMALL, shape="anthropic", agent_model="claude-opus-5-5"
    )
    before = middleware.fold(history[:2], key="a")
    folded = middleware.fold([*history, {"role": "user", "content": "And now?"}], key="a")
    assert before.requirements == ()
    assert before.request_options() == {}
    assert [requirement.kind for requirement in folded.requirements] == ["thinking_binding"]
    seen: ChatContext[Any] = ChatContext(folded.items, model="claude-opus-5-5")
    assert folded.request_options() == seen.request_options() != {}
