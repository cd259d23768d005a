"""The calls of one run and how each ended: what the drivers fill in, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.render import TemplateRenderer, filled
from chatfold.core.views import Shape
from chatfold.errors import ShapeError
from chatfold.threads import check_timeout
from chatfold.tools._dispatch import Outcome, Read, Target, Tool, checked_tools, target
from chatfold.tools._lookup import HANDLED, Lookup
from chatfold.tools._returned import Content, Reader
from chatfold.tools._texts import KINDS, Failure, cut, sendable

__all__ = ["Batch", "Job", "Run"]


class Run(NamedTuple):
    """What became of a batch of calls.

    Attributes:
        answers: One for each call that a tool can answer, in call order.
        not_handled: The calls that only the host or the provider can answer, in call order; none
            of them was run.
    """

    answers: tuple[Answer, ...]
    not_handled: tuple[ToolCallRecord, ...]


@dataclass(slots=True, eq=False)
class Job:
    """One call on its way to an answer."""

    call: ToolCallRecord
    started: bool = False
    answer: Answer | None = None


class Batch:
    """The calls of one run; a driver asks for each one's target and settles it.

    Args:
        calls: Open calls, in call order.
        tools: The tools by name.
        listed: All calls of the list, these too: they tell which tools a plain name may mean.
        shape: Writes the results later; a call that it cannot answer is not run.
        templates: Has the words for failures.
        model: The agent's model, None where it is not known.
        timeout: Seconds that one call may take; None for no limit.
        asynchronous: Whether a tool's asynchronous side is preferred.

    Attributes:
        jobs: The calls that are run, in call order.
        timeout: As given.
        interrupt: The KeyboardInterrupt that a tool raised; the run ends with it.

    Raises:
        TypeError: `tools` is not a mapping of names to what can be called.
        ValueError: `timeout` is out of range.
        TemplateError: The template for failures does not render.
    """

    def __init__(
        self,
        calls: Sequence[ToolCallRecord],
        tools: Mapping[str, Tool],
        *,
        listed: Sequence[ToolCallRecord],
        shape: Shape,
        templates: TemplateRenderer,
        model: str | None,
        timeout: float | None,
        asynchronous: bool,
    ) -> None:
        check_timeout(timeout)
        self.interrupt: KeyboardInterrupt | None = None
        self._tools = Lookup(checked_tools(tools), listed)
        self._templates = templates
        self._reader = Reader(shape, model, templates)
        self.timeout = timeout
        self._asynchronous = asynchronous
        for kind in KINDS:  # a broken template is told now, not when a tool has already acted
            self._words("tool", Failure(kind, "detail"))
        answerable = [call.kind in HANDLED and _can_answer(shape, call) for call in calls]
        pairs = list(zip(calls, answerable, strict=True))
        self.jobs = [Job(call) for call, handled in pairs if handled]
        self._not_handled = tuple(call for call, handled in pairs if not handled)

    def target(self, job: Job) -> Target | Failure | KeyboardInterrupt:
        """Return what is to be called for a job, which counts as started from now on."""
        job.started = True
        tool = self._tools.of(job.call)
        return target(job.call, tool, asynchronous=self._asynchronous)

    def read(self, job: Job) -> Read:
        """Return what reads what the tool of a job returns."""
        return partial(self._reader.read, call=job.call)

    def settle(self, job: Job, outcome: Outcome) -> None:
        """Take down how a job ended; what comes after its first answer is left out."""
        if isinstance(outcome, KeyboardInterrupt):
            self.interrupt = outcome
        elif job.answer is None:
            job.answer = self._answer(job, outcome)

    def run(self) -> Run:
        """Return what became of the calls; those that have not ended were interrupted."""
        for job in self.jobs:
            self.settle(job, Failure("interrupted" if job.started else "not_started"))
        answers = tuple(job.answer for job in self.jobs if job.answer is not None)
        return Run(answers, self._not_handled)

    def _answer(self, job: Job, outcome: Content | Failure) -> Answer:
        if isinstance(outcome, Content):
            return Answer(job.call, sendable(outcome.text), blocks=outcome.blocks)
        try:
            text = self._words(job.call.qualified_name or "", outcome)
        except Exception:  # a caller's template; its failure must not cost the other calls theirs
            text = ""
        # A provider may refuse a failure without words.
        return Answer(job.call, sendable(text or outcome.detail or outcome.kind), failed=True)

    def _words(self, tool: str, failure: Failure) -> str:
        words = filled(
            self._templates,
            "tool_error.jinja",
            kind=failure.kind,
            tool=cut(tool),
            detail=failure.detail if failure.whole else cut(failure.detail),
            known=cut(", ".join(sorted(self._tools.tools))),
            seconds=f"{self.timeout or 0:g}",
        )
        return words.strip()


def _can_answer(shape: Shape, call: ToolCallRecord) -> bool:
    """Return whether a text can answer the call: not where it has no id, or is another shape's."""
    try:
        shape.result_item(call, "")
    except ShapeError:
        return False
    return True
