"""The two drivers of a summarization: they ask the summarizers what the flow wants asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import CancelledError
from typing import TypeVar

from chatfold.core.flow import Flow
from chatfold.errors import SummaryError
from chatfold.summarizers import Summarizer, asks_model

__all__ = ["adrive", "drive"]

OutcomeT = TypeVar("OutcomeT")


def drive(
    flow: Flow[OutcomeT],
    backends: Sequence[Summarizer],
    *,
    stopped: Callable[[], bool] | None = None,
) -> OutcomeT:
    """Run a flow to its end; return its outcome.

    Args:
        flow: The summarization.
        backends: The summarizers of its fallback chain.
        stopped: Returns whether nothing more is to be asked.

    Raises:
        CancelledError: It is stopped.
        The same as `Flow.send`.
    """
    while flow.request is not None:
        if stopped is not None and stopped():
            raise CancelledError
        backend = backends[flow.request.backend]
        request = flow.asked(by_model=asks_model(backend))
        try:
            answer = backend.complete(request.prompt)
        except SummaryError as error:
            flow.fail(error)
        else:
            flow.send(answer)
    assert flow.outcome is not None
    return flow.outcome


async def adrive(
    flow: Flow[OutcomeT],
    backends: Sequence[Summarizer],
    *,
    step: Callable[[Callable[[], None]], Awaitable[None]],
) -> OutcomeT:
    """Run a flow to its end without blocking the event loop while a model answers.

    Args:
        flow: The summarization.
        backends: The summarizers of its fallback chain.
        step: Runs what the flow computes between two answers, such as `asyncio.to_thread`.

    Returns:
        The flow's outcome.

    Raises:
        The same as `Flow.send`.
    """
    while flow.request is not None:
        backend = backends[flow.request.backend]
        request = flow.asked(by_model=asks_model(backend))
        try:
            answer = await backend.acomplete(request.prompt)
        except SummaryError as error:
            go_on = flow.unanswered(error)
        else:
            go_on = flow.answered(answer)
        await step(go_on)
    assert flow.outcome is not None
    return flow.outcome
