"""`ChatContext`: the one object that users hold; it delegates, and decides nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar, get_args

from chatfold.core.calls import Abandon
from chatfold.core.flow import Completion, Flow
from chatfold.core.plan import Outcome, Plan, nothing
from chatfold.core.reading import Reading
from chatfold.core.views import ItemView, Shape
from chatfold.errors import SummaryError
from chatfold.folding import Folding, Limits
from chatfold.history import History
from chatfold.options import Settings, SummaryOptions
from chatfold.originals import Originals
from chatfold.shapes import SHAPES, shape_named
from chatfold.state import ListState
from chatfold.summarizers import LLM, checked_native, is_native, resolve
from chatfold.summarizers.native import NativeCompaction
from chatfold.tokens.windows import windows_for
from chatfold.writing import LateResults, Writing

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Unpack

    from chatfold.stores import Store
    from chatfold.tokens import TokenCounter

__all__ = ["ChatContext"]

ItemT = TypeVar("ItemT")

_log = logging.getLogger("chatfold")

_WAIT: Final = 0.01  # seconds between two looks at whether a running summarization has ended


class ChatContext(History[ItemT]):
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
            `conversation`, an Anthropic thread); folding the local list would then change
            nothing, and is refused. A response that says so makes it true by itself.
        late_results: What `append` makes of a result whose call was folded away: a `note` in the
            user's name that says so, nothing (`drop`), or the item as it is (`keep`).
        summary_key: Secret by which this application's summaries are recognized and nobody
            else's. Without it, whoever writes the first item could imitate one.
        undo_depth: Number of folds that `undo` can take back without a store.
        store: Where originals are written before they leave the list, for `recall`, and for `undo`
            by a context of a later process.
        key: Names this conversation in the store; needed where the store holds several.
        **options: Defaults for every summarizing call; see `SummaryOptions`.

    Raises:
        TypeError: `items` is not a list, `store` no store, or an option is not known.
        ValueError: An option is out of range, or `key` comes without a store.
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
        late_results: LateResults = "note",
        summary_key: bytes | None = None,
        undo_depth: int = 32,
        store: Store | None = None,
        key: str | None = None,
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
        if late_results not in get_args(LateResults):
            raise ValueError(
                f"late_results must be one of {', '.join(get_args(LateResults))}, "
                f"not {late_results!r}"
            )
        if store is not None and not callable(getattr(store, "save", None)):
            raise TypeError(
                f"store must be a Store, such as SQLStore(path), not {type(store).__name__}"
            )
        if key is not None and store is None:
            raise ValueError("key= names the conversation in a store; pass store= as well")
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
        self._state = ListState(self._items, reading, model=model, server_managed=server_managed)
        self._writing = Writing(self._state, late_results)
        self._originals = Originals(store, key, reading.view_of)
        self._folding = Folding(
            self._state,
            self._originals,
            measure=self._measure,
            pin=pin,
            summary_key=summary_key,
            undo_depth=undo_depth,
        )

    # Folding

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
            abandon: Open calls to give up: their ids, or a function of a `ToolCallRecord`.
            force: Whether to plan for a head that gave no gain, or was undone, before.
            replay: Whether to fold though the provider holds the history: the list has to be all
                of it, and is sent as a whole from then on (see `requirements`).
            **options: See `SummaryOptions`.

        Raises:
            ValueError: A limit is negative, or both are None.
            TemplateError: A template does not load or render.
        """
        limits = Limits(keep_last_turns, keep_tokens, abandon, force, replay)
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
        with self._state.alone("apply()"):
            return self._folding.applied(plan, completion, self._folding.notes(self._settings))

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
        list.
        """
        limits = Limits(keep_last_turns, keep_tokens, abandon, force, replay)
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
        settings = self._settings.updated(options)
        limits = Limits(keep_last_turns, keep_tokens, abandon, force, replay)
        if is_native(llm):
            return self._compact(
                checked_native(llm, settings, model, asynchronous=False), limits, settings
            )
        backends = resolve(
            llm, model=model, timeout=settings.timeout, retries=settings.retries, asynchronous=False
        )
        started = time.perf_counter()
        if not self._state.running.acquire(blocking=False):
            return self._folding.idle("busy")
        try:
            flow = self._folding.flow(limits, settings, len(backends), windows_for(backends))
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
            self._state.running.release()

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
            replay: See `plan`.
            **options: See `SummaryOptions`.

        Returns:
            What happened, and why.

        Raises:
            The same as `summarize`.
        """
        settings = self._settings.updated(options)
        limits = Limits(keep_last_turns, keep_tokens, abandon, force, replay)
        if is_native(llm):
            backend = checked_native(llm, settings, model, asynchronous=True)
            return await self._acompact(backend, limits, settings, wait)
        backends = resolve(
            llm, model=model, timeout=settings.timeout, retries=settings.retries, asynchronous=True
        )
        started = time.perf_counter()
        if not await self._turn_to_run(wait):
            return self._folding.idle("busy")
        try:
            flow = self._folding.flow(limits, settings, len(backends), windows_for(backends))
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
            self._state.running.release()

    def undo(self) -> Outcome[ItemT]:
        """Put back the originals of the latest fold, object for object; keep what came since.

        Several in a row walk back, up to `undo_depth`; with a store further, and in a fresh
        context too: the items are then equal to the originals, not the same objects.

        Raises:
            BusyError: A summarization of this list is running.
            StoreError: The store cannot be read.
        """
        with self._state.alone("undo()"):
            return self._folding.undo()

    # What only this class needs

    def _compact(
        self, native: NativeCompaction, limits: Limits, settings: Settings
    ) -> Outcome[ItemT]:
        started = time.perf_counter()
        if not self._state.running.acquire(blocking=False):
            return self._folding.idle("busy")
        try:
            plan = self._folding.native_plan(native, limits, settings)
            if not plan:
                return nothing(plan)
            made = native.compact(
                plan.region, prefix=plan.prefix, instructions=settings.compaction_instructions()
            )
            return replace(
                self._folding.commit_native(plan, made), seconds=time.perf_counter() - started
            )
        finally:
            self._state.running.release()

    async def _acompact(
        self, native: NativeCompaction, limits: Limits, settings: Settings, wait: bool
    ) -> Outcome[ItemT]:
        started = time.perf_counter()
        if not await self._turn_to_run(wait):
            return self._folding.idle("busy")
        try:
            plan = self._folding.native_plan(native, limits, settings)
            if not plan:
                return nothing(plan)
            made = await native.acompact(
                plan.region, prefix=plan.prefix, instructions=settings.compaction_instructions()
            )
            return replace(
                self._folding.commit_native(plan, made), seconds=time.perf_counter() - started
            )
        finally:
            self._state.running.release()

    async def _turn_to_run(self, wait: bool) -> bool:
        """Return whether a summarization may start now, waiting for another one if asked."""
        lock = self._state.running
        if lock.acquire(blocking=False):
            return True
        if not wait:
            return False
        import asyncio

        # The other one may run in another thread or loop, where no event of this loop reaches.
        while not lock.acquire(blocking=False):  # noqa: ASYNC110
            await asyncio.sleep(_WAIT)
        return True


def _timed(flow: Flow[Outcome[ItemT]], started: float) -> Outcome[ItemT]:
    """Return the outcome of a flow that has ended, with its duration."""
    assert flow.outcome is not None
    return replace(flow.outcome, seconds=time.perf_counter() - started)


def _report_unknown(index: int, view: ItemView) -> None:
    if view.shape:
        _log.warning("item %d holds content of an unknown type; it is kept as it is", index)
    else:
        _log.warning(
            "item %d is of no known shape (type %r); it is kept as it is", index, view.type or None
        )
