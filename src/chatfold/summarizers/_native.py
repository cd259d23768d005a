"""What the backends of native compaction share: calling, counting what calls cost, naming errors.

No SDK is imported here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NoReturn

from chatfold import threads
from chatfold.core.flow import Usage
from chatfold.core.live import given_fields
from chatfold.core.native import plain
from chatfold.core.render import Prompt
from chatfold.core.scalars import check_whole
from chatfold.errors import (
    MissingExtraError,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
    TruncatedSummaryError,
)
from chatfold.summarizers._failures import code_of, failure
from chatfold.summarizers._limits import configured, in_time
from chatfold.summarizers._sdk import Family, got_async, recognize, texts_in
from chatfold.summarizers.native import Compacted
from chatfold.threads import check_timeout

__all__ = ["NativeBackend", "fields_of"]


class NativeBackend:
    """The part of a backend that is the same for both providers.

    Attributes:
        client: The SDK's client.
        model: Name of the model that compacts.
        timeout: Seconds that one call may take, retries and the waits before them included; None
            for no limit.
        retries: How often the SDK repeats a request that failed.
        request: Further fields of each request.
        asynchronous: Whether the client's calls are awaited.
    """

    family: ClassVar[Family]
    title: ClassVar[str]
    shape: ClassVar[str]
    needs: ClassVar[str]
    """The SDK's package, with the first version that can compact."""
    refuses: ClassVar[frozenset[str]]
    """Fields that are the backend's own, or that the provider does not take here."""

    def __init__(
        self,
        client: object,
        model: str,
        *,
        timeout: float | None,
        retries: int,
        request: Mapping[str, Any],
    ) -> None:
        known = recognize(client)
        if known is None or known.family != self.family:
            other = f"; for it write {_OTHER[known.family]}(client, model=...)" if known else ""
            raise TypeError(
                f"{type(self).__name__} needs a client of the {self.title} SDK, "
                f"got {type(client).__name__}{other}"
            )
        if not model:
            raise TypeError(f"{type(self).__name__} needs model=, the model of your own requests")
        check_timeout(timeout)
        check_whole("retries", retries, 0)
        self.client: Any = known.client
        self.model = model
        self.timeout = timeout
        self.retries = retries
        self.request = dict(given_fields(request))
        self.asynchronous = known.asynchronous
        self._check_request()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.client).__name__}, {self.model!r})"

    def compact(
        self, items: Sequence[Any], *, prefix: Sequence[Any] = (), instructions: str | None = None
    ) -> Compacted:
        """Return what takes the place of `items`; see `NativeCompaction`.

        Raises:
            ValueError: `instructions` is too long, or `prefix` cannot stay where it is.
            SummaryError: The provider gave nothing that can stand for the items.
            TypeError: The client is an asynchronous one.
        """
        if self.asynchronous:
            raise got_async(type(self.client).__name__)
        attempts = _Attempts(self, items)
        for body in self.bodies(items, prefix, instructions):
            try:
                answer = threads.run(partial(self.send, body), self.timeout)
            except Exception as error:
                attempts.fail(error, body)
            made = attempts.read(answer)
            if made is not None:
                return made
        raise attempts.last()

    async def acompact(
        self, items: Sequence[Any], *, prefix: Sequence[Any] = (), instructions: str | None = None
    ) -> Compacted:
        """Return what takes the place of `items`; a synchronous client is called in a thread.

        Raises:
            ValueError: `instructions` is too long, or `prefix` cannot stay where it is.
            SummaryError: The provider gave nothing that can stand for the items.
        """
        if not self.asynchronous:
            call = partial(self.compact, items, prefix=prefix, instructions=instructions)
            return await threads.arun(call)
        attempts = _Attempts(self, items)
        for body in self.bodies(items, prefix, instructions):
            try:
                answer = await in_time(self.send(body), self.timeout)
            except Exception as error:
                attempts.fail(error, body)
            made = attempts.read(answer)
            if made is not None:
                return made
        raise attempts.last()

    # What a provider's file writes. Answers are Any: servers that only imitate a provider leave
    # out what the SDK's types promise.

    def endpoint(self, client: Any) -> Callable[..., Any] | None:
        """Return the SDK's method, None where the SDK has none yet."""
        raise NotImplementedError

    def check(self, *, prefix: Sequence[Any] = (), instructions: str | None = None) -> None:
        """Check what can be known before anything is sent.

        Raises:
            ValueError: `instructions` is too long, or `prefix` cannot stay where it is.
        """

    def bodies(
        self, items: Sequence[Any], prefix: Sequence[Any], instructions: str | None
    ) -> Iterator[dict[str, Any]]:
        """Yield the request, and what to ask next where its answer is cut off."""
        raise NotImplementedError

    def usage(self, answer: Any) -> Usage | None:
        """Return the tokens of an answer."""
        raise NotImplementedError

    def read(self, answer: Any, items: Sequence[Any]) -> Compacted:
        """Return the answer to a request with `items`; its usage is added by the caller.

        Raises:
            SummaryError: It cannot stand for the items.
        """
        raise NotImplementedError

    def refusal(self, error: Exception) -> SummaryError | None:
        """Return what a refused request means, where the provider has a code for it."""
        if code_of(error) == "content_filter":
            return RefusedSummaryError(f"{self.model}: a content filter withheld the conversation")
        return None

    # For those files

    def send(self, body: Mapping[str, Any]) -> Any:
        """Send a request; return the SDK's answer, or what to await for it."""
        client = configured(self.client, self.timeout, self.retries)
        method = self.endpoint(client)
        assert method is not None, "the SDK was found to have it"
        return method(model=self.model, **body)

    def unreadable(self, answer: Any, what: str) -> NoReturn:
        """Raise the error for an answer that is no compaction.

        Raises:
            SummarizerError: Always.
        """
        raise SummarizerError(
            f"{self.model}: {what} ({type(answer).__name__}); does the server behind base_url "
            "offer compaction?"
        )

    def _check_request(self) -> None:
        method = self.endpoint(self.client)
        if method is None:
            package, _, version = self.needs.partition(">=")
            raise MissingExtraError(
                f"{type(self).__name__} needs {package} {version} or newer: "
                f'pip install "{self.needs}"',
                extra=package,
            )
        wrong = sorted(self.refuses & self.request.keys())
        taken = fields_of(method)
        if taken is not None:
            wrong += sorted(self.request.keys() - taken - self.refuses)
        if wrong:
            raise TypeError(
                f"{type(self).__name__}() takes no {', '.join(wrong)}: a request to compact has "
                "no such field, or not one to be set by hand"
            )


_OTHER = {"openai": "OpenAICompaction", "anthropic": "AnthropicCompaction"}


def fields_of(method: Callable[..., Any]) -> frozenset[str] | None:
    """Return the fields that an SDK's method takes, None where something wraps it."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except ValueError:
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(p.name for p in parameters)


class _Attempts:
    """The calls of one compaction: what they have used, and what the last of them came to."""

    def __init__(self, backend: NativeBackend, items: Sequence[Any]) -> None:
        self._backend = backend
        self._items = items
        self._usage: Usage | None = None
        self._calls = 0
        self._cut: TruncatedSummaryError | None = None

    def read(self, answer: Any) -> Compacted | None:
        """Return what an answer holds; None where it was cut off, and may be asked for again.

        Raises:
            SummaryError: It cannot stand for the items.
        """
        self._calls += 1
        used = self._backend.usage(answer)
        if used is not None:
            self._usage = (self._usage or Usage()) + used
        try:
            made = self._backend.read(answer, self._items)
        except TruncatedSummaryError as error:
            self._cut = error
            return None
        except SummaryError as error:
            raise self._told(error)  # noqa: B904 - the error itself, with what it cost
        return replace(made, usage=self._usage, llm_calls=self._calls)

    def fail(self, error: Exception, body: Mapping[str, Any]) -> NoReturn:
        """Raise the error that says what kind of failure an SDK's error is.

        Raises:
            SummaryError: Always.
        """
        self._calls += 1
        backend = self._backend
        said = backend.refusal(error)
        if said is None:
            asked = Prompt("", "\n".join(texts_in(plain(body))), (), None, 0)
            said = failure(error, asked, who=backend.model, timeout=backend.timeout)
        raise self._told(said) from error

    def last(self) -> TruncatedSummaryError:
        """Return the error for answers that were all cut off."""
        assert self._cut is not None, "there is at least one request"
        self._told(self._cut)
        return self._cut

    def _told(self, error: SummaryError) -> SummaryError:
        error.usage, error.llm_calls = self._usage, self._calls
        return error
