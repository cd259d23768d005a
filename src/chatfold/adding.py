"""What is added to the list that a context wraps: items, answers, results of calls; and its repair.

Not here: how that is written to the list (`writing`), where an answer goes in it (`arriving`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from chatfold.arriving import Arriving
from chatfold.capture import Captured, captured, record
from chatfold.core.calls import ToolCallRecord
from chatfold.core.mends.edits import Repair
from chatfold.core.shape_choice import no_item
from chatfold.core.snapshot import Snapshot
from chatfold.core.views import Shape
from chatfold.history import History
from chatfold.shapes import shape_named
from chatfold.tools import Run, Tool, ToolRun, arun_calls, run_calls
from chatfold.writing import Writing

if TYPE_CHECKING:
    from typing import Unpack

    from chatfold.core.mends.edits import RepairPolicies

__all__ = ["Adding"]

ItemT = TypeVar("ItemT")


class Adding(History[ItemT]):
    """A message list that can be written to; what makes one is `ChatContext`."""

    _writing: Writing
    _model: str | None

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
            TypeError: It is no whole response, and the message says what to pass; it holds what no
                provider sends and cannot be read; or `choice` is no whole number.
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
