"""`Middleware` where several calls have one conversation at the same time."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from background import wait_until
from laws import Weightless
from test_middleware import LATE, SMALL, Teller, middleware, summaries, talk
from validator import validate

from chatfold import ChatContext, Policy, Prompt
from chatfold.errors import TemplateError
from chatfold.events import FoldEvent
from chatfold.session import Session
from chatfold.stores import MemoryStore

OVER = Policy(max_items=6, keep_last_turns=1, keep_tokens=400, max_tokens=900, window=1000)


def test_who_finds_a_fold_under_way_goes_on_without_it() -> None:
    """Fifty threads with one conversation: one summary, and nobody waits for it."""
    started, may_end = threading.Event(), threading.Event()
    calls: list[int] = []

    def slow(prompt: Prompt) -> str:
        calls.append(1)
        started.set()
        assert may_end.wait(20)
        return "what happened before"

    wrapper, host, results = middleware(slow), talk(40), list[Any]()
    first = threading.Thread(target=lambda: results.append(wrapper.fold(host)))
    first.start()
    assert started.wait(20)
    others = [wrapper.fold(copy.deepcopy(host)) for _ in range(50)]
    assert {folded.outcome.reason for folded in others} == {"running"}
    assert all(len(folded.items) == len(host) for folded in others)
    may_end.set()
    first.join()
    assert results[0].outcome.reason == "summarized"
    assert wrapper.fold(host).outcome.reason == "reused"
    assert len(calls) == 1


def test_another_process_at_work_is_waited_for_only_over_the_window() -> None:
    """Two middlewares with one store stand for two processes."""
    store, host = MemoryStore(), talk(40)
    started, may_end = threading.Event(), threading.Event()

    def slow(prompt: Prompt) -> str:
        started.set()
        assert may_end.wait(20)
        return "what happened before"

    one = middleware(slow, store=store)
    small = Policy(max_items=6, keep_last_turns=1, keep_tokens=400, max_tokens=900, window=1000)
    thread = threading.Thread(target=lambda: one.fold(host, key="k"))
    thread.start()
    assert started.wait(20)
    below = middleware(Teller(), store=store).fold(host, key="k")
    assert (below.outcome.reason, len(below.items)) == ("running", len(host))
    waiting = middleware(Teller(), small, store)
    threading.Timer(0.3, may_end.set).start()
    over = waiting.fold(host, key="k")
    thread.join()
    assert over.outcome.reason == "reused"
    assert summaries(over.items) == 1


def test_another_call_at_work_is_waited_for_over_the_window() -> None:
    """A list that no longer fits would be refused; what is folded so far is that list here."""
    started, may_end = threading.Event(), threading.Event()

    def slow(prompt: Prompt) -> str:
        started.set()
        assert may_end.wait(20)
        return "what happened before"

    wrapper, host, results = middleware(slow, OVER), talk(40), list[Any]()
    first = threading.Thread(target=lambda: results.append(wrapper.fold(host)))
    first.start()
    assert started.wait(20)
    threading.Timer(0.3, may_end.set).start()
    second = wrapper.fold(copy.deepcopy(host))
    first.join()
    assert results[0].outcome.reason == "summarized"
    assert second.outcome.reason in ("reused", "running")  # the first may still be at its end
    assert summaries(second.items) == 1
    assert second.items[1:] == results[0].items[1:]


def test_a_list_that_does_not_fit_is_held_back_until_its_fold_is_taken_in() -> None:
    """The context's list is smaller by then; what the other call could show is not yet."""
    others, early = list[Any](), list[Any]()

    def while_it_is_put_in(event: FoldEvent) -> None:
        if event.kind == "after":
            others.append(threading.Thread(target=lambda: early.append(wrapper.fold(host))))
            others[0].start()
            others[0].join(0.5)

    wrapper, host = middleware(Teller(), OVER, on_event=while_it_is_put_in), talk(40)
    first = wrapper.fold(host)
    others[0].join()
    assert [first.outcome.reason, summaries(first.items)] == ["summarized", 1]
    assert [summaries(folded.items) for folded in early] == [1]


class Watched(list[Any]):
    """A host's list; something is done when its length is asked for so many times."""

    def __init__(self, items: Sequence[Any], times: int, do: Callable[[], Any]) -> None:
        super().__init__(items)
        self.times, self.do = times, do

    def __len__(self) -> int:
        self.times -= 1
        if self.times == 0:
            self.do()
        return super().__len__()


@pytest.mark.parametrize("length", [4, 12, 80])
@pytest.mark.parametrize("times", range(1, 4))
def test_a_conversation_may_be_folded_while_another_call_looks_at_it(
    times: int, length: int
) -> None:
    """That one's host has gone back; it sees the list as it was, or as it is, or none."""

    def fold() -> None:
        with session.changing() as before:
            outcome = session.maybe_summarize(Teller())
            assert session.after(outcome, before)

    host = talk(40)
    session = Session(
        host, policy=SMALL, counter=Weightless(), shape="openai_chat", grounding="report"
    )
    back = Watched(copy.deepcopy(host[:length]), times, fold)
    seen = session.shown(back)
    if seen is not None:
        tail = [item for item in seen.items if not summaries([item])]
        assert tail == host[length - len(tail) : length]
        assert validate(seen.items, "openai_chat") == []


class Counting(Weightless):
    """A counter; in one thread something is done when it has counted so often."""

    def __init__(self, times: int, do: Callable[[], Any]) -> None:
        self.times, self.do = times, do
        self.thread: threading.Thread | None = None

    def count(self, text: str) -> int:
        if threading.current_thread() is self.thread:
            self.times -= 1
            if self.times == 0:
                self.do()
        return super().count(text)


@pytest.mark.parametrize("times", range(1, 13))
def test_what_is_held_is_what_is_shown_whenever_the_other_call_ends(times: int) -> None:
    """A host that keeps nothing yet is given its own list, or a summary and what to keep."""
    started, may_end = threading.Event(), threading.Event()

    def slow(prompt: Prompt) -> str:
        if not started.is_set():
            started.set()
            assert may_end.wait(20)
        return "what happened before"

    def end() -> None:
        may_end.set()
        first.join(20)

    counter = Counting(times, end)
    wrapper, host = middleware(slow, SMALL, counter=counter), talk(40)
    first = threading.Thread(target=lambda: wrapper.fold(host, held=None))
    first.start()
    assert started.wait(20)
    counter.thread = threading.current_thread()
    more = [*copy.deepcopy(host), *talk(3, 40)]
    second = wrapper.fold(more, held=None)
    end()
    assert not first.is_alive()
    again = more if second.held is None else wrapper.refolded(more, second.held)
    assert again == second.items


@pytest.mark.parametrize("turns", [5, 60])
def test_the_list_at_hand_is_what_has_to_fit(turns: int) -> None:
    """Not that of the call at work: the host has gone on since, or gone back."""
    started, may_end = threading.Event(), threading.Event()

    def slow(prompt: Prompt) -> str:
        started.set()
        assert may_end.wait(20)
        return "what happened before"

    policy = Policy(max_items=6, keep_last_turns=1, keep_tokens=400, max_tokens=1500, window=2000)
    wrapper = middleware(slow, policy)
    at_work, host = talk(7 if turns == 60 else 40), talk(turns)
    first = threading.Thread(target=lambda: wrapper.fold(at_work))
    first.start()
    assert started.wait(20)
    size = ChatContext(host, counter=Weightless()).count_tokens().value
    if size > 2000:  # it waits, and what it gets is folded
        threading.Timer(0.3, may_end.set).start()
        assert summaries(wrapper.fold(host).items) == 1
    else:  # the other one is still at work when it gets its own
        outcome = wrapper.fold(host).outcome
        assert (outcome.reason, outcome.tokens_before) == ("running", size)
        assert not outcome.over_limit
    may_end.set()
    first.join()


def test_a_list_may_grow_while_it_is_read() -> None:
    """What its host adds meanwhile goes out with the next turn."""

    class Growing(list[Any]):
        def __iter__(self) -> Any:
            self.extend(talk(1, len(self)))
            return super().__iter__()

    wrapper, host = middleware(Teller()), Growing(talk(20))
    for _ in range(6):
        before = len(host)
        folded = wrapper.fold(host)
        assert folded.items[1:] == list.copy(host)[before + 2 - len(folded.items) + 1 : before + 2]


def test_a_hook_may_ask_for_another_conversation_while_one_makes_room() -> None:
    """It is told that the background fold of the one that goes is cancelled."""
    told: list[str] = []

    def hook(event: FoldEvent) -> None:
        told.append(event.kind)
        if told.count("skipped") == 1:
            assert event.outcome is not None
            told.append(event.outcome.reason)
            told.append(wrapper.fold(talk(2, 900)).outcome.reason)

    may_end = threading.Event()

    def slow(prompt: Prompt) -> str:
        assert may_end.wait(20)
        return "what happened before"

    wrapper = middleware(slow, background=True, sessions=1, on_event=hook)
    done: list[str] = []

    def turns() -> None:
        done.append(wrapper.fold(talk(40)).outcome.reason)
        done.append(wrapper.fold(talk(40, 100)).outcome.reason)
        done.append(wrapper.fold(talk(2, 500)).outcome.reason)

    thread = threading.Thread(target=turns, daemon=True)
    thread.start()
    thread.join(20)
    may_end.set()
    assert done == ["started", "started", "below_trigger"]
    # The other one makes room for the one that is asked for.
    assert told == ["before", "before", "skipped", "cancelled", "skipped", "below_trigger"]


def test_a_turn_that_breaks_off_leaves_no_conversation_locked(tmp_path: Path) -> None:
    """A template of the host's own raises where a late result is taken in; the next turn is one."""
    (tmp_path / "repair_note.jinja").write_text("{{ media.at.all }}", encoding="utf-8")
    wrapper = middleware(Teller(), OVER, templates=tmp_path, shape="openai_chat")
    call, results = LATE["openai_chat"]
    host = [*talk(3), {"role": "user", "content": "look"}, *call, *talk(20, 50)]
    assert wrapper.fold(host).outcome.reason == "summarized"
    with pytest.raises(TemplateError):
        wrapper.fold([*host, *results, *talk(3, 90)])
    folded = wrapper.fold([*host, *talk(1, 90)])
    assert folded.outcome.reason in ("reused", "summarized")
    assert summaries(folded.items) == 1


def test_what_is_written_for_a_turn_that_breaks_off_is_given_up(tmp_path: Path) -> None:
    """Nobody could put it in any more; whoever comes next may fold the conversation."""
    (tmp_path / "repair_note.jinja").write_text("{{ media.at.all }}", encoding="utf-8")
    store, told, asked, may_end = MemoryStore(), list[str](), list[Prompt](), threading.Event()

    def slow(prompt: Prompt) -> str:
        asked.append(prompt)
        assert len(asked) == 1 or may_end.wait(20)
        return "what happened before"

    def hear(event: FoldEvent) -> None:
        if event.outcome is not None:
            told.append(event.outcome.reason)

    wrapper = middleware(
        slow,
        SMALL,
        store,
        background=True,
        templates=tmp_path,
        shape="openai_chat",
        on_event=hear,
    )
    call, results = LATE["openai_chat"]
    host = [*talk(3), {"role": "user", "content": "look"}, *call, *talk(20, 50)]
    wait_until(lambda: wrapper.fold(host, key="k").outcome.changed)
    host += talk(30, 100)
    wait_until(lambda: bool(wrapper.fold(host, key="k")) and len(asked) == 2)
    with pytest.raises(TemplateError):
        wrapper.fold([*host, *results, *talk(3, 900)], key="k")
    assert told[-1] == "cancelled"
    may_end.set()
    assert middleware(Teller(), SMALL, store).fold(host, key="k").outcome.reason == "summarized"


def test_a_fold_that_a_turn_broke_off_at_is_not_half_taken_in() -> None:
    """A handler of the log, or Ctrl-C in a hook, raised when it was in; the next turn is sound."""

    def interrupted(event: FoldEvent) -> None:
        if event.kind == "after" and len(teller.prompts) == 1:
            raise KeyboardInterrupt

    teller = Teller()
    wrapper, host = middleware(teller, OVER, on_event=interrupted), talk(40)
    with pytest.raises(KeyboardInterrupt):
        wrapper.fold(host)
    folded = wrapper.fold(host)
    assert (folded.outcome.reason, summaries(folded.items)) == ("summarized", 1)
    assert folded.outcome.tokens_before > 1000
    again = wrapper.fold([*host, *talk(1, 40)])
    assert again.items[-2:] == talk(1, 40)
    assert again.items[: len(folded.items)] == folded.items


def test_a_hook_that_stops_a_turn_as_another_conversation_goes_locks_none() -> None:
    """Told that the fold of the one that makes room is cancelled, it raises what Ctrl-C does."""

    def interrupted(event: FoldEvent) -> None:
        if event.outcome is not None and event.outcome.reason == "cancelled":
            raise KeyboardInterrupt

    may_end = threading.Event()

    def slow(prompt: Prompt) -> str:
        assert may_end.wait(20)
        return "what happened before"

    wrapper = middleware(slow, background=True, sessions=1, on_event=interrupted)
    assert wrapper.fold(talk(40)).outcome.reason == "started"
    assert wrapper.fold(talk(40, 100)).outcome.reason == "started"
    with pytest.raises(KeyboardInterrupt):
        wrapper.fold(talk(2, 500))
    may_end.set()
    assert wrapper.fold(talk(2, 500)).outcome.reason == "below_trigger"


def test_who_cannot_wait_longer_is_told_that_it_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In an event loop too, where one task waits for the other."""
    monkeypatch.setattr("chatfold.host_turns.LONGEST", 0.2)

    async def run() -> None:
        may_end = asyncio.Event()

        async def slow(prompt: Prompt) -> str:
            await may_end.wait()
            return "what happened before"

        wrapper, host = middleware(slow, OVER), talk(40)
        first = asyncio.create_task(wrapper.afold(host, key="k"))
        await asyncio.sleep(0.01)
        second = await wrapper.afold(host, key="k")
        assert (second.outcome.reason, second.outcome.key) == ("running", "k")
        assert second.outcome.over_limit
        assert second.items == host
        may_end.set()
        assert (await first).outcome.reason == "summarized"

    asyncio.run(run())


def test_async_hosts() -> None:
    """`afold` and `acall` do the same, with a store too; tasks of one conversation do not wait."""

    async def run() -> None:
        teller = Teller()

        async def slow(prompt: Prompt) -> str:
            await asyncio.sleep(0.05)
            return teller(prompt)

        for store in (None, MemoryStore()):
            wrapper, host = middleware(slow, store=store), talk(40)
            done = await asyncio.gather(*(wrapper.afold(host, key="k") for _ in range(20)))
            assert sorted(f.outcome.reason for f in done) == ["running"] * 19 + ["summarized"]
            assert summaries(await wrapper.acall(host, key="k")) == 1
        assert len(teller.prompts) == 2

    asyncio.run(run())


def test_a_cancelled_turn_leaves_everything_as_it_was() -> None:
    """The next turn of the conversation folds it, and no claim is left behind."""

    async def run() -> None:
        store, host, begun = MemoryStore(), talk(40), asyncio.Event()

        async def hanging(prompt: Prompt) -> str:
            begun.set()
            await asyncio.sleep(60)
            return "never"

        wrapper = middleware(hanging, store=store)
        turn = asyncio.ensure_future(wrapper.afold(host, key="k"))
        await begun.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        await asyncio.sleep(0.05)
        other = middleware(Teller(), store=store)
        assert (await other.afold(host, key="k")).outcome.reason == "summarized"

    asyncio.run(run())


@pytest.mark.parametrize("background", [False, True])
def test_who_has_failed_takes_the_fold_of_another_process(background: bool) -> None:
    """It would go on unfolded until its own next try, which is in a minute."""
    store, host, asked = MemoryStore(), talk(40), list[Prompt]()

    def fails(prompt: Prompt) -> str:
        asked.append(prompt)
        raise ConnectionError("refused")

    one = middleware(fails, store=store, background=background)
    one.fold(host, key="k")
    wait_until(lambda: len(asked) == 1)
    wait_until(lambda: one.fold(host, key="k").outcome.reason == "unchanged_head")
    assert middleware(Teller(), store=store).fold(host, key="k").outcome.reason == "summarized"
    wait_until(lambda: one.fold(host, key="k").outcome.reason == "reused")
    assert summaries(one.fold(host, key="k").items) == 1
    assert len(asked) == 1


def test_a_store_is_not_asked_at_each_turn_that_waits() -> None:
    """A try that failed may wait for a quarter of an hour, with many turns in it."""
    asked: list[str] = []

    class Told(MemoryStore):
        def longest(self, key: str, digests: Sequence[str]) -> Any:
            asked.append(key)
            return super().longest(key, digests)

    def fails(prompt: Prompt) -> str:
        raise ConnectionError("refused")

    one, host = middleware(fails, store=Told()), talk(40)
    one.fold(host, key="k")
    asked.clear()
    for _ in range(50):
        assert one.fold(host, key="k").outcome.reason == "unchanged_head"
    assert 1 <= len(asked) < 25
