"""Begins folds in the background: in a task where an event loop runs, else in a thread.

Not here: what becomes of one (`background`), and when to begin one (`each_turn`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from chatfold.background import YET_TO_ANSWER, BackgroundFold, OverBy, Then
from chatfold.core.cost import Cost
from chatfold.core.plan import Outcome
from chatfold.folding import Folding
from chatfold.options import Settings
from chatfold.planning import Limits
from chatfold.state import ListState
from chatfold.summarizers import senders
from chatfold.work import Work, backends_for

__all__ = ["begin", "in_loop"]


def begin(
    state: ListState,
    folding: Folding,
    llm: object,
    limits: Limits,
    settings: Settings,
    model: str | None,
    then: Then,
    known: Callable[[BackgroundFold[Any]], None],
    cost: Cost,
    looked_through: bool = False,
    over_by: OverBy | None = None,
    *,
    instead: Outcome[Any] | None = None,
    earlier: BackgroundFold[Any] | None = None,
) -> BackgroundFold[Any]:
    """Return a fold that has begun: in a task where an event loop runs here, else in a thread.

    Args:
        state: The list.
        folding: Its folds.
        llm: What writes the summary.
        limits: How much to keep.
        settings: The options.
        model: The model that a client is to use.
        then: Is told the outcome, in the call that settles the fold, and returns it.
        known: Takes down that the fold has begun; nobody could end it otherwise.
        cost: Takes down what it costs.
        looked_through: Whether the caller has looked through the list a moment ago.
        over_by: Says by how much the list is over the window; asked now, as any gain will do
            then, and when the fold is put in, as one that brings the list back below it will.
        instead: Why nothing is to be begun, if so.
        earlier: The latest fold of the list in the background: while a model that it asked is at
            work, this one does not begin, also where that one was given up.

    Raises:
        TypeError: `llm` cannot answer, or only in an event loop.
        ValueError: An argument is out of range.
    """
    inside = in_loop()
    if over_by is not None and over_by() is not None:
        settings = replace(settings, min_gain=0.0)
    fold: BackgroundFold[Any] = BackgroundFold(state, folding, then, cost, over_by)
    native, backends = backends_for(llm, settings, model, asynchronous=inside)
    sent = senders(backends, settings) if native is None else []
    if instead is not None:
        fold.refuse(instead)
        return fold
    try:
        if earlier is not None and earlier.settled and earlier.working and earlier.cost.llm_calls:
            fold.refuse(then(replace(folding.idle("busy"), remedy=YET_TO_ANSWER)))
            return fold
        if not fold.hold():
            fold.refuse(then(folding.idle("busy")))
            return fold
        snapshot = state.snapshot(limits.abandon, looked_through=looked_through)
        work = Work(folding, snapshot, limits, settings, backends, sent, fold.cost)
        if inside:
            fold.run_in_task(partial(work.anative, native) if native else work.awritten)
        else:
            fold.run_in_thread(partial(work.native, native) if native else work.written)
        known(fold)
    except BaseException:  # an interrupt may come when somebody writes it already
        fold.drop()
        raise
    return fold


def in_loop() -> bool:
    """Return whether an event loop runs here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
