"""A summarizer over any callable that takes a prompt and returns text."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from chatfold import threads
from chatfold.core.callables import is_async
from chatfold.core.flow import Completion, completed
from chatfold.errors import SummarizerError, SummaryError
from chatfold.summarizers._failures import failure
from chatfold.summarizers._limits import in_time
from chatfold.summarizers._sdk import got_async
from chatfold.threads import check_timeout

if TYPE_CHECKING:
    from chatfold.core.render import Prompt

__all__ = ["FunctionSummarizer"]

Answer = str | Completion


class AnswerTypeError(SummarizerError, TypeError):
    """A function gave what is no summary.

    That shows only once it was called, and maybe paid: a fold that nobody asked for must not break
    the turn, and the next summarizer of a chain may do better. So it is a failure of the summarizer
    too.
    """


class FunctionSummarizer:
    """Summarizes with a function of the caller's.

    It is called once a request: repeating what failed is the function's own affair.

    Args:
        function: Takes a `Prompt`; returns the summary as text or as a `Completion`, or an
            awaitable of one.
        timeout: Seconds that one call may take; None for no limit. With a limit, a synchronous
            function runs in a daemon thread that sees the caller's context variables, and goes on
            there after a time-out; without one, in the caller's own thread.

    Raises:
        ValueError: `timeout` is out of range.

    Attributes:
        asynchronous: Whether `function` is known to be asynchronous.
    """

    def __init__(
        self,
        function: Callable[[Prompt], Answer | Awaitable[Answer]],
        *,
        timeout: float | None = 60.0,
    ) -> None:
        check_timeout(timeout)
        self.function = function
        self.timeout = timeout
        self.asynchronous = is_async(function)

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return f"FunctionSummarizer({name})"

    def complete(self, prompt: Prompt) -> Completion:
        """Call the function and wait for its answer.

        Raises:
            SummarizerError: The function raised, or took too long; its error is the cause.
            AnswerTypeError: It returned something else, or what has to be awaited.
            TypeError: The function is known to be asynchronous; it is not called.
        """
        if self.asynchronous:
            raise got_async("an async function")
        try:
            answer = threads.run(partial(self.function, prompt), self.timeout)
        except threads.ExpiredError as error:
            raise self._too_long() from error
        except SummaryError:
            raise
        except Exception as error:
            raise failure(error, prompt, who="the summarizer") from error
        if type(answer) is not str and inspect.isawaitable(answer):
            _discard(answer)
            raise AnswerTypeError(str(got_async("an async function")))
        return _checked(answer)

    async def acomplete(self, prompt: Prompt) -> Completion:
        """Call the function and await its answer; a synchronous one runs in a thread.

        Raises:
            SummarizerError: The function raised, or took too long; its error is the cause.
            AnswerTypeError: It returned something else.
        """

        async def answered() -> Any:
            made: Any
            if self.asynchronous:
                made = self.function(prompt)
            else:
                made = await threads.arun(partial(self.function, prompt))
            return await made if inspect.isawaitable(made) else made

        try:
            answer = await in_time(answered(), self.timeout)
        except threads.ExpiredError as error:
            raise self._too_long() from error
        except SummaryError:
            raise
        except Exception as error:
            raise failure(error, prompt, who="the summarizer") from error
        return _checked(answer)

    def _too_long(self) -> SummarizerError:
        return SummarizerError(f"the summarizer took longer than {self.timeout:g} s")


def _checked(answer: object) -> Completion:
    with suppress(TypeError):
        return completed(answer)
    found = "a Completion whose text is no str"
    if not isinstance(answer, Completion):
        found = f"what is of type {type(answer).__qualname__}"
        if isinstance(answer, list):
            found += " (of content blocks, it may be: return their text)"
    raise AnswerTypeError(
        "a summarizer takes a Prompt and returns the summary as str or Completion; it returned "
        + found
    )


def _discard(answer: object) -> None:
    """Close what will not be awaited, so that Python does not warn about it."""
    for name in ("close", "cancel"):  # a coroutine's, a future's
        method = getattr(answer, name, None)
        if callable(method):
            method()
            return
