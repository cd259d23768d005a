"""`ChatContext`: the one object that users hold; it delegates, and decides nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from chatfold import tokens
from chatfold.core.calls import Abandon, ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.commit import problems_of
from chatfold.core.flow import Completion, Flow, Written, accept
from chatfold.core.plan import Outcome, Plan
from chatfold.core.reading import Reading
from chatfold.core.spans import cut_points
from chatfold.core.split import Turn, turns
from chatfold.core.views import ItemView, Shape
from chatfold.errors import BusyError, SummaryError
from chatfold.folding import Folding, Limits
from chatfold.options import Settings, SummaryOptions
from chatfold.shapes import SHAPES, shape_named
from chatfold.summarizers import LLM, resolve

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Unpack

    from chatfold.tokens import TokenCount, TokenCounter

__all__ = ["ChatContext"]

ItemT = TypeVar("ItemT")

_log = logging.getLogger("chatfold")

_WAIT: Final = 0.01  # seconds between two looks at whether a running summarization has ended


class ChatContext(Generic[ItemT]):
    """A message list, wrapped: read as turns and tool calls, and folded without breaking it.

    `items` is the caller's own list of provider-native items (dicts, SDK objects, or both). It
    is changed only by `summarize`, `asummarize`, `apply`, a finished `flow`, `undo`, `append`
    and `extend`, inside the call, and never on failure. Other threads may append to it at any
    time.

    Args:
        items: The list to wrap; None makes a new one.
        shape: The provider's way of writing items, by name or as a `Shape`; None finds out.
        model: The agent's own model; decides how tokens are counted and what thinking needs.
        pin: Returns whether an item stays verbatim in every fold.
        counter: Counts tokens; None picks one by `model`.
        server_managed: Whether the provider holds the history (`previous_response_id`,
            `conversation`); folding the local list would then change nothing, and is refused.
        summary_key: Secret by which this application's summaries are recognized and nobody
            else's. Without it, whoever writes the first item could imitate one.
        undo_depth: Number of folds that `undo` can take back.
        **options: Defaults for every summarizing call; see `SummaryOptions`.

    Raises:
        TypeError: `items` is not a list, or an option is not known.
        ValueError: An option is out of range.
        UnknownShapeError: There is no shape of that name.
    """

    def __init__(
        self,
        items: list[ItemT] | None = None,
        *,
        shape: str | Shape | None = None,
        model: str | None = None,
        pin: Callable[[ItemT], bool] | None = None,
        counter: TokenCounter | None = None,
        server_managed: bool = False,
        summary_key: bytes | None = None,
        undo_depth: int = 32,
        **options: Unpack[SummaryOptions],
    ) -> None:
        if items is not None and not isinstance(items, list):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"items must be a list, not {type(items).__name__}: chatfold works on your own "
                "list in place; pass list(items) and send that list to the provider"
            )
        if summary_key == b"":
            raise ValueError("summary_key must not be empty: it would protect nothing")
        if undo_depth < 0:
            raise ValueError(f"undo_depth must be 0 or more, not {undo_depth}")
        self._items: list[ItemT] = [] if items is None else items
        self._model = model
        self._settings = Settings().updated(options)
        self._given_counter = counter
        reading = Reading(
            self._items,
            SHAPES,
            shape=shape_named(shape) if isinstance(shape, str) else shape,
            measure=self._measure,
            summary_key=summary_key,
            report=_report_unknown,
        )
        self._folding = Folding(
            self._items,
            reading,
            measure=self._measure,
            pin=pin,
            model=model,
            server_managed=server_managed,
            summary_key=summary_key,
            undo_depth=undo_depth,
        )

    @property
    def items(self) -> list[ItemT]:
        """The caller's own list."""
        return self._items

    @property
    def shape(self) -> Shape | None:
        """The list's shape; None while the list could still be of several."""
        shape = self._folding.snapshot().shape
        return shape if shape.name else None

    def __repr__(self) -> str:
        shape = self._folding.reading.shape
        return f"ChatContext({len(self._items)} items, shape={shape.name if shape else None!r})"

    def __len__(self) -> int:
        return len(self._items)

    # Reading

    def views(self) -> Sequence[ItemView]:
        """Return the neutral reading of each item, in order."""
        return tuple(self._folding.snapshot().views)

    def tool_calls(self) -> list[ToolCallRecord]:
        """Return one record for each tool call, and for each result without a call, in order."""
        return [call for call in self._folding.snapshot().calls if call.kind != "approval"]

    def count_tool_calls(self, *, completed_only: bool = False) -> int:
        """Return the number of tool calls; with `completed_only`, of those that have a result."""
        return sum(1 for c in self.tool_calls() if c.completed or not completed_only)

    def turns(self) -> list[Turn]:
        """Return the turns after the leading instructions, in order."""
        return turns(self._folding.snapshot().views)

    def cut_points(self, *, lossy: bool = False) -> list[int]:
        """Return every index at which the list may be cut without parting what belongs together.

        Args:
            lossy: Whether to count cuts behind an item that only the provider can read.
        """
        snapshot = self._folding.snapshot()
        return cut_points(snapshot.spans, snapshot.views, lossy=lossy)

    def count_tokens(self) -> TokenCount:
        """Return the size of the list in tokens, and whether the count is exact."""
        return tokens.TokenCount(sum(self._folding.snapshot().sizes), self._counter().exact)

    def check(self) -> list[Problem]:
        """Return what the provider would refuse or lose, with indices and severity."""
        return problems_of(self._folding.snapshot())

    def requirements(self) -> list[Requirement]:
        """Return what a request with this list has to carry besides the list."""
        snapshot = self._folding.snapshot()
        return snapshot.shape.requirements(snapshot.views, model=self._model)

    def request_options(self) -> dict[str, Any]:
        """Return the same as `requirements`, ready to spread into `create(**...)`; mostly {}."""
        merged: dict[str, Any] = {}
        for requirement in self.requirements():
            merged.update(requirement.options)
        return merged

    # Writing

    def append(self, item: ItemT) -> None:
        """Add an item at the end of the list."""
        self._items.append(item)

    def extend(self, items: Iterable[ItemT]) -> None:
        """Add items at the end of the list."""
        self._items.extend(items)

    # Folding

    def plan(
        self,
        *,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        abandon: Abandon | None = None,
        force: bool = False,
        **options: Unpack[SummaryOptions],
    ) -> Plan[ItemT]:
        """Return what a summarization would replace, and the prompt for it; changes nothing.

        Args:
            keep_last_turns: Turns to keep; 0 keeps none but open calls and the user messages of
                an unfinished turn; None leaves it to `keep_tokens`. Default: 2, or None where
                `keep_tokens` is given.
            keep_tokens: Tokens that the tail may hold; it may then be cut inside a turn. With
                both, the shorter tail wins.
            abandon: Open calls to give up: their ids, or a function of a `ToolCallRecord`.
            force: Whether to plan for a head that gave no gain, or was undone, before.
            **options: See `SummaryOptions`.

        Raises:
            ValueError: A limit is negative, or both are None.
            TemplateError: A template does not load or render.
        """
        limits = Limits(keep_last_turns, keep_tokens, abandon, force)
        return self._folding.plan(limits, self._settings.updated(options))

    def apply(self, plan: Plan[ItemT], completion: str | Completion) -> Outcome[ItemT]:
        """Put a summary in place of the plan's head.

        Args:
            plan: What `plan()` returned; the head must still say the same.
            completion: The summary: text, or a `Completion`, which is checked for refusal,
                truncation and the like.

        Raises:
            ValueError: The plan has nothing to do.
            SummaryError: The completion cannot stand as a summary.
            StaleHeadError: The head changed since.
            InvalidResultError: The new list would break the provider's rules.
            BusyError: A summarization of this list is running.
        """
        if plan.prompt is None:
            raise ValueError(f"the plan has nothing to do ({plan.reason}); test it with `if plan:`")
        if isinstance(completion, str):
            completion = Completion(completion)
        written = Written(accept(completion), completion.usage, 0, completion.model)
        with self._alone("apply()"):
            return self._folding.commit(plan, written, self._folding.note(self._settings))

    def flow(
        self,
        *,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        abandon: Abandon | None = None,
        force: bool = False,
        **options: Unpack[SummaryOptions],
    ) -> Flow[Outcome[ItemT]]:
        """Return a summarization for a host that makes the model calls itself.

        The arguments and errors are those of `plan`; sending the last completion changes the
        list.
        """
        limits = Limits(keep_last_turns, keep_tokens, abandon, force)
        return self._folding.flow(limits, self._settings.updated(options), 1)

    def summarize(
        self,
        llm: LLM,
        *,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        model: str | None = None,
        abandon: Abandon | None = None,
        force: bool = False,
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
        settings = self._settings.updated(options)
        backends = resolve(
            llm, model=model, timeout=settings.timeout, retries=settings.retries, asynchronous=False
        )
        limits = Limits(keep_last_turns, keep_tokens, abandon, force)
        started = time.perf_counter()
        if not self._folding.running.acquire(blocking=False):
            return self._folding.idle("busy")
        try:
            flow = self._folding.flow(limits, settings, len(backends))
            while flow.request is not None:
                request = flow.request
                try:
                    answer = backends[request.backend].complete(request.prompt)
                except SummaryError as error:
                    flow.fail(error)
                else:
                    flow.send(answer)
            return _timed(flow, started)
        finally:
            self._folding.running.release()

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
        **options: Unpack[SummaryOptions],
    ) -> Outcome[ItemT]:
        """Replace the older part of the list with one summary item, without blocking the loop.

        Cancelling it leaves the list untouched.

        Args:
            llm: As for `summarize`; async clients and functions too.
            wait: Whether to wait for a summarization of this list that is running, instead of
                answering `busy`.
            keep_last_turns: See `plan`.
            keep_tokens: See `plan`.
            model: The model that a client is to use.
            abandon: See `plan`.
            force: See `plan`.
            **options: See `SummaryOptions`.

        Returns:
            What happened, and why.

        Raises:
            The same as `summarize`.
        """
        settings = self._settings.updated(options)
        backends = resolve(
            llm, model=model, timeout=settings.timeout, retries=settings.retries, asynchronous=True
        )
        limits = Limits(keep_last_turns, keep_tokens, abandon, force)
        started = time.perf_counter()
        if not await self._turn_to_run(wait):
            return self._folding.idle("busy")
        try:
            flow = self._folding.flow(limits, settings, len(backends))
            while flow.request is not None:
                request = flow.request
                try:
                    answer = await backends[request.backend].acomplete(request.prompt)
                except SummaryError as error:
                    flow.fail(error)
                else:
                    flow.send(answer)
            return _timed(flow, started)
        finally:
            self._folding.running.release()

    def undo(self) -> Outcome[ItemT]:
        """Put back the originals of the latest fold, object for object; keep what came since.

        Several in a row walk back, up to `undo_depth`.

        Raises:
            BusyError: A summarization of this list is running.
        """
        with self._alone("undo()"):
            return self._folding.undo()

    # What only this class needs

    def _counter(self) -> TokenCounter:
        """Return what counts tokens, made at the first count: a table takes time to read."""
        if self._given_counter is None:
            self._given_counter = tokens.counter_for(self._model)
        return self._given_counter

    def _measure(self, views: Sequence[ItemView]) -> list[int]:
        return tokens.item_tokens(views, self._counter())

    @contextmanager
    def _alone(self, call: str) -> Generator[None, None, None]:
        """Hold off other changes of the list; a summarization that runs is not disturbed."""
        if not self._folding.running.acquire(blocking=False):
            raise BusyError(
                f"{call} cannot change the list while a summary of it is being written; call it "
                "when summarize() has returned"
            )
        try:
            yield
        finally:
            self._folding.running.release()

    async def _turn_to_run(self, wait: bool) -> bool:
        """Return whether a summarization may start now, waiting for another one if asked."""
        lock = self._folding.running
        if lock.acquire(blocking=False):
            return True
        if not wait:
            return False
        import asyncio

        # The other one may run in another thread or loop, where no event of this loop reaches.
        while not lock.acquire(blocking=False):  # noqa: ASYNC110
            await asyncio.sleep(_WAIT)
        return True


def _report_unknown(index: int, view: ItemView) -> None:
    if view.shape:
        _log.warning("item %d holds content of an unknown type; it is kept as it is", index)
    else:
        _log.warning(
            "item %d is of no known shape (type %r); it is kept as it is", index, view.type or None
        )


def _timed(flow: Flow[Outcome[ItemT]], started: float) -> Outcome[ItemT]:
    """Return the outcome of a flow that has ended, with its duration."""
    assert flow.outcome is not None
    return replace(flow.outcome, seconds=time.perf_counter() - started)
