"""`FoldedSession` over a session object for each request, with summaries in the background."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")

from agents import Runner, SQLiteSession
from integrations.agents_desk import Desk, agent, summaries, talk
from integrations.test_openai_agents_sessions import EAGER, Plain, held
from validator import validate

from chatfold import BusyError, Completion, FoldEvent, Policy, Prompt, Usage
from chatfold.integrations.openai_agents import FoldedSession
from chatfold.stores import MemoryStore, SQLStore

POLICY = Policy(max_tokens=1_500, keep_tokens=400)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store of each kind that one machine has."""
    if request.param == "memory":
        return MemoryStore()
    pytest.importorskip("sqlalchemy")
    return SQLStore(tmp_path / "folds.db")


def said(number: int) -> list[Any]:
    return [
        {"role": "user", "content": f"Where is parcel {number}? " + "story " * 60},
        {"role": "assistant", "content": f"Parcel {number} " + "so " * 60},
    ]


class Model:
    """Writes a summary when it may, and counts."""

    def __init__(self) -> None:
        self.paid = 0
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def __call__(self, prompt: Prompt) -> Completion:
        self.paid += 1
        await self.may_end.wait()
        return Completion(f"The user asks about parcels, {self.paid}.", usage=Usage(90, 9))


class Requests:
    """A web server over one session, which makes its objects anew at each request."""

    def __init__(self, wrapped: Any, store: Any, llm: Any, policy: Policy = POLICY) -> None:
        self.wrapped, self.store, self.llm, self.policy = wrapped, store, llm, policy
        self.told: list[FoldEvent] = []

    def session(self, **options: Any) -> FoldedSession:
        options = {"persist": "replace", "background": True, "on_event": self.told.append} | options
        return FoldedSession(self.wrapped, self.llm, self.policy, self.store, **options)

    async def come(self, number: int) -> list[Any]:
        session = self.session()
        seen = await session.get_items()
        await session.add_items(said(number))
        return seen

    async def until_told(self, count: int) -> None:
        """Wait until so many folds have been put into the store, or failed."""
        async with asyncio.timeout(20):
            while sum(event.kind != "before" for event in self.told) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def until_begun(self, number: int, model: Any) -> int:
        """Have requests come until a summary is asked for; return how many there were."""
        paid = model.paid
        while model.paid == paid:
            await self.come(number)
            await asyncio.sleep(0.01)
            number += 1
        return number


@pytest.mark.parametrize("kind", ["sqlite", "plain"])
def test_what_one_request_has_begun_the_next_one_puts_in(
    kind: str, store: Any, tmp_path: Path
) -> None:
    """Each fold is paid for once, all else stays as it came, and the originals can come back."""

    async def run() -> None:
        wrapped: Any = Plain() if kind == "plain" else SQLiteSession("c", tmp_path / "s.db")
        model = Model()
        requests = Requests(wrapped, store, model)
        came: list[Any] = []
        for number in range(40):
            seen = await requests.come(number)
            assert summaries(seen) <= 1
            assert not validate(seen, "openai_responses")
            tail = [item for item in seen if not summaries([item])]
            assert tail == came[len(came) - len(tail) :]
            came += said(number)
            begun = sum(event.kind == "before" for event in requests.told)
            await requests.until_told(begun)
        assert 3 <= model.paid <= 6
        assert len(seen) <= 16
        assert [event.kind for event in requests.told] == ["before", "after"] * model.paid
        while (await requests.session().undo()).changed:
            pass
        assert await wrapped.get_items() == came

    asyncio.run(run())


def test_no_other_request_pays_while_a_summary_is_written(store: Any) -> None:
    """What comes meanwhile stays behind the fold, and is not folded in the same breath."""

    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, store, model)
        model.may_end.clear()
        number = await requests.until_begun(0, model)
        first = list(wrapped.items)
        for more in range(number, number + 12):
            assert summaries(await requests.come(more)) == 0
        assert model.paid == 1
        model.may_end.set()
        await requests.until_told(1)
        whole = list(wrapped.items)
        seen = await requests.come(99)
        assert summaries(seen) == 1
        assert seen[1:] == whole[len(whole) - len(seen) + 1 :]
        assert len(seen) - 1 > len(whole) - len(first)
        assert model.paid == 1  # another one is due by now, of the list as it is then
        await requests.come(100)
        await requests.until_told(2)
        assert model.paid == 2
        assert summaries(await requests.come(101)) == 1
        assert wrapped.items[-2:] == said(101)
        assert len(wrapped.items) < 16

    asyncio.run(run())


def test_what_was_undone_is_not_put_in_again(store: Any) -> None:
    """By no later request; the object that has undone it does not try the same head again."""

    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, store, model)
        for number in range(14):
            await wrapped.add_items(said(number))
        before = list(wrapped.items)
        assert await requests.session().get_items() == before
        await requests.until_told(1)
        living = requests.session()
        assert summaries(await living.get_items()) == 1
        assert (await living.undo()).reason == "undone"
        assert wrapped.items == before
        for _ in range(3):
            assert await living.get_items() == before
            await asyncio.sleep(0.05)
        requests.policy = Policy(max_tokens=100_000)
        for _ in range(2):
            assert await requests.session().get_items() == before
        assert model.paid == 1
        requests.policy = POLICY
        assert await requests.session().get_items() == before
        await requests.until_told(3)  # the object that has undone it has tried in vain
        assert model.paid == 2
        assert summaries(await requests.session().get_items()) == 1
        assert (await requests.session(background=False).undo()).reason == "undone"
        requests.policy = Policy(max_tokens=100_000)
        assert await requests.session().get_items() == before

    asyncio.run(run())


def test_what_another_request_has_undone_is_not_put_in_again_by_who_put_it_in(store: Any) -> None:
    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, store, model)
        for number in range(14):
            await wrapped.add_items(said(number))
        before = list(wrapped.items)
        living = requests.session()
        await living.get_items()
        await requests.until_told(1)
        assert summaries(await living.get_items()) == 1
        assert (await requests.session().undo()).reason == "undone"
        assert await living.get_items() == before

    asyncio.run(run())


def test_of_two_calls_that_find_a_fold_one_puts_it_in(store: Any) -> None:
    """The other one says that the session is being folded."""

    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, store, model)
        await requests.until_begun(0, model)
        await requests.until_told(1)
        session = requests.session()
        outcomes = await asyncio.gather(session.fold(), session.fold(), session.fold())
        assert [outcome.reason for outcome in outcomes] == ["reused", "busy", "busy"]
        assert summaries(wrapped.items) == 1
        assert model.paid == 1

    asyncio.run(run())


@pytest.mark.parametrize("whose", ["its own", "of another request"])
def test_undo_says_that_a_fold_is_being_written_which_would_be_lost(whose: str, store: Any) -> None:
    """And that one was written and is not in the session yet; when it is there, both go back."""

    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, store, model)
        living = requests.session()

        async def undo() -> str:
            session = living if whose == "its own" else requests.session()
            try:
                return (await session.undo()).reason
            except BusyError as error:
                return str(error)

        async def longer(first: int) -> None:
            for number in range(first, first + 14):
                await wrapped.add_items(said(number))

        await longer(0)
        assert (await living.fold()).reason == "started"
        await requests.until_told(1)
        assert summaries(await living.get_items()) == 1
        await longer(14)
        model.may_end.clear()
        assert (await living.fold()).reason == "started"
        whole = list(wrapped.items)
        assert "while a summary of it is being written" in await undo()
        assert (await living.fold()).reason == "running"
        model.may_end.set()
        await requests.until_told(2)
        assert "while a summary of it is being written" in await undo()
        assert wrapped.items == whole
        assert summaries(await living.get_items()) == 1
        assert model.paid == 2
        assert len(wrapped.items) < 16
        assert [await undo() for _ in range(3)] == ["undone", "undone", "nothing_to_undo"]
        assert wrapped.items == [item for number in range(28) for item in said(number)]

    asyncio.run(run())


def test_undo_without_a_background_does_not_lose_the_fold_of_another_request(store: Any) -> None:
    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, store, model)
        model.may_end.clear()
        await requests.until_begun(0, model)
        with pytest.raises(BusyError):
            await requests.session(background=False).undo()
        model.may_end.set()
        await requests.until_told(1)
        assert (await requests.session(background=False).undo()).reason == "nothing_to_undo"
        assert summaries(await requests.session().get_items()) == 1
        assert (await requests.session(background=False).undo()).reason == "undone"

    asyncio.run(run())


def test_a_fold_may_begin_again_when_something_was_undone(store: Any) -> None:
    """Whatever came of it: what held off other folds is let go."""

    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, store, model)
        for number in range(14):
            await wrapped.add_items(said(number))
        session = requests.session()
        assert (await session.undo()).reason == "nothing_to_undo"
        undoing = asyncio.create_task(session.undo())
        await asyncio.sleep(0)
        undoing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await undoing
        assert (await requests.session().fold()).reason == "started"

    asyncio.run(run())


def test_the_originals_of_a_fold_that_was_made_for_a_view_are_kept() -> None:
    """A store that a session with `persist="view"` has used has the fold, and no originals."""

    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, MemoryStore(), model)
        for number in range(20):
            await wrapped.add_items(said(number))
        before = list(wrapped.items)
        assert summaries(await requests.session(persist="view", background=False).get_items()) == 1
        assert summaries(await requests.session().get_items()) == 1
        assert summaries(wrapped.items) == 1
        assert model.paid == 1
        assert (await requests.session().undo()).reason == "undone"
        assert wrapped.items == before

    asyncio.run(run())


def test_an_object_that_lives_on_puts_in_what_it_has_begun() -> None:
    """And counts its cost for the run that is given it."""
    slow, model, wrapped = Desk("in the background"), Desk(), Plain(talk(8))
    slow.delay = 0.2
    store = MemoryStore()
    session = FoldedSession(wrapped, slow, EAGER, store, persist="replace", background=True)

    async def run() -> list[int]:
        usages = []
        for question in ("first", "second"):
            result = await Runner.run(agent(model), question, session=session)
            usages.append(result.context_wrapper.usage.input_tokens)
            await asyncio.sleep(0.7)
        return usages

    usages = asyncio.run(run())
    assert [summaries(request) for request in model.requests] == [0, 1]
    assert summaries(wrapped.items) == 1
    assert usages == [100, 150]
    assert asyncio.run(session.undo()).reason == "undone"
    assert held(wrapped)[:16] == talk(8)


class Bare:
    """A store of somebody's own that keeps originals, and no folds of hosts."""

    def __init__(self) -> None:
        store = MemoryStore()
        for name in ("save", "load", "folds", "discard", "find", "erase", "expire"):
            setattr(self, name, getattr(store, name))


@pytest.mark.parametrize("store", [None, Bare()], ids=["none", "originals alone"])
def test_without_a_store_for_hosts_an_object_that_lives_on_works(store: Any) -> None:
    async def run() -> None:
        wrapped, model = Plain(), Model()
        session = Requests(wrapped, store, model).session()
        for number in range(40):
            await session.get_items()
            await session.add_items(said(number))
            await asyncio.sleep(0.02)
        assert 3 <= model.paid <= 6
        assert summaries(wrapped.items) == 1

    asyncio.run(run())


def test_a_session_that_was_cleared_meanwhile_is_left_as_it_is(store: Any) -> None:
    async def run() -> None:
        wrapped, model = Plain(), Model()
        requests = Requests(wrapped, store, model)
        model.may_end.clear()
        await requests.until_begun(0, model)
        await requests.session().clear_session()
        model.may_end.set()
        await requests.until_told(1)
        await requests.come(50)
        assert wrapped.items == said(50)

    asyncio.run(run())
