"""What the conformance suite needs of a framework: a `Host`, one file for each framework.

A host runs real agents of its framework: real sessions, tools and loop, and a model that is the
framework's own class over `model_server.ModelServer`, or a subclass of its own base class for
models. Either way `Brain.answer` is given what would be sent to the provider, as the framework's
own conversion writes it, and says what the model does. Not here: what must hold (`conformance`).
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from chatfold import FoldEvent, Prompt

__all__ = [
    "Ability",
    "Brain",
    "Call",
    "Conversation",
    "Events",
    "Host",
    "Item",
    "Request",
    "Setup",
    "Step",
    "Turn",
    "Writer",
    "desk",
]

Item = dict[str, Any]
Ability = Literal["handoffs", "images", "approval", "adding", "usage", "keys", "framework"]


@dataclass(frozen=True)
class Call:
    """A tool call: `id`, the name of a tool of `desk` (or a handoff), and its one argument."""

    id: str
    name: str
    order: str = ""

    @property
    def arguments(self) -> str:
        """The arguments as JSON; a handoff has none."""
        return json.dumps({"order": self.order}) if self.order else "{}"


@dataclass(frozen=True)
class Step:
    """What the agent's model does in one go: it says something, or calls tools, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Turn:
    """What a user says, and what the agent's model does about it, step by step."""

    said: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Request:
    """What was sent to the provider: items of a shape that `tests/validator.py` can judge."""

    shape: str
    items: list[Item]

    @property
    def text(self) -> str:
        """All of it, as JSON that keeps every character."""
        return json.dumps(self.items, ensure_ascii=False, default=str)


class Brain:
    """What the agent's model answers: by what it is sent, not by how often it was asked.

    Attributes:
        turns: The script: the step that comes next is that of the turn whose `said` stands in the
            latest user's message; the steps whose calls have results, now or in an earlier
            request, are over.
        requests: What the model was sent for the agent, in order.
        prompts: What the model was sent to write summaries (with `llm=None`), in order.
        tokens: What the model says that one answer took: input and output.
        summary: What it answers as a summary.
    """

    def __init__(self, turns: Sequence[Turn] = (), summary: str = "The desk was asked.") -> None:
        self.turns = list(turns)
        self.requests: list[Request] = []
        self.prompts: list[Request] = []
        self.tokens = (100, 10)
        self.summary = summary
        self._answered: set[str] = set()
        self._lock = threading.Lock()

    def answer(self, shape: str, items: Sequence[Any]) -> Step:
        """Return what the model does about a request."""
        request = Request(shape, json.loads(json.dumps(list(items), default=str)))
        with self._lock:
            if "<conversation>" in _latest_user(request.items):
                self.prompts.append(request)
                return Step(self.summary)
            self.requests.append(request)
            self._answered |= set(_answered(request.items))
        said = _latest_user(request.items)
        turn = next((t for t in reversed(self.turns) if t.said in said), None)
        for step in turn.steps if turn is not None else ():
            if not all(call.id in self._answered for call in step.calls) or not step.calls:
                return step
        return Step(f"I do not know what to do about: {said[:80]}")


def _latest_user(items: Sequence[Item]) -> str:
    for item in reversed(items):
        if item.get("role") == "user":
            return json.dumps(item["content"], ensure_ascii=False)
    return ""


def _answered(items: Sequence[Item]) -> list[str]:
    """Return the ids of the calls that have a result."""
    return [
        str(item.get("tool_call_id") or item.get("call_id"))
        for item in items
        if item.get("role") == "tool" or str(item.get("type", "")).endswith("_call_output")
    ]


class desk:  # noqa: N801 - a namespace: the tools that each host hands to its framework
    """The tools. Each host makes them tools of its framework, under their own names."""

    PAGE = "row of no interest in the catalogue; " * 110

    @staticmethod
    async def lookup(order: str) -> str:
        """Look up an order.

        Args:
            order: Its number.
        """
        return f"order {order}: shipped on 2026-10-07 as parcel P-{order}. {desk.PAGE}"

    @staticmethod
    async def courier(order: str) -> str:
        """Ask the courier, who takes his time.

        Args:
            order: The order's number.
        """
        await asyncio.sleep(0.2)
        return f"the courier has order {order} in van V-{order}."

    @staticmethod
    async def fail(order: str) -> str:
        """Look up an order in a system that is out of order.

        Args:
            order: Its number.

        Raises:
            ValueError: Always.
        """
        raise ValueError(f"the warehouse does not answer about {order}")

    @staticmethod
    async def refund(order: str) -> str:
        """Refund an order; a person has to allow it (`approval`).

        Args:
            order: Its number.
        """
        return f"order {order} was refunded with R-{order}."


@dataclass
class Setup:
    """What a conversation is to be.

    Attributes:
        brain: The agent's model.
        llm: What writes summaries; None for the agent's own model.
        options: What the integration is given besides: `policy`, `on_event`, `timeout`, `store`,
            every option of `SummaryOptions`.
        key: Names the conversation: thread, session id, ...
        history: What was said before, as neutral events (`transcripts`); it stands in the
            framework's own history when the conversation begins.
        instructions: The agent's own.
    """

    brain: Brain
    llm: Any = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    key: str = "one"
    history: Sequence[Any] = ()
    instructions: str = "You sell phones."


class Conversation(Protocol):
    """A conversation that runs in the framework."""

    async def say(self, text: str, *, image: str | None = None) -> str:
        """Run one turn of the user's to its end, and what the integration does at it.

        Args:
            text: What the user says.
            image: A picture beside it, as a data URL (`images`).

        Returns:
            The agent's answer, or "" where the turn waits for somebody's approval.
        """
        ...

    async def approve(self) -> str:
        """Allow the call that waits, run the turn to its end, and return the answer."""
        ...

    async def add(self, text: str) -> None:
        """Add a user's message as an application may at any time, also while a fold runs."""
        ...

    async def settled(self) -> None:
        """Wait until a fold in the background, if one runs, is over and published."""
        ...

    def reported(self) -> int:
        """Return the input tokens of all model calls, as the framework itself reports usage."""
        ...


class Host(Protocol):
    """A framework, with chatfold's integration in it.

    Attributes:
        name: Name of the extra, and (with `_` for `-`) of the module in `chatfold.integrations`.
        package: What the framework's distribution is called.
        imports: The framework's top-level module.
        lacks: What the framework itself cannot do, with the reason; all else is tested.
        too_old: Python statements that take from the imported framework what an old version has
            not, before the integration is imported.
    """

    name: str
    package: str
    imports: str
    lacks: Mapping[Ability, str]
    too_old: str

    def build(self, llm: Any = None, **options: Any) -> object:
        """Return the integration's main object, made with these options, in no conversation."""
        ...

    def open(
        self, setup: Setup, *, beside: Conversation | None = None
    ) -> AbstractAsyncContextManager[Conversation]:
        """Begin a conversation.

        Args:
            setup: What it is to be.
            beside: Another one, whose integration object is to serve this one too, where one
                object may serve several conversations; `llm` and `options` are then that one's.
        """
        ...


class Writer:
    """A summarizer that is watched; what it does is `act`.

    Attributes:
        prompts: What it was asked.
        act: Is awaited at each question with its prompt, and returns the answer.
    """

    def __init__(self, act: Callable[[Prompt], Awaitable[Any]] | str = "Folded by the writer."):
        self.prompts: list[Prompt] = []
        self._act = act

    def complete(self, prompt: Prompt) -> Any:
        """Answer a host that does not await."""
        self.prompts.append(prompt)
        return self._act if isinstance(self._act, str) else asyncio.run(self._answer(prompt))

    async def acomplete(self, prompt: Prompt) -> Any:
        """Answer a host that awaits."""
        self.prompts.append(prompt)
        return self._act if isinstance(self._act, str) else await self._answer(prompt)

    async def _answer(self, prompt: Prompt) -> Any:
        assert not isinstance(self._act, str)
        return await self._act(prompt)


class Events(list[FoldEvent]):
    """A hook that keeps what it is told."""

    def __call__(self, event: FoldEvent) -> None:
        """Keep the event."""
        self.append(event)

    @property
    def changed(self) -> list[FoldEvent]:
        """Those of folds that changed the list."""
        return [event for event in self if event.kind == "after"]
