"""What the caller of a context is told about a run of tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

from chatfold.core.calls import Answer, ToolCallRecord

__all__ = ["ToolRun"]

ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class ToolRun(Sequence[ItemT], Generic[ItemT]):
    """The result items that a run added to the list, as a sequence; falsy where there are none.

    Attributes:
        items: The native items that were added, in order: the results, and a note in the
            assistant's role where the user went on meanwhile, and the provider wants an answer.
        answers: What each call was answered with, in call order.
        not_handled: The open calls that only the host can answer, or the provider, whose code or
            program still runs, in order; they are still open.
    """

    items: tuple[ItemT, ...] = field(default=(), repr=False)
    answers: tuple[Answer, ...] = field(default=(), repr=False)
    not_handled: tuple[ToolCallRecord, ...] = ()

    @overload
    def __getitem__(self, index: int) -> ItemT: ...
    @overload
    def __getitem__(self, index: slice[Any, Any, Any]) -> Sequence[ItemT]: ...
    def __getitem__(self, index: int | slice[Any, Any, Any]) -> ItemT | Sequence[ItemT]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[ItemT]:
        return iter(self.items)

    def __repr__(self) -> str:
        failed = sum(answer.failed for answer in self.answers)
        return (
            f"ToolRun({len(self.answers)} calls answered, {failed} of them failed, "
            f"{len(self.not_handled)} not handled)"
        )
