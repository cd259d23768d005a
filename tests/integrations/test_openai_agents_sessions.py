"""`FoldedSession` over the sessions of the real OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")

from agents import (
    Agent,
    OpenAIConversationsSession,
    OpenAIResponsesCompactionSession,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    Session,
    SessionSettings,
    SQLiteSession,
    function_tool,
)
from agents.extensions.memory import AdvancedSQLiteSession
from agents.handoffs import (
    default_handoff_history_mapper,
    reset_conversation_history_wrappers,
    set_conversation_history_wrappers,
)
from integrations.agents_desk import SMALL, Desk, agent, ask, summaries, talk, text_of
from openai import AsyncOpenAI
from validator import validate

from chatfold import FoldEvent, Policy, Prompt
from chatfold.integrations.openai_agents import FoldedSession, chatfold_filter
from chatfold.stores import MemoryStore, SQLStore

if find_spec("cryptography") is not None:
    from agents.extensions.memory import EncryptedSession

EAGER = Policy(max_items=6, max_tokens=100_000, keep_tokens=300, keep_last_turns=1, min_gain=0.0)


class Plain:
    """A session of the user's own, as the SDK's protocol has it; a list in memory."""

    def __init__(self, items: list[Any] | None = None) -> None:
        self.session_id = "plain"
        self.session_settings: SessionSettings | None = None
        self.items = list(items or [])
        self.on_add: Callable[[list[Any]], Any] | None = None

    async def get_items(self, limit: int | None = None) -> list[Any]:
        return list(self.items if limit is None else self.items[-limit:])

    async def add_items(self, items: list[Any]) -> None:
        await asyncio.sleep(0)
        if self.on_add is not None:
            await self.on_add(items)
        self.items += items

    async def pop_item(self) -> Any:
        return self.items.pop() if self.items else None

    async def clear_session(self) -> None:
        await asyncio.sleep(0)
        self.items.clear()


def filled(wrapped: Any, turns: int = 8) -> Any:
    asyncio.run(wrapped.add_items(talk(turns)))
    return wrapped


def held(session: Any) -> list[Any]:
    return asyncio.run(session.get_items())


STORES: list[Callable[[Path], Any]] = [
    lambda path: SQLiteSession("s", path / "sessions.db"),
    lambda path: Plain(),
]
KINDS = pytest.mark.parametrize("kind", STORES, ids=["sqlite", "plain"])


# --- a view ---------------------------------------------------------------------------------------


@KINDS
def test_a_run_is_given_the_fold_and_the_wrapped_session_keeps_its_items(
    kind: Any, tmp_path: Path
) -> None:
    """Several runs; the agent's own model writes, and the run's usage shows it."""
    wrapped, model = kind(tmp_path), Desk("kept short")
    session = FoldedSession(wrapped, policy=SMALL)
    assert isinstance(session, Session)
    usages = []
    for number in range(14):
        result = ask(agent(model), f"question {number}", session=session)
        usages.append(result.context_wrapper.usage.requests)
    assert len(held(wrapped)) == 28
    assert summaries(held(wrapped)) == 0
    assert summaries(model.requests[-1]) == 1
    assert "kept short" in text_of(model.requests[-1])
    assert len(model.requests[-1]) < 16
    assert usages.count(2) == len(model.prompts) > 1


def test_sessions_of_later_requests_find_the_fold_in_the_store() -> None:
    """A web server makes the session anew at each request; the summary is written once."""
    model, store = Desk(), MemoryStore()
    wrapped = filled(Plain())
    for number in range(2):
        session = FoldedSession(wrapped, policy=EAGER, store=store)
        ask(agent(model), f"question {number}", session=session)
    assert len(model.prompts) == 1
    assert all(summaries(request) == 1 for request in model.requests)
    other = FoldedSession(filled(Plain()), policy=EAGER, store=store, key="another tenant")
    ask(agent(model), "question", session=other)
    assert len(model.prompts) == 2


def test_a_streamed_run_is_given_the_fold_too() -> None:
    model, session = Desk(), FoldedSession(filled(Plain()), policy=EAGER)

    async def run() -> int:
        result = Runner.run_streamed(agent(model), "go on", session=session)
        async for _ in result.stream_events():
            pass
        return result.context_wrapper.usage.requests

    assert asyncio.run(run()) == 2
    assert summaries(model.requests[-1]) == 1


def test_the_session_and_the_filter_go_together() -> None:
    """Between runs the session folds, inside of a run the filter; there is one summary."""
    model, wrapped = Desk(), filled(Plain())
    session, fold = FoldedSession(wrapped, policy=EAGER), chatfold_filter(policy=EAGER)
    model.act = model.call(*[("lookup", {"order": f"{n}"}) for n in range(4)])
    for number in range(3):
        ask(
            agent(model),
            f"question {number}",
            session=session,
            run_config=RunConfig(call_model_input_filter=fold),
        )
    assert all(summaries(request) == 1 for request in model.requests)
    assert summaries(held(wrapped)) == 0


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_a_nested_handoff_in_a_session_stays_until_it_is_answered(persist: Any) -> None:
    """The run was stopped before the answer; the question stands in what the SDK has nested."""
    set_conversation_history_wrappers(start="<EARLIER>", end="</EARLIER>")
    try:
        (nested,) = default_handoff_history_mapper([*talk(6), *talk(1, "now ")[:1]])
    finally:
        reset_conversation_history_wrappers()
    steps: list[Any] = []
    for number in range(4):
        call = {"type": "function_call", "call_id": f"c{number}", "name": "lookup"}
        output = {"type": "function_call_output", "call_id": f"c{number}", "output": "word " * 99}
        steps += [{**call, "arguments": "{}"}, output]
    wrapped = Plain([nested, *steps])
    session = FoldedSession(wrapped, Desk("looked up"), policy=SMALL, persist=persist)
    seen = held(session)
    assert summaries(seen) == 1
    assert nested in seen
    asyncio.run(wrapped.add_items(talk(2, "later ")))
    seen = held(session)
    assert summaries(seen) == 1
    assert nested not in seen


def test_what_the_wrapped_session_can_do_goes_through() -> None:
    wrapped = Plain(talk(3))
    session = FoldedSession(wrapped, Desk(), Policy())
    assert session.session_id == "plain"
    assert session.wrapped is wrapped
    assert len(held(session)) == 6
    assert asyncio.run(session.get_items(limit=2)) == wrapped.items[-2:]
    assert asyncio.run(session.get_items(limit=0)) == []
    assert asyncio.run(session.pop_item()) == talk(3)[-1]
    asyncio.run(session.add_items(talk(1)))
    assert len(wrapped.items) == 7
    asyncio.run(session.clear_session())
    assert wrapped.items == []
    assert asyncio.run(session.undo()).reason == "nothing_to_undo"


def test_a_session_that_wants_the_run_is_given_it() -> None:
    """The SDK passes the run to sessions whose methods take it."""

    class Wanting(Plain):
        def __init__(self) -> None:
            super().__init__()
            self.given: list[Any] = []

        async def get_items(self, limit: int | None = None, *, wrapper: Any = None) -> list[Any]:
            self.given.append(wrapper)
            return await super().get_items(limit)

        async def add_items(self, items: list[Any], *, wrapper: Any = None) -> None:
            self.given.append(wrapper)
            await super().add_items(items)

        async def pop_item(self, *, wrapper: Any = None) -> Any:
            return await super().pop_item()

        async def clear_session(self, *, wrapper: Any = None) -> None:
            await super().clear_session()

    wrapped = Wanting()
    ask(agent(Desk()), "hello", session=FoldedSession(wrapped, policy=EAGER))
    assert wrapped.given
    assert all(isinstance(given, RunContextWrapper) for given in wrapped.given)


def test_a_limit_is_one_of_the_folded_history() -> None:
    """The wrapped session's own default hides nothing from the fold; the Runner's limit counts."""
    model = Desk()
    wrapped = SQLiteSession("limited", session_settings=SessionSettings(limit=4))
    asyncio.run(wrapped.add_items(talk(8)))
    session = FoldedSession(wrapped, policy=EAGER)
    assert session.session_settings == SessionSettings(limit=4)
    ask(agent(model), "now", session=session)
    assert "LK-1000" in model.prompts[0].input
    assert len(model.requests[0]) <= 5
    assert summaries(model.requests[0]) == 1
    session.session_settings = SessionSettings(limit=1)
    ask(agent(model), "again", session=session)
    assert len(model.requests[1]) == 2


def test_a_window_that_slides_along_the_history_needs_no_summary_at_each_run() -> None:
    """A filter is shown the window alone: the fold's items are no longer in it."""
    asked, policy = {}, Policy(max_tokens=900, keep_tokens=300)
    for where in ("filter", "session"):
        model, settings = Desk(), SessionSettings(limit=30)
        session: Any = filled(SQLiteSession("s", session_settings=settings), 20)
        filters: Any = None
        if where == "filter":
            filters = chatfold_filter(policy=policy)
        else:
            session = FoldedSession(session, policy=policy)
        for number in range(4):
            ask(
                agent(model),
                f"question {number}",
                session=session,
                run_config=RunConfig(call_model_input_filter=filters, tracing_disabled=True),
            )
        asked[where] = len(model.prompts)
    assert asked == {"filter": 4, "session": 1}


# --- originals replaced ---------------------------------------------------------------------------


@KINDS
def test_the_fold_takes_the_place_of_the_originals_and_undo_puts_them_back(
    kind: Any, tmp_path: Path
) -> None:
    """Folded three times: one summary, every request valid; another process undoes the last."""
    wrapped, model = kind(tmp_path), Desk()
    path = tmp_path / "originals.db"
    session = FoldedSession(wrapped, policy=EAGER, persist="replace", store=SQLStore(path))
    before: list[Any] = []
    for number in range(14):
        if len(held(wrapped)) >= 6:
            before = held(wrapped)
        ask(agent(model), f"question {number}", session=session)
    assert len(model.prompts) > 3
    now = held(wrapped)
    assert summaries(now) == 1
    assert summaries(now[:1]) == 1
    assert len(now) < 10
    assert not validate(now, "openai_responses")
    if kind is STORES[0]:
        wrapped = kind(tmp_path)
    again = FoldedSession(wrapped, policy=EAGER, persist="replace", store=SQLStore(path))
    outcome = asyncio.run(again.undo())
    assert outcome.reason == "undone"
    assert held(wrapped)[: len(before)] == before
    assert held(wrapped)[len(before) :] == now[-(len(held(wrapped)) - len(before)) :]


@KINDS
def test_items_that_come_while_the_summary_is_written_are_kept(kind: Any, tmp_path: Path) -> None:
    """Added by this session or past it; both stand behind the tail."""
    wrapped = filled(kind(tmp_path))
    late = [{"role": "user", "content": "past it"}, {"role": "user", "content": "through it"}]

    async def slow(prompt: Prompt) -> str:
        await wrapped.add_items(late[:1])
        await session.add_items(late[1:])
        return "summary"

    session = FoldedSession(wrapped, slow, EAGER, persist="replace")
    seen = held(session)
    assert seen == held(wrapped)
    assert summaries(seen) == 1
    assert seen[-2:] == late


@KINDS
def test_a_session_that_changed_meanwhile_is_left_as_it_is(kind: Any, tmp_path: Path) -> None:
    """Another process has cleared it: the fold is of what is no longer there."""
    wrapped = filled(kind(tmp_path))
    told: list[FoldEvent] = []

    async def slow(prompt: Prompt) -> str:
        await wrapped.clear_session()
        await wrapped.add_items(talk(1, "new "))
        return "summary"

    session = FoldedSession(wrapped, slow, EAGER, persist="replace", on_event=told.append)
    assert held(session) == talk(1, "new ")
    assert held(wrapped) == talk(1, "new ")


@pytest.mark.parametrize("when", ["before it compares", "before it writes"])
def test_another_process_that_writes_in_between_loses_nothing(tmp_path: Path, when: str) -> None:
    """SQLite compares and replaces in one transaction; what came before it is seen."""
    wrapped = filled(SQLiteSession("s", tmp_path / "sessions.db"))
    other = SQLiteSession("s", tmp_path / "sessions.db")
    snapshot = SQLiteSession._get_compaction_snapshot

    class Slow(SQLiteSession):
        pass

    async def late(self: Any, limit: int, **options: Any) -> Any:
        if when == "before it compares":
            await other.add_items(talk(1, "late "))
        made = await snapshot(wrapped, limit, **options)
        if when == "before it writes":
            await other.add_items(talk(1, "late "))
        return made

    session = FoldedSession(wrapped, lambda prompt: "summary", EAGER, persist="replace")
    session.wrapped = Slow("s", tmp_path / "sessions.db")
    Slow._get_compaction_snapshot = late  # type: ignore[method-assign]
    assert held(session) == [*talk(8), *talk(1, "late ")]
    assert held(other) == [*talk(8), *talk(1, "late ")]


def test_a_write_that_fails_leaves_the_originals() -> None:
    wrapped = filled(Plain())

    async def refuse(items: list[Any]) -> None:
        if summaries(items):
            raise ConnectionError("the disk is full")

    wrapped.on_add = refuse
    session = FoldedSession(wrapped, lambda prompt: "summary", EAGER, persist="replace")
    with pytest.raises(ConnectionError):
        held(session)
    assert wrapped.items == talk(8)
    wrapped.on_add = None
    assert summaries(held(session)) == 1


def test_a_run_that_is_cancelled_while_it_is_written_does_not_lose_the_session() -> None:
    wrapped = filled(Plain())
    begun = asyncio.Event()

    async def slow(items: list[Any]) -> None:
        begun.set()
        await asyncio.sleep(0.05)

    async def run() -> None:
        wrapped.on_add = slow
        reading = asyncio.create_task(session.get_items())
        await begun.wait()
        for _ in range(3):
            reading.cancel()
            await asyncio.sleep(0.005)
        with pytest.raises(asyncio.CancelledError):
            await reading

    session = FoldedSession(wrapped, lambda prompt: "summary", EAGER, persist="replace")
    asyncio.run(run())
    assert summaries(wrapped.items) == 1
    assert wrapped.items[1:] == talk(8)[-len(wrapped.items) + 1 :]


def test_two_runs_at_once_fold_the_session_once() -> None:
    wrapped, asked = filled(Plain()), []

    async def slow(prompt: Prompt) -> str:
        asked.append(prompt)
        await asyncio.sleep(0.05)
        return "summary"

    async def run() -> Any:
        return await asyncio.gather(session.get_items(), session.get_items(), session.fold())

    session = FoldedSession(wrapped, slow, EAGER, persist="replace")
    first, second, outcome = asyncio.run(run())
    assert len(asked) == 1
    assert summaries(first) == 1
    assert second == talk(8)
    assert outcome.reason == "busy"


class Remote(Plain):
    """A session whose items are cleared at once, and take their time to be written again."""

    async def add_items(self, items: list[Any]) -> None:
        await asyncio.sleep(0.02)
        await super().add_items(items)


@pytest.mark.parametrize("undo", [False, True])
def test_a_run_that_reads_while_a_fold_is_written_gets_it_whole(undo: bool) -> None:
    """Or while one is taken back: never what is there between the two."""
    wrapped = filled(Remote())

    async def run() -> list[Any]:
        if undo:
            await session.get_items()
        other = asyncio.create_task(session.undo() if undo else session.get_items())
        while wrapped.items:  # noqa: ASYNC110 - until it is cleared
            await asyncio.sleep(0.001)
        read = await session.get_items()
        await other
        return read

    session = FoldedSession(wrapped, lambda prompt: "summary", EAGER, persist="replace")
    read = asyncio.run(run())
    assert summaries(read) == 1
    assert read[-1] == talk(8)[-1]


def test_a_history_over_the_window_waits_for_the_run_that_folds_it() -> None:
    """As behind a `Middleware`; one that fits goes on with what it has."""

    async def slow(prompt: Prompt) -> str:
        await asyncio.sleep(0.3)
        return "summary"

    async def run(session: FoldedSession) -> Any:
        return await asyncio.gather(session.get_items(), session.get_items())

    for window, folded in ((400, 1), (100_000, 0)):
        policy = Policy(max_tokens=300, keep_tokens=100, window=window, min_gain=0.0)
        session = FoldedSession(filled(Plain()), slow, policy, persist="replace")
        first, second = asyncio.run(run(session))
        assert (summaries(first), summaries(second)) == (1, folded)
        assert len(second) == (len(first) if folded else len(talk(8)))


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_a_summarizer_that_fails_or_hangs_does_not_break_the_run(persist: Any) -> None:
    async def hang(prompt: Prompt) -> str:
        await asyncio.sleep(30)
        return "too late"

    def fail(prompt: Prompt) -> str:
        raise ConnectionError("down")

    for llm in (hang, fail):
        model, wrapped = Desk(), filled(Plain())
        session = FoldedSession(wrapped, llm, EAGER, persist=persist, timeout=0.1)
        ask(agent(model), "go on", session=session)
        assert len(model.requests[-1]) == 17
        assert len(wrapped.items) == 18
        assert summaries(wrapped.items) == 0


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_in_the_background_no_run_waits(persist: Any) -> None:
    slow, model, wrapped = Desk("in the background"), Desk(), filled(Plain())
    slow.delay = 0.2
    session = FoldedSession(wrapped, slow, EAGER, persist=persist, background=True)

    async def run() -> None:
        await Runner.run(agent(model), "first", session=session)
        await asyncio.sleep(0.5)
        await Runner.run(agent(model), "second", session=session)

    asyncio.run(run())
    assert [summaries(request) for request in model.requests] == [0, 1]
    assert summaries(wrapped.items) == (1 if persist == "replace" else 0)
    assert "first" in text_of(model.requests[1])


def test_a_fold_between_two_runs_is_written_by_the_model_of_the_last() -> None:
    model, session = Desk(), FoldedSession(Plain(), policy=EAGER, persist="replace")
    ask(agent(model), "hello", session=session)
    asyncio.run(session.add_items(talk(8)))
    outcome = asyncio.run(session.fold())
    assert outcome.changed
    assert len(model.prompts) == 1
    assert summaries(held(session.wrapped)) == 1
    assert asyncio.run(session.fold()).reason == "below_trigger"


def test_what_waits_for_approval_is_not_folded_away() -> None:
    """An open call in the session stays, with all that follows; its result finds it."""
    waits = {"type": "function_call", "call_id": "c9", "name": "refund", "arguments": "{}"}
    wrapped = Plain([*talk(7), {"role": "user", "content": "refund it"}, waits])
    session = FoldedSession(wrapped, lambda prompt: "summary", EAGER, persist="replace")
    seen = held(session)
    assert summaries(seen) == 1
    assert seen[-1] == waits
    asyncio.run(
        session.add_items([{"type": "function_call_output", "call_id": "c9", "output": "done"}])
    )
    assert not validate(held(wrapped), "openai_responses")


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_an_interrupted_run_goes_on_over_a_session_that_was_folded_meanwhile(persist: Any) -> None:
    """Interrupted, written as JSON, the session folded by others, read again and allowed."""
    done: list[str] = []

    @function_tool(needs_approval=True)
    async def refund(order: str) -> str:
        """Refund an order."""
        done.append(order)
        return f"refunded {order}"

    def desk(model: Any) -> Agent[Any]:
        return Agent(name="desk", model=model, tools=[refund])

    wrapped, store = filled(Plain(), 2), MemoryStore()

    def session() -> FoldedSession:
        return FoldedSession(wrapped, lambda prompt: "kept", EAGER, store, persist=persist)

    async def run() -> list[Any]:
        model = Desk()
        model.act = model.call(("refund", {"order": "LK-7"}))
        first = await Runner.run(desk(model), "refund LK-7", session=session())
        written = json.dumps(first.to_state().to_json())
        await wrapped.add_items(talk(3, "meanwhile "))
        await session().get_items()

        other = Desk()
        state = await RunState.from_json(desk(other), json.loads(written))
        state.approve(state.get_interruptions()[0])
        await Runner.run(desk(other), state, session=session())
        await Runner.run(desk(other), "thanks", session=session())
        return other.requests

    requests = asyncio.run(run())
    assert done == ["LK-7"]
    assert len(requests) == 2
    assert summaries(requests[-1]) == 1
    assert summaries(wrapped.items) == (1 if persist == "replace" else 0)
    found = [v for v in validate(wrapped.items, "openai_responses") if not v.open]
    assert not found


class Watched(dict[str, Any]):
    """An item that counts how often it is read."""

    reads = 0

    def get(self, key: str, default: Any = None) -> Any:
        Watched.reads += 1
        return super().get(key, default)


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_a_run_that_folds_nothing_reads_what_is_new_alone(persist: Any) -> None:
    """However long the session is."""
    wrapped = Plain([Watched(item) for item in talk(40)])
    roomy = Policy(max_tokens=1_000_000)
    session = FoldedSession(wrapped, lambda prompt: "summary", roomy, persist=persist)
    held(session)
    assert Watched.reads > len(wrapped.items)
    Watched.reads = 0
    wrapped.items += [Watched(item) for item in talk(1, "new ")]
    held(session)
    assert 0 < Watched.reads < 100


# --- no more is removed than was read -------------------------------------------------------------


def fold(wrapped: Any, **options: Any) -> FoldedSession:
    return FoldedSession(wrapped, lambda prompt: "summary", EAGER, persist="replace", **options)


class Shelves(Plain):
    """A session that shows one of the conversations that it holds, and clears all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.others = {"what if": talk(2, "other ")}

    async def clear_session(self) -> None:
        await super().clear_session()
        self.others.clear()


def test_what_a_session_holds_and_does_not_show_stays() -> None:
    wrapped = filled(Shelves())
    session = fold(wrapped)
    assert summaries(held(session)) == 1
    assert held(session) == wrapped.items
    assert wrapped.others == {"what if": talk(2, "other ")}
    assert asyncio.run(session.undo()).reason == "undone"
    assert wrapped.items == talk(8)
    assert wrapped.others == {"what if": talk(2, "other ")}


def test_a_session_of_branches_is_refused_where_it_would_lose_them(tmp_path: Path) -> None:
    """Its usage by turn goes with the items too, and no `undo()` could bring it back."""
    branches = AdvancedSQLiteSession(session_id="s", db_path=tmp_path / "s.db", create_tables=True)
    wrapped: list[Any] = [branches]
    if find_spec("cryptography") is not None:
        wrapped.append(EncryptedSession("s", branches, "a key of many characters"))
    for each in wrapped:
        with pytest.raises(ValueError, match=r'AdvancedSQLiteSession .* use persist="view"'):
            fold(each)
        assert summaries(held(FoldedSession(filled(each), lambda prompt: "summary", EAGER))) == 1
        asyncio.run(each.clear_session())


def test_items_that_a_session_does_not_show_are_not_lost(caplog: pytest.LogCaptureFixture) -> None:
    """They would come out with the others: it is left as it is, and no more summaries are paid."""
    asked: list[Prompt] = []

    class Filtered(Plain):
        async def get_items(self, limit: int | None = None) -> list[Any]:
            return [item for item in self.items if "hidden" not in str(item)]

    def answer(prompt: Prompt) -> str:
        asked.append(prompt)
        return "summary"

    hidden = {"role": "user", "content": "hidden"}
    whole = [*talk(7), hidden, *talk(1, "last ")]
    wrapped = Filtered(whole)
    session = FoldedSession(wrapped, answer, EAGER, persist="replace")
    for _ in range(3):
        assert held(session) == [item for item in whole if item != hidden]
    assert sorted(map(str, wrapped.items)) == sorted(map(str, whole))
    assert len(asked) == 1
    assert caplog.text.count('use persist="view"') == 1
    assert 'use persist="view"' in str(asyncio.run(session.fold()).error)


def test_a_session_that_gives_out_another_form_of_its_items_is_folded() -> None:
    class Stored(Plain):
        async def pop_item(self) -> Any:
            return {"row": await super().pop_item()}

    assert summaries(held(fold(filled(Stored())))) == 1


class Busy(Plain):
    """A session to which something happens after some of its items were taken out."""

    def __init__(self, then: Callable[[Busy], None]) -> None:
        super().__init__()
        self.popped = 0
        self.then = then

    async def pop_item(self) -> Any:
        self.popped += 1
        if self.popped == 3:
            self.then(self)
        return await super().pop_item()


def fails(session: Busy) -> None:
    raise ConnectionError("gone")


def fails_after_it(session: Busy) -> None:
    session.items.pop()
    raise ConnectionError("the answer is lost")


@pytest.mark.parametrize("then", [fails, fails_after_it])
def test_a_failure_while_items_are_taken_out_puts_them_back(then: Any) -> None:
    wrapped = filled(Busy(then))
    with pytest.raises(ConnectionError):
        held(fold(wrapped))
    assert wrapped.items == talk(8)


@pytest.mark.parametrize("number", [1, 2])
def test_what_another_process_adds_while_items_are_taken_out_stays(number: int) -> None:
    late = talk(2, "late ")[:number]
    wrapped = filled(Busy(lambda session: session.items.extend(late)))
    session = fold(wrapped)
    held(session)
    assert sorted(map(str, wrapped.items)) == sorted(map(str, [*talk(8), *late]))
    if number == 1:
        assert wrapped.items == [*talk(8), *late]
    assert summaries(held(session)) == 1


def test_what_another_process_clears_meanwhile_is_not_put_back() -> None:
    """But for the two that were taken out before: it may have taken out its own as well."""
    wrapped = filled(Busy(lambda session: session.items.clear()))
    assert held(fold(wrapped)) == wrapped.items == talk(8)[-2:]


def test_a_fold_that_was_written_in_part_is_taken_back() -> None:
    wrapped = filled(Plain())

    async def half(items: list[Any]) -> None:
        wrapped.on_add = None
        await wrapped.add_items(items[:2])
        raise ConnectionError("the disk is full")

    wrapped.on_add = half
    with pytest.raises(ConnectionError):
        held(fold(wrapped))
    assert wrapped.items == talk(8)


def test_a_session_that_is_replaced_at_once_is_not_emptied_before() -> None:
    """As the SDK's own over Redis can; a subclass of it says that it cannot."""

    class AtOnce(Plain):
        able = True

        async def _atomic_replace_items(self, items: list[Any]) -> bool:
            if self.able:
                self.items[:] = items
            return self.able

        async def pop_item(self) -> Any:
            assert not self.able
            return await super().pop_item()

    for able in (True, False):
        wrapped = filled(AtOnce())
        wrapped.able = able
        assert summaries(held(fold(wrapped))) == 1
        assert summaries(wrapped.items) == 1


def test_stores_that_pop_slowly_and_hold_nothing_else_are_cleared() -> None:
    class Slow(Plain):
        async def pop_item(self) -> Any:
            raise AssertionError("reads and writes the whole history")

    Slow.__module__, Slow.__qualname__ = "agents.extensions.memory.dapr_session", "DaprSession"
    wrapped = filled(Slow())
    assert summaries(held(fold(wrapped))) == 1
    assert len(wrapped.items) < 10


def test_encrypted_items_that_have_expired_do_not_stand_in_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("cryptography", reason="EncryptedSession needs it")
    wrapped = EncryptedSession("s", SQLiteSession("s"), "a key of many characters")
    now = time.time()
    with monkeypatch.context() as earlier:
        earlier.setattr(time, "time", lambda: now - 3600)
        filled(wrapped, 2)
    filled(wrapped)
    assert held(wrapped) == talk(8)
    assert summaries(held(fold(wrapped))) == 1
    assert len(held(wrapped)) < 10


# --- arguments, and what cannot be wrapped --------------------------------------------------------


def test_sessions_that_fold_themselves_or_live_on_the_server_are_refused() -> None:
    client = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9")
    with pytest.raises(ValueError, match="wrap its underlying_session"):
        FoldedSession(OpenAIResponsesCompactionSession("s", SQLiteSession("s"), client=client))
    with pytest.raises(ValueError, match="replay=True"):
        FoldedSession(OpenAIConversationsSession(conversation_id="c", openai_client=client))
    folded: Any = FoldedSession(SQLiteSession("s"))
    around: Any = SQLiteSession("s")  # a wrapper like the SDK's own
    around.underlying_session = folded
    for outer in (folded, around):
        with pytest.raises(ValueError, match="wrap the session that it wraps"):
            FoldedSession(outer)
    for own in ("shape", "sessions"):
        given: Any = {own: 5}
        with pytest.raises(TypeError, match=f"unknown option {own}; there are .*persist"):
            FoldedSession(SQLiteSession("s"), **given)
    for persist in ("view", "replace"):
        here: Any = {"persist": persist}
        with pytest.raises(ValueError, match="the list of summarizers is empty"):
            FoldedSession(SQLiteSession("s"), [], **here)
        with pytest.raises(ValueError, match="no summarizer is named ''"):
            FoldedSession(SQLiteSession("s"), "", **here)
    with pytest.raises(TypeError, match="must be a Session"):
        FoldedSession([])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="persist must be"):
        FoldedSession(SQLiteSession("s"), persist="both")  # type: ignore[arg-type]


@pytest.mark.parametrize("persist", ["view", "replace"])
def test_wrong_arguments_are_told_at_once(persist: Any) -> None:
    for wrong, kind in (
        ({"unknown": 1}, TypeError),
        ({"llm": 42}, TypeError),
        ({"store": 42}, TypeError),
        ({"key": 42}, TypeError),
        ({"key": ""}, ValueError),
        ({"timeout": -1}, ValueError),
        ({"on_error": "shout"}, ValueError),
    ):
        with pytest.raises(kind):
            FoldedSession(SQLiteSession("s"), persist=persist, **wrong)


def test_what_a_session_holds_stays_json() -> None:
    wrapped = filled(Plain())
    held(FoldedSession(wrapped, lambda prompt: "summary", EAGER, persist="replace"))
    assert json.loads(json.dumps(wrapped.items)) == wrapped.items
