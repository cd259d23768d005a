"""`ChatContext`: the one object that users hold; it delegates, and decides nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

from chatfold.arriving import Arriving
from chatfold.background import BackgroundFold
from chatfold.beginning import begin, in_loop
from chatfold.capture import Captured, reported
from chatfold.core.callables import has_method, kind_of
from chatfold.core.calls import Abandon
from chatfold.core.cost import Cost
from chatfold.core.plan import Outcome
from chatfold.core.reading import Reading
from chatfold.core.scalars import check_flags, check_whole
from chatfold.core.views import ItemView, Shape
from chatfold.each_turn import LAST_RESORT, Ask, Call, EachTurn, OnError, check_ways
from chatfold.folding import Folding
from chatfold.notes import Notes
from chatfold.options import Settings, SummaryOptions, check_given
from chatfold.originals import Originals
from chatfold.planning import Limits
from chatfold.policy import Load, Policy
from chatfold.shapes import SHAPES, shape_named
from chatfold.state import ListState
from chatfold.summarizers import LLM, asked
from chatfold.summarizing import Summarizing
from chatfold.tokens import Sizes
from chatfold.writing import LateResults, Writing

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Unpack

    from chatfold.stores import Store
    from chatfold.tokens import TokenCounter

__all__ = ["ChatContext"]

ItemT = TypeVar("ItemT")

_log = logging.getLogger("chatfold")

_BACKGROUND_TIMEOUT: Final = 120.0


class ChatContext(Summarizing[ItemT]):
    """A message list, wrapped: read as turns and tool calls, and folded without breaking it.

    `items` is the caller's own list of provider-native items (dicts, SDK objects, or both). It
    is changed only by the calls that say so (`summarize`, `maybe_summarize`, `apply`, a finished
    `flow`, `undo`, `append` and the like), inside the call, and never on failure. Other threads
    may append to it at any time.

    Args:
        items: The list to wrap; None makes a new one.
        shape: The provider's way of writing items, by name or as a `Shape`; None finds out.
        model: The agent's own model; decides how tokens are counted and what thinking needs.
        pin: Returns whether an item stays verbatim in every fold.
        counter: Counts tokens: an object with `count(text)`, and with `exact` where that is the
            model's own count; None picks one by `model`.
        policy: When `maybe_summarize` folds, and how much folds keep unless the call says; by
            default `Policy()`, with two turns kept in a call that folds in any case.
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
        TypeError: `items` is not a list, `store` no store, an option is not known, or something is
            of a type that it cannot be.
        ValueError: An option is out of range, `key` is empty or comes without a store, or the
            policy and the model do not go together.
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
        policy: Policy | None = None,
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
        check_given(
            pin=pin,
            counter=counter,
            policy=policy,
            summary_key=summary_key,
            key=key,
            shape=shape,
            model=model,
        )
        check_flags(server_managed=server_managed)
        if summary_key == b"":
            raise ValueError("summary_key must not be empty: it would protect nothing")
        check_whole("undo_depth", undo_depth, 0)
        if late_results not in get_args(LateResults):
            raise ValueError(
                f"late_results must be one of {', '.join(get_args(LateResults))}, "
                f"not {late_results!r}"
            )
        if store is not None and not has_method(store, "save"):
            raise TypeError(f"store must be a Store, such as SQLStore(path), not {kind_of(store)}")
        if key is not None and store is None:
            raise ValueError("key= names the conversation in a store; pass store= as well")
        self._items: list[ItemT] = [] if items is None else items
        self._model = model
        self._policy = policy
        if policy is not None and "max_summary_tokens" not in options:
            options["max_summary_tokens"] = policy.max_summary_tokens
        self._settings = Settings().updated(options, ChatContext)
        self._check_templates()
        self._given = frozenset(options)
        self._each_time: dict[bool, Settings] = {}  # of policy-driven calls without options
        self._sizes = Sizes(counter, model)
        reading = Reading(
            self._items,
            SHAPES,
            shape=shape_named(shape) if isinstance(shape, str) else shape,
            measure=self._sizes.of_items,
            summary_key=summary_key,
            count=self._sizes.ahead,
            report=_report_unknown,
        )
        self._state = ListState(self._items, reading, model=model, server_managed=server_managed)
        self._writing = Writing(self._state, Notes(self._settings), late_results)
        self._originals = Originals(store, key, reading.view_of, reading.restored)
        self._folding = Folding(
            self._state,
            self._originals,
            measure=self._sizes.of_items,
            count=self._sizes.of_texts,
            pin=pin,
            summary_key=summary_key,
            undo_depth=undo_depth,
        )
        self._each_turn = EachTurn(policy or Policy(), self._state, self._folding)

    # At each turn

    @property
    def policy(self) -> Policy:
        """When `maybe_summarize` folds."""
        return self._each_turn.policy

    @property
    def background(self) -> BackgroundFold[ItemT] | None:
        """The latest fold in the background, of `summarize_in_background` too, or None.

        One that was put in or given up is here until the next `maybe_summarize`.
        """
        return self._each_turn.background

    def load(self) -> Load:
        """Return how large the next request will be, as the policy is asked about it."""
        return self._each_turn.loads.now()

    def record_usage(self, usage: Any) -> None:
        """Take in what the provider reports of the latest request, for the policy to count by.

        `add_response` and `record` do this by themselves. Where the provider's server may have run
        tools, call it when the answer is in the list, which shows that.

        Args:
            usage: The usage object of a response of any provider, also as a dict, or a `Usage`.

        Raises:
            TypeError: There is no number of tokens in it.
            ValueError: One of them is negative.
        """
        told = reported(usage)
        if min(told.input_tokens, told.output_tokens, told.cached_tokens) < 0:
            raise ValueError(f"a number of tokens cannot be negative: {told!r}")
        self._each_turn.loads.note(told)

    def maybe_summarize(
        self,
        llm: LLM,
        *,
        background: bool = False,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        model: str | None = None,
        abandon: Abandon | None = None,
        replay: bool = False,
        on_error: OnError = "report",
        **options: Unpack[SummaryOptions],
    ) -> Outcome[ItemT]:
        """Summarize if the policy says so; made to be called before every request to the model.

        Where nothing is to be done it costs the same however long the list is. A failure of the
        summarizer is reported in the outcome and tried again later: after a minute, then twice
        that and so on up to fifteen, or when the head has grown by a quarter. Where the list no
        longer fits the model's window, it is then folded without a model (`"extractive"`).

        Args:
            llm: See `summarize`.
            background: Whether to have the summary written in the background: the call then puts
                in what was written since, checks, begins a fold where one is due, and never waits
                for a model.
            keep_last_turns: See `plan`; where neither this nor `keep_tokens` is given, as the
                policy says.
            keep_tokens: See `plan`, likewise.
            model: See `summarize`.
            abandon: See `plan`.
            replay: See `plan`.
            on_error: Whether a failure is reported in the outcome, or raised (`raise`).
            **options: See `SummaryOptions`. In the background the summarizer has 120 seconds by
                default, and is not asked to repair what it invented: such sentences go.

        Returns:
            What happened, and why: `below_trigger` on most turns.

        Raises:
            TypeError: `llm` cannot answer, or only `amaybe_summarize` can use it.
            ValueError: An argument is out of range.
        """
        settings = self._by_policy(options, background)
        limits = self._kept(keep_last_turns, keep_tokens, abandon, replay)
        self._check_llm(llm, settings, model, asynchronous=background and in_loop())
        call = self._call(llm, limits, settings, model, background, on_error)
        steps = self._each_turn.steps(call)
        try:
            ask = next(steps)
            while True:
                try:
                    outcome = self._fold(*self._what(ask, llm, limits, settings, model))
                except BaseException as error:  # what is no failed fold comes out again
                    ask = steps.throw(error)
                else:
                    ask = steps.send(outcome)
        except StopIteration as done:
            return cast("Outcome[ItemT]", done.value)

    async def amaybe_summarize(
        self,
        llm: LLM,
        *,
        background: bool = False,
        keep_last_turns: int | None | EllipsisType = ...,
        keep_tokens: int | None | EllipsisType = ...,
        model: str | None = None,
        abandon: Abandon | None = None,
        replay: bool = False,
        on_error: OnError = "report",
        **options: Unpack[SummaryOptions],
    ) -> Outcome[ItemT]:
        """Summarize if the policy says so, without blocking the event loop.

        The arguments and the outcome are those of `maybe_summarize`; async clients and functions
        will do too. A long list is first read by parts, between which other tasks go on.
        Cancelling it leaves the list untouched.

        Raises:
            The same as `maybe_summarize`.
        """
        settings = self._by_policy(options, background)
        limits = self._kept(keep_last_turns, keep_tokens, abandon, replay)
        self._check_llm(llm, settings, model, asynchronous=True)
        await self._read_by_parts()
        call = self._call(llm, limits, settings, model, background, on_error)
        steps = self._each_turn.steps(call)
        try:
            ask = next(steps)
            while True:
                try:
                    outcome = await self._afold(*self._what(ask, llm, limits, settings, model))
                except BaseException as error:  # what is no failed fold comes out again
                    ask = steps.throw(error)
                else:
                    ask = steps.send(outcome)
        except StopIteration as done:
            return cast("Outcome[ItemT]", done.value)

    def summarize_in_background(
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
    ) -> BackgroundFold[ItemT]:
        """Begin a fold that is written while the conversation goes on; changes nothing yet.

        In a running event loop it is written by a task, else in a thread. The list changes when
        `apply_if_ready()` of what is returned is called, or `maybe_summarize`. While another one is
        under way the outcome is `busy`; one that was given up is, until its model has answered.

        Args:
            llm: See `summarize`; in an event loop async clients and functions too.
            keep_last_turns: See `plan`.
            keep_tokens: See `plan`.
            model: See `summarize`.
            abandon: See `plan`.
            force: See `plan`.
            replay: See `plan`.
            **options: See `maybe_summarize`.

        Raises:
            TypeError: `llm` cannot answer, or only in an event loop.
            ValueError: An argument is out of range.
        """
        settings = self._of_background(
            self._updated(options, self.summarize_in_background), options
        )
        limits = self._limits(keep_last_turns, keep_tokens, abandon, force, replay)
        with self._attempt(llm, settings, model) as attempt:
            allowed = attempt.allowed(self._state.tokens)
            fold: BackgroundFold[ItemT] = begin(
                self._state,
                self._folding,
                llm,
                limits,
                settings,
                model,
                then=partial(self._told, attempt=attempt, tried=True),
                known=self._each_turn.hold,
                cost=attempt.cost,
                instead=None if allowed else self._limited(self._folding.idle("vetoed")),
                earlier=self._each_turn.background,
            )
        return fold

    # What only this class needs

    def _check_templates(self) -> None:
        self._settings.check_templates()

    def _by_policy(self, options: SummaryOptions, background: bool) -> Settings:
        """Return the options of a policy-driven call."""
        known = None if options else self._each_time.get(bool(background))
        if known is not None:
            return known
        settings = self._updated(options, self.maybe_summarize)
        if "min_gain" not in self._given and "min_gain" not in options:
            settings = replace(settings, min_gain=self.policy.min_gain)
        if background:
            settings = self._of_background(settings, options)
        if not options:
            self._each_time[bool(background)] = settings
        return settings

    def _of_background(self, settings: Settings, options: SummaryOptions) -> Settings:
        """Return the options of a fold in the background."""
        given = "timeout" in self._given or "timeout" in options
        return replace(
            settings,
            timeout=settings.timeout if given else _BACKGROUND_TIMEOUT,
            grounding="drop" if settings.grounding == "repair" else settings.grounding,
        )

    def _kept(
        self,
        keep_last_turns: int | None | EllipsisType,
        keep_tokens: int | None | EllipsisType,
        abandon: Abandon | None,
        replay: bool,
    ) -> Limits:
        """Return how much a policy-driven call keeps."""
        if keep_last_turns is not ... or keep_tokens is not ...:
            return Limits(keep_last_turns, keep_tokens, abandon, False, replay)
        keeps = self._each_turn.loads.keeps
        if abandon is not None or replay is not False:
            return replace(keeps, abandon=abandon, replay=replay)
        return keeps

    def _call(
        self,
        llm: LLM,
        limits: Limits,
        settings: Settings,
        model: str | None,
        background: bool,
        on_error: OnError,
    ) -> Call:
        check_ways(on_error, background)
        who = partial(asked, llm, model, settings.request if settings.mode == "append" else None)
        work = partial(begin, self._state, self._folding, llm, limits, settings, model)
        wanted, keep = (limits, settings), limits.tokens() or 0
        return Call(settings.on_event, on_error, work if background else None, who, wanted, keep)

    def _what(
        self, ask: Ask, llm: LLM, limits: Limits, settings: Settings, model: str | None
    ) -> tuple[LLM, Limits, Settings, str | None, Cost]:
        """Return what a turn asks for, as `_fold` takes it."""
        if ask.any_gain:
            settings = replace(settings, min_gain=0.0)
        if ask.last_resort:
            limits = replace(limits, last_resort=True)
            return LAST_RESORT, limits, replace(settings, mode="prompt"), None, ask.cost
        return llm, limits, settings, model, ask.cost

    def _keep(self, made: Captured, arriving: Arriving) -> None:
        """Add what a response or a part of a stream brought, and learn from what it cost."""
        # A whole response answers the list as it was; a stream's last part comes when it has grown.
        start = len(self._items) if made.items else arriving.start
        super()._keep(made, arriving)
        self._each_turn.loads.note(made.usage, start)


def _report_unknown(index: int, view: ItemView) -> None:
    if view.shape:
        _log.warning("item %d holds content of an unknown type; it is kept as it is", index)
    else:
        _log.warning(
            "item %d is of no known shape (type %r); it is kept as it is", index, view.type or None
        )
