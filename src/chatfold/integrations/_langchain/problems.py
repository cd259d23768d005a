"""What the providers behind LangChain refuse in its messages; part of the shape `langchain`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.views import CallPart, ItemView, ServerCallPart
from chatfold.shapes._chat_rules import PairRules, pair_problems
from chatfold.shapes._responses_calls import unanswered, unasked
from chatfold.shapes._responses_problems import check_approved

__all__ = ["check_messages"]

_NAME: Final = "langchain"
_RULES: Final = PairRules(
    "langchain",
    "a ToolMessage must be a response to a preceding AIMessage with its tool call",
    "AI messages with tool calls must be followed by a ToolMessage for each of: {ids}",
    "langchain-core 1.7.2; the rule of OpenAI, Anthropic, Google, AWS and Mistral alike, "
    "https://docs.langchain.com/oss/python/langchain/errors/INVALID_CHAT_HISTORY (read 2026-11-22)",
)
_NEAR: Final = ("function", "server")


def check_messages(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield what no provider takes, and what OpenAI's Responses would refuse of its own items."""
    near = [call for call in calls if call.pair in _NEAR and not call.asynchronous]
    yield from pair_problems(views, near, _RULES)
    if len(near) < len(calls):
        yield from _apart(views, calls)
    allowed = False
    for index, view in enumerate(views):
        if view.shape != _NAME:
            continue
        for part in view.parts:
            if type(part) is CallPart and part.name is None:
                yield Problem("malformed_item", "a tool call without a name", (index,), shape=_NAME)
            elif type(part) is ServerCallPart and part.approval:
                allowed = True
    if allowed:
        for problem in check_approved(views):
            yield replace(problem, shape=_NAME)


def _apart(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterator[Problem]:
    """Yield what is wrong with calls whose results need not stand right behind them."""
    last_step = max((i for i, v in enumerate(views) if v.role in ("user", "assistant")), default=0)
    answered: dict[tuple[str, str | None], int] = {}
    for call in calls:
        if call.call_index is not None and call.result_index is not None:
            answered[call.pair, call.id] = call.result_index
    for call in calls:
        if call.pair in _NEAR and not call.asynchronous:
            continue
        if call.call_index is None:
            yield replace(unasked(call, answered.get((call.pair, call.id))), shape=_NAME)
        elif call.result_index is None:
            yield replace(unanswered(call, late=call.call_index < last_step), shape=_NAME)
