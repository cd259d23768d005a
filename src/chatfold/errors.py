"""The exception tree of chatfold; errors carry data as attributes.

ChatfoldError
    ShapeError                  an item cannot be written or read in the wanted shape
        UnknownShapeError       no shape of that name
    StaleHeadError              the head changed while the summary was written
    BusyError                   the list may not be changed while a summary is being written
    SummaryError                the summarizer gave nothing that can stand for the head
        EmptySummaryError       blank answer
        TruncatedSummaryError   cut off by the length limit
        RefusedSummaryError     refused, or withheld by a content filter
        NoAnswerError           only tool calls or only reasoning, no text
        UngroundedSummaryError  it holds values that the conversation does not
        SummarizerError         the backend failed; its own error is `__cause__`
    InvalidResultError          the new list would break the provider's rules
    StoreError                  a store cannot be opened, read or written
    TemplateError               a prompt template does not load, or show what it has to
    MissingExtraError           an optional dependency is not installed

Wrong arguments raise `ValueError` or `TypeError` before any call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chatfold.core.check import Problem
    from chatfold.core.flow import Usage
    from chatfold.core.grounding import Ungrounded

__all__ = [
    "BusyError",
    "ChatfoldError",
    "EmptySummaryError",
    "InvalidResultError",
    "MissingExtraError",
    "NoAnswerError",
    "RefusedSummaryError",
    "ShapeError",
    "StaleHeadError",
    "StoreError",
    "SummarizerError",
    "SummaryError",
    "TemplateError",
    "TruncatedSummaryError",
    "UngroundedSummaryError",
    "UnknownShapeError",
]


class ChatfoldError(Exception):
    """The base of every error that chatfold raises on purpose.

    Attributes:
        usage: Tokens that the failed fold has already spent; None where no model was called.
        llm_calls: Number of model calls made before the failure.
    """

    usage: Usage | None = None
    llm_calls: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes an equal error: of another process, say.

        Python's own way calls the class with `args` alone, which is an error where it needs more.
        """
        return _made_again, (type(self), self.args), self.__dict__


def _made_again(kind: type[ChatfoldError], args: tuple[Any, ...]) -> ChatfoldError:
    """Return an error without what its attributes hold, which comes afterwards."""
    error = kind.__new__(kind, *args)
    super(ChatfoldError, error).__init__(*args)  # of the built-in one that it is, too
    return error


class ShapeError(ChatfoldError):
    """An item cannot be read or written in the wanted shape.

    Attributes:
        shape: Name of the shape, or None.
        index: Index of the item in the list, or None.
    """

    def __init__(self, message: str, *, shape: str | None = None, index: int | None = None) -> None:
        super().__init__(message)
        self.shape = shape
        self.index = index


class UnknownShapeError(ShapeError):
    """There is no shape of the name that was given."""


class StaleHeadError(ChatfoldError):
    """The items that the summary stands for are no longer what they were.

    Attributes:
        index: Index of the first item that differs, or None where the length differs.
    """

    def __init__(self, message: str, *, index: int | None = None) -> None:
        super().__init__(message)
        self.index = index


class BusyError(ChatfoldError):
    """The list may not be changed now: a summary of it is being written."""


class SummaryError(ChatfoldError):
    """The summarizer gave nothing that can stand for the head; the list is untouched."""


class EmptySummaryError(SummaryError):
    """The summarizer answered with nothing but white space."""


class TruncatedSummaryError(SummaryError):
    """The summary was cut off by the model's length limit."""


class RefusedSummaryError(SummaryError):
    """The model refused, or a content filter withheld the answer."""


class NoAnswerError(SummaryError):
    """The model answered with tool calls or reasoning only, and no text."""


class UngroundedSummaryError(SummaryError):
    """The summary holds values that the conversation does not; the message does not show them.

    Attributes:
        values: Those values, each with its place in the summary.
    """

    def __init__(self, message: str, *, values: Sequence[Ungrounded]) -> None:
        super().__init__(message)
        self.values = tuple(values)


class SummarizerError(SummaryError):
    """The summarizer itself failed; the backend's error is the `__cause__`.

    Attributes:
        overflow: Whether the backend said that the prompt exceeds its window.
        limit: Tokens that its window holds, as it said with that; None where it did not.
        size: Tokens of the prompt by the backend's own count, likewise.
    """

    def __init__(
        self,
        message: str,
        *,
        overflow: bool = False,
        limit: int | None = None,
        size: int | None = None,
    ) -> None:
        super().__init__(message)
        self.overflow = overflow
        self.limit = limit
        self.size = size


class InvalidResultError(ChatfoldError):
    """The folded list would break the provider's rules, so nothing was changed.

    Attributes:
        problems: What the provider would refuse, each with the indices of its items in the list
            as it is; what would be new, as the summary is, has its index in the folded list.
    """

    def __init__(self, message: str, *, problems: Sequence[Problem]) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class StoreError(ChatfoldError):
    """A store cannot be opened, read or written; the database's own error is the `__cause__`."""


class TemplateError(ChatfoldError):
    """A prompt template does not load or render, or does not show the conversation.

    Attributes:
        template: Name of the template.
        line: Line in the template, from 1, or None where it is not known.
    """

    def __init__(self, message: str, *, template: str, line: int | None = None) -> None:
        super().__init__(message)
        self.template = template
        self.line = line


class MissingExtraError(ChatfoldError, ImportError):
    """An optional dependency is not installed; the message holds the `pip install` line.

    Attributes:
        extra: Name of the extra that brings it, or of the package.
    """

    def __init__(self, message: str, *, extra: str) -> None:
        super().__init__(message)
        self.extra = extra
