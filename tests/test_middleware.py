"""`Middleware`: a host hands over all of its list at each turn, and owns it."""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import Weightless, fewer, same_objects, step
from strategies import SHAPES, History, histories, long_history
from validator import validate

from chatfold import Policy, Prompt
from chatfold.core.native import plain
from chatfold.core.summary import TAG
from chatfold.middleware import Folded, Middleware
from chatfold.stores import MemoryStore

BRANCHES = 64  # that are held of one name and one opening
SMALL = Policy(max_items=6, keep_last_turns=1, keep_tokens=400, max_tokens=1000, min_gain=0.0)


class Teller:
    """Writes summaries that say which one each is, and keeps the prompts."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        return f"what happened before, part {len(self.prompts)}"


def middleware(llm: Any, policy: Policy = SMALL, store: Any = None, **options: Any) -> Any:
    """Return a middleware for histories that are drawn."""
    given = {"counter": Weightless(), "grounding": "report", "timeout": None}
    return Middleware(llm, policy, store, **{**given, **options})


def talk(count: int, start: int = 0, words: int = 20) -> list[dict[str, Any]]:
    """Return plain turns of which each says something else."""
    return [
        {"role": role, "content": f"{role} {number} LK-{1000 + number} " + "word " * words}
        for number in range(start, start + count)
        for role in ("user", "assistant")
    ]


def reloaded(items: Sequence[Any]) -> list[Any]:
    """Return the items as a host has them that keeps its history as JSON."""
    return json.loads(json.dumps([plain(item) for item in items]))


def summaries(items: Sequence[Any]) -> int:
    """Return the number of summary items."""
    return sum(f"<{TAG} digest=" in json.dumps(plain(item))[:200] for item in items)


# --- a host that grows its list -------------------------------------------------------------------


@fewer
@given(history=histories(), step=st.integers(1, 5), hand=st.sampled_from([list, reloaded]))
def test_the_result_is_sendable_at_every_turn_and_the_host_keeps_its_list(
    history: History, step: int, hand: Callable[[Sequence[Any]], list[Any]]
) -> None:
    """The host's objects come back, those behind the cut all and in order; nothing is changed."""
    wrapper = middleware(Teller(), shape=history.shape)
    for stop in [*range(1, len(history.items), step), len(history.items)]:
        given_, before = hand(history.items[:stop]), reloaded(history.items[:stop])
        folded = wrapper.fold(given_)
        assert reloaded(given_) == before
        if not validate(reloaded(given_), history.shape):
            assert not validate(reloaded(folded.items), history.shape)
        places = {id(item): place for place, item in enumerate(given_)}
        own = [places[id(item)] for item in folded.items if id(item) in places]
        late = sum("<recorded_tool_result" in json.dumps(plain(item)) for item in folded.items)
        assert len(own) >= len(folded.items) - 1 - late
        assert len(own) == len(set(own))
        assert own == sorted(own) or history.shape == "anthropic"  # where instructions are moved


def test_a_yes_of_the_policy_holds_for_its_turn_alone() -> None:
    """Another process had the list when it was said."""
    store, said = MemoryStore(), [True]
    policy = Policy(when=lambda load: said[0], keep_last_turns=1)
    wrapper, host = middleware(Teller(), policy, store), talk(6)
    claims: list[Any] = []

    class Busy(Teller):
        def __call__(self, prompt: Prompt) -> str:
            claims.append(wrapper.fold(host).outcome.reason)
            raise RuntimeError("down")

    middleware(Busy(), Policy(when=lambda load: True, keep_last_turns=1), store).fold(host)
    assert claims == ["running"]
    said[0] = False
    assert wrapper.fold(host).outcome.reason == "below_trigger"


@pytest.mark.parametrize("hand", [list, reloaded])
@pytest.mark.parametrize("kept", [lambda: None, MemoryStore], ids=["alone", "store"])
def test_a_policy_that_says_yes_but_once_is_heard(kept: Callable[[], Any], hand: Any) -> None:
    """A user has asked for it, say, and the word is taken when it is heard."""
    wishes: list[str] = []
    policy = Policy(when=lambda load: bool(wishes) and bool(wishes.pop()), keep_last_turns=1)
    wrapper = middleware(Teller(), policy, kept())
    reasons = []
    for count in range(1, 7):
        if count in (3, 5):
            wishes.append("fold")
        reasons.append(wrapper.fold(hand(talk(count, words=60))).outcome.reason)
    idle, reused = "below_trigger", "reused"
    assert reasons == [idle, idle, "summarized", reused, "summarized", reused]


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("clock", [False, True])
@pytest.mark.parametrize("kept", [lambda: None, MemoryStore], ids=["alone", "store"])
def test_a_policys_function_is_asked_once_a_turn(
    kept: Callable[[], Any], clock: bool, background: bool
) -> None:
    """Whatever it says, also where the leading instructions are others at each turn."""
    asked, host = list[int](), list[Any]()

    def every_tenth(load: Any) -> bool:
        asked.append(len(host) // 2)
        return len(asked) % 10 == 0

    policy = Policy(when=every_tenth, keep_last_turns=1, min_gain=0)
    wrapper = middleware(Teller(), policy, kept(), background=background)
    folds = list[int]()
    for number in range(1, 31):
        host += talk(1, start=number)
        said = [{"role": "system", "content": "It is noon. " * (1 + number * clock)}]
        outcome = wrapper.fold([*said, *host], key="k").outcome
        if outcome.reason in ("summarized", "started"):
            folds.append(number)
    assert len(asked) == len(set(asked))
    if not background:  # while one is being written, nobody asks
        assert asked == list(range(1, 31))
        assert folds == [10, 20, 30]


def test_an_error_of_a_policys_function_is_of_its_turn_alone() -> None:
    """It comes out of the call; the next turn asks anew."""
    words: list[Any] = [False, LookupError("no rules"), True]

    def when(load: Any) -> bool:
        said = words.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    wrapper = middleware(Teller(), Policy(when=when, keep_last_turns=1))
    host = talk(5, words=60)
    assert wrapper.fold(host).outcome.reason == "below_trigger"
    with pytest.raises(LookupError, match="no rules"):
        wrapper.fold(host)
    assert wrapper.fold(host).outcome.reason == "summarized"
    assert words == []


def test_a_word_of_the_policy_holds_for_the_turn_at_which_it_was_said() -> None:
    """Who forbids a fold then is not asked for it again."""
    wishes, asked = ["fold"], [0]

    def forbid(event: Any) -> bool:
        asked[0] += 1
        return False

    policy = Policy(when=lambda load: bool(wishes) and bool(wishes.pop()), keep_last_turns=1)
    wrapper = middleware(Teller(), policy, on_event=forbid)
    turns = talk(3, words=60)
    assert [wrapper.fold(turns).outcome.reason for _ in range(2)] == ["vetoed", "below_trigger"]
    assert asked == [1]


def chat_call(name: str) -> dict[str, Any]:
    """Return the message of a Chat Completions model that calls one tool."""
    function = {"name": name, "arguments": "{}"}
    call = {"id": name, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def tool_use(name: str) -> dict[str, Any]:
    """Return the block of a Claude model that calls one tool."""
    return {"type": "tool_use", "id": name, "name": name, "input": {}}


def tool_result(name: str) -> dict[str, Any]:
    """Return the block that answers it."""
    return {"type": "tool_result", "tool_use_id": name, "content": f"{name}: A < B"}


LATE: dict[str, tuple[list[Any], list[Any]]] = {
    "openai_chat": (
        [chat_call("slow")],
        [chat_call("quick")]
        + [
            {"role": "tool", "tool_call_id": name, "content": f"{name}: A < B"}
            for name in ("slow", "quick")
        ],
    ),
    "openai_responses": (
        [{"type": "function_call", "call_id": "slow", "name": "slow", "arguments": "{}"}],
        [{"type": "function_call", "call_id": "quick", "name": "quick", "arguments": "{}"}]
        + [
            {"type": "function_call_output", "call_id": name, "output": f"{name}: A < B"}
            for name in ("slow", "quick")
        ],
    ),
    "anthropic": (
        [{"role": "assistant", "content": [tool_use("slow")]}],
        [
            {"role": "assistant", "content": [tool_use("quick")]},
            {"role": "user", "content": [tool_result("slow"), tool_result("quick")]},
        ],
    ),
}


@pytest.mark.parametrize("shape", LATE)
@pytest.mark.parametrize("hand", [list, reloaded], ids=["same", "reloaded"])
def test_a_result_that_comes_when_its_call_is_folded_is_a_note(
    shape: str, hand: Callable[[Sequence[Any]], list[Any]]
) -> None:
    """The user goes on while a tool runs, the call is folded away, and then its result comes."""
    call, results = LATE[shape]
    host = [*talk(3), {"role": "user", "content": "look"}, *call]
    host += [{"role": "user", "content": "or rather: how late is it?"}]
    policy = Policy(max_items=9, keep_last_turns=1, min_gain=0.0)
    teller = Teller()
    wrapper = middleware(teller, policy, shape=shape)
    first = wrapper.fold(hand(host), held=None)
    assert first.outcome.reason == "summarized"
    assert "slow" not in json.dumps(first.items[1:])
    given_ = list(host)
    for item in results:
        given_.append(item)
        shown = wrapper.fold(hand(given_)).items
    assert not validate(reloaded(shown), shape)
    notes = [item for item in shown if "<recorded_tool_result" in json.dumps(item)]
    assert len(notes) == 1
    assert "slow: A &lt; B" in json.dumps(notes)
    # Later folds take it in once, and a process that knows only the first one stays sendable.
    for item in talk(8, 10):
        given_.append(item)
        later = wrapper.fold(hand(given_)).items
        fresh = middleware(Teller(), policy, shape=shape).fold(hand(given_), held=first.held).items
        assert not validate(reloaded(later), shape)
        if not validate(reloaded(given_), shape):  # some providers refuse the host's own list
            assert not validate(reloaded(fresh), shape)
    assert "<recorded_tool_result" not in json.dumps(later[1:])
    told = [prompt.user for prompt in teller.prompts if "recorded_tool_result" in prompt.user]
    assert len(told) == 1
    assert "slow: A &" in told[0]


RESPONSES, RESPONSES_RESULTS = LATE["openai_responses"]


def test_a_late_result_comes_while_another_call_has_the_conversation() -> None:
    """What is folded then goes out without the call, so the list goes out unfolded."""
    asked: list[Folded[Any]] = []

    def llm(prompt: Prompt) -> str:
        if len(host) > 9:
            asked.append(wrapper.fold([*host, *RESPONSES_RESULTS]))
        return "what happened before"

    policy = Policy(max_items=9, keep_last_turns=1, min_gain=0.0)
    wrapper = middleware(llm, policy, shape="openai_responses")
    host: list[Any] = [*talk(3), {"role": "user", "content": "look"}, *RESPONSES]
    host.append({"role": "user", "content": "or rather: how late is it?"})
    assert wrapper.fold(host).outcome.reason == "summarized"
    host += talk(5, 10)
    wrapper.fold(host)
    assert asked
    assert not validate(reloaded(asked[0].items), "openai_responses")


def test_every_part_is_summarized_once() -> None:
    """A long conversation, handed over as the same objects, as copies, and from JSON."""
    for hand in (list, copy.deepcopy, reloaded):
        teller = Teller()
        wrapper = middleware(teller, Policy(max_tokens=3000, keep_tokens=1000), counter=None)
        host: list[Any] = []
        for turn in range(120):
            host += talk(1, turn)
            folded = wrapper.fold(hand(host))
        shown = [v for prompt in teller.prompts for v in prompt.views if "LK-" in v.parts[0].text]
        texts = [view.parts[0].text for view in shown if "digest=" not in view.parts[0].text]
        assert len(texts) == len(set(texts)) > 180
        assert folded.outcome.reason == "reused"
        assert folded.outcome.tokens_before > 3 * folded.outcome.tokens_after


def test_a_clock_in_the_system_prompt_and_moving_cache_markers_change_nothing() -> None:
    """The prefix, cache markers and unset fields are not part of what is recognized."""
    teller, store = Teller(), MemoryStore()
    host = talk(40)
    for turn in range(40, 60):
        host += talk(1, turn)
        handed = reloaded([{"role": "system", "content": f"It is 12:{turn}."}, *host])
        handed[-1]["cache_control"] = {"type": "ephemeral"}
        handed[3]["name"] = None
        wrapper = middleware(teller, store=store) if turn % 5 == 0 else wrapper  # noqa: F821
        folded = wrapper.fold(handed)
        assert folded.items[0] is handed[0]
        assert folded.items[-1] is handed[-1]
    texts = [v.parts[0].text for prompt in teller.prompts for v in prompt.views]
    assert len(texts) == len(set(texts))


# --- a host that changes its list -----------------------------------------------------------------


def folded_host(turns: int = 40) -> tuple[Any, Teller, list[Any], Folded[Any]]:
    """Return a middleware that has folded a host's list once."""
    teller = Teller()
    wrapper, host = middleware(teller), talk(turns)
    return wrapper, teller, host, wrapper.fold(host)


def test_a_kept_item_that_was_put_last_finds_its_place_when_the_host_goes_on() -> None:
    """Anthropic's `system` messages want a user's turn before them and an assistant's behind."""
    rule = {"role": "system", "content": "From now on answer in German."}
    host: list[dict[str, Any]] = talk(5)[:-1]
    host.insert(3, rule)
    teller = Teller()
    wrapper = middleware(
        teller, Policy(max_items=9, keep_last_turns=1), shape="anthropic", pin=lambda i: i == rule
    )
    first = wrapper.fold(host)
    assert first.outcome.reason == "summarized"
    assert first.items[-1] is rule, "no assistant's turn is there yet that it could stand before"
    for since in (talk(1, 90)[:1], talk(1, 91)[1:], talk(2, 92)[:3]):
        host += since
        folded = wrapper.fold(host)
        assert validate(folded.items, "anthropic") == []
        assert [item for item in folded.items if item is rule] == [rule]
        assert [item for item in folded.items if item is not rule][-len(since) :] == since
        assert summaries(folded.items) == len(teller.prompts) == 1


@pytest.mark.parametrize("processes", [1, 2])
def test_instructions_that_share_a_place_are_found_in_every_later_fold(processes: int) -> None:
    """They go to one place as one message, and stand apart again where there is room."""
    rules = [{"role": "system", "content": f"Rule {n}."} for n in range(3)]
    host: list[dict[str, Any]] = talk(6)
    for at, rule in zip((5, 3, 1), reversed(rules), strict=True):
        host.insert(at, rule)
    store, teller = MemoryStore(), Teller()
    policy = Policy(max_items=9, keep_last_turns=1)
    folders = [middleware(teller, policy, store, shape="anthropic") for _ in range(processes)]
    for turn in range(40):
        host += talk(2, 90 + turn)[turn % 2 :][:1]
        for folder in folders:
            folded = folder.fold(host, key="a")
            assert validate(folded.items, "anthropic") == []
            told = [item["content"] for item in folded.items if item["role"] == "system"]
            texts = [
                [text] if isinstance(text, str) else [b["text"] for b in text] for text in told
            ]
            assert [each for one in texts for each in one] == [rule["content"] for rule in rules]
            assert summaries(folded.items) == 1
    assert 1 < len(teller.prompts) < 20


def test_an_answer_that_is_asked_for_again_costs_no_summary() -> None:
    """What stands behind the fold may be replaced, cut off, and come again."""
    wrapper, teller, host, first = folded_host()
    other = [*host[:-1], {"role": "assistant", "content": "another answer"}]
    again = wrapper.fold(other)
    assert again.outcome.reason == "reused"
    assert again.items[-1] is other[-1]
    assert same_objects(again.items[1:-1], first.items[1:-1])
    assert same_objects(wrapper.fold(host).items[1:], first.items[1:])
    assert len(teller.prompts) == 1


def test_a_host_that_goes_back_behind_the_fold_gets_its_own_items() -> None:
    """Where the folded part is no longer the host's, the summary does not stand for it."""
    wrapper, _, host, _ = folded_host()
    early = host[:4]
    assert same_objects(wrapper.fold(early).items, early)
    changed = [{"role": "user", "content": "something else"}, *host[1:5]]
    assert same_objects(wrapper.fold(changed).items, changed)


def test_folds_of_folds_are_found_again_where_the_host_goes_back_a_little() -> None:
    """After two folds, a list that ends between them is folded as it was at the first."""
    teller = Teller()
    wrapper, host = middleware(teller), talk(40)
    first = wrapper.fold(host)
    host += talk(40, 40)
    wrapper.fold(host)
    assert len(teller.prompts) == 2
    back = wrapper.fold(host[:80])
    assert len(teller.prompts) == 2
    assert same_objects(back.items[1:], first.items[1:])


# --- many conversations ---------------------------------------------------------------------------


@pytest.mark.parametrize("hand", [list, reloaded])
def test_conversations_without_a_key_are_told_apart(hand: Callable[..., list[Any]]) -> None:
    """A server that gives none: each is summarized once, however many take turns."""
    teller = Teller()
    wrapper = middleware(teller, Policy(max_items=20, keep_last_turns=1, min_gain=0.0))
    hosts = [[{"role": "system", "content": "You help."}, *talk(20, 100 * n)] for n in range(40)]
    first = [wrapper.fold(hand(host)).outcome.reason for host in hosts]
    assert first == ["summarized"] * len(hosts)
    for host in hosts:
        host += talk(1, 7)
        assert wrapper.fold(hand(host)).outcome.reason == "reused"
    assert len(teller.prompts) == len(hosts)


@pytest.mark.parametrize("hand", [list, reloaded])
@pytest.mark.parametrize("key", [None, "a gateway"])
def test_as_many_conversations_are_held_as_sessions_says(
    hand: Callable[..., list[Any]], key: str | None
) -> None:
    """Under one name, too, more than the branches that one conversation may have."""
    teller = Teller()
    policy = Policy(max_items=20, keep_last_turns=1, min_gain=0.0)
    wrapper = middleware(teller, policy, sessions=BRANCHES + 20)
    help_ = {"role": "system", "content": "You help."}
    hosts = [[help_, *talk(20, 100 * n)] for n in range(BRANCHES + 20)]
    for host in hosts:
        assert wrapper.fold(hand(host), key=key).outcome.reason == "summarized"
    for host in [*hosts, *reversed(hosts)]:
        assert wrapper.fold(hand([*host, *talk(1, 7)]), key=key).outcome.reason == "reused"
    assert len(teller.prompts) == len(hosts)
    other = talk(20, 100_000)
    assert wrapper.fold(hand(other), key=key).outcome.reason == "summarized"
    reasons = [wrapper.fold(hand(host), key=key).outcome.reason for host in (hosts[-1], other)]
    assert reasons == ["reused", "reused"]  # that one was used longest ago, and its fold is kept
    assert len(teller.prompts) == len(hosts) + 1


def test_conversations_that_open_alike_are_held_up_to_a_number() -> None:
    """A branch is one as well: a host that regenerates without end fills no memory."""
    wrapper = middleware(Teller(), Policy(max_items=20, keep_last_turns=1, min_gain=0.0))
    opening = talk(1, 5)
    hosts = [[*opening, *talk(20, 100 * n)] for n in range(BRANCHES + 1)]
    for host in hosts:
        assert wrapper.fold(host).outcome.reason == "summarized"
    assert wrapper.fold(hosts[1]).outcome.reason == "reused"
    assert wrapper.fold(hosts[0]).outcome.reason == "reused"  # of that one the fold alone is held


def test_conversations_without_a_key_do_not_take_each_other_s_folds_away() -> None:
    """What is written for one in the background is put in though another had a turn."""
    may_end = threading.Event()

    def slow(prompt: Prompt) -> str:
        assert may_end.wait(20)
        return "what happened before"

    wrapper, hosts = middleware(slow, background=True), [talk(40), talk(40, 100)]
    assert [wrapper.fold(host).outcome.reason for host in hosts] == ["started", "started"]
    may_end.set()
    for host in hosts:
        for _ in range(400):
            folded = wrapper.fold(host)
            if folded.outcome.reason != "running":
                break
            threading.Event().wait(0.02)
        assert folded.outcome.reason == "summarized"


# --- keys, stores, processes ----------------------------------------------------------------------


@fewer
@given(history=histories(), step=st.integers(3, 9))
def test_another_process_with_the_store_sees_the_same(history: History, step: int) -> None:
    """A fresh middleware over equal copies makes the list that the first one made."""
    store, teller = MemoryStore(), Teller()
    for stop in [*range(step, len(history.items), step), len(history.items)]:
        items = history.items[:stop]
        first = middleware(teller, store=store, shape=history.shape).fold(items, key="a")
        before = len(teller.prompts)
        other = middleware(teller, store=store, shape=history.shape)
        second = other.fold(reloaded(items), key="a")
        if first.outcome.reason == "summarized" and len(teller.prompts) == before:
            assert reloaded(second.items) == reloaded(first.items)


def test_an_instruction_in_the_conversation_is_in_every_reuse_of_its_fold() -> None:
    """One that a fold has kept in front of its cut may stand in the tail when the next is made."""
    store, teller = MemoryStore(), Teller()

    def said(role: str, content: Any = "ok") -> dict[str, Any]:
        return {"role": role, "content": content}

    answer = said("assistant", [{"type": "text", "text": "ok"}])
    items = [
        said("user"),
        said("system", "one"),
        *(answer, answer),
        said("user"),
        said("system", "two"),
        answer,
        *step("anthropic", "toolu_1", 1, ["found"]),
        answer,
    ]
    for stop in (3, 6, 9, 10):
        for _ in range(2):  # the second is another process
            folding = middleware(teller, store=store, shape="anthropic")
            out = folding.fold(reloaded(items[:stop]), key="a").items
            told = [item["content"] for item in out if item["role"] == "system"]
            assert sorted(told) == ["one", "two"][: 1 + (stop > 3)]
    assert teller.prompts


def test_no_key_reads_another_key_s_fold() -> None:
    """Two tenants with the same words have a summary each."""
    store, teller = MemoryStore(), Teller()
    for key in ("a", "b", "a", "b"):
        middleware(teller, store=store).fold(talk(40), key=key)
    assert len(teller.prompts) == 2


def test_a_shared_store_wants_a_key() -> None:
    """Without one, one conversation could read another's summary."""

    class Shared(MemoryStore):
        pass

    class Elsewhere:
        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        def longest(self, *args: Any) -> Any:
            return store.longest(*args)

    store = MemoryStore()
    with pytest.raises(ValueError, match="key= is required with a shared store"):
        Middleware("extractive", store=Elsewhere()).fold(talk(2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="store must be one for hosts"):
        Middleware("extractive", store="folds.db")  # type: ignore[arg-type]


def test_wrong_arguments_are_refused_when_the_middleware_is_made() -> None:
    """Not at the first turn of the first customer."""
    with pytest.raises(TypeError, match="unknown option colour"):
        Middleware("extractive", colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unknown option undo_depth"):
        Middleware("extractive", undo_depth=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="cannot summarize with int; expected"):
        Middleware(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sessions must be 1 or more"):
        Middleware("extractive", sessions=0)
    with pytest.raises(TypeError, match="sessions must be a whole number, not '5'"):
        Middleware("extractive", sessions="5")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="background must be True or False, not 'no'"):
        Middleware("extractive", background="no")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_error must be one of report, raise, not 'ignore'"):
        Middleware("extractive", on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a key must be a str, not int"):
        Middleware("extractive").fold(talk(2), key=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a key must not be empty"):
        Middleware("extractive").fold(talk(2), key="")
    with pytest.raises(TypeError, match="messages must be a list"):
        Middleware("extractive").fold("text")  # type: ignore[arg-type]


# --- erasure --------------------------------------------------------------------------------------


def test_a_conversation_that_is_forgotten_is_nowhere_in_the_process() -> None:
    """Nor in the store, once it is erased there; other conversations are as they were."""
    store, teller = MemoryStore(), Teller()
    wrapper, host = middleware(teller, store=store), talk(40)
    for key in ("a", "b"):
        assert wrapper.fold(host, key=key).outcome.reason == "summarized"
    assert store.erase("a")
    wrapper.forget("a")
    assert wrapper.fold(host, key="a").outcome.reason == "summarized"
    assert wrapper.fold(host, key="b").outcome.reason == "reused"
    assert len(teller.prompts) == 3
    wrapper.forget("a")
    assert wrapper.fold(host, key="a").outcome.reason == "reused", "the store still has it"
    wrapper.forget("nobody")


def test_what_is_forgotten_while_it_is_written_never_comes_back() -> None:
    may_end = threading.Event()

    def slow(prompt: Prompt) -> str:
        may_end.wait(10)
        return "what happened before"

    store = MemoryStore()
    wrapper, host = middleware(slow, store=store, background=True), talk(40)
    assert wrapper.fold(host, key="a").outcome.reason == "started"
    wrapper.forget("a")
    may_end.set()
    time.sleep(0.05)
    other = middleware(Teller(), store=store)
    assert other.fold(host, key="a").outcome.reason == "summarized", "nobody has it under way"


# --- failures -------------------------------------------------------------------------------------


def test_on_failure_the_last_good_fold_and_all_since_go_out() -> None:
    """A summarizer that fails costs the second fold, not the first."""
    answers: list[Any] = ["what happened before"]

    def fragile(prompt: Prompt) -> str:
        if not answers:
            raise RuntimeError("down")
        return answers.pop()

    wrapper, host = middleware(fragile), talk(40)
    first = wrapper.fold(host)
    host += talk(10, 40)
    second = wrapper.fold(host)
    assert second.outcome.reason == "failed"
    assert len(second.items) == len(first.items) + 20
    assert same_objects(second.items[1 : len(first.items)], first.items[1:])


def test_in_the_background_no_turn_waits() -> None:
    """A fold is begun at one turn and put in at a later one."""
    may_end = threading.Event()

    def slow(prompt: Prompt) -> str:
        assert may_end.wait(20)
        return "what happened before"

    wrapper, host = middleware(slow, background=True), talk(40)
    assert wrapper.fold(host).outcome.reason == "started"
    host += talk(1, 40)
    waiting = wrapper.fold(host)
    assert (waiting.outcome.reason, len(waiting.items)) == ("running", len(host))
    may_end.set()
    for _ in range(200):
        folded = wrapper.fold(host)
        if folded.outcome.changed:
            break
        threading.Event().wait(0.02)
    assert folded.outcome.reason == "summarized"
    assert folded.items[-1] is host[-1]


@settings(max_examples=20, deadline=None)
@given(shape=st.sampled_from(sorted(SHAPES)), seed=st.integers(0, 1000))
def test_long_histories_stay_small(shape: str, seed: int) -> None:
    """A history of a thousand items, turn by turn: what goes out is bounded, and sendable."""
    items = long_history(shape, 600, seed)
    policy = Policy(max_tokens=4000, keep_tokens=1500, min_gain=0.0)
    wrapper = Middleware(Teller(), policy, shape=shape, grounding="report", timeout=None)
    for stop in range(20, len(items), 20):
        folded = wrapper.fold(items[:stop])
        if not validate(reloaded(items[:stop]), shape):
            assert not validate(reloaded(folded.items), shape)
