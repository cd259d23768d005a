"""`FoldedSession`: a session of the OpenAI Agents SDK over another one, folded between runs."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from chatfold.context import ChatContext
from chatfold.core.callables import is_yes
from chatfold.core.plan import Outcome
from chatfold.core.rolling import item_digest
from chatfold.host_turns import LONGEST, POLL
from chatfold.integrations._openai_agents.alone import Alone
from chatfold.integrations._openai_agents.folds import SHAPE, Folds
from chatfold.integrations._openai_agents.run import Run, seen
from chatfold.integrations._openai_agents.wrapped import (
    UnfitError,
    Wrapped,
    check_session,
    finished,
    layers,
)
from chatfold.options import Settings
from chatfold.stores.base import checked_key

if TYPE_CHECKING:
    from typing import Unpack

    from agents import Model, RunContextWrapper, Session, SessionSettings, TResponseInputItem

    from chatfold.each_turn import OnError
    from chatfold.options import SummaryOptions
    from chatfold.policy import Policy
    from chatfold.stores import HostStore, Store
    from chatfold.summarizers import LLM
    from chatfold.tokens import TokenCounter

__all__ = ["FoldedSession", "Persist"]

Persist: TypeAlias = Literal["view", "replace"]
"""Whether a session keeps its originals, or the fold in place of them."""

_log = logging.getLogger("chatfold")


class FoldedSession:
    """A `Session` over another one, which is folded between runs: when a run reads it.

    With `persist="view"` the wrapped session keeps all of its items, and runs are given the fold;
    what was folded is kept in `store`, which sessions of other requests should share. With
    `persist="replace"` the wrapped session is given the fold in place of its items: in one
    transaction where it can (those over SQLite, SQLAlchemy and Redis), else they are taken out and
    the fold is added, and they are put back where that fails. The originals are then written to
    `store` before.

    Args:
        wrapped: The session; not one whose items are held by the server.
        llm: See `chatfold_filter`. Outside of a run, the agent's own model is that of the last.
        policy: When to fold, and how much to keep; by default `Policy()`.
        store: See above; by default in this object alone.
        persist: Whether the originals stay in the wrapped session.
        key: Names the conversation; by default the session's id.
        model: See `chatfold_filter`.
        agent_model: See `chatfold_filter`.
        background: Whether a run never waits for a summary: it is begun when a run reads the
            session, and put in when the next one does. Where each request makes a session of its
            own they need one `store`, by which the next one finds it; else what a session has
            begun is known to that object alone, and is to be paid for again.
        on_error: Whether a failure of the summarizer is reported, or raised.
        pin: As for `ChatContext`.
        counter: As for `ChatContext`.
        summary_key: As for `ChatContext`.
        **options: See `SummaryOptions`.

    Attributes:
        wrapped: The wrapped session.
        session_id: Its id.
        session_settings: What the Runner asks for; at first the wrapped session's.

    Raises:
        TypeError: `wrapped` is no session, `llm` cannot answer, or an option is not known.
        ValueError: `wrapped` folds by itself, is held by the server or cannot be given a fold in
            place of its items, or an option is out of range.
    """

    def __init__(
        self,
        wrapped: Session,
        llm: LLM | Model | None = None,
        policy: Policy | None = None,
        store: HostStore | Store | None = None,
        *,
        persist: Persist = "view",
        key: str | None = None,
        model: str | None = None,
        agent_model: str | None = None,
        background: bool = False,
        on_error: OnError = "report",
        pin: Callable[[Any], bool] | None = None,
        counter: TokenCounter | None = None,
        summary_key: bytes | None = None,
        **options: Unpack[SummaryOptions],
    ) -> None:
        if persist not in get_args(Persist):
            raise ValueError(
                f"persist must be one of {', '.join(get_args(Persist))}, not {persist!r}"
            )
        Settings().updated(options, FoldedSession)  # else a Middleware tells of its own
        if any(isinstance(each, FoldedSession) for each in layers(wrapped)):
            raise ValueError("a FoldedSession folds by itself; wrap the session that it wraps")
        check_session(wrapped, replaces=persist == "replace")
        if key is not None:
            checked_key(key)
        self.wrapped = wrapped
        self.session_id: str = wrapped.session_id
        self.session_settings: SessionSettings | None = wrapped.session_settings
        self._persist = persist
        self._name = key
        self._pin = pin
        self._open: Callable[[], frozenset[bytes]] = frozenset  # calls whose results may come
        self._folds = Folds(
            llm,
            model,
            agent_model,
            policy=policy,
            store=store,
            replaces=persist == "replace",
            background=background,
            on_error=on_error,
            pin=self._pins,
            counter=counter,
            summary_key=summary_key,
            **options,
        )
        self._run = Run()  # the last that was seen
        self._context: ChatContext[Any] | None = None  # of what the wrapped session holds
        self._folding = threading.Lock()  # tried, never waited for: a run may be of another loop
        self._unfit: UnfitError | None = None  # why its items are not replaced any more
        self._writing = Alone()
        methods = (wrapped.get_items, wrapped.add_items, wrapped.pop_item, wrapped.clear_session)
        self._passes_run = all("wrapper" in inspect.signature(each).parameters for each in methods)

    @property
    def _ignore_ids_for_matching(self) -> bool:
        """What the SDK asks of a session that wraps another one."""
        return bool(getattr(self.wrapped, "_ignore_ids_for_matching", False))

    async def get_items(
        self, limit: int | None = None, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> list[TResponseInputItem]:
        """Return the history as it goes to the model, folded first where the policy says so.

        Args:
            limit: Number of items, the latest of the folded history; None for all.
            wrapper: The run, as the SDK passes it.
        """
        run = seen(context=wrapper)
        if run.agent is not None:
            self._run = run
        items, _ = await self._folded(self._run if run.agent is None else run, wrapper)
        if limit is None:
            return items
        return items[-limit:] if limit > 0 else []

    async def fold(self) -> Outcome[Any]:
        """Fold now, if the policy says so; for the time between two runs.

        Returns:
            What happened, and why.
        """
        return (await self._folded(self._run, None))[1]

    async def undo(self) -> Outcome[Any]:
        """Put back the originals of the latest fold, where it has replaced them.

        With a store also what an earlier process has folded.

        Returns:
            What happened: `nothing_to_undo` with `persist="view"`, which keeps the originals.

        Raises:
            BusyError: The session is being folded, or a fold of it is yet to be put in.
            StoreError: The store cannot be read.
            ValueError: The wrapped session gives out what it does not show.
        """
        if self._persist == "view":
            remedy = 'persist="view" keeps the originals in the wrapped session'
            return Outcome(False, "nothing_to_undo", remedy=remedy)
        return await finished(self._undone(self._name or self.session_id))

    async def _undone(self, key: str) -> Outcome[Any]:
        items = await self._read(None)
        async with self._folds.held_off(items, self._run, key):
            context = self._followed(items, self._run)
            before = list(context.items)
            outcome = context.undo()
            if not outcome.changed:
                return outcome
            await self._folds.take_back(context, outcome.fold_id, self._run, key)
            if await self._replaced(before, context.items, None) is None:
                remedy = "the session has changed; retry"
                return Outcome(False, "stale", key=self._name, remedy=remedy)
            return outcome

    def forget(self) -> None:
        """Drop what this object holds of the conversation: its items, and what is folded of them.

        What is under way is given up, or waited for, as by `Middleware.forget`. The items are
        removed by `clear_session()`, and in a `store` that you pass folds are erased by
        `store.erase(key)`, the session's id where no `key=` was given; do that afterwards.
        """
        self._folds.forget(self._name or self.session_id)
        context, self._context = self._context, None
        if context is not None and context.background is not None:
            context.background.cancel()
        self._open = frozenset
        self._run = replace(self._run, context=None)  # of which the SDK holds what was said last

    async def add_items(
        self,
        items: list[TResponseInputItem],
        *,
        wrapper: RunContextWrapper[Any] | None = None,
    ) -> None:
        """Add items to the wrapped session."""
        async with self._writing:
            await self.wrapped.add_items(items, **self._passed(wrapper))

    async def pop_item(
        self, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> TResponseInputItem | None:
        """Remove and return the latest item of the wrapped session."""
        async with self._writing:
            return await self.wrapped.pop_item(**self._passed(wrapper))

    async def clear_session(self, *, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Remove all items of the wrapped session."""
        async with self._writing:
            await self.wrapped.clear_session(**self._passed(wrapper))

    def _passed(self, wrapper: RunContextWrapper[Any] | None) -> dict[str, Any]:
        return {"wrapper": wrapper} if wrapper is not None and self._passes_run else {}

    def _held(self, wrapper: RunContextWrapper[Any] | None) -> Wrapped:
        return Wrapped(self.wrapped, self._passed(wrapper))

    async def _read(self, wrapper: RunContextWrapper[Any] | None) -> list[TResponseInputItem]:
        """Return all items of the wrapped session, none while it is being written to."""
        async with self._writing:
            return await self._held(wrapper).items()

    def _over_window(self, items: list[TResponseInputItem], run: Run) -> bool:
        """Return whether a history is larger than the model's window."""
        context = self._folds.context(list(items), run, self._name or self.session_id)
        return context.load().over_window

    async def _folded(
        self, run: Run, wrapper: RunContextWrapper[Any] | None
    ) -> tuple[list[TResponseInputItem], Outcome[Any]]:
        """Return the history as it goes to the model, and what was done about it."""
        items = await self._read(wrapper)
        if self._unfit is not None:
            return items, Outcome(False, "failed", error=self._unfit)
        if self._persist == "view":
            return await self._seen(items, run)
        waited = 0.0
        # Another run may be at it, which is waited for where the list does not fit.
        while not self._folding.acquire(blocking=False):
            if waited >= LONGEST or not self._over_window(items, run):
                return items, Outcome(False, "busy")
            await asyncio.sleep(POLL)
            waited += POLL
            items = await self._read(wrapper)
        try:
            if self._folds.finds:
                now, outcome = await self._seen(items, run)
                if now != items:
                    now, outcome = await self._taken_in(items, now, outcome, wrapper)
                    self._folds.forget(self._name or self.session_id)
                return now, outcome
            context = self._followed(items, run)
            unanswered = _unanswered(context)
            self._open = lambda: unanswered
            outcome = await self._folds.fold_in(context, run)
            if not outcome.changed:
                return items, outcome
            return await self._taken_in(items, context.items, outcome, wrapper)
        finally:
            self._folding.release()

    async def _seen(
        self, items: list[TResponseInputItem], run: Run
    ) -> tuple[list[TResponseInputItem], Outcome[Any]]:
        """Return items with a fold in place of the oldest, and what was done about it."""
        # Asked at a fold alone: to read all of a history takes longer than all else here.
        self._open = cache(partial(_unanswered_in, items))
        folded = await self._folds.fold(items, run, self._name or self.session_id)
        return folded.items, folded.outcome

    async def _taken_in(
        self,
        before: list[TResponseInputItem],
        after: list[TResponseInputItem],
        outcome: Outcome[Any],
        wrapper: RunContextWrapper[Any] | None,
    ) -> tuple[list[TResponseInputItem], Outcome[Any]]:
        """Put a fold in place of the items; return what `_folded` does."""
        try:
            now = await self._replaced(before, after, wrapper)
        except UnfitError as error:
            _log.warning("a session is not folded any more: %s", error)
            self._unfit = error.with_traceback(None)  # which holds the items
            return before, Outcome(False, "failed", error=error, usage=outcome.usage)
        if now is None:
            return await self._read(wrapper), Outcome(False, "stale", usage=outcome.usage)
        return now, outcome

    def _followed(self, items: list[TResponseInputItem], run: Run) -> ChatContext[Any]:
        """Return the context of the wrapped session's items as they are now."""
        context = self._context
        if context is not None and items[: len(context.items)] == context.items:
            context.extend(items[len(context.items) :])
            return context
        self._context = self._folds.context(list(items), run, self._name or self.session_id)
        return self._context

    def _pins(self, item: Any) -> bool:
        """Return whether an item stays verbatim.

        Calls without a result do, also where the user has gone on: their run may be one that was
        interrupted and is resumed from its state, and its results are then written behind.
        """
        waiting = self._open()
        if waiting and item_digest(item) in waiting:
            return True
        return self._pin is not None and is_yes("pin", self._pin(item))

    async def _replaced(
        self,
        before: Sequence[TResponseInputItem],
        after: Sequence[TResponseInputItem],
        wrapper: RunContextWrapper[Any] | None,
    ) -> list[TResponseInputItem] | None:
        """Write what a fold has made of the items; return all, with what has come since.

        None where the wrapped session no longer begins with these items: nothing is written then.
        """

        async def write() -> list[TResponseInputItem] | None:
            async with self._writing:
                held = self._held(wrapper)
                now = await held.items()
                if now[: len(before)] != list(before):
                    return None
                whole = [*after, *now[len(before) :]]
                return whole if await held.swap(now, whole) else None

        self._context, context = None, self._context  # what it holds is not written yet
        written = await finished(write())
        if written is not None:
            self._context = context
        return written


def _unanswered_in(items: Sequence[TResponseInputItem]) -> frozenset[bytes]:
    return _unanswered(ChatContext(list(items), shape=SHAPE))


def _unanswered(context: ChatContext[Any]) -> frozenset[bytes]:
    """Return the digests of the calls whose results may still come.

    Digests, as each reading of a session makes its items anew. Where an id recurs, a result that
    comes is not that call's any more.
    """
    calls = context.tool_calls()
    used = Counter(call.id for call in calls if call.call_index is not None)
    return frozenset(
        item_digest(context.items[call.call_index])
        for call in calls
        if call.result_index is None and call.call_index is not None and used[call.id] == 1
    )
