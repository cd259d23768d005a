"""Runs a batch of calls: one after another, or several at a time on an event loop.

`asyncio` is imported inside of functions, so that `import chatfold` does not wait for it.
"""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chatfold.core.calls import ToolCallRecord
from chatfold.core.render import TemplateRenderer
from chatfold.core.scalars import check_whole
from chatfold.core.views import Shape
from chatfold.threads import NoThreadError, begin
from chatfold.tools._batch import Batch, Job, Run
from chatfold.tools._dispatch import Outcome, Target, Tool, awaited, called
from chatfold.tools._texts import Failure, described

if TYPE_CHECKING:
    import asyncio

__all__ = ["arun_calls", "run_calls"]

T = TypeVar("T")

_GRACE: Final = 1.0  # seconds that a cancelled coroutine has to end; one that goes on is left alone


def run_calls(
    calls: Sequence[ToolCallRecord],
    tools: Mapping[str, Tool],
    *,
    shape: Shape,
    templates: TemplateRenderer,
    deliver: Callable[[Run], object],
    listed: Sequence[ToolCallRecord] | None = None,
    model: str | None = None,
    timeout: float | None = None,
) -> Run:
    """Run open calls one after another, and return one answer for each.

    Whatever a tool does is its own call's failure, and the others keep their results. Only a
    KeyboardInterrupt ends the run: what has finished keeps its result, the other calls are
    answered as interrupted, and it is raised again when `deliver` has returned.

    Without a time limit a tool runs in the caller's thread, an asynchronous one on a loop of its
    own (in a thread of its own where a loop already runs here). With one, each runs in a daemon
    thread that sees the caller's context variables. A thread cannot be stopped: a synchronous
    tool that is out of time goes on there, and its result is dropped.

    Args:
        calls: Open calls, in call order.
        tools: The tools by name.
        shape: Is to write the results; a call that it cannot answer is not run.
        templates: Has the words for failures, `tool_error.jinja`, and for media that a result
            does not hold, `tool_medium.jinja`.
        deliver: Called once, with what this function returns, before anything that interrupted
            the run is raised. What it raises itself is raised in its place.
        listed: All calls of the list, where it has more than these: they tell which tools a plain
            name may mean.
        model: The agent's model, where it is known: some take no media in results.
        timeout: Seconds that one call may take; None for no limit.

    Raises:
        TypeError: `tools` is not a mapping of names to what can be called; nothing was run.
        ValueError: `timeout` is out of range; nothing was run.
        TemplateError: The template for failures does not render; nothing was run.
    """
    batch = Batch(
        calls,
        tools,
        listed=calls if listed is None else listed,
        shape=shape,
        templates=templates,
        model=model,
        timeout=timeout,
        asynchronous=False,
    )
    try:
        for job in batch.jobs:
            work = partial(_finish, batch, job)
            if timeout is None:
                work()
            else:
                try:
                    _start(work).result(timeout)
                except TimeoutError:
                    batch.settle(job, Failure("timeout"))
                except NoThreadError:
                    batch.settle(job, Failure("no_thread"))
            if batch.interrupt is not None:
                raise batch.interrupt
    finally:
        run = batch.run()
        deliver(run)
    return run


async def arun_calls(
    calls: Sequence[ToolCallRecord],
    tools: Mapping[str, Tool],
    *,
    shape: Shape,
    templates: TemplateRenderer,
    deliver: Callable[[Run], object],
    listed: Sequence[ToolCallRecord] | None = None,
    model: str | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - a limit for each call, not for all of this
    max_concurrency: int = 8,
) -> Run:
    """Run open calls concurrently on asyncio, and return one answer for each, in call order.

    As `run_calls`, but for this: several calls run at a time, each in a task of its own; a tool
    that is no coroutine function is called in a daemon thread, with the context variables of the
    caller. If this is cancelled, so are the tools that run, and the cancellation is raised again
    when `deliver` has returned.

    Args:
        calls: Open calls, in call order.
        tools: The tools by name.
        shape: Is to write the results; a call that it cannot answer is not run.
        templates: Has the words for failures, `tool_error.jinja`, and for media that a result
            does not hold, `tool_medium.jinja`.
        deliver: Called once, with what this function returns, before anything that interrupted
            the run is raised. What it raises itself is raised in its place.
        listed: All calls of the list, where it has more than these: they tell which tools a plain
            name may mean.
        model: The agent's model, where it is known: some take no media in results.
        timeout: Seconds that one call may take from its start; None for no limit.
        max_concurrency: Largest number of calls that run at a time. A thread that is out of time
            goes on and is not counted.

    Raises:
        TypeError: `tools` is not a mapping of names to what can be called; nothing was run.
        ValueError: `timeout` or `max_concurrency` is out of range; nothing was run.
        TemplateError: The template for failures does not render; nothing was run.
    """
    import asyncio

    check_whole("max_concurrency", max_concurrency, 1)
    batch = Batch(
        calls,
        tools,
        listed=calls if listed is None else listed,
        shape=shape,
        templates=templates,
        model=model,
        timeout=timeout,
        asynchronous=True,
    )
    waiting = iter(batch.jobs)
    crew: list[asyncio.Task[None]] = []

    async def work() -> None:
        for job in waiting:
            await _settle(batch, job, _attempt(batch, job))
            if batch.interrupt is not None:
                for member in crew:
                    member.cancel()
                return

    try:
        async with asyncio.TaskGroup() as group:
            hands = range(min(max_concurrency, len(batch.jobs)))
            crew.extend(group.create_task(work()) for _ in hands)
    finally:
        run = batch.run()
        deliver(run)
    if batch.interrupt is not None:
        raise batch.interrupt
    return run


def _finish(batch: Batch, job: Job) -> None:
    """Run one call to its end and settle it."""
    target = batch.target(job)
    outcome = called(target, batch.read(job)) if isinstance(target, Target) else target
    if not inspect.isawaitable(outcome):
        batch.settle(job, outcome)
        return
    work = partial(_run_loop, batch, job, outcome)
    if not _in_loop():
        work()
        return
    try:
        started = _start(work)
    except NoThreadError as error:
        if inspect.iscoroutine(outcome):
            outcome.close()  # none of it has been run
        # A plain function that returned what is to be awaited may have done something.
        untouched = isinstance(target, Target) and target.asynchronous
        failure = Failure("no_thread") if untouched else Failure("raised", described(error))
        batch.settle(job, failure)
    else:
        started.result()


def _run_loop(batch: Batch, job: Job, result: Awaitable[Any]) -> None:
    """Wait for what an asynchronous tool returned, on a new loop, and settle its call."""
    import asyncio

    # Given a factory, a runner leaves the thread's own current loop as it was.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(_settle(batch, job, awaited(result, batch.read(job))))


def _in_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _attempt(batch: Batch, job: Job) -> Outcome:
    """Return how one call ended; what may block is called in a thread."""
    import asyncio

    target = batch.target(job)
    if not isinstance(target, Target):
        return target
    read = batch.read(job)
    if target.asynchronous:
        outcome = called(target, read)
    else:
        try:
            started = _start(partial(called, target, read))
        except NoThreadError:
            return Failure("no_thread")
        outcome = await asyncio.wrap_future(started)
    return await awaited(outcome, read) if inspect.isawaitable(outcome) else outcome


async def _settle(batch: Batch, job: Job, work: Coroutine[Any, Any, Outcome]) -> None:
    """Run `work` as a task, for as long as a call may take, and settle the job by it.

    A job stays unsettled where this itself is cancelled while the task runs.
    """
    import asyncio

    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=batch.timeout)
        if not task.done():
            batch.settle(job, Failure("timeout"))
    finally:
        if task.done():
            # A tool may cancel the task that it runs in, and return nevertheless.
            batch.settle(job, Failure("interrupted") if task.cancelled() else task.result())
        else:
            task.cancel()
            # Not awaited: a tool that does not heed the cancellation would hold up the others.
            await asyncio.wait({task}, timeout=_GRACE)


def _start(function: Callable[[], T]) -> Future[T]:
    """Call `function` in a daemon thread that sees the caller's context variables.

    A daemon thread, because a tool that has been given up must not keep the program from ending,
    as the pool behind `asyncio.to_thread` would.

    Raises:
        NoThreadError: None can be had; it was not called.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # whoever stops waiting for it cannot cancel it
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(function))
        except BaseException as error:
            future.set_exception(error)

    begin(work, "chatfold-tool")
    return future
