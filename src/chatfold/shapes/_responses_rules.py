"""What the Responses API requires together; part of the shape `openai_responses`.

Reasoning is enforced by item id (openai-agents-python#1611, continue#8933, mastra#8738); a
program encloses the calls it made; an approval, its answer and the call it allows are one.
https://developers.openai.com/api/docs/guides/reasoning (read 2026-11-21). A search for tools
without a call id is paired by its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatfold.core.spans import Span
from chatfold.core.views import (
    CallPart,
    ItemView,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    TextPart,
)

__all__ = ["approval_spans", "is_reasoning", "required_spans"]

_ENDS_SCOPE = frozenset(
    {"additional_tools", "configuration_update", "compaction", "mcp_approval_response"}
)


def required_spans(views: Sequence[ItemView]) -> list[Span]:
    """Return the spans of reasoning scopes, programs, approvals and searches without ids."""
    return [*_scopes(views), *_programs(views), *approval_spans(views), *_searches(views)]


def _scopes(views: Sequence[ItemView]) -> Iterator[Span]:
    """Yield each run of reasoning with all that the model emitted up to the next run.

    An item of the model is refused without the reasoning it came with, and reasoning without
    the item that followed it; outputs that a client put in between end nothing.
    """
    first, last, in_run = -1, -1, False
    for index, view in enumerate(views):
        reasoning = is_reasoning(view)
        ends = view.role in ("user", "system", "developer") or view.type in _ENDS_SCOPE
        if ends or (reasoning and not in_run):
            if first >= 0 and last > first:
                yield Span(first, last, "all")
            first = index if reasoning else -1
            last = first
        elif first >= 0 and view.role in ("assistant", "unknown"):
            last = index
        in_run = reasoning
    if first >= 0 and last > first:
        yield Span(first, last, "all")


def is_reasoning(view: ItemView) -> bool:
    """Return whether the item is reasoning, or a reference to it."""
    return bool(view.parts) and type(view.parts[0]) is ReasoningPart and len(view.parts) == 1


def _programs(views: Sequence[ItemView]) -> Iterator[Span]:
    """Yield each program with every call and result that names it as its caller."""
    started: dict[str, tuple[int, int]] = {}
    for index, view in enumerate(views):
        for part in view.parts:
            if type(part) is CallPart and part.kind == "program" and part.id is not None:
                if part.id in started:
                    yield Span(*started[part.id], "all")
                started[part.id] = (index, index)
            elif isinstance(part, (CallPart, ResultPart)):
                program = part.id if part.pair == "program" else part.caller
                if program in started:
                    started[program] = (started[program][0], index)
    for first, last in started.values():
        yield Span(first, last, "all")


def approval_spans(views: Sequence[ItemView]) -> Iterator[Span]:
    """Yield each approval's request with its response and the call that it allowed.

    An approved call that is still to be made is open: the server finds its way by these items.
    """
    asked: dict[str, int] = {}
    approved: dict[str, int] = {}
    for index, view in enumerate(views):
        speaks = view.role == "assistant" and any(
            type(p) is TextPart or (type(p) is CallPart and p.kind != "approval")
            for p in view.parts
        )
        for part in view.parts:
            if type(part) is CallPart and part.kind == "approval" and part.id is not None:
                asked[part.id] = index
            elif type(part) is ResultPart and part.pair == "approval" and part.id in asked:
                yield Span(asked[part.id], index)
                if not part.failed:
                    approved[part.id] = asked[part.id]
            elif type(part) is ServerCallPart and part.approval in asked:
                yield Span(asked[part.approval], index)
                approved.pop(part.approval, None)
        if speaks:
            approved.clear()  # the model went on without the call
    for first in approved.values():
        yield Span(first, len(views))


def _searches(views: Sequence[ItemView]) -> Iterator[Span]:
    """Yield the server's searches for tools at the end whose outputs may still come.

    Without call ids the order alone says which is whose: a call that is folded away before its
    output comes would leave that output to the next call.
    """
    first, calls, outputs = len(views), 0, 0
    for index in range(len(views) - 1, -1, -1):
        part = views[index].parts[0] if views[index].parts else None
        if type(part) is CallPart and part.kind == "tool_search" and part.id is None:
            calls += part.served
        elif type(part) is ResultPart and part.pair == "tool_search" and part.id is None:
            outputs += 1
        else:
            break
        first = index
    if calls > outputs:
        yield Span(first, len(views))
