"""`Middleware` where the host goes back: what was folded then has to be right for the list now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from laws import Weightless, fewer
from strategies import History, histories
from test_middleware import middleware, reloaded
from validator import validate

from chatfold import ChatContext, Policy
from chatfold.core.native import plain
from chatfold.middleware import Middleware
from chatfold.stores import MemoryStore

TIGHT = Policy(max_tokens=300, keep_tokens=60, keep_last_turns=None, min_gain=0.0)


def happened(prompt: Any) -> str:
    """Return what stands for all that is folded."""
    return "Earlier things were done."


def missing(history: History, items: Sequence[Any], out: Sequence[Any]) -> list[Any]:
    """Return the open calls and the unfinished turn's requests that are not in a list."""
    read: ChatContext[Any] = ChatContext(list(items), shape=history.shape, counter=Weightless())
    wanted = {c.call_index for c in read.tool_calls() if c.status == "open"}
    turns = read.turns()
    if turns and not turns[-1].finished:
        wanted.update(turns[-1].openers)
    there = [json.dumps(plain(item)) for item in out]
    gone: list[Any] = []
    for index in sorted(i for i in wanted if i is not None):
        said = plain(items[index])
        texts = [json.dumps(said)]
        content = said.get("content") or said.get("parts") or ""  # a request may be merged
        texts += [json.dumps(part) for part in content if not isinstance(part, str)]
        if isinstance(content, str):
            texts.append(json.dumps(content)[1:-1])
        if not any(text in each for text in texts if text for each in there):
            gone.append(said)
    return gone


@fewer
@given(
    history=histories(max_turns=6),
    step=st.integers(1, 4),
    hand=st.sampled_from([list, reloaded]),
    later=st.sampled_from(["it", "another process", "held"]),
)
def test_what_is_unfinished_again_is_there_again(
    history: History, step: int, hand: Any, later: str
) -> None:
    """Laws 3 and 10, wherever a host goes back to, and whoever folds its list then."""
    policy = Policy(max_items=4, keep_last_turns=None, keep_tokens=40, min_gain=0.0)
    store = MemoryStore() if later == "another process" else None
    keeps = later == "held"
    ours = middleware(happened, policy, store, shape=history.shape)
    held: Any = None
    for stop in range(step, len(history.items) + 1, step):
        given_ = {"held": held} if keeps else {}
        held = ours.fold(history.items[:stop], key="a", **given_).held
    if store is not None:
        ours = middleware(happened, policy, store, shape=history.shape)
    for stop in range(len(history.items), 0, -1):
        items = hand(history.items[:stop])
        folded = ours.fold(items, key="a", **({"held": held} if keeps else {}))
        event(f"{later}: {folded.outcome.reason}")
        assert missing(history, items, folded.items) == []
        if not validate(reloaded(items), history.shape):
            assert not validate(reloaded(folded.items), history.shape)


def asked(number: int) -> list[dict[str, Any]]:
    """Return a request, the call that it led to, and its result."""
    function = {"name": "find", "arguments": json.dumps({"order": f"LK-{number}"})}
    return [
        {"role": "user", "content": f"Cancel order LK-{number}."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "found " + "word " * 80},
    ]


@pytest.mark.parametrize("under_way", [False, True])
def test_a_host_that_goes_back_to_the_cut_has_its_request(under_way: bool) -> None:
    """Also while another call of the conversation has it."""
    seen: list[Any] = []

    def llm(prompt: Any) -> str:
        if under_way and len(host) > 9:
            seen.append(wrapper.fold(host[:6]).items)
        return "Earlier things were done."

    wrapper: Middleware[Any] = Middleware(llm, TIGHT)
    long = "word " * 80
    host: list[Any] = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "hello " + long},
        {"role": "assistant", "content": "hi " + long},
        *asked(77),
    ]
    host += [{"role": r, "content": f"{r} {'word ' * 15}"} for r in ("user", "assistant", "user")]
    folded = wrapper.fold(host)
    assert folded.items[2:] == host[6:]  # the cut is behind the result
    if under_way:
        host += [{"role": r, "content": f"{r} {long * 2}"} for r in ("assistant", "user")]
        assert wrapper.fold(host).outcome.reason == "summarized"
    else:
        seen.append(wrapper.fold(host[:6]).items)
    assert seen[0][-3:] == host[3:6]


def test_where_the_longest_fold_does_not_stand_the_next_one_does() -> None:
    """A process that starts then asks no model for what was folded before the request."""
    store, long = MemoryStore(), "word " * 80
    host: list[Any] = [
        {"role": "user", "content": "hello " + long},
        {"role": "assistant", "content": "hi " + long},
        *asked(77),
    ]
    policy = Policy(max_tokens=100, keep_tokens=60, keep_last_turns=None, min_gain=0.0)
    first: Middleware[Any] = Middleware(happened, policy, store)
    assert first.fold(host[:3], key="a").outcome.reason == "summarized"
    more = [{"role": r, "content": f"{r} {'word ' * 15}"} for r in ("user", "assistant", "user")]
    assert first.fold([*host, *more], key="a").items[1:] == more

    later: Middleware[Any] = Middleware(happened, Policy(max_tokens=10**9), store)
    back = later.fold(host, key="a")
    assert back.outcome.reason == "reused"
    assert back.items[1:] == host[2:]


@pytest.mark.parametrize("step", [1, 2])
def test_searches_of_the_server_without_ids_stay_with_their_outputs(step: int) -> None:
    """Outputs bind by their order, so that no call goes before its own has come."""
    call = {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {}}
    output = {"type": "tool_search_output", "call_id": None, "execution": "server", "tools": []}
    host: list[Any] = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Which tools are there?"},
        *(call | {"id": f"tsc_{n}"} for n in range(2)),
        *(output | {"id": f"tso_{n}"} for n in range(2)),
        {"role": "assistant", "content": "Many."},
        {"role": "user", "content": "Good."},
    ]
    policy = Policy(max_items=4, keep_last_turns=None, keep_tokens=10, min_gain=0.0)
    ours = middleware(happened, policy, shape="openai_responses")
    reasons: set[str] = set()
    for stop in [*range(step, len(host), step), *range(len(host), 0, -1)]:
        folded = ours.fold(host[:stop], key="a")
        reasons.add(folded.outcome.reason)
        assert validate(reloaded(folded.items), "openai_responses") == []
    assert "summarized" in reasons


def test_a_retold_request_that_waits_again_is_there_again() -> None:
    """It was folded behind a later message of the user, which the host has taken back."""
    preamble = "For context, here is the conversation so far:\n<CONVERSATION HISTORY>\n"
    nested = {"role": "assistant", "content": preamble + "1. user: tell me in Dutch"}
    items: list[Any] = [nested]
    for number in range(4):
        call = {"type": "function_call", "call_id": f"c{number}", "name": "go", "arguments": "{}"}
        output = {"type": "function_call_output", "call_id": f"c{number}", "output": "word " * 99}
        items += [call, output]
    later = [{"role": "assistant", "content": "klaar"}, {"role": "user", "content": "and now?"}]
    ours = middleware(happened, TIGHT, shape="openai_responses")
    assert nested not in ours.fold([*items, *later], key="a").items
    for stop in (9, 7, 5, 3):
        assert nested in ours.fold(items[:stop], key="a").items
