"""What a policy-driven call decides at each turn, and what it learns from how the last one went.

Not here: when to fold (`policy`), how large a request is (`loads`), when a fold that failed is
tried again (`waits`), the fold itself (`folding`, `background`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from chatfold.background import YET_TO_ANSWER, BackgroundFold, OverBy, Then
from chatfold.core.cost import Cost
from chatfold.core.plan import Outcome
from chatfold.core.scalars import check_flags
from chatfold.errors import ChatfoldError, StoreError, SummaryError
from chatfold.events import Asked, Attempt, Hook
from chatfold.folding import Folding
from chatfold.loads import Loads
from chatfold.policy import Load, Policy
from chatfold.state import ListState
from chatfold.waits import Tried, Waits

__all__ = ["LAST_RESORT", "Ask", "Call", "EachTurn", "OnError", "check_ways", "told"]

_log = logging.getLogger("chatfold")

OnError: TypeAlias = Literal["report", "raise"]
"""Whether a failure is reported in the outcome, or raised."""

_ON_ERROR: Final = get_args(OnError)

Known: TypeAlias = Callable[[BackgroundFold[Any]], None]
"""Takes down that a fold has begun in the background."""

_NOTHING: Final = frozenset(
    {
        "too_few_turns",
        "nothing_to_summarize",
        "blocked_by_open_calls",
        "blocked_by_opaque",
        "unchanged_head",
        "server_managed",
        "no_gain",
    }
)

LAST_RESORT: Final = "extractive"
"""What summarizes where the model cannot, and the list no longer fits."""


class Call(NamedTuple):
    """One policy-driven call.

    Attributes:
        hook: Is told of what happens, and may forbid it.
        on_error: Whether a failure is raised.
        begin: Begins a fold in the background, and takes what tells of its outcome, what takes
            down that it has begun and what it costs, whether the list was looked through a moment
            ago, and what says by how much the list is over the window; None where the call may
            wait for the model.
        asked: Says who is asked for the summary.
        wanted: What is to be kept, and how; where nothing could be folded, that holds for this.
        keep: The tokens of it; None for what the policy keeps.
    """

    hook: Hook | None = None
    on_error: OnError = "report"
    begin: Callable[[Then, Known, Cost, bool, OverBy], BackgroundFold[Any]] | None = None
    asked: Asked | None = None
    wanted: object = None
    keep: int | None = None


class _Said(NamedTuple):
    """What the policy said when it was asked in this turn.

    Attributes:
        load: Of what.
        due: Whether to fold.
        by_when: Whether that was its function's yes alone: it holds for the turn.
    """

    load: Load
    due: bool
    by_when: bool


@dataclass(frozen=True, slots=True)
class Ask:
    """A fold that is to be made now.

    Attributes:
        any_gain: Whether it is to be made for any gain: the request would be refused without it.
        cost: Takes down what it costs.
        last_resort: Whether it is to be made without the caller's summarizer.
    """

    any_gain: bool
    cost: Cost
    last_resort: bool = False


class EachTurn:
    """Asks the policy whether to fold now, and keeps what the next answer depends on.

    Args:
        policy: When to fold.
        state: The list.
        folding: Its folds.

    Attributes:
        loads: How large a request is, and what is kept of the list.
        waits: When a fold that failed may be tried again.

    Raises:
        ValueError: The policy and the model do not go together.
    """

    def __init__(self, policy: Policy, state: ListState, folding: Folding) -> None:
        self.policy = policy
        self.background: BackgroundFold[Any] | None = None
        self.checked: tuple[object, ...] | None = None  # what summarizes, if it is known to be able
        self.loads = Loads(policy, state)
        self.waits = Waits(self.loads.head, policy.backoff)
        self._state = state
        self._folding = folding
        self._said: _Said | None = None  # by the policy, in this turn

    def learn(self, outcome: Outcome[Any], tried: Tried | None = None) -> None:
        """Learn from how a fold went, when to try the next one.

        Args:
            outcome: How it went.
            tried: What it was tried with; None for the list as it is now.
        """
        if outcome.changed:
            self.waits.folded(by_model=True)
            self.loads.note_fold(outcome)
        elif _failed(outcome):
            self.waits.failed(in_store=isinstance(outcome.error, StoreError))
        elif outcome.reason in _NOTHING:
            self.waits.found_nothing(outcome, tried or self._tried(Call()))

    def steps(self, call: Call) -> Generator[Ask, Outcome[Any], Outcome[Any]]:
        """Yield what is to be folded now; return what happened.

        The driver sends the outcome of what it was asked for, or throws the error.
        """
        # The worker reads what it folds; the turns beside it are not to wait for that.
        self._state.reading.reads_ahead = call.begin is None
        self._state.reading.lets_go = call.begin is None or not self._folding.swaps.holds_originals
        fold = self.background
        if fold is not None:
            outcome, new = fold.settle()
            if not fold.settled:
                return self.with_limit(outcome)
            if not fold.working:
                self._leave(fold)
            if new:
                return (yield from self._ended(outcome, call))
        try:
            idle = self._idle(call.begin is not None, call.wanted)
        finally:  # the next call asks anew
            self._said = None
        if idle is not None:
            return idle
        with Attempt(call.hook, self._folding.key, call.asked) as attempt:
            if not attempt.allowed(self._state.tokens):
                return self.with_limit(self._folding.idle("vetoed"))
            if self.waits.waits():
                if not self._at_last_resort(self.loads.now()):  # another call failed meanwhile
                    return self.report(self._waiting(), attempt)
                return (yield from self._without_model(self._waiting(), call, attempt))
            tried = self._tried(call)  # what comes in the meantime is no part of the plan
            try:
                if call.begin is not None:
                    then = partial(self.learned, attempt=attempt, tried=tried)
                    begin = partial(call.begin, then)
                    return self._begun(begin, attempt.cost, call.hook is None)  # it may edit
                outcome = yield Ask(self.loads.now().over_window, attempt.cost)
            except ChatfoldError as error:
                outcome = self._folding.failed(error, attempt.cost)
            except Exception as error:  # of the caller's own `post_process`, say, after a paid call
                self.learned(self._folding.failed(error, attempt.cost), attempt, tried)
                raise
            outcome = self.learned(outcome, attempt, tried)
        return (yield from self._ended(outcome, call))

    def hold(self, fold: BackgroundFold[Any]) -> None:
        """Take down that a fold is being written in the background."""
        with self._state.lock:
            self.background = fold

    def _leave(self, fold: BackgroundFold[Any]) -> None:
        """Take down that nobody writes a fold any more; the next one may have begun since."""
        with self._state.lock:
            if self.background is fold:
                self.background = None

    def learned(
        self, outcome: Outcome[Any], attempt: Attempt, tried: Tried | None = None
    ) -> Outcome[Any]:
        """Learn from how a fold went, and tell of it; return its outcome, complete.

        To be called once, as soon as that is known: what a provider reports next may be of the
        list before it.
        """
        self.learn(outcome, tried)
        return self.report(outcome, attempt)

    def report(self, outcome: Outcome[Any], attempt: Attempt) -> Outcome[Any]:
        """Tell the log and the hook of a fold that was tried; return its outcome, complete."""
        return told(self.with_limit(outcome), attempt)

    def with_limit(self, outcome: Outcome[Any]) -> Outcome[Any]:
        """Return an outcome that says whether the list is larger than the policy allows."""
        # What was just counted need not be counted again in this turn.
        over = self.loads.is_over_limit(outcome.tokens_after)
        return replace(outcome, over_limit=True) if over else outcome

    def is_due(self, *, background: bool, again: bool = False) -> bool:
        """Return whether a call would begin a fold now, if nobody forbids it.

        It is taken to keep what the one before it was to. The call itself takes the policy's word
        from here: `when` is asked once in a turn.

        Args:
            background: Whether that call is one that never waits.
            again: Whether the same turn has asked before: what the policy said then holds.
        """
        if not again:
            self._said = None
        return self.background is None and self._idle(background, None) is None

    def _is_due(self, load: Load, share: float) -> bool:
        """Return what the policy says; see `Policy.due`. In a turn it is asked once of a load."""
        said = self._said
        if said is None or not (said.by_when or said.load == load):
            due = self.policy.due(load, share=share)
            by_when = due and not self.policy.is_reached(load, share=share)
            self._said = said = _Said(load, due, by_when)
        return said.due

    def _idle(
        self, background: bool, wanted: object, *, looked_through: bool = False
    ) -> Outcome[Any] | None:
        """Return why nothing is to be done now, None where something is.

        Where something is, the list is looked through first: an old item may have been edited.
        What the policy's numbers say may be otherwise then; `when` said yes to the turn.
        """
        extent = self._state.extent()
        load = self.loads.of(extent)
        share = self.policy.background_at if background else 1.0
        if not self._is_due(load, share):
            return self._folding.idle("below_trigger", extent.tokens)
        if self.waits.waits() and not self._at_last_resort(load):
            return self.with_limit(self._waiting())
        if not load.over_window:
            reach = self._state.reach
            said = self.waits.still_nothing(extent.tokens, wanted, self._what_ends_it, reach)
            if said is not None:
                return self.with_limit(said)
        if background and (fold := self.background) is not None:
            running = self._folding.idle("running")
            if fold.settled:
                running = replace(running, remedy=YET_TO_ANSWER)
            return self.with_limit(running)
        counted = self._state.extent()
        if looked_through or self._state.extent_looked_through() == counted:
            return None
        return self._idle(background, wanted, looked_through=True)

    def _tried(self, call: Call) -> Tried:
        """Return what a call tries to fold the list with, as it is now."""
        keep = self.loads.kept_tokens if call.keep is None else call.keep
        size, reach = self._state.extent().tokens, self._state.reach(keep)
        return Tried(call.wanted, keep, size, reach, self._what_ends_it())

    def _what_ends_it(self) -> tuple[object, ...]:
        """Return what may end that nothing can be folded, besides what comes.

        A turn that was opened may end one that was kept whole, a result may end a wait.
        """
        return self._state.extent().turns, self._state.waiting_calls()

    def _begun(
        self,
        begin: Callable[[Known, Cost, bool, OverBy], BackgroundFold[Any]],
        cost: Cost,
        looked_through: bool,
    ) -> Outcome[Any]:
        """Begin a fold in the background; return that it has begun, or why it has not."""
        begun: list[BackgroundFold[Any]] = []

        def known(fold: BackgroundFold[Any]) -> None:
            begun.append(fold)
            self.hold(fold)

        try:
            fold = begin(known, cost, looked_through, self.loads.over_by)
            if fold.settled:  # it could not even begin
                return fold.apply_if_ready()
            return self.with_limit(self._folding.idle("started"))
        except BaseException:  # its end is told now, so it is not to come later
            for fold in begun:
                fold.drop()
            raise

    def _ended(
        self, outcome: Outcome[Any], call: Call
    ) -> Generator[Ask, Outcome[Any], Outcome[Any]]:
        """Help where a fold failed and the list no longer fits; return what happened in the end."""
        in_vain = _failed(outcome) or outcome.reason == "unchanged_head"  # now, or when last tried
        if in_vain and self._at_last_resort(self.loads.now()):
            another = Attempt(call.hook, self._folding.key)
            return (yield from self._without_model(outcome, call, another))
        return _raised(outcome, call)

    def _without_model(
        self, failed: Outcome[Any], call: Call, attempt: Attempt
    ) -> Generator[Ask, Outcome[Any], Outcome[Any]]:
        """Fold without a model; the outcome has the error of the model's failure and its cost."""
        attempt.asks_no_model()
        try:
            outcome = yield Ask(True, attempt.cost, last_resort=True)
        except ChatfoldError as error:
            outcome = self._folding.failed(error, attempt.cost)
        if outcome.changed:  # the model is left alone as before: it was not asked
            self.waits.folded(by_model=False)
            self.loads.note_fold(outcome)
        else:
            self.waits.failed_without_model()
        outcome = replace(
            self.report(outcome, attempt),
            error=failed.error or outcome.error or (_too_long(failed) if outcome.changed else None),
            usage=failed.usage,
            llm_calls=failed.llm_calls + outcome.llm_calls,
            seconds=failed.seconds + outcome.seconds,
            model=outcome.model or failed.model,
        )
        return _raised(outcome, call)

    def is_engaged(self) -> bool:
        """Return whether a fold is under way, or is not to be tried again yet."""
        return self.background is not None or self.waits.waits()

    def _at_last_resort(self, load: Load) -> bool:
        """Return whether the list has to get smaller now, with or without a model."""
        return load.over_window and not self.waits.waits_without_model()

    def _waiting(self) -> Outcome[Any]:
        return replace(self._folding.idle("unchanged_head"), remedy=self.waits.remedy())


def check_ways(on_error: object, background: object = False) -> None:
    """Check how a policy-driven call is to go.

    Raises:
        TypeError: `background` is neither true nor false.
        ValueError: `on_error` is none of its words.
    """
    if on_error not in _ON_ERROR:
        raise ValueError(f"on_error must be one of {', '.join(_ON_ERROR)}, not {on_error!r}")
    check_flags(background=background)


def _failed(outcome: Outcome[Any]) -> bool:
    """Return whether a summary was asked for and came to nothing, of a model's or without one."""
    was_asked = outcome.llm_calls > 0 or outcome.model is not None
    return outcome.error is not None or (outcome.reason == "no_gain" and was_asked)


def _too_long(failed: Outcome[Any]) -> ChatfoldError | None:
    """Return what was wrong with a model's summary that came to nothing, as an error."""
    return (
        SummaryError("the model's summary was too long to save anything")
        if _failed(failed)
        else None
    )


def _raised(outcome: Outcome[Any], call: Call) -> Outcome[Any]:
    """Return an outcome; or raise its error, where the caller wants that.

    Raises:
        BaseException: What stopped the fold.
    """
    if call.on_error == "raise" and outcome.error is not None and not outcome.changed:
        raise outcome.error
    return outcome


def told(outcome: Outcome[Any], attempt: Attempt) -> Outcome[Any]:
    """Tell the log and the caller's hook of a fold that was tried; return its outcome.

    The log says what happened in numbers, and shows nothing of the conversation.
    """
    if outcome.changed:
        # Why append mode was not used may quote what a provider said of the list.
        said = replace(outcome, fell_back="see the outcome") if outcome.fell_back else outcome
        _log.info("%s", said)
    elif outcome.error is not None:
        _log.warning("not summarized (%s): %s", outcome.reason, type(outcome.error).__name__)
    attempt.ended(outcome)
    return outcome
