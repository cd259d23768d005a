"""The list that a context wraps: read in many ways, and written to; folding is `context`'s."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from chatfold.arriving import Arriving
from chatfold.capture import Captured, captured, record
from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Requirement, options_of
from chatfold.core.mends.edits import Repair
from chatfold.core.scalars import check_flags, check_whole
from chatfold.core.shape_choice import no_item
from chatfold.core.snapshot import Snapshot
from chatfold.core.spans import cut_points
from chatfold.core.split import Turn, turns
from chatfold.core.steps import Trajectory, trajectory
from chatfold.core.views import ItemView, Shape
from chatfold.errors import ShapeError
from chatfold.options import Settings
from chatfold.originals import Originals
from chatfold.recall import RecallTool, make_tool
from chatfold.shapes import shape_named
from chatfold.state import ListState
from chatfold.tokens import Sizes, TokenCount
from chatfold.tools import Run, Tool, ToolRun, arun_calls, run_calls
from chatfold.writing import Writing

if TYPE_CHECKING:
    from typing import Unpack

    from chatfold.core.mends.edits import RepairPolicies

__all__ = ["History"]

ItemT = TypeVar("ItemT")

_TOOL_NAME: Final = r"[A-Za-z0-9_-]{1,64}"

_log = logging.getLogger("chatfold")


class History(Generic[ItemT]):
    """A message list with its readings; what makes one is `ChatContext`."""

    _items: list[ItemT]
    _state: ListState
    _writing: Writing
    _settings: Settings
    _sizes: Sizes
    _model: str | None
    _originals: Originals

    @property
    def items(self) -> list[ItemT]:
        """The caller's own list."""
        return self._items

    @property
    def shape(self) -> Shape | None:
        """The list's shape; None while the list could still be of several."""
        shape = self._state.snapshot().shape
        return shape if shape.name else None

    def __repr__(self) -> str:
        shape = self._state.reading.shape
        return f"ChatContext({len(self._items)} items, shape={shape.name if shape else None!r})"

    def __len__(self) -> int:
        return len(self._items)

    # Reading

    def views(self) -> Sequence[ItemView]:
        """Return the neutral reading of each item, in order."""
        return tuple(self._state.snapshot().views)

    def tool_calls(self) -> list[ToolCallRecord]:
        """Return one record for each tool call, and for each result without a call, in order."""
        return [call for call in self._state.snapshot().calls if call.kind != "approval"]

    def count_tool_calls(self, *, completed_only: bool = False) -> int:
        """Return the number of tool calls; with `completed_only`, of those that have a result."""
        check_flags(completed_only=completed_only)
        return sum(1 for c in self.tool_calls() if c.completed or not completed_only)

    def turns(self) -> list[Turn]:
        """Return the turns after the leading instructions, in order."""
        return turns(self._state.snapshot().views)

    def steps(self) -> Trajectory:
        """Return the trajectory: task, messages, thoughts, actions and their observations.

        What nothing can be read from is left out, counted in `.skipped` and logged once.
        """
        snapshot = self._state.snapshot()
        steps = trajectory(snapshot.views, snapshot.calls)
        if steps.skipped:
            _log.warning("%d parts could not be read and are no steps", steps.skipped)
        return steps

    def cut_points(self, *, lossy: bool = False) -> list[int]:
        """Return every index at which the list may be cut without parting what belongs together.

        Args:
            lossy: Whether to count cuts behind an item that only the provider can read.
        """
        check_flags(lossy=lossy)
        snapshot = self._state.snapshot()
        return cut_points(snapshot.spans, snapshot.views, lossy=lossy)

    def count_tokens(self) -> TokenCount:
        """Return the size of the list in tokens, and whether the count is exact."""
        exact = getattr(self._sizes.counter, "exact", False)  # one that does not say so, is not
        return TokenCount(sum(self._state.snapshot().sizes), exact)

    def check(self) -> list[Problem]:
        """Return what the provider would refuse or lose, with indices and severity."""
        return self._state.problems()

    def requirements(self) -> list[Requirement]:
        """Return what a request with this list has to carry besides the list."""
        return self._state.requirements()

    def request_options(self) -> dict[str, Any]:
        """Return the same as `requirements`, ready to spread into `create(**...)`; mostly {}.

        Ask for it when you make the request: what comes into the list until the answer is there is
        taken to be unknown to the model.
        """
        self._state.asked = self._state.end()
        return options_of(self.requirements())

    # Writing

    def append(self, item: ItemT) -> None:
        """Add an item at the end of the list; a result of a folded call as `late_results` says.

        Raises:
            TypeError: It can be no item of any provider, such as a text or a list of items.
        """
        fault = no_item(item)
        if fault:
            raise TypeError(f"append() takes one item: {fault}")
        self._writing.add(item)

    def extend(self, items: Iterable[ItemT]) -> None:
        """Add items at the end of the list, one after the other, as `append` does.

        Raises:
            TypeError: It is one item or a text, whose keys or letters would be added, or one of
                them can be no item; nothing is added then.
        """
        given = cast("object", items)
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            kind = type(cast("object", given)).__name__
            raise TypeError(f"extend() takes a list of items, not {kind}; append() adds one")
        added = list(items)
        for number, item in enumerate(added):
            fault = no_item(item)
            if fault:
                raise TypeError(f"extend() takes items, but number {number}: {fault}")
        for item in added:
            self.append(item)

    def add_response(self, response: Any, *, choice: int | None = None) -> list[ItemT]:
        """Add every output item of a model's response, in order, as it may be sent back.

        What no provider takes back is left out: blank answers, and reasoning that nothing follows
        (OpenAI's Responses, Claude).

        Args:
            response: A whole response: `ChatCompletion`, `Response`, an Anthropic `Message`,
                `GenerateContentResponse`, Ollama's `ChatResponse`, Mistral's
                `ChatCompletionResponse`, what Bedrock's `converse` returns, or the same as a dict.
            choice: Which of several answers to add, from 0; needed only where there are several.

        Returns:
            The items that were added.

        Raises:
            TypeError: It is no whole response, and the message says what to pass; or `choice` is no
                whole number.
            ValueError: There are several answers, and `choice` names none of them; or the response
                is still being written.
        """
        made = captured(response, self._shape_named, self._items, choice=choice)
        self._keep(made, Arriving(self._state, self._shape_named))
        return list(made.items)

    def record(self, stream: Any) -> Any:
        """Return a stream of an SDK, so wrapped that reading it adds what it brings to the list.

        Events are passed on unchanged and at once; an item is added when it is complete. `with`
        and `async with` work as on the stream. `stored` holds the items added so far, and
        `unfinished` says what was begun and is not complete.

        Args:
            stream: A sync or async stream of the OpenAI, Anthropic, Gemini, Ollama, Mistral or
                Bedrock SDK, or one of their helpers (`client.messages.stream(...)`).

        Raises:
            TypeError: It is no stream; the message says what to pass.
        """
        arriving = Arriving(self._state, self._shape_named, recorded=True)
        return record(
            stream,
            self._shape_named,
            self._items,
            lambda made: self._keep(made, arriving),
            self._state.held_briefly,
            arriving.begin,
        )

    def run_tool_calls(
        self, tools: Mapping[str, Tool], *, timeout: float | None = None
    ) -> ToolRun[ItemT]:
        """Run all open calls, one after another, and add exactly one result for each.

        An unknown name, arguments that do not fit, an exception or a time-out makes an error
        result for that call alone. What a user says while a tool runs comes behind its result,
        and so does what a user said while the stream that brought the call was recorded. The result
        of a call that is folded away meanwhile is late, as in `append`. Calls that
        another run of this context is at are left to it. Calls that
        only the host can answer (computer, shell, patch, members of Anthropic's toolsets,
        approvals) are left open and named in the result. Results that the host has put in for
        some calls of a step stay as they are: with Gemini and Bedrock, which want all of a step in
        one item, `repair` joins them.

        What a tool returns becomes a text: a string as it is, all else as JSON. But a list of the
        provider's own blocks, dicts or the SDK's objects (Anthropic's `image`, OpenAI's
        `input_image`, Gemini's parts), goes out as it is, if each is a block that a result may
        hold, with all its fields and no other, and they are more than rows of texts; so do texts
        beside a medium, and a medium alone. What goes out is a copy. Documents of Bedrock's get
        names of their own, which no request may hold twice.
        Results of MCP's, the SDK's objects or their JSON, become such blocks, and a failure where
        they say `isError`. What no result of the provider holds, with Chat Completions all media,
        is told in words (`tool_medium.jinja`), with a warning in the log.

        Args:
            tools: Names to functions, methods, async functions, or objects with `invoke`. A call
                of a namespace is run by the tool of its qualified name, `crm.delete`. Where there
                is none, the plain name will do, unless calls of the list or other names say that
                it may be another tool.
            timeout: Seconds that one call may take; None for no limit. A tool that is out of
                time goes on in its thread, and its result is dropped.

        Returns:
            The items that were added, as a sequence; empty where no call was open.

        Raises:
            TypeError: `tools` holds something that cannot be called, or `timeout` is no number;
                nothing was run.
            ValueError: `timeout` is out of range; nothing was run.
        """
        with self._batch() as batch:
            run_calls(
                batch.calls,
                tools,
                listed=batch.asked.calls,
                shape=batch.asked.shape,
                templates=self._settings.renderer(),
                model=self._model,
                deliver=batch.deliver,
                timeout=timeout,
            )
        return batch.told

    async def arun_tool_calls(
        self,
        tools: Mapping[str, Tool],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - a limit for each call
        max_concurrency: int = 8,
    ) -> ToolRun[ItemT]:
        """Run all open calls, several at a time, and add exactly one result for each.

        As `run_tool_calls`; tools that are not async run in threads. If this is cancelled, what
        has finished keeps its result, and every other call is answered as interrupted.

        Args:
            tools: See `run_tool_calls`.
            timeout: See `run_tool_calls`.
            max_concurrency: Most calls that run at a time.

        Returns:
            The items that were added, in the order of the calls.

        Raises:
            TypeError: `tools` holds something that cannot be called, or a limit is no number;
                nothing was run.
            ValueError: A limit is out of range; nothing was run.
        """
        with self._batch() as batch:
            await arun_calls(
                batch.calls,
                tools,
                listed=batch.asked.calls,
                shape=batch.asked.shape,
                templates=self._settings.renderer(),
                model=self._model,
                deliver=batch.deliver,
                timeout=timeout,
                max_concurrency=max_concurrency,
            )
        return batch.told

    def repair(self, **policies: Unpack[RepairPolicies]) -> list[Repair]:
        """Put new items in place of what the provider would refuse, and say what was done.

        Nothing that is valid is changed, and a second run changes nothing more. Items are never
        edited: what is mended is a new item in place of the old one.

        Args:
            **policies: What to do about each kind of problem; see `RepairPolicies`. By default
                open calls are answered as interrupted, results without a call become a note,
                late results move to their call, reasoning without its follower, duplicates and
                blank messages go, and arguments that are no object are put into one.

        Returns:
            One `Repair` for each thing done; one with the action `unbound` where thinking behind
            that was signed over what stood there before, with the fields that each request needs
            from then on; and one with the action `left`, with the reason, for each problem that
            stays and keeps the list from being sent (`error`, `pending`). What the provider may
            well take (`warning`, `loss`) is not told: `check()` still names it.

        Raises:
            TypeError: There is no such policy.
            ValueError: A policy has no such choice.
            BusyError: A summarization of this list is running.
        """
        with self._state.alone("repair()"):
            return self._writing.repair(self._settings.renderer(), policies)

    # Originals

    def recall(
        self, *, call_id: str | None = None, query: str | None = None, limit: int = 20
    ) -> list[Any]:
        """Return items that folds took out of the list, as they were, from the store.

        Args:
            call_id: Id of a tool call: the items that hold the call and its result.
            query: Words: the items that hold them, the best match first. What was attached is
                found by its name, or by its URL.
            limit: Most items that are returned.

        Returns:
            Native items, equal to what left the list, with dicts in place of SDK objects; [] where
            nothing is found, or where the store does not keep originals.

        Raises:
            TypeError: `limit` is no whole number, or what is sought no text.
            ValueError: The context has no store, not one of `call_id` and `query` is given, or
                `limit` is negative.
            StoreError: The store cannot be read.
        """
        return self._originals.found(call_id, query, limit, self._settings.redaction())

    def recall_tool(
        self, name: str = "recall", *, limit: int = 10, max_characters: int = 20_000
    ) -> RecallTool:
        """Return a tool by which the agent itself reads again what was folded away.

        Put `.definition` into the request's tools and `{tool.name: tool.handler}` into what
        `run_tool_calls` takes. The summaries of this context say from then on that there is such a
        tool.

        Args:
            name: Name of the tool: letters, digits, `_` and `-`, 64 at most, as providers take it.
            limit: Most items in one answer; a call and its result are not parted.
            max_characters: Length of one answer; a longer one is cut in the middle.

        Raises:
            TypeError: A limit is no whole number, or `name` no text.
            ValueError: The context has no store, a limit is less than 1, or `name` is none that
                providers take.
            ShapeError: The list could still be of several shapes; pass `shape=` to the context.
            TemplateError: A template does not load or render.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"name must be text, not {name!r}")
        if not re.fullmatch(_TOOL_NAME, name):
            raise ValueError(f"name must be of letters, digits, _ and -, 64 at most, not {name!r}")
        check_whole("limit", limit, 1)
        check_whole("max_characters", max_characters, 1)
        self._originals.require()
        self._state.snapshot()
        shape = self._state.reading.likeliest_shape
        if shape is None:
            raise ShapeError(
                "the shape of this list is not known yet, and so not that of the tool; "
                "pass shape= to ChatContext"
            )
        tool = make_tool(
            name,
            shape,
            self._settings.renderer(),
            lambda call_id, query: self.recall(call_id=call_id, query=query, limit=limit),
            self._state.reading.view_of,
            redact=self._settings.redaction(),
            limit=limit,
            max_characters=max_characters,
        )
        self._originals.tool = name
        return tool

    # What only this class needs

    @contextmanager
    def _batch(self) -> Generator[_ToolBatch, None, None]:
        """Take on the open calls that no other run of tools is at, until their run has ended."""
        asked, calls = self._writing.claim()
        try:
            yield _ToolBatch(self._writing, asked, calls)
        finally:
            self._writing.release(asked, calls)

    def _shape_named(self, name: str) -> Shape:
        """Return the shape of that name: the list's own, if that is it."""
        own = self._state.reading.shape
        return own if own is not None and own.name == name else shape_named(name)

    def _keep(self, made: Captured, arriving: Arriving) -> None:
        """Add what a response or a part of a stream brought."""
        self._state.hold(made.held or "")
        if made.items:
            arriving.put(made.items, in_place=not made.forgotten)
        self._writing.note_recorded(made.recorded)


class _ToolBatch:
    """Takes the answers of a run of tool calls, and puts them into the list.

    Attributes:
        asked: The list as it is when the run begins; it may change while the tools run.
        calls: Those of its open calls that are run.
        told: What the caller is told of the run.
    """

    def __init__(self, writing: Writing, asked: Snapshot, calls: Sequence[ToolCallRecord]) -> None:
        self.asked = asked
        self.calls = calls
        self.told: ToolRun[Any] = ToolRun()
        self._writing = writing

    def deliver(self, run: Run) -> None:
        added = self._writing.answer(run.answers, self.asked)
        self.told = ToolRun(tuple(added), run.answers, run.not_handled)
