"""One fold as work on values: in any thread or task, beside the list, which is not changed by it.

Not here: who does it and when (`background`, `summarizing`), what the fold is (`folding`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

from chatfold.core.cost import Cost
from chatfold.core.flow import Flow
from chatfold.core.live import Sender
from chatfold.core.plan import Outcome, Plan
from chatfold.core.snapshot import Snapshot
from chatfold.core.undo import Fold
from chatfold.driving import adrive, drive
from chatfold.errors import SummarizerError, SummaryError
from chatfold.folding import Draft, Folding
from chatfold.options import Settings
from chatfold.planning import Limits
from chatfold.summarizers import Summarizer, checked_native, is_native, resolve
from chatfold.summarizers.native import Compacted, NativeCompaction
from chatfold.threads import STEPS, NoThreadError, arun
from chatfold.tokens.windows import windows_for

__all__ = ["Made", "NativeDraft", "Work", "backends_for", "put"]

T = TypeVar("T")


class NativeDraft(NamedTuple):
    """What a provider wrote for a plan, and what that takes out, as it is in a store already."""

    plan: Plan[Any]
    made: Compacted
    saved: Fold | None


Made: TypeAlias = "Draft | NativeDraft | Outcome[Any]"
"""What comes of a fold: what can be put in, or why there is nothing."""


class Work(NamedTuple):
    """One fold to write, on a list as it was.

    What it computes is done in threads where it is awaited: it may take a second, and write to a
    store.
    """

    folding: Folding
    snapshot: Snapshot
    limits: Limits
    settings: Settings
    backends: list[Summarizer]
    senders: list[Sender]
    cost: Cost

    def written(self, stopped: Callable[[], bool]) -> Made:
        """Return a summary; nothing more is asked for, or stored, once it is `stopped`."""
        return drive(self._flow(stopped), self.backends, stopped=stopped)

    async def awritten(self, stopped: Callable[[], bool] = lambda: False) -> Made:
        """Return a summary; nothing is stored once it is `stopped`, or its task is cancelled."""
        with _left_behind(stopped) as left:
            flow = await _in_thread(partial(self._flow, left))
            return await adrive(flow, self.backends, step=partial(_in_thread, paid=True))

    def native(self, native: NativeCompaction, stopped: Callable[[], bool] = lambda: False) -> Made:
        """Return what a provider folds itself; one request, which cannot be stopped."""
        plan = self._native_plan(native)
        if not plan:
            return self.folding.nothing(plan)
        told = self.settings.compaction_instructions()
        with self._asking():
            made = native.compact(plan.region, prefix=plan.prefix, instructions=told)
        self._paid(made)
        return self._native_draft(plan, made, stopped)

    async def anative(
        self, native: NativeCompaction, stopped: Callable[[], bool] = lambda: False
    ) -> Made:
        """Return what a provider folds itself; see `native`."""
        plan = await _in_thread(partial(self._native_plan, native))
        if not plan:
            return self.folding.nothing(plan)
        told = self.settings.compaction_instructions()
        with self._asking():
            made = await native.acompact(plan.region, prefix=plan.prefix, instructions=told)
        self._paid(made)
        with _left_behind(stopped) as left:
            return await _in_thread(partial(self._native_draft, plan, made, left), paid=True)

    def _flow(self, stopped: Callable[[], bool]) -> Flow[Draft | Outcome[Any]]:
        return self.folding.draft(
            self.snapshot,
            self.limits,
            self.settings,
            len(self.backends),
            windows_for(self.backends),
            self.senders,
            cost=self.cost,
            stopped=stopped,
        )

    def _native_plan(self, native: NativeCompaction) -> Plan[Any]:
        return self.folding.native_plan(native, self.limits, self.settings, self.snapshot)

    @contextmanager
    def _asking(self) -> Generator[None]:
        """Take down that a provider is asked, and what that has cost where it fails."""
        self.cost.llm_calls = 1  # until it says how many there were
        try:
            yield
        except SummaryError as error:
            self.cost.llm_calls = max(1, error.llm_calls)
            self.cost.add_failed(error)
            raise

    def _paid(self, made: Compacted) -> None:
        """Take down what an answer of a provider has cost."""
        self.cost.llm_calls = made.llm_calls
        self.cost.add(made.usage, made.model)

    def _native_draft(
        self, plan: Plan[Any], made: Compacted, stopped: Callable[[], bool]
    ) -> NativeDraft:
        saved = self.folding.saved_native(plan, made, self.snapshot, stopped)
        return NativeDraft(plan, made, saved)


@contextmanager
def _left_behind(stopped: Callable[[], bool]) -> Generator[Callable[[], bool]]:
    """Give what tells the threads that nobody waits for them any more.

    A task learns that it is cancelled at the next step of its loop; a thread may have written by
    then what was given up, and `stopped` tells it at once.
    """
    left = threading.Event()
    try:
        yield lambda: left.is_set() or stopped()
    except BaseException:
        left.set()
        raise


def backends_for(
    llm: object, settings: Settings, model: str | None, *, asynchronous: bool
) -> tuple[NativeCompaction | None, list[Summarizer]]:
    """Return what summarizes: a backend that takes items, or a chain of those that take prompts.

    Args:
        llm: What the caller gave.
        settings: The options.
        model: The model that a client is to use.
        asynchronous: Whether it is to be awaited.

    Raises:
        TypeError: `llm` cannot answer, or only where it is awaited.
        ValueError: An argument is out of range.
    """
    if is_native(llm):
        return checked_native(llm, settings, model, asynchronous=asynchronous), []
    return None, resolve(
        llm,
        model=model,
        timeout=settings.timeout,
        retries=settings.retries,
        asynchronous=asynchronous,
        request=settings.request if settings.mode == "append" else None,
    )


async def _in_thread(work: Callable[[], T], *, paid: bool = False) -> T:
    """Return what some work returns, done in a thread.

    Args:
        work: The work.
        paid: Whether a model has answered: its answer is not lost for want of a thread.

    Raises:
        RuntimeError: It raised StopIteration, which a coroutine cannot raise.
        SummarizerError: No thread can be had.
    """

    def worked() -> T:
        try:
            return work()
        except StopIteration as error:
            raise RuntimeError("a function of yours raised StopIteration") from error

    try:
        return await arun(worked, STEPS, or_here=paid)
    except NoThreadError as error:
        raise SummarizerError(f"the summary is not written: {error}") from error


def put(folding: Folding, made: Made, cost: Cost, *, at_least: float | None = None) -> Outcome[Any]:
    """Put what was made into the list, in a call of its owner.

    Args:
        folding: The folds of the list.
        made: What was made of it.
        cost: What it has cost.
        at_least: A share of the list as it is now that will do, where the plan wants more.

    Raises:
        StaleHeadError: The head changed since.
        InvalidResultError: The new list would break the provider's rules.
        StoreError: The originals could not be written.
    """
    if at_least is not None and isinstance(made, (Draft, NativeDraft)):
        share, size = min(made.plan.min_gain, at_least), folding.idle("running").tokens_before
        made = made._replace(plan=replace(made.plan, min_gain=share, tokens_before=size))
    if isinstance(made, Draft):
        return folding.put(made, cost)
    if isinstance(made, NativeDraft):
        return folding.commit_native(*made, cost)
    return folding.by_now(made)
