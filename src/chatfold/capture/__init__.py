"""Responses and streams of the providers' SDKs, turned into native items; no SDK is imported.

Each provider has a module that offers what `Maker` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from chatfold.capture import (
    anthropic,
    bedrock,
    gemini,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
)
from chatfold.capture._ids import finished
from chatfold.capture._known import unlisted
from chatfold.capture._recorder import Recording
from chatfold.capture._refusals import no_response, no_stream, unreadable
from chatfold.capture._sdk import fields
from chatfold.capture._streams import (
    AsyncRecordedOpening,
    AsyncRecordedStream,
    EitherRecordedStream,
    RecordedOpening,
    RecordedStream,
)
from chatfold.capture._values import Captured, Gather, Maker
from chatfold.core.scalars import check_whole
from chatfold.core.usage import reported
from chatfold.core.views import Shape

__all__ = ["MAKERS", "Captured", "Gather", "Maker", "captured", "record", "reported"]

MAKERS: Final[tuple[Maker, ...]] = (
    mistral,  # before the other, whose fields its classes have
    openai_chat,
    openai_responses,
    anthropic,
    gemini,
    ollama,
    bedrock,
)
"""The providers' modules; the first that takes a response, or that a stream starts, has it."""


def captured(
    response: Any,
    shapes: Callable[[str], Shape],
    items: Sequence[Any],
    *,
    choice: int | None = None,
) -> Captured:
    """Return what a whole response adds to a list; the list is only read.

    Args:
        response: What an SDK's call returned, as an object or a dict.
        shapes: Returns the shape of a name.
        items: The list that the items will be added to; ids that are made up depend on it.
        choice: Which of several answers, from 0; None where there is only one.

    Raises:
        TypeError: It is not a whole response, and the message says what to pass; it holds what
            cannot be read; or `choice` is no whole number.
        ValueError: There are several answers and `choice` is None, there is no such one, or the
            response is still being written.
    """
    if choice is not None:
        check_whole("choice", choice, 0)
    for maker in MAKERS:
        if maker.takes(response):
            shape = shapes(maker.shape)
            try:
                raw = maker.outputs(response, choice=choice)
                new = unlisted(raw.items, items, shape)
                made = finished(new, shape, items, takes_ids=raw.takes_ids)
            except ValueError:  # of several answers, or of one that is still being written
                raise
            except Exception as error:  # a field is what no provider sends, such as a call of 0
                raise TypeError(unreadable(response, error)) from error
            return raw._replace(items=made)
    raise TypeError(no_response(response))


def record(
    stream: Any,
    shapes: Callable[[str], Shape],
    items: Sequence[Any],
    keep: Callable[[Captured], None],
    lock: Callable[[], AbstractContextManager[Any]] = nullcontext,
    begins: Callable[[], object] = nullcontext,
) -> Any:
    """Return the stream, sync or async as it was, so that reading it keeps its finished items.

    Every event is passed on as the same object; an item is kept before the event that finished it
    is passed on. Attributes and methods are those of the stream; besides, `stored` is a tuple of
    the items kept and `unfinished` says what was begun and is not finished ("" if nothing is). A
    stream that breaks or is left early gives what was finished, and one warning in the log.

    Args:
        stream: A stream of an SDK, what an SDK's `stream()` helper returns (to be entered by
            `with` or `async with`), or any iterable of events. Of a dict that holds a `stream`, as
            Bedrock's `converse_stream` returns, a copy is returned with that stream recorded.
        shapes: Returns the shape of a name.
        items: The list that the items will be added to; it is only read.
        keep: Is called with items as soon as they are finished, and once at the end with the
            usage, the model and what the server holds, and no items; without the usage where the
            stream was forgotten, which the garbage collector finds out in the middle of anything.
        lock: Returns what is held while items are added, so that no fold comes between; not where
            the stream was forgotten.
        begins: Is called at the first event, before anything is kept.

    Raises:
        TypeError: It is not a stream; the message says what to pass.
    """
    answer = fields(stream)
    if answer is not None and "stream" in answer:
        return {**answer, "stream": record(answer["stream"], shapes, items, keep, lock, begins)}
    refused = no_stream(stream, whole=any(maker.takes(stream) for maker in MAKERS))
    if refused is not None:
        raise TypeError(refused)

    def recording() -> Recording:
        return Recording(MAKERS, shapes, items, keep, lock, begins)

    awaited, plain = hasattr(stream, "__aiter__"), hasattr(stream, "__iter__")
    if awaited and plain:
        return EitherRecordedStream(stream, recording())
    if awaited:
        return AsyncRecordedStream(stream, recording())
    if plain:
        return RecordedStream(stream, recording())
    if hasattr(stream, "__aenter__"):
        return AsyncRecordedOpening(stream, lambda s: AsyncRecordedStream(s, recording()))
    return RecordedOpening(stream, lambda s: RecordedStream(s, recording()))
