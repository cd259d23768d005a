"""The per-turn hook for hosts that own the history and hand over all of it at each turn.

The host's list is never changed. What was folded of it is found again by content, so that each
part of a conversation is summarized once. Not here: one conversation (`session`), when to fold
(`policy`), where folds are kept (`stores`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar, cast, get_args

from chatfold.core.check import Requirement
from chatfold.core.plan import Outcome
from chatfold.each_turn import OnError
from chatfold.options import Settings
from chatfold.policy import Policy
from chatfold.regions import Region, region_of
from chatfold.session import Session
from chatfold.sessions import Sessions
from chatfold.shared_folds import SharedFolds

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import EllipsisType
    from typing import Unpack

    from chatfold.background import BackgroundFold
    from chatfold.core.views import Shape
    from chatfold.options import SummaryOptions
    from chatfold.stores import HostStore
    from chatfold.summarizers import LLM
    from chatfold.tokens import TokenCounter

__all__ = ["Folded", "Middleware"]

ItemT = TypeVar("ItemT")

_log = logging.getLogger("chatfold")

_POLL: Final = 0.1  # seconds between two looks at whether another process has ended
_LONGEST: Final = 180.0  # seconds; whoever holds a claim for longer has died


@dataclass(frozen=True, slots=True)
class Folded(Generic[ItemT]):
    """What goes to the model in place of a host's list.

    Attributes:
        items: A new list of the host's own items, with a summary in place of the oldest ones.
        outcome: What happened, and why.
        requirements: What the next request has to carry besides the items.
        held: What is folded of the host's list, for a host that keeps this itself: four values in
            JSON types. None where nothing is, or where it holds for this process alone.
    """

    items: list[ItemT]
    outcome: Outcome[ItemT]
    requirements: tuple[Requirement, ...] = ()
    held: Region | None = None


class Middleware(Generic[ItemT]):
    """Folds a host's list at each turn; the list itself stays as it is.

    Safe to use from several threads and tasks. Where another of them, or another process with the
    same store, is summarizing the same conversation, a call goes on with what is folded so far; it
    waits only where that no longer fits the model's window.

    Args:
        llm: What writes the summaries; see `ChatContext.summarize`.
        policy: When to fold, and how much to keep; by default `Policy()`.
        store: Where folds are kept for other processes; by default in this one alone.
        model: The model that a client is to use.
        agent_model: The agent's own model: decides the window, and how tokens are counted; by
            default `model`.
        background: Whether summaries are written in the background: no call waits for a model.
        on_error: Whether a failure of the summarizer is reported in the outcome, or raised.
        sessions: Number of conversations that are held ready; the one used longest ago goes.
        shape: As for `ChatContext`.
        pin: As for `ChatContext`.
        counter: As for `ChatContext`.
        summary_key: As for `ChatContext`.
        **options: See `SummaryOptions`.

    Raises:
        TypeError: `llm` cannot answer, `store` is no store, or an option is not known.
        ValueError: An option is out of range, or the policy and the model do not go together.
    """

    def __init__(
        self,
        llm: LLM,
        policy: Policy | None = None,
        store: HostStore | None = None,
        *,
        model: str | None = None,
        agent_model: str | None = None,
        background: bool = False,
        on_error: OnError = "report",
        sessions: int = 1_000,
        shape: str | Shape | None = None,
        pin: Callable[[ItemT], bool] | None = None,
        counter: TokenCounter | None = None,
        summary_key: bytes | None = None,
        **options: Unpack[SummaryOptions],
    ) -> None:
        if on_error not in get_args(OnError):
            raise ValueError(
                f"on_error must be one of {', '.join(get_args(OnError))}, not {on_error!r}"
            )
        if isinstance(sessions, bool) or not isinstance(sessions, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"sessions must be a whole number, not {sessions!r}")
        if sessions < 1:
            raise ValueError(f"sessions must be 1 or more, not {sessions}")
        self._llm = llm
        self._background = background
        self._call: dict[str, Any] = {
            "model": model,
            "background": background,
            "on_error": on_error,
        }
        self._options: dict[str, Any] = {
            "policy": Policy() if policy is None else policy,
            "model": agent_model or model,
            "shape": shape,
            "pin": pin,
            "counter": counter,
            "summary_key": summary_key,
            **options,
        }
        Settings().updated(options)  # others of a context have no meaning here
        self._make([]).check_summarizer(
            llm, model
        )  # what is wrong is said now, not when a fold is due
        self._shared = SharedFolds(store)
        self._sessions = Sessions(sessions, self._dropped)

    def __call__(self, messages: Sequence[ItemT], *, key: str | None = None) -> list[ItemT]:
        """Return what goes to the model; see `fold`."""
        return self.fold(messages, key=key).items

    async def acall(self, messages: Sequence[ItemT], *, key: str | None = None) -> list[ItemT]:
        """Return what goes to the model; see `afold`."""
        return (await self.afold(messages, key=key)).items

    def fold(
        self,
        messages: Sequence[ItemT],
        *,
        key: str | None = None,
        llm: LLM | None = None,
        held: Region | list[Any] | EllipsisType | None = ...,
    ) -> Folded[ItemT]:
        """Return what goes to the model in place of the host's list.

        Args:
            messages: The whole history, as the host has it.
            key: Names the conversation, or the tenant; nothing is ever found under another key.
            llm: What writes a summary in this call, in place of the middleware's own.
            held: For a host that keeps with its list what is folded of it: the `held` of the call
                before, None where nothing is. The list is then folded as far as that says; a fold
                that this process or the store knows besides is used where one is due.

        Raises:
            TypeError: `messages` is no list, or `key` no text.
            ValueError: `key` is missing though the store is shared, or `held` is not what such a
                call gave.
        """
        steps = self._steps(messages, key, held)
        step = _advanced(partial(next, steps))
        while not isinstance(step, Folded):
            try:
                done = self._done(step, llm)
            except BaseException as error:
                step = _advanced(partial(steps.throw, error))
            else:
                step = _advanced(partial(steps.send, done))
        return step

    async def afold(
        self,
        messages: Sequence[ItemT],
        *,
        key: str | None = None,
        llm: LLM | None = None,
        held: Region | list[Any] | EllipsisType | None = ...,
    ) -> Folded[ItemT]:
        """Return what goes to the model, without blocking the event loop.

        The arguments and errors are those of `fold`.
        """
        steps = self._steps(messages, key, held)
        step = await self._aadvanced(steps, partial(next, steps))
        while not isinstance(step, Folded):
            try:
                done = await self._adone(step, llm)
            except BaseException as error:
                step = await self._aadvanced(steps, partial(steps.throw, error))
            else:
                step = await self._aadvanced(steps, partial(steps.send, done))
        return step

    def refolded(self, messages: Sequence[ItemT], held: Region | list[Any]) -> list[ItemT] | None:
        """Return a list folded once more as it was; nothing is summarized, and no policy asked.

        Args:
            messages: The whole history, as the host has it.
            held: What is folded of it: the `held` of a call before, also as a list from JSON.

        Returns:
            None where that was of another list.

        Raises:
            TypeError: `messages` is no list.
            ValueError: `held` is not what such a call gave.
        """
        known = _held(held)
        session = self._as_held(None, _checked(messages), known)
        return session.outgoing() if session.shows(known) else None

    def forget(self, key: str | None = None) -> None:
        """Drop what this process holds of a conversation: its messages, and what is folded of them.

        A fold that is being written for it in the background is given up. What is in a store is
        erased there (`store.erase(key)`); do that afterwards, and both when no turn is running.

        Args:
            key: The conversation, as for `fold`.

        Raises:
            ValueError: `key` is missing though the store is shared.
        """
        self._sessions.forget(self._shared.name(key))

    # What only this class needs

    def _make(self, items: Sequence[ItemT], key: str | None = None) -> Session:
        return Session(items, named=key, **self._options)

    def _done(self, step: Session | float, llm: LLM | None) -> Outcome[Any] | None:
        if not isinstance(step, Session):
            time.sleep(step)
            return None
        return step.maybe_summarize(self._llm if llm is None else llm, **self._call)

    async def _adone(self, step: Session | float, llm: LLM | None) -> Outcome[Any] | None:
        if not isinstance(step, Session):
            await asyncio.sleep(step)
            return None
        return await step.amaybe_summarize(self._llm if llm is None else llm, **self._call)

    async def _aadvanced(
        self, steps: _Steps[ItemT], advance: Callable[[], Session | float]
    ) -> Session | float | Folded[ItemT]:
        """Return the next step; what asks a store is run in a thread, as stores block."""
        if not self._shared.used:
            return _advanced(advance)
        running = asyncio.get_running_loop().run_in_executor(None, _advanced, advance)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            running.add_done_callback(lambda _: steps.close())
            raise

    def _steps(
        self,
        messages: Sequence[ItemT],
        key: str | None,
        held: Region | list[Any] | EllipsisType | None,
    ) -> _Steps[ItemT]:
        """Yield what is to be asked whether to fold, or seconds to wait; return what comes of it.

        The driver sends the outcome, or throws what was raised.
        """
        items = _checked(messages)
        name = self._shared.name(key)
        held = held if held is ... or held is None else _held(held)
        given = None if held is ... else held
        if held is ...:
            entry = self._sessions.entered(name, items, partial(self._begun, name, key, items))
        else:
            entry = self._sessions.entered(
                name, items, lambda _: self._as_held(key, items, given), lambda s: s.shows(given)
            )
        session, seen = entry
        if seen is not None:  # another call has it
            needed = tuple(session.requirements_now())
            return Folded(seen, Outcome(False, "running", key=key), needed, given)
        try:
            background = session.background
            if session.is_due(background=self._background):
                session.catch_up()
                session = self._renewed(name, session, items)
            elif background is not None and background.done:
                session.catch_up()
            if session.is_due(background=self._background):
                session = yield from self._alone(name, session, items)
                if self._shared.used and session.claim is None:
                    return self._result(session, session.idle("running"), key, held)
                session.prepare()
            before = list(session.items)
            outcome = yield session
            assert outcome is not None
            if outcome.changed and session.after(outcome, before):
                self._shared.put(name, session)
            if outcome.reason == "started" and self._shared.used and session.background is not None:
                fold = session.background
                fold.when_ended(partial(self._put_in, name, session, fold, share=held is ...))
            return self._result(session, outcome, key, held)
        finally:
            if session.background is None:
                self._released(session)
            session.turn.release()

    def _put_in(
        self, name: str, session: Session, fold: BackgroundFold[Any], *, share: bool
    ) -> None:
        """Put in what was written in the background, if it is to be shared; give up the claim.

        This process may not see the conversation again. But a host that keeps what is folded is to
        see it first.
        """
        with session.turn, session.ending:
            if session.background is not fold:
                return
            try:
                session.catch_up()
                before = list(session.items)
                outcome = fold.put_in() if share and not session.is_gone else None
                if outcome is not None and outcome.changed and session.after(outcome, before):
                    self._shared.put(name, session)
            except Exception as error:  # of a store of the caller's own, say
                _log.warning("a fold could not be put in: %s", type(error).__name__)
            finally:
                self._released(session)

    def _released(self, session: Session) -> None:
        """Give up the claim of a session, if it has one."""
        claim, session.claim = session.claim, None
        if claim is not None:
            self._shared.released(claim)

    def _dropped(self, session: Session) -> None:
        """Give up what is under way for a session."""
        session.is_gone = True
        with session.ending:  # what was being put in is in the store
            if session.background is not None:
                session.background.cancel()
                self._released(session)

    def _begun(
        self, name: str, key: str | None, items: Sequence[ItemT], known: Sequence[Region]
    ) -> Session:
        """Return a new session, in which the list is folded as far as it was before."""
        session = self._make(items, key)
        ours = sorted(known, key=_length, reverse=True)
        for region in merge(ours, self._shared.folds(name, session), key=_length, reverse=True):
            if session.reuse(region) is not None:
                break
        return session

    def _as_held(self, key: str | None, items: Sequence[ItemT], held: Region | None) -> Session:
        """Return a new session, in which the list is folded as its host says."""
        session = self._make(items, key)
        if held is not None:
            session.reuse(held)
        return session

    def _renewed(self, name: str, session: Session, items: Sequence[ItemT]) -> Session:
        """Return the session, or a new one: before a fold, what is folded has to be up to date.

        The host may have edited it in place, another process has folded more of it, or this one
        has, before the host went back to an earlier state.
        """
        sound = session.is_sound()
        more = [r for r in self._sessions.others(name, session) if sound and session.continues(r)]
        if sound and not more and not (self._shared.used and self._shared.longest(name, session)):
            return session
        fresh = self._begun(name, session.key, items, [*session.regions(), *more])
        if sound and fresh.folded <= session.folded:
            return session
        return self._sessions.replaced(name, session, fresh)

    def _alone(
        self, name: str, session: Session, items: Sequence[ItemT]
    ) -> Generator[Session | float, Outcome[Any] | None, Session]:
        """Return the session, with a claim to fold it, if no other process has one.

        Where the list no longer fits, the other one is waited for.
        """
        waited = 0.0
        while self._shared.used:
            session.claim = self._shared.claim(name, session)
            if session.claim is not None:
                return self._renewed(name, session, items)  # it may have been done meanwhile
            if waited >= _LONGEST or not session.load().over_window:
                return session
            yield _POLL
            waited += _POLL
        return session

    def _result(
        self,
        session: Session,
        outcome: Outcome[Any],
        key: str | None,
        held: Region | EllipsisType | None,
    ) -> Folded[ItemT]:
        """Return what goes to the model."""
        saved = session.view.saved
        if saved and not outcome.changed and outcome.reason == "below_trigger":
            outcome = replace(outcome, changed=True, reason="reused")
        if outcome.reason == "reused":
            outcome = replace(outcome, tokens_before=outcome.tokens_after + saved)
        needed = tuple(session.requirements_now())
        now = None if held is ... else held if session.shows(held) else session.latest()
        return Folded(session.outgoing(), replace(outcome, key=key), needed, now)


_Steps: TypeAlias = Generator["Session | float", "Outcome[Any] | None", Folded[ItemT]]


def _held(value: Any) -> Region:
    """Return what a host keeps of a fold.

    Raises:
        ValueError: It is not what `Folded.held` was.
    """
    region = region_of(value)
    if region is None:
        raise ValueError(
            "held must be the `Folded.held` of a call before, also as a list from JSON (digest, "
            "number of items, places of those that stay, summary), or None"
        )
    return region


def _length(region: Region) -> int:
    return region.length


def _advanced(advance: Callable[[], Session | float]) -> Session | float | Folded[Any]:
    """Return what a generator yields next, or what it returns."""
    try:
        return advance()
    except StopIteration as stop:
        return cast("Folded[Any]", stop.value)


def _checked(messages: Any) -> Sequence[Any]:
    """Return the host's list.

    Raises:
        TypeError: It is none.
    """
    if isinstance(messages, (list, tuple)):
        return cast("Sequence[Any]", messages)
    raise TypeError(
        f"messages must be a list, not {type(messages).__name__}: the whole history as the host "
        "has it"
    )
