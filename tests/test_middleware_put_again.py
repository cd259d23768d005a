"""Folds that `Middleware` puts into a list again: of another process, or as their host keeps them.

Each is seen as the process sees it that has made it, and costs nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from test_middleware import (
    LATE,
    Teller,
    middleware,
    reloaded,
    same_objects,
    talk,
    tool_result,
    tool_use,
)
from validator import validate

from chatfold import ChatContext, Middleware, Policy
from chatfold.core.rolling import item_digest, rolled
from chatfold.middleware import Folded
from chatfold.regions import View
from chatfold.shapes import shape_named
from chatfold.stores import MemoryStore

Turn = Callable[[Sequence[Any]], Folded[Any]]

SMALL = Policy(max_items=9, keep_last_turns=1, min_gain=0.0)


def turns_of(kind: str, make: Callable[[Any], Any]) -> Turn:
    """Return what folds a list as one process does, or as a new one at each turn.

    Args:
        kind: What the next process has of the fold.
        make: Returns a new middleware, given its store.
    """
    if kind == "one process":
        return make(None).fold
    if kind == "store":
        store = MemoryStore()
        return lambda items: make(store).fold(items, key="a")
    held: list[Any] = [None]

    def turn(items: Sequence[Any]) -> Folded[Any]:
        folded: Folded[Any] = make(None).fold(items, held=held[0])
        shown = make(None).refolded(items, folded.held) if folded.held else folded.items
        assert shown == folded.items
        held[0] = reloaded([folded.held])[0]
        return folded

    return turn


OTHERS = ["store", "held"]


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses"])
def test_a_result_whose_call_was_folded_is_a_note_for_every_process(shape: str, kind: str) -> None:
    """The fold was there before it came: put in behind it, it would part the two."""
    call, results = LATE[shape]
    teller, alone = Teller(), Teller()
    turn = turns_of(kind, lambda store: middleware(teller, SMALL, store, shape=shape))
    expected = turns_of("one process", lambda _: middleware(alone, SMALL, shape=shape))
    host = [*talk(3), {"role": "user", "content": "look"}, *call]
    host += [{"role": "user", "content": "or rather: how late is it?"}]
    for since in ([], *([item] for item in results), talk(1, 90)):
        host += since
        seen, known = turn(reloaded(host)), expected(reloaded(host))
        assert seen.items == known.items
        assert seen.outcome.tokens_after == known.outcome.tokens_after
    assert not validate(reloaded(seen.items), shape)
    assert "slow: A &lt; B" in json.dumps(seen.items)
    assert len(teller.prompts) == len(alone.prompts) == 1


@pytest.mark.parametrize("kind", OTHERS)
def test_a_result_whose_call_stayed_stands_behind_it_for_every_process(kind: str) -> None:
    """A call that is pinned stays in front, and is answered when the user has gone on."""
    call, results = LATE["openai_responses"]
    teller = Teller()

    def make(store: Any) -> Any:
        return middleware(teller, SMALL, store, shape="openai_responses", pin=lambda i: i in call)

    turn, host = turns_of(kind, make), [*talk(3), {"role": "user", "content": "look"}, *call]
    host += talk(1, 50)
    assert turn(reloaded(host)).outcome.reason == "summarized"
    for item in (*results, *talk(1, 90)[:1]):
        host.append(item)
        seen = turn(reloaded(host))
        assert seen.outcome.reason == "reused"
        shown = [item for item in (*call, results[1]) if item in host]
        assert [item for item in seen.items if item in shown] == shown
    assert not validate(reloaded(seen.items), "openai_responses")
    assert len(teller.prompts) == 1


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text}]}


@pytest.mark.parametrize("kind", ["one process", *OTHERS])
def test_what_parts_two_pinned_messages_is_folded_for_every_process(kind: str) -> None:
    """It stays in the first fold and goes in the second: it once was back in every other process.

    Then each turn paid for a fold of it, with nothing new in the list.
    """
    host = [
        said(role, f"{role} {n} " + "word " * 200 + ("PIN" if n in (0, 2) else ""))
        for n in range(6)
        for role in ("user", "assistant")
    ]
    for item in host[::2]:
        item["content"][0]["text"] = item["content"][0]["text"].replace("PIN", "")
    host.append(said("user", "And now?"))
    teller = Teller()
    policy = Policy(max_tokens=500, keep_tokens=100, backoff=0)
    turn = turns_of(
        kind,
        lambda store: middleware(
            teller, policy, store, shape="bedrock", counter=None, pin=lambda i: "PIN" in str(i)
        ),
    )
    reasons: list[str] = []
    for _ in range(5):
        folded = turn(reloaded(host))
        reasons.append(folded.outcome.reason)
        assert not validate(reloaded(folded.items), "bedrock")
    assert reasons == ["summarized"] * 2 + ["reused"] * 3
    assert len(teller.prompts) == 2
    assert [item["role"] for item in folded.items] == ["user", "assistant", "user"]


@pytest.mark.parametrize("kind", ["one process", *OTHERS])
def test_the_message_that_a_summary_stands_in_is_named_at_each_turn(kind: str) -> None:
    """Not at that alone at which it was folded: the host's message is not in what goes out."""
    host = [said(item["role"], item["content"]) for item in talk(4)]
    host.append(said("user", "Refund it now."))
    for n in range(6):
        call = {"toolUseId": f"t{n}", "name": "lookup", "input": {}}
        result = {"toolUseId": f"t{n}", "content": [{"text": "row " * 100}]}
        host.append({"role": "assistant", "content": [{"toolUse": call}]})
        host.append({"role": "user", "content": [{"toolResult": result}]})
    policy = Policy(max_tokens=500, keep_tokens=200, min_gain=0.0)
    turn = turns_of(
        kind,
        lambda store: middleware(Teller(), policy, store, shape="bedrock", counter=None),
    )
    reasons: list[str] = []
    for _ in range(3):
        folded = turn(host)
        reasons.append(folded.outcome.reason)
        assert same_objects(folded.outcome.merged, host[8:9])
        assert folded.items[0]["content"][1:] == host[8]["content"]
        assert ChatContext(folded.items, shape="bedrock").check() == []
    assert reasons == ["summarized", "reused", "reused"]


def test_a_fold_that_cannot_stand_leaves_all_that_came_behind_it() -> None:
    """The late result too: what was tried before it came is no part of the list."""
    call, results = LATE["openai_responses"]
    host = [*talk(3), {"role": "user", "content": "look"}, *call, *talk(1, 50)[:1]]
    wrapper = middleware(Teller(), SMALL, shape="openai_responses")
    made = wrapper.fold(host, held=None).held
    assert made is not None
    digests = rolled([item_digest(item, shape_named("openai_responses").said) for item in host])
    assert digests[made.length - 1] == made.digest
    all_of_it = made._replace(digest=digests[-1], length=len(host))  # the request as well
    host += [results[1], *talk(1, 50)[1:]]
    far = Policy(max_tokens=10**9)
    folded = middleware(Teller(), far, shape="openai_responses").fold(host, held=all_of_it)
    assert same_objects(folded.items, host)
    again = middleware(Teller(), SMALL, shape="openai_responses").fold(host, held=all_of_it)
    assert again.outcome.reason == "summarized"
    assert same_objects(again.items[-1:], host[-1:])


def test_what_a_provider_wants_between_items_that_stay_is_kept_where_it_is_not_said() -> None:
    """As of a fold that a version made which did not know that rule."""
    function = {"name": "look", "arguments": "{}"}
    step = [
        {"role": "assistant", "tool_calls": [{"id": "abcdefghi", "function": function}]},
        {"role": "tool", "tool_call_id": "abcdefghi", "name": "look", "content": "row"},
    ]
    answer = {"role": "assistant", "content": "Seen."}
    host = [*talk(2), {"role": "user", "content": "look"}, *step, answer, *talk(3, 50)]
    options: dict[str, Any] = {"shape": "mistral", "pin": lambda item: item in step}
    folded = middleware(Teller(), SMALL, **options).fold(host, held=None)
    assert folded.held is not None
    places = tuple(host.index(item) for item in (*step, answer))
    assert folded.held.kept == places
    less = folded.held._replace(kept=places[:2])
    assert middleware(Teller(), SMALL, **options).refolded(host, less) == folded.items


CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
STEPS: dict[str, list[Any]] = {
    "openai_chat": [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "row"},
    ],
    "openai_responses": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "row"},
    ],
    "anthropic": [
        {"role": "assistant", "content": [tool_use("c")]},
        {"role": "user", "content": [tool_result("c")]},
    ],
}


@pytest.mark.parametrize(
    ("shape", "part"), [(shape, part) for shape in STEPS for part in range(len(STEPS[shape]))]
)
def test_a_step_of_which_a_part_stays_is_kept_whole(shape: str, part: int) -> None:
    """As of a fold that a version made which did not know that they belong together."""
    step = STEPS[shape]
    host = [*talk(2), {"role": "user", "content": "look"}, *step]
    host += [{"role": "assistant", "content": "Seen."}, *talk(4, 50)]
    options: dict[str, Any] = {"shape": shape, "pin": lambda item: item in step}
    folded = middleware(Teller(), SMALL, **options).fold(host, held=None)
    assert folded.held is not None
    at = host.index(step[part])
    assert at in folded.held.kept
    less = folded.held._replace(kept=(at,))
    assert middleware(Teller(), SMALL, **options).refolded(host, less) == folded.items


def pinned_turns() -> list[list[Any]]:
    """Return turns of Bedrock's of which a result and two messages of the user's stay."""

    def said(role: str, words: str) -> Any:
        return {"role": role, "content": [{"text": words + " word" * 25}]}

    use = {"toolUse": {"toolUseId": "call_3", "name": "look", "input": {}}}
    result = {"toolUseId": "call_3", "content": [{"text": "what was found PIN"}]}
    calling = [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]
    first = [said("user", "u3 PIN"), *calling, said("assistant", "a3")]
    return [
        [said("user", "u0"), said("assistant", "a0")],
        [said("user", "u1"), said("assistant", "a1"), *first],
        [
            said("user", "u4 PIN"),
            said("assistant", "a4"),
            said("user", "u5"),
            said("assistant", "a5"),
        ],
        [said("user", "u6"), said("assistant", "a6")],
    ]


@pytest.mark.parametrize("kind", ["one process", *OTHERS])
def test_a_pinned_result_and_a_pinned_message_never_follow_each_other(kind: str) -> None:
    """Some models on Bedrock refuse two of the user's in a row, and these cannot be one."""

    class Quarter:
        def count(self, text: str) -> int:
            return len(text) // 4

    turn = turns_of(
        kind,
        lambda store: Middleware(
            lambda prompt: "what happened",
            Policy(max_tokens=120, keep_tokens=20, min_gain=0.0, backoff=0),
            shape="bedrock",
            pin=lambda item: "PIN" in json.dumps(item),
            grounding="report",
            timeout=None,
            counter=Quarter(),
            store=store,
        ),
    )
    host: list[Any] = []
    for added in pinned_turns():
        host += added
        roles = [item["role"] for item in turn(reloaded(host)).items]
        assert [pair for pair in pairwise(roles) if pair == ("user", "user")] == []


def test_what_goes_out_in_one_message_is_named_once_whichever_way_it_came_there() -> None:
    """With the summary, as it was folded; and beside that, as it is shown."""
    view = View((("summary, a",), 1), cut=2, end=2, merged=(0,), seams=(1,))
    seen = view.of(["a", "b", "c"], lambda before, item: f"{before}, {item}")
    assert seen.items == ["summary, a, b", "c"]
    assert seen.merged == ("a", "b")
