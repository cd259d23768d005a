"""What stands before an SDK's stream and is read instead of it; what it reads is recorded.

`RecordedStream` and `AsyncRecordedStream` are streams; `RecordedOpening` and its async twin stand
before what the SDKs' own helpers return, which open a stream when they are entered.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Final, cast

from chatfold.capture._recorder import Recording
from chatfold.core.native import field
from chatfold.core.once import once

__all__ = [
    "AsyncRecordedOpening",
    "AsyncRecordedStream",
    "EitherRecordedStream",
    "RecordedOpening",
    "RecordedStream",
]

_DRAIN: Final = frozenset(
    {
        "get_final_completion",
        "get_final_message",
        "get_final_response",
        "get_final_text",
        "until_done",
    }
)
"""Methods of the SDKs' helper streams that read the rest of the stream by themselves."""

_CLOSE: Final = frozenset({"aclose", "close"})


class _Proxy:
    """Passes everything on to what it stands before."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":  # nothing is set yet
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._inner!r}>"


class _Recorded(_Proxy):
    """What a sync and an async recorded stream share.

    Attributes:
        stored: The items that were stored, in order.
        unfinished: What was begun and is not finished, without content; "" where nothing is.
    """

    def __init__(self, stream: Any, recording: Recording) -> None:
        super().__init__(stream)
        self._recording = recording
        self._reading: set[object] = set()  # one for each read that waits for an event

    def _broken(self) -> None:
        """Take in that a read has raised: its end, or whatever breaks it.

        While another one waits, it may be that alone which the stream refuses; the other goes on.
        """
        if len(self._reading) == 1:
            self._recording.end()

    @property
    def stored(self) -> tuple[Any, ...]:
        return self._recording.stored

    @property
    def unfinished(self) -> str:
        return self._recording.unfinished

    def __del__(self) -> None:
        recording = self.__dict__.get("_recording")
        if recording is not None:
            recording.end(forgotten=True)


class RecordedStream(_Recorded):
    """A sync stream that is recorded while it is read."""

    def __init__(self, stream: Any, recording: Recording) -> None:
        super().__init__(stream, recording)
        self._events: Iterator[Any] = stream if hasattr(stream, "__next__") else iter(stream)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._reading.add(read := object())
        try:
            event = next(self._events)
        except BaseException:  # it passes through
            self._broken()
            raise
        finally:
            self._reading.discard(read)
        self._recording.take(event)
        return event

    def __enter__(self) -> RecordedStream:
        _entered(self._inner, "__enter__")()
        return self

    def __exit__(self, *exc: Any) -> Any:
        try:
            return _entered(self._inner, "__exit__")(*exc)
        finally:
            self._recording.end()

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name == "text_stream":
            return (text for event in self if (text := _text(event)) is not None)
        if name in _DRAIN:
            return self._drained(found)
        return self._closing(found) if name in _CLOSE else found

    def _drained(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def drained(*args: Any, **kwargs: Any) -> Any:
            for _ in self:
                pass
            answer = method(*args, **kwargs)
            return self if answer is self._inner else answer

        return drained

    def _closing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def closing(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            finally:
                self._recording.end()

        return closing


class AsyncRecordedStream(_Recorded):
    """An async stream that is recorded while it is read."""

    def __init__(self, stream: Any, recording: Recording) -> None:
        super().__init__(stream, recording)
        self._events: AsyncIterator[Any] = stream if hasattr(stream, "__anext__") else aiter(stream)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        self._reading.add(read := object())
        try:
            event = await anext(self._events)
        except BaseException:  # it passes through
            self._broken()
            raise
        finally:
            self._reading.discard(read)
        self._recording.take(event)
        return event

    async def __aenter__(self) -> AsyncRecordedStream:
        await _entered(self._inner, "__aenter__")()
        return self

    async def __aexit__(self, *exc: Any) -> Any:
        try:
            return await _entered(self._inner, "__aexit__")(*exc)
        finally:
            self._recording.end()

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name == "text_stream":
            return self._texts()
        if name in _DRAIN:
            return self._drained(found)
        return self._closing(found) if name in _CLOSE else found

    async def _texts(self) -> AsyncIterator[str]:
        async for event in self:
            text = _text(event)
            if text is not None:
                yield text

    def _drained(self, method: Callable[..., Any]) -> Callable[..., Any]:
        async def drained(*args: Any, **kwargs: Any) -> Any:
            async for _ in self:
                pass
            answer = await method(*args, **kwargs)
            return self if answer is self._inner else answer

        return drained

    def _closing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        async def awaited(answer: Awaitable[Any]) -> Any:
            try:
                return await answer
            finally:
                self._recording.end()

        def closing(*args: Any, **kwargs: Any) -> Any:
            answer: Any = None
            try:
                answer = method(*args, **kwargs)
            finally:
                if not inspect.isawaitable(answer):
                    self._recording.end()
            return awaited(answer) if inspect.isawaitable(answer) else answer

        return closing


class EitherRecordedStream(AsyncRecordedStream):
    """A stream that is read by `for` or by `async for`, as litellm's is, recorded."""

    @once
    def _by_for(self) -> RecordedStream:
        """The stream as `for` reads it; aiobotocore's has the method, and raises in it."""
        return RecordedStream(self._inner, self._recording)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._by_for)


class RecordedOpening(_Proxy):
    """Opens a stream when it is entered, and gives it recorded.

    Args:
        inner: What the SDK's helper returned.
        wrap: Returns a stream recorded.
    """

    def __init__(self, inner: Any, wrap: Callable[[Any], Any]) -> None:
        super().__init__(inner)
        self._wrap = wrap
        self._recorded: Any = None

    def __enter__(self) -> Any:
        self._recorded = self._wrap(self._inner.__enter__())
        return self._recorded

    def __exit__(self, *exc: Any) -> Any:
        try:
            return self._inner.__exit__(*exc)
        finally:
            self._recorded._recording.end()


class AsyncRecordedOpening(_Proxy):
    """Opens an async stream when it is entered, and gives it recorded."""

    def __init__(self, inner: Any, wrap: Callable[[Any], Any]) -> None:
        super().__init__(inner)
        self._wrap = wrap
        self._recorded: Any = None

    async def __aenter__(self) -> Any:
        self._recorded = self._wrap(await self._inner.__aenter__())
        return self._recorded

    async def __aexit__(self, *exc: Any) -> Any:
        try:
            return await self._inner.__aexit__(*exc)
        finally:
            self._recorded._recording.end()


def _entered(stream: Any, name: str) -> Callable[..., Any]:
    """Return a method that `with` calls; Python looks for it on the class, and so do we."""
    method: Any = getattr(cast(Any, type(stream)), name, None)
    if method is None:
        raise TypeError(
            f"a {type(stream).__name__} is no context manager; read it with `for`, without `with`"
        )
    return lambda *args: method(stream, *args)


def _text(event: Any) -> str | None:
    """Return the text that an event of Anthropic's helper adds, as its `text_stream` does."""
    delta = field(event, "delta")
    if field(event, "type") != "content_block_delta" or field(delta, "type") != "text_delta":
        return None
    text = field(delta, "text")
    return text if isinstance(text, str) else None
