"""What the tests of policy-driven calls share: turns of a known size, models, a clock, both calls.

The size of an item is the number of its words, so that triggers can be said to the token.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from chatfold import ChatContext, Completion, Outcome, Prompt, SummarizerError, Usage
from chatfold.events import FoldEvent
from chatfold.policy import Policy

__all__ = [
    "SIZE",
    "Clock",
    "Model",
    "Told",
    "Words",
    "context",
    "failing",
    "maybe",
    "timed",
    "turn",
]

SIZE: Final = 100
"""Tokens of a turn."""


class Words:
    """Counts words. A summary weighs one, so that it always gains."""

    exact = False

    def count(self, text: str) -> int:
        return 1 if "<chat_history_summary digest=" in text[:40] else len(text.split())


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Model:
    """A summarizer that fails while `error` is set, and counts how often it is asked."""

    def __init__(self, *, error: BaseException | None = None) -> None:
        self.error = error
        self.text = "short"
        self.prompts: list[Prompt] = []

    @property
    def asked(self) -> int:
        return len(self.prompts)

    def __call__(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        if self.error is not None:
            raise self.error
        return Completion(self.text, usage=Usage(11, 3))


def failing() -> SummarizerError:
    return SummarizerError("secret words of a server")


def turn(number: int = 0, size: int = SIZE) -> list[dict[str, Any]]:
    """Return a turn that weighs so many tokens, as an empty message is counted to weigh none."""
    frame = _frame()
    words = size - 2 * frame
    question, answer = words // 4, words - words // 4
    return [
        {"role": "user", "content": f"q{number} " + "w " * (question - 1)},
        {"role": "assistant", "content": f"a{number} " + "w " * (answer - 1)},
    ]


def _frame() -> int:
    empty: ChatContext[Any] = ChatContext([{"role": "user", "content": ""}], counter=Words())
    return empty.count_tokens().value


def context(turns: int = 0, **options: Any) -> ChatContext[Any]:
    """Return a context with so many turns; folds from 1,000 tokens, keeps 200."""
    given: dict[str, Any] = {
        "policy": Policy(max_tokens=1_000, keep_tokens=200),
        "counter": Words(),
        "shape": "openai_chat",
        "timeout": None,
    }
    items = [item for n in range(turns) for item in turn(n)]
    return ChatContext(items, **(given | options))


def timed(ctx: ChatContext[Any]) -> Clock:
    """Return a clock that the context goes by from now on."""
    clock = Clock()
    ctx._each_turn.waits.clock = clock
    return clock


def maybe(way: str, ctx: ChatContext[Any], llm: Any, **options: Any) -> Outcome[Any]:
    """Call `maybe_summarize` or its twin."""
    if way == "maybe_summarize":
        return ctx.maybe_summarize(llm, **options)
    return asyncio.run(ctx.amaybe_summarize(llm, **options))


class Told:
    """A hook that keeps what it is told, and forbids what `veto` says."""

    def __init__(self, *, veto: bool = False, error: Exception | None = None) -> None:
        self.veto = veto
        self.error = error
        self.events: list[FoldEvent] = []

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def __call__(self, event: FoldEvent) -> Any:
        self.events.append(event)
        if self.error is not None:
            raise self.error
        return not (self.veto and event.kind == "before")
