"""The calls that fold a list when they are told to; when a policy says so is `context`'s."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from chatfold.adding import Adding
from chatfold.beginning import in_loop
from chatfold.core.calls import Abandon
from chatfold.core.cost import Cost
from chatfold.core.flow import Completion, Flow, completed
from chatfold.core.plan import Outcome, Plan
from chatfold.core.scalars import check_flags
from chatfold.driving import drive
from chatfold.each_turn import EachTurn, told
from chatfold.errors import BusyError, ChatfoldError
from chatfold.events import Attempt
from chatfold.folding import Folding, charged
from chatfold.options import Settings, SummaryOptions
from chatfold.planning import HOST, Limits
from chatfold.summarizers import (
    LLM,
    Summarizer,
    asked,
    senders,
)
from chatfold.tokens.windows import windows_for
from chatfold.work import Work, backends_for, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import EllipsisType
    from typing import Any, Unpack

    from chatfold.policy import Policy

__all__ = ["Summarizing"]

ItemT = TypeVar("ItemT")

_WAIT: Final = 0.01  # seconds between two looks at whether a running summarization has ended


class Summarizing(Adding[ItemT]):
    """A message list that can be folded; what makes one is `ChatContext`."""

    _folding: Folding
    _each_turn: EachTurn
    _policy: Policy | None

    def plan(
        self,
        *,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        abandon: Abandon | None = None,
        force: bool = False,
        replay: bool = False,
        **options: Unpack[SummaryOptions],
    ) -> Plan[ItemT]:
        """Return what a summarization would replace, and the prompt for it; changes nothing.

        Args:
            keep_last_turns: Turns to keep; 0 keeps none but open calls and the user messages of
                an unfinished turn; None leaves it to `keep_tokens`. Default: 2, or None where
                `keep_tokens` is given.
            keep_tokens: Tokens that the tail may hold; it may then be cut inside a turn. With
                both, the shorter tail wins.
            abandon: Open calls to give up: their ids, what `blocked_by` calls those without one,
                or a function of a `ToolCallRecord`.
            force: Whether to plan for a head that gave no gain, or was undone, before.
            replay: Whether to fold though the provider holds the history: the list has to be all
                of it, and is sent as a whole from then on (see `requirements`).
            **options: See `SummaryOptions`.

        Raises:
            ValueError: A limit is negative, or both are None.
            TemplateError: A template does not load or render.
        """
        limits = self._limits(keep_last_turns, keep_tokens, abandon, force, replay)
        return self._folding.planning.plan(limits, self._updated(options, self.plan))

    def apply(self, plan: Plan[ItemT], completion: str | Completion) -> Outcome[ItemT]:
        """Put a summary in place of the plan's head.

        Args:
            plan: What `plan()` returned; the head must still say the same.
            completion: The summary: text, or a `Completion`, which is checked for refusal,
                truncation and the like.

        Raises:
            ValueError: The plan has nothing to do.
            TypeError: It is no plan, or the completion is neither text nor a `Completion`.
            SummaryError: The completion cannot stand as a summary.
            StaleHeadError: The head changed since.
            InvalidResultError: The new list would break the provider's rules.
            BusyError: A summarization of this list is running.
        """
        if not isinstance(plan, Plan):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"apply() takes what plan() returned, not {type(plan).__name__}")
        if plan.prompt is None:
            raise ValueError(f"the plan has nothing to do ({plan.reason}); test it with `if plan:`")
        answer = completed(completion)
        attempt = Attempt(self._settings.on_event, self._folding.key)
        attempt.cost.since = time.perf_counter()
        try:
            with self._state.alone("apply()"):
                outcome = self._folding.applied(plan, answer, attempt.cost)
        except BusyError:  # the one that goes on tells of itself
            raise
        except Exception as error:  # of the caller's own `post_process`, say
            self._told(self._folding.failed(error, attempt.cost), attempt)
            raise
        return self._told(outcome, attempt)

    def flow(
        self,
        *,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        abandon: Abandon | None = None,
        force: bool = False,
        replay: bool = False,
        **options: Unpack[SummaryOptions],
    ) -> Flow[Outcome[ItemT]]:
        """Return a summarization for a host that makes the model calls itself.

        The arguments and errors are those of `plan`; sending the last completion changes the
        list, unless another summarization of it is running then: that one goes on, and the
        outcome is `busy`.
        """
        limits = self._limits(keep_last_turns, keep_tokens, abandon, force, replay)
        settings = self._updated(options, self.flow)
        attempt = Attempt(settings.on_event, self._folding.key)
        attempt.cost.since = time.perf_counter()
        then = partial(self._told, attempt=attempt)
        return self._folding.flow(limits, settings, 1, senders=HOST, cost=attempt.cost, then=then)

    def summarize(
        self,
        llm: LLM,
        *,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        model: str | None = None,
        abandon: Abandon | None = None,
        force: bool = False,
        replay: bool = False,
        **options: Unpack[SummaryOptions],
    ) -> Outcome[ItemT]:
        """Replace the older part of the list with one summary item.

        Args:
            llm: What writes the summary: an OpenAI or Anthropic client (with `model=`), a
                `Summarizer`, `"openai:<model>"`, `"anthropic:<model>"`, `"extractive"`, a
                function of a `Prompt`, or a list of these, tried in order.
            keep_last_turns: See `plan`.
            keep_tokens: See `plan`.
            model: The model that a client is to use.
            abandon: See `plan`.
            force: See `plan`.
            replay: See `plan`.
            **options: See `SummaryOptions`.

        Returns:
            What happened, and why. Having too little to summarize is no error.

        Raises:
            TypeError: `llm` cannot answer, or only `asummarize` can use it.
            ValueError: An argument is out of range.
            SummaryError: The model failed, or its answer cannot stand as a summary.
            StaleHeadError: The head changed while the summary was written.
            InvalidResultError: The new list would break the provider's rules.
        """
        settings = self._updated(options, self.summarize)
        limits = self._limits(keep_last_turns, keep_tokens, abandon, force, replay)
        with self._attempt(llm, settings, model) as attempt:
            if not attempt.allowed(self._state.tokens):
                return self._limited(self._folding.idle("vetoed"))
            try:
                outcome = self._fold(llm, limits, settings, model, attempt.cost)
            except ChatfoldError as error:
                self._told(self._folding.failed(error, attempt.cost), attempt)
                raise
            return self._told(outcome, attempt)

    async def asummarize(
        self,
        llm: LLM,
        *,
        wait: bool = False,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        model: str | None = None,
        abandon: Abandon | None = None,
        force: bool = False,
        replay: bool = False,
        **options: Unpack[SummaryOptions],
    ) -> Outcome[ItemT]:
        """Replace the older part of the list with one summary item, without blocking the loop.

        A long list is first read by parts, between which other tasks go on. What it computes then
        is computed in other threads, and so are `pin`, `redact` and `post_process` called there;
        the list changes in this one. Cancelling it leaves the list untouched.

        Args:
            llm: As for `summarize`; async clients and functions too.
            wait: Whether to wait for a summarization of this list that is running, instead of
                answering `busy`.
            keep_last_turns: See `plan`.
            keep_tokens: See `plan`.
            model: The model that a client is to use.
            abandon: See `plan`.
            force: See `plan`.
            replay: See `plan`.
            **options: See `SummaryOptions`.

        Returns:
            What happened, and why.

        Raises:
            The same as `summarize`.
        """
        check_flags(wait=wait)
        settings = self._updated(options, self.asummarize)
        limits = self._limits(keep_last_turns, keep_tokens, abandon, force, replay)
        with self._attempt(llm, settings, model) as attempt:
            await self._read_by_parts()
            if not attempt.allowed(self._state.tokens):
                return self._limited(self._folding.idle("vetoed"))
            try:
                outcome = await self._afold(llm, limits, settings, model, attempt.cost, wait=wait)
            except ChatfoldError as error:
                self._told(self._folding.failed(error, attempt.cost), attempt)
                raise
            return self._told(outcome, attempt)

    def undo(self) -> Outcome[ItemT]:
        """Put back the originals of the latest fold, object for object; keep what came since.

        Several in a row walk back, up to `undo_depth`; with a store further, and in a fresh
        context too: the items are then equal to the originals, not the same objects.

        Raises:
            BusyError: A summarization of this list is running.
            StoreError: The store cannot be read.
        """
        with self._state.alone("undo()"):
            cost = Cost(since=time.perf_counter())
            return self._limited(charged(self._folding.undo(), cost))

    # What this class and `ChatContext` need

    def _updated(self, options: Any, call: Callable[..., Any]) -> Settings:
        """Return the options of one call."""
        if not options:
            return self._settings
        settings = self._settings.updated(options, call)
        if "templates" in options:
            settings.check_templates()
        return settings

    def _limits(
        self,
        keep_last_turns: int | None | EllipsisType,
        keep_tokens: int | None | EllipsisType,
        abandon: Abandon | None,
        force: bool = False,
        replay: bool = False,
    ) -> Limits:
        """Return how much a call keeps: as it says, else as the context's policy does."""
        if keep_last_turns is ... and keep_tokens is ... and self._policy is not None:
            keeps = self._each_turn.loads.keeps
            return replace(keeps, abandon=abandon, force=force, replay=replay)
        return Limits(keep_last_turns, keep_tokens, abandon, force, replay)

    def _check_llm(
        self, llm: LLM, settings: Settings, model: str | None, *, asynchronous: bool
    ) -> None:
        """Check at the first turn already whether `llm` can answer; the trigger may be far off.

        Raises:
            TypeError: It cannot, or only in the other kind of call.
            ValueError: It is a string that names nothing, or an empty list; or it cannot send the
                live request of append mode.
        """
        asked = (llm, model, settings.mode, asynchronous)
        if asked != self._each_turn.checked:
            with suppress(ChatfoldError):  # a missing key, say: reported when it is needed
                senders(backends_for(llm, settings, model, asynchronous=asynchronous)[1], settings)
            self._each_turn.checked = asked

    def _attempt(self, llm: LLM, settings: Settings, model: str | None) -> Attempt:
        """Return what tells the caller's hook of a summarization."""
        who = partial(asked, llm, model, settings.request if settings.mode == "append" else None)
        return Attempt(settings.on_event, self._folding.key, who)

    def _told(
        self, outcome: Outcome[ItemT], attempt: Attempt, *, tried: bool = False
    ) -> Outcome[ItemT]:
        """Tell of a summarization; return its outcome, with whether the list is too large still.

        Args:
            outcome: What happened.
            attempt: Is told.
            tried: Whether it counts for when the next one is tried, also where it came to nothing.
        """
        if outcome.changed or tried:
            self._each_turn.learn(outcome)
        return told(self._limited(outcome), attempt)

    def _limited(self, outcome: Outcome[ItemT]) -> Outcome[ItemT]:
        """Return an outcome that says whether the list is over the limit of the caller's policy."""
        return outcome if self._policy is None else self._each_turn.with_limit(outcome)

    def _fold(
        self, llm: LLM, limits: Limits, settings: Settings, model: str | None, cost: Cost
    ) -> Outcome[ItemT]:
        """Summarize; nobody is told of it yet."""
        native, backends = backends_for(llm, settings, model, asynchronous=False)
        if not self._state.running.acquire(blocking=False):
            return self._folding.idle("busy")
        cost.since = time.perf_counter()
        try:
            if native is not None:
                work = self._work(limits, settings, backends, cost)
                outcome = put(self._folding, work.native(native), cost)
            else:
                windows, sent = windows_for(backends), senders(backends, settings)
                flow = self._folding.flow(limits, settings, len(backends), windows, sent, cost=cost)
                outcome = drive(flow, backends)
            return charged(outcome, cost)
        finally:
            self._state.running.release()

    async def _afold(
        self,
        llm: LLM,
        limits: Limits,
        settings: Settings,
        model: str | None,
        cost: Cost,
        *,
        wait: bool = False,
    ) -> Outcome[ItemT]:
        """Summarize without blocking the event loop; nobody is told of it yet."""
        native, backends = backends_for(llm, settings, model, asynchronous=True)
        if not await self._turn_to_run(wait):
            return self._folding.idle("busy")
        cost.since = time.perf_counter()
        try:
            work = self._work(limits, settings, backends, cost)
            made = await (work.awritten() if native is None else work.anative(native))
            return charged(put(self._folding, made, cost), cost)
        finally:
            self._state.running.release()

    async def _read_by_parts(self) -> None:
        """Read a long list that is new, and let others have the event loop in between."""
        while in_loop() and self._state.read_on():  # noqa: ASYNC110 - for others, not for an event
            await asyncio.sleep(0)

    def _work(
        self, limits: Limits, settings: Settings, backends: list[Summarizer], cost: Cost
    ) -> Work:
        snapshot, sent = self._state.snapshot(limits.abandon), senders(backends, settings)
        return Work(self._folding, snapshot, limits, settings, backends, sent, cost)

    async def _turn_to_run(self, wait: bool) -> bool:
        """Return whether a summarization may start now, waiting for another one if asked."""
        lock = self._state.running
        if lock.acquire(blocking=False):
            return True
        if not wait:
            return False
        # The other one may run in another thread or loop, where no event of this loop reaches.
        while not lock.acquire(blocking=False):
            fold = self._each_turn.background
            if fold is not None and fold.done:  # the one who waits is the one to put it in
                fold.apply_if_ready()
            await asyncio.sleep(_WAIT)
        return True
