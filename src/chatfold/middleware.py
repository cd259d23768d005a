"""The per-turn hook for hosts that own the history and hand over all of it at each turn.

The host's list is never changed. What was folded of it is found again by content, so that each
part of a conversation is summarized once. Not here: what is done at a turn (`host_turns`), one
conversation (`session`), when to fold (`policy`), where folds are kept (`stores`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, cast

from chatfold.core.plan import Outcome
from chatfold.core.scalars import check_model, check_whole
from chatfold.each_turn import OnError, check_ways
from chatfold.host_turns import Folded, HostTurns, Steps
from chatfold.options import Settings
from chatfold.policy import Policy
from chatfold.regions import Region
from chatfold.session import Session
from chatfold.shared_folds import SharedFolds
from chatfold.templates import load_templates
from chatfold.threads import STEPS, NoThreadError, arun

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import EllipsisType
    from typing import Unpack

    from chatfold.core.views import Shape
    from chatfold.options import SummaryOptions
    from chatfold.stores import HostStore
    from chatfold.summarizers import LLM
    from chatfold.tokens import TokenCounter

__all__ = ["Folded", "Middleware"]

_log = logging.getLogger("chatfold")

if TYPE_CHECKING:
    # Checkers know it without its being installed. The default is for a middleware without `pin`:
    # nothing else that it is made of says what the items are.
    from typing_extensions import TypeVar

    ItemT = TypeVar("ItemT", default=Any)
else:
    from typing import TypeVar

    ItemT = TypeVar("ItemT")


class Middleware(Generic[ItemT]):
    """Folds a host's list at each turn; the list itself stays as it is.

    Safe to use from several threads and tasks, and on both sides of a fork. Where another of them,
    or another process with the same store, is summarizing the same conversation, a call goes on
    with what is folded so far; it waits only where that no longer fits the model's window.

    Args:
        llm: What writes the summaries; see `ChatContext.summarize`.
        policy: When to fold, and how much to keep; by default `Policy()`.
        store: Where folds are kept for other processes; by default in this one alone.
        model: The model that a client is to use.
        agent_model: The agent's own model: decides the window, and how tokens are counted; by
            default `model`.
        background: Whether summaries are written in the background: no call waits for a model. With
            a store each is put there as soon as it is written, and then the log and `on_event` are
            told of it, in a thread. Where an event loop runs, a task of it writes: it has to live
            until then.
        on_error: Whether a failure of the summarizer is reported in the outcome, or raised.
        sessions: Number of conversations that are held ready; the one used longest ago goes. Those
            for which something is under way go last, up to as many more. Without a store, ten times
            as many summaries of others are kept, so that they are found again; what goes besides is
            paid for again, and a warning says so once. Of those under one key, or without a key,
            that open with the same message ("Hello"), 64 are held, or 128: where more are under way
            at once, give each a key of its own.
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
        check_ways(on_error, background)
        check_whole("sessions", sessions, 1)
        check_model("model", model)
        check_model("agent_model", agent_model)
        self._llm = llm
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
        # What is wrong is said now, not when a fold is due; a context's other options mean nothing.
        Settings().updated(options, Middleware).check_templates()
        # Not in the first fold: a fork while another thread imports leaves the child without it.
        load_templates()
        self._make = self._maker()
        self._make([], None).check_summarizer(llm, model)
        self._shared = SharedFolds(store)
        self._turns: HostTurns[ItemT] = HostTurns(
            self._make, self._shared, sessions=sessions, background=background
        )

    def __copy__(self) -> Middleware[ItemT]:
        """Return another one of the same folds and sessions."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self) -> NoReturn:
        """Say what to do instead, where Python would say that a lock cannot be copied."""
        raise TypeError(
            "a Middleware cannot be pickled or copied deeply; make another one, with the same "
            "store where both are to use the same folds"
        )

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

        The summary is the same object in each turn, as the other items are the host's own: whoever
        edits them in place, to set a cache marker, say, has to edit a copy.

        Args:
            messages: The whole history, as the host has it. Of its last messages alone, which begin
                with another one at each turn, no fold is found again, and each is paid for.
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
        steps = self._turns.steps(messages, key, held)
        try:
            step = _advanced(partial(next, steps))
            while not isinstance(step, Folded):
                try:
                    done = self._done(step, llm)
                except BaseException as error:
                    step = _advanced(partial(steps.throw, error))
                else:
                    step = _advanced(partial(steps.send, done))
        finally:
            steps.close()  # an interrupt may come between two of them
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
        steps = self._turns.steps(messages, key, held)
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
        return self._turns.refolded(messages, held)

    def forget(self, key: str | None = None) -> None:
        """Drop what this process holds of a conversation: its messages, and what is folded of them.

        A fold that is being written for it in the background is given up, and nothing that is under
        way here goes into the store any more; what a thread writes there just now is waited for. A
        model that was asked is not: a later turn may ask again beside it.
        What is in a store is erased there (`store.erase(key)`); do that afterwards. Turns that come
        later, and other processes, write again what their host hands over.

        Args:
            key: The conversation, as for `fold`.

        Raises:
            ValueError: `key` is missing though the store is shared.
        """
        self._turns.forget(key)

    # What only this class needs, and what is made of it

    def _maker(self) -> Callable[[Sequence[ItemT], str | None], Session]:
        """Return what makes the session of a list and its key, without a hold on this object."""
        return partial(_made, self._options)

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
        self, steps: Steps[ItemT], advance: Callable[[], Session | float]
    ) -> Session | float | Folded[ItemT]:
        """Return the next step; what asks a store is run in a thread, if there is one."""
        if not self._shared.used:
            return _advanced(advance)
        # Taken by who comes first: the thread when it is done, or this call when it is cancelled.
        # The other one ends the turn, which gives up what it holds: a generator cannot be closed
        # while it runs, and the event loop may be gone when it no longer does.
        first = [True]

        def advanced() -> Session | float | Folded[Any]:
            try:
                return _advanced(advance)
            finally:
                if not _taken(first):
                    _close(steps)

        try:
            return await arun(advanced, STEPS, or_here=True)
        except asyncio.CancelledError:
            if not _taken(first):
                close = partial(_close, steps)
                try:
                    STEPS.run(close)  # a store may be slow to take it
                except NoThreadError:
                    close()
            raise


def _made(options: Mapping[str, Any], items: Sequence[Any], key: str | None) -> Session:
    return Session(items, named=key, **options)


def _taken(first: list[bool]) -> bool:
    try:
        return first.pop()
    except IndexError:
        return False


def _close(steps: Steps[Any]) -> None:
    """End a turn that was cancelled."""
    try:
        steps.close()
    except Exception as error:  # of a store of the caller's own, say
        _log.warning("a cancelled turn was not given up: %s", type(error).__name__)


def _advanced(advance: Callable[[], Session | float]) -> Session | float | Folded[Any]:
    """Return what a generator yields next, or what it returns."""
    try:
        return advance()
    except StopIteration as stop:
        return cast("Folded[Any]", stop.value)
